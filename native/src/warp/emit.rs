//! The code of a region: its blocks, how they branch, and when the engine's loop is to decide who runs.

use super::chunk::{Chunks as Loop, PLAIN};
use super::fetch::Loaded;
use super::pattern::{self, Asked};
use super::recipe::{Block, Chunks, Exit, Part, Recipe, Store};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{
    AbiParam, Block as Label, InstBuilder, JumpTableData, SigRef, Signature, Value, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;
use warpsmith_interp::engine::{Reg, RegionState};

/// The signature of a region's code.
pub(super) fn signature(signature: &mut Signature) {
    signature.params.push(AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
}

macro_rules! field {
    ($name:ident) => {
        offset_of!(RegionState, $name) as i32
    };
}
pub(super) use field;

/// Operations from which on a loop for any lanes is nearly as fast as one for all of them, which is not made then.
pub(super) const LONG: usize = 8;

pub(super) struct Emitter<'f, 'r> {
    pub b: FunctionBuilder<'f>,
    recipe: &'r Recipe,
    state: Value,
    /// Where registers, constants, values that were loaded and places are, as the block in the making has read them.
    pub registers: Value,
    pub constants: Value,
    pub scratch: Value,
    places: Value,
    labels: Vec<Label>,
    run: SigRef,
    load: SigRef,
    find: SigRef,
    window: SigRef,
    sides: SigRef,
    /// Where the code is left, with its answer.
    left: Label,
}

/// Emits the code of a region.
pub(super) fn region(mut b: FunctionBuilder<'_>, recipe: &Recipe, config: TargetFrontendConfig) {
    let mut helper = |words: usize| {
        let mut signature = b.func.signature.clone();
        signature.params.extend(vec![AbiParam::new(types::I32); words]);
        signature.returns[0] = AbiParam::new(types::I32);
        b.import_signature(signature)
    };
    let (run, load, find, sides) = (helper(4), helper(3), helper(1), helper(2));
    let mut window = b.func.signature.clone();
    window.params.extend([types::I32, types::I64].map(AbiParam::new));
    window.returns[0] = AbiParam::new(types::I32);
    let window = b.import_signature(window);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let state = b.block_params(entry)[0];
    let labels: Vec<Label> = recipe.blocks.iter().map(|_| b.create_block()).collect();
    let left = b.create_block();
    b.append_block_param(left, types::I64);
    let mut e = Emitter {
        b,
        recipe,
        state,
        registers: state,
        constants: state,
        scratch: state,
        places: state,
        labels,
        run,
        load,
        find,
        window,
        sides,
        left,
    };
    e.enter();
    for (n, block) in recipe.blocks.iter().enumerate() {
        e.b.switch_to_block(e.labels[n]);
        e.block(n, block);
    }
    e.b.switch_to_block(left);
    let answer = e.b.block_params(left)[0];
    e.b.ins().return_(&[answer]);
    e.b.seal_all_blocks();
    e.b.finalize(config);
}

impl<'r> Emitter<'_, 'r> {
    pub fn field32(&mut self, at: i32) -> Value {
        self.b.ins().load(types::I32, PLAIN, self.state, at)
    }

    pub fn field64(&mut self, at: i32) -> Value {
        self.b.ins().load(types::I64, PLAIN, self.state, at)
    }

    pub fn set(&mut self, at: i32, value: Value) {
        self.b.ins().store(PLAIN, value, self.state, at);
    }

    /// Goes to the block that is asked for.
    fn enter(&mut self) {
        let number = self.field32(field!(entry));
        let call = |label: &Label, b: &mut FunctionBuilder<'_>| b.func.dfg.block_call(*label, &[]);
        let Some((last, _)) = self.labels.split_last() else { return };
        let last = call(last, &mut self.b);
        let labels = self.labels.clone();
        let all: Vec<_> = labels.iter().map(|label| call(label, &mut self.b)).collect();
        let table = self.b.create_jump_table(JumpTableData::new(last, &all));
        self.b.ins().br_table(number, table);
    }

    pub fn exit(&mut self, place: i64, flags: u64) {
        let answer = u64::from(place as u32) | flags;
        let answer = self.b.ins().iconst(types::I64, answer as i64);
        self.b.ins().jump(self.left, &[answer.into()]);
    }

    /// Leaves with a fault where a helper says so.
    fn check(&mut self, failed: Value, place: u32) {
        let (fault, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(fault);
        self.b.ins().brif(failed, fault, &[], on, &[]);
        self.b.switch_to_block(fault);
        self.exit(place.into(), RegionState::FAULT);
        self.b.switch_to_block(on);
    }

    /// The lanes of the group, which accesses are made for, and those that arithmetic may write.
    fn masks(&mut self) -> [Value; 2] {
        [field!(mask), field!(wide)].map(|at| self.field32(at))
    }

    /// The operations of a block but for its branch; `every` if all lanes of the warp may be asked for.
    fn parts(&mut self, parts: &[Part], every: bool) {
        for part in parts {
            match part {
                Part::Engine(from, to) => self.by_engine(*from, *to),
                Part::Store(store) => self.store(store),
                Part::Chunks(chunks) => self.chunks(chunks, every),
                Part::Uniform { once, parts } => self.once(once, parts),
            }
        }
    }

    fn asked(&self) -> Asked {
        Asked { state: self.state, find: self.find, window: self.window }
    }

    /// The engine executes operations.
    fn by_engine(&mut self, from: u32, to: u32) {
        let [mask, wide] = self.masks();
        let range = [from, to].map(|n| self.b.ins().iconst(types::I32, i64::from(n)));
        let run = self.field64(field!(run));
        let args = [self.state, range[0], range[1], mask, wide];
        let call = self.b.ins().call_indirect(self.run, run, &args);
        let failed = self.b.inst_results(call)[0];
        self.check(failed, from);
    }

    /// A store by all lanes, in rows, or else by the engine.
    fn store(&mut self, store: &Store) {
        let place = store.place;
        let [all, apart, done] = [(); 3].map(|()| self.b.create_block());
        let mask = self.field32(field!(mask));
        let whole = self.b.ins().icmp_imm_s(Cc::Equal, mask, -1);
        self.b.ins().brif(whole, all, &[], apart, &[]);
        self.b.switch_to_block(all);
        let asked = self.asked();
        let Some(pattern) = store.lines.pattern else { unreachable!("stores have patterns") };
        let checked = pattern::checked(&mut self.b, asked, (&store.lines, pattern, None), true, apart);
        let row = if store.src.is_constant() { self.constants } else { self.registers };
        pattern::store(&mut self.b, checked, store, row);
        let changes = self.field32(field!(changes));
        let changes = self.b.ins().iadd_imm_s(changes, 1);
        self.set(field!(changes), changes);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(apart);
        self.by_engine(place, place + 1);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// What is uniform once and the rest for all lanes, if those are together, or else the parts of which it consists.
    fn once(&mut self, once: &Chunks, parts: &[Part]) {
        let (together, apart, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let uniform = self.field32(field!(uniform));
        self.b.ins().brif(uniform, together, &[], apart, &[]);
        self.b.switch_to_block(together);
        let mut source = Loaded::Rows;
        if let Some((group, _)) = once.loads {
            let answer = self.places_of(group);
            let found = self.b.ins().icmp_imm_u(Cc::Equal, answer, i64::from(RegionState::PLACES));
            let placed = self.b.create_block();
            self.b.ins().brif(found, placed, &[], apart, &[]);
            self.b.switch_to_block(placed);
            source = Loaded::Places(self.places);
        }
        let memory = [self.registers, self.constants, self.scratch];
        let asked = self.asked();
        let mut lanes = Loop::new(&mut self.b, memory, source, (&once.steps, &once.keep), None);
        (lanes.lines, lanes.roots) = (&once.lines, &once.roots);
        lanes.before_loop(asked, apart);
        lanes.emit();
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(apart);
        self.parts(parts, false);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Asks where the data of a group of batches are, for all lanes of the group.
    fn places_of(&mut self, group: u32) -> Value {
        let mask = self.field32(field!(mask));
        let args = [group, RegionState::PLACES_ALONE].map(|n| self.b.ins().iconst(types::I32, i64::from(n)));
        let load = self.field64(field!(load));
        let call = self.b.ins().call_indirect(self.load, load, &[self.state, args[0], mask, args[1]]);
        self.b.inst_results(call)[0]
    }

    /// Loads and arithmetic: a loop for all lanes of the warp, whose loads read where the data are if they can, and one for any lanes.
    fn chunks(&mut self, chunks: &Chunks, every: bool) {
        let Chunks { loads, steps, keep, from, .. } = chunks;
        let (code, from) = ((&steps[..], &keep[..]), *from);
        let [mask, wide] = self.masks();
        let (any, done) = (self.b.create_block(), self.b.create_block());
        // Whether the loop for all lanes does it, and where that reads.
        let (at_places, source) = match *loads {
            Some((group, placed)) => {
                let places = every && placed;
                let question = if places { RegionState::PLACES_OR_ROWS } else { RegionState::ROWS_ALONE };
                let args = [group, question].map(|n| self.b.ins().iconst(types::I32, i64::from(n)));
                let load = self.field64(field!(load));
                let call = self.b.ins().call_indirect(self.load, load, &[self.state, args[0], mask, args[1]]);
                let answer = self.b.inst_results(call)[0];
                let failed = i64::from(RegionState::FAILED);
                let failed = self.b.ins().icmp_imm_u(Cc::Equal, answer, failed);
                self.check(failed, from);
                if places {
                    let found = i64::from(RegionState::PLACES);
                    (Some(self.b.ins().icmp_imm_u(Cc::Equal, answer, found)), Loaded::Places(self.places))
                } else {
                    (None, Loaded::Rows)
                }
            }
            None => (None, Loaded::Rows),
        };
        // A long loop for any lanes does as well for all: it asks but once for four.
        let both = every && steps.len() < LONG;
        let every = at_places.or_else(|| both.then(|| self.b.ins().icmp_imm_s(Cc::Equal, wide, -1)));
        let memory = [self.registers, self.constants, self.scratch];
        if let Some(every) = every {
            let all = self.b.create_block();
            self.b.ins().brif(every, all, &[], any, &[]);
            self.b.switch_to_block(all);
            Loop::new(&mut self.b, memory, source, code, None).emit();
            self.b.ins().jump(done, &[]);
        } else {
            self.b.ins().jump(any, &[]);
        }
        self.b.switch_to_block(any);
        Loop::new(&mut self.b, memory, Loaded::Rows, code, Some(wide)).emit();
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Counts statements, and gives how many were executed.
    fn count(&mut self, count: u32) -> Value {
        let executed = self.field64(field!(executed));
        let executed = self.b.ins().iadd_imm_s(executed, i64::from(count));
        self.set(field!(executed), executed);
        executed
    }

    fn block(&mut self, n: usize, block: &Block) {
        // For this block alone: what lives everywhere is what the allocator of registers spends its time with.
        self.registers = self.field64(field!(registers));
        self.constants = self.field64(field!(constants));
        self.scratch = self.field64(field!(scratch));
        self.places = self.field64(field!(places));
        if let Some(orbit) = &block.orbit {
            self.orbit(orbit);
        }
        if let Some(trace) = &block.trace {
            self.trace(trace);
        }
        self.parts(&block.parts, true);
        let executed = self.count(block.count);
        self.leave(n, executed);
    }

    /// Goes on behind a block, its branch included.
    pub fn leave(&mut self, n: usize, executed: Value) {
        let recipe: &'r Recipe = self.recipe;
        let block = &recipe.blocks[n];
        let (to, guard) = match block.exit {
            Exit::Fall => return self.go(i64::from(block.end), false, executed),
            Exit::Branch(to, guard) => (to, guard),
        };
        let backward = to < i64::from(block.end);
        let Some((pred, negated)) = guard else { return self.go(to, backward, executed) };
        let mask = self.field32(field!(mask));
        let taken = self.lanes_where(pred, negated, mask);
        let (jump, others, fall, part) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        let all = self.b.ins().icmp(Cc::Equal, taken, mask);
        self.b.ins().brif(all, jump, &[], others, &[]);
        self.b.switch_to_block(jump);
        self.go(to, backward, executed);
        self.b.switch_to_block(others);
        self.b.ins().brif(taken, part, &[], fall, &[]);
        self.b.switch_to_block(fall);
        self.go(i64::from(block.end), false, executed);
        self.b.switch_to_block(part);
        self.part(block, taken, executed);
    }

    fn lanes_where(&mut self, pred: Reg, negated: bool, mask: Value) -> Value {
        let base = if pred.is_constant() { self.constants } else { self.registers };
        let word = self.b.ins().load(types::I32, PLAIN, base, (4 * pred.offset()) as i32);
        if negated {
            let not = self.b.ins().bnot(word);
            return self.b.ins().band(mask, not);
        }
        self.b.ins().band(mask, word)
    }

    /// Goes to a place with the whole group.
    pub fn go(&mut self, to: i64, backward: bool, executed: Value) {
        if backward {
            let (spin, step) = (self.field32(field!(spin)), self.field32(field!(spin_step)));
            let spin = self.b.ins().iadd(spin, step);
            self.set(field!(spin), spin);
            let deadline = self.field64(field!(deadline));
            let late = self.b.ins().icmp(Cc::UnsignedGreaterThanOrEqual, executed, deadline);
            let limit = i64::from(RegionState::SPIN_LIMIT);
            let spins = self.b.ins().icmp_imm_s(Cc::UnsignedGreaterThanOrEqual, spin, limit);
            let over = self.b.ins().bor(late, spins);
            self.choose_if(over, to);
        }
        let label = u32::try_from(to)
            .ok()
            .and_then(|to| self.recipe.blocks.iter().position(|block| block.start == to));
        let Some(label) = label else { return self.exit(to, 0) };
        let stop = self.field32(field!(stop));
        let here = self.b.ins().icmp_imm_u(Cc::UnsignedLessThanOrEqual, stop, to);
        self.choose_if(here, to);
        self.b.ins().jump(self.labels[label], &[]);
    }

    fn choose_if(&mut self, condition: Value, place: i64) {
        let (choose, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(choose);
        self.b.ins().brif(condition, choose, &[], on, &[]);
        self.b.switch_to_block(choose);
        self.exit(place, RegionState::CHOOSE);
        self.b.switch_to_block(on);
    }

    /// The lanes go two ways: if those meet soon one way after the other, as the engine's loop would do it, else by that loop.
    fn part(&mut self, block: &Block, taken: Value, executed: Value) {
        if let Some(number) = block.sides {
            let (by_loop, met) = (self.b.create_block(), self.b.create_block());
            let sides = self.recipe.sides[number as usize];
            let function = self.field64(field!(sides));
            let number = self.b.ins().iconst(types::I32, i64::from(number));
            let call = self.b.ins().call_indirect(self.sides, function, &[self.state, number, taken]);
            let answer = self.b.inst_results(call)[0];
            let failed = self.b.ins().icmp_imm_u(Cc::Equal, answer, i64::from(RegionState::FAILED));
            self.check(failed, block.end);
            self.b.ins().brif(answer, by_loop, &[], met, &[]);
            self.b.switch_to_block(met);
            match self.recipe.blocks.iter().position(|block| block.start == sides.meet) {
                Some(label) => _ = self.b.ins().jump(self.labels[label], &[]),
                None => self.exit(sides.meet.into(), 0),
            }
            self.b.switch_to_block(by_loop);
        }
        // It executes the branch itself.
        let before = self.b.ins().iadd_imm_s(executed, -i64::from(block.branch_count));
        self.set(field!(executed), before);
        self.exit(i64::from(block.end) - 1, 0);
    }
}
