//! What streams do and graphs consist of.

use crate::copy::{Copy3, Fill};
use crate::error::Error;
use crate::event::Event;
use crate::ffi::callback::{Host, StreamCallback};
use crate::ffi::signal::Signal;
use crate::graph_memory::GraphMemory;
use crate::launch::KernelLaunch;
use crate::state::driver;
use std::sync::Arc;

/// A piece of work.
#[derive(Clone, Debug)]
pub enum Op {
    /// Nothing: something to wait for.
    Empty,
    /// A kernel.
    Kernel(Arc<KernelLaunch>),
    /// A copy.
    Copy(Copy3),
    /// Memory is filled with a value.
    Fill(Fill),
    /// A function of the host.
    Host(Host),
    /// A function of the host, called with the stream and its state.
    Callback(StreamCallback, u64, crate::ffi::Pointer),
    /// The time is taken.
    Record(Arc<Event>),
    /// Waits for what an event was last recorded after; what a stream does with it is in the tickets of the work.
    Wait(Arc<Event>),
    /// An event that other processes have is recorded, for this time.
    Signal(Arc<Signal>, u64),
    /// Waits until such an event has happened, as it was recorded then.
    Await(Arc<Signal>, u64),
    /// Memory of a graph becomes the client's; with the flag even if it is so already.
    Allocate(Arc<GraphMemory>, bool),
    /// Gives an allocation back.
    Free(u64),
    /// Works in an order that serves their dependencies.
    Graph(Arc<Vec<Op>>),
    /// A value is written to memory; waits until memory has a value.
    Value(crate::copy::Value),
}

impl Op {
    /// Functions of the host may wait for the thread that submits them, and so may other processes.
    pub fn may_block(&self) -> bool {
        match self {
            Op::Host(_) | Op::Callback(..) | Op::Await(..) => true,
            Op::Wait(event) => event.signal.is_some(),
            Op::Value(value) => value.waits(),
            Op::Graph(ops) => ops.iter().any(Op::may_block),
            Op::Empty
            | Op::Kernel(_)
            | Op::Copy(_)
            | Op::Fill(_)
            | Op::Record(_)
            | Op::Signal(..)
            | Op::Allocate(..)
            | Op::Free(_) => false,
        }
    }

    /// Does it.
    pub fn run(&self) -> Result<(), Error> {
        match self {
            Op::Empty => Ok(()),
            Op::Kernel(launch) => launch.run(),
            Op::Copy(copy) => {
                copy.run();
                Ok(())
            }
            Op::Fill(fill) => {
                fill.run();
                Ok(())
            }
            Op::Host(host) => {
                (host.function)(host.data);
                Ok(())
            }
            Op::Callback(function, stream, data) => {
                if let Some(function) = function {
                    function(*stream, 0, *data);
                }
                Ok(())
            }
            Op::Record(event) => {
                event.happen();
                Ok(())
            }
            Op::Wait(event) => {
                event.wait();
                Ok(())
            }
            Op::Signal(signal, number) => {
                signal.happen(*number);
                Ok(())
            }
            Op::Await(signal, number) => {
                signal.wait(*number);
                Ok(())
            }
            Op::Allocate(memory, again) => memory.allocate(*again),
            Op::Free(address) => driver()?.lock().free_now(*address),
            Op::Graph(ops) => ops.iter().try_for_each(Op::run),
            Op::Value(value) => value.run(),
        }
    }
}
