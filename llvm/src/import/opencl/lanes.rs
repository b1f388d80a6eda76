//! What those work items of a sub-group that make a call read of each other, also where others of it do not make the call (OpenCL's extensions
//! `cl_khr_subgroup_non_uniform_vote`, `_ballot`, `_shuffle`, `_shuffle_relative`, `_rotate` and `_clustered_reduce`, and the shuffles of
//! `cl_intel_subgroups`).

use super::kinds::{Ballot, Combine, Exchange, LaneMask};
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use warpsmith_ir::{InstBuilder, IntCC, ShuffleKind, Type, Value, VoteKind};

/// The work items of a sub-group: a warp.
pub(super) const LANES: i64 = 32;

impl Builder<'_, '_, '_> {
    /// The elements of the first operand as another work item has them.
    pub(super) fn exchanged(&mut self, exchange: Exchange, operands: &Operands) -> Result<Values> {
        // Intel's have a second value, of the next sub-group or of the one before.
        let second = matches!(exchange, Exchange::UpInto | Exchange::DownInto);
        let mask = match exchange {
            Exchange::Uniform => self.sub_group()?.mask,
            Exchange::At
            | Exchange::First
            | Exchange::Xor
            | Exchange::Up
            | Exchange::Down
            | Exchange::UpInto
            | Exchange::DownInto
            | Exchange::Rotate
            | Exchange::RotateCluster => self.b.ins().activemask(),
        };
        let by = if exchange == Exchange::First {
            self.b.ins().ctz(mask)
        } else {
            operands.scalar(if second { 2 } else { 1 })?
        };
        let by = self.resize(by, Type::I32);
        let lane = self.lane()?;
        let from = match exchange {
            Exchange::At | Exchange::Uniform | Exchange::First => by,
            Exchange::Xor => self.b.ins().bxor(lane, by),
            Exchange::Up | Exchange::UpInto => self.b.ins().isub(lane, by),
            Exchange::Down | Exchange::DownInto | Exchange::Rotate => self.b.ins().iadd(lane, by),
            Exchange::RotateCluster => {
                let size = operands.scalar(2)?;
                let size = self.resize(size, Type::I32);
                let inside = self.b.ins().iadd_imm(size, -1);
                let outside = self.b.ins().bnot(inside);
                let turned = self.b.ins().iadd(lane, by);
                let (within, cluster) = (self.b.ins().band(turned, inside), self.b.ins().band(lane, outside));
                self.b.ins().bor(within, cluster)
            }
        };
        let own = self.b.ins().icmp_imm(IntCC::Ult, from, LANES);
        let from = self.b.ins().band_imm(from, LANES - 1);
        let mut out = Values::new();
        for (n, x) in operands.vector(0)?.values.iter().enumerate() {
            let here = self.b.ins().shfl(ShuffleKind::Idx, *x, from, mask);
            out.push(if second {
                let other = *operands.vector(1)?.values.get(n).ok_or_else(missing)?;
                let there = self.b.ins().shfl(ShuffleKind::Idx, other, from, mask);
                // `intel_sub_group_shuffle_up` takes the value before first.
                let up = exchange == Exchange::UpInto;
                let (inside, outside) = if up { (there, here) } else { (here, there) };
                self.b.ins().select(own, inside, outside)
            } else {
                here
            });
        }
        Ok(out)
    }

    /// Whether this is the first of the work items that make the call.
    pub(super) fn elected(&mut self, operands: &Operands) -> Result<Values> {
        let mask = self.b.ins().activemask();
        let (first, lane) = (self.b.ins().ctz(mask), self.lane()?);
        let is = self.b.ins().icmp(IntCC::Eq, first, lane);
        Ok(Values::from_slice(&[self.b.ins().zext(operands.result()?, is)]))
    }

    /// Whether all work items that make the call have the same bits.
    pub(super) fn all_equal(&mut self, operands: &Operands) -> Result<Values> {
        let mask = self.b.ins().activemask();
        let first = self.b.ins().ctz(mask);
        let bits = self.integer_of(operands.scalar(0)?);
        let of_first = self.b.ins().shfl(ShuffleKind::Idx, bits, first, mask);
        let same = self.b.ins().icmp(IntCC::Eq, bits, of_first);
        let all = self.b.ins().vote(VoteKind::All, same, mask);
        Ok(Values::from_slice(&[self.b.ins().zext(operands.result()?, all)]))
    }

    /// Functions on masks of work items: vectors of four words, of which a warp needs one.
    pub(super) fn ballot(&mut self, ballot: Ballot, operands: &Operands) -> Result<Values> {
        let first = operands.scalar(0)?;
        let value = match ballot {
            Ballot::Take => {
                let condition = self.b.ins().icmp_imm(IntCC::Ne, first, 0);
                let mask = self.b.ins().activemask();
                let word = self.b.ins().ballot(condition, mask);
                return self.mask_vector(word);
            }
            Ballot::Own | Ballot::Bit => {
                let bit = if ballot == Ballot::Own { self.lane()? } else { operands.scalar(1)? };
                let bit = self.resize(bit, Type::I32);
                let word = self.b.ins().lshr(first, bit);
                self.b.ins().band_imm(word, 1)
            }
            Ballot::Count => self.b.ins().popcnt(first),
            Ballot::Inclusive | Ballot::Exclusive => {
                let of = if ballot == Ballot::Inclusive { LaneMask::Le } else { LaneMask::Lt };
                let mask = self.mask_of_lanes(of)?;
                let word = self.b.ins().band(first, mask);
                self.b.ins().popcnt(word)
            }
            Ballot::Lowest => self.b.ins().ctz(first),
            Ballot::Highest => {
                let above = self.b.ins().clz(first);
                let top = self.b.ins().iconst(Type::I32, LANES - 1);
                self.b.ins().isub(top, above)
            }
        };
        Ok(Values::from_slice(&[value]))
    }

    pub(super) fn lane_mask(&mut self, mask: LaneMask) -> Result<Values> {
        let word = self.mask_of_lanes(mask)?;
        self.mask_vector(word)
    }

    fn mask_vector(&mut self, word: Value) -> Result<Values> {
        let zero = self.b.ins().iconst(Type::I32, 0);
        Ok(Values::from_slice(&[word, zero, zero, zero]))
    }

    /// A bit for each work item whose number compares so with this one's.
    fn mask_of_lanes(&mut self, mask: LaneMask) -> Result<Value> {
        let (lane, one) = (self.lane()?, self.b.ins().iconst(Type::I32, 1));
        let eq = self.b.ins().shl(one, lane);
        let lt = self.b.ins().iadd_imm(eq, -1);
        Ok(match mask {
            LaneMask::Eq => eq,
            LaneMask::Lt => lt,
            LaneMask::Le => self.b.ins().bor(lt, eq),
            LaneMask::Ge => self.b.ins().bnot(lt),
            LaneMask::Gt => {
                let le = self.b.ins().bor(lt, eq);
                self.b.ins().bnot(le)
            }
        })
    }

    /// The values of those work items that make the call and that `takes` chooses by their number and this one's, combined in their order. All of them
    /// go through the same loop over the others, whoever they are.
    pub(super) fn over_active(
        &mut self,
        by: super::group::Combination,
        x: Value,
        takes: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Result<Value> {
        let ty = self.type_of(x);
        let (mask, lane) = (self.b.ins().activemask(), self.lane()?);
        let [head, body, done] = [(); 3].map(|()| self.b.create_block());
        let rest = self.b.append_block_param(head, Type::I32);
        let sum = self.b.append_block_param(head, ty);
        self.b.ins().jump(head, &[mask, by.identity]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp_imm(IntCC::Ne, rest, 0);
        self.b.ins().brif(more, body, &[], done, &[]);
        self.b.switch_to_block(body);
        let from = self.b.ins().ctz(rest);
        let value = self.b.ins().shfl(ShuffleKind::Idx, x, from, mask);
        let with = self.combined(by, sum, value);
        let counts = takes(self, from, lane);
        let next_sum = self.b.ins().select(counts, with, sum);
        let below = self.b.ins().iadd_imm(rest, -1);
        let next = self.b.ins().band(rest, below);
        self.b.ins().jump(head, &[next, next_sum]);
        self.b.switch_to_block(done);
        Ok(sum)
    }

    /// The values of those work items that make the call and whose number is in the same run of `size`, a power of two, combined.
    pub(super) fn cluster(&mut self, combine: Combine, operands: &Operands) -> Result<Values> {
        let x = self.counted(combine, operands.scalar(0)?);
        let by = self.combination(combine, self.type_of(x), operands.is_signed(0))?;
        let size = operands.scalar(1)?;
        let size = self.resize(size, Type::I32);
        let value = self.over_active(by, x, |of, from, lane| {
            let differ = of.b.ins().bxor(from, lane);
            of.b.ins().icmp(IntCC::Ult, differ, size)
        })?;
        Ok(Values::from_slice(&[value]))
    }
}
