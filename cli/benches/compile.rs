//! IR text to PTX text, measured per emitted PTX line against `llc-22 -O0` on the same kernels, in one run.
//!
//!     cargo bench --bench compile
//!
//! Both sides read text and produce text; `benches/llvm/kernels.ll` holds the kernels of `examples/` as clang makes them. They are
//! measured three times: a file each, as a user compiles them; once each in one module, as commands and as a library call, where
//! starting a process is part of what a user waits for; and a hundred times each in a module under other names, where it is not.
//! A line counts if it is not blank and not a comment.

mod common;

use common::{copies, defines_wir, examples};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use warpsmith::emit::{Compiler, OptLevel, Stats};
use warpsmith::ir;
use warpsmith::isa::Target;

/// Each side runs this often; the fastest run counts.
const RUNS: usize = 7;

fn main() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let examples = examples();
    let wir: String = examples.iter().map(|path| read(path) + "\n").collect();
    let ll = read(&root.join("benches/llvm/kernels.ll"));
    let llc =
        Command::new("llc-22").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    if !llc {
        println!("llc-22 is not installed: no comparison");
    }
    let defines_ll = |line: &str| line.starts_with("define ") || line.starts_with('@');
    let command = env!("CARGO_BIN_EXE_warpsmith");
    one_by_one(&examples, &root.join("benches/llvm/kernels.ll"), llc);
    for count in [1, 100] {
        heading(&format!("{} kernels in a module", examples.len() * count));
        let wir = copies(&wir, count, defines_wir);
        let ll = copies(&ll, count, defines_ll);
        let theirs = llc.then(|| {
            let file = Temporary::new("ll", &ll);
            measure("llc-22 -O0", ll.len(), None, || output("llc-22", &LLC, &file.0))
        });
        let row = |name: &str, run: &mut dyn FnMut() -> String| _ = measure(name, wir.len(), theirs, run);
        let file = Temporary::new("wir", &wir);
        row("warpsmith compile -O0", &mut || output(command, &["compile", "-O0"], &file.0));
        for level in OptLevel::ALL {
            let compiler = Compiler::new(Target::sm(75)).with_opt_level(level);
            let mut stages = String::new();
            row(&format!("library, -{level}"), &mut || {
                let start = Instant::now();
                let module = ir::parse_module(&wir).expect("the examples parse");
                let parse = start.elapsed();
                let compiled = compiler.compile(&module).expect("the examples compile");
                stages = describe(parse, &compiled.stats);
                compiled.text
            });
            println!("    {stages}");
        }
    }
}

/// Each kernel of `examples/` in a file of its own, and its peer in another: a process each, or a library call each.
fn one_by_one(examples: &[PathBuf], kernels: &Path, llc: bool) {
    heading(&format!("{} kernels, a file each", examples.len()));
    let sources: Vec<String> = examples
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("the examples can be read"))
        .collect();
    let text = sources.iter().map(String::len).sum();
    let theirs = llc.then(|| peers(&sources, kernels)).flatten().map(|files| {
        let run = || files.iter().map(|file| output("llc-22", &LLC, &file.0)).collect();
        let bytes = |file: &Temporary| std::fs::metadata(&file.0).map_or(0, |data| data.len() as usize);
        measure("llc-22 -O0, 12 processes", files.iter().map(bytes).sum(), None, run)
    });
    let command = env!("CARGO_BIN_EXE_warpsmith");
    for level in ["-O0", "-O1"] {
        let run = || examples.iter().map(|file| output(command, &["compile", level], file)).collect();
        measure(&format!("warpsmith, 12 processes {level}"), text, theirs, run);
    }
    for level in [OptLevel::O0, OptLevel::O1] {
        let compiler = Compiler::new(Target::sm(75)).with_opt_level(level);
        let compile = |source: &String| {
            compiler
                .compile(ir::parse_module(source).expect("the examples parse"))
                .expect("the examples compile")
                .text
        };
        measure(&format!("library, -{level}"), text, theirs, || sources.iter().map(compile).collect());
    }
}

/// The kernels of the examples out of the LLVM module, a file each; nothing where `llvm-extract-22` is missing.
fn peers(sources: &[String], kernels: &Path) -> Option<Vec<Temporary>> {
    let kernel = |source: &String| {
        let line = source.lines().find(|line| line.starts_with("kernel @")).expect("an example has a kernel");
        line["kernel @".len()..].split('(').next().unwrap_or_default().to_owned()
    };
    let extract = |name: String| {
        let function = format!("--func={name}");
        let extracted =
            Command::new("llvm-extract-22").args(["-S", "--recursive", &function]).arg(kernels).output();
        let text = extracted.ok().filter(|output| output.status.success())?.stdout;
        Some(Temporary::new(&format!("{name}.ll"), &String::from_utf8(text).ok()?))
    };
    sources.iter().map(kernel).map(extract).collect()
}

/// How the peer is called.
const LLC: [&str; 5] = ["-O0", "-mtriple=nvptx64", "-mcpu=sm_75", "-o", "-"];

fn heading(title: &str) {
    println!("\n{title}");
    println!("{:<28} {:>9} {:>9} {:>12} {:>14}", "", "text", "lines", "time", "lines/s");
}

/// Where the time of the last run went.
fn describe(parse: Duration, stats: &Stats) -> String {
    let passes: Duration = stats.passes.passes.iter().map(|pass| pass.time).sum();
    format!(
        "parse {parse:.1?}, verify {:.1?}, passes {passes:.1?}, select {:.1?}, emit {:.1?}, validate {:.1?}",
        stats.verify_time, stats.select_time, stats.emit_time, stats.validate_time
    )
}

/// A file in the temporary folder, removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(extension: &str, text: &str) -> Temporary {
        let name = format!("warpsmith-bench-{}.{extension}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the temporary folder is writable");
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A leftover in the temporary folder does no harm.
        std::fs::remove_file(&self.0).unwrap_or_default();
    }
}

fn output(program: &str, args: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(args).arg(file).output().expect("the program is there");
    assert!(output.status.success(), "{program} failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("PTX is text")
}

/// Prints one row, with its ratio to the peer's rate, and returns lines per second.
fn measure(name: &str, text: usize, peer: Option<f64>, mut run: impl FnMut() -> String) -> f64 {
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
    let ratio = peer.map_or_else(String::new, |peer| format!("  {:.1} x llc", rate / peer));
    let (text, time) = (text / 1000, best.as_secs_f64() * 1e3);
    println!("{name:<28} {text:>6} KB {lines:>9} {time:>9.2} ms {rate:>14.0}{ratio}");
    rate
}
