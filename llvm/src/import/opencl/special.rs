//! Functions of OpenCL that C's mathematics does not have in this form: the sign of the gamma function, the quotient beside a remainder, roots of
//! any degree (OpenCL C specification, 6.15.2).

use crate::error::Result;
use crate::import::function::Builder;
use warpsmith_ir::{FloatCC, InstBuilder, IntCC, Opcode, Type, Value};

impl Builder<'_, '_, '_> {
    /// 1, or -1 where the gamma function is negative: between a negative odd number and the next one, and at -0.
    pub(super) fn gamma_sign(&mut self, x: Value) -> Value {
        let ty = self.type_of(x);
        let (zero, half) = (self.float_const(ty, 0.0), self.float_const(ty, 0.5));
        let floor = self.b.ins().ffloor(x);
        let halved = self.float_op(Opcode::Fmul, &[floor, half], false);
        let whole = self.b.ins().ffloor(halved);
        let odd = self.b.ins().fcmp(FloatCC::Ne, halved, whole);
        let between = self.b.ins().fcmp(FloatCC::Ne, floor, x);
        let below = self.b.ins().fcmp(FloatCC::Lt, x, zero);
        let negative = self.b.ins().band(odd, between);
        let negative = self.b.ins().band(negative, below);
        let bits = self.integer_of(x);
        let sign = self.b.ins().icmp_imm(IntCC::Slt, bits, 0);
        let is_zero = self.b.ins().fcmp(FloatCC::Eq, x, zero);
        let at_zero = self.b.ins().band(sign, is_zero);
        let negative = self.b.ins().bor(negative, at_zero);
        let (minus, one) = (self.b.ins().iconst(Type::I32, -1), self.b.ins().iconst(Type::I32, 1));
        self.b.ins().select(negative, minus, one)
    }

    /// The remainder of the quotient rounded to nearest, and that quotient's seven lowest bits with its sign.
    pub fn remainder_and_quotient(&mut self, x: Value, y: Value) -> Result<(Value, Value)> {
        let ty = self.type_of(x);
        let remainder = self.math("remainder", ty, &[x, y])?;
        let (of_x, of_y) = (self.b.ins().fabs(x), self.b.ins().fabs(y));
        // What is left of x after multiples of 128 y has the same low bits of the quotient.
        let many = self.float_const(ty, 128.0);
        let many = self.float_op(Opcode::Fmul, &[of_y, many], false);
        let rest = self.math("fmod", ty, &[of_x, many])?;
        let last = self.math("remainder", ty, &[rest, of_y])?;
        let multiple = self.float_op(Opcode::Fsub, &[rest, last], false);
        let quotient = self.float_op(Opcode::Fdiv, &[multiple, of_y], false);
        let quotient = self.b.ins().fnearest(quotient);
        let quotient = self.b.ins().fptosi(Type::I32, quotient);
        let quotient = self.b.ins().band_imm(quotient, 127);
        let (bits_x, bits_y) = (self.integer_of(x), self.integer_of(y));
        let signs = self.b.ins().bxor(bits_x, bits_y);
        let negative = self.b.ins().icmp_imm(IntCC::Slt, signs, 0);
        let minus = self.b.ins().ineg(quotient);
        Ok((remainder, self.b.ins().select(negative, minus, quotient)))
    }

    /// `x` to the power of `1 / n`, computed in `f64`.
    pub(super) fn root(&mut self, x: Value, n: Value) -> Result<Value> {
        let of = self.type_of(x);
        let wide = self.float_to_float(x, of, Type::F64);
        let n = self.resize_signed(n, Type::I32);
        let degree = self.b.ins().sitofp(Type::F64, n);
        let magnitude = self.b.ins().fabs(wide);
        let (zero, one) = (self.float_const(Type::F64, 0.0), self.float_const(Type::F64, 1.0));
        let inverse = self.b.ins().fdiv(one, degree);
        let mut root = self.math("pow", Type::F64, &[magnitude, inverse])?;
        if of == Type::F64 {
            // The error of 1 / n matters in the exponent: x^(a + e) is x^a (1 + e ln x).
            let minus = self.b.ins().fneg(inverse);
            let error = self.multiply_add(minus, degree, one);
            let error = self.b.ins().fdiv(error, degree);
            let log = self.math("log", Type::F64, &[magnitude])?;
            let relative = self.b.ins().fmul(error, log);
            let better = self.multiply_add(root, relative, root);
            let infinity = self.float_const(Type::F64, f64::INFINITY);
            let positive = self.b.ins().fcmp(FloatCC::Gt, magnitude, zero);
            let finite = self.b.ins().fcmp(FloatCC::Lt, magnitude, infinity);
            let usual = self.b.ins().band(positive, finite);
            root = self.b.ins().select(usual, better, root);
        }
        let low = self.b.ins().band_imm(n, 1);
        let odd = self.b.ins().icmp_imm(IntCC::Ne, low, 0);
        let signed = self.b.ins().fcopysign(root, wide);
        let root = self.b.ins().select(odd, signed, root);
        // No even root of a negative number, and none of degree 0.
        let even = self.b.ins().bnot(odd);
        let negative = self.b.ins().fcmp(FloatCC::Lt, wide, zero);
        let none = self.b.ins().band(even, negative);
        let degree_0 = self.b.ins().icmp_imm(IntCC::Eq, n, 0);
        let none = self.b.ins().bor(none, degree_0);
        let nan = self.float_const(Type::F64, f64::NAN);
        let root = self.b.ins().select(none, nan, root);
        Ok(self.float_to_float(root, Type::F64, of))
    }
}
