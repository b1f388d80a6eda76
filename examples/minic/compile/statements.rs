//! Variables and statements.

use super::expressions::{Kind, Operand};
use super::{BOOL, Body, Named, Result, Ty, VOID};
use warpsmith::ir::debug::{ScopeKind, Storage, VariableKind};
use warpsmith::ir::{Extent, Global, InstBuilder, MemFlags, Type, Value};
use warpsmith::isa::StateSpace;

impl<'a> Body<'_, 'a> {
    /// What is built from now on comes from this token.
    pub(super) fn here(&mut self, at: usize) {
        let place = self.front.source.position(self.front.tokens[at].1 as u32);
        self.b.set_location(self.front.file, place.line, place.column, self.scope);
    }

    /// Makes a variable in a stack slot.
    pub(super) fn local(&mut self, at: usize, kind: VariableKind, (ty, name): Named<'a>, value: Value) {
        let slot = self.b.create_typed_slot(self.front.ir(ty), 1);
        let address = self.b.ins().stack_addr(slot, 0);
        self.b.ins().store(MemFlags::PLAIN, value, address, 0);
        self.declare(at, kind, name, (ty, Kind::Memory(address, 0)), Storage::Slot(slot, 0));
    }

    /// From here on a name is that of an operand, and a debugger finds it in a storage.
    fn declare(&mut self, at: usize, kind: VariableKind, name: &'a str, operand: Operand, storage: Storage) {
        let typed = self.b.debug_types().and_then(|mut debug| self.front.debug_type(&mut debug, operand.0));
        if let Some(ty) = typed {
            let variable = self.b.declare_variable(name, kind, ty, self.scope, self.front.declared(at));
            self.b.bind_variable(variable, None, storage);
        }
        self.variables.push((name, operand));
    }

    /// Statements up to the closing brace. Their variables are known in them alone.
    pub(super) fn block(&mut self) -> Result<()> {
        self.scoped(|body| {
            while !body.front.accept("}") {
                body.statement()?;
            }
            Ok(())
        })
    }

    fn scoped(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let (outer, known) = (self.scope, self.variables.len());
        let place = self.front.source.position(self.front.tokens[self.front.next].1 as u32);
        self.scope = self.b.create_scope(ScopeKind::Block, outer, self.front.file, place.line, place.column);
        read(self)?;
        self.variables.truncate(known);
        self.scope = outer;
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        self.nested(|body| {
            body.here(body.front.next);
            match body.front.peek() {
                "{" => body.front.expect("{").and_then(|()| body.block()),
                "if" => body.branch(),
                "for" | "while" => body.scoped(Self::repeat),
                _ => body.simple().and_then(|()| body.front.expect(";")),
            }
        })
    }

    /// A condition behind a keyword, in parentheses.
    fn condition(&mut self) -> Result<Value> {
        self.front.bump();
        self.front.expect("(")?;
        let cond = self.expr_of(BOOL)?;
        self.front.expect(")").map(|()| cond)
    }

    fn branch(&mut self) -> Result<()> {
        let [yes, no, end] = [(); 3].map(|()| self.b.create_block());
        let cond = self.condition()?;
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.enter_block(yes);
        self.statement()?;
        self.b.ins().jump(end, &[]);
        self.b.enter_block(no);
        if self.front.accept("else") {
            self.statement()?;
        }
        self.b.ins().jump(end, &[]);
        self.b.enter_block(end);
        Ok(())
    }

    /// `while (c) s` and `for (a; c; n) s`, whose `n` is read and built before `s`.
    fn repeat(&mut self) -> Result<()> {
        let [head, next, body, end] = [(); 4].map(|()| self.b.create_block());
        let is_for = self.front.bump() == "for";
        self.front.expect("(")?;
        if is_for {
            self.simple()?;
            self.front.expect(";")?;
        }
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let forever = self.front.peek() == ";";
        let cond = if forever { self.b.ins().iconst(Type::I1, 1) } else { self.expr_of(BOOL)? };
        self.b.ins().brif(cond, body, &[], end, &[]);
        self.b.switch_to_block(next);
        if is_for {
            self.front.expect(";")?;
            self.simple()?;
        }
        self.b.ins().jump(head, &[]);
        self.front.expect(")")?;
        self.b.enter_block(body);
        self.loops.push([next, end]);
        self.statement()?;
        self.loops.pop();
        self.b.ins().jump(next, &[]);
        self.b.enter_block(end);
        Ok(())
    }

    /// A statement that ends in a semicolon, without it.
    fn simple(&mut self) -> Result<()> {
        let at = self.front.next;
        match self.front.peek() {
            ";" | ")" => {}
            "return" | "break" | "continue" => self.leave()?,
            "assert" => {
                let cond = self.condition()?;
                let text = self.front.tokens[at + 2].1..self.front.tokens[self.front.next - 1].1;
                self.here(at);
                self.b.ins().assert(cond, &self.front.source.text()[text]);
            }
            "printf" => {
                self.front.bump();
                self.front.expect("(")?;
                let text =
                    self.front.peek().strip_prefix('"').ok_or_else(|| self.front.expected("a text"))?;
                self.front.bump();
                let values = self.arguments(false)?;
                let values: Vec<Value> = values.into_iter().map(|(_, arg)| self.value(arg)).collect();
                self.here(at);
                self.b.ins().printf(&text.trim_end_matches('"').replace("\\n", "\n"), &values);
            }
            _ => self.declaration_or_assignment()?,
        }
        Ok(())
    }

    /// Leaves a loop's turn, a loop or the function. What is behind is built in a block that nothing reaches.
    fn leave(&mut self) -> Result<()> {
        let (at, word) = (self.front.next, self.front.bump());
        if word == "return" {
            let values = if self.ret == VOID { vec![] } else { vec![self.expr_of(self.ret)?] };
            self.b.ins().ret(&values);
        } else {
            let outside = || self.front.error(at, format!("`{word}` outside of a loop"));
            let [next, end] = *self.loops.last().ok_or_else(outside)?;
            self.b.ins().jump(if word == "break" { end } else { next }, &[]);
        }
        let unreached = self.b.create_block();
        self.b.enter_block(unreached);
        Ok(())
    }

    fn declaration_or_assignment(&mut self) -> Result<()> {
        let (at, shared) = (self.front.next, self.front.accept("shared"));
        if !shared && self.front.base().is_none() {
            let (ty, place) = self.expr(0)?;
            if self.front.accept("=") {
                let Kind::Memory(ptr, offset) = place else {
                    return Err(self.front.error(at, "this cannot be assigned"));
                };
                let value = self.expr_of(ty)?;
                self.b.ins().store(MemFlags::PLAIN, value, ptr, offset);
            }
            return Ok(());
        }
        let (ty, name) = self.front.typed_name()?;
        let ir = self.front.ir(ty);
        if !self.front.accept("[") {
            let value = if self.front.accept("=") { self.expr_of(ty)? } else { self.b.ins().zero(ir) };
            self.local(at, VariableKind::Local, (ty, name), value);
            return Ok(());
        }
        let len = self.front.peek().parse().ok().filter(|len| (1..=4096).contains(len));
        let len = len.ok_or_else(|| self.front.expected("1 to 4096"))?;
        self.front.bump();
        self.front.expect("]")?;
        let address = if shared {
            let unique = format!("{name}.{}", self.b.module().globals.len());
            let global = self.b.add_global(Global::new(unique, StateSpace::Shared, ir, Extent::Array(len)));
            self.b.global_addr(global)
        } else {
            let slot = self.b.create_typed_slot(ir, len);
            self.b.ins().stack_addr(slot, 0)
        };
        let address = self.b.ins().addrspacecast(Type::PTR, address);
        let operand = (Ty(ty.0, ty.1 + 1), Kind::Value(address));
        self.declare(at, VariableKind::Local, name, operand, Storage::Value(address));
        Ok(())
    }
}
