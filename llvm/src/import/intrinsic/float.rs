//! Intrinsics on floats: operations of the IR, functions of the math library, classes.

use super::table::Float;
use crate::error::{Error, Result};
use crate::import::function::{Builder, Values};
use crate::import::shape::container;
use crate::module::body::Call;
use crate::module::ops::FastMath;
use warpsmith_ir::{InstBuilder, IntCC, MemFlags, Opcode, Type, Value};

impl Builder<'_, '_, '_> {
    /// An intrinsic on floats: its results one after the other. `to` is the type of the first.
    pub fn float_intrinsic(&mut self, op: Float, args: &[Values], call: &Call, to: Type) -> Result<Values> {
        let missing = || Error::unsupported("an intrinsic with too few operands");
        let flat: Vec<Value> = args.iter().filter_map(|values| values.first().copied()).collect();
        let x = *flat.first().ok_or_else(missing)?;
        let ty = self.type_of(x);
        if !ty.is_float() {
            return Err(Error::unsupported(format!("an intrinsic on floats of `{ty}`")));
        }
        let approximate = call.flags.has(FastMath::AFN);
        let one = |value: Value| Ok(Values::from_slice(&[value]));
        match op {
            Float::Op(op) => {
                let operands = flat.get(..op.info().operands.len()).ok_or_else(missing)?;
                one(self.float_op(op, operands, approximate && op == Opcode::Fsqrt))
            }
            Float::MultiplyAdd => match flat.as_slice() {
                [x, y, z] => one(self.float_op(Opcode::Fma, &[*x, *y, *z], false)),
                _ => Err(missing()),
            },
            Float::Canonicalize => {
                let factor = self.float_const(ty, 1.0);
                one(self.float_op(Opcode::Fmul, &[x, factor], false))
            }
            Float::Class => {
                let mask = self
                    .body
                    .args(call)
                    .get(1)
                    .and_then(|arg| self.constant_integer(*arg))
                    .ok_or_else(missing)?;
                one(self.class(x, mask))
            }
            Float::Math(_, Some(op)) if approximate && ty == Type::F32 => one(self.float_op(op, &[x], true)),
            Float::Math("powi", _) if let Some(exponent) = self.constant_exponent(call) => {
                one(self.power(x, exponent))
            }
            Float::Math(name, _) => {
                let mut operands = flat;
                // The exponent of `powi` and `ldexp` may be of another width.
                if let Some(last) = operands.get_mut(1).filter(|last| self.type_of(**last).is_int()) {
                    *last = self.resize_signed(*last, Type::I32);
                }
                one(self.math(name, ty, &operands)?)
            }
            Float::ToInteger(op) => {
                let whole = self.float_op(op, &[x], false);
                one(self.b.ins().fptosi(to, whole))
            }
            Float::Frexp => {
                let (address, generic) = self.place_for_result();
                let significand = self.math("frexp", ty, &[x, generic])?;
                let exponent = self.b.ins().load(Type::I32, MemFlags::PLAIN, address, 0);
                Ok(Values::from_slice(&[significand, exponent]))
            }
            Float::Modf => {
                let (address, generic) = self.place_for_result();
                let fraction = self.math("modf", ty, &[x, generic])?;
                let integral = self.b.ins().load(ty, MemFlags::PLAIN, address, 0);
                Ok(Values::from_slice(&[fraction, integral]))
            }
            Float::SinCos(sin, cos) => {
                Ok(Values::from_slice(&[self.math(sin, ty, &[x])?, self.math(cos, ty, &[x])?]))
            }
        }
    }

    /// The exponent of `powi` where it is known.
    fn constant_exponent(&self, call: &Call) -> Option<i32> {
        i32::try_from(self.constant_integer(*self.body.args(call).get(1)?)?).ok()
    }

    /// A power by squaring, in the order of LLVM and of C's `__powidf2`, so that the bits are theirs.
    fn power(&mut self, x: Value, exponent: i32) -> Value {
        let one = self.float_const(self.type_of(x), 1.0);
        let (mut left, mut square, mut product) = (exponent.unsigned_abs(), x, None);
        while left > 0 {
            if left & 1 == 1 {
                product = Some(match product {
                    Some(product) => self.float_op(Opcode::Fmul, &[product, square], false),
                    None => square,
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.float_op(Opcode::Fmul, &[square, square], false);
            }
        }
        let product = product.unwrap_or(one);
        if exponent < 0 { self.float_op(Opcode::Fdiv, &[one, product], false) } else { product }
    }

    /// Memory for a result of up to 8 bytes: its address, and that as a function is given it.
    fn place_for_result(&mut self) -> (Value, Value) {
        let slot = self.b.create_stack_slot(8, 8);
        let address = self.b.ins().stack_addr(slot, 0);
        (address, self.generic(address))
    }

    /// A function of the math library.
    pub fn math(&mut self, name: &str, ty: Type, args: &[Value]) -> Result<Value> {
        let function = warpsmith_math::Function::new(name, ty).ok_or_else(|| {
            Error::unsupported(format!("`{name}` of `{ty}`, which the math library does not have"))
        })?;
        let known = self.b.module().function(&function.symbol());
        let id = known.unwrap_or_else(|| self.b.add_function(function.declaration()));
        Ok(self.b.call(id, args).first())
    }

    /// A constant of a float type.
    pub fn float_const(&mut self, ty: Type, value: f64) -> Value {
        if ty == Type::F32 {
            return self.b.ins().f32const(value as f32);
        }
        let double = self.b.ins().f64const(value);
        if ty == Type::F64 { double } else { self.b.ins().fptrunc(ty, double) }
    }

    /// Whether a float is of one of the classes of a mask (LLVM's `FPClassTest`).
    pub(in crate::import) fn class(&mut self, x: Value, mask: i64) -> Value {
        let ty = self.type_of(x);
        let int = container(ty.bits());
        // Bits of the fraction.
        let fraction = match ty {
            Type::F64 => 52,
            Type::F32 => 23,
            Type::BF16 => 7,
            _ => 10,
        };
        let all = self.b.ins().bitcast(int, x);
        let sign_bit = self.b.ins().iconst(int, 1i64.wrapping_shl(ty.bits() - 1));
        let zero = self.b.ins().iconst(int, 0);
        let sign = self.b.ins().band(all, sign_bit);
        let negative = self.b.ins().icmp(IntCC::Ne, sign, zero);
        let positive = self.b.ins().bnot(negative);
        let magnitude = self.b.ins().bxor(all, sign);
        let infinity = ((1i64 << (ty.bits() - 1 - fraction)) - 1) << fraction;
        let inf = self.b.ins().iconst(int, infinity);
        let quiet = self.b.ins().iconst(int, infinity | 1i64 << (fraction - 1));
        let least = self.b.ins().iconst(int, 1i64 << fraction);
        let is_nan = self.b.ins().icmp(IntCC::Ugt, magnitude, inf);
        let is_quiet = self.b.ins().icmp(IntCC::Uge, magnitude, quiet);
        let is_inf = self.b.ins().icmp(IntCC::Eq, magnitude, inf);
        let is_zero = self.b.ins().icmp(IntCC::Eq, magnitude, zero);
        let below = self.b.ins().icmp(IntCC::Ult, magnitude, least);
        let not_zero = self.b.ins().bnot(is_zero);
        let is_subnormal = self.b.ins().band(below, not_zero);
        let finite = self.b.ins().icmp(IntCC::Ult, magnitude, inf);
        let not_below = self.b.ins().bnot(below);
        let is_normal = self.b.ins().band(finite, not_below);
        let not_quiet = self.b.ins().bnot(is_quiet);
        let is_signaling = self.b.ins().band(is_nan, not_quiet);
        let classes: [(Value, Option<Value>); 10] = [
            (is_signaling, None),
            (is_quiet, None),
            (is_inf, Some(negative)),
            (is_normal, Some(negative)),
            (is_subnormal, Some(negative)),
            (is_zero, Some(negative)),
            (is_zero, Some(positive)),
            (is_subnormal, Some(positive)),
            (is_normal, Some(positive)),
            (is_inf, Some(positive)),
        ];
        let mut any = self.b.ins().iconst(Type::I1, 0);
        for (n, (class, sign)) in classes.into_iter().enumerate() {
            if mask >> n & 1 == 0 {
                continue;
            }
            let is = match sign {
                Some(sign) => self.b.ins().band(class, sign),
                None => class,
            };
            any = self.b.ins().bor(any, is);
        }
        any
    }
}
