//! The DWARF of a module: which variables of the source there are, of which types, and where they live (PTX interoperability guide, 5).
//!
//! Addresses are places in the text: a label of code is where the next instruction is written, and a variable is its name. What is wrong or
//! not understood is a warning, and the rest is used: a module's DWARF may come from anyone.

mod assemble;
mod place;
mod places;
mod read;
#[cfg(test)]
mod tests;

pub use place::Place;
pub use places::{FunctionPlaces, Lines, Places, VariablePlaces};

use assemble::Sections;
use gimli::LittleEndian;
use read::Reader;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock, Weak};
use warpsmith_isa::StateSpace;
use warpsmith_ptx::Module;

/// Types nest no deeper than this; what is further in has no type.
const MOST_DEPTH: u32 = 64;

/// A section is read no more often than this.
const MOST_READINGS: usize = 64;

/// A type of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A number: bytes, and `DW_ATE_*`.
    Base(Arc<str>, u64, u8),
    /// An address in a space; `None` for `void`, and for a type that is being described.
    Pointer(StateSpace, Option<Box<Type>>),
    /// The address of a value that stands for the value.
    Reference(StateSpace, Box<Type>),
    /// A structure or union.
    Composite(Arc<Composite>),
    /// The structure or union that this is a part of, behind a pointer: a list's next element.
    Around(Around),
    /// Elements one after the other.
    Array(Box<Type>, u64),
    /// Names for numbers of so many bytes.
    Enum(Arc<str>, u64, Arc<[(String, i64)]>),
    /// Nothing is known of it.
    Unknown,
}

/// The lowest bit of a bit field and its width.
pub type Bits = (u32, u32);

/// A structure or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composite {
    /// Its name, with `struct` or `union`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// They are known when all are read, and their types may be made of this one.
    members: OnceLock<Vec<Member>>,
}

/// A member's name, type, offset in bytes, and the bits of a bit field.
pub type Member = (String, Type, u64, Option<Bits>);

impl Composite {
    /// Its members, in their order.
    pub fn members(&self) -> &[Member] {
        self.members.get().map_or(&[], Vec::as_slice)
    }
}

/// A structure or union that contains the pointer to it. The [`Dwarf`] keeps it.
#[derive(Clone, Debug)]
pub struct Around(Weak<Composite>);

impl Around {
    /// The structure or union, while its [`Dwarf`] is there.
    pub fn composite(&self) -> Option<Arc<Composite>> {
        self.0.upgrade()
    }
}

impl PartialEq for Around {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for Around {}

/// A variable of the source.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// A parameter of its function.
    pub parameter: bool,
    /// How many inlined calls lead from the function of the PTX to the one it is in.
    pub level: u32,
    /// The text in which it can be named; `None` for everywhere.
    pub scope: Option<Range<u64>>,
    /// The state space of its memory, where that is said (`DW_AT_address_class`).
    pub space: Option<StateSpace>,
    /// Where it is, in which part of the text; `None` for all of its scope.
    pub places: Vec<(Option<Range<u64>>, Place)>,
}

/// A function of the source that has code of its own.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its name in the PTX, where DWARF says it.
    pub linkage: Option<String>,
    /// The line that declares it, where DWARF says it.
    pub line: Option<u32>,
    /// Its text.
    pub text: Range<u64>,
}

/// A call whose function was inlined.
#[derive(Clone, Debug)]
pub struct Call {
    /// The text of the function that was inlined.
    pub text: Range<u64>,
    /// How many inlined calls lead there, this one counted.
    pub level: u32,
    /// What the source calls the function.
    pub function: Option<String>,
    /// Its name in the PTX, where DWARF says it.
    pub linkage: Option<String>,
    /// The place of the call: the number of `.file`, the line and the column, 0 if unknown.
    pub at: (u32, u32, u32),
}

/// What the DWARF of a module says.
#[derive(Default, Debug)]
pub struct Dwarf {
    /// Functions with code.
    pub functions: Vec<Function>,
    /// Variables, outer scopes before inner ones.
    pub variables: Vec<Variable>,
    /// Calls that were inlined, outer ones before inner ones.
    pub calls: Vec<Call>,
    /// What types are made of that point to what they are parts of.
    composites: Vec<Arc<Composite>>,
    /// Types by their names: numbers, enumerations, other names of types.
    named: FxHashMap<String, Type>,
    /// What was wrong.
    pub warnings: Vec<String>,
}

