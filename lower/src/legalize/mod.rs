//! Legalisation: what PTX does not have is written as what it has, before any pass runs and at every level.
//!
//! After it, values are `i1`, integers of 8 to 128 bits, floats of 16 bits and more, pointers, and vectors of a power of two of integers or floats;
//! on `i128` and on vectors nothing is computed, they are only moved, loaded, stored, put together and taken apart. So selection
//! and the passes have a small language to know, and what an operation is made of is optimised like any other code.
//!
//! | Type | is held as |
//! |---|---|
//! | an integer of an odd width | the next wider of `i8 i16 i32 i64 i128`, with zeros above its bits |
//! | `i1` vector | the integer of as many bits, element 0 the lowest |
//! | vector of pointers | vector of `i64` |
//! | a float of 8, 6 or 4 bits | `i8`, with zeros above its bits; vectors of them as vectors of `i8` |
//! | vector of a number of lanes that is not a power of two | the next wider one; what is in the other lanes is not said |
//! | a struct or array that a function returns | one of what its parts are held as |
//!
//! Everything is emitted by functions that take the type an operation has in the source and dispatch on it ([`Legalizer::binary`],
//! ...), so that an operation on a vector of `i128` is reduced step by step without a pass of its own for each step.

mod arithmetic;
mod atomic;
mod boundary;
mod control;
mod convert;
mod float;
mod helpers;
mod list;
mod memory;
mod narrow;
mod powers;
mod system;
mod vector;
mod warp;
mod wide;

pub(crate) use vector::{packed, sign_of_halves};
pub(crate) use wide::HALVES;

use crate::analysis::Cfg;
use cranelift_entity::SecondaryMap;
use helpers::Helper;
use smallvec::SmallVec;
use std::borrow::Cow;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::{
    Attr, Block, Class, Conversion, FuncId, FuncKind, Function, Ins, Inst, InstBuilder, InstData, IntCC,
    ListOp, Module, Opcode, Overflow, Scalar, Ternary, Type, Value, parallel,
};
use warpsmith_isa::Target;

/// Writes what PTX does not have as what it has. A module that has nothing to legalise is given back as it is; any other
/// names the target afterwards, since it has instructions of it.
pub fn legalize(module: Cow<'_, Module>, target: Target) -> Result<Cow<'_, Module>, Diagnostics> {
    let aliases = module.functions.values().any(|func| func.alias.is_some());
    if !aliases && !parallel::any(&module, needed) {
        return Ok(module);
    }
    let mut module = module.into_owned();
    module.target = Some(target);
    if aliases {
        module.follow_aliases();
    }
    let mut errors = Vec::new();
    let mut helpers = helpers::Helpers::default();
    let aggregates = boundary::changed(&mut module.types);
    // Helpers come behind what asks for them, and are legalised in their turn.
    let mut next = 0;
    while next < module.functions.len() {
        let id = FuncId::from_u32(next as u32);
        next += 1;
        let func = &module.functions[id];
        if !needed(func) && !func.ret.iter().any(|ty| aggregates.contains_key(ty)) {
            continue;
        }
        // The signatures of all functions change in the same way, so that a call needs no look at its callee.
        let empty = Function::new("", FuncKind::Func, Vec::new(), Vec::new());
        let mut func = std::mem::replace(&mut module.functions[id], empty);
        let mut legalizer = Legalizer::new(&mut func, target, &mut helpers, &mut module);
        legalizer.run(&aggregates);
        errors.append(&mut legalizer.errors);
        module.functions[id] = func;
    }
    if errors.is_empty() { Ok(Cow::Owned(module)) } else { Err(module.diagnostics(errors)) }
}

/// True if a type is not left as it is, or if what computes with it is not.
fn is_wide_or_odd(ty: Type) -> bool {
    ty.is_vector() || ty.is_odd() || ty == Type::I128 || ty.element().is_narrow_float()
}

/// True if a function has anything to legalise.
fn needed(func: &Function) -> bool {
    let types = func.params.iter().map(|param| param.ty).chain(func.ret.iter().copied());
    types.chain(func.dfg.values().map(|value| func.dfg.ty(value))).any(is_wide_or_odd)
        || func
            .layout
            .blocks()
            .flat_map(|block| func.layout.insts(block))
            .any(|inst| instruction_needs(func, inst))
}

/// True if an instruction is rewritten whatever its types are.
fn instruction_needs(func: &Function, inst: Inst) -> bool {
    let data = &func.dfg[inst];
    let is_bool = |value: Value| func.dfg.ty(value) == Type::I1;
    matches!(data, InstData::List { .. })
        || is_expanded(data.opcode())
        || matches!(data, InstData::Store { args: [value, _], .. } if is_bool(*value))
        || matches!(data, InstData::Load { .. }) && func.dfg.first_result(inst).is_some_and(is_bool)
}

/// True for regular operations that selection has no rule for on any type.
fn is_expanded(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::Bswap
            | Opcode::UaddSat
            | Opcode::SaddSat
            | Opcode::UsubSat
            | Opcode::SsubSat
            | Opcode::UshlSat
            | Opcode::SshlSat
            | Opcode::Fshl
            | Opcode::Fshr
            | Opcode::Ubfx
            | Opcode::Sbfx
            | Opcode::Fminimum
            | Opcode::Fmaximum
            | Opcode::Frem
            | Opcode::Fround
    )
}

