//! Coverage and profile as one page: everything is in the file, which any browser opens.

mod chart;
mod listing;

use crate::measure::coverage::{Coverage, Part, reached};
use crate::measure::profile::memory::{AccessCount, Traffic};
use crate::measure::profile::{LineProfile, Profile, Space};
use chart::{Bar, bars};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How many lines a chart shows.
const CHARTED: usize = 12;

/// The page of a run.
pub struct Page<'a> {
    /// What was run.
    pub title: &'a str,
    /// What was reached.
    pub coverage: &'a Coverage<'a>,
    /// What it cost, if that was counted.
    pub profile: Option<&'a Profile>,
    /// The texts of the files of the source that could be read, by the paths that the module gives.
    pub texts: &'a BTreeMap<String, String>,
}

impl Page<'_> {
    /// The page.
    pub fn render(&self) -> String {
        let mut out = String::with_capacity(1 << 16);
        let title = escape(self.title);
        // Writing to a string does not fail.
        put!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{title}</title>\n<style>\n{STYLE}</style></head>\n<body>\n<header><h1>{title}</h1>"
        );
        for l in self.profile.iter().flat_map(|p| &p.launches) {
            let ([a, b, c], [x, y, z], kernel) = (l.grid, l.block, escape(&l.kernel));
            put!(
                out,
                "<p><code>{kernel}</code> on {a}&times;{b}&times;{c} blocks of {x}&times;{y}&times;{z} threads</p>"
            );
        }
        out.push_str("</header>\n");
        out.push_str("<section class=\"cards\">");
        self.cards(&mut out);
        out.push_str("</section>\n");
        if let Some(profile) = self.profile {
            charts(&mut out, profile);
        }
        listing::panes(&mut out, self);
        put!(out, "<script>\n{SCRIPT}</script>\n</body></html>\n");
        out
    }

    fn cards(&self, out: &mut String) {
        let mut card = |name: &str, value: &str, note: &str| {
            put!(out, "<div class=\"card\"><b>{value}</b><span>{name}</span><small>{note}</small></div>");
        };
        let coverage = self.coverage;
        let files = coverage.files().values().map(reached);
        let sources =
            files.fold(Part::default(), |a, b| Part { reached: a.reached + b.reached, all: a.all + b.all });
        for (name, part) in [
            ("instructions reached", coverage.instructions()),
            ("PTX lines reached", coverage.reached_lines()),
            ("source lines reached", sources),
            ("branch outcomes taken", coverage.outcomes()),
        ] {
            if part.all > 0 {
                card(name, &format!("{:.1} %", part.percent()), &format!("{} of {}", part.reached, part.all));
            }
        }
        let Some(p) = self.profile else { return };
        let part = |e: Option<f64>| e.map_or_else(|| "&ndash;".into(), |e| format!("{:.1} %", 100.0 * e));
        card(
            "warp instructions",
            &short(p.total.warps),
            &format!("{} thread instructions", short(p.total.threads)),
        );
        let note = format!("{} with guards", part(p.total.guarded_efficiency()));
        card("warp efficiency", &part(p.total.efficiency()), &note);
        if p.branch_executions > 0 {
            let diverged = p.branches.divergent as f64 / p.branch_executions as f64;
            let note = format!("{} of {} branches", short(p.branches.divergent), short(p.branch_executions));
            card("divergence", &part(Some(diverged)), &note);
        }
        if let Some(Traffic { moved, needed }) =
            p.space(Space::Global).map(|g| g.sectors).filter(|s| s.moved > 0)
        {
            let note = format!("{} sectors, {} needed", short(moved), short(needed));
            card("coalescing, global memory", &part(Some(needed as f64 / moved as f64)), &note);
        }
        if let Some(shared) = p.space(Space::Shared).filter(|s| s.passes.moved > 0) {
            let note = format!("of {} passes, at worst {}-way", short(shared.passes.moved), shared.worst);
            card("bank conflicts", &short(shared.passes.excess()), &note);
        }
    }
}

fn charts(out: &mut String, p: &Profile) {
    out.push_str("<section class=\"charts\">");
    let of = |value: u64| {
        format!("{} ({:.1} %)", short(value), 100.0 * value as f64 / p.total.warps.max(1) as f64)
    };
    let mix = p.mix.iter().map(|(class, e)| Bar {
        label: class.name().into(),
        line: None,
        parts: vec![("main", e.warps)],
        note: of(e.warps),
    });
    bars(out, "Instruction mix", "instructions of warps", mix.collect());
    let of_line =
        |l: &LineProfile, parts, note| Bar { label: l.text.clone(), line: Some(l.line), parts, note };
    let hottest = p.hottest(CHARTED);
    let hottest =
        hottest.iter().map(|l| of_line(l, vec![("main", l.executions.warps)], of(l.executions.warps)));
    bars(out, "Hottest lines", "instructions of warps", hottest.collect());
    let costly = |cost: fn(&AccessCount) -> Traffic| {
        let with_cost = |l| -> Option<(&LineProfile, &AccessCount, Traffic)> {
            let l: &LineProfile = l;
            let m = l.memory.as_ref()?;
            Some((l, m, cost(m))).filter(|(_, _, t)| t.moved > 0)
        };
        let mut lines: Vec<_> = p.lines.iter().filter_map(with_cost).collect();
        lines.sort_by_key(|(_, _, t)| Reverse(t.moved));
        lines.truncate(CHARTED);
        let bar = |(l, m, t): (&LineProfile, &AccessCount, Traffic)| {
            let per = t.moved as f64 / m.requests.max(1) as f64;
            let parts = vec![("good", t.needed), ("bad", t.excess())];
            of_line(l, parts, format!("{} ({per:.1} per request)", short(t.moved)))
        };
        lines.into_iter().map(bar).collect::<Vec<Bar>>()
    };
    bars(out, "Global memory", "sectors of 32 bytes: needed, and moved for nothing", costly(|m| m.sectors));
    bars(out, "Shared memory", "passes through the banks: needed, and conflicts", costly(|m| m.passes));
    let idle = |l: &LineProfile| 32 * l.executions.warps - l.executions.threads;
    let mut diverging: Vec<&LineProfile> = p.lines.iter().filter(|l| idle(l) > 0).collect();
    diverging.sort_by_key(|l| Reverse(idle(l)));
    diverging.truncate(CHARTED);
    let lanes = diverging.into_iter().map(|l| {
        let lanes = l.executions.threads as f64 / l.executions.warps as f64;
        of_line(l, vec![("good", l.executions.threads), ("bad", idle(l))], format!("{lanes:.1} of 32"))
    });
    bars(out, "Idle lanes", "lanes that execute, and lanes that do not", lanes.collect());
    out.push_str("</section>\n");
}

/// Text as HTML.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"))
}

/// A count in a few letters: `1.2 M`.
fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.1} G", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short_and_text_is_text() {
        let shown = [0, 9999, 10_000, 1_234_567, 25_000_000_000].map(short);
        assert_eq!(shown, ["0", "9999", "10.0 k", "1.2 M", "25.0 G"]);
        assert_eq!(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
