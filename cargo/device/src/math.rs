//! Functions of floats, `f32` and `f64`: what `core` lacks without `std`, and approximations that PTX has instructions for.
//!
//! On the device, the functions that are not instructions are Warpsmith's math library, with the accuracy that `docs/math.md` lists, or CUDA's libdevice if the
//! linker is given it. On the host they are the standard library's and C's, which round differently; the approximate ones are more exact there.

use crate::ptx;

/// `f32` and `f64`, for code that is generic over them. The functions of this module are how its methods are called.
pub trait Float: Copy + sealed::Sealed {
    /// The functions of this module.
    #[doc(hidden)]
    fn apply(function: Function, arguments: [Self; 3]) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+) $variant:ident $single:ident $double:ident $host:ident;)*) => {
        /// A function of this module.
        #[doc(hidden)]
        #[derive(Clone, Copy)]
        pub enum Function {
            $($variant,)*
        }

        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name<T: Float>($($argument: T),+) -> T {
                T::apply(Function::$variant, arguments([$($argument),+]))
            }
        )*

        #[cfg(target_arch = "nvptx64")]
        mod library {
            unsafe extern "C" {
                $(
                    pub safe fn $single($($argument: f32),+) -> f32;
                    pub safe fn $double($($argument: f64),+) -> f64;
                )*
            }
        }

        functions! { @float f32 $($name($($argument),+) $variant $single $host;)* }
        functions! { @float f64 $($name($($argument),+) $variant $double $host;)* }
    };
    (@float $ty:ident $($name:ident($($argument:ident),+) $variant:ident $device:ident $host:ident;)*) => {
        impl Float for $ty {
            #[inline(always)]
            fn apply(function: Function, arguments: [$ty; 3]) -> $ty {
                match function {
                    $(Function::$variant => {
                        let [$($argument,)+ ..] = arguments;
                        #[cfg(target_arch = "nvptx64")]
                        {
                            library::$device($($argument),+)
                        }
                        #[cfg(not(target_arch = "nvptx64"))]
                        {
                            #[allow(unused_imports)]
                            use special::Special;
                            $ty::$host($($argument),+)
                        }
                    })*
                }
            }
        }
    };
}

/// Three arguments, of which a function looks at so many as it has.
#[inline(always)]
fn arguments<T: Copy, const N: usize>(some: [T; N]) -> [T; 3] {
    core::array::from_fn(|n| some[if n < N { n } else { 0 }])
}

functions! {
    /// The square root, rounded to nearest.
    sqrt(x) Sqrt __nv_fsqrt_rn __nv_dsqrt_rn sqrt;
    /// `a * b + c`, rounded once.
    fma(a, b, c) Fma __nv_fmaf __nv_fma mul_add;
    /// The cube root.
    cbrt(x) Cbrt __nv_cbrtf __nv_cbrt cbrt;
    /// The length of the hypotenuse, `sqrt(x * x + y * y)` without overflow in between.
    hypot(x, y) Hypot __nv_hypotf __nv_hypot hypot;
    /// `x` to the power of `y`.
    pow(x, y) Pow __nv_powf __nv_pow powf;
    /// e to the power of `x`.
    exp(x) Exp __nv_expf __nv_exp exp;
    /// 2 to the power of `x`.
    exp2(x) Exp2 __nv_exp2f __nv_exp2 exp2;
    /// `exp(x) - 1`, precise near 0.
    exp_m1(x) ExpM1 __nv_expm1f __nv_expm1 exp_m1;
    /// The natural logarithm.
    ln(x) Ln __nv_logf __nv_log ln;
    /// The natural logarithm of `1 + x`, precise near 0.
    ln_1p(x) Ln1P __nv_log1pf __nv_log1p ln_1p;
    /// The binary logarithm.
    log2(x) Log2 __nv_log2f __nv_log2 log2;
    /// The decimal logarithm.
    log10(x) Log10 __nv_log10f __nv_log10 log10;
    /// The sine of an angle in radians.
    sin(x) Sin __nv_sinf __nv_sin sin;
    /// The cosine of an angle in radians.
    cos(x) Cos __nv_cosf __nv_cos cos;
    /// The tangent of an angle in radians.
    tan(x) Tan __nv_tanf __nv_tan tan;
    /// The arc sine, in radians.
    asin(x) Asin __nv_asinf __nv_asin asin;
    /// The arc cosine, in radians.
    acos(x) Acos __nv_acosf __nv_acos acos;
    /// The arc tangent, in radians.
    atan(x) Atan __nv_atanf __nv_atan atan;
    /// The angle of the point (`x`, `y`), in radians: `atan2(y, x)`.
    atan2(y, x) Atan2 __nv_atan2f __nv_atan2 atan2;
    /// The hyperbolic sine.
    sinh(x) Sinh __nv_sinhf __nv_sinh sinh;
    /// The hyperbolic cosine.
    cosh(x) Cosh __nv_coshf __nv_cosh cosh;
    /// The hyperbolic tangent.
    tanh(x) Tanh __nv_tanhf __nv_tanh tanh;
    /// The inverse of the hyperbolic sine.
    asinh(x) Asinh __nv_asinhf __nv_asinh asinh;
    /// The inverse of the hyperbolic cosine.
    acosh(x) Acosh __nv_acoshf __nv_acosh acosh;
    /// The inverse of the hyperbolic tangent.
    atanh(x) Atanh __nv_atanhf __nv_atanh atanh;
    /// The error function.
    erf(x) Erf __nv_erff __nv_erf special_erf;
    /// `1 - erf(x)`, precise for large `x`.
    erfc(x) Erfc __nv_erfcf __nv_erfc special_erfc;
    /// The gamma function.
    gamma(x) Gamma __nv_tgammaf __nv_tgamma special_gamma;
    /// The natural logarithm of the absolute value of the gamma function.
    ln_gamma(x) LnGamma __nv_lgammaf __nv_lgamma special_ln_gamma;
    /// The largest integer that is not greater.
    floor(x) Floor __nv_floorf __nv_floor floor;
    /// The smallest integer that is not less.
    ceil(x) Ceil __nv_ceilf __nv_ceil ceil;
    /// The integer part.
    trunc(x) Trunc __nv_truncf __nv_trunc trunc;
    /// The nearest integer; of two, that which is further from 0.
    round(x) Round __nv_roundf __nv_round round;
    /// The nearest integer; of two, the even one.
    round_ties_even(x) RoundTiesEven __nv_rintf __nv_rint round_ties_even;
}

