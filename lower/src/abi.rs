//! How values travel through parameters (PTX writer's guide to interoperability, chapter 3; PTX ISA 9.0, 7.1).

use crate::mach::RegClass;
use warpsmith_ir::{FuncKind, Param, Scalar, Type};
use warpsmith_isa::ScalarType;

/// The registers that hold a value: so many of one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// The class.
    pub class: RegClass,
    /// How many.
    pub count: u8,
}

impl Repr {
    /// A scalar takes one register, but `i128` takes two halves. A vector of elements below 32 bits is packed, the lowest element
    /// in the lowest bits, as PTX's packed types want it; wider elements take registers of their own.
    pub fn of(ty: Type) -> Repr {
        let element = ty.element_type().bits();
        let one = |class| Repr { class, count: 1 };
        match (ty.lanes(), element) {
            (_, 1) => one(RegClass::Pred),
            (lanes, 64 | 128) => Repr { class: RegClass::B64, count: (lanes * element / 64) as u8 },
            (lanes, 32) => Repr { class: RegClass::B32, count: lanes as u8 },
            _ if ty.bits() <= 32 => one(RegClass::for_bits(ty.bits())),
            _ => Repr { class: RegClass::B32, count: ty.bits().div_ceil(32) as u8 },
        }
    }
}

/// A parameter or return value as it is declared and passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// The type of the declaration, or of its elements.
    pub ty: ScalarType,
    /// The number of elements if it is an array.
    pub array: Option<u32>,
    /// The alignment if it is not that of the type.
    pub align: Option<u32>,
    /// The registers that are stored into it or loaded from it; for bytes that are copied, the one that holds their address.
    pub regs: Repr,
    /// True for bytes that are copied, [`pieces`] at a time.
    pub copied: bool,
}

impl Passing {
    /// Between functions, integers below 32 bits travel in 32, and vectors as arrays of bytes.
    pub fn in_call(ty: Type) -> Passing {
        let regs = Repr::of(ty);
        let scalar = |ty, class| {
            let regs = Repr { class, count: 1 };
            Passing { ty, array: None, align: None, regs, copied: false }
        };
        if regs.count > 1 || ty.is_vector() {
            Passing::bytes(ty.bits().div_ceil(8), None, regs)
        } else if ty.is_int() && ty.bits() < 32 {
            scalar(ScalarType::B32, RegClass::B32)
        } else {
            scalar(bits_type(ty.element().isa().bits()), regs.class)
        }
    }

    /// Kernels receive what the host wrote: every value at its own size.
    pub fn to_kernel(ty: Type) -> Passing {
        let regs = Repr::of(ty);
        let scalar = |ty| Passing { ty, array: None, align: None, regs, copied: false };
        if regs.count > 1 || ty.is_vector() {
            return Passing::bytes(ty.bits().div_ceil(8), None, regs);
        }
        match ty.element() {
            Scalar::I1 => Passing { regs: Repr { class: RegClass::B16, count: 1 }, ..scalar(ScalarType::U8) },
            Scalar::I8 => scalar(ScalarType::U8),
            Scalar::I16 => scalar(ScalarType::U16),
            Scalar::I32 => scalar(ScalarType::U32),
            Scalar::F32 => scalar(ScalarType::F32),
            Scalar::F64 => scalar(ScalarType::F64),
            Scalar::I64
            | Scalar::Ptr
            | Scalar::PtrGlobal
            | Scalar::PtrShared
            | Scalar::PtrLocal
            | Scalar::PtrConst
            | Scalar::PtrParam => scalar(ScalarType::U64),
            element @ (Scalar::Invalid
            | Scalar::I128
            | Scalar::F16
            | Scalar::BF16
            | Scalar::TF32
            | Scalar::E4M3
            | Scalar::E5M2
            | Scalar::E2M3
            | Scalar::E3M2
            | Scalar::E2M1
            | Scalar::UE8M0) => scalar(bits_type(element.isa().bits())),
        }
    }

    /// A parameter of a function of this kind.
    pub fn of_param(param: &Param, kind: FuncKind) -> Passing {
        match (param.byval, kind) {
            (Some((size, align)), _) => {
                let regs = Repr { class: RegClass::B64, count: 1 };
                Passing { copied: true, ..Passing::bytes(size, Some(align), regs) }
            }
            (None, FuncKind::Kernel) => Passing::to_kernel(param.ty),
            (None, FuncKind::Func) => Passing::in_call(param.ty),
        }
    }

    fn bytes(size: u32, align: Option<u32>, regs: Repr) -> Passing {
        let align = Some(align.unwrap_or_else(|| size.min(16).next_power_of_two()));
        Passing { ty: ScalarType::B8, array: Some(size), align, regs, copied: false }
    }

    /// The accesses that move it: offset and type of each.
    pub fn accesses(&self) -> Vec<(u32, ScalarType)> {
        let element = self.regs.class.bits();
        match (self.array, self.copied) {
            (Some(size), true) => {
                pieces(size, self.align.unwrap_or(1)).map(|(at, bytes)| (at, bits_type(bytes * 8))).collect()
            }
            (Some(_), false) => {
                (0..self.regs.count.into()).map(|n| (n * element / 8, bits_type(element))).collect()
            }
            (None, _) => vec![(0, self.ty)],
        }
    }
}

/// The offsets and sizes of accesses that copy so many bytes: as wide as the alignment allows, up to 64 bits.
pub fn pieces(size: u32, align: u32) -> impl Iterator<Item = (u32, u32)> {
    let widest = align.clamp(1, 8);
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = size.checked_sub(at).filter(|left| *left > 0)?;
        let bytes = widest.min(1 << left.ilog2());
        at += bytes;
        Some((at - bytes, bytes))
    })
}

/// `.bN` for a size in bits, rounded up to what memory holds.
pub const fn bits_type(bits: u32) -> ScalarType {
    match bits {
        0..=8 => ScalarType::B8,
        9..=16 => ScalarType::B16,
        17..=32 => ScalarType::B32,
        33..=64 => ScalarType::B64,
        _ => ScalarType::B128,
    }
}
