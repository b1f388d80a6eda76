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
//! Of 64 bits the product takes several instructions, and the sum two: there the counter may grow by any value from outside of the loop, and nothing need be promised, as what wraps
//! does so in the pointer too.
//!
//! What other numbers of 64 bits grow by the same in each round, through more than one product, do so too ([`sums`]).
//!
//! The product and the counter's steps of 32 bits are promised not to wrap, so that the address of each round is that of the first and as many strides. Where the
//! loop begins nobody may have asked for the product, and there it is computed in 64 bits, which hold it.

mod sums;

use super::licm::make_preheaders;
use super::{insert_before, replace_with};
use crate::analysis::{Cfg, Loop, Loops};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Sreg, Type, Value};

/// Addresses of one loop that count by themselves: each takes registers.
const MAX_POINTERS: usize = 4;

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
    let mut innermost: SecondaryMap<Block, u32> = SecondaryMap::new();
    for (found, n) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| innermost[block] = n);
    }
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut changes = 0;
    for (found, n) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = n);
        let is_inside = |block: Block| inside[block] == n;
        let Some(round) = Round::of(func, &cfg, found, is_inside) else { continue };
        let own: Vec<Block> = found.blocks.iter().copied().filter(|&block| innermost[block] == n).collect();
        let pointers = own.iter().flat_map(|&block| func.layout.insts(block));
        let pointers = pointers.filter_map(|inst| round.pointer(func, &uses, is_inside, inst));
        let pointers = alone(&uses, pointers.collect());
        changes += pointers.len() as u32;
        let mut made = FxHashMap::default();
        pointers.into_iter().for_each(|pointer| round.count(func, pointer, &mut made));
        func.dfg.resolve_aliases();
        changes += sums::count(func, &round, &own, is_inside);
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
    /// By how much its counter grows.
    step: Step,
    /// The stride, and by how many bytes each of it is.
    stride: Option<(Value, i64)>,
}

/// With what an address begins, and by how much it grows: [`Pointer::start`], [`Pointer::step`] and [`Pointer::stride`].
type Growth = (Value, Step, Option<(Value, i64)>);

/// The addresses with whose offsets nothing but them is found, so that these go: as many as there are registers for.
fn alone(uses: &SecondaryMap<Value, u32>, mut pointers: Vec<Pointer>) -> Vec<Pointer> {
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
        let is_counter = |value: Value| self.counters.iter().find(|(counter, ..)| *counter == value);
        let (&(_, start, step), stride) = match [is_counter(a), is_counter(b)] {
            [Some(counter), None] => (counter, b),
            [None, Some(counter)] => (counter, a),
            [Some(_), Some(_)] | [None, None] => return None,
        };
        let exact = func.dfg.ty(stride) == Type::I64 || func.dfg.no_signed_wrap(product);
        let fits = exact
            && func.dfg.int_const(stride).is_none()
            && outside(stride)
            && outside(func.dfg.resolve(base));
        fits.then_some(Pointer { inst, base, offset, start, step, stride: Some((stride, scale)) })
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
        let pointer = Pointer { inst, base, offset, start, step, stride: None };
        (only && differs(func, [base, start])).then_some(pointer)
    }

    /// Makes an address a parameter of the header. Those that grow alike share by how much.
    fn count(&self, func: &mut Function, pointer: Pointer, made: &mut FxHashMap<Growth, [Value; 2]>) {
        let Pointer { inst, base, start, step, stride, offset: _ } = pointer;
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
        let [offset, growth] = *made.entry((start, step, stride)).or_insert_with(|| {
            let start = wide(func, start);
            let Some((stride, scale)) = stride else {
                let step = match step {
                    Step::Constant(step) => constant(func, step),
                    Step::Value(step) => step,
                };
                return [start, step];
            };
            let stride = wide(func, stride);
            let product = binary(func, entry, Opcode::Imul, [start, stride], Type::I64);
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
