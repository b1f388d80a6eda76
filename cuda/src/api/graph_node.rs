//! Nodes of graphs: their work.

use crate::api::copy::Copy3D;
use crate::api::fill::make_fill;
use crate::api::graph::get;
use crate::context::current;
use crate::error::{Code, Error};
use crate::ffi::callback::{Host, HostFunction};
use crate::ffi::{In, Out, Plain, Pointer, api};
use crate::graph::{Graph, Node, NodeKind, of_node};
use crate::launch::{AttributeValue, KernelLaunch, Shape};
use crate::op::Op;
use crate::state::driver;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParams {
    function: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: In<Pointer>,
    extra: In<Pointer>,
}
// SAFETY: numbers and addresses.
unsafe impl Plain for KernelParams {}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelParams2 {
    first: KernelParams,
    kernel: u64,
    context: u64,
}
// SAFETY: as above.
unsafe impl Plain for KernelParams2 {}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FillParams {
    to: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}
// SAFETY: as above.
unsafe impl Plain for FillParams {}

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HostParams {
    function: HostFunction,
    data: Pointer,
}
// SAFETY: as above.
unsafe impl Plain for HostParams {}

const _: () = assert!(size_of::<KernelParams>() == 56 && size_of::<KernelParams2>() == 72);
const _: () = assert!(size_of::<FillParams>() == 40 && size_of::<HostParams>() == 16);

impl KernelParams {
    /// The launch.
    pub fn op(self, kernel: u64) -> Result<Op, Error> {
        let context = current()?;
        let handle = if self.function == 0 { kernel } else { self.function };
        let function = driver()?.lock().callable(handle, &context)?;
        let shape = Shape {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: None,
            cooperative: false,
        };
        Ok(Op::Kernel(Arc::new(KernelLaunch::new(function, shape, self.params, self.extra)?)))
    }
}

impl KernelParams2 {
    /// What a node launches.
    fn of(handle: u64) -> Result<KernelParams2, Error> {
        let launch = kernel(handle)?;
        let Shape { grid, block, shared, .. } = launch.shape();
        let (params, extra) = (In::from(launch.params()), In::none());
        let function = driver()?.lock().handle_of(&launch.function)?;
        let first = KernelParams { function, grid, block, shared, params, extra };
        Ok(KernelParams2 { first, kernel: 0, context: launch.function.module.context })
    }

    /// The launch.
    pub fn op(self) -> Result<Op, Error> {
        self.first.op(self.kernel)
    }
}

impl FillParams {
    /// The fill.
    pub fn op(self) -> Result<Op, Error> {
        if ![1, 2, 4].contains(&self.element) {
            return Err(Error::value(format!("elements of {} bytes", self.element)));
        }
        let extent = [self.width, self.height];
        Ok(Op::Fill(make_fill(self.to, self.value, self.element as usize, extent, self.pitch)?))
    }
}

impl HostParams {
    /// The call.
    pub fn op(self) -> Result<Op, Error> {
        let function = self.function.ok_or_else(|| Error::value("no function to call"))?;
        Ok(Op::Host(Host { function, data: self.data }))
    }
}

/// Adds a node.
pub fn add(
    answer: Out<u64>,
    graph: u64,
    after: In<u64>,
    count: usize,
    op: Op,
    kind: NodeKind,
) -> Result<(), Error> {
    answer.check()?;
    let after = after.list(count)?;
    answer.set(get(graph)?.add_node(Node { op, after, kind })?)
}

fn plain(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, op: Op) -> Result<(), Error> {
    add(answer, graph, after, count, op, NodeKind::Plain)
}

/// Gives a node other work of its kind, which says all of it.
pub fn set(node: u64, op: Op) -> Result<(), Error> {
    set_described(node, op, NodeKind::Plain)
}

/// Gives a node other work of its kind.
pub fn set_described(node: u64, op: Op, kind: NodeKind) -> Result<(), Error> {
    let graph = of_node(node)?;
    let mut nodes = graph.nodes();
    let own = nodes.get_mut(&node).ok_or_else(|| Error::value("not a node of the graph"))?;
    if std::mem::discriminant(&own.op) != std::mem::discriminant(&op) {
        return Err(Error::value("the node does work of another kind"));
    }
    (own.op, own.kind) = (op, kind);
    Ok(())
}

/// The error for a node that does other work than is asked of it.
pub fn other_work(op: &Op) -> Error {
    Error::value(format!("the node does other work: {op:?}"))
}

