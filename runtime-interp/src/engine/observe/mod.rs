//! The one place where a run can be watched.
//!
//! [`Device::launch_observed`](crate::Device::launch_observed) takes an [`Observer`]. The engine's loop exists twice: watched, where each event is a call
//! of a `dyn Observer`, and unwatched, without those calls. An observer says once per launch what it asks for ([`Interest`]), and
//! what it does not ask for costs one predictable branch. Several watch together as a pair, or pairs of pairs; `Option` switches one off.
//!
//! ```
//! use warpsmith_interp::observe::{At, Observer, Registers};
//! use warpsmith_interp::{Device, Launch, Program};
//! use warpsmith_ptx::ValidatedModule;
//!
//! /// Counts executed instructions of threads by line.
//! #[derive(Default)]
//! struct Lines(std::collections::BTreeMap<u32, u32>);
//!
//! impl Observer for Lines {
//!     fn instruction(&mut self, at: &At<'_>, _: &Registers<'_>) {
//!         *self.0.entry(at.line()).or_default() += at.mask.count_ones();
//!     }
//! }
//!
//! let source = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .b32 %r;\nadd.u32 %r, 3, 4;\nret;\n}";
//! let module = ValidatedModule::parse(source).unwrap();
//! let program = Program::load(&module).unwrap();
//! let mut lines = Lines::default();
//! Device::new().launch_observed(&program, &Launch::new("k").block([40, 1, 1]), &mut lines).unwrap();
//! assert_eq!(lines.0, [(6, 40), (7, 40)].into());
//! ```
//!
//! The events, in the order in which they happen:
//!
//! - [`Observer::begin`] and [`Observer::end`], with the shape of the launch and the memory there is ([`LaunchView`]);
//! - [`Observer::block_started`], [`Observer::block_ended`], [`Observer::exited`];
//! - each instruction with the registers it finds ([`Observer::instruction`]; what it is, [`Program::operation`] says) and with those it leaves
//!   ([`Observer::results`]), and between the two what it does: an
//!   [access](Observer::access), a [branch](Observer::branch) or [jump](Observer::switched), a [call or return](Observer::crossed), [exchanged values](Observer::exchanged),
//!   a [synchronisation](Observer::synchronise), an [asynchronous operation](Observer::transfer), which goes on later, memory
//!   [allocated](Observer::allocated) and [freed](Observer::freed);
//! - [`Observer::fault`], which may let the run go on without the access at fault, so that one run finds more than one mistake.
//!
//! An observer that [stops](Interest::stops) is asked before each instruction whether the run shall stand still there, and then gets
//! everything that is resident into its hands ([`View`]): that is how a debugger works.

mod combine;
mod compute;
mod event;
mod launch;
mod operation;
mod registers;
mod stop;
mod tally;

pub use super::access::Overwritten;
pub use super::transfer::is_cancelled;
pub use compute::Scratch;
pub use event::{
    AccessKind, Addresses, BadAccess, Crossing, FrameView, Line, MbarrierEvent, MemoryRange, Participant,
    Stage, Sync, TensorHazard,
};
pub use launch::{
    ALLOCA, BlockView, LaunchView, Memory, MemoryKind, VariableView, classify, locate, shared_owner, window,
};
pub use operation::{Operation, OperationKind};
pub use registers::Registers;
pub use stop::{Frame, Lanes, Resume, View, Waits, WarpId};

pub(in crate::engine) use tally::Tally;

use super::op::Access;
use super::program::Program;
use super::reg::Reg;
use crate::fault::Fault;
use std::fmt;
use warpsmith_isa::{Instruction, StateSpace};

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
    /// The lanes that are converged with them, whatever the guard says.
    pub group: u32,
    /// Lanes of the group that have been reported to come to this instruction before and had to wait in it for other threads: now they try again.
    pub retried: u32,
}

impl<'a> At<'a> {
    /// Line in the source text, 0 if unknown.
    pub fn line(&self) -> u32 {
        self.program.line(self.pc)
    }

    /// The instruction's mnemonic, to show it.
    pub fn mnemonic(&self) -> &'a str {
        self.program.mnemonic(self.pc)
    }

    /// The PTX instruction, with its operation, its modifiers and its traits; `None` for an operation of the IR that is none of PTX.
    pub fn instruction(&self) -> Option<&'a Instruction> {
        self.program.instruction(self.pc)
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

