//! Known bits: which bits of an integer are 0 or 1 however the program runs.
//!
//! A value is looked at when something is asked about it, and what it is made of then, to a bounded depth; what was found is kept. Rewrites
//! replace values by equal ones, so it goes on to hold. An `assume` that follows the definition of its value, where nothing can end the thread between the two, says what is
//! known wherever the value is.
//! `lower/tests/proof.rs` executes [`transfer`] on every pair of known bits at 4 bits.

use crate::analysis::align::alignment_in_function;
use cranelift_entity::{EntityRef, SecondaryMap};
use warpsmith_ir::{
    DataFlowGraph, Function, Inst, InstData, IntCC, Opcode, Sreg, StackSlot, Traits, Type, Value,
};
use warpsmith_isa::limits;

/// What is known of a value's bits. Those above its width are known to be 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// The bits that are 0, within the width.
    pub zeros: u64,
    /// The bits that are 1.
    pub ones: u64,
}

/// All bits of a width.
pub const fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

impl Known {
    /// Nothing.
    pub const NOTHING: Known = Known { zeros: 0, ones: 0 };

    /// All bits, of a number of a width.
    pub const fn constant(bits: u32, value: u64) -> Known {
        Known { zeros: !value & mask(bits), ones: value & mask(bits) }
    }

    /// What is known of a number that is at most that.
    pub const fn at_most(bits: u32, limit: u64) -> Known {
        let used = 64 - limit.leading_zeros();
        let below = if used == 0 { 0 } else { mask(used) };
        Known { zeros: mask(bits) & !below, ones: 0 }
    }

    /// The greatest number that it can be.
    pub const fn max(self, bits: u32) -> u64 {
        mask(bits) & !self.zeros
    }

    /// What holds whichever of two it is.
    const fn either(self, other: Known) -> Known {
        Known { zeros: self.zeros & other.zeros, ones: self.ones & other.ones }
    }

    /// What is known of a value that both describe.
    const fn and(self, other: Known) -> Known {
        Known { zeros: self.zeros | other.zeros, ones: self.ones | other.ones }
    }
}

/// The known bits of a function's values.
#[derive(Debug)]
pub struct KnownBits {
    /// The place in `found` of what is known of each value, plus one: of most nothing is asked.
    places: SecondaryMap<Value, u32>,
    found: Vec<Known>,
    /// What is assumed of values, and the conditions that say so.
    assumed: Vec<(Value, Known)>,
    conditions: Vec<Value>,
    /// The alignment of stack slots, and of those parameters of which the caller promises one.
    slots: Vec<u32>,
    aligned: Vec<(Value, u32)>,
}

/// How far the operands of operands are looked at.
pub(crate) const DEPTH: u32 = 6;

impl Default for KnownBits {
    fn default() -> Self {
        KnownBits {
            places: SecondaryMap::new(),
            found: Vec::new(),
            assumed: Vec::new(),
            conditions: Vec::new(),
            slots: Vec::new(),
            aligned: Vec::new(),
        }
    }
}

impl KnownBits {
    /// With what the function's `assume`s say, which are given, and what its branches give to block parameters.
    pub fn of_function(func: &Function, assumes: impl IntoIterator<Item = Inst>) -> KnownBits {
        let mut known = KnownBits::default();
        known.places.resize(func.dfg.num_values());
        known.parameters(func);
        known.slots.extend(func.stack_slots.values().map(|slot| slot.align));
        let values = func.layout.entry().map_or(&[][..], |entry| func.dfg.block_params(entry));
        for (value, param) in values.iter().zip(&func.params) {
            let align = param.byval.map(|(_, align)| align).or(param.attrs.align);
            known.aligned.extend(align.map(|align| (*value, align)));
        }
        assumes.into_iter().for_each(|inst| known.assume(func, inst));
        known
    }

    /// True for a condition that says what is known: if it were folded by that, nobody would know any more.
    pub fn is_assumed(&self, dfg: &DataFlowGraph, value: Value) -> bool {
        !self.conditions.is_empty() && self.conditions.contains(&dfg.resolve(value))
    }

