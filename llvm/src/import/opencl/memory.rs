//! Loads and stores of vectors, halves among them (OpenCL C specification, 6.15.9), and atomic operations of OpenCL 1.x (6.15.12.8).

use super::convert::Rounding;
use super::kinds::Parts;
use super::mangled::Element;
use super::{Operands, missing};
use crate::error::Result;
use crate::import::function::{Builder, Values};
use crate::module::body::{Call, Inst};
use warpsmith_ir::{AtomicOp, InstBuilder, MemFlags, MemoryOrder, MemoryScope, Opcode, Type, Value};
use warpsmith_isa::StateSpace;

/// `vload4`, `vstore_half4_rte`: what a name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sized {
    stores: bool,
    of_halves: bool,
    /// Vectors of three are four apart.
    aligned: bool,
    lanes: u32,
    /// How a number is rounded to a half.
    rounding: Option<Rounding>,
}

impl Sized {
    pub(super) fn of(name: &str) -> Option<Sized> {
        let aligned = name.starts_with("vloada_") || name.starts_with("vstorea_");
        let (stores, rest) = match name.strip_prefix("vload") {
            Some(rest) => (false, rest),
            None => (true, name.strip_prefix("vstore")?),
        };
        let rest = if aligned { rest.strip_prefix('a')? } else { rest };
        let (of_halves, rest) = match rest.strip_prefix("_half") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (rest, rounding) = if stores && of_halves { Rounding::split(rest)? } else { (rest, None) };
        let lanes = match rest {
            "" if of_halves => 1,
            "2" => 2,
            "3" => 3,
            "4" => 4,
            "8" => 8,
            "16" => 16,
            _ => return None,
        };
        Some(Sized { stores, of_halves, aligned, lanes, rounding })
    }

    /// How many elements two vectors are apart.
    fn stride(self) -> u32 {
        if self.aligned && self.lanes == 3 { 4 } else { self.lanes }
    }
}

impl Builder<'_, '_, '_> {
    pub(super) fn sized_access(&mut self, sized: Sized, operands: &Operands) -> Result<Values> {
        let first = usize::from(sized.stores);
        let (offset, pointer) = (operands.scalar(first)?, operands.scalar(first + 1)?);
        let element = if sized.of_halves {
            Type::F16
        } else if sized.stores {
            self.type_of(operands.scalar(0)?)
        } else {
            operands.result()?
        };
        let bytes = element.bits() / 8;
        let offset = self.resize(offset, Type::I64);
        let offset = self.b.ins().imul_imm(offset, i64::from(sized.stride() * bytes));
        let at = self.b.ins().ptradd(pointer, offset);
        let mut out = Values::new();
        for lane in 0..sized.lanes {
            let place = (lane * bytes) as i32;
            if sized.stores {
                let value = *operands.vector(0)?.values.get(lane as usize).ok_or_else(missing)?;
                let value = if sized.of_halves {
                    let mode = sized.rounding.unwrap_or(Rounding::Even);
                    self.rounded_float(value, Element::Float, Type::F16, mode)?
                } else {
                    value
                };
                self.b.ins().store(MemFlags::PLAIN, value, at, place);
            } else {
                let value = self.b.ins().load(element, MemFlags::PLAIN, at, place);
                let to = operands.result()?;
                out.push(if sized.of_halves { self.b.ins().fpext(to, value) } else { value });
            }
        }
        Ok(out)
    }

    /// Functions with a second result behind their last operand.
    pub(super) fn float_parts(&mut self, parts: Parts, operands: &Operands) -> Result<Values> {
        let pointer =
            operands.all.last().and_then(|last| last.values.first()).copied().ok_or_else(missing)?;
        let mut out = Values::new();
        for lane in 0..operands.lanes {
            let x = *operands.vector(0)?.values.get(lane).ok_or_else(missing)?;
            let ty = self.type_of(x);
            let (first, second) = match parts {
                Parts::Fraction => {
                    // Below 1, also where the difference rounds to that.
                    let whole = self.float_op(Opcode::Ffloor, &[x], false);
                    let rest = self.float_op(Opcode::Fsub, &[x, whole], false);
                    let most = match ty {
                        Type::F64 => 1.0 - f64::EPSILON / 2.0,
                        Type::F32 => 1.0 - f64::from(f32::EPSILON) / 2.0,
                        _ => 1.0 - 1.0 / 2048.0,
                    };
                    let most = self.float_const(ty, most);
                    (self.float_op(Opcode::Fmin, &[rest, most], false), whole)
                }
                Parts::SineAndCosine => (self.math("sin", ty, &[x])?, self.math("cos", ty, &[x])?),
                Parts::Significand => self.with_second("frexp", Type::I32, x)?,
                Parts::Whole => self.with_second("modf", ty, x)?,
                Parts::LogGamma => (self.math("lgamma", ty, &[x])?, self.gamma_sign(x)),
                Parts::Remainder => {
                    let y = *operands.lane(lane)?.get(1).ok_or_else(missing)?;
                    self.remainder_and_quotient(x, y)?
                }
            };
            let place = lane as u32 * self.type_of(second).bits() / 8;
            self.b.ins().store(MemFlags::PLAIN, second, pointer, place as i32);
            out.push(first);
        }
        Ok(out)
    }

    /// Both results of a function of the math library.
    fn with_second(&mut self, name: &str, second: Type, x: Value) -> Result<(Value, Value)> {
        let slot = self.b.create_stack_slot(8, 8);
        let address = self.b.ins().stack_addr(slot, 0);
        let generic = self.generic(address);
        let ty = self.type_of(x);
        let first = self.math(name, ty, &[x, generic])?;
        Ok((first, self.b.ins().load(second, MemFlags::PLAIN, address, 0)))
    }

    pub(super) fn atomic_builtin(&mut self, op: AtomicOp, operands: &Operands) -> Result<Values> {
        let (pointer, x) = (operands.scalar(0)?, operands.scalar(1)?);
        let old = self.b.ins().atomic_rmw(op, MemoryOrder::Relaxed, MemoryScope::Gpu, pointer, x);
        Ok(Values::from_slice(&[old]))
    }

    pub(super) fn atomic_count(&mut self, by: i64, operands: &Operands) -> Result<Values> {
        let pointer = operands.scalar(0)?;
        let by = self.b.ins().iconst(operands.result()?, by);
        let old =
            self.b.ins().atomic_rmw(AtomicOp::Iadd, MemoryOrder::Relaxed, MemoryScope::Gpu, pointer, by);
        Ok(Values::from_slice(&[old]))
    }

    pub(super) fn atomic_exchange_if(&mut self, operands: &Operands) -> Result<Values> {
        let (pointer, expected, new) = (operands.scalar(0)?, operands.scalar(1)?, operands.scalar(2)?);
        let orders = [MemoryOrder::Relaxed; 2];
        let old = self.b.ins().cmpxchg(orders, MemoryScope::Gpu, pointer, expected, new).first();
        Ok(Values::from_slice(&[old]))
    }
}

