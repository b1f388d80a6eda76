//! Going on: `continue`, `step`, `next`, `finish`, `until`, and what makes them stop.

use super::show::Frame;
use super::value::{Type, Value};
use super::{Asked, Debugger, Flow, Focus};
use crate::{dwarf, source};
use warpsmith_interp::observe::{Resume, View, WarpId};

/// What a run goes on for.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// For breakpoints.
    Run,
    /// For the focused thread to come to another place.
    Step(Step),
    /// For the focused thread to have fewer activations, and for what the function gives, as the source calls its type.
    Finish(usize, Option<dwarf::Type>),
    /// For the focused thread to leave an inlined call: so many activations, so many frames of the innermost that stay.
    Leave(usize, usize),
    /// For any thread: the focused one has exited.
    Any,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Instructions, not lines.
    instructions: bool,
    /// Any lane of the warp that has taken it will do.
    by_warp: bool,
    /// Calls count as one.
    over: bool,
    /// Only places further down.
    forward: bool,
    /// How often still, after this one.
    more: u64,
    from: Position,
}

/// Where a thread is.
#[derive(Clone, PartialEq, Debug)]
struct Position {
    depth: usize,
    pc: u32,
    line: u32,
    frames: Vec<source::Frame>,
}

impl Goal {
    /// An instruction may be what the goal waits for.
    pub fn looks_at(&self, warp: WarpId, mask: u32, focus: Option<Focus>) -> bool {
        match self {
            Goal::Run => false,
            Goal::Any => true,
            Goal::Step(Step { by_warp: true, .. }) => focus.is_some_and(|f| f.warp == warp),
            Goal::Step(_) | Goal::Finish(..) | Goal::Leave(..) => {
                focus.is_some_and(|f| f.warp == warp && mask >> f.lane & 1 != 0)
            }
        }
    }

    /// Nothing more can come of the focused thread.
    pub fn focus_exited(&mut self) {
        if !matches!(self, Goal::Run) {
            *self = Goal::Any;
        }
    }
}

