//! What comes from the ISA tables: special registers, and instructions whose names, operands and effects the tables give.

use crate::entities::{FuncId, GlobalId};
use crate::ops::{Opcode, Traits};
use crate::types::{Scalar, Type};
use smallvec::SmallVec;
use std::fmt;
use warpsmith_diag::Span;
use warpsmith_isa::{
    self as isa, Accepts, Instruction, Mnemonic, Mod, ScalarType, SigKind, SigPresence, SigValue, Signature,
    SpecialReg, TypeClass, forms,
};

/// A special register, or a component of one: `tid.x`, `laneid`, `gridid`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sreg {
    reg: SpecialReg,
    component: u8,
}

/// The components of `%tid` and its like.
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

macro_rules! special_registers {
    ($($name:ident $reg:ident $component:literal $doc:literal,)*) => {
        /// The registers that every kernel reads.
        impl Sreg {
            $(#[doc = $doc] pub const $name: Sreg = Sreg { reg: SpecialReg::$reg, component: $component };)*
        }
    };
}

special_registers! {
    TID_X Tid 0 "`%tid.x`: the thread's number in its block.",
    TID_Y Tid 1 "`%tid.y`",
    TID_Z Tid 2 "`%tid.z`",
    NTID_X Ntid 0 "`%ntid.x`: the threads of a block.",
    NTID_Y Ntid 1 "`%ntid.y`",
    NTID_Z Ntid 2 "`%ntid.z`",
    CTAID_X Ctaid 0 "`%ctaid.x`: the block's number in the grid.",
    CTAID_Y Ctaid 1 "`%ctaid.y`",
    CTAID_Z Ctaid 2 "`%ctaid.z`",
    NCTAID_X Nctaid 0 "`%nctaid.x`: the blocks of the grid.",
    NCTAID_Y Nctaid 1 "`%nctaid.y`",
    NCTAID_Z Nctaid 2 "`%nctaid.z`",
    LANEID Laneid 0 "`%laneid`: the thread's number in its warp.",
    WARPID Warpid 0 "`%warpid`: the warp's number in its block.",
    CLUSTERID_X Clusterid 0 "`%clusterid.x`: the cluster's number in the grid.",
    CLUSTER_CTARANK ClusterCtarank 0 "`%cluster_ctarank`: the block's number in its cluster.",
    CLUSTER_NCTARANK ClusterNctarank 0 "`%cluster_nctarank`: the blocks of a cluster.",
    CLOCK64 Clock64 0 "`%clock64`: a count of cycles.",
    GLOBALTIMER Globaltimer 0 "`%globaltimer`: nanoseconds.",
}

impl Sreg {
    /// A scalar special register, or the component 0 to 2 of a vector. `None` where the two do not go together.
    pub fn new(reg: SpecialReg, component: Option<u8>) -> Option<Sreg> {
        match (reg.lanes(), component) {
            (1, None) => Some(Sreg { reg, component: 0 }),
            (2.., Some(component @ 0..=2)) => Some(Sreg { reg, component }),
            _ => None,
        }
    }

    /// The register of a name without `%`: `tid.x`.
    pub fn from_name(name: &str) -> Option<Sreg> {
        // Every name fits, the others are refused before the copy.
        if name.len() > 64 {
            return None;
        }
        let reg = |name: &str| SpecialReg::from_name(&format!("%{name}"));
        if let Some(reg) = reg(name) {
            return Sreg::new(reg, None);
        }
        let (name, component) = name.rsplit_once('.')?;
        let component = COMPONENTS.iter().position(|c| *c == component)?;
        Sreg::new(reg(name)?, Some(component as u8))
    }

    /// Every special register and component.
    pub fn all() -> impl Iterator<Item = Sreg> {
        let components = [None, Some(0), Some(1), Some(2)];
        SpecialReg::all().flat_map(move |reg| components.into_iter().filter_map(move |c| Sreg::new(reg, c)))
    }

    /// The register that it is or is part of.
    pub fn reg(self) -> SpecialReg {
        self.reg
    }

    /// Which component of a vector: 0 is `x`. `None` for scalar registers.
    pub fn component(self) -> Option<u8> {
        (self.reg.lanes() > 1).then_some(self.component)
    }

    /// The type of the value read.
    pub fn ty(self) -> Type {
        type_of_scalar(self.reg.ty()).unwrap_or(Type::I32)
    }

    /// True if every read by a thread gives the same: the position of the thread, the shape of the launch.
    pub fn is_constant(self) -> bool {
        let name = self.reg.name().trim_start_matches('%');
        ["tid", "ntid", "laneid", "ctaid", "nctaid", "gridid", "lanemask", "cluster", "nclusterid"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            || name.ends_with("smem_size")
            || name.starts_with("is_explicit_cluster")
    }
}

impl fmt::Display for Sreg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reg.name().trim_start_matches('%'))?;
        match self.component() {
            Some(component) => write!(f, ".{}", COMPONENTS[component as usize]),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Sreg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The constant part of a table-derived instruction: its operation and its operand list after PTX's manner. Each
/// [`PtxOperand`] that has a value in it stands for the next of the instruction's arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct PtxData {
    mnemonic: Mnemonic,
    /// The operands after the destinations, which are the instruction's results.
    pub operands: Vec<PtxOperand>,
    traits: Traits,
    instruction: Option<Instruction>,
}

/// A form that a mnemonic can mean, with the types of its operands.
pub(crate) type Candidate = (Instruction, Signature);

/// The forms that a mnemonic can mean.
pub(crate) fn candidates(mnemonic: &Mnemonic) -> Vec<Candidate> {
    forms(mnemonic).map(|form| (form, form.signature())).collect()
}

impl PtxData {
    /// An operation with its operands. Its form is known once it is part of a function, with its results.
    pub fn new(mnemonic: Mnemonic, operands: Vec<PtxOperand>) -> Self {
        let traits = forms(&mnemonic).fold(Traits::NONE, |all, form| all.with(traits(form.traits())));
        PtxData { mnemonic, operands, traits, instruction: None }
    }

    /// The operation.
    pub fn mnemonic(&self) -> &Mnemonic {
        &self.mnemonic
    }

    /// What it was resolved to: its form, its modifiers, which of the form's operands it has. In a function that was verified, every
    /// operation has been resolved.
    pub fn instruction(&self) -> Option<&Instruction> {
        self.instruction.as_ref()
    }

    /// The operation as one that gives so many results.
    pub(crate) fn resolved(mut self, candidates: &[Candidate], results: usize) -> Self {
        self.instruction =
            candidate_for(candidates, &self.operands, results).map(|(instruction, _)| instruction);
        self
    }

    /// [`PtxData::resolved`] for one operation of its mnemonic.
    pub(crate) fn resolved_alone(self, results: usize) -> Self {
        let candidates = candidates(&self.mnemonic);
        self.resolved(&candidates, results)
    }

    /// The operation with one more modifier, such as the state space of its address, if it may have that; `results` is how many it gives.
    #[must_use]
    pub fn with_modifier(&self, modifier: Mod, results: usize) -> Option<Self> {
        let mnemonic = self.mnemonic.try_with(modifier).filter(|_| !self.mnemonic.has(modifier))?;
        let made = PtxData::new(mnemonic, self.operands.clone()).resolved_alone(results);
        made.instruction.is_some().then_some(made)
    }

    /// What it does beyond computing results.
    pub fn traits(&self) -> Traits {
        self.traits
    }

    /// The types of the results that the first form with such operands must have: without the second of an optional pair, and none
    /// where a sink stands for the destination.
    pub fn required_types(&self) -> ResultTypes {
        if self.operands.first() == Some(&PtxOperand::Sink) {
            return ResultTypes::new();
        }
        let mut signatures = forms(&self.mnemonic).map(|form| form.signature());
        signatures
            .find_map(|signature| layout(&signature, 0).or_else(|| required(&signature)))
            .map_or_else(ResultTypes::new, |(_, types)| types)
    }

    /// The types that results have where nothing else is written, for as many results as there are.
    pub fn usual_types(&self, results: usize) -> ResultTypes {
        usual_types(&candidates(&self.mnemonic), results)
    }
}

/// Where in the text of the module a table-derived instruction was written, part by part. Empty for what a builder made.
#[derive(Clone, PartialEq, Debug)]
pub struct PtxSpans {
    /// The mnemonic, behind `ptx.`.
    pub mnemonic: Span,
    /// One for each of [`PtxData::operands`]; vectors and brackets with what they hold.
    pub operands: Box<[Span]>,
    /// The names of the results.
    pub results: Box<[Span]>,
}

impl Default for PtxSpans {
    fn default() -> Self {
        PtxSpans { mnemonic: Span::NONE, operands: Box::default(), results: Box::default() }
    }
}

impl PtxSpans {
    /// Where a word of the mnemonic was written: 0 is what comes before its first dot.
    pub fn word(&self, mnemonic: &Mnemonic, word: usize) -> Span {
        if self.mnemonic.is_none() {
            return Span::NONE;
        }
        word_span(self.mnemonic.start, &mnemonic.to_string(), word)
    }

    /// Where the n-th operand was written.
    pub fn operand(&self, n: usize) -> Span {
        self.operands.get(n).copied().unwrap_or(Span::NONE)
    }

    /// Where the name of the n-th result was written.
    pub fn result(&self, n: usize) -> Span {
        self.results.get(n).copied().unwrap_or(Span::NONE)
    }
}

/// Where a word of a mnemonic is that begins at `start`; the whole where it has no such word.
pub(crate) fn word_span(start: u32, mnemonic: &str, word: usize) -> Span {
    let before: usize = mnemonic.split('.').take(word).map(|before| before.len() + 1).sum();
    match mnemonic.split('.').nth(word) {
        Some(text) => Span::new(start + before as u32, start + (before + text.len()) as u32),
        None => Span::new(start, start + mnemonic.len() as u32),
    }
}

/// Types of results; most instructions have few.
pub type ResultTypes = SmallVec<[Type; 4]>;

/// An operand of a table-derived instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PtxOperand {
    /// `%v`: the next argument.
    Value,
    /// `!%v`: the next argument, a predicate, negated.
    Not,
    /// `-%v`: the next argument, negated.
    Neg,
    /// `%v:h1`: a part of the next argument.
    Part(Part),
    /// `d.h0`, in the first place: the part of the destination that is written.
    Destination(Part),
    /// `[%v + offset]`: memory at the next argument.
    Address(i64),
    /// `[@g + offset]`: memory at a global.
    GlobalAddress(GlobalId, i64),
    /// `@g`: the address of a global.
    Global(GlobalId),
    /// `@f`: a function.
    Func(FuncId),
    /// An integer of at most 64 bits, signed or unsigned.
    Int(i128),
    /// The bits of an `f32`: `0f3f800000`.
    F32(u32),
    /// The bits of an `f64`: `0d3ff0000000000000`.
    F64(u64),
    /// A decimal fraction, of the type that the instruction wants.
    Decimal(f64),
    /// `{a, b, ...}`: the next so many operands. Vectors hold no vectors.
    Vector(u32),
    /// `[a, b, ...]`: the next so many operands, a vector with its elements being one.
    Bracket(u32),
    /// `_`: nothing.
    Sink,
}

