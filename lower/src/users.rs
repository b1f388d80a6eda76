//! Which instructions use each value.

use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Function, Inst, Value};

/// Instructions by the values that they use: a list through `uses` from the last, whose number is noted plus one.
pub(crate) struct Users {
    last: SecondaryMap<Value, u32>,
    uses: Vec<(Inst, u32)>,
}

impl Users {
    /// No user of any value of a function yet.
    pub(crate) fn new(func: &Function) -> Users {
        let mut last = SecondaryMap::new();
        last.resize(func.dfg.num_values());
        Users { last, uses: Vec::with_capacity(2 * func.layout.num_insts()) }
    }

    /// All users of all values.
    pub(crate) fn all(func: &Function) -> Users {
        let mut users = Users::new(func);
        for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
            func.dfg.for_each_use(inst, |value| users.add(func.dfg.resolve(value), inst));
        }
        users
    }

    #[inline]
    pub(crate) fn add(&mut self, value: Value, user: Inst) {
        let last = &mut self.last[value];
        self.uses.push((user, *last));
        *last = self.uses.len() as u32;
    }

    /// The users of a value, the last first.
    #[inline]
    pub(crate) fn of(&self, value: Value) -> impl Iterator<Item = Inst> + '_ {
        let entry = |number: u32| number.checked_sub(1).and_then(|n| self.uses.get(n as usize));
        std::iter::successors(entry(self.last[value]), move |(_, before)| entry(*before))
            .map(|(user, _)| *user)
    }
}
