//! Instruction selection: the IR to PTX instructions over virtual registers.
//!
//! Blocks are taken so that dominated ones come first, and each is walked from its end. When an instruction is reached, all its
//! users have been selected: if none asked for its result it is dropped, be it dead or folded into its users (a constant, an
//! address, the product of a multiply-add). An instruction may become several; they are collected in forward order and the whole
//! block is reversed at its end.
//!
//! Values that PTX cannot hold as they are take this form:
//! - `i8` lives in a `.b16` register whose upper half is arbitrary; who reads it as a number extends it first;
//! - vectors of elements below 32 bits are packed into `.b32` registers, `i128` is a pair of `.b64` (see [`abi::Repr`]);
//! - addresses in shared memory live in `.b32` registers where nobody reads more of them (`narrow.rs`);
//! - casts that change no bits are not instructions: their results denote their operands.
//!
//! Parameters of a block with a single way in denote the arguments of that way.

mod accumulate;
mod call;
mod carry;
mod control;
mod convert;
mod debug;
mod float;
mod halves;
mod integer;
mod memory;
mod narrow;
mod ptx_op;
mod values;
mod vector;

use crate::abi::Repr;
use crate::analysis::{Analyses, Cfg, Uniformity, Unread};
use crate::mach::{self, Base, Inst, Op, Operand, RegClass, VReg};
use crate::rules::known::KnownBits;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use std::sync::Arc;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::{
    self as ir, Block, Class, FuncId, FuncKind, Function, InstData, Opcode as IrOp, PointerBinary,
    PointerUnary, Scalar, Ternary, Type, Value, ValueDef, parallel,
};
use warpsmith_isa::{Mnemonic, Mod, Opcode, ScalarType, Target, Version};

/// A mnemonic from its parts, at compile time: `ptx!(Add.S32)`.
macro_rules! ptx {
    ($opcode:ident $(. $modifier:ident)*) => {
        const { Mnemonic::new(Opcode::$opcode)$(.with(Mod::$modifier))* }
    };
}
use ptx;
use values::{Regs, has_own_registers};

/// Selects the functions of a verified module for a target. What PTX, or this crate, has no code for on the target is an error.
pub fn select(module: &ir::Module, target: Target) -> Result<mach::Module, Diagnostics> {
    select_with(module, target, SelectOptions::default())
}

/// What selection is asked to do beyond finding instructions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SelectOptions {
    /// What to do for the variables of the source.
    pub variables: Variables,
    /// Whether to find and mark branches that lead all threads which execute them together the same way (`bra.uni`).
    pub uniform_branches: bool,
    /// The version of PTX that the code has to be of, where one is given: nothing newer is chosen where there is a choice.
    pub version: Option<Version>,
}

/// What selection does for the variables of the source that are bound to values.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Variables {
    /// They are said to be where their values are computed anyway.
    #[default]
    WhereTheyAre,
    /// Their values are computed for them, wanted or not: for code that is not optimised.
    Kept,
}

/// [`select`], with options.
pub fn select_with(
    module: &ir::Module,
    target: Target,
    options: SelectOptions,
) -> Result<mach::Module, Diagnostics> {
    let defined: Vec<(FuncId, &Function)> =
        module.functions.iter().filter(|(_, f)| !f.is_declaration()).collect();
    let threads = parallel::pays(module.functions.values());
    let selected = parallel::map(defined, threads, |(id, func)| {
        let mut selector = Selector::new(module, id, func, target);
        selector.variables = options.variables;
        selector.version = options.version;
        let mut analyses = Analyses::default();
        let branches = |block| func.successors(block).nth(1).is_some();
        if options.uniform_branches && func.layout.blocks().any(branches) {
            selector.uniformity = Some(analyses.get::<Uniformity>(func));
        }
        // A debugger shows what nothing reads.
        if func.debug.is_none() {
            selector.unread = analyses.get::<Unread>(func);
        }
        selector.run();
        (selector.out, selector.errors)
    });
    let (functions, errors): (Vec<_>, Vec<_>) = selected.into_iter().unzip();
    let errors = errors.concat();
    if errors.is_empty() { Ok(mach::Module { functions }) } else { Err(module.diagnostics(errors)) }
}

