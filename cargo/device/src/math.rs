//! Functions of floats that PTX has instructions for. On the host they are those of the standard library: the approximate ones are more exact there.

use crate::ptx;

ptx! {
    /// The square root, rounded to nearest.
    pub fn sqrt(x: f32) -> f32 = "sqrt.rn.f32 {}, {x};" else { x.sqrt() };
    /// The square root, rounded to nearest.
    pub fn sqrt_f64(x: f64) -> f64 = "sqrt.rn.f64 {}, {x};" else { x.sqrt() };
    /// `a * b + c`, rounded once.
    pub fn fma(a: f32, b: f32, c: f32) -> f32 = "fma.rn.f32 {}, {a}, {b}, {c};" else { a.mul_add(b, c) };
    /// `a * b + c`, rounded once.
    pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 = "fma.rn.f64 {}, {a}, {b}, {c};" else { a.mul_add(b, c) };
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
