//! An address in a loop that is a counter times a stride, `p[i * n]`, counts by itself: a pointer that grows by `n` elements a round.
//!
//! The product of the counter and the stride then goes, and the sum that finds the address becomes the one that moves the pointer, which ptxas makes one
//! instruction of where the stride is one of 32 bits (`IMAD.WIDE`). The counter stays, for what decides when the loop ends. Strides that are constant are
//! left alone: of these the address takes one instruction as it is, and to count by one takes two.
//!
//! A byte at a counter that finds nothing else, `p[i]`, is found by a pointer too: the counter goes, and what is left of three instructions is the sum of 64
//! bits. Where all threads of a warp have the same pointer it would cost more, since ptxas counts in uniform registers then, and moves it back for each access;
//! so this is done only where it is seen to differ: what it begins with was loaded, or comes from the thread's number.
//!
//! The counter may have something from outside of the loop added to it or taken off: `p[((n * height + y) * width + x) * channels + c]` in a loop over `x`, if every
//! round is seen to access what is there.
//!
//! Of 64 bits the product takes several instructions, and the sum two: there the counter may grow by any value from outside of the loop, and nothing need be promised, as what wraps
//! does so in the pointer too.
//!
//! What other numbers grow by the same in each round, through products of 64 bits or several operations of 32, do so too ([`sums`]).
//!
//! The product and the counter's steps of 32 bits are promised not to wrap, so that the address of each round is that of the first and as many strides. Where the
//! loop begins nobody may have asked for the product, and there it is computed in 64 bits, which hold it, unless the first round is seen to access what is there.

mod sums;

use super::licm::make_preheaders;
use super::{insert_before, replace_with};
use crate::analysis::{Cfg, Loop, Loops, Nest};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Sreg, Type, Value, ValueDef};

/// Addresses of one loop that count by themselves: each takes registers.
const MAX_POINTERS: usize = 4;

/// Sums between a counter and what it is multiplied by.
const MAX_TERMS: usize = 4;

/// What a counter of a loop grows by of which `partial` has made several rounds one.
const FAR: u64 = 4;

/// Operations that are looked at for what differs from thread to thread.
const MAX_OPERATIONS: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if cx.analyses.get::<Loops>(func).iter().next().is_none() {
        return Changes::NONE;
    }
    let added = make_preheaders(func, cx.analyses);
    if added > 0 {
        cx.analyses.invalidate(Aspects::ALL);
    }
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    for block in func.layout.blocks() {
        for value in func.layout.insts(block).flat_map(|inst| func.dfg.uses(inst)) {
            uses[func.dfg.resolve(value)] += 1;
        }
    }
    let nest = Nest::compute(&loops);
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut changes = 0;
    for (found, n) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = n);
        let is_inside = |block: Block| inside[block] == n;
        let Some(round) = Round::of(func, &cfg, found, is_inside) else { continue };
        let own: Vec<Block> =
            found.blocks.iter().copied().filter(|&block| nest.innermost[block] == n).collect();
        let is_long = !round.is_short(func, &loops, &nest);
        let pointers = own.iter().flat_map(|&block| func.layout.insts(block));
        let pointers = pointers.filter_map(|inst| round.pointer(func, &uses, is_inside, inst));
        let pointers = pointers.filter(|pointer| is_long || pointer.terms.of.is_empty());
        let pointers = alone(&uses, pointers.collect());
        changes += pointers.len() as u32;
        let mut made = FxHashMap::default();
        pointers.into_iter().for_each(|pointer| round.count(func, pointer, &mut made));
        func.dfg.resolve_aliases();
        let is_innermost = own.len() == found.blocks.len();
        changes += sums::count(func, &round, &own, is_innermost && is_long, is_inside);
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    if added > 0 { Changes::to_all(changes + added) } else { Changes::to_instructions(changes) }
}

/// How a loop is entered and goes round.
struct Round {
    header: Block,
    /// The jump into the loop.
    entry: Inst,
    /// The branches back to its header.
    back: Vec<Inst>,
    /// Parameters of the header that grow by the same in each round: with what they begin, and by how much they grow.
    counters: Vec<(Value, Value, Step)>,
}

/// By how much a counter grows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Constant(i64),
    /// A value of 64 bits from outside of the loop.
    Value(Value),
}

/// An address that can count by itself.
struct Pointer {
    inst: Inst,
    base: Value,
    /// What is added to it, which other such addresses may need too.
    offset: Value,
    start: Value,
    terms: Terms,
    /// By how much its counter grows.
    step: Step,
    /// The stride, and by how many bytes each of it is.
    stride: Option<(Value, i64)>,
}

