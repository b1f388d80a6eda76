//! The syntax tree: one [`Module`] owns flat arenas, everything in it is a small `Copy` record that points into them.
//!
//! A tree is made by [`parse`](crate::parse) or by hand with the methods of [`Module`] that add elements. Names are
//! interned ([`Symbol`]), so is each distinct mnemonic ([`MnemonicId`]). The body of a function is one run of
//! statements in which [`Stmt::Open`] and [`Stmt::Close`] delimit scopes.
//!
//! The tree holds meaning, not spelling. Constant expressions are evaluated as the manual's chapter 4.5 says
//! (`2*WARP_SZ` is 64), comments are gone, and whatever may be written in several orders has one form. Two modules
//! are equal if they mean the same text: spans and the order of interning play no part.

mod append;
mod equal;
mod list;
mod module;
mod names;
mod places;
mod source;
mod stmt;

pub use list::{Id, List};
pub(crate) use module::Marks;
pub use module::Module;
pub(crate) use names::Interner;
pub use names::{Names, Symbol};
pub use source::{CodeBlock, Languages};
pub use stmt::{Guard, Inlined, Inst, Loc, Operand, Place, Prototype, Stmt};

use warpsmith_diag::Span;
use warpsmith_isa::{ScalarType, StateSpace, Version};

/// An interned mnemonic of a module: `add.rn.f32`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MnemonicId(pub(crate) u32);

impl MnemonicId {
    /// The position in the order of interning, for maps that are dense in mnemonics.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What stands at module level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Item {
    /// `.version 9.0`
    Version(Version),
    /// `.target sm_90a, texmode_independent`: the names as written.
    Target(List<Symbol>),
    /// `.address_size 64`
    AddressSize(u32),
    /// `.file 1 "a.cu", 1339013327, 64118`
    File(File),
    /// `.pragma "nounroll";`
    Pragma(List<Symbol>),
    /// `.section .debug_info { ... }`
    Section(Section),
    /// `.nv_intermediate_source_section { ... }`
    IntermediateSource(List<CodeBlock>),
    /// A variable outside of functions.
    Variable(Id<Decl>),
    /// A function, declared or defined.
    Function(Id<Function>),
    /// `.alias alias, aliasee;`
    Alias {
        /// The new name.
        alias: Symbol,
        /// The function it denotes.
        aliasee: Symbol,
    },
}

/// `.file index "name" {, timestamp {, size}}` (manual 11.5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File {
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path.
    pub name: Symbol,
    /// Time of last modification.
    pub timestamp: Option<u64>,
    /// Size in bytes; only with a time.
    pub size: Option<u64>,
}

/// `.section name { ... }` (manual 11.5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// The name with its dot: `.debug_info`.
    pub name: Symbol,
    /// What it contains.
    pub data: List<Data>,
}

/// One piece of a [`Section`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Data {
    /// `name:`
    Label(Symbol),
    /// `.b8 1, 2, 255`. Neighbouring `.b8` pieces are one.
    Bytes(List<u8>),
    /// `.b16`, `.b32` or `.b64` and values.
    Values {
        /// The width in bits.
        bits: u8,
        /// The values.
        values: List<DataValue>,
    },
}

/// A value in a [`Section`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataValue {
    /// An integer in range of the width.
    Int(u64),
    /// `label` or `label+4`; the label may be another section.
    Address {
        /// A label of the section, another section, a variable or a label of a function.
        name: Symbol,
        /// Bytes to add.
        offset: i64,
    },
    /// `end-start`
    Difference {
        /// What is subtracted from.
        end: Symbol,
        /// What is subtracted.
        start: Symbol,
    },
}

/// Who sees a symbol (manual 11.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Linkage {
    /// This module only.
    #[default]
    Local,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

impl Linkage {
    /// The directive, without the dot.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Linkage::Local => None,
            Linkage::Visible => Some("visible"),
            Linkage::Extern => Some("extern"),
            Linkage::Weak => Some("weak"),
            Linkage::Common => Some("common"),
        }
    }
}

/// Two identifiers of a `.unified` attribute (manual 5.4.8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unified(pub u64, pub u64);

/// Whether a function is called by the host or by other functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// A function (manual 11.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Function {
    /// `.entry` or `.func`.
    pub kind: FunctionKind,
    /// Who sees it.
    pub linkage: Linkage,
    /// `.attribute(.unified(..))`
    pub unified: Option<Unified>,
    /// The name.
    pub name: Symbol,
    /// Return parameters.
    pub returns: List<Decl>,
    /// Parameters.
    pub params: List<Decl>,
    /// `.maxntid` and so on, and `.pragma`.
    pub directives: List<Directive>,
    /// The statements between the braces; `None` for a declaration.
    pub body: Option<List<Stmt>>,
    /// The header.
    pub span: Span,
    /// The name in the header.
    pub name_span: Span,
}

