//! Breakpoints and watchpoints, and why a run stands still.

mod manage;
mod stop;

use super::expr;
use super::symbols::base;
use super::value::{Location, Value};
use super::{Asked, Debugger, Flow, Focus, Reason};
use warpsmith_interp::Fault;
use warpsmith_interp::observe::{AccessKind, Addresses, At, Stage, View, WarpId, shared_owner};
use warpsmith_isa::StateSpace;

/// A breakpoint or watchpoint.
pub(super) struct Point {
    /// Zero for what `until` and `advance` set.
    number: u32,
    what: PointKind,
    enabled: bool,
    temporary: bool,
    condition: Option<String>,
    ignore: u64,
    hits: u64,
    /// It stops nothing: what it has to say, with expressions in braces.
    log: Option<String>,
}

/// What a point is.
enum PointKind {
    Break { pcs: Vec<u32> },
    Watch { text: String, kind: WatchKind, place: WatchTarget, old: Value, hit: Option<Focus> },
}

/// What a watchpoint looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WatchKind {
    Change,
    Read,
    Access,
}

/// What a watchpoint watches. Shared and local memory and registers are those of a thread.
#[derive(Clone, Copy)]
enum WatchTarget {
    Memory { space: StateSpace, address: u64, of: Focus },
    Register { of: Focus, depth: usize },
}

impl Point {
    /// The value has to be looked at before this instruction.
    pub fn looks_at(&self, warp: WarpId, mask: u32) -> bool {
        match &self.what {
            PointKind::Break { .. } => false,
            PointKind::Watch { hit, place, .. } => {
                let own = |of: &Focus| of.warp == warp && mask >> of.lane & 1 != 0;
                self.enabled
                    && (hit.is_some() || matches!(place, WatchTarget::Register { of, .. } if own(of)))
            }
        }
    }

    /// Watchpoints on what belongs to threads end with them.
    pub fn is_gone_after_run(&self) -> bool {
        self.number == 0
            || match self.what {
                PointKind::Break { .. } => false,
                PointKind::Watch { place: WatchTarget::Memory { space, .. }, .. } => {
                    space != StateSpace::Global
                }
                PointKind::Watch { .. } => true,
            }
    }

    pub fn accessed(
        &mut self,
        warp: WarpId,
        at: &At<'_>,
        access: AccessKind,
        space: StateSpace,
        addresses: &Addresses<'_>,
        bytes: u64,
    ) {
        let PointKind::Watch {
            kind, place: WatchTarget::Memory { space: own, address, of }, old, hit, ..
        } = &mut self.what
        else {
            return;
        };
        let counts = match kind {
            WatchKind::Change => access != AccessKind::Load,
            WatchKind::Read => access != AccessKind::Store,
            WatchKind::Access => true,
        };
        if !self.enabled || !counts || space != *own || hit.is_some() {
            return;
        }
        let len = old.bytes.len() as u64;
        let lane = (0..32).filter(|lane| at.mask >> lane & 1 != 0).find(|&lane| {
            let mut start = addresses.of(lane as usize);
            let mine = match space {
                StateSpace::Local => of.warp == warp && of.lane == lane,
                StateSpace::Shared => {
                    let (owner, offset) = shared_owner(start);
                    start = offset;
                    owner.is_some() || of.warp.block == warp.block
                }
                StateSpace::Generic
                | StateSpace::Reg
                | StateSpace::Sreg
                | StateSpace::Const
                | StateSpace::Global
                | StateSpace::Param
                | StateSpace::Tex => true,
            };
            mine && start < address.saturating_add(len) && *address < start.saturating_add(bytes)
        });
        *hit = lane.map(|lane| Focus { warp, lane });
    }

    pub fn transferred(&mut self, at: &At<'_>, stage: Stage) {
        let PointKind::Watch { kind, place: WatchTarget::Memory { space, address, .. }, old, hit, .. } =
            &mut self.what
        else {
            return;
        };
        let place = match stage {
            Stage::Written(place) | Stage::Reduced { place, .. } if *kind != WatchKind::Read => place,
            Stage::Read(place) if *kind != WatchKind::Change => place,
            Stage::Issued
            | Stage::Described(_)
            | Stage::Read(_)
            | Stage::Written(_)
            | Stage::Reduced { .. }
            | Stage::Complete => return,
        };
        let own = if place.rank.is_some() { StateSpace::Shared } else { StateSpace::Global };
        let len = old.bytes.len() as u64;
        let meets = place.address < address.saturating_add(len)
            && *address < place.address.saturating_add(place.bytes);
        if self.enabled && own == *space && meets && hit.is_none() {
            let warp = WarpId { block: at.block, warp: at.warp };
            *hit = Some(Focus { warp, lane: at.mask.trailing_zeros().min(31) });
        }
    }

