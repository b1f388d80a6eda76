//! Load a PTX module and run it on the CPU.
#![allow(dead_code)]

pub mod engine;
mod memory;
pub mod semantics;

pub use engine::{LoadError, Program};
