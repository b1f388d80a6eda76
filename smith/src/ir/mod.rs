//! Random modules, valid and with one meaning by construction: the input of property tests here and of differential tests in
//! the crates that compile and run them.
//!
//! A module has a kernel `@k` with the parameters of [`PARAMS`]. Every thread reads the input buffer, its position and the
//! scalars, walks a random graph of blocks until its fuel is used up or it meets a `ret`, and writes only its own
//! [`BYTES_PER_THREAD`] bytes of the output buffer, so that there are no races. Loops are bounded by the fuel, addresses by
//! masks. What PTX leaves unspecified does not reach memory: divisors are not zero, NaNs are replaced before their bits can be
//! seen, memory is written before it is read.

mod aggregate;
mod algebra;
mod around;
mod array;
mod between;
mod bulky;
mod bytes;
mod call;
mod checked;
mod conditional;
mod config;
mod control;
mod digest;
mod dot;
mod extended;
mod filled;
mod flag;
mod guarded;
mod halves;
mod idiom;
mod kept;
mod late;
mod memory;
mod menu;
mod optional;
mod pattern;
mod promised;
mod recursive;
mod rows;
mod search;
mod special;
mod state;
mod together;
mod values;
mod ways;

use crate::ptx::TARGETS;
pub use crate::{BYTES_PER_THREAD, INPUT_BYTES};
pub use config::Config;
pub use pattern::{Kind as PatternKind, Pattern};

use arbitrary::{Arbitrary, Result, Unstructured};
use menu::{Kind, Reach};
use std::sync::OnceLock;
use values::Flavour;
use warpsmith_ir::{
    Extent, FloatCC, FuncId, FuncKind, Function, FunctionBuilder, Global, GlobalId, Inline, InstBuilder,
    InstData, IntCC, MemFlags, Module, Opcode, OperandRule, Param, Reloc, Shape, Sreg, StackSlot, Symbol,
    Type, TypeSet, Value, Variable,
};
use warpsmith_isa::StateSpace;

/// The parameters of the kernel: output buffer, number of threads, input buffer, and scalars to compute with.
pub const PARAMS: [Type; 6] =
    [Type::PTR_GLOBAL, Type::I32, Type::PTR_GLOBAL, Type::I64, Type::F32, Type::F64];

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
    module.target = match config.target {
        None if u.ratio(1, 3)? => Some(*u.choose(TARGETS)?),
        chosen => chosen,
    };
    let mut table = Global::new("table", StateSpace::Const, Type::I32, Extent::Array(16));
    // Of few bytes most are for what computes.
    table.init = Some(u.bytes((u.len() / 16).min(40) & !3)?.to_vec());
    let table = module.add_global(table);
    let shared =
        module.add_global(Global::new("scratch", StateSpace::Shared, Type::I64, Extent::Array(1024)));
    let more_shared = match config.memory && u.ratio(1, 3)? {
        true => {
            Some(module.add_global(Global::new("more", StateSpace::Shared, Type::I64, Extent::Array(1024))))
        }
        false => None,
    };
    let places = match config.memory && u.ratio(1, 6)? {
        true => Some(add_places(u, &mut module, table)?),
        false => None,
    };
    let flavour = Flavour::new(u, config, &mut module.types)?;
    let (mut helpers, mut recursive) = (Vec::new(), None);
    if config.calls {
        for n in 0..u.int_in_range(0..=2)? {
            let (params, ret) = call::signature(u, config, &flavour)?;
            let mut function = Function::new(format!("helper{n}"), FuncKind::Func, params, vec![ret]);
            // Else next to no call would be left for passes and the ABI: these functions are small.
            if u.ratio(1, 3)? {
                function.attrs.inline = Inline::Never;
            }
            let id = module.add_function(function);
            let mut generator = Generator::new(u, config, &flavour, &mut module, id, &helpers);
            generator.helper(ret)?;
            finish(generator);
            helpers.push(id);
        }
        if u.ratio(1, 4)? {
            recursive = Some(add_recursive(u, config, &flavour, &mut module, &helpers)?);
            helpers.extend(recursive);
        }
    }
    let bulky = match config.aggregates && config.memory && u.ratio(1, 8)? {
        true => Some(bulky::add(u, config, &flavour, &mut module, helpers.len())?),
        false => None,
    };
    let mut params: Vec<Param> = PARAMS.into_iter().map(Param::new).collect();
    // Nothing writes the input.
    params[2].attrs.noalias = u.ratio(1, 2)?;
    let id = module.add_function(Function::new("k", FuncKind::Kernel, params, Vec::new()));
    let mut generator = Generator::new(u, config, &flavour, &mut module, id, &helpers);
    generator.recursive = recursive;
    if config.memory {
        generator.memory = Some((table, shared));
        generator.more_shared = more_shared;
        generator.places = places;
        generator.bulky = bulky;
    }
    generator.kernel()?;
    finish(generator);
    Ok(module)
}