/// The type that values of a type are held in.
fn held(ty: Type) -> Type {
    if ty.is_odd() {
        return container(ty);
    }
    if narrow::is_small(ty) {
        return narrow::held_as_bytes(ty);
    }
    if !ty.is_vector() {
        return ty;
    }
    if ty.element() == Scalar::I1 {
        return Type::int(ty.lanes()).map_or(ty, container);
    }
    let element = if ty.element_type().is_ptr() { Scalar::I64 } else { ty.element() };
    Type::vector(element, ty.lanes().next_power_of_two()).unwrap_or(ty)
}

/// The integer of 8 to 128 bits that holds an integer.
fn container(ty: Type) -> Type {
    match ty.bits() {
        0..=8 => Type::I8,
        9..=16 => Type::I16,
        17..=32 => Type::I32,
        33..=64 => Type::I64,
        _ => Type::I128,
    }
}

type Values = SmallVec<[Value; 4]>;

struct Legalizer<'a> {
    func: &'a mut Function,
    target: Target,
    /// What new instructions are put in front of.
    at: Inst,
    /// The types that values have in the source, where they are not held as such.
    types: SecondaryMap<Value, Option<Type>>,
    /// The elements of vectors, in their own types, and the halves of `i128`.
    parts: FxHashMap<Value, Values>,
    /// Products that may be contracted: their factors.
    products: FxHashMap<Value, [Value; 2]>,
    /// Of what each approximate root was taken.
    roots: FxHashMap<Value, Value>,
    helpers: &'a mut helpers::Helpers,
    module: &'a mut Module,
    errors: Vec<Diagnostic>,
}

impl<'a> Legalizer<'a> {
    fn new(
        func: &'a mut Function,
        target: Target,
        helpers: &'a mut helpers::Helpers,
        module: &'a mut Module,
    ) -> Self {
        Legalizer {
            func,
            target,
            at: Inst::from_u32(0),
            types: SecondaryMap::new(),
            parts: FxHashMap::default(),
            products: FxHashMap::default(),
            roots: FxHashMap::default(),
            helpers,
            module,
            errors: Vec::new(),
        }
    }

