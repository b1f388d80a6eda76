//! The functions of a module that are compiled together: one that is asked for, and what it can call.

use crate::codes;
use crate::context::{Context, Entry, LOCAL_REGION};
use crate::fault::{Fault, Site};
use crate::helpers;
use crate::host::Code;
use crate::scalar;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::{Linkage, Module as _};
use std::collections::BTreeMap;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Span};
use warpsmith_ir::{FuncId, InstData, Module};
use warpsmith_semantics::Plan;

/// What the frames of nested calls may take of the host's stack.
const STACK: u32 = 512 << 10;

/// What the variables of a unit may take.
const MEMORY: u64 = 1 << 30;

/// How deep calls may be nested, if their frames are small.
const DEPTH: u32 = 1024;

/// Compiled functions.
pub(crate) struct Unit {
    /// Holds what `entry` points into.
    #[expect(dead_code, reason = "code lives as long as its owner")]
    code: Code,
    /// What compiled code calls the definitions of `warpsmith_semantics` by, through their addresses.
    #[expect(dead_code, reason = "code holds their addresses")]
    plans: Vec<Arc<Plan>>,
    sites: Vec<Site>,
    entry: Entry,
    depth: u32,
    shared: Vec<String>,
    /// True if any function has stack slots, or names a global.
    uses_memory: bool,
    /// By their numbers, the sizes and first bytes of the globals that are named.
    globals: BTreeMap<usize, (u64, Vec<u8>)>,
}

/// What functions are compiled into.
pub(crate) struct Workshop<'m> {
    pub module: &'m Module,
    pub code: Code,
    /// The functions that are compiled, each with its number in `code`.
    pub functions: FxHashMap<FuncId, cranelift_module::FuncId>,
    /// The functions whose addresses are taken, in order.
    pub addressed: Vec<FuncId>,
    pub helpers: FxHashMap<&'static str, cranelift_module::FuncId>,
    pub plans: Vec<Arc<Plan>>,
    pub sites: Vec<Site>,
    /// The operations that are evaluated by the definitions they share with the interpreter.
    pub shared: Vec<String>,
    pub uses_memory: bool,
    pub globals: BTreeMap<usize, (u64, Vec<u8>)>,
}

impl Workshop<'_> {
    /// The signature of every compiled function: [`Entry`].
    pub fn signature(&self) -> Signature {
        let mut signature = self.code.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.returns.push(AbiParam::new(types::I32));
        signature
    }
}

/// An error of Cranelift's, which would be a mistake of this crate, or code that is too large.
pub(crate) fn internal(function: &str, error: impl std::fmt::Display) -> Box<Diagnostic> {
    let message = format!("`{function}` cannot be compiled for this host: {error}");
    Box::new(Diagnostic::error(codes::SIZE, Span::NONE, message))
}

impl Unit {
    /// Compiles a function of a verified module and all that it can call.
    pub fn compile(module: &Module, entry: FuncId) -> Result<Unit, Diagnostics> {
        let all = |errors| Diagnostics::new(module.source.clone(), errors);
        Unit::attempt(module, entry).map_err(all)
    }

    fn attempt(module: &Module, entry: FuncId) -> Result<Unit, Vec<Diagnostic>> {
        let code = Code::new(&helpers::symbols()).map_err(|error| vec![*error])?;
        let mut shop = Workshop {
            module,
            code,
            functions: FxHashMap::default(),
            addressed: Vec::new(),
            helpers: FxHashMap::default(),
            plans: Vec::new(),
            sites: Vec::new(),
            shared: Vec::new(),
            uses_memory: false,
            globals: BTreeMap::new(),
        };
        let order = reachable(&mut shop, entry)?;
        let mut builder = FunctionBuilderContext::new();
        let mut context = shop.code.make_context();
        let (mut errors, mut frame) = (Vec::new(), 1);
        for id in order {
            let function = &module.functions[id];
            let here = |error: &dyn std::fmt::Display| internal(&function.name, error);
            context.func.signature = shop.signature();
            let translated = scalar::function(&mut shop, id, &mut context.func, &mut builder);
            if let Err(error) = translated {
                errors.push(*error);
                // What was begun is thrown away, with what the builder knows of it.
                builder = FunctionBuilderContext::new();
                context = shop.code.make_context();
                continue;
            }
            if let Err(error) = shop.code.define_function(shop.functions[&id], &mut context) {
                return Err(vec![*here(&format!("{error:?}"))]);
            }
            let layout = context.compiled_code().and_then(|code| code.buffer.frame_layout());
            frame = frame.max(layout.map_or(STACK, |layout| layout.frame_to_fp_offset + 64));
            shop.code.clear_context(&mut context);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let name = &module.functions[entry].name;
        if frame > STACK / 2 {
            return Err(vec![*internal(name, format!("a frame of {frame} bytes is larger than a stack"))]);
        }
        shop.code.finalize_definitions().map_err(|error| vec![*internal(name, error)])?;
        let address = shop.code.get_finalized_function(shop.functions[&entry]);
        // SAFETY: the function was compiled with the signature of `Entry`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        if shop.globals.values().map(|(size, _)| *size).fold(0, u64::saturating_add) > MEMORY {
            return Err(vec![*internal(name, "its variables take more than a gibibyte")]);
        }
        let Workshop { code, plans, sites, mut shared, uses_memory, globals, .. } = shop;
        shared.sort();
        shared.dedup();
        let depth = (STACK / frame).clamp(1, DEPTH);
        Ok(Unit { code, plans, sites, entry, depth, shared, uses_memory, globals })
    }

