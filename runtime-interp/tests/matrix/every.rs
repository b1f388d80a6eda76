//! No form of matrices and tensor maps is left out: each is run by one of the tests beside this one.

use super::operands::is_executed;
use super::{fifth, forms, maps};
use warpsmith_isa::sample::{Standing, of_form, standing};
use warpsmith_isa::{Class, FORMS, Form, Operation, Target, Version};

/// The version of the manual whose forms are all executed.
const WHOLE: Version = Version::new(9, 0);

/// What the tests run, by operation.
const RUN: [fn(Operation) -> bool; 4] =
    [forms::is_of_matrices, forms::is_of_warpgroups, fifth::is_run, maps::is_run];

/// What is not executed, and a part of the names of its instructions: all of it came after the manual of which everything is.
const LATER: [(&str, &str); 3] = [
    (".spcompress", "loads that compress (PTX ISA 9.4, 9.7.18.8.3)"),
    (".kind::ti16", "products of 16-bit integers"),
    (".decompress::lut::b", "a B of indices of a table"),
];

/// The chapters of the manual, and what came later.
fn is_of_tensors(form: &Form) -> bool {
    let family = form.family();
    let chapters = ["9.7.14.", "9.7.15.", "9.7.16.", "9.7.9.25.5.", "9.7.9.26"];
    let of_maps = family.name.contains("tensor") && !family.name.starts_with("fabric");
    family.class == Class::Matrix || of_maps || chapters.iter().any(|c| family.section.starts_with(c))
}

#[test]
fn every_form_of_the_tables_is_run_by_a_test() {
    let (mut run, mut wrong, mut left_out) = (0, Vec::new(), [false; LATER.len()]);
    for form in FORMS.iter().filter(|form| is_of_tensors(form)) {
        let samples = of_form(form, Target::sm(50));
        let mut blame = |why: String| wrong.push(format!("`{}` ({}): {why}", form.syntax, form.opcode));
        let tests = RUN.iter().filter(|of| of(form.operation)).count();
        match (samples.is_empty(), standing(form, &[], Target::sm(50))) {
            (true, Standing::OnlyPtxas) => continue,
            (true, why) => blame(format!("has no sample: {why:?}")),
            (false, _) if samples.iter().any(is_executed) => {
                run += 1;
                if tests != 1 {
                    blame(format!("is run by {tests} tests"));
                }
            }
            (false, _) => {}
        }
        for sample in samples.iter().filter(|sample| !is_executed(sample)) {
            let name = sample.mnemonic.to_string();
            match LATER.iter().position(|(part, _)| name.contains(part)) {
                Some(known) if sample.version > WHOLE => left_out[known] = true,
                _ => blame(format!("{name} of {} is not executed", sample.version)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let stale: Vec<_> = LATER.iter().zip(left_out).filter(|(_, seen)| !seen).collect();
    assert!(stale.is_empty(), "executed by now: {stale:?}");
    assert!(run > 300, "{run} forms are run");
}
