//! Functions: a signature, attributes, stack slots, a graph and a layout.

use crate::aggregate::TypeTable;
use crate::debug::FunctionDebug;
use crate::dfg::{DataFlowGraph, ValueDef};
use crate::entities::{Block, FileId, FuncId, Inst, Loc, PtxRef, ScopeId, StackSlot, Value};
use crate::inst::InstData;
use crate::layout::Layout;
use crate::names::Names;
use crate::ops::Traits;
use crate::ptx::PtxSpans;
use crate::types::Type;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use warpsmith_base::FxHashMap;
use warpsmith_diag::Span;

/// What launches or calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FuncKind {
    /// Launched by the host.
    Kernel,
    /// Called from kernels and functions.
    Func,
}

/// Who else sees a function or global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Linkage {
    /// This module only.
    #[default]
    Local,
    /// Other modules and the host, which kernels always are.
    Export,
    /// Defined in another module.
    Extern,
    /// Other modules and the host, unless another module defines it too: then that one's is taken.
    Weak,
    /// A variable of `global` memory without contents that several modules define, and which is one.
    Common,
}

impl Linkage {
    /// True if other modules or the host can name it.
    pub const fn is_visible(self) -> bool {
        !matches!(self, Linkage::Local)
    }

    /// The word in the text form; none for [`Linkage::Local`].
    pub const fn word(self) -> &'static str {
        match self {
            Linkage::Local => "",
            Linkage::Export => "export",
            Linkage::Extern => "extern",
            Linkage::Weak => "weak",
            Linkage::Common => "common",
        }
    }

    /// The inverse of [`Linkage::word`].
    pub fn from_word(word: &str) -> Option<Linkage> {
        [Linkage::Export, Linkage::Extern, Linkage::Weak, Linkage::Common]
            .into_iter()
            .find(|linkage| linkage.word() == word)
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// The type of its value; `ptr<param>` for what is passed by value in memory.
    pub ty: Type,
    /// Size and alignment of a parameter that is passed by value in memory: `byval(64, align 8)`.
    pub byval: Option<(u32, u32)>,
    /// What the caller promises of it.
    pub attrs: ParamAttrs,
}

/// What whoever calls or launches promises of a parameter that is a pointer. None of it changes what a program means that keeps the promise.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ParamAttrs {
    /// `noalias`: what is accessed through it is accessed in no other way while the function runs, unless nobody writes it.
    pub noalias: bool,
    /// `readonly`: nothing is written through it.
    pub readonly: bool,
    /// `nonnull`: it is not zero.
    pub nonnull: bool,
    /// `align(n)`: it is a multiple of this power of two.
    pub align: Option<u32>,
    /// `dereferenceable(n)`: so many bytes behind it can be read.
    pub dereferenceable: Option<u64>,
    /// `signext`: an integer of fewer than 32 bits that travels with its sign above it, not zeros.
    pub signext: bool,
    /// `varargs`: the variable arguments of C, of which each call passes a struct of its own.
    pub varargs: bool,
}

/// The alignment of variable arguments.
const VARARGS_ALIGN: u32 = 8;

impl Param {
    /// A parameter passed as a value.
    pub const fn new(ty: Type) -> Self {
        Param { ty, byval: None, attrs: ParamAttrs::NONE }
    }

    /// Bytes passed by value: the parameter's value points to them.
    pub const fn byval(size: u32, align: u32) -> Self {
        Param { ty: Type::PTR_PARAM, byval: Some((size, align)), attrs: ParamAttrs::NONE }
    }

    /// The variable arguments of C, as CUDA passes them: the parameter's value points to as many bytes as each call passes.
    pub const fn varargs() -> Self {
        let byval = Some((0, VARARGS_ALIGN));
        Param { ty: Type::PTR_PARAM, byval, attrs: ParamAttrs { varargs: true, ..ParamAttrs::NONE } }
    }
}

