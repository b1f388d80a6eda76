//! The error of each function, in units of the last place, against correctly rounded results (`golden.tsv`, from mpmath) and, for `f32`, against
//! functions of `f64`, whose error is a 2^-28th of a unit.
//!
//! `math/examples/every_float.rs` goes through all 2^32 operands of the functions of one `f32`.

mod common;

use common::reference::{excluded, reference, singles};
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
fn within_bounds(found: BTreeMap<String, Worst>) {
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
    within_bounds(found);
}

/// From 8 on CUDA states an absolute error of its Bessel functions: 2.2e-6 in `f32`, 5e-12 in `f64`. Ours is what is rounded of values that
/// are at most 0.3, and some units more.
#[test]
fn bessel_functions_of_large_operands() {
    let mut rows: BTreeMap<&str, [Vec<u64>; 2]> = BTreeMap::new();
    for line in include_str!("bessel.tsv").lines() {
        let (symbol, bits) = line.split_once('\t').unwrap();
        let bits: Vec<u64> = bits.split('\t').map(|n| u64::from_str_radix(n, 16).unwrap()).collect();
        let [operands, expected] = rows.entry(symbol).or_default();
        operands.push(bits[0]);
        expected.push(bits[1]);
    }
    assert_eq!(rows.len(), 8);
    for (symbol, [operands, expected]) in rows {
        let function = Function::from_symbol(symbol).unwrap();
        let (value, allowed): (fn(u64) -> f64, f64) = match function.ty() {
            Type::F32 => (|bits| f32::from_bits(bits as u32).into(), 1e-7),
            _ => (f64::from_bits, 3e-16),
        };
        let results = Harness::new(function).results(std::slice::from_ref(&operands));
        let errors = results.iter().zip(&expected).map(|(x, y)| (value(*x) - value(*y)).abs());
        let (n, worst) = errors.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap();
        println!("{symbol}: {worst:.2e} at {:e}", value(operands[n]));
        assert!(
            worst <= allowed,
            "{symbol} at {:e} is off by {worst:e}, {allowed:e} allowed",
            value(operands[n])
        );
    }
}

/// CUDA bounds the absolute error of Bessel functions of higher orders, and only of some. Ours: the relative one where the order is above the operand, and
/// the values do not change sign; elsewhere the absolute one.
#[test]
fn bessel_functions_of_any_order() {
    let mut rows: BTreeMap<&str, [Vec<u64>; 3]> = BTreeMap::new();
    for line in include_str!("orders.tsv").lines() {
        let (symbol, bits) = line.split_once('\t').unwrap();
        let columns = rows.entry(symbol).or_default();
        for (column, n) in columns.iter_mut().zip(bits.split('\t')) {
            column.push(u64::from_str_radix(n, 16).unwrap());
        }
    }
    assert_eq!(rows.len(), 4);
    for (symbol, [orders, operands, expected]) in rows {
        let function = Function::from_symbol(symbol).unwrap();
        let (value, allowed): (fn(u64) -> f64, f64) = match function.ty() {
            Type::F32 => (|bits| f32::from_bits(bits as u32).into(), 1e-7),
            _ => (f64::from_bits, 4e-14),
        };
        let results = Harness::new(function).results(&[orders.clone(), operands.clone()]);
        let mut worst = (0.0, String::new());
        for (((n, x), found), expected) in orders.iter().zip(&operands).zip(results).zip(expected) {
            let (x, found, expected) = (value(*x), value(found), value(expected));
            let unit = if *n as f64 > x.abs() { expected.abs() } else { 1.0 };
            let error = if found == expected { 0.0 } else { (found - expected).abs() / unit };
            if error.is_nan() || error > worst.0 {
                worst = (error, format!("({n}, {x:e}) gives {found:e}, not {expected:e}"));
            }
        }
        println!("{symbol}: {:.2e}: {}", worst.0, worst.1);
        assert!(worst.0 <= allowed, "{symbol}: {:e}, {allowed:e} allowed: {}", worst.0, worst.1);
    }
}

fn show(ty: Type, bits: u64) -> String {
    if ty == Type::F32 {
        format!("{:e}", f32::from_bits(bits as u32))
    } else {
        format!("{:e}", f64::from_bits(bits))
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
    within_bounds(found);
}
