//! Sinking: an operation that only some of the ways behind it need moves to where these part, down to the block that has all of its users.
//!
//! What is computed in front of a branch and used on one side only is computed there for nothing on the other, and keeps a register busy in between; of
//! what is computed in front of the first `if` of a kernel ptxas keeps less in uniform registers too. Nothing moves into a loop that it was not in: it goes
//! to the block in front of the loop, which is made where there is none (`cfg` drops it again if nothing came). Operations without effect move, convergent
//! ones stay, and so do constants, which selection makes where they are used, and what would keep more in registers than it computes: the two halves of a
//! word do not, together.
//!
//! A load moves behind the branch that ends its block, if nothing between the two has an effect, so that it finds what it found; if no other way leads to
//! where it moves; and if the branch waits for no load itself, since two loads that wait for one another take twice the time of two that do not.

use crate::analysis::{Analyses, Cfg, Loops, PostDominators};
use crate::pass::{Changes, Context};
use crate::users::Users;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::sync::Arc;
use warpsmith_ir::debug::Storage;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Value};

/// Instructions of a block that ptxas gives a predicate each, in place of a branch around it.
const MAX_GUARDED: usize = 2;
/// Users of a value that are looked at together.
const MAX_TOGETHER: usize = 8;
/// Steps up the dominator tree that are made for one use.
const MAX_STEPS: u32 = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let added = super::licm::make_preheaders(func, cx.analyses);
    let mut own = Analyses::default();
    let analyses = if added > 0 { &mut own } else { &mut *cx.analyses };
    let places = Places::of(func, analyses);
    let cfg = analyses.get::<Cfg>(func);
    let guarded = guarded(func, &cfg);
    // The block that dominates all uses that were seen so far.
    let mut used_in: SecondaryMap<Value, Option<Block>> = SecondaryMap::new();
    let mut moved: EntitySet<Value> = EntitySet::new();
    let users: OnceCell<Users> = OnceCell::new();
    let mut changes = 0;
    // Users come before what they use.
    for &block in cfg.reverse_postorder().iter().rev() {
        let mut next = func.layout.last_inst(block);
        // Whether a load that stands here may as well stand behind the branch.
        let mut loads_move = !waits_for_load(func, block);
        while let Some(inst) = next {
            next = func.layout.prev_inst(inst);
            let plain_load =
                matches!(func.dfg[inst], InstData::Load { flags, .. } if !flags.volatile) && loads_move;
            let to = (plain_load || func.traits(inst).is_pure())
                .then(|| target(func, &places, &used_in, &users, block, inst))
                .flatten()
                .filter(|to| !guarded.contains(*to))
                .and_then(|to| if plain_load { places.next(&cfg, block, to) } else { Some(to) });
            loads_move &= func.terminator(block) == Some(inst) || func.traits(inst).is_removable();
            if let Some(to) = to
                && let Some(first) = func.layout.first_inst(to)
            {
                func.layout.remove_inst(inst);
                func.layout.insert_inst_before(inst, first);
                moved.extend(func.dfg.results(inst));
                changes += 1;
            }
            let at = to.unwrap_or(block);
            for value in func.dfg.uses(inst) {
                let value = func.dfg.resolve(value);
                let seen = used_in[value].map_or(at, |other| places.meet(other, at));
                used_in[value] = Some(seen);
            }
        }
    }
    if changes > 0 && func.debug.is_some() {
        unbind(func, &places.tree, &moved);
    }
    if added > 0 { Changes::to_all(changes + added) } else { Changes::to_instructions(changes) }
}

/// Blocks in a row that a branch goes around each and that do no more than an access of memory, as the elements of a masked vector are accessed: what would
/// come to one would make a branch of its predicate, and would not be shared with the others.
fn guarded(func: &Function, cfg: &Cfg) -> EntitySet<Block> {
    let mut found: Vec<[Block; 3]> = Vec::new();
    let (mut parts, mut joins): (EntitySet<Block>, EntitySet<Block>) = (EntitySet::new(), EntitySet::new());
    for &block in cfg.reverse_postorder() {
        let (&[from], Some(end)) = (cfg.predecessors(block), func.terminator(block)) else { continue };
        let InstData::Jump { dest } = &func.dfg[end] else { continue };
        let around = func.successors(from).any(|other| other == dest.block);
        let is_constant =
            |inst: Inst| matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. });
        let insts = func.layout.insts(block).filter(|&inst| inst != end && !is_constant(inst));
        if !around || insts.clone().nth(MAX_GUARDED).is_some() {
            continue;
        }
        let accesses = |inst| matches!(func.dfg[inst], InstData::Load { .. } | InstData::Store { .. });
        if insts.clone().any(accesses)
            && insts.clone().all(|inst| accesses(inst) || func.traits(inst).is_pure())
        {
            found.push([from, block, dest.block]);
            parts.insert(from);
            joins.insert(dest.block);
        }
    }
    let in_row = |&[from, _, join]: &[Block; 3]| joins.contains(from) || parts.contains(join);
    let mut guarded = EntitySet::new();
    guarded.extend(found.iter().filter(|one| in_row(one)).map(|&[_, block, _]| block));
    guarded
}