impl ParamAttrs {
    /// No promise.
    pub const NONE: ParamAttrs = ParamAttrs {
        noalias: false,
        readonly: false,
        nonnull: false,
        align: None,
        dereferenceable: None,
        signext: false,
        varargs: false,
    };
}

/// Whether a function is to be copied to where it is called.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Inline {
    /// As it pays.
    #[default]
    Auto,
    /// `inline`
    Wanted,
    /// `noinline`
    Never,
}

/// What is known of a kernel or function, and how it is to be run: PTX ISA 9.0, 11.4, 11.6 and 11.7.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Attrs {
    /// `reqntid(x, y, z)`: the block size it is always launched with.
    pub reqntid: Option<[u32; 3]>,
    /// `maxntid(x, y, z)`: the largest block it is launched with.
    pub maxntid: Option<[u32; 3]>,
    /// `minnctapersm(n)`: how many blocks should fit on a multiprocessor.
    pub minnctapersm: Option<u32>,
    /// `maxnreg(n)`: registers a thread may use.
    pub maxnreg: Option<u32>,
    /// `reqnctapercluster(x, y, z)`: the cluster size it is always launched with.
    pub reqnctapercluster: Option<[u32; 3]>,
    /// `maxclusterrank(n)`: the most blocks of a cluster that it is launched with.
    pub maxclusterrank: Option<u32>,
    /// `explicitcluster`: it is launched with a cluster size.
    pub explicitcluster: bool,
    /// `inline`, `noinline`: of a function.
    pub inline: Inline,
    /// `cold`: it is rarely called.
    pub cold: bool,
    /// `noreturn`: a function that does not return to its caller.
    pub noreturn: bool,
    /// `pure`: a function whose results depend on its arguments alone, and that does nothing else.
    pub pure_function: bool,
    /// `convergent`: a function that communicates with other threads. Calls are taken for convergent in any case; a front end may say so.
    pub convergent: bool,
    /// `signext`: integers of fewer than 32 bits that a function returns travel with their sign above them. Callers that nvcc compiles
    /// count on what C says of the type.
    pub signext: bool,
    /// `abi_preserve(n)`: registers that a function leaves as they are (PTX ISA 9.0, 11.4).
    pub abi_preserve: Option<u32>,
    /// `abi_preserve_control(n)`: control registers that a function leaves as they are.
    pub abi_preserve_control: Option<u32>,
}

impl Attrs {
    /// True if something is said of launches, which only kernels have.
    pub fn is_of_launch(&self) -> bool {
        let Attrs {
            reqntid,
            maxntid,
            minnctapersm,
            maxnreg,
            reqnctapercluster,
            maxclusterrank,
            explicitcluster,
            ..
        } = *self;
        [reqntid, maxntid, reqnctapercluster].iter().any(Option::is_some)
            || [minnctapersm, maxclusterrank].iter().any(Option::is_some)
            || maxnreg.is_some()
            || explicitcluster
    }

    /// True if something is said that only functions can be.
    pub fn is_of_call(&self) -> bool {
        let Attrs {
            inline,
            cold,
            noreturn,
            pure_function,
            convergent,
            signext,
            abi_preserve,
            abi_preserve_control,
            ..
        } = *self;
        inline != Inline::Auto
            || [cold, noreturn, pure_function, convergent, signext].contains(&true)
            || [abi_preserve, abi_preserve_control].iter().any(Option::is_some)
    }

    /// The attributes of one word that are set: their names in the text form.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let inline = match self.inline {
            Inline::Auto => None,
            Inline::Wanted => Some("inline"),
            Inline::Never => Some("noinline"),
        };
        let flags = [
            (self.explicitcluster, "explicitcluster"),
            (self.cold, "cold"),
            (self.noreturn, "noreturn"),
            (self.pure_function, "pure"),
            (self.convergent, "convergent"),
            (self.signext, "signext"),
        ];
        inline.into_iter().chain(flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word))
    }
}

/// Memory of one thread for the time of one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackSlotData {
    /// Bytes.
    pub size: u32,
    /// A power of two.
    pub align: u32,
}