impl PtxOperand {
    /// True if the operand stands for an argument.
    pub fn takes_value(self) -> bool {
        use PtxOperand::*;
        matches!(self, Value | Not | Neg | Part(_) | Address(_))
    }
}

/// A part of a register, as video instructions select it: `b0` to `b3`, `h1`, `h10`, `b3210`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    text: [u8; 5],
    len: u8,
}

impl Part {
    /// The part of a name: `b` or `h` and one to four digits. Which ones an operand has is for the tables to say.
    pub fn from_name(name: &str) -> Option<Part> {
        let (b'b' | b'h', digits @ [_, ..]) = name.as_bytes().split_first()? else { return None };
        if digits.len() > 4 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut text = [0; 5];
        text[..name.len()].copy_from_slice(name.as_bytes());
        Some(Part { text, len: name.len() as u8 })
    }

    /// Its name: `h1`.
    pub fn name(&self) -> &str {
        std::str::from_utf8(&self.text[..self.len.into()]).unwrap_or("")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The traits in this crate's terms.
fn traits(of_form: isa::Traits) -> Traits {
    let rows = [
        (isa::Traits::READS, Traits::READS),
        (isa::Traits::WRITES, Traits::WRITES),
        (isa::Traits::CONVERGENT, Traits::CONVERGENT),
        (isa::Traits::BARRIER, Traits::CONVERGENT.with(Traits::SIDE_EFFECT)),
        // A fence orders the accesses around it: nothing may move across what both reads and writes.
        (isa::Traits::FENCE, Traits::READS.with(Traits::WRITES).with(Traits::SIDE_EFFECT)),
        (isa::Traits::TERMINATOR, Traits::TERMINATOR),
        (isa::Traits::MAY_TRAP, Traits::NONE),
        (isa::Traits::CALL, Traits::SIDE_EFFECT),
        (isa::Traits::SIDE_EFFECT, Traits::SIDE_EFFECT),
        (isa::Traits::VOLATILE, Traits::SIDE_EFFECT),
        (isa::Traits::CARRY, Traits::SIDE_EFFECT),
    ];
    let present = rows.into_iter().filter(|(theirs, _)| of_form.contains(*theirs));
    present.fold(Traits::NONE, |all, (_, ours)| all.with(ours))
}

/// A destination operand: how the results that it takes are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// `d`
    Scalar,
    /// `{d, e, ...}`, so many.
    Vector(u16),
    /// `d|p`, or `{d, e, ...}|p` with so many in braces.
    Pair(Option<u16>),
}

impl Destination {
    /// How many results it takes.
    pub fn count(self) -> usize {
        match self {
            Destination::Scalar => 1,
            Destination::Vector(count) => count.into(),
            Destination::Pair(first) => usize::from(first.unwrap_or(1)) + 1,
        }
    }
}

/// How an instruction with so many results writes them, by one of its signatures. `None` where that has another number of them.
pub fn destinations(signature: &Signature, results: usize) -> Option<SmallVec<[Destination; 2]>> {
    layout(signature, results).map(|(destinations, _)| destinations)
}

/// The accumulators of a signature: a destination whose values before the instruction are its first operand.
pub fn accumulators(signature: &Signature) -> Option<&SigValue> {
    match &signature.operands.first()?.kind {
        SigKind::Value(value) if value.destination && value.accepts.contains(Accepts::IN_OUT) => Some(value),
        _ => None,
    }
}

/// The form that an instruction is, as far as the number of its results and the grouping of its operands tell: `mov.b16` takes a scalar,
/// or two elements in braces. Where no grouping fits, the first form with so many results.
pub(crate) fn candidate_for<'s>(
    candidates: &'s [Candidate],
    operands: &[PtxOperand],
    results: usize,
) -> Option<(Instruction, &'s Signature)> {
    let sink = results == 0 && operands.first() == Some(&PtxOperand::Sink);
    let writes = |(_, signature): &&Candidate| {
        let first = signature.operands.first().map(|operand| &operand.kind);
        let scalar =
            matches!(first, Some(SigKind::Value(value)) if value.destination && value.count.is_none());
        result_types(signature, results).is_some() || (sink && scalar)
    };
    let mut all = candidates.iter().filter(writes);
    let first = all.clone().next().map(|(instruction, signature)| (*instruction, signature));
    let fitting = all.find_map(|(instruction, signature)| {
        Some((instruction.with_places(places_taken(signature, operands, results)?), signature))
    });
    fitting.or(first)
}

