//! The source beside the PTX, with what was counted per line.

use super::{Page, escape, short};
use crate::measure::coverage::LineCoverage;
use crate::measure::profile::LineProfile;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of PTX past the last that has code that are shown.
const TAIL: usize = 3;

/// The panes: PTX, and the files of the source on its left if the module names any.
pub(super) fn panes(out: &mut String, page: &Page<'_>) {
    let coverage = page.coverage;
    // Numbers denote the files in links between the panes.
    let files: BTreeMap<&str, usize> = coverage.files().keys().map(String::as_str).zip(0..).collect();
    // Writing to a string does not fail.
    put!(out, "<main class=\"{}\">", if files.is_empty() { "one" } else { "two" });
    if !files.is_empty() {
        out.push_str("<section class=\"pane\" id=\"source\"><nav>");
        for (file, number) in &files {
            let on = if *number == 0 { " class=\"on\"" } else { "" };
            let (name, last) = (escape(file), escape(file.rsplit('/').next().unwrap_or(file)));
            put!(out, "<button{on} data-file=\"{number}\" title=\"{name}\">{last}</button>");
        }
        out.push_str("</nav>");
        for (file, number) in &files {
            source(out, page, file, *number);
        }
        out.push_str("</section>\n");
    }
    let name = escape(coverage.sources.name());
    put!(out, "<section class=\"pane\" id=\"ptx\"><nav><button class=\"on\">{name}</button></nav>");
    ptx(out, page, &files);
    out.push_str("</section></main>\n");
}

/// The greatest count, for the scale of the heat.
fn hottest<'a>(lines: impl Iterator<Item = &'a LineCoverage>) -> u64 {
    lines.map(|l| l.total.warps).max().unwrap_or(0).max(1)
}

const HEAD: &str = "<table><thead><tr><th>line</th><th title=\"executions of threads\">threads</th>\
                    <th title=\"executions of warps\">warps</th><th title=\"lanes that execute, of 32\">lanes</th>\
                    <th></th></tr></thead><tbody>";

fn source(out: &mut String, page: &Page<'_>, file: &str, number: usize) {
    let Some(lines) = page.coverage.files().get(file) else { return };
    let hidden = if number == 0 { "" } else { " hidden" };
    put!(out, "<div class=\"file\" data-file=\"{number}\"{hidden}>{HEAD}");
    let text: Vec<&str> = page.texts.get(file).map_or_else(Vec::new, |t| t.lines().collect());
    let most = hottest(lines.values());
    // The lines that the file has, and those that have code; without its text, only these.
    let mut numbers: BTreeSet<u32> = lines.keys().copied().collect();
    numbers.extend(1..=text.len() as u32);
    let mut next = 1;
    for line in numbers {
        let count = lines.get(&line);
        if line > next {
            out.push_str("<tr class=\"gap\"><td colspan=\"5\"></td></tr>");
        }
        next = line.saturating_add(1);
        let code = match (line as usize).checked_sub(1).and_then(|i| text.get(i)) {
            Some(text) => commented(text.trim_end(), comment_mark(file)),
            None => "<i>the file could not be read</i>".into(),
        };
        let attributes = format!("id=\"s{number}-{line}\" data-src=\"{number}-{line}\"");
        row(out, &attributes, line, count, None, most, &code);
    }
    out.push_str("</tbody></table></div>");
}

fn ptx(out: &mut String, page: &Page<'_>, files: &BTreeMap<&str, usize>) {
    let coverage = page.coverage;
    let text: Vec<&str> = coverage.sources.lines().collect();
    let last = coverage.lines().keys().last().map_or(0, |l| *l as usize);
    let end = text.len().min(last + TAIL);
    let most = hottest(coverage.lines().values());
    out.push_str(HEAD);
    for (line, shown) in (1u32..).zip(&text[..end]) {
        let mut attributes = format!("id=\"p{line}\"");
        if let Some(frame) = coverage.sources.frames(line).first()
            && let Some(file) = files.get(frame.file.as_str())
        {
            let place = frame.to_string();
            put!(attributes, " data-src=\"{file}-{}\" title=\"{}\"", frame.line, escape(&place));
        }
        let profile = page.profile.and_then(|p| p.line(line));
        row(out, &attributes, line, coverage.line(line), profile, most, &highlighted(shown.trim_end()));
    }
    if end < text.len() {
        let rest = text.len() - end;
        put!(out, "<tr class=\"gap\"><td colspan=\"5\">{rest} more lines without code</td></tr>");
    }
    out.push_str("</tbody></table>");
}

fn row(
    out: &mut String,
    attributes: &str,
    line: u32,
    count: Option<&LineCoverage>,
    profile: Option<&LineProfile>,
    most: u64,
    code: &str,
) {
    let Some(count) = count else {
        let cells = "<td></td><td></td><td></td>";
        putln!(out, "<tr {attributes}><td>{line}</td>{cells}<td><pre>{code}</pre></td></tr>");
        return;
    };
    let reached = match count.executed {
        0 => "miss",
        n if n < count.statements => "some",
        _ => "hit",
    };
    let (e, total) = (count.executions, count.total);
    let heat = ((total.warps + 1) as f64).ln() / ((most + 1) as f64).ln();
    put!(
        out,
        "<tr class=\"{reached}\" {attributes}><td>{line}</td>\
         <td class=\"count\" style=\"--h:{heat:.2}\" title=\"{} threads\">{}</td><td title=\"{} warps\">{}</td>",
        e.threads,
        short(e.threads),
        e.warps,
        short(e.warps)
    );
    if total.warps > 0 {
        let lanes = total.threads as f64 / total.warps as f64;
        put!(
            out,
            "<td class=\"lanes\" title=\"{lanes:.1} of 32 lanes\"><div><span style=\"width:{:.0}%\"></span></div></td>",
            100.0 * lanes / 32.0
        );
    } else {
        out.push_str("<td></td>");
    }
    put!(out, "<td><pre>{code}</pre>");
    badges(out, count, profile);
    out.push_str("</td></tr>\n");
}

