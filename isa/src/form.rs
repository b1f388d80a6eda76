//! The static data that the tables compile to.

use crate::gate::Clause;
use crate::tables::{FORMS, OPERATION_ALL, OPERATION_INFO};
use crate::{Class, Mod, Opcode, Operation, ScalarType, Traits};

/// One line of the manual's syntax blocks: an opcode, places for modifiers, operands, and what they need.
#[derive(Debug)]
pub struct Form {
    pub(crate) id: FormId,
    /// The opcode.
    pub opcode: Opcode,
    /// What it means: the opcode in the form's family.
    pub operation: Operation,
    /// Places for modifiers, in the order of the manual.
    pub slots: &'static [Slot],
    /// The operands in order.
    pub operands: &'static [OperandSpec],
    /// What the form needs, whatever its modifiers.
    pub gates: &'static [Clause],
    /// What the instruction does besides computing.
    pub traits: Traits,
    /// The modifiers that hold where none of their kind is written: `.relaxed` and `.gpu` of `atom`.
    pub defaults: &'static [Mod],
    pub(crate) family: u16,
    /// The form as the tables write it.
    pub syntax: &'static str,
}

/// The number of a form: its place in [`FORMS`](crate::FORMS).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormId(pub(crate) u16);

impl FormId {
    /// The form.
    pub fn form(self) -> &'static Form {
        &FORMS[usize::from(self.0)]
    }

    /// The place in [`FORMS`](crate::FORMS).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl std::fmt::Debug for FormId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "form{}", self.0)
    }
}

impl Operation {
    /// Every operation, in the order of the tables.
    pub fn all() -> impl ExactSizeIterator<Item = Operation> + Clone {
        OPERATION_ALL.iter().copied()
    }

    /// The opcode.
    pub fn opcode(self) -> Opcode {
        OPERATION_INFO[self as usize].0
    }

    /// The family.
    pub fn family(self) -> &'static Family {
        &crate::FAMILIES[usize::from(OPERATION_INFO[self as usize].1)]
    }

    /// The name: `AddInteger`.
    pub fn name(self) -> &'static str {
        OPERATION_INFO[self as usize].2
    }

    /// Its forms.
    pub fn forms(self) -> impl Iterator<Item = &'static Form> {
        self.opcode().forms().iter().filter(move |form| form.operation == self)
    }
}

impl Form {
    /// Its number.
    pub fn id(&self) -> FormId {
        self.id
    }

    /// The family the form belongs to.
    pub fn family(&self) -> &'static Family {
        &crate::FAMILIES[self.family as usize]
    }

    /// The manual's section.
    pub fn section(&self) -> &'static str {
        self.family().section
    }

    /// The form as a message shows it: `add {.rnd} {.ftz} .f32 d, a, b`.
    pub fn usage(&self) -> String {
        let mut text = self.opcode.text().to_owned();
        for slot in self.slots {
            let choices: Vec<String> = slot.alternatives.iter().map(|a| a.modifier.to_string()).collect();
            let shown = if choices.len() <= 4 { choices.join("|") } else { format!(".{}", slot.name) };
            text += &if slot.optional { format!(" {{{shown}}}") } else { format!(" {shown}") };
        }
        for (index, operand) in self.operands.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            text += &match operand.presence {
                Presence::Always if index == 0 => format!(" {}", operand.usage()),
                Presence::Always => format!("{comma}{}", operand.usage()),
                _ => format!(" {{{comma}{}}}", operand.usage()),
            };
        }
        text
    }
}

impl OperandSpec {
    fn usage(&self) -> String {
        let inner = |all: &[OperandSpec]| all.iter().map(OperandSpec::usage).collect::<Vec<_>>().join(", ");
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

/// An instruction as the manual's chapters count them: `add` for integers is one, `add` for floats another.
#[derive(Debug)]
pub struct Family {
    /// The name: `cp.async.bulk`.
    pub name: &'static str,
    /// The manual's section: `9.7.1.1`.
    pub section: &'static str,
    /// The chapter's topic: `integer arithmetic`.
    pub area: &'static str,
    /// The class that a profile counts it in.
    pub class: Class,
}

/// A place for one modifier.
#[derive(Debug)]
pub struct Slot {
    /// What the tables call it: `rnd`; for a place with a single modifier, that modifier.
    pub name: &'static str,
    /// False for a modifier that must be written.
    pub optional: bool,
    /// True where only ptxas lets it be left out, not the manual.
    pub expected: bool,
    /// What may be written.
    pub alternatives: &'static [Alternative],
}

impl Slot {
    /// The alternative that is this modifier.
    pub fn find(&self, modifier: Mod) -> Option<&'static Alternative> {
        self.alternatives.iter().find(|a| a.modifier == modifier)
    }
}

/// One modifier that fits a slot, and what it needs.
#[derive(Debug)]
pub struct Alternative {
    /// The modifier.
    pub modifier: Mod,
    /// What it needs.
    pub gates: &'static [Clause],
}

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
    pub gates: &'static [Clause],
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
    Bracket(&'static [OperandSpec]),
    /// `{a, b}` where each element has rules of its own.
    Tuple(&'static [OperandSpec]),
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
    /// Where a variable that stands for its address must live; `None` for anywhere.
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

/// How many elements an operand has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CountRef {
    /// One, without braces.
    Scalar,
    /// So many in braces.
    Fixed(u16),
    /// One of these numbers; 0 stands for a scalar.
    OneOf(&'static [u16]),
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

/// What may stand for a value besides a plain register.
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
    /// The name of a variable, standing for its address.
    pub const VARIABLE: Accepts = Accepts(1 << 4);
    /// The name of a function, standing for its address.
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
    /// A vector that ptxas takes for a scalar; it looks at no element.
    pub const LOOSE_VECTOR: Accepts = Accepts(1 << 19);
    /// Of all things that are not registers ptxas only sees integers.
    pub const SLOPPY: Accepts = Accepts(1 << 20);
    /// Constants in braces have the type of their company.
    pub const INFERRED: Accepts = Accepts(1 << 23);
    /// A constant that is no element of a vector.
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

/// The state space of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceRef {
    /// The modifier in the slot; an empty slot means generic.
    Slot(u8),
    /// One of these modifiers; none means generic.
    Fixed(&'static [Mod]),
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
    OneOf(&'static [i64]),
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
