//! Debug information: what a debugger knows about the source of a module. DWARF's model (DWARF 2, 3 to 5), without its encoding.
//!
//! - [`DebugInfo`], of a module: compile units, types, the subprograms of the source, global variables.
//! - [`FunctionDebug`], of a function: which subprogram it is, scopes, variables, and their bindings.
//! - [`LocData::scope`](crate::LocData) puts an instruction into a scope.
//! - [`DebugBuilder`] makes types and subprograms, in the manner of LLVM's `DIBuilder`.
//!
//! A [`Binding`] says where a variable is from one point of a block on. Bindings are records beside the instructions
//! ([`Layout::records`](crate::Layout::records)), never operands: a value that only a binding names may be removed, and the variable is
//! optimised out from there on. A module without debug information has none of this.

mod builder;
mod function;
mod own_source;
pub(crate) mod print;
mod records;
mod statistics;
mod types;

pub use builder::DebugBuilder;
pub use function::{Binding, DebugVariable, FunctionDebug, Piece, Scope, ScopeKind, Storage, VariableKind};
pub use own_source::{lacks_source, with_own_source};
pub(crate) use records::Records;
pub use statistics::DebugStatistics;
pub use types::{Composite, DebugType, Encoding, Enumerator, Member};

use crate::entities::{DebugTypeId, FileId, GlobalId, SubprogramId, UnitId};
use cranelift_entity::PrimaryMap;

/// A line of a source file, where something is declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Declared {
    /// The file.
    pub file: FileId,
    /// Counted from 1; 0 for what the compiler made.
    pub line: u32,
}

/// What was compiled at once: DWARF's compilation unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its main source file.
    pub file: FileId,
    /// The compiler, with its version.
    pub producer: String,
    /// The language, a number of `DW_LANG_*`: 0x8001 and above are free to use.
    pub language: u16,
    /// The folder that file names are relative to.
    pub directory: String,
}

/// A function of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subprogram {
    /// The name that users know.
    pub name: String,
    /// The symbol, where that is another name.
    pub linkage_name: Option<String>,
    /// The unit that it belongs to.
    pub unit: UnitId,
    /// Where it begins.
    pub declared: Declared,
    /// Its type, a [`DebugType::Function`]. `None`: nothing is known of it.
    pub ty: Option<DebugTypeId>,
}

/// A variable of the source that outlives functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlobalVariable {
    /// The name that users know.
    pub name: String,
    /// The memory that it is.
    pub global: GlobalId,
    /// Its type.
    pub ty: DebugTypeId,
    /// The unit that it belongs to.
    pub unit: UnitId,
    /// Where it is declared.
    pub declared: Declared,
}

/// The debug information that the functions of a module share.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DebugInfo {
    /// Compile units.
    pub units: PrimaryMap<UnitId, Unit>,
    /// Types. They may refer to each other in circles that go through a pointer or reference.
    pub types: PrimaryMap<DebugTypeId, DebugType>,
    /// Functions of the source, inlined ones included.
    pub subprograms: PrimaryMap<SubprogramId, Subprogram>,
    /// Variables that outlive functions.
    pub globals: Vec<GlobalVariable>,
}

impl DebugInfo {
    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
            && self.types.is_empty()
            && self.subprograms.is_empty()
            && self.globals.is_empty()
    }

    /// The bytes of a type; 0 where they are not known, `None` for a circle without a pointer or a type that does not exist.
    pub fn size_of(&self, ty: DebugTypeId) -> Option<u64> {
        let (mut ty, mut count) = (ty, 1u64);
        // A chain longer than all types is a circle.
        for _ in 0..=self.types.len() {
            match self.types.get(ty)? {
                DebugType::Base { size, .. } => return Some(count.saturating_mul(u64::from(*size))),
                DebugType::Pointer { .. } | DebugType::Reference { .. } => {
                    return Some(count.saturating_mul(8));
                }
                DebugType::Composite { size, .. } => return Some(count.saturating_mul(*size)),
                DebugType::Array { element, dimensions } => {
                    count = dimensions.iter().fold(count, |count, n| count.saturating_mul(*n));
                    ty = *element;
                }
                DebugType::Vector { element, lanes } => {
                    count = count.saturating_mul(u64::from(*lanes));
                    ty = *element;
                }
                DebugType::Enum { base, .. } => ty = *base,
                DebugType::Typedef { of, .. } | DebugType::Const(of) | DebugType::Volatile(of) => ty = *of,
                DebugType::Function { .. } => return Some(0),
            }
        }
        None
    }
}
