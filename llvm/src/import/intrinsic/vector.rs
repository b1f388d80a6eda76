//! Intrinsics on whole vectors: elements put together, accesses with masks, elements in another order.

use super::table::{Intrinsic, Masked, Reduce, Splice};
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::memory::access_flags;
use crate::module::body::{Call, Inst};
use warpsmith_ir::{InstBuilder, Opcode, Value};

impl Builder<'_, '_, '_> {
    /// All elements of a vector put together, from the first to the last.
    pub fn reduce(&mut self, inst: &Inst, call: &Call, reduce: Reduce) -> Result<()> {
        let ordered = matches!(reduce, Reduce::Ordered(_));
        let vector = self.arg(call, usize::from(ordered))?;
        let ty = self.value_type(vector)?;
        let (element, lanes) = self.lanes(ty);
        let values = self.value(vector)?;
        let step = values.len().checked_div(lanes).unwrap_or(1).max(1);
        let mut chunks = values.chunks(step).map(Values::from_slice).collect::<Vec<_>>().into_iter();
        let mut sum =
            if ordered { self.value(self.arg(call, 0)?)? } else { chunks.next().unwrap_or_default() };
        let bits = self.width(element).unwrap_or(0);
        for chunk in chunks {
            sum = match reduce {
                Reduce::Binary(op) => self.integer(op, bits, &sum, &chunk)?,
                Reduce::Ordered(op) => Values::from_slice(&[self.float(op, sum[0], chunk[0])?]),
                Reduce::Integer(op) => self.integer_intrinsic(op, bits, &[sum, chunk])?,
                Reduce::Float(op) => {
                    let of = self.type_of(sum[0]);
                    self.float_intrinsic(op, &[sum, chunk], call, of)?
                }
            };
        }
        self.result(inst, &sum)
    }

    /// Accesses to the elements that a mask names, each behind a branch of its own.
    pub fn masked(&mut self, inst: &Inst, call: &Call, masked: Masked) -> Result<()> {
        let is_load = matches!(masked, Masked::Load | Masked::Gather | Masked::ExpandLoad);
        // LLVM 22 has the alignment at the pointer; before it was an operand behind the pointer.
        let has_align = self.body.args(call).len() == 4;
        let pointer_at = usize::from(!is_load);
        let mask_at = pointer_at + 1 + usize::from(has_align);
        let ty = if is_load { inst.ty } else { self.value_type(self.arg(call, 0)?)? };
        let (element, lanes) = self.lanes(ty);
        let pointers = self.value(self.arg(call, pointer_at)?)?;
        let masks = self.value(self.arg(call, mask_at)?)?;
        let vector = self.value(self.arg(call, if is_load { mask_at + 1 } else { 0 })?)?;
        let step = vector.len().checked_div(lanes).unwrap_or(1).max(1);
        let size = self.types().store_size(element)?;
        let one_by_one = matches!(masked, Masked::Gather | Masked::Scatter);
        let packed = matches!(masked, Masked::ExpandLoad | Masked::CompressStore);
        let missing = || Error::unsupported("an access with a mask that lacks an operand");
        let mut next = *pointers.first().ok_or_else(missing)?;
        let mut out = Values::new();
        for lane in 0..lanes {
            let mask = *masks.get(lane).ok_or_else(missing)?;
            let old = Values::from_slice(vector.get(lane * step..(lane + 1) * step).ok_or_else(missing)?);
            let pointer = if one_by_one {
                *pointers.get(lane).ok_or_else(missing)?
            } else if packed {
                next
            } else {
                self.b.ins().ptradd_imm(next, (lane as u64 * size) as i64)
            };
            let (then, done) = (self.b.create_block(), self.b.create_block());
            let results: Vec<Value> = if is_load {
                old.iter()
                    .map(|value| {
                        let ty = self.type_of(*value);
                        self.b.append_block_param(done, ty)
                    })
                    .collect()
            } else {
                Vec::new()
            };
            let after = packed.then(|| {
                let ty = self.type_of(pointer);
                self.b.append_block_param(done, ty)
            });
            let mut otherwise: Vec<Value> = if is_load { old.to_vec() } else { Vec::new() };
            otherwise.extend(after.map(|_| pointer));
            self.b.ins().brif(mask, then, &[], done, &otherwise);
            self.b.switch_to_block(then);
            let flags = access_flags(false, false);
            let mut args: Vec<Value> = Vec::new();
            if is_load {
                let loaded = self.load_parts(element, pointer, 1, flags)?;
                for (value, of) in loaded.into_iter().zip(&old) {
                    let ty = self.type_of(*of);
                    args.push(self.pointer_as(value, ty));
                }
            } else {
                self.store_parts(element, old, pointer, 1, flags)?;
            }
            if packed {
                args.push(self.b.ins().ptradd_imm(pointer, size as i64));
            }
            self.b.ins().jump(done, &args);
            self.b.switch_to_block(done);
            next = after.unwrap_or(next);
            out.extend(results);
        }
        self.result(inst, &out)
    }

    /// Elements in another order.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others put no vectors in order")]
    pub fn rearrange(&mut self, inst: &Inst, call: &Call, how: Intrinsic) -> Result<()> {
        let (element, lanes) = self.lanes(inst.ty);
        if how == Intrinsic::StepVector {
            let bits = self.width(element)?;
            let steps: Values = (0..lanes).map(|lane| self.int(bits, lane as i64)).collect();
            return self.result(inst, &steps);
        }
        let first = self.value(self.arg(call, 0)?)?;
        let of_first = self.value_type(self.arg(call, 0)?)?;
        let step = first.len().checked_div(self.lanes(of_first).1).unwrap_or(1).max(1);
        let out: Values = match how {
            Intrinsic::ReverseVector => first.chunks(step).rev().flatten().copied().collect(),
            Intrinsic::Interleave(count) => {
                let vectors =
                    (0..count).map(|n| self.value(self.arg(call, n)?)).collect::<Result<Vec<_>>>()?;
                let elements = (0..first.len()).step_by(step);
                let turns = elements.flat_map(|at| vectors.iter().filter_map(move |v| v.get(at..at + step)));
                turns.flatten().copied().collect()
            }
            Intrinsic::Deinterleave(count) => {
                let dealt = (0..count).flat_map(|n| first.chunks(step).skip(n).step_by(count));
                dealt.flatten().copied().collect()
            }
            Intrinsic::ExtractVector | Intrinsic::InsertVector => {
                let is_insert = how == Intrinsic::InsertVector;
                let at = self.constant_integer(self.arg(call, if is_insert { 2 } else { 1 })?);
                let at = at.and_then(|at| usize::try_from(at).ok());
                let at =
                    at.ok_or_else(|| Error::unsupported("a part of a vector at a computed place"))? * step;
                if is_insert {
                    let mut all = first.clone();
                    let part = self.value(self.arg(call, 1)?)?;
                    for (slot, value) in all.iter_mut().skip(at).zip(part) {
                        *slot = value;
                    }
                    all
                } else {
                    first.iter().skip(at).take(lanes * step).copied().collect()
                }
            }
            Intrinsic::Splice(splice) => {
                let second = self.value(self.arg(call, 1)?)?;
                let offset = self.constant_integer(self.arg(call, 2)?);
                let offset = offset.ok_or_else(|| Error::unsupported("a splice at a computed place"))?;
                let from_end = splice == Splice::Right || splice == Splice::Signed && offset < 0;
                let offset = usize::try_from(offset.unsigned_abs()).unwrap_or(lanes).min(lanes);
                let from = if from_end { lanes - offset } else { offset };
                first.iter().chain(&second).skip(from * step).take(lanes * step).copied().collect()
            }
            _ => return Err(Error::unsupported("a vector in another order")),
        };
        self.result(inst, &out)
    }

    /// `a * b + c`, rounded once.
    pub fn multiply_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.float_op(Opcode::Fma, &[a, b, c], false)
    }
}
