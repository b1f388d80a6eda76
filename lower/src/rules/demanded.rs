//! Demanded bits: which bits of an integer some user reads. A rule about them may change the others.
//!
//! Found by one walk from the ends of blocks to their starts; what passes between blocks as an argument is demanded as a whole. A sweep
//! that applies rules about demanded bits must apply no others: one that has looked at a value's bits may have seen those that change.
//! `lower/tests/proof.rs` executes [`operand`] at 4 bits.

use super::known::mask;
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Block, DataFlowGraph, Function, Inst, InstData, Opcode, Type, Value};

/// The demanded bits of a function's values.
#[derive(Debug)]
pub struct Demanded {
    bits: SecondaryMap<Value, u64>,
}

impl Demanded {
    /// The demanded bits of a function, whose blocks are given so that dominators come first.
    pub fn compute(func: &Function, order: &[Block]) -> Demanded {
        let dfg = &func.dfg;
        let mut found = Demanded { bits: SecondaryMap::new() };
        found.bits.resize(dfg.num_values());
        for &block in order.iter().rev() {
            let mut next = func.layout.last_inst(block);
            while let Some(inst) = next {
                next = func.layout.prev_inst(inst);
                let demanded = dfg.first_result(inst).map(|result| (found.bits[result], dfg.ty(result)));
                let demanded = demanded.filter(|(_, ty)| is_small_int(*ty) && dfg.results(inst).len() == 1);
                match (&dfg[inst], demanded) {
                    (InstData::Unary { op, arg }, Some((bits, ty))) => {
                        found.reads(dfg, (*op, 0), *arg, (bits, ty), None);
                    }
                    (&InstData::Binary { op, args: [a, b] }, Some((bits, ty))) => {
                        found.reads(dfg, (op, 0), a, (bits, ty), dfg.int_const(b));
                        found.reads(dfg, (op, 1), b, (bits, ty), dfg.int_const(a));
                    }
                    (&InstData::Ternary { op: op @ Opcode::Select, args }, Some((bits, ty))) => {
                        args.iter()
                            .enumerate()
                            .for_each(|(n, arg)| found.reads(dfg, (op, n), *arg, (bits, ty), None));
                    }
                    _ => dfg.for_each_use(inst, |value| found.bits[dfg.resolve(value)] = u64::MAX),
                }
            }
        }
        found
    }

    /// True if not every bit of an instruction's result is read: else no rule about demanded bits applies to it.
    pub fn is_in_part(&self, dfg: &DataFlowGraph, inst: Inst) -> bool {
        dfg.first_result(inst).is_some_and(|result| {
            let all = mask(dfg.ty(result).bits().clamp(1, 64));
            self.bits[result] & all != all
        })
    }

    /// The bits of a value that users read.
    pub fn of(&self, value: Value) -> u64 {
        self.bits[value]
    }

    /// A use of a value as an operand in a place, of which bits of the result are demanded.
    fn reads(
        &mut self,
        dfg: &DataFlowGraph,
        (op, n): (Opcode, usize),
        arg: Value,
        (demanded, ty): (u64, Type),
        other: Option<i64>,
    ) {
        let arg = dfg.resolve(arg);
        let from = dfg.ty(arg);
        let bits = match is_small_int(from) {
            true => {
                operand(op, ty.bits(), from.bits(), n, demanded & mask(ty.bits()), other.map(|c| c as u64))
            }
            false => u64::MAX,
        };
        self.bits[arg] |= bits;
    }
}

fn is_small_int(ty: Type) -> bool {
    ty.is_int() && ty.bits() <= 64
}

/// The bits of the operand in place `n`, of `from` bits, that decide the demanded bits of the result. `other` is the other operand of two
/// where that is a constant.
pub fn operand(op: Opcode, bits: u32, from: u32, n: usize, demanded: u64, other: Option<u64>) -> u64 {
    if demanded == 0 && op != Opcode::Select {
        return 0;
    }
    let all = mask(bits);
    let below = mask(64 - demanded.leading_zeros().min(63));
    let amount = other.filter(|c| n == 0 && *c < u64::from(bits));
    match (op, amount) {
        (Opcode::Band, _) => demanded & other.unwrap_or(u64::MAX),
        (Opcode::Bor, _) => demanded & !other.unwrap_or(0),
        (Opcode::Bxor | Opcode::Bnot, _) => demanded,
        (Opcode::Select, _) => {
            if n == 0 {
                1
            } else {
                demanded
            }
        }
        // Carries go upward.
        (Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Ineg, _) => below & all,
        (Opcode::Shl, Some(by)) => demanded >> by,
        (Opcode::Lshr, Some(by)) => demanded << by & all,
        (Opcode::Ashr, Some(by)) => {
            let copies = demanded & all & !(all >> by) != 0;
            demanded << by & all | if copies { 1 << (bits - 1) } else { 0 }
        }
        (Opcode::Trunc | Opcode::Zext, _) => demanded & mask(from),
        (Opcode::Sext, _) => {
            let copies = demanded & !mask(from) != 0;
            demanded & mask(from) | if copies { 1 << (from - 1) } else { 0 }
        }
        _ => u64::MAX,
    }
}
