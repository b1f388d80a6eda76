//! What a branch has decided is a constant behind it: behind an edge that is taken if a condition holds, uses of the condition are true, and so are those
//! of both parts of `a && b`.

use crate::analysis::{Cfg, conditions};
use crate::pass::Context;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Type, Value};

/// Parts of a condition that are looked at.
const MAX_PARTS: usize = 16;

/// The blocks that a condition is known behind, whether it holds there, and the constant that says so once it is made.
type Facts = SmallVec<[(Block, bool, Option<Value>); 2]>;

/// What becomes of decided conditions that an edge gives to a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// A constant, which may decide a branch further down.
    Constant,
    /// Nothing: a condition may be where the parameter is, and a constant has to be moved there.
    Condition,
}

/// Replaces decided conditions with constants. Says how many.
pub(super) fn run(func: &mut Function, cx: &mut Context<'_>, given: Given) -> u32 {
    let (cfg, dominators) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<DominatorTree>(func));
    let mut changes = 0;
    // What is known of conditions in the blocks above, innermost last, with the block that it is known behind.
    let mut known: FxHashMap<Value, Facts> = FxHashMap::default();
    for &block in dominators.preorder() {
        // Edges on which a loop goes round come from behind the one that enters it.
        let mut entered = cfg.predecessors(block).iter().filter(|&&pred| !dominators.dominates(block, pred));
        if let (Some(&pred), None) = (entered.next(), entered.next())
            && let Some(branch) = func.terminator(pred)
            && let InstData::Brif { cond, dests: [yes, no] } = &func.dfg[branch]
            && yes.block != no.block
        {
            let mut parts = conditions::Conditions::from_iter([(*cond, yes.block == block)]);
            for n in 0..MAX_PARTS {
                let Some(&(part, holds)) = parts.get(n) else { break };
                if !matches!(func.dfg.def_data(part), Some(InstData::IntConst { .. })) {
                    known.entry(part).or_default().push((block, holds, None));
                    parts.extend(conditions::parts(func, part, holds));
                }
            }
        }
        if known.is_empty() {
            continue;
        }
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            let mut conditions: SmallVec<[Value; 8]> = SmallVec::new();
            let mut add = |value: Value| {
                if func.dfg.ty(value) == Type::I1 {
                    conditions.push(value);
                }
            };
            match (&func.dfg[inst], given) {
                (InstData::Brif { cond, .. }, Given::Condition) => add(*cond),
                (InstData::Jump { .. } | InstData::Switch { .. }, Given::Condition) => {}
                _ => func.dfg.for_each_use(inst, add),
            }
            for value in conditions {
                let Some(facts) = known.get_mut(&value) else { continue };
                while facts.last().is_some_and(|(at, ..)| !dominators.dominates(*at, block)) {
                    facts.pop();
                }
                let Some((at, holds, made)) = facts.last_mut() else { continue };
                let constant = *made.get_or_insert_with(|| {
                    let data = InstData::IntConst { value: Type::I1.normalize(i64::from(*holds)) };
                    let new = func.dfg.make_inst(data, &[Type::I1]);
                    func.layout.prepend_inst(new, *at);
                    func.dfg.results(new).first()
                });
                match (func.dfg[inst].clone(), given) {
                    (InstData::Brif { dests, .. }, Given::Condition) => {
                        func.dfg.replace_inst(inst, InstData::Brif { cond: constant, dests });
                    }
                    _ => func.dfg.map_uses(inst, |used| if used == value { constant } else { used }),
                }
                changes += 1;
            }
        }
    }
    changes
}
