//! Loop rotation: a loop that decides at its start whether to go on decides at its end, behind a copy of the decision in front of it. A round
//! then takes one branch, not two, and what is invariant can move in front of a body that is known to run.
//!
//! The header becomes the last block, and what it computes is given to the body and to what comes behind the loop as parameters. Headers
//! with convergent operations, and large ones, are left where they are.
//!
//! What decides by a condition that is the same in all rounds whether the loop is left at once, is then taken in front of it ([`early`]).

use super::copy::copy_blocks;
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::EntitySet;
use warpsmith_base::FxHashMap;
use warpsmith_ir::debug::Binding;
use warpsmith_ir::{Block, BlockCall, DominatorTree, Function, Inst, InstData, Traits, Value, ValueList};

mod apart;
mod early;

/// Instructions that a header may have.
const MAX_SIZE: usize = 24;

/// Loops in loops are rotated from the inside out, a layer at a time.
const MAX_LAYERS: u32 = 8;

/// Decisions at the start of one loop that are taken in front of it.
const MAX_EARLY: u32 = 4;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = 0;
    for _ in 0..MAX_LAYERS {
        let rotated = layer(func);
        changes += rotated;
        if rotated == 0 {
            break;
        }
    }
    // What is behind a decision that has moved may begin with another one.
    for _ in 0..MAX_EARLY {
        let moved = early::run(func);
        if moved == 0 {
            break;
        }
        cx.analyses.invalidate(Aspects::ALL);
        changes += moved + super::cfg::run(func, cx).count;
    }
    Changes::to_all(changes)
}

/// Rotates loops of which no part was changed by another, and says how many.
fn layer(func: &mut Function) -> u32 {
    let mut analyses = Analyses::default();
    let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
    let dominators = analyses.get::<DominatorTree>(func);
    let mut touched: EntitySet<Block> = EntitySet::new();
    let mut changes = 0;
    for found in loops.iter().rev() {
        // What the analyses say of a block holds while neither it nor its neighbours have changed.
        let preds = cfg.predecessors(found.header).iter();
        let near = found.blocks.iter().chain(preds).copied();
        let near: Vec<Block> =
            near.chain(found.blocks.iter().flat_map(|&block| func.successors(block))).collect();
        if near.iter().any(|&block| touched.contains(block)) {
            continue;
        }
        // A copy of a header, which another rotation made in this layer, is where the header was, so that what dominated it still does.
        if let Some(mut plan) = Plan::of(func, &cfg, &dominators, found) {
            touched.extend(near);
            plan.close(func, &cfg, found);
            plan.carry_out(func, &cfg, found);
            changes += 1;
        }
    }
    changes
}

/// Variables of the source that are bound to values are bound to others.
fn map_bindings(func: &mut Function, inst: Inst, map: &FxHashMap<Value, Value>) {
    let Some(debug) = &mut func.debug else { return };
    for &id in func.layout.records(inst) {
        let storage = &mut debug.bindings[id].storage;
        *storage = storage.map(|value| map.get(&value).copied().unwrap_or(value));
    }
}

/// Bindings of a block to values that another block has as parameters stand at the start of that one too.
fn bind_again(func: &mut Function, from: Block, to: Block, map: &FxHashMap<Value, Value>) {
    let Some(debug) = &mut func.debug else { return };
    let insts = func.layout.insts(from);
    let ids: Vec<_> = insts.flat_map(|inst| func.layout.records(inst)).copied().collect();
    let mut new = Vec::new();
    for id in ids {
        let Binding { variable, piece, storage } = debug.bindings[id];
        if let Some(&value) = storage.value().and_then(|value| map.get(&value)) {
            new.push(debug.bindings.push(Binding { variable, piece, storage: storage.map(|_| value) }));
        }
    }
    new.into_iter().rev().for_each(|id| func.layout.bind_at_start(to, id));
}

/// Which of some values of the header other blocks of the loop use, and which blocks behind it.
fn used(func: &Function, found: Loop<'_>, own: &EntitySet<Value>) -> [Vec<Value>; 2] {
    let mut lists = [Vec::new(), Vec::new()];
    for block in func.layout.blocks().filter(|&block| block != found.header) {
        let list = &mut lists[usize::from(!found.blocks.contains(&block))];
        for inst in func.layout.insts(block) {
            list.extend(func.dfg.uses(inst).filter(|&value| own.contains(value)));
        }
    }
    for list in &mut lists {
        list.sort_unstable();
        list.dedup();
    }
    lists
}

