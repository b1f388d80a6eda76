//! Loads of words of which one byte or one half is used: that is loaded, which masks and shifts it by the way. Loads of integers of 64 bits of
//! which only words are used: the words are loaded. Bytes that are compared as signed numbers: they are extended once. Products of 64 bits of bytes and
//! halves: these become words first.

mod apart;
mod products;
mod signed;

use super::{insert_before, replace_with};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Function, Inst, InstData, Opcode, Type, Value};

/// How often a value is used, and by which instruction last.
type Users = SecondaryMap<Value, (u32, Option<Inst>)>;

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let apart = apart::run(func);
    if apart > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(apart + parts(func) + signed::run(func) + products::run(func))
}

/// Loads bytes and halves. Returns how many.
fn parts(func: &mut Function) -> u32 {
    let is_word = |func: &Function, inst: Inst| {
        matches!(func.dfg[inst], InstData::Load { flags, .. } if !flags.volatile)
            && func.dfg.first_result(inst).is_some_and(|word| func.dfg.ty(word) == Type::I32)
    };
    let insts = || func.layout.blocks().flat_map(|block| func.layout.insts(block));
    let loads: Vec<Inst> = insts().filter(|&inst| is_word(func, inst)).collect();
    if loads.is_empty() {
        return 0;
    }
    let mut users: Users = SecondaryMap::new();
    users.resize(func.dfg.num_values());
    for inst in insts() {
        func.dfg.for_each_use(inst, |value| {
            let (count, user) = &mut users[func.dfg.resolve(value)];
            (*count, *user) = (*count + 1, Some(inst));
        });
    }
    let changes: u32 = loads.into_iter().map(|load| u32::from(narrow(func, load, &users))).sum();
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    changes
}

/// Loads the part of a word that is used, if there is one.
fn narrow(func: &mut Function, load: Inst, users: &Users) -> bool {
    let InstData::Load { flags, offset, ptr } = func.dfg[load] else { return false };
    let Some((user, shift, ty)) = part(func, load, users) else { return false };
    let at = i32::try_from(shift / 8).ok().and_then(|bytes| offset.checked_add(bytes));
    // What lies so many bytes behind a boundary is aligned to the lowest bit of both.
    let align = if shift == 0 {
        flags.align(Type::I32)
    } else {
        flags.align(Type::I32).min(1 << (shift / 8).trailing_zeros())
    };
    let (Some(offset), Some(flags)) = (at, flags.with_align(align)) else { return false };
    let few = insert_before(func, load, InstData::Load { flags, offset, ptr }, ty);
    let word = insert_before(func, load, InstData::Unary { op: Opcode::Zext, arg: few }, Type::I32);
    replace_with(func, user, word);
    true
}

/// The instruction that gives the one part of a loaded word that is used, how far up it is, and its type.
fn part(func: &Function, load: Inst, users: &Users) -> Option<(Inst, u32, Type)> {
    let only_user = |value: Value| match users[value] {
        (1, user) => user,
        _ => None,
    };
    let by_constant = |inst: Inst, value: Value| match func.dfg[inst] {
        InstData::Binary { op, args: [a, by] } if func.dfg.resolve(a) == value => {
            Some((op, u32::try_from(func.dfg.int_const(by)?).ok()?))
        }
        _ => None,
    };
    let whole = func.dfg.first_result(load)?;
    let user = only_user(whole)?;
    match by_constant(user, whole)? {
        (Opcode::Band, 0xff) => Some((user, 0, Type::I8)),
        (Opcode::Band, 0xffff) => Some((user, 0, Type::I16)),
        (Opcode::Lshr, 24) => Some((user, 24, Type::I8)),
        (Opcode::Lshr, shift @ (8 | 16)) => {
            let upper = func.dfg.first_result(user)?;
            let mask =
                only_user(upper).filter(|&mask| by_constant(mask, upper) == Some((Opcode::Band, 0xff)));
            match mask {
                Some(mask) => Some((mask, shift, Type::I8)),
                None if shift == 16 => Some((user, 16, Type::I16)),
                None => None,
            }
        }
        _ => None,
    }
}
