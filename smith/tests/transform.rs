//! Transformations read names of IR as a whole: those that differ behind a dot only are others.

use warpsmith_diag::Language;
use warpsmith_smith::transform::{Known, Program};

const TEXT: &str = "kernel @k(%p: ptr<global>, %n: i32) {
entry:
  %v4 = iconst.i64 8
  %p.1 = ptradd %p, %v4
  %n.1 = iadd %n, %n
  jump loop(%n)
loop(%i: i32):
  %place = index %p.1, %i, 4
  store %n.1, %place
  jump loop.1(%i)
loop.1(%i.1: i32):
  %one = iconst.i32 1
  %next = iadd %i.1, %one
  %more = icmp slt %next, %n.1
  brif %more, loop(%next), done
done:
  ret
}
";

#[test]
fn names_with_dots_stay_whole() {
    for seed in 0..300 {
        let program = Program::new(TEXT, Language::Wir, Known::default()).expect("a module");
        let (steps, text) = program.sequence(seed, 4);
        if let Err(errors) = warpsmith_ir::parse_module(text.clone()) {
            panic!("seed {seed}, {steps:?}: {}\n{text}", errors[0]);
        }
    }
}
