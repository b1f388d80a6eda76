//! Operations on floats done in another way than the plain one, as instructions of PTX with modifiers; and what PTX has no instruction for.

use super::*;
use warpsmith_ir::{FastMath, FloatBinary, FloatCC, FloatMode, FloatRounding, FloatUnary, Mnemonic};
use warpsmith_isa::{Mod, Opcode as Ptx};

fn direction(rounding: FloatRounding) -> Mod {
    match rounding {
        FloatRounding::Nearest => Mod::Rn,
        FloatRounding::Zero => Mod::Rz,
        FloatRounding::Down => Mod::Rm,
        FloatRounding::Up => Mod::Rp,
    }
}

fn type_mod(ty: Type) -> Mod {
    Mod::of_scalar(ty.element().isa())
}

impl Legalizer<'_> {
    /// An operation with a mode, from a type to a type.
    pub(super) fn moded(
        &mut self,
        op: Opcode,
        mode: FloatMode,
        from: Type,
        to: Type,
        args: &[Value],
    ) -> Value {
        if let Some(fused) = self.contracted(op, mode, to, args) {
            return fused;
        }
        let asked = mode;
        // Arithmetic on halves rounds to nearest and in no other way, so that the word asks for nothing; the plain operation is written as what the target
        // has.
        let half = matches!(from.element(), Scalar::F16 | Scalar::BF16);
        let converts = matches!(op.class(), Class::Conversion(_));
        let mode = match mode.rounding {
            Some(FloatRounding::Nearest) if half && !converts => FloatMode { rounding: None, ..mode },
            _ => mode,
        };
        let narrow = from.element().is_narrow_float() || to.element().is_narrow_float();
        let up = op == Opcode::Fptrunc && mode.rounding == Some(FloatRounding::Up);
        // An approximation that PTX does not have is exact.
        let plain = mode.exact().computes_plainly() && !op.has_approximation(from);
        let made = if up && to.element() == Scalar::UE8M0 {
            self.powers_rounded_up(from, to, args[0])
        } else if narrow || mode.computes_plainly() || plain {
            self.plain(op, from, to, args)
        } else if to.is_vector() {
            let lists: SmallVec<[Values; 3]> = args.iter().map(|arg| self.elements(*arg)).collect();
            let made: Values = (0..to.lanes() as usize)
                .map(|n| {
                    let args: Values = lists.iter().map(|list| list[n]).collect();
                    self.moded_scalar(op, mode, from.element_type(), to.element_type(), &args)
                })
                .collect();
            self.build(to, &made)
        } else {
            self.moded_scalar(op, mode, from, to, args)
        };
        if contracts(asked) {
            if let (Opcode::Fmul, &[x, y]) = (op, args) {
                self.products.insert(made, [x, y]);
            }
            // What other functions and memory keep apart is left to the pass `contract`.
            let plain = self.func.dfg.def_inst(made).filter(|inst| self.func.dfg.opcode(*inst) == op);
            if let Some(inst) = plain {
                self.func.dfg.set_promised(inst, true);
            }
        }
        made
    }

    /// The plain operation.
    fn plain(&mut self, op: Opcode, from: Type, to: Type, args: &[Value]) -> Value {
        match (op.class(), args) {
            (Class::Conversion(conversion), &[x]) => {
                self.convert(conversion, from, to, x).unwrap_or_else(|| self.raw_convert(op, to, x))
            }
            (_, &[x]) => self.unary(op, to, x),
            (_, &[x, y]) => self.binary(op, to, x, y),
            (_, &[x, y, z, ..]) => self.fma(to, [x, y, z]),
            (_, []) => Value::from_u32(0),
        }
    }

    /// A sum with a product, both of which may be contracted, as one operation.
    fn contracted(&mut self, op: Opcode, mode: FloatMode, ty: Type, args: &[Value]) -> Option<Value> {
        let &[x, y] = args else { return None };
        if !contracts(mode) || !matches!(op, Opcode::Fadd | Opcode::Fsub) {
            return None;
        }
        let subtracts = op == Opcode::Fsub;
        if let Some([a, b]) = self.products.get(&x).copied() {
            let c = if subtracts { self.unary(Opcode::Fneg, ty, y) } else { y };
            return Some(self.fma(ty, [a, b, c]));
        }
        let [a, b] = self.products.get(&y).copied()?;
        let a = if subtracts { self.unary(Opcode::Fneg, ty, a) } else { a };
        Some(self.fma(ty, [a, b, x]))
    }

    fn moded_scalar(&mut self, op: Opcode, mode: FloatMode, from: Type, to: Type, args: &[Value]) -> Value {
        let approximate = mode.fast.contains(FastMath::AFN);
        let half = matches!(from, Type::F16 | Type::BF16);
        if let Some(quotient) = self.by_reciprocal(op, mode, to, args) {
            return quotient;
        }
        let with = |ptx: Ptx, ty: Type| {
            let mut mnemonic = Mnemonic::new(ptx);
            if approximate_form(op, from) && approximate {
                mnemonic = mnemonic.with(Mod::Approx);
            } else if let Some(rounding) =
                rounded(op).then_some(mode.rounding.unwrap_or(FloatRounding::Nearest))
            {
                mnemonic = mnemonic.with(direction(rounding));
            }
            if mode.ftz {
                mnemonic = mnemonic.with(Mod::Ftz);
            }
            if mode.sat {
                mnemonic = mnemonic.with(Mod::Sat);
            }
            mnemonic.with(type_mod(ty))
        };
        let ptx = match op.class() {
            Class::FloatBinary(op) => match op {
                FloatBinary::Fadd => Ptx::Add,
                FloatBinary::Fsub => Ptx::Sub,
                FloatBinary::Fmul => Ptx::Mul,
                FloatBinary::Fdiv => Ptx::Div,
                FloatBinary::Fmin => Ptx::Min,
                FloatBinary::Fmax => Ptx::Max,
                FloatBinary::Fminimum | FloatBinary::Fmaximum => {
                    // Flushed first: the choice between what is left flushes nothing.
                    let flush = FloatMode { ftz: true, ..FloatMode::default() };
                    let flushed: Values = (args.iter())
                        .map(|arg| {
                            let zero = self.ins().fconst(from, 1 << 31);
                            self.moded_scalar(Opcode::Fadd, flush, from, to, &[*arg, zero])
                        })
                        .collect();
                    return self.minimum(op.into(), to, flushed[0], flushed[1]);
                }
                FloatBinary::Frem | FloatBinary::Fcopysign => {
                    return self.plain(op.into(), from, to, args);
                }
            },
            Class::FloatUnary(op) => match op {
                FloatUnary::Fsqrt => Ptx::Sqrt,
                FloatUnary::Fneg => Ptx::Neg,
                FloatUnary::Fabs => Ptx::Abs,
                FloatUnary::Frsqrt => Ptx::Rsqrt,
                FloatUnary::Frcp => Ptx::Rcp,
                FloatUnary::Fsin => Ptx::Sin,
                FloatUnary::Fcos => Ptx::Cos,
                FloatUnary::Fexp2 => Ptx::Ex2,
                FloatUnary::Flog2 => Ptx::Lg2,
                FloatUnary::Ftanh => Ptx::Tanh,
                FloatUnary::Ffloor
                | FloatUnary::Fceil
                | FloatUnary::Ftrunc
                | FloatUnary::Fnearest
                | FloatUnary::Fround => return self.plain(op.into(), from, to, args),
            },
            Class::Ternary(Ternary::Fma) => Ptx::Fma,
            Class::Conversion(op) => return self.moded_conversion(op, mode, from, to, args[0]),
            // The verifier gives modes to operations of floats only.
            Class::IntUnary(_)
            | Class::IntBinary(_)
            | Class::PointerUnary(_)
            | Class::PointerBinary(_)
            | Class::Ternary(_)
            | Class::Overflow(_)
            | Class::List(_)
            | Class::Alone => {
                self.no_rule(self.at, op);
                return args[0];
            }
        };
        if half && approximate_form(op, from) {
            let wide = self.raw_convert(Opcode::Fpext, Type::F32, args[0]);
            let made = self.moded_scalar(op, mode, Type::F32, Type::F32, &[wide]);
            return self.raw_convert(Opcode::Fptrunc, from, made);
        }
        if op == Opcode::Ftanh && !self.has_sm(75) {
            return self.tanh_by_exponentials(args[0]);
        }
        let mut mnemonic = with(ptx, to);
        if op == Opcode::Frcp && from == Type::F64 {
            mnemonic = Mnemonic::new(ptx).with(Mod::Approx).with(Mod::Ftz).with(Mod::F64);
        }
        if op == Opcode::Ftanh {
            mnemonic = Mnemonic::new(ptx).with(Mod::Approx).with(Mod::F32);
        }
        let made = self.ptx(mnemonic, to, args);
        if let (Opcode::Fsqrt, true, &[x]) = (op, approximate, args) {
            self.roots.insert(made, x);
        }
        made
    }

    /// Approximations of `1 / x`, `1 / sqrt x` and, by leave of `arcp`, `y / sqrt x`. They are closer than an approximate quotient, and shorter.
    fn by_reciprocal(&mut self, op: Opcode, mode: FloatMode, ty: Type, args: &[Value]) -> Option<Value> {
        let &[of, by] = args else { return None };
        if op != Opcode::Fdiv || ty != Type::F32 || !mode.fast.contains(FastMath::AFN) {
            return None;
        }
        let is_one = self.func.dfg.float_const(of) == Some(1f32.to_bits().into());
        match self.roots.get(&by).copied() {
            Some(square) if is_one => Some(self.moded_scalar(Opcode::Frsqrt, mode, ty, ty, &[square])),
            Some(square) if mode.fast.contains(FastMath::ARCP) => {
                let reciprocal = self.moded_scalar(Opcode::Frsqrt, mode, ty, ty, &[square]);
                Some(self.moded_scalar(Opcode::Fmul, mode, ty, ty, &[of, reciprocal]))
            }
            _ => is_one.then(|| self.moded_scalar(Opcode::Frcp, mode, ty, ty, &[by])),
        }
    }

    /// `tanh x` where PTX has none: 1 - 2 / (2^(2x/ln 2) + 1), whose first digits cancel for numbers near zero; there x (1 - x^2 / 3),
    /// which keeps the sign of a zero.
    fn tanh_by_exponentials(&mut self, x: Value) -> Value {
        let approximate = FloatMode::fast(FastMath::AFN);
        let scale = self.ins().f32const(2.0 * std::f32::consts::LOG2_E);
        let scaled = self.raw2(Opcode::Fmul, x, scale);
        let power = self.moded_scalar(Opcode::Fexp2, approximate, Type::F32, Type::F32, &[scaled]);
        let one = self.ins().f32const(1.0);
        let sum = self.raw2(Opcode::Fadd, power, one);
        let two = self.ins().f32const(2.0);
        let part = self.moded_scalar(Opcode::Fdiv, approximate, Type::F32, Type::F32, &[two, sum]);
        let far = self.raw2(Opcode::Fsub, one, part);
        // Up to here the next term of the series is 2^-15 of the result, and what cancels above it 2^-19.
        let near = self.ins().f32const(0.125);
        let third = self.ins().f32const(-1.0 / 3.0);
        let square = self.raw2(Opcode::Fmul, x, x);
        let factor = self.raw3(Opcode::Fma, [square, third, one]);
        let series = self.raw2(Opcode::Fmul, x, factor);
        let size = self.raw1(Opcode::Fabs, x);
        let is_near = self.ins().fcmp(FloatCC::Lt, size, near);
        self.select(Type::F32, [is_near, series, far])
    }

    fn ptx(&mut self, mnemonic: Mnemonic, to: Type, args: &[Value]) -> Value {
        let operands: Vec<warpsmith_ir::PtxArg> = args.iter().map(|arg| (*arg).into()).collect();
        self.ins().ptx_typed(mnemonic, operands, &[to]).first()
    }

    /// An `f32` rounded toward zero to `bf16`, for targets without the instruction: its upper half, or the one NaN.
    fn upper_half(&mut self, x: Value) -> Value {
        let bits = self.raw_convert(Opcode::Bitcast, Type::I32, x);
        let by = self.int(Type::I32, 16);
        let upper = self.raw2(Opcode::Lshr, bits, by);
        let upper = self.raw_convert(Opcode::Trunc, Type::I16, upper);
        let nan = self.int(Type::I16, 0x7fff);
        let is_nan = self.ins().fcmp(FloatCC::Nan, x, x);
        let chosen = self.select(Type::I16, [is_nan, nan, upper]);
        self.raw_convert(Opcode::Bitcast, Type::BF16, chosen)
    }

    fn moded_conversion(&mut self, op: Conversion, mode: FloatMode, from: Type, to: Type, x: Value) -> Value {
        let rounding = mode.rounding.unwrap_or(FloatRounding::Nearest);
        match op {
            Conversion::Fptrunc => {
                let cvt =
                    Mnemonic::new(Ptx::Cvt).with(direction(rounding)).with(type_mod(to)).with(type_mod(from));
                let plain = rounding == FloatRounding::Nearest;
                if rounding == FloatRounding::Zero
                    && to == Type::BF16
                    && from == Type::F32
                    && !self.has_sm(80)
                {
                    return self.upper_half(x);
                }
                if plain { self.raw_convert(op.into(), to, x) } else { self.ptx(cvt, to, &[x]) }
            }
            Conversion::Fptosi | Conversion::Fptoui => {
                // To an integral value in the direction, which the plain conversion then takes as it is.
                let integral = match mode.rounding {
                    None | Some(FloatRounding::Zero) => x,
                    Some(FloatRounding::Nearest) => self.raw1(Opcode::Fnearest, x),
                    Some(FloatRounding::Down) => self.raw1(Opcode::Ffloor, x),
                    Some(FloatRounding::Up) => self.raw1(Opcode::Fceil, x),
                };
                self.plain(op.into(), from, to, &[integral])
            }
            Conversion::Sitofp | Conversion::Uitofp if rounding == FloatRounding::Nearest => {
                self.plain(op.into(), from, to, &[x])
            }
            Conversion::Sitofp | Conversion::Uitofp => {
                let sign = op == Conversion::Sitofp;
                let bits = from.bits();
                let extend = if sign { Opcode::Sext } else { Opcode::Zext };
                if held(from) == Type::I128 {
                    return self.wide_to_float_rounded(sign, mode, to, x, from);
                }
                let wide = if bits <= 32 { Type::I32 } else { Type::I64 };
                let x = if from == wide { x } else { self.extended(extend, from, wide, x) };
                let int = match (wide, sign) {
                    (Type::I32, true) => Mod::S32,
                    (Type::I32, false) => Mod::U32,
                    (_, true) => Mod::S64,
                    (_, false) => Mod::U64,
                };
                let cvt = Mnemonic::new(Ptx::Cvt).with(direction(rounding)).with(type_mod(to)).with(int);
                self.ptx(cvt, to, &[x])
            }
            // They round in no other way.
            Conversion::Trunc
            | Conversion::Zext
            | Conversion::Sext
            | Conversion::Fpext
            | Conversion::Bitcast
            | Conversion::Inttoptr
            | Conversion::Addrspacecast
            | Conversion::Splat => self.plain(op.into(), from, to, &[x]),
        }
    }

    /// An integer of more than 64 bits in a direction: its 64 highest bits with a sticky one, converted so, times a power of two.
    fn wide_to_float_rounded(
        &mut self,
        sign: bool,
        mode: FloatMode,
        to: Type,
        x: Value,
        from: Type,
    ) -> Value {
        let x = if from.is_odd() {
            let extend = if sign { Opcode::Sext } else { Opcode::Zext };
            self.extended(extend, from, Type::I128, x)
        } else {
            x
        };
        if !sign {
            return self.wide_to_float(false, to, x, mode.rounding);
        }
        // Of a negative number the magnitude is rounded in the opposite direction.
        let opposite = match mode.rounding {
            Some(FloatRounding::Down) => Some(FloatRounding::Up),
            Some(FloatRounding::Up) => Some(FloatRounding::Down),
            same @ (None | Some(FloatRounding::Nearest | FloatRounding::Zero)) => same,
        };
        let negative = self.is_negative(Type::I128, x);
        let magnitude = self.wide_unary(warpsmith_ir::IntUnary::Iabs, x);
        let up = self.wide_to_float(false, to, magnitude, mode.rounding);
        let down = self.wide_to_float(false, to, magnitude, opposite);
        let down = self.raw1(Opcode::Fneg, down);
        self.raw3(Opcode::Select, [negative, down, up])
    }

    /// `fminimum` and `fmaximum`: NaN if one operand is.
    pub(super) fn minimum(&mut self, op: Opcode, ty: Type, x: Value, y: Value) -> Value {
        let least = op == Opcode::Fminimum;
        if self.has_sm(80) && ty != Type::F64 {
            let ptx = if least { Ptx::Min } else { Ptx::Max };
            return self.ptx(Mnemonic::new(ptx).with(Mod::NaN).with(type_mod(ty)), ty, &[x, y]);
        }
        let chosen = self.raw2(if least { Opcode::Fmin } else { Opcode::Fmax }, x, y);
        let unordered = self.ins().fcmp(FloatCC::Nan, x, y);
        let nan = self.raw2(Opcode::Fadd, x, y);
        self.raw3(Opcode::Select, [unordered, nan, chosen])
    }

    /// `frem`: the function of the math library, which the compiler adds. What is left of halves in `f32` is exact in their format.
    pub(super) fn float_remainder(&mut self, ty: Type, x: Value, y: Value) -> Value {
        if matches!(ty, Type::F16 | Type::BF16) {
            let [x, y] = [x, y].map(|value| self.raw_convert(Opcode::Fpext, Type::F32, value));
            let left = self.float_remainder(Type::F32, x, y);
            return self.raw_convert(Opcode::Fptrunc, ty, left);
        }
        self.call_helper(if ty == Type::F64 { Helper::FmodF64 } else { Helper::FmodF32 }, &[x, y])
    }

    /// `fround`: cut off, and one more away from zero if at least a half was.
    pub(super) fn round_away(&mut self, ty: Type, x: Value) -> Value {
        if matches!(ty, Type::F16 | Type::BF16) {
            let wide = self.raw_convert(Opcode::Fpext, Type::F32, x);
            let rounded = self.round_away(Type::F32, wide);
            return self.raw_convert(Opcode::Fptrunc, ty, rounded);
        }
        let constant = |this: &mut Self, value: f64| match ty {
            Type::F64 => this.ins().f64const(value),
            _ => this.ins().f32const(value as f32),
        };
        let whole = self.raw1(Opcode::Ftrunc, x);
        let rest = self.raw2(Opcode::Fsub, x, whole);
        let rest = self.raw1(Opcode::Fabs, rest);
        let (half, one) = (constant(self, 0.5), constant(self, 1.0));
        let away = self.ins().fcmp(FloatCC::Ge, rest, half);
        let step = self.raw2(Opcode::Fcopysign, one, x);
        let next = self.raw2(Opcode::Fadd, whole, step);
        self.raw3(Opcode::Select, [away, next, whole])
    }
}

/// True if a product or sum of this mode may be contracted.
fn contracts(mode: FloatMode) -> bool {
    mode.fast.contains(FastMath::CONTRACT) && mode.exact() == FloatMode::default()
}

/// True for operations whose instruction of PTX has a direction of rounding.
fn rounded(op: Opcode) -> bool {
    matches!(op, Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv | Opcode::Fma | Opcode::Fsqrt)
}

/// True for operations that have an approximate form on a type, of halves by way of `f32`.
fn approximate_form(op: Opcode, ty: Type) -> bool {
    op.is_approximate() || matches!(op, Opcode::Fdiv | Opcode::Fsqrt) && ty == Type::F32
}
