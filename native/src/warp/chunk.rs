//! The loop over a warp's lanes, four at a time.

use super::even::Half;
use super::fetch::{Loaded, Reads};
use super::follow::Parted;
use super::pattern::Found;
use super::recipe::{Lines, Source, Step, What};
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{BlockArg, ConstantData, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Reg, Width};

/// Four lanes of a register: one vector of 32 bits, two of 64, or of a predicate one of all ones and zeros.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    One(Value),
    Two([Value; 2]),
}

/// Registers are read and written within what the builder of programs has checked.
pub(super) const PLAIN: MemFlagsData = MemFlagsData::trusted();

/// Bytes of a register of 32 bits, of which four lanes take 16.
const ROW: i64 = 128;

/// A value with what is known of it.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub lanes: Lanes,
    /// It is of `f32`, and its NaNs are not yet those of the engine. What only computes further does not mind.
    pub any_nan: bool,
}

/// Memory that lanes lie in: where, and where this chunk's part of it is, by the width of the lanes.
#[derive(Clone, Copy)]
struct Memory {
    base: Value,
    narrow: Option<Value>,
    wide: Option<Value>,
}

pub(super) struct Chunks<'b, 'f, 's> {
    pub b: &'b mut FunctionBuilder<'f>,
    memory: [Memory; 3],
    pub steps: &'s [Step],
    pub lines: &'s [Lines],
    pub roots: &'s [(Reg, u32)],
    keep: &'s [Reg],
    lanes: Option<Value>,
    /// Four times the number of the chunk, four times: the bytes before its part of a row.
    pub chunk: Value,
    /// Words of predicates, read before the loop.
    words: FxHashMap<Reg, Value>,
    pub now: FxHashMap<Reg, Known>,
    /// The branch between whose sides it is, and the lanes that have taken branches, in the order of those.
    pub parted: Option<Parted>,
    pub forks: Vec<Value>,
    pub loaded: Loaded,
    pub reads: Reads,
    /// What is equal in all lanes, as far as it was computed before the loop, and by the number of its step as vectors.
    pub uniform: FxHashMap<Reg, Value>,
    pub splats: FxHashMap<usize, Lanes>,
    /// What is added to the register with a pattern, by registers that a sum is in, and lines by their numbers.
    pub added: FxHashMap<Reg, Value>,
    pub checked: FxHashMap<u32, Found>,
    /// What grows evenly in each half.
    pub evens: FxHashMap<Reg, [Half; 2]>,
    /// The places of accesses by their numbers, of local memory those of the first lane.
    pub places_known: FxHashMap<u32, Value>,
    /// Bytes from a lane's local memory to the next lane's, and from the first lane's to those of the chunk.
    pub local_step: Option<Value>,
    pub local_past: Option<[Value; 4]>,
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    Registers,
    Constants,
    Scratch,
}

impl<'b, 'f, 's> Chunks<'b, 'f, 's> {
    /// A loop for some lanes, or for all.
    pub fn new(
        b: &'b mut FunctionBuilder<'f>,
        memory: [Value; 3],
        loaded: Loaded,
        (steps, keep): (&'s [Step], &'s [Reg]),
        lanes: Option<Value>,
    ) -> Self {
        let memory = memory.map(|base| Memory { base, narrow: None, wide: None });
        let (words, now) = (FxHashMap::default(), FxHashMap::default());
        let chunk = Value::from_u32(0);
        Chunks {
            b,
            memory,
            steps,
            lines: &[],
            roots: &[],
            keep,
            lanes,
            chunk,
            words,
            now,
            parted: None,
            forks: Vec::new(),
            loaded,
            reads: Reads::default(),
            uniform: FxHashMap::default(),
            splats: FxHashMap::default(),
            added: FxHashMap::default(),
            checked: FxHashMap::default(),
            evens: FxHashMap::default(),
            places_known: FxHashMap::default(),
            local_step: None,
            local_past: None,
        }
    }

