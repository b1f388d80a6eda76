//! The values of one function.

use super::Boundary;
use super::memory::{Base, Form, Memory, flags_for};
use crate::analysis::Cfg;
use crate::passes::{replace_with, take_over_name, zero};
use cranelift_entity::EntitySet;
use cranelift_entity::packed_option::PackedOption;
use warpsmith_ir::debug::{Binding, Piece, Storage};
use warpsmith_ir::entity::{EntityRef, PrimaryMap, SecondaryMap};
use warpsmith_ir::{
    BindingId, Block, BlockCall, FuncId, FuncKind, Function, Inst, InstBuilder, InstData, MemFlags, Opcode,
    StackSlot, Type, TypeTable, Value, ValueList,
};
use warpsmith_isa::StateSpace;

pub(super) struct Splitter<'a> {
    pub(super) func: &'a mut Function,
    pub(super) types: &'a mut TypeTable,
    pub(super) functions: &'a PrimaryMap<FuncId, Boundary>,
    pub(super) own: &'a Boundary,
    pub(super) forms: SecondaryMap<Value, Option<Form>>,
    /// The pointers to parameters that are passed in memory.
    pub(super) passed: SecondaryMap<Value, PackedOption<Value>>,
    /// Where the edges to a block leave the values of its parameters: for each parameter before the pass, its type and slot if it is large.
    pub(super) arrivals: SecondaryMap<Block, Vec<Option<StackSlot>>>,
    pub(super) changes: u32,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(
        func: &'a mut Function,
        types: &'a mut TypeTable,
        functions: &'a PrimaryMap<FuncId, Boundary>,
        own: &'a Boundary,
    ) -> Self {
        let (forms, arrivals) = (SecondaryMap::new(), SecondaryMap::new());
        Splitter { func, types, functions, own, forms, passed: SecondaryMap::new(), arrivals, changes: 0 }
    }

    pub(super) fn run(mut self) -> u32 {
        let cfg = Cfg::compute(self.func);
        crate::passes::cfg::remove_unreachable(self.func, &cfg);
        let order = cfg.reverse_postorder().to_vec();
        for &block in &order {
            self.block_params(block);
        }
        for block in order {
            let insts: Vec<Inst> = self.func.layout.insts(block).collect();
            for inst in insts {
                self.inst(inst);
            }
        }
        self.bindings();
        self.func.dfg.resolve_aliases();
        self.changes
    }

    /// Variables of the source that were bound to structs and arrays are bound to their parts, or to the memory that holds them.
    fn bindings(&mut self) {
        let Some(debug) = &self.func.debug else { return };
        let mut lists: Vec<(Inst, Vec<BindingId>)> = Vec::new();
        let mut replaced: Vec<Binding> = Vec::new();
        let first_new = debug.bindings.len();
        for block in self.func.layout.blocks() {
            for inst in self.func.layout.insts(block) {
                let records = self.func.layout.records(inst);
                let form = |id: BindingId| match debug.bindings[id].storage {
                    Storage::Value(value) => self.form(value).map(|form| (value, form)),
                    Storage::Memory(..)
                    | Storage::Slot(..)
                    | Storage::Global(..)
                    | Storage::Constant(_)
                    | Storage::OptimizedOut => None,
                };
                if !records.iter().any(|id| form(*id).is_some()) {
                    continue;
                }
                let mut list = Vec::new();
                for &id in records {
                    let Some((value, mut form)) = form(id) else {
                        list.push(id);
                        continue;
                    };
                    // What a kernel is given stays where it is.
                    if let (Some(ptr), true) = (
                        self.passed[self.func.dfg.resolve(value)].expand(),
                        self.func.kind == FuncKind::Kernel,
                    ) {
                        form = Form::Memory(Memory { base: Base::Pointer(ptr), offset: 0, align: 1 });
                    }
                    let ty = self.func.dfg.ty(value);
                    for binding in self.parts_bound(debug.bindings[id], ty, &form) {
                        list.push(BindingId::new(first_new + replaced.len()));
                        replaced.push(binding);
                    }
                }
                lists.push((inst, list));
            }
        }
        let func = &mut *self.func;
        let mut gone: EntitySet<BindingId> = EntitySet::new();
        gone.extend(lists.iter().flat_map(|(inst, _)| func.layout.records(*inst)).copied());
        func.layout.retain_records(|id| !gone.contains(id));
        if let Some(debug) = &mut func.debug {
            replaced.into_iter().for_each(|binding| _ = debug.bindings.push(binding));
        }
        for (inst, list) in lists {
            list.into_iter().for_each(|id| func.layout.bind_before(inst, id));
        }
    }

    /// What a variable is bound to that was bound to a struct or array.
    fn parts_bound(&self, binding: Binding, ty: Type, form: &Form) -> Vec<Binding> {
        let from = binding.piece.map_or(0, |piece| piece.offset);
        match form {
            Form::Memory(Memory { base, offset, .. }) => {
                let offset = i32::try_from(*offset).ok();
                let storage = match (base, offset) {
                    (Base::Slot(slot), Some(offset)) => Storage::Slot(*slot, offset),
                    (Base::Pointer(ptr), Some(offset)) => Storage::Memory(*ptr, offset),
                    (_, None) => Storage::OptimizedOut,
                };
                vec![Binding { storage, ..binding }]
            }
            Form::Parts(parts) => {
                let places = self.types.parts_of(ty).into_iter();
                let bound = places.zip(parts).map(|((part, at), &value)| {
                    let size = self.types.size(part) as u32;
                    let piece = Some(Piece { offset: from.saturating_add(at as u32), size });
                    Binding { piece, storage: Storage::Value(value), ..binding }
                });
                bound.collect()
            }
        }
    }

    // Parameters of blocks.

    fn block_params(&mut self, block: Block) {
        let params = self.func.dfg.block_params(block).to_vec();
        let Some(first) = self.func.layout.first_inst(block) else { return };
        if !params.iter().any(|&param| self.func.dfg.ty(param).is_aggregate()) {
            return;
        }
        self.changes += 1;
        let is_entry = self.func.layout.entry() == Some(block);
        let mut arrivals = Vec::with_capacity(params.len());
        for n in (0..params.len()).rev() {
            self.func.dfg.remove_block_param(block, n);
        }
        for param in params {
            let ty = self.func.dfg.ty(param);
            if !ty.is_aggregate() {
                self.func.dfg.attach_block_param(block, param);
                arrivals.push(None);
            } else if is_entry {
                let ptr = self.func.dfg.append_block_param(block, Type::PTR_PARAM);
                take_over_name(self.func, param, ptr);
                let memory = Memory { base: Base::Pointer(ptr), offset: 0, align: self.types.align(ty) };
                let mut flags = MemFlags::PLAIN;
                flags.invariant = true;
                self.forms[param] = Some(self.read(first, ty, memory, flags));
                self.passed[param] = Some(ptr).into();
            } else if self.is_small(ty) {
                let parts = self.types.parts_of(ty);
                let parts = parts
                    .into_iter()
                    .map(|(part, _)| self.func.dfg.append_block_param(block, part))
                    .collect();
                self.forms[param] = Some(Form::Parts(parts));
                arrivals.push(None);
            } else {
                let (arrival, own) = (self.slot(ty), self.slot(ty));
                self.copy(first, ty, own, arrival, MemFlags::PLAIN);
                self.forms[param] = Some(Form::Memory(own));
                arrivals.push(match arrival.base {
                    Base::Slot(slot) => Some(slot),
                    Base::Pointer(_) => None,
                });
            }
        }
        self.arrivals[block] = arrivals;
    }

    /// The arguments of the edges from a terminator.
    fn edges(&mut self, inst: Inst) {
        let targets: Vec<BlockCall> = self.func.dfg.targets(inst).cloned().collect();
        let mut lists = Vec::with_capacity(targets.len());
        for target in targets {
            let args = target.args(&self.func.dfg.pool).to_vec();
            let mut list = Vec::with_capacity(args.len());
            for (n, arg) in args.into_iter().enumerate() {
                let ty = self.func.dfg.ty(arg);
                match self.form(arg) {
                    None => list.push(arg),
                    Some(Form::Parts(parts)) => list.extend(parts),
                    Some(Form::Memory(from)) => {
                        let Some(Some(slot)) = self.arrivals[target.block].get(n).copied() else { continue };
                        let to = Memory { base: Base::Slot(slot), offset: 0, align: self.types.align(ty) };
                        self.copy(inst, ty, to, from, MemFlags::PLAIN);
                    }
                }
            }
            lists.push(list);
        }
        let mut lists = lists.into_iter();
        self.func.dfg.for_each_target_mut(inst, |call, pool| {
            call.args = ValueList::from_slice(&lists.next().unwrap_or_default(), pool);
        });
    }

    // Instructions.

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "no other operation takes or gives structs and arrays"
    )]
    fn inst(&mut self, inst: Inst) {
        let func = &mut *self.func;
        let result = func.dfg.first_result(inst);
        let ty = result.map_or(Type::INVALID, |result| func.dfg.ty(result));
        let whole = ty.is_aggregate();
        match func.dfg[inst] {
            InstData::Zero if !whole => {
                let value = zero(func, inst, ty);
                self.changes += 1;
                replace_with(self.func, inst, value);
            }
            InstData::Zero => {
                let form = self.zero(inst, ty);
                self.become_form(inst, form);
            }
            InstData::Aggregate { args } => {
                let fields = args.as_slice(&func.dfg.pool).to_vec();
                let form = self.aggregate(inst, ty, &fields);
                self.become_form(inst, form);
            }
            InstData::ExtractValue { path, arg } => self.extract(inst, path, arg),
            InstData::InsertValue { path, args } => self.insert(inst, path, args),
            InstData::Load { flags, offset, ptr } if whole => {
                let memory = self.pointed(inst, flags, ptr, offset, ty);
                let form = if self.is_small(ty) {
                    self.read(inst, ty, memory, flags)
                } else {
                    let slot = self.slot(ty);
                    self.copy(inst, ty, slot, memory, flags);
                    Form::Memory(slot)
                };
                self.become_form(inst, form);
            }
            InstData::Store { flags, offset, args: [value, ptr] } if func.dfg.ty(value).is_aggregate() => {
                let ty = func.dfg.ty(value);
                let to = self.pointed(inst, flags, ptr, offset, ty);
                if let Some(form) = self.form(value) {
                    self.write(inst, ty, to, &form, flags);
                }
                self.changes += 1;
                self.func.layout.remove_inst(inst);
            }
            InstData::Ternary { op: Opcode::Select, args } if whole => {
                let form = self.select(inst, ty, args);
                self.become_form(inst, form);
            }
            InstData::List { op, ref attr, args }
                if (args.as_slice(&func.dfg.pool).first())
                    .is_some_and(|&whole| func.dfg.ty(whole).is_aggregate()) =>
            {
                let (attr, args) = (attr.clone(), args.as_slice(&func.dfg.pool).to_vec());
                self.lanes(inst, op, &attr, &args);
            }
            InstData::Call { callee, ref args } => {
                let args = args.as_slice(&func.dfg.pool).to_vec();
                self.call(inst, callee, &args);
            }
            InstData::CallIndirect { ref args } => {
                let args = args.as_slice(&func.dfg.pool).to_vec();
                self.call_indirect(inst, &args);
            }
            InstData::Return { args } => {
                let values = args.as_slice(&func.dfg.pool).to_vec();
                self.ret(inst, &values);
            }
            _ if func.dfg.targets(inst).next().is_some() => self.edges(inst),
            _ => {}
        }
    }

    /// What an instruction's result has become; the instruction goes.
    pub(super) fn become_form(&mut self, inst: Inst, form: Form) {
        if let Some(result) = self.func.dfg.first_result(inst) {
            self.forms[result] = Some(form);
        }
        self.changes += 1;
        self.func.layout.remove_inst(inst);
    }

    fn zero(&mut self, inst: Inst, ty: Type) -> Form {
        if self.is_small(ty) {
            let parts = self.types.parts_of(ty);
            return Form::Parts(parts.into_iter().map(|(part, _)| zero(self.func, inst, part)).collect());
        }
        let memory = self.slot(ty);
        let to = self.pointer(inst, memory);
        let byte = self.func.before(inst).iconst(Type::I8, 0);
        let size = self.func.before(inst).iconst(Type::I64, self.types.size(ty) as i64);
        self.func.before(inst).memset(flags_for(MemFlags::PLAIN, memory.align, 1), to, byte, size);
        Form::Memory(memory)
    }

    fn aggregate(&mut self, inst: Inst, ty: Type, fields: &[Value]) -> Form {
        if self.is_small(ty) {
            return Form::Parts(fields.iter().flat_map(|&field| self.parts(field)).collect());
        }
        let memory = self.slot(ty);
        for (n, &field) in fields.iter().enumerate() {
            if let Some((_, offset)) = self.types.field(ty, n as u64) {
                self.write_value(inst, memory.at(offset), field);
            }
        }
        Form::Memory(memory)
    }

    fn extract(&mut self, inst: Inst, path: warpsmith_ir::Path, arg: Value) {
        let (whole, steps) = (self.func.dfg.ty(arg), self.func.dfg.paths[path].clone());
        // A result that was passed: what was taken out of it already.
        let Some(form) = self.form(arg) else { return };
        let Ok(place) = self.types.at_path(whole, &steps) else { return };
        let ty = place.ty;
        let form = match form {
            Form::Parts(parts) => {
                let first = place.part as usize;
                Form::Parts(parts[first..first + self.types.parts(ty) as usize].to_vec())
            }
            Form::Memory(memory) if ty.is_aggregate() && !self.is_small(ty) => {
                Form::Memory(memory.at(place.offset))
            }
            Form::Memory(memory) => self.read(inst, ty, memory.at(place.offset), MemFlags::PLAIN),
        };
        match form {
            Form::Parts(parts) if !ty.is_aggregate() => {
                let Some(&part) = parts.first() else { return };
                self.changes += 1;
                if let Some(result) = self.func.dfg.first_result(inst) {
                    take_over_name(self.func, result, part);
                }
                replace_with(self.func, inst, part);
            }
            form @ (Form::Parts(_) | Form::Memory(_)) => self.become_form(inst, form),
        }
    }

    fn insert(&mut self, inst: Inst, path: warpsmith_ir::Path, [whole, part]: [Value; 2]) {
        let (ty, steps) = (self.func.dfg.ty(whole), self.func.dfg.paths[path].clone());
        let Ok(place) = self.types.at_path(ty, &steps) else { return };
        let Some(form) = self.form(whole) else { return };
        let form = match form {
            Form::Parts(mut parts) => {
                let new = self.parts(part);
                let first = place.part as usize;
                parts.splice(first..first + new.len(), new);
                Form::Parts(parts)
            }
            Form::Memory(from) => {
                let memory = self.slot(ty);
                self.copy(inst, ty, memory, from, MemFlags::PLAIN);
                self.write_value(inst, memory.at(place.offset), part);
                Form::Memory(memory)
            }
        };
        self.become_form(inst, form);
    }

    fn select(&mut self, inst: Inst, ty: Type, [cond, yes, no]: [Value; 3]) -> Form {
        match (self.form(yes), self.form(no)) {
            (Some(Form::Memory(yes)), Some(Form::Memory(no))) => {
                let align = yes.known_align().min(no.known_align());
                let pointers = [yes, no].map(|memory| {
                    let ptr = self.pointer(inst, memory);
                    let space = self.func.dfg.ty(ptr).space();
                    let generic = space == Some(StateSpace::Generic);
                    if generic { ptr } else { self.func.before(inst).addrspacecast(Type::PTR, ptr) }
                });
                let chosen = self.func.before(inst).select(cond, pointers[0], pointers[1]);
                Form::Memory(Memory { base: Base::Pointer(chosen), offset: 0, align })
            }
            (yes, no) => {
                let parts = |form| match form {
                    Some(Form::Parts(parts)) => parts,
                    Some(Form::Memory(_)) | None => Vec::new(),
                };
                let pairs = parts(yes).into_iter().zip(parts(no));
                let chosen = pairs.map(|(yes, no)| self.func.before(inst).select(cond, yes, no)).collect();
                debug_assert!(self.is_small(ty));
                Form::Parts(chosen)
            }
        }
    }

    // Calls.
}
