//! Variables and their scopes, for the program and for a debugger, and the places of what is built.

use super::{Builder, Front, Kind, Operand, Result, Ty};
use warpsmith::ir::debug::{Declared, ScopeKind, Storage, VariableKind};
use warpsmith::ir::{Block, EntityRef, FileId, InstBuilder, MemFlags, StackSlot, Value};

impl<'a> Front<'a> {
    /// What is built from now on comes from this token.
    pub(super) fn here(&self, b: &mut Builder, at: usize) {
        let place = self.source.position(self.tokens[at].1 as u32);
        b.set_location(FileId::new(0), place.line, place.column, self.scope);
    }

    pub(super) fn declared(&self, at: usize) -> Declared {
        let place = self.source.position(self.tokens[at].1 as u32);
        Declared { file: FileId::new(0), line: place.line }
    }

    /// Reads something whose variables are known in it alone.
    pub(super) fn scoped(
        &mut self,
        b: &mut Builder,
        read: impl FnOnce(&mut Self, &mut Builder) -> Result<()>,
    ) -> Result<()> {
        let (outer, place) = (self.scope, self.source.position(self.tokens[self.next].1 as u32));
        self.scope = b.create_scope(ScopeKind::Block, outer, FileId::new(0), place.line, place.column);
        self.scopes.push(vec![]);
        read(self, b)?;
        self.scopes.pop();
        self.scope = outer;
        Ok(())
    }

    /// Goes on in a block that all branches to are known of.
    pub(super) fn enter(&self, b: &mut Builder, block: Block) {
        b.seal_block(block);
        b.switch_to_block(block);
    }

    pub(super) fn declare(
        &mut self,
        b: &mut Builder,
        at: usize,
        kind: VariableKind,
        name: &'a str,
        ty: Ty,
        value: Value,
    ) {
        let (slot, address) = self.slot(b, ty, 1);
        b.ins().store(MemFlags::PLAIN, value, address, 0);
        self.tell(b, at, kind, name, ty, Storage::Slot(slot, 0));
        self.bind(name, (ty, Kind::Memory(address, 0)));
    }

    /// Tells a debugger of a variable, and where it is from here on.
    pub(super) fn tell(
        &self,
        b: &mut Builder,
        at: usize,
        kind: VariableKind,
        name: &str,
        ty: Ty,
        storage: Storage,
    ) {
        if let Some(ty) = self.told(ty) {
            let variable = b.declare_variable(name, kind, ty, self.scope, self.declared(at));
            b.bind_variable(variable, None, storage);
        }
    }

    pub(super) fn slot(&self, b: &mut Builder, ty: Ty, len: u64) -> (StackSlot, Value) {
        let types = &b.module().types;
        let (size, align) = (types.size(self.ir(ty)) * len, types.align(self.ir(ty)));
        let slot = b.create_stack_slot(size as u32, align);
        (slot, b.ins().stack_addr(slot, 0))
    }

    pub(super) fn bind(&mut self, name: &'a str, operand: Operand) {
        self.scopes.last_mut().expect("functions have a scope").push((name, operand));
    }
}
