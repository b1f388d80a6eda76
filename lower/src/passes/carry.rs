//! Memory that a loop reads and writes at one address, `sum[t] += a[i]`, is kept in a value: read in front of the loop and written behind it.
//!
//! Every round has to come to the load and then to the store, and the loop has to end in one place, behind both: then what is loaded in front is loaded anyway,
//! and what is stored behind was stored anyway. Nothing else in the loop may touch the bytes or let other threads see them: barriers, calls, atomics in order.
//!
//! Where other loads may read the bytes, or stores write them between the load and the store, the store stays, and only what it stored is not loaded again:
//! `sum[t] += a[i] * x[i]`, where `sum` may be `x`. So it does where the next round loads what this one stored at another address,
//! `out[i] = out[i - 1] + a[i]` ([`rounds`]).

mod rounds;

use crate::analysis::{Access, Cfg, Effect, Loop, Loops, Nest, Pointers};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use rounds::{First, Rounds};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Opcode, Traits, Type, Value, ValueDef};

/// Effects of a loop that are compared; a loop with more stays.
const MAX_EFFECTS: usize = 256;

/// Values that a loop carries, which all want registers.
const MAX_CARRIED: usize = 32;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let loops = cx.analyses.get::<Loops>(func);
    let stores = |found: Loop<'_>| {
        let mut insts = found.blocks.iter().flat_map(|&block| func.layout.insts(block));
        insts.any(|inst| matches!(func.dfg[inst], InstData::Store { .. }))
    };
    if !loops.iter().any(stores) {
        return Changes::NONE;
    }
    let (pointers, dominators) = (cx.analyses.get::<Pointers>(func), cx.analyses.get::<DominatorTree>(func));
    let innermost = Nest::compute(&loops).innermost;
    let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut plans: Vec<Plan> = Vec::new();
    for (found, mark) in loops.iter().zip(1..) {
        found.blocks.iter().for_each(|&block| inside[block] = mark);
        let of_loop = Plan::all(func, found, &pointers, &dominators, |block| inside[block] == mark);
        // In a loop of this one they would be executed several times a round.
        let is_own = |inst: Inst| func.layout.block_of(inst).is_some_and(|block| innermost[block] == mark);
        let own = of_loop.into_iter().filter(|plan| is_own(plan.load) && is_own(plan.store));
        plans.extend(own.take(MAX_CARRIED));
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
    /// Where the loop goes round.
    latches: SmallVec<[Block; 2]>,
    load: Inst,
    store: Inst,
    /// Whether it is the next round that loads what a round stores, and the blocks of the loop if so.
    ahead: Option<Vec<Block>>,
    /// Whether nothing else reads the bytes, so that the store can move behind the one place where the loop ends.
    sinks: bool,
}

impl Plan {
    /// What a loop may carry: of two plans, neither touches the bytes of the other but as the other allows.
    fn all(
        func: &Function,
        found: Loop<'_>,
        pointers: &Pointers,
        dominators: &DominatorTree,
        inside: impl Fn(Block) -> bool,
    ) -> Vec<Plan> {
        let ends = Ends::of(func, found, &inside);
        let rounds = match ends.latches[..] {
            [latch] => Some(Rounds { func, header: found.header, latch }),
            _ => None,
        };
        let Some(effects) = effects(func, found, pointers) else { return Vec::new() };
        let search = Search { func, found, pointers, dominators, ends, rounds, effects, inside };
        (0..search.effects.len()).filter_map(|at| search.plan(at)).collect()
    }

