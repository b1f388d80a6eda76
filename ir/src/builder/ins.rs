//! Making instructions where the builder is.

use super::FunctionBuilder;
use crate::dfg::Results;
use crate::entities::{Inst, Value};
use crate::function::Function;
use crate::ins::InstBuilder;
use crate::inst::InstData;
use crate::ops::Traits;
use crate::types::Type;

/// Makes an instruction at the end of the builder's current block.
pub struct FuncIns<'b, 'm> {
    pub(super) builder: &'b mut FunctionBuilder<'m>,
}

impl InstBuilder for FuncIns<'_, '_> {
    #[inline]
    fn func(&mut self) -> &mut Function {
        self.builder.home.func_mut()
    }

    fn operand(&mut self, data: InstData, ty: Type) -> Value {
        self.builder.ins().build(data, &[ty]).1.first()
    }

    fn build(self, data: InstData, results: &[Type]) -> (Inst, Results) {
        let builder = self.builder;
        let block = builder.open_block(&data);
        let loc = builder.loc;
        let is_terminator = data.opcode().traits().contains(Traits::TERMINATOR);
        let func = builder.home.func_mut();
        let (inst, results) = func.dfg.make_inst_and_results(data, results);
        func.layout.append_inst(inst, block);
        if loc.is_some() {
            func.inst_locs[inst] = loc;
        }
        if is_terminator {
            builder.open = None;
            if Some(block) == builder.block {
                builder.branches_to(block, inst);
            }
        }
        (inst, results)
    }
}
