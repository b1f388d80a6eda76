//! What all warps of a launch share, and the special registers that are computed from it.

use crate::device::{Limits, Machine};
use crate::engine::file::Cell;
use crate::engine::observe::At;
use crate::engine::program::Program;
use crate::engine::reg::Reg;
use crate::engine::run::{Issue, Runner};
use crate::engine::schedule::Schedule;
use crate::engine::special::Special;
use crate::engine::standstill::Standstill;
use crate::engine::values::put;
use crate::memory::bytes::Bytes;
use crate::memory::global::Global;
use crate::memory::heap::Heap;
use crate::output::Output;
use crate::texture::object::Object;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warpsmith_semantics::matrix::Arithmetic;

/// Shared memory is given out in units of so many bytes from sm_80 on (PTX ISA 9.0, 10.30).
const SHARED_UNIT: u64 = 128;

/// Clusters that one host thread keeps alive together, unless all of them wait: one that has run for long may be waiting for another.
const RESIDENT: usize = 16;

/// A launch.
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    /// The constants, with addresses as they are on this device.
    pub constants: &'a [Cell],
    pub global: &'a Global,
    pub constant: &'a Bytes,
    pub params: &'a Bytes,
    /// Where the program's global variables lie.
    pub globals: u64,
    /// What `malloc` allocates from, if the program calls it.
    pub heap: Option<&'a Heap>,
    /// What handles denote.
    pub objects: &'a [Object],
    pub output: &'a Output,
    /// Index of the kernel among the program's functions.
    pub kernel: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The shape of a cluster, if the launch or the kernel names one.
    pub cluster: Option<[u32; 3]>,
    pub dynamic_shared: u32,
    pub machine: &'a Machine,
    pub limits: &'a Limits,
    pub schedule: Option<Schedule>,
    pub seed: Option<u64>,
    pub launch_number: u64,
    /// What matrix instructions compute with.
    pub arithmetic: Arithmetic,
    /// What every byte of shared, local and allocated memory is before a kernel writes it.
    pub fresh: u8,
    /// Set when a block has failed: the others stop.
    pub stop: AtomicBool,
    /// Thread instructions that may still be executed.
    pub budget: AtomicU64,
    /// The number of the next cluster to start.
    pub next: AtomicU64,
    /// Clusters that have started and not ended.
    pub resident: AtomicU64,
    /// The most clusters that may be resident together: those that the machine has room for.
    pub room: u64,
    /// All clusters start together.
    pub cooperative: bool,
    pub standstill: Standstill,
}

impl Context<'_> {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> u64 {
        let kernel = &self.program.functions[self.kernel as usize].kernel;
        kernel.as_ref().map_or(0, |k| k.shared.bytes) + u64::from(self.dynamic_shared)
    }

    /// `%tid` of a thread by its number in the block.
    pub fn thread_id(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.block;
        [number % x, number / x % y, number / x / y]
    }

    /// The shape of a cluster.
    pub fn cluster_shape(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// Blocks of a cluster.
    pub fn cluster_blocks(&self) -> u32 {
        self.cluster_shape().iter().product()
    }

    /// Clusters of the grid.
    pub fn clusters(&self) -> u64 {
        let shape = self.cluster_shape();
        (0..3).map(|i| u64::from(self.grid[i] / shape[i])).product()
    }

    /// Takes the next cluster to start, if a host thread that has `own` of them may: `all_wait` says that those wait for something.
    pub fn start_cluster(&self, own: usize, all_wait: bool) -> Option<u64> {
        if own >= RESIDENT && !all_wait && !self.cooperative {
            return None;
        }
        let room = |resident: u64| (resident < self.room).then(|| resident + 1);
        self.resident.fetch_update(Ordering::SeqCst, Ordering::SeqCst, room).ok()?;
        let number = self.take_cluster();
        if number.is_none() {
            self.resident.fetch_sub(1, Ordering::SeqCst);
        }
        number
    }

    /// Takes the next cluster that has not started, if one is left.
    pub fn take_cluster(&self) -> Option<u64> {
        let left = |n: u64| (n < self.clusters()).then(|| n + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).ok()
    }

    /// `%ctaid` of the block with this rank in a cluster, by the cluster's number in the grid.
    pub fn member_id(&self, number: u64, rank: u32) -> [u32; 3] {
        let shape = self.cluster_shape();
        let [x, y] = [0, 1].map(|i| u64::from(self.grid[i] / shape[i]));
        let first = [number % x, number / x % y, number / x / y];
        let inner = [rank % shape[0], rank / shape[0] % shape[1], rank / shape[0] / shape[1]];
        std::array::from_fn(|i| first[i] as u32 * shape[i] + inner[i])
    }

    /// The memory at a global address, the offset in it, and how many bytes may be accessed from there on.
    pub fn global_at(&self, address: u64) -> Option<(&Bytes, usize, u64)> {
        let allocation = self.global.get(self.global.find(address))?;
        let offset = address - allocation.start;
        let mut rest = allocation.len.checked_sub(offset)?;
        if allocation.heap {
            rest = self.heap?.rest(address)?;
        }
        Some((&allocation.bytes, offset as usize, rest))
    }

    /// Says where a global address that cannot be accessed lies.
    pub fn describe_global(&self, address: u64, size: u64) -> String {
        let inside = self.global.get(self.global.find(address));
        match self.heap.filter(|_| inside.is_some_and(|a| a.heap && address - a.start < a.len)) {
            Some(heap) => heap.describe(address),
            None => self.global.describe(address, size),
        }
    }

    /// The number of a block in the grid.
    pub fn block_number(&self, id: [u32; 3]) -> u64 {
        let [x, y, z] = id.map(u64::from);
        (z * u64::from(self.grid[1]) + y) * u64::from(self.grid[0]) + x
    }

    pub fn at(&self, block: [u32; 3], warp: u32, pc: u32, mask: u32) -> At<'_> {
        At { program: self.program, pc, block, warp, mask, group: mask, retried: 0 }
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Reads a special register. Clocks count what the warp has executed, so that runs repeat.
    pub fn special(&mut self, issue: Issue<'_>, ticks: u64, dst: Reg, special: Special) {
        self.looks += u64::from(special.is_clock());
        let values = self.cx.special(issue.block.id, issue.warp, ticks, special);
        put(issue.frame, dst, issue.mask, &values);
    }
}

