//! Formats of eight bits and fewer.

use crate::conversions::{convert_with, is_nan, values};
use rustc_apfloat::Round;
use rustc_apfloat::ieee::{Float8E4M3FN, Float8E5M2, Single};
use warpsmith_semantics::value::Rounding;
use warpsmith_semantics::value::convert::narrow::{self, Element, Narrow, UNSCALED};
use warpsmith_semantics::value::convert::small::{self, Small};
use warpsmith_semantics::value::convert::{self, Cvt, Kind};

/// The number that bits of a small format denote, from the format's definition.
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
fn small_formats_are_widened_exactly() {
    for (small, e, f) in SMALL {
        for bits in 0..=u32::from(u8::MAX) {
            let found = f32::from_bits(small.to_single(bits));
            let magnitude = bits & ((1 << (e + f)) - 1);
            let expected = match (small, magnitude) {
                (Small::E4M3, 0x7f) | (Small::E5M2, 0x7d..) => f64::NAN,
                (Small::E5M2, 0x7c) => {
                    if bits & 0x80 == 0 {
                        f64::INFINITY
                    } else {
                        f64::NEG_INFINITY
                    }
                }
                _ => small_value(e, f, bits),
            };
            if expected.is_nan() {
                assert!(found.is_nan(), "{small:?} {bits:#x}");
            } else {
                assert_eq!((found as f64).to_bits(), expected.to_bits(), "{small:?} {bits:#x}");
            }
        }
    }
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
