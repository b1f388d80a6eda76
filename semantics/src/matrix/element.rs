//! The types of matrix elements, and how their bits are taken apart.

use crate::value::soft::{Format, Top};
use warpsmith_isa::ScalarType;

/// The type of an element of A or B.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Element {
    F16,
    Bf16,
    /// f32 whose low 13 bits are ignored.
    Tf32,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
}

/// How an [`Element`] multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// A float of at most 11 significant bits.
    Float(Format),
    /// f64
    Double,
    /// An integer, sign-extended or not.
    Integer {
        /// Its width.
        bits: u32,
        /// Two's complement.
        signed: bool,
    },
    /// A bit.
    Bit,
}

impl Element {
    /// How it multiplies.
    pub const fn family(self) -> Family {
        match self {
            Element::F16 => Family::Float(Format::F16),
            Element::Bf16 => Family::Float(Format::BF16),
            Element::Tf32 => Family::Float(Format::TF32),
            Element::E4m3 => Family::Float(Format::E4M3),
            Element::E5m2 => Family::Float(Format::E5M2),
            Element::E3m2 => Family::Float(Format::E3M2),
            Element::E2m3 => Family::Float(Format::E2M3),
            Element::E2m1 => Family::Float(Format::E2M1),
            Element::F64 => Family::Double,
            Element::S8 => Family::Integer { bits: 8, signed: true },
            Element::U8 => Family::Integer { bits: 8, signed: false },
            Element::S4 => Family::Integer { bits: 4, signed: true },
            Element::U4 => Family::Integer { bits: 4, signed: false },
            Element::B1 => Family::Bit,
        }
    }

    /// The bits of an element that is packed as tightly as its type allows.
    pub const fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
            Element::E3m2 | Element::E2m3 => 6,
            Element::E2m1 | Element::S4 | Element::U4 => 4,
            Element::B1 => 1,
        }
    }
}

/// How elements lie in registers and in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Packing {
    /// One after the other.
    Tight,
    /// Each in a byte: four bits in bits 5 to 2, six in bits 5 to 0 (`.kind::f8f6f4`, `.kind::mxf8f6f4`; PTX ISA 9.0, 9.7.14.5).
    Bytes,
}

impl Packing {
    /// The distance of two elements in bits.
    pub const fn stride(self, element: Element) -> u32 {
        match self {
            Packing::Tight => element.bits(),
            Packing::Bytes => 8,
        }
    }

    /// The element of a container, whatever its padding holds. tf32 loses the bits that are ignored.
    #[inline(always)]
    pub const fn element(self, element: Element, container: u32) -> u32 {
        let bits = match (self, element) {
            (Packing::Bytes, Element::E2m1) => container >> 2,
            (_, Element::Tf32) => container >> 13,
            _ => container,
        };
        let width = if matches!(element, Element::Tf32) { 19 } else { element.bits() };
        if width >= 32 { bits } else { bits & ((1 << width) - 1) }
    }
}

/// The type of C or D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Accumulator {
    F16,
    F32,
    F64,
    S32,
}

/// What a float is that is not a finite number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Nan,
    Infinity(bool),
    Zero,
    Finite(bool),
}

pub(super) fn classify(format: Format, bits: u32) -> Class {
    let sign = format.sign() as u32;
    let negative = bits & sign != 0;
    let magnitude = u64::from(bits & (sign - 1));
    match format.top {
        Top::Ieee if Some(magnitude) > format.infinity() => Class::Nan,
        Top::Ieee if Some(magnitude) == format.infinity() => Class::Infinity(negative),
        Top::OneNan if Some(magnitude) == format.nan() => Class::Nan,
        Top::Ieee | Top::OneNan | Top::Finite if magnitude == 0 => Class::Zero,
        Top::Ieee | Top::OneNan | Top::Finite => Class::Finite(negative),
    }
}

/// The exponent that a zero counts with.
pub(super) const ZERO: i32 = -126;

/// A finite float as `magnitude * 2^(exponent - fraction bits)`: not normalised below the least exponent. `special` for what is no
/// finite number.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub magnitude: u32,
    /// All ones if negative.
    pub sign: u32,
    pub exponent: i32,
    pub special: bool,
}

/// Takes the bits of an element apart. Without branches, so that a loop over elements becomes vector code.
#[inline(always)]
pub(super) fn parts(format: Format, bits: u32) -> Parts {
    let Format { exponent_bits, fraction_bits, top } = format;
    let magnitude = bits & ((1 << (exponent_bits + fraction_bits)) - 1);
    let field = magnitude >> fraction_bits;
    let fraction = magnitude & ((1 << fraction_bits) - 1);
    let hidden = u32::from(field != 0) << fraction_bits;
    let least = if field == 0 { 1 } else { field as i32 };
    let special = match top {
        Top::Ieee => field == (1 << exponent_bits) - 1,
        Top::OneNan => magnitude == (1 << (exponent_bits + fraction_bits)) - 1,
        Top::Finite => false,
    };
    Parts {
        magnitude: fraction | hidden,
        sign: 0u32.wrapping_sub(bits >> (exponent_bits + fraction_bits) & 1),
        exponent: if magnitude == 0 { ZERO } else { least - format.bias() },
        special,
    }
}

/// The types that elements of A and B have.
const ELEMENTS: [(ScalarType, Element); 14] = [
    (ScalarType::F16, Element::F16),
    (ScalarType::BF16, Element::Bf16),
    (ScalarType::TF32, Element::Tf32),
    (ScalarType::E4M3, Element::E4m3),
    (ScalarType::E5M2, Element::E5m2),
    (ScalarType::E3M2, Element::E3m2),
    (ScalarType::E2M3, Element::E2m3),
    (ScalarType::E2M1, Element::E2m1),
    (ScalarType::F64, Element::F64),
    (ScalarType::S8, Element::S8),
    (ScalarType::U8, Element::U8),
    (ScalarType::S4, Element::S4),
    (ScalarType::U4, Element::U4),
    (ScalarType::B1, Element::B1),
];

/// The types that C and D have.
const ACCUMULATORS: [(ScalarType, Accumulator); 4] = [
    (ScalarType::F16, Accumulator::F16),
    (ScalarType::F32, Accumulator::F32),
    (ScalarType::F64, Accumulator::F64),
    (ScalarType::S32, Accumulator::S32),
];

impl Element {
    /// The element of a type that matrices have.
    pub fn from_scalar(ty: ScalarType) -> Option<Element> {
        ELEMENTS.iter().find(|(known, _)| *known == ty).map(|(_, element)| *element)
    }
}

impl Accumulator {
    /// The accumulator of a type that C and D have.
    pub fn from_scalar(ty: ScalarType) -> Option<Accumulator> {
        ACCUMULATORS.iter().find(|(known, _)| *known == ty).map(|(_, accumulator)| *accumulator)
    }

    /// Elements in a register of 32 bits; of f64, in one of 64.
    pub const fn per_register(self) -> usize {
        match self {
            Accumulator::F16 => 2,
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => 1,
        }
    }
}

impl Accumulator {
    /// The format of a float of 16 or 32 bits; other accumulators belong to other products.
    pub(super) const fn format(self) -> Format {
        match self {
            Accumulator::F16 => Format::F16,
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => Format::F32,
        }
    }
}
