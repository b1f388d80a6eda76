//! Uniformity: which values are the same in all threads of a warp that execute an instruction together, and which branches therefore lead all of
//! these threads the same way.
//!
//! Threads differ in what they are (`tid`, `laneid`), in what they load from memory that others write, and in what functions give them. What is computed
//! from the same is the same, but for two things. Where ways that threads parted on meet, a block parameter has what the way gave it. And what a loop
//! computes in each round differs behind the loop if threads leave it in different rounds.
//!
//! As everywhere where convergence matters, threads are taken to execute together whatever they can: those that parted at a branch go on together where
//! their ways meet, and threads in a loop are in the same round.
//!
//! The search is optimistic: everything is uniform at first. In functions with cycles that are not loops nothing is.

use super::{Analyses, Analysis, Cfg, Loops, Nest};
use crate::pass::Aspects;
use cranelift_entity::{EntitySet, SecondaryMap};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, FuncKind, Function, Inst, InstData, Opcode, PtxOperand, Traits, Value, ValueDef};
use warpsmith_isa::{self as isa, StateSpace};

/// Sweeps over the function; where that is not enough, nothing is uniform.
const MAX_SWEEPS: usize = 32;
/// Blocks that are looked at behind divergent branches, for each block of the function; where that is not enough, nothing is uniform.
const MAX_SPREAD: usize = 64;

/// What is the same in all threads that execute together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Uniformity {
    /// The values that may differ where they are computed; none if nothing is known.
    divergent: Option<SecondaryMap<Value, bool>>,
    nest: Nest,
    /// The loops that threads may leave in different rounds.
    apart: Vec<bool>,
}

impl Uniformity {
    /// Whether a value is the same in all threads that execute an instruction of a block together, which uses it.
    pub fn is_uniform(&self, func: &Function, value: Value, at: Block) -> bool {
        let value = func.dfg.resolve(value);
        if is_same_everywhere(func, value) {
            return true;
        }
        let Some(divergent) = &self.divergent else { return false };
        !divergent[value] && !self.differs_behind(func, value, at)
    }

    /// Whether all threads that execute the end of a block together go on to the same block.
    pub fn stays_together(&self, func: &Function, block: Block) -> bool {
        func.terminator(block)
            .is_some_and(|end| decides(func, end).is_none_or(|value| self.is_uniform(func, value, block)))
    }

    /// Whether a value is computed in a loop that threads leave in different rounds, and a block is behind that.
    fn differs_behind(&self, func: &Function, value: Value, at: Block) -> bool {
        let defined = match func.dfg.def(value) {
            ValueDef::Result(inst, _) => func.layout.block_of(inst),
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Alias(_) | ValueDef::Detached => None,
        };
        defined.is_none_or(|block| self.nest.left(block, at).any(|n| self.apart[n]))
    }

    fn nothing() -> Uniformity {
        Uniformity { divergent: None, nest: Nest::default(), apart: Vec::new() }
    }
}

impl Analysis for Uniformity {
    const NAME: &'static str = "uniformity";
    const READS: Aspects = Aspects::ALL;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let (cfg, loops) = (analyses.get::<Cfg>(func), analyses.get::<Loops>(func));
        Search::new(func, &cfg, &loops).and_then(Search::run).unwrap_or_else(Uniformity::nothing)
    }
}

/// The value that decides where a terminator leads.
#[expect(clippy::wildcard_enum_match_arm, reason = "only branches decide anything")]
fn decides(func: &Function, end: Inst) -> Option<Value> {
    match func.dfg[end] {
        InstData::Brif { cond, .. } => Some(cond),
        InstData::Switch { arg, .. } => Some(arg),
        _ => None,
    }
}

fn is_same_everywhere(func: &Function, value: Value) -> bool {
    matches!(
        func.dfg.def_data(value),
        Some(
            InstData::IntConst { .. }
                | InstData::FloatConst { .. }
                | InstData::GlobalAddr { .. }
                | InstData::FuncAddr { .. }
                | InstData::Zero
        )
    )
}

