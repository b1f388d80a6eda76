//! Instructions: names are looked up, then the tables judge ([`Resolved::check`]).

use super::{KnownMnemonic, Validator};
use crate::codes;
use crate::scope::{Binding, Bound};
use crate::tree::*;
use smallvec::SmallVec;
use std::cell::OnceCell;
use warpsmith_isa as isa;
use warpsmith_isa::diagnostic::{Diagnostic, Span};
use warpsmith_isa::{
    Base, FloatKind, Mnemonic, Place, Resolved, ScalarType, StateSpace, Variable, Violation,
};

/// What is special about an instruction for this validator.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Plain,
    /// Judged against the signature of what is called.
    Call,
    /// `ld`: no return parameters.
    Load,
    /// `st`: no input parameters.
    Store,
    /// `mov`: takes addresses.
    Move,
    /// `brx.idx`: takes lists of branch targets.
    BranchIndexed,
}

impl<'m> Validator<'m> {
    pub(super) fn inst(&mut self, id: Id<Stmt>, inst: Inst) {
        if let Some(guard) = inst.guard {
            self.guard(guard, id);
        }
        let index = inst.mnemonic.index();
        if !self.mnemonics[index].seen {
            self.mnemonics[index] = self.resolve(inst.mnemonic);
        }
        let kind = self.mnemonics[index].kind;
        if kind == Kind::Call {
            return self.call(id, inst);
        }
        match kind {
            Kind::Load | Kind::Store => self.parameter_use(kind, inst),
            Kind::Move => {
                self.parameter_use(kind, inst);
                self.moved_address(inst);
            }
            Kind::BranchIndexed => self.branch_list(inst),
            Kind::Plain | Kind::Call => {}
        }
        if let Some(problem) = &self.mnemonics[index].problem {
            let span = self.mnemonic_span(id, inst);
            let problem = Diagnostic { span, ..problem.clone() };
            self.report(problem);
            return;
        }
        // The borrow of the table must not outlive the look-ups, which write to caches.
        let Some(resolved) = self.mnemonics[index].resolved.take() else { return };
        let violations = self.judge(&resolved, inst);
        self.mnemonics[index].resolved = Some(resolved);
        for violation in violations {
            self.violation(id, inst, violation);
        }
    }

    fn resolve(&self, id: MnemonicId) -> KnownMnemonic {
        let text = &self.m[id];
        let opcode = text.split('.').next().unwrap_or("");
        let kind = match opcode {
            "call" => Kind::Call,
            "ld" => Kind::Load,
            "st" => Kind::Store,
            "mov" => Kind::Move,
            "brx" => Kind::BranchIndexed,
            _ => Kind::Plain,
        };
        let (resolved, problem) = match Mnemonic::parse(text) {
            Ok(mnemonic) => (Some(Resolved::new(&mnemonic, self.context)), None),
            Err(error) => (None, Some(Diagnostic::error(codes::MNEMONIC, Span::NONE, error.to_string()))),
        };
        KnownMnemonic { seen: true, resolved, problem, kind }
    }

