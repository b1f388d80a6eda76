//! The exact sum of products, rounded once to nearest even: what tensor cores would give if they lost nothing.
//!
//! Products of these formats are exact in f64, and so is their sum where all terms are multiples of a power of two that is not too small for
//! the largest of them: nearly always. Elsewhere the sum is computed with a bound for its error; where both ends of the bound round alike, that
//! is the answer. The bound is a rough one first, of the largest elements of both matrices, then one of the terms; where that does not do
//! either, the sum is computed again in a wide integer.

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::element::{Accumulator, Class, Element, classify};
use super::float::{COLUMNS, Product, Workspace, formats, power_of_two, to_half};
use super::near::{UNROLLED, by_columns};
use super::sparse::Partners;
use crate::value::soft::{Format, Real, Value};

/// `FMA`: the host multiplies and adds at once.
#[inline(always)]
pub(super) fn run<const FMA: bool>(
    product: &Product<'_>,
    workspace: &mut Workspace,
    accumulators: &mut [u32],
) {
    let [m, n, k] = product.shape;
    let Workspace { columns, doubles: [a, b], .. } = workspace;
    fill(a, product.types[0], &product.a[..m * k]);
    fill(b, product.types[1], by_columns(product.b, n / COLUMNS, columns));
    if let Some(scales) = &product.scales {
        for (at, value) in a.iter_mut().enumerate() {
            *value *= scales.ty.value(scales.a[at / k * scales.blocks + at % k / (k / scales.blocks)]);
        }
        let depth = b.len() / n;
        let rows = (depth / scales.blocks).max(1);
        for (at, values) in b.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
            let block = (at % depth / rows).min(scales.blocks - 1);
            for (lane, value) in values.iter_mut().enumerate() {
                let column = at / depth * COLUMNS + lane;
                *value *= scales.ty.value(scales.b[column * scales.blocks + block]);
            }
        }
    }
    let Some(accumulators) = accumulators.get_mut(..m * n) else { return };
    let exact = is_exact(product, accumulators);
    let sums = Sums { product, a, b: b.as_chunks().0 };
    if exact { sums.each::<FMA, true>(accumulators) } else { sums.each::<FMA, false>(accumulators) }
}

/// True if every sum is exact in f64, in whatever order terms are added: all of them are multiples of a power of two, and together they
/// are less than 2^53 of it.
#[inline(always)]
fn is_exact(product: &Product<'_>, accumulators: &[u32]) -> bool {
    let [of_a, of_b] = formats(product.types);
    let of_c = product.accumulators[0].format();
    // Not by `map`, which would be compiled for the baseline.
    let (a, b, c) =
        (Extent::of(of_a, product.a), Extent::of(of_b, product.b), Extent::of(of_c, accumulators));
    let largest = a.largest * b.largest * product.shape[2] as f64 + c.largest;
    // No more than half of what fits, since this is rounded. It is false of what is not a number.
    product.scales.is_none() && largest <= (a.unit * b.unit).min(c.unit) * power_of_two(52)
}

/// What all elements of a matrix are multiples of, a power of two, and the largest magnitude, which is not a number if one of them is none, or
/// infinite.
struct Extent {
    unit: f64,
    largest: f64,
}

impl Extent {
    #[inline(always)]
    fn of(format: Format, bits: &[u32]) -> Extent {
        // Magnitudes are in the order of their bits. Less one, so that zero is not the least.
        let (mut least, mut largest) = (u32::MAX, 0);
        for bits in bits {
            let magnitude = bits & (format.sign() as u32 - 1);
            least = least.min(magnitude.wrapping_sub(1));
            largest = largest.max(magnitude);
        }
        // Of zeros alone any; two of them multiplied may be infinite.
        let mut unit = power_of_two(1000);
        if least != u32::MAX {
            let exponent = super::element::parts(format, least + 1).exponent;
            unit = power_of_two(exponent - format.fraction_bits as i32);
        }
        Extent { unit, largest: value(format, largest) }
    }
}

