//! Special registers and directives, as far as they are tabulated.

use crate::form::Rows;
use crate::gate::{Clause, Gate};
use crate::tables::*;
use crate::{ScalarType, SpecialReg, TypeSet};
use std::fmt;

/// What the tables say of a special register.
pub(crate) struct SregInfo {
    pub lanes: u8,
    pub ty: ScalarType,
    pub types: TypeSet,
    pub section: &'static str,
    pub gates: Rows<Clause>,
}

impl SpecialReg {
    /// The name with its percent sign: `%tid`.
    pub fn name(self) -> &'static str {
        SPECIALREG_TEXT[self as usize]
    }

    /// The inverse of [`SpecialReg::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        crate::mnemonic::find(name, &SPECIALREG_HASH, &SPECIALREG_TEXT, &SPECIALREG_ALL)
    }

    /// Every special register.
    pub fn all() -> impl ExactSizeIterator<Item = SpecialReg> + Clone {
        SPECIALREG_ALL.iter().copied()
    }

    /// The type of the register, or of one component.
    pub fn ty(self) -> ScalarType {
        SREG_INFO[self as usize].ty
    }

    /// The types in which it can be read: its own and those it had in older versions.
    pub fn types(self) -> TypeSet {
        SREG_INFO[self as usize].types
    }

    /// 4 for a vector such as `%tid`, else 1.
    pub fn lanes(self) -> u8 {
        SREG_INFO[self as usize].lanes
    }

    /// The manual's section.
    pub fn section(self) -> &'static str {
        SREG_INFO[self as usize].section
    }

    /// What it needs.
    pub fn gate(self) -> Gate {
        Gate { clauses: SREG_INFO[self as usize].gates.to_vec() }
    }

    /// What it needs, without allocating.
    pub fn clauses(self) -> &'static [Clause] {
        SREG_INFO[self as usize].gates.all()
    }
}

impl fmt::Display for SpecialReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for SpecialReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A directive (manual chapter 11).
#[derive(Debug)]
pub struct Directive {
    /// The name with its dot: `.maxntid`.
    pub name: &'static str,
    /// The manual's section.
    pub section: &'static str,
    /// What it needs.
    pub gates: Rows<Clause>,
}

impl Directive {
    /// The row of a directive.
    pub fn from_name(name: &str) -> Option<&'static Directive> {
        DIRECTIVES.iter().find(|row| row.name == name)
    }
}
