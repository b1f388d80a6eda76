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

/// Puts constants in the place of decided conditions. Says how many.
pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let (cfg, dominators) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<DominatorTree>(func));
    let mut changes = 0;
    // What is known of conditions in the blocks above, innermost last, with the block that it is known behind.
    let mut known: FxHashMap<Value, Facts> = FxHashMap::default();
    for &block in dominators.preorder() {
        if let &[pred] = cfg.predecessors(block)
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
            func.dfg.for_each_use(inst, |value| {
                if func.dfg.ty(value) == Type::I1 {
                    conditions.push(value);
                }
            });
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
                func.dfg.map_uses(inst, |used| if used == value { constant } else { used });
                changes += 1;
            }
        }
    }
    changes
}
