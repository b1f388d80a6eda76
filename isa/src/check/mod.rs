//! Validation of one instruction: does a mnemonic with its operands exist in PTX of this version for this target?
//!
//! [`Resolved::new`] does what depends on the mnemonic alone, once; [`Resolved::check`] looks only at the operands, and allocates
//! nothing for an instruction that is legal.

mod address;
mod place;
mod scalar;
mod value;

use crate::form::Range;
use crate::operand::Operand;
use crate::resolve::{SigKind, SigOperand, SigPresence, SigValue, Signature, forms};
use crate::violation::{self, Violation};
use crate::{Change, Clause, Demand, Instruction, Mnemonic, Release, SpecialReg, Target, Version, codes};
use place::fits;
use scalar::converted;
use smallvec::SmallVec;

/// The version, target and release that an instruction is validated for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// The `.version` of the module.
    pub version: Version,
    /// The `.target` of the module.
    pub target: Target,
    /// True for `texmode_independent`: textures are read through samplers of their own (PTX ISA 9.0, 5.3).
    pub independent_textures: bool,
    /// The release of ptxas to follow; `None`: all that support the version, and only violations in each of them are errors.
    pub release: Option<Release>,
}

impl Context {
    fn rules(&self, lenient: bool) -> Rules {
        let Context { version, target, independent_textures: independent, release } = *self;
        Rules { version, target, independent, release, lenient }
    }

    /// A context without `texmode_independent`, for all releases.
    pub fn new(version: Version, target: Target) -> Self {
        Context { version, target, independent_textures: false, release: None }
    }

    /// The releases that reject the subject of a change.
    pub fn refuses(&self, change: Change) -> Demand {
        Demand::of(change.refused(), self.version, self.release)
    }

    /// True for a gate of the tables that the release of ptxas, or every release, enforces.
    pub fn insists(&self, clause: &Clause) -> bool {
        clause.demand(self.version, self.release) == Demand::All
    }
}

/// The rules in force: the manual's, or with the leniency of ptxas.
#[derive(Clone, Copy)]
struct Rules {
    version: Version,
    target: Target,
    independent: bool,
    release: Option<Release>,
    lenient: bool,
}

impl Rules {
    fn allows(&self, clause: &Clause) -> bool {
        // The manual is that of the newest release; a gate that no release in question enforces does not belong to it.
        let demand = clause.demand(self.version, self.release);
        (demand == Demand::None && !clause.advisory)
            || (self.lenient && demand != Demand::All)
            || clause.allows(self.version, self.target)
    }

    /// True if some release in question ignores the subject of a change.
    fn tolerates(&self, change: Change) -> bool {
        self.lenient && Demand::of(change.refused(), self.version, self.release) != Demand::All
    }
}

/// The result of validating an instruction.
#[derive(Debug)]
pub enum Verdict {
    /// Valid: the resolved instruction.
    Legal(Instruction),
    /// Accepted by ptxas against the manual, with the violations.
    Lenient(Instruction, Vec<Violation>),
    /// Invalid, with the violations.
    Wrong(Vec<Violation>),
}

/// A mnemonic with the forms that its modifiers fit, ready to validate operands.
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
    /// True if the manual allows it as well.
    sound: bool,
}