/// What can stand between the header of a function and its body (manual 11.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directive {
    /// `.maxnreg n`
    MaxNReg(u32),
    /// `.maxntid x {, y {, z}}`
    MaxNTid(Dims),
    /// `.reqntid x {, y {, z}}`
    ReqNTid(Dims),
    /// `.minnctapersm n`
    MinNCtaPerSm(u32),
    /// `.maxnctapersm n`
    MaxNCtaPerSm(u32),
    /// `.reqnctapercluster x {, y {, z}}`
    ReqNCtaPerCluster(Dims),
    /// `.explicitcluster`
    ExplicitCluster,
    /// `.maxclusterrank n`
    MaxClusterRank(u32),
    /// `.blocksareclusters`
    BlocksAreClusters,
    /// `.noreturn`
    NoReturn,
    /// `.abi_preserve n`
    AbiPreserve(u32),
    /// `.abi_preserve_control n`
    AbiPreserveControl(u32),
    /// `.pragma "..";`
    Pragma(List<Symbol>),
    /// `.language "ptx", 5`
    Language(Languages),
    /// `.minperctamemory n`
    MinPerCtaMemory(u32),
}

/// One to three sizes; those not written are 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dims {
    /// x, y, z.
    pub size: [u32; 3],
    /// How many are written.
    pub written: u8,
}

impl Dims {
    /// Sizes as written; more than three are cut off.
    pub fn new(sizes: &[u32]) -> Self {
        let mut size = [1; 3];
        let written = sizes.len().min(3);
        size[..written].copy_from_slice(&sizes[..written]);
        Dims { size, written: written as u8 }
    }
}

/// A declaration of variables, registers or parameters (manual 5.4): all that its declarators share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decl {
    /// Who sees it.
    pub linkage: Linkage,
    /// `.reg`, `.global`...; [`StateSpace::Generic`] where none is written.
    pub space: StateSpace,
    /// `.const[3]`: the bank of old versions.
    pub bank: Option<u32>,
    /// `.align n`
    pub align: Option<u32>,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// `.attribute(.unified(..))`
    pub unified: Option<Unified>,
    /// 2 and 4 for `.v2` and `.v4`, else 1.
    pub vector: u8,
    /// The type of an element.
    pub ty: ScalarType,
    /// `.ptr {.space} {.align n}` of a kernel parameter (manual 11.2.1).
    pub ptr: Option<Ptr>,
    /// `.align n` after the type, which ptxas takes of kernel parameters.
    pub late_align: Option<u32>,
    /// What is declared. `.global .b32;` declares nothing and is legal.
    pub names: List<Declarator>,
    /// From the first directive to the type.
    pub span: Span,
}

/// What a kernel parameter points to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ptr {
    /// Where it points.
    pub to: PtrTo,
    /// The alignment of what is pointed to.
    pub align: Option<u32>,
}

/// The space, or the kind of object, a [`Ptr`] names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PtrTo {
    /// `.const`, `.global`, `.local`, `.shared`, or [`StateSpace::Generic`] for none.
    Space(StateSpace),
    /// `.texref`, `.samplerref` or `.surfref`.
    Opaque(ScalarType),
}

/// One name of a [`Decl`], or of a list of branch or call targets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Declarator {
    /// The name; a prefix if there is a count.
    pub name: Symbol,
    /// `<n>`: denotes `name0` .. `name(n-1)`.
    pub count: Option<u32>,
    /// `[4][2]`; `None` for `[]`.
    pub dims: List<Option<u64>>,
    /// `= ...`
    pub init: Option<Id<Init>>,
    /// The name and what follows it, without the initialiser.
    pub span: Span,
}

/// A constant of an operand or an initialiser.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// An integer of 64 bits, which constant expressions know as `.s64` or `.u64`.
    Int {
        /// The bits.
        bits: u64,
        /// `.u64`
        unsigned: bool,
    },
    /// `0f3F800000`
    F32(u32),
    /// `0d3FF0000000000000`, or a decimal.
    F64(u64),
}

impl Const {
    /// A signed integer.
    pub const fn int(value: i64) -> Self {
        Const::Int { bits: value as u64, unsigned: false }
    }
}

/// An initial value (manual 5.4.4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Init {
    /// A constant.
    Const(Const),
    /// `name`, `name+4`, `generic(name)+4`
    Address {
        /// A variable or a function.
        name: Symbol,
        /// In generic space.
        generic: bool,
        /// Bytes to add.
        offset: i64,
    },
    /// `0xff00(name)`: some bits of an address or of a constant.
    Mask(Id<Mask>),
    /// `{ a, b }`. One made of integers that fit bytes is [`Init::Bytes`], of other integers [`Init::Ints`].
    List(List<Init>),
    /// `{ 1, 2, 255 }`
    Bytes(List<u8>),
    /// `{ 1, -2, 70000 }`
    Ints(List<u64>),
    /// `field = constant` in the list of a texture, sampler or surface.
    Field {
        /// The name of the property.
        name: Symbol,
        /// Its value.
        value: FieldValue,
    },
}

/// The value of an [`Init::Field`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldValue {
    /// `clamp_to_border`
    Name(Symbol),
    /// `16`
    Const(Const),
}

/// `mask(value)` as an initial value (manual 5.4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mask {
    /// Which bits.
    pub mask: u64,
    /// Of what: [`Init::Address`] or [`Init::Const`].
    pub of: MaskOf,
}

/// What a [`Mask`] takes bits from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaskOf {
    /// An integer.
    Int(u64),
    /// An address.
    Address {
        /// A variable or a function.
        name: Symbol,
        /// In generic space.
        generic: bool,
        /// Bytes to add.
        offset: i64,
    },
}
