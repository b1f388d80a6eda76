//! The IR's own meaning: a decode of IR modules to engine programs that never sees PTX.
//!
//! It is the other half of the check that emitted text means what the IR meant, so it shares with the PTX path only the engine's
//! primitive operations, the semantics of values, and for table-derived operations the meaning of their forms. What the core operations
//! compute is a table of the IR's ([`meaning`](warpsmith_ir::meaning)). Each SSA value has registers of its own for all its life; block parameters are parallel moves on the edges.
//!
//! How a value lies in registers: a scalar in one; a vector of elements of 32 bits or more in one an element; a vector of
//! smaller elements packed into 32-bit words, the first element lowest, which is also how PTX packs `f16x2`.

mod control;
mod function;
mod memory;
mod table;
#[allow(clippy::wildcard_enum_match_arm, reason = "what is not of this module is named by its caller")]
mod threads;
mod values;
#[allow(clippy::wildcard_enum_match_arm, reason = "the verifier lets lists by that belong to an operation")]
mod vector;

use crate::engine::{
    Formal, FuncId, FunctionKind, KernelAttributes, PatchTarget, Program, ProgramBuilder, Reference,
    Relocation, SymbolId, SystemCall, Variable,
};
use cranelift_entity::SecondaryMap;
use std::borrow::Cow;
use warpsmith_diag::Diagnostics;
use warpsmith_ir::{self as ir, FuncKind, GlobalId, Linkage, TypeTable};

impl Program {
    /// Decodes a module of the IR. A module that the verifier refuses is refused with the verifier's reasons; an operation without
    /// meaning here is named. Functions of the math library that the module declares are [added](warpsmith_math::complete).
    ///
    /// ```
    /// use warpsmith_interp::{Device, Launch, Program};
    /// let module = warpsmith_ir::parse_module("
    /// kernel @double(%data: ptr<global>) {
    /// entry:
    ///   %i = sreg.tid.x
    ///   %p = index %data, %i, 4
    ///   %x = load.i32 %p
    ///   %y = iadd %x, %x
    ///   store %y, %p
    ///   ret
    /// }
    /// ").unwrap();
    /// let program = Program::from_ir(&module).unwrap();
    /// let mut device = Device::new();
    /// let buffer = device.upload(&[1i32, 2, 3]).unwrap();
    /// device.launch(&program, &Launch::new("double").block([3, 1, 1]).arg(buffer)).unwrap();
    /// assert_eq!(device.download::<i32>(buffer).unwrap(), [2, 4, 6]);
    /// ```
    pub fn from_ir(module: &ir::Module) -> Result<Program, Diagnostics> {
        let complete = warpsmith_math::complete(Cow::Borrowed(module))?;
        let module = &*complete;
        ir::verify(module)?;
        let mut decoder = Decoder {
            module,
            program: ProgramBuilder::with_source(module.source.clone()),
            functions: SecondaryMap::with_default(None),
            reached: function::ReachedBySignature::default(),
            globals: SecondaryMap::with_default(None),
            varargs: largest_varargs(module),
        };
        decoder.declare_globals();
        decoder.declare_functions();
        decoder.aliases();
        decoder.addresses();
        for (id, function) in module.functions.iter() {
            if !function.is_declaration() {
                decoder.define(id, function);
            }
        }
        decoder.program.finish()
    }
}

/// What is known of the module while it is decoded.
struct Decoder<'m> {
    module: &'m ir::Module,
    program: ProgramBuilder,
    functions: SecondaryMap<ir::FuncId, Option<FuncId>>,
    reached: function::ReachedBySignature,
    globals: SecondaryMap<GlobalId, Option<SymbolId>>,
    /// The bytes of the largest variable arguments that a call passes.
    varargs: u32,
}

