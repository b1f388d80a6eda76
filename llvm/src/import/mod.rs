//! From LLVM to the IR: modules are linked and what their kernels need is imported.
//!
//! The importer starts from the symbols that are to be seen outside and takes what they reach, one function at a time; nothing else is read.
//! A value of LLVM becomes scalars of the IR ([`shape`]), which are put together where they are passed, returned or moved. The constructs
//! that are refused are refused by name, with the function and the byte of the record.

mod asm;
mod atomic;
mod bits;
mod call;
mod constant;
mod contract;
mod convert;
mod debug;
mod device;
mod float;
mod folded;
mod function;
mod global;
mod inst;
mod integer;
mod intrinsic;
mod libdevice;
mod library;
mod loops;
mod memory;
mod module_asm;
mod nvvm;
mod opencl;
mod ranges;
mod run_time;
mod shape;
mod signature;
mod space;
mod symbols;
mod undefined;
mod whole;
mod wide;

use crate::error::{Error, Result};
use crate::module::body::Body;
use crate::module::types::TypeId;
use crate::module::{GlobalValue, Module};
use signature::Signature;
use std::rc::Rc;
use symbols::{Site, Symbols};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir as ir;

/// What is to be imported.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The symbols that are seen outside, kernels among them. `None`: all kernels, and everything else that is defined and not local.
    pub exports: Option<Vec<String>>,
    /// The target.
    pub target: Option<warpsmith_isa::Target>,
    /// Names that nothing defines are an error, but for those that CUDA provides.
    pub closed: bool,
    /// The files that are libraries: what others need is taken from them, and nothing of it is seen outside.
    pub libraries: Vec<String>,
}

impl Options {
    /// Everything that is not local is exported, and what is not defined may be elsewhere.
    pub fn new() -> Self {
        Options::default()
    }

    /// Only these symbols, kernels among them, are seen outside.
    pub fn with_exports(mut self, exports: Vec<String>) -> Self {
        self.exports = Some(exports);
        self
    }

    /// The target to compile for.
    pub fn with_target(mut self, target: impl Into<Option<warpsmith_isa::Target>>) -> Self {
        self.target = target.into();
        self
    }

    /// Takes from a file, such as CUDA's `libdevice.10.bc`, only what others need.
    pub fn with_library(mut self, file: impl Into<String>) -> Self {
        self.libraries.push(file.into());
        self
    }

    /// What nothing defines is an error.
    pub fn with_closed(mut self, closed: bool) -> Self {
        self.closed = closed;
        self
    }
}

