//! Loads and stores of two words of 32 bits that are held as one of 64: where only the words are used, they are accessed as a vector of two,
//! which costs no shifts.

use super::insert_before;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Scalar, Type, Value, ValueList};

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let Some(pair) = Type::vector(Scalar::I32, 2) else { return Changes::NONE };
    let mut users: SecondaryMap<Value, SmallVec<[Inst; 4]>> = SecondaryMap::new();
    let insts: Vec<Inst> = {
        let blocks: Vec<Block> = func.layout.blocks().collect();
        blocks.into_iter().flat_map(|block| func.layout.insts(block).collect::<Vec<_>>()).collect()
    };
    for &inst in &insts {
        func.dfg.uses(inst).for_each(|value| users[value].push(inst));
    }
    let mut changes = 0;
    for inst in insts {
        changes += u32::from(match func.dfg[inst] {
            InstData::Load { .. } => load(func, inst, &users, pair),
            InstData::Store { .. } => store(func, inst, pair),
            _ => false,
        });
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// A load of 64 bits of which the upper and the lower word are used and nothing else.
fn load(
    func: &mut Function,
    inst: Inst,
    users: &SecondaryMap<Value, SmallVec<[Inst; 4]>>,
    pair: Type,
) -> bool {
    let InstData::Load { flags, offset, ptr } = func.dfg[inst] else { return false };
    let Some(whole) = func.dfg.first_result(inst).filter(|&value| func.dfg.ty(value) == Type::I64) else {
        return false;
    };
    let word = |func: &Function, user: Inst| {
        matches!(func.dfg[user], InstData::Unary { op: Opcode::Trunc, .. })
            && func.dfg.first_result(user).is_some_and(|value| func.dfg.ty(value) == Type::I32)
    };
    let mut words: Vec<(Inst, u8)> = Vec::new();
    for &user in &users[whole] {
        if word(func, user) {
            words.push((user, 0));
            continue;
        }
        let InstData::Binary { op: Opcode::Lshr, args: [value, by] } = func.dfg[user] else { return false };
        let Some(upper) = func.dfg.first_result(user) else { return false };
        if value != whole
            || func.dfg.int_const(by) != Some(32)
            || !users[upper].iter().all(|&u| word(func, u))
        {
            return false;
        }
        words.extend(users[upper].iter().map(|&user| (user, 1)));
    }
    if flags.volatile || words.is_empty() {
        return false;
    }
    let Some(flags) = flags.with_align(flags.align(Type::I64)) else { return false };
    let both = insert_before(func, inst, InstData::Load { flags, offset, ptr }, pair);
    let lanes =
        [0, 1].map(|lane| insert_before(func, inst, InstData::Extract { lane, arg: both }, Type::I32));
    for (user, lane) in words {
        super::replace_with(func, user, lanes[usize::from(lane)]);
    }
    true
}

/// A store of two words that were put together for it.
fn store(func: &mut Function, inst: Inst, pair: Type) -> bool {
    let InstData::Store { flags, offset, args: [value, ptr] } = func.dfg[inst] else { return false };
    let value = func.dfg.resolve(value);
    if flags.volatile || func.dfg.ty(value) != Type::I64 {
        return false;
    }
    let binary =
        |func: &Function, value: Value, wanted: Opcode| match func.dfg.def_data(func.dfg.resolve(value)) {
            Some(&InstData::Binary { op, args }) if op == wanted => Some(args),
            _ => None,
        };
    let word = |func: &Function, value: Value| match func.dfg.def_data(func.dfg.resolve(value)) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) => {
            Some(arg).filter(|&arg| func.dfg.ty(arg) == Type::I32)
        }
        _ => None,
    };
    let words = |func: &Function, low: Value, high: Value| {
        let [high, by] = binary(func, high, Opcode::Shl)?;
        (func.dfg.int_const(by) == Some(32)).then_some((word(func, low)?, word(func, high)?))
    };
    let Some([a, b]) = binary(func, value, Opcode::Bor) else { return false };
    let Some((low, high)) = words(func, a, b).or_else(|| words(func, b, a)) else { return false };
    let Some(flags) = flags.with_align(flags.align(Type::I64)) else { return false };
    let args = ValueList::from_slice(&[low, high], &mut func.dfg.pool);
    let both = insert_before(func, inst, InstData::Vec { args }, pair);
    func.dfg.replace_inst(inst, InstData::Store { flags, offset, args: [both, ptr] });
    true
}
