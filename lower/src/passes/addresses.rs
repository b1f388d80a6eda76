//! Addresses as sums: the product of an index and its scale becomes a value of its own, which equal indices of several arrays share.
//!
//! ptxas folds the product into each address where that pays (one instruction for a product of 32 bits and a sum of 64), but takes
//! `mad.wide`, which says the same, apart into four. So this is worth a fifth of a short kernel.
//!
//! An index of 32 bits that is a sum which does not wrap (`iadd nsw`, or what is known of the bits of its terms or between which numbers they lie) is added term by term where that
//! pays: constants become the offset of the access, in a loop what does not change is added to the base in front of it, and where an element at one of two terms is accessed anyway the other
//! is added to its address, and elements a constant apart in several blocks share the rest. Elements that differ in a multiple of a factor are found from each other ([`rows`]), and those whose indices differ in low bits from one address ([`low`]). Of sums in a block that differ in a constant factor only, each is the one before it and a product ([`series`]); one that differs from an earlier one in a value is that and the value, and terms that cancel go ([`sums`]).

mod low;
mod rows;
mod series;
mod sums;

use super::insert_before;
use crate::analysis::{Loops, Nest, Range, Ranges, exact};
use crate::pass::{Aspects, Changes, Context};
use crate::rules::known::KnownBits;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Opcode, Type, Value, ValueDef};

/// Terms that an index is taken apart into.
const MAX_TERMS: usize = 6;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let in_low = low::run(func);
    if in_low > 0 {
        // The sums that the indices were are not to be found again by those that they are now.
        let removed = super::dce::run(func, cx);
        cx.analyses.invalidate(removed.aspects);
    }
    let mut uses = Uses::of(func);
    let loops = cx.analyses.get::<Loops>(func);
    let innermost = Nest::compute(&loops).innermost;
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let in_rows = rows::run(func, &uses, &dominators, &innermost);
    if in_rows > 0 {
        uses = Uses::of(func);
    }
    let in_series = series::run(func, &uses);
    if in_series > 0 {
        uses = Uses::of(func);
    }
    let flattened = in_low + in_rows + in_series + sums::run(func, &uses) + flatten(func);
    if flattened > 0 {
        cx.analyses.invalidate(Aspects::INSTRUCTIONS);
    }
    let insts = || func.layout.blocks().flat_map(|block| func.layout.insts(block));
    if !insts().any(|inst| matches!(func.dfg[inst], InstData::Index { .. })) {
        return Changes::to_instructions(flattened);
    }
    let members = loops.iter().map(|found| found.blocks.iter().copied().collect()).collect();
    let ranges = insts().any(|inst| asks_for_ranges(func, inst)).then(|| cx.analyses.get::<Ranges>(func));
    let rounds = Rounds { innermost, members };
    let bases = Bases::of(func, &rounds);
    let (mut indexed, mut indexed_in) = (FxHashSet::default(), FxHashSet::default());
    let mut accessed = FxHashMap::default();
    for block in func.layout.blocks() {
        for inst in func.layout.insts(block) {
            match func.dfg[inst] {
                InstData::Index { scale, args: [base, index] } => {
                    if let Some((index, _)) = narrow(func, index) {
                        indexed.insert((base, scale, index));
                        indexed_in.insert((base, scale, index, block));
                    }
                }
                InstData::Load { ptr, .. } | InstData::Store { args: [_, ptr], .. } => {
                    accessed.extend(accessed_sum(func, ptr, block));
                }
                InstData::Ptx { data, .. } => {
                    let at = super::spaces::accessed_by(&func.dfg.ptx[data]);
                    let ptr = at.and_then(|at| func.dfg.args(inst).get(at).copied());
                    accessed.extend(ptr.and_then(|ptr| accessed_sum(func, ptr, block)));
                }
                _ => {}
            }
        }
    }
    let known = KnownBits::of_function(func, insts().filter(|inst| func.dfg.opcode(*inst) == Opcode::Assume));
    let groups = Groups::of(func);
    let mut sums = Sums { rounds, known, ranges, indexed, indexed_in, accessed, groups, bases };
    let mut changes = flattened;
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { continue };
            if func.dfg.int_const(index).is_some() {
                continue;
            }
            let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else { continue };
            let (terms, constant, way) = sums.terms(func, (block, inst), (base, scale), index);
            let mut value = constant.wrapping_mul(scale.into());
            let scaled = terms.into_iter().map(|(term, sign)| {
                // Bytes are not multiplied, which extends by the way; and zeros are cheaper than signs.
                let bytes = scale == 1 && sums.range(func, term, block).is_some_and(Range::is_natural);
                let (term, way) = if bytes { (word(func, term), Opcode::Zext) } else { (term, way) };
                let scale = if sign == Sign::Minus { -scale } else { scale };
                let (term, scale, way, more) = multiple(func, term, scale, way);
                value = value.wrapping_add(more);
                (term, scale, way)
            });
            let scaled: SmallVec<[(Value, i32, Opcode); 4]> = scaled.collect();
            let mut address = base;
            for (n, &(term, scale, way)) in scaled.iter().enumerate() {
                let offset = offset(func, inst, term, scale, way);
                let sum = InstData::Binary { op: Opcode::Ptradd, args: [address, offset] };
                if n + 1 == scaled.len() && value == 0 {
                    func.dfg.replace_inst(inst, sum);
                } else {
                    address = insert_before(func, inst, sum, ty);
                }
            }
            if value != 0 {
                let by = insert_before(func, inst, InstData::IntConst { value }, Type::I64);
                func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [address, by] });
            }
            changes += 1;
        }
    }
    Changes::to_instructions(changes)
}

