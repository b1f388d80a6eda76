//! The exact sum of products, rounded once to nearest even: what tensor cores would give if they lost nothing.
//!
//! Products of these formats are exact in f64. Their sum is computed there with a bound for its error; where both ends of the
//! bound round alike, that is the answer, and else the sum is computed again in a wide integer.

use super::element::{Accumulator, Class, classify};
use super::float::{COLUMNS, Product, Workspace, formats, power_of_two, to_half};
use crate::value::soft::{Format, Real, Value};

#[inline(always)]
pub(super) fn run(product: &Product<'_>, workspace: &mut Workspace, accumulators: &mut [u32]) {
    let [m, n, k] = product.shape;
    let [of_a, of_b] = formats(product.types);
    let [a, b] = &mut workspace.doubles;
    fill(a, of_a, &product.a[..m * k]);
    fill(b, of_b, product.b);
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
    let [ty, to] = product.accumulators;
    for row in 0..m {
        let line = &a[row * k..][..k];
        let rows = &product.rows[row * k..][..k];
        for column in (0..n).step_by(COLUMNS) {
            let Some(place) = accumulators.get_mut(row * n + column..row * n + column + COLUMNS) else {
                return;
            };
            let (mut sum, mut size) = ([0.0; COLUMNS], [0.0; COLUMNS]);
            for lane in 0..COLUMNS {
                let c = value(ty.format(), place[lane]);
                (sum[lane], size[lane]) = (c, c.abs());
            }
            for (x, at) in line.iter().zip(rows) {
                let of_b = &b[usize::from(*at) * n + column..][..COLUMNS];
                for lane in 0..COLUMNS {
                    let term = x * of_b[lane];
                    sum[lane] += term;
                    size[lane] += term.abs();
                }
            }
            for lane in 0..COLUMNS {
                let bound = size[lane] * ((k + 2) as f64 * f64::EPSILON);
                let round = |value: f64| match to {
                    Accumulator::F16 => to_half(value),
                    Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => (value as f32).to_bits(),
                };
                let ends = [round(sum[lane] - bound), round(sum[lane] + bound)];
                place[lane] = if ends[0] == ends[1] && sum[lane].is_finite() {
                    ends[0]
                } else if sum[lane] == 0.0 && size[lane] == 0.0 {
                    0
                } else {
                    exactly(product, [&*a, &*b], [row, column + lane], place[lane])
                };
            }
        }
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

#[inline(always)]
fn fill(values: &mut Vec<f64>, format: Format, bits: &[u32]) {
    values.resize(bits.len(), 0.0);
    for (value, bits) in values.iter_mut().zip(bits) {
        *value = self::value(format, *bits);
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
