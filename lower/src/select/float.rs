//! Floating point. `f32` and `f64` are PTX's own; the 16-bit formats have the operations that the target has, and else go through
//! `f32`, whose 24 bits of precision are enough for sum, difference, product, quotient and root of 11-bit numbers to be rounded
//! twice without harm (Figueroa, "When is double rounding innocuous?", 1995).

use super::*;
use warpsmith_ir::{FloatBinary, FloatCC, FloatUnary};

/// The bits of `1.0` and `-1.0` in `bf16`, and of `-0.0`.
const BF16_ONE: i64 = 0x3f80;
const BF16_MINUS_ONE: i64 = 0xbf80;
const SIGN_16: i64 = 0x8000;

/// The instruction of an operation of two floats, and the first targets on which it computes in the 16-bit formats.
struct Rule {
    mnemonic: Mnemonic,
    f16: u16,
    bf16: u16,
}

/// The rule of each operation of two floats, with its rounding spelled out: PTX fuses a product and a sum that do not say how they round.
/// `fcopysign` has none: it works on bits.
const fn rule(op: FloatBinary) -> Option<Rule> {
    const NEVER: u16 = u16::MAX;
    let (mnemonic, f16, bf16) = match op {
        FloatBinary::Fadd => (ptx!(Add.Rn), 53, 90),
        FloatBinary::Fsub => (ptx!(Sub.Rn), 53, 90),
        FloatBinary::Fmul => (ptx!(Mul.Rn), 53, 90),
        FloatBinary::Fdiv => (ptx!(Div.Rn), NEVER, NEVER),
        FloatBinary::Fmin => (ptx!(Min), 80, 80),
        FloatBinary::Fmax => (ptx!(Max), 80, 80),
        // The first is bits; legalisation has written the others as comparisons and choices, and as a call.
        FloatBinary::Fcopysign | FloatBinary::Fminimum | FloatBinary::Fmaximum | FloatBinary::Frem => {
            return None;
        }
    };
    Some(Rule { mnemonic, f16, bf16 })
}

/// How `sm_80`, which has `fma.rn.bf16` alone, computes an operation of two `bf16`: the constant, and the order of the operands
/// (0 and 1) and the constant (2) in the `fma`. x + y is x * 1 + y, x * y is x * y + -0.
const fn by_fma(op: FloatBinary) -> Option<(i64, [usize; 3])> {
    match op {
        FloatBinary::Fadd => Some((BF16_ONE, [0, 2, 1])),
        FloatBinary::Fsub => Some((BF16_MINUS_ONE, [1, 2, 0])),
        FloatBinary::Fmul => Some((SIGN_16, [0, 1, 2])),
        FloatBinary::Fdiv
        | FloatBinary::Fmin
        | FloatBinary::Fmax
        | FloatBinary::Fcopysign
        | FloatBinary::Fminimum
        | FloatBinary::Fmaximum
        | FloatBinary::Frem => None,
    }
}

