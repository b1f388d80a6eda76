//! Products and quotients of C's complex numbers (C17, annex G.5.1): with infinities where the plain formulas give NaN. The steps and so the bits are those
//! of compiler-rt.

use super::maker::Maker;
use super::{COMPLEX, Gives, Row};
use warpsmith_ir::{FloatCC, InstBuilder, Type, Value, Variable};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "__muldc3",
        params: &[Type::F64; 4],
        gives: Gives::Pair(Type::F64, Type::F64),
        build: multiply,
    },
    Row {
        name: "__mulsc3",
        params: &[Type::F32; 4],
        gives: Gives::Pair(Type::F32, Type::F32),
        build: multiply,
    },
    Row {
        name: "__mulhc3",
        params: &[Type::F16; 4],
        gives: Gives::Pair(Type::F16, Type::F16),
        build: multiply,
    },
    Row {
        name: "__divdc3",
        params: &[Type::F64; 4],
        gives: Gives::Pair(Type::F64, Type::F64),
        build: divide,
    },
    Row {
        name: "__divsc3",
        params: &[Type::F32; 4],
        gives: Gives::Pair(Type::F32, Type::F32),
        build: divide,
    },
    Row {
        name: "__divhc3",
        params: &[Type::F16; 4],
        gives: Gives::Pair(Type::F16, Type::F16),
        build: divide,
    },
    Row { name: "cabs", params: &[COMPLEX], gives: Gives::One(Type::F64), build: magnitude },
    Row { name: "cabsf", params: &[COMPLEX], gives: Gives::One(Type::F32), build: magnitude },
    Row { name: "carg", params: &[COMPLEX], gives: Gives::One(Type::F64), build: angle },
    Row { name: "cargf", params: &[COMPLEX], gives: Gives::One(Type::F32), build: angle },
];

impl Maker<'_, '_> {
    /// The parameters; those of `half` as `float`, as hosts compute them.
    fn operands(&mut self) -> [Value; 4] {
        [0, 1, 2, 3].map(|n| {
            let value = self.param(n);
            if self.ty(value) == Type::F16 { self.b.ins().fpext(Type::F32, value) } else { value }
        })
    }

    /// Gives a complex number in the format of the parameters.
    fn ret_complex(&mut self, parts: [Value; 2]) {
        let first = self.param(0);
        let half = self.ty(first) == Type::F16;
        let parts = parts.map(|part| if half { self.b.ins().fptrunc(Type::F16, part) } else { part });
        self.ret_pair(parts);
    }

    fn is_nan(&mut self, x: Value) -> Value {
        self.float_is(FloatCC::Nan, x, x)
    }

    fn is_infinite(&mut self, x: Value) -> Value {
        let magnitude = self.b.ins().fabs(x);
        let infinity = self.infinity(x);
        self.float_is(FloatCC::Eq, magnitude, infinity)
    }

    fn is_finite(&mut self, x: Value) -> Value {
        let magnitude = self.b.ins().fabs(x);
        let infinity = self.infinity(x);
        self.float_is(FloatCC::Lt, magnitude, infinity)
    }

    fn infinity(&mut self, like: Value) -> Value {
        let ty = self.ty(like);
        self.float(ty, f64::INFINITY)
    }

    /// 1 or 0 with the sign of x.
    fn boxed(&mut self, is_one: Value, x: Value) -> Value {
        let ty = self.ty(x);
        let (one, zero) = (self.float(ty, 1.0), self.float(ty, 0.0));
        let magnitude = self.choose(is_one, one, zero);
        self.b.ins().fcopysign(magnitude, x)
    }

    /// x, or a zero of its sign in place of NaN.
    fn no_nan(&mut self, x: Value) -> Value {
        let ty = self.ty(x);
        let zero = self.float(ty, 0.0);
        let zero = self.b.ins().fcopysign(zero, x);
        let nan = self.is_nan(x);
        self.choose(nan, zero, x)
    }

    fn any(&mut self, conditions: &[Value]) -> Value {
        let no = self.int(Type::I1, 0);
        conditions.iter().fold(no, |any, cond| self.or(any, *cond))
    }
}

