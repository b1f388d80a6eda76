//! Agreement with ptxas on the recorded rows of `tests/oracle`: single statements, each with the verdict of the real ptxas.
//!
//! `agreement.tsv` holds, per family, how many rows there are of each verdict and on how many we differ. A family that gets worse fails the
//! test; `BLESS=1` records the present state, `ROWS=family` prints the rows of a family on which we differ. Rows of `v91.tsv`, checked by ptxas 13.5,
//! have families of their own, `v91:add`; `ROWS=v91:` prints those of all of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use warpsmith_isa::Release;
use warpsmith_ptx::ValidatedModule;

/// Rows accepted by ptxas, how many of them we reject, rows rejected by ptxas, how many of them we accept.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Agreement {
    accepted: usize,
    missed: usize,
    rejected: usize,
    let_through: usize,
}

type Table = BTreeMap<String, Agreement>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracle")
}

/// The module that ptxas checked for a row.
fn module(version: &str, target: &str, decls: &str, statement: &str, module_decls: &str) -> String {
    let text = |field: &str| field.replace("\\n", "\n");
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n{}.visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{}\n{}\nret;\n}}\n",
        text(module_decls),
        text(decls),
        text(statement)
    )
}

/// The release of ptxas that gave the verdicts of a part for a target.
fn release(part: &str, target: &str) -> Release {
    let number = target.trim_start_matches("sm_").split(|c: char| !c.is_ascii_digit()).next();
    let is_old = number.and_then(|digits| digits.parse().ok()).is_some_and(|sm: u16| sm < 75);
    match part {
        "v91.tsv" => Release::LATEST,
        _ if is_old => Release::new(12, 9),
        _ => Release::new(13, 0),
    }
}

fn compare(part: &str, wanted: Option<&str>, table: &mut Table) {
    let path = folder().join(part);
    let rows = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    for row in rows.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [id, family, _section, version, target, verdict, message, decls, statement, module_decls] =
            fields[..]
        else {
            panic!("{}: a row of {} fields: {row}", path.display(), fields.len());
        };
        let text = module(version, target, decls, statement, module_decls);
        let ours = ValidatedModule::parse_as(text, Some(release(part, target)));
        // Rows of another release are counted apart, so that those before stay comparable.
        let family = if part == "v91.tsv" { format!("v91:{family}") } else { family.to_string() };
        let entry = table.entry(family.clone()).or_default();
        let agrees = match (verdict, &ours) {
            ("ok", result) => {
                entry.accepted += 1;
                entry.missed += usize::from(result.is_err());
                result.is_ok()
            }
            (_, result) => {
                entry.rejected += 1;
                entry.let_through += usize::from(result.is_ok());
                result.is_err()
            }
        };
        if !agrees
            && wanted
                .is_some_and(|wanted| family == wanted || (wanted == "v91:" && family.starts_with(wanted)))
        {
            let ours = ours.err().map_or("accepted".into(), |found| {
                found.iter().map(|d| format!("{} {}", d.code, d.message)).collect::<Vec<_>>().join("; ")
            });
            println!(
                "{id}\t.version {version} .target {target}\n  {module_decls}{decls}\n  {statement}\n  ptxas: {verdict} {message}\n  ours:  {ours}"
            );
        }
    }
}

fn print(table: &Table) -> String {
    let mut text = String::from("family\taccepted\tmissed\trejected\tlet_through\n");
    for (family, a) in table {
        let Agreement { accepted, missed, rejected, let_through } = a;
        writeln!(text, "{family}\t{accepted}\t{missed}\t{rejected}\t{let_through}").unwrap();
    }
    text
}

fn recorded(text: &str) -> Table {
    let row = |line: &str| {
        let mut fields = line.split('\t');
        let family = fields.next()?.to_string();
        let mut number = || fields.next()?.parse().ok();
        let (accepted, missed, rejected, let_through) = (number()?, number()?, number()?, number()?);
        Some((family, Agreement { accepted, missed, rejected, let_through }))
    };
    text.lines().skip(1).map(|line| row(line).unwrap_or_else(|| panic!("agreement.tsv: {line}"))).collect()
}

#[test]
fn verdicts_agree_with_ptxas() {
    let wanted = std::env::var("ROWS").ok();
    let mut table = Table::new();
    for part in ["arith.tsv", "data.tsv", "sync.tsv", "matrix.tsv", "more.tsv", "v91.tsv"] {
        compare(part, wanted.as_deref(), &mut table);
    }
    let path = folder().join("agreement.tsv");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, print(&table)).unwrap();
        return;
    }
    let before = recorded(&std::fs::read_to_string(&path).unwrap());
    let mut worse = Vec::new();
    for (family, now) in &table {
        let then = before.get(family).copied().unwrap_or_default();
        assert_eq!(
            (then.accepted, then.rejected),
            (now.accepted, now.rejected),
            "{family}: BLESS=1 after adding rows"
        );
        if now.missed > then.missed || now.let_through > then.let_through {
            worse.push(format!("{family}: {then:?} became {now:?}; ROWS={family} shows the rows"));
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}
