//! The IR's own meaning against what it should be, and against the text that is emitted for it.

use arbitrary::Unstructured;
use std::path::PathBuf;
use warpsmith::diag::Language;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::interp::{Device, Launch, Program};
use warpsmith::launch::execute;
use warpsmith_filetests::scan;
use warpsmith_harness::runs::runs;
use warpsmith_smith::ir::{self as generate, Config};

/// The files of a folder with an extension, in order.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

#[test]
fn examples_hold_on_the_ir_s_own_meaning() {
    let mut failures = Vec::new();
    let mut launches = 0;
    for path in files("examples", "wir") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let scanned = scan(&source, Language::Wir).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let runs = runs(&scanned).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let module = match warpsmith::ir::parse_module(&source) {
            Ok(module) => module,
            Err(errors) => {
                failures.push(format!("{name}: {errors:#?}"));
                continue;
            }
        };
        let program = match Program::from_ir(&module) {
            Ok(program) => program,
            Err(errors) => {
                failures.push(format!("{name}: {errors:#?}"));
                continue;
            }
        };
        for run in runs {
            launches += 1;
            let outcome = match execute(&program, &run.launch) {
                Ok(execution) => run.expects.iter().try_for_each(|expect| expect.check(&execution)),
                Err(fault) => Err(format!("{fault}")),
            };
            if let Err(message) = outcome {
                failures.push(format!("{name}:{}: {message}", run.line));
            }
        }
    }
    assert!(launches > 10, "the examples are there");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// xorshift64*: the same modules on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(count).collect()
    }
}

const BLOCK: u32 = 64;
const THREADS: u32 = 100;

/// Runs the generator's kernel and gives the output buffer, or the fault.
fn run_generated(program: &Program, input: &[u8]) -> Result<Vec<u8>, String> {
    let bytes = (2 * BLOCK * generate::BYTES_PER_THREAD) as usize;
    let run = |device: &mut Device| {
        let output = device.upload(&vec![0u8; bytes])?;
        let input = device.upload(input)?;
        let launch =
            Launch::new("k").grid([2, 1, 1]).block([BLOCK, 1, 1]).arg(output).arg(THREADS).arg(input);
        device.launch(program, &launch.arg(0x0123_4567_89ab_cdefu64).arg(1.25f32).arg(-3.5f64))?;
        device.read(output)
    };
    run(&mut Device::new()).map_err(|fault| fault.to_string())
}

/// What is wrong with one generated module at some level, with the module.
fn disagreement(seed: u64) -> Option<String> {
    let mut random = Random(seed);
    let bytes = random.bytes(2048);
    let input = random.bytes(generate::INPUT_BYTES as usize);
    let module = generate::module(&mut Unstructured::new(&bytes), &Config::default()).ok()?;
    let report = |what: String| Some(format!("seed {seed}: {what}\n{module}"));
    let program = match Program::from_ir(&module) {
        Ok(program) => program,
        Err(errors) => return report(format!("no meaning: {}", errors[0])),
    };
    let expected = run_generated(&program, &input);
    for target in ["sm_70", "sm_80", "sm_90"] {
        for level in OptLevel::ALL {
            let compiler = Compiler::new(target.parse().ok()).with_opt_level(level);
            let compiled = match compiler.compile(&module) {
                Ok(compiled) => compiled,
                // The fused operations of bf16 begin with sm_80; the refusal names them.
                Err(errors) if target == "sm_70" && errors.iter().all(|e| e.code == "L0002") => continue,
                Err(errors) => return report(format!("{target} {level} is not compiled: {}", errors[0])),
            };
            let found = match Program::load(&compiled.module) {
                Ok(program) => run_generated(&program, &input),
                Err(errors) => return report(format!("{target} {level} is not loaded: {}", errors[0])),
            };
            if found == expected {
                continue;
            }
            let what = match (&expected, &found) {
                (Ok(expected), Ok(found)) => {
                    let at = expected.iter().zip(found).position(|(a, b)| a != b).unwrap_or(0);
                    let thread = at / generate::BYTES_PER_THREAD as usize;
                    let offset = at % generate::BYTES_PER_THREAD as usize;
                    let (want, got) = (expected[at], found[at]);
                    format!("byte {offset} of thread {thread} is {got:#04x}, in the IR {want:#04x}")
                }
                _ => format!("{found:?} instead of {expected:?}"),
            };
            return report(format!("{target} {level}: {what}\n{}", compiled.text));
        }
    }
    None
}

#[test]
fn generated_modules_mean_the_same_in_ir_and_in_ptx() {
    // More with `WARPSMITH_SEEDS`, a range such as `1000..5000`.
    let range = std::env::var("WARPSMITH_SEEDS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse::<u64>().ok()?..to.parse().ok()?)
    });
    let seeds = range.unwrap_or(1..200);
    let failures: Vec<String> = seeds.filter_map(disagreement).collect();
    if let Some(first) = failures.first() {
        let all: Vec<&str> = failures.iter().filter_map(|f| f.lines().next()).collect();
        panic!("{} modules differ:\n{}\n\n{first}", failures.len(), all.join("\n"));
    }
}
