//! Captures: what streams would do becomes a graph.

use crate::context::stream;
use crate::error::{Code, Error};
use crate::ffi::{In, Out, Pointer, api};
use crate::graph::Graph;
use crate::state::driver;
use crate::stream::{Capture, Captured, Stream};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

thread_local! {
    /// The nodes that were last returned, which a client reads until its next call.
    static RETURNED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    /// As many edges without data.
    static EDGES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn begin(handle: u64, mode: u32, graph: Option<(u64, Vec<u64>)>) -> Result<(), Error> {
    let (_, stream) = stream(handle)?;
    if mode > 2 {
        return Err(Error::value(format!("capture mode {mode}")));
    }
    if stream.legacy {
        return Err(Error::new(Code::STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured"));
    }
    let driver = driver()?;
    let (graph, after) = match graph {
        Some((graph, after)) => (driver.lock().graphs.get(graph)?, after),
        None => (Arc::new(Graph::default()), Vec::new()),
    };
    let id = driver.lock().number();
    let mut capture = stream.capture();
    if capture.is_some() {
        return Err(Error::new(Code::ILLEGAL_STATE, "the stream is being captured"));
    }
    let thread = std::thread::current().id();
    let made = Capture { id, graph, origin: stream.id, thread, mode, invalid: Mutex::new(false) };
    *capture = Some(Captured { capture: Arc::new(made), after });
    Ok(())
}

fn end(handle: u64, answer: Out<u64>) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    let own = stream.capture().clone();
    let captured = own.ok_or_else(|| Error::new(Code::ILLEGAL_STATE, "the stream is not being captured"))?;
    let capture = &captured.capture;
    if capture.origin != stream.id {
        return Err(Error::new(Code::STREAM_CAPTURE_UNMATCHED, "the capture began in another stream"));
    }
    if capture.mode != 2 && capture.thread != std::thread::current().id() {
        return Err(Error::new(Code::STREAM_CAPTURE_WRONG_THREAD, "the capture began on another thread"));
    }
    *stream.capture() = None;
    // Streams that joined are done with the capture, too.
    let mut unjoined = false;
    for other in context.streams() {
        let mut own = other.capture();
        if own.as_ref().is_some_and(|own| own.capture.id == capture.id) {
            let rest = own.take().map(|own| own.after).unwrap_or_default();
            let leaves = capture.graph.leaves();
            unjoined |= rest.iter().any(|node| leaves.contains(node) && !captured.after.contains(node));
        }
    }
    if capture.is_invalid() {
        answer.offer(0);
        return Err(Error::new(Code::STREAM_CAPTURE_INVALIDATED, "the capture has failed before"));
    }
    if unjoined {
        answer.offer(0);
        return Err(Error::new(Code::STREAM_CAPTURE_UNJOINED, "work of a stream that did not join again"));
    }
    let mut state = driver()?.lock();
    let known =
        state.graphs.iter().find(|(_, graph)| Arc::ptr_eq(graph, &capture.graph)).map(|(handle, _)| handle);
    let handle = known.unwrap_or_else(|| {
        let handle = state.graphs.reserve();
        state.graphs.put(handle, Arc::clone(&capture.graph));
        handle
    });
    answer.set(handle)
}

fn status(stream: &Stream) -> u32 {
    match &*stream.capture() {
        None => 0,
        Some(captured) if captured.capture.is_invalid() => 2,
        Some(_) => 1,
    }
}

/// Gives status and number of a capture, and its graph and last nodes where they are asked for.
fn info(
    handle: u64,
    answer: Out<u32>,
    id: Out<u64>,
    graph: Out<u64>,
    nodes: Out<Pointer>,
    edges: Out<Pointer>,
    count: Out<usize>,
) -> Result<(), Error> {
    let (_, stream) = stream(handle)?;
    answer.set(status(&stream))?;
    let captured = stream.capture().clone();
    let Some(captured) = captured else { return Ok(()) };
    id.offer(captured.capture.id);
    if !graph.is_null() {
        let mut state = driver()?.lock();
        let of = &captured.capture.graph;
        let known = state.graphs.iter().find(|(_, graph)| Arc::ptr_eq(graph, of)).map(|(handle, _)| handle);
        let handle = known.unwrap_or_else(|| {
            let handle = state.graphs.reserve();
            state.graphs.put(handle, Arc::clone(of));
            handle
        });
        graph.set(handle)?;
    }
    count.offer(captured.after.len());
    edges.offer(EDGES.with_borrow_mut(|kept| {
        *kept = vec![0; captured.after.len().max(1)];
        Pointer(kept.as_mut_ptr().cast())
    }));
    nodes.offer(RETURNED.with_borrow_mut(|returned| {
        *returned = captured.after;
        returned.reserve(1);
        Pointer(returned.as_mut_ptr().cast())
    }));
    Ok(())
}

fn update(handle: u64, nodes: In<u64>, count: usize, flags: u32) -> Result<(), Error> {
    let (_, stream) = stream(handle)?;
    let nodes = nodes.list(count)?;
    let mut own = stream.capture();
    let none = || Error::new(Code::ILLEGAL_STATE, "the stream is not being captured");
    let captured = own.as_mut().ok_or_else(none)?;
    if let Some(wrong) = nodes.iter().find(|node| !captured.capture.graph.nodes().contains_key(node)) {
        return Err(Error::value(format!("{wrong:#x} is not a node of the graph")));
    }
    match flags {
        0 => captured.after.extend(nodes),
        1 => captured.after = nodes,
        _ => return Err(Error::value(format!("flags {flags}"))),
    }
    Ok(())
}

api! {
    fn cuStreamBeginCapture(handle: u64) {
        begin(handle, 0, None)
    }

    fn cuStreamBeginCapture_v2(handle: u64, mode: u32) {
        begin(handle, mode, None)
    }

    fn cuStreamBeginCaptureToGraph(
        handle: u64,
        graph: u64,
        nodes: In<u64>,
        _edges: Pointer,
        count: usize,
        mode: u32,
    ) {
        begin(handle, mode, Some((graph, nodes.list(count)?)))
    }

    fn cuStreamEndCapture(handle: u64, graph: Out<u64>) {
        graph.check()?;
        end(handle, graph)
    }

    fn cuStreamIsCapturing(handle: u64, answer: Out<u32>) {
        let (_, stream) = stream(handle)?;
        answer.set(status(&stream))
    }

    fn cuStreamGetCaptureInfo(handle: u64, answer: Out<u32>, id: Out<u64>) {
        info(handle, answer, id, Out::none(), Out::none(), Out::none(), Out::none())
    }

    fn cuStreamGetCaptureInfo_v2(
        handle: u64,
        answer: Out<u32>,
        id: Out<u64>,
        graph: Out<u64>,
        nodes: Out<Pointer>,
        count: Out<usize>,
    ) {
        info(handle, answer, id, graph, nodes, Out::none(), count)
    }

    fn cuStreamGetCaptureInfo_v3(
        handle: u64,
        answer: Out<u32>,
        id: Out<u64>,
        graph: Out<u64>,
        nodes: Out<Pointer>,
        edges: Out<Pointer>,
        count: Out<usize>,
    ) {
        info(handle, answer, id, graph, nodes, edges, count)
    }

    fn cuStreamUpdateCaptureDependencies(handle: u64, nodes: In<u64>, count: usize, flags: u32) {
        update(handle, nodes, count, flags)
    }

    fn cuStreamUpdateCaptureDependencies_v2(
        handle: u64,
        nodes: In<u64>,
        _edges: Pointer,
        count: usize,
        flags: u32,
    ) {
        update(handle, nodes, count, flags)
    }
}
