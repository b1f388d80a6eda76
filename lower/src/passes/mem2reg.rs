//! Stack slots become values.
//!
//! A slot qualifies when its address is only loaded from and stored to, at constant offsets or at an index in known bounds: it is not passed, stored,
//! compared or merged, but for `chosen` and `copied`. Accesses must fall into fields, ranges of bytes that are always accessed as a whole; each field becomes a
//! variable of its own (so structs are taken apart), but for those that an index may reach. Accesses of one field by several types of its size are bit casts.
//!
//! The variables are brought into SSA form after Cytron et al. (1991), pruned: a block gets a parameter for a variable where
//! several definitions meet and the variable is read later. A walk down the dominator tree then knows the value at each read.

use super::slots::{Indices, SlotAccess, SlotUses};
use super::{cast, castable, insert_before, take_over_name};
use crate::analysis::{Cfg, Ranges};
use crate::pass::{Aspects, Changes, Context};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::debug::{Binding, Piece, Storage};
use warpsmith_ir::{
    BindingId, Block, DebugVar, DominatorTree, Function, Inst, InstData, Opcode, StackSlot, Type, Value,
    ValueList,
};

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let split = super::wide::split_params(func);
    if func.stack_slots.is_empty() {
        return Changes::to_instructions(split);
    }
    // The graph is that of the reachable blocks, which this leaves as it is.
    super::cfg::remove_unreachable(func, &cx.analyses.get::<Cfg>(func));
    let chosen = super::chosen::run(func);
    let copied = super::copied::run(func);
    if chosen + copied > 0 {
        cx.analyses.invalidate(Aspects::ALL);
    }
    let promoted = promote(func, cx) + split + super::wide::split_params(func);
    if chosen > 0 {
        Changes::to_all(chosen + copied + promoted)
    } else {
        Changes::to_instructions(copied + promoted)
    }
}

fn promote(func: &mut Function, cx: &mut Context<'_>) -> u32 {
    let cfg = cx.analyses.get::<Cfg>(func);
    let mut uses = SlotUses::collect(func, &cfg, Indices::OfOperations);
    let ranges = uses.depends_on_ranges().then(|| cx.analyses.get::<Ranges>(func));
    let indices = ranges.as_deref().map_or(Indices::OfOperations, Indices::Within);
    if ranges.is_some() {
        uses = SlotUses::collect(func, &cfg, indices);
    }
    let mut splits = 0;
    // Elements of vectors may be split once more.
    for _ in 0..2 {
        if !split_wide(func, &uses) {
            break;
        }
        splits += 1;
        func.dfg.resolve_aliases();
        uses = SlotUses::collect(func, &cfg, indices);
    }
    let fields = Fields::of(func, &uses);
    if fields.types.is_empty() {
        return splits;
    }
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let params = place_params(&fields, &cfg, &dominators);
    let changes = fields.count;
    let fields = fields.of_variables(func);
    Renamer::new(func, fields, params).run(&cfg, &dominators);
    func.dfg.resolve_aliases();
    changes
}

/// Splits accesses that cover several fields. True if any was.
fn split_wide(func: &mut Function, uses: &SlotUses) -> bool {
    let mut changed = false;
    let mut accesses = uses.kept();
    for accesses in apart(&mut accesses) {
        let slot = accesses[0].slot;
        if !is_indexed(accesses) && !is_made_of_fields(func, accesses) {
            let size = i64::from(func.stack_slots[slot].size);
            let inside = |access: &SlotAccess| {
                let end = access.offset.saturating_add(access.ty.bytes().unwrap_or(0).into());
                access.offset >= 0 && end <= size
            };
            changed |= accesses.iter().all(inside) && super::widths::split(func, accesses);
        }
    }
    changed
}

/// Sorts accesses by slot and offset, and parts them where they have no byte in common.
fn apart(accesses: &mut [SlotAccess]) -> impl Iterator<Item = &[SlotAccess]> {
    accesses.sort_by_key(|access| (access.slot, access.offset));
    let mut end = 0i64;
    let mut slot = None;
    accesses.chunk_by(move |a, b| {
        if slot != Some(a.slot) {
            (slot, end) = (Some(a.slot), i64::MIN);
        }
        let bytes = i64::from(a.ty.bytes().unwrap_or(0));
        end = end.max(a.offset.saturating_add(a.reach).saturating_add(bytes));
        a.slot == b.slot && b.offset < end
    })
}

