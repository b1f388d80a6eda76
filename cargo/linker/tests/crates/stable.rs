//! Kernels in stable Rust, which the test also runs on the host.
#![no_std]
extern crate alloc;

#[path = "stable/kernels.rs"]
pub mod kernels;

#[global_allocator]
static HEAP: warpsmith_device::Heap = warpsmith_device::Heap;
