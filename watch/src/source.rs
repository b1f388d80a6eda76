//! From lines of PTX to the source they were compiled from, by `.file` and `.loc` (PTX ISA 9.0, 11.5).

use crate::dwarf::{Call, Dwarf, Place as Location, Type, Variable};
use crate::names;
use std::fmt;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostics, LineIndex, Source};
use warpsmith_interp::Fault;
use warpsmith_ptx::{Data, DataValue, Id, Inlined, Item, Loc, Module, Place, Stmt};

/// Inlined calls are not followed deeper than this.
const MOST_FRAMES: usize = 64;

/// A position in a source file, and the function it is in if that was inlined there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The path, as `.file` gives it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, 0 if unknown.
    pub column: u32,
    /// The inlined function, as the user knows it.
    pub function: Option<String>,
    /// Its name in the program, where that is another one.
    pub linkage: Option<String>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column != 0 {
            write!(f, ":{}", self.column)?;
        }
        match &self.function {
            Some(function) => write!(f, " in `{function}`"),
            None => Ok(()),
        }
    }
}

impl Frame {
    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "file": self.file, "line": self.line, "column": self.column, "function": self.function,
            "linkage": self.linkage,
        })
    }

    /// True if it is the inlined function of this name, which may be that of the program or leave out the modules around it.
    pub fn is_in(&self, name: &str) -> bool {
        let within = |function: &str| function == name || names::last(function) == name;
        self.function.as_deref().is_some_and(within) || self.linkage.as_deref() == Some(name)
    }
}

/// The text of a module, by line, and where each line of code comes from.
///
/// ```
/// use warpsmith_watch::Sources;
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.entry k() {\n.loc 1 7 3\nret;\n}\n";
/// let sources = Sources::new("k.ptx", text, &warpsmith_ptx::parse(text).module);
/// assert_eq!(sources.frames(7)[0].to_string(), "a.cu:7:3");
/// assert_eq!(sources.text(7), "ret;");
/// assert!(sources.frames(8).is_empty());
/// ```
#[derive(Clone, Default, Debug)]
pub struct Sources {
    source: Source,
    frames: FxHashMap<u32, Vec<Frame>>,
    dwarf: Arc<Dwarf>,
    compiled: bool,
}

impl Sources {
    /// Of a module and the text it was parsed from. For other texts, whose lines are to be shown, the module may be empty.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only instructions have places")]
    pub fn new(name: impl Into<String>, text: &str, module: &Module) -> Sources {
        let mut sources = Sources {
            source: Source::new(name, text),
            frames: FxHashMap::default(),
            dwarf: Arc::new(Dwarf::of(module)),
            compiled: false,
        };
        let files: FxHashMap<u32, &str> = module
            .items()
            .iter()
            .filter_map(|item| if let Item::File(f) = item { Some((f.index, &module[f.name])) } else { None })
            .collect();
        let strings = strings(module);
        let index = LineIndex::new(text);
        for body in module.functions().filter_map(|f| f.body) {
            // The call that a function was inlined at is itself inlined where another `.loc` of that place says so.
            let mut inlined: FxHashMap<Place, Id<Inlined>> = FxHashMap::default();
            for statement in &module[body] {
                if let Stmt::Loc(Loc { at, inlined: Some(id) }) = statement {
                    inlined.entry(*at).or_insert(*id);
                }
            }
            // nvcc's `-G` and clang say in DWARF alone what was inlined.
            let mut calls = if inlined.is_empty() { Calls::of(&sources.dwarf) } else { Calls::default() };
            let mut frames: Vec<Frame> = Vec::new();
            for id in body.ids() {
                match &module[body][id.index() - body.range().start] {
                    Stmt::Loc(loc) => frames = chain(module, loc, &inlined, &files, &strings),
                    Stmt::Inst(_) if !frames.is_empty() => {
                        let start = module.stmt_span(id).start;
                        let mut frames = frames.clone();
                        calls.add(start.into(), &mut frames, &files);
                        sources.frames.insert(index.position(start).line, frames);
                    }
                    _ => {}
                }
            }
        }
        sources
    }

    /// The text is in no file: it was made from the files that it names.
    pub fn compiled(mut self) -> Sources {
        self.compiled = true;
        self
    }

    /// True if the text is in no file.
    pub fn is_compiled(&self) -> bool {
        self.compiled
    }

    /// What the module says of the variables of the source.
    pub fn dwarf(&self) -> &Dwarf {
        &self.dwarf
    }