/// The places that the results and the operands take as they are grouped, a bit for each; `None` where they do not fit.
fn places_taken(signature: &Signature, operands: &[PtxOperand], results: usize) -> Option<u16> {
    let mut groups: SmallVec<[PtxOperand; 8]> = SmallVec::new();
    let mut n = 0;
    while let Some(&operand) = operands.get(n) {
        groups.push(operand);
        n += group_len(&operands[n..]);
    }
    // What stands for the destination is no source.
    let stands = accumulators(signature).is_some()
        || matches!(groups.first(), Some(PtxOperand::Destination(_)))
        || (results == 0 && groups.first() == Some(&PtxOperand::Sink));
    let sources = groups.get(usize::from(stands)..).unwrap_or_default();
    let written = destinations(signature, results).map_or(usize::from(stands), |d| d.len());
    let there = || {
        let all = signature.operands.iter().enumerate();
        all.filter(|(_, place)| !matches!(place.presence, SigPresence::OnlyWith(_)))
    };
    let mut taken = there().take(written).fold(0u16, |bits, (index, _)| bits | 1 << index);
    let required = there().skip(written).filter(|(_, place)| place.presence == SigPresence::Required).count();
    let mut spare = sources.len().checked_sub(required)?;
    let mut sources = sources.iter();
    for (index, place) in there().skip(written) {
        let fits = sources.as_slice().first().is_some_and(|&source| place_takes(&place.kind, source));
        if place.presence == SigPresence::Optional {
            if spare == 0 || !fits {
                continue;
            }
            spare -= 1;
        } else if !fits {
            return None;
        }
        taken |= 1 << index;
        sources.next();
    }
    (spare == 0).then_some(taken)
}

