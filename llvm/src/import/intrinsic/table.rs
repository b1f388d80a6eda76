//! The names of LLVM's own functions, without the types that they are overloaded for, and what each does.

use crate::module::ops::{BinaryOp, RmwOp};
use warpsmith_ir::Opcode;

/// What an intrinsic does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Intrinsic {
    /// It is a hint for LLVM, and is nothing; or asks for what a GPU does not show (where a function returns to), and is zero, as llc has it.
    Nothing,
    /// It says where a variable of the source is.
    Bind {
        is_address: bool,
    },
    /// It gives its first operand.
    First,
    /// A condition whose answer is known: whether an operand is a constant (never), whether a check that may be left out is wanted.
    Known(bool),
    /// The rounding of floats, in C's numbers: to nearest.
    Rounding,
    /// An address that is stored as its distance from another.
    LoadRelative,
    /// The size of an object: not known.
    ObjectSize,
    Trap,
    Breakpoint,
    Block(Block),
    VaStart,
    VaCopy,
    PtrMask,
    StackSave,
    StackRestore,
    /// The value of a special register.
    Counter(&'static str),
    /// The elements of a vector put together: the operation, and whether it begins with an operand of its own.
    Reduce(Reduce),
    /// On each element, integers.
    Integer(Integer),
    /// On each element, floats.
    Float(Float),
    FloatToInteger {
        signed: bool,
    },
    /// -1, 0 or 1.
    ThreeWay {
        signed: bool,
    },
    /// An integer of 16 bits as a `half`, in another format.
    FromHalf,
    ToHalf,
    Masked(Masked),
    /// So many vectors, an element of each in turn.
    Interleave(usize),
    /// The elements of a vector, dealt out to so many.
    Deinterleave(usize),
    ReverseVector,
    StepVector,
    InsertVector,
    ExtractVector,
    Splice(Splice),
    /// What a mask or a number does to whole vectors.
    Lanes(Lanes),
    /// `va_end` and its like need nothing; these need what a GPU does not have.
    Refused,
}

/// Which block of memory is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Block {
    Copy,
    Move,
    Fill,
}

/// How elements are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Reduce {
    Binary(BinaryOp),
    /// With a value to begin with: sums and products of floats.
    Ordered(BinaryOp),
    Integer(Integer),
    Float(Float),
}

/// An operation on integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Integer {
    Umax,
    Umin,
    Smax,
    Smin,
    Abs,
    FunnelLeft,
    FunnelRight,
    SwapBytes,
    ReverseBits,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    /// The result, and whether it is not the true one.
    Overflow(RmwOp, bool),
    /// The product, and whether it is not the true one.
    MultiplyOverflow(bool),
    Saturating(RmwOp, bool),
    ShiftSaturating(bool),
    /// The product of polynomials whose coefficients are bits.
    CarrylessMultiply,
    Fixed(Fixed),
}

/// An operation on fixed-point numbers; the third operand is the number of fractional bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) struct Fixed {
    pub divides: bool,
    pub signed: bool,
    pub saturates: bool,
}

/// Which of the elements of two concatenated vectors a splice takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Splice {
    /// From an index on.
    Left,
    /// From so many elements before the second vector.
    Right,
    /// As `Left`, or, with a negative number, as `Right`: until LLVM 21.
    Signed,
}

/// An operation on whole vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Lanes {
    /// The elements that a mask selects, moved to the front.
    Compress,
    /// The number of elements before the first that is not zero.
    CountTrailingZeros,
    /// Which lanes are below a limit, counted from a base.
    Active,
    /// How many of the remaining elements fit into a vector.
    Length,
    /// The last element that a mask selects.
    LastActive,
    /// Whether each element is in a set.
    Match,
    /// Elements added to those of a shorter vector.
    PartialSum(BinaryOp),
}