    fn carry_out(self, func: &mut Function, cfg: &Cfg) -> bool {
        let Plan { header, latches, load, store, ahead, sinks } = self;
        let mut before = cfg.predecessors(header).iter().copied().filter(|block| !latches.contains(block));
        let (Some(before), None) = (before.next(), before.next()) else { return false };
        let Some(entry) = func.terminator(before) else { return false };
        let InstData::Jump { .. } = func.dfg[entry] else { return false };
        let InstData::Store { args: [value, _], .. } = func.dfg[store] else { return false };
        let (&InstData::Load { flags, offset: from_offset, ptr: from }, Some(loaded)) =
            (&func.dfg[load], func.dfg.first_result(load))
        else {
            return false;
        };
        let ty = func.dfg.ty(loaded);
        let from = match ahead {
            None => Some(from),
            Some(blocks) => {
                let outside =
                    |func: &Function, value: Value| is_outside(func, value, |block| blocks.contains(&block));
                let mut first = First { func, header, entry, made: FxHashMap::default() };
                first.of(from, &outside, rounds::MAX_COPIED)
            }
        };
        let Some(from) = from else { return false };
        let first = InstData::Load { flags, offset: from_offset, ptr: from };
        let first = super::insert_before(func, entry, first, ty);
        let param = func.dfg.append_block_param(header, ty);
        super::replace_with(func, load, param);
        let value = func.dfg.resolve(value);
        func.dfg.for_each_target_mut(entry, |call, pool| _ = call.args.push(first, pool));
        for &latch in &latches {
            let Some(branch) = func.terminator(latch) else { continue };
            func.dfg.for_each_target_mut(branch, |call, pool| {
                if call.block == header {
                    call.args.push(value, pool);
                }
            });
        }
        let (true, [end]) = (sinks, &latches[..]) else { return true };
        let out = func.successors(*end).find(|&next| next != header);
        let Some(behind) = out.and_then(|out| super::part_edge(func, *end, out)) else { return true };
        func.layout.remove_inst(store);
        func.layout.insert_inst_before(store, behind);
        true
    }
}

/// The blocks in which a round of a loop ends.
struct Ends {
    /// They lead to the next round, or out of the loop.
    all: SmallVec<[Block; 4]>,
    /// They lead to the next round.
    latches: SmallVec<[Block; 2]>,
    /// Whether there is one, whose branch does both.
    is_one: bool,
}

impl Ends {
    fn of(func: &Function, found: Loop<'_>, inside: impl Fn(Block) -> bool) -> Ends {
        let header = found.header;
        let leads_out = |block: Block| func.successors(block).any(|next| next == header || !inside(next));
        let all: SmallVec<[Block; 4]> =
            found.blocks.iter().copied().filter(|&block| leads_out(block)).collect();
        let goes_round = |block: &Block| func.successors(*block).any(|next| next == header);
        let latches = all.iter().copied().filter(goes_round).collect();
        let is_one = match all[..] {
            [end] => match func.terminator(end).map(|branch| &func.dfg[branch]) {
                Some(InstData::Brif { dests, .. }) => {
                    [0, 1].iter().any(|&n| dests[n].block == header && !inside(dests[1 - n].block))
                }
                _ => false,
            },
            _ => false,
        };
        Ends { all, latches, is_one }
    }
}

/// A loop in which a load and a store of one address are looked for.
struct Search<'a, I> {
    func: &'a Function,
    found: Loop<'a>,
    pointers: &'a Pointers,
    dominators: &'a DominatorTree,
    ends: Ends,
    /// Its rounds, where it goes round in one place.
    rounds: Option<Rounds<'a>>,
    effects: Vec<(Inst, Effect)>,
    inside: I,
}

/// The load that belongs to a store.
struct Loaded {
    load: Inst,
    /// Whether it finds what the round before has stored.
    ahead: bool,
    /// Whether nothing else reads the bytes, and the store can move behind the loop.
    sinks: bool,
}

