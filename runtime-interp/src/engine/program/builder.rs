//! Making programs: what a decoder of PTX or of the IR calls.
//!
//! ```
//! use warpsmith_interp::engine::{lanes, Access, Address, FunctionKind, ProgramBuilder, Special, Width};
//! use warpsmith_isa::StateSpace;
//!
//! let mut program = ProgramBuilder::new();
//! let kernel = program.declare("iota", FunctionKind::kernel([("out", 8, 8)]));
//! let mut body = program.body(kernel);
//! let out = body.reg(Width::W64);
//! let (tid, address) = (body.reg(Width::W32), body.reg(Width::W64));
//! body.at(3, "ld.param.u64");
//! body.load(Access::unsigned(StateSpace::Param, 8), &[out], Address::Absolute(0));
//! body.special(tid, Special::TidX);
//! body.lanes(lanes::vector(|base: u64, i: u32| base + 4 * u64::from(i)), &[address], &[out, tid]);
//! body.store(Access::unsigned(StateSpace::Global, 4), &[tid], Address::Reg(address, 0));
//! body.ret();
//! body.finish();
//! let program = program.finish().unwrap();
//! assert!(program.kernel("iota").is_some());
//! ```

mod access;
mod control;
mod operations;
mod system;

use crate::engine::AtomicFn;
use crate::engine::OwnVariable;
use crate::engine::async_op::AsyncOp;
use crate::engine::lanes::{LaneFn, Operands};
use crate::engine::matrix_op::MatrixOp;
use crate::engine::op::*;
use crate::engine::program::*;
use crate::engine::reg::{Reg, Width};
use crate::engine::special::Special;
use crate::engine::texture_op::TextureOp;
use crate::texture::Initial;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::{Instruction, ScalarType, StateSpace, Target};
use warpsmith_semantics::{Emitter, Plan};

/// Collects the functions and variables of a program. Mistakes are remembered and reported by [`ProgramBuilder::finish`].
#[derive(Default)]
pub struct ProgramBuilder {
    program: Program,
    constants: FxHashMap<(u128, Width), Reg>,
    addresses: FxHashMap<(PatchTarget, i64, bool), Reg>,
    candidates: FxHashMap<Arc<[FuncId]>, CandidatesId>,
    /// The constants that are addresses of shared variables, by row.
    shared_rows: FxHashMap<u32, SymbolId>,
    /// The function whose body is being made.
    current: Option<FuncId>,
    errors: Vec<Diagnostic>,
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new() -> Self {
        let mut builder = ProgramBuilder::default();
        builder.constant(0, Width::W32); // Reg::ZERO
        builder.program.statements.push(Statement::new(Site::default(), 0..0, FuncId(0), 0));
        builder
    }

    /// A program whose lines and spans count in a text.
    pub fn with_source(source: Source) -> Self {
        let mut builder = ProgramBuilder::new();
        builder.program.source = source;
        builder
    }

    /// Says which target the program is written for: matrix instructions compute as its hardware does.
    pub fn target(&mut self, target: Target) {
        self.program.target = Some(target);
    }

    /// Declares a function, so that calls to it can be made before its body is.
    pub fn declare(&mut self, name: &str, kind: FunctionKind) -> FuncId {
        let mut function = Function::new(name);
        match kind {
            FunctionKind::Kernel { params, attributes } => {
                function.kernel = Some(Kernel { params, attributes, shared: SharedLayout::default() });
            }
            FunctionKind::Device { params, results } => {
                function.params = params.iter().map(|f| function.formal(f)).collect();
                function.results = results.iter().map(|f| function.formal(f)).collect();
            }
        }
        self.program.functions.push(function);
        FuncId(self.program.functions.len() as u32 - 1)
    }

    /// Declares a variable in global, constant or shared memory. Shared memory is given to the kernels that reach a function
    /// which names the variable, or in whose body it is declared.
    pub fn variable(&mut self, variable: Variable) -> SymbolId {
        if !matches!(variable.space, StateSpace::Global | StateSpace::Const | StateSpace::Shared) {
            self.error(format!(
                "variable `{}` in {} space is not a module variable",
                variable.name, variable.space
            ));
        }
        let symbol = SymbolId(self.program.variables.len() as u32);
        if variable.space == StateSpace::Shared {
            self.note_use(symbol);
        }
        self.program.variables.push(Placed { variable, offset: 0 });
        symbol
    }

