//! A debugger for kernels, with the commands of gdb and cuda-gdb.
//!
//! [`Debugger`] is an [`Observer`] that [stops](warpsmith_interp::observe::Interest::stops) the run. It reads commands from a [`Console`], which is a terminal, a script or a
//! test, and writes what they show to it. `docs/watching.md` lists the commands.
//!
//! ```
//! use warpsmith_interp::{Device, Launch, Program, Schedule};
//! use warpsmith_ptx::ValidatedModule;
//! use warpsmith_watch::debug::{Debugger, Script};
//! let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {\n.reg .u32 %r;\nmov.u32 %r, %tid.x;\nret;\n}";
//! let module = ValidatedModule::parse(text).unwrap();
//! let program = Program::load(&module).unwrap();
//! let mut script = Script::new("break 7\nrun\nprint %r\nlanes %r\ncontinue");
//! let mut debugger = Debugger::new("k.ptx", text, &module, &program, &mut script);
//! debugger.session(&mut |debugger| {
//!     let launch = Launch::new("k").block([4, 1, 1]).schedule(Schedule::RoundRobin);
//!     Device::new().launch_observed(&program, &launch, debugger).map(drop)
//! });
//! assert!(script.output().contains("$2 = {0, 1, 2, 3, -- <repeats 28 times>}\n"));
//! ```

mod commands;
mod complete;
mod console;
mod convert;
pub mod dap;
mod display;
mod expr;
mod focus;
mod gdb;
mod info;
mod lex;
mod numbers;
mod points;
mod scope;
mod show;
mod step;
mod symbols;
mod types;
mod value;

pub use console::{Console, Script};

use display::Display;
use points::Point;
use scope::{Memo, Scope};
use show::Listing;
use step::Goal;
use symbols::Symbols;
use value::Value;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::Access;
use warpsmith_interp::observe::{
    AccessKind, Addresses, At, Interest, Observer, Registers, Resume, Stage, View, WarpId,
};
use warpsmith_interp::{Fault, FaultCode, Program};
use warpsmith_isa::StateSpace;
use warpsmith_ptx::Module;

/// The prompt.
pub const PROMPT: &str = "(warpsmith) ";

/// The thread that commands speak of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Focus {
    warp: WarpId,
    lane: u32,
}

/// What becomes of the prompt after a command.
enum Flow {
    /// It comes again.
    Stay,
    /// The run goes on.
    Resume(Resume),
    /// A run starts.
    Run,
    /// The session ends.
    Quit,
}

/// The last question of the engine: block, warp, instructions executed, operation, lanes.
#[derive(Clone, Copy)]
struct Asked {
    warp: WarpId,
    executed: u64,
    pc: u32,
    mask: u32,
}

/// Why a run stands still.
#[derive(Clone, Default, Debug)]
enum Reason {
    /// A step is done, or there is none.
    #[default]
    Step,
    /// These breakpoints or watchpoints are hit.
    Points { numbers: Vec<u32>, watched: bool },
    /// Someone wants it to.
    Interrupt,
}

/// A debugger of one kernel launch, which can be started again and again.
pub struct Debugger<'a> {
    symbols: Symbols<'a>,
    console: &'a mut dyn Console,
    points: Vec<Point>,
    next_point: u32,
    /// By operation: a breakpoint may be there.
    armed: Vec<bool>,
    /// By operation: it is the first of a statement.
    starts: Vec<bool>,
    memo: Memo,
    focus: Option<Focus>,
    /// The selected frame, inlined ones counted.
    frame: usize,
    goal: Goal,
    /// How many frames the thread had when it went on, and the function it was in.
    left: Option<(usize, String)>,
    asked: Option<Asked>,
    /// Where warps have stood still last: instructions executed, operation.
    seen: FxHashMap<WarpId, (u64, u32)>,
    listing: Listing,
    displays: Vec<Display>,
    next_display: u32,
    /// Files that commands were read from, and what is left of them.
    scripts: Vec<Vec<String>>,
    last_line: String,
    running: bool,
    runs: u32,
    restart: bool,
    quit: bool,
    /// The run has come to an end by a fault, and stands still where it happened.
    fault: Option<Fault>,
    failed: bool,
    /// Why the run stood still last.
    reason: Reason,
    /// What log points have said since they were last asked.
    logged: String,
    /// Steps end when any lane of the warp has taken them.
    by_warp: bool,
}

