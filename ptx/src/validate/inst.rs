//! Instructions: names are looked up, then the tables validate ([`Resolved::check`]).

use super::operand::{Cells, Chunk};
use super::repeat::Repeat;
use super::{KnownMnemonic, Later, Validator};
use crate::codes;
use crate::scope::Binding;
use crate::tree::*;
use smallvec::SmallVec;
use std::cell::OnceCell;
use warpsmith_diag::Diagnostic;
use warpsmith_isa as isa;
use warpsmith_isa::codes as isa_codes;
use warpsmith_isa::{
    Class, Context, Mnemonic, Opcode, Place, Resolved, ScalarType, StateSpace, Verdict, Violation,
};

/// What is special about an instruction for this validator.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Plain,
    /// Validates a call against the signature of its callee.
    Call,
    /// `ld`: no return parameters.
    Load,
    /// `st`: no input parameters.
    Store,
    /// `mov`: takes addresses.
    Move,
    /// `cvta`, `prefetch`: takes addresses of parameters, but not of those of a call.
    Address,
    /// `brx.idx`: takes lists of branch targets.
    BranchIndexed,
}

impl Kind {
    fn of(opcode: Opcode) -> Kind {
        #[expect(clippy::wildcard_enum_match_arm, reason = "of most, the tables know all")]
        match opcode {
            Opcode::Call => Kind::Call,
            Opcode::Ld => Kind::Load,
            Opcode::St => Kind::Store,
            Opcode::Mov => Kind::Move,
            Opcode::Cvta | Opcode::CvtaTo | Opcode::Prefetch => Kind::Address,
            Opcode::BrxIdx => Kind::BranchIndexed,
            _ => Kind::Plain,
        }
    }
}

