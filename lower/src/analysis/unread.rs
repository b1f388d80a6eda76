//! Arguments that nothing reads: `if (c) x = a[i]; ...; if (c) use(x);` gives `x` a number where `c` does not hold, and looks at it only where it does.
//! Whatever the register holds will do, so that nothing has to be moved into it.
//!
//! An argument is one of those if every use of its parameter is behind a branch on a condition that the edge with the argument has decided the other
//! way, or given to another parameter: `if (c) { x = a[i]; found = true; }`. Both see the same number of the condition where it is computed in front of
//! the block that has the parameter, or is one of its parameters: between that block and a use it is not computed again, since no way leads there but
//! through the block. To be given to a parameter that does not read it is no use.

use super::conditions::{self, Conditions};
use super::{Analyses, Analysis, Cfg};
use crate::pass::Aspects;
use cranelift_entity::EntitySet;
use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Value, ValueDef};

/// Blocks above an edge or a use whose branches are looked at.
const MAX_ABOVE: usize = 8;
/// Parameters that a number is handed on to.
const MAX_HANDED_ON: usize = 8;
/// Conditions that one branch decides.
const MAX_AT_ONCE: usize = 8;

/// The arguments that nothing reads.
#[derive(Clone, PartialEq, Default)]
pub struct Unread(FxHashSet<(Inst, usize, usize)>);

impl Unread {
    /// Whether nothing reads the n-th argument of one of a branch's targets.
    pub fn contains(&self, branch: Inst, target: usize, n: usize) -> bool {
        !self.0.is_empty() && self.0.contains(&(branch, target, n))
    }

    /// Whether a use is such an argument.
    fn is_given(&self, func: &Function, (block, given): Use) -> bool {
        given.is_some_and(|(target, n)| {
            func.terminator(block).is_some_and(|branch| self.contains(branch, target, n))
        })
    }
}

/// Where a parameter is used: in a block, or as which argument of which target of the branch that it ends with.
type Use = (Block, Option<(usize, usize)>);

/// An argument that is not read unless one of the uses of its parameter does.
struct Candidate {
    branch: Inst,
    target: usize,
    n: usize,
    param: Value,
    decided: Conditions,
}

impl Analysis for Unread {
    const NAME: &'static str = "arguments that nothing reads";
    const READS: Aspects = Aspects::ALL;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<Cfg>(func);
        let Some(tested) = tested(func, &cfg) else { return Unread::default() };
        let dominators = analyses.get::<DominatorTree>(func);
        let search = Search { func, cfg: &cfg, dominators: &dominators, tested };
        let mut candidates = search.candidates();
        let uses = search.uses(&candidates);
        let mut unread = Unread::default();
        for _ in 0..MAX_HANDED_ON {
            let count = unread.0.len();
            candidates.retain(|candidate| {
                let found = uses.get(&candidate.param).is_none_or(|uses| {
                    uses.iter().all(|&at| search.is_behind(candidate, at) || unread.is_given(func, at))
                });
                if found {
                    unread.0.insert((candidate.branch, candidate.target, candidate.n));
                }
                !found
            });
            if unread.0.len() == count {
                break;
            }
        }
        unread
    }
}

/// The conditions that more than one branch decides, and those that one does and that blocks are given. `None` if there are none.
fn tested(func: &Function, cfg: &Cfg) -> Option<EntitySet<Value>> {
    let (mut once, mut twice) = (EntitySet::new(), EntitySet::new());
    for &block in cfg.reverse_postorder() {
        let Some(InstData::Brif { cond, .. }) = func.terminator(block).map(|end| &func.dfg[end]) else {
            continue;
        };
        let mut decided = follows(func, *cond, true);
        decided.extend(follows(func, *cond, false));
        decided.sort_unstable();
        decided.dedup_by_key(|(cond, _)| *cond);
        for (cond, _) in decided {
            if !once.insert(cond) || matches!(func.dfg.def(cond), ValueDef::Param(..)) {
                twice.insert(cond);
            }
        }
    }
    (!twice.is_empty()).then_some(twice)
}

/// What is known when a condition holds, or does not.
fn follows(func: &Function, cond: Value, holds: bool) -> Conditions {
    let mut all = Conditions::from_iter([(func.dfg.resolve(cond), holds)]);
    let mut next = 0;
    while let Some(&(cond, holds)) = all.get(next).filter(|_| next < MAX_AT_ONCE) {
        next += 1;
        all.extend(conditions::parts(func, cond, holds));
    }
    all
}

