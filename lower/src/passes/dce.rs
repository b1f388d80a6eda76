//! Dead code elimination: an instruction stays if it has an effect or if something that stays uses it; a block parameter stays
//! if something that stays uses it.

use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, Value, ValueDef};

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let live = Liveness::compute(func);
    let mut removed = 0;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for &block in &blocks {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            if !live.insts.contains(inst) {
                func.layout.remove_inst(inst);
                removed += 1;
            }
        }
    }
    Changes::to_instructions(removed + remove_params(func, &blocks, &live.values))
}

/// Takes dead parameters off their blocks, and their arguments off all branches. Those of the entry belong to the signature.
fn remove_params(func: &mut Function, blocks: &[Block], live: &EntitySet<Value>) -> u32 {
    let mut dead: SecondaryMap<Block, SmallVec<[u32; 4]>> = SecondaryMap::new();
    let mut removed = 0;
    for &block in blocks.iter().skip(1) {
        let params = func.dfg.block_params(block).iter().enumerate();
        let found: SmallVec<[u32; 4]> =
            params.filter(|(_, param)| !live.contains(**param)).map(|(n, _)| n as u32).collect();
        removed += found.len() as u32;
        for &n in found.iter().rev() {
            func.dfg.remove_block_param(block, n as usize);
        }
        dead[block] = found;
    }
    if removed > 0 {
        for &block in blocks {
            let Some(terminator) = func.terminator(block) else { continue };
            func.dfg.for_each_target_mut(terminator, |call, pool| {
                for &n in dead[call.block].iter().rev() {
                    call.args.remove(n as usize, pool);
                }
            });
        }
    }
    removed
}

struct Liveness {
    insts: EntitySet<Inst>,
    values: EntitySet<Value>,
}

impl Liveness {
    fn compute(func: &Function) -> Self {
        let mut live = Liveness {
            insts: EntitySet::with_capacity(func.dfg.num_insts()),
            values: EntitySet::with_capacity(func.dfg.num_values()),
        };
        // What each parameter is given, by the branches of the layout: a list through `edges` from the last, whose number is noted plus one.
        let mut last: SecondaryMap<Value, u32> = SecondaryMap::new();
        let mut edges: Vec<(Value, u32)> = Vec::new();
        last.resize(func.dfg.num_values());
        let mut work: Vec<Value> = Vec::new();
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                if !func.traits(inst).is_removable() {
                    live.insts.insert(inst);
                    work.extend_from_slice(func.dfg.args(inst));
                }
            }
            let Some(branch) = func.layout.last_inst(block) else { continue };
            for call in func.dfg.targets(branch) {
                let params = func.dfg.block_params(call.block);
                for (&param, &arg) in params.iter().zip(call.args(&func.dfg.pool)) {
                    edges.push((arg, last[param]));
                    last[param] = edges.len() as u32;
                }
            }
        }
        while let Some(value) = work.pop() {
            if !live.values.insert(value) {
                continue;
            }
            match func.dfg.def(value) {
                ValueDef::Result(inst, _) => {
                    if live.insts.insert(inst) {
                        work.extend_from_slice(func.dfg.args(inst));
                    }
                }
                ValueDef::Param(..) => {
                    let mut next = last[value];
                    while let Some(&(arg, before)) = next.checked_sub(1).and_then(|n| edges.get(n as usize)) {
                        work.push(arg);
                        next = before;
                    }
                }
                ValueDef::Alias(to) => work.push(to),
                ValueDef::Detached => {}
            }
        }
        live
    }
}
