//! Types and constants.

use warpsmith_ir::{Scalar, Type};
use warpsmith_isa::StateSpace;

/// The number of an address space.
pub(super) fn space(space: StateSpace) -> Option<u32> {
    match space {
        StateSpace::Generic => Some(0),
        StateSpace::Global => Some(1),
        StateSpace::Shared => Some(3),
        StateSpace::Const => Some(4),
        StateSpace::Local => Some(5),
        StateSpace::Param | StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => None,
    }
}

fn scalar(element: Scalar) -> Option<String> {
    let ty = Type::scalar(element);
    if ty.is_int() {
        return Some(format!("i{}", ty.bits()));
    }
    if let Some(number) = ty.space() {
        return Some(match space(number)? {
            0 => "ptr".to_owned(),
            number => format!("ptr addrspace({number})"),
        });
    }
    let name = match ty {
        Type::F16 => "half",
        Type::BF16 => "bfloat",
        Type::F32 => "float",
        Type::F64 => "double",
        _ => return None,
    };
    Some(name.to_owned())
}

/// How a type is written; `None` for those that LLVM does not have.
pub(super) fn name(ty: Type) -> Option<String> {
    if ty.is_aggregate() || ty.is_invalid() {
        return None;
    }
    let element = scalar(ty.element())?;
    Some(if ty.is_vector() { format!("<{} x {element}>", ty.lanes()) } else { element })
}

/// How the intrinsics' names have it: `v2f32`.
pub(super) fn mangled(ty: Type) -> Option<String> {
    let element = match ty.element_type() {
        Type::F16 => "f16".to_owned(),
        Type::BF16 => "bf16".to_owned(),
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        int if int.is_int() => format!("i{}", int.bits()),
        _ => return None,
    };
    Some(if ty.is_vector() { format!("v{}{element}", ty.lanes()) } else { element })
}

/// A type that memory holds as both languages have it: of whole bytes.
pub(super) fn memory_type(ty: Type) -> Option<String> {
    if !ty.element_type().bits().is_multiple_of(8) {
        return None;
    }
    name(ty)
}

/// An element, or a vector of equal ones.
pub(super) fn splat(ty: Type, element: impl std::fmt::Display) -> String {
    if ty.is_vector() {
        format!("splat (i{} {element})", ty.element_type().bits())
    } else {
        element.to_string()
    }
}

/// A float by its bits. LLVM writes `float` as the `double` with the same value.
pub(super) fn float(ty: Type, bits: u64) -> Option<String> {
    Some(match ty {
        Type::F16 => format!("0xH{bits:04X}"),
        Type::BF16 => format!("0xR{bits:04X}"),
        Type::F32 => format!("0x{:016X}", f64::from(f32::from_bits(bits as u32)).to_bits()),
        Type::F64 => format!("0x{bits:016X}"),
        _ => return None,
    })
}
