//! The judge: does an instruction, a mnemonic with its operands, exist in PTX of this version for this target?
//!
//! [`Resolved::new`] does what depends on the mnemonic alone, once; [`Resolved::check`] looks only at the operands, and allocates
//! nothing for an instruction that is legal.

use crate::form::{Accepts, Range, Reach};
use crate::operand::{Base, FloatKind, Operand, Variable};
use crate::resolve::{SigKind, SigOperand, SigPresence, SigSpace, SigValue, Signature, forms, matching};
use crate::violation::{self, Violation};
use crate::{
    Change, Clause, Demand, Instruction, Mnemonic, Release, ScalarType, SpecialReg, StateSpace, Target,
    TypeClass, TypeSet, Version, codes,
};
use smallvec::SmallVec;

/// What the instruction is judged for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// The `.version` of the module.
    pub version: Version,
    /// The `.target` of the module.
    pub target: Target,
    /// True for `texmode_independent`: textures are read through samplers of their own (PTX ISA 9.0, 5.3).
    pub independent_textures: bool,
    /// The release of ptxas whose verdict is asked for; `None`: all that know the version, and only what each of them refuses is an error.
    pub release: Option<Release>,
}

impl Context {
    fn judge(&self, lenient: bool) -> Judge {
        let Context { version, target, independent_textures: independent, release } = *self;
        Judge { version, target, independent, release, lenient }
    }

    /// Textures that are their own samplers, as is the rule.
    pub fn new(version: Version, target: Target) -> Self {
        Context { version, target, independent_textures: false, release: None }
    }

    /// Who refuses what a change is about.
    pub fn refuses(&self, change: Change) -> Demand {
        Demand::of(change.refused(), self.version, self.release)
    }

    /// True for what the tables ask and the release, or every release, of ptxas insists on.
    pub fn insists(&self, clause: &Clause) -> bool {
        clause.demand(self.version, self.release) == Demand::All
    }
}

/// By which book an instruction is judged: the manual, or what ptxas lets pass besides.
#[derive(Clone, Copy)]
struct Judge {
    version: Version,
    target: Target,
    independent: bool,
    release: Option<Release>,
    lenient: bool,
}

impl Judge {
    fn allows(&self, clause: &Clause) -> bool {
        // The manual is that of the newest release; what none in question asks for is no part of it.
        let demand = clause.demand(self.version, self.release);
        (demand == Demand::None && !clause.advisory)
            || (self.lenient && demand != Demand::All)
            || clause.allows(self.version, self.target)
    }

    /// True where some release in question passes over what a change is about.
    fn tolerates(&self, change: Change) -> bool {
        self.lenient && Demand::of(change.refused(), self.version, self.release) != Demand::All
    }
}

/// What is to be said of an instruction.
#[derive(Debug)]
pub enum Verdict {
    /// It is this form.
    Legal(Instruction),
    /// ptxas takes it for this form, against the manual.
    Doubtful(Instruction, Vec<Violation>),
    /// It is no instruction.
    Wrong(Vec<Violation>),
}

/// A mnemonic with the forms that its modifiers fit, ready to judge operands.
#[derive(Clone, Debug)]
pub struct Resolved {
    mnemonic: Mnemonic,
    context: Context,
    candidates: SmallVec<[Candidate; 1]>,
}

#[derive(Clone, Debug)]
struct Candidate {
    matched: Instruction,
    signature: Signature,
    required: usize,
    /// True when version and target allow the form with these modifiers.
    allowed: bool,
    /// True when the manual does, too.
    sound: bool,
}

impl Resolved {
    /// Finds the forms that the modifiers fit.
    pub fn new(mnemonic: &Mnemonic, context: Context) -> Self {
        let candidates = forms(mnemonic)
            .map(|matched| {
                let signature = matched.signature();
                let required =
                    signature.operands.iter().filter(|o| o.presence == SigPresence::Required).count();
                let judge = context.judge(true);
                let strict = Judge { lenient: false, ..judge };
                let allows = |judge: Judge| matched.clauses().all(|(_, clause)| judge.allows(clause));
                let allowed = allows(judge);
                let sound = allows(strict)
                    && matched.unfilled().next().is_none()
                    && matched.filled.iter().flatten().count() == mnemonic.mods().len();
                Candidate { matched, signature, required, allowed, sound }
            })
            .collect();
        Resolved { mnemonic: *mnemonic, context, candidates }
    }

    /// The mnemonic.
    pub fn mnemonic(&self) -> &Mnemonic {
        &self.mnemonic
    }

    /// The forms that the modifiers fit and that version and target allow.
    pub fn signatures(&self) -> impl Iterator<Item = &Signature> {
        self.candidates.iter().filter(|c| c.allowed).map(|c| &c.signature)
    }

    /// The form that ptxas takes the instruction for, or everything that is wrong with it.
    pub fn check(&self, operands: &[Operand]) -> Result<Instruction, Vec<Violation>> {
        self.accepts(operands).ok_or_else(|| self.explain(operands))
    }

    /// The form that ptxas takes the instruction for, if any.
    pub fn accepts(&self, operands: &[Operand]) -> Option<Instruction> {
        self.legal(operands).or_else(|| self.lenient(operands))
    }

    /// The form that the instruction is, with what is doubtful about it, or everything that is wrong with it.
    pub fn judge(&self, operands: &[Operand]) -> Verdict {
        match self.legal(operands) {
            Some(matched) => Verdict::Legal(matched),
            None => self.judge_doubtful(operands),
        }
    }

