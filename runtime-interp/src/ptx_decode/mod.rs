//! From a validated PTX module to an engine program.
//!
//! Two walks: the first declares functions, so that calls can go forward; the second follows the text with the validator's
//! own [`Scopes`], lays out variables and decodes bodies. What an instruction *does* is not said here: the operation that the
//! validator resolved it to has a row in the table of meanings (`warpsmith_semantics::Meaning`), which names a computation or one of
//! the [`effects`](crate::effects). Here are names, registers, literals, `mov`, and control flow. A form without semantics is an error
//! that names it.

mod body;
mod call;
mod inst;
mod operand;
mod reach;
mod texture;
mod variable;

use crate::engine::{
    CandidatesId, Formal, FuncId, FunctionKind, KernelAttributes, KernelParam, Program, ProgramBuilder,
    SymbolId, SystemCall,
};
use smallvec::{SmallVec, smallvec};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Diagnostics, LineIndex, Span, nearest};
use warpsmith_isa::{StateSpace, memory};
use warpsmith_ptx::scope::{Binding, Clash, Scopes};
use warpsmith_ptx::{
    Decl, Declarator, Directive, Function, FunctionKind as PtxKind, Id, Item, List, Module, Stmt, Symbol,
    ValidatedModule,
};
use warpsmith_semantics::Approximations;

impl Program {
    /// Decodes a module. Errors and faults name lines of [`ValidatedModule::source`].
    ///
    /// ```
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 7.0
    /// .target sm_80
    /// .address_size 64
    /// .visible .entry twice(.param .u64 data) {
    ///     .reg .b32 %r<3>;
    ///     .reg .b64 %rd<3>;
    ///     ld.param.u64 %rd0, [data];
    ///     mov.u32 %r0, %tid.x;
    ///     mul.wide.u32 %rd1, %r0, 4;
    ///     add.u64 %rd2, %rd0, %rd1;
    ///     ld.global.u32 %r1, [%rd2];
    ///     add.u32 %r2, %r1, %r1;
    ///     st.global.u32 [%rd2], %r2;
    ///     ret;
    /// }";
    /// let program = Program::load(&ValidatedModule::parse(source)?)?;
    /// let mut device = Device::new();
    /// let data = device.upload(&[1u32, 2, 3, 4])?;
    /// device.launch(&program, &Launch::new("twice").block([4, 1, 1]).arg(data))?;
    /// assert_eq!(device.download::<u32>(data)?, [2, 4, 6, 8]);
    ///
    /// let fault = device.launch(&program, &Launch::new("twice").block([5, 1, 1]).arg(data)).unwrap_err();
    /// assert_eq!((fault.code.name(), fault.ptx_line, fault.thread), ("out_of_bounds", Some(12), Some([4, 0, 0])));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(module: &ValidatedModule) -> Result<Program, Diagnostics> {
        Program::load_with(module, &Loading::default())
    }

    /// Decodes one kernel and what it can reach, through calls, addresses and initial values, and nothing else: what the engine cannot
    /// execute elsewhere in the module does not matter. A name that is not a kernel of the module is an error.
    ///
    /// ```
    /// use warpsmith_interp::Program;
    /// use warpsmith_ptx::ValidatedModule;
    /// let module = ValidatedModule::parse("
    /// .version 9.3
    /// .target sm_100
    /// .address_size 64
    /// .visible .entry plain() { ret; }
    /// .visible .entry waits() { fabric.wait.sync_restrict::reads; ret; }
    /// ")?;
    /// assert!(Program::load_entry(&module, "plain").is_ok());
    /// let refused = Program::load_entry(&module, "waits").unwrap_err();
    /// assert!(refused[0].message.contains("fabric.wait"));
    /// let unknown = Program::load_entry(&module, "plane").unwrap_err();
    /// assert_eq!(unknown[0].message, "the module has no kernel `plane`");
    /// assert_eq!(unknown[0].notes, ["did you mean `plain`?", "its kernels are `plain` and `waits`"]);
    /// # Ok::<(), warpsmith_diag::Diagnostics>(())
    /// ```
    pub fn load_entry(module: &ValidatedModule, entry: &str) -> Result<Program, Diagnostics> {
        Program::load_with(module, &Loading { entry: Some(entry.to_owned()), ..Loading::default() })
    }

    /// Decodes a module as the user wants it.
    pub fn load_with(module: &ValidatedModule, loading: &Loading) -> Result<Program, Diagnostics> {
        let mut decoder = Decoder::new(module, loading.approximations);
        let Some(entry) = &loading.entry else { return decoder.decode() };
        let kernels = || module.functions().filter(|f| f.kind == PtxKind::Entry && f.body.is_some());
        let Some(kernel) = kernels().find(|f| module[f.name] == **entry) else {
            return Err(unknown_kernel(module, entry, kernels().map(|f| &module[f.name])));
        };
        decoder.reached = Some(reach::reachable(module, kernel.name));
        decoder.decode()
    }
}

