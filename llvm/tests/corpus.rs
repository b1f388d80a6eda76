//! C that the host ran too: every kernel of `corpus/c` is imported from what clang wrote without optimisation and with it, and leaves the words
//! that the host's run left (`*.expected`), as the IR means it and as PTX of every level.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

/// The words that a kernel begins with: the same formula as in `corpus/c/main.c`.
fn words() -> Vec<u64> {
    let word = |i: u64| {
        let x = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ x >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        if i < 8 { x ^ x >> 32 } else { 0 }
    };
    (0..64).map(word).collect()
}

/// What each kernel of a source leaves.
fn expected(path: &Path) -> BTreeMap<String, Vec<u64>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = |line: &str| {
        let mut parts = line.split_whitespace();
        let name = parts.next().expect("a name").to_owned();
        (name, parts.map(|word| u64::from_str_radix(word, 16).expect("a word")).collect())
    };
    text.lines().map(line).collect()
}

/// The meaning of a file, and the PTX of every level.
fn programs(path: &Path) -> Result<Vec<(String, Program)>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let module = Module::read(&bytes).map_err(|error| error.to_string())?;
    let options = Options::new().with_target(Target::sm(80));
    let module = import(vec![(path.display().to_string(), module)], &options)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    warpsmith_ir::verify(&module).map_err(|errors| errors.to_string())?;
    let text = module.to_string();
    let again = warpsmith_ir::Module::parse(text.as_str()).map_err(|errors| format!("printed: {errors}"))?;
    if again.to_string() != text {
        return Err("what is printed is not what is read".to_owned());
    }
    let meaning = Program::from_ir(&module).map_err(|errors| errors.to_string())?;
    let mut all = vec![("meaning".to_owned(), meaning)];
    for level in OptLevel::ALL {
        let compiled = Compiler::new(Target::sm(80)).with_opt_level(level).compile(&module);
        let compiled = compiled.map_err(|errors| format!("{level:?}: {errors}"))?;
        let program = Program::load(&compiled.module).map_err(|errors| format!("{level:?}: {errors}"))?;
        all.push((format!("{level:?}"), program));
    }
    Ok(all)
}

/// What is wrong with a file.
fn check(path: &Path, expected: &BTreeMap<String, Vec<u64>>, failures: &mut Vec<String>) {
    let file = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // With optimisation, clang runs them itself.
    let has_constructors = file.starts_with("linkage.O0");
    let programs = match programs(path) {
        Ok(programs) => programs,
        Err(error) => return failures.push(format!("{file}: {error}")),
    };
    for (level, program) in programs {
        for (kernel, wanted) in expected {
            let mut device = Device::new();
            let buffer = device.upload(&words()).expect("memory");
            // What the host's run did before `main`.
            let before = Launch::new("nvptx$device$init").block([1, 1, 1]);
            if has_constructors && let Err(fault) = device.launch(&program, &before) {
                failures.push(format!("{file}, {level}, constructors: {fault}"));
            }
            let launch = Launch::new(kernel).block([1, 1, 1]).arg(buffer);
            if let Err(fault) = device.launch(&program, &launch) {
                failures.push(format!("{file}, {level}, {kernel}: {fault}"));
                continue;
            }
            let found = device.download::<u64>(buffer).expect("the buffer");
            for (n, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                if found != wanted {
                    failures.push(format!("{file}, {level}, {kernel}: word {n}: {found:x}, not {wanted:x}"));
                }
            }
        }
    }
}

fn files(source: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/c");
    ["O0", "O3"].map(|level| folder.join(format!("{source}.{level}.bc"))).into()
}

fn source(name: &str) {
    let files = files(name);
    let expected = expected(&files[0].with_file_name(format!("{name}.expected")));
    assert!(!expected.is_empty(), "{name} has no kernels");
    let mut failures = Vec::new();
    for file in files {
        check(&file, &expected, &mut failures);
    }
    assert!(
        failures.is_empty(),
        "{} failures\n{}",
        failures.len(),
        failures[..failures.len().min(60)].join("\n")
    );
}

#[test]
fn integers() {
    source("integers");
}

#[test]
fn floats() {
    source("floats");
}

#[test]
fn aggregates() {
    source("aggregates");
}

#[test]
fn vectors() {
    source("vectors");
}

#[test]
fn control() {
    source("control");
}

#[test]
fn atomics() {
    source("atomics");
}

#[test]
fn globals() {
    source("globals");
}

#[test]
fn functions_that_cuda_provides() {
    source("provided");
}

#[test]
fn classes() {
    source("classes");
}

#[test]
fn containers() {
    source("containers");
}

#[test]
fn exceptions_that_are_not_thrown() {
    source("exceptions");
}

/// A throw prints what the exception says of itself, or its type.
#[test]
fn a_throw_prints_and_traps() {
    let says = ["i", "5Plain", "own", "far out", "std::bad_alloc", "std::bad_cast", "PKc"];
    for file in files("exceptions") {
        for (level, program) in programs(&file).unwrap_or_else(|error| panic!("{error}")) {
            for (n, says) in says.into_iter().enumerate() {
                let mut device = Device::new();
                let buffer = device.upload(&words()).expect("memory");
                let launch = Launch::new("thrown").block([1, 1, 1]).arg(buffer).arg(n as i32);
                let fault = device.launch(&program, &launch);
                assert!(fault.is_err_and(|fault| fault.to_string().contains("trap")), "{level}, {says}");
                let output = device.take_output();
                let expected = format!("terminate called after throwing: {says}\n");
                assert_eq!(String::from_utf8_lossy(&output), expected, "{level}");
            }
        }
    }
}

/// A function that would throw prints what, and traps.
#[test]
fn nothing_is_thrown() {
    for file in files("classes") {
        for (level, program) in programs(&file).unwrap_or_else(|error| panic!("{error}")) {
            let mut device = Device::new();
            let buffer = device.upload(&words()).expect("memory");
            let fault = device.launch(&program, &Launch::new("thrown").block([1, 1, 1]).arg(buffer));
            assert!(fault.is_err_and(|fault| fault.to_string().contains("trap")), "{level}");
            let output = device.take_output();
            let expected = "terminate called after throwing: too long\n";
            assert_eq!(String::from_utf8_lossy(&output), expected, "{level}");
        }
    }
}

#[test]
fn functions_of_libraries() {
    source("helpers");
}

#[test]
fn integers_of_more_than_128_bits() {
    source("wider");
}

#[test]
fn idioms() {
    source("idioms");
}

/// As clang 14 writes it: LLVM before 15 says of a pointer what it points to, also in the names of intrinsics.
#[test]
fn typed_pointers() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/old.bc");
    let mut failures = Vec::new();
    check(&file, &expected(&file.with_extension("expected")), &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn linkage() {
    source("linkage");
}
