//! Integer arithmetic, logic, shifts, comparisons and `select`.
//!
//! The sum, difference, product, logic and left shift of `i8` are right in the low half of a 16-bit register whatever is above;
//! the other operations extend their operands first.

use super::*;
use warpsmith_ir::IntCC;

/// The width PTX computes an integer type in.
fn width(ty: Type) -> u32 {
    ty.bits().max(16)
}

fn class(ty: Type) -> RegClass {
    RegClass::for_bits(ty.bits())
}

fn signed(bits: u32) -> Mod {
    match bits {
        8 => Mod::S8,
        16 => Mod::S16,
        32 => Mod::S32,
        _ => Mod::S64,
    }
}

fn unsigned(bits: u32) -> Mod {
    match bits {
        8 => Mod::U8,
        16 => Mod::U16,
        32 => Mod::U32,
        _ => Mod::U64,
    }
}

impl Selector<'_> {
    pub(super) fn int_constant(&mut self, inst: ir::Inst, value: i64) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let regs: Vec<VReg> = self.regs_of(result).collect();
        let ty = self.ty(result);
        for (i, &reg) in regs.iter().enumerate() {
            // The upper half of an `i128`.
            let value = if i == 1 { value >> 63 } else { value };
            let value = if is_i1(ty) { value & 1 } else { value };
            self.emit(mov(self.out.vregs[reg]), &[Operand::Def(reg), Operand::Int(value)]);
        }
    }

    /// An `i8` as a 16-bit number; wider integers as they are.
    pub(super) fn extended(&mut self, value: Value, sign: bool) -> Operand {
        if self.ty(value) != Type::I8 {
            return self.operand(value);
        }
        match (self.int_const(value), sign) {
            (Some(constant), true) => Operand::Int(constant),
            (Some(constant), false) => Operand::Int(constant & 0xff),
            (None, sign) => {
                let source = Operand::Use(self.reg(value));
                match sign {
                    true => self.emit_new(RegClass::B16, ptx!(Cvt.S16.S8), &[source]),
                    false => self.emit_new(RegClass::B16, ptx!(And.B16), &[source, Operand::Int(0xff)]),
                }
            }
        }
    }

    /// An integer of up to 32 bits, zero-extended to a 32-bit register.
    fn zero_extended_32(&mut self, value: Value) -> Operand {
        match self.ty(value).bits() {
            bits @ (8 | 16) => {
                let source = Operand::Use(self.reg(value));
                let mnemonic = Mnemonic::new(Opcode::Cvt).with(Mod::U32).with(unsigned(bits));
                self.emit_new(RegClass::B32, mnemonic, &[source])
            }
            _ => self.operand(value),
        }
    }

    /// The low bits of a 32-bit register as the result, of up to 32 bits.
    fn truncated_result(&mut self, inst: ir::Inst, value: Operand) {
        let result = self.result(inst);
        self.emit(ptx!(Cvt.U16.U32), &[result, value]);
    }

    pub(super) fn int_binary(&mut self, inst: ir::Inst, op: IrOp, [a, b]: [Value; 2]) {
        use IrOp::*;
        let ty = self.ty(a);
        if is_i1(ty) {
            return self.predicate_logic(inst, op, a, b);
        }
        let bits = width(ty);
        let make = |opcode, modifier| Mnemonic::new(opcode).with(modifier);
        match op {
            Iadd if self.multiply_add(inst, a, b) || self.multiply_add(inst, b, a) => {}
            Iadd => self.plain(inst, make(Opcode::Add, signed(bits)), a, b),
            Isub => self.plain(inst, make(Opcode::Sub, signed(bits)), a, b),
            Imul if self.wide_product(inst, a, b) => {}
            Imul => self.plain(inst, ptx!(MulLo).with(signed(bits)), a, b),
            Band => self.plain(inst, make(Opcode::And, bits_mod(class(ty))), a, b),
            Bor => self.plain(inst, make(Opcode::Or, bits_mod(class(ty))), a, b),
            Bxor => self.plain(inst, make(Opcode::Xor, bits_mod(class(ty))), a, b),
            Shl => self.plain(inst, make(Opcode::Shl, bits_mod(class(ty))), a, b),
            Lshr => self.shift_right(inst, make(Opcode::Shr, unsigned(bits)), a, b, false),
            Ashr => self.shift_right(inst, make(Opcode::Shr, signed(bits)), a, b, true),
            Rotl | Rotr => self.rotate(inst, op == Rotl, a, b),
            Umulhi | Smulhi if ty == Type::I8 => self.high_product_i8(inst, op == Smulhi, a, b),
            Umulhi => self.plain(inst, ptx!(MulHi).with(unsigned(bits)), a, b),
            Smulhi => self.plain(inst, ptx!(MulHi).with(signed(bits)), a, b),
            Sdiv => self.extending(inst, make(Opcode::Div, signed(bits)), a, b, true),
            Udiv => self.extending(inst, make(Opcode::Div, unsigned(bits)), a, b, false),
            Srem => self.extending(inst, make(Opcode::Rem, signed(bits)), a, b, true),
            Urem => self.extending(inst, make(Opcode::Rem, unsigned(bits)), a, b, false),
            Smin => self.extending(inst, make(Opcode::Min, signed(bits)), a, b, true),
            Smax => self.extending(inst, make(Opcode::Max, signed(bits)), a, b, true),
            Umin => self.extending(inst, make(Opcode::Min, unsigned(bits)), a, b, false),
            _ => self.extending(inst, make(Opcode::Max, unsigned(bits)), a, b, false),
        }
    }

    fn plain(&mut self, inst: ir::Inst, mnemonic: Mnemonic, a: Value, b: Value) {
        let (result, a, b) = (self.result(inst), self.operand(a), self.operand(b));
        self.emit(mnemonic, &[result, a, b]);
    }

    fn extending(&mut self, inst: ir::Inst, mnemonic: Mnemonic, a: Value, b: Value, sign: bool) {
        let (result, a, b) = (self.result(inst), self.extended(a, sign), self.extended(b, sign));
        self.emit(mnemonic, &[result, a, b]);
    }

    fn shift_right(&mut self, inst: ir::Inst, mnemonic: Mnemonic, a: Value, b: Value, sign: bool) {
        let (result, a, b) = (self.result(inst), self.extended(a, sign), self.operand(b));
        self.emit(mnemonic, &[result, a, b]);
    }

    /// `a * b + c` where the product has no other use.
    fn multiply_add(&mut self, inst: ir::Inst, product: Value, c: Value) -> bool {
        let Some(&InstData::Binary { op: IrOp::Imul, args: [a, b] }) = self.absorbable(product) else {
            return false;
        };
        let bits = width(self.ty(product));
        let (mnemonic, a, b) = match self.wide_factors(a, b) {
            Some((sign, a, b)) => (ptx!(MadWide).with(if sign { Mod::S32 } else { Mod::U32 }), a, b),
            None => (ptx!(MadLo).with(signed(bits)), self.operand(a), self.operand(b)),
        };
        let (result, c) = (self.result(inst), self.operand(c));
        self.emit(mnemonic, &[result, a, b, c]);
        true
    }

    fn wide_product(&mut self, inst: ir::Inst, a: Value, b: Value) -> bool {
        let Some((sign, a, b)) = self.wide_factors(a, b) else { return false };
        let result = self.result(inst);
        self.emit(ptx!(MulWide).with(if sign { Mod::S32 } else { Mod::U32 }), &[result, a, b]);
        true
    }

    /// The factors of a 64-bit product if both are 32-bit values extended in the same way, and the way.
    fn wide_factors(&mut self, a: Value, b: Value) -> Option<(bool, Operand, Operand)> {
        let source = |value: Value| match self.def(value) {
            Some(&InstData::Unary { op: op @ (IrOp::Sext | IrOp::Zext), arg })
                if self.ty(arg) == Type::I32 =>
            {
                Some((op == IrOp::Sext, arg))
            }
            _ => None,
        };
        if self.ty(a) != Type::I64 {
            return None;
        }
        let (sign, x) = source(a)?;
        if let Some(constant) = self.int_const(b) {
            let fits = if sign { i32::try_from(constant).is_ok() } else { u32::try_from(constant).is_ok() };
            return fits.then(|| (sign, self.operand(x), Operand::Int(constant)));
        }
        let (same, y) = source(b)?;
        (sign == same).then(|| (sign, self.operand(x), self.operand(y)))
    }

    fn high_product_i8(&mut self, inst: ir::Inst, sign: bool, a: Value, b: Value) {
        let (a, b) = (self.extended(a, sign), self.extended(b, sign));
        let product = self.emit_new(RegClass::B16, ptx!(MulLo.S16), &[a, b]);
        let result = self.result(inst);
        self.emit(ptx!(Shr.U16), &[result, product, Operand::Int(8)]);
    }

    /// Rotates by an amount modulo the width. `shf.wrap` does that for 32 bits, and for 8 and 16 once the value is repeated.
    fn rotate(&mut self, inst: ir::Inst, left: bool, a: Value, b: Value) {
        let ty = self.ty(a);
        if ty == Type::I64 || !self.has_sm(32) {
            return self.rotate_by_shifts(inst, left, a, b);
        }
        let shf = if left { ptx!(ShfL.Wrap.B32) } else { ptx!(ShfR.Wrap.B32) };
        let amount = self.operand(b);
        if ty == Type::I32 {
            let (result, a) = (self.result(inst), self.operand(a));
            return self.emit(shf, &[result, a, a, amount]);
        }
        let copies = if ty == Type::I8 { 0x0101_0101 } else { 0x0001_0001 };
        let value = self.zero_extended_32(a);
        let repeated = self.emit_new(RegClass::B32, ptx!(MulLo.U32), &[value, Operand::Int(copies)]);
        let rotated = self.emit_new(RegClass::B32, shf, &[repeated, repeated, amount]);
        self.truncated_result(inst, rotated);
    }

    fn rotate_by_shifts(&mut self, inst: ir::Inst, left: bool, a: Value, b: Value) {
        let ty = self.ty(a);
        let bits = ty.bits();
        let mask = Operand::Int(i64::from(bits) - 1);
        let amount = self.operand(b);
        let to = self.emit_new(RegClass::B32, ptx!(And.B32), &[amount, mask]);
        let back = self.emit_new(RegClass::B32, ptx!(Sub.S32), &[Operand::Int(bits.into()), to]);
        let value = self.extended(a, false);
        let shl = Mnemonic::new(Opcode::Shl).with(bits_mod(class(ty)));
        let shr = Mnemonic::new(Opcode::Shr).with(unsigned(width(ty)));
        let (up, down) = if left { (to, back) } else { (back, to) };
        let high = self.emit_new(class(ty), shl, &[value, up]);
        let low = self.emit_new(class(ty), shr, &[value, down]);
        let result = self.result(inst);
        self.emit(Mnemonic::new(Opcode::Or).with(bits_mod(class(ty))), &[result, high, low]);
    }

    fn predicate_logic(&mut self, inst: ir::Inst, op: IrOp, a: Value, b: Value) {
        let mnemonic = match op {
            IrOp::Band => ptx!(And.Pred),
            IrOp::Bor => ptx!(Or.Pred),
            _ => ptx!(Xor.Pred),
        };
        let (result, a, b) = (self.result(inst), Operand::Use(self.reg(a)), Operand::Use(self.reg(b)));
        self.emit(mnemonic, &[result, a, b]);
    }

    pub(super) fn int_unary(&mut self, inst: ir::Inst, op: IrOp, arg: Value) {
        use IrOp::*;
        let ty = self.ty(arg);
        let bits = width(ty);
        let result = self.result(inst);
        match op {
            Bnot if is_i1(ty) => {
                let arg = Operand::Use(self.reg(arg));
                self.emit(ptx!(Not.Pred), &[result, arg]);
            }
            Bnot => {
                let arg = self.operand(arg);
                self.emit(Mnemonic::new(Opcode::Not).with(bits_mod(class(ty))), &[result, arg]);
            }
            Ineg => {
                let arg = self.operand(arg);
                self.emit(Mnemonic::new(Opcode::Neg).with(signed(bits)), &[result, arg]);
            }
            Iabs => {
                let arg = self.extended(arg, true);
                self.emit(Mnemonic::new(Opcode::Abs).with(signed(bits)), &[result, arg]);
            }
            _ if ty == Type::I64 => self.count_64(inst, op, arg),
            _ => self.count_32(inst, op, arg),
        }
    }

    /// `popcnt`, `clz`, `ctz` and `bitrev` of 64 bits: counts come in 32.
    fn count_64(&mut self, inst: ir::Inst, op: IrOp, arg: Value) {
        let (result, arg) = (self.result(inst), self.operand(arg));
        let count = match op {
            IrOp::Bitrev => return self.emit(ptx!(Brev.B64), &[result, arg]),
            IrOp::Popcnt => self.emit_new(RegClass::B32, ptx!(Popc.B64), &[arg]),
            IrOp::Clz => self.emit_new(RegClass::B32, ptx!(Clz.B64), &[arg]),
            _ => {
                let reversed = self.emit_new(RegClass::B64, ptx!(Brev.B64), &[arg]);
                self.emit_new(RegClass::B32, ptx!(Clz.B64), &[reversed])
            }
        };
        self.emit(ptx!(Cvt.U64.U32), &[result, count]);
    }

    /// The same of up to 32 bits, computed in 32.
    fn count_32(&mut self, inst: ir::Inst, op: IrOp, arg: Value) {
        let bits = self.ty(arg).bits();
        let mut value = self.zero_extended_32(arg);
        let unused = Operand::Int(i64::from(32 - bits));
        match op {
            IrOp::Popcnt => {}
            IrOp::Bitrev => value = self.emit_new(RegClass::B32, ptx!(Brev.B32), &[value]),
            IrOp::Clz => value = self.emit_new(RegClass::B32, ptx!(Clz.B32), &[value]),
            _ => {
                if bits < 32 {
                    // A bit above the value stops the count at the width.
                    value = self.emit_new(RegClass::B32, ptx!(Or.B32), &[value, Operand::Int(1 << bits)]);
                }
                value = self.emit_new(RegClass::B32, ptx!(Brev.B32), &[value]);
            }
        }
        match (op, bits) {
            (IrOp::Popcnt, _) => value = self.emit_new(RegClass::B32, ptx!(Popc.B32), &[value]),
            (IrOp::Ctz, _) => value = self.emit_new(RegClass::B32, ptx!(Clz.B32), &[value]),
            (IrOp::Bitrev, 8 | 16) => value = self.emit_new(RegClass::B32, ptx!(Shr.U32), &[value, unused]),
            (IrOp::Clz, 8 | 16) => value = self.emit_new(RegClass::B32, ptx!(Sub.S32), &[value, unused]),
            _ => {}
        }
        if bits < 32 {
            return self.truncated_result(inst, value);
        }
        let made = self.group.last().map(|last| last.first as usize);
        let result = self.result(inst);
        // The last instruction writes the result itself.
        if let Some(destination) = made.and_then(|first| self.out.operands.get_mut(first)) {
            *destination = result;
        }
    }

    pub(super) fn int_compare(&mut self, inst: ir::Inst, cond: IntCC, [a, b]: [Value; 2]) {
        use IntCC::*;
        let ty = self.ty(a);
        if is_i1(ty) {
            return self.predicate_compare(inst, cond, a, b);
        }
        let sign = matches!(cond, Slt | Sle | Sgt | Sge);
        let how = match cond {
            Eq => Mod::Eq,
            Ne => Mod::Ne,
            Slt | Ult => Mod::Lt,
            Sle | Ule => Mod::Le,
            Sgt | Ugt => Mod::Gt,
            Sge | Uge => Mod::Ge,
        };
        let equality = matches!(cond, Eq | Ne);
        let bits = width(ty);
        let number = if sign || (equality && bits < 64) { signed(bits) } else { unsigned(bits) };
        let (result, a, b) = (self.result(inst), self.extended(a, sign), self.extended(b, sign));
        self.emit(Mnemonic::new(Opcode::Setp).with(how).with(number), &[result, a, b]);
    }

    /// `i1` compares as the numbers 0 and 1, or, signed, 0 and -1.
    fn predicate_compare(&mut self, inst: ir::Inst, cond: IntCC, a: Value, b: Value) {
        use IntCC::*;
        let (x, y) = (self.reg(a), self.reg(b));
        let result = self.result(inst);
        let (mnemonic, a, b) = match cond {
            Ne => (ptx!(Xor.Pred), Operand::Use(x), Operand::Use(y)),
            Eq => {
                let differ =
                    self.emit_new(RegClass::Pred, ptx!(Xor.Pred), &[Operand::Use(x), Operand::Use(y)]);
                return self.emit(ptx!(Not.Pred), &[result, differ]);
            }
            Ult | Sgt => (ptx!(And.Pred), Operand::Not(x), Operand::Use(y)),
            Ugt | Slt => (ptx!(And.Pred), Operand::Use(x), Operand::Not(y)),
            Ule | Sge => (ptx!(Or.Pred), Operand::Not(x), Operand::Use(y)),
            Uge | Sle => (ptx!(Or.Pred), Operand::Use(x), Operand::Not(y)),
        };
        self.emit(mnemonic, &[result, a, b]);
    }

    pub(super) fn select_value(&mut self, inst: ir::Inst, [cond, yes, no]: [Value; 3]) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let ty = self.ty(result);
        let cond = self.reg(cond);
        if is_i1(ty) {
            let (yes, no) = (Operand::Use(self.reg(yes)), Operand::Use(self.reg(no)));
            let first = self.emit_new(RegClass::Pred, ptx!(And.Pred), &[Operand::Use(cond), yes]);
            let second = self.emit_new(RegClass::Pred, ptx!(And.Pred), &[Operand::Not(cond), no]);
            let result = self.result(inst);
            return self.emit(ptx!(Or.Pred), &[result, first, second]);
        }
        if Repr::of(ty).count == 1 && !ty.is_vector() {
            let mnemonic = match ty {
                Type::F32 => ptx!(Selp.F32),
                Type::F64 => ptx!(Selp.F64),
                _ => Mnemonic::new(Opcode::Selp).with(bits_mod(class(ty))),
            };
            let float = matches!(ty, Type::F32 | Type::F64);
            let source = |s: &mut Self, v| if float { s.operand(v) } else { s.bits_operand(v) };
            let (result, yes, no) = (self.result(inst), source(self, yes), source(self, no));
            return self.emit(mnemonic, &[result, yes, no, Operand::Use(cond)]);
        }
        let parts = self.regs_of(result).zip(self.regs_of(yes)).zip(self.regs_of(no));
        for ((result, yes), no) in parts {
            let mnemonic = Mnemonic::new(Opcode::Selp).with(bits_mod(self.out.vregs[result]));
            let operands = [Operand::Def(result), Operand::Use(yes), Operand::Use(no), Operand::Use(cond)];
            self.emit(mnemonic, &operands);
        }
    }
}
