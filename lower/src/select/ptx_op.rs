//! Operations of the PTX tables: they pass through as they are. The form says how the results are written (`d`, `d|p`,
//! `{d, e}`) and which operands are vectors in braces; values held in several registers are opened into them.

use super::*;
use crate::mach::Base;
use warpsmith_ir::{PtxData, PtxOperand};
use warpsmith_isa::{SigKind, SigPresence, SigValue, Signature};

impl Selector<'_> {
    pub(super) fn ptx_op(&mut self, inst: ir::Inst, data: &PtxData, args: &[Value]) {
        let mnemonic = *data.mnemonic();
        let Some(signature) = self.signature(inst, &mnemonic) else {
            let text = format!("`{mnemonic}` has no form with these results");
            return self.unsupported(text, "the verifier should have refused it");
        };
        let mut operands: Vec<Operand> = Vec::with_capacity(8);
        let arrivals = self.destinations(inst, &signature, &mut operands);
        let mut args = args.iter().copied();
        for &operand in &data.operands {
            match operand {
                PtxOperand::Decimal(value) if mnemonic.types().last() == Some(ScalarType::F32) => {
                    operands.push(Operand::F32((value as f32).to_bits()));
                }
                operand => self.source(operand, &mut args, &mut operands),
            }
        }
        self.emit(mnemonic, &operands);
        for (whole, result) in arrivals {
            let mut operands = vec![Operand::Vector(2)];
            operands.extend(self.regs_of(result).map(Operand::Def));
            operands.push(Operand::Use(whole));
            self.emit(mov(self.out.vregs[whole]), &operands);
        }
    }

    /// The signature of the first form that has as many results.
    fn signature(&self, inst: ir::Inst, mnemonic: &Mnemonic) -> Option<Signature> {
        let results = self.func.dfg.results(inst);
        let registers: usize = results.into_iter().count();
        warpsmith_isa::forms(mnemonic).map(|form| form.signature()).find(|signature| {
            let (least, most) = result_counts(signature);
            (least..=most).contains(&registers)
        })
    }

    /// The destination operands. A result held in two registers is written to one of twice the size, to be taken apart behind the
    /// instruction.
    fn destinations(
        &mut self,
        inst: ir::Inst,
        signature: &Signature,
        operands: &mut Vec<Operand>,
    ) -> Vec<(VReg, Value)> {
        let mut results = self.func.dfg.results(inst).into_iter();
        let mut arrivals = Vec::new();
        for operand in &signature.operands {
            match &operand.kind {
                SigKind::Value(value) if value.destination => {
                    let count = usize::from(value.count.unwrap_or(1));
                    if value.count.is_some() {
                        operands.push(Operand::Vector(count as u8));
                    }
                    for result in results.by_ref().take(count) {
                        self.destination(result, operands, &mut arrivals);
                    }
                }
                SigKind::Pair { first, second, .. } if first.destination => {
                    let (d, p) = (results.next(), results.next());
                    if p.is_some() && second.destination {
                        operands.push(Operand::Pair);
                    }
                    for result in d.into_iter().chain(p) {
                        self.destination(result, operands, &mut arrivals);
                    }
                }
                _ => {}
            }
        }
        arrivals
    }

    fn destination(&mut self, result: Value, operands: &mut Vec<Operand>, arrivals: &mut Vec<(VReg, Value)>) {
        let regs = self.regs_of(result);
        match regs.len() {
            1 => operands.extend(regs.map(Operand::Def)),
            2 => {
                let whole = self.temp(doubled(Repr::of(self.ty(result)).class));
                operands.push(Operand::Def(whole));
                arrivals.push((whole, result));
            }
            _ => self.unsupported(
                format!("a result of type {} is not written by one register", self.ty(result)),
                "give the operation one result for each register it writes",
            ),
        }
    }

    fn source(
        &mut self,
        operand: PtxOperand,
        args: &mut impl Iterator<Item = Value>,
        operands: &mut Vec<Operand>,
    ) {
        let value = if operand.takes_value() { args.next() } else { None };
        match (operand, value) {
            (PtxOperand::Value, Some(value)) => {
                let regs = self.regs_of(value);
                let packed = match regs.len() {
                    1 => Operand::Use(self.reg(value)),
                    2 => self.packed(value),
                    _ => {
                        return self.unsupported(
                            format!("an operand of type {} is not held by one register", self.ty(value)),
                            "write its elements in braces",
                        );
                    }
                };
                operands.push(packed);
            }
            (PtxOperand::Not, Some(value)) => operands.push(Operand::Not(self.reg(value))),
            (PtxOperand::Address(offset), Some(value)) => {
                let (base, offset) = self.address(value, offset);
                operands.push(Operand::Addr(base, offset));
            }
            (PtxOperand::GlobalAddress(global, offset), _) => {
                operands.push(Operand::Addr(Base::Global(global), offset));
            }
            (PtxOperand::Global(global), _) => operands.push(Operand::Symbol(Base::Global(global), 0)),
            (PtxOperand::Int(value), _) => operands.push(Operand::Int(value as i64)),
            (PtxOperand::F32(bits), _) => operands.push(Operand::F32(bits)),
            (PtxOperand::F64(bits), _) => operands.push(Operand::F64(bits)),
            (PtxOperand::Vector(count), _) => operands.push(Operand::Vector(count as u8)),
            (PtxOperand::Decimal(value), _) => operands.push(Operand::F64(value.to_bits())),
            (PtxOperand::Sink, _) => operands.push(Operand::Sink),
            (other, _) => {
                self.unsupported(format!("the operand {other:?} is not compiled"), "see docs/lowering.md");
            }
        }
    }

    /// A value of two registers in one of twice the size: `i128`, `f32x2`.
    fn packed(&mut self, value: Value) -> Operand {
        let parts: Vec<Operand> = self.regs_of(value).map(Operand::Use).collect();
        let class = doubled(Repr::of(self.ty(value)).class);
        self.emit_new(class, mov(class), &[Operand::Vector(2), parts[0], parts[1]])
    }
}

/// The class of twice the size.
fn doubled(class: RegClass) -> RegClass {
    if class == RegClass::B64 { RegClass::B128 } else { RegClass::B64 }
}

/// The fewest and the most results an instruction of the signature can have.
fn result_counts(signature: &Signature) -> (usize, usize) {
    let count = |value: &SigValue| if value.destination { usize::from(value.count.unwrap_or(1)) } else { 0 };
    let mut counts = (0, 0);
    for operand in &signature.operands {
        let (least, most) = match &operand.kind {
            SigKind::Value(value) => (count(value), count(value)),
            SigKind::Pair { first, second, second_optional } => {
                let both = count(first) + count(second);
                (if *second_optional { count(first) } else { both }, both)
            }
            _ => (0, 0),
        };
        match operand.presence {
            SigPresence::Required => counts = (counts.0 + least, counts.1 + most),
            SigPresence::Optional => counts.1 += most,
            SigPresence::OnlyWith(_) => {}
        }
    }
    counts
}
