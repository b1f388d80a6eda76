//! The language, by its meaning and by its errors.

use super::model::{Count, Form, Presence, Shape};
use super::{Error, Position, Tables, compile, generate};

fn tables(text: &str) -> Result<Tables, Vec<Error>> {
    compile(&[("t.isa".to_string(), text.to_string())])
}

fn forms(text: &str) -> Vec<Form> {
    tables(text).unwrap_or_else(|errors| panic!("{errors:?}")).forms
}

fn errors(text: &str) -> Vec<(u32, String)> {
    let found = match tables(text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors,
    };
    found.into_iter().map(|Error { at: Position { line, .. }, message }| (line, message)).collect()
}

#[test]
fn every_faulty_line_is_reported_with_its_number() {
    let found = errors("family x 1.2\nx .q32 d\nx .u32 d:bogus\n\nx .u32 d @sm 99\n  .a = \n");
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [6, 2, 3, 5], "{found:?}");
}

#[test]
fn a_slot_out_of_its_scope_is_an_error() {
    let found = errors("area a\nfamily x 1.1\nx .t d\n  .t = .u32 | .s32\nfamily y 1.2\ny .t .u32 d\n");
    assert_eq!(found, [(6, "slot `.t` is not defined in this family".to_string())]);
}

#[test]
fn choices_multiply_and_carry_their_gates() {
    let found = forms("area a\nfamily x 1.1\nx (.a .b | .c @ptx 7.0 | @sm 20) {.d|.e} .u32   d\n");
    let shapes: Vec<_> = found.iter().map(|form| (form.slots.len(), form.gates.len())).collect();
    assert_eq!(shapes, [(4, 0), (3, 1), (2, 1)]);
    assert!(found.iter().all(|form| form.slots.iter().filter(|slot| slot.optional).count() == 1));
    assert_eq!(found[0].syntax, "x (.a .b | .c @ptx 7.0 | @sm 20) {.d|.e} .u32 d");
}

#[test]
fn operands_know_when_they_are_there_and_how_many_they_are() {
    let found = forms("area a\nfamily x 1.1\nx {.v=.v2|.v4} {.h} .u32   d<.v>, a {, b @sm 30}, c:pred ?.h\n");
    let operands = &found[0].operands;
    let presence: Vec<_> = operands.iter().map(|operand| operand.presence.clone()).collect();
    assert_eq!(
        presence,
        [Presence::Always, Presence::Always, Presence::Optional, Presence::With("h".into())]
    );
    assert_eq!(operands[2].gates.len(), 1);
    let Shape::Value(first) = &operands[0].shape else { panic!("{:?}", operands[0]) };
    assert!(first.destination && matches!(&first.count, Count::Slot { slot, .. } if slot == "v"));
}

#[test]
fn ranges_of_modifiers_are_spelt_out() {
    let found = forms("area a\nfamily x 1.1\nx .m64n<8..24:8>k16 .u32   d\n");
    let modifiers: Vec<_> = found[0].slots[0].alternatives.iter().map(|a| a.modifier.as_str()).collect();
    assert_eq!(modifiers, ["m64n8k16", "m64n16k16", "m64n24k16"]);
}

#[test]
fn generated_source_names_what_the_tables_name() {
    let tables = tables(
        "area a\nfamily x 1.1 : reads\nx.y .shared::cta .L2::128B .u32   d, [a]\nsreg %s<2> .u32 10.1\n",
    );
    let source = generate(&tables.unwrap()).unwrap();
    for expected in ["XY,", "SharedCta,", "L2_128B,", "Mod::U32", "section: \"1.1\"", "\"%s1\""] {
        assert!(source.contains(expected), "{expected} is not in\n{source}");
    }
}

#[test]
fn an_operation_is_an_opcode_in_a_family() {
    let text = "area a as One class integer\nfamily x 1.1\nx .u32   d\nx.y|z .u32   d\n\
                area b\nfamily x 2.1 as Two\nx .f32   d\nfamily w 2.2 class load : reads default .v\n\
                w {.v} .u32   d does wait @ptx 7.0\n";
    let source = generate(&tables(text).unwrap()).unwrap();
    for expected in
        ["XOne,\n", "XTwo,\n", "XY,\n", "Z,\n", "W,\n", "class: Class::Integer", "class: Class::Load"]
    {
        assert!(source.contains(expected), "{expected} is not in\n{source}");
    }
    let form = forms(text).pop().unwrap();
    assert_eq!(
        (form.behaviour.traits, form.behaviour.defaults),
        (vec!["reads".into(), "wait".into()], vec!["v".into()])
    );
    assert_eq!((form.syntax.as_str(), form.gates.len()), ("w {.v} .u32 d", 1));
    let found = generate(&tables("area a\nfamily x 1.1\nx .u32   d\nfamily x 1.2\nx .f32   d\n").unwrap())
        .unwrap_err();
    assert_eq!((found.len(), found[0].at.line), (1, 5), "{found:?}");
    assert!(found[0].message.ends_with("give one of the families a word with `as`"));
    let found = errors("area a class strange\n");
    assert_eq!(found, [(1, "unknown instruction class `strange`".to_string())]);
}

#[test]
fn an_unknown_trait_is_an_error_at_the_form() {
    let tables = tables("area a\nfamily x 1.1 : flies\nx .u32   d\n").unwrap();
    let found = generate(&tables).unwrap_err();
    assert_eq!((found[0].at.line, found[0].message.as_str()), (3, "unknown trait `flies`"));
}
