//! Direct calls.

use super::*;
use crate::abi::Passing;

impl Selector<'_> {
    pub(super) fn call(&mut self, inst: ir::Inst, callee: FuncId, args: &[Value]) {
        let module = self.module;
        let target = &module.functions[callee];
        let mut operands = Vec::new();
        // What arrives in another form than its type's is converted behind the call.
        let mut arrived = None;
        if let (Some(&ty), Some(result)) = (target.ret.first(), self.func.dfg.first_result(inst)) {
            let passing = Passing::in_call(ty);
            let regs: Vec<VReg> = self.regs_of(result).collect();
            if passing.regs == Repr::of(ty) {
                operands.extend(regs.into_iter().map(Operand::Def));
            } else {
                let passed = self.temp(passing.regs.class);
                operands.push(Operand::Def(passed));
                arrived = regs.first().map(|&reg| (passed, passing, reg));
            }
        }
        for (param, &arg) in target.params.iter().zip(args) {
            if param.byval.is_some() {
                self.unsupported(
                    format!("a call of `@{}`, which has a by-value parameter, is not compiled", target.name),
                    "pass a pointer, or the members one by one",
                );
            }
            let passed = self.pass(arg, Passing::in_call(param.ty));
            operands.extend(passed);
        }
        self.emit_op(Op::Call(callee), &operands);
        if let Some((passed, passing, reg)) = arrived {
            self.unpass(Operand::Use(passed), passing, reg);
        }
    }
}
