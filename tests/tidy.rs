//! What holds for the repository as a text: the maps name every package and folder, comments make sense alone, PTX is not taken apart as
//! text after its parser, errors are not dropped, every source file is compiled, and every package takes the workspace's lints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The names of the folders in the root, without hidden ones and build products.
fn folders() -> Vec<String> {
    let names = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap());
    let folders = names.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.') && name != "target");
    names.sort();
    names
}

/// The files below a folder with this extension, as paths from the root.
fn files(folder: &str, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = Path::new(folder).join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            files(&path.to_string_lossy(), extension, found);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
}

/// All of our Rust files.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders() {
        files(&folder, "rs", &mut found);
    }
    assert!(found.len() > 300, "{} Rust files", found.len());
    found.sort();
    found
}

/// The members of the workspace, from its `Cargo.toml`.
fn members() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let list = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The value of `name = "..."` in a manifest.
fn package_name(folder: &str) -> String {
    let manifest = read(&format!("{folder}/Cargo.toml"));
    let package = manifest.split_once("[package]").unwrap().1;
    package.split_once("name = \"").unwrap().1.split_once('"').unwrap().0.to_owned()
}

/// The rows of a map: folder and package, from a table whose first cells are `` `folder/` `` (or several of them) and `` `package` ``.
fn map(page: &str) -> BTreeSet<(String, String)> {
    let mut rows = BTreeSet::new();
    for line in read(page).lines().filter(|line| line.starts_with("| `")) {
        let mut cells = line.split('|').skip(1);
        let (folders, package) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let package = package.trim().trim_matches('`').to_owned();
        let names = folders.split(", ").filter_map(|cell| cell.trim().trim_matches('`').strip_suffix('/'));
        rows.extend(names.map(|name| (name.to_owned(), package.clone())));
    }
    rows
}

#[test]
fn the_maps_name_every_package_and_folder() {
    let mut expected: BTreeSet<(String, String)> =
        members().iter().map(|folder| (folder.clone(), package_name(folder))).collect();
    expected.insert(("src".into(), "warpsmith".into()));
    expected.insert(("fuzz".into(), "warpsmith-fuzz".into()));
    for folder in ["benches", "docs", "examples", "tests"] {
        expected.insert((folder.into(), String::new()));
    }
    for page in ["README.md", "docs/architecture.md"] {
        let found = map(page);
        let missing: Vec<_> = expected.difference(&found).collect();
        let unknown: Vec<_> = found.difference(&expected).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{page} lacks {missing:?} and has {unknown:?}");
    }
    let mapped: BTreeSet<&str> = expected.iter().map(|(folder, _)| folder.as_str()).collect();
    for folder in folders() {
        let mut rust = Vec::new();
        files(&folder, "rs", &mut rust);
        let inside = format!("{folder}/");
        let is_mapped =
            mapped.contains(folder.as_str()) || mapped.iter().any(|name| name.starts_with(&inside));
        assert!(rust.is_empty() || is_mapped, "no map names `{folder}/`");
    }
}

#[test]
fn the_pages_that_are_named_exist() {
    let mut pages = vec![PathBuf::from("README.md")];
    files("docs", "md", &mut pages);
    for page in pages {
        let text = read(&page.to_string_lossy());
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.starts_with("http") {
                continue;
            }
            let path = root().join(page.parent().unwrap_or(Path::new(""))).join(target);
            assert!(path.exists(), "{} names {link}, which is not there", page.display());
        }
    }
}

