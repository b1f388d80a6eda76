//! Coverage in the format of LCOV's `geninfo`, which most tools that show coverage read.

use super::{Coverage, FunctionCoverage, LineCoverage};
use std::collections::BTreeMap;

impl Coverage<'_> {
    /// A record for the PTX, with its functions, and one for each file of the source; of PTX that is in no file, only those. Counts are executions of threads; a branch that
    /// was never reached has outcomes `-`.
    pub fn lcov(&self) -> String {
        let mut out = String::new();
        let in_no_file = self.sources.is_compiled() && !self.files.is_empty();
        if !in_no_file {
            let own = self.functions.iter().map(|f| (f.lines.0, f));
            record(&mut out, self.sources.name(), &functions(own), &self.lines);
        }
        for (file, lines) in &self.files {
            let here = self.functions.iter().filter(|_| in_no_file).filter_map(|f| {
                // The function that the others were inlined into.
                let at = (f.lines.0..=f.lines.1).find_map(|line| self.sources.frames(line).last())?;
                (at.file == *file).then_some((at.line, f))
            });
            let here: Vec<_> = here.collect();
            let text = if here.is_empty() { String::new() } else { functions(here.into_iter()) };
            record(&mut out, file, &text, lines);
        }
        out
    }
}

/// Functions with their lines.
fn functions<'f>(list: impl Iterator<Item = (u32, &'f FunctionCoverage)>) -> String {
    let (mut text, mut all, mut entered) = (String::new(), 0, 0);
    for (line, f) in list {
        putln!(text, "FN:{line},{}\nFNDA:{},{}", f.name, f.entered, f.name);
        all += 1;
        entered += u32::from(f.entered > 0);
    }
    putln!(text, "FNF:{all}\nFNH:{entered}");
    text
}

fn record(out: &mut String, name: &str, functions: &str, lines: &BTreeMap<u32, LineCoverage>) {
    // Writing to a string does not fail.
    put!(out, "TN:\nSF:{name}\n{functions}");
    let (mut outcomes, mut taken) = (0, 0);
    for (number, line) in lines {
        for (i, count) in line.outcomes.iter().enumerate() {
            let shown = if line.executed == 0 { "-".into() } else { count.to_string() };
            putln!(out, "BRDA:{number},0,{i},{shown}");
            outcomes += 1;
            taken += u32::from(*count > 0);
        }
    }
    putln!(out, "BRF:{outcomes}\nBRH:{taken}");
    for (number, line) in lines {
        putln!(out, "DA:{number},{}", line.executions.threads);
    }
    let hit = lines.values().filter(|l| l.executed > 0).count();
    putln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len());
}