    fn run(&mut self, aggregates: &FxHashMap<Type, Type>) {
        let held = |ty: Type| aggregates.get(&ty).copied().unwrap_or_else(|| held(ty));
        for ty in self.func.params.iter_mut().map(|param| &mut param.ty).chain(&mut self.func.ret) {
            *ty = held(*ty);
        }
        let kernel = self.func.kind == FuncKind::Kernel;
        for value in self.func.dfg.values() {
            let ty = self.func.dfg.ty(value);
            let held = held(ty);
            if held != ty {
                self.types[value] = Some(ty);
                self.func.dfg.set_ty(value, held);
            }
        }
        let Some(entry) = self.func.layout.entry() else { return };
        self.skip_unreachable();
        self.drop_unreachable();
        // What clears parameters stands in front of it, and is as it is to be.
        let first = self.func.layout.first_inst(entry);
        if let (true, Some(first)) = (kernel, first) {
            self.at = first;
            self.clear_parameters();
        }
        let cfg = Cfg::compute(self.func);
        for block in cfg.reverse_postorder().to_vec() {
            let mut next = if block == entry { first } else { self.func.layout.first_inst(block) };
            while let Some(inst) = next {
                next = self.func.layout.next_inst(inst);
                self.at = inst;
                self.inst(inst);
            }
        }
        self.func.dfg.resolve_aliases();
    }

    /// Takes out what nothing reaches: its values may be defined in any order, or by themselves.
    fn drop_unreachable(&mut self) {
        let cfg = Cfg::compute(self.func);
        let mut reached: SecondaryMap<Block, bool> = SecondaryMap::new();
        cfg.reverse_postorder().iter().for_each(|block| reached[*block] = true);
        for block in self.func.layout.blocks().filter(|block| !reached[*block]).collect::<Vec<_>>() {
            for inst in self.func.layout.insts(block).collect::<Vec<_>>() {
                self.func.layout.remove_inst(inst);
            }
            self.func.layout.remove_block(block);
        }
    }

    /// What the host has written above the bits of a parameter is not its value's.
    fn clear_parameters(&mut self) {
        for param in self.func.param_values().to_vec() {
            let ty = self.ty(param);
            let bits = match (ty.is_odd(), ty.is_vector() && ty.element() == Scalar::I1) {
                (true, _) => ty.bits(),
                (_, true) => ty.lanes(),
                _ => continue,
            };
            let uses: Vec<Inst> = (self.func.layout.blocks())
                .flat_map(|block| self.func.layout.insts(block))
                .filter(|inst| self.func.dfg.uses(*inst).any(|value| value == param))
                .collect();
            let held = self.func.dfg.ty(param);
            let cleared = self.masked(held, bits, param);
            self.types[cleared] = Some(ty);
            for inst in uses {
                self.func.dfg.map_uses(inst, |value| if value == param { cleared } else { value });
            }
        }
    }

    // What is emitted as it stands.

