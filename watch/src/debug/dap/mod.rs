//! The debugger behind the [Debug Adapter Protocol](https://microsoft.github.io/debug-adapter-protocol/), so that editors step through kernels.
//!
//! A [`Connection`] carries messages. [`Connection::handshake`] answers them until the editor asks for a launch; whoever calls makes the
//! [`Subject`] of it, and [`serve`] does the rest. `docs/editors.md` describes what editors see.

mod arguments;
mod breakpoints;
mod completions;
mod memory;
mod session;
mod sources;
mod threads;
mod variables;
mod wire;

pub use arguments::{LaunchArguments, Settings};
pub use session::{Output, Subject, serve};
pub use wire::{Connection, Request};

use serde_json::{Value, json};

/// What the adapter can do beyond what every adapter must.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsDataBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsEvaluateForHovers": true,
        "supportsCompletionsRequest": true,
        "supportsClipboardContext": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsSteppingGranularity": true,
        "supportsExceptionInfoRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsDisassembleRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "exceptionBreakpointFilters": [
            {"filter": "fault", "label": "Faults", "default": true,
             "description": "Accesses to memory that is not there, traps, deadlocks, ..."},
            {"filter": "error", "label": "Errors of checkers", "default": true,
             "description": "What the checkers of `check` find: races, uses of undefined values, ..."},
            {"filter": "warning", "label": "Warnings of checkers", "default": false,
             "description": "What may be as intended"},
        ],
    })
}

impl Connection {
    /// Answers until the editor asks for a launch, which is given with the request; `None` if it goes away.
    pub fn handshake(&mut self) -> Option<Request> {
        while let Some(request) = self.next_request() {
            match request.command.as_str() {
                "initialize" => {
                    if request.arguments.get("linesStartAt1") == Some(&Value::Bool(false)) {
                        self.count_lines_from_zero();
                    }
                    self.respond(&request, capabilities());
                }
                "launch" => return Some(request),
                "attach" => self.refuse(
                    &request,
                    "a kernel is launched here, there is nothing to attach to: use \"request\": \"launch\"",
                ),
                "disconnect" | "terminate" => {
                    self.respond(&request, json!({}));
                    return None;
                }
                command => self.refuse(&request, &format!("`{command}` before `launch`")),
            }
        }
        None
    }
}
