//! Operations of the PTX tables: they pass through as they are. The form says how the results are written (`d`, `d|p`,
//! `{d, e}`) and which operands are vectors in braces; values held in several registers are opened into them.

use super::*;
use crate::mach::Base;
use warpsmith_ir::{Destination, PtxData, PtxOperand, destinations, takes_byte_registers};
use warpsmith_isa::{Accepts, SigKind, SigOperand, Signature, TypeClass};

impl Selector<'_> {
    pub(super) fn ptx_op(&mut self, inst: ir::Inst, data: &PtxData, args: &[Value]) {
        let mnemonic = *data.mnemonic();
        let Some(signature) = data.instruction().map(|instruction| instruction.signature()) else {
            let text = format!("`{mnemonic}` has no form with these results");
            return self.unsupported(text, "the verifier should have refused it");
        };
        let mut operands: Vec<Operand> = Vec::with_capacity(8);
        let (mut sources, mut args) = (&data.operands[..], args);
        let bytes = takes_byte_registers(&signature);
        let mut arrivals = Vec::new();
        if warpsmith_ir::accumulators(&signature).is_some() {
            let count = self.func.dfg.results(inst).len();
            let (before, rest) = args.split_at(count.min(args.len()));
            self.accumulate(inst, data, before, &mut operands);
            (sources, args) = (sources.get(1 + count..).unwrap_or(&[]), rest);
        } else {
            arrivals = self.destinations(inst, &signature, bytes, &mut operands);
            if let Some((&PtxOperand::Destination(part), rest)) = sources.split_first() {
                sources = rest;
                if let Some(first @ Operand::Def(_)) = operands.first_mut()
                    && let Operand::Def(v) = *first
                {
                    *first = Operand::DefPart(v, part);
                }
            }
        }
        let mut args = args.iter().copied();
        let written = signature.operands.iter().take_while(|operand| is_destination(operand)).count();
        let mut flat = true;
        for (n, &operand) in sources.iter().enumerate() {
            flat &= !matches!(operand, PtxOperand::Vector(_) | PtxOperand::Bracket(_));
            if let (true, PtxOperand::Value, Some(place)) =
                (flat, operand, signature.operands.get(written + n))
                && let Some(constant) = args.clone().next().and_then(|value| self.literal(value, place))
            {
                operands.push(constant);
                _ = args.next();
                continue;
            }
            if let PtxOperand::Decimal(value) = operand
                && mnemonic.types().last() == Some(ScalarType::F32)
            {
                operands.push(Operand::F32((value as f32).to_bits()));
            } else {
                self.source(operand, bytes, &mut args, &mut operands);
            }
        }
        self.keep_factors(data, &operands);
        addresses_in_brackets(&mut operands);
        if mnemonic.opcode() == warpsmith_isa::Opcode::WgmmaFence {
            self.write_ahead();
        }
        self.emit(mnemonic, &operands);
        for (whole, result) in arrivals {
            if self.out.vregs[whole] == RegClass::B8 {
                let result = Operand::Def(self.reg(result));
                self.emit(ptx!(Cvt.U16.U8), &[result, Operand::Use(whole)]);
                continue;
            }
            let mut operands = vec![Operand::Vector(2)];
            operands.extend(self.regs_of(result).map(Operand::Def));
            operands.push(Operand::Use(whole));
            self.emit(mov(self.out.vregs[whole]), &operands);
        }
    }

    /// The constant that a number is, where the operand may be a literal.
    fn literal(&self, value: Value, place: &SigOperand) -> Option<Operand> {
        let SigKind::Value(what) = &place.kind else { return None };
        let ty = self.ty(value);
        let number = self.def(value)?;
        if let InstData::FloatConst { bits } = *number {
            let fits = what.count.is_none() && what.accepts.contains(Accepts::IMMEDIATE);
            return match (ty, what.ty) {
                (Type::F32, ScalarType::F32) if fits => Some(Operand::F32(bits as u32)),
                (Type::F64, ScalarType::F64) if fits => Some(Operand::F64(bits)),
                _ => None,
            };
        }
        let &InstData::IntConst { value: constant } = number else { return None };
        let fits = !ty.is_float()
            && matches!(ty.bits(), 32 | 64)
            && what.ty.bits() == ty.bits()
            && matches!(what.ty.class(), TypeClass::Bits | TypeClass::Signed | TypeClass::Unsigned)
            && what.count.is_none()
            && what.accepts.contains(Accepts::IMMEDIATE)
            && what.range.is_none_or(|range| range.contains(constant));
        fits.then_some(Operand::Int(constant))
    }

    /// The destination operands. A result held in two registers is written to one of twice the size, to be taken apart behind the
    /// instruction; one that is written to a `.b8` register is widened there.
    fn destinations(
        &mut self,
        inst: ir::Inst,
        signature: &Signature,
        bytes: bool,
        operands: &mut Vec<Operand>,
    ) -> Vec<(VReg, Value)> {
        let results = self.func.dfg.results(inst);
        let groups = destinations(signature, results.len()).unwrap_or_default();
        let mut results = results.into_iter();
        let mut arrivals = Vec::new();
        for group in groups {
            let count = match group {
                Destination::Scalar => 1,
                Destination::Vector(count) => {
                    operands.push(Operand::Vector(count as u8));
                    count
                }
                Destination::Pair(count) => {
                    operands.push(Operand::Pair);
                    operands.extend(count.map(|count| Operand::Vector(count as u8)));
                    count.unwrap_or(1) + 1
                }
            };
            for result in results.by_ref().take(count.into()) {
                self.destination(result, bytes, operands, &mut arrivals);
            }
        }
        arrivals
    }

    fn destination(
        &mut self,
        result: Value,
        bytes: bool,
        operands: &mut Vec<Operand>,
        arrivals: &mut Vec<(VReg, Value)>,
    ) {
        let regs = self.regs_of(result);
        match regs.len() {
            1 if bytes && self.ty(result).bits() == 8 => {
                let byte = self.temp(RegClass::B8);
                operands.push(Operand::Def(byte));
                arrivals.push((byte, result));
            }
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
        bytes: bool,
        args: &mut impl Iterator<Item = Value>,
        operands: &mut Vec<Operand>,
    ) {
        let value = if operand.takes_value() { args.next() } else { None };
        match (operand, value) {
            (PtxOperand::Value, Some(value)) => {
                let regs = self.regs_of(value);
                let packed = match regs.len() {
                    1 if bytes && self.ty(value).bits() == 8 => {
                        let wide = Operand::Use(self.reg(value));
                        self.emit_new(RegClass::B8, ptx!(Cvt.U8.U16), &[wide])
                    }
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
            (PtxOperand::Neg, Some(value)) => operands.push(Operand::Neg(self.reg(value))),
            (PtxOperand::Part(part), Some(value)) => operands.push(Operand::Part(self.reg(value), part)),
            (PtxOperand::Func(func), _) => operands.push(Operand::Symbol(Base::Func(func), 0)),
            (PtxOperand::Bracket(count), _) => operands.push(Operand::Bracket(count as u8)),
            (PtxOperand::Not, Some(value)) => operands.push(Operand::Not(self.reg(value))),
            (PtxOperand::Address(offset), Some(value)) => {
                let (base, offset) = self.address(value, offset);
                if self.held_space(self.ty(value)) != self.ty(value).space()
                    && !matches!(base, Base::Param(_))
                {
                    self.unsupported(
                        "the address of a by-value parameter of a function, as an operand",
                        "load from it with `load`, or cast it to a generic pointer",
                    );
                }
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

fn is_destination(operand: &SigOperand) -> bool {
    match &operand.kind {
        SigKind::Value(value) => value.destination,
        SigKind::Pair { .. } => true,
        SigKind::Address(_)
        | SigKind::Bracket(_)
        | SigKind::Tuple(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => false,
    }
}

/// The class of twice the size.
fn doubled(class: RegClass) -> RegClass {
    if class == RegClass::B64 { RegClass::B128 } else { RegClass::B64 }
}

/// What a bracket begins with is an address, written without brackets of its own.
fn addresses_in_brackets(operands: &mut [Operand]) {
    for n in 0..operands.len() {
        if let Operand::Bracket(_) = operands[n]
            && let Some(Operand::Addr(Base::Reg(v), 0)) = operands.get(n + 1).copied()
        {
            operands[n + 1] = Operand::Use(v);
        }
    }
}