/// How threads that parted at a branch are spread over the blocks behind it.
#[derive(Default)]
struct Spread {
    /// The last block where ways met on each way to a block, or where the way begins.
    labels: FxHashMap<Block, Block>,
    /// The blocks where ways meet.
    joins: EntitySet<Block>,
    /// Blocks to go on from, in reverse postorder.
    pending: BinaryHeap<Reverse<u32>>,
    /// Loops around the branch whose next round some threads get to, with the label that they do so with.
    again: FxHashMap<usize, Block>,
    /// Loops around the branch that some threads leave.
    left: EntitySet<Block>,
}

struct Search<'f> {
    func: &'f Function,
    cfg: &'f Cfg,
    loops: Vec<super::Loop<'f>>,
    order: SecondaryMap<Block, u32>,
    known: Uniformity,
    divergent: SecondaryMap<Value, bool>,
    /// The blocks whose branches have been found to part threads.
    parting: EntitySet<Block>,
    /// How many blocks may still be looked at.
    work: usize,
    changed: bool,
}

impl<'f> Search<'f> {
    /// None where there are cycles that are not loops.
    fn new(func: &'f Function, cfg: &'f Cfg, loops: &'f Loops) -> Option<Self> {
        let nest = Nest::compute(loops);
        let loops: Vec<_> = loops.iter().collect();
        let mut order: SecondaryMap<Block, u32> = SecondaryMap::new();
        for (n, &block) in cfg.reverse_postorder().iter().enumerate() {
            order[block] = n as u32;
        }
        for &block in cfg.reverse_postorder() {
            for next in func.successors(block) {
                if order[next] <= order[block] && !nest.around(block).any(|n| loops[n].header == next) {
                    return None;
                }
            }
        }
        let mut divergent: SecondaryMap<Value, bool> = SecondaryMap::new();
        divergent.resize(func.dfg.num_values());
        if func.kind != FuncKind::Kernel {
            func.param_values().iter().for_each(|&param| divergent[param] = true);
        }
        let apart = vec![false; loops.len()];
        let known = Uniformity { divergent: Some(SecondaryMap::new()), nest, apart };
        let work = MAX_SPREAD * cfg.reverse_postorder().len();
        let parting = EntitySet::new();
        Some(Search { func, cfg, loops, order, known, divergent, parting, work, changed: false })
    }

    fn run(mut self) -> Option<Uniformity> {
        for _ in 0..MAX_SWEEPS {
            self.changed = false;
            for &block in self.cfg.reverse_postorder() {
                self.sweep(block)?;
            }
            if !self.changed {
                self.known.divergent = Some(self.divergent);
                return Some(self.known);
            }
        }
        None
    }

    fn diverges(&self, value: Value, at: Block) -> bool {
        let value = self.func.dfg.resolve(value);
        if self.divergent[value] {
            return true;
        }
        self.known.differs_behind(self.func, value, at) && !is_same_everywhere(self.func, value)
    }

    fn mark(&mut self, value: Value) {
        if !std::mem::replace(&mut self.divergent[value], true) {
            self.changed = true;
        }
    }

    /// Looks at a block once. None if there is too much to look at.
    fn sweep(&mut self, block: Block) -> Option<()> {
        let func = self.func;
        for inst in func.layout.insts(block) {
            let results = func.dfg.results(inst);
            if results.into_iter().any(|result| !self.divergent[result]) && self.gives_different(inst, block)
            {
                results.into_iter().for_each(|result| self.mark(result));
            }
        }
        let end = func.terminator(block)?;
        for call in func.dfg.targets(end) {
            for (param, arg) in func.dfg.given(call) {
                if !self.divergent[param] && self.diverges(arg, call.block) {
                    self.mark(param);
                }
            }
        }
        let parts = decides(func, end).is_some_and(|value| self.diverges(value, block));
        if parts && self.parting.insert(block) {
            self.changed = true;
            self.spread(block)?;
        }
        Some(())
    }

