//! Copies by a whole group (OpenCL C specification, 6.15.11): each work item copies its share at once, and waiting for the event is a barrier.

use super::kinds::Work;
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Type, Value};

impl Builder<'_, '_, '_> {
    pub(super) fn async_copy(&mut self, strided: bool, operands: &Operands) -> Result<Values> {
        let (to, from, count) = (operands.scalar(0)?, operands.scalar(1)?, operands.scalar(2)?);
        let event = operands.scalar(if strided { 4 } else { 3 })?;
        let bytes = operands.vector(0)?.bytes;
        if bytes == 0 {
            return Err(missing());
        }
        let count = self.resize(count, Type::I64);
        let one = self.b.ins().iconst(Type::I64, 1);
        let stride = if strided {
            let stride = operands.scalar(3)?;
            self.resize(stride, Type::I64)
        } else {
            one
        };
        // The distance is that of the elements in global memory.
        let is_load = self.type_of(to) == Type::PTR_SHARED;
        let (stride_to, stride_from) = if is_load { (one, stride) } else { (stride, one) };
        let first = self.linear(Work::LocalId, Work::LocalSize)?;
        let mut step = one;
        for axis in ["x", "y", "z"] {
            let size = self.along(Work::LocalSize, axis)?;
            step = self.b.ins().imul(step, size);
        }
        let [head, body, done] = [(); 3].map(|()| self.b.create_block());
        let i = self.b.append_block_param(head, Type::I64);
        self.b.ins().jump(head, &[first]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::Ult, i, count);
        self.b.ins().brif(more, body, &[], done, &[]);
        self.b.switch_to_block(body);
        let (to, from) =
            (self.element_at(to, i, stride_to, bytes), self.element_at(from, i, stride_from, bytes));
        let flags = MemFlags::PLAIN.with_align(bytes.min(16)).unwrap_or(MemFlags::PLAIN);
        let size = self.b.ins().iconst(Type::I64, bytes.into());
        self.b.ins().memcpy(flags, to, from, size);
        let next = self.b.ins().iadd(i, step);
        self.b.ins().jump(head, &[next]);
        self.b.switch_to_block(done);
        Ok(Values::from_slice(&[event]))
    }

    fn element_at(&mut self, pointer: Value, index: Value, stride: Value, bytes: u32) -> Value {
        let index = self.b.ins().imul(index, stride);
        let offset = self.b.ins().imul_imm(index, bytes.into());
        self.b.ins().ptradd(pointer, offset)
    }
}
