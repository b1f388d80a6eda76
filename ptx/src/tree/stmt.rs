//! Statements of a body, and their operands.

use super::{Const, Decl, Declarator, Directive, Id, List, MnemonicId, Symbol};
use std::num::NonZeroU32;

/// A statement of a body.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stmt {
    /// `{` begins a scope.
    Open,
    /// `}` ends it.
    Close,
    /// Registers, variables or parameters.
    Decl(Id<Decl>),
    /// `name:`
    Label(Symbol),
    /// An instruction.
    Inst(Inst),
    /// `.loc file line column {, function_name .. , inlined_at ..}`
    Loc(Loc),
    /// `.loc_intermediate file line column`: the place in an intermediate language
    LocIntermediate(Place),
    /// `.pragma "..";`
    Pragma(List<Symbol>),
    /// `name: .branchtargets L1, L2;`
    BranchTargets {
        /// The name of the list.
        name: Symbol,
        /// The labels.
        targets: List<Declarator>,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        /// The name of the list.
        name: Symbol,
        /// The functions.
        targets: List<Declarator>,
    },
    /// `name: .callprototype (..) _ (..);`
    CallPrototype(Id<Prototype>),
    /// A `.target` inside a body, which ptxas lets pass.
    Target(List<Symbol>),
}

/// `.callprototype` (manual 11.3.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prototype {
    /// The name of the prototype.
    pub name: Symbol,
    /// Return parameters.
    pub returns: List<Decl>,
    /// Parameters.
    pub params: List<Decl>,
    /// `.noreturn`, `.abi_preserve`, `.abi_preserve_control`.
    pub directives: List<Directive>,
}

/// `.loc` (manual 11.5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loc {
    /// Where.
    pub at: Place,
    /// Where it was inlined, if it was.
    pub inlined: Option<Id<Inlined>>,
}

/// A position in a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// A `.file` index.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The tail of a [`Loc`] of an inlined function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// A label of `.debug_str`, or the section.
    pub function_name: Symbol,
    /// Bytes to add.
    pub offset: u64,
    /// The place of the call.
    pub at: Place,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// `@p` or `@!p`
    pub guard: Option<Guard>,
    /// What it does.
    pub mnemonic: MnemonicId,
    /// On what.
    pub operands: List<Operand>,
}

/// `@p` or `@!p`
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guard(NonZeroU32);

impl Guard {
    /// Executes where `predicate` is true, or false if `negated`.
    pub fn new(predicate: Symbol, negated: bool) -> Self {
        let packed = (predicate.index() as u32) << 1 | negated as u32;
        // A table of 2^31 names would not fit a text whose offsets fit 32 bits.
        Guard(NonZeroU32::MIN.saturating_add(packed))
    }

    /// The predicate.
    pub fn predicate(self) -> Symbol {
        Symbol::from_index(((self.0.get() - 1) >> 1) as usize)
    }

    /// True for `@!p`.
    pub fn negated(self) -> bool {
        (self.0.get() - 1) & 1 == 1
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "@{}{:?}", if self.negated() { "!" } else { "" }, self.predicate())
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A register, variable, label, function or special register; [`Symbol::SINK`] discards.
    Name(Symbol),
    /// A constant.
    Const(Const),
    /// `%v.x`, `%tid.y`, `%r1.b0`, `%r2.h10`
    Component {
        /// What is selected from.
        name: Symbol,
        /// The selector without its dot.
        selector: Symbol,
    },
    /// `name+4` outside of brackets.
    Offset {
        /// A register or a variable.
        name: Symbol,
        /// Bytes to add.
        offset: i64,
    },
    /// `[name]`: a register or a variable. Not the same as `[name+0]`, which ptxas turns into an addition when it compiles for debugging.
    AddressName(Symbol),
    /// `[name+4]`
    Address {
        /// A register or a variable.
        name: Symbol,
        /// Bytes to add.
        offset: i64,
    },
    /// `[64]`
    AddressConst(u64),
    /// `[name, {x, y}]`, `[name, sampler, {x, y}]`, `[%v.x]`: whatever else stands in brackets.
    Bracket(List<Operand>),
    /// `name[index]`: the list is the name, then the index (a name, a constant or an [`Operand::Offset`]).
    Index(List<Operand>),
    /// `{a, b}`
    Vector(List<Operand>),
    /// `(a, b)` of a call.
    Group(List<Operand>),
    /// `a|b`
    Pair(List<Operand>),
    /// `!p`
    Not(Id<Operand>),
    /// `-a`
    Neg(Id<Operand>),
    /// `[a].unified`
    Unified(Id<Operand>),
}

impl Operand {
    /// `[name]` or `[name+offset]`, the shorter where the offset is zero.
    #[must_use]
    pub fn address(name: Symbol, offset: i64) -> Operand {
        if offset == 0 { Operand::AddressName(name) } else { Operand::Address { name, offset } }
    }
}
