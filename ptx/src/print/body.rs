//! Bodies: statements, instructions and operands.

use super::value::{constant, decimal, signed};
use super::{MAX_INDENT, Printer};
use crate::tree::*;
use std::fmt::{self, Write};

impl Printer<'_> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is neither a label nor a place is indented as code"
    )]
    pub(super) fn body(&mut self, body: List<Stmt>) -> fmt::Result {
        let m = self.module;
        for (id, stmt) in body.ids().zip(&m[body]) {
            self.depth -= usize::from(matches!(stmt, Stmt::Close) && self.depth > 1);
            let indent = match stmt {
                Stmt::Label(_) => self.depth - 1,
                // In the margin, out of the code's way.
                Stmt::Loc(_) | Stmt::LocIntermediate(_) => 0,
                _ => self.depth,
            };
            (0..indent.min(MAX_INDENT)).for_each(|_| self.out.push_str(self.indent));
            let mut start = self.out.len();
            match *stmt {
                Stmt::Open => {
                    self.out.push('{');
                    self.depth += 1;
                }
                Stmt::Close => self.out.push('}'),
                Stmt::Decl(decl) => {
                    self.decl(decl)?;
                    self.out.push(';');
                }
                Stmt::Label(name) => {
                    self.out.push_str(&m[name]);
                    // The colon is not part of it.
                    self.place(id, start);
                    self.out.push_str(":\n");
                    continue;
                }
                Stmt::Inst(inst) => {
                    // The guard is not part of it either.
                    start = self.guard(inst.guard);
                    self.inst(inst)?;
                }
                Stmt::Loc(Loc { at, inlined }) => {
                    write!(self.out, ".loc {at}")?;
                    if let Some(inlined) = inlined {
                        let Inlined { function_name, offset, at } = m[inlined];
                        write!(self.out, ",function_name {}", &m[function_name])?;
                        if offset != 0 {
                            write!(self.out, "+{offset}")?;
                        }
                        write!(self.out, ",inlined_at {at}")?;
                    }
                }
                Stmt::LocIntermediate(at) => write!(self.out, ".loc_intermediate {at}")?,
                Stmt::Pragma(strings) => {
                    self.pragma(strings)?;
                    self.out.pop();
                }
                Stmt::BranchTargets { name, targets } => {
                    write!(self.out, "{}: .branchtargets ", &m[name])?;
                    self.declarators(targets)?;
                    self.out.push(';');
                }
                Stmt::CallTargets { name, targets } => {
                    write!(self.out, "{}: .calltargets ", &m[name])?;
                    self.declarators(targets)?;
                    self.out.push(';');
                }
                Stmt::CallPrototype(prototype) => {
                    let Prototype { name, returns, params, directives } = m[prototype];
                    write!(self.out, "{}: .callprototype ", &m[name])?;
                    self.returns(returns)?;
                    self.out.push_str("_ ");
                    self.params(params, false)?;
                    self.directives(directives)?;
                    self.out.push(';');
                }
                Stmt::Target(names) => write!(self.out, ".target {}", m.commas(&m[names]))?,
            }
            self.place(id, start);
            self.out.push('\n');
        }
        Ok(())
    }

    /// Prints the guard of an instruction, and says where the instruction begins.
    fn guard(&mut self, guard: Option<Guard>) -> usize {
        if let Some(guard) = guard {
            self.out.push_str(if guard.negated() { "@!" } else { "@" });
            let start = self.out.len() as u32;
            self.out.push_str(&self.module[guard.predicate()]);
            self.out.push(' ');
            if let Some(positions) = &mut self.positions {
                positions.guard(start);
            }
        }
        self.out.len()
    }

    fn inst(&mut self, inst: Inst) -> fmt::Result {
        self.out.push_str(&self.module[inst.mnemonic]);
        for (i, operand) in inst.operands.ids().enumerate() {
            self.out.push_str(if i == 0 { " " } else { ", " });
            self.operand(operand)?;
        }
        self.out.push(';');
        Ok(())
    }

    fn operand(&mut self, id: Id<Operand>) -> fmt::Result {
        let m = self.module;
        let start = self.out.len();
        match m[id] {
            Operand::Name(name) => self.out.push_str(&m[name]),
            Operand::Const(value) => constant(&mut self.out, value)?,
            Operand::Component { name, selector } => {
                self.out.push_str(&m[name]);
                self.out.push('.');
                self.out.push_str(&m[selector]);
            }
            Operand::Offset { name, offset } => {
                self.out.push_str(&m[name]);
                // The `+` is what makes it an offset, so it stays at zero.
                self.out.push('+');
                signed(&mut self.out, offset)?;
            }
            Operand::AddressName(name) => {
                self.out.push('[');
                self.out.push_str(&m[name]);
                self.out.push(']');
            }
            Operand::Address { name, offset } => {
                self.out.push('[');
                self.out.push_str(&m[name]);
                self.out.push('+');
                signed(&mut self.out, offset)?;
                self.out.push(']');
            }
            Operand::AddressConst(address) => {
                self.out.push('[');
                decimal(&mut self.out, address)?;
                self.out.push(']');
            }
            Operand::Bracket(list) => self.operands('[', list, ']')?,
            Operand::Vector(list) => self.operands('{', list, '}')?,
            Operand::Group(list) => self.operands('(', list, ')')?,
            Operand::Index(list) => {
                let (Some(name), Some(index)) = (list.get(0), list.get(1)) else { return Ok(()) };
                self.operand(name)?;
                self.out.push('[');
                self.operand(index)?;
                self.out.push(']');
            }
            Operand::Pair(list) => {
                for (i, half) in list.ids().enumerate() {
                    self.out.push_str(if i == 0 { "" } else { "|" });
                    self.operand(half)?;
                }
            }
            Operand::Not(inner) => {
                self.out.push('!');
                self.operand(inner)?;
            }
            Operand::Unified(inner) => {
                self.operand(inner)?;
                self.out.push_str(".unified");
            }
            Operand::Neg(inner) => {
                self.out.push('-');
                self.operand(inner)?;
            }
        }
        self.place(id, start);
        Ok(())
    }

    fn operands(&mut self, open: char, list: List<Operand>, close: char) -> fmt::Result {
        self.out.push(open);
        for (i, operand) in list.ids().enumerate() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.operand(operand)?;
        }
        self.out.push(close);
        Ok(())
    }
}
