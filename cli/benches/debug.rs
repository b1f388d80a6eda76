//! What debug information costs: time and text of `-g` and `-g1`, beside the same compilation without, in one run.
//!
//!     cargo bench --bench debug
//!     cargo bench --workspace --bench debug --profile dev -- --stages
//!
//! Each example, at -O0 and at -O2, and a module in which all of them stand twenty times. A time is that of a library call from the text of
//! the IR to that of PTX, the fastest of many calls; the three kinds of compilation take turns, so that what else the machine does
//! disturbs them alike. `--stages` says where the time goes. A word that is not an option selects examples by their names.

mod common;

use common::{copies, defines_wir, examples};
use std::time::{Duration, Instant};
use warpsmith::emit::{Compiler, Debug, OptLevel, Stats};
use warpsmith::ir;
use warpsmith::isa::Target;

/// Each compilation runs at least this often, and until so much time has passed.
const RUNS: usize = 15;
const TIME: Duration = Duration::from_millis(600);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let stages = args.iter().any(|arg| arg == "--stages");
    let wanted = args.iter().find(|arg| !arg.starts_with('-'));
    let texts: Vec<(String, String)> = examples()
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("the examples can be read"))
        })
        .collect();
    let all: String = texts.iter().map(|(_, text)| text.clone() + "\n").collect();
    let large = ("20 times all".to_owned(), copies(&all, 20, defines_wir));
    println!(
        "{:<14} level {:>10} {:>6} {:>6} {:>10} {:>6} {:>6}",
        "", "time", "-g1", "-g", "text", "-g1", "-g"
    );
    for (name, text) in texts.iter().chain([&large]) {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        for level in [OptLevel::O0, OptLevel::O2] {
            let [without, lines, full] = measure(text, level);
            let times = |it: &Measured| it.time.as_secs_f64() / without.time.as_secs_f64();
            let longer = |it: &Measured| it.text as f64 / without.text as f64;
            println!(
                "{name:<14} -{level} {:>10.2} ms {:>6.2} {:>6.2} {:>8} B {:>6.2} {:>6.2}",
                without.time.as_secs_f64() * 1e3,
                times(&lines),
                times(&full),
                without.text,
                longer(&lines),
                longer(&full),
            );
            if stages {
                for (kind, measured) in [("", &without), ("-g1", &lines), ("-g", &full)] {
                    println!("    {kind:<4}{}", measured.stages);
                }
            }
        }
    }
}

/// The fastest of many compilations.
struct Measured {
    time: Duration,
    text: usize,
    stages: String,
}

/// Without debug information, with lines, and with everything.
fn measure(text: &str, level: OptLevel) -> [Measured; 3] {
    let mut best = [0; 3].map(|text| Measured { time: Duration::MAX, text, stages: String::new() });
    let start = Instant::now();
    let mut runs = 0;
    while runs < RUNS || start.elapsed() < TIME {
        for (debug, best) in [Debug::None, Debug::Lines, Debug::Full].into_iter().zip(&mut best) {
            let compiler = Compiler::new(Target::sm(75)).with_opt_level(level).with_debug(debug);
            let start = Instant::now();
            let module = ir::parse_module(text).expect("the examples parse");
            let parse = start.elapsed();
            let compiled = compiler.compile(&module).expect("the examples compile");
            let time = start.elapsed();
            if time < best.time {
                let stages = describe(parse, time, &compiled.stats);
                *best = Measured { time, text: compiled.text.len(), stages };
            }
        }
        runs += 1;
    }
    best
}

fn describe(parse: Duration, all: Duration, stats: &Stats) -> String {
    let passes: Duration = stats.passes.passes.iter().map(|pass| pass.time).sum();
    let known =
        parse + stats.verify_time + passes + stats.select_time + stats.emit_time + stats.validate_time;
    format!(
        "parse {parse:.1?}, verify {:.1?}, passes {passes:.1?}, select {:.1?}, emit {:.1?}, validate {:.1?}, rest {:.1?}",
        stats.verify_time,
        stats.select_time,
        stats.emit_time,
        stats.validate_time,
        all.saturating_sub(known),
    )
}
