//! Sizes that PTX and the hardware behind it do not go beyond, and names that a program cannot give to its own symbols.
//!
//! Where the manual has no figure, it is ptxas's: what is larger is refused, or ends ptxas without a message.

use crate::SpecialReg;

/// Blocks of a grid in each dimension, on targets from sm_30 on.
pub const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// Threads of a block in each dimension.
pub const BLOCK: [u32; 3] = [1024, 1024, 64];

/// Threads of a block in all.
pub const BLOCK_THREADS: u32 = 1024;

/// Blocks of a cluster, where the launch allows more than the portable 8.
pub const CLUSTER_BLOCKS: u32 = 16;

/// Bytes of shared memory that a block may have where a launch asks for it: those of the largest targets.
pub const BLOCK_SHARED_BYTES: u64 = 227 << 10;

/// Bytes of `.const` variables that a module may have.
pub const CONST_BYTES: u64 = 64 << 10;

/// Bytes of `.shared` variables with a size that a kernel and the functions it reaches may name. Memory sized at launch may be larger.
pub const STATIC_SHARED_BYTES: u64 = 48 << 10;

/// Bytes of `.local` memory that a thread has.
pub const LOCAL_BYTES: u64 = 512 << 10;

/// Bytes of parameters that every kernel may have (manual, 5.1.6.1).
pub const SMALL_KERNEL_PARAM_BYTES: u64 = 4352;

/// Bytes of parameters that a kernel may have where the tables' gate of `.param.large` holds (manual, 5.1.6.1).
pub const KERNEL_PARAM_BYTES: u64 = 32764;

/// The largest alignment of a parameter of a function (manual, 5.1.6.4).
pub const FUNCTION_PARAM_ALIGN: u32 = 128;

/// The largest alignment of a parameter of a kernel: parameters lie in a bank of 64 KiB behind what the driver keeps there.
pub const KERNEL_PARAM_ALIGN: u32 = 32 << 10;

/// Names that are words of the language wherever they stand.
pub const RESERVED_WORDS: [&str; 3] = ["WARP_SZ", "function_name", "inlined_at"];

/// True if a symbol of a module cannot have this name although it is spelled as an identifier: a word of the language or a special
/// register.
///
/// ```
/// use warpsmith_isa::limits::is_reserved_name;
/// assert!(is_reserved_name("WARP_SZ") && is_reserved_name("%tid") && !is_reserved_name("add"));
/// ```
pub fn is_reserved_name(name: &str) -> bool {
    RESERVED_WORDS.contains(&name) || SpecialReg::from_name(name).is_some()
}
