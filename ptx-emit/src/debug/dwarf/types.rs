//! The entries of types.

use super::Writer;
use crate::debug::Class;
use gimli::constants::*;
use gimli::write::{AttributeValue, Expression, UnitEntryId};
use warpsmith_ir::DebugTypeId;
use warpsmith_ir::debug::{self as source, DebugType};

impl Writer<'_> {
    /// The entry of a type, which is filled at the end.
    pub(super) fn type_entry(&mut self, ty: DebugTypeId) -> UnitEntryId {
        if let Some(entry) = self.types.get(&ty) {
            return *entry;
        }
        let tag = match self.info.and_then(|info| info.types.get(ty)) {
            Some(DebugType::Base { .. }) | None => DW_TAG_base_type,
            Some(DebugType::Pointer { .. }) => DW_TAG_pointer_type,
            Some(DebugType::Reference { .. }) => DW_TAG_reference_type,
            Some(DebugType::Composite { kind: source::Composite::Struct, .. }) => DW_TAG_structure_type,
            Some(DebugType::Composite { kind: source::Composite::Union, .. }) => DW_TAG_union_type,
            Some(DebugType::Composite { kind: source::Composite::Class, .. }) => DW_TAG_class_type,
            Some(DebugType::Array { .. } | DebugType::Vector { .. }) => DW_TAG_array_type,
            Some(DebugType::Enum { .. }) => DW_TAG_enumeration_type,
            Some(DebugType::Typedef { .. }) => DW_TAG_typedef,
            Some(DebugType::Const(_)) => DW_TAG_const_type,
            Some(DebugType::Volatile(_)) => DW_TAG_volatile_type,
            Some(DebugType::Function { .. }) => DW_TAG_subroutine_type,
        };
        let root = self.root();
        let entry = self.add(root, tag);
        self.types.insert(ty, entry);
        self.unfilled.push((ty, entry));
        entry
    }

    pub(super) fn fill_types(&mut self) {
        while let Some((ty, entry)) = self.unfilled.pop() {
            self.describe(ty, entry);
        }
    }

    fn describe(&mut self, ty: DebugTypeId, entry: UnitEntryId) {
        let Some(info) = self.info else { return };
        let Some(ty) = info.types.get(ty) else { return };
        let bytes = |size: u64| AttributeValue::Udata(size);
        match ty {
            DebugType::Base { name, size, encoding } => {
                self.name(entry, name);
                self.set(entry, DW_AT_byte_size, bytes((*size).into()));
                let encoding = match encoding {
                    source::Encoding::Address => DW_ATE_address,
                    source::Encoding::Boolean => DW_ATE_boolean,
                    source::Encoding::Float => DW_ATE_float,
                    source::Encoding::Signed => DW_ATE_signed,
                    source::Encoding::SignedChar => DW_ATE_signed_char,
                    source::Encoding::Unsigned => DW_ATE_unsigned,
                    source::Encoding::UnsignedChar => DW_ATE_unsigned_char,
                };
                self.set(entry, DW_AT_encoding, AttributeValue::Data1(encoding.0));
            }
            DebugType::Pointer { to, space } => {
                if let Some(to) = to {
                    self.has_type(entry, *to);
                }
                self.set(entry, DW_AT_byte_size, bytes(8));
                let class = AttributeValue::Data1(Class::of(*space) as u8);
                self.set(entry, DW_AT_address_class, class);
            }
            DebugType::Reference { to } => {
                self.has_type(entry, *to);
                self.set(entry, DW_AT_byte_size, bytes(8));
                self.set(entry, DW_AT_address_class, AttributeValue::Data1(Class::Generic as u8));
            }
            DebugType::Composite { name, size, declared, members, .. } => {
                self.name(entry, name);
                self.set(entry, DW_AT_byte_size, bytes(*size));
                if let Some(declared) = declared {
                    self.declared(entry, *declared);
                }
                for member in members {
                    self.member(entry, member);
                }
            }
            DebugType::Array { element, dimensions } => {
                self.has_type(entry, *element);
                for length in dimensions {
                    self.dimension(entry, *length);
                }
            }
            DebugType::Vector { element, lanes } => {
                self.set(entry, DW_AT_GNU_vector, AttributeValue::Flag(true));
                self.has_type(entry, *element);
                self.dimension(entry, (*lanes).into());
            }
            DebugType::Enum { name, base, enumerators } => {
                self.name(entry, name);
                let size = info.size_of(*base).unwrap_or(4);
                self.set(entry, DW_AT_byte_size, bytes(size));
                for source::Enumerator { name, value } in enumerators {
                    let one = self.add(entry, DW_TAG_enumerator);
                    self.name(one, name);
                    self.set(one, DW_AT_const_value, AttributeValue::Sdata(*value));
                }
            }
            DebugType::Typedef { name, of } => {
                self.name(entry, name);
                self.has_type(entry, *of);
            }
            DebugType::Const(of) | DebugType::Volatile(of) => self.has_type(entry, *of),
            DebugType::Function { params, ret } => {
                self.set(entry, DW_AT_prototyped, AttributeValue::Flag(true));
                if let Some(ret) = ret {
                    self.has_type(entry, *ret);
                }
                for param in params {
                    let one = self.add(entry, DW_TAG_formal_parameter);
                    self.has_type(one, *param);
                }
            }
        }
    }

    fn member(&mut self, composite: UnitEntryId, member: &source::Member) {
        let entry = self.add(composite, DW_TAG_member);
        self.name(entry, &member.name);
        self.has_type(entry, member.ty);
        if let Some((width, from)) = member.bits {
            // DWARF 2 counts from the highest bit of the storage (5.5.4).
            let storage = self.info.and_then(|info| info.size_of(member.ty)).unwrap_or(4);
            let above = (storage * 8).saturating_sub(u64::from(width) + u64::from(from));
            self.set(entry, DW_AT_byte_size, AttributeValue::Udata(storage));
            self.set(entry, DW_AT_bit_size, AttributeValue::Udata(width.into()));
            self.set(entry, DW_AT_bit_offset, AttributeValue::Udata(above));
        }
        let mut place = Expression::new();
        place.op_plus_uconst(member.offset);
        self.set(entry, DW_AT_data_member_location, AttributeValue::Exprloc(place));
    }

    fn dimension(&mut self, array: UnitEntryId, length: u64) {
        let entry = self.add(array, DW_TAG_subrange_type);
        if let Some(last) = length.checked_sub(1) {
            self.set(entry, DW_AT_upper_bound, AttributeValue::Udata(last));
        }
    }
}
