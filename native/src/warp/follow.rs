//! The code of a trace: when it is gone through, the sides of its branches, and what is counted behind it.
//!
//! **Invariant.** Behind a trace are the registers, and the statements, turns and times that are counted, which the engine's loop has when it executes
//! the blocks one by one: it lets the lanes that do not take a short branch go first, then the others, and goes on where they meet.

use super::chunk::{Chunks, Known, Lanes};
use super::emit::{Emitter, LONG, field};
use super::fetch::Loaded;
use super::recipe::Source;
use super::trace::{End, Trace};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use std::mem::offset_of;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Reg, RegionState};

/// A branch of whose sides one or both have been computed.
pub(super) struct Parted {
    /// The lanes that take it.
    taken: Value,
    /// What was known before it, and at the end of the side that does not take it.
    before: FxHashMap<Reg, Known>,
    rest: FxHashMap<Reg, Known>,
}

impl Chunks<'_, '_, '_> {
    /// Lanes part by a predicate.
    pub fn part(&mut self, source: Source, negated: bool) {
        let Lanes::One(mut taken) = self.source(source, false) else { return };
        if negated {
            taken = self.b.ins().bnot(taken);
        }
        self.forks.push(taken);
        self.parted = Some(Parted { taken, before: self.now.clone(), rest: FxHashMap::default() });
    }

    /// The other side begins.
    pub fn other(&mut self) {
        if let Some(parted) = &mut self.parted {
            parted.rest = std::mem::replace(&mut self.now, parted.before.clone());
        }
    }

    /// Each lane has what its own side has written.
    pub fn meet(&mut self, written: &[Source]) {
        let Some(Parted { taken, before, rest }) = self.parted.take() else { return };
        let of_taken = std::mem::replace(&mut self.now, before);
        for source in written {
            let Source::Reg(r) = *source else { continue };
            let [rest, taken_side] = [&rest, &of_taken].map(|side| match side.get(&r) {
                Some(known) => *known,
                None => self.known(r),
            });
            let [rest, taken_side] = [rest, taken_side].map(|known| self.without_any_nan(known).lanes);
            let lanes = self.blend(taken, taken_side, rest);
            self.now.insert(r, Known { lanes, any_nan: false });
        }
    }
}

impl Emitter<'_, '_> {
    /// Goes through a trace, unless the loop of the engine might have something to decide in it. What is emitted next is for that.
    pub fn trace(&mut self, trace: &Trace) {
        let executed = self.field64(field!(executed));
        let most = self.b.ins().iadd_imm_s(executed, i64::from(trace.most));
        // Where lanes may part in here that is the end of the turn, too.
        let end = if trace.forks.is_empty() { field!(deadline) } else { field!(part_before) };
        let end = self.field64(end);
        let in_time = self.b.ins().icmp(Cc::UnsignedLessThan, most, end);
        let stop = self.field32(field!(stop));
        let alone = self.b.ins().icmp_imm_u(Cc::UnsignedGreaterThanOrEqual, stop, i64::from(trace.top));
        let mut may = self.b.ins().band(in_time, alone);
        let mut spin = None;
        if trace.backs > 0 {
            let (before, step) = (self.field32(field!(spin)), self.field32(field!(spin_step)));
            let more = self.b.ins().imul_imm_s(step, i64::from(trace.backs));
            let after = self.b.ins().iadd(before, more);
            let limit = i64::from(RegionState::SPIN_LIMIT);
            let fair = self.b.ins().icmp_imm_u(Cc::UnsignedLessThan, after, limit);
            may = self.b.ins().band(may, fair);
            spin = Some(after);
        }
        let [here, some, met, otherwise] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().brif(may, here, &[], otherwise, &[]);
        self.b.switch_to_block(here);
        if let Some(spin) = spin {
            self.set(field!(spin), spin);
        }
        let wide = self.field32(field!(wide));
        let mut ways = vec![(some, Some(wide))];
        if trace.steps.len() < LONG {
            let every = self.b.create_block();
            let whole = self.b.ins().icmp_imm_s(Cc::Equal, wide, -1);
            self.b.ins().brif(whole, every, &[], some, &[]);
            ways.push((every, None));
        } else {
            self.b.ins().jump(some, &[]);
        }
        let words: Vec<Value> =
            trace.forks.iter().map(|_| self.b.append_block_param(met, types::I32)).collect();
        let memory = [self.registers, self.constants, self.scratch];
        for (label, lanes) in ways {
            self.b.switch_to_block(label);
            let code = (&trace.steps[..], &trace.keep[..]);
            let found = Chunks::new(&mut self.b, memory, Loaded::Rows, code, lanes).emit();
            let found: Vec<BlockArg> = found.into_iter().map(BlockArg::Value).collect();
            self.b.ins().jump(met, &found);
        }
        self.b.switch_to_block(met);
        let executed = self.count_trace(trace, &words, executed);
        match trace.end {
            End::Branch(last) => self.leave(last, executed),
            End::At(to, backward) => self.go(to, backward, executed),
        }
        self.b.switch_to_block(otherwise);
    }

