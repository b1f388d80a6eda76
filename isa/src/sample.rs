//! Instances of every form: for tests that must reach all that the tables hold, and for whoever fuzzes what reads PTX.
//!
//! [`of_form`] takes every alternative of every slot at least once, where version and target allow it with anything beside it,
//! and goes round the kinds of operand that each place takes; [`pairs_of_form`] takes every two alternatives. They draw nothing at random:
//! the same form gives the same samples.

use crate::form::{Accepts, Range, TypeSet};
use crate::gate::Clause;
use crate::resolve::{SigKind, SigOperand, SigPresence, SigValue, fill};
use crate::{
    Form, Gate, Instruction, Mnemonic, Mod, ScalarType, StateSpace, TARGETS, Target, TypeClass, Version,
};
use std::collections::HashSet;

/// A legal instruction, with the oldest target and version that have it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Its name.
    pub mnemonic: Mnemonic,
    /// The form it is an instance of.
    pub form: &'static Form,
    /// What fills each of the form's slots.
    pub filled: Vec<Option<Mod>>,
    /// The operands, destinations included.
    pub operands: Vec<Arg>,
    /// How many of the operands are destinations.
    pub destinations: usize,
    /// The oldest target, not below the one asked for.
    pub target: Target,
    /// The lowest version for that target.
    pub version: Version,
}

/// An operand of a [`Sample`].
#[derive(Clone, PartialEq, Debug)]
pub enum Arg {
    /// A register of the type.
    Reg(ScalarType),
    /// A constant.
    Int(i64),
    /// The bits of a constant `f32`.
    F32(u32),
    /// The bits of a constant `f64`.
    F64(u64),
    /// An address in a register, in the space.
    Address(StateSpace),
    /// An address in tensor memory, in a 32-bit register.
    TensorAddress,
    /// A texture, sampler or surface, or a tensor map, in a 64-bit register.
    Handle,
    /// `{a, b}`
    Vector(Vec<Arg>),
    /// `[a, b]`
    Bracket(Vec<Arg>),
    /// `d|p`
    Pair(Box<[Arg; 2]>),
    /// `!p`
    Not(ScalarType),
    /// `-a`
    Neg(ScalarType),
    /// `a.b0`
    Part(ScalarType, &'static str),
    /// `_`
    Sink,
}

/// The samples of a form for targets from `oldest` on: none where control flow must give its operands, or where the manual has no such
/// target with the form.
pub fn of_form(form: &'static Form, oldest: Target) -> Vec<Sample> {
    let choices = form.slots.iter().map(|slot| slot.alternatives.len() + usize::from(slot.optional));
    let rounds = choices.max().unwrap_or(1);
    let mut wanted: Vec<(usize, Mod)> = Vec::new();
    for (index, slot) in form.slots.iter().enumerate() {
        wanted.extend(slot.alternatives.iter().map(|a| (index, a.modifier)));
    }
    let book = Book { oldest, manual: true };
    let mut samples = Vec::new();
    for round in 0..rounds {
        samples.extend(sample(form, (0..form.slots.len()).map(|slot| pick(form, slot, round)), round, book));
    }
    let has = |samples: &[Sample], (slot, modifier): (usize, Mod)| {
        samples.iter().any(|sample| sample.filled[slot] == Some(modifier))
    };
    wanted.retain(|&one| !has(&samples, one));
    // What some gate kept out together with its neighbours may do beside others.
    for one in wanted {
        if !has(&samples, one) {
            samples.extend(among(form, &[one], book));
        }
    }
    samples
}

/// The samples of a form, and others so that any two alternatives of different slots that go together are in one of them.
pub fn pairs_of_form(form: &'static Form, oldest: Target) -> Vec<Sample> {
    let mut samples = of_form(form, oldest);
    let book = Book { oldest, manual: true };
    let mut seen: HashSet<[(usize, Mod); 2]> = HashSet::new();
    let note = |seen: &mut HashSet<_>, sample: &Sample| {
        let written = || sample.filled.iter().enumerate().filter_map(|(slot, m)| Some((slot, (*m)?)));
        seen.extend(written().flat_map(|one| written().map(move |other| [one, other])));
    };
    samples.iter().for_each(|sample| note(&mut seen, sample));
    let all = || {
        let slots = form.slots.iter().enumerate();
        slots.flat_map(|(slot, data)| data.alternatives.iter().map(move |a| (slot, a.modifier)))
    };
    for one in all() {
        for other in all().filter(|other| other.0 > one.0) {
            if !seen.contains(&[one, other])
                && let Some(sample) = among(form, &[one, other], book)
            {
                note(&mut seen, &sample);
                samples.push(sample);
            }
        }
    }
    samples
}

/// The n-th choice for a slot, going round.
fn pick(form: &Form, slot: usize, n: usize) -> Option<Mod> {
    let slot = &form.slots[slot];
    slot.alternatives.get(n % (slot.alternatives.len() + usize::from(slot.optional))).map(|a| a.modifier)
}

/// A sample with these modifiers in these slots: with nothing optional beside them, or in another neighbourhood.
fn among(form: &'static Form, fixed: &[(usize, Mod)], book: Book) -> Option<Sample> {
    let with = |other: &dyn Fn(usize) -> Option<Mod>, round| {
        let given = |slot| fixed.iter().find(|(s, _)| *s == slot).map(|(_, modifier)| *modifier);
        sample(form, (0..form.slots.len()).map(|slot| given(slot).or_else(|| other(slot))), round, book)
    };
    let least = |slot: usize| if form.slots[slot].optional { None } else { pick(form, slot, 0) };
    with(&least, 0).or_else(|| {
        (0..ATTEMPTS).find_map(|attempt| {
            // Strides that share no factor with the usual numbers of alternatives.
            with(&|slot| pick(form, slot, attempt * (2 * slot + 1) / (slot + 1) + slot * 7), attempt)
        })
    })
}

/// What stands against a sample of a form, or of some of its alternatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nothing.
    Sampled,
    /// Only targets below the oldest in question have it.
    Older,
    /// ptxas takes it; the manual does not have it.
    OnlyPtxas,
    /// No version has it for any target: its parts exclude each other.
    Never,
}

