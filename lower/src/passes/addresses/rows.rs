//! Addresses that differ in a multiple of the same factor: `p[(i + 8) * n + x]` is found from `p[i * n + x]` by moving it by `8 * n` elements, wherever
//! that was computed before in the same loop. A sum of 64 bits and a product that has a constant in it are one instruction (`IMAD.WIDE`), where
//! the index would take one for its own sum or product and one more to find the element.
//!
//! Indices of 32 bits have to be promised not to wrap, so that they differ as they seem to; those of 64 bits wrap as addresses do.

use super::series::Sum;
use super::{Addends, Uses, insert_before, narrow, split};
use crate::passes::replace_with;
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, DominatorTree, Function, Inst, InstData, Opcode, Type, Value};

/// Earlier addresses of a row that are looked at for one whose block dominates.
const MAX_EARLIER: usize = 4;

/// Elements of what an address finds that are found from earlier ones instead, so that the address goes: each takes a register.
const MAX_BESIDE: u32 = 2;

/// What the addresses of a series have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// All but a multiple of the factor and a constant.
    Element {
        base: Value,
        scale: i32,
        factor: Value,
        /// The terms of what the factor is multiplied by, but for a constant.
        times: Addends,
        /// The other terms of the index.
        others: SmallVec<[Value; 4]>,
        ty: Type,
    },
    /// They are elements of what the addresses of another series find, with the same index.
    Beside { series: usize, index: Value, scale: i32 },
}

/// Addresses that differ in a multiple of a factor and a constant.
struct Series {
    factor: Value,
    /// The bytes that each of the factor, and of the constant, is.
    scale: i32,
    rows: SmallVec<[Row; MAX_EARLIER]>,
}

/// Where in its series an address is.
#[derive(Clone, Copy)]
struct Place {
    series: usize,
    /// The constant in what the factor is multiplied by.
    by: i64,
    /// The constant term of the index.
    constant: i64,
}

/// An address that others are found from.
#[derive(Clone, Copy)]
struct Row {
    address: Value,
    block: Block,
    by: i64,
    constant: i64,
    /// Whether it was itself found from another one.
    found: bool,
}

/// Finds addresses from earlier ones, and says how many. `innermost` is the number of the innermost loop around each block.
pub(super) fn run(
    func: &mut Function,
    uses: &Uses,
    dominators: &DominatorTree,
    innermost: &SecondaryMap<Block, u32>,
) -> u32 {
    let mut rows =
        Rows { uses, indexing: Indexing::of(func), keys: FxHashMap::default(), series: Vec::new() };
    // Of what only elements are asked of, and few: their series take its place.
    let mut placed: FxHashMap<Value, Option<Place>> = FxHashMap::default();
    let mut changes = 0;
    for &block in dominators.preorder() {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 32]>>() {
            let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { continue };
            let Some(result) = func.dfg.first_result(inst) else { continue };
            let base = func.dfg.resolve(base);
            let places = match placed.get(&base) {
                Some(&of) => of.and_then(|of| rows.beside(func, of, scale, index)).into_iter().collect(),
                None => rows.places(func, base, scale, index),
            };
            let elements = rows.is_for_elements(result);
            let replaced = |place: Place| elements.then_some(place);
            let near = |row: &Row| {
                innermost[row.block] == innermost[block] && dominators.dominates(row.block, block)
            };
            let earlier = |place: Place| {
                let list = rows.series[place.series].rows.iter().rev().take(MAX_EARLIER);
                Some((place, *list.into_iter().find(|row| near(row))?))
            };
            let Some((place, earlier)) = places.iter().find_map(|&place| earlier(place)) else {
                for Place { series, by, constant } in places.iter().copied() {
                    rows.series[series].rows.push(Row { address: result, block, by, constant, found: false });
                }
                placed.extend(places.first().map(|&place| (result, replaced(place))));
                continue;
            };
            let series = &mut rows.series[place.series];
            let by = place.by.wrapping_sub(earlier.by);
            let Ok(moved) = i32::try_from(by.saturating_mul(series.scale.into())) else { continue };
            if by == 0 && !earlier.found {
                placed.insert(result, replaced(place));
                continue;
            }
            let mut address = earlier.address;
            if by != 0 {
                address = moved_by(func, inst, address, (series.factor, moved.into()));
                let constant = earlier.constant;
                series.rows.push(Row { address, block, by: place.by, constant, found: true });
            }
            let rest = place.constant.wrapping_sub(earlier.constant).wrapping_mul(series.scale.into());
            if rest != 0 {
                let by = insert_before(func, inst, InstData::IntConst { value: rest }, Type::I64);
                let sum = InstData::Binary { op: Opcode::Ptradd, args: [address, by] };
                address = insert_before(func, inst, sum, func.dfg.ty(result));
            }
            replace_with(func, inst, address);
            placed.insert(address, replaced(place));
            changes += 1;
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    changes
}

/// An address moved by so many bytes for each of a factor.
fn moved_by(func: &mut Function, before: Inst, address: Value, (factor, bytes): (Value, i64)) -> Value {
    let factor = match func.dfg.ty(factor) {
        Type::I64 => factor,
        _ => insert_before(func, before, InstData::Unary { op: Opcode::Sext, arg: factor }, Type::I64),
    };
    let bytes = insert_before(func, before, InstData::IntConst { value: bytes }, Type::I64);
    let by = InstData::Binary { op: Opcode::Imul, args: [factor, bytes] };
    let by = insert_before(func, before, by, Type::I64);
    let sum = InstData::Binary { op: Opcode::Ptradd, args: [address, by] };
    insert_before(func, before, sum, func.dfg.ty(address))
}

/// The series of a function.
struct Rows<'u> {
    uses: &'u Uses,
    indexing: Indexing,
    keys: FxHashMap<Key, usize>,
    series: Vec<Series>,
}