    fn ins(&mut self) -> Ins<'_> {
        self.func.before(self.at)
    }

    /// The type a value has in the source.
    fn ty(&self, value: Value) -> Type {
        self.types[value].unwrap_or_else(|| self.func.dfg.ty(value))
    }

    fn int(&mut self, ty: Type, value: i64) -> Value {
        self.ins().iconst(ty, value)
    }

    /// A constant of any integer type, in the type that holds it.
    fn bits(&mut self, ty: Type, bits: u128) -> Value {
        let held = held(ty);
        let bits = bits & (u128::MAX >> (128 - ty.bits()));
        if held == Type::I128 {
            let (low, high) = (self.int(Type::I64, bits as i64), self.int(Type::I64, (bits >> 64) as i64));
            return self.join(low, high);
        }
        self.int(held, bits as i64)
    }

    fn raw1(&mut self, op: Opcode, x: Value) -> Value {
        self.ins().regular(InstData::Unary { op, arg: x }, None)
    }

    fn raw_convert(&mut self, op: Opcode, to: Type, x: Value) -> Value {
        self.ins().regular(InstData::Unary { op, arg: x }, Some(to))
    }

    fn raw2(&mut self, op: Opcode, x: Value, y: Value) -> Value {
        self.ins().regular(InstData::Binary { op, args: [x, y] }, None)
    }

    fn raw3(&mut self, op: Opcode, args: [Value; 3]) -> Value {
        self.ins().regular(InstData::Ternary { op, args }, None)
    }

    fn raw_icmp(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        self.ins().icmp(cond, x, y)
    }

    /// Runs `make` with instructions being put right behind the definition of a value.
    fn behind<T>(&mut self, value: Value, make: impl FnOnce(&mut Self) -> T) -> T {
        let dfg = &self.func.dfg;
        let next = match dfg.def(value) {
            warpsmith_ir::ValueDef::Result(inst, _) => self.func.layout.next_inst(inst),
            warpsmith_ir::ValueDef::Param(block, _) => self.func.layout.first_inst(block),
            warpsmith_ir::ValueDef::Alias(_) | warpsmith_ir::ValueDef::Detached => None,
        };
        let at = self.at;
        self.at = next.unwrap_or(at);
        let made = make(self);
        self.at = at;
        made
    }

    /// Makes every use of a result use another value.
    fn replace(&mut self, result: Value, by: Value) {
        crate::passes::take_over_name(self.func, result, by);
        if self.types[by].is_none() {
            self.types[by] = self.types[result];
        }
        self.func.dfg.replace_value(result, by);
    }

    /// Makes the results of an instruction be other values, and takes it out.
    fn replace_all(&mut self, inst: Inst, by: &[Value]) {
        let results: Values = self.func.dfg.results(inst).into_iter().collect();
        for (result, by) in results.into_iter().zip(by) {
            self.replace(result, *by);
        }
        self.func.layout.remove_inst(inst);
    }

    fn unsupported(&mut self, inst: Inst, what: impl Into<String>, note: impl Into<String>) {
        let span = self.func.operation_span(inst);
        let origin = self.module.origin(self.func, inst);
        self.errors.push(Diagnostic::error("L0002", span, what).note(note).origin(origin));
    }

    /// An operation in a shape, or with an attribute, that it does not have. The verifier refuses the known ones.
    #[cold]
    fn no_rule(&mut self, inst: Inst, op: Opcode) {
        self.unsupported(
            inst,
            format!("`{op}` of such operands is not compiled"),
            "legalisation has no rule for it",
        );
    }

    fn has_sm(&self, sm: u16) -> bool {
        self.target.sm >= sm
    }

    // One instruction.

    fn inst(&mut self, inst: Inst) {
        self.func.dfg.resolve_uses(inst);
        let args: Values = self.func.dfg.args(inst).iter().copied().collect();
        let types: SmallVec<[Type; 4]> = args.iter().map(|arg| self.ty(*arg)).collect();
        let to = self.func.dfg.first_result(inst).map_or(Type::INVALID, |result| self.ty(result));
        let concerned = types.iter().chain([&to]).any(|ty| is_wide_or_odd(*ty));
        if !concerned && !instruction_needs(self.func, inst) {
            return;
        }
        let data = self.func.dfg[inst].clone();
        let op = data.opcode();
        let made = match data {
            InstData::IntConst { value } => self.bits(to, value as i128 as u128),
            InstData::FloatConst { bits } if narrow::is_small(to) => self.int(Type::I8, bits as i64),
            InstData::Unary { .. } => match op.class() {
                Class::Conversion(conversion) => match self.convert(conversion, types[0], to, args[0]) {
                    Some(made) => made,
                    None => return,
                },
                Class::IntUnary(_) | Class::FloatUnary(_) | Class::PointerUnary(_) => {
                    self.unary(op, to, args[0])
                }
                Class::IntBinary(_)
                | Class::FloatBinary(_)
                | Class::PointerBinary(_)
                | Class::Ternary(_)
                | Class::Overflow(_)
                | Class::List(_)
                | Class::Alone => return self.no_rule(inst, op),
            },
            InstData::Binary { .. } => match op.class() {
                Class::IntBinary(_) | Class::FloatBinary(_) => self.binary(op, to, args[0], args[1]),
                Class::PointerBinary(_) => return,
                Class::IntUnary(_)
                | Class::FloatUnary(_)
                | Class::PointerUnary(_)
                | Class::Ternary(_)
                | Class::Conversion(_)
                | Class::Overflow(_)
                | Class::List(_)
                | Class::Alone => return self.no_rule(inst, op),
            },
            InstData::Ternary { .. } => {
                let Class::Ternary(op) = op.class() else { return self.no_rule(inst, op) };
                self.ternary(op, to, [args[0], args[1], args[2]])
            }
            InstData::IntCompare { cond, .. } => self.icmp(cond, types[0], args[0], args[1]),
            InstData::FloatCompare { cond, .. } => self.fcmp(cond, types[0], args[0], args[1]),
            InstData::Load { flags, offset, ptr } => match self.load(to, flags, offset, ptr) {
                Some(made) => made,
                None => return,
            },
            InstData::Store { flags, offset, args: [value, ptr] } => {
                if self.store(types[0], flags, offset, value, ptr) {
                    self.func.layout.remove_inst(inst);
                }
                return;
            }
            InstData::Vec { .. } => self.build(to, &args),
            InstData::Extract { lane, arg } => self.elements(arg)[usize::from(lane)],
            InstData::Insert { lane, .. } => {
                let mut elements = self.elements(args[0]);
                elements[usize::from(lane)] = args[1];
                self.build(to, &elements)
            }
            InstData::Zero => match to.is_vector() {
                true => {
                    let zero = self.zero(to.element_type());
                    self.build(to, &Values::from_elem(zero, to.lanes() as usize))
                }
                false => self.zero(to),
            },
            InstData::List { op, attr: Attr::Float(mode), .. } => self.moded(op, mode, types[0], to, &args),
            InstData::List { op: Opcode::Iconst, attr: Attr::Wide(bits), .. } => self.bits(to, *bits),
            InstData::List { op, attr, .. } => {
                if let Class::Overflow(op) = op.class() {
                    return self.overflowing_lanes(inst, op, to, [args[0], args[1]]);
                }
                let Class::List(op) = op.class() else { return self.no_rule(inst, op) };
                return self.list(inst, op, &attr, &types, to, &args);
            }
            // The types of their operands and results have changed with everything else's.
            InstData::FloatConst { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Sreg { .. }
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. }
            | InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Return { .. }
            | InstData::Trap => return,
            InstData::Switch { table, .. } => return self.switch(inst, types[0], table),
        };
        self.replace_all(inst, &[made]);
    }

    fn ternary(&mut self, op: Ternary, ty: Type, args: [Value; 3]) -> Value {
        if op != Ternary::Select && op != Ternary::Fma && ty.is_vector() {
            let [a, b, c] = args.map(|arg| self.spread(ty, arg));
            let made: Values = (0..ty.lanes() as usize)
                .map(|n| self.ternary(op, ty.element_type(), [a[n], b[n], c[n]]))
                .collect();
            return self.build(ty, &made);
        }
        match op {
            Ternary::Select => self.select(ty, args),
            Ternary::Fma => self.fma(ty, args),
            Ternary::Fshl => self.funnel(true, ty, args),
            Ternary::Fshr => self.funnel(false, ty, args),
            Ternary::Ubfx => self.bit_field_extract(false, ty, args),
            Ternary::Sbfx => self.bit_field_extract(true, ty, args),
        }
    }

    /// A function of the module that computes what would be too long inline.
    fn call_helper(&mut self, helper: Helper, args: &[Value]) -> Value {
        let id = self.helpers.id(helper, self.module);
        let returns = self.module.functions[id].ret.clone();
        self.ins().call(id, &returns, args).first()
    }
}
