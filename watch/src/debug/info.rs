//! `info`: what there is of registers, variables, threads, warps and blocks.

use super::expr::Names;
use super::show::{Frame, triple};
use super::symbols::base;
use super::value::{Type, Value};
use super::{Debugger, Flow, Focus};
use std::fmt::Write;
use warpsmith_interp::observe::{View, Waits, WarpId};

/// The special registers that `info registers system` shows.
pub(super) const SYSTEM: &[&str] = &[
    "tid.x",
    "tid.y",
    "tid.z",
    "ntid.x",
    "ntid.y",
    "ntid.z",
    "ctaid.x",
    "ctaid.y",
    "ctaid.z",
    "nctaid.x",
    "nctaid.y",
    "nctaid.z",
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "clusterid.x",
    "clusterid.y",
    "clusterid.z",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_lt",
    "clock64",
    "dynamic_smem_size",
    "total_smem_size",
];

/// What `info` knows.
const TOPICS: &[(&str, &str)] = &[
    ("address", "Where a variable or function is"),
    ("args", "The parameters of the selected frame's function"),
    ("blocks", "The resident blocks"),
    ("breakpoints", "Breakpoints and watchpoints"),
    ("cuda", "cuda blocks, warps, lanes, threads, kernels: what is resident"),
    ("display", "What is shown whenever the kernel stops"),
    ("frame", "The selected frame"),
    ("functions", "The functions of the program"),
    ("kernels", "The running kernel"),
    ("lanes", "The lanes of the warp in focus"),
    ("line", "The PTX of a source line, or the source of a PTX line"),
    ("locals", "The variables of the selected frame's function"),
    ("registers", "The PTX registers of the selected frame; `system` for special registers"),
    ("scope", "What can be named at a place, and where it is"),
    ("source", "The file of the source that the kernel stands in"),
    ("symbol", "The variable that an address is in"),
    ("threads", "The threads of the running kernel, grouped by where they are"),
    ("variables", "The variables of the program"),
    ("warps", "The warps of the block in focus"),
    ("watchpoints", "Breakpoints and watchpoints"),
];

/// The topics of `info`.
pub(super) fn topics() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|(name, _)| *name)
}