/// How many uses each value has, and the last of them.
struct Uses(SecondaryMap<Value, (u32, Option<Inst>)>);

impl Uses {
    fn of(func: &Function) -> Uses {
        let mut uses: SecondaryMap<Value, (u32, Option<Inst>)> = SecondaryMap::new();
        uses.resize(func.dfg.num_values());
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            func.dfg.for_each_use(inst, |value| {
                let uses = &mut uses[func.dfg.resolve(value)];
                *uses = (uses.0 + 1, Some(inst));
            });
        }
        Uses(uses)
    }

    /// The result of a sum of 32 or 64 bits that is not a mere term of another one of its block, and its type.
    fn root(&self, func: &Function, inst: Inst, is_sum: impl Fn(Opcode) -> bool) -> Option<(Value, Type)> {
        if !is_sum(func.dfg.opcode(inst)) {
            return None;
        }
        let value = func.dfg.first_result(inst)?;
        let ty = func.dfg.ty(value);
        let is_term = match self[value] {
            (1, Some(user)) => {
                is_sum(func.dfg.opcode(user)) && func.layout.block_of(user) == func.layout.block_of(inst)
            }
            _ => false,
        };
        (matches!(ty, Type::I32 | Type::I64) && !is_term).then_some((value, ty))
    }
}

impl std::ops::Index<Value> for Uses {
    type Output = (u32, Option<Inst>);

    fn index(&self, value: Value) -> &Self::Output {
        &self.0[value]
    }
}

/// Instructions between an element and another that is found from it.
const MAX_BEHIND: usize = 1 << 10;

/// Whether a value that a block uses is computed in front of one of its instructions, not far from it.
fn is_known(func: &Function, value: Value, (block, before): (Block, Inst)) -> bool {
    let Some(made) = func.dfg.def_inst(func.dfg.resolve(value)) else { return true };
    let behind = std::iter::successors(Some(made), |&inst| func.layout.next_inst(inst));
    func.layout.block_of(made) != Some(block) || behind.take(MAX_BEHIND).any(|inst| inst == before)
}

/// The terms of a sum, in order.
type Terms = [Value; 2];

/// The element that an access finds at a sum of 32 bits that does not wrap: base, scale, the terms and the block of the access, and the sum.
fn accessed_sum(func: &Function, ptr: Value, block: Block) -> Option<((Value, i32, Terms, Block), Value)> {
    let ptr = func.dfg.resolve(ptr);
    let InstData::Index { scale, args: [base, index] } = *func.dfg.def_data(ptr)? else { return None };
    let (index, way) = narrow(func, index)?;
    let inst = func.dfg.def_inst(index)?;
    let InstData::Binary { op: Opcode::Iadd, args } = func.dfg[inst] else { return None };
    let fits = way == Opcode::Sext && func.dfg.no_signed_wrap(inst);
    fits.then(|| ((base, scale, in_order(args.map(|arg| func.dfg.resolve(arg))), block), index))
}

