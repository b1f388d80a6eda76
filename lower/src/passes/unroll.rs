//! Full unrolling of loops with a known number of rounds.
//!
//! The rounds are counted by running what decides them: the parameters of the loop's header start as constants, the condition of the one exit
//! that is decided in every round is folded with them, and so are their values in the next round. What is unrolled becomes so many copies of
//! the loop's blocks in a row; other exits stay what they are. A loop that goes through an array in a stack slot is worth far more copies
//! than others: with known indices the array becomes values.
//!
//! What a copy costs is what is left of it when its counters are constants: neither what is computed from them, nor what is the same in all rounds.
//!
//! Loops with convergent operations are copied as a whole where they are left at one place only, or where the source wants it.
//!
//! A layer of loops that do not touch each other is unrolled at a time, inner loops first; what is used behind them gets the value of the copy that
//! was left once for all of a layer, so that a layer takes time in proportion to the function.

mod rounds;

use super::copy::{Copied, copy_blocks};
use super::ssa;
use crate::analysis::{Analyses, Cfg, Loop, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::{EntitySet, SecondaryMap};
use rounds::{Known, Rounds};
use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, LoopHint, Opcode, Traits, Value};

/// No loop of more rounds is looked at if the source does not want it.
const MAX_ROUNDS: usize = 128;
/// Instructions that a loop may become, by what is left of its rounds.
const MAX_COST: usize = 512;
/// Instructions that its rounds may have before they are simplified.
const MAX_SIZE: usize = 8192;
/// Instructions that a loop may become which indexes a stack slot.
const MAX_SIZE_WITH_SLOTS: usize = 4096;
/// Instructions that a loop may become of which the source wants it: as many as LLVM's `-pragma-unroll-threshold`.
const MAX_WANTED: usize = 16_384;
/// Instructions that it may become before its rounds are simplified.
const MAX_SIZE_WANTED: usize = 65_536;
/// Instructions that all loops of a function may become together.
const MAX_GROWTH: usize = 20_000;
/// Instructions that loops may become together which pay more: of which the source wants it, or that go through stack slots.
const MAX_GROWTH_LARGE: usize = 400_000;
/// Blocks that a loop around others may have.
const MAX_NEST: usize = 32;
/// Instructions that a loop around others may become, which are unrolled then.
const MAX_NEST_COST: usize = 320;
/// Loops around loops are found one layer at a time.
const MAX_LAYERS: u32 = 8;
/// How far a slot is looked for from the address of an access.
const MAX_DEPTH: u32 = 32;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = 0;
    let (mut growth, mut growth_large) = (0, 0);
    // Why the loops of the last layer stay loops.
    let mut kept: Vec<(Block, &'static str)> = Vec::new();
    for n in 0..MAX_LAYERS {
        // Each layer sees the blocks that the one before has made.
        let mut own = Analyses::default();
        let analyses = if n == 0 { &mut *cx.analyses } else { &mut own };
        let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
        let headers: FxHashMap<Block, Loop<'_>> = loops.iter().map(|found| (found.header, found)).collect();
        // Of all loops, once one of them is unrolled.
        let mut used_behind: Option<FxHashMap<Block, Vec<Value>>> = None;
        let mut layer = Layer::default();
        kept.clear();
        // Blocks of which the analyses may say what holds no more.
        let mut touched: EntitySet<Block> = EntitySet::new();
        for found in loops.iter() {
            let nested =
                found.blocks.iter().any(|&block| block != found.header && headers.contains_key(&block));
            // The next layer looks again at what lies beside a loop that has changed.
            if layer.unrolled > 0 && near(func, &cfg, found).any(|block| touched.contains(block)) {
                continue;
            }
            let wanted = is_wanted(func, found.header);
            if nested && found.blocks.len() > MAX_NEST && !wanted {
                kept.push((found.header, "there are too many blocks in the loops inside it"));
                continue;
            }
            let inside = found.blocks.iter().filter(|&&block| block != found.header);
            let inner: Vec<Loop<'_>> = inside.filter_map(|block| headers.get(block).copied()).collect();
            match Plan::of(func, &cfg, found, &inner) {
                Ok(plan) => {
                    let (grown, limit) = match plan.large {
                        true => (&mut growth_large, MAX_GROWTH_LARGE),
                        false => (&mut growth, MAX_GROWTH),
                    };
                    if *grown + plan.grown > limit {
                        kept.push((found.header, "other loops of the function have become too long"));
                        continue;
                    }
                    touched.extend(near(func, &cfg, found));
                    *grown += plan.grown;
                    let used_behind = used_behind.get_or_insert_with(|| live_out(func, &loops));
                    let values = used_behind.remove(&found.header).unwrap_or_default();
                    plan.carry_out(func, &cfg, found, values, &mut layer);
                }
                Err(why) => kept.push((found.header, why)),
            }
        }
        if layer.unrolled == 0 {
            break;
        }
        changes += layer.unrolled;
        layer.close(func);
    }
    for (header, why) in kept {
        let at = func.terminator(header);
        cx.log.remark(func, at, "unroll", false, || format!("loop not unrolled: {why}"));
    }
    Changes::to_all(changes)
}