    /// What the source calls a place so many bytes from the start of a variable of the PTX, or of the buffer that a parameter points to:
    /// `tile[17].x`. The place may be outside. `None` if the module does not say.
    pub fn element(&self, symbol: &str, buffer: bool, offset: i64) -> Option<String> {
        let (found, from) = self.variable_of(symbol, buffer, offset)?;
        let mut text = found.name.clone();
        match (found.ty.plain(), buffer) {
            (Type::Pointer(_, Some(to)), true) => element(&mut text, &Type::Array(to.clone(), 0), offset),
            (_, true) => return None,
            (ty, false) => element(&mut text, ty, offset - from),
        }
        Some(text)
    }

    /// What the source calls the variable that is at a place, like [`Sources::element`] of the element there.
    pub fn variable(&self, symbol: &str, buffer: bool, offset: i64) -> Option<&str> {
        self.variable_of(symbol, buffer, offset).map(|(found, _)| found.name.as_str())
    }

    /// The variable that lies at a place of one of the PTX, or else the last one in front of it, and where in that it begins: the stack of a
    /// function is one variable of the PTX for many of the source.
    fn variable_of(&self, symbol: &str, buffer: bool, offset: i64) -> Option<(&Variable, i64)> {
        let start = |place: &Location| match place {
            Location::Symbol(name, at) if name == symbol && (*at == 0 || !buffer) => Some(*at),
            Location::Symbol(..)
            | Location::Register(_)
            | Location::Behind(..)
            | Location::Constant(_)
            | Location::Pieces(_) => None,
        };
        let starts = self.dwarf.variables.iter().flat_map(|variable| {
            variable.places.iter().filter_map(move |(_, place)| Some((variable, start(place)?)))
        });
        let distance = |(variable, at): &(&Variable, i64)| {
            let behind = offset.saturating_sub(*at);
            let inside = (0..i64::try_from(variable.ty.bytes()).unwrap_or(i64::MAX)).contains(&behind);
            (!inside, behind < 0, behind.unsigned_abs())
        };
        starts.min_by_key(distance)
    }

    /// What the source calls what a register holds at a line.
    pub fn in_register(&self, line: u32, register: &str) -> Option<&str> {
        let span = self.source.lines().line_span(line);
        let at = u64::from(span.start);
        let inside = |variable: &&Variable| variable.scope.as_ref().is_some_and(|scope| scope.contains(&at));
        let is_it = |place: &Location| matches!(place, Location::Register(name) if name == register);
        let mut found = self.dwarf.variables.iter().rev().filter(|_| !span.is_none()).filter(inside);
        found.find(|variable| variable.place(at).is_some_and(is_it)).map(|variable| variable.name.as_str())
    }

    /// A fault with its line, and where that comes from.
    pub fn diagnostics(&self, fault: &Fault) -> Diagnostics {
        let found = fault.diagnostics(&self.source);
        let note = fault.ptx_line.and_then(|line| self.origin(line));
        let with_note = found.iter().cloned().map(|mut diagnostic| {
            diagnostic.notes.extend(note.clone());
            diagnostic
        });
        Diagnostics::new(self.source.clone(), with_note.collect())
    }

    /// `line 12 is a.cu:7:3 in `f`, inlined at a.cu:20:1`
    pub fn origin(&self, line: u32) -> Option<String> {
        let frames: Vec<String> = self.frames(line).iter().map(Frame::to_string).collect();
        (!frames.is_empty()).then(|| format!("line {line} is {}", frames.join(", inlined at ")))
    }

    /// What the module is called.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The text of the module.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// A line of the module, from 1, without blanks around it; empty if there is none.
    pub fn text(&self, line: u32) -> &str {
        let span = self.source.lines().line_span(line);
        if span.is_none() { "" } else { &self.source.text()[span.range(self.source.text().len())] }
    }

    /// All lines of the module.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.source.text().lines()
    }

    /// Where the instruction of a line comes from: the innermost inlined function first. Empty if the module does not say.
    pub fn frames(&self, line: u32) -> &[Frame] {
        self.frames.get(&line).map_or(&[], Vec::as_slice)
    }
}

/// Inlined calls of the DWARF, as a walk through the text in order meets them.
#[derive(Default)]
struct Calls<'a> {
    /// The first one last.
    coming: Vec<&'a Call>,
    /// Those that the walk is in, outer ones before inner ones.
    around: Vec<&'a Call>,
}

