//! The types of values.

use crate::entities::AggregateId;
use cranelift_entity::EntityRef;
use std::fmt;
use std::num::NonZeroU32;
use warpsmith_isa::{ScalarType, StateSpace};

macro_rules! scalars {
    ($($variant:ident $konst:ident $name:literal $bits:literal $class:ident $space:ident $isa:ident,)*) => {
        /// The type of a value that is not a vector, and of a vector's elements.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Scalar {
            Invalid,
            $($variant,)*
            /// An integer of a width that has no variant of its own: `i7`, `i24`, `i96`.
            Odd(OddWidth),
        }

        /// Every scalar: name, bits, class, the space if it is a pointer, the register type PTX holds it in.
        const SCALARS: &[(&str, u16, Class, StateSpace, ScalarType)] = &[
            ("invalid", 0, Class::None, StateSpace::Reg, ScalarType::B32),
            $(($name, $bits, Class::$class, StateSpace::$space, ScalarType::$isa),)*
        ];

        impl Scalar {
            /// Every scalar that has a name of its own: [`Scalar::Invalid`] and integers of odd widths left out.
            pub const ALL: &'static [Scalar] = &[$(Scalar::$variant,)*];

            #[inline]
            const fn row(self) -> &'static (&'static str, u16, Class, StateSpace, ScalarType) {
                match self {
                    Scalar::Odd(width) => &ODD[width.0 as usize],
                    named => &SCALARS[named.code() as usize],
                }
            }

            /// A number that no other scalar has: the position in the table, and numbers behind it for odd widths.
            #[inline]
            const fn code(self) -> u8 {
                #[repr(u8)]
                enum Row { Invalid, $($variant,)* }
                match self {
                    Scalar::Invalid => Row::Invalid as u8,
                    $(Scalar::$variant => Row::$variant as u8,)*
                    Scalar::Odd(width) => 128 + width.0,
                }
            }
        }

        #[allow(missing_docs)]
        impl Type { $(pub const $konst: Type = Type::scalar(Scalar::$variant);)* }
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    None,
    Int,
    Float,
    Ptr,
}

scalars! {
    I1 I1 "i1" 1 Int Reg Pred,
    I8 I8 "i8" 8 Int Reg B8,
    I16 I16 "i16" 16 Int Reg B16,
    I32 I32 "i32" 32 Int Reg B32,
    I64 I64 "i64" 64 Int Reg B64,
    I128 I128 "i128" 128 Int Reg B128,
    F16 F16 "f16" 16 Float Reg F16,
    BF16 BF16 "bf16" 16 Float Reg BF16,
    TF32 TF32 "tf32" 32 Float Reg TF32,
    F32 F32 "f32" 32 Float Reg F32,
    F64 F64 "f64" 64 Float Reg F64,
    E4M3 E4M3 "e4m3" 8 Float Reg E4M3,
    E5M2 E5M2 "e5m2" 8 Float Reg E5M2,
    E2M3 E2M3 "e2m3" 6 Float Reg E2M3,
    E3M2 E3M2 "e3m2" 6 Float Reg E3M2,
    E2M1 E2M1 "e2m1" 4 Float Reg E2M1,
    UE8M0 UE8M0 "ue8m0" 8 Float Reg UE8M0,
    Ptr PTR "ptr" 64 Ptr Generic B64,
    PtrGlobal PTR_GLOBAL "ptr<global>" 64 Ptr Global B64,
    PtrShared PTR_SHARED "ptr<shared>" 64 Ptr Shared B64,
    PtrLocal PTR_LOCAL "ptr<local>" 64 Ptr Local B64,
    PtrConst PTR_CONST "ptr<const>" 64 Ptr Const B64,
    PtrParam PTR_PARAM "ptr<param>" 64 Ptr Param B64,
}

impl Scalar {
    /// The inverse of `Display`.
    pub fn from_name(name: &str) -> Option<Scalar> {
        if let Some(bits) = name.strip_prefix('i')
            && !bits.starts_with(['0', '+'])
            && let Ok(bits) = bits.parse()
        {
            return Scalar::int(bits);
        }
        Scalar::ALL.iter().copied().find(|scalar| scalar.row().0 == name)
    }

    /// The integer of so many bits, 1 to 128.
    pub const fn int(bits: u32) -> Option<Scalar> {
        Some(match bits {
            1 => Scalar::I1,
            8 => Scalar::I8,
            16 => Scalar::I16,
            32 => Scalar::I32,
            64 => Scalar::I64,
            128 => Scalar::I128,
            2..128 => Scalar::Odd(OddWidth(bits as u8)),
            _ => return None,
        })
    }

