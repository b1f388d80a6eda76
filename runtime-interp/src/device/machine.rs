//! The machine that kernels believe they run on, and its limits.

use crate::engine::Level;
use warpsmith_isa::limits::{self, Multiprocessor};

/// The machine that kernels believe they run on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Machine {
    /// Number of multiprocessors: `%nsmid`.
    pub sms: u32,
    /// Warps that fit one of them: `%nwarpid`.
    pub warps_per_sm: u32,
    /// Which multiprocessor a block runs on: `%smid`.
    pub placement: Placement,
    /// The rate of `%clock` in MHz, by which `%globaltimer` counts nanoseconds. A warp instruction is one tick.
    pub clock_mhz: u32,
    /// `%envreg0` to `%envreg31`.
    pub environment: [u32; 32],
    /// The most blocks that one of them holds.
    pub blocks_per_sm: u32,
    /// Bytes of global memory.
    pub global_memory: u64,
    /// The most shared memory a block can have, static and dynamic, and all blocks of a multiprocessor together.
    pub shared_memory: u64,
    /// The most blocks of a cluster.
    pub cluster_blocks: u32,
    /// Bytes that kernels can have from `malloc` at a time.
    pub heap: u64,
    /// Bytes of the buffer for what a kernel prints. When it is full, the oldest text is lost.
    pub print_buffer: u64,
    /// The highest instruction set of the host that launches use, if the host has it. Results do not depend on it.
    pub level: Level,
    /// When machine code is made of programs that have a maker of some (`Program::set_tier`). Results do not depend on it.
    pub native: NativeCode,
}

/// When launches make machine code of the host, of programs that have a maker of some.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum NativeCode {
    /// Of what is executed often; it is timed at first, and kept where it is faster.
    #[default]
    Auto,
    /// Of all of a program, before its first launch.
    Always,
    /// Never, and what there is of it is not used.
    Off,
}

const SM_90: Multiprocessor = Multiprocessor::of(90).unwrap();

impl Default for Machine {
    /// The sizes of an sm_90 device, with a part of its memory.
    fn default() -> Self {
        Machine {
            sms: 132,
            warps_per_sm: SM_90.warps(),
            blocks_per_sm: SM_90.blocks,
            placement: Placement::default(),
            clock_mhz: 1980,
            environment: [0; 32],
            global_memory: 16 << 30,
            shared_memory: SM_90.block_shared_bytes as u64,
            cluster_blocks: limits::CLUSTER_BLOCKS,
            heap: 8 << 20,
            print_buffer: 1 << 20,
            level: Level::Avx512,
            native: NativeCode::default(),
        }
    }
}

impl Machine {
    /// The multiprocessor of a block of so many warps, by its number in the grid.
    pub(crate) fn sm_of(&self, block: u64, warps: u32) -> u32 {
        let sms = u64::from(self.sms.max(1));
        let resident = u64::from((self.warps_per_sm / warps.max(1)).max(1));
        let sm = match self.placement {
            Placement::Spread => block % sms,
            Placement::Packed => block / resident % sms,
        };
        sm as u32
    }

    /// How many blocks of so many warps and bytes of shared memory the machine holds at a time; one at least.
    pub(crate) fn room(&self, warps: u32, shared: u64) -> u64 {
        let by_warps = self.warps_per_sm / warps.max(1);
        let by_memory = self.shared_memory / shared.max(1);
        let of_sm = u64::from(by_warps.min(self.blocks_per_sm)).min(by_memory);
        (of_sm * u64::from(self.sms)).max(1)
    }

    pub(crate) fn nanoseconds(&self, ticks: u64) -> u64 {
        (u128::from(ticks) * 1000 / u128::from(self.clock_mhz.max(1))) as u64
    }
}

/// How blocks are put on multiprocessors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Placement {
    /// One block to each in turn.
    #[default]
    Spread,
    /// As many to the first as its warps allow, then to the next.
    Packed,
}

/// Bounds on what a launch may use, so that no kernel can hold the host.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Instructions that all threads together may execute.
    pub steps: u64,
    /// Instructions that the warps of one block may execute.
    pub block_steps: u64,
    /// Bytes that calls and local variables of one thread may take, registers of suspended functions included.
    pub stack: u64,
}

impl Default for Limits {
    /// Generous for kernels that end, and seconds for one that does not.
    fn default() -> Self {
        Limits { steps: 1 << 44, block_steps: 1 << 30, stack: 256 << 10 }
    }
}
