//! What can be read and is wrong.

use super::{check, check_body};
use expect_test::expect;

#[test]
fn globals() {
    check(
        "global @a: e2m1\nglobal @b: [i32; 0]\nglobal @c: [f32]\nshared @d: [i32; 2] = [1]\nglobal @e: i32 align 3\n\
         global @f: [i8; 2] = [1, 2, 3]\nglobal extern @g: i32 = 1\nglobal @h: i128\nglobal @a.b: i32\n\
         global @huge: [i64; 9223372036854775807]\n",
        expect![[r#"
            1:8: error[I0311]: `@a` cannot hold e2m1, which has no memory form
            2:8: error[I0313]: `@b` has no elements
            3:8: error[I0314]: `@c` needs a length: only `shared extern` memory gets it at launch
            4:8: error[I0315]: `@d` is in shared memory, which has no initial contents
            5:8: error[I0312]: the alignment 3 of `@e` is not a power of two
            6:8: error[I0315]: `@f` has 2 bytes, its initialiser 3
            7:15: error[I0315]: `@g` is defined in another module, which initialises it
            10:8: error[I0313]: `@huge` is larger than any memory
        "#]],
    );
}

#[test]
fn signatures() {
    check(
        "kernel @a() -> i32 { entry: ret 1 }\nfunc @b() -> i32, i32 { entry: ret 1, 2 }\nkernel @c(%p: e2m1, %q: ptr<local>, %r: ptr<param>) { entry: ret }\n\
         func @d(%v: f32x4, %w: i128) { entry: ret }\nkernel @e(%p: byval(0, align 4), %q: byval(8, align 3)) { entry: ret }\n\
         func extern @f() { entry: ret }\nkernel extern @g()\nfunc @h() {}\n",
        expect![[r#"
            1:8: error[I0320]: kernel `@a` returns i32
              note: a kernel returns nothing: it stores its results through pointers
            3:8: error[I0322]: parameter 0 of `@c` is of type e2m1, which has no memory form
              note: pass i8 or i32
            3:8: error[I0323]: parameter 1 of `@c` is a ptr<local>: memory of one thread cannot come from the host
            3:8: error[I0323]: parameter 2 of `@c` is a ptr<param>
              note: what is passed by value is declared `byval(size, align n)`, and its value is a ptr<param>
            5:8: error[I0321]: parameter 0 of `@e` is passed by value and has no bytes
            5:8: error[I0312]: the alignment 3 of parameter 1 of `@e` is not a power of two
            6:13: error[I0325]: `@f` is defined in another module and here too
            7:15: error[I0325]: kernel `@g` cannot be declared: kernels are not called
            8:6: error[I0325]: `@h` has no body
        "#]],
    );
}

#[test]
fn attributes() {
    check(
        "kernel @a() reqntid(1024, 2) { entry: ret }\nkernel @b() reqntid(0) maxntid(32) maxnreg(0) { entry: ret }\nfunc @c() maxnreg(32) { entry: ret }\n",
        expect![[r#"
            1:8: error[I0324]: `reqntid` of `@a` must give 1 to 1024 threads
            2:8: error[I0324]: `reqntid` of `@b` must give 1 to 1024 threads
            2:8: error[I0324]: `@b` has both reqntid and maxntid
              note: the size that is required is the largest one as well: keep reqntid
            2:8: error[I0324]: `maxnreg` of `@b` is 0
            3:6: error[I0324]: function `@c` has launch attributes, which only kernels have
        "#]],
    );
}

#[test]
fn terminators() {
    check_body(
        "jump a\na:\n%y = iadd %i, %i\nb:\nret\n%z = iadd %i, %i\nc:",
        expect![[r#"
        6:1: error[I0331]: block `a` does not end in a terminator
          7:1: this is its last instruction
          note: a block ends in jump, brif, switch, ret or trap
        8:1: error[I0331]: block `b` does not end in a terminator
          10:1: this is its last instruction
          note: a block ends in jump, brif, switch, ret or trap
        9:1: error[I0332]: `ret` is not the last instruction of its block
          10:1: this is never reached: give it a block of its own
        11:1: error[I0331]: block `c` is empty
          note: a block ends in jump, brif, switch, ret or trap
    "#]],
    );
}

#[test]
fn branches() {
    check_body(
        "brif %i, a, b(%i)\na:\njump entry\nb(%k: i32, %m: f32):\nswitch %i, a, [0: a, 1: b(%i, %i), 0: a, -1: a, 4294967295: a]",
        expect![[r#"
            5:1: error[I0335]: `b` takes 2 arguments, 1 given
              8:1: the block's parameters are here
            5:1: error[I0402]: operand 1 of `brif` must be i1; %i is i32
              3:6: %i is a parameter of this function
              note: `icmp ne` with 0 makes a condition of it
            7:1: error[I0334]: a branch to the entry block `entry`
              note: the entry block takes the function's parameters: jump from it to a block of its own
            9:1: error[I0336]: parameter %m of `b` is f32, %i is i32
              8:1: the block's parameters are here
            9:1: error[I0337]: case 0 is listed twice
            9:1: error[I0337]: case -1 is listed twice
        "#]],
    );
}

#[test]
fn dominance() {
    check_body(
        "brif %c, a, b\na:\n%y = iadd %i, 1\njump b\nb:\n%z = iadd %y, %w\n%w = iadd %i, 1\nret",
        expect![[r#"
            10:1: error[I0340]: %y is not defined on every path to this use
              7:1: %y is defined here
              note: pass it through a block parameter
            10:1: error[I0340]: %w is not defined on every path to this use
              11:1: %w is defined here
              note: pass it through a block parameter
        "#]],
    );
}

#[test]
fn wrong_classes() {
    check_body(
        "%a = iadd %x, %x\n%b = fmul %i, %i\n%e = iadd %p, %p\n%f = fneg %c\n%g = iadd %c, %c\n%h = icmp eq %x, %x\n%j = extract %i, 0\n%k = fconst.i32 1.0\nret",
        expect![[r#"
            5:1: error[I0401]: `iadd` takes an integer of at least 2 bits or a vector of such, not f32
              note: did you mean `fadd`?
            6:1: error[I0401]: `fmul` takes a float or a vector of floats, not i32
              note: did you mean `imul`?
            7:1: error[I0401]: `iadd` takes an integer of at least 2 bits or a vector of such, not ptr<global>
              note: did you mean `ptradd`?
            8:1: error[I0401]: `fneg` takes a float or a vector of floats, not i1
            9:1: error[I0401]: `iadd` takes an integer of at least 2 bits or a vector of such, not i1
            10:1: error[I0401]: `icmp` takes an integer, a pointer, or a vector of such, not f32
              note: did you mean `fcmp`?
            11:1: error[I0401]: `extract` takes a vector, not i32
            12:1: error[I0401]: `fconst` takes a float type, not i32
              note: did you mean `iconst`?
        "#]],
    );
}

#[test]
fn mixed_types() {
    check_body(
        "%a = iadd %i, %l\n%b = fadd %x, %d\n%e = shl %i, %l\n%f = select %i, %x, %x\n%g = ptradd %p, %x\n%h = load.i32 %i\nstore %i, %l\n%j = inttoptr.ptr %i\n%k = fma %x, %x, %i\nret",
        expect![[r#"
            5:1: error[I0402]: operand 2 of `iadd` must be i32; %l is i64
              3:6: %l is a parameter of this function
              note: `trunc.i32` converts it
            6:1: error[I0402]: operand 2 of `fadd` must be f32; %d is f64
              3:6: %d is a parameter of this function
              note: `fptrunc.f32` converts it
            7:1: error[I0402]: operand 2 of `shl` must be i32; %l is i64
              3:6: %l is a parameter of this function
              note: `trunc.i32` converts it
            8:1: error[I0402]: operand 1 of `select` must be i1; %i is i32
              3:6: %i is a parameter of this function
              note: `icmp ne` with 0 makes a condition of it
            9:1: error[I0402]: operand 2 of `ptradd` must be i32 or i64; %x is f32
              3:6: %x is a parameter of this function
            10:1: error[I0402]: operand 1 of `load` must be a pointer; %i is i32
              3:6: %i is a parameter of this function
            11:1: error[I0402]: operand 2 of `store` must be a pointer; %l is i64
              3:6: %l is a parameter of this function
            12:1: error[I0402]: operand 1 of `inttoptr` must be i64; %i is i32
              3:6: %i is a parameter of this function
              note: `zext.i64` or `sext.i64` converts it
            13:1: error[I0402]: operand 3 of `fma` must be f32; %i is i32
              3:6: %i is a parameter of this function
              note: `sitofp.f32` or `uitofp.f32` converts it
        "#]],
    );
}

#[test]
fn conversions() {
    check_body(
        "%a = trunc.i64 %i\n%b = zext.i32 %l\n%e = fpext.f32 %d\n%f = bitcast.f64 %i\n%g = sitofp.i32 %i\n%h = fptosi.f32 %x\n%j = bitcast.i64 %p\n%k = addrspacecast.ptr<shared> %p\n%m = trunc.i128 %l\nret",
        expect![[r#"
            5:1: error[I0411]: the result of `trunc` must be an integer narrower than i32, not i64
            6:1: error[I0411]: the result of `zext` must be an integer wider than i64, not i32
            7:1: error[I0411]: the result of `fpext` must be a float wider than f64, not f32
            8:1: error[I0411]: the result of `bitcast` must be a type of 32 bits, and no pointer, not f64
            9:1: error[I0411]: the result of `sitofp` must be a float or a vector of floats, not i32
            10:1: error[I0411]: the result of `fptosi` must be an integer of at least 2 bits or a vector of such, not f32
            11:1: error[I0401]: `bitcast` takes a type other than i1 and pointers, not ptr<global>
            12:1: error[I0423]: a cast from ptr<global> to ptr<shared>: exactly one side must be the generic `ptr`
            13:1: error[I0411]: the result of `trunc` must be an integer narrower than i64, not i128
        "#]],
    );
}

#[test]
fn lists_of_operands() {
    check(
        "func @f(%v: i32x4, %w: f32x4, %i: i24) {\nentry:\n%a = shuffle %v, %v, [0, 8]\n%b = reduce iadd %w\n%c = reduce isub %v\n\
         %d, %e = uadd_overflow %v, %w\n%g = bswap %v\n%h = bswap.i20 1\n%j = select %i, %v, %v\n%k = shl %v, %w\n\
         %l = shuffle %v, %v, [0]\n%m = iconst.i100 0x1ffffffffffffffffffffffffff\n%n = splat.i32x4 %w\nret\n}\n",
        expect![[r#"
            3:1: error[I0425]: lane 8 of two i32x4, whose lanes are 0 to 7
            4:1: error[I0401]: `iadd` takes an integer of at least 2 bits or a vector of such, not f32
            5:13: error[I0016]: unknown reduction `isub`
              note: reductions are iadd imul band bor bxor smin smax umin umax fadd fmul fmin fmax fminimum fmaximum
            6:1: error[I0402]: operand 2 of `uadd_overflow` must be i32x4; %w is f32x4
              1:6: %w is a parameter of this function
            8:1: error[I0401]: `bswap` takes integers of whole bytes, not i20
            9:1: error[I0402]: operand 1 of `select` must be i1 or i1x4; %i is i24
              1:6: %i is a parameter of this function
            10:1: error[I0402]: operand 2 of `shl` must be i32 or i32x4; %w is f32x4
              1:6: %w is a parameter of this function
            12:18: error[I0005]: the number does not fit i100
              note: i100 takes -633825300114114700748351602688 to 1267650600228229401496703205375
            13:1: error[I0401]: `splat` takes an i1, i8, i16, i32, i64, i128, a float or a pointer, not f32x4
        "#]],
    );
}

#[test]
fn not_supported_yet() {
    check(
        "global @s: samplerref\nfunc @f() {\nentry:\nret\n}\n",
        expect![[r#"
            1:8: error[I0390]: `@s` is a global of samplerref, which is not supported yet: it needs `texmode_independent`
        "#]],
    );
}

/// Of powers of two all operations are there, and `ue8m0` is rounded as PTX rounds to it.
#[test]
fn powers_of_two() {
    check(
        "func @f(%p: ptr<global>, %x: f32) {\nentry:\n%g = load.ue8m0 %p\n%h = fadd %g, 2.0\n%i = fptrunc.ue8m0 rp %x\n\
         %j = fptrunc.ue8m0 rm %x\n%k = fmul rp %g, %h\n%l = fadd %g, 0.0\nret\n}\n",
        expect![[r#"
            6:1: error[I0429]: `fptrunc` of ue8m0 rounds toward zero or up, and does no more
              note: directions are for f32 and f64, `ftz` and `sat` for f16 and f32, as PTX has them
            7:1: error[I0429]: `fmul` of ue8m0 rounds toward zero, and does no more
              note: directions are for f32 and f64, `ftz` and `sat` for f16 and f32, as PTX has them
            8:15: error[I0005]: ue8m0 does not have this number
              note: ue8m0 has the powers of two from 2^-127 to 2^127, and NaN as 0xff
        "#]],
    );
}

#[test]
fn memory() {
    check(
        "const @c: [i32; 4]\nfunc @f(%s: byval(8, align 4)) {\nentry:\n%c = global_addr @c\nstore.i32 1, %c\nstore.i32 1, %s\n%a = load.i1 %c\n\
         ret\n}\nfunc @g(%p: ptr) {\nentry:\nstore.i32 invariant 1, %p\n%a = addrspacecast.ptr %p\nret\n}\n",
        expect![[r#"
            5:1: error[I0422]: %c points to const memory, which cannot be written
            6:1: error[I0422]: %s points to param memory, which cannot be written
            12:1: error[I0421]: `invariant` says that memory is never written; this writes it
            13:1: error[I0423]: a cast from ptr to ptr: exactly one side must be the generic `ptr`
        "#]],
    );
}

#[test]
fn calls_and_returns() {
    check_body(
        "%a = call @callee(%i)\n%b = call @callee(%x, %x)\n%e = call @callee(1, 2.0)\n%f = iadd %e, %e\ncall @k()\nret %i\n}\nkernel @k() {\nentry:\nret 1",
        expect![[r#"
            5:1: error[I0431]: `@callee` takes 2 arguments, 1 given
              2:6: `@callee` is declared here
            6:1: error[I0432]: argument 1 of `@callee` must be i32; %x is f32
              2:6: `@callee` is declared here
            8:1: error[I0401]: `iadd` takes an integer of at least 2 bits or a vector of such, not f32
              note: did you mean `fadd`?
            9:1: error[I0430]: `@k` is a kernel, which only the host starts
              12:8: `@k` is declared here
            10:1: error[I0426]: `ret` with i32; the function returns nothing
              3:6: declared here
            14:1: error[I0426]: `ret` with i32; the kernel returns nothing
              12:8: declared here
        "#]],
    );
}

#[test]
fn vectors() {
    check_body(
        "%a = vec %i, %i, %i\n%b = vec %i, %x\n%e = vec %i, %i\n%f = extract %e, 2\n%g = insert %e, %x, 0\n%h = vec %p, %p\nret",
        expect![[r#"
            6:1: error[I0402]: the elements are i32; %x is f32
            8:1: error[I0425]: lane 2 of i32x2, whose lanes are 0 to 1
            9:1: error[I0402]: operand 2 of `insert` must be i32; %x is f32
              3:6: %x is a parameter of this function
              note: `fptosi.i32` or `fptoui.i32` converts it
        "#]],
    );
    check_body(
        "%e = vec %i, %i\n%j = extract %e, 300\n%k = load.i32 %p align 3\n%m = load.i32 %p + 2147483648\nret",
        expect![[r#"
            6:18: error[I0005]: invalid lane (0 to 31)
            7:24: error[I0005]: an alignment is a power of two
            8:20: error[I0005]: invalid offset (it must fit i32)
        "#]],
    );
}

#[test]
fn table_derived_operations() {
    check_body(
        "%a = ptx.mad.lo.s32 %i, %i\n%b = ptx.ex2.approx.ftz.f32 %i\n%e = ptx.prmt.b32 %d, %i, 0\n%f = ptx.add.f32.rn.ftz %x, %x\n%g, %h = ptx.add.s32 %i, %i\n%j = ptx.ld.shared.u32 [%p]\nptx.ret\nret",
        expect![[r#"
            5:10: error[I0201]: `mad.lo.s32` has the wrong number of operands
              5:10: expected 4, found 3
              note: its form: `mad.lo .type d, a, b, c`
              see PTX ISA 9.0, 9.7.1.4
            7:19: error[I0204]: a `.f64` register cannot be operand `a` of `prmt.b32`
              7:19: expected a register of type `.b32`, `.u32`, `.s32`, `.tf32`, `.f32` or `.f16x2` or an integer constant, found a `.f64` register
              3:6: %d is a parameter of this function, of type f64
              note: its form: `prmt .b32 {.mode} d, a, b, c`
              see PTX ISA 9.0, 9.7.9.7
            9:1: error[I0452]: `ptx.add.s32` does not give 2 results
              note: its form: `add .type d, a, b`
            10:24: error[I0453]: the address of `ptx.ld.shared.u32` is a ptr<shared>; %p is a ptr<global>
              note: the two spaces share no memory
            11:5: error[I0450]: `ptx.ret` is control flow, which the IR has operations of its own for
              note: write `ret`
        "#]],
    );
}

/// What was accepted once is not verified again: another type, another operand or another result is something else.
#[test]
fn table_derived_operations_like_accepted_ones() {
    check_body(
        "%a = ptx.add.s32 %i, %i\n%b = ptx.add.s32 %i, %i\n%k = ptx.add.s32 %i, %x\n%e = ptx.shf.l.clamp.b32 %i, %i, 7\n\
         %f = ptx.shf.l.clamp.b32 %i, %i, 1.5\n%g = ptx.mov.b32 %i\n%h: f64 = ptx.mov.b32 %i\nret",
        expect![[r#"
            7:22: error[I0204]: a `.f32` register cannot be operand `b` of `add.s32`
              7:22: expected a register of type `.b32`, `.u32`, `.s32` or `.f16x2` or an integer constant, found a `.f32` register
              3:6: %x is a parameter of this function, of type f32
              note: `cvt.rzi.s32.f32` converts the value; `mov.b32` keeps the bits
              see PTX ISA 9.0, 9.7.1.1
            9:34: error[I0207]: a decimal float constant cannot be operand `c` of `shf.l.clamp.b32`
              9:34: expected a register of type `.b32`, `.u32` or `.s32` or an integer constant, found a decimal float constant
              note: its form: `shf.l .clamp|.wrap .b32 d, a, b, c`
              see PTX ISA 9.0, 9.7.8.7
            11:1: error[I0209]: operand `d` must be a vector
              11:1: expected 4 in braces, each a register of type `.b8`, `.u8`, `.s8`, `.e4m3`, `.e5m2`, `.ue8m0` or `.ue4m3`, found a `.f64` register
              note: its form: `mov .b32 {d..}, a`
              see PTX ISA 9.0, 9.7.9.3
        "#]],
    );
}

#[test]
fn table_derived_operations_of_a_target() {
    check(
        "target \"sm_70\"\nkernel @k(%h: f16x2) {\nentry:\n  ret\n}\nfunc @f(%x: f32) -> f32 {\nentry:\n  %t = ptx.tanh.approx.f32 %x\n  ret %t\n}\n",
        expect![[r#"
            8:12: error[I0110]: `tanh.approx.f32` is not in PTX 9.5 for sm_70
              8:12: expected .version 7.0 or later and .target sm_75 or higher
              note: the lowest target that has it is sm_75, from `.version 7.0`
              see PTX ISA 9.0, 9.7.3.22
        "#]],
    );
}
