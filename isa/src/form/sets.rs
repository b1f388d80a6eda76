//! Sets in which the tables say what may stand in a place.

use crate::ScalarType;

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

/// What may denote a value besides a plain register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accepts(pub(crate) u32);

impl Accepts {
    /// A register.
    pub const REGISTER: Accepts = Accepts(1);
    /// A constant.
    pub const IMMEDIATE: Accepts = Accepts(1 << 1);
    /// The sink `_`.
    pub const SINK: Accepts = Accepts(1 << 2);
    /// A special register.
    pub const SPECIAL: Accepts = Accepts(1 << 3);
    /// The name of a variable, denoting its address.
    pub const VARIABLE: Accepts = Accepts(1 << 4);
    /// The name of a function, denoting its address.
    pub const FUNCTION: Accepts = Accepts(1 << 5);
    /// `-a`
    pub const NEGATED: Accepts = Accepts(1 << 6);
    /// One part of a register, `a.b0` to `a.b3`, `a.h0`, `a.h1`.
    pub const SELECTED: Accepts = Accepts(1 << 7);
    /// Two halves chosen from two registers: `a.h32`.
    pub const LANES2: Accepts = Accepts(1 << 11);
    /// A mask of halves: `d.h10`.
    pub const MASK2: Accepts = Accepts(1 << 12);
    /// Four bytes chosen from two registers: `a.b7531`.
    pub const LANES4: Accepts = Accepts(1 << 13);
    /// A mask of bytes: `d.b3210`.
    pub const MASK4: Accepts = Accepts(1 << 14);
    /// `!p`
    pub const COMPLEMENTED: Accepts = Accepts(1 << 8);
    /// A constant whatever the type says of constants.
    pub const ANY_IMMEDIATE: Accepts = Accepts(1 << 9);
    /// A constant is converted to the type before its range is looked at.
    pub const WRAPPED: Accepts = Accepts(1 << 15);
    /// A scalar in braces.
    pub const BRACED: Accepts = Accepts(1 << 16);
    /// A scalar in braces, as the list of one that goes with lists of more; nvcc writes `suld` so.
    pub const LIST_OF_ONE: Accepts = Accepts(1 << 28);
    /// Braces around a scalar of a type that has no registers of its own.
    pub const BRACED_BF16: Accepts = Accepts(1 << 30);
    /// A vector that ptxas takes for a scalar; it looks at no element.
    pub const LOOSE_VECTOR: Accepts = Accepts(1 << 19);
    /// Of all things that are not registers ptxas only sees integers.
    pub const SLOPPY: Accepts = Accepts(1 << 20);
    /// Constants in braces have the type of their company.
    pub const INFERRED: Accepts = Accepts(1 << 23);
    /// A constant that is not an element of a vector.
    pub const LONE_CONSTANT: Accepts = Accepts(1 << 24);
    /// Special registers among the elements of a vector.
    pub const SPECIAL_ELEMENT: Accepts = Accepts(1 << 25);
    /// A register plus a constant.
    pub const SUM: Accepts = Accepts(1 << 26);
    /// A scalar that ptxas takes for a vector.
    pub const LONE: Accepts = Accepts(1 << 21);
    /// A vector only as a list of its elements.
    pub const SPELT: Accepts = Accepts(1 << 22);
    /// Integer constants as the only elements of the braces.
    pub const CONSTANTS_ALONE: Accepts = Accepts(1 << 17);
    /// Braces whose first element is an integer index, whatever the type of the others.
    pub const ARRAY: Accepts = Accepts(1 << 18);
    /// A destination that is read before it is written: an accumulator.
    pub const IN_OUT: Accepts = Accepts(1 << 27);
    /// Braces whose length a modifier names: to ptxas integers in them are bits, and hold floats too.
    pub const COUNTED: Accepts = Accepts(1 << 29);
    /// `_` as an element of the braces.
    pub const SINK_ELEMENT: Accepts = Accepts(1 << 10);

    /// The members of both.
    pub const fn with(self, other: Accepts) -> Accepts {
        Accepts(self.0 | other.0)
    }

    /// True when every member of `other` is a member.
    pub const fn contains(self, other: Accepts) -> bool {
        self.0 & other.0 == other.0
    }
}

/// How an address may be written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reach(pub(crate) u16);

impl Reach {
    /// Without brackets too.
    pub const BARE: Reach = Reach(1);
    /// Where it is generic or global, only in 64 bits.
    pub const WIDE: Reach = Reach(1 << 1);
    /// In no less than 32 bits.
    pub const WORD: Reach = Reach(1 << 2);
    /// As `x[4]`, too.
    pub const INDEX: Reach = Reach(1 << 3);
    /// In no less than 32 bits where it is generic or global.
    pub const FAR: Reach = Reach(1 << 5);
    /// In a special register only of 32 bits.
    pub const STILL: Reach = Reach(1 << 6);
    /// Where it is generic, by the name of a variable only in shared memory.
    pub const CTA: Reach = Reach(1 << 7);
    /// Not by the name of a variable.
    pub const REGISTER: Reach = Reach(1 << 8);
    /// ptxas does not look at what holds it.
    pub const ANY: Reach = Reach(1 << 4);

    /// True when every member of `other` is a member.
    pub const fn contains(self, other: Reach) -> bool {
        self.0 & other.0 == other.0
    }
}
