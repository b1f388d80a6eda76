//! The reports of typical mistakes, word for word.

mod declarations;
mod functions;
mod instructions;
mod names;
mod prologue;
mod text;

use expect_test::Expect;
use warpsmith_diag::LineIndex;
use warpsmith_ptx::{parse, validate};

/// Everything that parser and validator say of a text.
fn findings(text: &str) -> String {
    let parsed = parse(text);
    let mut findings = parsed.diagnostics;
    findings.extend(validate(&parsed.module));
    findings.sort_by_key(|finding| finding.span.start);
    let lines = LineIndex::new(text);
    findings.iter().map(|finding| finding.render(&lines) + "\n").collect()
}

/// A mistake at module level, on line 4.
fn module(text: &str, expected: Expect) {
    expected.assert_eq(&findings(&format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}\n")));
}

/// A mistake in a body, on line 1.
fn body(text: &str, expected: Expect) {
    let prologue = ".version 8.0 .target sm_80 .address_size 64 .func f(.param .b32 n) { ret; } ";
    let kernel =
        ".entry k(.param .u64 p) { .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;";
    expected.assert_eq(&findings(&format!("{prologue}{kernel}\n{text}\nret; }}\n")));
}
