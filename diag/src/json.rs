//! Findings for programs, as the JSON contract of `docs/diagnostics.md` has them.

use crate::{Diagnostic, LineIndex, Source, Span, reference};
use serde_json::{Value, json};

/// One finding about `source`.
pub fn diagnostic(source: &Source, diagnostic: &Diagnostic) -> Value {
    let lines = &source.lines();
    let Diagnostic { severity, code, message, span, labels, notes, suggestions, section, origin } =
        diagnostic;
    let value = json!({
        "code": code,
        "severity": severity.to_string(),
        "message": message,
        "file": source.name(),
        "notes": notes,
        "section": section.map(reference),
        "origin": origin.as_ref().map(|origin| json!({
            "function": origin.function,
            "instruction": origin.instruction,
            "file": origin.place.as_ref().map(|place| &place.file),
            "line": origin.place.as_ref().map(|place| place.line),
            "column": origin.place.as_ref().map(|place| place.column),
        })),
        "labels": labels.iter().map(|(span, label)| place(lines, *span, json!({"message": label}))).collect::<Vec<_>>(),
        "suggestions": suggestions.iter().map(|s| {
            place(lines, s.span, json!({"message": s.message, "replacement": s.replacement, "certain": s.certain}))
        }).collect::<Vec<_>>(),
    });
    place(lines, *span, value)
}

/// Adds a span in all its ways: lines and columns from 1, and bytes from 0; the end is past the last. Null for what has no text.
fn place(lines: &LineIndex<'_>, span: Span, mut value: Value) -> Value {
    let [start, end] = [span.start, span.end].map(|offset| (!span.is_none()).then(|| lines.position(offset)));
    value["line"] = start.map(|p| p.line).into();
    value["column"] = start.map(|p| p.column).into();
    value["end_line"] = end.map(|p| p.line).into();
    value["end_column"] = end.map(|p| p.column).into();
    value["span"] = if span.is_none() { Value::Null } else { json!({"start": span.start, "end": span.end}) };
    value
}
