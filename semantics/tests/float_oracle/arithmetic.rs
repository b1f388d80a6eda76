//! Arithmetic of f32, f64 and the formats of 16 bits.

use crate::{ROUNDINGS, Random, d, edges, pairs, s, single_bits};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Round};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::half::{self, After};
use warpsmith_semantics::value::{double, single};

#[test]
fn single_add_sub_mul_div() {
    for (a, b) in pairs(8, 23, 200_000) {
        let (a, b) = (a as u32, b as u32);
        for (rounding, round) in ROUNDINGS {
            let shown = format!("{a:#010x} {b:#010x} {rounding:?}");
            assert_eq!(
                single::add::<false>(rounding, a, b),
                single_bits(s(a).add_r(s(b), round).value),
                "add {shown}"
            );
            assert_eq!(
                single::sub::<false>(rounding, a, b),
                single_bits(s(a).sub_r(s(b), round).value),
                "sub {shown}"
            );
            assert_eq!(
                single::mul::<false>(rounding, a, b),
                single_bits(s(a).mul_r(s(b), round).value),
                "mul {shown}"
            );
            assert_eq!(
                single::div::<false>(rounding, a, b),
                single_bits(s(a).div_r(s(b), round).value),
                "div {shown}"
            );
        }
    }
}

/// The result with flushed operands, and zero if it is tiny after rounding with the exponent unbounded: seen on the result
/// scaled up by 2^64, where that rounding is the ordinary one.
fn flushed(exact: impl Fn(Single, Single, Single) -> Single, a: u32, b: u32, c: u32) -> u32 {
    let [a, b, c] = [a, b, c].map(|x| s(single::flush(x)));
    let plain = exact(a, b, c);
    let scaled = exact(a.scalbn_r(64, Round::TowardZero), b, c.scalbn_r(64, Round::TowardZero));
    let limit = Single::from_bits(0x0080_0000).scalbn_r(64, Round::TowardZero);
    let large = Single::from_bits(0x0100_0000);
    if plain.abs() < large && scaled.abs() < limit {
        plain.to_bits() as u32 & 0x8000_0000
    } else {
        single_bits(plain)
    }
}

#[test]
fn single_flushes_what_is_tiny_after_rounding() {
    let mut near = pairs(8, 23, 50_000);
    // Products just below the smallest normal number, where rounding decides.
    let mut rng = Random(7);
    for _ in 0..50_000 {
        let (r, t) = (rng.next(), rng.next());
        near.push((0x2000_0000 | r & 0xff, 0x1fff_ff00 | t & 0xff));
        near.push((0x2000_0000 | r & 0x007f_ffff, 0x1f80_0000 | t & 0x007f_ffff));
    }
    for (a, b) in near {
        let (a, b) = (a as u32, b as u32);
        let c = a.rotate_left(7) ^ b;
        for (rounding, round) in ROUNDINGS {
            let shown = format!("{a:#010x} {b:#010x} {c:#010x} {rounding:?}");
            let add = flushed(|a, _, c| a.add_r(c, round).value, a, b, b);
            assert_eq!(single::add::<true>(rounding, a, b), add, "add {shown}");
            let mul = flushed(|a, b, _| a.mul_r(b, round).value, a, b, 0);
            assert_eq!(single::mul::<true>(rounding, a, b), mul, "mul {shown}");
            let div = flushed(|a, b, _| a.div_r(b, round).value, a, b, 0);
            assert_eq!(single::div::<true>(rounding, a, b), div, "div {shown}");
            for c in [c, 0, 0x8000_0000, 0x0080_0000] {
                let fma = flushed(|a, b, c| a.mul_add_r(b, c, round).value, a, b, c);
                assert_eq!(single::fma::<true>(rounding, a, b, c), fma, "fma {shown} {c:#x}");
            }
        }
    }
}

