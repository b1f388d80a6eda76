//! Every float operation against `rustc_apfloat`, an independent implementation with all roundings, on cross products of edge
//! cases and on random bits; 16-bit formats exhaustively where one operand runs.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::convert::narrow::{self, Element, Narrow, UNSCALED};
use warpsmith_semantics::value::convert::small::{self, Small};
use warpsmith_semantics::value::convert::{self, Cvt, Kind};
use warpsmith_semantics::value::half::{self, After};
use warpsmith_semantics::value::{double, single};

const ROUNDINGS: [(Rounding, Round); 4] = [
    (Rounding::Nearest, Round::NearestTiesToEven),
    (Rounding::Zero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// xorshift64*: the same numbers on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Bits around every corner of a format: zero, the subnormal border, one, halves of an ulp, the largest number, infinity, NaN.
fn edges(exponent_bits: u32, fraction_bits: u32) -> Vec<u64> {
    let one = ((1u64 << (exponent_bits - 1)) - 1) << fraction_bits;
    let smallest = 1u64 << fraction_bits;
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let mut list = vec![
        0,
        1,
        2,
        3,
        smallest / 2,
        smallest / 2 + 1,
        smallest - 1,
        smallest,
        smallest + 1,
        2 * smallest - 1,
        2 * smallest,
        one - (smallest << 1) + 1,
        one - 2,
        one - 1,
        one,
        one + 1,
        one + 2,
        one + smallest / 2,
        one + smallest - 1,
        one + smallest,
        one + (smallest >> 1) + (smallest >> 3) + 1,
        one + smallest * (fraction_bits as u64 / 2) + 1,
        one + smallest * fraction_bits as u64,
        one + smallest * (fraction_bits as u64 + 1),
        one + smallest * (fraction_bits as u64 + 2) + 1,
        one / 2 + smallest - 1,
        one / 2 + 1,
        one / 2,
        infinity - smallest,
        infinity - 2,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity + smallest / 2,
        infinity + smallest - 1,
    ];
    let sign = 1 << (exponent_bits + fraction_bits);
    list.extend(list.clone().into_iter().map(|x| x | sign));
    list.sort_unstable();
    list.dedup();
    list
}

fn single_bits(x: Single) -> u32 {
    if x.is_nan() { single::NAN } else { x.to_bits() as u32 }
}

fn s(bits: u32) -> Single {
    Single::from_bits(bits as u128)
}

/// Pairs to test: the cross product of the edges, and random bits, half of them with near exponents.
fn pairs(exponent_bits: u32, fraction_bits: u32, random: usize) -> Vec<(u64, u64)> {
    let list = edges(exponent_bits, fraction_bits);
    let mut pairs: Vec<_> = list.iter().flat_map(|a| list.iter().map(move |b| (*a, *b))).collect();
    let mut rng = Random(0x9e37_79b9_7f4a_7c15);
    let mask = u64::MAX >> (63 - exponent_bits - fraction_bits);
    for i in 0..random {
        let a = rng.next() & mask;
        let b = if i % 2 == 0 { rng.next() & mask } else { a ^ (rng.next() & ((4 << fraction_bits) - 1)) };
        pairs.push((a, b));
    }
    pairs
}

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

fn d(bits: u64) -> Double {
    Double::from_bits(bits as u128)
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

/// Converts with the oracle.
fn convert_with<S: Float + FloatConvert<D>, D: Float>(bits: u64, round: Round) -> u64 {
    let mut loses = false;
    FloatConvert::<D>::convert_r(S::from_bits(bits as u128), round, &mut loses).value.to_bits() as u64
}

/// The oracle's conversion between two kinds.
fn oracle(from: Kind, to: Kind, bits: u64, round: Round) -> u64 {
    macro_rules! targets {
        ($s:ty) => {
            match to {
                Kind::F16 => convert_with::<$s, Half>(bits, round),
                Kind::Bf16 => convert_with::<$s, BFloat>(bits, round),
                Kind::F32 => convert_with::<$s, Single>(bits, round),
                _ => convert_with::<$s, Double>(bits, round),
            }
        };
    }
    match from {
        Kind::F16 => targets!(Half),
        Kind::Bf16 => targets!(BFloat),
        Kind::F32 => targets!(Single),
        _ => targets!(Double),
    }
}

fn width(kind: Kind) -> (u32, u32) {
    match kind {
        Kind::F16 => (5, 10),
        Kind::Bf16 => (8, 7),
        Kind::F32 => (8, 23),
        _ => (11, 52),
    }
}

fn is_nan(kind: Kind, bits: u64) -> bool {
    let (e, f) = width(kind);
    bits & ((1 << (e + f)) - 1) > ((1 << e) - 1) << f
}

const FLOATS: [Kind; 4] = [Kind::F16, Kind::Bf16, Kind::F32, Kind::F64];

/// Values of a kind: all of them for 16 bits, else edges, edges of the other formats, and random bits.
fn values(kind: Kind) -> Vec<u64> {
    let (e, f) = width(kind);
    if e + f == 15 {
        return (0..=0xffff).collect();
    }
    let mut list = edges(e, f);
    for other in FLOATS {
        let (oe, of) = width(other);
        for bits in edges(oe, of).into_iter().filter(|b| !is_nan(other, *b)) {
            let near = oracle(other, kind, bits, Round::TowardZero);
            list.extend([near, near.wrapping_add(1), near.wrapping_sub(1)]);
            if f > of {
                // Midpoints of the narrower format and their neighbours.
                let middle = near.wrapping_add(1 << (f - of - 1));
                list.extend([middle, middle.wrapping_add(1), middle.wrapping_sub(1)]);
            }
        }
    }
    let mut rng = Random(17);
    let mask = u64::MAX >> (63 - e - f);
    list.extend((0..20_000).map(|_| rng.next() & mask));
    // Magnitudes that the narrow formats can hold.
    let one = ((1u64 << (e - 1)) - 1) << f;
    list.extend(
        (0..20_000).map(|_| (one - (20 << f) + (rng.next() % (40 << f))) | (rng.next() & 1) << (e + f)),
    );
    list
}

#[test]
fn float_to_float() {
    for from in FLOATS {
        let list = values(from);
        for to in FLOATS.into_iter().filter(|to| *to != from) {
            for (rounding, round) in ROUNDINGS {
                let cvt = Cvt { rounding, ..Cvt::new(to, from) };
                for a in &list {
                    let found = cvt.apply(*a);
                    if is_nan(from, *a) {
                        assert!(is_nan(to, found), "{from:?} {a:#x} -> {to:?} {found:#x}");
                    } else {
                        assert_eq!(
                            found,
                            oracle(from, to, *a, round),
                            "{from:?} {a:#x} -> {to:?} {rounding:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn short_ways_equal_the_general_one() {
    for a in values(Kind::F32) {
        let general = |to, rounding| Cvt { rounding, ..Cvt::new(to, Kind::F32) }.apply(a);
        let a = a as u32;
        assert_eq!(
            convert::s32_from_single(a) as i32 as i64 as u64,
            general(Kind::Signed(32), Rounding::Zero),
            "{a:#x}"
        );
        assert_eq!(convert::u32_from_single(a) as u64, general(Kind::Unsigned(32), Rounding::Zero));
        assert_eq!(convert::double_from_single(a), general(Kind::F64, Rounding::Nearest));
        assert_eq!(convert::f16_from_single(a) as u64, general(Kind::F16, Rounding::Nearest), "{a:#x}");
        assert_eq!(convert::bf16_from_single(a) as u64, general(Kind::Bf16, Rounding::Nearest), "{a:#x}");
        assert_eq!(convert::single_from_s32(a) as u64, Cvt::new(Kind::F32, Kind::Signed(32)).apply(a as u64));
        assert_eq!(
            convert::single_from_u32(a) as u64,
            Cvt::new(Kind::F32, Kind::Unsigned(32)).apply(a as u64)
        );
    }
    for a in values(Kind::F64) {
        assert_eq!(convert::single_from_double(a) as u64, Cvt::new(Kind::F32, Kind::F64).apply(a), "{a:#x}");
    }
    for a in 0..=0xffffu64 {
        assert_eq!(
            convert::single_from_f16(a as u16) as u64,
            Cvt::new(Kind::F32, Kind::F16).apply(a),
            "{a:#x}"
        );
    }
}

#[test]
fn integers_and_floats() {
    let integers = [(Kind::Unsigned(8), Kind::Signed(8)), (Kind::Unsigned(16), Kind::Signed(16))]
        .into_iter()
        .chain([(Kind::Unsigned(32), Kind::Signed(32)), (Kind::Unsigned(64), Kind::Signed(64))]);
    let range = |kind| match kind {
        Kind::Unsigned(bits) => (0i128, (1i128 << bits) - 1),
        Kind::Signed(bits) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => unreachable!("only integers are asked"),
    };
    let mut rng = Random(23);
    for kind in integers.flat_map(|(u, s)| [u, s]) {
        let (least, greatest) = range(kind);
        for float in FLOATS {
            for (rounding, round) in ROUNDINGS {
                // From the float: cut to an integer of 200 bits by the oracle, then clamped.
                let down = Cvt { rounding, integral: true, ..Cvt::new(kind, float) };
                for a in values(float).into_iter().step_by(if float == Kind::F64 || float == Kind::F32 {
                    1
                } else {
                    3
                }) {
                    if is_nan(float, a) {
                        let wide = float == Kind::F64 || greatest > u32::MAX as i128;
                        let nan =
                            if wide { 1u64 << (128 - (greatest - least).leading_zeros() - 1) } else { 0 };
                        let mask = u64::MAX >> (greatest - least).leading_zeros().saturating_sub(64);
                        assert_eq!(down.apply(a) & mask, nan, "NaN {float:?} -> {kind:?}");
                        continue;
                    }
                    let as_double = d(oracle_to_double(float, a)).round_to_integral(round).value;
                    let value = f64::from_bits(as_double.to_bits() as u64);
                    // The host's conversion saturates and an integral f64 below 2^100 is exact.
                    let expected = (value as i128).clamp(least, greatest) as u64;
                    assert_eq!(down.apply(a), expected, "{float:?} {a:#x} -> {kind:?} {rounding:?}");
                }
                // To the float.
                let up = Cvt { rounding, ..Cvt::new(float, kind) };
                let mut list: Vec<i128> = (0..64)
                    .flat_map(|i| [(1i128 << i) - 1, 1 << i, (1 << i) + 1, -(1 << i), -(1 << i) - 1])
                    .collect();
                list.extend(
                    (0..2000).map(|i| (rng.next() >> (i % 64)) as i128 * if i & 1 == 0 { 1 } else { -1 }),
                );
                for value in list.into_iter().filter(|v| (least..=greatest).contains(v)) {
                    let expected = match float {
                        Kind::F16 => Half::from_i128_r(value, round).value.to_bits(),
                        Kind::Bf16 => BFloat::from_i128_r(value, round).value.to_bits(),
                        Kind::F32 => Single::from_i128_r(value, round).value.to_bits(),
                        _ => Double::from_i128_r(value, round).value.to_bits(),
                    };
                    assert_eq!(
                        up.apply(value as u64),
                        expected as u64,
                        "{kind:?} {value} -> {float:?} {rounding:?}"
                    );
                }
            }
        }
    }
}

fn oracle_to_double(kind: Kind, bits: u64) -> u64 {
    if kind == Kind::F64 { bits } else { oracle(kind, Kind::F64, bits, Round::NearestTiesToEven) }
}

#[test]
fn integers_between_widths() {
    let kinds = [8, 16, 32, 64].into_iter().flat_map(|bits| [Kind::Unsigned(bits), Kind::Signed(bits)]);
    let interesting = [
        0u64,
        1,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 32,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
        300,
        -300i64 as u64,
    ];
    let cut = |value: i128, kind| match kind {
        Kind::Unsigned(8) => value as u8 as i128,
        Kind::Unsigned(16) => value as u16 as i128,
        Kind::Unsigned(32) => value as u32 as i128,
        Kind::Unsigned(_) => value as u64 as i128,
        Kind::Signed(8) => value as i8 as i128,
        Kind::Signed(16) => value as i16 as i128,
        Kind::Signed(32) => value as i32 as i128,
        _ => value as i64 as i128,
    };
    for from in kinds.clone() {
        for to in kinds.clone() {
            for a in interesting {
                let value = cut(a as i128, from);
                assert_eq!(Cvt::new(to, from).apply(a), cut(value, to) as u64, "{from:?} {a:#x} -> {to:?}");
                let (least, greatest) = match to {
                    Kind::Unsigned(bits) => (0, (1i128 << bits) - 1),
                    Kind::Signed(bits) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                    _ => unreachable!("only integers are asked"),
                };
                let saturated = Cvt { sat: true, ..Cvt::new(to, from) }.apply(a);
                assert_eq!(saturated, value.clamp(least, greatest) as u64, "{from:?} {a:#x} -> {to:?} .sat");
            }
        }
    }
}

#[test]
fn integral_roundings_of_floats() {
    for a in values(Kind::F32) {
        for (rounding, round) in ROUNDINGS {
            let expected = single_bits(s(a as u32).round_to_integral(round).value);
            assert_eq!(single::round_to_integer(rounding, a as u32), expected, "{a:#x} {rounding:?}");
        }
    }
    for a in values(Kind::F64).into_iter().filter(|a| !double::is_nan(*a)) {
        for (rounding, round) in ROUNDINGS {
            let expected = d(a).round_to_integral(round).value.to_bits() as u64;
            assert_eq!(double::round_to_integer(rounding, a), expected, "{a:#x} {rounding:?}");
        }
    }
    for a in (0..=0xffffu64).filter(|a| !is_nan(Kind::F16, *a)) {
        for (rounding, round) in ROUNDINGS {
            let cvt = Cvt { rounding, integral: true, ..Cvt::new(Kind::F16, Kind::F16) };
            let expected = Half::from_bits(a as u128).round_to_integral(round).value.to_bits() as u64;
            assert_eq!(cvt.apply(a), expected, "{a:#x} {rounding:?}");
        }
    }
}

#[test]
fn tf32_is_f32_with_ten_bits_of_fraction() {
    for a in values(Kind::F32).into_iter().filter(|a| !is_nan(Kind::F32, *a)) {
        let low = a & 0x1fff;
        let truncated = a & !0x1fff;
        let expect = |up: bool| truncated + if up { 0x2000 } else { 0 };
        let infinite = a & 0x7fff_ffff == 0x7f80_0000;
        let run = |rounding| Cvt { rounding, ..Cvt::new(Kind::Tf32, Kind::F32) }.apply(a);
        assert_eq!(run(Rounding::NearestAway), expect(low >= 0x1000), "{a:#x}");
        assert_eq!(
            run(Rounding::Nearest),
            expect(low > 0x1000 || low == 0x1000 && a & 0x2000 != 0),
            "{a:#x}"
        );
        assert_eq!(run(Rounding::Zero), truncated);
        let finite =
            Cvt { rounding: Rounding::NearestAway, satfinite: true, ..Cvt::new(Kind::Tf32, Kind::F32) }
                .apply(a);
        let rounded = expect(low >= 0x1000);
        let clamped = if infinite || rounded & 0x7fff_ffff == 0x7f80_0000 {
            a & 0x8000_0000 | 0x7f7f_e000
        } else {
            rounded
        };
        assert_eq!(finite, clamped, "{a:#x}");
    }
}

/// The number that bits of a small format stand for, from the format's definition.
fn small_value(exponent_bits: u32, fraction_bits: u32, bits: u32) -> f64 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let field = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f64 / (1u32 << fraction_bits) as f64;
    let magnitude =
        if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) };
    if bits >> (exponent_bits + fraction_bits) & 1 != 0 { -magnitude } else { magnitude }
}

const SMALL: [(Small, u32, u32); 5] =
    [(Small::E4M3, 4, 3), (Small::E5M2, 5, 2), (Small::E2M3, 2, 3), (Small::E3M2, 3, 2), (Small::E2M1, 2, 1)];

fn small_conversion(small: Small, relu: bool) -> Narrow {
    Narrow { relu, ..Narrow::new(Element::Small(small)) }
}

fn small_x2_from_single(small: Small, relu: bool, a: u32, b: u32) -> u32 {
    narrow::from_singles(small_conversion(small, relu), a, b, UNSCALED)
}

fn small_x2_from_f16x2(small: Small, relu: bool, a: u32) -> u32 {
    narrow::from_f16x2(small_conversion(small, relu), a, UNSCALED)
}

fn f16x2_from_small_x2(small: Small, relu: bool, a: u32) -> u32 {
    narrow::to_f16x2(small_conversion(small, relu), a)
}

#[test]
fn small_formats_take_the_nearest_value() {
    for (small, e, f) in SMALL {
        let max = match small {
            Small::E4M3 => 0x7e,
            Small::E5M2 => 0x7b,
            _ => (1 << (e + f)) - 1,
        };
        let numbers: Vec<(u32, f64)> = (0..=max).map(|bits| (bits, small_value(e, f, bits))).collect();
        let sign = 1 << (e + f);
        for a in values(Kind::F32).into_iter().step_by(7) {
            let x = f32::from_bits(a as u32);
            let magnitude = x.abs() as f64;
            let expected = if x.is_nan() {
                if e + f == 7 { 0x7f } else { max }
            } else {
                let distance = |n: &(u32, f64)| (n.1 - magnitude.min(numbers[max as usize].1)).abs();
                let best = numbers.iter().map(distance).fold(f64::INFINITY, f64::min);
                let nearest: Vec<_> = numbers.iter().filter(|n| distance(n) == best).collect();
                // Of two equally near the one with an even last bit.
                let chosen = nearest
                    .iter()
                    .find(|n| nearest.len() == 1 || n.0 % 2 == 0)
                    .expect("a nearest number exists");
                chosen.0 | if x.is_sign_negative() { sign } else { 0 }
            };
            let stride = small.stride();
            let packed = small_x2_from_single(small, false, a as u32, 0x3f80_0000);
            assert_eq!(packed >> stride, expected, "{small:?} {x:?}");
            let relu = small_x2_from_single(small, true, 0x3f80_0000, a as u32) & ((1 << stride) - 1);
            assert_eq!(relu, if x.is_sign_negative() && !x.is_nan() { 0 } else { expected });
        }
        for a in 0..=0xffffu32 {
            let wide = convert::single_from_f16(a as u16);
            let direct = small_x2_from_f16x2(small, false, a << 16 | 0x3c00);
            assert_eq!(direct, small_x2_from_single(small, false, wide, 0x3f80_0000), "{small:?} {a:#x}");
        }
        // And back: widening is exact.
        for bits in 0..2 * sign {
            let [low, high] = [0, 16].map(|at| {
                let both = bits | bits << small.stride();
                convert::single_from_f16((f16x2_from_small_x2(small, false, both) >> at) as u16)
            });
            assert_eq!(low, high);
            let special = e + f == 7 && bits & 0x7f > max;
            if !special {
                assert_eq!(f32::from_bits(low) as f64, small_value(e, f, bits), "{small:?} {bits:#x}");
            } else if small == Small::E5M2 && bits & 0x7f == 0x7c {
                assert!(f32::from_bits(low).is_infinite());
            } else {
                assert!(f32::from_bits(low).is_nan());
            }
        }
    }
}

#[test]
fn eight_bit_formats_agree_with_the_oracle() {
    for a in values(Kind::F32).into_iter().filter(|a| !is_nan(Kind::F32, *a)).step_by(3) {
        let near = Round::NearestTiesToEven;
        let e4m3 = convert_with::<Single, Float8E4M3FN>(a, near) as u32;
        let e5m2 = convert_with::<Single, Float8E5M2>(a, near) as u32;
        let clamp = |bits: u32, max: u32| bits & 0x80 | (bits & 0x7f).min(max);
        let run = |small| small_x2_from_single(small, false, 0, a as u32);
        assert_eq!(run(Small::E4M3), clamp(e4m3, 0x7e), "{a:#x}");
        assert_eq!(run(Small::E5M2), clamp(e5m2, 0x7b), "{a:#x}");
    }
}

#[test]
fn stochastic_rounding_is_decided_by_the_random_bits() {
    let f16 = Cvt::new(Kind::F16, Kind::F32);
    let bf16 = Cvt::new(Kind::Bf16, Kind::F32);
    // 1 + 2^-11 is half an ulp above one in f16: exactly half of the random numbers carry.
    let half_way = 0x3f80_1000;
    let carries = |x: u32| {
        (0..1 << 13).filter(|r| small::half_x2_stochastic(&f16, 0, x, *r) & 0xffff == 0x3c01).count()
    };
    assert_eq!((carries(half_way), carries(0x3f80_0000), carries(0x3f80_1fff)), (1 << 12, 0, (1 << 13) - 1));
    // The upper operand reads the upper bits.
    assert_eq!(small::half_x2_stochastic(&bf16, 0x3f80_8000, 0x3f80_8000, 0x8000_0000), 0x3f81_3f80);
    assert_eq!(small::half_x2_stochastic(&bf16, 0x7f7f_ffff, 0, 0xffff_0000), 0x7f80_0000);
    let finite = Cvt { satfinite: true, ..bf16 };
    assert_eq!(small::half_x2_stochastic(&finite, 0x7f7f_ffff, 0, 0xffff_0000), 0x7f7f_0000);
    // Four values: halfway between 1 and 1.5 in e2m1, upper two with all random bits, lower two with none.
    let halfway = 1.25f32.to_bits();
    assert_eq!(small::small_x4_from_single(Small::E2M1, false, [halfway; 4], 0xff00_ff00), 0x3322);
    assert_eq!(
        small::small_x4_from_single(Small::E4M3, false, [1.0625f32.to_bits(); 4], 0x8000_7fff),
        0x3939_3838
    );
    assert_eq!(
        small::small_x4_from_single(
            Small::E2M1,
            true,
            [1e9f32.to_bits(), (-1f32).to_bits(), 0, f32::NAN.to_bits()],
            0
        ),
        0x7007
    );
}

#[test]
fn powers_of_two_in_eight_bits() {
    for bits in 0..=0xffu32 {
        let wide = small::bf16x2_from_ue8m0x2(bits << 8 | 0x7f);
        assert_eq!(wide & 0xffff, 0x3f80);
        let value = f32::from_bits(wide & 0xffff_0000);
        if bits == 0xff {
            assert!(value.is_nan());
        } else {
            assert_eq!(value as f64, 2f64.powi(bits as i32 - 127));
            for rounding in [Rounding::Zero, Rounding::Up] {
                assert_eq!(small::ue8m0x2_from_bf16x2(rounding, false, wide), bits << 8 | 0x7f);
            }
        }
    }
    let run =
        |rounding, satfinite, x: f32| small::ue8m0x2_from_single(rounding, satfinite, 0, x.to_bits()) & 0xff;
    assert_eq!((run(Rounding::Zero, false, 1.5), run(Rounding::Up, false, 1.5)), (0x7f, 0x80));
    assert_eq!((run(Rounding::Up, false, f32::MAX), run(Rounding::Up, true, f32::MAX)), (0xff, 0xfe));
    assert_eq!((run(Rounding::Zero, true, f32::INFINITY), run(Rounding::Zero, true, f32::NAN)), (0xfe, 0xff));
    assert_eq!(
        (run(Rounding::Up, true, 0.0), run(Rounding::Up, true, 6e-39), run(Rounding::Up, true, 1e-38)),
        (0, 1, 1)
    );
}
