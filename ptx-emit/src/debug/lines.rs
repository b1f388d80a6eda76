//! `.loc` with the functions that an instruction was inlined through.
//!
//! `inlined_at` names a call by its place alone, and needs a `.loc` of that place before it (PTX ISA 9.0, 11.5.4): a `.loc` for the call,
//! which has its own chain, comes first wherever the chain changes.

use crate::names::Names;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{self as ir, LocData, ScopeId};
use warpsmith_isa::Version;
use warpsmith_ptx::{Inlined, Loc, Module, Place, Stmt, Symbol};

/// `function_name` and `inlined_at` came with it.
pub(crate) const INLINED_SINCE: Version = Version::new(7, 2);

/// True if some instruction comes from a function that was inlined.
pub(crate) fn names_inlined(module: &ir::Module) -> bool {
    let scopes = module
        .functions
        .values()
        .filter_map(|func| func.debug.as_ref())
        .flat_map(|debug| debug.scopes.values());
    scopes.into_iter().any(|scope| matches!(scope.kind, ir::debug::ScopeKind::Inlined(_)))
}

/// The names of inlined functions, which `.loc` takes from `.debug_str`.
#[derive(Default)]
pub(crate) struct Strings {
    labels: FxHashMap<String, Symbol>,
    order: Vec<(String, Symbol)>,
}

impl Strings {
    fn label(&mut self, tree: &mut Module, names: &mut Names, name: &str) -> Symbol {
        if let Some(label) = self.labels.get(name) {
            return *label;
        }
        let label = names.debug_label(tree);
        self.labels.insert(name.to_owned(), label);
        self.order.push((name.to_owned(), label));
        label
    }

    /// The strings with their labels, in order.
    pub(crate) fn all(&self) -> &[(String, Symbol)] {
        &self.order
    }
}

/// Writes the `.loc`s of a function.
pub(crate) struct Lines {
    /// Whether the version has `inlined_at`.
    pub(crate) inlined: bool,
    last: Option<(Place, Option<ScopeId>)>,
    /// The chain that the last `.loc` of a place had.
    chains: FxHashMap<Place, Option<ScopeId>>,
}

impl Lines {
    pub(crate) fn new(inlined: bool) -> Self {
        Lines { inlined, last: None, chains: FxHashMap::default() }
    }

    /// The `.loc` of the code that is written next, unless it is that of the code before.
    #[expect(clippy::too_many_arguments, reason = "what is written, and where to")]
    pub(crate) fn location(
        &mut self,
        module: &ir::Module,
        func: &ir::Function,
        at: LocData,
        tree: &mut Module,
        names: &mut Names,
        strings: &mut Strings,
        stmts: &mut Vec<Stmt>,
    ) {
        let place = place(at);
        let chain = self.chain(func, at);
        if self.last == Some((place, chain)) {
            return;
        }
        self.last = Some((place, chain));
        self.write(module, func, at, tree, names, strings, stmts, 0);
    }

    fn chain(&self, func: &ir::Function, at: LocData) -> Option<ScopeId> {
        let debug = func.debug.as_ref().filter(|_| self.inlined)?;
        debug.inlined(at.scope?).map(|(scope, ..)| scope)
    }

    #[expect(clippy::too_many_arguments, reason = "what is written, and where to")]
    fn write(
        &mut self,
        module: &ir::Module,
        func: &ir::Function,
        at: LocData,
        tree: &mut Module,
        names: &mut Names,
        strings: &mut Strings,
        stmts: &mut Vec<Stmt>,
        depth: u32,
    ) {
        /// Calls that are followed outwards; deeper ones are cut.
        const MOST_DEPTH: u32 = 256;
        let here = place(at);
        let found = func.debug.as_ref().filter(|_| self.inlined && depth < MOST_DEPTH);
        let found = found.and_then(|debug| debug.inlined(at.scope?));
        let chain = found.map(|(scope, ..)| scope);
        let name = found.and_then(|(_, id, call)| {
            let subprogram = module.debug.as_ref()?.subprograms.get(id)?;
            Some((subprogram.linkage_name.as_deref().unwrap_or(&subprogram.name), call))
        });
        let inlined = name.map(|(name, call)| {
            let of_call = place(call);
            if self.chains.get(&of_call) != Some(&self.chain(func, call)) {
                self.write(module, func, call, tree, names, strings, stmts, depth + 1);
            }
            let function_name = strings.label(tree, names, name);
            tree.push_inlined(Inlined { function_name, offset: 0, at: of_call })
        });
        self.chains.insert(here, chain);
        stmts.push(Stmt::Loc(Loc { at: here, inlined }));
    }
}

fn place(at: LocData) -> Place {
    Place { file: at.file.as_u32() + 1, line: at.line, column: at.column }
}