    /// Notes what is known of block parameters that are given constants, and themselves and a constant: counters. Of these the bits below those of all
    /// steps never change.
    fn parameters(&mut self, func: &Function) {
        let dfg = &func.dfg;
        // What each parameter is given: a list through `edges` from the last, whose number is noted plus one.
        let mut last: SecondaryMap<Value, u32> = SecondaryMap::new();
        let mut edges: Vec<(Value, u32)> = Vec::new();
        last.resize(dfg.num_values());
        for end in func.layout.blocks().filter_map(|block| func.terminator(block)) {
            for call in dfg.targets(end).filter(|call| Some(call.block) != func.layout.entry()) {
                for (param, arg) in dfg.given(call) {
                    if is_small_int(dfg.ty(param)) {
                        edges.push((dfg.resolve(arg), last[param]));
                        last[param] = edges.len() as u32;
                    }
                }
            }
        }
        let given = |param: Value| {
            let edge = |number: u32| number.checked_sub(1).and_then(|n| edges.get(n as usize));
            std::iter::successors(edge(last[param]), move |(_, before)| edge(*before)).map(|(arg, _)| *arg)
        };
        // What is given to the one that a parameter is given, through blocks that only one edge leads to.
        let source = |mut arg: Value| {
            for _ in 0..DEPTH {
                let mut args = given(arg);
                let (Some(from), None) = (args.next(), args.next()) else { break };
                arg = from;
            }
            arg
        };
        for &param in func.layout.blocks().flat_map(|block| dfg.block_params(block)) {
            let mut all = Given::default();
            given(param).for_each(|arg| all.add(dfg, param, source(arg)));
            let known = all.known();
            if known != Known::NOTHING {
                self.keep(param, known);
            }
        }
    }

    /// Notes what `assume (v < c)` says of `v`.
    fn assume(&mut self, func: &Function, inst: Inst) {
        let dfg = &func.dfg;
        let condition = dfg.resolve(dfg.args(inst)[0]);
        let Some(&InstData::IntCompare { cond, args: [value, limit] }) = dfg.def_data(condition) else {
            return;
        };
        let value = dfg.resolve(value);
        let (ty, limit) = (dfg.ty(value), dfg.int_const(limit));
        let (true, Some(limit)) = (is_small_int(ty), limit) else { return };
        let limit = limit as u64 & mask(ty.bits());
        let greatest = match cond {
            IntCC::Ult => limit.checked_sub(1),
            IntCC::Ule => Some(limit),
            IntCC::Eq
            | IntCC::Ne
            | IntCC::Slt
            | IntCC::Sle
            | IntCC::Sgt
            | IntCC::Sge
            | IntCC::Ugt
            | IntCC::Uge => None,
        };
        let Some(greatest) = greatest else { return };
        // It is true of the value wherever that is only if nothing comes between the two that may not go on.
        let block = func.layout.block_of(inst);
        let definition = dfg.def_inst(value);
        let of_block = match definition {
            Some(definition) => func.layout.block_of(definition) == block,
            None => block.is_some_and(|block| dfg.block_params(block).contains(&value)),
        };
        if !of_block {
            return;
        }
        let mut before = func.layout.prev_inst(inst);
        while let Some(one) = before.filter(|one| Some(*one) != definition) {
            if func.traits(one).contains(Traits::SIDE_EFFECT) && dfg.opcode(one) != Opcode::Assume {
                return;
            }
            before = func.layout.prev_inst(one);
        }
        self.assumed.push((value, Known::at_most(ty.bits(), greatest)));
        self.conditions.push(condition);
    }

    /// What is known of a value. `None` for those that are not integers of up to 64 bits.
    pub fn of(&mut self, dfg: &DataFlowGraph, value: Value) -> Option<Known> {
        let ty = dfg.ty(value);
        (ty.is_int() && ty.bits() <= 64).then(|| self.find(dfg, value, DEPTH))
    }

    /// What is known of a value from what it is made of to a depth: nothing of those that are not integers of up to 64 bits.
    pub(crate) fn find_to_depth(&mut self, dfg: &DataFlowGraph, value: Value, depth: u32) -> Known {
        self.find(dfg, value, depth)
    }

    /// The alignment of a stack slot: 1 of those that were made since.
    pub(crate) fn slot_alignment(&self, slot: StackSlot) -> u32 {
        self.slots.get(slot.index()).copied().unwrap_or(1)
    }

    /// The alignment that the caller promises of a parameter.
    pub(crate) fn parameter_alignment(&self, value: Value) -> u32 {
        self.aligned.iter().find(|(param, _)| *param == value).map_or(1, |(_, align)| *align)
    }

    fn keep(&mut self, value: Value, known: Known) {
        self.found.push(known);
        self.places[value] = self.found.len() as u32;
    }

