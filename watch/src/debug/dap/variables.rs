//! Scopes, variables and expressions.

use super::session::{After, FrameAt, Reply, Session};
use crate::debug::expr::Names;
use crate::debug::info::SYSTEM;
use crate::debug::value::{Location, Type, Value as Datum};
use crate::debug::{Flow, expr};
use crate::dwarf::Member;
use serde_json::{Value, json};
use warpsmith_interp::observe::{View, window};
use warpsmith_isa::StateSpace;

/// The elements of an array that are shown to an editor that does not ask for a part.
const ELEMENTS: usize = 1000;

/// What has children.
#[derive(Clone)]
pub(super) struct Container {
    frame: FrameAt,
    what: What,
}

#[derive(Clone)]
enum What {
    Arguments,
    Locals,
    Registers,
    Special,
    /// Variables of the module.
    Globals,
    /// A value, and how it is written as an expression.
    Value(Datum, String),
}

/// A child: its name, its value or why it has none, and how it is written as an expression.
type Row = (String, Result<Datum, String>, String);

/// Which children are wanted.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    count: usize,
}

impl Session<'_, '_> {
    /// The frame that a request names, or else that of the thread in focus.
    pub(super) fn frame_of(&self, arguments: &Value) -> Result<FrameAt, String> {
        match arguments.get("frameId").and_then(Value::as_u64) {
            Some(id) => {
                let index = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
                index.and_then(|index| self.frames.get(index)).copied().ok_or_else(|| "Unknown frame.".into())
            }
            None => self
                .debugger
                .focus
                .map(|focus| (focus, self.debugger.frame))
                .ok_or_else(|| "No frame selected.".into()),
        }
    }

    /// Does something with a frame selected.
    pub(super) fn in_frame<T>(&mut self, (focus, level): FrameAt, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = (self.debugger.focus, self.debugger.frame);
        (self.debugger.focus, self.debugger.frame) = (Some(focus), level);
        let result = act(self);
        (self.debugger.focus, self.debugger.frame) = before;
        result
    }

    fn container(&mut self, frame: FrameAt, what: What) -> usize {
        self.containers.push(Container { frame, what });
        self.containers.len()
    }

    pub(super) fn scopes(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let frame = self.frame_of(arguments)?;
        // Memory that is read next is that of this thread.
        self.debugger.focus = Some(frame.0);
        self.debugger.frame = frame.1;
        let frames = self.debugger.frames(view);
        let at = frames.get(frame.1).ok_or("The thread has exited.")?.clone();
        let mut scopes = Vec::new();
        let mut scope = |session: &mut Self, name: &str, hint: Option<&str>, count: usize, what: What| {
            let mut scope = json!({
                "name": name, "variablesReference": session.container(frame, what), "namedVariables": count,
                "expensive": false,
            });
            if let Some(hint) = hint {
                scope["presentationHint"] = hint.into();
            }
            scopes.push(scope);
        };
        let arguments = self.debugger.names_in(&at, true).len();
        if arguments > 0 {
            scope(self, "Arguments", Some("arguments"), arguments, What::Arguments);
        }
        let locals = self.debugger.names_in(&at, false).len();
        scope(self, "Locals", Some("locals"), locals, What::Locals);
        let registers = self.debugger.register_names(&at)?.len();
        scope(self, "Registers", Some("registers"), registers, What::Registers);
        scope(self, "Special registers", Some("registers"), SYSTEM.len(), What::Special);
        let globals = view.launch().variables().count();
        if globals > 0 {
            scope(self, "Globals", None, globals, What::Globals);
        }
        Ok(json!({"scopes": scopes}))
    }

    fn part(arguments: &Value) -> Part {
        let number =
            |key: &str| arguments.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        Part {
            from: number("start").unwrap_or(0),
            count: number("count").filter(|count| *count > 0).unwrap_or(ELEMENTS),
        }
    }

