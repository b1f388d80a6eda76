//! Addresses as sums: the product of an index and its scale becomes a value of its own, which equal indices of several arrays share.
//!
//! ptxas folds the product into each address where that pays (one instruction for a product of 32 bits and a sum of 64), but takes
//! `mad.wide`, which says the same, apart into four. So this is worth a fifth of a short kernel.

use super::insert_before;
use crate::pass::{Changes, Context};
use warpsmith_ir::{Block, Function, InstData, Opcode, Type};

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let mut changes = 0;
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let InstData::Index { scale, args: [base, index] } = func.dfg[inst] else { continue };
            if func.dfg.int_const(index).is_some() {
                continue;
            }
            let wide = match func.dfg.ty(index) {
                Type::I64 => index,
                _ => insert_before(func, inst, InstData::Unary { op: Opcode::Sext, arg: index }, Type::I64),
            };
            let offset = if scale == 1 {
                wide
            } else {
                let scale = InstData::IntConst { value: scale.into() };
                let scale = insert_before(func, inst, scale, Type::I64);
                let product = InstData::Binary { op: Opcode::Imul, args: [wide, scale] };
                insert_before(func, inst, product, Type::I64)
            };
            func.dfg.replace_inst(inst, InstData::Binary { op: Opcode::Ptradd, args: [base, offset] });
            changes += 1;
        }
    }
    Changes::to_instructions(changes)
}
