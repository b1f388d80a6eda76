//! The types a register, a variable or an instruction operand can have (manual chapter 5.2).

use std::fmt;

/// How the bits of a [`ScalarType`] are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeClass {
    /// `.pred`
    Pred,
    /// `.bN`: bits with no meaning of their own.
    Bits,
    /// `.uN`
    Unsigned,
    /// `.sN`
    Signed,
    /// `.fN`, `.bf16`, `.tf32` and the formats of fewer than 16 bits.
    Float,
    /// Two or four of a smaller type in one register: `.f16x2`, `.u16x2`, `.e4m3x2`.
    Packed,
    /// `.texref`, `.samplerref`, `.surfref`
    Opaque,
}

macro_rules! scalar_types {
    ($($variant:ident $name:literal $bits:literal $class:ident,)*) => {
        /// A fundamental, alternate, packed or opaque type of PTX.
        ///
        /// `bits` counts the bits of a value in memory; the sub-byte formats report what they occupy packed (4 or 6).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum ScalarType { $($variant,)* }

        impl ScalarType {
            /// Every type, in declaration order.
            pub const ALL: &'static [ScalarType] = &[$(ScalarType::$variant,)*];

            /// The name without its dot: `u32`.
            pub const fn name(self) -> &'static str {
                match self { $(ScalarType::$variant => $name,)* }
            }

            /// The size in bits (1 for `.pred`, 64 for opaque references).
            pub const fn bits(self) -> u32 {
                match self { $(ScalarType::$variant => $bits,)* }
            }

            /// How the bits are read.
            pub const fn class(self) -> TypeClass {
                match self { $(ScalarType::$variant => TypeClass::$class,)* }
            }

            /// The inverse of [`ScalarType::name`].
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(ScalarType::$variant),)* _ => None }
            }
        }
    };
}

scalar_types! {
    Pred "pred" 1 Pred,
    B1 "b1" 1 Bits,
    B8 "b8" 8 Bits,
    B16 "b16" 16 Bits,
    B32 "b32" 32 Bits,
    B64 "b64" 64 Bits,
    B128 "b128" 128 Bits,
    U2 "u2" 2 Unsigned,
    U4 "u4" 4 Unsigned,
    U8 "u8" 8 Unsigned,
    U16 "u16" 16 Unsigned,
    U32 "u32" 32 Unsigned,
    U64 "u64" 64 Unsigned,
    S2 "s2" 2 Signed,
    S4 "s4" 4 Signed,
    S8 "s8" 8 Signed,
    S16 "s16" 16 Signed,
    S32 "s32" 32 Signed,
    S64 "s64" 64 Signed,
    F16 "f16" 16 Float,
    BF16 "bf16" 16 Float,
    TF32 "tf32" 32 Float,
    F32 "f32" 32 Float,
    F64 "f64" 64 Float,
    E4M3 "e4m3" 8 Float,
    E5M2 "e5m2" 8 Float,
    E2M3 "e2m3" 6 Float,
    E3M2 "e3m2" 6 Float,
    E2M1 "e2m1" 4 Float,
    UE8M0 "ue8m0" 8 Float,
    UE4M3 "ue4m3" 8 Float,
    U16x2 "u16x2" 32 Packed,
    S16x2 "s16x2" 32 Packed,
    U8x4 "u8x4" 32 Packed,
    S8x4 "s8x4" 32 Packed,
    F16x2 "f16x2" 32 Packed,
    BF16x2 "bf16x2" 32 Packed,
    F32x2 "f32x2" 64 Packed,
    E4M3x2 "e4m3x2" 16 Packed,
    E5M2x2 "e5m2x2" 16 Packed,
    E2M3x2 "e2m3x2" 16 Packed,
    E3M2x2 "e3m2x2" 16 Packed,
    E2M1x2 "e2m1x2" 8 Packed,
    UE8M0x2 "ue8m0x2" 16 Packed,
    UE5M3x2 "ue5m3x2" 16 Packed,
    S2F6x2 "s2f6x2" 16 Packed,
    E4M3x4 "e4m3x4" 32 Packed,
    E5M2x4 "e5m2x4" 32 Packed,
    E2M3x4 "e2m3x4" 32 Packed,
    E3M2x4 "e3m2x4" 32 Packed,
    E2M1x4 "e2m1x4" 16 Packed,
    E2M1P4x4 "e2m1p4x4" 32 Packed,
    UE8M0x4 "ue8m0x4" 32 Packed,
    Texref "texref" 64 Opaque,
    Samplerref "samplerref" 64 Opaque,
    Surfref "surfref" 64 Opaque,
}

impl ScalarType {
    /// The bytes one value takes in memory; `None` for `.pred`, which has no memory form, and for formats packed below a byte.
    pub const fn bytes(self) -> Option<u32> {
        if self.bits().is_multiple_of(8) { Some(self.bits() / 8) } else { None }
    }

    /// The untyped type of the same size, `.b32` for `.f32`; `.pred` has none and stays.
    pub const fn untyped(self) -> ScalarType {
        match self.bits() {
            1 => ScalarType::Pred,
            0..=8 => ScalarType::B8,
            9..=16 => ScalarType::B16,
            17..=32 => ScalarType::B32,
            33..=64 => ScalarType::B64,
            _ => ScalarType::B128,
        }
    }

    /// True for `.fN` and the other float formats, not for packed ones.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), TypeClass::Float)
    }

    /// True for `.sN`.
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), TypeClass::Signed)
    }

    /// True for `.uN` and `.sN`.
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), TypeClass::Signed | TypeClass::Unsigned)
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
