//! The body of a function: scopes, registers, labels and statements.

use super::operand::{Named, width};
use super::{Decoder, Place};
use crate::engine::{FunctionBuilder, Label, Reg, Slot, Width};
use rustc_hash::FxHashMap;
use warpsmith_isa::StateSpace;
use warpsmith_ptx::scope::Binding;
use warpsmith_ptx::{Decl, Declarator, Function, Id, List, Module, Span, Stmt, Symbol};

/// A body being decoded. The builder is taken out of the decoder for as long as a function lasts, so that both can be used.
pub(super) struct Body<'d, 'm> {
    pub decoder: &'d mut Decoder<'m>,
    pub f: FunctionBuilder<'d>,
    /// Variables and parameters of the function.
    pub places: FxHashMap<Id<Declarator>, Place>,
    /// Registers by declarator and number in the family; a vector takes four numbers.
    registers: FxHashMap<(Id<Declarator>, u32), Reg>,
    labels: FxHashMap<Id<Stmt>, Label>,
    /// The carry flag, if an instruction uses it.
    pub carry: Option<Reg>,
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
                        self.places.insert(declarator, Place::KernelParam(offset as u32));
                        offset = offset.saturating_add(self.decoder.bytes(decl, &module[declarator]));
                    } else {
                        match if results { self.f.result(index) } else { self.f.param(index) } {
                            Slot::Reg(r) => {
                                self.registers.insert((declarator, 0), r);
                            }
                            Slot::Stack { offset, bytes } => {
                                let place = Place::Stack { offset: offset.into(), bytes: bytes.into() };
                                self.places.insert(declarator, place);
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
            // Lists are looked at where they are used.
            Stmt::BranchTargets { name, .. } | Stmt::CallTargets { name, .. } => {
                let _ = self.decoder.scopes.declare(name, Binding::List(id));
            }
            Stmt::CallPrototype(prototype) => {
                let name = self.decoder.module[prototype].name;
                let _ = self.decoder.scopes.declare(name, Binding::List(id));
            }
            Stmt::Loc(_) | Stmt::Pragma(_) | Stmt::Target(_) => {}
        }
    }

    fn variables(&mut self, id: Id<Decl>) {
        let module: &'m Module = self.decoder.module;
        let decl = &module[id];
        for declarator_id in decl.names.ids() {
            let declarator = &module[declarator_id];
            match decl.space {
                StateSpace::Reg => {}
                StateSpace::Local | StateSpace::Param => {
                    let bytes = self.decoder.bytes(decl, declarator);
                    let offset = self.f.local(bytes, self.decoder.align(decl));
                    self.places.insert(declarator_id, Place::Stack { offset, bytes });
                }
                _ => {
                    if let Some(place) = self.decoder.static_variable(self.f.program(), decl, declarator) {
                        if let Place::Symbol(symbol) = place {
                            self.decoder.names.insert(declarator.name, symbol);
                        }
                        self.decoder.places.insert(declarator_id, place);
                    }
                }
            }
            self.decoder.bind_variable(id, declarator_id);
        }
    }

    /// The register of a name that is bound to a `.reg` declaration.
    pub(super) fn register(&mut self, name: Symbol, decl: Id<Decl>, declarator: Id<Declarator>) -> Named {
        let module: &'m Module = self.decoder.module;
        let (ty, vector, d) = (module[decl].ty, module[decl].vector, &module[declarator]);
        // `%r7` and `%r07` are the same member of `%r<100>`.
        let number = match d.count {
            Some(_) => module[name][module[d.name].len()..].parse().unwrap_or(0),
            None => 0u32,
        };
        let mut one = |i: u32| {
            let key = (declarator, number.wrapping_mul(u32::from(vector.max(1))).wrapping_add(i));
            *self.registers.entry(key).or_insert_with(|| self.f.reg(width(ty)))
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
            Binding::Label(stmt) => Some(self.label(stmt)),
            _ => None,
        }
    }

    /// An error at the statement at hand.
    pub(super) fn refuse(&mut self, message: impl Into<String>) {
        self.decoder.error_in(self.f.program(), self.span, message);
    }
}
