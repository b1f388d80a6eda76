//! Streams: queues of work, and what is captured of them in place of being done.

use crate::context::Context;
use crate::error::{Code, Error};
use crate::event::Event;
use crate::graph::Graph;
use crate::op::Op;
use crate::queue::{Queue, Ticket, any_pending};
use crate::state::driver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// `CU_STREAM_NON_BLOCKING`
pub const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_LEGACY`: the handle of the stream that all others wait for.
pub const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`
pub const PER_THREAD: u64 = 2;

/// A capture that goes on.
#[derive(Debug)]
pub struct Capture {
    /// Its number.
    pub id: u64,
    /// What is captured.
    pub graph: Arc<Graph>,
    /// The stream that it began in.
    pub origin: u64,
    /// The thread that it began on.
    pub thread: ThreadId,
    /// `CUstreamCaptureMode`
    pub mode: u32,
    /// Something was done that cannot be captured.
    pub invalid: Mutex<bool>,
}

impl Capture {
    /// Says that something was done that cannot be captured.
    pub fn invalidate(&self) {
        *self.invalid.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// True if something was done that cannot be captured.
    pub fn is_invalid(&self) -> bool {
        *self.invalid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in a capture: the nodes that come before.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The capture.
    pub capture: Arc<Capture>,
    /// The nodes that the next one depends on.
    pub after: Vec<u64>,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its number, which no other stream has.
    pub id: u64,
    /// The context that it belongs to.
    pub context: u64,
    /// The device of that.
    pub device: usize,
    /// How it was made.
    pub flags: u32,
    /// Its priority, which nothing depends on.
    pub priority: i32,
    /// True for the stream that others wait for.
    pub legacy: bool,
    /// Its work.
    pub queue: Arc<Queue>,
    capture: Mutex<Option<Captured>>,
}

impl Stream {
    /// A stream without work.
    pub fn new(id: u64, context: u64, device: usize, flags: u32, priority: i32) -> Stream {
        let (queue, capture) = (Arc::default(), Mutex::default());
        Stream { id, context, device, flags, priority, legacy: false, queue, capture }
    }

    /// The stream of a context that others wait for.
    pub fn legacy(id: u64, context: u64, device: usize) -> Stream {
        let mut stream = Stream::new(id, context, device, 0, 0);
        stream.legacy = true;
        stream
    }

    /// What is captured of it.
    pub fn capture(&self) -> MutexGuard<'_, Option<Captured>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error if it is captured: for what cannot be.
    pub fn not_captured(&self) -> Result<(), Error> {
        match &*self.capture() {
            None => Ok(()),
            Some(captured) => {
                captured.capture.invalidate();
                Err(Error::new(Code::STREAM_CAPTURE_UNSUPPORTED, "this cannot be captured"))
            }
        }
    }

    /// What other streams have to do before this one goes on.
    fn others(&self, context: &Context) -> Vec<Ticket> {
        if !any_pending() {
            return Vec::new();
        }
        if self.legacy {
            let others = context.streams();
            let blocking =
                others.iter().filter(|stream| stream.flags & NON_BLOCKING == 0 && stream.id != self.id);
            return blocking.map(|stream| stream.queue.ticket()).collect();
        }
        if self.flags & NON_BLOCKING == 0 { vec![context.legacy.queue.ticket()] } else { Vec::new() }
    }

    /// Has work done in its turn, or captures it.
    pub fn submit(&self, context: &Context, op: Op) -> Result<(), Error> {
        self.submit_after(context, Vec::new(), op).map(|_| ())
    }

    /// As [`Stream::submit`], after other work too. The ticket is that of this work, unless it is captured.
    pub fn submit_after(
        &self,
        context: &Context,
        mut after: Vec<Ticket>,
        op: Op,
    ) -> Result<Option<Ticket>, Error> {
        if let Some(captured) = &mut *self.capture() {
            if captured.capture.is_invalid() {
                return Err(Error::new(Code::STREAM_CAPTURE_INVALIDATED, "the capture has failed before"));
            }
            let node = captured.capture.graph.add(op, &captured.after)?;
            captured.after = vec![node];
            return Ok(None);
        }
        after.extend(self.others(context));
        let direct = !driver()?.settings.asynchronous && !op.may_block();
        let outcome = self.queue.submit(after, direct, op);
        let ticket = self.queue.ticket();
        context.note(outcome)?;
        Ok(Some(ticket))
    }

    /// Records an event.
    pub fn record(&self, context: &Context, event: &Arc<Event>) -> Result<(), Error> {
        if let Some(captured) = &*self.capture() {
            event.capture(captured.clone());
            return Ok(());
        }
        if let Some(signal) = &event.signal {
            let number = signal.record();
            let submitted = self.submit_after(context, Vec::new(), Op::Signal(Arc::clone(signal), number));
            if submitted.is_err() {
                signal.happen(number);
            }
            return submitted.map(|ticket| ticket.into_iter().for_each(|ticket| event.record(ticket)));
        }
        if let Some(ticket) = self.submit_after(context, Vec::new(), Op::Record(Arc::clone(event)))? {
            event.record(ticket);
        }
        Ok(())
    }

    /// Has the stream wait for an event, which may bring it into a capture.
    pub fn wait(&self, context: &Context, event: &Event) -> Result<(), Error> {
        if let Some(recorded) = event.captured() {
            let mut own = self.capture();
            match &mut *own {
                None => *own = Some(recorded),
                Some(captured) if captured.capture.id == recorded.capture.id => {
                    let more = recorded.after.iter().filter(|node| !captured.after.contains(node));
                    let more: Vec<u64> = more.copied().collect();
                    captured.after.extend(more);
                }
                Some(captured) => {
                    captured.capture.invalidate();
                    return Err(Error::new(Code::STREAM_CAPTURE_MERGE, "an event of another capture"));
                }
            }
            return Ok(());
        }
        if let Some(captured) = &*self.capture() {
            captured.capture.invalidate();
            let message = "a stream that is captured waits for work that is not";
            return Err(Error::new(Code::STREAM_CAPTURE_ISOLATION, message));
        }
        if let Some(signal) = &event.signal {
            let number = signal.recorded();
            let done = signal.has_happened(number);
            let op = Op::Await(Arc::clone(signal), number);
            return if done { Ok(()) } else { self.submit(context, op) };
        }
        match event.ticket() {
            Some(ticket) if !ticket.is_done() => {
                self.submit_after(context, vec![ticket], Op::Empty).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Waits until all its work has been done.
    pub fn synchronize(&self, context: &Context) -> Result<(), Error> {
        self.not_captured()?;
        self.others(context).iter().for_each(Ticket::wait);
        self.queue.ticket().wait();
        context.note(self.queue.error().map_or(Ok(()), Err))
    }

    /// An error if work is to be done.
    pub fn query(&self, context: &Context) -> Result<(), Error> {
        self.not_captured()?;
        if !self.queue.is_idle() {
            return Err(Error::new(Code::NOT_READY, "the stream has work to do"));
        }
        context.note(self.queue.error().map_or(Ok(()), Err))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.queue.close();
    }
}
