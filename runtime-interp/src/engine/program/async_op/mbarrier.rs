//! Operations on mbarrier objects.

use crate::engine::op::Access;
use crate::engine::reg::Reg;
use warpsmith_isa::BarrierLayout;
use warpsmith_semantics::MbarrierAction;

/// An operation on an mbarrier object.
#[derive(Clone, Copy, Debug)]
pub struct MbarrierOp {
    /// What is done to the object. The operand is the number of arrivals of a new object, a number of bytes, or how often to arrive; with an
    /// arrival that expects bytes, their number, and the arrival is one.
    pub action: MbarrierAction,
    /// The layout of a new object, or the one that is asked about.
    pub layout: BarrierLayout,
    /// A test is of the conditional phase, which a report holds back.
    pub conditional: bool,
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
