//! One function: its values, its blocks, its instructions.

use super::values::{self, Regs};
use super::{Decoder, param_layout};
use crate::engine::{
    Access, Actual, Address, Callee, CandidatesId, FuncId, FunctionBuilder, Label, Reg, Slot, Special,
    SymbolId, Width,
};
use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{
    self as ir, Attr, Block, FuncKind, GlobalId, Inst, InstData, MemFlags, Opcode, StackSlot, Type, Value,
    meaning,
};
use warpsmith_isa::StateSpace;
use warpsmith_isa::memory::Layout;

/// A function while it is decoded.
/// What calls through an address reach, by the types that they take and return.
pub(super) type ReachedBySignature = FxHashMap<(Vec<Type>, Vec<Type>), Reached>;

/// The functions that calls through an address reach.
#[derive(Clone)]
pub(super) struct Reached {
    candidates: CandidatesId,
    /// The size and alignment of each parameter that all of them take by value.
    by_value: Arc<[Option<(u32, u32)>]>,
}

pub(super) struct Body<'m, 'p> {
    pub(super) function: &'m ir::Function,
    pub(super) body: FunctionBuilder<'p>,
    functions: &'p SecondaryMap<ir::FuncId, Option<FuncId>>,
    reached: &'p mut ReachedBySignature,
    varargs: u32,
    pub(super) globals: &'p SecondaryMap<GlobalId, Option<SymbolId>>,
    pub(super) module: &'m ir::Module,
    values: SecondaryMap<Value, Option<Regs>>,
    labels: SecondaryMap<Block, Option<Label>>,
    slots: SecondaryMap<StackSlot, i64>,
    /// The carry flag, if an instruction uses it.
    pub(super) carry: Option<Reg>,
}

impl Decoder<'_> {
    pub(super) fn define(&mut self, id: ir::FuncId, function: &ir::Function) {
        let Some(engine_id) = self.functions[id] else { return };
        let mut body = Body {
            function,
            body: self.program.body(engine_id),
            functions: &self.functions,
            reached: &mut self.reached,
            varargs: self.varargs,
            globals: &self.globals,
            module: self.module,
            values: SecondaryMap::with_default(None),
            labels: SecondaryMap::with_default(None),
            slots: SecondaryMap::with_default(0),
            carry: None,
        };
        body.entry();
        for block in function.layout.blocks() {
            let label = body.label(block);
            body.body.bind(label);
            for inst in function.layout.insts(block) {
                body.position(inst);
                body.inst(inst);
            }
        }
        body.body.finish();
    }
}

