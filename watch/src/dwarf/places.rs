//! Where each variable lives at each line of the source: what a debugger could show, as a text.

use super::declare::declaration;
use super::{Place, Type, Variable};
use crate::Sources;
use std::fmt;
use std::ops::Range;
use warpsmith_isa::StateSpace;
use warpsmith_ptx::{Module, Stmt};

/// Inlined calls are indented no deeper than this.
const MOST_DEPTH: u32 = 16;

/// Where the variables of a module live. Its `Display` is what `warpsmith dump k.ptx` prints.
///
/// ```
/// use warpsmith_watch::{Sources, dwarf::Places};
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.entry k() {\n.loc 1 7 3\nret;\n}\n";
/// let module = warpsmith_ptx::parse(text).module;
/// let places = Places::new(&module, &Sources::new("k.ptx", text, &module));
/// assert_eq!(places.to_string(), "no variables\n");
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Places {
    /// The functions that DWARF describes.
    pub functions: Vec<FunctionPlaces>,
    /// Variables of the module.
    pub globals: Vec<VariablePlaces>,
    /// What was wrong with the debug information.
    pub warnings: Vec<String>,
}

/// A function and its variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionPlaces {
    /// What the source calls it.
    pub name: String,
    /// Its lines with code.
    pub lines: Lines,
    /// Parameters and variables, outer scopes before inner ones.
    pub variables: Vec<VariablePlaces>,
}

/// A variable and its places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariablePlaces {
    /// Its name.
    pub name: String,
    /// Its type, as C writes it.
    pub ty: String,
    /// A parameter of its function.
    pub parameter: bool,
    /// How many inlined calls lead to its function.
    pub level: u32,
    /// The state space of its memory, where that is said.
    pub space: Option<StateSpace>,
    /// In the order of the code: at which lines it is where; `None`: it is nowhere.
    pub at: Vec<(Lines, Option<Place>)>,
}

/// Lines of a file of the source, as ranges of them in the order of their code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lines {
    /// The file; empty if the module does not say.
    pub file: String,
    /// First and last lines.
    pub ranges: Vec<(u32, u32)>,
}

