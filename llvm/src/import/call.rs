//! Calls: of functions, through addresses, of LLVM's intrinsics and of inline assembly.

use super::Out;
use super::function::{Builder, Values};
use super::libdevice;
use super::signature::{Incoming, Signature};
use super::symbols::Site;
use crate::error::{Error, Result};
use crate::module::body::{Call, Inst};
use crate::module::constants::ConstantKind;
use crate::module::types::TypeId;
use crate::module::{GlobalValue, ValueId};
use std::rc::Rc;
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
            let name = self.module().functions[n].name.as_str();
            if !name.starts_with("llvm.") && name != "__nvvm_reflect" && !super::device::is_instructions(name)
            {
                return self.call_function(inst, call, n);
            }
            let name = name.to_owned();
            if let Some(name) = name.strip_prefix("llvm.") {
                return match name.strip_prefix("nvvm.") {
                    Some(name) => self.nvvm(inst, call, name),
                    None => self.intrinsic(inst, call, name),
                };
            }
            if let Some(asm) = super::device::instructions(&name) {
                return self.inline_asm(inst, call, &asm);
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
        if let Some(name) = libdevice::block_function(&function.name) {
            return self.block_function(inst, call, name);
        }
        let site =
            self.importer.resolve(Site { module: self.site.module, value: GlobalValue::Function(n) })?;
        if self.importer.is_absent(site) {
            return self.call_address(inst, call);
        }
        if self.importer.is_declared(site) {
            let name = self.module().functions[n].name.clone();
            if self.provided(inst, call, &name)? {
                return Ok(());
            }
        }
        if self.importer.is_kernel(site) {
            return Err(Error::unsupported(format!(
                "a call of the kernel `{}`",
                self.module().functions[n].name
            )));
        }
        let signature = self.signature(call.signature, attributes)?;
        let id = self.function_at(site)?;
        let args = self.arguments_of(call, &signature)?;
        let callee = &self.b.module().functions[id];
        let fits = |(param, arg): (&ir::Param, &Value)| {
            let of_arg = self.type_of(*arg);
            param.ty == of_arg || (param.ty == Type::PTR_PARAM && of_arg.is_ptr())
        };
        if args.len() != callee.params.len() || !callee.params.iter().zip(&args).all(fits) {
            let name = &callee.name;
            return Err(Error::link(format!("a call of `{name}` with other arguments than it takes")));
        }
        let results = self.b.call(id, &args);
        self.called(inst, results)
    }

    fn signature(&mut self, ty: TypeId, attributes: u32) -> Result<Rc<Signature>> {
        let table = Out::types(&mut self.b)?;
        self.importer.signature(self.site.module, ty, attributes, false, table)
    }

    /// The arguments of a call as the function takes them.
    fn arguments_of(&mut self, call: &Call, signature: &Signature) -> Result<Vec<Value>> {
        let mut args = Vec::new();
        for (n, param) in signature.params.iter().enumerate() {
            if matches!(param, Incoming::Variadic) {
                args.push(self.pack(call, n)?);
                break;
            }
            let value = *self
                .body
                .args(call)
                .get(n)
                .ok_or_else(|| Error::unsupported("a call that lacks an argument"))?;
            match param {
                Incoming::Value(Some(ty)) => {
                    let values = self.value(value)?;
                    args.push(self.put_together(*ty, &mut values.into_iter())?);
                }
                Incoming::ByValue { size: 1.., align } => {
                    let pointer = self.scalar(value)?;
                    if !self.type_of(pointer).is_ptr() {
                        return Err(Error::invalid("a `byval` argument that is not a pointer"));
                    }
                    let param = signature.ir.get(args.len()).filter(|param| param.byval.is_none());
                    args.push(match param {
                        Some(param) => {
                            let flags = MemFlags::PLAIN.with_align(*align).unwrap_or(MemFlags::PLAIN);
                            self.b.ins().load(param.ty, flags, pointer, 0)
                        }
                        None => pointer,
                    });
                }
                Incoming::Value(None)
                | Incoming::ByValue { .. }
                | Incoming::Bytes(_)
                | Incoming::Variadic => {}
            }
        }
        Ok(args)
    }

    /// What a call gives.
    fn called(&mut self, inst: &Inst, returned: ir::Results) -> Result<()> {
        let mut results = Values::new();
        for whole in returned {
            self.take_apart(whole, &mut results);
        }
        if let ([value], Some(result)) = (results.as_mut_slice(), inst.value) {
            let ty = self.known_type(result, self.type_of(*value));
            *value = self.pointer_as(*value, ty);
        }
        self.result(inst, &results)
    }

    fn call_address(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let signature = self.signature(call.signature, call.attributes)?;
        let callee = self.scalar(call.callee)?;
        if !self.type_of(callee).is_ptr() {
            return Err(Error::record(inst.offset, "a call of what is not a pointer"));
        }
        let callee = self.generic(callee);
        if signature.ir.iter().any(|param| param.byval.is_some()) {
            return Err(Error::unsupported("a call through an address that passes many bytes by value"));
        }
        let args = self.arguments_of(call, &signature)?;
        let results = self.b.ins().call_indirect(callee, signature.result.as_slice(), &args);
        self.called(inst, results)
    }

    /// `va_arg`: the next of the arguments that [`Self::pack`] has put down.
    pub fn next_variadic(&mut self, inst: &Inst, list: ValueId) -> Result<()> {
        let list = self.scalar(list)?;
        let at = self.b.ins().load(Type::PTR, MemFlags::PLAIN, list, 0);
        let (align, size) = (self.types().align(inst.ty), self.types().alloc_size(inst.ty)?);
        let address = self.b.ins().ptrtoint(at);
        let up = self.b.ins().iadd_imm(address, align as i64 - 1);
        let aligned = self.b.ins().band_imm(up, (align as i64).wrapping_neg());
        let next = self.b.ins().iadd_imm(aligned, size as i64);
        let (at, next) = (self.b.ins().inttoptr(Type::PTR, aligned), self.b.ins().inttoptr(Type::PTR, next));
        self.b.ins().store(MemFlags::PLAIN, next, list, 0);
        let values = self.load_parts(inst.ty, at, align, MemFlags::PLAIN)?;
        self.result(inst, &values)
    }

    /// What follows the parameters of a call, each at a multiple of its alignment: the address of the bytes.
    fn pack(&mut self, call: &Call, fixed: usize) -> Result<Value> {
        let mut places: Vec<(ValueId, TypeId, u64)> = Vec::new();
        let mut at = 0u64;
        for (arg, ty) in self.body.args(call).iter().zip(self.body.arg_types(call)).skip(fixed) {
            at = at.next_multiple_of(self.types().align(*ty));
            places.push((*arg, *ty, at));
            at += self.types().alloc_size(*ty)?;
        }
        let size =
            u32::try_from(at.max(1)).map_err(|_| Error::unsupported("arguments of more than 2^32 bytes"))?;
        let slot = self.b.create_stack_slot(size, 16);
        for (arg, ty, at) in places {
            // The callee does not know address spaces: `%s` of OpenCL's `printf` takes a text in any of them.
            let values = self.value(arg)?;
            let address = self.b.ins().stack_addr(slot, at as i32);
            if let [pointer] = values.as_slice()
                && self.type_of(*pointer).is_ptr()
            {
                let pointer = self.generic(*pointer);
                self.b.ins().store(MemFlags::PLAIN, pointer, address, 0);
                continue;
            }
            let align = self.types().align(ty);
            self.store_parts(ty, values, address, align, MemFlags::PLAIN)?;
        }
        let address = self.b.ins().stack_addr(slot, 0);
        Ok(self.generic(address))
    }

    /// `__nvvm_reflect`: what the program is compiled for.
    pub(super) fn reflect(&mut self, inst: &Inst, call: &Call) -> Result<()> {
        let text = self.body.args(call).first().and_then(|arg| self.text(*arg)).unwrap_or_default();
        let sm = self.b.module().target.map_or(750, |target| i64::from(target.sm) * 10);
        let value = match text.trim_end_matches('\0') {
            "__CUDA_FTZ" => i64::from(self.ftz || self.module().flag("nvvm-reflect-ftz") == Some(1)),
            "__CUDA_ARCH" => sm,
            "__CUDA_PREC_SQRT" | "__CUDA_PREC_DIV" => 1,
            _ => 0,
        };
        let value = self.b.ins().iconst(Type::I32, value);
        self.result(inst, &[value])
    }

    /// The text that a constant address leads to.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a text has none")]
    pub(super) fn text(&self, value: ValueId) -> Option<String> {
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
