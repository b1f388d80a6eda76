//! OpenCL's built-in functions by name.

use super::kinds::{
    AtomicObject, Ballot, Builtin, Clock, Collective, Combine, DotBytes, Exchange, Factor, Function, Group,
    LaneMask, Parts, SubGroup, Work,
};
use warpsmith_ir::{AtomicOp, FloatCC, Opcode};
use warpsmith_isa::StateSpace;

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

const fn active(what: Collective) -> Builtin {
    Builtin::Collective(Group::Active, what)
}

const fn exchange(exchange: Exchange) -> Builtin {
    Builtin::Exchange(exchange)
}

const fn dot_bytes(packed: Option<[bool; 2]>, accumulates: bool) -> Builtin {
    Builtin::DotBytes(DotBytes { packed, accumulates })
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
    ("bit_reverse", each(Function::ReverseBits)),
    ("bitfield_extract_signed", each(Function::ExtractBits { signed: true })),
    ("bitfield_extract_unsigned", each(Function::ExtractBits { signed: false })),
    ("bitfield_insert", each(Function::InsertBits)),
    ("bitselect", each(Function::BitSelect)),
    ("cbrt", math("cbrt")),
    ("ceil", float(Opcode::Fceil)),
    ("clamp", each(Function::Clamp)),
    ("clock_read_device", Builtin::Clock(Clock::Device)),
    ("clock_read_hilo_device", Builtin::Clock(Clock::Device)),
    ("clock_read_hilo_sub_group", Builtin::Clock(Clock::Group)),
    ("clock_read_hilo_work_group", Builtin::Clock(Clock::Group)),
    ("clock_read_sub_group", Builtin::Clock(Clock::Group)),
    ("clock_read_work_group", Builtin::Clock(Clock::Group)),
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
    ("dot_4x8packed_ss_int", dot_bytes(Some([true, true]), false)),
    ("dot_4x8packed_su_int", dot_bytes(Some([true, false]), false)),
    ("dot_4x8packed_us_int", dot_bytes(Some([false, true]), false)),
    ("dot_4x8packed_uu_uint", dot_bytes(Some([false, false]), false)),
    ("dot_acc_sat", dot_bytes(None, true)),
    ("dot_acc_sat_4x8packed_ss_int", dot_bytes(Some([true, true]), true)),
    ("dot_acc_sat_4x8packed_su_int", dot_bytes(Some([true, false]), true)),
    ("dot_acc_sat_4x8packed_us_int", dot_bytes(Some([false, true]), true)),
    ("dot_acc_sat_4x8packed_uu_uint", dot_bytes(Some([false, false]), true)),
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
    ("get_fence", Builtin::FenceOf),
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
    ("get_sub_group_eq_mask", Builtin::LaneMask(LaneMask::Eq)),
    ("get_sub_group_ge_mask", Builtin::LaneMask(LaneMask::Ge)),
    ("get_sub_group_gt_mask", Builtin::LaneMask(LaneMask::Gt)),
    ("get_sub_group_id", Builtin::SubGroup(SubGroup::Id)),
    ("get_sub_group_le_mask", Builtin::LaneMask(LaneMask::Le)),
    ("get_sub_group_local_id", Builtin::SubGroup(SubGroup::LocalId)),
    ("get_sub_group_lt_mask", Builtin::LaneMask(LaneMask::Lt)),
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
    ("intel_sub_group_shuffle", exchange(Exchange::At)),
    ("intel_sub_group_shuffle_down", exchange(Exchange::DownInto)),
    ("intel_sub_group_shuffle_up", exchange(Exchange::UpInto)),
    ("intel_sub_group_shuffle_xor", exchange(Exchange::Xor)),
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
    ("sub_group_ballot", Builtin::Ballot(Ballot::Take)),
    ("sub_group_ballot_bit_count", Builtin::Ballot(Ballot::Count)),
    ("sub_group_ballot_bit_extract", Builtin::Ballot(Ballot::Bit)),
    ("sub_group_ballot_exclusive_scan", Builtin::Ballot(Ballot::Exclusive)),
    ("sub_group_ballot_find_lsb", Builtin::Ballot(Ballot::Lowest)),
    ("sub_group_ballot_find_msb", Builtin::Ballot(Ballot::Highest)),
    ("sub_group_ballot_inclusive_scan", Builtin::Ballot(Ballot::Inclusive)),
    ("sub_group_barrier", Builtin::SubGroupBarrier),
    ("sub_group_broadcast", exchange(Exchange::Uniform)),
    ("sub_group_broadcast_first", exchange(Exchange::First)),
    ("sub_group_clustered_reduce_add", Builtin::Cluster(Combine::Add)),
    ("sub_group_clustered_reduce_and", Builtin::Cluster(Combine::And)),
    ("sub_group_clustered_reduce_logical_and", Builtin::Cluster(Combine::LogicalAnd)),
    ("sub_group_clustered_reduce_logical_or", Builtin::Cluster(Combine::LogicalOr)),
    ("sub_group_clustered_reduce_logical_xor", Builtin::Cluster(Combine::LogicalXor)),
    ("sub_group_clustered_reduce_max", Builtin::Cluster(Combine::Max)),
    ("sub_group_clustered_reduce_min", Builtin::Cluster(Combine::Min)),
    ("sub_group_clustered_reduce_mul", Builtin::Cluster(Combine::Multiply)),
    ("sub_group_clustered_reduce_or", Builtin::Cluster(Combine::Or)),
    ("sub_group_clustered_reduce_xor", Builtin::Cluster(Combine::Xor)),
    ("sub_group_clustered_rotate", exchange(Exchange::RotateCluster)),
    ("sub_group_elect", Builtin::Elect),
    ("sub_group_inverse_ballot", Builtin::Ballot(Ballot::Own)),
    ("sub_group_non_uniform_all", active(Collective::All)),
    ("sub_group_non_uniform_all_equal", Builtin::AllEqual),
    ("sub_group_non_uniform_any", active(Collective::Any)),
    ("sub_group_non_uniform_broadcast", exchange(Exchange::At)),
    ("sub_group_non_uniform_reduce_add", active(Collective::Reduce(Combine::Add))),
    ("sub_group_non_uniform_reduce_and", active(Collective::Reduce(Combine::And))),
    ("sub_group_non_uniform_reduce_logical_and", active(Collective::Reduce(Combine::LogicalAnd))),
    ("sub_group_non_uniform_reduce_logical_or", active(Collective::Reduce(Combine::LogicalOr))),
    ("sub_group_non_uniform_reduce_logical_xor", active(Collective::Reduce(Combine::LogicalXor))),
    ("sub_group_non_uniform_reduce_max", active(Collective::Reduce(Combine::Max))),
    ("sub_group_non_uniform_reduce_min", active(Collective::Reduce(Combine::Min))),
    ("sub_group_non_uniform_reduce_mul", active(Collective::Reduce(Combine::Multiply))),
    ("sub_group_non_uniform_reduce_or", active(Collective::Reduce(Combine::Or))),
    ("sub_group_non_uniform_reduce_xor", active(Collective::Reduce(Combine::Xor))),
    ("sub_group_non_uniform_scan_exclusive_add", active(Collective::Exclusive(Combine::Add))),
    ("sub_group_non_uniform_scan_exclusive_and", active(Collective::Exclusive(Combine::And))),
    ("sub_group_non_uniform_scan_exclusive_logical_and", active(Collective::Exclusive(Combine::LogicalAnd))),
    ("sub_group_non_uniform_scan_exclusive_logical_or", active(Collective::Exclusive(Combine::LogicalOr))),
    ("sub_group_non_uniform_scan_exclusive_logical_xor", active(Collective::Exclusive(Combine::LogicalXor))),
    ("sub_group_non_uniform_scan_exclusive_max", active(Collective::Exclusive(Combine::Max))),
    ("sub_group_non_uniform_scan_exclusive_min", active(Collective::Exclusive(Combine::Min))),
    ("sub_group_non_uniform_scan_exclusive_mul", active(Collective::Exclusive(Combine::Multiply))),
    ("sub_group_non_uniform_scan_exclusive_or", active(Collective::Exclusive(Combine::Or))),
    ("sub_group_non_uniform_scan_exclusive_xor", active(Collective::Exclusive(Combine::Xor))),
    ("sub_group_non_uniform_scan_inclusive_add", active(Collective::Inclusive(Combine::Add))),
    ("sub_group_non_uniform_scan_inclusive_and", active(Collective::Inclusive(Combine::And))),
    ("sub_group_non_uniform_scan_inclusive_logical_and", active(Collective::Inclusive(Combine::LogicalAnd))),
    ("sub_group_non_uniform_scan_inclusive_logical_or", active(Collective::Inclusive(Combine::LogicalOr))),
    ("sub_group_non_uniform_scan_inclusive_logical_xor", active(Collective::Inclusive(Combine::LogicalXor))),
    ("sub_group_non_uniform_scan_inclusive_max", active(Collective::Inclusive(Combine::Max))),
    ("sub_group_non_uniform_scan_inclusive_min", active(Collective::Inclusive(Combine::Min))),
    ("sub_group_non_uniform_scan_inclusive_mul", active(Collective::Inclusive(Combine::Multiply))),
    ("sub_group_non_uniform_scan_inclusive_or", active(Collective::Inclusive(Combine::Or))),
    ("sub_group_non_uniform_scan_inclusive_xor", active(Collective::Inclusive(Combine::Xor))),
    ("sub_group_reduce_add", warp(Collective::Reduce(Combine::Add))),
    ("sub_group_reduce_max", warp(Collective::Reduce(Combine::Max))),
    ("sub_group_reduce_min", warp(Collective::Reduce(Combine::Min))),
    ("sub_group_rotate", exchange(Exchange::Rotate)),
    ("sub_group_scan_exclusive_add", warp(Collective::Exclusive(Combine::Add))),
    ("sub_group_scan_exclusive_max", warp(Collective::Exclusive(Combine::Max))),
    ("sub_group_scan_exclusive_min", warp(Collective::Exclusive(Combine::Min))),
    ("sub_group_scan_inclusive_add", warp(Collective::Inclusive(Combine::Add))),
    ("sub_group_scan_inclusive_max", warp(Collective::Inclusive(Combine::Max))),
    ("sub_group_scan_inclusive_min", warp(Collective::Inclusive(Combine::Min))),
    ("sub_group_shuffle", exchange(Exchange::At)),
    ("sub_group_shuffle_down", exchange(Exchange::Down)),
    ("sub_group_shuffle_up", exchange(Exchange::Up)),
    ("sub_group_shuffle_xor", exchange(Exchange::Xor)),
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
    ("work_group_reduce_and", block(Collective::Reduce(Combine::And))),
    ("work_group_reduce_logical_and", block(Collective::Reduce(Combine::LogicalAnd))),
    ("work_group_reduce_logical_or", block(Collective::Reduce(Combine::LogicalOr))),
    ("work_group_reduce_logical_xor", block(Collective::Reduce(Combine::LogicalXor))),
    ("work_group_reduce_max", block(Collective::Reduce(Combine::Max))),
    ("work_group_reduce_min", block(Collective::Reduce(Combine::Min))),
    ("work_group_reduce_mul", block(Collective::Reduce(Combine::Multiply))),
    ("work_group_reduce_or", block(Collective::Reduce(Combine::Or))),
    ("work_group_reduce_xor", block(Collective::Reduce(Combine::Xor))),
    ("work_group_scan_exclusive_add", block(Collective::Exclusive(Combine::Add))),
    ("work_group_scan_exclusive_and", block(Collective::Exclusive(Combine::And))),
    ("work_group_scan_exclusive_logical_and", block(Collective::Exclusive(Combine::LogicalAnd))),
    ("work_group_scan_exclusive_logical_or", block(Collective::Exclusive(Combine::LogicalOr))),
    ("work_group_scan_exclusive_logical_xor", block(Collective::Exclusive(Combine::LogicalXor))),
    ("work_group_scan_exclusive_max", block(Collective::Exclusive(Combine::Max))),
    ("work_group_scan_exclusive_min", block(Collective::Exclusive(Combine::Min))),
    ("work_group_scan_exclusive_mul", block(Collective::Exclusive(Combine::Multiply))),
    ("work_group_scan_exclusive_or", block(Collective::Exclusive(Combine::Or))),
    ("work_group_scan_exclusive_xor", block(Collective::Exclusive(Combine::Xor))),
    ("work_group_scan_inclusive_add", block(Collective::Inclusive(Combine::Add))),
    ("work_group_scan_inclusive_and", block(Collective::Inclusive(Combine::And))),
    ("work_group_scan_inclusive_logical_and", block(Collective::Inclusive(Combine::LogicalAnd))),
    ("work_group_scan_inclusive_logical_or", block(Collective::Inclusive(Combine::LogicalOr))),
    ("work_group_scan_inclusive_logical_xor", block(Collective::Inclusive(Combine::LogicalXor))),
    ("work_group_scan_inclusive_max", block(Collective::Inclusive(Combine::Max))),
    ("work_group_scan_inclusive_min", block(Collective::Inclusive(Combine::Min))),
    ("work_group_scan_inclusive_mul", block(Collective::Inclusive(Combine::Multiply))),
    ("work_group_scan_inclusive_or", block(Collective::Inclusive(Combine::Or))),
    ("work_group_scan_inclusive_xor", block(Collective::Inclusive(Combine::Xor))),
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
