//! Types, sizes and alignments that cannot be: each is an error with its place and what to do, and none is computed with.

use expect_test::{Expect, expect};
use warpsmith_diag::{Diagnostics, LineIndex};

fn check(text: &str, expected: Expect) {
    let errors = warpsmith_ir::parse_module(text)
        .and_then(|module| warpsmith_ir::verify(&module))
        .expect_err("it must be refused");
    let lines = LineIndex::new(text);
    let shown: String =
        Diagnostics::into_vec(errors).iter().map(|error| error.render(&lines) + "\n").collect();
    expected.assert_eq(&shown);
}

#[test]
fn types_that_hold_themselves() {
    check(
        "type A = {i32, A}\nglobal @g: A\n",
        expect![[r#"
            1:16: error[I0303]: `A` holds itself
              note: a `ptr` can point to it
        "#]],
    );
    check(
        "type A = {B}\ntype B = {A}\nglobal @g: B\n",
        expect![[r#"
            1:11: error[I0003]: unknown type `B`
              note: types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up
        "#]],
    );
    check(
        "type A = [A; 2]\n",
        expect![[r#"
            1:11: error[I0303]: `A` holds itself
              note: a `ptr` can point to it
        "#]],
    );
}

#[test]
fn sizes_beyond_memory() {
    check(
        "global @g: [i64; 0x1000000000000000]\n",
        expect![[r#"
        1:8: error[I0313]: `@g` is larger than any memory
    "#]],
    );
    check(
        "type H = {[[i64; 0x100000000]; 0x10000000], i8}\nglobal @g: H\n",
        expect![[r#"
        2:8: error[I0313]: `@g` is larger than any memory
        error[I0303]: t1 is larger than any memory
          note: a type takes less than 2^63 bytes
        1:6: error[I0303]: H is larger than any memory
          note: a type takes less than 2^63 bytes
    "#]],
    );
    check(
        "func @f(%x: [i8; 0x8000000000000000]) {\nentry:\n  ret\n}\n",
        expect![[r#"
        error[I0303]: t0 is larger than any memory
          note: a type takes less than 2^63 bytes
    "#]],
    );
    check(
        "kernel @k(%a: byval(32764, align 4), %b: i8) {\nentry:\n  ret\n}\n",
        expect![[r#"
        1:8: error[I0317]: the parameters of `@k` take 32765 bytes, 32764 at most
          note: pass a pointer to memory that holds them
    "#]],
    );
    check(
        "func @f() {\nstack %a: 4294967295 align 8\nstack %b: 4294967295 align 8\nentry:\n  ret\n}\n",
        expect![[r#"
            1:6: error[I0317]: the stack slots of `@f` take 8589934591 bytes, 524288 at most
              note: that is all the local memory that a thread has: use global memory
        "#]],
    );
}

#[test]
fn alignments_that_are_no_power_of_two() {
    check(
        "type A = align(3) {i32}\nglobal @g: A\n",
        expect![[r#"
        1:6: error[I0303]: the alignment 3 of A is not a power of two
          note: the next one is 4
    "#]],
    );
    check(
        "global @g: i32 align 3\n",
        expect![[r#"
        1:8: error[I0312]: the alignment 3 of `@g` is not a power of two
    "#]],
    );
    check(
        "kernel @k(%p: ptr<global> align(3), %b: byval(12, align 3)) {\nstack %s: 8 align 3\nentry:\n  \
         %x = load.i32 %p align 3\n  ret\n}\n",
        expect![[r#"
            1:8: error[I0312]: the alignment 3 of parameter 1 of `@k` is not a power of two
            1:8: error[I0312]: the alignment promised of parameter 0 of `@k` is not a power of two
            1:8: error[I0312]: the alignment 3 of stack slot %s is not a power of two
            4:26: error[I0005]: an alignment is a power of two
        "#]],
    );
}

#[test]
fn loops_that_are_asked_for_what_cannot_be() {
    check(
        "func @f() {\nentry:\n  jump l\nl:\n  unroll 0\n  jump l\n}\n",
        expect![[r#"
        4:1: error[I0324]: l asks for 0 rounds in one
          note: `unroll 4` makes one round of four, `unroll full` leaves no loop, `unroll enable` none whose rounds are known, `nounroll` leaves it as it is
    "#]],
    );
    check(
        "func @f() {\nentry:\n  jump l\nl:\n  barrier\n  nounroll\n  unroll x\n  jump l\n}\n",
        expect![[r#"
        6:3: error[I0016]: `nounroll` does not stand at the head of a loop
          note: it follows the label of the block that the loop begins with
        7:10: error[I0001]: expected a number, found `x`
    "#]],
    );
}
