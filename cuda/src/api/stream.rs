//! Streams, and what they wait for.

use crate::context::{current, stream};
use crate::copy::{Condition, Value};
use crate::error::{Code, Error};
use crate::ffi::callback::{Host, HostFunction, StreamCallback};
use crate::ffi::{In, Out, Pointer, api};
use crate::op::Op;
use crate::state::driver;
use crate::stream::{NON_BLOCKING, Stream};
use std::sync::Arc;

fn create(answer: Out<u64>, flags: u32, priority: i32) -> Result<(), Error> {
    let context = current()?;
    answer.check()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(Error::value(format!("flags {flags:#x} of a stream")));
    }
    let mut state = driver()?.lock();
    let id = state.number();
    // Priorities that a device does not have become the nearest.
    let made = Arc::new(Stream::new(id, context.id, context.device, flags, priority.clamp(-5, 0)));
    let handle = state.streams.reserve();
    state.streams.put(handle, Arc::clone(&made));
    context.add(made);
    answer.set(handle)
}

fn destroy(handle: u64) -> Result<(), Error> {
    let driver = driver()?;
    let gone = driver.lock().streams.remove(handle)?;
    if let Ok(context) = driver.lock().contexts.get(gone.context) {
        context.remove(gone.id);
    }
    // Its work is done all the same.
    gone.queue.close();
    Ok(())
}

/// `CU_STREAM_WAIT_VALUE_GEQ`, `.._EQ`, `.._AND`, `.._NOR`
const CONDITIONS: [Condition; 4] = [Condition::AtLeast, Condition::Equal, Condition::And, Condition::Nor];

fn make(address: u64, width: usize, value: u64, condition: Condition) -> Result<Op, Error> {
    if !address.is_multiple_of(width as u64) {
        return Err(Error::value(format!("{address:#x} is not a multiple of {width}")));
    }
    let span = driver()?.lock().span(address, width)?;
    Ok(Op::Value(Value { span, value, condition }))
}

fn value(handle: u64, address: u64, width: usize, value: u64, condition: Condition) -> Result<(), Error> {
    let (context, stream) = stream(handle)?;
    stream.submit(&context, make(address, width, value, condition)?)
}

fn condition(flags: u32) -> Result<Condition, Error> {
    let found = CONDITIONS.get((flags & 3) as usize).filter(|_| flags & !(3 | 1 << 30) == 0);
    found.copied().ok_or_else(|| Error::value(format!("flags {flags:#x} of a wait for a value")))
}

/// `CUstreamBatchMemOpParams`: the operation, the address, the value, the flags; six words.
pub type BatchOp = [u64; 6];

/// The most operations of a batch.
const MOST_OPERATIONS: usize = 256;

/// The work of a batch of operations on memory.
pub fn operations(list: &[BatchOp], flags: u32) -> Result<Vec<Op>, Error> {
    if flags != 0 || list.len() > MOST_OPERATIONS {
        return Err(Error::value(format!("{} operations, flags {flags}", list.len())));
    }
    let operation = |&[operation, address, wanted, how, ..]: &BatchOp| {
        let narrow = u64::from(wanted as u32);
        match operation as u32 {
            1 => make(address, 4, narrow, condition(how as u32)?),
            2 => make(address, 4, narrow, Condition::Write),
            4 => make(address, 8, wanted, condition(how as u32)?),
            5 => make(address, 8, wanted, Condition::Write),
            // Writes are seen in order: there is nothing to flush, and a barrier bars nothing more.
            3 | 6 => Ok(Op::Empty),
            operation => Err(Error::unsupported(format!("operation {operation} on memory"))),
        }
    };
    list.iter().map(operation).collect()
}

