//! Where the checked programs come from.

use super::state::State;
use super::{Kind, Options};
use crate::reduce::without_directives;
use crate::{Failure, input};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use warpsmith::fuzz::{self, Both, Case, Changed, Effort, Oracle, Subject, Tools, Verdict};
use warpsmith_harness::runs::runs;

/// How many random bytes a program is made of, by its seed, where `--config` says nothing: many are small, since those are checked quickly.
const BYTES: [usize; 8] = [512, 1024, 256, 512, 2048, 256, 512, 1024];

/// The size for a seed; neighbours, of which one is IR and the other PTX, have one.
fn size(seed: u64) -> usize {
    BYTES[(seed / 2 % 8) as usize]
}

/// The configurations of both generators.
#[derive(Clone)]
pub(super) struct Config {
    bytes: Option<usize>,
    ir: fuzz::smith::ir::Config,
    ptx: fuzz::smith::ptx::Config,
    /// `reference` was set, so that seeds do not decide it.
    reference: bool,
}

impl Config {
    /// From the option `--config`.
    pub(super) fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config {
            bytes: None,
            ir: fuzz::ir_config(),
            ptx: fuzz::smith::ptx::Config::default(),
            reference: false,
        };
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}`: expected KEY=VALUE"))?;
            let number = || value.parse::<usize>().map_err(|_| format!("{key}: `{value}` is not a number"));
            let small = || value.parse::<u32>().map_err(|_| format!("{key}: `{value}` is not a number"));
            let truth =
                || value.parse::<bool>().map_err(|_| format!("{key}: `{value}` is not true or false"));
            let Config { bytes, ir, ptx, reference } = &mut config;
            match key.trim() {
                "bytes" => *bytes = Some(number()?),
                "statements" => ptx.statements = number()?,
                "depth" => ptx.depth = number()?,
                "trips" => ptx.trips = small()?,
                "functions" => ptx.functions = number()?,
                "blocks" => ir.blocks = number()?,
                "insts" => ir.insts = number()?,
                "fuel" => ir.fuel = small()?,
                "memory" => (ir.memory, ptx.memory) = (truth()?, truth()?),
                "together" => (ir.together, ptx.together) = (truth()?, truth()?),
                "aggregates" => ir.aggregates = truth()?,
                "atomics" => ptx.atomics = truth()?,
                "scopes" => ptx.scopes = truth()?,
                "approximate" => ptx.approximate = truth()?,
                "reference" => (ptx.reference, *reference) = (truth()?, true),
                "halves" => ir.halves = truth()?,
                "floats" => ir.floats = truth()?,
                "wide" => ir.wide = truth()?,
                "vectors" => ir.vectors = truth()?,
                "calls" => ir.calls = truth()?,
                "ptx" => ir.ptx = truth()?,
                "special" => ir.special = truth()?,
                "narrow" => ir.narrow = truth()?,
                "rules" => {
                    ir.patterns = if truth()? { fuzz::ir_config().patterns } else { Arc::default() };
                }
                other => return Err(format!("`{other}` is not a key of the configuration")),
            }
        }
        Ok(config)
    }

    /// The program of a seed.
    fn case(&self, seed: u64, kind: Kind) -> Option<Case> {
        let bytes = self.bytes.unwrap_or_else(|| size(seed));
        if kind == Kind::Ir || (kind == Kind::Both && seed.is_multiple_of(2)) {
            return Case::ir(seed, bytes, &self.ir);
        }
        let mut ptx = self.ptx.clone();
        if !self.reference {
            // Most programs for the reference interpreter, some with what it does not know.
            ptx.reference = seed % 8 != 7;
        }
        Case::ptx(seed, bytes, &ptx)
    }
}

/// Where programs come from.
pub(super) enum Source {
    /// Random ones.
    Made(Box<Config>, Kind),
    /// What transformations make of some.
    Varied(Vec<Subject>, usize),
    /// Kernels whose results are constants.
    Folded(Box<Config>),
    /// Statements with something wrong in them.
    Spoilt,
}

impl Source {
    /// The program of a seed. `None` if there is none.
    pub(super) fn case(&self, seed: u64, tools: &dyn Tools) -> Option<Case> {
        match self {
            Source::Made(config, kind) => config.case(seed, *kind),
            Source::Varied(subjects, steps) => {
                let subject = &subjects[seed as usize % subjects.len()];
                Some(match subject.vary(seed, *steps, &[], tools) {
                    Ok((case, _)) => case,
                    Err(changed) => changed.case,
                })
            }
            Source::Folded(config) => Some(fuzz::folding(seed, &config.ptx, tools)?.0),
            Source::Spoilt => Some(fuzz::spoilt(seed, tools)?.0),
        }
    }

    /// The program of a seed, and what oracles say of it.
    pub(super) fn check(
        &self,
        seed: u64,
        oracles: &[Oracle],
        effort: Effort,
        tools: &dyn Tools,
        state: &State,
    ) -> Checked {
        match self {
            Source::Made(config, kind) => {
                let case = config.case(seed, *kind)?;
                let verdict = fuzz::check_with(&case, oracles, effort, tools);
                Some((case, verdict))
            }
            Source::Varied(subjects, steps) => {
                let subject = &subjects[seed as usize % subjects.len()];
                Some(match subject.vary(seed, *steps, oracles, tools) {
                    Ok((case, verdict)) => (case, Ok(verdict)),
                    Err(changed) => {
                        let Changed { mut failure, steps, case } = *changed;
                        let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                        failure.what += &format!("\nafter {}", steps.join("; "));
                        (case, Err(failure))
                    }
                })
            }
            Source::Folded(config) => {
                let (case, checked) = fuzz::folding(seed, &config.ptx, tools)?;
                let verdict = checked.map(|(verdict, folded)| {
                    state.folded.fetch_add(folded.same.into(), Ordering::Relaxed);
                    state.unfolded.fetch_add(folded.unfolded.into(), Ordering::Relaxed);
                    verdict
                });
                Some((case, verdict))
            }
            Source::Spoilt => {
                let (case, checked) = fuzz::spoilt(seed, tools)?;
                let verdict = checked.map(|both| {
                    let mut verdict = Verdict::default();
                    match both {
                        Both::Take => _ = state.taken.fetch_add(1, Ordering::Relaxed),
                        Both::Refuse => _ = state.refused.fetch_add(1, Ordering::Relaxed),
                        Both::Crash(how) => verdict.ptxas_crashed = Some(how),
                    }
                    verdict
                });
                Some((case, verdict))
            }
        }
    }
}

/// A program, and what oracles say of it.
pub(super) type Checked = Option<(Case, Result<Verdict, fuzz::Failure>)>;

/// The programs of files that can be transformed; the others are named.
pub(super) fn subjects(options: &Options) -> Result<Vec<Subject>, Failure> {
    let mut files = Vec::new();
    for path in &options.metamorphic {
        files.extend(input::files(path, &[warpsmith::Language::Ptx, warpsmith::Language::Wir])?);
    }
    let mut found = Vec::new();
    for file in &files {
        let source = input::read(file).map_err(Failure::Usage)?;
        let text = source.text();
        let language = fuzz::language_of(&without_directives(text));
        let runs = warpsmith_filetests::scan(text, language).and_then(|directives| runs(&directives));
        for run in runs.unwrap_or_default().into_iter().filter(|run| run.fault.is_none()) {
            let (launch, text) = (run.launch, without_directives(text));
            let case = Case { language, text, launch, description: run.text };
            match Subject::new(&case) {
                Ok(subject) => found.push(subject),
                Err(why) => eprintln!("{}, line {}: not transformed: {why}", file.display(), run.line),
            }
        }
    }
    match found.is_empty() {
        true => Err(Failure::Usage(
            "there is nothing to transform: no file has a `run:` directive that ends well".to_owned(),
        )),
        false => Ok(found),
    }
}
