//! Halves of a word that are both taken in one block: one `mov` writes the two, where the first of them is taken.

use super::values::has_own_registers;
use super::*;

/// An instruction that takes a half of a register of 32 bits.
#[derive(Clone, Copy)]
struct Half {
    /// The value that the register belongs to, and which of its registers it is.
    word: (Value, u8),
    is_upper: bool,
}

impl Selector<'_> {
    /// Finds the pairs of a block.
    pub(super) fn pair_halves(&mut self, block: Block) {
        let func = self.func;
        self.half_taken.clear();
        for inst in func.layout.insts(block) {
            let Some(half) = self.half(inst, block) else { continue };
            match self.half_taken.get(&half.word) {
                // The second of two different ones.
                Some(&(first, is_upper)) if is_upper != half.is_upper && self.other_half[first].is_none() => {
                    self.other_half[first] = inst.into();
                    self.is_written_before[inst] = true;
                }
                Some(_) => {}
                None => _ = self.half_taken.insert(half.word, (inst, half.is_upper)),
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else takes halves")]
    fn half(&self, inst: ir::Inst, block: Block) -> Option<Half> {
        let dfg = &self.func.dfg;
        match dfg[inst] {
            InstData::Extract { lane, arg } => {
                let ty = self.ty(arg);
                let is_half =
                    ty.element_type().bits() == 16 && ty.lanes().is_multiple_of(2) && !has_own_registers(ty);
                is_half.then(|| Half { word: (self.resolve(arg), lane / 2), is_upper: lane % 2 == 1 })
            }
            InstData::Unary { op: IrOp::Trunc, arg } if self.ty(arg) == Type::I32 => {
                let to = dfg.ty(dfg.first_result(inst)?);
                if !matches!(to, Type::I8 | Type::I16) {
                    return None;
                }
                match self.upper_half_of(arg, block) {
                    Some(word) => Some(Half { word: (self.resolve(word), 0), is_upper: true }),
                    None => Some(Half { word: (self.resolve(arg), 0), is_upper: false }),
                }
            }
            _ => None,
        }
    }

    /// The word that was shifted to have its upper half cut out, if nothing else needs the shifted one.
    fn upper_half_of(&self, shifted: Value, block: Block) -> Option<Value> {
        let shifted = self.resolve(shifted);
        let shift = self.func.dfg.def_inst(shifted)?;
        let InstData::Binary { op: IrOp::Lshr | IrOp::Ashr, args: [word, by] } = self.func.dfg[shift] else {
            return None;
        };
        let absorbed = self.uses[shifted] == 1 && self.func.layout.block_of(shift) == Some(block);
        (absorbed && self.int_const(by) == Some(16)).then_some(word)
    }

    /// Whether something wants the other half of the word that an instruction takes one of.
    pub(super) fn writes_other_half(&self, inst: ir::Inst) -> bool {
        self.other(inst).is_some_and(|other| self.regs[other].count > 0)
    }

    fn other(&self, inst: ir::Inst) -> Option<Value> {
        self.func.dfg.first_result(self.other_half[inst].expand()?)
    }

    /// Takes a half of a word, and the other half if that is wanted too, unless both were written before.
    pub(super) fn take_half(&mut self, inst: ir::Inst, word: VReg, is_upper: bool) {
        if self.is_written_before[inst] {
            return;
        }
        let this = self.result(inst);
        let other = match self.other(inst).filter(|&other| self.regs[other].count > 0) {
            Some(other) => Operand::Def(self.reg(other)),
            None => Operand::Def(self.temp(RegClass::B16)),
        };
        let (low, high) = if is_upper { (other, this) } else { (this, other) };
        self.emit(ptx!(Mov.B32), &[Operand::Vector(2), low, high, Operand::Use(word)]);
    }
}