fn in_order([a, b]: Terms) -> Terms {
    [a.min(b), a.max(b)]
}

/// Whether ranges say more of an index than what is known of its bits: of a sum, and of the sign of an index of bytes.
fn asks_for_ranges(func: &Function, inst: Inst) -> bool {
    let InstData::Index { scale, args: [_, index] } = func.dfg[inst] else { return false };
    let Some((narrow, way)) = narrow(func, index) else {
        let is_extended = |&term: &Value| word(func, term) != func.dfg.resolve(term);
        return matches!(func.dfg.def_data(index), Some(InstData::Binary { op: Opcode::Iadd, args }) if scale == 1 && args.iter().any(is_extended));
    };
    let sum =
        matches!(func.dfg.def_data(narrow), Some(InstData::Binary { op: Opcode::Iadd | Opcode::Isub, .. }));
    sum || (scale == 1 && way == Opcode::Sext)
}

/// The 32 bits that an index is made of, and how they are extended.
fn narrow(func: &Function, index: Value) -> Option<(Value, Opcode)> {
    match func.dfg.def_data(index) {
        Some(&InstData::Unary { op: op @ (Opcode::Sext | Opcode::Zext), arg })
            if func.dfg.ty(arg) == Type::I32 =>
        {
            Some((func.dfg.resolve(arg), op))
        }
        _ if func.dfg.ty(index) == Type::I32 => Some((func.dfg.resolve(index), Opcode::Sext)),
        _ => None,
    }
}

/// What a term of 64 bits is the extension of with the sign, which for numbers that are not negative is any extension; any other term itself.
fn word(func: &Function, term: Value) -> Value {
    match func.dfg.def_data(term) {
        Some(&InstData::Unary { op: Opcode::Sext, arg }) if func.dfg.ty(arg) == Type::I32 => {
            func.dfg.resolve(arg)
        }
        _ => func.dfg.resolve(term),
    }
}

/// The terms of a sum beside its constant.
type Addends = SmallVec<[Value; MAX_TERMS]>;

/// The terms of a sum in order, and its constant: none if it has too many terms. Sums that may not be taken apart are terms.
fn split(func: &Function, sum: Value, opens: impl Fn(Inst) -> bool) -> Option<(Addends, i64)> {
    let (mut terms, mut constant) = (Addends::new(), 0i64);
    let mut work = Addends::from_slice(&[sum]);
    while let Some(value) = work.pop() {
        if terms.len() + work.len() >= MAX_TERMS {
            return None;
        }
        let value = func.dfg.resolve(value);
        match func.dfg.def_inst(value).map(|inst| (inst, &func.dfg[inst])) {
            Some((_, &InstData::IntConst { value })) => constant = constant.wrapping_add(value),
            Some((inst, &InstData::Binary { op: Opcode::Iadd, args })) if opens(inst) => work.extend(args),
            _ => terms.push(value),
        }
    }
    terms.sort_unstable();
    Some((terms, constant))
}

/// Takes elements of rows that lie behind each other as those of one array. Says how many.
fn flatten(func: &mut Function) -> u32 {
    let mut changes = 0;
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        for inst in func.layout.insts(block).collect::<Vec<Inst>>() {
            if let InstData::Index { scale, args: [base, index] } = func.dfg[inst]
                && let Some((array, whole)) = flat(func, base, scale, index)
            {
                func.dfg.replace_inst(inst, InstData::Index { scale, args: [array, whole] });
                changes += 1;
            }
        }
    }
    changes
}

