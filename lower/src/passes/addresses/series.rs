//! Sums of a block that differ in a multiple of the same factor: behind `(i + 8) * n + x` comes `(i + 16) * n + x` by adding `8 * n`. Copies of a
//! loop's rounds are full of them, and differ by the same multiple, which is computed once. Rows of an array, `y * n + x` and `(y + 1) * n + x`, differ
//! by `n`: where neither wraps, adding it to the one does not either.

use super::{Uses, insert_before};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Function, Inst, InstData, Opcode, Value};

/// Terms that a sum has.
const MAX_TERMS: usize = 8;

/// What the sums of a series have in common: the factor, what it is multiplied by but for a constant, and the other terms with their constant.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    factor: Value,
    base: Option<Value>,
    others: SmallVec<[Value; 4]>,
    constant: i64,
}

/// Rewrites the sums of all blocks, and says how many.
pub(super) fn run(func: &mut Function, uses: &Uses) -> u32 {
    let insts: Vec<Inst> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
    let (mut changes, mut block) = (0, None);
    let mut last: FxHashMap<Key, Member> = FxHashMap::default();
    for inst in insts {
        let own = func.layout.block_of(inst);
        if own != block {
            last.clear();
            block = own;
        }
        let Some((result, ty)) = uses.root(func, inst, |op| op == Opcode::Iadd) else { continue };
        let Some(Sum { product, others, constant, exact }) =
            Sum::of(func, result, uses).filter(|sum| !sum.others.is_empty())
        else {
            continue;
        };
        let mut earlier = None;
        let mut keys: SmallVec<[(Key, Member); 2]> = SmallVec::new();
        for [sum, factor] in [product, [product[1], product[0]]] {
            if func.dfg.int_const(factor).is_some() {
                continue;
            }
            let (base, by, split_exact) = split(func, sum);
            let own = Member { value: result, by, exact: exact && split_exact };
            let key = Key { factor, base, others: others.clone(), constant };
            if let Some(&before) = last.get(&key).filter(|before| before.by != by) {
                earlier = Some((before, factor, own));
            }
            keys.push((key, own));
        }
        if let Some((before, factor, own)) = earlier {
            let by = own.by.wrapping_sub(before.by);
            let more = match by {
                1 => factor,
                _ => {
                    let by = insert_before(func, inst, InstData::IntConst { value: ty.normalize(by) }, ty);
                    insert_before(func, inst, InstData::Binary { op: Opcode::Imul, args: [factor, by] }, ty)
                }
            };
            let args = [before.value, more];
            func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Iadd, args });
            // The difference of two numbers that both fit need not fit, but the factor does.
            func.dfg.set_promised(inst, by == 1 && before.exact && own.exact);
            changes += 1;
        }
        last.extend(keys);
    }
    changes
}

/// A sum of a series.
#[derive(Clone, Copy)]
struct Member {
    value: Value,
    /// The constant in what the factor is multiplied by.
    by: i64,
    /// Whether nothing in it wraps.
    exact: bool,
}

/// What a sum adds up.
pub(super) struct Sum {
    /// The factors of its one product.
    pub product: [Value; 2],
    /// Its other terms in order.
    pub others: SmallVec<[Value; 4]>,
    pub constant: i64,
    /// Whether neither a sum nor the product wraps.
    pub exact: bool,
}

impl Sum {
    /// The terms of a sum with one product, or of a product.
    pub fn of(func: &Function, root: Value, uses: &Uses) -> Option<Sum> {
        let (mut product, mut others, mut constant) = (None, SmallVec::new(), 0i64);
        let mut exact = true;
        let promised =
            |value: Value| func.dfg.def_inst(value).is_some_and(|inst| func.dfg.no_signed_wrap(inst));
        let mut work: SmallVec<[Value; 8]> = SmallVec::from_slice(&[root]);
        while let Some(value) = work.pop() {
            if others.len() + work.len() > MAX_TERMS {
                return None;
            }
            let alone = value == root || uses[value].0 == 1;
            match func.dfg.def_data(value) {
                Some(&InstData::Binary { op: Opcode::Iadd, args }) if alone => {
                    exact &= promised(value);
                    work.extend(args.map(|arg| func.dfg.resolve(arg)));
                }
                Some(&InstData::Binary { op: Opcode::Imul, args }) if alone && product.is_none() => {
                    exact &= promised(value);
                    product = Some(args.map(|arg| func.dfg.resolve(arg)));
                }
                Some(&InstData::IntConst { value }) => constant = constant.wrapping_add(value),
                _ => others.push(value),
            }
        }
        others.sort_unstable();
        product.map(|product| Sum { product, others, constant, exact })
    }
}

/// A factor without its constant term, that, and whether they add up to it without wrapping.
fn split(func: &Function, sum: Value) -> (Option<Value>, i64, bool) {
    let whole = (Some(sum), 0, true);
    let Some(inst) = func.dfg.def_inst(sum) else { return whole };
    match func.dfg[inst] {
        InstData::IntConst { value } => (None, value, true),
        InstData::Binary { op: Opcode::Iadd, args: [base, by] } => match func.dfg.int_const(by) {
            Some(by) => (Some(func.dfg.resolve(base)), by, func.dfg.no_signed_wrap(inst)),
            None => whole,
        },
        _ => whole,
    }
}
