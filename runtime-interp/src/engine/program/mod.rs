//! The engine program: what both decoders produce and the scheduler executes.

pub(in crate::engine) mod async_op;
pub(in crate::engine) mod builder;
pub(in crate::engine) mod live;
pub(in crate::engine) mod matrix_op;
pub(in crate::engine) mod named;
pub(in crate::engine) mod native;
pub(in crate::engine) mod op;
pub(in crate::engine) mod region;
pub(in crate::engine) mod special;
pub(in crate::engine) mod texture_op;

use crate::engine::file::{Cell, Row};
use crate::engine::op::{Callee, FuncId, Inst, Move, Op, SymbolId};
use crate::engine::reg::{Reg, Width};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use crate::texture::{Initial, ReferenceKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use warpsmith_diag::Source;
use warpsmith_ir::spelling::user_name;
use warpsmith_isa::memory::Layout;
use warpsmith_isa::{Instruction, ScalarType, StateSpace, Target};

/// The most rows of 32 words a function's registers can take.
pub(in crate::engine) const MAX_ROWS: u32 = 1 << 20;
/// The most bytes one function's frame can take in local memory (the limit of the hardware is 512 KiB a thread).
pub(in crate::engine) const MAX_STACK_FRAME: u32 = 512 << 10;

/// Alignment of every frame in local memory: that of the strictest variable.
const STACK_ALIGN: u32 = 128;

/// A parameter of a kernel: where it lies in the block of parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParam {
    /// Its name.
    pub name: String,
    /// Its offset in the parameter space.
    pub offset: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// Its alignment.
    pub align: u32,
}

/// What the directives of a kernel demand of its launches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelAttributes {
    /// `.reqntid`
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`, as a number of threads.
    pub max_threads: Option<u32>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.blocksareclusters`
    pub blocks_are_clusters: bool,
}

/// A formal parameter or result of a device function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formal {
    /// In a register.
    Reg(Width),
    /// In bytes of the callee's stack frame.
    Stack {
        /// Size.
        bytes: u32,
        /// Alignment.
        align: u32,
    },
}

/// Where a formal parameter lies, or what an actual parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// A register or constant.
    Reg(Reg),
    /// Bytes at an offset of the stack frame.
    Stack {
        /// Offset.
        offset: u32,
        /// Size.
        bytes: u32,
    },
}

impl Slot {
    pub(in crate::engine) fn transfer(from: Slot, to: Slot) -> Option<Move> {
        match (from, to) {
            (Slot::Reg(from), Slot::Reg(to)) if from.width() == to.width() && !to.is_constant() => {
                Some(Move::Reg { from, to })
            }
            // An array of no stated size has room for the largest that is passed.
            (Slot::Stack { offset, bytes }, Slot::Stack { offset: to, bytes: room }) if bytes <= room => {
                Some(Move::Stack { from: offset, to, bytes })
            }
            _ => None,
        }
    }
}

/// What a declared function is.
#[derive(Clone, Debug)]
pub enum FunctionKind {
    /// An entry point; its parameters lie in param space.
    Kernel {
        /// The parameters.
        params: Vec<KernelParam>,
        /// The directives.
        attributes: KernelAttributes,
    },
    /// A function that is called.
    Device {
        /// Its parameters.
        params: Vec<Formal>,
        /// Its results.
        results: Vec<Formal>,
    },
}

impl FunctionKind {
    /// A kernel with parameters given by name, size and alignment, laid out in order as PTX does.
    pub fn kernel<'a>(params: impl IntoIterator<Item = (&'a str, u32, u32)>) -> Self {
        let mut layout = Layout::default();
        let place = |(name, bytes, align): (&str, u32, u32)| {
            let align = align.max(1).next_power_of_two();
            let offset = u32::try_from(layout.place(bytes.into(), align.into())).unwrap_or(u32::MAX);
            KernelParam { name: name.into(), offset, bytes, align }
        };
        let params = params.into_iter().map(place).collect();
        FunctionKind::Kernel { params, attributes: KernelAttributes::default() }
    }
}

/// What an address in an initialiser or constant refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PatchTarget {
    /// A variable.
    Variable(SymbolId),
    /// A function.
    Function(FuncId),
}

/// An address inside the initialiser of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Where in the variable.
    pub offset: u64,
    /// How many bytes of the address are stored, from the low end of `address >> shift`.
    pub bytes: u8,
    /// How far the address is shifted first (the `mask()` operator takes single bytes).
    pub shift: u8,
    /// Of what.
    pub target: PatchTarget,
    /// What is added.
    pub addend: i64,
    /// As a generic address rather than one in the target's space.
    pub generic: bool,
}

