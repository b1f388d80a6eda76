//! The functions by name: how each is built, what it takes, what CUDA promises of it and what is measured here.

use crate::expr::V;
use crate::functions::*;

/// How a function is built from its parameters.
#[derive(Clone, Copy)]
pub(crate) enum Build {
    /// One operand.
    Unary(for<'e> fn(V<'e>) -> V<'e>),
    /// Two operands.
    Binary(for<'e> fn(V<'e>, V<'e>) -> V<'e>),
    /// Four operands.
    Quaternary(for<'e> fn([V<'e>; 4]) -> V<'e>),
    /// Three operands.
    Ternary(for<'e> fn(V<'e>, V<'e>, V<'e>) -> V<'e>),
    /// An `i32` and an operand.
    IntWith(for<'e> fn(V<'e>, V<'e>) -> V<'e>),
    /// An operand and an `i32`.
    WithInt(for<'e> fn(V<'e>, V<'e>) -> V<'e>),
    /// One operand, the result an `i32`.
    ToInt(for<'e> fn(V<'e>) -> V<'e>),
    /// One operand and a pointer, which the second result goes to: a float, or an `i32`.
    Second(for<'e> fn(V<'e>) -> [V<'e>; 2]),
    /// One operand and two pointers, which the results go to.
    Both(for<'e> fn(V<'e>) -> [V<'e>; 2]),
}

/// The formats that a function is written for; `f16` and `bf16` go through `f32` in each case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formats {
    /// Its text serves `f32` and `f64`.
    Each,
    /// Written for `f64`: `f32` goes through it.
    Wide,
    /// Written for `f32` alone: approximate instructions.
    Single,
}

/// A function of the library.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) build: Build,
    pub(crate) formats: Formats,
    /// The greatest error that CUDA's guide states, for `f32` and `f64`, in units of the last place from the correctly rounded result. `None` where it states none.
    pub(crate) cuda: [Option<u32>; 2],
    /// The greatest error that the tests allow, alike. `None` where the error is bounded in another way.
    pub(crate) ours: [Option<u32>; 2],
}

