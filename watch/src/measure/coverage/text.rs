//! Coverage as a listing.

use super::{Coverage, LineCoverage, Part, reached};
use std::collections::{BTreeMap, BTreeSet};

impl Coverage<'_> {
    /// A listing of the functions of the PTX, every line with its executions, then of the files of the source. `texts` gives the lines of
    /// those that can be shown.
    pub fn text(&self, texts: &BTreeMap<String, String>) -> String {
        let mut out = String::new();
        let (instructions, lines, outcomes) = (self.instructions(), self.reached_lines(), self.outcomes());
        // Writing to a string does not fail.
        putln!(
            out,
            "{}: {}, {}, {}",
            self.sources.name(),
            part(instructions, "instructions"),
            part(lines, "lines"),
            part(outcomes, "outcomes of branches")
        );
        for f in &self.functions {
            putln!(out, "\n{}: entered by {} threads", f.name, f.entered);
            header(&mut out);
            let lines = self.sources.source().lines();
            for number in f.lines.0..=f.lines.1 {
                let text = String::from_utf8_lossy(lines.line(number));
                row(&mut out, number, self.line(number), text.trim_end());
            }
        }
        for (file, lines) in &self.files {
            putln!(out, "\n{file}: {}", part(reached(lines), "lines"));
            header(&mut out);
            let text: Vec<&str> = texts.get(file).map_or_else(Vec::new, |t| t.lines().collect());
            let (first, last) = (lines.keys().next().copied().unwrap_or(1), lines.keys().last().copied());
            // `.loc` may name lines that the file does not have.
            let mut numbers: BTreeSet<u32> = lines.keys().copied().collect();
            numbers.extend(first..=last.unwrap_or(0).min(text.len() as u32));
            for number in numbers {
                let shown = (number as usize).checked_sub(1).and_then(|i| text.get(i)).copied();
                row(&mut out, number, lines.get(&number), shown.unwrap_or_default().trim_end());
            }
        }
        out
    }
}

fn part(p: Part, of: &str) -> String {
    format!("{} of {} {of} ({:.1} %)", p.reached, p.all, p.percent())
}

fn header(out: &mut String) {
    putln!(out, "{:>12} {:>9}  {:<26} {:>5}", "threads", "warps", "branch", "line");
}

fn row(out: &mut String, number: u32, line: Option<&LineCoverage>, text: &str) {
    let Some(line) = line else {
        putln!(out, "{}", format!("{:56}{number:>5}  {text}", "").trim_end());
        return;
    };
    let threads = match line.executed {
        0 => "#####".into(),
        _ => line.executions.threads.to_string(),
    };
    let branch = match (line.branch, line.outcomes.len()) {
        _ if line.executed == 0 && !line.outcomes.is_empty() => "never reached".into(),
        (Some(o), 2) => {
            let diverged = if o.divergent > 0 { format!(", {} split", o.divergent) } else { String::new() };
            format!("{} / {}{diverged}", o.taken, o.not_taken)
        }
        (_, 0) => String::new(),
        _ => {
            let taken = line.outcomes.iter().filter(|o| **o > 0).count();
            format!("{taken} of {} outcomes", line.outcomes.len())
        }
    };
    let row = format!("{threads:>12} {:>9}  {branch:<26} {number:>5}  {text}", line.executions.warps);
    putln!(out, "{}", row.trim_end());
}
