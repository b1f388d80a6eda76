//! Partial unrolling of counted loops: several rounds in one, behind a test that so many are left; what remains is done by the loop as it was.
//!
//! The loop counts by a step that it does not change up or down to a bound that it does not change, and is left at its end by a test of the
//! counter. With `k` rounds in one, the unrolled loop runs while the counter has not passed the bound less `k - 1` steps, which is computed in front of
//! it; where that itself would wrap, or a step that is only known when the program runs is not positive, the loop as it was does everything. So the
//! counter does not wrap in between, and the addresses of all rounds are those of the first one and a stride each ([`strides`]). A loop that
//! counts by a fixed step until it meets its bound (`ne`) runs to the last multiple of `k` rounds. The counter may be an address (`p != end`). Where the number of rounds is known and a multiple of `k`,
//! nothing remains.
//!
//! The bound may be wider than the counter, `k < n` of an `int` and a `long`. An extension keeps the order, so where the bound is a number of the counter's type,
//! the loop ends as one that compares with that number, and its counter does not wrap before. This is tested in front of the loops; with any other bound,
//! where the counter may wrap, the loop as it was does everything.
//!
//! A loop may have several such counters and go on while each does, `i < n && j < m`: then all of this holds of each.
//!
//! A loop is copied whole, with the branches and the convergent operations in it. Where it is left in other places too, each copy is. With convergent operations it must run equally often in all
//! threads of a warp, so that the test keeps together what was together. How many rounds become one is what the source says (`unroll n`), else as
//! many as keep the loop short.

use super::copy::{Copied, copy_blocks};
use super::{insert_before, ssa};
use crate::analysis::{Cfg, Loop, Loops, Uniformity};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use guard::Guard;
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{
    Block, BlockCall, DominatorTree, Function, Inst, InstData, IntCC, LoopHint, Opcode, Type, Value,
};

mod close;
mod guard;
mod plan;
mod strides;

/// Instructions that all loops of a function may become together.
const MAX_GROWTH: usize = 20_000;
/// What is used behind a loop with several exits is looked for in the whole function: so many instructions in all.
const MAX_WORK: usize = 1 << 22;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    // Those that are left in several places come first: what is used behind them may go through the others.
    let (mut growth, mut changes) = (0, 0);
    for exits in [true, false] {
        let changed = loops(func, cx, exits, &mut growth);
        if changed > 0 {
            cx.analyses.invalidate(Aspects::ALL);
        }
        changes += changed;
    }
    Changes::to_all(changes)
}

/// Goes over the loops that are left in several places, or in one. Says how many have changed.
fn loops(func: &mut Function, cx: &mut Context<'_>, exits: bool, growth: &mut usize) -> u32 {
    let loops = cx.analyses.get::<Loops>(func);
    let mut sources = Sources { cfg: cx.analyses.get::<Cfg>(func), changed: FxHashMap::default() };
    let mut shape = Shape {
        dominators: cx.analyses.get::<DominatorTree>(func),
        headers: loops.iter().map(|found| found.header).collect(),
        order: SecondaryMap::new(),
    };
    for (n, &block) in sources.cfg.reverse_postorder().iter().enumerate() {
        shape.order[block] = n;
    }
    let mut work = MAX_WORK;
    let mut planned: Vec<Loop<'_>> = Vec::new();
    // The blocks of planned loops, and the end of the loop for those that are left there only.
    let mut taken: FxHashSet<Block> = FxHashSet::default();
    let mut latches: FxHashMap<Block, Block> = FxHashMap::default();
    let mut stays = |func: &Function, found: Loop<'_>, why: &str| {
        let at = func.terminator(found.header);
        cx.log.remark(func, at, "partial", false, || format!("no rounds of the loop made one: {why}"));
    };
    for found in loops.iter().filter(|found| is_left_inside(func, *found) == exits) {
        match Plan::of(func, &sources, &shape, found) {
            Ok(_) if found.blocks.iter().any(|block| taken.contains(block)) => {
                stays(func, found, "rounds of a loop around it become one");
            }
            Ok(plan) if *growth + plan.rounds * plan.size > MAX_GROWTH => {
                stays(func, found, "other loops of the function have become too long");
            }
            Ok(plan) if plan.convergent && !plan.is_uniform(func, &cx.analyses.get::<Uniformity>(func)) => {
                stays(func, found, "threads work together in it, and may leave it in different rounds");
            }
            Ok(plan) if plan.exits && work < func.dfg.num_insts() => {
                stays(
                    func,
                    found,
                    "the function is too large to look at all loops that are left in several places",
                );
            }
            Ok(plan) => {
                *growth += plan.rounds * plan.size;
                taken.extend(plan.blocks.iter().copied());
                match plan.exits {
                    true => work -= func.dfg.num_insts(),
                    false => latches.extend(plan.blocks.iter().map(|&block| (block, plan.latch))),
                }
                planned.push(found);
            }
            Err(why) => stays(func, found, why),
        }
    }
    if planned.is_empty() {
        return 0;
    }
    if !latches.is_empty() {
        close::values(func, &latches, &mut sources);
    }
    for &found in &planned {
        // The loop may have become another one's neighbour meanwhile.
        match Plan::of(func, &sources, &shape, found) {
            Ok(plan) => plan.carry_out(func, &mut sources),
            Err(why) => stays(func, found, why),
        }
    }
    if exits {
        ssa::remove_redundant_params(func);
    }
    super::cfg::merge_chains(func, &Cfg::compute(func));
    func.dfg.resolve_aliases();
    planned.len() as u32
}