/// Parameters of a block for values.
fn params(func: &mut Function, block: Block, values: &[Value]) -> FxHashMap<Value, Value> {
    let mut param = |&value: &Value| {
        let param = func.dfg.append_block_param(block, func.dfg.ty(value));
        super::take_over_name(func, value, param);
        (value, param)
    };
    values.iter().map(&mut param).collect()
}

struct Plan {
    /// Where the header goes on in the loop, and out of it.
    body: Block,
    exit: Block,
    /// What the header computes and others use: within the loop, behind it.
    for_body: Vec<Value>,
    for_exit: Vec<Value>,
    /// How what is used behind the loop gets there.
    closing: Closing,
}

/// How values of the header get to their users behind the loop.
enum Closing {
    /// From the header's way out, on which all users lie.
    ByHeader,
    /// By way of the one block that all ways out lead to.
    Shared,
    /// By ways out that each have their own users.
    Apart(Vec<apart::Way>),
}

/// What the header computes.
fn own_values(func: &Function, header: Block) -> EntitySet<Value> {
    let mut own: EntitySet<Value> = EntitySet::new();
    own.extend(func.dfg.block_params(header).iter().copied());
    own.extend(func.layout.insts(header).flat_map(|inst| func.dfg.results(inst)));
    own
}

impl Plan {
    fn of(func: &Function, cfg: &Cfg, dominators: &DominatorTree, found: Loop<'_>) -> Option<Plan> {
        let header = found.header;
        let inside = |block: Block| found.blocks.contains(&block);
        let InstData::Brif { dests: [yes, no], .. } = &func.dfg[func.terminator(header)?] else {
            return None;
        };
        let (body, exit) = match [inside(yes.block), inside(no.block)] {
            [true, false] => (yes.block, no.block),
            [false, true] => (no.block, yes.block),
            _ => return None,
        };
        let mut size = 0;
        for inst in func.layout.insts(header) {
            size += 1;
            if func.traits(inst).intersects(Traits::CONVERGENT.union(Traits::SIDE_EFFECT)) {
                return None;
            }
        }
        // A loop that leaves at its end is as it should be.
        let latches = cfg.predecessors(header).iter().copied().filter(|&block| inside(block));
        let stays = |block: Block| func.successors(block).all(inside);
        if size > MAX_SIZE
            || body == header
            || cfg.predecessors(body).len() != 1
            || !latches.clone().all(stays)
        {
            return None;
        }
        let own = own_values(func, header);
        let [for_body, for_exit] = used(func, found, &own);
        let leaves_elsewhere = found
            .blocks
            .iter()
            .filter(|&&block| block != header)
            .any(|&block| func.successors(block).any(|next| !inside(next)));
        // What is used behind the loop has to come through the one block that all of its ends lead to.
        let shared = || {
            let leads_on = |block: Block| func.successors(block).all(|to| inside(to) || to == exit);
            found.blocks.iter().all(|&block| leads_on(block))
                && cfg.predecessors(exit).iter().all(|&block| inside(block))
        };
        let closing = if !leaves_elsewhere || for_exit.is_empty() {
            Closing::ByHeader
        } else if shared() {
            Closing::Shared
        } else {
            Closing::Apart(apart::ways(func, cfg, dominators, found, &own, exit)?)
        };
        Some(Plan { body, exit, for_body, for_exit, closing })
    }

    /// Gives what is used behind the loop to the blocks that its ends lead to, as parameters.
    fn close(&mut self, func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
        match std::mem::replace(&mut self.closing, Closing::ByHeader) {
            Closing::ByHeader => return,
            Closing::Shared => self.close_shared(func, cfg, found),
            Closing::Apart(ways) => apart::close(func, cfg, ways),
        }
        [self.for_body, self.for_exit] = used(func, found, &own_values(func, found.header));
    }

    /// Gives it to the one block that all of them lead to.
    fn close_shared(&mut self, func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
        let values = std::mem::take(&mut self.for_exit);
        let params = params(func, self.exit, &values);
        for block in func.layout.blocks().filter(|block| !found.blocks.contains(block)).collect::<Vec<_>>() {
            for inst in func.layout.insts(block).collect::<Vec<_>>() {
                func.dfg.map_uses(inst, |value| params.get(&value).copied().unwrap_or(value));
                map_bindings(func, inst, &params);
            }
        }
        apart::give(func, cfg, self.exit, &values);
    }

