//! `cargo xtask oracle`: asks the real ptxas, and our validator, about recorded rows again.

use crate::{in_root, tools};
use std::path::{Path, PathBuf};
use warpsmith::diag::Diagnostic;
use warpsmith::diag::Language;
use warpsmith::isa::{Target, Version};
use warpsmith_harness::ptxas::{Ptxas, Toolbox};

/// Tables whose verdicts are not those of `ptxas::REFERENCE` (and, for targets that it does not know, of the release before), with their
/// release.
const NEWER: &[(&str, &str)] = &[("v91.tsv", "13.5")];

/// One row of `tests/oracle/*.tsv`, whose header names the fields.
pub struct Row {
    pub id: String,
    pub family: String,
    /// As it is written: a row may be about a target that does not exist.
    pub target: String,
    pub version: String,
    pub verdict: String,
    pub message: String,
    pub module: String,
    /// The release of ptxas whose verdict it is, where the table has its own.
    pub release: Option<&'static str>,
}

impl Row {
    /// The target for which the module is compiled.
    pub fn target(&self) -> Result<Target, String> {
        self.target.parse().map_err(|()| format!("{}: target {}", self.id, self.target))
    }

    /// The ptxas of the kind that gave the verdict, if it is installed.
    pub fn ptxas<'a>(&self, toolbox: &'a Toolbox) -> Option<&'a Ptxas> {
        let (target, version) = (self.target().ok()?, self.version.parse::<Version>().ok());
        match (self.release, version) {
            (Some(release), _) => toolbox.release(release),
            (None, Some(version)) => toolbox.for_module(version, target).or(toolbox.for_target(target)),
            (None, None) => toolbox.for_target(target),
        }
    }
}

/// Prints for each named row (or each row of a named family) what was recorded, what ptxas says now, and what we say.
pub fn ask(names: &[&str]) -> Result<(), String> {
    if names.is_empty() {
        return Err("name rows (int.add.0010) or families (add)".into());
    }
    let toolbox = Toolbox::search([tools::install()?.as_path()]);
    let mut found = 0;
    let mut changed = 0;
    for path in tables(&in_root("tests/oracle"))? {
        for row in rows(&path)? {
            if !names.iter().any(|name| *name == row.id || *name == row.family) {
                continue;
            }
            found += 1;
            let target = row.target()?;
            let ptxas = row.ptxas(&toolbox);
            let now = match ptxas {
                Some(ptxas) => ptxas.assemble(&row.module, target),
                None => Err(format!("no installed ptxas knows {target}")),
            };
            // Ours as of the same release.
            let release = ptxas.and_then(|ptxas| ptxas.release.parse().ok());
            let ours = warpsmith::check_as(row.module.as_str(), Language::Ptx, None, release);
            let ours = ours.iter().find(|finding| finding.is_error()).map(Diagnostic::to_string);
            let word = |ok| if ok { "ok" } else { "err" };
            let same = row.verdict == word(now.is_ok());
            changed += usize::from(!same);
            println!("{}  recorded {}{}", row.id, row.verdict, if same { "" } else { ", CHANGED" });
            println!("  recorded: {}", if row.message.is_empty() { "accepted" } else { &row.message });
            println!("  ptxas:    {}", now.err().as_deref().map_or("accepted", first_line));
            println!("  ours:     {}", ours.as_deref().unwrap_or("accepted"));
            for line in row.module.lines() {
                println!("    {line}");
            }
        }
    }
    println!("{found} rows, {changed} with another verdict than recorded");
    if found == 0 { Err("no such rows".into()) } else { Ok(()) }
}

/// The first line of what ptxas says.
pub fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The tables of rows in a folder.
pub fn tables(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "tsv"));
    found.sort();
    Ok(found)
}

/// The rows of a table; none if it is a table of something else.
pub fn rows(path: &Path) -> Result<Vec<Row>, String> {
    let name = path.file_name().unwrap_or_default();
    let release = NEWER.iter().find(|(table, _)| name == *table).map(|(_, release)| *release);
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let mut rows = Vec::new();
    if !["id", "verdict", "stmt", "version", "target"].iter().all(|name| header.contains(name)) {
        return Ok(rows);
    }
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |name: &str| {
            let index = header.iter().position(|head| *head == name);
            index.and_then(|index| fields.get(index)).copied().unwrap_or_default().replace("\\n", "\n")
        };
        let (version, target) = (field("version"), field("target"));
        let module = format!(
            ".version {version}\n.target {target}\n.address_size 64\n{}\
             .visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n{}\n{}\nret;\n}}\n",
            field("module_decls"),
            field("decls"),
            field("stmt")
        );
        rows.push(Row {
            id: field("id"),
            family: field("family"),
            target,
            version,
            verdict: field("verdict"),
            message: field("message"),
            module,
            release,
        });
    }
    Ok(rows)
}
