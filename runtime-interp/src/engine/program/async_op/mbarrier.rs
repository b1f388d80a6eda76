//! Operations on mbarrier objects.

use crate::engine::op::Access;
use crate::engine::reg::Reg;

/// What is done to an mbarrier object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MbarrierKind {
    /// Makes one of a layout; the operand is the number of arrivals.
    Init(MbarrierLayout),
    /// Asks whether an object has a layout.
    CheckLayout(MbarrierLayout),
    /// Ends one.
    Invalidate,
    /// The operand is the number of bytes that are to come.
    ExpectTx,
    /// The operand is the number of bytes that have come.
    CompleteTx,
    /// Arrives; the operand is how often.
    Arrive {
        /// Expects as many fewer arrivals in all later phases.
        drop: bool,
        /// The operand is a number of bytes to expect first, and the arrival is one.
        expect_tx: bool,
        /// The phase must not complete.
        no_complete: bool,
    },
    /// Asks whether a phase is complete: that of a state, or that of a parity.
    Test {
        /// The operand is a parity rather than a state.
        parity: bool,
        /// May wait for a while.
        blocking: bool,
        /// The phase is the conditional one, which a report holds back.
        conditional: bool,
    },
}

/// What an mbarrier object keeps (PTX ISA 9.4, 9.7.15.16.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MbarrierLayout {
    /// `.layout::v0`: counts.
    V0,
    /// `.layout::v1`: smaller counts, a conditional phase, and what was reported in a phase.
    V1,
}

/// An operation on an mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierOp {
    /// Which.
    pub kind: MbarrierKind,
    /// The object.
    pub at: Access,
    /// The count, state or parity; one arrival if absent.
    pub operand: Option<Reg>,
    /// How long a blocking test may wait, in nanoseconds.
    pub limit: Option<Reg>,
    /// Receives the state before an arrival, or the answer of a test.
    pub dst: Option<Reg>,
    /// Receive what was reported in the phase that a test finds complete: whether something was, and what.
    pub report: [Option<Reg>; 2],
    /// The blocks of the cluster in whose memory it is done, at the offset of the object.
    pub multicast: Option<Reg>,
}
