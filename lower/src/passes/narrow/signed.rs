//! Bytes that are compared as signed numbers, as `char` is: they are extended to a word once, by their load if they have one. PTX compares no bytes, so
//! selection would extend them for each comparison.

use super::super::{insert_before, replace_with};
use crate::users::Users;
use cranelift_entity::SecondaryMap;
use warpsmith_base::FxHashSet;
use warpsmith_ir::{Function, Inst, InstData, IntCC, Opcode, Type, Value};

/// Returns how many bytes were extended.
pub(super) fn run(func: &mut Function) -> u32 {
    let insts = || func.layout.blocks().flat_map(|block| func.layout.insts(block));
    let compares: Vec<Inst> = insts().filter(|&inst| compares_bytes(func, inst)).collect();
    if !compares.iter().any(|&inst| is_signed(func, inst)) {
        return 0;
    }
    let users = Users::all(func);
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    let bytes = compares.iter().flat_map(|&inst| func.dfg.args(inst)).map(|&arg| func.dfg.resolve(arg));
    let bytes: Vec<Value> = bytes.filter(|&byte| seen.insert(byte) && pays(func, byte, &users)).collect();
    let mut words: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    for &byte in &bytes {
        let Some(word) = extended(func, byte) else { continue };
        words[byte] = Some(word);
        for user in users.of(byte) {
            if is_extension(func, user) {
                replace_with(func, user, word);
            }
        }
    }
    for inst in compares {
        let args: [Value; 2] = std::array::from_fn(|n| func.dfg.resolve(func.dfg.args(inst)[n]));
        let constants = args.map(|arg| func.dfg.int_const(arg));
        let extends = |n: usize| words[args[n]].is_some() || constants[n].is_some();
        if !(extends(0) && extends(1)) || args.iter().all(|&arg| words[arg].is_none()) {
            continue;
        }
        // The order of extended numbers is that of the bytes, also without signs.
        for n in 0..2 {
            let constant = |value: i64| InstData::IntConst { value: (value as i8).into() };
            let word = words[args[n]]
                .or_else(|| Some(insert_before(func, inst, constant(constants[n]?), Type::I32)));
            if let Some(word) = word {
                func.dfg.args_mut(inst)[n] = word;
            }
        }
    }
    func.dfg.resolve_aliases();
    bytes.len() as u32
}

fn compares_bytes(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::IntCompare { args: [a, _], .. } if func.dfg.ty(a) == Type::I8)
}

fn is_signed(func: &Function, inst: Inst) -> bool {
    let InstData::IntCompare { cond, .. } = func.dfg[inst] else { return false };
    match cond {
        IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge => true,
        IntCC::Eq | IntCC::Ne | IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => false,
    }
}

/// True for `sext.i32` of a byte.
fn is_extension(func: &Function, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::Unary { op: Opcode::Sext, .. })
        && func.dfg.first_result(inst).is_some_and(|word| func.dfg.ty(word) == Type::I32)
}

/// Whether extending a byte where it is made saves more than it costs: a load does it by the way if nobody asks for the byte itself.
fn pays(func: &Function, byte: Value, users: &Users) -> bool {
    let (Some(block), None) = (func.block_of(byte), func.dfg.int_const(byte)) else { return false };
    let signed = || users.of(byte).filter(|&user| compares_bytes(func, user) && is_signed(func, user));
    let here = signed().filter(|&user| func.layout.block_of(user) == Some(block)).count();
    let is_loaded =
        func.dfg.def_inst(byte).is_some_and(|inst| matches!(func.dfg[inst], InstData::Load { .. }));
    let is_free = || {
        users.of(byte).all(|user| compares_bytes(func, user) || is_extension(func, user))
            && signed().next().is_some()
    };
    here > 1 || is_loaded && is_free()
}

/// The word that a byte is extended to, where it is made.
fn extended(func: &mut Function, byte: Value) -> Option<Value> {
    let behind = match func.dfg.def_inst(byte) {
        Some(def) => func.layout.next_inst(def)?,
        None => func.layout.insts(func.block_of(byte)?).next()?,
    };
    Some(insert_before(func, behind, InstData::Unary { op: Opcode::Sext, arg: byte }, Type::I32))
}