/// A list that is rarely longer.
type Few<T> = smallvec::SmallVec<[T; 8]>;

/// A map that has its entries, so that writing them one after the other does not let it grow one by one.
fn filled<K: EntityRef, V: Clone + Default>(entries: usize) -> SecondaryMap<K, V> {
    let mut map = SecondaryMap::new();
    map.resize(entries);
    map
}

struct Selector<'a> {
    module: &'a ir::Module,
    func: &'a Function,
    target: Target,
    out: mach::Function,
    cfg: Cfg,
    /// Which values threads share, where that was asked for.
    uniformity: Option<Arc<Uniformity>>,
    /// The arguments of blocks that may be anything.
    unread: Arc<Unread>,
    /// The value that each value denotes.
    alias: SecondaryMap<Value, PackedOption<Value>>,
    /// How often the instructions of the function use each value.
    uses: SecondaryMap<Value, u32>,
    /// The registers of the values that someone asked for.
    regs: SecondaryMap<Value, Regs>,
    /// Addresses in shared memory that are computed in 32 bits.
    narrow: SecondaryMap<Value, bool>,
    /// The instruction that takes the other half of a word, behind the one that takes the first.
    other_half: SecondaryMap<ir::Inst, PackedOption<ir::Inst>>,
    /// Whether an instruction before has written the result.
    is_written_before: SecondaryMap<ir::Inst, bool>,
    /// What takes a half of each word first, in the current block.
    half_taken: FxHashMap<(Value, u8), (ir::Inst, bool)>,
    /// Sums and differences of several words in the current block, by the instruction of the last word.
    carries: FxHashMap<ir::Inst, carry::Chain>,
    /// Whether the program has the carry flag itself, where that was asked for.
    carry_flag: Option<bool>,
    /// The other words of those that were written.
    is_carried: FxHashSet<ir::Inst>,
    /// The registers of 32 bits for the addresses of shared variables, which may be wanted in 64 bits too.
    low: SecondaryMap<Value, PackedOption<VReg>>,
    /// Loads of what is only extended, which is done by the load: with the sign or with zeros.
    extending: SecondaryMap<Value, Option<bool>>,
    /// Whether something else than 1 is divided in `f32`, and in `f64`, where that was asked for.
    quotients: Option<[bool; 2]>,
    /// What is known of values that a `switch` decides on, or that were put together to be stored.
    known: KnownBits,
    blocks: SecondaryMap<Block, PackedOption<mach::Block>>,
    /// The blocks made for the `switch` at the end of a block.
    switches: Vec<(Block, Vec<mach::Block>)>,
    block: Block,
    origin: Option<ir::Inst>,
    /// The instructions of the current IR instruction, in order.
    group: Vec<Inst>,
    /// What is to stand in front of the next `wgmma.fence` upwards.
    ahead: Vec<Inst>,
    /// Where the instructions of the current block begin. Until it is done, the last one comes first.
    start: usize,
    /// The numbers of the function's prototypes.
    prototypes: FxHashMap<mach::Prototype, u32>,
    errors: Vec<Diagnostic>,
    variables: Variables,
    version: Option<Version>,
    /// Bindings of the current block, the last one first, with the instructions behind them.
    noted: Vec<(usize, ir::BindingId)>,
    /// Bindings of all blocks, in front of which instructions.
    bound: Vec<(Block, u32, ir::BindingId)>,
}

