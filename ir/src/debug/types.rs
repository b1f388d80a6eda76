//! Types of the source.

use super::Declared;
use crate::entities::DebugTypeId;
use warpsmith_isa::StateSpace;

/// What the bits of a base type mean: `DW_ATE_*` (DWARF 2, 7.8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// An address.
    Address,
    /// 0 for false.
    Boolean,
    /// An IEEE 754 number.
    Float,
    /// An integer in two's complement.
    Signed,
    /// A character whose number has a sign.
    SignedChar,
    /// An integer without a sign.
    Unsigned,
    /// A character whose number has no sign.
    UnsignedChar,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Encoding; 7] = [
        Encoding::Address,
        Encoding::Boolean,
        Encoding::Float,
        Encoding::Signed,
        Encoding::SignedChar,
        Encoding::Unsigned,
        Encoding::UnsignedChar,
    ];

    /// The word of the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Address => "address",
            Encoding::Boolean => "boolean",
            Encoding::Float => "float",
            Encoding::Signed => "signed",
            Encoding::SignedChar => "signed_char",
            Encoding::Unsigned => "unsigned",
            Encoding::UnsignedChar => "unsigned_char",
        }
    }
}

/// What a composite type is called in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Composite {
    /// `struct`
    Struct,
    /// `union`
    Union,
    /// `class`
    Class,
}

impl Composite {
    /// Every kind.
    pub const ALL: [Composite; 3] = [Composite::Struct, Composite::Union, Composite::Class];

    /// The word of the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Composite::Struct => "struct",
            Composite::Union => "union",
            Composite::Class => "class",
        }
    }
}

/// A member of a composite type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: DebugTypeId,
    /// Bytes from the start of the composite.
    pub offset: u64,
    /// The width of a bit field, and its distance from the lowest bit of the storage of its type at `offset`.
    pub bits: Option<(u32, u32)>,
}

/// A named value of an enumeration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enumerator {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// A type of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DebugType {
    /// A number, character or truth value.
    Base {
        /// Its name.
        name: String,
        /// Bytes.
        size: u32,
        /// What its bits mean.
        encoding: Encoding,
    },
    /// An address in a state space.
    Pointer {
        /// What is there; `None` for `void`.
        to: Option<DebugTypeId>,
        /// Where that is.
        space: StateSpace,
    },
    /// A reference: a pointer that is followed wherever it is named.
    Reference {
        /// What is there.
        to: DebugTypeId,
    },
    /// A structure, union or class.
    Composite {
        /// Which of them.
        kind: Composite,
        /// Its name; empty without one.
        name: String,
        /// Bytes.
        size: u64,
        /// Where it is declared.
        declared: Option<Declared>,
        /// What it is made of.
        members: Vec<Member>,
    },
    /// Elements one after the other, the last dimension next to each other.
    Array {
        /// What it is made of.
        element: DebugTypeId,
        /// The lengths; 0 where one is not known.
        dimensions: Vec<u64>,
    },
    /// A vector of the machine.
    Vector {
        /// What it is made of.
        element: DebugTypeId,
        /// How many.
        lanes: u32,
    },
    /// Named values of a base type.
    Enum {
        /// Its name; empty without one.
        name: String,
        /// What holds it.
        base: DebugTypeId,
        /// The names.
        enumerators: Vec<Enumerator>,
    },
    /// Another name.
    Typedef {
        /// The name.
        name: String,
        /// Of what.
        of: DebugTypeId,
    },
    /// What does not change.
    Const(DebugTypeId),
    /// What may change at any time.
    Volatile(DebugTypeId),
    /// A function.
    Function {
        /// What it takes.
        params: Vec<DebugTypeId>,
        /// What it returns; `None` for nothing.
        ret: Option<DebugTypeId>,
    },
}

impl DebugType {
    /// The types that it names, and whether what it names is a part of it: a type must not be a part of itself.
    #[expect(clippy::type_complexity, reason = "four lists that are chained below")]
    pub fn named(&self) -> impl Iterator<Item = (DebugTypeId, bool)> + '_ {
        let (one, members, params, ret): (
            Option<(DebugTypeId, bool)>,
            &[Member],
            &[DebugTypeId],
            Option<DebugTypeId>,
        ) = match self {
            DebugType::Base { .. } => (None, &[], &[], None),
            DebugType::Pointer { to, .. } => (to.map(|to| (to, false)), &[], &[], None),
            DebugType::Reference { to } => (Some((*to, false)), &[], &[], None),
            DebugType::Composite { members, .. } => (None, members, &[], None),
            DebugType::Array { element, .. } | DebugType::Vector { element, .. } => {
                (Some((*element, true)), &[], &[], None)
            }
            DebugType::Enum { base: of, .. }
            | DebugType::Typedef { of, .. }
            | DebugType::Const(of)
            | DebugType::Volatile(of) => (Some((*of, true)), &[], &[], None),
            DebugType::Function { params, ret } => (None, &[], params, *ret),
        };
        let members = members.iter().map(|member| (member.ty, true));
        let signature = params.iter().copied().chain(ret).map(|ty| (ty, false));
        one.into_iter().chain(members).chain(signature)
    }
}
