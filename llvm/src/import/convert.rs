//! Casts.

use super::function::{Builder, Values};
use super::shape::{Part, container};
use crate::error::{Error, Result};
use crate::module::ValueId;
use crate::module::body::Inst;
use crate::module::ops::CastOp;
use crate::module::types::{Type as Llvm, TypeId};
use warpsmith_ir::{InstBuilder, IntCC, Type, Value};

impl Builder<'_, '_, '_> {
    /// The elements of a value: of a vector, each; of another, itself.
    pub fn lanes(&self, ty: TypeId) -> (TypeId, usize) {
        match self.ty(ty) {
            Llvm::Vector { len, element } => (*element, *len as usize),
            _ => (ty, 1),
        }
    }

    /// The bits of an integer type.
    pub fn width(&self, ty: TypeId) -> Result<u32> {
        match self.ty(ty) {
            Llvm::Integer(bits) => Ok(*bits),
            _ => Err(Error::unsupported(format!(
                "`{}` where an integer is expected",
                self.types().display(ty)
            ))),
        }
    }

    pub fn cast(&mut self, inst: &Inst, op: CastOp, x: ValueId) -> Result<()> {
        let from = self.llvm_type(x).ok_or_else(|| Error::unsupported("a cast of a symbol"));
        let values = self.value(x)?;
        let scalars = self.cast_values(op, values, from.ok(), inst.ty, inst.value)?;
        if matches!(op, CastOp::BitCast | CastOp::AddrSpaceCast) {
            self.inherit_invariant(x, inst.value);
        }
        self.result(inst, &scalars)
    }

    /// A cast of values; `result` is the value that it makes, whose space may be known.
    pub fn cast_values(
        &mut self,
        op: CastOp,
        values: Values,
        from: Option<TypeId>,
        to: TypeId,
        result: Option<ValueId>,
    ) -> Result<Values> {
        match op {
            CastOp::BitCast => {
                let parts = self.parts(to)?;
                let Some(from) = from else { return Ok(values) };
                let of = self.parts(from)?;
                return self.regroup(&values, &of, &parts);
            }
            CastOp::AddrSpaceCast => {
                let parts = self.parts(to)?;
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
        let from = from.unwrap_or(to);
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
                let address = self.b.ins().ptrtoint(address);
                let bits = self.width(to)?;
                if bits <= 64 {
                    self.truncate(&[address], bits)
                } else {
                    Ok(self.extend(&[address], 64, bits, false))
                }
            }
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
                if bits > 64 {
                    return one(self.wide_to_float(x, bits, signed, ty)?);
                }
                one(self.float_of(first, bits, signed, ty))
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
        let first = *x.first().ok_or_else(|| Error::unsupported("a cast of nothing"))?;
        if bits <= 64 {
            let narrow = self.resize(first, container(bits));
            return Ok(Values::from_slice(&[self.clear(narrow, bits)]));
        }
        let limbs: Values = x.iter().copied().take(bits.div_ceil(64) as usize).collect();
        Ok(self.clear_wide(limbs, bits))
    }

    /// A wider number.
    pub fn extend(&mut self, x: &[Value], from: u32, to: u32, signed: bool) -> Values {
        let Some(&first) = x.first() else { return Values::new() };
        if to <= 64 {
            let ty = container(to);
            let wide = if signed { self.resize_signed(first, from, ty) } else { self.resize(first, ty) };
            let value = if signed { self.clear(wide, to) } else { wide };
            return Values::from_slice(&[value]);
        }
        let mut limbs = if from <= 64 {
            let low = if signed {
                self.resize_signed(first, from, Type::I64)
            } else {
                self.resize(first, Type::I64)
            };
            Values::from_slice(&[low])
        } else if signed {
            self.sign_wide(x, from)
        } else {
            Values::from_slice(x)
        };
        let count = to.div_ceil(64) as usize;
        if limbs.len() < count {
            let fill = match limbs.last() {
                Some(last) if signed => {
                    let all = self.b.ins().iconst(Type::I32, 63);
                    self.b.ins().ashr(*last, all)
                }
                _ => self.limb(0),
            };
            limbs.resize(count, fill);
        }
        self.clear_wide(limbs, to)
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

    fn float_of(&mut self, x: Value, bits: u32, signed: bool, to: Type) -> Value {
        let ty = self.type_of(x);
        match (signed, ty == Type::I1) {
            (false, _) => self.b.ins().uitofp(to, x),
            (true, true) => {
                let wide = self.b.ins().sext(Type::I32, x);
                self.b.ins().sitofp(to, wide)
            }
            (true, false) => {
                let x = self.extend_sign(x, bits);
                self.b.ins().sitofp(to, x)
            }
        }
    }

    /// A float as an integer, toward zero, clamped to the integers of that width; 0 for NaN.
    pub fn float_to_integer(&mut self, x: Value, bits: u32, signed: bool) -> Result<Values> {
        if bits > 64 {
            return self.float_to_wide(x, bits, signed);
        }
        let ty = container(bits.max(8));
        let full = if signed { self.b.ins().fptosi(ty, x) } else { self.b.ins().fptoui(ty, x) };
        if bits == ty.bits() {
            return Ok(Values::from_slice(&[full]));
        }
        let clamped = if signed {
            let (low, high) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
            let low = self.b.ins().iconst(ty, low);
            let high = self.b.ins().iconst(ty, high);
            let above = self.b.ins().smax(full, low);
            self.b.ins().smin(above, high)
        } else {
            let high = self.b.ins().iconst(ty, (1i64 << bits) - 1);
            self.b.ins().umin(full, high)
        };
        self.truncate(&[clamped], bits)
    }

    /// A wide number as the nearest float: its 64 highest bits, with one that says whether there is anything below them.
    fn wide_to_float(&mut self, x: &[Value], bits: u32, signed: bool, to: Type) -> Result<Value> {
        let limbs = if signed { self.sign_wide(x, bits) } else { Values::from_slice(x) };
        let [low, high] = limbs.as_slice() else {
            return Err(Error::unsupported(format!("`i{bits}` to a float, of more than 128 bits")));
        };
        let zero = self.limb(0);
        let (negative, limbs) = if signed {
            let negative = self.b.ins().icmp(IntCC::Slt, *high, zero);
            (Some(negative), self.negate_if(negative, &[*low, *high]))
        } else {
            (None, Values::from_slice(&[*low, *high]))
        };
        let (low, high) = (limbs[0], limbs[1]);
        let is_small = self.b.ins().icmp(IntCC::Eq, high, zero);
        let leading = self.b.ins().clz(high);
        let leading = self.resize(leading, Type::I32);
        let shifted = self.shift_limbs(&[low, high], leading, true, false);
        let rest = self.b.ins().icmp(IntCC::Ne, shifted[0], zero);
        let rest = self.b.ins().zext(Type::I64, rest);
        let top = self.b.ins().bor(shifted[1], rest);
        // The 64 bits stand 2^(64 - leading) above the units.
        let large = self.b.ins().uitofp(Type::F64, top);
        let (large, small) = if to == Type::F64 {
            (large, self.b.ins().uitofp(Type::F64, low))
        } else {
            (self.b.ins().uitofp(Type::F32, top), self.b.ins().uitofp(Type::F32, low))
        };
        let wide = self.type_of(large);
        let (bias, place) = if wide == Type::F64 { (1023 + 64, 52u32) } else { (127 + 64, 23) };
        let int = container(wide.bits());
        let bias = self.b.ins().iconst(Type::I32, bias);
        let exponent = self.b.ins().isub(bias, leading);
        let exponent = self.resize(exponent, int);
        let place = self.b.ins().iconst(Type::I32, i64::from(place));
        let power = self.b.ins().shl(exponent, place);
        let power = self.b.ins().bitcast(wide, power);
        let large = self.b.ins().fmul(large, power);
        let mut value = self.b.ins().select(is_small, small, large);
        if let Some(negative) = negative {
            let minus = self.b.ins().fneg(value);
            value = self.b.ins().select(negative, minus, value);
        }
        Ok(self.float_to_float(value, wide, to))
    }

    /// A float as a wide integer, clamped.
    fn float_to_wide(&mut self, x: Value, bits: u32, signed: bool) -> Result<Values> {
        if bits != 128 {
            return Err(Error::unsupported(format!("a float to `i{bits}`")));
        }
        let of = self.type_of(x);
        let x = if of == Type::F64 { x } else { self.float_to_float(x, of, Type::F64) };
        let magnitude = if signed { self.b.ins().fabs(x) } else { x };
        let down = self.b.ins().f64const(2f64.powi(-64));
        let up = self.b.ins().f64const(-(2f64.powi(64)));
        let scaled = self.b.ins().fmul(magnitude, down);
        let whole = self.b.ins().ftrunc(scaled);
        let high = self.b.ins().fptoui(Type::I64, whole);
        // Exact: what is left has no more bits than the number had.
        let rest = self.b.ins().fma(whole, up, magnitude);
        let low = self.b.ins().fptoui(Type::I64, rest);
        let (limit, limit_low, limit_high) =
            if signed { (2f64.powi(127), -1, i64::MAX) } else { (2f64.powi(128), -1, -1) };
        let limit = self.b.ins().f64const(limit);
        let over = self.b.ins().fcmp(warpsmith_ir::FloatCC::Ge, magnitude, limit);
        let (most_low, most_high) = (self.limb(limit_low), self.limb(limit_high));
        let low = self.b.ins().select(over, most_low, low);
        let high = self.b.ins().select(over, most_high, high);
        if !signed {
            return Ok(Values::from_slice(&[low, high]));
        }
        let zero = self.b.ins().f64const(0.0);
        let negative = self.b.ins().fcmp(warpsmith_ir::FloatCC::Lt, x, zero);
        let out = self.negate_if(negative, &[low, high]);
        // The lowest number has no positive one.
        let least = self.b.ins().band(negative, over);
        let (zero, top) = (self.limb(0), self.limb(i64::MIN));
        let low = self.b.ins().select(least, zero, out[0]);
        let high = self.b.ins().select(least, top, out[1]);
        Ok(Values::from_slice(&[low, high]))
    }
}
