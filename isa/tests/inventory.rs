//! Nothing that PTX ISA 9.0 has is missing without a word: `tests/oracle/inventory.tsv` lists every instruction, special register,
//! directive and chapter of syntax; each is in the tables, or at least recorded against recorded verdicts.

use std::collections::BTreeSet;
use std::path::Path;
use warpsmith_isa::*;

fn rows(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The families of recorded verdicts; those of the rows of a later release say so before a colon.
fn recorded() -> BTreeSet<String> {
    let family = |row: Vec<String>| row[0].trim_start_matches("v91:").to_owned();
    rows("agreement.tsv").into_iter().map(family).collect()
}

/// True for an instruction of the tables, under its own name or as one of several opcodes of a family.
fn is_instruction(name: &str) -> bool {
    let of_family = |family: &Family| family.name == name;
    FAMILIES.iter().any(of_family) || Opcode::from_text(name).is_some_and(|op| !op.forms().is_empty())
}

/// `%envreg<32>` denotes 32 registers; `%pm<8>_64` has its number in the middle.
fn is_special_register(name: &str) -> bool {
    let first = match (name.find('<'), name.find('>')) {
        (Some(open), Some(close)) => format!("{}0{}", &name[..open], &name[close + 1..]),
        _ => name.to_owned(),
    };
    SpecialReg::from_name(&first).is_some()
}

#[test]
fn everything_of_the_inventory_is_there() {
    let recorded = recorded();
    let mut missing = Vec::new();
    for row in rows("inventory.tsv") {
        let [name, section, category] = &row[..] else { panic!("a row of {} fields: {row:?}", row.len()) };
        let there = match section.split('.').next() {
            // Blocks and guards are not instructions, though the manual lists them among these.
            Some("9") if !matches!(name.as_str(), "{}" | "@") => is_instruction(name),
            Some("10") if name.starts_with('%') => is_special_register(name),
            _ => recorded.contains(name),
        };
        if !there {
            missing.push(format!("{name} ({section}, {category})"));
        }
    }
    assert!(missing.is_empty(), "not in the tables: {}", missing.join(", "));
}

#[test]
fn every_family_of_the_tables_has_recorded_verdicts() {
    let recorded = recorded();
    let unrecorded = |family: &&Family| {
        let opcodes =
            || FORMS.iter().filter(|form| form.family().name == family.name).map(|form| form.opcode);
        // The rows of `tcgen05.ld` have `tcgen05.ld.red` among them.
        let parent = family.name.rsplit_once('.').map_or("", |(parent, _)| parent);
        let by_name = recorded.contains(family.name) || recorded.contains(parent);
        !by_name && !opcodes().any(|opcode| recorded.contains(opcode.text()))
    };
    let unrecorded: Vec<_> = FAMILIES.iter().filter(unrecorded).map(|family| family.name).collect();
    assert!(unrecorded.is_empty(), "without a recorded verdict of ptxas: {}", unrecorded.join(", "));
}
