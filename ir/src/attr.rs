//! What an operation of [`Shape::List`](crate::Shape::List) says beyond its operands.

use crate::ops::Opcode;

/// The part of an instruction that is neither its operation nor its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Attr {
    /// The operation has none.
    #[default]
    None,
    /// `reduce`: the operation that puts two elements together.
    With(Opcode),
    /// `shuffle`: for each element of the result, its position in the first operand followed by the second.
    Lanes(Box<[u8]>),
    /// `iconst`: the bits of a constant that sign extension of 64 bits does not reach. Others are [`InstData::IntConst`](crate::InstData::IntConst).
    Wide(Box<u128>),
}

/// Which [`Attr`] an operation has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrKind {
    /// [`Attr::None`]
    None,
    /// [`Attr::With`]
    With,
    /// [`Attr::Lanes`]
    Lanes,
    /// [`Attr::Wide`]
    Wide,
}

impl Attr {
    /// Which it is.
    pub const fn kind(&self) -> AttrKind {
        match self {
            Attr::None => AttrKind::None,
            Attr::With(_) => AttrKind::With,
            Attr::Lanes(_) => AttrKind::Lanes,
            Attr::Wide(_) => AttrKind::Wide,
        }
    }
}

impl Opcode {
    /// The kind of [`Attr`] that the operation has.
    pub const fn attr_kind(self) -> AttrKind {
        match self {
            Opcode::Reduce => AttrKind::With,
            Opcode::Shuffle => AttrKind::Lanes,
            Opcode::Iconst => AttrKind::Wide,
            _ => AttrKind::None,
        }
    }

    /// The operations that `reduce` puts elements together by.
    pub const REDUCTIONS: [Opcode; 13] = [
        Opcode::Iadd,
        Opcode::Imul,
        Opcode::Band,
        Opcode::Bor,
        Opcode::Bxor,
        Opcode::Smin,
        Opcode::Smax,
        Opcode::Umin,
        Opcode::Umax,
        Opcode::Fadd,
        Opcode::Fmul,
        Opcode::Fmin,
        Opcode::Fmax,
    ];
}