    /// The lowest version from this one's on that has the instruction on the target, if any has.
    #[cold]
    pub fn lowest_version(&self, operands: &[Operand]) -> Option<Version> {
        let later = Version::known().filter(|&version| version > self.context.version);
        let accepted = |version| {
            let context = Context { version, ..self.context };
            Resolved::new(&self.mnemonic, context).accepts(operands).is_some()
        };
        match self.accepts(operands) {
            Some(_) => Some(self.context.version),
            None => later.into_iter().find(|&version| accepted(version)),
        }
    }

    /// The form that the manual has the instruction as, if any.
    pub(crate) fn legal(&self, operands: &[Operand]) -> Option<Instruction> {
        let judge = self.by(false);
        self.candidates.iter().filter(|c| c.sound).find_map(|c| c.accepts(operands, &judge))
    }

    #[cold]
    fn lenient(&self, operands: &[Operand]) -> Option<Instruction> {
        let judge = self.by(true);
        self.candidates.iter().filter(|c| c.allowed).find_map(|c| c.accepts(operands, &judge))
    }

    #[cold]
    fn judge_doubtful(&self, operands: &[Operand]) -> Verdict {
        let Some(matched) = self.lenient(operands) else {
            return Verdict::Wrong(self.explain(operands));
        };
        // The doubts are those about the form that comes nearest to what the manual allows.
        let judge = self.by(true);
        let taken = self.candidates.iter().filter(|c| c.allowed && c.fits(operands, &judge).is_ok());
        let doubts = taken.map(|c| {
            let mut doubts = violation::of_doubts(&c.matched, &self.mnemonic, &self.context);
            let faults = c.faults(operands, &self.by(false));
            doubts.extend(
                faults
                    .into_iter()
                    .map(|f| violation::of_fault(&self.mnemonic, &c.signature, operands, f, &self.context)),
            );
            doubts
        });
        Verdict::Doubtful(matched, doubts.min_by_key(Vec::len).unwrap_or_default())
    }

    fn by(&self, lenient: bool) -> Judge {
        self.context.judge(lenient)
    }

    /// The slow path: why no form fits.
    #[cold]
    fn explain(&self, operands: &[Operand]) -> Vec<Violation> {
        if self.candidates.is_empty() {
            return crate::of_text(&self.mnemonic.to_string(), operands, &self.context);
        }
        // The form that the operands fit but the gates do not allow, else the allowed form whose first fault comes last.
        let judge = self.by(true);
        let fault = |c: &Candidate| c.fits(operands, &judge).err();
        let gated = self.candidates.iter().find(|c| !c.allowed && fault(c).is_none());
        if let Some(candidate) = gated {
            return violation::of_gates(&candidate.matched, &self.mnemonic, operands, &self.context);
        }
        let best = self.candidates.iter().max_by_key(|c| {
            let progress = match fault(c) {
                Some(Fault { operand: Some(index), .. }) => index + 1,
                _ => 0,
            };
            (c.allowed, progress)
        });
        let Some(best) = best else { return Vec::new() };
        let mut found = Vec::new();
        if !best.allowed {
            found.extend(violation::of_gates(&best.matched, &self.mnemonic, operands, &self.context));
        }
        for fault in best.faults(operands, &judge) {
            found.push(violation::of_fault(&self.mnemonic, &best.signature, operands, fault, &self.context));
        }
        let typed =
            |v: &Violation| matches!(v.code, codes::REGISTER_TYPE | codes::CONSTANT_KIND | codes::SPACE);
        // Where most operands are right, the mnemonic is; where most are wrong, the mnemonic may be.
        let registers =
            operands.iter().filter(|o| !matches!(o, Operand::Int(_) | Operand::Float(..))).count();
        if found.iter().all(typed) && found.len() * 2 >= registers {
            if let Some(fix) = violation::retyped(&self.mnemonic, operands, &self.context) {
                found[0].fix = Some(fix);
                // One mistake, told once.
                if found.len() > 1 {
                    let others = format!("{} more operands do not fit it either", found.len() - 1);
                    found[0].help = Some(others.replace("1 more operands do", "1 more operand does"));
                    found.truncate(1);
                }
            }
        } else if let [one @ Violation { code: codes::VECTOR_LENGTH, .. }] = found.as_mut_slice() {
            one.fix = violation::renumbered(&self.mnemonic, operands, &self.context);
        }
        found
    }
}

/// Judges one instruction. Who judges many of one mnemonic keeps its [`Resolved`].
pub fn check(
    mnemonic: &Mnemonic,
    operands: &[Operand],
    context: &Context,
) -> Result<Instruction, Vec<Violation>> {
    Resolved::new(mnemonic, *context).check(operands)
}

/// What is wrong with an operand, in terms of its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// The index among the operands written; `None` when their number is wrong.
    pub operand: Option<usize>,
    /// The index among the operands of the form.
    pub spec: usize,
    /// The index within braces, a bracket or a pair.
    pub element: Option<usize>,
    pub what: What,
}

/// The kinds of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Count,
    Kind,
    RegisterType,
    ImmediateNotAllowed,
    ImmediateRequired,
    ImmediateKind,
    ImmediateRange,
    VectorNeeded,
    VectorLength,
    VectorNotAllowed,
    MixedTypes,
    SinkNotAllowed,
    AllSinks,
    AllConstants,
    SpecialNotAllowed,
    SpecialGate(SpecialReg),
    ImmediateWraps,
    Gate,
    HandleGate,
    SamplerGate,
    SamplerNeeded,
    SamplerNotAllowed,
    VariableNotAllowed,
    NegationNotAllowed,
    NegationNeeded,
    ComplementNotAllowed,
    SelectNotAllowed,
    PairNeeded,
    PairNotAllowed,
    AddressNeeded,
    AddressRegister,
    AddressSpace,
    ImmediateAddress,
}