impl Rows<'_> {
    /// The series that an element is in: one, or by either factor of its product.
    fn places(&mut self, func: &Function, base: Value, scale: i32, index: Value) -> SmallVec<[Place; 2]> {
        let mut places = SmallVec::new();
        let Some((value, ty)) = number(func, index) else { return places };
        // What others need too is computed anyway.
        if self.indexing.numbers.get(&value) != Some(&self.uses[value].0) {
            return places;
        }
        let sum = Sum::of(func, value, self.uses).filter(|sum| sum.exact || ty == Type::I64);
        let Some(Sum { product, others, constant, .. }) = sum else { return places };
        for [times, factor] in [product, [product[1], product[0]]] {
            if func.dfg.int_const(factor).is_some() {
                continue;
            }
            // What might wrap in 32 bits is a term.
            let opens = |sum: Inst| ty == Type::I64 || func.dfg.no_signed_wrap(sum);
            let Some((times, by)) = split(func, times, opens) else { continue };
            let key = Key::Element { base, scale, factor, times, others: others.clone(), ty };
            places.push(Place { series: self.number(key, factor, scale), by, constant });
        }
        places
    }

    /// Whether an address serves to find elements only, and few.
    fn is_for_elements(&self, address: Value) -> bool {
        let elements = self.indexing.bases.get(&address).copied().unwrap_or(0);
        elements == self.uses[address].0 && elements <= MAX_BESIDE
    }

    /// The series of an element of what an address in one finds.
    fn beside(&mut self, func: &Function, of: Place, scale: i32, index: Value) -> Option<Place> {
        if func.dfg.int_const(index).is_some() {
            return None;
        }
        let key = Key::Beside { series: of.series, index: func.dfg.resolve(index), scale };
        let Series { factor, scale, .. } = self.series[of.series];
        Some(Place { series: self.number(key, factor, scale), ..of })
    }

    fn number(&mut self, key: Key, factor: Value, scale: i32) -> usize {
        let series = &mut self.series;
        *self.keys.entry(key).or_insert_with(|| {
            series.push(Series { factor, scale, rows: SmallVec::new() });
            series.len() - 1
        })
    }
}

/// The number that an index is, before it is sign-extended, and its type.
fn number(func: &Function, index: Value) -> Option<(Value, Type)> {
    match narrow(func, index) {
        Some((value, Opcode::Sext)) => Some((value, Type::I32)),
        Some(_) => None,
        None => {
            let index = func.dfg.resolve(index);
            (func.dfg.ty(index) == Type::I64).then_some((index, Type::I64))
        }
    }
}

/// What elements are found by.
#[derive(Default)]
struct Indexing {
    /// How often each number is used by an index, or by an extension that is used by indices only.
    numbers: FxHashMap<Value, u32>,
    /// How often elements of what an address finds are asked for, by an index that is not constant.
    bases: FxHashMap<Value, u32>,
}

impl Indexing {
    fn of(func: &Function) -> Indexing {
        let mut found = Indexing::default();
        let mut extended: FxHashSet<Value> = FxHashSet::default();
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            let InstData::Index { args: [base, index], .. } = func.dfg[inst] else { continue };
            if func.dfg.int_const(index).is_none() {
                *found.bases.entry(func.dfg.resolve(base)).or_default() += 1;
            }
            let Some((value, _)) = number(func, index) else { continue };
            let index = func.dfg.resolve(index);
            // An extension is one use.
            if value == index || extended.insert(index) {
                *found.numbers.entry(value).or_default() += 1;
            }
        }
        found
    }
}
