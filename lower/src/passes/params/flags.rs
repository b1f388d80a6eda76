//! A parameter that is one constant where a condition holds and another where it does not: `done = c ? 1 : 0` of two ways that meet again. It is a
//! `select` of the condition, which a branch on the flag folds with, and the ways stay as they are.

use super::replace;
use crate::analysis::Cfg;
use crate::passes::insert_before;
use warpsmith_ir::{Block, DominatorTree, Function, InstData, Opcode, Value};

/// Replaces such parameters, and says how many.
pub(super) fn run(func: &mut Function, cfg: &Cfg, dominators: &DominatorTree) -> u32 {
    let mut changes = 0;
    for &block in cfg.reverse_postorder().iter().skip(1) {
        let mut n = 0;
        while n < func.dfg.block_params(block).len() {
            match flag(func, cfg, dominators, block, n) {
                Some((cond, numbers)) => {
                    let Some(first) = func.layout.first_inst(block) else { break };
                    let ty = func.dfg.ty(func.dfg.block_params(block)[n]);
                    let [yes, no] =
                        numbers.map(|value| insert_before(func, first, InstData::IntConst { value }, ty));
                    let select = InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] };
                    let value = insert_before(func, first, select, ty);
                    replace(func, cfg, block, n, value, false);
                    changes += 1;
                }
                None => n += 1,
            }
        }
    }
    changes
}

/// The condition that decides what the n-th parameter of a block is, and what it is where that holds and where it does not.
fn flag(
    func: &Function,
    cfg: &Cfg,
    dominators: &DominatorTree,
    block: Block,
    n: usize,
) -> Option<(Value, [i64; 2])> {
    let ty = func.dfg.ty(func.dfg.block_params(block)[n]);
    if !ty.is_int() || ty.is_vector() || ty.bits() > 64 {
        return None;
    }
    let from = dominators.idom(block)?;
    let InstData::Brif { cond, dests } = &func.dfg[func.terminator(from)?] else { return None };
    let mut numbers = [None; 2];
    for (pred, side) in cfg.edges(block) {
        let target = func.dfg.target(func.terminator(pred)?, side)?;
        let number = func.dfg.int_const(*target.args(&func.dfg.pool).get(n)?)?;
        let side = if pred == from {
            side
        } else {
            // Only the branch leads to the side, so that its condition is what it was there.
            let lies_on =
                |to: Block| to != block && cfg.predecessors(to).len() == 1 && dominators.dominates(to, pred);
            dests.iter().position(|dest| lies_on(dest.block))?
        };
        if numbers[side].replace(number).is_some_and(|other| other != number) {
            return None;
        }
    }
    let [yes, no] = numbers;
    let numbers = [yes?, no?];
    (numbers[0] != numbers[1]).then_some((*cond, numbers))
}
