//! Calls: of functions, through addresses, and of helpers.

use super::kind::Kind;
use super::{Fallible, Translator};
use crate::context::{CELLS, FUNCTIONS};
use crate::fault::FaultKind;
use crate::unit::internal;
use cranelift_codegen::ir as clif;
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, StackSlotData, StackSlotKind, Value, types};
use cranelift_module::Linkage;
use cranelift_module::Module as _;
use warpsmith_ir as ir;
use warpsmith_ir::{FuncId, Type};

impl<'m> Translator<'_, '_, 'm> {
    pub(super) fn cells(&mut self, count: usize) -> Value {
        let size = (8 * CELLS * count.max(1)) as u32;
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4));
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    pub(super) fn import(&mut self, id: cranelift_module::FuncId) -> clif::FuncRef {
        match self.imported.get(&id) {
            Some(known) => *known,
            None => {
                let made = self.shop.code.declare_func_in_func(id, self.b.func);
                self.imported.insert(id, made);
                made
            }
        }
    }

    pub(super) fn takes_memory(&self, callee: FuncId) -> bool {
        self.module.functions[callee].params.iter().any(|param| param.byval.is_some())
    }

    /// Calls a compiled function, and leaves with its fault if it has one.
    pub(super) fn call(&mut self, callee: FuncId, args: &[ir::Value]) -> Fallible<Vec<Value>> {
        if self.takes_memory(callee) {
            return self.refuse("a parameter that is passed by value in memory");
        }
        let passed: Vec<(Kind, Value)> = {
            let mut passed = Vec::new();
            for arg in args {
                let kinds = self.kinds(self.ty(*arg));
                passed.extend(kinds.into_iter().zip(self.parts(*arg)?));
            }
            passed
        };
        let module = self.module;
        let kinds: Vec<Kind> = module.functions[callee].ret.iter().flat_map(|ty| self.kinds(*ty)).collect();
        let given = self.cells(passed.len());
        for (n, (kind, value)) in passed.into_iter().enumerate() {
            self.store_cell(given, n, kind, value);
        }
        let results = self.cells(kinds.len());
        let Some(&id) = self.shop.functions.get(&callee) else {
            return self.refuse("a call of an unknown function");
        };
        let function = self.import(id);
        let call = self.b.ins().call(function, &[self.context, given, results]);
        let status = self.b.inst_results(call)[0];
        let next = self.b.create_block();
        self.b.ins().brif(status, self.fault, &[BlockArg::Value(status)], next, &[]);
        self.b.switch_to_block(next);
        Ok(kinds.into_iter().enumerate().map(|(n, kind)| self.load_cell(results, n, kind)).collect())
    }

    /// A call of one of the functions whose addresses are taken and that have this signature.
    pub(super) fn call_indirect(
        &mut self,
        callee: ir::Value,
        args: &[ir::Value],
        results: &[Type],
    ) -> Fallible<Vec<Value>> {
        let address = self.one(callee)?;
        let kinds: Vec<Kind> = results.iter().flat_map(|ty| self.kinds(*ty)).collect();
        let done = self.b.create_block();
        for kind in &kinds {
            self.b.append_block_param(done, kind.ty());
        }
        let types: Vec<Type> = args.iter().map(|arg| self.ty(*arg)).collect();
        for (number, id) in self.shop.addressed.clone().into_iter().enumerate() {
            let function = &self.module.functions[id];
            let fits = function.params.iter().map(|param| param.ty).eq(types.iter().copied());
            if !fits || function.ret != results {
                continue;
            }
            let hit = self.b.ins().icmp_imm_s(Cc::Equal, address, (FUNCTIONS + 16 * number as u64) as i64);
            let (here, next) = (self.b.create_block(), self.b.create_block());
            self.b.ins().brif(hit, here, &[], next, &[]);
            self.b.switch_to_block(here);
            let found: Vec<BlockArg> = self.call(id, args)?.into_iter().map(BlockArg::Value).collect();
            self.b.ins().jump(done, &found);
            self.b.switch_to_block(next);
        }
        self.fail(FaultKind::BadCall);
        self.b.switch_to_block(done);
        Ok(self.b.block_params(done).to_vec())
    }

    /// Calls a helper.
    pub(super) fn helper(
        &mut self,
        name: &'static str,
        args: &[Value],
        result: Option<clif::Type>,
    ) -> Fallible<Option<Value>> {
        let id = match self.shop.helpers.get(name) {
            Some(id) => *id,
            None => {
                let mut signature = self.shop.code.make_signature();
                signature
                    .params
                    .extend(args.iter().map(|arg| AbiParam::new(self.b.func.dfg.value_type(*arg))));
                signature.returns.extend(result.map(AbiParam::new));
                let declared = self.shop.code.declare_function(name, Linkage::Import, &signature);
                let id = declared.map_err(|error| internal(&self.func.name, error))?;
                self.shop.helpers.insert(name, id);
                id
            }
        };
        let function = self.import(id);
        let call = self.b.ins().call(function, args);
        Ok(self.b.inst_results(call).first().copied())
    }

    /// Calls a helper that returns a value.
    pub(super) fn helped(
        &mut self,
        name: &'static str,
        args: &[Value],
        result: clif::Type,
    ) -> Fallible<Value> {
        match self.helper(name, args, Some(result))? {
            Some(value) => Ok(value),
            None => self.refuse(format_args!("`{name}`")),
        }
    }
}
