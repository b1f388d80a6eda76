//! If-conversion: a branch around a few cheap operations becomes these operations and a selection. Threads then do not part, and what follows is
//! one block.
//!
//! Every operation of the IR is total, so that computing what would have been skipped does no harm but for its time. Loads stay, since the address
//! may be wrong where the branch is not taken.

use super::insert_before;
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Opcode, Type, Value, ValueList};

/// Operations that are computed though they may not be wanted, both sides of the branch together.
const MAX_OPERATIONS: usize = 5;
/// What a division by a constant counts for.
const OPERATIONS_OF_DIVISION: usize = 4;
/// How often it is looked again: of branches in a row, every other one is converted at a time.
const MAX_ROUNDS: usize = 16;
/// Values that are selected.
const MAX_SELECTIONS: usize = 3;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = 0;
    let mut cfg = cx.analyses.get::<Cfg>(func);
    // What was converted may be the side of another branch.
    for _ in 0..MAX_ROUNDS {
        let mut touched: EntitySet<Block> = EntitySet::new();
        let before = changes;
        for &block in cfg.reverse_postorder().iter().rev() {
            let Some(plan) = Plan::of(func, &cfg, block) else { continue };
            let near = [Some(block), plan.sides[0], plan.sides[1], Some(plan.join)];
            if near.into_iter().flatten().any(|block| touched.contains(block)) {
                continue;
            }
            touched.extend(near.into_iter().flatten());
            plan.carry_out(func, block);
            changes += 1;
        }
        if changes == before {
            break;
        }
        func.dfg.resolve_aliases();
        super::cfg::merge_chains(func, &Cfg::compute(func));
        func.dfg.resolve_aliases();
        cfg = Arc::new(Cfg::compute(func));
    }
    Changes::to_all(changes)
}

/// A branch whose ways meet again.
pub(super) struct Plan {
    pub cond: Value,
    /// What is done if the condition holds, and if it does not; none where the branch leads straight to where the ways meet.
    pub sides: [Option<Block>; 2],
    pub join: Block,
    /// What either way gives to that block.
    pub given: [SmallVec<[Value; 4]>; 2],
    /// How many operations the sides have.
    size: usize,
}

impl Plan {
    fn of(func: &Function, cfg: &Cfg, block: Block) -> Option<Plan> {
        let plan = Plan::shape(func, cfg, block)?;
        let [yes, no] = &plan.given;
        let mut selections = 0;
        for (&a, &b) in yes.iter().zip(no).filter(|(a, b)| !same(func, **a, **b)) {
            selections += 1;
            if !can_select(func, a, b) {
                return None;
            }
        }
        (plan.size <= MAX_OPERATIONS && selections <= MAX_SELECTIONS).then_some(plan)
    }

    /// A branch whose ways meet again behind operations that may be computed anywhere, however many they are.
    pub(super) fn shape(func: &Function, cfg: &Cfg, block: Block) -> Option<Plan> {
        let InstData::Brif { cond, dests } = &func.dfg[func.terminator(block)?] else { return None };
        let ways = [Way::of(func, cfg, &dests[0]), Way::of(func, cfg, &dests[1])];
        let direct =
            |n: usize| Way { side: None, join: dests[n].block, given: args(func, &dests[n]), size: 0 };
        let [yes, no] = match ways {
            [Some(yes), Some(no)] if yes.join == no.join => [yes, no],
            [Some(yes), _] if yes.join == dests[1].block => [yes, direct(1)],
            [_, Some(no)] if no.join == dests[0].block => [direct(0), no],
            _ if dests[0].block == dests[1].block => [direct(0), direct(1)],
            _ => return None,
        };
        // A block that goes back to itself is a loop.
        let apart = yes.join != block && [yes.side, no.side].iter().all(|side| *side != Some(yes.join));
        apart.then(|| Plan {
            cond: *cond,
            sides: [yes.side, no.side],
            join: yes.join,
            given: [yes.given, no.given],
            size: yes.size + no.size,
        })
    }

    fn carry_out(self, func: &mut Function, block: Block) {
        let Some(branch) = func.terminator(block) else { return };
        for side in self.sides.into_iter().flatten() {
            let Some(end) = func.terminator(side) else { continue };
            let mut call = None;
            func.dfg.for_each_target_mut(branch, |target, _| {
                if target.block == side {
                    call = Some(target.clone());
                }
            });
            let given = call.map(|call| args(func, &call)).unwrap_or_default();
            for (n, (param, arg)) in
                func.dfg.block_params(side).to_vec().into_iter().zip(given).enumerate().rev()
            {
                super::take_over_name(func, param, arg);
                func.dfg.remove_block_param(side, n);
                func.dfg.replace_value(param, arg);
            }
            for inst in func.layout.insts(side).filter(|&inst| inst != end).collect::<Vec<_>>() {
                func.layout.remove_inst(inst);
                func.layout.insert_inst_before(inst, branch);
            }
        }
        let [yes, no] = &self.given;
        let mut given: SmallVec<[Value; 4]> = SmallVec::new();
        for (&a, &b) in yes.iter().zip(no) {
            let (a, b) = (func.dfg.resolve(a), func.dfg.resolve(b));
            given.push(if same(func, a, b) { a } else { select(func, branch, self.cond, a, b) });
        }
        let args = ValueList::from_slice(&given, &mut func.dfg.pool);
        func.dfg.replace_inst(branch, InstData::Jump { dest: BlockCall { block: self.join, args } });
        for side in self.sides.into_iter().flatten() {
            func.layout.remove_block(side);
        }
    }
}

