//! Every form of the tables becomes a function whose PTX the validator takes.

#[path = "../src/instruction/generate.rs"]
#[allow(dead_code, reason = "what the macro makes of it is compiled where it is used")]
mod generate;

use generate::{Choices, Function, identifier, of_instruction};
use std::collections::{BTreeMap, BTreeSet};
use warpsmith_diag::Severity;
use warpsmith_isa::sample::of_form;
use warpsmith_isa::{FORMS, Instruction, Range, SigKind, SigOperand, SigValue, Target, forms};

/// The function's PTX in a kernel of its own, its operands in registers.
fn kernel(function: &Function, target: Target, version: warpsmith_isa::Version) -> String {
    let (mut text, mut registers) = (function.text.clone(), String::new());
    let constraints: Vec<&str> = function.constraints.split(',').filter(|one| !one.is_empty()).collect();
    for (n, constraint) in constraints.iter().enumerate().rev() {
        let bits = match constraint.trim_start_matches('=') {
            "h" => 16,
            "r" | "f" => 32,
            "q" => 128,
            _ => 64,
        };
        registers.push_str(&format!(".reg .b{bits} %operand{n};\n"));
        text = text.replace(&format!("${n}"), &format!("%operand{n}"));
    }
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{registers}{text}\nret;\n}}\n"
    )
}

/// The least constant that an operand takes.
fn least(instruction: &Instruction, name: &str) -> i64 {
    fn find(operands: &[SigOperand], name: &str) -> Option<SigValue> {
        operands.iter().find_map(|operand| match &operand.kind {
            SigKind::Value(value) if identifier(operand.name) == name => Some(*value),
            SigKind::Bracket(places) | SigKind::Tuple(places) => find(places, name),
            _ => None,
        })
    }
    match find(&instruction.signature().operands, name).and_then(|value| value.range) {
        None => 1,
        Some(Range::Between { min, max, multiple }) => {
            let least = min.max(multiple.min(max));
            least - least.rem_euclid(multiple)
        }
        Some(Range::PowerOfTwo { min, .. }) => (min.max(1) as u64).next_power_of_two() as i64,
        Some(Range::OneOf(all)) => all.last().copied().unwrap_or(0),
        Some(Range::Stride(_) | Range::From(_) | Range::Fraction) => 256,
    }
}

#[test]
fn every_form_is_a_function() {
    let (mut checked, mut without, mut wrong) = (0, BTreeMap::<String, BTreeSet<String>>::new(), Vec::new());
    for form in FORMS.iter() {
        for sample in of_form(form, Target::sm(75)) {
            let Some(instruction) = forms(&sample.mnemonic).find(|one| one.form().id() == form.id()) else {
                continue;
            };
            // What must be a constant gets one that is allowed.
            let mut choices = Choices::default();
            let function = loop {
                match of_instruction(&instruction, &choices) {
                    Ok(function) => break Ok(function),
                    Err(why) => match why.strip_prefix('`').and_then(|why| why.split_once("` is a constant"))
                    {
                        Some((name, _)) if choices.constants.iter().all(|(other, _)| other != name) => {
                            let value = least(&instruction, name);
                            choices.constants.push((name.to_owned(), value));
                        }
                        Some(_) | None => break Err(why),
                    },
                }
            };
            match function {
                Err(why) => {
                    // Without the names in quotes.
                    let reason: String = why.split('`').step_by(2).collect();
                    without.entry(reason).or_default().insert(form.opcode.to_string());
                }
                Ok(function) => {
                    checked += 1;
                    let text = kernel(&function, sample.target, sample.version);
                    let parsed = warpsmith_ptx::parse(&text);
                    let findings = warpsmith_ptx::validate(&parsed.module);
                    let all = parsed.diagnostics.iter().chain(&findings);
                    let errors: Vec<&str> = all
                        .filter(|one| one.severity == Severity::Error)
                        .map(|one| one.message.as_str())
                        .collect();
                    if !errors.is_empty() {
                        wrong.push(format!("{}: {errors:?}\n    {}", sample.mnemonic, function.text));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    let mut said = format!("{checked} instructions are functions; not functions:\n");
    for (why, opcodes) in &without {
        said.push_str(&format!(
            "{}: {}\n",
            why.trim(),
            opcodes.iter().cloned().collect::<Vec<_>>().join(" ")
        ));
    }
    expect_test::expect_file!["not_functions.txt"].assert_eq(&said);
}