fn place_takes(kind: &SigKind, operand: PtxOperand) -> bool {
    use PtxOperand::*;
    match (kind, operand) {
        (SigKind::Value(value), Vector(len)) => {
            let len = len as u16;
            let braced = len == 1 && value.count.is_none() && value.accepts.contains(Accepts::BRACED);
            value.count == Some(len) || value.counts.contains(&len) || braced
        }
        (SigKind::Value(_), Address(_) | GlobalAddress(..) | Bracket(_)) => false,
        (SigKind::Value(value), _) => value.count.is_none() || value.counts.contains(&0),
        (SigKind::Tuple(places), Vector(len)) => places.len() == len as usize,
        (SigKind::Tuple(_), _) | (SigKind::Address(_), Vector(_) | Bracket(_)) => false,
        (SigKind::Bracket(_), _) => matches!(operand, Bracket(_) | Address(_) | GlobalAddress(..)),
        _ => true,
    }
}

/// How many operands the first one is, with what it holds.
pub(crate) fn group_len(operands: &[PtxOperand]) -> usize {
    match operands.first() {
        None => 0,
        Some(PtxOperand::Vector(len)) => 1 + *len as usize,
        Some(PtxOperand::Bracket(len)) => {
            (0..*len).fold(1, |n, _| n + operands.get(n..).map_or(0, |rest| group_len(rest).max(1)))
        }
        Some(_) => 1,
    }
}

