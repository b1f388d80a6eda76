//! Functions as values, and what they give.

use super::Symbols;
use crate::debug::value::{Type, Value};
use crate::demangled;
use crate::dwarf;
use std::sync::Arc;
use warpsmith_ptx::{Decl, List, Operand, Stmt};

impl<'a> Symbols<'a> {
    /// The function of the source that an operation is in, if it has code of its own.
    pub fn source_function_at(&self, pc: u32) -> Option<&dwarf::Function> {
        let text = self.text_at(pc);
        self.sources.dwarf().functions.iter().find(|function| function.text.contains(&text))
    }

    /// A function as a value: the line of the PTX where it starts. What it takes and gives is as the source declares it, or else the PTX.
    pub fn function_value(&self, name: &str) -> Option<Value> {
        let pc = self
            .entry(name)
            .or_else(|| self.source_function(name).first().copied().filter(|pc| self.is_first(*pc)))?;
        let own = self.function(pc);
        let signature = match self.source_function_at(pc) {
            Some(function) => self.sources.dwarf().signature(function),
            None => self.declared_signature(own)?,
        };
        let ty = Type::Function(Arc::new(signature), Some(demangled(own).into()));
        Some(Value { ty, bytes: u64::from(self.program.line(pc)).to_le_bytes().to_vec(), at: None })
    }

    fn declared_signature(&self, name: &str) -> Option<dwarf::Signature> {
        let module = self.module;
        let function = module.functions().find(|function| &module[function.name] == name)?;
        let types = |decls: List<Decl>| {
            let decls = module[decls].iter();
            let each =
                decls.flat_map(|decl| module[decl.names].iter().map(move |name| self.type_of(decl, name)));
            each.map(|ty| dwarf::Type::Base(ty.name().into(), ty.bytes(), 0)).collect::<Vec<_>>()
        };
        Some(dwarf::Signature { result: types(function.returns).pop(), parameters: types(function.params) })
    }

    /// What the call in front of an operation gives: a register or a parameter.
    pub fn given_by_call(&self, pc: u32) -> Option<&'a str> {
        let module = self.module;
        let index = self.starts.partition_point(|start| *start < pc).checked_sub(1)?;
        let at = self.program.statement_at(self.starts[index]).span.start;
        let mut statements =
            module.functions().filter_map(|function| function.body).flat_map(|body| body.ids());
        let call = statements
            .find(|id| module.stmt_span(*id).start == at && matches!(module[*id], Stmt::Inst(_)))?;
        let Stmt::Inst(inst) = module[call] else { return None };
        let Some(Operand::Group(given)) = module[inst.operands].first() else { return None };
        let Some(Operand::Name(name)) = module[*given].first() else { return None };
        Some(&module[*name])
    }
}
