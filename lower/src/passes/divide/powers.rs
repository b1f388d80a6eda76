//! Division by what is a power of two, though not a constant: `1 << k`, or `s` of a loop that starts with 1 and doubles it. It is a shift or a mask.

use super::Code;
use crate::analysis::{Cfg, Ranges};
use crate::pass::Context;
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};

/// Values that are followed to where powers of two come from.
const MAX_VALUES: usize = 16;

/// Replaces divisions that are promised not to be by 0; says how many.
pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let mut found: Vec<(Block, Inst)> = Vec::new();
    for block in func.layout.blocks() {
        let insts = func.layout.insts(block).filter(|&inst| func.dfg.nonzero_divisor(inst));
        found.extend(insts.map(|inst| (block, inst)));
    }
    if found.is_empty() {
        return 0;
    }
    let cfg = cx.analyses.get::<Cfg>(func);
    found.retain(|&(_, inst)| {
        let [_, by] = operands(func, inst);
        func.dfg.int_const(by).is_none() && Powers { func, cfg: &cfg, followed: SmallVec::new() }.of(by)
    });
    if found.is_empty() {
        return 0;
    }
    let ranges = cx.analyses.get::<Ranges>(func);
    let mut changes = 0;
    for (block, inst) in found {
        let [x, by] = operands(func, inst);
        let ty = func.dfg.ty(x);
        let op = func.dfg.opcode(inst);
        // Of the powers, the one that is negative when read with a sign has a quotient of 0, as without.
        let natural = || ranges.at(func, x, block).is_some_and(|range| range.is_natural());
        let signed = matches!(op, Opcode::Sdiv | Opcode::Srem);
        if !matches!(ty, Type::I32 | Type::I64) || signed && !natural() {
            continue;
        }
        let mut code = Code { func, before: inst, ty };
        let result = if matches!(op, Opcode::Urem | Opcode::Srem) {
            let ones = code.constant(-1);
            let mask = code.binary(Opcode::Iadd, by, ones);
            code.binary(Opcode::Band, x, mask)
        } else if let Some(shift) = shift(func, by) {
            let data = InstData::Binary { op: Opcode::Lshr, args: [x, shift] };
            super::insert_before(func, inst, data, ty)
        } else {
            continue;
        };
        crate::passes::replace_with(func, inst, result);
        changes += 1;
    }
    changes
}

fn operands(func: &Function, inst: Inst) -> [Value; 2] {
    match func.dfg[inst] {
        InstData::Binary { args, .. } => args.map(|arg| func.dfg.resolve(arg)),
        _ => unreachable!("divisions are binary"),
    }
}

/// By how many bits 1 is shifted.
fn shift(func: &Function, value: Value) -> Option<Value> {
    match func.dfg.def_data(value) {
        Some(&InstData::Binary { op: Opcode::Shl, args: [one, by] })
            if func.dfg.int_const(one) == Some(1) =>
        {
            Some(by)
        }
        _ => None,
    }
}

/// Which values are powers of two, or 0.
struct Powers<'f> {
    func: &'f Function,
    cfg: &'f Cfg,
    /// Parameters that are taken for powers until the contrary is met: if all that they are given is one then, they are.
    followed: SmallVec<[Value; MAX_VALUES]>,
}

impl Powers<'_> {
    fn of(&mut self, value: Value) -> bool {
        let dfg = &self.func.dfg;
        let value = dfg.resolve(value);
        if self.followed.contains(&value) {
            return true;
        }
        if self.followed.len() == MAX_VALUES {
            return false;
        }
        self.followed.push(value);
        match dfg.def(value) {
            ValueDef::Param(block, n) => self.of_param(block, n as usize),
            ValueDef::Alias(_) | ValueDef::Detached => false,
            ValueDef::Result(..) => match dfg.def_data(value) {
                Some(&InstData::IntConst { value: number }) => {
                    let bits = number as u64 & (u64::MAX >> (64 - dfg.ty(value).bits().clamp(1, 64)));
                    bits.is_power_of_two() || bits == 0
                }
                Some(&InstData::Binary { op: Opcode::Shl | Opcode::Lshr, args: [x, _] }) => self.of(x),
                Some(&InstData::Binary { op: Opcode::Imul, args: [x, y] }) => self.of(x) && self.of(y),
                Some(&InstData::Unary { op: Opcode::Zext | Opcode::Trunc, arg }) => self.of(arg),
                Some(&InstData::Ternary { op: Opcode::Select, args: [_, x, y] }) => self.of(x) && self.of(y),
                _ => false,
            },
        }
    }

    fn of_param(&mut self, block: Block, n: usize) -> bool {
        let mut any = false;
        let edges: SmallVec<[(Block, usize); 4]> = self.cfg.edges(block).collect();
        for (pred, side) in edges {
            let branch = self.func.terminator(pred);
            let target = branch.and_then(|branch| self.func.dfg.target(branch, side));
            let Some(&arg) = target.and_then(|call| call.args(&self.func.dfg.pool).get(n)) else {
                return false;
            };
            any = true;
            if !self.of(arg) {
                return false;
            }
        }
        any
    }
}
