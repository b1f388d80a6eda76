//! The body of a function: scopes, registers, labels and statements.

use super::operand::{Named, width};
use super::{Decoder, Place};
use crate::engine::{FunctionBuilder, Label, Reg, Slot, Width};
use warpsmith_base::FxHashMap;
use warpsmith_diag::Span;
use warpsmith_isa::memory::Layout;
use warpsmith_isa::{StateSpace, TypeClass};
use warpsmith_ptx::scope::{Binding, Clash};
use warpsmith_ptx::{Decl, Declarator, Function, Id, Linkage, List, Module, Pragma, Stmt, Symbol};

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
    /// What a `.pragma "used_bytes_mask"` says of the load that follows it.
    pub used_bytes: Option<u32>,
    /// The width of literals whose operand does not say it.
    pub literal_width: Width,
}

impl<'m> Decoder<'m> {
    pub(super) fn body(&mut self, function_id: Id<Function>, function: &Function, body: List<Stmt>) {
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
            used_bytes: None,
            literal_width: Width::W32,
        };
        let clashes = this.decoder.scopes.enter(function_id);
        this.clashes(clashes);
        this.place_params(function, kernel);
        for id in body.ids() {
            this.span = module.stmt_span(id);
            this.statement(id, &module[id]);
        }
        this.decoder.scopes.leave();
        this.f.finish();
        self.program = program;
    }
}

impl<'m> Body<'_, 'm> {
    /// Follows a statement that opens or closes a scope or binds a name.
    fn bind(&mut self, id: Id<Stmt>) {
        let clashes = self.decoder.scopes.follow(id);
        self.clashes(clashes);
    }

    fn clashes(&mut self, clashes: Vec<Clash>) {
        for clash in clashes {
            let (span, message) = self.decoder.clash(&clash);
            self.decoder.error_in(self.f.program(), span, message);
        }
    }

    /// Gives the parameters of the function their places: those of a kernel lie in their own memory, others where a call puts them.
    fn place_params(&mut self, function: &Function, kernel: bool) {
        let module: &'m Module = self.decoder.module;
        let mut layout = Layout::default();
        for (list, results) in [(function.returns, true), (function.params, false)] {
            let mut index = 0;
            for decl in &module[list] {
                for declarator in decl.names.ids() {
                    if kernel {
                        let bytes = self.decoder.bytes(decl, &module[declarator]);
                        let offset = layout.place(bytes, self.decoder.align(decl));
                        let offset = offset as u32;
                        let place = match decl.ty.class() {
                            TypeClass::Opaque => Place::OpaqueParam(offset),
                            TypeClass::Pred
                            | TypeClass::Bits
                            | TypeClass::Unsigned
                            | TypeClass::Signed
                            | TypeClass::Float
                            | TypeClass::Packed => Place::KernelParam(offset),
                        };
                        self.places.insert((declarator, 0), place);
                        continue;
                    }
                    let in_registers = decl.space == StateSpace::Reg;
                    for element in 0..if in_registers { u32::from(decl.vector.max(1)) } else { 1 } {
                        let slot = if results { self.f.result(index) } else { self.f.param(index) };
                        self.place_param(slot, decl, declarator, element);
                        index += 1;
                    }
                }
            }
        }
    }

    /// A parameter of a device function, or an element of one that is a vector register.
    fn place_param(&mut self, slot: Slot, decl: &Decl, declarator: Id<Declarator>, element: u32) {
        let module: &'m Module = self.decoder.module;
        let name = &module[module[declarator].name];
        let declared = self.decoder.declared_at(declarator);
        match slot {
            Slot::Reg(r) => {
                self.registers.insert((declarator, element), r);
                self.f.name(r, [name, component_of(decl.vector, element)].concat(), decl.ty, declared);
            }
            Slot::Stack { offset, bytes } => {
                self.f.name_local(offset.into(), bytes.into(), name, declared);
                let place = Place::Stack { offset: offset.into(), bytes: bytes.into() };
                self.places.insert((declarator, 0), place);
            }
        }
    }

    fn statement(&mut self, id: Id<Stmt>, stmt: &Stmt) {
        match *stmt {
            Stmt::Open | Stmt::Close => self.bind(id),
            Stmt::Decl(decl) => {
                self.variables(decl);
                self.bind(id);
            }
            Stmt::Label(_) => {
                let label = self.label(id);
                self.f.bind(label);
            }
            Stmt::Inst(inst) => self.instruction(id, &inst),
            // Lists are looked at where they are used; the name of one is also a label.
            Stmt::BranchTargets { .. } | Stmt::CallTargets { .. } | Stmt::CallPrototype(_) => {
                self.bind(id);
                let label = self.label(id);
                self.f.bind(label);
            }
            Stmt::Pragma(strings) => self.pragmas(strings),
            Stmt::Loc(_) | Stmt::LocIntermediate(_) | Stmt::Target(_) => {}
        }
    }

    fn pragmas(&mut self, strings: List<Symbol>) {
        let module: &'m Module = self.decoder.module;
        for string in &module[strings] {
            match Pragma::parse(&module[*string]) {
                Ok(Pragma::UsedBytesMask(mask)) => self.used_bytes = Some(mask),
                // The others are hints to a compiler, and so is one that nobody knows.
                Ok(
                    Pragma::NoUnroll
                    | Pragma::EnableSmemSpilling
                    | Pragma::MmaThroughput
                    | Pragma::Frequency(_),
                )
                | Err(_) => {}
            }
        }
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
                let declared = self.decoder.declared_at(declarator);
                self.f.name_local(offset, bytes, &module[name], declared);
                let place = Place::Stack { offset, bytes };
                self.places.insert((declarator, number), place);
                Some(place)
            }
            StateSpace::Generic
            | StateSpace::Reg
            | StateSpace::Sreg
            | StateSpace::Const
            | StateSpace::Global
            | StateSpace::Shared
            | StateSpace::Tex => self.decoder.place(self.f.program(), decl, declarator, name),
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
        let declared = self.decoder.declared_at(declarator);
        let mut one = |i: u32| {
            let key = (declarator, number.wrapping_mul(u32::from(vector.max(1))).wrapping_add(i));
            *self.registers.entry(key).or_insert_with(|| {
                let reg = self.f.reg(width(ty));
                self.f.name(reg, [&module[name], component_of(vector, i)].concat(), ty, declared);
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
            Binding::Variable(..) | Binding::Function(_) | Binding::Special(_) => None,
        }
    }

    /// An error at the statement at hand.
    pub(super) fn refuse(&mut self, message: impl Into<String>) {
        self.refused = true;
        self.decoder.error_in(self.f.program(), self.span, message);
    }
}

/// What follows the name of a vector register in that of an element.
fn component_of(vector: u8, element: u32) -> &'static str {
    match vector {
        0 | 1 => "",
        _ => [".x", ".y", ".z", ".w"][element as usize & 3],
    }
}