impl Debugger<'_> {
    pub(super) fn info(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let (topic, rest) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
        let rest = rest.trim();
        if topic.is_empty() {
            let mut text = String::from("List of info subcommands:\n\n");
            TOPICS.iter().for_each(|(name, what)| _ = writeln!(text, "info {name} -- {what}."));
            self.say(&text);
            return Ok(Flow::Stay);
        }
        let found: Vec<&str> =
            TOPICS.iter().map(|(name, _)| *name).filter(|name| name.starts_with(topic)).collect();
        let exact = match (topic, found.as_slice()) {
            // As gdb reads them.
            ("ad" | "add", _) => "address",
            ("b", _) => "breakpoints",
            ("f", _) => "frame",
            ("l" | "li", _) => "line",
            ("lo", _) => "locals",
            ("s" | "stack", _) => "stack",
            ("all-registers", _) => "registers",
            ("w" | "wat", _) => "watchpoints",
            ("t" | "th", _) => "threads",
            (_, [one]) => one,
            (topic, names) if names.contains(&topic) => topic,
            (_, []) => {
                let near = warpsmith_diag::nearest(topic, TOPICS.iter().map(|(name, _)| *name));
                let hint = near.map_or_else(String::new, |near| format!("  Did you mean \"info {near}\"?"));
                return Err(format!("Undefined info command: \"{topic}\".  Try \"help info\".{hint}"));
            }
            (_, names) => return Err(format!("Ambiguous info command \"{topic}\": {}.", names.join(", "))),
        };
        if exact == "cuda" {
            let known = ["blocks", "warps", "lanes", "threads", "kernels"];
            let (what, _) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            return match known.into_iter().find(|k| !what.is_empty() && k.starts_with(what)) {
                Some(what) => self.about(what, "", view),
                None => Err(format!("Unrecognized option: '{what}'. {} are known.", known.join(", "))),
            };
        }
        self.about(exact, rest, view)
    }

    fn about(&mut self, topic: &str, rest: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        match (topic, view) {
            ("breakpoints" | "watchpoints", _) => self.info_breakpoints(),
            ("display", _) => self.info_displays(),
            ("address", view) => return self.info_address(rest, view),
            ("line", view) => return self.info_line(rest, view),
            ("scope", view) => return self.info_scope(rest, view),
            ("symbol", view) => return self.info_symbol(rest, view),
            ("stack", view) => return self.backtrace(rest, view),
            ("source", view) => {
                let here = view.and_then(|view| self.current(view));
                let text = match here.and_then(|pc| self.symbols.frames(pc).first()) {
                    Some(frame) => format!(
                        "Current source file is {}\nCompiled to {}\n",
                        frame.file,
                        self.symbols.file()
                    ),
                    None => "No current source file.\n".to_owned(),
                };
                self.say(&text);
            }
            ("functions", _) => {
                let mut text = String::new();
                for name in self.symbols.functions() {
                    let pc = self.symbols.entry(name).unwrap_or(0);
                    putln!(text, "{}:\t{name}", self.symbols.program.line(pc));
                }
                self.say(&text);
            }
            ("registers", None) => return Err("The program has no registers now.".into()),
            ("locals" | "args" | "frame", None) => return Err("No frame selected.".into()),
            (_, None) => return Err("No CUDA kernels.".into()),
            ("registers", Some(view)) => return self.info_registers(rest, view),
            ("locals" | "args", Some(view)) => return self.info_locals(topic == "args", view),
            ("variables", Some(view)) => {
                let mut text = String::new();
                for v in view.launch().variables() {
                    let ty = self.symbols.variable_type(None, v.name);
                    let ty = ty.map_or_else(|| format!("{} bytes", v.bytes), |ty| ty.name());
                    putln!(text, "@{} {:#x}:\t{} ({ty})", v.space.name(), v.address, v.name);
                }
                self.say(if text.is_empty() { "No variables.\n" } else { &text });
            }
            ("frame", Some(view)) => {
                let line = self.frame_line(view, self.frame);
                let frames = self.frames(view);
                let Some(frame) = frames.get(self.frame) else { return Err("No frame selected.".into()) };
                let mut text =
                    format!("Stack level {}, {}\n", self.frame, line.split_once("  ").map_or("", |(_, l)| l));
                let ptx = self.symbols.program.line(frame.pc);
                let place = self.symbols.place(frame.pc);
                putln!(text, " pc = {}:{ptx} <{place}>", self.symbols.file());
                if frame.inlined {
                    text += " inlined into the next frame\n";
                }
                self.say(&text);
            }
            ("threads", Some(view)) => self.info_threads(view),
            ("warps", Some(view)) => self.info_warps(view),
            ("lanes", Some(view)) => self.info_lanes(view),
            ("blocks", Some(view)) => self.info_blocks(view),
            (_, Some(view)) => self.info_kernels(view),
        }
        Ok(Flow::Stay)
    }

    fn info_registers(&mut self, args: &str, view: &mut View<'_>) -> Result<Flow, String> {
        let mut names: Vec<String> = Vec::new();
        for word in args.split_whitespace() {
            match word.strip_prefix('$').unwrap_or(word) {
                "system" => names.extend(SYSTEM.iter().map(|name| format!("%{name}"))),
                name if name.starts_with('%') => names.push(name.to_owned()),
                name => names.push(format!("%{name}")),
            }
        }
        if args.is_empty() {
            let frames = self.frames(view);
            let frame = frames.get(self.frame).ok_or("The thread has exited.")?;
            names = self.register_names(frame)?;
        }
        let mut text = String::new();
        let width = names.iter().map(|name| name.len() + 1).max().unwrap_or(0).max(15);
        for name in names {
            let value = self.scope(Some(view)).register(&name)?;
            putln!(text, "{name:<width$}{:<19}{}", value.show(Some('x')), value.show(None));
        }
        self.say(&text);
        Ok(Flow::Stay)
    }

    /// The parameters, or the other variables, that a frame can name: of the source, or where it has none, of the PTX.
    pub(super) fn names_in(&self, frame: &Frame, args: bool) -> Vec<String> {
        let of_source = self.symbols.source_variables(frame.pc, frame.level);
        if !of_source.is_empty() {
            let wanted = of_source.iter().filter(|variable| variable.parameter == args);
            let mut names: Vec<String> = wanted.map(|variable| variable.name.clone()).collect();
            names.reverse();
            return names;
        }
        if frame.inlined {
            return Vec::new();
        }
        let function = self.symbols.function(frame.pc);
        if args {
            self.symbols.params(function).into_iter().map(str::to_owned).collect()
        } else {
            self.symbols.locals(function).into_iter().map(|(name, _)| name.to_owned()).collect()
        }
    }

    /// The registers of the function of a frame, `%r2` before `%r10`.
    pub(super) fn register_names(&self, frame: &Frame) -> Result<Vec<String>, String> {
        let function = self.symbols.program.function_at(frame.pc).ok_or("No function there.")?;
        let mut names: Vec<&str> =
            self.symbols.program.registers(function).iter().map(|r| &*r.name).collect();
        names.sort_by_key(|name| natural(name));
        names.dedup();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// A variable or register of the selected frame.
    pub(super) fn value_of(&mut self, name: &str, view: &mut View<'_>) -> Result<Value, String> {
        let mut scope = self.scope(Some(view));
        if name.starts_with('%') {
            return scope.register(name);
        }
        let value = scope.variable(name)?;
        if let Type::Reference(_, space, to) = value.ty.plain() {
            return scope.memory(*space, value.bits() as u64, to);
        }
        Ok(value)
    }

    fn info_locals(&mut self, args: bool, view: &mut View<'_>) -> Result<Flow, String> {
        let frames = self.frames(view);
        let frame = frames.get(self.frame).ok_or("No frame selected.")?;
        let names = self.names_in(frame, args);
        let mut text = String::new();
        for name in names {
            let value = self.value_of(&name, view);
            let unknown = |why: String| if why.starts_with('<') { why } else { format!("<{why}>") };
            let shown = match value {
                Ok(value) => self.shown(&value, None, Some(view)),
                Err(why) => unknown(why),
            };
            putln!(text, "{name} = {shown}");
        }
        let none = if args { "No arguments.\n" } else { "No locals.\n" };
        self.say(if text.is_empty() { none } else { &text });
        Ok(Flow::Stay)
    }

    fn info_line(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let here = view.as_ref().and_then(|v| self.current(v));
        let pc = self.symbols.locate(args, here)?[0];
        let line = self.symbols.program.line(pc);
        let ptx = self.symbols.file();
        let text = match self.symbols.frames(pc).first() {
            None => format!(
                "Line {line} of \"{ptx}\" is {}; it comes from no known source line.\n",
                self.symbols.place(pc)
            ),
            Some(frame) => {
                let ranges = self.symbols.lines_of(&frame.file, frame.line);
                let shown = ranges.iter().map(|r| match r.end - r.start {
                    1 => r.start.to_string(),
                    _ => format!("{}-{}", r.start, r.end - 1),
                });
                let shown = shown.collect::<Vec<_>>().join(", ");
                format!(
                    "Line {} of \"{}\" is PTX lines {shown} of \"{ptx}\".\n",
                    frame.line,
                    base(&frame.file)
                )
            }
        };
        self.say(&text);
        Ok(Flow::Stay)
    }

    fn mark(&self, own: bool) -> String {
        if own { "*" } else { "" }.to_owned()
    }

    pub(super) fn where_is(&self, pc: u32) -> String {
        match self.symbols.frames(pc).first() {
            Some(frame) => format!("{}:{}", base(&frame.file), frame.line),
            None => format!("{}:{}", self.symbols.file(), self.symbols.program.line(pc)),
        }
    }

    fn info_kernels(&mut self, view: &View<'_>) {
        let launch = view.launch();
        let rows = vec![vec![
            "*".into(),
            "0".into(),
            triple(launch.grid()),
            triple(launch.block()),
            triple(launch.cluster()),
            view.blocks().len().to_string(),
            view.clusters_to_come().to_string(),
            launch.kernel().to_owned(),
        ]];
        let head = ["", "Kernel", "GridDim", "BlockDim", "Cluster", "Resident", "To Come", "Invocation"];
        self.table(&head, &rows);
    }

    fn info_blocks(&mut self, view: &View<'_>) {
        let mut rows = Vec::new();
        let focus = self.focused_warp().map(|w| w.block);
        for block in view.blocks() {
            let warps = view.launch().block().iter().product::<u32>().div_ceil(32);
            let ids = (0..warps).map(|warp| WarpId { block, warp });
            let running = ids.clone().filter(|id| view.can_run(*id)).count();
            let exited = ids.clone().filter(|id| view.alive(*id) == 0).count();
            let state = format!(
                "{running} warps can run, {} wait, {exited} have exited",
                warps as usize - running - exited
            );
            let cluster = view.cluster_of(block).map_or_else(String::new, |(number, _)| number.to_string());
            rows.push(vec![self.mark(focus == Some(block)), triple(block), cluster, state]);
        }
        self.table(&["", "BlockIdx", "Cluster", "State"], &rows);
    }

    fn info_warps(&mut self, view: &View<'_>) {
        let Some(own) = self.focused_warp() else { return };
        let mut rows = Vec::new();
        for id in view.warps().into_iter().filter(|w| w.block == own.block) {
            let groups = view.lanes(id);
            let focused = self.focus.filter(|f| f.warp == id).map(|f| f.lane);
            let first = focused
                .and_then(|lane| groups.iter().find(|g| g.mask >> lane & 1 != 0))
                .or_else(|| groups.iter().min_by_key(|g| g.mask.trailing_zeros()));
            let active = first.map_or(0, |g| g.mask);
            let alive = view.alive(id);
            rows.push(vec![
                self.mark(id == own),
                id.warp.to_string(),
                format!("{active:#010x}"),
                format!("{:#010x}", alive & !active),
                first.map_or_else(String::new, |g| self.where_is(g.pc)),
                triple(view.launch().thread(id.warp * 32 + alive.trailing_zeros().min(31))),
                first.map_or_else(|| "exited".to_owned(), |g| waits(g.waits)),
                view.executed(id).to_string(),
            ]);
        }
        let head = ["", "Wp", "Active Lanes", "Divergent", "Where", "First ThreadIdx", "State", "Executed"];
        self.table(&head, &rows);
    }

    fn info_lanes(&mut self, view: &View<'_>) {
        let Some(focus) = self.focus else { return };
        let groups = view.lanes(focus.warp);
        let active = groups.iter().find(|g| g.mask >> focus.lane & 1 != 0).map_or(0, |g| g.mask);
        let threads: u32 = view.launch().block().iter().product();
        let mut rows = Vec::new();
        for lane in (0..32).filter(|lane| focus.warp.warp * 32 + lane < threads) {
            let group = groups.iter().find(|g| g.mask >> lane & 1 != 0);
            let state = match group {
                None => "exited".to_owned(),
                Some(g) if g.waits != Waits::Nothing => waits(g.waits),
                Some(_) if active >> lane & 1 != 0 => "active".to_owned(),
                Some(_) => "divergent".to_owned(),
            };
            rows.push(vec![
                self.mark(lane == focus.lane),
                lane.to_string(),
                state,
                group.map_or_else(String::new, |g| self.where_is(g.pc)),
                triple(view.launch().thread(focus.warp.warp * 32 + lane)),
            ]);
        }
        self.table(&["", "Ln", "State", "Where", "ThreadIdx"], &rows);
    }

    /// Threads that follow each other and are at the same place are one line.
    fn info_threads(&mut self, view: &View<'_>) {
        struct Row {
            from: ([u32; 3], u32),
            to: ([u32; 3], u32),
            count: u32,
            pc: u32,
            waits: Waits,
            own: bool,
        }
        let mut rows: Vec<Row> = Vec::new();
        for id in view.warps() {
            let groups = view.lanes(id);
            for lane in 0..32 {
                let Some(group) = groups.iter().find(|g| g.mask >> lane & 1 != 0) else { continue };
                let pc = self.symbols.start_of(group.pc);
                let own = self.focus == Some(Focus { warp: id, lane });
                let at = (id.block, id.warp * 32 + lane);
                match rows.last_mut() {
                    Some(last) if last.pc == pc && last.waits == group.waits => {
                        (last.to, last.count, last.own) = (at, last.count + 1, last.own | own);
                    }
                    _ => rows.push(Row { from: at, to: at, count: 1, pc, waits: group.waits, own }),
                }
            }
        }
        let thread = |(_, number): ([u32; 3], u32)| triple(view.launch().thread(number));
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    self.mark(row.own),
                    triple(row.from.0),
                    thread(row.from),
                    triple(row.to.0),
                    thread(row.to),
                    row.count.to_string(),
                    self.where_is(row.pc),
                    waits(row.waits),
                ]
            })
            .collect();
        let head = ["", "BlockIdx", "ThreadIdx", "To BlockIdx", "To ThreadIdx", "Count", "Where", "State"];
        self.table(&head, &cells);
    }

    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([head[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let mut text = String::new();
        let head: Vec<String> = head.iter().map(|h| (*h).to_owned()).collect();
        for row in std::iter::once(&head).chain(rows) {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            let line = cells.collect::<Vec<_>>().join(" ");
            putln!(text, "{}", line.trim_end());
        }
        self.say(&text);
    }

    /// `set var X = Y` and `print X = Y`.
    pub(super) fn set(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let (what, rest) = args.split_once(char::is_whitespace).unwrap_or((args, ""));
        let text = match what {
            "var" | "variable" => rest,
            setting if super::gdb::is_setting(setting) && !rest.starts_with('=') => return Ok(Flow::Stay),
            _ if args.contains('=') => args,
            _ => return Err("Argument required (expression to compute).".into()),
        };
        if !text.contains('=') {
            return Err("An assignment is expected: set var %r1 = 5".into());
        }
        self.print(text.trim(), true, view)
    }

    /// Of `output`: the value alone.
    pub(super) fn output(&mut self, args: &str, mut view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let (format, text) = super::show::Format::take(args)?;
        let value: Value = self.evaluate(text, view.as_deref_mut())?;
        let text = self.shown(&value, format.letter, view);
        self.say(&text);
        Ok(Flow::Stay)
    }
}

pub(super) fn waits(waits: Waits) -> String {
    match waits {
        Waits::Nothing => "ready".into(),
        Waits::Lanes(mask) => format!("waits for lanes {mask:#010x}"),
        Waits::Barrier { id, arrived: true } => format!("at barrier {id}"),
        Waits::Barrier { id, arrived: false } => format!("at barrier {id}, for its warp"),
        Waits::Mbarrier => "waits for an mbarrier".into(),
        Waits::Cluster => "at the cluster's barrier".into(),
    }
}

/// Orders `%r2` before `%r10`.
fn natural(name: &str) -> (String, u64, String) {
    let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let end = name[start..].find(|c: char| !c.is_ascii_digit()).map_or(name.len(), |i| i + start);
    (name[..start].to_owned(), name[start..end].parse().unwrap_or(0), name[end..].to_owned())
}