/// Where an instruction of a block is to stand, if it is not where it is.
fn target(
    func: &Function,
    places: &Places,
    used_in: &SecondaryMap<Value, Option<Block>>,
    users: &OnceCell<Users>,
    block: Block,
    inst: Inst,
) -> Option<Block> {
    let constant = matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. });
    if constant || func.terminator(block) == Some(inst) {
        return None;
    }
    let mut uses = func.dfg.results(inst).into_iter().filter_map(|result| used_in[result]);
    let first = uses.next()?;
    let uses = uses.fold(first, |one, other| places.meet(one, other));
    let to = places.between(block, uses)?;
    // What is loaded or exchanged stays, and would be kept for this alone.
    let kept = |value: Value| {
        let stays = match func.dfg.def_inst(value) {
            Some(def) => !func.traits(def).is_pure(),
            None => !func.param_values().contains(&value),
        };
        stays && used_in[value].is_none_or(|used| places.meet(to, used) != to)
    };
    let mut more: SmallVec<[Value; 4]> = func
        .dfg
        .args(inst)
        .iter()
        .map(|&value| func.dfg.resolve(value))
        .filter(|&value| kept(value))
        .collect();
    more.dedup();
    let (more_bits, fewer_bits) = (
        more.iter().map(|&value| bits(func, value)).sum::<u32>(),
        func.dfg.results(inst).into_iter().map(|value| bits(func, value)).sum(),
    );
    let pays = more_bits == 0 || more_bits < fewer_bits;
    let pays = pays || matches!(more[..], [only] if moves_with_others(func, places, users, only, to));
    pays.then_some(to)
}

/// What a value takes of registers.
fn bits(func: &Function, value: Value) -> u32 {
    func.dfg.ty(value).bits().max(32)
}

/// Whether all that is computed from a value alone and only used from a block on takes more registers together than the value, or the value is used there
/// anyway or nowhere else.
fn moves_with_others(
    func: &Function,
    places: &Places,
    users: &OnceCell<Users>,
    value: Value,
    to: Block,
) -> bool {
    let users = users.get_or_init(|| Users::all(func));
    let is_below = |inst: Inst| func.layout.block_of(inst).is_none_or(|block| places.meet(to, block) == to);
    let (mut kept, mut fewer) = (0, 0);
    for (n, user) in users.of(value).enumerate() {
        if n == MAX_TOGETHER {
            return false;
        }
        let Some(block) = func.layout.block_of(user) else { continue };
        if places.meet(to, block) == to {
            return true;
        }
        let of_value_only =
            |&arg: &Value| func.dfg.resolve(arg) == value || func.dfg.int_const(arg).is_some();
        let moves = func.traits(user).is_pure()
            && func.dfg.args(user).iter().all(of_value_only)
            && func.dfg.results(user).into_iter().all(|result| users.of(result).all(is_below));
        if moves {
            fewer += func.dfg.results(user).into_iter().map(|result| bits(func, result)).sum::<u32>();
        } else {
            kept = bits(func, value);
        }
    }
    kept < fewer
}

/// Operations that are looked at for one branch.
const MAX_CONDITION: usize = 8;

/// Whether the branch at the end of a block is decided by what was loaded, as far as that can be seen.
fn waits_for_load(func: &Function, block: Block) -> bool {
    let Some(InstData::Brif { cond, .. }) = func.terminator(block).map(|inst| &func.dfg[inst]) else {
        return true;
    };
    let mut values = vec![*cond];
    for _ in 0..MAX_CONDITION {
        let Some(value) = values.pop().map(|value| func.dfg.resolve(value)) else { return false };
        match func.dfg.def_inst(value) {
            Some(inst) if func.traits(inst).is_pure() => values.extend(func.dfg.uses(inst)),
            Some(_) => return true,
            None if func.param_values().contains(&value) => {}
            None => return true,
        }
    }
    !values.is_empty()
}

