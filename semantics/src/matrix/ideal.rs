//! The exact sum of products, rounded once to nearest even: what tensor cores would give if they lost nothing.
//!
//! Products of these formats are exact in f64. Their sum is computed there with a bound for its error; where both ends of the
//! bound round alike, that is the answer. The bound is a rough one first, of the largest elements of both matrices, then one of the terms; where that
//! does not do either, the sum is computed again in a wide integer.

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::element::{Accumulator, Class, Element, classify};
use super::float::{COLUMNS, Product, Workspace, formats, power_of_two, to_half};
use crate::value::soft::{Format, Real, Value};

#[inline(always)]
pub(super) fn run<const FMA: bool>(
    product: &Product<'_>,
    workspace: &mut Workspace,
    accumulators: &mut [u32],
) {
    let [m, n, k] = product.shape;
    let [a, b] = &mut workspace.doubles;
    fill(a, product.types[0], &product.a[..m * k]);
    fill(b, product.types[1], product.b);
    if let Some(scales) = &product.scales {
        let rows = (product.b.len() / n / scales.blocks).max(1);
        for (at, value) in a.iter_mut().enumerate() {
            *value *= scales.ty.value(scales.a[at / k * scales.blocks + at % k / (k / scales.blocks)]);
        }
        for (at, value) in b.iter_mut().enumerate() {
            let block = (at / n / rows).min(scales.blocks - 1);
            *value *= scales.ty.value(scales.b[at % n * scales.blocks + block]);
        }
    }
    let size = largest(a) * largest(b) * k as f64;
    let [ty, to] = product.accumulators;
    // An error of each of the sums, relative to the size of the terms.
    let error = (k + 2) as f64 * f64::EPSILON;
    for row in 0..m {
        let line = &a[row * k..][..k];
        let rows = &product.rows[row * k..][..k];
        for column in (0..n).step_by(COLUMNS) {
            let Some(place) = accumulators.get_mut(row * n + column..row * n + column + COLUMNS) else {
                return;
            };
            let mut sum = [0.0; COLUMNS];
            match ty {
                Accumulator::F16 => {
                    for lane in 0..COLUMNS {
                        sum[lane] = value(Format::F16, place[lane]);
                    }
                }
                Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => {
                    for lane in 0..COLUMNS {
                        sum[lane] = f64::from(f32::from_bits(place[lane]));
                    }
                }
            }
            let (mut low, mut high) = ([0.0; COLUMNS], [0.0; COLUMNS]);
            for lane in 0..COLUMNS {
                high[lane] = (size + sum[lane].abs()) * error;
            }
            let (of_columns, chunks) = (&b.as_chunks::<COLUMNS>().0[column / COLUMNS..], n / COLUMNS);
            for (x, at) in line.iter().zip(rows) {
                let Some(of_b) = of_columns.get(usize::from(*at) * chunks) else { break };
                for lane in 0..COLUMNS {
                    // The product is exact, so both are the same.
                    sum[lane] =
                        if FMA { x.mul_add(of_b[lane], sum[lane]) } else { sum[lane] + x * of_b[lane] };
                }
            }
            for lane in 0..COLUMNS {
                low[lane] = sum[lane] - high[lane];
                high[lane] += sum[lane];
            }
            let (mut new, mut differs) = ([0; COLUMNS], [0; COLUMNS]);
            match to {
                Accumulator::F16 => {
                    for lane in 0..COLUMNS {
                        new[lane] = to_half(low[lane]);
                        differs[lane] = new[lane] ^ to_half(high[lane]);
                    }
                }
                Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => {
                    for lane in 0..COLUMNS {
                        new[lane] = (low[lane] as f32).to_bits();
                        differs[lane] = new[lane] ^ (high[lane] as f32).to_bits();
                    }
                }
            }
            let mut unsure = 0;
            for lane in 0..COLUMNS {
                // What is no finite number is none in f64 either.
                let finite = sum[lane].abs() < f64::INFINITY;
                unsure |= differs[lane] | u32::from(!finite);
            }
            if unsure != 0 {
                for lane in 0..COLUMNS {
                    if differs[lane] != 0 || !sum[lane].is_finite() {
                        new[lane] = closely(product, [&*a, &*b], [row, column + lane], place[lane]);
                    }
                }
            }
            place.copy_from_slice(&new);
        }
    }
}

/// The largest magnitude of numbers, of which there are a multiple of eight.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let mut largest = [0.0; COLUMNS];
    for part in values.chunks_exact(COLUMNS) {
        for lane in 0..COLUMNS {
            let value = part[lane].abs();
            // Not of what is no number, whose sums are none either.
            largest[lane] = if value > largest[lane] { value } else { largest[lane] };
        }
    }
    largest.into_iter().fold(0.0, f64::max)
}

