//! The values of loops that other blocks use, made parameters of the block that a loop leads to.
//!
//! These loops are left by one edge, at their end, so all uses of their values outside are behind the block which that leads to. Where other edges
//! lead there too, it gets a block of its own in between. All loops are closed in one walk over the function.

use super::super::take_over_name;
use super::Sources;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Value};

/// Afterwards no value of some loops is used outside of its own. Each block of these loops is listed with the one whose branch alone leads out.
pub(super) fn values(func: &mut Function, latches: &FxHashMap<Block, Block>, sources: &mut Sources) {
    let mut closed: FxHashMap<Value, Value> = FxHashMap::default();
    let cfg = sources.cfg.clone();
    for &block in cfg.reverse_postorder() {
        let own = latches.get(&block);
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let outside = |value: &Value| {
                let of = func.block_of(*value).and_then(|of| latches.get(&of));
                of.is_some() && of != own
            };
            let used: SmallVec<[Value; 8]> = func.dfg.uses(inst).filter(outside).collect();
            for value in used {
                let param = match closed.get(&value) {
                    Some(&param) => param,
                    None => {
                        let Some(param) = handed_on(func, value, latches, sources) else { continue };
                        closed.insert(value, param);
                        param
                    }
                };
                func.dfg.map_uses(inst, |used| if used == value { param } else { used });
            }
        }
    }
}

/// A parameter for the value in the block behind its loop.
fn handed_on(
    func: &mut Function,
    value: Value,
    latches: &FxHashMap<Block, Block>,
    sources: &mut Sources,
) -> Option<Value> {
    let &own = latches.get(&func.block_of(value)?)?;
    let branch = func.terminator(own)?;
    let outside = |block: &Block| latches.get(block) != Some(&own);
    let exit = func.dfg.targets(branch).map(|call| call.block).find(outside)?;
    let behind = match sources.of(exit).len() {
        1 => exit,
        _ => block_between(func, own, branch, exit, sources),
    };
    let param = func.dfg.append_block_param(behind, func.dfg.ty(value));
    take_over_name(func, value, param);
    func.dfg.for_each_target_mut(branch, |call, pool| {
        if call.block == behind {
            call.args.push(value, pool);
        }
    });
    Some(param)
}

/// A block on the edge from a loop, which takes what the edge gives and passes it on.
fn block_between(func: &mut Function, own: Block, branch: Inst, exit: Block, sources: &mut Sources) -> Block {
    let between = func.dfg.make_block();
    func.layout.insert_block_after(between, own);
    let params: Vec<Value> = func.dfg.block_params(exit).to_vec();
    let params: SmallVec<[Value; 8]> =
        params.into_iter().map(|param| func.dfg.append_block_param(between, func.dfg.ty(param))).collect();
    let dest = BlockCall::new(exit, &params, &mut func.dfg.pool);
    let jump = func.dfg.make_inst(InstData::Jump { dest }, &[]);
    func.layout.append_inst(jump, between);
    func.inst_locs[jump] = func.inst_locs[branch];
    func.dfg.for_each_target_mut(branch, |call, _| {
        if call.block == exit {
            call.block = between;
        }
    });
    sources.replace(exit, own, between);
    sources.add(between, own);
    between
}
