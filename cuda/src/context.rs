//! Contexts, and which of them a thread uses.

use crate::error::{Code, Error};
use crate::state::driver;
use crate::stream::{LEGACY, PER_THREAD, Stream};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use warpsmith_base::FxHashMap;

/// A context: an owner of memory, modules and streams on a device.
#[derive(Debug)]
pub struct Context {
    /// Its handle.
    pub id: u64,
    /// The number of its device.
    pub device: usize,
    /// How it was made.
    pub flags: AtomicU32,
    /// The context that all parts of a process share.
    pub primary: bool,
    /// `cuCtxGetApiVersion`
    pub version: u32,
    /// The stream that others wait for.
    pub legacy: Arc<Stream>,
    /// `cuCtxSetLimit`
    pub limits: Mutex<FxHashMap<u32, u64>>,
    streams: Mutex<Vec<Arc<Stream>>>,
    peers: Mutex<Vec<u64>>,
    fault: Mutex<Option<Error>>,
}

/// Faults of kernels, after which a driver has a process start anew.
fn is_fault(code: Code) -> bool {
    (700..=721).contains(&code.0)
        && ![Code::LAUNCH_OUT_OF_RESOURCES, Code::COOPERATIVE_LAUNCH_TOO_LARGE].contains(&code)
}

impl Context {
    /// A context with its stream.
    pub fn new(id: u64, device: usize, flags: u32, primary: bool, version: u32, stream: u64) -> Context {
        Context {
            id,
            device,
            flags: AtomicU32::new(flags),
            primary,
            version,
            legacy: Arc::new(Stream::legacy(stream, id, device)),
            limits: Mutex::default(),
            streams: Mutex::default(),
            peers: Mutex::default(),
            fault: Mutex::default(),
        }
    }

    /// Its streams beside the legacy one.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The contexts whose memory it was given access to.
    pub fn peers(&self) -> MutexGuard<'_, Vec<u64>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A stream of the context more.
    pub fn add(&self, stream: Arc<Stream>) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
    }

    /// A stream of the context less.
    pub fn remove(&self, id: u64) {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|stream| stream.id != id);
    }

    /// Waits for all work.
    pub fn synchronize(&self) -> Result<(), Error> {
        let streams = self.streams();
        for stream in streams.iter().chain([&self.legacy]) {
            stream.not_captured()?;
            stream.queue.ticket().wait();
        }
        let errors = streams.iter().chain([&self.legacy]).filter_map(|stream| stream.queue.error());
        let first = errors.fold(None, |first, error| first.or(Some(error)));
        self.note(first.map_or(Ok(()), Err))
    }

    /// Waits for all work, of streams that are captured too, whose errors are reported elsewhere: before memory or code is taken away.
    pub fn settle(&self) {
        self.streams().iter().chain([&self.legacy]).for_each(|stream| stream.queue.ticket().wait());
    }

    /// Keeps the fault of a kernel, if the user asks for that.
    pub fn note(&self, outcome: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = &outcome
            && is_fault(error.code)
            && driver()?.settings.sticky
        {
            *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        }
        outcome
    }

    /// The fault that was kept.
    pub fn fault(&self) -> Option<Error> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The flags.
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }
}

thread_local! {
    /// The contexts of this thread; the last is the current one. Programs call until the very end of a process, when what has a destructor is gone.
    static STACK: ManuallyDrop<RefCell<Vec<u64>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
    /// `cuThreadExchangeStreamCaptureMode`
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
    /// The stream of this thread in each context.
    static OWN_STREAMS: RefCell<Vec<Arc<Stream>>> = const { RefCell::new(Vec::new()) };
}

/// The handle of the current context.
pub fn current_handle() -> Option<u64> {
    STACK.with(|stack| stack.borrow().last().copied())
}

/// The current context; an error if there is none, if it was destroyed, or if a kernel has failed in it and that is kept.
pub fn current() -> Result<Arc<Context>, Error> {
    let driver = driver()?;
    let none = || Error::new(Code::INVALID_CONTEXT, "no context is current on this thread");
    let handle = current_handle().ok_or_else(none)?;
    let context = driver.lock().contexts.get(handle);
    let context = context.map_err(|error| Error::new(Code::CONTEXT_IS_DESTROYED, error.message))?;
    match context.fault() {
        Some(fault) => Err(fault),
        None => Ok(context),
    }
}

/// Makes a context the current one, above the others.
pub fn push(handle: u64) {
    STACK.with(|stack| stack.borrow_mut().push(handle));
}

/// Takes the current context off.
pub fn pop() -> Option<u64> {
    STACK.with(|stack| stack.borrow_mut().pop())
}

/// Replaces the current context; 0 removes it.
pub fn set(handle: u64) {
    pop();
    if handle != 0 {
        push(handle);
    }
}

/// Forgets a context on this thread.
pub fn forget(handle: u64) {
    STACK.with(|stack| {
        let mut stack = stack.borrow_mut();
        if stack.last() == Some(&handle) {
            stack.pop();
        }
    });
}

/// Sets the capture mode of this thread, and gives the one before.
pub fn exchange_capture_mode(mode: u32) -> u32 {
    CAPTURE_MODE.replace(mode)
}

/// The stream that this thread has of its own in a context.
pub fn own_stream(context: &Context) -> Result<Arc<Stream>, Error> {
    let known = OWN_STREAMS.try_with(|own| own.borrow().iter().find(|s| s.context == context.id).cloned());
    if let Ok(Some(stream)) = known {
        return Ok(stream);
    }
    let id = driver()?.lock().number();
    let stream = Arc::new(Stream::new(id, context.id, context.device, 0, 0));
    context.add(Arc::clone(&stream));
    // At the end of a thread nothing is kept for it any more: the stream is of the context alone.
    OWN_STREAMS.try_with(|own| own.borrow_mut().push(Arc::clone(&stream))).unwrap_or_default();
    Ok(stream)
}

/// The current context and one of its streams.
pub fn stream(handle: u64) -> Result<(Arc<Context>, Arc<Stream>), Error> {
    let context = current()?;
    let stream = match handle {
        0 | LEGACY => Arc::clone(&context.legacy),
        PER_THREAD => own_stream(&context)?,
        _ => driver()?.lock().streams.get(handle)?,
    };
    if stream.context == context.id {
        return Ok((context, stream));
    }
    // Streams of other contexts can be named from anywhere.
    let context = driver()?.lock().contexts.get(stream.context)?;
    Ok((context, stream))
}
