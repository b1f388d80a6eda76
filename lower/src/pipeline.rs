//! Which passes run, in which order, and what can be watched while they do.

use crate::analysis::Analyses;
use crate::log::{self, Count, Log, Remark};
use crate::pass::{AnyPass, Aspects, Changes, Context, ModuleContext, ModulePass, Pass, Passes, Signature};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Diagnostics};
use warpsmith_ir::{self as ir, Function, Module, Traits, parallel};
use warpsmith_isa::Target;

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
    /// What finds a little more at half again the time.
    O3,
    /// What makes code smaller, or no larger.
    Os,
}

impl OptLevel {
    /// Every level.
    pub const ALL: [OptLevel; 5] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3, OptLevel::Os];
}

impl fmt::Display for OptLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OptLevel::O0 => "O0",
            OptLevel::O1 => "O1",
            OptLevel::O2 => "O2",
            OptLevel::O3 => "O3",
            OptLevel::Os => "Os",
        })
    }
}

impl FromStr for OptLevel {
    type Err = ();

    /// `O2` or `2`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let name = text.strip_prefix('O').unwrap_or(text);
        OptLevel::ALL.into_iter().find(|level| level.to_string()[1..] == *name).ok_or(())
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
    passes: Vec<AnyPass>,
}

/// A name in the text of a pipeline that no pass has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownPass {
    /// The name as written.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown pass `{}`, expected one of:", self.name)?;
        let mut known = self.known.iter().enumerate();
        known.try_for_each(|(i, name)| write!(f, "{} `{name}`", if i == 0 { "" } else { "," }))
    }
}

impl std::error::Error for UnknownPass {}

/// What to check and show while a pipeline runs.
#[derive(Default)]
pub struct Options<'a> {
    /// What the module is compiled for, where that is known already; else the target that the module asks for.
    pub target: Option<Target>,
    /// After every pass run the verifier, and check that convergent operations stay as many as they were and that the analyses that the pass
    /// says it has kept do hold.
    pub verify_each: bool,
    /// Stop after so many applications of a pass to a function or to the module and of rules in them, for finding the one that breaks a program.
    pub bisect_limit: Option<u32>,
    /// Keep what passes say of their work in [`Report::remarks`].
    pub remarks: bool,
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

/// The application of a pass to a function, or to the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Applied {
    /// The how-manieth it was, counted from 1 as [`Options::bisect_limit`] counts.
    pub count: u32,
    /// The pass.
    pub pass: &'static str,
    /// The name of the function; `None` for a pass over the module.
    pub function: Option<String>,
    /// The rule that the pass applied last, if it applied any.
    pub rule: Option<&'static str>,
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}) {} on ", self.count, self.pass)?;
        match &self.function {
            Some(name) => write!(f, "@{name}")?,
            None => f.write_str("the module")?,
        }
        self.rule.map_or(Ok(()), |rule| write!(f, ", rule {rule}"))
    }
}

/// What a pipeline did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// One entry a pass, in order.
    pub passes: Vec<PassReport>,
    /// The last application of a pass: the culprit when [`Options::bisect_limit`] is the lowest that breaks the program.
    pub last_applied: Option<Applied>,
    /// How often each rule was applied by each pass, in order of their names.
    pub rules: Vec<Count>,
    /// What passes said of their work, if [`Options::remarks`] asked for it: in order of passes over the module, and between them of functions.
    pub remarks: Vec<Remark>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pass in &self.passes {
            let PassReport { name, changes, time, .. } = pass;
            writeln!(f, "{:>9.3} ms  {changes:>6} changes  {name}", time.as_secs_f64() * 1e3)?;
        }
        self.last_applied.as_ref().map_or(Ok(()), |applied| writeln!(f, "last: {applied}"))
    }
}

impl Pipeline {
    /// Reads the names of passes of this crate, separated by commas.
    pub fn parse(text: &str) -> Result<Self, UnknownPass> {
        Pipeline::parse_with(text, &Passes::standard())
    }