    /// Counts what lanes have executed that took branches as these words say.
    fn count_trace(&mut self, trace: &Trace, words: &[Value], mut executed: Value) -> Value {
        let mask = self.field32(field!(mask));
        let zero = self.b.ins().iconst(types::I64, 0);
        let (mut idle, mut stamp, mut parted) = (None, None, None);
        for (fork, word) in trace.forks.iter().zip(words) {
            executed = self.b.ins().iadd_imm_s(executed, i64::from(fork.before));
            let taken = self.b.ins().band(mask, *word);
            let rest = self.b.ins().band_not(mask, *word);
            let [some_rest, some_taken] =
                [rest, taken].map(|lanes| self.b.ins().icmp_imm_s(Cc::NotEqual, lanes, 0));
            let both = self.b.ins().band(some_rest, some_taken);
            let [of_rest, of_taken] =
                fork.sides.map(|count| self.b.ins().iconst(types::I64, i64::from(count)));
            let of_rest = self.b.ins().select(some_rest, of_rest, zero);
            let of_taken = self.b.ins().select(some_taken, of_taken, zero);
            // The lanes of each side wait for the other.
            for (lanes, count) in [(taken, of_rest), (rest, of_taken)] {
                let waiting = self.b.ins().popcnt(lanes);
                let waiting = self.b.ins().uextend(types::I64, waiting);
                let more = self.b.ins().imul(waiting, count);
                let before = match idle {
                    Some(idle) => idle,
                    None => self.field64(field!(idle)),
                };
                idle = Some(self.b.ins().iadd(before, more));
            }
            // When the last of the sides was chosen.
            let second = self.b.ins().iadd(executed, of_rest);
            let chosen = if fork.sides[1] > 0 { second } else { executed };
            executed = self.b.ins().iadd(second, of_taken);
            let (others, before) = (
                self.field32(field!(spin_step)),
                match stamp {
                    Some(stamp) => stamp,
                    None => self.field64(field!(stamp)),
                },
            );
            let chosen = self.b.ins().select(others, executed, chosen);
            stamp = Some(self.b.ins().select(both, chosen, before));
            parted = Some(parted.map_or(both, |parted| self.b.ins().bor(parted, both)));
        }
        executed = self.b.ins().iadd_imm_s(executed, i64::from(trace.rest));
        self.set(field!(executed), executed);
        if let (Some(idle), Some(stamp), Some(parted)) = (idle, stamp, parted) {
            self.set(field!(idle), idle);
            self.set(field!(stamp), stamp);
            let (none, uniform) = (self.b.ins().iconst(types::I32, 0), self.field32(field!(uniform)));
            let uniform = self.b.ins().select(parted, none, uniform);
            self.set(field!(uniform), uniform);
        }
        executed
    }
}
