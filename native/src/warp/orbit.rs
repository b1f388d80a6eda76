//! The code of a loop whose values stay in the host's registers from round to round: a few chunks of lanes go round until all of them have left it, then
//! the next ones. Behind it the engine gets the number of rounds of each lane, by which it counts, and separates lanes that have left from the others.
//!
//! **Invariant.** So many rounds are made at most that neither the end of the turn nor the limit of jumps while others wait is reached in between. A lane that
//! has left goes on computing with those of its chunk, and what it computes is not stored.

use super::chunk::{Chunks, Known, Lanes, PLAIN, Place};
use super::emit::{Emitter, field};
use super::fetch::Loaded;
use super::recipe::{Step, What};
use super::trace::Orbit;
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{Block as Label, BlockArg, InstBuilder, Value, types};
use std::mem::offset_of;
use warpsmith_interp::engine::{Reg, RegionState, Width};

/// Fewer rounds than this are made in the other way.
const ROUNDS: i64 = 4;
/// So many jumps back may be left for lanes that leave the loop.
const LEFT: u32 = 33;
/// Vectors that go round at most: more than the host has registers are stored and loaded.
const VECTORS: usize = 14;
/// The chunks of a warp.
const CHUNKS: usize = 8;

fn vectors(r: Reg) -> usize {
    if r.width() == Width::W64 { 2 } else { 1 }
}

impl Orbit {
    /// The chunks that go round together: what one computes waits for the round before it, and meanwhile the others compute.
    fn chunks(&self) -> usize {
        let each = 1 + self.carried.iter().copied().map(vectors).sum::<usize>();
        match VECTORS / each {
            0 | 1 => 1,
            2 | 3 => 2,
            _ => 4,
        }
    }

    /// A register is of `f32` behind a round, and its NaNs may be any.
    fn any_nan(&self, r: Reg) -> bool {
        let last = self.steps.iter().rev().find(|step| step.written() == Some(r));
        let single = |step: &Step| match step.what {
            What::Compute(plan) => plan.is_float() && !plan.compares_floats() && !step.double,
            What::Fetch(_)
            | What::Line(_)
            | What::Known(_)
            | What::Store(_)
            | What::Part { .. }
            | What::Other
            | What::Meet => false,
        };
        last.is_some_and(|step| single(step) && step.guard.is_none())
    }
}

/// What a label is given, lane by lane.
fn args(values: impl IntoIterator<Item = Value>) -> Vec<BlockArg> {
    values.into_iter().map(BlockArg::Value).collect()
}

fn flat(lanes: Lanes) -> Vec<Value> {
    match lanes {
        Lanes::One(value) => vec![value],
        Lanes::Two(values) => values.to_vec(),
    }
}

/// The loop in the making.
struct Round<'o> {
    orbit: &'o Orbit,
    memory: [Value; 3],
    /// The greatest number of rounds.
    most: Value,
    /// Where each chunk's part of a row begins.
    places: Vec<Value>,
    head: Label,
    leave: Label,
}

impl Emitter<'_, '_> {
    /// How many rounds may be made, and whether those are enough to begin with.
    fn rounds(&mut self, orbit: &Orbit) -> (Value, Value) {
        let [executed, before] = [field!(executed), field!(part_before)].map(|at| self.field64(at));
        let left = self.b.ins().isub(before, executed);
        let left = self.b.ins().iadd_imm_s(left, -1);
        let none = self.b.ins().iconst(types::I64, 0);
        let left = self.b.ins().smax(left, none);
        let count = self.b.ins().iconst(types::I64, i64::from(orbit.count.max(1)));
        let in_time = self.b.ins().udiv(left, count);
        let spin = self.field32(field!(spin));
        let limit = self.b.ins().iconst(types::I32, i64::from(RegionState::SPIN_LIMIT - LEFT));
        let jumps = self.b.ins().isub(limit, spin);
        let none = self.b.ins().iconst(types::I32, 0);
        let jumps = self.b.ins().smax(jumps, none);
        let each = self.b.ins().iconst(types::I32, i64::from(orbit.backs + 1));
        let fair = self.b.ins().udiv(jumps, each);
        let fair = self.b.ins().uextend(types::I64, fair);
        let most = self.b.ins().umin(in_time, fair);
        let enough = self.b.ins().icmp_imm_s(Cc::UnsignedGreaterThanOrEqual, most, ROUNDS);
        let stop = self.field32(field!(stop));
        let alone = self.b.ins().icmp_imm_u(Cc::UnsignedGreaterThanOrEqual, stop, i64::from(orbit.top));
        let may = self.field32(field!(may_leave));
        let may = self.b.ins().icmp_imm_s(Cc::NotEqual, may, 0);
        let may = self.b.ins().band(may, alone);
        let may = self.b.ins().band(may, enough);
        let most = self.b.ins().ireduce(types::I32, most);
        (most, may)
    }