/// The elements of A row by row, and of B [`by_columns`].
#[derive(Clone, Copy)]
struct Sums<'a> {
    product: &'a Product<'a>,
    a: &'a [f64],
    b: &'a [[f64; COLUMNS]],
}

impl Sums<'_> {
    /// Computes each element of D. `EXACT`: sums are.
    #[inline(always)]
    fn each<const FMA: bool, const EXACT: bool>(self, accumulators: &mut [u32]) {
        let Sums { product, a, b } = self;
        let [_, n, k] = product.shape;
        let depth = b.len() / (n / COLUMNS);
        let size = if EXACT { 0.0 } else { largest(a) * largest(b.as_flattened()) * k as f64 };
        let [ty, to] = product.accumulators;
        // An error of each of the sums, relative to the size of the terms.
        let error = (k + 2) as f64 * f64::EPSILON;
        for (row, (line, places)) in a.chunks_exact(k).zip(accumulators.chunks_exact_mut(n)).enumerate() {
            let columns = places.as_chunks_mut::<COLUMNS>().0.iter_mut().zip(b.chunks_exact(depth));
            for (chunk, (place, of_b)) in columns.enumerate() {
                let mut sum = values(ty, place);
                let mut bound = [0.0; COLUMNS];
                for lane in 0..COLUMNS {
                    bound[lane] = (size + sum[lane].abs()) * error;
                    // The sum of nothing but zeros is positive.
                    sum[lane] += 0.0;
                }
                match product.rows.line(row, k) {
                    Partners::Same => {
                        let ((fours, rest), (fours_of_b, rest_of_b)) =
                            (line.as_chunks::<UNROLLED>(), of_b.as_chunks::<UNROLLED>());
                        for (line, of_b) in fours.iter().zip(fours_of_b) {
                            for i in 0..UNROLLED {
                                add::<FMA>(&mut sum, line[i], &of_b[i]);
                            }
                        }
                        for (x, of_b) in rest.iter().zip(rest_of_b) {
                            add::<FMA>(&mut sum, *x, of_b);
                        }
                    }
                    Partners::Each(rows) => {
                        for (x, row) in line.iter().zip(rows) {
                            let Some(of_b) = of_b.get(usize::from(*row)) else { break };
                            add::<FMA>(&mut sum, *x, of_b);
                        }
                    }
                }
                if EXACT {
                    *place = rounded(to, &sum);
                    continue;
                }
                let (mut low, mut high) = ([0.0; COLUMNS], [0.0; COLUMNS]);
                for lane in 0..COLUMNS {
                    low[lane] = sum[lane] - bound[lane];
                    high[lane] = sum[lane] + bound[lane];
                }
                let (new, high) = (rounded(to, &low), rounded(to, &high));
                let mut unsure = 0;
                for lane in 0..COLUMNS {
                    // What is not a finite number is none in f64 either.
                    unsure |= new[lane] ^ high[lane] | u32::from(!sum[lane].is_finite());
                }
                let c = std::mem::replace(place, new);
                if unsure != 0 {
                    for lane in 0..COLUMNS {
                        if new[lane] != high[lane] || !sum[lane].is_finite() {
                            place[lane] = self.closely([row, chunk * COLUMNS + lane], c[lane]);
                        }
                    }
                }
            }
        }
    }

    /// One element by a bound of its own terms, and exactly where that leaves it open.
    #[cold]
    #[inline(never)]
    fn closely(self, place: [usize; 2], c: u32) -> u32 {
        let [ty, to] = self.product.accumulators;
        let mut sum = value(ty.format(), c);
        let mut size = sum.abs();
        for term in self.terms(place) {
            sum += term;
            size += term.abs();
        }
        let bound = size * ((self.product.shape[2] + 2) as f64 * f64::EPSILON);
        let round = |value: f64| rounded(to, &[value; COLUMNS])[0];
        let ends = [round(sum - bound), round(sum + bound)];
        if ends[0] == ends[1] && sum.is_finite() {
            ends[0]
        } else if sum == 0.0 && size == 0.0 {
            0
        } else {
            self.exactly(place, c)
        }
    }

    /// The products of one element.
    fn terms(self, [row, column]: [usize; 2]) -> impl Iterator<Item = f64> {
        let [_, n, k] = self.product.shape;
        let first = column / COLUMNS * (self.b.len() / (n / COLUMNS));
        (0..k).map(move |i| {
            self.a[row * k + i] * self.b[first + self.product.rows.of(row, i, k)][column % COLUMNS]
        })
    }

    /// The sum of one element in a wide integer.
    #[cold]
    fn exactly(self, [row, column]: [usize; 2], c: u32) -> u32 {
        let product = self.product;
        if let Some(special) = product.special_of_all(row, column, c) {
            return special;
        }
        let [ty, to] = product.accumulators;
        if matches!(classify(ty.format(), c), Class::Nan) {
            return to.format().nan().map_or(0, |bits| bits as u32);
        }
        let mut sum = Wide::default();
        sum.add(value(ty.format(), c));
        self.terms([row, column]).for_each(|term| sum.add(term));
        match sum.real() {
            None => 0,
            Some(real) => real.round(to.format(), crate::value::Rounding::Nearest) as u32,
        }
    }
}

