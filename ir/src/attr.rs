//! What an operation of [`Shape::List`](crate::Shape::List) says beyond its operands.

use crate::effects::{MemoryMode, ShuffleKind, VoteKind};
use crate::float_mode::FloatMode;
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
    /// Arithmetic and conversions of floats: how they round, and what they may do. The plain ones are instructions without it.
    Float(FloatMode),
    /// Atomic accesses and `fence`.
    Memory(MemoryMode),
    /// `shfl`: which lane is read.
    Shuffle(ShuffleKind),
    /// `vote`: what is asked.
    Vote(VoteKind),
    /// `printf` and `assert`: the format, the message.
    Text(Box<[u8]>),
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
    /// [`Attr::Float`]
    Float,
    /// [`Attr::Memory`]
    Memory,
    /// [`Attr::Shuffle`]
    Shuffle,
    /// [`Attr::Vote`]
    Vote,
    /// [`Attr::Text`]
    Text,
}

impl Attr {
    /// Which it is.
    pub const fn kind(&self) -> AttrKind {
        match self {
            Attr::None => AttrKind::None,
            Attr::With(_) => AttrKind::With,
            Attr::Lanes(_) => AttrKind::Lanes,
            Attr::Wide(_) => AttrKind::Wide,
            Attr::Float(_) => AttrKind::Float,
            Attr::Memory(_) => AttrKind::Memory,
            Attr::Shuffle(_) => AttrKind::Shuffle,
            Attr::Vote(_) => AttrKind::Vote,
            Attr::Text(_) => AttrKind::Text,
        }
    }
}

/// What can be promised of an operation. Where an operation on integers does not keep it, what is computed from it is unspecified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    /// `nsw`: the result, read as signed, is that of unbounded integers.
    NoSignedWrap,
    /// `nz`: the divisor is not 0, nor -1 where the dividend is the least number with a sign.
    NonzeroDivisor,
    /// `contract`: a sum, a difference or a product of floats may be rounded once together with another that it is an operand of or has as one. In
    /// text this is the mode of the same name, of which legalisation leaves the promise.
    Contract,
}

impl Promise {
    /// As written in front of the operands.
    pub const fn name(self) -> &'static str {
        match self {
            Promise::NoSignedWrap => "nsw",
            Promise::NonzeroDivisor => "nz",
            Promise::Contract => "contract",
        }
    }
}

impl Opcode {
    /// The kind of [`Attr`] that the operation has.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others say all by their operands")]
    pub const fn attr_kind(self) -> AttrKind {
        match self {
            Opcode::Reduce | Opcode::WarpReduce => AttrKind::With,
            Opcode::AtomicLoad
            | Opcode::AtomicStore
            | Opcode::AtomicRmw
            | Opcode::Cmpxchg
            | Opcode::Fence => AttrKind::Memory,
            Opcode::Shfl => AttrKind::Shuffle,
            Opcode::Vote => AttrKind::Vote,
            Opcode::Printf | Opcode::Assert => AttrKind::Text,
            Opcode::Shuffle => AttrKind::Lanes,
            Opcode::Iconst => AttrKind::Wide,
            _ if self.takes_float_mode() => AttrKind::Float,
            _ => AttrKind::None,
        }
    }

    /// What can be promised of an operation, as in `iadd nsw`.
    pub const fn promise(self) -> Option<Promise> {
        if matches!(self, Opcode::Iadd | Opcode::Isub | Opcode::Imul) {
            Some(Promise::NoSignedWrap)
        } else if matches!(self, Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem) {
            Some(Promise::NonzeroDivisor)
        } else if matches!(self, Opcode::Fadd | Opcode::Fsub | Opcode::Fmul) {
            Some(Promise::Contract)
        } else {
            None
        }
    }

    /// The operations that `reduce` puts elements together by, and `warp_reduce` the values of lanes.
    pub const REDUCTIONS: [Opcode; 15] = [
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
        Opcode::Fminimum,
        Opcode::Fmaximum,
    ];
}