impl<'a> Selector<'a> {
    fn new(module: &'a ir::Module, id: FuncId, func: &'a Function, target: Target) -> Self {
        let (values, blocks) = (func.dfg.num_values(), func.dfg.num_blocks());
        let mut selector = Selector {
            module,
            func,
            target,
            out: mach::Function::new(id),
            cfg: Cfg::compute(func),
            uniformity: None,
            unread: Arc::default(),
            alias: filled(values),
            uses: filled(values),
            regs: filled(values),
            narrow: SecondaryMap::new(),
            other_half: SecondaryMap::new(),
            is_written_before: SecondaryMap::new(),
            half_taken: FxHashMap::default(),
            carries: FxHashMap::default(),
            carry_flag: None,
            is_carried: FxHashSet::default(),
            low: SecondaryMap::new(),
            extending: SecondaryMap::new(),
            quotients: None,
            known: KnownBits::default(),
            blocks: filled(blocks),
            switches: Vec::new(),
            block: Block::new(0),
            origin: None,
            group: Vec::new(),
            ahead: Vec::new(),
            start: 0,
            prototypes: FxHashMap::default(),
            errors: Vec::new(),
            variables: Variables::default(),
            version: None,
            noted: Vec::new(),
            bound: Vec::new(),
        };
        selector.out.reserve(blocks, func.dfg.num_insts());
        selector.find_aliases_and_uses();
        selector
    }

    fn run(&mut self) {
        if self.target.sm < 20 {
            let text = format!("code generation starts at sm_20; {} has no generic addresses", self.target);
            self.errors.push(Diagnostic::error("L0001", self.func.span, text));
            return;
        }
        self.find_narrow();
        self.make_blocks();
        let rpo = self.cfg.reverse_postorder().to_vec();
        for &block in rpo.iter().rev() {
            self.block = block;
            self.select_block(block);
        }
        if !self.switches.is_empty() {
            self.place_switches();
            self.drop_unreachable();
        }
        self.place_bindings();
    }

    fn is_entry(&self, block: Block) -> bool {
        self.func.layout.entry() == Some(block)
    }

    // Instructions.

    /// Adds an instruction to the current group.
    fn emit(&mut self, mnemonic: Mnemonic, operands: &[Operand]) {
        self.emit_op(Op::Ptx(mnemonic), operands);
    }

    fn emit_op(&mut self, op: Op, operands: &[Operand]) {
        let first = self.out.operands.len() as u32;
        self.out.operands.extend_from_slice(operands);
        self.group.push(Inst { op, first, len: operands.len() as u32, origin: self.origin });
    }

    /// Adds an instruction with a new register for its result.
    fn emit_new(&mut self, class: RegClass, mnemonic: Mnemonic, sources: &[Operand]) -> Operand {
        let result = self.temp(class);
        let first = self.out.operands.len() as u32;
        self.out.operands.push(Operand::Def(result));
        self.out.operands.extend_from_slice(sources);
        let len = sources.len() as u32 + 1;
        self.group.push(Inst { op: Op::Ptx(mnemonic), first, len, origin: self.origin });
        Operand::Use(result)
    }

    fn end_group(&mut self) {
        while let Some(inst) = self.group.pop() {
            self.out.insts.push(inst);
        }
    }

    /// Something of the current instruction that is not compiled.
    fn unsupported(&mut self, what: impl Into<String>, note: impl Into<String>) {
        let span = self.origin.map_or(self.func.span, |inst| self.func.operation_span(inst));
        let mut error = Diagnostic::error("L0002", span, what).note(note);
        if let Some(inst) = self.origin {
            error = error.origin(self.module.origin(self.func, inst));
        }
        self.errors.push(error);
    }

    /// Something that the verifier does not let through: a pass has left it.
    #[cold]
    fn broken(&mut self, how: &str) {
        let span = self.origin.map_or(self.func.span, |inst| self.func.operation_span(inst));
        let text = format!("the code of `@{}` is broken: {how}", self.func.name);
        let mut error = Diagnostic::error("L0003", span, text);
        if let Some(inst) = self.origin {
            error = error.origin(self.module.origin(self.func, inst));
        }
        self.errors.push(error);
    }

    fn is_kernel(&self) -> bool {
        self.func.kind == FuncKind::Kernel
    }

    fn has_sm(&self, sm: u16) -> bool {
        self.target.sm >= sm
    }

    // Blocks.

