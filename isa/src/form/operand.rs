//! What a form says of its operands.

use super::{Accepts, OperandId, Reach, Rows, TypeSet};
use crate::gate::Clause;
use crate::{Mod, ScalarType};

/// An operand as a form describes it.
#[derive(Debug)]
pub struct OperandSpec {
    /// The name in the manual's syntax.
    pub name: &'static str,
    /// What it is.
    pub shape: Shape,
    /// When it is written.
    pub presence: Presence,
    /// What it needs where it is written; for an optional second half of a pair, what that half needs.
    pub gates: Rows<Clause>,
}

/// When an operand is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// Always.
    Always,
    /// Or not.
    Optional,
    /// Exactly when the modifier is.
    With(Mod),
    /// Exactly when the slot is filled.
    WithSlot(u8),
}

/// What kind of thing an operand is.
#[derive(Debug)]
pub enum Shape {
    /// A register or constant, or several in braces.
    Value(ValueSpec),
    /// `[a]`
    Address(AddressSpec),
    /// `d|p`
    Pair {
        /// `d`
        first: ValueSpec,
        /// `p`
        second: ValueSpec,
        /// True where `d` alone will do.
        second_optional: bool,
    },
    /// `[a, b]`: a texture with coordinates, a tensor map with coordinates.
    Bracket(Rows<OperandId>),
    /// `{a, b}` where each element has rules of its own.
    Tuple(Rows<OperandId>),
    /// A label of the function.
    Label,
    /// What a call calls: a function, or a register that holds one.
    Callee,
    /// The parenthesised arguments of a call.
    Arguments,
    /// The parenthesised results of a call.
    Results,
    /// The name of a `.branchtargets`, `.calltargets` or `.callprototype`.
    List,
}

/// A register or constant, or several in braces.
#[derive(Debug)]
pub struct ValueSpec {
    /// True for what the instruction writes.
    pub destination: bool,
    /// How many.
    pub count: CountRef,
    /// Of which type.
    pub ty: TypeRef,
    /// In which registers.
    pub rule: RegRule,
    /// What else may stand there.
    pub accepts: Accepts,
    /// Where a variable that denotes its address must live; `None` for anywhere.
    pub space: Option<SpaceRef>,
    /// Which immediates.
    pub range: Option<Range>,
    /// Which of the others ptxas takes all the same.
    pub tolerated: Option<Range>,
}

/// `[a]`
#[derive(Clone, Copy, Debug)]
pub struct AddressSpec {
    /// Where it points.
    pub space: SpaceRef,
    /// What may hold it.
    pub reach: Reach,
    /// What it must be a multiple of.
    pub align: u16,
}

impl OperandSpec {
    pub(super) fn usage(&self) -> String {
        let inner =
            |all: &Rows<OperandId>| all.iter().map(|spec| spec.usage()).collect::<Vec<_>>().join(", ");
        match &self.shape {
            Shape::Value(ValueSpec { count: CountRef::Scalar, .. }) => self.name.to_owned(),
            Shape::Value(_) => format!("{{{}..}}", self.name),
            Shape::Address(_) => format!("[{}]", self.name),
            Shape::Pair { second_optional: true, .. } => format!("{}{{|p}}", self.name),
            Shape::Pair { .. } => format!("{}|q", self.name),
            Shape::Bracket(all) => format!("[{}]", inner(all)),
            Shape::Tuple(all) => format!("{{{}}}", inner(all)),
            Shape::Arguments | Shape::Results => format!("({})", self.name),
            Shape::Label | Shape::Callee | Shape::List => self.name.to_owned(),
        }
    }
}

/// How many elements an operand has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountRef {
    /// One, without braces.
    Scalar,
    /// So many in braces.
    Fixed(u16),
    /// One of these numbers; 0 denotes a scalar.
    OneOf(Rows<u16>),
    /// The number in the modifier of a slot, times, divided and minus constants; a scalar when the slot is empty.
    Slot {
        /// The slot.
        slot: u8,
        /// The factor.
        times: u16,
        /// The divisor.
        over: u16,
        /// What is taken off.
        minus: u16,
    },
    /// One thread's share of a matrix, which a warp of 32 threads holds, in registers of 32 bits (64 for wider elements).
    Fragment {
        /// The slot of the shape.
        shape: u8,
        /// The sides of the matrix.
        extent: Extent,
        /// The elements.
        ty: TypeRef,
        /// A divisor: 2 for the kept half of a sparse matrix, 4 for a warpgroup.
        over: u16,
    },
}

