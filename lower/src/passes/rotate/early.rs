//! A loop that is left in its first round, before it has done anything, if a condition holds that is the same in all rounds, is left in front of it.

use super::super::unroll;
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use cranelift_entity::EntitySet;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Traits, Value};

/// Whether values of a header are used behind its loop is looked for in the whole function: so many instructions in all.
const MAX_WORK: usize = 1 << 22;

/// Moves such branches in front of their loops. Says how many.
pub(super) fn run(func: &mut Function) -> u32 {
    let mut analyses = Analyses::default();
    let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
    let mut work = MAX_WORK;
    let mut changes = 0;
    for found in loops.iter().rev() {
        if let Some(exit) = Exit::of(func, found, &mut work) {
            exit.carry_out(func, &cfg, found);
            changes += 1;
        }
    }
    changes
}

/// A branch at the end of a loop's header that leaves the loop.
struct Exit {
    branch: Inst,
    cond: Value,
    dests: [BlockCall; 2],
    /// Which of the two goes on.
    stays: usize,
}

impl Exit {
    fn of(func: &Function, found: Loop<'_>, work: &mut usize) -> Option<Exit> {
        let branch = func.terminator(found.header)?;
        let InstData::Brif { cond, ref dests } = func.dfg[branch] else { return None };
        let (cond, dests) = (func.dfg.resolve(cond), dests.clone());
        let mut inside: EntitySet<Block> = EntitySet::new();
        inside.extend(found.blocks.iter().copied());
        let stays = match [0, 1].map(|way: usize| inside.contains(dests[way].block)) {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] | [false, false] => return None,
        };
        let outside = |value: Value| !func.block_of(value).is_some_and(|block| inside.contains(block));
        let params = func.dfg.block_params(found.header);
        let is_known = |arg: &Value| outside(*arg) || params.contains(arg);
        let left = dests[1 - stays].args(&func.dfg.pool);
        let does = Traits::WRITES.union(Traits::CONVERGENT).union(Traits::SIDE_EFFECT);
        let does_nothing = func
            .layout
            .insts(found.header)
            .filter(|&inst| inst != branch)
            .all(|inst| !func.traits(inst).intersects(does));
        if !outside(cond)
            || func.dfg.int_const(cond).is_some()
            || !left.iter().map(|&arg| func.dfg.resolve(arg)).all(|arg| is_known(&arg))
            || !does_nothing
        {
            return None;
        }
        // A loop that is never left otherwise stays as it is.
        let leaves = |block: Block| func.successors(block).any(|next| !inside.contains(next));
        if !found.blocks.iter().any(|&block| block != found.header && leaves(block)) {
            return None;
        }
        *work = work.checked_sub(func.layout.num_insts())?;
        let is_own = |value: Value| func.block_of(value) == Some(found.header);
        let behind = func.layout.blocks().filter(|&block| !inside.contains(block));
        let mut behind =
            behind.flat_map(|block| func.layout.insts(block)).flat_map(|inst| func.dfg.uses(inst));
        (!behind.any(|value| is_own(func.dfg.resolve(value)))).then_some(Exit { branch, cond, dests, stays })
    }

    fn carry_out(self, func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
        let header = found.header;
        let entries: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|block| !found.blocks.contains(block)).collect();
        let choice = func.dfg.make_block();
        let at = func.layout.prev_block(header).unwrap_or(header);
        func.layout.insert_block_after(choice, at);
        let params: Vec<Value> = func.dfg.block_params(header).to_vec();
        let given: Vec<Value> =
            params.iter().map(|&param| func.dfg.append_block_param(choice, func.dfg.ty(param))).collect();
        let first: FxHashMap<Value, Value> = params.iter().copied().zip(given.iter().copied()).collect();
        let left = &self.dests[1 - self.stays];
        let args: Vec<Value> = left
            .args(&func.dfg.pool)
            .iter()
            .map(|&arg| func.dfg.resolve(arg))
            .map(|arg| first.get(&arg).copied().unwrap_or(arg))
            .collect();
        let leaves = BlockCall::new(left.block, &args, &mut func.dfg.pool);
        let enters = BlockCall::new(header, &given, &mut func.dfg.pool);
        let dests = if self.stays == 0 { [enters, leaves] } else { [leaves, enters] };
        let branch = func.dfg.make_inst(InstData::Brif { cond: self.cond, dests }, &[]);
        func.layout.append_inst(branch, choice);
        func.inst_locs[branch] = func.inst_locs[self.branch];
        for block in entries {
            unroll::redirect(func, block, header, choice);
        }
        let [yes, no] = self.dests;
        let dest = if self.stays == 0 { yes } else { no };
        func.dfg.replace_inst(self.branch, InstData::Jump { dest });
    }
}
