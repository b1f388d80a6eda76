//! Operands taken apart: elements of A, B and C as significands, signs and exponents, eight at a time, and scales.

use super::round::power_of_two;
use super::{COLUMNS, Scales};
use crate::matrix::element::{Accumulator, Element, Family, ZERO, parts};
use crate::matrix::rule::{Rule, ScaleType};
use crate::value::soft::Format;

/// Eight elements taken apart.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::matrix) struct Eight {
    pub magnitude: [u32; COLUMNS],
    pub sign: [u32; COLUMNS],
    pub exponent: [i32; COLUMNS],
}

/// Takes elements apart, eight at a time; their significands are shifted left. True if any is not a finite number.
#[inline(always)]
fn fill(format: Format, bits: &[u32], shift: u32, to: &mut [Eight]) -> bool {
    let mut special = 0;
    // Loops, not closures: those would be compiled for the baseline.
    for (bits, eight) in bits.chunks_exact(COLUMNS).zip(to) {
        for lane in 0..COLUMNS {
            let parts = parts(format, bits[lane]);
            eight.magnitude[lane] = parts.magnitude << shift;
            eight.sign[lane] = parts.sign;
            eight.exponent[lane] = parts.exponent;
            special |= u32::from(parts.special);
        }
    }
    special != 0
}

/// As [`fill`], in a loop for each format.
#[inline(always)]
pub(super) fn fill_any(element: Element, bits: &[u32], shift: u32, to: &mut Vec<Eight>) -> bool {
    to.resize(bits.len() / COLUMNS, Eight::default());
    match element {
        Element::F16 => fill(Format::F16, bits, shift, to),
        Element::Bf16 => fill(Format::BF16, bits, shift, to),
        Element::Tf32 => fill(Format::TF32, bits, shift, to),
        Element::E4m3 => fill(Format::E4M3, bits, shift, to),
        Element::E5m2 => fill(Format::E5M2, bits, shift, to),
        Element::E3m2
        | Element::E2m3
        | Element::E2m1
        | Element::F64
        | Element::S8
        | Element::U8
        | Element::S4
        | Element::U4
        | Element::B1 => fill(formats([element; 2])[0], bits, shift, to),
    }
}

/// The float formats of A's and B's elements. Those of other families are multiplied elsewhere.
pub(in crate::matrix) fn formats(types: [Element; 2]) -> [Format; 2] {
    types.map(|element| match element.family() {
        Family::Float(format) => format,
        Family::Double | Family::Integer { .. } | Family::Bit => Format::F16,
    })
}

/// Eight elements of C.
pub(super) struct Chunk {
    pub magnitude: [u32; COLUMNS],
    pub sign: [u32; COLUMNS],
    pub exponent: [i32; COLUMNS],
    /// Some are not finite numbers.
    pub special: bool,
}

impl Chunk {
    /// Takes elements of C apart, with 23 bits of fraction whatever their type.
    #[inline(always)]
    pub fn of(ty: Accumulator, bits: &[u32; COLUMNS]) -> Chunk {
        match ty {
            Accumulator::F16 => Chunk::of_format(Format::F16, bits),
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => Chunk::of_format(Format::F32, bits),
        }
    }

    #[inline(always)]
    fn of_format(format: Format, bits: &[u32; COLUMNS]) -> Chunk {
        let mut chunk =
            Chunk { magnitude: [0; COLUMNS], sign: [0; COLUMNS], exponent: [ZERO; COLUMNS], special: false };
        let mut special = 0;
        for (lane, bits) in bits.iter().enumerate() {
            let parts = parts(format, *bits);
            chunk.magnitude[lane] = parts.magnitude << (23 - format.fraction_bits);
            chunk.sign[lane] = parts.sign;
            chunk.exponent[lane] = parts.exponent;
            special |= u32::from(parts.special);
        }
        chunk.special = special != 0;
        chunk
    }

    /// Adds the elements to sums of products, in the rule's multiples of the largest terms.
    #[inline(always)]
    pub fn add_to(&self, rule: &Rule, largest: &[i32; COLUMNS], total: &mut [f64; COLUMNS]) {
        let (left, right) = (rule.fraction.saturating_sub(23), 23u32.saturating_sub(rule.fraction));
        for lane in 0..COLUMNS {
            let below = ((largest[lane] - self.exponent[lane]) as u32).min(31);
            let cut = (self.magnitude[lane] << left >> below >> right) as i32;
            let sign = self.sign[lane] as i32;
            total[lane] += f64::from((cut ^ sign) - sign);
        }
    }
}

impl ScaleType {
    pub(super) fn is_nan(self, bits: u8) -> bool {
        match self {
            ScaleType::Ue8m0 => bits == 0xff,
            ScaleType::Ue4m3 => bits & 0x7f == 0x7f,
        }
    }

    /// The significand in eighths and the exponent.
    pub(super) fn parts(self, bits: u8) -> (i32, i32) {
        match self {
            ScaleType::Ue8m0 => (8, i32::from(bits) - 127),
            ScaleType::Ue4m3 => {
                let parts = parts(Format::E4M3, u32::from(bits & 0x7f));
                (parts.magnitude as i32, parts.exponent)
            }
        }
    }

    /// The value; NaN is one.
    pub(in crate::matrix) fn value(self, bits: u8) -> f64 {
        let (significand, exponent) = self.parts(bits);
        if self.is_nan(bits) { f64::NAN } else { f64::from(significand) / 8.0 * power_of_two(exponent) }
    }
}

/// Adds the scales of A's rows, powers of two, to the exponents of its elements.
pub(super) fn add_exponents(a: &mut [Eight], k: usize, scales: &[u8], blocks: usize) {
    for (at, exponent) in a.iter_mut().flat_map(|eight| &mut eight.exponent).enumerate() {
        let scale = scales[at / k * blocks + at % k / (k / blocks)];
        *exponent += i32::from(scale) - 127;
    }
}

/// Adds the scales of B's columns to the exponents of its elements.
pub(super) fn add_column_exponents(b: &mut [Eight], n: usize, rows: usize, scales: &Scales<'_>) {
    for (at, exponent) in b.iter_mut().flat_map(|eight| &mut eight.exponent).enumerate() {
        let block = at / n / (rows / scales.blocks).max(1);
        let scale = scales.b[at % n * scales.blocks + block.min(scales.blocks - 1)];
        *exponent += i32::from(scale) - 127;
    }
}
