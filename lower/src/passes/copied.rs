//! Stack slots that hold a copy of a kernel's by-value parameter and are only read: they are the parameter, which nobody can change. Callers that pass a
//! struct on by reference make such copies; once these are inlined, an array in it that is read at an index would stay in local memory.

use super::{insert_before, replace_with};
use crate::users::Users;
use cranelift_entity::EntitySet;
use warpsmith_base::FxHashMap;
use warpsmith_ir::debug::Storage;
use warpsmith_ir::{Block, FuncKind, Function, Inst, InstData, Opcode, StackSlot, Type, Value};

/// Addresses in a slot that are looked at.
const MAX_ADDRESSES: usize = 256;
/// Constants that are added to an address one by one.
const MAX_STEPS: u32 = 8;

/// Replaces such slots, as many as it returns.
pub(super) fn run(func: &mut Function) -> u32 {
    let copied = func.params.iter().any(|param| param.byval.is_some());
    let Some(entry) = func.layout.entry().filter(|_| copied && func.kind == FuncKind::Kernel) else {
        return 0;
    };
    let mut addresses: FxHashMap<StackSlot, Vec<Inst>> = FxHashMap::default();
    let users = Users::all(func);
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
        if let InstData::StackAddr { slot, .. } = func.dfg[inst] {
            addresses.entry(slot).or_default().push(inst);
        }
    }
    let mut addresses: Vec<(StackSlot, Vec<Inst>)> = addresses.into_iter().collect();
    addresses.sort_unstable_by_key(|(slot, _)| *slot);
    let copies: Vec<Copy> =
        addresses.iter().filter_map(|(slot, taken)| Copy::of(func, &users, entry, *slot, taken)).collect();
    for copy in &copies {
        copy.replace(func);
    }
    if !copies.is_empty() {
        func.dfg.resolve_aliases();
    }
    copies.len() as u32
}

/// A slot that is a copy.
struct Copy {
    slot: StackSlot,
    param: Value,
    /// What takes the slot's address.
    taken: Vec<Inst>,
    /// What computes other addresses in it.
    computed: Vec<Inst>,
    /// What fills it.
    stores: Vec<Inst>,
}

impl Copy {
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else is given an address may write there")]
    fn of(func: &Function, users: &Users, entry: Block, slot: StackSlot, taken: &[Inst]) -> Option<Copy> {
        let mut work: Vec<(Value, Option<i64>)> = Vec::new();
        for &inst in taken {
            let InstData::StackAddr { offset, .. } = func.dfg[inst] else { return None };
            work.push((func.dfg.first_result(inst)?, Some(offset.into())));
        }
        let (mut computed, mut loads, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((address, at)) = work.pop() {
            if computed.len() > MAX_ADDRESSES {
                return None;
            }
            for user in users.of(address) {
                match func.dfg[user] {
                    InstData::Load { flags, .. } if !flags.volatile => loads.push(user),
                    InstData::Store { flags, offset, args: [value, _] }
                        if !flags.volatile && func.dfg.resolve(value) != address =>
                    {
                        stores.push((user, value, at? + i64::from(offset)));
                    }
                    InstData::Binary { op: Opcode::Ptradd, args: [base, by] }
                        if func.dfg.resolve(base) == address =>
                    {
                        computed.push(user);
                        let at = at.zip(func.dfg.int_const(by)).and_then(|(at, by)| at.checked_add(by));
                        work.push((func.dfg.first_result(user)?, at));
                    }
                    InstData::Index { args: [base, _], .. } if func.dfg.resolve(base) == address => {
                        computed.push(user);
                        work.push((func.dfg.first_result(user)?, None));
                    }
                    _ => return None,
                }
            }
        }
        let mut param = None;
        for &(store, value, at) in &stores {
            let (from, source) = loaded_from(func, value)?;
            let same = *param.get_or_insert(from) == from && source == at;
            if !same || func.layout.block_of(store) != Some(entry) {
                return None;
            }
        }
        let param = param?;
        let n = func.param_values().iter().position(|&value| value == param)?;
        let (size, align) = func.params.get(n)?.byval?;
        let data = &func.stack_slots[slot];
        // Nothing is read before it is filled.
        let (mut filling, mut reading): (EntitySet<Inst>, EntitySet<Inst>) = Default::default();
        filling.extend(stores.iter().map(|(store, ..)| *store));
        reading.extend(loads);
        let from_first_read = func.layout.insts(entry).skip_while(|inst| !reading.contains(*inst));
        let is_filled = !from_first_read.into_iter().any(|inst| filling.contains(inst));
        let fits = data.size <= size && data.align <= align;
        let stores = stores.into_iter().map(|(store, ..)| store).collect();
        (is_filled && fits).then(|| Copy { slot, param, taken: taken.to_vec(), computed, stores })
    }

    fn replace(&self, func: &mut Function) {
        self.stores.iter().for_each(|&store| func.layout.remove_inst(store));
        for &inst in self.computed.iter().filter(|inst| func.layout.block_of(**inst).is_some()) {
            if let Some(result) = func.dfg.first_result(inst) {
                func.dfg.set_ty(result, Type::PTR_PARAM);
            }
        }
        for &inst in &self.taken {
            let (InstData::StackAddr { offset, .. }, Some(result)) =
                (&func.dfg[inst], func.dfg.first_result(inst))
            else {
                continue;
            };
            if *offset == 0 {
                replace_with(func, inst, self.param);
                continue;
            }
            let value = i64::from(*offset);
            let by = insert_before(func, inst, InstData::IntConst { value }, Type::I64);
            func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [self.param, by] });
            func.dfg.set_ty(result, Type::PTR_PARAM);
        }
        // Where a variable of the source is that was in the slot, no debugger can say.
        let Some(debug) = &mut func.debug else { return };
        for binding in debug.bindings.values_mut() {
            if matches!(binding.storage, Storage::Slot(slot, _) if slot == self.slot) {
                binding.storage = Storage::OptimizedOut;
            }
        }
    }
}

/// The by-value parameter that a value was loaded from, and at which offset.
fn loaded_from(func: &Function, value: Value) -> Option<(Value, i64)> {
    let &InstData::Load { flags, offset, ptr } = func.dfg.def_data(value)? else { return None };
    let (mut at, mut ptr) = (i64::from(offset), func.dfg.resolve(ptr));
    for _ in 0..MAX_STEPS {
        let Some(&InstData::Binary { op: Opcode::Ptradd, args: [base, by] }) = func.dfg.def_data(ptr) else {
            break;
        };
        (at, ptr) = (at.checked_add(func.dfg.int_const(by)?)?, func.dfg.resolve(base));
    }
    (!flags.volatile && func.dfg.ty(ptr) == Type::PTR_PARAM).then_some((ptr, at))
}
