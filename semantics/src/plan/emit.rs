//! A plan as a sequence of lane functions, for whoever runs them.

use super::{Plan, Slot, Step};
use crate::lanes::{self, LaneFn};
use crate::register::Width;
use smallvec::SmallVec;

/// Where the steps of a plan go: a program under construction, or an evaluation.
pub trait Emitter {
    /// A register or a constant.
    type Reg: Copy + PartialEq;

    /// The width of a register.
    fn width(&self, r: Self::Reg) -> Width;
    /// A new register.
    fn new_reg(&mut self, width: Width) -> Self::Reg;
    /// A constant.
    fn constant_reg(&mut self, value: u64, width: Width) -> Self::Reg;
    /// Applies a function; the registers have the widths of its signature.
    fn step(&mut self, function: LaneFn, dst: &[Self::Reg], src: &[Self::Reg]);
    /// Takes note of operands that do not fit.
    fn mismatch(&mut self, message: String);
}

impl Plan {
    /// Emits the instruction.
    ///
    /// `dst` may leave destinations out, at the end or as `None`; `src` are registers or constants, a negated predicate having
    /// been negated before. A register wider than the instruction reads is cut, one wider than it writes is extended. A register
    /// may be a destination and a source, or several sources.
    pub fn emit<E: Emitter>(
        &self,
        to: &mut E,
        dst: &[Option<E::Reg>],
        src: &[E::Reg],
        carry: Option<E::Reg>,
    ) {
        if src.len() != self.sources.len() {
            return to.mismatch(format!("{} sources where {} are needed", src.len(), self.sources.len()));
        }
        let carry = match (self.carry, carry) {
            (true, None) => {
                return to.mismatch("an instruction that uses the carry flag where there is none".to_owned());
            }
            (_, carry) => carry,
        };
        let mut read: SmallVec<[E::Reg; 5]> = SmallVec::new();
        for (r, width) in src.iter().zip(&self.sources) {
            match resized(to, *r, *width, false) {
                Some(r) => read.push(r),
                None => {
                    let found = to.width(*r).bits();
                    return to
                        .mismatch(format!("a register of {found} bits where {} are read", width.bits()));
                }
            }
        }
        let results: SmallVec<[E::Reg; 2]> = (self.destinations.iter().enumerate())
            .map(|(i, width)| match dst.get(i) {
                Some(Some(r)) if to.width(*r) == *width && !self.clobbers(i, *r, &read) => *r,
                _ => to.new_reg(*width),
            })
            .collect();
        let mut temps: SmallVec<[Option<E::Reg>; 4]> = SmallVec::new();
        for (n, step) in self.steps.iter().enumerate() {
            // The complement of a comparison, say, is computed only where it is asked for.
            let asked = |slot: &Slot| match *slot {
                Slot::Dst(i) => matches!(dst.get(usize::from(i)), Some(Some(_))),
                Slot::Src(_) | Slot::Temp(..) | Slot::Constant(..) | Slot::Carry => true,
            };
            let needed = |slot: &Slot| self.steps[n + 1..].iter().any(|later| later.src.contains(slot));
            if !step.dst.iter().any(|slot| asked(slot) || needed(slot)) {
                continue;
            }
            let mut resolve = |to: &mut E, slot: &Slot| match *slot {
                Slot::Dst(i) => results[usize::from(i)],
                Slot::Src(i) => read[usize::from(i)],
                Slot::Constant(value, width) => to.constant_reg(value, width),
                Slot::Carry => match carry {
                    Some(carry) => carry,
                    None => to.constant_reg(0, Width::Pred),
                },
                Slot::Temp(i, width) => {
                    let i = usize::from(i);
                    temps.resize(temps.len().max(i + 1), None);
                    *temps[i].get_or_insert_with(|| to.new_reg(width))
                }
            };
            let sources: SmallVec<[E::Reg; 4]> = step.src.iter().map(|s| resolve(to, s)).collect();
            let targets: SmallVec<[E::Reg; 2]> = step.dst.iter().map(|s| resolve(to, s)).collect();
            to.step(step.function, &targets, &sources);
        }
        for (i, r) in results.iter().enumerate() {
            let Some(Some(d)) = dst.get(i) else { continue };
            if d == r {
                continue;
            }
            let (from, wanted) = (to.width(*r), to.width(*d));
            match move_function(from, wanted, self.signed) {
                Some(function) => to.step(function, &[*d], &[*r]),
                None => {
                    let (from, wanted) = (from.bits(), wanted.bits());
                    return to.mismatch(format!("a result of {from} bits in a register of {wanted}"));
                }
            }
        }
    }

    /// True if destination `i` in register `r` would be written before a later step reads `r` as a source: all sources of an
    /// instruction are read before any of its destinations is written.
    fn clobbers<R: PartialEq>(&self, i: usize, r: R, src: &[R]) -> bool {
        let writes =
            |step: &Step| step.dst.iter().any(|slot| matches!(slot, Slot::Dst(d) if usize::from(*d) == i));
        let reads = |step: &Step| {
            step.src.iter().any(|slot| matches!(slot, Slot::Src(s) if src.get(usize::from(*s)) == Some(&r)))
        };
        self.steps.iter().skip_while(|step| !writes(step)).skip(1).any(reads)
    }
}

/// The low bits of a register as one of another width, or the register extended; `None` for what has no such form.
fn resized<E: Emitter>(to: &mut E, r: E::Reg, width: Width, signed: bool) -> Option<E::Reg> {
    let from = to.width(r);
    if from == width {
        return Some(r);
    }
    let function = move_function(from, width, signed)?;
    let d = to.new_reg(width);
    to.step(function, &[d], &[r]);
    Some(d)
}

/// Copies a register to one of another width, extended or cut.
pub(super) fn move_function(from: Width, to: Width, signed: bool) -> Option<LaneFn> {
    use Width::*;
    Some(match (from, to) {
        (Pred, Pred) => lanes::vector(|a: bool| a),
        (W32, W32) => lanes::vector(|a: u32| a),
        (W64, W64) => lanes::vector(|a: u64| a),
        (W128, W128) => lanes::vector(|a: u128| a),
        (W64, W32) => lanes::vector(|a: u64| a as u32),
        (W128, W32) => lanes::vector(|a: u128| a as u32),
        (W128, W64) => lanes::vector(|a: u128| a as u64),
        (W32, W64) if signed => lanes::vector(|a: i32| i64::from(a)),
        (W32, W64) => lanes::vector(|a: u32| u64::from(a)),
        (W32, W128) if signed => lanes::vector(|a: i32| i128::from(a)),
        (W32, W128) => lanes::vector(|a: u32| u128::from(a)),
        (W64, W128) if signed => lanes::vector(|a: i64| i128::from(a)),
        (W64, W128) => lanes::vector(|a: u64| u128::from(a)),
        (Pred, W32 | W64 | W128) | (W32 | W64 | W128, Pred) => return None,
    })
}
