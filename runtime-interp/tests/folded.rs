//! `tests/oracle/fold.tsv`: values that ptxas computes itself when it folds instructions whose operands are all constants, read
//! back from the code it generates. Each statement is executed here through the same lookup that the decoders use, in one
//! kernel, and every value must agree.

#[path = "common/levels.rs"]
mod levels;

use warpsmith_interp::engine::{Access, Address, FunctionBuilder, FunctionKind, ProgramBuilder, Reg, Width};
use warpsmith_interp::{Launch, pure};
use warpsmith_isa::{Mnemonic, StateSpace};

/// A literal as a constant of a width. Floats follow ptxas: `0d` and decimals round to f32 where 32 bits are wanted, the bits of
/// `0f` are taken as they are.
fn literal(body: &mut FunctionBuilder<'_>, text: &str, width: Width) -> Reg {
    let double = |value: f64| match width {
        Width::W64 => value.to_bits() as u128,
        _ => (value as f32).to_bits() as u128,
    };
    let bits = if let Some(hex) = text.strip_prefix("0f") {
        u128::from_str_radix(hex, 16).unwrap()
    } else if let Some(hex) = text.strip_prefix("0d") {
        double(f64::from_bits(u64::from_str_radix(hex, 16).unwrap()))
    } else if text.contains(['.', 'e']) && !text.starts_with("0x") {
        double(text.parse().unwrap())
    } else {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).unwrap(),
            None => digits.parse().unwrap(),
        };
        (if negative { -magnitude } else { magnitude }) as u128
    };
    body.constant(bits, width)
}

/// The bits of a register named `%f32_0`.
fn register_bits(name: &str) -> u32 {
    let name = name.trim_start_matches('%').split('_').next().unwrap();
    if name == "pred" { 1 } else { name.trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap() }
}

/// Emits one statement and gives its destination's register.
fn emit(body: &mut FunctionBuilder<'_>, statement: &str, predicate: Option<Reg>) -> Reg {
    let (name, operands) = statement.trim().trim_end_matches(';').split_once(' ').unwrap();
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let mnemonic = Mnemonic::parse(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    let bits = register_bits(operands[0]);
    let plan =
        pure::plan(&mnemonic, operands.len() - 1, bits).unwrap_or_else(|| panic!("{name} has no semantics"));
    let src: Vec<Reg> = (operands[1..].iter().zip(plan.sources()))
        .map(
            |(text, width)| {
                if text.starts_with('%') { predicate.unwrap() } else { literal(body, text, *width) }
            },
        )
        .collect();
    let d = body.reg(if bits == 1 { Width::Pred } else { Width::for_bits(bits) });
    plan.emit(body, &[Some(d)], &src, None);
    d
}

#[test]
fn every_value_that_ptxas_folds() {
    let rows: Vec<(&str, u64)> = include_str!("../../tests/oracle/fold.tsv")
        .lines()
        .skip(1)
        .map(|line| {
            let (statement, value) = line.split_once('\t').unwrap();
            (statement, u64::from_str_radix(value.trim_start_matches("0x"), 16).unwrap())
        })
        .collect();
    assert!(rows.len() > 500, "the table is there");
    let mut program = ProgramBuilder::new();
    let kernel = program.declare("fold", FunctionKind::kernel([("out", 8, 8)]));
    let mut body = program.body(kernel);
    let out = body.reg(Width::W64);
    body.load(Access::unsigned(StateSpace::Param, 8), &[out], Address::Absolute(0));
    for (i, (statements, _)) in rows.iter().enumerate() {
        let mut last = None;
        for statement in statements.split("\\n") {
            last = Some(emit(&mut body, statement, last));
        }
        let d = last.unwrap();
        let access = Access::unsigned(StateSpace::Global, (d.width().bits() / 8) as u8);
        body.store(access, &[d], Address::Reg(out, 8 * i as i64));
    }
    body.ret();
    body.finish();
    let program = program.finish().unwrap_or_else(|e| panic!("{e:#?}"));
    let mut device = levels::device();
    let buffer = device.upload(&vec![0u64; rows.len()]).unwrap();
    device.launch(&program, &Launch::new("fold").arg(buffer)).unwrap();
    let found: Vec<u64> = device.download(buffer).unwrap();
    let wrong: Vec<String> = rows
        .iter()
        .zip(found)
        .filter(|((_, value), found)| value != found)
        .map(|((statement, value), found)| format!("{statement} gives {found:#x}, ptxas {value:#x}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