    fn find(&self, reference: u64) -> Result<Container, String> {
        let index = usize::try_from(reference).ok().and_then(|reference| reference.checked_sub(1));
        let found = index.and_then(|index| self.containers.get(index)).cloned();
        found.ok_or_else(|| "Unknown variable.".into())
    }

    /// The children of a container; its frame is selected.
    fn rows(&mut self, of: &Container, part: Part, view: &mut View<'_>) -> Result<Vec<Row>, String> {
        let frames = self.debugger.frames(view);
        let at = frames.get(of.frame.1).ok_or("The thread has exited.")?.clone();
        let named = |session: &mut Self, names: Vec<String>, view: &mut View<'_>| {
            let row = |name: String| {
                let value = session.debugger.value_of(&name, view);
                (name.clone(), value, name)
            };
            names.into_iter().skip(part.from).take(part.count).map(row).collect()
        };
        Ok(match &of.what {
            What::Arguments => {
                let names = self.debugger.names_in(&at, true);
                named(self, names, view)
            }
            What::Locals => {
                let names = self.debugger.names_in(&at, false);
                named(self, names, view)
            }
            What::Registers => {
                let names = self.debugger.register_names(&at)?;
                named(self, names, view)
            }
            What::Special => named(self, SYSTEM.iter().map(|name| format!("%{name}")).collect(), view),
            What::Globals => {
                let names = view.launch().variables().map(|v| v.name.to_owned()).collect();
                named(self, names, view)
            }
            What::Value(value, expression) => self.members(value, expression, part, view),
        })
    }

    /// The parts of a value.
    fn members(&mut self, value: &Datum, expression: &str, part: Part, view: &mut View<'_>) -> Vec<Row> {
        match value.ty.plain() {
            Type::Array(of, count) => {
                let have = (value.bytes.len() as u64).checked_div(of.bytes()).unwrap_or(0).min(*count);
                let last = part.from.saturating_add(part.count).min(have as usize);
                let row =
                    |i: usize| (format!("[{i}]"), Ok(value.element(of, i)), format!("{expression}[{i}]"));
                (part.from.min(last)..last).map(row).collect()
            }
            Type::Struct(of) => {
                let held = value.case().map(|case| &case.member);
                let members = held.into_iter().chain(of.members()).skip(part.from).take(part.count);
                let row = |member: &Member| {
                    let part = value.part(member).ok_or_else(|| "<unavailable>".to_owned());
                    // The members of a part without a name are named as if they were this one's.
                    let written = match member.name.as_str() {
                        "" => expression.to_owned(),
                        name => format!("{expression}.{name}"),
                    };
                    (member.shown(), part, written)
                };
                members.map(row).collect()
            }
            Type::Dim3 => {
                let number = |i: usize| Datum {
                    ty: Type::INT,
                    bytes: value.bytes[4 * i..4 * i + 4].to_vec(),
                    at: None,
                };
                let row = |(i, name): (usize, &str)| {
                    (name.to_owned(), Ok(number(i)), format!("{expression}.{name}"))
                };
                ["x", "y", "z"].into_iter().enumerate().map(row).collect()
            }
            Type::Pointer(space, to) => {
                let target = self.debugger.scope(Some(&mut *view)).memory(*space, value.bits() as u64, to);
                match (to.plain(), target) {
                    (Type::Struct(_), Ok(target)) => {
                        self.members(&target, &format!("(*{expression})"), part, view)
                    }
                    (_, target) => vec![(format!("*{expression}"), target, format!("*{expression}"))],
                }
            }
            Type::Reference(_, space, to) => {
                let target = self.debugger.scope(Some(&mut *view)).memory(*space, value.bits() as u64, to);
                match target {
                    Ok(target) => self.members(&target, expression, part, view),
                    Err(_) => Vec::new(),
                }
            }
            Type::Scalar(_)
            | Type::Base(..)
            | Type::Void
            | Type::Enum(..)
            | Type::Function(..)
            | Type::Typedef(..)
            | Type::Qualified(..) => Vec::new(),
        }
    }

    /// A child of a container by its name, and the frame.
    pub(super) fn child(
        &mut self,
        reference: u64,
        name: &str,
        view: &mut View<'_>,
    ) -> Result<(Datum, FrameAt), String> {
        let of = self.find(reference)?;
        // Elements are found without those before them.
        let index =
            name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(|i| i.parse().ok());
        let part = index.map_or(Part { from: 0, count: usize::MAX }, |from| Part { from, count: 1 });
        let rows = self.in_frame(of.frame, |session| session.rows(&of, part, view))?;
        let found = rows.into_iter().find(|(known, ..)| known == name);
        let (_, value, _) = found.ok_or_else(|| format!("Unknown variable `{name}`."))?;
        Ok((value?, of.frame))
    }

    pub(super) fn variables(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let reference = arguments.get("variablesReference").and_then(Value::as_u64).unwrap_or(0);
        let of = self.find(reference)?;
        let part = Self::part(arguments);
        let format = Self::format(arguments);
        let rows = self.in_frame(of.frame, |session| session.rows(&of, part, view))?;
        let mut shown = Vec::new();
        for (name, value, expression) in rows {
            let mut row = match value {
                Ok(value) => self.described(value, &expression, of.frame, format, view)?,
                Err(why) if why.starts_with('<') => json!({"value": why, "variablesReference": 0}),
                Err(why) => json!({"value": format!("<{why}>"), "variablesReference": 0}),
            };
            row["name"] = name.into();
            row["evaluateName"] = expression.into();
            shown.push(row);
        }
        Ok(json!({"variables": shown}))
    }

    fn format(arguments: &Value) -> Option<char> {
        let hex = arguments.pointer("/format/hex").and_then(Value::as_bool);
        hex.unwrap_or(false).then_some('x')
    }

    /// A value, with its type, its parts and its address.
    fn described(
        &mut self,
        value: Datum,
        expression: &str,
        frame: FrameAt,
        format: Option<char>,
        view: &mut View<'_>,
    ) -> Result<Value, String> {
        let shown = self
            .in_frame(frame, |session| Ok::<_, String>(session.debugger.shown(&value, format, Some(view))))?;
        let mut row = json!({"value": shown, "type": value.ty.name(), "variablesReference": 0});
        let address = match (value.ty.plain(), value.at) {
            (Type::Pointer(space, _) | Type::Reference(_, space, _), _) => {
                generic(*space, value.bits() as u64)
            }
            (_, Some(Location::Memory(space, address))) => generic(space, address),
            (_, Some(Location::Register(_)) | None) => None,
        };
        if let Some(address) = address {
            row["memoryReference"] = format!("{address:#x}").into();
        }
        if value.at.is_none() && !matches!(value.ty.plain(), Type::Struct(_) | Type::Array(..) | Type::Dim3) {
            row["presentationHint"] = json!({"attributes": ["readOnly"]});
        }
        let count = match value.ty.plain() {
            Type::Array(_, count) => Some(("indexedVariables", *count)),
            Type::Struct(of) => {
                Some(("namedVariables", of.members().len() as u64 + u64::from(of.variants().is_some())))
            }
            Type::Dim3 => Some(("namedVariables", 3)),
            Type::Pointer(_, to) if *to.plain() == Type::Void => None,
            Type::Pointer(_, to) if matches!(to.plain(), Type::Function(..)) => None,
            Type::Pointer(..) | Type::Reference(..) => Some(("namedVariables", 1)),
            Type::Scalar(_)
            | Type::Base(..)
            | Type::Void
            | Type::Enum(..)
            | Type::Function(..)
            | Type::Typedef(..)
            | Type::Qualified(..) => None,
        };
        if let Some((key, count)) = count.filter(|(_, count)| *count > 0) {
            row[key] = count.into();
            row["variablesReference"] =
                self.container(frame, What::Value(value, expression.to_owned())).into();
        }
        Ok(row)
    }

    pub(super) fn set_variable(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let text =
            |key: &str| arguments.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is missing."));
        let reference = arguments.get("variablesReference").and_then(Value::as_u64).unwrap_or(0);
        let (name, new) = (text("name")?, text("value")?);
        let (old, frame) = self.child(reference, name, view)?;
        let at = old
            .at
            .ok_or_else(|| format!("{name} cannot be changed: it is not in a register or in memory."))?;
        let made = self.in_frame(frame, |session| {
            let new = match new.trim() {
                "true" => Datum::boolean(true),
                "false" => Datum::boolean(false),
                new => session.debugger.evaluate(new, Some(&mut *view))?,
            };
            let made = Datum { at: Some(at), ..new.cast(&old.ty)? };
            session.debugger.scope(Some(&mut *view)).assign(at, &made)?;
            Ok::<_, String>(made)
        })?;
        self.described(made, name, frame, Self::format(arguments), view)
    }

    pub(super) fn set_expression(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let text =
            |key: &str| arguments.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is missing."));
        let (expression, value) = (text("expression")?, text("value")?);
        let frame = self.frame_of(arguments)?;
        let assignment = format!("{expression} = {value}");
        let made =
            self.in_frame(frame, |session| session.debugger.evaluate(&assignment, Some(&mut *view)))?;
        self.described(made, expression, frame, Self::format(arguments), view)
    }

    /// Expressions; in the console also the commands of gdb and cuda-gdb.
    pub(super) fn evaluate(&mut self, arguments: &Value, view: Option<&mut View<'_>>) -> Reply {
        let expression =
            arguments.get("expression").and_then(Value::as_str).ok_or("`expression` is missing.")?;
        let format = Self::format(arguments);
        let in_console = arguments.get("context").and_then(Value::as_str) == Some("repl");
        let Some(view) = view else {
            if in_console {
                return self.command(expression, None);
            }
            return Err("The kernel is not running.".into());
        };
        let frame = self.frame_of(arguments)?;
        // A value wins over a command of its name where it is an expression that can be read.
        if in_console
            && !(expr::check(expression).is_ok() && expression.starts_with(['%', '$', '*', '&', '@', '(']))
        {
            (self.debugger.focus, self.debugger.frame) = (Some(frame.0), frame.1);
            let result = self.command(expression, Some(&mut *view));
            match result {
                Err(why) if why.starts_with("Undefined command") => {}
                done => return done,
            }
        }
        let value =
            self.in_frame(frame, |session| session.debugger.evaluate(expression, Some(&mut *view)))?;
        let mut body = self.described(value, expression, frame, format, view)?;
        body["result"] = body["value"].take();
        if let Some(body) = body.as_object_mut() {
            body.remove("value");
        }
        Ok((body, After::Stay))
    }

    /// A command of the debugger, in the console.
    fn command(&mut self, line: &str, view: Option<&mut View<'_>>) -> Reply {
        let before = self.debugger.focus;
        let stands = view.is_some();
        self.capture.take();
        let flow = self.debugger.command(line, view)?;
        let shown = self.capture.take();
        let body = json!({"result": shown.trim_end_matches('\n'), "variablesReference": 0});
        let after = match flow {
            Flow::Stay => After::Stay,
            Flow::Resume(resume) => {
                self.later.push(("continued", json!({"threadId": 1, "allThreadsContinued": true})));
                After::Resume(resume)
            }
            Flow::Run => After::Start,
            Flow::Quit => After::Terminate,
        };
        match self.debugger.focus {
            Some(focus) if stands && before != Some(focus) && matches!(after, After::Stay) => {
                self.announce_focus(focus);
            }
            _ => {}
        }
        // What commands change, editors show.
        if matches!(after, After::Stay) && stands {
            self.later.push(("invalidated", json!({"areas": ["variables"]})));
        }
        Ok((body, after))
    }
}

/// The generic address of an address in a space.
fn generic(space: StateSpace, address: u64) -> Option<u64> {
    Some(window(space)?.wrapping_add(address))
}
