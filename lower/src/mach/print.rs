//! Selected code as text, for people who debug selection.

use super::{Base, Block, Edge, Function, Op, Operand, Terminator};
use std::fmt;

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &block in &self.layout {
            self.print_block(f, block)?;
        }
        Ok(())
    }
}

impl Function {
    fn print_block(&self, f: &mut fmt::Formatter<'_>, block: Block) -> fmt::Result {
        write!(f, "{block}")?;
        if !self.params(block).is_empty() {
            let param = |&v| format!("{v}: {:?}", self.vregs[v]);
            write!(f, "({})", self.params(block).iter().map(param).collect::<Vec<_>>().join(", "))?;
        }
        writeln!(f, ":")?;
        for inst in self.block_insts(block) {
            match inst.op {
                Op::Ptx(mnemonic) => write!(f, "    {mnemonic}")?,
                Op::Call(callee, _) => write!(f, "    call {callee}")?,
                Op::CallIndirect(prototype) => write!(f, "    call prototype{prototype}")?,
                Op::Unset => f.write_str("    unset")?,
            }
            let mut operands = self.inst_operands(inst);
            let mut separator = " ";
            while !operands.is_empty() {
                f.write_str(separator)?;
                operands = print_operand(f, operands)?;
                separator = ", ";
            }
            writeln!(f)?;
        }
        let edge = |e: Edge| {
            let args: Vec<_> = self.edge_args(e).iter().map(ToString::to_string).collect();
            if args.is_empty() { e.target.to_string() } else { format!("{}({})", e.target, args.join(", ")) }
        };
        match self.blocks[block].terminator {
            Terminator::Jump(to) => writeln!(f, "    jump {}", edge(to)),
            Terminator::Branch { condition, negated, taken, otherwise, uniform } => {
                let not = if negated { "!" } else { "" };
                let uniform = if uniform { ".uniform" } else { "" };
                writeln!(f, "    branch{uniform} {not}{condition}, {}, {}", edge(taken), edge(otherwise))
            }
            Terminator::Table { index, uniform, .. } => {
                let targets: Vec<_> = self.successors(block).map(edge).collect();
                let uniform = if uniform { ".uniform" } else { "" };
                writeln!(f, "    table{uniform} {index}, [{}]", targets.join(", "))
            }
            Terminator::Return => writeln!(f, "    return"),
            Terminator::Trap => writeln!(f, "    trap"),
        }
    }
}

/// Prints the first operand of the list with its parts and returns what follows it.
fn print_operand<'a>(
    f: &mut fmt::Formatter<'_>,
    operands: &'a [Operand],
) -> Result<&'a [Operand], fmt::Error> {
    let Some((&first, mut rest)) = operands.split_first() else { return Ok(operands) };
    let mut parts = |f: &mut fmt::Formatter<'_>, count: usize, separator: &str| {
        for i in 0..count {
            if i > 0 {
                f.write_str(separator)?;
            }
            rest = print_operand(f, rest)?;
        }
        Ok(())
    };
    match first {
        Operand::Def(v) | Operand::Use(v) => write!(f, "{v}")?,
        Operand::Not(v) => write!(f, "!{v}")?,
        Operand::Neg(v) => write!(f, "-{v}")?,
        Operand::Part(v, part) | Operand::DefPart(v, part) => write!(f, "{v}.{part}")?,
        Operand::Update(v) => write!(f, "{v}")?,
        Operand::Int(value) => write!(f, "{value}")?,
        Operand::F32(bits) => write!(f, "0f{bits:08X}")?,
        Operand::F64(bits) => write!(f, "0d{bits:016X}")?,
        Operand::Special(register) => write!(f, "%{register}")?,
        Operand::Addr(base, offset) => write!(f, "[{base}{offset:+}]")?,
        Operand::Symbol(base, offset) => write!(f, "{base}{offset:+}")?,
        Operand::Vector(len) => {
            f.write_str("{")?;
            parts(f, len.into(), ", ")?;
            f.write_str("}")?;
        }
        Operand::Bracket(len) => {
            f.write_str("[")?;
            parts(f, len.into(), ", ")?;
            f.write_str("]")?;
        }
        Operand::Pair => parts(f, 2, "|")?,
        Operand::Sink => f.write_str("_")?,
    }
    Ok(rest)
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Reg(v) => write!(f, "{v}"),
            Base::Global(global) => write!(f, "{global}"),
            Base::Func(func) => write!(f, "{func}"),
            Base::Param(index) => write!(f, "param{index}"),
            Base::Return => f.write_str("result"),
            Base::Stack(slot) => write!(f, "{slot}"),
            Base::Copy(index) => write!(f, "copy{index}"),
            Base::Absolute => f.write_str("0"),
        }
    }
}
