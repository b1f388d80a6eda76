//! What a value of LLVM becomes: a list of scalars of the IR.
//!
//! Structs, arrays and vectors are taken apart: most of their parts are made and used one by one, and so each is an SSA value of its own. What
//! goes through parameters, results and memory at once is put together again ([`whole`]). Integers of up to 128 bits are
//! the IR's own; those of more are limbs of 64, the lowest first.

use crate::error::{Error, Result};
use crate::module::types::{MAX_SCALARS, Type, TypeId, Types};
use smallvec::SmallVec;
use warpsmith_ir::{self as ir, aggregate::Shape};

/// The widest integer of the IR.
pub(super) const MAX_BITS: u32 = 128;

/// One scalar of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// The type of the scalar.
    pub ty: ir::Type,
    /// The bits that mean something, of an integer; all of them of others.
    pub bits: u32,
    /// Where it lies in memory from the start of the value. Of no use where elements are packed bit by bit: [`is_packed`].
    pub offset: u64,
}

impl Part {
    /// The bytes it takes in memory.
    pub fn bytes(&self) -> u32 {
        self.bits.div_ceil(8)
    }

    /// What is loaded and stored: the part itself, but for conditions, which are bytes there, and the last limb of a wide integer.
    pub fn in_memory(&self) -> ir::Type {
        match (self.ty == ir::Type::I1, self.ty.bits() == self.bits) {
            (true, _) => ir::Type::I8,
            (false, true) => self.ty,
            (false, false) => container(self.bits),
        }
    }
}

/// The scalars of a value.
pub(super) type Parts = SmallVec<[Part; 4]>;

/// The integer of so many bits; the limb of those that the IR does not have.
pub(super) fn container(bits: u32) -> ir::Type {
    ir::Type::int(bits.max(1)).unwrap_or(ir::Type::I64)
}

/// Tensor memory (PTX ISA 9.0, 9.7.16.1): its addresses are numbers of 32 bits, which instructions of their own take.
pub(super) const TENSOR_MEMORY: u32 = 6;

fn refused_space(space: u32) -> Error {
    Error::unsupported(format!("a pointer into `addrspace({space})`"))
}

/// The pointer into an address space of LLVM's.
fn pointer_to(space: u32) -> Option<ir::Type> {
    Some(match space {
        0 => ir::Type::PTR,
        1 | super::space::OPENCL_CONSTANT => ir::Type::PTR_GLOBAL,
        3 => ir::Type::PTR_SHARED,
        4 => ir::Type::PTR_CONST,
        5 => ir::Type::PTR_LOCAL,
        101 => ir::Type::PTR_PARAM,
        // Shared memory of the cluster: what accesses it says so (`super::memory`).
        7 => ir::Type::PTR_SHARED,
        _ => return None,
    })
}

/// True for vectors whose elements do not fill bytes: they lie in memory bit by bit.
#[expect(clippy::wildcard_enum_match_arm, reason = "only vectors are packed")]
pub(super) fn is_packed(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Vector { element, .. } => !types.bits(*element).unwrap_or(8).is_multiple_of(8),
        _ => false,
    }
}

/// The scalar of a value that is one; `None` for what has several or none, and for what is refused.
#[inline]
#[expect(clippy::wildcard_enum_match_arm, reason = "what has no register has parts, or none")]
pub(super) fn single(types: &Types, ty: TypeId) -> Option<Part> {
    let (ty, bits) = match types.get(ty) {
        Type::Integer(bits @ ..=MAX_BITS) => (container(*bits), *bits),
        Type::Pointer { space: TENSOR_MEMORY, .. } => (ir::Type::I32, 32),
        Type::Pointer { space, .. } => (pointer_to(*space)?, 64),
        Type::Half => (ir::Type::F16, 16),
        Type::BFloat => (ir::Type::BF16, 16),
        Type::Float => (ir::Type::F32, 32),
        Type::Double => (ir::Type::F64, 64),
        _ => return None,
    };
    Some(Part { ty, bits, offset: 0 })
}

/// The scalars of a value of a type.
pub(super) fn parts(types: &Types, ty: TypeId) -> Result<Parts> {
    let mut out = Parts::new();
    match single(types, ty) {
        Some(part) => out.push(part),
        None => add(types, ty, 0, &mut out)?,
    }
    Ok(out)
}