/// Links modules, each with the name of its file, and imports them.
///
/// # Errors
/// Everything that cannot be linked or imported.
pub fn import(
    mut modules: Vec<(String, Module<'_>)>,
    options: &Options,
) -> std::result::Result<ir::Module, Vec<Error>> {
    let mut errors = Vec::new();
    for (_, module) in &mut modules {
        device::prepare(module);
        opencl::prepare(module);
    }
    let mut symbols = Symbols::new(&modules, &mut errors);
    let shared = library::Shared::new(&mut symbols);
    let libraries = modules.iter().map(|(file, _)| options.libraries.contains(file)).collect();
    let exports = options
        .exports
        .as_ref()
        .map(|names| names.iter().map(|name| device::symbol(name).to_owned()).collect());
    let mut importer = Importer {
        modules,
        libraries,
        exports,
        symbols,
        resolved: FxHashMap::default(),
        functions: FxHashMap::default(),
        signatures: FxHashMap::default(),
        globals: FxHashMap::default(),
        run_time: FxHashMap::default(),
        shared,
        assembled: FxHashMap::default(),
        scratch: None,
        queue: Vec::new(),
        spare: Body::default(),
        made: debug::Made::default(),
        users: undefined::Users::default(),
    };
    let mut out = ir::Module::new();
    out.target = options.target;
    importer.assembly(&mut out, &mut errors);
    importer.roots(options, &mut out, &mut errors);
    if let Err(error) = importer.constructors(&mut out) {
        errors.push(error);
    }
    let mut next = 0;
    while let Some(work) = importer.queue.get(next).copied() {
        next += 1;
        let done = match work {
            Work::Function(site, id) => importer.function(site, id, &mut out),
            Work::Global(site, id) => importer.initialise(site, id, &mut out),
            Work::Library(site, known, id) => importer.define_library(site, known, id, &mut out),
        };
        if let Err(error) = done {
            errors.push(error.in_function(importer.name(work)).in_file(importer.file(work.site())));
        }
    }
    if options.closed {
        importer.undefined(&out, &mut errors);
    }
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// What has been declared and not been filled in yet.
#[derive(Clone, Copy)]
enum Work {
    Function(Site, ir::FuncId),
    Global(Site, ir::GlobalId),
    /// A function that no module defines and a library has.
    Library(Site, library::Known, ir::FuncId),
}

impl Work {
    fn site(self) -> Site {
        let (Work::Function(site, _) | Work::Global(site, _) | Work::Library(site, ..)) = self;
        site
    }
}

struct Importer<'a> {
    modules: Vec<(String, Module<'a>)>,
    /// Which of them are libraries.
    libraries: Vec<bool>,
    /// The symbols that are seen outside; `None`: all that are neither local nor weak.
    exports: Option<FxHashSet<String>>,
    symbols: Symbols,
    /// What [`Importer::resolve`] has found.
    resolved: FxHashMap<Site, Site>,
    functions: FxHashMap<Site, ir::FuncId>,
    signatures: FxHashMap<(usize, TypeId, u32, bool), Rc<Signature>>,
    globals: FxHashMap<Site, ir::GlobalId>,
    /// What C++'s run-time library has, by name.
    run_time: FxHashMap<String, ir::Symbol>,
    /// What the bodies of libraries share.
    shared: library::Shared,
    /// The variables of `module asm`, by name.
    assembled: FxHashMap<String, ir::GlobalId>,
    /// The shared memory through which OpenCL's groups compute together, once one does.
    scratch: Option<ir::GlobalId>,
    queue: Vec<Work>,
    /// The last body that was imported, for its memory.
    spare: Body,
    made: debug::Made,
    users: undefined::Users,
}

/// Where functions and globals are added: a module, or the builder that has borrowed it.
trait Out {
    fn function(&mut self, function: ir::Function) -> ir::FuncId;
    fn global(&mut self, global: ir::Global) -> ir::GlobalId;
    fn types(&mut self) -> Result<&mut ir::TypeTable>;
}

impl Out for ir::Module {
    fn function(&mut self, function: ir::Function) -> ir::FuncId {
        self.add_function(function)
    }

    fn global(&mut self, global: ir::Global) -> ir::GlobalId {
        self.add_global(global)
    }

    fn types(&mut self) -> Result<&mut ir::TypeTable> {
        Ok(&mut self.types)
    }
}

impl Out for ir::FunctionBuilder<'_> {
    fn function(&mut self, function: ir::Function) -> ir::FuncId {
        self.add_function(function)
    }

    fn global(&mut self, global: ir::Global) -> ir::GlobalId {
        self.add_global(global)
    }

    fn types(&mut self) -> Result<&mut ir::TypeTable> {
        ir::FunctionBuilder::types(self).ok_or_else(|| Error::unsupported("a body without a module"))
    }
}

impl<'a> Importer<'a> {
    fn module(&self, site: Site) -> &Module<'a> {
        &self.modules[site.module].1
    }

    /// True for what is taken only where others need it.
    fn is_library(&self, site: Site) -> bool {
        self.libraries.get(site.module).copied().unwrap_or(false)
            || opencl::is_kernel_body(self.module(site).name_of(site.value))
    }

    /// True for a function or variable that other modules may name.
    fn is_exported(&self, site: Site, linkage: crate::module::ops::Linkage) -> bool {
        let named = match &self.exports {
            Some(exports) => exports.contains(self.module(site).name_of(site.value)),
            None => !linkage.is_weak(),
        };
        named && !linkage.is_local() && !self.is_library(site)
    }

    fn name(&self, work: Work) -> &str {
        let site = work.site();
        self.module(site).name_of(site.value)
    }

    /// The name of the file that a symbol is in.
    fn file(&self, site: Site) -> &str {
        &self.modules[site.module].0
    }

    /// Declares what everything else is reached from.
    fn roots(&mut self, options: &Options, out: &mut ir::Module, errors: &mut Vec<Error>) {
        let defined: Vec<(String, Site)> =
            self.symbols.defined().into_iter().map(|(name, site)| (name.to_owned(), site)).collect();
        let mut declare = |importer: &mut Self, site: Site| {
            if let Err(error) = importer.declare(site, out) {
                let error = error.in_function(importer.module(site).name_of(site.value));
                errors.push(error.in_file(importer.file(site)));
            }
        };
        for (name, site) in &defined {
            let wanted = self.exports.as_ref().is_none_or(|exports| exports.contains(name));
            let is_kernel = self.is_kernel(*site);
            let (kept, weak) = match site.value {
                GlobalValue::Function(n) => {
                    let linkage = self.module(*site).functions[n].linkage;
                    (linkage != crate::module::ops::Linkage::AvailableExternally, linkage.is_weak())
                }
                GlobalValue::Global(n) => {
                    let global = &self.module(*site).globals[n];
                    // What LLVM itself keeps, and what debuggers of native code read.
                    let kept = !global
                        .section
                        .as_deref()
                        .is_some_and(|s| matches!(s, "llvm.metadata" | ".debug_gdb_scripts"));
                    (kept, global.linkage.is_weak())
                }
                GlobalValue::Alias(_) => (true, false),
            };
            // What may be dropped where it is not used is.
            let wanted = wanted && (!weak || options.exports.is_some());
            let kept = kept && (options.exports.is_some() || !self.is_library(*site));
            if kept && (wanted || (is_kernel && options.exports.is_none())) {
                declare(self, *site);
            }
        }
        for name in options.exports.iter().flatten().map(|name| device::symbol(name)) {
            if !defined.iter().any(|(known, _)| known == name) {
                errors.push(Error::link(format!("`{name}` is to be exported, and nothing defines it")));
            }
        }
    }

    /// Declares the variables that are written as assembly.
    fn assembly(&mut self, out: &mut ir::Module, errors: &mut Vec<Error>) {
        for (file, module) in &self.modules {
            match module_asm::variables(&module.asm) {
                Ok(variables) => {
                    for variable in variables {
                        let name = variable.name.clone();
                        if self.assembled.contains_key(&name) {
                            errors.push(Error::link(format!("`{name}` is declared twice in `module asm`")));
                            continue;
                        }
                        let id = out.add_global(variable);
                        self.assembled.insert(name, id);
                    }
                }
                Err(mut error) => {
                    error.message = format!("{} (in {file})", error.message);
                    errors.push(error);
                }
            }
        }
    }

    /// Makes the kernels that run what `llvm.global_ctors` and `llvm.global_dtors` list, as LLVM does and under its names: PTX has no place for
    /// what runs before all else.
    fn constructors(&mut self, out: &mut ir::Module) -> Result<()> {
        for (list, name, ascending) in [
            ("llvm.global_ctors", "nvptx$device$init", true),
            ("llvm.global_dtors", "nvptx$device$fini", false),
        ] {
            let mut all: Vec<(i64, Site)> = Vec::new();
            for n in 0..self.modules.len() {
                all.extend(
                    global::listed(&self.modules[n].1, list)
                        .into_iter()
                        .map(|(priority, value)| (priority, Site { module: n, value })),
                );
            }
            if all.is_empty() {
                continue;
            }
            // In the order of their priorities, and of the list where they are equal.
            all.sort_by_key(|(priority, _)| if ascending { *priority } else { -*priority });
            let callees =
                all.into_iter().map(|(_, site)| self.func_id(site, out)).collect::<Result<Vec<_>>>()?;
            let kernel = ir::Function::new(name, ir::FuncKind::Kernel, Vec::new(), Vec::new());
            let kernel = out.add_function(kernel);
            let mut b = ir::FunctionBuilder::new(out, kernel);
            b.entry_block();
            for callee in callees {
                b.call(callee, &[]);
            }
            ir::InstBuilder::ret(b.ins(), &[]);
            b.finalize().map_err(|errors| Error::unsupported(format!("`{name}`: {errors}")))?;
        }
        Ok(())
    }

    /// What a symbol of a module means among all modules.
    fn resolve(&mut self, site: Site) -> Result<Site> {
        if let Some(known) = self.resolved.get(&site) {
            return Ok(*known);
        }
        let meant = self.symbols.resolve(&self.modules, site)?;
        self.resolved.insert(site, meant);
        Ok(meant)
    }

    /// Declares the function or global of a symbol.
    fn declare(&mut self, site: Site, out: &mut impl Out) -> Result<()> {
        let site = self.resolve(site)?;
        match site.value {
            GlobalValue::Function(_) => self.func_id(site, out).map(drop),
            GlobalValue::Global(_) => self.global_id(site, out).map(drop),
            GlobalValue::Alias(_) => Ok(()),
        }
    }
}
