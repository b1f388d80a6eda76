//! The types of values: those of PTX, and those of the source.

use crate::dwarf::declare::{Declared, Layer, declaration};
use crate::dwarf::{self, Binds, Composite, Member, Part, Qualifier, Signature};
use std::borrow::Cow;
use std::sync::Arc;
use warpsmith_isa::{ScalarType, StateSpace, TypeClass};

/// So many members, names and elements are shown.
pub(super) const SHOWN: usize = 200;

/// What the bits of a value mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number, or a predicate.
    Scalar(ScalarType),
    /// A number as the source calls it.
    Base(Arc<str>, ScalarType, Kind),
    /// The address of a value that denotes the value.
    Reference(Binds, StateSpace, Box<Type>),
    /// What is behind a pointer that does not say what it points to.
    Void,
    /// Elements one after the other in memory.
    Array(Box<Type>, u64),
    /// An address in a space, and what is there.
    Pointer(StateSpace, Box<Type>),
    /// Three numbers: `threadIdx` and the like.
    Dim3,
    /// A structure or union of the source.
    Struct(Arc<Composite>),
    /// Names for numbers of so many bytes.
    Enum(Arc<str>, u64, Arc<[(String, i64)]>),
    /// A function, and its name where it is one of the module's.
    Function(Arc<Signature>, Option<Arc<str>>),
    /// Another name of a type.
    Typedef(Arc<str>, Box<Type>),
    /// A type whose values do not change, or change by themselves.
    Qualified(Qualifier, Box<Type>),
}

/// How the numbers of a type of the source are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Number,
    Boolean,
    Character,
}

impl Type {
    /// The number that a value of the type is.
    pub fn scalar(&self) -> Option<ScalarType> {
        match self.plain() {
            Type::Scalar(ty) | Type::Base(_, ty, _) => Some(*ty),
            Type::Array(..)
            | Type::Pointer(..)
            | Type::Reference(..)
            | Type::Void
            | Type::Dim3
            | Type::Struct(_)
            | Type::Enum(..)
            | Type::Function(..)
            | Type::Typedef(..)
            | Type::Qualified(..) => None,
        }
    }

    /// True of the bytes that texts are made of.
    pub fn is_character(&self) -> bool {
        matches!(self.plain(), Type::Base(_, ty, Kind::Character) if ty.bits() == 8)
    }

    /// The type itself, without other names and qualifiers.
    pub fn plain(&self) -> &Type {
        let mut ty = self;
        while let Type::Typedef(_, of) | Type::Qualified(_, of) = ty {
            ty = of;
        }
        ty
    }

    /// An integer literal.
    pub const INT: Type = Type::Scalar(ScalarType::S32);

