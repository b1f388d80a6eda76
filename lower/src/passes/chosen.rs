//! Loads from the address that a branch or a selection chose, `c ? a : b` by reference: each way loads, and what was loaded is chosen in place of the address.
//! The stack slots among the addresses can then become values.
//!
//! A load moves to the end of the way that leads to it, past nothing with an effect; onto a way that may not lead to it, only if it is in the bounds of a slot.

use super::{insert_before, replace_with};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{
    Block, BlockCall, Function, Inst, InstData, MemFlags, Opcode, Type, Value, ValueDef, ValueList,
};

/// Choices that are made of choices.
const ROUNDS: u32 = 4;
/// Targets of a branch that gives addresses.
const MAX_TARGETS: usize = 8;
/// Constants that are added to an address one by one.
const MAX_STEPS: u32 = 8;

/// Replaces choices of addresses, as many as it returns.
pub(super) fn run(func: &mut Function) -> u32 {
    let mut changes = 0;
    for _ in 0..ROUNDS {
        let mut choices = Choices::find(func);
        if choices.list.is_empty() {
            break;
        }
        choices.collect_uses(func);
        let Choices { list, mut branches, .. } = choices;
        let before = changes;
        for choice in list.into_iter().filter(|choice| !choice.kept && !choice.loads.is_empty()) {
            match func.dfg.def(choice.address) {
                ValueDef::Result(select, _) => choice.replace_selection(func, select),
                ValueDef::Param(block, _) => {
                    choice.replace_param(func, block, branches.entry(block).or_default())
                }
                ValueDef::Alias(_) | ValueDef::Detached => continue,
            }
            changes += 1;
        }
        if changes == before {
            break;
        }
        func.dfg.resolve_aliases();
    }
    changes
}

/// An address that is one of several.
struct Choice {
    address: Value,
    /// The loads from it, and how far behind it they are.
    loads: Vec<(Inst, i32)>,
    /// Addresses a constant away from it.
    derived: Vec<Inst>,
    /// Whether it has another use.
    kept: bool,
}

/// The choices of a function.
struct Choices {
    list: Vec<Choice>,
    number: FxHashMap<Value, usize>,
    /// The branches to the blocks whose parameters they are.
    branches: FxHashMap<Block, Vec<Inst>>,
}

impl Choices {
    /// Parameters that some branch gives the address of a slot, and selections between two slots.
    fn find(func: &Function) -> Choices {
        let mut found =
            Choices { list: Vec::new(), number: FxHashMap::default(), branches: FxHashMap::default() };
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                if let InstData::Ternary { op: Opcode::Select, args: [_, a, b] } = func.dfg[inst]
                    && let Some(result) = func.dfg.first_result(inst)
                    && slot_of(func, a).is_some()
                    && slot_of(func, b).is_some()
                {
                    found.add(result);
                }
            }
            let Some(branch) = func.terminator(block) else { continue };
            for call in func.dfg.targets(branch) {
                for (param, arg) in func.dfg.given(call) {
                    if slot_of(func, arg).is_some() {
                        found.add(param);
                        found.branches.insert(call.block, Vec::new());
                    }
                }
            }
        }
        found
    }

    fn add(&mut self, address: Value) {
        let next = self.list.len();
        if *self.number.entry(address).or_insert(next) == next {
            self.list.push(Choice { address, loads: Vec::new(), derived: Vec::new(), kept: false });
        }
    }

    fn collect_uses(&mut self, func: &Function) {
        for block in func.layout.blocks() {
            // Whether a load here could as well be in front of the block.
            let mut is_start = true;
            for inst in func.layout.insts(block) {
                self.collect(func, block, inst, is_start);
                is_start &= func.traits(inst).is_removable();
            }
            let Some(branch) = func.terminator(block) else { continue };
            for call in func.dfg.targets(branch) {
                let Some(branches) = self.branches.get_mut(&call.block) else { continue };
                if func.dfg.targets(branch).nth(MAX_TARGETS).is_some() {
                    for param in func.dfg.block_params(call.block) {
                        if let Some(&n) = self.number.get(param) {
                            self.list[n].kept = true;
                        }
                    }
                } else if branches.last() != Some(&branch) {
                    branches.push(branch);
                }
            }
        }
    }

    fn collect(&mut self, func: &Function, block: Block, inst: Inst, is_start: bool) {
        if let Some((base, _)) = constant_step(func, inst) {
            if let Some(&n) = self.number.get(&base_of(func, base).0) {
                self.list[n].derived.push(inst);
            }
            return;
        }
        if let InstData::Load { flags, offset, ptr } = func.dfg[inst]
            && let Some(result) = func.dfg.first_result(inst)
        {
            let (base, by) = base_of(func, ptr);
            let Some(&n) = self.number.get(&base) else { return };
            let ty = func.dfg.ty(result);
            let bytes = i64::from(ty.bytes().unwrap_or(0));
            let from = by.saturating_add(offset.into());
            let choice = &mut self.list[n];
            let is_here = match func.dfg.def(choice.address) {
                ValueDef::Param(of, _) => of == block && is_start,
                ValueDef::Result(select, _) => !ty.is_vector() && is_inside(func, select, from, bytes),
                ValueDef::Alias(_) | ValueDef::Detached => false,
            };
            match i32::try_from(from) {
                Ok(from) if is_here && !flags.volatile && !ty.is_aggregate() => {
                    choice.loads.push((inst, from))
                }
                _ => choice.kept = true,
            }
            return;
        }
        func.dfg.for_each_use(inst, |value| {
            if let Some(&n) = self.number.get(&base_of(func, value).0) {
                self.list[n].kept = true;
            }
        });
    }
}

