//! The largest sizes that PTX and the hardware behind it allow, and the names that a program cannot give to its own symbols.
//!
//! Where the manual has no figure, it is ptxas's: what is larger is refused, or ends ptxas without a message.

use crate::SpecialReg;

/// Blocks of a grid in each dimension, on targets from sm_30 on.
pub const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// Threads of a block in each dimension.
pub const BLOCK: [u32; 3] = [1024, 1024, 64];

/// Threads of a block in all.
pub const BLOCK_THREADS: u32 = 1024;

/// Threads of a warp.
pub const WARP_THREADS: u32 = 32;

/// Blocks of a cluster that every target with clusters takes.
pub const PORTABLE_CLUSTER_BLOCKS: u32 = 8;

/// Blocks of a cluster, where the launch allows more than [`PORTABLE_CLUSTER_BLOCKS`].
pub const CLUSTER_BLOCKS: u32 = 16;

/// Registers of 32 bits of a multiprocessor, and the most that a block can have, on targets from sm_70 on.
pub const MULTIPROCESSOR_REGISTERS: u32 = 64 << 10;

/// Bytes of shared memory that the system keeps of each block, on targets from sm_80 on.
pub const RESERVED_SHARED_BYTES: u64 = 1 << 10;

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

/// What a multiprocessor of a compute capability has room for (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// The compute capability, as in `sm_90`.
    pub sm: u16,
    /// Resident threads.
    pub threads: u32,
    /// Resident blocks.
    pub blocks: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Bytes of shared memory that one block can have where its launch asks for it.
    pub block_shared_bytes: u32,
}

impl Multiprocessor {
    /// The multiprocessor of a compute capability, if the table has it.
    ///
    /// ```
    /// use warpsmith_isa::limits::Multiprocessor;
    /// assert_eq!(Multiprocessor::of(90).unwrap().threads, 2048);
    /// assert_eq!(Multiprocessor::of(91), None);
    /// ```
    pub const fn of(sm: u16) -> Option<Multiprocessor> {
        let mut row = 0;
        while row < Multiprocessor::ALL.len() {
            if Multiprocessor::ALL[row].sm == sm {
                return Some(Multiprocessor::ALL[row]);
            }
            row += 1;
        }
        None
    }

    /// Resident warps.
    pub const fn warps(&self) -> u32 {
        self.threads / WARP_THREADS
    }

    /// True if blocks can form clusters (PTX ISA, 2.2.2).
    pub const fn has_clusters(&self) -> bool {
        self.sm >= 90
    }
}

macro_rules! multiprocessors {
    ($($sm:literal: $threads:literal, $blocks:literal, $shared:literal, $of_block:literal;)*) => {
        impl Multiprocessor {
            /// The table, by compute capability.
            pub const ALL: &[Multiprocessor] = &[$(Multiprocessor {
                sm: $sm,
                threads: $threads,
                blocks: $blocks,
                shared_bytes: $shared << 10,
                block_shared_bytes: $of_block << 10,
            },)*];
        }
    };
}
// Compute capability: threads, blocks, KiB of shared memory, KiB of one block.
multiprocessors! {
    75: 1024, 16, 64, 64;
    80: 2048, 32, 164, 163;
    86: 1536, 16, 100, 99;
    87: 1536, 16, 164, 163;
    89: 1536, 24, 100, 99;
    90: 2048, 32, 228, 227;
    100: 2048, 32, 228, 227;
    103: 2048, 32, 228, 227;
    120: 1536, 24, 100, 99;
    121: 1536, 24, 100, 99;
}

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
