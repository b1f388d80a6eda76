//! Sums of products by a [`Rule`] where every exponent is near 0, as those of nearly all matrices are.
//!
//! There the product of two elements is a normal f32, exactly. To cut it is to multiply it by a power of two, which is exact too or leaves less
//! than one, and to convert it to an integer: four operations for a product, where significands and exponents need ten.

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::element::{Accumulator, Element, ZERO, parts};
use super::float::{COLUMNS, FIT, Product, formats, power_of_two};
use super::rule::Rule;
use super::sparse::Partners;
use crate::value::soft::Format;

/// The largest magnitude of an exponent. Products are at least `2^(2 * (-50 - 10))`, elements having at most ten bits of fraction, and less
/// than `2^102`.
const NEAR: i32 = 50;

/// Products of a round of the loops over dense ones. In a loop of one the compiler would make vectors of products in place of columns.
pub(super) const UNROLLED: usize = 4;

/// A matrix as f32: A's elements row by row, B's [`by_columns`].
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
    /// Takes elements. False if one is not a finite number, or its exponent too far from 0.
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

/// The elements of B where the rows of its first eight columns come first, then those of the next eight. It has `chunks` times eight columns.
#[inline(always)]
pub(super) fn by_columns<'e>(b: &'e [u32], chunks: usize, room: &'e mut Vec<u32>) -> &'e [u32] {
    if chunks == 1 {
        return b;
    }
    room.resize(b.len(), 0);
    let (eights, depth) = (b.as_chunks::<COLUMNS>().0, b.len() / COLUMNS / chunks);
    for (at, eight) in room.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
        *eight = eights[at % depth * chunks + at / depth];
    }
    room
}

impl Near {
    /// Takes the elements of A and, [`by_columns`], of B. False if one is not a finite number, or its exponent too far from 0; what was taken is of
    /// no use then.
    #[inline(always)]
    pub fn take(&mut self, types: [Element; 2], a: &[u32], b: &[u32]) -> bool {
        self.a.take(types[0], a) && self.b.take(types[1], b)
    }

    /// Adds the product of what was taken to C, one block of products after the other.
    #[inline(always)]
    pub fn run(&self, product: &Product<'_>, rule: &Rule, accumulators: &mut [u32]) {
        let [_, n, k] = product.shape;
        let (b, exponents_of_b) =
            (self.b.values.as_chunks::<COLUMNS>().0, self.b.exponents.as_chunks::<COLUMNS>().0);
        let depth = b.len() / (n / COLUMNS);
        let block = rule.block.min(k);
        let lines = self.a.values.chunks_exact(k).zip(self.a.exponents.chunks_exact(k));
        for ((row, (a, exponents_of_a)), places) in lines.enumerate().zip(accumulators.chunks_exact_mut(n)) {
            for (chunk, place) in places.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
                let of_chunk = chunk * depth..chunk * depth + depth;
                let (b, exponents_of_b) = (&b[of_chunk.clone()], &exponents_of_b[of_chunk]);
                for start in (0..k).step_by(block) {
                    let range = start..(start + block).min(k);
                    let ty = product.accumulators[usize::from(start > 0)];
                    let c = Addend::of(ty, place);
                    let (mut total, mut largest) = ([0.0; COLUMNS], c.exponent);
                    let (a, exponents_of_a) = (&a[range.clone()], &exponents_of_a[range.clone()]);
                    match product.rows.line(row, k) {
                        Partners::Same => {
                            let (b, exponents_of_b) = (&b[range.clone()], &exponents_of_b[range.clone()]);
                            largest_of(exponents_of_a, exponents_of_b, &mut largest);
                            let scale = scale(rule, &largest);
                            for (a, b) in a.chunks(FIT).zip(b.chunks(FIT)) {
                                add_all(a, b, &scale, &mut total);
                            }
                        }
                        Partners::Each(rows) => {
                            let rows = &rows[range.clone()];
                            for (exponent, row) in exponents_of_a.iter().zip(rows) {
                                let Some(of_b) = exponents_of_b.get(usize::from(*row)) else { break };
                                raise(&mut largest, *exponent, of_b);
                            }
                            let scale = scale(rule, &largest);
                            for (a, rows) in a.chunks(FIT).zip(rows.chunks(FIT)) {
                                let mut sum = [0; COLUMNS];
                                for (value, row) in a.iter().zip(rows) {
                                    let Some(of_b) = b.get(usize::from(*row)) else { break };
                                    add(&mut sum, *value, of_b, &scale);
                                }
                                add_exactly(&mut total, &sum);
                            }
                        }
                    }
                    c.add_to(rule, &largest, &mut total);
                    let old = *place;
                    product.round(rule, &total, &largest, place);
                    if c.special {
                        for (lane, new) in place.iter_mut().enumerate() {
                            let column = chunk * COLUMNS + lane;
                            let found = product.special(row, column, range.clone(), (ty, old[lane]));
                            *new = found.unwrap_or(*new);
                        }
                    }
                }
            }
        }
    }
}

/// Eight elements of C.
struct Addend {
    /// Zero in place of what is not a finite number.
    value: [f64; COLUMNS],
    exponent: [i32; COLUMNS],
    /// One is not a finite number.
    special: bool,
}

impl Addend {
    #[inline(always)]
    fn of(ty: Accumulator, bits: &[u32; COLUMNS]) -> Addend {
        match ty {
            Accumulator::F16 => Addend::of_format(Format::F16, bits),
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => Addend::of_format(Format::F32, bits),
        }
    }