#[test]
fn single_fma() {
    let list: Vec<u32> = edges(8, 23).into_iter().map(|x| x as u32).collect();
    let check = |a: u32, b: u32, c: u32| {
        for (rounding, round) in ROUNDINGS {
            let expected = single_bits(s(a).mul_add_r(s(b), s(c), round).value);
            assert_eq!(
                single::fma::<false>(rounding, a, b, c),
                expected,
                "{a:#x} * {b:#x} + {c:#x} {rounding:?}"
            );
        }
        assert_eq!(single::fma_fused(a, b, c), single::fma::<false>(Rounding::Nearest, a, b, c));
    };
    for a in &list {
        for b in &list {
            for c in list.iter().step_by(2) {
                check(*a, *b, *c);
            }
        }
    }
    let mut rng = Random(3);
    for _ in 0..200_000 {
        let (a, b) = (rng.next() as u32, rng.next() as u32);
        check(a, b, rng.next() as u32);
        // An addend that nearly cancels the product.
        let product = single::mul::<false>(Rounding::Nearest, a, b);
        check(a, b, product ^ 0x8000_0000 ^ (rng.next() as u32 & 3));
    }
}

#[test]
fn single_square_root() {
    let mut values: Vec<u32> = edges(8, 23).into_iter().map(|x| x as u32).collect();
    let mut rng = Random(5);
    values.extend((0..200_000).map(|_| rng.next() as u32 >> 1));
    for a in values {
        let value = s(a);
        for (rounding, _) in ROUNDINGS {
            let root = single::sqrt::<false>(rounding, a);
            if value.is_nan() || (value.is_negative() && !value.is_zero()) {
                assert_eq!(root, single::NAN);
            } else if value.is_zero() || value.is_infinite() {
                assert_eq!(root, a);
            } else {
                // The square of a 24-bit root, and of a midpoint between two, is exact in an f64.
                let wide = |bits: u32| f32::from_bits(bits) as f64;
                let x = wide(a);
                let (below, at, above) = (wide(root - 1), wide(root), wide(root + 1));
                let holds = match rounding {
                    Rounding::Nearest | Rounding::NearestAway => {
                        let (low, high) = ((below + at) / 2.0, (at + above) / 2.0);
                        low * low <= x && x <= high * high
                    }
                    Rounding::Up => below * below < x && x <= at * at,
                    Rounding::Zero | Rounding::Down => at * at <= x && x < above * above,
                };
                assert!(holds, "sqrt {a:#x} {rounding:?} = {root:#x}");
            }
        }
    }
}

/// Compares an f64 result; of a NaN the rule is checked apart.
fn same_double(found: u64, expected: Double, operands: &[u64], what: &str) {
    if expected.is_nan() {
        let first = operands.iter().find(|x| double::is_nan(**x));
        let rule = first.map_or(double::INVALID, |x| x | 0x0008_0000_0000_0000);
        assert_eq!(found, rule, "{what} {operands:x?}");
    } else {
        assert_eq!(found, expected.to_bits() as u64, "{what} {operands:x?}");
    }
}

#[test]
fn double_arithmetic() {
    for (i, (a, b)) in pairs(11, 52, 50_000).into_iter().enumerate() {
        for (rounding, round) in ROUNDINGS {
            same_double(double::add(rounding, a, b), d(a).add_r(d(b), round).value, &[a, b], "add");
            same_double(double::sub(rounding, a, b), d(a).sub_r(d(b), round).value, &[a, b], "sub");
            same_double(double::mul(rounding, a, b), d(a).mul_r(d(b), round).value, &[a, b], "mul");
            same_double(double::div(rounding, a, b), d(a).div_r(d(b), round).value, &[a, b], "div");
            let product = double::mul(Rounding::Nearest, a, b) ^ 1 << 63;
            for c in [a.rotate_left(i as u32 % 64), b, product, product ^ 1] {
                same_double(
                    double::fma(rounding, a, b, c),
                    d(a).mul_add_r(d(b), d(c), round).value,
                    &[a, b, c],
                    "fma",
                );
            }
        }
    }
}