/// Whether a loop is left by another block than one that leads back to its header.
fn is_left_inside(func: &Function, found: Loop<'_>) -> bool {
    // Longer ones stay as they are in any case.
    if found.blocks.len() > plan::MAX_WANTED {
        return false;
    }
    let inside: FxHashSet<Block> = found.blocks.iter().copied().collect();
    found.blocks.iter().any(|&block| {
        let leads_back = func.successors(block).any(|to| to == found.header);
        !leads_back && func.successors(block).any(|to| !inside.contains(&to))
    })
}

/// What is known of the function as it was at first.
struct Shape {
    dominators: Arc<DominatorTree>,
    /// The headers of all loops.
    headers: FxHashSet<Block>,
    /// The places of blocks in reverse postorder.
    order: SecondaryMap<Block, usize>,
}

/// Where the edges into blocks are from, while loops are copied: only of headers of loops is it asked.
struct Sources {
    cfg: Arc<Cfg>,
    /// The blocks whose edges are others than in the graph.
    changed: FxHashMap<Block, SmallVec<[Block; 4]>>,
}

impl Sources {
    /// One for each edge.
    fn of(&self, block: Block) -> &[Block] {
        match self.changed.get(&block) {
            Some(sources) => sources,
            None => self.cfg.predecessors(block),
        }
    }

    fn of_mut(&mut self, block: Block) -> &mut SmallVec<[Block; 4]> {
        let cfg = &self.cfg;
        self.changed.entry(block).or_insert_with(|| cfg.predecessors(block).into())
    }

    fn add(&mut self, block: Block, source: Block) {
        self.of_mut(block).push(source);
    }

    fn replace(&mut self, block: Block, old: Block, new: Block) {
        self.of_mut(block).iter_mut().filter(|source| **source == old).for_each(|source| *source = new);
    }
}

/// What is added to the counter in each round.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    /// A value from outside the loop.
    Value(Value),
}

/// How a loop counts.
struct Counter {
    /// The counter is the n-th parameter of the header.
    param: usize,
    /// What the counter is at first.
    start: Value,
    /// What adds the step to it.
    next: Inst,
    step: Step,
    /// The loop goes on while the next counter compares so with the bound.
    cond: IntCC,
    bound: Value,
    /// How the counter is extended to the type of the bound, where that is wider.
    widened: Option<Opcode>,
}

struct Plan {
    header: Block,
    /// The block whose branch alone leads back to the header and out of the loop.
    latch: Block,
    /// The blocks of the loop, each behind those that alone lead to it.
    blocks: Vec<Block>,
    inside: FxHashSet<Block>,
    /// The blocks that every round goes through.
    always: FxHashSet<Block>,
    /// The block that alone leads into the loop.
    before: Block,
    size: usize,
    /// Whether threads work together in the loop.
    convergent: bool,
    /// Whether it is left in other places than its end.
    exits: bool,
    rounds: usize,
    /// Whether the rounds of the loop are known to be a multiple of those that become one.
    exact: bool,
    /// The loop goes on while each of these does. Addresses go by the first.
    counters: SmallVec<[Counter; 1]>,
    /// Which target of the branch is the loop.
    stays: usize,
}