#[test]
fn the_files_that_are_named_exist() {
    let mut all: Vec<PathBuf> = Vec::new();
    for extension in ["rs", "isa", "md", "tsv", "ptx", "wir", "cu"] {
        folders().iter().for_each(|folder| files(folder, extension, &mut all));
    }
    let all: Vec<String> = all.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let mut pages = vec![PathBuf::from("README.md")];
    files("docs", "md", &mut pages);
    let generated = ["docs/codes.md", "docs/diagnostics.md", "docs/coverage.md"].map(Path::new);
    let mut missing = Vec::new();
    for page in pages.iter().filter(|page| !generated.contains(&page.as_path())) {
        for name in read(&page.to_string_lossy()).split('`').skip(1).step_by(2) {
            let is_path = name.contains('/')
                && [".rs", ".isa", ".md", ".tsv"].iter().any(|end| name.ends_with(end))
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b));
            if name.contains("NAME") {
                continue;
            }
            // A page of one crate names its files from that crate's `src/`.
            if is_path && !all.iter().any(|path| path == name || path.ends_with(&format!("/{name}"))) {
                missing.push(format!("{} names {name}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "files that are not there:\n{}", missing.join("\n"));
}

#[test]
fn every_package_takes_the_lints_of_the_workspace() {
    for member in members() {
        let manifest = read(&format!("{member}/Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{member}/Cargo.toml");
    }
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    let mut missing = Vec::new();
    for member in members().into_iter().chain([String::new()]) {
        let source = if member.is_empty() { "src".to_owned() } else { format!("{member}/src") };
        let mut found = Vec::new();
        files(&source, "rs", &mut found);
        let texts: Vec<String> = found.iter().map(|path| read(&path.to_string_lossy())).collect();
        let code = |text: &String| {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            lines.map(|line| line.split('"').step_by(2).collect()).collect::<Vec<String>>()
        };
        let is_unsafe = texts.iter().flat_map(code).any(|line| {
            ["unsafe {", "unsafe fn ", "unsafe impl ", "unsafe trait ", "unsafe extern "]
                .iter()
                .any(|word| line.contains(word))
        });
        let roots = ["lib.rs", "main.rs"].map(|name| format!("{source}/{name}"));
        let roots = roots.iter().filter(|path| root().join(path).exists());
        missing.extend(
            roots.filter(|path| !is_unsafe && !read(path).contains("#![forbid(unsafe_code)]")).cloned(),
        );
    }
    assert!(missing.is_empty(), "no `#![forbid(unsafe_code)]` in {missing:?}");
}

/// "`FILE`, `FUNCTION`", as the tour of one instruction has it.
#[test]
fn the_functions_that_are_named_exist() {
    let mut sources: Vec<PathBuf> = Vec::new();
    folders().iter().for_each(|folder| files(folder, "rs", &mut sources));
    let page = read("docs/architecture.md");
    let (mut named, mut missing) = (0, Vec::new());
    let parts: Vec<&str> = page.split('`').collect();
    for window in parts[1..].windows(3).step_by(2) {
        let [file, ", ", function] = window else { continue };
        let is_name = function.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if !file.ends_with(".rs") || !is_name {
            continue;
        }
        named += 1;
        let is_there = |path: &&PathBuf| {
            path.ends_with(file) && read(&path.to_string_lossy()).contains(&format!("fn {function}("))
        };
        if !sources.iter().any(|path| is_there(&path)) {
            missing.push(format!("{file} has no function `{function}`"));
        }
    }
    assert!(named > 0 && missing.is_empty(), "{named} named, {missing:#?}");
}

/// The names in a section of a manifest.
fn dependencies(manifest: &str, section: &str) -> Vec<String> {
    let Some((_, rest)) = manifest.split_once(&format!("\n[{section}]\n")) else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| Some(line.split_once(['.', ' '])?.0.to_owned()))
        .filter(|name| !name.starts_with('#'))
        .collect()
}

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for member in members().into_iter().chain([String::new()]) {
        let path = |name: &str| if member.is_empty() { name.to_owned() } else { format!("{member}/{name}") };
        let manifest = read(&path("Cargo.toml"));
        for (section, places) in
            [("dependencies", &["src"][..]), ("dev-dependencies", &["src", "tests", "benches", "examples"])]
        {
            let mut found = Vec::new();
            let places = places.iter().map(|place| path(place)).filter(|place| root().join(place).is_dir());
            places.for_each(|place| files(&place, "rs", &mut found));
            let text: String = found.iter().map(|path| read(&path.to_string_lossy())).collect();
            for name in dependencies(&manifest, section) {
                // Named with features alone: another dependency brings the crate.
                let features_only = manifest.contains(&format!("{name} = {{ workspace = true, features"));
                if !text.contains(&name.replace('-', "_")) && !features_only {
                    unused.push(format!("{}: {name}", path("Cargo.toml")));
                }
            }
        }
    }
    assert!(unused.is_empty(), "dependencies that nothing names:\n{}", unused.join("\n"));
}

/// Patterns that no line of our sources has, with what to write instead, and the paths (by their beginnings) where it may stand.
const BANNED: &[(&str, &str, &[&str])] = &[
    ("mnemonic().contains(", "ask the resolved instruction for what the tables know of it", &[]),
    ("mnemonic().starts_with(", "ask the resolved instruction for what the tables know of it", &[]),
    ("message.contains(\"", "errors are distinguished by their codes", &[]),
    (
        "std::env::var",
        "the library reads no environment",
        // `cargo/build/` is for build scripts: cargo speaks to those through the environment.
        &[
            "xtask/",
            "cli/",
            "harness/",
            "filetests/",
            "benches/",
            "examples/",
            "fuzz/",
            "isa/build.rs",
            "lower/build.rs",
            "cargo/build/",
            // A program that opens a libcuda cannot tell it anything else.
            "cuda/",
            "cudart/",
        ],
    ),
];

/// Comments that say nothing alone, and words of this house where the field has its own.
const RIDDLES: &[&str] = &[
    "/// See above",
    "/// See below",
    "/// As above",
    "/// Ditto",
    "/// The same.",
    "/// The same,",
    "/// The same for",
    "/// The same of",
    "/// The same with",
    "/// The same without",
    "/// Of the ",
    "/// Of these ",
    "/// That of ",
    "/// Those of ",
];

/// Words that comments, messages and pages do not use, with the field's own.
const WORDS: &[(&str, &str)] = &[
    ("judge", "validate, check or verify"),
    ("doubtful", "lenient"),
    ("stands for", "denotes"),
    ("stand for", "denote"),
    ("told apart", "distinguished"),
    (" told", "reported, observed, signalled or known"),
    ("turned round", "reversed"),
    ("in the place of", "instead of"),
    ("by turns", "in turn"),
    ("See above.", "say it, or link to it"),
];

/// "is no X", unless as in "there is no X": `is not an X`. Comparatives ("is no longer") are English.
fn negated_noun(line: &str) -> Option<&str> {
    const IDIOMS: &[&str] = &[
        "longer", "less", "higher", "lower", "more", "one", "such", "matter", "concern", "other", "fewer",
        "use", "reason",
    ];
    let mut from = 0;
    while let Some(found) =
        [" is no ", " are no "].iter().filter_map(|verb| Some((line[from..].find(verb)?, verb.len()))).min()
    {
        let (start, end) = (from + found.0, from + found.0 + found.1);
        let before = line[..start].rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let after = line[end..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !before.eq_ignore_ascii_case("there")
            && !before.is_empty()
            && !after.is_empty()
            && !IDIOMS.contains(&after)
        {
            return Some(&line[start..end + after.len()]);
        }
        from = end;
    }
    None
}

#[test]
fn comments_messages_and_pages_use_the_words_of_the_field() {
    let mut pages = vec![PathBuf::from("README.md")];
    files("docs", "md", &mut pages);
    // It quotes ptxas.
    pages.retain(|page| page != Path::new("docs/diagnostics.md"));
    let mut found = Vec::new();
    for path in sources().into_iter().filter(|path| !path.ends_with("tests/tidy.rs")).chain(pages) {
        let name = path.to_string_lossy();
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            // In code these are the texts of messages and reasons.
            let prose = line.trim_start();
            if let Some((word, instead)) = WORDS.iter().find(|(word, _)| prose.contains(word)) {
                found.push(format!("{name}:{number}: `{word}`: {instead}"));
            }
            if let Some(noun) = negated_noun(prose) {
                found.push(format!("{name}:{number}: `{noun}`: is not a .."));
            }
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

/// A file that no `mod` names is not compiled, and nothing else would say so.
#[test]
fn every_source_file_is_a_module() {
    let mut orphans = Vec::new();
    for path in sources() {
        let (Some(folder), Some(stem)) = (path.parent(), path.file_stem().and_then(|stem| stem.to_str()))
        else {
            continue;
        };
        let in_source = path.components().any(|part| part.as_os_str() == "src");
        let is_program = folder.ends_with("src/bin");
        if !in_source || is_program || matches!(stem, "lib" | "main" | "mod") {
            continue;
        }
        let mut parents = vec![folder.with_extension("rs")];
        parents.extend(["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name)));
        // A build script may share a file, by its path.
        parents.extend(folder.ancestors().map(|above| above.join("build.rs")));
        let names_it = |parent: &PathBuf| {
            let text = std::fs::read_to_string(root().join(parent)).unwrap_or_default();
            text.contains(&format!("mod {stem};")) || text.contains(&format!("{stem}.rs\""))
        };
        if !parents.iter().any(names_it) {
            orphans.push(path.display().to_string());
        }
    }
    assert!(orphans.is_empty(), "no `mod` names {}", orphans.join(", "));
}

/// The part of a file that is not its unit tests.
fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or(text)
}

#[test]
fn sources_keep_to_the_rules() {
    let mut found = Vec::new();
    for path in sources().iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        let name = path.to_string_lossy();
        let in_tests = ["tests/", "benches/"]
            .iter()
            .any(|folder| name.starts_with(folder) || name.contains(&format!("/{folder}")));
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let own = without_tests(&text);
        for (number, line) in (1..).zip(own.lines()) {
            for (pattern, instead, allowed) in BANNED {
                let excused = in_tests || allowed.iter().any(|start| name.starts_with(start));
                if line.contains(pattern) && !excused && !line.trim_start().starts_with("//") {
                    found.push(format!("{name}:{number}: `{pattern}`: {instead}"));
                }
            }
            if let Some(riddle) = RIDDLES.iter().find(|riddle| line.trim_start().starts_with(**riddle)) {
                found.push(format!("{name}:{number}: `{riddle}..` makes no sense alone: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}
