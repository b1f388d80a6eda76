//! How many threads read a text changes nothing.

use std::fmt::Write;
use warpsmith_ir::{Parsed, parse};

/// So many kernels, which write out types, print texts, call each other, and among which some have errors.
fn text(kernels: usize, errors: bool) -> String {
    let mut text = String::from("target \"sm_80\"\ntype Pair = {i32, f32}\n");
    for i in 0..kernels {
        let next = (i + 1) % kernels;
        _ = writeln!(text, "func @f{i}(%p: ptr, %n: i32) -> i32 {{\nentry:\n  %zero = iconst.i32 {i}");
        if i % 7 == 3 {
            // A type that is new in every other of them, and one that has a name.
            let len = 2 + i / 14;
            _ = writeln!(text, "  %whole = load.[i32; {len}] %p\n  store %whole, %p\n  %pair = load.Pair %p");
        }
        if i % 11 == 5 {
            _ = writeln!(text, "  %done = printf \"%s of %d\", \"text {}\", %n", i / 22);
        }
        if errors && i % 97 == 50 {
            _ = writeln!(text, "  %x = iad %n, 1\n  store %unknown, %p");
        }
        if errors && i % 101 == 60 {
            _ = writeln!(text, "  %y = load.[i32; {} %p\n  %z = load.t3 %p", 1000 + i);
        }
        _ = writeln!(
            text,
            "  jump loop(%zero, %zero)\nloop(%i: i32, %sum: i32):\n  %t = imul %i, %n\n  %u = iadd %t, %sum\n  %next = iadd %i, 1"
        );
        _ = writeln!(text, "  %more = icmp ult %next, %n\n  brif %more, loop(%next, %u), out\nout:");
        _ = writeln!(text, "  %r = call @f{next}(%p, %u)\n  ret %r\n}}\n");
    }
    text
}

#[test]
fn any_number_of_threads_reads_the_same() {
    for errors in [false, true] {
        let text = text(900, errors);
        // Enough for threads.
        assert!(text.len() > 200_000);
        let read = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let Parsed { module, diagnostics } = pool.install(|| parse(&text));
            let types: Vec<String> = module.types.iter().map(|ty| format!("{ty:?}")).collect();
            let globals: Vec<String> = module.globals.values().map(|global| global.name.clone()).collect();
            (module.to_string(), format!("{diagnostics:#?}"), types, globals)
        };
        let one = read(1);
        assert_eq!(one.1 != "[]", errors, "{}", one.1);
        assert!(one.2.len() > 40, "{} types", one.2.len());
        assert!(one.3.len() > 25 || errors, "{} texts", one.3.len());
        for threads in [2, 3, 8] {
            assert!(read(threads) == one, "{threads} threads");
        }
    }
}
