//! The approximate instructions against the host's f64 library: no more than half an ulp and a hair from the true value, far
//! inside the manual's bounds, over a dense sweep of all f32 and all f16 and bf16 operands.

use warpsmith_semantics::value::half::{self, BF16, F16, Half};
use warpsmith_semantics::value::{approx, single};

/// A sweep through all bit patterns, with a step that is prime to every exponent's size.
fn sweep() -> impl Iterator<Item = u32> {
    (0..=u32::MAX).step_by(5003).chain((0..512).map(|i| i * 0x0080_0000)).chain(0x3f7f_ff00..0x3f80_0100)
}

/// The distance of an f32 result from the true value, in ulps of the result's binade.
fn ulps(found: u32, exact: f64) -> f64 {
    let value = f32::from_bits(found) as f64;
    if value == exact || (value.is_nan() && exact.is_nan()) {
        return 0.0;
    }
    if value.is_infinite() {
        return if exact.abs() >= f32::MAX as f64 && exact.signum() == value.signum() {
            0.5
        } else {
            f64::INFINITY
        };
    }
    let exponent = exact.abs().max(f32::MIN_POSITIVE as f64).log2().floor() as i32;
    (value - exact).abs() / 2f64.powi(exponent - 23)
}

fn check(name: &str, f: impl Fn(u32) -> u32, exact: impl Fn(f64) -> f64) {
    let mut worst = (0.0, 0);
    for a in sweep() {
        let error = ulps(f(a), exact(f32::from_bits(a) as f64));
        if error > worst.0 {
            worst = (error, a);
        }
    }
    assert!(worst.0 <= 0.501, "{name} is {} ulp off at {:#010x}", worst.0, worst.1);
}

#[test]
fn single_functions_are_rounded_true_values() {
    let unless_tiny = |x: f64, f: fn(f64) -> f64| {
        if x.abs() < f32::MIN_POSITIVE as f64 { f(0.0f64.copysign(x)) } else { f(x) }
    };
    check("rcp", approx::rcp::<false>, |x| 1.0 / x);
    check("sqrt", approx::sqrt::<false>, f64::sqrt);
    check("rsqrt", approx::rsqrt::<false>, |x| 1.0 / x.sqrt());
    check("ex2", approx::ex2::<false>, f64::exp2);
    check("lg2", approx::lg2::<false>, f64::log2);
    check("tanh", approx::tanh, f64::tanh);
    check("sin", approx::sin, |x| unless_tiny(x, f64::sin));
    check("cos", approx::cos, |x| unless_tiny(x, f64::cos));
}

#[test]
fn half_functions_are_rounded_true_values() {
    fn check<H: Half>() {
        for a in 0..=u16::MAX {
            let x = H::widen(a) as f64;
            assert_eq!(approx::ex2_half::<H>(false, a), H::narrow(x.exp2()), "ex2 {a:#x}");
            assert_eq!(approx::tanh_half::<H>(a), H::narrow(x.tanh()), "tanh {a:#x}");
        }
    }
    check::<F16>();
    check::<BF16>();
    assert_eq!(approx::ex2_half::<BF16>(true, 0x8001), BF16::ONE);
    assert_eq!(approx::ex2_half::<BF16>(true, 0xc2fe), 0, "2^-127 is subnormal");
    assert_eq!(approx::ex2_half::<F16>(false, 0xfe00), half::NAN);
}