impl Choice {
    fn replace_selection(self, func: &mut Function, select: Inst) {
        let InstData::Ternary { args: [condition, a, b], .. } = func.dfg[select] else { return };
        for (load, offset) in self.loads {
            let InstData::Load { flags, .. } = func.dfg[load] else { continue };
            let Some(result) = func.dfg.first_result(load) else { continue };
            let ty = func.dfg.ty(result);
            let [a, b] =
                [a, b].map(|ptr| insert_before(func, load, InstData::Load { flags, offset, ptr }, ty));
            let data = InstData::Ternary { op: Opcode::Select, args: [condition, a, b] };
            let chosen = insert_before(func, load, data, ty);
            replace_with(func, load, chosen);
        }
        self.derived.iter().rev().for_each(|&inst| func.layout.remove_inst(inst));
        func.layout.remove_inst(select);
    }

    fn replace_param(self, func: &mut Function, block: Block, branches: &mut Vec<Inst>) {
        let Some(n) = func.dfg.block_params(block).iter().position(|&param| param == self.address) else {
            return;
        };
        let mut values: Vec<(i32, Type, MemFlags)> = Vec::new();
        for &(load, offset) in &self.loads {
            let InstData::Load { flags, .. } = func.dfg[load] else { continue };
            let Some(result) = func.dfg.first_result(load) else { continue };
            let value = (offset, func.dfg.ty(result), flags);
            let at = values.iter().position(|&known| known == value).unwrap_or_else(|| {
                func.dfg.append_block_param(block, value.1);
                values.push(value);
                values.len() - 1
            });
            let params = func.dfg.block_params(block);
            let param = params[params.len() - values.len() + at];
            replace_with(func, load, param);
        }
        self.derived.iter().rev().for_each(|&inst| func.layout.remove_inst(inst));
        branches.sort_unstable();
        branches.dedup();
        for at in 0..branches.len() {
            let branch = branches[at];
            let targets = func.dfg.targets(branch).count();
            for side in 0..targets {
                load_on_way(func, branches, (branch, side, targets), (block, n), &values);
            }
        }
        func.dfg.remove_block_param(block, n);
    }
}