    /// Whether the results of an instruction may differ between threads that execute it together.
    fn gives_different(&self, inst: Inst, block: Block) -> bool {
        let func = self.func;
        let any = |values: &[Value]| values.iter().any(|&value| self.diverges(value, block));
        let computed = || !func.traits(inst).is_pure() || any(func.dfg.args(inst));
        match &func.dfg[inst] {
            // All threads with a mask get the same.
            InstData::List { op: Opcode::Vote | Opcode::Ballot | Opcode::WarpReduce, args, .. } => {
                args.as_slice(&func.dfg.pool).last().is_none_or(|&mask| self.diverges(mask, block))
            }
            InstData::Ptx { data, args } if is_collective(&func.dfg.ptx[*data]) => {
                let last = func.dfg.ptx[*data].operands.last();
                match last {
                    Some(PtxOperand::Int(_)) => false,
                    Some(PtxOperand::Value) => {
                        args.as_slice(&func.dfg.pool).last().is_none_or(|&mask| self.diverges(mask, block))
                    }
                    Some(_) | None => true,
                }
            }
            InstData::Load { flags, ptr, .. } => {
                let unchanging = match func.dfg.ty(*ptr).space() {
                    Some(StateSpace::Const) => true,
                    Some(StateSpace::Param) => func.kind == FuncKind::Kernel,
                    Some(StateSpace::Global | StateSpace::Shared) => flags.invariant,
                    // Each thread has its own local memory, which generic addresses may be of.
                    Some(
                        StateSpace::Generic
                        | StateSpace::Local
                        | StateSpace::Reg
                        | StateSpace::Sreg
                        | StateSpace::Tex,
                    )
                    | None => false,
                };
                !unchanging || flags.volatile || self.diverges(*ptr, block)
            }
            InstData::Sreg { reg } => !reg.is_uniform(),
            InstData::StackAddr { .. } | InstData::Call { .. } | InstData::CallIndirect { .. } => true,
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Zero => false,
            InstData::List { .. }
            | InstData::Ptx { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return { .. }
            | InstData::Trap => computed(),
        }
    }

    /// Finds where the threads that part at a branch meet again, and the loops that they leave in different rounds.
    ///
    /// Each way from the branch on has a label, that of the last block where ways met or of its first block. Where two labels meet, ways do. Threads that
    /// get to the next round of a loop around the branch may leave that at each of its exits, in a later round than others.
    fn spread(&mut self, branch: Block) -> Option<()> {
        let mut spread = Spread::default();
        let mut first: EntitySet<Block> = EntitySet::new();
        for next in self.func.successors(branch) {
            if !first.insert(next) {
                spread.joins.insert(next);
            }
            self.follow(&mut spread, branch, (branch, next), next);
        }
        while let Some(Reverse(at)) = spread.pending.pop() {
            self.work = self.work.checked_sub(1)?;
            let block = self.cfg.reverse_postorder()[at as usize];
            // All threads that are still under way come here, in the same round of all loops.
            let nest = &self.known.nest;
            let rounds =
                |n: usize| spread.again.contains_key(&n) || spread.left.contains(self.loops[n].header);
            if spread.pending.is_empty() && !nest.around(block).any(rounds) {
                break;
            }
            let label = spread.labels[&block];
            for next in self.func.successors(block) {
                self.follow(&mut spread, branch, (block, next), label);
            }
        }
        for &n in spread.again.keys() {
            if spread.left.contains(self.loops[n].header) && !self.known.apart[n] {
                self.known.apart[n] = true;
                self.changed = true;
            }
        }
        let func = self.func;
        for join in spread.joins.iter() {
            for &param in func.dfg.block_params(join) {
                self.mark(param);
            }
        }
        Some(())
    }

    fn follow(&self, spread: &mut Spread, branch: Block, (from, to): (Block, Block), label: Block) {
        let nest = &self.known.nest;
        for n in nest.left(from, to).filter(|&n| nest.contains(n, branch)) {
            spread.left.insert(self.loops[n].header);
        }
        if self.order[to] > self.order[from] {
            return self.reach(spread, to, label);
        }
        // Back to the head of a loop. One that is entered behind the branch is entered with one label, by all threads in it.
        let Some(n) = nest.around(from).find(|&n| self.loops[n].header == to) else { return };
        if !nest.contains(n, branch) {
            return;
        }
        if let Some(&other) = spread.again.get(&n) {
            if other != label {
                spread.joins.insert(to);
            }
            return;
        }
        spread.again.insert(n, label);
        for &block in self.loops[n].blocks {
            for exit in self.func.successors(block).filter(|&exit| !nest.contains(n, exit)) {
                let around =
                    nest.left(block, exit).filter(|&other| other < n && nest.contains(other, branch));
                around.for_each(|other| _ = spread.left.insert(self.loops[other].header));
                self.reach(spread, exit, to);
            }
        }
    }

    fn reach(&self, spread: &mut Spread, block: Block, label: Block) {
        match spread.labels.get(&block) {
            None => {
                spread.labels.insert(block, label);
                spread.pending.push(Reverse(self.order[block]));
            }
            Some(_) if spread.joins.contains(block) => {}
            Some(&other) if other == label => {}
            Some(_) => {
                spread.joins.insert(block);
                spread.labels.insert(block, block);
                spread.pending.push(Reverse(self.order[block]));
            }
        }
    }
}

/// Whether an operation gives the same to all threads with the same mask, which is its last operand.
fn is_collective(data: &warpsmith_ir::PtxData) -> bool {
    let mnemonic = data.mnemonic();
    let votes = mnemonic.opcode() == isa::Opcode::Vote && mnemonic.has(isa::Mod::Sync);
    data.traits().contains(Traits::CONVERGENT) && (votes || mnemonic.opcode() == isa::Opcode::Redux)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each branch, in the order of the blocks, whether it keeps threads together.
    fn branches(text: &str) -> Vec<bool> {
        let module = warpsmith_ir::parse_module(text).unwrap();
        warpsmith_ir::verify(&module).unwrap();
        let func = module.functions.values().next().unwrap();
        let known = Analyses::default().get::<Uniformity>(func);
        let blocks = func.layout.blocks();
        let branches = blocks.filter(|&block| func.successors(block).count() > 1);
        branches.map(|block| known.stays_together(func, block)).collect()
    }

    #[test]
    fn threads_differ_by_their_number_and_by_what_they_load() {
        let text = "kernel @k(%n: i32, %p: ptr<global>) {\nentry:\n  %t = sreg.tid.x\n  %b = sreg.ctaid.x\n  %u = icmp slt %b, %n\n  \
                    brif %u, a, end\na:\n  %x = load.i32 %p\n  %c = icmp slt %x, %n\n  brif %c, b, end\nb:\n  %y = load.i32 invariant %p\n  \
                    %d = icmp slt %y, %n\n  brif %d, c, end\nc:\n  %e = icmp slt %t, %y\n  brif %e, end, end\nend:\n  ret\n}\n";
        assert_eq!(branches(text), [true, false, true, false]);
        let of_function = text.replace("kernel", "func");
        assert_eq!(branches(&of_function), [false, false, false, false], "whose parameters differ");
    }

    #[test]
    fn what_ways_give_differs_where_they_meet() {
        let text = "kernel @k(%n: i32) {\nentry:\n  %t = sreg.tid.x\n  %one = iconst.i32 1\n  %two = iconst.i32 2\n  %c = icmp slt %t, %n\n  \
                    %u = icmp slt %n, %two\n  brif %c, yes, no\nyes:\n  brif %u, deep, flat\ndeep:\n  jump inner(%one)\nflat:\n  \
                    jump inner(%two)\ninner(%i: i32):\n  %ci = icmp eq %i, %one\n  brif %ci, join(%one), join(%one)\nno:\n  \
                    jump join(%two)\njoin(%x: i32):\n  %d = icmp eq %x, %one\n  brif %d, a, b\na:\n  jump b\nb:\n  brif %u, end, end\nend:\n  ret\n}\n";
        // The ways inside the divergent one are chosen by all of its threads alike.
        assert_eq!(branches(text), [false, true, true, false, true]);
    }

    #[test]
    fn counters_differ_behind_loops_that_threads_leave_in_different_rounds() {
        let counted = |bound: &str| {
            format!(
                "kernel @k(%n: i32) {{\nentry:\n  %t = sreg.tid.x\n  %zero = iconst.i32 0\n  %one = iconst.i32 1\n  jump head(%zero)\n\
                 head(%i: i32):\n  %next = iadd %i, %one\n  %odd = icmp eq %i, %one\n  brif %odd, work, last\nwork:\n  jump last\n\
                 last:\n  %more = icmp slt %next, {bound}\n  brif %more, head(%next), behind\nbehind:\n  %c = icmp slt %i, %n\n  \
                 brif %c, end, end\nend:\n  ret\n}}\n"
            )
        };
        assert_eq!(branches(&counted("%n")), [true, true, true]);
        assert_eq!(branches(&counted("%t")), [true, false, false]);
    }

    #[test]
    fn a_loop_left_in_the_middle() {
        // Threads leave at the thread's number, or all together at the end; behind, some come from here and some from there.
        let text = "kernel @k(%n: i32) {\nentry:\n  %t = sreg.tid.x\n  %zero = iconst.i32 0\n  %one = iconst.i32 1\n  jump head(%zero)\n\
                    head(%i: i32):\n  %out = icmp eq %i, %t\n  brif %out, found, last\nlast:\n  %next = iadd %i, %one\n  %more = icmp slt %next, %n\n  \
                    brif %more, head(%next), missed\nfound:\n  jump behind(%one)\nmissed:\n  jump behind(%zero)\n\
                    behind(%x: i32):\n  %c = icmp eq %x, %one\n  brif %c, end, end\nend:\n  ret\n}\n";
        assert_eq!(branches(text), [false, true, false]);
    }

    #[test]
    fn a_loop_in_a_loop_that_is_left_in_different_rounds() {
        let text = "kernel @k(%n: i32) {\nentry:\n  %t = sreg.tid.x\n  %zero = iconst.i32 0\n  %one = iconst.i32 1\n  jump outer(%zero)\n\
                    outer(%i: i32):\n  jump inner(%zero)\ninner(%j: i32):\n  %jn = iadd %j, %one\n  %c = icmp slt %jn, %t\n  \
                    brif %c, inner(%jn), after\nafter:\n  %u = icmp slt %i, %n\n  brif %u, a, b\na:\n  jump b\nb:\n  %v = icmp slt %j, %n\n  \
                    brif %v, d, e\nd:\n  jump e\ne:\n  %in = iadd %i, %one\n  %more = icmp slt %in, %n\n  brif %more, outer(%in), end\nend:\n  ret\n}\n";
        assert_eq!(branches(text), [false, true, false, true]);
    }

    #[test]
    fn nothing_is_known_of_cycles_that_are_no_loops() {
        let text = "kernel @k(%n: i32) {\nentry:\n  %t = sreg.tid.x\n  %c = icmp slt %t, %n\n  %u = icmp slt %n, %n\n  brif %c, a, b\na:\n  \
                    brif %u, b, end\nb:\n  brif %u, a, end\nend:\n  ret\n}\n";
        assert_eq!(branches(text), [false, false, false]);
    }
}
