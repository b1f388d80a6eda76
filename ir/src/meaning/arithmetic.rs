//! Arithmetic, comparison and selection: which function computes each operation at each type. A `None` is an operation without meaning.

use super::convert::float_kind;
use crate::classes::{FloatBinary, FloatUnary, IntBinary, IntUnary};
use crate::{FloatCC, IntCC, Type};
use warpsmith_semantics::Width;
use warpsmith_semantics::lanes::{LaneFn, portable as vector, scalar};
use warpsmith_semantics::value::bits::Word;
use warpsmith_semantics::value::compare::Comparison;
use warpsmith_semantics::value::convert::{Cvt, Kind};
use warpsmith_semantics::value::half::{self, After, BF16, F16, Half};
use warpsmith_semantics::value::integer::Int;
use warpsmith_semantics::value::soft::Format;
use warpsmith_semantics::value::{Rounding, double, single};

/// A closure at each integer width.
macro_rules! ints {
    ($make:ident, $ty:expr, |$($a:ident),* $(; $n:ident)?| $body:expr) => {
        match if $ty.is_vector() { 0 } else { $ty.bits() } {
            8 => $make(|$($a: u8),* $(, $n: u32)?| $body),
            16 => $make(|$($a: u16),* $(, $n: u32)?| $body),
            32 => $make(|$($a: u32),* $(, $n: u32)?| $body),
            64 => $make(|$($a: u64),* $(, $n: u32)?| $body),
            _ => return None,
        }
    };
}

/// A closure whose result has the type of its first operand, for counts.
macro_rules! counts {
    ($ty:expr, |$a:ident| $body:expr) => {
        match if $ty.is_vector() { 0 } else { $ty.bits() } {
            8 => vector(|$a: u8| $body as u8),
            16 => vector(|$a: u16| $body as u16),
            32 => vector(|$a: u32| $body),
            64 => vector(|$a: u64| u64::from($body)),
            _ => return None,
        }
    };
}

/// A closure for each float format: f16 and bf16 share one, with `H` for the format.
macro_rules! floats {
    ($ty:expr, |$($a:ident),*| $single:expr, $double:expr, $h:ident => $half:expr) => {
        match float_kind($ty)? {
            Kind::F32 => vector(|$($a: u32),*| $single),
            Kind::F64 => vector(|$($a: u64),*| $double),
            Kind::F16 => { type $h = F16; vector(|$($a: u16),*| $half) }
            Kind::Bf16 => { type $h = BF16; vector(|$($a: u16),*| $half) }
            Kind::Tf32 | Kind::Unsigned(_) | Kind::Signed(_) => return None,
        }
    };
    // An operation on signs, which both 16-bit formats share.
    ($ty:expr, |$($a:ident),*| $single:expr, $double:expr, $half:expr) => {
        match float_kind($ty)? {
            Kind::F32 => vector(|$($a: u32),*| $single),
            Kind::F64 => vector(|$($a: u64),*| $double),
            Kind::F16 | Kind::Bf16 => vector(|$($a: u16),*| $half),
            Kind::Tf32 | Kind::Unsigned(_) | Kind::Signed(_) => return None,
        }
    };
}

const RN: Rounding = Rounding::Nearest;

/// The format of a 16-bit float for exact arithmetic.
trait Exact: Half {
    const FORMAT: Format;
    const KIND: Kind;
}
impl Exact for F16 {
    const FORMAT: Format = Format::F16;
    const KIND: Kind = Kind::F16;
}
impl Exact for BF16 {
    const FORMAT: Format = Format::BF16;
    const KIND: Kind = Kind::Bf16;
}

fn half_div<H: Exact>(a: u16, b: u16) -> u16 {
    H::FORMAT.div(a.into(), b.into(), RN, false).map_or(half::NAN, |bits| bits as u16)
}

/// What is left has no more bits than the operands, so that it is exact in their format.
fn half_rem<H: Exact>(a: u16, b: u16) -> u16 {
    Cvt::new(H::KIND, Kind::F32).apply((H::widen(a) % H::widen(b)).to_bits().into()) as u16
}

fn half_sqrt<H: Exact>(a: u16) -> u16 {
    H::FORMAT.sqrt(a.into(), RN).map_or(half::NAN, |bits| bits as u16)
}