/// How a module is decoded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loading {
    /// The kernel to decode, with what it can reach; all of the module if `None`.
    pub entry: Option<String>,
    /// What approximate instructions compute.
    pub approximations: Approximations,
}

/// The error for a kernel that the module does not have, with those that it has.
fn unknown_kernel<'m>(
    module: &ValidatedModule,
    entry: &str,
    kernels: impl Iterator<Item = &'m str>,
) -> Diagnostics {
    let names: Vec<&str> = kernels.collect();
    let mut error = Diagnostic::error("X0002", Span::NONE, format!("the module has no kernel `{entry}`"));
    if let Some(near) = nearest(entry, names.iter().copied()) {
        error = error.note(format!("did you mean `{near}`?"));
    }
    let quoted: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    let known = match (quoted.as_slice(), names.len() - quoted.len()) {
        ([], _) => "it has no kernels".to_owned(),
        ([only], 0) => format!("its kernel is {only}"),
        ([others @ .., last], 0) => format!("its kernels are {} and {last}", others.join(", ")),
        (some, more) => format!("its kernels are {} and {more} more", some.join(", ")),
    };
    Diagnostics::new(module.source().clone(), vec![error.note(known)])
}

/// As many kernels are named where one is unknown.
const MOST_NAMED: usize = 12;

/// Where a variable or parameter is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A variable of the module, or a static one of a function.
    Symbol(SymbolId),
    /// Bytes of the stack frame.
    Stack { offset: i64, bytes: u64 },
    /// A parameter of the kernel.
    KernelParam(u32),
    /// A texture, sampler or surface that is a parameter of the kernel: it holds a handle, and denotes it.
    OpaqueParam(u32),
}

/// What a parameter is to the engine: bytes of the stack, a register, or one for each element of a vector register.
type Parameter = SmallVec<[Formal; 1]>;

/// A function of the module: all its declarations are one.
struct Known {
    id: FuncId,
    params: Vec<Parameter>,
    results: Vec<Parameter>,
    kernel: bool,
    defined: bool,
}

struct Decoder<'m> {
    module: &'m ValidatedModule,
    /// The lines of the module's text, if it has one.
    lines: Option<LineIndex<'m>>,
    /// The names that the one kernel to decode can reach, if not all are.
    reached: Option<FxHashSet<Symbol>>,
    scopes: Scopes<'m>,
    program: ProgramBuilder,
    functions: FxHashMap<Symbol, Known>,
    /// The names of the functions.
    declared: FxHashMap<FuncId, Symbol>,
    /// What indirect calls can reach.
    candidates: FxHashMap<call::Listed, CandidatesId>,
    /// The functions with bodies, by the sizes of what they take and return; made when a prototype asks.
    by_sizes: Option<FxHashMap<call::Sizes, Vec<FuncId>>>,
    aliases: FxHashMap<Symbol, Symbol>,
    /// Variables of the module, by declarator and number in `x<4>`.
    places: FxHashMap<(Id<Declarator>, u32), Place>,
    /// The bytes that a function needs for an array of no stated size: those of the largest that any call can pass.
    unsized_bytes: u64,
    approximations: Approximations,
    /// Initialisers may refer to variables that come later: they are added when all are placed.
    names: FxHashMap<Symbol, SymbolId>,
    /// The variables that functions declare, to which initialisers may refer too.
    inner_names: FxHashMap<Symbol, SymbolId>,
}

impl<'m> Decoder<'m> {
    fn new(module: &'m ValidatedModule, approximations: Approximations) -> Self {
        let mut program = ProgramBuilder::with_source(module.source().clone());
        program.target(module.target());
        Decoder {
            module,
            lines: (!module.source().is_none()).then(|| module.source().lines()),
            reached: None,
            approximations,
            scopes: Scopes::new(module),
            program,
            functions: FxHashMap::default(),
            declared: FxHashMap::default(),
            candidates: FxHashMap::default(),
            by_sizes: None,
            aliases: FxHashMap::default(),
            places: FxHashMap::default(),
            unsized_bytes: largest_argument(module),
            names: FxHashMap::default(),
            inner_names: FxHashMap::default(),
        }
    }