/// What is to be said of a line behind it.
fn badges(out: &mut String, count: &LineCoverage, profile: Option<&LineProfile>) {
    let mut badge = |class: &str, title: &str, text: &str| {
        put!(out, "<span class=\"badge{class}\" title=\"{title}\">{text}</span>");
    };
    if let (Some(b), 2) = (count.branch, count.outcomes.len()) {
        let all = (b.taken + b.not_taken).max(1) as f64;
        let one_way = if b.taken == 0 || b.not_taken == 0 { " never" } else { "" };
        let title = format!("{} threads jump, {} do not", b.taken, b.not_taken);
        badge(one_way, &title, &format!("jumps {:.0} %", 100.0 * b.taken as f64 / all));
        if b.divergent > 0 {
            let title = "warps of which some threads jump and some do not";
            badge(" split", title, &format!("{} diverge", short(b.divergent)));
        }
    } else if !count.outcomes.is_empty() {
        let taken = count.outcomes.iter().filter(|o| **o > 0).count();
        let never = if taken < count.outcomes.len() { " never" } else { "" };
        badge(never, "outcomes of branches", &format!("{taken} of {} outcomes", count.outcomes.len()));
        if let Some(divergent) = profile.and_then(|p| p.branch).map(|b| b.divergent).filter(|n| *n > 0) {
            badge(" split", "executions after which threads part", &format!("{} diverge", short(divergent)));
        }
    }
    let Some(m) = profile.and_then(|p| p.memory.as_ref()) else { return };
    if let Some(efficiency) = m.sectors.efficiency() {
        let class = if efficiency < 0.6 { " bad" } else { "" };
        let per = m.sectors.moved as f64 / m.requests.max(1) as f64;
        let title = format!("{} sectors of 32 bytes, {} needed", m.sectors.moved, m.sectors.needed);
        badge(class, &title, &format!("{per:.1} sectors, {:.0} % needed", 100.0 * efficiency));
    }
    if m.passes.excess() > 0 {
        let title = format!("{} passes in {} requests", m.passes.moved, m.requests);
        badge(" bad", &title, &format!("{} bank conflicts, {}-way", short(m.passes.excess()), m.worst));
    }
}

/// How a comment starts in the language of a file.
fn comment_mark(file: &str) -> &'static str {
    match file.rsplit('.').next() {
        Some("wir" | "ll") => ";",
        Some("py") => "#",
        _ => "//",
    }
}

/// A line with its comment marked.
fn commented(text: &str, mark: &str) -> String {
    match text.find(mark) {
        Some(at) => format!("{}<i>{}</i>", escape(&text[..at]), escape(&text[at..])),
        None => escape(text).into_owned(),
    }
}

/// PTX with comments, labels, directives, opcodes and registers marked.
fn highlighted(text: &str) -> String {
    let (code, comment) = text.split_at(text.find("//").unwrap_or(text.len()));
    let mut out = String::with_capacity(2 * text.len());
    let mut rest = code;
    // The first word of a statement is its opcode; a guard and labels stand before it.
    let (mut first, mut directive) = (true, false);
    while let Some(c) = rest.chars().next() {
        let word = |more: &str| {
            let ends = |c: char| !(c.is_alphanumeric() || more.contains(c));
            let start = c.len_utf8();
            start + rest[start..].find(ends).unwrap_or(rest.len() - start)
        };
        let (class, length) = match c {
            '%' => ("r", word("_$.")),
            '.' if first || directive => {
                (first, directive) = (false, true);
                ("d", word("_.:"))
            }
            '"' => ("q", rest[1..].find('"').map_or(rest.len(), |end| end + 2)),
            'a'..='z' | 'A'..='Z' | '_' | '$' => {
                let end = word("_$.:");
                let is_label = first && rest[..end].ends_with(':') && !rest[..end].ends_with("::");
                let opcode = first && !is_label;
                first &= is_label;
                (
                    if is_label {
                        "l"
                    } else if opcode {
                        "o"
                    } else {
                        ""
                    },
                    end,
                )
            }
            '0'..='9' => ("n", word(".")),
            _ => {
                if matches!(c, ';' | '{' | '}') {
                    (first, directive) = (true, false);
                }
                ("", c.len_utf8())
            }
        };
        let (this, after) = rest.split_at(length);
        rest = after;
        match class {
            "" => put!(out, "{}", escape(this)),
            _ => put!(out, "<b class=\"{class}\">{}</b>", escape(this)),
        };
    }
    if !comment.is_empty() {
        put!(out, "<i>{}</i>", escape(comment));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_marked() {
        let shown = highlighted("@%p bra L1; // \"x\" <y>");
        let expected = "@<b class=\"r\">%p</b> <b class=\"o\">bra</b> L1; <i>// &quot;x&quot; &lt;y&gt;</i>";
        assert_eq!(shown, expected);
        assert!(
            highlighted("ld.shared::cta.b32 %r1, [a+4];")
                .starts_with("<b class=\"o\">ld.shared::cta.b32</b> ")
        );
        assert!(highlighted("done: ret;").starts_with("<b class=\"l\">done:</b> <b class=\"o\">ret</b>"));
        assert_eq!(commented("a = b; // c", comment_mark("k.cu")), "a = b; <i>// c</i>");
        assert_eq!(commented("%a = b ; c", comment_mark("k.wir")), "%a = b <i>; c</i>");
    }
}
