//! What a compiled set of tables holds, before it becomes static data.

use crate::{Class, ReleaseRange, ScalarType, Target, Version};

/// Where something was written: an index into the files handed to the compiler, and a line from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    pub file: usize,
    pub line: u32,
}

/// An error in a table file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    pub at: Position,
    pub message: String,
}

/// Everything the table files say.
#[derive(Default, Debug)]
pub struct Tables {
    /// Groups of modifiers within which the order written is the meaning.
    pub kinds: Vec<Kind>,
    /// Modifiers that may be written twice.
    pub repeatable: Vec<String>,
    /// Modifiers that ptxas takes anywhere, without a meaning.
    pub overlooked: Vec<String>,
    pub families: Vec<Family>,
    pub forms: Vec<Form>,
    pub sregs: Vec<Sreg>,
    /// What a texture, sampler or surface named by a register needs.
    pub handle: Vec<Clause>,
    /// What a texture in a register beside a sampler needs.
    pub sampler: Vec<Clause>,
    pub directives: Vec<Directive>,
}

/// Modifiers distinguished by their order.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub modifiers: Vec<String>,
}

/// One instruction as the manual's chapters count them.
#[derive(Debug)]
pub struct Family {
    pub name: String,
    pub section: String,
    pub area: String,
    /// What its operations are called behind the opcode, where the opcode has forms in other families too: its own word, or the area's.
    pub word: String,
    pub class: Class,
}

/// A special register, one row per name.
#[derive(Debug)]
pub struct Sreg {
    pub name: String,
    pub lanes: u8,
    pub ty: ScalarType,
    /// Types of older versions in which it can still be read.
    pub also: Vec<ScalarType>,
    pub section: String,
    pub gates: Vec<Clause>,
}

/// A directive.
#[derive(Debug)]
pub struct Directive {
    pub name: String,
    pub section: String,
    pub gates: Vec<Clause>,
}

/// One line of a syntax block, with alternation groups multiplied out.
#[derive(Clone, Debug)]
pub struct Form {
    pub family: usize,
    pub opcodes: Vec<String>,
    pub slots: Vec<Slot>,
    pub operands: Vec<Operand>,
    pub gates: Vec<Clause>,
    pub behaviour: Behaviour,
    pub at: Position,
    pub syntax: String,
}

/// What an instruction does besides computing.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Behaviour {
    pub traits: Vec<String>,
    /// The modifiers that hold where none of their kind is written.
    pub defaults: Vec<String>,
}

/// A place for one modifier.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    pub name: String,
    pub optional: bool,
    /// True where only ptxas lets it be left out.
    pub expected: bool,
    pub alternatives: Vec<Alternative>,
}

/// One modifier that fits a slot.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    pub modifier: String,
    pub gates: Vec<Clause>,
}

/// A disjunction: one of the conditions must hold, if all the modifiers are there.
#[derive(Clone, PartialEq, Debug)]
pub struct Clause {
    pub any: Vec<Condition>,
    pub when: Vec<String>,
    /// True for what the manual asks and ptxas does not.
    pub advisory: bool,
    /// The releases of ptxas that ask for it.
    pub releases: Option<ReleaseRange>,
}

/// Versions from `since` to `until` (both included) on any of the targets (none listed: all).
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    pub since: Option<Version>,
    pub until: Option<Version>,
    pub targets: Vec<TargetRange>,
}

/// A set of targets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TargetRange {
    /// `80`: this one and everything later; `100f`: it and the later members of its family; `90a`: it alone.
    From(Target),
    /// `..62`: up to and including.
    UpTo(u16),
    /// `10..13`: both included.
    Between(u16, u16),
}

/// An operand as a form describes it.
#[derive(Clone, PartialEq, Debug)]
pub struct Operand {
    pub name: String,
    pub shape: Shape,
    pub presence: Presence,
    /// What it needs where it is written; for an optional second half of a pair, what that half needs.
    pub gates: Vec<Clause>,
}

