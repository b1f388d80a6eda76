//! Atomic operations, one thread to an address: what memory holds afterwards, and what the thread is given.

use super::vectors::{Register, SLOT, THREADS, inputs_of};
use super::{Case, Check};
use serde_json::json;
use warpsmith::isa::{Mnemonic, ScalarType};
use warpsmith::launch::literal;

/// Operations and types; those of the second list have no `red`.
const REDUCTIONS: [&str; 25] = [
    "add.u32",
    "add.s32",
    "add.u64",
    "add.f32",
    "add.f64",
    "add.noftz.f16",
    "add.noftz.f16x2",
    "min.u32",
    "min.s32",
    "min.u64",
    "min.s64",
    "max.u32",
    "max.s32",
    "max.u64",
    "max.s64",
    "and.b32",
    "and.b64",
    "or.b32",
    "or.b64",
    "xor.b32",
    "xor.b64",
    "inc.u32",
    "dec.u32",
    "add.noftz.bf16",
    "add.noftz.bf16x2",
];
const EXCHANGES: [&str; 5] = ["exch.b32", "exch.b64", "cas.b16", "cas.b32", "cas.b64"];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for space in ["global", "shared"] {
        cases.extend(REDUCTIONS.iter().filter_map(|operation| case("red", space, operation)));
        cases.extend(
            REDUCTIONS.iter().chain(&EXCHANGES).filter_map(|operation| case("atom", space, operation)),
        );
    }
    cases
}

fn case(opcode: &str, space: &str, operation: &str) -> Option<Case> {
    let name = format!("{opcode}.{space}.{operation}");
    let mnemonic = Mnemonic::parse(&name).ok()?;
    let ty = mnemonic.types().next()?;
    let bits = ty.bits();
    let (result, returns) = if opcode == "atom" { ("%d, ", true) } else { ("", false) };
    let third = if operation.starts_with("cas") { ", %c" } else { "" };
    let mut ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to)\n{{\n.shared .align 8 .b8 cells[{}];\n\
         .reg .b{bits} %a, %b, %c, %d;\n.reg .b64 %from, %to, %cell;\n.reg .b32 %thread;\nld.param.u64 %from, [from];\nld.param.u64 %to, [to];\n\
         mov.u32 %thread, %tid.x;\nmad.wide.u32 %from, %thread, {}, %from;\nmad.wide.u32 %to, %thread, {}, %to;\n",
        THREADS * SLOT,
        3 * SLOT,
        2 * SLOT
    );
    ptx += &if space == "shared" {
        format!("mov.u64 %cell, cells;\nmad.wide.u32 %cell, %thread, {SLOT}, %cell;\n")
    } else {
        "mov.u64 %cell, %to;\n".to_owned()
    };
    ptx += &format!(
        "ld.global.b{bits} %a, [%from];\nld.global.b{bits} %b, [%from+{SLOT}];\nld.global.b{bits} %c, [%from+{}];\n\
         st.{space}.b{bits} [%cell], %a;\n{name} {result}[%cell], %b{third};\nld.{space}.b{bits} %c, [%cell];\nst.global.b{bits} [%to], %c;\n",
        2 * SLOT
    );
    if returns {
        ptx += &format!("st.global.b{bits} [%to+{SLOT}], %d;\n");
    }
    ptx.push_str("ret;\n}\n");
    let registers = ["%a", "%b", "%c"].map(|name| Register { name: name.to_owned(), ty });
    let mut values = inputs_of(&name, &registers, &mnemonic, None);
    // Every other thread that compares finds what it looks for.
    if !third.is_empty() {
        for thread in values.chunks_exact_mut(3 * SLOT).step_by(2) {
            thread.copy_within(..SLOT, SLOT);
        }
    }
    let launch = json!({"entry": "k", "grid": [1], "block": [THREADS],
        "args": [{"buffer": literal::hex(&values)}, {"buffer_zero": THREADS * 2 * SLOT}]});
    let check = match ty {
        ScalarType::F16 | ScalarType::F16x2 | ScalarType::BF16 | ScalarType::BF16x2 => Check::Number(ty),
        ScalarType::F32 => Check::Number(ty),
        ScalarType::F64 => Check::Double,
        _ => Check::Bits,
    };
    Some(Case { name, ptx, launch, check })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_atomic_operation_runs() {
        let all = cases();
        assert_eq!(all.len(), 2 * (2 * REDUCTIONS.len() + EXCHANGES.len()));
        for case in &all {
            super::super::run(case).unwrap_or_else(|e| panic!("{}: {e}\n{}", case.name, case.ptx));
        }
        let add = all.iter().find(|case| case.name == "atom.shared.add.u32").unwrap();
        let buffers = super::super::run(add).unwrap();
        let [Some(from), Some(to)] = &buffers[..] else { panic!("two buffers") };
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        for thread in 0..THREADS {
            let (a, b) = (word(from, thread * 24), word(from, thread * 24 + 8));
            assert_eq!((word(to, thread * 16), word(to, thread * 16 + 8)), (a.wrapping_add(b), a));
        }
    }
}
