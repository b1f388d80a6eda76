//! Arithmetic of floats in which the same values meet again, as rules for it look for: sums and products of neighbours, with zero, with one, with what
//! was taken away before. Random operations on random floats seldom are of a size, and so seldom make a difference that shows.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{FastMath, FloatMode, InstBuilder, Opcode, Type, Value};

/// Operations that a step chooses from, with how many operands each has.
const OPS: [(Opcode, usize); 9] = [
    (Opcode::Fadd, 2),
    (Opcode::Fsub, 2),
    (Opcode::Fmul, 2),
    (Opcode::Fdiv, 2),
    (Opcode::Fneg, 1),
    (Opcode::Fabs, 1),
    (Opcode::Fmin, 2),
    (Opcode::Fmax, 2),
    (Opcode::Fma, 3),
];

/// Numbers that are neutral to an operation, or easily folded with others.
const NUMBERS: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 10.0];

/// What flags may allow whoever computes exactly: everything but another instruction, or another quotient.
const EXACT: FastMath = FastMath::CONTRACT
    .union(FastMath::REASSOC)
    .union(FastMath::NNAN)
    .union(FastMath::NINF)
    .union(FastMath::NSZ);

impl Generator<'_, '_, '_> {
    /// A few operations on a few floats.
    pub(super) fn algebra(&mut self) -> Result<()> {
        let ty = *self.u.choose(&[Type::F32, Type::F64])?;
        if self.config.special && self.u.ratio(1, 3)? {
            return self.exact(ty);
        }
        let leaves = [self.moderate(ty)?, self.moderate(ty)?];
        // No flag that allows another result, which then says nothing; but an operation with one is looked at by the rules for those that do.
        let flags = *self.u.choose(&[FastMath::NONE, FastMath::NINF])?;
        let flags = if self.config.special { flags } else { FastMath::NONE };
        let mut last = leaves[0];
        for _ in 0..self.u.int_in_range(2..=4)? {
            let (op, count) = *self.u.choose(&OPS)?;
            if op == Opcode::Fdiv && self.u.ratio(1, 2)? {
                // One divided by a number is another instruction than what else is divided.
                let one = self.b.ins().fconst(ty, bits(ty, *self.u.choose(&[1.0, 1.0, -1.0, 2.0])?));
                let by = if self.u.ratio(1, 2)? { last } else { leaves[0] };
                last = self.flagged(op, flags, &[one, by]);
                continue;
            }
            let mut args = vec![last];
            while args.len() < count {
                args.push(if self.u.ratio(1, 4)? {
                    self.named_number(ty)?
                } else {
                    *self.u.choose(&leaves)?
                });
            }
            if self.u.ratio(1, 4)? {
                args.reverse();
            }
            last = self.flagged(op, flags, &args);
        }
        self.values.push(last);
        Ok(())
    }

    /// Operations on small whole numbers, which are exact in whatever order, so that flags may allow everything: the result is the same, as an integer.
    fn exact(&mut self, ty: Type) -> Result<()> {
        let leaves = [self.small(ty)?, self.small(ty)?];
        let flags = if self.u.ratio(1, 4)? { FastMath::REASSOC } else { EXACT };
        let mut last = leaves[0];
        for _ in 0..self.u.int_in_range(1..=3)? {
            let (x, y) = (*self.u.choose(&leaves)?, *self.u.choose(&leaves)?);
            let constant = self.b.ins().fconst(ty, bits(ty, *self.u.choose(&[0.0, 1.0, 2.0, 3.0])?));
            let y = if self.u.ratio(1, 4)? { constant } else { y };
            last = match self.u.int_in_range(0..=9)? {
                0 => self.flagged(Opcode::Fadd, flags, &[last, y]),
                1 => self.flagged(Opcode::Fsub, flags, &[last, y]),
                2 => self.flagged(Opcode::Fsub, flags, &[y, last]),
                3 => self.flagged(Opcode::Fmul, flags, &[last, y]),
                4 => self.flagged(Opcode::Fneg, flags, &[last]),
                5 => self.flagged(Opcode::Fma, flags, &[last, x, y]),
                6 => {
                    let factors = [[last, x], [last, y]].map(|pair| self.flagged(Opcode::Fmul, flags, &pair));
                    let op = if self.u.ratio(1, 2)? { Opcode::Fadd } else { Opcode::Fsub };
                    self.flagged(op, flags, &factors)
                }
                7 => {
                    // Powers of two have reciprocals.
                    let two = self.b.ins().fconst(ty, bits(ty, *self.u.choose(&[1.0, 2.0, 4.0])?));
                    let half = self.flagged(Opcode::Fdiv, flags | FastMath::ARCP, &[last, two]);
                    self.flagged(Opcode::Fmul, flags, &[half, constant])
                }
                8 => {
                    let product = self.flagged(Opcode::Fmul, flags, &[last, x]);
                    self.flagged(Opcode::Fdiv, flags, &[product, x])
                }
                _ => {
                    let square = self.flagged(Opcode::Fmul, flags, &[x, x]);
                    let root = self.flagged(Opcode::Fsqrt, flags, &[square]);
                    self.flagged(Opcode::Fadd, flags, &[last, root])
                }
            };
        }
        let whole = self.b.ins().fptosi(Type::I32, last);
        self.values.push(whole);
        Ok(())
    }

    /// An operation with flags.
    fn flagged(&mut self, op: Opcode, flags: FastMath, args: &[Value]) -> Value {
        self.b.ins().float(op, FloatMode::fast(flags), args)
    }

    /// A float of any sign and significand whose size is about one.
    fn moderate(&mut self, ty: Type) -> Result<Value> {
        let (int, significand, bias) = match ty == Type::F64 {
            true => (Type::I64, 52, 1023),
            false => (Type::I32, 23, 127),
        };
        let any = self.value(int)?;
        let exponent: i64 = bias + self.u.int_in_range(-2..=2)?;
        let kept = self.number(int, i64::MIN >> (63 - (int.bits() - 1)) | ((1 << significand) - 1));
        let exponent = self.number(int, exponent << significand);
        let bits = self.b.ins().band(any, kept);
        let bits = self.b.ins().bor(bits, exponent);
        Ok(self.b.ins().bitcast(ty, bits))
    }

    /// A whole number from one to eight.
    pub(super) fn small(&mut self, ty: Type) -> Result<Value> {
        let any = self.value(Type::I32)?;
        let (mask, one) = (self.number(Type::I32, 7), self.number(Type::I32, 1));
        let low = self.b.ins().band(any, mask);
        let low = self.b.ins().iadd(low, one);
        Ok(self.b.ins().sitofp(ty, low))
    }

    fn named_number(&mut self, ty: Type) -> Result<Value> {
        let number = *self.u.choose(&NUMBERS)?;
        Ok(self.b.ins().fconst(ty, bits(ty, number)))
    }
}

fn bits(ty: Type, number: f64) -> u64 {
    if ty == Type::F64 { number.to_bits() } else { u64::from((number as f32).to_bits()) }
}
