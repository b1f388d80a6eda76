//! Structs and unions as C lays them out, bit fields included: for front ends whose memory C or C++ code shares.
//!
//! The rules are those of the System V ABI, which nvcc keeps on the host and on the device. Offsets of fields without bit fields the
//! [`TypeTable`] knows by itself; a [`Record`] adds unions, bit fields and the place of every member.
//!
//! ```
//! use warpsmith_ir::c_layout::{Member, Record};
//! use warpsmith_ir::{Module, Type};
//! let mut module = Module::new();
//! // struct { char tag; int low : 3, high : 7; double x; }
//! let members = [
//!     Member::field(Type::I8),
//!     Member::bits(Type::I32, 3, true),
//!     Member::bits(Type::I32, 7, true),
//!     Member::field(Type::F64),
//! ];
//! let record = Record::structure(&mut module.types, &members, false)?;
//! assert_eq!((record.size, record.align), (16, 8));
//! // `low` is the three bits behind the first byte, `high` does not fit into the byte with it and need not.
//! let bits: Vec<u64> = record.members.iter().map(|member| member.first_bit).collect();
//! assert_eq!(bits, [0, 8, 11, 64]);
//! # Ok::<(), warpsmith_ir::c_layout::Error>(())
//! ```

use crate::aggregate::{Shape, TypeTable};
use crate::types::Type;
use std::fmt;

/// A member as it is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The declared type.
    pub ty: Type,
    /// The width of a bit field, and whether it is read as signed. One of no bits has no name: what follows it begins at a new unit of its type.
    pub bits: Option<(u32, bool)>,
}

impl Member {
    /// A field.
    pub const fn field(ty: Type) -> Member {
        Member { ty, bits: None }
    }

    /// A bit field of so many bits of an integer type.
    pub const fn bits(ty: Type, width: u32, signed: bool) -> Member {
        Member { ty, bits: Some((width, signed)) }
    }
}

/// Where a member lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The declared type.
    pub ty: Type,
    /// The first bit, counted from the first bit of the record: of a field, eight times its offset.
    pub first_bit: u64,
    /// How a bit field is accessed; `None` for fields.
    pub bits: Option<BitPlace>,
}

impl Place {
    /// The offset of a field, or of the memory that holds a bit field.
    pub const fn offset(&self) -> u64 {
        match self.bits {
            Some(bits) => bits.offset,
            None => self.first_bit / 8,
        }
    }
}

/// The access to a bit field: to an integer in memory, and to some of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitPlace {
    /// Where the integer lies.
    pub offset: u64,
    /// Its type: the declared one, or in a packed record that of the bytes that the bits touch.
    pub unit: Type,
    /// The lowest of the bits in it.
    pub low: u32,
    /// How many bits.
    pub width: u32,
    /// They are read as signed.
    pub signed: bool,
}

/// A struct or union with the places of its members.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The type in the IR, of the same size and alignment, which is passed and returned as C's is. Fields of a struct without bit fields are its
    /// fields; otherwise members are accessed in memory.
    pub ty: Type,
    /// The bytes.
    pub size: u64,
    /// The alignment.
    pub align: u32,
    /// The members, in the order of their declaration.
    pub members: Vec<Place>,
}

/// A member that C does not allow, by its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The position among the members.
    pub member: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {}: {}", self.member, self.message)
    }
}

impl std::error::Error for Error {}

