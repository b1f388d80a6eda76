//! Modules, libraries, functions, and what a launch of one is.

use crate::context::Context;
use crate::error::{Code, Error};
use crate::profile::Profile;
use crate::reference::References;
use crate::registers::{bounded, registers};
use crate::state::State;
use crate::watch::ModuleWatch;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith::interp::KernelInfo;
use warpsmith::isa::limits;
use warpsmith::ptx::ValidatedModule;
use warpsmith::{Diagnostics, Program, Source};
use warpsmith_base::FxHashMap;

/// A module in a context.
#[derive(Debug)]
pub struct Module {
    /// The context.
    pub context: u64,
    /// The number of its device.
    pub device: usize,
    /// What runs.
    pub program: Arc<Program>,
    /// What is known of its runs.
    pub watch: ModuleWatch,
    /// The names of its kernels as C has them.
    pub names: FxHashMap<String, std::ffi::CString>,
    /// The texture and surface references that clients have asked for.
    pub references: References,
    /// The functions that clients have asked for.
    functions: Mutex<FxHashMap<String, u64>>,
}

/// Reads PTX for a device, with a bound of registers for its kernels. The error's diagnostics are for the log that the client may want.
pub fn read(
    text: String,
    name: String,
    profile: &Profile,
    max_registers: Option<u32>,
) -> Result<Program, (Error, Option<Diagnostics>)> {
    let refused = |code, found: Diagnostics| {
        let first = found.iter().find(|d| d.is_error()).map_or_else(String::new, |d| d.message.clone());
        (Error::new(code, first), Some(found))
    };
    let parse = |text: String| {
        let module = ValidatedModule::parse(Source::new(name.clone(), text));
        module.map_err(|found| refused(Code::INVALID_PTX, found))
    };
    let mut module = parse(text)?;
    if let Some(bound) = max_registers {
        module = parse(bounded(&module, bound))?;
    }
    if !profile.runs(module.target()) {
        let message = format!("PTX for {} on a device that is {}", module.target(), profile.target);
        return Err((Error::new(Code::NO_BINARY_FOR_GPU, message), None));
    }
    Program::load(&module).map_err(|found| refused(Code::NOT_SUPPORTED, found))
}

/// The names of the kernels of a program as C has them.
fn names(program: &Program) -> FxHashMap<String, std::ffi::CString> {
    let named = |name: &str| Some((name.to_owned(), std::ffi::CString::new(name).ok()?));
    program.kernels().filter_map(named).collect()
}

impl Module {
    /// A program in a context.
    pub fn new(context: &Context, program: Arc<Program>) -> Module {
        Module {
            context: context.id,
            device: context.device,
            names: names(&program),
            program,
            watch: ModuleWatch::default(),
            references: References::default(),
            functions: Mutex::default(),
        }
    }
}

/// A library: a program that every context has a module of.
#[derive(Debug)]
pub struct Library {
    /// What runs.
    pub program: Arc<Program>,
    /// The names of its kernels as C has them.
    pub names: FxHashMap<String, std::ffi::CString>,
    modules: Mutex<FxHashMap<u64, u64>>,
    kernels: Mutex<FxHashMap<String, u64>>,
}

impl Library {
    /// A library that no context has yet.
    pub fn new(program: Program) -> Library {
        let names = names(&program);
        Library { program: Arc::new(program), names, modules: Mutex::default(), kernels: Mutex::default() }
    }

    /// The modules that contexts have of it.
    pub fn modules(&self) -> Vec<u64> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

/// What can be set of a function.
#[derive(Debug, Default)]
pub struct Attributes {
    /// The most dynamic shared memory that a launch may ask for, past which it fails; 0 for the default.
    pub dynamic_shared: AtomicU32,
    /// Settings that nothing depends on, by their numbers from 9 to 15.
    pub preferences: [AtomicI32; 8],
    /// What launches without parameters of their own take.
    pub legacy: Mutex<Legacy>,
}

/// The shape and parameters that a function itself holds, as it did before CUDA 4.
#[derive(Clone, Debug)]
pub struct Legacy {
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Bytes of the parameters that were set.
    pub params: Vec<u8>,
    /// Bytes that the client says there are.
    pub size: usize,
}

impl Default for Legacy {
    fn default() -> Legacy {
        Legacy { block: [1; 3], shared: 0, params: Vec::new(), size: 0 }
    }
}

/// What can be launched.
#[derive(Debug)]
pub enum Callable {
    /// A function of a module.
    Function(Arc<Function>),
    /// A kernel of a library.
    Kernel {
        /// The handle of the library.
        library: u64,
        /// Its name.
        name: String,
        /// What was set of it.
        attributes: Arc<Attributes>,
    },
}

impl Callable {
    /// The context of a function.
    pub fn context(&self) -> Option<u64> {
        match self {
            Callable::Function(function) => Some(function.module.context),
            Callable::Kernel { .. } => None,
        }
    }
}

/// A function of a module.
#[derive(Debug)]
pub struct Function {
    /// The module.
    pub module: Arc<Module>,
    /// The handle of that.
    pub module_handle: u64,
    /// Its name.
    pub name: String,
    /// What was set of it.
    pub attributes: Arc<Attributes>,
}

/// The error for a name that no kernel of a program has.
pub fn no_kernel(program: &Program, name: &str) -> Error {
    let names: Vec<&str> = program.kernels().collect();
    let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(", ");
    Error::new(Code::NOT_FOUND, format!("no kernel `{name}` in a module of {} ({shown})", names.len()))
}

impl State {
    /// The handle of a function of a module.
    pub fn function(
        &mut self,
        handle: u64,
        name: &str,
        attributes: Option<Arc<Attributes>>,
    ) -> Result<u64, Error> {
        let module = self.modules.get(handle)?;
        let mut known = module.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known.get(name) {
            return Ok(*function);
        }
        if module.program.kernel(name).is_none() {
            return Err(no_kernel(&module.program, name));
        }
        let function = Function {
            module: Arc::clone(&module),
            module_handle: handle,
            name: name.to_owned(),
            attributes: attributes.unwrap_or_default(),
        };
        let function = self.functions.add(Callable::Function(Arc::new(function)));
        known.insert(name.to_owned(), function);
        Ok(function)
    }

