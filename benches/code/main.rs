//! The quality of code: kernels of `benches/corpus` compiled from clang's bitcode, against nvcc and LLVM on the same source in the same run.
//!
//!     cargo bench --bench code                              # every kernel, -O2
//!     cargo bench --bench code -- saxpy conv2d              # these kernels
//!     cargo bench --bench code -- --passes=cfg,mem2reg,dce  # another pipeline
//!     cargo bench --bench code -- --unrolled                # loops as compilers like, not kept rolled
//!     cargo bench --bench code -- --ablation                # -O2 without each of its passes
//!     cargo bench --bench code -- --print saxpy             # the text of the file that the kernel is in
//!     cargo bench --bench code -- --corpus=benches/further  # the kernels of another folder, of which benches/corpus/make.sh made bitcode
//!
//! For each kernel: lw10, the SASS instructions of ptxas 13.0 for sm_90 weighted by ten to the depth of the loop they are in, loops kept rolled;
//! the registers, and those of them that its instructions name; the instructions that a thread executes on average, counted by the engine. Last comes the geometric mean of the ratios. The
//! results of the optimised code are compared bit by bit with those of -O0, and with nvcc's as floats.
//!
//! `nvcc` is `$NVCC` or on `PATH`; `opt-22` and `llc-22` are on `PATH`. What is not installed is left out.

mod corpus;
mod peers;
mod run;
mod sass;

use corpus::{Kernel, Source};
use run::Outcome;
use sass::Sass;
use std::collections::HashMap;
use std::time::Instant;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::isa::Target;
use warpsmith::lower::Pipeline;

const TARGET: Target = Target::sm(90);

/// How often compile time is measured; the fastest round counts.
const ROUNDS: u32 = 5;

/// What is measured of one kernel as one compiler made it.
#[derive(Clone, Debug)]
struct Measured {
    sass: Option<Sass>,
    outcome: Result<Outcome, String>,
}

type Results = HashMap<String, Measured>;

fn main() {
    let mut passes = None;
    let mut level = OptLevel::O2;
    let mut ablation = false;
    let mut print = false;
    let mut rolled = true;
    let mut folder = corpus::own();
    let mut wanted: Vec<String> = Vec::new();
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        match arg.split_once('=') {
            Some(("--passes", text)) => passes = Some(text.to_owned()),
            Some(("--corpus", path)) => folder = path.into(),
            Some(("--level", text)) => level = text.parse().expect("--level=O0 to O3"),
            _ if arg == "--ablation" => ablation = true,
            _ if arg == "--print" => print = true,
            _ if arg == "--unrolled" => rolled = false,
            _ => wanted.push(arg),
        }
    }
    let text = passes.unwrap_or_else(|| Pipeline::for_level(level).to_string());
    let sources = corpus::read(&folder, &wanted, rolled);
    if print {
        sources.iter().for_each(|source| println!("{}", compile(source, &text).0));
        return;
    }
    let base = compile_all(&sources, &text);
    if ablation {
        return leave_out(&sources, &text, &base);
    }
    let wrong = differences(&sources, &text);
    let peers: Vec<(&str, Results)> = peers::all(rolled)
        .into_iter()
        .map(|(name, compile)| {
            let texts = sources.iter().filter_map(|source| compile(source).map(|text| (source, text)));
            (name, texts.flat_map(|(source, text)| measure(source, &text)).collect())
        })
        .collect();
    report(&sources, &base, &wrong, &peers);
}

fn compile_all(sources: &[Source], passes: &str) -> Results {
    sources.iter().flat_map(|source| measure(source, &compile(source, passes).0)).collect()
}

/// The text and the microseconds that it took.
fn compile(source: &Source, passes: &str) -> (String, f64) {
    let pipeline = Pipeline::parse(passes).unwrap_or_else(|unknown| panic!("{unknown}"));
    let compiler = Compiler::new(TARGET).with_passes(pipeline);
    let start = Instant::now();
    let compiled = compiler.compile(&source.module).unwrap_or_else(|errors| panic!("{errors}"));
    (compiled.text, start.elapsed().as_secs_f64() * 1e6)
}