impl Candidate {
    /// The first fault, or none.
    fn fits(&self, operands: &[Operand], cx: &Judge) -> Result<(), Fault> {
        self.judge(operands, cx, Err).map(|_| ())
    }

    /// The instruction, if the operands fit.
    fn accepts(&self, operands: &[Operand], cx: &Judge) -> Option<Instruction> {
        self.judge(operands, cx, Err).ok().map(|present| self.matched.with_places(present))
    }

    /// Every fault.
    fn faults(&self, operands: &[Operand], cx: &Judge) -> Vec<Fault> {
        let mut all = Vec::new();
        let pushed = self.judge(operands, cx, |fault| {
            all.push(fault);
            Ok(())
        });
        debug_assert!(pushed.is_ok());
        all
    }

    /// Pairs operands with their places and hands every fault to `report`, which says whether to go on. Of the optional places as many
    /// are used as there are operands to spare, the leftmost that fit. Gives the places that are used, a bit for each.
    fn judge(
        &self,
        operands: &[Operand],
        cx: &Judge,
        mut report: impl FnMut(Fault) -> Result<(), Fault>,
    ) -> Result<u16, Fault> {
        let mut present = 0;
        let count = |spec| Fault { operand: None, spec, element: None, what: What::Count };
        let Some(mut spare) = operands.len().checked_sub(self.required) else {
            return report(count(0)).map(|()| present);
        };
        let mut next = 0;
        let mut optional =
            self.signature.operands.iter().filter(|o| o.presence == SigPresence::Optional).count();
        for (spec, place) in self.signature.operands.iter().enumerate() {
            match place.presence {
                SigPresence::Required => {}
                SigPresence::OnlyWith(_) => continue,
                SigPresence::Optional => {
                    optional -= 1;
                    // What does not fit here may fit a later one.
                    if spare == 0 || (optional >= spare && fits(&place.kind, &operands[next], cx).is_err()) {
                        continue;
                    }
                    spare -= 1;
                }
            }
            // As many operands are left as places were counted.
            let verdict = fits(&place.kind, &operands[next], cx)
                .and_then(|()| allowed(place, &operands[next], cx))
                .and_then(|()| compared(place, &operands[next], operands));
            if let Err((element, what)) = verdict {
                report(Fault { operand: Some(next), spec, element, what })?;
            }
            next += 1;
            present |= 1 << spec;
        }
        if spare > 0 {
            report(count(self.signature.operands.len()))?;
        }
        Ok(present)
    }
}

