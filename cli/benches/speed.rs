//! What the compiler costs from bitcode to PTX: processor time of this process, without its start, beside `opt-22` and `llc-22`, of whose processor
//! time the same commands on an empty module are taken off.
//!
//!     taskset -c 0 cargo bench -p warpsmith-cli --bench speed [-- [RUNS] [cuda] [c] [many] [large]]
//!
//! An instruction is a statement of a body of the PTX that is written, `.reg` and its like not counted. Best of `RUNS` (20).

#[path = "speed/clock.rs"]
mod clock;
mod common;
#[path = "speed/large.rs"]
mod large;

use clock::{best, own};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use warpsmith::emit::{Compiled, Compiler, OptLevel};
use warpsmith::isa::Target;
use warpsmith::{ir, llvm};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(20);
    let parts = ["cuda", "c", "many", "large"];
    let named = words.iter().any(|word| parts.contains(&&**word));
    let wanted = |part: &str| !named || words.iter().any(|word| word == part);
    // All on one core, unless a row says otherwise; a pool of one thread also where nobody has pinned the process.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the pool is made once");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if wanted("cuda") {
        let kernels = bitcode(&[root.join("benches/corpus"), root.join("benches/corpus/unrolled")], ".bc");
        let times = ours("CUDA kernels of benches/corpus", &kernels, runs);
        theirs(&kernels, &times, runs.min(5));
    }
    let tests = root.join("llvm/tests/corpus");
    for level in ["O0", "O3"].into_iter().filter(|_| wanted("c")) {
        let folders = [tests.clone(), tests.join("c"), tests.join("csmith")];
        let files = bitcode(&folders, &format!("{level}.bc"));
        ours(&format!("C, C++ and OpenCL of llvm/tests/corpus by clang -{level}"), &files, runs);
    }
    if wanted("many") {
        many(runs.min(7));
    }
    if wanted("large") {
        large::functions();
    }
}

/// The files of folders whose names end so.
fn bitcode(folders: &[PathBuf], ending: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        paths.extend(entries.flatten().map(|entry| entry.path()));
    }
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    paths.sort();
    paths
}

/// Times of a level over all files.
struct Row {
    level: OptLevel,
    time: Duration,
    instructions: usize,
}

/// Measures import and each level.
fn ours(title: &str, paths: &[PathBuf], runs: u32) -> Vec<Row> {
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).expect("a file")).collect();
    let bytes: usize = files.iter().map(Vec::len).sum();
    println!("\n{title}: {} files, {} KB", files.len(), bytes / 1000);
    let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e6;
    let time = best(runs, own, || files.iter().for_each(|file| _ = std::hint::black_box(read(file))));
    println!("{:<28} {:>9.2} ms {:>9.1} MB/s", "read", time.as_secs_f64() * 1e3, rate(time));
    let import = best(runs, own, || files.iter().for_each(|file| _ = std::hint::black_box(imported(file))));
    println!("{:<28} {:>9.2} ms {:>9.1} MB/s", "import", import.as_secs_f64() * 1e3, rate(import));
    let modules: Vec<ir::Module> = files.iter().map(|file| imported(file)).collect();
    let mut rows = Vec::new();
    for level in OptLevel::ALL {
        let compiler = Compiler::new(Target::sm(90)).with_opt_level(level);
        let compile =
            |module: &ir::Module| compiler.compile(module).unwrap_or_else(|errors| panic!("{errors}"));
        let instructions = modules.iter().map(|module| instructions(&compile(module))).sum();
        let time = best(runs, own, || {
            modules.iter().for_each(|module| _ = std::hint::black_box(compile(module)));
        });
        let (us, all) = (micros(time, instructions), micros(time + import, instructions));
        println!(
            "{:<28} {:>9.2} ms {instructions:>9} PTX {us:>8.2} us each, {all:.2} with import",
            format!("compile -{level}"),
            time.as_secs_f64() * 1e3,
        );
        println!("    {}", stages(modules.iter().map(compile)));
        rows.push(Row { level, time: time + import, instructions });
    }
    rows
}

