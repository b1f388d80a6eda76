//! Rewrite rules as data: `lower/rules/*.rules`, compiled to [`RULES`] by the build script.
//!
//! The files are the algebra, [`matching`] lays them over instructions, [`engine`] picks one and builds, [`known`] and [`demanded`] say what conditions ask of values, and
//! `lower/tests/proof.rs` executes every rule at every type it matches. The language is described in `docs/lowering.md`.

pub mod demanded;
pub mod engine;
pub mod fast;
pub(crate) mod index;
pub mod known;
#[allow(
    dead_code,
    missing_docs,
    reason = "the build script's; here for tests, which make rules of their own"
)]
pub mod language;
pub mod matching;
mod words;

use engine::Facts;
use matching::Match;
use warpsmith_ir::{FastMath, FloatCC, IntCC, Opcode, Type};

/// A rule: where the pattern matches and the conditions hold, the replacement computes the same.
#[derive(Debug)]
pub struct Rule {
    /// The name, unique among the rules; `name/word` for each choice of a family.
    pub name: &'static str,
    /// The file it stands in.
    pub file: &'static str,
    /// The line.
    pub line: u32,
    /// The rule as written.
    pub text: &'static str,
    /// The operation that the pattern is of.
    pub root: Opcode,
    /// What is matched.
    pub pattern: Term,
    /// What it becomes.
    pub replacement: Term,
    /// What must hold besides.
    pub conditions: &'static [Term],
    /// The conditions as code, where they have that; none of a rule that no file has.
    pub tests: &'static [Option<Test>],
}

/// A condition as code. There is no answer where what it compares are not integers of one type of up to 64 bits.
pub type Test = fn(&Match<'_>, &mut Facts<'_>) -> Option<bool>;

/// A term of a rule. Values and types are numbered.
#[derive(Clone, Copy, Debug)]
pub enum Term {
    /// A value.
    Value(u8, Option<Kind>),
    /// A value that is a constant.
    Constant(u8, Option<Kind>),
    /// An integer of the type that its place asks for.
    Int(i64),
    /// A float of the type that its place asks for.
    Float(f64),
    /// An operation. In conditions and on constants it is computed, not made.
    Op(&'static Operation),
    /// What is known of a value.
    Fact(Fact, u8),
}

/// An operation in a rule.
#[derive(Debug)]
pub struct Operation {
    /// Which one.
    pub op: Opcode,
    /// How it compares.
    pub condition: Condition,
    /// What it must be allowed beyond its meaning.
    pub flags: FastMath,
    /// Its operands.
    pub args: &'static [Term],
    /// The type of its result, where it is written.
    pub ty: Option<Kind>,
    /// The number of the value that it is.
    pub bound: Option<u8>,
}

/// How an operation compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Condition {
    None,
    Int(IntCC),
    Float(FloatCC),
}

/// A type in a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A numbered one, the same wherever the number stands.
    Variable(u8),
    /// This one.
    Fixed(Type),
}

/// What conditions ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// The width of the value's type, an `i32`.
    Bits,
    /// The number of its type whose only bit is the sign.
    SignBit,
    /// The bits of it that are known to be 0.
    Zeros,
    /// The bits of it that are known to be 1.
    Ones,
    /// True if it has one use.
    Once,
    /// False if it is of 32 bits and promised not to wrap, as the result is: addresses are made of such sums term by term.
    Wraps,
    /// False if the result is of 32 bits and promised not to wrap, and the value is not: what is made of both would have lost the promise.
    Keeps,
    /// True if it is a division by what is promised or known not to be 0.
    Divides,
    /// Which power of two the constant is, an `i32`; without an answer for others, so that a rule that asks does not apply.
    Log2,
    /// True if it is a power of two whose reciprocal is a normal float.
    Reciprocal,
    /// The bits of the result that a user reads.
    Demanded,
}

impl Rule {
    /// The conditions, each with its code.
    fn tests(&self) -> impl Iterator<Item = (&'static Term, Option<Test>)> + use<> {
        let tests = self.tests;
        self.conditions.iter().enumerate().map(|(n, term)| (term, tests.get(n).copied().flatten()))
    }

    /// True if the replacement is the same in the demanded bits only.
    pub fn is_of_demanded_bits(&self) -> bool {
        self.conditions.iter().any(|term| term.any(&|term| matches!(term, Term::Fact(Fact::Demanded, _))))
    }

    /// The flags that its operations need.
    pub fn flags(&self) -> FastMath {
        let mut flags = FastMath::NONE;
        self.pattern.walk(&mut |term| {
            if let Term::Op(operation) = term {
                flags |= operation.flags;
            }
        });
        flags
    }
}

impl Term {
    /// Calls `visit` on the term and what it is made of.
    pub fn walk(&self, visit: &mut impl FnMut(&Term)) {
        visit(self);
        if let Term::Op(operation) = self {
            operation.args.iter().for_each(|arg| arg.walk(visit));
        }
    }

    /// True if that holds for the term or something it is made of.
    pub fn any(&self, holds: &dyn Fn(&Term) -> bool) -> bool {
        holds(self) || matches!(self, Term::Op(operation) if operation.args.iter().any(|arg| arg.any(holds)))
    }

    /// True for what has a value at compile time.
    pub fn is_constant(&self) -> bool {
        match self {
            Term::Value(..) => false,
            Term::Constant(..) | Term::Int(_) | Term::Float(_) | Term::Fact(..) => true,
            Term::Op(operation) => operation.args.iter().all(Term::is_constant),
        }
    }
}

/// What is looked at first of a rule: where the operations of the operands are others, it is not tried.
#[derive(Clone, Copy, Debug)]
struct Entry {
    root: Opcode,
    /// How it compares, plus one; 0 for what does not compare.
    compared: u8,
    rule: u16,
    /// What the operands are, a byte each: an operation's number and one, or [`CONSTANT`]; in the last byte how it compares, or its first
    /// operand does.
    heads: u32,
    /// The bytes that count.
    mask: u32,
    /// What else must be so of the operands: bits of [`needs`].
    needs: u32,
}

/// What patterns need of the operands of an instruction, as bits.
mod needs {
    /// Two of the first three operands are the same value, or both constants.
    pub const fn same(a: usize, b: usize) -> u32 {
        1 << (a + b - 1)
    }

    /// An operand is the number 0, 1 or -1 of its type.
    pub const fn literal(place: usize, number: i64) -> u32 {
        1 << (4 + 3 * place as i64 + number)
    }

    /// An operand is an `i1`.
    pub const fn bool(place: usize) -> u32 {
        1 << (12 + place)
    }

    /// An operand has one use.
    pub const fn once(place: usize) -> u32 {
        1 << (15 + place)
    }
}

/// An operand that is a constant, in [`Entry::heads`].
const CONSTANT: u32 = 255;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
