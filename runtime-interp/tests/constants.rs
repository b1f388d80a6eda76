//! `tests/oracle/constexpr.tsv`: constants and constant expressions with the values that ptxas gives initialised variables, read back
//! from what it assembles, or its refusal.

use std::fmt::Write;
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;

struct Row<'a> {
    ty: &'a str,
    expression: &'a str,
    /// The bits, or none where ptxas takes the expression for an error.
    value: Option<u64>,
}

fn rows() -> Vec<Row<'static>> {
    let row = |line: &'static str| {
        let [ty, expression, verdict, found] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let bits = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        Row { ty, expression, value: (verdict == "ok").then(|| bits(found)) }
    };
    include_str!("../../tests/oracle/constexpr.tsv").lines().skip(1).map(row).collect()
}

fn module(globals: &str, body: &str) -> String {
    let heading = ".version 9.0\n.target sm_90\n.address_size 64\n";
    format!("{heading}{globals}.visible .entry read(.param .u64 out) {{\n{body}ret;\n}}\n")
}

#[test]
fn what_ptxas_refuses_is_an_error() {
    let refused: Vec<_> = rows().into_iter().filter(|row| row.value.is_none()).collect();
    assert!(refused.len() > 50, "the table is there");
    let taken = refused.iter().filter(|Row { ty, expression, .. }| {
        ValidatedModule::parse(module(&format!(".global .{ty} x = {expression};\n"), "")).is_ok()
    });
    let taken: Vec<_> = taken.map(|row| format!(".{} {}", row.ty, row.expression)).collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

#[test]
fn every_constant_has_the_value_that_ptxas_gives_it() {
    let rows: Vec<_> = rows().into_iter().filter(|row| row.value.is_some()).collect();
    assert!(rows.len() > 400, "the table is there");
    let (mut globals, mut body) = (String::new(), String::new());
    body.push_str(".reg .b64 %out, %v;\nld.param.u64 %out, [out];\n");
    for (i, Row { ty, expression, .. }) in rows.iter().enumerate() {
        writeln!(globals, ".global .{ty} x{i} = {expression};").unwrap();
        let bits = ty.trim_start_matches(char::is_alphabetic);
        writeln!(body, "ld.global.u{bits} %v, [x{i}];\nst.global.u64 [%out+{}], %v;", 8 * i).unwrap();
    }
    let module = ValidatedModule::parse(module(&globals, &body)).unwrap_or_else(|e| panic!("{e:#?}"));
    let program = Program::load(&module).unwrap_or_else(|e| panic!("{e:#?}"));
    let mut device = Device::new();
    let buffer = device.upload(&vec![0u64; rows.len()]).unwrap();
    device.launch(&program, &Launch::new("read").arg(buffer)).unwrap();
    let found: Vec<u64> = device.download(buffer).unwrap();
    let differing = rows.iter().zip(found).filter(|(row, found)| row.value != Some(*found));
    let wrong: Vec<_> = differing
        .map(|(Row { ty, expression, value }, found)| {
            format!(".{ty} {expression}: {found:#x}, ptxas {:#x}", value.unwrap_or_default())
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