/// What is added to a counter, and what is taken off, as the operations say.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Terms {
    of: SmallVec<[(Opcode, Value); MAX_TERMS]>,
    /// The sums and the product are of 32 bits, and do not wrap in the first round either. If they may, there are no sums.
    asked: bool,
}

/// With what an address begins, and by how much it grows: [`Pointer::start`], [`Pointer::terms`], [`Pointer::step`] and [`Pointer::stride`].
type Growth = (Value, Terms, Step, Option<(Value, i64)>);

/// The addresses with whose offsets nothing but them is found, so that these go: as many as there are registers for.
fn alone(uses: &SecondaryMap<Value, u32>, mut pointers: Vec<Pointer>) -> Vec<Pointer> {
    // What one access asks for is right for all.
    let asked: Vec<Value> =
        pointers.iter().filter(|pointer| pointer.terms.asked).map(|pointer| pointer.offset).collect();
    pointers.iter_mut().for_each(|pointer| pointer.terms.asked = asked.contains(&pointer.offset));
    pointers.retain(|pointer| pointer.terms.asked || pointer.terms.of.is_empty());
    let mut count: FxHashMap<Value, u32> = FxHashMap::default();
    pointers.iter().for_each(|pointer| *count.entry(pointer.offset).or_default() += 1);
    pointers.retain(|pointer| count[&pointer.offset] == uses[pointer.offset]);
    let mut kept = 0;
    for (n, pointer) in pointers.iter().enumerate() {
        // All that share an offset, or none.
        if pointers[..n].iter().all(|other| other.offset != pointer.offset) {
            let more = count[&pointer.offset] as usize;
            if kept + more > MAX_POINTERS {
                count.insert(pointer.offset, 0);
            } else {
                kept += more;
            }
        }
    }
    pointers.retain(|pointer| count[&pointer.offset] > 0);
    pointers
}

impl Round {
    fn of(func: &Function, cfg: &Cfg, found: Loop<'_>, inside: impl Fn(Block) -> bool) -> Option<Round> {
        let header = found.header;
        let (latches, before): (Vec<Block>, Vec<Block>) =
            cfg.predecessors(header).iter().partition(|&&block| inside(block));
        let &[before] = &before[..] else { return None };
        let entry = func.terminator(before)?;
        let InstData::Jump { dest } = &func.dfg[entry] else { return None };
        let back: Vec<Inst> =
            latches.into_iter().map(|block| func.terminator(block)).collect::<Option<_>>()?;
        let starts = dest.args(&func.dfg.pool);
        let counters = func.dfg.block_params(header).iter().zip(starts).enumerate();
        let counters = counters.filter_map(|(n, (&param, &start))| {
            let calls = back.iter().flat_map(|&inst| func.dfg.targets(inst));
            let mut given =
                calls.filter(|call| call.block == header).map(|call| call.args(&func.dfg.pool)[n]);
            let next = given.next().map(|value| func.dfg.resolve(value))?;
            let ty = func.dfg.ty(param);
            if !given.all(|other| func.dfg.resolve(other) == next) || !matches!(ty, Type::I32 | Type::I64) {
                return None;
            }
            let inst = func.dfg.def_inst(next)?;
            let InstData::Binary { op: Opcode::Iadd, args } = func.dfg[inst] else { return None };
            let step = match args.map(|arg| func.dfg.resolve(arg)) {
                [counter, step] if counter == param => step,
                [step, counter] if counter == param => step,
                _ => return None,
            };
            let step = match func.dfg.int_const(step) {
                Some(step) => Step::Constant(step),
                None if func.block_of(step).is_some_and(&inside) => return None,
                None => Step::Value(step),
            };
            let counts = match step {
                _ if ty == Type::I64 => true,
                Step::Constant(_) => func.dfg.no_signed_wrap(inst),
                Step::Value(_) => false,
            };
            counts.then_some((param, start, step))
        });
        let counters: Vec<_> = counters.collect();
        (!counters.is_empty()).then_some(Round { header, entry, back, counters })
    }

    /// Whether a loop takes few rounds, as far as is seen: those that another has left over, or every fourth and so on. What would be computed in front of it
    /// costs more then.
    fn is_short(&self, func: &Function, loops: &Loops, nest: &Nest) -> bool {
        let is_around = |n: usize| nest.contains(n, self.header);
        let is_left_over = |start: Value| match func.dfg.def(start) {
            ValueDef::Param(block, _) => {
                let is_header = |n: usize| loops.nth(n).header == block && is_around(n);
                Some(block) != func.layout.entry() && !nest.around(block).next().is_some_and(is_header)
            }
            ValueDef::Result(inst, _) => {
                let block = func.layout.block_of(inst);
                block.and_then(|block| nest.around(block).next()).is_some_and(|n| !is_around(n))
            }
            ValueDef::Alias(_) | ValueDef::Detached => false,
        };
        self.counters.iter().any(|&(_, start, step)| {
            let is_far = matches!(step, Step::Constant(step) if step.unsigned_abs() >= FAR);
            is_far || is_left_over(func.dfg.resolve(start))
        })
    }

