//! Random modules, valid and with one meaning by construction: the input of property tests here and of differential tests in
//! the crates that compile and run them.
//!
//! A module has a kernel `@k` with the parameters of [`PARAMS`]. Every thread reads the input buffer, its position and the
//! scalars, walks a random graph of blocks until its fuel is used up or it meets a `ret`, and writes only its own
//! [`BYTES_PER_THREAD`] bytes of the output buffer, so that there are no races. Loops are bounded by the fuel, addresses by
//! masks. What PTX leaves unspecified does not reach memory: divisors are not zero, NaNs are replaced before their bits can be
//! seen, memory is written before it is read.

use arbitrary::{Arbitrary, Result, Unstructured};
use std::sync::OnceLock;
use warpsmith_ir::{
    AtomicOp, Attr, AttrKind, Block, BlockCall, Extent, FastMath, FloatCC, FloatMode, FloatRounding, FuncId,
    FuncKind, Function, FunctionBuilder, Global, GlobalId, InstBuilder, InstData, IntCC, MemFlags,
    MemoryOrder, MemoryScope, Module, Opcode, OperandRule, Param, PtxData, PtxOperand, Scalar, Shape, Sreg,
    StackSlot, Type, TypeSet, Value, Variable,
};
use warpsmith_isa::{Mnemonic, StateSpace};

/// The parameters of the kernel: output buffer, number of threads, input buffer, and scalars to compute with.
pub const PARAMS: [Type; 6] =
    [Type::PTR_GLOBAL, Type::I32, Type::PTR_GLOBAL, Type::I64, Type::F32, Type::F64];

pub use crate::{BYTES_PER_THREAD, INPUT_BYTES};

/// What modules may contain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Blocks of the kernel's graph, at most.
    pub blocks: usize,
    /// Instructions of a block, about.
    pub insts: usize,
    /// Blocks that a thread walks through, at most.
    pub fuel: u32,
    /// `f16` and `bf16`.
    pub halves: bool,
    /// `tf32` and the formats of 8, 6 and 4 bits.
    pub narrow: bool,
    /// `f32` and `f64`.
    pub floats: bool,
    /// Integers of odd widths and of 128 bits.
    pub wide: bool,
    /// Vectors.
    pub vectors: bool,
    /// Stack slots, constant and shared memory, generic pointers.
    pub memory: bool,
    /// Functions and calls.
    pub calls: bool,
    /// Operations of the PTX tables.
    pub ptx: bool,
    /// What other compilers do not have, or do otherwise: approximations, directions of rounding, atomic accesses, calls through addresses.
    pub special: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            blocks: 8,
            insts: 12,
            fuel: 24,
            halves: true,
            narrow: true,
            floats: true,
            wide: true,
            vectors: true,
            memory: true,
            calls: true,
            ptx: true,
            special: true,
        }
    }
}

impl Config {
    fn types(&self) -> Vec<Type> {
        let mut types = vec![Type::I1, Type::I8, Type::I16, Type::I32, Type::I32, Type::I64];
        if self.floats {
            types.extend([Type::F32, Type::F64]);
        }
        if self.halves {
            types.extend([Type::F16, Type::BF16]);
        }
        if self.narrow {
            types.extend([Type::TF32, Type::E4M3, Type::E5M2, Type::E2M3, Type::E3M2, Type::E2M1]);
        }
        if self.wide {
            types.extend([7, 24, 33, 96, 128].into_iter().filter_map(Type::int));
        }
        types
    }

    /// The types that functions take and return.
    fn passed(&self) -> Vec<Type> {
        let mut types = self.types();
        types.extend(self.vector_types());
        types
    }

    fn vector_types(&self) -> Vec<Type> {
        use Scalar::*;
        let lanes = [(I1, 5), (I8, 4), (I16, 2), (I32, 3), (I64, 2), (F16, 2), (BF16, 4), (F32, 3), (F32, 2)];
        let narrow = [(TF32, 2), (E4M3, 4), (E5M2, 3), (E2M1, 8)];
        let lanes = lanes.into_iter().chain(narrow);
        let all = lanes.filter_map(|(element, lanes)| Type::vector(element, lanes));
        let known = self.types();
        all.filter(|ty| self.vectors && known.contains(&ty.element_type())).collect()
    }
}

/// A module made with the default [`Config`].
#[derive(Clone, Debug)]
pub struct AnyModule(pub Module);

impl<'a> Arbitrary<'a> for AnyModule {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        module(u, &Config::default()).map(AnyModule)
    }
}

