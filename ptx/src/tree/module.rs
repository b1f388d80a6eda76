//! [`Module`]: the arenas and the ways in and out of them.

use super::*;
use std::ops::Index;
use warpsmith_base::FxHashSet;
use warpsmith_isa::memory;

/// A PTX module.
///
/// ```
/// use warpsmith_ptx::{Item, Module, Operand, Stmt, print};
/// let mut module = Module::default();
/// let [r0, r1] = ["%r0", "%r1"].map(|name| Operand::Name(module.name(name)));
/// let inst = module.inst("mov.u32", &[r0, r1]);
/// let body = module.body(&[Stmt::Inst(inst)]);
/// let kernel = module.kernel("k", body);
/// let kernel = module.push_function(kernel);
/// module.push_item(Item::Function(kernel));
/// assert!(print(&module).contains("mov.u32 %r0, %r1;"));
/// ```
#[derive(Clone, Default)]
pub struct Module {
    pub(crate) names: Names,
    pub(crate) mnemonics: Interner,
    pub(crate) items: Vec<Item>,
    pub(crate) item_spans: Vec<Span>,
    pub(crate) functions: Vec<Function>,
    pub(crate) directives: Vec<Directive>,
    pub(crate) directive_spans: Vec<Span>,
    pub(crate) decls: Vec<Decl>,
    pub(crate) declarators: Vec<Declarator>,
    pub(crate) dims: Vec<Option<u64>>,
    pub(crate) inits: Vec<Init>,
    pub(crate) init_spans: Vec<Span>,
    pub(crate) masks: Vec<Mask>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ints: Vec<u64>,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) stmt_spans: Vec<Span>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) operand_spans: Vec<Span>,
    pub(crate) prototypes: Vec<Prototype>,
    pub(crate) inlined: Vec<Inlined>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) data: Vec<Data>,
    pub(crate) data_spans: Vec<Span>,
    pub(crate) values: Vec<DataValue>,
    pub(crate) blocks: Vec<CodeBlock>,
    pub(crate) marks: Marks,
}

/// Places in the text that few need, and what is known of text that could not be read.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    /// What follows the first `.version`, and the first name after the first `.target`.
    pub(crate) version: Span,
    pub(crate) target: Span,
    /// Where the predicates of guards begin, in the order of the text.
    pub(crate) guards: Vec<u32>,
    /// Of mnemonics that are written with blanks in between: where the first word begins, and where each does.
    pub(crate) spread: Vec<(u32, Box<[u32]>)>,
    /// Of addresses with a blank after the bracket: where the bracket is, and where the name is.
    pub(crate) loose: Vec<(u32, u32)>,
    /// The names in declarations that could not be read: what they are is not known, only that they are.
    pub(crate) lost: FxHashSet<Symbol>,
}

macro_rules! arenas {
    ($($ty:ty, $field:ident;)*) => {$(
        impl Index<Id<$ty>> for Module {
            type Output = $ty;
            fn index(&self, id: Id<$ty>) -> &$ty {
                &self.$field[id.index()]
            }
        }
        impl Index<List<$ty>> for Module {
            type Output = [$ty];
            fn index(&self, list: List<$ty>) -> &[$ty] {
                &self.$field[list.range()]
            }
        }
    )*};
}
arenas! {
    Function, functions;
    Directive, directives;
    Decl, decls;
    Declarator, declarators;
    Option<u64>, dims;
    Init, inits;
    Mask, masks;
    u8, bytes;
    u64, ints;
    Stmt, stmts;
    Operand, operands;
    Prototype, prototypes;
    Inlined, inlined;
    Symbol, symbols;
    Data, data;
    DataValue, values;
    CodeBlock, blocks;
}

impl Index<Symbol> for Module {
    type Output = str;
    #[inline]
    fn index(&self, symbol: Symbol) -> &str {
        self.names.get(symbol)
    }
}

impl Index<MnemonicId> for Module {
    type Output = str;
    #[inline]
    fn index(&self, id: MnemonicId) -> &str {
        self.mnemonics.get(id.index())
    }
}

