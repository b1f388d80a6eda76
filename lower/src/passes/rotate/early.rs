//! A loop that is left in its first round, before it has done anything, if a condition holds that is the same in all rounds, is left in front of it.

use crate::analysis::{Analyses, Cfg, Loop, Loops};
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Traits, Value};

/// Whether values of a header are used behind its loop is looked for in the whole function: so many instructions in all.
const MAX_WORK: usize = 1 << 22;

/// Moves such branches in front of their loops. Says how many.
pub(super) fn run(func: &mut Function) -> u32 {
    let mut analyses = Analyses::default();
    let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    inside.resize(func.dfg.num_blocks());
    // Blocks that other blocks lead to than the graph says.
    let mut touched: EntitySet<Block> = EntitySet::new();
    let mut work = MAX_WORK;
    let mut changes = 0;
    for (found, mark) in loops.iter().rev().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let is_inside = |block: Block| inside[block] == mark;
        if touched.contains(found.header) {
            continue;
        }
        if let Some(exit) = Exit::of(func, found, is_inside, &mut work) {
            touched.extend(exit.dests.iter().map(|call| call.block));
            let mut entries = cfg.predecessors(found.header).to_vec();
            entries.retain(|&block| !is_inside(block));
            exit.carry_out(func, found.header, &entries);
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
    fn of(
        func: &Function,
        found: Loop<'_>,
        inside: impl Fn(Block) -> bool,
        work: &mut usize,
    ) -> Option<Exit> {
        let branch = func.terminator(found.header)?;
        let InstData::Brif { cond, ref dests } = func.dfg[branch] else { return None };
        let (cond, dests) = (func.dfg.resolve(cond), dests.clone());
        let stays = match [0, 1].map(|way: usize| inside(dests[way].block)) {
            [true, false] => 0,
            [false, true] => 1,
            [true, true] | [false, false] => return None,
        };
        let outside = |value: Value| !func.block_of(value).is_some_and(&inside);
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
        let leaves = |block: Block| func.successors(block).any(|next| !inside(next));
        if !found.blocks.iter().any(|&block| block != found.header && leaves(block)) {
            return None;
        }
        *work = work.checked_sub(func.layout.num_insts())?;
        let is_own = |value: Value| func.block_of(value) == Some(found.header);
        let behind = func.layout.blocks().filter(|&block| !inside(block));
        let mut behind =
            behind.flat_map(|block| func.layout.insts(block)).flat_map(|inst| func.dfg.uses(inst));
        (!behind.any(|value| is_own(func.dfg.resolve(value)))).then_some(Exit { branch, cond, dests, stays })
    }

    fn carry_out(self, func: &mut Function, header: Block, entries: &[Block]) {
        let (choice, given) = super::super::in_front(func, header, entries);
        let params = func.dfg.block_params(header).iter().copied();
        let first: FxHashMap<Value, Value> = params.zip(given.iter().copied()).collect();
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
        let [yes, no] = self.dests;
        let dest = if self.stays == 0 { yes } else { no };
        func.dfg.replace_inst(self.branch, InstData::Jump { dest });
    }
}