/// The array and the number in it of an element that is found by row and column, `tile[t / 32][t % 32]`, where rows have just as many.
fn flat(func: &mut Function, base: Value, scale: i32, column: Value) -> Option<(Value, Value)> {
    let InstData::Index { scale: row_bytes, args: [array, row] } = *func.dfg.def_data(base)? else {
        return None;
    };
    let extended = |value: Value| match func.dfg.def_data(value) {
        Some(&InstData::Unary { op: Opcode::Sext | Opcode::Zext, arg }) => func.dfg.resolve(arg),
        _ => func.dfg.resolve(value),
    };
    let InstData::Binary { op: Opcode::Lshr, args: [x, by] } = *func.dfg.def_data(extended(row))? else {
        return None;
    };
    let InstData::Binary { op: Opcode::Band, args: [y, mask] } = *func.dfg.def_data(extended(column))? else {
        return None;
    };
    let (by, mask) = (func.dfg.int_const(by)?, func.dfg.int_const(mask)?);
    let rows = (1..31).contains(&by)
        && mask == (1 << by) - 1
        && i64::from(row_bytes) == i64::from(scale) << by
        && func.dfg.resolve(x) == func.dfg.resolve(y)
        && func.dfg.ty(x) == Type::I32;
    if !rows {
        return None;
    }
    let inst = func.dfg.def_inst(extended(column))?;
    let wide = InstData::Unary { op: Opcode::Zext, arg: x };
    Some((array, insert_before(func, inst, wide, Type::I64)))
}

/// An index that is a constant multiple of another, which is promised not to wrap, as that one: `p[3 * i]` is 12 bytes for each `i`. The third is how
/// it is extended. Of `p[3 * (i + 1)]` the last is the 12 bytes that are always added.
fn multiple(func: &Function, index: Value, scale: i32, way: Opcode) -> (Value, i32, Opcode, i64) {
    let by = || {
        let (narrow, way) = match func.dfg.def_data(func.dfg.resolve(index)) {
            Some(&InstData::Unary { op, arg }) if func.dfg.ty(index) == Type::I64 => (arg, op),
            _ => (index, way),
        };
        let inst = func.dfg.def_inst(func.dfg.resolve(narrow))?;
        let InstData::Binary { op: Opcode::Imul, args: [x, by] } = func.dfg[inst] else { return None };
        let fits = way == Opcode::Sext && func.dfg.ty(x) == Type::I32 && func.dfg.no_signed_wrap(inst);
        let by = func.dfg.int_const(by).filter(|_| fits)?;
        let scale = i32::try_from(by.checked_mul(scale.into())?).ok()?;
        let sum = func.dfg.def_inst(func.dfg.resolve(x)).filter(|&sum| func.dfg.no_signed_wrap(sum));
        match sum.map(|sum| &func.dfg[sum]) {
            Some(&InstData::Binary { op: Opcode::Iadd, args: [of, more] }) => {
                let Some(more) = func.dfg.int_const(more) else { return Some((x, scale, way, 0)) };
                Some((of, scale, way, more.wrapping_mul(scale.into())))
            }
            _ => Some((x, scale, way, 0)),
        }
    };
    by().unwrap_or((index, scale, way, 0))
}

/// The bytes that an index moves by.
fn offset(func: &mut Function, before: Inst, index: Value, scale: i32, way: Opcode) -> Value {
    let wide = match func.dfg.ty(index) {
        Type::I64 => index,
        _ => insert_before(func, before, InstData::Unary { op: way, arg: index }, Type::I64),
    };
    if scale == 1 {
        return wide;
    }
    let scale = insert_before(func, before, InstData::IntConst { value: scale.into() }, Type::I64);
    insert_before(func, before, InstData::Binary { op: Opcode::Imul, args: [wide, scale] }, Type::I64)
}

/// Whether a term is added or taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

type Term = (Value, Sign);

/// What a sum or difference has beside its first term.
enum Rest {
    Constant(i64),
    Plus(Value),
    Minus(Value),
}

/// Elements a constant away from each other, in several blocks: `p[row + x]` and `p[row + (x + 1)]`. Their terms are added one by one, so that the blocks
/// share what they have in common.
struct Groups {
    /// How often elements are accessed at a sum that does not wrap, of two terms and a constant: base, scale, terms.
    sums: FxHashMap<(Value, i32, Terms), u32>,
    /// How often a term is one of them.
    terms: FxHashMap<(Value, i32, Value), u32>,
}

