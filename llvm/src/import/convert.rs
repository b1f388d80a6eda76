//! Casts.

use super::function::{Builder, Values};
use super::shape::{self, MAX_BITS, Part, container};
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::{Inst, InstKind};
use crate::module::ops::{BinaryOp, CastOp};
use crate::module::types::{Type as Llvm, TypeId};
use warpsmith_ir::{InstBuilder, Type, Value};

impl Builder<'_, '_, '_> {
    /// The elements of a value: of a vector, each; of another, itself.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not a vector is one lane")]
    pub fn lanes(&self, ty: TypeId) -> (TypeId, usize) {
        match self.ty(ty) {
            Llvm::Vector { len, element } => (*element, *len as usize),
            _ => (ty, 1),
        }
    }

    /// The bits of an integer type.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not an integer is refused by name")]
    pub fn width(&self, ty: TypeId) -> Result<u32> {
        match self.ty(ty) {
            Llvm::Integer(bits) => Ok(*bits),
            _ => Err(Error::unsupported(format!(
                "`{}` where an integer is expected",
                self.types().display(ty)
            ))),
        }
    }

    pub fn cast(&mut self, inst: &Inst, op: CastOp, flags: u64, x: ValueId) -> Result<()> {
        if let Some(sum) = self.widened_sum(inst, op, flags, x)? {
            return self.result(inst, &[sum]);
        }
        let bits_stay = matches!(op, CastOp::BitCast | CastOp::AddrSpaceCast);
        if let (Some(from), Some(part), false) =
            (self.llvm_type(x), shape::single(self.types(), inst.ty), bits_stay)
            && shape::single(self.types(), from).is_some()
        {
            let x = self.scalar(x)?;
            let scalars = self.cast_lane(op, &[x], from, inst.ty, &[part], inst.value)?;
            return self.result(inst, &scalars);
        }
        let from = self.value_type(x)?;
        let values = self.value(x)?;
        let scalars = self.cast_values(op, values, from, inst.ty, inst.value)?;
        if bits_stay {
            self.inherit_invariant(x, inst.value);
        }
        self.result(inst, &scalars)
    }

    /// A sum with a constant that does not overflow and is then extended, as the sum of what is extended: where addresses are made of it, the constant
    /// becomes a part of the access.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other conversion extends")]
    fn widened_sum(&mut self, inst: &Inst, op: CastOp, flags: u64, x: ValueId) -> Result<Option<Value>> {
        // Bits of the record's flags.
        const NO_UNSIGNED_WRAP: u64 = 1;
        const NON_NEGATIVE: u64 = 1;
        let body = self.body;
        let Some(InstKind::Binary { op: BinaryOp::Add, flags: wraps, x: base, y }) =
            body.definition(x).map(|inst| &inst.kind)
        else {
            return Ok(None);
        };
        if !self.is_used_once(x) {
            return Ok(None);
        }
        let (no_unsigned, no_signed) =
            (wraps & NO_UNSIGNED_WRAP != 0, wraps & super::integer::NO_SIGNED_WRAP != 0);
        let signed = match op {
            CastOp::Sext if no_signed => true,
            CastOp::Zext if no_unsigned => false,
            CastOp::Zext if flags & NON_NEGATIVE != 0 && no_signed => true,
            _ => return Ok(None),
        };
        let (Llvm::Integer(64), Some(Llvm::Integer(32)), Some(constant)) =
            (self.ty(inst.ty), self.llvm_type(x).map(|ty| self.ty(ty)), self.constant_integer(*y))
        else {
            return Ok(None);
        };
        let base = self.scalar(*base)?;
        let wide =
            if signed { self.b.ins().sext(Type::I64, base) } else { self.b.ins().zext(Type::I64, base) };
        let constant = if signed { i64::from(constant as i32) } else { i64::from(constant as u32) };
        Ok(Some(self.b.ins().iadd_imm(wide, constant)))
    }

    /// A cast of values; `result` is the value that it makes, whose space may be known.
    pub fn cast_values(
        &mut self,
        op: CastOp,
        values: Values,
        from: TypeId,
        to: TypeId,
        result: Option<ValueId>,
    ) -> Result<Values> {
        match op {
            CastOp::BitCast => {
                let parts = self.parts(to)?;
                let of = self.parts(from)?;
                return self.regroup(&values, &of, &parts);
            }
            CastOp::AddrSpaceCast => {
                let parts = self.parts(to)?;
                if values
                    .iter()
                    .zip(&parts)
                    .any(|(value, part)| self.type_of(*value).is_ptr() != part.ty.is_ptr())
                {
                    return Err(Error::unsupported(
                        "a cast from or to `addrspace(6)`, tensor memory, which other pointers do not reach",
                    ));
                }
                // To generic: the pointer stays as it is, which says more.
                let each = values.into_iter().zip(&parts).map(|(value, part)| {
                    if part.ty == Type::PTR { value } else { self.pointer_as(value, part.ty) }
                });
                return Ok(each.collect());
            }
            CastOp::Trunc
            | CastOp::Zext
            | CastOp::Sext
            | CastOp::FpToUi
            | CastOp::FpToSi
            | CastOp::UiToFp
            | CastOp::SiToFp
            | CastOp::FpTrunc
            | CastOp::FpExt
            | CastOp::PtrToInt
            | CastOp::PtrToAddr
            | CastOp::IntToPtr => {}
        }
        let ((of, lanes), (into, _)) = (self.lanes(from), self.lanes(to));
        let step = values.len().checked_div(lanes).unwrap_or(0);
        let parts = self.parts(into)?;
        let mut out = Values::new();
        for lane in 0..lanes {
            let x = values.get(lane * step..(lane + 1) * step).unwrap_or_default();
            let scalars = self.cast_lane(op, x, of, into, &parts, result)?;
            out.extend(scalars);
        }
        Ok(out)
    }

    fn cast_lane(
        &mut self,
        op: CastOp,
        x: &[Value],
        from: TypeId,
        to: TypeId,
        parts: &[Part],
        result: Option<ValueId>,
    ) -> Result<Values> {
        let first = *x.first().ok_or_else(|| Error::unsupported("a cast of nothing"))?;
        let one = |value: Value| Ok(Values::from_slice(&[value]));
        let ty = parts.first().map_or(Type::I64, |part| part.ty);
        match op {
            CastOp::Trunc => {
                let bits = self.width(to)?;
                self.truncate(x, bits)
            }
            CastOp::Zext => Ok(self.extend(x, self.width(from)?, self.width(to)?, false)),
            CastOp::Sext => Ok(self.extend(x, self.width(from)?, self.width(to)?, true)),
            CastOp::PtrToInt | CastOp::PtrToAddr => {
                let address = if matches!(self.ty(from), Llvm::Pointer { space: 0, .. }) {
                    self.generic(first)
                } else {
                    first
                };
                let bits = self.width(to)?;
                if self.type_of(address).is_int() {
                    return Ok(self.extend(&[address], 32, bits, false));
                }
                let address = self.b.ins().ptrtoint(address);
                if bits <= MAX_BITS {
                    self.truncate(&[address], bits)
                } else {
                    Ok(self.extend(&[address], 64, bits, false))
                }
            }
            CastOp::IntToPtr if ty.is_int() => one(self.resize(first, ty)),
            CastOp::IntToPtr => {
                let address = self.resize(first, Type::I64);
                let known = result.map_or(ty, |result| self.known_type(result, ty));
                one(self.b.ins().inttoptr(known, address))
            }
            CastOp::FpTrunc | CastOp::FpExt => {
                let (of, into) = (self.type_of(first), ty);
                one(self.float_to_float(first, of, into))
            }
            CastOp::UiToFp | CastOp::SiToFp => {
                let bits = self.width(from)?;
                let signed = op == CastOp::SiToFp;
                if bits > MAX_BITS {
                    return one(self.float_of_wide(x, bits, signed, ty)?);
                }
                one(self.float_of(first, signed, ty))
            }
            CastOp::FpToUi | CastOp::FpToSi => {
                let bits = self.width(to)?;
                self.float_to_integer(first, bits, op == CastOp::FpToSi)
            }
            CastOp::BitCast | CastOp::AddrSpaceCast => Err(Error::unsupported("a cast of bits by elements")),
        }
    }

    /// The low bits of a number.
    pub fn truncate(&mut self, x: &[Value], bits: u32) -> Result<Values> {
        match x {
            [x] if bits <= MAX_BITS => Ok(Values::from_slice(&[self.resize(*x, container(bits))])),
            _ => self.truncate_wide(x, bits),
        }
    }

    /// A wider number.
    pub fn extend(&mut self, x: &[Value], from: u32, to: u32, signed: bool) -> Values {
        match x {
            [x] if to <= MAX_BITS => {
                let ty = container(to);
                let value = if signed { self.resize_signed(*x, ty) } else { self.resize(*x, ty) };
                Values::from_slice(&[value])
            }
            _ => self.extend_wide(x, from, to, signed),
        }
    }

    /// A float in another format.
    pub fn float_to_float(&mut self, x: Value, from: Type, to: Type) -> Value {
        match (from.bits().cmp(&to.bits()), from == to) {
            (_, true) => x,
            (std::cmp::Ordering::Less, _) => self.b.ins().fpext(to, x),
            (std::cmp::Ordering::Greater, _) => self.b.ins().fptrunc(to, x),
            // Between the two formats of 16 bits: through one that holds both.
            (std::cmp::Ordering::Equal, _) => {
                let wide = self.b.ins().fpext(Type::F32, x);
                self.b.ins().fptrunc(to, wide)
            }
        }
    }

    fn float_of(&mut self, x: Value, signed: bool, to: Type) -> Value {
        if !signed {
            return self.b.ins().uitofp(to, x);
        }
        let is_condition = self.type_of(x) == Type::I1;
        let x = if is_condition { self.b.ins().sext(Type::I32, x) } else { x };
        self.b.ins().sitofp(to, x)
    }

    /// A float as an integer, toward zero, clamped to the integers of that width; 0 for NaN.
    pub fn float_to_integer(&mut self, x: Value, bits: u32, signed: bool) -> Result<Values> {
        if bits > MAX_BITS {
            return self.wide_of_float(x, bits, signed);
        }
        let ty = container(bits.max(2));
        let full = if signed { self.b.ins().fptosi(ty, x) } else { self.b.ins().fptoui(ty, x) };
        if bits > 1 {
            return Ok(Values::from_slice(&[full]));
        }
        let clamped = if signed {
            let above = self.b.ins().smax_imm(full, -1);
            self.b.ins().smin_imm(above, 0)
        } else {
            self.b.ins().umin_imm(full, 1)
        };
        self.truncate(&[clamped], bits)
    }
}
