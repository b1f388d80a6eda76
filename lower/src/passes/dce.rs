//! Dead code elimination: an instruction stays if it has an effect or if something that stays uses it; a block parameter stays
//! if something that stays uses it.

use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, Value, ValueDef};

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let live = Liveness::compute(func);
    let mut removed = 0;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for &block in blocks.iter().filter(|_| live.dead > 0) {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            if live.insts[inst] == Use::Dead {
                func.layout.remove_inst(inst);
                removed += 1;
            }
        }
    }
    Changes::to_instructions(removed + remove_params(func, &blocks, &live.values))
}

/// Takes dead parameters off their blocks, and their arguments off all branches. Those of the entry belong to the signature.
fn remove_params(func: &mut Function, blocks: &[Block], live: &SecondaryMap<Value, bool>) -> u32 {
    let mut dead: FxHashMap<Block, SmallVec<[u32; 4]>> = FxHashMap::default();
    let mut removed = 0;
    for &block in blocks.iter().skip(1) {
        let params = func.dfg.block_params(block).iter().enumerate();
        let found: SmallVec<[u32; 4]> =
            params.filter(|(_, param)| !live[**param]).map(|(n, _)| n as u32).collect();
        for &n in found.iter().rev() {
            func.dfg.remove_block_param(block, n as usize);
        }
        if !found.is_empty() {
            removed += found.len() as u32;
            dead.insert(block, found);
        }
    }
    if removed > 0 {
        for &block in blocks {
            let Some(terminator) = func.terminator(block) else { continue };
            func.dfg.for_each_target_mut(terminator, |call, pool| {
                for &n in dead.get(&call.block).into_iter().flatten().rev() {
                    call.args.remove(n as usize, pool);
                }
            });
        }
    }
    removed
}

/// What is known of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Use {
    /// The walk has not come to it.
    #[default]
    Ahead,
    /// Nothing was found that needs it.
    Dead,
    Live,
}

struct Liveness {
    insts: SecondaryMap<Inst, Use>,
    values: SecondaryMap<Value, bool>,
    /// How many instructions of the layout are dead.
    dead: usize,
}

impl Liveness {
    /// One walk from the ends of blocks to their starts, users first; what it has left behind when it turns out to be used, and parameters, are worked off
    /// then.
    fn compute(func: &Function) -> Self {
        let mut live = Liveness { insts: SecondaryMap::new(), values: SecondaryMap::new(), dead: 0 };
        live.insts.resize(func.dfg.num_insts());
        live.values.resize(func.dfg.num_values());
        let mut work: Vec<Value> = Vec::new();
        let mut next_block = func.layout.last_block();
        while let Some(block) = next_block {
            next_block = func.layout.prev_block(block);
            let mut next = func.layout.last_inst(block);
            while let Some(inst) = next {
                next = func.layout.prev_inst(inst);
                let is_used = func.dfg.results(inst).into_iter().any(|value| live.values[value]);
                if !is_used && func.traits(inst).is_removable() {
                    live.insts[inst] = Use::Dead;
                    live.dead += 1;
                    continue;
                }
                live.insts[inst] = Use::Live;
                for &arg in func.dfg.args(inst) {
                    if std::mem::replace(&mut live.values[arg], true) {
                        continue;
                    }
                    if func.dfg.def_inst(arg).is_none_or(|def| live.insts[def] == Use::Dead) {
                        work.push(arg);
                    }
                }
            }
        }
        if work.is_empty() {
            return live;
        }
        let given = Given::of(func);
        while let Some(value) = work.pop() {
            let mut used = |value: Value| {
                if !std::mem::replace(&mut live.values[value], true) {
                    work.push(value);
                }
            };
            match func.dfg.def(value) {
                ValueDef::Result(inst, _) => {
                    if std::mem::replace(&mut live.insts[inst], Use::Live) == Use::Dead {
                        live.dead -= 1;
                        func.dfg.args(inst).iter().for_each(|arg| used(*arg));
                    }
                }
                ValueDef::Param(..) => given.to(value).for_each(used),
                ValueDef::Alias(to) => used(to),
                ValueDef::Detached => {}
            }
        }
        live
    }
}

/// What each parameter is given, by the branches of the layout: a list through `edges` from the last, whose number is noted plus one.
struct Given {
    last: SecondaryMap<Value, u32>,
    edges: Vec<(Value, u32)>,
}

impl Given {
    fn of(func: &Function) -> Self {
        let mut given = Given { last: SecondaryMap::new(), edges: Vec::new() };
        given.last.resize(func.dfg.num_values());
        for branch in func.layout.blocks().filter_map(|block| func.layout.last_inst(block)) {
            for call in func.dfg.targets(branch) {
                for (param, arg) in func.dfg.given(call) {
                    given.edges.push((arg, given.last[param]));
                    given.last[param] = given.edges.len() as u32;
                }
            }
        }
        given
    }

    fn to(&self, param: Value) -> impl Iterator<Item = Value> + '_ {
        let edge = |number: u32| number.checked_sub(1).and_then(|n| self.edges.get(n as usize));
        std::iter::successors(edge(self.last[param]), move |(_, before)| edge(*before)).map(|(arg, _)| *arg)
    }
}
