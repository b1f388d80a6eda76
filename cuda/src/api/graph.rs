//! Graphs: what they are made of.

use crate::api::graph_node::ordered;
use crate::error::Error;
use crate::ffi::{In, Out, Pointer, Text, api};
use crate::graph::{Graph, Node, of_node};
use crate::state::driver;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

/// The graph of a handle.
pub fn get(handle: u64) -> Result<Arc<Graph>, Error> {
    driver()?.lock().graphs.get(handle)
}

/// Gives a list, or how long it is.
fn give(list: &[u64], answer: Out<u64>, count: Out<usize>) -> Result<(), Error> {
    if answer.is_null() {
        return count.set(list.len());
    }
    let room = count.get()?;
    let given = &list[..list.len().min(room)];
    answer.list(given)?;
    count.set(given.len())
}

fn edges(graph: &Graph) -> Vec<(u64, u64)> {
    let nodes = graph.nodes();
    nodes.iter().flat_map(|(to, node)| node.after.iter().map(|from| (*from, *to))).collect()
}

fn give_edges(handle: u64, from: Out<u64>, to: Out<u64>, count: Out<usize>) -> Result<(), Error> {
    let edges = edges(&*get(handle)?);
    if from.is_null() && to.is_null() {
        return count.set(edges.len());
    }
    let room = count.get()?.min(edges.len());
    from.list(&edges[..room].iter().map(|(from, _)| *from).collect::<Vec<_>>())?;
    to.list(&edges[..room].iter().map(|(_, to)| *to).collect::<Vec<_>>())?;
    count.set(room)
}

fn dependencies(node: u64, answer: Out<u64>, count: Out<usize>) -> Result<(), Error> {
    let graph = of_node(node)?;
    let list = graph.nodes().get(&node).map(|node| node.after.clone()).unwrap_or_default();
    give(&list, answer, count)
}

fn dependents(node: u64, answer: Out<u64>, count: Out<usize>) -> Result<(), Error> {
    let graph = of_node(node)?;
    let list: Vec<u64> = graph
        .nodes()
        .iter()
        .filter(|(_, other)| other.after.contains(&node))
        .map(|(other, _)| *other)
        .collect();
    give(&list, answer, count)
}

fn change(handle: u64, from: In<u64>, to: In<u64>, count: usize, add: bool) -> Result<(), Error> {
    let graph = get(handle)?;
    let (from, to) = (from.list(count)?, to.list(count)?);
    let before = graph.nodes().clone();
    for (from, to) in from.iter().zip(&to) {
        let mut nodes = graph.nodes();
        let known = nodes.contains_key(from);
        let node = nodes.get_mut(to).filter(|_| known);
        let node = node.ok_or_else(|| Error::value("a dependency of what is not in the graph"))?;
        let there = node.after.contains(from);
        if there == add {
            let what = if add { "is there already" } else { "is not there" };
            return Err(Error::value(format!("a dependency that {what}")));
        }
        if add { node.after.push(*from) } else { node.after.retain(|node| node != from) }
    }
    if let Err(error) = graph.order() {
        *graph.nodes() = before;
        return Err(error);
    }
    Ok(())
}

/// A graph like another, with nodes of its own.
fn clone(graph: &Graph) -> Result<Arc<Graph>, Error> {
    if graph.has_memory() {
        return Err(Error::unsupported("a clone of a graph that allocates memory"));
    }
    let made = Arc::new(Graph::default());
    let mut names: BTreeMap<u64, u64> = BTreeMap::new();
    let nodes = graph.nodes().clone();
    for handle in graph.order()? {
        let Some(node) = nodes.get(&handle) else { continue };
        let after = node.after.iter().filter_map(|before| names.get(before).copied()).collect();
        let own = made.add_node(Node { op: node.op.clone(), after, kind: node.kind.clone() })?;
        names.insert(handle, own);
    }
    *made.origin.lock().unwrap_or_else(PoisonError::into_inner) = names;
    Ok(made)
}

