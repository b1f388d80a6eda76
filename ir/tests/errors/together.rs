//! What is wrong with a module of which not all can be read.

use super::check;
use expect_test::expect;

/// What cannot be read in one function does not hide what is wrong with another.
#[test]
fn errors_of_reading_and_of_verifying_come_together() {
    check(
        "func @a() {\nentry:\n  retn\n}\nfunc @b(%x: i32, %y: f32) -> i32 {\nentry:\n  %z = iadd %x, %y\n  ret %z\n}\n",
        expect![[r#"
            3:3: error[I0002]: unknown operation `retn`
              note: did you mean `ret`?
            7:3: error[I0402]: operand 2 of `iadd` must be i32; %y is f32
              5:6: %y is a parameter of this function
              note: `fptosi.i32` or `fptoui.i32` converts it
        "#]],
    );
}

/// Lines that cannot be read hide neither what is wrong with others nor say anything of what they would have defined.
#[test]
fn lines_that_are_read_are_verified_beside_lines_that_are_not() {
    check(
        "func @f(%x: i32, %y: f32) -> i32 {\nentry:\n  %a = iad %x, 1\n  %b = iadd %a, %x\n  %c = iadd %x, %y\n  jump next(%b)\n\
         next(%p: i3x2):\n  %d = fadd %x, %y\n  %e = iadd %p, %p\n  ret %e\n}\n",
        expect![[r#"
            3:8: error[I0002]: unknown operation `iad`
              note: did you mean `iadd`?
            5:3: error[I0402]: operand 2 of `iadd` must be i32; %y is f32
              1:6: %y is a parameter of this function
              note: `fptosi.i32` or `fptoui.i32` converts it
            7:10: error[I0003]: unknown type `i3x2`
              note: did you mean `i32`?
            8:3: error[I0401]: `fadd` takes a float or a vector of floats, not i32
              note: did you mean `iadd`?
        "#]],
    );
}

/// Nor do items: what they would have defined is not reported again where it is used.
#[test]
fn items_that_are_read_are_verified_beside_items_that_are_not() {
    check(
        "type Pair = {i32, f31}\nglobal @a: i33x4\nglobal @b: i32 align 3\nfunc @c(%x: Pair) -> i32 {\nentry:\n  ret %x\n}\n\
         kernel @k(%p: ptr<global>) -> i32 {\nentry:\n  %a = global_addr @a\n  %v = load.Pair %a\n  store %v, %p\n  %i = call @c(%v)\n  \
         %w = load.i32 %p\n  %f = fadd %w, %w\n  %j = iadd %i, %w\n  ret\n}\nfunc @d = @c\n",
        expect![[r#"
            1:19: error[I0003]: unknown type `f31`
              note: did you mean `f32`?
            2:12: error[I0003]: unknown type `i33x4`
              note: types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up
            3:8: error[I0312]: the alignment 3 of `@b` is not a power of two
            8:8: error[I0320]: kernel `@k` returns i32
              note: a kernel returns nothing: it stores its results through pointers
            15:3: error[I0401]: `fadd` takes a float or a vector of floats, not i32
              note: did you mean `iadd`?
            17:3: error[I0426]: `ret` with nothing; the kernel returns i32
              8:8: declared here
            19:9: error[I0001]: expected `(`, found `=`
        "#]],
    );
}
