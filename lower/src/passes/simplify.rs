//! Simplification of single operations: constants are folded, the rules of `lower/rules` applied, and forms that later passes and
//! selection know are preferred (constants on the right, addresses as a base and one constant).
//!
//! Rules hold for every value of their operands, NaN and its bits included: `x * 1.0` stays, since it makes the one NaN of PTX of
//! any other. A sweep goes down the blocks in reverse post-order, so that operands are simplified before their users, and an instruction
//! is simplified until no rule applies to it; another sweep finds what that has opened, near what has changed. Then one sweep applies the rules about
//! demanded bits. Another run of the pass looks at what lies near what has changed since.

mod parts;
mod settled;
mod table;

use super::{insert_before, join_halves, replace_with};
use crate::analysis::Cfg;
use crate::fold::{self, Constant};
use crate::pass::{Changes, Context};
use crate::rules::demanded::Demanded;
use crate::rules::engine::{self, Facts, Index};
use crate::rules::known::KnownBits;
use crate::rules::matching;
use settled::{Changed, Settled};
use warpsmith_ir::{Block, Function, Inst, InstData, MemFlags, Opcode, Path, Traits, Type, Value, ValueList};

/// Sweeps over a function; what is left after so many is found by the next run of the pass.
const MAX_SWEEPS: u32 = 4;

/// Rewrites of one instruction in one sweep. Rules that lead in a circle end here.
const MAX_STEPS: u32 = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let order = cfg.reverse_postorder();
    let left = std::mem::take(cx.analyses.notes::<Settled>());
    let mut sweep = Sweep {
        index: Index::PLAIN,
        known: None,
        changed: Changed::since(left),
        demanded: None,
        log: &mut *cx.log,
        made: Vec::new(),
    };
    let (mut total, mut is_settled) = (0, false);
    for _ in 0..MAX_SWEEPS {
        let values = func.dfg.num_values();
        sweep.changed.begin_sweep(func, order);
        let changes = sweep.run(func, order);
        total += changes;
        if sweep.changed.is_nothing() {
            *cx.analyses.notes() = sweep.changed.unchanged();
            return Changes::NONE;
        }
        sweep.changed.end_sweep(values);
        if changes == 0 {
            is_settled = true;
            break;
        }
    }
    if total > 0 {
        func.dfg.resolve_aliases();
    }
    sweep.index = Index::DEMANDED;
    sweep.demanded = Some(Demanded::compute(func, order));
    let changes = sweep.run(func, order);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    if is_settled {
        *cx.analyses.notes() = sweep.changed.settled(func, order);
    }
    Changes::to_instructions(total + changes)
}

struct Sweep<'a> {
    index: Index,
    /// What is known of values, from the first instruction that is looked at on.
    known: Option<KnownBits>,
    changed: Changed,
    demanded: Option<Demanded>,
    log: &'a mut crate::log::Log,
    /// Instructions that a rewrite has put in front of another.
    made: Vec<Inst>,
}