/// The blocks of a loop, and those beside it.
fn near<'f>(func: &'f Function, cfg: &'f Cfg, found: Loop<'f>) -> impl Iterator<Item = Block> + 'f {
    let own = found.blocks.iter().chain(cfg.predecessors(found.header)).copied();
    own.chain(found.blocks.iter().flat_map(|&block| func.successors(block)))
}

/// Whether the source asks for as many copies of a loop as it has rounds, if that is known.
fn is_wanted(func: &Function, header: Block) -> bool {
    match func.loop_hints[header] {
        Some(LoopHint::UnrollFull | LoopHint::UnrollEnable) => true,
        Some(LoopHint::NoUnroll | LoopHint::Unroll(_)) | None => false,
    }
}

/// What is left to do when the loops of a layer have been copied.
#[derive(Default)]
struct Layer {
    unrolled: u32,
    /// What is used behind the loops, in each copy.
    defined: Vec<ssa::Defined>,
    /// The blocks of the loops, to which nothing leads any more.
    gone: Vec<Block>,
}

impl Layer {
    /// Makes what is used behind loops the value of the copy that the loop was left in, and removes the loops.
    fn close(self, func: &mut Function) {
        if !self.defined.is_empty() {
            ssa::repair(func, &Cfg::compute(func), &self.defined);
        }
        self.gone.into_iter().for_each(|block| func.layout.remove_block(block));
    }
}

/// A loop that can be unrolled, and how.
struct Plan {
    /// How often the deciding block stays in the loop.
    rounds: usize,
    /// The block whose branch decides.
    decides: Block,
    /// What of a round comes before that.
    before_leaving: Vec<Block>,
    /// Where its branch goes on in the loop, and where out of it: the numbers of its targets.
    stays: usize,
    /// Instructions that the copies have.
    grown: usize,
    /// Whether it is worth more copies than others.
    large: bool,
}