/// What becomes of a run after a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It ends with the fault.
    Stop,
    /// It goes on as if the lane had not done what is at fault: a load gives zero.
    Skip,
}

/// How often an operation was executed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Executions {
    /// By warps, or parts of warps that have diverged.
    pub warps: u64,
    /// By threads whose guard holds.
    pub threads: u64,
    /// By all threads that were there, whatever their guard says.
    pub lanes: u64,
}

impl Executions {
    /// The part of the lanes of warps that execute, from 0 to 1; `None` if nothing does.
    pub fn efficiency(self) -> Option<f64> {
        (self.warps != 0).then(|| self.lanes as f64 / (32 * self.warps) as f64)
    }

    /// The part of the lanes of warps that execute and that no guard keeps from it, from 0 to 1; `None` if nothing executes.
    pub fn guarded_efficiency(self) -> Option<f64> {
        (self.warps != 0).then(|| self.threads as f64 / (32 * self.warps) as f64)
    }
}

impl std::ops::AddAssign for Executions {
    fn add_assign(&mut self, other: Self) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.lanes += other.lanes;
    }
}

/// What an observer asks for, beyond rare events, which it always gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interest {
    /// [`Observer::instruction`].
    pub instructions: bool,
    /// [`Observer::branch`] and [`Observer::switched`].
    pub branches: bool,
    /// [`Observer::counted`]: the engine counts by itself, at a fraction of the price of an event for each instruction.
    pub counts: bool,
    /// [`Observer::access`] and [`Observer::stored`].
    pub accesses: bool,
    /// [`Observer::results`].
    pub results: bool,
    /// [`Observer::breaks`], and with it [`Observer::stopped`] and [`Observer::faulted`].
    pub stops: bool,
}

impl Interest {
    /// Every event of the run, which does not stop.
    pub const ALL: Interest = Interest {
        instructions: true,
        branches: true,
        counts: true,
        accesses: true,
        results: true,
        stops: false,
    };
    /// Only what is always reported.
    pub const RARE: Interest = Interest {
        instructions: false,
        branches: false,
        counts: false,
        accesses: false,
        results: false,
        stops: false,
    };

    /// What either asks for.
    pub const fn or(self, other: Interest) -> Interest {
        Interest {
            instructions: self.instructions || other.instructions,
            branches: self.branches || other.branches,
            counts: self.counts || other.counts,
            accesses: self.accesses || other.accesses,
            results: self.results || other.results,
            stops: self.stops || other.stops,
        }
    }
}

/// Sees what a launch does, in the order in which the engine does it.
pub trait Observer: Send {
    /// False if it watches nothing: the launch runs as if there were no observer.
    fn is_active(&self) -> bool {
        true
    }

    /// What it asks for, for the whole of a launch.
    fn interest(&self) -> Interest {
        Interest::ALL
    }

