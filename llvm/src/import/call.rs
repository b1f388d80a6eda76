//! Calls: of functions, through addresses, of LLVM's intrinsics and of inline assembly.

use super::function::{Builder, Values};
use super::signature::Incoming;
use super::symbols::Site;
use crate::error::{Error, Result};
use crate::module::attributes::known;
use crate::module::body::{Call, Inst};
use crate::module::constants::ConstantKind;
use crate::module::types::TypeId;
use crate::module::{GlobalValue, ValueId};
use warpsmith_ir::{self as ir, InstBuilder, MemFlags, Type, Value};

impl Builder<'_, '_, '_> {
    pub fn call(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        if let Some(constant) = self.find_constant(call.callee)
            && let ConstantKind::InlineAsm(asm) = &constant.kind
        {
            let asm = asm.clone();
            return self.inline_asm(inst, call, &asm);
        }
        if let Some(GlobalValue::Function(n)) = self.module().global_value(call.callee) {
            let name = self.module().functions[n].name.clone();
            if let Some(name) = name.strip_prefix("llvm.") {
                return match name.strip_prefix("nvvm.") {
                    Some(name) => self.nvvm(inst, call, name),
                    None => self.intrinsic(inst, call, name),
                };
            }
            if name == "__nvvm_reflect" {
                return self.reflect(inst, call);
            }
            return self.call_function(inst, call, n);
        }
        self.call_address(inst, call)
    }

    fn call_function(&mut self, inst: &Inst, call: &Call, n: usize) -> Result<()> {
        let function = &self.module().functions[n];
        let attributes = function.attributes;
        if function.ty != call.signature {
            return self.call_address(inst, call);
        }
        let site = self.importer.symbols.resolve(
            &self.importer.modules,
            Site { module: self.site.module, value: GlobalValue::Function(n) },
        )?;
        if self.importer.is_kernel(site) {
            return Err(Error::unsupported(format!(
                "a call of the kernel `{}`",
                self.module().functions[n].name
            )));
        }
        let signature = self.importer.signature(self.site.module, call.signature, attributes, false)?;
        let id = self.func_id(GlobalValue::Function(n))?;
        let types: Vec<Type> = self.b.module().functions[id].params.iter().map(|param| param.ty).collect();
        let mut args = Vec::new();
        for (param, value) in signature.params.iter().zip(&call.args) {
            if matches!(param, Incoming::Variadic) {
                break;
            }
            let values = self.value(*value)?;
            if let Incoming::ByValue { align, .. } = param {
                args.push(self.bytes_for(values, *align)?);
                continue;
            }
            for value in values {
                let ty = types.get(args.len()).copied().unwrap_or(Type::PTR);
                args.push(self.pointer_as(value, ty));
            }
        }
        if signature.params.iter().any(|param| matches!(param, Incoming::Variadic)) {
            let fixed = signature.params.len() - 1;
            args.push(self.pack(call, fixed)?);
        }
        let place = signature.returned.as_ref().map(|parts| self.place_for_results(parts));
        args.extend(place.map(|(_, generic)| generic));
        if args.len() != types.len() {
            return Err(Error::link(format!(
                "a call with {} arguments of a function that takes {}",
                args.len(),
                types.len()
            )));
        }
        let mut results: Values = self.b.call(id, &args).into_iter().collect();
        if let (Some((address, _)), Some(parts)) = (place, &signature.returned) {
            results = self.load_results(parts, address);
        }
        self.called(inst, call, &results)
    }

    /// What a call gives; behind one that never returns nothing follows.
    fn called(&mut self, inst: &Inst, _call: &Call, results: &[Value]) -> Result<()> {
        let mut results = Values::from_slice(results);
        if let ([value], Some(result)) = (results.as_mut_slice(), inst.value) {
            let ty = self.known_type(result, self.type_of(*value));
            *value = self.pointer_as(*value, ty);
        }
        self.result(inst, &results)
    }

    /// The address of bytes that are passed.
    fn bytes_for(&mut self, values: Values, _align: u32) -> Result<Value> {
        values.first().copied().ok_or_else(|| Error::unsupported("bytes of nowhere"))
    }

    fn call_address(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let set = self.module().attributes.set(call.attributes);
        if (1..=call.args.len() as u32).any(|index| set.has(index, known::BYVAL)) {
            return Err(Error::unsupported("a call through an address that passes bytes by value"));
        }
        let signature = self.importer.signature(self.site.module, call.signature, call.attributes, false)?;
        let callee = self.scalar(call.callee)?;
        let callee = self.generic(callee);
        let mut args = Vec::new();
        for (param, value) in signature.params.iter().zip(&call.args) {
            match param {
                Incoming::Scalars(parts) => {
                    let values = self.value(*value)?;
                    args.extend(self.as_parts(values, parts));
                }
                Incoming::Bytes(_) | Incoming::ByValue { .. } | Incoming::Variadic => break,
            }
        }
        if signature.params.iter().any(|param| matches!(param, Incoming::Variadic)) {
            args.push(self.pack(call, signature.params.len() - 1)?);
        }
        let place = signature.returned.as_ref().map(|parts| self.place_for_results(parts));
        args.extend(place.map(|(_, generic)| generic));
        let mut results: Values =
            self.b.ins().call_indirect(callee, &signature.results, &args).into_iter().collect();
        if let (Some((address, _)), Some(parts)) = (place, &signature.returned) {
            results = self.load_results(parts, address);
        }
        self.called(inst, call, &results)
    }

    /// What follows the parameters of a call, each at a multiple of its alignment: the address of the bytes.
    fn pack(&mut self, call: &Call, fixed: usize) -> Result<Value> {
        let mut places: Vec<(ValueId, TypeId, u64)> = Vec::new();
        let mut at = 0u64;
        for (arg, ty) in call.args.iter().zip(&call.arg_types).skip(fixed) {
            at = at.next_multiple_of(self.types().align(*ty));
            places.push((*arg, *ty, at));
            at += self.types().alloc_size(*ty)?;
        }
        let size =
            u32::try_from(at.max(1)).map_err(|_| Error::unsupported("arguments of more than 2^32 bytes"))?;
        let slot = self.b.create_stack_slot(size, 16);
        for (arg, ty, at) in places {
            let values = self.value(arg)?;
            let address = self.b.ins().stack_addr(slot, at as i32);
            let align = self.types().align(ty);
            self.store_parts(ty, values, address, align, MemFlags::PLAIN)?;
        }
        let address = self.b.ins().stack_addr(slot, 0);
        Ok(self.generic(address))
    }

    /// `__nvvm_reflect`: what the program is compiled for.
    fn reflect(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let text = call.args.first().and_then(|arg| self.text(*arg)).unwrap_or_default();
        let sm = self.b.module().target.map_or(750, |target| i64::from(target.sm) * 10);
        let value = match text.trim_end_matches('\0') {
            "__CUDA_FTZ" => i64::from(self.ftz),
            "__CUDA_ARCH" => sm,
            "__CUDA_PREC_SQRT" | "__CUDA_PREC_DIV" => 1,
            _ => 0,
        };
        let value = self.b.ins().iconst(Type::I32, value);
        self.result(inst, &[value])
    }

    /// The text that a constant address leads to.
    fn text(&self, value: ValueId) -> Option<String> {
        let module = self.module();
        let mut value = value;
        for _ in 0..8 {
            if let Some(GlobalValue::Global(n)) = module.global_value(value) {
                value = module.globals.get(n)?.init?;
                continue;
            }
            match &self.find_constant(value)?.kind {
                ConstantKind::Gep { base, .. } => value = *base,
                ConstantKind::Cast { arg, .. } => value = *arg,
                ConstantKind::String(bytes) => return Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => return None,
            }
        }
        None
    }

    /// An instruction of PTX with one result.
    pub fn ptx_one(&mut self, mnemonic: &str, args: Vec<ir::PtxArg>, result: Type) -> Result<Value> {
        let mnemonic = Self::mnemonic(mnemonic)?;
        Ok(self.b.ins().ptx_typed(mnemonic, args, &[result]).first())
    }

    /// An instruction of PTX without a result.
    pub fn ptx_none(&mut self, mnemonic: &str, args: Vec<ir::PtxArg>) -> Result<()> {
        let mnemonic = Self::mnemonic(mnemonic)?;
        self.b.ins().ptx_typed(mnemonic, args, &[]);
        Ok(())
    }

    /// A mnemonic of the tables.
    pub fn mnemonic(text: &str) -> Result<ir::Mnemonic> {
        ir::Mnemonic::parse(text)
            .map_err(|_| Error::unsupported(format!("`{text}`, which PTX does not have")))
    }
}
