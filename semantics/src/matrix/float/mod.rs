//! Products of floats, bit for bit: `D = A * B + C` by the [`Rule`] of an architecture.
//!
//! Rows of A meet eight columns of B at a time. Every number is a significand and an exponent as 32-bit integers, so that the loops are plain
//! arithmetic on arrays, which the compiler makes vector code of. What is not a finite number is rare: it is looked for apart (`special`).

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

mod operands;
mod round;
mod special;

pub(super) use operands::formats;
pub(super) use round::{power_of_two, to_half};

use super::element::{Accumulator, Element};
use super::ideal;
use super::near::{Near, by_columns};
use super::rule::{Rule, ScaleType};
use super::sparse::Partners;
use crate::lanes::Level;
use operands::{Chunk, Eight, add_column_exponents, add_exponents, fill_any};

/// Columns that are computed together.
pub(super) const COLUMNS: usize = 8;

/// Products that are added in 32 bits: sixteen are less than 64 units of 2^fraction, 2^25 at most.
pub(super) const FIT: usize = 16;

/// What is to be multiplied.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Rows of A and D, columns of B and D, and how many products make an element of D.
    pub shape: [usize; 3],
    /// The elements of A and B, floats of at most 16 bits, or tf32.
    pub types: [Element; 2],
    /// The types of C and D.
    pub accumulators: [Accumulator; 2],
    /// The arithmetic; `None` for the exact sum, rounded once to nearest even.
    pub rule: Option<Rule>,
    /// A, row by row: `M * K` elements.
    pub a: &'a [u32],
    /// B, row by row, `N` elements each.
    pub b: &'a [u32],
    /// The rows of B that A's elements meet.
    pub rows: Partners<'a>,
    /// What blocks of products are multiplied by.
    pub scales: Option<Scales<'a>>,
}

/// The scales of a block-scaled product.
#[derive(Clone, Copy, Debug)]
pub struct Scales<'a> {
    /// Their type.
    pub ty: ScaleType,
    /// How many blocks a row of A has.
    pub blocks: usize,
    /// The scales of A, `blocks` for each row.
    pub a: &'a [u8],
    /// The scales of B, `blocks` for each column.
    pub b: &'a [u8],
}

/// Room for operands taken apart, which can be used again.
#[derive(Debug, Default)]
pub struct Workspace {
    a: Vec<Eight>,
    b: Vec<Eight>,
    /// A's elements one by one: significand, sign and exponent.
    flat: Vec<(u32, u32, i32)>,
    /// The rows of A and columns of B in which something is not a finite number.
    special_rows: Vec<bool>,
    special_columns: Vec<bool>,
    near: Near,
    /// B [`by_columns`].
    pub(super) columns: Vec<u32>,
    pub(super) doubles: [Vec<f64>; 2],
}