    fn guard(&mut self, guard: Guard, id: Id<Stmt>) {
        let name = guard.predicate();
        let span = self.m.stmt_span(id);
        let fine = match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Variable(decl, _)) => {
                let decl = &self.m[decl];
                decl.space == StateSpace::Reg && decl.ty == ScalarType::Pred
            }
            Some(Binding::Special(reg)) => reg.ty() == ScalarType::Pred,
            Some(_) => false,
            None => return self.unknown_name(name, span),
        };
        if !fine {
            let message =
                format!("`{}` is no predicate register, so it cannot guard an instruction", self.name(name));
            self.error(codes::GUARD, span, message);
        }
    }

    /// The rules about parameters that no table of instructions can know (manual 5.1.6).
    fn parameter_use(&mut self, kind: Kind, inst: Inst) {
        let m = self.m;
        for operand in inst.operands.ids() {
            let name = match (kind, m[operand]) {
                (Kind::Load | Kind::Store, Operand::AddressName(name) | Operand::Address { name, .. }) => {
                    name
                }
                (Kind::Move, Operand::Name(name) | Operand::Offset { name, .. }) => name,
                _ => continue,
            };
            let Some(Bound { binding: Binding::Variable(id, _), depth }) = self.scopes.lookup(name) else {
                continue;
            };
            if m[id].space != StateSpace::Param || depth == 0 {
                continue;
            }
            let Some(function) = self.in_function.map(|function| &m[function]) else { continue };
            let within = |list: List<Decl>| list.range().contains(&id.index());
            let span = m.operand_span(operand);
            let spelling = &m[name];
            let local = !within(function.params) && !within(function.returns);
            match kind {
                Kind::Move if local => {
                    let message = format!("the parameter `{spelling}` of a call has no address");
                    self.error(codes::PARAM_USE, span, message);
                }
                Kind::Move if within(function.returns) => {
                    self.gate(".param.address", "the address of a return parameter", span);
                }
                Kind::Move => {}
                _ if local && inst.guard.is_some() => {
                    let message =
                        format!("an access to `{spelling}`, a parameter of a call, cannot be guarded");
                    let note = "branch around the whole call instead";
                    self.report(Diagnostic::error(codes::PARAM_USE, span, message).note(note));
                }
                Kind::Store if within(function.params) => {
                    self.error(
                        codes::PARAM_USE,
                        span,
                        format!("the parameter `{spelling}` cannot be written"),
                    );
                }
                Kind::Load if within(function.returns) => {
                    self.error(
                        codes::PARAM_USE,
                        span,
                        format!("the return parameter `{spelling}` cannot be read"),
                    );
                }
                _ => {}
            }
        }
    }

    /// `mov` takes no labels, and the addresses of textures, samplers and surfaces as 64 bits only.
    fn moved_address(&mut self, inst: Inst) {
        let m = self.m;
        let Some(source) = inst.operands.get(1) else { return };
        let Operand::Name(name) = m[source] else { return };
        let span = m.operand_span(source);
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Label(_)) => {
                self.error(codes::OPERAND, span, format!("the label `{}` has no address", &m[name]));
            }
            Some(Binding::Variable(decl, _)) if m[decl].ty.class() == isa::TypeClass::Opaque => {
                let wide = m[inst.mnemonic].rsplit('.').next().is_some_and(|ty| ty.ends_with("64"));
                if !wide {
                    let message = format!("the address of a `.{}` has 64 bits", m[decl].ty);
                    self.error(codes::OPERAND, span, message);
                }
            }
            _ => {}
        }
    }

    fn branch_list(&mut self, inst: Inst) {
        let m = self.m;
        let Some(list) = inst.operands.get(1) else { return };
        let Operand::Name(name) = m[list] else { return };
        let bound = self.scopes.lookup(name).map(|bound| bound.binding);
        if let Some(Binding::List(stmt)) = bound
            && !matches!(m[stmt], Stmt::BranchTargets { .. })
        {
            let span = m.operand_span(list);
            let error =
                Diagnostic::error(codes::LIST, span, format!("`{}` is no list of branch targets", &m[name]));
            self.report(error.label(m.stmt_span(stmt), "declared here"));
        }
    }

    /// The opcode and its modifiers, provided that they were written without blanks.
    fn mnemonic_span(&self, id: Id<Stmt>, inst: Inst) -> Span {
        let span = self.m.stmt_span(id);
        if span.is_none() {
            return span;
        }
        let len = self.m[inst.mnemonic].len() as u32;
        Span::new(span.start, span.end.min(span.start.saturating_add(len)))
    }

    fn violation(&mut self, id: Id<Stmt>, inst: Inst, violation: Violation) {
        let span = match violation.place {
            Place::Instruction | Place::Modifier(_) => self.mnemonic_span(id, inst),
            Place::Operand(index, part) => self.part_span(id, inst, index, part),
        };
        let mut diagnostic = Diagnostic::error(violation.code, span, violation.message);
        diagnostic.notes.extend(match (violation.expected, violation.found) {
            (Some(expected), Some(found)) => Some(format!("expected {expected}, found {found}")),
            (Some(expected), None) => Some(format!("expected {expected}")),
            (None, _) => None,
        });
        diagnostic.notes.extend(violation.help);
        diagnostic.notes.push(format!("see PTX ISA 9.0, {}", violation.section));
        self.report(diagnostic);
    }

    fn part_span(&self, id: Id<Stmt>, inst: Inst, index: usize, part: Option<usize>) -> Span {
        let Some(operand) = inst.operands.get(index) else { return self.m.stmt_span(id) };
        let list = match self.m[operand] {
            Operand::Vector(list) | Operand::Bracket(list) | Operand::Pair(list) => list,
            _ => List::EMPTY,
        };
        let part = part.and_then(|part| list.get(part)).unwrap_or(operand);
        self.m.operand_span(part)
    }

    fn judge(&mut self, resolved: &Resolved, inst: Inst) -> Vec<Violation> {
        let nested: usize = self.m[inst.operands].iter().map(|operand| self.nested(operand)).sum();
        if nested == 0 {
            return self.judge_in(resolved, inst, &[]);
        }
        const FEW: usize = 8;
        if nested <= FEW {
            let cells: [OnceCell<Chunk>; FEW] = [const { OnceCell::new() }; FEW];
            return self.judge_in(resolved, inst, &cells);
        }
        let cells: Vec<OnceCell<Chunk>> = std::iter::repeat_with(OnceCell::new).take(nested).collect();
        self.judge_in(resolved, inst, &cells)
    }

    /// How many cells the parts of an operand take.
    fn nested(&self, operand: &Operand) -> usize {
        let parts =
            |list: List<Operand>| 1 + self.m[list].iter().map(|part| self.nested(part)).sum::<usize>();
        match *operand {
            Operand::Vector(list) | Operand::Bracket(list) | Operand::Pair(list) => parts(list),
            Operand::Not(inner) | Operand::Neg(inner) => 1 + self.nested(&self.m[inner]),
            Operand::Unified(inner) => self.nested(&self.m[inner]),
            Operand::Component { .. } => 1,
            _ => 0,
        }
    }

    fn judge_in<'a>(
        &mut self,
        resolved: &Resolved,
        inst: Inst,
        cells: &'a [OnceCell<Chunk<'a>>],
    ) -> Vec<Violation>
    where
        'm: 'a,
    {
        let mut cells = Cells { cells, next: 0 };
        let mut operands: SmallVec<[isa::Operand<'a>; 8]> = SmallVec::new();
        let mut indexed = false;
        for operand in inst.operands.ids() {
            indexed |= matches!(self.m[operand], Operand::Index(_));
            let converted = self.convert(operand, &mut cells);
            operands.push(converted);
        }
        let Err(violations) = resolved.check(&operands) else { return Vec::new() };
        if indexed {
            // `x[1]` is an address to what takes one, and the value of the address to the others.
            for operand in &mut operands {
                if let isa::Operand::Address(Base::Var(variable)) = *operand {
                    *operand = isa::Operand::Var(variable);
                }
            }
            if resolved.check(&operands).is_ok() {
                return Vec::new();
            }
        }
        violations
    }

    fn convert<'a>(&mut self, id: Id<Operand>, cells: &mut Cells<'a>) -> isa::Operand<'a>
    where
        'm: 'a,
    {
        let m = self.m;
        let span = m.operand_span(id);
        match m[id] {
            Operand::Name(name) => self.named(name, span),
            Operand::Const(Const::Int { bits, .. }) => isa::Operand::Int(bits as i64),
            Operand::Const(Const::F32(_)) => isa::Operand::Float(FloatKind::Bits32),
            Operand::Const(Const::F64(_)) => isa::Operand::Float(FloatKind::Bits64),
            Operand::Component { name, selector } => self.component(name, &m[selector], span, cells),
            Operand::Offset { name, .. } => match self.named(name, span) {
                isa::Operand::Reg(ty) => isa::Operand::RegPlus(ty),
                known @ (isa::Operand::Var(_)
                | isa::Operand::Special { lanes: 1, .. }
                | isa::Operand::Unknown) => known,
                other => {
                    let message = format!("a constant cannot be added to {}", other.describe());
                    self.error(codes::OPERAND, span, message);
                    isa::Operand::Unknown
                }
            },
            Operand::AddressName(name) | Operand::Address { name, .. } => {
                isa::Operand::Address(self.base(name, span))
            }
            Operand::AddressConst(_) => isa::Operand::Address(Base::Int),
            Operand::Bracket(list) => {
                let mut elements: SmallVec<[isa::Operand<'a>; 4]> = SmallVec::new();
                for (index, element) in list.ids().enumerate() {
                    let converted = match m[element] {
                        Operand::Name(name) | Operand::Offset { name, .. } if index == 0 => {
                            isa::Operand::Address(self.base(name, m.operand_span(element)))
                        }
                        _ => self.convert(element, cells),
                    };
                    elements.push(converted);
                }
                isa::Operand::Bracket(cells.keep(&elements))
            }
            Operand::Index(list) => self.index(list, span),
            Operand::Vector(list) => isa::Operand::Vector(self.convert_list(list, cells)),
            Operand::Group(_) => isa::Operand::Arguments,
            Operand::Pair(list) => match self.convert_list(list, cells).try_into() {
                Ok(pair) => isa::Operand::Pair(pair),
                Err(_) => isa::Operand::Unknown,
            },
            Operand::Not(inner) => {
                let inner = self.convert(inner, cells);
                isa::Operand::Not(&cells.keep(&[inner])[0])
            }
            Operand::Neg(inner) => {
                let inner = self.convert(inner, cells);
                isa::Operand::Neg(&cells.keep(&[inner])[0])
            }
            Operand::Unified(inner) => self.convert(inner, cells),
        }
    }

    fn convert_list<'a>(&mut self, list: List<Operand>, cells: &mut Cells<'a>) -> &'a [isa::Operand<'a>]
    where
        'm: 'a,
    {
        let mut elements: SmallVec<[isa::Operand<'a>; 8]> = SmallVec::new();
        for element in list.ids() {
            let converted = self.convert(element, cells);
            elements.push(converted);
        }
        cells.keep(&elements)
    }

    #[inline]
    fn named(&mut self, name: Symbol, span: Span) -> isa::Operand<'static> {
        if name == Symbol::SINK {
            return isa::Operand::Sink;
        }
        match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Variable(decl, _)) => {
                let decl = &self.m[decl];
                match (decl.space, decl.vector) {
                    (StateSpace::Reg, 1) => isa::Operand::Reg(decl.ty),
                    (StateSpace::Reg, n) => isa::Operand::VectorReg(decl.ty, n),
                    (space, _) => isa::Operand::Var(Variable { space, ty: decl.ty }),
                }
            }
            Some(Binding::Label(_)) => isa::Operand::Label,
            Some(Binding::Function(_)) => isa::Operand::Func,
            Some(Binding::List(_)) => isa::Operand::List,
            Some(Binding::Special(reg)) => isa::Operand::Special { reg, lanes: reg.lanes() },
            None => {
                self.unknown_name(name, span);
                isa::Operand::Unknown
            }
        }
    }

    fn base(&mut self, name: Symbol, span: Span) -> Base {
        match self.named(name, span) {
            isa::Operand::Reg(ty) => Base::Reg(ty),
            isa::Operand::Var(variable) => Base::Var(variable),
            isa::Operand::Func => Base::Func,
            isa::Operand::Special { reg, lanes: 1 } => Base::Special(reg),
            isa::Operand::Unknown => Base::Unknown,
            other => {
                let message = format!("`{}` is {}, which is no address", self.name(name), other.describe());
                self.error(codes::OPERAND, span, message);
                Base::Unknown
            }
        }
    }

    /// `v.x`, `%tid.y`, `%r1.b0`
    fn component<'a>(
        &mut self,
        name: Symbol,
        selector: &'m str,
        span: Span,
        cells: &mut Cells<'a>,
    ) -> isa::Operand<'a>
    where
        'm: 'a,
    {
        let whole = self.named(name, span);
        let lanes = match whole {
            isa::Operand::VectorReg(_, lanes) | isa::Operand::Special { lanes, .. } if lanes > 1 => lanes,
            isa::Operand::Reg(_) => return isa::Operand::Select(&cells.keep(&[whole])[0], selector),
            isa::Operand::Unknown => return whole,
            other => {
                let message = format!("`{}` is {}, which has no parts", self.name(name), other.describe());
                self.error(codes::OPERAND, span, message);
                return isa::Operand::Unknown;
            }
        };
        let lane = ["x", "y", "z", "w"].iter().position(|lane| *lane == selector);
        let lane = lane.or_else(|| ["r", "g", "b", "a"].iter().position(|lane| *lane == selector));
        match (lane, whole) {
            (Some(lane), isa::Operand::VectorReg(ty, _)) if lane < usize::from(lanes) => {
                isa::Operand::Reg(ty)
            }
            (Some(_), isa::Operand::Special { reg, .. }) => isa::Operand::Special { reg, lanes: 1 },
            _ => {
                let message = format!("`{}` has no component `.{selector}`", self.name(name));
                let known = &"`.x`, `.y`, `.z`, `.w`"[..if lanes == 2 { 10 } else { 22 }];
                self.report(Diagnostic::error(codes::OPERAND, span, message).note(format!("it has {known}")));
                isa::Operand::Unknown
            }
        }
    }

    /// `x[4]`, `x[%r1]`, `x[%r1+4]`
    fn index(&mut self, list: List<Operand>, span: Span) -> isa::Operand<'static> {
        let m = self.m;
        let [Operand::Name(array), index] = m[list] else { return isa::Operand::Unknown };
        if let (Operand::Name(register) | Operand::Offset { name: register, .. }, Some(at)) =
            (index, list.get(1))
        {
            let at = m.operand_span(at);
            match self.named(register, at) {
                isa::Operand::Reg(ty) if Self::is_integer(ty) && ty.bits() <= 64 => {}
                isa::Operand::Special { lanes: 1, .. } | isa::Operand::Unknown => {}
                other => {
                    let message =
                        format!("an index is an integer register or constant, not {}", other.describe());
                    self.error(codes::OPERAND, at, message);
                }
            }
        }
        let bound = self.scopes.lookup(array);
        match bound.map(|bound| bound.binding) {
            Some(Binding::Variable(decl, declarator)) if !m[m[declarator].dims].is_empty() => {
                let decl = &m[decl];
                isa::Operand::Address(Base::Var(Variable { space: decl.space, ty: decl.ty }))
            }
            Some(_) => {
                let message = format!("`{}` is no array", self.name(array));
                self.error(codes::OPERAND, span, message);
                isa::Operand::Unknown
            }
            None => {
                self.unknown_name(array, span);
                isa::Operand::Unknown
            }
        }
    }

    /// Tells that a name is not declared, and the nearest that is.
    pub(super) fn unknown_name(&mut self, name: Symbol, span: Span) {
        let spelling = self.name(name);
        let message = format!("`{spelling}` is not declared here");
        let mut error = Diagnostic::error(codes::UNKNOWN_NAME, span, message);
        let folded = self.m.names().find(&spelling.to_ascii_lowercase());
        let percent = self.m.names().find(&format!("%{spelling}"));
        for candidate in [folded, percent].into_iter().flatten().filter(|candidate| *candidate != name) {
            if self.scopes.lookup(candidate).is_some() {
                error = error.note(format!("`{}` is declared", self.name(candidate)));
            }
        }
        self.report(error);
    }
}

/// Where the parts of one instruction's operands live while it is judged: each cell is written once, so that later
/// operands can point to earlier ones.
struct Cells<'a> {
    cells: &'a [OnceCell<Chunk<'a>>],
    next: usize,
}

/// Up to four parts in place, more on the heap.
enum Chunk<'a> {
    Few([isa::Operand<'a>; 4], u8),
    Many(Box<[isa::Operand<'a>]>),
}

impl<'a> Cells<'a> {
    fn keep(&mut self, parts: &[isa::Operand<'a>]) -> &'a [isa::Operand<'a>] {
        let cell = self.cells.get(self.next).expect("`nested` counts one cell for every call of `keep`");
        self.next += 1;
        let chunk = cell.get_or_init(|| match parts.len() {
            len @ 0..=4 => {
                let mut few = [isa::Operand::Unknown; 4];
                few[..len].copy_from_slice(parts);
                Chunk::Few(few, len as u8)
            }
            _ => Chunk::Many(parts.into()),
        });
        match chunk {
            Chunk::Few(few, len) => &few[..usize::from(*len)],
            Chunk::Many(many) => many,
        }
    }
}