/// A module variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// `Global`, `Const` or `Shared`.
    pub space: StateSpace,
    /// Its size; what the initialiser leaves is zero.
    pub bytes: u64,
    /// Its alignment, a power of two.
    pub align: u64,
    /// Its first bytes.
    pub init: Vec<u8>,
    /// Addresses among them.
    pub relocations: Vec<Relocation>,
    /// True for `.extern .shared name[]`: the memory past all others whose size the launch gives.
    pub dynamic: bool,
    /// Where its declaration starts in the source, in bytes: which of several of its name it is.
    pub declared: Option<u32>,
    /// Of an opaque variable, what it refers to.
    pub reference: Option<Reference>,
}

/// What an opaque variable refers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The kind of object.
    pub kind: ReferenceKind,
    /// What its initial value says of reading.
    pub initial: Initial,
}

impl Reference {
    /// What a variable of a type refers to, if it is opaque.
    pub fn of_type(ty: ScalarType) -> Option<Reference> {
        Some(Reference { kind: ReferenceKind::of_type(ty)?, initial: Initial::default() })
    }
}

impl Variable {
    /// A zeroed variable.
    pub fn zeroed(name: &str, space: StateSpace, bytes: u64, align: u64) -> Self {
        let (name, init, relocations) = (name.into(), Vec::new(), Vec::new());
        let (dynamic, declared, reference) = (false, None, None);
        Variable { name, space, bytes, align, init, relocations, dynamic, declared, reference }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub variable: Variable,
    /// Offset in the memory of its space; for global variables, in the program's own allocation. Shared variables have one in
    /// each kernel's [`SharedLayout`].
    pub offset: u64,
}

#[derive(Clone, Debug)]
pub(in crate::engine) struct Patch {
    pub row: u32,
    pub target: PatchTarget,
    pub addend: i64,
    pub generic: bool,
}

/// Where an operation comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::engine) struct Site {
    pub line: u32,
    pub name: u32,
    pub statement: u32,
}

/// A statement of the source that was decoded to operations, one or more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its line, 0 if unknown.
    pub line: u32,
    /// Its bytes in the source.
    pub span: std::ops::Range<u32>,
    /// The function it is in.
    pub function: FuncId,
    /// The operation by which its executions are counted: the first under its guard.
    pub head: u32,
    /// The first operation after it.
    pub end: u32,
    /// The PTX instruction that it is, as the tables know it; `None` for what belongs to no statement, and of operations of the IR that are
    /// none of PTX.
    pub instruction: Option<Instruction>,
}

impl Statement {
    pub(in crate::engine) fn new(
        site: Site,
        span: std::ops::Range<u32>,
        function: FuncId,
        head: u32,
    ) -> Statement {
        Statement { line: site.line, span, function, head, end: head, instruction: None }
    }
}

/// A register of a function as its source names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedReg {
    /// Its name; of an element of a vector register, with its component: `%v.x`.
    pub name: Box<str>,
    /// Its declared type.
    pub ty: ScalarType,
    /// Where it is in the frame of the function.
    pub reg: Reg,
    /// Where its declaration starts in the source, in bytes: which of several of its name it is.
    pub declared: Option<u32>,
}

/// A variable or parameter in the stack frame of a function, as its source names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedLocal {
    /// Its name.
    pub name: Box<str>,
    /// Where in the frame, which lies in local memory.
    pub offset: u32,
    /// Its size.
    pub bytes: u32,
    /// Where its declaration starts in the source, in bytes: which of several of its name it is.
    pub declared: Option<u32>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub params: Vec<KernelParam>,
    pub attributes: KernelAttributes,
    pub shared: SharedLayout,
}

/// Where a kernel has the shared variables that it reaches.
#[derive(Clone, Default, Debug)]
pub(crate) struct SharedLayout {
    /// In the order of variables.
    offsets: Vec<(SymbolId, u64)>,
    /// The size of the static part, and where the dynamic part starts.
    pub bytes: u64,
}

