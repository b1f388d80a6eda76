//! Nodes of graphs whose work the runtime describes in words of its own.

use crate::context;
use crate::copy::{Params, known};
use crate::driver::cu;
use crate::error::{Error, rt};
use crate::ffi::{In, Out, Plain, Pointer};
use crate::register::{function_of, kernel};
use crate::symbol::{direction, part};

/// `cudaKernelNodeParams`: the function of the host where `CUDA_KERNEL_NODE_PARAMS_v1` has a kernel, and otherwise that.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParams {
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: Pointer,
    extra: Pointer,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for KernelParams {}

/// `CUDA_MEMCPY3D` of a row, in one word after another.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Row([u64; 25]);

/// `CU_MEMORYTYPE_UNIFIED`
const UNIFIED: u64 = 4;

const _: () = assert!(size_of::<KernelParams>() == 56);

impl KernelParams {
    fn driver(mut self) -> Result<KernelParams, Error> {
        self.function = kernel(self.function as usize)? as u64;
        Ok(self)
    }
}

/// Type and address of the source, pitches, type and address of the target, extent.
fn row(to: Pointer, from: Pointer, bytes: usize, kind: u32) -> Result<Row, Error> {
    known(kind)?;
    let mut words = [0; 25];
    (words[4], words[6], words[9], words[10]) = (UNIFIED, from.address(), bytes as u64, 1);
    (words[15], words[17], words[20], words[21]) = (UNIFIED, to.address(), bytes as u64, 1);
    (words[22], words[23], words[24]) = (bytes as u64, 1, 1);
    Ok(Row(words))
}

/// Adds a copy.
fn add<T>(node: Out<u64>, graph: usize, after: Pointer, count: usize, copy: &T) -> Result<(), Error> {
    let context = context::ready()?;
    node.check()?;
    let mut found = 0u64;
    cu!(cuGraphAddMemcpyNode(&mut found, graph, after, count, copy, context))?;
    node.set(found)
}

fn set<T>(exec: Option<usize>, node: usize, copy: &T) -> Result<(), Error> {
    let context = context::ready()?;
    match exec {
        None => cu!(cuGraphMemcpyNodeSetParams(node, copy)),
        Some(exec) => cu!(cuGraphExecMemcpyNodeSetParams(exec, node, copy, context)),
    }
}

fn to_symbol(symbol: Pointer, from: Pointer, bytes: usize, offset: usize, kind: u32) -> Result<Row, Error> {
    direction(kind, [1, 3, 4])?;
    row(part(symbol, offset, bytes)?, from, bytes, kind)
}

fn from_symbol(to: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32) -> Result<Row, Error> {
    direction(kind, [2, 3, 4])?;
    row(to, part(symbol, offset, bytes)?, bytes, kind)
}

rt! {
    fn cudaGraphAddKernelNode(node: Out<u64>, graph: usize, after: Pointer, count: usize, params: In<KernelParams>) {
        context::ready()?;
        node.check()?;
        let mut found = 0u64;
        cu!(cuGraphAddKernelNode(&mut found, graph, after, count, &params.get()?.driver()?))?;
        node.set(found)
    }

    fn cudaGraphKernelNodeSetParams(node: usize, params: In<KernelParams>) {
        context::ready()?;
        cu!(cuGraphKernelNodeSetParams(node, &params.get()?.driver()?))
    }

    fn cudaGraphExecKernelNodeSetParams(exec: usize, node: usize, params: In<KernelParams>) {
        context::ready()?;
        cu!(cuGraphExecKernelNodeSetParams(exec, node, &params.get()?.driver()?))
    }

    fn cudaGraphKernelNodeGetParams(node: usize, answer: Out<KernelParams>) {
        context::ready()?;
        answer.check()?;
        let none = Pointer::at(0);
        let params = KernelParams { function: 0, grid: [0; 3], block: [0; 3], shared: 0, params: none, extra: none };
        // The second version has a kernel and a context behind.
        let mut found = (params, [0u64; 2]);
        cu!(cuGraphKernelNodeGetParams_v2(node, &mut found))?;
        let handle = if found.0.function == 0 { found.1[0] } else { found.0.function };
        answer.set(KernelParams { function: function_of(handle), ..found.0 })
    }

    fn cudaGraphAddMemcpyNode(node: Out<u64>, graph: usize, after: Pointer, count: usize, params: In<Params>) {
        context::ready()?;
        add(node, graph, after, count, &params.get()?.copy()?)
    }

    fn cudaGraphMemcpyNodeSetParams(node: usize, params: In<Params>) {
        context::ready()?;
        set(None, node, &params.get()?.copy()?)
    }

    fn cudaGraphExecMemcpyNodeSetParams(exec: usize, node: usize, params: In<Params>) {
        context::ready()?;
        set(Some(exec), node, &params.get()?.copy()?)
    }

    fn cudaGraphAddMemcpyNode1D(
        node: Out<u64>, graph: usize, after: Pointer, count: usize, to: Pointer, from: Pointer, bytes: usize, kind: u32,
    ) {
        add(node, graph, after, count, &row(to, from, bytes, kind)?)
    }

    fn cudaGraphMemcpyNodeSetParams1D(node: usize, to: Pointer, from: Pointer, bytes: usize, kind: u32) {
        set(None, node, &row(to, from, bytes, kind)?)
    }

    fn cudaGraphExecMemcpyNodeSetParams1D(exec: usize, node: usize, to: Pointer, from: Pointer, bytes: usize, kind: u32) {
        set(Some(exec), node, &row(to, from, bytes, kind)?)
    }

    fn cudaGraphAddMemcpyNodeToSymbol(
        node: Out<u64>, graph: usize, after: Pointer, count: usize,
        symbol: Pointer, from: Pointer, bytes: usize, offset: usize, kind: u32,
    ) {
        add(node, graph, after, count, &to_symbol(symbol, from, bytes, offset, kind)?)
    }

    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: Out<u64>, graph: usize, after: Pointer, count: usize,
        to: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32,
    ) {
        add(node, graph, after, count, &from_symbol(to, symbol, bytes, offset, kind)?)
    }

    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: usize, symbol: Pointer, from: Pointer, bytes: usize, offset: usize, kind: u32,
    ) {
        set(None, node, &to_symbol(symbol, from, bytes, offset, kind)?)
    }

    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: usize, to: Pointer, symbol: Pointer, bytes: usize, offset: usize, kind: u32,
    ) {
        set(None, node, &from_symbol(to, symbol, bytes, offset, kind)?)
    }
}
