//! f32, f64, f32x2 and mixed precision (manual 9.7.3 and 9.7.5).

use super::types::Number;
use super::{Approximations, Plan, Written, mixed, rounding, sources};
use crate::lanes::{LaneFn, fused, scalar, vector, wide};
use crate::value::half::{BF16, F16, Half, to_single};
use crate::value::packed::map2_32;
use crate::value::{Rounding, approx, double, single, special};
use warpsmith_isa::{Instruction, Mod};

/// Rounding, `.ftz` and `.sat` as a number, for the forms that are rare enough to decide them while running.
#[derive(Clone, Copy)]
struct Mode(u32);

impl Mode {
    fn of(i: &Instruction) -> Option<Mode> {
        Some(Mode(rounding(i)? as u32 | (i.has(Mod::Ftz) as u32) << 8 | (i.has(Mod::Sat) as u32) << 9))
    }

    #[inline(always)]
    fn rounding(self) -> Rounding {
        match self.0 & 0xff {
            0 => Rounding::Nearest,
            1 => Rounding::Zero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            _ => Rounding::NearestAway,
        }
    }

    #[inline(always)]
    fn ftz(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// `.sat`, applied to a result.
    #[inline(always)]
    fn sat(self, bits: u32) -> u32 {
        if self.0 & 0x200 != 0 { single::saturate(bits) } else { bits }
    }
}

/// An f32 operation: the common forms compiled apart, the others by their mode.
macro_rules! single_op {
    ($i:expr, $module:ident::$op:ident, |$($a:ident),*|) => {{
        let mode = Mode::of($i)?;
        match mode.0 {
            0 => Plan::simple(wide(|$($a: u32),*| $module::$op::<false>(Rounding::Nearest, $($a),*))),
            0x100 => Plan::simple(wide(|$($a: u32),*| $module::$op::<true>(Rounding::Nearest, $($a),*))),
            _ => Plan::with_constants(
                scalar(|$($a: u32,)* mode: u32| {
                    let mode = Mode(mode);
                    let rounding = mode.rounding();
                    mode.sat(if mode.ftz() {
                        $module::$op::<true>(rounding, $($a),*)
                    } else {
                        $module::$op::<false>(rounding, $($a),*)
                    })
                }),
                &[mode.0.into()],
            ),
        }
    }};
}

/// An f32x2 operation.
macro_rules! pair_op {
    ($i:expr, $module:ident::$op:ident, |$($a:ident),*|) => {{
        let mode = Mode::of($i)?;
        match mode.0 {
            0 => Plan::simple(vector(|$($a: u64),*| {
                map2_32([$($a),*], |[$($a),*]| $module::$op::<false>(Rounding::Nearest, $($a),*))
            })),
            _ => Plan::with_constants(
                scalar(|$($a: u64,)* mode: u32| {
                    let mode = Mode(mode);
                    let rounding = mode.rounding();
                    map2_32([$($a),*], |[$($a),*]| {
                        if mode.ftz() {
                            $module::$op::<true>(rounding, $($a),*)
                        } else {
                            $module::$op::<false>(rounding, $($a),*)
                        }
                    })
                }),
                &[mode.0.into()],
            ),
        }
    }};
}

/// An f64 operation: to nearest, or in the direction of the mode.
macro_rules! double_op {
    ($i:expr, $module:ident::$op:ident, |$($a:ident),*|) => {{
        let rounding = rounding($i)?;
        if rounding == Rounding::Nearest {
            Plan::simple(wide(|$($a: u64),*| $module::$op(Rounding::Nearest, $($a),*)))
        } else {
            Plan::with_constants(
                scalar(|$($a: u64,)* mode: u32| $module::$op(Mode(mode).rounding(), $($a),*)),
                &[rounding as u64],
            )
        }
    }};
}

/// The two instances of a function with and without `.ftz`.
macro_rules! by_ftz {
    ($i:expr, $make:ident, $module:ident::$op:ident, |$($a:ident),*|) => {
        Plan::simple(if $i.has(Mod::Ftz) {
            $make(|$($a: u32),*| $module::$op::<true>($($a),*))
        } else {
            $make(|$($a: u32),*| $module::$op::<false>($($a),*))
        })
    };
}

/// The types that float arithmetic comes in.
enum Format {
    F32,
    F64,
    F32x2,
}

fn format(i: &Instruction) -> Option<Format> {
    match Number::of(i.ty()?) {
        Number::F32 => Some(Format::F32),
        Number::F64 => Some(Format::F64),
        Number::F32x2 => Some(Format::F32x2),
        Number::Pred
        | Number::Unsigned(_)
        | Number::Signed(_)
        | Number::PackedUnsigned
        | Number::PackedSigned
        | Number::UnsignedBytes
        | Number::SignedBytes
        | Number::F16
        | Number::BF16
        | Number::F16x2
        | Number::BF16x2
        | Number::Other => None,
    }
}

pub(crate) fn add(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => single_op!(i, single::add, |a, b|),
        Format::F64 => double_op!(i, double::add, |a, b|),
        Format::F32x2 => pair_op!(i, single::add, |a, b|),
    })
}

