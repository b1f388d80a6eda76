//! The code of accesses at addresses whose lanes follow a pattern that is known: one look at the lowest address and the highest denotes all lanes.
//!
//! **Invariant.** Where [`checked`] goes on, all accesses of the lines, by all lanes of the warp, are aligned and within the shared memory of the block. The
//! pattern is that of the register as it is now, since [`CompiledRegion::patterns`](warpsmith_interp::engine::CompiledRegion::patterns) has registers that do not
//! change any more.

use super::chunk::{Chunks, Lanes, PLAIN, Place};
use super::fetch::GUEST;
use super::plan::Plan;
use super::recipe::{Fetch, Lines, Step, Store};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{Block as Label, InstBuilder, SigRef, StackSlot, Value, types};
use cranelift_frontend::FunctionBuilder;
use std::mem::{offset_of, size_of};
use warpsmith_interp::engine::{LanePattern, RegionState, SpacePlace, Width};

/// Whom patterns are asked of.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub state: Value,
    pub find: SigRef,
    pub window: SigRef,
}

/// Lines with a pattern that have been checked: where the lowest lane's lowest access is.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    at: Value,
    pattern: Value,
}

/// What is known of lines before the loop.
#[derive(Clone, Copy)]
pub(super) enum Found {
    Pattern(Checked),
    /// The places are on the stack.
    Even(StackSlot),
}

/// Loads of batches have numbers below this, those at lines from it on.
const LINES: u32 = RegionState::SCRATCH;

macro_rules! of_pattern {
    ($name:ident) => {
        offset_of!(LanePattern, $name) as i32
    };
}

/// A pattern by its number, and its state.
pub(super) fn ask(b: &mut FunctionBuilder<'_>, asked: Asked, number: u32) -> (Value, Value) {
    let Asked { state, find, .. } = asked;
    let patterns = b.ins().load(types::I64, PLAIN, state, offset_of!(RegionState, patterns) as i32);
    let past = number as usize * size_of::<LanePattern>();
    let pattern = b.ins().iadd_imm_s(patterns, past as i64);
    let known = b.ins().load(types::I32, PLAIN, pattern, of_pattern!(state));
    let (look, on) = (b.create_block(), b.create_block());
    b.set_cold_block(look);
    let found = b.append_block_param(on, types::I32);
    b.ins().brif(known, on, &[known.into()], look, &[]);
    b.switch_to_block(look);
    let function = b.ins().load(types::I64, PLAIN, state, offset_of!(RegionState, find) as i32);
    let number = b.ins().iconst(types::I32, i64::from(number));
    let call = b.ins().call_indirect(find, function, &[state, number]);
    let answer = b.inst_results(call)[0];
    b.ins().jump(on, &[answer.into()]);
    b.switch_to_block(on);
    (pattern, found)
}

/// Checks the accesses at lines, whose base is the pattern's register and what is added to it; goes elsewhere where not all are good, or not in rows if they
/// have to be.
pub(super) fn checked(
    b: &mut FunctionBuilder<'_>,
    asked: Asked,
    (lines, number, added): (&Lines, u32, Option<Value>),
    in_rows: bool,
    otherwise: Label,
) -> Checked {
    let state = asked.state;
    let (pattern, found) = ask(b, asked, number);
    let good = match in_rows {
        true => b.ins().icmp_imm_u(Cc::Equal, found, i64::from(LanePattern::IN_ROWS)),
        false => b.ins().icmp_imm_u(Cc::NotEqual, found, i64::from(LanePattern::NONE)),
    };
    let looked = b.create_block();
    b.ins().brif(good, looked, &[], otherwise, &[]);
    b.switch_to_block(looked);
    // The lowest address. The others are so far past it: none of them has wrapped where the highest is not past the end of the space.
    let mut address = b.ins().load(types::I64, PLAIN, pattern, of_pattern!(low));
    let narrow = lines.base.width() == Width::W32;
    if narrow {
        address = b.ins().ireduce(types::I32, address);
    }
    let lowest = if narrow { i64::from(lines.lowest as i32) } else { lines.lowest };
    address = b.ins().iadd_imm_s(address, lowest);
    if let Some(added) = added {
        address = b.ins().iadd(address, added);
    }
    if narrow {
        address = b.ins().uextend(types::I64, address);
    }
    let span = b.ins().load(types::I64, PLAIN, pattern, of_pattern!(span));
    let span = b.ins().iadd_imm_s(span, lines.more as i64);
    let shared = offset_of!(RegionState, shared);
    let [start, len] = [offset_of!(SpacePlace, start), offset_of!(SpacePlace, len)]
        .map(|at| b.ins().load(types::I64, PLAIN, state, (shared + at) as i32));
    let enough = b.ins().icmp(Cc::UnsignedGreaterThanOrEqual, len, span);
    let last = b.ins().isub(len, span);
    let inside = b.ins().icmp(Cc::UnsignedLessThanOrEqual, address, last);
    let mut good = b.ins().band(enough, inside);
    if lines.bytes > 1 {
        let off = b.ins().band_imm_s(address, i64::from(lines.bytes) - 1);
        let aligned = b.ins().icmp_imm_s(Cc::Equal, off, 0);
        good = b.ins().band(good, aligned);
    }
    let on = b.create_block();
    b.ins().brif(good, on, &[], otherwise, &[]);
    b.switch_to_block(on);
    Checked { at: b.ins().iadd(start, address), pattern }
}

