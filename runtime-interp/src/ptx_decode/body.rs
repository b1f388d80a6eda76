//! The body of a function: scopes, registers, labels and statements.

use super::operand::{Named, width};
use super::{Decoder, Place};
use crate::engine::{FunctionBuilder, Label, Reg, Slot, Width};
use rustc_hash::FxHashMap;
use warpsmith_diag::Span;
use warpsmith_isa::StateSpace;
use warpsmith_ptx::scope::Binding;
use warpsmith_ptx::{Decl, Declarator, Function, Id, Linkage, List, Module, Stmt, Symbol};

/// A body being decoded. The builder is taken out of the decoder for as long as a function lasts, so that both can be used.
pub(super) struct Body<'d, 'm> {
    pub decoder: &'d mut Decoder<'m>,
    pub f: FunctionBuilder<'d>,
    /// Variables and parameters of the function, with their numbers in `x<4>`.
    pub places: FxHashMap<(Id<Declarator>, u32), Place>,
    /// Registers by declarator and number in the family; a vector takes four numbers.
    registers: FxHashMap<(Id<Declarator>, u32), Reg>,
    labels: FxHashMap<Id<Stmt>, Label>,
    /// The carry flag, if an instruction uses it.
    pub carry: Option<Reg>,
    /// The statement at hand was refused with a reason.
    pub refused: bool,
    /// Where the statement at hand is.
    pub span: Span,
    /// The mnemonic of the instruction at hand.
    pub mnemonic: &'m str,
    /// The width of literals whose operand does not say it.
    pub literal_width: Width,
}

impl<'m> Decoder<'m> {
    /// Binds a variable in the scope at hand. Validated: its name is free there.
    pub(super) fn bind_variable(&mut self, decl: Id<Decl>, declarator: Id<Declarator>) {
        let module: &'m Module = self.module;
        let d = &module[declarator];
        if d.name == Symbol::SINK {
            return;
        }
        let binding = Binding::Variable(decl, declarator);
        let _ = match d.count {
            None => self.scopes.declare(d.name, binding),
            Some(count) => self.scopes.declare_family(d.name, count, binding),
        };
    }

    pub(super) fn body(&mut self, function: &Function, body: List<Stmt>) {
        let module: &'m Module = self.module;
        let Some(known) = self.functions.get(&function.name) else { return };
        let (id, kernel) = (known.id, known.kernel);
        let mut program = std::mem::take(&mut self.program);
        let mut this = Body {
            f: program.body(id),
            decoder: self,
            places: FxHashMap::default(),
            registers: FxHashMap::default(),
            labels: FxHashMap::default(),
            carry: None,
            refused: false,
            span: function.span,
            mnemonic: "",
            literal_width: Width::W32,
        };
        this.decoder.scopes.open_function(body);
        this.bind_params(function, kernel);
        this.decoder.scopes.declare_labels();
        for id in body.ids() {
            this.span = module.stmt_span(id);
            this.statement(id, &module[id]);
        }
        this.decoder.scopes.close();
        this.f.finish();
        self.program = program;
    }
}

