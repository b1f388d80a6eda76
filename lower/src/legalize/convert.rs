//! Conversions from and to types that PTX has no registers for.

use super::*;
use warpsmith_ir::{FloatCC, FloatMode, FloatRounding, IntBinary, IntUnary};

impl Legalizer<'_> {
    /// A conversion of any types. `None` if the instruction is right as it is.
    pub(super) fn convert(&mut self, op: Conversion, from: Type, to: Type, x: Value) -> Option<Value> {
        if let Some(made) = self.narrow_conversion(op, from, to, x) {
            return Some(made);
        }
        match op {
            Conversion::Bitcast if held(from) == from && held(to) == to => None,
            Conversion::Bitcast => Some(self.bitcast(from, to, x)),
            Conversion::Splat => Some(self.build(to, &Values::from_elem(x, to.lanes() as usize))),
            Conversion::Trunc
            | Conversion::Zext
            | Conversion::Sext
            | Conversion::Fptrunc
            | Conversion::Fpext
            | Conversion::Sitofp
            | Conversion::Uitofp
            | Conversion::Fptosi
            | Conversion::Fptoui
            | Conversion::Inttoptr
            | Conversion::Addrspacecast => {
                if !to.is_vector() {
                    return Some(self.convert_scalar(op, from, to, x));
                }
                let (from, to_element) = (from.element_type(), to.element_type());
                let elements = self.elements(x);
                let made: Values = elements
                    .into_iter()
                    .map(|element| self.convert_scalar(op, from, to_element, element))
                    .collect();
                Some(self.build(to, &made))
            }
        }
    }

    pub(super) fn convert_scalar(&mut self, op: Conversion, from: Type, to: Type, x: Value) -> Value {
        if let Some(made) = self.narrow_conversion(op, from, to, x) {
            return made;
        }
        let unusual = |ty: Type| ty.is_odd() || ty == Type::I128;
        match op {
            Conversion::Zext | Conversion::Sext => self.extended(op.into(), from, to, x),
            Conversion::Trunc => self.truncated(from, to, x),
            Conversion::Sitofp | Conversion::Uitofp if unusual(from) => {
                let sign = op == Conversion::Sitofp;
                let extend = if sign { Opcode::Sext } else { Opcode::Zext };
                let container = held(from);
                let x = if from.is_odd() { self.extended(extend, from, container, x) } else { x };
                match container {
                    Type::I128 => self.wide_to_float(sign, to, x, None),
                    _ => self.raw_convert(op.into(), to, x),
                }
            }
            Conversion::Fptosi | Conversion::Fptoui if unusual(to) => {
                let sign = op == Conversion::Fptosi;
                let container = held(to);
                let x = match container {
                    Type::I128 => self.float_to_wide(sign, from, x),
                    _ => self.raw_convert(op.into(), container, x),
                };
                if !to.is_odd() {
                    return x;
                }
                let most = u128::MAX >> (128 - to.bits());
                if !sign {
                    let most = self.bits(container, most);
                    return self.binary(Opcode::Umin, container, x, most);
                }
                let (least, most) = (self.bits(container, !(most >> 1)), self.bits(container, most >> 1));
                let x = self.binary(Opcode::Smax, container, x, least);
                let x = self.binary(Opcode::Smin, container, x, most);
                self.masked(container, to.bits(), x)
            }
            Conversion::Sitofp
            | Conversion::Uitofp
            | Conversion::Fptosi
            | Conversion::Fptoui
            | Conversion::Fptrunc
            | Conversion::Fpext
            | Conversion::Bitcast
            | Conversion::Inttoptr
            | Conversion::Addrspacecast
            | Conversion::Splat => self.raw_convert(op.into(), to, x),
        }
    }

    /// The same bits as a value of its own, whose type in the source is another.
    pub(super) fn copied(&mut self, x: Value) -> Value {
        let ty = self.func.dfg.ty(x);
        self.raw_convert(Opcode::Bitcast, ty, x)
    }

    /// `zext` and `sext` between integers of any width.
    pub(super) fn extended(&mut self, op: Opcode, from: Type, to: Type, x: Value) -> Value {
        let (source, result) = (held(from), held(to));
        let sign = op == Opcode::Sext;
        if sign && from.is_odd() {
            let unused = self.int(Type::I32, i64::from(source.bits() - from.bits()));
            let up = self.binary(Opcode::Shl, source, x, unused);
            let x = self.binary(Opcode::Ashr, source, up, unused);
            let wide = if source == result { x } else { self.extended(op, source, result, x) };
            return self.masked(result, to.bits(), wide);
        }
        if source == result {
            return self.copied(x);
        }
        if result == Type::I128 {
            let low = if source == Type::I64 { x } else { self.raw_convert(op, Type::I64, x) };
            let high = match sign {
                true => {
                    let last = self.int(Type::I32, 63);
                    self.raw2(Opcode::Ashr, low, last)
                }
                false => self.int(Type::I64, 0),
            };
            let wide = self.join(low, high);
            return self.masked(result, to.bits(), wide);
        }
        let wide = self.raw_convert(op, result, x);
        self.masked(result, to.bits(), wide)
    }

    /// `trunc` between integers of any width.
    pub(super) fn truncated(&mut self, from: Type, to: Type, x: Value) -> Value {
        let (source, result) = (held(from), held(to));
        let (source, x) = match source {
            Type::I128 if result != Type::I128 => (Type::I64, self.halves(x)[0]),
            _ => (source, x),
        };
        let low = match source == result {
            // A value of its own, since what it is in the source is another type.
            true if to.is_odd() => x,
            true => self.copied(x),
            false => self.raw_convert(Opcode::Trunc, result, x),
        };
        if to.is_odd() { self.masked(result, to.bits(), low) } else { low }
    }

    /// The same bits as another type: cut into pieces that both are made of.
    fn bitcast(&mut self, from: Type, to: Type, x: Value) -> Value {
        let (a, b) = (from.element_type().bits(), to.element_type().bits());
        let piece = gcd(a, b);
        let Some(piece_type) = Type::int(piece) else { return x };
        let of_source: Values = if from.is_vector() { self.elements(x) } else { Values::from_elem(x, 1) };
        let mut pieces = Values::new();
        for element in of_source {
            let int = self.as_int(from.element_type(), element);
            let whole = Type::int(a).unwrap_or(Type::I64);
            for n in 0..a / piece {
                let place = self.int(Type::I32, i64::from(n * piece));
                let moved = if n == 0 { int } else { self.binary(Opcode::Lshr, whole, int, place) };
                pieces.push(if piece == a { moved } else { self.truncated(whole, piece_type, moved) });
            }
        }
        let whole = Type::int(b).unwrap_or(Type::I64);
        let mut made = Values::new();
        for of_element in pieces.chunks((b / piece) as usize) {
            let mut all = None;
            for (n, part) in of_element.iter().enumerate() {
                let wide =
                    if piece == b { *part } else { self.extended(Opcode::Zext, piece_type, whole, *part) };
                let place = self.int(Type::I32, n as i64 * i64::from(piece));
                let moved = if n == 0 { wide } else { self.binary(Opcode::Shl, whole, wide, place) };
                all = Some(all.map_or(moved, |all| self.binary(Opcode::Bor, whole, all, moved)));
            }
            let all = all.unwrap_or(x);
            made.push(if super::narrow::is_small(to) {
                let byte = self.copied(all);
                self.types[byte] = Some(to.element_type());
                byte
            } else if to.element_type().is_float() {
                self.raw_convert(Opcode::Bitcast, to.element_type(), all)
            } else {
                all
            });
        }
        if to.is_vector() { self.build(to, &made) } else { self.copied(made[0]) }
    }

    /// A scalar's bits as an integer.
    fn as_int(&mut self, ty: Type, x: Value) -> Value {
        if super::narrow::is_small(ty) {
            return self.copied(x);
        }
        match ty.is_float() {
            true => self.raw_convert(Opcode::Bitcast, Type::int(ty.bits()).unwrap_or(Type::I64), x),
            false => x,
        }
    }

    /// The nearest float to an `i128`: its 64 highest bits from the first one on, of which the last says whether any of the others is set,
    /// are rounded once; the power of two that is missing is exact.
    pub(super) fn wide_to_float(
        &mut self,
        sign: bool,
        to: Type,
        x: Value,
        rounding: Option<FloatRounding>,
    ) -> Value {
        if sign {
            let magnitude = self.wide_unary(IntUnary::Iabs, x);
            let negative = self.is_negative(Type::I128, x);
            let float = self.wide_to_float(false, to, magnitude, rounding);
            let negated = self.raw1(Opcode::Fneg, float);
            return self.raw3(Opcode::Select, [negative, negated, float]);
        }
        if to == Type::F16 {
            // All of 2^16 and above is infinite.
            let most = self.bits(Type::I128, 1 << 32);
            let x = self.wide_binary(IntBinary::Umin, x, most);
            let low = self.halves(x)[0];
            return self.rounded_to_float(to, low, rounding);
        }
        let zeros = self.wide_unary(IntUnary::Clz, x);
        let zeros = self.halves(zeros)[0];
        let places = self.raw_convert(Opcode::Trunc, Type::I32, zeros);
        let moved = self.wide_binary(IntBinary::Shl, x, places);
        let [low, high] = self.halves(moved);
        let zero = self.int(Type::I64, 0);
        let inexact = self.raw_icmp(IntCC::Ne, low, zero);
        let sticky = self.raw_convert(Opcode::Zext, Type::I64, inexact);
        let high = self.raw2(Opcode::Bor, high, sticky);
        let float = self.rounded_to_float(to, high, rounding);
        // 2^(64 - zeros) by its exponent.
        let (bias, fraction, int) = match to {
            Type::F64 => (1023, 52, Type::I64),
            Type::BF16 => (127, 7, Type::I16),
            _ => (127, 23, Type::I32),
        };
        let exponent = self.int(Type::I64, bias + 64);
        let exponent = self.raw2(Opcode::Isub, exponent, zeros);
        let place = self.int(Type::I32, fraction);
        let exponent = self.raw2(Opcode::Shl, exponent, place);
        let exponent =
            if int == Type::I64 { exponent } else { self.raw_convert(Opcode::Trunc, int, exponent) };
        let scale = self.raw_convert(Opcode::Bitcast, to, exponent);
        self.raw2(Opcode::Fmul, float, scale)
    }

    /// An `i64` without a sign to a float, in a direction.
    fn rounded_to_float(&mut self, to: Type, x: Value, rounding: Option<FloatRounding>) -> Value {
        let mode = FloatMode { rounding, ..FloatMode::default() };
        self.moded(Opcode::Uitofp, mode, Type::I64, to, &[x])
    }

    /// An `i128` toward zero, clamped; 0 for NaN. In `f64`, which holds every other float, both halves are exact.
    fn float_to_wide(&mut self, sign: bool, from: Type, x: Value) -> Value {
        let x = if from == Type::F64 { x } else { self.raw_convert(Opcode::Fpext, Type::F64, x) };
        let f64 = |this: &mut Self, value: f64| this.ins().f64const(value);
        if !sign {
            let scale = f64(self, 2f64.powi(-64));
            let upper = self.raw2(Opcode::Fmul, x, scale);
            let high = self.raw_convert(Opcode::Fptoui, Type::I64, upper);
            let rounded = self.raw_convert(Opcode::Uitofp, Type::F64, high);
            let back = f64(self, -(2f64.powi(64)));
            let rest = self.raw3(Opcode::Fma, [rounded, back, x]);
            let low = self.raw_convert(Opcode::Fptoui, Type::I64, rest);
            let limit = f64(self, 2f64.powi(128));
            let over = self.ins().fcmp(FloatCC::Ge, x, limit);
            let all = self.int(Type::I64, -1);
            let low = self.raw3(Opcode::Select, [over, all, low]);
            let high = self.raw3(Opcode::Select, [over, all, high]);
            return self.join(low, high);
        }
        let magnitude = self.raw1(Opcode::Fabs, x);
        let positive = self.float_to_wide(false, Type::F64, magnitude);
        let zero = f64(self, 0.0);
        let negative = self.ins().fcmp(FloatCC::Lt, x, zero);
        let negated = self.wide_unary(IntUnary::Ineg, positive);
        let value = self.select(Type::I128, [negative, negated, positive]);
        let limit = f64(self, 2f64.powi(127));
        let over = self.ins().fcmp(FloatCC::Ge, magnitude, limit);
        let (least, most) = (self.bits(Type::I128, 1 << 127), self.bits(Type::I128, u128::MAX >> 1));
        let limit = self.select(Type::I128, [negative, least, most]);
        self.select(Type::I128, [over, limit, value])
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