pub(crate) fn sub(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => single_op!(i, single::sub, |a, b|),
        Format::F64 => double_op!(i, double::sub, |a, b|),
        Format::F32x2 => pair_op!(i, single::sub, |a, b|),
    })
}

pub(crate) fn mul(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => single_op!(i, single::mul, |a, b|),
        Format::F64 => double_op!(i, double::mul, |a, b|),
        Format::F32x2 => pair_op!(i, single::mul, |a, b|),
    })
}

/// `fma`, and `mad` of floats.
pub(crate) fn fma(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 if Mode::of(i)?.0 == 0 => {
            let soft = |a: u32, b: u32, c: u32| single::fma::<false>(Rounding::Nearest, a, b, c);
            Plan::simple(fused(single::fma_fused, soft))
        }
        Format::F32 => single_op!(i, single::fma, |a, b, c|),
        Format::F64 => double_op!(i, double::fma, |a, b, c|),
        Format::F32x2 => pair_op!(i, single::fma, |a, b, c|),
    })
}

/// An approximate operation of f32, as the user wants them.
macro_rules! approximate {
    ($i:expr, $written:expr, $make:ident, $op:ident, |$($a:ident),*|) => {
        match $written.approximations {
            Approximations::Rounded => by_ftz!($i, $make, approx::$op, |$($a),*|),
            Approximations::Hardware => by_ftz!($i, $make, special::$op, |$($a),*|),
        }
    };
}

pub(crate) fn div(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 if i.has(Mod::Approx) => approximate!(i, written, vector, div, |a, b|),
        Format::F32 => single_op!(i, single::div, |a, b|),
        Format::F64 => double_op!(i, double::div, |a, b|),
        Format::F32x2 => return None,
    })
}

pub(crate) fn div_full(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(approximate!(i, written, vector, div_full, |a, b|))
}

pub(crate) fn rcp(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 if i.has(Mod::Approx) => approximate!(i, written, vector, rcp, |a|),
        Format::F32 => single_op!(i, single::rcp, |a|),
        Format::F64 => double_op!(i, double::rcp, |a|),
        Format::F32x2 => return None,
    })
}

pub(crate) fn rcp_approx_f64(_: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(vector(approx::rcp_f64)))
}

pub(crate) fn sqrt(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 if i.has(Mod::Approx) => approximate!(i, written, vector, sqrt, |a|),
        Format::F32 => single_op!(i, single::sqrt, |a|),
        Format::F64 => double_op!(i, double::sqrt, |a|),
        Format::F32x2 => return None,
    })
}

pub(crate) fn rsqrt(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => approximate!(i, written, vector, rsqrt, |a|),
        Format::F64 => Plan::simple(vector(approx::rsqrt_f64)),
        Format::F32x2 => return None,
    })
}

pub(crate) fn rsqrt_approx_f64(_: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(vector(approx::rsqrt_f64_ftz)))
}

pub(crate) fn sin(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(Plan::simple(match written.approximations {
        _ if i.has(Mod::N2pi) => scalar(approx::sin_turns),
        Approximations::Rounded => scalar(approx::sin),
        Approximations::Hardware => scalar(special::sin),
    }))
}

pub(crate) fn cos(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(Plan::simple(match written.approximations {
        _ if i.has(Mod::N2pi) => scalar(approx::cos_turns),
        Approximations::Rounded => scalar(approx::cos),
        Approximations::Hardware => scalar(special::cos),
    }))
}

pub(crate) fn tanh(_: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(scalar(approx::tanh)))
}

pub(crate) fn lg2(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(approximate!(i, written, scalar, lg2, |a|))
}

pub(crate) fn ex2(i: &Instruction, written: &Written) -> Option<Plan> {
    Some(approximate!(i, written, scalar, ex2, |a|))
}

pub(crate) fn abs(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => by_ftz!(i, vector, single::abs, |a|),
        Format::F64 => Plan::simple(vector(double::abs)),
        Format::F32x2 => return None,
    })
}