    /// Goes round a loop, unless the loop of the engine might have something to decide in it. What is emitted next is for that.
    pub fn orbit(&mut self, orbit: &Orbit) {
        let (most, may) = self.rounds(orbit);
        let [here, first, setup, head, leave, next, done, otherwise] =
            [(); 8].map(|()| self.b.create_block());
        self.b.ins().brif(may, here, &[], otherwise, &[]);
        self.b.switch_to_block(here);
        let zero = self.b.ins().iconst(types::I64, 0);
        let none = self.b.ins().iconst(types::I32, 0);
        self.set(field!(live), none);
        let (mask, memory) = (self.field32(field!(mask)), [self.registers, self.constants, self.scratch]);
        let at = self.b.append_block_param(first, types::I64);
        self.b.ins().jump(first, &args([zero]));

        // The next chunks, if any lane is in them.
        self.b.switch_to_block(first);
        let together = orbit.chunks();
        let by = self.b.ins().ireduce(types::I32, at);
        let by = self.b.ins().ushr_imm_u(by, 2);
        let own = self.b.ins().ushr(mask, by);
        let own = self.b.ins().band_imm_s(own, (1i64 << (4 * together)) - 1);
        self.b.ins().brif(own, setup, &[], next, &[]);
        self.b.switch_to_block(setup);
        let places: Vec<Value> = (0..together).map(|n| self.b.ins().iadd_imm_s(at, 16 * n as i64)).collect();
        let round = Round { orbit, memory, most, places, head, leave };
        let mut begin = vec![none];
        for n in 0..together {
            let mut chunk = round.chunk(self, n);
            begin.push(chunk.spread(mask));
            for r in &orbit.carried {
                chunk.word(*r);
                begin.extend(flat(chunk.read(*r)));
            }
        }
        for value in &begin {
            let ty = self.b.func.dfg.value_type(*value);
            self.b.append_block_param(head, ty);
        }
        self.b.ins().jump(head, &args(begin));
        round.go(self, next);

        self.b.switch_to_block(next);
        let at = self.b.ins().iadd_imm_s(at, 16 * together as i64);
        let more = self.b.ins().icmp_imm_s(Cc::UnsignedLessThan, at, 16 * CHUNKS as i64);
        self.b.ins().brif(more, first, &args([at]), done, &[]);
        self.b.switch_to_block(done);
        for (at, value) in [
            (field!(head), orbit.head),
            (field!(round_count), orbit.count),
            (field!(round_jumps), orbit.backs),
        ] {
            let value = self.b.ins().iconst(types::I32, i64::from(value));
            self.set(at, value);
        }
        self.exit(orbit.branch.into(), RegionState::ROUNDS);
        self.b.switch_to_block(otherwise);
    }
}

