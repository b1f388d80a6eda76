//! Conversions between integers and floats of 16 bits and more.

use crate::{ROUNDINGS, Random, d, edges, s, single_bits};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::convert::{self, Cvt, Kind};
use warpsmith_semantics::value::{double, single};

/// Converts with the oracle.
pub fn convert_with<S: Float + FloatConvert<D>, D: Float>(bits: u64, round: Round) -> u64 {
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

pub fn is_nan(kind: Kind, bits: u64) -> bool {
    let (e, f) = width(kind);
    bits & ((1 << (e + f)) - 1) > ((1 << e) - 1) << f
}

const FLOATS: [Kind; 4] = [Kind::F16, Kind::Bf16, Kind::F32, Kind::F64];

/// Values of a kind: all of them for 16 bits, else edges, edges of the other formats, and random bits.
pub fn values(kind: Kind) -> Vec<u64> {
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