/// One element by a bound of its own terms, and exactly where that leaves it open.
#[cold]
#[inline(never)]
fn closely(product: &Product<'_>, matrices: [&[f64]; 2], [row, column]: [usize; 2], c: u32) -> u32 {
    let [_, n, k] = product.shape;
    let [ty, to] = product.accumulators;
    let mut sum = value(ty.format(), c);
    let mut size = sum.abs();
    for i in 0..k {
        let at = row * k + i;
        let term = matrices[0][at] * matrices[1][usize::from(product.rows[at]) * n + column];
        sum += term;
        size += term.abs();
    }
    let bound = size * ((k + 2) as f64 * f64::EPSILON);
    let round = |value: f64| match to {
        Accumulator::F16 => to_half(value),
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => (value as f32).to_bits(),
    };
    let ends = [round(sum - bound), round(sum + bound)];
    if ends[0] == ends[1] && sum.is_finite() {
        ends[0]
    } else if sum == 0.0 && size == 0.0 {
        0
    } else {
        exactly(product, matrices, [row, column], c)
    }
}

/// The value of a float; not a number for what is no finite number.
#[inline(always)]
pub(super) fn value(format: Format, bits: u32) -> f64 {
    let parts = super::element::parts(format, bits);
    let magnitude = f64::from(parts.magnitude) * power_of_two(parts.exponent - format.fraction_bits as i32);
    let signed = if parts.sign != 0 { -magnitude } else { magnitude };
    if parts.special { f64::NAN } else { signed }
}

/// The values of elements, in a loop for each format that is common. What is no finite number is none here either.
#[inline(always)]
fn fill(values: &mut Vec<f64>, element: Element, bits: &[u32]) {
    values.resize(bits.len(), 0.0);
    match element {
        Element::F16 => {
            for (value, bits) in values.iter_mut().zip(bits) {
                // The product moves the exponent, and normalises what is subnormal.
                let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
                let magnitude = if bits & 0x7c00 == 0x7c00 { f32::NAN } else { magnitude };
                *value = f64::from(f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16));
            }
        }
        Element::Bf16 => {
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = f64::from(f32::from_bits(bits << 16));
            }
        }
        Element::Tf32 => {
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = f64::from(f32::from_bits(bits << 13));
            }
        }
        Element::E4m3 => {
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = self::value(Format::E4M3, *bits);
            }
        }
        Element::E5m2
        | Element::E3m2
        | Element::E2m3
        | Element::E2m1
        | Element::F64
        | Element::S8
        | Element::U8
        | Element::S4
        | Element::U4
        | Element::B1 => {
            let [format, _] = formats([element; 2]);
            for (value, bits) in values.iter_mut().zip(bits) {
                *value = self::value(format, *bits);
            }
        }
    }
}

/// The sum of one element in a wide integer.
#[cold]
fn exactly(product: &Product<'_>, [a, b]: [&[f64]; 2], [row, column]: [usize; 2], c: u32) -> u32 {
    if let Some(special) = product.special_of_all(row, column, c) {
        return special;
    }
    let [_, n, k] = product.shape;
    let [ty, to] = product.accumulators;
    if matches!(classify(ty.format(), c), Class::Nan) {
        return to.format().nan().map_or(0, |bits| bits as u32);
    }
    let mut sum = Wide::default();
    sum.add(value(ty.format(), c));
    for i in 0..k {
        sum.add(a[row * k + i] * b[usize::from(product.rows[row * k + i]) * n + column]);
    }
    match sum.real() {
        None => 0,
        Some(real) => real.round(to.format(), crate::value::Rounding::Nearest) as u32,
    }
}

const LIMBS: usize = 72;
/// The exponent of the lowest bit.
const LOWEST: i32 = -1100;

/// A sum of f64 values in limbs of 32 bits, which may be negative and larger for a while.
struct Wide([i64; LIMBS]);

impl Default for Wide {
    fn default() -> Self {
        Wide([0; LIMBS])
    }
}

impl Wide {
    fn add(&mut self, value: f64) {
        let Value::Finite(real) = Format::F64.unpack(value.to_bits()) else { return };
        let place = (real.exponent - LOWEST) as usize;
        let mut rest = real.magnitude << (place % 32);
        let mut limb = place / 32;
        while rest != 0 && limb < LIMBS {
            let low = rest as u32;
            self.0[limb] += if real.negative { -i64::from(low) } else { i64::from(low) };
            rest >>= 32;
            limb += 1;
        }
    }

    /// The sum with its highest hundred bits; the others only say whether they are zero.
    fn real(mut self) -> Option<Real> {
        let mut normalise = |flip: bool| {
            let mut carry = 0;
            for limb in &mut self.0 {
                let sum = if flip { -*limb } else { *limb } + carry;
                *limb = sum & 0xffff_ffff;
                carry = sum >> 32;
            }
            carry
        };
        let negative = normalise(false) < 0;
        if negative {
            normalise(true);
        }
        let top = self.0.iter().rposition(|limb| *limb != 0)?;
        let first = top.saturating_sub(2);
        let mut magnitude = (first..=top).rev().fold(0u128, |m, limb| m << 32 | self.0[limb] as u128);
        magnitude <<= 1;
        magnitude |= u128::from(self.0[..first].iter().any(|limb| *limb != 0));
        Some(Real { negative, exponent: LOWEST + 32 * first as i32 - 1, magnitude })
    }
}