impl Record {
    /// A struct; `packed` as by `__attribute__((packed))`.
    pub fn structure(types: &mut TypeTable, members: &[Member], packed: bool) -> Result<Record, Error> {
        check(types, members)?;
        let (mut at, mut align, mut places) = (0u64, 1, Vec::with_capacity(members.len()));
        let (mut fields, mut end) = (Vec::new(), 0u64);
        for (n, member) in members.iter().enumerate() {
            if at > LARGEST * 8 {
                return Err(Error {
                    member: n,
                    message: "what is before it is larger than any memory".into(),
                });
            }
            let (size, natural) = (types.size(member.ty), if packed { 1 } else { types.align(member.ty) });
            let Some((width, signed)) = member.bits else {
                let offset = at.div_ceil(8).next_multiple_of(natural.into());
                filler(types, &mut fields, end, at.div_ceil(8));
                fields.push(member.ty);
                places.push(Place { ty: member.ty, first_bit: offset * 8, bits: None });
                (at, align) = ((offset + size) * 8, align.max(natural));
                end = offset + size;
                continue;
            };
            let unit = size * 8;
            // One of no bits begins a new unit, as one does that would reach beyond its own.
            if width == 0 || !packed && at % unit + u64::from(width) > unit {
                at = at.next_multiple_of(unit);
            }
            let bits = BitPlace::new(at, member.ty, unit, width, signed, packed);
            places.push(Place { ty: member.ty, first_bit: at, bits: Some(bits) });
            at += u64::from(width);
            if width > 0 {
                align = align.max(natural);
            }
        }
        let size = at.div_ceil(8).next_multiple_of(align.into());
        filler(types, &mut fields, end, at.div_ceil(8));
        let shape = Shape::Struct { fields: fields.into(), packed, align: (align > 1).then_some(align) };
        let plain = members.iter().all(|member| member.bits.is_none());
        let ty = match shape {
            Shape::Struct { fields, packed: false, .. } if plain => types.structure(&fields),
            shape @ (Shape::Struct { .. } | Shape::Array { .. }) => types.intern(shape),
        };
        Ok(Record { ty, size, align, members: places })
    }

    /// A union: every member begins where it does.
    pub fn union(types: &mut TypeTable, members: &[Member]) -> Result<Record, Error> {
        check(types, members)?;
        let (mut size, mut align, mut places) = (0, 1, Vec::with_capacity(members.len()));
        for member in members {
            let natural = types.align(member.ty);
            let bits = member.bits.map(|(width, signed)| {
                BitPlace::new(0, member.ty, types.size(member.ty) * 8, width, signed, false)
            });
            places.push(Place { ty: member.ty, first_bit: 0, bits });
            match member.bits {
                Some((0, _)) => {}
                Some((width, _)) => {
                    (size, align) = (size.max(u64::from(width).div_ceil(8)), align.max(natural))
                }
                None => (size, align) = (size.max(types.size(member.ty)), align.max(natural)),
            }
        }
        let size = size.next_multiple_of(align.into());
        // Its bytes in words as large as its alignment, so that few accesses move it.
        let word = align.min(8);
        let element = Type::int(word * 8).unwrap_or(Type::I8);
        let words = types.array(element, size / u64::from(word));
        let ty = types.intern(Shape::Struct {
            fields: Box::new([words]),
            packed: false,
            align: (align > 8).then_some(align),
        });
        Ok(Record { ty, size, align, members: places })
    }
}

impl BitPlace {
    fn new(at: u64, ty: Type, unit_bits: u64, width: u32, signed: bool, packed: bool) -> BitPlace {
        if packed && width > 0 {
            let (first, low) = (at / 8, at % 8);
            let unit = Type::int(((low as u32 + width).div_ceil(8) * 8).min(128)).unwrap_or(ty);
            return BitPlace { offset: first, unit, low: low as u32, width, signed };
        }
        let first = at / unit_bits;
        let low = (at - first * unit_bits) as u32;
        BitPlace { offset: first * unit_bits / 8, unit: ty, low, width, signed }
    }
}

/// The bytes that bit fields take between fields.
fn filler(types: &mut TypeTable, fields: &mut Vec<Type>, from: u64, to: u64) {
    if to > from {
        fields.push(types.array(Type::I8, to - from));
    }
}

/// The most bytes of a member, and before one: bits are counted in 64.
const LARGEST: u64 = 1 << 58;

fn check(types: &TypeTable, members: &[Member]) -> Result<(), Error> {
    for (n, member) in members.iter().enumerate() {
        let error = |message: String| Err(Error { member: n, message });
        let ty = types.display(member.ty);
        match member.bits {
            None if !member.ty.is_aggregate() && member.ty.bytes().is_none() => {
                return error(format!("{ty} has no memory form"));
            }
            None if types.size(member.ty) > LARGEST => {
                return error(format!("{ty} is larger than any memory"));
            }
            Some(_) if ![Type::I8, Type::I16, Type::I32, Type::I64].contains(&member.ty) => {
                return error(format!("a bit field is of i8, i16, i32 or i64, not {ty}"));
            }
            Some((width, _)) if width > member.ty.bits() => {
                return error(format!("{width} bits do not fit {ty}"));
            }
            _ => {}
        }
    }
    Ok(())
}
