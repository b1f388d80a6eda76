//! What is made of launches by watching them: findings, faults, coverage and profile, and the report.

use crate::error::Error;
use crate::kernel::Module;
use crate::log;
use crate::settings::Settings;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith::diag::{Renderer, Severity};
use warpsmith::interp::{Prepared, Stats};
use warpsmith::watch::{Checkers, Counts, Coverage, Page, Profile, Selection, Sources};
use warpsmith::{Diagnostics, Fault, Program, ptx};
use warpsmith_base::FxHashSet;

/// Who watches.
#[derive(Debug)]
pub struct Watch {
    check: Selection,
    coverage: Option<PathBuf>,
    profile: Option<PathBuf>,
    report: Mutex<Report>,
    /// The process that the library was initialised in: a forked child has no threads to share work with.
    process: u32,
    launches: AtomicU64,
    /// Modules that are measured.
    measured: Mutex<Vec<Measured>>,
}

/// A module that is measured, and what was counted of it.
type Measured = (Arc<Program>, Arc<Mutex<Counts>>);

#[derive(Debug)]
struct Report {
    folder: Option<PathBuf>,
    file: Option<(u32, File)>,
    /// What has been said: each only once.
    said: FxHashSet<(String, String)>,
}

/// What is known of the runs of a module.
#[derive(Debug, Default)]
pub struct ModuleWatch {
    counts: Mutex<Option<Arc<Mutex<Counts>>>>,
    sources: std::sync::OnceLock<Sources>,
}

impl ModuleWatch {
    fn sources(&self, program: &Program) -> &Sources {
        self.sources.get_or_init(|| sources(program))
    }
}

fn sources(program: &Program) -> Sources {
    let text = program.source().text();
    let module = ptx::parse(text).module;
    Sources::new(program.source().name(), text, &module)
}

impl Watch {
    /// Nobody has run yet.
    pub fn new(settings: &Settings) -> Watch {
        let report = Report { folder: settings.report.clone(), file: None, said: FxHashSet::default() };
        Watch {
            check: settings.check,
            coverage: settings.coverage.clone(),
            profile: settings.profile.clone(),
            report: Mutex::new(report),
            process: std::process::id(),
            launches: AtomicU64::new(0),
            measured: Mutex::default(),
        }
    }

    /// Host threads of a launch.
    pub fn workers(&self, settings: &Settings) -> Option<usize> {
        // The pool of the parent is not in a forked child.
        if std::process::id() == self.process { settings.workers } else { Some(1) }
    }

    fn measures(&self) -> bool {
        self.coverage.is_some() || self.profile.is_some()
    }

    /// Runs a launch, watched if the user asks for it.
    pub fn run(&self, module: &Module, kernel: &str, prepared: Prepared<'_>) -> Result<Stats, Fault> {
        self.launches.fetch_add(1, Ordering::Relaxed);
        if self.check == Selection::empty() && !self.measures() {
            return prepared.run();
        }
        let counts = self.measures().then(|| self.counts(module));
        let mut counts = counts.as_ref().map(|counts| counts.lock().unwrap_or_else(PoisonError::into_inner));
        let mut checkers = Checkers::new(self.check);
        let mut observer = (checkers.observer(), counts.as_deref_mut());
        let outcome = prepared.run_observed(&mut observer);
        drop(observer);
        let found = checkers.into_report();
        if !found.is_empty() {
            let sources = module.watch.sources(&module.program);
            for finding in found.findings() {
                let diagnostic = finding.diagnostic(sources);
                let list = Diagnostics::new(sources.source().clone(), vec![diagnostic]);
                let lines =
                    finding.sites.iter().map(|site| site.line.to_string()).collect::<Vec<_>>().join(",");
                let error = finding.severity == Severity::Error;
                self.say(
                    kernel,
                    if error { "error" } else { "warning" },
                    &format!("{}:{lines}", finding.code),
                    &list,
                );
            }
        }
        outcome
    }