/// A function that calls itself.
fn add_recursive(
    u: &mut Unstructured,
    config: &Config,
    flavour: &Flavour,
    module: &mut Module,
    helpers: &[FuncId],
) -> Result<FuncId> {
    let mut params = vec![Param::new(Type::I32), Param::new(Type::I32)];
    if config.memory && u.ratio(1, 2)? {
        params.push(Param::new(Type::PTR));
    }
    // As all functions but the kernel are named, which transformations know.
    let name = format!("helper{}", helpers.len());
    let id = module.add_function(Function::new(name, FuncKind::Func, params, vec![Type::I32]));
    let mut generator = Generator::new(u, config, flavour, module, id, helpers);
    generator.recursive(id)?;
    finish(generator);
    Ok(id)
}

/// How many addresses a module's variable of addresses has.
const PLACES: u32 = 4;

/// The distance of what addresses in variables lead to: any access of up to so many bytes is aligned there.
const PLACE_STEP: u32 = 16;

/// A variable that starts with addresses within the table.
fn add_places(u: &mut Unstructured, module: &mut Module, table: GlobalId) -> Result<GlobalId> {
    let space = if u.ratio(1, 2)? { StateSpace::Const } else { StateSpace::Global };
    let mut places = Global::new("places", space, Type::I64, Extent::Array(PLACES.into()));
    places.init = Some(vec![0; 8 * PLACES as usize]);
    for n in 0..PLACES {
        let addend = i64::from(PLACE_STEP) * u.int_in_range(0..=3)?;
        let (offset, target, generic) = (8 * u64::from(n), Symbol::Global(table), u.ratio(1, 4)?);
        places.relocs.push(Reloc { offset, target, addend, generic });
    }
    Ok(module.add_global(places))
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
    /// A slot of half the size, whose address stands beside that of the first.
    other_slot: Option<StackSlot>,
    /// Slots whose addresses are only read from and written to: what becomes registers.
    cells: Option<memory::Cells>,
    /// The thread's element of shared memory.
    shared: Option<Value>,
    /// The thread's element of other shared memory.
    other_shared: Option<Value>,
}

/// A variable of the kernel.
#[derive(Clone, Copy)]
struct Local {
    variable: Variable,
    ty: Type,
    /// The number that all its definitions give it, each anew: what nothing but a look at all paths finds out.
    always: Option<i64>,
}

struct Generator<'u, 'd, 'm> {
    u: &'u mut Unstructured<'d>,
    config: &'u Config,
    b: FunctionBuilder<'m>,
    helpers: &'u [FuncId],
    flavour: &'u Flavour,
    memory: Option<(GlobalId, GlobalId)>,
    /// Other shared memory than the module's first.
    more_shared: Option<GlobalId>,
    /// The variable of addresses.
    places: Option<GlobalId>,
    /// The function that calls itself.
    recursive: Option<FuncId>,
    /// The function of arrays that are held in memory.
    bulky: Option<FuncId>,
    pointers: Option<Pointers>,
    /// The addresses that a function is given, each of [`memory::HANDED_BYTES`] that it may read and write.
    handed: Vec<Value>,
    /// What the current block can use.
    values: Vec<Value>,
    /// What blocks hand on to each other.
    variables: Vec<Local>,
    /// What all blocks of the kernel add to.
    digest: Option<Variable>,
}