impl SharedLayout {
    pub fn offset(&self, variable: SymbolId) -> Option<u64> {
        let place = self.offsets.binary_search_by_key(&variable, |(v, _)| *v).ok()?;
        Some(self.offsets[place].1)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub kernel: Option<Kernel>,
    pub params: Vec<Slot>,
    pub results: Vec<Slot>,
    pub defined: bool,
    pub entry: u32,
    pub end: u32,
    /// Rows of the register file that a frame takes.
    pub rows: u32,
    /// Bytes of local memory that a frame takes.
    pub stack: u32,
    /// In a function that calls `alloca`: what a lane had allocated before, and has again after the return.
    pub saved_top: Option<Reg>,
    /// The registers that have names, in the order in which the function first uses them.
    pub registers: Vec<NamedReg>,
    /// The variables of its stack frame that have names.
    pub locals: Vec<NamedLocal>,
    /// The shared variables that it names.
    pub shared: Vec<SymbolId>,
}

impl Function {
    pub fn new(name: &str) -> Self {
        Function {
            name: name.into(),
            kernel: None,
            params: Vec::new(),
            results: Vec::new(),
            defined: false,
            entry: 0,
            end: 0,
            rows: 0,
            stack: 0,
            saved_top: None,
            registers: Vec::new(),
            locals: Vec::new(),
            shared: Vec::new(),
        }
    }

    pub fn allocate(&mut self, width: Width) -> Reg {
        // A function with more registers than `MAX_ROWS` is refused when it is finished; until then rows wrap to stay in range.
        let row = if self.rows >= MAX_ROWS { 0 } else { self.rows };
        self.rows = self.rows.saturating_add(width.words().div_ceil(32));
        Reg::frame(row * 32, width)
    }

    pub fn allocate_stack(&mut self, bytes: u64, align: u64) -> Option<u32> {
        let offset = u64::from(self.stack).checked_next_multiple_of(align.max(1))?;
        let end = offset.checked_add(bytes)?.checked_next_multiple_of(align.clamp(1, 128))?;
        if end > u64::from(MAX_STACK_FRAME) {
            return None;
        }
        self.stack = end as u32;
        Some(offset as u32)
    }

    pub fn formal(&mut self, formal: &Formal) -> Slot {
        match *formal {
            Formal::Reg(width) => Slot::Reg(self.allocate(width)),
            Formal::Stack { bytes, align } => {
                let offset = self.allocate_stack(u64::from(bytes), u64::from(align)).unwrap_or(0);
                Slot::Stack { offset, bytes }
            }
        }
    }

    pub fn same_formals(&self, other: &Function) -> bool {
        self.params == other.params && self.results == other.results
    }
}

/// Equal for a program and its copies, and for no other program while one of them lives.
#[derive(Clone, Default, Debug)]
pub(crate) struct Identity(Arc<u8>);

impl PartialEq for Identity {
    fn eq(&self, other: &Identity) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Identity {}

impl std::hash::Hash for Identity {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// What is known of a kernel before it is launched.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo<'p> {
    /// Its parameters, in order.
    pub params: &'p [KernelParam],
    /// What its directives demand of launches.
    pub attributes: &'p KernelAttributes,
    /// Bytes of shared memory of a block without the dynamic part.
    pub static_shared: u64,
    /// Bytes of local memory of a thread that its own frame takes; those of functions that it calls come on top.
    pub local: u32,
    /// Registers of 32 bits that the kernel names at once or one after the other: what an assembler makes of them is fewer.
    pub named_registers: u32,
}

/// A decoded module, ready to launch.
///
/// Made by [`Program::load`](crate::Program::load) from PTX, by `Program::from_ir` from the IR, or by hand with
/// [`ProgramBuilder`](crate::engine::ProgramBuilder). It holds code for this machine and no state: any number of devices and threads can share it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Tells programs apart; copies of a program are the same one.
    pub(crate) identity: Identity,
    /// The text that lines and spans of the program count in.
    pub(in crate::engine) source: Source,
    /// The target that the program was written for; none for one built by hand or from the IR.
    pub(crate) target: Option<Target>,
    pub(in crate::engine) code: Vec<Inst>,
    pub(in crate::engine) sites: Vec<Site>,
    pub(in crate::engine) statements: Vec<Statement>,
    pub(in crate::engine) names: Vec<String>,
    pub(in crate::engine) lists: Vec<Reg>,
    pub(in crate::engine) targets: Vec<u32>,
    pub(in crate::engine) constants: Vec<Cell>,
    pub(in crate::engine) patches: Vec<Patch>,
    /// The variables of functions that operations name, in the order of the code.
    pub(in crate::engine) own_variables: Vec<(u32, named::OwnVariable)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Placed>,
    /// It calls `malloc`.
    pub(crate) uses_heap: bool,
    pub(crate) const_bytes: u64,
    pub(crate) global_bytes: u64,
    /// Machine code of its regions, if it was given a maker of some.
    pub(in crate::engine) native: Option<Arc<native::Native>>,
}

impl Program {
    /// The text that the program was made from, which lines of faults count in; none for one built by hand.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The target that the program was written for; none for one built by hand or from the IR.
    pub fn target(&self) -> Option<Target> {
        self.target
    }

