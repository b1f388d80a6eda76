//! What a kernel can reach: the functions it calls or takes addresses of and the variables it names, through those that these
//! name in turn, aliases and initial values included.
//!
//! Names are followed without regard to scopes: a register that is called like a function keeps that function in the
//! program, which costs nothing but its decoding.

use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ptx::{Decl, Id, Init, Item, List, MaskOf, Module, Stmt, Symbol};

/// The names that are reached from a function.
pub(super) fn reachable(module: &Module, entry: Symbol) -> FxHashSet<Symbol> {
    let mut found = Found { module, reached: FxHashSet::default(), pending: Vec::new() };
    let mut bodies: FxHashMap<Symbol, Vec<List<Stmt>>> = FxHashMap::default();
    let mut variables: FxHashMap<Symbol, Vec<Id<Init>>> = FxHashMap::default();
    let mut aliases: FxHashMap<Symbol, Symbol> = FxHashMap::default();
    let mut families: FxHashSet<Symbol> = FxHashSet::default();
    for item in module.items() {
        match *item {
            Item::Function(id) => {
                let function = &module[id];
                bodies.entry(function.name).or_default().extend(function.body);
            }
            Item::Variable(id) => {
                for declarator in &module[module[id].names] {
                    variables.entry(declarator.name).or_default().extend(declarator.init);
                    families.extend(declarator.count.map(|_| declarator.name));
                }
            }
            Item::Alias { alias, aliasee } => {
                aliases.insert(alias, aliasee);
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
    found.name(entry);
    while let Some(name) = found.pending.pop() {
        for body in bodies.get(&name).into_iter().flatten() {
            found.body(*body);
        }
        for init in variables.get(&name).into_iter().flatten() {
            found.init(&module[*init]);
        }
        if let Some(aliasee) = aliases.get(&name) {
            found.name(*aliasee);
        }
        // A member of `x<4>` is named `x2`: its declaration is reached by the prefix.
        let text = &module[name];
        let prefix = text.trim_end_matches(|c: char| c.is_ascii_digit());
        for end in prefix.len()..text.len() {
            if let Some(family) = module.names().find(&text[..end]).filter(|name| families.contains(name)) {
                found.name(family);
            }
        }
    }
    found.reached
}

struct Found<'m> {
    module: &'m Module,
    reached: FxHashSet<Symbol>,
    pending: Vec<Symbol>,
}

impl Found<'_> {
    fn name(&mut self, name: Symbol) {
        if self.reached.insert(name) {
            self.pending.push(name);
        }
    }

    fn body(&mut self, body: List<Stmt>) {
        let module = self.module;
        for stmt in &module[body] {
            match *stmt {
                Stmt::Inst(inst) => inst
                    .operands
                    .ids()
                    .for_each(|operand| module.for_each_name(operand, &mut |name| self.name(name))),
                Stmt::CallTargets { targets, .. } => {
                    module[targets].iter().for_each(|target| self.name(target.name))
                }
                Stmt::Decl(decl) => self.initial_values(decl),
                Stmt::Open
                | Stmt::Close
                | Stmt::Label(_)
                | Stmt::Loc(_)
                | Stmt::LocIntermediate(_)
                | Stmt::Pragma(_)
                | Stmt::BranchTargets { .. }
                | Stmt::CallPrototype(_)
                | Stmt::Target(_) => {}
            }
        }
    }

    fn initial_values(&mut self, decl: Id<Decl>) {
        let module = self.module;
        for init in module[module[decl].names].iter().filter_map(|declarator| declarator.init) {
            self.init(&module[init]);
        }
    }

    fn init(&mut self, init: &Init) {
        let module = self.module;
        match *init {
            Init::Address { name, .. } => self.name(name),
            Init::Mask(mask) => {
                if let MaskOf::Address { name, .. } = module[mask].of {
                    self.name(name);
                }
            }
            Init::List(list) => module[list].iter().for_each(|element| self.init(element)),
            Init::Const(_) | Init::Bytes(_) | Init::Ints(_) | Init::Field { .. } => {}
        }
    }
}