    /// The answer is for each branch in it the word of the lanes that take it.
    pub fn emit(mut self) -> Vec<Value> {
        let steps = self.steps;
        let mut predicates: Vec<Reg> = Vec::new();
        for step in steps {
            for r in step.read().chain(step.written()) {
                self.word(r);
            }
        }
        predicates.extend(self.keep.iter().filter(|r| r.width() == Width::Pred));
        let (head, next, done) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let first = self.b.ins().iconst(types::I64, 0);
        let zero = self.b.ins().iconst(types::I32, 0);
        self.chunk = self.b.append_block_param(head, types::I64);
        let words =
            predicates.len() + steps.iter().filter(|step| matches!(step.what, What::Part { .. })).count();
        let parameters = |b: &mut FunctionBuilder<'f>, block| -> Vec<Value> {
            (0..words).map(|_| b.append_block_param(block, types::I32)).collect()
        };
        let (sums, after) = (parameters(self.b, head), parameters(self.b, next));
        let arguments =
            |values: Vec<Value>| -> Vec<BlockArg> { values.into_iter().map(BlockArg::Value).collect() };
        let begin = arguments([first].into_iter().chain(vec![zero; words]).collect());
        self.b.ins().jump(head, &begin);
        self.b.switch_to_block(head);
        let by = self.b.ins().ireduce(types::I32, self.chunk);
        let by = self.b.ins().ushr_imm_u(by, 2);
        let mut own = None;
        if let Some(lanes) = self.lanes {
            // Where no lane is about there is nothing to do.
            let body = self.b.create_block();
            let four = self.b.ins().ushr(lanes, by);
            let four = self.b.ins().band_imm_s(four, 15);
            self.b.ins().brif(four, body, &[], next, &arguments(sums.clone()));
            self.b.switch_to_block(body);
            own = Some(four);
        }
        for (n, step) in steps.iter().enumerate() {
            match self.splats.get(&n) {
                Some(lanes) => _ = self.now.insert(step.dst, Known { lanes: *lanes, any_nan: false }),
                None if step.unused => {}
                None => self.step(step),
            }
        }
        self.store_kept(own);
        let mut found = Vec::new();
        let mut masks = Vec::new();
        for r in &predicates {
            let Lanes::One(value) = self.read(*r) else { continue };
            masks.push(value);
        }
        masks.append(&mut self.forks);
        for (value, sum) in masks.into_iter().zip(&sums) {
            let bits = self.b.ins().vhigh_bits(types::I32, value);
            let up = self.b.ins().ishl(bits, by);
            found.push(self.b.ins().bor(*sum, up));
        }
        self.b.ins().jump(next, &arguments(found));
        self.b.switch_to_block(next);
        let chunk = self.b.ins().iadd_imm_s(self.chunk, 16);
        let more = self.b.ins().icmp_imm_s(Cc::UnsignedLessThan, chunk, ROW);
        let again = arguments([chunk].into_iter().chain(after.iter().copied()).collect());
        self.b.ins().brif(more, head, &again, done, &[]);
        self.b.switch_to_block(done);
        let mut after = after;
        let forks = after.split_off(predicates.len());
        for (r, value) in predicates.iter().zip(after) {
            let value = match self.lanes {
                None => value,
                Some(lanes) => {
                    let old = self.words[r];
                    let (new, kept) = (self.b.ins().band(value, lanes), self.b.ins().band_not(old, lanes));
                    self.b.ins().bor(new, kept)
                }
            };
            let base = self.memory[Place::Registers as usize].base;
            self.b.ins().store(PLAIN, value, base, (4 * r.offset()) as i32);
        }
        forks
    }

    /// Reads the word of a predicate.
    pub fn word(&mut self, r: Reg) {
        if r.width() != Width::Pred || self.words.contains_key(&r) {
            return;
        }
        let place = if r.is_constant() { Place::Constants } else { Place::Registers };
        let base = self.memory[place as usize].base;
        let word = self.b.ins().load(types::I32, PLAIN, base, (4 * r.offset()) as i32);
        self.words.insert(r, word);
    }

    pub fn constant_vector(&mut self, words: [u32; 4]) -> Value {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let data = self.b.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(types::I32X4, data)
    }

    /// The chunk's part of a word of lanes, as all ones and zeros.
    pub fn spread(&mut self, word: Value) -> Value {
        let by = self.b.ins().ireduce(types::I32, self.chunk);
        let by = self.b.ins().ushr_imm_u(by, 2);
        let low = self.b.ins().ushr(word, by);
        let all = self.b.ins().splat(types::I32X4, low);
        let each = self.constant_vector([1, 2, 4, 8]);
        let bit = self.b.ins().band(all, each);
        self.b.ins().icmp(Cc::Equal, bit, each)
    }

    /// Where a kind of memory begins.
    pub fn base(&self, of: Place) -> Value {
        self.memory[of as usize].base
    }

    /// Where the chunk's part of lanes is.
    pub fn place(&mut self, of: Place, width: Width) -> Value {
        let memory = self.memory[of as usize];
        let known = if width == Width::W64 { memory.wide } else { memory.narrow };
        if let Some(known) = known {
            return known;
        }
        let by = if width == Width::W64 { self.b.ins().ishl_imm_u(self.chunk, 1) } else { self.chunk };
        let place = self.b.ins().iadd(memory.base, by);
        let memory = &mut self.memory[of as usize];
        if width == Width::W64 {
            memory.wide = Some(place)
        } else {
            memory.narrow = Some(place)
        }
        place
    }

    /// Lanes as they lie in memory, so many words past its beginning.
    pub fn load(&mut self, of: Place, width: Width, words: u32) -> Lanes {
        let (place, at) = (self.place(of, width), (4 * words) as i32);
        match width {
            Width::W64 => {
                Lanes::Two([0, 16].map(|half| self.b.ins().load(types::I64X2, PLAIN, place, at + half)))
            }
            Width::Pred | Width::W32 | Width::W128 => {
                Lanes::One(self.b.ins().load(types::I32X4, PLAIN, place, at))
            }
        }
    }

    /// A register, whose NaNs may be any if it is of `f32`.
    pub fn known(&mut self, r: Reg) -> Known {
        if let Some(known) = self.now.get(&r) {
            return *known;
        }
        let lanes = match r.width() {
            Width::Pred => {
                let word = self.words[&r];
                Lanes::One(self.spread(word))
            }
            Width::W32 | Width::W64 | Width::W128 => {
                let place = if r.is_constant() { Place::Constants } else { Place::Registers };
                self.load(place, r.width(), r.offset())
            }
        };
        let known = Known { lanes, any_nan: false };
        self.now.insert(r, known);
        known
    }

    pub fn read(&mut self, r: Reg) -> Lanes {
        let known = self.known(r);
        if known.any_nan {
            let known = self.without_any_nan(known);
            self.now.insert(r, known);
            return known.lanes;
        }
        known.lanes
    }

    pub fn without_any_nan(&mut self, known: Known) -> Known {
        if known.any_nan { Known { lanes: self.with_own_nan(known.lanes), any_nan: false } } else { known }
    }

    pub fn source(&mut self, source: Source, any_nan: bool) -> Lanes {
        match source {
            Source::Number(number) => Lanes::One(self.constant_vector([number; 4])),
            Source::Reg(r) if any_nan => self.known(r).lanes,
            Source::Reg(r) => self.read(r),
        }
    }

    /// What is all ones or zeros for 32 bits, for the two halves of 64.
    fn mask_of_64(&mut self, mask: Value) -> [Value; 2] {
        [self.b.ins().swiden_low(mask), self.b.ins().swiden_high(mask)]
    }

    pub fn blend(&mut self, mask: Value, yes: Lanes, no: Lanes) -> Lanes {
        match (yes, no) {
            (Lanes::One(yes), Lanes::One(no)) => Lanes::One(self.b.ins().bitselect(mask, yes, no)),
            (Lanes::Two(yes), Lanes::Two(no)) => {
                let masks = self.mask_of_64(mask);
                Lanes::Two([0, 1].map(|n| self.b.ins().bitselect(masks[n], yes[n], no[n])))
            }
            (yes, _) => yes,
        }
    }

    /// Stores what is kept, of all four lanes or of those that are asked for.
    fn store_kept(&mut self, own: Option<Value>) {
        let keep = self.keep;
        let (Some(lanes), Some(own)) = (self.lanes, own) else {
            return keep.iter().for_each(|r| self.store(*r, None));
        };
        let [all, some, stored] = [(); 3].map(|()| self.b.create_block());
        // What both ways use is computed before they part.
        for r in keep.iter().filter(|r| r.width() != Width::Pred) {
            self.read(*r);
            self.place(Place::Registers, r.width());
        }
        let whole = self.b.ins().icmp_imm_s(Cc::Equal, own, 15);
        self.b.ins().brif(whole, all, &[], some, &[]);
        self.b.switch_to_block(all);
        keep.iter().for_each(|r| self.store(*r, None));
        self.b.ins().jump(stored, &[]);
        self.b.switch_to_block(some);
        let mask = self.spread(lanes);
        keep.iter().for_each(|r| self.store(*r, Some(mask)));
        self.b.ins().jump(stored, &[]);
        self.b.switch_to_block(stored);
    }

    pub fn store(&mut self, r: Reg, mask: Option<Value>) {
        if r.width() == Width::Pred {
            return;
        }
        let mut value = self.read(r);
        if let Some(mask) = mask {
            let old = self.load(Place::Registers, r.width(), r.offset());
            value = self.blend(mask, value, old);
        }
        let (at, place) = ((4 * r.offset()) as i32, self.place(Place::Registers, r.width()));
        match value {
            Lanes::One(value) => _ = self.b.ins().store(PLAIN, value, place, at),
            Lanes::Two(halves) => {
                for (half, value) in [0, 16].into_iter().zip(halves) {
                    self.b.ins().store(PLAIN, value, place, at + half);
                }
            }
        }
    }

    pub fn step(&mut self, step: &Step) {
        let (mut result, mut any_nan) = match step.what {
            What::Fetch(fetch) => (self.fetch(&fetch, step.dst.width()), false),
            What::Line(fetch) => (self.line(&fetch, step.dst.width()), false),
            What::Known(known) => (self.load_local(&known, step.dst.width()), false),
            What::Store(known) => {
                for source in &step.src {
                    let value = self.source(*source, false);
                    self.store_local(&known, value);
                }
                return;
            }
            What::Compute(plan) => {
                let single = plan.is_float() && !step.double;
                let x: Vec<Lanes> = step.src.iter().map(|source| self.source(*source, single)).collect();
                (self.compute(plan, step.double, &x), single && !plan.compares_floats())
            }
            What::Part { negated } => return step.src.iter().for_each(|source| self.part(*source, negated)),
            What::Other => return self.other(),
            What::Meet => return self.meet(&step.src),
        };
        if let Some((pred, negated)) = step.guard {
            if any_nan {
                (result, any_nan) = (self.with_own_nan(result), false);
            }
            let (Lanes::One(mut mask), old) = (self.read(pred), self.read(step.dst)) else { return };
            if negated {
                mask = self.b.ins().bnot(mask);
            }
            result = self.blend(mask, result, old);
        }
        self.now.insert(step.dst, Known { lanes: result, any_nan });
    }
}