/// Loads the values from the address that one side of a branch gives, and gives them.
fn load_on_way(
    func: &mut Function,
    branches: &mut Vec<Inst>,
    (branch, side, targets): (Inst, usize, usize),
    (block, n): (Block, usize),
    values: &[(i32, Type, MemFlags)],
) {
    let Some((to, ptr)) = func
        .dfg
        .targets(branch)
        .nth(side)
        .map(|call| (call.block, call.args(&func.dfg.pool).get(n).map(|&arg| func.dfg.resolve(arg))))
    else {
        return;
    };
    let Some(ptr) = ptr.filter(|_| to == block) else { return };
    let is_safe = |&(offset, ty, _): &(i32, Type, MemFlags)| {
        is_in_slot(func, ptr, offset.into(), i64::from(ty.bytes().unwrap_or(0)))
    };
    let mut way = (branch, side);
    if targets > 1 && !values.iter().all(is_safe) {
        way = (split(func, branch, side), 0);
        branches.push(way.0);
    }
    let (branch, side) = way;
    let loaded: SmallVec<[Value; 4]> = values
        .iter()
        .map(|&(offset, ty, flags)| insert_before(func, branch, InstData::Load { flags, offset, ptr }, ty))
        .collect();
    func.dfg.change_target(branch, side, |call, pool| {
        call.args.extend(loaded.iter().copied(), pool);
        call.args.remove(n, pool);
    });
}

/// Puts a block onto one side of a branch, and returns the jump at its end.
fn split(func: &mut Function, branch: Inst, side: usize) -> Inst {
    let between = func.dfg.make_block();
    if let Some(block) = func.layout.block_of(branch) {
        func.layout.insert_block_after(between, block);
    }
    let mut dest = BlockCall { block: between, args: ValueList::new() };
    func.dfg.change_target(branch, side, |call, _| {
        std::mem::swap(call, &mut dest);
    });
    let jump = func.dfg.make_inst(InstData::Jump { dest }, &[]);
    func.layout.append_inst(jump, between);
    func.spans[jump] = func.spans[branch];
    func.inst_locs[jump] = func.inst_locs[branch];
    jump
}

/// The address that an instruction adds a constant to.
fn constant_step(func: &Function, inst: Inst) -> Option<(Value, i64)> {
    match func.dfg[inst] {
        InstData::Binary { op: Opcode::Ptradd, args: [base, by] } => Some((base, func.dfg.int_const(by)?)),
        InstData::Index { scale, args: [base, by] } => {
            Some((base, func.dfg.int_const(by)?.checked_mul(scale.into())?))
        }
        _ => None,
    }
}

/// What an address is a constant away from.
fn base_of(func: &Function, address: Value) -> (Value, i64) {
    let (mut value, mut offset) = (func.dfg.resolve(address), 0i64);
    for _ in 0..MAX_STEPS {
        let step = func.dfg.def_inst(value).and_then(|inst| constant_step(func, inst));
        let Some((base, by)) = step else { break };
        let Some(sum) = offset.checked_add(by) else { break };
        (value, offset) = (func.dfg.resolve(base), sum);
    }
    (value, offset)
}

/// The slot that an address is in, the size of the slot, and the offset in it.
fn slot_of(func: &Function, address: Value) -> Option<(i64, i64)> {
    let (mut base, mut by) = base_of(func, address);
    if let InstData::Unary { op: Opcode::Addrspacecast, arg } = func.dfg[func.dfg.def_inst(base)?] {
        let (under, more) = base_of(func, arg);
        (base, by) = (under, by.checked_add(more)?);
    }
    match func.dfg[func.dfg.def_inst(base)?] {
        InstData::StackAddr { slot, offset } => {
            Some((i64::from(func.stack_slots[slot].size), by.checked_add(offset.into())?))
        }
        _ => None,
    }
}

fn is_in_slot(func: &Function, address: Value, offset: i64, bytes: i64) -> bool {
    slot_of(func, address).is_some_and(|(size, at)| {
        let start = at.saturating_add(offset);
        start >= 0 && start.saturating_add(bytes) <= size
    })
}

/// Whether an access is in the bounds of both slots that a selection is between.
fn is_inside(func: &Function, select: Inst, offset: i64, bytes: i64) -> bool {
    matches!(func.dfg[select], InstData::Ternary { args: [_, a, b], .. }
        if is_in_slot(func, a, offset, bytes) && is_in_slot(func, b, offset, bytes))
}