/// Appends to an arena and to the spans that run beside it.
macro_rules! pushers {
    ($($(#[$doc:meta])* $name:ident($ty:ty) -> $field:ident $(/ $spans:ident)?;)*) => {
        impl Module {$(
            $(#[$doc])*
            pub fn $name(&mut self, elements: &[$ty]) -> List<$ty> {
                let start = self.$field.len();
                self.$field.extend_from_slice(elements);
                $(self.$spans.resize(self.$field.len(), Span::NONE);)?
                List::new(start, self.$field.len())
            }
        )*}
    };
}
pushers! {
    /// Adds statements that follow each other: a body.
    body(Stmt) -> stmts / stmt_spans;
    /// Adds operands that follow each other.
    operand_list(Operand) -> operands / operand_spans;
    /// Adds parameters or return parameters of one function.
    decl_list(Decl) -> decls;
    /// Adds the declarators of one declaration, or the targets of one list.
    declarator_list(Declarator) -> declarators;
    /// Adds the array sizes of one declarator.
    dim_list(Option<u64>) -> dims;
    /// Adds the directives of one function.
    directive_list(Directive) -> directives / directive_spans;
    /// Adds names that follow each other: the arguments of `.target` or `.pragma`.
    symbol_list(Symbol) -> symbols;
    /// Adds the contents of one section.
    data_list(Data) -> data / data_spans;
    /// Adds the values of one [`Data::Values`].
    value_list(DataValue) -> values;
    /// Adds the blocks of one `.nv_intermediate_source_section`.
    block_list(CodeBlock) -> blocks;
    /// Adds bytes of one [`Data::Bytes`].
    byte_list(u8) -> bytes;
}

impl Module {
    /// Makes room for statements and operands that will be added.
    pub fn reserve(&mut self, stmts: usize, operands: usize) {
        self.stmts.reserve(stmts);
        self.stmt_spans.reserve(stmts);
        self.operands.reserve(operands);
        self.operand_spans.reserve(operands);
    }

    /// Makes room for names that will be added.
    pub fn reserve_names(&mut self, names: usize) {
        self.names.reserve(names);
    }

    /// A module that knows the names of this one, by the same symbols, and holds nothing. What is made in it, as on another thread,
    /// [`Module::append`] puts into this one.
    pub fn part(&self) -> Module {
        Module { names: self.names.clone(), mnemonics: self.mnemonics.clone(), ..Module::default() }
    }

    /// [`Module::body`] of what is made while it is added.
    pub fn body_of(&mut self, stmts: impl Iterator<Item = Stmt>) -> List<Stmt> {
        let start = self.stmts.len();
        stmts.for_each(|stmt| self.stmts.push(stmt));
        self.stmt_spans.resize(self.stmts.len(), Span::NONE);
        List::new(start, self.stmts.len())
    }

    /// The symbol of a name, which is interned if it is new.
    pub fn name(&mut self, name: &str) -> Symbol {
        self.names.intern(name)
    }

    /// All names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The id of a mnemonic as written, which is interned if it is new.
    pub fn mnemonic(&mut self, text: &str) -> MnemonicId {
        MnemonicId(self.mnemonics.intern(text.as_bytes()) as u32)
    }

    /// How many mnemonics there are: every [`MnemonicId::index`] is below.
    pub fn mnemonic_count(&self) -> usize {
        self.mnemonics.len()
    }

    /// An instruction without a guard.
    pub fn inst(&mut self, mnemonic: &str, operands: &[Operand]) -> Inst {
        Inst { guard: None, mnemonic: self.mnemonic(mnemonic), operands: self.operand_list(operands) }
    }

    /// `{a, b}`
    pub fn vector(&mut self, elements: &[Operand]) -> Operand {
        Operand::Vector(self.operand_list(elements))
    }

    /// `a|b`
    pub fn pair(&mut self, first: Operand, second: Operand) -> Operand {
        Operand::Pair(self.operand_list(&[first, second]))
    }

    /// `!a`
    pub fn not(&mut self, operand: Operand) -> Operand {
        Operand::Not(self.push_operand(operand, Span::NONE))
    }

    /// `-a`
    pub fn neg(&mut self, operand: Operand) -> Operand {
        Operand::Neg(self.push_operand(operand, Span::NONE))
    }

    /// An initial value.
    pub fn init(&mut self, init: Init) -> Id<Init> {
        self.push_init(init, Span::NONE)
    }

    /// `{ a, b }` in its one form: integers as [`Init::Bytes`] or [`Init::Ints`], else [`Init::List`].
    pub fn init_list(&mut self, elements: &[Init]) -> Init {
        self.init_list_at(elements, &[])
    }

    /// `mask(..)`
    pub fn mask(&mut self, mask: Mask) -> Init {
        self.masks.push(mask);
        Init::Mask(Id::new(self.masks.len() as u32 - 1))
    }

    /// Adds a declaration.
    pub fn push_decl(&mut self, decl: Decl) -> Id<Decl> {
        self.decls.push(decl);
        Id::new(self.decls.len() as u32 - 1)
    }

    /// Adds a prototype.
    pub fn push_prototype(&mut self, prototype: Prototype) -> Id<Prototype> {
        self.prototypes.push(prototype);
        Id::new(self.prototypes.len() as u32 - 1)
    }

    /// Adds the tail of a `.loc`.
    pub fn push_inlined(&mut self, inlined: Inlined) -> Id<Inlined> {
        self.inlined.push(inlined);
        Id::new(self.inlined.len() as u32 - 1)
    }

    /// Adds a function; [`Module::push_item`] puts it in its place.
    pub fn push_function(&mut self, function: Function) -> Id<Function> {
        self.functions.push(function);
        Id::new(self.functions.len() as u32 - 1)
    }

    /// Adds an item at the end of the module.
    pub fn push_item(&mut self, item: Item) {
        self.push_item_at(item, Span::NONE);
    }

    /// Adds `.version`, `.target` and `.address_size 64`, as every module begins.
    pub fn push_prologue(&mut self, version: Version, target: warpsmith_isa::Target) {
        let target = self.name(&target.to_string());
        let targets = self.symbol_list(&[target]);
        for item in [Item::Version(version), Item::Target(targets), Item::AddressSize(64)] {
            self.push_item(item);
        }
    }

    /// Adds an option to `.target`: `debug`.
    pub fn add_target_option(&mut self, option: &str) {
        let option = self.name(option);
        for index in 0..self.items.len() {
            if let Item::Target(names) = self.items[index] {
                let names: Vec<Symbol> = self[names].iter().copied().chain([option]).collect();
                self.items[index] = Item::Target(self.symbol_list(&names));
            }
        }
    }

    /// Puts another version into `.version`.
    pub fn set_version(&mut self, version: Version) {
        for item in &mut self.items {
            if let Item::Version(old) = item {
                *old = version;
            }
        }
        self.marks.version = Span::NONE;
    }

    /// Puts another architecture into `.target`; what else stands there stays.
    pub fn set_target(&mut self, target: warpsmith_isa::Target) {
        let target = self.name(&target.to_string());
        self.marks.target = Span::NONE;
        for index in 0..self.items.len() {
            if let Item::Target(names) = self.items[index] {
                let replace = |name: &Symbol| if self[*name].starts_with("sm_") { target } else { *name };
                let names: Vec<Symbol> = self[names].iter().map(replace).collect();
                self.items[index] = Item::Target(self.symbol_list(&names));
            }
        }
    }

    /// A visible `.entry` without parameters and directives, to be changed as needed.
    pub fn kernel(&mut self, name: &str, body: List<Stmt>) -> Function {
        Function {
            kind: FunctionKind::Entry,
            linkage: Linkage::Visible,
            unified: None,
            name: self.name(name),
            returns: List::EMPTY,
            params: List::EMPTY,
            directives: List::EMPTY,
            body: Some(body),
            span: Span::NONE,
            name_span: Span::NONE,
        }
    }

    /// A scalar declaration of one name, to be changed as needed.
    pub fn decl(&mut self, space: StateSpace, ty: ScalarType, name: &str) -> Decl {
        let name = self.name(name);
        self.decl_of(space, ty, name, List::EMPTY)
    }

    /// [`Module::decl`] of a name that the module has, or of an array of such dimensions.
    pub fn decl_of(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        name: Symbol,
        dims: List<Option<u64>>,
    ) -> Decl {
        let declarator = Declarator { name, count: None, dims, init: None, span: Span::NONE };
        Decl {
            linkage: Linkage::Local,
            space,
            bank: None,
            align: None,
            managed: false,
            unified: None,
            vector: 1,
            ty,
            ptr: None,
            late_align: None,
            names: self.declarator_list(&[declarator]),
            span: Span::NONE,
        }
    }

    /// What stands at module level, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The functions, in the order of their items if the module was parsed.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &Function> {
        self.functions.iter()
    }

    /// The bytes that one name of a declaration takes; `None` for an array without a size or past 64 bits.
    pub fn bytes_of(&self, decl: &Decl, declarator: &Declarator) -> Option<u64> {
        let element = memory::element_bytes(decl.ty, decl.vector);
        self[declarator.dims].iter().try_fold(element, |size, dim| size.checked_mul((*dim)?))
    }

    /// The alignment that a declaration has: what is written, or that of its elements.
    pub fn align_of(&self, decl: &Decl) -> u32 {
        decl.align.unwrap_or_else(|| memory::natural_align(decl.ty, decl.vector))
    }

    /// The version of the first `.version`.
    pub fn version(&self) -> Option<Version> {
        self.items
            .iter()
            .find_map(|item| if let Item::Version(version) = item { Some(*version) } else { None })
    }

    /// Every name in an operand and in its parts. Recursion goes no deeper than the parser went.
    pub fn for_each_name(&self, operand: Id<Operand>, each: &mut impl FnMut(Symbol)) {
        match self[operand] {
            Operand::Const(_) | Operand::AddressConst(_) => {}
            Operand::Name(name)
            | Operand::Component { name, .. }
            | Operand::Offset { name, .. }
            | Operand::AddressName(name)
            | Operand::Address { name, .. } => each(name),
            Operand::Bracket(list)
            | Operand::Index(list)
            | Operand::Vector(list)
            | Operand::Group(list)
            | Operand::Pair(list) => list.ids().for_each(|part| self.for_each_name(part, each)),
            Operand::Not(part) | Operand::Neg(part) | Operand::Unified(part) => {
                self.for_each_name(part, each)
            }
        }
    }

    pub(crate) fn push_item_at(&mut self, item: Item, span: Span) {
        self.items.push(item);
        self.item_spans.push(span);
    }

    pub(crate) fn push_operand(&mut self, operand: Operand, span: Span) -> Id<Operand> {
        self.operands.push(operand);
        self.operand_spans.push(span);
        Id::new(self.operands.len() as u32 - 1)
    }

    pub(crate) fn push_init(&mut self, init: Init, span: Span) -> Id<Init> {
        self.inits.push(init);
        self.init_spans.push(span);
        Id::new(self.inits.len() as u32 - 1)
    }

    /// [`Module::init_list`] with the spans of the elements; missing ones are [`Span::NONE`].
    pub(crate) fn init_list_at(&mut self, elements: &[Init], spans: &[Span]) -> Init {
        let ints: Option<Vec<u64>> = elements
            .iter()
            .map(
                |element| if let Init::Const(Const::Int { bits, .. }) = element { Some(*bits) } else { None },
            )
            .collect();
        match ints {
            Some(ints) if !ints.is_empty() => self.ints_init(&ints),
            _ => {
                let start = self.inits.len();
                // Every initial value is truncated to its type, so an integer in a list has no signedness.
                self.inits.extend(elements.iter().map(|element| match *element {
                    Init::Const(Const::Int { bits, .. }) => Init::Const(Const::int(bits as i64)),
                    element @ (Init::Const(_)
                    | Init::Address { .. }
                    | Init::Mask(_)
                    | Init::List(_)
                    | Init::Bytes(_)
                    | Init::Ints(_)
                    | Init::Field { .. }) => element,
                }));
                self.init_spans.extend_from_slice(spans);
                self.init_spans.resize(self.inits.len(), Span::NONE);
                Init::List(List::new(start, self.inits.len()))
            }
        }
    }

    /// A list of integers: [`Init::Bytes`] if all fit.
    pub(crate) fn ints_init(&mut self, ints: &[u64]) -> Init {
        if ints.iter().all(|bits| *bits < 256) {
            let start = self.bytes.len();
            self.bytes.extend(ints.iter().map(|bits| *bits as u8));
            return Init::Bytes(List::new(start, self.bytes.len()));
        }
        let start = self.ints.len();
        self.ints.extend_from_slice(ints);
        Init::Ints(List::new(start, self.ints.len()))
    }
}
