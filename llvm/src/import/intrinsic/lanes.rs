//! Intrinsics that select, count and match the elements of whole vectors.

use super::table::Lanes;
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::container;
use crate::module::ValueId;
use crate::module::body::{Call, Inst};
use crate::module::ops::BinaryOp;
use crate::module::types::MAX_SCALARS;
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    pub fn lanes_intrinsic(&mut self, inst: &Inst, call: &Call, op: Lanes) -> Result<()> {
        let out = match op {
            Lanes::Compress => self.compressed(call)?,
            Lanes::CountTrailingZeros => self.first_not_zero(inst, call)?,
            Lanes::Active => self.active_lanes(inst, call)?,
            Lanes::Length => self.vector_length(inst, call)?,
            Lanes::LastActive => self.last_active(call)?,
            Lanes::Match => self.matched(call)?,
            Lanes::PartialSum(op) => self.partial_sum(call, op)?,
        };
        self.result(inst, &out)
    }

    /// The elements of a vector, and the bits of one.
    fn elements(&mut self, of: ValueId) -> Result<(Vec<Values>, u32)> {
        let ty = self.value_type(of)?;
        let (element, lanes) = self.lanes(ty);
        let values = self.value(of)?;
        let step = values.len().checked_div(lanes).unwrap_or(1).max(1);
        Ok((values.chunks(step).map(Values::from_slice).collect(), self.width(element).unwrap_or(0)))
    }

    /// `yes` where the condition holds, else `no`.
    fn select_parts(&mut self, condition: Value, yes: &[Value], no: &[Value]) -> Values {
        yes.iter().zip(no).map(|(yes, no)| self.b.ins().select(condition, *yes, *no)).collect()
    }

    /// Selected elements move down by how many that are not selected come before them, places that none takes keep the third operand.
    ///
    /// They move by one place, then two, then four, as the bits of that number say: in this order, no two meet at a place.
    fn compressed(&mut self, call: &Call) -> Result<Values> {
        let (mut elements, _) = self.elements(self.arg(call, 0)?)?;
        let mask = self.value(self.arg(call, 1)?)?;
        let (others, _) = self.elements(self.arg(call, 2)?)?;
        let zero = self.b.ins().iconst(Type::I32, 0);
        let one = self.b.ins().iconst(Type::I32, 1);
        let mut skipped = zero;
        let mut distances = Vec::with_capacity(elements.len());
        for selected in &mask {
            distances.push(self.b.ins().select(*selected, skipped, zero));
            let step = self.b.ins().select(*selected, zero, one);
            skipped = self.b.ins().iadd(skipped, step);
        }
        let mut step = 1;
        while step < elements.len() {
            let bit = self.b.ins().iconst(Type::I32, step as i64);
            let moves: Values = distances
                .iter()
                .map(|distance| {
                    let bit = self.b.ins().band(*distance, bit);
                    self.b.ins().icmp_imm(IntCC::Ne, bit, 0)
                })
                .collect();
            for place in 0..elements.len() {
                // Who has moved away leaves a copy, which stays.
                let stays = self.b.ins().select(moves[place], zero, distances[place]);
                distances[place] = stays;
                if let Some(arrives) = moves.get(place + step) {
                    elements[place] = self.select_parts(*arrives, &elements[place + step], &elements[place]);
                    distances[place] = self.b.ins().select(*arrives, distances[place + step], stays);
                }
            }
            step *= 2;
        }
        let all = self.b.ins().iconst(Type::I32, mask.len() as i64);
        let count = self.b.ins().isub(all, skipped);
        let mut out = Values::new();
        for (place, (element, other)) in elements.iter().zip(&others).enumerate() {
            let taken = self.b.ins().icmp_imm(IntCC::Ugt, count, place as i64);
            out.extend(self.select_parts(taken, element, other));
        }
        Ok(out)
    }

    fn first_not_zero(&mut self, inst: &Inst, call: &Call) -> Result<Values> {
        let (vector, bits) = self.elements(self.arg(call, 0)?)?;
        let result = self.width(inst.ty)?;
        let mut count = self.int(result, vector.len() as i64);
        for (n, element) in vector.iter().enumerate().rev() {
            let zero: Values = element.iter().map(|part| self.zero_of(self.type_of(*part))).collect();
            let found = self.compare(IntCC::Ne, bits, element, &zero)?;
            let here = self.int(result, n as i64);
            count = self.b.ins().select(found, here, count);
        }
        Ok(Values::from_slice(&[count]))
    }

    /// `base + lane < limit`, without the sum wrapping.
    fn active_lanes(&mut self, inst: &Inst, call: &Call) -> Result<Values> {
        let (base, limit) = (self.scalar(self.arg(call, 0)?)?, self.scalar(self.arg(call, 1)?)?);
        let (_, lanes) = self.lanes(inst.ty);
        let below = self.b.ins().usub_sat(limit, base);
        let bits = self.type_of(base).bits();
        let lane = |lane: usize| {
            let fits = bits >= 63 || (lane as i64) < 1 << bits;
            if fits {
                self.b.ins().icmp_imm(IntCC::Ugt, below, lane as i64)
            } else {
                self.b.ins().iconst(Type::I1, 0)
            }
        };
        Ok((0..lanes).map(lane).collect())
    }

    fn vector_length(&mut self, inst: &Inst, call: &Call) -> Result<Values> {
        let most = self.constant_integer(self.arg(call, 1)?);
        let scalable = self.constant_integer(self.arg(call, 2)?);
        let (Some(most), Some(0)) = (most, scalable) else {
            return Err(Error::unsupported("the length of a scalable vector"));
        };
        let left = self.scalar(self.arg(call, 0)?)?;
        let ty = self.type_of(left);
        let most = self.b.ins().iconst(ty, most);
        let length = self.b.ins().umin(left, most);
        let bits = self.width(inst.ty)?;
        Ok(Values::from_slice(&[self.resize(length, container(bits))]))
    }

    fn last_active(&mut self, call: &Call) -> Result<Values> {
        let (vector, _) = self.elements(self.arg(call, 0)?)?;
        let mask = self.value(self.arg(call, 1)?)?;
        let mut last = self.value(self.arg(call, 2)?)?;
        for (element, selected) in vector.iter().zip(&mask) {
            last = self.select_parts(*selected, element, &last);
        }
        Ok(last)
    }

    fn matched(&mut self, call: &Call) -> Result<Values> {
        let (vector, bits) = self.elements(self.arg(call, 0)?)?;
        let (set, _) = self.elements(self.arg(call, 1)?)?;
        let comparisons = vector.len().saturating_mul(set.len());
        if comparisons as u64 > MAX_SCALARS {
            let message =
                format!("{comparisons} comparisons for {} elements (at most {MAX_SCALARS})", vector.len());
            return Err(Error::unsupported(message));
        }
        let mask = self.value(self.arg(call, 2)?)?;
        let mut out = Values::new();
        for (element, selected) in vector.iter().zip(&mask) {
            let mut found = self.b.ins().iconst(Type::I1, 0);
            for one in &set {
                let same = self.compare(IntCC::Eq, bits, element, one)?;
                found = self.b.ins().bor(found, same);
            }
            out.push(self.b.ins().band(found, *selected));
        }
        Ok(out)
    }

    /// LLVM leaves open which elements are added to which; its own expansion adds whole parts of the longer vector, one after the other.
    fn partial_sum(&mut self, call: &Call, op: BinaryOp) -> Result<Values> {
        let (mut sums, bits) = self.elements(self.arg(call, 0)?)?;
        let (vector, _) = self.elements(self.arg(call, 1)?)?;
        let lanes = sums.len().max(1);
        for (n, element) in vector.iter().enumerate() {
            let Some(sum) = sums.get_mut(n % lanes) else { continue };
            *sum = match (op, sum.as_slice(), element.as_slice()) {
                (BinaryOp::Fadd, [sum], [element]) => Values::from_slice(&[self.float(op, *sum, *element)?]),
                _ => self.integer(op, bits, sum, element)?,
            };
        }
        Ok(sums.into_iter().flatten().collect())
    }
}
