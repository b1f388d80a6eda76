//! What functions of one `f32` are compared with: functions of `f64`.
#![allow(dead_code, reason = "each of the programs uses some of it")]

use warpsmith_ir::Type;
use warpsmith_math::Function;

/// The function of `f64` that a function of one `f32` is compared with.
pub fn reference(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "asinh" => libm::asinh,
        "acosh" => |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
        "atanh" => libm::atanh,
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "exp10" => libm::exp10,
        "expm1" => f64::exp_m1,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "cbrt" => f64::cbrt,
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "rcbrt" => |x| 1.0 / x.cbrt(),
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "normcdf" => |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        "tgamma" => libm::tgamma,
        "lgamma" => libm::lgamma,
        "j0" => libm::j0,
        "j1" => libm::j1,
        "round" => f64::round,
        "rint" => f64::round_ties_even,
        "trunc" => f64::trunc,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "fabs" => f64::abs,
        "sqrt" => f64::sqrt,
        "logb" => |x| {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else if x.is_finite() {
                f64::from(libm::ilogb(x))
            } else {
                x.abs()
            }
        },
        _ => return None,
    })
}

/// CUDA's bounds leave these out: `lgammaf` near its zeros among the negative numbers, the Bessel functions beyond 8 (an absolute error).
pub fn excluded(name: &str, x: f64) -> bool {
    match name {
        "lgamma" => (-10.001..=-2.264).contains(&x),
        "j0" | "j1" => x.abs() > 8.0,
        _ => false,
    }
}

/// The functions of one `f32` that are compared so.
pub fn singles() -> Vec<Function> {
    Function::all()
        .filter(|f| f.ty() == Type::F32 && f.ulp().is_some() && reference(f.name()).is_some())
        .collect()
}
