//! Table-derived operations, validated by the tables.

use super::Verifier;
use crate::entities::{Inst, Value};
use crate::inst::InstData;
use crate::ops::Opcode;
use crate::ptx::{
    Candidate, Destination, PtxData, PtxOperand, PtxSpans, accumulators, candidate_for, candidates,
    control_flow, destinations, group_len, register_type, takes_byte_registers,
};
use crate::types::Type;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use warpsmith_diag::{Diagnostic, Span};
use warpsmith_isa::{
    self as isa, Base, Context, Fix, FloatKind, Mnemonic, Operand, Place, Remedy, Resolved, ScalarType,
    SigKind, Signature, StateSpace, Target, Variable, Version, Violation, codes,
};

fn resolve(mnemonic: &Mnemonic, target: Target) -> Resolved {
    Resolved::new(mnemonic, Context::new(Version::LATEST, target))
}

/// What all instructions of one mnemonic share.
pub(super) struct Operation {
    candidates: Vec<Candidate>,
    /// The mnemonic resolved for the module's target; for a module without one, for the highest.
    resolved: Resolved,
    target: Target,
    traits: isa::Traits,
    /// Instructions that were accepted, a few: most are like one before.
    accepted: RefCell<SmallVec<[Accepted; 1]>>,
}

/// What an instruction was accepted with: what the checks look at, beside the mnemonic.
#[derive(PartialEq)]
struct Accepted {
    data: PtxData,
    args: SmallVec<[Type; 4]>,
    results: SmallVec<[Type; 4]>,
}

/// So many are kept for a mnemonic.
const MOST_ACCEPTED: usize = 4;

impl Operation {
    fn new(mnemonic: &Mnemonic, target: Option<Target>) -> Self {
        let candidates = candidates(mnemonic);
        let traits = candidates.iter().fold(isa::Traits::NONE, |all, (form, _)| all | form.traits());
        let highest = || Target::all().last().unwrap_or(Target::sm(120));
        let target = target.unwrap_or_else(highest);
        let resolved = resolve(mnemonic, target);
        Operation { candidates, resolved, target, traits, accepted: RefCell::default() }
    }
}