impl Chunks<'_, '_, '_> {
    /// What a sum adds to the register with the pattern.
    pub fn add_up(&mut self, plan: Plan, step: &Step, side: u8) {
        let before = step.src.get(usize::from(side)).and_then(|source| self.added_to(*source));
        let others: Vec<Value> = (0..step.src.len())
            .filter(|n| *n != usize::from(side))
            .map(|n| self.uniform_source(step.src[n]))
            .collect();
        let more = match (plan, &others[..]) {
            (Plan::Sub, [x]) => Some(self.b.ins().ineg(*x)),
            (Plan::MultiplyAdd, [x, y]) => Some(self.b.ins().imul(*x, *y)),
            (Plan::Widen { signed, .. }, [x, y]) => {
                let factors = [*x, *y].map(|x| match signed {
                    true => self.b.ins().sextend(types::I64, x),
                    false => self.b.ins().uextend(types::I64, x),
                });
                Some(self.b.ins().imul(factors[0], factors[1]))
            }
            (_, [x]) => Some(*x),
            _ => None,
        };
        let sum = match (before, more) {
            (Some(before), Some(more)) => Some(self.b.ins().iadd(before, more)),
            (before, more) => before.or(more),
        };
        match sum {
            Some(sum) => _ = self.added.insert(step.dst, sum),
            None => _ = self.added.remove(&step.dst),
        }
    }

    /// Checks lines before the loop.
    pub fn check_lines(&mut self, asked: Asked, number: u32, otherwise: Label) {
        if self.checked.contains_key(&number) {
            return;
        }
        let lines = &self.lines[number as usize];
        let found = match lines.pattern {
            Some(pattern) => {
                let added = self.added.get(&lines.base).copied();
                Found::Pattern(checked(self.b, asked, (lines, pattern, added), false, otherwise))
            }
            None => Found::Even(self.check_even(asked, lines, otherwise)),
        };
        self.checked.insert(number, found);
    }

    /// An element of a load at lines.
    pub fn line(&mut self, fetch: &Fetch, width: Width) -> Lanes {
        let Some(found) = self.checked.get(&fetch.batch).copied() else {
            unreachable!("lines are checked before the loop");
        };
        let fetch = Fetch { batch: LINES + fetch.batch, ..*fetch };
        if !self.reads.knows(fetch.batch) {
            let places = match found {
                Found::Pattern(checked) => self.pattern_places(checked),
                Found::Even(slot) => self.even_places(slot),
            };
            self.reads.locate(fetch.batch, places);
        }
        let places = self.base(Place::Scratch);
        self.placed(places, &fetch, width)
    }

    /// Where the chunk's data are, which of a window's bytes are whose, and the bytes from lane to lane.
    fn pattern_places(&mut self, Checked { at, pattern }: Checked) -> [Value; 3] {
        // Chunks are counted in 16 bytes.
        let place = self.b.ins().ushr_imm_u(self.chunk, 1);
        let place = self.b.ins().iadd(pattern, place);
        let past = self.b.ins().load(types::I64, PLAIN, place, of_pattern!(past));
        let at = self.b.ins().iadd(at, past);
        let of_half = self.of_half(pattern, 16);
        let control = self.b.ins().load(types::I8X16, PLAIN, of_half, of_pattern!(control));
        let of_half = self.of_half(pattern, 8);
        let step = self.b.ins().load(types::I64, PLAIN, of_half, of_pattern!(step));
        [at, control, step]
    }
}

/// Stores of all lanes, in rows. What is stored is in the row of a register.
pub(super) fn store(b: &mut FunctionBuilder<'_>, checked: Checked, store: &Store, row: Value) {
    let Checked { at, pattern } = checked;
    let vectors = store.lines.bytes as i32;
    for half in 0..2 {
        let past = b.ins().load(types::I64, PLAIN, pattern, of_pattern!(past) + 32 * half);
        let at = b.ins().iadd(at, past);
        for n in 0..vectors {
            let from = (4 * store.src.offset()) as i32 + 16 * (vectors * half + n);
            let value = b.ins().load(types::I32X4, PLAIN, row, from);
            b.ins().store(GUEST, value, at, 16 * n);
        }
    }
}
