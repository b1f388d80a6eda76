//! Functions are called as nvcc calls them, and may be called by what nvcc compiled: the kernel and the functions of `tests/abi`, each
//! compiled by nvcc and by us, in every combination. `tests/ptxas.rs` links them with nvlink too.

#[path = "../abi/sizes.rs"]
mod sizes;

use std::fs;
use std::path::PathBuf;
use warpsmith::interp::{Device, Launch, Program};
use warpsmith::ptx::{ValidatedModule, link};
use warpsmith::{Compiler, Module, OptLevel, Target};

fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/abi").join(name);
    fs::read_to_string(path).expect("the file is part of the repository")
}

fn compiled(name: &str, level: OptLevel) -> String {
    compiled_text(file(name), level)
}

fn compiled_text(text: String, level: OptLevel) -> String {
    let module = Module::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    let compiler = Compiler::new(Target::sm(80)).with_opt_level(level);
    compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}")).text
}

/// One module of two, by our linker.
fn together(caller: &str, callee: &str) -> ValidatedModule {
    let modules = [caller, callee].map(|text| ValidatedModule::parse(text).unwrap_or_else(|e| panic!("{e}")));
    let options = link::Options { keep: vec!["call_all".to_owned()], ..Default::default() };
    link::link(&modules, &options).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn results(caller: &str, callee: &str, n: i32) -> Vec<u8> {
    let mut bytes = left(caller, callee, 256, n);
    // Padding is nobody's: that of Small, and of Mixed and Nested.
    for at in [41, 49, 50, 51, 71, 201, 205] {
        bytes[at] = 0;
    }
    // What lies behind a Wide, and a Both.
    bytes[180..192].fill(0);
    bytes
}

/// What the kernel of two modules leaves in a buffer of so many bytes.
fn left(caller: &str, callee: &str, bytes: usize, n: i32) -> Vec<u8> {
    let program = Program::load(&together(caller, callee)).unwrap_or_else(|errors| panic!("{errors}"));
    let mut device = Device::new();
    let out = device.upload(&vec![0u8; bytes]).expect("there is memory");
    let launch = Launch::new("call_all").block([1, 1, 1]).arg(out).arg(n);
    device.launch(&program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
    device.download(out).expect("the buffer is there")
}

#[test]
fn variable_arguments() {
    let (caller, callee) = (file("varargs_caller.ptx"), file("varargs_callee.ptx"));
    for n in [5, -8] {
        let expected = left(&caller, &callee, 8, n);
        let sums: Vec<i32> = expected.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(sums, [n + n / 2 + 7 + 2, 1100]);
        for level in [OptLevel::O0, OptLevel::O2] {
            let our_caller = compiled("varargs_caller.wir", level);
            let our_callee = compiled("varargs_callee.wir", level);
            assert_eq!(left(&caller, &our_callee, 8, n), expected, "nvcc calls us, n = {n}, {level}");
            assert_eq!(left(&our_caller, &callee, 8, n), expected, "we call nvcc, n = {n}, {level}");
            assert_eq!(left(&our_caller, &our_callee, 8, n), expected, "we call us, n = {n}, {level}");
        }
    }
}

#[test]
fn structs_of_every_size_and_128_bits() {
    let (caller, callee) = (file("sizes_caller.ptx"), file("sizes_callee.ptx"));
    for n in [3, -77, 123_456_789] {
        let expected = left(&caller, &callee, 65 * 64, n);
        for size in 1..=64 {
            assert!(expected[64 * size..][..size].iter().any(|byte| *byte != 0), "{size}");
        }
        for level in [OptLevel::O0, OptLevel::O2] {
            let our_caller = compiled_text(sizes::caller(), level);
            let our_callee = compiled_text(sizes::callee(), level);
            assert_eq!(left(&caller, &our_callee, 65 * 64, n), expected, "nvcc calls us, n = {n}, {level}");
            assert_eq!(left(&our_caller, &callee, 65 * 64, n), expected, "we call nvcc, n = {n}, {level}");
            assert_eq!(left(&our_caller, &our_callee, 65 * 64, n), expected, "we call us, n = {n}, {level}");
        }
    }
}

#[test]
fn nvcc_calls_us_and_we_call_nvcc() {
    let (caller, callee) = (file("caller.ptx"), file("callee.ptx"));
    // One of the functions takes the remainder by 9 for an index.
    for n in [0, 1, 5, 100, -9, 123_456] {
        let expected = results(&caller, &callee, n);
        assert!(n == 0 || expected.iter().filter(|byte| **byte != 0).count() > 60);
        for level in OptLevel::ALL {
            let (our_caller, our_callee) = (compiled("caller.wir", level), compiled("callee.wir", level));
            assert_eq!(results(&caller, &our_callee, n), expected, "nvcc calls us, n = {n}, {level}");
            assert_eq!(results(&our_caller, &callee, n), expected, "we call nvcc, n = {n}, {level}");
            assert_eq!(results(&our_caller, &our_callee, n), expected, "we call us, n = {n}, {level}");
        }
    }
}

/// The declarations of functions are those of nvcc, word for word but for names.
#[test]
fn the_same_declarations() {
    let shape = |text: &str| -> Vec<String> {
        let mut all: Vec<String> = text
            .split(".func")
            .skip(1)
            .filter_map(|rest| rest.split(['{', ';']).next())
            .filter(|header| header.contains(" f_"))
            .map(|header| header.split_whitespace().collect::<Vec<_>>().join(" "))
            .map(|header| header.replace("( ", "(").replace(" )", ")").replace("func_retval0", "R"))
            .map(|header| {
                let plain = |word: &str| match word.find("_retval_0") {
                    Some(at) => format!("R{}", &word[at + "_retval_0".len()..]),
                    None => word.to_owned(),
                };
                header.split(' ').map(plain).collect::<Vec<_>>().join(" ").replace(" (", "(")
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(shape(&compiled("callee.wir", OptLevel::O2)), shape(&file("callee.ptx")));
    assert_eq!(shape(&compiled("caller.wir", OptLevel::O2)), shape(&file("caller.ptx")));
    assert_eq!(shape(&compiled_text(sizes::callee(), OptLevel::O2)), shape(&file("sizes_callee.ptx")));
    assert_eq!(shape(&compiled_text(sizes::caller(), OptLevel::O2)), shape(&file("sizes_caller.ptx")));
}
