//! Coverage in the format of LCOV's `geninfo`, which most tools that show coverage read.

use super::{Coverage, LineCoverage};
use std::collections::BTreeMap;

impl Coverage<'_> {
    /// A record for the PTX, with its functions, and one for each file of the source. Counts are executions of threads; a branch that
    /// was never reached has outcomes `-`.
    pub fn lcov(&self) -> String {
        let mut out = String::new();
        let mut functions = String::new();
        for f in &self.functions {
            putln!(functions, "FN:{},{}\nFNDA:{},{}", f.lines.0, f.name, f.entered, f.name);
        }
        let entered = self.functions.iter().filter(|f| f.entered > 0).count();
        putln!(functions, "FNF:{}\nFNH:{entered}", self.functions.len());
        record(&mut out, self.sources.name(), &functions, &self.lines);
        for (file, lines) in &self.files {
            record(&mut out, file, "", lines);
        }
        out
    }
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
