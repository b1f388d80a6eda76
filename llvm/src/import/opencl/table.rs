//! OpenCL's built-in functions by name.

use warpsmith_ir::{AtomicOp, FloatCC, Opcode};
use warpsmith_isa::StateSpace;

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
    Min,
    Max,
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

/// The function of a name; those with types or sizes in their names are not here.
pub(super) fn find(name: &str) -> Option<Builtin> {
    TABLE.binary_search_by_key(&name, |(known, _)| known).ok().map(|at| TABLE[at].1)
}

/// The space that `to_global`, `to_local` and `to_private` (6.15.10) ask for, by the names that clang calls them by.
pub(super) fn address_space(symbol: &str) -> Option<StateSpace> {
    match symbol {
        "__to_global" => Some(StateSpace::Global),
        "__to_local" => Some(StateSpace::Shared),
        "__to_private" => Some(StateSpace::Local),
        _ => None,
    }
}

const fn math(name: &'static str) -> Builtin {
    Builtin::Element(Function::Math(name))
}

const fn float(op: Opcode) -> Builtin {
    Builtin::Element(Function::Float(op))
}

const fn fast(name: &'static str) -> Builtin {
    Builtin::Element(Function::Fast(name))
}

const fn is(cond: FloatCC) -> Builtin {
    Builtin::Element(Function::Is(cond))
}

const fn each(function: Function) -> Builtin {
    Builtin::Element(function)
}

const fn times(factor: f64) -> Builtin {
    Builtin::Element(Function::Times(Factor(factor.to_bits())))
}

const fn object(op: AtomicObject) -> Builtin {
    Builtin::AtomicObject(op)
}

const fn warp(what: Collective) -> Builtin {
    Builtin::Collective(Group::Warp, what)
}

const fn block(what: Collective) -> Builtin {
    Builtin::Collective(Group::Block, what)
}

const fn fetch(signed: AtomicOp, unsigned: AtomicOp, float: Option<AtomicOp>) -> Builtin {
    Builtin::AtomicObject(AtomicObject::Fetch(signed, unsigned, float))
}