    fn find(&mut self, dfg: &DataFlowGraph, value: Value, depth: u32) -> Known {
        let value = dfg.resolve(value);
        if let Some(place) = self.places[value].checked_sub(1) {
            return self.found[place as usize];
        }
        let ty = dfg.ty(value);
        if !ty.is_int() || ty.bits() > 64 {
            return Known::NOTHING;
        }
        if depth == 0 {
            // Not kept: from nearer more may be seen.
            return Known::NOTHING;
        }
        let bits = ty.bits();
        let known = match dfg.def_data(value) {
            Some(&InstData::IntConst { value }) => Known::constant(bits, value as u64),
            Some(&InstData::Sreg { reg }) => special_register(bits, reg),
            Some(&InstData::Unary { op: Opcode::Ptrtoint, arg }) => {
                let align = alignment_in_function(dfg, self, arg, depth - 1);
                Known { zeros: u64::from(align - 1) & mask(bits), ones: 0 }
            }
            Some(&InstData::Unary { op, arg }) => {
                let from = dfg.ty(arg);
                let arg = self.find(dfg, arg, depth - 1);
                if from.is_int() && from.bits() <= 64 {
                    transfer(op, bits, from.bits(), &[arg])
                } else {
                    Known::NOTHING
                }
            }
            Some(&InstData::Binary { op, args }) if args.iter().all(|arg| is_small_int(dfg.ty(*arg))) => {
                let known = args.map(|arg| self.find(dfg, arg, depth - 1));
                transfer(op, bits, bits, &known)
            }
            Some(&InstData::Ternary { op: Opcode::Select, args: [_, yes, no] }) => {
                let known = [yes, no].map(|arg| self.find(dfg, arg, depth - 1));
                transfer(Opcode::Select, bits, bits, &[Known::NOTHING, known[0], known[1]])
            }
            _ => Known::NOTHING,
        };
        let assumed = self.assumed.iter().filter(|(of, _)| *of == value);
        let known = assumed.fold(known, |known, (_, assumed)| known.and(*assumed));
        // Nothing found near the limit may be something from nearer; keeping it from further up bounds the time.
        if known != Known::NOTHING || depth > DEPTH / 2 {
            self.keep(value, known);
        }
        known
    }
}

/// What branches give to a block parameter.
struct Given {
    /// What holds for all constants.
    known: Option<Known>,
    /// The bits that keep what the constants make them.
    kept: u64,
}

impl Default for Given {
    fn default() -> Self {
        Given { known: None, kept: u64::MAX }
    }
}

impl Given {
    fn known(&self) -> Known {
        let known = self.known.unwrap_or(Known::NOTHING);
        Known { zeros: known.zeros & self.kept, ones: known.ones & self.kept }
    }

    fn add(&mut self, dfg: &DataFlowGraph, param: Value, arg: Value) {
        if self.kept == 0 || arg == param {
            return;
        }
        match dfg.def_data(arg) {
            Some(&InstData::IntConst { value }) => {
                let constant = Known::constant(dfg.ty(param).bits(), value as u64);
                self.known = Some(self.known.map_or(constant, |known| known.either(constant)));
            }
            Some(&InstData::Binary { op: Opcode::Iadd | Opcode::Isub, args: [from, by] })
                if dfg.resolve(from) == param =>
            {
                let low = dfg.int_const(dfg.resolve(by)).map_or(0, i64::trailing_zeros);
                self.kept &= 1u64.unbounded_shl(low).wrapping_sub(1);
            }
            _ => self.kept = 0,
        }
    }
}

fn is_small_int(ty: Type) -> bool {
    ty.is_int() && ty.bits() <= 64
}

/// What is known of a special register.
pub(crate) fn special_register(bits: u32, reg: Sreg) -> Known {
    let threads = [
        (Sreg::TID_X, Sreg::NTID_X, limits::BLOCK[0]),
        (Sreg::TID_Y, Sreg::NTID_Y, limits::BLOCK[1]),
        (Sreg::TID_Z, Sreg::NTID_Z, limits::BLOCK[2]),
    ];
    for (number, count, limit) in threads {
        if reg == number {
            return Known::at_most(bits, u64::from(limit) - 1);
        }
        if reg == count {
            return Known::at_most(bits, limit.into());
        }
    }
    let blocks = [
        (Sreg::CTAID_X, Sreg::NCTAID_X, limits::GRID[0]),
        (Sreg::CTAID_Y, Sreg::NCTAID_Y, limits::GRID[1]),
        (Sreg::CTAID_Z, Sreg::NCTAID_Z, limits::GRID[2]),
    ];
    for (number, count, limit) in blocks {
        if reg == number {
            return Known::at_most(bits, u64::from(limit) - 1);
        }
        if reg == count {
            return Known::at_most(bits, limit.into());
        }
    }
    match reg == Sreg::LANEID {
        true => Known::at_most(bits, 31),
        false => Known::NOTHING,
    }
}

/// The known bits of a sum with a carry.
fn sum(bits: u32, a: Known, b: Known, carry: u64) -> Known {
    let all = mask(bits);
    // The greatest and the least sum: where both agree on what is carried in and the operands are known, so is the sum.
    let greatest = (!a.zeros & all).wrapping_add(!b.zeros & all).wrapping_add(carry);
    let least = a.ones.wrapping_add(b.ones).wrapping_add(carry);
    let carried_zero = !(greatest ^ !a.zeros & all ^ !b.zeros & all);
    let carried_one = least ^ a.ones ^ b.ones;
    let known = (a.zeros | a.ones) & (b.zeros | b.ones) & (carried_zero | carried_one) & all;
    Known { zeros: !least & known, ones: least & known }
}