/// A half is exact in `f32`, and so is what it rounds to.
fn half_round<H: Exact>(a: u16) -> u16 {
    Cvt::new(H::KIND, Kind::F32).apply(H::widen(a).round().to_bits().into()) as u16
}

/// The lesser operand, -0 being less than +0; NaN if one is NaN.
fn double_minimum(a: u64, b: u64) -> u64 {
    let is_nan = |x: u64| f64::from_bits(x).is_nan();
    if is_nan(a) || is_nan(b) { f64::NAN.to_bits() } else { double::min(a, b) }
}

fn double_maximum(a: u64, b: u64) -> u64 {
    let is_nan = |x: u64| f64::from_bits(x).is_nan();
    if is_nan(a) || is_nan(b) { f64::NAN.to_bits() } else { double::max(a, b) }
}

fn half_integral<H: Exact>(rounding: Rounding, a: u16) -> u16 {
    Cvt { rounding, integral: true, ..Cvt::new(H::KIND, H::KIND) }.apply(a.into()) as u16
}

/// The function of an operation on one integer.
pub(super) fn int_unary(op: IntUnary, ty: Type) -> Option<LaneFn> {
    Some(match op {
        IntUnary::Ineg => ints!(vector, ty, |a| a.wrapping_neg()),
        IntUnary::Iabs => ints!(vector, ty, |a| a.abs_s()),
        IntUnary::Bnot if ty == Type::I1 => vector(|a: bool| !a),
        IntUnary::Bnot => ints!(vector, ty, |a| !a),
        IntUnary::Popcnt => counts!(ty, |a| a.count_ones()),
        IntUnary::Clz => counts!(ty, |a| a.leading_zeros()),
        IntUnary::Ctz => counts!(ty, |a| a.trailing_zeros()),
        IntUnary::Bitrev => ints!(vector, ty, |a| a.reverse_bits()),
        IntUnary::Bswap => ints!(vector, ty, |a| a.swap_bytes()),
    })
}

/// The function of an operation on one float.
pub(super) fn float_unary(op: FloatUnary, ty: Type) -> Option<LaneFn> {
    const PLAIN: bool = false;
    Some(match op {
        FloatUnary::Fneg => floats!(ty, |a| single::neg::<PLAIN>(a), double::neg(a), a ^ 0x8000),
        FloatUnary::Fabs => floats!(ty, |a| single::abs::<PLAIN>(a), double::abs(a), a & 0x7fff),
        FloatUnary::Fsqrt => {
            floats!(ty, |a| single::sqrt::<PLAIN>(RN, a), double::sqrt(RN, a), H => half_sqrt::<H>(a))
        }
        FloatUnary::Ffloor => integral::<DOWN>(ty)?,
        FloatUnary::Fceil => integral::<UP>(ty)?,
        FloatUnary::Ftrunc => integral::<ZERO>(ty)?,
        FloatUnary::Fnearest => integral::<NEAREST>(ty)?,
        FloatUnary::Fround => floats!(ty,
            |a| f32::from_bits(a).round().to_bits(),
            f64::from_bits(a).round().to_bits(),
            H => half_round::<H>(a)),
        // PTX has approximations of these, which are asked for by name.
        FloatUnary::Frsqrt
        | FloatUnary::Frcp
        | FloatUnary::Fsin
        | FloatUnary::Fcos
        | FloatUnary::Fexp2
        | FloatUnary::Flog2
        | FloatUnary::Ftanh => return None,
    })
}

/// The directions of [`integral`].
const NEAREST: u8 = 0;
const ZERO: u8 = 1;
const DOWN: u8 = 2;
const UP: u8 = 3;

/// Rounding to an integral value; the direction as a number, for it is part of the compiled function.
fn integral<const DIRECTION: u8>(ty: Type) -> Option<LaneFn> {
    const fn rounding(direction: u8) -> Rounding {
        match direction {
            NEAREST => Rounding::Nearest,
            ZERO => Rounding::Zero,
            DOWN => Rounding::Down,
            _ => Rounding::Up,
        }
    }
    Some(floats!(
        ty,
        |a| single::round_to_integer(rounding(DIRECTION), a),
        double::round_to_integer(rounding(DIRECTION), a),
        H => half_integral::<H>(rounding(DIRECTION), a)
    ))
}

