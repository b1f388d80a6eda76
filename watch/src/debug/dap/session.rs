//! A session: a run on one side, the requests of an editor on the other.

mod stops;

use super::breakpoints::Placed;
use super::variables::Container;
use super::wire::Waiting;
use super::{Connection, Request, Settings};
use crate::check::report::{Finding, Findings};
use crate::debug::{Asked, Console, Debugger, Focus, Goal, Reason};
use crate::{Checkers, Sources};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith_base::FxHashMap;
use warpsmith_diag::{Renderer, Severity};
use warpsmith_interp::engine::Access;
use warpsmith_interp::observe::{AccessKind, Addresses, At, Interest, Observer, Resume, Stage, View, WarpId};
use warpsmith_interp::{Fault, FaultCode, Program};
use warpsmith_isa::StateSpace;
use warpsmith_ptx::Module;

/// What is debugged.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// What the PTX is called.
    pub name: &'a str,
    /// The PTX.
    pub text: &'a str,
    /// The module that it was parsed to.
    pub module: &'a Module,
    /// The program that was loaded from it.
    pub program: &'a Program,
}

/// Takes what a kernel prints, on its way to the editor's console.
#[derive(Clone, Default)]
pub struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What the session has of what denotes the terminal.
#[derive(Default)]
pub(super) struct Capture {
    text: Mutex<String>,
    /// The editor wants the run to stop.
    pub(super) pause: AtomicBool,
    /// What has come is being looked at.
    looking: AtomicBool,
}

