//! A compiler backend for NVIDIA GPUs: typed SSA in, PTX out, and the PTX executed on the CPU.

pub mod directives;
pub mod launch;
pub mod literal;
