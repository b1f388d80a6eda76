//! The names of values, slots and blocks in the text.

use crate::entities::{Block, StackSlot, Value};
use crate::function::Function;
use crate::names::Named;
use std::fmt;
use warpsmith_base::FxHashSet;

/// The names that values, slots and blocks have in the text: given ones where they are unique, numbers for the rest.
#[derive(Clone, Default)]
pub(super) struct LocalNames {
    /// Given names that must not be used, because another has the same, or made-up ones that a given name equals.
    pub(super) taken: Option<Box<Renamed>>,
}

#[derive(Clone, Default)]
pub(super) struct Renamed {
    pub(super) values: warpsmith_base::FxHashMap<Value, String>,
    pub(super) slots: warpsmith_base::FxHashMap<StackSlot, String>,
    pub(super) blocks: warpsmith_base::FxHashMap<Block, String>,
}

impl LocalNames {
    pub(super) fn new(func: &Function) -> Self {
        let mut renamed = Renamed::default();
        let names = &func.names;
        let params = func.layout.blocks().flat_map(|block| func.dfg.block_params(block).iter().copied());
        let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
        let values: Vec<Value> = params.chain(insts.flat_map(|inst| func.dfg.results(inst))).collect();
        // Slots and values share one name space, blocks have their own. Given names come first, so that only made-up names
        // and second owners have to step back.
        let mut used = FxHashSet::default();
        let slots: Vec<StackSlot> = func.stack_slots.keys().collect();
        let mut second = (Vec::new(), Vec::new());
        slots.iter().for_each(|&slot| claim(&mut used, names.get(slot), slot, &mut second.0));
        values.iter().for_each(|&value| claim(&mut used, names.get(value), value, &mut second.1));
        let clash = may_be_made_up(&used);
        second.0.into_iter().for_each(|slot| step_back(&mut used, clash, func, slot, &mut renamed.slots));
        second.1.into_iter().for_each(|value| step_back(&mut used, clash, func, value, &mut renamed.values));
        let mut used = FxHashSet::default();
        let mut second = Vec::new();
        func.layout.blocks().for_each(|block| claim(&mut used, names.get(block), block, &mut second));
        let clash = may_be_made_up(&used);
        second.into_iter().for_each(|block| step_back(&mut used, clash, func, block, &mut renamed.blocks));
        let any = !(renamed.values.is_empty() && renamed.slots.is_empty() && renamed.blocks.is_empty());
        LocalNames { taken: any.then(|| Box::new(renamed)) }
    }

    fn name<E: Named + std::hash::Hash + Eq + fmt::Display>(
        func: &Function,
        entity: E,
        renamed: Option<&warpsmith_base::FxHashMap<E, String>>,
    ) -> String {
        if let Some(name) = renamed.and_then(|map| map.get(&entity)) {
            return name.clone();
        }
        func.names.get(entity).map_or_else(|| entity.to_string(), str::to_string)
    }

    pub(super) fn value(&self, func: &Function, value: Value) -> String {
        Self::name(func, value, self.taken.as_ref().map(|renamed| &renamed.values))
    }

    pub(super) fn slot(&self, func: &Function, slot: StackSlot) -> String {
        Self::name(func, slot, self.taken.as_ref().map(|renamed| &renamed.slots))
    }

    pub(super) fn block(&self, func: &Function, block: Block) -> String {
        Self::name(func, block, self.taken.as_ref().map(|renamed| &renamed.blocks))
    }
}

fn claim<'a, E: Copy>(
    used: &mut FxHashSet<std::borrow::Cow<'a, str>>,
    name: Option<&'a str>,
    entity: E,
    second: &mut Vec<E>,
) {
    if !name.is_some_and(|name| used.insert(name.into())) {
        second.push(entity);
    }
}

/// Whether a given name may be one that is made up for another entity: these end in a number. Where none does, none of them need be made to look.
fn may_be_made_up(given: &FxHashSet<std::borrow::Cow<'_, str>>) -> bool {
    given.iter().any(|name| name.ends_with(|c: char| c.is_ascii_digit()))
}

/// Finds a free name for an entity whose first choice may be taken; by a made-up name only if there can be a `clash`.
fn step_back<E: Named + std::hash::Hash + Eq + fmt::Display>(
    used: &mut FxHashSet<std::borrow::Cow<'_, str>>,
    clash: bool,
    func: &Function,
    entity: E,
    renamed: &mut warpsmith_base::FxHashMap<E, String>,
) {
    let given = func.names.get(entity);
    if given.is_none() && !clash {
        return;
    }
    let plain = given.map_or_else(|| entity.to_string(), str::to_string);
    if given.is_none() && used.insert(plain.clone().into()) {
        return;
    }
    // The entity's own number makes the second choice unique but for names that someone gave.
    let mut name = format!("{plain}.{}", entity.index());
    while !used.insert(name.clone().into()) {
        name.push('_');
    }
    renamed.insert(entity, name);
}