    fn select_block(&mut self, block: Block) {
        let func = self.func;
        let mut insts = func.layout.insts(block);
        let terminator = insts.next_back();
        if let Some(terminator) = terminator {
            self.origin = Some(terminator);
            self.select_terminator(terminator);
        }
        self.pair_halves(block);
        self.find_carries(block);
        // A `switch` has made blocks of its own.
        self.start = self.out.insts.len();
        self.end_group();
        if let Some(terminator) = terminator {
            self.note_bindings(terminator);
        }
        while let Some(inst) = insts.next_back() {
            self.select_inst(inst);
            self.note_bindings(inst);
        }
        self.write_ahead();
        self.end_group();
        if self.is_entry(block) {
            self.origin = None;
            self.load_params();
            self.end_group();
        }
        self.out.insts[self.start..].reverse();
        let (start, end) = (self.start as u32, self.out.insts.len() as u32);
        self.bound.extend(self.noted.drain(..).rev().map(|(behind, id)| (block, end - behind as u32, id)));
        if let Some(to) = self.blocks[block].expand() {
            self.out.blocks[to].insts = start..end;
        }
    }

    fn select_inst(&mut self, inst: ir::Inst) {
        let func = self.func;
        let results = func.dfg.results(inst);
        if let Some(first) = results.get(0) {
            let asked_for = |value: Value| self.regs[value].count > 0 || self.low[value].is_some();
            let asked_for = results.into_iter().any(asked_for);
            let asked_for = asked_for || self.writes_other_half(inst);
            let passed_on = self.alias[first].is_some();
            if passed_on || (!asked_for && func.traits(inst).is_removable()) {
                return;
            }
        }
        self.origin = Some(inst);
        match &func.dfg[inst] {
            InstData::IntConst { value } => self.int_constant(inst, *value),
            InstData::FloatConst { bits } => self.float_constant(inst, *bits),
            &InstData::Unary { op, arg } => self.unary(inst, op, arg),
            InstData::Binary { op: IrOp::Iadd | IrOp::Isub, .. } if self.carried(inst) => {}
            &InstData::Binary { op, args } => self.binary(inst, op, args),
            &InstData::Ternary { op, args } => self.ternary(inst, op, args),
            &InstData::IntCompare { cond, args } => self.int_compare(inst, cond, args, None),
            &InstData::FloatCompare { cond, args } => self.float_compare(inst, cond, args, None),
            &InstData::Load { flags, offset, ptr } => self.load(inst, flags, offset, ptr),
            &InstData::Store { flags, offset, args: [value, ptr] } => self.store(flags, offset, value, ptr),
            &InstData::Index { scale, args } => self.index(inst, scale, args),
            &InstData::StackAddr { slot, offset } => self.variable_address(inst, Base::Stack(slot), offset),
            &InstData::GlobalAddr { global, offset } => {
                self.variable_address(inst, Base::Global(global), offset);
            }
            &InstData::FuncAddr { func } => self.symbol_address(inst, Base::Func(func), 0),
            InstData::Vec { args } => self.build_vector(inst, args.as_slice(&func.dfg.pool)),
            &InstData::Extract { lane, arg } if !has_own_registers(self.ty(arg)) => {
                self.extract(inst, arg, lane);
            }
            InstData::Aggregate { args } => self.build_aggregate(inst, args.as_slice(&func.dfg.pool)),
            // Its registers are those of what it is a part of.
            InstData::Extract { .. } | InstData::ExtractValue { .. } => {}
            // Taken apart before selection.
            InstData::Zero
            | InstData::Insert { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. } => {
                self.no_rule(func.dfg.opcode(inst), Type::INVALID);
            }
            &InstData::Sreg { reg } => self.special_register(inst, reg),
            InstData::Call { callee, args } => self.call(inst, *callee, args.as_slice(&func.dfg.pool)),
            InstData::CallIndirect { args } => self.call_indirect(inst, args.as_slice(&func.dfg.pool)),
            InstData::Ptx { data, args } => {
                self.ptx_op(inst, &func.dfg.ptx[*data], args.as_slice(&func.dfg.pool));
            }
            // Legalisation has written them as others.
            InstData::List { op, args, .. } => {
                let ty = args.first(&func.dfg.pool).map_or(Type::INVALID, |arg| self.ty(arg));
                self.no_rule(*op, ty);
            }
            // The verifier lets terminators stand at the end of a block only.
            InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return { .. }
            | InstData::Trap => {}
        }
        self.end_group();
    }

