//! Conversions between types.

use super::memory::space_mod;
use super::*;
use warpsmith_ir::Conversion;

/// The integer type modifier of a width.
pub(super) fn int_mod(bits: u32, sign: bool) -> Mod {
    match (bits, sign) {
        (8, true) => Mod::S8,
        (16, true) => Mod::S16,
        (32, true) => Mod::S32,
        (_, true) => Mod::S64,
        (8, false) => Mod::U8,
        (16, false) => Mod::U16,
        (32, false) => Mod::U32,
        (_, false) => Mod::U64,
    }
}

impl Selector<'_> {
    pub(super) fn convert(&mut self, inst: ir::Inst, op: Conversion, arg: Value) {
        let Some(value) = self.func.dfg.first_result(inst) else { return };
        let (from, to) = (self.ty(arg), self.ty(value));
        match op {
            Conversion::Trunc => self.truncate(inst, arg, from, to),
            Conversion::Zext => self.extend(inst, false, arg, from, to),
            Conversion::Sext => self.extend(inst, true, arg, from, to),
            Conversion::Fptrunc => self.float_narrow(inst, arg, from, to),
            Conversion::Fpext => self.float_widen(inst, arg, from, to),
            Conversion::Sitofp => self.int_to_float(inst, true, arg, from, to),
            Conversion::Uitofp => self.int_to_float(inst, false, arg, from, to),
            Conversion::Fptosi => self.float_to_int(inst, true, arg, from, to),
            Conversion::Fptoui => self.float_to_int(inst, false, arg, from, to),
            Conversion::Addrspacecast => self.change_space(inst, arg, from, to),
            // An address in an integer is the pointer.
            Conversion::Bitcast | Conversion::Inttoptr => self.bitcast(inst, arg),
            Conversion::Splat => self.no_rule(op, from),
        }
    }

    fn truncate(&mut self, inst: ir::Inst, arg: Value, from: Type, to: Type) {
        if self.shares_low_word(inst).is_some() {
            return;
        }
        let result = self.result(inst);
        if is_i1(to) {
            let class = RegClass::for_bits(from.bits().min(64));
            let and = Mnemonic::new(Opcode::And).with(bits_mod(class));
            let setp = ptx!(Setp.Ne).with(int_mod(class.bits(), true));
            let arg = self.operand(arg);
            let bit = self.emit_new(class, and, &[arg, Operand::Int(1)]);
            return self.emit(setp, &[result, bit, Operand::Int(0)]);
        }
        if (from, to) == (Type::I64, Type::I32) && self.truncated_count(result, arg) {
            return;
        }
        // The upper half of a number is taken out as it is.
        if let (Type::I64, Type::I32, Some(&InstData::Binary { op, args: [whole, by] })) =
            (from, to, self.absorbable(arg))
            && matches!(op, ir::Opcode::Lshr | ir::Opcode::Ashr)
            && self.int_const(by) == Some(32)
        {
            let (low, whole) = (Operand::Def(self.temp(RegClass::B32)), Operand::Use(self.reg(whole)));
            return self.emit(ptx!(Mov.B64), &[Operand::Vector(2), low, result, whole]);
        }
        if let (Type::I32, Type::I8 | Type::I16, Some(&InstData::Binary { op, args: [whole, by] })) =
            (from, to, self.absorbable(arg))
            && matches!(op, ir::Opcode::Lshr | ir::Opcode::Ashr)
            && self.int_const(by) == Some(16)
        {
            let whole = self.reg(whole);
            return self.take_half(inst, whole, true);
        }
        if self.is_written_before[inst] || self.writes_other_half(inst) {
            let whole = self.reg(arg);
            return self.take_half(inst, whole, false);
        }
        let source = Operand::Use(self.reg(arg));
        match (from.bits(), to.bits()) {
            // The upper half of an `i8`'s register is arbitrary.
            (16, _) => self.emit(ptx!(Mov.B16), &[result, source]),
            (from, to) => {
                let to = int_mod(to.max(16), false);
                self.emit(Mnemonic::new(Opcode::Cvt).with(to).with(int_mod(from, false)), &[result, source]);
            }
        }
    }

    fn extend(&mut self, inst: ir::Inst, sign: bool, arg: Value, from: Type, to: Type) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let regs: Vec<VReg> = self.regs_of(result).collect();
        let Some(&low) = regs.first() else { return };
        let low_type = if to == Type::I128 { Type::I64 } else { to };
        self.extend_into(low, sign, arg, from, low_type);
        if let Some(&high) = regs.get(1) {
            match sign {
                true => self.emit(ptx!(Shr.S64), &[Operand::Def(high), Operand::Use(low), Operand::Int(63)]),
                false => self.emit(ptx!(Mov.B64), &[Operand::Def(high), Operand::Int(0)]),
            }
        }
    }

    /// Has a load of 8 or 16 bits that has no other use write the extended value; it comes earlier in the block.
    fn load_extends(&mut self, result: VReg, sign: bool, arg: Value, from: Type) -> bool {
        let Some(&InstData::Load { flags, .. }) = self.absorbable(arg) else { return false };
        let arg = self.resolve(arg);
        let whole = flags.align(from) >= from.bits() / 8;
        if !matches!(from, Type::I8 | Type::I16) || !whole || self.regs[arg].count > 0 {
            return false;
        }
        self.regs[arg] = super::values::Regs { first: result.into(), count: 1 };
        self.extending[arg] = Some(sign);
        true
    }

    fn extend_into(&mut self, result: VReg, sign: bool, arg: Value, from: Type, to: Type) {
        if self.load_extends(result, sign, arg, from) {
            return;
        }
        let class = self.out.vregs[result];
        let source = Operand::Use(self.reg(arg));
        let result = Operand::Def(result);
        if is_i1(from) {
            let one = Operand::Int(if sign { -1 } else { 1 });
            let selp = Mnemonic::new(Opcode::Selp).with(bits_mod(class));
            return self.emit(selp, &[result, one, Operand::Int(0), source]);
        }
        match (from.bits(), to.bits()) {
            (8, 16) if !sign => self.emit(ptx!(And.B16), &[result, source, Operand::Int(0xff)]),
            (64, 64) => self.emit(ptx!(Mov.B64), &[result, source]),
            (from, to) => {
                let mnemonic = Mnemonic::new(Opcode::Cvt).with(int_mod(to, sign)).with(int_mod(from, sign));
                self.emit(mnemonic, &[result, source]);
            }
        }
    }

    fn float_widen(&mut self, inst: ir::Inst, arg: Value, from: Type, to: Type) {
        let result = self.result(inst);
        match (from, to) {
            // ptxas makes a shift of it.
            (Type::BF16, Type::F32) if self.has_sm(90) => {
                let source = Operand::Use(self.reg(arg));
                self.emit(ptx!(Cvt.F32.Bf16), &[result, source]);
            }
            (Type::BF16, Type::F32) => {
                let bits = self.temp(RegClass::B32);
                self.extend_into(bits, false, arg, Type::I16, Type::I32);
                self.emit(ptx!(Shl.B32), &[result, Operand::Use(bits), Operand::Int(16)]);
            }
            (Type::BF16, Type::F64) => {
                let wide = self.widened(arg);
                self.emit(ptx!(Cvt.F64.F32), &[result, wide]);
            }
            (Type::F16 | Type::F32, Type::F32 | Type::F64) => {
                let source = self.operand(arg);
                self.emit(
                    Mnemonic::new(Opcode::Cvt).with(float_mod(to)).with(float_mod(from)),
                    &[result, source],
                );
            }
            _ => self.no_conversion(from, to),
        }
    }

    fn float_narrow(&mut self, inst: ir::Inst, arg: Value, from: Type, to: Type) {
        let result = self.result(inst);
        match (from, to) {
            (Type::F64, Type::BF16) => {
                let source = self.operand(arg);
                let near = self.emit_new(RegClass::B32, ptx!(Cvt.Rz.F32.F64), &[source]);
                let back = self.emit_new(RegClass::B64, ptx!(Cvt.F64.F32), &[near]);
                let inexact = self.emit_new(RegClass::Pred, ptx!(Setp.Ne.F64), &[back, source]);
                let odd = self.rounded_to_odd(near, inexact);
                self.narrow(to, result, odd);
            }
            (Type::F32, Type::F16 | Type::BF16) => {
                let source = self.operand(arg);
                self.narrow(to, result, source);
            }
            (Type::F64, Type::F16 | Type::F32) => {
                let source = self.operand(arg);
                let mnemonic = ptx!(Cvt.Rn).with(float_mod(to)).with(Mod::F64);
                self.emit(mnemonic, &[result, source]);
            }
            _ => self.no_conversion(from, to),
        }
    }

    /// An `f32` that was cut off, its last bit set if something was lost: rounded from here to a format at least two bits
    /// narrower, it gives what rounding once would have (Boldo and Melquiond, 2008).
    fn rounded_to_odd(&mut self, cut: Operand, inexact: Operand) -> Operand {
        let sticky =
            self.emit_new(RegClass::B32, ptx!(Selp.B32), &[Operand::Int(1), Operand::Int(0), inexact]);
        self.emit_new(RegClass::B32, ptx!(Or.B32), &[cut, sticky])
    }

    fn int_to_float(&mut self, inst: ir::Inst, sign: bool, arg: Value, from: Type, to: Type) {
        if !matches!(to, Type::F16 | Type::BF16 | Type::F32 | Type::F64) {
            return self.no_conversion(from, to);
        }
        let result = self.result(inst);
        let source = Operand::Use(self.reg(arg));
        let cvt = |round: Mod, ty: Type| {
            Mnemonic::new(Opcode::Cvt).with(round).with(float_mod(ty)).with(int_mod(from.bits(), sign))
        };
        match (from.bits(), to) {
            (1, Type::F32) => {
                let (one, zero) = (Operand::F32(1.0f32.to_bits()), Operand::F32(0));
                self.emit(ptx!(Selp.F32), &[result, one, zero, source]);
            }
            (1, Type::F64) => {
                let (one, zero) = (Operand::F64(1.0f64.to_bits()), Operand::F64(0));
                self.emit(ptx!(Selp.F64), &[result, one, zero, source]);
            }
            (1, _) => {
                let one = Operand::Int(if to == Type::F16 { 0x3c00 } else { 0x3f80 });
                self.emit(ptx!(Selp.B16), &[result, one, Operand::Int(0), source]);
            }
            // Exact in `f32`.
            (8 | 16, Type::BF16) => {
                let wide = self.emit_new(RegClass::B32, cvt(Mod::Rn, Type::F32), &[source]);
                self.narrow(to, result, wide);
            }
            (bits, Type::BF16) => {
                let near = self.emit_new(RegClass::B32, cvt(Mod::Rz, Type::F32), &[source]);
                let back = ptx!(Cvt.Rzi).with(int_mod(bits, sign)).with(Mod::F32);
                let back = self.emit_new(RegClass::for_bits(bits), back, &[near]);
                let compare = ptx!(Setp.Ne).with(int_mod(bits, sign));
                let inexact = self.emit_new(RegClass::Pred, compare, &[back, source]);
                let odd = self.rounded_to_odd(near, inexact);
                self.narrow(to, result, odd);
            }
            _ => self.emit(cvt(Mod::Rn, to), &[result, source]),
        }
    }

    fn float_to_int(&mut self, inst: ir::Inst, sign: bool, arg: Value, from: Type, to: Type) {
        let float = matches!(from, Type::F16 | Type::BF16 | Type::F32 | Type::F64);
        if !float || to == Type::I128 {
            return self.no_conversion(from, to);
        }
        let result = self.result(inst);
        // `setp` has immediates from `f32` on, and `cvt` takes `bf16` only on late targets.
        let widen = from == Type::BF16 || (is_i1(to) && from == Type::F16);
        let (source, from) = if widen { (self.widened(arg), Type::F32) } else { (self.operand(arg), from) };
        if is_i1(to) {
            // What is at least 1 (or at most -1) away from 0 clamps to the one other value.
            let (how, limit) = if sign { (Mod::Le, -1.0) } else { (Mod::Ge, 1.0f64) };
            let limit = match from {
                Type::F64 => Operand::F64(limit.to_bits()),
                _ => Operand::F32((limit as f32).to_bits()),
            };
            return self.emit(ptx!(Setp).with(how).with(float_mod(from)), &[result, source, limit]);
        }
        let cvt = ptx!(Cvt.Rzi).with(int_mod(to.bits(), sign)).with(float_mod(from));
        // The conversion clamps; NaN gives 0 unless one of the types has 64 bits (PTX ISA 9.0, 9.7.9.21).
        if from != Type::F64 && to != Type::I64 {
            return self.emit(cvt, &[result, source]);
        }
        let class = RegClass::for_bits(to.bits());
        let number = self.emit_new(class, cvt, &[source]);
        let nan = self.emit_new(RegClass::Pred, ptx!(Setp.Nan).with(float_mod(from)), &[source, source]);
        let selp = Mnemonic::new(Opcode::Selp).with(bits_mod(class));
        self.emit(selp, &[result, Operand::Int(0), number, nan]);
    }

    /// One of the spaces is generic; equal spaces need no instruction.
    fn change_space(&mut self, inst: ir::Inst, arg: Value, from: Type, to: Type) {
        let result = self.result(inst);
        let space = |ty: Type| self.held_space(ty).and_then(space_mod);
        let spaces = (space(from), space(to));
        let source = Operand::Use(self.reg(arg));
        match spaces {
            (Some(space), None) => self.emit(ptx!(Cvta).with(space).with(Mod::U64), &[result, source]),
            (None, Some(space)) => self.emit(ptx!(CvtaTo).with(space).with(Mod::U64), &[result, source]),
            _ => self.no_conversion(from, to),
        }
    }

    /// The bits of the operand's registers cut anew into the result's.
    pub(super) fn bitcast(&mut self, inst: ir::Inst, arg: Value) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let from: Vec<VReg> = self.regs_of(arg).collect();
        let to: Vec<VReg> = self.regs_of(result).collect();
        let (Some(&first_from), Some(&first_to)) = (from.first(), to.first()) else { return };
        let (wide, narrow) = (self.out.vregs[first_from].bits(), self.out.vregs[first_to].bits());
        let header = Operand::Vector((wide.max(narrow) / wide.min(narrow)) as u8);
        if wide >= narrow {
            let ratio = (wide / narrow) as usize;
            for (&whole, parts) in from.iter().zip(to.chunks(ratio)) {
                let mut operands = vec![header];
                operands.extend(parts.iter().map(|&part| Operand::Def(part)));
                operands.push(Operand::Use(whole));
                if ratio == 1 {
                    operands.remove(0);
                }
                self.emit(mov(self.out.vregs[whole]), &operands);
            }
        } else {
            let ratio = (narrow / wide) as usize;
            for (&whole, parts) in to.iter().zip(from.chunks(ratio)) {
                let mut operands = vec![Operand::Def(whole), header];
                operands.extend(parts.iter().map(|&part| Operand::Use(part)));
                self.emit(mov(self.out.vregs[whole]), &operands);
            }
        }
    }

    fn no_conversion(&mut self, from: Type, to: Type) {
        self.unsupported(
            format!("the conversion from {from} to {to} is not compiled"),
            "operations of PTX that convert the formats of 8 bits and fewer are written `ptx.cvt...`",
        );
    }
}
