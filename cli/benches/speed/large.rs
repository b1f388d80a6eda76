//! Functions of 10^6 instructions, of the shapes that time grows with: long blocks, many blocks, many loops.

use crate::clock::{best, own};
use crate::{instructions, micros};
use std::fmt::Write;
use warpsmith::emit::{Compiler, OptLevel};
use warpsmith::ir;
use warpsmith::isa::Target;

/// Instructions of the IR in each function.
const SIZE: usize = 1_000_000;

/// Writes the n-th piece of a function, and says how many instructions it has.
type Piece = fn(&mut String, usize) -> usize;

pub fn functions() {
    println!("\nOne function of 10^6 instructions");
    let shapes: [(&str, Piece); 3] = [("one block", straight), ("diamonds", diamond), ("loops", round)];
    for (name, piece) in shapes {
        let (text, count) = function(piece);
        let module = ir::parse_module(&text).unwrap_or_else(|errors| panic!("{errors}"));
        for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2] {
            let compiler = Compiler::new(Target::sm(90)).with_opt_level(level);
            let mut written = 0;
            // Given away, as the command does.
            let mut given = Some(module.clone());
            let time = best(1, own, || {
                let module = given.take().expect("measured once");
                let compiled = compiler.compile(module).unwrap_or_else(|errors| panic!("{errors}"));
                written = instructions(&compiled);
            });
            println!(
                "{name:<12} {count:>9} in -{level} {:>8.2} s {written:>9} PTX {:>8.2} us each",
                time.as_secs_f64(),
                micros(time, written)
            );
        }
    }
}

/// A kernel of as many pieces as make up the size, each of which reads and writes the variable `%s`, and the number of its instructions.
fn function(piece: Piece) -> (String, usize) {
    let mut text = String::from("kernel @k(%p: ptr<global>, %n: i32) {\nentry:\n  %c1 = iconst.i32 1\n");
    text.push_str("  %a0 = load.i32 %p\n");
    let mut count = 2;
    let mut n = 0;
    while count < SIZE {
        count += piece(&mut text, n);
        n += 1;
    }
    write!(text, "  store %a{n}, %p\n  ret\n}}\n").expect("a string");
    (text, count + 2)
}

/// Arithmetic that no rule makes shorter, on a loaded value.
fn work(text: &mut String, n: usize, from: &str, to: &str) -> usize {
    let lines = [
        format!("%m{n} = load.i32 %p + {}", 4 * (n % 1000)),
        format!("%x{n} = imul {from}, %m{n}"),
        format!("%y{n} = bxor %x{n}, %n"),
        format!("%z{n} = isub %y{n}, {from}"),
        format!("store %z{n}, %p + {}", 4 * (n * 7 % 1000)),
        format!("%w{n} = iadd %z{n}, %m{n}"),
        format!("{to} = bor %w{n}, %x{n}"),
    ];
    for line in &lines {
        writeln!(text, "  {line}").expect("a string");
    }
    lines.len()
}

fn straight(text: &mut String, n: usize) -> usize {
    work(text, n, &format!("%a{n}"), &format!("%a{}", n + 1))
}

/// `if (s < m) s = f(s); else s = g(s);`
fn diamond(text: &mut String, n: usize) -> usize {
    let from = format!("%a{n}");
    writeln!(text, "  %c{} = icmp slt {from}, %n\n  brif %c{}, yes{n}, no{n}\nyes{n}:", n + 2, n + 2)
        .expect("a string");
    let one = work(text, 2 * n, &from, &format!("%r{}", 2 * n));
    writeln!(text, "  jump join{n}(%r{})\nno{n}:", 2 * n).expect("a string");
    let two = work(text, 2 * n + 1, &from, &format!("%r{}", 2 * n + 1));
    writeln!(text, "  jump join{n}(%r{})\njoin{n}(%a{}: i32):", 2 * n + 1, n + 1).expect("a string");
    one + two + 4
}

/// `for (i = 0; i < n; i++) s = f(s);`
fn round(text: &mut String, n: usize) -> usize {
    writeln!(text, "  %z0_{n} = iconst.i32 0\n  jump loop{n}(%z0_{n}, %a{n})").expect("a string");
    writeln!(text, "loop{n}(%i{n}: i32, %s{n}: i32):").expect("a string");
    let inside = work(text, n, &format!("%s{n}"), &format!("%t{n}"));
    writeln!(text, "  %j{n} = iadd %i{n}, %c1\n  %q{n} = icmp slt %j{n}, %n").expect("a string");
    writeln!(text, "  brif %q{n}, loop{n}(%j{n}, %t{n}), out{n}(%t{n})\nout{n}(%a{}: i32):", n + 1)
        .expect("a string");
    inside + 5
}