impl Context<'_> {
    /// The values of a special register in the lanes of a warp.
    pub fn special(&self, block: [u32; 3], warp: u32, clock: u64, special: Special) -> [u64; 32] {
        use Special::*;
        let cx = self;
        let axis = |of: Special| special as usize - of as usize;
        let cluster = cx.cluster_shape();
        let lane_mask = |f: fn(u32) -> u32| std::array::from_fn(|i| u64::from(f(1 << i)));
        let uniform = match special {
            TidX | TidY | TidZ => {
                let axis = axis(TidX);
                // From one thread to the next, without a division for each.
                let (mut id, [width, height, _]) = (cx.thread_id(warp * 32), cx.block);
                return std::array::from_fn(|_| {
                    let own = u64::from(id[axis]);
                    id[0] += 1;
                    if id[0] == width {
                        (id[0], id[1]) = (0, id[1] + 1);
                        if id[1] == height {
                            (id[1], id[2]) = (0, id[2] + 1);
                        }
                    }
                    own
                });
            }
            LaneId => return std::array::from_fn(|i| i as u64),
            LaneMaskEq => return lane_mask(|b| b),
            LaneMaskLt => return lane_mask(|b| b - 1),
            LaneMaskLe => return lane_mask(|b| b | (b - 1)),
            LaneMaskGt => return lane_mask(|b| !(b | (b - 1))),
            LaneMaskGe => return lane_mask(|b| !(b - 1)),
            NtidX | NtidY | NtidZ => cx.block[axis(NtidX)].into(),
            WarpId => warp.into(),
            NWarpId => cx.machine.warps_per_sm.into(),
            CtaIdX | CtaIdY | CtaIdZ => block[axis(CtaIdX)].into(),
            NCtaIdX | NCtaIdY | NCtaIdZ => cx.grid[axis(NCtaIdX)].into(),
            SmId => cx.machine.sm_of(cx.block_number(block), cx.warps()).into(),
            NSmId => cx.machine.sms.into(),
            GridId => cx.launch_number,
            IsExplicitCluster => cx.cluster.is_some().into(),
            ClusterIdX | ClusterIdY | ClusterIdZ => {
                let i = axis(ClusterIdX);
                (block[i] / cluster[i]).into()
            }
            NClusterIdX | NClusterIdY | NClusterIdZ => {
                let i = axis(NClusterIdX);
                (cx.grid[i] / cluster[i]).into()
            }
            ClusterCtaIdX | ClusterCtaIdY | ClusterCtaIdZ => {
                let i = axis(ClusterCtaIdX);
                (block[i] % cluster[i]).into()
            }
            ClusterNCtaIdX | ClusterNCtaIdY | ClusterNCtaIdZ => cluster[axis(ClusterNCtaIdX)].into(),
            ClusterCtaRank => {
                let [x, y, z]: [u32; 3] = std::array::from_fn(|i| block[i] % cluster[i]);
                ((z * cluster[1] + y) * cluster[0] + x).into()
            }
            ClusterNCtaRank => cluster.iter().product::<u32>().into(),
            Clock | Clock64 => clock,
            ClockHi => clock >> 32,
            GlobalTimer | GlobalTimerLo => cx.machine.nanoseconds(clock),
            GlobalTimerHi => cx.machine.nanoseconds(clock) >> 32,
            // Nothing is reserved for the system, and no kernel is part of a graph.
            TotalSmemSize | AggrSmemSize => cx.shared_bytes().next_multiple_of(SHARED_UNIT),
            DynamicSmemSize => cx.dynamic_shared.into(),
            ReservedSmemOffsetBegin
            | ReservedSmemOffsetEnd
            | ReservedSmemOffsetCap
            | ReservedSmemOffset0
            | ReservedSmemOffset1
            | CurrentGraphExec
            | PerCtaMemorySize
            | PerCtaMemoryOffset => 0,
            Pm0 | Pm1 | Pm2 | Pm3 | Pm4 | Pm5 | Pm6 | Pm7 | Pm0Wide | Pm1Wide | Pm2Wide | Pm3Wide
            | Pm4Wide | Pm5Wide | Pm6Wide | Pm7Wide => 0,
            environment @ (EnvReg0 | EnvReg1 | EnvReg2 | EnvReg3 | EnvReg4 | EnvReg5 | EnvReg6 | EnvReg7
            | EnvReg8 | EnvReg9 | EnvReg10 | EnvReg11 | EnvReg12 | EnvReg13 | EnvReg14
            | EnvReg15 | EnvReg16 | EnvReg17 | EnvReg18 | EnvReg19 | EnvReg20 | EnvReg21
            | EnvReg22 | EnvReg23 | EnvReg24 | EnvReg25 | EnvReg26 | EnvReg27 | EnvReg28
            | EnvReg29 | EnvReg30 | EnvReg31) => {
                let index = environment as usize - EnvReg0 as usize;
                cx.machine.environment.get(index).copied().unwrap_or(0).into()
            }
        };
        [if special.bits() == 32 { uniform & 0xffff_ffff } else { uniform }; 32]
    }
}
