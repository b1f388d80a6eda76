//! The one place where a run can be watched.
//!
//! The scheduler is generic over an [`Observer`]; for `()`, which watches nothing, every call is compiled out.

use super::async_op::Group;
use super::op::{Access, Fence};
use super::program::Program;
use std::fmt;
use warpsmith_isa::StateSpace;

/// Where and by whom an instruction is executed.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// What is running.
    pub program: &'a Program,
    /// Index of the operation in the program.
    pub pc: u32,
    /// `%ctaid`
    pub block: [u32; 3],
    /// Number of the warp in its block; lane `i` is thread `32 * warp + i`.
    pub warp: u32,
    /// The lanes that execute it.
    pub mask: u32,
}

impl<'a> At<'a> {
    /// Line in the source text, 0 if unknown.
    pub fn line(&self) -> u32 {
        self.program.line(self.pc)
    }

    /// The instruction's mnemonic.
    pub fn mnemonic(&self) -> &'a str {
        self.program.mnemonic(self.pc)
    }

    /// Index of its statement in [`Program::statements`]: an instruction of the source may be several operations.
    pub fn statement(&self) -> u32 {
        self.program.statement_number(self.pc)
    }

    /// It is the operation by which executions of its statement are counted.
    pub fn is_head(&self) -> bool {
        self.program.statements()[self.statement() as usize].head == self.pc
    }
}

impl fmt::Debug for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in line {}", self.mnemonic(), self.line())?;
        write!(f, ", block {:?} warp {} lanes {:#010x}", self.block, self.warp, self.mask)
    }
}

/// The addresses of the lanes of an access, in the space it goes to. Those of lanes that do not execute it mean nothing.
///
/// Most accesses follow a rule, which is told in place of 32 numbers: an observer that looks at whole ranges is faster with it.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'a> {
    /// Of the lower and the upper half of the warp.
    Lines([Line; 2]),
    /// Of each lane.
    Each(&'a [u64; 32]),
}

/// The addresses of sixteen lanes that follow a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Of the first lane.
    pub start: u64,
    /// From one lane to the next: 0, or the bytes that a lane accesses.
    pub step: u64,
}

impl Addresses<'_> {
    /// That of a lane.
    pub fn of(&self, lane: usize) -> u64 {
        match self {
            Addresses::Lines(lines) => {
                let line = lines[lane / 16 % 2];
                line.start.wrapping_add((lane % 16) as u64 * line.step)
            }
            Addresses::Each(each) => each[lane % 32],
        }
    }

    /// All of them.
    pub fn all(&self) -> [u64; 32] {
        match self {
            Addresses::Lines(_) => std::array::from_fn(|lane| self.of(lane)),
            Addresses::Each(each) => **each,
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
}

/// What a synchronisation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// The lanes arrive at a block barrier.
    Arrive(u32),
    /// The lanes leave a block barrier.
    Leave(u32),
    /// The lanes of a warp synchronise.
    Warp,
    /// A fence.
    Fence(Fence),
    /// The lanes arrive at the barrier of the cluster.
    ClusterArrive,
    /// All threads of the cluster have arrived at its barrier.
    ClusterComplete,
    /// The lanes leave the barrier of the cluster.
    ClusterLeave,
    /// An operation on an mbarrier object.
    Mbarrier {
        /// The block of the cluster that the object belongs to.
        rank: usize,
        /// Where in the shared memory of that block.
        offset: usize,
        /// The parity of the object's phase after the operation.
        phase: bool,
        /// What was done.
        event: MbarrierEvent,
    },
    /// The lanes commit their asynchronous operations to a group.
    Commit(Group),
    /// The lanes have waited for all but the last so many groups, or for the reading of their sources.
    Wait {
        /// Which kind of groups.
        group: Group,
        /// How many may be pending.
        pending: u32,
        /// Only reading is complete.
        read: bool,
    },
}

/// What is done to an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum MbarrierEvent {
    Init,
    Invalidate,
    ExpectTx(u32),
    CompleteTx(u32),
    Arrive(u32),
    Test { complete: bool },
}

/// A stage of an asynchronous operation, which the engine reaches at a time of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// A thread has started it.
    Issued,
    /// It reads these bytes.
    Read(Place),
    /// It writes these bytes.
    Written(Place),
    /// It combines these bytes with its own.
    Reduced(Place),
    /// It is over, for one thread.
    Complete,
}

/// Bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The block of the cluster whose shared memory it is; `None` for global memory.
    pub rank: Option<usize>,
    /// The address in that memory.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Sees what a launch does, in the order in which the engine does it.
pub trait Observer: Send {
    /// False compiles every call out.
    const ACTIVE: bool = true;

    /// Before an instruction, whose guard is already in the mask.
    fn instruction(&mut self, _at: &At<'_>) {}

    /// Before a memory access: the space it goes to and the addresses in that space of the lanes in the mask.
    fn access(
        &mut self,
        _at: &At<'_>,
        _kind: AccessKind,
        _access: &Access,
        _space: StateSpace,
        _addresses: Addresses<'_>,
    ) {
    }

    /// At a branch: the lanes that jump.
    fn branch(&mut self, _at: &At<'_>, _taken: u32) {}

    /// When an asynchronous operation, known by a number, reaches a stage. `at` is the instruction that issued it and the lane
    /// that it works for.
    fn transfer(&mut self, _at: &At<'_>, _number: u64, _stage: Stage) {}

    /// At a synchronisation.
    fn synchronise(&mut self, _at: &At<'_>, _sync: Sync) {}
}

impl Observer for () {
    const ACTIVE: bool = false;
}