/// Where one of two parts of a factor is infinite, makes that factor a corner of the box and the other one free of NaN.
fn corner(m: &mut Maker<'_, '_>, infinite: [Variable; 2], other: [Variable; 2], again: Variable) {
    let of = infinite.map(|part| {
        let part = m.get(part);
        m.is_infinite(part)
    });
    let any = m.or(of[0], of[1]);
    m.if_(any, |m| {
        for (part, is_infinite) in infinite.into_iter().zip(of) {
            let value = m.get(part);
            let value = m.boxed(is_infinite, value);
            m.set(part, value);
        }
        no_nans(m, other, again);
    });
}

/// Zeros in place of NaN; the product is to be computed again.
fn no_nans(m: &mut Maker<'_, '_>, parts: [Variable; 2], again: Variable) {
    for part in parts {
        let value = m.get(part);
        let value = m.no_nan(value);
        m.set(part, value);
    }
    let yes = m.int(Type::I1, 1);
    m.set(again, yes);
}

fn multiply(m: &mut Maker<'_, '_>) {
    let parts = m.operands();
    let products = |m: &mut Maker<'_, '_>, [a, b, c, d]: [Value; 4]| {
        [(a, c), (b, d), (a, d), (b, c)].map(|(x, y)| m.mul(x, y))
    };
    let sums = |m: &mut Maker<'_, '_>, [ac, bd, ad, bc]: [Value; 4]| [m.sub(ac, bd), m.add(ad, bc)];
    let first = products(m, parts);
    let results = sums(m, first);
    let [no_real, no_imaginary] = results.map(|part| m.is_nan(part));
    let results = results.map(|part| m.var(part));
    let lost = m.and(no_real, no_imaginary);
    m.if_(lost, |m| {
        let [a, b, c, d] = parts.map(|part| m.var(part));
        let no = m.int(Type::I1, 0);
        let again = m.var(no);
        corner(m, [a, b], [c, d], again);
        corner(m, [c, d], [a, b], again);
        let too_large = first.map(|product| m.is_infinite(product));
        let too_large = m.any(&too_large);
        let done = m.get(again);
        let open = m.b.ins().bnot(done);
        let too_large = m.and(too_large, open);
        m.if_(too_large, |m| {
            no_nans(m, [a, b], again);
            no_nans(m, [c, d], again);
        });
        let once_more = m.get(again);
        m.if_(once_more, |m| {
            let parts = [a, b, c, d].map(|part| m.get(part));
            let second = products(m, parts);
            for (result, sum) in results.into_iter().zip(sums(m, second)) {
                let infinity = m.infinity(sum);
                let value = m.mul(infinity, sum);
                m.set(result, value);
            }
        });
    });
    let pair = results.map(|part| m.get(part));
    m.ret_complex(pair);
}

