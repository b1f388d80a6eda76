//! Events: a place in the work of a stream, and the time when it was reached.

use crate::error::{Code, Error};
use crate::ffi::signal::Signal;
use crate::queue::Ticket;
use crate::stream::Captured;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// `CU_EVENT_DISABLE_TIMING`
const NO_TIMING: u32 = 2;
/// `CU_EVENT_INTERPROCESS`
const INTERPROCESS: u32 = 4;
/// All flags that there are.
const FLAGS: u32 = 7;

/// An event.
#[derive(Debug)]
pub struct Event {
    /// The context that it was made in.
    pub context: u64,
    /// How it was made.
    pub flags: u32,
    /// What other processes have of it, too: then this alone says whether it has happened.
    pub signal: Option<Arc<Signal>>,
    inner: Mutex<Inner>,
}

#[derive(Default, Debug)]
struct Inner {
    ticket: Option<Ticket>,
    time: Option<Instant>,
    captured: Option<Captured>,
}

impl Event {
    /// An event that nothing was recorded in.
    pub fn new(context: u64, flags: u32) -> Result<Event, Error> {
        if flags & !FLAGS != 0 || flags & INTERPROCESS != 0 && flags & NO_TIMING == 0 {
            return Err(Error::value(format!("flags {flags:#x} of an event")));
        }
        let signal = if flags & INTERPROCESS == 0 {
            None
        } else {
            let made = Signal::new().map_err(|error| {
                Error::new(Code::OPERATING_SYSTEM, format!("an event for other processes: {error}"))
            })?;
            Some(Arc::new(made))
        };
        Ok(Event { context, flags, signal, inner: Mutex::default() })
    }

    /// An event of another process.
    pub fn foreign(context: u64, signal: Signal) -> Event {
        let (flags, signal) = (INTERPROCESS | NO_TIMING, Some(Arc::new(signal)));
        Event { context, flags, signal, inner: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that it is recorded in a stream; it happens when what came before has been done.
    pub fn record(&self, ticket: Ticket) {
        let mut inner = self.lock();
        (inner.ticket, inner.captured) = (Some(ticket), None);
    }

    /// Says that it was recorded in a stream that is captured.
    pub fn capture(&self, captured: Captured) {
        let mut inner = self.lock();
        (inner.ticket, inner.captured) = (None, Some(captured));
    }

    /// The capture that it was last recorded in.
    pub fn captured(&self) -> Option<Captured> {
        self.lock().captured.clone()
    }

    /// The time is now.
    pub fn happen(&self) {
        if let Some(signal) = &self.signal {
            signal.happen(signal.record());
        }
        self.lock().time = Some(Instant::now());
    }

    /// What it was recorded after, if it was.
    pub fn ticket(&self) -> Option<Ticket> {
        self.lock().ticket.clone()
    }

    fn not_captured(&self) -> Result<(), Error> {
        if self.lock().captured.is_some() {
            return Err(Error::new(Code::CAPTURED_EVENT, "an event that was last recorded in a capture"));
        }
        Ok(())
    }

    /// An error if it has not happened.
    pub fn query(&self) -> Result<(), Error> {
        self.not_captured()?;
        let done = match &self.signal {
            Some(signal) => signal.has_happened(signal.recorded()),
            None => self.ticket().is_none_or(|ticket| ticket.is_done()),
        };
        if !done {
            return Err(Error::new(Code::NOT_READY, "the event has not happened"));
        }
        Ok(())
    }

    /// Waits until it has happened.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.not_captured()?;
        self.wait();
        Ok(())
    }

    /// Waits until it has happened, if it was recorded.
    pub fn wait(&self) {
        match (&self.signal, self.ticket()) {
            (Some(signal), _) => signal.wait(signal.recorded()),
            (None, Some(ticket)) => ticket.wait(),
            (None, None) => {}
        }
    }

    /// Milliseconds from this event to another.
    pub fn elapsed(&self, end: &Event) -> Result<f32, Error> {
        if (self.flags | end.flags) & NO_TIMING != 0 {
            return Err(Error::new(Code::INVALID_HANDLE, "an event without times"));
        }
        if [self, end].iter().any(|event| event.ticket().is_none()) {
            return Err(Error::new(Code::INVALID_HANDLE, "an event that was not recorded"));
        }
        self.query()?;
        end.query()?;
        let (Some(from), Some(to)) = (self.lock().time, end.lock().time) else {
            return Err(Error::new(Code::NOT_READY, "the event has not happened"));
        };
        let seconds = match to.checked_duration_since(from) {
            Some(later) => later.as_secs_f64(),
            None => -from.duration_since(to).as_secs_f64(),
        };
        Ok((seconds * 1e3) as f32)
    }
}