impl Sweep<'_> {
    fn run(&mut self, func: &mut Function, order: &[Block]) -> u32 {
        let mut total = 0;
        for &block in order {
            self.changed.enter(func, block);
            let mut next = func.layout.first_inst(block);
            while let Some(inst) = next {
                next = func.layout.next_inst(inst);
                let looked_at = match &self.demanded {
                    None => self.changed.is_near(func, inst),
                    Some(demanded) => {
                        self.index.has(func.dfg.opcode(inst)) && demanded.is_in_part(&func.dfg, inst)
                    }
                };
                if !looked_at {
                    continue;
                }
                let changes = self.instruction(func, inst);
                if changes > 0 {
                    self.changed.mark(func, inst);
                }
                total += changes;
            }
        }
        total
    }

    /// Simplifies an instruction, and what that puts in front of it.
    fn instruction(&mut self, func: &mut Function, inst: Inst) -> u32 {
        let mut changes = 0;
        let mut steps = 0;
        self.made.push(inst);
        while let Some(inst) = self.made.pop() {
            while steps < MAX_STEPS && self.step(func, inst) {
                steps += 1;
                changes += 1;
                // Which bits of what is new are demanded is not known.
                if self.demanded.is_some() || func.layout.block_of(inst).is_none() {
                    break;
                }
            }
        }
        changes
    }

    fn step(&mut self, func: &mut Function, inst: Inst) -> bool {
        let assumes = || self.changed.assumes.iter().copied();
        let known = self.known.get_or_insert_with(|| KnownBits::of_function(func, assumes()));
        if let Some(result) = func.dfg.first_result(inst)
            && (func.dfg.ty(result).is_invalid()
                || self.changed.uses[result] == 1 && known.is_assumed(&func.dfg, result))
        {
            return false;
        }
        super::resolve_args(func, inst);
        if self.demanded.is_none()
            && matches!(func.dfg[inst], InstData::Ptx { .. })
            && self.log.allows()
            && table::to_core(func, inst)
        {
            self.log.applied("core");
            return true;
        }
        if self.demanded.is_none()
            && self.log.allows()
            && let Some(simpler) = (Canonical { func, known }).apply(inst)
        {
            self.log.applied(simpler.name());
            simpler.commit(func, inst);
            return true;
        }
        let mut facts = Facts { known, uses: &self.changed.uses, demanded: self.demanded.as_ref() };
        let Some(rewrite) = engine::find(&self.index, &func.dfg, inst, &mut facts) else { return false };
        let rule = self.index.rule(rewrite.rule);
        if !self.log.rule(rule, func, inst) {
            return false;
        }
        let made = &mut self.made;
        // New instructions are simplified with the rules that are left, but for those about demanded bits.
        let again = self.demanded.is_none();
        rewrite.commit(func, inst, |new| {
            if again {
                made.push(new)
            }
        });
        true
    }
}

/// What an instruction is found to be, beyond what rules say.
enum Simpler {
    /// Another value.
    Value(Value),
    /// A constant of its type.
    Constant(Constant),
    /// Another instruction with the same result.
    Inst(InstData),
    /// Two numbers of 16 bits, side by side.
    Halves([Value; 2]),
    /// A pointer and a constant, to be made.
    Moved(Value, i64),
    /// A pointer, to be made, plus a constant.
    Outward(InstData, i64),
}

impl Simpler {
    fn name(&self) -> &'static str {
        match self {
            Simpler::Constant(_) => "fold",
            Simpler::Value(_) | Simpler::Inst(_) | Simpler::Halves(_) => "canonical",
            Simpler::Moved(..) | Simpler::Outward(..) => "address",
        }
    }

    fn commit(self, func: &mut Function, inst: Inst) {
        match self {
            Simpler::Value(value) => replace_with(func, inst, value),
            Simpler::Constant(Constant::Int(value)) => {
                func.dfg.replace_inst(inst, InstData::IntConst { value })
            }
            Simpler::Constant(Constant::Float(bits)) => {
                func.dfg.replace_inst(inst, InstData::FloatConst { bits });
            }
            Simpler::Inst(data) => {
                // Operands that change places keep what was promised of the result.
                let promised = func.dfg.promised(inst) && func.dfg.opcode(inst) == data.opcode();
                func.dfg.replace_inst(inst, data);
                func.dfg.set_promised(inst, promised);
            }
            Simpler::Halves(halves) => {
                let word = join_halves(func, inst, halves);
                func.dfg.replace_inst(inst, word);
            }
            Simpler::Moved(base, by) => {
                let by = insert_before(func, inst, InstData::IntConst { value: by }, Type::I64);
                func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [base, by] });
            }
            Simpler::Outward(data, by) => {
                let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else { return };
                let base = insert_before(func, inst, data, ty);
                let by = insert_before(func, inst, InstData::IntConst { value: by }, Type::I64);
                func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [base, by] });
            }
        }
    }
}

/// Constants folded, operands in order, and the forms whose operations hold numbers that are not values.
struct Canonical<'f> {
    func: &'f Function,
    known: &'f mut KnownBits,
}