impl<'m> Body<'m, '_> {
    /// Takes the parameters and the stack slots.
    fn entry(&mut self) {
        for (slot, data) in self.function.stack_slots.iter() {
            self.slots[slot] = self.body.local(data.size.into(), data.align.into());
        }
        let params = self.function.param_values();
        if self.function.kind == FuncKind::Func {
            let mut next = 0;
            for param in params {
                for r in self.regs(*param) {
                    match self.body.param(next) {
                        Slot::Reg(formal) => self.body.copy(r, formal),
                        // What is passed by value is in the frame.
                        Slot::Stack { offset, .. } => self.body.stack_address(r, offset.into(), false),
                    }
                    next += 1;
                }
            }
            return;
        }
        let mut layout = Layout::default();
        for (param, value) in self.function.params.iter().zip(params) {
            let (bytes, align) = param_layout(&self.module.types, param);
            let align = align.max(1).next_power_of_two();
            let offset = u32::try_from(layout.place(bytes.into(), align.into())).unwrap_or(u32::MAX);
            let dst = self.regs(*value);
            if param.byval.is_some() {
                let address = self.body.constant(offset.into(), Width::W64);
                self.body.copy(dst[0], address);
            } else if param.ty.is_aggregate() || param.ty.element_type() == Type::I1 {
                // Conditions are bytes and bits in memory, which their registers are not.
                let base = self.body.constant(offset.into(), Width::W64);
                self.load_at(param.ty, MemFlags::PLAIN, (StateSpace::Param, base, 0), &dst);
            } else {
                for (i, r) in dst.iter().enumerate() {
                    let size = (r.width().bits() / 8).min(bytes);
                    let at = u64::from(offset) + i as u64 * u64::from(size);
                    let access = Access::unsigned(StateSpace::Param, size as u8);
                    self.body.load(access, &[*r], Address::Absolute(at));
                }
                if param.ty.is_odd()
                    && let Some(keep) = meaning::keep(param.ty)
                {
                    self.body.compute(&keep, &[Some(dst[0])], &[dst[0]], None);
                }
            }
        }
    }

    /// Says where the next operations come from.
    fn position(&mut self, inst: Inst) {
        let function = self.function;
        let span = function.spans[inst];
        let line = match self.module.source.is_none() || span.is_none() {
            // What was built has only the lines of the user's source.
            true => function.inst_locs[inst].expand().map_or(0, |loc| function.locs[loc].line),
            false => self.module.source.position(span.start).line,
        };
        self.body.span(span.start..span.end);
        if let InstData::Ptx { data, .. } = &function.dfg[inst] {
            let operation = &function.dfg.ptx[*data];
            self.body.at(line, &operation.mnemonic().to_string());
            if let Some(instruction) = operation.instruction() {
                self.body.instruction(*instruction);
            }
        } else {
            self.body.at(line, function.dfg.opcode(inst).name());
        }
    }

    pub(super) fn label(&mut self, block: Block) -> Label {
        if let Some(label) = self.labels[block] {
            return label;
        }
        let label = self.body.label();
        self.labels[block] = Some(label);
        label
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.dfg.ty(self.function.dfg.resolve(value))
    }

    /// The registers of a value: constants for constants, else registers of its own, made when they are first asked for.
    pub(super) fn regs(&mut self, value: Value) -> Regs {
        let value = self.function.dfg.resolve(value);
        if let Some(regs) = &self.values[value] {
            return regs.clone();
        }
        let ty = self.function.dfg.ty(value);
        let regs: Regs = match (self.function.dfg.def_data(value), values::shape(&self.module.types, ty)) {
            (_, Err(message)) => {
                self.body.error(message);
                smallvec![Reg::ZERO]
            }
            (Some(InstData::IntConst { value }), Ok(shape)) => {
                let bits = *value as i128 as u128 & u128::MAX >> (128 - ty.bits());
                smallvec![self.body.constant(bits, shape[0])]
            }
            (Some(InstData::FloatConst { bits }), Ok(shape)) => {
                smallvec![self.body.constant((*bits).into(), shape[0])]
            }
            (Some(InstData::List { attr: Attr::Wide(bits), .. }), Ok(shape)) => {
                smallvec![self.body.constant(**bits, shape[0])]
            }
            (_, Ok(shape)) => shape.into_iter().map(|width| self.body.reg(width)).collect(),
        };
        self.values[value] = Some(regs.clone());
        regs
    }

    /// The register of a value that has one.
    pub(super) fn one(&mut self, value: Value) -> Reg {
        self.regs(value)[0]
    }

    /// The registers of an instruction's result.
    pub(super) fn result(&mut self, inst: Inst) -> (Type, Regs) {
        match self.function.dfg.first_result(inst) {
            Some(value) => (self.ty(value), self.regs(value)),
            None => (Type::INVALID, smallvec![Reg::ZERO]),
        }
    }

    fn inst(&mut self, inst: Inst) {
        let function: &'m ir::Function = self.function;
        let dfg = &function.dfg;
        match &dfg[inst] {
            InstData::IntConst { .. } | InstData::FloatConst { .. } => {}
            InstData::Unary { op, arg } => self.unary(inst, *op, *arg),
            InstData::Ternary { op: Opcode::Select, args: [cond, a, b] } if !self.ty(*cond).is_vector() => {
                let (_, dst) = self.result(inst);
                let (cond, a, b) = (self.one(*cond), self.regs(*a), self.regs(*b));
                for ((d, a), b) in dst.iter().zip(&a).zip(&b) {
                    self.body.lanes(meaning::select(d.width()), &[*d], &[cond, *a, *b]);
                }
            }
            InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Index { .. } => self.compute(inst),
            InstData::Load { flags, offset, ptr } => {
                let (ty, dst) = self.result(inst);
                let place = self.place(*ptr, *offset);
                self.load_at(ty, *flags, place, &dst);
            }
            InstData::Store { flags, offset, args: [value, ptr] } => {
                let (ty, src) = (self.ty(*value), self.regs(*value));
                let place = self.place(*ptr, *offset);
                self.store_at(ty, *flags, place, &src);
            }
            InstData::StackAddr { slot, offset } => {
                let (_, dst) = self.result(inst);
                self.body.stack_address(dst[0], self.slots[*slot] + i64::from(*offset), false);
            }
            InstData::GlobalAddr { global, offset } => {
                let (_, dst) = self.result(inst);
                let Some(symbol) = self.globals[*global] else { return };
                let address = self.body.program().address(symbol, i64::from(*offset), false);
                self.body.copy(dst[0], address);
            }
            InstData::FuncAddr { func } => {
                let (_, dst) = self.result(inst);
                match self.function_address(*func) {
                    Some(address) => self.body.copy(dst[0], address),
                    None => self.undefined(*func),
                }
            }
            InstData::Vec { args } => self.build(inst, args.as_slice(&dfg.pool)),
            InstData::Extract { lane, arg } => {
                let (_, dst) = self.result(inst);
                let element = self.element(*arg, u32::from(*lane));
                self.body.copy(dst[0], element);
            }
            InstData::List { op, attr, args } => self.list(inst, *op, attr, args.as_slice(&dfg.pool)),
            InstData::Insert { lane, args: [whole, part] } => {
                let (ty, dst) = self.result(inst);
                let (whole, part) = (self.regs(*whole), self.one(*part));
                let (at, shift, alone) = values::element(ty, u32::from(*lane));
                for (i, d) in dst.iter().enumerate() {
                    let source = match i == at {
                        false => whole[i],
                        true if alone => part,
                        true => values::insert_bits(
                            &mut self.body,
                            whole[i],
                            part,
                            shift,
                            values::element_mask(ty),
                        ),
                    };
                    self.body.copy(*d, source);
                }
            }
            InstData::Zero => {
                let (_, dst) = self.result(inst);
                for r in dst {
                    let zero = self.body.constant(0, r.width());
                    self.body.copy(r, zero);
                }
            }
            InstData::Aggregate { args } => {
                let (_, dst) = self.result(inst);
                let parts: Vec<Reg> =
                    args.as_slice(&dfg.pool).iter().flat_map(|&arg| self.regs(arg)).collect();
                dst.iter().zip(parts).for_each(|(d, part)| self.body.copy(*d, part));
            }
            InstData::ExtractValue { path, arg } => {
                let (_, dst) = self.result(inst);
                let (at, whole) = (self.first_register(*arg, &dfg.paths[*path]), self.regs(*arg));
                dst.iter().zip(&whole[at..]).for_each(|(d, part)| self.body.copy(*d, *part));
            }
            InstData::InsertValue { path, args: [whole, part] } => {
                let (_, dst) = self.result(inst);
                let at = self.first_register(*whole, &dfg.paths[*path]);
                let (whole, part) = (self.regs(*whole), self.regs(*part));
                for (i, (d, old)) in dst.iter().zip(&whole).enumerate() {
                    let new = i.checked_sub(at).and_then(|i| part.get(i));
                    self.body.copy(*d, *new.unwrap_or(old));
                }
            }
            &InstData::MemBlock { op, flags, source, args } => self.mem_block(op, flags, source, args),
            InstData::Sreg { reg } => {
                let (_, dst) = self.result(inst);
                match Special::from_name(&reg.to_string()) {
                    Some(special) => self.body.special(dst[0], special),
                    None => self.body.error(format!("special register %{reg} has no value here")),
                }
            }
            InstData::Call { callee, args } => self.call(inst, *callee, args.as_slice(&dfg.pool)),
            InstData::CallIndirect { args } => self.call_indirect(inst, args.as_slice(&dfg.pool)),
            InstData::Ptx { data, args } => {
                let args = args.as_slice(&dfg.pool);
                self.table_operation(inst, &dfg.ptx[*data], args);
            }
            InstData::Jump { dest } => self.go_to(dest),
            InstData::Brif { cond, dests } => self.branch(*cond, dests),
            InstData::Switch { arg, table } => {
                let table = &dfg.jump_tables[*table];
                self.switch(*arg, &table.default, &table.cases);
            }
            InstData::Return { args } => {
                let mut next = 0;
                for value in args.as_slice(&dfg.pool) {
                    for r in self.regs(*value) {
                        if let Slot::Reg(result) = self.body.result(next) {
                            self.body.copy(result, r);
                        }
                        next += 1;
                    }
                }
                self.body.ret();
            }
            InstData::Trap => self.body.trap(),
        }
    }

    /// The position of the register that begins a part of a struct or array.
    fn first_register(&self, whole: Value, path: &[u32]) -> usize {
        let types = &self.module.types;
        let ty = self.ty(whole);
        let Ok(place) = types.at_path(ty, path) else { return 0 };
        let before = types.parts_of(ty).into_iter().take(place.part as usize);
        before.map(|(part, _)| values::shape(types, part).map_or(0, |shape| shape.len())).sum()
    }

    /// Emits an operation that computes its result from its operands, or says that it has no meaning.
    fn compute(&mut self, inst: Inst) {
        let (to, dst) = self.result(inst);
        if to.is_vector() {
            return self.compute_lanes(inst, &[(to, dst)]);
        }
        let args = self.function.dfg.args(inst);
        let types: SmallVec<[Type; 3]> = args.iter().map(|arg| self.ty(*arg)).collect();
        let src: SmallVec<[Reg; 4]> = args.iter().map(|arg| self.one(*arg)).collect();
        self.apply(inst, &types, to, &[dst[0]], &src);
    }

    /// Emits the operation of an instruction on single registers.
    pub(super) fn apply(&mut self, inst: Inst, types: &[Type], to: Type, dst: &[Reg], src: &[Reg]) {
        let data = &self.function.dfg[inst];
        match meaning::plan(data, types, to) {
            Some(plan) => {
                let dst: SmallVec<[Option<Reg>; 2]> = dst.iter().map(|d| Some(*d)).collect();
                self.body.compute(&plan, &dst, src, None);
            }
            None => {
                let from = types.first().copied().unwrap_or(Type::INVALID);
                let op = data.opcode();
                self.body.error(if from == to {
                    format!("{op} of {from} has no meaning")
                } else {
                    format!("{op} from {from} to {to} has no meaning")
                });
            }
        }
    }

    fn unary(&mut self, inst: Inst, op: Opcode, arg: Value) {
        let (to, dst) = self.result(inst);
        let (from, src) = (self.ty(arg), self.regs(arg));
        // These know of values in several registers, and of where state spaces lie.
        if op == Opcode::Addrspacecast {
            self.cast_space(from, to, dst[0], src[0]);
        } else if op == Opcode::Bitcast && values::same_registers(from, to) {
            dst.iter().zip(&src).for_each(|(d, s)| self.body.copy(*d, *s));
        } else if op == Opcode::Bitcast {
            let bools = |ty: Type| ty.element_type() == Type::I1;
            let words = match bools(from) {
                true => {
                    let whole = self.pack_bools(&src, Width::for_bits(from.bits()));
                    values::to_words(&mut self.body, &[whole])
                }
                false => values::to_words(&mut self.body, &src),
            };
            if bools(to) {
                let whole = self.body.reg(Width::for_bits(to.bits()));
                values::from_words(&mut self.body, &[whole], &words);
                self.unpack_bools(&dst, whole);
            } else {
                values::from_words(&mut self.body, &dst, &words);
            }
        } else if op == Opcode::Splat {
            let elements: SmallVec<[Reg; 8]> = SmallVec::from_elem(src[0], to.lanes() as usize);
            self.join(to, &dst, &elements);
        } else {
            self.compute(inst);
        }
    }

    /// `vec`
    fn build(&mut self, inst: Inst, args: &[Value]) {
        let (ty, dst) = self.result(inst);
        let elements: SmallVec<[Reg; 8]> = args.iter().map(|arg| self.one(*arg)).collect();
        self.join(ty, &dst, &elements);
    }

    fn call(&mut self, inst: Inst, callee: ir::FuncId, args: &[Value]) {
        let Some(target) = self.functions[callee] else { return self.undefined(callee) };
        let params: &'m [ir::Param] = &self.module.functions[callee].params;
        let mut actuals = Vec::with_capacity(args.len());
        for (param, &arg) in params.iter().zip(args) {
            match param.byval {
                Some((_, align)) if param.attrs.varargs => {
                    let size = self.varargs;
                    actuals.push(self.copied(arg, size, align));
                }
                Some((size, align)) => actuals.push(self.copied(arg, size, align)),
                None => actuals.extend(self.regs(arg).into_iter().map(Slot::Reg)),
            }
        }
        let results = self.result_slots(inst);
        self.body.call(Callee::Direct(target), &actuals, &results);
    }

    /// Reaches every function of the module that takes and returns such values.
    fn call_indirect(&mut self, inst: Inst, args: &[Value]) {
        let Some((&callee, args)) = args.split_first() else { return };
        let function = self.function;
        let taken: Vec<Type> = args.iter().map(|&arg| self.ty(arg)).collect();
        let given: Vec<Type> = function.dfg.results(inst).into_iter().map(|result| self.ty(result)).collect();
        let signature = (taken, given);
        let reached = match self.reached.get(&signature) {
            Some(known) => Some(known.clone()),
            None => self.reached_by(&signature.0, &signature.1),
        };
        let Some(reached) = reached else { return };
        let mut actuals: Vec<Actual> = Vec::with_capacity(args.len());
        for (&arg, &place) in args.iter().zip(&*reached.by_value) {
            match place {
                Some((size, align)) => actuals.push(self.copied(arg, size, align)),
                None => actuals.extend(self.regs(arg).into_iter().map(Slot::Reg)),
            }
        }
        let results = self.result_slots(inst);
        let callee = self.one(callee);
        self.body.call(Callee::Indirect(callee, reached.candidates), &actuals, &results);
        self.reached.insert(signature, reached);
    }

    /// The functions that a call through an address may reach, by the types of its arguments and results. `None` if they differ in what they take by value.
    fn reached_by(&mut self, taken: &[Type], given: &[Type]) -> Option<Reached> {
        let types = &self.module.types;
        // What is passed by value is given as a value of that size.
        let takes = |(param, &ty): (&ir::Param, &Type)| match param.byval {
            Some((size, align)) => {
                ty.is_aggregate() && types.size(ty) == u64::from(size) && types.align(ty) <= align
            }
            None => param.ty == ty,
        };
        let fits = |f: &ir::Function| {
            f.kind == FuncKind::Func
                && f.params.len() == taken.len()
                && f.params.iter().zip(taken).all(takes)
                && f.ret == given
        };
        let module = self.module;
        let fitting: Vec<(ir::FuncId, &ir::Function)> =
            module.functions.iter().filter(|(_, f)| !f.is_declaration() && fits(f)).collect();
        let by_value = |f: &ir::Function| -> Vec<Option<(u32, u32)>> {
            f.params.iter().map(|param| param.byval).collect()
        };
        let places = fitting.first().map_or(vec![None; taken.len()], |(_, f)| by_value(f));
        if let Some((_, other)) = fitting.iter().find(|(_, f)| by_value(f) != places) {
            let first = &fitting[0].1.name;
            let message = format!(
                "a call through an address could reach `@{first}` and `@{}`, one of which takes as `byval` what is a value to the other",
                other.name
            );
            self.body.error(message);
            return None;
        }
        let functions = fitting.into_iter().filter_map(|(id, _)| self.functions[id]).collect();
        Some(Reached { candidates: self.body.candidates(functions), by_value: places.into() })
    }

    fn result_slots(&mut self, inst: Inst) -> Vec<Actual> {
        let results = self.function.dfg.results(inst);
        results.into_iter().flat_map(|result| self.regs(result)).map(Slot::Reg).collect()
    }

    /// A copy of what is passed by value, in the frame of the caller.
    fn copied(&mut self, from: Value, size: u32, align: u32) -> Actual {
        let to = self.body.local(size.into(), align.into());
        let ty = self.ty(from);
        if ty.is_aggregate() {
            let (address, parts) = (self.body.reg(Width::W64), self.regs(from));
            self.body.stack_address(address, to, false);
            self.store_at(ty, MemFlags::PLAIN, (StateSpace::Local, address, 0), &parts);
        } else {
            self.copy_to_stack(from, to, size, align);
        }
        Slot::Stack { offset: to as u32, bytes: size }
    }

    pub(super) fn function_address(&mut self, func: ir::FuncId) -> Option<Reg> {
        let id = self.functions[func]?;
        Some(self.body.program().function_address(id))
    }

    fn undefined(&mut self, func: ir::FuncId) {
        let name = &self.module.functions[func].name;
        self.body.error(format!("function `@{name}` cannot be called"));
    }
}
