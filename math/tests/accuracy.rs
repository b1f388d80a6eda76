//! The error of each function, in units of the last place, against correctly rounded results (`golden.tsv`, from mpmath) and, for `f32`, against
//! functions of `f64`, whose error is a 2^-28th of a unit.
//!
//! `every_float` goes through all 2^32 operands of the functions of one `f32`; it is asked for by name:
//! `cargo test --release -p warpsmith-math --test accuracy -- --ignored every_float`.

mod common;

use common::{Harness, distance};
use std::collections::BTreeMap;
use warpsmith_ir::Type;
use warpsmith_math::Function;

/// The worst of some results: how far, and at which operands.
#[derive(Clone, Debug, Default)]
struct Worst {
    distance: u64,
    at: String,
}

impl Worst {
    fn see(&mut self, distance: u64, at: impl FnOnce() -> String) {
        if distance > self.distance {
            *self = Worst { distance, at: at() };
        }
    }
}

/// Compares what is found with what is promised, and CUDA's figure with both.
fn judge(found: BTreeMap<String, Worst>) {
    let mut wrong = Vec::new();
    for (symbol, worst) in found {
        let function = Function::from_symbol(&symbol).unwrap();
        let (ours, cuda) = (function.ulp().unwrap(), function.cuda_ulp());
        println!("{symbol:20} {:3} of {ours}, CUDA {cuda:?}  {}", worst.distance, worst.at);
        assert!(cuda.is_none_or(|cuda| ours <= cuda), "{symbol}: {ours} is promised, CUDA has {cuda:?}");
        if worst.distance > ours.into() {
            wrong.push(format!(
                "{symbol}: {} units of the last place, {ours} promised: {}",
                worst.distance, worst.at
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `golden.tsv`, or the file that `WARPSMITH_GOLDEN` names, made by `golden.py` with a greater count.
#[test]
fn golden() {
    let file = std::env::var("WARPSMITH_GOLDEN")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.tsv").into());
    let text = std::fs::read_to_string(file).unwrap();
    let mut rows: BTreeMap<&str, Vec<Vec<u64>>> = BTreeMap::new();
    for line in text.lines() {
        let (symbol, bits) = line.split_once('\t').unwrap();
        let bits: Vec<u64> = bits.split('\t').map(|n| u64::from_str_radix(n, 16).unwrap()).collect();
        let columns = rows.entry(symbol).or_insert_with(|| vec![Vec::new(); bits.len()]);
        columns.iter_mut().zip(bits).for_each(|(column, bits)| column.push(bits));
    }
    assert!(rows.len() > 40);
    let mut found = BTreeMap::new();
    for (symbol, mut columns) in rows {
        let function = Function::from_symbol(symbol).unwrap_or_else(|| panic!("no function {symbol}"));
        let expected = columns.pop().unwrap();
        let results = Harness::new(function).results(&columns);
        let mut worst = Worst::default();
        for (n, (found, expected)) in results.iter().zip(&expected).enumerate() {
            worst.see(distance(function.ty(), *found, *expected), || {
                let operands: Vec<String> = columns.iter().map(|c| show(function.ty(), c[n])).collect();
                format!(
                    "({}) gives {}, not {}",
                    operands.join(", "),
                    show(function.ty(), *found),
                    show(function.ty(), *expected)
                )
            });
        }
        found.insert(symbol.to_owned(), worst);
    }
    judge(found);
}

fn show(ty: Type, bits: u64) -> String {
    if ty == Type::F32 {
        format!("{:e}", f32::from_bits(bits as u32))
    } else {
        format!("{:e}", f64::from_bits(bits))
    }
}

/// The function of `f64` that a function of one `f32` is compared with.
fn reference(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "asinh" => libm::asinh,
        "acosh" => |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
        "atanh" => libm::atanh,
        "exp" => f64::exp,
        "exp2" => f64::exp2,
        "exp10" => libm::exp10,
        "expm1" => f64::exp_m1,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "cbrt" => f64::cbrt,
        "rsqrt" => |x| 1.0 / x.sqrt(),
        "rcbrt" => |x| 1.0 / x.cbrt(),
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "normcdf" => |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        "tgamma" => libm::tgamma,
        "lgamma" => libm::lgamma,
        "j0" => libm::j0,
        "j1" => libm::j1,
        "round" => f64::round,
        "rint" => f64::round_ties_even,
        "trunc" => f64::trunc,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "fabs" => f64::abs,
        "sqrt" => f64::sqrt,
        "logb" => |x| {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else if x.is_finite() {
                f64::from(libm::ilogb(x))
            } else {
                x.abs()
            }
        },
        _ => return None,
    })
}

/// CUDA's bounds leave these out: `lgammaf` near its zeros among the negative numbers, the Bessel functions beyond 8 (an absolute error).
fn excluded(name: &str, x: f64) -> bool {
    match name {
        "lgamma" => (-10.001..=-2.264).contains(&x),
        "j0" | "j1" => x.abs() > 8.0,
        _ => false,
    }
}

fn compare(function: Function, harness: &Harness, operands: Vec<u64>, worst: &mut Worst) {
    let reference = reference(function.name()).expect("asked for one that has a reference");
    let results = harness.results(std::slice::from_ref(&operands));
    for (x, found) in operands.into_iter().zip(results) {
        let x = f64::from(f32::from_bits(x as u32));
        let expected = reference(x) as f32;
        if excluded(function.name(), x) {
            continue;
        }
        worst.see(distance(Type::F32, found, expected.to_bits().into()), || {
            format!("({x:e}) gives {:e}, not {expected:e}", f32::from_bits(found as u32))
        });
    }
}

fn singles() -> Vec<Function> {
    Function::all()
        .filter(|f| f.ty() == Type::F32 && f.ulp().is_some() && reference(f.name()).is_some())
        .collect()
}

/// 40,000 operands each, over all bit patterns, and the neighbours of round numbers.
#[test]
fn floats() {
    let mut operands: Vec<u64> = (0..40_000u64).map(|n| (n * 107_377) & 0xffff_ffff).collect();
    for round in [
        0.0f32,
        0.25,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        8.0,
        10.0,
        13.0,
        88.72,
        100.0,
        1e5,
        3.2e9,
        f32::MAX,
        f32::MIN_POSITIVE,
    ] {
        for sign in [0, 0x8000_0000u32] {
            operands.extend((-20i32..20).map(|n| u64::from(round.to_bits().wrapping_add_signed(n) | sign)));
        }
    }
    operands.extend((0..4000).map(|n| u64::from((n as f32 * 0.037 - 74.0).to_bits())));
    let mut found = BTreeMap::new();
    for function in singles() {
        let mut worst = Worst::default();
        compare(function, &Harness::new(function), operands.clone(), &mut worst);
        found.insert(function.symbol(), worst);
    }
    judge(found);
}

/// All operands of each function of one `f32`: hours. `WARPSMITH_FUNCTION=sin` goes through one of them.
#[test]
#[ignore = "all 2^32 operands: by name"]
fn every_float() {
    let only = std::env::var("WARPSMITH_FUNCTION").ok();
    let mut found = BTreeMap::new();
    for function in singles().into_iter().filter(|f| only.as_ref().is_none_or(|only| only == f.name())) {
        let harness = Harness::new(function);
        let mut worst = Worst::default();
        for first in (0..1u64 << 32).step_by(1 << 20) {
            compare(function, &harness, (first..first + (1 << 20)).collect(), &mut worst);
        }
        println!("{:?}: {worst:?}", function);
        found.insert(function.symbol(), worst);
    }
    judge(found);
}
