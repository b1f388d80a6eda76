//! Blocks, branches, and what a function begins and ends with.

use super::kind::Kind;
use super::{Fallible, Translator};
use crate::context::{Context, LOCAL_REGION, address};
use crate::fault::FaultKind;
use crate::unit::internal;
use cranelift_codegen::ir::condcodes::IntCC as Cc;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, types};
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_diag::Span;
use warpsmith_ir as ir;
use warpsmith_ir::BlockCall;

impl<'m> Translator<'_, '_, 'm> {
    pub(super) fn body(&mut self) -> Fallible<()> {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let [context, args, results] = self.b.block_params(entry) else {
            return Err(internal(&self.func.name, "not the signature of compiled functions"));
        };
        let args = *args;
        (self.context, self.results) = (*context, *results);
        self.fault = self.b.create_block();
        self.b.append_block_param(self.fault, types::I32);
        self.b.set_cold_block(self.fault);
        self.enter()?;

        let order = self.reverse_postorder();
        let position: FxHashMap<ir::Block, usize> = order.iter().enumerate().map(|(n, b)| (*b, n)).collect();
        let mut heads = vec![false; order.len()];
        for (n, block) in order.iter().enumerate() {
            let made = self.b.create_block();
            self.blocks.insert(*block, made);
            for target in self.func.successors(*block) {
                if let Some(&to) = position.get(&target)
                    && to <= n
                {
                    heads[to] = true;
                }
            }
        }
        // The entry's parameters are the arguments.
        let mut cell = 0;
        for (n, block) in order.iter().enumerate() {
            for &param in self.func.dfg.block_params(*block) {
                let mut parts = Vec::new();
                for kind in self.kinds(self.func.dfg.ty(param)) {
                    if n == 0 {
                        parts.push(self.load_cell(args, cell, kind));
                        cell += 1;
                    } else {
                        parts.push(self.b.append_block_param(self.blocks[block], kind.ty()));
                    }
                }
                self.values.insert(param, parts);
            }
        }
        if let Some(first) = order.first() {
            let first = self.blocks[first];
            self.b.ins().jump(first, &[]);
        }
        for (n, block) in order.iter().enumerate() {
            self.b.switch_to_block(self.blocks[block]);
            if heads[n] {
                self.spend(Span::NONE);
            }
            for inst in self.func.layout.insts(*block) {
                self.inst = Some(inst);
                self.instruction(inst)?;
            }
            self.inst = None;
        }
        self.b.switch_to_block(self.fault);
        let status = self.b.block_params(self.fault)[0];
        self.b.ins().return_(&[status]);
        Ok(())
    }

    /// The blocks that can be reached, each before those that it alone leads to.
    pub(super) fn reverse_postorder(&self) -> Vec<ir::Block> {
        let Some(entry) = self.func.layout.entry() else { return Vec::new() };
        let mut seen = FxHashSet::from_iter([entry]);
        let (mut order, mut stack) = (Vec::new(), vec![(entry, self.func.successors(entry))]);
        while let Some((block, successors)) = stack.last_mut() {
            match successors.next() {
                Some(next) if seen.insert(next) => stack.push((next, self.func.successors(next))),
                Some(_) => {}
                None => {
                    order.push(*block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Counts the call, and takes room for the stack slots.
    pub(super) fn enter(&mut self) -> Fallible<()> {
        let mut size = 0u64;
        let mut most = 16u64;
        for (slot, data) in &self.func.stack_slots {
            let align = u64::from(data.align.max(1));
            most = most.max(align);
            size = size.next_multiple_of(align);
            self.slots.insert(slot, size);
            size += u64::from(data.size);
        }
        self.local_size = size.next_multiple_of(most);
        let depth = self.field(types::I64, Context::DEPTH);
        let left = self.b.ins().iadd_imm_s(depth, -1);
        self.set_field(left, Context::DEPTH);
        self.spend(self.func.span);
        let deep = self.b.ins().icmp_imm_s(Cc::SignedLessThan, left, 0);
        if self.local_size == 0 {
            self.fail_if(deep, FaultKind::StackOverflow, self.func.span);
            return Ok(());
        }
        self.shop.uses_memory = true;
        let used = self.field(types::I64, Context::LOCAL);
        // A frame begins at a multiple of its alignment; what is left over before it is given back with it.
        let align = self.b.ins().iconst(types::I64, most as i64);
        let rounded = self.b.ins().iadd_imm_s(used, most as i64 - 1);
        let mask = self.b.ins().ineg(align);
        let begin = self.b.ins().band(rounded, mask);
        let end = self.b.ins().iadd_imm_s(begin, self.local_size as i64);
        let len = self.field(types::I64, Context::LOCAL_LEN);
        let over = self.b.ins().icmp(Cc::UnsignedGreaterThan, end, len);
        self.saved_local = Some(used);
        let either = self.b.ins().bor(deep, over);
        self.fail_if(either, FaultKind::StackOverflow, self.func.span);
        self.set_field(end, Context::LOCAL);
        self.frame = self.b.ins().iadd_imm_s(begin, address(LOCAL_REGION, 0) as i64);
        Ok(())
    }

    /// Gives back what `enter` took.
    pub(super) fn leave(&mut self) {
        let depth = self.field(types::I64, Context::DEPTH);
        let back = self.b.ins().iadd_imm_s(depth, 1);
        self.set_field(back, Context::DEPTH);
        if let Some(used) = self.saved_local {
            self.set_field(used, Context::LOCAL);
        }
    }

    /// Counts a round of a loop or a call.
    pub(super) fn spend(&mut self, span: Span) {
        let fuel = self.field(types::I64, Context::FUEL);
        let left = self.b.ins().iadd_imm_s(fuel, -1);
        self.set_field(left, Context::FUEL);
        let spent = self.b.ins().icmp_imm_s(Cc::SignedLessThan, left, 0);
        self.fail_if(spent, FaultKind::StepLimit, span);
    }

    pub(super) fn target(&mut self, call: &BlockCall) -> Fallible<(Block, Vec<BlockArg>)> {
        let mut args = Vec::new();
        for arg in call.args(&self.func.dfg.pool) {
            args.extend(self.parts(*arg)?.into_iter().map(BlockArg::Value));
        }
        Ok((self.blocks[&call.block], args))
    }

    /// A chain of comparisons: cases are few, and may be anywhere in the type's range.
    pub(super) fn switch(&mut self, arg: ir::Value, table: &ir::JumpTableData) -> Fallible<()> {
        let (value, kind) = (self.one(arg)?, Kind::of(self.ty(arg).element()));
        for (case, call) in &table.cases {
            let number = self.constant(kind, *case as i128 as u128);
            let hit = self.b.ins().icmp(Cc::Equal, value, number);
            let (block, args) = self.target(call)?;
            let next = self.b.create_block();
            self.b.ins().brif(hit, block, &args, next, &[]);
            self.b.switch_to_block(next);
        }
        let (block, args) = self.target(&table.default)?;
        self.b.ins().jump(block, &args);
        Ok(())
    }
}