impl Builder<'_, '_, '_> {
    /// Where a pointer to generic memory leads to, as the flags of a fence: 1 for the memory of a group, otherwise 2 for global memory.
    pub(super) fn fence_of(&mut self, operands: &Operands) -> Result<Values> {
        let pointer = operands.scalar(0)?;
        let pointer = self.generic(pointer);
        let shared = StateSpace::Shared.name();
        let is = self.ptx_one(&format!("isspacep.{shared}"), vec![pointer.into()], Type::I1)?;
        let ty = operands.result()?;
        let (group, global) = (self.b.ins().iconst(ty, 1), self.b.ins().iconst(ty, 2));
        Ok(Values::from_slice(&[self.b.ins().select(is, group, global)]))
    }

    /// A pointer to generic memory as one to a space, or null where it points to another.
    pub(super) fn address_space_pointer(
        &mut self,
        inst: &Inst,
        call: &Call,
        space: StateSpace,
    ) -> Result<bool> {
        let parts = self.parts(inst.ty)?;
        let ([arg], [part]) = (self.body.args(call), parts.as_slice()) else {
            return Err(missing());
        };
        let (arg, ty) = (*arg, part.ty);
        let pointer = self.value(arg)?.first().copied().ok_or_else(missing)?;
        let pointer = self.generic(pointer);
        if !ty.is_ptr() || self.type_of(pointer) != Type::PTR {
            return Err(missing());
        }
        let is_there = self.ptx_one(&format!("isspacep.{}", space.name()), vec![pointer.into()], Type::I1)?;
        let there = self.pointer_as(pointer, ty);
        let zero = self.b.ins().iconst(Type::I64, 0);
        let null = self.b.ins().inttoptr(ty, zero);
        let value = self.b.ins().select(is_there, there, null);
        self.result(inst, &[value])?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::{Rounding, Sized};

    #[test]
    fn names() {
        let rounded = |stores, of_halves, aligned, lanes, rounding| {
            Some(Sized { stores, of_halves, aligned, lanes, rounding })
        };
        let is = |stores, of_halves, aligned, lanes| rounded(stores, of_halves, aligned, lanes, None);
        assert_eq!(Sized::of("vload4"), is(false, false, false, 4));
        assert_eq!(Sized::of("vstore_half"), is(true, true, false, 1));
        assert_eq!(Sized::of("vstore_half2_rte"), rounded(true, true, false, 2, Some(Rounding::Even)));
        assert_eq!(Sized::of("vstorea_half3_rtz"), rounded(true, true, true, 3, Some(Rounding::Zero)));
        assert_eq!(Sized::of("vloada_half3"), is(false, true, true, 3));
        for name in ["vload", "vload5", "vstore_half2_rtx", "vload_half_rtz", "vloadx", "load4"] {
            assert_eq!(Sized::of(name), None, "{name}");
        }
    }
}
