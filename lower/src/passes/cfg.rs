//! Control-flow cleanup: branches whose way is known become jumps, blocks that nothing reaches go, blocks that only pass
//! control on are skipped, and a block with one way in is joined to the block before it.

use super::{insert_before, take_over_name};
use crate::analysis::Cfg;
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, IntCC, Type, Value, ValueList};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = decide_branches(func);
    changes += lift_constants(func);
    if changes > 0 {
        cx.analyses.invalidate(Aspects::ALL);
    }
    let skipped = skip_empty_blocks(func, cx);
    changes += skipped;
    if skipped > 0 {
        // Skipping may have made the two ways of a branch the same.
        changes += decide_branches(func);
        cx.analyses.invalidate(Aspects::ALL);
    }
    // That of the reachable blocks, which stays so when the others go.
    let cfg = cx.analyses.get::<Cfg>(func);
    changes += remove_unreachable(func, &cfg);
    changes += merge_chains(func, &cfg);
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_all(changes)
}

/// Removes the blocks that the entry does not reach.
pub(super) fn remove_unreachable(func: &mut Function, cfg: &Cfg) -> u32 {
    let mut reachable = EntitySet::with_capacity(func.dfg.num_blocks());
    reachable.extend(cfg.reverse_postorder().iter().copied());
    let dead: Vec<Block> = func.layout.blocks().filter(|&block| !reachable.contains(block)).collect();
    for &block in &dead {
        func.layout.remove_block(block);
    }
    dead.len() as u32
}

/// Makes jumps of branches that go one way only, and comparisons of switches that go one of two ways.
fn decide_branches(func: &mut Function) -> u32 {
    let mut changes = 0;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        let Some(inst) = func.terminator(block) else { continue };
        if let Some(dest) = only_way(func, inst) {
            func.dfg.replace_inst(inst, InstData::Jump { dest });
            changes += 1;
        } else if let Some((arg, case, dests)) = two_ways(func, inst) {
            let case = insert_before(func, inst, InstData::IntConst { value: case }, func.dfg.ty(arg));
            let compare = InstData::IntCompare { cond: IntCC::Eq, args: [arg, case] };
            let cond = insert_before(func, inst, compare, Type::I1);
            func.dfg.replace_inst(inst, InstData::Brif { cond, dests });
            changes += 1;
        }
    }
    changes
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only branches of several ways can have one left")]
fn only_way(func: &Function, inst: Inst) -> Option<BlockCall> {
    let dfg = &func.dfg;
    match &dfg[inst] {
        InstData::Brif { cond, dests: [yes, no] } => match dfg.int_const(dfg.resolve(*cond)) {
            Some(0) => Some(no.clone()),
            Some(_) => Some(yes.clone()),
            None => same_call(func, yes, no).then(|| yes.clone()),
        },
        InstData::Switch { arg, table } => {
            let table = &dfg.jump_tables[*table];
            let Some(value) = dfg.int_const(dfg.resolve(*arg)) else {
                let same = table.cases.iter().all(|(_, call)| same_call(func, call, &table.default));
                return same.then(|| table.default.clone());
            };
            let case = table.cases.iter().find(|(case, _)| *case == value);
            Some(case.map_or(&table.default, |(_, call)| call).clone())
        }
        _ => None,
    }
}

/// What a switch that goes one of two ways compares, the case of the first way, and both.
fn two_ways(func: &Function, inst: Inst) -> Option<(Value, i64, [BlockCall; 2])> {
    let InstData::Switch { arg, table } = func.dfg[inst] else { return None };
    let table = &func.dfg.jump_tables[table];
    let mut others = table.cases.iter().filter(|(_, call)| !same_call(func, call, &table.default));
    let (Some((case, call)), None) = (others.next(), others.next()) else { return None };
    Some((func.dfg.resolve(arg), *case, [call.clone(), table.default.clone()]))
}

fn same_call(func: &Function, a: &BlockCall, b: &BlockCall) -> bool {
    let pool = &func.dfg.pool;
    a.block == b.block && a.args(pool) == b.args(pool)
}