impl Debugger<'_> {
    /// Where the thread in focus is.
    fn place(&self, view: &View<'_>, pc: u32) -> Option<Position> {
        self.place_of(view, self.focus?, pc)
    }

    fn place_of(&self, view: &View<'_>, focus: Focus, pc: u32) -> Option<Position> {
        let depth = view.frames(focus.warp, focus.lane).len();
        let frames = self.symbols.frames(pc).to_vec();
        Some(Position { depth, pc, line: self.symbols.program.line(pc), frames })
    }

    /// A thread that takes steps has come to where it shall stop.
    pub(super) fn arrived(&mut self, view: &View<'_>, asked: Asked) -> bool {
        if !self.goal.looks_at(asked.warp, asked.mask, self.focus) {
            return false;
        }
        let stays = self.focus.filter(|focus| asked.mask >> focus.lane & 1 != 0);
        let who = stays.unwrap_or(Focus { warp: asked.warp, lane: asked.mask.trailing_zeros().min(31) });
        let now = self.place_of(view, who, asked.pc);
        match &mut self.goal {
            Goal::Run => false,
            Goal::Any => true,
            Goal::Finish(depth, _) => now.is_none_or(|now| now.depth < *depth),
            Goal::Leave(depth, frames) => {
                now.is_none_or(|now| now.depth < *depth || now.depth == *depth && now.frames.len() <= *frames)
            }
            Goal::Step(step) => {
                let Some(now) = now else { return true };
                if !step.ends_at(&now) {
                    return false;
                }
                if step.more == 0 {
                    return true;
                }
                step.more -= 1;
                step.from = now;
                false
            }
        }
    }

    /// Goes on with the goal: a thread that takes steps goes on alone where it can.
    pub(super) fn onwards(&self, view: &View<'_>) -> Resume {
        match (&self.goal, self.focus) {
            (Goal::Step(_) | Goal::Finish(..) | Goal::Leave(..), Some(focus)) if view.can_run(focus.warp) => {
                Resume::Turn(focus.warp)
            }
            _ => Resume::Run,
        }
    }

    /// What the thread in focus executes next.
    pub(super) fn current(&self, view: &View<'_>) -> Option<u32> {
        let focus = self.focus?;
        view.frames(focus.warp, focus.lane).first().map(|f| f.pc)
    }

    fn go(&mut self, view: &View<'_>, goal: Goal) -> Flow {
        self.goal = goal;
        self.frame = 0;
        // The instruction at which a warp stands is where its step starts from.
        if let (Some(focus), Some(pc)) = (self.focus, self.current(view)) {
            self.seen.insert(focus.warp, (view.executed(focus.warp), self.symbols.start_of(pc)));
        }
        Flow::Resume(self.onwards(view))
    }

    /// The view of a run that can go on.
    fn going<'s, 'v>(&self, view: Option<&'s mut View<'v>>) -> Result<&'s mut View<'v>, String> {
        match view {
            Some(_) if self.fault.is_some() => {
                Err("The thread is at fault and cannot go on; `continue` ends the run.".into())
            }
            Some(view) => Ok(view),
            None => Err("The program is not being run.".into()),
        }
    }

    /// `step`, `next`, `stepi`, `nexti`, `until`
    pub(super) fn step(
        &mut self,
        command: &str,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let view = self.going(view)?;
        if command == "until" && !args.is_empty() {
            return self.advance(args, Some(view));
        }
        let count = match args {
            "" => 1,
            text => self.evaluate(text, Some(view))?.as_int()?,
        };
        let Some(more) = u64::try_from(count).ok().and_then(|n| n.checked_sub(1)) else {
            return Ok(Flow::Stay);
        };
        let current = self.current(view).ok_or("The thread has exited.")?;
        let from = self.place(view, current).ok_or("The thread has exited.")?;
        let instructions = command.ends_with('i');
        let over = matches!(command, "next" | "nexti" | "until");
        let by_warp = self.by_warp;
        let step = Step { instructions, by_warp, over, forward: command == "until", more, from };
        Ok(self.go(view, Goal::Step(step)))
    }

    /// `advance`, and `until` with a place.
    pub(super) fn advance(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let view = self.going(view)?;
        let pcs = self.symbols.locate(args, self.current(view))?;
        self.add_passing(pcs);
        Ok(self.go(view, Goal::Run))
    }

    pub(super) fn finish(&mut self, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let view = self.going(view)?;
        let frames = self.frames(view);
        let selected = frames.get(self.frame).map_or(0, |f| f.activation);
        let depth = frames.last().map_or(0, |f| f.activation + 1) - selected;
        let around = frames.iter().skip(self.frame + 1).filter(|f| f.activation == selected).count();
        if frames.get(self.frame).is_some_and(|f| f.inlined) {
            let line = self.frame_line(view, self.frame);
            self.say(&format!("Run till exit from {line}\n"));
            return Ok(self.go(view, Goal::Leave(depth, around)));
        }
        if depth <= 1 {
            return Err("\"finish\" not meaningful in the outermost frame.".into());
        }
        let line = self.frame_line(view, self.frame);
        self.say(&format!("Run till exit from {line}\n"));
        let function = frames.get(self.frame).and_then(|frame| self.symbols.source_function_at(frame.pc));
        let gives = function.and_then(|function| function.result.clone());
        Ok(self.go(view, Goal::Finish(depth, gives)))
    }

    /// Where `finish` has come to its end: what the function has given, where its caller has that.
    pub(super) fn show_returned(&mut self, view: &mut View<'_>) {
        let Goal::Finish(depth, Some(gives)) = &self.goal else { return };
        let (ty, depth) = (Type::of_source(gives), *depth);
        let (Some(focus), Some(pc)) = (self.focus, self.current(view)) else { return };
        if view.frames(focus.warp, focus.lane).len() >= depth {
            return;
        }
        let Some(name) = self.symbols.given_by_call(self.symbols.start_of(pc)) else { return };
        let Ok(Value { mut bytes, .. }) = self.scope(Some(view)).of_ptx(name) else { return };
        bytes.resize(usize::try_from(ty.bytes()).unwrap_or(0).min(bytes.len().max(16)), 0);
        let value = Value { ty, bytes, at: None };
        let shown = self.shown(&value, None, Some(view));
        self.memo.history.push(value);
        self.say(&format!("Value returned is ${} = {shown}\n", self.memo.history.len()));
    }

    pub(super) fn proceed(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let Some(view) = view else { return Err("The program is not being run.".into()) };
        if self.fault.is_some() {
            return Ok(Flow::Resume(Resume::Run));
        }
        if !args.is_empty() {
            let count = u64::try_from(self.evaluate(args, Some(view))?.as_int()?).unwrap_or(0).max(1);
            let here = self.asked.map(|a| a.pc);
            if let Some(text) = self.ignore_here(here, count - 1) {
                self.say(&text);
            }
        }
        self.say("Continuing.\n");
        self.goal = Goal::Run;
        Ok(Flow::Resume(Resume::Run))
    }

    /// Shows where the run stands still. A function other than before is shown with its arguments.
    pub(super) fn show_stop(
        &mut self,
        view: &mut View<'_>,
        before: Option<(usize, String)>,
        asked: Asked,
        by_instruction: bool,
    ) {
        let frames = self.frames(view);
        let key = frames.first().map(|f: &Frame| (frames.len(), f.function.clone()));
        if before.is_none() || key != before {
            let line = self.frame_line(view, 0);
            // Without the number of the frame.
            let line = line.split_once("  ").map_or(line.as_str(), |(_, rest)| rest).to_owned();
            self.say(&format!("{line}\n"));
        }
        self.show_line(asked.pc, by_instruction);
    }

    pub(super) fn is_by_instruction(&self) -> bool {
        matches!(&self.goal, Goal::Step(step) if step.instructions)
    }
}

impl Step {
    fn ends_at(&self, now: &Position) -> bool {
        let from = &self.from;
        if now.depth < from.depth {
            return true;
        }
        if now.depth > from.depth {
            let visible = self.instructions || from.frames.is_empty() || !now.frames.is_empty();
            return !self.over && visible;
        }
        if self.forward && now.pc <= from.pc {
            return false;
        }
        if self.instructions {
            return true;
        }
        if from.frames.is_empty() || now.frames.is_empty() {
            return from.frames.is_empty() && (now.line != from.line || now.pc <= from.pc);
        }
        let same_line = |a: &source::Frame, b: &source::Frame| (&a.file, a.line) == (&b.file, b.line);
        let lines_match = |a: &[source::Frame], b: &[source::Frame]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_line(a, b))
        };
        // The body of a function that was inlined in the line is a call.
        let inner = now.frames.len().saturating_sub(from.frames.len());
        let called = inner > 0 && lines_match(&now.frames[inner..], &from.frames);
        !(lines_match(&now.frames, &from.frames) || self.over && called)
    }
}
