//! Instrumentation of a run: trace, coverage, profile. The flags, the observers, and what is written in the end.

use crate::Failure;
use clap::Args;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use warpsmith::interp::Program;
use warpsmith::interp::observe::Observer;
use warpsmith::watch::trace::{Condition, Filter, Trace};
use warpsmith::watch::{Counts, Coverage, Page, Profile, Sources};

#[derive(Args, Clone)]
pub struct InstrumentFlags {
    /// Write what every instruction does, a JSON object per line; to standard output if no file is named.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    trace: Option<PathBuf>,
    /// Trace only what meets a condition: kernel=NAME, block=N|A-B|X,Y,Z, warp=N|A-B, thread=N|A-B|X,Y,Z, class=NAME|memory,
    /// line=N|A-B. Of several of one kind one must hold, of several kinds all.
    #[arg(long, value_name = "KEY=VALUE", requires = "trace")]
    trace_filter: Vec<Condition>,
    /// Report which instructions and branch outcomes were reached: a page (.html), LCOV (.info, .lcov), or text, to standard output if
    /// no file is named.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    coverage: Option<PathBuf>,
    /// Report what the run costs, by class of instruction and by line: a page (.html), JSON (.json), or text, to standard output
    /// if no file is named.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    profile: Option<PathBuf>,
}

impl InstrumentFlags {
    /// True if anything is asked for.
    pub fn any(&self) -> bool {
        self.trace.is_some() || self.coverage.is_some() || self.profile.is_some()
    }
}

/// The observers of a run.
pub struct Instruments {
    options: InstrumentFlags,
    trace: Option<Trace<Box<dyn Write + Send>>>,
    counts: Option<Counts>,
}

impl Instruments {
    /// Opens the file of the trace.
    pub fn new(options: &InstrumentFlags) -> Result<Instruments, Failure> {
        let out = |path: &PathBuf| -> Result<Box<dyn Write + Send>, Failure> {
            if is_standard(path) {
                return Ok(Box::new(BufWriter::new(std::io::stdout())));
            }
            let file = File::create(path).map_err(|e| unwritable(path, &e))?;
            Ok(Box::new(BufWriter::new(file)))
        };
        let filter = Filter::new(options.trace_filter.iter().cloned());
        let trace = options.trace.as_ref().map(out).transpose()?.map(|out| Trace::new(out, filter));
        let counts = match (&options.profile, &options.coverage) {
            (Some(_), _) => Some(Counts::profile()),
            (None, Some(_)) => Some(Counts::coverage()),
            (None, None) => None,
        };
        Ok(Instruments { options: options.clone(), trace, counts })
    }

    /// What the source calls lines and registers.
    pub fn with_sources(mut self, sources: &Sources) -> Instruments {
        self.trace = self.trace.map(|trace| trace.with_sources(sources));
        self
    }

    pub fn observer(&mut self) -> impl Observer + '_ {
        (self.trace.as_mut(), self.counts.as_mut())
    }

    /// Writes the files. Gives the members of a JSON answer and the text for standard output. `input` is the file that was run.
    pub fn finish(self, program: &Program, sources: &Sources, input: &Path) -> Result<Rendered, Failure> {
        if let Some(trace) = self.trace {
            let path = self.options.trace.unwrap_or_default();
            trace.finish().map_err(|e| unwritable(&path, &e))?;
        }
        let mut rendered = Rendered::default();
        let Some(counts) = self.counts else { return Ok(rendered) };
        let coverage = Coverage::new(program, &counts, sources);
        let profile = counts.has_memory().then(|| Profile::new(program, &counts, sources));
        let texts = texts(&coverage, input);
        let page = || {
            let page =
                Page { title: sources.name(), coverage: &coverage, profile: profile.as_ref(), texts: &texts };
            page.render()
        };
        if let Some(path) = &self.options.coverage {
            let text = match extension(path) {
                "html" | "htm" => page(),
                "info" | "lcov" => coverage.lcov(),
                _ => coverage.text(&texts),
            };
            rendered.put("coverage", path, text, Value::from)?;
        }
        if let (Some(path), Some(profile)) = (&self.options.profile, &profile) {
            let text = match extension(path) {
                "html" | "htm" => page(),
                "json" => format!("{:#}\n", profile.json()),
                _ => profile.text(),
            };
            rendered.put("profile", path, text, |_| profile.json())?;
        }
        Ok(rendered)
    }
}

/// What the instruments have to say on standard output.
#[derive(Default)]
pub struct Rendered {
    /// For people.
    pub text: String,
    /// For programs: members of the answer.
    pub members: Map<String, Value>,
}

impl Rendered {
    fn put(
        &mut self,
        name: &str,
        path: &Path,
        text: String,
        json: impl FnOnce(String) -> Value,
    ) -> Result<(), Failure> {
        if !is_standard(path) {
            return std::fs::write(path, text).map_err(|e| unwritable(path, &e));
        }
        self.text += &text;
        self.members.insert(name.into(), json(text));
        Ok(())
    }
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot write {}: {error}", path.display()))
}

/// The files of the source that can be read: where the module has them, or beside it.
fn texts(coverage: &Coverage<'_>, input: &Path) -> BTreeMap<String, String> {
    let read = |file: &String| {
        let (path, folder) = (Path::new(file), input.parent().unwrap_or(Path::new("")));
        let beside = path.file_name().map(|name| folder.join(name));
        let places = [Some(path.to_owned()), Some(folder.join(path)), beside];
        let bytes = places.into_iter().flatten().find_map(|place| std::fs::read(place).ok())?;
        Some((file.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    coverage.files().keys().filter_map(read).collect()
}