impl Plan {
    /// No value of a loop that is left at its end only is used outside: what is handed on are arguments of the branch there, and copies of it pass on
    /// theirs.
    fn carry_out(self, func: &mut Function, sources: &mut Sources) {
        let Plan { header, latch, rounds, .. } = self;
        let live_out = if self.exits { self.live_out(func) } else { Vec::new() };
        let hint = func.loop_hints[header].take().filter(|hint| *hint != LoopHint::UnrollEnable);
        let Some(at) = func.layout.prev_block(header) else { return };
        let guard = self.guard(func, at);
        let mut copies: Vec<Copied> = Vec::with_capacity(rounds);
        let mut after = guard.block;
        for _ in 0..rounds {
            let copied = copy_blocks(func, &self.blocks, after);
            after = self.blocks.last().map_or(after, |last| copied.blocks[last]);
            copies.push(copied);
        }
        let headers: Vec<Block> = copies.iter().map(|copied| copied.blocks[&header]).collect();
        let latches: Vec<Block> = copies.iter().map(|copied| copied.blocks[&latch]).collect();
        // From one round to the next there is nothing to decide.
        for (n, &end) in latches.iter().enumerate() {
            let Some(branch) = func.terminator(end) else { continue };
            let given = self.next_round(func, branch);
            match headers.get(n + 1) {
                Some(&next) => {
                    let dest = BlockCall::new(next, &given, &mut func.dfg.pool);
                    func.dfg.replace_inst(branch, InstData::Jump { dest });
                }
                None => self.end(func, sources, &guard, (end, branch), &given, [headers[0], headers[n]]),
            }
        }
        self.count(func, &copies);
        self.enter(func, &guard, headers[0]);
        strides::share(func, &self, &guard, &copies);
        headers.iter().for_each(|&copy| func.loop_hints[copy] = None);
        func.loop_hints[headers[0]] = hint.map(|_| LoopHint::NoUnroll);
        sources.replace(header, self.before, guard.block);
        if self.exits {
            self.leave(func, sources, &copies, &live_out);
        }
        if self.exact {
            self.blocks.iter().for_each(|&block| func.layout.remove_block(block));
        } else {
            // What is left is less than what was unrolled, and is not unrolled again.
            func.loop_hints[header] = Some(LoopHint::NoUnroll);
        }
    }

    /// The values that other blocks use.
    fn live_out(&self, func: &Function) -> Vec<Value> {
        let mut own: EntitySet<Block> = EntitySet::new();
        own.extend(self.blocks.iter().copied());
        ssa::used_outside(func, &Cfg::compute(func), &own)
    }

    /// What is used behind the loop is what the copy has that it was left in.
    fn leave(&self, func: &mut Function, sources: &mut Sources, copies: &[Copied], live_out: &[Value]) {
        for &block in self.blocks.iter().filter(|&&block| block != self.latch) {
            let Some(branch) = func.terminator(block) else { continue };
            let outside = func.dfg.targets(branch).map(|call| call.block);
            let outside: SmallVec<[Block; 4]> = outside.filter(|to| !self.inside.contains(to)).collect();
            for (to, copied) in outside.iter().flat_map(|&to| copies.iter().map(move |copied| (to, copied))) {
                sources.add(to, copied.blocks[&block]);
            }
        }
        let defined = live_out.iter().filter_map(|&value| {
            let own = func.block_of(value)?;
            let of_copies = copies.iter().map(|copied| (copied.blocks[&own], copied.value(value)));
            let of_loop = (!self.exact).then_some((own, value));
            Some((value, of_copies.chain(of_loop).collect()))
        });
        let defined: Vec<ssa::Defined> = defined.collect();
        ssa::repair(func, &Cfg::compute(func), &defined);
    }

