//! Instructions and their operands.

use super::*;

impl Writer<'_> {
    pub(super) fn instruction(&mut self, mnemonic: Mnemonic, operands: &[mach::Operand]) {
        let mut list = std::mem::take(&mut self.operands);
        list.clear();
        let mut operands = operands.iter();
        while let Some(operand) = self.operand(&mut operands) {
            list.push(operand);
        }
        // A copy whose two ends were given one register.
        let idle = mnemonic.opcode() == Opcode::Mov && matches!(list[..], [to, from] if to == from);
        if !idle {
            self.push(None, mnemonic, &list);
        }
        self.operands = list;
    }

    /// The next operand, with its parts.
    pub(super) fn operand(&mut self, operands: &mut std::slice::Iter<'_, mach::Operand>) -> Option<Operand> {
        Some(match *operands.next()? {
            mach::Operand::Def(v) | mach::Operand::Use(v) | mach::Operand::Update(v) => {
                Operand::Name(self.reg(v))
            }
            mach::Operand::Neg(v) => {
                let name = Operand::Name(self.reg(v));
                self.body.tree.neg(name)
            }
            mach::Operand::Part(v, part) | mach::Operand::DefPart(v, part) => {
                let name = self.reg(v);
                Operand::Component { name, selector: self.body.tree.name(part.name()) }
            }
            mach::Operand::Not(v) => {
                let name = Operand::Name(self.reg(v));
                self.body.tree.not(name)
            }
            mach::Operand::Int(value) => Operand::Const(Const::int(value)),
            mach::Operand::F32(bits) => Operand::Const(Const::F32(bits)),
            mach::Operand::F64(bits) => Operand::Const(Const::F64(bits)),
            mach::Operand::Special(register) => self.special(register),
            mach::Operand::Addr(Base::Absolute, offset) => Operand::AddressConst(offset as u64),
            mach::Operand::Addr(base, offset) => Operand::address(self.base(base), offset),
            mach::Operand::Symbol(base, 0) => Operand::Name(self.base(base)),
            mach::Operand::Symbol(base, offset) => Operand::Offset { name: self.base(base), offset },
            mach::Operand::Sink => Operand::Name(Symbol::SINK),
            mach::Operand::Vector(count) => self.composite(operands, count.into(), Module::vector)?,
            mach::Operand::Bracket(count) => {
                let bracket =
                    |tree: &mut Module, parts: &[Operand]| Operand::Bracket(tree.operand_list(parts));
                self.composite(operands, count.into(), bracket)?
            }
            mach::Operand::Pair => {
                self.composite(operands, 2, |tree, parts| tree.pair(parts[0], parts[1]))?
            }
        })
    }

    fn composite(
        &mut self,
        operands: &mut std::slice::Iter<'_, mach::Operand>,
        count: usize,
        make: impl FnOnce(&mut Module, &[Operand]) -> Operand,
    ) -> Option<Operand> {
        let mut parts = smallvec::SmallVec::<[Operand; 8]>::new();
        for _ in 0..count {
            parts.push(self.operand(operands)?);
        }
        Some(make(self.body.tree, &parts))
    }

    /// `%tid.x` is a component of `%tid`.
    pub(super) fn special(&mut self, register: ir::Sreg) -> Operand {
        let tree = &mut *self.body.tree;
        let name = tree.name(register.reg().name());
        match register.component() {
            Some(component) => {
                Operand::Component { name, selector: tree.name(["x", "y", "z"][component as usize % 3]) }
            }
            None => Operand::Name(name),
        }
    }

    pub(super) fn base(&mut self, base: Base) -> Symbol {
        match base {
            Base::Reg(v) => self.reg(v),
            Base::Global(global) => self.body.names.globals[global],
            Base::Func(func) => self.body.names.functions[func],
            Base::Param(index) => self.body.params.get(index as usize).copied().unwrap_or(Symbol::SINK),
            Base::Return => self.body.result.unwrap_or(Symbol::SINK),
            Base::Stack(slot) => match self.slots[slot] {
                Some(name) => name,
                None => {
                    let mut name =
                        self.body.func.names.get(slot).map_or_else(|| slot.to_string(), str::to_string);
                    if self.body.debug == Debug::Full {
                        // Debug information names it from outside of the function.
                        name = format!("{}_{name}", self.body.func.name);
                    }
                    let name = self.body.names.unique(self.body.tree, &format!("__local_{name}"));
                    self.slots[slot] = Some(name);
                    name
                }
            },
            Base::Copy(index) => match self.copies.get(index as usize).copied() {
                Some(Some(name)) => name,
                Some(None) => {
                    let name = self.body.names.unique(self.body.tree, &format!("__param_{index}"));
                    self.copies[index as usize] = Some(name);
                    name
                }
                None => Symbol::SINK,
            },
            // Written without a name by `operand`.
            Base::Absolute => Symbol::SINK,
        }
    }

    // Calls.

    /// `{ .param ...; st.param ...; call (retval0), f, (param0, ...); ld.param ...; }`, for a call through an address with a
    /// `.callprototype` in front.
    pub(super) fn call(
        &mut self,
        callee: Operand,
        prototype: &Prototype,
        indirect: Option<u32>,
        operands: &[mach::Operand],
    ) {
        let mut regs = operands.iter().copied();
        self.begin_instruction();
        self.stmts.push(Stmt::Open);
        let mut arguments = Vec::with_capacity(prototype.params.len());
        for (i, passing) in prototype.params.iter().enumerate() {
            arguments.push((self.variable(&format!("param{i}"), passing), passing));
        }
        let result = prototype.ret.as_ref().map(|passing| (self.variable("retval0", passing), passing));
        let results: Vec<mach::Operand> =
            regs.by_ref().take(result.map_or(0, |(_, passing)| passing.accesses.len())).collect();
        for (name, passing) in &arguments {
            for (&(at, ty), operand) in passing.accesses.iter().zip(regs.by_ref()) {
                let Some(value) = self.operand(&mut [operand].iter()) else { continue };
                self.push(
                    None,
                    ptx!(St.Param).with(Mod::of_scalar(ty)),
                    &[Operand::address(*name, at.into()), value],
                );
            }
        }
        let list = indirect.map(|index| self.prototype(prototype, index));
        let mut call = Vec::with_capacity(4);
        if let Some((name, _)) = result {
            call.push(Operand::Group(self.body.tree.operand_list(&[Operand::Name(name)])));
        }
        call.push(callee);
        if !arguments.is_empty() || result.is_some() {
            let names: Vec<Operand> = arguments.iter().map(|&(name, _)| Operand::Name(name)).collect();
            call.push(Operand::Group(self.body.tree.operand_list(&names)));
        }
        call.extend(list.map(Operand::Name));
        self.push(None, ptx!(Call), &call);
        if let Some((name, passing)) = result {
            for (&(at, ty), operand) in passing.accesses.iter().zip(results) {
                let Some(value) = self.operand(&mut [operand].iter()) else { continue };
                self.push(
                    None,
                    ptx!(Ld.Param).with(Mod::of_scalar(ty)),
                    &[value, Operand::address(name, at.into())],
                );
            }
        }
        self.stmts.push(Stmt::Close);
    }

    /// `prototype_0: .callprototype (.param .b32 _) _ (.param .b64 _);`
    pub(super) fn prototype(&mut self, prototype: &Prototype, index: u32) -> Symbol {
        let name = self.body.names.scoped(self.body.tree, &format!("prototype_{index}"));
        let mut decls = |all: &mut dyn Iterator<Item = &Passing>| {
            let decls: Vec<_> =
                all.map(|passing| crate::module::param_decl(self.body.tree, Symbol::SINK, passing)).collect();
            self.body.tree.decl_list(&decls)
        };
        let returns = decls(&mut prototype.ret.iter());
        let params = decls(&mut prototype.params.iter());
        let prototype = warpsmith_ptx::Prototype { name, returns, params, directives: List::default() };
        let prototype = self.body.tree.push_prototype(prototype);
        self.stmts.push(Stmt::CallPrototype(prototype));
        name
    }

    pub(super) fn variable(&mut self, name: &str, passing: &Passing) -> Symbol {
        let name = self.body.names.scoped(self.body.tree, name);
        let decl = crate::module::param_decl(self.body.tree, name, passing);
        let decl = self.body.tree.push_decl(decl);
        self.stmts.push(Stmt::Decl(decl));
        name
    }
}
