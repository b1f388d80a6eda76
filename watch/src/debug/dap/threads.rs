//! Threads and their frames.
//!
//! A grid has more threads than an editor can list, so it gets groups: the lanes of a warp that are at the same instruction with the
//! same calls behind them, the thread in focus before all others. Any thread can be brought to the front.

use super::session::Session;
use crate::debug::Focus;
use crate::debug::info::waits;
use crate::debug::show::triple;
use serde_json::{Value, json};
use warpsmith_interp::observe::{Lanes, View, Waits};

impl Session<'_, '_> {
    /// The number by which the editor knows a thread.
    pub(super) fn number(&mut self, focus: Focus) -> usize {
        let threads = &mut self.threads;
        *self.numbers.entry(focus).or_insert_with(|| {
            threads.push(focus);
            threads.len()
        })
    }

    /// The thread with a number.
    pub(super) fn thread(&self, number: u64) -> Option<Focus> {
        self.threads.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }

    /// The groups of lanes, that of the thread in focus first, then its warp, its block, and the others as they are in the grid.
    fn groups(&self, view: &View<'_>) -> Vec<(Focus, Lanes)> {
        let focus = self.debugger.focus;
        let mut found: Vec<(Focus, Lanes)> = Vec::new();
        for warp in view.warps() {
            for lanes in view.lanes(warp) {
                let own = focus.filter(|focus| focus.warp == warp && lanes.mask >> focus.lane & 1 != 0);
                found.push((own.unwrap_or(Focus { warp, lane: lanes.mask.trailing_zeros().min(31) }), lanes));
            }
        }
        let far = |at: &Focus| {
            focus.map(|focus| (focus != *at, focus.warp != at.warp, focus.warp.block != at.warp.block))
        };
        found.sort_by_key(|(at, _)| far(at));
        found
    }

    /// `block (0,0,0) thread (5,0,0): 32 lanes of warp 0 at saxpy.dsl:8`
    fn title(&self, view: &View<'_>, at: Focus, lanes: &Lanes) -> String {
        let thread = triple(view.launch().thread(at.warp.warp * 32 + at.lane));
        let count = lanes.mask.count_ones();
        let plural = if count == 1 { "" } else { "s" };
        let place = self.debugger.where_is(self.debugger.symbols.start_of(lanes.pc));
        let state = match lanes.waits {
            Waits::Nothing => String::new(),
            other @ (Waits::Lanes(_) | Waits::Barrier { .. } | Waits::Mbarrier | Waits::Cluster) => {
                format!(", {}", waits(other))
            }
        };
        let block = triple(at.warp.block);
        format!(
            "block {block} thread {thread}: {count} lane{plural} of warp {} at {place}{state}",
            at.warp.warp
        )
    }

    fn listed(&mut self, view: &View<'_>, from: usize, count: usize) -> (Vec<Value>, usize) {
        let groups = self.groups(view);
        let rows = groups.iter().skip(from).take(count);
        let rows =
            rows.map(|(at, lanes)| json!({"id": self.number(*at), "name": self.title(view, *at, lanes)}));
        (rows.collect(), groups.len())
    }

    pub(super) fn list_threads(&mut self, view: Option<&mut View<'_>>) -> Value {
        let Some(view) = view else { return json!({"threads": []}) };
        let most = self.settings.max_threads;
        let (rows, all) = self.listed(view, 0, most);
        if all > most {
            // The protocol has no pages of threads.
            let hidden = all - most;
            let text = format!(
                "{hidden} more groups of threads are not listed; `cuda block (X,Y,Z) thread (X,Y,Z)` brings any thread to the front.\n"
            );
            self.later.push(("output", json!({"category": "console", "output": text})));
        }
        json!({"threads": rows})
    }

    /// `warpsmith/threads`: groups of threads from `start` on, `count` of them.
    pub(super) fn page_of_threads(&mut self, arguments: &Value, view: &mut View<'_>) -> Value {
        let number =
            |key: &str| arguments.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let (start, count) =
            (number("start").unwrap_or(0), number("count").unwrap_or(self.settings.max_threads));
        let (rows, all) = self.listed(view, start, count.min(1 << 20));
        json!({"threads": rows, "totalThreads": all})
    }

    /// `warpsmith/focus`: brings the thread with a `block` and a `thread`, each three numbers, to the front.
    pub(super) fn change_focus(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let part = |key: &str| {
            let numbers = arguments.get(key)?.as_array()?.iter().map(Value::as_u64);
            let numbers: Vec<String> = numbers.map(|n| n.map(|n| n.to_string())).collect::<Option<_>>()?;
            Some(format!("{key} ({})", numbers.join(",")))
        };
        let parts: Vec<String> = ["block", "thread"].into_iter().filter_map(part).collect();
        if parts.is_empty() {
            return Err("`block` or `thread` is expected, each as numbers: [1, 0, 0]".into());
        }
        self.debugger.command(&format!("cuda {}", parts.join(" ")), Some(view))?;
        self.capture.take();
        let focus = self.debugger.focus.ok_or("No thread is selected.")?;
        self.announce_focus(focus);
        Ok(json!({"threadId": self.number(focus)}))
    }

    /// Has the editor select the thread in focus.
    pub(super) fn announce_focus(&mut self, focus: Focus) {
        let number = self.number(focus);
        let event = json!({
            "reason": "focus", "description": "Focus changed", "threadId": number, "allThreadsStopped": true,
        });
        self.later.push(("stopped", event));
    }

    pub(super) fn stack_trace(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let number = |key: &str| arguments.get(key).and_then(Value::as_u64);
        let focus = number("threadId").and_then(|id| self.thread(id)).ok_or("Unknown thread.")?;
        let before = self.debugger.focus.replace(focus);
        let frames = self.debugger.frames(view);
        self.debugger.focus = before;
        let all = frames.len();
        let start = number("startFrame").map_or(0, |n| n as usize);
        let count = number("levels").filter(|n| *n > 0).map_or(usize::MAX, |n| n as usize);
        let mut shown = Vec::new();
        for (level, frame) in frames.into_iter().enumerate().skip(start).take(count) {
            self.frames.push((focus, level));
            let id = self.frames.len();
            let pc = self.debugger.symbols.start_of(frame.pc);
            let chain = self.debugger.symbols.frames(frame.pc);
            let own = chain.len().checked_sub(1 + frame.level as usize).and_then(|i| chain.get(i));
            let (source, line, column) = match own {
                Some(at) => (self.file(&at.file), at.line, at.column),
                None => (self.ptx(), self.debugger.symbols.program.line(frame.pc), 0),
            };
            let name = crate::demangled(&frame.function);
            let name = if frame.inlined { format!("{name} [inlined]") } else { name.into_owned() };
            shown.push(json!({
                "id": id, "name": name, "source": source, "line": self.connection.line_out(line),
                "column": self.connection.line_out(column.max(1)),
                "instructionPointerReference": self.instruction_at(pc),
            }));
        }
        Ok(json!({"stackFrames": shown, "totalFrames": all}))
    }
}
