//! Which accesses are at addresses whose lanes are known to be as far apart as those of registers that do not change any more, or by products with uniform values.
//!
//! Such a register is written neither in the block nor in any that lanes come to from there, so that it is looked at once in a warp. In shared memory addresses may be
//! the sum of one and of uniform values (`pattern`): all lanes are moved by the same. Others are computed for each half of the warp (`even`).

use super::parts::Maker;
use super::plan::Plan;
use super::recipe::{Lines, Source, Step, Store, What, Where};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_interp::engine::{PlainLoad, PlainStore, Reg, Width};
use warpsmith_isa::StateSpace;

/// Bytes of a lane at most.
const LARGEST: u32 = 16;
/// The lanes of a register may be as far apart as they like.
const ANY_STEP: u32 = 0;
/// Accesses of one register are at most so many bytes apart.
const APART: u64 = 1 << 20;

/// The accesses of a part in the making.
#[derive(Default)]
pub(super) struct OpenLines {
    /// Those at one register, and whether that has still the value.
    lines: Vec<(Lines, bool)>,
    /// Each access: which of them, and what is added.
    accesses: Vec<(usize, i64)>,
    /// The register with the pattern, by registers that a sum with it is in.
    pub sums: FxHashMap<Reg, Reg>,
    /// The registers that grow evenly in each half.
    pub evens: FxHashSet<Reg>,
}

impl OpenLines {
    /// A register has another value from here on.
    pub fn overwrite(&mut self, r: Reg) {
        self.sums.remove(&r);
        self.evens.remove(&r);
        self.lines.iter_mut().filter(|(lines, _)| lines.base == r).for_each(|(_, holds)| *holds = false);
    }

    /// Adds an access, and gives its number.
    pub fn access(&mut self, new: Lines, offset: i64) -> u32 {
        let fits = |(lines, holds): &(Lines, bool)| {
            let apart = offset.abs_diff(lines.lowest);
            let kind =
                |lines: &Lines| (lines.base, lines.bytes, lines.pattern, std::mem::discriminant(&lines.at));
            let same = kind(lines) == kind(&new);
            *holds && same && apart.is_multiple_of(u64::from(new.bytes)) && apart < APART
        };
        let number = self.lines.iter().position(fits).unwrap_or_else(|| {
            self.lines.push((new, true));
            self.lines.len() - 1
        });
        let (lines, _) = &mut self.lines[number];
        let highest = lines.lowest.saturating_add_unsigned(lines.more).max(offset);
        lines.lowest = lines.lowest.min(offset);
        lines.more = highest.abs_diff(lines.lowest);
        self.accesses.push((number, offset));
        self.accesses.len() as u32 - 1
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Gives the steps their lines, and the distance past the lowest access.
    pub fn close(self, steps: &mut [Step]) -> Vec<Lines> {
        for step in steps {
            let What::Line(fetch) = &mut step.what else { continue };
            let (number, offset) = self.accesses[fetch.batch as usize];
            fetch.batch = number as u32;
            fetch.past = offset.abs_diff(self.lines[number].0.lowest) as u32;
        }
        self.lines.into_iter().map(|(lines, _)| lines).collect()
    }
}

impl Maker<'_, '_> {
    /// The register with a pattern of which a register is a sum with uniform values: itself, as a rule.
    fn root(&self, r: Reg) -> Option<Reg> {
        if let Some(root) = self.once.lines.sums.get(&r) {
            return Some(*root);
        }
        let address = !r.is_constant() && matches!(r.width(), Width::W32 | Width::W64);
        let stays = address && !self.later.overlaps(r) && !self.once.written.contains(&r);
        (stays && self.varying.contains(r)).then_some(r)
    }

    /// Which source of an operation has a pattern, and by which register, if uniform values are added to it.
    pub fn sum(&self, plan: Plan, step: &Step) -> Option<(u8, Reg)> {
        if step.guard.is_some() {
            return None;
        }
        let root = |n: usize| match step.src[n] {
            Source::Reg(r) => self.root(r).filter(|root| root.width() == step.dst.width()),
            Source::Number(_) => None,
        };
        let uniform = |n: usize| match step.src[n] {
            Source::Reg(r) => self.is_uniform(r),
            Source::Number(_) => true,
        };
        let side: usize = match plan {
            Plan::Add if uniform(0) => 1,
            Plan::Add | Plan::Sub if uniform(1) => 0,
            Plan::Move => 0,
            Plan::MultiplyAdd | Plan::Widen { add: true, .. } if uniform(0) && uniform(1) => 2,
            Plan::Add
            | Plan::Sub
            | Plan::Multiply
            | Plan::MultiplyAdd
            | Plan::Widen { .. }
            | Plan::And
            | Plan::Or
            | Plan::Xor
            | Plan::Not
            | Plan::ShiftLeft(_)
            | Plan::ShiftRight { .. }
            | Plan::FunnelLeft(_)
            | Plan::FunnelRight(_)
            | Plan::Logic(_)
            | Plan::Permute(_)
            | Plan::Least { .. }
            | Plan::Greatest { .. }
            | Plan::Compare(_)
            | Plan::CompareFloat(_)
            | Plan::Choose
            | Plan::Extend { .. }
            | Plan::Cut
            | Plan::FromInteger { .. }
            | Plan::AddFloat
            | Plan::SubFloat
            | Plan::MultiplyFloat
            | Plan::Fused => return None,
        };
        Some((side as u8, root(side)?))
    }