/// A place in a user's source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocData {
    /// The file, in [`Module::files`](crate::Module::files).
    pub file: FileId,
    /// Counted from 1; 0 for what the compiler made.
    pub line: u32,
    /// Counted from 1; 0 if not known.
    pub column: u32,
    /// The scope, in [`FunctionDebug::scopes`]; `None` for the function itself.
    pub scope: Option<ScopeId>,
}

impl LocData {
    /// A place in the scope of the function itself.
    pub const fn new(file: FileId, line: u32, column: u32) -> Self {
        LocData { file, line, column, scope: None }
    }
}

/// What is wanted of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopHint {
    /// `nounroll`: it stays a loop, in ptxas too.
    NoUnroll,
    /// `unroll n`: so many rounds in one.
    Unroll(u32),
    /// `unroll full`: no loop is left.
    UnrollFull,
    /// `unroll enable`: no loop is left if the number of its rounds is known, else it is up to the compiler. What `#pragma unroll` says.
    UnrollEnable,
}

/// A kernel or function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The symbol, without `@`.
    pub name: String,
    /// Kernel or function.
    pub kind: FuncKind,
    /// Who else sees it.
    pub linkage: Linkage,
    /// The parameters, whose values are the parameters of the entry block.
    pub params: Vec<Param>,
    /// What is returned.
    pub ret: Vec<Type>,
    /// The function of the module that this is another name of; it has no body of its own.
    pub alias: Option<FuncId>,
    /// Performance attributes.
    pub attrs: Attrs,
    /// Memory for the time of a call.
    pub stack_slots: PrimaryMap<StackSlot, StackSlotData>,
    /// Instructions and values.
    pub dfg: DataFlowGraph,
    /// The order of blocks and instructions; empty for what is only declared.
    pub layout: Layout,
    /// The names of values, blocks and stack slots.
    pub names: Names,
    /// Where in the text of the module an instruction was written.
    pub spans: SecondaryMap<Inst, Span>,
    /// Where in the text the parts of a table-derived instruction were written.
    pub ptx_spans: SecondaryMap<PtxRef, PtxSpans>,
    /// Where in the text a block's label was written.
    pub block_spans: SecondaryMap<Block, Span>,
    /// What is wanted of loops, by their heads.
    pub loop_hints: SecondaryMap<Block, Option<LoopHint>>,
    /// Where in the text the function's name was written.
    pub span: Span,
    /// Places in user's source.
    pub locs: PrimaryMap<Loc, LocData>,
    /// The user's source an instruction comes from.
    pub inst_locs: SecondaryMap<Inst, cranelift_entity::packed_option::PackedOption<Loc>>,
    /// Its debug information.
    pub debug: Option<Box<FunctionDebug>>,
    /// What calls of functions of the module do, where that is known to be less than what a call may do: found by a pass, and no part of the text.
    pub callee_traits: FxHashMap<FuncId, Traits>,
}

impl Function {
    /// A function without a body.
    pub fn new(name: impl Into<String>, kind: FuncKind, params: Vec<Param>, ret: Vec<Type>) -> Self {
        Function {
            name: name.into(),
            kind,
            linkage: if kind == FuncKind::Kernel { Linkage::Export } else { Linkage::Local },
            params,
            ret,
            alias: None,
            attrs: Attrs::default(),
            stack_slots: PrimaryMap::new(),
            dfg: DataFlowGraph::default(),
            layout: Layout::default(),
            names: Names::default(),
            spans: SecondaryMap::new(),
            ptx_spans: SecondaryMap::new(),
            block_spans: SecondaryMap::new(),
            loop_hints: SecondaryMap::new(),
            span: Span::NONE,
            locs: PrimaryMap::new(),
            inst_locs: SecondaryMap::new(),
            debug: None,
            callee_traits: FxHashMap::default(),
        }
    }

    /// True if it has no body.
    pub fn is_declaration(&self) -> bool {
        self.layout.entry().is_none()
    }