impl Product<'_> {
    /// Adds the product to C: `accumulators` has the bits of C, row by row, and gets those of D.
    ///
    /// The number of columns is a multiple of eight, and so is that of A's elements. Slices that are too short are taken as far as they go.
    pub fn run(&self, level: Level, workspace: &mut Workspace, accumulators: &mut [u32]) {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if Level::Avx512.is_available() => {
                // SAFETY: the host has just said that it has these features.
                unsafe { self.run_avx512(workspace, accumulators) }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if Level::Avx2.is_available() => {
                // SAFETY: as above.
                unsafe { self.run_avx2(workspace, accumulators) }
            }
            Level::Baseline | Level::Avx2 | Level::Avx512 => self.run_here::<false>(workspace, accumulators),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx2(&self, workspace: &mut Workspace, accumulators: &mut [u32]) {
        self.run_here::<true>(workspace, accumulators);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx512(&self, workspace: &mut Workspace, accumulators: &mut [u32]) {
        self.run_here::<true>(workspace, accumulators);
    }

    /// `FMA`: the host multiplies and adds at once.
    #[inline(always)]
    fn run_here<const FMA: bool>(&self, workspace: &mut Workspace, accumulators: &mut [u32]) {
        let [m, n, k] = self.shape;
        if n == 0 || n % COLUMNS != 0 || m * k % COLUMNS != 0 || k == 0 {
            return;
        }
        let depth = self.b.len() / n;
        let sizes = accumulators.len() >= m * n && self.a.len() >= m * k && self.b.len() == depth * n;
        let scaled = self.scales.is_none_or(|s| {
            s.blocks > 0 && k % s.blocks == 0 && s.a.len() >= m * s.blocks && s.b.len() >= n * s.blocks
        });
        if !sizes || !scaled || !self.rows.fit([m, k, depth]) {
            return;
        }
        let Some(rule) = self.rule else {
            ideal::run::<FMA>(self, workspace, accumulators);
            return;
        };
        if rule.group == 1 && self.scales.is_none() {
            let Workspace { near, columns, .. } = workspace;
            let b = by_columns(self.b, n / COLUMNS, columns);
            if near.take(self.types, &self.a[..m * k], b) {
                near.run(self, &rule, &mut accumulators[..m * n]);
                return;
            }
        }
        let [of_a, of_b] = formats(self.types);
        let products = of_a.fraction_bits + of_b.fraction_bits;
        // A group's sum is cut where its scales are known.
        let shift = if rule.group == 1 { rule.fraction.saturating_sub(products) } else { 0 };
        workspace.special_rows.clear();
        workspace.special_rows.resize(m, false);
        workspace.special_columns.clear();
        workspace.special_columns.resize(n, false);
        self.take_apart(&rule, shift, workspace);
        let block = rule.block.min(k);
        for row in 0..m {
            for start in (0..k).step_by(block) {
                let range = start..(start + block).min(k);
                let ty = self.accumulators[usize::from(start > 0)];
                for column in (0..n).step_by(COLUMNS) {
                    let at = row * n + column;
                    let Some(place) = accumulators.get_mut(at..at + COLUMNS) else { return };
                    let mut old = [0; COLUMNS];
                    old.copy_from_slice(place);
                    let c = Chunk::of(ty, &old);
                    let (total, exponent) = if rule.group == 1 {
                        self.plain(&rule, workspace, row, column, range.clone(), &c)
                    } else {
                        self.grouped(&rule, workspace, row, column, &c)
                    };
                    let mut new = [0; COLUMNS];
                    self.round(&rule, &total, &exponent, &mut new);
                    let flags = workspace.special_columns.get(column..column + COLUMNS).unwrap_or(&[]);
                    if c.special || workspace.special_rows[row] || flags.contains(&true) {
                        for (lane, new) in new.iter_mut().enumerate() {
                            let found = self.special(row, column + lane, range.clone(), (ty, old[lane]));
                            *new = found.unwrap_or(*new);
                        }
                    }
                    place.copy_from_slice(&new);
                }
            }
        }
    }

    /// Takes the elements of A and B apart, their scales included, and looks for what is not a finite number.
    #[inline(always)]
    fn take_apart(&self, rule: &Rule, shift: u32, workspace: &mut Workspace) {
        let [m, n, k] = self.shape;
        let mut special = fill_any(self.types[0], &self.a[..m * k], shift, &mut workspace.a);
        special |= fill_any(self.types[1], self.b, 0, &mut workspace.b);
        if special {
            self.find_specials(workspace);
        }
        if let Some(scales) = &self.scales {
            let nan = |scales: &[u8], blocks: usize, line: usize, ty: ScaleType| {
                scales[line * blocks..][..blocks].iter().any(|s| ty.is_nan(*s))
            };
            for (row, flag) in workspace.special_rows.iter_mut().enumerate() {
                *flag |= nan(scales.a, scales.blocks, row, scales.ty);
            }
            for (column, flag) in workspace.special_columns.iter_mut().enumerate() {
                *flag |= nan(scales.b, scales.blocks, column, scales.ty);
            }
            if rule.group == 1 {
                add_exponents(&mut workspace.a, k, scales.a, scales.blocks);
                let rows = k.max(self.b.len() / n);
                add_column_exponents(&mut workspace.b, n, rows, scales);
            }
        }
        if rule.group == 1 {
            workspace.flat.resize(m * k, (0, 0, 0));
            for (eight, flat) in workspace.a.iter().zip(workspace.flat.chunks_exact_mut(COLUMNS)) {
                for lane in 0..COLUMNS {
                    flat[lane] = (eight.magnitude[lane], eight.sign[lane], eight.exponent[lane]);
                }
            }
        }
    }

    /// The sums of one block of products for eight columns, as multiples of `2^(exponent - fraction)`.
    #[inline(always)]
    fn plain(
        &self,
        rule: &Rule,
        workspace: &Workspace,
        row: usize,
        column: usize,
        range: std::ops::Range<usize>,
        c: &Chunk,
    ) -> ([f64; COLUMNS], [i32; COLUMNS]) {
        let [_, n, k] = self.shape;
        let chunks = n / COLUMNS;
        let Some(of_a) = workspace.flat.get(row * k + range.start..row * k + range.end) else {
            return ([0.0; COLUMNS], [0; COLUMNS]);
        };
        let of_b = &workspace.b[column / COLUMNS..];
        let mut largest = c.exponent;
        for (i, (_, _, exponent)) in of_a.iter().enumerate() {
            let of_b = &of_b[self.rows.of(row, range.start + i, k) * chunks];
            for lane in 0..COLUMNS {
                largest[lane] = largest[lane].max(exponent + of_b.exponent[lane]);
            }
        }
        let mut total = [0.0; COLUMNS];
        for (part, of_a) in of_a.chunks(FIT).enumerate() {
            let mut sum = [0i32; COLUMNS];
            for (i, (magnitude, sign, exponent)) in of_a.iter().enumerate() {
                let of_b = &of_b[self.rows.of(row, range.start + part * FIT + i, k) * chunks];
                for lane in 0..COLUMNS {
                    let below = (largest[lane] - (exponent + of_b.exponent[lane])) as u32;
                    let cut = magnitude.wrapping_mul(of_b.magnitude[lane]) >> below.min(31);
                    let sign = sign ^ of_b.sign[lane];
                    sum[lane] = sum[lane].wrapping_add((cut ^ sign).wrapping_sub(sign) as i32);
                }
            }
            for lane in 0..COLUMNS {
                total[lane] += f64::from(sum[lane]);
            }
        }
        c.add_to(rule, &largest, &mut total);
        (total, largest)
    }

    /// As [`Product::plain`], where groups of products are added exactly and multiplied by their scales' significands.
    #[inline(always)]
    fn grouped(
        &self,
        rule: &Rule,
        workspace: &Workspace,
        row: usize,
        column: usize,
        c: &Chunk,
    ) -> ([f64; COLUMNS], [i32; COLUMNS]) {
        let [_, n, k] = self.shape;
        let (a, b) = (&workspace.a, &workspace.b);
        let [of_a, of_b] = formats(self.types);
        let fractions = (of_a.fraction_bits + of_b.fraction_bits) as i32;
        let groups = k / rule.group;
        let mut terms = [[(0i64, 0i32); COLUMNS]; 8];
        let mut largest = c.exponent;
        for (group, terms) in terms.iter_mut().enumerate().take(groups) {
            for (lane, term) in terms.iter_mut().enumerate() {
                let mut sum = 0i64;
                for i in group * rule.group..(group + 1) * rule.group {
                    let y = &b[self.rows.of(row, i, k) * (n / COLUMNS) + column / COLUMNS];
                    let at = row * k + i;
                    let (x, i) = (&a[at / COLUMNS], at % COLUMNS);
                    let product = (i64::from(x.magnitude[i]) * i64::from(y.magnitude[lane]))
                        << (x.exponent[i].max(-8) + y.exponent[lane].max(-8) + 16);
                    let negative = x.sign[i] ^ y.sign[lane] != 0;
                    sum += if negative { -product } else { product };
                }
                let [of_a, of_b] = match &self.scales {
                    Some(s) => {
                        let which = group * s.blocks / groups;
                        [s.a[row * s.blocks + which], s.b[(column + lane) * s.blocks + which]]
                            .map(|bits| s.ty.parts(bits))
                    }
                    None => [(8, 0); 2],
                };
                // The sum counts in 2^-(16 + fractions), the scales' significands in eighths.
                let scaled = sum * i64::from(of_a.0 * of_b.0);
                *term = (scaled, of_a.1 + of_b.1);
                largest[lane] = largest[lane].max(term.1);
            }
        }
        let mut total = [0.0; COLUMNS];
        for (lane, total) in total.iter_mut().enumerate() {
            let cut = |magnitude: i128, unit: i32| {
                // In multiples of 2^(largest - fraction).
                let shift = unit - (largest[lane] - rule.fraction as i32);
                if shift >= 0 { magnitude << shift.min(64) } else { magnitude / (1i128 << (-shift).min(120)) }
            };
            let mut sum = 0i128;
            for terms in terms.iter().take(groups) {
                let (value, exponent) = terms[lane];
                sum += cut(value.into(), exponent - 16 - 6 - fractions);
            }
            let magnitude = i128::from(c.magnitude[lane]);
            let signed = if c.sign[lane] != 0 { -magnitude } else { magnitude };
            sum += cut(signed, c.exponent[lane] - 23);
            *total = sum as f64;
        }
        (total, largest)
    }
}