impl<'a> Calls<'a> {
    fn of(dwarf: &'a Dwarf) -> Calls<'a> {
        let mut coming: Vec<&Call> = dwarf.calls.iter().collect();
        coming.sort_by_key(|call| std::cmp::Reverse((call.text.start, call.level)));
        Calls { coming, around: Vec::new() }
    }

    /// Adds the callers of a place, whose own function is then an inlined one.
    fn add(&mut self, text: u64, frames: &mut Vec<Frame>, files: &FxHashMap<u32, &str>) {
        self.around.retain(|call| call.text.contains(&text));
        while let Some(next) = self.coming.pop_if(|call| call.text.start <= text) {
            // What goes deeper than any compiler's is wrong.
            if next.text.contains(&text) && self.around.len() < MOST_FRAMES {
                self.around.push(next);
            }
        }
        for call in self.around.iter().rev() {
            let (file, line, column) = call.at;
            let Some(inner) = frames.last_mut().filter(|_| line != 0) else { return };
            (inner.function, inner.linkage) = (call.function.clone(), call.linkage.clone());
            frames.push(Frame { file: file_name(files, file), line, column, function: None, linkage: None });
        }
    }
}

fn file_name(files: &FxHashMap<u32, &str>, file: u32) -> String {
    files.get(&file).map_or_else(|| format!("file {file}"), |name| (*name).to_owned())
}

/// Adds the part of a value that is so many bytes from its start.
fn element(text: &mut String, ty: &Type, offset: i64) {
    match ty.plain() {
        Type::Array(of, _) => {
            let Some(size) = i64::try_from(of.bytes()).ok().filter(|size| *size > 0) else { return };
            put!(text, "[{}]", offset.div_euclid(size));
            element(text, of, offset.rem_euclid(size));
        }
        Type::Composite(of) => {
            let holds = |at: u64, ty: &Type| {
                let start = i64::try_from(at).unwrap_or(i64::MAX);
                offset >= start && ((offset - start) as u64) < ty.bytes()
            };
            if let Some(member) = of.members().iter().find(|member| holds(member.offset, &member.ty)) {
                // The members of a base class, and of one without a name, are named as if they were this one's.
                if !member.name.is_empty() {
                    put!(text, ".{}", member.name);
                }
                element(text, &member.ty, offset - member.offset as i64);
            }
        }
        Type::Base(..)
        | Type::Pointer(..)
        | Type::Reference(..)
        | Type::Around(_)
        | Type::Enum(..)
        | Type::Function(_)
        | Type::Typedef(..)
        | Type::Qualified(..)
        | Type::Unknown => {}
    }
}

/// The strings of `.debug_str`, as bytes, with the offset of each label.
fn strings(module: &Module) -> (Vec<u8>, FxHashMap<&str, usize>) {
    let (mut bytes, mut labels) = (Vec::new(), FxHashMap::default());
    for item in module.items() {
        let Item::Section(section) = item else { continue };
        if &module[section.name] != ".debug_str" {
            continue;
        }
        labels.insert(".debug_str", 0);
        for data in &module[section.data] {
            match *data {
                Data::Label(label) => _ = labels.insert(&module[label], bytes.len()),
                Data::Bytes(list) => bytes.extend_from_slice(&module[list]),
                Data::Values { bits, values } => {
                    for value in &module[values] {
                        let value = match value {
                            DataValue::Int(value) => *value,
                            // No string has a reference in it.
                            DataValue::Address { .. } | DataValue::Difference { .. } => 0,
                        };
                        bytes.extend_from_slice(&value.to_le_bytes()[..usize::from(bits / 8).min(8)]);
                    }
                }
            }
        }
    }
    (bytes, labels)
}

fn chain(
    module: &Module,
    loc: &Loc,
    inlined: &FxHashMap<Place, Id<Inlined>>,
    files: &FxHashMap<u32, &str>,
    (bytes, labels): &(Vec<u8>, FxHashMap<&str, usize>),
) -> Vec<Frame> {
    let mut frames = Vec::new();
    let (mut at, mut next) = (loc.at, loc.inlined);
    while at.line != 0 {
        let function = next.map(|id| {
            let Inlined { function_name, offset, .. } = module[id];
            let start = labels.get(&module[function_name]).map(|at| at.saturating_add(offset as usize));
            let rest = start.and_then(|start| bytes.get(start..)).unwrap_or_default();
            String::from_utf8_lossy(rest.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
        });
        let linkage = function.filter(|name| !name.is_empty());
        let function = linkage.as_deref().map(|name| names::demangled(name).into_owned());
        let linkage = linkage.filter(|name| function.as_ref() != Some(name));
        let file = file_name(files, at.file);
        frames.push(Frame { file, line: at.line, column: at.column, function, linkage });
        let Some(id) = next.filter(|_| frames.len() < MOST_FRAMES) else { break };
        at = module[id].at;
        next = inlined.get(&at).copied();
    }
    frames
}