/// Adds a product, which is exact, so that it is the same whether it is rounded.
#[inline(always)]
fn add<const FMA: bool>(sum: &mut [f64; COLUMNS], x: f64, of_b: &[f64; COLUMNS]) {
    for lane in 0..COLUMNS {
        sum[lane] = if FMA { x.mul_add(of_b[lane], sum[lane]) } else { sum[lane] + x * of_b[lane] };
    }
}

/// The values of accumulators.
#[inline(always)]
fn values(ty: Accumulator, bits: &[u32; COLUMNS]) -> [f64; COLUMNS] {
    let mut values = [0.0; COLUMNS];
    match ty {
        Accumulator::F16 => {
            for lane in 0..COLUMNS {
                values[lane] = value(Format::F16, bits[lane]);
            }
        }
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => {
            for lane in 0..COLUMNS {
                values[lane] = f64::from(f32::from_bits(bits[lane]));
            }
        }
    }
    values
}

/// Rounds to nearest even.
#[inline(always)]
fn rounded(to: Accumulator, values: &[f64; COLUMNS]) -> [u32; COLUMNS] {
    let mut bits = [0; COLUMNS];
    match to {
        Accumulator::F16 => {
            for lane in 0..COLUMNS {
                bits[lane] = to_half(values[lane]);
            }
        }
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => {
            for lane in 0..COLUMNS {
                bits[lane] = (values[lane] as f32).to_bits();
            }
        }
    }
    bits
}

/// The largest magnitude of numbers, of which there are a multiple of eight.
#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let mut largest = [0.0; COLUMNS];
    for part in values.as_chunks::<COLUMNS>().0 {
        for lane in 0..COLUMNS {
            let value = part[lane].abs();
            // Not of what is not a number, whose sums are none either.
            largest[lane] = if value > largest[lane] { value } else { largest[lane] };
        }
    }
    largest.into_iter().fold(0.0, f64::max)
}

/// The value of a float; not a number for what is not a finite number.
#[inline(always)]
pub(super) fn value(format: Format, bits: u32) -> f64 {
    let parts = super::element::parts(format, bits);
    let magnitude = f64::from(parts.magnitude) * power_of_two(parts.exponent - format.fraction_bits as i32);
    let signed = if parts.sign != 0 { -magnitude } else { magnitude };
    if parts.special { f64::NAN } else { signed }
}

/// The values of elements, in a loop for each format that is common. What is not a finite number is none here either.
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
