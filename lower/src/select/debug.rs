//! Where the variables of the source are, in the registers and memory of selected code.

use super::*;
use crate::mach::{DebugPlace, DebugRecord};
use warpsmith_ir::debug::Storage;

impl Selector<'_> {
    /// Notes the bindings that stand before an instruction, when it and all behind it have been selected.
    pub(super) fn note_bindings(&mut self, inst: ir::Inst) {
        let func = self.func;
        let Some(debug) = &func.debug else { return };
        for &id in func.layout.records(inst).iter().rev() {
            if let (Variables::Kept, Some(value)) =
                (self.variables, func.storage(debug.bindings[id].storage).value())
                && self.param_of_kernel(value).is_none()
                && !func.dfg.ty(value).is_aggregate()
            {
                // Asking for the registers of the value has it computed.
                self.reg(value);
            }
            self.noted.push((self.out.insts.len() - self.start, id));
        }
    }

    /// The parameter of a kernel that a value is: its memory keeps it as long as the kernel runs.
    fn param_of_kernel(&self, value: Value) -> Option<u32> {
        let func = self.func;
        match func.dfg.def(self.resolve(value)) {
            ValueDef::Param(block, number) if self.is_kernel() && func.layout.entry() == Some(block) => {
                Some(number)
            }
            ValueDef::Param(..) | ValueDef::Result(..) | ValueDef::Alias(_) | ValueDef::Detached => None,
        }
    }

    /// Says where the variables are, when it is known which values have registers.
    pub(super) fn place_bindings(&mut self) {
        let func = self.func;
        let Some(debug) = &func.debug else { return };
        for (block, before, binding) in std::mem::take(&mut self.bound) {
            let place = match func.storage(debug.bindings[binding].storage) {
                Storage::Value(value) => self.place_of(value),
                Storage::Memory(value, offset) => match (self.param_of_kernel(value), self.place_of(value)) {
                    (Some(number), _) if func.params[number as usize].byval.is_some() => {
                        DebugPlace::Symbol(Base::Param(number), offset)
                    }
                    (Some(_), _) if self.regs[self.resolve(value)].count == 0 => DebugPlace::OptimizedOut,
                    (Some(_), _) => DebugPlace::Memory(self.reg(value), offset),
                    (None, DebugPlace::Registers { first, .. } | DebugPlace::LowWord(first)) => {
                        DebugPlace::Memory(first, offset)
                    }
                    (None, _) => DebugPlace::OptimizedOut,
                },
                Storage::Slot(slot, offset) => DebugPlace::Symbol(Base::Stack(slot), offset),
                Storage::Global(global, offset) => DebugPlace::Symbol(Base::Global(global), offset),
                Storage::Constant(bits) => DebugPlace::Constant(bits),
                Storage::OptimizedOut => DebugPlace::OptimizedOut,
            };
            if let Some(block) = self.blocks[block].expand() {
                self.out.records[block].push(DebugRecord { before, binding, place });
            }
        }
    }

    fn place_of(&self, value: Value) -> DebugPlace {
        if let Some(number) = self.param_of_kernel(value)
            && self.func.params[number as usize].byval.is_none()
        {
            return DebugPlace::Symbol(Base::Param(number), 0);
        }
        let resolved = self.resolve(value);
        let Regs { first, count } = self.regs[resolved];
        match (first.expand(), self.int_const(value)) {
            (Some(low), _) if self.narrow[resolved] => DebugPlace::LowWord(low),
            (Some(first), _) => DebugPlace::Registers { first, count },
            (None, Some(bits)) => DebugPlace::Constant(bits),
            (None, None) => self.low[resolved].expand().map_or(DebugPlace::OptimizedOut, DebugPlace::LowWord),
        }
    }
}
