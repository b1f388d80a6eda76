//! Random programs for GPUs, and what is done with them: the parts of a fuzzer, for this compiler and for yours.
//!
//! - [`ir`] and [`ptx`] make programs that are valid, end, have no races and read nothing uninitialised or unspecified, by construction: whatever
//!   bytes they are made from. Both are [`arbitrary::Arbitrary`] with a configuration of ranges;
//! - [`reference`] executes PTX one thread at a time, straight from the manual, sharing no code with the engine: the second opinion;
//! - [`spoilt`] makes statements with something wrong in them, for whoever says which are valid;
//! - [`transform`] makes of any program others that mean the same;
//! - [`reduce`] makes a failing input small, by structure, valid at every step.
//!
//! The oracles that put them together are in the facade, `warpsmith::fuzz`, and behind the command `warpsmith fuzz`; `docs/fuzzing.md` shows how to
//! use them for a compiler of your own.

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

pub mod ir;
pub mod ptx;
mod random;
pub mod reduce;
pub mod reference;
pub mod spoilt;
pub mod transform;

pub use random::Random;

/// What a thread owns of the output buffer of a generated kernel. Threads are numbered `ctaid.x * ntid.x + tid.x`; the launch is one-dimensional.
pub const BYTES_PER_THREAD: u32 = 256;

/// The size of the input buffer of a generated kernel, which any bytes may fill.
pub const INPUT_BYTES: u32 = 1024;

/// Blocks of the launch that a generated kernel is made for.
pub const GRID: u32 = 2;

/// Threads of a block of the launch that a generated kernel is made for: full warps.
pub const BLOCK: u32 = 64;

/// The number of threads that a generated kernel is told, so that some of the last block have nothing to do.
pub const THREADS: u32 = 100;