    /// The names of the kernels, in source order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter(|f| f.kernel.is_some()).map(|f| f.name.as_str())
    }

    /// The parameters of a kernel.
    pub fn kernel(&self, name: &str) -> Option<&[KernelParam]> {
        let function = &self.functions[self.kernel_number(name)?];
        function.kernel.as_ref().map(|k| k.params.as_slice())
    }

    /// What is known of a kernel; `None` if there is none of that name.
    pub fn kernel_info(&self, name: &str) -> Option<KernelInfo<'_>> {
        let function = &self.functions[self.kernel_number(name)?];
        let kernel = function.kernel.as_ref()?;
        Some(KernelInfo {
            params: &kernel.params,
            attributes: &kernel.attributes,
            static_shared: kernel.shared.bytes,
            local: function.stack,
            named_registers: function.rows,
        })
    }

    /// Bytes of the variables in constant memory.
    pub fn constant_bytes(&self) -> u64 {
        self.const_bytes
    }

    /// The variables of a module that the host can name: their names, in order of declaration, with their spaces and sizes.
    pub fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().map(|placed| &placed.variable)
    }

    /// The program again, as one of its own: a device gives it other variables.
    pub fn separate(&self) -> Program {
        Program { identity: Identity::default(), ..self.clone() }
    }

    /// The position of a kernel among the functions, by its name in the PTX or by the user's name that was spelled so.
    pub(crate) fn kernel_number(&self, name: &str) -> Option<usize> {
        let is = |f: &Function| f.kernel.is_some() && (f.name == name || user_name(&f.name) == name);
        self.functions.iter().position(is)
    }

    /// The statements that the program was decoded from, in the order of their operations. The first stands for what belongs to none.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The number of the statement that an operation belongs to.
    pub fn statement_number(&self, pc: u32) -> u32 {
        self.sites.get(pc as usize).map_or(0, |site| site.statement)
    }

    /// The statement that an operation belongs to.
    pub fn statement_at(&self, pc: u32) -> &Statement {
        &self.statements[self.statement_number(pc) as usize]
    }

    /// The PTX instruction that an operation belongs to.
    pub fn instruction(&self, pc: u32) -> Option<&Instruction> {
        self.statement_at(pc).instruction.as_ref()
    }

    /// The function that an operation belongs to.
    pub fn function_at(&self, pc: u32) -> Option<FuncId> {
        let index = self.functions.iter().position(|f| f.defined && (f.entry..f.end).contains(&pc))?;
        Some(FuncId(index as u32))
    }

    /// The functions, in the order in which they were declared.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + use<> {
        (0..self.functions.len() as u32).map(FuncId)
    }

    /// The name of a function.
    pub fn function_name(&self, function: FuncId) -> &str {
        &self.functions[function.0 as usize].name
    }

    /// The registers of a function that have names in the source, in the order in which the function first uses them.
    pub fn registers(&self, function: FuncId) -> &[NamedReg] {
        &self.functions[function.0 as usize].registers
    }

    /// The variables in the stack frame of a function that have names in the source: those in local space, parameters, and what is passed
    /// to calls.
    pub fn locals(&self, function: FuncId) -> &[NamedLocal] {
        &self.functions[function.0 as usize].locals
    }

    /// The opaque variable of a name.
    pub fn reference(&self, name: &str) -> Option<&Reference> {
        self.variables.iter().find(|p| p.variable.name == name)?.variable.reference.as_ref()
    }

    /// The opaque variable that holds an address, given where the program's global variables lie.
    pub(crate) fn reference_at(&self, address: u64, globals: u64) -> Option<&Variable> {
        let offset = address.checked_sub(globals)?;
        let holds =
            |p: &&Placed| p.variable.reference.is_some() && offset.wrapping_sub(p.offset) < p.variable.bytes;
        self.variables.iter().find(holds).map(|p| &p.variable)
    }

    /// Bytes of shared memory that a block of a kernel takes without its dynamic part: those of the variables that the kernel
    /// reaches. `None` if there is no such kernel.
    pub fn static_shared_bytes(&self, kernel: &str) -> Option<u64> {
        self.functions[self.kernel_number(kernel)?].kernel.as_ref().map(|k| k.shared.bytes)
    }

    /// The line in the source text of an operation, 0 if unknown.
    pub fn line(&self, pc: u32) -> u32 {
        self.sites.get(pc as usize).map_or(0, |s| s.line)
    }

    /// The mnemonic of the instruction that an operation belongs to, to show it.
    pub fn mnemonic(&self, pc: u32) -> &str {
        let site = self.sites.get(pc as usize);
        site.and_then(|s| self.names.get(s.name as usize)).map_or("", String::as_str)
    }

    pub(in crate::engine) fn add_constant(&mut self, bits: u128, width: Width) -> Reg {
        let row = self.constants.len() as u32;
        self.constants.resize((row + width.words().div_ceil(32)) as usize, Row([0; 32]));
        set_constant(&mut self.constants[row as usize..], bits, width);
        Reg::constant(row * 32, width)
    }

    pub(in crate::engine) fn intern(&mut self, name: &str) -> u32 {
        // Neighbouring instructions are often alike; a module has few hundred distinct mnemonics.
        let found = self.names.iter().rposition(|n| n == name);
        found.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        }) as u32
    }

    pub(in crate::engine) fn lay_out(&mut self) -> Result<(), String> {
        for placed in self.variables.iter_mut().filter(|p| p.variable.space != StateSpace::Shared) {
            let constant = placed.variable.space == StateSpace::Const;
            let end = if constant { &mut self.const_bytes } else { &mut self.global_bytes };
            placed.offset = append(end, &placed.variable)?;
        }
        self.lay_out_shared()?;
        for f in &mut self.functions {
            f.stack = f.stack.next_multiple_of(STACK_ALIGN);
        }
        Ok(())
    }

    /// Gives each kernel's shared variables their places. Those whose addresses are in initial values come first, so that the
    /// values hold for all kernels.
    fn lay_out_shared(&mut self) -> Result<(), String> {
        let relocations = self.variables.iter().flat_map(|p| &p.variable.relocations);
        let mut pinned: Vec<SymbolId> = relocations
            .filter_map(|r| match r.target {
                PatchTarget::Variable(v) if self.is_shared(v) => Some(v),
                _ => None,
            })
            .collect();
        pinned.sort_unstable();
        pinned.dedup();
        if pinned.is_empty() && self.functions.iter().all(|f| f.shared.is_empty()) {
            return Ok(());
        }
        let callees: Vec<Vec<FuncId>> = self.functions.iter().map(|f| self.callees(f)).collect();
        for kernel in 0..self.functions.len() {
            if self.functions[kernel].kernel.is_none() {
                continue;
            }
            let (mut reached, mut pending) = (FxHashSet::default(), vec![FuncId(kernel as u32)]);
            let mut variables = Vec::new();
            while let Some(f) = pending.pop() {
                if reached.insert(f) {
                    variables.extend_from_slice(&self.functions[f.0 as usize].shared);
                    pending.extend_from_slice(&callees[f.0 as usize]);
                }
            }
            variables.sort_unstable();
            variables.dedup();
            variables.retain(|v| pinned.binary_search(v).is_err());
            let variables = pinned.iter().copied().chain(variables);
            let (dynamic, fixed): (Vec<_>, Vec<_>) =
                variables.partition(|v| self.variables[v.0 as usize].variable.dynamic);
            let mut layout = SharedLayout::default();
            for v in fixed {
                layout.offsets.push((v, append(&mut layout.bytes, &self.variables[v.0 as usize].variable)?));
            }
            let align =
                dynamic.iter().map(|v| self.variables[v.0 as usize].variable.align).max().unwrap_or(1);
            layout.bytes = layout.bytes.next_multiple_of(align.clamp(1, 1024));
            layout.offsets.extend(dynamic.into_iter().map(|v| (v, layout.bytes)));
            layout.offsets.sort_unstable();
            for &v in &pinned {
                self.variables[v.0 as usize].offset = layout.offset(v).unwrap_or(0);
            }
            if let Some(kernel) = &mut self.functions[kernel].kernel {
                kernel.shared = layout;
            }
        }
        Ok(())
    }

    /// The functions that a function may call.
    fn callees(&self, function: &Function) -> Vec<FuncId> {
        let code = self.code.get(function.entry as usize..function.end as usize).unwrap_or(&[]);
        let calls = code.iter().filter_map(|inst| match &inst.op {
            Op::Call(call) => Some(match &call.callee {
                Callee::Direct(f) => std::slice::from_ref(f),
                Callee::Indirect(_, candidates) => candidates,
            }),
            _ => None,
        });
        let mut callees: Vec<FuncId> = calls.flatten().copied().collect();
        callees.sort_unstable();
        callees.dedup();
        callees
    }

    pub(in crate::engine) fn is_shared(&self, variable: SymbolId) -> bool {
        self.variables[variable.0 as usize].variable.space == StateSpace::Shared
    }

    /// The address of a patch target, given where the program's global variables lie.
    pub(crate) fn address_of(&self, target: PatchTarget, addend: i64, generic: bool, globals: u64) -> u64 {
        let address = match target {
            PatchTarget::Function(f) => window::code_address(f.0),
            PatchTarget::Variable(v) => {
                let placed = &self.variables[v.0 as usize];
                let space = placed.variable.space;
                placed.offset
                    + match space {
                        StateSpace::Global => globals,
                        _ if generic => window::base(space).unwrap_or(0),
                        _ => 0,
                    }
            }
        };
        address.wrapping_add_signed(addend)
    }

    /// The constants with all addresses in place but those of shared variables.
    pub(crate) fn resolve_constants(&self, globals: u64) -> Vec<Cell> {
        let mut constants = self.constants.clone();
        for patch in &self.patches {
            let address = self.address_of(patch.target, patch.addend, patch.generic, globals);
            set_constant(&mut constants[patch.row as usize..], u128::from(address), Width::W64);
        }
        constants
    }

    /// Puts a kernel's addresses of shared variables among the constants.
    pub(crate) fn place_shared(&self, kernel: u32, constants: &mut [Cell]) {
        let Some(kernel) = &self.functions[kernel as usize].kernel else { return };
        for patch in &self.patches {
            if let PatchTarget::Variable(v) = patch.target
                && let Some(offset) = kernel.shared.offset(v)
            {
                let base = if patch.generic { window::base(StateSpace::Shared).unwrap_or(0) } else { 0 };
                let address = (base + offset).wrapping_add_signed(patch.addend);
                set_constant(&mut constants[patch.row as usize..], u128::from(address), Width::W64);
            }
        }
    }

    /// Writes the initial bytes of the variables of a space into its memory, which is zero.
    pub(crate) fn initialise(&self, space: StateSpace, globals: u64, memory: &Bytes) {
        for placed in self.variables.iter().filter(|p| p.variable.space == space) {
            let v = &placed.variable;
            let size = usize::try_from(v.bytes).unwrap_or(usize::MAX);
            let place = placed.offset as usize;
            memory.write(place, &v.init[..v.init.len().min(size)]);
            for r in &v.relocations {
                let address = self.address_of(r.target, r.addend, r.generic, globals);
                let bytes = (address >> (r.shift & 63)).to_le_bytes();
                let source = &bytes[..usize::from(r.bytes).min(8)];
                if r.offset.checked_add(source.len() as u64).is_some_and(|end| end <= v.bytes) {
                    memory.write(place + r.offset as usize, source);
                }
            }
        }
    }
}

/// Places a variable behind those that end at `end`.
fn append(end: &mut u64, v: &Variable) -> Result<u64, String> {
    let offset = end.checked_next_multiple_of(v.align.max(1));
    let next = offset.and_then(|o| o.checked_add(v.bytes)).filter(|e| *e <= window::SIZE);
    let (Some(offset), Some(next)) = (offset, next) else {
        let message = format!("variable `{}` does not fit the memory of its space", v.name);
        return Err(message);
    };
    *end = next;
    Ok(offset)
}

/// Writes a value to all lanes of a constant.
fn set_constant(rows: &mut [Cell], bits: u128, width: Width) {
    let words = rows.iter_mut().flat_map(|row| row.0.iter_mut());
    match width {
        Width::Pred => rows[0].0[0] = if bits != 0 { u32::MAX } else { 0 },
        Width::W32 => rows[0].0 = [bits as u32; 32],
        Width::W64 | Width::W128 => {
            let per_lane = width.bits() as usize / 32;
            for (i, word) in words.take(width.words() as usize).enumerate() {
                *word = (bits >> (32 * (i % per_lane))) as u32;
            }
        }
    }
}