/// Functions of C that the stable standard library lacks.
#[cfg(not(target_arch = "nvptx64"))]
mod special {
    // The standard library itself links the C library that has them.
    unsafe extern "C" {
        safe fn erf(x: f64) -> f64;
        safe fn erff(x: f32) -> f32;
        safe fn erfc(x: f64) -> f64;
        safe fn erfcf(x: f32) -> f32;
        safe fn tgamma(x: f64) -> f64;
        safe fn tgammaf(x: f32) -> f32;
        safe fn lgamma(x: f64) -> f64;
        safe fn lgammaf(x: f32) -> f32;
    }

    pub trait Special {
        fn special_erf(self) -> Self;
        fn special_erfc(self) -> Self;
        fn special_gamma(self) -> Self;
        fn special_ln_gamma(self) -> Self;
    }

    macro_rules! special {
        ($($ty:ident $erf:ident $erfc:ident $gamma:ident $ln_gamma:ident;)*) => {
            $(impl Special for $ty {
                fn special_erf(self) -> Self {
                    $erf(self)
                }
                fn special_erfc(self) -> Self {
                    $erfc(self)
                }
                fn special_gamma(self) -> Self {
                    $gamma(self)
                }
                fn special_ln_gamma(self) -> Self {
                    $ln_gamma(self)
                }
            })*
        };
    }

    special! {
        f32 erff erfcf tgammaf lgammaf;
        f64 erf erfc tgamma lgamma;
    }
}

ptx! {
    /// `1 / sqrt(x)`, within 2 ulp.
    pub fn rsqrt_approx(x: f32) -> f32 = "rsqrt.approx.f32 {}, {x};" else { 1.0 / x.sqrt() };
    /// The sine, with an absolute error of 2^-20.5 between -pi and pi.
    pub fn sin_approx(x: f32) -> f32 = "sin.approx.f32 {}, {x};" else { x.sin() };
    /// The cosine, with an absolute error of 2^-20.5 between -pi and pi.
    pub fn cos_approx(x: f32) -> f32 = "cos.approx.f32 {}, {x};" else { x.cos() };
    /// 2 to the power of `x`, within 2 ulp.
    pub fn exp2_approx(x: f32) -> f32 = "ex2.approx.f32 {}, {x};" else { x.exp2() };
    /// The binary logarithm, with a relative error of 2^-22.
    pub fn log2_approx(x: f32) -> f32 = "lg2.approx.f32 {}, {x};" else { x.log2() };
    /// The hyperbolic tangent, with a relative error of 2^-11.
    pub fn tanh_approx(x: f32) -> f32 = "tanh.approx.f32 {}, {x};" else { x.tanh() };
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_types() {
        assert_eq!(super::sqrt(9.0f32), 3.0);
        assert_eq!(super::fma(2.0f64, 3.0, 4.0), 10.0);
        assert_eq!(super::pow(2.0f32, 10.0), 1024.0);
        assert_eq!(super::atan2(1.0f64, 0.0), std::f64::consts::FRAC_PI_2);
        assert_eq!(super::round_ties_even(2.5f32), 2.0);
        assert_eq!((super::erf(0.0f64), super::erfc(0.0f32)), (0.0, 1.0));
        assert!(
            (super::gamma(5.0f32) - 24.0).abs() < 1e-4
                && (super::ln_gamma(5.0f64).exp() - 24.0).abs() < 1e-12
        );
    }
}
