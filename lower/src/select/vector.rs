//! Vectors: made of elements, and taken apart. Those that are changed element by element are made anew by legalisation.
//!
//! Elements of 32 bits and more have registers of their own. Of the narrower ones, two halves of a 32-bit register are moved in
//! and out with vector `mov`; bytes are put together with shifts.

use super::*;

impl Selector<'_> {
    pub(super) fn build_vector(&mut self, inst: ir::Inst, elements: &[Value]) {
        let Some(result) = self.func.dfg.first_result(inst) else { return };
        let ty = self.ty(result);
        let regs: Vec<VReg> = self.regs_of(result).collect();
        if has_own_registers(ty) {
            let sources: Vec<VReg> = elements.iter().flat_map(|&part| self.regs_of(part)).collect();
            for (&reg, source) in regs.iter().zip(sources) {
                self.emit(mov(self.out.vregs[reg]), &[Operand::Def(reg), Operand::Use(source)]);
            }
            return;
        }
        let per_reg = elements.len() / regs.len().max(1);
        for (&reg, parts) in regs.iter().zip(elements.chunks(per_reg.max(1))) {
            match ty.element_type().bits() {
                16 => {
                    let parts: Vec<Operand> =
                        parts.iter().map(|&part| Operand::Use(self.reg(part))).collect();
                    self.join(reg, &parts);
                }
                8 => self.join_bytes(reg, parts),
                _ => return self.odd_elements(ty),
            }
        }
    }

    fn join(&mut self, reg: VReg, parts: &[Operand]) {
        let mut operands = vec![Operand::Def(reg), Operand::Vector(parts.len() as u8)];
        operands.extend_from_slice(parts);
        self.emit(mov(self.out.vregs[reg]), &operands);
    }

    /// Two or four bytes in a register.
    fn join_bytes(&mut self, reg: VReg, parts: &[Value]) {
        let halves: Vec<Operand> = parts
            .chunks(2)
            .map(|pair| {
                let low = self.byte(pair[0]);
                let high = Operand::Use(self.reg(pair[1]));
                let high = self.emit_new(RegClass::B16, ptx!(Shl.B16), &[high, Operand::Int(8)]);
                self.emit_new(RegClass::B16, ptx!(Or.B16), &[low, high])
            })
            .collect();
        match halves[..] {
            [half] => self.emit(ptx!(Mov.B16), &[Operand::Def(reg), half]),
            _ => self.join(reg, &halves),
        }
    }

    /// A byte with zeros above it.
    fn byte(&mut self, value: Value) -> Operand {
        let source = Operand::Use(self.reg(value));
        self.emit_new(RegClass::B16, ptx!(And.B16), &[source, Operand::Int(0xff)])
    }

    /// The register of a vector that holds an element, and the position of the element in it.
    fn locate(&mut self, vector: Value, lane: u8) -> (VReg, u32) {
        let ty = self.ty(vector);
        let regs: Vec<VReg> = self.regs_of(vector).collect();
        let per_reg = (ty.lanes() as usize / regs.len()).max(1);
        (regs[(lane as usize / per_reg).min(regs.len() - 1)], u32::from(lane) % per_reg as u32)
    }

    /// An element of a vector whose registers hold several.
    pub(super) fn extract(&mut self, inst: ir::Inst, vector: Value, lane: u8) {
        let ty = self.ty(vector);
        match ty.element_type().bits() {
            16 => {
                let (reg, position) = self.locate(vector, lane);
                self.take_half(inst, reg, position == 1);
            }
            8 => {
                let result = self.result(inst);
                let (reg, position) = self.locate(vector, lane);
                let (reg, shift) = (Operand::Use(reg), Operand::Int(8 * i64::from(position)));
                match (ty.bits(), position) {
                    (16, 0) => self.emit(ptx!(Mov.B16), &[result, reg]),
                    (16, _) => self.emit(ptx!(Shr.U16), &[result, reg, shift]),
                    (_, 0) => self.emit(ptx!(Cvt.U16.U32), &[result, reg]),
                    (_, _) => {
                        let shifted = self.emit_new(RegClass::B32, ptx!(Shr.U32), &[reg, shift]);
                        self.emit(ptx!(Cvt.U16.U32), &[result, shifted]);
                    }
                }
            }
            _ => self.odd_elements(ty),
        }
    }

    fn odd_elements(&mut self, ty: Type) {
        self.unsupported(
            format!("elements of {ty} are not accessed one by one"),
            "`bitcast` to a vector of i8 gives bytes; `ptx.cvt...` converts pairs",
        );
    }
}