impl<'o> Round<'o> {
    /// The lanes of one of the chunks.
    fn chunk<'b, 'f>(&self, e: &'b mut Emitter<'f, '_>, n: usize) -> Chunks<'b, 'f, 'o> {
        let code = (&self.orbit.steps[..], &self.orbit.keep[..]);
        let mut chunk = Chunks::new(&mut e.b, self.memory, Loaded::Rows, code, None);
        chunk.chunk = self.places[n];
        chunk
    }

    /// A round, and what is done when lanes leave in it.
    fn go(&self, e: &mut Emitter<'_, '_>, next: Label) {
        let Round { orbit, head, leave, .. } = *self;
        let together = self.places.len();
        e.b.switch_to_block(head);
        let mut given = e.b.block_params(head).to_vec().into_iter();
        let mut take = |count: usize| -> Vec<Value> { given.by_ref().take(count).collect() };
        let made = take(1)[0];
        let (mut live, mut behind, mut stay) = (Vec::new(), Vec::new(), Vec::new());
        let before: Vec<(Value, Vec<Vec<Value>>)> = (0..together)
            .map(|_| (take(1)[0], orbit.carried.iter().map(|r| take(vectors(*r))).collect()))
            .collect();
        for (n, (own, carried)) in before.into_iter().enumerate() {
            let mut chunk = self.chunk(e, n);
            for (r, values) in orbit.carried.iter().zip(carried) {
                let lanes = match values[..] {
                    [low, high] => Lanes::Two([low, high]),
                    _ => Lanes::One(values[0]),
                };
                chunk.now.insert(*r, Known { lanes, any_nan: orbit.any_nan(*r) });
            }
            // Predicates that no round writes.
            for r in orbit.steps.iter().flat_map(Step::read).chain([orbit.pred]) {
                if !chunk.now.contains_key(&r) {
                    chunk.word(r);
                }
            }
            for step in &orbit.steps {
                chunk.step(step);
            }
            let Lanes::One(mut on) = chunk.read(orbit.pred) else { return };
            if !orbit.stay {
                on = chunk.b.ins().bnot(on);
            }
            live.push(own);
            stay.push(on);
            behind.push(chunk.now);
        }
        let made = e.b.ins().iadd_imm_s(made, 1);
        let leaving: Vec<Value> =
            live.iter().zip(&stay).map(|(live, stay)| e.b.ins().band_not(*live, *stay)).collect();
        let some = any(e, &leaving);
        let none = e.b.ins().iconst(types::I32, 0);
        let on = e.b.create_block();
        for value in leaving.iter().chain(&live).chain([&none]) {
            let ty = e.b.func.dfg.value_type(*value);
            e.b.append_block_param(leave, ty);
        }
        let all = |leaving: &[Value], live: &[Value], still: Value| {
            args(leaving.iter().chain(live).copied().chain([still]))
        };
        e.b.ins().brif(some, leave, &all(&leaving, &live, none), on, &[]);
        e.b.switch_to_block(on);
        let goes_on = |live: &[Value]| {
            let mut values = vec![made];
            for (live, behind) in live.iter().zip(&behind) {
                values.push(*live);
                for r in &orbit.carried {
                    values.extend(behind.get(r).map(|known| flat(known.lanes)).into_iter().flatten());
                }
            }
            args(values)
        };
        let last = e.b.ins().icmp(Cc::Equal, made, self.most);
        let yes = e.b.ins().iconst(types::I32, -1);
        e.b.ins().brif(last, leave, &all(&live, &live, yes), head, &goes_on(&live));

        // Lanes that leave, or are left when so many rounds have been made.
        e.b.switch_to_block(leave);
        let given = e.b.block_params(leave).to_vec();
        let (leaving, rest) = given.split_at(together);
        let (live, still) = (&rest[..together], rest[together]);
        let mut remain = Vec::new();
        let mut left = e.field32(field!(live));
        for (n, now) in behind.iter().enumerate() {
            let mut chunk = self.chunk(e, n);
            chunk.now.clone_from(now);
            let lanes = chunk.leave(orbit, leaving[n], made);
            let lanes = chunk.b.ins().band(lanes, still);
            left = chunk.b.ins().bor(left, lanes);
            remain.push(chunk.b.ins().band_not(live[n], leaving[n]));
        }
        e.set(field!(live), left);
        let some = any(e, &remain);
        let on = e.b.create_block();
        e.b.ins().brif(some, on, &[], next, &[]);
        e.b.switch_to_block(on);
        let last = e.b.ins().icmp(Cc::Equal, made, self.most);
        let yes = e.b.ins().iconst(types::I32, -1);
        e.b.ins().brif(last, leave, &all(&remain, &remain, yes), head, &goes_on(&remain));
    }
}

/// True if any lane is in one of these.
fn any(e: &mut Emitter<'_, '_>, masks: &[Value]) -> Value {
    let all = masks.iter().copied().reduce(|all, mask| e.b.ins().bor(all, mask));
    let bits = all.map(|all| e.b.ins().vhigh_bits(types::I32, all));
    bits.unwrap_or_else(|| e.b.ins().iconst(types::I32, 0))
}

impl Chunks<'_, '_, '_> {
    /// Stores what lanes have that leave a loop, and how many rounds they took. The answer is their word.
    fn leave(&mut self, orbit: &Orbit, leaving: Value, made: Value) -> Value {
        let bits = self.b.ins().vhigh_bits(types::I32, leaving);
        let by = self.b.ins().ireduce(types::I32, self.chunk);
        let by = self.b.ins().ushr_imm_u(by, 2);
        let lanes = self.b.ins().ishl(bits, by);
        for r in &orbit.keep {
            if r.width() != Width::Pred {
                self.store(*r, Some(leaving));
                continue;
            }
            let Lanes::One(value) = self.read(*r) else { continue };
            let bits = self.b.ins().vhigh_bits(types::I32, value);
            let value = self.b.ins().ishl(bits, by);
            let (base, at) = (self.base(Place::Registers), (4 * r.offset()) as i32);
            let old = self.b.ins().load(types::I32, PLAIN, base, at);
            let (value, kept) = (self.b.ins().band(value, lanes), self.b.ins().band_not(old, lanes));
            let word = self.b.ins().bor(value, kept);
            self.b.ins().store(PLAIN, word, base, at);
        }
        let rounds = self.b.ins().splat(types::I32X4, made);
        let Lanes::One(old) = self.load(Place::Scratch, Width::W32, 0) else { return lanes };
        let rounds = self.b.ins().bitselect(leaving, rounds, old);
        let place = self.place(Place::Scratch, Width::W32);
        self.b.ins().store(PLAIN, rounds, place, 0);
        lanes
    }
}
