//! What the parser and the verifier say of wrong modules: one test a family of errors, each with all its messages.

mod reading;
mod together;
mod verifying;

use expect_test::Expect;
use warpsmith_diag::{Diagnostics, LineIndex};
use warpsmith_ir::{parse, verify};

/// Every error of a module: the parser's, or the verifier's if it can be read.
fn errors(text: &str) -> String {
    let lines = LineIndex::new(text);
    let parsed = parse(text);
    let found = match parsed.diagnostics.is_empty() {
        true => verify(&parsed.module).map_or_else(Diagnostics::into_vec, |()| Vec::new()),
        false => parsed.diagnostics,
    };
    found.iter().map(|error| error.render(&lines) + "\n").collect()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&errors(text));
}

/// Wraps instructions in a function of some parameters.
fn body(instructions: &str) -> String {
    format!(
        "global @g: [i32; 4]\n\
         func @callee(%a: i32, %b: f32) -> f32 {{ entry: ret %b }}\n\
         func @f(%i: i32, %l: i64, %x: f32, %d: f64, %p: ptr<global>, %c: i1) {{\nentry:\n{instructions}\n}}\n"
    )
}

fn check_body(instructions: &str, expected: Expect) {
    check(&body(instructions), expected);
}
