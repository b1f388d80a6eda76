//! The engine's kernels interpreted, as machine code, and as C loops over their threads (`scalar.c`, by clang 22 or what `CC` names), in one run; and
//! what it takes to compile them. The examples among them are compiled by `warpsmith_emit`.
//!
//!     cargo bench -p warpsmith-native --bench accelerated
//!
//! Processor time of the fastest of many runs each, in thread instructions of the PTX kernel a second.

// Uses `divan`, too.
#[path = "../../runtime-interp/benches/engine.rs"]
#[allow(dead_code, reason = "the file is a bench of its own, too")]
mod engine;

use engine::Measured;
use std::collections::HashMap;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};
use warpsmith_native::{accelerate, measure};

/// A kernel by its name here and in `scalar.c`.
type Kernel = (&'static str, fn() -> Measured);

const KERNELS: [Kernel; 7] = [
    ("alu_loop", engine::alu_loop_launch),
    ("tiled_matrix_product", engine::tiled_matrix_product_launch),
    ("matmul_example", engine::matmul_example_launch),
    ("sha256", engine::sha256_launch),
    ("mandelbrot", engine::mandelbrot_launch),
    ("divergent_loop", engine::divergent_loop_launch),
    ("small_virtual_machine", engine::small_virtual_machine_launch),
];

/// Processor time of this thread: launches of one worker are executed on it.
fn now() -> Duration {
    #[repr(C)]
    #[derive(Default)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    /// `CLOCK_THREAD_CPUTIME_ID` of Linux.
    const THREAD: i32 = 3;
    let mut time = Time::default();
    // SAFETY: the function of the C library, which writes a time of two words.
    assert_eq!(unsafe { clock_gettime(THREAD, &raw mut time) }, 0, "the clock is there");
    Duration::new(time.seconds.unsigned_abs(), u32::try_from(time.nanoseconds).unwrap_or(0))
}

/// The processor time of the fastest of the runs of half a second, 20 at least.
fn fastest(mut run: impl FnMut()) -> Duration {
    let (begin, mut best, mut runs) = (Instant::now(), Duration::MAX, 0);
    while runs < 20 || begin.elapsed() < Duration::from_millis(500) {
        let start = now();
        run();
        best = best.min(now() - start);
        runs += 1;
    }
    best
}

/// Nanoseconds of the C kernels, by name; none where there is no compiler.
fn of_c() -> HashMap<String, f64> {
    let (source, out) = (concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scalar.c"), std::env::temp_dir());
    let program = out.join(format!("warpsmith-scalar-{}", std::process::id()));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "clang-22".into());
    let compiled =
        Command::new(&compiler).args(["-O3", "-march=native", source, "-o"]).arg(&program).status();
    if !compiled.is_ok_and(|status| status.success()) {
        println!("no C to compare with: `{compiler}` does not compile it");
        return HashMap::new();
    }
    let output = Command::new(&program).output().expect("what was compiled runs");
    std::fs::remove_file(&program).expect("the program is there");
    let text = String::from_utf8(output.stdout).expect("it prints names and numbers");
    let line = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn main() {
    // What is not asked for is not measured: the names of kernels, or `compiling`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let asks = |name: &str| asked.is_empty() || asked.iter().any(|a| name.contains(a.as_str()));
    if std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    let c = of_c();
    println!("| kernel | interpreted | machine code | ratio | C | C / machine code |");
    println!("|---|---|---|---|---|---|");
    let mut logs = Vec::new();
    for (name, make) in KERNELS.into_iter().filter(|(name, _)| asks(name)) {
        let mut rates = Vec::new();
        let mut statistics = Vec::new();
        for native in [false, true] {
            let (mut device, mut program, launch) = make();
            if native {
                accelerate(&mut program).expect("this host has machine code");
            }
            let stats = device.launch(&program, &launch).expect("the kernel runs");
            statistics.push((stats.warp_instructions, stats.thread_instructions));
            let best = fastest(|| drop(black_box(device.launch(&program, &launch))));
            rates.push(stats.thread_instructions as f64 / best.as_nanos() as f64);
        }
        assert_eq!(statistics[0], statistics[1], "{name}: as many instructions both ways");
        let of_c = c.get(name).map(|nanoseconds| statistics[0].1 as f64 / nanoseconds);
        logs.extend(of_c.map(|rate| (rate / rates[1]).ln()));
        let [rate, ratio] =
            [of_c, of_c.map(|rate| rate / rates[1])].map(|n| n.map_or("-".into(), |n| format!("{n:.2}")));
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {rate} | {ratio} |",
            rates[0],
            rates[1],
            rates[1] / rates[0]
        );
    }
    if !logs.is_empty() {
        println!(
            "geometric mean of C / machine code: {:.2}",
            (logs.iter().sum::<f64>() / logs.len() as f64).exp()
        );
    }
    if asks("compiling") {
        compiling();
    }
}

/// What it takes to compile all regions of a kernel, by settings of the compiler.
fn compiling() {
    println!(
        "\n| kernel | operations | compiled | settings | time | a 1,000 operations | building | instructions | code | G/s |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for (name, make) in KERNELS {
        let (mut device, program, launch) = make();
        for settings in measure::SETTINGS {
            let compiler = measure::compiler(settings).expect("this host has machine code");
            let mut found = None;
            let best =
                fastest(|| found = Some(measure::compile(&program, &compiler).expect("regions compile")));
            let Some(found) = found else { continue };
            let mut native = program.clone();
            compiler.accelerate(&mut native);
            let stats = device.launch(&native, &launch).expect("the kernel runs");
            let run = fastest(|| drop(black_box(device.launch(&native, &launch))));
            let rate = stats.thread_instructions as f64 / run.as_nanos() as f64;
            let settings: Vec<String> =
                settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let each = best.as_secs_f64() * 1e6 / f64::from(program.operations());
            println!(
                "| {name} | {} | {} | {} | {:.2} ms | {each:.2} ms | {:.2} ms | {} | {} bytes | {rate:.2} |",
                program.operations(),
                found.operations,
                settings.join(" "),
                best.as_secs_f64() * 1e3,
                found.building.as_secs_f64() * 1e3,
                found.instructions,
                found.bytes
            );
        }
    }
}
