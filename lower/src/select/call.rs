//! Calls, direct and through addresses.

use super::*;
use crate::abi::{Passing, bits_type, pieces};
use crate::mach::Prototype;
use warpsmith_ir::MemFlags;

impl Selector<'_> {
    pub(super) fn call(&mut self, inst: ir::Inst, callee: FuncId, args: &[Value]) {
        let module = self.module;
        let target = &module.functions[callee];
        let (mut operands, arrived) = self.returned(inst, target.ret.first().copied());
        for (param, &arg) in target.params.iter().zip(args) {
            match param.byval {
                Some((size, align)) => self.copied(arg, size, align, &mut operands),
                None => operands.extend(self.pass(arg, Passing::in_call(param.ty))),
            }
        }
        self.emit_op(Op::Call(callee), &operands);
        self.arrive(arrived);
    }

    pub(super) fn call_indirect(&mut self, inst: ir::Inst, args: &[Value]) {
        let Some((&callee, args)) = args.split_first() else { return };
        let ret = self.func.dfg.first_result(inst).map(|result| self.ty(result));
        let prototype = Prototype {
            params: args.iter().map(|&arg| Passing::in_call(self.ty(arg))).collect(),
            ret: ret.map(Passing::in_call),
        };
        let known = self.out.prototypes.iter().position(|known| *known == prototype);
        let index = known.unwrap_or_else(|| {
            self.out.prototypes.push(prototype);
            self.out.prototypes.len() - 1
        });
        let (mut operands, arrived) = self.returned(inst, ret);
        for &arg in args {
            operands.extend(self.pass(arg, Passing::in_call(self.ty(arg))));
        }
        operands.push(Operand::Use(self.reg(callee)));
        self.emit_op(Op::CallIndirect(index as u32), &operands);
        self.arrive(arrived);
    }

    /// The registers that a result arrives in, and what converts it behind the call where they are not those of its type.
    fn returned(
        &mut self,
        inst: ir::Inst,
        ret: Option<Type>,
    ) -> (Vec<Operand>, Option<(VReg, Passing, VReg)>) {
        let (Some(ty), Some(result)) = (ret, self.func.dfg.first_result(inst)) else {
            return (Vec::new(), None);
        };
        let passing = Passing::in_call(ty);
        let regs: Vec<VReg> = self.regs_of(result).collect();
        if passing.regs == Repr::of(ty) {
            return (regs.into_iter().map(Operand::Def).collect(), None);
        }
        let passed = self.temp(passing.regs.class);
        (vec![Operand::Def(passed)], regs.first().map(|&reg| (passed, passing, reg)))
    }

    fn arrive(&mut self, arrived: Option<(VReg, Passing, VReg)>) {
        if let Some((passed, passing, reg)) = arrived {
            self.unpass(Operand::Use(passed), passing, reg);
        }
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
