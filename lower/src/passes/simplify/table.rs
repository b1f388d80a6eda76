//! Operations of the PTX tables that core operations say as well: comparisons, selections, moves, arithmetic that rounds to nearest and widened `bf16`, which
//! inline assembly and libdevice are full of. As core operations they are simplified, shared and moved like all others.

use crate::passes::{insert_before, replace_with};
use warpsmith_ir::{
    DataFlowGraph, FloatCC, Function, Inst, InstData, IntCC, Opcode, PtxOperand, Traits, Type, Value,
};
use warpsmith_isa::{self as isa, Mod, ScalarType, StateSpace, TypeClass};

/// Writes a table operation as core operations if these say the same, and says whether they do.
pub(super) fn to_core(func: &mut Function, inst: Inst) -> bool {
    let InstData::Ptx { data, args } = &func.dfg[inst] else { return false };
    let (data, args) = (&func.dfg.ptx[*data], args.as_slice(&func.dfg.pool).to_vec());
    let (mnemonic, operands) = (*data.mnemonic(), data.operands.clone());
    let results = func.dfg.results(inst);
    let (true, Some(result)) = (results.len() == 1 && data.traits() == Traits::NONE, results.get(0)) else {
        return false;
    };
    let to = func.dfg.ty(result);
    if let (isa::Opcode::Cvt, [Mod::F32, Mod::Bf16], [PtxOperand::Value], &[half]) =
        (mnemonic.opcode(), mnemonic.mods(), &operands[..], &args[..])
    {
        return widen_bf16(func, inst, half, to);
    }
    if let (isa::Opcode::Isspacep, &[space], [PtxOperand::Value], &[address]) =
        (mnemonic.opcode(), mnemonic.mods(), &operands[..], &args[..])
    {
        let Some(is_in) = is_in_space(func, address, space) else { return false };
        func.dfg.replace_inst(inst, InstData::IntConst { value: is_in.into() });
        return true;
    }
    let Some(ty) = mnemonic.types().next().filter(|_| mnemonic.types().count() == 1) else { return false };
    let mut args = args.into_iter().map(|arg| func.dfg.resolve(arg));
    let taken: Option<Vec<Taken>> = operands
        .iter()
        .map(|operand| match *operand {
            PtxOperand::Value => args.next().map(Taken::Value),
            PtxOperand::Int(value) => i64::try_from(value).ok().map(Taken::Constant),
            PtxOperand::F32(bits) if ty == ScalarType::F32 => Some(Taken::Float(bits.into())),
            PtxOperand::F64(bits) if ty == ScalarType::F64 => Some(Taken::Float(bits)),
            _ => None,
        })
        .collect();
    let (Some(taken), mods) = (taken, mnemonic.mods()) else { return false };
    match (mnemonic.opcode(), mods, &taken[..]) {
        (isa::Opcode::Mov, [_], &[Taken::Value(value)]) => {
            if func.dfg.ty(value) != to || to.is_vector() {
                return false;
            }
            replace_with(func, inst, value);
            true
        }
        (isa::Opcode::Selp, [_], &[yes, no, Taken::Value(cond)]) => {
            let made = [yes, no].map(|operand| as_type(func, inst, operand, to));
            let (Some(yes), Some(no), Type::I1) = (made[0], made[1], func.dfg.ty(cond)) else { return false };
            func.dfg.replace_inst(inst, InstData::Ternary { op: Opcode::Select, args: [cond, yes, no] });
            true
        }
        (isa::Opcode::Setp, [how, _], &[a, b]) if to == Type::I1 => compare(func, inst, *how, ty, a, b),
        (isa::Opcode::Fma, [Mod::Rn, _], &[a, b, c]) if is_float(ty, to) => {
            let [Some(a), Some(b), Some(c)] = [a, b, c].map(|operand| as_type(func, inst, operand, to))
            else {
                return false;
            };
            func.dfg.replace_inst(inst, InstData::Ternary { op: Opcode::Fma, args: [a, b, c] });
            true
        }
        (table, mods, &[arg]) if is_float(ty, to) => {
            let op = match (table, mods) {
                (isa::Opcode::Abs, [_]) => Opcode::Fabs,
                (isa::Opcode::Neg, [_]) => Opcode::Fneg,
                (isa::Opcode::Sqrt, [Mod::Rn, _]) => Opcode::Fsqrt,
                _ => return false,
            };
            let Some(arg) = as_type(func, inst, arg, to) else { return false };
            func.dfg.replace_inst(inst, InstData::Unary { op, arg });
            true
        }
        (table, mods, &[a, b]) => {
            let Some(op) = binary(table, mods, ty, to) else { return false };
            let (Some(a), Some(b)) = (as_type(func, inst, a, to), as_type(func, inst, b, to)) else {
                return false;
            };
            func.dfg.replace_inst(inst, InstData::Binary { op, args: [a, b] });
            true
        }
        _ => false,
    }
}