    /// Makes the entry block with the function's parameters, and puts it into the layout. For an empty function.
    pub fn make_entry(&mut self) -> Block {
        let block = self.dfg.make_block();
        for param in &self.params {
            self.dfg.append_block_param(block, param.ty);
        }
        self.layout.append_block(block);
        block
    }

    /// The bytes that the parameters of a kernel take, each at a multiple of its alignment. Saturates where no memory could hold them.
    pub fn param_space(&self, types: &TypeTable) -> u64 {
        laid_out(self.params.iter().map(|param| match param.byval {
            Some((size, align)) => (size.into(), align.into()),
            None => (types.size(param.ty), types.align(param.ty).into()),
        }))
    }

    /// Forgets where its parts stood in the text they were read from, which is not the text of the module that it becomes part of.
    pub fn forget_places(&mut self) {
        self.span = Span::NONE;
        self.spans.clear();
        self.block_spans.clear();
        self.ptx_spans.clear();
    }

    /// The values of the parameters.
    pub fn param_values(&self) -> &[Value] {
        self.layout.entry().map_or(&[], |entry| self.dfg.block_params(entry))
    }

    /// What an instruction does beyond computing its results.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the table has the traits of what needs no closer look"
    )]
    #[inline]
    pub fn traits(&self, inst: Inst) -> Traits {
        let of_opcode = self.dfg.opcode(inst).traits();
        match &self.dfg[inst] {
            InstData::Load { flags, .. }
            | InstData::Store { flags, .. }
            | InstData::MemBlock { flags, .. }
                if flags.volatile =>
            {
                of_opcode.union(Traits::SIDE_EFFECT)
            }
            InstData::Load { flags, .. } if flags.invariant => Traits::NONE,
            InstData::Sreg { reg } if !reg.is_constant() => Traits::SIDE_EFFECT,
            InstData::Ptx { data, .. } => self.dfg.ptx[*data].traits(),
            InstData::Call { callee, .. } => self.callee_traits.get(callee).copied().unwrap_or(of_opcode),
            _ => of_opcode,
        }
    }

    /// Where the operation of an instruction was written: its mnemonic if it is table-derived, else all of the instruction.
    pub fn operation_span(&self, inst: Inst) -> Span {
        let mnemonic = if let InstData::Ptx { data, .. } = self.dfg[inst] {
            self.ptx_spans[data].mnemonic
        } else {
            Span::NONE
        };
        if mnemonic.is_none() { self.spans[inst] } else { mnemonic }
    }

    /// True if the block ends in a terminator.
    #[inline]
    pub fn is_terminated(&self, block: Block) -> bool {
        let last = self.layout.last_inst(block);
        last.is_some_and(|inst| self.dfg.opcode(inst).traits().contains(Traits::TERMINATOR))
    }

    /// The block that computes a value, or has it as a parameter.
    pub fn block_of(&self, value: Value) -> Option<Block> {
        match self.dfg.def(value) {
            ValueDef::Result(inst, _) => self.layout.block_of(inst),
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Alias(_) | ValueDef::Detached => None,
        }
    }

    /// The terminator of a block.
    #[inline]
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.layout
            .last_inst(block)
            .filter(|inst| self.dfg.opcode(*inst).traits().contains(Traits::TERMINATOR))
    }

    /// The successors of a block, once for each edge.
    #[inline]
    pub fn successors(&self, block: Block) -> impl Iterator<Item = Block> + Clone + '_ {
        // Nothing but a terminator has targets.
        let last = self.layout.last_inst(block);
        let (head, cases) =
            last.map_or((&[][..], &[][..]), |inst| self.dfg[inst].targets(&self.dfg.jump_tables));
        head.iter().map(|call| call.block).chain(cases.iter().map(|(_, call)| call.block))
    }
}

/// The bytes that things of these sizes and alignments take when they lie behind each other. Saturates where no memory could hold them.
pub(crate) fn laid_out(parts: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let mut layout = warpsmith_isa::memory::Layout::default();
    parts.into_iter().for_each(|(size, align)| _ = layout.place(size, align));
    layout.bytes()
}
