//! Products of integers and bits, which are exact, and of f64, which are fused one after the other.

use super::float::COLUMNS;
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
    /// For each element of A, the row of B that it meets.
    pub rows: &'a [u16],
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
            Level::Avx2 | Level::Avx512 if super::float::has_avx2() => {
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
        for row in 0..m {
            let (Some(line), Some(rows)) =
                (self.a.get(row * k..row * k + k), self.rows.get(row * k..row * k + k))
            else {
                return;
            };
            for column in (0..n).step_by(COLUMNS) {
                let Some(place) = accumulators.get_mut(row * n + column..row * n + column + COLUMNS) else {
                    return;
                };
                // The products of bytes fit 32 bits however many an instruction adds.
                let mut sum = [0u32; COLUMNS];
                for (x, at) in line.iter().zip(rows) {
                    let Some(of_b) = self.b.get(usize::from(*at) * n + column..) else { return };
                    let Some(of_b) = of_b.get(..COLUMNS) else { return };
                    for lane in 0..COLUMNS {
                        sum[lane] = sum[lane].wrapping_add(combine(*x, of_b[lane]));
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