fn measure(source: &Source, text: &str) -> Results {
    let mut sass = sass::of(text);
    let measure = |kernel: &Kernel| {
        let measured = Measured { sass: sass.remove(&kernel.name), outcome: run::run(text, kernel) };
        (kernel.name.clone(), measured)
    };
    source.kernels.iter().map(measure).collect()
}

/// What kernels leave otherwise than unoptimised, without what may be rounded otherwise.
fn differences(sources: &[Source], passes: &str) -> HashMap<String, String> {
    let pipeline = Pipeline::parse(passes).unwrap_or_else(|unknown| panic!("{unknown}"));
    let exact = pipeline.exact().to_string();
    let mut wrong = HashMap::new();
    for source in sources {
        let [plain, optimised] = ["", exact.as_str()].map(|passes| compile(source, passes).0);
        for kernel in &source.kernels {
            let outcomes = [&plain, &optimised].map(|text| run::run(text, kernel));
            let difference = match outcomes {
                [Err(error), _] => format!(" | FAULT at -O0 {error}"),
                [_, Err(error)] => format!(" | FAULT {error}"),
                [Ok(plain), Ok(optimised)] if plain.bytes == optimised.bytes => continue,
                // Sums in the order that threads come in.
                [Ok(plain), Ok(optimised)]
                    if kernel.fill == corpus::Fill::F32 && kernel.agrees(&plain.bytes, &optimised.bytes) =>
                {
                    " | rounds unlike -O0".into()
                }
                [Ok(_), Ok(_)] => " | DIFFERS FROM -O0".into(),
            };
            wrong.insert(kernel.name.clone(), difference);
        }
    }
    wrong
}

fn report(sources: &[Source], ours: &Results, wrong: &HashMap<String, String>, peers: &[(&str, Results)]) {
    let all = [("warpsmith", ours)];
    let columns: Vec<(&str, &Results)> =
        all.into_iter().chain(peers.iter().map(|(name, results)| (*name, results))).collect();
    print!("{:16}", "kernel");
    for (name, _) in &columns {
        print!(" | {name:>9} lw10 regs   dynamic");
    }
    println!();
    for kernel in sources.iter().flat_map(|source| &source.kernels) {
        print!("{:16}", kernel.name);
        for (_, results) in &columns {
            let found = results.get(&kernel.name);
            match found.and_then(|found| found.sass.as_ref()) {
                Some(sass) => print!(" | {:>14} {:>4}", sass.weighted, sass.registers),
                None => print!(" | {:>14} {:>4}", "-", "-"),
            }
            match found.map(|found| &found.outcome) {
                Some(Ok(outcome)) => print!(" {:>9.1}", outcome.instructions),
                Some(Err(_)) | None => print!(" {:>9}", "-"),
            }
        }
        println!("{}", verdict(kernel, ours, wrong, peers));
    }
    for (name, theirs) in peers {
        let ratio = |of: &dyn Fn(&Measured) -> Option<f64>| {
            geometric_mean(ours.iter().filter_map(|(name, own)| Some(of(own)? / of(theirs.get(name)?)?)))
        };
        println!(
            "against {name}: lw10 {:.3}, registers {:.3} (named {:.3}), executed instructions {:.3}",
            ratio(&|m| Some(m.sass.as_ref()?.weighted as f64)),
            ratio(&|m| Some(f64::from(m.sass.as_ref()?.registers))),
            ratio(&|m| Some(m.sass.as_ref()?.named as f64)),
            ratio(&|m| m.outcome.as_ref().ok().map(|outcome| outcome.instructions)),
        );
    }
    report_behind(sources, ours, peers);
}