    /// The function that is being made uses a shared variable.
    fn note_use(&mut self, variable: SymbolId) {
        let Some(function) = self.current else { return };
        let uses = &mut self.program.functions[function.0 as usize].shared;
        if uses.last() != Some(&variable) {
            uses.push(variable);
        }
    }

    /// Adds an address to the initialiser of a variable.
    pub fn relocate(&mut self, variable: SymbolId, relocation: Relocation) {
        self.program.variables[variable.0 as usize].variable.relocations.push(relocation);
    }

    /// Sets the first bytes of a variable; the rest is zero.
    pub fn set_initial_bytes(&mut self, variable: SymbolId, bytes: Vec<u8>) {
        self.program.variables[variable.0 as usize].variable.init = bytes;
    }

    /// Sets what the initial value of an opaque variable says of reading.
    pub fn set_initial_reading(&mut self, variable: SymbolId, initial: Initial) {
        if let Some(reference) = &mut self.program.variables[variable.0 as usize].variable.reference {
            reference.initial = initial;
        }
    }

    /// A constant: the same value in all lanes. For [`Width::Pred`], non-zero is true.
    pub fn constant(&mut self, bits: u128, width: Width) -> Reg {
        let bits = match width {
            Width::Pred => u128::from(bits != 0),
            Width::W32 => bits & u128::from(u32::MAX),
            Width::W64 => bits & u128::from(u64::MAX),
            Width::W128 => bits,
        };
        let program = &mut self.program;
        *self.constants.entry((bits, width)).or_insert_with(|| program.add_constant(bits, width))
    }

    /// The address of a variable plus an offset as a 64-bit constant: within its own space, or generic.
    pub fn address(&mut self, variable: SymbolId, offset: i64, generic: bool) -> Reg {
        self.patched(PatchTarget::Variable(variable), offset, generic)
    }

    /// The address of a function, for indirect calls.
    pub fn function_address(&mut self, function: FuncId) -> Reg {
        self.patched(PatchTarget::Function(function), 0, true)
    }

    fn patched(&mut self, target: PatchTarget, addend: i64, generic: bool) -> Reg {
        let program = &mut self.program;
        let reg = *self.addresses.entry((target, addend, generic)).or_insert_with(|| {
            let reg = program.add_constant(0, Width::W64);
            program.patches.push(Patch { row: reg.offset() / 32, target, addend, generic });
            reg
        });
        if let PatchTarget::Variable(v) = target
            && self.program.is_shared(v)
        {
            self.shared_rows.insert(reg.offset() / 32, v);
            self.note_use(v);
        }
        reg
    }

    /// Remembers something that cannot be loaded.
    pub fn error(&mut self, message: impl Into<String>) {
        self.errors.push(refusal(message, Span::NONE));
    }

    /// Remembers something that cannot be loaded, with its position in the source.
    pub fn error_at(&mut self, message: impl Into<String>, span: Span) {
        self.errors.push(refusal(message, span));
    }

    /// Starts the body of a function.
    pub fn body(&mut self, function: FuncId) -> FunctionBuilder<'_> {
        let entry = self.program.code.len() as u32;
        let f = &mut self.program.functions[function.0 as usize];
        let twice = f.defined;
        f.defined = true;
        f.entry = entry;
        let name = f.name.clone();
        self.current = Some(function);
        let mut builder = FunctionBuilder {
            pred_row: None,
            id: function,
            site: Site::default(),
            open: false,
            names: None,
            span: 0..0,
            guard: (Reg::ZERO, u32::MAX),
            used_bytes: u32::MAX,
            instruction: None,
            labels: Vec::new(),
            fixups: Vec::new(),
            builder: self,
        };
        if twice {
            builder.error(format!("function `{name}` is defined twice"));
        }
        builder
    }

    /// Lays out memory and gives the program, or everything that is wrong with it.
    pub fn finish(mut self) -> Result<Program, Diagnostics> {
        let mut called: Vec<FuncId> = Vec::new();
        for inst in &self.program.code {
            if let Op::Call(call) = &inst.op
                && let Callee::Direct(f) = call.callee
            {
                called.push(f);
            }
        }
        called.extend(self.program.candidates.iter().flat_map(|set| set.iter()));
        for f in called {
            let callee = &self.program.functions[f.0 as usize];
            if !callee.defined {
                let message = format!("function `{}` is called but has no body", callee.name);
                self.errors.push(refusal(message, Span::NONE));
            }
        }
        let Program { code, sites, statements, .. } = &mut self.program;
        for (pc, (inst, site)) in (0..).zip(code.iter_mut().zip(sites)) {
            // Operations of no statement, of programs that were made by hand, count each for itself.
            let counts = site.statement == 0 || statements[site.statement as usize].head == pc;
            inst.count = u32::from(counts);
        }
        self.errors.dedup();
        if let Err(e) = self.program.lay_out() {
            self.error(e);
        }
        if self.errors.is_empty() {
            Ok(self.program)
        } else {
            Err(Diagnostics::new(self.program.source, self.errors))
        }
    }
}

