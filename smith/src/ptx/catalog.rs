//! Which instructions a program can be made of: instances of the forms of the tables, sorted by what they do. Nothing here names an instruction; a new row
//! of the tables is generated from then on.

use std::sync::OnceLock;
use warpsmith_isa::sample::{Arg, Sample, of_form};
use warpsmith_isa::{
    Accepts, Class, FORMS, Mnemonic, Mod, Opcode, Operation, ScalarType, SigKind, StateSpace, Target, Traits,
    Variant, forms,
};
use warpsmith_semantics::{Effect, Meaning, Written, plan};

/// An instance of a form, ready to be given operands.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub sample: Sample,
    pub operation: Operation,
    /// The name as it is printed.
    pub text: String,
    /// The type of each operand's value, for destinations; `None` where there is none.
    pub types: Vec<Option<ScalarType>>,
    /// Where a predicate may be a constant.
    pub truths: Vec<bool>,
    /// It reads the carry flag that an instruction before it must have written.
    pub reads_carry: bool,
    /// Its result is not the same everywhere, within the manual's bounds.
    pub approximate: bool,
    /// A component of a register cannot be its operand.
    pub selects: bool,
    /// The reference interpreter executes it.
    pub reference: bool,
}

/// All that programs draw from.
pub(crate) struct Catalog {
    /// By operation, so that a family with many forms is not drawn more often than one with few.
    pub pure: Vec<Vec<Template>>,
    pub loads: Vec<Template>,
    pub stores: Vec<Template>,
    pub atomics: Vec<Template>,
    pub reductions: Vec<Template>,
}

/// The catalog for programs for a target; each list has what is legal there.
pub(crate) fn of_target(target: Target) -> &'static Catalog {
    static ALL: OnceLock<Vec<(Target, Catalog)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let samples = samples();
        super::TARGETS.iter().map(|&target| (target, Catalog::new(&samples, target))).collect()
    });
    // TARGETS is what programs are made for.
    let found = all.iter().find(|(of, _)| *of == target).or(all.first());
    &found.expect("there are targets").1
}

fn samples() -> Vec<Template> {
    let oldest = Target::sm(50);
    let all = FORMS.iter().filter(|form| {
        let effect = Meaning::of(form.operation);
        matches!(
            effect,
            Meaning::Computes(_)
                | Meaning::Does(Effect::Load | Effect::Store | Effect::Atomic | Effect::Reduce)
        )
    });
    all.flat_map(|form| of_form(form, oldest)).filter_map(template).collect()
}

fn template(sample: Sample) -> Option<Template> {
    if sample.target.variant != Variant::Base {
        return None;
    }
    let instruction = forms(&sample.mnemonic).find(|i| i.form().id() == sample.form.id())?;
    if matches!(Meaning::of_instruction(&instruction), Meaning::Refused(_)) {
        return None;
    }
    let operation = instruction.operation();
    let width = match sample.operands.first() {
        Some(Arg::Reg(ty)) => ty.bits().max(32),
        _ => 32,
    };
    let written = Written { destination_bits: width, ..Written::default() };
    if matches!(Meaning::of(operation), Meaning::Computes(_)) && plan(&instruction, &written).is_none() {
        // ptxas takes it, and the manual gives it no meaning.
        return None;
    }
    let signature = instruction.signature();
    let required = |kind: &warpsmith_isa::SigPresence| matches!(kind, warpsmith_isa::SigPresence::Required);
    let all = signature.operands.iter().filter(|operand| required(&operand.presence)).count();
    let optional = sample.operands.len() > all;
    let present = signature.operands.iter().filter(|operand| {
        required(&operand.presence)
            || (optional && matches!(operand.presence, warpsmith_isa::SigPresence::Optional))
    });
    let types = present.clone().map(|operand| match &operand.kind {
        SigKind::Value(value) => Some(value.ty),
        SigKind::Pair { first, .. } => Some(first.ty),
        SigKind::Address(_)
        | SigKind::Bracket(_)
        | SigKind::Tuple(_)
        | SigKind::Label
        | SigKind::Callee
        | SigKind::Arguments
        | SigKind::Results
        | SigKind::List => None,
    });
    let types: Vec<Option<ScalarType>> = types.collect();
    let truths = present.map(
        |operand| matches!(&operand.kind, SigKind::Value(value) if value.accepts.contains(Accepts::IMMEDIATE)),
    );
    let truths = truths.collect();
    let mods = sample.mnemonic.mods();
    let approximate = mods.contains(&Mod::Approx) || is_approximate(operation);
    let reads_carry = sample.form.traits.contains(Traits::CARRY)
        && matches!(operation, Operation::Addc | Operation::Subc | Operation::MadcLo | Operation::MadcHi);
    if reads_carry && sample.mnemonic.types().any(|ty| ty.bits() == 16) {
        // The manual has none of 16 bits; ptxas takes them, and makes `.hi` the upper half of 64.
        return None;
    }
    let text = sample.mnemonic.to_string();
    let reference = crate::reference::executes(&sample.mnemonic);
    // ptxas expands these to text of its own, in which it does not read components (`docs/findings.md`).
    let expanded = matches!(sample.mnemonic.opcode(), Opcode::Div | Opcode::Rcp | Opcode::Rem | Opcode::Sqrt);
    // And it loses `.sat` where a component is the result.
    let saturates = mods.contains(&Mod::Sat);
    // 13.5 crashes when it makes code of such a load.
    let crashes = mods.contains(&Mod::Mmio);
    let selects = instruction.class() == Class::Video || expanded || saturates || crashes;
    Some(Template { operation, text, types, truths, reads_carry, approximate, selects, reference, sample })
}

