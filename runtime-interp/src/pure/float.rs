//! f32, f64, f32x2 and the mixed-precision forms.

use super::{Name, Plan};
use crate::engine::lanes::{LaneFn, fused, scalar, vector, wide};
use crate::semantics::half::{BF16, F16, Half, to_single};
use crate::semantics::packed::map2_32;
use crate::semantics::{Rounding, approx, double, single};
use warpsmith_isa::ScalarType;

/// Rounding, `.ftz` and `.sat` as a number, for the forms that are rare enough to decide them while running.
#[derive(Clone, Copy)]
struct Mode(u32);

impl Mode {
    fn of(name: &Name) -> Mode {
        Mode(name.rounding() as u32 | (name.has("ftz") as u32) << 8 | (name.has("sat") as u32) << 9)
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
    ($name:expr, $module:ident::$op:ident, |$($a:ident),*|) => {{
        let mode = Mode::of($name);
        match mode.0 {
            0 => Plan::simple(wide(|$($a: u32),*| $module::$op::<false>(Rounding::Nearest, $($a),*))),
            0x100 => Plan::simple(wide(|$($a: u32),*| $module::$op::<true>(Rounding::Nearest, $($a),*))),
            _ => Plan::with_constants(
                scalar(|$($a: u32,)* mode: u32| {
                    let mode = Mode(mode);
                    let rounding = mode.rounding();
                    mode.sat(if mode.ftz() { $module::$op::<true>(rounding, $($a),*) } else { $module::$op::<false>(rounding, $($a),*) })
                }),
                &[mode.0.into()],
            ),
        }
    }};
}

/// An f32x2 operation.
macro_rules! pair_op {
    ($name:expr, $module:ident::$op:ident, |$($a:ident),*|) => {{
        let mode = Mode::of($name);
        match mode.0 {
            0 => Plan::simple(vector(|$($a: u64),*| map2_32([$($a),*], |[$($a),*]| $module::$op::<false>(Rounding::Nearest, $($a),*)))),
            _ => Plan::with_constants(
                scalar(|$($a: u64,)* mode: u32| {
                    let mode = Mode(mode);
                    let rounding = mode.rounding();
                    map2_32([$($a),*], |[$($a),*]| {
                        if mode.ftz() { $module::$op::<true>(rounding, $($a),*) } else { $module::$op::<false>(rounding, $($a),*) }
                    })
                }),
                &[mode.0.into()],
            ),
        }
    }};
}

/// An f64 operation: to nearest, or in the direction of the mode.
macro_rules! double_op {
    ($name:expr, $module:ident::$op:ident, |$($a:ident),*|) => {
        match $name.rounding() {
            Rounding::Nearest => Plan::simple(wide(|$($a: u64),*| $module::$op(Rounding::Nearest, $($a),*))),
            rounding => Plan::with_constants(
                scalar(|$($a: u64,)* mode: u32| $module::$op(Mode(mode).rounding(), $($a),*)),
                &[rounding as u64],
            ),
        }
    };
}

/// The two instances of a function with and without `.ftz`.
macro_rules! by_ftz {
    ($name:expr, $make:ident, $module:ident::$op:ident, |$($a:ident),*|) => {
        if $name.has("ftz") { $make(|$($a: u32),*| $module::$op::<true>($($a),*)) } else { $make(|$($a: u32),*| $module::$op::<false>($($a),*)) }
    };
}

pub(super) fn plan(name: &Name) -> Option<Plan> {
    match (name.ty()?, name.types.get(1)) {
        (ScalarType::F32, None) => f32(name),
        (ScalarType::F32, Some(ScalarType::F16)) => mixed::<F16>(name),
        (ScalarType::F32, Some(ScalarType::BF16)) => mixed::<BF16>(name),
        (ScalarType::F32x2, None) => f32x2(name),
        (ScalarType::F64, None) => f64(name),
        _ => None,
    }
}

fn f32(name: &Name) -> Option<Plan> {
    let approximate = name.has("approx");
    Some(match name.op {
        "add" => single_op!(name, single::add, |a, b|),
        "sub" => single_op!(name, single::sub, |a, b|),
        "mul" => single_op!(name, single::mul, |a, b|),
        "fma" | "mad" if Mode::of(name).0 == 0 => {
            let soft = |a: u32, b: u32, c: u32| single::fma::<false>(Rounding::Nearest, a, b, c);
            Plan::simple(fused(single::fma_fused, soft))
        }
        "fma" | "mad" => single_op!(name, single::fma, |a, b, c|),
        "div" if approximate => Plan::simple(by_ftz!(name, vector, approx::div, |a, b|)),
        "div" if name.has("full") => Plan::simple(by_ftz!(name, vector, approx::div_full, |a, b|)),
        "div" => single_op!(name, single::div, |a, b|),
        "rcp" if approximate => Plan::simple(by_ftz!(name, vector, approx::rcp, |a|)),
        "rcp" => single_op!(name, single::rcp, |a|),
        "sqrt" if approximate => Plan::simple(by_ftz!(name, vector, approx::sqrt, |a|)),
        "sqrt" => single_op!(name, single::sqrt, |a|),
        "rsqrt" => Plan::simple(by_ftz!(name, vector, approx::rsqrt, |a|)),
        "sin" => Plan::simple(scalar(approx::sin)),
        "cos" => Plan::simple(scalar(approx::cos)),
        "tanh" => Plan::simple(scalar(approx::tanh)),
        "lg2" => Plan::simple(by_ftz!(name, scalar, approx::lg2, |a|)),
        "ex2" => Plan::simple(by_ftz!(name, scalar, approx::ex2, |a|)),
        "abs" => Plan::simple(by_ftz!(name, vector, single::abs, |a|)),
        "neg" => Plan::simple(by_ftz!(name, vector, single::neg, |a|)),
        "copysign" => Plan::simple(vector(single::copysign)),
        "min" => Plan::simple(extremum::<false>(name)),
        "max" => Plan::simple(extremum::<true>(name)),
        _ => return None,
    })
}

#[inline(always)]
fn pick<const MAX: bool, const FTZ: bool, const NAN: bool>(a: u32, b: u32) -> u32 {
    if MAX { single::max::<FTZ>(NAN, a, b) } else { single::min::<FTZ>(NAN, a, b) }
}

/// `min` and `max` of two or three operands.
fn extremum<const MAX: bool>(name: &Name) -> LaneFn {
    macro_rules! forms {
        ($ftz:literal, $nan:literal) => {
            match (name.has("xorsign"), name.has("abs"), name.sources) {
                (true, ..) => vector(|a: u32, b: u32| single::xorsign_abs(a, b, pick::<MAX, $ftz, $nan>)),
                (false, true, _) => vector(|a: u32, b: u32, c: u32| {
                    let [a, b, c] = [a, b, c].map(single::magnitude);
                    pick::<MAX, $ftz, $nan>(pick::<MAX, $ftz, $nan>(a, b), c)
                }),
                (false, false, 3) => {
                    vector(|a: u32, b: u32, c: u32| pick::<MAX, $ftz, $nan>(pick::<MAX, $ftz, $nan>(a, b), c))
                }
                (false, false, _) => vector(pick::<MAX, $ftz, $nan>),
            }
        };
    }
    match (name.has("ftz"), name.has("NaN")) {
        (false, false) => forms!(false, false),
        (false, true) => forms!(false, true),
        (true, false) => forms!(true, false),
        (true, true) => forms!(true, true),
    }
}

fn f32x2(name: &Name) -> Option<Plan> {
    Some(match name.op {
        "add" => pair_op!(name, single::add, |a, b|),
        "sub" => pair_op!(name, single::sub, |a, b|),
        "mul" => pair_op!(name, single::mul, |a, b|),
        "fma" => pair_op!(name, single::fma, |a, b, c|),
        _ => return None,
    })
}

fn f64(name: &Name) -> Option<Plan> {
    let approximate = name.has("approx");
    Some(match name.op {
        "add" => double_op!(name, double::add, |a, b|),
        "sub" => double_op!(name, double::sub, |a, b|),
        "mul" => double_op!(name, double::mul, |a, b|),
        "fma" | "mad" => double_op!(name, double::fma, |a, b, c|),
        "div" => double_op!(name, double::div, |a, b|),
        "rcp" if approximate => Plan::simple(vector(approx::rcp_f64)),
        "rcp" => double_op!(name, double::rcp, |a|),
        "sqrt" => double_op!(name, double::sqrt, |a|),
        "rsqrt" if name.has("ftz") => Plan::simple(vector(approx::rsqrt_f64_ftz)),
        "rsqrt" => Plan::simple(vector(approx::rsqrt_f64)),
        "abs" => Plan::simple(vector(double::abs)),
        "neg" => Plan::simple(vector(double::neg)),
        "copysign" => Plan::simple(vector(double::copysign)),
        "min" => Plan::simple(vector(double::min)),
        "max" => Plan::simple(vector(double::max)),
        _ => return None,
    })
}

fn mixed<H: Half + 'static>(name: &Name) -> Option<Plan> {
    let mode = Mode::of(name);
    let function = match name.op {
        "add" => scalar(|a: u16, c: u32, mode: u32| {
            Mode(mode).sat(single::add::<false>(Mode(mode).rounding(), to_single::<H>(a), c))
        }),
        "sub" => scalar(|a: u16, c: u32, mode: u32| {
            Mode(mode).sat(single::sub::<false>(Mode(mode).rounding(), to_single::<H>(a), c))
        }),
        "fma" => scalar(|a: u16, b: u16, c: u32, mode: u32| {
            let (a, b) = (to_single::<H>(a), to_single::<H>(b));
            Mode(mode).sat(single::fma::<false>(Mode(mode).rounding(), a, b, c))
        }),
        _ => return None,
    };
    Some(Plan::with_constants(function, &[mode.0.into()]))
}