impl Selector<'_> {
    pub(super) fn float_constant(&mut self, inst: ir::Inst, bits: u64) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let ty = self.ty(result);
        let result = self.result(inst);
        match ty {
            Type::F32 => self.emit(ptx!(Mov.F32), &[result, Operand::F32(bits as u32)]),
            Type::F64 => self.emit(ptx!(Mov.F64), &[result, Operand::F64(bits)]),
            _ => self.emit(mov(RegClass::for_bits(ty.bits())), &[result, Operand::Int(bits as i64)]),
        }
    }

    /// Whether values of the type are computed with by an instruction of the type.
    fn native(&self, ty: Type, f16: u16, bf16: u16) -> bool {
        match ty {
            Type::F16 => self.has_sm(f16),
            Type::BF16 => self.has_sm(bf16),
            _ => true,
        }
    }

    /// A 16-bit float as `f32`, exactly.
    pub(super) fn widened(&mut self, value: Value) -> Operand {
        let source = match self.ty(value) {
            Type::F16 => {
                let source = Operand::Use(self.reg(value));
                return self.emit_new(RegClass::B32, ptx!(Cvt.F32.F16), &[source]);
            }
            Type::BF16 => Operand::Use(self.reg(value)),
            _ => return self.operand(value),
        };
        // An instruction of `sm_90`, of which ptxas makes the same shift.
        if self.has_sm(90) {
            return self.emit_new(RegClass::B32, ptx!(Cvt.F32.Bf16), &[source]);
        }
        let bits = self.emit_new(RegClass::B32, ptx!(Cvt.U32.U16), &[source]);
        self.emit_new(RegClass::B32, ptx!(Shl.B32), &[bits, Operand::Int(16)])
    }

    /// An `f32` rounded to a 16-bit float, into `result`.
    pub(super) fn narrow(&mut self, ty: Type, result: Operand, value: Operand) {
        if ty == Type::F16 {
            return self.emit(ptx!(Cvt.Rn.F16.F32), &[result, value]);
        }
        if self.has_sm(80) {
            return self.emit(ptx!(Cvt.Rn.Bf16.F32), &[result, value]);
        }
        // The integer arithmetic that follows takes no float constant.
        let is_constant = matches!(value, Operand::F32(_));
        let value = if is_constant { self.emit_new(RegClass::B32, ptx!(Mov.B32), &[value]) } else { value };
        // Adding just below half of the last place kept, and that place's own bit, rounds to nearest even. NaN would overflow.
        let high = self.emit_new(RegClass::B32, ptx!(Shr.U32), &[value, Operand::Int(16)]);
        let odd = self.emit_new(RegClass::B32, ptx!(And.B32), &[high, Operand::Int(1)]);
        let half = self.emit_new(RegClass::B32, ptx!(Add.S32), &[odd, Operand::Int(0x7fff)]);
        let sum = self.emit_new(RegClass::B32, ptx!(Add.S32), &[value, half]);
        let nan = self.emit_new(RegClass::Pred, ptx!(Setp.Nan.F32), &[value, value]);
        let rounded = self.emit_new(RegClass::B32, ptx!(Shr.U32), &[sum, Operand::Int(16)]);
        let bits = self.emit_new(RegClass::B32, ptx!(Selp.B32), &[Operand::Int(0x7fff), rounded, nan]);
        self.emit(ptx!(Cvt.U16.U32), &[result, bits]);
    }

    pub(super) fn float_binary(&mut self, inst: ir::Inst, op: FloatBinary, args: [Value; 2]) {
        let ty = self.ty(args[0]);
        if matches!(op, FloatBinary::Fminimum | FloatBinary::Fmaximum | FloatBinary::Frem) {
            return self.no_rule(op, ty);
        }
        let Some(Rule { mnemonic, f16, bf16 }) = rule(op) else { return self.copysign(inst, args) };
        // A reciprocal is rounded like the quotient, and ptxas has a shorter way to it.
        if op == FloatBinary::Fdiv && self.is_one(args[0]) && !self.has_quotients(ty) {
            let (result, of) = (self.result(inst), self.operand(args[1]));
            return self.emit(ptx!(Rcp.Rn).with(float_mod(ty)), &[result, of]);
        }
        if self.native(ty, f16, bf16) {
            let (result, a, b) = (self.result(inst), self.operand(args[0]), self.operand(args[1]));
            return self.emit(mnemonic.with(float_mod(ty)), &[result, a, b]);
        }
        if ty == Type::BF16
            && self.has_sm(80)
            && let Some((constant, order)) = by_fma(op)
        {
            let constant = self.emit_new(RegClass::B16, ptx!(Mov.B16), &[Operand::Int(constant)]);
            let sources = [Operand::Use(self.reg(args[0])), Operand::Use(self.reg(args[1])), constant];
            let [a, b, c] = order.map(|n| sources[n]);
            let result = self.result(inst);
            return self.emit(ptx!(Fma.Rn.Bf16), &[result, a, b, c]);
        }
        let (a, b) = (self.widened(args[0]), self.widened(args[1]));
        let wide = self.emit_new(RegClass::B32, mnemonic.with(Mod::F32), &[a, b]);
        let result = self.result(inst);
        self.narrow(ty, result, wide);
    }

    /// Whether something of a type is divided that is not 1: ptxas has a function for the rare operands of quotients, and another one for those of
    /// reciprocals, which is longer than what they save.
    fn has_quotients(&mut self, ty: Type) -> bool {
        let known = self.quotients.unwrap_or_else(|| {
            let mut found = [false; 2];
            let func = self.func;
            for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
                if let InstData::Binary { op: IrOp::Fdiv, args: [of, _] } = func.dfg[inst]
                    && !self.is_one(of)
                {
                    found[usize::from(self.ty(of) == Type::F64)] = true;
                }
            }
            found
        });
        self.quotients = Some(known);
        known[usize::from(ty == Type::F64)]
    }

    /// Whether a value is 1 in a format that PTX has quotients in.
    fn is_one(&self, value: Value) -> bool {
        match self.ty(value) {
            Type::F32 => self.func.dfg.float_const(value) == Some(1f32.to_bits().into()),
            Type::F64 => self.func.dfg.float_const(value) == Some(1f64.to_bits()),
            _ => false,
        }
    }

    pub(super) fn fma(&mut self, inst: ir::Inst, args: [Value; 3]) {
        let ty = self.ty(args[0]);
        let result = self.result(inst);
        if self.native(ty, 53, 80) {
            let [a, b, c] = args.map(|arg| self.operand(arg));
            return self.emit(ptx!(Fma.Rn).with(float_mod(ty)), &[result, a, b, c]);
        }
        if ty == Type::BF16 {
            return self.unsupported(
                format!("`fma` of bf16 is not compiled for {}", self.target),
                "from sm_80 on there is an instruction for it; no wider format gives the same rounding",
            );
        }
        // In f64 the sum of an exact product and an f16 is exact, or so far from a tie that rounding twice does no harm.
        let [a, b, c] = args.map(|arg| {
            let source = Operand::Use(self.reg(arg));
            self.emit_new(RegClass::B64, ptx!(Cvt.F64.F16), &[source])
        });
        let wide = self.emit_new(RegClass::B64, ptx!(Fma.Rn.F64), &[a, b, c]);
        self.emit(ptx!(Cvt.Rn.F16.F64), &[result, wide]);
    }

    fn copysign(&mut self, inst: ir::Inst, [magnitude, sign]: [Value; 2]) {
        let ty = self.ty(magnitude);
        let result = self.result(inst);
        if matches!(ty, Type::F32 | Type::F64) {
            let (magnitude, sign) = (self.operand(magnitude), self.operand(sign));
            return self
                .emit(Mnemonic::new(Opcode::Copysign).with(float_mod(ty)), &[result, sign, magnitude]);
        }
        let (magnitude, sign) = (self.bits_operand(magnitude), self.bits_operand(sign));
        let magnitude = self.emit_new(RegClass::B16, ptx!(And.B16), &[magnitude, Operand::Int(SIGN_16 - 1)]);
        let sign = self.emit_new(RegClass::B16, ptx!(And.B16), &[sign, Operand::Int(SIGN_16)]);
        self.emit(ptx!(Or.B16), &[result, magnitude, sign]);
    }

    pub(super) fn float_unary(&mut self, inst: ir::Inst, op: FloatUnary, arg: Value) {
        match op {
            FloatUnary::Fneg => self.change_sign(inst, arg, Opcode::Neg, ptx!(Xor.B16), SIGN_16),
            FloatUnary::Fabs => self.change_sign(inst, arg, Opcode::Abs, ptx!(And.B16), SIGN_16 - 1),
            FloatUnary::Fsqrt => self.square_root(inst, arg),
            FloatUnary::Ffloor => self.round(inst, arg, Mod::Rmi),
            FloatUnary::Fceil => self.round(inst, arg, Mod::Rpi),
            FloatUnary::Ftrunc => self.round(inst, arg, Mod::Rzi),
            FloatUnary::Fnearest => self.round(inst, arg, Mod::Rni),
            FloatUnary::Fround
            | FloatUnary::Frsqrt
            | FloatUnary::Frcp
            | FloatUnary::Fsin
            | FloatUnary::Fcos
            | FloatUnary::Fexp2
            | FloatUnary::Flog2
            | FloatUnary::Ftanh => self.no_rule(op, self.ty(arg)),
        }
    }

    /// `neg` and `abs`, which are done on the bits of the 16-bit formats.
    fn change_sign(&mut self, inst: ir::Inst, arg: Value, opcode: Opcode, on_bits: Mnemonic, mask: i64) {
        let ty = self.ty(arg);
        let result = self.result(inst);
        if matches!(ty, Type::F16 | Type::BF16) {
            let arg = self.bits_operand(arg);
            return self.emit(on_bits, &[result, arg, Operand::Int(mask)]);
        }
        let arg = self.operand(arg);
        self.emit(Mnemonic::new(opcode).with(float_mod(ty)), &[result, arg]);
    }

    fn square_root(&mut self, inst: ir::Inst, arg: Value) {
        let ty = self.ty(arg);
        let result = self.result(inst);
        if matches!(ty, Type::F16 | Type::BF16) {
            let wide = self.widened(arg);
            let root = self.emit_new(RegClass::B32, ptx!(Sqrt.Rn.F32), &[wide]);
            return self.narrow(ty, result, root);
        }
        let arg = self.operand(arg);
        self.emit(ptx!(Sqrt.Rn).with(float_mod(ty)), &[result, arg]);
    }

    /// Rounds to an integral value.
    fn round(&mut self, inst: ir::Inst, arg: Value, how: Mod) {
        let ty = self.ty(arg);
        let result = self.result(inst);
        let cvt = |ty| Mnemonic::new(Opcode::Cvt).with(how).with(float_mod(ty)).with(float_mod(ty));
        if ty == Type::BF16 {
            // An integral value near a bf16 is a bf16.
            let wide = self.widened(arg);
            let rounded = self.emit_new(RegClass::B32, cvt(Type::F32), &[wide]);
            return self.narrow(ty, result, rounded);
        }
        let arg = self.operand(arg);
        self.emit(cvt(ty), &[result, arg]);
    }

    pub(super) fn float_compare(
        &mut self,
        inst: ir::Inst,
        cond: FloatCC,
        [a, b]: [Value; 2],
        with: Option<(Mod, Operand)>,
    ) {
        use FloatCC::*;
        let how = match cond {
            Eq => Mod::Eq,
            Ne => Mod::Ne,
            Lt => Mod::Lt,
            Le => Mod::Le,
            Gt => Mod::Gt,
            Ge => Mod::Ge,
            Equ => Mod::Equ,
            Neu => Mod::Neu,
            Ltu => Mod::Ltu,
            Leu => Mod::Leu,
            Gtu => Mod::Gtu,
            Geu => Mod::Geu,
            Num => Mod::Num,
            Nan => Mod::Nan,
        };
        let ty = self.ty(a);
        let native = self.native(ty, 53, 90);
        let (operands, ty) = match native {
            true => ([a, b].map(|v| self.operand(v)), ty),
            false => ([a, b].map(|v| self.widened(v)), Type::F32),
        };
        self.set_predicate(inst, [how, float_mod(ty)], operands, with);
    }
}
