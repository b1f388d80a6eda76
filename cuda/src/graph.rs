//! Graphs: work with dependencies, made by hand or captured, and launched as one.

use crate::api::copy::Copy3D;
use crate::api::graph_memory::Batch;
use crate::error::{Code, Error};
use crate::op::Op;
use crate::state::driver;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A node: what it does, and what comes before.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What comes before.
    pub after: Vec<u64>,
    /// What the work does not say of it.
    pub kind: NodeKind,
}

/// `CUgraphNodeType`, where the work alone does not say it.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// What the work says.
    Plain,
    /// A graph in the graph.
    Child(u64),
    /// A copy, as the client has described it.
    Copy(Box<Copy3D>),
    /// Operations on memory, as the client has described them.
    Batch(Arc<Batch>),
}

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Mutex<BTreeMap<u64, Node>>,
    /// Of a clone: the nodes of the original, and its own.
    pub origin: Mutex<BTreeMap<u64, u64>>,
    /// Objects of the client that it holds: handles and counts.
    pub held: Mutex<Vec<(u64, u32)>>,
}

impl Graph {
    /// The nodes, by handle: in the order in which they were added.
    pub fn nodes(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node after others.
    pub fn add(self: &Arc<Self>, op: Op, after: &[u64]) -> Result<u64, Error> {
        self.add_node(Node { op, after: after.to_vec(), kind: NodeKind::Plain })
    }

    /// Adds a node.
    pub fn add_node(self: &Arc<Self>, node: Node) -> Result<u64, Error> {
        let mut state = driver()?.lock();
        let mut nodes = self.nodes();
        if let Some(wrong) = node.after.iter().find(|before| !nodes.contains_key(before)) {
            return Err(Error::value(format!("{wrong:#x} is not a node of the graph")));
        }
        if (1..node.after.len()).any(|i| node.after[..i].contains(&node.after[i])) {
            return Err(Error::value("a dependency is named twice"));
        }
        state.last_node += 16;
        let handle = state.last_node;
        state.nodes.insert(handle, Arc::downgrade(self));
        nodes.insert(handle, node);
        Ok(handle)
    }

    /// Nodes that nothing in the graph comes after.
    pub fn leaves(&self) -> Vec<u64> {
        let nodes = self.nodes();
        let before: Vec<u64> = nodes.values().flat_map(|node| node.after.iter().copied()).collect();
        nodes.keys().filter(|node| !before.contains(node)).copied().collect()
    }

    /// The nodes in an order that serves their dependencies; an error if they are circular.
    pub fn order(&self) -> Result<Vec<u64>, Error> {
        let nodes = self.nodes();
        let mut missing: BTreeMap<u64, usize> =
            nodes.iter().map(|(n, node)| (*n, node.after.len())).collect();
        let mut later: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (handle, node) in nodes.iter() {
            node.after.iter().for_each(|before| later.entry(*before).or_default().push(*handle));
        }
        let mut ready: std::collections::BTreeSet<u64> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(next) = ready.pop_first() {
            order.push(next);
            for after in later.get(&next).into_iter().flatten() {
                if let Some(count) = missing.get_mut(after) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(*after);
                    }
                }
            }
        }
        if order.len() < nodes.len() {
            return Err(Error::value("the dependencies of a graph are circular"));
        }
        Ok(order)
    }

    /// The work of the graph, in order.
    pub fn work(&self) -> Result<Vec<(u64, Op)>, Error> {
        let order = self.order()?;
        let nodes = self.nodes();
        Ok(order.iter().filter_map(|handle| Some((*handle, nodes.get(handle)?.op.clone()))).collect())
    }

    /// True if nodes allocate memory or free it: such a graph stays as it is, and has no copies.
    pub fn has_memory(&self) -> bool {
        self.nodes().values().any(|node| matches!(node.op, Op::Allocate(..) | Op::Free(_)))
    }

    /// Takes out a node, and what others say of it.
    pub fn remove(&self, handle: u64) -> Result<(), Error> {
        if self.has_memory() {
            return Err(Error::unsupported("taking a node out of a graph that allocates memory"));
        }
        let mut nodes = self.nodes();
        nodes.remove(&handle).ok_or_else(|| Error::value("not a node of the graph"))?;
        nodes.values_mut().for_each(|node| node.after.retain(|before| *before != handle));
        Ok(())
    }
}

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
pub const AUTO_FREE: u64 = 1;

