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
        // What lines begin with differs.
        let lines = body.lines().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.starts_with(".loc")).collect::<Vec<_>>()
    };
    assert_eq!(code(Debug::None), code(Debug::Lines));
}

#[test]
fn inlined_functions_need_a_version() {
    let newest = compile(Debug::Lines, OptLevel::O2, None);
    assert_eq!(newest.stats.version, Version::new(7, 2));
    assert!(newest.text.contains(".loc 2 11 3,function_name $0,inlined_at 1 8 9"));
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

/// A module with debug information that front ends get wrong or make large.
fn made(fill: impl FnOnce(&mut String)) -> Compiled {
    let mut text = String::new();
    fill(&mut text);
    let module = ir::parse_module(&text).unwrap_or_else(|errors| panic!("{errors}"));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    let compiler = Compiler::new(Target::sm(80)).with_opt_level(OptLevel::O0).with_debug(Debug::Full);
    compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn line_zero_is_no_line_and_names_are_any_bytes() {
    let compiled = made(|text| {
        *text = "file 0 \"\u{e9}t\u{e9}.dsl\"\n!unit0 = file 0\n!type0 = base \"entier n\u{b0} 1\" size 4 signed\n\
            !fn0 = \"fa\u{e7}ade\" in !unit0 at 0:0\n\
            kernel @k(%n: i32) !fn0 {\n  !var0 = param 1 \"\u{436}\" !type0 at 0:0 in !scope0\nentry:\n  !var0 = %n\n  ret !0:0:0\n}\n"
            .to_owned();
    });
    assert!(compiled.text.is_ascii(), "{}", compiled.text);
    // Nothing is invented: there is no line 0 to step to.
    assert!(!compiled.text.contains(".loc 1 1 "), "{}", compiled.text);
    // The bytes of the name are in the section.
    let parsed = warpsmith_ptx::parse(&compiled.text);
    assert!(parsed.diagnostics.is_empty());
    assert_eq!((compiled.stats.debug.variables, compiled.stats.debug.located), (1, 1));
}

#[test]
fn large_types_and_many_inlined_calls() {
    let start = std::time::Instant::now();
    let compiled = made(|text| {
        text.push_str("file 0 \"a.dsl\"\n!unit0 = file 0\n!type0 = base \"int\" size 4 signed\n!type1 = struct \"s\" size 400000 {");
        for n in 0..100_000 {
            text.push_str(&format!(
                " \"m{n}\": !type0 at {}{}",
                n * 4,
                if n < 99_999 { "," } else { " }\n" }
            ));
        }
        text.push_str("!type2 = pointer !type1 space global\n!fn0 = \"k\" in !unit0 at 0:1\n!fn1 = \"f\" in !unit0 at 0:9\n");
        text.push_str("kernel @k(%p: ptr<global>) !fn0 {\n");
        for n in 0..1000 {
            text.push_str(&format!("  !scope{} = inlined !fn1 at 0:{}:3 in !scope0\n", n + 1, n + 2));
        }
        text.push_str("  !var0 = param 1 \"p\" !type2 at 0:1 in !scope0\n");
        for n in 0..1000 {
            text.push_str(&format!("  !var{} = local \"v\" !type0 at 0:9 in !scope{}\n", n + 1, n + 1));
        }
        text.push_str("entry:\n  !var0 = %p\n  %v0 = load.i32 %p !0:1:1\n");
        for n in 0..1000 {
            text.push_str(&format!(
                "  %v{} = iadd %v{n}, {n} !0:9:1:{}\n  !var{} = %v{}\n",
                n + 1,
                n + 1,
                n + 1,
                n + 1
            ));
        }
        text.push_str("  store %v1000, %p !0:1:2\n  ret !0:1:3\n}\n");
    });
    let inlined = compiled.text.matches("inlined_at").count();
    assert!(inlined >= 1000, "{inlined}");
    assert_eq!(compiled.stats.debug.located, 1001);
    // It grows with what it says, not faster.
    assert!(compiled.text.len() < 8 << 20, "{}", compiled.text.len());
    assert!(start.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn structs_and_arrays_are_bound_by_their_parts() {
    let source = "type pair = {i32, f32}\nfile 0 \"a.dsl\"\n!unit0 = file 0\n!type0 = base \"int\" size 4 signed\n!type1 = base \"float\" size 4 float\n\
        !type2 = struct \"pair\" size 8 { \"n\": !type0 at 0, \"x\": !type1 at 4 }\n!fn0 = \"k\" in !unit0 at 0:1\n\
        kernel @k(%p: ptr<global>, %n: i32, %x: f32, %whole: pair) !fn0 {\n  !var0 = local \"made\" !type2 at 0:2 in !scope0\n  \
        !var1 = param 4 \"whole\" !type2 at 0:1 in !scope0\n\
        entry:\n  !var1 = %whole\n  %s = aggregate.pair %n, %x !0:2:1\n  !var0 = %s\n  store %s, %p !0:3:1\n  ret !0:4:1\n}\n";
    let module = ir::parse_module(source).unwrap_or_else(|errors| panic!("{errors}"));
    ir::verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    for level in OptLevel::ALL {
        let compiler = Compiler::new(Target::sm(80)).with_opt_level(level).with_debug(Debug::Full);
        let compiled = compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"));
        let stats = compiled.stats.debug;
        assert_eq!((stats.variables, stats.located), (2, 2), "{level}: {}", compiled.text);
        if level == OptLevel::O0 {
            assert_eq!(stats.covered_instructions, stats.scope_instructions, "{}", compiled.text);
        }
    }
}

#[test]
fn files_have_their_time_and_size() {
    let text = "file 0 \"a.dsl\" time 1700000000 size 321\nfile 1 \"b.dsl\"\nkernel @k() {\nentry:\n  ret !0:2:1\n}\n";
    let module = ir::parse_module(text).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(
        module.to_string().starts_with("file 0 \"a.dsl\" time 1700000000 size 321\nfile 1 \"b.dsl\"\n"),
        "{module}"
    );
    let compiler = Compiler::new(Target::sm(80)).with_debug(Debug::Lines);
    let compiled = compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(
        compiled.text.contains(".file 1 \"a.dsl\", 1700000000, 321\n.file 2 \"b.dsl\"\n"),
        "{}",
        compiled.text
    );
    let wrong = ir::parse_module("file 0 \"a.dsl\" time 5\n").expect_err("the size is missing");
    assert!(wrong.to_string().contains("`size` and the bytes of the file"), "{wrong}");
}

#[test]
fn optimised_variables_keep_registers_of_their_own() {
    let compiled = compile(Debug::Full, OptLevel::O2, None);
    let allocated = {
        let module = ir::parse_module(SOURCE).unwrap_or_else(|errors| panic!("{errors}"));
        let compiler = Compiler::new(Target::sm(80)).with_debug(Debug::Full);
        let compiler = compiler.with_registers(warpsmith_emit::regs::Registers::Allocated);
        compiler.compile(&module).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let covered = |compiled: &Compiled| compiled.stats.debug.covered_instructions;
    assert!(covered(&compiled) > covered(&allocated), "{} {}", compiled.stats.debug, allocated.stats.debug);
    // The instructions are the same but for the numbers of their registers.
    let code = |compiled: &Compiled| -> Vec<String> {
        let lines = compiled.text.lines().filter(|line| line.starts_with("    ") && !line.contains(".reg"));
        lines.map(|line| line.split_whitespace().next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(code(&compiled), code(&allocated));
}
