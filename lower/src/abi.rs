//! How values travel through parameters (PTX writer's guide to interoperability, chapter 3; PTX ISA 9.0, 7.1).

use crate::mach::RegClass;
use smallvec::SmallVec;
use warpsmith_ir::{FuncKind, Param, Scalar, Type, TypeTable};
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

/// The registers of a value: those of each part of a struct or array in order.
pub fn classes(types: &TypeTable, ty: Type) -> Vec<RegClass> {
    let of_part = |ty| {
        let Repr { class, count } = Repr::of(ty);
        std::iter::repeat_n(class, count.into())
    };
    if !ty.is_aggregate() {
        return of_part(ty).collect();
    }
    types.parts_of(ty).into_iter().flat_map(|(part, _)| of_part(part)).collect()
}

/// The offsets and types of accesses: most values take one.
pub type Accesses = SmallVec<[(u32, ScalarType); 2]>;

/// A parameter or return value as it is declared and passed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Passing {
    /// The type of the declaration, or of its elements.
    pub ty: ScalarType,
    /// The number of elements if it is an array.
    pub array: Option<u32>,
    /// The alignment if it is not that of the type.
    pub align: Option<u32>,
    /// The accesses that move it, offset and type of each: one for each register.
    pub accesses: Accesses,
    /// The register that a value is converted to, where it does not travel in its own.
    pub converted: Option<RegClass>,
    /// An integer that is converted takes its sign with it.
    pub signed: bool,
}

impl Passing {
    /// Between functions, integers below 32 bits travel in 32. Structs, arrays, vectors, `i128` and the floats of 16 bits, which
    /// CUDA C++ defines as structs, are arrays of bytes.
    pub fn in_call(types: &TypeTable, ty: Type) -> Passing {
        if ty.is_int() && ty.bits() < 32 {
            return Passing { converted: Some(RegClass::B32), ..Passing::scalar(ScalarType::B32) };
        }
        let in_bytes = matches!(ty.element(), Scalar::F16 | Scalar::BF16);
        match in_bytes || ty.is_aggregate() || ty.is_vector() || Repr::of(ty).count > 1 {
            true => Passing::value_bytes(types, ty),
            false => Passing::scalar(bits_type(ty.element().isa().bits())),
        }
    }

    /// Kernels receive what the host wrote: every value at its own size.
    pub fn to_kernel(types: &TypeTable, ty: Type) -> Passing {
        if ty.is_aggregate() || ty.is_vector() || Repr::of(ty).count > 1 {
            return Passing::value_bytes(types, ty);
        }
        match ty.element() {
            Scalar::I1 => Passing { converted: Some(RegClass::B16), ..Passing::scalar(ScalarType::U8) },
            Scalar::I8 => Passing::scalar(ScalarType::U8),
            Scalar::I16 => Passing::scalar(ScalarType::U16),
            Scalar::I32 => Passing::scalar(ScalarType::U32),
            Scalar::F32 => Passing::scalar(ScalarType::F32),
            Scalar::F64 => Passing::scalar(ScalarType::F64),
            Scalar::I64
            | Scalar::Ptr
            | Scalar::PtrGlobal
            | Scalar::PtrShared
            | Scalar::PtrLocal
            | Scalar::PtrConst
            | Scalar::PtrParam => Passing::scalar(ScalarType::U64),
            element @ (Scalar::Invalid
            | Scalar::I128
            | Scalar::Odd(_)
            | Scalar::F16
            | Scalar::BF16
            | Scalar::TF32
            | Scalar::E4M3
            | Scalar::E5M2
            | Scalar::E2M3
            | Scalar::E3M2
            | Scalar::E2M1
            | Scalar::UE8M0) => Passing::scalar(bits_type(element.isa().bits())),
        }
    }

    /// A parameter of a function of this kind. What is passed by value is copied piece by piece.
    pub fn of_param(types: &TypeTable, param: &Param, kind: FuncKind) -> Passing {
        match (param.byval, kind) {
            (Some((size, align)), _) => {
                let accesses = pieces(size, align).map(|(at, bytes)| (at, bits_type(bytes * 8))).collect();
                Passing::bytes(size, align, accesses)
            }
            (None, FuncKind::Kernel) => Passing::to_kernel(types, param.ty),
            (None, FuncKind::Func) => {
                Passing { signed: param.attrs.signext, ..Passing::in_call(types, param.ty) }
            }
        }
    }

    /// The variable arguments that a call passes, which are the parts of a struct.
    pub fn varargs(types: &TypeTable, ty: Type) -> Passing {
        let size = u32::try_from(types.size(ty)).unwrap_or(u32::MAX);
        Passing::bytes(size.max(1), types.align(ty).max(8), accesses(types, ty))
    }

    /// The accesses of bytes that are given as a struct or array, part by part.
    pub fn with_parts_of(self, types: &TypeTable, ty: Type) -> Passing {
        Passing { accesses: accesses(types, ty), ..self }
    }

    fn scalar(ty: ScalarType) -> Passing {
        Passing {
            ty,
            array: None,
            align: None,
            accesses: SmallVec::from_elem((0, ty), 1),
            converted: None,
            signed: false,
        }
    }

    fn value_bytes(types: &TypeTable, ty: Type) -> Passing {
        let size = u32::try_from(types.size(ty)).unwrap_or(u32::MAX);
        // Vectors of more than 16 bytes are none that C has.
        let align = if ty.is_aggregate() { types.align(ty) } else { types.align(ty).min(16) };
        Passing::bytes(size, align, accesses(types, ty))
    }

    fn bytes(size: u32, align: u32, accesses: Accesses) -> Passing {
        Passing {
            ty: ScalarType::B8,
            array: Some(size),
            align: Some(align),
            accesses,
            converted: None,
            signed: false,
        }
    }
}

/// A register of a value that lies in memory.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Where its bytes begin.
    pub offset: u32,
    /// How many there are.
    pub bytes: u32,
    /// How many one access can move: fewer where the part is not aligned, as in a packed struct.
    pub width: u32,
}

/// The registers of a value as they lie in memory.
pub fn held(types: &TypeTable, ty: Type) -> Vec<Held> {
    let align = types.align(ty);
    let mut all = Vec::new();
    for (part, at) in types.parts_of(ty) {
        let count = u32::from(Repr::of(part).count);
        let bytes = types.size(part) as u32 / count.max(1);
        all.extend((0..count).map(|n| {
            let offset = at as u32 + n * bytes;
            let aligned = if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) };
            Held { offset, bytes, width: bytes.min(aligned) }
        }));
    }
    all
}

/// The accesses that move a value, in the order of its registers, several for one that is not aligned.
fn accesses(types: &TypeTable, ty: Type) -> Accesses {
    let of_register = |held: Held| {
        (0..held.bytes / held.width.max(1))
            .map(move |n| (held.offset + n * held.width, bits_type(held.width * 8)))
    };
    held(types, ty).into_iter().flat_map(of_register).collect()
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