/// What an operation makes of what is known of its operands, the first of which has `from` bits.
pub fn transfer(op: Opcode, bits: u32, from: u32, args: &[Known]) -> Known {
    let all = mask(bits);
    let unary = |args: &[Known]| args.first().copied().unwrap_or(Known::NOTHING);
    let (a, b) = (unary(args), args.get(1).copied().unwrap_or(Known::NOTHING));
    let exact = |known: Known, bits: u32| (known.zeros | known.ones == mask(bits)).then_some(known.ones);
    let amount = || exact(b, 32).filter(|n| *n < u64::from(bits)).map(|n| n as u32);
    let trailing = |known: Known| known.zeros.trailing_ones();
    // A shift by an amount that is known is that of the known bits.
    match op {
        Opcode::Band => Known { zeros: a.zeros | b.zeros, ones: a.ones & b.ones },
        Opcode::Bor => Known { zeros: a.zeros & b.zeros, ones: a.ones | b.ones },
        Opcode::Bxor => {
            Known { zeros: a.zeros & b.zeros | a.ones & b.ones, ones: a.zeros & b.ones | a.ones & b.zeros }
        }
        Opcode::Bnot => Known { zeros: a.ones, ones: a.zeros },
        Opcode::Iadd => sum(bits, a, b, 0),
        Opcode::Isub => sum(bits, a, Known { zeros: b.ones, ones: b.zeros }, 1),
        Opcode::Ineg => sum(bits, Known::constant(bits, 0), Known { zeros: a.ones, ones: a.zeros }, 1),
        Opcode::Imul => {
            let low = trailing(a).saturating_add(trailing(b)).min(bits);
            let low = Known { zeros: if low == 0 { 0 } else { mask(low) }, ones: 0 };
            match a.max(bits).checked_mul(b.max(bits)).filter(|product| *product <= all) {
                Some(limit) => low.and(Known::at_most(bits, limit)),
                None => low,
            }
        }
        Opcode::Umulhi if bits <= 32 => Known::at_most(bits, (a.max(bits) * b.max(bits)) >> bits),
        Opcode::Udiv => match exact(b, bits) {
            Some(divisor @ 1..) => Known::at_most(bits, a.max(bits) / divisor),
            Some(0) | None => Known::NOTHING,
        },
        Opcode::Urem => match exact(b, bits) {
            Some(divisor @ 1..) => Known::at_most(bits, a.max(bits).min(divisor - 1)),
            Some(0) | None => Known::NOTHING,
        },
        Opcode::Umin => a.either(b).and(Known::at_most(bits, a.max(bits).min(b.max(bits)))),
        Opcode::Umax => a.either(b),
        Opcode::Smin | Opcode::Smax => a.either(b),
        Opcode::Select => b.either(args.get(2).copied().unwrap_or(Known::NOTHING)),
        Opcode::Shl => match amount() {
            Some(n) => Known { zeros: (a.zeros << n | ((1 << n) - 1)) & all, ones: a.ones << n & all },
            None => {
                let low = trailing(a).min(bits);
                Known { zeros: if low == 0 { 0 } else { mask(low) }, ones: 0 }
            }
        },
        Opcode::Lshr => match amount() {
            Some(n) => Known { zeros: all & !(all >> n) | a.zeros >> n, ones: a.ones >> n },
            None => Known::at_most(bits, a.max(bits)),
        },
        Opcode::Ashr => {
            let sign = 1u64 << (bits - 1);
            let Some(n) = amount() else {
                return Known {
                    zeros: if a.zeros & sign != 0 { Known::at_most(bits, a.max(bits)).zeros } else { 0 },
                    ones: 0,
                };
            };
            let above = all & !(all >> n);
            let filled = |known: u64| known >> n | if known & sign != 0 { above } else { 0 };
            Known { zeros: filled(a.zeros), ones: filled(a.ones) }
        }
        Opcode::Popcnt | Opcode::Clz | Opcode::Ctz if u64::from(bits) <= all => {
            let limit = if op == Opcode::Popcnt { a.max(bits).count_ones() } else { bits };
            Known::at_most(bits, limit.into())
        }
        Opcode::Trunc => Known { zeros: a.zeros & all, ones: a.ones & all },
        Opcode::Zext => Known { zeros: a.zeros | all & !mask(from), ones: a.ones },
        Opcode::Sext => {
            let sign = 1u64 << (from - 1);
            let above = all & !mask(from);
            let filled = |known: u64| known | if known & sign != 0 { above } else { 0 };
            Known { zeros: filled(a.zeros), ones: filled(a.ones) }
        }
        _ => Known::NOTHING,
    }
}
