//! A call of each family of `llvm.nvvm.*` (`corpus/nvvm.ll`) becomes the instruction that the source says.

use std::collections::BTreeMap;
use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

const SOURCE: &str = include_str!("corpus/nvvm.ll");
const BITCODE: &[u8] = include_bytes!("corpus/nvvm.bc");

/// The functions of a PTX text and the mnemonics in each.
fn mnemonics(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut function = "";
    for line in text.lines() {
        if line.starts_with(".visible .func") {
            let mut names = line.split(['(', ')', ' ']).filter(|word| word.starts_with("f_nvvm_"));
            function = names.next_back().unwrap_or_default();
        } else if let Some(word) = line.split_whitespace().next() {
            all.entry(function).or_default().push(word.trim_end_matches(';'));
        }
    }
    all
}

#[test]
fn calls_become_the_instructions_that_llvm_writes() {
    let module = Module::read(BITCODE).expect("a module");
    let target: Target = "sm_103a".parse().expect("a target");
    let options = Options::new().with_target(target);
    let module = import(vec![("nvvm.bc".to_owned(), module)], &options).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    let compiled = Compiler::new(target).with_opt_level(OptLevel::O1).compile(&module);
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
    let found = mnemonics(&compiled.text);
    let mut wrong = Vec::new();
    let mut checked = 0;
    for line in SOURCE.lines().filter(|line| line.starts_with("; f_nvvm_")) {
        let (name, expected) = line[2..].split_once(": ").expect("a name and a mnemonic");
        checked += 1;
        match found.get(name) {
            Some(list) if list.contains(&expected) => {}
            list => wrong.push(format!("{name}: {expected} is not in {list:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 250, "{checked}");
}

#[test]
fn what_ptx_lacks_and_what_is_not_supported_is_named() {
    let bytes = include_bytes!("corpus/nvvm.refused.bc");
    let module = Module::read(bytes).expect("a module");
    let Err(errors) = import(vec![("refused.bc".to_owned(), module)], &Options::new()) else {
        panic!("everything was imported")
    };
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for (function, words) in [
        ("flushed", "`fma.rn.ftz.bf16`, which PTX does not have"),
        ("tensor_memory", "`llvm.nvvm.tcgen05.mma"),
        ("tensor_access", "an access to `addrspace(6)`, tensor memory"),
        ("cluster", "`addrspace(7)`"),
        ("ended", "`llvm.nvvm.exit` in a function that is not a kernel"),
    ] {
        let named = |line: &&String| line.contains(&format!("@{function}")) && line.contains(words);
        assert!(text.iter().any(|line| named(&line)), "{function}: {words}\n{}", text.join("\n"));
    }
}