pub(crate) fn neg(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(match format(i)? {
        Format::F32 => by_ftz!(i, vector, single::neg, |a|),
        Format::F64 => Plan::simple(vector(double::neg)),
        Format::F32x2 => return None,
    })
}

pub(crate) fn copysign(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(match format(i)? {
        Format::F32 => vector(single::copysign),
        Format::F64 => vector(double::copysign),
        Format::F32x2 => return None,
    }))
}

pub(crate) fn min(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(match format(i)? {
        Format::F32 => extremum::<false>(i),
        Format::F64 => vector(double::min),
        Format::F32x2 => return None,
    }))
}

pub(crate) fn max(i: &Instruction, _: &Written) -> Option<Plan> {
    Some(Plan::simple(match format(i)? {
        Format::F32 => extremum::<true>(i),
        Format::F64 => vector(double::max),
        Format::F32x2 => return None,
    }))
}

#[inline(always)]
fn pick<const MAX: bool, const FTZ: bool, const NAN: bool>(a: u32, b: u32) -> u32 {
    if MAX { single::max::<FTZ>(NAN, a, b) } else { single::min::<FTZ>(NAN, a, b) }
}

/// `min` and `max` of two or three operands.
fn extremum<const MAX: bool>(i: &Instruction) -> LaneFn {
    let three = sources(i) == 3;
    macro_rules! forms {
        ($ftz:literal, $nan:literal) => {
            match (i.has(Mod::Xorsign), i.has(Mod::Abs), three) {
                (true, ..) => vector(|a: u32, b: u32| single::xorsign_abs(a, b, pick::<MAX, $ftz, $nan>)),
                (false, true, _) => vector(|a: u32, b: u32, c: u32| {
                    let [a, b, c] = [a, b, c].map(single::magnitude);
                    pick::<MAX, $ftz, $nan>(pick::<MAX, $ftz, $nan>(a, b), c)
                }),
                (false, false, true) => {
                    vector(|a: u32, b: u32, c: u32| pick::<MAX, $ftz, $nan>(pick::<MAX, $ftz, $nan>(a, b), c))
                }
                (false, false, false) => vector(pick::<MAX, $ftz, $nan>),
            }
        };
    }
    match (i.has(Mod::Ftz), i.has(Mod::NaN)) {
        (false, false) => forms!(false, false),
        (false, true) => forms!(false, true),
        (true, false) => forms!(true, false),
        (true, true) => forms!(true, true),
    }
}

/// A function of mixed precision for the format of its narrow operands.
macro_rules! mixed {
    ($i:expr, $h:ident => $function:expr) => {{
        let mode = Mode::of($i)?;
        let function = match Number::of($i.types().nth(1)?) {
            Number::F16 => {
                type $h = F16;
                $function
            }
            Number::BF16 => {
                type $h = BF16;
                $function
            }
            Number::Pred
            | Number::Unsigned(_)
            | Number::Signed(_)
            | Number::PackedUnsigned
            | Number::PackedSigned
            | Number::UnsignedBytes
            | Number::SignedBytes
            | Number::F16x2
            | Number::BF16x2
            | Number::F32
            | Number::F64
            | Number::F32x2
            | Number::Other => return None,
        };
        Some(Plan::with_constants(function, &[mode.0.into()]))
    }};
}

pub(crate) fn add_mixed(i: &Instruction, _: &Written) -> Option<Plan> {
    if mixed::is_of_pairs(i) {
        return mixed::add(i);
    }
    mixed!(i, H => scalar(|a: u16, c: u32, mode: u32| {
        Mode(mode).sat(single::add::<false>(Mode(mode).rounding(), to_single::<H>(a), c))
    }))
}

pub(crate) fn sub_mixed(i: &Instruction, _: &Written) -> Option<Plan> {
    if mixed::is_of_pairs(i) {
        return mixed::sub(i);
    }
    mixed!(i, H => scalar(|a: u16, c: u32, mode: u32| {
        Mode(mode).sat(single::sub::<false>(Mode(mode).rounding(), to_single::<H>(a), c))
    }))
}

pub(crate) fn fma_mixed(i: &Instruction, _: &Written) -> Option<Plan> {
    if mixed::is_of_pairs(i) {
        return mixed::fma(i);
    }
    fn product<H: Half>(a: u16, b: u16, c: u32, mode: u32) -> u32 {
        let (a, b) = (to_single::<H>(a), to_single::<H>(b));
        Mode(mode).sat(single::fma::<false>(Mode(mode).rounding(), a, b, c))
    }
    mixed!(i, H => scalar(|a: u16, b: u16, c: u32, mode: u32| product::<H>(a, b, c, mode)))
}