/// So many elements share what is computed for them, from here on.
const MIN_GROUP: u32 = 3;

impl Groups {
    fn of(func: &Function) -> Groups {
        let mut groups = Groups { sums: FxHashMap::default(), terms: FxHashMap::default() };
        // Within a block others take care of it.
        let mut last: FxHashMap<(Value, i32, Terms), Block> = FxHashMap::default();
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { continue };
                let Some((index, Opcode::Sext)) = narrow(func, index) else { continue };
                for (terms, _) in promised_sums(func, index) {
                    if last.insert((base, scale, terms), block) != Some(block) {
                        *groups.sums.entry((base, scale, terms)).or_default() += 1;
                        for term in terms {
                            *groups.terms.entry((base, scale, term)).or_default() += 1;
                        }
                    }
                }
            }
        }
        groups
    }

    /// The terms of an index whose element is one of a group, the one that more elements have last, and the constant.
    fn find(&self, func: &Function, (base, scale): (Value, i32), index: Value) -> Option<(Terms, i64)> {
        let is_group =
            |terms: Terms| self.sums.get(&(base, scale, terms)).is_some_and(|&count| count >= MIN_GROUP);
        let (terms, constant) = promised_sums(func, index).into_iter().find(|&(terms, _)| is_group(terms))?;
        let [a, b] = terms.map(|term| self.terms.get(&(base, scale, term)));
        Some((if a > b { [terms[1], terms[0]] } else { terms }, constant))
    }
}

/// The bases that elements of a loop would have in front of it, each in two registers: `p[i + n]` and `p[i + m]`.
struct Bases {
    /// What is added to each base, of a loop and a scale.
    added: FxHashMap<(u32, Value, i32), FxHashSet<Value>>,
    /// What is there anyway, for comparisons.
    compared: EntitySet<Value>,
}

/// So many elements of a loop take their indices as they are, where these are compared with a bound.
const MANY_BASES: usize = 4;

impl Bases {
    fn of(func: &Function, rounds: &Rounds) -> Bases {
        let mut bases = Bases { added: FxHashMap::default(), compared: EntitySet::new() };
        for block in func.layout.blocks().filter(|&block| rounds.innermost[block] > 0) {
            for inst in func.layout.insts(block) {
                if let InstData::IntCompare { args, .. } = func.dfg[inst] {
                    bases.compared.extend(args.map(|arg| func.dfg.resolve(arg)));
                }
                let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { continue };
                if let Some(&InstData::Binary { op: Opcode::Iadd, args }) = func.dfg.def_data(index)
                    && let [a, b] = args.map(|arg| func.dfg.resolve(arg))
                    && let [of_a, of_b] = [a, b].map(|term| rounds.is_fixed(func, block, term))
                    && of_a != of_b
                {
                    let added = bases.added.entry((rounds.innermost[block], base, scale)).or_default();
                    added.insert(if of_a { a } else { b });
                }
            }
        }
        bases
    }

    fn are_many(&self, of_loop: u32, (base, scale): (Value, i32), sum: Value) -> bool {
        self.compared.contains(sum)
            && self.added.get(&(of_loop, base, scale)).is_some_and(|added| added.len() >= MANY_BASES)
    }
}

/// An index of 32 bits as sums of two terms and a constant, of which none wraps.
fn promised_sums(func: &Function, index: Value) -> SmallVec<[(Terms, i64); 3]> {
    let sum = |value: Value| {
        let inst = func.dfg.def_inst(func.dfg.resolve(value))?;
        match func.dfg[inst] {
            InstData::Binary { op: Opcode::Iadd, args } if func.dfg.no_signed_wrap(inst) => Some(args),
            _ => None,
        }
    };
    let mut found = SmallVec::new();
    let Some([a, b]) = sum(index).filter(|&[_, b]| func.dfg.int_const(b).is_none()) else { return found };
    let mut add = |terms: Terms, constant| {
        found.push((in_order(terms.map(|term| func.dfg.resolve(term))), constant));
    };
    add([a, b], 0);
    for (one, other) in [(a, b), (b, a)] {
        if let Some([rest, constant]) = sum(other)
            && let Some(constant) = func.dfg.int_const(constant)
        {
            add([one, rest], constant);
        }
    }
    found
}

