//! Sizes: what parameters, constants, shared variables and stack slots may take at most (`warpsmith_isa::limits`).

use super::Verifier;
use crate::entities::{FuncId, GlobalId};
use crate::function::{FuncKind, Linkage, laid_out};
use crate::module::{Extent, Global, Module, Symbol};
use cranelift_entity::SecondaryMap;
use warpsmith_diag::Diagnostic;
use warpsmith_isa::{Directive, StateSpace, Version, limits};

impl Verifier<'_> {
    /// The stack slots of a function together.
    pub(super) fn stack_size(&mut self) {
        let slots = self.func.stack_slots.values();
        // A slot that is aligned to more than its size takes as much as its alignment.
        let bytes = laid_out(slots.map(|slot| (u64::from(slot.size.max(slot.align)), slot.align.into())));
        if bytes > limits::LOCAL_BYTES {
            let message = format!(
                "the stack slots of `@{}` take {bytes} bytes, {} at most",
                self.func.name,
                limits::LOCAL_BYTES
            );
            self.error("I0317", message)
                .notes
                .push("that is all the local memory that a thread has: use global memory".into());
        }
    }

    /// The parameters together, and the alignment of each. PTX limits the space of kernels only; what is passed by value between functions
    /// is copied piece by piece, so that they have the same limit.
    pub(super) fn parameter_sizes(&mut self) {
        let func = self.func;
        let is_kernel = func.kind == FuncKind::Kernel;
        let most = if is_kernel { limits::KERNEL_PARAM_ALIGN } else { limits::FUNCTION_PARAM_ALIGN };
        let types = &self.module.types;
        for (n, param) in func.params.iter().enumerate() {
            let aligned = param.byval.unwrap_or_else(|| (0, types.align(param.ty)));
            if let (_, align) = aligned
                && align.is_power_of_two()
                && align > most
            {
                let message =
                    format!("the alignment {align} of parameter {n} of `@{}` is more than {most}", func.name);
                self.error("I0312", message).notes.push("pass a pointer to memory that is so aligned".into());
            }
        }
        for &ty in func.ret.iter().filter(|ty| types.align(**ty) > most) {
            let message = format!(
                "the alignment {} of a result of `@{}` is more than {most}",
                types.align(ty),
                func.name
            );
            self.error("I0312", message).notes.push("take a pointer to memory that is so aligned".into());
        }
        let results = laid_out(func.ret.iter().map(|&ty| (types.size(ty), types.align(ty).into())));
        if results > limits::KERNEL_PARAM_BYTES {
            let message = format!(
                "the results of `@{}` take {results} bytes, {} at most",
                func.name,
                limits::KERNEL_PARAM_BYTES
            );
            self.error("I0317", message).notes.push("take a pointer to memory for them".into());
        }
        let bytes = func.param_space(types);
        let large = Directive::from_name(".param.large").is_none_or(|directive| {
            let allowed =
                |target| directive.gates.iter().all(|clause| clause.allows(Version::LATEST, target));
            !is_kernel || self.module.target.is_none_or(allowed)
        });
        let most = if large { limits::KERNEL_PARAM_BYTES } else { limits::SMALL_KERNEL_PARAM_BYTES };
        if bytes > most {
            let message = format!("the parameters of `@{}` take {bytes} bytes, {most} at most", func.name);
            self.error("I0317", message).notes.push("pass a pointer to memory that holds them".into());
        }
    }
}

/// The constants of a module together.
pub(super) fn constants(module: &Module, errors: &mut Vec<Diagnostic>) {
    let types = &module.types;
    let constants = module
        .globals
        .values()
        .filter(|global| global.space == StateSpace::Const && global.linkage != Linkage::Extern);
    let bytes =
        laid_out(constants.clone().map(|global| (global.size(types), global.alignment(types).into())));
    let largest = constants.max_by_key(|global| global.size(types));
    let Some(largest) = largest.filter(|_| bytes > limits::CONST_BYTES) else { return };
    let message = format!("the constants of the module take {bytes} bytes, {} at most", limits::CONST_BYTES);
    let error = Diagnostic::error("I0317", largest.span, message)
        .note(format!("`@{}` is the largest with {} bytes", largest.name, largest.size(types)))
        .note("larger tables go to `global` memory, to be read with `load invariant`");
    errors.push(error);
}

/// The shared variables that each kernel names, itself or in functions that it reaches.
pub(super) fn shared(module: &Module, errors: &mut Vec<Diagnostic>) {
    let types = &module.types;
    let sized =
        |global: &Global| global.space == StateSpace::Shared && !matches!(global.extent, Extent::Dynamic);
    // Few modules come near the limit: a sum over all variables settles most.
    let all = module.globals.values().filter(|global| sized(global));
    if laid_out(all.map(|global| (global.size(types), global.alignment(types).into())))
        <= limits::STATIC_SHARED_BYTES
    {
        return;
    }
    let mut reached =
        Reached { globals: SecondaryMap::with_default(None), functions: SecondaryMap::with_default(None) };
    for (id, kernel) in module.kernels() {
        let named = reached.globals(module, id).into_iter().map(|id| &module.globals[id]);
        let named: Vec<&Global> = named.filter(|global| sized(global)).collect();
        let bytes = laid_out(named.iter().map(|global| (global.size(types), global.alignment(types).into())));
        let largest = named.into_iter().max_by_key(|global| global.size(types));
        let Some(largest) = largest.filter(|_| bytes > limits::STATIC_SHARED_BYTES) else { continue };
        let message = format!(
            "the shared variables that kernel `@{}` names take {bytes} bytes, {} at most",
            kernel.name,
            limits::STATIC_SHARED_BYTES
        );
        let mut error = Diagnostic::error("I0317", kernel.span, message)
            .note(format!("`@{}` is the largest with {} bytes", largest.name, largest.size(types)))
            .note("memory that is sized at launch can be larger: `shared extern @name: [i32]`");
        if !largest.span.is_none() {
            error = error.label(largest.span, "the largest of them");
        }
        errors.push(error);
    }
}

/// By which kernel a symbol was reached last. Sets for each kernel would have room for all symbols of the module.
struct Reached {
    globals: SecondaryMap<GlobalId, Option<FuncId>>,
    functions: SecondaryMap<FuncId, Option<FuncId>>,
}

impl Reached {
    /// The globals that are named by a kernel and by all that it calls or takes the address of, in the order of the module.
    fn globals(&mut self, module: &Module, kernel: FuncId) -> Vec<GlobalId> {
        let mut found = Vec::new();
        let mut work = vec![kernel];
        while let Some(id) = work.pop() {
            // One that does not exist was reported.
            let Some(func) = module.functions.get(id) else { continue };
            if self.functions[id].replace(kernel) == Some(kernel) {
                continue;
            }
            for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
                func.dfg.symbols(inst).for_each(|symbol| match symbol {
                    Symbol::Func(id) => work.push(id),
                    Symbol::Global(id) => {
                        if module.globals.is_valid(id) && self.globals[id].replace(kernel) != Some(kernel) {
                            found.push(id);
                        }
                    }
                });
            }
        }
        found.sort_unstable();
        found
    }
}
