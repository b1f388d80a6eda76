//! What the tables hold, as a page for people.

use crate::{FAMILIES, FORMS, Family, Form, Gate, Target, Version};
use std::fmt::Write;

/// A family with its forms.
#[derive(Debug)]
pub struct Entry {
    /// The family.
    pub family: &'static Family,
    /// Its forms as the tables write them, each once.
    pub forms: Vec<&'static Form>,
    /// The lowest version that has any of them, and the lowest target.
    pub since: Option<(Version, Target)>,
}

/// Every family with its forms, in the order of the tables.
pub fn entries() -> Vec<Entry> {
    let entry = |index: usize| {
        let mut forms: Vec<&'static Form> =
            FORMS.iter().filter(|form| form.family as usize == index).collect();
        // Alternation groups multiply one line of the tables into several forms.
        forms.dedup_by_key(|form| (form.opcode, form.syntax));
        let lowest = |form: &&'static Form| {
            let gate = Gate { clauses: form.gates.to_vec() };
            Target::all().filter_map(|t| gate.lowest_version(t).map(|v| (v, t))).min()
        };
        Entry { family: &FAMILIES[index], since: forms.iter().filter_map(lowest).min(), forms }
    };
    (0..FAMILIES.len()).map(entry).collect()
}

/// A part of the project whose coverage of the families the page shows beside the tables' own.
pub struct Column<'a> {
    /// The heading: `interpreter`.
    pub name: &'a str,
    /// What to write for a family: `full`, `partial: no .rs rounding`, `none`.
    pub state: &'a dyn Fn(&Entry) -> String,
}

/// The page, in Markdown: a table per area, a row per family.
pub fn markdown(columns: &[Column]) -> String {
    let mut out = String::from("# Coverage of PTX ISA 9.0\n\nGenerated from the instruction tables.\n");
    let mut area = "";
    for entry in entries() {
        if entry.family.area != area {
            area = entry.family.area;
            let heads: String = columns.iter().map(|c| format!(" {} |", c.name)).collect();
            let rules = "---|".repeat(columns.len());
            write!(out, "\n## {area}\n\n| Family | Section | Forms | Since | Target |{heads}\n|---|---|---|---|---|{rules}\n")
                .expect("writing to a string");
        }
        let (version, target) =
            entry.since.map_or(("-".into(), "-".into()), |(v, t)| (v.to_string(), t.to_string()));
        let Family { name, section, .. } = entry.family;
        write!(out, "| `{name}` | {section} | {} | {version} | {target} |", entry.forms.len())
            .expect("writing to a string");
        for column in columns {
            write!(out, " {} |", (column.state)(&entry)).expect("writing to a string");
        }
        out.push('\n');
    }
    out
}
