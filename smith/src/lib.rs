//! Random programs for GPUs: the parts of a fuzzer, for this compiler and for yours.
//!
//! - [`ir`] and [`ptx`] generate programs from any bytes that, by construction, are valid, terminate, have no races and read nothing uninitialised or
//!   unspecified. Both implement [`arbitrary::Arbitrary`] and have a configuration;
//! - [`mod@reference`] is an independent interpreter of PTX, which executes one thread at a time and shares no code with the engine;
//! - [`spoilt`] generates invalid statements, to test validators;
//! - [`transform`] applies semantics-preserving changes to any program;
//! - [`reduce`] shrinks a failing input by its structure, keeping it valid at every step.
//!
//! The oracles that combine them are in the facade, `warpsmith::fuzz`, and behind the command `warpsmith fuzz`; `docs/fuzzing.md` shows how to
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

/// The bytes of the output buffer of a generated kernel that each thread owns. Threads are numbered `ctaid.x * ntid.x + tid.x`; the launch is one-dimensional.
pub const BYTES_PER_THREAD: u32 = 256;

/// The size in bytes of the input buffer of a generated kernel, whose contents are arbitrary.
pub const INPUT_BYTES: u32 = 1024;

/// Blocks of the launch for which a kernel is generated.
pub const GRID: u32 = 2;

/// Threads per block of the launch for which a kernel is generated: full warps.
pub const BLOCK: u32 = 64;

/// The number of threads that is passed to a generated kernel, so that some threads of the last block are idle.
pub const THREADS: u32 = 100;
