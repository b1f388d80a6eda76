//! Calls, direct and through addresses.

use super::*;
use crate::abi::{Held, Passing, bits_type, held, pieces};
use crate::mach::Prototype;
use warpsmith_ir::MemFlags;

/// What is done behind a call with what arrived.
enum Arrival {
    /// An integer that travelled in a wider register.
    Converted(VReg, VReg),
    /// A register whose bytes arrived in several.
    Joined(Vec<VReg>, VReg),
}

impl Selector<'_> {
    pub(super) fn call(&mut self, inst: ir::Inst, callee: FuncId, args: &[Value]) {
        let module = self.module;
        let target = &module.functions[callee];
        let (mut operands, arrivals, ret) = self.returned(inst);
        let mut params = Vec::with_capacity(args.len());
        for (param, &arg) in target.params.iter().zip(args) {
            let passing = Passing::of_param(&module.types, param, target.kind);
            params.push(match param.byval {
                Some(_) if param.attrs.varargs => {
                    let passing = Passing::varargs(&module.types, self.ty(arg));
                    operands.extend(self.pass(arg, &passing));
                    passing
                }
                Some((size, align)) if self.ty(arg).is_ptr() => {
                    self.copied(arg, size, align, &mut operands);
                    passing
                }
                Some(_) => {
                    let passing = passing.with_parts_of(&module.types, self.ty(arg));
                    operands.extend(self.pass(arg, &passing));
                    passing
                }
                None => {
                    operands.extend(self.pass(arg, &passing));
                    passing
                }
            });
        }
        let prototype = self.prototype(Prototype { params, ret });
        self.emit_op(Op::Call(callee, prototype), &operands);
        self.arrive(arrivals);
    }

    pub(super) fn call_indirect(&mut self, inst: ir::Inst, args: &[Value]) {
        let Some((&callee, args)) = args.split_first() else { return };
        let types = &self.module.types;
        let (mut operands, arrivals, ret) = self.returned(inst);
        let mut params = Vec::with_capacity(args.len());
        for &arg in args {
            let passing = Passing::in_call(types, self.ty(arg));
            operands.extend(self.pass(arg, &passing));
            params.push(passing);
        }
        let prototype = self.prototype(Prototype { params, ret });
        operands.push(Operand::Use(self.reg(callee)));
        self.emit_op(Op::CallIndirect(prototype), &operands);
        self.arrive(arrivals);
    }

    /// The number of a prototype among those of the function.
    fn prototype(&mut self, prototype: Prototype) -> u32 {
        let next = self.out.prototypes.len() as u32;
        let number = *self.prototypes.entry(prototype.clone()).or_insert(next);
        if number == next {
            self.out.prototypes.push(prototype);
        }
        number
    }

    /// The registers that a result arrives in, what is done with them behind the call, and how it travels.
    fn returned(&mut self, inst: ir::Inst) -> (Vec<Operand>, Vec<Arrival>, Option<Passing>) {
        let Some(result) = self.func.dfg.first_result(inst) else { return (Vec::new(), Vec::new(), None) };
        let types = &self.module.types;
        let ty = self.ty(result);
        let passing = Passing::in_call(types, ty);
        let regs: Vec<VReg> = self.regs_of(result).collect();
        if let Some(class) = passing.converted {
            let passed = self.temp(class);
            let arrivals = regs.first().map(|&reg| Arrival::Converted(passed, reg));
            return (vec![Operand::Def(passed)], arrivals.into_iter().collect(), Some(passing));
        }
        let (mut operands, mut arrivals) = (Vec::with_capacity(regs.len()), Vec::new());
        for (reg, held) in regs.into_iter().zip(held(types, ty)) {
            if held.width == held.bytes {
                operands.push(Operand::Def(reg));
                continue;
            }
            let class = RegClass::for_bits(8 * held.width);
            let parts: Vec<VReg> = (0..held.bytes / held.width).map(|_| self.temp(class)).collect();
            operands.extend(parts.iter().map(|&part| Operand::Def(part)));
            arrivals.push(Arrival::Joined(parts, reg));
        }
        (operands, arrivals, Some(passing))
    }

    fn arrive(&mut self, arrivals: Vec<Arrival>) {
        for arrival in arrivals {
            match arrival {
                Arrival::Converted(passed, reg) => self.unpass(Operand::Use(passed), reg),
                Arrival::Joined(parts, reg) => self.join_parts(&parts, reg),
            }
        }
    }

    /// A register from registers of its bytes, the lowest first: two, four or eight, since legalisation leaves no register of another number of
    /// bytes than a power of two.
    fn join_parts(&mut self, parts: &[VReg], reg: VReg) {
        let [low, high] = match *parts {
            [low, high] => [low, high],
            _ => {
                let halves = parts.split_at(parts.len() / 2);
                let class = RegClass::for_bits(self.out.vregs[reg].bits() / 2);
                [halves.0, halves.1].map(|half| {
                    let whole = self.temp(class);
                    self.join_parts(half, whole);
                    whole
                })
            }
        };
        let bytes = self.out.vregs[reg].bits() / 8;
        self.join_halves(low, high, bytes, reg);
    }

    /// The registers in which a value is passed, one for each access.
    pub(super) fn pass(&mut self, value: Value, passing: &Passing) -> Vec<Operand> {
        let ty = self.ty(value);
        if let Some(class) = passing.converted {
            let source = Operand::Use(self.reg(value));
            return vec![if is_i1(ty) {
                self.emit_new(class, ptx!(Selp.B32), &[Operand::Int(1), Operand::Int(0), source])
            } else {
                let whole = if passing.signed { ptx!(Cvt.S32) } else { ptx!(Cvt.U32) };
                let cvt = whole.with(convert::int_mod(ty.bits(), passing.signed));
                self.emit_new(class, cvt, &[source])
            }];
        }
        let mut regs = Vec::new();
        self.part_regs(value, &mut regs);
        if !ty.is_aggregate() {
            return regs.into_iter().map(Operand::Use).collect();
        }
        let mut operands = Vec::with_capacity(regs.len());
        for (reg, Held { bytes, width, .. }) in regs.into_iter().zip(held(&self.module.types, ty)) {
            self.cut(reg, bytes, width, &mut operands);
        }
        operands
    }

    /// The registers of a value, those of an `aggregate` being its operands'.
    pub(super) fn part_regs(&mut self, value: Value, regs: &mut Vec<VReg>) {
        let func = self.func;
        match self.def(value) {
            Some(InstData::Aggregate { args }) => {
                args.as_slice(&func.dfg.pool).iter().for_each(|&arg| self.part_regs(arg, regs));
            }
            _ => regs.extend(self.regs_of(value)),
        }
    }

    /// A register in pieces of so many bytes, the lowest first.
    fn cut(&mut self, reg: VReg, bytes: u32, width: u32, operands: &mut Vec<Operand>) {
        if width == bytes {
            return operands.push(Operand::Use(reg));
        }
        let (low, high) = self.cut_in_half(reg, bytes);
        self.cut(low, bytes / 2, width, operands);
        self.cut(high, bytes / 2, width, operands);
    }

    /// Loads what is passed by value, piece by piece.
    fn copied(&mut self, from: Value, size: u32, align: u32, operands: &mut Vec<Operand>) {
        for (at, bytes) in pieces(size, align) {
            let Some(ty) = Type::int(bytes * 8) else { continue };
            let access = self.access(Opcode::Ld, MemFlags::PLAIN, ty, from, at as i32);
            let mnemonic = access.opcode.with(Mod::of_scalar(bits_type(bytes * 8)));
            let class = RegClass::for_bits(bytes * 8);
            operands.push(self.emit_new(class, mnemonic, &[Operand::Addr(access.base, access.offset)]));
        }
    }

    /// Copies a parameter that is passed by value to local memory, where it has an address.
    pub(super) fn copy_param(&mut self, index: u32, size: u32, align: u32) {
        let (from, to) = (Base::Param(index), Base::Copy(index));
        for (at, bytes) in pieces(size, align) {
            let ty = Mod::of_scalar(bits_type(bytes * 8));
            let class = RegClass::for_bits(bytes * 8);
            let load = ptx!(Ld.Param).with(ty);
            let piece = self.emit_new(class, load, &[Operand::Addr(from, at.into())]);
            self.emit(ptx!(St.Local).with(ty), &[Operand::Addr(to, at.into()), piece]);
        }
    }
}
