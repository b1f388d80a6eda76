//! Loop-invariant code motion: an operation whose operands come from outside of a loop moves to the block before it.
//!
//! Every operation of the IR is total, so running a pure one that the loop would have skipped does no harm but for its time. A load moves if nothing
//! in the loop writes what it reads, and if every round of the loop comes to it: its address may be wrong otherwise. Operations that are convergent
//! stay. A loop without a block of its own in front of it gets one.

use crate::analysis::{Analyses, Cfg, Effect, Loop, Loops, Object, Pointers, Root};
use crate::pass::{Aspects, Changes, Context};
use crate::sparse::Sparse;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::ops::Range;
use warpsmith_ir::{
    Block, BlockCall, DominatorTree, FuncKind, Function, Inst, InstData, Opcode, Traits, ValueDef, ValueList,
};

/// Writes in a loop that its loads are compared with; the loads of a loop with more stay.
const MAX_WRITES: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let added = make_preheaders(func, cx.analyses);
    if added > 0 {
        cx.analyses.invalidate(Aspects::ALL);
    }
    let (cfg, loops) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<Loops>(func));
    if loops.iter().len() == 0 {
        return Changes::NONE;
    }
    let (dominators, pointers) = (cx.analyses.get::<DominatorTree>(func), cx.analyses.get::<Pointers>(func));
    let mut position: SecondaryMap<Block, u32> = SecondaryMap::new();
    position.resize(func.dfg.num_blocks());
    cfg.reverse_postorder().iter().zip(0..).for_each(|(&block, n)| position[block] = n);
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    inside.resize(func.dfg.num_blocks());
    let written = Written::of_loops(func, &loops, &pointers);
    let mut settled: EntitySet<Block> = EntitySet::new();
    let mut changes = 0;
    // Inner loops first: what leaves one is then seen by the loop around it.
    let (mut writes, mut blocks, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (found, mark) in loops.iter().rev().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let inside = |block: Block| inside[block] == mark;
        let Some(target) = preheader(func, &cfg, found, inside) else { continue };
        let writes = written.find(found, &mut writes).then_some(&writes[..]);
        // In reverse post-order operands come before their users.
        blocks.clear();
        blocks.extend(found.blocks.iter().copied().filter(|&block| !settled.contains(block)));
        blocks.sort_unstable_by_key(|&block| position[block]);
        // Where the loop is left or goes round.
        let is_end = |block: Block| func.successors(block).any(|next| next == found.header || !inside(next));
        ends.clear();
        ends.extend(found.blocks.iter().copied().filter(|&block| is_end(block)));
        let mut all_settled = true;
        for &block in &blocks {
            let always = ends.iter().all(|&end| dominators.dominates(block, end));
            let loads = writes.filter(|_| always);
            changes += hoist(func, block, target, inside, &pointers, loads);
            all_settled &= always || writes.is_none() || !may_wait(func, block);
        }
        // What changes in this loop, or what it may write, does so in the loops around it too. Without this, nests take time by their depth.
        if all_settled {
            settled.extend(blocks.iter().copied());
        }
    }
    // What was known of the blocks before some were added has been forgotten.
    Changes::to_instructions(changes + added)
}

/// The jump at the end of the loop's preheader: that by which alone the loop is entered.
fn preheader(func: &Function, cfg: &Cfg, found: Loop<'_>, inside: impl Fn(Block) -> bool) -> Option<Inst> {
    let mut outer = cfg.predecessors(found.header).iter().copied().filter(|&pred| !inside(pred));
    let (Some(before), None) = (outer.next(), outer.next()) else { return None };
    func.terminator(before).filter(|&inst| matches!(func.dfg[inst], InstData::Jump { .. }))
}

/// Gives loops that are entered by a branch, or by several edges, a block of their own in front. Says how many.
pub(super) fn make_preheaders(func: &mut Function, analyses: &mut Analyses) -> u32 {
    let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    inside.resize(func.dfg.num_blocks());
    let mut made = 0;
    for (found, mark) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let header = found.header;
        let outer: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|&pred| inside[pred] != mark).collect();
        // The graph may have changed for a loop around this one, whose header then is this one's.
        let is_jump = |block: Block| {
            func.terminator(block).is_some_and(|inst| matches!(func.dfg[inst], InstData::Jump { .. }))
        };
        if outer.is_empty() || matches!(outer[..], [one] if is_jump(one)) {
            continue;
        }
        let before = func.dfg.make_block();
        let at = func.layout.prev_block(header).unwrap_or(outer[0]);
        func.layout.insert_block_after(before, at);
        let mut args = ValueList::new();
        // The one edge there is keeps its arguments to itself.
        let only = (outer.len() == 1).then(|| outer[0]).and_then(|block| func.terminator(block));
        if let Some(branch) = only {
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == header {
                    args = std::mem::take(&mut call.args);
                }
            });
        }
        let params = if only.is_some() { Vec::new() } else { func.dfg.block_params(header).to_vec() };
        for param in params {
            let value = func.dfg.append_block_param(before, func.dfg.ty(param));
            super::take_over_name(func, param, value);
            args.push(value, &mut func.dfg.pool);
        }
        let jump = func.dfg.make_inst(InstData::Jump { dest: BlockCall { block: header, args } }, &[]);
        func.layout.append_inst(jump, before);
        for block in outer {
            let Some(branch) = func.terminator(block) else { continue };
            func.inst_locs[jump] = func.inst_locs[branch];
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == header {
                    call.block = before;
                }
            });
        }
        made += 1;
    }
    made
}

