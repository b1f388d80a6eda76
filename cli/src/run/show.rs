//! What a run leaves, for people and as JSON.

use crate::{Failure, report};
use serde_json::{Map, Value, json};
use warpsmith::Diagnostics;
use warpsmith::diag::{self, Diagnostic, Language};
use warpsmith::interp::Fault;
use warpsmith::isa::ScalarType;
use warpsmith::launch::{Arg, Execution, LaunchError, LaunchSpec, Resource, literal};
use warpsmith::watch::Sources;
use warpsmith::watch::source::Frame;

/// Why there is no result.
pub(super) enum Problem {
    /// A launch that cannot be read, and what describes it.
    Launch(String, Vec<LaunchError>),
    Source(Language, Diagnostics),
    /// A fault, and the text of the program.
    Fault(Box<Fault>, Sources),
    Failure(Failure),
}

impl Problem {
    /// The member `error` of the answer.
    pub(super) fn json(&self) -> Value {
        match self {
            Problem::Fault(fault, sources) => {
                let mut value = json!({
                    "code": fault.code.name(), "message": fault.message, "ptx_line": fault.ptx_line,
                    "block": fault.block, "thread": fault.thread,
                });
                if let Some(address) = fault.address {
                    value["address"] = format!("{address:#x}").into();
                }
                let frames = fault.ptx_line.map_or(&[][..], |line| sources.frames(line));
                if !frames.is_empty() {
                    value["source"] = frames.iter().map(Frame::json).collect();
                }
                value
            }
            Problem::Failure(Failure::Usage(message)) => error("C0001", message),
            Problem::Failure(Failure::Rejected | Failure::Status(_)) => {
                error("C0002", "the run is not as it should be")
            }
            Problem::Launch(_, errors) => {
                let list: Vec<String> = errors.iter().map(LaunchError::to_string).collect();
                let mut value = error("bad_launch", &list.join("; "));
                value["details"] = list.into();
                value
            }
            Problem::Source(language, diagnostics) => {
                let list: Vec<Value> = diagnostics
                    .iter()
                    .map(|diagnostic| diag::json::diagnostic(diagnostics.source(), diagnostic))
                    .collect();
                let first = diagnostics.iter().position(Diagnostic::is_error).unwrap_or(0);
                let mut value = match list.get(first) {
                    Some(first) => error(
                        first["code"].as_str().unwrap_or_default(),
                        first["message"].as_str().unwrap_or_default(),
                    ),
                    None => error("C0002", "the source is not accepted"),
                };
                if let (Language::Ptx, Some(first)) = (language, list.get(first)) {
                    value["ptx_line"] = first["line"].clone();
                }
                value["diagnostics"] = list.into();
                value
            }
        }
    }

    /// Writes it to standard error.
    pub(super) fn show(&self) {
        match self {
            Problem::Fault(fault, sources) => report(&sources.diagnostics(fault)),
            // The command reports it at the end.
            Problem::Failure(_) => {}
            Problem::Launch(description, errors) => {
                errors.iter().for_each(|e| eprintln!("error: {description}: {e}"))
            }
            Problem::Source(_, diagnostics) => report(diagnostics),
        }
    }
}

/// The answer of `--json`.
pub(super) fn success_json(execution: &Execution, ok: bool) -> Value {
    let buffers: Vec<Value> =
        execution.buffers.iter().map(|buffer| buffer.as_deref().map(literal::hex).into()).collect();
    let globals: Map<String, Value> =
        execution.globals.iter().map(|(name, bytes)| (name.clone(), literal::hex(bytes).into())).collect();
    let stats = json!({"thread_instructions": execution.thread_instructions, "seconds": execution.seconds});
    let mut answer = json!({"ok": ok, "buffers": buffers, "stats": stats});
    if !globals.is_empty() {
        answer["globals"] = globals.into();
    }
    if !execution.memory.is_empty() {
        let named = |(name, bytes): &(String, Vec<u8>)| (name.clone(), literal::hex(bytes).into());
        answer["memory"] = execution.memory.iter().map(named).collect::<Map<String, Value>>().into();
    }
    if !execution.bindings.is_empty() {
        let named = |(name, bytes): &(String, Vec<u8>)| (name.clone(), literal::hex(bytes).into());
        answer["bindings"] = execution.bindings.iter().map(named).collect::<Map<String, Value>>().into();
    }
    if execution.handles.iter().any(Option::is_some) {
        let texels = execution.handles.iter().map(|texels| texels.as_deref().map(literal::hex).into());
        answer["handles"] = texels.collect::<Vec<Value>>().into();
    }
    answer
}

/// For people: the first elements of each buffer and of each variable that the launch names.
pub(super) fn success(execution: &Execution, launch: &LaunchSpec) -> String {
    let mut text = String::new();
    for (index, (buffer, arg)) in execution.buffers.iter().zip(&launch.args).enumerate() {
        match (buffer, arg) {
            (Some(bytes), Arg::Buffer { element, .. }) => {
                text += &format!("argument {index}, {}\n", elements(bytes, *element));
            }
            (Some(bytes), Arg::Resource(resource)) => {
                text += &format!("surface {index}, {}\n", elements(bytes, channels(resource)));
            }
            _ => {}
        }
    }
    for ((name, bytes), global) in execution.globals.iter().zip(&launch.globals) {
        let element = match &global.content {
            Some(Arg::Buffer { element, .. }) => *element,
            Some(
                Arg::Value(_) | Arg::SameAs(_) | Arg::Multicast(_) | Arg::TensorMap(_) | Arg::Resource(_),
            )
            | None => None,
        };
        text += &format!("variable {name}, {}\n", elements(bytes, element));
    }
    for ((name, bytes), (_, arg)) in execution.memory.iter().zip(&launch.memory) {
        if let Arg::Buffer { element, .. } = arg {
            text += &format!("memory {name}, {}\n", elements(bytes, *element));
        }
    }
    let of_binding = |name: &str| launch.bindings.iter().find(|(known, _)| known == name);
    for (name, bytes) in &execution.bindings {
        let element = of_binding(name).and_then(|(_, resource)| channels(resource));
        text += &format!("surface {name}, {}\n", elements(bytes, element));
    }
    let rate = execution.thread_instructions as f64 / execution.seconds.max(1e-9) / 1e6;
    text + &format!(
        "{} thread instructions in {:.6} s ({rate:.1} M/s)\n",
        execution.thread_instructions, execution.seconds
    )
}

/// The type of the channels of texels.
fn channels(resource: &Resource) -> Option<ScalarType> {
    ScalarType::from_name(resource.texels()?.image.format().ty.name())
}

/// `3 x u32: 1, 2, 3`
fn elements(bytes: &[u8], element: Option<ScalarType>) -> String {
    const SHOWN: usize = 16;
    let ty = element.unwrap_or(ScalarType::B8);
    let size = ty.bytes().unwrap_or(1).max(1) as usize;
    let elements = bytes.chunks_exact(size).take(SHOWN);
    let mut elements: Vec<String> =
        elements.map(|element| literal::decode(ty, element).to_string()).collect();
    let count = bytes.len() / size;
    if count > SHOWN {
        elements.push("..".into());
    }
    format!("{count} x {ty}: {}", elements.join(", "))
}

/// The members that every error has.
pub(super) fn error(code: &str, message: &str) -> Value {
    json!({"code": code, "message": message, "ptx_line": null, "block": null, "thread": null})
}