/// The core operation that says the same of two scalars as one of the tables. What the tables let `ptxas` round once (`add.f32`) is rounded as it stands.
fn binary(table: isa::Opcode, mods: &[Mod], ty: ScalarType, to: Type) -> Option<Opcode> {
    if to.is_vector() || to.bits() != ty.bits() {
        return None;
    }
    let is_plain = mods.len() == 1;
    if matches!(ty, ScalarType::F32 | ScalarType::F64) {
        let rounds = is_plain || matches!(mods, [Mod::Rn, _]);
        return match table {
            _ if !is_float(ty, to) => None,
            isa::Opcode::Add if rounds => Some(Opcode::Fadd),
            isa::Opcode::Sub if rounds => Some(Opcode::Fsub),
            isa::Opcode::Mul if rounds => Some(Opcode::Fmul),
            isa::Opcode::Div if rounds && !is_plain => Some(Opcode::Fdiv),
            isa::Opcode::Min if is_plain => Some(Opcode::Fmin),
            isa::Opcode::Max if is_plain => Some(Opcode::Fmax),
            _ => None,
        };
    }
    let signed = ty.class() == TypeClass::Signed;
    if !to.is_int() || !(signed || matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned)) {
        return None;
    }
    match table {
        _ if !is_plain => None,
        isa::Opcode::MulLo => Some(Opcode::Imul),
        isa::Opcode::Add => Some(Opcode::Iadd),
        isa::Opcode::Sub => Some(Opcode::Isub),
        isa::Opcode::And => Some(Opcode::Band),
        isa::Opcode::Or => Some(Opcode::Bor),
        isa::Opcode::Xor => Some(Opcode::Bxor),
        isa::Opcode::Min => Some(if signed { Opcode::Smin } else { Opcode::Umin }),
        isa::Opcode::Max => Some(if signed { Opcode::Smax } else { Opcode::Umax }),
        _ => None,
    }
}

/// Whether an operation of a table is on floats that the IR has operations for which round as it does, and leaves one.
fn is_float(ty: ScalarType, to: Type) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F64)
        && to.is_float()
        && !to.is_vector()
        && to.bits() == ty.bits()
}

/// Whether a generic address that was cast from another points into a state space (PTX ISA 9.0, 9.7.9.23). `None` if that is not known.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other space is asked for, or known of a pointer")]
fn is_in_space(func: &Function, address: Value, space: Mod) -> Option<bool> {
    let dfg = &func.dfg;
    let mut address = dfg.resolve(address);
    loop {
        let from = match *dfg.def_data(address)? {
            InstData::Unary { op: Opcode::Addrspacecast, arg } => {
                address = dfg.resolve(arg);
                break;
            }
            InstData::Unary { op: Opcode::Ptrtoint, arg } => arg,
            InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
            | InstData::Index { args: [base, _], .. } => base,
            _ => return None,
        };
        address = dfg.resolve(from);
        // The number of a pointer into a window is not its generic address.
        if dfg.ty(address) != Type::PTR {
            return None;
        }
    }
    let points_to = match dfg.ty(address).space()? {
        known @ (StateSpace::Global | StateSpace::Shared | StateSpace::Local | StateSpace::Const) => known,
        _ => return None,
    };
    match space {
        Mod::Global => Some(points_to == StateSpace::Global),
        Mod::Local => Some(points_to == StateSpace::Local),
        Mod::Const => Some(points_to == StateSpace::Const),
        Mod::SharedCluster => Some(points_to == StateSpace::Shared),
        // What was mapped to another block of the cluster is not in this one's memory.
        Mod::Shared | Mod::SharedCta if points_to == StateSpace::Shared => {
            is_variable(dfg, address).then_some(true)
        }
        Mod::Shared | Mod::SharedCta => Some(false),
        _ => None,
    }
}

/// Whether an address is that of a variable, plus something.
fn is_variable(dfg: &DataFlowGraph, mut address: Value) -> bool {
    while let Some(
        &InstData::Binary { op: Opcode::Ptradd, args: [base, _] } | &InstData::Index { args: [base, _], .. },
    ) = dfg.def_data(address)
    {
        address = dfg.resolve(base);
    }
    matches!(dfg.def_data(address), Some(InstData::GlobalAddr { .. }))
}