/// The work of a child as it is now, and the kind of its node.
pub fn child(handle: u64) -> Result<(Op, NodeKind), Error> {
    let graph = get(handle)?;
    if graph.has_memory() {
        return Err(Error::unsupported("a graph in a graph that allocates memory"));
    }
    let work = graph.work()?.into_iter().map(|(_, op)| op).collect();
    Ok((Op::Graph(Arc::new(work)), NodeKind::Child(handle)))
}

/// The launch of a node.
fn kernel(handle: u64) -> Result<Arc<KernelLaunch>, Error> {
    match node(handle)?.op {
        Op::Kernel(launch) => Ok(launch),
        other => Err(other_work(&other)),
    }
}

/// The node of a handle.
pub fn node(handle: u64) -> Result<Node, Error> {
    let graph = of_node(handle)?;
    let found = graph.nodes().get(&handle).cloned();
    found.ok_or_else(|| Error::value("not a node of the graph"))
}

/// `CUgraphNodeType`, and its name.
fn kind(node: &Node) -> (u32, &'static str) {
    match (&node.kind, &node.op) {
        (NodeKind::Child(_), _) => (4, "graph"),
        (NodeKind::Batch(_), _) => (12, "memory operations"),
        (NodeKind::Copy(_), _) => (1, "memcpy"),
        (NodeKind::Plain, Op::Allocate(..)) => (10, "alloc"),
        (NodeKind::Plain, Op::Kernel(_)) => (0, "kernel"),
        (NodeKind::Plain, Op::Copy(_)) => (1, "memcpy"),
        (NodeKind::Plain, Op::Fill(_)) => (2, "memset"),
        (NodeKind::Plain, Op::Host(_) | Op::Callback(..)) => (3, "host"),
        (NodeKind::Plain, Op::Graph(_)) => (4, "graph"),
        (NodeKind::Plain, Op::Empty) => (5, "empty"),
        (NodeKind::Plain, Op::Wait(_) | Op::Await(..)) => (6, "wait for event"),
        (NodeKind::Plain, Op::Record(_) | Op::Signal(..)) => (7, "record event"),
        (NodeKind::Plain, Op::Free(_)) => (11, "free"),
        (NodeKind::Plain, Op::Value(_)) => (12, "memory operation"),
    }
}

/// What a node is called.
pub fn kind_name(graph: &Graph, handle: u64) -> &'static str {
    graph.nodes().get(&handle).map_or("gone", |node| kind(node).1)
}

/// The nodes of a graph in the order of its work.
pub fn ordered(graph: &Graph) -> Result<Vec<u64>, Error> {
    graph.order()
}

/// The event of a handle.
pub fn event(handle: u64) -> Result<Arc<crate::event::Event>, Error> {
    driver()?.lock().events.get(handle)
}

fn event_handle(wanted: &Arc<crate::event::Event>) -> Result<u64, Error> {
    let state = driver()?.lock();
    let found = state.events.iter().find(|(_, event)| Arc::ptr_eq(event, wanted)).map(|(handle, _)| handle);
    found.ok_or_else(|| Error::new(Code::INVALID_HANDLE, "the event was destroyed"))
}

