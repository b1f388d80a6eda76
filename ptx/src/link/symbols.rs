//! The symbols of all modules: who defines each, and what it is called after linking.

use super::{Findings, Options};
use crate::tree::*;
use crate::{ValidatedModule, codes};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::StateSpace;

/// What a symbol of a module is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Entity {
    Function(Id<Function>),
    Variable(Id<Decl>, Id<Declarator>),
    Alias(Symbol),
}

/// A symbol that a module declares or defines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    pub(super) entity: Entity,
    pub(super) linkage: Linkage,
    pub(super) is_definition: bool,
    pub(super) span: Span,
}

impl Declared {
    /// Seen by its module alone.
    pub(super) fn is_private(&self) -> bool {
        self.linkage == Linkage::Local && self.is_definition
    }
}

/// The symbols of all modules.
pub(super) struct Table {
    /// By module, in the order of the text: the definition, or the declaration where there is no definition.
    pub(super) declared: Vec<Vec<(Symbol, Declared)>>,
    /// By module, what its names become.
    pub(super) renamed: Vec<FxHashMap<Symbol, String>>,
    /// The module that defines a name that others see.
    pub(super) owner: FxHashMap<String, usize>,
    /// By module, the functions that it expects results of, and whose definition has none.
    pub(super) resultless: Vec<FxHashSet<Symbol>>,
}

impl Table {
    pub(super) fn new(modules: &[ValidatedModule], options: &Options, findings: &mut Findings<'_>) -> Table {
        let declared: Vec<_> = modules.iter().map(|module| declared(module)).collect();
        let resultless = vec![FxHashSet::default(); modules.len()];
        let mut table = Table { declared, renamed: Vec::new(), owner: FxHashMap::default(), resultless };
        table.owners(modules, findings);
        table.matching(modules, options, findings);
        table.rename(modules);
        table
    }

    pub(super) fn find(&self, module: usize, name: Symbol) -> Option<&Declared> {
        self.declared[module].iter().find(|(symbol, _)| *symbol == name).map(|(_, declared)| declared)
    }

    /// True if the definition of this symbol in this module is the one that stays.
    pub(super) fn is_owner(
        &self,
        modules: &[ValidatedModule],
        module: usize,
        name: Symbol,
        declared: &Declared,
    ) -> bool {
        declared.is_definition
            && (declared.is_private() || self.owner.get(&modules[module][name]) == Some(&module))
    }

    fn owners(&mut self, modules: &[ValidatedModule], findings: &mut Findings<'_>) {
        for (n, symbols) in self.declared.iter().enumerate() {
            for (symbol, new) in symbols.iter().filter(|(_, d)| d.is_definition && !d.is_private()) {
                let name = &modules[n][*symbol];
                let Some(&first) = self.owner.get(name) else {
                    self.owner.insert(name.to_owned(), n);
                    continue;
                };
                let Some(old) = modules[first].names().find(name).and_then(|s| self.find(first, s)) else {
                    continue;
                };
                match (strength(modules, first, old), strength(modules, n, new)) {
                    (Strength::Strong, Strength::Strong) => {
                        let other = findings.place(first, old.span);
                        let error = Diagnostic::error(
                            codes::LINK_TWICE,
                            new.span,
                            format!("`{name}` is defined by two modules"),
                        );
                        findings.add(
                            n,
                            error
                                .note(format!("the other definition is {other}"))
                                .note("one of them may be `.weak`"),
                        );
                    }
                    (old, new) if new > old => drop(self.owner.insert(name.to_owned(), n)),
                    _ => {}
                }
            }
        }
    }

    /// Declarations must fit the definition that they find.
    fn matching(&mut self, modules: &[ValidatedModule], options: &Options, findings: &mut Findings<'_>) {
        let mut resultless = std::mem::take(&mut self.resultless);
        for (n, symbols) in self.declared.iter().enumerate() {
            for (symbol, declared) in symbols.iter().filter(|(_, d)| !d.is_private()) {
                let name = &modules[n][*symbol];
                let Some(&owner) = self.owner.get(name).filter(|owner| **owner != n) else { continue };
                let Some(definition) = modules[owner].names().find(name).and_then(|s| self.find(owner, s))
                else {
                    continue;
                };
                let without = options.allow_missing_results
                    && loses_results(&modules[n], declared.entity, &modules[owner], definition.entity);
                if without {
                    resultless[n].insert(*symbol);
                }
                if let Some(difference) =
                    difference(&modules[n], declared.entity, &modules[owner], definition.entity, !without)
                {
                    let place = findings.place(owner, definition.span);
                    let error = Diagnostic::error(
                        codes::LINK_MISMATCH,
                        declared.span,
                        format!("`{name}` does not fit its definition: {difference}"),
                    );
                    findings.add(n, error.note(format!("it is defined {place}")));
                }
            }
        }
        self.resultless = resultless;
    }

