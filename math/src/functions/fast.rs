//! Fast variants of `f32`: the approximate instructions of the special function unit, whose errors the manual states (PTX ISA 9.0, 9.7.3), and what
//! is made of them. With and without flushing subnormal numbers to zero.

use crate::expr::V;
use warpsmith_ir::mnemonic;

macro_rules! pairs {
    ($($(#[doc = $doc:literal])+ $name:ident $ftz:ident = $mnemonic:literal, $mnemonic_ftz:literal;)*) => {$(
        $(#[doc = $doc])+
        pub fn $name(x: V<'_>) -> V<'_> {
            x.ptx(mnemonic!($mnemonic))
        }

        $(#[doc = $doc])+
        /// Subnormal numbers are flushed.
        pub fn $ftz(x: V<'_>) -> V<'_> {
            x.ptx(mnemonic!($mnemonic_ftz))
        }
    )*};
}
pairs! {
    /// sin x
    sin sin_ftz = "sin.approx.f32", "sin.approx.ftz.f32";
    /// cos x
    cos cos_ftz = "cos.approx.f32", "cos.approx.ftz.f32";
    /// 2^x
    exp2 exp2_ftz = "ex2.approx.f32", "ex2.approx.ftz.f32";
    /// log2 x
    log2 log2_ftz = "lg2.approx.f32", "lg2.approx.ftz.f32";
    /// 1 / sqrt(x)
    rsqrt rsqrt_ftz = "rsqrt.approx.f32", "rsqrt.approx.ftz.f32";
    /// sqrt x
    sqrt sqrt_ftz = "sqrt.approx.f32", "sqrt.approx.ftz.f32";
    /// 1 / x
    rcp rcp_ftz = "rcp.approx.f32", "rcp.approx.ftz.f32";
}

macro_rules! made {
    ($($(#[doc = $doc:literal])+ $name:ident $ftz:ident ($($arg:ident)+) uses($($used:ident = $plain:ident or $flushed:ident),*) $body:expr;)*) => {$(
        $(#[doc = $doc])+
        pub fn $name<'e>($($arg: V<'e>),+) -> V<'e> {
            $(let $used = $plain;)*
            $body
        }

        $(#[doc = $doc])+
        /// Subnormal numbers are flushed.
        pub fn $ftz<'e>($($arg: V<'e>),+) -> V<'e> {
            $(let $used = $flushed;)*
            $body
        }
    )*};
}
made! {
    /// sin x / cos x
    tan tan_ftz (x) uses(s = sin or sin_ftz, c = cos or cos_ftz, d = div or div_ftz) d(s(x), c(x));
    /// 2^(x log2 e)
    exp exp_ftz (x) uses(p = exp2 or exp2_ftz) p(x * std::f64::consts::LOG2_E);
    /// 2^(x log2 10)
    exp10 exp10_ftz (x) uses(p = exp2 or exp2_ftz) p(x * std::f64::consts::LOG2_10);
    /// log2 x ln 2
    log log_ftz (x) uses(p = log2 or log2_ftz) p(x) * std::f64::consts::LN_2;
    /// log2 x log10 2
    log10 log10_ftz (x) uses(p = log2 or log2_ftz) p(x) * std::f64::consts::LOG10_2;
    /// 2^(y log2 x)
    pow pow_ftz (x y) uses(p = exp2 or exp2_ftz, g = log2 or log2_ftz) p(y * g(x));
}

/// x / y
pub fn div<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    x.ptx2(mnemonic!("div.approx.f32"), y)
}

/// x / y
/// Subnormal numbers are flushed.
pub fn div_ftz<'e>(x: V<'e>, y: V<'e>) -> V<'e> {
    x.ptx2(mnemonic!("div.approx.ftz.f32"), y)
}

/// tanh x; needs sm_75.
pub fn tanh(x: V<'_>) -> V<'_> {
    x.ptx(mnemonic!("tanh.approx.f32"))
}
