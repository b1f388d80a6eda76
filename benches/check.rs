//! PTX in: megabytes per second through the parser, the validator and the printer, and the memory they take, against ptxas.
//!
//!     cargo bench --bench check
//!
//! The text is 30 MB of what nvcc 13.0 made: the sm_90 modules of `tests/real/nvcc`, over and over under other names. The clock stops when
//! the result is there, before its memory is given back. ptxas, a process, is asked only to check (`-arch=compute_90`); it has one thread. We
//! have as many as there are cores: `taskset -c 0` in front of the command for one.

use std::collections::HashSet;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use warpsmith::isa::Target;
use warpsmith::ptx::{self, Item};
use warpsmith_harness::ptxas::Toolbox;

const BYTES: usize = 30_000_000;

/// Each measurement is the fastest of so many.
const RUNS: usize = 5;

fn main() {
    let text = real_modules(BYTES);
    let before = peak_memory();
    let parsed = ptx::parse(&text);
    let findings = ptx::validate(&parsed.module);
    let grown = peak_memory().zip(before).map(|(after, before)| after - before);
    assert!(!parsed.diagnostics.iter().chain(&findings).any(|finding| finding.is_error()), "{findings:?}");
    println!("{} MB, {} lines", text.len() / 1_000_000, text.lines().count());
    if let Some(grown) = grown {
        let all = (grown + text.len()) as f64;
        println!(
            "peak memory of parsing and validating: {:.1} x the text, the text included",
            all / text.len() as f64
        );
    }
    rate("parse", &text, || ptx::parse(&text));
    let ours = rate("parse and validate", &text, || {
        let parsed = ptx::parse(&text);
        (ptx::validate(&parsed.module), parsed)
    });
    rate("print", &text, || ptx::print(&parsed.module));
    let Some(theirs) = ptxas(&text) else {
        println!("ptxas is not installed: no comparison");
        return;
    };
    println!(
        "{:<22} {:>9.1} ms   ptxas takes {:.1} times as long",
        "ptxas, checking only",
        theirs.as_secs_f64() * 1e3,
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

/// The best time of several runs, printed with its rate.
fn rate<T>(name: &str, text: &str, mut run: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        let made = black_box(run());
        let time = start.elapsed();
        drop(made);
        time
    };
    let best = (0..RUNS).map(time).min().unwrap_or_default();
    let rate = text.len() as f64 / 1e6 / best.as_secs_f64();
    println!("{name:<22} {:>9.1} ms {rate:>7.0} MB/s", best.as_secs_f64() * 1e3);
    best
}

/// How long ptxas takes to check the text.
fn ptxas(text: &str) -> Option<Duration> {
    let toolbox = Toolbox::from_environment();
    let program = &toolbox.for_target(Target::sm(90))?.path;
    let file = std::env::temp_dir().join(format!("warpsmith-bench-{}.ptx", std::process::id()));
    std::fs::write(&file, text).expect("the temporary folder is writable");
    let mut command = Command::new(program);
    command.arg("-arch=compute_90").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    let mut time = || {
        let start = Instant::now();
        assert!(command.status().is_ok_and(|status| status.success()), "ptxas takes the text");
        start.elapsed()
    };
    let best = (0..RUNS).map(|_| time()).min();
    // A leftover in the temporary folder does no harm.
    std::fs::remove_file(&file).unwrap_or_default();
    best
}

/// The highest resident size of this process in bytes, where the system reports it (Linux).
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? * 1024)
}

/// The modules of `tests/real/nvcc` for sm_90, repeated with everything they define renamed.
fn real_modules(bytes: usize) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/nvcc");
    let entries = std::fs::read_dir(folder).expect("tests/real/nvcc is part of the repository");
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".sm_90.ptx"));
    files.sort();
    let modules: Vec<_> = files
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("the modules can be read"))
        .map(|source| (defined(&source), source))
        .collect();
    let mut text = String::with_capacity(bytes + 200_000);
    text.push_str(".version 9.0\n.target sm_90\n.address_size 64\n");
    for (copy, (names, source)) in modules.iter().cycle().enumerate() {
        if text.len() >= bytes {
            break;
        }
        let body = source.split_once(".address_size 64").map_or("", |(_, body)| body);
        rename(body, names, copy, &mut text);
    }
    text
}

/// What a module defines or declares.
fn defined(source: &str) -> HashSet<String> {
    let module = ptx::parse(source).module;
    let mut names = HashSet::new();
    for item in module.items() {
        match *item {
            Item::Function(function) => drop(names.insert(module[module[function].name].to_owned())),
            Item::Variable(decl) => {
                names.extend(module[module[decl].names].iter().map(|one| module[one.name].to_owned()));
            }
            _ => {}
        }
    }
    names
}

/// Appends `body` with `_copy` behind each of the names. What follows a dot is a word of the language.
fn rename(body: &str, names: &HashSet<String>, copy: usize, text: &mut String) {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let mut rest = body;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
        let named = names.contains(word) && !text.ends_with('.');
        text.push_str(word);
        if named {
            text.push_str(&format!("_{copy}"));
        }
        let (between, after) = after.split_at(after.find(in_word).unwrap_or(after.len()));
        text.push_str(between);
        rest = after;
    }
}
