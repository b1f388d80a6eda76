//! What statements with one mnemonic have been found to take: most instructions of a module are like one before, of the same mnemonic with
//! registers of the same types, and need no second validation.

use smallvec::SmallVec;
use warpsmith_isa::Operand;

/// So many lists of operands are kept for a mnemonic. `setp`, `mov` and `ld` have the most that are common, and so many more with a constant: a
/// few, such as 0, 1 and 4, come again and again.
const MOST: usize = 4;

/// Lists of operands that are legal, and the place of the instruction that each is among those of its mnemonic.
#[derive(Default)]
pub(super) struct Accepted {
    kinds: SmallVec<[(List, u16); 1]>,
    /// Lists with constants, of which the oldest makes room.
    constants: SmallVec<[(List, u16); 1]>,
    oldest: usize,
}

type List = SmallVec<[Operand<'static>; 4]>;

impl Accepted {
    pub(super) fn find(&self, operands: &[Operand<'_>]) -> Option<u16> {
        let known = if operands.iter().any(is_constant) { &self.constants } else { &self.kinds };
        let matches = |known: &[Operand<'_>]| {
            known.len() == operands.len()
                && known.iter().zip(operands).all(|(known, found)| same(known, found))
        };
        known.iter().find(|(known, _)| matches(known)).map(|(_, place)| *place)
    }

    /// Keeps a list, if it is one that is likely to come again.
    pub(super) fn keep(&mut self, operands: &[Operand<'_>], place: u16) {
        let has_constant = operands.iter().any(is_constant);
        if !has_constant && self.kinds.len() == MOST {
            return;
        }
        let Some(list) = operands.iter().map(plain).collect() else { return };
        match has_constant {
            false => self.kinds.push((list, place)),
            true if self.constants.len() < MOST => self.constants.push((list, place)),
            true => {
                self.constants[self.oldest] = (list, place);
                self.oldest = (self.oldest + 1) % MOST;
            }
        }
    }
}

/// Equality, which is found out at once of registers: most operands are.
#[inline]
fn same(a: &Operand<'_>, b: &Operand<'_>) -> bool {
    match (a, b) {
        (Operand::Reg(a), Operand::Reg(b)) => a == b,
        (a, b) => a == b,
    }
}

fn is_constant(operand: &Operand<'_>) -> bool {
    matches!(operand, Operand::Int(_))
}

/// An operand that will do as it is: nothing with parts, and no float, of which there are many.
fn plain(operand: &Operand<'_>) -> Option<Operand<'static>> {
    match *operand {
        Operand::Reg(ty) => Some(Operand::Reg(ty)),
        Operand::VectorReg(ty, lanes) => Some(Operand::VectorReg(ty, lanes)),
        Operand::Special { reg, lanes } => Some(Operand::Special { reg, lanes }),
        Operand::SpecialPlus(reg) => Some(Operand::SpecialPlus(reg)),
        Operand::Var(variable) => Some(Operand::Var(variable)),
        Operand::VarPlus(variable) => Some(Operand::VarPlus(variable)),
        Operand::Element(variable) => Some(Operand::Element(variable)),
        Operand::RegPlus(ty) => Some(Operand::RegPlus(ty)),
        Operand::Func => Some(Operand::Func),
        Operand::FuncPlus => Some(Operand::FuncPlus),
        Operand::Label => Some(Operand::Label),
        Operand::List => Some(Operand::List),
        Operand::Sink => Some(Operand::Sink),
        Operand::Address(base) => Some(Operand::Address(base)),
        Operand::Arguments => Some(Operand::Arguments),
        Operand::Int(bits) => Some(Operand::Int(bits)),
        Operand::Float(..)
        | Operand::Vector(_)
        | Operand::Pair(_)
        | Operand::Not(_)
        | Operand::Neg(_)
        | Operand::Select(..)
        | Operand::Bracket(_)
        | Operand::Unknown => None,
    }
}