/// The operations of the IR that stand for PTX's control flow, which no table-derived operation is.
pub fn control_flow(opcode: isa::Opcode) -> Option<&'static [Opcode]> {
    match opcode {
        isa::Opcode::Bra => Some(&[Opcode::Jump, Opcode::Brif]),
        isa::Opcode::BrxIdx => Some(&[Opcode::Switch]),
        isa::Opcode::Call => Some(&[Opcode::Call, Opcode::CallIndirect]),
        isa::Opcode::Ret | isa::Opcode::Exit => Some(&[Opcode::Ret]),
        _ => None,
    }
}

/// True where 8-bit operands are held by `.b8` registers and no others: what packs bytes, and formats of less than 16 bits.
pub fn takes_byte_registers(signature: &Signature) -> bool {
    fn value(value: &SigValue) -> bool {
        let holds = |ty| value.registers.contains(ty);
        value.ty.bits() == 8 && holds(ScalarType::B8) && !holds(ScalarType::B16)
    }
    fn kind(of: &SigKind) -> bool {
        match of {
            SigKind::Value(one) => value(one),
            SigKind::Pair { first, second, .. } => value(first) || value(second),
            SigKind::Bracket(places) | SigKind::Tuple(places) => places.iter().any(|p| kind(&p.kind)),
            _ => false,
        }
    }
    signature.operands.iter().any(|operand| kind(&operand.kind))
}

