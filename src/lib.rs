//! A compiler backend for NVIDIA GPUs in pure Rust.
