//! What is half of a word: `f16x2`, and an integer of 32 bits of which 16 are taken.

use warpsmith_ir::{Function, InstData, Opcode, Type, Value};

/// Whether values of a type may be halves: of two floats in a register, mostly.
pub(super) fn may_be(ty: Type) -> bool {
    ty == Type::I16 || ty.is_float() && !ty.is_vector() && ty.bits() == 16
}

/// The value that a value is the lower or upper half of, an integer of 32 bits or a vector of two, and whether it is the upper one.
pub(super) fn of(func: &Function, value: Value) -> Option<(Value, bool)> {
    let ty = func.dfg.ty(value);
    if !may_be(ty) {
        return None;
    }
    let mut data = func.dfg.def_data(func.dfg.resolve(value))?;
    if let InstData::Extract { lane: lane @ 0..=1, arg } = *data {
        let vector = func.dfg.resolve(arg);
        return (func.dfg.ty(vector).lanes() == 2).then_some((vector, lane == 1));
    }
    if let InstData::Unary { op: Opcode::Bitcast, arg } = *data {
        data = func.dfg.def_data(func.dfg.resolve(arg))?;
    }
    let InstData::Unary { op: Opcode::Trunc, arg } = *data else { return None };
    let arg = func.dfg.resolve(arg);
    if func.dfg.ty(arg) != Type::I32 || ty.bits() != 16 {
        return None;
    }
    match func.dfg.def_data(arg) {
        Some(&InstData::Binary { op: Opcode::Lshr | Opcode::Ashr, args: [whole, by] })
            if func.dfg.int_const(by) == Some(16) =>
        {
            Some((func.dfg.resolve(whole), true))
        }
        _ => Some((arg, false)),
    }
}
