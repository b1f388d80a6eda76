//! Events.

use crate::context::{current, stream};
use crate::error::{Code, Error};
use crate::event::Event;
use crate::ffi::{Out, api};
use crate::state::driver;
use std::sync::Arc;

fn get(handle: u64) -> Result<Arc<Event>, Error> {
    driver()?.lock().events.get(handle)
}

fn destroy(handle: u64) -> Result<(), Error> {
    driver()?.lock().events.remove(handle).map(|_| ())
}

fn record(handle: u64, of: u64) -> Result<(), Error> {
    let (context, stream) = stream(of)?;
    let event = get(handle)?;
    stream.record(&context, &event)
}

fn elapsed(milliseconds: Out<f32>, start: u64, end: u64) -> Result<(), Error> {
    milliseconds.check()?;
    milliseconds.set(get(start)?.elapsed(&*get(end)?)?)
}

api! {
    fn cuEventCreate(event: Out<u64>, flags: u32) {
        let context = current()?;
        event.check()?;
        let made = Event::new(context.id, flags)?;
        event.set(driver()?.lock().events.add(made))
    }

    fn cuEventDestroy(event: u64) {
        destroy(event)
    }

    fn cuEventDestroy_v2(event: u64) {
        destroy(event)
    }

    fn cuEventRecord(event: u64, stream: u64) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags(event: u64, stream: u64, flags: u32) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        if flags == 1 && crate::context::stream(stream)?.1.capture().is_none() {
            return Err(Error::new(Code::ILLEGAL_STATE, "a node of a graph is asked for, and nothing is captured"));
        }
        record(event, stream)
    }

    fn cuEventQuery(event: u64) {
        get(event)?.query()
    }

    fn cuEventSynchronize(event: u64) {
        get(event)?.synchronize()
    }

    fn cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64) {
        elapsed(milliseconds, start, end)
    }
}
