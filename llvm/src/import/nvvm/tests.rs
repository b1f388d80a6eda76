use super::{rules, special, tensor, texture};
use warpsmith_isa::forms;

/// The names of LLVM 22 (`IntrinsicsNVVM.td`), without the prefix `llvm.nvvm.` and the types that some are overloaded for.
const NAMES: &str = include_str!("names.txt");

/// Instructions that PTX does not have: `bf16` that is flushed or saturated, `sust.p` of less than 32 bits, logarithms of `f64`. (llc-22 refuses the first, and writes of the
/// others what ptxas refuses.)
fn is_missing(name: &str) -> bool {
    let words: Vec<&str> = name.split('.').collect();
    let bf16 = words.last().is_some_and(|word| word.starts_with("bf16"));
    let flushed = words.contains(&"ftz") || (words.contains(&"fma") && words.contains(&"sat"));
    let narrow = words.iter().any(|word| word.ends_with("i8") || word.ends_with("i16"));
    (bf16 && flushed)
        || name == "bf2h.rn.ftz"
        || name == "lg2.approx.d"
        || (name.starts_with("sust.p.") && narrow)
}

/// Families that are refused by name: they work on memory or on objects that the IR does not have.
const REFUSED: &[&str] = &["tcgen05.mma.", "texsurf.handle"];
/// Names that are code of the IR, or that depend on the types and constants of a call.
const SPECIAL: &[&str] = &[
    "atomic.",
    "compiler.",
    "d2i.",
    "exit",
    "flo.",
    "idp2a.",
    "internal.addrspace.wrap",
    "is_explicit_cluster",
    "ldu.global.",
    "lohi.i2d",
    "move.ptr",
    "reflect",
];

#[test]
fn every_name_of_llvm_is_an_instruction_of_the_tables_or_is_refused() {
    let mut wrong = Vec::new();
    let mut known = 0;
    for name in NAMES.lines() {
        let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
        if let Some(register) = name.strip_prefix("read.ptx.sreg.") {
            if register != "warpsize" && !register.ends_with(".w") && special::register(register).is_none() {
                wrong.push(format!("{name}: no such register"));
            }
            known += 1;
            continue;
        }
        // With everything that flags of a call can ask for.
        let args = 5 + 3 + 5 + 3;
        let all = (5..=args).find_map(|args| tensor::find(name, args, &|_| 1));
        let mnemonic = rules::find(name)
            .or(all)
            .map(|found| found.mnemonic)
            .or_else(|| texture::find(name).map(|access| access.mnemonic));
        match mnemonic {
            Some(mnemonic) if is_missing(name) => {
                if forms(&mnemonic).next().is_some() {
                    wrong.push(format!("{name}: PTX has `{mnemonic}`"));
                }
            }
            Some(mnemonic) if forms(&mnemonic).next().is_none() => {
                wrong.push(format!("{name}: `{mnemonic}` is in no table"));
            }
            Some(_) => known += 1,
            None if starts(SPECIAL) => known += 1,
            None if starts(REFUSED) => {}
            None => wrong.push(format!("{name}: nothing")),
        }
    }
    assert!(wrong.is_empty(), "{} names\n{}", wrong.len(), wrong.join("\n"));
    assert!(known > 2300, "{known} names are known");
}

#[test]
fn names_become_mnemonics() {
    let mnemonic = |name: &str| rules::find(name).map(|found| found.mnemonic.to_string());
    for (name, expected) in [
        ("f2ll.rz.ftz", "cvt.rzi.ftz.s64.f32"),
        ("fmin.ftz.nan.xorsign.abs.f16x2", "min.ftz.NaN.xorsign.abs.f16x2"),
        ("wmma.m16n16k16.load.a.row.stride.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16"),
        ("mma.m16n8k16.row.col.f32.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("mbarrier.arrive.expect.tx.scope.cta.space.cta", "mbarrier.arrive.expect_tx.release.cta.shared.b64"),
        ("barrier.cta.sync.aligned.count", "bar.sync"),
    ] {
        assert_eq!(mnemonic(name).as_deref(), Some(expected), "{name}");
    }
    for unknown in
        ["", "fma", "fma.rx.f", "f2x.rn", "ceil.x", "mma.m16n8k16.row.col.f33", "shfl.sync.up.i32x"]
    {
        assert_eq!(mnemonic(unknown), None, "{unknown}");
    }
}