    /// Reads the names of passes, separated by commas.
    pub fn parse_with(text: &str, passes: &Passes) -> Result<Self, UnknownPass> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let find = |name: &str| {
            let known = || passes.list().into_iter().map(|(name, _)| name).collect();
            passes.find(name).cloned().ok_or_else(|| UnknownPass { name: name.into(), known: known() })
        };
        Ok(Pipeline { passes: names.map(find).collect::<Result<_, _>>()? })
    }

    /// The passes of a level.
    pub fn for_level(level: OptLevel) -> Self {
        const O1: &str = "cfg,mem2reg,simplify,dce,recursion,inline,aggregates,cfg,mem2reg,spaces,simplify,gvn,simplify,dce,cfg";
        const FIRST: &str = "cfg,mem2reg,simplify,cfg,dce,recursion,inline,aggregates,effects,constants,cfg,mem2reg,nulls,spaces,sccp,cfg,thread,cfg,unroll,cfg,simplify,cfg,\
                 promote,mem2reg,dce,spaces,mem2reg,constants,thread,cfg,simplify,contract,dce,gvn,unroll,cfg,tables,readonly,gvn,forward,contract,hoist,tails,cfg,conjoin,ifconvert,conjoin,simplify,licm";
        const REST: &str = "rotate,cfg,latches,carry,cfg,halves,dce,params,partial,cfg,ranges,dce,cfg,traps,remainders,addresses,\
                 divide,simplify,cfg,gvn,forward,licm,reassociate,licm,merge,simplify,gvn,cfg,dce,strides,counters,words,simplify,mem2reg,dse,pack,dots,narrow,pairs,bytes,dce,sink,remat,latches,cfg,place";
        // Loops that have become short in the first round, and what is constant in their copies.
        const AGAIN: &str = "unroll,cfg,simplify,mem2reg,sccp,cfg,simplify,thread,cfg,gvn,licm,words,simplify,pairs,bytes,dce,sink,remat,cfg,place";
        // Passes that copy instructions.
        const COPYING: [&str; 4] = ["unroll", "partial", "rotate", "thread"];
        let parsed = |text: &str| Pipeline::parse(text).unwrap_or_default();
        match level {
            OptLevel::O0 => Pipeline::default(),
            OptLevel::O1 => parsed(O1),
            OptLevel::O2 => parsed(&format!("{FIRST},{REST}")),
            OptLevel::O3 => parsed(&format!("{FIRST},unswitch,cfg,{REST},{AGAIN}")),
            OptLevel::Os => {
                let mut pipeline = parsed(&format!("{FIRST},{REST}"));
                pipeline.passes.retain(|pass| !COPYING.contains(&pass.name()));
                pipeline
            }
        }
    }

    /// The names of the passes, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.passes.iter().map(AnyPass::name).collect()
    }

    /// This pipeline without the pass at a place.
    #[must_use]
    pub fn without(&self, place: usize) -> Self {
        let kept = self.passes.iter().enumerate().filter(|(n, _)| *n != place);
        Pipeline { passes: kept.map(|(_, pass)| pass.clone()).collect() }
    }

    /// This pipeline without the pass that may round products and sums once which were rounded one by one: what it makes of a program computes the
    /// same bits as the program.
    #[must_use]
    pub fn exact(&self) -> Self {
        let kept = self.passes.iter().filter(|pass| pass.name() != crate::passes::CONTRACT);
        Pipeline { passes: kept.cloned().collect() }
    }

    /// This pipeline and another pass behind it.
    #[must_use]
    pub fn then(mut self, pass: impl Pass + 'static) -> Self {
        self.passes.push(AnyPass::Function(Arc::new(pass)));
        self
    }

    /// This pipeline and another pass over modules behind it.
    #[must_use]
    pub fn then_module(mut self, pass: impl ModulePass + 'static) -> Self {
        self.passes.push(AnyPass::Module(Arc::new(pass)));
        self
    }

    /// True without passes.
    pub fn is_empty(&self) -> bool {
        self.passes.is_empty()
    }

    /// Runs the passes over a verified module, as if each were applied to all functions before the next.
    pub fn run(&self, module: &mut Module, options: &mut Options<'_>) -> Result<Report, Diagnostics> {
        let target = options.target.or(module.target);
        if !options.verify_each && options.bisect_limit.is_none() && options.after.is_none() {
            return Ok(self.run_unwatched(module, target, options.remarks));
        }
        self.run_watched(module, target, options)
    }

    /// Runs one pass after the other.
    fn run_watched(
        &self,
        module: &mut Module,
        target: Option<Target>,
        options: &mut Options<'_>,
    ) -> Result<Report, Diagnostics> {
        let mut report = Report::default();
        let mut known = KnownByName::default();
        for pass in &self.passes {
            let start = Instant::now();
            let mut entry = PassReport { name: pass.name(), changes: 0, functions: 0, time: Duration::ZERO };
            match pass {
                AnyPass::Function(pass) => {
                    let signatures = Signature::all(module);
                    for id in signatures.keys() {
                        if module.functions[id].is_declaration() || !report.apply(options, pass.name()) {
                            continue;
                        }
                        let Module { functions, globals, .. } = &mut *module;
                        let func = &mut functions[id];
                        report.applied_to(Some(&func.name));
                        let counted = options.verify_each && !pass.copies_loops();
                        let convergent = counted.then(|| convergent_ops(func));
                        let analyses = &mut known.entry_ref(&func.name).or_default().analyses;
                        let left = options.bisect_limit.map(|limit| limit.saturating_sub(report.done()));
                        let mut log = Log::new(pass.name(), options.remarks, left);
                        let mut cx =
                            Context { target, globals, signatures: &signatures, analyses, log: &mut log };
                        let changes = apply(&**pass, func, &mut cx);
                        entry.changes += changes.count;
                        entry.functions += 1;
                        let verified = options.verify_each.then_some(convergent.unwrap_or(usize::MAX));
                        let wrong = verified.and_then(|before| broken_law(func, before, cx.analyses));
                        report.add(log);
                        if let Some((code, what)) = wrong {
                            let text = format!("pass `{}` {what} of `@{}`", pass.name(), func.name);
                            let error = Diagnostic::error(code, func.span, text);
                            return Err(module.diagnostics(vec![error]));
                        }
                    }
                }
                AnyPass::Module(pass) => {
                    if report.apply(options, pass.name()) {
                        entry.changes = run_on_module(&**pass, module, target, &mut known);
                    }
                }
            }
            entry.time = start.elapsed();
            report.passes.push(entry);
            if options.verify_each {
                ir::verify(module).map_err(|errors| blame(errors, pass.name()))?;
            }
            if let Some(after) = &mut options.after {
                after(pass.name(), module);
            }
        }
        Ok(report)
    }

    /// Runs all passes between two passes over the module over one function after the other, several at the same time: what a pass does
    /// to a function depends on no other function's body.
    fn run_unwatched(&self, module: &mut Module, target: Option<Target>, remarks: bool) -> Report {
        let mut report = Report::default();
        let mut known = KnownByName::default();
        let mut rest = &self.passes[..];
        while let Some((first, others)) = rest.split_first() {
            if let AnyPass::Module(pass) = first {
                let start = Instant::now();
                let changes = run_on_module(&**pass, module, target, &mut known);
                let name = pass.name();
                report.passes.push(PassReport { name, changes, functions: 0, time: start.elapsed() });
                report.count(1, name, None);
                rest = others;
                continue;
            }
            let end = rest.iter().position(|pass| matches!(pass, AnyPass::Module(_))).unwrap_or(rest.len());
            let (group, others) = rest.split_at(end);
            let passes = group.iter().filter_map(|pass| match pass {
                AnyPass::Function(pass) => Some(&**pass),
                AnyPass::Module(_) => None,
            });
            run_group(&passes.collect::<Vec<_>>(), module, target, remarks, &mut known, &mut report);
            rest = others;
        }
        report
    }
}