api! {
    fn cuGraphAddKernelNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, params: In<KernelParams>) {
        plain(answer, graph, after, count, params.get()?.op(0)?)
    }

    fn cuGraphAddKernelNode_v2(
        answer: Out<u64>,
        graph: u64,
        after: In<u64>,
        count: usize,
        params: In<KernelParams2>,
    ) {
        plain(answer, graph, after, count, params.get()?.op()?)
    }

    fn cuGraphAddMemcpyNode(
        answer: Out<u64>,
        graph: u64,
        after: In<u64>,
        count: usize,
        params: In<Copy3D>,
        context: u64,
    ) {
        driver()?.lock().contexts.get(context)?;
        let params = params.get()?;
        add(answer, graph, after, count, Op::Copy(params.resolve()?), NodeKind::Copy(Box::new(params)))
    }

    fn cuGraphAddMemsetNode(
        answer: Out<u64>,
        graph: u64,
        after: In<u64>,
        count: usize,
        params: In<FillParams>,
        context: u64,
    ) {
        driver()?.lock().contexts.get(context)?;
        plain(answer, graph, after, count, params.get()?.op()?)
    }

    fn cuGraphAddHostNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, params: In<HostParams>) {
        plain(answer, graph, after, count, params.get()?.op()?)
    }

    fn cuGraphAddEmptyNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize) {
        plain(answer, graph, after, count, Op::Empty)
    }

    fn cuGraphAddEventRecordNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, handle: u64) {
        plain(answer, graph, after, count, Op::Record(event(handle)?))
    }

    fn cuGraphAddEventWaitNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, handle: u64) {
        plain(answer, graph, after, count, Op::Wait(event(handle)?))
    }

    fn cuGraphAddChildGraphNode(answer: Out<u64>, graph: u64, after: In<u64>, count: usize, child: u64) {
        let (op, kind) = self::child(child)?;
        add(answer, graph, after, count, op, kind)
    }

    fn cuGraphChildGraphNodeGetGraph(handle: u64, graph: Out<u64>) {
        match node(handle)?.kind {
            NodeKind::Child(child) => graph.set(child),
            NodeKind::Plain | NodeKind::Copy(_) | NodeKind::Batch(_) => {
                Err(Error::value("a node of another kind"))
            }
        }
    }

    fn cuGraphNodeGetType(handle: u64, answer: Out<u32>) {
        answer.set(kind(&node(handle)?).0)
    }

    fn cuGraphKernelNodeSetParams(handle: u64, params: In<KernelParams>) {
        set(handle, params.get()?.op(0)?)
    }

    fn cuGraphKernelNodeSetParams_v2(handle: u64, params: In<KernelParams2>) {
        set(handle, params.get()?.op()?)
    }

    fn cuGraphKernelNodeGetParams(handle: u64, params: Out<KernelParams>) {
        params.set(KernelParams2::of(handle)?.first)
    }

    fn cuGraphKernelNodeGetParams_v2(handle: u64, params: Out<KernelParams2>) {
        params.set(KernelParams2::of(handle)?)
    }

    fn cuGraphKernelNodeSetAttribute(handle: u64, number: u32, value: In<AttributeValue>) {
        let changes = BTreeMap::from([(number, value.get()?)]);
        set(handle, Op::Kernel(Arc::new(kernel(handle)?.with_attributes(&changes)?)))
    }

    fn cuGraphKernelNodeGetAttribute(handle: u64, number: u32, value: Out<AttributeValue>) {
        value.set(kernel(handle)?.attribute(number)?)
    }

    fn cuGraphKernelNodeCopyAttributes(to: u64, from: u64) {
        let changes = kernel(from)?.attributes();
        set(to, Op::Kernel(Arc::new(kernel(to)?.with_attributes(&changes)?)))
    }

    fn cuGraphMemcpyNodeSetParams(handle: u64, params: In<Copy3D>) {
        let params = params.get()?;
        set_described(handle, Op::Copy(params.resolve()?), NodeKind::Copy(Box::new(params)))
    }

    fn cuGraphMemcpyNodeGetParams(handle: u64, params: Out<Copy3D>) {
        match node(handle)? {
            Node { kind: NodeKind::Copy(described), .. } => params.set(*described),
            Node { op: Op::Copy(copy), .. } => params.set(Copy3D::of(&copy)),
            Node { op, .. } => Err(other_work(&op)),
        }
    }

    fn cuGraphMemsetNodeSetParams(handle: u64, params: In<FillParams>) {
        set(handle, params.get()?.op()?)
    }

    fn cuGraphMemsetNodeGetParams(handle: u64, params: Out<FillParams>) {
        match node(handle)?.op {
            Op::Fill(fill) => params.set(FillParams {
                to: fill.to.at.address(),
                pitch: fill.to.pitch,
                value: fill.value,
                element: fill.width as u32,
                width: fill.extent[0],
                height: fill.extent[1],
            }),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphHostNodeSetParams(handle: u64, params: In<HostParams>) {
        set(handle, params.get()?.op()?)
    }

    fn cuGraphHostNodeGetParams(handle: u64, params: Out<HostParams>) {
        match node(handle)?.op {
            Op::Host(host) => params.set(HostParams { function: Some(host.function), data: host.data }),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphEventRecordNodeGetEvent(handle: u64, answer: Out<u64>) {
        match node(handle)?.op {
            Op::Record(event) => answer.set(event_handle(&event)?),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphEventWaitNodeGetEvent(handle: u64, answer: Out<u64>) {
        match node(handle)?.op {
            Op::Wait(event) => answer.set(event_handle(&event)?),
            other => Err(other_work(&other)),
        }
    }

    fn cuGraphEventRecordNodeSetEvent(handle: u64, new: u64) {
        set(handle, Op::Record(event(new)?))
    }

    fn cuGraphEventWaitNodeSetEvent(handle: u64, new: u64) {
        set(handle, Op::Wait(event(new)?))
    }
}
