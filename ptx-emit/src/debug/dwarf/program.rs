//! The entries of functions, scopes and variables.

use super::Writer;
use crate::debug::{Class, Described, Located, Place};
use gimli::constants::*;
use gimli::write::{AttributeValue, Expression, UnitEntryId};
use warpsmith_ir::debug::{self as source, DebugType, ScopeKind, VariableKind};
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_ir::{self as ir, ScopeId};
use warpsmith_ptx::Symbol;

/// A function that is inlined so often has its variables described once, and each call says where they are: with fewer calls that is longer.
const SHARED_FROM: u32 = 3;

impl<'a> Writer<'a> {
    pub(super) fn globals(&mut self, names: &SecondaryMap<ir::GlobalId, Symbol>) {
        let Some(info) = self.info else { return };
        for variable in &info.globals {
            let Some(global) = self.module.globals.get(variable.global) else { continue };
            let root = self.root();
            let entry = self.add(root, DW_TAG_variable);
            if global.name != variable.name {
                let name = self.string(&global.name);
                self.set(entry, DW_AT_MIPS_linkage_name, name);
            }
            self.name(entry, &variable.name);
            self.has_type(entry, variable.ty);
            self.declared(entry, variable.declared);
            if global.linkage.is_visible() {
                self.set(entry, DW_AT_external, AttributeValue::Flag(true));
            }
            let place = Place::Symbol(names[variable.global], 0, Class::of(global.space));
            self.location(entry, std::iter::once((None, &place)));
        }
    }