impl Report {
    /// Counts an application, if the limit allows one more.
    fn apply(&mut self, options: &Options<'_>, pass: &'static str) -> bool {
        let done = self.done();
        let allowed = options.bisect_limit.is_none_or(|limit| done < limit);
        if allowed {
            self.count(1, pass, None);
        }
        allowed
    }

    fn applied_to(&mut self, function: Option<&str>) {
        if let Some(applied) = &mut self.last_applied {
            applied.function = function.map(str::to_string);
        }
    }

    fn count(&mut self, applications: u32, pass: &'static str, function: Option<&str>) {
        let count = self.done() + applications;
        let function = function.map(str::to_string);
        self.last_applied = Some(Applied { count, pass, function, rule: None });
    }

    /// The applications so far.
    fn done(&self) -> u32 {
        self.last_applied.as_ref().map_or(0, |applied| applied.count)
    }

    /// Adds what the passes over a function have said, the last of which is the last that was applied.
    fn add(&mut self, log: Log) {
        let (applied, rule) = log.total();
        if let Some(last) = &mut self.last_applied {
            last.count += applied;
            last.rule = rule;
        }
        let (counts, remarks) = log.finish();
        log::add(&mut self.rules, counts);
        self.remarks.extend(remarks);
    }
}

/// What is known of a function between two passes.
#[derive(Default)]
struct Known {
    analyses: Analyses,
    /// How many applications of passes have changed it so far...
    version: u32,
    /// ... and which number that was when a pass had nothing to change.
    idle: FxHashMap<&'static str, u32>,
}