    #[inline(always)]
    fn of_format(format: Format, bits: &[u32; COLUMNS]) -> Addend {
        let mut addend = Addend { value: [0.0; COLUMNS], exponent: [0; COLUMNS], special: false };
        let Format { exponent_bits, fraction_bits, .. } = format;
        let top = (1 << exponent_bits) - 1;
        let mut special = 0;
        for lane in 0..COLUMNS {
            let magnitude = bits[lane] & (format.sign() as u32 - 1);
            let field = magnitude >> fraction_bits;
            let finite = if field == top { 0 } else { bits[lane] };
            special |= u32::from(field == top);
            let exponent = field.max(1) as i32 - format.bias();
            addend.exponent[lane] = if magnitude == 0 { ZERO } else { exponent };
            addend.value[lane] = if fraction_bits == 23 {
                f64::from(f32::from_bits(finite))
            } else {
                // The product moves the exponent, and normalises what is subnormal.
                let magnitude = f32::from_bits((finite & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
                f64::from(f32::from_bits(magnitude.to_bits() | (finite & 0x8000) << 16))
            };
        }
        addend.special = special != 0;
        addend
    }

    /// Adds the elements to sums of products, in the rule's multiples of the largest terms, and cut as they are.
    #[inline(always)]
    fn add_to(&self, rule: &Rule, largest: &[i32; COLUMNS], total: &mut [f64; COLUMNS]) {
        for lane in 0..COLUMNS {
            let scaled = self.value[lane] * power_of_two(rule.fraction as i32 - largest[lane]);
            // SAFETY: the value is finite and less than 2 * 2^exponent, and `largest` is no less than the exponent: what is converted is less than
            // 2 * 2^fraction, 2^26 at most.
            total[lane] += f64::from(unsafe { scaled.to_int_unchecked::<i32>() });
        }
    }
}

/// Raises exponents to the largest of products.
#[inline(always)]
fn largest_of(of_a: &[i32], of_b: &[[i32; COLUMNS]], largest: &mut [i32; COLUMNS]) {
    let ((fours, rest), (fours_of_b, rest_of_b)) =
        (of_a.as_chunks::<UNROLLED>(), of_b.as_chunks::<UNROLLED>());
    for (exponents, of_b) in fours.iter().zip(fours_of_b) {
        let exponents = std::hint::black_box(exponents);
        for i in 0..UNROLLED {
            raise(largest, exponents[i], &of_b[i]);
        }
    }
    for (exponent, of_b) in rest.iter().zip(rest_of_b) {
        raise(largest, *exponent, of_b);
    }
}

/// Adds no more than [`FIT`] products, scaled and cut.
#[inline(always)]
fn add_all(a: &[f32], b: &[[f32; COLUMNS]], scale: &[f32; COLUMNS], total: &mut [f64; COLUMNS]) {
    let mut sum = [0; COLUMNS];
    let ((fours, rest), (fours_of_b, rest_of_b)) = (a.as_chunks::<UNROLLED>(), b.as_chunks::<UNROLLED>());
    for (values, of_b) in fours.iter().zip(fours_of_b) {
        let values = std::hint::black_box(values);
        for i in 0..UNROLLED {
            add(&mut sum, values[i], &of_b[i], scale);
        }
    }
    for (value, of_b) in rest.iter().zip(rest_of_b) {
        add(&mut sum, *value, of_b, scale);
    }
    add_exactly(total, &sum);
}

/// The largest exponents, those of a product with eight columns among them.
#[inline(always)]
fn raise(largest: &mut [i32; COLUMNS], exponent: i32, of_b: &[i32; COLUMNS]) {
    for lane in 0..COLUMNS {
        largest[lane] = largest[lane].max(exponent + of_b[lane]);
    }
}

/// What products are multiplied by to count in the rule's multiples of the largest terms.
#[inline(always)]
fn scale(rule: &Rule, largest: &[i32; COLUMNS]) -> [f32; COLUMNS] {
    let mut scale = [0.0; COLUMNS];
    for lane in 0..COLUMNS {
        // What is below the range of f32 is so because all products are zero.
        let exponent = (rule.fraction as i32 - largest[lane]).clamp(-126, 127);
        scale[lane] = f32::from_bits(((exponent + 127) as u32) << 23);
    }
    scale
}

/// Adds one of no more than [`FIT`] products with eight columns, scaled and cut.
#[inline(always)]
fn add(sum: &mut [i32; COLUMNS], value: f32, of_b: &[f32; COLUMNS], scale: &[f32; COLUMNS]) {
    for lane in 0..COLUMNS {
        let product = value * of_b[lane] * scale[lane];
        // SAFETY: both factors are less than 2 * 2^exponent, of which `largest` is no less than the sum: what is converted is less than
        // 4 * 2^fraction, 2^27 at most.
        sum[lane] = sum[lane].wrapping_add(unsafe { product.to_int_unchecked::<i32>() });
    }
}

#[inline(always)]
fn add_exactly(total: &mut [f64; COLUMNS], sum: &[i32; COLUMNS]) {
    for lane in 0..COLUMNS {
        total[lane] += f64::from(sum[lane]);
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
            rows: Partners::Same,
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
        let take =
            |bits: u32| Near::default().take([Element::Bf16; 2], &[bits, 0, 0, 0, 0, 0, 0, 0], &[0x3f80; 8]);
        for (exponent, near) in [(-51, false), (-50, true), (0, true), (50, true), (51, false), (128, false)]
        {
            assert_eq!(take(((exponent + 127) as u32) << 7), near, "{exponent}");
        }
        // A subnormal number, and both zeros.
        assert_eq!([take(1), take(0), take(0x8000)], [false, true, true]);
    }
}