impl Capture {
    /// What was shown since this was last called.
    pub(super) fn take(&self) -> String {
        std::mem::take(&mut self.text.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What denotes the terminal: it keeps what commands show.
struct Terminal {
    capture: Arc<Capture>,
    waiting: Waiting,
    findings: Findings,
    settings: Settings,
}

impl Console for Terminal {
    fn read(&mut self, _: &str) -> Option<String> {
        None
    }

    fn write(&mut self, text: &str) {
        *self.capture.text.lock().unwrap_or_else(PoisonError::into_inner) += text;
    }

    fn file(&mut self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.settings.resolve(path)?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn interrupted(&mut self) -> bool {
        let Capture { pause, looking, .. } = &*self.capture;
        pause.load(Relaxed) || !looking.load(Relaxed) && (self.waiting.any() || self.findings.any())
    }
}

/// What becomes of a run, or of the session, after a request.
pub(super) enum After {
    /// Nothing.
    Stay,
    /// The run goes on.
    Resume(Resume),
    /// A run starts.
    Start,
    /// The run ends, and the session stays.
    Terminate,
    /// The session ends.
    Quit,
}

/// A body for the answer, and what comes then.
pub(super) type Reply = Result<(Value, After), String>;

/// A thread of a session that stands still, and the number of one of its frames.
pub(super) type FrameAt = (Focus, usize);

/// Which exceptions stop.
#[derive(Clone, Copy)]
pub(super) struct Filters {
    pub(super) fault: bool,
    pub(super) error: bool,
    pub(super) warning: bool,
}

pub(super) struct Session<'s, 'a> {
    pub(super) debugger: &'s mut Debugger<'a>,
    pub(super) capture: Arc<Capture>,
    pub(super) connection: &'s mut Connection,
    pub(super) settings: Settings,
    findings: Findings,
    output: Output,
    /// Threads that the editor knows; their numbers are their places here, from 1.
    pub(super) threads: Vec<Focus>,
    pub(super) numbers: FxHashMap<Focus, usize>,
    /// What frames and variables are called as long as the run stands still.
    pub(super) frames: Vec<FrameAt>,
    pub(super) containers: Vec<Container>,
    pub(super) placed: Placed,
    pub(super) filters: Filters,
    /// Details of the exception that the run stands still for.
    pub(super) exception: Option<Value>,
    /// The run stands still, and the editor knows.
    stands: bool,
    ends: Option<After>,
    /// Events that follow the answer that is being made.
    pub(super) later: Vec<(&'static str, Value)>,
}

/// Conducts a session: answers the `launch` request that [`Connection::handshake`] has given, and what comes then, until the editor goes away.
/// `launch` makes the launch. False if the last run ended with a fault or an error of a checker.
pub fn serve(
    connection: &mut Connection,
    request: &Request,
    subject: Subject<'_>,
    settings: Settings,
    launch: &mut dyn FnMut(Output, &mut dyn Observer) -> Result<(), Fault>,
) -> bool {
    let findings = Findings::default();
    let capture = Arc::new(Capture::default());
    let mut terminal = Terminal {
        capture: capture.clone(),
        waiting: connection.waiting(),
        findings: findings.clone(),
        settings: settings.clone(),
    };
    let Subject { name, text, module, program } = subject;
    let mut debugger = Debugger::new(name, text, module, program, &mut terminal);
    debugger.by_warp = settings.by_warp;
    for warning in debugger.symbols.sources.dwarf().warnings.iter().take(20) {
        connection.output("console", &format!("debug information: {warning}\n"));
    }
    connection.respond(request, json!({}));
    connection.event("initialized", json!({}));
    let mut session = Session {
        debugger: &mut debugger,
        capture,
        connection,
        settings,
        findings,
        output: Output::default(),
        threads: Vec::new(),
        numbers: FxHashMap::default(),
        frames: Vec::new(),
        containers: Vec::new(),
        placed: Placed::default(),
        filters: Filters { fault: true, error: true, warning: false },
        exception: None,
        stands: false,
        ends: None,
        later: Vec::new(),
    };
    let mut sound = true;
    while session.idle() {
        loop {
            sound = session.run(launch);
            match session.ends.take() {
                Some(After::Start) => {}
                Some(After::Quit) => return sound,
                _ => break,
            }
        }
        session.connection.event("exited", json!({"exitCode": i32::from(!sound)}));
        session.connection.event("terminated", json!({}));
    }
    sound
}

impl Session<'_, '_> {
    /// Answers requests while nothing runs. False if the session ends.
    fn idle(&mut self) -> bool {
        while let Some(request) = self.connection.next_request() {
            match self.answer(&request, None) {
                After::Stay | After::Resume(_) | After::Terminate => {}
                After::Start => return true,
                After::Quit => return false,
            }
        }
        false
    }

    /// One run. False if it ended with a fault or an error of a checker.
    fn run(&mut self, launch: &mut dyn FnMut(Output, &mut dyn Observer) -> Result<(), Fault>) -> bool {
        self.debugger.begin_run();
        self.capture.pause.store(false, Relaxed);
        if self.settings.stop_on_entry {
            self.debugger.goal = Goal::Any;
        }
        let name = self.debugger.symbols.file().to_owned();
        self.connection.event("process", json!({"name": name, "startMethod": "launch", "pointerSize": 64}));
        let mut checkers = Checkers::new(self.settings.check).sending_to(&self.findings);
        let output = self.output.clone();
        let result = launch(output, &mut (checkers.observer(), &mut *self));
        self.debugger.end_run();
        self.stands = false;
        self.flush();
        // What is found at the end of a launch: memory that was not freed.
        for finding in self.findings.take() {
            self.send_finding(&finding);
        }
        let report = checkers.into_report();
        let mut sound = !report.has_errors();
        if !report.is_empty() {
            let summary = report.summary();
            self.connection.output("console", &summary);
        }
        match result {
            Err(fault) if fault.code != FaultCode::Interrupted => {
                sound = false;
                let text = self.fault_text(&fault);
                self.connection.output("stderr", &text);
            }
            Ok(()) | Err(_) => {}
        }
        sound
    }

    /// Shows what the kernel has printed.
    fn flush(&mut self) {
        let printed = self.output.take();
        self.connection.output("stdout", &printed);
    }

    fn sources(&self) -> &Sources {
        &self.debugger.symbols.sources
    }

    fn send_finding(&mut self, finding: &Finding) {
        let diagnostic = finding.diagnostic(self.sources());
        let text = Renderer::plain().diagnostic(self.sources().source(), &diagnostic);
        self.connection.output("stderr", &format!("{text}\n"));
    }

    fn fault_text(&self, fault: &Fault) -> String {
        let found = self.sources().diagnostics(fault);
        format!("{}\n", Renderer::plain().diagnostics(found.source(), &found))
    }

    /// Answers a request.
    fn answer(&mut self, request: &Request, view: Option<&mut View<'_>>) -> After {
        let reply = match self.is_possible(request, view.is_some()) {
            Ok(()) => self.handle(request, view),
            Err(why) => Err(why),
        };
        let after = match reply {
            Ok((body, after)) => {
                self.connection.respond(request, body);
                after
            }
            Err(why) => {
                self.connection.refuse(request, &why);
                After::Stay
            }
        };
        for (name, body) in std::mem::take(&mut self.later) {
            self.connection.event(name, body);
        }
        after
    }

    /// What asks for threads and values has to wait until the run stands still.
    fn is_possible(&self, request: &Request, running: bool) -> Result<(), String> {
        let always = matches!(
            request.command.as_str(),
            "setBreakpoints"
                | "setFunctionBreakpoints"
                | "setInstructionBreakpoints"
                | "setExceptionBreakpoints"
                | "setDataBreakpoints"
                | "breakpointLocations"
                | "configurationDone"
                | "threads"
                | "pause"
                | "disconnect"
                | "terminate"
                | "restart"
                | "source"
                | "loadedSources"
                | "disassemble"
        );
        match (always || self.stands, running) {
            (true, _) => Ok(()),
            (false, true) => Err("The kernel is running.".into()),
            // The console takes commands before a run, too.
            (false, false) if request.command == "evaluate" => Ok(()),
            (false, false) => Err("The kernel is not running.".into()),
        }
    }

    fn handle(&mut self, request: &Request, view: Option<&mut View<'_>>) -> Reply {
        let arguments = &request.arguments;
        let stay = |body: Value| Ok((body, After::Stay));
        match (request.command.as_str(), view) {
            ("configurationDone", None) => Ok((json!({}), After::Start)),
            ("configurationDone", Some(_)) => stay(json!({})),
            ("restart", _) => Ok((json!({}), After::Start)),
            ("terminate", _) => Ok((json!({}), After::Terminate)),
            ("disconnect", _) => Ok((json!({}), After::Quit)),
            ("setBreakpoints", _) => self.set_breakpoints(arguments).and_then(stay),
            ("setFunctionBreakpoints", _) => self.set_function_breakpoints(arguments).and_then(stay),
            ("setInstructionBreakpoints", _) => self.set_instruction_breakpoints(arguments).and_then(stay),
            ("setExceptionBreakpoints", _) => self.set_exception_breakpoints(arguments).and_then(stay),
            ("breakpointLocations", _) => self.breakpoint_locations(arguments).and_then(stay),
            ("setDataBreakpoints", view) => self.set_data_breakpoints(arguments, view).and_then(stay),
            ("source", _) => self.source_text(arguments).and_then(stay),
            ("loadedSources", _) => stay(self.loaded_sources()),
            ("disassemble", _) => self.disassemble(arguments).and_then(stay),
            ("threads", view) => stay(self.list_threads(view)),
            ("evaluate", view) => self.evaluate(arguments, view),
            ("completions", view) => self.completions(arguments, view).and_then(stay),
            ("pause", _) => {
                self.capture.pause.store(!self.stands, Relaxed);
                stay(json!({}))
            }
            (command, Some(view)) => match command {
                "warpsmith/threads" => stay(self.page_of_threads(arguments, view)),
                "warpsmith/focus" => self.change_focus(arguments, view).and_then(stay),
                "stackTrace" => self.stack_trace(arguments, view).and_then(stay),
                "scopes" => self.scopes(arguments, view).and_then(stay),
                "variables" => self.variables(arguments, view).and_then(stay),
                "setVariable" => self.set_variable(arguments, view).and_then(stay),
                "setExpression" => self.set_expression(arguments, view).and_then(stay),
                "dataBreakpointInfo" => self.data_breakpoint_info(arguments, view).and_then(stay),
                "exceptionInfo" => {
                    self.exception.clone().ok_or_else(|| "No exception.".into()).and_then(stay)
                }
                "readMemory" => self.read_memory(arguments, view).and_then(stay),
                "writeMemory" => self.write_memory(arguments, view).and_then(stay),
                "continue" | "next" | "stepIn" | "stepOut" => self.go_on(command, arguments, view),
                _ => Err(format!("`{command}` is not supported.")),
            },
            (command, None) => Err(format!("`{command}` is not supported.")),
        }
    }
}

/// `tile[0]: Old value = 1, New value = 2`, of what a watchpoint shows.
fn watched_text(shown: &str) -> String {
    let values = shown.lines().filter(|line| line.contains("alue = "));
    values.collect::<Vec<_>>().join(", ")
}

impl Observer for Session<'_, '_> {
    fn interest(&self) -> Interest {
        self.debugger.interest()
    }

    fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
        self.debugger.breaks(at, executed)
    }

    fn stopped(&mut self, view: &mut View<'_>) -> Resume {
        let Some(asked) = self.debugger.asked else { return Resume::Run };
        self.debugger.seen.insert(asked.warp, (asked.executed, asked.pc));
        self.look(view, asked)
    }

    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        self.debugger.access(at, kind, access, space, addresses);
    }

    fn transfer(&mut self, at: &At<'_>, number: u64, stage: Stage) {
        self.debugger.transfer(at, number, stage);
    }

    fn exited(&mut self, at: &At<'_>) {
        self.debugger.exited(at);
    }

    fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
        if fault.code == FaultCode::Interrupted || !self.filters.fault || self.settings.no_debug {
            return;
        }
        self.flush();
        self.debugger.fault = Some(fault.clone());
        self.debugger.catch(view, fault);
        let trace = self.fault_text(fault);
        self.exception = Some(json!({
            "exceptionId": fault.code.name(), "description": fault.message, "breakMode": "always",
            "details": {"message": trace, "typeName": "fault"},
        }));
        let text = format!("{}: {}", fault.code, fault.message);
        // Nothing can go on: whatever the editor wants, the run ends.
        self.stand(view, json!({"reason": "exception", "description": "Paused on a fault", "text": text}));
    }
}

impl Debugger<'_> {
    /// The thread with these numbers.
    pub(super) fn thread_at(&self, view: &View<'_>, block: [u32; 3], [x, y, z]: [u32; 3]) -> Focus {
        let [nx, ny, _] = view.launch().block();
        let number = (z * ny + y) * nx + x;
        Focus { warp: WarpId { block, warp: number / 32 }, lane: number % 32 }
    }
}