impl<'a> Debugger<'a> {
    /// A debugger of a module that was parsed from `text` and loaded as `program`. `name` is what the file is called.
    pub fn new(
        name: &str,
        text: &str,
        module: &'a Module,
        program: &'a Program,
        console: &'a mut dyn Console,
    ) -> Self {
        let symbols = Symbols::new(name, text, module, program);
        let operations = program.operations() as usize;
        let starts = (0..operations as u32).map(|pc| symbols.is_start(pc)).collect();
        Debugger {
            symbols,
            console,
            points: Vec::new(),
            next_point: 1,
            armed: vec![false; operations],
            starts,
            memo: Memo::default(),
            focus: None,
            frame: 0,
            goal: Goal::Run,
            left: None,
            asked: None,
            seen: FxHashMap::default(),
            listing: Listing::default(),
            displays: Vec::new(),
            next_display: 1,
            scripts: Vec::new(),
            last_line: String::new(),
            running: false,
            runs: 0,
            restart: false,
            quit: false,
            fault: None,
            failed: false,
            reason: Reason::default(),
            logged: String::new(),
            by_warp: false,
        }
    }

    /// Reads commands until the console has no more or one of them says `quit`. `launch` makes the launch, with the debugger as its observer.
    /// Gives true if the last run did not end with a fault.
    pub fn session(&mut self, launch: &mut dyn FnMut(&mut Self) -> Result<(), Fault>) -> bool {
        while !self.quit {
            let Some(line) = self.read_line() else { break };
            match self.command(&line, None) {
                Ok(Flow::Run) => self.run(launch),
                Ok(Flow::Quit) => break,
                Ok(_) => {}
                Err(message) => self.complain(&message),
            }
        }
        !self.failed
    }

    fn run(&mut self, launch: &mut dyn FnMut(&mut Self) -> Result<(), Fault>) {
        loop {
            self.begin_run();
            let result = launch(self);
            self.end_run();
            match result {
                Ok(()) => self.say("[Kernel has exited normally]\n"),
                Err(fault) if fault.code == FaultCode::Interrupted => {}
                Err(fault) => {
                    self.failed = true;
                    let text = format!("[Kernel was terminated by a fault: {fault}]\n");
                    self.say(&text);
                }
            }
            if !self.restart {
                return;
            }
        }
    }

    /// Nothing of the run before is left.
    fn begin_run(&mut self) {
        self.restart = false;
        self.running = true;
        self.runs += 1;
        (self.goal, self.asked, self.focus, self.frame) = (Goal::Run, None, None, 0);
        self.seen.clear();
        self.left = None;
        self.arm();
    }

    fn end_run(&mut self) {
        self.running = false;
        self.focus = None;
        self.fault = None;
        self.failed = false;
        self.points.retain(|p| !p.is_gone_after_run());
    }

    /// Shows text among what commands show: what the kernel has printed.
    pub fn show(&mut self, text: &str) {
        self.say(text);
    }

    fn say(&mut self, text: &str) {
        self.console.write(text);
    }

    /// An error ends the scripts that are being read.
    fn complain(&mut self, message: &str) {
        self.scripts.clear();
        let text = format!("{message}\n");
        self.console.write(&text);
    }

    /// The next command: of the innermost script, or of the console, where an empty line repeats the one before.
    fn read_line(&mut self) -> Option<String> {
        while let Some(script) = self.scripts.last_mut() {
            match script.pop() {
                Some(line) => return Some(line),
                None => drop(self.scripts.pop()),
            }
        }
        let line = self.console.read(PROMPT)?;
        if line.trim().is_empty() {
            return Some(self.last_line.clone());
        }
        self.last_line = line.clone();
        Some(line)
    }

