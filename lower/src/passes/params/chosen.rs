//! What an edge gives where the branch that it belongs to has decided what that is: one of the two that a `select` chooses between, or the number that a
//! condition is. A flag that a loop ends on is then what it was on each way back, so that nothing is carried round the loop.

use crate::analysis::conditions::{self, Conditions};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Value};

/// Conditions that a branch is known to have decided by its own.
const MAX_DECIDED: usize = 8;
/// Choices that are chosen between by others.
const MAX_DEPTH: usize = 4;

/// Makes arguments what the branch has decided that they are; says how many.
pub(super) fn run(func: &mut Function, blocks: &[Block]) -> u32 {
    let mut changes = 0;
    for &block in blocks {
        let Some(branch) = func.terminator(block) else { continue };
        let InstData::Brif { cond, dests } = &func.dfg[branch] else { continue };
        let cond = *cond;
        let given = dests.iter().map(|call| call.args(&func.dfg.pool).to_vec());
        let mut given: SmallVec<[Vec<Value>; 2]> = given.collect();
        let before = changes;
        for (side, args) in given.iter_mut().enumerate() {
            if args.is_empty() {
                continue;
            }
            let decided = decided(func, cond, side == 0);
            for arg in args {
                let chosen = chosen(func, *arg, &decided);
                changes += u32::from(chosen != *arg);
                *arg = chosen;
            }
        }
        if changes > before {
            set(func, branch, &given);
        }
    }
    changes
}

/// The conditions that are known to hold, or not to hold, where one does or does not.
fn decided(func: &Function, cond: Value, holds: bool) -> Conditions {
    let mut found = Conditions::from_iter([(func.dfg.resolve(cond), holds)]);
    let mut next = 0;
    while let Some(&(cond, holds)) = found.get(next).filter(|_| next < MAX_DECIDED) {
        next += 1;
        found.extend(conditions::parts(func, cond, holds));
        if let Some(&InstData::Unary { op: Opcode::Trunc, arg }) = func.dfg.def_data(cond) {
            found.extend(chooser(func, arg, holds));
        }
    }
    found
}

/// The condition of a `select` whose lowest bit is known, where the bit of a constant that it chooses from says which it was.
fn chooser(func: &Function, value: Value, bit: bool) -> Option<(Value, bool)> {
    let &InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] } = func.dfg.def_data(value)? else {
        return None;
    };
    let is_other =
        |value: Value| func.dfg.int_const(value).is_some_and(|constant| (constant & 1 != 0) != bit);
    match (is_other(yes), is_other(no)) {
        (true, _) => Some((func.dfg.resolve(cond), false)),
        (false, true) => Some((func.dfg.resolve(cond), true)),
        (false, false) => None,
    }
}

/// What a value is where conditions hold or do not.
fn chosen(func: &Function, value: Value, decided: &[(Value, bool)]) -> Value {
    let mut value = func.dfg.resolve(value);
    for _ in 0..MAX_DEPTH {
        let Some(&InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] }) = func.dfg.def_data(value)
        else {
            break;
        };
        let cond = func.dfg.resolve(cond);
        let Some((_, holds)) = decided.iter().find(|(known, _)| *known == cond) else { break };
        value = func.dfg.resolve(if *holds { yes } else { no });
    }
    value
}

/// Sets the arguments of a branch.
fn set(func: &mut Function, branch: Inst, given: &[Vec<Value>]) {
    let mut given = given.iter();
    func.dfg.for_each_target_mut(branch, |call, pool| {
        let args = given.next().into_iter().flatten();
        call.args.as_mut_slice(pool).iter_mut().zip(args).for_each(|(old, new)| *old = *new);
    });
}
