//! Which definition a symbol means, among all modules that are linked, and what it is called in PTX.

use crate::error::{Error, Result};
use crate::module::constants::ConstantKind;
use crate::module::ops::CastOp;
use crate::module::{GlobalValue, Module, ValueId};
use warpsmith_base::{FxHashMap, FxHashSet};

/// A symbol of one of the modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Site {
    /// The module.
    pub module: usize,
    /// What it is there.
    pub value: GlobalValue,
}

/// The symbols that modules see of each other.
pub(super) struct Symbols {
    global: FxHashMap<String, Entry>,
    /// The names that [`Symbols::legal`] has made up.
    made: FxHashSet<String>,
}

#[derive(Clone, Copy)]
struct Entry {
    site: Site,
    rank: Rank,
}

/// How much a definition counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Declared,
    Weak,
    Strong,
}

/// The linkage of a symbol, and whether it is only declared.
fn linkage(module: &Module<'_>, value: GlobalValue) -> Option<(crate::module::ops::Linkage, bool)> {
    Some(match value {
        GlobalValue::Global(n) => {
            let global = module.globals.get(n)?;
            (global.linkage, global.init.is_none())
        }
        GlobalValue::Function(n) => {
            let function = module.functions.get(n)?;
            (function.linkage, function.is_declaration)
        }
        GlobalValue::Alias(n) => (module.aliases.get(n)?.linkage, false),
    })
}

impl Symbols {
    /// The symbols of all modules; what is wrong with them is added to `errors`.
    pub fn new(modules: &[(String, Module<'_>)], errors: &mut Vec<Error>) -> Symbols {
        // What a body of a library calls under such a name is never a function that only one module sees.
        let made = super::library::SYSTEM.map(str::to_owned).into_iter().collect();
        let mut symbols = Symbols { global: FxHashMap::default(), made };
        for (n, (file, module)) in modules.iter().enumerate() {
            for value in &module.values {
                let Some((linkage, declared)) = linkage(module, *value) else { continue };
                let name = module.name_of(*value);
                if linkage.is_local() || name.is_empty() || name.starts_with("llvm.") {
                    continue;
                }
                let rank = match (declared, linkage.is_weak()) {
                    (true, _) => Rank::Declared,
                    (false, true) => Rank::Weak,
                    (false, false) => Rank::Strong,
                };
                let entry = Entry { site: Site { module: n, value: *value }, rank };
                match symbols.global.get_mut(name) {
                    None => _ = symbols.global.insert(name.to_owned(), entry),
                    Some(known) if known.rank == Rank::Strong && rank == Rank::Strong => {
                        let first = modules.get(known.site.module).map_or("?", |(file, _)| file);
                        errors
                            .push(Error::link(format!("`{name}` is defined in {first} and again in {file}")));
                    }
                    Some(known) if known.rank < rank => *known = entry,
                    Some(_) => {}
                }
            }
        }
        symbols
    }

    /// What a symbol of a module means: of those that other modules see too, the definition that counts; of aliases, what they name.
    pub fn resolve(&self, modules: &[(String, Module<'_>)], mut site: Site) -> Result<Site> {
        for _ in 0..16 {
            let Some((_, module)) = modules.get(site.module) else { break };
            let name = module.name_of(site.value);
            if linkage(module, site.value).is_some_and(|(linkage, _)| !linkage.is_local())
                && let Some(entry) = self.global.get(name)
            {
                site = entry.site;
            }
            let Some((_, module)) = modules.get(site.module) else { break };
            let GlobalValue::Alias(n) = site.value else { return Ok(site) };
            let Some(alias) = module.aliases.get(n) else { break };
            let Some(target) = plain(module, alias.target) else {
                return Err(Error::unsupported(format!(
                    "`@{}`, another name for a part of something",
                    alias.name
                )));
            };
            site = Site { module: site.module, value: target };
        }
        Err(Error::link("aliases that go round in circles"))
    }

    /// The symbol of a name, as a module sees it.
    pub fn named(&self, modules: &[(String, Module<'_>)], module: usize, name: &str) -> Option<Site> {
        let of = &modules.get(module)?.1;
        let own = of.values.iter().find(|value| of.name_of(**value) == name);
        let site = own.map(|value| Site { module, value: *value });
        let site = site.or_else(|| Some(self.global.get(name)?.site))?;
        self.resolve(modules, site).ok()
    }

    /// The symbol that all modules see under a name.
    pub fn seen(&self, name: &str) -> Option<Site> {
        self.global.get(name).map(|entry| entry.site)
    }

    /// All names that modules see of each other, in order.
    pub fn defined(&self) -> Vec<(&str, Site)> {
        let defined = self.global.iter().filter(|(_, entry)| entry.rank > Rank::Declared);
        let mut all: Vec<(&str, Site)> = defined.map(|(name, entry)| (name.as_str(), entry.site)).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    /// A name for PTX that nothing else has. What other modules see keeps its name if PTX can write it.
    pub fn legal(&mut self, name: &str, is_global: bool) -> String {
        let writable = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        let mut legal = String::with_capacity(name.len() + 8);
        let mut rest = name;
        // What begins with a byte that is not writable is a character, of one byte or several.
        while let Some(at) = rest.as_bytes().iter().position(|byte| !writable(byte)) {
            let (before, from) = rest.split_at(at);
            legal.push_str(before);
            let mut after = from.chars();
            match after.next() {
                Some('.') | None => legal.push('$'),
                Some(c) => legal.push_str(&format!("${:x}", u32::from(c))),
            }
            rest = after.as_str();
        }
        legal.push_str(rest);
        let starts_well = match legal.as_bytes() {
            [] => false,
            [b'0'..=b'9', ..] => false,
            // One of these alone is not a name.
            [b'_' | b'$'] => false,
            _ => true,
        };
        if !starts_well {
            legal.insert_str(0, "_$");
        }
        if is_global && legal == name {
            return legal;
        }
        let is_known = |name: &str| self.global.contains_key(name) || self.made.contains(name);
        if is_known(&legal) {
            let next = (1..).map(|n: u32| format!("{legal}${n}")).find(|name| !is_known(name));
            legal = next.unwrap_or(legal);
        }
        self.made.insert(legal.clone());
        legal
    }
}

/// The symbol that a constant is, looking through casts.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not an address of a symbol is none")]
pub(super) fn plain(module: &Module<'_>, mut value: ValueId) -> Option<GlobalValue> {
    for _ in 0..16 {
        if let Some(global) = module.global_value(value) {
            return Some(global);
        }
        match &module.constant(value)?.kind {
            ConstantKind::Cast { op: CastOp::BitCast | CastOp::AddrSpaceCast, arg } => value = *arg,
            ConstantKind::Gep { base, indices, .. }
                if indices.iter().all(|index| is_zero(module, *index)) =>
            {
                value = *base
            }
            _ => return None,
        }
    }
    None
}

fn is_zero(module: &Module<'_>, value: ValueId) -> bool {
    module.constant(value).is_some_and(|c| matches!(c.kind, ConstantKind::Null | ConstantKind::Integer(0)))
}
