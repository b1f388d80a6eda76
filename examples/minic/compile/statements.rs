//! Statements: each is built as it is read.

use super::{Builder, Front, Kind, Result, Ty, VOID};
use warpsmith::ir::debug::{Storage, VariableKind};
use warpsmith::ir::{Extent, Global, InstBuilder, MemFlags, Type};
use warpsmith::isa::StateSpace;

impl<'a> Front<'a> {
    pub(super) fn block(&mut self, b: &mut Builder) -> Result<()> {
        self.scoped(b, |front, b| {
            while !front.accept("}") {
                front.statement(b)?;
            }
            Ok(())
        })
    }

    pub(super) fn statement(&mut self, b: &mut Builder) -> Result<()> {
        self.nested(|front| {
            front.here(b, front.next);
            match front.peek() {
                "{" => front.expect("{").and_then(|()| front.block(b)),
                "if" => front.branch(b),
                "for" | "while" => front.scoped(b, Self::repeat),
                _ => front.simple(b).and_then(|()| front.expect(";")),
            }
        })
    }

    pub(super) fn branch(&mut self, b: &mut Builder) -> Result<()> {
        let [yes, no, end] = [(); 3].map(|()| b.create_block());
        self.bump();
        self.expect("(")?;
        let cond = self.condition(b)?;
        self.expect(")")?;
        b.ins().brif(cond, yes, &[], no, &[]);
        self.enter(b, yes);
        self.statement(b)?;
        b.ins().jump(end, &[]);
        self.enter(b, no);
        if self.accept("else") {
            self.statement(b)?;
        }
        b.ins().jump(end, &[]);
        self.enter(b, end);
        Ok(())
    }

    /// `while (c) s` and `for (a; c; n) s`, whose `n` is read and built before `s`.
    pub(super) fn repeat(&mut self, b: &mut Builder) -> Result<()> {
        let [head, body, end] = [(); 3].map(|()| b.create_block());
        let is_for = self.bump() == "for";
        self.expect("(")?;
        if is_for {
            self.simple(b)?;
            self.expect(";")?;
        }
        b.ins().jump(head, &[]);
        b.switch_to_block(head);
        let cond = if self.peek() == ";" { b.ins().iconst(Type::I1, 1) } else { self.condition(b)? };
        b.ins().brif(cond, body, &[], end, &[]);
        let mut next = head;
        if is_for {
            self.expect(";")?;
            next = b.create_block();
            b.switch_to_block(next);
            self.simple(b)?;
            b.ins().jump(head, &[]);
        }
        self.expect(")")?;
        self.enter(b, body);
        self.loops.push([next, end]);
        self.statement(b)?;
        self.loops.pop();
        b.ins().jump(next, &[]);
        b.seal_block(next);
        b.seal_block(head);
        self.enter(b, end);
        Ok(())
    }

    /// A statement that ends in a semicolon, without it. Nothing reaches what is behind a jump; it is built all the same.
    pub(super) fn simple(&mut self, b: &mut Builder) -> Result<()> {
        let at = self.next;
        match self.peek() {
            ";" | ")" => return Ok(()),
            "return" => {
                self.bump();
                let values = if self.ret == VOID { vec![] } else { vec![self.expr_of(b, self.ret)?] };
                b.ins().ret(&values);
            }
            word @ ("break" | "continue") => {
                self.bump();
                let Some([next, end]) = self.loops.last() else {
                    return self.fail(at, format!("`{word}` outside of a loop"));
                };
                b.ins().jump(if word == "break" { *end } else { *next }, &[]);
            }
            "assert" => {
                self.bump();
                let start = self.tokens[self.next].1 + 1;
                self.expect("(")?;
                let cond = self.condition(b)?;
                let message = &self.source.text()[start..self.tokens[self.next].1];
                self.here(b, at);
                b.ins().assert(cond, message);
                return self.expect(")");
            }
            "shared" => return self.declaration(b),
            _ if self.base().is_some() => return self.declaration(b),
            _ => {
                let (ty, place) = self.expr(b)?;
                if self.accept("=") {
                    let Kind::Memory(ptr, offset) = place else {
                        return self.fail(at, "this cannot be assigned");
                    };
                    let value = self.expr_of(b, ty)?;
                    b.ins().store(MemFlags::PLAIN, value, ptr, offset);
                }
                return Ok(());
            }
        }
        let unreached = b.create_block();
        self.enter(b, unreached);
        Ok(())
    }

    pub(super) fn declaration(&mut self, b: &mut Builder) -> Result<()> {
        let (at, shared) = (self.next, self.accept("shared"));
        let (ty, name) = self.typed_name()?;
        if !self.accept("[") {
            let value = match self.accept("=") {
                true => self.expr_of(b, ty)?,
                false => b.ins().zero(self.ir(ty)),
            };
            self.declare(b, at, VariableKind::Local, name, ty, value);
            return Ok(());
        }
        let Ok(len @ 1..=4096) = self.peek().parse::<u64>() else { return self.expected("1 to 4096") };
        self.bump();
        self.expect("]")?;
        let address = if shared {
            let unique = format!("{name}.{}", b.module().globals.len());
            let global = Global::new(unique, StateSpace::Shared, self.ir(ty), Extent::Array(len));
            let global = b.add_global(global);
            b.global_addr(global)
        } else {
            self.slot(b, ty, len).1
        };
        let address = b.ins().addrspacecast(Type::PTR, address);
        let ty = Ty(ty.0, ty.1 + 1);
        self.tell(b, at, VariableKind::Local, name, ty, Storage::Value(address));
        self.bind(name, (ty, Kind::Value(address)));
        Ok(())
    }
}
