//! The entry points, as `cuda.h` declares them.

pub mod array;
pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod fill;
pub mod function;
pub mod graph;
pub mod graph_exec;
pub mod graph_node;
pub mod graph_params;
pub mod init;
pub mod ipc;
pub mod launch;
pub mod library;
pub mod link;
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod stream;
pub mod stream_capture;
pub mod tensor_map;
pub mod texture;
pub mod virtual_memory;
