//! Sums of products to elements of D.

use super::{COLUMNS, Product};
use crate::matrix::element::Accumulator;
use crate::matrix::rule::Rule;

impl Product<'_> {
    /// The elements of D, of sums in multiples of `2^(exponent - fraction)`.
    #[inline(always)]
    pub(in crate::matrix) fn round(
        &self,
        rule: &Rule,
        total: &[f64; COLUMNS],
        exponent: &[i32; COLUMNS],
        out: &mut [u32; COLUMNS],
    ) {
        let mut values = [0.0; COLUMNS];
        for lane in 0..COLUMNS {
            let unit = i64::from(exponent[lane] - rule.fraction as i32) + 1023;
            values[lane] = total[lane] * f64::from_bits((unit as u64) << 52);
        }
        if self.accumulators[1] == Accumulator::F16 {
            for lane in 0..COLUMNS {
                out[lane] = to_half(values[lane]);
            }
            return;
        }
        let dropped = (1u64 << (52 - rule.kept)) - 1;
        let mut small = false;
        for lane in 0..COLUMNS {
            let cut = f64::from_bits(values[lane].to_bits() & !dropped);
            out[lane] = (cut as f32).to_bits();
            small |= values[lane].abs() < f64::from(f32::MIN_POSITIVE);
        }
        if small {
            for lane in 0..COLUMNS {
                if values[lane].abs() < f64::from(f32::MIN_POSITIVE) {
                    // Subnormal: a multiple of the least normal number's last bit.
                    let unit = f64::from(f32::MIN_POSITIVE) / (1u64 << rule.kept) as f64;
                    let cut = (values[lane] / unit).trunc() * unit;
                    out[lane] = (cut as f32).to_bits();
                }
            }
        }
    }
}

/// `2^exponent` within the range of normal numbers.
#[inline(always)]
pub(in crate::matrix) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// 2^52
const POWER_52: f64 = (1u64 << 52) as f64;

/// f16 of a number that f64 holds exactly, to nearest even.
#[inline(always)]
pub(in crate::matrix) fn to_half(value: f64) -> u32 {
    // What is larger is infinite too.
    let magnitude = value.abs().min(131072.0);
    let exponent = ((magnitude.to_bits() >> 52) as i64 - 1023).max(-14);
    // In steps of the last bit that f16 has for numbers of this size, at most 2048. A sum of 2^52 and more has no fraction.
    let steps = magnitude * power_of_two(10 - exponent as i32) + POWER_52;
    // 1024 steps and more have the hidden bit, which counts one in the exponent's field.
    let bits = steps.to_bits() - POWER_52.to_bits() + (((exponent + 14) as u64) << 10);
    let sign = (value.to_bits() >> 63) as u32;
    (bits.min(0x7c00) as u32) | sign << 15
}
