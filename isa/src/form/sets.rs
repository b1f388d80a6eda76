//! Sets in which the tables say what may stand in a place.

use crate::ScalarType;
use bitflags::bitflags;

/// A set of register types.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSet(u64);

impl TypeSet {
    /// No type.
    pub const EMPTY: TypeSet = TypeSet(0);

    /// The set of these types.
    pub const fn of(types: &[ScalarType]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u8;
            i += 1;
        }
        TypeSet(bits)
    }

    /// The set of all types that the predicate accepts.
    pub fn filter(accept: impl Fn(ScalarType) -> bool) -> Self {
        TypeSet(ScalarType::ALL.iter().filter(|&&t| accept(t)).fold(0, |bits, &t| bits | 1 << t as u8))
    }

    /// With a type.
    pub(crate) const fn with(self, ty: ScalarType) -> Self {
        TypeSet(self.0 | 1 << ty as u8)
    }

    /// But for a type.
    pub(crate) const fn without(self, ty: ScalarType) -> Self {
        TypeSet(self.0 & !(1 << ty as u8))
    }

    /// True for a member.
    pub const fn contains(self, ty: ScalarType) -> bool {
        self.0 >> ty as u8 & 1 == 1
    }

    /// The members, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = ScalarType> {
        ScalarType::ALL.iter().copied().filter(move |&t| self.contains(t))
    }
}

impl std::fmt::Debug for TypeSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

bitflags! {
    /// What is accepted for a value besides a plain register.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Accepts: u32 {
        /// A register.
        const REGISTER = 1;
        /// A constant.
        const IMMEDIATE = 1 << 1;
        /// The sink `_`.
        const SINK = 1 << 2;
        /// A special register.
        const SPECIAL = 1 << 3;
        /// The name of a variable, denoting its address.
        const VARIABLE = 1 << 4;
        /// The name of a function, denoting its address.
        const FUNCTION = 1 << 5;
        /// `-a`
        const NEGATED = 1 << 6;
        /// One part of a register, `a.b0` to `a.b3`, `a.h0`, `a.h1`.
        const SELECTED = 1 << 7;
        /// Two halves chosen from two registers: `a.h32`.
        const LANES2 = 1 << 11;
        /// A mask of halves: `d.h10`.
        const MASK2 = 1 << 12;
        /// Four bytes chosen from two registers: `a.b7531`.
        const LANES4 = 1 << 13;
        /// A mask of bytes: `d.b3210`.
        const MASK4 = 1 << 14;
        /// `!p`
        const COMPLEMENTED = 1 << 8;
        /// A constant whatever the type says of constants.
        const ANY_IMMEDIATE = 1 << 9;
        /// A constant is converted to the type before its range is looked at.
        const WRAPPED = 1 << 15;
        /// A scalar in braces.
        const BRACED = 1 << 16;
        /// A scalar in braces, as the list of one that goes with lists of more; nvcc writes `suld` so.
        const LIST_OF_ONE = 1 << 28;
        /// Braces around a scalar of a type that has no registers of its own.
        const BRACED_BF16 = 1 << 30;
        /// A vector that ptxas takes for a scalar; it looks at no element.
        const LOOSE_VECTOR = 1 << 19;
        /// Of all things that are not registers ptxas only sees integers.
        const SLOPPY = 1 << 20;
        /// Constants in braces have the type of their company.
        const INFERRED = 1 << 23;
        /// A constant that is not an element of a vector.
        const LONE_CONSTANT = 1 << 24;
        /// Special registers among the elements of a vector.
        const SPECIAL_ELEMENT = 1 << 25;
        /// A register plus a constant.
        const SUM = 1 << 26;
        /// A scalar that ptxas takes for a vector.
        const LONE = 1 << 21;
        /// A vector only as a list of its elements.
        const SPELT = 1 << 22;
        /// Integer constants as the only elements of the braces.
        const CONSTANTS_ALONE = 1 << 17;
        /// Braces whose first element is an integer index, whatever the type of the others.
        const ARRAY = 1 << 18;
        /// A destination that is read before it is written: an accumulator.
        const IN_OUT = 1 << 27;
        /// Braces whose length a modifier names: to ptxas integers in them are bits, and hold floats too.
        const COUNTED = 1 << 29;
        /// `_` as an element of the braces.
        const SINK_ELEMENT = 1 << 10;
    }
}

bitflags! {
    /// How an address may be written.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Reach: u16 {
        /// Without brackets too.
        const BARE = 1;
        /// Where it is generic or global, only in 64 bits.
        const WIDE = 1 << 1;
        /// In no less than 32 bits.
        const WORD = 1 << 2;
        /// As `x[4]`, too.
        const INDEX = 1 << 3;
        /// In no less than 32 bits where it is generic or global.
        const FAR = 1 << 5;
        /// In a special register only of 32 bits.
        const STILL = 1 << 6;
        /// Where it is generic, by the name of a variable only in shared memory.
        const CTA = 1 << 7;
        /// Not by the name of a variable.
        const REGISTER = 1 << 8;
        /// ptxas does not look at what holds it.
        const ANY = 1 << 4;
    }
}
