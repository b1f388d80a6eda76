//! Every float operation against `rustc_apfloat`, an independent implementation with all roundings, on cross products of edge
//! cases and on random bits; 16-bit formats exhaustively where one operand runs.

mod arithmetic;
mod conversions;
mod small;

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round};
use warpsmith_semantics::value::{Rounding, single};

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

fn d(bits: u64) -> Double {
    Double::from_bits(bits as u128)
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
