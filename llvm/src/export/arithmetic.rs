//! Arithmetic, logic, comparisons: each operation as LLVM's, made total.

use super::function::{Writer, Written};
use super::types::{mangled, name, splat};
use warpsmith_ir::{
    FloatBinary, FloatCC, FloatUnary, IntBinary, IntCC, IntUnary, Overflow, Ternary, Type, Value,
};

/// A value as it is written, with its type.
#[derive(Clone)]
pub(super) struct Operand {
    ty: Type,
    text: String,
}

impl Writer<'_> {
    fn operand(&self, value: Value) -> Operand {
        Operand { ty: self.ty(value), text: self.value(value) }
    }

    /// `%t0 = INSTRUCTION`, the name of what it gives.
    fn given(&mut self, instruction: impl std::fmt::Display) -> String {
        let name = self.temporary();
        self.line(format_args!("{name} = {instruction}"));
        name
    }

    fn intrinsic(&mut self, result: &str, function: &str, ty: Type, args: &[&str]) -> Written {
        let (text, suffix) = (name(ty).ok_or("a type")?, mangled(ty).ok_or("a type")?);
        let list: Vec<String> = args.iter().map(|arg| format!("{text} {arg}")).collect();
        self.call(result, &text, &format!("llvm.{function}.{suffix}"), &list);
        Ok(())
    }

    pub(super) fn int_unary(&mut self, result: &str, op: IntUnary, arg: Value) -> Written {
        let ty = self.ty(arg);
        let (text, a) = (name(ty).ok_or("a type")?, self.value(arg));
        let flag =
            |function: &str| (format!("llvm.{function}."), format!("{text} {a}"), "i1 false".to_owned());
        let (function, value, flag) = match op {
            IntUnary::Ineg => return self.put(result, format_args!("sub {text} {}, {a}", splat(ty, 0))),
            IntUnary::Bnot => return self.put(result, format_args!("xor {text} {a}, {}", splat(ty, -1))),
            IntUnary::Popcnt => return self.intrinsic(result, "ctpop", ty, &[&a]),
            IntUnary::Bitrev => return self.intrinsic(result, "bitreverse", ty, &[&a]),
            // LLVM has it for whole pairs of bytes.
            IntUnary::Bswap if !ty.element_type().bits().is_multiple_of(16) => {
                return Err("`bswap` of an odd number of bytes".into());
            }
            IntUnary::Bswap => return self.intrinsic(result, "bswap", ty, &[&a]),
            IntUnary::Clz => flag("ctlz"),
            IntUnary::Ctz => flag("cttz"),
            IntUnary::Iabs => flag("abs"),
        };
        let function = function + &mangled(ty).ok_or("a type")?;
        self.call(result, &text, &function, &[value, flag]);
        Ok(())
    }

    /// An amount, which is of 32 bits, as a number of the shifted type, and whether it is below the width.
    fn amount(&mut self, by: &Operand, ty: Type) -> Result<(String, String), String> {
        let Operand { ty: mut from, text: mut amount } = by.clone();
        let to = name(ty).ok_or("a type")?;
        if ty.is_vector() && !from.is_vector() {
            // One amount for all elements.
            let wide = ty.with_element(from.element()).ok_or("a type")?;
            let vector = self.temporary();
            self.spread(&vector, [from, wide], &amount)?;
            (from, amount) = (wide, vector);
        }
        let text = name(from).ok_or("a type")?;
        let bits = ty.element_type().bits();
        let inside = self.given(format_args!("icmp ult {text} {amount}, {}", splat(from, bits)));
        let resized = match bits {
            32 => amount,
            bits => {
                let how = if bits < 32 { "trunc" } else { "zext" };
                self.given(format_args!("{how} {text} {amount} to {to}"))
            }
        };
        Ok((resized, inside))
    }

    pub(super) fn int_binary(&mut self, result: &str, op: IntBinary, [x, y]: [Value; 2]) -> Written {
        let ty = self.ty(x);
        let text = name(ty).ok_or("a type")?;
        let (a, b) = (self.value(x), self.value(y));
        let plain = match op {
            IntBinary::Iadd => "add",
            IntBinary::Isub => "sub",
            IntBinary::Imul => "mul",
            IntBinary::Band => "and",
            IntBinary::Bor => "or",
            IntBinary::Bxor => "xor",
            IntBinary::Smin => return self.intrinsic(result, "smin", ty, &[&a, &b]),
            IntBinary::Smax => return self.intrinsic(result, "smax", ty, &[&a, &b]),
            IntBinary::Umin => return self.intrinsic(result, "umin", ty, &[&a, &b]),
            IntBinary::Umax => return self.intrinsic(result, "umax", ty, &[&a, &b]),
            IntBinary::UaddSat => return self.intrinsic(result, "uadd.sat", ty, &[&a, &b]),
            IntBinary::SaddSat => return self.intrinsic(result, "sadd.sat", ty, &[&a, &b]),
            IntBinary::UsubSat => return self.intrinsic(result, "usub.sat", ty, &[&a, &b]),
            IntBinary::SsubSat => return self.intrinsic(result, "ssub.sat", ty, &[&a, &b]),
            IntBinary::UshlSat => return self.saturating_shift(result, false, x, y),
            IntBinary::SshlSat => return self.saturating_shift(result, true, x, y),
            IntBinary::Umulhi => return self.high_product(result, "zext", ty, [&a, &b]),
            IntBinary::Smulhi => return self.high_product(result, "sext", ty, [&a, &b]),
            IntBinary::Sdiv => return self.division(result, "sdiv", ty, [&a, &b]),
            IntBinary::Udiv => return self.division(result, "udiv", ty, [&a, &b]),
            IntBinary::Srem => return self.division(result, "srem", ty, [&a, &b]),
            IntBinary::Urem => return self.division(result, "urem", ty, [&a, &b]),
            IntBinary::Shl => return self.shift(result, "shl", x, y),
            IntBinary::Lshr => return self.shift(result, "lshr", x, y),
            IntBinary::Ashr => return self.shift(result, "ashr", x, y),
            IntBinary::Rotl => return self.rotation(result, "fshl", x, y),
            IntBinary::Rotr => return self.rotation(result, "fshr", x, y),
        };
        self.put(result, format_args!("{plain} {text} {a}, {b}"))
    }

    fn high_product(&mut self, result: &str, extend: &str, ty: Type, [a, b]: [&str; 2]) -> Written {
        if ty.is_vector() {
            return Err("the high half of a product of vectors".into());
        }
        let (text, bits) = (name(ty).ok_or("a type")?, ty.bits());
        let wide = format!("i{}", 2 * bits);
        let [a, b] = [a, b].map(|factor| self.given(format_args!("{extend} {text} {factor} to {wide}")));
        let product = self.given(format_args!("mul {wide} {a}, {b}"));
        let high = self.given(format_args!("lshr {wide} {product}, {bits}"));
        self.put(result, format_args!("trunc {wide} {high} to {text}"))
    }

    /// All ones for a zero divisor; the least number by -1 is itself, and leaves 0.
    fn division(&mut self, result: &str, op: &str, ty: Type, [a, b]: [&str; 2]) -> Written {
        let text = name(ty).ok_or("a type")?;
        let mask = name(ty.with_element(warpsmith_ir::Scalar::I1).ok_or("a type")?).ok_or("a type")?;
        let zero = self.given(format_args!("icmp eq {text} {b}, {}", splat(ty, 0)));
        let mut bad = zero.clone();
        if op.starts_with('s') {
            let negated = self.given(format_args!("icmp eq {text} {b}, {}", splat(ty, -1)));
            bad = self.given(format_args!("or {mask} {zero}, {negated}"));
        }
        let divisor = self.given(format_args!("select {mask} {bad}, {text} {}, {text} {b}", splat(ty, 1)));
        let mut found = self.given(format_args!("{op} {text} {a}, {divisor}"));
        if op.starts_with('s') {
            // By -1: the negation, and nothing is left.
            let by_minus_one = match op {
                "sdiv" => self.given(format_args!("sub {text} {}, {a}", splat(ty, 0))),
                _ => splat(ty, 0),
            };
            found = self.given(format_args!("select {mask} {bad}, {text} {by_minus_one}, {text} {found}"));
        }
        self.put(result, format_args!("select {mask} {zero}, {text} {}, {text} {found}", splat(ty, -1)))
    }

    /// A shift by the width and more leaves zeros, or copies of the sign.
    fn shifted(&mut self, op: &str, ty: Type, a: &str, by: &Operand) -> Result<String, String> {
        let text = name(ty).ok_or("a type")?;
        let mask = name(ty.with_element(warpsmith_ir::Scalar::I1).ok_or("a type")?).ok_or("a type")?;
        let (amount, inside) = self.amount(by, ty)?;
        let zero = splat(ty, 0);
        let safe = self.given(format_args!("select {mask} {inside}, {text} {amount}, {text} {zero}"));
        let shifted = self.given(format_args!("{op} {text} {a}, {safe}"));
        let beyond = match op {
            "ashr" => {
                let most = splat(ty, ty.element_type().bits() - 1);
                self.given(format_args!("ashr {text} {a}, {most}"))
            }
            _ => zero,
        };
        Ok(self.given(format_args!("select {mask} {inside}, {text} {shifted}, {text} {beyond}")))
    }

    fn shift(&mut self, result: &str, op: &str, value: Value, by: Value) -> Written {
        let (ty, a, by) = (self.ty(value), self.value(value), self.operand(by));
        let text = name(ty).ok_or("a type")?;
        let shifted = self.shifted(op, ty, &a, &by)?;
        self.put(result, format_args!("or {text} {shifted}, {}", splat(ty, 0)))
    }

    /// What a shift back does not restore has not fitted.
    fn saturating_shift(&mut self, result: &str, signed: bool, value: Value, by: Value) -> Written {
        let (ty, a, by) = (self.ty(value), self.value(value), self.operand(by));
        let text = name(ty).ok_or("a type")?;
        let mask = name(ty.with_element(warpsmith_ir::Scalar::I1).ok_or("a type")?).ok_or("a type")?;
        let shifted = self.shifted("shl", ty, &a, &by)?;
        let back = self.shifted(if signed { "ashr" } else { "lshr" }, ty, &shifted, &by)?;
        let fits = self.given(format_args!("icmp eq {text} {back}, {a}"));
        let nearest = match signed {
            false => splat(ty, -1),
            true => {
                // All ones for a negative number, turned into the least: else the greatest.
                let sign =
                    self.given(format_args!("ashr {text} {a}, {}", splat(ty, ty.element_type().bits() - 1)));
                let greatest = self.given(format_args!("lshr {text} {}, {}", splat(ty, -1), splat(ty, 1)));
                self.given(format_args!("xor {text} {sign}, {greatest}"))
            }
        };
        self.put(result, format_args!("select {mask} {fits}, {text} {shifted}, {text} {nearest}"))
    }

    /// A position or a length of a bit field, which counts modulo 256.
    fn place(&mut self, value: Value) -> Result<Operand, String> {
        let Operand { ty, text } = self.operand(value);
        let of = name(ty).ok_or("a type")?;
        let text = self.given(format_args!("and {of} {text}, {}", splat(ty, 255)));
        Ok(Operand { ty, text })
    }

    /// As many low ones as a field is long.
    fn low_ones(&mut self, ty: Type, length: &Operand) -> Result<String, String> {
        let text = name(ty).ok_or("a type")?;
        let power = self.shifted("shl", ty, &splat(ty, 1), length)?;
        Ok(self.given(format_args!("add {text} {power}, {}", splat(ty, -1))))
    }

    fn bit_field(&mut self, result: &str, signed: bool, [value, position, length]: [Value; 3]) -> Written {
        let (ty, a) = (self.ty(value), self.value(value));
        let text = name(ty).ok_or("a type")?;
        let (position, length) = (self.place(position)?, self.place(length)?);
        if !signed {
            let (moved, ones) = (self.shifted("lshr", ty, &a, &position)?, self.low_ones(ty, &length)?);
            return self.put(result, format_args!("and {text} {moved}, {ones}"));
        }
        let moved = self.shifted("ashr", ty, &a, &position)?;
        // Up to the top and back again.
        let (of, bits) = (name(length.ty).ok_or("a type")?, ty.element_type().bits());
        let mask = name(length.ty.with_element(warpsmith_ir::Scalar::I1).ok_or("a type")?).ok_or("a type")?;
        let bits = splat(length.ty, bits);
        let inside = self.given(format_args!("icmp ult {of} {}, {bits}", length.text));
        let above = self.given(format_args!("sub {of} {bits}, {}", length.text));
        let zero = splat(length.ty, 0);
        let above = self.given(format_args!("select {mask} {inside}, {of} {above}, {of} {zero}"));
        let above = Operand { ty: length.ty, text: above };
        let up = self.shifted("shl", ty, &moved, &above)?;
        let down = self.shifted("ashr", ty, &up, &above)?;
        self.put(result, format_args!("or {text} {down}, {}", splat(ty, 0)))
    }

    pub(super) fn insert_field(
        &mut self,
        result: &str,
        [into, from, position, length]: [Value; 4],
    ) -> Written {
        let ty = self.ty(into);
        let text = name(ty).ok_or("a type")?;
        let (a, b) = (self.value(into), self.value(from));
        let (position, length) = (self.place(position)?, self.place(length)?);
        let ones = self.low_ones(ty, &length)?;
        let field = self.shifted("shl", ty, &ones, &position)?;
        let moved = self.shifted("shl", ty, &b, &position)?;
        let changed = self.given(format_args!("and {text} {moved}, {field}"));
        let others = self.given(format_args!("xor {text} {field}, {}", splat(ty, -1)));
        let kept = self.given(format_args!("and {text} {a}, {others}"));
        self.put(result, format_args!("or {text} {kept}, {changed}"))
    }

    fn rotation(&mut self, result: &str, function: &str, value: Value, by: Value) -> Written {
        self.funnel(result, function, [value, value, by])
    }

    /// The amount counts modulo the width, whatever that is.
    fn funnel(&mut self, result: &str, function: &str, [upper, lower, by]: [Value; 3]) -> Written {
        let ty = self.ty(upper);
        if ty.is_vector() {
            return Err("a rotation of a vector".into());
        }
        let bits = ty.bits();
        let text = name(ty).ok_or("a type")?;
        let (a, b, amount) = (self.value(upper), self.value(lower), self.value(by));
        let modulo = self.given(format_args!("urem i32 {amount}, {bits}"));
        let modulo = match bits {
            32 => modulo,
            bits => {
                let how = if bits < 32 { "trunc" } else { "zext" };
                self.given(format_args!("{how} i32 {modulo} to {text}"))
            }
        };
        self.intrinsic(result, function, ty, &[&a, &b, &modulo])
    }

    /// A result and whether it is not the true one.
    pub(super) fn overflowing(&mut self, results: [&str; 2], op: Overflow, [x, y]: [Value; 2]) -> Written {
        let function = match op {
            Overflow::UaddOverflow => "uadd",
            Overflow::SaddOverflow => "sadd",
            Overflow::UsubOverflow => "usub",
            Overflow::SsubOverflow => "ssub",
            Overflow::UmulOverflow => "umul",
            Overflow::SmulOverflow => "smul",
        };
        let ty = self.ty(x);
        let (text, suffix) = (name(ty).ok_or("a type")?, mangled(ty).ok_or("a type")?);
        let mask = name(ty.with_element(warpsmith_ir::Scalar::I1).ok_or("a type")?).ok_or("a type")?;
        let pair = format!("{{ {text}, {mask} }}");
        let args = [x, y].map(|arg| format!("{text} {}", self.value(arg)));
        let both = self.temporary();
        self.call(&both, &pair, &format!("llvm.{function}.with.overflow.{suffix}"), &args);
        for (n, result) in results.into_iter().enumerate() {
            self.put(result, format_args!("extractvalue {pair} {both}, {n}"))?;
        }
        Ok(())
    }

    pub(super) fn float_unary(&mut self, result: &str, op: FloatUnary, arg: Value) -> Written {
        let ty = self.ty(arg);
        let (text, a) = (name(ty).ok_or("a type")?, self.value(arg));
        let function = match op {
            FloatUnary::Fneg => return self.put(result, format_args!("fneg {text} {a}")),
            FloatUnary::Fabs => "fabs",
            FloatUnary::Fsqrt => "sqrt",
            FloatUnary::Ffloor => "floor",
            FloatUnary::Fceil => "ceil",
            FloatUnary::Ftrunc => "trunc",
            FloatUnary::Fnearest => "roundeven",
            FloatUnary::Fround => "round",
            FloatUnary::Frsqrt
            | FloatUnary::Frcp
            | FloatUnary::Fsin
            | FloatUnary::Fcos
            | FloatUnary::Fexp2
            | FloatUnary::Flog2
            | FloatUnary::Ftanh => return Err("an approximation".into()),
        };
        self.intrinsic(result, function, ty, &[&a])
    }

    pub(super) fn float_binary(&mut self, result: &str, op: FloatBinary, args: [Value; 2]) -> Written {
        let ty = self.ty(args[0]);
        let text = name(ty).ok_or("a type")?;
        let [a, b] = args.map(|arg| self.value(arg));
        let plain = match op {
            FloatBinary::Fadd => "fadd",
            FloatBinary::Fsub => "fsub",
            FloatBinary::Fmul => "fmul",
            FloatBinary::Fdiv => "fdiv",
            // For GPUs it is `x - trunc(x / y) * y` of a quotient that is rounded: where that rounds up to a whole number, another remainder.
            FloatBinary::Frem => return Err("a remainder of floats, which LLVM computes inexactly".into()),
            FloatBinary::Fmin => return self.intrinsic(result, "minimumnum", ty, &[&a, &b]),
            FloatBinary::Fmax => return self.intrinsic(result, "maximumnum", ty, &[&a, &b]),
            FloatBinary::Fminimum => return self.intrinsic(result, "minimum", ty, &[&a, &b]),
            FloatBinary::Fmaximum => return self.intrinsic(result, "maximum", ty, &[&a, &b]),
            FloatBinary::Fcopysign => return self.intrinsic(result, "copysign", ty, &[&a, &b]),
        };
        self.put(result, format_args!("{plain} {text} {a}, {b}"))
    }

    pub(super) fn ternary(&mut self, result: &str, op: Ternary, args: [Value; 3]) -> Written {
        let ty = self.ty(args[1]);
        let text = name(ty).ok_or("a type")?;
        let [a, b, c] = args.map(|arg| self.value(arg));
        match op {
            Ternary::Select => {
                let mask = name(self.ty(args[0])).ok_or("a type")?;
                self.put(result, format_args!("select {mask} {a}, {text} {b}, {text} {c}"))
            }
            Ternary::Fma => self.intrinsic(result, "fma", ty, &[&a, &b, &c]),
            Ternary::Fshl => self.funnel(result, "fshl", args),
            Ternary::Fshr => self.funnel(result, "fshr", args),
            Ternary::Ubfx => self.bit_field(result, false, args),
            Ternary::Sbfx => self.bit_field(result, true, args),
        }
    }

    pub(super) fn int_compare(&mut self, result: &str, cond: IntCC, [x, y]: [Value; 2]) -> Written {
        let text = name(self.ty(x)).ok_or("a type")?;
        let how = match cond {
            IntCC::Eq => "eq",
            IntCC::Ne => "ne",
            IntCC::Slt => "slt",
            IntCC::Sle => "sle",
            IntCC::Sgt => "sgt",
            IntCC::Sge => "sge",
            IntCC::Ult => "ult",
            IntCC::Ule => "ule",
            IntCC::Ugt => "ugt",
            IntCC::Uge => "uge",
        };
        let (a, b) = (self.value(x), self.value(y));
        self.put(result, format_args!("icmp {how} {text} {a}, {b}"))
    }

    pub(super) fn float_compare(&mut self, result: &str, cond: FloatCC, [x, y]: [Value; 2]) -> Written {
        let text = name(self.ty(x)).ok_or("a type")?;
        let how = match cond {
            FloatCC::Eq => "oeq",
            FloatCC::Ne => "one",
            FloatCC::Lt => "olt",
            FloatCC::Le => "ole",
            FloatCC::Gt => "ogt",
            FloatCC::Ge => "oge",
            FloatCC::Equ => "ueq",
            FloatCC::Neu => "une",
            FloatCC::Ltu => "ult",
            FloatCC::Leu => "ule",
            FloatCC::Gtu => "ugt",
            FloatCC::Geu => "uge",
            FloatCC::Num => "ord",
            FloatCC::Nan => "uno",
        };
        let (a, b) = (self.value(x), self.value(y));
        self.put(result, format_args!("fcmp {how} {text} {a}, {b}"))
    }
}
