//! Two branches in a row of which each may lead to the same place become one, on both conditions: `if (x < n && y < n)` decides once.
//!
//! What the second block computes is computed though it may not be wanted, as in [`super::ifconvert`]: a few cheap operations, which are total. Loads
//! stay behind their branch. Threads that would have parted at the first branch to meet again do not, and a loop that is left at two places
//! for one is left at one, so that it can be rotated.
//!
//! What a branch gives on of its own condition is a constant on either edge, and the same then as what the other branch gives: `bool in = x >= 0 && x < n`.

use super::ifconvert::{args, cost, same};
use super::insert_before;
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use warpsmith_ir::{Block, BlockCall, Function, InstData, Opcode, Type, Value};

/// Operations of a second block, the condition among them, that are computed though they may not be wanted.
const MAX_OPERATIONS: usize = 5;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut gone: EntitySet<Block> = EntitySet::new();
    let mut changes: u32 = cfg.reverse_postorder().iter().map(|&block| decide_arguments(func, block)).sum();
    for &block in cfg.reverse_postorder() {
        // What a block has taken in leads on to the next. A block that is gone was the only way to where it led, and so is the one that took it in.
        while !gone.contains(block)
            && let Some(plan) = Plan::of(func, &cfg, block)
        {
            gone.extend([Some(plan.second), plan.passed].into_iter().flatten());
            plan.carry_out(func, block);
            changes += 1;
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_all(changes)
}

/// What a branch gives on of its own condition are the constants that it is on either edge. Says how many.
fn decide_arguments(func: &mut Function, block: Block) -> u32 {
    let Some(branch) = func.terminator(block) else { return 0 };
    let InstData::Brif { cond, dests } = &func.dfg[branch] else { return 0 };
    let cond = *cond;
    let given = dests.iter().any(|dest| dest.args(&func.dfg.pool).contains(&cond));
    if !given || func.dfg.int_const(cond).is_some() {
        return 0;
    }
    let constants = [true, false].map(|holds| {
        let data = InstData::IntConst { value: Type::I1.normalize(i64::from(holds)) };
        insert_before(func, branch, data, Type::I1)
    });
    let (mut changes, mut n) = (0, 0);
    func.dfg.for_each_target_mut(branch, |call, pool| {
        for arg in call.args.as_mut_slice(pool).iter_mut().filter(|arg| **arg == cond) {
            *arg = constants[n];
            changes += 1;
        }
        n += 1;
    });
    changes
}

/// A branch, and another one at one of its targets that may lead to its other target too.
struct Plan {
    second: Block,
    /// The block by which that one leads to the shared target, if one is between them.
    passed: Option<Block>,
    /// Which targets lead to the second block, and from there elsewhere.
    on: [usize; 2],
}

impl Plan {
    fn of(func: &Function, cfg: &Cfg, block: Block) -> Option<Plan> {
        let InstData::Brif { dests: first, .. } = &func.dfg[func.terminator(block)?] else { return None };
        if first[0].block == first[1].block {
            return None;
        }
        (0..2).find_map(|to_second| {
            let (second, shared) = (first[to_second].block, &first[1 - to_second]);
            let alone = cfg.predecessors(second).len() == 1 && func.layout.entry() != Some(second);
            if !alone || second == block {
                return None;
            }
            let branch = func.terminator(second)?;
            let InstData::Brif { dests: next, .. } = &func.dfg[branch] else { return None };
            let shared = Onward::of(func, cfg, shared);
            let [yes, no] = [0, 1].map(|n| Onward::of(func, cfg, &next[n]).is_as(func, &shared));
            let onward = match [yes, no] {
                [false, true] => 0,
                [true, false] => 1,
                [true, true] | [false, false] => return None,
            };
            let mut size = 0;
            for inst in func.layout.insts(second).filter(|&inst| inst != branch) {
                size += cost(func, inst)?;
                if size > MAX_OPERATIONS {
                    return None;
                }
            }
            let way = &next[1 - onward];
            let passed = passes_constants(func, cfg, way.block).map(|_| way.block);
            Some(Plan { second, passed, on: [to_second, onward] })
        })
    }

    fn carry_out(self, func: &mut Function, block: Block) {
        let Plan { second, passed, on: [to_second, onward] } = self;
        let (Some(branch), Some(end)) = (func.terminator(block), func.terminator(second)) else { return };
        let (InstData::Brif { cond: first, dests }, InstData::Brif { cond: then, dests: next }) =
            (func.dfg[branch].clone(), func.dfg[end].clone())
        else {
            return;
        };
        let given = args(func, &dests[to_second]);
        let params = func.dfg.block_params(second).to_vec();
        for (n, (param, arg)) in params.into_iter().zip(given).enumerate().rev() {
            super::take_over_name(func, param, arg);
            func.dfg.remove_block_param(second, n);
            func.dfg.replace_value(param, arg);
        }
        for inst in func.layout.insts(second).filter(|&inst| inst != end).collect::<Vec<_>>() {
            func.layout.remove_inst(inst);
            func.layout.insert_inst_before(inst, branch);
        }
        let [first, then] = [first, then].map(|cond| func.dfg.resolve(cond));
        let logic = |func: &mut Function, op, args: [Value; 2]| {
            insert_before(func, branch, InstData::Binary { op, args }, Type::I1)
        };
        let not = |func: &mut Function, arg| {
            insert_before(func, branch, InstData::Unary { op: Opcode::Bnot, arg }, Type::I1)
        };
        // Where the first branch leads to the second block if its condition holds, both have to; else either leads to the shared target.
        let (cond, onward_first) = match (to_second, onward) {
            (0, 0) => (logic(func, Opcode::Band, [first, then]), true),
            (0, _) => {
                let then = not(func, then);
                (logic(func, Opcode::Band, [first, then]), true)
            }
            (_, 0) => {
                let then = not(func, then);
                (logic(func, Opcode::Bor, [first, then]), false)
            }
            (..) => (logic(func, Opcode::Bor, [first, then]), false),
        };
        let (shared, far): (BlockCall, BlockCall) = (dests[1 - to_second].clone(), next[onward].clone());
        // The lists of arguments pass to the branch that stays.
        [Some(second), passed].into_iter().flatten().for_each(|block| func.layout.remove_block(block));
        let dests = if onward_first { [far, shared] } else { [shared, far] };
        func.dfg.replace_inst(branch, InstData::Brif { cond, dests });
    }
}

/// Where an edge leads, past a block that only passes constants on.
struct Onward {
    block: Block,
    given: SmallVec<[Value; 4]>,
}

impl Onward {
    fn of(func: &Function, cfg: &Cfg, call: &BlockCall) -> Onward {
        let past = passes_constants(func, cfg, call.block);
        let call = past.unwrap_or(call);
        Onward { block: call.block, given: args(func, call) }
    }

    /// Whether two edges lead to the same place with the same values.
    fn is_as(&self, func: &Function, other: &Onward) -> bool {
        self.block == other.block && self.given.iter().zip(&other.given).all(|(&a, &b)| same(func, a, b))
    }
}

/// The jump of a block that has one way in and holds nothing but a few constants beside it.
fn passes_constants<'f>(func: &'f Function, cfg: &Cfg, block: Block) -> Option<&'f BlockCall> {
    if cfg.predecessors(block).len() != 1 || func.layout.entry() == Some(block) {
        return None;
    }
    let end = func.terminator(block)?;
    let InstData::Jump { dest } = &func.dfg[end] else { return None };
    let constant = |inst| matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. });
    let own = func.layout.insts(block).take_while(|&inst| inst != end).take(MAX_OPERATIONS + 1);
    let mut count = 0;
    let only = own.inspect(|_| count += 1).all(constant);
    (only && count <= MAX_OPERATIONS).then_some(dest)
}