/// Which blocks lie on the way to which, and which loop each is in.
struct Places {
    tree: Arc<DominatorTree>,
    ends: Arc<PostDominators>,
    depth: SecondaryMap<Block, u32>,
    /// The innermost loop around a block, counted from 1.
    inside: SecondaryMap<Block, u32>,
    /// The loop around each loop.
    parent: Vec<u32>,
}

impl Places {
    fn of(func: &Function, analyses: &mut Analyses) -> Places {
        let (tree, loops) = (analyses.get::<DominatorTree>(func), analyses.get::<Loops>(func));
        let mut depth: SecondaryMap<Block, u32> = SecondaryMap::new();
        for &block in tree.preorder() {
            depth[block] = tree.idom(block).map_or(0, |above| depth[above] + 1);
        }
        let mut inside: SecondaryMap<Block, u32> = SecondaryMap::new();
        let mut parent = vec![0];
        // Outer loops come before those in them.
        for (found, n) in loops.iter().zip(1..) {
            parent.push(inside[found.header]);
            found.blocks.iter().for_each(|&block| inside[block] = n);
        }
        Places { tree, ends: analyses.get::<PostDominators>(func), depth, inside, parent }
    }

    /// The lowest block that dominates two, or the entry if that is far up.
    fn meet(&self, mut a: Block, mut b: Block) -> Block {
        for _ in 0..MAX_STEPS {
            if a == b {
                return a;
            }
            let up = if self.depth[a] >= self.depth[b] { &mut a } else { &mut b };
            let Some(above) = self.tree.idom(*up) else { return *up };
            *up = above;
        }
        self.tree.preorder().first().copied().unwrap_or(a)
    }

    /// The lowest block between one and another below it that not all go through who come to the block above it, and that is in no loop which the first
    /// is not in.
    fn between(&self, from: Block, mut to: Block) -> Option<Block> {
        for _ in 0..MAX_STEPS {
            if to == from {
                return None;
            }
            let above = self.tree.idom(to)?;
            let decided = self.ends.parent(above) != Some(to);
            if decided && self.is_around(self.inside[to], self.inside[from]) {
                return Some(to);
            }
            to = above;
        }
        None
    }

    /// The block on the way from one down to another that directly follows the first and nothing else, in no loop which the first is not in.
    fn next(&self, cfg: &Cfg, from: Block, mut to: Block) -> Option<Block> {
        for _ in 0..MAX_STEPS {
            let above = self.tree.idom(to)?;
            if above == from {
                let alone = cfg.predecessors(to) == [from] && self.ends.parent(from) != Some(to);
                return (alone && self.is_around(self.inside[to], self.inside[from])).then_some(to);
            }
            to = above;
        }
        None
    }

    /// Whether a loop is another one or around it.
    fn is_around(&self, outer: u32, mut inner: u32) -> bool {
        // Outer loops have the smaller numbers; 0 is the function.
        while inner > outer {
            inner = self.parent[inner as usize];
        }
        inner == outer
    }
}

/// Variables of the source that are bound to a value above where it is computed now are not to be had there.
pub(super) fn unbind(func: &mut Function, tree: &DominatorTree, moved: &EntitySet<Value>) {
    let Function { dfg, layout, debug: Some(debug), .. } = func else { return };
    for block in layout.blocks() {
        // What of the block is computed further down.
        let mut below: EntitySet<Value> = EntitySet::new();
        below.extend(
            layout.insts(block).flat_map(|inst| dfg.results(inst)).filter(|value| moved.contains(*value)),
        );
        for inst in layout.insts(block) {
            for &id in layout.records(inst) {
                let storage = &mut debug.bindings[id].storage;
                let Some(value) = storage.value().map(|value| dfg.resolve(value)) else { continue };
                let defined = dfg.def_inst(value).and_then(|inst| layout.block_of(inst));
                let above = !below.contains(value) && defined.is_some_and(|at| tree.dominates(at, block));
                if moved.contains(value) && !above {
                    *storage = Storage::OptimizedOut;
                }
            }
            dfg.results(inst).into_iter().for_each(|value| _ = below.remove(value));
        }
    }
}
