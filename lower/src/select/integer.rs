//! Integer arithmetic, logic, shifts, comparisons and `select`.
//!
//! The sum, difference, product, logic and left shift of `i8` are right in the low half of a 16-bit register whatever is above;
//! the other operations extend their operands first.

use super::convert::int_mod;
use super::*;
use crate::rules::known::mask;
use warpsmith_ir::{IntBinary, IntCC, IntUnary};

/// How many operations in a row are looked at for what is above a byte.
const MAX_DEPTH: u32 = 3;

/// The width PTX computes an integer type in.
fn width(ty: Type) -> u32 {
    ty.bits().max(16)
}

fn class(ty: Type) -> RegClass {
    RegClass::for_bits(ty.bits())
}

/// How the operands of an instruction are read, which its type says.
#[derive(Clone, Copy)]
enum Read {
    /// As bits.
    Bits,
    /// As signed numbers.
    Signed,
    /// As unsigned numbers.
    Unsigned,
}

impl Read {
    /// The modifier of an instruction on integers of a type.
    fn modifier(self, ty: Type) -> Mod {
        match self {
            Read::Bits => bits_mod(class(ty)),
            Read::Signed => int_mod(width(ty), true),
            Read::Unsigned => int_mod(width(ty), false),
        }
    }

    fn is_signed(self) -> bool {
        matches!(self, Read::Signed)
    }
}

/// What an integer operation of two operands becomes.
enum Rule {
    /// One instruction on the registers as they are.
    Plain(Opcode, Read),
    /// One instruction on operands that are extended to the width it computes in.
    Extended(Opcode, Read),
    /// One instruction on an operand that is extended and an amount.
    Shift(Opcode, Read),
    /// `add`, or `mad` with a product that has no other use.
    Sum,
    /// `mul.lo`, or `mul.wide` of what was extended.
    Product,
    /// `mul.hi`.
    HighProduct(Read),
    /// `shf` or shifts.
    Rotation { left: bool },
    /// None: legalisation has written it as others.
    Legalized,
}

/// The rule of each operation on `i8` to `i64`.
const fn rule(op: IntBinary) -> Rule {
    use IntBinary::*;
    use Read::*;
    use Rule::*;
    match op {
        Iadd => Sum,
        Isub => Plain(Opcode::Sub, Signed),
        Imul => Product,
        Umulhi => HighProduct(Unsigned),
        Smulhi => HighProduct(Signed),
        Sdiv => Extended(Opcode::Div, Signed),
        Udiv => Extended(Opcode::Div, Unsigned),
        Srem => Extended(Opcode::Rem, Signed),
        Urem => Extended(Opcode::Rem, Unsigned),
        Smin => Extended(Opcode::Min, Signed),
        Smax => Extended(Opcode::Max, Signed),
        Umin => Extended(Opcode::Min, Unsigned),
        Umax => Extended(Opcode::Max, Unsigned),
        Band => Plain(Opcode::And, Bits),
        Bor => Plain(Opcode::Or, Bits),
        Bxor => Plain(Opcode::Xor, Bits),
        Shl => Plain(Opcode::Shl, Bits),
        Lshr => Shift(Opcode::Shr, Unsigned),
        Ashr => Shift(Opcode::Shr, Signed),
        Rotl => Rotation { left: true },
        Rotr => Rotation { left: false },
        UaddSat | SaddSat | UsubSat | SsubSat | UshlSat | SshlSat => Legalized,
    }
}

/// The instruction of each operation on `i1`. The others are not defined there.
const fn predicate_rule(op: IntBinary) -> Option<Mnemonic> {
    use IntBinary::*;
    match op {
        Band => Some(ptx!(And.Pred)),
        Bor => Some(ptx!(Or.Pred)),
        Bxor => Some(ptx!(Xor.Pred)),
        Iadd | Isub | Imul | Umulhi | Smulhi | Sdiv | Udiv | Srem | Urem | Smin | Smax | Umin | Umax
        | Shl | Lshr | Ashr | Rotl | Rotr | UaddSat | SaddSat | UsubSat | SsubSat | UshlSat | SshlSat => None,
    }
}