/// When an operand is written.
#[derive(Clone, PartialEq, Debug)]
pub enum Presence {
    Always,
    Optional,
    /// Exactly when the modifier is, or the slot is filled.
    With(String),
}

/// What kind of thing an operand is.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    Value(Value),
    Address(Address),
    Pair {
        first: Box<Value>,
        second: Box<Value>,
        second_optional: bool,
    },
    Bracket(Vec<Operand>),
    /// `{a, b}` where each element has rules of its own.
    Tuple(Vec<Operand>),
    Label,
    Callee,
    Arguments,
    Results,
    List,
}

/// `[a]`
#[derive(Clone, PartialEq, Debug)]
pub struct Address {
    pub space: Space,
    /// The words written with `+`.
    pub flags: Vec<String>,
    /// What it must be a multiple of.
    pub align: u16,
}

/// A register or a constant, or a brace list of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    pub destination: bool,
    pub count: Count,
    pub ty: Ty,
    pub rule: Rule,
    /// The words written with `+` and `-`.
    pub flags: Vec<(bool, String)>,
    pub immediate_only: bool,
    /// Where a variable that denotes its address must live.
    pub space: Option<Space>,
    pub range: Option<Range>,
    /// What ptxas takes beyond the range.
    pub tolerated: Option<Range>,
}

/// How many elements stand in braces.
#[derive(Clone, PartialEq, Debug)]
pub enum Count {
    Scalar,
    Fixed(u16),
    /// One of these; 0 denotes a scalar.
    OneOf(Vec<u16>),
    /// The number in the modifier that fills the slot, times, divided and minus constants; no slot filled: a scalar.
    Slot {
        slot: String,
        times: u16,
        over: u16,
        minus: u16,
    },
    /// One thread's share of a matrix of the form's shape: that of a warp's 32 threads, divided by `over`.
    Fragment {
        extent: Extent,
        ty: Ty,
        over: u16,
    },
}

/// Which sides of the shape `.mMnNkK` a matrix has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    Mk,
    Kn,
    Mn,
}

/// Which type an operand has.
#[derive(Clone, PartialEq, Debug)]
pub enum Ty {
    /// The type slot of the form, when it has exactly one.
    Instruction,
    Fixed(ScalarType),
    /// The type in the slot, its width scaled by `2`, `1`, `1/2`, `1/4`... (as numerator and denominator).
    Slot {
        slot: String,
        times: u8,
        over: u8,
    },
}

/// Which register types may hold a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Rule {
    /// The rule of arithmetic operands.
    Matching,
    /// Tables 27 and 28 of the manual: wider registers too.
    Relaxed,
    /// As `Matching`, and integers for floats: what textures are read into and addressed by.
    Texel,
    /// `.bN` and the type itself only.
    Exact,
    /// These and no others; ptxas also takes those of the second list.
    Listed(Vec<ScalarType>, Vec<ScalarType>),
}

/// The state space of an address operand.
#[derive(Clone, PartialEq, Debug)]
pub enum Space {
    /// The modifier in the slot; not filled: generic.
    Slot(String),
    /// One of these spaces by name.
    Fixed(Vec<String>),
    /// No address but a texture, sampler or surface: of one of these types, or a 64-bit handle.
    Handle(Vec<ScalarType>),
    /// Tensor memory: a register of one of these types, or of any integer type of 32 bits where none is listed.
    Tensor(Vec<ScalarType>),
    /// A tensor map: ptxas takes a register of any type.
    TensorMap,
}

/// Which values an immediate may have.
#[derive(Clone, PartialEq, Debug)]
pub enum Range {
    Between {
        min: i64,
        max: i64,
        multiple: i64,
    },
    PowerOfTwo {
        min: i64,
        max: i64,
    },
    OneOf(Vec<i64>),
    /// At least as far apart as the rows or columns of a matrix of the form's shape.
    Stride(Extent),
    /// No less than the operand of this name.
    From(String),
    /// Above 0, at most 1.
    Fraction,
}