impl Lines {
    /// True if the line is among them.
    pub fn contains(&self, line: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    fn add(&mut self, line: u32) {
        match self.ranges.last_mut() {
            Some((_, last)) if *last == line => {}
            Some((_, last)) if last.checked_add(1) == Some(line) => *last = line,
            _ => self.ranges.push((line, line)),
        }
    }
}

/// An instruction: its place in the text, and the file and line of each function around it, the outermost first.
struct Step<'a> {
    text: u64,
    chain: Vec<(&'a str, u32)>,
}

impl Places {
    /// Asks the debug information of a module.
    pub fn new(module: &Module, sources: &Sources) -> Places {
        let dwarf = sources.dwarf();
        let lines = sources.source().lines();
        let mut steps: Vec<Step<'_>> = Vec::new();
        for body in module.functions().filter_map(|function| function.body) {
            for id in body.ids().filter(|id| matches!(module[*id], Stmt::Inst(_))) {
                let start = module.stmt_span(id).start;
                let frames = sources.frames(lines.position(start).line);
                let chain = frames.iter().rev().map(|frame| (frame.file.as_str(), frame.line)).collect();
                steps.push(Step { text: start.into(), chain });
            }
        }
        steps.sort_by_key(|step| step.text);
        let within = |range: &Range<u64>| {
            let [from, to] = [range.start, range.end].map(|at| steps.partition_point(|step| step.text < at));
            &steps[from..to.max(from)]
        };
        let mut places = Places { warnings: dwarf.warnings.clone(), ..Places::default() };
        for function in &dwarf.functions {
            let inside = |variable: &&Variable| {
                variable.scope.as_ref().is_some_and(|scope| function.text.contains(&scope.start))
            };
            let variables = dwarf.variables.iter().filter(inside);
            let all = within(&function.text);
            places.functions.push(FunctionPlaces {
                name: function.name.clone(),
                lines: lines_of(all, 0).into_iter().next().unwrap_or_default(),
                variables: variables.map(|v| of_variable(v, v.scope.as_ref().map_or(all, within))).collect(),
            });
        }
        let globals = dwarf.variables.iter().filter(|variable| variable.scope.is_none());
        places.globals = globals.map(|variable| of_variable(variable, &[])).collect();
        places
    }
}

/// The lines of instructions, a group for each file.
fn lines_of(steps: &[Step<'_>], level: usize) -> Vec<Lines> {
    let mut groups: Vec<Lines> = Vec::new();
    for step in steps {
        // Where lines and variables disagree on what was inlined, the innermost line is the one that a debugger shows.
        let Some((file, line)) = step.chain.get(level).or(step.chain.last()) else { continue };
        match groups.last_mut() {
            Some(group) if group.file == **file => group.add(*line),
            _ => groups.push(Lines { file: (*file).to_owned(), ranges: vec![(*line, *line)] }),
        }
    }
    groups
}

fn of_variable(variable: &Variable, scope: &[Step<'_>]) -> VariablePlaces {
    let level = variable.level as usize;
    let mut at: Vec<(Lines, Option<Place>)> = Vec::new();
    let mut rest = scope;
    while let Some(first) = rest.first() {
        let place = variable.place(first.text);
        let same = rest.iter().take_while(|step| variable.place(step.text) == place).count();
        let (here, behind) = rest.split_at(same);
        for lines in lines_of(here, level) {
            at.push((lines, place.cloned()));
        }
        rest = behind;
    }
    if variable.scope.is_none() {
        at.push((Lines::default(), variable.place(0).cloned()));
    }
    VariablePlaces {
        name: variable.name.clone(),
        ty: variable.ty.to_string(),
        parameter: variable.parameter,
        level: variable.level,
        space: variable.space,
        at,
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        write!(f, "{file}:")?;
        for (i, (first, last)) in self.ranges.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            match first == last {
                true => write!(f, "{first}")?,
                false => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.functions.is_empty() && self.globals.is_empty() {
            writeln!(f, "no variables")?;
        }
        for variable in &self.globals {
            write!(f, "{variable}")?;
        }
        for function in &self.functions {
            writeln!(f, "function {} at {}", function.name, function.lines)?;
            for variable in &function.variables {
                write!(f, "{variable}")?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}

impl fmt::Display for VariablePlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.parameter, self.at.first()) {
            (true, _) => "parameter",
            (false, Some((Lines { file, .. }, _))) if file.is_empty() => "global",
            (false, _) => "variable",
        };
        let indent = "  ".repeat(self.level.min(MOST_DEPTH) as usize + usize::from(what != "global"));
        writeln!(f, "{indent}{what} {}: {}", self.name, self.ty)?;
        for (lines, place) in &self.at {
            let lines = if lines.file.is_empty() { "everywhere".into() } else { lines.to_string() };
            let space = match (self.space, place) {
                (Some(StateSpace::Generic) | None, _)
                | (_, None | Some(Place::Register(_) | Place::Constant(_))) => String::new(),
                (Some(space), _) => format!("{} ", space.name()),
            };
            match place {
                Some(place) => writeln!(f, "{indent}    {lines:<24} {space}{place}")?,
                None => writeln!(f, "{indent}    {lines:<24} nowhere")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_offset = |f: &mut fmt::Formatter<'_>, name: &str, offset: i64| match offset {
            0 => f.write_str(name),
            offset => write!(f, "{name}{offset:+}"),
        };
        match self {
            Place::Register(name) => f.write_str(name),
            Place::Behind(name, offset) => {
                f.write_str("[")?;
                with_offset(f, name, *offset)?;
                f.write_str("]")
            }
            Place::Symbol(name, offset) => with_offset(f, name, *offset),
            Place::Constant(bits) => write!(f, "= {bits}"),
            Place::Pieces(pieces) => {
                for (i, (place, size)) in pieces.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    match place {
                        Some(place) => write!(f, "{size} bytes {place}")?,
                        None => write!(f, "{size} bytes nowhere")?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&declaration(self, ""))
    }
}
