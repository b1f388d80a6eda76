//! Each function through the compiler gives the bits that the IR means; and `docs/math.md`, whose table is made from what is measured.

mod common;

use common::Harness;
use std::fmt::Write as _;
use warpsmith_ir::Type;
use warpsmith_math::Function;

/// Operands of each kind: usual ones, ends, and what is not a number.
fn operands(function: Function) -> Vec<Vec<u64>> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -0.7,
        0.99,
        1.7,
        2.5,
        -3.2,
        9.5,
        40.0,
        -80.5,
        1e5,
        3e7,
        1e-9,
        f64::INFINITY,
        f64::NAN,
    ];
    let bits = |x: f64| match function.ty() {
        Type::F64 => x.to_bits(),
        Type::F32 => u64::from((x as f32).to_bits()),
        // The upper half of an f32 is a bf16, and some f16 or other.
        _ => u64::from((x as f32).to_bits() >> 16),
    };
    let (params, _) = function.signature();
    let mut columns = Vec::new();
    for (n, ty) in params.iter().enumerate().filter(|(_, ty)| **ty != Type::PTR) {
        let column = (0..floats.len() * 7).map(|i| match *ty {
            Type::I32 => u64::from((i as i32 % 13 - 6).cast_unsigned()),
            _ => bits(
                floats[(i * (n * 4 + 1) + n) % floats.len()]
                    * if n == 0 { 1.0 } else { 1.0 + i as f64 / 50.0 },
            ),
        });
        columns.push(column.collect());
    }
    columns
}

#[test]
fn compiled_functions_give_what_the_ir_means() {
    let mut count = 0;
    for function in Function::all() {
        let operands = operands(function);
        let (meant, _) = Harness::new(function).run(&operands);
        let (found, _) = Harness::compiled(function).run(&operands);
        for (column, (meant, found)) in meant.iter().zip(&found).enumerate() {
            for (n, (m, f)) in meant.iter().zip(found).enumerate() {
                let at: Vec<String> = operands.iter().map(|c| format!("{:x}", c[n])).collect();
                let same = m == f
                    || function.ty() != Type::BF16 && common::distance(function.ty(), *m, *f) == 0
                    || nan(function.ty(), *m, *f);
                assert!(
                    same,
                    "{function:?}({}), result {column}: {m:x} is meant, {f:x} found",
                    at.join(", ")
                );
            }
        }
        count += 1;
    }
    assert!(count > 200, "{count}");
}

fn nan(ty: Type, a: u64, b: u64) -> bool {
    ty == Type::BF16 && [a, b].iter().all(|v| v & 0x7fff > 0x7f80)
}

/// Instructions that a thread executes in one call at O2, the kernel around it taken off: the mean over operands from 0.5 to 20.
fn cost(function: Function) -> u64 {
    let (params, _) = function.signature();
    let count = 256;
    let columns = |count: usize| -> Vec<Vec<u64>> {
        let value = |i: usize| 0.5 + 19.5 * i as f64 / count as f64;
        let of = |ty: &Type, i: usize| match *ty {
            Type::I32 => (i % 7) as u64,
            Type::F64 => value(i).to_bits(),
            _ => u64::from((value(i) as f32).to_bits()),
        };
        let operands = params.iter().filter(|ty| **ty != Type::PTR);
        operands
            .enumerate()
            .map(|(n, ty)| (0..count).map(|i| of(ty, (i * (1 + 36 * n)) % count)).collect())
            .collect()
    };
    let harness = Harness::compiled(function);
    let around = Harness::compiled(Function::new("fabs", function.ty()).unwrap());
    let per_thread =
        |harness: &Harness, columns: &[Vec<u64>]| harness.run(columns).1.thread_instructions / count as u64;
    per_thread(&harness, &columns(count)).saturating_sub(per_thread(&around, &columns(count)[..1])) + 1
}

#[test]
fn the_table_in_the_docs_is_what_is_measured() {
    let mut table = String::from(
        "| Function | ulp `f32` | CUDA | ulp `f64` | CUDA | instructions `f32` | `f64` |\n|---|---|---|---|---|---|---|\n",
    );
    let singles = Function::all().filter(|f| f.ty() == Type::F32);
    for f32 in singles {
        let f64 = Function::new(f32.name(), Type::F64);
        let number = |n: Option<u32>| n.map_or("-".into(), |n| n.to_string());
        let (params, ret) = f32.signature();
        let params: Vec<String> =
            params.iter().map(|ty| if *ty == Type::F32 { "T".into() } else { ty.to_string() }).collect();
        let ret = ret.map_or(String::new(), |ty| {
            format!(" -> {}", if ty == Type::F32 { "T".into() } else { ty.to_string() })
        });
        let costs = [Some(f32), f64].map(|f| f.map_or("-".into(), |f| cost(f).to_string()));
        writeln!(
            table,
            "| `{}({}){ret}` | {} | {} | {} | {} | {} | {} |",
            f32.name(),
            params.join(", "),
            number(f32.ulp()),
            number(f32.cuda_ulp()),
            number(f64.and_then(Function::ulp)),
            number(f64.and_then(Function::cuda_ulp)),
            costs[0],
            costs[1],
        )
        .unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/math.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (begin, end) = (
        "<!-- functions: written by `BLESS=1 cargo test -p warpsmith-math --test compiled` -->\n",
        "<!-- end -->",
    );
    let (head, rest) = page.split_once(begin).expect("the page marks its table");
    let (found, tail) = rest.split_once(end).expect("the page marks the end of its table");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, format!("{head}{begin}{table}{end}{tail}")).unwrap();
    } else {
        // What a call costs changes with the compiler; the names and errors are this library's.
        let without_costs = |table: &str| -> Vec<String> {
            let errors = |line: &str| line.split('|').take(6).collect::<Vec<_>>().join("|");
            table.lines().map(errors).collect()
        };
        assert_eq!(without_costs(found), without_costs(&table), "BLESS=1 writes the table");
    }
}