    /// A type of the source, as DWARF describes it.
    pub fn of_source(ty: &dwarf::Type) -> Type {
        let bytes = |size: u64| Type::Array(Box::new(Type::Scalar(ScalarType::U8)), size);
        match ty {
            dwarf::Type::Base(name, size, encoding) => {
                const BOOLEAN: u8 = 2;
                const FLOAT: u8 = 4;
                /// A code point of Unicode, as Rust's `char`.
                const UTF: u8 = 0x10;
                let signed = matches!(encoding, 5 | 6);
                let kind = match *encoding {
                    BOOLEAN => Kind::Boolean,
                    6 | 8 | UTF => Kind::Character,
                    _ => Kind::Number,
                };
                let scalar = match (*encoding, *size) {
                    (BOOLEAN, 1) => ScalarType::U8,
                    (FLOAT, 2) => ScalarType::F16,
                    (FLOAT, 4) => ScalarType::F32,
                    (FLOAT, 8) => ScalarType::F64,
                    (_, 1) if signed => ScalarType::S8,
                    (_, 2) if signed => ScalarType::S16,
                    (_, 4) if signed => ScalarType::S32,
                    (_, 8) if signed => ScalarType::S64,
                    (_, 1) => ScalarType::U8,
                    (_, 2) => ScalarType::U16,
                    (_, 4) => ScalarType::U32,
                    (_, 8) => ScalarType::U64,
                    (_, size) => return bytes(size),
                };
                Type::Base(name.clone(), scalar, kind)
            }
            dwarf::Type::Pointer(space, to) => {
                let to = to.as_ref().map_or(Type::Void, |to| Type::of_source(to));
                Type::Pointer(*space, Box::new(to))
            }
            dwarf::Type::Reference(binds, space, to) => {
                Type::Reference(*binds, *space, Box::new(Type::of_source(to)))
            }
            dwarf::Type::Composite(of) => Type::Struct(of.clone()),
            dwarf::Type::Around(of) => of.composite().map_or_else(|| bytes(0), Type::Struct),
            dwarf::Type::Array(of, count) => Type::Array(Box::new(Type::of_source(of)), *count),
            dwarf::Type::Enum(name, size, names) => Type::Enum(name.clone(), *size, names.clone()),
            dwarf::Type::Function(signature) => Type::Function(signature.clone(), None),
            dwarf::Type::Typedef(name, of) => Type::Typedef(name.clone(), Box::new(Type::of_source(of))),
            dwarf::Type::Qualified(qualifier, of) => {
                Type::Qualified(*qualifier, Box::new(Type::of_source(of)))
            }
            dwarf::Type::Unknown => bytes(0),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        match self {
            Type::Struct(of) => of.size,
            Type::Enum(_, size, _) => *size,
            Type::Scalar(ty) | Type::Base(_, ty, _) => u64::from(ty.bits().div_ceil(8)),
            Type::Array(of, count) => of.bytes().saturating_mul(*count),
            Type::Pointer(..) | Type::Reference(..) => 8,
            Type::Dim3 => 12,
            // As gdb has it: of the first instruction, and a step of such a pointer.
            Type::Function(..) | Type::Void => 1,
            Type::Typedef(_, of) | Type::Qualified(_, of) => of.bytes(),
        }
    }

    /// As `whatis` and casts write it.
    pub fn name(&self) -> String {
        declaration(self, "")
    }

    /// As `ptype` describes it: structures with their members, enumerations with their names, and what other names denote.
    pub fn description(&self) -> String {
        let name = match self.innermost() {
            Type::Struct(of) => Some((of.name.clone(), composite(of))),
            Type::Enum(name, _, names) => Some((format!("enum {name}"), enumeration(name, names))),
            Type::Scalar(_)
            | Type::Base(..)
            | Type::Reference(..)
            | Type::Void
            | Type::Array(..)
            | Type::Pointer(..)
            | Type::Dim3
            | Type::Function(..)
            | Type::Typedef(..)
            | Type::Qualified(..) => None,
        };
        let whole = self.unfolded().name();
        match name {
            // Qualifiers and spaces stand in front of the name, and marks behind it.
            Some((name, described)) => whole.replacen(&name, &described, 1),
            None => whole,
        }
    }

    /// What it points to or is made of in the end.
    fn innermost(&self) -> &Type {
        let mut ty = self;
        while let Type::Typedef(_, of)
        | Type::Qualified(_, of)
        | Type::Pointer(_, of)
        | Type::Reference(_, _, of)
        | Type::Array(of, _) = ty
        {
            ty = of;
        }
        ty
    }

    /// The type with what another name of it, or of what it points to or is made of, denotes.
    fn unfolded(&self) -> Type {
        let inner = |of: &Type| Box::new(of.unfolded());
        match self {
            Type::Typedef(_, of) => of.unfolded(),
            Type::Qualified(qualifier, of) => Type::Qualified(*qualifier, inner(of)),
            Type::Pointer(space, to) => Type::Pointer(*space, inner(to)),
            Type::Reference(binds, space, to) => Type::Reference(*binds, *space, inner(to)),
            Type::Array(of, count) => Type::Array(inner(of), *count),
            Type::Scalar(_)
            | Type::Base(..)
            | Type::Void
            | Type::Dim3
            | Type::Struct(_)
            | Type::Enum(..)
            | Type::Function(..) => self.clone(),
        }
    }

    /// The types of C that are not numbers of PTX.
    pub fn of_c(name: &str) -> Option<Type> {
        Some(match name {
            "void" => Type::Void,
            "char" => Type::Base("char".into(), ScalarType::S8, Kind::Character),
            "uchar" => Type::Base("unsigned char".into(), ScalarType::U8, Kind::Character),
            _ => return None,
        })
    }

    /// The type of a number, by its name in C or PTX.
    pub fn named(name: &str) -> Option<ScalarType> {
        use ScalarType::*;
        Some(match name.trim_start_matches('.') {
            "char" | "int8_t" => S8,
            "uchar" | "uint8_t" => U8,
            "short" | "int16_t" => S16,
            "ushort" | "uint16_t" => U16,
            "int" | "int32_t" => S32,
            "uint" | "unsigned" | "uint32_t" => U32,
            "long" | "int64_t" => S64,
            "ulong" | "uint64_t" | "size_t" => U64,
            "half" | "__half" => F16,
            "float" => F32,
            "double" => F64,
            "bool" => Pred,
            name => ScalarType::from_name(name).filter(|ty| ty.class() != TypeClass::Opaque)?,
        })
    }
}

impl Declared for Type {
    fn layer(&self) -> Layer<'_, Type> {
        match self {
            Type::Scalar(ty) => Layer::Name(Cow::Borrowed(ty.name())),
            Type::Base(name, ..) | Type::Typedef(name, _) => Layer::Name(Cow::Borrowed(name)),
            Type::Reference(binds, space, to) => Layer::Pointer(binds.mark(), *space, Some(to)),
            Type::Pointer(space, to) if **to == Type::Void => Layer::Pointer("*", *space, None),
            Type::Pointer(space, to) => Layer::Pointer("*", *space, Some(to)),
            Type::Void => Layer::Name(Cow::Borrowed("void")),
            Type::Array(of, count) => Layer::Array(of, *count),
            Type::Qualified(qualifier, of) => Layer::Qualified(*qualifier, of),
            Type::Function(signature, _) => Layer::Function(signature),
            Type::Dim3 => Layer::Name(Cow::Borrowed("uint3")),
            Type::Struct(of) => Layer::Name(Cow::Borrowed(&of.name)),
            Type::Enum(name, ..) => Layer::Name(Cow::Owned(format!("enum {name}"))),
        }
    }
}