    /// What a float is made of: bits of precision, the exponents of the least and of the greatest number, and whether it has
    /// NaNs.
    const fn float_parts(self) -> Option<(u32, i32, i32, bool)> {
        Some(match self {
            Scalar::F64 => (53, -1074, 1023, true),
            Scalar::F32 => (24, -149, 127, true),
            Scalar::TF32 => (11, -136, 127, true),
            Scalar::BF16 => (8, -133, 127, true),
            Scalar::F16 => (11, -24, 15, true),
            Scalar::E5M2 => (3, -16, 15, true),
            Scalar::E4M3 => (4, -9, 8, true),
            Scalar::E3M2 => (3, -4, 4, false),
            Scalar::E2M3 => (4, -3, 2, false),
            Scalar::E2M1 => (2, -1, 2, false),
            Scalar::UE8M0 => (1, -127, 127, true),
            Scalar::Invalid
            | Scalar::I1
            | Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::I128
            | Scalar::Odd(_)
            | Scalar::Ptr
            | Scalar::PtrGlobal
            | Scalar::PtrShared
            | Scalar::PtrLocal
            | Scalar::PtrConst
            | Scalar::PtrParam => return None,
        })
    }

    /// True if this float format has every value of another one: `fpext` to it is exact.
    pub const fn holds(self, other: Scalar) -> bool {
        let (Some(wide), Some(narrow)) = (self.float_parts(), other.float_parts()) else { return false };
        let as_wide = wide.0 >= narrow.0 && wide.1 <= narrow.1 && wide.2 >= narrow.2 && (wide.3 || !narrow.3);
        as_wide && (wide.0 != narrow.0 || wide.1 != narrow.1 || wide.2 != narrow.2)
    }

    /// True for the formats that are computed in by way of `f32`: `tf32`, and those of 8, 6 and 4 bits.
    pub const fn is_narrow_float(self) -> bool {
        matches!(
            self,
            Scalar::TF32
                | Scalar::E4M3
                | Scalar::E5M2
                | Scalar::E2M3
                | Scalar::E3M2
                | Scalar::E2M1
                | Scalar::UE8M0
        )
    }

    /// The type of a PTX register or memory cell with the same bits and, for floats, the same meaning; of an integer of an odd width, the
    /// smallest that holds it.
    pub const fn isa(self) -> ScalarType {
        self.row().4
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Scalar::Odd(width) = self {
            return write!(f, "i{}", width.0);
        }
        f.write_str(self.row().0)
    }
}

/// The width of an integer that has no variant of [`Scalar`] of its own: 2 to 127, but 8, 16, 32 and 64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OddWidth(u8);

/// The rows of the odd widths. What is written of them is their number.
static ODD: [(&str, u16, Class, StateSpace, ScalarType); 128] = {
    let mut rows = [("", 0, Class::Int, StateSpace::Reg, ScalarType::B8); 128];
    let mut bits = 0;
    while bits < 128 {
        rows[bits].1 = bits as u16;
        rows[bits].4 = match bits {
            0..=8 => ScalarType::B8,
            9..=16 => ScalarType::B16,
            17..=32 => ScalarType::B32,
            33..=64 => ScalarType::B64,
            _ => ScalarType::B128,
        };
        bits += 1;
    }
    rows
};

/// What is looked up of a scalar by its [code](Scalar::code).
#[derive(Clone, Copy)]
struct Entry {
    scalar: Scalar,
    bits: u8,
    class: Class,
    space: StateSpace,
}

static BY_CODE: [Entry; 256] = {
    let invalid = Entry { scalar: Scalar::Invalid, bits: 0, class: Class::None, space: StateSpace::Reg };
    let mut entries = [invalid; 256];
    let mut code = 1;
    while code < 256 {
        let scalar = match code {
            1.. if code <= Scalar::ALL.len() => Scalar::ALL[code - 1],
            128.. => Scalar::Odd(OddWidth(code as u8 - 128)),
            _ => Scalar::Invalid,
        };
        let (_, bits, class, space, _) = *scalar.row();
        entries[code] = Entry { scalar, bits: bits as u8, class, space };
        code += 1;
    }
    entries
};

/// The type of a value: a [`Scalar`], a vector of 2 to 64 of them, or a struct or array of the module's
/// [`TypeTable`](crate::TypeTable).
///
/// It is two words, since types are compared and looked up everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// The [code](Scalar::code) of the element, and in the lower byte the number of lanes, which is never 0.
    shape: NonZeroU32,
    /// The number of an aggregate plus one; 0 for other types. The element of an aggregate is [`Scalar::Invalid`].
    aggregate: u32,
}

impl Type {
    /// No type: what a value has between its first use and its definition while text is read.
    pub const INVALID: Type = Type::scalar(Scalar::Invalid);

    /// The type of one element.
    pub const fn scalar(element: Scalar) -> Type {
        Type::of(element, NonZeroU32::MIN, 0)
    }

