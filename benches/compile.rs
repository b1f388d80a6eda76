//! IR text to PTX text, measured per emitted PTX line against `llc-22 -O0` on the same kernels, in one run.
//!
//!     cargo bench --bench compile
//!
//! Both sides read text and produce text. Every kernel of `examples/` stands in the module many times under other names, so that
//! llc's start-up does not count; `benches/llvm/kernels.ll` holds the same kernels as clang makes them. A line counts if it is not
//! blank and not a comment.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::ir;
use warpsmith::isa::Target;

/// How often each kernel stands in the measured module.
const COPIES: usize = 100;
/// Each side runs this often; the fastest run counts.
const RUNS: usize = 5;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut examples: Vec<_> = std::fs::read_dir(root.join("examples"))
        .expect("examples/ is part of the repository")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wir"))
        .collect();
    examples.sort();
    let wir: String = examples.iter().map(|path| read(path) + "\n").collect();
    let wir = copies(&wir, |line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("kernel" | "func" | "global" | "const" | "shared"))
    });
    println!("{:<22} {:>9} {:>9} {:>12} {:>14}", "", "text", "lines", "time", "lines/s");
    let mut ours = Vec::new();
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        let compiler = Compiler::new(Target::sm(75)).with_opt_level(level);
        let mut stages = String::new();
        let compile = || {
            let start = Instant::now();
            let module = ir::parse_module(&wir).expect("the examples parse");
            let parse = start.elapsed();
            let compiled = compiler.compile(&module).expect("the examples compile");
            let stats = compiled.stats;
            let passes: Duration = stats.passes.passes.iter().map(|pass| pass.time).sum();
            stages = format!(
                "  parse {parse:.1?}, verify {:.1?}, passes {passes:.1?}, select {:.1?}, emit {:.1?}, validate {:.1?}",
                stats.verify_time, stats.select_time, stats.emit_time, stats.validate_time
            );
            compiled.text
        };
        ours.push(measure(&format!("warpsmith -{level}"), wir.len(), compile));
        println!("{stages}");
    }
    let ll = copies(&read(&root.join("benches/llvm/kernels.ll")), |line| {
        line.starts_with("define ") || line.starts_with('@')
    });
    let file = std::env::temp_dir().join(format!("warpsmith-bench-{}.ll", std::process::id()));
    std::fs::write(&file, &ll).expect("the temporary folder is writable");
    let llc = || {
        let output = Command::new("llc-22")
            .args(["-O0", "-mcpu=sm_75", "-o", "-"])
            .arg(&file)
            .stderr(Stdio::inherit())
            .output()
            .expect("llc-22 was found before");
        assert!(output.status.success(), "llc-22 failed");
        String::from_utf8(output.stdout).expect("llc-22 writes text")
    };
    if Command::new("llc-22")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
    {
        let theirs = measure("llc-22 -O0", ll.len(), llc);
        for (level, ours) in ours.iter().enumerate() {
            println!("-O{level} against llc-22 -O0: {:.1} times the throughput", ours / theirs);
        }
    } else {
        println!("llc-22 is not installed: no comparison");
    }
    // A leftover in the temporary folder does no harm.
    let _ = std::fs::remove_file(&file);
}

/// Prints one row and returns lines per second.
fn measure(name: &str, text: usize, mut run: impl FnMut() -> String) -> f64 {
    let mut best = Duration::MAX;
    let mut lines = 0;
    for _ in 0..RUNS {
        let start = Instant::now();
        let output = run();
        best = best.min(start.elapsed());
        let counts = |line: &&str| !line.trim_start().is_empty() && !line.trim_start().starts_with("//");
        lines = output.lines().filter(counts).count();
    }
    let rate = lines as f64 / best.as_secs_f64();
    println!(
        "{name:<22} {:>6} KB {lines:>9} {:>9.2} ms {:>14.0}",
        text / 1000,
        best.as_secs_f64() * 1e3,
        rate
    );
    rate
}

/// The module with everything it defines `COPIES` times. `defines` tells the lines that define a symbol (the first `@name`).
fn copies(source: &str, defines: impl Fn(&str) -> bool) -> String {
    let symbol = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.' | '-'));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut defined = HashSet::new();
    // What is defined is repeated; the rest (declarations, attributes, metadata) stands once.
    let (mut repeated, mut once) = (String::new(), String::new());
    let mut inside = false;
    for line in source.lines() {
        if line.starts_with(';') {
            continue;
        }
        let start = defines(line);
        if start && let Some((_, rest)) = line.split_once('@') {
            defined.insert(symbol(rest));
        }
        let part = if start || inside { &mut repeated } else { &mut once };
        part.push_str(line);
        part.push('\n');
        // A definition of several lines ends with a bracket in the first column.
        let opens = start && (line.ends_with('{') || line.ends_with('['));
        inside = (inside || opens) && !matches!(line, "}" | "]");
    }
    let mut text = String::with_capacity(repeated.len() * (COPIES + 1));
    for copy in 0..COPIES {
        let mut pieces = repeated.split('@');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let name = symbol(piece);
            text.push('@');
            text.push_str(&name);
            if defined.contains(&name) {
                text.push_str(&format!("_{copy}"));
            }
            text.push_str(&piece[name.len()..]);
        }
    }
    once + &text
}