    /// The address that an instruction computes, if it is a counter of the loop times a stride from outside of it, and nothing else needs the product.
    fn pointer(
        &self,
        func: &Function,
        uses: &SecondaryMap<Value, u32>,
        inside: impl Fn(Block) -> bool,
        inst: Inst,
    ) -> Option<Pointer> {
        let outside = |value: Value| !func.block_of(value).is_some_and(&inside);
        // A value of one use, as the instruction that computes it.
        let once = |value: Value| {
            let value = func.dfg.resolve(value);
            func.dfg.def_inst(value).filter(|_| uses[value] == 1)
        };
        let InstData::Binary { op: Opcode::Ptradd, args: [base, offset] } = func.dfg[inst] else {
            return None;
        };
        let offset = func.dfg.resolve(offset);
        if let Some(&InstData::Unary { op: Opcode::Sext, arg }) = func.dfg.def_data(offset) {
            let base = func.dfg.resolve(base);
            let byte = || self.byte(func, uses, inst, (base, offset), arg).filter(|_| outside(base));
            return (uses[offset] == 1).then(byte).flatten();
        }
        let Some(&InstData::Binary { op: Opcode::Imul, args }) = func.dfg.def_data(offset) else {
            return None;
        };
        // It is computed in the loop, as its users are.
        if outside(offset) {
            return None;
        }
        let (product, scale) = match func.dfg.int_const(args[1]) {
            Some(scale) => (once(args[0])?, scale),
            None => (func.dfg.def_inst(offset)?, 1),
        };
        let product = match func.dfg[product] {
            InstData::Unary { op: Opcode::Sext, arg } => once(arg)?,
            _ => product,
        };
        let InstData::Binary { op: Opcode::Imul, args } = func.dfg[product] else { return None };
        let [a, b] = args.map(|value| func.dfg.resolve(value));
        let of = |value: Value| self.counter(func, outside, value);
        let (((start, step), mut terms), stride) = match [of(a), of(b)] {
            [Some(counter), None] => (counter, b),
            [None, Some(counter)] => (counter, a),
            [Some(_), Some(_)] | [None, None] => return None,
        };
        let exact = func.dfg.ty(stride) == Type::I64 || func.dfg.no_signed_wrap(product);
        terms.asked &= self.is_accessed(func, inst);
        let fits = exact
            && func.dfg.int_const(stride).is_none()
            && outside(stride)
            && outside(func.dfg.resolve(base));
        fits.then_some(Pointer { inst, base, offset, start, terms, step, stride: Some((stride, scale)) })
    }

