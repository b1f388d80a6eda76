//! The engine's kernels interpreted, as machine code, and as C loops over their threads (`scalar.c`, by clang 22 or what `CC` names), in one run; and
//! what it takes to compile them. `auto` is what launches come to that compile what is hot and time whether it gains anything. The examples among the kernels are
//! compiled by `warpsmith_emit`.
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
use warpsmith_interp::{Device, Launch, NativeCode, Program};
use warpsmith_native::{accelerate, attach, measure};

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
    // What is not asked for is not measured: the names of kernels, `compiling` or `first`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let asks = |name: &str| asked.is_empty() || asked.iter().any(|a| name.contains(a.as_str()));
    if std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    let c = of_c();
    println!(
        "| kernel | interpreted | machine code | ratio | auto | ratio | regions kept, dropped | C | C / machine code |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut logs = Vec::new();
    for (name, make) in KERNELS.into_iter().filter(|(name, _)| asks(name)) {
        let mut rates = Vec::new();
        let (mut statistics, mut kept, mut dropped) = (Vec::new(), 0, 0);
        for how in [NativeCode::Off, NativeCode::Always, NativeCode::Auto] {
            let (mut device, mut program, launch) = make();
            match how {
                NativeCode::Off => {}
                NativeCode::Always => _ = accelerate(&mut program).expect("this host has machine code"),
                NativeCode::Auto => settle(&mut device, &mut program, &launch),
            }
            let stats = device.launch(&program, &launch).expect("the kernel runs");
            statistics.push((stats.warp_instructions, stats.thread_instructions));
            let best = fastest(|| drop(black_box(device.launch(&program, &launch))));
            (kept, dropped) = state(&program);
            rates.push(stats.thread_instructions as f64 / best.as_nanos() as f64);
        }
        assert!(statistics.iter().all(|s| *s == statistics[0]), "{name}: as many instructions every way");
        let of_c = c.get(name).map(|nanoseconds| statistics[0].1 as f64 / nanoseconds);
        logs.extend(of_c.map(|rate| (rate / rates[1]).ln()));
        let [rate, ratio] =
            [of_c, of_c.map(|rate| rate / rates[1])].map(|n| n.map_or("-".into(), |n| format!("{n:.2}")));
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {kept}, {dropped} | {rate} | {ratio} |",
            rates[0],
            rates[1],
            rates[1] / rates[0],
            rates[2],
            rates[2] / rates[0]
        );
    }
    if !logs.is_empty() {
        println!(
            "geometric mean of C / machine code: {:.2}",
            (logs.iter().sum::<f64>() / logs.len() as f64).exp()
        );
    }
    if asks("first") {
        first_launches();
    }
    if asks("compiling") {
        compiling();
    }
}

/// Launches a program with a compiler until nothing more is compiled: it is not for as many launches as it took until now, and 16 more. Where trials
/// leave nothing to count, kept or dropped, that never happens: half a minute ends it too.
fn settle(device: &mut Device, program: &mut Program, launch: &Launch) {
    attach(program).expect("this host has machine code");
    let (mut last, mut known) = (0, state(program));
    let start = now();
    for n in 0u32.. {
        device.launch(program, launch).expect("the kernel runs");
        if state(program) != known {
            (last, known) = (n, state(program));
        }
        let settled = known.0 + known.1 > 0 && n > 2 * last + 16;
        if settled || now() - start > Duration::from_secs(30) {
            break;
        }
    }
}

/// Regions that are compiled, and those that were and gain nothing.
fn state(program: &Program) -> (usize, usize) {
    (program.compiled_regions().0, program.dropped_regions())
}

/// What it takes to attach a compiler; then launches of a program that was just loaded, one after the other, with a compiler and without one: what the
/// first takes, and what the launches up to one take together where that is worst, which is where something was just compiled. Medians of several
/// programs.
fn first_launches() {
    const PROGRAMS: usize = 7;
    let (_, program, _) = engine::small_launch_launch();
    let attaching = (0..1000).map(|_| {
        let mut fresh = program.clone();
        let start = now();
        attach(&mut fresh).expect("this host has machine code");
        (now() - start).as_secs_f64()
    });
    println!("\nto attach a compiler: {:.2} us", median(attaching.collect()) * 1e6);
    println!(
        "\n| kernel | instructions of a launch | first launch, interpreted | auto / interpreted | up to the worst launch | interpreted | auto / interpreted | launches | auto / interpreted |\n|---|---|---|---|---|---|---|---|---|"
    );
    for (name, make) in
        KERNELS.into_iter().chain([("small_launch", engine::small_launch_launch as fn() -> Measured)])
    {
        let (mut device, program, launch) = make();
        let stats = device.launch(&program, &launch).expect("the kernel runs");
        // As many launches as it takes to compile something, and as many again.
        let mut counted = program.clone();
        attach(&mut counted).expect("this host has machine code");
        let mut launches = 0;
        while launches < 4000 && state(&counted) == (0, 0) {
            device.launch(&counted, &launch).expect("the kernel runs");
            launches += 1;
        }
        let launches = 2 * launches;
        let mut times = [vec![Vec::new(); launches], vec![Vec::new(); launches]];
        for _ in 0..PROGRAMS {
            for (native, times) in times.iter_mut().enumerate() {
                let mut fresh = program.clone();
                if native == 1 {
                    attach(&mut fresh).expect("this host has machine code");
                }
                let start = now();
                for up_to in times {
                    device.launch(&fresh, &launch).expect("the kernel runs");
                    up_to.push((now() - start).as_secs_f64());
                }
            }
        }
        let medians = times.map(|times| times.into_iter().map(median).collect::<Vec<f64>>());
        let ratio = |n: usize| medians[1][n] / medians[0][n];
        let worst = (0..launches).max_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or(0);
        let milliseconds = |n: usize| medians[0][n] * 1e3;
        println!(
            "| {name} | {:.2} M | {:.3} ms | {:.2} | {} | {:.2} ms | {:.2} | {launches} | {:.2} |",
            stats.warp_instructions as f64 / 1e6,
            milliseconds(0),
            ratio(0),
            worst + 1,
            milliseconds(worst),
            ratio(worst),
            ratio(launches - 1)
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
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
            let each = best.as_secs_f64() * 1e6 / f64::from(program.operations());
            println!(
                "| {name} | {} | {} | {} | {:.2} ms | {each:.2} ms | {:.2} ms | {} | {} bytes | {rate:.2} |",
                program.operations(),
                found.operations,
                names(settings),
                best.as_secs_f64() * 1e3,
                found.building.as_secs_f64() * 1e3,
                found.instructions,
                found.bytes
            );
        }
    }
    println!("\n| 1,000 operations of the least that Cranelift compiles | settings | time |\n|---|---|---|");
    for (name, least) in [
        ("one instruction in the host's registers each", measure::Least::Scalar),
        ("a vector loaded, added to and stored each", measure::Least::Vector),
    ] {
        for settings in measure::SETTINGS {
            let compiler = measure::compiler(settings).expect("this host has machine code");
            let best =
                fastest(|| measure::compile_least(&compiler, least, 1000).expect("the function compiles"));
            println!("| {name} | {} | {:.2} ms |", names(settings), best.as_secs_f64() * 1e3);
        }
    }
}

fn names(settings: measure::Settings) -> String {
    let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    settings.join(" ")
}
