//! Loads, stores and addresses.
//!
//! Constant parts of an address are folded into `[base + offset]`, and variables and stack slots are named directly. An access
//! that is less aligned than its registers are wide is made of narrower ones.

use super::convert::int_mod;
use super::*;
use crate::abi::{Held, held};
use crate::mach::Base;
use warpsmith_ir::MemFlags;
use warpsmith_isa::StateSpace;

/// One access: where, how, and with which modifiers.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) base: Base,
    pub(super) offset: i64,
    pub(super) align: u32,
    pub(super) opcode: Mnemonic,
}

/// The bytes of the widest access, and of that to global memory where there is a wider one.
const MAX_BYTES: u32 = 16;
const MAX_GLOBAL_BYTES: u32 = 32;

/// The modifier of a state space; generic addressing has none.
pub(super) fn space_mod(space: StateSpace) -> Option<Mod> {
    match space {
        StateSpace::Global => Some(Mod::Global),
        StateSpace::Shared => Some(Mod::Shared),
        StateSpace::Local => Some(Mod::Local),
        StateSpace::Const => Some(Mod::Const),
        StateSpace::Param => Some(Mod::Param),
        StateSpace::Generic | StateSpace::Reg | StateSpace::Sreg | StateSpace::Tex => None,
    }
}