fn divide(m: &mut Maker<'_, '_>) {
    let [a, b, c, d] = m.operands();
    let ty = m.ty(a);
    let function = |name| warpsmith_math::Function::new(name, ty);
    let (Some(logb), Some(scalbn)) = (function("logb"), function("scalbn")) else {
        // The math library has both.
        m.b.ins().trap();
        return;
    };
    // The divisor is scaled to about 1, so that its square neither overflows nor vanishes.
    let (c_size, d_size) = (m.b.ins().fabs(c), m.b.ins().fabs(d));
    let greater = m.b.ins().fmax(c_size, d_size);
    let exponent = m.math(logb, &[greater]).first();
    let finite = m.is_finite(exponent);
    let zero = m.int(Type::I32, 0);
    let whole = m.b.ins().fptosi(Type::I32, exponent);
    let whole = m.choose(finite, whole, zero);
    let down = m.b.ins().ineg(whole);
    let [c, d] = [c, d].map(|x| {
        let scaled = m.math(scalbn, &[x, down]).first();
        m.choose(finite, scaled, x)
    });
    let (cc, dd) = (m.mul(c, c), m.mul(d, d));
    let norm = m.add(cc, dd);
    let (ac, bd, bc, ad) = (m.mul(a, c), m.mul(b, d), m.mul(b, c), m.mul(a, d));
    let (x, y) = (m.add(ac, bd), m.sub(bc, ad));
    let [x, y] = [x, y].map(|part| {
        let quotient = m.div(part, norm);
        m.math(scalbn, &[quotient, down]).first()
    });
    let (real, imaginary) = (m.var(x), m.var(y));
    let (no_x, no_y) = (m.is_nan(x), m.is_nan(y));
    let lost = m.and(no_x, no_y);
    m.if_(lost, |m| {
        let zero = m.float(ty, 0.0);
        let infinity = m.infinity(a);
        let by_zero = m.float_is(FloatCC::Eq, norm, zero);
        let (nan_a, nan_b) = (m.is_nan(a), m.is_nan(b));
        let both = m.and(nan_a, nan_b);
        let number = m.b.ins().bnot(both);
        let by_zero = m.and(by_zero, number);
        let infinite = [a, b].map(|x| m.is_infinite(x));
        let any = m.or(infinite[0], infinite[1]);
        let finite = [c, d, a, b].map(|x| m.is_finite(x));
        let divisor_finite = m.and(finite[0], finite[1]);
        let dividend_finite = m.and(finite[2], finite[3]);
        let to_infinity = m.and(any, divisor_finite);
        let divisor_infinite = m.is_infinite(exponent);
        let positive = m.float_is(FloatCC::Gt, exponent, zero);
        let divisor_infinite = m.and(divisor_infinite, positive);
        let to_zero = m.and(divisor_infinite, dividend_finite);
        // The first that holds of: x / 0, infinity / finite, finite / infinity.
        let signed = m.b.ins().fcopysign(infinity, c);
        let over_zero = [m.mul(signed, a), m.mul(signed, b)];
        let (a1, b1) = (m.boxed(infinite[0], a), m.boxed(infinite[1], b));
        let (ac, bd, bc, ad) = (m.mul(a1, c), m.mul(b1, d), m.mul(b1, c), m.mul(a1, d));
        let (x, y) = (m.add(ac, bd), m.sub(bc, ad));
        let over_finite = [m.mul(infinity, x), m.mul(infinity, y)];
        let infinite = [c, d].map(|x| m.is_infinite(x));
        let (c1, d1) = (m.boxed(infinite[0], c), m.boxed(infinite[1], d));
        let (ac, bd, bc, ad) = (m.mul(a, c1), m.mul(b, d1), m.mul(b, c1), m.mul(a, d1));
        let (x, y) = (m.add(ac, bd), m.sub(bc, ad));
        let over_infinity = [m.mul(zero, x), m.mul(zero, y)];
        for (n, variable) in [real, imaginary].into_iter().enumerate() {
            let was = m.get(variable);
            let value = m.choose(to_zero, over_infinity[n], was);
            let value = m.choose(to_infinity, over_finite[n], value);
            let value = m.choose(by_zero, over_zero[n], value);
            m.set(variable, value);
        }
    });
    let pair = [m.get(real), m.get(imaginary)];
    m.ret_complex(pair);
}

/// The real part and the imaginary part of the parameter, in the format of the result.
fn parts(m: &mut Maker<'_, '_>) -> [Value; 2] {
    let (ty, number) = (m.result_type(), m.param(0));
    [0, 1].map(|part| {
        let bits = m.b.extract_value(number, &[0, part]);
        m.b.ins().bitcast(ty, bits)
    })
}

fn magnitude(m: &mut Maker<'_, '_>) {
    let parts = parts(m);
    function(m, "hypot", parts);
}

fn angle(m: &mut Maker<'_, '_>) {
    let [real, imaginary] = parts(m);
    function(m, "atan2", [imaginary, real]);
}

/// Gives a function of the math library.
fn function(m: &mut Maker<'_, '_>, name: &str, args: [Value; 2]) {
    let ty = m.ty(args[0]);
    let found = warpsmith_math::Function::new(name, ty);
    let results: Vec<Value> = found.map(|function| m.math(function, &args)).into_iter().flatten().collect();
    m.ret(&results);
}
