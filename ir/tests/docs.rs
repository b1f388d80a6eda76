//! `docs/ir.md` names every operation, condition, type and error code that there is.

use std::fs;
use std::path::{Path, PathBuf};
use warpsmith_ir::{FloatCC, IntCC, Opcode, Scalar};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// The words of the page: letters, digits, `_`, `<` and `>`.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '<' | '>'))).collect()
}

#[test]
fn the_page_names_everything() {
    let page = fs::read_to_string(folder().join("../docs/ir.md")).expect("the page is there");
    let words = words(&page);
    let names = Opcode::ALL.iter().map(|op| op.name().to_string());
    let names = names
        .chain(IntCC::ALL.iter().map(|cc| cc.to_string()))
        .chain(FloatCC::ALL.iter().map(|cc| cc.to_string()));
    let names = names.chain(Scalar::ALL.iter().map(|scalar| scalar.to_string()));
    let missing: Vec<String> = names.filter(|name| !words.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "not in docs/ir.md: {missing:?}");
}

/// The codes on the page: single ones, and ranges written `A` to `B`.
fn is_listed(page: &str, code: &str) -> bool {
    let rows = page.lines().filter(|line| line.starts_with("| `I0"));
    rows.map(|row| row.split('|').nth(1).unwrap_or("")).any(|cell| {
        let codes: Vec<&str> = cell.split('`').filter(|part| part.starts_with("I0")).collect();
        match codes.as_slice() {
            [first, last] if cell.contains(" to ") => (*first..=*last).contains(&code),
            codes => codes.contains(&code),
        }
    })
}

fn codes(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            codes(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("source text");
        let quoted = text.split('"').filter(|part| part.len() == 5 && part.starts_with("I0"));
        found.extend(quoted.map(str::to_string));
    }
}

#[test]
fn the_page_lists_every_code() {
    let page = fs::read_to_string(folder().join("../docs/ir.md")).expect("the page is there");
    let mut found = Vec::new();
    codes(&folder().join("src"), &mut found);
    assert!(found.len() > 60, "{} codes in the source", found.len());
    let missing: Vec<&String> = found.iter().filter(|code| !is_listed(&page, code)).collect();
    assert!(missing.is_empty(), "not in docs/ir.md: {missing:?}");
}

#[test]
fn the_first_example_of_the_page_is_a_module() {
    let page = fs::read_to_string(folder().join("../docs/ir.md")).expect("the page is there");
    let examples: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    // The kernel, and the items of a module.
    for example in &examples[..2] {
        let parsed = warpsmith_ir::parse(example.trim_start_matches('\n'));
        assert!(parsed.diagnostics.is_empty(), "{example}\n{:#?}", parsed.diagnostics);
        warpsmith_ir::verify(&parsed.module).expect("the example is valid");
    }
}