/// Whether one of the accesses is at an index.
fn is_indexed(accesses: &[SlotAccess]) -> bool {
    accesses.iter().any(|access| access.reach > 0)
}

/// A variable that slots are taken apart into.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Field(u32);
cranelift_entity::entity_impl!(Field);

/// The variables that slots are taken apart into.
struct Fields {
    types: Vec<Type>,
    /// The slot and the first byte of each.
    places: Vec<(StackSlot, i64)>,
    /// The variables of the source, or parts of them, that each is.
    of_source: Vec<Vec<(DebugVar, Option<Piece>)>>,
    /// The variable that a load or store accesses.
    access: SecondaryMap<Inst, PackedOption<Field>>,
    /// How many accesses there are.
    count: u32,
    /// The accesses of each block, in order.
    by_block: SecondaryMap<Block, Vec<(u32, bool)>>,
}

impl Fields {
    fn of(func: &Function, uses: &SlotUses) -> Self {
        let mut accesses = uses.kept();
        let mut fields = Fields {
            types: Vec::new(),
            places: Vec::new(),
            of_source: Vec::new(),
            access: SecondaryMap::new(),
            count: 0,
            by_block: SecondaryMap::new(),
        };
        for fields_of_slot in apart(&mut accesses) {
            if is_indexed(fields_of_slot) || !is_made_of_fields(func, fields_of_slot) {
                continue;
            }
            for field in fields_of_slot.chunk_by(|a, b| a.offset == b.offset) {
                let variable = fields.types.len() as u32;
                // What is a pointer at one place stays one, so that what it points to is known.
                let pointer = field.iter().map(|access| access.ty).find(|ty| ty.is_ptr());
                fields.types.push(pointer.unwrap_or(field[0].ty));
                fields.places.push((field[0].slot, field[0].offset));
                fields.access.resize(func.dfg.num_insts());
                fields.count += field.len() as u32;
                field.iter().for_each(|access| fields.access[access.inst] = Field::from_u32(variable).into());
            }
        }
        if fields.count == 0 {
            return fields;
        }
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                if let Some(variable) = fields.access[inst].expand() {
                    let variable = variable.as_u32();
                    let is_store = matches!(func.dfg[inst], InstData::Store { .. });
                    fields.by_block[block].push((variable, is_store));
                }
            }
        }
        fields
    }
}

impl Fields {
    /// Finds the variables of the source that lived in the slots. They are bound to values from now on, where these are stored; bindings to
    /// the slots go.
    fn of_variables(mut self, func: &mut Function) -> Self {
        self.of_source = vec![Vec::new(); self.types.len()];
        let Some(debug) = &mut func.debug else { return self };
        let mut count: SecondaryMap<DebugVar, u32> = SecondaryMap::new();
        debug.bindings.values().for_each(|binding| count[binding.variable] += 1);
        for binding in debug.bindings.values_mut() {
            let Storage::Slot(slot, start) = binding.storage else { continue };
            let start = i64::from(start);
            let shift = binding.piece.map_or(0, |piece| i64::from(piece.offset));
            let limit = binding.piece.map_or(i64::MAX, |piece| start.saturating_add(piece.size.into()));
            let mut found = false;
            for (field, (of, at)) in self.places.iter().enumerate().filter(|(_, (of, _))| *of == slot) {
                found = true;
                let bytes = self.types[field].bytes().unwrap_or(0);
                // A variable that also lives elsewhere is not followed: which of the two counts at a store is not known.
                if *at < start || at + i64::from(bytes) > limit || count[binding.variable] > 1 {
                    continue;
                }
                let alone = *at == start
                    && i64::from(bytes) == i64::from(func.stack_slots[*of].size)
                    && binding.piece.is_none();
                let offset = u32::try_from(at - start + shift).unwrap_or(0);
                let piece = if alone { None } else { Some(Piece { offset, size: bytes }) };
                self.of_source[field].push((binding.variable, piece));
            }
            if found {
                binding.storage = Storage::OptimizedOut;
            }
        }
        self
    }
}

