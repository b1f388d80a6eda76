//! Constants that only the low bits of an index of 32 bits have: where the other terms are multiples of a power of two, a constant below it is added
//! without a carry, whatever wraps above. Elements at `x + 4 * t + i` for several `i`, with an `x` that is a multiple of 4 too, are then found from one
//! address, though nothing promises that the sum does not wrap: sums of integers without a sign, as `blockIdx.x * n + threadIdx.x` is one.

use super::{Addends, insert_before, narrow, split};
use crate::rules::known::KnownBits;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Function, Inst, InstData, Opcode, Type, Value};

/// What the indices of a group have in common.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    terms: Addends,
    /// The constant without its low bits.
    high: i64,
    way: Opcode,
}

/// The indices of a group, each with the low bits of its constant.
type Group = SmallVec<[(Inst, i64); 4]>;

/// Rewrites the indices of groups, and says how many.
pub(super) fn run(func: &mut Function) -> u32 {
    let mut known: Option<KnownBits> = None;
    let mut numbers: FxHashMap<Key, usize> = FxHashMap::default();
    let mut groups: Vec<(Key, Group)> = Vec::new();
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        let InstData::Index { args: [_, index], .. } = func.dfg[inst] else { continue };
        let Some((value, way)) = narrow(func, index) else { continue };
        // Of a sum that does not wrap all terms are added one by one.
        let is_sum = |inst: Inst| {
            matches!(func.dfg[inst], InstData::Binary { op: Opcode::Iadd, .. })
                && !func.dfg.no_signed_wrap(inst)
        };
        if !func.dfg.def_inst(value).is_some_and(is_sum) {
            continue;
        }
        let Some((terms, constant)) = split(func, value, |_| true) else { continue };
        let constant = Type::I32.normalize(constant);
        let known = known.get_or_insert_with(|| KnownBits::of_function(func, []));
        let zeros = |&term: &Value| known.of(&func.dfg, term).map_or(0, |known| known.zeros.trailing_ones());
        let Some(zeros @ 1..) = terms.iter().map(zeros).min() else { continue };
        let low = constant & ((1 << zeros.min(31)) - 1);
        let high = Type::I32.normalize(constant - low);
        // Such a constant beside one term is seen anyway.
        if terms.len() == 1 && high == 0 {
            continue;
        }
        let key = Key { terms, high, way };
        let number = *numbers.entry(key.clone()).or_insert(groups.len());
        if number == groups.len() {
            groups.push((key, Group::new()));
        }
        groups[number].1.push((inst, low));
    }
    let mut changes = 0;
    for (key, group) in groups {
        if group.iter().any(|&(_, low)| low != group[0].1) {
            for (inst, low) in group {
                rewrite(func, &key, inst, low);
                changes += 1;
            }
        }
    }
    changes
}

/// Makes an index the sum of what its group shares and the low bits of its constant.
fn rewrite(func: &mut Function, key: &Key, inst: Inst, low: i64) {
    let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { return };
    let constant =
        |func: &mut Function, value: i64| insert_before(func, inst, InstData::IntConst { value }, Type::I32);
    let add = |func: &mut Function, a: Value, b: Value| {
        insert_before(func, inst, InstData::Binary { op: Opcode::Iadd, args: [a, b] }, Type::I32)
    };
    let mut terms = key.terms.iter().copied();
    let Some(mut sum) = terms.next() else { return };
    for term in terms {
        sum = add(func, sum, term);
    }
    for part in [key.high, low] {
        if part != 0 {
            let part = constant(func, part);
            sum = add(func, sum, part);
        }
    }
    if func.dfg.ty(index) != Type::I32 {
        sum = insert_before(func, inst, InstData::Unary { op: key.way, arg: sum }, Type::I64);
    }
    func.dfg.replace_inst(inst, InstData::Index { scale, args: [base, sum] });
}