/// Constants of a block that does nothing but pass them on, on the way around another block: they move in front of the branch, so that there is one
/// block less. What has such a block on both sides is a selection.
#[expect(clippy::wildcard_enum_match_arm, reason = "only jumps lead on to one block")]
fn lift_constants(func: &mut Function) -> u32 {
    let mut ways_in: SecondaryMap<Block, u32> = SecondaryMap::new();
    ways_in.resize(func.dfg.num_blocks());
    for block in func.layout.blocks() {
        func.successors(block).for_each(|next| ways_in[next] += 1);
    }
    let mut changes = 0;
    for block in func.layout.blocks().collect::<Vec<_>>() {
        let Some(branch) = func.terminator(block) else { continue };
        let InstData::Brif { dests: [yes, no], .. } = &func.dfg[branch] else { continue };
        let joined = |block: Block| match &func.dfg[func.terminator(block)?] {
            InstData::Jump { dest } if ways_in[block] == 1 => Some(dest.block),
            _ => None,
        };
        let constants = |block: Block| {
            let insts: SmallVec<[Inst; MAX_LIFTED + 2]> =
                func.layout.insts(block).take(MAX_LIFTED + 2).collect();
            let (_, rest) = insts.split_last()?;
            let constant = |inst: &Inst| {
                matches!(func.dfg[*inst], InstData::IntConst { .. } | InstData::FloatConst { .. })
            };
            (rest.len() <= MAX_LIFTED && rest.iter().all(constant))
                .then(|| SmallVec::<[Inst; MAX_LIFTED]>::from_slice(rest))
        };
        let (yes, no) = (yes.block, no.block);
        let same = joined(yes).is_some() && joined(yes) == joined(no);
        let lifted = match [constants(yes), constants(no)] {
            [Some(insts), None] | [None, Some(insts)] if same => insts,
            _ => continue,
        };
        for inst in lifted {
            func.layout.remove_inst(inst);
            func.layout.insert_inst_before(inst, branch);
            changes += 1;
        }
    }
    changes
}

/// Constants that the way around a block may pass on.
const MAX_LIFTED: usize = 2;

/// Sends branches to a block that only jumps straight to where it jumps. The arguments of that jump are available wherever the block was branched to
/// only if they are not defined in between, which an empty block cannot do. A block that merges values stays where it leads to a loop, which has one way
/// in and one back then, unless the loop decides by what is merged (`a || b && c`): for each way to it that may be known.
fn skip_empty_blocks(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    // Where to, and which arguments are parameters of the block that is left out, if it has any.
    type Way = (BlockCall, SmallVec<[Option<usize>; 4]>);
    let mut passes_to: SecondaryMap<Block, Option<Way>> = SecondaryMap::new();
    let entry = func.layout.entry();
    let mut merging: SmallVec<[Block; 4]> = SmallVec::new();
    let mut any = false;
    for block in func.layout.blocks() {
        let Some(inst) = func.layout.first_inst(block) else { continue };
        if let InstData::Jump { dest } = &func.dfg[inst]
            && Some(block) != entry
            && dest.block != block
        {
            let params = func.dfg.block_params(block);
            if params.is_empty() {
                passes_to[block] = Some((dest.clone(), SmallVec::new()));
                any = true;
            } else if func.layout.has_no_records() {
                merging.push(block);
            }
        }
    }
    if !merging.is_empty() {
        keep_loops(func, &cx.analyses.get::<Cfg>(func), &mut merging);
    }
    if !merging.is_empty() {
        let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
        uses.resize(func.dfg.num_values());
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            func.dfg.for_each_use(inst, |value| uses[func.dfg.resolve(value)] += 1);
        }
        for block in merging {
            let Some(InstData::Jump { dest }) = func.terminator(block).map(|inst| &func.dfg[inst]) else {
                continue;
            };
            let args = dest.args(&func.dfg.pool).iter().map(|&arg| func.dfg.resolve(arg));
            let params = func.dfg.block_params(block);
            let only_passed =
                |&param: &Value| uses[param] as usize == args.clone().filter(|&arg| arg == param).count();
            if params.iter().all(only_passed) {
                let given = args.map(|arg| params.iter().position(|&param| param == arg)).collect();
                passes_to[block] = Some((dest.clone(), given));
                any = true;
            }
        }
    }
    if !any {
        return 0;
    }
    let mut changes = 0;
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        let Some(inst) = func.terminator(block) else { continue };
        func.dfg.for_each_target_mut(inst, |call, pool| {
            // Each step takes a fresh block unless empty blocks form a circle, which a bound ends.
            for _ in 0..16 {
                let Some((next, given)) = &passes_to[call.block] else { break };
                let args = match given.is_empty() {
                    true => next.args.deep_clone(pool),
                    false => {
                        let own: SmallVec<[Value; 4]> = call.args(pool).into();
                        let pass = |(&arg, at): (&Value, &Option<usize>)| {
                            at.and_then(|at| own.get(at)).copied().unwrap_or(arg)
                        };
                        let args: SmallVec<[Value; 4]> =
                            next.args(pool).iter().zip(given).map(pass).collect();
                        ValueList::from_slice(&args, pool)
                    }
                };
                *call = BlockCall { block: next.block, args };
                changes += 1;
            }
        });
    }
    changes
}

