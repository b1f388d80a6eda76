//! Products of integers and bits, which are exact, and of f64, which are fused one after the other.

use super::float::COLUMNS;
use super::sparse::Partners;
use crate::lanes::Level;
use crate::value::{Rounding, double};

/// A product of integers or of bits.
#[derive(Clone, Copy, Debug)]
pub struct IntegerProduct<'a> {
    /// Rows of A and D, columns of B and D, and products of an element of D. Of bits, products of words of 32.
    pub shape: [usize; 3],
    /// What is added.
    pub kind: IntegerKind,
    /// The sum is clamped rather than wrapped.
    pub saturate: bool,
    /// A, row by row: integers sign-extended, or words of bits.
    pub a: &'a [u32],
    /// B, row by row.
    pub b: &'a [u32],
    /// The rows of B that A's elements meet.
    pub rows: Partners<'a>,
}

/// What is added up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IntegerKind {
    /// Products.
    Multiply,
    /// The bits that are set in both.
    And,
    /// The bits that differ.
    Xor,
}

impl IntegerProduct<'_> {
    /// Adds the product to C: `accumulators` has C, row by row, and gets D. The number of columns is a multiple of eight.
    pub fn run(&self, level: Level, accumulators: &mut [u32]) {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if Level::Avx2.is_available() => {
                // SAFETY: the host has just said that it has these features.
                unsafe { self.run_avx2(accumulators) }
            }
            Level::Baseline | Level::Avx2 | Level::Avx512 => self.run_here(accumulators),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx2(&self, accumulators: &mut [u32]) {
        self.run_here(accumulators);
    }

    #[inline(always)]
    fn run_here(&self, accumulators: &mut [u32]) {
        match self.kind {
            IntegerKind::Multiply => self.each(accumulators, |a, b| a.wrapping_mul(b)),
            IntegerKind::And => self.each(accumulators, |a, b| (a & b).count_ones()),
            IntegerKind::Xor => self.each(accumulators, |a, b| (a ^ b).count_ones()),
        }
    }

    #[inline(always)]
    fn each(&self, accumulators: &mut [u32], combine: impl Fn(u32, u32) -> u32) {
        let [m, n, k] = self.shape;
        let chunks = n / COLUMNS;
        for row in 0..m {
            let Some(line) = self.a.get(row * k..row * k + k) else { return };
            for (chunk, column) in (0..n).step_by(COLUMNS).enumerate() {
                let Some(place) = accumulators.get_mut(row * n + column..row * n + column + COLUMNS) else {
                    return;
                };
                let Some(of_b) = self.b.as_chunks::<COLUMNS>().0.get(chunk..) else { return };
                // The products of bytes fit 32 bits however many an instruction adds.
                let mut sum = [0u32; COLUMNS];
                match self.rows.line(row, k) {
                    Partners::Same if chunks == 1 => {
                        // Several in a round, which are hidden from the compiler: it would make vectors of products in place of columns.
                        let ((fours, rest), (fours_of_b, rest_of_b)) =
                            (line.as_chunks::<4>(), of_b.as_chunks::<4>());
                        for (line, of_b) in fours.iter().zip(fours_of_b) {
                            let line = std::hint::black_box(line);
                            for i in 0..4 {
                                add(line[i], &of_b[i], &combine, &mut sum);
                            }
                        }
                        for (x, of_b) in rest.iter().zip(rest_of_b) {
                            add(*x, of_b, &combine, &mut sum);
                        }
                    }
                    Partners::Same => {
                        for (x, of_b) in line.iter().zip(of_b.chunks(chunks)) {
                            add(*x, &of_b[0], &combine, &mut sum);
                        }
                    }
                    Partners::Each(rows) => {
                        for (x, row) in line.iter().zip(rows) {
                            let Some(of_b) = of_b.get(usize::from(*row) * chunks) else { return };
                            add(*x, of_b, &combine, &mut sum);
                        }
                    }
                }
                for lane in 0..COLUMNS {
                    place[lane] = if self.saturate {
                        (place[lane] as i32).saturating_add(sum[lane] as i32) as u32
                    } else {
                        place[lane].wrapping_add(sum[lane])
                    };
                }
            }
        }
    }
}

#[inline(always)]
fn add(x: u32, of_b: &[u32; COLUMNS], combine: &impl Fn(u32, u32) -> u32, sum: &mut [u32; COLUMNS]) {
    for lane in 0..COLUMNS {
        sum[lane] = sum[lane].wrapping_add(combine(x, of_b[lane]));
    }
}

/// A product of f64: `d = fma(a, b, d)` for one k after the other, each rounded. `rows * columns` elements of C become those of D.
pub fn multiply_double(
    [m, n, k]: [usize; 3],
    rounding: Rounding,
    a: &[u64],
    b: &[u64],
    accumulators: &mut [u64],
) {
    for (at, d) in accumulators.iter_mut().enumerate().take(m * n) {
        let (row, column) = (at / n, at % n);
        for i in 0..k {
            if let (Some(x), Some(y)) = (a.get(row * k + i), b.get(i * n + column)) {
                *d = double::fma(rounding, *x, *y, *d);
            }
        }
    }
}
