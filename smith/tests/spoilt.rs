//! Statements with something wrong in them: what they begin with is valid, and the changes are some.

use arbitrary::Unstructured;
use warpsmith_ptx::ValidatedModule;
use warpsmith_smith::Random;
use warpsmith_smith::spoilt::{Change, Statement, draw};

/// The statement of a seed, and its changes.
fn drawn(seed: u64) -> Option<(Statement, Vec<Change>)> {
    let bytes = Random::new(seed).bytes(512);
    draw(&mut Unstructured::new(&bytes)).ok()
}

#[test]
fn without_changes_they_are_valid() {
    for seed in 0..2000 {
        let Some((statement, _)) = drawn(seed) else { continue };
        let text = statement.module();
        if let Err(errors) = ValidatedModule::parse(text.as_str()) {
            panic!("seed {seed}: {}\n{text}", errors[0]);
        }
    }
}

#[test]
fn most_changes_are_seen_and_some_leave_a_valid_statement() {
    let (mut changed, mut all, mut valid) = (0, 0, 0);
    for seed in 0..500 {
        let Some((mut statement, changes)) = drawn(seed) else { continue };
        for change in changes {
            let before = statement.clone();
            statement.change(&change);
            all += 1;
            changed += usize::from(statement != before);
        }
        valid += usize::from(ValidatedModule::parse(statement.module()).is_ok());
    }
    assert!(changed * 10 > all * 8, "only {changed} of {all} changes");
    assert!((10..400).contains(&valid), "{valid} of 500 are valid");
}