/// Makes a module.
pub fn module(u: &mut Unstructured, config: &Config) -> Result<Module> {
    let mut module = Module::new();
    let mut table = Global::new("table", StateSpace::Const, Type::I32, Extent::Array(16));
    table.init = Some(u.bytes(u.len().min(40))?.to_vec());
    let table = module.add_global(table);
    let shared =
        module.add_global(Global::new("scratch", StateSpace::Shared, Type::I64, Extent::Array(1024)));
    let mut helpers = Vec::new();
    if config.calls {
        for n in 0..u.int_in_range(0..=2)? {
            let params =
                (0..u.int_in_range(0..=3)?).map(|_| u.choose(&config.passed()).copied().map(Param::new));
            let params = params.collect::<Result<Vec<_>>>()?;
            let ret = *u.choose(&config.passed())?;
            let function = Function::new(format!("helper{n}"), FuncKind::Func, params, vec![ret]);
            let id = module.add_function(function);
            let mut generator = Generator::new(u, config, &mut module, id, &helpers);
            generator.helper(ret)?;
            finish(generator);
            helpers.push(id);
        }
    }
    let params = PARAMS.into_iter().map(Param::new).collect();
    let id = module.add_function(Function::new("k", FuncKind::Kernel, params, Vec::new()));
    let mut generator = Generator::new(u, config, &mut module, id, &helpers);
    if config.memory {
        generator.memory = Some((table, shared));
    }
    generator.kernel()?;
    finish(generator);
    Ok(module)
}

fn finish(generator: Generator) {
    generator.b.finalize().expect("the generator uses the builder as it should");
}

/// Memory that a block of the kernel can use.
#[derive(Clone, Copy)]
struct Pointers {
    /// The thread's part of the output.
    own: Value,
    input: Value,
    slot: Option<StackSlot>,
    /// The thread's element of shared memory.
    shared: Option<Value>,
}

struct Generator<'u, 'd, 'm> {
    u: &'u mut Unstructured<'d>,
    config: &'u Config,
    b: FunctionBuilder<'m>,
    helpers: &'u [FuncId],
    types: Vec<Type>,
    memory: Option<(GlobalId, GlobalId)>,
    pointers: Option<Pointers>,
    /// What the current block can use.
    values: Vec<Value>,
    /// What blocks hand on to each other.
    variables: Vec<(Variable, Type)>,
}

impl<'u, 'd, 'm> Generator<'u, 'd, 'm> {
    fn new(
        u: &'u mut Unstructured<'d>,
        config: &'u Config,
        module: &'m mut Module,
        id: FuncId,
        helpers: &'u [FuncId],
    ) -> Self {
        let b = FunctionBuilder::new(module, id);
        let mut types = config.types();
        types.extend(config.vector_types());
        let (values, variables) = (Vec::new(), Vec::new());
        Generator { u, config, b, helpers, types, memory: None, pointers: None, values, variables }
    }

    fn helper(&mut self, ret: Type) -> Result<()> {
        let entry = self.b.entry_block();
        self.values = self.b.block_params(entry).to_vec();
        self.instructions()?;
        let result = self.value(ret)?;
        self.b.ins().ret(&[result]);
        Ok(())
    }

    fn kernel(&mut self) -> Result<()> {
        let entry = self.b.entry_block();
        let [out, n, input, x, f, d] = self.b.block_params(entry).try_into().expect("as many as PARAMS");
        for (value, name) in [(out, "out"), (n, "n"), (input, "in"), (x, "x"), (f, "f"), (d, "d")] {
            self.b.set_name(value, name);
        }
        let [tid, ctaid, ntid] = ["tid.x", "ctaid.x", "ntid.x"].map(|name| {
            let reg = Sreg::from_name(name).expect("a special register of every PTX");
            self.b.ins().sreg(reg)
        });
        let first = self.b.ins().imul(ctaid, ntid);
        let thread = self.b.ins().iadd(first, tid);
        let (work, exit) = (self.b.create_block(), self.b.create_block());
        let inside = self.b.ins().icmp(IntCC::Ult, thread, n);
        self.b.ins().brif(inside, work, &[], exit, &[]);
        self.b.switch_to_block(exit);
        self.b.ins().ret(&[]);

        self.b.switch_to_block(work);
        let own = self.b.ins().index(out, thread, BYTES_PER_THREAD as i32);
        self.values = vec![tid, ctaid, ntid, thread, x];
        if self.config.floats {
            self.values.extend([f, d]);
        }
        self.pointers = Some(self.make_pointers(own, input, tid)?);
        for _ in 0..self.u.int_in_range(2..=6)? {
            let ty = *self.u.choose(&self.types)?;
            let variable = self.b.declare_var(ty);
            let value = self.value(ty)?;
            self.b.def_var(variable, value);
            self.variables.push((variable, ty));
        }
        let fuel = self.b.declare_var(Type::I32);
        let amount = self.u.int_in_range(0..=self.config.fuel)?;
        let amount = self.b.ins().iconst(Type::I32, amount as i64);
        self.b.def_var(fuel, amount);
        self.graph(fuel)
    }