api! {
    fn cuStreamCreate(stream: Out<u64>, flags: u32) {
        create(stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(stream: Out<u64>, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    fn cuStreamDestroy(stream: u64) {
        destroy(stream)
    }

    fn cuStreamDestroy_v2(stream: u64) {
        destroy(stream)
    }

    fn cuStreamSynchronize(handle: u64) {
        let (context, stream) = stream(handle)?;
        stream.synchronize(&context)
    }

    fn cuStreamQuery(handle: u64) {
        let (context, stream) = stream(handle)?;
        stream.query(&context)
    }

    fn cuStreamWaitEvent(handle: u64, event: u64, flags: u32) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        let (context, stream) = stream(handle)?;
        let event = driver()?.lock().events.get(event)?;
        stream.wait(&context, &event)
    }

    fn cuStreamGetPriority(handle: u64, priority: Out<i32>) {
        priority.set(stream(handle)?.1.priority)
    }

    fn cuStreamGetFlags(handle: u64, flags: Out<u32>) {
        flags.set(stream(handle)?.1.flags)
    }

    fn cuStreamGetId(handle: u64, id: Out<u64>) {
        id.set(stream(handle)?.1.id)
    }

    fn cuStreamGetCtx(handle: u64, context: Out<u64>) {
        context.set(stream(handle)?.0.id)
    }

    fn cuStreamGetCtx_v2(handle: u64, context: Out<u64>, green: Out<u64>) {
        context.offer(stream(handle)?.0.id);
        green.offer(0);
        Ok(())
    }

    fn cuStreamGetDevice(handle: u64, device: Out<i32>) {
        device.set(stream(handle)?.1.device as i32)
    }

    fn cuStreamCopyAttributes(to: u64, from: u64) {
        stream(to)?;
        stream(from).map(|_| ())
    }

    fn cuStreamGetAttribute(handle: u64, number: u32, value: Out<[u64; 8]>) {
        let (_, stream) = stream(handle)?;
        let mut found = [0; 8];
        match number {
            1 | 3 | 9 | 10 => {}
            8 => found[0] = u64::from(stream.priority as u32),
            _ => return Err(Error::value(format!("{number} is not an attribute of a stream"))),
        }
        value.set(found)
    }

    fn cuStreamSetAttribute(handle: u64, number: u32, value: In<[u64; 8]>) {
        stream(handle)?;
        value.get()?;
        // How caches are used, and who waits how, changes no result.
        if matches!(number, 1 | 3 | 8 | 9 | 10) {
            Ok(())
        } else {
            Err(Error::value(format!("{number} is not an attribute of a stream")))
        }
    }

    fn cuStreamAddCallback(handle: u64, function: StreamCallback, data: Pointer, flags: u32) {
        let (context, stream) = stream(handle)?;
        if function.is_none() || flags != 0 {
            return Err(Error::value("no function to call, or flags"));
        }
        stream.not_captured()?;
        stream.submit(&context, Op::Callback(function, handle, data))
    }

    fn cuLaunchHostFunc(handle: u64, function: HostFunction, data: Pointer) {
        let (context, stream) = stream(handle)?;
        let function = function.ok_or_else(|| Error::value("no function to call"))?;
        stream.submit(&context, Op::Host(Host { function, data }))
    }

    fn cuStreamWaitValue32_v2(handle: u64, address: u64, wanted: u32, flags: u32) {
        value(handle, address, 4, wanted.into(), condition(flags)?)
    }

    fn cuStreamWaitValue64_v2(handle: u64, address: u64, wanted: u64, flags: u32) {
        value(handle, address, 8, wanted, condition(flags)?)
    }

    fn cuStreamWriteValue32_v2(handle: u64, address: u64, wanted: u32, flags: u32) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        value(handle, address, 4, wanted.into(), Condition::Write)
    }

    fn cuStreamWriteValue64_v2(handle: u64, address: u64, wanted: u64, flags: u32) {
        if flags > 1 {
            return Err(Error::value(format!("flags {flags}")));
        }
        value(handle, address, 8, wanted, Condition::Write)
    }

    fn cuStreamBatchMemOp_v2(handle: u64, count: u32, list: In<BatchOp>, flags: u32) {
        let (context, stream) = stream(handle)?;
        // So many are read before their number is known to be allowed.
        let list = list.list((count as usize).min(MOST_OPERATIONS + 1))?;
        operations(&list, flags)?.into_iter().try_for_each(|op| stream.submit(&context, op))
    }

    fn cuUserObjectCreate(object: Out<u64>, data: Pointer, destroy: HostFunction, count: u32, flags: u32) {
        object.check()?;
        // No destructor of the client may synchronise; the flag says that it knows.
        let function = destroy.filter(|_| flags == 1 && count > 0);
        let function = function.ok_or_else(|| Error::value("an object without a function, count or flag"))?;
        let made = crate::user_object::UserObject::new(Host { function, data }, count);
        object.set(driver()?.lock().user_objects.add(made))
    }

    fn cuUserObjectRetain(object: u64, count: u32) {
        let found = driver()?.lock().user_objects.get(object)?;
        if count == 0 || count > i32::MAX as u32 {
            return Err(Error::value(format!("{count} references")));
        }
        found.retain(count);
        Ok(())
    }

    fn cuUserObjectRelease(object: u64, count: u32) {
        release(object, count)
    }
}

/// Releases references of an object; the last ones take it out.
pub fn release(object: u64, count: u32) -> Result<(), Error> {
    let driver = driver()?;
    let found = driver.lock().user_objects.get(object)?;
    if count == 0 || count > i32::MAX as u32 {
        return Err(Error::new(Code::INVALID_VALUE, format!("{count} references")));
    }
    if found.release(count) {
        driver.lock().user_objects.remove(object)?;
    }
    Ok(())
}