    /// How deep calls may be nested.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The operations that are not compiled but evaluated by the definitions that the interpreter has too.
    pub fn shared(&self) -> &[String] {
        &self.shared
    }

    /// Local memory of so many bytes, and the variables as they are before anything runs, in the order of their addresses.
    pub fn memory(&self, local: u64) -> Vec<Vec<u8>> {
        if !self.uses_memory {
            return Vec::new();
        }
        let count = 1 + self.globals.keys().last().map_or(0, |last| last + 1);
        let mut memory = vec![Vec::new(); count];
        memory[LOCAL_REGION] = vec![0; local as usize];
        for (&number, (size, init)) in &self.globals {
            let bytes = &mut memory[number + 1];
            bytes.resize(*size as usize, 0);
            let given = init.len().min(bytes.len());
            bytes[..given].copy_from_slice(&init[..given]);
        }
        memory
    }

    /// Calls the function.
    ///
    /// # Safety
    /// Arguments and results have two cells for each scalar of the function's, and the regions of the context are memory that nothing else
    /// uses during the call.
    pub unsafe fn call(&self, context: &mut Context, args: &[u64], results: &mut [u64]) -> Result<(), Fault> {
        // SAFETY: the caller guarantees what the code accesses.
        let status = unsafe { (self.entry)(context, args.as_ptr(), results.as_mut_ptr()) };
        let Some(site) = (status as usize).checked_sub(1).and_then(|site| self.sites.get(site)) else {
            return Ok(());
        };
        let of_access = matches!(site.kind, crate::FaultKind::OutOfBounds | crate::FaultKind::Misaligned);
        Err(Fault {
            kind: site.kind,
            function: site.function.clone(),
            span: site.span,
            address: of_access.then_some(context.address),
            thread: None,
        })
    }
}

// SAFETY: finished code is only executed, and what it points to is not changed.
unsafe impl Send for Unit {}
// SAFETY: as above; each call has a context of its own.
unsafe impl Sync for Unit {}

/// Declares a function and all that it can call.
fn reachable(shop: &mut Workshop, entry: FuncId) -> Result<Vec<FuncId>, Vec<Diagnostic>> {
    let (mut order, mut waiting) = (Vec::new(), vec![entry]);
    let signature = shop.signature();
    while let Some(id) = waiting.pop() {
        if shop.functions.contains_key(&id) {
            continue;
        }
        let function = &shop.module.functions[id];
        if function.is_declaration() {
            let message = format!("`{}` has no body that could be compiled", function.name);
            let error = Diagnostic::error(codes::OPERATION, function.span, message);
            return Err(vec![error.note("link the module that defines it first")]);
        }
        let number = shop
            .code
            .declare_function(&format!("f{}", order.len()), Linkage::Local, &signature)
            .map_err(|error| vec![*internal(&function.name, error)])?;
        shop.functions.insert(id, number);
        order.push(id);
        for block in function.layout.blocks() {
            for inst in function.layout.insts(block) {
                #[expect(clippy::wildcard_enum_match_arm, reason = "the others name no function")]
                match function.dfg[inst] {
                    InstData::Call { callee, .. } => waiting.push(callee),
                    InstData::FuncAddr { func } => {
                        waiting.push(func);
                        if !shop.addressed.contains(&func) {
                            shop.addressed.push(func);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(order)
}
