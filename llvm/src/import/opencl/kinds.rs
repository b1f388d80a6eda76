//! What OpenCL's built-in functions are.

use warpsmith_ir::{AtomicOp, FloatCC, Opcode};

/// What a function is. Names in quotes are of functions of the math library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    /// A number of work items.
    Work(Work),
    /// All work items of a group wait for each other.
    Barrier,
    Fence,
    /// What has no effect on a GPU.
    Nothing,
    /// A function on each element.
    Element(Function),
    /// A number that two results, or a second one behind a pointer, come from.
    Parts(Parts),
    Any,
    All,
    Dot,
    Length,
    Distance,
    Normalize,
    Cross,
    Shuffle,
    /// An operation on signed integers and on unsigned ones, or on what has no sign.
    Atomic(AtomicOp, AtomicOp),
    /// Adds 1 or -1.
    Count(i64),
    AtomicExchangeIf,
    /// On the atomic types of OpenCL 2.
    AtomicObject(AtomicObject),
    /// A number of sub-groups.
    SubGroup(SubGroup),
    /// All work items of a sub-group wait for each other.
    SubGroupBarrier,
    /// What all work items of a group compute together.
    Collective(Group, Collective),
    /// A value of another work item of the sub-group.
    Exchange(Exchange),
    /// Whether this is the first work item of those that make the call.
    Elect,
    /// Whether all work items that make the call have one value.
    AllEqual,
    Ballot(Ballot),
    /// The work items of a sub-group as a mask.
    LaneMask(LaneMask),
    /// What the work items of each cluster of a sub-group compute together.
    Cluster(Combine),
    /// The sum of the products of bytes: in vectors or in words, of which signs, and added to a last operand with saturation.
    DotBytes(DotBytes),
    /// The cycles or nanoseconds that a clock shows.
    Clock(Clock),
    /// Which kind of memory a pointer leads to, as flags of a fence.
    FenceOf,
    /// A copy by all work items of a group; with the distance of the elements in global memory, or without.
    AsyncCopy {
        strided: bool,
    },
}

/// An operation on an atomic object (6.15.12.7). Their orders and scopes are operands where the name ends with `_explicit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AtomicObject {
    Init,
    Load,
    Store,
    Exchange,
    ExchangeIf,
    /// An operation on signed integers, on unsigned ones and on floats.
    Fetch(AtomicOp, AtomicOp, Option<AtomicOp>),
    TestAndSet,
    Clear,
    Fence,
}

/// The numbers of work items (OpenCL C specification, 6.15.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    GlobalId,
    LocalId,
    GroupId,
    GlobalSize,
    LocalSize,
    Groups,
    Offset,
    Dimensions,
    GlobalLinearId,
    LocalLinearId,
}

/// The numbers of sub-groups (OpenCL C specification, 6.15.19).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SubGroup {
    LocalId,
    Size,
    MaxSize,
    Id,
    Count,
}

/// Who computes something together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    /// A sub-group.
    Warp,
    /// Those work items of a sub-group that make the call.
    Active,
    Block,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collective {
    All,
    Any,
    Broadcast,
    Reduce(Combine),
    /// The values up to each work item's own, combined.
    Inclusive(Combine),
    /// Those before it.
    Exclusive(Combine),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combine {
    Add,
    Multiply,
    Min,
    Max,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

impl Combine {
    /// True for operations on whether operands are 0.
    pub(super) fn is_logical(self) -> bool {
        matches!(self, Combine::LogicalAnd | Combine::LogicalOr | Combine::LogicalXor)
    }
}

/// Whose value a work item of a sub-group reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exchange {
    /// The one with a number.
    At,
    /// The one with a number, in a call that all of them make.
    Uniform,
    /// The first of those that make the call.
    First,
    Xor,
    Up,
    Down,
    /// Up, from a second value of the work items of the sub-group before.
    UpInto,
    /// Down, to a second value of those of the next sub-group.
    DownInto,
    Rotate,
    /// Rotation in runs of a size.
    RotateCluster,
}

/// Masks of the work items of a sub-group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ballot {
    /// The mask of those whose operand is not 0.
    Take,
    /// The bit of the work item.
    Own,
    Bit,
    Count,
    /// The number of bits up to the work item's own.
    Inclusive,
    /// The number of bits before it.
    Exclusive,
    Lowest,
    Highest,
}

/// The work items whose numbers compare so with a work item's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneMask {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A sum of products of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DotBytes {
    /// The bytes are in words, signed or not; otherwise the vectors say it.
    pub packed: Option<[bool; 2]>,
    /// The last operand is added, with saturation.
    pub accumulates: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clock {
    /// Nanoseconds that all multiprocessors share.
    Device,
    /// Cycles of a multiprocessor.
    Group,
}

/// A function on each element of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Math(&'static str),
    Float(Opcode),
    /// An approximation, of `float` alone.
    Fast(&'static str),
    /// A function of the math library over pi.
    OverPi(&'static str),
    /// The tangent of a multiple of pi.
    TanPi,
    Is(FloatCC),
    /// Whether it is of one of LLVM's classes of floats.
    Class(i64),
    SignBit,
    Greater,
    Less,
    GreaterMagnitude,
    LessMagnitude,
    Clamp,
    Mix,
    Step,
    Smoothstep,
    Sign,
    Times(Factor),
    MultiplyAdd,
    Select,
    BitSelect,
    NotANumber,
    Abs,
    AbsDifference,
    AddSaturating,
    SubtractSaturating,
    HalfSum,
    HalfSumUp,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    MultiplyHigh,
    MultiplyAddHigh,
    MultiplyAddSaturating,
    Multiply,
    Rotate,
    Join,
    ReverseBits,
    InsertBits,
    ExtractBits {
        signed: bool,
    },
    Root,
}

/// The bits of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Factor(pub u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parts {
    Fraction,
    Significand,
    Whole,
    SineAndCosine,
    /// The logarithm of the gamma function and its sign.
    LogGamma,
    /// The remainder and the lowest bits of the quotient.
    Remainder,
}
