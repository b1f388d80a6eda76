//! Where a work item is among all (OpenCL C specification, 6.15.1). A group is a block, and no launch has an offset.

use super::kinds::{Clock, Work};
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use crate::module::body::Call;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

const AXES: [&str; 3] = ["x", "y", "z"];

impl Builder<'_, '_, '_> {
    /// A number of work items, of the dimension that the operand names.
    pub(super) fn work_items(&mut self, work: Work, call: &Call, operands: &Operands) -> Result<Values> {
        let ty = operands.result()?;
        let value = match work {
            Work::Dimensions => self.dimensions()?,
            Work::GlobalLinearId => self.linear(Work::GlobalId, Work::GlobalSize)?,
            Work::LocalLinearId => self.linear(Work::LocalId, Work::LocalSize)?,
            Work::GlobalId
            | Work::LocalId
            | Work::GroupId
            | Work::GlobalSize
            | Work::LocalSize
            | Work::Groups
            | Work::Offset => {
                let dimension = operands.scalar(0)?;
                let known = self.body.args(call).first().and_then(|arg| self.constant_integer(*arg));
                let is_size = matches!(work, Work::GlobalSize | Work::LocalSize | Work::Groups);
                let otherwise = i64::from(is_size);
                match known {
                    Some(n) => match usize::try_from(n).ok().and_then(|n| AXES.get(n)) {
                        Some(axis) => self.along(work, axis)?,
                        None => self.b.ins().iconst(Type::I64, otherwise),
                    },
                    None => {
                        let mut value = self.b.ins().iconst(Type::I64, otherwise);
                        for (n, axis) in (0..).zip(AXES) {
                            let here = self.along(work, axis)?;
                            let is = self.b.ins().icmp_imm(IntCC::Eq, dimension, n);
                            value = self.b.ins().select(is, here, value);
                        }
                        value
                    }
                }
            }
        };
        Ok(Values::from_slice(&[self.resize(value, ty)]))
    }

    fn work_register(&mut self, name: &str, axis: &str) -> Result<Value> {
        let value = self.special_register(&format!("{name}.{axis}"))?;
        Ok(self.b.ins().zext(Type::I64, value))
    }

    pub(super) fn along(&mut self, work: Work, axis: &str) -> Result<Value> {
        match work {
            Work::LocalId => self.work_register("tid", axis),
            Work::GroupId => self.work_register("ctaid", axis),
            Work::LocalSize => self.work_register("ntid", axis),
            Work::Groups => self.work_register("nctaid", axis),
            Work::GlobalId => {
                let (group, size) = (self.work_register("ctaid", axis)?, self.work_register("ntid", axis)?);
                let first = self.b.ins().imul(group, size);
                let here = self.work_register("tid", axis)?;
                Ok(self.b.ins().iadd(first, here))
            }
            Work::GlobalSize => {
                let (groups, size) = (self.work_register("nctaid", axis)?, self.work_register("ntid", axis)?);
                Ok(self.b.ins().imul(groups, size))
            }
            Work::Offset => Ok(self.b.ins().iconst(Type::I64, 0)),
            Work::Dimensions | Work::GlobalLinearId | Work::LocalLinearId => Err(missing()),
        }
    }

    /// A clock of 64 bits, or its halves, the lower one first (`cl_khr_kernel_clock`).
    pub(super) fn clock(&mut self, clock: Clock, operands: &Operands) -> Result<Values> {
        let register = match clock {
            Clock::Device => "globaltimer",
            Clock::Group => "clock64",
        };
        let now = self.special_register(register)?;
        if operands.lanes == 1 {
            return Ok(Values::from_slice(&[now]));
        }
        let high = self.b.ins().lshr_imm(now, 32);
        Ok([now, high].into_iter().map(|half| self.b.ins().trunc(Type::I32, half)).collect())
    }

    /// x + (y + z size_y) size_x.
    pub(super) fn linear(&mut self, id: Work, size: Work) -> Result<Value> {
        let z = self.along(id, "z")?;
        let size_y = self.along(size, "y")?;
        let planes = self.b.ins().imul(z, size_y);
        let y = self.along(id, "y")?;
        let rows = self.b.ins().iadd(planes, y);
        let size_x = self.along(size, "x")?;
        let rows = self.b.ins().imul(rows, size_x);
        let x = self.along(id, "x")?;
        Ok(self.b.ins().iadd(rows, x))
    }

    /// The dimensions that more than one work item lies along, and one at least: a launch does not say how many were asked for.
    fn dimensions(&mut self) -> Result<Value> {
        let mut count = self.b.ins().iconst(Type::I64, 1);
        for (n, axis) in [(2, "y"), (3, "z")] {
            let size = self.along(Work::GlobalSize, axis)?;
            let several = self.b.ins().icmp_imm(IntCC::Ugt, size, 1);
            let so_many = self.b.ins().iconst(Type::I64, n);
            count = self.b.ins().select(several, so_many, count);
        }
        Ok(count)
    }
}