impl Canonical<'_> {
    fn apply(&mut self, inst: Inst) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        if matches!(dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. }) {
            return None;
        }
        if let Some(folded) = fold::instruction(self.func, inst, |value| self.constant(value)) {
            return Some(Simpler::Constant(folded));
        }
        match dfg[inst] {
            InstData::Binary { op, args: [a, b] } => {
                let commutes = self.func.traits(inst).contains(Traits::COMMUTATIVE);
                (commutes && self.in_wrong_order(a, b))
                    .then_some(Simpler::Inst(InstData::Binary { op, args: [b, a] }))
            }
            InstData::Ternary { op: op @ Opcode::Fma, args: [a, b, c] } => (self.in_wrong_order(a, b))
                .then_some(Simpler::Inst(InstData::Ternary { op, args: [b, a, c] })),
            InstData::IntCompare { cond, args: [a, b] } => (self.in_wrong_order(a, b))
                .then_some(Simpler::Inst(InstData::IntCompare { cond: cond.swapped(), args: [b, a] })),
            InstData::FloatCompare { cond, args: [a, b] } => (self.in_wrong_order(a, b))
                .then_some(Simpler::Inst(InstData::FloatCompare { cond: cond.swapped(), args: [b, a] })),
            InstData::Load { flags, offset, ptr } => {
                let (ptr, offset) = self.base_and_offset(flags, offset, ptr)?;
                Some(Simpler::Inst(InstData::Load { flags, offset, ptr }))
            }
            InstData::Store { flags, offset, args: [value, ptr] } => {
                // How it is aligned follows from its type if nothing else is said.
                if let Some(value) = self.bits_of(value).filter(|_| flags.explicit_align().is_some()) {
                    return Some(Simpler::Inst(InstData::Store { flags, offset, args: [value, ptr] }));
                }
                let (ptr, offset) = self.base_and_offset(flags, offset, ptr)?;
                Some(Simpler::Inst(InstData::Store { flags, offset, args: [value, ptr] }))
            }
            InstData::Index { scale, args: [ptr, index] } => self.index(scale, ptr, index),
            InstData::Extract { lane, arg } => self.extract(inst, lane, arg),
            InstData::Unary { op: Opcode::Trunc, arg } => self.truncated(inst, arg),
            InstData::Unary { op: Opcode::Bitcast, arg } => self.cast(inst, arg),
            InstData::ExtractValue { path, arg } => self.extract_value(inst, path, arg),
            InstData::Vec { args } => self.put_together(inst, args),
            _ => None,
        }
    }

    /// True for a constant in front of what is none.
    fn in_wrong_order(&self, a: Value, b: Value) -> bool {
        self.constant(a).is_some() && self.constant(b).is_none()
    }

    fn constant(&self, value: Value) -> Option<Constant> {
        matching::constant(&self.func.dfg, value)
    }

    fn int(&self, value: Value) -> Option<i64> {
        match self.constant(value)? {
            Constant::Int(value) => Some(value),
            Constant::Float(_) => None,
        }
    }

    /// The pointer and the constant of a sum of them.
    fn moved_pointer(&self, value: Value) -> Option<(Value, i64)> {
        match *self.func.dfg.def_data(value)? {
            InstData::Binary { op: Opcode::Ptradd, args: [a, b] } => {
                let b = self.func.dfg.resolve(b);
                Some((self.func.dfg.resolve(a), self.int(b)?))
            }
            _ => None,
        }
    }

    /// The address of a load or store with a constant part of its pointer moved into its offset.
    fn base_and_offset(&self, flags: MemFlags, offset: i32, ptr: Value) -> Option<(Value, i32)> {
        if flags.volatile {
            return None;
        }
        let (base, by) = self.moved_pointer(ptr)?;
        Some((base, i64::from(offset).checked_add(by)?.try_into().ok()?))
    }

    fn index(&self, scale: i32, ptr: Value, index: Value) -> Option<Simpler> {
        if let Some(constant) = self.int(index) {
            return Some(Simpler::Moved(ptr, constant.wrapping_mul(scale.into())));
        }
        // Constants outward, where loads and stores take them in.
        if let Some((base, by)) = self.moved_pointer(ptr) {
            return Some(Simpler::Outward(InstData::Index { scale, args: [base, index] }, by));
        }
        // An index is sign-extended anyway.
        let dfg = &self.func.dfg;
        match *dfg.def_data(index)? {
            InstData::Unary { op: Opcode::Sext, arg } if dfg.ty(arg) == Type::I32 => {
                Some(Simpler::Inst(InstData::Index { scale, args: [ptr, dfg.resolve(arg)] }))
            }
            _ => None,
        }
    }

    /// A part of a struct or array that was just put together.
    fn extract_value(&self, inst: Inst, path: Path, aggregate: Value) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        let ([at], InstData::Aggregate { args }) = (&dfg.paths[path][..], dfg.def_data(aggregate)?) else {
            return None;
        };
        let part = dfg.resolve(*args.as_slice(&dfg.pool).get(*at as usize)?);
        let same = dfg.first_result(inst).is_some_and(|result| dfg.ty(result) == dfg.ty(part));
        same.then_some(Simpler::Value(part))
    }

    fn extract(&mut self, inst: Inst, lane: u8, vector: Value) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        match dfg.def_data(vector)? {
            InstData::Vec { args } => {
                let element = *args.as_slice(&dfg.pool).get(usize::from(lane))?;
                Some(Simpler::Value(dfg.resolve(element)))
            }
            &InstData::Insert { lane: inserted, args: [_, element] } if inserted == lane => {
                Some(Simpler::Value(dfg.resolve(element)))
            }
            &InstData::Insert { args: [rest, _], .. } => {
                Some(Simpler::Inst(InstData::Extract { lane, arg: dfg.resolve(rest) }))
            }
            InstData::Unary { op: Opcode::Bitcast, .. } => {
                let element = dfg.ty(vector).element_type().bits();
                self.part(inst, vector, u32::from(lane) * element)
            }
            _ => None,
        }
    }

    /// A vector of all parts of another of its type, in their order.
    fn put_together(&self, inst: Inst, elements: ValueList) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        let ty = dfg.ty(dfg.first_result(inst)?);
        let whole = parts::whole(dfg, elements.as_slice(&dfg.pool), ty)?;
        (dfg.ty(whole) == ty).then_some(Simpler::Value(whole))
    }

    /// The bits of a vector that was put together of all parts of another value, which may be of another type.
    fn bits_of(&self, vector: Value) -> Option<Value> {
        let dfg = &self.func.dfg;
        let &InstData::Vec { args } = dfg.def_data(vector)? else { return None };
        let whole = parts::whole(dfg, args.as_slice(&dfg.pool), dfg.ty(vector))?;
        let is_castable = |value: Value| !dfg.ty(value).element_type().is_ptr();
        (is_castable(whole) && is_castable(vector)).then_some(whole)
    }

    fn cast(&self, inst: Inst, arg: Value) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        let whole = self.bits_of(arg)?;
        let same = dfg.ty(whole) == dfg.ty(dfg.first_result(inst)?);
        let cast = InstData::Unary { op: Opcode::Bitcast, arg: whole };
        Some(if same { Simpler::Value(whole) } else { Simpler::Inst(cast) })
    }

    /// Some bits of a vector that was made an integer, or of an element of one that others were put into.
    fn truncated(&mut self, inst: Inst, arg: Value) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        let whole = match dfg.def_data(arg)? {
            InstData::Binary { op: Opcode::Lshr, args: [x, _] } => dfg.resolve(*x),
            _ => arg,
        };
        match dfg.def_data(whole)? {
            &InstData::Unary { op: Opcode::Bitcast, arg: vector } if dfg.ty(vector).is_vector() => {
                self.part(inst, arg, 0)
            }
            InstData::Extract { .. } => self.part(inst, arg, 0),
            InstData::Binary { op: Opcode::Bor, .. } => {
                let is_word = dfg.first_result(inst).is_some_and(|result| dfg.ty(result) == Type::I32);
                let of_words = is_word && dfg.ty(arg) == Type::I64;
                of_words.then(|| parts::halves(dfg, self.known, arg)).flatten().map(Simpler::Halves)
            }
            _ => None,
        }
    }

    /// The value that another was made of from a bit on, as one of the type that an instruction gives.
    fn part(&mut self, inst: Inst, whole: Value, at: u32) -> Option<Simpler> {
        let dfg = &self.func.dfg;
        let ty = dfg.ty(dfg.first_result(inst)?);
        let part = parts::part(dfg, self.known, whole, at, ty.bits())?;
        if dfg.ty(part) == ty {
            return Some(Simpler::Value(part));
        }
        let castable = !ty.is_ptr() && !dfg.ty(part).is_ptr();
        castable.then_some(Simpler::Inst(InstData::Unary { op: Opcode::Bitcast, arg: part }))
    }
}
