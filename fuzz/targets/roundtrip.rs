//! Random IR and PTX, guided by coverage: the bytes are what the generators draw from.

#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use warpsmith::fuzz::{Case, NoTools, Oracle, check, smith};

fuzz_target!(|data: &[u8]| -> Corpus {
    let [kind, rest @ ..] = data else { return Corpus::Reject };
    let mut u = Unstructured::new(rest);
    let text = if kind % 2 == 0 {
        smith::ir::module(&mut u, &smith::ir::Config::default()).map(|module| module.to_string())
    } else {
        smith::ptx::program(&mut u, &smith::ptx::Config::default()).map(|program| program.text)
    };
    let Ok(text) = text else { return Corpus::Reject };
    let Some(case) = Case::generated(text, 1) else { return Corpus::Reject };
    if let Err(failure) = check(&case, &Oracle::DEFAULT, &NoTools) {
        panic!("{failure}\n{}", case.file_test());
    }
    Corpus::Keep
});