impl Decoder<'_> {
    fn declare_globals(&mut self) {
        for (id, global) in self.module.globals.iter() {
            let dynamic = global.extent == ir::Extent::Dynamic;
            if global.linkage == Linkage::Extern && !dynamic {
                self.program
                    .error_at(format!("global `@{}` is defined in another module", global.name), global.span);
                continue;
            }
            let variable = Variable {
                init: global.init.clone().unwrap_or_default(),
                dynamic,
                reference: global.handle.and_then(Reference::of_type),
                ..Variable::zeroed(
                    &global.name,
                    global.space,
                    global.size(&self.module.types),
                    u64::from(global.alignment(&self.module.types)),
                )
            };
            self.globals[id] = Some(self.program.variable(variable));
        }
    }

    /// Other names are the functions that they name.
    fn aliases(&mut self) {
        for (id, function) in self.module.functions.iter() {
            if let Some(target) = function.alias {
                self.functions[id] = self.functions[target];
            }
        }
    }

    /// The addresses that globals start with, when all that they can be of is declared.
    fn addresses(&mut self) {
        for (id, global) in self.module.globals.iter() {
            let Some(symbol) = self.globals[id] else { continue };
            for reloc in &global.relocs {
                let target = match reloc.target {
                    ir::Symbol::Func(func) => self.functions[func].map(PatchTarget::Function),
                    ir::Symbol::Global(global) => self.globals[global].map(PatchTarget::Variable),
                };
                let Some(target) = target else {
                    let message = format!("`@{}` holds the address of what is not defined here", global.name);
                    self.program.error_at(message, global.span);
                    continue;
                };
                let (offset, addend, generic) = (reloc.offset, reloc.addend, reloc.generic);
                self.program
                    .relocate(symbol, Relocation { offset, bytes: 8, shift: 0, target, addend, generic });
            }
        }
    }

    fn declare_functions(&mut self) {
        for (id, function) in self.module.functions.iter() {
            let kind = match function.kind {
                FuncKind::Kernel => kernel_kind(&self.module.types, function),
                FuncKind::Func => match device_kind(&self.module.types, function, self.varargs) {
                    Ok(kind) => kind,
                    Err(message) => {
                        self.program.error_at(message, function.span);
                        continue;
                    }
                },
            };
            if function.alias.is_some() {
                continue;
            }
            let declared = self.program.declare(&function.name, kind);
            self.functions[id] = Some(declared);
            // What the driver defines means here what it means in PTX.
            if let (true, Some(call)) = (function.is_declaration(), SystemCall::from_name(&function.name))
                && let Err(message) = self.program.define_system(declared, call)
            {
                self.program.error_at(message, function.span);
            }
        }
    }
}

/// The size and alignment of a kernel parameter in parameter space.
fn param_layout(types: &TypeTable, param: &ir::Param) -> (u32, u32) {
    param.byval.unwrap_or_else(|| (types.size(param.ty) as u32, types.align(param.ty)))
}

fn kernel_kind(types: &TypeTable, function: &ir::Function) -> FunctionKind {
    let names = function.param_values().iter().map(|v| function.names.get(*v));
    let names: Vec<String> = (names.chain(std::iter::repeat(None)).zip(0..function.params.len()))
        .map(|(name, i)| name.map_or_else(|| format!("param{i}"), str::to_owned))
        .collect();
    let laid_out = names.iter().zip(&function.params).map(|(name, param)| {
        let (bytes, align) = param_layout(types, param);
        (name.as_str(), bytes, align)
    });
    let attrs = &function.attrs;
    let attributes = KernelAttributes {
        required_block: attrs.reqntid,
        max_threads: attrs.maxntid.map(|n| n.iter().fold(1u32, |all, x| all.saturating_mul(*x))),
        required_cluster: attrs.reqnctapercluster,
        max_cluster: attrs.maxclusterrank,
        explicit_cluster: attrs.explicitcluster,
        max_registers: attrs.maxnreg,
        min_blocks: attrs.minnctapersm,
        ..KernelAttributes::default()
    };
    match FunctionKind::kernel(laid_out) {
        FunctionKind::Kernel { params, .. } => FunctionKind::Kernel { params, attributes },
        other => other,
    }
}

/// The bytes of the largest variable arguments of a module's calls.
fn largest_varargs(module: &ir::Module) -> u32 {
    let mut largest = 0;
    for func in module.functions.values() {
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            let ir::InstData::Call { callee, .. } = &func.dfg[inst] else { continue };
            let params = &module.functions[*callee].params;
            for (param, &arg) in params.iter().zip(func.dfg.args(inst)) {
                if param.attrs.varargs {
                    largest = largest.max(module.types.size(func.dfg.ty(arg)) as u32);
                }
            }
        }
    }
    largest
}

/// A function's parameters and results: a register for each of which a value consists, bytes for what is passed by value.
fn device_kind(types: &TypeTable, function: &ir::Function, varargs: u32) -> Result<FunctionKind, String> {
    let formals = |all: &mut dyn Iterator<Item = ir::Param>| -> Result<Vec<Formal>, String> {
        let mut formals = Vec::new();
        for param in all {
            match param.byval {
                Some((_, align)) if param.attrs.varargs => {
                    formals.push(Formal::Stack { bytes: varargs, align });
                }
                Some((bytes, align)) => formals.push(Formal::Stack { bytes, align }),
                None => formals.extend(values::shape(types, param.ty)?.into_iter().map(Formal::Reg)),
            }
        }
        Ok(formals)
    };
    Ok(FunctionKind::Device {
        params: formals(&mut function.params.iter().copied())?,
        results: formals(&mut function.ret.iter().copied().map(ir::Param::new))?,
    })
}
