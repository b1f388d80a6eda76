//! The events that observers get: accesses, synchronisation, asynchronous operations, calls and exchanges.

use crate::engine::async_op::Group;
use crate::engine::op::{Access, Collective, Fence, FuncId, Move};
use warpsmith_isa::StateSpace;

/// The addresses of the lanes of an access, in the space it goes to. Those of lanes that do not execute it mean nothing.
///
/// Most accesses follow a rule, which is passed in place of 32 numbers: an observer that looks at whole ranges is faster with it.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'a> {
    /// The lines of the lower and the upper half of the warp.
    Lines([Line; 2]),
    /// One address for each lane.
    Each(&'a [u64; 32]),
}

/// The addresses of sixteen lanes that follow a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// The address of the first lane.
    pub start: u64,
    /// From one lane to the next: 0, or the bytes that a lane accesses.
    pub step: u64,
}

impl Addresses<'_> {
    /// The address of a lane.
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
    /// The lanes come to a block barrier, where they wait for the rest of their warp.
    Reach(u32),
    /// The lanes arrive at a block barrier, once all of their warp that have not exited are there.
    Arrive(u32),
    /// All threads that a block barrier waits for have arrived. No lanes.
    Complete(u32),
    /// The lanes leave a block barrier.
    Leave(u32),
    /// The lanes come to a warp-level operation, or come back to it when others of the warp have exited.
    Warp {
        /// The member mask of the first of them, if the operation has one.
        members: Option<u32>,
    },
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
    /// Tensor memory is used wrongly.
    Tensor {
        /// How.
        hazard: TensorHazard,
        /// The earlier operation of the two; the allocation that is left.
        other: u32,
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

/// How tensor memory is used wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorHazard {
    /// A product, copy or shift that is not complete reads or writes what is accessed.
    InFlight,
    /// A store that its warp has not waited for writes what is accessed.
    Stored,
    /// A load that its warp has not waited for reads what is written.
    Loaded,
    /// A block ends with columns allocated.
    Left {
        /// How many.
        columns: u32,
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
    /// It has read the tensor map that describes it, in global memory, through the tensormap proxy: when it was issued.
    Described(MemoryRange),
    /// It reads these bytes.
    Read(MemoryRange),
    /// It writes these bytes.
    Written(MemoryRange),
    /// It combines these bytes with its own, element by element.
    Reduced {
        /// The bytes.
        place: MemoryRange,
        /// How many an element has, which is combined at once.
        element: u8,
    },
    /// It is over, for one thread.
    Complete,
}

/// Bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryRange {
    /// The block of the cluster whose shared memory it is; `None` for global memory.
    pub rank: Option<usize>,
    /// The address in that memory.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Where in the data of the operation they lie: 0, but for the parts of a tile.
    pub at: u64,
}

/// A call, or the return from one: what passes between the frames of caller and callee.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// The called function.
    pub function: FuncId,
    /// True for a return.
    pub returns: bool,
    /// How many calls the frame that is entered is below the kernel.
    pub depth: u32,
    /// The frame that is left.
    pub from: FrameView,
    /// The frame that is entered.
    pub to: FrameView,
    /// Arguments or results: registers and bytes of local memory, from frame to frame.
    pub moves: &'a [Move],
}

/// Where the frame of a function lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameView {
    /// The first row (of 32 words) of its registers in the register file of the warp.
    pub row: u32,
    /// The number of rows of its registers.
    pub rows: u32,
    /// The first address of its local memory.
    pub stack: u32,
    /// The first address beyond its local memory.
    pub stack_end: u32,
}

/// Lanes that take part in a warp-level operation through the operands of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Participant<'a> {
    /// Which lanes.
    pub lanes: u32,
    /// The instruction's operation.
    pub op: &'a Collective,
    /// Index of the operation in the program.
    pub pc: u32,
    /// The first row of the function's registers in the register file of the warp.
    pub row: u32,
}

/// An access that cannot be made.
#[derive(Clone, Copy, Debug)]
pub struct BadAccess<'a> {
    /// What it would do.
    pub kind: AccessKind,
    /// The operation's own description; its `space` is what the instruction says.
    pub access: &'a Access,
    /// The space that the address is in.
    pub space: StateSpace,
    /// The address in that space.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The first address past the local memory of the running function.
    pub stack_end: u32,
}
