//! From a source text to a session of the debugger.

use crate::runs::runs;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use warpsmith::diag::{Diagnostics, Language, Source};
use warpsmith::emit::Debug;
use warpsmith::interp::Schedule;
use warpsmith::launch::{LaunchSpec, execute_observed};
use warpsmith::watch::debug::dap::{self, Connection, Output, Request, Settings};
use warpsmith::watch::debug::{Console, Debugger};
use warpsmith::{Compiler, DEFAULT_TARGET, Module, OptLevel, Program, Target, ir, ptx};
use warpsmith_filetests::{DirectiveError, scan};

/// A module that is ready to be debugged.
pub struct Subject {
    /// What the PTX is called.
    name: String,
    module: ptx::ValidatedModule,
    program: Program,
}

impl Subject {
    /// A module of PTX. What the engine cannot execute in other kernels than `entry` does not matter.
    pub fn from_ptx(source: impl Into<Source>, entry: &str) -> Result<Subject, Diagnostics> {
        let module = ptx::ValidatedModule::parse(source)?;
        let program = Program::load_entry(&module, entry)?;
        Ok(Subject { name: module.source().name().to_owned(), module, program })
    }

    /// A module of the IR, which is compiled. Where the IR names no source of its own, its text is the source of the PTX.
    pub fn from_wir(
        source: impl Into<Source>,
        target: Option<Target>,
        level: OptLevel,
    ) -> Result<Subject, Diagnostics> {
        let source = source.into();
        let module = Module::parse(&source)?;
        ir::verify(&module)?;
        let target = target.or(module.target).unwrap_or(DEFAULT_TARGET);
        let compiled =
            Compiler::new(target).with_opt_level(level).with_debug(Debug::Full).compile(&module)?;
        let program = Program::load(&compiled.module)?;
        let name = format!("{}.ptx", source.name().strip_suffix(".wir").unwrap_or(source.name()));
        Ok(Subject { name, module: compiled.module, program })
    }

    /// Debugs a launch: reads commands from the console until there are no more. False if the last run ended with a fault.
    ///
    /// A launch that names no schedule is run round-robin, so that all blocks that have room are resident and a run can be repeated.
    pub fn session(&self, launch: &LaunchSpec, console: &mut dyn Console) -> bool {
        let launch = repeatable(launch);
        let mut debugger =
            Debugger::new(&self.name, self.module.source().text(), &self.module, &self.program, console);
        debugger.session(&mut |debugger| {
            let printed = Printed::default();
            let result = execute_observed(&self.program, &launch, printed.clone(), debugger);
            let text = printed.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !text.is_empty() {
                debugger.show(&String::from_utf8_lossy(&text));
            }
            result.map(drop)
        })
    }

    /// Debugs a launch for an editor, which has asked for the launch with `request`.
    pub fn serve(
        &self,
        launch: &LaunchSpec,
        connection: &mut Connection,
        request: &Request,
        settings: Settings,
    ) -> bool {
        let launch = repeatable(launch);
        let subject = dap::Subject {
            name: &self.name,
            text: self.module.source().text(),
            module: &self.module,
            program: &self.program,
        };
        dap::serve(connection, request, subject, settings, &mut |output: Output, observer| {
            execute_observed(&self.program, &launch, output, observer).map(drop)
        })
    }
}

/// A launch that names no schedule, with one that can be repeated.
fn repeatable(launch: &LaunchSpec) -> LaunchSpec {
    let mut launch = launch.clone();
    if launch.schedule.is_none() && launch.seed.is_none() {
        launch.schedule = Some(Schedule::RoundRobin);
    }
    launch
}

/// The first launch that a text describes itself, in a `run:` directive. The error is that there is none, or what is wrong with it.
pub fn own_launch(text: &str, language: Language) -> Result<LaunchSpec, String> {
    let list = |errors: Vec<DirectiveError>| {
        errors.iter().map(DirectiveError::to_string).collect::<Vec<_>>().join("; ")
    };
    let directives = scan(text, language).map_err(list)?;
    let run = directives.into_iter().find(|directive| directive.name == "run");
    let first = runs(&[run.ok_or("it has no `run:` directive that describes a launch")?]).map_err(list)?;
    first.into_iter().map(|run| run.launch).next().ok_or_else(|| "it has no launch".into())
}

/// Takes what a kernel prints.
#[derive(Clone, Default)]
struct Printed(Arc<Mutex<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
