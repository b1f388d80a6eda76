//! What is needed: from the symbols to keep, or from everything, over the names in bodies and initialisers.

use super::symbols::{Declared, Entity, Table};
use super::{Findings, Options};
use crate::tree::*;
use crate::{ValidatedModule, codes};
use warpsmith_base::FxHashSet;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::StateSpace;

/// What the system defines (interoperability guide; PTX ISA 9.0, 7.2).
const SYSTEM: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// How many users of an undefined symbol are shown.
const USERS: usize = 3;

/// The symbols that stay, by the module that declares them.
pub(super) struct Reach {
    kept: FxHashSet<(usize, Symbol)>,
}

impl Reach {
    pub(super) fn has(&self, module: usize, symbol: Symbol) -> bool {
        self.kept.contains(&(module, symbol))
    }

    pub(super) fn new(
        modules: &[ValidatedModule],
        table: &Table,
        options: &Options,
        findings: &mut Findings<'_>,
    ) -> Reach {
        let mut work: Vec<(usize, Symbol)> = Vec::new();
        for name in &options.keep {
            let defined = (0..modules.len()).filter_map(|n| {
                let symbol = modules[n].names().find(name)?;
                let declared = table.find(n, symbol)?;
                table.is_owner(modules, n, symbol, declared).then_some((n, symbol))
            });
            let before = work.len();
            work.extend(defined);
            if work.len() == before {
                let names = table.owner.keys().map(String::as_str);
                let mut error = Diagnostic::error(
                    codes::LINK_UNDEFINED,
                    Span::NONE,
                    format!("no module defines `{name}`, which is to be kept"),
                );
                if let Some(near) = warpsmith_diag::nearest(name, names) {
                    error = error.note(format!("did you mean `{near}`?"));
                }
                findings.general.push(error);
            }
        }
        if options.keep.is_empty() {
            for (n, symbols) in table.declared.iter().enumerate() {
                work.extend(
                    symbols.iter().filter(|(s, d)| table.is_owner(modules, n, *s, d)).map(|(s, _)| (n, *s)),
                );
            }
        }
        let mut reach = Reach { kept: FxHashSet::default() };
        let mut undefined: FxHashSet<String> = FxHashSet::default();
        while let Some((n, symbol)) = work.pop() {
            if !reach.kept.insert((n, symbol)) {
                continue;
            }
            let Some(declared) = table.find(n, symbol) else { continue };
            for used in uses(&modules[n], declared.entity) {
                let Some(target) = table.find(n, used) else { continue };
                if target.is_private() {
                    work.push((n, used));
                    continue;
                }
                let name = &modules[n][used];
                match table.owner.get(name) {
                    Some(owner) => {
                        work.extend(modules[*owner].names().find(name).map(|symbol| (*owner, symbol)))
                    }
                    None => {
                        reach.kept.insert((n, used));
                        if !options.allow_undefined
                            && !is_system(modules, n, name, target)
                            && undefined.insert(name.to_owned())
                        {
                            undefined_symbol(modules, table, name, findings);
                        }
                    }
                }
            }
        }
        reach
    }
}

/// True for what is defined outside of every module.
fn is_system(modules: &[ValidatedModule], module: usize, name: &str, declared: &Declared) -> bool {
    match declared.entity {
        Entity::Function(_) => SYSTEM.contains(&name),
        // `.extern .shared x[]`: the launch says how large it is.
        Entity::Variable(decl, _) => modules[module][decl].space == StateSpace::Shared,
        Entity::Alias(_) => false,
    }
}

/// Reports a symbol in each module that uses it.
fn undefined_symbol(modules: &[ValidatedModule], table: &Table, name: &str, findings: &mut Findings<'_>) {
    for (n, module) in modules.iter().enumerate() {
        let Some(symbol) = module.names().find(name) else { continue };
        let Some(declared) = table.find(n, symbol).filter(|d| !d.is_private()) else { continue };
        let users: Vec<(Span, String)> = (module.functions())
            .filter_map(|function| {
                let used = function.body?.ids().find(|stmt| names_of(module, *stmt).contains(&symbol))?;
                Some((module.stmt_span(used), format!("used by `{}`", &module[function.name])))
            })
            .collect();
        let mut error =
            Diagnostic::error(codes::LINK_UNDEFINED, declared.span, format!("no module defines `{name}`"));
        for (span, text) in users.iter().take(USERS) {
            error = error.label(*span, text.clone());
        }
        if users.len() > USERS {
            error = error.note(format!("and by {} more", users.len() - USERS));
        }
        let defined = (table.owner.keys().map(String::as_str)).filter(|known| *known != name);
        // Any name of one or two letters is near to any other.
        let near = if name.len() > 2 { warpsmith_diag::nearest(name, defined) } else { None };
        error = error.note(match near {
            Some(near) => format!(
                "did you mean `{near}`, which is defined? Otherwise link the module that defines it too"
            ),
            None => "link the module that defines it too".to_owned(),
        });
        findings.add(n, error);
    }
}

/// The names in what a symbol denotes.
pub(super) fn uses(module: &Module, entity: Entity) -> Vec<Symbol> {
    match entity {
        Entity::Alias(aliasee) => vec![aliasee],
        Entity::Variable(_, declarator) => {
            let mut names = Vec::new();
            if let Some(init) = module[declarator].init {
                names_of_init(module, module.inits[init.index()], &mut names);
            }
            names
        }
        Entity::Function(function) => {
            let body = module[function].body.into_iter().flat_map(|body| body.ids());
            body.flat_map(|stmt| names_of(module, stmt)).collect()
        }
    }
}

/// The names in an initialiser.
fn names_of_init(module: &Module, init: Init, names: &mut Vec<Symbol>) {
    match init {
        Init::Const(_) | Init::Bytes(_) | Init::Ints(_) | Init::Field { .. } => {}
        Init::Address { name, .. } => names.push(name),
        Init::Mask(mask) => match module[mask].of {
            MaskOf::Int(_) => {}
            MaskOf::Address { name, .. } => names.push(name),
        },
        Init::List(list) => module[list].iter().for_each(|init| names_of_init(module, *init, names)),
    }
}

/// The names in a statement, those of registers and labels included.
fn names_of(module: &Module, stmt: Id<Stmt>) -> Vec<Symbol> {
    let mut names = Vec::new();
    match module[stmt] {
        Stmt::Open
        | Stmt::Close
        | Stmt::Label(_)
        | Stmt::Loc(_)
        | Stmt::LocIntermediate(_)
        | Stmt::Pragma(_)
        | Stmt::CallPrototype(_)
        | Stmt::Target(_) => {}
        Stmt::Decl(decl) => {
            for declarator in module[decl].names.ids() {
                names.extend(uses(module, Entity::Variable(decl, declarator)));
            }
        }
        Stmt::BranchTargets { targets, .. } | Stmt::CallTargets { targets, .. } => {
            names.extend(module[targets].iter().map(|target| target.name));
        }
        Stmt::Inst(inst) => inst
            .operands
            .ids()
            .for_each(|operand| module.for_each_name(operand, &mut |name| names.push(name))),
    }
    names
}
