//! What checkers find: findings, deduplicated and counted, as text for people and as JSON for programs.

use crate::source::{Frame, Sources};
use serde_json::{Value, json};
use smallvec::SmallVec;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Diagnostic, Renderer, Severity, Span};
use warpsmith_interp::observe::At;
use warpsmith_isa::StateSpace;

/// Distinct findings that are kept; past that they are only counted.
const MOST_FINDINGS: usize = 1000;
/// Findings of one launch that are shown at full length.
const MOST_SHOWN: usize = 100;

/// Who has found something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Checker {
    /// Accesses to memory.
    Memory,
    /// Uses of values that were never written.
    Init,
    /// Data races.
    Race,
    /// Barriers, masks, and other means of synchronisation.
    Sync,
}

impl Checker {
    /// All of them.
    pub const ALL: [Checker; 4] = [Checker::Memory, Checker::Init, Checker::Race, Checker::Sync];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Checker::Memory => "memory",
            Checker::Init => "init",
            Checker::Race => "race",
            Checker::Sync => "sync",
        }
    }
}

impl fmt::Display for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One side of a finding: an instruction and who executed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// What happened here, in a few words: `written`, `allocated`. Empty for the one side of a finding with one.
    pub role: &'static str,
    /// The line in the PTX (or IR) text, 0 if unknown.
    pub line: u32,
    /// The instruction's mnemonic.
    pub mnemonic: String,
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// The address of an access, in its space.
    pub address: Option<(StateSpace, u64)>,
    /// What lies at the address: an allocation, a variable.
    pub memory: Option<Nearby>,
}

/// What lies at an address, or next to it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Nearby {
    /// In words: `4 bytes into variable `tile` (64 bytes at 0x0)`.
    pub text: String,
    /// The variable that it is.
    pub variable: Option<NearbyVariable>,
    /// The register of the PTX that it is.
    pub register: Option<String>,
}

/// A variable of the PTX, or the buffer that a parameter of the kernel points to, and how an address lies to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearbyVariable {
    /// The name of the variable or parameter.
    pub name: String,
    /// It is what the parameter points to.
    pub buffer: bool,
    /// The address, in bytes from its start.
    pub offset: i64,
    /// Its size in bytes.
    pub bytes: u64,
}

impl From<String> for Nearby {
    fn from(text: String) -> Nearby {
        Nearby { text, variable: None, register: None }
    }
}

impl Site {
    /// The first lane of `at`, in blocks of this shape.
    pub fn new(at: &At<'_>, block_shape: [u32; 3]) -> Site {
        Site::of_lane(at, at.mask.trailing_zeros().min(31), block_shape)
    }

    /// A lane of `at`, in blocks of this shape.
    pub fn of_lane(at: &At<'_>, lane: u32, [x, y, _]: [u32; 3]) -> Site {
        let number = at.warp * 32 + lane;
        let (x, y) = (x.max(1), y.max(1));
        let thread = [number % x, number / x % y, number / x / y];
        let (line, mnemonic) = (at.line(), at.mnemonic().to_owned());
        Site { role: "", line, mnemonic, block: at.block, thread, address: None, memory: None }
    }

    /// Says what happened there.
    pub fn role(mut self, role: &'static str) -> Site {
        self.role = role;
        self
    }

    /// With the address of its access.
    pub fn address(mut self, space: StateSpace, address: u64) -> Site {
        self.address = Some((space, address));
        self
    }
}

/// Something that a checker has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Who found it.
    pub checker: Checker,
    /// Its code, which `warpsmith explain` explains.
    pub code: &'static str,
    /// An error, or a warning where it may be as intended.
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: first the instruction at fault, then the others that have to do with it.
    pub sites: Vec<Site>,
    /// What else is known, and how to read it.
    pub notes: Vec<String>,
    /// How often it was found, at the same lines.
    pub count: u64,
}

impl Finding {
    /// An error with its first site.
    pub fn new(checker: Checker, code: &'static str, message: impl Into<String>, site: Site) -> Finding {
        let (severity, sites, notes) = (Severity::Error, vec![site], Vec::new());
        Finding { checker, code, severity, message: message.into(), sites, notes, count: 0 }
    }

    /// With another side.
    pub fn site(mut self, site: Site) -> Finding {
        self.sites.push(site);
        self
    }

    /// With a note.
    pub fn note(mut self, note: impl Into<String>) -> Finding {
        self.notes.push(note.into());
        self
    }

    /// As a warning.
    pub fn warning(mut self) -> Finding {
        self.severity = Severity::Warning;
        self
    }

