//! Types of the source.

use std::sync::{Arc, OnceLock, Weak};
use warpsmith_isa::StateSpace;

/// A type of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number: bytes, and `DW_ATE_*`.
    Base(Arc<str>, u64, u8),
    /// An address in a space; `None` for `void`, and for a type that is being described.
    Pointer(StateSpace, Option<Box<Type>>),
    /// The address of a value that denotes the value.
    Reference(Binds, StateSpace, Box<Type>),
    /// A structure or union.
    Composite(Arc<Composite>),
    /// The structure or union that this is a part of, behind a pointer: a list's next element.
    Around(Around),
    /// Elements one after the other.
    Array(Box<Type>, u64),
    /// Names for numbers of so many bytes.
    Enum(Arc<str>, u64, Arc<[(String, i64)]>),
    /// A function.
    Function(Arc<Signature>),
    /// Another name of a type.
    Typedef(Arc<str>, Box<Type>),
    /// A type whose values do not change, or change by themselves.
    Qualified(Qualifier, Box<Type>),
    /// Nothing is known of it.
    Unknown,
}

/// What a reference of C++ is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binds {
    /// `&`: for what has a place.
    Lvalue,
    /// `&&`: for what is moved.
    Rvalue,
}

impl Binds {
    /// As declarations write it.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Binds::Lvalue => "&",
            Binds::Rvalue => "&&",
        }
    }
}

/// What a type can be besides itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Qualifier {
    /// Its values do not change.
    Const,
    /// Its values change by themselves.
    Volatile,
}

impl Qualifier {
    /// As C writes it.
    pub fn name(self) -> &'static str {
        match self {
            Qualifier::Const => "const",
            Qualifier::Volatile => "volatile",
        }
    }
}

/// What a function takes and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// `None` for `void`.
    pub result: Option<Type>,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
}

/// The lowest bit of a bit field and its width.
pub type Bits = (u32, u32);

/// A structure or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composite {
    /// Its name, with `struct` or `union`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// They are known when all are read, and their types may be made of this one.
    pub(super) contents: OnceLock<Contents>,
}

/// What a structure or union is made of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Contents {
    pub(super) members: Vec<Member>,
    pub(super) variants: Option<Variants>,
}

/// A part of a structure or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name; empty for a structure or union whose members are named as if they were this one's, and for a base class.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Bytes from the start.
    pub offset: u64,
    /// The bits of a bit field.
    pub bits: Option<Bits>,
    /// Whether it is a class that this one is derived from.
    pub part: Part,
}

/// What a member is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A member that the source names, or one without a name.
    Field,
    /// The class that this one is derived from.
    BaseClass,
}

/// What an enumeration with data, as Rust has them, may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variants {
    /// The number that decides; `None` where there is one case only.
    pub discriminant: Option<Member>,
    /// What it may hold.
    pub cases: Vec<Case>,
}

/// One of the things that an enumeration may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The number that says so; `None`: any that no other case has.
    pub value: Option<i64>,
    /// What it is called, and its data.
    pub member: Member,
}

impl Composite {
    /// Its members, in their order; base classes first.
    pub fn members(&self) -> &[Member] {
        self.contents.get().map_or(&[], |contents| contents.members.as_slice())
    }

    /// What else it may hold.
    pub fn variants(&self) -> Option<&Variants> {
        self.contents.get().and_then(|contents| contents.variants.as_ref())
    }

    /// A member by its name, also one of a base class or of a member without a name, with its offset from the start of this.
    pub fn find(&self, name: &str) -> Option<Member> {
        self.find_within(name, 0)
    }

    fn find_within(&self, name: &str, depth: u32) -> Option<Member> {
        /// So many are one in another, in right DWARF.
        const MOST_DEPTH: u32 = 16;
        if let Some(own) = self.members().iter().find(|member| member.name == name && !name.is_empty()) {
            return Some(own.clone());
        }
        let within = self.members().iter().filter(|member| member.name.is_empty() && depth < MOST_DEPTH);
        within.into_iter().find_map(|around| {
            let Type::Composite(of) = around.ty.plain() else { return None };
            let found = of.find_within(name, depth + 1)?;
            Some(Member { offset: found.offset.checked_add(around.offset)?, ..found })
        })
    }
}

impl Member {
    /// What it is called where all members are shown: a base class has the name of its type.
    pub fn shown(&self) -> String {
        match (self.part, self.ty.plain()) {
            (Part::BaseClass, Type::Composite(of)) => format!("<{}>", of.tag()),
            (Part::BaseClass | Part::Field, _) => self.name.clone(),
        }
    }
}

impl Composite {
    /// Its name without `struct` or `union`.
    pub fn tag(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(_, tag)| tag)
    }
}

/// A structure or union that contains the pointer to it. The [`Dwarf`](super::Dwarf) keeps it.
#[derive(Clone, Debug)]
pub struct Around(pub(super) Weak<Composite>);

impl Around {
    /// The structure or union, while its [`Dwarf`](super::Dwarf) is there.
    pub fn composite(&self) -> Option<Arc<Composite>> {
        self.0.upgrade()
    }
}

impl PartialEq for Around {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for Around {}

impl Type {
    /// The type, if anything is known of it.
    pub fn known(self) -> Option<Type> {
        if matches!(self, Type::Unknown) { None } else { Some(self) }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        match self {
            Type::Base(_, size, _) | Type::Enum(_, size, _) => *size,
            Type::Pointer(..) | Type::Reference(..) => 8,
            Type::Composite(of) => of.size,
            Type::Around(of) => of.composite().map_or(0, |of| of.size),
            Type::Array(of, count) => of.bytes().saturating_mul(*count),
            Type::Typedef(_, of) | Type::Qualified(_, of) => of.bytes(),
            Type::Function(_) | Type::Unknown => 0,
        }
    }

    /// The type itself, without other names and qualifiers.
    pub fn plain(&self) -> &Type {
        let mut ty = self;
        while let Type::Typedef(_, of) | Type::Qualified(_, of) = ty {
            ty = of;
        }
        ty
    }

    pub(super) fn is_enum(&self) -> bool {
        matches!(self, Type::Enum(..))
    }

    /// Nothing is a part of itself, except in wrong DWARF.
    pub(super) fn by_value(self) -> Type {
        match self.plain() {
            Type::Around(_) => Type::Unknown,
            Type::Base(..)
            | Type::Pointer(..)
            | Type::Reference(..)
            | Type::Composite(_)
            | Type::Array(..)
            | Type::Enum(..)
            | Type::Function(_)
            | Type::Typedef(..)
            | Type::Qualified(..)
            | Type::Unknown => self,
        }
    }
}