impl Dwarf {
    /// Reads what a module has.
    pub fn of(module: &Module) -> Dwarf {
        let sections = Sections::of(module);
        let mut dwarf = Dwarf::default();
        // Units may share abbreviations, and variables lists of places: a text that says so again and again must not take for ever.
        let mut left = sections.size().saturating_mul(MOST_READINGS).saturating_add(1 << 20);
        let info = gimli::DebugInfo::new(sections.get(".debug_info"), LittleEndian);
        let mut units = info.units();
        loop {
            match units.next() {
                Ok(Some(_)) if left == 0 => {
                    dwarf.warnings.push("what is read again and again is left out".into());
                    break;
                }
                Ok(Some(header)) => {
                    left = left.saturating_sub(sections.get(".debug_abbrev").len());
                    if let Err(error) = Reader::new(&sections, header, &mut dwarf, &mut left).unit() {
                        dwarf.warnings.push(format!("a unit of .debug_info: {error}"));
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    dwarf.warnings.push(format!(".debug_info: {error}"));
                    break;
                }
            }
        }
        dwarf
    }

    /// A type by its name; a structure, union or enumeration with or without the word in front.
    pub fn named(&self, name: &str) -> Option<Type> {
        let is = |known: &str| known == name || known.split_once(' ').is_some_and(|(_, alone)| alone == name);
        let composite = || self.composites.iter().find(|known| is(&known.name)).cloned().map(Type::Composite);
        let enumeration = || self.named.get(name.strip_prefix("enum ")?).filter(|ty| ty.is_enum()).cloned();
        self.named.get(name).cloned().or_else(composite).or_else(enumeration)
    }

    /// The enumeration that has a name for a number, and the number.
    pub fn enumerator(&self, name: &str) -> Option<(&Type, i64)> {
        self.named.values().find_map(|ty| {
            let Type::Enum(_, _, names) = ty else { return None };
            Some((ty, names.iter().find(|(known, _)| known == name)?.1))
        })
    }

    /// The variables that can be named at a place of the text by a function that so many inlined calls lead to, the innermost first, each
    /// name once.
    pub fn at(&self, text: u64, level: u32) -> Vec<&Variable> {
        let inside = |variable: &&Variable| variable.scope.as_ref().is_none_or(|scope| scope.contains(&text));
        // Where lines and variables disagree on what was inlined, all of them can be named.
        let agreed = self.variables.iter().filter(inside).any(|v| v.scope.is_some() && v.level == level)
            || self.calls.iter().any(|call| call.level == level && call.text.contains(&text));
        let visible = |variable: &&Variable| !agreed || variable.scope.is_none() || variable.level == level;
        let mut found: Vec<&Variable> = Vec::new();
        for variable in self.variables.iter().rev().filter(inside).filter(visible) {
            if !found.iter().any(|known| known.name == variable.name) {
                found.push(variable);
            }
        }
        found
    }
}

impl Variable {
    /// Where it is at a place of the text; `None`: it is optimised out there.
    pub fn place(&self, text: u64) -> Option<&Place> {
        let here = |range: &Option<Range<u64>>| range.as_ref().is_none_or(|range| range.contains(&text));
        self.places.iter().find(|(range, _)| here(range)).map(|(_, place)| place)
    }
}

impl Type {
    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        match self {
            Type::Base(_, size, _) | Type::Enum(_, size, _) => *size,
            Type::Pointer(..) | Type::Reference(..) => 8,
            Type::Composite(of) => of.size,
            Type::Around(of) => of.composite().map_or(0, |of| of.size),
            Type::Array(of, count) => of.bytes().saturating_mul(*count),
            Type::Unknown => 0,
        }
    }

    fn is_enum(&self) -> bool {
        matches!(self, Type::Enum(..))
    }

    /// Nothing is a part of itself, except in wrong DWARF.
    fn by_value(self) -> Type {
        match self {
            Type::Around(_) => Type::Unknown,
            Type::Base(..)
            | Type::Pointer(..)
            | Type::Reference(..)
            | Type::Composite(_)
            | Type::Array(..)
            | Type::Enum(..)
            | Type::Unknown => self,
        }
    }
}
