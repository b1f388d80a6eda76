//! Bodies of libraries, and the variables of C++'s run-time library that the program refers to: each is made once, with what it refers to in turn.

use super::library::{self, exceptions, rtti};
use super::symbols::Site;
use super::{Importer, Out, Work};
use crate::error::{Error, Result};
use crate::module::GlobalValue;
use warpsmith_ir as ir;
use warpsmith_isa::StateSpace;

impl Importer<'_> {
    /// Makes the body of a function of a library. What it calls and refers to may be the program's own.
    pub(super) fn define_library(
        &mut self,
        site: Site,
        known: library::Known,
        id: ir::FuncId,
        out: &mut ir::Module,
    ) -> Result<()> {
        if let Some(called) = known.calls().and_then(|name| self.symbols.seen(name)) {
            self.declare(called, out)?;
        }
        let variable = match known.refers_to() {
            Some(name) => match self.run_time_symbol(site, &name, out)? {
                ir::Symbol::Global(id) => Some(id),
                ir::Symbol::Func(_) => return Err(is_other_kind(&name)),
            },
            None => None,
        };
        library::define(known, id, variable, &self.shared, out)
    }

    /// The variable of C++'s run-time library that a name means; none for other names.
    pub(super) fn run_time_variable(
        &mut self,
        site: Site,
        name: &str,
        out: &mut impl Out,
    ) -> Result<Option<ir::GlobalId>> {
        match self.run_time.get(name) {
            Some(ir::Symbol::Global(id)) => return Ok(Some(*id)),
            Some(ir::Symbol::Func(_)) => return Err(is_other_kind(name)),
            None => {}
        }
        let Some(variable) = rtti::variable(name) else { return Ok(None) };
        let mut made = match variable {
            rtti::Variable::Text(text) => {
                let bytes: Vec<u8> = text.bytes().chain([0]).collect();
                let extent = ir::Extent::Array(bytes.len() as u64);
                let mut made = ir::Global::new("", StateSpace::Global, ir::Type::I8, extent);
                made.init = Some(bytes);
                made
            }
            rtti::Variable::Words(words) => {
                let extent = ir::Extent::Array(words.len() as u64);
                let mut made = ir::Global::new("", StateSpace::Global, ir::Type::I64, extent);
                let mut bytes = Vec::new();
                for (offset, word) in (0..).step_by(8).zip(words) {
                    let number = match word {
                        rtti::Word::Number(number) => number,
                        rtti::Word::Address(name, addend) => {
                            let target = self.run_time_symbol(site, &name, out)?;
                            let generic = matches!(target, ir::Symbol::Global(_));
                            made.relocs.push(ir::Reloc { offset, target, addend, generic });
                            0
                        }
                    };
                    bytes.extend(number.to_le_bytes());
                }
                made.init = Some(bytes);
                made
            }
        };
        made.name = self.symbols.legal(name, true);
        let id = out.global(made);
        self.run_time.insert(name.to_owned(), ir::Symbol::Global(id));
        Ok(Some(id))
    }

    /// What a name of C++'s run-time library means: the program's own definition, or what is made here.
    fn run_time_symbol(&mut self, site: Site, name: &str, out: &mut impl Out) -> Result<ir::Symbol> {
        if let Some(known) = self.run_time.get(name) {
            return Ok(*known);
        }
        if let Some(own) = self.symbols.seen(name) {
            let own = self.resolve(own)?;
            return match own.value {
                GlobalValue::Function(_) => self.func_id(own, out).map(ir::Symbol::Func),
                GlobalValue::Global(_) => self.global_id(own, out).map(ir::Symbol::Global),
                GlobalValue::Alias(_) => Err(is_other_kind(name)),
            };
        }
        if let Some(id) = self.run_time_variable(site, name, out)? {
            return Ok(ir::Symbol::Global(id));
        }
        let Some(member) = exceptions::named(name) else {
            return Err(Error::link(format!("nothing defines `{name}`")));
        };
        let id = out.function(member.declaration(&self.symbols.legal(name, true)));
        self.run_time.insert(name.to_owned(), ir::Symbol::Func(id));
        self.queue.push(Work::Library(site, library::Known::Member(member), id));
        Ok(ir::Symbol::Func(id))
    }
}

fn is_other_kind(name: &str) -> Error {
    Error::link(format!("`{name}`, a name of C++'s run-time library, is something else in this program"))
}