impl<'u, 'd, 'm> Generator<'u, 'd, 'm> {
    fn new(
        u: &'u mut Unstructured<'d>,
        config: &'u Config,
        flavour: &'u Flavour,
        module: &'m mut Module,
        id: FuncId,
        helpers: &'u [FuncId],
    ) -> Self {
        let b = FunctionBuilder::new(module, id);
        let (values, variables) = (Vec::new(), Vec::new());
        Generator {
            u,
            config,
            b,
            helpers,
            flavour,
            memory: None,
            more_shared: None,
            places: None,
            recursive: None,
            bulky: None,
            pointers: None,
            handed: Vec::new(),
            values,
            variables,
            digest: None,
        }
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
        self.values = vec![tid, ctaid, ntid, thread, x];
        if self.config.floats {
            self.values.extend([f, d]);
        }
        self.read_input(input)?;
        if self.config.together {
            self.together()?;
        }
        let (work, exit) = (self.b.create_block(), self.b.create_block());
        let inside = self.b.ins().icmp(IntCC::Ult, thread, n);
        self.b.ins().brif(inside, work, &[], exit, &[]);
        self.b.switch_to_block(exit);
        self.b.ins().ret(&[]);

        self.b.switch_to_block(work);
        let own = self.b.ins().index(out, thread, BYTES_PER_THREAD as i32);
        self.pointers = Some(self.make_pointers(own, input, tid, [x, thread])?);
        for _ in 0..self.u.int_in_range(2..=6)? {
            let ty = *self.u.choose(&self.flavour.types)?;
            let always = if ty.is_int() && self.u.ratio(1, 4)? {
                Some(ty.normalize(self.u.int_in_range(-2..=20)?))
            } else {
                None
            };
            let local = Local { variable: self.b.declare_var(ty), ty, always };
            self.define(local)?;
            self.variables.push(local);
        }
        let digest = self.b.declare_var(Type::I64);
        let zero = self.b.ins().iconst(Type::I64, 0);
        self.b.def_var(digest, zero);
        self.digest = Some(digest).filter(|_| self.flavour.shown > 0);
        // What stands here runs, whatever becomes of the graph.
        for _ in 0..self.u.int_in_range(1..=2)? {
            self.idiom()?;
        }
        if !self.helpers.is_empty() && self.u.ratio(1, 2)? {
            let known = self.values.len();
            match self.recursive {
                Some(function) if self.u.ratio(2, 3)? => self.call_of(function)?,
                _ => self.call()?,
            }
            self.keep(known)?;
        }
        if let Some(function) = self.bulky {
            let known = self.values.len();
            self.bulky(function)?;
            self.keep(known)?;
        }
        let fuel = self.b.declare_var(Type::I32);
        let amount = self.u.int_in_range(0..=self.config.fuel)?;
        let amount = self.b.ins().iconst(Type::I32, amount as i64);
        self.b.def_var(fuel, amount);
        self.graph(fuel)
    }

    /// Gives a variable its number, or any value.
    fn define(&mut self, local: Local) -> Result<()> {
        let value = match local.always {
            Some(number) => self.b.ins().iconst(local.ty, number),
            None => self.value(local.ty)?,
        };
        self.b.def_var(local.variable, value);
        Ok(())
    }

    /// The memory that the module's accesses reach, filled from two numbers that no compiler knows.
    fn make_pointers(
        &mut self,
        own: Value,
        input: Value,
        tid: Value,
        [x, thread]: [Value; 2],
    ) -> Result<Pointers> {
        let (slot, other_slot, cells, shared, other_shared) = (None, None, None, None, None);
        let mut pointers = Pointers { own, input, slot, other_slot, cells, shared, other_shared };
        let Some((_, scratch)) = self.memory else { return Ok(pointers) };
        let thread = self.b.ins().sext(Type::I64, thread);
        let reaches = |reach| self.flavour.menus.reaches.contains(&reach);
        let (slots, either) = (reaches(Reach::Slot) || reaches(Reach::Either), reaches(Reach::Either));
        if reaches(Reach::Cell) {
            pointers.cells = Some(self.make_cells([x, thread])?);
        }
        if slots {
            pointers.slot = Some(self.make_slot(8, [x, thread]));
            let base = self.b.global_addr(scratch);
            let shared = self.b.ins().index(base, tid, 8);
            self.b.ins().store(MemFlags::PLAIN, x, shared, 0);
            pointers.shared = Some(shared);
            if let Some(more) = self.more_shared {
                let base = self.b.global_addr(more);
                let shared = self.b.ins().index(base, tid, 8);
                self.b.ins().store(MemFlags::PLAIN, thread, shared, 0);
                pointers.other_shared = Some(shared);
            }
        }
        if either {
            pointers.other_slot = Some(self.make_slot(4, [thread, x]));
        }
        Ok(pointers)
    }

