//! Parameters of 128 bits become two of 64: PTX holds them in two registers, and what is computed with their halves is seen through the parameters.

use super::insert_before;
use crate::legalize::HALVES;
use cranelift_entity::EntitySet;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueList};

/// Splits the parameters of all blocks but the first, and says how many.
pub(super) fn split_params(func: &mut Function) -> u32 {
    let is_wide = |func: &Function, param: Value| func.dfg.ty(param) == Type::I128;
    let mut wide: EntitySet<Block> = EntitySet::new();
    for block in func.layout.blocks().skip(1) {
        if func.dfg.block_params(block).iter().any(|&param| is_wide(func, param)) {
            wide.insert(block);
        }
    }
    if wide.is_empty() {
        return 0;
    }
    let mut changes = 0;
    for block in wide.iter() {
        let Some(first) = func.layout.first_inst(block) else { continue };
        let params = func.dfg.block_params(block).to_vec();
        let whole = params.iter().copied().enumerate().filter(|&(_, param)| is_wide(func, param));
        // From the last, so that those in front of it keep their places.
        for (n, param) in whole.collect::<Vec<_>>().into_iter().rev() {
            let halves = [0, 1].map(|_| func.dfg.append_block_param(block, Type::I64));
            let args = ValueList::from_slice(&halves, &mut func.dfg.pool);
            let pair = insert_before(func, first, InstData::Vec { args }, HALVES);
            let bits = InstData::Unary { op: Opcode::Bitcast, arg: pair };
            let joined = insert_before(func, first, bits, Type::I128);
            super::take_over_name(func, param, joined);
            func.dfg.remove_block_param(block, n);
            func.dfg.replace_value(param, joined);
            changes += 1;
        }
    }
    func.dfg.resolve_aliases();
    let branches: Vec<Inst> = func.layout.blocks().filter_map(|block| func.terminator(block)).collect();
    for branch in branches {
        split_args(func, branch, &wide);
    }
    changes
}

/// Gives the halves of what a branch gives whole, behind all other arguments.
fn split_args(func: &mut Function, branch: Inst, wide: &EntitySet<Block>) {
    let mut side = 0;
    while let Some(call) = func.dfg.target(branch, side) {
        let args = call.args(&func.dfg.pool).to_vec();
        if wide.contains(call.block) {
            for n in (0..args.len()).rev() {
                if func.dfg.ty(args[n]) != Type::I128 {
                    continue;
                }
                let halves = halves(func, branch, args[n]);
                func.dfg.change_target(branch, side, |call, pool| {
                    call.args.remove(n, pool);
                    halves.into_iter().for_each(|half| _ = call.args.push(half, pool));
                });
            }
        }
        side += 1;
    }
}

/// The halves of a value: those that it was put together of, or else taken from it in front of an instruction.
fn halves(func: &mut Function, before: Inst, whole: Value) -> [Value; 2] {
    if let Some(&InstData::Unary { op: Opcode::Bitcast, arg }) = func.dfg.def_data(whole)
        && let Some(InstData::Vec { args }) = func.dfg.def_data(func.dfg.resolve(arg))
        && func.dfg.ty(arg) == HALVES
        && let &[low, high] = args.as_slice(&func.dfg.pool)
    {
        return [low, high];
    }
    let pair = InstData::Unary { op: Opcode::Bitcast, arg: whole };
    let pair = insert_before(func, before, pair, HALVES);
    [0, 1].map(|lane| insert_before(func, before, InstData::Extract { lane, arg: pair }, Type::I64))
}