const TABLE: &[(&str, Builtin)] = &[
    ("abs", each(Function::Abs)),
    ("abs_diff", each(Function::AbsDifference)),
    ("acos", math("acos")),
    ("acosh", math("acosh")),
    ("acospi", each(Function::OverPi("acos"))),
    ("add_sat", each(Function::AddSaturating)),
    ("all", Builtin::All),
    ("any", Builtin::Any),
    ("asin", math("asin")),
    ("asinh", math("asinh")),
    ("asinpi", each(Function::OverPi("asin"))),
    ("async_work_group_copy", Builtin::AsyncCopy { strided: false }),
    ("async_work_group_strided_copy", Builtin::AsyncCopy { strided: true }),
    ("atan", math("atan")),
    ("atan2", math("atan2")),
    ("atan2pi", each(Function::OverPi("atan2"))),
    ("atanh", math("atanh")),
    ("atanpi", each(Function::OverPi("atan"))),
    ("atom_add", Builtin::Atomic(AtomicOp::Iadd, AtomicOp::Iadd)),
    ("atom_and", Builtin::Atomic(AtomicOp::Band, AtomicOp::Band)),
    ("atom_cmpxchg", Builtin::AtomicExchangeIf),
    ("atom_dec", Builtin::Count(-1)),
    ("atom_inc", Builtin::Count(1)),
    ("atom_max", Builtin::Atomic(AtomicOp::Smax, AtomicOp::Umax)),
    ("atom_min", Builtin::Atomic(AtomicOp::Smin, AtomicOp::Umin)),
    ("atom_or", Builtin::Atomic(AtomicOp::Bor, AtomicOp::Bor)),
    ("atom_sub", Builtin::Atomic(AtomicOp::Isub, AtomicOp::Isub)),
    ("atom_xchg", Builtin::Atomic(AtomicOp::Xchg, AtomicOp::Xchg)),
    ("atom_xor", Builtin::Atomic(AtomicOp::Bxor, AtomicOp::Bxor)),
    ("atomic_add", Builtin::Atomic(AtomicOp::Iadd, AtomicOp::Iadd)),
    ("atomic_and", Builtin::Atomic(AtomicOp::Band, AtomicOp::Band)),
    ("atomic_cmpxchg", Builtin::AtomicExchangeIf),
    ("atomic_compare_exchange_strong", object(AtomicObject::ExchangeIf)),
    ("atomic_compare_exchange_strong_explicit", object(AtomicObject::ExchangeIf)),
    ("atomic_compare_exchange_weak", object(AtomicObject::ExchangeIf)),
    ("atomic_compare_exchange_weak_explicit", object(AtomicObject::ExchangeIf)),
    ("atomic_dec", Builtin::Count(-1)),
    ("atomic_exchange", object(AtomicObject::Exchange)),
    ("atomic_exchange_explicit", object(AtomicObject::Exchange)),
    ("atomic_fetch_add", fetch(AtomicOp::Iadd, AtomicOp::Iadd, Some(AtomicOp::Fadd))),
    ("atomic_fetch_add_explicit", fetch(AtomicOp::Iadd, AtomicOp::Iadd, Some(AtomicOp::Fadd))),
    ("atomic_fetch_and", fetch(AtomicOp::Band, AtomicOp::Band, None)),
    ("atomic_fetch_and_explicit", fetch(AtomicOp::Band, AtomicOp::Band, None)),
    ("atomic_fetch_max", fetch(AtomicOp::Smax, AtomicOp::Umax, Some(AtomicOp::Fmax))),
    ("atomic_fetch_max_explicit", fetch(AtomicOp::Smax, AtomicOp::Umax, Some(AtomicOp::Fmax))),
    ("atomic_fetch_min", fetch(AtomicOp::Smin, AtomicOp::Umin, Some(AtomicOp::Fmin))),
    ("atomic_fetch_min_explicit", fetch(AtomicOp::Smin, AtomicOp::Umin, Some(AtomicOp::Fmin))),
    ("atomic_fetch_or", fetch(AtomicOp::Bor, AtomicOp::Bor, None)),
    ("atomic_fetch_or_explicit", fetch(AtomicOp::Bor, AtomicOp::Bor, None)),
    ("atomic_fetch_sub", fetch(AtomicOp::Isub, AtomicOp::Isub, Some(AtomicOp::Fsub))),
    ("atomic_fetch_sub_explicit", fetch(AtomicOp::Isub, AtomicOp::Isub, Some(AtomicOp::Fsub))),
    ("atomic_fetch_xor", fetch(AtomicOp::Bxor, AtomicOp::Bxor, None)),
    ("atomic_fetch_xor_explicit", fetch(AtomicOp::Bxor, AtomicOp::Bxor, None)),
    ("atomic_flag_clear", object(AtomicObject::Clear)),
    ("atomic_flag_clear_explicit", object(AtomicObject::Clear)),
    ("atomic_flag_test_and_set", object(AtomicObject::TestAndSet)),
    ("atomic_flag_test_and_set_explicit", object(AtomicObject::TestAndSet)),
    ("atomic_inc", Builtin::Count(1)),
    ("atomic_init", object(AtomicObject::Init)),
    ("atomic_load", object(AtomicObject::Load)),
    ("atomic_load_explicit", object(AtomicObject::Load)),
    ("atomic_max", Builtin::Atomic(AtomicOp::Smax, AtomicOp::Umax)),
    ("atomic_min", Builtin::Atomic(AtomicOp::Smin, AtomicOp::Umin)),
    ("atomic_or", Builtin::Atomic(AtomicOp::Bor, AtomicOp::Bor)),
    ("atomic_store", object(AtomicObject::Store)),
    ("atomic_store_explicit", object(AtomicObject::Store)),
    ("atomic_sub", Builtin::Atomic(AtomicOp::Isub, AtomicOp::Isub)),
    ("atomic_work_item_fence", object(AtomicObject::Fence)),
    ("atomic_xchg", Builtin::Atomic(AtomicOp::Xchg, AtomicOp::Xchg)),
    ("atomic_xor", Builtin::Atomic(AtomicOp::Bxor, AtomicOp::Bxor)),
    ("barrier", Builtin::Barrier),
    ("bitselect", each(Function::BitSelect)),
    ("cbrt", math("cbrt")),
    ("ceil", float(Opcode::Fceil)),
    ("clamp", each(Function::Clamp)),
    ("clz", each(Function::LeadingZeros)),
    ("copysign", float(Opcode::Fcopysign)),
    ("cos", math("cos")),
    ("cosh", math("cosh")),
    ("cospi", math("cospi")),
    ("cross", Builtin::Cross),
    ("ctz", each(Function::TrailingZeros)),
    ("degrees", times(180.0 / std::f64::consts::PI)),
    ("distance", Builtin::Distance),
    ("dot", Builtin::Dot),
    ("erf", math("erf")),
    ("erfc", math("erfc")),
    ("exp", math("exp")),
    ("exp10", math("exp10")),
    ("exp2", math("exp2")),
    ("expm1", math("expm1")),
    ("fabs", float(Opcode::Fabs)),
    ("fast_distance", Builtin::Distance),
    ("fast_length", Builtin::Length),
    ("fast_normalize", Builtin::Normalize),
    ("fdim", math("fdim")),
    ("floor", float(Opcode::Ffloor)),
    ("fma", float(Opcode::Fma)),
    ("fmax", float(Opcode::Fmax)),
    ("fmin", float(Opcode::Fmin)),
    ("fmod", math("fmod")),
    ("fract", Builtin::Parts(Parts::Fraction)),
    ("frexp", Builtin::Parts(Parts::Significand)),
    ("get_enqueued_local_size", Builtin::Work(Work::LocalSize)),
    ("get_enqueued_num_sub_groups", Builtin::SubGroup(SubGroup::Count)),
    ("get_global_id", Builtin::Work(Work::GlobalId)),
    ("get_global_linear_id", Builtin::Work(Work::GlobalLinearId)),
    ("get_global_offset", Builtin::Work(Work::Offset)),
    ("get_global_size", Builtin::Work(Work::GlobalSize)),
    ("get_group_id", Builtin::Work(Work::GroupId)),
    ("get_local_id", Builtin::Work(Work::LocalId)),
    ("get_local_linear_id", Builtin::Work(Work::LocalLinearId)),
    ("get_local_size", Builtin::Work(Work::LocalSize)),
    ("get_max_sub_group_size", Builtin::SubGroup(SubGroup::MaxSize)),
    ("get_num_groups", Builtin::Work(Work::Groups)),
    ("get_num_sub_groups", Builtin::SubGroup(SubGroup::Count)),
    ("get_sub_group_id", Builtin::SubGroup(SubGroup::Id)),
    ("get_sub_group_local_id", Builtin::SubGroup(SubGroup::LocalId)),
    ("get_sub_group_size", Builtin::SubGroup(SubGroup::Size)),
    ("get_work_dim", Builtin::Work(Work::Dimensions)),
    ("hadd", each(Function::HalfSum)),
    ("half_cos", fast("fast_cos")),
    ("half_divide", fast("fast_div")),
    ("half_exp", fast("fast_exp")),
    ("half_exp10", fast("fast_exp10")),
    ("half_exp2", fast("fast_exp2")),
    ("half_log", fast("fast_log")),
    ("half_log10", fast("fast_log10")),
    ("half_log2", fast("fast_log2")),
    ("half_powr", fast("fast_pow")),
    ("half_recip", fast("fast_rcp")),
    ("half_rsqrt", fast("fast_rsqrt")),
    ("half_sin", fast("fast_sin")),
    ("half_sqrt", float(Opcode::Fsqrt)),
    ("half_tan", fast("fast_tan")),
    ("hypot", math("hypot")),
    ("ilogb", math("ilogb")),
    ("isequal", is(FloatCC::Eq)),
    ("isfinite", each(Function::Class(0b01_1111_1000))),
    ("isgreater", is(FloatCC::Gt)),
    ("isgreaterequal", is(FloatCC::Ge)),
    ("isinf", each(Function::Class(0b10_0000_0100))),
    ("isless", is(FloatCC::Lt)),
    ("islessequal", is(FloatCC::Le)),
    ("islessgreater", is(FloatCC::Ne)),
    ("isnan", each(Function::Class(0b11))),
    ("isnormal", each(Function::Class(0b01_0000_1000))),
    ("isnotequal", is(FloatCC::Neu)),
    ("isordered", is(FloatCC::Num)),
    ("isunordered", is(FloatCC::Nan)),
    ("ldexp", math("ldexp")),
    ("length", Builtin::Length),
    ("lgamma", math("lgamma")),
    ("lgamma_r", Builtin::Parts(Parts::LogGamma)),
    ("log", math("log")),
    ("log10", math("log10")),
    ("log1p", math("log1p")),
    ("log2", math("log2")),
    ("logb", math("logb")),
    ("mad", each(Function::MultiplyAdd)),
    ("mad24", each(Function::MultiplyAdd)),
    ("mad_hi", each(Function::MultiplyAddHigh)),
    ("mad_sat", each(Function::MultiplyAddSaturating)),
    ("max", each(Function::Greater)),
    ("maxmag", each(Function::GreaterMagnitude)),
    ("mem_fence", Builtin::Fence),
    ("min", each(Function::Less)),
    ("minmag", each(Function::LessMagnitude)),
    ("mix", each(Function::Mix)),
    ("modf", Builtin::Parts(Parts::Whole)),
    ("mul24", each(Function::Multiply)),
    ("mul_hi", each(Function::MultiplyHigh)),
    ("nan", each(Function::NotANumber)),
    ("native_cos", fast("fast_cos")),
    ("native_divide", fast("fast_div")),
    ("native_exp", fast("fast_exp")),
    ("native_exp10", fast("fast_exp10")),
    ("native_exp2", fast("fast_exp2")),
    ("native_log", fast("fast_log")),
    ("native_log10", fast("fast_log10")),
    ("native_log2", fast("fast_log2")),
    ("native_powr", fast("fast_pow")),
    ("native_recip", fast("fast_rcp")),
    ("native_rsqrt", fast("fast_rsqrt")),
    ("native_sin", fast("fast_sin")),
    ("native_sqrt", fast("fast_sqrt")),
    ("native_tan", fast("fast_tan")),
    ("nextafter", math("nextafter")),
    ("normalize", Builtin::Normalize),
    ("popcount", each(Function::CountOnes)),
    ("pow", math("pow")),
    ("pown", math("powi")),
    ("powr", math("pow")),
    ("prefetch", Builtin::Nothing),
    ("radians", times(std::f64::consts::PI / 180.0)),
    ("read_mem_fence", Builtin::Fence),
    ("remainder", math("remainder")),
    ("remquo", Builtin::Parts(Parts::Remainder)),
    ("rhadd", each(Function::HalfSumUp)),
    ("rint", float(Opcode::Fnearest)),
    ("rootn", each(Function::Root)),
    ("rotate", each(Function::Rotate)),
    ("round", float(Opcode::Fround)),
    ("rsqrt", math("rsqrt")),
    ("select", each(Function::Select)),
    ("shuffle", Builtin::Shuffle),
    ("shuffle2", Builtin::Shuffle),
    ("sign", each(Function::Sign)),
    ("signbit", each(Function::SignBit)),
    ("sin", math("sin")),
    ("sincos", Builtin::Parts(Parts::SineAndCosine)),
    ("sinh", math("sinh")),
    ("sinpi", math("sinpi")),
    ("smoothstep", each(Function::Smoothstep)),
    ("sqrt", float(Opcode::Fsqrt)),
    ("step", each(Function::Step)),
    ("sub_group_all", warp(Collective::All)),
    ("sub_group_any", warp(Collective::Any)),
    ("sub_group_barrier", Builtin::SubGroupBarrier),
    ("sub_group_broadcast", warp(Collective::Broadcast)),
    ("sub_group_reduce_add", warp(Collective::Reduce(Combine::Add))),
    ("sub_group_reduce_max", warp(Collective::Reduce(Combine::Max))),
    ("sub_group_reduce_min", warp(Collective::Reduce(Combine::Min))),
    ("sub_group_scan_exclusive_add", warp(Collective::Exclusive(Combine::Add))),
    ("sub_group_scan_exclusive_max", warp(Collective::Exclusive(Combine::Max))),
    ("sub_group_scan_exclusive_min", warp(Collective::Exclusive(Combine::Min))),
    ("sub_group_scan_inclusive_add", warp(Collective::Inclusive(Combine::Add))),
    ("sub_group_scan_inclusive_max", warp(Collective::Inclusive(Combine::Max))),
    ("sub_group_scan_inclusive_min", warp(Collective::Inclusive(Combine::Min))),
    ("sub_sat", each(Function::SubtractSaturating)),
    ("tan", math("tan")),
    ("tanh", math("tanh")),
    ("tanpi", each(Function::TanPi)),
    ("tgamma", math("tgamma")),
    ("trunc", float(Opcode::Ftrunc)),
    ("upsample", each(Function::Join)),
    ("wait_group_events", Builtin::Barrier),
    ("work_group_all", block(Collective::All)),
    ("work_group_any", block(Collective::Any)),
    ("work_group_barrier", Builtin::Barrier),
    ("work_group_broadcast", block(Collective::Broadcast)),
    ("work_group_reduce_add", block(Collective::Reduce(Combine::Add))),
    ("work_group_reduce_max", block(Collective::Reduce(Combine::Max))),
    ("work_group_reduce_min", block(Collective::Reduce(Combine::Min))),
    ("work_group_scan_exclusive_add", block(Collective::Exclusive(Combine::Add))),
    ("work_group_scan_exclusive_max", block(Collective::Exclusive(Combine::Max))),
    ("work_group_scan_exclusive_min", block(Collective::Exclusive(Combine::Min))),
    ("work_group_scan_inclusive_add", block(Collective::Inclusive(Combine::Add))),
    ("work_group_scan_inclusive_max", block(Collective::Inclusive(Combine::Max))),
    ("work_group_scan_inclusive_min", block(Collective::Inclusive(Combine::Min))),
    ("write_mem_fence", Builtin::Fence),
];

#[cfg(test)]
mod tests {
    use super::{Builtin, Function, TABLE};
    use warpsmith_ir::Type;

    #[test]
    fn names_are_in_order() {
        assert!(TABLE.is_sorted_by(|(a, _), (b, _)| a < b), "binary search needs them sorted");
    }

    #[test]
    fn functions_of_the_math_library_are_there() {
        for (name, builtin) in TABLE {
            if let Builtin::Element(Function::Math(of) | Function::Fast(of) | Function::OverPi(of)) = builtin
            {
                assert!(warpsmith_math::Function::new(of, Type::F32).is_some(), "{name}: {of}");
            }
        }
    }
}
