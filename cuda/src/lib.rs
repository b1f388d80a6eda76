//! CUDA's driver API over the engine: a `libcuda` for machines without a GPU.
//!
//! The library is `libcuda.so.1` by name: programs load it instead of the driver's library, and their kernels run on the CPU. `docs/cuda.md` is the guide.
//!
//! - [`api`]: the entry points, one file per area of the API;
//! - [`entries`]: all functions of the API by name and version, including those that are not implemented;
//! - `ffi`: pointers, memory and functions of clients, and all `unsafe` code, with one exception: values that streams wait for, in `copy`;
//! - `state`: the devices, and the handle tables of clients' objects; `context`, `stream`, `event`, `graph`, `graph_memory`, `memory`, `virtual_memory`, `pool`, `kernel`, `launch`, `link`: these objects;
//! - `queue`, `op`, `copy`: work, in order;
//! - `array`: memory in the layout of images; `reference`: module variables that are bound to arrays;
//! - `image`, `jit`: the inputs of clients; `registers`: the register counts of kernels;
//! - `watch`: checkers, coverage, profile, and the report;
//! - [`settings`], [`profile`]: user settings, and the properties of devices.

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