/// The examples a hundred times in one module, from text to text, beside what clang makes of the same kernels.
fn many(runs: u32) {
    println!("\n1,200 kernels in one module");
    let read =
        |path: &Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let wir: String = common::examples().iter().map(|path| read(path) + "\n").collect();
    let wir = common::copies(&wir, 100, common::defines_wir);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().expect("threads can be started");
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2] {
        let compiler = Compiler::new(Target::sm(75)).with_opt_level(level);
        let compile = || {
            let module = ir::parse_module(&wir).expect("the examples parse");
            compiler.compile(module).unwrap_or_else(|errors| panic!("{errors}"))
        };
        let instructions = instructions(&compile());
        let time = best(runs, own, || _ = std::hint::black_box(compile()));
        row(&format!("parse and compile -{level}"), time, instructions);
        if cores > 1 {
            let time = best(3 * runs, clock::wall, || pool.install(|| _ = std::hint::black_box(compile())));
            row(&format!("... on {cores} cores, elapsed"), time, instructions);
        }
    }
    if !found("llc-22") {
        println!("llc-22 is not installed: no comparison");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ll = read(&root.join("benches/llvm/kernels.ll"));
    let ll = common::copies(&ll, 100, |line| line.starts_with("define ") || line.starts_with('@'));
    let folder = clock::Folder::new();
    let (input, output) = (folder.file("many.ll"), folder.file("many.ptx"));
    std::fs::write(&input, ll).expect("a temporary file");
    let llc = |input: &Path| {
        run(Command::new("llc-22").args(["-O0", "-mcpu=sm_75"]).arg(input).arg("-o").arg(&output));
    };
    let empty = folder.empty();
    let start = best(runs, clock::children, || llc(&empty));
    let whole = best(runs, clock::children, || llc(&input));
    let instructions = count(&read(&output));
    row("llc-22 -O0", whole.saturating_sub(start), instructions);
    if cores > 1 {
        let elapsed = |input| best(runs, clock::wall, || llc(input));
        row("... elapsed", elapsed(&input).saturating_sub(elapsed(&empty)), instructions);
    }
}

fn row(name: &str, time: Duration, instructions: usize) {
    let (ms, us) = (time.as_secs_f64() * 1e3, micros(time, instructions));
    println!("{name:<28} {ms:>9.2} ms {instructions:>9} PTX {us:>8.2} us each");
}

fn micros(time: Duration, instructions: usize) -> f64 {
    time.as_secs_f64() * 1e6 / instructions as f64
}

/// Where the time of one run went, by the clock on the wall.
fn stages(compiled: impl Iterator<Item = Compiled>) -> String {
    let mut sums = [Duration::ZERO; 5];
    for Compiled { stats, .. } in compiled {
        let passes = stats.passes.passes.iter().map(|pass| pass.time).sum();
        let times = [stats.verify_time, passes, stats.select_time, stats.emit_time, stats.validate_time];
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    let [verify, passes, select, emit, validate] = sums;
    format!(
        "verify {verify:.1?}, passes {passes:.1?}, select {select:.1?}, emit {emit:.1?}, validate {validate:.1?}"
    )
}

fn read(bytes: &[u8]) -> llvm::Module<'_> {
    llvm::Module::read(bytes).expect("the corpus is read")
}

fn imported(bytes: &[u8]) -> ir::Module {
    let options = llvm::Options::new().with_target(Target::sm(90));
    llvm::import(vec![(String::new(), read(bytes))], &options).expect("the corpus is imported")
}

/// The instructions of a module.
fn instructions(compiled: &Compiled) -> usize {
    count(&compiled.text)
}

/// Statements of PTX text that are instructions: they end with `;` and do not begin with a directive.
fn count(text: &str) -> usize {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| line.contains(';') && !line.starts_with(['.', '/', '{'])).count()
}

/// The same files through LLVM's commands, and how many times our time theirs is.
fn theirs(paths: &[PathBuf], cuda: &[Row], runs: u32) {
    if !found("opt-22") || !found("llc-22") {
        println!("opt-22 and llc-22 are not installed: no comparison");
        return;
    }
    let folder = clock::Folder::new();
    let empty = folder.empty();
    let (optimised, output) = (folder.file("optimised.bc"), folder.file("out.ptx"));
    for (ours, passes, level) in [(OptLevel::O0, None, "-O0"), (OptLevel::O2, Some("default<O3>"), "-O3")] {
        let compile = |input: &Path| {
            let mut input = input;
            if let Some(passes) = passes {
                run(Command::new("opt-22")
                    .arg(format!("-passes={passes}"))
                    .arg(input)
                    .arg("-o")
                    .arg(&optimised));
                input = &optimised;
            }
            let llc = ["-mcpu=sm_90", "-mattr=+ptx83", level];
            run(Command::new("llc-22").args(llc).arg(input).arg("-o").arg(&output));
        };
        // The start of a process is that of a process that does nothing, as often as there are files.
        let start = best(runs, clock::children, || paths.iter().for_each(|_| compile(&empty)));
        let whole = best(runs, clock::children, || paths.iter().for_each(|path| compile(path)));
        let instructions: usize = paths
            .iter()
            .map(|path| {
                compile(path);
                count(&std::fs::read_to_string(&output).expect("llc wrote it"))
            })
            .sum();
        let time = whole.saturating_sub(start);
        let name = if passes.is_some() { "opt -O3, llc -O3" } else { "llc -O0" };
        let row = cuda.iter().find(|row| row.level == ours).expect("every level was measured");
        println!(
            "{name:<28} {:>9.2} ms {instructions:>9} PTX {:>8.2} us each, {:.1} ms of starts taken off: {:.1} times import and -{ours}",
            time.as_secs_f64() * 1e3,
            micros(time, instructions),
            start.as_secs_f64() * 1e3,
            time.as_secs_f64() / row.time.as_secs_f64(),
        );
        println!(
            "{:<28} {:>9.2} us each",
            format!("ours, import and -{ours}"),
            micros(row.time, row.instructions)
        );
    }
}

fn found(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program is there");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
