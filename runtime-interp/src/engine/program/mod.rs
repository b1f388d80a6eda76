//! The engine program: what both decoders produce and the scheduler executes.

pub(in crate::engine) mod async_op;
mod bits;
pub(in crate::engine) mod builder;
mod formal;
mod function;
mod layout;
pub(in crate::engine) mod live;
pub(in crate::engine) mod matrix_op;
pub(in crate::engine) mod named;
pub(in crate::engine) mod native;
pub(in crate::engine) mod op;
pub(in crate::engine) mod region;
pub(in crate::engine) mod region_state;
pub(in crate::engine) mod special;
pub(in crate::engine) mod texture_op;
pub(in crate::engine) mod trial;
pub(in crate::engine) mod uniform;
mod variable;

pub use formal::{Formal, FunctionKind, KernelAttributes, KernelParam, Slot};
pub(crate) use function::{Function, Kernel, SharedLayout};
pub(in crate::engine) use variable::Patch;
pub(crate) use variable::Placed;
pub use variable::{PatchTarget, Reference, Relocation, Variable};

use crate::engine::file::{Cell, Row};
use crate::engine::op::{Callee, CandidatesId, FuncId, Inst};
use crate::engine::reg::{Reg, Width};
use layout::set_constant;
use std::sync::Arc;
use warpsmith_diag::Source;
use warpsmith_ir::spelling::user_name;
use warpsmith_isa::{Instruction, ScalarType, Target};

/// The most rows of 32 words a function's registers can take.
pub(in crate::engine) const MAX_ROWS: u32 = 1 << 20;
/// The most bytes one function's frame can take in local memory (the limit of the hardware is 512 KiB a thread).
pub(in crate::engine) const MAX_STACK_FRAME: u32 = 512 << 10;

/// Alignment of every frame in local memory: that of the strictest variable.
const STACK_ALIGN: u32 = 128;

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
    /// Distinguishes programs; copies of a program are the same one.
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
    /// What indirect calls may reach, each set once and in order.
    pub(in crate::engine) candidates: Vec<Arc<[FuncId]>>,
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
    /// The functions that an indirect call may reach, in order.
    pub fn candidates(&self, id: CandidatesId) -> &[FuncId] {
        &self.candidates[id.0 as usize]
    }

    /// The functions that a call may reach.
    pub fn callees<'a>(&'a self, callee: &'a Callee) -> &'a [FuncId] {
        match callee {
            Callee::Direct(function) => std::slice::from_ref(function),
            Callee::Indirect(_, candidates) => self.candidates(*candidates),
        }
    }

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

    /// The statements that the program was decoded from, in the order of their operations. The first denotes what belongs to none.
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
}
