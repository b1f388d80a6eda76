//! What is used and defined nowhere, with who uses it.

use super::function::Builder;
use super::library::SYSTEM;
use super::{Importer, debug};
use crate::error::Error;
use warpsmith_base::FxHashMap;
use warpsmith_diag::Place;
use warpsmith_ir as ir;

/// More users than this of one symbol are not named.
const MOST_USERS: usize = 4;

/// Who uses what this program does not define.
#[derive(Default)]
pub(super) struct Users(FxHashMap<ir::Symbol, Vec<User>>);

/// A function or variable, and where in its source the use stands.
struct User {
    name: String,
    places: Vec<Place>,
}

impl Users {
    /// Notes a user, if it is another than those that are known.
    pub fn note(&mut self, symbol: ir::Symbol, name: &str, places: impl FnOnce() -> Vec<Place>) {
        let users = self.0.entry(symbol).or_default();
        if users.len() < MOST_USERS && users.iter().all(|user| user.name != name) {
            users.push(User { name: name.to_owned(), places: places() });
        }
    }
}

impl Builder<'_, '_, '_> {
    /// Notes that the instruction at hand uses a symbol, if nothing defines that.
    pub fn note_use(&mut self, symbol: ir::Symbol) {
        if !is_declared(self.b.module(), symbol) {
            return;
        }
        let (body, here) = (self.body, self.here);
        let inst = body.insts.get(here as usize);
        let module = &self.importer.modules[self.site.module].1;
        let places = || inst.map_or(Vec::new(), |inst| debug::places(module, body, inst));
        let name = module.name_of(self.site.value);
        self.importer.users.note(symbol, name, places);
    }
}

/// True for what is declared only. The size of dynamic shared memory is the launch's, and nothing defines it.
pub(super) fn is_declared(module: &ir::Module, symbol: ir::Symbol) -> bool {
    match symbol {
        ir::Symbol::Func(id) => module.functions[id].linkage == ir::Linkage::Extern,
        ir::Symbol::Global(id) => {
            let global = &module.globals[id];
            global.linkage == ir::Linkage::Extern && global.extent != ir::Extent::Dynamic
        }
    }
}

impl Importer<'_> {
    /// Reports what nothing defines, with who uses it.
    pub(super) fn undefined(&self, out: &ir::Module, errors: &mut Vec<Error>) {
        let functions = self.functions.iter().map(|(site, id)| (*site, ir::Symbol::Func(*id)));
        let variables = self.globals.iter().map(|(site, id)| (*site, ir::Symbol::Global(*id)));
        let mut all: Vec<Error> = Vec::new();
        for (site, symbol) in functions.chain(variables) {
            let name = self.module(site).name_of(site.value);
            if !is_declared(out, symbol) || SYSTEM.contains(&name) {
                continue;
            }
            let users = self.users.0.get(&symbol).map_or(&[][..], Vec::as_slice);
            let names: Vec<String> = users.iter().map(|user| format!("`{}`", user.name)).collect();
            let used =
                if names.is_empty() { String::new() } else { format!(", used by {}", names.join(", ")) };
            let places = users.iter().find(|user| !user.places.is_empty());
            let error = Error::link(format!("nothing defines `{name}`{used}"));
            all.push(error.in_source(|| places.map_or(Vec::new(), |user| user.places.clone())));
        }
        // In an order of their own: that of the tables is none.
        all.sort_by(|a, b| a.message.cmp(&b.message));
        errors.extend(all);
    }
}
