//! Sums in loops are taken in the order in which their terms are known: what does not change in the inner loop first, so that it moves in front of
//! it. A product of a sum that changes by one term only becomes two products. Of pointers this is the order of the offsets.
//!
//! So are products of two factors that do not change and one that does.
//!
//! Sums of integers wrap, so that any order gives the same. Constants stay last, where addresses take them in, but for sums of 32 bits with a product,
//! which is added by the instruction that multiplies. Only sums that lose an operation in the loop by it are changed.

use super::insert_before;
use crate::analysis::{Loops, Ranges};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};

/// Terms that a sum has.
const MAX_TERMS: usize = 16;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let loops = cx.analyses.get::<Loops>(func);
    if loops.iter().next().is_none() {
        return Changes::NONE;
    }
    let mut nests: SecondaryMap<Block, Rc<[u32]>> = SecondaryMap::with_default(Rc::from([]));
    // Outer loops come first.
    for (found, n) in loops.iter().zip(1..) {
        let nest: Rc<[u32]> = nests[found.header].iter().copied().chain([n]).collect();
        found.blocks.iter().for_each(|&block| nests[block] = nest.clone());
    }
    let insts: Vec<Inst> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
    let mut users: SecondaryMap<Value, (u32, Option<Inst>)> = SecondaryMap::new();
    users.resize(func.dfg.num_values());
    for &inst in &insts {
        func.dfg.for_each_use(inst, |value| users[value] = (users[value].0 + 1, Some(inst)));
    }
    let ranges =
        insts.iter().any(|&inst| is_promised_product(func, inst)).then(|| cx.analyses.get::<Ranges>(func));
    let sums = Sums { nests, users, ranges };
    let mut changes = 0;
    for inst in insts {
        changes += u32::from(sums.reorder(func, inst) || sums.product(func, inst));
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

struct Sums {
    /// The loops around each block, from the outermost in.
    nests: SecondaryMap<Block, Rc<[u32]>>,
    /// How often each value is used, and by which instruction last.
    users: SecondaryMap<Value, (u32, Option<Inst>)>,
    /// Where there are products of products that are promised not to wrap.
    ranges: Option<Arc<Ranges>>,
}

/// Whether a product of a product is promised not to wrap, and neither is the inner one.
fn is_promised_product(func: &Function, inst: Inst) -> bool {
    let promised = |inst: Inst| {
        matches!(func.dfg[inst], InstData::Binary { op: Opcode::Imul, .. }) && func.dfg.no_signed_wrap(inst)
    };
    promised(inst) && func.dfg.uses(inst).any(|value| func.dfg.def_inst(value).is_some_and(promised))
}

/// A term of a sum.
#[derive(Clone, Copy)]
enum Term {
    Value(Value),
    /// A product to be made.
    Product(Value, Value),
}

impl Sums {
    /// In how many of the loops around a block a value changes.
    fn rank(&self, func: &Function, value: Value, at: Block) -> usize {
        let block = match func.dfg.def(value) {
            ValueDef::Result(inst, _) => func.layout.block_of(inst),
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Alias(_) | ValueDef::Detached => None,
        };
        let of_value = block.map_or(&[][..], |block| &self.nests[block][..]);
        of_value.iter().zip(&self.nests[at][..]).take_while(|(a, b)| a == b).count()
    }

    fn reorder(&self, func: &mut Function, root: Inst) -> bool {
        let InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Ptradd), args } = func.dfg[root] else {
            return false;
        };
        let (Some(at), Some(result)) = (func.layout.block_of(root), func.dfg.first_result(root)) else {
            return false;
        };
        let depth = self.nests[at].len();
        let ty = func.dfg.ty(result);
        if depth == 0 || ty.is_vector() || self.is_term_of_sum(func, result, op, at) {
            return false;
        }
        let mut terms: SmallVec<[(usize, Term); 8]> = SmallVec::new();
        let mut constants: SmallVec<[Value; 2]> = SmallVec::new();
        // Terms yet to be taken apart, the last one first.
        let mut work: SmallVec<[Value; 8]> = SmallVec::from_iter([args[1], args[0]]);
        let mut base = None;
        while let Some(value) = work.pop() {
            if terms.len() + constants.len() + work.len() > MAX_TERMS {
                return false;
            }
            let first = op == Opcode::Ptradd && func.dfg.ty(value).is_ptr();
            let rank = self.rank(func, value, at);
            let alone = self.users[value].0 == 1 && rank == depth;
            match func.dfg.def_data(value) {
                Some(&InstData::Binary { op: inner, args })
                    if inner == op && alone && (first || op == Opcode::Iadd) =>
                {
                    work.extend([args[1], args[0]]);
                }
                Some(InstData::IntConst { .. }) => constants.push(value),
                Some(&InstData::Binary { op: Opcode::Imul, args: [sum, by] })
                    if alone && op == Opcode::Iadd =>
                {
                    match self.distribute(func, sum, by, at, depth) {
                        Some((fixed, changing)) => {
                            terms.push((
                                self.rank(func, fixed, at).max(self.rank(func, by, at)),
                                Term::Product(fixed, by),
                            ));
                            terms.push((depth, Term::Product(changing, by)));
                        }
                        None => terms.push((rank, Term::Value(value))),
                    }
                }
                _ if first => base = Some((rank, value)),
                _ => terms.push((rank, Term::Value(value))),
            }
        }
        let fixed = terms.iter().filter(|(rank, _)| *rank < depth).count();
        let fixed = fixed + usize::from(base.is_some_and(|(rank, _)| rank < depth));
        let early = !constants.is_empty() && self.adds_product(func, &terms, depth, ty);
        if fixed + usize::from(early) < 2
            || (op == Opcode::Ptradd && base.is_none_or(|(rank, _)| rank == depth))
        {
            return false;
        }
        if early {
            // Behind all else that does not change, by a stable sort.
            let last = terms.iter().map(|(rank, _)| *rank).filter(|rank| *rank < depth).max();
            terms.extend(constants.drain(..).map(|constant| (last.unwrap_or(0), Term::Value(constant))));
        }
        terms.sort_by_key(|(rank, _)| *rank);
        let mut sum = base.map(|(_, base)| base);
        let mut rest: SmallVec<[Value; 8]> = SmallVec::new();
        for (_, term) in terms {
            rest.push(match term {
                Term::Value(value) => value,
                Term::Product(a, b) => {
                    insert_before(func, root, InstData::Binary { op: Opcode::Imul, args: [a, b] }, ty)
                }
            });
        }
        rest.extend(constants);
        let last = rest.pop();
        for value in rest {
            sum = Some(match sum {
                None => value,
                Some(sum) => insert_before(func, root, InstData::Binary { op, args: [sum, value] }, ty),
            });
        }
        if let (Some(sum), Some(last)) = (sum, last) {
            func.dfg.replace_inst(root, InstData::Binary { op, args: [sum, last] });
        }
        true
    }

    /// Whether a sum of 32 bits has one term that changes in the inner loop, and that is a product by a constant with no other use.
    fn adds_product(&self, func: &Function, terms: &[(usize, Term)], depth: usize, ty: Type) -> bool {
        let mut changing = terms.iter().filter(|(rank, _)| *rank == depth);
        let (Some(&(_, Term::Value(value))), None) = (changing.next(), changing.next()) else { return false };
        let Some(&InstData::Binary { op: Opcode::Imul | Opcode::Shl, args: [_, by] }) =
            func.dfg.def_data(value)
        else {
            return false;
        };
        ty == Type::I32 && terms.len() > 1 && self.users[value].0 == 1 && func.dfg.int_const(by).is_some()
    }

    /// Multiplies what does not change first: of `z * n * n` in a loop over `z` one product stays in it.
    fn product(&self, func: &mut Function, root: Inst) -> bool {
        let InstData::Binary { op: Opcode::Imul, args: [a, b] } = func.dfg[root] else { return false };
        let (Some(at), Some(result)) = (func.layout.block_of(root), func.dfg.first_result(root)) else {
            return false;
        };
        let (depth, ty) = (self.nests[at].len(), func.dfg.ty(result));
        if depth == 0 || ty.is_vector() {
            return false;
        }
        let fixed = |value: Value| self.rank(func, value, at) < depth;
        let found = [(a, b), (b, a)].into_iter().find_map(|(inner, by)| {
            let inst = func.dfg.def_inst(inner)?;
            let InstData::Binary { op: Opcode::Imul, args: [x, y] } = func.dfg[inst] else { return None };
            let (changing, with) = match (fixed(x), fixed(y)) {
                (true, false) => (y, x),
                (false, true) => (x, y),
                (true, true) | (false, false) => return None,
            };
            (self.users[inner].0 == 1 && fixed(by)).then_some((inst, changing, [with, by]))
        });
        let Some((inst, changing, args)) = found else { return false };
        // Where neither product wraps, that of what is fixed can wrap only if the other factor is 0, which makes no difference, or -1: the least number
        // has no counterpart.
        let range = self.ranges.as_ref().and_then(|ranges| ranges.at(func, changing, at));
        let promised = func.dfg.no_signed_wrap(root)
            && func.dfg.no_signed_wrap(inst)
            && range.is_some_and(|range| range.low > -1 || range.high < -1);
        let first = insert_before(func, root, InstData::Binary { op: Opcode::Imul, args }, ty);
        func.dfg.replace_inst(root, InstData::Binary { op: Opcode::Imul, args: [changing, first] });
        func.dfg.set_promised(root, promised);
        true
    }

    /// Whether a value is used once, by a sum that it will be taken apart for.
    fn is_term_of_sum(&self, func: &Function, value: Value, op: Opcode, at: Block) -> bool {
        let (1, Some(user)) = self.users[value] else { return false };
        let InstData::Binary { op: outer, args } = func.dfg[user] else { return false };
        let same_nest = func.layout.block_of(user).is_some_and(|block| self.nests[block] == self.nests[at]);
        outer == op && same_nest && (op == Opcode::Iadd || args[0] == value)
    }

    /// The terms of a sum that is multiplied by what does not change: one that does not change, and one that does.
    fn distribute(
        &self,
        func: &Function,
        sum: Value,
        by: Value,
        at: Block,
        depth: usize,
    ) -> Option<(Value, Value)> {
        let alone = self.users[sum].0 == 1 && func.dfg.ty(sum) != Type::I64;
        let Some(&InstData::Binary { op: Opcode::Iadd, args: [a, b] }) = func.dfg.def_data(sum) else {
            return None;
        };
        if !alone || self.rank(func, by, at) >= depth {
            return None;
        }
        match (self.rank(func, a, at) < depth, self.rank(func, b, at) < depth) {
            (true, false) => Some((a, b)),
            (false, true) => Some((b, a)),
            (true, true) | (false, false) => None,
        }
    }
}