impl Verifier<'_> {
    pub(super) fn ptx(&mut self, inst: Inst, data: &PtxData) {
        let mnemonic = data.mnemonic();
        let new = || Rc::new(Operation::new(mnemonic, self.module.target));
        let operation = Rc::clone(self.operations.entry(*mnemonic).or_insert_with(new));
        let dfg = &self.func.dfg;
        let args: SmallVec<[Type; 4]> = dfg.args(inst).iter().map(|&arg| dfg.ty(arg)).collect();
        let results: SmallVec<[Type; 4]> = dfg.results(inst).into_iter().map(|value| dfg.ty(value)).collect();
        let is_it = |known: &Accepted| known.args == args && known.results == results && known.data == *data;
        if operation.accepted.borrow().iter().any(is_it) {
            return;
        }
        let before = self.errors.len();
        self.operands(inst, data, &operation, &results);
        let mut accepted = operation.accepted.borrow_mut();
        if self.errors.len() == before && accepted.len() < MOST_ACCEPTED {
            accepted.push(Accepted { data: data.clone(), args, results });
        }
    }

    fn operands(&mut self, inst: Inst, data: &PtxData, operation: &Operation, results: &[Type]) {
        let mnemonic = data.mnemonic();
        if operation.traits.intersects(isa::Traits::TERMINATOR | isa::Traits::CALL) {
            let message =
                format!("`ptx.{mnemonic}` is control flow, which the IR has operations of its own for");
            let span = self.spans(inst).mnemonic;
            self.ptx_error(inst, span, "I0450", message)
                .notes
                .push(instead(control_flow(mnemonic.opcode()).unwrap_or_default()));
            return;
        }
        let func = self.func;
        let args = func.dfg.args(inst);
        let takes: usize = data.operands.iter().filter(|operand| operand.takes_value()).count();
        if takes != args.len() {
            let message =
                format!("the operand list of `ptx.{mnemonic}` takes {takes} values, not {}", args.len());
            self.inst_error(inst, "I0451", message);
            return;
        }
        let missing = data.operands.iter().any(|operand| match operand {
            PtxOperand::Global(id) | PtxOperand::GlobalAddress(id, _) => !self.module.globals.is_valid(*id),
            PtxOperand::Func(id) => !self.module.functions.is_valid(*id),
            _ => false,
        });
        if missing {
            let message = format!("an operand of `ptx.{mnemonic}` names what is not in the module");
            self.inst_error(inst, "I0424", message);
            return;
        }
        // Results are grouped as the signature has them: two of a pair, as many as a vector has elements.
        let fitting = candidate_for(&operation.candidates, &data.operands, results.len());
        let signature = fitting.map(|(_, signature)| signature);
        let signature = signature.or(operation.candidates.first().map(|(_, signature)| signature));
        if let (None, Some(signature)) = (fitting, signature) {
            let message =
                format!("`ptx.{mnemonic}` does not give {}", super::flow::count(results.len(), "result"));
            let note = format!("its form: `{}`", signature.form.usage());
            let spans = self.spans(inst);
            let named = spans.results.iter().fold(Span::NONE, |all, span| all.to(*span));
            let place = if named.is_none() { spans.mnemonic } else { named };
            self.ptx_error(inst, place, "I0452", message).notes.push(note);
            return;
        }
        if fitting.map(|(instruction, _)| instruction) != data.instruction().copied() {
            let message = format!("`ptx.{mnemonic}` has other operands or results than when it was built");
            let note = "build it anew with `ptx_data`, which resolves it";
            self.inst_error(inst, "I0451", message).notes.push(note.into());
            return;
        }
        if signature.is_some_and(|s| accumulators(s).is_some()) {
            let before = match data.operands.first() {
                Some(PtxOperand::Vector(len)) if *len as usize == results.len() => args.get(..results.len()),
                _ => None,
            };
            let types = before.map(|before| before.iter().map(|value| func.dfg.ty(*value)));
            let plain = data.operands.iter().skip(1).take(results.len()).all(|o| *o == PtxOperand::Value);
            if !(plain && types.is_some_and(|types| types.eq(results.iter().copied()))) {
                let message = format!("the first operand of `ptx.{mnemonic}` must be what it adds to");
                let note = format!(
                    "write {} of the results' types in braces, `{{%a, %b, ...}}`",
                    super::flow::count(results.len(), "value")
                );
                let place = self.spans(inst).operand(0);
                self.ptx_error(inst, place, "I0454", message).notes.push(note);
                return;
            }
        }
        let is_open = self.module.target.is_none();
        let violations = self.with_operands(data, args, results, signature, &mut |operands| {
            let Err(violations) = operation.resolved.check(operands) else { return Vec::new() };
            // What the highest target lacks, another may have: the operations of one architecture alone.
            let elsewhere = |target| resolve(mnemonic, target).check(operands).is_ok();
            // The module says no version: one that has left PTX is in the older ones.
            let context = |version| Context::new(version, operation.target);
            let earlier = |version| Resolved::new(mnemonic, context(version)).check(operands).is_ok();
            match Version::known().any(earlier) || (is_open && Target::all().any(elsewhere)) {
                true => Vec::new(),
                false => violations,
            }
        });
        let accepted = violations.is_empty();
        for violation in violations {
            self.violation(inst, data, signature, violation);
        }
        if let (true, Some(signature)) = (accepted, signature) {
            self.address_spaces(inst, data, args, signature);
        }
    }

    /// An error about a part of a table-derived operation, at its place in the text if it has one.
    #[cold]
    fn ptx_error(&mut self, inst: Inst, place: Span, code: &'static str, message: String) -> &mut Diagnostic {
        let error = self.inst_error(inst, code, message);
        if !place.is_none() {
            error.span = place;
        }
        error
    }

    fn violation(&mut self, inst: Inst, data: &PtxData, signature: Option<&Signature>, violation: Violation) {
        let Violation { code, place, message, expected, found, help, fix, section } = violation;
        let spans = self.spans(inst);
        let (span, value) = match place {
            Place::Instruction => (spans.mnemonic, None),
            Place::Word(word) => (spans.word(data.mnemonic(), word), None),
            Place::Operand(index, part) => self.operand_place(inst, data, signature, index, part),
        };
        let whole = spans.mnemonic;
        let expected = match (expected, found) {
            (Some(expected), Some(found)) => Some(format!("expected {expected}, found {found}")),
            (expected, _) => expected.map(|expected| format!("expected {expected}")),
        };
        // An operand of the wrong type is half of a conflict; its definition may be the wrong half.
        let typed = matches!(code, codes::REGISTER_TYPE | codes::ADDRESS_REGISTER | codes::SPACE);
        let origin = value.filter(|_| typed).map(|value| {
            let (span, text) = self.definition(value);
            (span, format!("{text}, of type {}", self.func.dfg.ty(value)))
        });
        let error = self.ptx_error(inst, span, code, message);
        let mut improved = error.clone();
        if let Some(expected) = expected {
            improved = improved.label(span, expected);
        }
        if let Some((span, text)) = origin.filter(|(span, _)| !span.is_none()) {
            improved = improved.label(span, text);
        }
        improved.notes.extend(help);
        if let Some(Fix { remedy: Remedy::Mnemonic(text), certain }) = fix {
            improved = match certain {
                true => improved.fix("did you mean", whole, text),
                false => improved.suggest("perhaps this was meant", whole, text),
            };
        }
        *error = improved.section(section);
    }

    fn spans(&self, inst: Inst) -> PtxSpans {
        match self.func.dfg[inst] {
            InstData::Ptx { data, .. } => self.func.ptx_spans[data].clone(),
            _ => PtxSpans::default(),
        }
    }

    /// Where the operand was written that the tables count as this one, and which value it is or holds.
    fn operand_place(
        &self,
        inst: Inst,
        data: &PtxData,
        signature: Option<&Signature>,
        index: usize,
        part: Option<usize>,
    ) -> (Span, Option<Value>) {
        let spans = self.spans(inst);
        let results = self.func.dfg.results(inst);
        let written = signature.and_then(|s| destinations(s, results.len())).unwrap_or_default();
        if index < written.len() {
            let before: usize = written[..index].iter().map(|d| d.count()).sum();
            // The second half of a pair stands behind all of the first.
            let within = match (written[index], part) {
                (Destination::Pair(Some(count)), Some(1)) => count.into(),
                (_, part) => part.unwrap_or(0),
            };
            return (spans.result(before + within), None);
        }
        // What denotes the first destination is not an operand of its own.
        let stands = matches!(data.operands.first(), Some(PtxOperand::Destination(_)))
            || signature.is_some_and(|s| accumulators(s).is_some());
        let group = index - written.len() + usize::from(stands);
        let mut n = (0..group).fold(0, |n, _| n + group_len(data.operands.get(n..).unwrap_or_default()));
        if let Some(part) = part {
            n = (0..part).fold(n + 1, |n, _| n + group_len(data.operands.get(n..).unwrap_or_default()));
        }
        let is_value = data.operands.get(n).is_some_and(|operand| operand.takes_value());
        let nth = data.operands.iter().take(n).filter(|operand| operand.takes_value()).count();
        let value = self.func.dfg.args(inst).get(nth).copied().filter(|_| is_value);
        (spans.operand(n), value)
    }

    /// Builds the operand list and passes it to `check`.
    fn with_operands(
        &self,
        data: &PtxData,
        args: &[Value],
        results: &[Type],
        signature: Option<&Signature>,
        check: &mut dyn FnMut(&[Operand]) -> Vec<Violation>,
    ) -> Vec<Violation> {
        let bytes = signature.is_some_and(takes_byte_registers);
        let registers: Vec<Operand> =
            results.iter().map(|ty| Operand::Reg(register_type(*ty, bytes))).collect();
        // Elements of vectors live in one list, brackets in a second one that may hold vectors.
        let mut values = args.iter();
        let plain: Vec<Operand> =
            data.operands.iter().map(|operand| self.plain(*operand, bytes, &mut values)).collect();
        let negated: Vec<Operand> = plain
            .iter()
            .zip(&data.operands)
            .map(|(plain, operand)| match operand {
                PtxOperand::Not => Operand::Not(plain),
                PtxOperand::Neg => Operand::Neg(plain),
                PtxOperand::Part(part) => Operand::Select(plain, part.name()),
                _ => *plain,
            })
            .collect();
        let vector =
            |n: usize, len: u32| Operand::Vector(&negated[n + 1..(n + 1 + len as usize).min(negated.len())]);
        // The parts of every bracket, one after the other, and where each bracket's begin and end.
        let mut parts: Vec<Operand> = Vec::new();
        let mut brackets: Vec<(usize, usize)> = Vec::new();
        let mut n = 0;
        while n < data.operands.len() {
            match data.operands[n] {
                PtxOperand::Bracket(len) => {
                    let begin = parts.len();
                    n += 1;
                    for part in 0..len {
                        let Some(operand) = data.operands.get(n) else { break };
                        if let PtxOperand::Vector(len) = *operand {
                            parts.push(vector(n, len));
                            n += len as usize;
                        } else {
                            parts.push(if part == 0 { as_address(negated[n]) } else { negated[n] });
                        }
                        n += 1;
                    }
                    brackets.push((begin, parts.len()));
                }
                PtxOperand::Vector(len) => n += 1 + len as usize,
                _ => n += 1,
            }
        }
        let mut whole = Operand::Unknown;
        let mut pairs: SmallVec<[[Operand; 2]; 1]> = SmallVec::new();
        let mut groups: SmallVec<[Operand; 2]> = SmallVec::new();
        let mut list: SmallVec<[Operand; 8]> = SmallVec::new();
        let mut left = &registers[..];
        let mut take = |count: usize| {
            let (taken, rest) = left.split_at(count.min(left.len()));
            left = rest;
            taken
        };
        let one = |taken: &[Operand<'static>]| taken.first().copied().unwrap_or(Operand::Unknown);
        for destination in signature.and_then(|s| destinations(s, results.len())).unwrap_or_default() {
            match destination {
                Destination::Scalar => groups.push(one(take(1))),
                Destination::Vector(count) => groups.push(Operand::Vector(take(count.into()))),
                Destination::Pair(count) => {
                    let first = match count {
                        Some(count) => Operand::Vector(take(count.into())),
                        None => one(take(1)),
                    };
                    pairs.push([first, one(take(1))]);
                    // Its place, until all pairs have theirs.
                    groups.push(Operand::Pair(&NO_PAIR));
                }
            }
        }
        let mut n = 0;
        if let Some(PtxOperand::Destination(part)) = data.operands.first() {
            whole = groups.first().copied().unwrap_or(whole);
            groups.iter_mut().take(1).for_each(|first| *first = Operand::Select(&whole, part.name()));
            n = 1;
        }
        if signature.is_some_and(|s| accumulators(s).is_some())
            && let Some(PtxOperand::Vector(len)) = data.operands.first()
        {
            n = 1 + *len as usize;
        }
        let mut next_pair = pairs.iter();
        list.extend(groups.iter().map(|group| match group {
            Operand::Pair(_) => next_pair.next().map_or(*group, Operand::Pair),
            _ => *group,
        }));
        let mut brackets = brackets.into_iter();
        while n < data.operands.len() {
            match data.operands[n] {
                PtxOperand::Bracket(len) => {
                    if let Some((begin, end)) = brackets.next() {
                        list.push(Operand::Bracket(&parts[begin..end]));
                    }
                    n += 1;
                    for _ in 0..len {
                        let inner = match data.operands.get(n) {
                            Some(PtxOperand::Vector(len)) => *len as usize,
                            _ => 0,
                        };
                        n += 1 + inner;
                    }
                }
                PtxOperand::Vector(len) => {
                    list.push(vector(n, len));
                    n += 1 + len as usize;
                }
                _ => {
                    list.push(negated[n]);
                    n += 1;
                }
            }
        }
        check(&list)
    }

    /// An operand by itself; vectors and brackets are put together from their parts.
    fn plain<'v>(
        &self,
        operand: PtxOperand,
        bytes: bool,
        values: &mut std::slice::Iter<'v, Value>,
    ) -> Operand<'static> {
        let mut register =
            || values.next().map_or(ScalarType::B32, |value| register_type(self.func.dfg.ty(*value), bytes));
        let variable = |id| {
            let global = &self.module.globals[id];
            Variable { space: global.space, ty: global.handle.unwrap_or(global.ty.element().isa()) }
        };
        match operand {
            PtxOperand::Value | PtxOperand::Not | PtxOperand::Neg | PtxOperand::Part(_) => {
                Operand::Reg(register())
            }
            PtxOperand::Address(_) => Operand::Address(Base::Reg(register())),
            PtxOperand::GlobalAddress(id, _) => Operand::Address(Base::Var(variable(id))),
            PtxOperand::Global(id) => Operand::Var(variable(id)),
            PtxOperand::Func(_) => Operand::Func,
            PtxOperand::Int(value) => Operand::Int(value as i64),
            PtxOperand::F32(bits) => Operand::Float(FloatKind::Bits32, f32::from_bits(bits).into()),
            PtxOperand::F64(bits) => Operand::Float(FloatKind::Bits64, f64::from_bits(bits)),
            PtxOperand::Decimal(value) => Operand::Float(FloatKind::Decimal, value),
            PtxOperand::Vector(_)
            | PtxOperand::Bracket(_)
            | PtxOperand::Sink
            | PtxOperand::Destination(_) => Operand::Sink,
        }
    }

    /// PTX takes any 64-bit register for an address; the IR knows what its pointers point to.
    fn address_spaces(&mut self, inst: Inst, data: &PtxData, args: &[Value], signature: &Signature) {
        let spaces = signature.operands.iter().filter_map(|operand| match &operand.kind {
            SigKind::Address(space) => Some(space),
            _ => None,
        });
        let mut values = args.iter();
        let addresses = data.operands.iter().enumerate().filter_map(|(n, operand)| {
            let value = if operand.takes_value() { values.next() } else { None };
            matches!(operand, PtxOperand::Address(_) | PtxOperand::GlobalAddress(..)).then_some((n, value))
        });
        let pairs: Vec<(usize, Option<Value>, StateSpace)> =
            addresses.zip(spaces).map(|((n, value), space)| (n, value.copied(), space.space())).collect();
        for (n, value, wanted) in pairs {
            let Some(value) = value else { continue };
            // An integer is an address that someone computed: theirs to know.
            let Some(space) = self.func.dfg.ty(value).space() else { continue };
            if space != wanted {
                let ty = self.func.dfg.ty(value);
                let wanted = Type::ptr(wanted).unwrap_or(Type::PTR);
                let message = format!(
                    "the address of `ptx.{}` is a {wanted}; {} is a {ty}",
                    data.mnemonic(),
                    self.name(value)
                );
                let note = match (space, wanted) {
                    (StateSpace::Generic, _) => format!("`addrspacecast.{wanted}` converts it"),
                    (space, Type::PTR) => format!("name the space in the operation: `.{space}`"),
                    _ => "the two spaces share no memory".into(),
                };
                let place = self.spans(inst).operand(n);
                self.ptx_error(inst, place, "I0453", message).notes.push(note);
            }
        }
    }
}

/// `write `jump` or `brif``
fn instead(operations: &[Opcode]) -> String {
    let names: Vec<String> = operations.iter().map(|op| format!("`{op}`")).collect();
    format!("write {}", names.join(" or "))
}

/// Stands for a pair that is not built yet.
static NO_PAIR: [Operand<'static>; 2] = [Operand::Unknown; 2];

fn as_address(operand: Operand<'_>) -> Operand<'_> {
    match operand {
        Operand::Reg(ty) => Operand::Address(Base::Reg(ty)),
        Operand::Var(variable) => Operand::Address(Base::Var(variable)),
        other => other,
    }
}