    /// The handle of a kernel of a library.
    pub fn kernel(&mut self, handle: u64, name: &str) -> Result<u64, Error> {
        let library = self.libraries.get(handle)?;
        let mut known = library.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = known.get(name) {
            return Ok(*kernel);
        }
        if library.program.kernel(name).is_none() {
            return Err(no_kernel(&library.program, name));
        }
        let attributes = Arc::default();
        let kernel =
            self.functions.add(Callable::Kernel { library: handle, name: name.to_owned(), attributes });
        known.insert(name.to_owned(), kernel);
        Ok(kernel)
    }

    /// The handle of a function.
    pub fn handle_of(&self, wanted: &Arc<Function>) -> Result<u64, Error> {
        let is = |callable: &Callable| match callable {
            Callable::Function(function) => Arc::ptr_eq(function, wanted),
            Callable::Kernel { .. } => false,
        };
        let found = self.functions.iter().find(|(_, callable)| is(callable)).map(|(handle, _)| handle);
        found.ok_or_else(|| Error::new(Code::INVALID_HANDLE, "the function's module was unloaded"))
    }

    /// The module that a context has of a library.
    pub fn library_module(&mut self, handle: u64, context: &Context) -> Result<u64, Error> {
        let library = self.libraries.get(handle)?;
        let mut modules = library.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&context.id)
            && self.modules.get(*module).is_ok()
        {
            return Ok(*module);
        }
        // Each context has variables of its own.
        let first = modules.is_empty();
        let program = if first { Arc::clone(&library.program) } else { Arc::new(library.program.separate()) };
        self.device.place(&program)?;
        let module = self.modules.add(Module::new(context, program));
        modules.insert(context.id, module);
        Ok(module)
    }

    /// The function that a handle denotes in a context.
    pub fn callable(&mut self, handle: u64, context: &Context) -> Result<Arc<Function>, Error> {
        match &*self.functions.get(handle)? {
            Callable::Function(function) => Ok(Arc::clone(function)),
            Callable::Kernel { library, name, attributes } => {
                let module = self.library_module(*library, context)?;
                let function = self.function(module, name, Some(Arc::clone(attributes)))?;
                match &*self.functions.get(function)? {
                    Callable::Function(function) => Ok(Arc::clone(function)),
                    Callable::Kernel { .. } => Err(Error::new(Code::INVALID_HANDLE, "not a function")),
                }
            }
        }
    }

    /// The program of a function or kernel, its name, and what was set of it.
    pub fn described(&self, handle: u64) -> Result<(Arc<Program>, String, Arc<Attributes>), Error> {
        match &*self.functions.get(handle)? {
            Callable::Function(f) => {
                Ok((Arc::clone(&f.module.program), f.name.clone(), Arc::clone(&f.attributes)))
            }
            Callable::Kernel { library, name, attributes } => {
                let library = self.libraries.get(*library)?;
                Ok((Arc::clone(&library.program), name.clone(), Arc::clone(attributes)))
            }
        }
    }
}

/// The most dynamic shared memory that a launch may ask for.
pub fn most_dynamic_shared(info: &KernelInfo<'_>, attributes: &Attributes, profile: &Profile) -> u64 {
    let set = attributes.dynamic_shared.load(Ordering::Relaxed);
    let default = limits::STATIC_SHARED_BYTES.saturating_sub(info.static_shared);
    default.max(set.into()).min(u64::from(profile.sm.block_shared_bytes).saturating_sub(info.static_shared))
}

/// Blocks that a multiprocessor has room for.
pub fn resident_blocks(info: &KernelInfo<'_>, profile: &Profile, threads: u32, dynamic: u64) -> u64 {
    if threads == 0 || threads > limits::BLOCK_THREADS {
        return 0;
    }
    let warps = threads.div_ceil(limits::WARP_THREADS);
    let by_warps = u64::from(profile.sm.warps() / warps);
    // What the system keeps of each block's shared memory, and the unit that it is given out in.
    let shared = (info.static_shared + dynamic + limits::RESERVED_SHARED_BYTES).next_multiple_of(128);
    let by_shared = u64::from(profile.sm.shared_bytes) / shared;
    let by_registers =
        u64::from(limits::MULTIPROCESSOR_REGISTERS / (registers(info) * limits::WARP_THREADS * warps));
    by_warps.min(profile.sm.blocks.into()).min(by_shared).min(by_registers)
}