impl<'m> Body<'_, 'm> {
    fn bind_params(&mut self, function: &Function, kernel: bool) {
        let module: &'m Module = self.decoder.module;
        let mut offset = 0u64;
        for (list, results) in [(function.returns, true), (function.params, false)] {
            let mut index = 0;
            for decl_id in list.ids() {
                let decl = &module[decl_id];
                for declarator in decl.names.ids() {
                    if kernel {
                        offset = offset.next_multiple_of(self.decoder.align(decl));
                        self.places.insert((declarator, 0), Place::KernelParam(offset as u32));
                        offset = offset.saturating_add(self.decoder.bytes(decl, &module[declarator]));
                    } else {
                        match if results { self.f.result(index) } else { self.f.param(index) } {
                            Slot::Reg(r) => {
                                self.registers.insert((declarator, 0), r);
                                self.f.name(r, &module[module[declarator].name], decl.ty);
                            }
                            Slot::Stack { offset, bytes } => {
                                let name = &module[module[declarator].name];
                                self.f.name_local(offset.into(), bytes.into(), name);
                                let place = Place::Stack { offset: offset.into(), bytes: bytes.into() };
                                self.places.insert((declarator, 0), place);
                            }
                        }
                    }
                    self.decoder.bind_variable(decl_id, declarator);
                    index += 1;
                }
            }
        }
    }

    fn statement(&mut self, id: Id<Stmt>, stmt: &Stmt) {
        match *stmt {
            Stmt::Open => {
                self.decoder.scopes.open();
                self.decoder.scopes.declare_labels();
            }
            Stmt::Close => self.decoder.scopes.close(),
            Stmt::Decl(decl) => self.variables(decl),
            Stmt::Label(_) => {
                let label = self.label(id);
                self.f.bind(label);
            }
            Stmt::Inst(inst) => self.instruction(&inst),
            // Lists are looked at where they are used; the name of one is also a label.
            Stmt::BranchTargets { name, .. } | Stmt::CallTargets { name, .. } => self.list(id, name),
            Stmt::CallPrototype(prototype) => {
                let name = self.decoder.module[prototype].name;
                self.list(id, name);
            }
            Stmt::Loc(_) | Stmt::Pragma(_) | Stmt::Target(_) => {}
        }
    }

    fn list(&mut self, id: Id<Stmt>, name: Symbol) {
        let _ = self.decoder.scopes.declare(name, Binding::List(id));
        let label = self.label(id);
        self.f.bind(label);
    }

    fn variables(&mut self, id: Id<Decl>) {
        let module: &'m Module = self.decoder.module;
        let decl = &module[id];
        for declarator_id in decl.names.ids() {
            let declarator = &module[declarator_id];
            // The members of `x<4>` are placed where they are named.
            if declarator.count.is_none() && decl.space != StateSpace::Reg {
                self.place(id, declarator_id, declarator.name);
            }
            self.decoder.bind_variable(id, declarator_id);
        }
    }

    /// Gives a variable of the function its memory.
    fn place(&mut self, decl: Id<Decl>, declarator: Id<Declarator>, name: Symbol) -> Option<Place> {
        let module: &'m Module = self.decoder.module;
        let (decl, number) = (&module[decl], self.decoder.number(declarator, name));
        match decl.space {
            StateSpace::Local | StateSpace::Param => {
                let bytes = self.decoder.bytes(decl, &module[declarator]);
                let offset = self.f.local(bytes, self.decoder.align(decl));
                self.f.name_local(offset, bytes, &module[name]);
                let place = Place::Stack { offset, bytes };
                self.places.insert((declarator, number), place);
                Some(place)
            }
            _ => self.decoder.place(self.f.program(), decl, declarator, name),
        }
    }

    /// Where a variable is. Members of `x<4>` get their memory when they are first named.
    pub(super) fn variable(&mut self, decl: Id<Decl>, declarator: Id<Declarator>, name: Symbol) -> Named {
        let module: &'m Module = self.decoder.module;
        let key = (declarator, self.decoder.number(declarator, name));
        if let Some(place) = self.places.get(&key).or_else(|| self.decoder.places.get(&key)) {
            return Named::Variable(*place);
        }
        if module[declarator].count.is_some()
            && let Some(place) = self.place(decl, declarator, name)
        {
            return Named::Variable(place);
        }
        let text = &module[name];
        if module[decl].linkage == Linkage::Extern {
            self.refuse(format!("`{text}` is declared .extern and defined nowhere"));
        }
        Named::Other
    }

    /// The register of a name that is bound to a `.reg` declaration.
    pub(super) fn register(&mut self, name: Symbol, decl: Id<Decl>, declarator: Id<Declarator>) -> Named {
        let module: &'m Module = self.decoder.module;
        let (ty, vector) = (module[decl].ty, module[decl].vector);
        let number = self.decoder.number(declarator, name);
        let mut one = |i: u32| {
            let key = (declarator, number.wrapping_mul(u32::from(vector.max(1))).wrapping_add(i));
            *self.registers.entry(key).or_insert_with(|| {
                let reg = self.f.reg(width(ty));
                let component = if vector > 1 { [".x", ".y", ".z", ".w"][i as usize & 3] } else { "" };
                self.f.name(reg, [&module[name], component].concat(), ty);
                reg
            })
        };
        match vector {
            0 | 1 => Named::Reg(one(0), ty),
            n => {
                let regs =
                    std::array::from_fn(|i| if i < usize::from(n) { one(i as u32) } else { Reg::ZERO });
                Named::Vector(regs, n.min(4), ty)
            }
        }
    }

    pub(super) fn label(&mut self, stmt: Id<Stmt>) -> Label {
        *self.labels.entry(stmt).or_insert_with(|| self.f.label())
    }

    /// The label that a name means.
    pub(super) fn label_named(&mut self, name: Symbol) -> Option<Label> {
        match self.decoder.scopes.lookup(name)?.binding {
            Binding::Label(stmt) | Binding::List(stmt) => Some(self.label(stmt)),
            _ => None,
        }
    }

    /// An error at the statement at hand.
    pub(super) fn refuse(&mut self, message: impl Into<String>) {
        self.refused = true;
        self.decoder.error_in(self.f.program(), self.span, message);
    }
}