    /// A struct or array in registers of its own, which something other than a call, `ret` or `store` asked for.
    fn build_aggregate(&mut self, inst: ir::Inst, fields: &[Value]) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let mut parts = Vec::new();
        fields.iter().for_each(|&field| self.part_regs(field, &mut parts));
        for (to, from) in self.regs_of(result).zip(parts) {
            self.emit(mov(self.out.vregs[to]), &[Operand::Def(to), Operand::Use(from)]);
        }
    }

    fn unary(&mut self, inst: ir::Inst, op: IrOp, arg: Value) {
        match op.class() {
            Class::IntUnary(op) => self.int_unary(inst, op, arg),
            Class::FloatUnary(op) => self.float_unary(inst, op, arg),
            Class::PointerUnary(PointerUnary::Ptrtoint) => self.bitcast(inst, arg),
            Class::Conversion(op) => self.convert(inst, op, arg),
            Class::IntBinary(_)
            | Class::FloatBinary(_)
            | Class::PointerBinary(_)
            | Class::Ternary(_)
            | Class::Overflow(_)
            | Class::List(_)
            | Class::Alone => self.no_rule(op, self.ty(arg)),
        }
    }

    fn binary(&mut self, inst: ir::Inst, op: IrOp, args: [Value; 2]) {
        match op.class() {
            Class::IntBinary(op) => self.int_binary(inst, op, args),
            Class::FloatBinary(op) => self.float_binary(inst, op, args),
            Class::PointerBinary(PointerBinary::Ptradd) => self.pointer_add(inst, args),
            Class::IntUnary(_)
            | Class::FloatUnary(_)
            | Class::PointerUnary(_)
            | Class::Conversion(_)
            | Class::Ternary(_)
            | Class::Overflow(_)
            | Class::List(_)
            | Class::Alone => self.no_rule(op, self.ty(args[0])),
        }
    }

    fn ternary(&mut self, inst: ir::Inst, op: IrOp, args: [Value; 3]) {
        match op.class() {
            Class::Ternary(Ternary::Select) => self.select_value(inst, args),
            Class::Ternary(Ternary::Fma) => self.fma(inst, args),
            Class::Ternary(Ternary::Fshl | Ternary::Fshr | Ternary::Ubfx | Ternary::Sbfx) => {
                self.no_rule(op, self.ty(args[0]));
            }
            Class::IntUnary(_)
            | Class::IntBinary(_)
            | Class::FloatUnary(_)
            | Class::FloatBinary(_)
            | Class::PointerUnary(_)
            | Class::PointerBinary(_)
            | Class::Conversion(_)
            | Class::Overflow(_)
            | Class::List(_)
            | Class::Alone => self.no_rule(op, self.ty(args[0])),
        }
    }

    /// An operation in a shape or on a type that the tables of selection have nothing for. The verifier refuses the known ones.
    #[cold]
    fn no_rule(&mut self, op: impl Into<IrOp>, ty: Type) {
        let op = op.into();
        self.unsupported(
            format!("`{op}` of {ty} is not compiled"),
            format!(
                "selection has no rule for it; the operands of `{op}` are {}",
                op.info().types.describe()
            ),
        );
    }

    fn special_register(&mut self, inst: ir::Inst, reg: ir::Sreg) {
        let result = self.result(inst);
        let mnemonic = match reg.ty().bits() {
            1 => ptx!(Mov.Pred),
            64 => ptx!(Mov.U64),
            _ => ptx!(Mov.U32),
        };
        self.emit(mnemonic, &[result, Operand::Special(reg)]);
    }
}

/// The modifier `.bN` of a register class.
fn bits_mod(class: RegClass) -> Mod {
    Mod::of_scalar(class.scalar())
}

/// `mov.bN`, which also packs and unpacks vectors.
fn mov(class: RegClass) -> Mnemonic {
    Mnemonic::new(Opcode::Mov).with(bits_mod(class))
}

fn is_i1(ty: Type) -> bool {
    ty.element() == Scalar::I1
}

/// The type modifier of a float.
fn float_mod(ty: Type) -> Mod {
    Mod::of_scalar(ty.element().isa())
}
