//! One call replaced by a copy of the body.
//!
//! The block of the call is cut behind it; the copy's returns jump to the second half, whose parameters are the results. What the callee gets
//! by value is copied to a stack slot, or an `aggregate` stored there part by part, where its pointers into parameter memory point from then on. Places of the source are those of the
//! callee, in a scope that says where it was inlined; its variables come with it.

use super::super::insert_before;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;
use warpsmith_ir::debug::{Binding, Scope, ScopeKind, Storage};
use warpsmith_ir::{
    BindingId, Block, BlockCall, DebugVar, EntityRef, Function, Inst, InstData, Loc, LocData, MemFlags,
    Param, ScopeId, StackSlot, StackSlotData, Type, TypeTable, Value, ValueList,
};

/// The largest thing passed by value that is copied in a row of loads and stores.
const MAX_BY_VALUE: u32 = 256;

/// Replaces a call by the body of what it calls. False if that is not possible; then nothing has changed. Uses of its results denote others
/// afterwards, which is left to resolve.
pub(super) fn inline(func: &mut Function, types: &TypeTable, call: Inst, callee: &Function) -> bool {
    let Some(block) = func.layout.block_of(call) else { return false };
    let InstData::Call { args, .. } = &func.dfg[call] else { return false };
    // Results of calls that were inlined before denote parameters now.
    let args = args.as_slice(&func.dfg.pool).iter().map(|&arg| func.dfg.resolve(arg));
    let args: Vec<Value> = args.collect();
    if args.len() != callee.params.len() || !can_copy(func, types, callee, &args) {
        return false;
    }
    let args: Vec<Value> = callee
        .params
        .iter()
        .zip(args)
        .map(|(param, arg)| match param.byval {
            Some(bytes) if func.dfg.ty(arg).is_ptr() => by_value(func, call, arg, bytes),
            Some(bytes) => by_parts(func, types, call, arg, bytes),
            None => arg,
        })
        .collect();
    let debug = Debugging::of(func, callee, call);
    let behind = func.dfg.make_block();
    func.layout.split_block(behind, call);
    let mut copy = Copy {
        func,
        callee,
        values: SecondaryMap::new(),
        blocks: SecondaryMap::new(),
        slots: SecondaryMap::new(),
        locs: SecondaryMap::new(),
        debug,
    };
    copy.values.resize(callee.dfg.num_values());
    copy.blocks.resize(callee.dfg.num_blocks());
    copy.blocks(block, &args);
    copy.instructions(behind);
    let entry = callee.layout.entry().map(|entry| copy.blocks[entry]);
    let Some(entry) = entry.and_then(PackedOption::expand) else { return false };
    let jump = InstData::Jump { dest: BlockCall { block: entry, args: ValueList::new() } };
    let jump = func.dfg.make_inst(jump, &[]);
    func.inst_locs[jump] = func.inst_locs[call];
    func.spans[jump] = func.spans[call];
    func.layout.append_inst(jump, block);
    for result in func.dfg.results(call) {
        let param = func.dfg.append_block_param(behind, func.dfg.ty(result));
        super::super::take_over_name(func, result, param);
        func.dfg.replace_value(result, param);
    }
    func.layout.remove_inst(call);
    true
}

/// Whether the callee has nothing in it that only a function of its own can have.
fn can_copy(func: &Function, types: &TypeTable, callee: &Function, args: &[Value]) -> bool {
    let by_value = |(param, &arg): (&Param, &Value)| {
        param.byval.is_none_or(|(size, _)| {
            !param.attrs.varargs
                && size <= MAX_BY_VALUE
                && (func.dfg.ty(arg).is_ptr() || parts(func, types, arg).is_some())
        })
    };
    // Table-derived operations name the space of an address in their mnemonic.
    let names_param = |inst: Inst| {
        matches!(callee.dfg[inst], InstData::Ptx { .. })
            && callee.dfg.args(inst).iter().any(|&arg| callee.dfg.ty(arg) == Type::PTR_PARAM)
    };
    let mut insts = callee.layout.blocks().flat_map(|block| callee.layout.insts(block));
    callee.params.iter().zip(args).all(by_value) && !insts.any(names_param)
}