    /// The registers, beside uniform ones, from which an operation computes what grows evenly in each half, if it does.
    pub fn even(&self, plan: Plan, step: &Step) -> Option<Box<[Reg]>> {
        let address = matches!(step.dst.width(), Width::W32 | Width::W64);
        if step.guard.is_some() || !address {
            return None;
        }
        let uniform = |n: usize| match step.src[n] {
            Source::Reg(r) => self.is_uniform(r),
            Source::Number(_) => true,
        };
        let computed = match plan {
            Plan::Move | Plan::Add | Plan::Sub | Plan::ShiftLeft(_) | Plan::Extend { .. } | Plan::Cut => true,
            Plan::Multiply | Plan::MultiplyAdd | Plan::Widen { .. } => uniform(0) || uniform(1),
            Plan::And
            | Plan::Or
            | Plan::Xor
            | Plan::Not
            | Plan::ShiftRight { .. }
            | Plan::FunnelLeft(_)
            | Plan::FunnelRight(_)
            | Plan::Logic(_)
            | Plan::Permute(_)
            | Plan::Least { .. }
            | Plan::Greatest { .. }
            | Plan::Compare(_)
            | Plan::CompareFloat(_)
            | Plan::Choose
            | Plan::FromInteger { .. }
            | Plan::AddFloat
            | Plan::SubFloat
            | Plan::MultiplyFloat
            | Plan::Fused => false,
        };
        let varying = (0..step.src.len()).filter(|n| !uniform(*n)).map(|n| match step.src[n] {
            Source::Reg(r) => self.is_even(r).then_some(r),
            Source::Number(_) => None,
        });
        if computed { varying.collect() } else { None }
    }

    /// It grows evenly in each half as far as is known: what the engine finds of the registers that it comes from decides.
    fn is_even(&self, r: Reg) -> bool {
        self.once.lines.evens.contains(&r) || (!self.once.written.contains(&r) && self.root(r).is_some())
    }

    /// What is computed for each half is what lines need; the answer is the registers that it comes from.
    pub fn roots(&mut self, lines: &[Lines], steps: &mut [Step]) -> Vec<(Reg, u32)> {
        let mut needed: Vec<Reg> = Vec::new();
        for step in steps.iter_mut().rev() {
            if let What::Line(fetch) = &step.what {
                let lines = &lines[fetch.batch as usize];
                if lines.pattern.is_none() && lines.varying && !needed.contains(&lines.base) {
                    needed.push(lines.base);
                }
            }
            let Some(sources) = &step.even else { continue };
            if !needed.contains(&step.dst) {
                step.even = None;
                continue;
            }
            needed.retain(|r| *r != step.dst);
            let more: Vec<Reg> = sources.iter().copied().filter(|r| !needed.contains(r)).collect();
            needed.extend(more);
        }
        needed.into_iter().map(|root| (root, self.pattern(root, ANY_STEP))).collect()
    }

    fn pattern(&mut self, root: Reg, bytes: u32) -> u32 {
        let known = self.patterns.iter().position(|pattern| *pattern == (root, bytes));
        let number = known.unwrap_or_else(|| {
            self.patterns.push((root, bytes));
            self.patterns.len() - 1
        });
        number as u32
    }

    /// The lines of a load, if it has some.
    pub fn line_load(&mut self, load: &PlainLoad<'_>) -> Option<Lines> {
        let (space, _, on_stack) = load.kind;
        let fits = load.dst.iter().all(|r| load.element.0 < 8 || r.width() == Width::W64);
        let wide = load.base.width() == Width::W64;
        let known = space == StateSpace::Shared || space == StateSpace::Global && wide;
        if !known || on_stack || load.bytes > LARGEST || !fits {
            return None;
        }
        let base = load.base;
        let (pattern, varying) = match self.root(base) {
            Some(root) if space == StateSpace::Shared => (Some(self.pattern(root, load.bytes)), true),
            _ if self.is_uniform(base) && matches!(base.width(), Width::W32 | Width::W64) => (None, false),
            _ if self.is_even(base) => (None, true),
            _ => return None,
        };
        let at = if space == StateSpace::Shared { Where::Shared } else { Where::Global(*self.windows) };
        *self.windows += u32::from(space == StateSpace::Global);
        Some(Lines { pattern, at, base, varying, bytes: load.bytes, lowest: load.offset, more: 0 })
    }

    /// A store of one element at such an address, which no sum is needed for.
    pub fn line_store(&mut self, place: u32, store: &PlainStore<'_>) -> Option<Store> {
        let [src] = store.src else { return None };
        let whole = matches!((store.element, src.width()), (4, Width::W32) | (8, Width::W64));
        let root = self.root(store.base).filter(|root| *root == store.base && whole && !store.on_stack)?;
        let pattern = self.pattern(root, store.element);
        let lines = Lines {
            pattern: Some(pattern),
            at: Where::Shared,
            base: store.base,
            varying: true,
            bytes: store.element,
            lowest: store.offset,
            more: 0,
        };
        Some(Store { lines, src: *src, place })
    }
}
