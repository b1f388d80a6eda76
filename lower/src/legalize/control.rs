//! Branches on values that PTX has no register for.

use super::*;
use warpsmith_ir::{BlockCall, JumpTable};

impl Legalizer<'_> {
    /// A `switch`: cases are converted to the type that holds the value; with 128 bits they become comparisons.
    pub(super) fn switch(&mut self, inst: Inst, ty: Type, table: JumpTable) {
        if held(ty) != Type::I128 {
            let bits = u64::MAX >> (64 - ty.bits());
            let held = held(ty);
            for (case, _) in &mut self.func.dfg.jump_tables[table].cases {
                *case = held.normalize((*case as u64 & bits) as i64);
            }
            return;
        }
        let arg = self.func.dfg.args(inst)[0];
        let table = self.func.dfg.jump_tables[table].clone();
        let mut block = self.func.layout.block_of(inst);
        for (case, target) in table.cases {
            let case = self.bits(ty, case as i128 as u128);
            let equal = self.icmp(IntCC::Eq, ty, arg, case);
            let next = self.func.dfg.make_block();
            let Some(here) = block else { return };
            self.func.layout.split_block(next, inst);
            let pool = &mut self.func.dfg.pool;
            let otherwise = BlockCall::new(next, &[], pool);
            let data = InstData::Brif { cond: equal, dests: [target, otherwise] };
            self.func.at_end(here).build(data, &[]);
            block = Some(next);
        }
        self.func.dfg.replace_inst(inst, InstData::Jump { dest: table.default });
    }
}
