//! `docs/coverage.md`: what the tables hold, family by family, and how far the other parts follow.
//!
//! What the engine executes is not declared anywhere: it is asked, by loading every statement of `tests/oracle` that ptxas
//! accepts. So the page cannot claim more than the engine does.

use crate::in_root;
use std::collections::BTreeMap;
use warpsmith::interp::Program;
use warpsmith::isa::coverage::{self, Column, Entry};
use warpsmith::ptx::ValidatedModule;

const PAGE: &str = "docs/coverage.md";
const ROWS: [&str; 4] = ["arith", "data", "sync", "matrix"];

/// Writes the page.
pub fn write() -> Result<(), String> {
    std::fs::write(in_root(PAGE), page()?).map_err(|e| format!("cannot write {PAGE}: {e}"))
}

/// Of the statements of a family that ptxas accepts: how many, and how many the validator and the engine take.
#[derive(Clone, Copy, Default)]
struct Tally {
    statements: usize,
    validated: usize,
    executed: usize,
}

impl Tally {
    fn state(self, taken: usize) -> String {
        match (self.statements, taken) {
            (0, _) => "no statement recorded".into(),
            (_, 0) => "no".into(),
            (all, taken) if all == taken => "yes".into(),
            (all, taken) => format!("{taken} of {all}"),
        }
    }
}

/// Tallies by the manual's section and the family's name.
type Tallies = BTreeMap<(String, String), Tally>;

fn tallies() -> Result<Tallies, String> {
    let mut tallies = Tallies::new();
    for part in ROWS {
        let path = in_root(&format!("tests/oracle/{part}.tsv"));
        let rows = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for row in rows.lines().skip(1) {
            let fields: Vec<String> = row.split('\t').map(|field| field.replace("\\n", "\n")).collect();
            let [_, family, section, version, target, verdict, _, decls, statement, module_decls] =
                &fields[..]
            else {
                return Err(format!("{}: a row of {} fields: {row}", path.display(), fields.len()));
            };
            if verdict != "ok" {
                continue;
            }
            let text = format!(
                ".version {version}\n.target {target}\n.address_size 64\n{module_decls}\
                 .visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{decls}\n{statement}\nret;\n}}\n"
            );
            let tally = tallies.entry((section.clone(), family.clone())).or_default();
            tally.statements += 1;
            if let Ok(module) = ValidatedModule::parse(&text) {
                tally.validated += 1;
                tally.executed += usize::from(Program::load_with_source(&module, &text).is_ok());
            }
        }
    }
    Ok(tallies)
}

fn page() -> Result<String, String> {
    let tallies = tallies()?;
    let tally = |entry: &Entry| {
        let (section, name) = (entry.family.section, entry.family.name);
        let named = tallies.get(&(section.to_string(), name.to_string())).copied();
        // Where a family of the tables is a part of one of the rows', the section is what they share.
        named.unwrap_or_else(|| {
            tallies.iter().filter(|((s, _), _)| s == section).fold(Tally::default(), |sum, (_, t)| Tally {
                statements: sum.statements + t.statements,
                validated: sum.validated + t.validated,
                executed: sum.executed + t.executed,
            })
        })
    };
    let mut page = coverage::markdown(&[
        Column { name: "Parsed and validated", state: &|e| tally(e).state(tally(e).validated) },
        Column { name: "Executed", state: &|e| tally(e).state(tally(e).executed) },
    ]);
    page.push_str(NOTES);
    Ok(page)
}

const NOTES: &str = "
## How to read it

Every form of these tables is parsed, printed, judged by the validator, and is a typed operation `ptx.*` of the IR. *Since* and *Target* are the
lowest `.version` and `.target` of any form of the family. The last two columns count statements that NVIDIA's ptxas accepts
(`tests/oracle/`): *Parsed and validated* says how many the validator accepts too, *Executed* how many the CPU engine loads; what
it does not load it refuses by name. A family of PTX that is not in these tables is refused by the validator as unknown.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_current() {
        let stored = std::fs::read_to_string(in_root(PAGE)).unwrap_or_default();
        assert!(stored == page().unwrap(), "{PAGE} is not what the tables say; run `cargo xtask coverage`");
    }
}