    fn carry_out(self, func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
        let header = found.header;
        // A block of its own behind the loop, which nothing else leads to.
        let behind = func.dfg.make_block();
        let last = func.layout.blocks().filter(|block| found.blocks.contains(block)).last();
        func.layout.insert_block_after(behind, last.unwrap_or(header));
        let of_body = params(func, self.body, &self.for_body);
        let of_exit = params(func, behind, &self.for_exit);
        for block in func.layout.blocks().filter(|&block| block != header).collect::<Vec<_>>() {
            let map = if found.blocks.contains(&block) { &of_body } else { &of_exit };
            if map.is_empty() {
                continue;
            }
            for inst in func.layout.insts(block).collect::<Vec<_>>() {
                func.dfg.map_uses(inst, |value| map.get(&value).copied().unwrap_or(value));
                map_bindings(func, inst, map);
            }
        }
        // What the header has bound is so where it leads to, whichever of its copies was executed.
        bind_again(func, header, self.body, &of_body);
        bind_again(func, header, behind, &of_exit);
        let Some(branch) = func.terminator(header) else { return };
        let (exit, body) = (self.exit, self.body);
        let mut onward = None;
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == exit {
                onward = Some(BlockCall { block: exit, args: call.args.deep_clone(pool) });
                *call = BlockCall { block: behind, args: ValueList::from_slice(&self.for_exit, pool) };
            } else if call.block == body {
                call.args.extend(self.for_body.iter().copied(), pool);
            }
        });
        // What the header gave to the exit is given by the new block, of what it was given.
        if let Some(mut dest) = onward {
            let args = dest.args.as_slice(&func.dfg.pool).to_vec();
            let new: Vec<Value> =
                args.into_iter().map(|arg| self.at_exit(func, header, behind, &of_exit, arg)).collect();
            dest.args = ValueList::from_slice(&new, &mut func.dfg.pool);
            let jump = func.dfg.make_inst(InstData::Jump { dest }, &[]);
            func.inst_locs[jump] = func.inst_locs[branch];
            func.layout.append_inst(jump, behind);
        }
        let before = cfg.predecessors(header).iter().copied().filter(|block| !found.blocks.contains(block));
        let before: Vec<Block> = before.collect();
        let after = before.last().copied().unwrap_or(header);
        let copied = copy_blocks(func, &[header], after);
        let decision = copied.blocks[&header];
        // What is said of the loop stands at its first block, which is another now.
        let hint = func.loop_hints[header].take();
        func.loop_hints[decision] = None;
        func.loop_hints[body] = func.loop_hints[body].or(hint);
        for block in before {
            if let Some(branch) = func.terminator(block) {
                func.dfg.for_each_target_mut(branch, |call, _| {
                    if call.block == header {
                        call.block = decision;
                    }
                });
            }
        }
        // The way into the loop has a block of its own, for what will move there.
        let preheader = func.dfg.make_block();
        func.layout.insert_block_after(preheader, decision);
        let Some(first) = func.terminator(decision) else { return };
        let mut dest = None;
        func.dfg.for_each_target_mut(first, |call, pool| {
            if call.block == body {
                dest = Some(BlockCall { block: body, args: call.args.deep_clone(pool) });
                *call = BlockCall { block: preheader, args: ValueList::new() };
            }
        });
        if let Some(dest) = dest {
            let jump = func.dfg.make_inst(InstData::Jump { dest }, &[]);
            func.inst_locs[jump] = func.inst_locs[first];
            func.layout.append_inst(jump, preheader);
        }
    }

    /// What a value that the header gave to the exit is in the block between them.
    fn at_exit(
        &self,
        func: &mut Function,
        header: Block,
        behind: Block,
        known: &FxHashMap<Value, Value>,
        value: Value,
    ) -> Value {
        if let Some(&param) = known.get(&value) {
            return param;
        }
        let of_header = func.dfg.block_params(header).contains(&value)
            || func.dfg.def_inst(value).and_then(|inst| func.layout.block_of(inst)) == Some(header);
        if !of_header {
            return value;
        }
        let param = func.dfg.append_block_param(behind, func.dfg.ty(value));
        if let Some(branch) = func.terminator(header) {
            func.dfg.for_each_target_mut(branch, |call, pool| {
                if call.block == behind {
                    call.args.push(value, pool);
                }
            });
        }
        param
    }
}