struct Search<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dominators: &'a DominatorTree,
    /// The conditions that are worth knowing.
    tested: EntitySet<Value>,
}

impl Search<'_> {
    fn candidates(&self) -> Vec<Candidate> {
        let Search { func, cfg, dominators, .. } = self;
        let mut candidates = Vec::new();
        for &block in cfg.reverse_postorder() {
            let params = func.dfg.block_params(block);
            if params.is_empty() || func.layout.entry() == Some(block) || cfg.predecessors(block).len() < 2 {
                continue;
            }
            for (pred, target) in cfg.edges(block) {
                let Some(branch) = func.terminator(pred) else { continue };
                let mut decided = self.decided_at(pred, Some(target));
                decided.retain(|(cond, _)| {
                    let computed = func.block_of(*cond);
                    computed.is_some_and(|above| above != block && dominators.dominates(above, block))
                });
                let given = func.dfg.target(branch, target).into_iter().flat_map(|call| func.dfg.given(call));
                for (param, arg) in given.filter(|(param, _)| self.tested.contains(*param)) {
                    let known = func.dfg.int_const(arg).map(|constant| constant != 0);
                    let arg = func.dfg.resolve(arg);
                    let known = known
                        .or_else(|| decided.iter().find(|(cond, _)| *cond == arg).map(|&(_, holds)| holds));
                    decided.extend(known.map(|holds| (param, holds)));
                }
                if !decided.is_empty() {
                    let of_param = |(n, &param): (usize, &Value)| {
                        let decided = decided.clone();
                        Candidate { branch, target, n, param, decided }
                    };
                    let typed =
                        params.iter().enumerate().filter(|(_, param)| !func.dfg.ty(**param).is_aggregate());
                    candidates.extend(typed.map(of_param));
                }
            }
        }
        candidates
    }

    /// Where the parameters of candidates are used.
    fn uses(&self, candidates: &[Candidate]) -> FxHashMap<Value, SmallVec<[Use; 4]>> {
        let func = self.func;
        let mut uses: FxHashMap<Value, SmallVec<[Use; 4]>> = FxHashMap::default();
        if candidates.is_empty() {
            return uses;
        }
        let mut asked: EntitySet<Value> = EntitySet::with_capacity(func.dfg.num_values());
        asked.extend(candidates.iter().map(|candidate| candidate.param));
        let mut add = |value: Value, at: Use| {
            let value = func.dfg.resolve(value);
            if asked.contains(value) {
                uses.entry(value).or_default().push(at);
            }
        };
        for &block in self.cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                func.dfg.args(inst).iter().for_each(|&arg| add(arg, (block, None)));
                for (target, call) in func.dfg.targets(inst).enumerate() {
                    let args = call.args(&func.dfg.pool).iter().enumerate();
                    args.for_each(|(n, &arg)| add(arg, (block, Some((target, n)))));
                }
            }
        }
        uses
    }

    /// Whether a use is behind a branch the other way than that which leads to the edge.
    fn is_behind(&self, candidate: &Candidate, (block, given): Use) -> bool {
        let there = self.decided_at(block, given.map(|(target, _)| target));
        candidate.decided.iter().any(|&(cond, holds)| there.contains(&(cond, !holds)))
    }

    /// What branches have decided where a block ends, or on one of the edges that it ends with.
    fn decided_at(&self, block: Block, target: Option<usize>) -> Conditions {
        let Search { func, cfg, dominators, .. } = self;
        let mut decided = Conditions::new();
        let mut add = |block: Block, target: usize| {
            let Some(InstData::Brif { cond, .. }) = func.terminator(block).map(|end| &func.dfg[end]) else {
                return;
            };
            let all = follows(func, *cond, target == 0);
            decided.extend(all.into_iter().filter(|(cond, _)| self.tested.contains(*cond)));
        };
        if let Some(target) = target {
            add(block, target);
        }
        let above = std::iter::successors(Some(block), |&block| dominators.idom(block));
        for block in above.take(MAX_ABOVE) {
            let mut edges = cfg.edges(block);
            if let (Some((pred, side)), None) = (edges.next(), edges.next()) {
                add(pred, side);
            }
        }
        decided
    }
}
