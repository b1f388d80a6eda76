//! Memory that a loop reads and writes at one address, `sum[t] += a[i]`, is kept in a value: read in front of the loop and written behind it.
//!
//! Every round has to come to the load and then to the store, and the loop has to end in one place, behind both: then what is loaded in front is loaded anyway,
//! and what is stored behind was stored anyway. Nothing else in the loop may touch the bytes or let other threads see them: barriers, calls, atomics in order.

use crate::analysis::{Access, Cfg, Effect, Loop, Loops, Pointers};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{
    Block, BlockCall, DominatorTree, Function, Inst, InstData, Opcode, Traits, Value, ValueDef, ValueList,
};

/// Effects of a loop that are compared; a loop with more stays.
const MAX_EFFECTS: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let loops = cx.analyses.get::<Loops>(func);
    let stores = |found: &Loop| {
        let mut insts = found.blocks.iter().flat_map(|&block| func.layout.insts(block));
        insts.any(|inst| matches!(func.dfg[inst], InstData::Store { .. }))
    };
    if !loops.iter().any(stores) {
        return Changes::NONE;
    }
    let (pointers, dominators) = (cx.analyses.get::<Pointers>(func), cx.analyses.get::<DominatorTree>(func));
    // The innermost loop around each block, counted from 1: inner loops come later.
    let mut innermost: SecondaryMap<Block, u32> = SecondaryMap::new();
    for (found, n) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| innermost[block] = n);
    }
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut plans: Vec<Plan> = Vec::new();
    for (found, mark) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let plan = Plan::of(func, found, &pointers, &dominators, |block| inside[block] == mark);
        // In a loop of this one they would be executed several times a round.
        let is_own = |inst: Inst| func.layout.block_of(inst).is_some_and(|block| innermost[block] == mark);
        plans.extend(plan.filter(|plan| is_own(plan.load) && is_own(plan.store)));
    }
    if plans.is_empty() {
        return Changes::NONE;
    }
    let added = super::licm::make_preheaders(func, cx.analyses);
    let cfg = Cfg::compute(func);
    let carried: u32 = plans.into_iter().map(|plan| u32::from(plan.carry_out(func, &cfg))).sum();
    func.dfg.resolve_aliases();
    Changes::to_all(added + carried)
}

/// A load and a store of a loop.
struct Plan {
    header: Block,
    /// Where the loop goes round or is left.
    end: Block,
    load: Inst,
    store: Inst,
}

impl Plan {
    fn of(
        func: &Function,
        found: &Loop,
        pointers: &Pointers,
        dominators: &DominatorTree,
        inside: impl Fn(Block) -> bool,
    ) -> Option<Plan> {
        let header = found.header;
        let leads_out = |&block: &Block| func.successors(block).any(|next| next == header || !inside(next));
        let mut ends = found.blocks.iter().copied().filter(leads_out);
        let (Some(end), None) = (ends.next(), ends.next()) else { return None };
        let InstData::Brif { dests, .. } = &func.dfg[func.terminator(end)?] else { return None };
        let is_end = [0, 1].iter().any(|&n| dests[n].block == header && !inside(dests[1 - n].block));
        if !is_end {
            return None;
        }
        let effects = effects(func, found, pointers)?;
        let always =
            |inst: Inst| func.layout.block_of(inst).is_some_and(|block| dominators.dominates(block, end));
        let outside = |value: Value| match func.dfg.def(value) {
            ValueDef::Result(inst, _) => func.layout.block_of(inst).is_some_and(|block| !inside(block)),
            ValueDef::Param(block, _) => !inside(block),
            ValueDef::Alias(_) | ValueDef::Detached => false,
        };
        effects.iter().enumerate().find_map(|(at, &(store, effect))| {
            let (InstData::Store { args: [value, ptr], .. }, Effect::Writes(written)) =
                (&func.dfg[store], effect)
            else {
                return None;
            };
            let ty = func.dfg.ty(*value);
            let mut load = None;
            let block = func.layout.block_of(store)?;
            for (n, &(inst, other)) in effects.iter().enumerate().filter(|&(n, _)| n != at) {
                let is_before = func.layout.block_of(inst).is_some_and(|of| match of == block {
                    true => n < at,
                    false => dominators.dominates(of, block),
                });
                match other {
                    Effect::Reads(read)
                        if load.is_none()
                            && is_before
                            && is_same(&read, &written)
                            && func.dfg.first_result(inst).map(|result| func.dfg.ty(result)) == Some(ty) =>
                    {
                        load = Some(inst);
                    }
                    other if pointers.may_touch(func, other, &written) => return None,
                    _ => {}
                }
            }
            let load = load?;
            let fits = always(load) && always(store) && outside(*ptr) && !ty.is_aggregate();
            fits.then_some(Plan { header, end, load, store })
        })
    }