impl Plan {
    /// How to unroll a loop, or why not.
    fn of(func: &Function, cfg: &Cfg, found: Loop<'_>, inner: &[Loop<'_>]) -> Result<Plan, &'static str> {
        if func.loop_hints[found.header] == Some(LoopHint::NoUnroll) {
            return Err("the source forbids it");
        }
        let blocks: FxHashSet<Block> = found.blocks.iter().copied().collect();
        let inside = |block: Block| blocks.contains(&block);
        let insts = || found.blocks.iter().flat_map(|&block| func.layout.insts(block));
        let size = insts().count();
        let wanted = is_wanted(func, found.header);
        if size > if wanted { MAX_SIZE_WANTED } else { MAX_SIZE_WITH_SLOTS } {
            return Err("it has too many instructions");
        }
        let convergent = insts().any(|inst| func.traits(inst).contains(Traits::CONVERGENT));
        let mut latches = cfg.predecessors(found.header).iter().copied().filter(|&block| inside(block));
        let (Some(latch), None) = (latches.next(), latches.next()) else {
            return Err("several blocks lead back to its beginning");
        };
        let large = wanted || insts().any(|inst| indexes_slot(func, inst));
        let (size_allowed, cost_allowed) = match (wanted, large) {
            (true, _) => (MAX_SIZE_WANTED, MAX_WANTED),
            (false, true) => (MAX_SIZE_WITH_SLOTS, MAX_SIZE_WITH_SLOTS),
            (false, false) => (MAX_SIZE, MAX_COST),
        };
        let rounds_allowed = size_allowed / size.max(1);
        let rounds_allowed = if wanted { rounds_allowed } else { rounds_allowed.min(MAX_ROUNDS) };
        let run = Rounds { func, found, cfg, latch };
        let known = Known::default();
        let Some((decides, stays, rounds)) = run.decided(rounds_allowed, &known) else {
            return Err("the number of its rounds is not known, or too large");
        };
        let Some(cost) = run.cost().map(|cost| rounds * cost).filter(|cost| *cost <= cost_allowed) else {
            return Err("its rounds have too many instructions that are not the same in all of them");
        };
        // A loop around others is worth its copies if they say how many rounds the others have.
        if !inner.is_empty() && !wanted {
            let state = run.start(&known).unwrap_or_default();
            let known_inside = |inner: &Loop<'_>| {
                let mut latches = cfg.predecessors(inner.header).iter().copied();
                let latch = latches.find(|block| inner.blocks.contains(block));
                let wanted = func.loop_hints[inner.header] != Some(LoopHint::NoUnroll);
                latch.filter(|_| wanted).is_some_and(|latch| {
                    let run = Rounds { func, found: *inner, cfg, latch };
                    run.decided(MAX_ROUNDS, &known).is_none() && run.decided(MAX_ROUNDS, &state).is_some()
                })
            };
            if cost > if large { MAX_COST } else { MAX_NEST_COST } {
                return Err("it has too many instructions for a loop around others");
            }
            if !inner.iter().any(known_inside) {
                return Err("its copies would not say how many rounds the loops inside it have");
            }
        }
        // Whole copies of a loop that all threads leave at one place keep together who communicates.
        let leaves =
            found.blocks.iter().flat_map(|&block| func.successors(block)).filter(|&block| !inside(block));
        if convergent && !wanted && leaves.count() > 1 {
            return Err("threads that work together could leave it at several places");
        }
        let before_leaving = run.before_branch(decides);
        Ok(Plan { rounds, decides, before_leaving, stays, grown: rounds * size, large })
    }

    fn carry_out(
        self,
        func: &mut Function,
        cfg: &Cfg,
        found: Loop<'_>,
        used_behind: Vec<Value>,
        layer: &mut Layer,
    ) {
        move_quotients(func, cfg, found);
        let mut last = found.blocks.iter().copied().find(|&block| func.layout.next_block(block).is_none());
        let mut copies: Vec<Copied> = Vec::with_capacity(self.rounds + 1);
        for round in 0..=self.rounds {
            let leaves = round == self.rounds;
            // The last one leaves where that is decided.
            let blocks = if leaves { &self.before_leaving[..] } else { found.blocks };
            let after = last.or(func.layout.last_block()).unwrap_or(found.header);
            let copied = copy_blocks(func, blocks, after);
            last = blocks.last().and_then(|block| copied.blocks.get(block)).copied();
            self.decide(func, &copied, leaves);
            copies.push(copied);
        }
        let entries: Vec<Block> = cfg.predecessors(found.header).to_vec();
        for block in entries.into_iter().filter(|block| !found.blocks.contains(block)) {
            redirect(func, block, found.header, copies[0].blocks[&found.header]);
        }
        for (round, copied) in copies.iter().enumerate() {
            let Some(next) = copies.get(round + 1) else { break };
            let (from, to) = (copied.blocks[&found.header], next.blocks[&found.header]);
            for &block in copied.blocks.values() {
                redirect(func, block, from, to);
            }
        }
        let of_copies = |value: Value| {
            // What has left the loop is the same in all copies.
            let own = func.block_of(value).filter(|block| found.blocks.contains(block))?;
            let each =
                copies.iter().filter_map(|copied| Some((*copied.blocks.get(&own)?, copied.value(value))));
            Some((value, each.collect()))
        };
        layer.defined.extend(used_behind.into_iter().filter_map(of_copies));
        layer.gone.extend(found.blocks);
        layer.unrolled += 1;
    }

    /// Makes a jump of the branch that decides, in a copy.
    fn decide(&self, func: &mut Function, copied: &Copied, leaves: bool) {
        let Some(branch) = copied.blocks.get(&self.decides).and_then(|&block| func.terminator(block)) else {
            return;
        };
        if let InstData::Brif { dests, .. } = &func.dfg[branch] {
            let way = if leaves { 1 - self.stays } else { self.stays };
            let dest = dests[way].clone();
            func.dfg.replace_inst(branch, InstData::Jump { dest });
        }
    }
}

