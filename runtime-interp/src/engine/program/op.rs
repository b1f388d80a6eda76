//! The operations of an engine program.
//!
//! Arithmetic is one operation, [`Op::Lanes`], over any lane function. The others are those that need more than the values of
//! their own lane: memory, control flow, communication between threads, and knowledge of the machine.

use crate::engine::async_op::AsyncOp;
use crate::engine::lanes::{LaneFn, Operands};
use crate::engine::matrix_op::MatrixOp;
use crate::engine::reg::{Reg, Width};
use crate::engine::special::Special;
use crate::engine::texture_op::TextureOp;
use warpsmith_isa::{ShuffleMode, StateSpace};
use warpsmith_semantics::update::AtomicFn;

/// `@p` or `@!p` before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The predicate.
    pub pred: Reg,
    /// True for `@!p`.
    pub negated: bool,
}

/// A function of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FuncId(pub(in crate::engine) u32);

/// The functions that an indirect call may reach ([`Program::candidates`](crate::engine::Program::candidates)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CandidatesId(pub(in crate::engine) u32);

/// A variable of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub(in crate::engine) u32);

/// A range of one of the program's side tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Range {
    pub(in crate::engine) start: u32,
    pub(in crate::engine) len: u32,
}

impl Range {
    #[inline(always)]
    pub fn of<T>(self, table: &[T]) -> &[T] {
        &table[self.start as usize..(self.start + self.len) as usize]
    }
}

/// How strongly a memory operation is ordered (PTX ISA 9.0, 8.4 and 8.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    Mmio,
}

/// Which threads an ordered operation is ordered with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Scope {
    Cta,
    Cluster,
    #[default]
    Gpu,
    Sys,
}

/// Where an access finds its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// An integer register of 32 or 64 bits plus an offset.
    Reg(Reg, i64),
    /// A variable plus an offset, as an address in the variable's own space.
    Symbol(SymbolId, i64),
    /// An offset into the running function's part of local memory, as returned by `FunctionBuilder::local`.
    Stack(i64),
    /// A number.
    Absolute(u64),
}

impl Address {
    /// The address some bytes on.
    pub const fn plus(self, bytes: i64) -> Address {
        match self {
            Address::Reg(r, offset) => Address::Reg(r, offset.wrapping_add(bytes)),
            Address::Symbol(symbol, offset) => Address::Symbol(symbol, offset.wrapping_add(bytes)),
            Address::Stack(offset) => Address::Stack(offset.wrapping_add(bytes)),
            Address::Absolute(address) => Address::Absolute(address.wrapping_add_signed(bytes)),
        }
    }
}

/// A load or store of one to eight elements per lane.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The state space; `Param` is the parameters of the kernel.
    pub space: StateSpace,
    /// Bytes of one element: 1, 2, 4, 8 or 16.
    pub bytes: u8,
    /// A load extends the sign of a narrow element to the register.
    pub signed: bool,
    /// The memory ordering, for observers: the engine itself executes every access in program order.
    pub order: Order,
    /// The scope of the ordering.
    pub scope: Scope,
    /// Number of elements.
    pub count: u8,
    /// An address in shared memory may be one of another block of the cluster.
    pub cluster: bool,
    /// A bit for each element of a vector that a store leaves as it is.
    pub skipped: u8,
    /// A bit for each byte of a whole load that the program does not use: it need not exist, and no checker looks at it.
    pub unused: u32,
    /// The address is relative to the function's stack frame.
    pub(in crate::engine) on_stack: bool,
    /// The address register; a constant if the address is the same for all lanes.
    pub(in crate::engine) base: Reg,
    /// What is added to the register.
    pub(in crate::engine) offset: i64,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Where and how; `count` elements are each updated atomically.
    pub access: Access,
    /// How.
    pub function: AtomicFn,
    /// Receives the old value, element by element; empty for `red`.
    pub dst: Vec<Reg>,
    /// The second operand, element by element; a missing one reads as zero.
    pub b: Vec<Reg>,
    /// The third operand (`cas`).
    pub c: Option<Reg>,
}

/// What the lanes of a [`Collective`] do together.
#[derive(Clone, Copy, Debug)]
pub enum CollectiveKind {
    /// `bar.warp.sync`: only wait.
    Sync,
    /// `shfl.sync`: sources value, lane operand `b`, clamp/segment operand `c`; destinations value and in-range predicate.
    Shuffle(ShuffleMode),
    /// `vote.all`: source and destination are predicates.
    All,
    /// `vote.any`
    Any,
    /// `vote.uni`
    Uni,
    /// `vote.ballot`: destination is the mask.
    Ballot,
    /// `match.any`: destination is the mask of lanes with an equal value.
    MatchAny,
    /// `match.all`: destination is the mask if all are equal, else 0, and the predicate that says so.
    MatchAll,
    /// `redux`: folds the sources in lane order.
    Reduce(fn(u64, u64) -> u64),
    /// `elect`: destinations are the elected lane and whether it is this one.
    Elect,
}

/// A warp-level operation of the lanes that a mask names (`.sync`), or of the converged lanes where no mask is given.
#[derive(Clone, Debug)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// The member mask.
    pub mask: Option<Reg>,
    /// Sources.
    pub src: Vec<Reg>,
    /// Destinations; `None` for one that is discarded or absent.
    pub dst: [Option<Reg>; 2],
}

