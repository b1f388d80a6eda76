//! Which variable an operation names: for observers that hold an address against the variable that it was computed from.
//!
//! A variable of the module is named by a constant that holds its address. The variables of a function's frame and the parameters of a kernel are
//! numbers by the time they are part of an operation, so the decoder says beside the code which one a number came from.

use super::op::{Call, FuncId, Move, SymbolId};
use super::{PatchTarget, Program, Slot};
use crate::engine::reg::Reg;

/// A variable that belongs to a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OwnVariable {
    /// The one that starts at this offset of the stack frame: one of [`Program::locals`].
    Local(u32),
    /// The parameter of the kernel that starts at this offset of the parameter space: one of [`Program::kernel`].
    Param(u32),
}

impl Program {
    /// The variable of its own function that an operation names.
    pub fn own_variable_at(&self, pc: u32) -> Option<OwnVariable> {
        let i = self.own_variables.binary_search_by_key(&pc, |(pc, _)| *pc).ok()?;
        Some(self.own_variables[i].1)
    }

    /// The variable of the module whose address, plus a number, a constant register holds.
    pub fn variable_in(&self, r: Reg) -> Option<SymbolId> {
        if !r.is_constant() {
            return None;
        }
        // Patches stand in the order of the constants.
        let i = self.patches.binary_search_by_key(&(r.offset() / 32), |patch| patch.row).ok()?;
        match self.patches[i].target {
            PatchTarget::Variable(v) => Some(v),
            PatchTarget::Function(_) => None,
        }
    }

    /// Where a function finds its parameters and leaves its results.
    pub fn formals(&self, function: FuncId) -> impl Iterator<Item = Slot> {
        let f = &self.functions[function.0 as usize];
        f.params.iter().chain(&f.results).copied()
    }
}

impl Call {
    /// What passes from the caller's frame to the callee's.
    pub fn arguments(&self) -> &[Move] {
        &self.args
    }

    /// What passes from the callee's frame to the caller's when it returns.
    pub fn results(&self) -> &[Move] {
        &self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;
    use warpsmith_ptx::ValidatedModule;

    #[test]
    fn operations_know_the_variables_they_name() {
        let source = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 s[4];\n.entry k(.param .u32 a, .param .u32 b) {\n\
                      .reg .b32 %r<4>;\n.local .b32 x[2];\n.local .b32 y[2];\nld.param.u32 %r0, [b];\nst.local.u32 [y+4], %r0;\n\
                      mov.u32 %r1, x;\nst.shared.u32 [s+8], %r1;\nret;\n}\n";
        let module = ValidatedModule::parse(source).unwrap();
        let program = Program::load(&module).unwrap();
        let of_line = |line: u32| (0..program.operations()).find(|pc| program.line(*pc) == line).unwrap();
        assert_eq!(program.own_variable_at(of_line(9)), Some(OwnVariable::Param(4)));
        assert_eq!(program.own_variable_at(of_line(10)), Some(OwnVariable::Local(8)));
        assert_eq!(program.own_variable_at(of_line(11)), Some(OwnVariable::Local(0)));
        assert_eq!(program.own_variable_at(of_line(12)), None);
        let store = program.operation(of_line(12)).unwrap();
        assert!(program.variable_in(store.reads[0]).is_some());
        assert_eq!(program.variable_in(store.reads[1]), None);
    }
}