/// Whether the accesses of a slot, sorted by offset, are in its bounds, and never overlap but as a whole.
fn is_made_of_fields(func: &Function, accesses: &[SlotAccess]) -> bool {
    let bytes = |ty: Type| i64::from(ty.bytes().unwrap_or(0));
    let size = i64::from(func.stack_slots[accesses[0].slot].size);
    let mut end = 0;
    accesses.chunk_by(|a, b| a.offset == b.offset).all(|field| {
        let (start, first) = (field[0].offset, field[0].ty);
        let free = start >= end;
        end = start.saturating_add(bytes(first));
        free && end <= size && field.iter().all(|access| castable(access.ty, first))
    })
}

/// The variables for which each block gets a parameter.
fn place_params(fields: &Fields, cfg: &Cfg, dominators: &DominatorTree) -> SecondaryMap<Block, Vec<u32>> {
    let frontiers = dominance_frontiers(cfg, dominators);
    let count = fields.types.len();
    let (mut stores, mut reads) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for &block in cfg.reverse_postorder() {
        for &(variable, is_store) in &fields.by_block[block] {
            let variable = variable as usize;
            // Marked by the last block that accessed it: a read behind a store of its block needs nothing from outside.
            if is_store {
                if stores[variable].last() != Some(&block) {
                    stores[variable].push(block);
                }
            } else if stores[variable].last() != Some(&block) && reads[variable].last() != Some(&block) {
                reads[variable].push(block);
            }
        }
    }
    let mut params: SecondaryMap<Block, Vec<u32>> = SecondaryMap::new();
    for (variable, (stores, reads)) in stores.into_iter().zip(reads).enumerate() {
        if stores.is_empty() || reads.is_empty() {
            continue;
        }
        let live = live_in(cfg, &stores, reads);
        let mut placed = EntitySet::new();
        let mut work = stores;
        while let Some(block) = work.pop() {
            for &join in &frontiers[block] {
                if live.contains(join) && placed.insert(join) {
                    params[join].push(variable as u32);
                    work.push(join);
                }
            }
        }
    }
    params
}

/// The blocks at whose start a variable will be read before it is stored to.
fn live_in(cfg: &Cfg, stores: &[Block], reads: Vec<Block>) -> EntitySet<Block> {
    let mut stored: EntitySet<Block> = EntitySet::new();
    stored.extend(stores.iter().copied());
    let mut live: EntitySet<Block> = EntitySet::new();
    let mut work = reads;
    while let Some(block) = work.pop() {
        if live.insert(block) {
            work.extend(cfg.predecessors(block).iter().copied().filter(|&pred| !stored.contains(pred)));
        }
    }
    live
}

fn dominance_frontiers(cfg: &Cfg, dominators: &DominatorTree) -> SecondaryMap<Block, Vec<Block>> {
    let mut frontiers: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &join in cfg.reverse_postorder() {
        let preds = cfg.predecessors(join);
        if preds.len() < 2 {
            continue;
        }
        let above = dominators.idom(join);
        for &pred in preds {
            let mut runner = Some(pred);
            while let Some(block) = runner.filter(|&block| Some(block) != above) {
                if frontiers[block].last() == Some(&join) {
                    break;
                }
                frontiers[block].push(join);
                runner = dominators.idom(block);
            }
        }
    }
    frontiers
}

/// Walks down the dominator tree with the current value of every variable.
struct Renamer<'f> {
    func: &'f mut Function,
    fields: Fields,
    params: SecondaryMap<Block, Vec<u32>>,
    current: Vec<PackedOption<Value>>,
    /// What to restore when a subtree is left: the variable and its value above.
    undo: Vec<(u32, PackedOption<Value>)>,
}

impl<'f> Renamer<'f> {
    fn new(func: &'f mut Function, fields: Fields, params: SecondaryMap<Block, Vec<u32>>) -> Self {
        let current = vec![None.into(); fields.types.len()];
        Renamer { func, fields, params, current, undo: Vec::new() }
    }