    /// As the diagnostic that is drawn: the lines of all sites, with who executed them; addresses and lines of the source are notes.
    pub fn diagnostic(&self, sources: &Sources) -> Diagnostic {
        let span = |site: &Site| sources.source().lines().line_span(site.line);
        let first = self.sites.first().map_or(Span::NONE, span);
        let mut diagnostic = match self.severity {
            Severity::Error => Diagnostic::error(self.code, first, self.message.as_str()),
            Severity::Warning => Diagnostic::warning(self.code, first, self.message.as_str()),
        };
        let more =
            if self.count > 1 { format!(", and {} more times", self.count - 1) } else { String::new() };
        for (i, site) in self.sites.iter().enumerate() {
            let more = if i == 0 { more.as_str() } else { "" };
            diagnostic = diagnostic.label(span(site), format!("{}{more}", site.executed_by()));
        }
        let mut notes: Vec<String> = Vec::new();
        for site in &self.sites {
            notes.extend(site.place());
            notes.extend(site.variable(sources).map(|name| format!("{}{name}", site.prefix())));
            notes.extend(site.frames(sources));
        }
        for note in notes.into_iter().chain(self.notes.iter().cloned()) {
            if !diagnostic.notes.contains(&note) {
                diagnostic.notes.push(note);
            }
        }
        diagnostic
    }

    fn json(&self, sources: &Sources) -> Value {
        let severity = self.severity.to_string();
        let sites: Vec<Value> = self.sites.iter().map(|site| site.json(sources)).collect();
        json!({
            "checker": self.checker.name(), "code": self.code, "severity": severity, "message": self.message,
            "count": self.count, "sites": sites, "notes": self.notes,
        })
    }
}

impl Site {
    /// What happened here, and who did it.
    fn executed_by(&self) -> String {
        let ([a, b, c], [x, y, z]) = (self.block, self.thread);
        let role = if self.role.is_empty() { String::new() } else { format!("{}: ", self.role) };
        // Where no line is known, the mnemonic has to do.
        let what = if self.line == 0 && !self.mnemonic.is_empty() {
            format!("`{}` by ", self.mnemonic)
        } else {
            String::new()
        };
        format!("{role}{what}thread ({x}, {y}, {z}) of block ({a}, {b}, {c})")
    }

    /// `written: `, where something has a role.
    fn prefix(&self) -> String {
        if self.role.is_empty() { String::new() } else { format!("{}: ", self.role) }
    }

    /// What the source calls what is there: `tile[17]`, 4 bytes past its end.
    fn variable(&self, sources: &Sources) -> Option<String> {
        let memory = self.memory.as_ref()?;
        if let Some(register) = &memory.register {
            return Some(format!("`{}` of the source", sources.in_register(self.line, register)?));
        }
        let near = memory.variable.as_ref()?;
        let element = sources.element(&near.name, near.buffer, near.offset)?;
        let end = if near.buffer { "the end of its buffer" } else { "its end" };
        let past = near.offset.saturating_sub_unsigned(near.bytes);
        let relation = match past {
            _ if near.offset < 0 => format!(", {} bytes before its start", near.offset.unsigned_abs()),
            0 => format!(", just past {end}"),
            1.. => format!(", {past} bytes past {end}"),
            _ => String::new(),
        };
        Some(format!("`{element}` of the source{relation}"))
    }

    /// The address of its access, and what is there.
    fn place(&self) -> Option<String> {
        let role = self.prefix();
        let what = match (&self.address, &self.memory) {
            (Some((space, address)), Some(memory)) => {
                format!("{space} address {address:#x}: {}", memory.text)
            }
            (Some((space, address)), None) => format!("{space} address {address:#x}"),
            (None, Some(memory)) => memory.text.clone(),
            (None, None) => return None,
        };
        Some(format!("{role}{what}"))
    }

    /// The lines of the source that its line comes from.
    fn frames(&self, sources: &Sources) -> Option<String> {
        sources.origin(self.line)
    }

    fn json(&self, sources: &Sources) -> Value {
        let frames: Vec<Value> = sources.frames(self.line).iter().map(Frame::json).collect();
        let line = (self.line != 0).then_some(self.line);
        json!({
            "role": (!self.role.is_empty()).then_some(self.role),
            "ptx_line": line, "mnemonic": self.mnemonic, "source": frames, "block": self.block, "thread": self.thread,
            "space": self.address.map(|(space, _)| space.to_string()),
            "address": self.address.map(|(_, address)| format!("{address:#x}")),
            "memory": self.memory.as_ref().map(|memory| memory.text.as_str()), "variable": self.variable(sources),
        })
    }
}