/// What a pointer points to, copied to a stack slot; the slot's address.
fn by_value(func: &mut Function, call: Inst, from: Value, (size, align): (u32, u32)) -> Value {
    let slot = func.stack_slots.push(StackSlotData { size, align });
    let to = insert_before(func, call, InstData::StackAddr { slot, offset: 0 }, Type::PTR_LOCAL);
    let mut offset = 0;
    while offset < size {
        // Pieces of at most four bytes are what fields most often are.
        let bytes =
            [4, 2, 1].into_iter().find(|&bytes| bytes <= align && bytes <= size - offset).unwrap_or(1);
        let Some(ty) = Type::int(8 * bytes) else { break };
        let flags = MemFlags::PLAIN;
        let at = offset as i32;
        let piece = insert_before(func, call, InstData::Load { flags, offset: at, ptr: from }, ty);
        store(func, call, piece, to, flags, offset);
        offset += bytes;
    }
    to
}

/// The scalars that an `aggregate` is made of, each with its offset; `None` if one of them is none that memory holds as it is.
fn parts(func: &Function, types: &TypeTable, aggregate: Value) -> Option<Vec<(Value, u32)>> {
    let mut found = Vec::new();
    let mut rest = vec![(aggregate, 0)];
    while let Some((value, at)) = rest.pop() {
        let value = func.dfg.resolve(value);
        let ty = func.dfg.ty(value);
        if !ty.is_aggregate() {
            if ty == Type::I1
                || ty.bytes().is_none_or(|bytes| bytes > 8)
                || found.len() >= MAX_BY_VALUE as usize
            {
                return None;
            }
            found.push((value, at));
            continue;
        }
        let Some(InstData::Aggregate { args }) = func.dfg.def_data(value) else { return None };
        for (n, &arg) in args.as_slice(&func.dfg.pool).iter().enumerate() {
            let (_, offset) = types.field(ty, n as u64)?;
            rest.push((arg, at + u32::try_from(offset).ok()?));
        }
    }
    Some(found)
}

/// The parts of an `aggregate`, stored to a stack slot; the slot's address.
fn by_parts(
    func: &mut Function,
    types: &TypeTable,
    call: Inst,
    from: Value,
    (size, align): (u32, u32),
) -> Value {
    let slot = func.stack_slots.push(StackSlotData { size, align });
    let to = insert_before(func, call, InstData::StackAddr { slot, offset: 0 }, Type::PTR_LOCAL);
    for (part, at) in parts(func, types, from).unwrap_or_default() {
        // Fields of packed structs stand anywhere.
        let known = (align | at) & (align | at).wrapping_neg();
        let flags = MemFlags::PLAIN.with_align(known).unwrap_or(MemFlags::PLAIN);
        store(func, call, part, to, flags, at);
    }
    to
}

fn store(func: &mut Function, call: Inst, value: Value, to: Value, flags: MemFlags, offset: u32) {
    let store = InstData::Store { flags, offset: offset as i32, args: [value, to] };
    let store = func.dfg.make_inst(store, &[]);
    func.layout.insert_inst_before(store, call);
    func.inst_locs[store] = func.inst_locs[call];
}

/// The scopes and variables of an inlined function in the function around it.
struct Debugging {
    /// The scope that the function itself has become.
    root: Option<ScopeId>,
    scopes: SecondaryMap<ScopeId, PackedOption<ScopeId>>,
    variables: SecondaryMap<DebugVar, PackedOption<DebugVar>>,
    /// Where the call stands: what has no place of its own gets this one.
    call: PackedOption<Loc>,
}

impl Debugging {
    fn of(func: &mut Function, callee: &Function, call: Inst) -> Self {
        let call = func.inst_locs[call];
        let mut found =
            Debugging { root: None, scopes: SecondaryMap::new(), variables: SecondaryMap::new(), call };
        let place = call.expand().map(|loc| func.locs[loc]);
        let (Some(debug), Some(theirs)) = (&mut func.debug, &callee.debug) else { return found };
        for (id, scope) in &theirs.scopes {
            let new = match (scope.kind, scope.parent) {
                (ScopeKind::Function, _) => {
                    let place = place.unwrap_or(LocData { line: 0, ..scope.at });
                    let at = LocData { scope: None, ..place };
                    let parent = Some(place.scope.unwrap_or(debug.root()));
                    Scope { kind: ScopeKind::Inlined(theirs.subprogram), parent, at }
                }
                (_, parent) => Scope {
                    parent: parent.and_then(|parent| found.scopes[parent].expand()).or(found.root),
                    ..*scope
                },
            };
            let new = debug.scopes.push(new);
            found.root = found.root.or(Some(new));
            found.scopes[id] = new.into();
        }
        for (id, variable) in &theirs.variables {
            let mut variable = variable.clone();
            if let Some(scope) = found.scopes[variable.scope].expand() {
                variable.scope = scope;
                found.variables[id] = debug.variables.push(variable).into();
            }
        }
        found
    }
}

