//! Debug information: what it names exists, types are not parts of themselves, scopes form a tree, variables are bound to what is there.

use super::Verifier;
use crate::debug::{Binding, DebugType, FunctionDebug, ScopeKind, Storage};
use crate::domtree::DominatorTree;
use crate::entities::{DebugTypeId, FileId};
use crate::module::Module;
use cranelift_entity::SecondaryMap;
use warpsmith_diag::{Diagnostic, Span};

/// Checks what functions share.
pub(super) fn module(module: &Module, errors: &mut Vec<Diagnostic>) {
    let Some(debug) = &module.debug else { return };
    let mut error = |code, message: String| errors.push(Diagnostic::error(code, Span::NONE, message));
    let file = |file: FileId| module.files.is_valid(file);
    for (id, unit) in &debug.units {
        if !file(unit.file) {
            error("I0460", format!("!{id} names {}, which does not exist", unit.file));
        }
    }
    let mut dangling = false;
    for (id, ty) in &debug.types {
        for (named, _) in ty.named().filter(|(named, _)| !debug.types.is_valid(*named)) {
            error("I0460", format!("!{id} names !{named}, which does not exist"));
            dangling = true;
        }
        if let DebugType::Composite { name, size, members, .. } = ty {
            for member in members {
                let bytes = debug.size_of(member.ty).unwrap_or(0);
                if member.offset.checked_add(bytes).is_none_or(|end| end > *size) {
                    error(
                        "I0461",
                        format!(
                            "member `{}` of !{id}, `{name}`, is not within its {size} bytes",
                            member.name
                        ),
                    );
                }
                let storage = bytes.saturating_mul(8);
                let fits =
                    |(width, from): (u32, u32)| width > 0 && u64::from(width) + u64::from(from) <= storage;
                if !member.bits.is_none_or(fits) {
                    error(
                        "I0461",
                        format!("the bit field `{}` of !{id} is not within its type", member.name),
                    );
                }
            }
        }
    }
    if !dangling {
        circles(debug, &mut error);
    }
    for (id, subprogram) in &debug.subprograms {
        if !debug.units.is_valid(subprogram.unit) {
            error("I0460", format!("!{id} names !{}, which does not exist", subprogram.unit));
        }
        if !file(subprogram.declared.file) {
            error("I0460", format!("!{id} names {}, which does not exist", subprogram.declared.file));
        }
        match subprogram.ty.map(|ty| (ty, debug.types.get(ty))) {
            None | Some((_, Some(DebugType::Function { .. }))) => {}
            Some((ty, None)) => error("I0460", format!("!{id} names !{ty}, which does not exist")),
            Some((ty, Some(_))) => {
                error("I0461", format!("the type !{ty} of !{id} is not that of a function"))
            }
        }
    }
    for variable in &debug.globals {
        let name = &variable.name;
        if !module.globals.is_valid(variable.global) {
            error("I0460", format!("the variable `{name}` is a global that does not exist"));
        }
        if !debug.types.is_valid(variable.ty) {
            error("I0460", format!("the type !{} of the variable `{name}` does not exist", variable.ty));
        }
        if !debug.units.is_valid(variable.unit) {
            error("I0460", format!("the unit !{} of the variable `{name}` does not exist", variable.unit));
        }
        if !file(variable.declared.file) {
            error("I0460", format!("the file of the variable `{name}` does not exist"));
        }
    }
}