    fn decode(mut self) -> Result<Program, Diagnostics> {
        let module: &'m Module = self.module;
        for item in module.items() {
            if let Item::Alias { alias, aliasee } = *item {
                self.aliases.insert(alias, aliasee);
            }
        }
        for function in module.functions().filter(|f| self.wanted(f.name)).collect::<Vec<_>>() {
            self.declare(function);
        }
        self.system_calls();
        for item in module.items() {
            match *item {
                Item::Variable(decl) => {
                    self.module_variables(decl);
                    self.bind(item);
                }
                Item::Function(id) => {
                    self.bind(item);
                    let function = &module[id];
                    if let Some(body) = function.body
                        && self.wanted(function.name)
                    {
                        self.body(id, function, body);
                    }
                }
                Item::Version(_)
                | Item::Target(_)
                | Item::AddressSize(_)
                | Item::File(_)
                | Item::Pragma(_)
                | Item::IntermediateSource(_)
                | Item::Section(_)
                | Item::Alias { .. } => {}
            }
        }
        self.initialise();
        self.program.finish()
    }

    fn bind(&mut self, item: &Item) {
        for clash in self.scopes.item(item) {
            let (span, message) = self.clash(&clash);
            self.error(span, message);
        }
    }

    /// Where a name cannot be bound, and why: a validated module has no such name.
    fn clash(&self, clash: &Clash) -> (Span, String) {
        let module: &'m Module = self.module;
        let span = match clash.binding {
            Binding::Variable(_, declarator) => module[declarator].span,
            Binding::Label(stmt) | Binding::List(stmt) => module.stmt_span(stmt),
            Binding::Function(function) => module[function].name_span,
            Binding::Special(_) => Span::NONE,
        };
        (span, clash.message(module))
    }

    fn wanted(&self, name: Symbol) -> bool {
        self.reached.as_ref().is_none_or(|reached| reached.contains(&name))
    }

    /// Defines the functions that the module declares and the system provides.
    fn system_calls(&mut self) {
        let module: &'m Module = self.module;
        for function in module.functions() {
            let (name, call) = (function.name, SystemCall::from_name(self.name(function.name)));
            let (Some(call), Some(known)) = (call, self.functions.get_mut(&name)) else { continue };
            if !known.defined && !known.kernel {
                known.defined = true;
                if let Err(message) = self.program.define_system(known.id, call) {
                    self.error(function.name_span, message);
                }
            }
        }
    }