    fn counts(&self, module: &Module) -> Arc<Mutex<Counts>> {
        let mut own = module.watch.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = own.get_or_insert_with(|| {
            let counts = if self.profile.is_some() { Counts::profile() } else { Counts::coverage() };
            let counts = Arc::new(Mutex::new(counts));
            let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
            measured.push((Arc::clone(&module.program), Arc::clone(&counts)));
            counts
        });
        Arc::clone(counts)
    }

    /// Says that a kernel has failed, and makes it the answer of a call.
    pub fn fault(&self, module: &Module, kernel: &str, fault: Fault) -> Error {
        let found = module.watch.sources(&module.program).diagnostics(&fault);
        let key = format!("{}:{}", fault.code.name(), fault.ptx_line.unwrap_or(0));
        self.say(kernel, "fault", &key, &found);
        let mut error = Error::from(fault);
        error.message = format!("kernel `{kernel}`: {}", error.message);
        error
    }

    /// Says that a module was refused.
    pub fn refused(&self, name: &str, error: &Error, found: Option<&Diagnostics>) {
        let source = warpsmith::Source::none();
        let own = || {
            let code = error.code.describe().map_or("", |(name, _)| name.to_str().unwrap_or_default());
            let diagnostic =
                warpsmith::Diagnostic::error(code, warpsmith::diag::Span::NONE, error.message.as_str());
            Diagnostics::new(source.clone(), vec![diagnostic])
        };
        let list = found.cloned().unwrap_or_else(own);
        self.say(name, "refused", &error.message, &list);
    }

    /// Reports to the user, once, and to the report, as often as it happens in different kernels.
    fn say(&self, subject: &str, kind: &str, key: &str, found: &Diagnostics) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if !report.said.insert((subject.to_owned(), key.to_owned())) {
            return;
        }
        let text = Renderer::plain().diagnostics(found.source(), found);
        let what = if kind == "refused" { "module" } else { "kernel" };
        log::always(&format!("{what} `{subject}`:\n{}", text.trim_end()));
        let json = json!({"kind": kind, "subject": subject, "text": text, "key": key});
        report.write(&json);
    }

    /// Writes what is to be written when the process ends.
    pub fn finish(&self) {
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, (program, counts)) in measured.iter().enumerate() {
            let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            let sources = sources(program);
            let coverage = Coverage::new(program, &counts, &sources);
            let profile = counts.has_memory().then(|| Profile::new(program, &counts, &sources));
            let texts = std::collections::BTreeMap::new();
            let name = format!("{}-{number}", std::process::id());
            let page =
                Page { title: sources.name(), coverage: &coverage, profile: profile.as_ref(), texts: &texts };
            let put = |folder: &Path, ending: &str, text: String| {
                let path = folder.join(format!("{name}.{ending}"));
                let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
                if let Err(error) = made {
                    log::always(&format!("cannot write {}: {error}", path.display()));
                }
            };
            if let Some(folder) = &self.coverage {
                put(folder, "info", coverage.lcov());
                put(folder, "html", page.render());
            }
            if let (Some(folder), Some(profile)) = (&self.profile, &profile) {
                put(folder, "json", format!("{:#}\n", profile.json()));
                put(folder, "txt", profile.text());
            }
        }
        let launches = self.launches.load(Ordering::Relaxed);
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.write(&json!({"kind": "end", "launches": launches}));
    }
}

impl Report {
    /// Adds a line to the report of this process.
    fn write(&mut self, line: &Value) {
        let Some(folder) = &self.folder else { return };
        let process = std::process::id();
        if self.file.as_ref().is_none_or(|(owner, _)| *owner != process) {
            let path = folder.join(format!("{process}.jsonl"));
            let opened = std::fs::create_dir_all(folder)
                .and_then(|()| OpenOptions::new().create(true).append(true).open(&path));
            match opened {
                Ok(file) => self.file = Some((process, file)),
                Err(error) => {
                    log::always(&format!("cannot write the report to {}: {error}", path.display()));
                    self.folder = None;
                    return;
                }
            }
        }
        if let Some((_, file)) = &mut self.file
            && let Err(error) = writeln!(file, "{line}")
        {
            log::always(&format!("cannot write the report: {error}"));
            self.folder = None;
        }
    }
}
