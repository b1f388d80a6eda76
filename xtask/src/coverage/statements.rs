//! The statements of `tests/oracle` that ptxas accepts, family by family.

use crate::in_root;
use std::collections::BTreeMap;
use warpsmith::interp::Program;
use warpsmith::isa::coverage::Entry;
use warpsmith::ptx::ValidatedModule;

/// The tables, and what a section of theirs starts with in the tables of instructions: nothing for the manual of PTX ISA 9.0.
const ROWS: [(&str, &str); 5] = [("arith", ""), ("data", ""), ("sync", ""), ("matrix", ""), ("v91", "9.4:")];

/// The number of statements of a family that ptxas accepts, and how many of them the validator and the engine take.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub statements: usize,
    pub validated: usize,
    pub executed: usize,
}

impl Tally {
    pub fn state(self, taken: usize) -> String {
        match (self.statements, taken) {
            (0, _) => "no statement recorded".into(),
            (_, 0) => "no".into(),
            (all, taken) if all == taken => "yes".into(),
            (all, taken) => format!("{taken} of {all}"),
        }
    }
}

/// Tallies by the manual's section and the family's name.
pub type Tallies = BTreeMap<(String, String), Tally>;

/// Asks the validator and the engine.
pub fn tallies() -> Result<Tallies, String> {
    let mut tallies = Tallies::new();
    for (part, manual) in ROWS {
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
            let tally = tallies.entry((format!("{manual}{section}"), family.clone())).or_default();
            tally.statements += 1;
            if let Ok(module) = ValidatedModule::parse(&text) {
                tally.validated += 1;
                tally.executed += usize::from(Program::load(&module).is_ok());
            }
        }
    }
    Ok(tallies)
}

/// The tally of a family. Where a family of the tables is a part of one of the rows', the section is what they share.
pub fn of_family(tallies: &Tallies, entry: &Entry) -> Tally {
    let (section, name) = (entry.family.section, entry.family.name);
    let named = tallies.get(&(section.to_string(), name.to_string())).copied();
    named.unwrap_or_else(|| {
        tallies.iter().filter(|((s, _), _)| s == section).fold(Tally::default(), |sum, (_, t)| Tally {
            statements: sum.statements + t.statements,
            validated: sum.validated + t.validated,
            executed: sum.executed + t.executed,
        })
    })
}
