//! Findings as people read them, in the look of rustc. The only place that draws.

use crate::list::compact;
use crate::{Diagnostic, Severity, Source, Span, reference};
use annotate_snippets::{AnnotationKind, Element, Level, Snippet};
use std::ops::Range;

/// More than this many findings of one text help nobody.
const MOST_SHOWN: usize = 50;

/// The longest line that is quoted: no terminal shows more.
const LONGEST_LINE: usize = 400;

/// The size of the largest text that is quoted.
const LARGEST_TEXT: usize = 1 << 24;

/// Draws findings with the source lines that they are about.
///
/// ```
/// use warpsmith_diag::{Diagnostic, Renderer, Source, Span};
///
/// let source = Source::new("k.ptx", "add.u33 %r1, %r2, %r3;\n");
/// let finding = Diagnostic::error("P0601", Span::new(3, 7), "unknown modifier `.u33`");
/// assert_eq!(
///     Renderer::plain().diagnostic(&source, &finding),
///     "error[P0601]: unknown modifier `.u33`
///  --> k.ptx:1:4
///   |
/// 1 | add.u33 %r1, %r2, %r3;
///   |    ^^^^",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Renderer(annotate_snippets::Renderer);

impl Renderer {
    /// Without colours: for files and tests.
    pub const fn plain() -> Renderer {
        Renderer(annotate_snippets::Renderer::plain())
    }

    /// With the colours of a terminal.
    pub const fn styled() -> Renderer {
        Renderer(annotate_snippets::Renderer::styled())
    }

    /// The findings about a text, each followed by an empty line; of very many, the first and how many are left.
    ///
    /// Where the text is too large or has lines too long to be quoted, each finding is in the compact form of [`Diagnostic::render`].
    pub fn diagnostics(&self, source: &Source, findings: &[Diagnostic]) -> String {
        let quotable = quotable(source);
        let mut text = String::new();
        for finding in findings.iter().take(MOST_SHOWN) {
            text += &match quotable {
                true => format!("{}\n\n", self.draw(source, finding)),
                false => compact(source, finding) + "\n",
            };
        }
        if findings.len() > MOST_SHOWN {
            text += &format!("{}: {} more findings\n", source.name(), findings.len() - MOST_SHOWN);
        }
        text
    }

    /// One finding, without a newline at its end.
    pub fn diagnostic(&self, source: &Source, finding: &Diagnostic) -> String {
        match quotable(source) {
            true => self.draw(source, finding),
            false => compact(source, finding),
        }
    }

    fn draw(&self, source: &Source, diagnostic: &Diagnostic) -> String {
        let text = source.text();
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
        let quote = (!diagnostic.span.is_none()).then(|| {
            let at_primary = |span: &Span| *span == diagnostic.span;
            let under = diagnostic.labels.iter().position(|(span, _)| at_primary(span));
            let others = diagnostic.labels.iter().enumerate().filter(|(i, _)| Some(*i) != under);
            let others = others.map(|(_, label)| label).filter(|(span, _)| !span.is_none());
            let labels = others.map(|(span, label)| {
                AnnotationKind::Context.span(characters(text, *span)).label(label.as_str())
            });
            let mut primary = AnnotationKind::Primary.span(characters(text, diagnostic.span));
            if let Some((_, label)) = under.map(|i| &diagnostic.labels[i]) {
                primary = primary.label(label.as_str());
            }
            Element::from(Snippet::source(text).path(source.name()).annotation(primary).annotations(labels))
        });
        let note = |text: String| Element::from(Level::NOTE.message(text));
        let notes = diagnostic.notes.iter().cloned().map(note);
        let help = diagnostic.suggestions.iter().map(|s| Element::from(Level::HELP.message(s.to_string())));
        let section = diagnostic.section.map(|section| note(format!("see {}", reference(section))));
        self.0.render(&[title.elements(quote.into_iter().chain(notes).chain(help).chain(section))])
    }
}

fn quotable(source: &Source) -> bool {
    let text = source.text();
    !source.is_none() && text.len() < LARGEST_TEXT && text.lines().all(|line| line.len() <= LONGEST_LINE)
}

/// The span as a range that starts and ends between characters.
fn characters(source: &str, span: Span) -> Range<usize> {
    let range = span.range(source.len());
    source.floor_char_boundary(range.start)..source.ceil_char_boundary(range.end)
}