impl Selector<'_> {
    /// The base and offset of a pointer with what is constant folded. Symbols are folded only where the pointer still has the
    /// space of the symbol: an integer that was made from an address and became a pointer to elsewhere is just a number.
    pub(super) fn address(&mut self, ptr: Value, offset: i64) -> (Base, i64) {
        let func = self.func;
        let space = self.ty(ptr).space();
        let mut at = self.resolve(ptr);
        let mut total = offset;
        // Offsets outside of 32 bits stay in registers.
        let fits = |offset: &i64| i32::try_from(*offset).is_ok();
        for _ in self.definitions() {
            let step = match func.dfg.def_data(at) {
                Some(&InstData::Binary { op: IrOp::Ptradd, args: [base, by] }) => {
                    self.int_const(by).map(|by| (base, by))
                }
                Some(&InstData::Index { scale, args: [base, by] }) => {
                    self.int_const(by).and_then(|by| by.checked_mul(scale.into())).map(|by| (base, by))
                }
                // A number that is the address: of memory whose addresses have 32 bits, which sums wrap around.
                Some(&InstData::Binary { op: IrOp::Iadd, args: [base, by] }) if self.ty(at) == Type::I32 => {
                    self.int_const(by).map(|by| (base, i64::from(by as i32)))
                }
                Some(&InstData::StackAddr { slot, offset }) if space == Some(StateSpace::Local) => {
                    let sum = total.checked_add(offset.into()).filter(fits);
                    return sum
                        .map_or_else(|| (Base::Reg(self.reg(at)), total), |sum| (Base::Stack(slot), sum));
                }
                Some(&InstData::GlobalAddr { global, offset })
                    if space == Some(self.module.globals[global].space) =>
                {
                    let sum = total.checked_add(offset.into()).filter(fits);
                    return sum
                        .map_or_else(|| (Base::Reg(self.reg(at)), total), |sum| (Base::Global(global), sum));
                }
                _ => None,
            };
            let next = step.and_then(|(base, by)| total.checked_add(by).filter(fits).map(|sum| (base, sum)));
            let Some((base, sum)) = next else { break };
            (at, total) = (self.resolve(base), sum);
        }
        if let ValueDef::Param(block, n) = func.dfg.def(at)
            && self.is_entry(block)
            && space == Some(StateSpace::Param)
            && func.params.get(n as usize).is_some_and(|param| param.byval.is_some() && !param.attrs.varargs)
        {
            return (Base::Param(n), total);
        }
        (Base::Reg(self.reg(at)), total)
    }

    /// The space of an address in a register. By-value parameters of functions have none in PTX: what takes it gets that of a copy.
    pub(super) fn held_space(&self, ty: Type) -> Option<StateSpace> {
        match ty.space() {
            Some(StateSpace::Param) if !self.is_kernel() => Some(StateSpace::Local),
            space => space,
        }
    }

    pub(super) fn access(
        &mut self,
        opcode: Opcode,
        flags: MemFlags,
        ty: Type,
        ptr: Value,
        offset: i32,
    ) -> Access {
        let (base, offset) = self.address(ptr, offset.into());
        let is_param = matches!(base, Base::Param(_));
        let space = if is_param { Some(StateSpace::Param) } else { self.held_space(self.ty(ptr)) };
        let space = space.unwrap_or(StateSpace::Generic);
        let mut opcode = Mnemonic::new(opcode);
        // Constants and parameters do not change, and local memory has no other observer: PTX has no volatile form for them.
        let observable = !matches!(space, StateSpace::Const | StateSpace::Param | StateSpace::Local);
        if flags.volatile && observable {
            opcode = opcode.with(Mod::Volatile);
        }
        if let Some(space) = space_mod(space) {
            opcode = opcode.with(space);
        }
        let read_only = flags.invariant && !flags.volatile && opcode.opcode() == Opcode::Ld;
        if read_only && space == StateSpace::Global && self.has_sm(35) {
            opcode = opcode.with(Mod::Nc);
        }
        let align = flags.explicit_align().unwrap_or_else(|| self.module.types.align(ty));
        Access { base, offset, align, opcode }
    }

    pub(super) fn load(&mut self, inst: ir::Inst, flags: MemFlags, offset: i32, ptr: Value) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let ty = self.ty(result);
        let regs: Few<VReg> = self.regs_of(result).collect();
        let access = self.access(Opcode::Ld, flags, ty, ptr, offset);
        if let (Some(sign), &[reg]) = (self.extending[result], &regs[..]) {
            let mnemonic = access.opcode.with(int_mod(ty.bits(), sign));
            return self.emit(mnemonic, &[Operand::Def(reg), Operand::Addr(access.base, access.offset)]);
        }
        if ty.is_aggregate() {
            for (reg, at) in regs.into_iter().zip(held(&self.module.types, ty)) {
                self.load_register(access.part(at), at.bytes, Type::I8, reg);
            }
            return;
        }
        let bytes = register_bytes(ty);
        for run in runs(&regs, bytes, access.align.min(self.widest(access))) {
            let at = Access { offset: access.offset + run.start as i64 * i64::from(bytes), ..access };
            match &regs[run] {
                &[reg] => self.load_register(at, bytes, ty, reg),
                regs => {
                    let mnemonic = vector_access(access.opcode, regs.len(), ty, bytes);
                    let mut operands = vec![Operand::Vector(regs.len() as u8)];
                    operands.extend(regs.iter().map(|&reg| Operand::Def(reg)));
                    operands.push(Operand::Addr(at.base, at.offset));
                    self.emit(mnemonic, &operands);
                }
            }
        }
    }

    fn load_register(&mut self, at: Access, bytes: u32, ty: Type, result: VReg) {
        if at.align >= bytes {
            let mnemonic = at.opcode.with(memory_mod(ty, bytes));
            return self.emit(mnemonic, &[Operand::Def(result), Operand::Addr(at.base, at.offset)]);
        }
        if bytes == 4 && at.align < 2 {
            return self.load_bytes(at, result);
        }
        let (low, high) = self.halves(bytes);
        self.load_register(at, bytes / 2, Type::I8, low);
        self.load_register(at.upper(bytes), bytes / 2, Type::I8, high);
        self.join_halves(low, high, bytes, result);
    }

    /// A word of four bytes that are loaded one by one, with zeros above them.
    fn load_bytes(&mut self, at: Access, result: VReg) {
        let mnemonic = at.opcode.with(Mod::B8);
        let [a, b, c, d] = [0, 1, 2, 3]
            .map(|n| self.emit_new(RegClass::B32, mnemonic, &[Operand::Addr(at.base, at.offset + n)]));
        // Byte 0 of each, below two zeros.
        let pair = Operand::Int(0x3340);
        let low = self.emit_new(RegClass::B32, ptx!(Prmt.B32), &[a, b, pair]);
        let high = self.emit_new(RegClass::B32, ptx!(Prmt.B32), &[c, d, pair]);
        self.emit(ptx!(Prmt.B32), &[Operand::Def(result), low, high, Operand::Int(0x5410)]);
    }

    /// A register of so many bytes from its halves.
    pub(super) fn join_halves(&mut self, low: VReg, high: VReg, bytes: u32, result: VReg) {
        let (low, high) = (Operand::Use(low), Operand::Use(high));
        if bytes > 2 {
            let whole = mov(self.out.vregs[result]);
            return self.emit(whole, &[Operand::Def(result), Operand::Vector(2), low, high]);
        }
        // There is no `mov` of bytes; a byte is loaded with zeros above it.
        let high = self.emit_new(RegClass::B16, ptx!(Shl.B16), &[high, Operand::Int(8)]);
        self.emit(ptx!(Or.B16), &[Operand::Def(result), low, high]);
    }

    pub(super) fn store(&mut self, flags: MemFlags, offset: i32, value: Value, ptr: Value) {
        let ty = self.ty(value);
        let access = self.access(Opcode::St, flags, ty, ptr, offset);
        if ty.is_aggregate() {
            let mut regs = Vec::new();
            self.part_regs(value, &mut regs);
            for (reg, at) in regs.into_iter().zip(held(&self.module.types, ty)) {
                self.store_register(access.part(at), at.bytes, Type::I8, reg);
            }
            return;
        }
        let bytes = register_bytes(ty);
        if ty == Type::I16
            && access.align >= bytes
            && let Some(pair) = self.two_bytes(value)
        {
            let [low, high] = pair.map(|byte| Operand::Use(self.reg(byte)));
            let mnemonic = vector_access(access.opcode, 2, Type::I8, 1);
            let operands = [Operand::Addr(access.base, access.offset), Operand::Vector(2), low, high];
            return self.emit(mnemonic, &operands);
        }
        if Repr::of(ty).count == 1 && access.align >= bytes {
            let mnemonic = access.opcode.with(memory_mod(ty, bytes));
            let float = matches!(ty, Type::F32 | Type::F64);
            let value = if float { self.operand(value) } else { self.bits_operand(value) };
            return self.emit(mnemonic, &[Operand::Addr(access.base, access.offset), value]);
        }
        // The elements of a vector that was put together need not be moved to registers in a row.
        let regs: Vec<VReg> = match self.def(value) {
            Some(InstData::Vec { args }) if has_own_registers(ty) && self.has_elements_of(args, ty) => {
                let elements = args.as_slice(&self.func.dfg.pool);
                elements.iter().flat_map(|&element| self.regs_of(element)).collect()
            }
            _ => self.regs_of(value).collect(),
        };
        for run in runs(&regs, bytes, access.align.min(self.widest(access))) {
            let at = Access { offset: access.offset + run.start as i64 * i64::from(bytes), ..access };
            match &regs[run] {
                &[reg] => self.store_register(at, bytes, ty, reg),
                regs => {
                    let mnemonic = vector_access(access.opcode, regs.len(), ty, bytes);
                    let mut operands =
                        vec![Operand::Addr(at.base, at.offset), Operand::Vector(regs.len() as u8)];
                    operands.extend(regs.iter().map(|&reg| Operand::Use(reg)));
                    self.emit(mnemonic, &operands);
                }
            }
        }
    }

    /// The two values, in registers of one class, whose low bytes were put together to what is stored.
    fn two_bytes(&mut self, value: Value) -> Option<[Value; 2]> {
        let Some(&InstData::Binary { op: IrOp::Bor, args: [a, b] }) = self.absorbable(value) else {
            return None;
        };
        let upper = |value| match self.absorbable(value) {
            Some(&InstData::Binary { op: IrOp::Shl, args: [high, by] }) if self.int_const(by) == Some(8) => {
                Some(high)
            }
            _ => None,
        };
        let (low, high) = match (upper(a), upper(b)) {
            (None, Some(high)) => (a, high),
            (Some(high), None) => (b, high),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        let zeros = self.known.of(&self.func.dfg, low)?.zeros;
        if zeros & 0xff00 != 0xff00 || [low, high].iter().any(|&byte| self.int_const(byte).is_some()) {
            return None;
        }
        // What was cut to 16 bits need not be for its low byte.
        let cut = |value| match self.absorbable(value) {
            Some(&InstData::Unary { op: IrOp::Trunc, arg }) if self.ty(arg) == Type::I32 => Some(arg),
            _ => None,
        };
        Some(match (cut(low), cut(high)) {
            (Some(low), Some(high)) => [low, high],
            (Some(_) | None, Some(_) | None) => [low, high],
        })
    }

    /// The bytes that one instruction accesses at most.
    fn widest(&self, access: Access) -> u32 {
        let wide = access.opcode.has(Mod::Global) && self.has_sm(100);
        let known = self.version.is_none_or(|version| version >= Version::new(8, 8));
        if wide && known { MAX_GLOBAL_BYTES } else { MAX_BYTES }
    }

    /// True for elements of which each is a register of a type: a cast may have made it of others.
    fn has_elements_of(&self, elements: &ir::ValueList, ty: Type) -> bool {
        let elements = elements.as_slice(&self.func.dfg.pool);
        let bits = 8 * register_bytes(ty);
        elements.len() == usize::from(Repr::of(ty).count)
            && elements.iter().all(|&element| self.ty(element).bits() == bits)
    }

    pub(super) fn store_register(&mut self, at: Access, bytes: u32, ty: Type, value: VReg) {
        if at.align >= bytes {
            let mnemonic = at.opcode.with(memory_mod(ty, bytes));
            return self.emit(mnemonic, &[Operand::Addr(at.base, at.offset), Operand::Use(value)]);
        }
        if bytes == 4 && at.align < 2 {
            return self.store_bytes(at, value);
        }
        let (low, high) = self.cut_in_half(value, bytes);
        self.store_register(at, bytes / 2, Type::I8, low);
        self.store_register(at.upper(bytes), bytes / 2, Type::I8, high);
    }

    /// Stores the bytes of a word one by one.
    fn store_bytes(&mut self, at: Access, word: VReg) {
        let (mnemonic, word) = (at.opcode.with(Mod::B8), Operand::Use(word));
        for n in 0..4 {
            let shift = |n| [word, Operand::Int(8 * n)];
            let byte = if n == 0 { word } else { self.emit_new(RegClass::B32, ptx!(Shr.U32), &shift(n)) };
            self.emit(mnemonic, &[Operand::Addr(at.base, at.offset + n), byte]);
        }
    }

    /// The halves of a register of so many bytes.
    pub(super) fn cut_in_half(&mut self, value: VReg, bytes: u32) -> (VReg, VReg) {
        if bytes > 2 {
            let (low, high) = self.halves(bytes);
            let parts = [Operand::Vector(2), Operand::Def(low), Operand::Def(high), Operand::Use(value)];
            self.emit(mov(self.out.vregs[value]), &parts);
            (low, high)
        } else {
            let high = self.temp(RegClass::B16);
            self.emit(ptx!(Shr.U16), &[Operand::Def(high), Operand::Use(value), Operand::Int(8)]);
            (value, high)
        }
    }

    fn halves(&mut self, bytes: u32) -> (VReg, VReg) {
        let class = RegClass::for_bits(bytes * 4);
        (self.temp(class), self.temp(class))
    }

    // Addresses as values.

    pub(super) fn symbol_address(&mut self, inst: ir::Inst, base: Base, offset: i32) {
        let result = self.result(inst);
        self.emit(ptx!(Mov.U64), &[result, Operand::Symbol(base, offset.into())]);
    }

    pub(super) fn pointer_add(&mut self, inst: ir::Inst, [ptr, offset]: [Value; 2]) {
        if let Some(bytes) = self.low_word(offset, 1).filter(|_| self.is_narrow(inst)) {
            return self.narrow_sum(inst, ptr, bytes);
        }
        let (result, base) = (self.result(inst), Operand::Use(self.reg(ptr)));
        // ptxas makes the same of this as of an extension and a sum.
        let extended = match self.absorbable(offset) {
            _ if self.int_const(offset).is_some() => None,
            _ if self.ty(offset) == Type::I32 => Some((Mod::S32, offset)),
            Some(&InstData::Unary { op: IrOp::Sext, arg }) => Some((Mod::S32, arg)),
            Some(&InstData::Unary { op: IrOp::Zext, arg }) => Some((Mod::U32, arg)),
            Some(_) | None => None,
        };
        if let Some((sign, index)) = extended.filter(|&(_, index)| self.ty(index) == Type::I32) {
            let index = Operand::Use(self.reg(index));
            return self.emit(ptx!(MadWide).with(sign), &[result, index, Operand::Int(1), base]);
        }
        let offset = self.operand(offset);
        self.emit(ptx!(Add.S64), &[result, base, offset]);
    }

    pub(super) fn index(&mut self, inst: ir::Inst, scale: i32, [ptr, index]: [Value; 2]) {
        if let Some(bytes) = self.low_word(index, scale).filter(|_| self.is_narrow(inst)) {
            return self.narrow_sum(inst, ptr, bytes);
        }
        let result = self.result(inst);
        let base = Operand::Use(self.reg(ptr));
        if let Some(constant) = self.int_const(index) {
            let offset = Operand::Int(constant.wrapping_mul(scale.into()));
            return self.emit(ptx!(Add.S64), &[result, base, offset]);
        }
        let wide = self.ty(index) == Type::I64;
        if scale > 1
            && let Some(&InstData::Unary { op: op @ (IrOp::Sext | IrOp::Zext), arg }) = self.absorbable(index)
            && wide
            && self.ty(arg) == Type::I32
        {
            let (sign, index) = (if op == IrOp::Sext { Mod::S32 } else { Mod::U32 }, self.operand(arg));
            return self.emit(ptx!(MadWide).with(sign), &[result, index, Operand::Int(scale.into()), base]);
        }
        let index = Operand::Use(self.reg(index));
        let scale = Operand::Int(scale.into());
        match (wide, scale) {
            (true, Operand::Int(1)) => self.emit(ptx!(Add.S64), &[result, base, index]),
            (true, scale) => self.emit(ptx!(MadLo.S64), &[result, index, scale, base]),
            (false, scale) => self.emit(ptx!(MadWide.S32), &[result, index, scale, base]),
        }
    }
}