/// Which sides of the shape `.mMnNkK` a matrix has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// M x K: the matrix A.
    Mk,
    /// K x N: the matrix B.
    Kn,
    /// M x N: the matrices C and D.
    Mn,
}

impl Extent {
    /// The number of elements for a shape of sides M, N and K.
    pub fn elements(self, [m, n, k]: [u16; 3]) -> u32 {
        let (rows, columns) = match self {
            Extent::Mk => (m, k),
            Extent::Kn => (k, n),
            Extent::Mn => (m, n),
        };
        u32::from(rows) * u32::from(columns)
    }

    /// How many elements one row has, or in a layout by columns one column.
    pub fn line(self, [m, n, k]: [u16; 3], by_columns: bool) -> u16 {
        match (self, by_columns) {
            (Extent::Mk, false) | (Extent::Kn, true) => k,
            (Extent::Kn | Extent::Mn, false) => n,
            (Extent::Mk | Extent::Mn, true) => m,
        }
    }
}

/// Of which type an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeRef {
    /// Always this one.
    Fixed(ScalarType),
    /// The one in a slot, of a width times and divided by constants.
    Slot {
        /// The slot.
        slot: u8,
        /// The factor.
        times: u8,
        /// The divisor.
        over: u8,
    },
}

/// Which register types may hold a value of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegRule {
    /// Same size, and a compatible class.
    Matching,
    /// Same size and a compatible class, `.f16x2` registers excepted: for operands whose type the instruction fixes.
    Plain,
    /// Wider registers too (manual tables 27 and 28).
    Relaxed,
    /// The type itself and `.bN`.
    Exact,
    /// As `Matching`, and integers for floats: what textures are read into and addressed by.
    Texel,
    /// These and no others.
    Listed {
        /// What the manual has.
        types: TypeSet,
        /// What ptxas takes besides.
        tolerated: TypeSet,
    },
}

/// The state space of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceRef {
    /// The modifier in the slot; an empty slot means generic.
    Slot(u8),
    /// One of these modifiers; none means generic.
    Fixed(Rows<Mod>),
    /// No address but a texture, sampler or surface: of one of these types, or a 64-bit handle.
    Handle(TypeSet),
    /// Tensor memory: an address in a register of one of these types; none: of any integer type of 32 bits.
    Tensor(TypeSet),
    /// A tensor map, whose address a register of any type may hold.
    TensorMap,
}

/// Which values an immediate may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// From `min` to `max`, a multiple of `multiple`.
    Between {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// 1 where any will do.
        multiple: i64,
    },
    /// A power of two.
    PowerOfTwo {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// One of these.
    OneOf(Rows<i64>),
    /// At least the default distance of the rows (or columns) of a matrix of the form's shape and layout; ptxas does not look.
    Stride(Extent),
    /// No less than the operand of this index, as numbers without sign.
    From(u8),
    /// Above 0 and at most 1, as `.f32`.
    Fraction,
}

impl Range {
    /// True for a value it allows.
    pub fn contains(self, value: i64) -> bool {
        match self {
            Range::Between { min, max, multiple } => (min..=max).contains(&value) && value % multiple == 0,
            Range::PowerOfTwo { min, max } => {
                (min..=max).contains(&value) && (value as u64).is_power_of_two()
            }
            Range::OneOf(values) => values.contains(&value),
            // Only a shape gives it bounds.
            Range::Stride(_) | Range::From(_) | Range::Fraction => true,
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Range::Between { min, max, multiple: 1 } => write!(f, "{min} to {max}"),
            Range::Between { min, max, multiple } => write!(f, "{min} to {max} in steps of {multiple}"),
            Range::PowerOfTwo { min, max } => write!(f, "a power of two from {min} to {max}"),
            Range::Stride(_) => f.write_str("the distance of two rows or columns"),
            Range::From(operand) => write!(f, "no less than operand {}", operand + 1),
            Range::Fraction => f.write_str("above 0, at most 1"),
            Range::OneOf(values) => {
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
        }
    }
}
