//! What table-derived instructions are made of.

use crate::entities::{FuncId, GlobalId};
use crate::ops::Traits;
use crate::types::Type;

/// The name of a table-derived operation with its modifiers, as written after `ptx.`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mnemonic(pub Box<str>);

/// A special register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sreg(u8);

const SPECIAL_REGS: &[(&str, Type)] = &[
    ("tid.x", Type::I32),
    ("tid.y", Type::I32),
    ("tid.z", Type::I32),
    ("ntid.x", Type::I32),
    ("ntid.y", Type::I32),
    ("ntid.z", Type::I32),
    ("ctaid.x", Type::I32),
    ("ctaid.y", Type::I32),
    ("ctaid.z", Type::I32),
    ("nctaid.x", Type::I32),
    ("nctaid.y", Type::I32),
    ("nctaid.z", Type::I32),
    ("laneid", Type::I32),
    ("warpid", Type::I32),
];

impl Sreg {
    /// The name without `%`: `tid.x`.
    pub fn name(self) -> &'static str {
        SPECIAL_REGS[self.0 as usize].0
    }

    /// The inverse of `name`.
    pub fn from_name(name: &str) -> Option<Sreg> {
        SPECIAL_REGS.iter().position(|(n, _)| *n == name).map(|i| Sreg(i as u8))
    }

    /// Every special register.
    pub fn all() -> impl Iterator<Item = Sreg> {
        (0..SPECIAL_REGS.len()).map(|i| Sreg(i as u8))
    }

    /// The type of the value read.
    pub fn ty(self) -> Type {
        SPECIAL_REGS[self.0 as usize].1
    }
}

/// The constant part of a table-derived instruction: its operation and its operand list after PTX's manner. Each
/// [`PtxOperand`] that has a value in it stands for the next of the instruction's arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct PtxData {
    /// The operation.
    pub mnemonic: Mnemonic,
    /// The operands after the destinations, which are the instruction's results.
    pub operands: Vec<PtxOperand>,
}

/// An operand of a table-derived instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PtxOperand {
    /// `%v`: the next argument.
    Value,
    /// `!%v`: the next argument, a predicate, negated.
    Not,
    /// `[%v + offset]`: memory at the next argument.
    Address(i64),
    /// `[@g + offset]`: memory at a global.
    GlobalAddress(GlobalId, i64),
    /// `@g`: the address of a global.
    Global(GlobalId),
    /// `@f`: a function.
    Func(FuncId),
    /// An integer.
    Int(i128),
    /// The bits of an `f32`: `0f3f800000` or `1.0`.
    F32(u32),
    /// The bits of an `f64`: `0d3ff0000000000000`.
    F64(u64),
    /// `{...}`: the next so many operands.
    Vector(u32),
    /// A decimal fraction, of the type that the instruction wants.
    Decimal(f64),
    /// `[a, b, ...]`: the next so many operands, between brackets.
    Bracket(u32),
    /// `_`: nothing.
    Sink,
}

impl PtxOperand {
    /// True if the operand stands for an argument.
    pub fn takes_value(self) -> bool {
        matches!(self, PtxOperand::Value | PtxOperand::Not | PtxOperand::Address(_))
    }
}

/// The traits of reading a special register.
pub(crate) fn sreg_traits(_reg: Sreg) -> Traits {
    Traits::NONE
}

/// The traits of a table-derived operation.
pub(crate) fn ptx_traits(_data: &PtxData) -> Traits {
    Traits::READS.with(Traits::WRITES).with(Traits::CONVERGENT).with(Traits::SIDE_EFFECT)
}

impl std::fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Sreg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PtxData {
    /// The type that the n-th result has where nothing else is written.
    pub fn usual_type(&self, _n: usize) -> Option<Type> {
        let last = self.mnemonic.0.rsplit('.').next()?;
        Some(match last {
            "b32" | "u32" | "s32" => Type::I32,
            "b64" | "u64" | "s64" => Type::I64,
            "f32" => Type::F32,
            "f64" => Type::F64,
            _ => return None,
        })
    }
}
