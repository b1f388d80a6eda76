//! The functions of CUDA's libdevice, read from its bitcode of LLVM 3.8, beside those of the math library that answer in its place.
//!
//! libdevice comes with the CUDA toolkit and not with this repository: without `LIBDEVICE` or `CUDA_HOME` only what needs none of it is tested.

use std::path::{Path, PathBuf};
use warpsmith_emit::Compiler;
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

/// The rows of `corpus/libdevice.c`.
const BOTH: [&str; 26] = [
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "rsqrt", "erf", "erfc", "tgamma",
    "lgamma",
];
const DOUBLE: [&str; 4] = ["pow", "atan2", "hypot", "fmod"];

/// Units in the last place between the two: what CUDA's guide allows libdevice, and one for ours. Between -11 and -2 it allows `lgamma` anything.
fn allowed(name: &str, x: f64) -> u64 {
    match name {
        "fmod" => 0,
        "erfc" => 6,
        "tgamma" => 11,
        "lgamma" if x < 0.0 => u64::MAX,
        "lgamma" => 7,
        _ => 4,
    }
}

fn libdevice() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("LIBDEVICE") {
        return Some(PathBuf::from(path));
    }
    let homes = [std::env::var_os("CUDA_HOME").map(PathBuf::from), Some(PathBuf::from("/usr/local/cuda"))];
    let paths = homes.into_iter().flatten().map(|home| home.join("nvvm/libdevice/libdevice.10.bc"));
    paths.into_iter().find(|path| path.is_file())
}

fn program(library: Option<&Path>) -> Program {
    let kernels = include_bytes!("corpus/libdevice.O3.bc");
    let bytes = library.map(|path| std::fs::read(path).unwrap());
    let mut modules = vec![("kernels".to_owned(), Module::read(kernels).unwrap())];
    if let Some(bytes) = &bytes {
        modules.push(("libdevice".to_owned(), Module::read(bytes).unwrap()));
    }
    let options = Options::new().with_target(Target::sm(80)).with_library("libdevice");
    let module = import(modules, &options).unwrap_or_else(|errors| panic!("{errors:?}"));
    let seen = module.functions.values().filter(|function| function.linkage == warpsmith_ir::Linkage::Export);
    assert_eq!(seen.map(|function| function.name.as_str()).collect::<Vec<_>>(), ["functions"]);
    Program::load(&Compiler::new(Target::sm(80)).compile(&module).unwrap().module).unwrap()
}

fn arguments() -> Vec<f64> {
    let mut all = vec![0.0, -0.0, 0.5, 1.0, -2.5, 1e5, -1e-5, 1e-300, 1e300];
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let mut state = 1u64;
    while all.len() < 1024 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fraction = (state >> 11) as f64 / (1u64 << 53) as f64;
        all.push(match all.len() % 3 {
            0 => fraction,
            1 => fraction * 60.0 - 30.0,
            _ => 10f64.powf(fraction * 40.0 - 20.0),
        });
    }
    all
}

/// The rows of doubles and of floats, as numbers whose differences count what lies between.
fn rows(program: &Program, x: &[f64]) -> (Vec<Option<i64>>, Vec<Option<i64>>) {
    let mut device = Device::new();
    let input = device.upload(x).unwrap();
    let out = device.upload(&vec![0f64; (BOTH.len() + DOUBLE.len()) * x.len()]).unwrap();
    let single = device.upload(&vec![0f32; BOTH.len() * x.len()]).unwrap();
    let launch = Launch::new("functions").block([x.len() as u32, 1, 1]);
    let launch = launch.arg(input).arg(out).arg(single).arg(x.len() as i32);
    device.launch(program, &launch).unwrap();
    let ordered = |bits: i64, least: i64| if bits < 0 { least.wrapping_sub(bits) } else { bits };
    let double = device.download::<f64>(out).unwrap().into_iter();
    let double = double.map(|x| (!x.is_nan()).then(|| ordered(x.to_bits() as i64, i64::MIN)));
    let single = device.download::<f32>(single).unwrap().into_iter();
    let single =
        single.map(|x| (!x.is_nan()).then(|| ordered(i64::from(x.to_bits() as i32), i64::from(i32::MIN))));
    (double.collect(), single.collect())
}

#[test]
fn the_math_library_agrees() {
    let x = arguments();
    let ours = rows(&program(None), &x);
    let Some(path) = libdevice() else {
        println!("skipped: no libdevice; `LIBDEVICE=/path/to/libdevice.10.bc` names it");
        return;
    };
    let theirs = rows(&program(Some(&path)), &x);
    let mut wrong = Vec::new();
    let names: Vec<&str> = BOTH.into_iter().chain(DOUBLE).collect();
    for (format, ours, theirs) in [("f64", &ours.0, &theirs.0), ("f32", &ours.1, &theirs.1)] {
        for (row, (ours, theirs)) in ours.chunks(x.len()).zip(theirs.chunks(x.len())).enumerate() {
            let (name, mut worst) = (names[row], (0, 0.0));
            for (x, pair) in x.iter().zip(ours.iter().zip(theirs)) {
                let distance = match pair {
                    (Some(a), Some(b)) => a.abs_diff(*b),
                    (None, None) => 0,
                    (None, Some(_)) | (Some(_), None) => u64::MAX,
                };
                if distance > allowed(name, *x) {
                    wrong.push(format!("{name} of {format}: {distance} ulp apart at {x:e}"));
                } else if distance != u64::MAX && distance > worst.0 && allowed(name, *x) < u64::MAX {
                    worst = (distance, *x);
                }
            }
            println!("{name} of {format}: at most {} ulp apart, at {:e}", worst.0, worst.1);
        }
    }
    assert!(wrong.is_empty(), "{} results\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}
