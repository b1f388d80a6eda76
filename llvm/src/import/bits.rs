//! The bits of values regrouped: `bitcast` between values of different parts, and vectors that lie in memory bit by bit.

use super::function::{Builder, Values};
use super::shape::{Part, container};
use crate::error::Result;
use warpsmith_ir::{InstBuilder, Type, Value};

impl Builder<'_, '_, '_> {
    /// A scalar as an integer of the same bits.
    pub fn integer_of(&mut self, value: Value) -> Value {
        let ty = self.type_of(value);
        if ty.is_ptr() {
            let generic = self.generic(value);
            return self.b.ins().ptrtoint(generic);
        }
        if ty.is_int() {
            return value;
        }
        let int = container(ty.bits());
        self.b.ins().bitcast(int, value)
    }

    /// The scalar of a part that has the bits of an integer of its container.
    pub fn scalar_of(&mut self, value: Value, ty: Type) -> Value {
        if ty.is_ptr() {
            return self.b.ins().inttoptr(ty, value);
        }
        if ty.is_int() { value } else { self.b.ins().bitcast(ty, value) }
    }

    /// Values of some parts as those of others with as many bits, the first being the lowest.
    pub fn regroup(&mut self, values: &[Value], from: &[Part], to: &[Part]) -> Result<Values> {
        let same = from.len() == to.len()
            && from.iter().zip(to).all(|(a, b)| a.ty.bits() == b.ty.bits() && a.bits == b.bits);
        if same {
            let each = values.iter().zip(to).map(|(value, part)| {
                let ty = self.type_of(*value);
                if ty == part.ty || (ty.is_ptr() && part.ty.is_ptr()) {
                    return *value;
                }
                let int = self.integer_of(*value);
                self.scalar_of(int, part.ty)
            });
            return Ok(each.collect());
        }
        let ints: Vec<Value> = values.iter().map(|value| self.integer_of(*value)).collect();
        let mut out = Values::new();
        let mut at = 0;
        for part in to {
            let end = at + part.bits;
            let ty = if part.ty.is_int() { part.ty } else { container(part.bits) };
            let mut sum: Option<Value> = None;
            let mut start = 0;
            for (int, source) in ints.iter().zip(from) {
                let stop = start + source.bits;
                if start < end && at < stop {
                    // The bits from `low` on are the part's from `place` on.
                    let (low, place) = (at.saturating_sub(start), start.saturating_sub(at));
                    let mut piece = *int;
                    if low > 0 {
                        let amount = self.b.ins().iconst(Type::I32, i64::from(low));
                        piece = self.b.ins().lshr(piece, amount);
                    }
                    piece = self.resize(piece, ty);
                    if place > 0 {
                        let amount = self.b.ins().iconst(Type::I32, i64::from(place));
                        piece = self.b.ins().shl(piece, amount);
                    }
                    sum = Some(sum.map_or(piece, |sum| self.b.ins().bor(sum, piece)));
                }
                start = stop;
            }
            let value = match sum {
                Some(sum) => self.clear(sum, part.bits),
                None => self.b.ins().iconst(ty, 0),
            };
            out.push(self.scalar_of(value, part.ty));
            at = end;
        }
        Ok(out)
    }
}