impl<I: Fn(Block) -> bool> Search<'_, I> {
    /// What becomes of the store that is one of the effects, if it is one.
    fn plan(&self, at: usize) -> Option<Plan> {
        let (store, effect) = self.effects[at];
        let (InstData::Store { args: [value, ptr], .. }, Effect::Writes(written)) =
            (&self.func.dfg[store], effect)
        else {
            return None;
        };
        let ty = self.func.dfg.ty(*value);
        let Loaded { load, ahead, sinks } = self.load_of(at, ty, *ptr, &written)?;
        if ahead && self.writes_beside(store, &written) {
            return None;
        }
        let always = self.comes_before(load, &self.ends.all) && self.comes_before(store, &self.ends.latches);
        let ahead = ahead.then(|| self.found.blocks.to_vec());
        let latches = || self.ends.latches.clone();
        let fits = always && !ty.is_aggregate();
        fits.then(|| Plan { header: self.found.header, latches: latches(), load, store, ahead, sinks })
    }

    /// The load that finds what a store has written, if nothing else does anything to the bytes but read them.
    fn load_of(&self, at: usize, ty: Type, ptr: Value, written: &Access) -> Option<Loaded> {
        let (store, _) = self.effects[at];
        let outside = |value: Value| is_outside(self.func, value, &self.inside);
        let (mut load, mut sinks, mut ahead) = (None, self.ends.is_one, false);
        for (n, &(inst, other)) in self.effects.iter().enumerate().filter(|&(n, _)| n != at) {
            let may_be = load.is_none()
                && self.is_before((n, inst), (at, store))
                && self.func.dfg.first_result(inst).map(|result| self.func.dfg.ty(result)) == Some(ty);
            match other {
                Effect::Reads(read) if may_be && outside(ptr) && is_same(&read, written) => load = Some(inst),
                Effect::Reads(_)
                    if may_be
                        && self.rounds.as_ref().is_some_and(|rounds| rounds.meet(inst, store, &outside)) =>
                {
                    (load, ahead, sinks) = (Some(inst), true, false);
                }
                other if !self.pointers.may_touch(self.func, other, written) => {}
                Effect::Reads(_) => sinks = false,
                // What is written between the load and the store is overwritten.
                Effect::Writes(_) if load.is_some() && !ahead && self.is_above((n, inst), (at, store)) => {
                    sinks = false;
                }
                _ => return None,
            }
        }
        // Bytes and halves that are loaded are extended for nothing; those that are carried would have to be.
        load.filter(|_| sinks || ty.bits() >= 32).map(|load| Loaded { load, ahead, sinks })
    }

    /// Whether an effect comes before another in each round that has both, by their numbers in a block.
    fn is_before(&self, (n, inst): (usize, Inst), (at, store): (usize, Inst)) -> bool {
        let [of, block] = [inst, store].map(|inst| self.func.layout.block_of(inst));
        match (of, block) {
            (Some(of), Some(block)) if of == block => n < at,
            (Some(of), Some(block)) => self.dominators.dominates(of, block),
            _ => false,
        }
    }

    /// Whether an effect comes before another in the same block.
    fn is_above(&self, (n, inst): (usize, Inst), (at, store): (usize, Inst)) -> bool {
        n < at && self.func.layout.block_of(inst) == self.func.layout.block_of(store)
    }

    /// Whether another store may write in the next round, in front of the load, what a store has written.
    fn writes_beside(&self, store: Inst, written: &Access) -> bool {
        self.effects.iter().any(|&(inst, other)| {
            inst != store
                && matches!(other, Effect::Writes(access) if access.pointer.root == written.pointer.root)
        })
    }

    /// Whether every way to the end of some blocks leads through an instruction.
    fn comes_before(&self, inst: Inst, all: &[Block]) -> bool {
        let own = self.func.layout.block_of(inst);
        own.is_some_and(|own| all.iter().all(|&block| self.dominators.dominates(own, block)))
    }
}

/// What the instructions of a loop do to memory, those of a block in order. `None` if they are too many, or may end the thread.
fn effects(func: &Function, found: Loop<'_>, pointers: &Pointers) -> Option<Vec<(Inst, Effect)>> {
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

/// Whether a value is computed outside a loop.
fn is_outside(func: &Function, value: Value, inside: impl Fn(Block) -> bool) -> bool {
    match func.dfg.def(value) {
        ValueDef::Result(inst, _) => func.layout.block_of(inst).is_some_and(|block| !inside(block)),
        ValueDef::Param(block, _) => !inside(block),
        ValueDef::Alias(_) | ValueDef::Detached => false,
    }
}

/// Whether two accesses are of the same bytes.
fn is_same(a: &Access, b: &Access) -> bool {
    a.pointer.root == b.pointer.root
        && a.pointer.distance == b.pointer.distance
        && a.bytes == b.bytes
        && a.space == b.space
}