#[test]
fn division() {
    for a in sweep().step_by(97) {
        for b in [
            0x3f80_0000,
            0x4040_0000,
            0x0000_0001,
            0x8000_0000,
            0x7e80_0000,
            0x7e80_0001,
            0x7f00_0000,
            0x7f80_0000,
            0xff7f_ffff,
        ] {
            let (x, y) = (f32::from_bits(a) as f64, f32::from_bits(b) as f64);
            // Two roundings, of the reciprocal and of the product.
            assert!(ulps(approx::div_full::<false>(a, b), x / y) <= 1.5, "{a:#x} / {b:#x}");
            let found = approx::div::<false>(a, b);
            if y.abs() > 2f64.powi(126) && y.is_finite() {
                // The manual: infinity gives NaN, numbers give zero.
                let expected = if x.is_finite() { (a ^ b) & 0x8000_0000 } else { single::NAN };
                assert_eq!(found, expected, "{a:#x} / {b:#x}");
            } else if y.abs() >= f64::from(f32::MIN_POSITIVE) || y == 0.0 {
                assert!(ulps(found, x / y) <= 1.5, "{a:#x} / {b:#x}");
            }
        }
    }
}

#[test]
fn upper_words_of_f64() {
    for a in [1.0f64, 3.0, -7.5, 1e300, -1e-300, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-310] {
        let bits = approx::rcp_f64(a.to_bits());
        assert_eq!(bits as u32, 0);
        let used = f64::from_bits(if a.is_subnormal() { 0 } else { a.to_bits() & !0xffff_ffff });
        let exact = 1.0 / used;
        let found = f64::from_bits(bits);
        assert!(
            found == exact
                || ((found - exact) / exact).abs() < 2f64.powi(-20)
                || exact.is_subnormal() && found == 0.0,
            "1/{a}"
        );
        let root = f64::from_bits(approx::rsqrt_f64_ftz(a.to_bits()));
        let exact = 1.0 / used.sqrt();
        assert!(
            root == exact
                || (root.is_nan() && exact.is_nan())
                || ((root - exact) / exact).abs() < 2f64.powi(-20),
            "rsqrt {a}"
        );
    }
    assert_eq!(approx::rcp_f64(f64::NAN.to_bits()), 0x7fff_ffff_0000_0000);
    assert_eq!(approx::rsqrt_f64_ftz((-1f64).to_bits()), 0x7fff_ffff_0000_0000);
    assert_eq!(approx::rsqrt_f64(4f64.to_bits()), 0.5f64.to_bits());
}

#[test]
fn sines_of_turns() {
    use approx::{cos_turns, sin_turns};
    let near = |found: u32, wanted: f64| {
        let wanted = wanted as f32;
        assert!(found.abs_diff(wanted.to_bits()) <= 1, "{:e} is not {wanted:e}", f32::from_bits(found));
    };
    for i in -4000..4000 {
        let turns = i as f32 * 0.000_613 + 0.000_1;
        let angle = turns as f64 * std::f64::consts::TAU;
        near(sin_turns(turns.to_bits()), angle.sin());
        near(cos_turns(turns.to_bits()), angle.cos());
    }
    // As ptxas 13.5 folds them.
    for (turns, sine, cosine) in [
        (0x3e00_0000, 0x3f35_04f3, 0x3f35_04f3),
        (0x3e80_0000, 0x3f80_0000, 0),
        (0xbf40_0000, 0x3f80_0000, 0x8000_0000),
        (0x3f20_0000, 0xbf35_04f3, 0xbf35_04f3),
    ] {
        assert_eq!(sin_turns(turns), sine);
        assert_eq!(cos_turns(turns) & 0x7fff_ffff, cosine & 0x7fff_ffff);
    }
    // Half and whole turns are exact, also where a product with a rounded pi would not be.
    for (turns, cosine) in
        [(0x3f00_0000, 0xbf80_0000), (0x3f80_0000, 0x3f80_0000), (0x7f7f_ffff, 0x3f80_0000)]
    {
        assert_eq!(sin_turns(turns), 0);
        assert_eq!(sin_turns(turns | 0x8000_0000), 0x8000_0000);
        assert_eq!(cos_turns(turns), cosine);
    }
    assert_eq!([sin_turns(1), sin_turns(0x8000_0001)], [0, 0x8000_0000], "subnormal operands");
    assert_eq!([sin_turns(0x7f80_0000), cos_turns(0x7fc0_0000)], [0x7fff_ffff; 2]);
}
