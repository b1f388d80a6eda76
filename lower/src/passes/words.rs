//! Loads and stores of words of 32 bits that are held as integers of 64 or vectors of them: where only the words are used, they are accessed as
//! a vector of words, which costs no shifts.

use super::insert_before;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Scalar, Type, Value, ValueList};

/// The most words that one access has.
const MAX_WORDS: u32 = 8;

type Users = SecondaryMap<Value, SmallVec<[Inst; 4]>>;

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let mut users: Users = SecondaryMap::new();
    let insts: Vec<Inst> = {
        let blocks: Vec<Block> = func.layout.blocks().collect();
        blocks.into_iter().flat_map(|block| func.layout.insts(block).collect::<Vec<_>>()).collect()
    };
    // Who uses what is asked about loads of words only, which few functions have.
    let of_words = |&inst: &Inst| {
        matches!(func.dfg[inst], InstData::Load { .. })
            && func.dfg.first_result(inst).is_some_and(|whole| words_of(func.dfg.ty(whole)).is_some())
    };
    if insts.iter().any(of_words) {
        users.resize(func.dfg.num_values());
        for &inst in &insts {
            func.dfg.for_each_use(inst, |value| users[value].push(inst));
        }
    }
    let mut changes = 0;
    for inst in insts {
        changes += u32::from(match func.dfg[inst] {
            InstData::Load { .. } => load(func, inst, &users),
            InstData::Store { .. } => store(func, inst),
            _ => false,
        });
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// The vector of words that holds the bits of an integer of 64 bits, or of a vector of these.
fn words_of(ty: Type) -> Option<Type> {
    let count = ty.bits() / 32;
    let wide = ty == Type::I64 || (ty.is_vector() && ty.element_type() == Type::I64);
    Type::vector(Scalar::I32, count).filter(|_| wide && count <= MAX_WORDS)
}

/// A load of which words are used and nothing else.
fn load(func: &mut Function, inst: Inst, users: &Users) -> bool {
    let InstData::Load { flags, offset, ptr } = func.dfg[inst] else { return false };
    let Some(whole) = func.dfg.first_result(inst) else { return false };
    let ty = func.dfg.ty(whole);
    let Some(words) = words_of(ty).filter(|_| !flags.volatile) else { return false };
    let mut found: Vec<(Inst, u8)> = Vec::new();
    let only_words = if ty.is_vector() {
        users[whole].iter().all(|&user| {
            let InstData::Extract { lane, .. } = func.dfg[user] else { return false };
            let element = func.dfg.first_result(user);
            element.is_some_and(|element| words_used(func, element, lane * 2, users, &mut found))
        })
    } else {
        words_used(func, whole, 0, users, &mut found)
    };
    if !only_words || found.is_empty() {
        return false;
    }
    let Some(flags) = flags.with_align(flags.align(ty)) else { return false };
    let all = insert_before(func, inst, InstData::Load { flags, offset, ptr }, words);
    let mut lanes: SmallVec<[Option<Value>; 8]> = smallvec::smallvec![None; words.lanes() as usize];
    for (user, lane) in found {
        let word = *lanes[usize::from(lane)].get_or_insert_with(|| {
            insert_before(func, inst, InstData::Extract { lane, arg: all }, Type::I32)
        });
        super::replace_with(func, user, word);
    }
    true
}

/// Whether a value of 64 bits is used for its words only: then the instructions that take these, and the number of each word.
fn words_used(func: &Function, value: Value, first: u8, users: &Users, found: &mut Vec<(Inst, u8)>) -> bool {
    let word = |user: Inst| {
        matches!(func.dfg[user], InstData::Unary { op: Opcode::Trunc, .. })
            && func.dfg.first_result(user).is_some_and(|value| func.dfg.ty(value) == Type::I32)
    };
    for &user in &users[value] {
        if word(user) {
            found.push((user, first));
            continue;
        }
        let InstData::Binary { op: Opcode::Lshr, args: [shifted, by] } = func.dfg[user] else { return false };
        let Some(upper) = func.dfg.first_result(user) else { return false };
        let is_upper = shifted == value && func.dfg.int_const(by) == Some(32);
        if !is_upper || !users[upper].iter().all(|&user| word(user)) {
            return false;
        }
        found.extend(users[upper].iter().map(|&user| (user, first + 1)));
    }
    true
}

/// A store of words that were put together for it.
fn store(func: &mut Function, inst: Inst) -> bool {
    let InstData::Store { flags, offset, args: [value, ptr] } = func.dfg[inst] else { return false };
    let value = func.dfg.resolve(value);
    let ty = func.dfg.ty(value);
    let Some(words) = words_of(ty).filter(|_| !flags.volatile) else { return false };
    let wide: SmallVec<[Value; 4]> = match func.dfg.def_data(value) {
        Some(InstData::Vec { args }) => args.as_slice(&func.dfg.pool).into(),
        _ if ty == Type::I64 => smallvec::smallvec![value],
        _ => return false,
    };
    let parts: Option<SmallVec<[[Value; 2]; 4]>> = wide.into_iter().map(|wide| halves(func, wide)).collect();
    let Some(parts) = parts else { return false };
    let Some(flags) = flags.with_align(flags.align(ty)) else { return false };
    let args = ValueList::from_iter(parts.into_iter().flatten(), &mut func.dfg.pool);
    let all = insert_before(func, inst, InstData::Vec { args }, words);
    func.dfg.replace_inst(inst, InstData::Store { flags, offset, args: [all, ptr] });
    true
}

/// The words that a value of 64 bits was made of.
fn halves(func: &Function, value: Value) -> Option<[Value; 2]> {
    let binary = |value: Value, wanted: Opcode| match func.dfg.def_data(func.dfg.resolve(value)) {
        Some(&InstData::Binary { op, args }) if op == wanted => Some(args),
        _ => None,
    };
    let word = |value: Value| match func.dfg.def_data(func.dfg.resolve(value)) {
        Some(&InstData::Unary { op: Opcode::Zext, arg }) => {
            Some(func.dfg.resolve(arg)).filter(|&arg| func.dfg.ty(arg) == Type::I32)
        }
        _ => None,
    };
    let words = |low: Value, high: Value| {
        let [high, by] = binary(high, Opcode::Shl)?;
        (func.dfg.int_const(by) == Some(32)).then_some([word(low)?, word(high)?])
    };
    let [a, b] = binary(value, Opcode::Bor)?;
    words(a, b).or_else(|| words(b, a))
}
