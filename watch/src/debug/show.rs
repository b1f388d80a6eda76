//! Frames, source text, values and memory as the user sees them.

mod examine;

use super::convert::decay;
use super::expr::Names;
use super::symbols::{base, same_file};
use super::value::{Type, Value, repeated};
use super::{Debugger, Flow};
use crate::demangled;
use std::fmt::Write;
use warpsmith_base::FxHashMap;
use warpsmith_interp::observe::View;
use warpsmith_isa::{ScalarType, StateSpace};

/// Lines that `list` shows.
const LINES: u32 = 10;
/// Units that `x` shows at most.
const MOST_UNITS: u64 = 1 << 16;

/// What has been listed.
#[derive(Default)]
pub(super) struct Listing {
    /// The file, if it is not the PTX itself.
    file: Option<String>,
    /// The first line that was not listed.
    next: Option<u32>,
    /// The first line that was.
    first: u32,
    files: FxHashMap<String, Option<Vec<String>>>,
    /// `x` goes on where it has ended.
    examined: Option<(StateSpace, u64)>,
    /// Of `x`: format, unit.
    last: Option<(char, u64)>,
}

/// An activation, or a function that was inlined in one.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The activation, counted from the innermost.
    pub activation: usize,
    pub function: String,
    pub pc: u32,
    /// File and line of the source, if it is known.
    pub source: Option<(String, u32)>,
    /// The function was inlined.
    pub inlined: bool,
    /// How many inlined calls of the activation lead to it.
    pub level: u32,
}

/// `x/4xw`, `print/x`: count, format, unit.
pub(super) struct Format {
    pub count: Option<u64>,
    pub letter: Option<char>,
    pub unit: Option<u64>,
}

impl Format {
    /// Takes `/4xw` from the start of the arguments.
    pub fn take(args: &str) -> Result<(Format, &str), String> {
        let mut format = Format { count: None, letter: None, unit: None };
        let Some(rest) = args.strip_prefix('/') else { return Ok((format, args)) };
        let (spec, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let digits = spec.len() - spec.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            format.count =
                Some(spec[..digits].parse().map_err(|_| format!("Invalid number \"{}\".", &spec[..digits]))?);
        }
        for c in spec[digits..].chars() {
            match c {
                'b' => format.unit = Some(1),
                'h' => format.unit = Some(2),
                'w' => format.unit = Some(4),
                'g' => format.unit = Some(8),
                'x' | 'd' | 'u' | 'o' | 't' | 'c' | 'a' | 'f' | 's' | 'z' | 'i' => format.letter = Some(c),
                c => return Err(format!("Undefined output format \"{c}\".")),
            }
        }
        Ok((format, rest.trim_start()))
    }
}