/// The function of an operation on two integers, shifts among them.
pub(super) fn int_binary(op: IntBinary, ty: Type) -> Option<LaneFn> {
    Some(match op {
        IntBinary::Band if ty == Type::I1 => vector(|a: bool, b: bool| a & b),
        IntBinary::Bor if ty == Type::I1 => vector(|a: bool, b: bool| a | b),
        IntBinary::Bxor if ty == Type::I1 => vector(|a: bool, b: bool| a ^ b),
        IntBinary::Iadd => ints!(vector, ty, |a, b| a.wrapping_add(b)),
        IntBinary::Isub => ints!(vector, ty, |a, b| a.wrapping_sub(b)),
        IntBinary::Imul => ints!(vector, ty, |a, b| a.wrapping_mul(b)),
        IntBinary::Umulhi => ints!(vector, ty, |a, b| a.mul_hi_u(b)),
        IntBinary::Smulhi => ints!(vector, ty, |a, b| a.mul_hi_s(b)),
        IntBinary::Sdiv => ints!(scalar, ty, |a, b| a.div_s(b)),
        IntBinary::Udiv => ints!(scalar, ty, |a, b| a.div_u(b)),
        IntBinary::Srem => ints!(scalar, ty, |a, b| a.rem_s(b)),
        IntBinary::Urem => ints!(scalar, ty, |a, b| a.rem_u(b)),
        IntBinary::Smin => ints!(vector, ty, |a, b| a.min_s(b)),
        IntBinary::Smax => ints!(vector, ty, |a, b| a.max_s(b)),
        IntBinary::Umin => ints!(vector, ty, |a, b| a.min(b)),
        IntBinary::Umax => ints!(vector, ty, |a, b| a.max(b)),
        IntBinary::Band => ints!(vector, ty, |a, b| a & b),
        IntBinary::Bor => ints!(vector, ty, |a, b| a | b),
        IntBinary::Bxor => ints!(vector, ty, |a, b| a ^ b),
        IntBinary::Shl => ints!(vector, ty, |a; n| a.shl_clamp(n)),
        IntBinary::Lshr => ints!(vector, ty, |a; n| a.shr_u_clamp(n)),
        IntBinary::Ashr => ints!(vector, ty, |a; n| a.shr_s_clamp(n)),
        // The host's rotates take the amount modulo the width.
        IntBinary::Rotl => ints!(vector, ty, |a; n| a.rotate_left(n)),
        IntBinary::Rotr => ints!(vector, ty, |a; n| a.rotate_right(n)),
        // At any width by one function.
        IntBinary::UaddSat
        | IntBinary::SaddSat
        | IntBinary::UsubSat
        | IntBinary::SsubSat
        | IntBinary::UshlSat
        | IntBinary::SshlSat => return None,
    })
}

/// The function of an operation on two floats.
pub(super) fn float_binary(op: FloatBinary, ty: Type) -> Option<LaneFn> {
    const PLAIN: bool = false;
    Some(match op {
        FloatBinary::Fadd => floats!(ty, |a, b| single::add::<PLAIN>(RN, a, b), double::add(RN, a, b),
            H => half::add::<H>(After::default(), a, b)),
        FloatBinary::Fsub => floats!(ty, |a, b| single::sub::<PLAIN>(RN, a, b), double::sub(RN, a, b),
            H => half::sub::<H>(After::default(), a, b)),
        FloatBinary::Fmul => floats!(ty, |a, b| single::mul::<PLAIN>(RN, a, b), double::mul(RN, a, b),
            H => half::mul::<H>(After::default(), a, b)),
        FloatBinary::Fdiv => floats!(ty, |a, b| single::div::<PLAIN>(RN, a, b), double::div(RN, a, b),
            H => half_div::<H>(a, b)),
        FloatBinary::Frem => floats!(ty, |a, b| (f32::from_bits(a) % f32::from_bits(b)).to_bits(),
            (f64::from_bits(a) % f64::from_bits(b)).to_bits(), H => half_rem::<H>(a, b)),
        FloatBinary::Fmin => floats!(ty, |a, b| single::min::<PLAIN>(false, a, b), double::min(a, b),
            H => half::min::<H>(PLAIN, false, a, b)),
        FloatBinary::Fmax => floats!(ty, |a, b| single::max::<PLAIN>(false, a, b), double::max(a, b),
            H => half::max::<H>(PLAIN, false, a, b)),
        FloatBinary::Fminimum => floats!(ty, |a, b| single::min::<PLAIN>(true, a, b), double_minimum(a, b),
            H => half::min::<H>(PLAIN, true, a, b)),
        FloatBinary::Fmaximum => floats!(ty, |a, b| single::max::<PLAIN>(true, a, b), double_maximum(a, b),
            H => half::max::<H>(PLAIN, true, a, b)),
        // PTX takes the sign from the first operand, the IR from the second.
        FloatBinary::Fcopysign => {
            floats!(ty, |a, b| single::copysign(b, a), double::copysign(b, a), a & 0x7fff | b & 0x8000)
        }
    })
}