/// An operation on floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Float {
    /// One of the IR's.
    Op(Opcode),
    MultiplyAdd,
    Canonicalize,
    Class,
    /// One of the math library; PTX's instruction, if there is one and approximations are allowed.
    Math(&'static str, Option<Opcode>),
    /// Rounded to an integer: the function that rounds.
    ToInteger(Opcode),
    /// Two results: the significand and the exponent.
    Frexp,
    /// Two results: sine and cosine, by the functions of these names.
    SinCos(&'static str, &'static str),
    /// Two results: the fraction and the integral part.
    Modf,
}

/// Accesses of the elements of a vector that a mask names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::import) enum Masked {
    Load,
    Store,
    Gather,
    Scatter,
    ExpandLoad,
    CompressStore,
}

/// The intrinsic of a name. Those on vectors were experimental in earlier versions of LLVM.
pub(in crate::import) fn find(name: &str) -> Option<Intrinsic> {
    let settled = || name.strip_prefix("experimental.").filter(|rest| rest.contains("vector"));
    known(name).or_else(|| known(settled()?))
}

fn known(name: &str) -> Option<Intrinsic> {
    TABLE.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|n| TABLE[n].1)
}

use Intrinsic::{Counter, First, Known, Nothing, Refused};

const fn float(op: Opcode) -> Intrinsic {
    Intrinsic::Float(Float::Op(op))
}

const fn math(name: &'static str) -> Intrinsic {
    Intrinsic::Float(Float::Math(name, None))
}

const fn approximable(name: &'static str, op: Opcode) -> Intrinsic {
    Intrinsic::Float(Float::Math(name, Some(op)))
}

const fn int(op: Integer) -> Intrinsic {
    Intrinsic::Integer(op)
}

const fn fixed(divides: bool, signed: bool, saturates: bool) -> Intrinsic {
    Intrinsic::Integer(Integer::Fixed(Fixed { divides, signed, saturates }))
}

const fn lanes(op: Lanes) -> Intrinsic {
    Intrinsic::Lanes(op)
}