    fn carry_out(self, func: &mut Function, cfg: &Cfg) -> bool {
        let Plan { header, end, load, store } = self;
        let mut before = cfg.predecessors(header).iter().copied().filter(|&block| block != end);
        let (Some(before), None) = (before.next(), before.next()) else { return false };
        let (Some(entry), Some(branch)) = (func.terminator(before), func.terminator(end)) else {
            return false;
        };
        let InstData::Jump { .. } = func.dfg[entry] else { return false };
        let InstData::Store { flags: to, offset, args: [value, ptr] } = func.dfg[store] else { return false };
        let (InstData::Load { flags, .. }, Some(loaded)) = (&func.dfg[load], func.dfg.first_result(load))
        else {
            return false;
        };
        let ty = func.dfg.ty(loaded);
        let first = super::insert_before(func, entry, InstData::Load { flags: *flags, offset, ptr }, ty);
        let param = func.dfg.append_block_param(header, ty);
        super::replace_with(func, load, param);
        let value = func.dfg.resolve(value);
        func.dfg.for_each_target_mut(entry, |call, pool| _ = call.args.push(first, pool));
        let behind = func.dfg.make_block();
        func.layout.insert_block_after(behind, end);
        let mut out = BlockCall { block: behind, args: ValueList::new() };
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == header {
                call.args.push(value, pool);
            } else {
                std::mem::swap(call, &mut out);
            }
        });
        func.layout.remove_inst(store);
        let last = func.dfg.make_inst(InstData::Store { flags: to, offset, args: [value, ptr] }, &[]);
        let jump = func.dfg.make_inst(InstData::Jump { dest: out }, &[]);
        for made in [last, jump] {
            func.layout.append_inst(made, behind);
            func.spans[made] = func.spans[store];
            func.inst_locs[made] = func.inst_locs[store];
        }
        true
    }
}

/// What the instructions of a loop do to memory, those of a block in order. `None` if they are too many, or may end the thread.
fn effects(func: &Function, found: &Loop, pointers: &Pointers) -> Option<Vec<(Inst, Effect)>> {
    let mut effects = Vec::new();
    for inst in found.blocks.iter().flat_map(|&block| func.layout.insts(block)) {
        let ends = match func.dfg[inst] {
            InstData::Call { .. } => func.traits(inst).contains(Traits::SIDE_EFFECT),
            InstData::CallIndirect { .. } | InstData::List { op: Opcode::Assert, .. } => true,
            _ => false,
        };
        let effect = pointers.effect(func, inst);
        if effect != Effect::None {
            effects.push((inst, effect));
        }
        if ends || effects.len() > MAX_EFFECTS {
            return None;
        }
    }
    Some(effects)
}

/// Whether two accesses are of the same bytes.
fn is_same(a: &Access, b: &Access) -> bool {
    a.pointer.root == b.pointer.root
        && a.pointer.distance == b.pointer.distance
        && a.bytes == b.bytes
        && a.space == b.space
}
