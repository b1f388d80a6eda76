//! Work in order: the queue of a stream.
//!
//! Work runs on the calling thread where nothing is in its way, which costs no hand-over; what has to wait (for a host function, for another stream, or
//! because the user asked for it) runs on a thread of the queue's own, which is started when it is first needed.

use crate::error::Error;
use crate::op::Op;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The state of a queue after some piece of work: reached when that has been done.
#[derive(Clone, Debug)]
pub struct Ticket {
    queue: Arc<Queue>,
    number: u64,
}

impl Ticket {
    /// True if the work has been done.
    pub fn is_done(&self) -> bool {
        self.queue.completed.load(Ordering::Acquire) >= self.number
    }

    /// Waits for it.
    pub fn wait(&self) {
        let mut inner = self.queue.lock();
        while !self.is_done() {
            inner = self.queue.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The queue of a stream.
#[derive(Debug, Default)]
pub struct Queue {
    inner: Mutex<Inner>,
    changed: Condvar,
    completed: AtomicU64,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<(Vec<Ticket>, Op)>,
    submitted: u64,
    /// A piece of work is being done, on whatever thread.
    running: bool,
    /// The process that the thread of the queue was started in: a forked child has none.
    worker: Option<u32>,
    closed: bool,
    error: Option<Error>,
}

/// Pieces of work that wait in queues, of all: where it is none nobody has to look.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// True if work waits in any queue.
pub fn any_pending() -> bool {
    PENDING.load(Ordering::SeqCst) != 0
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state after all that was submitted.
    pub fn ticket(self: &Arc<Self>) -> Ticket {
        Ticket { queue: Arc::clone(self), number: self.lock().submitted }
    }

    /// True if all that was submitted has been done.
    pub fn is_idle(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.lock().submitted
    }

    /// Has a piece of work done after all that was submitted before, and after others. `direct` says that it may be done at once, on this thread; its
    /// error is then the answer, and otherwise that of [`Queue::error`].
    pub fn submit(self: &Arc<Self>, mut after: Vec<Ticket>, direct: bool, op: Op) -> Result<(), Error> {
        after.retain(|ticket| !ticket.is_done());
        let mut inner = self.lock();
        inner.submitted += 1;
        if direct && after.is_empty() && inner.waiting.is_empty() && !inner.running {
            inner.running = true;
            drop(inner);
            let outcome = finish(op);
            self.done(self.lock());
            return outcome;
        }
        PENDING.fetch_add(1, Ordering::SeqCst);
        inner.waiting.push_back((after, op));
        let process = std::process::id();
        if inner.worker != Some(process) {
            inner.worker = Some(process);
            let queue = Arc::clone(self);
            let started =
                std::thread::Builder::new().name("warpsmith stream".into()).spawn(move || queue.work());
            if let Err(error) = started {
                inner.worker = None;
                inner.waiting.pop_back();
                inner.submitted -= 1;
                PENDING.fetch_sub(1, Ordering::SeqCst);
                let message = format!("no thread for a stream: {error}");
                return Err(Error::new(crate::error::Code::OPERATING_SYSTEM, message));
            }
        }
        drop(inner);
        self.changed.notify_all();
        Ok(())
    }

    fn done(&self, mut inner: MutexGuard<'_, Inner>) {
        inner.running = false;
        self.completed.fetch_add(1, Ordering::AcqRel);
        drop(inner);
        self.changed.notify_all();
    }

    /// The thread of the queue.
    fn work(self: Arc<Self>) {
        loop {
            let mut inner = self.lock();
            let (after, op) = loop {
                if !inner.running
                    && let Some(next) = inner.waiting.pop_front()
                {
                    break next;
                }
                if inner.closed && inner.waiting.is_empty() {
                    inner.worker = None;
                    return;
                }
                inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
            };
            inner.running = true;
            drop(inner);
            after.iter().for_each(Ticket::wait);
            let outcome = finish(op);
            let mut inner = self.lock();
            if let Err(error) = outcome {
                inner.error.get_or_insert(error);
            }
            PENDING.fetch_sub(1, Ordering::SeqCst);
            self.done(inner);
        }
    }

    /// The first error of work that was done on the queue's own thread, since this was last asked.
    pub fn error(&self) -> Option<Error> {
        self.lock().error.take()
    }

    /// Ends the thread of the queue when all has been done.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

/// Does a piece of work. A panic is its error: the queue goes on.
fn finish(op: Op) -> Result<(), Error> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| op.run()));
    outcome.unwrap_or_else(|_| {
        Err(Error::new(crate::error::Code::UNKNOWN, "internal error in work of a stream"))
    })
}
