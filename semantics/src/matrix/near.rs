//! Sums of products by a [`Rule`] where every exponent is near 0, as those of nearly all matrices are.
//!
//! There the product of two elements is a normal f32, exactly. To cut it is to multiply it by a power of two, which is exact too or leaves less
//! than one, and to convert it to an integer: four operations for a product, where significands and exponents need ten.

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::element::{Element, parts};
use super::float::{COLUMNS, Chunk, FIT, formats};
use super::rule::Rule;
use crate::value::soft::Format;
use std::ops::Range;

/// The largest magnitude of an exponent. Products are at least `2^(2 * (-50 - 10))`, elements having at most ten bits of fraction, and less
/// than `2^102`.
const NEAR: i32 = 50;

/// A matrix as f32, row by row.
#[derive(Debug, Default)]
struct Matrix {
    values: Vec<f32>,
    exponents: Vec<i32>,
}

/// A and B as f32.
#[derive(Debug, Default)]
pub(super) struct Near {
    a: Matrix,
    b: Matrix,
}

impl Matrix {
    /// Takes elements. False if one is no finite number, or its exponent too far from 0.
    #[inline(always)]
    fn take_as(&mut self, format: Format, elements: &[u32]) -> bool {
        self.values.resize(elements.len(), 0.0);
        self.exponents.resize(elements.len(), 0);
        let mut far = 0;
        for ((value, exponent), bits) in self.values.iter_mut().zip(&mut self.exponents).zip(elements) {
            let parts = parts(format, *bits);
            let near = parts.exponent.clamp(-NEAR, NEAR);
            far |= if parts.magnitude == 0 { 0 } else { (near ^ parts.exponent) as u32 };
            far |= u32::from(parts.special);
            let unit = f32::from_bits(((near - format.fraction_bits as i32 + 127) as u32) << 23);
            let magnitude = parts.magnitude as i32 as f32 * unit;
            *value = f32::from_bits(magnitude.to_bits() | parts.sign & 1 << 31);
            *exponent = parts.exponent;
        }
        far == 0
    }

    /// As [`Matrix::take_as`], in a loop for each format that is common.
    #[inline(always)]
    fn take(&mut self, element: Element, elements: &[u32]) -> bool {
        match element {
            Element::F16 => self.take_as(Format::F16, elements),
            Element::Bf16 => self.take_as(Format::BF16, elements),
            Element::Tf32 => self.take_as(Format::TF32, elements),
            Element::E4m3
            | Element::E5m2
            | Element::E3m2
            | Element::E2m3
            | Element::E2m1
            | Element::F64
            | Element::S8
            | Element::U8
            | Element::S4
            | Element::U4
            | Element::B1 => self.take_as(formats([element; 2])[0], elements),
        }
    }
}

impl Near {
    /// Takes the elements of A and B. False if one is no finite number, or its exponent too far from 0; what was taken is of no use then.
    #[inline(always)]
    pub fn take(&mut self, types: [Element; 2], a: &[u32], b: &[u32]) -> bool {
        self.a.take(types[0], a) && self.b.take(types[1], b)
    }

