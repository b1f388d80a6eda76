//! Graphs that can be launched.

use crate::api::copy::Copy3D;
use crate::api::graph::get;
use crate::api::graph_node::{self, FillParams, HostParams, KernelParams, KernelParams2};
use crate::context::stream;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Plain, api};
use crate::graph::{AUTO_FREE, Exec};
use crate::op::Op;
use crate::state::driver;
use std::sync::Arc;

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Params {
    flags: u64,
    stream: u64,
    node: u64,
    result: u32,
    padding: u32,
}
// SAFETY: numbers.
unsafe impl Plain for Params {}

/// `CUgraphExecUpdateResultInfo`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UpdateInfo {
    result: u32,
    padding: u32,
    node: u64,
    from: u64,
}
// SAFETY: as above.
unsafe impl Plain for UpdateInfo {}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH` and `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`, which exclude each other.
const BOTH: u64 = AUTO_FREE | 4;

/// The graph of a handle.
pub fn exec(handle: u64) -> Result<Arc<Exec>, Error> {
    driver()?.lock().execs.get(handle)
}

fn instantiate(answer: Out<u64>, graph: u64, flags: u64) -> Result<(), Error> {
    answer.check()?;
    // A graph that kernels launch cannot free what it allocated for the next launch.
    if flags & !0xf != 0 || flags & BOTH == BOTH {
        return Err(Error::value(format!("flags {flags:#x} of a graph")));
    }
    let made = Exec::new(&*get(graph)?, flags)?;
    answer.set(driver()?.lock().execs.add(made))
}

fn failed(result: u32) -> Error {
    Error::new(Code::GRAPH_EXEC_UPDATE_FAILURE, format!("the graph is of another form (result {result})"))
}

api! {
    fn cuGraphInstantiate(exec: Out<u64>, graph: u64, _node: Out<u64>, _log: Out<u8>, _room: usize) {
        instantiate(exec, graph, 0)
    }

    fn cuGraphInstantiate_v2(exec: Out<u64>, graph: u64, _node: Out<u64>, _log: Out<u8>, _room: usize) {
        instantiate(exec, graph, 0)
    }

    fn cuGraphInstantiateWithFlags(exec: Out<u64>, graph: u64, flags: u64) {
        instantiate(exec, graph, flags)
    }

    fn cuGraphInstantiateWithParams(exec: Out<u64>, graph: u64, params: Out<Params>) {
        let mut given = params.get()?;
        (given.node, given.result) = (0, 0);
        let made = instantiate(exec, graph, given.flags);
        given.result = made.is_err().into();
        params.set(given)?;
        made
    }

    fn cuGraphExecDestroy(exec: u64) {
        let driver = driver()?;
        drop(driver.lock().execs.remove(exec)?);
        driver.lock().collect()
    }

    fn cuGraphExecGetFlags(handle: u64, flags: Out<u64>) {
        flags.set(exec(handle)?.flags)
    }

    fn cuGraphUpload(handle: u64, of: u64) {
        stream(of)?;
        exec(handle).map(|_| ())
    }

    fn cuGraphLaunch(handle: u64, of: u64) {
        let (context, stream) = stream(of)?;
        stream.submit(&context, exec(handle)?.work())
    }

    fn cuGraphExecUpdate(handle: u64, graph: u64, node: Out<u64>, result: Out<u32>) {
        let outcome = exec(handle)?.update(&*get(graph)?);
        node.offer(0);
        result.offer(outcome.err().unwrap_or(0));
        outcome.map_err(failed)
    }

    fn cuGraphExecUpdate_v2(handle: u64, graph: u64, info: Out<UpdateInfo>) {
        let outcome = exec(handle)?.update(&*get(graph)?);
        info.offer(UpdateInfo { result: outcome.err().unwrap_or(0), padding: 0, node: 0, from: 0 });
        outcome.map_err(failed)
    }

    fn cuGraphExecKernelNodeSetParams(handle: u64, node: u64, params: In<KernelParams>) {
        exec(handle)?.set(node, params.get()?.op(0)?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(handle: u64, node: u64, params: In<KernelParams2>) {
        exec(handle)?.set(node, params.get()?.op()?)
    }

    fn cuGraphExecMemcpyNodeSetParams(handle: u64, node: u64, params: In<Copy3D>, context: u64) {
        driver()?.lock().contexts.get(context)?;
        exec(handle)?.set(node, Op::Copy(params.get()?.resolve()?))
    }

    fn cuGraphExecMemsetNodeSetParams(handle: u64, node: u64, params: In<FillParams>, context: u64) {
        driver()?.lock().contexts.get(context)?;
        exec(handle)?.set(node, params.get()?.op()?)
    }

    fn cuGraphExecHostNodeSetParams(handle: u64, node: u64, params: In<HostParams>) {
        exec(handle)?.set(node, params.get()?.op()?)
    }

    fn cuGraphExecChildGraphNodeSetParams(handle: u64, node: u64, child: u64) {
        exec(handle)?.set(node, graph_node::child(child)?.0)
    }

    fn cuGraphExecEventRecordNodeSetEvent(handle: u64, node: u64, event: u64) {
        let event = driver()?.lock().events.get(event)?;
        exec(handle)?.set(node, Op::Record(event))
    }

    fn cuGraphExecEventWaitNodeSetEvent(handle: u64, node: u64, event: u64) {
        let event = driver()?.lock().events.get(event)?;
        exec(handle)?.set(node, Op::Wait(event))
    }

    fn cuGraphNodeSetEnabled(handle: u64, node: u64, enabled: u32) {
        exec(handle)?.enable(node, enabled != 0)
    }

    fn cuGraphNodeGetEnabled(handle: u64, node: u64, enabled: Out<u32>) {
        enabled.set(exec(handle)?.is_enabled(node)?.into())
    }
}