impl Resolved {
    /// Finds the forms whose slots accept the modifiers.
    pub fn new(mnemonic: &Mnemonic, context: Context) -> Self {
        let candidates = forms(mnemonic)
            .map(|matched| {
                let signature = matched.signature();
                let required =
                    signature.operands.iter().filter(|o| o.presence == SigPresence::Required).count();
                let rules = context.rules(true);
                let strict = Rules { lenient: false, ..rules };
                let allows = |rules: Rules| matched.clauses().all(|(_, clause)| rules.allows(clause));
                let allowed = allows(rules);
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

    /// The instruction as ptxas resolves it, or all violations.
    pub fn check(&self, operands: &[Operand]) -> Result<Instruction, Vec<Violation>> {
        self.accepts(operands).ok_or_else(|| self.explain(operands))
    }

    /// The instruction as ptxas resolves it, if it accepts it.
    pub fn accepts(&self, operands: &[Operand]) -> Option<Instruction> {
        self.legal(operands).or_else(|| self.lenient(operands))
    }

    /// The resolved instruction, with the violations that ptxas tolerates, or all violations.
    pub fn verdict(&self, operands: &[Operand]) -> Verdict {
        match self.legal(operands) {
            Some(matched) => Verdict::Legal(matched),
            None => self.lenient_verdict(operands),
        }
    }

    /// The lowest version from this one's on in which the manual has the instruction for the target; if there is none, in which ptxas accepts it. A
    /// manual that only some releases follow will do.
    #[cold]
    pub fn lowest_version(&self, operands: &[Operand]) -> Option<Version> {
        let own = Some(self.context.version);
        let releases = Release::known().filter(|release| release.version() >= own).map(Some);
        let mut manuals = releases
            .filter(|_| self.context.release.is_none())
            .map(|release| Context { release, ..self.context });
        if self.legal(operands).is_some()
            || manuals.any(|context| Resolved::new(&self.mnemonic, context).legal(operands).is_some())
        {
            return own;
        }
        let later = || {
            let versions = Version::known().filter(|&version| version > self.context.version);
            versions.map(|version| Resolved::new(&self.mnemonic, Context { version, ..self.context }))
        };
        if let Some(resolved) = later().find(|resolved| resolved.legal(operands).is_some()) {
            return Some(resolved.context.version);
        }
        if self.lenient(operands).is_some() {
            return own;
        }
        let lowest = later().find(|resolved| resolved.accepts(operands).is_some());
        lowest.map(|resolved| resolved.context.version)
    }

    /// The instruction by the rules of the manual, if it is valid.
    pub(crate) fn legal(&self, operands: &[Operand]) -> Option<Instruction> {
        let rules = self.by(false);
        self.candidates.iter().filter(|c| c.sound).find_map(|c| c.accepts(operands, &rules))
    }

    #[cold]
    fn lenient(&self, operands: &[Operand]) -> Option<Instruction> {
        let rules = self.by(true);
        self.candidates.iter().filter(|c| c.allowed).find_map(|c| c.accepts(operands, &rules))
    }

    #[cold]
    fn lenient_verdict(&self, operands: &[Operand]) -> Verdict {
        let Some(matched) = self.lenient(operands) else {
            return Verdict::Wrong(self.explain(operands));
        };
        // Reported for the form with the fewest violations of the manual.
        let rules = self.by(true);
        let taken = self.candidates.iter().filter(|c| c.allowed && c.fits(operands, &rules).is_ok());
        let violations = taken.map(|c| {
            let mut violations = violation::of_leniency(&c.matched, &self.mnemonic, &self.context);
            let faults = c.faults(operands, &self.by(false));
            violations.extend(
                faults
                    .into_iter()
                    .map(|f| violation::of_fault(&self.mnemonic, &c.signature, operands, f, &self.context)),
            );
            violations
        });
        Verdict::Lenient(matched, violations.min_by_key(Vec::len).unwrap_or_default())
    }

    fn by(&self, lenient: bool) -> Rules {
        self.context.rules(lenient)
    }

    /// The slow path: why no form fits.
    #[cold]
    fn explain(&self, operands: &[Operand]) -> Vec<Violation> {
        if self.candidates.is_empty() {
            return crate::of_text(&self.mnemonic.to_string(), operands, &self.context);
        }
        // The form that the operands fit but the gates do not allow, else the allowed form whose first fault comes last.
        let rules = self.by(true);
        let fault = |c: &Candidate| c.fits(operands, &rules).err();
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
        for fault in best.faults(operands, &rules) {
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
                // One mistake, reported once.
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

/// Validates one instruction. To validate many with the same mnemonic, keep its [`Resolved`].
pub fn check(
    mnemonic: &Mnemonic,
    operands: &[Operand],
    context: &Context,
) -> Result<Instruction, Vec<Violation>> {
    Resolved::new(mnemonic, *context).check(operands)
}

/// A violation by an operand, in terms of its place.
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
    fn fits(&self, operands: &[Operand], cx: &Rules) -> Result<(), Fault> {
        self.compare(operands, cx, Err).map(|_| ())
    }

    /// The instruction, if the operands fit.
    fn accepts(&self, operands: &[Operand], cx: &Rules) -> Option<Instruction> {
        self.compare(operands, cx, Err).ok().map(|present| self.matched.with_places(present))
    }

    /// Every fault.
    fn faults(&self, operands: &[Operand], cx: &Rules) -> Vec<Fault> {
        let mut all = Vec::new();
        let pushed = self.compare(operands, cx, |fault| {
            all.push(fault);
            Ok(())
        });
        debug_assert!(pushed.is_ok());
        all
    }

    /// Pairs operands with their places and hands every fault to `report`, which says whether to go on. Of the optional places as many
    /// are used as there are operands to spare, the leftmost that fit. Gives the places that are used, a bit for each.
    fn compare(
        &self,
        operands: &[Operand],
        cx: &Rules,
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

/// Validates a constant that must not be less than another.
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

/// Validates the gates of an optional operand.
fn allowed(place: &SigOperand, operand: &Operand, cx: &Rules) -> Fit {
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
