//! Memory, and the PTX as what is disassembled.

use super::session::Session;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use warpsmith_interp::observe::View;
use warpsmith_isa::StateSpace;

/// The most bytes that are read at once.
const MOST_BYTES: u64 = 1 << 20;
/// The most instructions that are shown at once.
const MOST_INSTRUCTIONS: u64 = 1 << 16;
/// Instructions have addresses from here on, one each, so that editors can ask for what is before the first.
const FIRST: u64 = 0x10_0000;

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Session<'_, '_> {
    /// The address that a request means.
    fn address(arguments: &Value) -> Result<u64, String> {
        let reference = arguments.get("memoryReference").and_then(Value::as_str).unwrap_or_default();
        let start = number(reference).ok_or_else(|| format!("`{reference}` is not an address."))?;
        let offset = arguments.get("offset").and_then(Value::as_i64).unwrap_or(0);
        Ok(start.wrapping_add_signed(offset))
    }

    /// Bytes at a generic address, as the thread in focus sees them, up to the first that is not there.
    pub(super) fn read_memory(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let focus = self.debugger.focus.ok_or("No thread is selected.")?;
        let address = Self::address(arguments)?;
        let wanted = arguments.get("count").and_then(Value::as_u64).unwrap_or(0);
        let count = wanted.min(MOST_BYTES);
        let mut bytes: Vec<u8> = Vec::new();
        let mut step = count;
        while (bytes.len() as u64) < count && step > 0 {
            let step_now = step.min(count - bytes.len() as u64);
            let mut part = vec![0; step_now as usize];
            let at = address.wrapping_add(bytes.len() as u64);
            match view.read(focus.warp, focus.lane, StateSpace::Generic, at, &mut part) {
                Ok(()) => bytes.append(&mut part),
                Err(_) => step = step_now / 2,
            }
        }
        let missing = wanted - bytes.len() as u64;
        Ok(
            json!({"address": format!("{address:#x}"), "data": STANDARD.encode(bytes), "unreadableBytes": missing}),
        )
    }

    pub(super) fn write_memory(&mut self, arguments: &Value, view: &mut View<'_>) -> Result<Value, String> {
        let focus = self.debugger.focus.ok_or("No thread is selected.")?;
        let address = Self::address(arguments)?;
        let data = arguments.get("data").and_then(Value::as_str).unwrap_or_default();
        let bytes = STANDARD.decode(data).map_err(|error| format!("`data` is not base64: {error}"))?;
        view.write(focus.warp, focus.lane, StateSpace::Generic, address, &bytes)?;
        Ok(json!({"bytesWritten": bytes.len()}))
    }

    /// The address of a statement.
    pub(super) fn instruction_at(&self, pc: u32) -> String {
        let before = self.debugger.symbols.statements_from(0).partition_point(|start| *start < pc);
        format!("{:#x}", FIRST + before as u64)
    }

    /// The statement at an address.
    pub(super) fn statement(&self, reference: &str, offset: i64) -> Result<u32, String> {
        let at = number(reference).ok_or_else(|| format!("`{reference}` is not an instruction."))?;
        let index =
            at.wrapping_add_signed(offset).checked_sub(FIRST).and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| self.debugger.symbols.statements_from(0).get(index));
        found.copied().ok_or_else(|| format!("No instruction at {reference}."))
    }

    /// Statements of the PTX around an address, as many as are asked for.
    pub(super) fn disassemble(&mut self, arguments: &Value) -> Result<Value, String> {
        let start = Self::address(arguments)?;
        let skipped = arguments.get("instructionOffset").and_then(Value::as_i64).unwrap_or(0);
        let count =
            arguments.get("instructionCount").and_then(Value::as_u64).unwrap_or(0).min(MOST_INSTRUCTIONS);
        let start = start.wrapping_add_signed(skipped);
        let starts = self.debugger.symbols.statements_from(0).to_vec();
        let mut instructions = Vec::new();
        for address in (0..count).map(|i| start.wrapping_add(i)) {
            let index = address.checked_sub(FIRST).and_then(|index| usize::try_from(index).ok());
            let Some(pc) = index.and_then(|index| starts.get(index)).copied() else {
                let (address, nothing) = (format!("{address:#x}"), "");
                instructions
                    .push(json!({"address": address, "instruction": nothing, "presentationHint": "invalid"}));
                continue;
            };
            let symbols = &self.debugger.symbols;
            let line = symbols.program.line(pc);
            let mut row = json!({
                "address": format!("{address:#x}"), "instruction": symbols.sources.text(line),
                "location": self.ptx(), "line": self.connection.line_out(line),
            });
            if index == Some(0) || symbols.function(pc) != symbols.function(starts[index.unwrap_or(1) - 1]) {
                row["symbol"] = symbols.shown_function(pc).into();
            }
            instructions.push(row);
        }
        Ok(json!({"instructions": instructions}))
    }
}
