//! Modules: functions and globals by name.

use crate::aggregate::TypeTable;
use crate::debug::DebugInfo;
use crate::entities::{FileId, FuncId, GlobalId, Inst};
use crate::function::{Function, Linkage, LocData};
use crate::types::Type;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::borrow::Cow;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Origin, Place, Source, Span};
use warpsmith_isa::{ScalarType, StateSpace, Target, stable_hash};

/// The shape of a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One element: `i32`.
    One,
    /// An array: `[i32; 16]`.
    Array(u64),
    /// An array of a length that the launch gives: `[f32]`, dynamic shared memory.
    Dynamic,
}

/// An address among the bytes that a global starts with: 8 bytes, little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reloc {
    /// Where in the global it stands. The bytes there are not looked at.
    pub offset: u64,
    /// Of what.
    pub target: Symbol,
    /// What is added.
    pub addend: i64,
    /// As a generic address, rather than one in the target's space. Functions have one address.
    pub generic: bool,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Global {
    /// The symbol, without `@`.
    pub name: String,
    /// Who else sees it.
    pub linkage: Linkage,
    /// `Global`, `Const` or `Shared`.
    pub space: StateSpace,
    /// The type of an element.
    pub ty: Type,
    /// How many elements.
    pub extent: Extent,
    /// What it denotes if it is not memory: a texture, sampler or surface that the host binds, named by table-derived operations only.
    pub handle: Option<ScalarType>,
    /// The alignment as written; else that of the element.
    pub align: Option<u32>,
    /// The bytes it starts with, little-endian; zeros follow. `None`: zeros, or nothing in particular in shared memory.
    pub init: Option<Vec<u8>>,
    /// Addresses among those bytes.
    pub relocs: Vec<Reloc>,
    /// Memory that the host can access too, moved by the driver (`.attribute(.managed)`; PTX ISA 9.0, 5.4.8).
    pub managed: bool,
    /// Where in the text its name was written.
    pub span: Span,
}

impl Global {
    /// A global of zeros.
    pub fn new(name: impl Into<String>, space: StateSpace, ty: Type, extent: Extent) -> Self {
        let linkage = if extent == Extent::Dynamic { Linkage::Extern } else { Linkage::Local };
        let (name, span) = (name.into(), Span::NONE);
        let relocs = Vec::new();
        Global {
            name,
            linkage,
            space,
            ty,
            extent,
            handle: None,
            align: None,
            init: None,
            relocs,
            managed: false,
            span,
        }
    }

    /// A texture (`texref`) or surface (`surfref`) that the host binds.
    pub fn handle(name: impl Into<String>, kind: ScalarType) -> Self {
        Global { handle: Some(kind), ..Global::new(name, StateSpace::Global, Type::I64, Extent::One) }
    }

    /// The size in bytes; 0 for a dynamic extent. Saturates where no machine could hold it.
    pub fn size(&self, types: &TypeTable) -> u64 {
        let element = types.size(self.ty);
        match self.extent {
            Extent::One => element,
            Extent::Array(len) => element.saturating_mul(len),
            Extent::Dynamic => 0,
        }
    }

    /// The alignment.
    pub fn alignment(&self, types: &TypeTable) -> u32 {
        self.align.unwrap_or_else(|| types.align(self.ty))
    }

    /// The type of its address.
    pub fn ptr_type(&self) -> Type {
        Type::ptr(self.space).unwrap_or(Type::PTR)
    }
}

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A kernel or function.
    Func(FuncId),
    /// A global.
    Global(GlobalId),
}

/// When a source file was changed, and how long it is. ptxas looks both up in the file system where `.file` does not say them, so that what
/// it writes depends on the machine; with a stamp it does not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileStamp {
    /// Seconds since 1970. ptxas takes 0 for none.
    pub time: u64,
    /// Bytes. ptxas takes 0 for none.
    pub size: u64,
}

/// A module: what one PTX file is made from.
#[derive(Clone, Default, Debug)]
pub struct Module {
    /// The target that the module asks for; a compilation may name another.
    pub target: Option<Target>,
    /// Structs and arrays.
    pub types: TypeTable,
    /// Kernels and functions.
    pub functions: PrimaryMap<FuncId, Function>,
    /// Variables in memory.
    pub globals: PrimaryMap<GlobalId, Global>,
    /// Names of the user's source files.
    pub files: PrimaryMap<FileId, String>,
    /// When those files were changed and how long they are, where the front end says so.
    pub stamps: SecondaryMap<FileId, Option<FileStamp>>,
    /// Debug information, beside that of its functions.
    pub debug: Option<Box<DebugInfo>>,
    /// The text that spans of the module count in: what the parser read, or [`Source::none`] for a module that was built.
    pub source: Source,
    /// The order in which functions and globals were added, which is the order of the text.
    pub order: Vec<Symbol>,
    symbols: FxHashMap<String, Symbol>,
}