/// What is the same in all rounds of loops.
struct Rounds {
    /// The innermost loop around each block, counted from 1.
    innermost: SecondaryMap<Block, u32>,
    members: Vec<FxHashSet<Block>>,
}

impl Rounds {
    /// Whether a value is the same in all rounds of the innermost loop around a block. Everything is where there is none.
    fn is_fixed(&self, func: &Function, at: Block, value: Value) -> bool {
        let Some(members) = (self.innermost[at] as usize).checked_sub(1).and_then(|n| self.members.get(n))
        else {
            return true;
        };
        let block = match func.dfg.def(value) {
            ValueDef::Result(inst, _) => func.layout.block_of(inst),
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Alias(_) | ValueDef::Detached => None,
        };
        !block.is_some_and(|block| members.contains(&block))
    }
}

struct Sums {
    rounds: Rounds,
    known: KnownBits,
    /// Where they were asked for.
    ranges: Option<Arc<Ranges>>,
    /// The elements that are accessed: base, scale and index of 32 bits.
    indexed: FxHashSet<(Value, i32, Value)>,
    /// Those elements, each with a block that accesses it.
    indexed_in: FxHashSet<(Value, i32, Value, Block)>,
    /// The sums that elements are found at, by [`accessed_sum`].
    accessed: FxHashMap<(Value, i32, Terms, Block), Value>,
    groups: Groups,
    bases: Bases,
}

