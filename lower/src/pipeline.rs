//! Which passes run, in which order, and what can be watched while they do.

use crate::passes::{PASSES, Pass};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::{self as ir, Function, Module, Traits, parallel};

/// How much to optimise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum OptLevel {
    /// Nothing: the text follows the IR.
    O0,
    /// What pays at once.
    O1,
    /// Also what needs to look at loops and constants together.
    #[default]
    O2,
    /// All there is.
    O3,
}

impl OptLevel {
    /// Every level.
    pub const ALL: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];
}

impl fmt::Display for OptLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "O{}", *self as u8)
    }
}

impl FromStr for OptLevel {
    type Err = ();

    /// `O2` or `2`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let level = text.strip_prefix('O').unwrap_or(text);
        OptLevel::ALL.into_iter().find(|l| level == (*l as u8).to_string()).ok_or(())
    }
}

/// A list of passes to run.
///
/// ```
/// use warpsmith_lower::{OptLevel, Pipeline};
/// let pipeline = Pipeline::parse("mem2reg,simplify,gvn,dce").unwrap();
/// assert_eq!(pipeline.to_string(), "mem2reg,simplify,gvn,dce");
/// assert_eq!(Pipeline::parse("mem2reg,inlne").unwrap_err().name, "inlne");
/// assert!(Pipeline::for_level(OptLevel::O0).is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Pipeline {
    passes: Vec<&'static Pass>,
}

/// A name in the text of a pipeline that no pass has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownPass {
    /// The name as written.
    pub name: String,
}

impl fmt::Display for UnknownPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no pass `{}`; there are", self.name)?;
        PASSES
            .iter()
            .enumerate()
            .try_for_each(|(i, pass)| write!(f, "{} `{}`", if i == 0 { "" } else { "," }, pass.name))
    }
}

impl std::error::Error for UnknownPass {}

/// What to check and show while a pipeline runs.
#[derive(Default)]
pub struct Options<'a> {
    /// Run the verifier, and the check that convergent operations stay as many as they were, after every pass.
    pub verify_each: bool,
    /// Stop after so many applications of a pass to a function, for finding the one that breaks a program.
    pub bisect_limit: Option<u32>,
    /// Called with the pass and the module after each pass, for printing.
    pub after: Option<&'a mut After<'a>>,
}

/// What is called with the name of a pass and the module it left.
pub type After<'a> = dyn FnMut(&'static str, &Module) + 'a;

/// What one pass of a pipeline did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// The pass.
    pub name: &'static str,
    /// How many changes it made, in its own unit: values replaced, instructions removed...
    pub changes: u32,
    /// How many functions it was applied to.
    pub functions: u32,
    /// The time it took, that of all threads together.
    pub time: Duration,
}

/// What a pipeline did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// One entry a pass, in order.
    pub passes: Vec<PassReport>,
    /// The last application of a pass to a function, counted from 1 as [`Options::bisect_limit`] counts: the culprit when the
    /// limit is the lowest that breaks the program.
    pub last_applied: Option<(u32, &'static str, String)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pass in &self.passes {
            let PassReport { name, changes, time, .. } = pass;
            writeln!(f, "{:>9.3} ms  {changes:>6} changes  {name}", time.as_secs_f64() * 1e3)?;
        }
        match &self.last_applied {
            Some((count, pass, function)) => writeln!(f, "last: ({count}) {pass} on @{function}"),
            None => Ok(()),
        }
    }
}

impl Pipeline {
    /// Reads the names of passes separated by commas.
    pub fn parse(text: &str) -> Result<Self, UnknownPass> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let find = |name: &str| {
            PASSES.iter().find(|pass| pass.name == name).ok_or_else(|| UnknownPass { name: name.into() })
        };
        Ok(Pipeline { passes: names.map(find).collect::<Result<_, _>>()? })
    }

    /// The passes of a level.
    pub fn for_level(level: OptLevel) -> Self {
        let text = match level {
            OptLevel::O0 => "",
            OptLevel::O1 => "cfg,mem2reg,simplify,gvn,simplify,dce,cfg",
            OptLevel::O2 | OptLevel::O3 => "cfg,mem2reg,simplify,sccp,cfg,gvn,simplify,licm,gvn,dce,cfg",
        };
        Pipeline::parse(text).unwrap_or_default()
    }

    /// True without passes.
    pub fn is_empty(&self) -> bool {
        self.passes.is_empty()
    }

    /// Runs the passes over a verified module, each over all functions before the next.
    pub fn run(&self, module: &mut Module, options: &mut Options<'_>) -> Result<Report, Diagnostics> {
        if !options.verify_each && options.bisect_limit.is_none() && options.after.is_none() {
            return Ok(self.run_unwatched(module));
        }
        let mut report = Report::default();
        let mut applied = 0;
        for pass in &self.passes {
            let start = Instant::now();
            let mut entry = PassReport { name: pass.name, changes: 0, functions: 0, time: Duration::ZERO };
            for id in module.functions.keys() {
                let func = &mut module.functions[id];
                if func.is_declaration() || options.bisect_limit.is_some_and(|limit| applied >= limit) {
                    continue;
                }
                let convergent = options.verify_each.then(|| convergent_ops(func));
                entry.changes += (pass.run)(func);
                entry.functions += 1;
                applied += 1;
                report.last_applied = Some((applied, pass.name, func.name.clone()));
                if convergent.is_some_and(|before| convergent_ops(func) > before) {
                    let text =
                        format!("pass `{}` duplicated a convergent operation of `@{}`", pass.name, func.name);
                    let error = Diagnostic::error("L0003", func.span, text);
                    return Err(module.diagnostics(vec![error]));
                }
            }
            entry.time = start.elapsed();
            report.passes.push(entry);
            if options.verify_each {
                ir::verify(module).map_err(|errors| blame(errors, pass.name))?;
            }
            if let Some(after) = &mut options.after {
                after(pass.name, module);
            }
        }
        Ok(report)
    }

    /// Runs all passes over one function after the other, several at the same time. What a pass does to a function depends on nothing else.
    fn run_unwatched(&self, module: &mut Module) -> Report {
        let threads = parallel::pays(module.functions.values());
        let mut functions: Vec<&mut Function> =
            module.functions.values_mut().filter(|f| !f.is_declaration()).collect();
        let count = functions.len() as u32;
        let last = functions.last().map(|f| f.name.clone());
        let done = parallel::map(functions.iter_mut().collect(), threads, |func| {
            let timed = |pass: &&Pass| {
                let start = Instant::now();
                ((pass.run)(func), start.elapsed())
            };
            self.passes.iter().map(timed).collect::<Vec<(u32, Duration)>>()
        });
        let passes = self.passes.iter().enumerate().map(|(i, pass)| {
            let mut entry =
                PassReport { name: pass.name, changes: 0, functions: count, time: Duration::ZERO };
            for (changes, time) in done.iter().map(|of_function| of_function[i]) {
                entry.changes += changes;
                entry.time += time;
            }
            entry
        });
        let last_applied = self.passes.last().zip(last).map(|(pass, function)| {
            let applications = count * self.passes.len() as u32;
            (applications, pass.name, function)
        });
        Report { passes: passes.collect(), last_applied }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.passes.iter().map(|pass| pass.name).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipeline({self})")
    }
}

fn convergent_ops(func: &ir::Function) -> usize {
    let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
    insts.filter(|&inst| func.traits(inst).has(Traits::CONVERGENT)).count()
}

fn blame(errors: Diagnostics, pass: &str) -> Diagnostics {
    errors.map(|error| error.note(format!("found after pass `{pass}`")))
}