struct Copy<'c> {
    func: &'c mut Function,
    callee: &'c Function,
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
    slots: SecondaryMap<StackSlot, PackedOption<StackSlot>>,
    locs: SecondaryMap<Loc, PackedOption<Loc>>,
    debug: Debugging,
}

impl Copy<'_> {
    /// The type that a value of the callee has in the copy: memory of parameters has become that of stack slots.
    fn ty(&self, value: Value) -> Type {
        match self.callee.dfg.ty(value) {
            Type::PTR_PARAM => Type::PTR_LOCAL,
            ty => ty,
        }
    }

    /// The blocks with their parameters, and all values, before anything uses them.
    fn blocks(&mut self, before: Block, args: &[Value]) {
        let callee = self.callee;
        for (slot, data) in &callee.stack_slots {
            let new = self.func.stack_slots.push(*data);
            if let Some(name) = callee.names.get(slot) {
                self.func.names.set(new, name);
            }
            self.slots[slot] = new.into();
        }
        let mut after = before;
        for block in callee.layout.blocks() {
            let new = self.func.dfg.make_block();
            self.func.layout.insert_block_after(new, after);
            after = new;
            self.blocks[block] = new.into();
            self.func.loop_hints[new] = callee.loop_hints[block];
            if Some(block) == callee.layout.entry() {
                for (&param, &arg) in callee.dfg.block_params(block).iter().zip(args) {
                    self.values[param] = arg.into();
                }
                continue;
            }
            for &param in callee.dfg.block_params(block) {
                let ty = self.ty(param);
                let new = self.func.dfg.append_block_param(block_of(&self.blocks, block), ty);
                self.set(param, new);
            }
        }
    }

    fn set(&mut self, value: Value, new: Value) {
        if let Some(name) = self.callee.names.get(value) {
            self.func.names.set(new, name);
        }
        self.values[value] = new.into();
    }

    fn instructions(&mut self, behind: Block) {
        let callee = self.callee;
        // Results first: an operand may stand in a block that comes later.
        let mut made: SecondaryMap<Inst, PackedOption<Inst>> = SecondaryMap::new();
        made.resize(callee.dfg.num_insts());
        for block in callee.layout.blocks() {
            for inst in callee.layout.insts(block) {
                let types: SmallVec<[Type; 4]> =
                    callee.dfg.results(inst).into_iter().map(|value| self.ty(value)).collect();
                let new = self.func.dfg.make_inst(InstData::Trap, &types);
                for (old, new) in callee.dfg.results(inst).into_iter().zip(self.func.dfg.results(new)) {
                    self.set(old, new);
                }
                made[inst] = new.into();
            }
        }
        self.func.spans.resize(self.func.dfg.num_insts());
        self.func.inst_locs.resize(self.func.dfg.num_insts());
        for block in callee.layout.blocks() {
            let to = block_of(&self.blocks, block);
            for inst in callee.layout.insts(block) {
                let Some(new) = made[inst].expand() else { continue };
                let data = self.data(inst, behind);
                self.func.dfg.replace_inst(new, data);
                if callee.dfg.promised(inst) {
                    self.func.dfg.set_promised(new, true);
                }
                self.func.spans[new] = callee.spans[inst];
                self.func.inst_locs[new] = self.loc(callee.inst_locs[inst]);
                for &binding in callee.layout.records(inst) {
                    self.bind(binding, to);
                }
                self.func.layout.append_inst(new, to);
            }
        }
    }

    fn list(&mut self, values: &[Value]) -> ValueList {
        let new: SmallVec<[Value; 8]> = values.iter().map(|&value| value_of(&self.values, value)).collect();
        ValueList::from_slice(&new, &mut self.func.dfg.pool)
    }

    fn target(&mut self, call: &BlockCall) -> BlockCall {
        let args = self.list(call.args(&self.callee.dfg.pool));
        BlockCall { block: block_of(&self.blocks, call.block), args }
    }

    fn data(&mut self, inst: Inst, behind: Block) -> InstData {
        let callee = self.callee;
        let pool = &callee.dfg.pool;
        let mut data = callee.dfg[inst].clone();
        match &mut data {
            // Lists are of the callee's pool.
            InstData::Vec { args }
            | InstData::Aggregate { args }
            | InstData::Call { args, .. }
            | InstData::CallIndirect { args }
            | InstData::List { args, .. } => *args = self.list(args.as_slice(pool)),
            InstData::Ptx { data, args } => {
                let new = self.func.dfg.ptx.push(callee.dfg.ptx[*data].clone());
                self.func.ptx_spans[new] = callee.ptx_spans[*data].clone();
                (*data, *args) = (new, self.list(args.as_slice(pool)));
            }
            InstData::Return { args } => {
                let args = self.list(args.as_slice(pool));
                return InstData::Jump { dest: BlockCall { block: behind, args } };
            }
            InstData::Jump { dest } => *dest = self.target(dest),
            InstData::Brif { cond, dests } => {
                *cond = value_of(&self.values, *cond);
                dests.iter_mut().for_each(|dest| *dest = self.target(dest));
            }
            InstData::Switch { arg, table } => {
                let mut new = callee.dfg.jump_tables[*table].clone();
                new.default = self.target(&new.default);
                new.cases.iter_mut().for_each(|(_, call)| *call = self.target(call));
                (*arg, *table) = (value_of(&self.values, *arg), self.func.dfg.jump_tables.push(new));
            }
            InstData::StackAddr { slot, .. } => {
                if let Some(new) = self.slots[*slot].expand() {
                    *slot = new;
                }
            }
            InstData::ExtractValue { path, arg } => {
                *path = self.func.dfg.paths.push(callee.dfg.paths[*path].clone());
                *arg = value_of(&self.values, *arg);
            }
            InstData::InsertValue { path, args } => {
                *path = self.func.dfg.paths.push(callee.dfg.paths[*path].clone());
                args.iter_mut().for_each(|arg| *arg = value_of(&self.values, *arg));
            }
            // Nothing writes what a function was passed by value; the slot of a call in a loop is written in each round.
            InstData::Load { flags, ptr, .. } => {
                flags.invariant &= callee.dfg.ty(*ptr) != Type::PTR_PARAM;
                *ptr = value_of(&self.values, *ptr);
            }
            InstData::MemBlock { flags, args, .. } => {
                flags.invariant &= args.iter().all(|arg| callee.dfg.ty(*arg) != Type::PTR_PARAM);
                args.iter_mut().for_each(|arg| *arg = value_of(&self.values, *arg));
            }
            // What was passed by value can be a generic pointer only by a cast, which stays one.
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. } => {
                let pool = &mut self.func.dfg.pool;
                data.args_mut(pool).iter_mut().for_each(|arg| *arg = value_of(&self.values, *arg));
            }
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Zero
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Sreg { .. }
            | InstData::Trap => {}
        }
        data
    }

    /// The place of the source in the function around.
    fn loc(&mut self, loc: PackedOption<Loc>) -> PackedOption<Loc> {
        let Some(old) = loc.expand() else { return self.debug.call };
        if self.locs[old].is_none() {
            let mut data = self.callee.locs[old];
            data.scope = match data.scope {
                Some(scope) => self.debug.scopes[scope].expand().or(self.debug.root),
                None => self.debug.root,
            };
            self.locs[old] = self.func.locs.push(data).into();
        }
        self.locs[old]
    }

    /// Puts a binding of a variable at the end of a block that is being filled.
    fn bind(&mut self, binding: BindingId, to: Block) {
        let Some(theirs) = &self.callee.debug else { return };
        let Binding { variable, piece, storage } = theirs.bindings[binding];
        let Some(variable) = self.debug.variables[variable].expand() else { return };
        // What is removed from the callee has no counterpart here.
        let storage = self.callee.storage(storage);
        let storage = match storage {
            Storage::Value(value) => Storage::Value(value_of(&self.values, value)),
            Storage::Memory(value, offset) => Storage::Memory(value_of(&self.values, value), offset),
            Storage::Slot(slot, offset) => {
                self.slots[slot].expand().map_or(Storage::OptimizedOut, |slot| Storage::Slot(slot, offset))
            }
            Storage::Global(..) | Storage::Constant(_) | Storage::OptimizedOut => storage,
        };
        if let Some(debug) = &mut self.func.debug {
            let binding = debug.bindings.push(Binding { variable, piece, storage });
            self.func.layout.bind_at_end(to, binding);
        }
    }
}

/// The copy of a value. Every value that is used has one.
fn value_of(values: &SecondaryMap<Value, PackedOption<Value>>, value: Value) -> Value {
    values[value].expand().unwrap_or(value)
}

fn block_of(blocks: &SecondaryMap<Block, PackedOption<Block>>, block: Block) -> Block {
    blocks[block].expand().unwrap_or(Block::new(0))
}