/// Names the kernels that the better of the peers is ahead of by more than a twentieth.
fn report_behind(sources: &[Source], ours: &Results, peers: &[(&str, Results)]) {
    let weighted =
        |results: &Results, kernel: &Kernel| Some(results.get(&kernel.name)?.sass.as_ref()?.weighted);
    let executed = |results: &Results, kernel: &Kernel| {
        Some(results.get(&kernel.name)?.outcome.as_ref().ok()?.instructions)
    };
    for kernel in sources.iter().flat_map(|source| &source.kernels) {
        let best = peers.iter().filter_map(|(_, theirs)| weighted(theirs, kernel)).min();
        let ratio = weighted(ours, kernel).zip(best).map_or(0.0, |(own, best)| own as f64 / best as f64);
        let fewest = peers.iter().filter_map(|(_, theirs)| executed(theirs, kernel)).reduce(f64::min);
        let more = executed(ours, kernel).zip(fewest).map_or(0.0, |(own, fewest)| own / fewest);
        if ratio > 1.05 || more > 1.05 {
            println!("behind the better of the two: {} (lw10 {ratio:.2}, executed {more:.2})", kernel.name);
        }
    }
}

/// What is wrong with the results of a kernel, if anything is.
fn verdict(
    kernel: &Kernel,
    ours: &Results,
    wrong: &HashMap<String, String>,
    peers: &[(&str, Results)],
) -> String {
    let own = match &ours[&kernel.name].outcome {
        Ok(outcome) => outcome,
        Err(error) => return format!(" | FAULT {error}"),
    };
    if let Some(difference) = wrong.get(&kernel.name) {
        return difference.clone();
    }
    let nvcc =
        peers.iter().find(|(name, _)| *name == "nvcc").and_then(|(_, results)| results.get(&kernel.name));
    match nvcc.map(|found| &found.outcome) {
        Some(Ok(outcome)) if !kernel.agrees(&outcome.bytes, &own.bytes) => " | differs from nvcc".into(),
        Some(Err(error)) => format!(" | nvcc: FAULT {error}"),
        Some(Ok(_)) | None => String::new(),
    }
}

/// The pipeline without each of its passes in turn: the geometric means over all kernels, and the kernel that loses most.
fn leave_out(sources: &[Source], text: &str, base: &Results) {
    let round = |text: &str| -> f64 { sources.iter().map(|source| compile(source, text).1).sum() };
    let time = |text: &str| (0..ROUNDS).map(|_| round(text)).fold(f64::INFINITY, f64::min);
    println!(
        "{:14} {:>7} {:>9} {:>9} {:>6}  most changed",
        "without", "lw10", "registers", "executed", "time"
    );
    let names: Vec<&str> = text.split(',').collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    for left_out in unique {
        let rest: Vec<&str> = names.iter().copied().filter(|name| *name != left_out).collect();
        let rest = rest.join(",");
        let results = compile_all(sources, &rest);
        let ratios = |of: &dyn Fn(&Measured) -> Option<f64>| -> Vec<(String, f64)> {
            let ratio = |(name, with): (&String, &Measured)| {
                Some((name.clone(), of(results.get(name)?)? / of(with)?))
            };
            base.iter().filter_map(ratio).collect()
        };
        let columns = [
            ("lw10", ratios(&|m| Some(m.sass.as_ref()?.weighted as f64))),
            ("registers", ratios(&|m| Some(f64::from(m.sass.as_ref()?.registers)))),
            ("executed", ratios(&|m| m.outcome.as_ref().ok().map(|outcome| outcome.instructions))),
        ];
        let [lw10, registers, executed] =
            [0, 1, 2].map(|n| geometric_mean(columns[n].1.iter().map(|ratio| ratio.1)));
        let least = time(&rest) / time(text);
        print!("{left_out:14} {lw10:>7.3} {registers:>9.3} {executed:>9.3} {least:>6.2} ");
        for (what, ratios) in columns {
            let changed = ratios.iter().filter(|ratio| ratio.1 != 1.0).count();
            let most = ratios.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|most| most.1 > 1.0);
            let most = most.map_or_else(String::new, |(name, ratio)| format!(", {name} {ratio:.3}"));
            print!(" {what} of {changed}{most};");
        }
        println!();
    }
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0u32), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
    (sum / f64::from(count)).exp()
}