impl Access {
    /// The access to a register of a struct or array.
    fn part(self, held: Held) -> Access {
        let at =
            if held.offset == 0 { self.align } else { self.align.min(1 << held.offset.trailing_zeros()) };
        Access { offset: self.offset + i64::from(held.offset), align: at, ..self }
    }

    /// The upper half of an access of so many bytes.
    fn upper(self, bytes: u32) -> Access {
        Access { offset: self.offset + i64::from(bytes / 2), ..self }
    }
}

/// The bytes of memory behind one register of a type.
fn register_bytes(ty: Type) -> u32 {
    let total = ty.bits().div_ceil(8);
    total / u32::from(Repr::of(ty).count)
}

/// Groups of registers that one access moves: as many as so many bytes allow, in powers of two. Only words come in groups of eight.
fn runs(regs: &[VReg], bytes: u32, most: u32) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let fit = (most / bytes).clamp(1, if bytes == 4 { 8 } else { 4 }) as usize;
    let count = regs.len();
    (0..count).step_by(fit).map(move |start| start..(start + fit).min(count))
}

/// The type of a memory access: that of the value where it has one of PTX's, else bits.
fn memory_mod(ty: Type, bytes: u32) -> Mod {
    match ty {
        Type::F32 => Mod::F32,
        Type::F64 => Mod::F64,
        _ => match bytes {
            1 => Mod::B8,
            2 => Mod::B16,
            4 => Mod::B32,
            _ => Mod::B64,
        },
    }
}

fn vector_access(opcode: Mnemonic, count: usize, ty: Type, bytes: u32) -> Mnemonic {
    let element = if ty.element_type().bits() >= 32 { ty.element_type() } else { Type::I32 };
    let lanes = match count {
        2 => Mod::V2,
        4 => Mod::V4,
        _ => Mod::V8,
    };
    opcode.with(lanes).with(memory_mod(element, bytes))
}
