//! What the work items of a sub-group or of a group compute together (OpenCL C specification, 6.15.16 and 6.15.19). A sub-group is a warp, a group a
//! block; all its work items make the call.

use super::kinds::{Collective, Combine, Group, SubGroup, Work};
use super::lanes::LANES;
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use warpsmith_ir::{self as ir, InstBuilder, IntCC, MemFlags, Opcode, ShuffleKind, Type, Value, VoteKind};

/// What the sub-groups of a group exchange: one word each.
const SCRATCH: &str = "ws_opencl_group";
const SUB_GROUPS: u64 = 32;
const WORD: i64 = 8;

/// Where a work item is among those of its sub-group.
pub(super) struct Lanes {
    /// Its number.
    lane: Value,
    /// How many there are: the last sub-group of a group may have fewer than others.
    count: Value,
    /// A bit for each.
    pub(super) mask: Value,
}

/// An operation on values of one type.
#[derive(Clone, Copy)]
pub(super) struct Combination {
    by: Combine,
    signed: bool,
    /// What changes no other operand.
    pub(super) identity: Value,
}

impl Builder<'_, '_, '_> {
    pub(super) fn sub_group_number(&mut self, number: SubGroup, operands: &Operands) -> Result<Values> {
        let value = match number {
            SubGroup::LocalId => self.sub_group()?.lane,
            SubGroup::Size => self.sub_group()?.count,
            SubGroup::MaxSize => self.b.ins().iconst(Type::I32, 32),
            SubGroup::Id => self.sub_group_id()?,
            SubGroup::Count => self.sub_groups()?,
        };
        let ty = operands.result()?;
        Ok(Values::from_slice(&[self.resize(value, ty)]))
    }

    /// The work items of a sub-group wait for each other and see what the others have written.
    pub(super) fn sub_group_barrier(&mut self) -> Result<Values> {
        let mask = self.sub_group()?.mask;
        self.b.ins().warp_sync(mask);
        Ok(Values::new())
    }

    pub(super) fn collective(
        &mut self,
        group: Group,
        what: Collective,
        operands: &Operands,
    ) -> Result<Values> {
        let x = operands.scalar(0)?;
        let value = match what {
            Collective::All | Collective::Any => {
                let condition = self.b.ins().icmp_imm(IntCC::Ne, x, 0);
                let any = what == Collective::Any;
                let met = match group {
                    Group::Warp | Group::Active => {
                        let mask = if group == Group::Warp {
                            self.sub_group()?.mask
                        } else {
                            self.b.ins().activemask()
                        };
                        let kind = if any { VoteKind::Any } else { VoteKind::All };
                        self.b.ins().vote(kind, condition, mask)
                    }
                    Group::Block => {
                        let bit = self.b.ins().zext(Type::I32, condition);
                        let by = if any { Combine::Max } else { Combine::Min };
                        let by = self.combination(by, Type::I32, false)?;
                        let all = self.reduced(group, by, bit)?;
                        self.b.ins().icmp_imm(IntCC::Ne, all, 0)
                    }
                };
                let ty = operands.result()?;
                self.b.ins().zext(ty, met)
            }
            Collective::Broadcast => self.broadcast(x, operands)?,
            Collective::Reduce(by) => {
                let x = self.counted(by, x);
                let by = self.combination(by, self.type_of(x), operands.is_signed(0))?;
                self.reduced(group, by, x)?
            }
            Collective::Inclusive(by) | Collective::Exclusive(by) if group == Group::Active => {
                let x = self.counted(by, x);
                let by = self.combination(by, self.type_of(x), operands.is_signed(0))?;
                let cond = if matches!(what, Collective::Inclusive(_)) { IntCC::Ule } else { IntCC::Ult };
                self.over_active(by, x, |of, from, lane| of.b.ins().icmp(cond, from, lane))?
            }
            Collective::Inclusive(by) => {
                let x = self.counted(by, x);
                let by = self.combination(by, self.type_of(x), operands.is_signed(0))?;
                let lanes = self.sub_group()?;
                let sum = self.scanned(by, &lanes, x);
                match group {
                    Group::Warp | Group::Active => sum,
                    Group::Block => self.after_others(by, &lanes, sum, sum)?,
                }
            }
            Collective::Exclusive(by) => {
                let x = self.counted(by, x);
                let by = self.combination(by, self.type_of(x), operands.is_signed(0))?;
                let lanes = self.sub_group()?;
                let sum = self.scanned(by, &lanes, x);
                let one = self.b.ins().iconst(Type::I32, 1);
                let before = self.b.ins().shfl(ShuffleKind::Up, sum, one, lanes.mask);
                let is_first = self.b.ins().icmp_imm(IntCC::Eq, lanes.lane, 0);
                let before = self.b.ins().select(is_first, by.identity, before);
                match group {
                    Group::Warp | Group::Active => before,
                    Group::Block => self.after_others(by, &lanes, sum, before)?,
                }
            }
        };
        Ok(Values::from_slice(&[value]))
    }

    fn linear32(&mut self, id: Work) -> Result<Value> {
        let number = self.linear(id, Work::LocalSize)?;
        Ok(self.resize(number, Type::I32))
    }

    fn sub_group_id(&mut self) -> Result<Value> {
        let item = self.linear32(Work::LocalId)?;
        Ok(self.b.ins().lshr_imm(item, 5))
    }

    /// The number of work items of a group.
    fn items(&mut self) -> Result<Value> {
        let mut items = self.b.ins().iconst(Type::I64, 1);
        for axis in ["x", "y", "z"] {
            let size = self.along(Work::LocalSize, axis)?;
            items = self.b.ins().imul(items, size);
        }
        Ok(self.resize(items, Type::I32))
    }

    fn sub_groups(&mut self) -> Result<Value> {
        let items = self.items()?;
        let up = self.b.ins().iadd_imm(items, 31);
        Ok(self.b.ins().lshr_imm(up, 5))
    }

    /// The number of a work item in its sub-group.
    pub(super) fn lane(&mut self) -> Result<Value> {
        let item = self.linear32(Work::LocalId)?;
        Ok(self.b.ins().band_imm(item, LANES - 1))
    }

    pub(super) fn sub_group(&mut self) -> Result<Lanes> {
        let item = self.linear32(Work::LocalId)?;
        let lane = self.b.ins().band_imm(item, 31);
        let first = self.b.ins().band_imm(item, !31);
        let items = self.items()?;
        let rest = self.b.ins().isub(items, first);
        let most = self.b.ins().iconst(Type::I32, 32);
        let count = self.b.ins().umin(rest, most);
        let none = self.b.ins().isub(most, count);
        let all = self.b.ins().iconst(Type::I32, -1);
        let mask = self.b.ins().lshr(all, none);
        Ok(Lanes { lane, count, mask })
    }

    /// The operand of a combination as it is combined: conditions as 1 and 0.
    pub(super) fn counted(&mut self, by: Combine, x: Value) -> Value {
        if !by.is_logical() {
            return x;
        }
        let ty = self.type_of(x);
        let is = self.b.ins().icmp_imm(IntCC::Ne, x, 0);
        self.b.ins().zext(ty, is)
    }

    pub(super) fn combination(&mut self, by: Combine, ty: Type, signed: bool) -> Result<Combination> {
        if ty.is_float() {
            let identity = match by {
                Combine::Add => 0.0,
                Combine::Multiply => 1.0,
                Combine::Min => f64::INFINITY,
                Combine::Max => f64::NEG_INFINITY,
                Combine::And
                | Combine::Or
                | Combine::Xor
                | Combine::LogicalAnd
                | Combine::LogicalOr
                | Combine::LogicalXor => return Err(missing()),
            };
            return Ok(Combination { by, signed, identity: self.float_const(ty, identity) });
        }
        if !ty.is_int() || ty.bits() > 64 {
            return Err(missing());
        }
        let (highest, lowest) = (i64::MAX >> (64 - ty.bits()), i64::MIN >> (64 - ty.bits()));
        let identity = match (by, signed) {
            (Combine::Add | Combine::Or | Combine::Xor | Combine::LogicalOr | Combine::LogicalXor, _)
            | (Combine::Max, false) => 0,
            (Combine::Multiply | Combine::LogicalAnd, _) => 1,
            (Combine::Min, true) => highest,
            (Combine::Min, false) | (Combine::And, _) => -1,
            (Combine::Max, true) => lowest,
        };
        Ok(Combination { by, signed, identity: self.b.ins().iconst(ty, identity) })
    }

    pub(super) fn combined(&mut self, combination: Combination, x: Value, y: Value) -> Value {
        let is_float = self.type_of(x).is_float();
        match (combination.by, combination.signed) {
            (Combine::Add, _) if is_float => self.float_op(Opcode::Fadd, &[x, y], false),
            (Combine::Multiply, _) if is_float => self.float_op(Opcode::Fmul, &[x, y], false),
            (Combine::Min, _) if is_float => self.float_op(Opcode::Fmin, &[x, y], false),
            (Combine::Max, _) if is_float => self.float_op(Opcode::Fmax, &[x, y], false),
            (Combine::Add, _) => self.b.ins().iadd(x, y),
            (Combine::Multiply, _) => self.b.ins().imul(x, y),
            (Combine::Min, true) => self.b.ins().smin(x, y),
            (Combine::Min, false) => self.b.ins().umin(x, y),
            (Combine::Max, true) => self.b.ins().smax(x, y),
            (Combine::Max, false) => self.b.ins().umax(x, y),
            (Combine::And | Combine::LogicalAnd, _) => self.b.ins().band(x, y),
            (Combine::Or | Combine::LogicalOr, _) => self.b.ins().bor(x, y),
            (Combine::Xor | Combine::LogicalXor, _) => self.b.ins().bxor(x, y),
        }
    }

    /// The values of a sub-group's work items up to each one, combined.
    fn scanned(&mut self, by: Combination, lanes: &Lanes, x: Value) -> Value {
        let mut sum = x;
        for distance in [1, 2, 4, 8, 16] {
            let delta = self.b.ins().iconst(Type::I32, distance);
            let below = self.b.ins().shfl(ShuffleKind::Up, sum, delta, lanes.mask);
            let more = self.combined(by, below, sum);
            let is_there = self.b.ins().icmp_imm(IntCC::Uge, lanes.lane, distance);
            sum = self.b.ins().select(is_there, more, sum);
        }
        sum
    }

    fn reduced(&mut self, group: Group, by: Combination, x: Value) -> Result<Value> {
        if group == Group::Active {
            return self.over_active(by, x, |of, _, _| of.b.ins().iconst(Type::I1, 1));
        }
        let lanes = self.sub_group()?;
        let sum = self.scanned(by, &lanes, x);
        match group {
            Group::Warp | Group::Active => {
                let last = self.b.ins().iadd_imm(lanes.count, -1);
                Ok(self.b.ins().shfl(ShuffleKind::Idx, sum, last, lanes.mask))
            }
            Group::Block => {
                self.publish(&lanes, sum)?;
                let count = self.sub_groups()?;
                let all = self.published(by, count);
                self.b.ins().barrier();
                Ok(all)
            }
        }
    }

    /// A value of a sub-group's scan, `x`, after those of the sub-groups before it, whose sums are `sum` of their last work items.
    fn after_others(&mut self, by: Combination, lanes: &Lanes, sum: Value, x: Value) -> Result<Value> {
        self.publish(lanes, sum)?;
        let sub_group = self.sub_group_id()?;
        let before = self.published(by, sub_group);
        // Nobody writes the next values while somebody still reads these.
        self.b.ins().barrier();
        Ok(self.combined(by, before, x))
    }

    /// A word of what the sub-groups of a group exchange. All functions of a program share them.
    fn word(&mut self, n: Value) -> Value {
        let id = self.importer.scratch.unwrap_or_else(|| {
            let name = self.importer.symbols.legal(SCRATCH, false);
            let space = warpsmith_isa::StateSpace::Shared;
            self.b.add_global(ir::Global::new(name, space, Type::I64, ir::Extent::Array(SUB_GROUPS)))
        });
        self.importer.scratch = Some(id);
        let words = self.b.global_addr(id);
        let n = self.b.ins().zext(Type::I64, n);
        let offset = self.b.ins().imul_imm(n, WORD);
        self.b.ins().ptradd(words, offset)
    }

    /// Stores a sub-group's sum, which its last work item has.
    fn publish(&mut self, lanes: &Lanes, sum: Value) -> Result<()> {
        let sub_group = self.sub_group_id()?;
        let to = self.word(sub_group);
        let next = self.b.ins().iadd_imm(lanes.lane, 1);
        let is_last = self.b.ins().icmp(IntCC::Eq, next, lanes.count);
        self.store_if(is_last, sum, to);
        self.b.ins().barrier();
        Ok(())
    }

    /// Goes on in a new block.
    pub(super) fn store_if(&mut self, condition: Value, value: Value, to: Value) {
        let (then, done) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, then, &[], done, &[]);
        self.b.switch_to_block(then);
        self.b.ins().store(MemFlags::PLAIN, value, to, 0);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The sums of the first `count` sub-groups, combined.
    fn published(&mut self, by: Combination, count: Value) -> Value {
        let ty = self.type_of(by.identity);
        let [head, body, done] = [(); 3].map(|()| self.b.create_block());
        let n = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, ty);
        let zero = self.b.ins().iconst(Type::I32, 0);
        self.b.ins().jump(head, &[zero, by.identity]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::Ult, n, count);
        self.b.ins().brif(more, body, &[], done, &[]);
        self.b.switch_to_block(body);
        let from = self.word(n);
        let value = self.b.ins().load(ty, MemFlags::PLAIN, from, 0);
        let next_sum = self.combined(by, sum, value);
        let next = self.b.ins().iadd_imm(n, 1);
        self.b.ins().jump(head, &[next, next_sum]);
        self.b.switch_to_block(done);
        sum
    }

    /// The value of one work item of a group.
    fn broadcast(&mut self, x: Value, operands: &Operands) -> Result<Value> {
        let x_id = operands.scalar(1)?;
        // The work item is named by one number for each dimension of the launch.
        let mut from = self.resize(x_id, Type::I64);
        let mut row = self.along(Work::LocalSize, "x")?;
        for (n, axis) in [(2, "y"), (3, "z")].into_iter().take(operands.all.len().saturating_sub(2)) {
            let id = operands.scalar(n)?;
            let id = self.resize(id, Type::I64);
            let items = self.b.ins().imul(id, row);
            from = self.b.ins().iadd(from, items);
            let size = self.along(Work::LocalSize, axis)?;
            row = self.b.ins().imul(row, size);
        }
        let item = self.linear(Work::LocalId, Work::LocalSize)?;
        let is_it = self.b.ins().icmp(IntCC::Eq, item, from);
        let zero = self.b.ins().iconst(Type::I32, 0);
        let word = self.word(zero);
        self.store_if(is_it, x, word);
        self.b.ins().barrier();
        let ty = self.type_of(x);
        let value = self.b.ins().load(ty, MemFlags::PLAIN, word, 0);
        self.b.ins().barrier();
        Ok(value)
    }
}
