//! A profile as tables and as JSON.

use super::memory::{AccessCount, Traffic};
use super::{LineProfile, Profile, Space};
use serde_json::{Value, json};
use warpsmith_interp::observe::Executions;

/// How many of the hottest lines the tables show.
const HOTTEST: usize = 10;

fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".into(), |p| format!("{:.1} %", 100.0 * p))
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all != 0).then(|| part as f64 / all as f64)
}

impl Profile {
    /// Tables for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        for l in &self.launches {
            let ([a, b, c], [x, y, z]) = (l.grid, l.block);
            putln!(out, "{}: {a} x {b} x {c} blocks of {x} x {y} x {z} threads", l.kernel);
        }
        let t = self.total;
        putln!(out, "warp instructions    {:>14}", t.warps);
        putln!(out, "thread instructions  {:>14}", t.threads);
        putln!(
            out,
            "warp efficiency      {:>14}   with guards {}",
            percent(t.efficiency()),
            percent(t.guarded_efficiency())
        );
        putln!(
            out,
            "diverging branches   {:>14}   of {} ({})",
            self.branches.divergent,
            self.branch_executions,
            percent(share(self.branches.divergent, self.branch_executions))
        );
        for (space, count) in &self.spaces {
            putln!(out, "{:<20} {:>14}   requests, {}", space.name(), count.requests, traffic(count));
        }
        putln!(out, "\n{:<10} {:>14} {:>8} {:>16}", "class", "warps", "share", "threads");
        for (class, e) in &self.mix {
            let part = percent(share(e.warps, t.warps));
            putln!(out, "{:<10} {:>14} {part:>8} {:>16}", class.name(), e.warps, e.threads);
        }
        putln!(out, "\n{:>12} {:>8} {:>6}  {:>5}  hottest lines", "warps", "share", "lanes", "line");
        for l in self.hottest(HOTTEST) {
            let part = percent(share(l.executions.warps, t.warps));
            putln!(
                out,
                "{:>12} {part:>8} {:>6}  {:>5}  {}{}",
                l.executions.warps,
                lanes(l.executions),
                l.line,
                l.text,
                place(l)
            );
        }
        let accesses: Vec<&LineProfile> =
            self.lines.iter().filter(|l| l.memory.as_ref().is_some_and(AccessCount::has_cost)).collect();
        if !accesses.is_empty() {
            putln!(
                out,
                "\n{:>5}  {:<7} {:>10} {:>10} {:>8} {:>9} {:>9}  accesses",
                "line",
                "space",
                "requests",
                "moved",
                "per req.",
                "needed",
                "conflicts"
            );
            for l in accesses {
                let Some(m) = &l.memory else { continue };
                let t = m.units();
                let per = t.moved as f64 / m.requests.max(1) as f64;
                putln!(
                    out,
                    "{:>5}  {:<7} {:>10} {:>10} {per:>8.1} {:>9} {:>9}  {}{}{}",
                    l.line,
                    Space::of(m.space).name(),
                    m.requests,
                    t.moved,
                    percent(t.efficiency()),
                    m.passes.excess(),
                    l.text,
                    l.variable.as_ref().map_or_else(String::new, |name| format!("  of {name}")),
                    place(l)
                );
            }
            out.push_str("moved: sectors of 32 bytes, or passes through the banks of shared memory\n");
        }
        out
    }

    /// The same and all lines, for programs.
    pub fn json(&self) -> Value {
        let launches =
            self.launches.iter().map(|l| json!({"kernel": l.kernel, "grid": l.grid, "block": l.block}));
        let mix = self.mix.iter().map(|(class, e)| {
            let mut value = executions(*e);
            value["class"] = class.name().into();
            value
        });
        let lines = self.lines.iter().map(|l| {
            let mut value = executions(l.executions);
            value["line"] = l.line.into();
            value["text"] = l.text.clone().into();
            value["class"] = l.class.name().into();
            if let Some(frame) = l.frames.first() {
                value["source"] = json!({"file": frame.file, "line": frame.line, "function": frame.function});
            }
            if let Some(b) = l.branch {
                value["branch"] =
                    json!({"taken": b.taken, "not_taken": b.not_taken, "divergent": b.divergent});
            }
            if let Some(m) = &l.memory {
                value["memory"] = accesses(m);
                value["variable"] = l.variable.clone().into();
            }
            value
        });
        let spaces = self.spaces.iter().map(|(space, count)| (space.name().to_owned(), accesses(count)));
        json!({
            "launches": launches.collect::<Vec<_>>(),
            "total": executions(self.total),
            "warp_efficiency": self.total.efficiency(),
            "guarded_efficiency": self.total.guarded_efficiency(),
            "branches": {"executions": self.branch_executions, "divergent": self.branches.divergent,
                "taken": self.branches.taken, "not_taken": self.branches.not_taken},
            "mix": mix.collect::<Vec<_>>(),
            "memory": spaces.collect::<serde_json::Map<_, _>>(),
            "lines": lines.collect::<Vec<_>>(),
        })
    }
}

impl AccessCount {
    /// What is counted of its space: passes of shared memory, else sectors.
    pub fn units(&self) -> Traffic {
        if self.space == warpsmith_isa::StateSpace::Shared { self.passes } else { self.sectors }
    }

    /// Something is counted of its space.
    pub fn has_cost(&self) -> bool {
        self.units().moved > 0
    }
}

fn lanes(e: Executions) -> String {
    let lanes = e.threads as f64 / e.warps.max(1) as f64;
    format!("{lanes:.1}")
}

fn place(line: &LineProfile) -> String {
    line.frames.first().map_or_else(String::new, |frame| format!("  ({frame})"))
}

fn traffic(count: &AccessCount) -> String {
    let mut parts = vec![format!("{} bytes asked for", count.bytes)];
    if count.sectors.moved > 0 {
        let per = count.sectors.moved as f64 / count.requests.max(1) as f64;
        let needed = percent(count.sectors.efficiency());
        parts.push(format!(
            "{} sectors ({per:.1} per request, {needed} needed), {} lines",
            count.sectors.moved, count.lines
        ));
    }
    if count.passes.moved > 0 {
        parts.push(format!(
            "{} passes, {} of them conflicts (at worst {}-way)",
            count.passes.moved,
            count.passes.excess(),
            count.worst
        ));
    }
    parts.join(", ")
}

fn executions(e: Executions) -> Value {
    json!({"warps": e.warps, "threads": e.threads, "lanes": e.lanes})
}

fn accesses(m: &AccessCount) -> Value {
    json!({
        "space": Space::of(m.space).name(), "requests": m.requests, "threads": m.threads, "bytes": m.bytes,
        "sectors": m.sectors.moved, "sectors_needed": m.sectors.needed, "cache_lines": m.lines,
        "coalescing_efficiency": m.sectors.efficiency(),
        "bank_passes": m.passes.moved, "bank_passes_needed": m.passes.needed,
        "bank_conflicts": m.passes.excess(), "worst_conflict": m.worst,
    })
}
