//! Making debug information.

use super::*;
use crate::entities::ScopeId;
use crate::function::LocData;
use crate::module::{FileStamp, Module};
use crate::types::Type;
use warpsmith_base::FxHashMap;
use warpsmith_isa::StateSpace;

/// Makes units, types and subprograms of a module, equal types once. In the manner of LLVM's `DIBuilder`.
///
/// ```
/// use warpsmith_ir::*;
/// use warpsmith_ir::debug::*;
/// let mut module = Module::new();
/// let mut debug = DebugBuilder::new(&mut module);
/// let file = debug.file("saxpy.dsl");
/// let unit = debug.unit(file, "demo 1.0", 0x8001, "/src");
/// let int = debug.base("int", 4, Encoding::Signed);
/// assert_eq!(debug.base("int", 4, Encoding::Signed), int);
/// let saxpy = debug.subprogram(unit, "saxpy", Declared { file, line: 3 }, None);
///
/// let id = module.add_function(Function::new("saxpy", FuncKind::Kernel, vec![Param::new(Type::I32)], vec![]));
/// let mut b = FunctionBuilder::new(&mut module, id);
/// let entry = b.entry_block();
/// let scope = b.set_subprogram(saxpy);
/// let n = b.declare_variable("n", VariableKind::Parameter(1), int, scope, Declared { file, line: 3 });
/// let value = b.block_params(entry)[0];
/// b.bind_variable(n, None, Storage::Value(value));
/// b.set_location(file, 4, 1, scope);
/// b.ins().ret(&[]);
/// b.finalize().unwrap();
/// verify(&module).unwrap();
/// assert!(module.to_string().contains("!var0 = %v0"));
/// ```
pub struct DebugBuilder<'m> {
    module: &'m mut Module,
    files: FxHashMap<String, FileId>,
}

impl<'m> DebugBuilder<'m> {
    /// Makes debug information for a module.
    pub fn new(module: &'m mut Module) -> Self {
        let files = module.files.iter().map(|(id, name)| (name.clone(), id)).collect();
        DebugBuilder { module, files }
    }

    fn info(&mut self) -> &mut DebugInfo {
        self.module.debug.get_or_insert_default()
    }

    /// A source file, by its name as the front end knows it.
    pub fn file(&mut self, name: &str) -> FileId {
        if let Some(id) = self.files.get(name) {
            return *id;
        }
        let id = self.module.files.push(name.to_owned());
        self.files.insert(name.to_owned(), id);
        id
    }

    /// Says when a file was changed and how long it is, so that what ptxas makes of the module does not depend on the file system.
    pub fn stamp(&mut self, file: FileId, time: u64, size: u64) {
        self.module.stamps[file] = Some(FileStamp { time, size });
    }

    /// A compile unit. `language` is a number of `DW_LANG_*`.
    pub fn unit(&mut self, file: FileId, producer: &str, language: u16, directory: &str) -> UnitId {
        let (producer, directory) = (producer.to_owned(), directory.to_owned());
        self.info().units.push(Unit { file, producer, language, directory })
    }

    /// A type; the one that is there already, if it is.
    pub fn ty(&mut self, ty: DebugType) -> DebugTypeId {
        let info = self.info();
        // Composite types are distinguished by where they are made, as in the source; comparing the others is cheap enough for a front end's
        // few hundred of them.
        let known = match &ty {
            DebugType::Composite { .. } | DebugType::Enum { .. } => None,
            DebugType::Base { .. }
            | DebugType::Pointer { .. }
            | DebugType::Reference { .. }
            | DebugType::Array { .. }
            | DebugType::Vector { .. }
            | DebugType::Typedef { .. }
            | DebugType::Const(_)
            | DebugType::Volatile(_)
            | DebugType::Function { .. } => {
                info.types.iter().find(|(_, known)| **known == ty).map(|(id, _)| id)
            }
        };
        known.unwrap_or_else(|| info.types.push(ty))
    }

    /// A number, character or truth value.
    pub fn base(&mut self, name: &str, size: u32, encoding: Encoding) -> DebugTypeId {
        self.ty(DebugType::Base { name: name.to_owned(), size, encoding })
    }

    /// A pointer to `to`, or to `void`, in a state space.
    pub fn pointer(&mut self, to: impl Into<Option<DebugTypeId>>, space: StateSpace) -> DebugTypeId {
        self.ty(DebugType::Pointer { to: to.into(), space })
    }

    /// An array of elements.
    pub fn array(&mut self, element: DebugTypeId, dimensions: &[u64]) -> DebugTypeId {
        self.ty(DebugType::Array { element, dimensions: dimensions.to_vec() })
    }

    /// A structure, union or class. Members may be given later, by [`DebugBuilder::set_members`], for types that refer to themselves.
    pub fn composite(&mut self, kind: Composite, name: &str, size: u64, members: Vec<Member>) -> DebugTypeId {
        self.ty(DebugType::Composite { kind, name: name.to_owned(), size, declared: None, members })
    }

