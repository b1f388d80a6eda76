//! `docs/coverage.md`: what the tables hold, family by family and form by form, and how far the other parts follow.
//!
//! Nothing on it is declared. Families are measured by the statements of `tests/oracle` that ptxas accepts, forms by samples of the
//! tables built in the IR: the validator is asked to accept them, the engine to load them, instruction selection what it makes of which
//! core operation. So the page cannot claim more than there is.

mod forms;
mod statements;

use crate::in_root;
use forms::Measured;
use std::fmt::Write;
use warpsmith::isa::coverage::{Entry, entries};
use warpsmith::isa::{Target, Version};

const PAGE: &str = "docs/coverage.md";

/// Writes the page.
pub fn write() -> Result<(), String> {
    std::fs::write(in_root(PAGE), page()?).map_err(|e| format!("cannot write {PAGE}: {e}"))
}

fn page() -> Result<String, String> {
    let tallies = statements::tallies()?;
    let core = forms::core_operations()?;
    let mut out = format!("# Coverage of PTX ISA 9.0\n\n{NOTES}");
    let entries = entries();
    let areas = entries.chunk_by(|a, b| a.family.area == b.family.area);
    for area in areas {
        write!(out, "\n## {}\n\n{FAMILIES}", area[0].family.area).expect("writing to a string");
        for entry in area {
            let tally = statements::of_family(&tallies, entry);
            let (version, target) = since(entry.since());
            writeln!(
                out,
                "| `{}` | {} | {} | {version} | {target} | {} | {} |",
                entry.family.name,
                entry.family.section,
                entry.lines.len(),
                tally.state(tally.validated),
                tally.state(tally.executed),
            )
            .expect("writing to a string");
        }
        out += FORMS;
        for entry in area {
            lines(&mut out, entry, &core);
        }
    }
    Ok(out)
}

fn lines(out: &mut String, entry: &Entry, core: &forms::CoreOperations) {
    for line in &entry.lines {
        let (version, target) = since(line.since());
        let measured = Measured::of(line);
        let operations = forms::operations(line, core);
        let syntax = line.syntax().replace('|', "\\|");
        writeln!(
            out,
            "| `{syntax}` | {version} | {target} | {operations} | {} | {} |",
            measured.validated(),
            measured.executed()
        )
        .expect("writing to a string");
    }
}

fn since(since: Option<(Version, Target)>) -> (String, String) {
    since.map_or(("-".into(), "-".into()), |(version, target)| (version.to_string(), target.to_string()))
}

const FAMILIES: &str = "| Family | Section | Forms | Since | Target | Parsed and validated | Executed |
|---|---|---|---|---|---|---|
";

const FORMS: &str = "
| Form | Since | Target | IR operation | Validated | Executed |
|---|---|---|---|---|---|
";

const NOTES: &str = "Generated from the instruction tables and from what the validator, instruction selection and the engine answer: `cargo xtask coverage`.

Each chapter has two tables. The first counts, family by family, the statements that NVIDIA's ptxas accepts (`tests/oracle/`): how many the
validator accepts too, and how many the CPU engine loads; what it does not load it refuses by name. The second has every form as
the tables write it ([isa-tables.md](isa-tables.md) explains the notation), with the operation of the IR that it is: `ptx.*`, made with `b.ins().ptx(..)`,
and the core operations that are compiled to it. Its last columns count samples of the form with every alternative of every modifier, built in the IR and
compiled, that the validator accepts and the engine loads; ptxas checks the same samples in `tests/forms.rs`, which also lists why some forms
have none: *older* is what only targets below sm_50 have, *ptxas only* what ptxas takes against the manual.

*Since* and *Target* are the lowest `.version` and `.target`. A family of PTX that is not in these tables is refused by the validator as unknown; that
none of the manual's is missing is a test (`isa/tests/inventory.rs`).
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