/// What makes two findings the same: the code, and operations of the program.
type Key = (&'static str, SmallVec<[u32; 2]>);

/// The methods of a checker whose field `report` holds what it has found.
macro_rules! reports {
    ($checker:ident) => {
        impl $checker {
            /// What was found.
            pub fn report(&self) -> &Report {
                &self.report
            }

            /// Sends findings to `to` as they are made.
            pub(super) fn sending_to(mut self, to: &Findings) -> Self {
                self.report.send_to(to);
                self
            }

            /// What was found.
            pub fn into_report(self) -> Report {
                self.report
            }
        }
    };
}

pub(crate) use reports;

/// New findings, for someone who looks at them while the launch goes on. Clones are the same list.
#[derive(Clone, Default, Debug)]
pub struct Findings {
    new: Arc<Mutex<Vec<Finding>>>,
    count: Arc<AtomicUsize>,
}

impl Findings {
    /// True if there are any.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Those that were made since this was last called.
    pub fn take(&self) -> Vec<Finding> {
        self.count.store(0, Ordering::Relaxed);
        std::mem::take(&mut self.new.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, finding: Finding) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The findings of a launch, in the order in which they were first made.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// Where new ones are sent.
    sink: Option<Findings>,
    findings: Vec<Finding>,
    known: FxHashMap<Key, usize>,
    /// Occurrences past the number of distinct findings that is kept.
    left_out: u64,
}

impl Report {
    /// An empty one.
    pub fn new() -> Report {
        Report::default()
    }

    /// Adds `count` occurrences of a finding, which is made only if it is the first with this code at these operations. True if it was.
    pub fn add(
        &mut self,
        code: &'static str,
        pcs: &[u32],
        count: u64,
        make: impl FnOnce() -> Finding,
    ) -> bool {
        let next = self.findings.len();
        let key = (code, SmallVec::from_slice(pcs));
        match self.known.get(&key) {
            Some(&i) => self.findings[i].count += count,
            None if next >= MOST_FINDINGS => self.left_out += count,
            None => {
                self.known.insert(key, next);
                let finding = Finding { count, ..make() };
                if let Some(sink) = &self.sink {
                    sink.put(finding.clone());
                }
                self.findings.push(finding);
                return true;
            }
        }
        false
    }

    /// Sends new findings to `to`.
    pub fn send_to(&mut self, to: &Findings) {
        self.sink = Some(to.clone());
    }

    /// Counts more occurrences of a finding that was added before.
    pub fn count(&mut self, code: &'static str, pcs: &[u32], count: u64) {
        match self.known.get(&(code, SmallVec::from_slice(pcs))) {
            Some(&i) => self.findings[i].count += count,
            None => self.left_out += count,
        }
    }

    /// The findings.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// True without findings.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// True if any finding is an error: what the exit status of a command should say.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|f| f.severity == Severity::Error)
    }

    /// Adds those of another report, after its own.
    pub fn append(&mut self, other: Report) {
        self.left_out += other.left_out;
        let start = self.findings.len();
        self.known.extend(other.known.into_iter().map(|(key, i)| (key, i + start)));
        self.findings.extend(other.findings);
    }

    /// For people, without colours.
    pub fn text(&self, sources: &Sources) -> String {
        self.render(&Renderer::plain(), sources)
    }

    /// For people.
    pub fn render(&self, renderer: &Renderer, sources: &Sources) -> String {
        let mut text = String::new();
        for finding in self.findings.iter().take(MOST_SHOWN) {
            text += &renderer.diagnostic(sources.source(), &finding.diagnostic(sources));
            text += "\n\n";
        }
        text + &self.summary()
    }

    /// The last line of the text: how much was found.
    pub fn summary(&self) -> String {
        if self.findings.is_empty() {
            return "no findings\n".into();
        }
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let errors = self.findings.iter().filter(|f| f.severity == Severity::Error).count();
        let warnings = self.findings.len() - errors;
        let mut text = plural(errors, "error");
        if warnings > 0 {
            text = format!("{text}, {}", plural(warnings, "warning"));
        }
        let hidden = self.findings.len().saturating_sub(MOST_SHOWN);
        if hidden > 0 {
            text = format!("{text}, {hidden} of them not shown");
        }
        if self.left_out > 0 {
            text = format!("{text}; past {MOST_FINDINGS} findings, {} more occurrences", self.left_out);
        }
        let codes: Vec<&str> = {
            let mut codes: Vec<&str> = self.findings.iter().map(|f| f.code).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        };
        format!("{text} (warpsmith explain {})\n", codes.join(" "))
    }

    /// For programs: an array of findings.
    pub fn json(&self, sources: &Sources) -> Value {
        self.findings.iter().map(|f| f.json(sources)).collect()
    }
}
