//! The core operations on integers and floats: which function computes each at each type. A `None` is an operation without meaning.

use crate::engine::Width;
use crate::engine::lanes::{LaneFn, portable as vector, scalar};
use crate::semantics::bits::Word;
use crate::semantics::compare::Comparison;
use crate::semantics::convert::{Cvt, Kind};
use crate::semantics::half::{self, After, BF16, F16, Half};
use crate::semantics::integer::Int;
use crate::semantics::soft::Format;
use crate::semantics::{Rounding, double, single};
use warpsmith_ir::{FloatCC, IntCC, Opcode, Scalar, Type};

/// A closure at each integer width.
macro_rules! ints {
    ($make:ident, $ty:expr, |$($a:ident),* $(; $n:ident)?| $body:expr) => {
        match $ty.bits() {
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
        match $ty.bits() {
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
        match $ty.element() {
            _ if $ty.is_vector() => return None,
            Scalar::F32 => vector(|$($a: u32),*| $single),
            Scalar::F64 => vector(|$($a: u64),*| $double),
            Scalar::F16 => { type $h = F16; vector(|$($a: u16),*| $half) }
            Scalar::BF16 => { type $h = BF16; vector(|$($a: u16),*| $half) }
            _ => return None,
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

fn half_sqrt<H: Exact>(a: u16) -> u16 {
    H::FORMAT.sqrt(a.into(), RN).map_or(half::NAN, |bits| bits as u16)
}

fn half_integral<H: Exact>(rounding: Rounding, a: u16) -> u16 {
    Cvt { rounding, integral: true, ..Cvt::new(H::KIND, H::KIND) }.apply(a.into()) as u16
}

/// The function of an operation with one operand.
pub(super) fn unary(op: Opcode, ty: Type) -> Option<LaneFn> {
    const PLAIN: bool = false;
    Some(match op {
        Opcode::Ineg => ints!(vector, ty, |a| a.wrapping_neg()),
        Opcode::Iabs => ints!(vector, ty, |a| a.abs_s()),
        Opcode::Bnot if ty == Type::I1 => vector(|a: bool| !a),
        Opcode::Bnot => ints!(vector, ty, |a| !a),
        Opcode::Popcnt => counts!(ty, |a| a.count_ones()),
        Opcode::Clz => counts!(ty, |a| a.leading_zeros()),
        Opcode::Ctz => counts!(ty, |a| a.trailing_zeros()),
        Opcode::Bitrev => ints!(vector, ty, |a| a.reverse_bits()),
        Opcode::Fneg => {
            floats!(ty, |a| single::neg::<PLAIN>(a), double::neg(a), H => { let _: Option<H> = None; a ^ 0x8000 })
        }
        Opcode::Fabs => {
            floats!(ty, |a| single::abs::<PLAIN>(a), double::abs(a), H => { let _: Option<H> = None; a & 0x7fff })
        }
        Opcode::Fsqrt => {
            floats!(ty, |a| single::sqrt::<PLAIN>(RN, a), double::sqrt(RN, a), H => half_sqrt::<H>(a))
        }
        Opcode::Ffloor => integral::<2>(ty)?,
        Opcode::Fceil => integral::<3>(ty)?,
        Opcode::Ftrunc => integral::<1>(ty)?,
        Opcode::Fnearest => integral::<0>(ty)?,
        _ => return None,
    })
}

/// Rounding to an integral value; the direction as a number, for it is part of the compiled function.
fn integral<const DIRECTION: u8>(ty: Type) -> Option<LaneFn> {
    const fn rounding(direction: u8) -> Rounding {
        match direction {
            0 => Rounding::Nearest,
            1 => Rounding::Zero,
            2 => Rounding::Down,
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

/// The function of an operation with two operands of one type, shifts among them.
pub(super) fn binary(op: Opcode, ty: Type) -> Option<LaneFn> {
    const PLAIN: bool = false;
    if ty == Type::I1 {
        return Some(match op {
            Opcode::Band => vector(|a: bool, b: bool| a & b),
            Opcode::Bor => vector(|a: bool, b: bool| a | b),
            Opcode::Bxor => vector(|a: bool, b: bool| a ^ b),
            _ => return None,
        });
    }
    Some(match op {
        Opcode::Iadd => ints!(vector, ty, |a, b| a.wrapping_add(b)),
        Opcode::Isub => ints!(vector, ty, |a, b| a.wrapping_sub(b)),
        Opcode::Imul => ints!(vector, ty, |a, b| a.wrapping_mul(b)),
        Opcode::Umulhi => ints!(vector, ty, |a, b| a.mul_hi_u(b)),
        Opcode::Smulhi => ints!(vector, ty, |a, b| a.mul_hi_s(b)),
        Opcode::Sdiv => ints!(scalar, ty, |a, b| a.div_s(b)),
        Opcode::Udiv => ints!(scalar, ty, |a, b| a.div_u(b)),
        Opcode::Srem => ints!(scalar, ty, |a, b| a.rem_s(b)),
        Opcode::Urem => ints!(scalar, ty, |a, b| a.rem_u(b)),
        Opcode::Smin => ints!(vector, ty, |a, b| a.min_s(b)),
        Opcode::Smax => ints!(vector, ty, |a, b| a.max_s(b)),
        Opcode::Umin => ints!(vector, ty, |a, b| a.min(b)),
        Opcode::Umax => ints!(vector, ty, |a, b| a.max(b)),
        Opcode::Band => ints!(vector, ty, |a, b| a & b),
        Opcode::Bor => ints!(vector, ty, |a, b| a | b),
        Opcode::Bxor => ints!(vector, ty, |a, b| a ^ b),
        Opcode::Shl => ints!(vector, ty, |a; n| a.shl_clamp(n)),
        Opcode::Lshr => ints!(vector, ty, |a; n| a.shr_u_clamp(n)),
        Opcode::Ashr => ints!(vector, ty, |a; n| a.shr_s_clamp(n)),
        // The host's rotates take the amount modulo the width.
        Opcode::Rotl => ints!(vector, ty, |a; n| a.rotate_left(n)),
        Opcode::Rotr => ints!(vector, ty, |a; n| a.rotate_right(n)),
        Opcode::Fadd => floats!(ty, |a, b| single::add::<PLAIN>(RN, a, b), double::add(RN, a, b),
            H => half::add::<H>(After::default(), a, b)),
        Opcode::Fsub => floats!(ty, |a, b| single::sub::<PLAIN>(RN, a, b), double::sub(RN, a, b),
            H => half::sub::<H>(After::default(), a, b)),
        Opcode::Fmul => floats!(ty, |a, b| single::mul::<PLAIN>(RN, a, b), double::mul(RN, a, b),
            H => half::mul::<H>(After::default(), a, b)),
        Opcode::Fdiv => floats!(ty, |a, b| single::div::<PLAIN>(RN, a, b), double::div(RN, a, b),
            H => half_div::<H>(a, b)),
        Opcode::Fmin => floats!(ty, |a, b| single::min::<PLAIN>(false, a, b), double::min(a, b),
            H => half::min::<H>(PLAIN, false, a, b)),
        Opcode::Fmax => floats!(ty, |a, b| single::max::<PLAIN>(false, a, b), double::max(a, b),
            H => half::max::<H>(PLAIN, false, a, b)),
        // PTX takes the sign from the first operand, the IR from the second.
        Opcode::Fcopysign => floats!(ty, |a, b| single::copysign(b, a), double::copysign(b, a),
            H => { let _: Option<H> = None; a & 0x7fff | b & 0x8000 }),
        _ => return None,
    })
}

/// `fma`
pub(super) fn fma(ty: Type) -> Option<LaneFn> {
    Some(floats!(ty, |a, b, c| single::fma::<false>(RN, a, b, c), double::fma(RN, a, b, c),
        H => half::fma::<H>(After::default(), a, b, c)))
}

/// `select`, of registers of one width.
pub(super) fn select(width: Width) -> LaneFn {
    match width {
        Width::Pred => vector(|c: bool, a: bool, b: bool| if c { a } else { b }),
        Width::W32 => vector(|c: bool, a: u32, b: u32| if c { a } else { b }),
        Width::W64 => vector(|c: bool, a: u64, b: u64| if c { a } else { b }),
        Width::W128 => vector(|c: bool, a: u128, b: u128| if c { a } else { b }),
    }
}

/// `icmp`
pub(super) fn integer_compare(cond: IntCC, ty: Type) -> Option<LaneFn> {
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