/// True for an instruction of matrices. Copies name CTA groups too, but use nobody's tensor memory.
fn is_matrix(opcode: Opcode) -> bool {
    opcode.forms().first().is_some_and(|form| form.family().class == Class::Matrix)
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
            self.resolve_call(id, inst);
            return self.call(id, inst);
        }
        match kind {
            Kind::Load | Kind::Store | Kind::Address => self.parameter_use(kind, inst),
            Kind::Move => {
                self.parameter_use(kind, inst);
                self.moved_address(inst);
            }
            Kind::BranchIndexed => self.branch_list(inst),
            Kind::Plain | Kind::Call => {}
        }
        // The borrow of the table must not outlive the look-ups, which write to caches.
        let resolved = self.mnemonics[index].resolved.take();
        let rules = match &resolved {
            Some(resolved) => Rules::Tables(resolved),
            None => Rules::Unknown(&self.m[inst.mnemonic], self.context),
        };
        if let Rules::Tables(resolved) = &rules
            && self.mnemonics[index].is_matrix
        {
            self.same_cta_group(id, resolved.mnemonic());
        }
        let version = self.context.version;
        let findings = self.operands(&rules, id, inst);
        // What asks for a later version most often does so again.
        self.mnemonics[index].resolved = match self.context.version == version {
            true => resolved,
            false => self.resolve(inst.mnemonic).resolved,
        };
        if let Some(Findings { violations, lenient }) = findings {
            for violation in violations {
                self.violation(id, inst, violation, lenient);
            }
        }
    }

    /// The form of a call follows from the parts that it has; whether they agree with the callee is validated separately.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the first operand that is not a group is what is called"
    )]
    fn resolve_call(&mut self, id: Id<Stmt>, inst: Inst) {
        let mut called = false;
        let part = |operand: &Operand| match operand {
            Operand::Group(_) => isa::Operand::Arguments,
            _ if called => isa::Operand::List,
            _ => {
                called = true;
                isa::Operand::Func
            }
        };
        let operands: SmallVec<[isa::Operand<'_>; 4]> = self.m[inst.operands].iter().map(part).collect();
        let resolved = self.mnemonics[inst.mnemonic.index()].resolved.as_deref();
        if let Some(instruction) = resolved.and_then(|resolved| resolved.accepts(&operands)) {
            self.resolutions.record(id, inst.mnemonic, instruction);
        }
    }

    fn resolve(&self, id: MnemonicId) -> KnownMnemonic {
        let text = &self.m[id];
        let mnemonic = Mnemonic::parse(text).ok();
        // Behind the name of an instruction may be words that nothing has.
        let head = || Opcode::from_text(text.split('.').next().unwrap_or(text));
        let opcode = mnemonic.map(|mnemonic| mnemonic.opcode()).or_else(head);
        let kind = opcode.map_or(Kind::Plain, Kind::of);
        let resolved = mnemonic.map(|mnemonic| Box::new(Resolved::new(&mnemonic, self.context)));
        let is_matrix = mnemonic.is_some_and(|mnemonic| is_matrix(mnemonic.opcode()));
        KnownMnemonic { seen: true, resolved, kind, is_matrix, ..KnownMnemonic::default() }
    }

    fn guard(&mut self, guard: Guard, id: Id<Stmt>) {
        let name = guard.predicate();
        let fine = match self.scopes.lookup(name).map(|bound| bound.binding) {
            Some(Binding::Variable(decl, _)) => {
                let decl = &self.m[decl];
                decl.space == StateSpace::Reg && decl.ty == ScalarType::Pred
            }
            Some(Binding::Special(reg)) => reg.ty() == ScalarType::Pred,
            Some(_) => false,
            None => return self.unknown_name(name, self.m.guard_span(id)),
        };
        if !fine {
            let span = self.m.guard_span(id);
            let message = format!(
                "`{}` is not a predicate register, so it cannot guard an instruction",
                self.name(name)
            );
            let error = Diagnostic::error(codes::GUARD, span, message).section("9.3");
            let error = self.label_declaration(error, name);
            self.report(error.note("`setp.ne.s32 p, a, 0` makes a predicate of an integer"));
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
            let error = Diagnostic::error(
                codes::LIST,
                span,
                format!("`{}` is not a list of branch targets", &m[name]),
            );
            self.report(error.label(m.stmt_span(stmt), "declared here"));
        }
    }

    fn violation(&mut self, id: Id<Stmt>, inst: Inst, violation: Violation, lenient: bool) {
        let Violation { code, place, message, expected, found, help, fix, section } = violation;
        let m = self.m;
        let gate =
            !lenient && matches!(code, isa_codes::GATE | isa_codes::SPECIAL_GATE | isa_codes::OPERAND_GATE);
        if gate && !self.validates_gates() {
            return;
        }
        let operand = match place {
            Place::Operand(index, part) => self.part(inst, index, part),
            Place::Instruction | Place::Word(_) => None,
        };
        let address = matches!(code, isa_codes::ADDRESS_REGISTER | isa_codes::SPACE);
        let span = match place {
            Place::Operand(..) if address && let Some(operand) = operand => m.operand_name_span(operand),
            Place::Word(word) => m.word_span(id, word),
            Place::Instruction => m.word_span(id, usize::MAX),
            Place::Operand(..) => operand.map_or(m.stmt_span(id), |operand| m.operand_span(operand)),
        };
        // What is wrong with a name is a matter of the text, whoever finds it.
        let code = if code == isa_codes::UNKNOWN_WORD { codes::MNEMONIC } else { code };
        let mut diagnostic = match lenient {
            true => Diagnostic::warning(codes::LENIENT, span, message).note(LENIENCE),
            false => Diagnostic::error(code, span, message),
        };
        diagnostic = diagnostic.section(section);
        diagnostic = match (&expected, found) {
            (Some(expected), Some(found)) => {
                diagnostic.label(span, format!("expected {expected}, found {found}"))
            }
            (Some(expected), None) => diagnostic.label(span, format!("expected {expected}")),
            (None, _) => diagnostic,
        };
        let mut explained = false;
        if let Some(isa::Fix { remedy, certain }) = fix {
            let before = diagnostic.suggestions.len();
            // The change says all that the words would.
            explained = matches!(remedy, isa::Remedy::Brackets | isa::Remedy::Context { .. });
            diagnostic = match remedy {
                isa::Remedy::Mnemonic(text) => {
                    let whole = m.word_span(id, usize::MAX);
                    let message = if certain { "did you mean" } else { "perhaps this was meant" };
                    let diagnostic = diagnostic.suggest(message, whole, text);
                    certainly(diagnostic, certain)
                }
                isa::Remedy::Text(text) => diagnostic.suggest("did you mean", span, text),
                isa::Remedy::Brackets => self.bracketed(diagnostic, operand),
                isa::Remedy::Constant(ty) => self.reworded_constant(diagnostic, operand, ty),
                isa::Remedy::Context { version, target } => self.label_context(diagnostic, version, target),
            };
            explained &= diagnostic.suggestions.len() > before;
        }
        // An operand of the wrong type is half of a conflict; its declaration may be the wrong half.
        if matches!(code, isa_codes::REGISTER_TYPE | isa_codes::ADDRESS_REGISTER | isa_codes::SPACE)
            && let Some(
                Operand::Name(name)
                | Operand::AddressName(name)
                | Operand::Address { name, .. }
                | Operand::Component { name, .. },
            ) = operand.map(|operand| m[operand])
        {
            diagnostic = self.label_declaration(diagnostic, name);
        }
        let form = |help: &String| help.starts_with("its form") && !diagnostic.suggestions.is_empty();
        let help = help.filter(|help| !explained && !form(help));
        diagnostic.notes.extend(help);
        match gate {
            true => self.report_once(Repeat::Gate(code, expected.unwrap_or_default()), diagnostic),
            false => self.report(diagnostic),
        }
    }

    /// Adds where a name is declared, and as what.
    pub(super) fn label_declaration(&mut self, diagnostic: Diagnostic, name: Symbol) -> Diagnostic {
        let Some(bound) = self.scopes.lookup(name) else { return diagnostic };
        let Binding::Variable(decl, declarator) = bound.binding else { return diagnostic };
        let (Decl { space, ty, vector, .. }, span) = (self.m[decl], self.m[declarator].span);
        if span.is_none() {
            return diagnostic;
        }
        let vector = if vector > 1 { format!(" .v{vector}") } else { String::new() };
        diagnostic.label(span, format!("declared `.{space}{vector} .{ty}` here"))
    }

    /// Suggests `[a]` for `a`.
    fn bracketed(&self, diagnostic: Diagnostic, operand: Option<Id<Operand>>) -> Diagnostic {
        match operand.map(|operand| (self.m[operand], self.m.operand_span(operand))) {
            Some((Operand::Name(name), span)) => {
                diagnostic.suggest("write it in brackets", span, format!("[{}]", &self.m[name]))
            }
            _ => diagnostic,
        }
    }

    /// Suggests the same number as a constant that the type takes.
    #[expect(clippy::wildcard_enum_match_arm, reason = "constants are integers or floats of 32 and 64 bits")]
    fn reworded_constant(
        &self,
        diagnostic: Diagnostic,
        operand: Option<Id<Operand>>,
        ty: ScalarType,
    ) -> Diagnostic {
        let Some((Operand::Const(value), span)) =
            operand.map(|operand| (self.m[operand], self.m.operand_span(operand)))
        else {
            return diagnostic;
        };
        let number = match value {
            Const::Int { bits, unsigned: true } => bits as f64,
            Const::Int { bits, unsigned: false } => bits as i64 as f64,
            Const::F32(bits) => f64::from(f32::from_bits(bits)),
            Const::F64(bits) => f64::from_bits(bits),
        };
        let text = match ty {
            ScalarType::F32 => format!("0f{:08X}", (number as f32).to_bits()),
            ScalarType::F64 => format!("0d{:016X}", number.to_bits()),
            _ if ty.is_integer() && number.fract() == 0.0 && number.abs() < 9e15 => {
                format!("{}", number as i64)
            }
            _ => return diagnostic,
        };
        diagnostic.suggest(format!("the number {number} as a `.{ty}`"), span, text)
    }

    /// An operand, or its element in braces, a bracket or a pair. One past the last is the last.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other operands have no parts")]
    fn part(&self, inst: Inst, index: usize, part: Option<usize>) -> Option<Id<Operand>> {
        let operand = inst.operands.get(index)?;
        let list = match self.m[operand] {
            Operand::Vector(list) | Operand::Bracket(list) | Operand::Pair(list) => list,
            _ => List::EMPTY,
        };
        Some(part.and_then(|part| list.get(part)).unwrap_or(operand))
    }

    fn operands(&mut self, rules: &Rules<'_>, id: Id<Stmt>, inst: Inst) -> Option<Findings> {
        let plain = |operand: &Operand| {
            matches!(
                operand,
                Operand::Name(_) | Operand::Const(_) | Operand::AddressName(_) | Operand::Address { .. }
            )
        };
        let composite = self.m[inst.operands].iter().filter(|operand| !plain(operand));
        let nested: usize = composite.map(|operand| self.nested(operand)).sum();
        if nested == 0 {
            return self.operands_in(rules, id, inst, &[]);
        }
        const FEW: usize = 8;
        if nested <= FEW {
            let cells: [OnceCell<Chunk>; FEW] = [const { OnceCell::new() }; FEW];
            return self.operands_in(rules, id, inst, &cells);
        }
        let cells: Vec<OnceCell<Chunk>> = std::iter::repeat_with(OnceCell::new).take(nested).collect();
        self.operands_in(rules, id, inst, &cells)
    }

    /// How many cells the parts of an operand take.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other operands have no parts")]
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

    fn operands_in<'a>(
        &mut self,
        rules: &Rules<'_>,
        id: Id<Stmt>,
        inst: Inst,
        cells: &'a [OnceCell<Chunk<'a>>],
    ) -> Option<Findings>
    where
        'm: 'a,
    {
        let mut cells = Cells::new(cells);
        let mut operands: SmallVec<[isa::Operand<'a>; 8]> = SmallVec::new();
        let mut unified = None;
        for (place, operand) in inst.operands.ids().enumerate() {
            if let Operand::Unified(_) = self.m[operand] {
                unified = Some((place, operand));
            }
            let converted = self.convert(operand, &mut cells);
            operands.push(converted);
        }
        let resolved = match rules {
            Rules::Unknown(text, context) => {
                let violations = isa::of_text(text, &operands, context);
                return Some(Findings { violations, lenient: false });
            }
            Rules::Tables(resolved) => resolved,
        };
        if let Some((place, operand)) = unified {
            self.unified(place, operand, resolved.mnemonic());
        }
        let index = inst.mnemonic.index();
        if let Some(place) = self.mnemonics[index].accepted.find(&operands) {
            self.resolutions.repeat(id, place);
            if self.has_offset(inst)
                && let Some(&instruction) = self.resolutions.of_mnemonic(inst.mnemonic, place)
            {
                self.misaligned(inst, &instruction);
            }
            return None;
        }
        if self.repeats.is_exhausted() && resolved.accepts(&operands).is_none() {
            return None;
        }
        match resolved.verdict(&operands) {
            Verdict::Legal(instruction) => {
                self.misaligned(inst, &instruction);
                let place = self.resolutions.record(id, inst.mnemonic, instruction);
                if let Some(place) = place {
                    self.mnemonics[index].accepted.keep(&operands, place);
                }
                None
            }
            Verdict::Lenient(..)
                if self.later == Later::SoughtInManual && self.seek(resolved.lowest_version(&operands)) =>
            {
                None
            }
            Verdict::Wrong(_) if self.seeks() && self.seek(resolved.lowest_version(&operands)) => None,
            Verdict::Lenient(instruction, violations) => {
                self.misaligned(inst, &instruction);
                self.resolutions.record(id, inst.mnemonic, instruction);
                Some(Findings { violations, lenient: true })
            }
            Verdict::Wrong(violations) => Some(Findings { violations, lenient: false }),
        }
    }

    /// `[a].unified` is for what is read of global memory, or by a generic address (manual 5.4.8): an instruction has its result first.
    fn unified(&mut self, place: usize, operand: Id<Operand>, mnemonic: &Mnemonic) {
        let elsewhere =
            mnemonic.mods().iter().filter_map(|m| m.space()).find(|space| *space != StateSpace::Global);
        let why = match (place, elsewhere) {
            (0, _) => format!("`{}` writes there", mnemonic.opcode()),
            (_, Some(space)) => format!("`{mnemonic}` accesses `.{space}`"),
            (_, None) => return,
        };
        let span = self.m.operand_span(operand);
        let message = format!("`.unified` is for what is read of global memory, but {why}");
        self.report(Diagnostic::error(codes::OPERAND, span, message).section("5.4.8"));
    }

    /// A function works on its own CTA's tensor memory or on the pair's, not on both (manual 9.7.16.5).
    fn same_cta_group(&mut self, id: Id<Stmt>, mnemonic: &Mnemonic) {
        let groups = [isa::Mod::CtaGroup1, isa::Mod::CtaGroup2];
        let Some(group) = groups.into_iter().find(|&group| mnemonic.has(group)) else { return };
        let (first, stmt) = *self.cta_group.get_or_insert((group, id));
        if first != group {
            let span = self.m.word_span(id, usize::MAX);
            let message = format!("`{group}` in a function that uses `{first}`");
            let error = Diagnostic::error(codes::CTA_GROUP, span, message).section("9.7.16.5");
            self.report(error.label(self.m.stmt_span(stmt), format!("`{first}` here")));
        }
    }
}

/// The note of every violation that ptxas tolerates.
pub(super) const LENIENCE: &str = "ptxas takes it, the manual does not";

/// What is to be said of an instruction.
struct Findings {
    violations: Vec<Violation>,
    /// True where ptxas lets all of it pass.
    lenient: bool,
}

/// Who says what is wrong with an instruction.
enum Rules<'r> {
    /// The forms that its modifiers fit.
    Tables(&'r Resolved),
    /// A mnemonic that names nothing.
    Unknown(&'r str, Context),
}

/// Marks the last suggestion as the only one possible.
fn certainly(mut diagnostic: Diagnostic, certain: bool) -> Diagnostic {
    if let Some(suggestion) = diagnostic.suggestions.last_mut() {
        suggestion.certain = certain;
    }
    diagnostic
}