/// Whether the block that a jump leads to decides by a parameter that it is given one of some values for.
fn decides_by_one(func: &Function, dest: &BlockCall, values: &[Value]) -> bool {
    let Some(InstData::Brif { cond, .. }) = func.terminator(dest.block).map(|inst| &func.dfg[inst]) else {
        return false;
    };
    let cond = func.dfg.resolve(*cond);
    let at = func.dfg.block_params(dest.block).iter().position(|&param| param == cond);
    let given = at.and_then(|at| dest.args(&func.dfg.pool).get(at));
    given.is_some_and(|&given| values.contains(&func.dfg.resolve(given)))
}

/// Takes blocks off that lead to a loop, from in front of it or around, unless it decides by what they merge.
fn keep_loops(func: &Function, cfg: &Cfg, merging: &mut SmallVec<[Block; 4]>) {
    let mut places: SecondaryMap<Block, u32> = SecondaryMap::new();
    places.resize(func.dfg.num_blocks());
    cfg.reverse_postorder().iter().zip(1..).for_each(|(&block, place)| places[block] = place);
    merging.retain(|block| {
        let jump = func.terminator(*block).map(|inst| &func.dfg[inst]);
        let Some(InstData::Jump { dest }) = jump else { return false };
        let starts_loop = cfg.predecessors(dest.block).iter().any(|&from| places[from] >= places[dest.block]);
        !starts_loop || decides_by_one(func, dest, func.dfg.block_params(*block))
    });
}

/// Joins each block that is jumped to from one place only with that place.
pub(super) fn merge_chains(func: &mut Function, cfg: &Cfg) -> u32 {
    let entry = func.layout.entry();
    let mut changes = 0;
    for &block in cfg.reverse_postorder() {
        // The block may have been joined to the one before it already.
        if !func.layout.is_block_inserted(block) {
            continue;
        }
        while let Some(jump) = func.terminator(block) {
            let InstData::Jump { dest } = &func.dfg[jump] else { break };
            let next = dest.block;
            if Some(next) == entry || next == block || cfg.predecessors(next).len() != 1 {
                break;
            }
            let args = SmallVec::<[Value; 8]>::from_slice(dest.args(&func.dfg.pool));
            let params = SmallVec::<[Value; 8]>::from_slice(func.dfg.block_params(next));
            for (n, (&param, &arg)) in params.iter().zip(&args).enumerate().rev() {
                take_over_name(func, param, func.dfg.resolve(arg));
                func.dfg.remove_block_param(next, n);
                func.dfg.replace_value(param, arg);
            }
            func.layout.remove_inst(jump);
            func.layout.append_insts_of(next, block);
            func.layout.remove_block(next);
            changes += 1;
        }
    }
    changes
}