/// A block between a branch and where its ways meet.
struct Way {
    side: Option<Block>,
    join: Block,
    given: SmallVec<[Value; 4]>,
    size: usize,
}

impl Way {
    fn of(func: &Function, cfg: &Cfg, call: &BlockCall) -> Option<Way> {
        let side = call.block;
        if cfg.predecessors(side).len() != 1 || func.layout.entry() == Some(side) {
            return None;
        }
        let end = func.terminator(side)?;
        let InstData::Jump { dest } = &func.dfg[end] else { return None };
        let mut size = 0;
        for inst in func.layout.insts(side).filter(|&inst| inst != end) {
            size += cost(func, inst)?;
        }
        Some(Way { side: Some(side), join: dest.block, given: args(func, dest), size })
    }
}

pub(super) fn args(func: &Function, call: &BlockCall) -> SmallVec<[Value; 4]> {
    call.args(&func.dfg.pool).into()
}

/// How many operations an instruction counts for that is computed where it may not be wanted; `None` if it must not be.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not known to be cheap stays where it is")]
pub(super) fn cost(func: &Function, inst: Inst) -> Option<usize> {
    use Opcode::*;
    if !func.traits(inst).is_pure() || func.dfg.results(inst).len() != 1 {
        return None;
    }
    match &func.dfg[inst] {
        InstData::IntConst { .. } | InstData::FloatConst { .. } => Some(0),
        InstData::Binary { op, args } => match op {
            // By a constant it becomes a product and shifts.
            Sdiv | Udiv | Srem | Urem => {
                func.dfg.int_const(args[1]).filter(|&by| by != 0).map(|_| OPERATIONS_OF_DIVISION)
            }
            Fdiv | Frem => None,
            _ => Some(1),
        },
        InstData::Unary { op, .. } => match op {
            Fsqrt => None,
            Bitcast | Ptrtoint | Inttoptr => Some(0),
            _ => Some(1),
        },
        InstData::List { op: Fadd | Fsub | Fmul | Fma | Fneg | Fabs, .. }
        | InstData::Ternary { .. }
        | InstData::IntCompare { .. }
        | InstData::FloatCompare { .. }
        | InstData::Index { .. }
        | InstData::StackAddr { .. }
        | InstData::GlobalAddr { .. } => Some(1),
        InstData::Extract { .. } => Some(0),
        _ => None,
    }
}

pub(super) fn same(func: &Function, a: Value, b: Value) -> bool {
    let constants = func.dfg.int_const(a).zip(func.dfg.int_const(b));
    a == b || constants.is_some_and(|(a, b)| a == b) && func.dfg.ty(a).bits() <= 64
}

fn can_select(func: &Function, a: Value, b: Value) -> bool {
    let ty = func.dfg.ty(a);
    match ty {
        Type::I1 => [a, b].iter().any(|&value| func.dfg.int_const(value).is_some()),
        _ => !ty.is_aggregate() && !ty.is_vector() && ty.bits() <= 64,
    }
}

/// One of two values by a condition. Conditions are put together by logic.
fn select(func: &mut Function, before: Inst, cond: Value, yes: Value, no: Value) -> Value {
    let ty = func.dfg.ty(yes);
    if ty != Type::I1 {
        let data = InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] };
        return insert_before(func, before, data, ty);
    }
    let not = |func: &mut Function| {
        insert_before(func, before, InstData::Unary { op: Opcode::Bnot, arg: cond }, ty)
    };
    match (func.dfg.int_const(yes), func.dfg.int_const(no)) {
        (_, Some(0)) => insert_before(func, before, binary(Opcode::Band, cond, yes), ty),
        (Some(0), _) => {
            let not = not(func);
            insert_before(func, before, binary(Opcode::Band, not, no), ty)
        }
        (Some(_), _) => insert_before(func, before, binary(Opcode::Bor, cond, no), ty),
        (None, Some(_) | None) => {
            let not = not(func);
            insert_before(func, before, binary(Opcode::Bor, not, yes), ty)
        }
    }
}

fn binary(op: Opcode, a: Value, b: Value) -> InstData {
    InstData::Binary { op, args: [a, b] }
}
