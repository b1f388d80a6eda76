//! Modules so large that several threads validate them: they report what one pass reports.

use warpsmith_ptx::{Item, Stmt, ValidatedModule, parse, validate};

/// A module of `functions` functions of 1,000 statements. `plant` may replace what a function says last.
fn module(functions: usize, plant: impl Fn(usize) -> Option<&'static str>) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for f in 0..functions {
        text += &format!(".visible .entry k{f}(.param .u64 p)\n{{\n.reg .b32 %r<1000>;\n");
        for r in 1..998 {
            text += &format!("add.s32 %r{}, %r{r}, {f};\n", r + 1);
        }
        text += &format!("{}\nret;\n}}\n", plant(f).unwrap_or("mov.u32 %r1, %tid.x;"));
    }
    text
}

fn messages(text: &str) -> Vec<String> {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty());
    let findings = validate(&parsed.module);
    assert!(findings.iter().all(|finding| !finding.span.is_none()));
    findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn a_sound_module_has_no_findings_and_resolved_instructions() {
    let module = ValidatedModule::parse(module(300, |_| None)).expect("it is sound");
    assert_eq!(module.target().to_string(), "sm_80");
    let functions = module.items().iter().filter_map(|item| match item {
        Item::Function(function) => module[*function].body,
        _ => None,
    });
    for body in functions {
        for stmt in body.ids() {
            if let Stmt::Inst(inst) = module[stmt] {
                let known = module.instruction(stmt).expect("every instruction is resolved");
                assert_eq!(known.mnemonic().to_string(), module[inst.mnemonic]);
            }
        }
    }
}

/// The operands that an instruction was resolved to, by their names in the tables, statement by statement.
fn resolved(text: &str) -> Vec<String> {
    let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{:?}", errors[0]));
    let bodies = module.functions().filter_map(|function| function.body);
    let instructions =
        bodies.flat_map(|body| body.ids()).filter(|stmt| matches!(module[*stmt], Stmt::Inst(_)));
    let shown = instructions.map(|stmt| {
        let instruction = module.instruction(stmt).expect("every instruction is resolved");
        let places: Vec<_> = instruction.places().map(|place| place.name).collect();
        format!("{instruction:?} {}", places.join(", "))
    });
    shown.collect()
}

#[test]
fn what_instructions_are_resolved_to_does_not_depend_on_who_looks() {
    // The forms of one mnemonic are met in another order by each thread.
    let planted = [
        "mov.b32 %r1, {%h1, %h2};",
        "mov.b32 {%h1, %h2}, %r1;",
        "mov.b32 %r1, %r2;",
        "bar.sync 1; bar.sync 1, 64;",
        "bar.sync 1, 64; bar.sync 1;",
    ];
    let plant = |f: usize| Some(planted[f * 7 % planted.len()]);
    let declared = |text: String| text.replace(".reg .b32 %r<1000>;", ".reg .b32 %r<1000>; .reg .b16 %h<3>;");
    let all = resolved(&declared(module(300, plant)));
    let mut rest = &all[..];
    for f in 0..300 {
        // One function is too small for a second thread.
        let alone = resolved(&declared(module(1, |_| plant(f))));
        let (own, others) = rest.split_at(alone.len());
        assert_eq!(own, alone, "function {f}");
        rest = others;
    }
    assert!(rest.is_empty());
}

#[test]
fn a_mistake_is_told_wherever_it_is() {
    for planted in [0, 150, 299] {
        let found = messages(&module(300, |f| (f == planted).then_some("add.s32 %r1, %r2, %x;")));
        assert_eq!(found, ["`%x` is not declared here"]);
    }
    let found = messages(&module(300, |f| (f % 100 == 0).then_some("add.s32 %r1, %r2, %x;")));
    assert_eq!(found.len(), 3);
}

#[test]
fn warnings_are_told_in_the_order_of_the_text() {
    let lenient = "ld.global.u32 %r1, [%r2];";
    let one = messages(&module(1, |_| Some(lenient)));
    assert_eq!(one.len(), 1);
    // The module level is seen by every thread, and its findings are reported once.
    let text = module(300, |f| (f % 40 == 0).then_some(lenient));
    let found = messages(&text.replace(".address_size 64", ".address_size 64\n.pragma \"unheard of\";"));
    assert_ne!(found[0], one[0]);
    assert_eq!(found[1..], vec![one[0].as_str(); 8]);
    // No more than a single pass reports.
    assert_eq!(messages(&module(300, |_| Some(lenient))).len(), 100);
}

/// Bodies that depend on each other are validated together.
#[test]
fn constants_of_several_bodies_add_up() {
    let large = ".const .b8 table[30000];";
    assert_eq!(messages(&module(300, |f| (f % 150 == 0).then_some(large))), [""; 0]);
    let found = messages(&module(300, |f| (f % 100 == 0).then_some(large)));
    assert_eq!(found, ["the constants of the module take 90000 bytes, 65536 at most"]);
}

/// Texts that are read in parts give the tree that one reader gives; where there is something to report, there is one reader.
#[test]
fn a_text_read_in_parts_has_one_tree() {
    let plant = |f: usize| match f % 7 {
        0 => Some("{ .reg .b32 x; mov.b32 x, {%r1, %r2}; } /* \n}\n over a cut */"),
        1 => Some("@!%r1 bra L; L: .loc 1 2 3"),
        2 => Some("// {\n}\n"),
        _ => None,
    };
    let whole = module(300, plant);
    assert!(whole.len() > 6 << 20, "large enough for parts");
    let parsed = parse(&whole);
    // One reader: a byte outside of ASCII is reported, and nothing else differs.
    let marked = parse(&format!("{whole}// \u{e9}\n"));
    assert_eq!(marked.diagnostics.len() - parsed.diagnostics.len(), 1);
    assert!(parsed.module == marked.module);
    let spans = |module: &warpsmith_ptx::Module| -> Vec<_> {
        let bodies = module.items().iter().filter_map(|item| match item {
            Item::Function(function) => module[*function].body,
            _ => None,
        });
        let stmts: Vec<_> = bodies.flat_map(|body| body.ids()).collect();
        stmts.into_iter().map(|stmt| (module.stmt_span(stmt), module.guard_span(stmt))).collect()
    };
    assert!(spans(&parsed.module) == spans(&marked.module));
}