/// Judges a constant that must not be less than another.
fn compared(place: &SigOperand, operand: &Operand, all: &[Operand]) -> Fit {
    match (&place.kind, operand) {
        (SigKind::Value(v @ SigValue { range: Some(Range::From(other)), .. }), &Operand::Int(bits)) => {
            let seen = |bits| converted(bits, v.ty) as u64;
            match all.get(usize::from(*other)) {
                Some(&Operand::Int(least)) if seen(bits) < seen(least) => Err((None, What::ImmediateRange)),
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Judges the gates of an operand that need not be there.
fn allowed(place: &SigOperand, operand: &Operand, cx: &Judge) -> Fit {
    let counts = match (&place.kind, operand) {
        (SigKind::Pair { .. }, operand) => matches!(operand, Operand::Pair(_)),
        // ptxas asks for the gates of a vector only where it sees one.
        (SigKind::Value(v), Operand::Reg(_) | Operand::Int(_)) => !cx.lenient || v.count.is_none(),
        _ => true,
    };
    match place.gates.iter().all(|clause| cx.allows(clause)) {
        false if counts => Err((None, What::Gate)),
        _ => Ok(()),
    }
}

type Fit = Result<(), (Option<usize>, What)>;

fn fits(kind: &SigKind, operand: &Operand, cx: &Judge) -> Fit {
    let whole = |what| Err((None, what));
    match (kind, operand) {
        (_, Operand::Unknown) => Ok(()),
        // To ptxas the first operand of anything may be a pair without its second half.
        (SigKind::Value(v), Operand::Pair([first, Operand::Sink])) if cx.lenient => value(v, first, cx),
        (SigKind::Value(v), _) => value(v, operand, cx),
        (SigKind::Address(space), Operand::Address(base)) => {
            address(space, *base, cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Element(v)) if space.reach.contains(Reach::INDEX) => {
            address(space, Base::Var(*v), cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Reg(ty) | Operand::RegPlus(ty))
            if space.reach.contains(Reach::BARE) =>
        {
            address(space, Base::Reg(*ty), cx).map_err(|what| (None, what))
        }
        (SigKind::Address(space), Operand::Var(v) | Operand::VarPlus(v) | Operand::Element(v))
            if space.reach.contains(Reach::BARE) =>
        {
            address(space, Base::Var(*v), cx).map_err(|what| (None, what))
        }
        (SigKind::Pair { first, second, .. }, Operand::Pair([a, b])) => {
            if matches!((a, b), (Operand::Sink, Operand::Sink)) {
                return whole(What::AllSinks);
            }
            value(first, a, cx).map_err(|(_, what)| (Some(0), what))?;
            value(second, b, cx).map_err(|(_, what)| (Some(1), what))
        }
        (SigKind::Pair { first, second_optional: true, .. }, _) => value(first, operand, cx),
        (SigKind::Pair { .. }, _) => whole(What::PairNeeded),
        (SigKind::Bracket(places), Operand::Bracket(elements))
        | (SigKind::Tuple(places), Operand::Vector(elements)) => bracket(places, elements, cx),
        // `[a]` where everything after the first element may be left out.
        (SigKind::Bracket(places), Operand::Address(_)) => bracket(places, std::slice::from_ref(operand), cx),
        (SigKind::Address(_) | SigKind::Bracket(_), _) => whole(What::AddressNeeded),
        (SigKind::Tuple(_), _) => whole(What::VectorNeeded),
        (SigKind::Label, Operand::Label)
        | (SigKind::Callee, Operand::Func | Operand::Reg(_))
        | (SigKind::Arguments | SigKind::Results, Operand::Arguments)
        | (SigKind::List, Operand::List) => Ok(()),
        _ => whole(What::Kind),
    }
}

fn bracket(places: &[SigOperand], elements: &[Operand], cx: &Judge) -> Fit {
    let is_sampler = |p: &SigOperand| matches!(&p.kind, SigKind::Value(v) if v.ty == ScalarType::Samplerref);
    let presence = |p: &SigOperand| match p.presence {
        SigPresence::Optional if cx.independent && is_sampler(p) => SigPresence::Required,
        written => written,
    };
    let required = places.iter().filter(|p| presence(p) == SigPresence::Required).count();
    let Some(mut spare) = elements.len().checked_sub(required) else {
        let sampler = cx.independent && places.iter().any(is_sampler);
        return Err((None, if sampler { What::SamplerNeeded } else { What::Count }));
    };
    if let Some(sampler) = places.iter().position(is_sampler)
        && (spare > 0 || presence(&places[sampler]) == SigPresence::Required)
    {
        through_sampler(elements, cx)?;
    }
    // A map or an endpoint in a register is not read as the address of a texture.
    let textured = matches!(places, [SigOperand { kind: SigKind::Address(space), .. }, ..] if !space.tensor && !space.any_register);
    let addressed = textured && matches!(elements, [Operand::Address(_), ..]);
    let mut elements = elements.iter().enumerate();
    for place in places {
        match presence(place) {
            SigPresence::Required => {}
            SigPresence::OnlyWith(_) => continue,
            SigPresence::Optional if spare == 0 => continue,
            SigPresence::Optional => spare -= 1,
        }
        if let Some((index, element)) = elements.next() {
            // Behind an address stands neither a constant nor, in the third place, a register without braces.
            let constant = matches!(element, Operand::Int(_) | Operand::Float(..));
            let scalar = index > 1 && !matches!(element, Operand::Vector(_) | Operand::Unknown);
            if addressed && (constant || scalar) {
                return Err((Some(index), What::VectorNeeded));
            }
            if let (SigKind::Value(v), &Operand::Reg(ty)) = (&place.kind, element)
                && v.ty.is_float()
                && ty.is_integer()
            {
                return Err((Some(index), What::RegisterType));
            }
            fits(&place.kind, element, cx).map_err(|(_, what)| (Some(index), what))?;
        }
    }
    if spare > 0 { Err((None, What::Count)) } else { Ok(()) }
}

/// Judges a texture and the sampler beside it, as far as the texture mode says.
fn through_sampler(elements: &[Operand], cx: &Judge) -> Fit {
    if !cx.independent && !cx.lenient {
        return Err((Some(1), What::SamplerNotAllowed));
    }
    let in_register =
        elements.iter().take(2).any(|e| matches!(e, Operand::Address(Base::Reg(_)) | Operand::Reg(_)));
    let gated = in_register || !cx.independent;
    if gated && !crate::tables::SAMPLER.iter().all(|clause| cx.allows(clause)) {
        return Err((Some(1), What::SamplerGate));
    }
    Ok(())
}

fn value(v: &SigValue, operand: &Operand, cx: &Judge) -> Fit {
    let whole = |what| Err((None, what));
    let takes = |length: usize| {
        v.count.map(usize::from) == Some(length) || v.counts.iter().any(|&n| usize::from(n) == length)
    };
    let scalar_fits = v.count.is_none() || v.counts.contains(&0);
    let loose = cx.lenient && v.count.is_none() && v.accepts.contains(Accepts::LOOSE_VECTOR);
    match operand {
        Operand::Vector([one])
            if v.count.is_none()
                && (v.accepts.contains(Accepts::LIST_OF_ONE)
                    || cx.lenient && v.accepts.contains(Accepts::BRACED) && braces_pass(v, cx)) =>
        {
            scalar(v, one, cx).map_err(|what| (None, what))
        }
        Operand::Vector(elements) if loose && elements.len().is_power_of_two() => {
            let sound = |element| match element {
                &Operand::Special { reg, lanes: 1 } if reg.ty().bits() == v.ty.bits() => Ok(()),
                _ => scalar(v, element, cx),
            };
            elements.iter().try_for_each(sound).map_err(|what| (None, what))
        }
        Operand::VectorReg(ty, _) if loose => scalar(v, &Operand::Reg(*ty), cx).map_err(|what| (None, what)),
        Operand::Vector(_) | Operand::VectorReg(..) if v.count.is_none() => whole(What::VectorNotAllowed),
        Operand::Special { lanes, .. } if *lanes > 1 && v.count.is_none() => whole(What::VectorNotAllowed),
        Operand::Vector(elements) if !takes(elements.len()) => whole(What::VectorLength),
        Operand::Vector(elements) => vector(v, elements, cx),
        Operand::VectorReg(_, lanes) | Operand::Special { lanes, .. }
            if *lanes > 1 && !takes((*lanes).into()) =>
        {
            whole(What::VectorLength)
        }
        Operand::VectorReg(..) if v.accepts.contains(Accepts::SPELT) => whole(What::VectorNeeded),
        Operand::VectorReg(ty, _) => scalar(v, &Operand::Reg(*ty), cx).map_err(|what| (None, what)),
        Operand::Special { reg, lanes } if *lanes > 1 => {
            scalar(v, &Operand::Special { reg: *reg, lanes: 1 }, cx).map_err(|what| (None, what))
        }
        Operand::Reg(_)
        | Operand::RegPlus(_)
        | Operand::Int(_)
        | Operand::Float(..)
        | Operand::Var(_)
        | Operand::VarPlus(_)
        | Operand::Func
        | Operand::FuncPlus
        | Operand::Special { lanes: 1, .. }
            if cx.lenient && v.accepts.contains(Accepts::LONE) =>
        {
            scalar(v, operand, cx).map_err(|what| (None, what))
        }
        Operand::Int(_) | Operand::Float(..)
            if v.count.is_none() && !v.accepts.contains(Accepts::LONE_CONSTANT) =>
        {
            whole(What::ImmediateNotAllowed)
        }
        _ if scalar_fits => scalar(v, operand, cx).map_err(|what| (None, what)),
        _ => whole(What::VectorNeeded),
    }
}

/// True where the braces of a scalar are passed over: not by later releases for types that have no registers of their own.
fn braces_pass(v: &SigValue, cx: &Judge) -> bool {
    !matches!(v.ty, ScalarType::BF16 | ScalarType::BF16x2) || cx.tolerates(Change::BracesOfBf16)
}

/// Judges the elements of braces.
fn vector(v: &SigValue, elements: &[Operand], cx: &Judge) -> Fit {
    let whole = |what| Err((None, what));
    let (index, rest) = match elements {
        [index, rest @ ..] if v.accepts.contains(Accepts::ARRAY) => (Some(index), rest),
        _ => (None, elements),
    };
    if let Some(index) = index {
        let integer = SigValue { ty: ScalarType::U32, registers: INDEX, ..*v };
        scalar(&integer, index, cx).map_err(|what| (Some(0), what))?;
    }
    let mut mixture = Mixture::of(rest);
    if cx.lenient && mixture.has(Mixture::INTEGER) && differ_in_sign(rest) {
        mixture = Mixture(mixture.0 | Mixture::UNTYPED.0);
    }
    let has_register = rest.iter().any(|element| matches!(element, Operand::Reg(_)));
    let (mut sinks, mut bits) = (0, None);
    for (index, element) in elements.iter().enumerate().skip(elements.len() - rest.len()) {
        let tolerated = |ty: ScalarType| cx.lenient && v.tolerated.contains(ty);
        if let Operand::Reg(ty) = element
            && !(cx.lenient && *ty == ScalarType::Pred)
            && *bits.get_or_insert(ty.bits()) != ty.bits()
        {
            return Err((Some(index), What::MixedTypes));
        }
        match element {
            Operand::Sink if v.accepts.contains(Accepts::SINK_ELEMENT) => sinks += 1,
            // Beside a float register a number is a float.
            Operand::Float(..)
                if v.accepts.contains(Accepts::INFERRED)
                    && v.accepts.contains(Accepts::IMMEDIATE)
                    && rest.contains(&Operand::Reg(ScalarType::F32))
                    && v.registers.contains(ScalarType::F32) => {}
            // Beside an untyped register a constant needs no type of its own.
            Operand::Int(_) | Operand::Float(..)
                if mixture.has(Mixture::UNTYPED) && v.accepts.contains(Accepts::IMMEDIATE) => {}
            // Beside an untyped register the others count as untyped too.
            Operand::Reg(ScalarType::Pred) if cx.lenient && mixture.has(Mixture::UNTYPED) => {}
            Operand::Reg(ty) if mixture.has(Mixture::UNTYPED) && ty.class() != TypeClass::Pred => {
                let untyped =
                    ScalarType::ALL.iter().find(|t| t.class() == TypeClass::Bits && t.bits() == ty.bits());
                if !v.registers.contains(*ty)
                    && !tolerated(*ty)
                    && !untyped.is_some_and(|&t| v.registers.contains(t))
                {
                    return Err((Some(index), What::RegisterType));
                }
            }
            Operand::Special { .. } if !v.accepts.contains(Accepts::SPECIAL_ELEMENT) => {
                return Err((Some(index), What::SpecialNotAllowed));
            }
            // ptxas takes a special register for whatever stands beside it.
            Operand::Special { reg, lanes: 1 } if cx.lenient && reg.ty().bits() == v.ty.bits() => {}
            // Beside a register a special register will do.
            Operand::Special { reg, lanes: 1 }
                if !v.destination && has_register && v.registers.contains(reg.ty()) => {}
            _ => scalar(v, element, cx).map_err(|what| (Some(index), what))?,
        }
    }
    match () {
        _ if sinks == elements.len() => whole(What::AllSinks),
        _ if mixture.clashes() => whole(What::MixedTypes),
        // Alone they have the type that they are written in.
        _ if v.accepts.contains(Accepts::INFERRED) && mixture == Mixture::FLOAT && !has_register => {
            let ty = match rest.first() {
                Some(Operand::Float(FloatKind::Bits32, _)) => ScalarType::F32,
                _ => ScalarType::F64,
            };
            if v.registers.contains(ty) { Ok(()) } else { whole(What::AllConstants) }
        }
        _ if mixture == Mixture::CONSTANT && !v.accepts.contains(Accepts::CONSTANTS_ALONE) => {
            whole(What::AllConstants)
        }
        _ => Ok(()),
    }
}

/// True for registers of signed and of unsigned integers, which to ptxas makes untyped ones of them.
fn differ_in_sign(elements: &[Operand]) -> bool {
    let has = |class| elements.iter().any(|e| matches!(e, Operand::Reg(ty) if ty.class() == class));
    has(TypeClass::Unsigned) && has(TypeClass::Signed)
}

/// The registers that may hold the index of an array of textures.
const INDEX: TypeSet = TypeSet::of(&[ScalarType::B32, ScalarType::U32, ScalarType::S32]);

/// What the elements of braces are: they must agree, and decide what the constants among them may be.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mixture(u8);

impl Mixture {
    /// A `.bN` register.
    const UNTYPED: Mixture = Mixture(1);
    /// A `.uN` or `.sN` register.
    const INTEGER: Mixture = Mixture(2);
    /// A `.fN` register or a float constant.
    const FLOAT: Mixture = Mixture(4);
    /// A register of a packed type.
    const PACKED: Mixture = Mixture(8);
    /// An integer constant.
    const CONSTANT: Mixture = Mixture(16);

    fn of(elements: &[Operand]) -> Mixture {
        let one = |element: &Operand| match element {
            Operand::Int(_) => Mixture::CONSTANT,
            Operand::Float(..) => Mixture::FLOAT,
            Operand::Reg(ty) | Operand::RegPlus(ty) => match ty.class() {
                TypeClass::Bits => Mixture::UNTYPED,
                TypeClass::Unsigned | TypeClass::Signed => Mixture::INTEGER,
                TypeClass::Float => Mixture::FLOAT,
                TypeClass::Packed => Mixture::PACKED,
                TypeClass::Pred | TypeClass::Opaque => Mixture(0),
            },
            _ => Mixture(0),
        };
        Mixture(elements.iter().fold(0, |bits, element| bits | one(element).0))
    }

    fn has(self, other: Mixture) -> bool {
        self.0 & other.0 != 0
    }

    /// Elements of several types, and no untyped register to reconcile them.
    fn clashes(self) -> bool {
        if self.has(Mixture::INTEGER) && self.has(Mixture::FLOAT) {
            return true;
        }
        let integers = self.has(Mixture(Mixture::INTEGER.0 | Mixture::CONSTANT.0));
        let kinds = [integers, self.has(Mixture::FLOAT), self.has(Mixture::PACKED)];
        !self.has(Mixture::UNTYPED) && kinds.into_iter().filter(|&present| present).count() > 1
    }
}

fn scalar(v: &SigValue, operand: &Operand, cx: &Judge) -> Result<(), What> {
    let needs = |flag, what| if v.accepts.contains(flag) { Ok(()) } else { Err(what) };
    match *operand {
        Operand::Reg(ty) => {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            let tolerated = cx.lenient && v.tolerated.contains(ty);
            if tolerated || v.registers.contains(ty) { Ok(()) } else { Err(What::RegisterType) }
        }
        Operand::RegPlus(ty) => {
            needs(Accepts::SUM, What::Kind)?;
            if !(cx.lenient && v.accepts.contains(Accepts::SLOPPY)) {
                needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            }
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            let sum = cx.lenient && v.named && adds_to(v.ty, ty);
            if sum || v.registers.contains(ty) { Ok(()) } else { Err(What::RegisterType) }
        }
        Operand::Int(bits) => {
            needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            if !v.accepts.contains(Accepts::ANY_IMMEDIATE) && !takes_integers(v.ty) {
                return Err(What::ImmediateKind);
            }
            let wraps = v.accepts.contains(Accepts::WRAPPED);
            let seen = if wraps { converted(bits, v.ty) } else { bits };
            let within = |range: Option<Range>| range.is_none_or(|range| range.contains(seen));
            let tolerated = || cx.lenient && v.tolerated_range.is_some() && within(v.tolerated_range);
            if !within(v.range) && !tolerated() {
                return Err(What::ImmediateRange);
            }
            if cx.lenient || is_representable(bits, v.ty) { Ok(()) } else { Err(What::ImmediateWraps) }
        }
        Operand::Float(FloatKind::Bits32, _) if cx.lenient && v.accepts.contains(Accepts::SLOPPY) => Ok(()),
        Operand::Float(kind, value) => {
            needs(Accepts::IMMEDIATE, What::ImmediateNotAllowed)?;
            let own = if kind == FloatKind::Bits32 { ScalarType::F32 } else { ScalarType::F64 };
            let untyped = v.accepts.contains(Accepts::INFERRED) && v.ty.class() == TypeClass::Bits;
            if untyped && !v.registers.contains(own) {
                return Err(What::ImmediateKind);
            }
            if !takes_floats(v.ty, kind) {
                return Err(What::ImmediateKind);
            }
            // Any NaN is out of it.
            let within = v.range != Some(Range::Fraction) || (value as f32 > 0.0 && value as f32 <= 1.0);
            if within { Ok(()) } else { Err(What::ImmediateRange) }
        }
        Operand::Special { reg, .. } => {
            needs(Accepts::SPECIAL, What::SpecialNotAllowed)?;
            // In conversions a wider one, as for registers; never for a float.
            let fits = |ty| matching(v.ty, ty) || v.registers.contains(ty);
            if v.ty.is_float() || !reg.types().iter().any(fits) {
                return Err(What::RegisterType);
            }
            match reg.clauses().iter().all(|clause| clause.allows(cx.version, cx.target)) {
                true => Ok(()),
                false => Err(What::SpecialGate(reg)),
            }
        }
        Operand::Var(var) if v.ty.class() == TypeClass::Opaque => {
            // To ptxas a texture, or surface, stands for its sampler in unified mode.
            let fits = match cx.independent {
                true => var.ty == v.ty,
                false => matches!(var.ty, ScalarType::Texref | ScalarType::Surfref),
            };
            if fits { Ok(()) } else { Err(What::VariableNotAllowed) }
        }
        // To ptxas the sum is a constant like others, unless the operand is an address or a descriptor.
        Operand::VarPlus(_)
            if cx.lenient
                && takes_numbers(v.ty)
                && v.space.is_none()
                && (v.named || v.registers.contains(ScalarType::B32)) =>
        {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            needs(Accepts::IMMEDIATE, What::VariableNotAllowed)
        }
        Operand::FuncPlus
            if cx.lenient
                && v.named
                && v.space.is_none()
                && !matches!(v.ty, ScalarType::Pred | ScalarType::BF16 | ScalarType::BF16x2) =>
        {
            needs(Accepts::REGISTER, What::ImmediateRequired)?;
            needs(Accepts::IMMEDIATE, What::VariableNotAllowed)
        }
        Operand::Func
            if cx.lenient
                && !matches!(v.ty, ScalarType::Pred | ScalarType::BF16 | ScalarType::BF16x2)
                && !v.destination
                && v.space.is_none()
                && !v.accepts.contains(Accepts::INFERRED) =>
        {
            match takes_numbers(v.ty) {
                true if v.named => needs(Accepts::IMMEDIATE, What::VariableNotAllowed),
                true => Err(What::VariableNotAllowed),
                false => needs(Accepts::REGISTER, What::VariableNotAllowed),
            }
        }
        // An address is an integer.
        Operand::Var(_)
        | Operand::VarPlus(_)
        | Operand::Element(_)
        | Operand::Func
        | Operand::FuncPlus
        | Operand::Label
            if v.ty == ScalarType::Pred || !takes_integers(v.ty) =>
        {
            Err(What::VariableNotAllowed)
        }
        Operand::Var(var) | Operand::VarPlus(var) | Operand::Element(var) => {
            needs(Accepts::VARIABLE, What::VariableNotAllowed)?;
            if v.space.is_none_or(|space| space.allows(var.space)) { Ok(()) } else { Err(What::AddressSpace) }
        }
        Operand::Func | Operand::Label => needs(Accepts::FUNCTION, What::VariableNotAllowed),
        Operand::FuncPlus => Err(What::VariableNotAllowed),
        Operand::Sink => needs(Accepts::SINK, What::SinkNotAllowed),
        Operand::Not(inner) => {
            let loose = cx.lenient && v.accepts.contains(Accepts::SLOPPY);
            if !(loose && matches!(inner, Operand::Reg(ScalarType::Pred))) {
                needs(Accepts::COMPLEMENTED, What::ComplementNotAllowed)?;
            }
            scalar(v, inner, cx)
        }
        Operand::Neg(inner) => {
            needs(Accepts::NEGATED, What::NegationNotAllowed)?;
            scalar(&SigValue { accepts: v.accepts.with(Accepts::REGISTER), ..*v }, inner, cx)
        }
        Operand::Select(inner, part) => match *inner {
            _ if !selects(v.accepts, part) => Err(What::SelectNotAllowed),
            _ if !v.accepts.contains(Accepts::REGISTER) => Err(What::NegationNeeded),
            Operand::Reg(ty) if v.registers.contains(ty) => Ok(()),
            _ => Err(What::RegisterType),
        },
        Operand::Pair(_) => Err(What::PairNotAllowed),
        Operand::Vector(_) | Operand::VectorReg(..) => Err(What::VectorNotAllowed),
        Operand::Unknown => Ok(()),
        Operand::List | Operand::Address(_) | Operand::Bracket(_) | Operand::Arguments => Err(What::Kind),
    }
}

/// Integer constants fit integers, bits and predicates of any size (they are truncated), never floats.
fn takes_integers(ty: ScalarType) -> bool {
    matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed | TypeClass::Pred)
}

/// True where ptxas takes the sum of a register and a constant for a value of a type that a modifier names: it does not look at the
/// width of the register.
fn adds_to(ty: ScalarType, register: ScalarType) -> bool {
    let half2 = register == ScalarType::F16x2;
    match (ty.class(), register.class()) {
        _ if ty == ScalarType::BF16 || ty == ScalarType::BF16x2 => false,
        (TypeClass::Pred, class) => class == TypeClass::Pred || half2,
        (TypeClass::Bits, class) => !matches!(class, TypeClass::Pred | TypeClass::Opaque),
        (TypeClass::Unsigned | TypeClass::Signed, class) => {
            matches!(class, TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed) || half2
        }
        (TypeClass::Float, class) => matches!(class, TypeClass::Bits | TypeClass::Float),
        (TypeClass::Packed, class) => class == TypeClass::Bits || half2,
        (TypeClass::Opaque, _) => false,
    }
}

/// Integers and untyped bits.
fn takes_numbers(ty: ScalarType) -> bool {
    ty != ScalarType::Pred && takes_integers(ty)
}

/// True for a constant that keeps its value in the type, as a number with or without a sign. `mov.pred p, -1` is usual.
fn is_representable(bits: i64, ty: ScalarType) -> bool {
    match ty.bits() {
        1 => (-1..=1).contains(&bits),
        width @ 2..=63 => (-1 << (width - 1)..1 << width).contains(&bits),
        _ => true,
    }
}

/// `0f` constants fit `.f32`, `.f64` and `.b32`; the others `.f32`, `.f64` and `.b64`.
fn takes_floats(ty: ScalarType, kind: FloatKind) -> bool {
    match ty {
        ScalarType::F32 | ScalarType::F64 => true,
        ScalarType::B32 => kind == FloatKind::Bits32,
        ScalarType::B64 => kind != FloatKind::Bits32,
        _ => false,
    }
}

/// A constant as its type sees it, which is what a range is about.
fn converted(bits: i64, ty: ScalarType) -> i64 {
    match (ty.bits(), ty.is_signed()) {
        (1..=8, false) => (bits as u8).into(),
        (1..=8, true) => (bits as i8).into(),
        (16, false) => (bits as u16).into(),
        (16, true) => (bits as i16).into(),
        (32, false) => (bits as u32).into(),
        (32, true) => (bits as i32).into(),
        _ => bits,
    }
}

/// Which parts of a register video instructions may name (manual 9.7.18).
fn selects(accepts: Accepts, part: &str) -> bool {
    let (letter, digits) = part.split_at(part.len().min(1));
    let digits = digits.as_bytes();
    let below = |n: u8| digits.iter().all(|d| (b'0'..b'0' + n).contains(d));
    let decreasing = digits.windows(2).all(|pair| pair[0] > pair[1]);
    let has = |flag| accepts.contains(flag);
    match (letter, digits.len()) {
        ("b", 1) if has(Accepts::SELECTED) && below(4) => true,
        ("h", 1) if has(Accepts::SELECTED) && below(2) => true,
        ("h", 2) if has(Accepts::LANES2) && below(4) => true,
        ("b", 4) if has(Accepts::LANES4) && below(8) => true,
        ("h", 1..=2) if has(Accepts::MASK2) && below(2) && decreasing => true,
        ("b", 1..=4) if has(Accepts::MASK4) && below(4) && decreasing => true,
        _ => false,
    }
}

fn address(space: &SigSpace, base: Base, cx: &Judge) -> Result<(), What> {
    let integer = |ty: ScalarType| {
        matches!(ty.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
            && ty.bits() <= 64
            && ty.bits() >= 8
    };
    if space.tensor {
        return match base {
            Base::Unknown => Ok(()),
            Base::Reg(ty) if space.handle.contains(ty) => Ok(()),
            Base::Reg(ty) if space.handle == TypeSet::EMPTY && integer(ty) && ty.bits() == 32 => Ok(()),
            // ptxas looks at the size alone.
            Base::Reg(ScalarType::F16x2) if space.handle == TypeSet::EMPTY && cx.lenient => Ok(()),
            Base::Reg(_) | Base::Special(_) => Err(What::AddressRegister),
            _ => Err(What::AddressSpace),
        };
    }
    if space.handle != TypeSet::EMPTY {
        // What may be asked of textures and of samplers is asked of that which the texture mode has for it.
        let named = |ty| {
            space.handle.contains(ty)
                && match ty {
                    ScalarType::Texref => !cx.independent || !space.handle.contains(ScalarType::Samplerref),
                    ScalarType::Samplerref => cx.independent,
                    _ => true,
                }
        };
        return match base {
            Base::Var(v) if named(v.ty) => Ok(()),
            Base::Reg(ty) if integer(ty) && ty.bits() == 64 => {
                let surface = space.handle.contains(ScalarType::Surfref);
                let asked = surface || !cx.independent;
                let allowed = !asked || crate::tables::HANDLE.iter().all(|clause| cx.allows(clause));
                if allowed { Ok(()) } else { Err(What::HandleGate) }
            }
            Base::Unknown => Ok(()),
            Base::Reg(_) => Err(What::AddressRegister),
            _ => Err(What::AddressSpace),
        };
    }
    let far = matches!(space.space(), StateSpace::Generic | StateSpace::Global);
    let has = |reach: Reach| space.reach.contains(reach);
    let narrow = |ty: ScalarType| match ty.bits() {
        64 => false,
        32 => far && has(Reach::WIDE),
        _ => has(Reach::WORD) || (far && has(Reach::FAR)),
    };
    let still = space.reach.contains(Reach::STILL);
    let outside = |v: Variable| {
        space.reach.contains(Reach::CTA)
            && space.space() == StateSpace::Generic
            && v.space != StateSpace::Shared
    };
    match base {
        Base::Unknown => Ok(()),
        Base::Var(_) if has(Reach::REGISTER) => Err(What::AddressSpace),
        Base::Var(v) if outside(v) => Err(What::AddressSpace),
        _ if space.reach.contains(Reach::ANY) && cx.lenient => Ok(()),
        Base::Reg(_) if space.any_register => Ok(()),
        Base::Special(_) if space.any_register => Err(What::AddressRegister),
        Base::Reg(ty) if !integer(ty) || narrow(ty) => Err(What::AddressRegister),
        // Of 32 bits ptxas says only when it generates code that it cannot.
        Base::Reg(ty) if !cx.lenient && ty.bits() < if far { 64 } else { 32 } => Err(What::AddressRegister),
        Base::Reg(_) => Ok(()),
        Base::Special(_) if has(Reach::CTA) => Err(What::AddressRegister),
        Base::Special(reg) if integer(reg.ty()) && !(still && reg.ty().bits() > 32) => Ok(()),
        Base::Special(_) => Err(What::AddressRegister),
        Base::Var(v) if space.allows(v.space) && v.ty.class() != TypeClass::Opaque => Ok(()),
        // Where ptxas does not load or store itself, a texture or surface is an address in any space.
        Base::Var(v)
            if cx.lenient && v.ty.class() == TypeClass::Opaque && !has(Reach::INDEX) && !has(Reach::CTA) =>
        {
            Ok(())
        }
        Base::Var(_) | Base::Func => Err(What::AddressSpace),
        Base::Int if space.space() == StateSpace::Local => Ok(()),
        Base::Int => Err(What::ImmediateAddress),
    }
}