    /// The sums of one block of products for eight columns, C included, as multiples of `2^(exponent - fraction)`.
    ///
    /// `range` are the elements of A, and `rows` says which row of B each of them meets; B has `chunks` times eight columns.
    #[inline(always)]
    pub fn sums(
        &self,
        rule: &Rule,
        range: Range<usize>,
        rows: &[u16],
        [chunk, chunks]: [usize; 2],
        c: &Chunk,
    ) -> ([f64; COLUMNS], [i32; COLUMNS]) {
        let (mut total, mut largest) = ([0.0; COLUMNS], c.exponent);
        let (of_a, exponents_of_a) = (&self.a.values[range.clone()], &self.a.exponents[range]);
        let of_b = &self.b.values.as_chunks::<COLUMNS>().0[chunk..];
        let exponents_of_b = &self.b.exponents.as_chunks::<COLUMNS>().0[chunk..];
        for (exponent, row) in exponents_of_a.iter().zip(rows) {
            let Some(of_b) = exponents_of_b.get(usize::from(*row) * chunks) else { break };
            for lane in 0..COLUMNS {
                largest[lane] = largest[lane].max(exponent + of_b[lane]);
            }
        }
        let mut scale = [0.0; COLUMNS];
        for lane in 0..COLUMNS {
            // What is below the range of f32 is so because all products are zero.
            let exponent = (rule.fraction as i32 - largest[lane]).clamp(-126, 127);
            scale[lane] = f32::from_bits(((exponent + 127) as u32) << 23);
        }
        for (of_a, rows) in of_a.chunks(FIT).zip(rows.chunks(FIT)) {
            let mut sum = [0i32; COLUMNS];
            for (value, row) in of_a.iter().zip(rows) {
                let Some(of_b) = of_b.get(usize::from(*row) * chunks) else { break };
                for lane in 0..COLUMNS {
                    let product = value * of_b[lane] * scale[lane];
                    // SAFETY: both factors are less than 2 * 2^exponent, of which `largest` is no less than the sum: what is converted is less than
                    // 4 * 2^fraction, 2^27 at most.
                    sum[lane] = sum[lane].wrapping_add(unsafe { product.to_int_unchecked::<i32>() });
                }
            }
            for lane in 0..COLUMNS {
                total[lane] += f64::from(sum[lane]);
            }
        }
        c.add_to(rule, &largest, &mut total);
        (total, largest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Accumulator;
    use super::super::float::{Product, Workspace};
    use super::super::rule::{Architecture, Unit};
    use super::*;
    use crate::lanes::Level;

    /// Rows of A, columns of B, and products of an element.
    const SHAPE: [usize; 3] = [16, 16, 32];

    /// D, where every element of A and of C is so many powers of two larger.
    fn product(seed: u64, larger: u32, architecture: Architecture) -> Vec<u32> {
        let [m, n, k] = SHAPE;
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let mut bf16s = |count: usize, larger: u32| -> Vec<u32> {
            (0..count)
                .map(|_| match random() {
                    zero if zero % 8 == 0 => 0,
                    bits => bits & 0x807f | (112 + bits / 0x10000 % 30 + larger) << 7,
                })
                .collect()
        };
        let (a, b) = (bf16s(m * k, larger), bf16s(k * n, 0));
        let mut d: Vec<u32> = bf16s(m * n, larger).into_iter().map(|bits| bits << 16 | bits & 0x7f).collect();
        let product = Product {
            shape: SHAPE,
            types: [Element::Bf16; 2],
            accumulators: [Accumulator::F32; 2],
            rule: Some(Rule::of(architecture, Unit::Warp, Element::Bf16, false)),
            a: &a,
            b: &b,
            rows: &(0..m * k).map(|at| (at % k) as u16).collect::<Vec<_>>(),
            scales: None,
        };
        product.run(Level::of_host(), &mut Workspace::default(), &mut d);
        d
    }

    #[test]
    fn sums_far_from_0_are_those_near_0_times_a_power_of_two() {
        for architecture in [Architecture::Volta, Architecture::Ampere, Architecture::Hopper] {
            for seed in 0..20 {
                let near = product(seed, 0, architecture);
                let far = product(seed, 70, architecture);
                let moved = near.iter().map(|bits| if bits << 1 == 0 { *bits } else { bits + (70 << 23) });
                assert_eq!(far, moved.collect::<Vec<_>>(), "{architecture:?}, seed {seed}");
            }
        }
    }

    #[test]
    fn what_is_near_is_told_from_what_is_not() {
        let take = |bits: u32| Near::default().take([Element::Bf16; 2], &[0, bits], &[0x3f80]);
        for (exponent, near) in [(-51, false), (-50, true), (0, true), (50, true), (51, false), (128, false)]
        {
            assert_eq!(take(((exponent + 127) as u32) << 7), near, "{exponent}");
        }
        // A subnormal number, and both zeros.
        assert_eq!([take(1), take(0), take(0x8000)], [false, true, true]);
    }
}
