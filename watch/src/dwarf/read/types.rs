//! The entries of types.

use super::{Entry, Reader};
use crate::dwarf::place;
use crate::dwarf::types::Contents;
use crate::dwarf::{
    Around, Binds, Case, Composite, MOST_DEPTH, Member, Part, Qualifier, Signature, Type, Variants,
};
use gimli::{Abbreviations, AttributeValue, UnitOffset};
use std::sync::{Arc, OnceLock};
use warpsmith_isa::StateSpace;

impl<'a> Reader<'a, '_> {
    /// The type that an entry names.
    pub(super) fn type_of(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Type {
        self.named_type(entry, abbreviations, depth).unwrap_or(Type::Unknown)
    }

    /// The type that an entry names, if it names one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a type is a reference")]
    fn named_type(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Option<Type> {
        let offset = match entry.attr_value(gimli::DW_AT_type)? {
            AttributeValue::UnitRef(offset) => offset,
            AttributeValue::DebugInfoRef(offset) => offset.to_unit_offset(&self.header)?,
            _ => return Some(Type::Unknown),
        };
        Some(self.type_at(offset, abbreviations, depth))
    }

    /// The type of what a function gives; `None` for `void`.
    pub(super) fn result(&mut self, function: &Entry<'a>, abbreviations: &Abbreviations) -> Option<Type> {
        self.named_type(function, abbreviations, 0)
    }

    fn type_at(&mut self, offset: UnitOffset, abbreviations: &Abbreviations, depth: u32) -> Type {
        if let Some(known) = self.types.get(&offset) {
            return known.clone();
        }
        if depth > MOST_DEPTH {
            return Type::Unknown;
        }
        // A structure notes that it is being described; circles without one end at the depth.
        let header = self.header;
        let made = match header.entry(abbreviations, offset) {
            Ok(entry) => self.described(&entry, abbreviations, depth + 1),
            Err(error) => {
                let at = offset.to_debug_info_offset(&header).map_or(offset.0, |at| at.0);
                self.dwarf.warnings.push(format!("the type at .debug_info+{at:#x}: {error}"));
                Type::Unknown
            }
        };
        self.types.insert(offset, made.clone());
        made
    }

    fn described(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Type {
        let name = self.string(entry, gimli::DW_AT_name);
        let qualified = |name: Option<String>| match name {
            Some(name) => self.qualified(entry, &name),
            None => "{...}".into(),
        };
        let size = Self::number(entry, gimli::DW_AT_byte_size)
            .and_then(|size| u64::try_from(size).ok())
            .unwrap_or(0);
        match entry.tag() {
            gimli::DW_TAG_base_type => {
                let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(encoding)) => encoding.0,
                    other => other.and_then(|value| value.udata_value()).unwrap_or(0) as u8,
                };
                let name = name.unwrap_or_default();
                let made = Type::Base(name.as_str().into(), size, encoding);
                self.dwarf.named.insert(name, made.clone());
                made
            }
            gimli::DW_TAG_pointer_type => {
                let space = Self::class(entry).and_then(space).unwrap_or(StateSpace::Generic);
                Type::Pointer(space, self.type_of(entry, abbreviations, depth).known().map(Box::new))
            }
            tag @ (gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type) => {
                let binds = if tag == gimli::DW_TAG_reference_type { Binds::Lvalue } else { Binds::Rvalue };
                let space = Self::class(entry).and_then(space).unwrap_or(StateSpace::Generic);
                match self.type_of(entry, abbreviations, depth).known() {
                    Some(to) => Type::Reference(binds, space, Box::new(to)),
                    None => Type::Pointer(space, None),
                }
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let word = if entry.tag() == gimli::DW_TAG_union_type { "union" } else { "struct" };
                let name = format!("{word} {}", qualified(name));
                let made = Arc::new(Composite { name, size, contents: OnceLock::new() });
                self.types.insert(entry.offset(), Type::Around(Around(Arc::downgrade(&made))));
                self.dwarf.composites.push(made.clone());
                let contents = self.contents(entry, abbreviations, depth);
                made.contents.get_or_init(|| contents);
                Type::Composite(made)
            }
            gimli::DW_TAG_array_type => {
                let mut ty = self.type_of(entry, abbreviations, depth).by_value();
                let children = self.children(entry, abbreviations);
                for child in children.iter().rev().filter(|child| child.tag() == gimli::DW_TAG_subrange_type)
                {
                    let last = Self::number(child, gimli::DW_AT_upper_bound);
                    let count = Self::number(child, gimli::DW_AT_count);
                    let length = count.or(last.and_then(|last| last.checked_add(1))).unwrap_or(0);
                    ty = Type::Array(Box::new(ty), u64::try_from(length).unwrap_or(0));
                }
                ty
            }
            gimli::DW_TAG_enumeration_type => {
                let name = qualified(name);
                let children = self.children(entry, abbreviations);
                let scoped =
                    matches!(entry.attr_value(gimli::DW_AT_enum_class), Some(AttributeValue::Flag(true)));
                let names = children.iter().filter_map(|child| {
                    // nvcc gives those of a class of C++ by their linkage names.
                    let known = self.string(child, gimli::DW_AT_name)?;
                    let known = crate::names::demangled(&known).into_owned();
                    let known = if scoped { format!("{name}::{known}") } else { known };
                    Some((known, Self::number(child, gimli::DW_AT_const_value)?))
                });
                let made = Type::Enum(name.as_str().into(), size.max(1), names.collect());
                self.dwarf.named.insert(name, made.clone());
                made
            }
            gimli::DW_TAG_typedef => {
                let name = name.map(|name| self.qualified(entry, &name));
                match (self.type_of(entry, abbreviations, depth), name) {
                    (Type::Unknown, _) => Type::Unknown,
                    (of, None) => of,
                    (of, Some(name)) => {
                        let made = Type::Typedef(name.as_str().into(), Box::new(of));
                        self.dwarf.named.insert(name, made.clone());
                        made
                    }
                }
            }
            gimli::DW_TAG_const_type => self.with(Qualifier::Const, entry, abbreviations, depth),
            gimli::DW_TAG_volatile_type => self.with(Qualifier::Volatile, entry, abbreviations, depth),
            gimli::DW_TAG_restrict_type | gimli::DW_TAG_atomic_type => {
                self.type_of(entry, abbreviations, depth)
            }
            gimli::DW_TAG_subroutine_type => {
                Type::Function(Arc::new(self.signature(entry, abbreviations, depth)))
            }
            gimli::DW_TAG_ptr_to_member_type => self.member_pointer(entry, abbreviations, depth),
            _ => Type::Unknown,
        }
    }

    fn with(
        &mut self,
        qualifier: Qualifier,
        entry: &Entry<'a>,
        abbreviations: &Abbreviations,
        depth: u32,
    ) -> Type {
        match self.type_of(entry, abbreviations, depth).known() {
            Some(of) => Type::Qualified(qualifier, Box::new(of)),
            None => Type::Unknown,
        }
    }

    /// What functions of a type take and give.
    fn signature(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Signature {
        let result = self.named_type(entry, abbreviations, depth);
        let children = self.children(entry, abbreviations);
        let parameters = children.iter().filter(|child| child.tag() == gimli::DW_TAG_formal_parameter);
        let parameters = parameters.map(|child| self.type_of(child, abbreviations, depth));
        Signature { parameters: parameters.collect(), result }
    }

    /// A pointer to a member of any object of a class is the number of bytes from its start (Itanium C++ ABI, 2.3); one to a function has two
    /// words, and is left as bytes.
    fn member_pointer(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Type {
        const SIGNED: u8 = 5;
        let class = match entry.attr_value(gimli::DW_AT_containing_type) {
            Some(AttributeValue::UnitRef(offset)) => match self.type_at(offset, abbreviations, depth) {
                Type::Composite(of) => of.tag().to_owned(),
                Type::Around(of) => of.composite().map_or_else(String::new, |of| of.tag().to_owned()),
                Type::Base(..)
                | Type::Pointer(..)
                | Type::Reference(..)
                | Type::Array(..)
                | Type::Enum(..)
                | Type::Function(_)
                | Type::Typedef(..)
                | Type::Qualified(..)
                | Type::Unknown => String::new(),
            },
            _ => String::new(),
        };
        match self.type_of(entry, abbreviations, depth).known() {
            Some(Type::Function(_)) | None => Type::Unknown,
            Some(to) => Type::Base(format!("{to} {class}::*").into(), 8, SIGNED),
        }
    }

    fn contents(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Contents {
        let mut contents = Contents::default();
        for child in self.children(entry, abbreviations) {
            match child.tag() {
                // A member of the class alone is a variable of its own. Where the object of a virtual base is, the object says when it is there.
                gimli::DW_TAG_member if !is_set(&child, gimli::DW_AT_external) => {
                    contents.members.push(self.member(&child, abbreviations, depth, Part::Field));
                }
                gimli::DW_TAG_inheritance
                    if Self::number(&child, gimli::DW_AT_virtuality).unwrap_or(0) == 0 =>
                {
                    contents.members.push(self.member(&child, abbreviations, depth, Part::BaseClass));
                }
                gimli::DW_TAG_variant_part => contents.variants = self.variants(&child, abbreviations, depth),
                _ => {}
            }
        }
        contents
    }

    fn member(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32, part: Part) -> Member {
        let ty = self.type_of(entry, abbreviations, depth).by_value();
        let name = self.string(entry, gimli::DW_AT_name).unwrap_or_default();
        let number = |name| Self::number(entry, name).and_then(|number| u64::try_from(number).ok());
        let storage = ty.bytes();
        let (mut offset, mut bits) = (member_offset(entry), None);
        if let Some(width) = number(gimli::DW_AT_bit_size) {
            // DWARF 2 counts from the highest bit of the storage down, DWARF 4 from the first bit of the structure up.
            let lowest =
                match (number(gimli::DW_AT_data_bit_offset), Self::number(entry, gimli::DW_AT_bit_offset)) {
                    (Some(first), _) => {
                        offset = (first / 8).checked_div(storage).unwrap_or(0).saturating_mul(storage);
                        first.checked_sub(offset.saturating_mul(8))
                    }
                    (None, Some(above)) => i64::try_from(storage)
                        .ok()
                        .and_then(|storage| {
                            storage.checked_mul(8)?.checked_sub(above)?.checked_sub_unsigned(width)
                        })
                        .and_then(|lowest| u64::try_from(lowest).ok()),
                    (None, None) => None,
                };
            bits = lowest.and_then(|lowest| Some((u32::try_from(lowest).ok()?, u32::try_from(width).ok()?)));
        }
        Member { name, ty, offset, bits, part }
    }

    /// The cases of an enumeration with data.
    fn variants(&mut self, entry: &Entry<'a>, abbreviations: &Abbreviations, depth: u32) -> Option<Variants> {
        let header = self.header;
        let discriminant = match entry.attr_value(gimli::DW_AT_discr) {
            Some(AttributeValue::UnitRef(offset)) => {
                let entry = header.entry(abbreviations, offset).ok()?;
                Some(self.member(&entry, abbreviations, depth, Part::Field))
            }
            _ => None,
        };
        let mut cases = Vec::new();
        for case in self.children(entry, abbreviations) {
            if case.tag() != gimli::DW_TAG_variant {
                continue;
            }
            let children = self.children(&case, abbreviations);
            let Some(member) = children.iter().find(|child| child.tag() == gimli::DW_TAG_member) else {
                continue;
            };
            let member = self.member(member, abbreviations, depth, Part::Field);
            cases.push(Case { value: Self::number(&case, gimli::DW_AT_discr_value), member });
        }
        Some(Variants { discriminant, cases })
    }
}

fn is_set(entry: &Entry<'_>, name: gimli::DwAt) -> bool {
    matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
}

/// Address classes, as debuggers count them (PTX interoperability guide, 5.2). Registers are not memory.
pub(super) fn space(class: u64) -> Option<StateSpace> {
    match class {
        4 => Some(StateSpace::Const),
        5 => Some(StateSpace::Global),
        6 => Some(StateSpace::Local),
        7 => Some(StateSpace::Param),
        8 => Some(StateSpace::Shared),
        12 => Some(StateSpace::Generic),
        _ => None,
    }
}

/// `DW_OP_plus_uconst N`, or the number alone.
fn member_offset(entry: &Entry<'_>) -> u64 {
    let bytes = match entry.attr_value(gimli::DW_AT_data_member_location) {
        Some(AttributeValue::Exprloc(expression)) => expression.0,
        Some(AttributeValue::Block(bytes)) => bytes,
        Some(value) => return value.udata_value().unwrap_or(0),
        None => return 0,
    };
    match bytes.slice().split_first() {
        Some((&0x23, mut rest)) => place::unsigned(&mut rest).unwrap_or(0),
        _ => 0,
    }
}