impl Sums {
    /// What an index is the sum of, a constant, and how terms of 32 bits are extended. What does not change in the loop comes first.
    fn terms(
        &mut self,
        func: &Function,
        (at, before): (Block, Inst),
        (base, scale): (Value, i32),
        index: Value,
    ) -> (SmallVec<[Term; 4]>, i64, Opcode) {
        let mut terms: SmallVec<[(bool, Term); 4]> = SmallVec::new();
        let mut constant = 0i64;
        // Of 64 bits it is, however it wraps, as addresses do.
        let mut index = index;
        let mut fixed: SmallVec<[Term; 4]> = SmallVec::new();
        while let Some(&InstData::Binary { op: op @ (Opcode::Iadd | Opcode::Isub), args: [a, b] }) =
            func.dfg.def_data(index)
            && func.dfg.ty(a) == Type::I64
        {
            if let (Opcode::Iadd, Some(c)) = (op, func.dfg.int_const(b)) {
                (index, constant) = (a, constant.wrapping_add(c));
                continue;
            }
            // What is added to the base in front of the loop.
            let hoists = fixed.len() < MAX_TERMS && self.is_fixed(func, at, base);
            let (term, sign, rest) = match ([a, b].map(|term| self.is_fixed(func, at, term)), op) {
                ([false, true], Opcode::Isub) if hoists => (b, Sign::Minus, a),
                (_, Opcode::Isub) => break,
                ([true, false], _) if hoists => (a, Sign::Plus, b),
                ([false, true], _) if hoists => (b, Sign::Plus, a),
                _ => break,
            };
            fixed.push((term, sign));
            index = rest;
        }
        let Some((narrow, way)) = narrow(func, index) else {
            fixed.push((index, Sign::Plus));
            return (fixed, constant, Opcode::Sext);
        };
        // What is added to the address of another element, the last one first.
        let mut behind: SmallVec<[Term; 4]> = SmallVec::new();
        let mut work: SmallVec<[Value; 4]> = SmallVec::from_slice(&[narrow]);
        while let Some(value) = work.pop() {
            let found = terms.len() + behind.len() + work.len();
            let parts = self.sum(func, value, way, at).filter(|_| found < MAX_TERMS);
            let beside = match parts {
                Some((a, Rest::Plus(b))) => self.beside(func, (base, scale), [a, b], way, (at, before)),
                Some((_, Rest::Constant(_) | Rest::Minus(_))) | None => None,
            };
            let group = (way == Opcode::Sext).then(|| self.groups.find(func, (base, scale), value)).flatten();
            let is_element = |value: Value| self.indexed.contains(&(base, scale, func.dfg.resolve(value)));
            let is_element_here =
                |value: Value| self.indexed_in.contains(&(base, scale, func.dfg.resolve(value), at));
            match parts {
                Some((a, Rest::Constant(c))) => {
                    constant = constant.wrapping_add(c);
                    work.push(a);
                }
                // `p[i]` and `p[i + n]` in one block: the second from the first, which needs no register for a base of its own.
                Some((a, Rest::Plus(b)))
                    if terms.is_empty()
                        && work.is_empty()
                        && self.is_fixed(func, at, a) != self.is_fixed(func, at, b)
                        && is_element_here(if self.is_fixed(func, at, a) { b } else { a }) =>
                {
                    let (element, other) = if self.is_fixed(func, at, a) { (b, a) } else { (a, b) };
                    behind.push((other, Sign::Plus));
                    work.push(element);
                }
                Some((a, Rest::Plus(b)))
                    if self.is_fixed(func, at, a) != self.is_fixed(func, at, b)
                        && !self.bases.are_many(self.rounds.innermost[at], (base, scale), value) =>
                {
                    work.extend([b, a]);
                }
                // Where the base changes, the difference is taken in 32 bits and added at once.
                Some((a, Rest::Minus(b)))
                    if self.is_fixed(func, at, base)
                        && self.is_fixed(func, at, a) != self.is_fixed(func, at, b) =>
                {
                    terms.push((!self.is_fixed(func, at, b), (b, Sign::Minus)));
                    work.push(a);
                }
                // `p[y + x]` and `p[y + (x + 1)]` in one block: a constant away from each other.
                Some((_, Rest::Plus(_))) if beside.is_some() => {
                    let Some((element, c)) = beside else { continue };
                    constant = constant.wrapping_add(c);
                    work.push(element);
                }
                Some((_, Rest::Plus(_))) if group.is_some() => {
                    let Some((terms, c)) = group else { continue };
                    constant = constant.wrapping_add(c);
                    work.extend(terms);
                }
                Some((a, Rest::Plus(b)))
                    if terms.is_empty() && work.is_empty() && is_element(a) != is_element(b) =>
                {
                    let (element, other) = if is_element(a) { (a, b) } else { (b, a) };
                    behind.push((other, Sign::Plus));
                    work.push(element);
                }
                Some(_) | None => terms.push((!self.is_fixed(func, at, value), (value, Sign::Plus))),
            }
        }
        // A stable sort: in the order of the source otherwise.
        terms.sort_by_key(|(changes, _)| *changes);
        if let [(_, (whole, Sign::Plus))] = terms[..]
            && whole == narrow
            && behind.is_empty()
        {
            fixed.push((index, Sign::Plus));
            return (fixed, constant, way);
        }
        fixed.extend(terms.into_iter().map(|(_, term)| term));
        fixed.extend(behind.into_iter().rev());
        (fixed, constant, way)
    }

    fn is_fixed(&self, func: &Function, at: Block, value: Value) -> bool {
        self.rounds.is_fixed(func, at, value)
    }

