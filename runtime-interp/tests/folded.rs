//! `tests/oracle/fold.tsv`: values that ptxas computes itself when it folds instructions whose operands are all constants, read
//! back from the code it generates. All statements are executed here in one kernel, and every value must agree.

#[path = "common/levels.rs"]
mod levels;

use std::collections::BTreeSet;
use std::fmt::Write;
use warpsmith_interp::{Launch, Program};
use warpsmith_ptx::ValidatedModule;

/// The bits of a register named `%f32_0`.
fn register_bits(name: &str) -> u32 {
    match name.trim_start_matches('%').split('_').next().unwrap() {
        "pred" => 1,
        packed if packed.ends_with("x2") => 2 * register_bits(packed.trim_end_matches("x2")),
        one => one.trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap(),
    }
}

/// The registers that a text names.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "_%".contains(c))).filter(|word| word.starts_with('%'))
}

#[test]
fn every_value_that_ptxas_folds() {
    let rows: Vec<(&str, u64)> = include_str!("../../tests/oracle/fold.tsv")
        .lines()
        .skip(1)
        .map(|line| {
            let (statements, value) = line.split_once('\t').unwrap();
            (statements, u64::from_str_radix(value.trim_start_matches("0x"), 16).unwrap())
        })
        .collect();
    assert!(rows.len() > 2000, "the table is there");
    let declared: BTreeSet<&str> = rows.iter().flat_map(|(statements, _)| registers(statements)).collect();
    let mut text = String::from(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry fold(.param .u64 out)\n{\n.reg .b64 %out;\n",
    );
    for name in declared {
        let ty = match register_bits(name) {
            1 => "pred".to_string(),
            bits => format!("b{bits}"),
        };
        writeln!(text, ".reg .{ty} {name};").unwrap();
    }
    text.push_str("ld.param.u64 %out, [out];\n");
    for (i, (statements, _)) in rows.iter().enumerate() {
        let statements = statements.replace("\\n", "\n");
        let result = registers(statements.lines().last().unwrap()).next().unwrap();
        let bits = register_bits(result);
        writeln!(text, "{statements}\nst.global.b{bits} [%out+{}], {result};", 8 * i).unwrap();
    }
    text.push_str("ret;\n}\n");
    let module = ValidatedModule::parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let program = Program::load(&module).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut device = levels::device();
    let buffer = device.upload(&vec![0u64; rows.len()]).unwrap();
    device.launch(&program, &Launch::new("fold").arg(buffer)).unwrap();
    let found: Vec<u64> = device.download(buffer).unwrap();
    let wrong: Vec<String> = rows
        .iter()
        .zip(found)
        .filter(|((_, value), found)| value != found)
        .map(|((statements, value), found)| format!("{statements} gives {found:#x}, ptxas {value:#x}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