fn layout(signature: &Signature, results: usize) -> Option<(SmallVec<[Destination; 2]>, ResultTypes)> {
    let (mut list, mut types) = (SmallVec::new(), ResultTypes::new());
    let add = |types: &mut ResultTypes, value: &SigValue| {
        let ty = type_of_scalar(value.ty)?;
        types.extend(std::iter::repeat_n(ty, value.count.unwrap_or(1).into()));
        Some(())
    };
    for operand in &signature.operands {
        match &operand.kind {
            SigKind::Value(value) if value.destination => {
                if matches!(operand.presence, SigPresence::OnlyWith(_)) {
                    continue;
                }
                add(&mut types, value)?;
                list.push(value.count.map_or(Destination::Scalar, Destination::Vector));
            }
            SigKind::Pair { first, second, second_optional } if first.destination => {
                add(&mut types, first)?;
                if !second_optional || results > types.len() {
                    add(&mut types, second)?;
                    list.push(Destination::Pair(first.count));
                } else {
                    list.push(first.count.map_or(Destination::Scalar, Destination::Vector));
                }
            }
            _ => break,
        }
    }
    (types.len() == results).then_some((list, types))
}

/// The destinations and result types of a form written with as few results as it allows.
fn required(signature: &Signature) -> Option<(SmallVec<[Destination; 2]>, ResultTypes)> {
    let registers = |value: &SigValue| value.accepts.contains(Accepts::REGISTER);
    let count = |value: &SigValue| usize::from(value.count.unwrap_or(1));
    let results = signature.operands.iter().map(|operand| match &operand.kind {
        SigKind::Value(value) if value.destination && registers(value) => match operand.presence {
            SigPresence::OnlyWith(_) => 0,
            _ => count(value),
        },
        SigKind::Pair { first, second_optional: true, .. } => count(first),
        SigKind::Pair { first, second, .. } => count(first) + count(second),
        _ => 0,
    });
    layout(signature, results.sum())
}

/// The types of the destinations of a signature, one for each result: vectors give one an element, pairs two.
pub(crate) fn result_types(signature: &Signature, results: usize) -> Option<ResultTypes> {
    layout(signature, results).map(|(_, types)| types)
}

/// The result types of the first form that has so many results; `i32` where none has.
pub(crate) fn usual_types(candidates: &[Candidate], results: usize) -> ResultTypes {
    let mut all = candidates.iter();
    all.find_map(|(_, signature)| result_types(signature, results))
        .unwrap_or_else(|| SmallVec::from_elem(Type::I32, results))
}

/// The type of a value that an instruction writes to a register of a type.
pub(crate) fn type_of_scalar(ty: ScalarType) -> Option<Type> {
    let packed = |element: Scalar, lanes| Type::vector(element, lanes);
    match ty {
        ScalarType::F16x2 => packed(Scalar::F16, 2),
        ScalarType::BF16x2 => packed(Scalar::BF16, 2),
        ScalarType::F32x2 => packed(Scalar::F32, 2),
        ScalarType::U16x2 | ScalarType::S16x2 => packed(Scalar::I16, 2),
        ScalarType::E4M3x2 => packed(Scalar::E4M3, 2),
        ScalarType::E5M2x2 => packed(Scalar::E5M2, 2),
        ScalarType::UE8M0x2 => packed(Scalar::UE8M0, 2),
        ScalarType::E4M3x4 => packed(Scalar::E4M3, 4),
        ScalarType::E5M2x4 => packed(Scalar::E5M2, 4),
        ScalarType::Pred => Some(Type::I1),
        _ => match ty.class() {
            TypeClass::Float => Scalar::ALL.iter().copied().find(|s| s.isa() == ty).map(Type::scalar),
            _ => Type::int(ty.bits()),
        },
    }
}

