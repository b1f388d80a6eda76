//! `docs/diagnostics.md` and `docs/codes.md`: the gallery of mistakes (`tests/filetests/gallery`) as we explain them, beside what ptxas
//! says of them, and the table of all codes.
//!
//! What ptxas says is recorded in `ptxas.tsv` beside the files, by `cargo xtask gallery`; our own words are the files' expected output.

use crate::{in_root, tools};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use warpsmith::codes;
use warpsmith::diag::Language;
use warpsmith::isa::{Target, Version};
use warpsmith_filetests::{bare, scan};
use warpsmith_harness::ptxas::Toolbox;

const FOLDER: &str = "tests/filetests/gallery";
const RECORD: &str = "tests/filetests/gallery/ptxas.tsv";
const PAGE: &str = "docs/diagnostics.md";
const CODES: &str = "docs/codes.md";

/// The target for a mistake whose own target is the mistake.
const FALLBACK: Target = Target::sm(90);

/// One mistake.
struct Case {
    name: String,
    title: String,
    /// The text without what makes it a test.
    source: String,
    /// What `warpsmith check` shows.
    rendered: String,
}

fn cases() -> Result<Vec<Case>, String> {
    let folder = in_root(FOLDER);
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| Language::of_path(path) == Some(Language::Ptx));
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

fn case(path: &Path) -> Result<Case, String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    let directives = scan(&text, Language::Ptx).map_err(|errors| at(&errors[0]))?;
    let output = directives.iter().find(|directive| directive.name == "output");
    let rendered = output.ok_or_else(|| at(&"no expected output"))?.text.trim_end().to_owned();
    let source = bare(&text, Language::Ptx);
    let title = source.lines().next().and_then(|line| line.strip_prefix("// "));
    let title = title.ok_or_else(|| at(&"the first line is not a title"))?.to_owned();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Case { name, title, source, rendered })
}

/// What was recorded, by the name of the file: the release of ptxas, and what it said.
type Record = BTreeMap<String, (String, String)>;

fn recorded() -> Result<Record, String> {
    let text = std::fs::read_to_string(in_root(RECORD)).map_err(|e| format!("{RECORD}: {e}"))?;
    let row = |line: &str| {
        let mut fields = line.split('\t').map(|field| field.replace("\\n", "\n"));
        Some((fields.next()?, (fields.next()?, fields.next()?)))
    };
    text.lines()
        .skip(1)
        .map(|line| row(line).ok_or(format!("{RECORD}: a row with too few fields: {line}")))
        .collect()
}

/// Asks the real ptxas about every mistake, and writes down what it says.
pub fn record() -> Result<(), String> {
    let mut toolbox = Toolbox::from_environment();
    if toolbox.ptxas.is_empty() {
        toolbox = Toolbox::search([tools::install()?.as_path()]);
    }
    let mut text = String::from("name\tptxas\tmessage\n");
    for case in cases()? {
        let named: Option<Target> =
            case.source.lines().find_map(|line| line.strip_prefix(".target ")?.trim().parse().ok());
        let version: Option<Version> =
            case.source.lines().find_map(|line| line.strip_prefix(".version ")?.trim().parse().ok());
        let knowing = |target| match version {
            Some(version) => toolbox.for_module(version, target),
            None => toolbox.for_target(target),
        };
        let (target, ptxas) = match named.map(|target| (target, knowing(target))) {
            Some((target, Some(ptxas))) => (target, ptxas),
            _ => (FALLBACK, toolbox.for_target(FALLBACK).ok_or("no ptxas is installed")?),
        };
        let Err(message) = ptxas.assemble(&case.source, target) else {
            return Err(format!("ptxas {} accepts {}", ptxas.release, case.name));
        };
        let lines = message
            .lines()
            .filter(|line| !line.contains("assembly aborted"))
            .map(|line| without_program(line).replace("emitted", "kernel.ptx"));
        let message = lines.collect::<Vec<_>>().join("\\n").replace('\t', " ");
        writeln!(text, "{}\t{}\t{message}", case.name, ptxas.release).expect("writing to a string");
    }
    std::fs::write(in_root(RECORD), text).map_err(|e| format!("cannot write {RECORD}: {e}"))?;
    write()
}

/// A line without the name of the program, which is that of its file: `ptxas`, or `ptxas-13` of `ptxas-13.0`.
fn without_program(line: &str) -> &str {
    let rest = line.strip_prefix("ptxas").unwrap_or(line);
    let rest =
        rest.strip_prefix('-').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.trim_start()
}