    /// A launch starts.
    fn begin(&mut self, _launch: &LaunchView<'_>) {}

    /// Before the end of a launch: how often each operation of the program was executed in it, by its index. One that waits for other threads is
    /// counted when its threads come to it.
    fn counted(&mut self, _executions: &[Executions]) {}

    /// A launch ends, with a fault or without.
    fn end(&mut self, _launch: &LaunchView<'_>, _fault: Option<&Fault>) {}

    /// A block becomes resident. Its shared memory is new.
    fn block_started(&mut self, _block: &BlockView) {}

    /// All threads of a block have exited.
    fn block_ended(&mut self, _block: &BlockView) {}

    /// Threads exit.
    fn exited(&mut self, _at: &At<'_>) {}

    /// Before an instruction, whose guard is already in the mask, with the registers as it finds them. One that waits for
    /// other threads is reported again when it is tried again, with those who have waited as [`At::retried`]. A statement of PTX may be several instructions of the engine:
    /// [`Program::statement_at`](crate::Program::statement_at) says which belong together.
    fn instruction(&mut self, _at: &At<'_>, _registers: &Registers<'_>) {}

    /// After an instruction, when its results are there, with the registers as it leaves them: those it has written are the
    /// [`writes`](Operation::writes) of its operation. A jump and a call have none; what an instruction gives that waits for others comes when they
    /// have come.
    fn results(&mut self, _at: &At<'_>, _registers: &Registers<'_>) {}

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

    /// Between the access of a [store](OperationKind::Store) and the store itself: what is in memory still.
    fn overwrites(&mut self, _at: &At<'_>, _bytes: &Overwritten<'_>) {}

    /// After a [store](OperationKind::Store) whose access was observed, with the registers that it stored: the [`reads`](Operation::reads) of its operation
    /// behind the first, the address.
    fn stored(&mut self, _at: &At<'_>, _registers: &Registers<'_>) {}

    /// At a branch: the lanes that jump.
    fn branch(&mut self, _at: &At<'_>, _taken: u32) {}

    /// At a jump through a table: the lanes that jump to the same entry, of the group of all that jump, and its number.
    fn switched(&mut self, _at: &At<'_>, _entry: u32) {}

    /// At a call, when the arguments pass, and at a return, when the results do. `at` is the call in both cases.
    fn crossed(&mut self, _at: &At<'_>, _crossing: &Crossing<'_>) {}

    /// When lanes exchange values: all lanes that take part have come. For a shuffle, `from` is the lane that each reads; a lane that reads one
    /// that does not take part gets its own value.
    fn exchanged(&mut self, _at: &At<'_>, _participants: &[Participant<'_>], _from: Option<&[u8; 32]>) {}

    /// When an asynchronous operation, known by a number, reaches a stage. `at` is the instruction that issued it and the lane
    /// that it works for.
    fn transfer(&mut self, _at: &At<'_>, _number: u64, _stage: Stage) {}

    /// At a synchronisation.
    fn synchronise(&mut self, _at: &At<'_>, _sync: Sync) {}

    /// Asked of bytes that an operation on matrices takes: whether any of them was never written.
    fn is_undefined(&mut self, _at: &At<'_>, _place: MemoryRange) -> bool {
        false
    }

    /// Asked of a register that an operation on matrices takes, and of the frame where it lies: the lanes in which it was never written.
    fn undefined_lanes(&mut self, _at: &At<'_>, _r: Reg, _frame: FrameView) -> u32 {
        0
    }

    /// An operation on matrices has written a register in the lanes of the mask: in some of them with what comes of values that were never written.
    fn tainted(&mut self, _at: &At<'_>, _r: Reg, _frame: FrameView, _undefined: u32) {}

    /// At a `trace.mark`: its number, and with `.cond` the lanes in which the condition holds.
    fn marked(&mut self, _at: &At<'_>, _number: u32, _condition: Option<u32>) {}

    /// A thread has got so many bytes of global memory from `malloc`.
    fn allocated(&mut self, _at: &At<'_>, _address: u64, _bytes: u64) {}

    /// A thread has given memory back with `free`.
    fn freed(&mut self, _at: &At<'_>, _address: u64) {}

    /// Asked before each instruction, if it [stops](Interest::stops) runs; `at.mask` is without the guard. After yes nothing is executed until
    /// [`Observer::stopped`] says how to go on, and then the question comes again: an instruction is the same if `executed`, the
    /// instructions that the warp has executed before it, is.
    fn breaks(&mut self, _at: &At<'_>, _executed: u64) -> bool {
        false
    }

    /// The run stands still before the instruction of the last [`Observer::breaks`]. Looking changes nothing: the run goes on as it would have
    /// without the stop.
    fn stopped(&mut self, _view: &mut View<'_>) -> Resume {
        Resume::Run
    }

    /// The run has come to an end by a fault, and stands still for the last time.
    fn faulted(&mut self, _view: &mut View<'_>, _fault: &Fault) {}

    /// A thread is at fault, by an access or by `free`. With faults of other kinds a run ends, and [`Observer::end`] gets them.
    fn fault(&mut self, _at: &At<'_>, _fault: &Fault, _access: Option<&BadAccess<'_>>) -> Verdict {
        Verdict::Stop
    }
}

impl Observer for () {
    fn is_active(&self) -> bool {
        false
    }

    fn interest(&self) -> Interest {
        Interest::RARE
    }
}