/// What is known of each function, by its name.
type KnownByName = FxHashMap<String, Known>;

/// Runs a pass over a module, which may have other functions with other numbers afterwards.
fn run_on_module(
    pass: &dyn ModulePass,
    module: &mut Module,
    target: Option<Target>,
    known: &mut KnownByName,
) -> u32 {
    let changes = pass.run(module, &ModuleContext::new(target));
    if changes > 0 {
        for known in known.values_mut() {
            known.analyses.invalidate(Aspects::ALL);
            known.version += 1;
        }
    }
    changes
}

/// Runs a pass, forgets the analyses that hold no more, and what the pass has left behind where that is much.
fn apply(pass: &dyn Pass, func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let changes = pass.run(func, cx);
    cx.analyses.invalidate(changes.aspects);
    if changes.count > 0 {
        cx.analyses.compact(func);
    }
    changes
}

/// Runs passes over functions only, all of them over one function after the other.
fn run_group(
    passes: &[&dyn Pass],
    module: &mut Module,
    target: Option<Target>,
    remarks: bool,
    known: &mut KnownByName,
    report: &mut Report,
) {
    let threads = parallel::pays(module.functions.values());
    let signatures = Signature::all(module);
    let Module { functions, globals, .. } = module;
    let bodies = functions.values_mut().filter(|func| !func.is_declaration());
    let functions: Vec<(&mut Function, Known)> = bodies
        .map(|func| {
            let known = known.remove(&func.name).unwrap_or_default();
            (func, known)
        })
        .collect();
    let count = functions.len() as u32;
    let last = functions.last().map(|(func, _)| func.name.clone());
    let globals = &*globals;
    let done = parallel::map(functions, threads, |(func, mut known)| {
        let mut log = Log::new("", remarks, None);
        let timed = |pass: &&dyn Pass| {
            let start = Instant::now();
            if pass.may_be_skipped() && known.idle.get(pass.name()) == Some(&known.version) {
                return (0, Duration::ZERO);
            }
            log.enter(pass.name());
            let (analyses, log) = (&mut known.analyses, &mut log);
            let mut cx = Context { target, globals, signatures: &signatures, analyses, log };
            let changes = apply(*pass, func, &mut cx).count;
            if changes == 0 {
                known.idle.insert(pass.name(), known.version);
            } else {
                known.version += 1;
            }
            (changes, start.elapsed())
        };
        let timed: Vec<(u32, Duration)> = passes.iter().map(timed).collect();
        (timed, log, func.name.clone(), known)
    });
    for (i, pass) in passes.iter().enumerate() {
        let mut entry = PassReport { name: pass.name(), changes: 0, functions: count, time: Duration::ZERO };
        for (changes, time) in done.iter().map(|(of_function, ..)| of_function[i]) {
            entry.changes += changes;
            entry.time += time;
        }
        report.passes.push(entry);
    }
    if let Some((pass, function)) = passes.last().zip(last) {
        report.count(count * passes.len() as u32, pass.name(), Some(&function));
    }
    for (_, log, name, of_function) in done {
        report.add(log);
        known.insert(name, of_function);
    }
}

/// The law that a pass has broken on a function, if it has, with the code of the error.
fn broken_law(func: &Function, convergent: usize, analyses: &Analyses) -> Option<(&'static str, String)> {
    if convergent_ops(func) > convergent {
        return Some(("L0003", "duplicated a convergent operation".into()));
    }
    let stale = analyses.stale(func)?;
    Some(("L0003", format!("changed what it said it had kept, the {stale}")))
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.passes.iter().map(AnyPass::name).collect();
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
    insts.filter(|&inst| func.traits(inst).contains(Traits::CONVERGENT)).count()
}

fn blame(errors: Diagnostics, pass: &str) -> Diagnostics {
    errors.map(|error| error.note(format!("found after pass `{pass}`")))
}
