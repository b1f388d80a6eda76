//! Rematerialisation: an address that is needed behind a loop is computed there again, from its index.
//!
//! What a kernel sums up in a loop goes to a place that is known in front of it: a parameter and a multiple of an index. Of a wide product (`mul.wide`) and
//! a sum behind the loop ptxas makes one instruction, which it moves in front of the branch around the loop, or shares the product with an address that is
//! needed there; either way 64 bits are kept in the loop, and 32 would do. `mad.wide` it leaves where it is: an instruction more, executed once, and two
//! registers fewer in the loop.
//!
//! `index` adds the same multiple of the same 32 bits, extended in the same way, and these are there wherever the product of them was. Only blocks behind a
//! branch around a loop are looked at, which are in no loop themselves, and only parameters of kernels, which ptxas loads where it wants them.

use super::{insert_before, replace_with};
use crate::analysis::{Cfg, Loops};
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{Block, DominatorTree, FuncKind, Function, Inst, InstData, Opcode, Type, Value};

/// Addresses that are computed again: each is an instruction more.
const MAX_ADDRESSES: usize = 4;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let loops = cx.analyses.get::<Loops>(func);
    if func.kind != FuncKind::Kernel || loops.iter().next().is_none() {
        return Changes::NONE;
    }
    let (cfg, tree) = (cx.analyses.get::<Cfg>(func), cx.analyses.get::<DominatorTree>(func));
    let headers: Vec<Block> = loops.iter().map(|found| found.header).collect();
    // The outermost loop around a block, counted from 1: outer ones come before those in them.
    let mut around: SecondaryMap<Block, usize> = SecondaryMap::new();
    for (found, n) in loops.iter().zip(1..) {
        if around[found.header] == 0 {
            found.blocks.iter().for_each(|&block| around[block] = n);
        }
    }
    // The last of the loops that some way to a block goes through.
    let mut behind: SecondaryMap<Block, usize> = SecondaryMap::new();
    for &block in cfg.reverse_postorder() {
        let last = cfg.predecessors(block).iter().map(|&pred| behind[pred]).max();
        behind[block] = last.unwrap_or(0).max(around[block]);
    }
    let tails = cfg.reverse_postorder().iter().filter(|&&block| around[block] == 0 && behind[block] != 0);
    let found = tails.flat_map(|&block| {
        let header = headers[behind[block] - 1];
        let above = |of: Block| of != header && tree.dominates(of, header);
        let in_front =
            |value: Value| tree.idom(block).is_some_and(above) && func.block_of(value).is_some_and(above);
        let insts = func.layout.insts(block);
        insts.filter_map(|inst| address(func, inst).filter(|found| in_front(found.index))).collect::<Vec<_>>()
    });
    let found: Vec<Address> = found.take(MAX_ADDRESSES).collect();
    let changes = found.len() as u32;
    found.into_iter().for_each(|address| address.rewrite(func));
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// A parameter of the kernel and a multiple of an index.
struct Address {
    inst: Inst,
    base: Value,
    extension: Opcode,
    index: Value,
    scale: i32,
}

fn address(func: &Function, inst: Inst) -> Option<Address> {
    let operation = |value: Value| func.dfg.def_inst(func.dfg.resolve(value)).map(|inst| &func.dfg[inst]);
    let InstData::Binary { op: Opcode::Ptradd, args: [base, offset] } = func.dfg[inst] else { return None };
    let Some(&InstData::Binary { op: Opcode::Imul, args: [wide, scale] }) = operation(offset) else {
        return None;
    };
    let scale = func.dfg.int_const(scale).and_then(|scale| i32::try_from(scale).ok())?;
    let Some(&InstData::Unary { op: extension @ (Opcode::Sext | Opcode::Zext), arg }) = operation(wide)
    else {
        return None;
    };
    let index = func.dfg.resolve(arg);
    let is_param = func.param_values().contains(&func.dfg.resolve(base));
    let fits = is_param
        && scale > 1
        && scale.count_ones() == 1
        && func.dfg.ty(index) == Type::I32
        && func.dfg.ty(wide) == Type::I64;
    fits.then_some(Address { inst, base, extension, index, scale })
}

impl Address {
    fn rewrite(self, func: &mut Function) {
        let Address { inst, base, extension, index, scale } = self;
        let Some(ty) = func.dfg.first_result(inst).map(|result| func.dfg.ty(result)) else { return };
        let wide = InstData::Unary { op: extension, arg: index };
        let wide = insert_before(func, inst, wide, Type::I64);
        let address = insert_before(func, inst, InstData::Index { scale, args: [base, wide] }, ty);
        replace_with(func, inst, address);
    }
}
