//! Which instructions and which outcomes of branches a run has reached, per line of PTX and per line of the source it came from.

mod lcov;
mod text;

use crate::measure::counts::{Counts, Outcomes, StatementCount};
use crate::source::Sources;
use std::collections::BTreeMap;
use warpsmith_interp::Program;
use warpsmith_interp::observe::Executions;

/// The coverage of the functions of a program.
pub struct Coverage<'p> {
    /// The text of the module and where its lines come from.
    pub sources: &'p Sources,
    /// Every statement that has code.
    pub statements: Vec<StatementCount<'p>>,
    /// The functions that have code, in the order of the text.
    pub functions: Vec<FunctionCoverage>,
    lines: BTreeMap<u32, LineCoverage>,
    files: BTreeMap<String, BTreeMap<u32, LineCoverage>>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCoverage {
    /// Its name.
    pub name: String,
    /// The lines of its first and last statement.
    pub lines: (u32, u32),
    /// Threads that executed its first statement.
    pub entered: u64,
}

/// A line of PTX, or all code that was made from a line of the source.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LineCoverage {
    /// The number of its statements.
    pub statements: u32,
    /// The number of its statements that a thread has executed.
    pub executed: u32,
    /// The executions of the statement that was executed most.
    pub executions: Executions,
    /// The executions of all statements together.
    pub total: Executions,
    /// The sum of the outcomes of its conditional branches.
    pub branch: Option<Outcomes>,
    /// For each outcome of its branches and jumps through tables how many threads took it.
    pub outcomes: Vec<u64>,
}

/// How much of something was reached.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Part {
    /// So much.
    pub reached: u64,
    /// Of so much.
    pub all: u64,
}

impl Part {
    fn add(&mut self, reached: bool) {
        self.reached += u64::from(reached);
        self.all += 1;
    }

    /// In percent; 100 if there is nothing to reach.
    pub fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.reached as f64 / self.all as f64 }
    }
}

impl LineCoverage {
    fn add(&mut self, count: &StatementCount<'_>) {
        let e = count.executions;
        self.statements += 1;
        self.executed += u32::from(e.threads > 0);
        if e.threads > self.executions.threads || self.executions.warps == 0 {
            self.executions = e;
        }
        self.total.warps += e.warps;
        self.total.threads += e.threads;
        self.total.lanes += e.lanes;
        if let Some(o) = count.branch {
            let sum = self.branch.get_or_insert_default();
            sum.taken += o.taken;
            sum.not_taken += o.not_taken;
            sum.divergent += o.divergent;
            self.outcomes.extend([o.taken, o.not_taken]);
        }
        self.outcomes.extend(count.table.iter().flat_map(|table| &table.entries));
    }
}

impl<'p> Coverage<'p> {
    /// What was counted, by lines.
    pub fn new(program: &'p Program, counts: &Counts, sources: &'p Sources) -> Coverage<'p> {
        let statements = counts.statements(program);
        let mut lines: BTreeMap<u32, LineCoverage> = BTreeMap::new();
        let mut files: BTreeMap<String, BTreeMap<u32, LineCoverage>> = BTreeMap::new();
        let mut functions: Vec<(_, FunctionCoverage)> = Vec::new();
        for count in &statements {
            let line = count.statement.line;
            // The end of a body without `ret` is not a line of the text.
            if line == 0 {
                continue;
            }
            lines.entry(line).or_default().add(count);
            if let Some(frame) = sources.frames(line).first() {
                files.entry(frame.file.clone()).or_default().entry(frame.line).or_default().add(count);
            }
            match functions.iter_mut().rev().find(|(id, _)| *id == count.function()) {
                Some((_, function)) => function.lines.1 = function.lines.1.max(line),
                None => {
                    let (name, entered) = (program.function_name(count.function()), count.executions.threads);
                    let function = FunctionCoverage { name: name.into(), lines: (line, line), entered };
                    functions.push((count.function(), function));
                }
            }
        }
        let functions = functions.into_iter().map(|(_, function)| function).collect();
        Coverage { sources, statements, functions, lines, files }
    }

    /// The lines of PTX that have code.
    pub fn lines(&self) -> &BTreeMap<u32, LineCoverage> {
        &self.lines
    }

    /// A line of PTX, if it has code.
    pub fn line(&self, line: u32) -> Option<&LineCoverage> {
        self.lines.get(&line)
    }

    /// The files of the source, and their lines that have code.
    pub fn files(&self) -> &BTreeMap<String, BTreeMap<u32, LineCoverage>> {
        &self.files
    }

    /// Statements that a thread has executed.
    pub fn instructions(&self) -> Part {
        let mut part = Part::default();
        self.statements.iter().for_each(|s| part.add(s.executions.threads > 0));
        part
    }

    /// Outcomes of branches that a thread has taken.
    pub fn outcomes(&self) -> Part {
        let mut part = Part::default();
        self.lines.values().flat_map(|l| &l.outcomes).for_each(|threads| part.add(*threads > 0));
        part
    }

    /// Lines of PTX that a thread has executed something of.
    pub fn reached_lines(&self) -> Part {
        reached(&self.lines)
    }
}

/// Of lines, those that a thread has executed something of.
pub fn reached(lines: &BTreeMap<u32, LineCoverage>) -> Part {
    let mut part = Part::default();
    lines.values().for_each(|l| part.add(l.executed > 0));
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Page, Profile};
    use warpsmith_interp::{Device, Launch};
    use warpsmith_ptx::ValidatedModule;

    #[test]
    fn lines_that_no_file_has_are_shown_as_they_are() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.entry empty() {}\n.entry k() {\n\
                    .reg .b32 %r;\n.loc 1 0 0\nmov.u32 %r, 1;\n.loc 1 2147483647 1\nmov.u32 %r, 2;\nret;\n}\n";
        let module = ValidatedModule::parse(text).expect("it is valid");
        let program = Program::load(&module).expect("all of it is executed");
        let mut counts = Counts::coverage();
        Device::new().launch_observed(&program, &Launch::new("k"), &mut counts).expect("nothing is at fault");
        let sources = Sources::new("k.ptx", text, &module);
        let (coverage, profile) =
            (Coverage::new(&program, &counts, &sources), Profile::new(&program, &counts, &sources));
        for texts in [BTreeMap::new(), BTreeMap::from([("a.cu".to_owned(), "one\ntwo\n".to_owned())])] {
            let shown = coverage.text(&texts);
            assert!(shown.contains("2147483647") && shown.lines().count() < 60, "{shown}");
            let page = Page { title: "k", coverage: &coverage, profile: Some(&profile), texts: &texts };
            assert!(page.render().contains("2147483647"));
        }
    }
}