/// How `setp` combines what it finds with a predicate.
const fn combination(op: IntBinary) -> Option<Mod> {
    use IntBinary::*;
    match op {
        Band => Some(Mod::And),
        Bor => Some(Mod::Or),
        Bxor => Some(Mod::Xor),
        Iadd | Isub | Imul | Umulhi | Smulhi | Sdiv | Udiv | Srem | Urem | Smin | Smax | Umin | Umax
        | Shl | Lshr | Ashr | Rotl | Rotr | UaddSat | SaddSat | UsubSat | SsubSat | UshlSat | SshlSat => None,
    }
}

/// What counts or reverses bits, which PTX has for 32 and 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Ones,
    LeadingZeros,
    TrailingZeros,
    Reversed,
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
            (None, false) if self.has_zeros_above(value, 0) => Operand::Use(self.reg(value)),
            (None, sign) => {
                let source = Operand::Use(self.reg(value));
                match sign {
                    true => self.emit_new(RegClass::B16, ptx!(Cvt.S16.S8), &[source]),
                    false => self.emit_new(RegClass::B16, ptx!(And.B16), &[source, Operand::Int(0xff)]),
                }
            }
        }
    }

    /// Whether the upper half of the register of an `i8` is known to be 0.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of other operations it is not known")]
    fn has_zeros_above(&self, value: Value, depth: u32) -> bool {
        let value = self.resolve(value);
        if self.ty(value) != Type::I8 || depth > MAX_DEPTH {
            return false;
        }
        let Some(inst) = self.func.dfg.def_inst(value) else { return false };
        match self.func.dfg[inst] {
            // A byte is loaded with zeros above it.
            InstData::Load { .. } => true,
            InstData::Binary { op, args } => {
                // Constants are written as signed numbers.
                let zeros = |&arg: &Value| match self.int_const(arg) {
                    Some(constant) => constant >= 0,
                    None => self.has_zeros_above(arg, depth + 1),
                };
                match op {
                    IrOp::Band => args.iter().any(zeros),
                    IrOp::Bor | IrOp::Bxor => args.iter().all(zeros),
                    // Computed from what was extended.
                    IrOp::Lshr | IrOp::Udiv | IrOp::Urem | IrOp::Umin | IrOp::Umax => true,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// An integer of up to 32 bits, zero-extended to a 32-bit register.
    fn zero_extended_32(&mut self, value: Value) -> Operand {
        match self.ty(value).bits() {
            bits @ (8 | 16) => {
                let source = Operand::Use(self.reg(value));
                let mnemonic = Mnemonic::new(Opcode::Cvt).with(Mod::U32).with(int_mod(bits, false));
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

    /// Bits of two words in a row, the upper ones of `low` and the lower ones of `high`: a shift of both in 32 bits. Of 64 ptxas makes two of those if the
    /// parts are added, but not of `or`.
    fn funnel(&mut self, inst: ir::Inst, low: Value, high: Value) -> bool {
        let part = |value: Value, of: IrOp| match self.absorbable(value) {
            Some(&InstData::Binary { op, args: [x, by] }) if op == of => Some((x, self.int_const(by)?)),
            _ => None,
        };
        let (Some((x, down)), Some((y, up))) = (part(low, IrOp::Lshr), part(high, IrOp::Shl)) else {
            return false;
        };
        let ty = self.ty(low);
        if down <= 0 || up <= 0 || down.saturating_add(up) != i64::from(ty.bits()) {
            return false;
        }
        let (result, x, y) = match ty {
            Type::I32 if self.has_sm(32) => (self.result(inst), self.operand(x), self.operand(y)),
            Type::I64 => (self.result(inst), self.operand(low), self.operand(high)),
            _ => return false,
        };
        match ty {
            Type::I32 => self.emit(ptx!(ShfR.Wrap.B32), &[result, x, y, Operand::Int(down)]),
            _ => self.emit(ptx!(Add.S64), &[result, x, y]),
        }
        true
    }

    /// Bits of one word where a mask has ones, and of another where it has zeros: one `lop3`, which ptxas does not make of two masks.
    fn merge_fields(&mut self, inst: ir::Inst, a: Value, b: Value) -> bool {
        let field = |value: Value| match self.absorbable(value) {
            Some(&InstData::Binary { op: IrOp::Band, args: [x, mask] }) => {
                self.int_const(mask).map(|mask| (x, mask as u32))
            }
            _ => None,
        };
        let (Some((x, others)), Some((y, mask))) = (field(a), field(b)) else { return false };
        if self.ty(a) != Type::I32 || others != !mask || !self.has_sm(50) {
            return false;
        }
        let (result, x, y) = (self.result(inst), Operand::Use(self.reg(x)), Operand::Use(self.reg(y)));
        // The mask chooses.
        let chosen = Operand::Int(0xe2);
        self.emit(ptx!(Lop3.B32), &[result, y, Operand::Int(i64::from(mask as i32)), x, chosen]);
        true
    }

    /// Some bits of a word by themselves, which are shifted and masked, or shifted both ways: one `bfe`. ptxas takes a byte out in one instruction then (`PRMT`), and extends
    /// the sign of a field in one (`SGXT`).
    fn field(&mut self, inst: ir::Inst, op: IntBinary, a: Value, b: Value) -> bool {
        if self.ty(a) != Type::I32 {
            return false;
        }
        let constant = |value: Value| self.int_const(value).map(|value| value as u32);
        let (Some(by), Some(&InstData::Binary { op: inner, args: [x, shift] })) =
            (constant(b), self.absorbable(a))
        else {
            return false;
        };
        let Some(shift) = constant(shift).filter(|shift| (0..32).contains(shift)) else { return false };
        let (mnemonic, at, length) = match (op, inner) {
            (IntBinary::Band, IrOp::Lshr)
                if by.count_ones() + by.leading_zeros() == 32 && shift + by.count_ones() <= 32 =>
            {
                (ptx!(Bfe.U32), shift, by.count_ones())
            }
            (IntBinary::Ashr, IrOp::Shl) if (shift..32).contains(&by) => (ptx!(Bfe.S32), by - shift, 32 - by),
            _ => return false,
        };
        let (result, x) = (self.result(inst), self.operand(x));
        self.emit(mnemonic, &[result, x, Operand::Int(at.into()), Operand::Int(length.into())]);
        true
    }

    pub(super) fn int_binary(&mut self, inst: ir::Inst, op: IntBinary, [a, b]: [Value; 2]) {
        let ty = self.ty(a);
        if is_i1(ty) {
            let Some(mnemonic) = predicate_rule(op) else { return self.no_rule(op, ty) };
            if self.compare_with(inst, op, b, a) || self.compare_with(inst, op, a, b) {
                return;
            }
            let (result, a, b) = (self.result(inst), Operand::Use(self.reg(a)), Operand::Use(self.reg(b)));
            return self.emit(mnemonic, &[result, a, b]);
        }
        let make = |opcode, read: Read| Mnemonic::new(opcode).with(read.modifier(ty));
        match rule(op) {
            Rule::Plain(Opcode::Or, _) if self.merge_fields(inst, a, b) => {}
            Rule::Plain(Opcode::Or, _) if self.funnel(inst, a, b) || self.funnel(inst, b, a) => {}
            Rule::Plain(Opcode::Or, _)
                if self.shift_add(inst, op, a, b) || self.shift_add(inst, op, b, a) => {}
            Rule::Plain(Opcode::And, _) | Rule::Shift(Opcode::Shr, _) if self.field(inst, op, a, b) => {}
            Rule::Plain(opcode, read) => self.plain(inst, make(opcode, read), a, b),
            Rule::Extended(opcode, read) => self.extending(inst, make(opcode, read), a, b, read.is_signed()),
            Rule::Shift(opcode, read) => self.shift(inst, make(opcode, read), a, b, read.is_signed()),
            Rule::Sum if self.multiply_add(inst, a, b) || self.multiply_add(inst, b, a) => {}
            Rule::Sum if self.shift_add(inst, op, a, b) || self.shift_add(inst, op, b, a) => {}
            Rule::Sum if self.add_condition(inst, a, b) || self.add_condition(inst, b, a) => {}
            Rule::Sum => self.plain(inst, make(Opcode::Add, Read::Signed), a, b),
            Rule::Product if self.wide_product(inst, a, b) || self.shifted(inst, a, b) => {}
            Rule::Product => self.plain(inst, make(Opcode::MulLo, Read::Signed), a, b),
            Rule::HighProduct(read) if ty == Type::I8 => self.high_product_i8(inst, read.is_signed(), a, b),
            Rule::HighProduct(read) => self.plain(inst, make(Opcode::MulHi, read), a, b),
            Rule::Rotation { left } => self.rotate(inst, left, a, b),
            Rule::Legalized => self.no_rule(op, ty),
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

    fn shift(&mut self, inst: ir::Inst, mnemonic: Mnemonic, a: Value, b: Value, sign: bool) {
        let (result, a, b) = (self.result(inst), self.extended(a, sign), self.operand(b));
        self.emit(mnemonic, &[result, a, b]);
    }

    /// `a * b + c` where the product has no other use.
    fn multiply_add(&mut self, inst: ir::Inst, product: Value, c: Value) -> bool {
        let Some(&InstData::Binary { op: IrOp::Imul, args: [a, b] }) = self.absorbable(product) else {
            return false;
        };
        let bits = width(self.ty(product));
        if let Some((sign, a, b)) = self.wide_factors(a, b) {
            let sign = if sign { Mod::S32 } else { Mod::U32 };
            if self.goes_round_as(inst, c) {
                // Of these ptxas makes one instruction, which adds to the sum where it is; of `mad.wide`, a product and a sum of two.
                let product = self.emit_new(RegClass::B64, ptx!(MulWide).with(sign), &[a, b]);
                let (result, c) = (self.result(inst), self.operand(c));
                self.emit(ptx!(Add.S64), &[result, product, c]);
            } else {
                let (result, c) = (self.result(inst), self.operand(c));
                self.emit(ptx!(MadWide).with(sign), &[result, a, b, c]);
            }
            return true;
        }
        let (mnemonic, a, b) = (ptx!(MadLo).with(int_mod(bits, true)), self.operand(a), self.operand(b));
        let (result, c) = (self.result(inst), self.operand(c));
        self.emit(mnemonic, &[result, a, b, c]);
        true
    }

    /// A sum of words with one that is shifted and has no other use, or an `or` of bits that are apart: the shift is a factor of `mad`. ptxas makes one
    /// `LEA` of both, also of an `or`, but sees less of where bits are apart. What is masked behind the shift is masked in front of it.
    fn shift_add(&mut self, inst: ir::Inst, op: IntBinary, shifted: Value, c: Value) -> bool {
        let shift = |value: Value| match self.absorbable(value) {
            Some(&InstData::Binary { op: IrOp::Shl, args: [x, by] }) if self.ty(x) == Type::I32 => {
                self.int_const(by).filter(|by| (1..32).contains(by)).map(|by| (x, by as u32))
            }
            _ => None,
        };
        let masked = || match self.absorbable(shifted) {
            Some(&InstData::Binary { op: IrOp::Band, args: [value, mask] }) => {
                let (x, by) = shift(value)?;
                let mask = self.int_const(mask)? as u32;
                (mask.trailing_zeros() >= by).then_some((x, by, Some(mask >> by)))
            }
            _ => None,
        };
        let found = shift(shifted).map(|(x, by)| (x, by, None)).or_else(masked);
        let Some((x, by, mask)) = found.filter(|_| op == IntBinary::Iadd || self.are_apart(shifted, c))
        else {
            return false;
        };
        let (result, mut x, c) = (self.result(inst), self.operand(x), self.operand(c));
        if let Some(mask) = mask {
            x = self.emit_new(RegClass::B32, ptx!(And.B32), &[x, Operand::Int(i64::from(mask as i32))]);
        }
        self.emit(ptx!(MadLo.S32), &[result, x, Operand::Int(i64::from(1i32 << by)), c]);
        true
    }

    /// Whether no bit can be set in both of two words.
    fn are_apart(&mut self, a: Value, b: Value) -> bool {
        let [a, b] = [a, b].map(|value| self.known.of(&self.func.dfg, value).map_or(0, |known| known.zeros));
        a | b == mask(32)
    }

    /// Whether the block that is selected ends by giving an instruction's result to a parameter, as a loop does with a sum.
    fn goes_round_as(&self, inst: ir::Inst, param: Value) -> bool {
        let (param, result) = (self.resolve(param), self.func.dfg.first_result(inst));
        let end = self.func.terminator(self.block);
        let given = end
            .into_iter()
            .flat_map(|end| self.func.dfg.targets(end))
            .flat_map(|call| self.func.dfg.given(call));
        given.into_iter().any(|(to, arg)| to == param && Some(self.resolve(arg)) == result)
    }

    /// `a` or `a + 1`, by a condition that would be added as a number: ptxas makes one instruction of it, and three of the sum. Of 64 bits it
    /// makes more of it, as the number has no upper half.
    fn add_condition(&mut self, inst: ir::Inst, a: Value, condition: Value) -> bool {
        let Some(&InstData::Unary { op: IrOp::Zext, arg }) = self.absorbable(condition) else { return false };
        let ty = self.ty(a);
        if !is_i1(self.ty(arg)) || ty.bits() > 32 || self.int_const(a).is_some() {
            return false;
        }
        let (result, a, condition) = (self.result(inst), self.operand(a), Operand::Use(self.reg(arg)));
        let add = Mnemonic::new(Opcode::Add).with(Read::Signed.modifier(ty));
        let next = self.emit_new(class(ty), add, &[a, Operand::Int(1)]);
        let select = Mnemonic::new(Opcode::Selp).with(bits_mod(class(ty)));
        self.emit(select, &[result, next, a, condition]);
        true
    }

    fn wide_product(&mut self, inst: ir::Inst, a: Value, b: Value) -> bool {
        let Some((sign, a, b)) = self.wide_factors(a, b) else { return false };
        let result = self.result(inst);
        self.emit(ptx!(MulWide).with(if sign { Mod::S32 } else { Mod::U32 }), &[result, a, b]);
        true
    }

    /// A multiple of 64 bits by a power of two as a shift: of the sum of a product ptxas makes a product of 32 bits that adds to the lower half, for which the
    /// base has to be in registers, and two more instructions; a shift and a sum can take it from uniform ones.
    fn shifted(&mut self, inst: ir::Inst, a: Value, b: Value) -> bool {
        let power = self.int_const(b).filter(|&by| self.ty(a) == Type::I64 && by > 1 && by & (by - 1) == 0);
        let Some(power) = power else { return false };
        let (result, a) = (self.result(inst), self.operand(a));
        self.emit(ptx!(Shl.B64), &[result, a, Operand::Int(power.trailing_zeros().into())]);
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
        if let (Type::I64, Some(amount)) = (ty, self.int_const(b)) {
            let amount = amount.rem_euclid(64);
            return self.rotate_64(inst, if left { amount } else { (64 - amount) % 64 }, a);
        }
        let mask = Operand::Int(i64::from(bits) - 1);
        let amount = self.operand(b);
        let to = self.emit_new(RegClass::B32, ptx!(And.B32), &[amount, mask]);
        let back = self.emit_new(RegClass::B32, ptx!(Sub.S32), &[Operand::Int(bits.into()), to]);
        let value = self.extended(a, false);
        let shl = Mnemonic::new(Opcode::Shl).with(bits_mod(class(ty)));
        let shr = Mnemonic::new(Opcode::Shr).with(int_mod(width(ty), false));
        let (up, down) = if left { (to, back) } else { (back, to) };
        let high = self.emit_new(class(ty), shl, &[value, up]);
        let low = self.emit_new(class(ty), shr, &[value, down]);
        let result = self.result(inst);
        self.emit(Mnemonic::new(Opcode::Or).with(bits_mod(class(ty))), &[result, high, low]);
    }

    /// A rotation to the left by a constant. ptxas makes two instructions of the sum of two shifts, which it does not do of `or`.
    fn rotate_64(&mut self, inst: ir::Inst, amount: i64, a: Value) {
        let value = self.operand(a);
        let result = self.result(inst);
        if let (32, Operand::Use(whole)) = (amount, value) {
            let [low, high] = [self.temp(RegClass::B32), self.temp(RegClass::B32)];
            let halves = [Operand::Vector(2), Operand::Def(low), Operand::Def(high), Operand::Use(whole)];
            self.emit(ptx!(Mov.B64), &halves);
            let swapped = [result, Operand::Vector(2), Operand::Use(high), Operand::Use(low)];
            return self.emit(ptx!(Mov.B64), &swapped);
        }
        let up = self.emit_new(RegClass::B64, ptx!(Shl.B64), &[value, Operand::Int(amount)]);
        let down = self.emit_new(RegClass::B64, ptx!(Shr.U64), &[value, Operand::Int(64 - amount)]);
        self.emit(ptx!(Add.S64), &[result, up, down]);
    }

    pub(super) fn int_unary(&mut self, inst: ir::Inst, op: IntUnary, arg: Value) {
        let ty = self.ty(arg);
        let result = self.result(inst);
        match op {
            IntUnary::Bnot if is_i1(ty) => {
                let arg = Operand::Use(self.reg(arg));
                self.emit(ptx!(Not.Pred), &[result, arg]);
            }
            IntUnary::Bnot => {
                let arg = self.operand(arg);
                self.emit(Mnemonic::new(Opcode::Not).with(Read::Bits.modifier(ty)), &[result, arg]);
            }
            IntUnary::Ineg => {
                let arg = self.operand(arg);
                self.emit(Mnemonic::new(Opcode::Neg).with(Read::Signed.modifier(ty)), &[result, arg]);
            }
            IntUnary::Iabs => {
                let arg = self.extended(arg, true);
                self.emit(Mnemonic::new(Opcode::Abs).with(Read::Signed.modifier(ty)), &[result, arg]);
            }
            IntUnary::Popcnt => self.count(inst, Count::Ones, arg),
            IntUnary::Clz => self.count(inst, Count::LeadingZeros, arg),
            IntUnary::Ctz => self.count(inst, Count::TrailingZeros, arg),
            IntUnary::Bitrev => self.count(inst, Count::Reversed, arg),
            IntUnary::Bswap => self.no_rule(op, ty),
        }
    }

    fn count(&mut self, inst: ir::Inst, what: Count, arg: Value) {
        match self.ty(arg) == Type::I64 {
            true => self.count_64(inst, what, arg),
            false => self.count_32(inst, what, arg),
        }
    }

    /// Bits of 64: counts come in 32.
    fn count_64(&mut self, inst: ir::Inst, what: Count, arg: Value) {
        let result = self.result(inst);
        if what == Count::Reversed {
            let arg = self.operand(arg);
            return self.emit(ptx!(Brev.B64), &[result, arg]);
        }
        let count = self.temp(RegClass::B32);
        self.count_in_word(Operand::Def(count), what, arg);
        self.emit(ptx!(Cvt.U64.U32), &[result, Operand::Use(count)]);
    }

    /// The low word of what counts the bits of 64, if a value is such and nothing else reads it.
    pub(super) fn truncated_count(&mut self, result: Operand, value: Value) -> bool {
        let Some(&InstData::Unary { op, arg }) = self.absorbable(value) else { return false };
        let counts = [
            (IrOp::Popcnt, Count::Ones),
            (IrOp::Clz, Count::LeadingZeros),
            (IrOp::Ctz, Count::TrailingZeros),
        ];
        let Some(&(_, what)) = counts.iter().find(|(count, _)| *count == op) else { return false };
        self.count_in_word(result, what, arg);
        true
    }

    fn count_in_word(&mut self, result: Operand, what: Count, arg: Value) {
        let arg = self.operand(arg);
        match what {
            Count::Ones => self.emit(ptx!(Popc.B64), &[result, arg]),
            Count::LeadingZeros => self.emit(ptx!(Clz.B64), &[result, arg]),
            Count::TrailingZeros | Count::Reversed => {
                let reversed = self.emit_new(RegClass::B64, ptx!(Brev.B64), &[arg]);
                self.emit(ptx!(Clz.B64), &[result, reversed]);
            }
        }
    }

    /// Bits of up to 32, computed in 32.
    fn count_32(&mut self, inst: ir::Inst, what: Count, arg: Value) {
        let bits = self.ty(arg).bits();
        let narrow = bits < 32;
        let mut value = self.zero_extended_32(arg);
        let unused = Operand::Int(32 - i64::from(bits));
        let mut then = |selector: &mut Self, mnemonic, with: Option<Operand>| {
            value = match with {
                Some(with) => selector.emit_new(RegClass::B32, mnemonic, &[value, with]),
                None => selector.emit_new(RegClass::B32, mnemonic, &[value]),
            };
        };
        match what {
            Count::Ones => then(self, ptx!(Popc.B32), None),
            Count::LeadingZeros => {
                then(self, ptx!(Clz.B32), None);
                if narrow {
                    then(self, ptx!(Sub.S32), Some(unused));
                }
            }
            Count::TrailingZeros => {
                if narrow {
                    // A bit above the value stops the count at the width.
                    then(self, ptx!(Or.B32), Some(Operand::Int(1 << bits)));
                }
                then(self, ptx!(Brev.B32), None);
                then(self, ptx!(Clz.B32), None);
            }
            Count::Reversed => {
                then(self, ptx!(Brev.B32), None);
                if narrow {
                    then(self, ptx!(Shr.U32), Some(unused));
                }
            }
        }
        if narrow {
            return self.truncated_result(inst, value);
        }
        let made = self.group.last().map(|last| last.first as usize);
        let result = self.result(inst);
        // The last instruction writes the result itself.
        if let Some(destination) = made.and_then(|first| self.out.operands.get_mut(first)) {
            *destination = result;
        }
    }

    /// A comparison with no other use and a predicate that it is combined with: one `setp`.
    fn compare_with(&mut self, inst: ir::Inst, op: IntBinary, compared: Value, other: Value) -> bool {
        let (Some(how), Some(compared)) = (combination(op), self.absorbable(compared)) else { return false };
        if let &InstData::IntCompare { cond, args } = compared
            && !is_i1(self.ty(args[0]))
        {
            let other = self.condition(other);
            self.int_compare(inst, cond, args, Some((how, other)));
            return true;
        }
        if let &InstData::FloatCompare { cond, args } = compared {
            let other = self.condition(other);
            self.float_compare(inst, cond, args, Some((how, other)));
            return true;
        }
        false
    }

    /// A predicate to be read by `setp`, which negates it where that is asked for.
    fn condition(&mut self, value: Value) -> Operand {
        match self.def(value) {
            Some(&InstData::Unary { op: IrOp::Bnot, arg }) => Operand::Not(self.reg(arg)),
            _ => Operand::Use(self.reg(value)),
        }
    }

    /// `setp`, combined with a predicate if there is one.
    pub(super) fn set_predicate(
        &mut self,
        inst: ir::Inst,
        [how, ty]: [Mod; 2],
        [a, b]: [Operand; 2],
        with: Option<(Mod, Operand)>,
    ) {
        let result = self.result(inst);
        let compare = Mnemonic::new(Opcode::Setp).with(how);
        match with {
            Some((combined, other)) => self.emit(compare.with(combined).with(ty), &[result, a, b, other]),
            None => self.emit(compare.with(ty), &[result, a, b]),
        }
    }

    pub(super) fn int_compare(
        &mut self,
        inst: ir::Inst,
        cond: IntCC,
        [a, b]: [Value; 2],
        with: Option<(Mod, Operand)>,
    ) {
        use IntCC::*;
        let ty = self.ty(a);
        if is_i1(ty) {
            // Such a comparison is logic, and never combined.
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
        let number = int_mod(bits, sign || (equality && bits < 64));
        if equality && let Some([x, y, mask]) = self.masked_alike(ty, a, b) {
            let class = class(ty);
            let (x, y, mask) = (self.operand(x), self.operand(y), self.operand(mask));
            let xor = Mnemonic::new(Opcode::Xor).with(bits_mod(class));
            let and = Mnemonic::new(Opcode::And).with(bits_mod(class));
            let differ = self.emit_new(class, xor, &[x, y]);
            let differ = self.emit_new(class, and, &[differ, mask]);
            return self.set_predicate(inst, [how, number], [differ, Operand::Int(0)], with);
        }
        let operands = [a, b].map(|value| self.extended(value, sign));
        self.set_predicate(inst, [how, number], operands, with);
    }

    /// `x & m` and `y & m`, which nothing else reads, as `x`, `y` and `m`: whether they are equal is one instruction of ptxas, `LOP3` of `(x ^ y) & m`, where
    /// they would be three. By a rule it would keep masks in loops that are the same in all rounds.
    fn masked_alike(&self, ty: Type, a: Value, b: Value) -> Option<[Value; 3]> {
        if !matches!(ty, Type::I8 | Type::I16 | Type::I32) {
            return None;
        }
        let masked = |value| match self.absorbable(value) {
            Some(&InstData::Binary { op: IrOp::Band, args }) => Some(args),
            _ => None,
        };
        let ([x, m], [y, n]) = (masked(a)?, masked(b)?);
        match (self.int_const(m), self.int_const(n)) {
            (Some(c), Some(d)) => (c == d).then_some([x, y, m]),
            // What is above the bits of a byte is in both.
            (None, None) if ty != Type::I8 => {
                let same = |p: Value, q: Value| self.resolve(p) == self.resolve(q);
                [[x, m, y, n], [m, x, y, n], [x, m, n, y], [m, x, n, y]]
                    .into_iter()
                    .find(|&[_, m, _, n]| same(m, n))
                    .map(|[x, m, y, _]| [x, y, m])
            }
            _ => None,
        }
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
        if self.is_narrow(inst) {
            return self.narrow_selection(inst, [cond, yes, no]);
        }
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
            let float = matches!(ty, Type::F32 | Type::F64);
            let modifier = if float { float_mod(ty) } else { bits_mod(class(ty)) };
            let mnemonic = Mnemonic::new(Opcode::Selp).with(modifier);
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