    /// A stack slot of so many words, each one of two numbers.
    fn make_slot(&mut self, words: u32, numbers: [Value; 2]) -> StackSlot {
        let slot = self.b.create_stack_slot(8 * words, 16);
        for n in 0..words as i32 {
            let at = self.b.ins().stack_addr(slot, 8 * n);
            self.b.ins().store(MemFlags::PLAIN, numbers[n as usize % 2], at, 0);
        }
        slot
    }

    fn instructions(&mut self) -> Result<()> {
        for _ in 0..self.u.int_in_range(0..=self.config.insts)? {
            if self.u.is_empty() {
                break;
            }
            match *self.u.choose(&self.flavour.menus.kinds)? {
                Kind::Regular => self.regular()?,
                Kind::Access if self.pointers.is_some() => self.access()?,
                Kind::Access if !self.handed.is_empty() => self.handed_access()?,
                Kind::Vector if self.config.vectors => self.vector()?,
                Kind::Aggregate if self.config.aggregates => self.aggregate()?,
                Kind::Block if self.config.memory => self.block()?,
                Kind::Call if !self.helpers.is_empty() => self.call()?,
                Kind::Idiom => self.idiom()?,
                Kind::Promised => self.promised()?,
                Kind::Array => self.array()?,
                Kind::Pattern => self.patterns()?,
                Kind::Algebra if self.config.floats => self.algebra()?,
                Kind::Table if self.config.ptx => self.table_derived()?,
                Kind::Access
                | Kind::Vector
                | Kind::Aggregate
                | Kind::Block
                | Kind::Call
                | Kind::Algebra
                | Kind::Table => self.regular()?,
            }
        }
        Ok(())
    }

    /// An operation whose shape and types the table says all about.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other operands have the type of the operation, and only conversions name another one"
    )]
    fn regular(&mut self) -> Result<()> {
        let op = match self.flavour.ops.as_slice() {
            [] => *self.u.choose(regular_ops(self.config.special))?,
            some => *self.u.choose(some)?,
        };
        let info = op.info();
        let types: Vec<Type> =
            self.flavour.types.iter().copied().filter(|ty| info.types.contains(*ty)).collect();
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
                    let each = t.with_element(one.element()).filter(|each| self.flavour.types.contains(each));
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
        if self.config.special && op.takes_float_mode() && (self.u.ratio(1, 4)? || op.is_approximate()) {
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
                let types: Vec<Type> = self.flavour.types.iter().copied().filter(fits).collect();
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
}

/// The operations whose shape and types the table says all about; approximations are among the special ones.
fn regular_ops(special: bool) -> &'static [Opcode] {
    let regular = |op: &Opcode| {
        use Shape::*;
        let known = matches!(op.info().shape, Unary | Binary | Ternary | Convert | IntCompare | FloatCompare);
        let pointers = matches!(op.info().types, TypeSet::Ptr) || matches!(op, Opcode::Inttoptr);
        known && !pointers
    };
    static OPS: OnceLock<[Vec<Opcode>; 2]> = OnceLock::new();
    let ops = OPS.get_or_init(|| {
        [false, true].map(|special| {
            let ops = Opcode::ALL.iter().copied();
            ops.filter(|op| regular(op) && (special || !op.is_approximate())).collect()
        })
    });
    &ops[usize::from(special)]
}

#[cfg(test)]
mod tests;
