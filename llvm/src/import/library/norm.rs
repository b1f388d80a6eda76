//! CUDA's lengths of vectors of any dimension, `norm` and `rnorm`: in `double`, scaled by a power of two lest the squares overflow, and added with what
//! each addition loses.

use super::maker::Maker;
use super::{Gives, Row};
use warpsmith_ir::{FloatCC, InstBuilder, MemFlags, Type, Value, Variable};

const DOUBLE: Type = Type::F64;
const WORD: Type = Type::I64;
const PARAMS: &[Type] = &[Type::I32, Type::PTR];

pub(super) const ROWS: &[Row] = &[
    Row { name: "__nv_norm", params: PARAMS, gives: Gives::One(DOUBLE), build: |m| norm(m, false) },
    Row { name: "__nv_normf", params: PARAMS, gives: Gives::One(Type::F32), build: |m| norm(m, false) },
    Row { name: "__nv_rnorm", params: PARAMS, gives: Gives::One(DOUBLE), build: |m| norm(m, true) },
    Row { name: "__nv_rnormf", params: PARAMS, gives: Gives::One(Type::F32), build: |m| norm(m, true) },
];

impl<'m> Maker<'_, 'm> {
    /// Visits the absolute value of each part, as a `double`.
    fn each_part(&mut self, visit: impl FnOnce(&mut Maker<'_, 'm>, Value)) {
        let (count, parts, ty) = (self.param(0), self.param(1), self.result_type());
        let count = self.b.ins().smax_imm(count, 0);
        let count = self.b.ins().zext(WORD, count);
        self.for_each_below(count, |m, n| {
            let at = m.b.ins().imul_imm(n, if ty == DOUBLE { 8 } else { 4 });
            let at = m.b.ins().ptradd(parts, at);
            let part = m.b.ins().load(ty, MemFlags::PLAIN, at, 0);
            let part = if ty == DOUBLE { part } else { m.b.ins().fpext(DOUBLE, part) };
            let part = m.b.ins().fabs(part);
            visit(m, part);
        });
    }

    /// Adds a value to a sum of two parts.
    fn add_exactly(&mut self, [sum, rest]: [Variable; 2], value: Value, low: Value) {
        let (old, lost) = (self.get(sum), self.get(rest));
        let new = self.add(old, value);
        let back = self.sub(new, old);
        let kept = self.sub(new, back);
        let (of_old, of_value) = (self.sub(old, kept), self.sub(value, back));
        let error = self.add(of_old, of_value);
        let error = self.add(error, low);
        let lost = self.add(lost, error);
        self.set(sum, new);
        self.set(rest, lost);
    }
}

fn norm(m: &mut Maker<'_, '_>, inverse: bool) {
    let zero = m.float(DOUBLE, 0.0);
    let no = m.int(Type::I1, 0);
    let (largest, any_nan) = (m.var(zero), m.var(no));
    m.each_part(|m, part| {
        let before = m.get(largest);
        let larger = m.b.ins().fmax(before, part);
        m.set(largest, larger);
        let nan = m.float_is(FloatCC::Nan, part, part);
        let before = m.get(any_nan);
        let any = m.or(before, nan);
        m.set(any_nan, any);
    });
    let largest = m.get(largest);
    // A power of two near it, and 1 over that.
    let bits = m.b.ins().bitcast(WORD, largest);
    let exponent = m.b.ins().lshr_imm(bits, 52);
    let exponent = m.b.ins().smax_imm(exponent, 2);
    let exponent = m.b.ins().smin_imm(exponent, 2044);
    let reversed = m.int(WORD, 2046);
    let reversed = m.b.ins().isub(reversed, exponent);
    let [up, down] = [exponent, reversed].map(|exponent| {
        let bits = m.b.ins().shl_imm(exponent, 52);
        m.b.ins().bitcast(DOUBLE, bits)
    });
    let sum = [m.var(zero), m.var(zero)];
    m.each_part(|m, part| {
        let part = m.mul(part, down);
        let square = m.mul(part, part);
        let negative = m.b.ins().fneg(square);
        let low = m.b.ins().fma(part, part, negative);
        m.add_exactly(sum, square, low);
    });
    let [sum, rest] = sum.map(|part| m.get(part));
    let sum = m.add(sum, rest);
    let root = m.b.ins().fsqrt(sum);
    let one = m.float(DOUBLE, 1.0);
    let value = if inverse {
        let root = m.div(one, root);
        m.mul(root, down)
    } else {
        m.mul(root, up)
    };
    let nan = m.float(DOUBLE, f64::NAN);
    let any_nan = m.get(any_nan);
    let value = m.choose(any_nan, nan, value);
    let infinity = m.float(DOUBLE, f64::INFINITY);
    let infinite = m.float_is(FloatCC::Eq, largest, infinity);
    let at_infinity = if inverse { zero } else { infinity };
    let value = m.choose(infinite, at_infinity, value);
    let ty = m.result_type();
    let value = if ty == DOUBLE { value } else { m.b.ins().fptrunc(ty, value) };
    m.ret(&[value]);
}
