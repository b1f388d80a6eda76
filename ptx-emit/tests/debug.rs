//! Debug information: what is written of lines, scopes and variables. ptxas's word on it is in `tests/ptxas.rs`.

use warpsmith_emit::{Compiled, Compiler, Debug, OptLevel};
use warpsmith_ir as ir;
use warpsmith_isa::{Target, Version};

/// A kernel with parameters, variables on the stack, in registers, in pieces, constants, and an inlined function.
const SOURCE: &str = include_str!("debug.wir");

fn compile(debug: Debug, level: OptLevel, version: Option<Version>) -> Compiled {
    let module = ir::parse_module(SOURCE).unwrap_or_else(|errors| panic!("{errors}"));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    let compiler =
        Compiler::new(Target::sm(80)).with_opt_level(level).with_debug(debug).with_ptx_version(version);
    compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn lines_leave_the_code_as_it_is() {
    let code = |debug| {
        let text = compile(debug, OptLevel::O2, None).text;
        let body =
            text.split_once("\n{").and_then(|(_, rest)| rest.split_once("\n}")).map_or("", |(body, _)| body);
        body.lines().filter(|line| !line.trim().starts_with(".loc")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(code(Debug::None), code(Debug::Lines));
}

#[test]
fn inlined_functions_need_a_version() {
    let newest = compile(Debug::Lines, OptLevel::O2, None);
    assert_eq!(newest.stats.version, Version::new(7, 2));
    assert!(newest.text.contains(".loc 2 11 3, function_name $s0, inlined_at 1 8 9"));
    let older = compile(Debug::Lines, OptLevel::O2, Some(Version::new(7, 1)));
    assert!(older.text.contains(".loc 2 11 3\n") && !older.text.contains("inlined_at"));
}

#[test]
fn unoptimised_code_knows_every_variable_everywhere() {
    let stats = compile(Debug::Full, OptLevel::O0, None).stats.debug;
    assert_eq!((stats.variables, stats.located), (9, 9));
    assert_eq!(stats.covered_instructions, stats.scope_instructions);
    let stats = compile(Debug::Full, OptLevel::O2, None).stats.debug;
    assert_eq!((stats.variables, stats.located), (9, 9));
    assert!(stats.covered_instructions * 100 / stats.scope_instructions >= 80, "{stats}");
}

#[test]
fn the_text_is_the_same_each_time() {
    for level in OptLevel::ALL {
        assert_eq!(compile(Debug::Full, level, None).text, compile(Debug::Full, level, None).text);
    }
}

#[test]
fn a_text_is_its_own_source() {
    let text = "kernel @k(%n: i32, %p: ptr<global>) {\nentry:\n  %m = iadd %n, 1\n  store %m, %p\n  ret\n}\n";
    let source = warpsmith_diag::Source::new("k.wir", text);
    let module = ir::parse_module(source).unwrap_or_else(|errors| panic!("{errors}"));
    let compiler = Compiler::new(Target::sm(50)).with_opt_level(OptLevel::O0).with_debug(Debug::Full);
    let compiled = compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(
        compiled.text.contains(".file 1 \"k.wir\"") && compiled.text.contains(".loc 1 3 3"),
        "{}",
        compiled.text
    );
    assert_eq!((compiled.stats.debug.variables, compiled.stats.debug.located), (3, 3));
}
