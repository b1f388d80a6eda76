//! What branches have decided: comparisons that hold behind them.

use super::{Below, distance, width};
use crate::analysis::{Cfg, conditions};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, IntCC, Opcode, Value};

/// Comparisons of one value with constants that are looked at.
const MAX_FACTS: usize = 32;
/// Comparisons of one condition that are looked at, and how deep in it they are at most.
const MAX_AT_ONCE: usize = 8;
const MAX_DEPTH: usize = 8;

/// A comparison that holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Decided {
    pub(super) cond: IntCC,
    pub(super) operands: [Value; 2],
    /// The value that an operand is the sum of, with how much, and which operand: what is said of a sum that does not wrap is said of its parts.
    pub(super) part: Option<(Value, i64, bool)>,
}

impl Decided {
    fn new(func: &Function, cond: IntCC, operands: [Value; 2]) -> Decided {
        let part = |sum: Value| match *func.dfg.def_data(sum)? {
            InstData::Binary { op: Opcode::Iadd, args: [x, by] } => {
                Some((func.dfg.resolve(x), func.dfg.int_const(by)?))
            }
            _ => None,
        };
        let [a, b] = operands;
        let of_first = part(a).map(|(value, by)| (value, by, false));
        let part = of_first.or_else(|| part(b).map(|(value, by)| (value, by, true)));
        Decided { cond, operands, part }
    }

    /// How it says that a value, with a number added, is below another, if it does: what is below with a sign and not negative is so without one.
    pub(super) fn below(
        &self,
        func: &Function,
        (value, more): (Value, i64),
        bound: Value,
        natural: impl Fn() -> bool,
    ) -> Option<Below> {
        let [a, b] = self.operands;
        let (cond, a, b) = match matches!(self.cond, IntCC::Sgt | IntCC::Ugt) {
            true => (self.cond.swapped(), b, a),
            false => (self.cond, a, b),
        };
        // Sums that do not wrap are compared as numbers.
        let [(low, low_more), (high, high_more), (own, own_more), (top, top_more)] =
            [a, b, value, bound].map(|value| distance(func, value));
        let slack = i128::from(high_more) - i128::from(low_more);
        let asked = i128::from(top_more) - i128::from(own_more) - i128::from(more);
        if cond == IntCC::Slt && low == own && high == top && slack <= asked && natural() {
            return Some(Below::Natural);
        }
        let same = more == 0 && [a, b] == [value, bound].map(|value| func.dfg.resolve(value));
        (cond == IntCC::Ult && same).then_some(Below::Unsigned)
    }

    /// What it says something of.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.operands.into_iter().chain(self.part.map(|(value, ..)| value))
    }
}

/// What a branch into a block says of a value: of it, and so much more, that it is in a relation to a constant.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Fact {
    pub(super) block: Block,
    pub(super) cond: IntCC,
    pub(super) more: i64,
    pub(super) constant: i64,
}

/// The comparisons with constants, which hold wherever the blocks they lead into dominate.
#[derive(Clone, PartialEq)]
pub(super) struct Facts {
    /// By value, in the order in which a walk of the dominator tree comes to their blocks.
    all: Vec<Fact>,
    of: SecondaryMap<Value, (u32, u32)>,
    places: SecondaryMap<Block, u32>,
}

impl Facts {
    pub(super) fn new(func: &Function, cfg: &Cfg, dominators: &DominatorTree) -> Facts {
        let mut facts = Facts { all: Vec::new(), of: SecondaryMap::new(), places: SecondaryMap::new() };
        let mut found: Vec<(Value, Fact)> = Vec::new();
        for &block in dominators.preorder() {
            for decided in decided_by_edge(func, cfg, block) {
                let [a, b] = decided.operands;
                let Some(constant) = func.dfg.int_const(b) else { continue };
                let fact = Fact { block, cond: decided.cond, more: 0, constant };
                found.push((a, fact));
                if let Some((part, more, false)) = decided.part {
                    found.push((part, Fact { more, ..fact }));
                }
            }
        }
        if found.is_empty() {
            return facts;
        }
        facts.places.resize(func.dfg.num_blocks());
        dominators.preorder().iter().zip(0..).for_each(|(&block, place)| facts.places[block] = place);
        found.sort_by_key(|(value, _)| *value);
        facts.of.resize(func.dfg.num_values());
        for (value, fact) in found {
            let at = facts.all.len() as u32;
            facts.all.push(fact);
            match &mut facts.of[value] {
                (_, 0) => facts.of[value] = (at, 1),
                (_, count) => *count += 1,
            }
        }
        facts
    }

    /// The values that there are some of.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.of.iter().filter(|(_, (_, count))| *count > 0).map(|(value, _)| value)
    }

    /// Those that may hold in a block, the nearest first.
    pub(super) fn before(&self, value: Value, block: Block) -> impl Iterator<Item = &Fact> {
        let (start, count) = self.of[value];
        let all = self.all.get(start as usize..(start + count) as usize).unwrap_or_default();
        let place = self.places[block];
        let near =
            if count > 1 { all.partition_point(|fact| self.places[fact.block] <= place) } else { all.len() };
        all[..near].iter().rev().take(MAX_FACTS)
    }
}

/// Comparisons that hold together.
pub(super) type AllDecided = SmallVec<[Decided; 2]>;

/// What the branch has decided that is the only way into a block.
pub(super) fn decided_by_edge(func: &Function, cfg: &Cfg, block: Block) -> AllDecided {
    let mut edges = cfg.edges(block);
    match (edges.next(), edges.next()) {
        (Some((pred, side)), None) => {
            func.terminator(pred).map_or_else(AllDecided::new, |branch| decided(func, branch, side))
        }
        _ => AllDecided::new(),
    }
}

/// The comparisons that a branch is known to have decided on one of its sides.
pub(super) fn decided(func: &Function, branch: Inst, side: usize) -> AllDecided {
    let mut all = AllDecided::new();
    if let InstData::Brif { cond, dests } = &func.dfg[branch]
        && dests[0].block != dests[1].block
    {
        follows(func, *cond, side == 0, &mut all, 0);
    }
    all
}

/// What follows from a condition that holds, or does not: where one of two does not, neither does.
fn follows(func: &Function, cond: Value, holds: bool, all: &mut AllDecided, depth: usize) {
    if all.len() >= MAX_AT_ONCE || depth > MAX_DEPTH {
        return;
    }
    match func.dfg.def_data(cond) {
        Some(InstData::IntCompare { .. }) => {
            let known = compared(func, cond);
            let inverse = |known: Decided| Decided { cond: known.cond.inverse(), ..known };
            all.extend(known.map(|known| if holds { known } else { inverse(known) }));
        }
        _ => {
            for (part, holds) in conditions::parts(func, cond, holds) {
                follows(func, part, holds, all, depth + 1);
            }
        }
    }
}

/// The comparison of integers that a condition is.
pub(super) fn compared(func: &Function, cond: Value) -> Option<Decided> {
    let &InstData::IntCompare { cond, args } = func.dfg.def_data(cond)? else { return None };
    width(func.dfg.ty(args[0]))?;
    Some(Decided::new(func, cond, args.map(|arg| func.dfg.resolve(arg))))
}
