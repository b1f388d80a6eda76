//! Diagnostics as people read them (in the look of rustc) and as programs do (JSON). The only place that draws.

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::ops::Range;
use warpsmith::isa::diagnostic::{Diagnostic, LineIndex, Severity, Span};

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
        let labels = diagnostic.labels.iter().filter(|(span, _)| !span.is_none()).map(|(span, label)| {
            AnnotationKind::Context.span(characters(source, *span)).label(label.as_str())
        });
        let primary = AnnotationKind::Primary.span(characters(source, diagnostic.span));
        Element::from(Snippet::source(source).path(name).annotation(primary).annotations(labels))
    });
    let notes = diagnostic.notes.iter().map(|note| Element::from(Level::NOTE.message(note.as_str())));
    renderer.render(&[title.elements(quote.into_iter().chain(notes))])
}

/// The span as a range that starts and ends between characters.
fn characters(source: &str, span: Span) -> Range<usize> {
    let range = span.range(source.len());
    source.floor_char_boundary(range.start)..source.ceil_char_boundary(range.end)
}

/// One finding as the JSON contract has it; labels become notes with their line.
pub fn json(lines: &LineIndex<'_>, diagnostic: &Diagnostic) -> Value {
    let position = (!diagnostic.span.is_none()).then(|| lines.position(diagnostic.span.start));
    let labels = diagnostic.labels.iter().map(|(span, label)| {
        if span.is_none() { label.clone() } else { format!("{}: {label}", lines.position(span.start)) }
    });
    json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.to_string(),
        "message": diagnostic.message,
        "line": position.map(|p| p.line),
        "column": position.map(|p| p.column),
        "notes": labels.chain(diagnostic.notes.iter().cloned()).collect::<Vec<_>>(),
    })
}
