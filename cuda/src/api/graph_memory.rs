//! Nodes of graphs that allocate memory, free it, or write values to it and wait for them.

use crate::api::graph_exec::exec;
use crate::api::graph_node::{add, node, other_work, set_described};
use crate::api::pool::Properties;
use crate::api::stream::{BatchOp, operations};
use crate::api::virtual_memory::Access;
use crate::context::current;
use crate::error::Error;
use crate::ffi::{In, Out, Plain, api};
use crate::graph::NodeKind;
use crate::op::Op;
use crate::state::driver;
use std::sync::Arc;

/// `CUDA_MEM_ALLOC_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocationParams {
    pool: Properties,
    access: In<Access>,
    count: usize,
    bytes: usize,
    address: u64,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for AllocationParams {}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchParams {
    context: u64,
    count: u32,
    list: In<BatchOp>,
    flags: u32,
}
// SAFETY: as above.
unsafe impl Plain for BatchParams {}

const _: () = assert!(size_of::<AllocationParams>() == 120 && size_of::<BatchParams>() == 32);

impl AllocationParams {
    /// The work of a node, whose address the client gets in its parameters.
    pub fn allocate(params: Out<AllocationParams>) -> Result<Op, Error> {
        let mut given = params.get()?;
        let device = given.pool.device()?;
        let memory = driver()?.lock().allocate_for_graph(given.bytes as u64, device)?;
        given.address = memory.address;
        params.set(given)?;
        Ok(Op::Allocate(memory, false))
    }
}

/// The work of a node that frees memory.
pub fn free(address: u64) -> Result<Op, Error> {
    let state = driver()?.lock();
    let graph = state.memory.at(address).and_then(|allocation| allocation.graph.as_ref()?.upgrade());
    graph
        .map(|memory| Op::Free(memory.address))
        .ok_or_else(|| Error::value(format!("{address:#x} is not the address of what a graph allocates")))
}

/// A batch of operations on memory, as a client describes it.
#[derive(Clone, Debug)]
pub struct Batch {
    context: u64,
    list: Vec<BatchOp>,
    flags: u32,
}

impl Batch {
    /// What a client gives.
    pub fn read(params: In<BatchParams>) -> Result<Batch, Error> {
        let BatchParams { context, count, list, flags } = params.get()?;
        driver()?.lock().contexts.get(context)?;
        Ok(Batch { context, list: list.list(count as usize)?, flags })
    }

    /// The work, and the kind of its node.
    pub fn work(self) -> Result<(Op, NodeKind), Error> {
        let work = operations(&self.list, self.flags)?;
        Ok((Op::Graph(Arc::new(work)), NodeKind::Batch(Arc::new(self))))
    }

    fn of(handle: u64) -> Result<Arc<Batch>, Error> {
        match node(handle)?.kind {
            NodeKind::Batch(batch) => Ok(batch),
            NodeKind::Plain | NodeKind::Child(_) | NodeKind::Copy(_) => {
                Err(Error::value("a node of another kind"))
            }
        }
    }
}

api! {
    fn cuGraphAddMemAllocNode(
        answer: Out<u64>,
        graph: u64,
        after: In<u64>,
        count: usize,
        params: Out<AllocationParams>,
    ) {
        current()?;
        answer.check()?;
        add(answer, graph, after, count, AllocationParams::allocate(params)?, NodeKind::Plain)
    }

    fn cuGraphMemAllocNodeGetParams(handle: u64, params: Out<AllocationParams>) {
        match node(handle)?.op {
            Op::Allocate(memory, _) => params.set(AllocationParams {
                pool: Properties::of_device(memory.device),
                access: In::none(),
                count: 0,
                bytes: memory.bytes as usize,
                address: memory.address,
            }),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphAddMemFreeNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, address: u64) {
        current()?;
        add(answer, graph, after, count, free(address)?, NodeKind::Plain)
    }

    fn cuGraphMemFreeNodeGetParams(handle: u64, address: Out<u64>) {
        match node(handle)?.op {
            Op::Free(own) => address.set(own),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphAddBatchMemOpNode(
        answer: Out<u64>,
        graph: u64,
        after: In<u64>,
        count: usize,
        params: In<BatchParams>,
    ) {
        let (op, kind) = Batch::read(params)?.work()?;
        add(answer, graph, after, count, op, kind)
    }

    fn cuGraphBatchMemOpNodeGetParams(handle: u64, params: Out<BatchParams>) {
        // The list is the node's: the client reads it before it changes the node.
        let batch = Batch::of(handle)?;
        let list = In::from(crate::ffi::Pointer::of(&batch.list));
        params.set(BatchParams { context: batch.context, count: batch.list.len() as u32, list, flags: batch.flags })
    }

    fn cuGraphBatchMemOpNodeSetParams(handle: u64, params: In<BatchParams>) {
        Batch::of(handle)?;
        let (op, kind) = Batch::read(params)?.work()?;
        set_described(handle, op, kind)
    }

    fn cuGraphExecBatchMemOpNodeSetParams(handle: u64, own: u64, params: In<BatchParams>) {
        Batch::of(own)?;
        exec(handle)?.set(own, Batch::read(params)?.work()?.0)
    }
}
