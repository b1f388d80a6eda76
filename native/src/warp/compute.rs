//! The operations of a loop over lanes.

use super::chunk::{Chunks, Lanes};
use super::plan::Plan;
use cranelift_codegen::ir::condcodes::FloatCC as Fc;
use cranelift_codegen::ir::{ConstantData, InstBuilder, MemFlagsData, Type, Value, types};

impl Chunks<'_, '_, '_> {
    /// Each vector of the operands.
    fn each<const N: usize>(&mut self, x: [Lanes; N], f: impl Fn(&mut Self, [Value; N]) -> Value) -> Lanes {
        let part = |lanes: Lanes, n: usize| match lanes {
            Lanes::One(value) => value,
            Lanes::Two(values) => values[n],
        };
        if x.iter().all(|lanes| matches!(lanes, Lanes::One(_))) {
            return Lanes::One(f(self, x.map(|lanes| part(lanes, 0))));
        }
        Lanes::Two([0, 1].map(|n| f(self, x.map(|lanes| part(lanes, n)))))
    }

    /// The result of an operation. Of `f32`, NaNs are any.
    pub fn compute(&mut self, plan: Plan, double: bool, x: &[Lanes]) -> Lanes {
        match plan {
            Plan::Move => x[0],
            Plan::Add => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().iadd(a, b)),
            Plan::Sub => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().isub(a, b)),
            Plan::Multiply => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().imul(a, b)),
            Plan::MultiplyAdd => self.each([x[0], x[1], x[2]], |c, [a, b, d]| {
                let product = c.b.ins().imul(a, b);
                c.b.ins().iadd(product, d)
            }),
            Plan::Widen { signed, add } => {
                let (a, b) = (self.extended(x[0], signed), self.extended(x[1], signed));
                let product = self.each([a, b], |c, [a, b]| c.b.ins().imul(a, b));
                if add { self.each([product, x[2]], |c, [a, b]| c.b.ins().iadd(a, b)) } else { product }
            }
            Plan::And => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().band(a, b)),
            Plan::Or => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().bor(a, b)),
            Plan::Xor => self.each([x[0], x[1]], |c, [a, b]| c.b.ins().bxor(a, b)),
            Plan::Not => self.each([x[0]], |c, [a]| c.b.ins().bnot(a)),
            Plan::ShiftLeft(by) => self.each([x[0]], |c, [a]| c.shift_left(a, by)),
            Plan::ShiftRight { by, signed } => self.each([x[0]], |c, [a]| c.shift_right(a, by, signed)),
            Plan::FunnelLeft(by) => self.each([x[0], x[1]], |c, [a, b]| match by {
                0 => b,
                _ => {
                    let (up, down) = (c.shift_left(b, by), c.shift_right(a, 32 - by, false));
                    c.b.ins().bor(up, down)
                }
            }),
            Plan::FunnelRight(by) => self.each([x[0], x[1]], |c, [a, b]| match by {
                0 => a,
                _ => {
                    let (down, up) = (c.shift_right(a, by, false), c.shift_left(b, 32 - by));
                    c.b.ins().bor(up, down)
                }
            }),
            Plan::Logic(table) => self.each([x[0], x[1], x[2]], |c, abc| c.logic(table, abc)),
            Plan::Permute(selectors) => self.each([x[0], x[1]], |c, [a, b]| {
                let bytes: Vec<u8> = (0..16u32)
                    .map(|byte| {
                        let selector = selectors >> (4 * (byte % 4)) & 7;
                        let lane = byte / 4 * 4;
                        (if selector < 4 { lane + selector } else { 16 + lane + selector - 4 }) as u8
                    })
                    .collect();
                let mask = c.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
                let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
                let (a, b) =
                    (c.b.ins().bitcast(types::I8X16, flags, a), c.b.ins().bitcast(types::I8X16, flags, b));
                let shuffled = c.b.ins().shuffle(a, b, mask);
                c.b.ins().bitcast(types::I32X4, flags, shuffled)
            }),
            Plan::Least { signed } => self.each([x[0], x[1]], |c, [a, b]| match signed {
                true => c.b.ins().smin(a, b),
                false => c.b.ins().umin(a, b),
            }),
            Plan::Greatest { signed } => self.each([x[0], x[1]], |c, [a, b]| match signed {
                true => c.b.ins().smax(a, b),
                false => c.b.ins().umax(a, b),
            }),
            Plan::Compare(cc) => {
                let found = self.each([x[0], x[1]], |c, [a, b]| c.b.ins().icmp(cc, a, b));
                self.narrow_mask(found)
            }
            Plan::CompareFloat(cc) => {
                let found = self.each([x[0], x[1]], |c, [a, b]| {
                    let (a, b) = (c.floats(a, double), c.floats(b, double));
                    c.b.ins().fcmp(cc, a, b)
                });
                self.narrow_mask(found)
            }
            Plan::Choose => match x[2] {
                Lanes::One(mask) => self.blend(mask, x[0], x[1]),
                Lanes::Two(_) => x[0],
            },
            Plan::Extend { signed } => self.extended(x[0], signed),
            Plan::Cut => self.cut(x[0]),
            Plan::FromInteger { signed } => self.each([x[0]], |c, [a]| {
                let float = match signed {
                    true => c.b.ins().fcvt_from_sint(types::F32X4, a),
                    false => c.b.ins().fcvt_from_uint(types::F32X4, a),
                };
                c.cast(float, types::I32X4)
            }),
            Plan::AddFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fadd(a, b)),
            Plan::SubFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fsub(a, b)),
            Plan::MultiplyFloat => self.arithmetic(double, [x[0], x[1]], |c, [a, b]| c.b.ins().fmul(a, b)),
            Plan::Fused => self.arithmetic(double, [x[0], x[1], x[2]], |c, [a, b, d]| c.b.ins().fma(a, b, d)),
        }
    }

    fn lane_bits(&self, x: Value) -> u32 {
        self.b.func.dfg.value_type(x).lane_bits()
    }

    pub fn shift_left(&mut self, x: Value, by: u32) -> Value {
        if by >= self.lane_bits(x) {
            return self.b.ins().bxor(x, x);
        }
        let by = self.b.ins().iconst(types::I32, i64::from(by));
        self.b.ins().ishl(x, by)
    }

    pub fn shift_right(&mut self, x: Value, by: u32, signed: bool) -> Value {
        let bits = self.lane_bits(x);
        if by >= bits && !signed {
            return self.b.ins().bxor(x, x);
        }
        let by = self.b.ins().iconst(types::I32, i64::from(by.min(bits - 1)));
        if signed { self.b.ins().sshr(x, by) } else { self.b.ins().ushr(x, by) }
    }

    /// A function of three bits, by its table: choices by `a` between functions of `b` and `c`.
    fn logic(&mut self, table: u8, [a, b, c]: [Value; 3]) -> Value {
        if table == 0x96 {
            let ab = self.b.ins().bxor(a, b);
            return self.b.ins().bxor(ab, c);
        }
        let (low, high) = (table & 15, table >> 4);
        let f = self.logic_of_two(low, b, c);
        if low == high {
            return f;
        }
        let g = self.logic_of_two(high, b, c);
        self.b.ins().bitselect(a, g, f)
    }

    fn logic_of_two(&mut self, table: u8, b: Value, c: Value) -> Value {
        match table {
            0 => self.b.ins().bxor(b, b),
            0b1000 => self.b.ins().band(b, c),
            0b1110 => self.b.ins().bor(b, c),
            0b0110 => self.b.ins().bxor(b, c),
            0b1100 => b,
            0b1010 => c,
            0b0100 => {
                let not = self.b.ins().bnot(c);
                self.b.ins().band(b, not)
            }
            0b0010 => {
                let not = self.b.ins().bnot(b);
                self.b.ins().band(c, not)
            }
            // The others are complements of these.
            _ => {
                let other = self.logic_of_two(!table & 15, b, c);
                self.b.ins().bnot(other)
            }
        }
    }

    pub fn extended(&mut self, x: Lanes, signed: bool) -> Lanes {
        let Lanes::One(x) = x else { return x };
        Lanes::Two(match signed {
            true => [self.b.ins().swiden_low(x), self.b.ins().swiden_high(x)],
            false => [self.b.ins().uwiden_low(x), self.b.ins().uwiden_high(x)],
        })
    }

    /// The low halves of 64 bits.
    fn cut(&mut self, x: Lanes) -> Lanes {
        let Lanes::Two(halves) = x else { return x };
        Lanes::One(self.words(halves, [0, 2, 4, 6]))
    }

    /// Words of two vectors.
    pub fn words(&mut self, [a, b]: [Value; 2], words: [u8; 4]) -> Value {
        let bytes: Vec<u8> = words.into_iter().flat_map(|word| 4 * word..4 * word + 4).collect();
        let mask = self.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
        let (a, b) = (self.cast(a, types::I8X16), self.cast(b, types::I8X16));
        let shuffled = self.b.ins().shuffle(a, b, mask);
        self.cast(shuffled, types::I32X4)
    }

    /// What a comparison found, for lanes of 32 bits.
    fn narrow_mask(&mut self, found: Lanes) -> Lanes {
        self.cut(found)
    }

    pub fn cast(&mut self, x: Value, to: Type) -> Value {
        if self.b.func.dfg.value_type(x) == to {
            return x;
        }
        let flags = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
        self.b.ins().bitcast(to, flags, x)
    }

    fn floats(&mut self, x: Value, double: bool) -> Value {
        self.cast(x, if double { types::F64X2 } else { types::F32X4 })
    }

    /// The one NaN that the engine has of `f32`.
    pub fn with_own_nan(&mut self, x: Lanes) -> Lanes {
        self.each([x], |c, [x]| {
            let float = c.floats(x, false);
            let none = c.b.ins().fcmp(Fc::Unordered, float, float);
            let nan = c.constant_vector([0x7fff_ffff; 4]);
            c.b.ins().bitselect(none, nan, x)
        })
    }

    /// Arithmetic on floats. Of `f64` with the NaNs of the engine: the first operand's, made quiet.
    fn arithmetic<const N: usize>(
        &mut self,
        double: bool,
        x: [Lanes; N],
        f: impl Fn(&mut Self, [Value; N]) -> Value,
    ) -> Lanes {
        let bits = if double { types::I64X2 } else { types::I32X4 };
        self.each(x, |c, values| {
            let floats = values.map(|value| c.floats(value, double));
            let result = f(c, floats);
            if !double {
                return c.cast(result, bits);
            }
            let none = c.b.ins().fcmp(Fc::Unordered, result, result);
            let words = c.constant_vector([0, INVALID_HIGH, 0, INVALID_HIGH]);
            let mut nan = c.cast(words, bits);
            let quiet = c.constant_vector([0, 0x0008_0000, 0, 0x0008_0000]);
            let quiet = c.cast(quiet, bits);
            for (value, float) in values.into_iter().zip(floats).rev() {
                let is_nan = c.b.ins().fcmp(Fc::Unordered, float, float);
                let quieted = c.b.ins().bor(value, quiet);
                nan = c.b.ins().bitselect(is_nan, quieted, nan);
            }
            let result = c.cast(result, bits);
            c.b.ins().bitselect(none, nan, result)
        })
    }
}

/// The upper half of the NaN that an invalid operation of `f64` gives.
const INVALID_HIGH: u32 = 0xfff8_0000;