/// Reports types that are parts of themselves.
fn circles(debug: &crate::debug::DebugInfo, error: &mut impl FnMut(&'static str, String)) {
    #[derive(Clone, Copy, Default, PartialEq)]
    enum Mark {
        #[default]
        New,
        Open,
        Done,
    }
    let mut marks: SecondaryMap<DebugTypeId, Mark> = SecondaryMap::new();
    for start in debug.types.keys() {
        // Depth first without recursion: a chain may be as long as the module.
        let mut work = vec![(start, false)];
        while let Some((id, leaving)) = work.pop() {
            if leaving {
                marks[id] = Mark::Done;
                continue;
            }
            match marks[id] {
                Mark::Done => continue,
                Mark::Open => {
                    error("I0462", format!("the type !{id} is a part of itself"));
                    continue;
                }
                Mark::New => {}
            }
            marks[id] = Mark::Open;
            work.push((id, true));
            work.extend(debug.types[id].named().filter(|(_, part)| *part).map(|(named, _)| (named, false)));
        }
    }
}

impl Verifier<'_> {
    /// Checks the debug information of the function; false if its bindings cannot be looked at.
    pub(super) fn debug_info(&mut self) {
        let func = self.func;
        for (_, loc) in &func.locs {
            let known = |scope| func.debug.as_ref().is_some_and(|debug| debug.scopes.is_valid(scope));
            if let Some(scope) = loc.scope.filter(|scope| !known(*scope)) {
                let line = loc.line;
                self.error(
                    "I0460",
                    format!("line {line} of `@{}` is in !{scope}, which does not exist", func.name),
                );
                return;
            }
        }
        let Some(debug) = &func.debug else { return };
        if !self.scopes_and_variables(debug) {
            return;
        }
        if func.layout.has_no_records() {
            return;
        }
        let dominators = DominatorTree::new(func);
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                for id in func.layout.records(inst) {
                    let Some(binding) = debug.bindings.get(*id) else {
                        self.error("I0460", format!("`@{}` has no {id}, which is in its layout", func.name));
                        continue;
                    };
                    self.binding(debug, binding);
                    let value = binding.storage.value().map(|value| func.dfg.resolve(value));
                    let Some(value) = value.filter(|_| dominators.is_reachable(block)) else { continue };
                    let before = match func.dfg.def(value) {
                        crate::ValueDef::Result(def, _) => match func.layout.block_of(def) {
                            // Removed: the variable is optimised out.
                            None => true,
                            Some(at) if at == block => {
                                let mut rest = func.layout.insts(block).take_while(|other| *other != inst);
                                rest.any(|other| other == def)
                            }
                            Some(at) => dominators.dominates(at, block),
                        },
                        crate::ValueDef::Param(at, _) => {
                            !func.layout.is_block_inserted(at) || dominators.dominates(at, block)
                        }
                        crate::ValueDef::Alias(_) | crate::ValueDef::Detached => true,
                    };
                    if !before {
                        let name = self.name(value);
                        let variable = &debug.variables[binding.variable].name;
                        let message = format!(
                            "`{variable}` is bound to {name}, which is not defined on every way to here"
                        );
                        self.inst_error(inst, "I0463", message);
                    }
                }
            }
        }
    }

    fn scopes_and_variables(&mut self, debug: &FunctionDebug) -> bool {
        let (func, module) = (self.func, self.module);
        let before = self.errors.len();
        let shared = module.debug.as_deref();
        let subprogram = |id| shared.is_some_and(|shared| shared.subprograms.is_valid(id));
        if !subprogram(debug.subprogram) {
            self.error("I0460", format!("`@{}` is !{}, which does not exist", func.name, debug.subprogram));
        }
        for (id, scope) in &debug.scopes {
            let root = id == debug.root();
            match scope.parent {
                None if root => {}
                Some(parent) if !root && parent < id => {}
                _ => {
                    let message = format!("!{id} of `@{}` is not in a scope that comes before it", func.name);
                    self.error("I0462", message);
                }
            }
            let inlined = match scope.kind {
                ScopeKind::Function if root => continue,
                ScopeKind::Function => {
                    self.error("I0462", format!("!{id} of `@{}` is a second function", func.name));
                    continue;
                }
                ScopeKind::Block => None,
                ScopeKind::Inlined(subprogram) => Some(subprogram),
            };
            if let Some(inlined) = inlined.filter(|id| !subprogram(*id)) {
                self.error("I0460", format!("!{id} of `@{}` is !{inlined}, which does not exist", func.name));
            }
            if !module.files.is_valid(scope.at.file) {
                self.error(
                    "I0460",
                    format!("!{id} of `@{}` is in {}, which does not exist", func.name, scope.at.file),
                );
            }
        }
        for (id, variable) in &debug.variables {
            let name = &variable.name;
            if !debug.scopes.is_valid(variable.scope) {
                let message = format!(
                    "!{id} of `@{}`, `{name}`, is in !{}, which does not exist",
                    func.name, variable.scope
                );
                self.error("I0460", message);
            }
            if !shared.is_some_and(|shared| shared.types.is_valid(variable.ty)) {
                let message =
                    format!("the type !{} of `{name}` in `@{}` does not exist", variable.ty, func.name);
                self.error("I0460", message);
            }
            if !module.files.is_valid(variable.declared.file) {
                let message = format!(
                    "`{name}` of `@{}` is declared in {}, which does not exist",
                    func.name, variable.declared.file
                );
                self.error("I0460", message);
            }
        }
        self.errors.len() == before
    }

    fn binding(&mut self, debug: &FunctionDebug, binding: &Binding) {
        let func = self.func;
        let Some(variable) = debug.variables.get(binding.variable) else {
            self.error("I0460", format!("`@{}` has no !{}, which it binds", func.name, binding.variable));
            return;
        };
        let name = &variable.name;
        let missing = match binding.storage {
            Storage::Value(value) | Storage::Memory(value, _) => !func.dfg.has_value(value),
            Storage::Slot(slot, _) => !func.stack_slots.is_valid(slot),
            Storage::Global(global, _) => !self.module.globals.is_valid(global),
            Storage::Constant(_) | Storage::OptimizedOut => false,
        };
        if missing {
            self.error("I0460", format!("`{name}` of `@{}` is bound to what does not exist", func.name));
            return;
        }
        if let Storage::Memory(value, _) = binding.storage
            && !func.dfg.ty(value).is_ptr()
            && !func.dfg.ty(value).is_invalid()
        {
            let message = format!(
                "`{name}` of `@{}` is bound to memory at a {}, which is not a pointer",
                func.name,
                func.dfg.ty(value)
            );
            self.error("I0463", message);
        }
        let size = self.module.debug.as_ref().and_then(|shared| shared.size_of(variable.ty)).unwrap_or(0);
        let Some(piece) = binding.piece else { return };
        let end = u64::from(piece.offset) + u64::from(piece.size);
        if piece.size == 0 || (size > 0 && end > size) {
            let message = format!("the piece of `{name}` in `@{}` is not within its {size} bytes", func.name);
            self.error("I0463", message);
        }
    }
}