impl Debugger<'_> {
    /// The frames of the thread in focus, the innermost first, inlined functions among them.
    pub(super) fn frames(&self, view: &View<'_>) -> Vec<Frame> {
        let Some(focus) = self.focus else { return Vec::new() };
        let mut frames = Vec::new();
        for (activation, frame) in view.frames(focus.warp, focus.lane).iter().enumerate() {
            let own = self.symbols.program.function_name(frame.function);
            let chain = self.symbols.frames(frame.pc);
            let last = chain.len().saturating_sub(1);
            for (level, at) in chain.iter().enumerate() {
                let (inlined, level_of) = (level < last, (last - level) as u32);
                let function = at.function.as_deref().filter(|_| inlined).unwrap_or(own).to_owned();
                let source = Some((at.file.clone(), at.line));
                frames.push(Frame { activation, function, pc: frame.pc, source, inlined, level: level_of });
            }
            if chain.is_empty() {
                let function = own.to_owned();
                let (source, inlined, level) = (None, false, 0);
                frames.push(Frame { activation, function, pc: frame.pc, source, inlined, level });
            }
        }
        frames
    }

    /// `#0  saxpy<<<(4,1,1),(256,1,1)>>> (n=1000) at saxpy.ptx:17`
    pub(super) fn frame_line(&mut self, view: &mut View<'_>, number: usize) -> String {
        let frames = self.frames(view);
        let Some(frame) = frames.get(number).cloned() else { return format!("#{number}  ??") };
        let launch = view.launch();
        let shape = if frame.function == launch.kernel() && !frame.inlined {
            format!("<<<{},{}>>>", triple(launch.grid()), triple(launch.block()))
        } else {
            String::new()
        };
        let mut args = Vec::new();
        let prefix = format!("{}_param_", frame.function);
        for name in self.names_in(&frame, true) {
            let before = std::mem::replace(&mut self.frame, number);
            let value = self.value_of(&name, view);
            self.frame = before;
            let short = name.strip_prefix(&prefix).map_or_else(|| name.clone(), |n| format!("param_{n}"));
            args.push(match value {
                // By-value structures would fill the screen.
                Ok(value) if value.bytes.len() > 16 => format!("{short}=..."),
                Ok(Value { ty: Type::Scalar(ScalarType::U64 | ScalarType::B64), bytes, .. }) => {
                    format!("{short}={}", address_like(&bytes))
                }
                Ok(value) => format!("{short}={}", self.shown(&value, None, Some(view))),
                Err(_) => format!("{short}=<unavailable>"),
            });
        }
        let at = match &frame.source {
            Some((file, line)) => format!("{}:{line}", base(file)),
            None => format!("{}:{}", self.symbols.file(), self.symbols.program.line(frame.pc)),
        };
        format!("#{number}  {}{shape} ({}) at {at}", demangled(&frame.function), args.join(", "))
    }

    /// The line of an operation: of the source if it is known, or the statement itself.
    pub(super) fn show_line(&mut self, pc: u32, by_instruction: bool) {
        let line = self.symbols.program.line(pc);
        let ptx = format!("{line}\t{}\n", self.symbols.sources.text(line));
        let text = match self.symbols.frames(pc).first().map(|f| (f.file.clone(), f.line)) {
            Some((file, at)) if !by_instruction => {
                self.listing.file = Some(file.clone());
                self.listing.next = Some(at.saturating_sub(LINES / 2).max(1));
                match self
                    .source_text(&file)
                    .and_then(|lines| lines.get(at.checked_sub(1)? as usize).cloned())
                {
                    Some(text) => format!("{at}\t{text}\n"),
                    None => format!("{at}\tin {}\n", base(&file)),
                }
            }
            Some(_) => format!("{}:{ptx}", self.symbols.file()),
            None => {
                self.listing.file = None;
                self.listing.next = Some(line.saturating_sub(LINES / 2).max(1));
                ptx
            }
        };
        self.say(&text);
    }

    fn source_text(&mut self, path: &str) -> Option<&Vec<String>> {
        if !self.listing.files.contains_key(path) {
            let text = self.console.file(path).or_else(|| self.console.file(base(path)));
            let lines = text.map(|text| text.lines().map(str::to_owned).collect());
            self.listing.files.insert(path.to_owned(), lines);
        }
        self.listing.files.get(path).and_then(Option::as_ref)
    }

    /// `list`, `list N`, `list A,B`, `list FUNCTION`, `list FILE:N`, `list -`
    pub(super) fn list(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let around = |line: u32| line.saturating_sub(LINES / 2).max(1);
        let here = view.as_ref().and_then(|v| self.current(v));
        let (from, to) = match args {
            "" | "+" => {
                let next = match self.listing.next {
                    Some(next) => next,
                    None => {
                        let first = self.symbols.functions().next().and_then(|f| self.symbols.entry(f));
                        first.map_or(1, |pc| around(self.list_at(pc)))
                    }
                };
                (next, next + LINES - 1)
            }
            "-" => {
                if self.listing.first <= 1 {
                    return Err(format!("Already at the start of {}.", self.listed_file()));
                }
                (self.listing.first.saturating_sub(LINES).max(1), self.listing.first - 1)
            }
            args => match args.split_once(',') {
                Some((from, to)) => {
                    let line =
                        |text: &str| text.trim().parse().map_err(|_| format!("Invalid line \"{text}\"."));
                    let from: u32 = line(from)?;
                    let to = if to.trim().is_empty() { from.saturating_add(LINES - 1) } else { line(to)? };
                    (from, to)
                }
                None => {
                    let line = match (args.parse::<u32>(), args.rsplit_once(':')) {
                        (Ok(line), _) => line,
                        (_, Some((file, line))) if line.parse::<u32>().is_ok() => {
                            let pcs = self.symbols.locate(args, here)?;
                            self.listing.file = (!same_file(file, self.symbols.sources.name()))
                                .then(|| self.symbols.frames(pcs[0]).first().map(|f| f.file.clone()))
                                .flatten();
                            line.parse().unwrap_or(1)
                        }
                        _ => {
                            let pcs = self.symbols.locate(args, here)?;
                            self.list_at(pcs[0])
                        }
                    };
                    (around(line), around(line) + LINES - 1)
                }
            },
        };
        let current = here.and_then(|pc| match &self.listing.file {
            Some(file) => self.symbols.frames(pc).first().filter(|f| f.file == *file).map(|f| f.line),
            None => Some(self.symbols.program.line(pc)),
        });
        let file = self.listed_file();
        let lines = match self.listing.file.clone() {
            Some(path) => match self.source_text(&path) {
                Some(lines) => lines.clone(),
                None => return Err(format!("{from}\tin {file}: the file cannot be read.")),
            },
            None => self.symbols.sources.lines().map(str::to_owned).collect(),
        };
        if from as usize > lines.len() {
            return Err(format!("Line number {from} out of range; \"{file}\" has {} lines.", lines.len()));
        }
        let mut text = String::new();
        for (line, content) in (1u32..)
            .zip(&lines)
            .skip(from as usize - usize::from(from > 0))
            .take_while(|(line, _)| *line <= to)
        {
            let mark = if current == Some(line) { "=>" } else { "" };
            putln!(text, "{mark}{line}\t{content}");
        }
        self.listing.first = from;
        self.listing.next = Some(to.saturating_add(1));
        self.say(&text);
        Ok(Flow::Stay)
    }

    /// Turns to the file that an operation comes from, and gives the line there.
    fn list_at(&mut self, pc: u32) -> u32 {
        let source = self.symbols.frames(pc).first().map(|f| (f.file.clone(), f.line));
        let line = source.as_ref().map_or_else(|| self.symbols.program.line(pc), |(_, line)| *line);
        self.listing.file = source.map(|(file, _)| file);
        line
    }

    fn listed_file(&self) -> String {
        self.listing.file.as_deref().map_or(self.symbols.file(), base).to_owned()
    }

    /// `print/FORMAT EXPRESSION`
    pub(super) fn print(
        &mut self,
        args: &str,
        silent: bool,
        mut view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let (format, text) = Format::take(args)?;
        if let Some('i') = format.letter {
            return Err("Format letter \"i\" is meaningless in \"print\" command.".into());
        }
        if let (Some(_), _) | (_, Some(_)) = (format.count, format.unit) {
            return Err("Item count and size letters are meaningless in \"print\" command.".into());
        }
        let value = match text {
            "" => self.scope(None).convenience("")?,
            text => self.evaluate(text, view.as_deref_mut())?,
        };
        if !silent {
            let shown = self.shown(&value, format.letter, view);
            self.memo.history.push(value);
            self.say(&format!("${} = {shown}\n", self.memo.history.len()));
        }
        Ok(Flow::Stay)
    }

    /// `lanes/FORMAT EXPRESSION`: the value in every lane of the warp in focus.
    pub(super) fn lanes(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let (format, text) = Format::take(args)?;
        let view = view.ok_or("The program is not being run.")?;
        let focus = self.focus.ok_or("No thread is selected.")?;
        if text.is_empty() {
            return Err("Argument required (expression to compute).".into());
        }
        let alive = view.alive(focus.warp);
        let mut values = Vec::new();
        let mut first = None;
        for lane in 0..32 {
            if alive >> lane & 1 == 0 {
                values.push("--".to_owned());
                continue;
            }
            self.focus = Some(super::Focus { lane, ..focus });
            let value = self.evaluate(text, Some(view));
            self.focus = Some(focus);
            let value = value?;
            values.push(value.show(format.letter));
            first.get_or_insert(value);
        }
        self.memo.history.extend(first);
        let text = format!("${} = {{{}}}\n", self.memo.history.len(), repeated(values.into_iter()));
        self.say(&text);
        Ok(Flow::Stay)
    }

    /// `ptype EXPRESSION`, `whatis EXPRESSION`; or the name of a type of the source.
    pub(super) fn type_of(
        &mut self,
        args: &str,
        members: bool,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let ty = match self.symbols.sources.dwarf().named(args) {
            Some(ty) => Type::of_source(&ty),
            None => super::expr::type_of(args, &mut self.scope(view))?,
        };
        let text = if members { ty.description() } else { ty.name() };
        self.say(&format!("type = {text}\n"));
        Ok(Flow::Stay)
    }
}

/// `(4,1,1)`
pub(super) fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}

/// A 64-bit number that may be an address: large ones are hexadecimal.
fn address_like(bytes: &[u8]) -> String {
    let bits = Value { ty: Type::Scalar(ScalarType::U64), bytes: bytes.to_vec(), at: None }.bits();
    if bits >> 32 != 0 && bits >> 63 == 0 { format!("{bits:#x}") } else { bits.to_string() }
}

impl Debugger<'_> {
    /// A line of a source file.
    pub(super) fn show_source(&mut self, file: &str, line: u32) {
        self.listing.file = Some(file.to_owned());
        self.listing.next = Some(line.saturating_sub(LINES / 2).max(1));
        let text = self.source_text(file).and_then(|lines| lines.get(line.checked_sub(1)? as usize).cloned());
        let text =
            text.map_or_else(|| format!("{line}\tin {}\n", base(file)), |text| format!("{line}\t{text}\n"));
        self.say(&text);
    }
}