/// `fma`
pub(super) fn fma(ty: Type) -> Option<LaneFn> {
    Some(floats!(ty, |a, b, c| single::fma::<false>(RN, a, b, c), double::fma(RN, a, b, c),
        H => half::fma::<H>(After::default(), a, b, c)))
}

/// `select`, of registers of one width: the predicate is the first argument.
pub fn select(width: Width) -> LaneFn {
    match width {
        Width::Pred => vector(|c: bool, a: bool, b: bool| if c { a } else { b }),
        Width::W32 => vector(|c: bool, a: u32, b: u32| if c { a } else { b }),
        Width::W64 => vector(|c: bool, a: u64, b: u64| if c { a } else { b }),
        Width::W128 => vector(|c: bool, a: u128, b: u128| if c { a } else { b }),
    }
}

/// `icmp`
pub(super) fn integer_compare(cond: IntCC, ty: Type) -> Option<LaneFn> {
    if ty.is_vector() {
        return None;
    }
    if ty == Type::I1 {
        // As a signed number true is -1.
        return Some(match cond {
            IntCC::Eq => vector(|a: bool, b: bool| a == b),
            IntCC::Ne => vector(|a: bool, b: bool| a != b),
            IntCC::Slt | IntCC::Ugt => vector(|a: bool, b: bool| a & !b),
            IntCC::Sle | IntCC::Uge => vector(|a: bool, b: bool| a | !b),
            IntCC::Sgt | IntCC::Ult => vector(|a: bool, b: bool| !a & b),
            IntCC::Sge | IntCC::Ule => vector(|a: bool, b: bool| !a | b),
        });
    }
    macro_rules! at {
        ($u:ty, $i:ty) => {
            match cond {
                IntCC::Eq => vector(|a: $u, b: $u| a == b),
                IntCC::Ne => vector(|a: $u, b: $u| a != b),
                IntCC::Slt => vector(|a: $i, b: $i| a < b),
                IntCC::Sle => vector(|a: $i, b: $i| a <= b),
                IntCC::Sgt => vector(|a: $i, b: $i| a > b),
                IntCC::Sge => vector(|a: $i, b: $i| a >= b),
                IntCC::Ult => vector(|a: $u, b: $u| a < b),
                IntCC::Ule => vector(|a: $u, b: $u| a <= b),
                IntCC::Ugt => vector(|a: $u, b: $u| a > b),
                IntCC::Uge => vector(|a: $u, b: $u| a >= b),
            }
        };
    }
    Some(match ty.bits() {
        8 => at!(u8, i8),
        16 => at!(u16, i16),
        32 => at!(u32, i32),
        64 => at!(u64, i64),
        _ => return None,
    })
}

/// `fcmp`
pub(super) fn float_compare(cond: FloatCC, ty: Type) -> Option<LaneFn> {
    macro_rules! at {
        ($($variant:ident)*) => {
            match cond {
                $(FloatCC::$variant => {
                    const C: Comparison = Comparison::$variant;
                    floats!(ty, |a, b| C.single::<false>(a, b), C.double(a, b), H => C.half::<H>(false, a, b))
                })*
            }
        };
    }
    Some(at!(Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan))
}