/// A graph that can be launched.
#[derive(Debug)]
pub struct Exec {
    /// How it was made.
    pub flags: u64,
    work: Mutex<Vec<Step>>,
    ready: Mutex<Option<Arc<Vec<Op>>>>,
}

/// The work of a node as a graph made with these flags does it.
fn launched(op: Op, flags: u64) -> Op {
    match op {
        // What an earlier launch has allocated is freed at the next one if the client has asked for that.
        Op::Allocate(memory, _) => Op::Allocate(memory, flags & AUTO_FREE != 0),
        other => other,
    }
}

/// A node of a graph that can be launched.
#[derive(Clone, Debug)]
struct Step {
    node: u64,
    op: Op,
    enabled: bool,
}

impl Exec {
    /// The graph as it is now.
    pub fn new(graph: &Graph, flags: u64) -> Result<Exec, Error> {
        let step = |(node, op)| Step { node, op: launched(op, flags), enabled: true };
        let work = graph.work()?.into_iter().map(step).collect();
        Ok(Exec { flags, work: Mutex::new(work), ready: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Step>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a launch does.
    pub fn work(&self) -> Op {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let ops = ready.get_or_insert_with(|| {
            let steps = self.lock();
            Arc::new(steps.iter().filter(|step| step.enabled).map(|step| step.op.clone()).collect())
        });
        Op::Graph(Arc::clone(ops))
    }

    fn change(&self, node: u64, change: impl FnOnce(&mut Step) -> Result<(), Error>) -> Result<(), Error> {
        let mut steps = self.lock();
        let step = steps.iter_mut().find(|step| step.node == node);
        change(step.ok_or_else(|| Error::value(format!("{node:#x} is not a node of the graph")))?)?;
        *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    /// Replaces a node's work by other work of the same kind.
    pub fn set(&self, node: u64, op: Op) -> Result<(), Error> {
        self.change(node, |step| {
            if std::mem::discriminant(&step.op) != std::mem::discriminant(&op) {
                return Err(Error::value("the node does work of another kind"));
            }
            step.op = op;
            Ok(())
        })
    }

    /// Has launches leave out a node, or do it.
    pub fn enable(&self, node: u64, enabled: bool) -> Result<(), Error> {
        self.change(node, |step| {
            if !matches!(step.op, Op::Kernel(_) | Op::Copy(_) | Op::Fill(_)) {
                return Err(Error::value("only kernels, copies and fills can be left out"));
            }
            step.enabled = enabled;
            Ok(())
        })
    }

    /// Whether launches do a node.
    pub fn is_enabled(&self, node: u64) -> Result<bool, Error> {
        let steps = self.lock();
        let step = steps.iter().find(|step| step.node == node);
        Ok(step.ok_or_else(|| Error::value(format!("{node:#x} is not a node of the graph")))?.enabled)
    }

    /// Takes the work of another graph of the same form; the number is that of `CUgraphExecUpdateResult`.
    pub fn update(&self, graph: &Graph) -> Result<(), u32> {
        let (work, mut steps) = (graph.work().map_err(|_| 1u32)?, self.lock());
        if work.len() != steps.len() {
            return Err(2);
        }
        if work
            .iter()
            .zip(steps.iter())
            .any(|((_, op), step)| std::mem::discriminant(op) != std::mem::discriminant(&step.op))
        {
            return Err(3);
        }
        for ((node, op), step) in work.into_iter().zip(steps.iter_mut()) {
            // The nodes of either graph name the step from now on; those of the new one are what the client has.
            (step.node, step.op) = (node, launched(op, self.flags));
        }
        *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// The graph of a node.
pub fn of_node(node: u64) -> Result<Arc<Graph>, Error> {
    let found = driver()?.lock().nodes.get(&node).and_then(std::sync::Weak::upgrade);
    found.ok_or_else(|| Error::new(Code::INVALID_VALUE, format!("{node:#x} is not the handle of a node")))
}
