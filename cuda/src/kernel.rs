//! Modules, libraries, functions, and what a launch of one is.

use crate::context::Context;
use crate::error::{Code, Error};
use crate::ffi::{In, Pointer, memory};
use crate::profile::Profile;
use crate::registers::{REGISTERS, bounded, registers};
use crate::state::{State, driver};
use crate::watch::ModuleWatch;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use warpsmith::interp::{KernelInfo, Launch, Machine};
use warpsmith::isa::limits;
use warpsmith::ptx::ValidatedModule;
use warpsmith::{Diagnostics, Program, Source};

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

impl Module {
    /// A program in a context.
    pub fn new(context: &Context, program: Arc<Program>) -> Module {
        let names =
            program.kernels().filter_map(|name| Some((name.to_owned(), std::ffi::CString::new(name).ok()?)));
        let names = names.collect();
        Module {
            context: context.id,
            device: context.device,
            program,
            watch: ModuleWatch::default(),
            names,
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
        let names =
            program.kernels().filter_map(|name| Some((name.to_owned(), std::ffi::CString::new(name).ok()?)));
        let names = names.collect();
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

fn no_kernel(program: &Program, name: &str) -> Error {
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

    /// The function that a handle stands for in a context.
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

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// All blocks run together.
    pub cooperative: bool,
}

/// A launch that is ready to be made.
#[derive(Debug)]
pub struct KernelLaunch {
    /// What is launched.
    pub function: Arc<Function>,
    /// How.
    pub launch: Launch,
    /// Where its parameters are, for clients that ask.
    places: OnceLock<Vec<u64>>,
}

/// Bytes by which the blocks of a cooperative launch find each other: zero at first. Code of `cooperative_groups` has their address in `%envreg1` (the
/// upper half) and `%envreg2`.
const WORKSPACE: u64 = 1024;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`
const BUFFER: [u64; 2] = [1, 2];

impl KernelLaunch {
    /// Checks a launch, and takes its parameters.
    pub fn new(
        function: Arc<Function>,
        shape: Shape,
        params: In<Pointer>,
        extra: In<Pointer>,
    ) -> Result<KernelLaunch, Error> {
        if !params.is_null() && !extra.is_null() {
            return Err(Error::value("parameters are given twice"));
        }
        let bytes = parameters(&function, params, extra)?;
        KernelLaunch::packed(function, shape, bytes)
    }

    /// As [`KernelLaunch::new`], of parameters as they lie in parameter space.
    pub fn packed(function: Arc<Function>, shape: Shape, bytes: Vec<u8>) -> Result<KernelLaunch, Error> {
        let driver = driver()?;
        let profile = &driver.settings.devices[function.module.device];
        check(&function, shape, profile)?;
        let mut launch = Launch::new(function.name.clone()).grid(shape.grid).block(shape.block);
        launch = launch.dynamic_shared(shape.shared).packed(bytes);
        launch.cluster = shape.cluster;
        launch.cooperative = shape.cooperative;
        if let Some(steps) = driver.settings.steps {
            (launch.limits.steps, launch.limits.block_steps) = (steps, steps);
        }
        launch.workers = driver.watch.workers(&driver.settings);
        Ok(KernelLaunch { function, launch, places: OnceLock::new() })
    }

    /// The shape of the launch.
    pub fn shape(&self) -> Shape {
        Shape {
            grid: self.launch.grid,
            block: self.launch.block,
            shared: self.launch.dynamic_shared,
            cluster: self.launch.cluster,
            cooperative: self.launch.cooperative,
        }
    }

    /// Where the values of its parameters are, which live as long as the launch: a list as `kernelParams`.
    pub fn params(&self) -> Pointer {
        let list = self.function.module.program.kernel(&self.function.name).unwrap_or(&[]);
        let (Some(bytes), false) = (&self.launch.packed, list.is_empty()) else { return Pointer::at(0) };
        let places = self.places.get_or_init(|| {
            let first = bytes.as_ptr().expose_provenance() as u64;
            list.iter().map(|param| first + u64::from(param.offset)).collect()
        });
        Pointer::at(places.as_ptr().expose_provenance() as u64)
    }

    /// Runs it to its end.
    pub fn run(&self) -> Result<(), Error> {
        let driver = driver()?;
        let module = &self.function.module;
        let machine = &driver.machines[module.device];
        if !self.launch.cooperative {
            return self.run_on(machine);
        }
        let workspace = driver.lock().device.alloc(WORKSPACE)?;
        let mut machine = Machine::clone(machine);
        machine.environment[1] = (workspace.address() >> 32) as u32;
        machine.environment[2] = workspace.address() as u32;
        let outcome = self.run_on(&Arc::new(machine));
        driver.lock().device.free(workspace)?;
        outcome
    }

    fn run_on(&self, machine: &Arc<Machine>) -> Result<(), Error> {
        let driver = driver()?;
        let module = &self.function.module;
        let prepared = driver.lock().device.prepare_on(machine, &module.program, &self.launch);
        let outcome = prepared.and_then(|prepared| driver.watch.run(module, &self.function.name, prepared));
        outcome.map(|_| ()).map_err(|fault| driver.watch.fault(module, &self.function.name, fault))
    }
}

/// The parameters as they lie in parameter space.
fn parameters(function: &Function, params: In<Pointer>, extra: In<Pointer>) -> Result<Vec<u8>, Error> {
    let list = function.module.program.kernel(&function.name).unwrap_or(&[]);
    let size = list.iter().map(|p| (p.offset + p.bytes) as usize).max().unwrap_or(0);
    let mut bytes = vec![0; size];
    if list.is_empty() {
        return Ok(bytes);
    }
    if !params.is_null() {
        for (i, param) in list.iter().enumerate() {
            let place = params.at(i)?;
            if place.is_null() && param.bytes > 0 {
                let message = format!("no value for parameter {i} (`{}`) of `{}`", param.name, function.name);
                return Err(Error::value(message));
            }
            let value = memory::bytes(place, param.bytes as usize);
            bytes[param.offset as usize..][..value.len()].copy_from_slice(&value);
        }
        return Ok(bytes);
    }
    if extra.is_null() {
        let message = format!("`{}` takes {} parameters, none are given", function.name, list.len());
        return Err(Error::value(message));
    }
    let (mut buffer, mut given, mut at) = (None, None, 0);
    loop {
        let key = extra.at(at)?.address();
        if key == 0 {
            break;
        }
        let value = extra.at(at + 1)?;
        match BUFFER.iter().position(|known| *known == key) {
            Some(0) => buffer = Some(value),
            Some(_) if value.is_null() => return Err(Error::value("no size for a buffer of parameters")),
            Some(_) => {
                let size = memory::bytes(value, 8);
                given = size.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
            }
            None => return Err(Error::value(format!("{key} is no member of `extra`"))),
        }
        at += 2;
    }
    match (buffer, given) {
        (Some(buffer), Some(given)) if !buffer.is_null() && given >= size as u64 => {
            Ok(memory::bytes(buffer, size))
        }
        (Some(_), Some(given)) => Err(Error::value(format!(
            "`{}` takes {size} bytes of parameters, {given} are given",
            function.name
        ))),
        _ => Err(Error::value("`extra` names no buffer of parameters with its size")),
    }
}

/// Blocks of a cluster that every device can do, and the attribute that lets a kernel ask for more.
const PORTABLE_CLUSTER: u32 = 8;
const NON_PORTABLE: usize = 14;

fn check(function: &Function, shape: Shape, profile: &Profile) -> Result<(), Error> {
    let outside = |value: [u32; 3], most: [u32; 3]| (0..3).any(|i| value[i] == 0 || value[i] > most[i]);
    if outside(shape.grid, limits::GRID) || outside(shape.block, limits::BLOCK) {
        let message = format!("a grid of {:?} blocks of {:?} threads", shape.grid, shape.block);
        return Err(Error::value(message));
    }
    let threads: u32 = shape.block.iter().product();
    if threads > limits::BLOCK_THREADS {
        return Err(Error::value(format!("a block of {threads} threads")));
    }
    let Some(info) = function.module.program.kernel_info(&function.name) else {
        return Err(no_kernel(&function.module.program, &function.name));
    };
    if let Some(required) = info.attributes.required_block.filter(|required| *required != shape.block) {
        return Err(Error::value(format!(
            "a block of {:?} for a kernel with .reqntid {required:?}",
            shape.block
        )));
    }
    if let Some(most) = info.attributes.max_threads.filter(|most| threads > *most) {
        return Err(Error::value(format!("a block of {threads} threads for a kernel with .maxntid {most}")));
    }
    let most = most_dynamic_shared(&info, &function.attributes, profile);
    if u64::from(shape.shared) > most {
        let message = format!(
            "{} bytes of dynamic shared memory for `{}`, the most is {most}: \
             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES sets more",
            shape.shared, function.name
        );
        return Err(Error::value(message));
    }
    let blocks: u64 = shape.grid.iter().map(|n| u64::from(*n)).product();
    let room = resident_blocks(&info, profile, threads, shape.shared.into()) * u64::from(profile.sms);
    if shape.cooperative && blocks > room {
        let message = format!("a cooperative launch of {blocks} blocks on a device with room for {room}");
        return Err(Error::new(Code::COOPERATIVE_LAUNCH_TOO_LARGE, message));
    }
    if let Some(cluster) = shape.cluster.or(info.attributes.required_cluster) {
        let size = cluster.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
        let allowed = function.attributes.preferences[NON_PORTABLE - 9].load(Ordering::Relaxed) != 0;
        let most = u64::from(if allowed { limits::CLUSTER_BLOCKS } else { PORTABLE_CLUSTER });
        let whole = (0..3).all(|i| cluster[i] != 0 && shape.grid[i].is_multiple_of(cluster[i]));
        if !profile.clusters() && size > 1 || !whole || size > most {
            let message = format!("clusters of {cluster:?} blocks in a grid of {:?}", shape.grid);
            return Err(Error::new(Code::INVALID_CLUSTER_SIZE, message));
        }
    }
    Ok(())
}

/// The most dynamic shared memory that a launch may ask for.
pub fn most_dynamic_shared(info: &KernelInfo<'_>, attributes: &Attributes, profile: &Profile) -> u64 {
    let set = attributes.dynamic_shared.load(Ordering::Relaxed);
    let default = limits::STATIC_SHARED_BYTES.saturating_sub(info.static_shared);
    default.max(set.into()).min(u64::from(profile.shared_per_block).saturating_sub(info.static_shared))
}

/// Blocks that a multiprocessor has room for.
pub fn resident_blocks(info: &KernelInfo<'_>, profile: &Profile, threads: u32, dynamic: u64) -> u64 {
    if threads == 0 || threads > limits::BLOCK_THREADS {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let by_warps = u64::from(profile.threads_per_sm / 32 / warps);
    // What the system keeps of each block's shared memory, and the unit that it is given out in.
    let shared = (info.static_shared + dynamic + 1024).next_multiple_of(128);
    let by_shared = u64::from(profile.shared_per_sm) / shared;
    let by_registers = u64::from(REGISTERS / (registers(info) * 32 * warps));
    by_warps.min(profile.blocks_per_sm.into()).min(by_shared).min(by_registers)
}
