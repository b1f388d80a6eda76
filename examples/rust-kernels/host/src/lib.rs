//! The kernels as functions: `cpu` for Warpsmith's engine, `cuda` for a GPU.

/// Made by `build.rs`.
pub mod kernels {
    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