    fn name(&self, symbol: Symbol) -> &'m str {
        let module: &'m Module = self.module;
        &module[symbol]
    }

    /// Where a name is declared, in bytes of the source.
    fn declared_at(&self, declarator: Id<Declarator>) -> Option<u32> {
        let module: &'m Module = self.module;
        Some(module[declarator].span).filter(|span| !span.is_none()).map(|span| span.start)
    }

    /// The line of a span, 0 if it has none.
    fn line(&self, span: Span) -> u32 {
        match &self.lines {
            Some(lines) if !span.is_none() => lines.position(span.start).line,
            _ => 0,
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        let mut program = std::mem::take(&mut self.program);
        self.error_in(&mut program, span, message);
        self.program = program;
    }

    /// An error while the program is lent to the builder of a function.
    fn error_in(&self, program: &mut ProgramBuilder, span: Span, message: impl Into<String>) {
        program.error_at(message, span);
    }

    /// The function that a name means, through an alias.
    fn known(&self, name: Symbol) -> Option<&Known> {
        let name = self.aliases.get(&name).copied().unwrap_or(name);
        self.functions.get(&name)
    }

    /// Declares a function, unless an earlier declaration did; a definition's parameters are those of its declarations.
    fn declare(&mut self, function: &Function) {
        let defined = function.body.is_some();
        if let Some(known) = self.functions.get_mut(&function.name) {
            known.defined |= defined;
            return;
        }
        let kernel = function.kind == PtxKind::Entry;
        let (mut params, mut results) = (Vec::new(), Vec::new());
        let kind = if kernel {
            FunctionKind::Kernel {
                params: self.kernel_params(function),
                attributes: self.attributes(function),
            }
        } else {
            params = self.parameters(function.params, self.unsized_bytes);
            results = self.parameters(function.returns, self.unsized_bytes);
            FunctionKind::Device { params: params.concat(), results: results.concat() }
        };
        let id = self.program.declare(self.name(function.name), kind);
        self.declared.insert(id, function.name);
        self.functions.insert(function.name, Known { id, params, results, kernel, defined });
    }

    fn kernel_params(&mut self, function: &Function) -> Vec<KernelParam> {
        let module: &'m Module = self.module;
        let mut layout = memory::Layout::default();
        let mut params = Vec::new();
        for decl in &module[function.params] {
            for declarator in &module[decl.names] {
                let (bytes, align) = (self.bytes(decl, declarator), self.align(decl));
                let offset = layout.place(bytes, align);
                if layout.bytes() > u64::from(u16::MAX) {
                    self.error(declarator.span, "the parameters of the kernel are larger than 64 KiB");
                    return params;
                }
                let name = self.name(declarator.name).to_string();
                let (offset, bytes, align) = (offset as u32, bytes as u32, align as u32);
                params.push(KernelParam { name, offset, bytes, align });
            }
        }
        params
    }

    fn attributes(&self, function: &Function) -> KernelAttributes {
        let module: &'m Module = self.module;
        let mut attributes = KernelAttributes::default();
        for directive in &module[function.directives] {
            match directive {
                Directive::ReqNTid(dims) => attributes.required_block = Some(dims.size),
                Directive::MaxNTid(dims) => {
                    let threads = dims.size.iter().fold(1u32, |n, d| n.saturating_mul(*d));
                    attributes.max_threads = Some(threads);
                }
                Directive::ReqNCtaPerCluster(dims) => attributes.required_cluster = Some(dims.size),
                Directive::MaxClusterRank(n) => attributes.max_cluster = Some(*n),
                Directive::ExplicitCluster => attributes.explicit_cluster = true,
                Directive::BlocksAreClusters => attributes.blocks_are_clusters = true,
                Directive::MaxNReg(n) => attributes.max_registers = Some(*n),
                Directive::MinNCtaPerSm(n) => attributes.min_blocks = Some(*n),
                Directive::MaxNCtaPerSm(_)
                | Directive::MinPerCtaMemory(_)
                | Directive::NoReturn
                | Directive::Language(_)
                | Directive::AbiPreserve(_)
                | Directive::AbiPreserveControl(_)
                | Directive::Pragma(_) => {}
            }
        }
        attributes
    }

    /// The parameters or results of a device function, or of a prototype. An array without a size has `open` bytes.
    fn parameters(&mut self, decls: List<Decl>, open: u64) -> Vec<Parameter> {
        let module: &'m Module = self.module;
        let mut parameters = Vec::new();
        for decl in &module[decls] {
            for declarator in &module[decl.names] {
                if decl.space == StateSpace::Reg {
                    let register = Formal::Reg(operand::width(decl.ty));
                    parameters.push(smallvec![register; usize::from(decl.vector.max(1))]);
                    continue;
                }
                let is_unsized = module[declarator.dims].first().is_some_and(Option::is_none);
                let bytes = if is_unsized { open } else { self.bytes(decl, declarator) };
                let Ok(bytes) = u32::try_from(bytes) else {
                    self.error(declarator.span, format!("a parameter of {bytes} bytes"));
                    continue;
                };
                parameters.push(smallvec![Formal::Stack { bytes, align: self.align(decl) as u32 }]);
            }
        }
        parameters
    }

    /// The bytes of a declarator; an array without a size has none.
    fn bytes(&self, decl: &Decl, declarator: &Declarator) -> u64 {
        let module: &'m Module = self.module;
        let element = memory::element_bytes(decl.ty, decl.vector);
        module[declarator.dims].iter().fold(element, |size, dim| size.saturating_mul(dim.unwrap_or(0)))
    }

    /// The alignment of a declaration: what is written, or that of its elements.
    fn align(&self, decl: &Decl) -> u64 {
        u64::from(self.module.align_of(decl)).max(1)
    }
}

/// The bytes of the largest `.param` variable of any function's body.
#[expect(clippy::wildcard_enum_match_arm, reason = "only declarations declare")]
fn largest_argument(module: &Module) -> u64 {
    let declared = module.functions().filter_map(|f| f.body).flat_map(|body| &module[body]);
    let params = declared.filter_map(|stmt| match stmt {
        Stmt::Decl(id) if module[*id].space == StateSpace::Param => Some(&module[*id]),
        _ => None,
    });
    let bytes = params.flat_map(|decl| {
        let element = memory::element_bytes(decl.ty, decl.vector);
        module[decl.names].iter().map(move |d| {
            module[d.dims].iter().fold(element, |size, dim| size.saturating_mul(dim.unwrap_or(0)))
        })
    });
    bytes.max().unwrap_or(0)
}