    const fn of(element: Scalar, lanes: NonZeroU32, aggregate: u32) -> Type {
        Type { shape: lanes.saturating_add((element.code() as u32) << 8), aggregate }
    }

    #[inline]
    const fn entry(self) -> &'static Entry {
        &BY_CODE[(self.shape.get() >> 8) as u8 as usize]
    }

    /// The most elements of a vector.
    pub const MAX_LANES: u32 = 64;

    /// A vector type. `None` for elements that are integers of odd widths, and for other than 2 to 64 lanes.
    pub const fn vector(element: Scalar, lanes: u32) -> Option<Type> {
        if matches!(element, Scalar::Invalid | Scalar::Odd(_)) || lanes < 2 || lanes > Type::MAX_LANES {
            return None;
        }
        match NonZeroU32::new(lanes) {
            Some(lanes) => Some(Type::of(element, lanes, 0)),
            None => None,
        }
    }

    /// The type with as many lanes as this one, and another element. `None` if there is no such vector.
    pub const fn with_element(self, element: Scalar) -> Option<Type> {
        if self.is_vector() { Type::vector(element, self.lanes()) } else { Some(Type::scalar(element)) }
    }

    /// A struct or array of the module that made the number.
    pub fn aggregate(id: AggregateId) -> Type {
        Type::of(Scalar::Invalid, NonZeroU32::MIN, id.as_u32() + 1)
    }

    /// The number of a struct or array in the module's [`TypeTable`](crate::TypeTable).
    pub fn as_aggregate(self) -> Option<AggregateId> {
        let index = self.aggregate.checked_sub(1)?;
        Some(AggregateId::new(index as usize))
    }

    /// True for structs and arrays.
    #[inline]
    pub const fn is_aggregate(self) -> bool {
        self.aggregate != 0
    }

    /// The pointer to a state space. `None` for spaces that hold no addressable memory.
    pub const fn ptr(space: StateSpace) -> Option<Type> {
        Some(match space {
            StateSpace::Generic => Type::PTR,
            StateSpace::Global => Type::PTR_GLOBAL,
            StateSpace::Shared => Type::PTR_SHARED,
            StateSpace::Local => Type::PTR_LOCAL,
            StateSpace::Const => Type::PTR_CONST,
            StateSpace::Param => Type::PTR_PARAM,
            StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => return None,
        })
    }

    /// The integer of so many bits, 1 to 128.
    pub const fn int(bits: u32) -> Option<Type> {
        match Scalar::int(bits) {
            Some(scalar) => Some(Type::scalar(scalar)),
            None => None,
        }
    }

    /// The type with this name: `i32`, `f16x2`, `ptr<shared>`.
    pub fn from_name(name: &str) -> Option<Type> {
        if let Some(scalar) = Scalar::from_name(name) {
            return Some(Type::scalar(scalar));
        }
        let (element, lanes) = name.rsplit_once('x')?;
        if lanes.starts_with(['0', '+']) {
            return None;
        }
        Type::vector(Scalar::from_name(element)?, lanes.parse().ok()?)
    }

    /// A number that no other type has, for hashing and comparing.
    #[inline]
    pub const fn number(self) -> u64 {
        (self.aggregate as u64) << 16 | self.shape.get() as u64
    }

    /// The scalar, or the scalar of each element.
    #[inline]
    pub const fn element(self) -> Scalar {
        self.entry().scalar
    }

    /// The scalar as a type.
    #[inline]
    pub const fn element_type(self) -> Type {
        Type::scalar(self.element())
    }

    /// The number of elements, 1 for what is not a vector.
    #[inline]
    pub const fn lanes(self) -> u32 {
        self.shape.get() & 0xff
    }

    /// True for vectors.
    #[inline]
    pub const fn is_vector(self) -> bool {
        self.lanes() > 1
    }

    /// True for `i1` to `i128`.
    #[inline]
    pub const fn is_int(self) -> bool {
        !self.is_vector() && matches!(self.entry().class, Class::Int)
    }

    /// True for every scalar float format.
    #[inline]
    pub const fn is_float(self) -> bool {
        !self.is_vector() && matches!(self.entry().class, Class::Float)
    }

    /// True for pointers.
    #[inline]
    pub const fn is_ptr(self) -> bool {
        !self.is_vector() && matches!(self.entry().class, Class::Ptr)
    }

    /// True for integers other than `i1 i8 i16 i32 i64 i128`.
    #[inline]
    pub const fn is_odd(self) -> bool {
        matches!(self.element(), Scalar::Odd(_))
    }

    /// True for [`Type::INVALID`].
    #[inline]
    pub const fn is_invalid(self) -> bool {
        self.number() == Type::INVALID.number()
    }

    /// The space a pointer points into.
    #[inline]
    pub const fn space(self) -> Option<StateSpace> {
        if self.is_ptr() { Some(self.entry().space) } else { None }
    }

    /// The bits of a value; 0 for a struct or array, whose size the module's [`TypeTable`](crate::TypeTable) knows.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.entry().bits as u32 * self.lanes()
    }

    /// The bytes a scalar or vector takes in memory: those that its bits begin. `i1` takes one, a vector of `i1` one for each eight. `None` for
    /// structs and arrays, and for floats of a fraction of a byte, which memory holds as vectors of whole bytes only.
    pub const fn bytes(self) -> Option<u32> {
        let bits = self.bits();
        let int = matches!(self.entry().class, Class::Int);
        if bits > 0 && (int || bits.is_multiple_of(8)) { Some(bits.div_ceil(8)) } else { None }
    }

    /// Brings an integer constant into the one form that denotes its bits: sign-extended from the width, 0 or 1 for `i1`. Of a wider type
    /// than 64 bits, the constants held so are those that sign extension reaches.
    #[inline]
    pub const fn normalize(self, value: i64) -> i64 {
        match self.bits() {
            0 | 64.. => value,
            1 => value & 1,
            bits => value << (64 - bits) >> (64 - bits),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.as_aggregate() {
            return fmt::Display::fmt(&id, f);
        }
        self.element().fmt(f)?;
        if self.is_vector() { write!(f, "x{}", self.lanes()) } else { Ok(()) }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_what_they_are_made_of() {
        for scalar in Scalar::ALL.iter().copied().chain((1..=128).filter_map(Scalar::int)) {
            let (_, bits, class, space, _) = *scalar.row();
            let ty = Type::scalar(scalar);
            assert_eq!((ty.element(), ty.lanes(), ty.bits()), (scalar, 1, bits.into()));
            assert_eq!((ty.is_int(), ty.is_float()), (class == Class::Int, class == Class::Float));
            assert_eq!(ty.space(), (class == Class::Ptr).then_some(space));
            if let Some(vector) = Type::vector(scalar, 64) {
                assert_eq!(
                    (vector.element(), vector.lanes(), vector.bits()),
                    (scalar, 64, 64 * u32::from(bits))
                );
                assert!(!vector.is_int() && !vector.is_float() && !vector.is_ptr());
            }
        }
        assert!(Type::INVALID.is_invalid() && !Type::aggregate(AggregateId::new(0)).is_invalid());
        assert_eq!(Type::aggregate(AggregateId::new(7)).as_aggregate(), Some(AggregateId::new(7)));
        assert_eq!(size_of::<Option<Type>>(), 8);
    }

    #[test]
    fn names_round_trip() {
        for &scalar in Scalar::ALL {
            for ty in [Some(Type::scalar(scalar)), Type::vector(scalar, 2), Type::vector(scalar, 32)]
                .into_iter()
                .flatten()
            {
                assert_eq!(Type::from_name(&ty.to_string()), Some(ty));
            }
        }
        for bits in 1..=128 {
            let ty = Type::int(bits).expect("a width from 1 to 128");
            assert_eq!((ty.bits(), Type::from_name(&format!("i{bits}"))), (bits, Some(ty)));
        }
        for wrong in [
            "", "i0", "i07", "i129", "x4", "f32x", "f32x1", "f32x65", "f32x04", "f32x+4", "i7x4", "invalid",
            "f32x4x4",
        ] {
            assert_eq!(Type::from_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_wider_float_holds_every_value_of_a_narrower_one() {
        use Scalar::*;
        assert!(
            F32.holds(TF32) && TF32.holds(BF16) && TF32.holds(F16) && F16.holds(E5M2) && E4M3.holds(E2M3)
        );
        assert!(E5M2.holds(E3M2) && E3M2.holds(E2M1) && E2M3.holds(E2M1));
        for (wide, narrow) in
            [(F16, BF16), (BF16, F16), (TF32, F32), (E5M2, E4M3), (E4M3, E5M2), (E3M2, E2M3)]
        {
            assert!(!wide.holds(narrow), "{wide} {narrow}");
        }
        assert!([TF32, BF16, F32, F64].iter().all(|wide| wide.holds(UE8M0)) && !F16.holds(UE8M0));
        assert!(Scalar::ALL.iter().all(|scalar| !scalar.holds(*scalar) && !UE8M0.holds(*scalar)));
    }

    #[test]
    fn constants_have_one_form() {
        assert_eq!(Type::I8.normalize(255), -1);
        assert_eq!(Type::I1.normalize(-1), 1);
        assert_eq!(Type::I32.normalize(0x8000_0000), -0x8000_0000);
        assert_eq!(Type::I64.normalize(-5), -5);
    }
}