    /// An element that the block accesses at one of two terms and what the other is a constant more than, and that constant. As the block accesses it, that
    /// sum does not wrap.
    fn beside(
        &mut self,
        func: &Function,
        (base, scale): (Value, i32),
        [a, b]: Terms,
        way: Opcode,
        (at, before): (Block, Inst),
    ) -> Option<(Value, i64)> {
        [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
            let Some((rest, Rest::Constant(constant))) = self.sum(func, other, way, at) else { return None };
            let terms = in_order([func.dfg.resolve(one), func.dfg.resolve(rest)]);
            let element = *self.accessed.get(&(base, scale, terms, at)).filter(|_| way == Opcode::Sext)?;
            is_known(func, element, (at, before)).then_some((element, constant))
        })
    }

    /// The two terms of a sum or difference of 32 bits that is the same of what they are extended to.
    fn sum(&mut self, func: &Function, value: Value, way: Opcode, at: Block) -> Option<(Value, Rest)> {
        let inst = func.dfg.def_inst(value)?;
        let &InstData::Binary { op, args: [a, b] } = &func.dfg[inst] else { return None };
        let constant = func.dfg.int_const(b);
        let promised = match way {
            Opcode::Sext => func.dfg.no_signed_wrap(inst) || self.stays_in_range(func, op, [a, b], at),
            _ => false,
        };
        match (op, constant) {
            (Opcode::Iadd, Some(c)) => {
                // Bits that were 0 are set, and nothing is carried: an index that is a multiple of a power of two plus less than that.
                if self.zeros(func, a) & c as u32 == c as u32 {
                    let c = if way == Opcode::Sext { i64::from(c as i32) } else { i64::from(c as u32) };
                    return Some((a, Rest::Constant(c)));
                }
                let wraps = match way {
                    Opcode::Sext if c < 0 => self.bits_free(func, a) == 0,
                    Opcode::Sext => c >= 1 << 30 || self.bits_free(func, a) < 2,
                    _ => c < 0 || (self.bits_free(func, a) == 0 && !self.is_natural(func, a, at)),
                };
                (promised || !wraps).then_some((a, Rest::Constant(c)))
            }
            (Opcode::Bor, _) if self.zeros(func, a) | self.zeros(func, b) == u32::MAX => match constant {
                Some(c) if way == Opcode::Sext => Some((a, Rest::Constant(i64::from(c as i32)))),
                Some(c) => Some((a, Rest::Constant(i64::from(c as u32)))),
                None => Some((a, Rest::Plus(b))),
            },
            (Opcode::Isub, Some(c)) if promised => Some((a, Rest::Constant(c.checked_neg()?))),
            // What is taken away from a constant, `1 - i`, is mostly needed as such.
            (Opcode::Isub, None) if promised && func.dfg.int_const(a).is_none() => Some((a, Rest::Minus(b))),
            (Opcode::Iadd, None) => {
                let free = self.bits_free(func, a).min(self.bits_free(func, b));
                let disjoint = self.zeros_at(func, a, at) | self.zeros_at(func, b, at) == u32::MAX;
                let needed = if way == Opcode::Sext { 2 } else { 1 };
                let natural =
                    || way == Opcode::Zext && [a, b].iter().all(|&term| self.is_natural(func, term, at));
                (promised || disjoint || free >= needed || natural()).then_some((a, Rest::Plus(b)))
            }
            _ => None,
        }
    }

    /// Between which numbers a value lies where a block begins, if that was asked for.
    fn range(&self, func: &Function, value: Value, at: Block) -> Option<Range> {
        self.ranges.as_ref()?.at(func, value, at)
    }

    fn is_natural(&self, func: &Function, value: Value, at: Block) -> bool {
        self.range(func, value, at).is_some_and(Range::is_natural)
    }

    /// Whether a sum or difference of 32 bits, read as signed, is never beyond them.
    fn stays_in_range(&self, func: &Function, op: Opcode, terms: [Value; 2], at: Block) -> bool {
        let [a, b] = terms.map(|term| self.range(func, term, at));
        let all = Range::all(32);
        let sum = a.zip(b).and_then(|(a, b)| exact(op, a, b));
        sum.is_some_and(|sum| all.low <= sum.low && sum.high <= all.high)
    }

    /// How many of the upper bits of a value of 32 bits are known to be 0.
    fn bits_free(&mut self, func: &Function, value: Value) -> u32 {
        self.zeros(func, value).leading_ones()
    }

    /// The bits of a value of 32 bits that are known to be 0, or that numbers between which it lies do not have.
    fn zeros_at(&mut self, func: &Function, value: Value, at: Block) -> u32 {
        let natural = self.range(func, value, at).filter(|range| range.is_natural());
        let unused = natural.map_or(0, |range| match range.high as u32 {
            0 => u32::MAX,
            high => !(u32::MAX >> high.leading_zeros()),
        });
        self.zeros(func, value) | unused
    }

    /// The bits of a value of 32 bits that are known to be 0.
    fn zeros(&mut self, func: &Function, value: Value) -> u32 {
        self.known.of(&func.dfg, value).map_or(0, |known| known.zeros as u32)
    }
}