/// Whether there is a form with these modifiers in these slots.
pub fn standing(form: &'static Form, fixed: &[(usize, Mod)], oldest: Target) -> Standing {
    let exists = |oldest, manual| among(form, fixed, Book { oldest, manual }).is_some();
    let first = TARGETS[0].target;
    match () {
        () if exists(oldest, true) => Standing::Sampled,
        () if exists(first, true) => Standing::Older,
        () if exists(first, false) => Standing::OnlyPtxas,
        () => Standing::Never,
    }
}

/// What a sample is made for.
#[derive(Clone, Copy)]
struct Book {
    oldest: Target,
    /// True to leave out what only ptxas takes.
    manual: bool,
}

/// How often another neighbourhood is tried for an alternative that does not go with the first.
const ATTEMPTS: usize = 64;

fn sample(
    form: &'static Form,
    filled: impl Iterator<Item = Option<Mod>>,
    round: usize,
    book: Book,
) -> Option<Sample> {
    let filled: Vec<Option<Mod>> = filled.collect();
    let mods: Vec<Mod> = filled.iter().flatten().copied().collect();
    let mnemonic = Mnemonic::new(form.opcode).with_all(&mods)?;
    let matched = Instruction::new(form, fill(form, &mods)?);
    let mut clauses: Vec<Clause> = matched.clauses().map(|(_, clause)| *clause).collect();
    let mut operands = Vec::new();
    let mut destinations = 0;
    // One round without what may be left out, one with it.
    let with_optional = round % 2 == 1;
    for (place, operand) in matched.signature().operands.iter().enumerate() {
        match operand.presence {
            SigPresence::OnlyWith(_) => continue,
            SigPresence::Optional if !with_optional => continue,
            SigPresence::Optional => clauses.extend(operand.gates),
            SigPresence::Required => {}
        }
        if operand.presence == SigPresence::Required && with_optional {
            clauses.extend(operand.gates);
        }
        destinations += usize::from(writes(operand));
        operands.push(arg(&operand.kind, round + place, with_optional)?);
    }
    clauses.retain(|clause| book.manual || !clause.advisory);
    let gate = Gate::of(&clauses);
    let targets = TARGETS.iter().map(|row| row.target).filter(|target| target.sm >= book.oldest.sm);
    let (target, version) =
        targets.into_iter().find_map(|t| Some((t, gate.lowest_version(t)?)).filter(compiles))?;
    Some(Sample { mnemonic, form, filled: matched.filled.to_vec(), operands, destinations, target, version })
}

/// False for a version that is later than every toolkit which compiles for the target: those below sm_75 ended with 8.8.
fn compiles(&(target, version): &(Target, Version)) -> bool {
    target.sm >= 75 || version <= Version::new(8, 8)
}

