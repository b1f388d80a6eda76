//! Types, structs and functions: what stands outside of functions.

use super::{Front, MOST_STARS, Result, Ty, VOID, pointers};
use warpsmith::ir::debug::{Composite, DebugBuilder, Member, VariableKind};
use warpsmith::ir::{DebugTypeId, FuncKind, Function, FunctionBuilder, InstBuilder, Module, Param, Type};

impl<'a> Front<'a> {
    /// The type that begins here, if one does.
    pub(super) fn base(&self) -> Option<usize> {
        self.types.iter().position(|(known, ..)| *known == self.peek())
    }

    pub(super) fn ty(&mut self) -> Result<Ty> {
        let Some(base) = self.base() else { return self.expected("a type") };
        self.bump();
        let mut ty = Ty(base, 0);
        while ty.1 < MOST_STARS && self.accept("*") {
            ty.1 += 1;
        }
        Ok(ty)
    }

    pub(super) fn typed_name(&mut self) -> Result<(Ty, &'a str)> {
        let ty = self.ty()?;
        if ty.0 == VOID.0 { self.expected("a `*` that is not of `void`") } else { Ok((ty, self.name()?)) }
    }

    /// The type of the IR.
    pub(super) fn ir(&self, ty: Ty) -> Type {
        if ty.1 > 0 { Type::PTR } else { self.types[ty.0].1 }
    }

    /// The type that a debugger is told.
    pub(super) fn told(&self, ty: Ty) -> Option<DebugTypeId> {
        self.described[ty.0][usize::from(ty.1)]
    }

    pub(super) fn spelled(&self, ty: Ty) -> String {
        format!("`{}{}`", self.types[ty.0].0, "*".repeat(ty.1.into()))
    }

    pub(super) fn program(&mut self, module: &mut Module) -> Result<()> {
        while !self.peek().is_empty() {
            if !self.accept("struct") {
                self.function(module)?;
                continue;
            }
            let (name, mut fields) = (self.name()?, Vec::new());
            self.expect("{")?;
            while !self.accept("}") {
                fields.push(self.typed_name()?);
                self.expect(";")?;
            }
            let types: Vec<Type> = fields.iter().map(|(ty, _)| self.ir(*ty)).collect();
            let ty = module.types.structure(&types);
            let members = fields.iter().enumerate().filter_map(|(n, (field, name))| {
                let (_, offset) = module.types.field(ty, n as u64)?;
                Some(Member { name: (*name).into(), ty: self.told(*field)?, offset, bits: None })
            });
            let (members, size) = (members.collect(), module.types.size(ty));
            let mut debug = DebugBuilder::new(module);
            let told = debug.composite(Composite::Struct, name, size, members);
            self.described.push(pointers(&mut debug, Some(told)));
            self.types.push((name, ty, fields));
            self.expect(";")?;
        }
        Ok(())
    }

    pub(super) fn function(&mut self, module: &mut Module) -> Result<()> {
        let kernel = self.accept("kernel");
        self.ret = self.ty()?;
        let at = self.next;
        let (name, mut params) = (self.name()?, Vec::new());
        self.expect("(")?;
        while !self.accept(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            params.push(self.typed_name()?);
        }
        let types = params.iter().map(|(ty, _)| match ty {
            Ty(_, 1..) if kernel => Param::new(Type::PTR_GLOBAL),
            ty => Param::new(self.ir(*ty)),
        });
        let kind = if kernel { FuncKind::Kernel } else { FuncKind::Func };
        let returns = if self.ret == VOID { vec![] } else { vec![self.ir(self.ret)] };
        let id = module.add_function(Function::new(name, kind, types.collect(), returns));
        if !kernel {
            let types = params.iter().map(|(ty, _)| *ty).collect();
            self.functions.insert(name, (id, types, self.ret));
        }

        let place = self.declared(at);
        let subprogram = DebugBuilder::new(module).subprogram(self.unit, name, place, None);
        let mut builder = FunctionBuilder::new(module, id);
        let b = &mut builder;
        let entry = b.entry_block();
        self.scope = b.set_subprogram(subprogram);
        self.here(b, at);
        self.scopes.push(vec![]);
        for (n, ((ty, name), value)) in (1..).zip(params.into_iter().zip(b.block_params(entry).to_vec())) {
            let value = if kernel && ty.1 > 0 { b.ins().addrspacecast(Type::PTR, value) } else { value };
            self.declare(b, at, VariableKind::Parameter(n), name, ty, value);
        }
        self.expect("{")?;
        self.block(b)?;
        self.scopes.pop();
        if self.ret == VOID {
            b.ins().ret(&[])
        } else {
            b.ins().trap()
        };
        builder.finalize().or_else(|errors| self.fail(at, errors.to_string()))
    }
}
