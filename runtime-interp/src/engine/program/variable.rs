//! Variables, their initial values, and the addresses that wait for a device.

use crate::engine::op::{FuncId, SymbolId};
use crate::texture::{Initial, ReferenceKind};
use warpsmith_isa::{ScalarType, StateSpace};

/// What an address in an initialiser or constant refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PatchTarget {
    /// A variable.
    Variable(SymbolId),
    /// A function.
    Function(FuncId),
}

/// An address inside the initialiser of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Where in the variable.
    pub offset: u64,
    /// How many bytes of the address are stored, from the low end of `address >> shift`.
    pub bytes: u8,
    /// How far the address is shifted first (the `mask()` operator takes single bytes).
    pub shift: u8,
    /// Of what.
    pub target: PatchTarget,
    /// What is added.
    pub addend: i64,
    /// As a generic address rather than one in the target's space.
    pub generic: bool,
}

/// A module variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// `Global`, `Const` or `Shared`.
    pub space: StateSpace,
    /// Its size; what the initialiser leaves is zero.
    pub bytes: u64,
    /// Its alignment, a power of two.
    pub align: u64,
    /// Its first bytes.
    pub init: Vec<u8>,
    /// Addresses among them.
    pub relocations: Vec<Relocation>,
    /// True for `.extern .shared name[]`: the memory past all others whose size the launch gives.
    pub dynamic: bool,
    /// Where its declaration starts in the source, in bytes: which of several of its name it is.
    pub declared: Option<u32>,
    /// Of an opaque variable, what it refers to.
    pub reference: Option<Reference>,
}

/// What an opaque variable refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The kind of object.
    pub kind: ReferenceKind,
    /// What its initial value says of reading.
    pub initial: Initial,
}

impl Reference {
    /// What a variable of a type refers to, if it is opaque.
    pub fn of_type(ty: ScalarType) -> Option<Reference> {
        Some(Reference { kind: ReferenceKind::of_type(ty)?, initial: Initial::default() })
    }
}

impl Variable {
    /// A zeroed variable.
    pub fn zeroed(name: &str, space: StateSpace, bytes: u64, align: u64) -> Self {
        let (name, init, relocations) = (name.into(), Vec::new(), Vec::new());
        let (dynamic, declared, reference) = (false, None, None);
        Variable { name, space, bytes, align, init, relocations, dynamic, declared, reference }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub variable: Variable,
    /// Offset in the memory of its space; for global variables, in the program's own allocation. Shared variables have one in
    /// each kernel's [`SharedLayout`].
    pub offset: u64,
}

#[derive(Clone, Debug)]
pub(in crate::engine) struct Patch {
    pub row: u32,
    pub target: PatchTarget,
    pub addend: i64,
    pub generic: bool,
}
