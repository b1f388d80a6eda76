//! Registers that an instruction adds to: accumulators of products of matrices.
//!
//! Between `wgmma.fence` and a product in the background nothing else may write its accumulators, or ptxas runs the products one after the other (PTX
//! ISA 9.0, 9.7.15.7.1). So constants that a sum starts from are written in front of the fence.

use super::*;
use warpsmith_ir::{PtxData, PtxOperand};

impl Selector<'_> {
    /// The registers that the instruction adds to. A value that nobody else reads is updated where it is; others are copied.
    pub(super) fn accumulate(
        &mut self,
        inst: ir::Inst,
        data: &PtxData,
        before: &[Value],
        operands: &mut Vec<Operand>,
    ) {
        let results = self.func.dfg.results(inst);
        operands.push(Operand::Vector(results.len() as u8));
        let asynchronous = data.mnemonic().opcode() == warpsmith_isa::Opcode::WgmmaMmaAsync;
        self.out.background |= asynchronous;
        if asynchronous && starts_anew(data, results.len()) {
            operands.extend(results.into_iter().map(|result| Operand::Def(self.reg(result))));
            return;
        }
        for (result, &value) in results.into_iter().zip(before) {
            _ = self.regs_of(result);
            let (to, from) = (self.resolve(result), self.resolve(value));
            let here = match self.func.dfg.def(from) {
                ValueDef::Result(def, _) => self.func.layout.block_of(def) == Some(self.block),
                ValueDef::Param(block, _) => block == self.block,
                ValueDef::Alias(_) | ValueDef::Detached => false,
            };
            if here && self.uses[from] == 1 && self.regs[from].count == 0 {
                self.regs[from] = self.regs[to];
            } else {
                let class = Repr::of(self.ty(value)).class;
                let (to, from) = (self.reg(result), self.operand(value));
                self.emit(mov(class), &[Operand::Def(to), from]);
                if asynchronous && !matches!(from, Operand::Use(_)) {
                    self.ahead.extend(self.group.pop());
                }
            }
            operands.push(Operand::Update(self.reg(result)));
        }
    }

    /// Keeps the registers that a product in the background has its A in from being written before somebody waits for it: these are the first operands
    /// in braces behind the accumulators.
    pub(super) fn keep_factors(&mut self, data: &PtxData, operands: &[Operand]) {
        if data.mnemonic().opcode() == warpsmith_isa::Opcode::WgmmaMmaAsync
            && let [Operand::Vector(accumulators), rest @ ..] = operands
            && let Some([Operand::Vector(count), rest @ ..]) = rest.get(usize::from(*accumulators)..)
        {
            let read = rest.iter().take(usize::from(*count)).filter_map(|operand| operand.used());
            self.out.apart.extend(read);
        }
    }

    /// Writes what waits for a place in front of a fence: here is one, or the block begins here.
    pub(super) fn write_ahead(&mut self) {
        self.group.append(&mut self.ahead);
    }
}

/// Whether a literal says that a product does not read its accumulators. Where A is in registers too, these must not become the accumulators.
fn starts_anew(data: &PtxData, accumulators: usize) -> bool {
    if data.mnemonic().has(Mod::Sp) {
        return false;
    }
    let mut rest = data.operands.iter().skip(1 + accumulators);
    let factors = [rest.next(), rest.next()];
    factors.iter().all(|factor| matches!(factor, Some(PtxOperand::Value)))
        && rest.next() == Some(&PtxOperand::Int(0))
}