/// Writes the pages.
pub fn write() -> Result<(), String> {
    for (path, text) in [(PAGE, page()?), (CODES, codes_page())] {
        std::fs::write(in_root(path), text).map_err(|e| format!("cannot write {path}: {e}"))?;
    }
    Ok(())
}

fn page() -> Result<String, String> {
    let record = recorded()?;
    let mut page = String::from(INTRODUCTION);
    for case in cases()? {
        let Case { name, title, source, rendered } = case;
        let (release, said) =
            record.get(&name).ok_or(format!("{RECORD} lacks {name}: run `cargo xtask gallery`"))?;
        // The title is the heading; without it the lines count from 2, as the messages have it.
        let body = source.split_once('\n').map_or("", |(_, rest)| rest).trim_end();
        let (anchor, number) =
            (name.split_once('-').map_or("", |(_, name)| name), name.split('-').next().unwrap_or(""));
        write!(
            page,
            "\n### {number}. {title}\n\n`{anchor}`\n\n```ptx\n{body}\n```\n\nptxas {release}:\n\n```text\n{said}\n```\n\n\
             `warpsmith check`:\n\n```text\n{rendered}\n```\n"
        )
        .expect("writing to a string");
    }
    Ok(page)
}

fn codes_page() -> String {
    let mut page = String::from(
        "# The codes of diagnostics\n\nGenerated by `cargo xtask bless` from the tables of codes in the crates. A code never changes its meaning;\n\
         `warpsmith explain CODE` prints what stands here.\n",
    );
    for (topic, codes) in codes::TOPICS {
        writeln!(page, "\n## {topic}").expect("writing to a string");
        for (code, _) in codes.iter() {
            let text = codes::explain(code).unwrap_or_default();
            writeln!(page, "\n### {code}\n\n{text}").expect("writing to a string");
        }
    }
    page
}

const INTRODUCTION: &str = "\
# Diagnostics

Generated by `cargo xtask bless` from `tests/filetests/gallery`. `warpsmith check FILE..` checks PTX (and IR) and explains what is wrong: the
offending token, what was found and what the form allows, the nearest legal spelling, the lowest `.version` and `.target` that would do,
and the section of the manual. `warpsmith explain CODE` says more of a code (`codes.md` has them all); `warpsmith check --fix` makes the
changes that can hardly be anything but what was meant.

## JSON

`warpsmith check --json FILE..` prints one object a line for each file, in input order: `{\"file\": name, \"ok\": bool, \"diagnostics\": [..]}`. A
diagnostic is an object with these members; where something has no place in a text, the members of its place are `null`.

| Member | Meaning |
|---|---|
| `code` | stable: `P0402` |
| `severity` | `error` or `warning`; only errors make `ok` false |
| `message` | one line |
| `file` | the name of the file |
| `line`, `column` | where it begins, from 1; columns count characters |
| `end_line`, `end_column` | past its last character |
| `span` | `{\"start\": n, \"end\": n}`: the same as offsets of bytes, from 0 |
| `labels` | other places that matter: `message` and the members of a place. One at the place of the diagnostic says what was expected there |
| `notes` | lines of text |
| `suggestions` | changes that would put it right: `message`, `replacement`, the members of the place to replace (empty for an insertion), and `certain`: whether `--fix` makes it |
| `section` | `PTX ISA 9.0, 9.7.1.1`, or `null` |
| `origin` | of what was built through the API: `function`, `instruction` (its number, of what the verifier says), `file`, `line`, `column` of the user's source, or `null` |

## Gallery

Typical mistakes, each with what NVIDIA's ptxas says of it and what we say. ptxas rejects all of them. The quoted lines count from the title,
which is line 1 of each text.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_current() {
        for (path, text) in [(PAGE, page().unwrap()), (CODES, codes_page())] {
            let stored = std::fs::read_to_string(in_root(path)).unwrap_or_default();
            assert!(stored == text, "{path} is not what the tests and tables say; run `cargo xtask bless`");
        }
    }

    #[test]
    fn every_mistake_is_one_to_ptxas_and_to_us() {
        let (cases, record) = (cases().unwrap(), recorded().unwrap());
        assert!(cases.len() >= 60, "{} mistakes", cases.len());
        assert_eq!(record.len(), cases.len(), "cargo xtask gallery records them again");
        for case in cases {
            let (_, said) = &record[&case.name];
            assert!(said.contains("error") || said.contains("fatal"), "{}: {said}", case.name);
            assert!(case.rendered.starts_with("error["), "{}: {}", case.name, case.rendered);
        }
    }
}
