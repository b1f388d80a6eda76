//! Bars in SVG.

use super::escape;

/// A row of a chart.
pub(super) struct Bar {
    /// What it is about.
    pub label: String,
    /// The line of PTX it leads to.
    pub line: Option<u32>,
    /// Lengths, one after the other, with the classes that colour them.
    pub parts: Vec<(&'static str, u64)>,
    /// What stands behind it.
    pub note: String,
}

const WIDTH: u32 = 600;
const ROW: u32 = 22;
/// Where bars start: after lines of code, and after single words.
const LABEL: u32 = 260;
const SHORT_LABEL: u32 = 90;
const NOTE: u32 = 140;

/// A chart, unless it would be empty.
pub(super) fn bars(out: &mut String, title: &str, what: &str, rows: Vec<Bar>) {
    let length = |bar: &Bar| bar.parts.iter().map(|(_, n)| n).sum::<u64>();
    let Some(longest) = rows.iter().map(length).max().filter(|n| *n > 0) else { return };
    let height = ROW * rows.len() as u32 + 4;
    let start = if rows.iter().any(|bar| bar.line.is_some()) { LABEL } else { SHORT_LABEL };
    let room = f64::from(WIDTH - start - NOTE);
    // Writing to a string does not fail.
    put!(
        out,
        "<figure><figcaption>{title}<small>{what}</small></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">"
    );
    for (bar, y) in rows.iter().zip((0..).step_by(ROW as usize)) {
        let base = y + ROW - 7;
        let (full, label) = (escape(&bar.label), shortened(&bar.label, 29));
        let label = escape(&label);
        match bar.line {
            Some(line) => put!(
                out,
                "<a href=\"#p{line}\"><title>{full}</title><text class=\"n\" x=\"36\" y=\"{base}\">{line}</text>\
                 <text x=\"44\" y=\"{base}\">{label}</text></a>"
            ),
            None => put!(out, "<text x=\"4\" y=\"{base}\">{label}</text>"),
        };
        let mut x = f64::from(start);
        for (class, value) in &bar.parts {
            let width = *value as f64 / longest as f64 * room;
            put!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"{}\"><title>{value}</title></rect>",
                y + 4,
                ROW - 7
            );
            x += width;
        }
        put!(out, "<text class=\"v\" x=\"{:.1}\" y=\"{base}\">{}</text>", x + 5.0, escape(&bar.note));
    }
    out.push_str("</svg></figure>\n");
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    let mut cut: String = text.chars().take(most - 1).collect();
    cut.push('\u{2026}');
    cut
}
