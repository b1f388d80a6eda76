//! Debug information: `.file` and `.loc`, and DWARF in `.section`s (PTX ISA 9.0, 11.5; PTX interoperability guide, chapter 5).
//!
//! - `lines`: the `.loc` of each instruction, with the chain of functions that it was inlined through.
//! - [`describe`]: what the writing of a body notes for this, and what is made of it.
//! - [`ranges`]: from where to where a variable is in which register or memory, by data flow over the written body.
//! - [`dwarf`]: the entries of `.debug_info` and its companions, through `gimli`'s writer: DWARF 2, whose forms are those that ptxas walks.
//! - `lists`: lists of places that end alike, written once.
//! - [`section`]: bytes and references as the lines of a `.section`.

pub(crate) mod describe;
pub(crate) mod dwarf;
pub(crate) mod lines;
mod lists;
pub(crate) mod ranges;
mod section;

use smallvec::SmallVec;
use warpsmith_ir as ir;
use warpsmith_ptx::Symbol;

/// How much debug information is emitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Debug {
    /// Nothing.
    #[default]
    None,
    /// Source lines and inlined functions: `.file` and `.loc`. The code stays what it is, and ptxas optimises it.
    Lines,
    /// Also types, scopes and variables, in DWARF. The module says `.target .., debug`, which makes ptxas optimise nothing.
    Full,
}

/// What is known of a function when its body is written.
pub(crate) struct Described {
    pub id: ir::FuncId,
    /// Labels in front of its first instruction and behind its last one.
    pub begin: Symbol,
    pub end: Symbol,
    /// The labels of each scope with instructions.
    pub scopes: Vec<(ir::ScopeId, Symbol, Symbol)>,
    /// Where variables are.
    pub locations: Vec<Located>,
}

/// Where a variable, or a piece of it, is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Located {
    pub variable: ir::DebugVar,
    /// The labels between which it is there; `None`: wherever it can be named.
    pub range: Option<(Symbol, Symbol)>,
    pub place: Place,
}

/// A place that DWARF can name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    /// Registers by their numbers, the low part first, with the bytes that each holds.
    Registers(SmallVec<[(u64, u32); 2]>),
    /// Behind the address in a register.
    Memory(u64, i32),
    /// In memory with a name, of a class (`DW_AT_address_class` of the guide's table 5).
    Symbol(Symbol, i32, Class),
    /// A constant.
    Constant(i64),
    /// Parts at several places, some nowhere, with their bytes.
    Pieces(Vec<(Option<Place>, u32)>),
}

/// Address classes: the state spaces, as debuggers count them (PTX interoperability guide, 5.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub(crate) enum Class {
    Register = 2,
    Const = 4,
    Global = 5,
    Local = 6,
    Param = 7,
    Shared = 8,
    Generic = 12,
}

impl Class {
    #[expect(clippy::wildcard_enum_match_arm, reason = "no variable is in the other spaces")]
    pub(crate) fn of(space: warpsmith_isa::StateSpace) -> Class {
        use warpsmith_isa::StateSpace;
        match space {
            StateSpace::Const => Class::Const,
            StateSpace::Global => Class::Global,
            StateSpace::Local => Class::Local,
            StateSpace::Param => Class::Param,
            StateSpace::Shared => Class::Shared,
            _ => Class::Generic,
        }
    }
}

impl Place {
    /// True if some of it is in the memory of the thread.
    pub(crate) fn on_stack(&self) -> bool {
        match self {
            Place::Symbol(_, _, class) => *class == Class::Local,
            Place::Pieces(pieces) => pieces.iter().flat_map(|(place, _)| place).any(Place::on_stack),
            Place::Registers(_) | Place::Memory(..) | Place::Constant(_) => false,
        }
    }

    pub(crate) fn class(&self) -> Class {
        match self {
            Place::Registers(_) | Place::Constant(_) | Place::Pieces(_) => Class::Register,
            // The pointers of the IR to a space are addresses in that space; the type of the pointer is not at hand here, and a debugger
            // reads memory behind a register as generic.
            Place::Memory(..) => Class::Generic,
            Place::Symbol(_, _, class) => *class,
        }
    }
}