impl<'m> From<&'m Module> for Cow<'m, Module> {
    fn from(module: &'m Module) -> Self {
        Cow::Borrowed(module)
    }
}

impl From<Module> for Cow<'_, Module> {
    fn from(module: Module) -> Self {
        Cow::Owned(module)
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Module::default()
    }

    /// Reads a module, or reports all that is wrong with it.
    ///
    /// ```
    /// use warpsmith_ir::Module;
    /// let module = Module::parse("func @twice(%x: i32) -> i32 {\nentry:\n  %y = iadd %x, %x\n  ret %y\n}")?;
    /// assert!(module.function("twice").is_some());
    /// let errors = Module::parse("func @twice(%x: i129)").unwrap_err();
    /// assert!(errors.to_string().contains("i129"));
    /// # Ok::<(), warpsmith_diag::Diagnostics>(())
    /// ```
    pub fn parse(source: impl Into<Source>) -> Result<Module, Diagnostics> {
        crate::parse_module(source)
    }

    /// Findings about this module, with the text that their spans count in.
    pub fn diagnostics(&self, findings: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics::new(self.source.clone(), findings)
    }

    /// Adds a function. A name that exists already stays with its first owner; the verifier reports it.
    pub fn add_function(&mut self, function: Function) -> FuncId {
        let name = function.name.clone();
        let id = self.functions.push(function);
        self.add_symbol(name, Symbol::Func(id));
        id
    }

    /// Adds a global. A name that exists already stays with its first owner; the verifier reports it.
    pub fn add_global(&mut self, global: Global) -> GlobalId {
        let name = global.name.clone();
        let id = self.globals.push(global);
        self.add_symbol(name, Symbol::Global(id));
        id
    }

    /// The variable that holds a text and a zero behind it: one for each text of the module, however often it is asked for.
    pub fn intern_string(&mut self, text: &[u8]) -> GlobalId {
        self.find_string(text).unwrap_or_else(|missing| self.add_global(*missing))
    }

    /// What [`Module::intern_string`] gives for a text, if it is there; else the variable that it would add.
    pub(crate) fn find_string(&self, text: &[u8]) -> Result<GlobalId, Box<Global>> {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text);
        bytes.push(0);
        // Named by its hash, so that it is found by its name in modules that were printed and read again.
        let mut name = format!("__ws_text_{:016x}", stable_hash(text));
        while let Some(symbol) = self.symbol(&name) {
            if let Symbol::Global(id) = symbol
                && self.globals[id].init.as_ref().is_some_and(|init| *init == bytes)
                && self.globals[id].linkage == Linkage::Local
            {
                return Ok(id);
            }
            name.push('_');
        }
        let mut global = Global::new(name, StateSpace::Global, Type::I8, Extent::Array(bytes.len() as u64));
        global.init = Some(bytes);
        Err(Box::new(global))
    }

    fn add_symbol(&mut self, name: String, symbol: Symbol) {
        self.order.push(symbol);
        self.symbols.entry(name).or_insert(symbol);
    }

    /// Gives symbols other numbers; those that get none are forgotten.
    pub(crate) fn renumber(&mut self, new: impl Fn(Symbol) -> Option<Symbol>) {
        self.order = self.order.iter().filter_map(|symbol| new(*symbol)).collect();
        self.symbols.retain(|_, symbol| {
            new(*symbol).is_some_and(|new| {
                *symbol = new;
                true
            })
        });
    }

    /// What a name (without `@`) denotes.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        match self.symbol(name)? {
            Symbol::Func(id) => Some(id),
            Symbol::Global(_) => None,
        }
    }

    /// The place in the user's source that an instruction of one of the module's functions comes from, with the name of the file.
    pub fn place(&self, func: &Function, inst: Inst) -> Option<(&str, LocData)> {
        let at = *func.locs.get(func.inst_locs[inst].expand()?)?;
        Some((self.files.get(at.file)?, at))
    }

    /// What a finding about an instruction of one of the module's functions is about.
    pub fn origin(&self, func: &Function, inst: Inst) -> Origin {
        let origin = Origin::of(&func.name).instruction(inst.as_u32());
        match self.place(func, inst) {
            Some((file, LocData { line, column, .. })) => {
                origin.place(Place { file: file.to_owned(), line, column })
            }
            None => origin,
        }
    }

    /// The kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.functions.iter().filter(|(_, f)| f.kind == crate::FuncKind::Kernel)
    }
}
