//! Input that nobody would write: the parser and the verifier answer it all, in time and memory in proportion to its size.

use arbitrary::Unstructured;
use std::fmt::Write;
use std::time::{Duration, Instant};
use warpsmith_ir::{parse, verify};

/// Reads, and if that succeeds verifies and prints.
fn swallow(text: &[u8]) {
    let parsed = parse(text);
    for error in &parsed.diagnostics {
        assert!(error.message.len() < 1000 && error.span.start as usize <= text.len(), "{error:?}");
    }
    // An error for each byte is as much as a text can be blamed for.
    assert!(parsed.diagnostics.len() <= 2 * text.len() + 1);
    // What was recovered is a module that the verifier and the printer can look at.
    let (Ok(_) | Err(_)) = verify(&parsed.module);
    let _ = parsed.module.to_string();
}

const SEED: &str = "target \"sm_80\"\nfile 0 \"a\"\nglobal @t: [i32; 4] align 4 = [1, -2, 0x3]\nshared extern @d: [f32]\n\
    func @f(%a: i32) -> i32 {\n  stack %s: 16 align 8\nentry:\n  %b = iadd %a, 1 !0:1:2\n  brif.i1 1, l(%b, 2), m\n\
    l(%c: i32, %d: i32):\n  switch %c, m, [0: m, 1: l(%c, %d)]\nm:\n  %p = stack_addr %s + 8\n  store.i32 volatile 5, %p - 4 align 2\n\
      %v = load.f32x4 %p\n  %e = extract %v, 1\n  %q = ptx.prmt.b32 %a, %b, 0x0123\n  %r = call @f(%q)\n  ret %r\n}\n";

#[test]
fn any_bytes() {
    arbtest::arbtest(|u: &mut Unstructured| {
        swallow(u.bytes(u.len())?);
        Ok(())
    });
}

#[test]
fn damaged_modules() {
    arbtest::arbtest(|u: &mut Unstructured| {
        let mut text = SEED.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=6)? {
            let at = u.choose_index(text.len())?;
            match u.int_in_range(0..=4)? {
                0 => drop(text.remove(at)),
                1 => text.insert(at, u.arbitrary()?),
                2 => text[at] = *u.choose(b"%@(){}[]<>,:=+-!;\"\n 0.aev")?,
                3 => text.truncate(at.max(1)),
                _ => {
                    let end = u.int_in_range(at..=text.len().min(at + 40))?;
                    let piece = text[at..end].to_vec();
                    let to = u.choose_index(text.len())?;
                    text.splice(to..to, piece);
                }
            }
        }
        swallow(&text);
        Ok(())
    });
}

#[test]
fn shuffled_tokens() {
    let tokens: Vec<&str> = SEED.split_inclusive([' ', '\n', '(', ')', ',']).collect();
    arbtest::arbtest(|u: &mut Unstructured| {
        let mut text = String::from("func @g(%a: i32) {\nentry:\n");
        for _ in 0..u.int_in_range(0..=60)? {
            text.push_str(u.choose(&tokens)?);
        }
        swallow(text.as_bytes());
        Ok(())
    });
}

/// The time for `n` pieces of a pathological text and for eight times as many: no more than a few times in proportion.
fn is_proportional(what: &str, make: impl Fn(usize) -> String) {
    let measure = |n| {
        let text = make(n);
        let start = Instant::now();
        swallow(text.as_bytes());
        start.elapsed()
    };
    let small = measure(2_000).max(Duration::from_millis(5));
    let large = measure(16_000);
    assert!(large < small * 60, "{what}: {small:?} for 2000, {large:?} for 16000");
}

#[test]
fn hostile_shapes_take_time_in_proportion() {
    let repeat = |text: &'static str| move |n: usize| text.repeat(n);
    is_proportional("open braces", repeat("{"));
    is_proportional("open brackets", |n| format!("func @f() {{\na:\n ptx.prmt.b32 {}", "{".repeat(n)));
    is_proportional("minus signs", |n| format!("func @f() {{\na:\n %a = iconst.i32 {}1", "-".repeat(n)));
    is_proportional("one long name", |n| format!("func @f() {{\na:\n %a = {} 1", "x.".repeat(n)));
    is_proportional("functions without an end", repeat("func @f() {\n"));
    is_proportional("commas", |n| format!("func @f() {{\na:\n{}", ",\n".repeat(n)));
    is_proportional("unknown values", |n| {
        let mut text = String::from("func @f() {\na:\n");
        (0..n).for_each(|i| writeln!(text, " %a{i} = iadd %b{i}, %c{i}").expect("a string"));
        text + "ret\n}"
    });
    is_proportional("unknown symbols", |n| {
        let mut text = String::from("func @f() {\na:\n");
        (0..n).for_each(|i| writeln!(text, " %a{i} = global_addr @b{i}").expect("a string"));
        text + "ret\n}"
    });
    is_proportional("types that come later", |n| {
        let mut text = String::from("func @f(%x: i32) {\na: jump z\n");
        (0..n)
            .for_each(|i| writeln!(text, "b{i}:\n %a{i} = iadd %a{}, 1\n jump c", i + 1).expect("a string"));
        write!(text, "z:\n %a{n} = iadd %x, 1\n jump b0\nc:\n ret\n}}").expect("a string");
        text
    });
    is_proportional("many predecessors and blocks", |n| {
        let mut text = String::from("func @f(%c: i1, %x: i32) {\na: jump b0\n");
        (0..n).for_each(|i| writeln!(text, "b{i}: brif %c, b{}, b{n}", i + 1).expect("a string"));
        write!(text, "b{n}: ret\n}}").expect("a string");
        text
    });
    is_proportional("aliases of one name", |n| {
        let mut text = String::from("func @f(%x: i32) {\na:\n");
        (0..n).for_each(|_| text.push_str(" %y = iadd %x, 1\n"));
        text + "ret\n}"
    });
}