    /// The counter of the loop, as its start and its step, that a value is a sum with, and what else the sum is of.
    fn counter(
        &self,
        func: &Function,
        outside: impl Fn(Value) -> bool,
        mut value: Value,
    ) -> Option<((Value, Step), Terms)> {
        let mut terms = Terms { of: SmallVec::new(), asked: func.dfg.ty(value) == Type::I32 };
        while terms.of.len() <= MAX_TERMS {
            if let Some(&(_, start, step)) = self.counters.iter().find(|(counter, ..)| *counter == value) {
                return Some(((start, step), terms));
            }
            let inst = func.dfg.def_inst(value)?;
            let InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Isub), args } = func.dfg[inst] else {
                return None;
            };
            if func.dfg.ty(value) == Type::I32 && !func.dfg.no_signed_wrap(inst) {
                return None;
            }
            let [a, b] = args.map(|arg| func.dfg.resolve(arg));
            let (rest, term) = match (outside(a), outside(b)) {
                (false, true) => (a, b),
                (true, false) if op == Opcode::Iadd => (b, a),
                (true | false, true | false) => return None,
            };
            terms.of.push((op, term));
            value = rest;
        }
        None
    }

    /// Whether every round accesses memory at an address, as it does in its header: then what the address is made of does not wrap.
    fn is_accessed(&self, func: &Function, address: Inst) -> bool {
        let Some(address) = func.dfg.first_result(address) else { return false };
        func.layout.insts(self.header).any(|inst| match func.dfg[inst] {
            InstData::Load { ptr, .. } | InstData::Store { args: [_, ptr], .. } => {
                func.dfg.resolve(ptr) == address
            }
            _ => false,
        })
    }

    /// The address of a byte at a counter of the loop that nothing else needs, if threads are seen to have different ones.
    fn byte(
        &self,
        func: &Function,
        uses: &SecondaryMap<Value, u32>,
        inst: Inst,
        (base, offset): (Value, Value),
        index: Value,
    ) -> Option<Pointer> {
        let index = func.dfg.resolve(index);
        let &(_, start, step @ Step::Constant(_)) =
            self.counters.iter().find(|(counter, ..)| *counter == index)?
        else {
            return None;
        };
        // The sums that it counts by, which go back and nowhere else.
        let n = func.dfg.block_params(self.header).iter().position(|&param| param == index)?;
        let calls = self.back.iter().flat_map(|&branch| func.dfg.targets(branch));
        let calls = calls.filter(|call| call.block == self.header);
        let (mut next, mut edges) = (None, 0);
        for call in calls {
            next = Some(func.dfg.resolve(call.args(&func.dfg.pool)[n]));
            edges += 1;
        }
        let only = uses[index] == 2 && uses[next?] == edges;
        let pointer = Pointer { inst, base, offset, start, terms: Terms::default(), step, stride: None };
        (only && differs(func, [base, start])).then_some(pointer)
    }

    /// Makes an address a parameter of the header. Those that grow alike share by how much.
    fn count(&self, func: &mut Function, pointer: Pointer, made: &mut FxHashMap<Growth, [Value; 2]>) {
        let Pointer { inst, base, start, terms, step, stride, offset: _ } = pointer;
        let Some(ty) = func.dfg.first_result(inst).map(|result| func.dfg.ty(result)) else { return };
        let entry = self.entry;
        let binary = |func: &mut Function, before: Inst, op: Opcode, args: [Value; 2], ty: Type| {
            insert_before(func, before, InstData::Binary { op, args }, ty)
        };
        let wide = |func: &mut Function, value: Value| match func.dfg.ty(value) {
            Type::I64 => value,
            _ => insert_before(func, entry, InstData::Unary { op: Opcode::Sext, arg: value }, Type::I64),
        };
        let constant = |func: &mut Function, value: i64| {
            insert_before(func, entry, InstData::IntConst { value }, Type::I64)
        };
        let times = |func: &mut Function, value: Value, by: i64| {
            let by = constant(func, by);
            binary(func, entry, Opcode::Imul, [value, by], Type::I64)
        };
        let [offset, growth] =
            *made.entry((start, terms, step, stride)).or_insert_with_key(|(_, terms, ..)| {
                let Some((stride, scale)) = stride else {
                    let step = match step {
                        Step::Constant(step) => constant(func, step),
                        Step::Value(step) => step,
                    };
                    return [wide(func, start), step];
                };
                let product = if terms.asked {
                    let sum =
                        |sum, &(op, term): &(Opcode, Value)| binary(func, entry, op, [sum, term], Type::I32);
                    let sum = terms.of.iter().fold(start, sum);
                    let product = binary(func, entry, Opcode::Imul, [sum, stride], Type::I32);
                    wide(func, product)
                } else {
                    let (start, stride) = (wide(func, start), wide(func, stride));
                    binary(func, entry, Opcode::Imul, [start, stride], Type::I64)
                };
                let stride = wide(func, stride);
                let growth = match step {
                    Step::Constant(step) => times(func, stride, step.wrapping_mul(scale)),
                    Step::Value(step) => {
                        let growth = binary(func, entry, Opcode::Imul, [stride, step], Type::I64);
                        times(func, growth, scale)
                    }
                };
                [times(func, product, scale), growth]
            });
        let first = binary(func, entry, Opcode::Ptradd, [base, offset], ty);
        let at = func.dfg.append_block_param(self.header, ty);
        self.give(func, entry, first);
        for &branch in &self.back {
            let next = binary(func, branch, Opcode::Ptradd, [at, growth], ty);
            self.give(func, branch, next);
        }
        replace_with(func, inst, at);
    }

    /// Has a branch give a value to the header's last parameter.
    fn give(&self, func: &mut Function, branch: Inst, value: Value) {
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == self.header {
                call.args.push(value, pool);
            }
        });
    }
}

/// Whether one of some values is seen to differ from thread to thread: it is made of what was loaded, or of the thread's number.
fn differs(func: &Function, values: [Value; 2]) -> bool {
    let mut values = values.to_vec();
    for _ in 0..MAX_OPERATIONS {
        let Some(value) = values.pop() else { return false };
        let Some(inst) = func.dfg.def_inst(func.dfg.resolve(value)) else { continue };
        match func.dfg[inst] {
            InstData::Load { .. } => return true,
            InstData::Sreg { reg: Sreg::TID_X | Sreg::LANEID } => return true,
            _ => values.extend(func.dfg.args(inst)),
        }
    }
    false
}
