//! The functions and the kernel of `sizes_callee.cu` and `sizes_caller.cu`, as a front end of its own would build them.

use std::fmt::Write;

/// The element of a struct of so many bytes, and how many it has.
fn elements(size: usize) -> (&'static str, usize) {
    match size {
        n if n.is_multiple_of(8) => ("i64", n / 8),
        n if n.is_multiple_of(4) => ("i32", n / 4),
        n if n.is_multiple_of(2) => ("i16", n / 2),
        n => ("i8", n),
    }
}

/// A value of an element, of one of 32 bits.
fn converted(to: &str, value: &str) -> String {
    match to {
        "i64" => format!("sext.i64 {value}"),
        "i32" => format!("iadd {value}, 0"),
        narrow => format!("trunc.{narrow} {value}"),
    }
}

/// The functions.
pub fn callee() -> String {
    let mut text = String::from(
        "func export @f_i128(%a: i128, %k: i32) -> i128 {\nentry:\n  %w = sext.i128 %k\n  %r = imul %a, %w\n  ret %r\n}\n\
         func export @f_u128(%k: i8 signext, %a: i128, %b: i128) -> i128 {\nentry:\n  %x = bxor %a, %b\n  %w = sext.i128 %k\n\
         \x20 %r = iadd %x, %w\n  ret %r\n}\n",
    );
    for size in 1..=64 {
        let (ty, count) = elements(size);
        let (last, with) = (count - 1, converted(ty, "%k"));
        writeln!(
            text,
            "func export @f_{size}(%s: {{[{ty}; {count}]}}, %k: i32) -> {{[{ty}; {count}]}} {{\nentry:\n  %c = {with}\n\
             \x20 %a = extract_value.{ty} %s, 0, 0\n  %b = iadd %a, %c\n  %t = insert_value %s, %b, 0, 0\n\
             \x20 %d = extract_value.{ty} %t, 0, {last}\n  %e = bxor %d, %c\n  %r = insert_value %t, %e, 0, {last}\n  ret %r\n}}",
        )
        .expect("a string takes it");
    }
    text
}

/// The kernel.
pub fn caller() -> String {
    let mut text = String::from(
        "func extern @f_i128(%a: i128, %k: i32) -> i128\nfunc extern @f_u128(%k: i8 signext, %a: i128, %b: i128) -> i128\n",
    );
    let mut body = String::new();
    for size in 1..=64 {
        let (ty, count) = elements(size);
        let (array, whole) = (format!("[{ty}; {count}]"), format!("{{[{ty}; {count}]}}"));
        let mut line = |line: String| body += &format!("  {line}\n");
        let names: Vec<String> = (0..count).map(|i| format!("%e{size}_{i}")).collect();
        for (i, name) in names.iter().enumerate() {
            line(format!("{name}w = iadd %k, {}", i * 7));
            line(format!("{name} = {}", converted(ty, &format!("{name}w"))));
        }
        line(format!("%a{size} = aggregate.{array} {}", names.join(", ")));
        line(format!("%s{size} = aggregate.{whole} %a{size}"));
        line(format!("%r{size} = call @f_{size}(%s{size}, %k)"));
        line(format!("store %r{size}, %out + {}", 64 * size));
        writeln!(text, "func extern @f_{size}(%s: {whole}, %k: i32) -> {whole}").expect("a string takes it");
    }
    format!(
        "{text}kernel @call_all(%out: ptr<global>, %k: i32) {{\nentry:\n{body}\
         \x20 %w = sext.i128 %k\n  %high = shl %w, 70\n  %sum = iadd %high, 5\n  %a = call @f_i128(%sum, %k)\n  store %a, %out\n\
         \x20 %k8 = trunc.i8 %k\n  %higher = shl %w, 90\n  %b = call @f_u128(%k8, %a, %higher)\n  store %b, %out + 16\n  ret\n}}\n"
    )
}
