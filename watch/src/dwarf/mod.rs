//! The DWARF of a module: which variables of the source there are, of which types, and where they live (PTX interoperability guide, 5).
//!
//! Addresses are places in the text: a label of code is where the next instruction is written, and a variable is its name. What is wrong or
//! not understood is a warning, and the rest is used: a module's DWARF may come from anyone.

mod assemble;
pub(crate) mod declare;
mod place;
mod places;
mod read;
#[cfg(test)]
mod tests;
mod types;

pub use place::Place;
pub use places::{FunctionPlaces, Lines, Places, VariablePlaces};
pub use types::{Around, Binds, Bits, Case, Composite, Member, Part, Qualifier, Signature, Type, Variants};

use assemble::Sections;
use gimli::LittleEndian;
use read::Reader;
use std::ops::Range;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_isa::StateSpace;
use warpsmith_ptx::Module;

/// Types nest no deeper than this; what is further in has no type.
const MOST_DEPTH: u32 = 64;

/// A section is read no more often than this.
const MOST_READINGS: usize = 64;

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
    /// The type of what it gives; `None` for `void`.
    pub result: Option<Type>,
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
        Dwarf::read(&Sections::of(module))
    }

    fn read(sections: &Sections) -> Dwarf {
        let mut dwarf = Dwarf::default();
        // Units may share abbreviations, and variables lists of places: a text that says so again and again must not take forever.
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
                    let at = header.debug_info_offset().map_or(0, |offset| offset.0);
                    if let Err(error) = Reader::new(sections, header, &mut dwarf, &mut left).unit() {
                        dwarf.warnings.push(format!("the unit at .debug_info+{at:#x}: {error}"));
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

    /// A type by its name; a structure, union or enumeration with or without the word in front, and anything with or without the namespaces
    /// that it stands in.
    pub fn named(&self, name: &str) -> Option<Type> {
        let (word, alone) = match name.split_once(' ') {
            Some((word @ ("struct" | "class" | "union" | "enum"), alone)) => (word, alone.trim_start()),
            _ => ("", name),
        };
        let has_word = |known: &str| match word {
            "" => true,
            "class" => known == "struct",
            word => known == word,
        };
        let composite = |is: &dyn Fn(&str) -> bool| {
            let named = |known: &&Arc<Composite>| {
                known.name.split_once(' ').is_some_and(|(word, tag)| has_word(word) && is(tag))
            };
            self.composites.iter().find(named).cloned().map(Type::Composite)
        };
        let other = |ty: &&Type| word.is_empty() || word == "enum" && ty.is_enum();
        let inside = |known: &str| ends_name(known, alone);
        let of_namespace = || {
            let mut found: Vec<&String> = self
                .named
                .iter()
                .filter(|(known, ty)| inside(known) && other(ty))
                .map(|(known, _)| known)
                .collect();
            found.sort_unstable();
            self.named.get(*found.first()?)
        };
        let exact = self.named.get(alone).filter(other).cloned().or_else(|| composite(&|tag| tag == alone));
        exact.or_else(|| of_namespace().cloned()).or_else(|| composite(&inside))
    }

    /// What a function takes and gives.
    pub fn signature(&self, function: &Function) -> Signature {
        let own = |variable: &&Variable| {
            variable.parameter && variable.level == 0 && variable.scope.as_ref() == Some(&function.text)
        };
        let parameters = self.variables.iter().filter(own).map(|variable| variable.ty.clone());
        Signature { parameters: parameters.collect(), result: function.result.clone() }
    }

    /// The enumeration that has a name for a number, and the number. In front of the name may stand that of the enumeration (`Kind::Line`), with
    /// or without the namespaces around it.
    pub fn enumerator(&self, name: &str) -> Option<(&Type, i64)> {
        self.named.values().find_map(|ty| {
            let Type::Enum(of, _, names) = ty else { return None };
            let is = |known: &str| {
                known == name
                    || name
                        .strip_suffix(known)
                        .and_then(|of| of.strip_suffix("::"))
                        .is_some_and(|around| ends_name(of, around))
                    || name.contains("::") && ends_name(known, name)
            };
            Some((ty, names.iter().find(|(known, _)| is(known))?.1))
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
    /// True of its name, with or without the namespaces around it.
    pub fn is_called(&self, name: &str) -> bool {
        ends_name(&self.name, name)
    }

    /// Where it is at a place of the text; `None`: it is optimised out there.
    pub fn place(&self, text: u64) -> Option<&Place> {
        let here = |range: &Option<Range<u64>>| range.as_ref().is_none_or(|range| range.contains(&text));
        self.places.iter().find(|(range, _)| here(range)).map(|(_, place)| place)
    }
}

/// True of a name, and of its end behind the namespaces around it.
fn ends_name(whole: &str, end: &str) -> bool {
    whole.strip_suffix(end).is_some_and(|around| around.is_empty() || around.ends_with("::"))
}