    /// The prompt where a run stands still.
    fn prompt(&mut self, view: &mut View<'_>) -> Resume {
        loop {
            let Some(line) = self.read_line() else {
                self.quit = true;
                return Resume::End;
            };
            match self.command(&line, Some(view)) {
                Ok(Flow::Stay) => {}
                Ok(Flow::Resume(resume)) => {
                    let frames = self.frames(view);
                    self.left = frames.first().map(|f| (frames.len(), f.function.clone()));
                    return resume;
                }
                Ok(Flow::Run) => {
                    self.restart = true;
                    return Resume::End;
                }
                Ok(Flow::Quit) => {
                    self.quit = true;
                    return Resume::End;
                }
                Err(message) => self.complain(&message),
            }
        }
    }

    /// What names mean for the selected frame.
    fn scope<'s, 'v>(&'s mut self, view: Option<&'s mut View<'v>>) -> Scope<'s, 'a, 'v> {
        let frame = view.as_ref().and_then(|view| self.frames(view).into_iter().nth(self.frame));
        let (activation, level) = frame.map_or((0, 0), |frame| (frame.activation, frame.level));
        Scope { symbols: &self.symbols, memo: &mut self.memo, view, focus: self.focus, activation, level }
    }

    /// A value as it is shown, with the texts that it points to.
    fn shown(&mut self, value: &Value, format: Option<char>, view: Option<&mut View<'_>>) -> String {
        let mut scope = self.scope(view);
        value.show_with(format, &mut |space, address| scope.text(space, address).ok().map(|(text, _)| text))
    }

    fn evaluate(&mut self, text: &str, view: Option<&mut View<'_>>) -> Result<Value, String> {
        expr::evaluate(text, &mut self.scope(view))
    }
}

impl Observer for Debugger<'_> {
    fn interest(&self) -> Interest {
        Interest { instructions: false, stops: true, ..Interest::ALL }
    }

    fn breaks(&mut self, at: &At<'_>, executed: u64) -> bool {
        if !self.starts.get(at.pc as usize).is_some_and(|start| *start) {
            return false;
        }
        let warp = WarpId { block: at.block, warp: at.warp };
        if self.seen.get(&warp) == Some(&(executed, at.pc)) {
            return false;
        }
        self.asked = Some(Asked { warp, executed, pc: at.pc, mask: at.mask });
        self.armed[at.pc as usize]
            || self.goal.looks_at(warp, at.mask, self.focus)
            || self.points.iter().any(|p| p.looks_at(warp, at.mask))
            || self.console.interrupted()
    }

    fn stopped(&mut self, view: &mut View<'_>) -> Resume {
        let Some(asked) = self.asked else { return Resume::Run };
        self.seen.insert(asked.warp, (asked.executed, asked.pc));
        match self.stop(view, asked) {
            true => {
                self.show_returned(view);
                self.goal = Goal::Run;
                self.show_displays(Some(&mut *view));
                self.prompt(view)
            }
            false => self.onwards(view),
        }
    }

    fn access(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: Addresses<'_>,
    ) {
        let warp = WarpId { block: at.block, warp: at.warp };
        let bytes = u64::from(access.bytes) * u64::from(access.count.max(1));
        for point in &mut self.points {
            point.accessed(warp, at, kind, space, &addresses, bytes);
        }
    }

    fn transfer(&mut self, at: &At<'_>, _number: u64, stage: Stage) {
        for point in &mut self.points {
            point.transferred(at, stage);
        }
    }

    fn instruction(&mut self, _: &At<'_>, _: &Registers<'_>) {}

    fn exited(&mut self, at: &At<'_>) {
        if let Some(focus) = self.focus
            && focus.warp == (WarpId { block: at.block, warp: at.warp })
            && at.mask >> focus.lane & 1 != 0
        {
            self.goal.focus_exited();
        }
    }

    fn faulted(&mut self, view: &mut View<'_>, fault: &Fault) {
        if fault.code == FaultCode::Interrupted {
            return;
        }
        self.fault = Some(fault.clone());
        self.catch(view, fault);
        self.show_displays(Some(&mut *view));
        // Nothing can go on: the commands that would, end the run.
        self.prompt(view);
    }
}