fn is_approximate(operation: Operation) -> bool {
    // Half-precision forms have no `.approx` that would say so.
    matches!(operation, Operation::TanhHalf | Operation::Ex2Half | Operation::DivFull)
}

impl Catalog {
    fn new(all: &[Template], target: Target) -> Catalog {
        let legal = |template: &&Template| template.sample.target.sm <= target.sm;
        let does = |effect: Effect| {
            let of = move |template: &&Template| match Meaning::of(template.operation) {
                Meaning::Does(found) => found == effect,
                Meaning::Computes(_) | Meaning::Refused(_) => false,
            };
            all.iter().filter(legal).filter(of).filter(|t| is_plain_access(t)).cloned().collect()
        };
        let mut pure: Vec<Vec<Template>> = Vec::new();
        for template in all.iter().filter(legal) {
            if !matches!(Meaning::of(template.operation), Meaning::Computes(_)) || !has_operands(template) {
                continue;
            }
            match pure.iter_mut().find(|of| of[0].operation == template.operation) {
                Some(of) => of.push(template.clone()),
                None => pure.push(vec![template.clone()]),
            }
        }
        Catalog {
            pure,
            loads: does(Effect::Load),
            stores: does(Effect::Store),
            atomics: does(Effect::Atomic),
            reductions: does(Effect::Reduce),
        }
    }
}

/// True where all operands are registers and constants that the generator has.
fn has_operands(template: &Template) -> bool {
    fn known(arg: &Arg) -> bool {
        match arg {
            Arg::Reg(ty) | Arg::Not(ty) | Arg::Neg(ty) | Arg::Part(ty, _) => *ty != ScalarType::B8,
            Arg::Int(_) | Arg::F32(_) | Arg::F64(_) | Arg::Sink => true,
            Arg::Vector(all) => all.iter().all(known),
            Arg::Pair(both) => both.iter().all(known),
            Arg::Address(_) | Arg::TensorAddress | Arg::Handle | Arg::Bracket(_) => false,
        }
    }
    template.sample.destinations > 0 && template.sample.operands.iter().all(known)
}

/// True for an access of one address in a space that the generator has memory in, with values whose bits are all there.
fn is_plain_access(template: &Template) -> bool {
    let mods = template.sample.mnemonic.mods();
    let unusual = [
        Mod::ParamFunc,
        Mod::ParamEntry,
        Mod::SharedCluster,
        Mod::L2CacheHint,
        Mod::ProxyReadonly,
        Mod::Unpack16b,
        Mod::Cluster,
    ];
    // ptxas crashes when it makes code of these (`docs/findings.md`).
    let crashes = mods.contains(&Mod::V8) && template.sample.mnemonic.types().any(|ty| ty.bits() <= 16);
    let is_float = |ty: ScalarType| ty.is_float() || ty == ScalarType::F16x2 || ty == ScalarType::BF16x2;
    let atomic = matches!(template.sample.mnemonic.opcode(), Opcode::Atom | Opcode::Red);
    let left_out = crashes
        || unusual.iter().any(|m| mods.contains(m))
        || (atomic && template.sample.mnemonic.types().any(is_float));
    !left_out
        && template.sample.operands.iter().all(|arg| match arg {
            Arg::Address(space) => matches!(
                space,
                StateSpace::Generic
                    | StateSpace::Global
                    | StateSpace::Shared
                    | StateSpace::Local
                    | StateSpace::Const
            ),
            Arg::Reg(_) | Arg::Sink | Arg::Int(_) | Arg::F32(_) | Arg::F64(_) => true,
            Arg::Vector(all) => all.iter().all(|a| matches!(a, Arg::Reg(_) | Arg::Sink)),
            Arg::TensorAddress
            | Arg::Handle
            | Arg::Bracket(_)
            | Arg::Pair(_)
            | Arg::Not(_)
            | Arg::Neg(_)
            | Arg::Part(..) => false,
        })
}

/// How many bytes an access reaches.
#[expect(clippy::wildcard_enum_match_arm, reason = "only vectors have lanes")]
pub(crate) fn access_bytes(mnemonic: &Mnemonic) -> Option<u32> {
    let element = mnemonic.types().last()?.bytes()?;
    let lanes = mnemonic.mods().iter().find_map(|m| match m {
        Mod::V2 => Some(2),
        Mod::V4 => Some(4),
        Mod::V8 => Some(8),
        _ => None,
    });
    Some(element * lanes.unwrap_or(1))
}
