//! Products of floats, bit for bit: `D = A * B + C` by the [`Rule`] of an architecture.
//!
//! Rows of A meet eight columns of B at a time. Every number is a significand and an exponent as 32-bit integers, so that the loops are plain
//! arithmetic on arrays, which the compiler makes vector code of. What is no finite number is rare: it is looked for apart ([`special`]).

// Loops over lanes index several arrays at once: that is what becomes vector code.
#![allow(clippy::needless_range_loop)]

use super::element::{Accumulator, Class, Element, Family, ZERO, classify, parts};
use super::ideal;
use super::near::{Near, by_columns};
use super::rule::{Rule, ScaleType};
use super::sparse::Partners;
use crate::lanes::Level;
use crate::value::soft::Format;

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
    /// The rows of A and columns of B in which something is no finite number.
    special_rows: Vec<bool>,
    special_columns: Vec<bool>,
    near: Near,
    /// B [`by_columns`].
    pub(super) columns: Vec<u32>,
    pub(super) doubles: [Vec<f64>; 2],
}

/// Eight elements taken apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eight {
    pub magnitude: [u32; COLUMNS],
    pub sign: [u32; COLUMNS],
    pub exponent: [i32; COLUMNS],
}

/// Takes elements apart, eight at a time; their significands are shifted left. True if any is no finite number.
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
fn fill_any(element: Element, bits: &[u32], shift: u32, to: &mut Vec<Eight>) -> bool {
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
pub(super) fn formats(types: [Element; 2]) -> [Format; 2] {
    types.map(|element| match element.family() {
        Family::Float(format) => format,
        Family::Double | Family::Integer { .. } | Family::Bit => Format::F16,
    })
}

impl Product<'_> {
    /// Adds the product to C: `accumulators` has the bits of C, row by row, and gets those of D.
    ///
    /// The number of columns is a multiple of eight, and so is that of A's elements. Slices that are too short are taken as far as they go.
    pub fn run(&self, level: Level, workspace: &mut Workspace, accumulators: &mut [u32]) {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 if has_avx512() => {
                // SAFETY: the host has just said that it has these features.
                unsafe { self.run_avx512(workspace, accumulators) }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if has_avx2() => {
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

    /// Takes the elements of A and B apart, their scales included, and looks for what is no finite number.
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

    #[inline(always)]
    pub(super) fn round(
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

    /// What comes of an element whose terms are not all finite numbers; `None` if they are.
    #[cold]
    pub(super) fn special(
        &self,
        row: usize,
        column: usize,
        range: std::ops::Range<usize>,
        (ty, c): (Accumulator, u32),
    ) -> Option<u32> {
        let [_, n, k] = self.shape;
        let [of_a, of_b] = formats(self.types);
        let mut seen = [false; 2];
        let mut nan = false;
        match classify(ty.format(), c) {
            Class::Nan => nan = true,
            Class::Infinity(negative) => seen[usize::from(negative)] = true,
            Class::Zero | Class::Finite(_) => {}
        }
        if let Some(s) = &self.scales {
            let used = range.start * s.blocks / k..(range.end * s.blocks).div_ceil(k);
            nan |= s.a[row * s.blocks..][used.clone()].iter().any(|bits| s.ty.is_nan(*bits));
            nan |= s.b[column * s.blocks..][used].iter().any(|bits| s.ty.is_nan(*bits));
        }
        for i in range {
            let x = classify(of_a, self.a[row * k + i]);
            let y = classify(of_b, self.b[self.rows.of(row, i, k) * n + column]);
            match (x, y) {
                (Class::Nan, _)
                | (_, Class::Nan)
                | (Class::Infinity(_), Class::Zero)
                | (Class::Zero, Class::Infinity(_)) => nan = true,
                (Class::Infinity(p), Class::Infinity(q) | Class::Finite(q))
                | (Class::Finite(p), Class::Infinity(q)) => seen[usize::from(p ^ q)] = true,
                (Class::Zero | Class::Finite(_), Class::Zero | Class::Finite(_)) => {}
            }
        }
        let format = self.accumulators[1].format();
        let infinity = format.infinity().unwrap_or(format.max()) as u32;
        match seen {
            _ if nan => format.nan().map(|bits| bits as u32),
            [true, true] => format.nan().map(|bits| bits as u32),
            [true, false] => Some(infinity),
            [false, true] => Some(infinity | format.sign() as u32),
            [false, false] => None,
        }
    }

    /// The element of D if its terms are not all finite numbers, over all products.
    pub(super) fn special_of_all(&self, row: usize, column: usize, c: u32) -> Option<u32> {
        self.special(row, column, 0..self.shape[2], (self.accumulators[0], c))
    }

    #[cold]
    fn find_specials(&self, workspace: &mut Workspace) {
        let [m, n, k] = self.shape;
        let [of_a, of_b] = formats(self.types);
        let special = |format, bits: u32| matches!(classify(format, bits), Class::Nan | Class::Infinity(_));
        for (row, flag) in workspace.special_rows.iter_mut().enumerate().take(m) {
            *flag = self.a[row * k..][..k].iter().any(|bits| special(of_a, *bits));
        }
        for (at, _) in self.b.iter().enumerate().filter(|(_, bits)| special(of_b, **bits)) {
            workspace.special_columns[at % n] = true;
        }
    }
}

/// Eight elements of C.
struct Chunk {
    magnitude: [u32; COLUMNS],
    sign: [u32; COLUMNS],
    exponent: [i32; COLUMNS],
    special: bool,
}

impl Chunk {
    /// Takes elements of C apart, with 23 bits of fraction whatever their type.
    #[inline(always)]
    fn of(ty: Accumulator, bits: &[u32; COLUMNS]) -> Chunk {
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

impl Accumulator {
    /// The format of a float of 16 or 32 bits; other accumulators belong to other products.
    pub(super) const fn format(self) -> Format {
        match self {
            Accumulator::F16 => Format::F16,
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => Format::F32,
        }
    }
}

impl ScaleType {
    fn is_nan(self, bits: u8) -> bool {
        match self {
            ScaleType::Ue8m0 => bits == 0xff,
            ScaleType::Ue4m3 => bits & 0x7f == 0x7f,
        }
    }

    /// The significand in eighths and the exponent.
    fn parts(self, bits: u8) -> (i32, i32) {
        match self {
            ScaleType::Ue8m0 => (8, i32::from(bits) - 127),
            ScaleType::Ue4m3 => {
                let parts = parts(Format::E4M3, u32::from(bits & 0x7f));
                (parts.magnitude as i32, parts.exponent)
            }
        }
    }

    /// The value; NaN is one.
    pub(super) fn value(self, bits: u8) -> f64 {
        let (significand, exponent) = self.parts(bits);
        if self.is_nan(bits) { f64::NAN } else { f64::from(significand) / 8.0 * power_of_two(exponent) }
    }
}

/// `2^exponent` within the range of normal numbers.
#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Adds the scales of A's rows, powers of two, to the exponents of its elements.
fn add_exponents(a: &mut [Eight], k: usize, scales: &[u8], blocks: usize) {
    for (at, exponent) in a.iter_mut().flat_map(|eight| &mut eight.exponent).enumerate() {
        let scale = scales[at / k * blocks + at % k / (k / blocks)];
        *exponent += i32::from(scale) - 127;
    }
}

/// Adds the scales of B's columns to the exponents of its elements.
fn add_column_exponents(b: &mut [Eight], n: usize, rows: usize, scales: &Scales<'_>) {
    for (at, exponent) in b.iter_mut().flat_map(|eight| &mut eight.exponent).enumerate() {
        let block = at / n / (rows / scales.blocks).max(1);
        let scale = scales.b[at % n * scales.blocks + block.min(scales.blocks - 1)];
        *exponent += i32::from(scale) - 127;
    }
}

/// 2^52
const POWER_52: f64 = (1u64 << 52) as f64;

/// f16 of a number that f64 holds exactly, to nearest even.
#[inline(always)]
pub(super) fn to_half(value: f64) -> u32 {
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

/// The host has what the functions ask for that are compiled for [`Level::Avx2`].
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// The host has what the functions ask for that are compiled for [`Level::Avx512`].
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
}