fn writes(operand: &SigOperand) -> bool {
    match &operand.kind {
        SigKind::Value(value) => value.destination,
        SigKind::Pair { first, .. } => first.destination,
        SigKind::Address(_)
        | SigKind::Bracket(_)
        | SigKind::Tuple(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => false,
    }
}

fn arg(kind: &SigKind, turn: usize, with_optional: bool) -> Option<Arg> {
    let all = |places: &[SigOperand]| {
        let present = places.iter().filter(|p| p.presence == SigPresence::Required);
        present.map(|p| arg(&p.kind, 0, with_optional)).collect::<Option<Vec<_>>>()
    };
    Some(match kind {
        SigKind::Value(value) => values(value, turn)?,
        SigKind::Address(space) if space.tensor && space.handle.contains(ScalarType::B64) => Arg::Handle,
        SigKind::Address(space) if space.tensor => Arg::TensorAddress,
        SigKind::Address(space) if space.handle != TypeSet::EMPTY || space.any_register => Arg::Handle,
        SigKind::Address(space) => Arg::Address(space.space()),
        SigKind::Pair { first, second, second_optional }
            if !second_optional || (with_optional && second.accepts.contains(Accepts::REGISTER)) =>
        {
            Arg::Pair(Box::new([values(first, 0)?, values(second, 0)?]))
        }
        SigKind::Pair { first, .. } => values(first, 0)?,
        SigKind::Bracket(places) => Arg::Bracket(all(places)?),
        SigKind::Tuple(places) => Arg::Vector(all(places)?),
        SigKind::Label | SigKind::Callee | SigKind::Arguments | SigKind::Results | SigKind::List => {
            return None;
        }
    })
}

fn values(value: &SigValue, turn: usize) -> Option<Arg> {
    match value.count {
        Some(count) => {
            let register = Arg::Reg(register(value)?);
            let mut elements = vec![register; count.into()];
            if value.accepts.contains(Accepts::ARRAY) {
                elements[0] = Arg::Reg(ScalarType::B32);
            }
            Some(Arg::Vector(elements))
        }
        None => scalar(value, turn),
    }
}

/// One operand; `turn` goes round what may stand in its place.
fn scalar(value: &SigValue, turn: usize) -> Option<Arg> {
    let has = |flag| value.accepts.contains(flag);
    let reg = register(value);
    let mut kinds = Vec::new();
    if let Some(reg) = reg {
        kinds.extend(has(Accepts::REGISTER).then_some(Arg::Reg(reg)));
        if !value.destination && reg == ScalarType::Pred {
            kinds.extend(has(Accepts::COMPLEMENTED).then_some(Arg::Not(reg)));
        }
        kinds.extend(has(Accepts::NEGATED).then_some(Arg::Neg(reg)));
        let parts = [
            (Accepts::SELECTED, "b2"),
            (Accepts::SELECTED, "h1"),
            (Accepts::LANES2, "h32"),
            (Accepts::MASK2, "h1"),
            (Accepts::LANES4, "b7531"),
            (Accepts::MASK4, "b31"),
        ];
        kinds.extend(
            parts
                .iter()
                .filter(|(flag, _)| has(*flag) && has(Accepts::REGISTER))
                .map(|&(_, part)| Arg::Part(reg, part)),
        );
    }
    if !value.destination && has(Accepts::IMMEDIATE) {
        kinds.extend(constant(value));
    }
    if value.destination && has(Accepts::SINK) && kinds.is_empty() {
        kinds.push(Arg::Sink);
    }
    let count = kinds.len();
    kinds.into_iter().nth(turn.checked_rem(count)?)
}

fn constant(value: &SigValue) -> Option<Arg> {
    let integer = match value.range {
        None => i64::from(value.ty != ScalarType::Pred) * 3 % (1 << value.ty.bits().min(8)),
        Some(Range::Between { min, max, multiple }) => {
            // The least positive one.
            let least = min.max(multiple.min(max));
            least - least.rem_euclid(multiple)
        }
        Some(Range::PowerOfTwo { min, .. }) => (min.max(1) as u64).next_power_of_two() as i64,
        Some(Range::OneOf(all)) => *all.last()?,
        // Enough for every shape.
        Some(Range::Stride(_) | Range::From(_) | Range::Fraction) => 256,
    };
    match (value.ty.class(), value.ty) {
        (TypeClass::Float, ScalarType::F32) => {
            let one_or_more = if value.range == Some(Range::Fraction) { 1.0f32 } else { 1.5 };
            Some(Arg::F32(one_or_more.to_bits()))
        }
        (TypeClass::Float, ScalarType::F64) => Some(Arg::F64(1.5f64.to_bits())),
        (TypeClass::Float | TypeClass::Packed | TypeClass::Opaque, _) => None,
        _ => value.accepts.contains(Accepts::LONE_CONSTANT).then_some(Arg::Int(integer)),
    }
}

/// The register for a value: untyped where that will do, the smallest that holds it.
fn register(value: &SigValue) -> Option<ScalarType> {
    use ScalarType::{B8, B16, B32, B64, B128, Pred};
    let untyped = [Pred, B16, B32, B64, B128, B8].into_iter();
    let mut all = untyped.chain(value.registers.iter()).filter(|&ty| value.registers.contains(ty));
    all.find(|ty| ty.bits() >= value.ty.bits() || *ty == Pred)
}