    /// Makes the end of the last copy: once more, or what remains, or the end.
    fn end(
        &self,
        func: &mut Function,
        sources: &mut Sources,
        guard: &Guard,
        (end, branch): (Block, Inst),
        given: &[Value],
        [first, last]: [Block; 2],
    ) {
        let rest = func.dfg.make_block();
        func.layout.insert_block_after(rest, end);
        func.layout.remove_inst(branch);
        func.layout.append_inst(branch, rest);
        defer_test(func, end, branch, given);
        if self.exact {
            let InstData::Brif { dests, .. } = &func.dfg[branch] else { return };
            let dest = dests[1 - self.stays].clone();
            sources.replace(dest.block, self.latch, rest);
            func.dfg.replace_inst(branch, InstData::Jump { dest });
        } else {
            // The loop as it was goes on from where this one stops.
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == last {
                    call.block = self.header;
                }
                sources.add(call.block, rest);
            });
        }
        let add = |func: &mut Function, data: InstData| {
            let inst = func.dfg.make_inst(data, &[Type::I1]);
            func.layout.append_inst(inst, end);
            func.inst_locs[inst] = func.inst_locs[branch];
            func.dfg.first_result(inst)
        };
        let mut cond: Option<Value> = None;
        for (counter, &limit) in self.counters.iter().zip(&guard.limits) {
            let args = [given[counter.param], limit];
            let test = add(func, InstData::IntCompare { cond: counter.cond, args });
            cond = match (cond, test) {
                (Some(a), Some(b)) => add(func, InstData::Binary { op: Opcode::Band, args: [a, b] }),
                (cond, test) => cond.or(test),
            };
        }
        let Some(cond) = cond else { return };
        let again = BlockCall::new(first, given, &mut func.dfg.pool);
        let stop = BlockCall::new(rest, &[], &mut func.dfg.pool);
        let test = func.dfg.make_inst(InstData::Brif { cond, dests: [again, stop] }, &[]);
        func.layout.append_inst(test, end);
        func.inst_locs[test] = func.inst_locs[branch];
    }

    /// Counts from the first of the rounds in one in all of them, by so many steps.
    fn count(&self, func: &mut Function, copies: &[Copied]) {
        for counter in &self.counters {
            let (Step::Constant(step), Some(next)) = (counter.step, func.dfg.first_result(counter.next))
            else {
                continue;
            };
            let first = copies[0].value(func.dfg.block_params(self.header)[counter.param]);
            let promised = func.dfg.no_signed_wrap(counter.next);
            for (copied, n) in copies.iter().zip(1..) {
                let Some(sum) = func.dfg.def_inst(copied.value(next)) else { continue };
                let ty = func.dfg.ty(next);
                let (op, distance) = (guard::sum(ty), guard::distance(ty));
                let by = InstData::IntConst { value: distance.normalize(step.wrapping_mul(n)) };
                let args = [first, insert_before(func, sum, by, distance)];
                func.dfg.replace_inst(sum, InstData::Binary { op, args });
                func.dfg.set_promised(sum, promised);
            }
        }
    }

    /// What a round gives to the next one.
    fn next_round(&self, func: &Function, branch: Inst) -> Vec<Value> {
        let call = func.dfg.targets(branch).nth(self.stays);
        call.map(|call| call.args(&func.dfg.pool).to_vec()).unwrap_or_default()
    }

    /// Leads what led into the loop to the guard, and that on to either loop.
    fn enter(&self, func: &mut Function, guard: &Guard, unrolled: Block) {
        if let Some(branch) = func.terminator(self.before) {
            func.dfg.for_each_target_mut(branch, |call, _| {
                if call.block == self.header {
                    call.block = guard.block;
                }
            });
        }
        let [unrolled, whole] =
            [unrolled, self.header].map(|block| BlockCall::new(block, &guard.params, &mut func.dfg.pool));
        let end = match guard.cond {
            Some(cond) => InstData::Brif { cond, dests: [unrolled, whole] },
            None => InstData::Jump { dest: unrolled },
        };
        func.dfg.replace_inst(guard.end, end);
    }
}

/// Moves what only a branch asks from the end of a copy to the branch: whether to go on with what remains is asked there only.
fn defer_test(func: &mut Function, end: Block, branch: Inst, given: &[Value]) {
    let mut first = branch;
    let mut work: SmallVec<[Value; 4]> = func.dfg.args(branch).first().copied().into_iter().collect();
    while let Some(value) = work.pop() {
        let Some(inst) = func.dfg.def_inst(value) else { continue };
        let is_test = matches!(
            func.dfg[inst],
            InstData::IntCompare { .. }
                | InstData::Unary { op: Opcode::Sext | Opcode::Zext, .. }
                | InstData::Binary { op: Opcode::Band | Opcode::Bor, .. }
        );
        let used = func.layout.insts(end).flat_map(|user| func.dfg.uses(user)).any(|used| used == value);
        if !is_test || func.layout.block_of(inst) != Some(end) || used || given.contains(&value) {
            continue;
        }
        func.layout.remove_inst(inst);
        func.layout.insert_inst_before(inst, first);
        first = inst;
        work.extend(func.dfg.args(inst).iter().copied());
    }
}