/// The error for something that cannot be loaded.
fn refusal(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("X0001", span, message)
}

/// A place in a function's code that can be jumped to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u32);

/// An actual parameter of a call: a register, or bytes of the caller's stack frame.
pub type Actual = Slot;

/// Emits the body of one function.
///
/// Every method that emits takes the registers' widths as meaning: loading 4 bytes into a 64-bit register extends.
/// Registers are per thread and zero at entry.
pub struct FunctionBuilder<'a> {
    builder: &'a mut ProgramBuilder,
    id: FuncId,
    site: Site,
    /// The statement at hand has no operation yet.
    open: bool,
    span: std::ops::Range<u32>,
    guard: (Reg, u32),
    used_bytes: u32,
    instruction: Option<Instruction>,
    pred_row: Option<(u32, u32)>,
    labels: Vec<Option<u32>>,
    fixups: Vec<u32>,
    /// The variable that the next operation names.
    names: Option<OwnVariable>,
}

impl FunctionBuilder<'_> {
    fn function(&mut self) -> &mut Function {
        &mut self.builder.program.functions[self.id.0 as usize]
    }

    /// True in an entry point.
    pub fn is_kernel(&self) -> bool {
        self.builder.program.functions[self.id.0 as usize].kernel.is_some()
    }

    /// The program, for constants and variables.
    pub fn program(&mut self) -> &mut ProgramBuilder {
        self.builder
    }

    /// A new register.
    pub fn reg(&mut self, width: Width) -> Reg {
        if width != Width::Pred {
            return self.function().allocate(width);
        }
        let (row, used) = match self.pred_row {
            Some((row, used)) if used < 32 => (row, used),
            _ => (self.function().allocate(Width::W32).offset(), 0),
        };
        self.pred_row = Some((row, used + 1));
        Reg::frame(row + used, Width::Pred)
    }

    /// The register or stack bytes of formal parameter `i`.
    pub fn param(&mut self, i: usize) -> Slot {
        self.function().params[i]
    }

    /// The register or stack bytes that result `i` is returned in.
    pub fn result(&mut self, i: usize) -> Slot {
        self.function().results[i]
    }

    /// Reserves bytes of the function's frame in local memory and gives their offset, for [`Address::Stack`].
    pub fn local(&mut self, bytes: u64, align: u64) -> i64 {
        match self.function().allocate_stack(bytes, align) {
            Some(offset) => i64::from(offset),
            None => {
                self.error(format!("the stack frame is larger than {MAX_STACK_FRAME} bytes"));
                0
            }
        }
    }

    /// A constant of the program; see [`ProgramBuilder::constant`].
    pub fn constant(&mut self, bits: u128, width: Width) -> Reg {
        self.builder.constant(bits, width)
    }

    /// The position and mnemonic of the following operations, for faults and observers.
    pub fn at(&mut self, line: u32, mnemonic: &str) {
        let name = self.builder.program.intern(mnemonic);
        self.site = Site { line, name, statement: 0 };
        (self.open, self.names, self.instruction) = (true, None, None);
    }

    /// The PTX instruction that the statement at hand is, for observers.
    pub fn instruction(&mut self, instruction: Instruction) {
        self.instruction = Some(instruction);
    }

    /// The operations of the statement so far only prepare it: its executions are counted at the next one.
    pub fn head(&mut self) {
        let head = self.builder.program.code.len() as u32;
        if !self.open
            && let Some(statement) = self.builder.program.statements.last_mut()
        {
            (statement.head, statement.end) = (head, head);
        }
    }

    /// Does nothing, if the statement at hand has no operation: so that its executions are seen.
    pub fn idle(&mut self) {
        let end = self.builder.program.code.len() as u32;
        if self.open || self.builder.program.statements.last().is_some_and(|s| s.head == end) {
            self.emit(Op::Nop);
        }
    }

    /// Says how the source names a register, and where it declares it.
    pub fn name(&mut self, reg: Reg, name: impl Into<Box<str>>, ty: ScalarType, declared: Option<u32>) {
        self.function().registers.push(NamedReg { name: name.into(), ty, reg, declared });
    }

    /// Says how the source names bytes of the stack frame, and where it declares them.
    pub fn name_local(&mut self, offset: i64, bytes: u64, name: impl Into<Box<str>>, declared: Option<u32>) {
        if let (Ok(offset), Ok(bytes)) = (u32::try_from(offset), u32::try_from(bytes)) {
            self.function().locals.push(NamedLocal { name: name.into(), offset, bytes, declared });
        }
    }

    /// Says which bytes the program uses of the loads that follow, by a bit for each byte from the address on.
    pub fn used_bytes(&mut self, mask: u32) {
        self.used_bytes = mask;
    }

    /// The next operation computes an address from that of a variable of the function, or accesses it.
    pub fn name_variable(&mut self, variable: OwnVariable) {
        self.names = Some(variable);
    }

    /// The byte range of the following operations in the source.
    pub fn span(&mut self, span: std::ops::Range<u32>) {
        self.span = span;
    }

    /// Guards the following operations, until the next call.
    pub fn guard(&mut self, guard: Option<Guard>) {
        self.guard = match guard {
            Some(Guard { pred, negated }) => {
                self.check(pred, Some(Width::Pred), false);
                (pred, if negated { u32::MAX } else { 0 })
            }
            None => (Reg::ZERO, u32::MAX),
        };
    }

    /// Remembers that the instruction at the current position cannot be executed.
    pub fn error(&mut self, message: impl Into<String>) {
        let span = match self.span.is_empty() {
            true => Span::NONE,
            false => Span::new(self.span.start, self.span.end),
        };
        self.builder.error_at(message, span);
    }

    /// The invariant of the register file is established here: every register that gets into an operation was checked.
    fn check(&mut self, r: Reg, width: Option<Width>, dst: bool) {
        let program = &self.builder.program;
        let end = r.offset() + r.width().words();
        let limit = if r.is_constant() {
            program.constants.len() as u32 * 32
        } else {
            program.functions[self.id.0 as usize].rows * 32
        };
        let aligned = r.width() == Width::Pred || r.offset().is_multiple_of(32);
        if end > limit || !aligned {
            self.error(format!("register {r:?} is not one of this function"));
        } else if dst && r.is_constant() {
            self.error(format!("constant {r:?} cannot be a destination"));
        } else if width.is_some_and(|w| w != r.width()) {
            self.error(format!("register {r:?} should be {} bits wide", width.map_or(0, Width::bits)));
        } else {
            if r.is_constant()
                && let Some(&variable) = self.builder.shared_rows.get(&(r.offset() / 32))
            {
                self.builder.note_use(variable);
            }
            return;
        }
        debug_assert!(!self.builder.errors.is_empty());
    }

    fn check_value(&mut self, r: Reg, dst: bool) {
        self.check(r, None, dst);
        if r.width() == Width::Pred {
            self.error(format!("predicate {r:?} where a value is needed"));
        }
    }

    fn emit(&mut self, op: Op) {
        let (guard, flip) = self.guard;
        let program = &mut self.builder.program;
        let pc = program.code.len() as u32;
        if std::mem::take(&mut self.open) {
            self.site.statement = program.statements.len() as u32;
            let statement = Statement::new(self.site, self.span.clone(), self.id, pc);
            program.statements.push(Statement { instruction: self.instruction, ..statement });
        }
        program.statements[self.site.statement as usize].end = pc + 1;
        // The value of another operand may have to be fetched first.
        if !matches!(op, Op::Special(..)) {
            program.own_variables.extend(self.names.take().map(|variable| (pc, variable)));
        }
        self.builder.program.code.push(Inst { op, guard, flip, count: 1 });
        self.builder.program.sites.push(self.site);
    }

    fn list(&mut self, regs: &[Reg]) -> Range {
        let lists = &mut self.builder.program.lists;
        let start = lists.len() as u32;
        lists.extend_from_slice(regs);
        Range { start, len: regs.len() as u32 }
    }
}