/// By name.
static TABLE: &[(&str, Intrinsic)] = &[
    ("abs", int(Integer::Abs)),
    ("acos", math("acos")),
    ("allow.runtime.check", Known(false)),
    ("allow.sanitize.address", Known(false)),
    ("allow.sanitize.hwaddress", Known(false)),
    ("allow.sanitize.memory", Known(false)),
    ("allow.sanitize.thread", Known(false)),
    ("allow.ubsan.check", Known(false)),
    ("annotation", First),
    ("arithmetic.fence", First),
    ("asin", math("asin")),
    ("assume", Nothing),
    ("atan", math("atan")),
    ("atan2", math("atan2")),
    ("bitreverse", int(Integer::ReverseBits)),
    ("bswap", int(Integer::SwapBytes)),
    ("canonicalize", Intrinsic::Float(Float::Canonicalize)),
    ("ceil", float(Opcode::Fceil)),
    ("clear_cache", Nothing),
    ("clmul", int(Integer::CarrylessMultiply)),
    ("codeview.annotation", Nothing),
    ("convert.from.fp16", Intrinsic::FromHalf),
    ("convert.to.fp16", Intrinsic::ToHalf),
    ("copysign", float(Opcode::Fcopysign)),
    ("cos", approximable("cos", Opcode::Fcos)),
    ("cosh", math("cosh")),
    ("ctlz", int(Integer::LeadingZeros)),
    ("ctpop", int(Integer::CountOnes)),
    ("cttz", int(Integer::TrailingZeros)),
    ("dbg.assign", Nothing),
    ("dbg.declare", Intrinsic::Bind { is_address: true }),
    ("dbg.label", Nothing),
    ("dbg.value", Intrinsic::Bind { is_address: false }),
    ("debugtrap", Intrinsic::Breakpoint),
    ("donothing", Nothing),
    ("exp", math("exp")),
    ("exp10", math("exp10")),
    ("exp2", approximable("exp2", Opcode::Fexp2)),
    ("expect", First),
    ("expect.with.probability", First),
    ("experimental.cttz.elts", lanes(Lanes::CountTrailingZeros)),
    ("experimental.get.vector.length", lanes(Lanes::Length)),
    ("experimental.noalias.scope.decl", Nothing),
    ("experimental.vector.extract.last.active", lanes(Lanes::LastActive)),
    ("experimental.vector.match", lanes(Lanes::Match)),
    ("experimental.widenable.condition", Known(true)),
    ("fabs", float(Opcode::Fabs)),
    ("fake.use", Nothing),
    ("floor", float(Opcode::Ffloor)),
    ("fma", Intrinsic::Float(Float::MultiplyAdd)),
    ("fmuladd", Intrinsic::Float(Float::MultiplyAdd)),
    ("fptosi.sat", Intrinsic::FloatToInteger { signed: true }),
    ("fptoui.sat", Intrinsic::FloatToInteger { signed: false }),
    ("frameaddress", Nothing),
    ("frexp", Intrinsic::Float(Float::Frexp)),
    ("fshl", int(Integer::FunnelLeft)),
    ("fshr", int(Integer::FunnelRight)),
    ("get.active.lane.mask", lanes(Lanes::Active)),
    ("get.rounding", Intrinsic::Rounding),
    ("invariant.end", Nothing),
    ("invariant.start", Nothing),
    ("is.constant", Known(false)),
    ("is.fpclass", Intrinsic::Float(Float::Class)),
    ("launder.invariant.group", First),
    ("ldexp", math("ldexp")),
    ("lifetime.end", Nothing),
    ("lifetime.start", Nothing),
    ("llrint", Intrinsic::Float(Float::ToInteger(Opcode::Fnearest))),
    ("llround", Intrinsic::Float(Float::ToInteger(Opcode::Fround))),
    ("load.relative", Intrinsic::LoadRelative),
    ("log", math("log")),
    ("log10", math("log10")),
    ("log2", approximable("log2", Opcode::Flog2)),
    ("lrint", Intrinsic::Float(Float::ToInteger(Opcode::Fnearest))),
    ("lround", Intrinsic::Float(Float::ToInteger(Opcode::Fround))),
    ("masked.compressstore", Intrinsic::Masked(Masked::CompressStore)),
    ("masked.expandload", Intrinsic::Masked(Masked::ExpandLoad)),
    ("masked.gather", Intrinsic::Masked(Masked::Gather)),
    ("masked.load", Intrinsic::Masked(Masked::Load)),
    ("masked.scatter", Intrinsic::Masked(Masked::Scatter)),
    ("masked.store", Intrinsic::Masked(Masked::Store)),
    ("maximum", float(Opcode::Fmaximum)),
    ("maximumnum", float(Opcode::Fmax)),
    ("maxnum", float(Opcode::Fmax)),
    ("memcpy", Intrinsic::Block(Block::Copy)),
    ("memcpy.inline", Intrinsic::Block(Block::Copy)),
    ("memmove", Intrinsic::Block(Block::Move)),
    ("memset", Intrinsic::Block(Block::Fill)),
    ("memset.inline", Intrinsic::Block(Block::Fill)),
    ("minimum", float(Opcode::Fminimum)),
    ("minimumnum", float(Opcode::Fmin)),
    ("minnum", float(Opcode::Fmin)),
    ("modf", Intrinsic::Float(Float::Modf)),
    ("nearbyint", float(Opcode::Fnearest)),
    ("objectsize", Intrinsic::ObjectSize),
    ("pow", math("pow")),
    ("powi", math("powi")),
    ("prefetch", Nothing),
    ("pseudoprobe", Nothing),
    ("ptr.annotation", First),
    ("ptrmask", Intrinsic::PtrMask),
    ("public.type.test", Known(true)),
    ("readcyclecounter", Counter("clock64")),
    ("readsteadycounter", Counter("globaltimer")),
    ("returnaddress", Nothing),
    ("rint", float(Opcode::Fnearest)),
    ("round", float(Opcode::Fround)),
    ("roundeven", float(Opcode::Fnearest)),
    ("sadd.sat", int(Integer::Saturating(RmwOp::Add, true))),
    ("sadd.with.overflow", int(Integer::Overflow(RmwOp::Add, true))),
    ("scmp", Intrinsic::ThreeWay { signed: true }),
    ("sdiv.fix", fixed(true, true, false)),
    ("sdiv.fix.sat", fixed(true, true, true)),
    ("sideeffect", Nothing),
    ("sin", approximable("sin", Opcode::Fsin)),
    ("sincos", Intrinsic::Float(Float::SinCos("sin", "cos"))),
    ("sincospi", Intrinsic::Float(Float::SinCos("sinpi", "cospi"))),
    ("sinh", math("sinh")),
    ("smax", int(Integer::Smax)),
    ("smin", int(Integer::Smin)),
    ("smul.fix", fixed(false, true, false)),
    ("smul.fix.sat", fixed(false, true, true)),
    ("smul.with.overflow", int(Integer::MultiplyOverflow(true))),
    ("sqrt", float(Opcode::Fsqrt)),
    ("ssa.copy", First),
    ("sshl.sat", int(Integer::ShiftSaturating(true))),
    ("ssub.sat", int(Integer::Saturating(RmwOp::Sub, true))),
    ("ssub.with.overflow", int(Integer::Overflow(RmwOp::Sub, true))),
    ("stackrestore", Intrinsic::StackRestore),
    ("stacksave", Intrinsic::StackSave),
    ("stepvector", Intrinsic::StepVector),
    ("strip.invariant.group", First),
    ("tan", math("tan")),
    ("tanh", approximable("tanh", Opcode::Ftanh)),
    ("thread.pointer", Refused),
    ("threadlocal.address", Refused),
    ("trap", Intrinsic::Trap),
    ("trunc", float(Opcode::Ftrunc)),
    // What link-time optimisation knows of virtual tables; nothing checks it here.
    ("type.test", Known(true)),
    ("uadd.sat", int(Integer::Saturating(RmwOp::Add, false))),
    ("uadd.with.overflow", int(Integer::Overflow(RmwOp::Add, false))),
    ("ubsantrap", Intrinsic::Trap),
    ("ucmp", Intrinsic::ThreeWay { signed: false }),
    ("udiv.fix", fixed(true, false, false)),
    ("udiv.fix.sat", fixed(true, false, true)),
    ("umax", int(Integer::Umax)),
    ("umin", int(Integer::Umin)),
    ("umul.fix", fixed(false, false, false)),
    ("umul.fix.sat", fixed(false, false, true)),
    ("umul.with.overflow", int(Integer::MultiplyOverflow(false))),
    ("ushl.sat", int(Integer::ShiftSaturating(false))),
    ("usub.sat", int(Integer::Saturating(RmwOp::Sub, false))),
    ("usub.with.overflow", int(Integer::Overflow(RmwOp::Sub, false))),
    ("va_copy", Intrinsic::VaCopy),
    ("va_end", Nothing),
    ("va_start", Intrinsic::VaStart),
    ("var.annotation", Nothing),
    ("vector.compress", lanes(Lanes::Compress)),
    ("vector.deinterleave2", Intrinsic::Deinterleave(2)),
    ("vector.deinterleave3", Intrinsic::Deinterleave(3)),
    ("vector.deinterleave4", Intrinsic::Deinterleave(4)),
    ("vector.deinterleave5", Intrinsic::Deinterleave(5)),
    ("vector.deinterleave6", Intrinsic::Deinterleave(6)),
    ("vector.deinterleave7", Intrinsic::Deinterleave(7)),
    ("vector.deinterleave8", Intrinsic::Deinterleave(8)),
    ("vector.extract", Intrinsic::ExtractVector),
    ("vector.insert", Intrinsic::InsertVector),
    ("vector.interleave2", Intrinsic::Interleave(2)),
    ("vector.interleave3", Intrinsic::Interleave(3)),
    ("vector.interleave4", Intrinsic::Interleave(4)),
    ("vector.interleave5", Intrinsic::Interleave(5)),
    ("vector.interleave6", Intrinsic::Interleave(6)),
    ("vector.interleave7", Intrinsic::Interleave(7)),
    ("vector.interleave8", Intrinsic::Interleave(8)),
    ("vector.partial.reduce.add", lanes(Lanes::PartialSum(BinaryOp::Add))),
    ("vector.partial.reduce.fadd", lanes(Lanes::PartialSum(BinaryOp::Fadd))),
    ("vector.reduce.add", Intrinsic::Reduce(Reduce::Binary(BinaryOp::Add))),
    ("vector.reduce.and", Intrinsic::Reduce(Reduce::Binary(BinaryOp::And))),
    ("vector.reduce.fadd", Intrinsic::Reduce(Reduce::Ordered(BinaryOp::Fadd))),
    ("vector.reduce.fmax", Intrinsic::Reduce(Reduce::Float(Float::Op(Opcode::Fmax)))),
    ("vector.reduce.fmaximum", Intrinsic::Reduce(Reduce::Float(Float::Op(Opcode::Fmaximum)))),
    ("vector.reduce.fmin", Intrinsic::Reduce(Reduce::Float(Float::Op(Opcode::Fmin)))),
    ("vector.reduce.fminimum", Intrinsic::Reduce(Reduce::Float(Float::Op(Opcode::Fminimum)))),
    ("vector.reduce.fmul", Intrinsic::Reduce(Reduce::Ordered(BinaryOp::Fmul))),
    ("vector.reduce.mul", Intrinsic::Reduce(Reduce::Binary(BinaryOp::Mul))),
    ("vector.reduce.or", Intrinsic::Reduce(Reduce::Binary(BinaryOp::Or))),
    ("vector.reduce.smax", Intrinsic::Reduce(Reduce::Integer(Integer::Smax))),
    ("vector.reduce.smin", Intrinsic::Reduce(Reduce::Integer(Integer::Smin))),
    ("vector.reduce.umax", Intrinsic::Reduce(Reduce::Integer(Integer::Umax))),
    ("vector.reduce.umin", Intrinsic::Reduce(Reduce::Integer(Integer::Umin))),
    ("vector.reduce.xor", Intrinsic::Reduce(Reduce::Binary(BinaryOp::Xor))),
    ("vector.reverse", Intrinsic::ReverseVector),
    ("vector.splice", Intrinsic::Splice(Splice::Signed)),
    ("vector.splice.left", Intrinsic::Splice(Splice::Left)),
    ("vector.splice.right", Intrinsic::Splice(Splice::Right)),
];

#[cfg(test)]
mod tests {
    use super::{Intrinsic, TABLE, find};

    #[test]
    fn names_are_in_order() {
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b), "binary search needs them sorted");
        assert_eq!(find("va_end"), Some(Intrinsic::Nothing));
        assert_eq!(find("umaxx"), None);
    }

    /// The page lists what is refused: by whole names, and by how names begin.
    #[test]
    fn what_the_page_calls_rejected_is() {
        let page = include_str!("../../../../docs/llvm.md");
        let (_, list) = page.split_once("Intrinsics that are rejected").expect("the list");
        let (list, _) = list.split_once("\n\n").expect("its end");
        let names: Vec<&str> = list.split('`').filter_map(|name| name.strip_prefix("llvm.")).collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            let is_named = |known: &str| match name.strip_suffix('*') {
                Some(family) => known.starts_with(family),
                None => known == name,
            };
            let known = TABLE.iter().find(|(known, what)| is_named(known) && *what != Intrinsic::Refused);
            assert_eq!(known, None, "llvm.{name}");
        }
    }
}