    fn kind_name(&self) -> &'static str {
        match &self.what {
            PointKind::Break { .. } => "breakpoint",
            PointKind::Watch { kind: WatchKind::Change, place: WatchTarget::Register { .. }, .. } => {
                "watchpoint"
            }
            PointKind::Watch { kind: WatchKind::Change, .. } => "hw watchpoint",
            PointKind::Watch { kind: WatchKind::Read, .. } => "read watchpoint",
            PointKind::Watch { kind: WatchKind::Access, .. } => "acc watchpoint",
        }
    }

    /// Its description, shown when it is made and when it is hit.
    fn title(&self) -> String {
        let PointKind::Watch { text, kind, place, .. } = &self.what else { return String::new() };
        let title = match (kind, place) {
            (WatchKind::Change, WatchTarget::Register { .. }) => "Watchpoint",
            (WatchKind::Change, _) => "Hardware watchpoint",
            (WatchKind::Read, _) => "Hardware read watchpoint",
            (WatchKind::Access, _) => "Hardware access (read/write) watchpoint",
        };
        format!("{title} {}: {text}", self.number)
    }
}

/// What a watchpoint has to say.
enum Said {
    Nothing,
    Stop(String, Option<Focus>),
    /// What it watched is gone.
    Gone(String),
}

impl Debugger<'_> {
    /// Notes at which operations breakpoints are.
    pub(super) fn arm(&mut self) {
        self.armed.fill(false);
        for point in self.points.iter().filter(|p| p.enabled) {
            if let PointKind::Break { pcs } = &point.what {
                pcs.iter().for_each(|pc| self.armed[*pc as usize] = true);
            }
        }
    }

    fn add(&mut self, what: PointKind, temporary: bool, condition: Option<String>) -> u32 {
        let number = self.next_point;
        self.next_point += 1;
        let (ignore, hits, log) = (0, 0, None);
        self.points.push(Point { number, what, enabled: true, temporary, condition, ignore, hits, log });
        self.arm();
        number
    }

    /// A breakpoint as an editor sets it: with a condition, the times that it is passed, or what it says in place of stopping.
    pub(super) fn set_break(
        &mut self,
        pcs: Vec<u32>,
        condition: Option<String>,
        ignore: u64,
        log: Option<String>,
    ) -> Result<u32, String> {
        if let Some(condition) = &condition {
            self.check_condition(condition, pcs.first().copied(), None)?;
        }
        let number = self.add(PointKind::Break { pcs }, false, condition);
        if let Some(point) = self.points.last_mut() {
            (point.ignore, point.log) = (ignore, log);
        }
        Ok(number)
    }

    /// A watchpoint on the value of the thread in focus; its number.
    pub(super) fn set_watch(
        &mut self,
        command: &str,
        args: &str,
        view: &mut View<'_>,
    ) -> Result<u32, String> {
        self.watch(command, args, Some(view))?;
        self.points.last().map(|point| point.number).ok_or_else(|| "No watchpoint was set.".into())
    }

    /// Takes points away.
    pub(super) fn remove_points(&mut self, numbers: &[u32]) {
        self.points.retain(|point| !numbers.contains(&point.number));
        self.arm();
    }

    /// What a log point says: the text, with the values of the expressions in its braces.
    fn log_text(&mut self, template: &str, view: &mut View<'_>) -> String {
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, (expression, after))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            let value = self.evaluate(expression, Some(&mut *view));
            let shown = value.map_or_else(|why| format!("<{why}>"), |value| value.show(None));
            put!(text, "{before}{shown}");
            rest = after;
        }
        text + rest + "\n"
    }

    /// Stops at places once, without a number.
    pub(super) fn add_passing(&mut self, pcs: Vec<u32>) {
        let what = PointKind::Break { pcs };
        let condition = None;
        self.points.push(Point {
            number: 0,
            what,
            enabled: true,
            temporary: true,
            condition,
            ignore: 0,
            hits: 0,
            log: None,
        });
        self.arm();
    }

    /// `break PLACE if CONDITION`
    pub(super) fn break_at(
        &mut self,
        args: &str,
        temporary: bool,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let words = format!(" {args} ");
        let (place, condition) = match words.split_once(" if ") {
            Some((place, condition)) => (place.trim(), Some(condition.trim().to_owned())),
            None => (args, None),
        };
        let here = view.as_ref().and_then(|v| self.current(v));
        let pcs = self.symbols.stops(place, here)?;
        if let Some(condition) = &condition {
            self.check_condition(condition, pcs.first().copied(), view)?;
        }
        let described = self.at(pcs[0]);
        let more = if pcs.len() > 1 { format!(" ({} locations)", pcs.len()) } else { String::new() };
        let number = self.add(PointKind::Break { pcs }, temporary, condition);
        let title = if temporary { "Temporary breakpoint" } else { "Breakpoint" };
        self.say(&format!("{title} {number} at {described}{more}\n"));
        Ok(Flow::Stay)
    }

    /// A condition that names what its place does not know is refused at once.
    fn check_condition(
        &mut self,
        condition: &str,
        pc: Option<u32>,
        _: Option<&mut View<'_>>,
    ) -> Result<(), String> {
        if condition.is_empty() {
            return Err("A condition is missing after `if'.".into());
        }
        expr::check(condition)?;
        let function = pc.and_then(|pc| self.symbols.program.function_at(pc));
        let names = expr::registers(condition)?;
        for name in names {
            let known = warpsmith_interp::engine::Special::from_name(&name[1..]).is_some()
                || function.is_some_and(|f| self.symbols.register(f, 0, &name).is_some());
            if !known {
                return Err(format!(
                    "No register \"{name}\" in {}.",
                    pc.map_or("??".into(), |pc| self.symbols.shown_function(pc))
                ));
            }
        }
        Ok(())
    }

    /// `saxpy.ptx:17: file saxpy.cu, line 4.`
    fn at(&self, pc: u32) -> String {
        let line = self.symbols.program.line(pc);
        let ptx = format!("{}:{line} <{}>", self.symbols.file(), self.symbols.place(pc));
        match self.symbols.frames(pc).first() {
            Some(frame) => format!("{ptx}: file {}, line {}.", base(&frame.file), frame.line),
            None => ptx,
        }
    }

    /// `watch`, `rwatch`, `awatch`
    pub(super) fn watch(
        &mut self,
        command: &str,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        if args.is_empty() {
            return Err("Argument required (expression to compute).".into());
        }
        let kind = match command {
            "rwatch" => WatchKind::Read,
            "awatch" => WatchKind::Access,
            _ => WatchKind::Change,
        };
        let (text, condition) = match args.split_once(" if ") {
            Some((text, condition)) => (text.trim(), Some(condition.trim().to_owned())),
            None => (args, None),
        };
        let view = view.ok_or(
            "The program is not being run: start it with `run` and set watchpoints at a breakpoint.",
        )?;
        let of = self.focus.ok_or("No thread is selected.")?;
        let frames = self.frames(view);
        let activations = view.frames(of.warp, of.lane).len();
        let selected = frames.get(self.frame).map_or(0, |f| f.activation);
        let value = self.evaluate(text, Some(view))?;
        let place = match value.at {
            Some(Location::Memory(space, address)) => {
                let (space, address) = warpsmith_interp::observe::locate(space, address);
                WatchTarget::Memory { space, address, of }
            }
            Some(Location::Register(_)) if kind == WatchKind::Change => {
                WatchTarget::Register { of, depth: activations - selected }
            }
            Some(Location::Register(_)) => {
                return Err("Expression cannot be implemented with read/access watchpoint.".into());
            }
            None => return Err("Cannot watch constant value `VALUE'.".replace("VALUE", text)),
        };
        let what = PointKind::Watch { text: text.to_owned(), kind, place, old: value, hit: None };
        let number = self.add(what, false, condition);
        if let Some(point) = self.points.iter().find(|p| p.number == number) {
            let title = format!("{}\n", point.title());
            self.say(&title);
        }
        Ok(Flow::Stay)
    }
}