#[test]
fn double_square_root_brackets_its_operand() {
    let mut rng = Random(11);
    let mut values = edges(11, 52);
    values.extend((0..50_000).map(|_| rng.next() >> 1));
    for a in values {
        if double::is_nan(a) || a >> 63 != 0 || a == 0 || a == 0x7ff0_0000_0000_0000 {
            continue;
        }
        let sign_of_excess = |root: u64| {
            // root * root - a, exactly signed: a fused operation rounds away no sign.
            // Small operands are scaled by an even power of two, so that it does not underflow.
            let up = if a < 0x2000_0000_0000_0000 { 600 } else { 0 };
            let scale = |x: u64, by: i32| d(x).scalbn_r(by, Round::TowardZero);
            let excess =
                scale(root, up / 2).mul_add_r(scale(root, up / 2), -scale(a, up), Round::TowardZero).value;
            if excess.is_zero() {
                0
            } else if excess.is_negative() {
                -1
            } else {
                1
            }
        };
        let down = double::sqrt(Rounding::Down, a);
        assert!(sign_of_excess(down) <= 0 && sign_of_excess(down + 1) > 0, "{a:#x}");
        assert_eq!(double::sqrt(Rounding::Zero, a), down);
        let exact = sign_of_excess(down) == 0;
        assert_eq!(double::sqrt(Rounding::Up, a), down + !exact as u64, "{a:#x}");
        let nearest = double::sqrt(Rounding::Nearest, a);
        assert!(nearest == down || nearest == down + 1);
        assert_eq!(nearest, f64::from_bits(a).sqrt().to_bits());
    }
}

/// The operations of a 16-bit format against the oracle's format, for all values of one operand.
fn check_half<H: half::Half, F: Float>(exponent_bits: u32, fraction_bits: u32) {
    let f = |x: u16| F::from_bits(x as u128);
    let bits = |x: F| if x.is_nan() { half::NAN } else { x.to_bits() as u16 };
    let near = Round::NearestTiesToEven;
    let plain = After::default();
    let list: Vec<u16> = edges(exponent_bits, fraction_bits).into_iter().map(|x| x as u16).collect();
    for a in 0..=u16::MAX {
        for (i, b) in list.iter().copied().enumerate() {
            assert_eq!(half::add::<H>(plain, a, b), bits(f(a).add_r(f(b), near).value), "{a:#x} + {b:#x}");
            assert_eq!(half::mul::<H>(plain, a, b), bits(f(a).mul_r(f(b), near).value), "{a:#x} * {b:#x}");
            let c = list[(i * 7 + a as usize) % list.len()];
            let expected = bits(f(a).mul_add_r(f(b), f(c), near).value);
            assert_eq!(half::fma::<H>(plain, a, b, c), expected, "{a:#x} * {b:#x} + {c:#x}");
        }
        assert_eq!(half::abs::<H>(false, a), bits(f(a).abs()));
        assert_eq!(half::neg::<H>(false, a), bits(-f(a)));
    }
}

#[test]
fn f16_and_bf16_arithmetic() {
    check_half::<half::F16, Half>(5, 10);
    check_half::<half::BF16, BFloat>(8, 7);
}

#[test]
fn f16_flushes_saturates_and_clamps() {
    use half::{F16, Half as _};
    let after = |ftz, sat, relu| After { ftz, sat, relu };
    // 2^-14 * (1 - 2^-11) is halfway to the smallest normal number with the exponent unbounded.
    let (just_below_one, smallest) = (0x3bff, 0x0400);
    assert_eq!(half::mul::<F16>(after(true, false, false), just_below_one, smallest), 0);
    assert_eq!(half::mul::<F16>(After::default(), just_below_one, smallest), smallest);
    // (1 + 2^-10) (1 - 2^-10) rounds to one with the exponent unbounded, although it is below.
    assert_eq!(half::mul::<F16>(after(true, false, false), 0x0401, 0x3bfe), smallest);
    assert_eq!(half::add::<F16>(after(true, false, false), 0x0001, 0x0001), 0);
    for a in 0..=u16::MAX {
        let value = F16::widen(a);
        let saturated = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) + 0.0 };
        assert_eq!(F16::widen(half::add::<F16>(after(false, true, false), a, 0x8000)), saturated);
        let relu = half::add::<F16>(after(false, false, true), a, 0x8000);
        assert_eq!(
            relu,
            if value.is_nan() {
                half::NAN
            } else if a & 0x8000 != 0 {
                0
            } else {
                a
            }
        );
    }
    assert_eq!(half::fma_oob::<F16>(After::default(), half::OOB_NAN, 0x3c00, 0x3c00), 0);
    assert_eq!(half::fma_oob::<F16>(After::default(), 0x7e00, 0x3c00, 0x3c00), half::NAN);
}