/// What a thread does at a block barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarrierKind {
    /// Arrive and wait for the others.
    Sync,
    /// Arrive and go on.
    Arrive,
    /// Wait, and count the threads with a true predicate.
    Popc,
    /// Wait, and return whether all predicates are true.
    And,
    /// Wait, and return whether any predicate is true.
    Or,
}

/// `bar` and `barrier`.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// What to do.
    pub kind: BarrierKind,
    /// Which of the sixteen barriers.
    pub id: Reg,
    /// How many threads take part; all threads of the block if absent.
    pub count: Option<Reg>,
    /// The predicate of a reduction, and whether it is negated.
    pub src: Option<Guard>,
    /// The result of a reduction.
    pub dst: Option<Reg>,
}

/// A value passed between the frames of a caller and a callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// A register of the one frame to one of the other, of equal width.
    Reg {
        /// Read.
        from: Reg,
        /// Written.
        to: Reg,
    },
    /// Bytes of local memory, as offsets from the two stack frames.
    Stack {
        /// Read.
        from: u32,
        /// Written.
        to: u32,
        /// How many.
        bytes: u32,
    },
}

/// What a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function known when the program was loaded.
    Direct(FuncId),
    /// The function whose address is in a 64-bit register. All candidates have the same formal parameters.
    Indirect(Reg, CandidatesId),
}

/// `call`
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    pub(in crate::engine) args: Vec<Move>,
    pub(in crate::engine) results: Vec<Move>,
}

/// A function that the driver defines (PTX interoperability guide, chapter 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SystemCall {
    /// `vprintf`
    Printf,
    /// `malloc`
    Malloc,
    /// `free`
    Free,
    /// `__assertfail`
    AssertFail,
}

impl SystemCall {
    /// The call of a name.
    pub fn from_name(name: &str) -> Option<SystemCall> {
        Some(match name {
            "vprintf" => SystemCall::Printf,
            "malloc" => SystemCall::Malloc,
            "free" => SystemCall::Free,
            "__assertfail" => SystemCall::AssertFail,
            _ => return None,
        })
    }

    /// What is passed to it.
    pub const fn params(self) -> &'static [Width] {
        use Width::{W32, W64};
        match self {
            SystemCall::Printf => &[W64, W64],
            SystemCall::Malloc | SystemCall::Free => &[W64],
            SystemCall::AssertFail => &[W64, W64, W32, W64, W64],
        }
    }

    /// What it gives.
    pub const fn result(self) -> Option<Width> {
        match self {
            SystemCall::Printf => Some(Width::W32),
            SystemCall::Malloc => Some(Width::W64),
            SystemCall::Free | SystemCall::AssertFail => None,
        }
    }
}

/// A call into the system.
#[derive(Clone, Debug)]
pub struct System {
    /// Which.
    pub call: SystemCall,
    /// Its arguments.
    pub args: Vec<Reg>,
    /// Receives its result.
    pub dst: Option<Reg>,
}

/// What changes the part of the stack that threads allocate for themselves.
#[derive(Clone, Copy, Debug)]
pub enum StackOp {
    /// `stacksave`
    Save(Reg),
    /// `stackrestore`
    Restore(Reg),
    /// `alloca`
    Allocate {
        /// Receives the address, in local space.
        dst: Reg,
        /// Bytes.
        size: Reg,
        /// A power of two.
        align: u32,
    },
}

/// `fence` and `membar`, for observers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fence {
    /// What it orders.
    pub order: Order,
    /// With whom.
    pub scope: Scope,
}

/// One instruction of the engine. Rare or large operands live behind a box, so that an operation stays within a cache line.
#[derive(Clone, Debug)]
pub(in crate::engine) enum Op {
    Lanes(LaneFn, Operands),
    /// A block of a region that has machine code, by the number of its entry.
    Region(u32),
    Special(Reg, Special),
    Load(Access, Reg),
    LoadVector(Access, Range),
    Store(Access, Reg),
    StoreVector(Access, Range),
    Atomic(Box<Atomic>),
    /// The address of a place in the running function's stack frame, in local space or generic.
    StackAddress {
        dst: Reg,
        offset: i64,
        generic: bool,
    },
    ActiveMask(Reg),
    Collective(Box<Collective>),
    Barrier(Box<Barrier>),
    Branch(u32),
    /// Jumps to the table's entry; an index past its end is a fault.
    Switch {
        index: Reg,
        targets: Range,
    },
    Call(Box<Call>),
    Ret,
    Exit,
    Trap,
    Fence(Fence),
    System(Box<System>),
    Stack(Box<StackOp>),
    /// Gives the other threads a turn.
    Yield,
    /// Nothing: an instruction that has no effect here.
    Nop,
    Async(Box<AsyncOp>),
    Matrix(Box<MatrixOp>),
    Texture(TextureOp),
}

/// An operation with its guard.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Inst {
    pub op: Op,
    /// The guard's predicate, [`Reg::ZERO`] if there is none.
    pub guard: Reg,
    /// All ones if the guard is negated.
    pub flip: u32,
    /// 1 if executions of a statement are counted here, else 0: a statement may be several operations.
    pub count: u32,
}

impl Op {
    /// The access and the destinations of a load.
    pub fn as_load<'a>(&'a self, lists: &'a [Reg]) -> Option<(&'a Access, &'a [Reg])> {
        if let Op::LoadVector(access, list) = self {
            return Some((access, list.of(lists)));
        }
        let Op::Load(access, dst) = self else { return None };
        Some((access, std::slice::from_ref(dst)))
    }
}
