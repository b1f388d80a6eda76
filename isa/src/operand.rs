//! Operands as validation sees them: what the text or the IR has in a place, with names already resolved.

use crate::{ScalarType, SpecialReg, StateSpace};

/// What stands in an operand's place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand<'a> {
    /// A register, or one component of a vector register.
    Reg(ScalarType),
    /// A whole vector register: element type and number of elements.
    VectorReg(ScalarType, u8),
    /// An integer constant, wrapped to 64 bits.
    Int(i64),
    /// A float constant, and its value.
    Float(FloatKind, f64),
    /// A special register or one component of it (`%tid.x` has one lane, `%tid` four).
    Special {
        /// The register.
        reg: SpecialReg,
        /// 1 for a scalar or component, 4 for a whole vector.
        lanes: u8,
    },
    /// A special register of one element with a constant added: `%laneid+4`.
    SpecialPlus(SpecialReg),
    /// The name of a variable, denoting its address, possibly with a constant added.
    Var(Variable),
    /// The name of a variable plus a constant: `x+4`.
    VarPlus(Variable),
    /// An element of a variable, `x[4]` or `x[%r1]`: both an address and the value of one.
    Element(Variable),
    /// A register with a constant added, outside of an address: `%r1+4`.
    RegPlus(ScalarType),
    /// The name of a function.
    Func,
    /// The name of a function plus a constant: `f+4`.
    FuncPlus,
    /// A label.
    Label,
    /// The name of a `.branchtargets`, `.calltargets` or `.callprototype`.
    List,
    /// `_`
    Sink,
    /// `{a, b}`
    Vector(&'a [Operand<'a>]),
    /// `d|p`
    Pair(&'a [Operand<'a>; 2]),
    /// `!p`
    Not(&'a Operand<'a>),
    /// `-a`
    Neg(&'a Operand<'a>),
    /// `a.b0`, `a.h1`, `a.h10`, `a.b3210`: the operand and what follows its dot.
    Select(&'a Operand<'a>, &'a str),
    /// `[base+offset]`
    Address(Base),
    /// `[a, b, ...]`: the elements, the first of them an [`Operand::Address`].
    Bracket(&'a [Operand<'a>]),
    /// `(a, b)` of a call, which only the function's signature can validate.
    Arguments,
    /// Something that was already reported: fits everywhere.
    Unknown,
}

/// How a float constant was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatKind {
    /// `0f3F800000`
    Bits32,
    /// `0d3FF0000000000000`
    Bits64,
    /// `1.5`
    Decimal,
}

/// A variable, as far as instructions care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Where it lives.
    pub space: StateSpace,
    /// The type of its elements.
    pub ty: ScalarType,
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// A register of this type.
    Reg(ScalarType),
    /// A variable.
    Var(Variable),
    /// A constant.
    Int,
    /// A special register.
    Special(SpecialReg),
    /// A function.
    Func,
    /// Something that was already reported: fits everywhere.
    Unknown,
}

impl Operand<'_> {
    /// What it is, for a message: "a `.f32` register".
    pub fn describe(&self) -> String {
        match self {
            Operand::Reg(ty) => format!("a `.{ty}` register"),
            Operand::VectorReg(ty, n) => format!("a `.v{n} .{ty}` register"),
            Operand::Int(value) => format!("the integer {value}"),
            Operand::Float(FloatKind::Bits32, _) => "a `0f` constant".into(),
            Operand::Float(FloatKind::Bits64, _) => "a `0d` constant".into(),
            Operand::Float(FloatKind::Decimal, _) => "a decimal float constant".into(),
            Operand::Special { reg, lanes: 1 } if reg.lanes() > 1 => format!("a component of `{reg}`"),
            Operand::Special { reg, .. } => format!("the special register `{reg}`"),
            Operand::SpecialPlus(reg) => format!("the special register `{reg}` plus a constant"),
            Operand::Var(v) => format!("a `.{}` variable", v.space),
            Operand::VarPlus(v) => format!("a `.{}` variable plus a constant", v.space),
            Operand::Element(v) => format!("an element of a `.{}` variable", v.space),
            Operand::RegPlus(ty) => format!("a `.{ty}` register plus a constant"),
            Operand::Func => "a function".into(),
            Operand::FuncPlus => "a function plus a constant".into(),
            Operand::Label => "a label".into(),
            Operand::List => "a list of targets".into(),
            Operand::Sink => "the sink `_`".into(),
            Operand::Vector(elements) => format!("a vector of {}", elements.len()),
            Operand::Pair(_) => "a pair `a|b`".into(),
            Operand::Not(inner) => format!("the complement of {}", inner.describe()),
            Operand::Neg(inner) => format!("the negation of {}", inner.describe()),
            Operand::Select(inner, part) => format!("part `.{part}` of {}", inner.describe()),
            Operand::Address(Base::Reg(ty)) => format!("an address in a `.{ty}` register"),
            Operand::Address(Base::Var(v)) => format!("the address of a `.{}` variable", v.space),
            Operand::Address(Base::Int) => "an address that is a constant".into(),
            Operand::Address(Base::Special(reg)) => format!("an address in `{reg}`"),
            Operand::Address(Base::Func) => "the address of a function".into(),
            Operand::Address(Base::Unknown) => "an address".into(),
            Operand::Bracket(inner) => format!("a bracket of {}", inner.len()),
            Operand::Arguments => "an argument list".into(),
            Operand::Unknown => "an unknown name".into(),
        }
    }
}