    fn run(&mut self, cfg: &Cfg, dominators: &DominatorTree) {
        // The parameters exist before any branch to them is met.
        let mut new_params: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
        for &block in cfg.reverse_postorder() {
            for &variable in &self.params[block] {
                let ty = self.fields.types[variable as usize];
                new_params[block].push(self.func.dfg.append_block_param(block, ty));
            }
        }
        // Blocks whose subtrees are open, with the length of the undo log when they were entered.
        let mut open: Vec<(Block, usize)> = Vec::new();
        for &block in dominators.preorder() {
            while let Some(&(above, log)) = open.last() {
                if dominators.dominates(above, block) {
                    break;
                }
                open.pop();
                while self.undo.len() > log {
                    if let Some((variable, value)) = self.undo.pop() {
                        self.current[variable as usize] = value;
                    }
                }
            }
            open.push((block, self.undo.len()));
            for n in 0..new_params[block].len() {
                self.set(self.params[block][n], new_params[block][n]);
                for binding in self.bindings(self.params[block][n], new_params[block][n]) {
                    self.func.layout.bind_at_start(block, binding);
                }
            }
            self.block(block);
        }
    }

    /// New bindings of the variables of the source that a field is, to its value.
    fn bindings(&mut self, field: u32, value: Value) -> Vec<BindingId> {
        let (Some(debug), of_source) = (&mut self.func.debug, &self.fields.of_source[field as usize]) else {
            return Vec::new();
        };
        let storage = Storage::Value(value);
        let bind = |&(variable, piece): &_| debug.bindings.push(Binding { variable, piece, storage });
        of_source.iter().map(bind).collect()
    }

    fn set(&mut self, variable: u32, value: Value) {
        let old = std::mem::replace(&mut self.current[variable as usize], value.into());
        self.undo.push((variable, old));
    }

    fn block(&mut self, block: Block) {
        let mut next = self.func.layout.first_inst(block);
        while let Some(inst) = next {
            next = self.func.layout.next_inst(inst);
            let Some(variable) = self.fields.access[inst].expand().map(Field::as_u32) else { continue };
            let ty = self.fields.types[variable as usize];
            match self.func.dfg[inst] {
                InstData::Store { args: [value, _], .. } => {
                    let value = self.func.dfg.resolve(value);
                    let value = cast(self.func, inst, value, ty);
                    self.set(variable, value);
                    self.func.layout.remove_inst(inst);
                    for binding in self.bindings(variable, value) {
                        if let Some(next) = next {
                            self.func.layout.bind_before(next, binding);
                        }
                    }
                }
                // The accesses of a slot are loads and stores.
                _ => {
                    let value = self.value(variable, inst);
                    let Some(result) = self.func.dfg.first_result(inst) else { continue };
                    let value = cast(self.func, inst, value, self.func.dfg.ty(result));
                    take_over_name(self.func, result, value);
                    self.func.dfg.replace_value(result, value);
                    self.func.layout.remove_inst(inst);
                }
            }
        }
        let Some(terminator) = self.func.terminator(block) else { return };
        let targets: Vec<Block> = self.func.dfg.targets(terminator).map(|call| call.block).collect();
        let mut args: Vec<Vec<Value>> = Vec::with_capacity(targets.len());
        for target in targets {
            let variables = self.params[target].clone();
            args.push(variables.into_iter().map(|variable| self.value(variable, terminator)).collect());
        }
        let mut args = args.into_iter();
        self.func.dfg.for_each_target_mut(terminator, |call, pool| {
            let list: &mut ValueList = &mut call.args;
            list.extend(args.next().unwrap_or_default(), pool);
        });
    }

    /// The value of a variable here. Memory that was never written reads as zero, one of the values it may have.
    fn value(&mut self, variable: u32, before: Inst) -> Value {
        match self.current[variable as usize].expand() {
            Some(value) => value,
            None => {
                let value = zero(self.func, before, self.fields.types[variable as usize]);
                self.set(variable, value);
                value
            }
        }
    }
}

/// The value of a scalar or vector type whose bits are all zero.
pub(super) fn zero(func: &mut Function, before: Inst, ty: Type) -> Value {
    if ty.is_vector() {
        let element = zero(func, before, ty.element_type());
        let elements = vec![element; ty.lanes() as usize];
        let args = ValueList::from_slice(&elements, &mut func.dfg.pool);
        return insert_before(func, before, InstData::Vec { args }, ty);
    }
    if ty.is_ptr() {
        let arg = zero(func, before, Type::I64);
        return insert_before(func, before, InstData::Unary { op: Opcode::Inttoptr, arg }, ty);
    }
    let data = if ty.is_float() { InstData::FloatConst { bits: 0 } } else { InstData::IntConst { value: 0 } };
    insert_before(func, before, data, ty)
}
