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
use rustc_hash::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics, Source, Span};
use warpsmith_isa::{Instruction, ScalarType, StateSpace, Target};
use warpsmith_semantics::{Emitter, Plan};

/// Collects the functions and variables of a program. Mistakes are remembered and reported by [`ProgramBuilder::finish`].
#[derive(Default)]
pub struct ProgramBuilder {
    program: Program,
    constants: FxHashMap<(u128, Width), Reg>,
    addresses: FxHashMap<(PatchTarget, i64, bool), Reg>,
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

    /// Gives a declared function the body of a system call. `Err` says that it was declared with other parameters.
    pub fn define_system(&mut self, function: FuncId, call: SystemCall) -> Result<(), String> {
        let Function { name, params, results, .. } = &self.program.functions[function.0 as usize];
        let fits = |slot: &Slot, width: Width| match *slot {
            Slot::Reg(r) => r.width() == width,
            Slot::Stack { bytes, .. } => 8 * bytes == width.bits(),
        };
        let (params, results) = (params.clone(), results.clone());
        let alike = params.len() == call.params().len()
            && params.iter().zip(call.params()).all(|(slot, width)| fits(slot, *width))
            && results.len() == call.result().iter().len()
            && results.iter().zip(call.result()).all(|(slot, width)| fits(slot, width));
        if !alike {
            let bits = |widths: &[Width]| {
                let bits: Vec<String> = widths.iter().map(|w| format!(".b{}", w.bits())).collect();
                bits.join(", ")
            };
            let result = call.result().map_or("nothing".into(), |w| bits(&[w]));
            let takes = bits(call.params());
            return Err(format!("`{name}` is the system's: it takes ({takes}) and gives {result}"));
        }
        let mut body = self.body(function);
        let local = |bytes: u32| Access::unsigned(StateSpace::Local, bytes as u8);
        let mut args = Vec::with_capacity(params.len());
        for (slot, width) in params.iter().zip(call.params()) {
            args.push(match *slot {
                Slot::Reg(r) => r,
                Slot::Stack { offset, bytes } => {
                    let r = body.reg(*width);
                    body.load(local(bytes), &[r], Address::Stack(offset.into()));
                    r
                }
            });
        }
        match (results.first(), call.result()) {
            (Some(Slot::Reg(r)), _) => body.system(call, &args, Some(*r)),
            (Some(Slot::Stack { offset, bytes }), Some(width)) => {
                let r = body.reg(width);
                body.system(call, &args, Some(r));
                body.store(local(*bytes), &[r], Address::Stack((*offset).into()));
            }
            _ => body.system(call, &args, None),
        }
        body.finish();
        Ok(())
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
        for call in &self.program.code {
            let Op::Call(call) = &call.op else { continue };
            let callees: &[FuncId] = match &call.callee {
                Callee::Direct(f) => std::slice::from_ref(f),
                Callee::Indirect(_, candidates) => candidates,
            };
            for f in callees {
                let callee = &self.program.functions[f.0 as usize];
                if !callee.defined {
                    let message = format!("function `{}` is called but has no body", callee.name);
                    self.errors.push(refusal(message, Span::NONE));
                }
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

    /// Applies a lane function.
    pub fn lanes(&mut self, f: LaneFn, dst: &[Reg], src: &[Reg]) {
        let signature = f.signature();
        if signature.dst.len() != dst.len() || signature.src.len() != src.len() {
            let (d, s) = (signature.dst.len(), signature.src.len());
            return self.error(format!(
                "a lane function of {s} operands and {d} results is given {} and {}",
                src.len(),
                dst.len()
            ));
        }
        let mut operands = Operands { dst: [Reg::ZERO; 2], src: [Reg::ZERO; 4] };
        for (i, (&r, &w)) in dst.iter().zip(signature.dst).enumerate() {
            self.check(r, Some(w), true);
            operands.dst[i] = r;
        }
        for (i, (&r, &w)) in src.iter().zip(signature.src).enumerate() {
            self.check(r, Some(w), false);
            operands.src[i] = r;
        }
        self.emit(Op::Lanes(f, operands));
    }

    /// Emits an instruction that computes. `dst` may leave destinations out, at the end or as `None`; `src` are registers or constants,
    /// cut or extended to what the plan reads; `carry` is the carry flag, for a plan that uses it.
    pub fn compute(&mut self, plan: &Plan, dst: &[Option<Reg>], src: &[Reg], carry: Option<Reg>) {
        plan.emit(self, dst, src, carry);
    }

    /// Copies a register or constant to a register of the same width.
    pub fn copy(&mut self, dst: Reg, src: Reg) {
        use crate::engine::lanes::vector;
        let f = match dst.width() {
            Width::Pred => vector(|a: bool| a),
            Width::W32 => vector(|a: u32| a),
            Width::W64 => vector(|a: u64| a),
            Width::W128 => vector(|a: u128| a),
        };
        self.lanes(f, &[dst], &[src]);
    }

    /// Reads a special register. The destination may be wider or narrower than the register.
    pub fn special(&mut self, dst: Reg, special: Special) {
        if special.bits() == 1 {
            self.check(dst, Some(Width::Pred), true);
        } else {
            self.check_value(dst, true);
        }
        self.emit(Op::Special(dst, special));
    }

    fn resolve(&mut self, access: Access, address: Address) -> Access {
        if !matches!((access.bytes, access.count), (1 | 2 | 4 | 8 | 16, 1 | 2 | 4 | 8)) {
            self.error(format!("an access of {} elements of {} bytes", access.count, access.bytes));
        }
        self.locate(access, address)
    }

    fn locate(&mut self, mut access: Access, address: Address) -> Access {
        (access.base, access.offset) = match address {
            Address::Reg(r, offset) => {
                self.check_value(r, false);
                if r.width() == Width::W128 {
                    self.error("an address register of 128 bits");
                }
                (r, offset)
            }
            Address::Symbol(symbol, offset) => {
                let generic = access.space == StateSpace::Generic;
                (self.builder.address(symbol, offset, generic), 0)
            }
            Address::Stack(offset) => {
                access.on_stack = true;
                (self.constant(0, Width::W64), offset)
            }
            Address::Absolute(address) => (self.constant(u128::from(address), Width::W64), 0),
        };
        access
    }

    /// Loads consecutive elements into registers, zero- or sign-extended to their widths. `None`-like sinks are not needed:
    /// load into a register that nobody reads.
    pub fn load(&mut self, access: Access, dst: &[Reg], address: Address) {
        let access = Access { count: dst.len() as u8, unused: !self.used_bytes, ..access };
        let access = self.resolve(access, address);
        for &r in dst {
            self.check_value(r, true);
        }
        match *dst {
            [r] => self.emit(Op::Load(access, r)),
            _ => {
                let list = self.list(dst);
                self.emit(Op::LoadVector(access, list));
            }
        }
    }

    /// Stores the low bytes of registers or constants to consecutive elements.
    pub fn store(&mut self, access: Access, src: &[Reg], address: Address) {
        let access = self.resolve(Access { count: src.len() as u8, ..access }, address);
        self.emit_store(access, src);
    }

    /// Stores the low bytes of registers to consecutive elements, and leaves elements as they are where there is no register.
    pub fn store_some(&mut self, access: Access, src: &[Option<Reg>], address: Address) {
        let mut access = self.resolve(Access { count: src.len() as u8, ..access }, address);
        access.skipped =
            src.iter().enumerate().fold(0, |skipped, (i, r)| skipped | u8::from(r.is_none()) << (i & 7));
        let zero = self.constant(0, Width::W128);
        let values: Vec<Reg> = src.iter().map(|r| r.unwrap_or(zero)).collect();
        self.emit_store(access, &values);
    }

    fn emit_store(&mut self, access: Access, src: &[Reg]) {
        for &r in src {
            self.check_value(r, false);
        }
        if access.space == StateSpace::Param || access.space == StateSpace::Const {
            self.error(format!("a store to {} space", access.space));
        }
        match *src {
            [r] => self.emit(Op::Store(access, r)),
            _ => {
                let list = self.list(src);
                self.emit(Op::StoreVector(access, list));
            }
        }
    }

    /// An atomic operation; `dst` is empty for `red`.
    pub fn atomic(
        &mut self,
        access: Access,
        function: AtomicFn,
        dst: &[Reg],
        address: Address,
        b: &[Reg],
        c: Option<Reg>,
    ) {
        let count = b.len().max(dst.len()).max(1);
        let access = self.resolve(Access { count: count as u8, ..access }, address);
        for &r in dst {
            self.check_value(r, true);
        }
        for &r in b.iter().chain(&c) {
            self.check_value(r, false);
        }
        if matches!(function, AtomicFn::Wide(_)) != (access.bytes == 16) {
            self.error("an atomic whose function is of another width than its access");
        }
        if !matches!(access.space, StateSpace::Generic | StateSpace::Global | StateSpace::Shared) {
            self.error(format!("an atomic in {} space", access.space));
        }
        self.emit(Op::Atomic(Box::new(Atomic { access, function, dst: dst.to_vec(), b: b.to_vec(), c })));
    }

    /// The address of a place in the stack frame: in local space, or generic.
    pub fn stack_address(&mut self, dst: Reg, offset: i64, generic: bool) {
        self.check_value(dst, true);
        self.emit(Op::StackAddress { dst, offset, generic });
    }

    /// `activemask`
    pub fn active_mask(&mut self, dst: Reg) {
        self.check(dst, Some(Width::W32), true);
        self.emit(Op::ActiveMask(dst));
    }

    /// A warp-level operation.
    pub fn collective(&mut self, collective: Collective) {
        use CollectiveKind::*;
        let p = Width::Pred;
        let (dst, src): ([Option<Width>; 2], &[Option<Width>]) = match collective.kind {
            Sync => ([None, None], &[]),
            Shuffle(_) => ([Some(Width::W32), Some(p)], &[Some(Width::W32); 3]),
            All | Any | Uni => ([Some(p), None], &[Some(p)]),
            Ballot => ([Some(Width::W32), None], &[Some(p)]),
            MatchAny => ([Some(Width::W32), None], &[None]),
            MatchAll => ([Some(Width::W32), Some(p)], &[None]),
            Reduce(_) => ([Some(Width::W32), None], &[Some(Width::W32)]),
            Elect => ([Some(Width::W32), Some(p)], &[]),
        };
        if collective.src.len() != src.len() {
            return self.error(format!("{:?} takes {} sources", collective.kind, src.len()));
        }
        for (&r, &w) in collective.src.iter().zip(src) {
            self.check(r, w, false);
        }
        for (r, w) in collective.dst.iter().zip(dst) {
            match (r, w) {
                (Some(r), Some(w)) => self.check(*r, Some(w), true),
                (Some(_), None) => self.error(format!("{:?} has fewer results", collective.kind)),
                (None, _) => {}
            }
        }
        if let Some(mask) = collective.mask {
            self.check(mask, Some(Width::W32), false);
        }
        self.emit(Op::Collective(Box::new(collective)));
    }

    /// A block barrier.
    pub fn barrier(&mut self, barrier: Barrier) {
        self.check(barrier.id, Some(Width::W32), false);
        if let Some(count) = barrier.count {
            self.check(count, Some(Width::W32), false);
        }
        if let Some(src) = barrier.src {
            self.check(src.pred, Some(Width::Pred), false);
        }
        let width = if barrier.kind == BarrierKind::Popc { Width::W32 } else { Width::Pred };
        if let Some(dst) = barrier.dst {
            self.check(dst, Some(width), true);
        }
        self.emit(Op::Barrier(Box::new(barrier)));
    }

    /// `fence` and `membar`
    pub fn fence(&mut self, fence: Fence) {
        self.emit(Op::Fence(fence));
    }

    /// An address operand of an asynchronous operation. Of `access` count the space, the alignment (as `bytes`), the ordering, and
    /// whether it may lie in another block of the cluster.
    pub fn operand(&mut self, access: Access, address: Address) -> Access {
        if !access.bytes.is_power_of_two() {
            self.error(format!("an operand at multiples of {} bytes", access.bytes));
        }
        self.locate(Access { count: 1, ..access }, address)
    }

    /// An asynchronous or cluster-wide operation, whose addresses are [`FunctionBuilder::operand`]s of this function.
    pub fn asynchronous(&mut self, op: AsyncOp) {
        for (r, width, dst) in op.registers() {
            match width {
                Some(width) => self.check(r, Some(width), dst),
                None => self.check_value(r, dst),
            }
        }
        self.emit(Op::Async(Box::new(op)));
    }

    /// An operation of all lanes of a warp on matrices.
    pub fn matrix(&mut self, op: MatrixOp) {
        for (r, width, dst) in op.registers() {
            self.check(r, width, dst);
        }
        self.emit(Op::Matrix(Box::new(op)));
    }

    /// An operation on a texture, sampler or surface.
    pub fn texture(&mut self, op: TextureOp) {
        for (r, width, dst) in op.registers() {
            match width {
                Some(width) => self.check(r, Some(width), dst),
                None => self.check_value(r, dst),
            }
        }
        self.emit(Op::Texture(op));
    }

    /// Emits for the lanes of a predicate, of those that the guard at hand names. The predicate need not have a value in others.
    pub fn within(&mut self, pred: Reg, emit: impl FnOnce(&mut Self)) {
        use crate::engine::lanes::vector;
        let saved = self.guard;
        let (guard, flip) = saved;
        let mut both = pred;
        if guard != Reg::ZERO {
            self.guard = (Reg::ZERO, u32::MAX);
            both = self.reg(Width::Pred);
            let function = match flip {
                0 => vector(|a: bool, guard: bool| a & guard),
                _ => vector(|a: bool, guard: bool| a & !guard),
            };
            self.lanes(function, &[both], &[pred, guard]);
        }
        self.guard = (both, 0);
        emit(self);
        self.guard = saved;
    }

    /// A call into the system.
    pub fn system(&mut self, call: SystemCall, args: &[Reg], dst: Option<Reg>) {
        self.builder.program.uses_heap |= call == SystemCall::Malloc;
        for (&r, &w) in args.iter().zip(call.params()) {
            self.check(r, Some(w), false);
        }
        if let Some(dst) = dst {
            self.check(dst, call.result(), true);
        }
        self.emit(Op::System(Box::new(System { call, args: args.to_vec(), dst })));
    }

    /// `stacksave`, `stackrestore` and `alloca`. What a function allocates is freed when it returns.
    pub fn stack(&mut self, op: StackOp) {
        match op {
            StackOp::Save(dst) => self.check_value(dst, true),
            StackOp::Restore(src) => self.check_value(src, false),
            StackOp::Allocate { dst, size, align } => {
                self.check_value(dst, true);
                self.check_value(size, false);
                if !align.is_power_of_two() {
                    self.error(format!("`alloca` at a multiple of {align}, which is no power of two"));
                }
                if !self.is_kernel() && self.function().saved_top.is_none() {
                    let top = self.reg(Width::W32);
                    self.function().saved_top = Some(top);
                }
            }
        }
        self.emit(Op::Stack(Box::new(op)));
    }

    /// Lets other threads run: `nanosleep`.
    pub fn yield_turn(&mut self) {
        self.emit(Op::Yield);
    }

    /// A new label, to be bound later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label to the next operation.
    pub fn bind(&mut self, label: Label) {
        let here = self.builder.program.code.len() as u32;
        if self.labels[label.0 as usize].replace(here).is_some() {
            self.error("a label is bound twice");
        }
    }

    /// Jumps, in the lanes of the guard.
    pub fn branch(&mut self, target: Label) {
        self.fixups.push(self.builder.program.code.len() as u32);
        self.emit(Op::Branch(target.0));
    }

    /// Jumps if the predicate is true (or false, if negated), whatever the current guard.
    pub fn branch_if(&mut self, guard: Guard, target: Label) {
        let saved = self.guard;
        self.guard(Some(guard));
        self.branch(target);
        self.guard = saved;
    }

    /// `brx.idx`: jumps to the label that the index selects; an index past the end is a fault.
    pub fn switch(&mut self, index: Reg, targets: &[Label]) {
        self.check(index, Some(Width::W32), false);
        let table = &mut self.builder.program.targets;
        let range = Range { start: table.len() as u32, len: targets.len() as u32 };
        table.extend(targets.iter().map(|l| l.0));
        self.fixups.push(self.builder.program.code.len() as u32);
        self.emit(Op::Switch { index, targets: range });
    }

    /// Calls a function: `args` are copied to its formal parameters, its results to `results`.
    pub fn call(&mut self, callee: Callee, args: &[Actual], results: &[Actual]) {
        let model = match &callee {
            Callee::Direct(f) => Some(*f),
            Callee::Indirect(r, candidates) => {
                self.check(*r, Some(Width::W64), false);
                candidates.first().copied()
            }
        };
        for slot in args.iter().chain(results) {
            if let Slot::Reg(r) = *slot {
                self.check(r, None, false);
            }
        }
        let functions = &self.builder.program.functions;
        let Some(model) = model else {
            return self.emit(Op::Call(Box::new(Call { callee, args: Vec::new(), results: Vec::new() })));
        };
        let formal = &functions[model.0 as usize];
        if let Callee::Indirect(_, candidates) = &callee
            && let Some(odd) =
                candidates.iter().map(|f| &functions[f.0 as usize]).find(|f| !f.same_formals(formal))
        {
            let message =
                format!("`{}` and `{}` are called alike but have other parameters", formal.name, odd.name);
            return self.error(message);
        }
        let moved = if formal.params.len() != args.len() || formal.results.len() != results.len() {
            Err(format!(
                "`{}` takes {} arguments and gives {} results",
                formal.name,
                formal.params.len(),
                formal.results.len()
            ))
        } else {
            let passed = args
                .iter()
                .zip(&formal.params)
                .map(|(a, f)| Slot::transfer(*a, *f))
                .collect::<Option<Vec<_>>>();
            let returned = results
                .iter()
                .zip(&formal.results)
                .map(|(a, f)| Slot::transfer(*f, *a))
                .collect::<Option<Vec<_>>>();
            passed.zip(returned).ok_or_else(|| {
                format!("an argument of `{}` has another size than its parameter", formal.name)
            })
        };
        match moved {
            Ok((args, results)) => self.emit(Op::Call(Box::new(Call { callee, args, results }))),
            Err(message) => self.error(message),
        }
    }

    /// Returns from the function; in a kernel, ends the thread.
    pub fn ret(&mut self) {
        let kernel = self.function().kernel.is_some();
        self.emit(if kernel { Op::Exit } else { Op::Ret });
    }

    /// Ends the thread.
    pub fn exit(&mut self) {
        self.emit(Op::Exit);
    }

    /// Ends the launch with a fault.
    pub fn trap(&mut self) {
        self.emit(Op::Trap);
    }

    /// Ends the body. Running off its end returns.
    pub fn finish(mut self) {
        self.guard(None);
        self.ret();
        let mut unbound = false;
        let mut place = |label: &mut u32, labels: &[Option<u32>]| match labels.get(*label as usize) {
            Some(Some(pc)) => *label = *pc,
            _ => unbound = true,
        };
        let Program { code, targets, .. } = &mut self.builder.program;
        for &pc in &self.fixups {
            match &mut code[pc as usize].op {
                Op::Branch(target) => place(target, &self.labels),
                Op::Switch { targets: range, .. } => {
                    let (start, len) = (range.start as usize, range.len as usize);
                    targets[start..start + len].iter_mut().for_each(|t| place(t, &self.labels));
                }
                _ => {}
            }
        }
        if unbound {
            self.error("a branch to a label that is nowhere");
        }
        let end = self.builder.program.code.len() as u32;
        self.builder.current = None;
        let function = self.function();
        function.end = end;
        function.shared.sort_unstable();
        function.shared.dedup();
        if function.rows * 32 > Reg::MAX_OFFSET || function.rows > MAX_ROWS {
            let (name, rows) = (function.name.clone(), function.rows);
            self.error(format!("function `{name}` has {rows} rows of registers, more than {MAX_ROWS}"));
        }
    }
}

impl Access {
    /// A weak access of one element of `bytes` bytes that extends with zeros.
    pub const fn unsigned(space: StateSpace, bytes: u8) -> Access {
        Access {
            space,
            bytes,
            signed: false,
            order: Order::Weak,
            scope: Scope::Gpu,
            count: 1,
            cluster: matches!(space, StateSpace::Generic),
            skipped: 0,
            unused: 0,
            on_stack: false,
            base: Reg::ZERO,
            offset: 0,
        }
    }

    /// True if the program uses a byte, counted from the address on.
    pub const fn uses(&self, byte: u32) -> bool {
        byte >= u32::BITS || self.unused >> byte & 1 == 0
    }

    /// An access of one element, whose sign is extended.
    pub const fn signed(space: StateSpace, bytes: u8) -> Access {
        Access { signed: true, ..Access::unsigned(space, bytes) }
    }

    /// The same access, to the shared memory of any block of the cluster or of the executing block only.
    pub const fn reaching(self, cluster: bool) -> Access {
        Access { cluster, ..self }
    }

    /// The same access in another state space.
    pub const fn in_space(self, space: StateSpace) -> Access {
        Access { space, ..self }
    }

    /// The same access with an ordering.
    pub const fn ordered(self, order: Order, scope: Scope) -> Access {
        Access { order, scope, ..self }
    }
}

impl Emitter for FunctionBuilder<'_> {
    type Reg = Reg;

    fn width(&self, r: Reg) -> Width {
        r.width()
    }

    fn new_reg(&mut self, width: Width) -> Reg {
        self.reg(width)
    }

    fn constant_reg(&mut self, value: u64, width: Width) -> Reg {
        self.constant(value.into(), width)
    }

    fn step(&mut self, function: LaneFn, dst: &[Reg], src: &[Reg]) {
        self.lanes(function, dst, src);
    }

    fn mismatch(&mut self, message: String) {
        self.error(message);
    }
}