/// What the blocks of loops write, which stays so when instructions leave them.
struct Written {
    of_blocks: Sparse<Block, OfBlock>,
    effects: Vec<Effect>,
}

struct OfBlock {
    /// The thread may end in the block.
    may_end: bool,
    /// A part of [`Written::effects`]: one more than are looked at, at most.
    effects: Range<u32>,
}

impl Written {
    fn of_loops(func: &Function, loops: &Loops, pointers: &Pointers) -> Written {
        let mut written = Written { of_blocks: Sparse::new(func.dfg.num_blocks()), effects: Vec::new() };
        for &block in loops.iter().flat_map(|found| found.blocks) {
            if written.of_blocks.get(block).is_none() {
                let of_block = written.add(func, block, pointers);
                written.of_blocks.set(block, of_block);
            }
        }
        written
    }

    fn add(&mut self, func: &Function, block: Block, pointers: &Pointers) -> OfBlock {
        let (mut may_end, first) = (false, self.effects.len());
        for inst in func.layout.insts(block) {
            may_end |= match func.dfg[inst] {
                InstData::Call { .. } => func.traits(inst).contains(Traits::SIDE_EFFECT),
                InstData::CallIndirect { .. } | InstData::List { op: Opcode::Assert, .. } => true,
                _ => false,
            };
            let effect = pointers.effect(func, inst);
            if matches!(effect, Effect::Writes(_) | Effect::All) && self.effects.len() - first <= MAX_WRITES {
                self.effects.push(effect);
            }
        }
        OfBlock { may_end, effects: first as u32..self.effects.len() as u32 }
    }

    /// Finds what the instructions of a loop write. False if they are too many to look at, or may end the thread in front of a load.
    fn find(&self, found: Loop<'_>, writes: &mut Vec<Effect>) -> bool {
        writes.clear();
        found.blocks.iter().filter_map(|&block| self.of_blocks.get(block)).all(|of_block| {
            let Range { start, end } = of_block.effects;
            writes.extend_from_slice(&self.effects[start as usize..end as usize]);
            !of_block.may_end && writes.len() <= MAX_WRITES
        })
    }
}

/// Whether a block has something that moves only out of loops each of whose rounds comes to it.
fn may_wait(func: &Function, block: Block) -> bool {
    func.layout
        .insts(block)
        .any(|inst| matches!(func.dfg[inst], InstData::Load { .. } | InstData::Call { .. }))
}

/// Moves what does not change from a block of a loop to the jump into the loop. All loads are among it if what the loop writes is given, else only those
/// that may be executed at any time.
fn hoist(
    func: &mut Function,
    block: Block,
    target: Inst,
    inside: impl Fn(Block) -> bool,
    pointers: &Pointers,
    writes: Option<&[Effect]>,
) -> u32 {
    let mut changes = 0;
    let mut next = func.layout.first_inst(block);
    while let Some(inst) = next {
        next = func.layout.next_inst(inst);
        let movable = match func.dfg[inst] {
            InstData::Load { .. } => {
                writes.is_some_and(|writes| is_kept(func, inst, pointers, writes))
                    || is_field(func, inst, pointers)
            }
            // A call may take any time, which is not spent for nothing.
            InstData::Call { .. } => writes.is_some() && func.traits(inst).is_pure(),
            _ => func.traits(inst).is_pure(),
        };
        let invariant = movable
            && func.dfg.args(inst).iter().all(|&arg| match func.dfg.def(arg) {
                ValueDef::Result(def, _) => !func.layout.block_of(def).is_some_and(&inside),
                ValueDef::Param(block, _) => !inside(block),
                ValueDef::Alias(_) | ValueDef::Detached => false,
            });
        if invariant {
            func.layout.remove_inst(inst);
            func.layout.insert_inst_before(inst, target);
            changes += 1;
        }
    }
    changes
}

/// Whether a load is of a part of what a kernel is passed by value, which is always there and never written.
fn is_field(func: &Function, inst: Inst, pointers: &Pointers) -> bool {
    let InstData::Load { flags, offset, ptr } = func.dfg[inst] else { return false };
    let Some(result) = func.dfg.first_result(inst) else { return false };
    let Some(access) = pointers.access(func, ptr, offset, func.dfg.ty(result)) else { return false };
    let Object::Param(n) = access.pointer.object else { return false };
    let Some((size, _)) = func.params.get(n as usize).and_then(|param| param.byval) else { return false };
    let start = func.param_values().get(n as usize).map(|&param| Root::Value(param));
    let end = access.pointer.distance.saturating_add_unsigned(access.bytes);
    func.kind == FuncKind::Kernel
        && !flags.volatile
        && Some(access.pointer.root) == start
        && access.pointer.distance >= 0
        && end <= size.into()
}

/// Whether a load finds the same in every round.
fn is_kept(func: &Function, inst: Inst, pointers: &Pointers, writes: &[Effect]) -> bool {
    let InstData::Load { flags, offset, ptr } = func.dfg[inst] else { return false };
    let Some(result) = func.dfg.first_result(inst) else { return false };
    let Some(access) = pointers.access(func, ptr, offset, func.dfg.ty(result)) else { return false };
    !flags.volatile
        && (flags.invariant || writes.iter().all(|&write| !pointers.may_write(func, write, &access)))
}
