//! Instructions.

use super::Printer;
use crate::attr::Attr;
use crate::entities::{Inst, Value};
use crate::inst::{InstData, MemFlags};
use crate::literal::write_float;
use crate::ops::ResultRule;
use crate::ptx::{PtxOperand, ResultTypes};
use crate::types::Type;
use std::fmt::{self, Write};

/// Bytes as the parser reads them: printable ASCII as it is, the others as `\\` and two hexadecimal digits.
fn quoted(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in text {
        match byte {
            b' '..=b'~' if !matches!(byte, b'"' | b'\\') => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:02x}")),
        }
    }
    out.push('"');
    out
}

impl Printer<'_> {
    /// ` + 16` or ` - 16`
    pub(super) fn offset(&mut self, offset: i64) -> fmt::Result {
        match offset {
            0 => Ok(()),
            1.. => write!(self.out, " + {offset}"),
            _ => write!(self.out, " - {}", offset.unsigned_abs()),
        }
    }

    pub(super) fn flags(&mut self, flags: MemFlags) {
        self.out.push_str(if flags.volatile { "volatile " } else { "" });
        self.out.push_str(if flags.invariant { "invariant " } else { "" });
    }

    pub(super) fn align(&mut self, flags: MemFlags) -> fmt::Result {
        match flags.explicit_align() {
            Some(align) => write!(self.out, " align {align}"),
            None => Ok(()),
        }
    }

    pub(super) fn inst(&mut self, inst: Inst) -> fmt::Result {
        let func = self.func;
        let results = func.dfg.results(inst);
        let data = &func.dfg[inst];
        // The tables leave the types of some results open: they are written where they are not the usual ones.
        let usual = if let InstData::Ptx { data, .. } = data {
            func.dfg.ptx[*data].usual_types(results.len())
        } else {
            ResultTypes::new()
        };
        for (n, result) in results.into_iter().enumerate() {
            self.comma(n);
            self.value(result)?;
            let ty = func.dfg.ty(result);
            let circular = self.names_types
                && !matches!(data, InstData::Ptx { .. })
                && !data.opcode().info().result.takes_suffix()
                && !matches!(data, InstData::CallIndirect { .. });
            let of_call = data.opcode().info().result == ResultRule::OfCall && results.len() > 1;
            if circular || of_call || usual.get(n).is_some_and(|usual| *usual != ty) {
                self.out.push_str(": ");
                self.ty(ty)?;
            }
        }
        if !results.is_empty() {
            self.out.push_str(" = ");
        }
        let op = data.opcode();
        let rule = op.info().result;
        // Several results of a call through an address have their types written with their names.
        let typed = rule.takes_suffix() || (rule == ResultRule::OfCall && results.len() == 1);
        if let (true, Some(result)) = (typed, func.dfg.first_result(inst)) {
            write!(self.out, "{op}.")?;
            self.ty(func.dfg.ty(result))?;
        } else if !matches!(data, InstData::Sreg { .. } | InstData::Ptx { .. }) {
            self.out.push_str(op.name());
        }
        self.operands(
            inst,
            data,
            func.dfg.first_result(inst).map_or(Type::INVALID, |value| func.dfg.ty(value)),
        )?;
        if let Some(loc) = func.inst_locs[inst].expand().and_then(|loc| func.locs.get(loc)) {
            write!(self.out, " !{}:{}:{}", loc.file.as_u32(), loc.line, loc.column)?;
            if let Some(scope) = loc.scope.filter(|scope| scope.as_u32() > 0) {
                write!(self.out, ":{}", scope.as_u32())?;
            }
        }
        Ok(())
    }

    pub(super) fn operands(&mut self, inst: Inst, data: &InstData, ty: Type) -> fmt::Result {
        let func = self.func;
        let pool = &func.dfg.pool;
        let args = data.args(pool);
        if !matches!(
            data,
            InstData::Sreg { .. }
                | InstData::Ptx { .. }
                | InstData::List { .. }
                | InstData::Trap
                | InstData::Zero
        ) && !matches!(data, InstData::Return { .. } | InstData::Aggregate { .. } if args.is_empty())
        {
            self.out.push(' ');
        }
        if let Some(promise) = data.opcode().promise().filter(|_| func.dfg.promised(inst)) {
            self.out.push_str(promise.name());
            self.out.push(' ');
        }
        match data {
            InstData::IntConst { value } => write!(self.out, "{value}")?,
            InstData::FloatConst { bits } => write_float(self.out, ty, *bits),
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::Vec { .. }
            | InstData::Return { .. } => self.values(args)?,
            InstData::IntCompare { cond, .. } => {
                write!(self.out, "{cond} ")?;
                self.values(args)?;
            }
            InstData::FloatCompare { cond, .. } => {
                write!(self.out, "{cond} ")?;
                self.values(args)?;
            }
            InstData::Load { flags, offset, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.offset(*offset as i64)?;
                self.align(*flags)?;
            }
            InstData::Store { flags, offset, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.offset(*offset as i64)?;
                self.align(*flags)?;
            }
            InstData::Index { scale, .. } => {
                self.values(args)?;
                write!(self.out, ", {scale}")?;
            }
            InstData::StackAddr { slot, offset } => {
                write!(self.out, "%{}", self.names.slot(func, *slot))?;
                self.offset(*offset as i64)?;
            }
            InstData::GlobalAddr { global, offset } => {
                self.global(*global)?;
                self.offset(*offset as i64)?;
            }
            InstData::FuncAddr { func } => self.callee(*func)?,
            InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => {
                self.values(args)?;
                write!(self.out, ", {lane}")?;
            }
            InstData::Zero => {}
            InstData::Aggregate { .. } => self.values(args)?,
            InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
                self.values(args)?;
                for n in func.dfg.paths.get(*path).into_iter().flatten() {
                    write!(self.out, ", {n}")?;
                }
            }
            InstData::MemBlock { flags, source, .. } => {
                self.flags(*flags);
                self.values(args)?;
                self.align(*flags)?;
                if let Some(align) = source.explicit_align().filter(|_| source != flags) {
                    write!(self.out, " from {align}")?;
                }
            }
            InstData::Sreg { reg } => write!(self.out, "sreg.{reg}")?,
            InstData::Call { callee, .. } => {
                self.callee(*callee)?;
                self.out.push('(');
                self.values(args)?;
                self.out.push(')');
            }
            InstData::CallIndirect { .. } => {
                let (callee, args) = args.split_at(args.len().min(1));
                self.values(callee)?;
                self.out.push('(');
                self.values(args)?;
                self.out.push(')');
            }
            InstData::Ptx { data, .. } => {
                let data = &func.dfg.ptx[*data];
                write!(self.out, "ptx.{}", data.mnemonic())?;
                self.ptx_operands(&data.operands, args)?;
            }
            InstData::Jump { dest } => self.target(dest)?,
            InstData::Brif { dests, .. } => {
                self.values(args)?;
                for dest in dests {
                    self.out.push_str(", ");
                    self.target(dest)?;
                }
            }
            InstData::Switch { table, .. } => {
                let table = &func.dfg.jump_tables[*table];
                self.values(args)?;
                self.out.push_str(", ");
                self.target(&table.default)?;
                self.out.push_str(", [");
                for (n, (value, dest)) in table.cases.iter().enumerate() {
                    self.comma(n);
                    write!(self.out, "{value}: ")?;
                    self.target(dest)?;
                }
                self.out.push(']');
            }
            InstData::List { attr, .. } => {
                let before = match attr {
                    Attr::With(op) => op.to_string(),
                    Attr::Float(mode) => mode.to_string().trim_end().to_string(),
                    Attr::Memory(mode) => mode.to_string(),
                    Attr::Shuffle(kind) => kind.to_string(),
                    Attr::Vote(kind) => kind.to_string(),
                    Attr::Text(text) => quoted(text),
                    Attr::Wide(bits) => format!("{:#x}", **bits),
                    Attr::None | Attr::Lanes(_) => String::new(),
                };
                let comma = matches!(attr, Attr::Text(_)) && !args.is_empty();
                self.out.push_str(if before.is_empty() && args.is_empty() { "" } else { " " });
                self.out.push_str(&before);
                self.out.push_str(match (before.is_empty() || args.is_empty(), comma) {
                    (true, _) => "",
                    (false, true) => ", ",
                    (false, false) => " ",
                });
                self.values(args)?;
                if let Attr::Lanes(lanes) = attr {
                    let lanes: Vec<String> = lanes.iter().map(u8::to_string).collect();
                    write!(self.out, ", [{}]", lanes.join(", "))?;
                }
            }
            InstData::Trap => {}
        }
        Ok(())
    }

    pub(super) fn ptx_operands(&mut self, operands: &[PtxOperand], args: &[Value]) -> fmt::Result {
        let mut args = args.iter().copied();
        // Vectors and brackets that are open: what closes them, and how many operands they still take.
        let mut open: Vec<(char, u32)> = Vec::new();
        let mut first = true;
        for operand in operands {
            self.out.push_str(match (first, open.is_empty()) {
                (true, true) => " ",
                (true, false) => "",
                (false, _) => ", ",
            });
            first = false;
            if let Some((_, left)) = open.last_mut() {
                *left -= 1;
            }
            match *operand {
                PtxOperand::Vector(len) | PtxOperand::Bracket(len) => {
                    let is_vector = matches!(operand, PtxOperand::Vector(_));
                    let (begin, end) = if is_vector { ('{', '}') } else { ('[', ']') };
                    self.out.push(begin);
                    open.push((end, len));
                    first = true;
                }
                PtxOperand::Not => self.out.push('!'),
                PtxOperand::Neg => self.out.push('-'),
                PtxOperand::Destination(part) => write!(self.out, "d.{part}")?,
                PtxOperand::Address(_) => self.out.push('['),
                PtxOperand::GlobalAddress(global, offset) => {
                    self.out.push('[');
                    self.global(global)?;
                    self.offset(offset)?;
                    self.out.push(']');
                }
                PtxOperand::Value | PtxOperand::Part(_) => {}
                PtxOperand::Global(global) => self.global(global)?,
                PtxOperand::Func(callee) => self.callee(callee)?,
                PtxOperand::Int(value) => write!(self.out, "{value}")?,
                PtxOperand::F32(bits) => write!(self.out, "0f{bits:08x}")?,
                PtxOperand::F64(bits) => write!(self.out, "0d{bits:016x}")?,
                PtxOperand::Decimal(value) => write!(self.out, "{value:?}")?,
                PtxOperand::Sink => self.out.push('_'),
            }
            if operand.takes_value() {
                match args.next() {
                    Some(value) => self.value(value)?,
                    None => self.out.push_str("%?"),
                }
            }
            if let PtxOperand::Part(part) = *operand {
                write!(self.out, ":{part}")?;
            }
            if let PtxOperand::Address(offset) = *operand {
                self.offset(offset)?;
                self.out.push(']');
            }
            while open.last().is_some_and(|(_, left)| *left == 0) {
                self.out.extend(open.pop().map(|(end, _)| end));
                first = false;
            }
        }
        Ok(())
    }
}