/// The same bits with zeros below them, which a rule finds in the word that the number is a half of.
fn widen_bf16(func: &mut Function, inst: Inst, half: Value, to: Type) -> bool {
    let half = func.dfg.resolve(half);
    let Some(half) = as_type(func, inst, Taken::Value(half), Type::BF16).filter(|_| to == Type::F32) else {
        return false;
    };
    func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Fpext, arg: half });
    true
}

/// An operand that is read.
#[derive(Clone, Copy)]
enum Taken {
    Value(Value),
    Constant(i64),
    /// The bits of a float of the type of the operation.
    Float(u64),
}

fn compare(func: &mut Function, inst: Inst, how: Mod, ty: ScalarType, a: Taken, b: Taken) -> bool {
    let core = match ty {
        ScalarType::F16 => Type::F16,
        ScalarType::BF16 => Type::BF16,
        ScalarType::F32 => Type::F32,
        ScalarType::F64 => Type::F64,
        _ if matches!(ty.class(), TypeClass::Bits | TypeClass::Signed | TypeClass::Unsigned) => {
            match ty.bits() {
                16 => Type::I16,
                32 => Type::I32,
                64 => Type::I64,
                _ => return false,
            }
        }
        _ => return false,
    };
    if core.is_float() {
        let Some(cond) = float_condition(how) else { return false };
        let (Some(a), Some(b)) = (as_type(func, inst, a, core), as_type(func, inst, b, core)) else {
            return false;
        };
        func.dfg.replace_inst(inst, InstData::FloatCompare { cond, args: [a, b] });
        return true;
    }
    let Some(cond) = integer_condition(how, ty.class() == TypeClass::Signed) else { return false };
    let (Some(a), Some(b)) = (as_type(func, inst, a, core), as_type(func, inst, b, core)) else {
        return false;
    };
    func.dfg.replace_inst(inst, InstData::IntCompare { cond, args: [a, b] });
    true
}

/// An operand as a value of a type of as many bits.
fn as_type(func: &mut Function, inst: Inst, operand: Taken, ty: Type) -> Option<Value> {
    match operand {
        Taken::Constant(value) if ty.is_int() && (8..=64).contains(&ty.bits()) => {
            let value = ty.normalize(value);
            Some(insert_before(func, inst, InstData::IntConst { value }, ty))
        }
        Taken::Float(bits) if ty.is_float() && !ty.is_vector() => {
            Some(insert_before(func, inst, InstData::FloatConst { bits }, ty))
        }
        Taken::Constant(_) | Taken::Float(_) => None,
        Taken::Value(value) => {
            let from = func.dfg.ty(value);
            if from == ty {
                return Some(value);
            }
            let plain = |ty: Type| !ty.is_vector() && (ty.is_int() || ty.is_float());
            let same = plain(from) && plain(ty) && from.bits() == ty.bits();
            same.then(|| insert_before(func, inst, InstData::Unary { op: Opcode::Bitcast, arg: value }, ty))
        }
    }
}

fn float_condition(how: Mod) -> Option<FloatCC> {
    let conditions = [
        (Mod::Eq, FloatCC::Eq),
        (Mod::Ne, FloatCC::Ne),
        (Mod::Lt, FloatCC::Lt),
        (Mod::Le, FloatCC::Le),
        (Mod::Gt, FloatCC::Gt),
        (Mod::Ge, FloatCC::Ge),
        (Mod::Equ, FloatCC::Equ),
        (Mod::Neu, FloatCC::Neu),
        (Mod::Ltu, FloatCC::Ltu),
        (Mod::Leu, FloatCC::Leu),
        (Mod::Gtu, FloatCC::Gtu),
        (Mod::Geu, FloatCC::Geu),
        (Mod::Num, FloatCC::Num),
        (Mod::Nan, FloatCC::Nan),
    ];
    conditions.into_iter().find(|(found, _)| *found == how).map(|(_, cond)| cond)
}

fn integer_condition(how: Mod, signed: bool) -> Option<IntCC> {
    let conditions = [
        (Mod::Eq, IntCC::Eq, IntCC::Eq),
        (Mod::Ne, IntCC::Ne, IntCC::Ne),
        (Mod::Lt, IntCC::Slt, IntCC::Ult),
        (Mod::Le, IntCC::Sle, IntCC::Ule),
        (Mod::Gt, IntCC::Sgt, IntCC::Ugt),
        (Mod::Ge, IntCC::Sge, IntCC::Uge),
    ];
    let found = conditions.into_iter().find(|(found, ..)| *found == how);
    found.map(|(_, with_sign, without)| if signed { with_sign } else { without })
}
