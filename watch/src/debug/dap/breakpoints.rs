//! Breakpoints as an editor sets them: all of a file, all on functions, all on data, each time anew.

use super::session::Session;
use super::sources::Named;
use crate::debug::value::{Location, Value as Datum};
use serde_json::{Value, json};
use warpsmith_base::FxHashMap;
use warpsmith_interp::observe::View;

/// The numbers of the breakpoints that an editor has set.
#[derive(Default)]
pub(super) struct Placed {
    /// By the file; the PTX has the empty name.
    files: FxHashMap<String, Vec<u32>>,
    functions: Vec<u32>,
    instructions: Vec<u32>,
    data: Vec<u32>,
}

impl Placed {
    /// What it is called to stand still at one of these.
    pub(super) fn reason(&self, numbers: &[u32]) -> &'static str {
        if numbers.iter().any(|number| self.functions.contains(number)) {
            "function breakpoint"
        } else if numbers.iter().any(|number| self.instructions.contains(number)) {
            "instruction breakpoint"
        } else {
            "breakpoint"
        }
    }
}

fn text(of: &Value, key: &str) -> Option<String> {
    of.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// How often a breakpoint is passed: `5`, `>= 5`, `> 5`.
fn passes(condition: Option<&str>) -> Result<u64, String> {
    let Some(condition) = condition else { return Ok(0) };
    let wrong = || format!("`{condition}` is not a hit count: 5, >= 5 and > 5 are");
    let (rest, from) = match (condition.trim().strip_prefix(">="), condition.trim().strip_prefix('>')) {
        (Some(rest), _) => (rest, 1),
        (None, Some(rest)) => (rest, 0),
        (None, None) => (condition, 1),
    };
    let count: u64 = rest.trim().parse().map_err(|_| wrong())?;
    Ok(count.saturating_sub(from))
}

impl Session<'_, '_> {
    /// Sets one breakpoint; the description that is sent to the editor.
    fn place(&mut self, at: &str, wanted: &Value, numbers: &mut Vec<u32>) -> Value {
        let set = |session: &mut Self| {
            let pcs = session.debugger.symbols.stops(at, None)?;
            let ignored = passes(text(wanted, "hitCondition").as_deref())?;
            let (condition, log) = (text(wanted, "condition"), text(wanted, "logMessage"));
            let first = pcs[0];
            Ok((session.debugger.set_break(pcs, condition, ignored, log)?, first))
        };
        let made: Result<(u32, u32), String> = set(self);
        match made {
            Ok((number, pc)) => {
                numbers.push(number);
                let source = self.debugger.symbols.frames(pc).first().map(|at| (at.file.clone(), at.line));
                // A line of the PTX is shown there.
                let of_ptx = wanted.get("line").is_some() && at.parse::<u32>().is_ok();
                let (source, line) = match source.filter(|_| !of_ptx) {
                    Some((file, line)) => (self.file(&file), line),
                    None => (self.ptx(), self.debugger.symbols.program.line(pc)),
                };
                json!({
                    "id": number, "verified": true, "source": source, "line": self.connection.line_out(line),
                    "instructionReference": self.instruction_at(pc),
                })
            }
            Err(why) => json!({"verified": false, "message": why}),
        }
    }

    pub(super) fn set_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let source = arguments.get("source").ok_or("`source` is missing.")?;
        let wanted = arguments.get("breakpoints").and_then(Value::as_array).cloned().unwrap_or_default();
        let (key, refused) = match self.named(source) {
            Ok(Named::Ptx) => (String::new(), None),
            Ok(Named::File(file)) => (file, None),
            Err(why) => (String::new(), Some(why)),
        };
        if let Some(why) = refused {
            let none: Vec<Value> = wanted
                .iter()
                .map(|_| json!({"verified": false, "message": why, "reason": "failed"}))
                .collect();
            return Ok(json!({"breakpoints": none}));
        }
        let old = self.placed.files.remove(&key).unwrap_or_default();
        self.debugger.remove_points(&old);
        let (mut numbers, mut made) = (Vec::new(), Vec::new());
        for breakpoint in &wanted {
            let line = breakpoint.get("line").and_then(Value::as_u64).unwrap_or(0);
            let line = self.connection.line_in(line);
            let at = if key.is_empty() { line.to_string() } else { format!("{key}:{line}") };
            made.push(self.place(&at, breakpoint, &mut numbers));
        }
        self.placed.files.insert(key, numbers);
        Ok(json!({"breakpoints": made}))
    }

    pub(super) fn set_function_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let old = std::mem::take(&mut self.placed.functions);
        self.debugger.remove_points(&old);
        let (mut numbers, mut made) = (Vec::new(), Vec::new());
        for breakpoint in arguments.get("breakpoints").and_then(Value::as_array).into_iter().flatten() {
            let name = text(breakpoint, "name").unwrap_or_default();
            made.push(self.place(name.trim(), breakpoint, &mut numbers));
        }
        self.placed.functions = numbers;
        Ok(json!({"breakpoints": made}))
    }

    pub(super) fn set_instruction_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let old = std::mem::take(&mut self.placed.instructions);
        self.debugger.remove_points(&old);
        let (mut numbers, mut made) = (Vec::new(), Vec::new());
        for breakpoint in arguments.get("breakpoints").and_then(Value::as_array).into_iter().flatten() {
            let reference = text(breakpoint, "instructionReference").unwrap_or_default();
            let offset = breakpoint.get("offset").and_then(Value::as_i64).unwrap_or(0);
            let found = self.statement(&reference, offset);
            let at = found.map(|pc| self.debugger.symbols.program.line(pc).to_string());
            made.push(match at {
                Ok(at) => self.place(&at, breakpoint, &mut numbers),
                Err(why) => json!({"verified": false, "message": why}),
            });
        }
        self.placed.instructions = numbers;
        Ok(json!({"breakpoints": made}))
    }

    pub(super) fn set_exception_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let filters = arguments.get("filters").and_then(Value::as_array).ok_or("`filters` is missing.")?;
        let named = |name: &str| filters.iter().any(|filter| filter.as_str() == Some(name));
        (self.filters.fault, self.filters.error) = (named("fault"), named("error"));
        self.filters.warning = named("warning");
        Ok(json!({}))
    }

    /// The lines between two that have code.
    pub(super) fn breakpoint_locations(&mut self, arguments: &Value) -> Result<Value, String> {
        let source = arguments.get("source").ok_or("`source` is missing.")?;
        let named = self.named(source)?;
        let line =
            |key: &str| arguments.get(key).and_then(Value::as_u64).map(|line| self.connection.line_in(line));
        let from = line("line").unwrap_or(0);
        let to = line("endLine").unwrap_or(from);
        let symbols = &self.debugger.symbols;
        let mut lines: Vec<u32> = symbols
            .statements_from(0)
            .iter()
            .filter_map(|pc| match &named {
                Named::Ptx => Some(symbols.program.line(*pc)),
                Named::File(file) => {
                    symbols.frames(*pc).first().filter(|at| at.file == *file).map(|at| at.line)
                }
            })
            .filter(|line| (u64::from(from)..=u64::from(to)).contains(&u64::from(*line)))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<Value> =
            lines.into_iter().map(|line| json!({"line": self.connection.line_out(line)})).collect();
        Ok(json!({"breakpoints": lines}))
    }

    /// Whether a value can be watched, and how it is called then.
    pub(super) fn data_breakpoint_info(
        &mut self,
        arguments: &Value,
        view: &mut View<'_>,
    ) -> Result<Value, String> {
        let name = text(arguments, "name").ok_or("`name` is missing.")?;
        let (value, frame): (Datum, _) = match arguments.get("variablesReference").and_then(Value::as_u64) {
            Some(reference) if reference > 0 => self.child(reference, &name, view)?,
            _ => {
                let frame = self.frame_of(arguments)?;
                (self.in_frame(frame, |session| session.debugger.evaluate(&name, Some(&mut *view)))?, frame)
            }
        };
        let bytes = value.ty.bytes();
        let (expression, accesses) = match value.at {
            Some(Location::Memory(space, address)) => {
                let unit = match bytes {
                    1 | 2 | 4 | 8 => format!("b{}", 8 * bytes),
                    _ => "b8".to_owned(),
                };
                let all =
                    if matches!(bytes, 1 | 2 | 4 | 8) { String::new() } else { format!("@{}", bytes.max(1)) };
                let of = format!("*(@{} .{unit} *) {address:#x}{all}", space.name());
                (of, json!(["read", "write", "readWrite"]))
            }
            Some(Location::Register(_)) => (name.clone(), json!(["write"])),
            None => return Ok(json!({"dataId": null, "description": format!("{name} is not in memory")})),
        };
        let (focus, level) = frame;
        let id = json!({"watch": expression, "thread": self.number(focus), "frame": level}).to_string();
        Ok(json!({"dataId": id, "description": name, "accessTypes": accesses, "canPersist": false}))
    }

    pub(super) fn set_data_breakpoints(
        &mut self,
        arguments: &Value,
        mut view: Option<&mut View<'_>>,
    ) -> Result<Value, String> {
        let old = std::mem::take(&mut self.placed.data);
        self.debugger.remove_points(&old);
        let (mut numbers, mut made) = (Vec::new(), Vec::new());
        for breakpoint in arguments.get("breakpoints").and_then(Value::as_array).into_iter().flatten() {
            let set = self.watch(breakpoint, view.as_deref_mut());
            made.push(match set {
                Ok(number) => {
                    numbers.push(number);
                    json!({"id": number, "verified": true})
                }
                Err(why) => json!({"verified": false, "message": why}),
            });
        }
        self.placed.data = numbers;
        Ok(json!({"breakpoints": made}))
    }

    fn watch(&mut self, wanted: &Value, view: Option<&mut View<'_>>) -> Result<u32, String> {
        let view = view.ok_or("Data is watched where the kernel stands still.")?;
        let id: Value = serde_json::from_str(&text(wanted, "dataId").unwrap_or_default())
            .map_err(|_| "`dataId` is none that was given.")?;
        let expression = text(&id, "watch").ok_or("`dataId` is none that was given.")?;
        let focus = id.get("thread").and_then(Value::as_u64).and_then(|number| self.thread(number));
        let focus = focus.ok_or("Unknown thread.")?;
        let level = id.get("frame").and_then(Value::as_u64).map_or(0, |level| level as usize);
        let command = match wanted.get("accessType").and_then(Value::as_str) {
            Some("read") => "rwatch",
            Some("readWrite") => "awatch",
            _ => "watch",
        };
        let condition = text(wanted, "condition").map_or_else(String::new, |text| format!(" if {text}"));
        let of = format!("{expression}{condition}");
        self.in_frame((focus, level), |session| session.debugger.set_watch(command, &of, view))
    }
}