/// The register that holds a value of a type; `bytes`: where [`takes_byte_registers`].
pub(crate) fn register_type(ty: Type, bytes: bool) -> ScalarType {
    match (ty.is_vector(), ty.element()) {
        (false, Scalar::I1) => ScalarType::Pred,
        (false, Scalar::F16) => ScalarType::F16,
        (false, Scalar::F32) => ScalarType::F32,
        (false, Scalar::F64) => ScalarType::F64,
        // All others are bits to PTX; registers begin at 16 of them, but for what takes bytes.
        _ => match ty.bits() {
            0..=8 if bytes => ScalarType::B8,
            0..=16 => ScalarType::B16,
            17..=32 => ScalarType::B32,
            33..=64 => ScalarType::B64,
            _ => ScalarType::B128,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_by_name() {
        for name in ["tid.x", "nctaid.z", "laneid", "gridid"] {
            assert_eq!(Sreg::from_name(name).map(|reg| reg.to_string()).as_deref(), Some(name));
        }
        for wrong in ["tid", "tid.w", "laneid.x", "", ".x", "pred"] {
            assert_eq!(Sreg::from_name(wrong), None, "{wrong}");
        }
        assert_eq!(Sreg::from_name("gridid").map(Sreg::ty), Some(Type::I64));
        assert!(Sreg::all().all(|reg| Sreg::from_name(&reg.to_string()) == Some(reg)));
    }

    #[test]
    fn special_registers_by_constant() {
        for (reg, name) in [(Sreg::TID_X, "tid.x"), (Sreg::NCTAID_Z, "nctaid.z"), (Sreg::LANEID, "laneid")] {
            assert_eq!(Sreg::from_name(name), Some(reg));
        }
        assert_eq!(Sreg::from_name("cluster_ctarank"), Some(Sreg::CLUSTER_CTARANK));
    }

    #[test]
    fn control_flow_has_operations() {
        let control = isa::Traits::TERMINATOR | isa::Traits::CALL;
        for form in &isa::FORMS {
            let expected = form.traits.intersects(control);
            assert_eq!(control_flow(form.opcode).is_some(), expected, "{}", form.opcode);
        }
    }

    #[test]
    fn operations_are_resolved_where_they_are_built_and_read() {
        let source = "kernel @k(%x: i32) {\nentry:\n  %q = icmp eq %x, %x\n  %n = ptx.bar.red.popc.u32 1, %q\n  \
                      %m = ptx.bar.red.popc.u32 1, %x, %q\n  ret\n}\n";
        let mut module = crate::parse_module(source).unwrap();
        let id = module.function("k").unwrap();
        let places = |data: &PtxData| -> Vec<&str> {
            data.instruction().unwrap().places().map(|place| place.name).collect()
        };
        let all: Vec<_> = module.functions[id].dfg.ptx.values().map(places).collect();
        assert_eq!(all, [vec!["d", "a", "c"], vec!["d", "a", "b", "c"]]);
        let operation = |data: &PtxData| data.instruction().map(|instruction| instruction.operation());
        assert!(
            module.functions[id].dfg.ptx.values().all(|data| operation(data) == Some(isa::Operation::BarRed))
        );
        // What is changed behind the back of the builder is no longer what it was resolved to.
        let first = module.functions[id].dfg.ptx.values_mut().next().unwrap();
        first.operands.insert(1, PtxOperand::Int(64));
        let errors = crate::verify(&module).unwrap_err();
        assert!(
            errors[0].message.contains("has other operands or results than when it was built"),
            "{errors}"
        );
    }

    #[test]
    fn results_come_from_the_tables() {
        let types =
            |text: &str, n| PtxData::new(Mnemonic::parse(text).unwrap(), Vec::new()).usual_types(n).to_vec();
        assert_eq!(types("add.rn.f32", 1), [Type::F32]);
        assert_eq!(types("mul.wide.u32", 1), [Type::I64]);
        assert_eq!(types("add.f16x2", 1), Type::from_name("f16x2").as_slice());
    }
}
