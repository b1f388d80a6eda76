//! Nodes of graphs of any kind, by one structure that says which: `CUgraphNodeParams`.

use crate::api::copy::Copy3D;
use crate::api::graph::get;
use crate::api::graph_exec::exec;
use crate::api::graph_memory::{AllocationParams, Batch, free};
use crate::api::graph_node::{FillParams, HostParams, KernelParams2, add, child, event, set_described};
use crate::error::Error;
use crate::ffi::{In, Out, Plain, Pointer, api};
use crate::graph::NodeKind;
use crate::op::Op;

/// What stands in front of the parameters of a kind: the kind, and what is reserved.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    kind: u32,
    reserved: [u32; 3],
}
// SAFETY: numbers.
unsafe impl Plain for Head {}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct CopyParams {
    flags: u32,
    reserved: u32,
    context: u64,
    copy: Copy3D,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for CopyParams {}

const _: () = assert!(size_of::<Head>() == 16 && size_of::<CopyParams>() == 216);

/// The work that a structure describes, and the kind of its node.
fn work(params: In<Head>) -> Result<(Op, NodeKind), Error> {
    let kind = params.get()?.kind;
    let body = Pointer::at(params.address() + size_of::<Head>() as u64);
    let op = match kind {
        0 => In::<KernelParams2>::from(body).get()?.op()?,
        1 => {
            let copy = In::<CopyParams>::from(body).get()?.copy;
            return Ok((Op::Copy(copy.resolve()?), NodeKind::Copy(Box::new(copy))));
        }
        2 => In::<FillParams>::from(body).get()?.op()?,
        3 => In::<HostParams>::from(body).get()?.op()?,
        4 => return child(In::<u64>::from(body).get()?),
        5 => Op::Empty,
        6 => Op::Wait(event(In::<u64>::from(body).get()?)?),
        7 => Op::Record(event(In::<u64>::from(body).get()?)?),
        8 | 9 => return Err(Error::unsupported("nodes of external semaphores")),
        10 => AllocationParams::allocate(Out::from(body))?,
        11 => free(In::<u64>::from(body).get()?)?,
        12 => return Batch::read(In::from(body))?.work(),
        13 => return Err(Error::unsupported("conditional nodes")),
        kind => return Err(Error::value(format!("{kind} is not a kind of node"))),
    };
    Ok((op, NodeKind::Plain))
}

/// As [`work`], for a node that there is. What it allocates or frees is decided when it is made.
fn other(params: In<Head>) -> Result<(Op, NodeKind), Error> {
    match params.get()?.kind {
        10 | 11 => Err(Error::unsupported("other parameters of a node that allocates or frees memory")),
        _ => work(params),
    }
}

fn add_node(node: Out<u64>, graph: u64, after: In<u64>, count: usize, params: In<Head>) -> Result<(), Error> {
    node.check()?;
    get(graph)?;
    let (op, kind) = work(params)?;
    add(node, graph, after, count, op, kind)
}

api! {
    fn cuGraphAddNode(node: Out<u64>, graph: u64, after: In<u64>, count: usize, params: In<Head>) {
        add_node(node, graph, after, count, params)
    }

    fn cuGraphAddNode_v2(
        node: Out<u64>,
        graph: u64,
        after: In<u64>,
        _data: Pointer,
        count: usize,
        params: In<Head>,
    ) {
        add_node(node, graph, after, count, params)
    }

    fn cuGraphNodeSetParams(node: u64, params: In<Head>) {
        let (op, kind) = other(params)?;
        set_described(node, op, kind)
    }

    fn cuGraphExecNodeSetParams(handle: u64, node: u64, params: In<Head>) {
        exec(handle)?.set(node, other(params)?.0)
    }
}
