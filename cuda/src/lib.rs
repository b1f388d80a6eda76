//! CUDA's driver API over the engine: a `libcuda` for machines without a GPU.
//!
//! The library is `libcuda.so.1` by name: programs find it in the place of the driver, and their kernels run on the CPU. `docs/cuda.md` says how to use it.
//!
//! - [`api`]: the entry points, a file for each area of the API;
//! - [`entries`]: all functions of the API, those that are not there included, by name and version;
//! - `ffi`: pointers, memory and functions of clients, and all that is `unsafe`, with one exception: values that streams wait for, in `copy`;
//! - `state`: the devices, and the tables of what clients hold handles of; `context`, `stream`, `event`, `graph`, `graph_memory`, `memory`, `virtual_memory`, `pool`, `kernel`, `launch`, `link`: those;
//! - `queue`, `op`, `copy`: work, in order;
//! - `array`: memory in the layout of images; `reference`: variables of modules that are bound to those;
//! - `image`, `jit`: what clients load; `registers`: what is said of the registers of kernels;
//! - `watch`: checkers, coverage, profile, and the report;
//! - [`settings`], [`profile`]: what users can choose.

pub mod api;
mod array;
mod attribute;
mod context;
mod copy;
pub mod entries;
pub mod error;
mod event;
mod ffi;
mod graph;
mod graph_memory;
mod handles;
mod image;
mod jit;
mod kernel;
mod launch;
mod link;
mod log;
mod memory;
mod op;
mod pool;
pub mod profile;
mod queue;
mod reference;
mod registers;
pub mod settings;
mod state;
mod stream;
mod user_object;
mod virtual_memory;
mod watch;