macro_rules! rows {
    ($($name:literal $build:ident $module:ident::$function:ident $formats:ident cuda($($c32:literal $c64:literal)?) ours($($o32:literal $o64:literal)?);)*) => {
        /// Every function.
        pub(crate) static ROWS: &[Row] = &[$(Row {
            name: $name,
            build: Build::$build($module::$function),
            formats: Formats::$formats,
            cuda: rows!(@errors $($c32 $c64)?),
            ours: rows!(@errors $($o32 $o64)?),
        }),*];
    };
    (@errors $c32:literal $c64:literal) => { [Some($c32), Some($c64)] };
    (@errors) => { [None, None] };
}
rows! {
    "sin"       Unary   trig::sin         Each cuda(2 2) ours(1 1);
    "cos"       Unary   trig::cos         Each cuda(2 2) ours(1 1);
    "tan"       Unary   trig::tan         Each cuda(4 2) ours(2 2);
    "sincos"    Both    trig::sincos      Each cuda(2 2) ours(1 1);
    "sinpi"     Unary   trig::sinpi       Each cuda(1 2) ours(1 1);
    "cospi"     Unary   trig::cospi       Each cuda(1 2) ours(1 1);
    "sincospi"  Both    trig::sincospi    Each cuda(1 2) ours(1 1);
    "asin"      Unary   inverse::asin     Each cuda(2 2) ours(1 1);
    "acos"      Unary   inverse::acos     Each cuda(2 2) ours(1 1);
    "atan"      Unary   inverse::atan     Each cuda(2 2) ours(2 2);
    "atan2"     Binary  inverse::atan2    Each cuda(3 2) ours(2 2);
    "sinh"      Unary   hyperbolic::sinh  Each cuda(3 2) ours(1 1);
    "cosh"      Unary   hyperbolic::cosh  Each cuda(2 1) ours(1 1);
    "tanh"      Unary   hyperbolic::tanh  Each cuda(2 1) ours(1 1);
    "asinh"     Unary   hyperbolic::asinh Each cuda(3 3) ours(2 2);
    "acosh"     Unary   hyperbolic::acosh Each cuda(4 3) ours(2 2);
    "atanh"     Unary   hyperbolic::atanh Each cuda(3 2) ours(2 2);
    "exp"       Unary   exp::exp          Each cuda(2 1) ours(1 1);
    "exp2"      Unary   exp::exp2         Each cuda(2 1) ours(1 1);
    "exp10"     Unary   exp::exp10        Each cuda(2 1) ours(1 1);
    "expm1"     Unary   exp::expm1        Each cuda(1 1) ours(1 1);
    "log"       Unary   log::log          Each cuda(1 1) ours(1 1);
    "log2"      Unary   log::log2         Each cuda(1 1) ours(1 1);
    "log10"     Unary   log::log10        Each cuda(2 1) ours(1 1);
    "log1p"     Unary   log::log1p        Each cuda(1 1) ours(1 1);
    "pow"       Binary  power::pow        Each cuda(4 2) ours(1 1);
    "powi"      WithInt power::powi       Each cuda() ours(1 1);
    "cbrt"      Unary   roots::cbrt       Each cuda(1 1) ours(1 1);
    "rcbrt"     Unary   roots::rcbrt      Each cuda(1 1) ours(1 1);
    "rsqrt"     Unary   roots::rsqrt      Each cuda(2 1) ours(1 1);
    "hypot"     Binary  norm::hypot       Each cuda(3 2) ours(1 1);
    "rhypot"    Binary  norm::rhypot      Each cuda(2 1) ours(1 1);
    "norm3d"    Ternary norm::norm3d      Each cuda(3 2) ours(1 1);
    "rnorm3d"   Ternary norm::rnorm3d     Each cuda(2 1) ours(1 1);
    "norm4d"    Quaternary norm::norm4d   Each cuda(3 2) ours(1 1);
    "rnorm4d"   Quaternary norm::rnorm4d  Each cuda(2 1) ours(1 1);
    "fmod"      Binary  remainder::fmod   Each cuda(0 0) ours(0 0);
    "remainder" Binary  remainder::remainder Each cuda(0 0) ours(0 0);
    "erf"       Unary   error::erf        Each cuda(2 2) ours(2 2);
    "erfc"      Unary   error::erfc       Each cuda(4 5) ours(4 4);
    "erfcx"     Unary   error::erfcx      Each cuda(4 4) ours(4 4);
    "erfinv"    Unary   error::erfinv     Each cuda(2 5) ours(2 3);
    "erfcinv"   Unary   error::erfcinv    Each cuda(4 6) ours(3 4);
    "normcdfinv" Unary  error::normcdfinv Each cuda(5 8) ours(3 4);
    "normcdf"   Unary   error::normcdf    Each cuda(5 5) ours(4 4);
    "tgamma"    Unary   gamma::tgamma     Wide cuda(5 10) ours(1 10);
    "lgamma"    Unary   gamma::lgamma     Each cuda(6 4) ours(4 4);
    "j0"        Unary   bessel::j0        Each cuda(9 7) ours(8 7);
    "j1"        Unary   bessel::j1        Each cuda(9 7) ours(3 7);
    "jn"        IntWith bessel_order::jn  Wide cuda() ours();
    "y0"        Unary   bessel_second::y0 Each cuda(9 7) ours(4 4);
    "y1"        Unary   bessel_second::y1 Each cuda(9 7) ours(6 4);
    "yn"        IntWith bessel_order::yn  Wide cuda() ours();
    "cyl_bessel_i0" Unary bessel_modified::i0 Each cuda(6 6) ours(4 5);
    "cyl_bessel_i1" Unary bessel_modified::i1 Each cuda(6 6) ours(4 4);
    "ldexp"     WithInt power::ldexp      Each cuda(0 0) ours(0 0);
    "scalbn"    WithInt power::ldexp      Each cuda(0 0) ours(0 0);
    "frexp"     Second  power::frexp      Each cuda(0 0) ours(0 0);
    "modf"      Second  integral::modf    Each cuda(0 0) ours(0 0);
    "ilogb"     ToInt   power::ilogb      Each cuda(0 0) ours(0 0);
    "logb"      Unary   power::logb       Each cuda(0 0) ours(0 0);
    "nextafter" Binary  integral::nextafter Each cuda(0 0) ours(0 0);
    "round"     Unary   integral::round   Each cuda(0 0) ours(0 0);
    "rint"      Unary   integral::rint    Each cuda(0 0) ours(0 0);
    "trunc"     Unary   integral::trunc   Each cuda(0 0) ours(0 0);
    "floor"     Unary   integral::floor   Each cuda(0 0) ours(0 0);
    "ceil"      Unary   integral::ceil    Each cuda(0 0) ours(0 0);
    "fabs"      Unary   integral::fabs    Each cuda(0 0) ours(0 0);
    "sqrt"      Unary   integral::sqrt    Each cuda(0 0) ours(0 0);
    "fdim"      Binary  integral::fdim    Each cuda(0 0) ours(0 0);
    "fmin"      Binary  integral::fmin    Each cuda(0 0) ours(0 0);
    "fmax"      Binary  integral::fmax    Each cuda(0 0) ours(0 0);
    "copysign"  Binary  integral::copysign Each cuda(0 0) ours(0 0);
    "fma"       Ternary integral::fma     Each cuda(0 0) ours(0 0);

    "fast_sin"       Unary  fast::sin       Single cuda() ours(0 0);
    "fast_sin_ftz"   Unary  fast::sin_ftz   Single cuda() ours(0 0);
    "fast_cos"       Unary  fast::cos       Single cuda() ours(0 0);
    "fast_cos_ftz"   Unary  fast::cos_ftz   Single cuda() ours(0 0);
    "fast_tan"       Unary  fast::tan       Single cuda() ours(0 0);
    "fast_tan_ftz"   Unary  fast::tan_ftz   Single cuda() ours(0 0);
    "fast_exp"       Unary  fast::exp       Single cuda() ours(0 0);
    "fast_exp_ftz"   Unary  fast::exp_ftz   Single cuda() ours(0 0);
    "fast_exp2"      Unary  fast::exp2      Single cuda() ours(0 0);
    "fast_exp2_ftz"  Unary  fast::exp2_ftz  Single cuda() ours(0 0);
    "fast_exp10"     Unary  fast::exp10     Single cuda() ours(0 0);
    "fast_exp10_ftz" Unary  fast::exp10_ftz Single cuda() ours(0 0);
    "fast_log"       Unary  fast::log       Single cuda() ours(0 0);
    "fast_log_ftz"   Unary  fast::log_ftz   Single cuda() ours(0 0);
    "fast_log2"      Unary  fast::log2      Single cuda() ours(0 0);
    "fast_log2_ftz"  Unary  fast::log2_ftz  Single cuda() ours(0 0);
    "fast_log10"     Unary  fast::log10     Single cuda() ours(0 0);
    "fast_log10_ftz" Unary  fast::log10_ftz Single cuda() ours(0 0);
    "fast_pow"       Binary fast::pow       Single cuda() ours(0 0);
    "fast_pow_ftz"   Binary fast::pow_ftz   Single cuda() ours(0 0);
    "fast_div"       Binary fast::div       Single cuda() ours(0 0);
    "fast_div_ftz"   Binary fast::div_ftz   Single cuda() ours(0 0);
    "fast_rcp"       Unary  fast::rcp       Single cuda() ours(0 0);
    "fast_rcp_ftz"   Unary  fast::rcp_ftz   Single cuda() ours(0 0);
    "fast_sqrt"      Unary  fast::sqrt      Single cuda() ours(0 0);
    "fast_sqrt_ftz"  Unary  fast::sqrt_ftz  Single cuda() ours(0 0);
    "fast_rsqrt"     Unary  fast::rsqrt     Single cuda() ours(0 0);
    "fast_rsqrt_ftz" Unary  fast::rsqrt_ftz Single cuda() ours(0 0);
    "fast_tanh"      Unary  fast::tanh      Single cuda() ours(0 0);
}
