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
    // The hyperbolic tangent of targets without the instruction is another approximation.
    let targets = ["sm_70", "sm_80", "sm_90"].into_iter();
    for target in targets.filter(|target| *target != "sm_70" || !module.to_string().contains(" ftanh ")) {
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

/// A kernel that does each operation on each pair of numbers of a format, and converts each to `f32` and back.
fn narrow_kernel(ty: &str, bits: u32) -> String {
    let from_byte = |name: &str, byte: &str| match bits {
        8 => format!("  %{name} = bitcast.{ty} {byte}\n"),
        _ => format!("  %{name}_i = trunc.i{bits} {byte}\n  %{name} = bitcast.{ty} %{name}_i\n"),
    };
    let mut body = String::from(
        "kernel @k(%out: ptr<global>) {\nentry:\n  %n = sreg.tid.x\n  %m = sreg.ctaid.x\n  %x8 = trunc.i8 %n\n  %y8 = trunc.i8 %m\n  \
         %row = imul %m, 256\n  %at = iadd %row, %n\n  %p = index %out, %at, 64\n",
    );
    body += &from_byte("x", "%x8");
    body += &from_byte("y", "%y8");
    let mut offset = 0;
    let mut put = |body: &mut String, name: &str| {
        match bits {
            8 => *body += &format!("  %{name}_b = bitcast.i8 %{name}\n"),
            _ => {
                *body += &format!("  %{name}_s = bitcast.i{bits} %{name}\n  %{name}_b = zext.i8 %{name}_s\n")
            }
        }
        *body += &format!("  store %{name}_b, %p + {offset}\n");
        offset += 1;
    };
    for op in ["fadd", "fsub", "fmul", "fdiv", "fmin", "fmaximum", "fcopysign"] {
        body += &format!("  %{op} = {op} %x, %y\n");
        put(&mut body, op);
    }
    for op in ["fneg", "fabs", "fsqrt", "ffloor", "fnearest", "fround"] {
        body += &format!("  %{op} = {op} %x\n");
        put(&mut body, op);
    }
    body += "  %fma = fma %x, %y, %y\n";
    put(&mut body, "fma");
    body += &format!(
        "  %less = fcmp lt %x, %y\n  %least = select %less, %x, %y\n  %i = fptosi.i8 %x\n  %back = sitofp.{ty} %i\n"
    );
    put(&mut body, "least");
    put(&mut body, "back");
    body += &format!(
        "  %wide = fpext.f32 %x\n  store %wide, %p + 32\n  %far = fpext.f64 %x\n  store %far, %p + 40\n  \
         %spread = imul %at, 2654435761\n  %any = bitcast.f32 %spread\n  %rounded = fptrunc.{ty} %any\n"
    );
    put(&mut body, "rounded");
    body += &format!(
        "  %pair = vec %x, %y\n  %sums = fadd %pair, %pair\n  %sum = extract %sums, 1\n  %singles = vec %any, %wide\n  \
         %both = fptrunc.{ty}x2 %singles\n  %second = extract %both, 1\n  %widened = fpext.f32x2 %both\n  store %widened, %p + 48\n"
    );
    put(&mut body, "sum");
    put(&mut body, "second");
    body + "  ret\n}\n"
}

#[test]
fn every_pair_of_narrow_floats_is_as_the_ir_means() {
    for (ty, bits) in [("e4m3", 8), ("e5m2", 8), ("e2m1", 4)] {
        let module = warpsmith::ir::parse_module(narrow_kernel(ty, bits)).unwrap_or_else(|e| panic!("{e}"));
        let count = 1usize << bits;
        let run = |program: &Program| -> Vec<u64> {
            let mut device = Device::new();
            let out = device.upload(&vec![0u64; count * 256 * 8]).unwrap();
            let launch = Launch::new("k").grid([count as u32, 1, 1]).block([count as u32, 1, 1]).arg(out);
            device.launch(program, &launch).unwrap_or_else(|fault| panic!("{ty}: {fault}"));
            device.download(out).unwrap()
        };
        let meant = run(&Program::from_ir(&module).unwrap_or_else(|e| panic!("{e}")));
        // Without conversions, with those of 8 bits, with all of them.
        for (target, level) in [("sm_80", OptLevel::O0), ("sm_90", OptLevel::O2), ("sm_100a", OptLevel::O1)] {
            let compiler = Compiler::new(target.parse::<warpsmith::Target>().unwrap()).with_opt_level(level);
            let compiled = compiler.compile(&module).unwrap_or_else(|e| panic!("{ty} {target}: {e}"));
            let native = match ty {
                "e2m1" => target == "sm_100a",
                _ => target != "sm_80",
            };
            assert_eq!(compiled.text.contains(&format!(".{ty}x2")), native, "{ty} {target}");
            let found = run(&Program::load(&compiled.module).unwrap_or_else(|e| panic!("{e}")));
            for (at, (m, f)) in meant.chunks(8).zip(found.chunks(8)).enumerate() {
                // The bits of an f32 or f64 that is NaN are not said.
                let nan = |all: &[u64]| {
                    [all[4] as u32 & 0x7fff_ffff > 0x7f80_0000, f64::from_bits(all[5]).is_nan()]
                };
                let [single, double] = nan(m);
                let same = (0..8).all(|n| m[n] == f[n] || n == 4 && single || n == 5 && double || n == 6);
                assert!(
                    same,
                    "{ty} {target}, {:#x} and {:#x}: {m:x?} is meant, {f:x?} found",
                    at % 256,
                    at / 256
                );
            }
        }
    }
}
