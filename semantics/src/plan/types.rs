//! Types as arithmetic sees them.

use warpsmith_isa::ScalarType;

/// A width of integers that registers have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

/// What arithmetic does with a type. `.bN` are unsigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// A predicate.
    Pred,
    /// An unsigned integer.
    Unsigned(Bits),
    /// A signed integer.
    Signed(Bits),
    /// `.u16x2`
    PackedUnsigned,
    /// `.s16x2`
    PackedSigned,
    /// `.u8x4`
    UnsignedBytes,
    /// `.s8x4`
    SignedBytes,
    /// `.f16`
    F16,
    /// `.bf16`
    BF16,
    /// `.f16x2`
    F16x2,
    /// `.bf16x2`
    BF16x2,
    /// `.f32`
    F32,
    /// `.f64`
    F64,
    /// `.f32x2`
    F32x2,
    /// A format that is converted and multiplied by matrix instructions only, an opaque type, or integers of other widths.
    Other,
}

impl Number {
    /// What arithmetic does with a type.
    pub fn of(ty: ScalarType) -> Number {
        use ScalarType::*;
        match ty {
            Pred => Number::Pred,
            B16 | U16 => Number::Unsigned(Bits::B16),
            B32 | U32 => Number::Unsigned(Bits::B32),
            B64 | U64 => Number::Unsigned(Bits::B64),
            S16 => Number::Signed(Bits::B16),
            S32 => Number::Signed(Bits::B32),
            S64 => Number::Signed(Bits::B64),
            U16x2 => Number::PackedUnsigned,
            S16x2 => Number::PackedSigned,
            U8x4 => Number::UnsignedBytes,
            S8x4 => Number::SignedBytes,
            F16 => Number::F16,
            BF16 => Number::BF16,
            F16x2 => Number::F16x2,
            BF16x2 => Number::BF16x2,
            F32 => Number::F32,
            F64 => Number::F64,
            F32x2 => Number::F32x2,
            B1 | B8 | B128 | U2 | U4 | U8 | S2 | S4 | S8 | TF32 | E4M3 | E5M2 | E2M3 | E3M2 | E2M1
            | UE8M0 | UE4M3 | E4M3x2 | E5M2x2 | E2M3x2 | E3M2x2 | E2M1x2 | UE8M0x2 | E4M3x4 | E5M2x4
            | E2M3x4 | E3M2x4 | E2M1x4 | UE5M3x2 | S2F6x2 | E2M1P4x4 | UE8M0x4 | Texref | Samplerref
            | Surfref => Number::Other,
        }
    }

    /// The width of an integer.
    pub(super) fn integer(self) -> Option<Bits> {
        match self {
            Number::Unsigned(bits) | Number::Signed(bits) => Some(bits),
            Number::Pred
            | Number::PackedUnsigned
            | Number::PackedSigned
            | Number::UnsignedBytes
            | Number::SignedBytes
            | Number::F16
            | Number::BF16
            | Number::F16x2
            | Number::BF16x2
            | Number::F32
            | Number::F64
            | Number::F32x2
            | Number::Other => None,
        }
    }

    /// True for a signed integer.
    pub(super) fn is_signed(self) -> bool {
        matches!(self, Number::Signed(_))
    }
}