fn add(types: &Types, ty: TypeId, offset: u64, out: &mut Parts) -> Result<()> {
    if let Some(part) = single(types, ty) {
        out.push(Part { offset, ..part });
        return Ok(());
    }
    match types.get(ty) {
        Type::Void => Ok(()),
        Type::Pointer { space, .. } => Err(refused_space(*space)),
        Type::Integer(bits) => {
            check(types, ty, u64::from(bits.div_ceil(64)), out)?;
            for limb in 0..bits.div_ceil(64) {
                let left = bits - limb * 64;
                out.push(Part {
                    ty: ir::Type::I64,
                    bits: left.min(64),
                    offset: offset + u64::from(limb) * 8,
                });
            }
            Ok(())
        }
        Type::Array { len, element } => {
            check(types, ty, *len, out)?;
            let step = types.alloc_size(*element)?;
            (0..*len).try_for_each(|n| add(types, *element, offset + n * step, out))
        }
        Type::Vector { len, element } => {
            check(types, ty, u64::from(*len), out)?;
            let step = types.bits(*element)? / 8;
            (0..u64::from(*len)).try_for_each(|n| add(types, *element, offset + n * step, out))
        }
        Type::Struct { fields, .. } => {
            for (n, field) in fields.iter().enumerate() {
                let at = types.field_offset(ty, n)?;
                add(types, *field, offset + at, out)?;
            }
            Ok(())
        }
        Type::Half
        | Type::BFloat
        | Type::Float
        | Type::Double
        | Type::X86Fp80
        | Type::Fp128
        | Type::PpcFp128
        | Type::Label
        | Type::Metadata
        | Type::Token
        | Type::Opaque(_)
        | Type::Function { .. }
        | Type::Other(_) => Err(Error::unsupported(format!("a value of type `{}`", types.display(ty)))),
    }
}

fn check(types: &Types, ty: TypeId, more: u64, out: &Parts) -> Result<()> {
    if more.saturating_add(out.len() as u64) > MAX_SCALARS {
        let message = format!("a value of type `{}`, of more than {MAX_SCALARS} scalars", types.display(ty));
        return Err(Error::unsupported(message));
    }
    Ok(())
}

/// How many scalars a type has.
pub(super) fn count(types: &Types, ty: TypeId) -> Result<usize> {
    match single(types, ty) {
        Some(_) => Ok(1),
        None => Ok(parts(types, ty)?.len()),
    }
}

/// Which scalars of an aggregate a path of indices leads to.
#[expect(clippy::wildcard_enum_match_arm, reason = "what has no parts is refused by name")]
pub(super) fn range(types: &Types, mut ty: TypeId, path: &[u64]) -> Result<std::ops::Range<usize>> {
    let mut start = 0;
    for index in path {
        let missing = || Error::unsupported(format!("part {index} of `{}`", types.display(ty)));
        match types.get(ty) {
            Type::Struct { fields, .. } => {
                for field in fields.iter().take(*index as usize) {
                    start += count(types, *field)?;
                }
            }
            Type::Array { element, .. } | Type::Vector { element, .. } => {
                start += count(types, *element)? * *index as usize;
            }
            _ => return Err(missing()),
        }
        ty = types.part(ty, *index).ok_or_else(missing)?;
    }
    Ok(start..start + count(types, ty)?)
}

/// The IR's type of a whole value, in which it is passed and returned as other compilers do: scalars as they are, vectors, structs and arrays as
/// bytes in order. `None` for those without any.
pub(super) fn whole(types: &Types, ty: TypeId, table: &mut ir::TypeTable) -> Result<Option<ir::Type>> {
    let made = part_of_whole(types, ty, table)?;
    let too_large = |ty: &ir::Type| {
        table.parts(*ty) > ir::aggregate::MAX_VALUE_PARTS || table.size(*ty) > ir::aggregate::MAX_VALUE_BYTES
    };
    match made {
        Some(made) if too_large(&made) => Err(Error::unsupported(format!(
            "a value of type `{}`, of more than {} bytes or {} scalars, that is passed or returned",
            types.display(ty),
            ir::aggregate::MAX_VALUE_BYTES,
            ir::aggregate::MAX_VALUE_PARTS
        ))),
        made => Ok(made),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what is not a whole is its one part")]
fn part_of_whole(types: &Types, ty: TypeId, table: &mut ir::TypeTable) -> Result<Option<ir::Type>> {
    Ok(match types.get(ty) {
        Type::Array { len, element } => match part_of_whole(types, *element, table)? {
            Some(element) if *len > 0 => Some(table.array(element, *len)),
            _ => None,
        },
        Type::Vector { len, element } => {
            let element = part_of_whole(types, *element, table)?;
            element.map(|element| {
                ir::Type::vector(element.element(), *len)
                    .filter(|_| !element.is_aggregate())
                    .unwrap_or_else(|| table.array(element, u64::from(*len)))
            })
        }
        Type::Struct { packed, fields, .. } => {
            let mut all = Vec::new();
            for field in fields {
                all.extend(part_of_whole(types, *field, table)?);
            }
            let shape = Shape::Struct { fields: all.into(), packed: *packed, align: None };
            if parts(types, ty)?.is_empty() { None } else { Some(table.intern(shape)) }
        }
        Type::Integer(bits) if *bits > MAX_BITS => Some(table.array(ir::Type::I64, bits.div_ceil(64).into())),
        _ => parts(types, ty)?.first().map(|part| part.ty),
    })
}