/// A class that another one is derived from.
#[expect(clippy::wildcard_enum_match_arm, reason = "only composites have tags")]
fn base_class(member: &Member) -> String {
    match member.ty.plain() {
        dwarf::Type::Composite(of) => of.tag().to_owned(),
        ty => ty.to_string(),
    }
}

/// A structure as `ptype` describes it.
fn composite(of: &Composite) -> String {
    let members = of.members();
    let bases: Vec<String> = members.iter().filter(|m| m.part == Part::BaseClass).map(base_class).collect();
    let bases = match bases.as_slice() {
        [] => String::new(),
        bases => format!(" : {}", bases.join(", ")),
    };
    let mut text = format!("{}{bases} {{\n", of.name);
    for member in members.iter().filter(|m| m.part == Part::Field).take(SHOWN) {
        let bits = member.bits.map_or_else(String::new, |(_, width)| format!(" : {width}"));
        putln!(text, "    {}{bits};", declaration(&member.ty, &member.name));
    }
    if let Some(variants) = of.variants() {
        for case in variants.cases.iter().take(SHOWN) {
            putln!(text, "    {};", declaration(&case.member.ty, &case.member.name));
        }
    }
    if members.len() > SHOWN {
        putln!(text, "    ... {} more", members.len() - SHOWN);
    }
    text + "}"
}

fn enumeration(name: &str, names: &[(String, i64)]) -> String {
    let mut next = 0;
    let shown = names.iter().take(SHOWN).map(|(name, value)| {
        let plain = *value == next;
        next = value.wrapping_add(1);
        if plain { name.clone() } else { format!("{name} = {value}") }
    });
    let shown: Vec<String> = shown.collect();
    let more = if names.len() > SHOWN { ", ..." } else { "" };
    format!("enum {name} {{{}{more}}}", shown.join(", "))
}