    pub(super) fn function(&mut self, described: &Described) {
        let module = self.module;
        let func = &module.functions[described.id];
        let (Some(info), Some(debug)) = (self.info, &func.debug) else {
            // A function without a source is named by its symbol.
            let root = self.root();
            let entry = self.add(root, DW_TAG_subprogram);
            self.name(entry, &func.name);
            self.bounds(entry, described.begin, described.end);
            return;
        };
        let subprogram = &info.subprograms[debug.subprogram];
        let root = self.root();
        let entry = self.add(root, DW_TAG_subprogram);
        self.subprogram(entry, subprogram, Some(&func.name));
        if func.linkage != ir::Linkage::Local {
            self.set(entry, DW_AT_external, AttributeValue::Flag(true));
        }
        self.bounds(entry, described.begin, described.end);
        // What ptxas makes of places on the stack counts from it.
        if described.locations.iter().any(|located| located.place.on_stack()) {
            let frame = Expression::raw(vec![DW_OP_call_frame_cfa.0]);
            self.set(entry, DW_AT_frame_base, AttributeValue::Exprloc(frame));
        }

        // Those of a variable stand together, in the order of variables.
        let located = |variable: ir::DebugVar| {
            let all = &described.locations;
            let first = all.partition_point(|place| place.variable < variable);
            &all[first..first + all[first..].partition_point(|place| place.variable == variable)]
        };
        // Parameters come first, and in their order.
        let mut variables: Vec<_> = debug.variables.iter().collect();
        variables.sort_by_key(|(_, variable)| match variable.kind {
            VariableKind::Parameter(number) => number,
            VariableKind::Local => u32::MAX,
        });
        let mut of_scope: SecondaryMap<ScopeId, Vec<ir::DebugVar>> = SecondaryMap::new();
        variables.into_iter().for_each(|(id, variable)| of_scope[variable.scope].push(id));
        // Scopes come behind their parents. One without instructions and variables is left out.
        let mut used: SecondaryMap<ScopeId, bool> = SecondaryMap::new();
        let with_code = described.scopes.iter().map(|(scope, ..)| *scope);
        for scope in with_code.chain(debug.variables.values().map(|variable| variable.scope)) {
            for (scope, _) in debug.around(scope) {
                used[scope] = true;
            }
        }
        let mut entries: SecondaryMap<ScopeId, Option<UnitEntryId>> = SecondaryMap::new();
        for (id, scope) in &debug.scopes {
            let parent = scope.parent.and_then(|parent| entries[parent]).unwrap_or(entry);
            if id != debug.root() && !used[id] {
                continue;
            }
            let made = match scope.kind {
                ScopeKind::Function => entry,
                ScopeKind::Block => self.add(parent, DW_TAG_lexical_block),
                ScopeKind::Inlined(of) => {
                    let origin = self.inlined(of);
                    let entry = self.add(parent, DW_TAG_inlined_subroutine);
                    self.set(entry, DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
                    if let Some(file) = self.file(scope.at.file) {
                        self.set(entry, DW_AT_call_file, file);
                    }
                    self.set(entry, DW_AT_call_line, AttributeValue::Udata(scope.at.line.into()));
                    // DWARF 2 has no column of a call; `inlined_at` has it.
                    entry
                }
            };
            entries[id] = Some(made);
            let inlined = match scope.kind {
                ScopeKind::Inlined(of) => Some(of),
                ScopeKind::Function | ScopeKind::Block => None,
            };
            for &id in &of_scope[id] {
                self.variable(made, inlined, &debug.variables[id], located(id));
            }
        }
        for (scope, begin, end) in &described.scopes {
            if let Some(of) = entries[*scope].filter(|of| *of != entry) {
                self.bounds(of, *begin, *end);
            }
        }
    }

    /// A variable of a function, or of a call of one that was inlined.
    fn variable(
        &mut self,
        scope: UnitEntryId,
        inlined: Option<ir::SubprogramId>,
        variable: &'a source::DebugVariable,
        places: &[Located],
    ) {
        let tag = match variable.kind {
            VariableKind::Parameter(_) => DW_TAG_formal_parameter,
            VariableKind::Local => DW_TAG_variable,
        };
        let entry = self.add(scope, tag);
        let often = |of: &ir::SubprogramId| self.calls.get(of).is_some_and(|calls| *calls >= SHARED_FROM);
        match inlined.filter(often) {
            None => self.variable_of_source(entry, variable),
            Some(of) => {
                let key = (of, variable.kind, variable.name.as_str(), variable.ty, variable.declared);
                let origin = match self.shared.get(&key) {
                    Some(origin) => *origin,
                    None => {
                        let function = self.inlined(of);
                        let origin = self.add(function, tag);
                        self.variable_of_source(origin, variable);
                        self.shared.insert(key, origin);
                        origin
                    }
                };
                self.set(entry, DW_AT_abstract_origin, AttributeValue::UnitRef(origin));
            }
        }
        self.location(entry, places.iter().map(|place| (place.range, &place.place)));
    }

    /// A variable's name, type and declaration.
    fn variable_of_source(&mut self, entry: UnitEntryId, variable: &source::DebugVariable) {
        self.name(entry, &variable.name);
        self.has_type(entry, variable.ty);
        // It is declared where its function is. Without a file debuggers take that of the unit.
        let of_unit = self.first_unit().map(|unit| unit.file);
        match of_unit == Some(variable.declared.file) {
            true => self.line(entry, variable.declared.line),
            false => self.declared(entry, variable.declared),
        }
    }

    /// What is known of a function of the source, whose code has a symbol, if it has code.
    fn subprogram(&mut self, entry: UnitEntryId, subprogram: &source::Subprogram, symbol: Option<&str>) {
        // A function that is inlined everywhere has no symbol. gdb calls it by its linkage name if it has one, which users know in
        // languages alone whose names it can read in that.
        let language = self.info.and_then(|info| info.units.get(subprogram.unit)).map(|unit| unit.language);
        let inlined = subprogram.linkage_name.as_deref().filter(|_| language.is_some_and(mangles));
        // First: where it comes behind the name, ptxas (12.9 to 13.5) crashes at the first variable on the stack.
        if let Some(name) = symbol.or(inlined).filter(|name| *name != subprogram.name) {
            let name = self.string(name);
            self.set(entry, DW_AT_MIPS_linkage_name, name);
        }
        self.name(entry, &subprogram.name);
        self.declared(entry, subprogram.declared);
        if language.is_some_and(is_c) {
            self.set(entry, DW_AT_prototyped, AttributeValue::Flag(true));
        }
        let ty = subprogram.ty.and_then(|ty| self.info?.types.get(ty));
        if let Some(DebugType::Function { ret: Some(ret), .. }) = ty {
            self.has_type(entry, *ret);
        }
    }

    /// The entry of a function that is inlined somewhere.
    fn inlined(&mut self, id: ir::SubprogramId) -> UnitEntryId {
        if let Some(entry) = self.abstracts.get(&id) {
            return *entry;
        }
        let root = self.root();
        let entry = self.add(root, DW_TAG_subprogram);
        self.abstracts.insert(id, entry);
        if let Some(subprogram) = self.info.and_then(|info| info.subprograms.get(id)) {
            self.subprogram(entry, subprogram, None);
        }
        self.set(entry, DW_AT_inline, AttributeValue::Inline(DW_INL_inlined));
        entry
    }

    fn bounds(&mut self, entry: UnitEntryId, begin: Symbol, end: Symbol) {
        for (name, label) in [(DW_AT_low_pc, begin), (DW_AT_high_pc, end)] {
            let address = self.symbol(label);
            self.set(entry, name, AttributeValue::Address(address));
        }
    }
}

/// True for C, where a function may have no prototype.
fn is_c(language: u16) -> bool {
    [DW_LANG_C, DW_LANG_C89, DW_LANG_C99, DW_LANG_C11, DW_LANG_C17].iter().any(|known| known.0 == language)
}

/// True for languages whose linkage names gdb reads: C++, Rust, D.
fn mangles(language: u16) -> bool {
    [DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14]
        .into_iter()
        .chain([DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20, DW_LANG_Rust, DW_LANG_D])
        .any(|known| known.0 == language)
}