    /// A structure that is a struct of the module, of which it has the size and the offsets. `fields` are the names and types of its fields in order.
    ///
    /// ```
    /// use warpsmith_ir::*;
    /// use warpsmith_ir::debug::*;
    /// let mut module = Module::new();
    /// let ty = module.types.structure(&[Type::I8, Type::I32]);
    /// let mut debug = DebugBuilder::new(&mut module);
    /// let (byte, int) = (debug.base("char", 1, Encoding::SignedChar), debug.base("int", 4, Encoding::Signed));
    /// debug.structure("Pair", ty, &[("tag", byte), ("value", int)]);
    /// assert!(module.to_string().contains("value"), "{module}");
    /// ```
    pub fn structure(&mut self, name: &str, ty: Type, fields: &[(&str, DebugTypeId)]) -> DebugTypeId {
        let types = &self.module.types;
        let members = (0..).zip(fields).filter_map(|(n, (name, typed))| {
            let (_, offset) = types.field(ty, n)?;
            Some(Member { name: (*name).to_owned(), ty: *typed, offset, bits: None })
        });
        let (members, size) = (members.collect(), types.size(ty));
        self.composite(Composite::Struct, name, size, members)
    }

    /// Gives a composite type its members; nothing happens to other types.
    pub fn set_members(&mut self, ty: DebugTypeId, of: Vec<Member>) {
        if let Some(DebugType::Composite { members, .. }) = self.info().types.get_mut(ty) {
            *members = of;
        }
    }

    /// A function of the source.
    pub fn subprogram(
        &mut self,
        unit: UnitId,
        name: &str,
        declared: Declared,
        ty: impl Into<Option<DebugTypeId>>,
    ) -> SubprogramId {
        let subprogram =
            Subprogram { name: name.to_owned(), linkage_name: None, unit, declared, ty: ty.into() };
        self.info().subprograms.push(subprogram)
    }

    /// Gives a function of the source the symbol that it has in the program.
    pub fn set_linkage_name(&mut self, subprogram: SubprogramId, name: &str) {
        if let Some(subprogram) = self.info().subprograms.get_mut(subprogram) {
            subprogram.linkage_name = Some(name.to_owned());
        }
    }

    /// A variable of the source that is a global of the module.
    pub fn global(
        &mut self,
        unit: UnitId,
        name: &str,
        global: GlobalId,
        ty: DebugTypeId,
        declared: Declared,
    ) {
        self.info().globals.push(GlobalVariable { name: name.to_owned(), global, ty, unit, declared });
    }
}

impl crate::FunctionBuilder<'_> {
    /// Says which function of the source is being built, and gives its scope.
    pub fn set_subprogram(&mut self, subprogram: SubprogramId) -> ScopeId {
        let declared = self.module().debug.as_ref().and_then(|debug| debug.subprograms.get(subprogram));
        let declared = declared.map(|subprogram| subprogram.declared);
        let Some(declared) = declared else {
            self.misuse("I0035", format!("the module has no {subprogram}"));
            return ScopeId::from_u32(0);
        };
        self.func_mut().debug = Some(Box::new(FunctionDebug::new(subprogram, declared)));
        ScopeId::from_u32(0)
    }

    /// The debug information of the function, if [`FunctionBuilder::set_subprogram`](crate::FunctionBuilder::set_subprogram) was called.
    fn debug(&mut self, what: &str) -> Option<&mut FunctionDebug> {
        if self.func().debug.is_none() {
            self.misuse("I0035", format!("{what} without a subprogram: call `set_subprogram` first"));
        }
        self.func_mut().debug.as_deref_mut()
    }

    /// Begins a scope inside of another: a block, or an inlined function with the place of the call.
    pub fn create_scope(
        &mut self,
        kind: ScopeKind,
        parent: ScopeId,
        file: FileId,
        line: u32,
        column: u32,
    ) -> ScopeId {
        let Some(debug) = self.debug("a scope") else { return ScopeId::from_u32(0) };
        let at = LocData { scope: Some(parent), ..LocData::new(file, line, column) };
        debug.scopes.push(Scope { kind, parent: Some(parent), at })
    }

    /// Declares a variable of the source. It is nowhere until it is bound.
    pub fn declare_variable(
        &mut self,
        name: &str,
        kind: VariableKind,
        ty: DebugTypeId,
        scope: ScopeId,
        declared: Declared,
    ) -> crate::DebugVar {
        let Some(debug) = self.debug("a variable") else { return crate::DebugVar::from_u32(0) };
        debug.variables.push(DebugVariable { name: name.to_owned(), kind, ty, scope, declared })
    }

    /// Says where a variable, or a piece of it, is from here on: at the end of the block that is being built.
    pub fn bind_variable(&mut self, variable: crate::DebugVar, piece: Option<Piece>, storage: Storage) {
        let Some(block) = self.current_block() else {
            return self.misuse("I0032", format!("{variable} is bound before any block was switched to"));
        };
        if let Some(value) = storage.value().filter(|value| !self.func().dfg.has_value(*value)) {
            return self.misuse(
                "I0035",
                format!("{variable} is bound to {value}, which the function does not have"),
            );
        }
        let Some(debug) = self.debug("a binding") else { return };
        let binding = debug.bindings.push(Binding { variable, piece, storage });
        self.func_mut().layout.bind_at_end(block, binding);
    }

    /// The place and scope of the instructions made from now on.
    pub fn set_location(&mut self, file: FileId, line: u32, column: u32, scope: ScopeId) {
        self.set_loc(Some(LocData { scope: Some(scope), ..LocData::new(file, line, column) }));
    }
}
