//! The numbers that constant expressions of integers are, where they can be known before addresses are.

use super::constant::address_of_block;
use super::global::address;
use crate::module::constants::ConstantKind;
use crate::module::ops::{BinaryOp, CastOp, Predicate};
use crate::module::types::{Type, TypeId};
use crate::module::{Module, ValueId};
use warpsmith_ir::{Opcode, meaning};

/// Constants that hold each other deeper than this are not looked at.
const MAX_DEPTH: u32 = 64;

/// The number that a constant of at most 64 bits is, sign-extended.
pub(super) fn integer(module: &Module<'_>, value: ValueId) -> Option<i64> {
    nested(module, value, 0)
}

fn nested(module: &Module<'_>, value: ValueId, depth: u32) -> Option<i64> {
    if depth > MAX_DEPTH {
        return None;
    }
    let constant = module.constant(value)?;
    let bits = width(module, constant.ty)?;
    let of = |value: ValueId| nested(module, value, depth + 1);
    match &constant.kind {
        ConstantKind::Integer(n) => Some(*n),
        ConstantKind::Null | ConstantKind::Undef | ConstantKind::Poison => Some(0),
        ConstantKind::BlockAddress { block, .. } => Some(address_of_block(*block)),
        ConstantKind::Cast { op, arg } => {
            let from = width(module, module.constant(*arg)?.ty)?;
            let n = of(*arg)?;
            match op {
                CastOp::Zext | CastOp::IntToPtr => Some(unsigned(n, from) as i64),
                CastOp::Trunc | CastOp::Sext | CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::BitCast => {
                    Some(signed(n, bits))
                }
                CastOp::FpToUi
                | CastOp::FpToSi
                | CastOp::UiToFp
                | CastOp::SiToFp
                | CastOp::FpTrunc
                | CastOp::FpExt
                | CastOp::AddrSpaceCast => None,
            }
        }
        ConstantKind::Binary { op: BinaryOp::Sub, args: [x, y] }
            if address(module, *x, depth).is_some() || address(module, *y, depth).is_some() =>
        {
            let (x, y) = (address(module, *x, depth)?, address(module, *y, depth)?);
            (x.symbol == y.symbol).then(|| signed(x.addend.wrapping_sub(y.addend), bits))
        }
        ConstantKind::Binary { op, args: [x, y] } => {
            combine(*op, of(*x)?, of(*y)?, bits).map(|n| signed(n, bits))
        }
        ConstantKind::Select([cond, x, y]) => of(if of(*cond)? & 1 != 0 { *x } else { *y }),
        ConstantKind::Compare { predicate, args: [x, y] } => {
            let bits = width(module, module.constant(*x)?.ty)?;
            compare(*predicate, of(*x)?, of(*y)?, bits).map(i64::from)
        }
        ConstantKind::Wide(_)
        | ConstantKind::Float(_)
        | ConstantKind::Aggregate(_)
        | ConstantKind::String(_)
        | ConstantKind::Data(_)
        | ConstantKind::Gep { .. }
        | ConstantKind::InlineAsm(_)
        | ConstantKind::Other(_) => None,
    }
}

/// The bits of an integer or pointer that has at most 64.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not folded")]
fn width(module: &Module<'_>, ty: TypeId) -> Option<u32> {
    match module.types.get(ty) {
        Type::Integer(bits @ 1..=64) => Some(*bits),
        Type::Pointer { .. } => Some(64),
        _ => None,
    }
}

fn signed(n: i64, bits: u32) -> i64 {
    let above = 64 - bits;
    n << above >> above
}

fn unsigned(n: i64, bits: u32) -> u64 {
    let above = 64 - bits;
    (n as u64) << above >> above
}

/// `None` for a division by zero and a shift by all bits or more, which have no value.
fn combine(op: BinaryOp, x: i64, y: i64, bits: u32) -> Option<i64> {
    let (x, y) = (unsigned(x, bits), unsigned(y, bits));
    let (op, has_value) = match op {
        BinaryOp::Add => (Opcode::Iadd, true),
        BinaryOp::Sub => (Opcode::Isub, true),
        BinaryOp::Mul => (Opcode::Imul, true),
        BinaryOp::And => (Opcode::Band, true),
        BinaryOp::Or => (Opcode::Bor, true),
        BinaryOp::Xor => (Opcode::Bxor, true),
        BinaryOp::Shl => (Opcode::Shl, y < bits.into()),
        BinaryOp::Lshr => (Opcode::Lshr, y < bits.into()),
        BinaryOp::Ashr => (Opcode::Ashr, y < bits.into()),
        BinaryOp::Udiv => (Opcode::Udiv, y != 0),
        BinaryOp::Urem => (Opcode::Urem, y != 0),
        BinaryOp::Sdiv => (Opcode::Sdiv, y != 0),
        BinaryOp::Srem => (Opcode::Srem, y != 0),
        BinaryOp::Fadd | BinaryOp::Fsub | BinaryOp::Fmul | BinaryOp::Fdiv | BinaryOp::Frem => return None,
    };
    let result = || meaning::integer(op, bits, &[x.into(), y.into()]);
    has_value.then(result)?.map(|result| result as i64)
}

fn compare(predicate: Predicate, x: i64, y: i64, bits: u32) -> Option<bool> {
    let (x, y) = (unsigned(x, bits), unsigned(y, bits));
    Some(meaning::compare_integers(super::integer::condition(predicate)?, bits, x.into(), y.into()))
}