    /// Gives private names that another module has too a suffix.
    fn rename(&mut self, modules: &[ValidatedModule]) {
        // What cannot be changed: what others see.
        let mut taken: FxHashSet<String> = FxHashSet::default();
        for (n, symbols) in self.declared.iter().enumerate() {
            taken.extend(
                symbols.iter().filter(|(_, d)| !d.is_private()).map(|(s, _)| modules[n][*s].to_owned()),
            );
        }
        // A new name must be none of any module's, whatever it names there.
        let known: FxHashSet<&str> = modules
            .iter()
            .flat_map(|module| (0..module.names().len()).map(|n| module.names().get(Symbol::from_index(n))))
            .collect();
        for (n, symbols) in self.declared.iter().enumerate() {
            let module = &modules[n];
            let mut renamed = FxHashMap::default();
            let private = symbols.iter().filter(|(_, d)| d.is_private()).map(|(symbol, _)| *symbol);
            for symbol in private.chain(section_labels(module)) {
                let name = &module[symbol];
                if taken.insert(name.to_owned()) || renamed.contains_key(&symbol) {
                    continue;
                }
                let fresh = (n + 1..)
                    .map(|k| format!("{name}${k}"))
                    .find(|fresh| !known.contains(fresh.as_str()) && !taken.contains(fresh));
                if let Some(fresh) = fresh {
                    taken.insert(fresh.clone());
                    renamed.insert(symbol, fresh);
                }
            }
            self.renamed.push(renamed);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Weak,
    /// Of so many bytes.
    Common(u64),
    Strong,
}

fn strength(modules: &[ValidatedModule], module: usize, declared: &Declared) -> Strength {
    match declared.linkage {
        Linkage::Weak => Strength::Weak,
        Linkage::Common => Strength::Common(match declared.entity {
            Entity::Variable(decl, declarator) => {
                let module = &modules[module];
                module.bytes_of(&module[decl], &module[declarator]).unwrap_or(0)
            }
            Entity::Function(_) | Entity::Alias(_) => 0,
        }),
        Linkage::Local | Linkage::Visible | Linkage::Extern => Strength::Strong,
    }
}

/// The symbols of a module, each once.
fn declared(module: &Module) -> Vec<(Symbol, Declared)> {
    let mut all: Vec<(Symbol, Declared)> = Vec::new();
    let mut places: FxHashMap<Symbol, usize> = FxHashMap::default();
    let mut add = |symbol: Symbol, declared: Declared| match places.get(&symbol) {
        Some(&place) => {
            let old = &mut all[place].1;
            // `.visible .func f(); .func f() { .. }` is visible.
            let seen = [old.linkage, declared.linkage]
                .into_iter()
                .find(|l| !matches!(l, Linkage::Local | Linkage::Extern));
            if declared.is_definition && !old.is_definition {
                *old = declared;
            }
            if let Some(seen) = seen {
                old.linkage = seen;
            }
        }
        None => {
            places.insert(symbol, all.len());
            all.push((symbol, declared));
        }
    };
    for item in module.items() {
        match *item {
            Item::Function(id) => {
                let function = &module[id];
                // Kernels are found by name whether or not they say so.
                let linkage = match (function.kind, function.linkage) {
                    (FunctionKind::Entry, Linkage::Local) => Linkage::Visible,
                    (_, linkage) => linkage,
                };
                let is_definition = function.body.is_some();
                add(
                    function.name,
                    Declared {
                        entity: Entity::Function(id),
                        linkage,
                        is_definition,
                        span: function.name_span,
                    },
                );
            }
            Item::Variable(id) => {
                let decl = &module[id];
                for declarator in decl.names.ids() {
                    let is_definition = decl.linkage != Linkage::Extern;
                    let entity = Entity::Variable(id, declarator);
                    let Declarator { name, span, .. } = module[declarator];
                    add(name, Declared { entity, linkage: decl.linkage, is_definition, span });
                }
            }
            Item::Alias { alias, aliasee } => {
                add(
                    alias,
                    Declared {
                        entity: Entity::Alias(aliasee),
                        linkage: Linkage::Visible,
                        is_definition: true,
                        span: Span::NONE,
                    },
                );
            }
            Item::Version(_)
            | Item::Target(_)
            | Item::AddressSize(_)
            | Item::File(_)
            | Item::Pragma(_)
            | Item::Section(_)
            | Item::IntermediateSource(_) => {}
        }
    }
    all
}

/// Labels of sections, and labels of functions that sections name.
fn section_labels(module: &Module) -> Vec<Symbol> {
    let sections = || {
        module
            .items()
            .iter()
            .filter_map(|item| if let Item::Section(section) = item { Some(section) } else { None })
    };
    let names: FxHashSet<Symbol> = sections().map(|section| section.name).collect();
    let mut labels = Vec::new();
    for data in sections().flat_map(|section| &module[section.data]) {
        match *data {
            Data::Label(label) => labels.push(label),
            Data::Bytes(_) => {}
            Data::Values { values, .. } => {
                for value in &module[values] {
                    match *value {
                        DataValue::Int(_) => {}
                        DataValue::Address { name, .. } => labels.push(name),
                        DataValue::Difference { end, start } => labels.extend([end, start]),
                    }
                }
            }
        }
    }
    // Sections keep their names, and so does what others see: those are taken already, by themselves.
    let declared: FxHashSet<Symbol> = declared(module).into_iter().map(|(symbol, _)| symbol).collect();
    labels.retain(|label| {
        !names.contains(label) && !declared.contains(label) && !module[*label].starts_with('.')
    });
    labels
}

/// True if a declaration has results and the definition none.
fn loses_results(a: &Module, x: Entity, b: &Module, y: Entity) -> bool {
    match (x, y) {
        (Entity::Function(f), Entity::Function(g)) => !a[f].returns.is_empty() && b[g].returns.is_empty(),
        (Entity::Function(_) | Entity::Variable(..) | Entity::Alias(_), _) => false,
    }
}

/// Why a declaration does not fit a definition, its results aside if they are not to be compared.
fn difference(a: &Module, x: Entity, b: &Module, y: Entity, results: bool) -> Option<String> {
    match (x, y) {
        (Entity::Function(f), Entity::Function(g)) => {
            let (f, g) = (&a[f], &b[g]);
            if f.kind != g.kind {
                return Some("one is a kernel and the other a function".to_owned());
            }
            let sizes = |module: &Module, list: List<Decl>| -> Vec<Option<u64>> {
                let decls = module[list].iter();
                decls
                    .flat_map(|d| module[d.names].iter().map(|n| module.bytes_of(d, n)).collect::<Vec<_>>())
                    .collect()
            };
            let lists = [("parameters", f.params, g.params), ("results", f.returns, g.returns)];
            lists.into_iter().take(if results { 2 } else { 1 }).find_map(|(what, f, g)| {
                let (f, g) = (sizes(a, f), sizes(b, g));
                if f.len() != g.len() {
                    return Some(format!("it has {} {what}, the definition {}", f.len(), g.len()));
                }
                let n = f.iter().zip(&g).position(|(f, g)| f.is_some() && g.is_some() && f != g)?;
                let bytes = |n: Option<u64>| n.unwrap_or(0);
                Some(format!(
                    "of the {what} number {} has {} bytes, in the definition {}",
                    n + 1,
                    bytes(f[n]),
                    bytes(g[n])
                ))
            })
        }
        (Entity::Variable(d, n), Entity::Variable(e, m)) => {
            let ((d, n), (e, m)) = ((&a[d], &a[n]), (&b[e], &b[m]));
            if d.space != e.space {
                return Some(format!(
                    "it is in {} memory, the definition in {}",
                    space(d.space),
                    space(e.space)
                ));
            }
            match (a.bytes_of(d, n), b.bytes_of(e, m)) {
                // A common variable is as large as the largest.
                (Some(x), Some(y))
                    if x != y && (d.linkage, e.linkage) != (Linkage::Common, Linkage::Common) =>
                {
                    Some(format!("it has {x} bytes, the definition {y}"))
                }
                _ => None,
            }
        }
        (Entity::Function(_), Entity::Variable(..)) | (Entity::Variable(..), Entity::Function(_)) => {
            Some("one is a function and the other a variable".to_owned())
        }
        (Entity::Alias(_), _) | (_, Entity::Alias(_)) => None,
    }
}

fn space(space: StateSpace) -> String {
    space.to_string().trim_start_matches('.').to_owned()
}
