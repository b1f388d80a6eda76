//! Transformations that keep what a program means, for metamorphic tests: a program and what a sequence of them makes of it must leave the same. Any
//! program with a launch will do, a kernel of a user too; no second implementation is needed.
//!
//! A [`Step`] is anchored to a line by a number that the line keeps, and draws the rest from a seed of its own. So any subsequence of a sequence is a
//! sequence, which is how [`shrink`] makes a failing one small: it leaves steps out.
//!
//! The text is taken as the printer writes it, a statement a line.

mod control;
mod donor;
mod ir;
mod ptx;
mod rewrite;
mod statement;
mod text;

use crate::Random;
use std::fmt;
use text::Text;
use warpsmith_diag::Language;

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A source is read from a copy: through a register, memory, bits taken apart, or a function.
    CopySource,
    /// A result is written to another register, and moved from there.
    CopyResult,
    /// Integer arithmetic is written otherwise.
    Rewrite,
    /// The offset of an address is computed.
    Address,
    /// An instruction is executed by those for whom a thing holds that always does.
    TrueGuard,
    /// An instruction that would harm is executed by those for whom a thing holds that never does.
    FalseGuard,
    /// A branch that is always taken around code that would harm.
    Around,
    /// Code of a random kernel, whose results are not used.
    Donor,
    /// An instruction is a function of its own.
    Outline,
    /// A block ends earlier, and the next begins there.
    SplitBlock,
    /// A branch on the opposite condition.
    InvertBranch,
    /// A branch goes to a copy of what it goes to: the first round of a loop is peeled.
    Peel,
    /// Statements are a scope, in which registers that they do not name are hidden.
    Scope,
    /// Two instructions that have nothing to do with each other change places.
    Swap,
    /// Code is the body of a loop of one round.
    OneRound,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 15] = [
        Kind::CopySource,
        Kind::CopyResult,
        Kind::Rewrite,
        Kind::Address,
        Kind::TrueGuard,
        Kind::FalseGuard,
        Kind::Around,
        Kind::Donor,
        Kind::Outline,
        Kind::SplitBlock,
        Kind::InvertBranch,
        Kind::Peel,
        Kind::Scope,
        Kind::Swap,
        Kind::OneRound,
    ];

    /// Its name in a report.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::CopySource => "copy-source",
            Kind::CopyResult => "copy-result",
            Kind::Rewrite => "rewrite",
            Kind::Address => "address",
            Kind::TrueGuard => "true-guard",
            Kind::FalseGuard => "false-guard",
            Kind::Around => "around",
            Kind::Donor => "donor",
            Kind::Outline => "outline",
            Kind::SplitBlock => "split-block",
            Kind::InvertBranch => "invert-branch",
            Kind::Peel => "peel",
            Kind::Scope => "scope",
            Kind::Swap => "swap",
            Kind::OneRound => "one-round",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A transformation at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it does.
    pub kind: Kind,
    /// The number of the line that it is anchored to: its place in the text, or what an earlier step has given it.
    line: u64,
    /// What its choices are drawn from.
    seed: u64,
    /// Its place in the first sequence that had it, from 1: what it makes is named after it.
    number: u64,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line >> 24 {
            0 => write!(f, "{} at line {}", self.kind, self.line + 1),
            step => write!(f, "{} at what step {step} made", self.kind),
        }
    }
}

/// What is known of the launch: scalars that kernels are given.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Known {
    /// For each kernel, its parameters that are scalars: their place, and their bytes.
    pub scalars: Vec<(String, usize, Vec<u8>)>,
}

/// A program that can be transformed.
#[derive(Clone, Debug)]
pub struct Program {
    text: String,
    language: Language,
    known: Known,
}

impl Program {
    /// A program of a valid text. `None` if it is not valid.
    pub fn new(text: &str, language: Language, known: Known) -> Option<Program> {
        let text = match language {
            Language::Ptx => warpsmith_ptx::print(&*warpsmith_ptx::ValidatedModule::parse(text).ok()?),
            Language::Wir => warpsmith_ir::parse_module(text).ok()?.to_string(),
        };
        Some(Program { text, language, known })
    }

    /// The text as the printer writes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A sequence of steps, at most so many, drawn from a seed; and what it makes of the program.
    pub fn sequence(&self, seed: u64, length: usize) -> (Vec<Step>, String) {
        let mut random = Random::new(seed);
        let (mut text, mut steps) = (Text::new(&self.text), Vec::new());
        for _ in 0..8 * length {
            if steps.len() == length {
                break;
            }
            let kind = Kind::ALL[random.below(Kind::ALL.len() as u64) as usize];
            let line = text.lines[random.below(text.lines.len() as u64) as usize].id;
            let step = Step { kind, line, seed: random.word(), number: steps.len() as u64 + 1 };
            if let Some(next) = self.step(&text, &step) {
                text = next;
                steps.push(step);
            }
        }
        let text = text.print();
        (steps, text)
    }

    /// What some steps make of the program. A step whose line is not there, or that has nothing to do there, does nothing.
    pub fn apply(&self, steps: &[Step]) -> String {
        let apply = |text: Text, step: &Step| self.step(&text, step).unwrap_or(text);
        steps.iter().fold(Text::new(&self.text), apply).print()
    }

    fn step(&self, text: &Text, step: &Step) -> Option<Text> {
        let mut next = text.clone();
        next.begin(step.number);
        let at = next.place(step.line)?;
        let mut random = Random::new(step.seed);
        match self.language {
            Language::Ptx => ptx::step(&mut next, step.kind, at, &mut random, &self.known)?,
            Language::Wir => ir::step(&mut next, step.kind, at, &mut random)?,
        }
        Some(next)
    }
}

/// A subsequence that still fails, and of which no step can be left out.
pub fn shrink(steps: &[Step], mut fails: impl FnMut(&[Step]) -> bool) -> Vec<Step> {
    let mut left = steps.to_vec();
    let mut size = left.len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < left.len() {
            let end = (from + size).min(left.len());
            let without = [&left[..from], &left[end..]].concat();
            if fails(&without) {
                left = without;
            } else {
                from = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    left
}
