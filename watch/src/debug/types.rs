//! The types of values: those of PTX, and those of the source.

use crate::dwarf::{self, Composite};
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
    /// The address of a value that stands for the value.
    Reference(StateSpace, Box<Type>),
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
        match self {
            Type::Scalar(ty) | Type::Base(_, ty, _) => Some(*ty),
            Type::Array(..)
            | Type::Pointer(..)
            | Type::Reference(..)
            | Type::Dim3
            | Type::Struct(_)
            | Type::Enum(..) => None,
        }
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
                let signed = matches!(encoding, 5 | 6);
                let kind = match *encoding {
                    BOOLEAN => Kind::Boolean,
                    6 | 8 => Kind::Character,
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
                let to = to.as_ref().map_or(Type::Scalar(ScalarType::B8), |to| Type::of_source(to));
                Type::Pointer(*space, Box::new(to))
            }
            dwarf::Type::Reference(space, to) => Type::Reference(*space, Box::new(Type::of_source(to))),
            dwarf::Type::Composite(of) => Type::Struct(of.clone()),
            dwarf::Type::Around(of) => of.composite().map_or_else(|| bytes(0), Type::Struct),
            dwarf::Type::Array(of, count) => Type::Array(Box::new(Type::of_source(of)), *count),
            dwarf::Type::Enum(name, size, names) => Type::Enum(name.clone(), *size, names.clone()),
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
        }
    }

    /// As `ptype` and casts write it.
    pub fn name(&self) -> String {
        match self {
            Type::Scalar(ty) => ty.name().to_owned(),
            Type::Base(name, ..) => name.to_string(),
            Type::Reference(StateSpace::Generic, to) => format!("{} &", to.name()),
            Type::Reference(space, to) => format!("@{} {} &", space.name(), to.name()),
            Type::Array(of, count) => {
                // Dimensions are written from the outermost in.
                let (mut inner, mut dims) = (of, format!("[{count}]"));
                while let Type::Array(of, count) = &**inner {
                    put!(dims, "[{count}]");
                    inner = of;
                }
                format!("{} {dims}", inner.name())
            }
            Type::Pointer(StateSpace::Generic, to) => format!("{} *", to.name()),
            Type::Pointer(space, to) => format!("@{} {} *", space.name(), to.name()),
            Type::Dim3 => "uint3".into(),
            Type::Struct(of) => of.name.clone(),
            Type::Enum(name, ..) => format!("enum {name}"),
        }
    }

    /// As `ptype` describes it: structures with their members, enumerations with their names.
    pub fn description(&self) -> String {
        match self {
            Type::Struct(of) => {
                let mut text = format!("{} {{\n", of.name);
                let members = of.members();
                for (name, ty, _, bits) in members.iter().take(SHOWN) {
                    let bits = bits.map_or_else(String::new, |(_, width)| format!(" : {width}"));
                    putln!(text, "    {}{bits};", declared(ty, name));
                }
                if members.len() > SHOWN {
                    putln!(text, "    ... {} more", members.len() - SHOWN);
                }
                text + "}"
            }
            Type::Enum(name, _, names) => {
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
            Type::Pointer(StateSpace::Generic, to) => format!("{} *", to.description()),
            Type::Pointer(space, to) => format!("@{} {} *", space.name(), to.description()),
            Type::Array(of, count) => {
                let (mut inner, mut dims) = (of, format!("[{count}]"));
                while let Type::Array(of, count) = &**inner {
                    put!(dims, "[{count}]");
                    inner = of;
                }
                format!("{} {dims}", inner.description())
            }
            Type::Reference(StateSpace::Generic, to) => format!("{} &", to.description()),
            Type::Reference(space, to) => format!("@{} {} &", space.name(), to.description()),
            Type::Scalar(_) | Type::Base(..) | Type::Dim3 => self.name(),
        }
    }

    /// The type of a name in C or PTX.
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

/// A member as C declares it.
fn declared(ty: &dwarf::Type, name: &str) -> String {
    let (mut inner, mut dims) = (ty, String::new());
    while let dwarf::Type::Array(of, count) = inner {
        put!(dims, "[{count}]");
        inner = of;
    }
    let text = inner.to_string();
    let blank = if text.ends_with('*') { "" } else { " " };
    format!("{text}{blank}{name}{dims}")
}
