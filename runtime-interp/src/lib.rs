//! Load a PTX module and run it on the CPU.
#![allow(dead_code)]

mod device;
pub mod effects;
pub mod engine;
mod fault;
mod ir_decode;
mod launch;
mod memory;
mod ptx_decode;
pub mod pure;
pub mod semantics;

pub use device::{Buffer, Device, Limits, Machine, Plain};
pub use engine::{LoadError, Program};
pub use fault::{Fault, FaultCode};
pub use launch::{Arg, Launch, Stats};