api! {
    fn cuGraphCreate(graph: Out<u64>, flags: u32) {
        let driver = driver()?;
        graph.check()?;
        if flags != 0 {
            return Err(Error::value(format!("flags {flags}")));
        }
        graph.set(driver.lock().graphs.add(Graph::default()))
    }

    fn cuGraphDestroy(graph: u64) {
        let driver = driver()?;
        let gone = driver.lock().graphs.remove(graph)?;
        let held = std::mem::take(&mut *gone.held.lock().unwrap_or_else(PoisonError::into_inner));
        let nodes: Vec<u64> = gone.nodes().keys().copied().collect();
        nodes.iter().for_each(|node| drop(driver.lock().nodes.remove(node)));
        held.into_iter().try_for_each(|(object, count)| crate::api::stream::release(object, count))?;
        drop(gone);
        driver.lock().collect()
    }

    fn cuGraphClone(copy: Out<u64>, graph: u64) {
        copy.check()?;
        let made = clone(&*get(graph)?)?;
        let mut state = driver()?.lock();
        let handle = state.graphs.reserve();
        state.graphs.put(handle, made);
        copy.set(handle)
    }

    fn cuGraphNodeFindInClone(node: Out<u64>, original: u64, graph: u64) {
        let graph = get(graph)?;
        let found = graph.origin.lock().unwrap_or_else(PoisonError::into_inner).get(&original).copied();
        node.set(found.ok_or_else(|| Error::value("the graph is not a clone of the one that the node is in"))?)
    }

    fn cuGraphDestroyNode(node: u64) {
        of_node(node)?.remove(node)?;
        driver()?.lock().nodes.remove(&node);
        Ok(())
    }

    fn cuGraphGetNodes(graph: u64, nodes: Out<u64>, count: Out<usize>) {
        let list: Vec<u64> = get(graph)?.nodes().keys().copied().collect();
        give(&list, nodes, count)
    }

    fn cuGraphGetRootNodes(graph: u64, nodes: Out<u64>, count: Out<usize>) {
        let graph = get(graph)?;
        let list: Vec<u64> =
            graph.nodes().iter().filter(|(_, node)| node.after.is_empty()).map(|(node, _)| *node).collect();
        give(&list, nodes, count)
    }

    fn cuGraphGetEdges(graph: u64, from: Out<u64>, to: Out<u64>, count: Out<usize>) {
        give_edges(graph, from, to, count)
    }

    fn cuGraphGetEdges_v2(graph: u64, from: Out<u64>, to: Out<u64>, data: Out<u64>, count: Out<usize>) {
        give_edges(graph, from, to, count)?;
        if data.is_null() { Ok(()) } else { data.list(&vec![0; count.get()?]) }
    }

    fn cuGraphNodeGetDependencies(node: u64, nodes: Out<u64>, count: Out<usize>) {
        dependencies(node, nodes, count)
    }

    fn cuGraphNodeGetDependencies_v2(node: u64, nodes: Out<u64>, _data: Pointer, count: Out<usize>) {
        dependencies(node, nodes, count)
    }

    fn cuGraphNodeGetDependentNodes(node: u64, nodes: Out<u64>, count: Out<usize>) {
        dependents(node, nodes, count)
    }

    fn cuGraphNodeGetDependentNodes_v2(node: u64, nodes: Out<u64>, _data: Pointer, count: Out<usize>) {
        dependents(node, nodes, count)
    }

    fn cuGraphAddDependencies(graph: u64, from: In<u64>, to: In<u64>, count: usize) {
        change(graph, from, to, count, true)
    }

    fn cuGraphAddDependencies_v2(graph: u64, from: In<u64>, to: In<u64>, _data: Pointer, count: usize) {
        change(graph, from, to, count, true)
    }

    fn cuGraphRemoveDependencies(graph: u64, from: In<u64>, to: In<u64>, count: usize) {
        change(graph, from, to, count, false)
    }

    fn cuGraphRemoveDependencies_v2(graph: u64, from: In<u64>, to: In<u64>, _data: Pointer, count: usize) {
        change(graph, from, to, count, false)
    }

    fn cuGraphRetainUserObject(graph: u64, object: u64, count: u32, flags: u32) {
        let graph = get(graph)?;
        let found = driver()?.lock().user_objects.get(object)?;
        if count == 0 || flags > 1 {
            return Err(Error::value(format!("{count} references, flags {flags}")));
        }
        // With the flag the caller's references become the graph's.
        if flags == 0 {
            found.retain(count);
        }
        graph.held.lock().unwrap_or_else(PoisonError::into_inner).push((object, count));
        Ok(())
    }

    fn cuGraphReleaseUserObject(graph: u64, object: u64, count: u32) {
        let graph = get(graph)?;
        let mut held = graph.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.iter_mut().find(|(known, own)| *known == object && *own >= count);
        own.ok_or_else(|| Error::value("the graph does not hold so many references"))?.1 -= count;
        held.retain(|(_, own)| *own > 0);
        drop(held);
        crate::api::stream::release(object, count)
    }

    fn cuGraphDebugDotPrint(graph: u64, path: Text, _flags: u32) {
        let graph = get(graph)?;
        let path = path.get()?;
        let mut text = String::from("digraph {\n");
        for (number, handle) in ordered(&graph)?.iter().enumerate() {
            let kind = crate::api::graph_node::kind_name(&graph, *handle);
            text += &format!("  n{handle:x} [label=\"{number}: {kind}\"];\n");
        }
        for (from, to) in edges(&graph) {
            text += &format!("  n{from:x} -> n{to:x};\n");
        }
        text += "}\n";
        std::fs::write(&path, text)
            .map_err(|e| Error::new(crate::error::Code::OPERATING_SYSTEM, format!("{path}: {e}")))
    }
}
