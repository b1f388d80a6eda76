//! Diagnostics as people read them (in the look of rustc) and as programs do (JSON). The only place that draws.

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::ops::Range;
use warpsmith::isa::diagnostic::{Diagnostic, LineIndex, MANUAL, Severity, Span};

/// More than this many findings of one file help nobody.
const MOST_SHOWN: usize = 50;

/// Sources with longer lines are quoted by position only: no terminal shows them.
const LONGEST_LINE: usize = 400;

/// Prints the findings about one source on standard error.
pub fn show(name: &str, source: &str, diagnostics: &[Diagnostic]) {
    if diagnostics.is_empty() {
        return;
    }
    let terminal = std::io::stderr().is_terminal();
    let renderer = if terminal { Renderer::styled() } else { Renderer::plain() };
    let lines = LineIndex::new(source);
    let quotable = source.len() < 1 << 24 && source.lines().all(|line| line.len() <= LONGEST_LINE);
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
        if quotable {
            text += &draw(&renderer, name, source, diagnostic);
            text += "\n\n";
        } else {
            text += &format!("{name}:{}\n", diagnostic.render(&lines));
        }
    }
    if diagnostics.len() > MOST_SHOWN {
        text += &format!("{name}: {} more findings\n", diagnostics.len() - MOST_SHOWN);
    }
    // If standard error is closed there is nobody to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn draw(renderer: &Renderer, name: &str, source: &str, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let quote = (!diagnostic.span.is_none()).then(|| {
        let at_primary = |span: &Span| *span == diagnostic.span;
        let labels = diagnostic.labels.iter().filter(|(span, _)| !span.is_none() && !at_primary(span));
        let labels = labels.map(|(span, label)| {
            AnnotationKind::Context.span(characters(source, *span)).label(label.as_str())
        });
        let mut primary = AnnotationKind::Primary.span(characters(source, diagnostic.span));
        if let Some((_, label)) = diagnostic.labels.iter().find(|(span, _)| at_primary(span)) {
            primary = primary.label(label.as_str());
        }
        Element::from(Snippet::source(source).path(name).annotation(primary).annotations(labels))
    });
    let note = |text: String| Element::from(Level::NOTE.message(text));
    let notes = diagnostic.notes.iter().cloned().map(note);
    let help = diagnostic.suggestions.iter().map(|s| Element::from(Level::HELP.message(s.to_string())));
    let section = diagnostic.section.map(|section| note(format!("see {MANUAL}, {section}")));
    renderer.render(&[title.elements(quote.into_iter().chain(notes).chain(help).chain(section))])
}

/// The span as a range that starts and ends between characters.
fn characters(source: &str, span: Span) -> Range<usize> {
    let range = span.range(source.len());
    source.floor_char_boundary(range.start)..source.ceil_char_boundary(range.end)
}

/// One finding as the JSON contract of `docs/diagnostics.md` has it.
pub fn json(name: &str, lines: &LineIndex<'_>, diagnostic: &Diagnostic) -> Value {
    let Diagnostic { severity, code, message, span, labels, notes, suggestions, section } = diagnostic;
    let mut value = json!({
        "code": code,
        "severity": severity.to_string(),
        "message": message,
        "file": name,
        "notes": notes,
        "section": section.map(|section| format!("{MANUAL}, {section}")),
        "labels": labels.iter().map(|(span, label)| place(lines, *span, json!({"message": label}))).collect::<Vec<_>>(),
        "suggestions": suggestions.iter().map(|s| {
            place(lines, s.span, json!({"message": s.message, "replacement": s.replacement, "certain": s.certain}))
        }).collect::<Vec<_>>(),
    });
    value = place(lines, *span, value);
    value
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
