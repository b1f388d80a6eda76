//! Debug information of one function: scopes, variables, and what variables are bound to.

use super::Declared;
use crate::entities::{BindingId, DebugTypeId, DebugVar, GlobalId, ScopeId, StackSlot, SubprogramId, Value};
use crate::function::LocData;
use cranelift_entity::{EntityRef, PrimaryMap};

/// A stretch of the source with names of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// The scope around it; `None` for the function itself.
    pub parent: Option<ScopeId>,
    /// Where it begins; for an inlined function, the place of the call in the scope around it.
    pub at: LocData,
}

/// What a scope is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScopeKind {
    /// The function itself: scope 0.
    Function,
    /// A block in the sense of C.
    Block,
    /// The body of another function that was inlined.
    Inlined(SubprogramId),
}

/// What a variable is to its scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VariableKind {
    /// A parameter, by its number, from 1.
    Parameter(u32),
    /// Any other.
    Local,
}

/// A variable of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DebugVariable {
    /// Its name.
    pub name: String,
    /// Parameter or local.
    pub kind: VariableKind,
    /// Its type.
    pub ty: DebugTypeId,
    /// Where it can be named.
    pub scope: ScopeId,
    /// Where it is declared.
    pub declared: Declared,
}

/// A part of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Piece {
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// Where a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    /// It is the value.
    Value(Value),
    /// In memory, so many bytes behind where the value points.
    Memory(Value, i32),
    /// In a stack slot, so many bytes from its start.
    Slot(StackSlot, i32),
    /// In a global, so many bytes from its start.
    Global(GlobalId, i32),
    /// It is a constant: its bits.
    Constant(i64),
    /// Nowhere: it was optimised out.
    OptimizedOut,
}

impl Storage {
    /// The value that it names.
    pub fn value(self) -> Option<Value> {
        match self {
            Storage::Value(value) | Storage::Memory(value, _) => Some(value),
            Storage::Slot(..) | Storage::Global(..) | Storage::Constant(_) | Storage::OptimizedOut => None,
        }
    }

    /// This storage, of another value where it names one.
    pub fn map(self, change: impl FnOnce(Value) -> Value) -> Storage {
        match self {
            Storage::Value(value) => Storage::Value(change(value)),
            Storage::Memory(value, offset) => Storage::Memory(change(value), offset),
            Storage::Slot(..) | Storage::Global(..) | Storage::Constant(_) | Storage::OptimizedOut => self,
        }
    }
}

/// Where a variable, or a part of it, is from a point on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Binding {
    /// Which.
    pub variable: DebugVar,
    /// The part; `None` for all of it.
    pub piece: Option<Piece>,
    /// Where.
    pub storage: Storage,
}

/// The debug information of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDebug {
    /// What it is in the source.
    pub subprogram: SubprogramId,
    /// Scopes: the first is the function, the others have a parent before them.
    pub scopes: PrimaryMap<ScopeId, Scope>,
    /// Variables, inlined functions' included.
    pub variables: PrimaryMap<DebugVar, DebugVariable>,
    /// Bindings; [`Layout::records`](crate::Layout::records) says where they stand.
    pub bindings: PrimaryMap<BindingId, Binding>,
}

impl FunctionDebug {
    /// The scope of the function itself.
    pub fn root(&self) -> ScopeId {
        ScopeId::new(0)
    }

    /// The debug information of a function that is a subprogram of the source, which begins at `at`.
    pub fn new(subprogram: SubprogramId, at: Declared) -> Self {
        let mut scopes = PrimaryMap::new();
        let at = LocData::new(at.file, at.line, 0);
        scopes.push(Scope { kind: ScopeKind::Function, parent: None, at });
        FunctionDebug { subprogram, scopes, variables: PrimaryMap::new(), bindings: PrimaryMap::new() }
    }

    /// A scope and those around it, from the inside out. Ends even where parents form a circle.
    pub fn around(&self, scope: ScopeId) -> impl Iterator<Item = (ScopeId, &Scope)> {
        let step =
            |id: &ScopeId| self.scopes.get(*id).and_then(|scope| scope.parent).filter(|parent| parent < id);
        std::iter::successors(Some(scope), step).filter_map(|id| Some((id, self.scopes.get(id)?)))
    }

    /// The innermost inlined function that a scope is in.
    pub fn inlined(&self, scope: ScopeId) -> Option<(ScopeId, SubprogramId, LocData)> {
        self.around(scope).find_map(|(id, scope)| match scope.kind {
            ScopeKind::Inlined(subprogram) => Some((id, subprogram, scope.at)),
            ScopeKind::Function | ScopeKind::Block => None,
        })
    }
}
