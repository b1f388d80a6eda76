//! `!range` and `range(..)` reach the IR as assumptions, and the rules use them.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

fn imported() -> warpsmith_ir::Module {
    let module = Module::read(include_bytes!("corpus/gaps/ranges.bc")).unwrap();
    let options = Options::new().with_target(Target::sm(80));
    import(vec![("ranges.bc".to_owned(), module)], &options).unwrap()
}

/// The part of a text from the head of a function to its end.
fn of<'t>(text: &'t str, head: &str) -> &'t str {
    let start = text.find(head).unwrap_or_else(|| panic!("{head}: {text}"));
    let end = text[start..].find("\n}").unwrap();
    &text[start..start + end]
}

#[test]
fn ranges_are_assumptions() {
    let text = imported().to_string();
    for (function, limit) in [("@loaded(", 1_048_576), ("@called(", 16), ("@parameter(", 256)] {
        let body = of(&text, function);
        assert!(body.contains("icmp ult") && body.contains("assume"), "{body}");
        assert!(body.contains(&limit.to_string()), "{body}");
    }
    assert!(!of(&text, "@negative(").contains("assume"));
}

#[test]
fn what_they_say_is_used() {
    let compile =
        |level| Compiler::new(Target::sm(80)).with_opt_level(level).compile(imported()).unwrap().text;
    let (plain, optimised) = (compile(OptLevel::O0), compile(OptLevel::O2));
    for function in [".entry loaded(", "called(", "parameter("] {
        assert!(of(&plain, function).contains("and.b32"), "{plain}");
        assert!(!of(&optimised, function).contains("and.b32"), "{optimised}");
    }
    assert!(of(&optimised, "negative(").contains("and.b32"), "{optimised}");
    assert!(!optimised.contains("setp"), "{optimised}");
}