/// Moves quotients by constants that are the same in all rounds to the jump into the loop: in branches of the copies no block in front of all of them would have them.
fn move_quotients(func: &mut Function, cfg: &Cfg, found: Loop<'_>) {
    let inside = |block: Block| found.blocks.contains(&block);
    let mut entries = cfg.predecessors(found.header).iter().copied().filter(|&block| !inside(block));
    let (Some(entry), None) = (entries.next(), entries.next()) else { return };
    let Some(jump) = func.terminator(entry) else { return };
    if !matches!(func.dfg[jump], InstData::Jump { .. }) {
        return;
    }
    for &block in found.blocks {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            let InstData::Binary { op: Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem, args } =
                func.dfg[inst]
            else {
                continue;
            };
            let [x, by] = args.map(|arg| func.dfg.resolve(arg));
            if func.dfg.int_const(by).is_none() || func.block_of(x).is_none_or(inside) {
                continue;
            }
            let constant = func.dfg.def_inst(by).filter(|_| func.block_of(by).is_some_and(inside));
            for moved in constant.into_iter().chain([inst]) {
                func.layout.remove_inst(moved);
                func.layout.insert_inst_before(moved, jump);
            }
        }
    }
}

/// Sends the edges from a block to another elsewhere.
pub(super) fn redirect(func: &mut Function, block: Block, from: Block, to: Block) {
    if let Some(branch) = func.terminator(block) {
        func.dfg.for_each_target_mut(branch, |call: &mut BlockCall, _| {
            if call.block == from {
                call.block = to;
            }
        });
    }
}

/// The values of each loop that instructions outside use, by its header.
fn live_out(func: &Function, loops: &Loops) -> FxHashMap<Block, Vec<Value>> {
    // The innermost loop around each block, and the loop around each loop, by its number; inner loops come after outer ones.
    let mut innermost: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    let mut around: Vec<(Block, Option<u32>)> = Vec::with_capacity(loops.iter().len());
    for (n, found) in (0..).zip(loops.iter()) {
        around.push((found.header, innermost[found.header]));
        found.blocks.iter().for_each(|&block| innermost[block] = Some(n));
    }
    let outwards = |block: Block| {
        std::iter::successors(innermost[block], |&n| around.get(n as usize).and_then(|(_, outer)| *outer))
    };
    let mut values: FxHashMap<Block, Vec<Value>> = FxHashMap::default();
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            for value in func.dfg.uses(inst) {
                let Some(own) = func.block_of(value).filter(|&own| innermost[own] != innermost[block]) else {
                    continue;
                };
                for n in outwards(own).take_while(|&n| outwards(block).all(|other| other != n)) {
                    values.entry(around[n as usize].0).or_default().push(value);
                }
            }
        }
    }
    for list in values.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    values
}

/// Whether an instruction computes an address in a stack slot from an index that is not known.
fn indexes_slot(func: &Function, inst: Inst) -> bool {
    let (InstData::Index { args: [base, index], .. }
    | InstData::Binary { op: Opcode::Ptradd, args: [base, index] }) = func.dfg[inst]
    else {
        return false;
    };
    if func.dfg.int_const(index).is_some() {
        return false;
    }
    let mut at = base;
    for _ in 0..MAX_DEPTH {
        match func.dfg.def_data(at) {
            Some(InstData::StackAddr { .. }) => return true,
            Some(
                &InstData::Index { args: [base, _], .. }
                | &InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
                | &InstData::Unary { op: Opcode::Addrspacecast, arg: base },
            ) => at = base,
            _ => return false,
        }
    }
    false
}