    fn make_pointers(&mut self, own: Value, input: Value, tid: Value) -> Result<Pointers> {
        let mut pointers = Pointers { own, input, slot: None, shared: None };
        let Some((_, scratch)) = self.memory else { return Ok(pointers) };
        let slot = self.b.create_stack_slot(64, 16);
        pointers.slot = Some(slot);
        for n in 0..8 {
            let value = self.value(Type::I64)?;
            let at = self.b.ins().stack_addr(slot, 8 * n);
            self.b.ins().store(MemFlags::PLAIN, value, at, 0);
        }
        let base = self.b.global_addr(scratch);
        let shared = self.b.ins().index(base, tid, 8);
        let value = self.value(Type::I64)?;
        self.b.ins().store(MemFlags::PLAIN, value, shared, 0);
        pointers.shared = Some(shared);
        Ok(pointers)
    }

    /// Random blocks with random edges. A thread pays one unit of fuel for each block.
    fn graph(&mut self, fuel: Variable) -> Result<()> {
        let count = self.u.int_in_range(1..=self.config.blocks.max(1))?;
        let mut blocks: Vec<(Block, Vec<Type>)> = Vec::new();
        for _ in 0..count {
            let block = self.b.create_block();
            let types = (0..self.u.int_in_range(0..=2)?).map(|_| self.u.choose(&self.types).copied());
            let types = types.collect::<Result<Vec<Type>>>()?;
            for ty in &types {
                self.b.append_block_param(block, *ty);
            }
            blocks.push((block, types));
        }
        let done = self.b.create_block();
        self.terminator(&blocks, done)?;
        let before = self.values.clone();
        for (block, _) in &blocks {
            self.b.switch_to_block(*block);
            // What was computed before the graph dominates all of it.
            self.values = before.clone();
            self.values.extend(self.b.block_params(*block).to_vec());
            for (variable, _) in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    let value = self.b.use_var(variable);
                    self.values.push(value);
                }
            }
            let known = self.values.len();
            self.instructions()?;
            // What nothing else uses is not computed by who optimises: some of it shows.
            for place in 8..self.u.int_in_range(8..=11)? {
                if let Some(value) = self.values[known..].len().checked_sub(1) {
                    let value = self.values[known + self.u.int_in_range(0..=value)?];
                    if self.b.func().dfg.ty(value).bits() <= 128 {
                        self.write_own(value, 16 * place)?;
                    }
                }
            }
            for (variable, ty) in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    let value = self.value(ty)?;
                    self.b.def_var(variable, value);
                }
            }
            let left = self.b.use_var(fuel);
            let one = self.b.ins().iconst(Type::I32, 1);
            let left = self.b.ins().isub(left, one);
            self.b.def_var(fuel, left);
            let more = self.b.create_block();
            let zero = self.b.ins().iconst(Type::I32, 0);
            let has_fuel = self.b.ins().icmp(IntCC::Sgt, left, zero);
            self.b.ins().brif(has_fuel, more, &[], done, &[]);
            self.b.switch_to_block(more);
            self.terminator(&blocks, done)?;
        }
        self.b.switch_to_block(done);
        self.values = before;
        for (n, (variable, _)) in self.variables.clone().into_iter().enumerate() {
            let value = self.b.use_var(variable);
            self.write_own(value, 16 * n as i32)?;
        }
        self.b.ins().ret(&[]);
        Ok(())
    }

    fn terminator(&mut self, blocks: &[(Block, Vec<Type>)], done: Block) -> Result<()> {
        match self.u.int_in_range(0..=9)? {
            0..=3 => {
                let (block, args) = self.target(blocks)?;
                self.b.ins().jump(block, &args);
            }
            4..=7 => {
                let cond = self.value(Type::I1)?;
                let (then, then_args) = self.target(blocks)?;
                let (other, else_args) = self.target(blocks)?;
                self.b.ins().brif(cond, then, &then_args, other, &else_args);
            }
            8 => {
                let value = self.value(Type::I32)?;
                let mask = self.b.ins().iconst(Type::I32, 7);
                let value = self.b.ins().band(value, mask);
                let default = self.target(blocks)?;
                let mut cases = Vec::new();
                for case in 0..self.u.int_in_range(0..=5)? {
                    cases.push((case, self.target(blocks)?));
                }
                let pool = &mut self.b.func_mut().dfg.pool;
                let default = BlockCall::new(default.0, &default.1, pool);
                let cases = cases
                    .into_iter()
                    .map(|(n, (block, args))| (n, BlockCall::new(block, &args, pool)))
                    .collect();
                self.b.ins().switch(value, default, cases);
            }
            _ => drop(self.b.ins().jump(done, &[])),
        }
        Ok(())
    }

    fn target(&mut self, blocks: &[(Block, Vec<Type>)]) -> Result<(Block, Vec<Value>)> {
        let (block, types) = self.u.choose(blocks)?;
        let args = types.iter().map(|ty| self.value(*ty)).collect::<Result<_>>()?;
        Ok((*block, args))
    }

    fn instructions(&mut self) -> Result<()> {
        for _ in 0..self.u.int_in_range(0..=self.config.insts)? {
            if self.u.is_empty() {
                break;
            }
            match self.u.int_in_range(0..=11)? {
                0..=7 => self.regular()?,
                8 | 9 if self.pointers.is_some() => self.access()?,
                10 if self.config.vectors => self.vector()?,
                10 if self.config.ptx => self.table_derived()?,
                11 if !self.helpers.is_empty() => {
                    let callee = *self.u.choose(self.helpers)?;
                    let params = self.b.module().functions[callee].params.clone();
                    let args = params.iter().map(|param| self.value(param.ty)).collect::<Result<Vec<_>>>()?;
                    let results = match self.config.special && self.u.ratio(1, 4)? {
                        true => {
                            let address = self.b.ins().func_addr(callee);
                            let ret = self.b.module().functions[callee].ret.first().copied();
                            self.b.ins().call_indirect(address, ret.as_slice(), &args)
                        }
                        false => self.b.call(callee, &args),
                    };
                    self.values.extend(results);
                }
                _ if self.config.ptx => self.table_derived()?,
                _ => self.regular()?,
            }
        }
        Ok(())
    }

    /// A value of a type: one that the block can use, or a constant.
    fn value(&mut self, ty: Type) -> Result<Value> {
        let fitting: Vec<Value> =
            self.values.iter().copied().filter(|v| self.b.func().dfg.ty(*v) == ty).collect();
        if fitting.is_empty() || self.u.ratio(1, 4)? {
            self.constant(ty)
        } else {
            Ok(*self.u.choose(&fitting)?)
        }
    }

    fn constant(&mut self, ty: Type) -> Result<Value> {
        if ty.is_vector() {
            if self.u.ratio(1, 2)? {
                let element = self.value(ty.element_type())?;
                return Ok(self.b.ins().splat(ty, element));
            }
            let elements =
                (0..ty.lanes()).map(|_| self.value(ty.element_type())).collect::<Result<Vec<_>>>()?;
            return Ok(self.b.ins().vec(&elements));
        }
        if ty.is_float() {
            let bits = ty.bits();
            let special = [0, 1, 1 << (bits - 1), (1 << (bits - 2)) - 1, 1 << (bits - 2)];
            let bits = match self.u.ratio(1, 2)? {
                true => *self.u.choose(&special)?,
                false => self.u.arbitrary::<u64>()? & (u64::MAX >> (64 - bits)),
            };
            return Ok(self.b.ins().fconst(ty, bits));
        }
        if ty.bits() > 64 && self.u.ratio(1, 4)? {
            let bits = self.u.arbitrary()?;
            return Ok(self.b.ins().iconst_bits(ty, bits));
        }
        let special = [0, 1, -1, 2, i64::MAX, i64::MIN, i32::MIN as i64, 0x80];
        let value = if self.u.ratio(1, 2)? { *self.u.choose(&special)? } else { self.u.arbitrary()? };
        Ok(self.b.ins().iconst(ty, value))
    }

    /// A number as a value of an integer type, or of each element.
    fn number(&mut self, ty: Type, value: i64) -> Value {
        let number = self.b.ins().iconst(ty.element_type(), value);
        if ty.is_vector() { self.b.ins().splat(ty, number) } else { number }
    }

    /// The value, with zero for NaN: the bits of a NaN are nobody's promise.
    fn settled(&mut self, value: Value) -> Value {
        let ty = self.b.func().dfg.ty(value);
        if !ty.element_type().is_float() {
            return value;
        }
        let zero = self.b.ins().fconst(ty.element_type(), 0);
        let zero = if ty.is_vector() { self.b.ins().splat(ty, zero) } else { zero };
        let is_number = self.b.ins().fcmp(FloatCC::Num, value, value);
        self.b.ins().select(is_number, value, zero)
    }

    /// An operation whose shape and types the table says all about.
    fn regular(&mut self) -> Result<()> {
        let regular = |op: &Opcode| {
            use Shape::*;
            let known =
                matches!(op.info().shape, Unary | Binary | Ternary | Convert | IntCompare | FloatCompare);
            let pointers = matches!(op.info().types, TypeSet::Ptr) || matches!(op, Opcode::Inttoptr);
            known && !pointers
        };
        static OPS: OnceLock<[Vec<Opcode>; 2]> = OnceLock::new();
        let special = self.config.special;
        let ops = OPS.get_or_init(|| {
            [false, true].map(|special| {
                let ops = Opcode::ALL.iter().copied();
                ops.filter(|op| regular(op) && (special || !op.is_approximate())).collect()
            })
        });
        let op = *self.u.choose(&ops[usize::from(special)])?;
        let info = op.info();
        let types: Vec<Type> = self.types.iter().copied().filter(|ty| info.types.contains(*ty)).collect();
        if types.is_empty() {
            return Ok(());
        }
        let t = *self.u.choose(&types)?;
        if op == Opcode::Bswap && !t.element_type().bits().is_multiple_of(8) {
            return Ok(());
        }
        let mut args = Vec::new();
        for (n, rule) in info.operands.iter().enumerate() {
            let ty = match rule {
                OperandRule::Bools | OperandRule::Amount => {
                    let one = if *rule == OperandRule::Bools { Type::I1 } else { Type::I32 };
                    let each = t.with_element(one.element()).filter(|each| self.types.contains(each));
                    if self.u.ratio(1, 2)? { each.unwrap_or(one) } else { one }
                }
                _ => t,
            };
            let mut value = self.value(ty)?;
            if n == 1 && matches!(op, Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem) {
                value = self.divisor(value, t);
            }
            // These show the bits of a NaN, or its sign.
            if matches!(op, Opcode::Bitcast) || (n == 1 && op == Opcode::Fcopysign) {
                value = self.settled(value);
            }
            args.push(value);
        }
        if special && op.takes_float_mode() && (self.u.ratio(1, 4)? || op.is_approximate()) {
            return self.moded(op, t, &args);
        }
        let data = match (info.shape, args.as_slice()) {
            (Shape::Unary | Shape::Convert, [x]) => InstData::Unary { op, arg: *x },
            (Shape::Binary, [x, y]) => InstData::Binary { op, args: [*x, *y] },
            (Shape::Ternary, [x, y, z]) => InstData::Ternary { op, args: [*x, *y, *z] },
            (Shape::IntCompare, [x, y]) => {
                InstData::IntCompare { cond: *self.u.choose(IntCC::ALL)?, args: [*x, *y] }
            }
            (Shape::FloatCompare, [x, y]) => {
                InstData::FloatCompare { cond: *self.u.choose(FloatCC::ALL)?, args: [*x, *y] }
            }
            _ => return Ok(()),
        };
        let suffix = match info.shape {
            Shape::Convert => {
                let fits = |ty: &Type| info.result.allows(info.types, t, *ty);
                let types: Vec<Type> = self.types.iter().copied().filter(fits).collect();
                if types.is_empty() {
                    return Ok(());
                }
                Some(*self.u.choose(&types)?)
            }
            _ => None,
        };
        let result = self.b.ins().regular(data, suffix);
        self.values.push(result);
        Ok(())
    }

    /// A small positive number from any number: no division by zero, and none that overflows.
    fn divisor(&mut self, value: Value, ty: Type) -> Value {
        let (mask, one) = (self.number(ty, 0x3f), self.number(ty, 1));
        let low = self.b.ins().band(value, mask);
        self.b.ins().bor(low, one)
    }

    /// `base` moved to a random multiple of `size` below `bytes`, both powers of two.
    fn random_place(&mut self, base: Value, size: u32, bytes: u32) -> Result<Value> {
        let index = self.value(Type::I32)?;
        let mask = self.b.ins().iconst(Type::I32, (bytes / size - 1) as i64);
        let index = self.b.ins().band(index, mask);
        if self.u.ratio(1, 4)? {
            let scale = self.b.ins().iconst(Type::I32, size as i64);
            let bytes = self.b.ins().imul(index, scale);
            return Ok(self.b.ins().ptradd(base, bytes));
        }
        Ok(self.b.ins().index(base, index, size as i32))
    }

    fn memory_type(&mut self) -> Result<Type> {
        let types: Vec<Type> = self.types.iter().copied().filter(|ty| ty.bytes().is_some()).collect();
        Ok(*self.u.choose(&types)?)
    }

    /// Atomic accesses of the thread's own memory, and what else has an effect that does not show.
    fn ordered(&mut self, own: Value) -> Result<()> {
        let ty = *self.u.choose(&[Type::I8, Type::I16, Type::I32, Type::I64])?;
        let size = ty.bytes().unwrap_or(1);
        let scope =
            *self.u.choose(&[MemoryScope::Thread, MemoryScope::Cta, MemoryScope::Gpu, MemoryScope::Sys])?;
        let order = *self.u.choose(MemoryOrder::ALL)?;
        let place = self.random_place(own, size, BYTES_PER_THREAD)?;
        match self.u.int_in_range(0..=7)? {
            0 => {
                let wrong = matches!(order, MemoryOrder::Release | MemoryOrder::AcqRel);
                let order = if wrong { MemoryOrder::SeqCst } else { order };
                let value = self.b.ins().atomic_load(ty, order, scope, place);
                self.values.push(value);
            }
            1 => {
                let wrong = matches!(order, MemoryOrder::Acquire | MemoryOrder::AcqRel);
                let order = if wrong { MemoryOrder::SeqCst } else { order };
                let value = self.value(ty)?;
                self.b.ins().atomic_store(order, scope, value, place);
            }
            2 | 3 => {
                let (expected, new) = (self.value(ty)?, self.value(ty)?);
                let orders = [order, MemoryOrder::Relaxed];
                let results = self.b.ins().cmpxchg(orders, scope, place, expected, new);
                self.values.extend(results);
            }
            4 => {
                self.b.ins().fence(order, scope);
                let (holds, time) = (self.b.ins().iconst(Type::I1, 1), self.b.ins().iconst(Type::I32, 8));
                self.b.ins().assert(holds, "always");
                self.b.ins().list(Opcode::Assume, Attr::None, &[holds]);
                self.b.ins().list(Opcode::Nanosleep, Attr::None, &[time]);
            }
            _ => {
                let ops: Vec<AtomicOp> = AtomicOp::ALL.iter().copied().filter(|op| op.takes(ty)).collect();
                let op = *self.u.choose(&ops)?;
                let value = self.value(ty)?;
                let old = self.b.ins().atomic_rmw(op, order, scope, place, value);
                self.values.push(old);
            }
        }
        Ok(())
    }

    fn access(&mut self) -> Result<()> {
        let Some(pointers) = self.pointers else { return Ok(()) };
        if self.config.special && self.u.ratio(1, 4)? {
            return self.ordered(pointers.own);
        }
        let ty = self.memory_type()?;
        let size = ty.bytes().unwrap_or(1).next_power_of_two();
        let mut flags = MemFlags::PLAIN;
        flags.volatile = self.u.ratio(1, 16)?;
        let (from, bytes) = match (self.u.int_in_range(0..=7)?, self.memory) {
            (0 | 1, _) => {
                let value = self.value(ty)?;
                let offset = self.u.int_in_range(0..=BYTES_PER_THREAD / size - 1)? * size;
                return self.write_own(value, offset as i32);
            }
            (2, Some((table, _))) => (self.b.global_addr(table), 64),
            (3, Some(_)) => {
                let generic = self.b.ins().addrspacecast(Type::PTR, pointers.input);
                (generic, INPUT_BYTES)
            }
            (4, Some(_)) => {
                let address = self.b.ins().ptrtoint(pointers.own);
                (self.b.ins().inttoptr(Type::PTR_GLOBAL, address), BYTES_PER_THREAD)
            }
            (5 | 6, Some(_)) => match (pointers.slot, pointers.shared) {
                (Some(slot), Some(shared)) => {
                    let is_slot = self.u.ratio(2, 3)?;
                    let base = if is_slot { self.b.ins().stack_addr(slot, 0) } else { shared };
                    let bytes = if is_slot { 64 } else { 8 };
                    if size > bytes {
                        return Ok(());
                    }
                    if self.u.ratio(1, 2)? {
                        let value = self.value(ty)?;
                        let value = self.settled(value);
                        let place = self.random_place(base, size, bytes)?;
                        self.b.ins().store(flags, value, place, 0);
                        return Ok(());
                    }
                    (base, bytes)
                }
                _ => return Ok(()),
            },
            _ => (pointers.input, INPUT_BYTES),
        };
        let place = self.random_place(from, size, bytes)?;
        let value = self.b.ins().load(ty, flags, place, 0);
        self.values.push(value);
        Ok(())
    }

    /// Writes a value to the thread's part of the output.
    fn write_own(&mut self, value: Value, offset: i32) -> Result<()> {
        let Some(pointers) = self.pointers else { return Ok(()) };
        let mut value = self.settled(value);
        let ty = self.b.func().dfg.ty(value);
        if let (None, Some(int)) = (ty.bytes(), Type::int(ty.bits())) {
            // What has no memory form goes there as an integer.
            value = self.b.ins().bitcast(int, value);
        }
        let flags = match self.u.ratio(1, 4)? {
            true => MemFlags::PLAIN.with_align(1).expect("a power of two"),
            false => MemFlags::PLAIN,
        };
        self.b.ins().store(flags, value, pointers.own, offset);
        Ok(())
    }

    fn vector(&mut self) -> Result<()> {
        if self.u.ratio(1, 2)? {
            return self.listed();
        }
        let element = loop {
            let ty = self.memory_type()?;
            if Type::vector(ty.element(), 4).is_some() && !ty.is_vector() {
                break ty;
            }
            if self.u.is_empty() {
                return Ok(());
            }
        };
        let lanes = *self.u.choose(&[2u32, 3, 4, 7])?;
        let elements = (0..lanes).map(|_| self.value(element)).collect::<Result<Vec<_>>>()?;
        let elements: Vec<Value> = elements.into_iter().map(|value| self.settled(value)).collect();
        let mut vector = self.b.ins().vec(&elements);
        if self.u.ratio(1, 3)? {
            let value = self.value(element)?;
            let value = self.settled(value);
            let lane = self.u.int_in_range(0..=lanes as u8 - 1)?;
            vector = self.b.ins().insert(vector, value, lane);
        }
        if let (true, Some(pointers)) = (self.u.ratio(1, 3)?, self.pointers) {
            let ty = self.b.func().dfg.ty(vector);
            let size = ty.bytes().unwrap_or(1).next_power_of_two();
            let place = self.random_place(pointers.own, size, BYTES_PER_THREAD)?;
            self.b.ins().store(MemFlags::PLAIN, vector, place, 0);
            vector = self.b.ins().load(ty, MemFlags::PLAIN, place, 0);
        }
        let bits = lanes * element.bits();
        if let (true, Some(int)) = (self.u.ratio(1, 4)? && bits <= 64, Type::int(bits)) {
            let whole = self.b.ins().bitcast(int, vector);
            self.values.push(whole);
        }
        let lane = self.u.int_in_range(0..=lanes as u8 - 1)?;
        let value = self.b.ins().extract(vector, lane);
        self.values.push(value);
        Ok(())
    }

    /// An operation on floats with a mode, where there is such.
    fn moded(&mut self, op: Opcode, t: Type, args: &[Value]) -> Result<()> {
        let info = op.info();
        let mut mode = FloatMode::default();
        if self.u.ratio(1, 2)? {
            mode.rounding = Some(*self.u.choose(&FloatRounding::ALL)?);
        }
        (mode.ftz, mode.sat) = (self.u.ratio(1, 3)?, self.u.ratio(1, 4)?);
        if op.is_approximate() || self.u.ratio(1, 4)? {
            mode.fast = FastMath::AFN.with(FastMath::NSZ);
        }
        let fits = |ty: &Type| info.result.allows(info.types, t, *ty);
        let convert = info.shape == Shape::Convert;
        let to = match convert {
            true => {
                let types: Vec<Type> = self.types.iter().copied().filter(fits).collect();
                if types.is_empty() {
                    return Ok(());
                }
                *self.u.choose(&types)?
            }
            false => t,
        };
        for simpler in [
            mode,
            FloatMode { rounding: None, ..mode },
            FloatMode { ftz: false, sat: false, rounding: None, ..mode },
        ] {
            if simpler.refusal(op, t, to).is_none() {
                let result = match convert {
                    true => self.b.ins().float_convert(op, simpler, to, args[0]),
                    false => self.b.ins().float(op, simpler, args),
                };
                self.values.push(result);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Operations of a list of operands, on scalars and vectors.
    fn listed(&mut self) -> Result<()> {
        let listed = |op: &Opcode| op.info().shape == Shape::List && op.traits().is_pure();
        static OPS: OnceLock<Vec<Opcode>> = OnceLock::new();
        let ops = OPS.get_or_init(|| Opcode::ALL.iter().copied().filter(listed).collect());
        let op = *self.u.choose(ops)?;
        let info = op.info();
        let types: Vec<Type> = self.types.iter().copied().filter(|ty| info.types.contains(*ty)).collect();
        if types.is_empty() {
            return Ok(());
        }
        let t = *self.u.choose(&types)?;
        let attr = match op.attr_kind() {
            AttrKind::With => {
                let fits = |op: &Opcode| op.info().types.contains(t.element_type());
                let all: Vec<Opcode> = Opcode::REDUCTIONS.into_iter().filter(fits).collect();
                Attr::With(*self.u.choose(&all)?)
            }
            AttrKind::Lanes => {
                let count = self.u.int_in_range(2..=4)?;
                let lanes = (0..count).map(|_| self.u.int_in_range(0..=2 * t.lanes() as u8 - 1));
                Attr::Lanes(lanes.collect::<Result<Vec<u8>>>()?.into())
            }
            AttrKind::None
            | AttrKind::Wide
            | AttrKind::Float
            | AttrKind::Memory
            | AttrKind::Shuffle
            | AttrKind::Vote
            | AttrKind::Text => Attr::None,
        };
        let mut args = Vec::new();
        for rule in info.operands {
            args.push(match rule {
                OperandRule::Element => self.value(t.element_type())?,
                OperandRule::I32 if self.u.ratio(3, 4)? => {
                    let lane = self.u.int_in_range(0..=4)?;
                    self.b.ins().iconst(Type::I32, lane)
                }
                OperandRule::Amount | OperandRule::I32 => self.value(Type::I32)?,
                _ => self.value(t)?,
            });
        }
        let results = self.b.ins().list(op, attr, &args);
        self.values.extend(results);
        Ok(())
    }

    /// Pure operations that the core set has no name for.
    fn table_derived(&mut self) -> Result<()> {
        let int = |value| Some(PtxOperand::Int(value));
        // The mnemonic, the type of all operands but immediates, and the operands: `None` for a value.
        let (mnemonic, operands): (&str, &[Option<PtxOperand>]) = match self.u.int_in_range(0..=5)? {
            0 => ("mad.lo.s32", &[None, None, None]),
            1 => ("lop3.b32", &[None, None, None, int(0x96)]),
            2 => ("prmt.b32", &[None, None, int(0x6420)]),
            3 => ("bfe.u32", &[None, int(3), int(9)]),
            4 => ("sad.u32", &[None, None, None]),
            _ => ("shf.l.wrap.b32", &[None, None, int(7)]),
        };
        let mnemonic = Mnemonic::parse(mnemonic).expect("in the tables");
        let mut args = Vec::new();
        let mut list = Vec::new();
        for operand in operands {
            if operand.is_none() {
                args.push(self.value(Type::I32)?);
            }
            list.push(operand.unwrap_or(PtxOperand::Value));
        }
        let results = self.b.ins().ptx_data(PtxData::new(mnemonic, list), &args, &[Type::I32]);
        self.values.extend(results);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_ir::{parse, verify};

    #[test]
    fn generated_modules_are_valid() {
        arbtest::arbtest(|u| {
            let module = module(u, &Config::default())?;
            if let Err(errors) = verify(&module) {
                panic!("{module}\n{errors:#?}");
            }
            Ok(())
        });
    }

    #[test]
    fn every_regular_operation_appears() {
        let mut seen = std::collections::HashSet::new();
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..300 {
            let bytes: Vec<u8> = (0..2000)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 56) as u8
                })
                .collect();
            let module = module(&mut Unstructured::new(&bytes), &Config::default()).unwrap();
            for func in module.functions.values() {
                for block in func.layout.blocks() {
                    seen.extend(func.layout.insts(block).map(|inst| func.dfg.opcode(inst)));
                }
            }
        }
        let missing: Vec<&Opcode> = Opcode::ALL.iter().filter(|op| !seen.contains(op)).collect();
        use Opcode as O;
        let aggregates = [O::Zero, O::Aggregate, O::ExtractValue, O::InsertValue];
        let blocks = [O::Memcpy, O::Memmove, O::Memset];
        // What lanes do together needs all of them at one place; the others end a thread, or show addresses and text.
        let lanes = [
            O::Shfl,
            O::Vote,
            O::Ballot,
            O::MatchAny,
            O::MatchAll,
            O::WarpReduce,
            O::WarpSync,
            O::Activemask,
            O::Barrier,
        ];
        let effects = [O::Printf, O::Malloc, O::Free, O::Unreachable, O::Trap];
        let left_out: Vec<&Opcode> = aggregates.iter().chain(&blocks).chain(&lanes).chain(&effects).collect();
        let missing: Vec<&Opcode> = missing.into_iter().filter(|op| !left_out.contains(op)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn printing_and_reading_gives_the_same_module() {
        arbtest::arbtest(|u| {
            let module = module(u, &Config::default())?;
            let text = module.to_string();
            let read = parse(&text);
            assert!(read.diagnostics.is_empty(), "{text}\n{:#?}", read.diagnostics);
            warpsmith_ir::same::assert_same(&module, &read.module);
            assert_eq!(read.module.to_string(), text);
            Ok(())
        });
    }
}
