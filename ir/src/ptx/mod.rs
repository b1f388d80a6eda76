//! What comes from the ISA tables: special registers, and instructions whose names, operands and effects the tables give.

mod part;
mod signature;
mod sreg;

pub use part::Part;
pub use signature::{Destination, accumulators, control_flow, destinations, takes_byte_registers};
pub(crate) use signature::{candidate_for, group_len, register_type, type_of_scalar, usual_types};
pub use sreg::Sreg;

use crate::entities::{FuncId, GlobalId};
use crate::ops::Traits;
use crate::types::Type;
use signature::{layout, required};
use smallvec::SmallVec;
use warpsmith_diag::Span;
use warpsmith_isa::{self as isa, Instruction, Mnemonic, Mod, Signature, forms};

/// The constant part of a table-derived instruction: its operation and its operand list after PTX's manner. Each
/// [`PtxOperand`] that has a value in it denotes the next of the instruction's arguments.
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
        let traits = forms(&mnemonic).fold(Traits::NONE, |all, form| all | traits(form.traits()));
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
        let made = PtxData::new(mnemonic.canonical(), self.operands.clone()).resolved_alone(results);
        made.instruction.is_some().then_some(made)
    }

    /// What it does beyond computing results.
    pub fn traits(&self) -> Traits {
        self.traits
    }

    /// The types of the results that the first form with such operands must have: without the second of an optional pair, and none
    /// where a sink denotes the destination.
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
    /// True if the operand denotes an argument.
    pub fn takes_value(self) -> bool {
        use PtxOperand::*;
        matches!(self, Value | Not | Neg | Part(_) | Address(_))
    }
}

/// The traits in this crate's terms.
fn traits(of_form: isa::Traits) -> Traits {
    let rows = [
        (isa::Traits::READS, Traits::READS),
        (isa::Traits::WRITES, Traits::WRITES),
        (isa::Traits::CONVERGENT, Traits::CONVERGENT),
        (isa::Traits::BARRIER, Traits::CONVERGENT.union(Traits::SIDE_EFFECT)),
        // A fence orders the accesses around it: nothing may move across what both reads and writes.
        (isa::Traits::FENCE, Traits::READS.union(Traits::WRITES).union(Traits::SIDE_EFFECT)),
        (isa::Traits::TERMINATOR, Traits::TERMINATOR),
        (isa::Traits::MAY_TRAP, Traits::NONE),
        (isa::Traits::CALL, Traits::SIDE_EFFECT),
        (isa::Traits::SIDE_EFFECT, Traits::SIDE_EFFECT),
        (isa::Traits::VOLATILE, Traits::SIDE_EFFECT),
        (isa::Traits::CARRY, Traits::SIDE_EFFECT),
    ];
    let present = rows.into_iter().filter(|(theirs, _)| of_form.contains(*theirs));
    present.fold(Traits::NONE, |all, (_, ours)| all | ours)
}

#[cfg(test)]
mod tests {
    use super::*;

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
