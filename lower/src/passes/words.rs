//! Loads and stores of words of 32 bits that are held as integers of 64 or vectors of them: where only the words are used, they are accessed as
//! a vector of words, which costs no shifts. What is cut out of an integer of 64 bits and lies in one of its words is cut out of that word.

use super::insert_before;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir::{Block, Function, Inst, InstData, Opcode, Scalar, Type, Value, ValueDef, ValueList};

/// The most words that one access has.
const MAX_WORDS: u32 = 8;

type Users = SecondaryMap<Value, SmallVec<[Inst; 4]>>;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let mut changes = cut_out_of_words(func);
    if changes > 0 {
        // What was shifted before is used no more.
        changes += super::dce::run(func, cx).count;
    }
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

/// Takes what lies in one word of an integer of 64 bits from that word. Says of how many values.
fn cut_out_of_words(func: &mut Function) -> u32 {
    let mut words: FxHashMap<(Value, bool), Value> = FxHashMap::default();
    // First what is shifted: only then the lowest bits are taken from a word as well, which would cost nothing by themselves.
    let cuts: Vec<(Inst, Value, u32)> = func
        .layout
        .blocks()
        .flat_map(|block| func.layout.insts(block))
        .filter_map(|inst| cut(func, inst).map(|(whole, at)| (inst, whole, at)))
        .collect();
    let shifted: FxHashSet<Value> =
        cuts.iter().filter(|(_, _, at)| *at > 0).map(|(_, whole, _)| *whole).collect();
    let mut changes = 0;
    for (inst, whole, at) in cuts.into_iter().filter(|(_, whole, _)| shifted.contains(whole)) {
        let (is_upper, by) = (at >= 32, at % 32);
        let known = words.get(&(whole, is_upper)).copied();
        let Some(mut word) = known.or_else(|| word_of(func, whole, is_upper)) else { continue };
        words.insert((whole, is_upper), word);
        if by > 0 {
            let by = insert_before(func, inst, InstData::IntConst { value: by.into() }, Type::I32);
            let shift = InstData::Binary { op: Opcode::Lshr, args: [word, by] };
            word = insert_before(func, inst, shift, Type::I32);
        }
        let is_word = func.dfg.first_result(inst).is_some_and(|result| func.dfg.ty(result) == Type::I32);
        match is_word {
            true => super::replace_with(func, inst, word),
            false => func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Trunc, arg: word }),
        }
        changes += 1;
    }
    changes
}

/// The integer of 64 bits that a shorter one is cut out of, and from which bit on, if what is not zero of it lies in one of the words.
fn cut(func: &Function, inst: Inst) -> Option<(Value, u32)> {
    let InstData::Unary { op: Opcode::Trunc, arg } = func.dfg[inst] else { return None };
    let bits = func.dfg.ty(func.dfg.first_result(inst)?).bits();
    let arg = func.dfg.resolve(arg);
    if func.dfg.ty(arg) != Type::I64 || !matches!(bits, 8 | 16 | 32) {
        return None;
    }
    let Some(&InstData::Binary { op: Opcode::Lshr, args: [whole, by] }) = func.dfg.def_data(arg) else {
        return (bits < 32).then_some((arg, 0));
    };
    let at = u32::try_from(func.dfg.int_const(by)?).ok().filter(|&at| at < 64)?;
    // Above an integer are zeros, as above its upper word. A whole word is one already.
    let in_word = at > 32 || bits < 32 && at % 32 + bits <= 32;
    in_word.then(|| (func.dfg.resolve(whole), at))
}

/// A word of an integer of 64 bits, made where that is.
fn word_of(func: &mut Function, whole: Value, is_upper: bool) -> Option<Value> {
    let next = match func.dfg.def(whole) {
        ValueDef::Result(inst, _) => func.layout.next_inst(inst),
        ValueDef::Param(block, _) => func.layout.first_inst(block),
        ValueDef::Alias(_) | ValueDef::Detached => None,
    };
    let next = next?;
    let mut half = whole;
    if is_upper {
        let by = insert_before(func, next, InstData::IntConst { value: 32 }, Type::I32);
        half = insert_before(func, next, InstData::Binary { op: Opcode::Lshr, args: [half, by] }, Type::I64);
    }
    Some(insert_before(func, next, InstData::Unary { op: Opcode::Trunc, arg: half }, Type::I32))
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
