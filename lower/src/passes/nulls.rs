//! Pointers that are the address of a variable or null, as of results that are not always wanted: `f(wanted ? &result : nullptr)`.
//!
//! Whether such a pointer is null is what chose it, and what is accessed through it is the variable: an access at null would have been a fault. Then
//! nobody needs the choice, and the variable can become values. A pointer that is used in any other way stays what it is.

use super::ifconvert::Plan;
use super::insert_before;
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use crate::users::Users;
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, IntCC, Opcode, Type, Value, ValueDef};

/// Addresses that are computed from such a pointer, and followed to their uses.
const MAX_DERIVED: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let choices = choices(func, &cx.analyses.get::<Cfg>(func));
    if choices.is_empty() {
        return Changes::NONE;
    }
    let users = Users::all(func);
    let mut changes = 0;
    for choice in choices {
        let Some(comparisons) = comparisons(func, &users, choice.pointer) else { continue };
        if !cx.log.allows() {
            break;
        }
        cx.log.applied("address");
        choice.carry_out(func, &users, &comparisons);
        changes += 1;
    }
    func.dfg.resolve_aliases();
    Changes::to_instructions(changes)
}

/// A pointer that is null or not by a condition.
struct Choice {
    pointer: Value,
    cond: Value,
    /// Whether it is an address if the condition holds, and null otherwise.
    if_holds: bool,
    /// What names the variable whose address it is.
    variable: Inst,
}

fn choices(func: &Function, cfg: &Cfg) -> Vec<Choice> {
    let mut found = Vec::new();
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            if let InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } = func.dfg[inst]
                && let Some(pointer) = func.dfg.first_result(inst)
            {
                found.extend(Choice::of(func, pointer, cond, [yes, no]));
            }
        }
        let Some(plan) = Plan::shape(func, cfg, block) else { continue };
        let ways = |before: &Block| *before == block || plan.sides.contains(&Some(*before));
        let only = cfg.predecessors(plan.join).iter().all(ways);
        if !only {
            continue;
        }
        for (n, &pointer) in func.dfg.block_params(plan.join).iter().enumerate() {
            if let [Some(&yes), Some(&no)] = plan.given.each_ref().map(|given| given.get(n)) {
                found.extend(Choice::of(func, pointer, plan.cond, [yes, no]));
            }
        }
    }
    found
}

impl Choice {
    fn of(func: &Function, pointer: Value, cond: Value, given: [Value; 2]) -> Option<Choice> {
        // Of a pointer into one space, 0 may be the address of a variable.
        if func.dfg.ty(pointer) != Type::PTR {
            return None;
        }
        let [yes, no] = given.map(|value| func.dfg.resolve(value));
        let (address, if_holds) = match (is_null(func, yes), is_null(func, no)) {
            (false, true) => (yes, true),
            (true, false) => (no, false),
            (true, true) | (false, false) => return None,
        };
        variable(func, address).map(|variable| Choice { pointer, cond, if_holds, variable })
    }

    fn carry_out(self, func: &mut Function, users: &Users, comparisons: &[Inst]) {
        let Choice { pointer, cond, if_holds, variable } = self;
        // Not before now: what a block began with may have been a comparison of another such pointer.
        let before = match func.dfg.def(pointer) {
            ValueDef::Result(choice, _) => Some(choice),
            ValueDef::Param(join, _) => func.layout.first_inst(join),
            ValueDef::Alias(_) | ValueDef::Detached => None,
        };
        let Some(before) = before else { return };
        let Some(ty) = func.dfg.first_result(variable).map(|value| func.dfg.ty(value)) else { return };
        // The address may have been computed on one way only.
        let own = insert_before(func, before, func.dfg[variable].clone(), ty);
        let own =
            insert_before(func, before, InstData::Unary { op: Opcode::Addrspacecast, arg: own }, Type::PTR);
        for &inst in comparisons {
            let InstData::IntCompare { cond: asks, .. } = func.dfg[inst] else { continue };
            let holds = (asks == IntCC::Ne) == if_holds;
            let answer = match holds {
                true => cond,
                false => insert_before(func, inst, InstData::Unary { op: Opcode::Bnot, arg: cond }, Type::I1),
            };
            super::replace_with(func, inst, answer);
        }
        match func.dfg.def(pointer) {
            ValueDef::Result(choice, _) => super::replace_with(func, choice, own),
            // The parameter stays one of its block, which nobody asks for any more.
            ValueDef::Param(..) | ValueDef::Alias(_) | ValueDef::Detached => {
                for user in users.of(pointer) {
                    func.dfg.map_uses(user, |used| if used == pointer { own } else { used });
                }
            }
        }
    }
}

/// The comparisons of a pointer with null, if it is only compared so and accessed otherwise.
fn comparisons(func: &Function, users: &Users, pointer: Value) -> Option<SmallVec<[Inst; 4]>> {
    let mut found = SmallVec::new();
    let mut derived = vec![pointer];
    let mut n = 0;
    while let Some(&value) = derived.get(n) {
        n += 1;
        for user in users.of(value) {
            let is = |other: Value| func.dfg.resolve(other) == value;
            match func.dfg[user] {
                InstData::Load { .. } => {}
                InstData::Store { args: [stored, _], .. } if !is(stored) => {}
                InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
                | InstData::Index { args: [base, _], .. }
                    if is(base) =>
                {
                    derived.extend(func.dfg.first_result(user));
                }
                InstData::Unary { op: Opcode::Addrspacecast, .. } => {
                    derived.extend(func.dfg.first_result(user));
                }
                InstData::IntCompare { cond: IntCC::Eq | IntCC::Ne, args: [a, b] }
                    if value == pointer
                        && [a, b].iter().any(|&other| is_null(func, func.dfg.resolve(other))) =>
                {
                    found.push(user);
                }
                _ => return None,
            }
        }
        if derived.len() > MAX_DERIVED {
            return None;
        }
    }
    Some(found)
}

/// Whether a pointer is the constant null.
fn is_null(func: &Function, value: Value) -> bool {
    match func.dfg.def_data(value) {
        Some(&InstData::Unary { op: Opcode::Inttoptr, arg }) => {
            func.dfg.int_const(func.dfg.resolve(arg)) == Some(0)
        }
        _ => false,
    }
}

/// The instruction that names the variable which a generic address is of.
fn variable(func: &Function, address: Value) -> Option<Inst> {
    let Some(&InstData::Unary { op: Opcode::Addrspacecast, arg }) = func.dfg.def_data(address) else {
        return None;
    };
    let inst = func.dfg.def_inst(func.dfg.resolve(arg))?;
    matches!(func.dfg[inst], InstData::StackAddr { .. } | InstData::GlobalAddr { .. }).then_some(inst)
}
