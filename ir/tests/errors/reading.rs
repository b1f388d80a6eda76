//! What cannot be read.

use super::{check, check_body};
use expect_test::expect;

#[test]
fn unknown_operation() {
    check_body(
        "%a = iad %i, %i\n%b = mul %i, %i\n%c = const.i32 1\n%d = nonsense.f32 1\n%e = bar.sync 0\nret",
        expect![[r#"
            5:6: error[I0002]: unknown operation `iad`
              note: did you mean `iadd`?
            6:6: error[I0002]: unknown operation `mul`
              note: did you mean `imul`?
            7:6: error[I0002]: unknown operation `const`
              note: did you mean `iconst`?
            8:6: error[I0002]: unknown operation `nonsense`
              note: PTX instructions are written with `ptx.` in front, as in `ptx.bar.sync 0`
            9:6: error[I0002]: unknown operation `bar`
              note: the PTX instruction is written `ptx.bar.sync`
        "#]],
    );
}

#[test]
fn unknown_types_and_suffixes() {
    check_body(
        "%a = load.f33 %p\n%b = load.i32x65 %p\n%e = load %p\n%f = addrspacecast.ptr<globl> %p\n%g = inttoptr.ptr<generic> %l\nret",
        expect![[r#"
            5:11: error[I0003]: unknown type `f33`
              note: did you mean `f32`?
            6:11: error[I0003]: unknown type `i32x65`
              note: types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up
            7:6: error[I0015]: `load` needs the type of its result
              note: write it as in `load.i32`
            8:24: error[I0003]: expected a state space of pointers, found `globl`
              note: the spaces are global, shared, local, const and param; a generic pointer is `ptr`
            9:19: error[I0003]: expected a state space of pointers, found `generic`
              note: the spaces are global, shared, local, const and param; a generic pointer is `ptr`
        "#]],
    );
}

#[test]
fn numbers() {
    check_body(
        "%a = iconst.i8 256\n%b = iconst.i8 -129\n%e = iconst.i32 1.5\n%f = fconst.f32 2\n%g = fconst.f32 0d3ff0000000000000\n\
         %h = fconst.ue8m0 3.0\n%j = iconst.i32 12ab\n%k = iconst.i1 2\n%m = fconst.f16 0x12345\nret",
        expect![[r#"
            5:16: error[I0005]: the number does not fit i8
              note: i8 takes -128 to 255
            6:16: error[I0005]: the number does not fit i8
              note: i8 takes -128 to 255
            7:17: error[I0005]: a float literal where i32 is needed
            8:17: error[I0005]: an integer literal where f32 is needed
              note: write a float, such as 2.0
            9:17: error[I0005]: a bit pattern of another width than f32
              note: bits of an f32 are written 0f3f800000
            10:19: error[I0005]: ue8m0 does not have this number
              note: ue8m0 has the powers of two from 2^-127 to 2^127, and NaN as 0xff
            11:17: error[I0004]: `12ab` is not a number
              note: numbers are 42, -7, 0x2a, 0b101010, 1.5, 1e-3, or bits as in 0f3f800000 and 0d3ff0000000000000
            12:16: error[I0005]: an i1 is 0 or 1
            13:17: error[I0005]: the bit pattern does not fit f16
        "#]],
    );
}

#[test]
fn literals_without_a_type() {
    check_body(
        "%a = iadd 1, 2\n%b = zext.i64 1\n%e = vec 1, 2\nstore 1, %p\n%f = fma 1.0, 2.0, 3.0\nret",
        expect![[r#"
            5:11: error[I0006]: no operand of `iadd` says of which type this literal is
              note: give the type as in `iadd.i32`, or name the constant: `%c = iconst.i32 1`
            6:15: error[I0006]: no operand of `zext.i64` says of which type this literal is
              note: name the constant: `%c = iconst.i32 1`
            7:10: error[I0006]: no element says of which type this literal is
              note: give the type as in `vec.i32x2`
            8:7: error[I0006]: no operand of `store` says of which type this literal is
              note: give the type as in `store.i32`, or name the constant: `%c = iconst.i32 1`
            9:10: error[I0006]: no operand of `fma` says of which type this literal is
              note: give the type as in `fma.f32`, or name the constant: `%c = fconst.f32 1.0`
        "#]],
    );
}

#[test]
fn literals_of_the_wrong_kind() {
    check_body(
        "%a = fadd %x, 1\n%b = iadd %i, 1.0\n%e = shl %i, 1.5\n%f = iadd %i, 4294967296\nret",
        expect![[r#"
            5:15: error[I0005]: an integer literal where f32 is needed
              note: write a float, such as 2.0
            6:15: error[I0005]: a float literal where i32 is needed
            7:14: error[I0005]: a float literal where i32 is needed
            8:15: error[I0005]: the number does not fit i32
              note: i32 takes -2147483648 to 4294967295
        "#]],
    );
}

#[test]
fn undefined_and_redefined_values() {
    check_body(
        "%a = iadd %i, %undefined\n%b = iadd %ii, 1\n%a = iadd %i, %i\n%i = iadd %a, %a\nret",
        expect![[r#"
            5:15: error[I0007]: `%undefined` is not defined
            6:11: error[I0007]: `%ii` is not defined
              note: did you mean `%i`?
            7:1: error[I0008]: `%a` is defined twice
              5:1: first defined here
            8:1: error[I0008]: `%i` is defined twice
              3:6: first defined here
        "#]],
    );
}

#[test]
fn undefined_and_redefined_blocks() {
    check_body(
        "brif %c, next, nowhere\nnext:\njump nxt\nnext:\nret",
        expect![[r#"
        5:16: error[I0009]: unknown block `nowhere`
        7:6: error[I0009]: unknown block `nxt`
          note: did you mean `next`?
        8:1: error[I0010]: block `next` is defined twice
          6:1: first defined here
    "#]],
    );
}

#[test]
fn symbols() {
    check(
        "global @x: i32\nglobal @x: f32\nkernel @k() { entry: %a = global_addr @y  %b = call @x()  %c = global_addr @k  ret }\nfunc @k() { entry: ret }\n",
        expect![[r#"
            2:8: error[I0012]: `@x` is defined twice
              1:8: first defined here
            3:39: error[I0011]: `@y` is not defined
              note: did you mean `@k`?
            4:6: error[I0012]: `@k` is defined twice
              3:8: first defined here
        "#]],
    );
}

#[test]
fn result_counts() {
    check_body(
        "%a, %b = iadd %i, %i\n%e = store %i, %p\n%f = ret\n",
        expect![[r#"
        5:1: error[I0013]: `iadd` gives 1 result, 2 named here
        6:1: error[I0013]: `store` gives 0 results, 1 named here
        7:1: error[I0013]: `ret` gives 0 results, 1 named here
    "#]],
    );
}

#[test]
fn syntax() {
    check_body(
        "%a = iadd %i %i\n%b = iadd %i, \n%e iadd %i, %i\n, \n%f = load.i32 [%p]\njump entry(",
        expect![[r#"
            5:14: error[I0001]: expected `,`, found `%i`
            7:1: error[I0007]: `%e` is not defined
              note: did you mean `%b`?
            8:1: error[I0001]: expected a label, an instruction or `}`, found `,`
            9:15: error[I0001]: expected a value such as `%x`, found `[`
            11:1: error[I0001]: expected a value such as `%x`, or a number, found `}`
        "#]],
    );
}

#[test]
fn conditions_registers_and_attributes() {
    check_body(
        "%a = icmp lt %i, %i\n%b = fcmp slt %x, %x\n%e = sreg.tid.w\n%f = sreg.laneidd\nret",
        expect![[r#"
            5:11: error[I0016]: unknown condition `lt`
              note: conditions are eq ne slt sle sgt sge ult ule ugt uge
            6:11: error[I0016]: unknown condition `slt`
              note: conditions are eq ne lt le gt ge equ neu ltu leu gtu geu num nan
            7:6: error[I0017]: unknown special register `tid.w`
              note: did you mean `sreg.tid.x`?
            8:6: error[I0017]: unknown special register `laneidd`
              note: did you mean `sreg.laneid`?
        "#]],
    );
    check(
        "kernel @k() reqntd(32) { entry: ret }\nkernel @l() reqntid(32 { entry: ret }\n",
        expect![[r#"
            1:13: error[I0016]: unknown attribute `reqntd`
              note: attributes of kernels are reqntid, maxntid, reqnctapercluster, minnctapersm, maxnreg, maxclusterrank and explicitcluster; of functions inline, noinline, cold, noreturn, pure, convergent, signext, abi_preserve and abi_preserve_control
            2:24: error[I0001]: expected `)`, found `{`
        "#]],
    );
}

#[test]
fn items() {
    check(
        "kernal @k() { entry: ret }\ntarget \"sm_81\"\nglobal x: i32\nfunc @f()\nglobal @ok: i32\n42\n",
        expect![[r#"
            1:1: error[I0001]: expected `kernel`, `func`, `global`, `const`, `shared`, `type`, `target` or `file`, found `kernal`
              note: did you mean `kernel`?
            2:8: error[I0021]: unknown target `sm_81`
              note: did you mean `sm_80`?
            3:8: error[I0001]: expected a name such as `@name`, found `x`
            5:1: error[I0001]: expected `{` and a body, found `global`
              note: a function of another module is declared as `func extern @name(...)`, another name of one as `func @name(...) = @other`
            6:1: error[I0001]: expected `kernel`, `func`, `global`, `const`, `shared`, `type`, `target` or `file`, found `42`
        "#]],
    );
}

#[test]
fn missing_brace_costs_one_function() {
    check(
        "kernel @k() {\nentry:\n  ret\n\nkernel @l() {\nentry:\n  %a = iadd %b, %b\n  ret\n}\n",
        expect![[r#"
            5:1: error[I0001]: expected `}`, found `kernel`
            7:13: error[I0007]: `%b` is not defined
              note: did you mean `%a`?
        "#]],
    );
}

#[test]
fn initialisers() {
    check(
        "global @a: [i8; 2] = [1, 256]\nglobal @b: [f32; 1] = [1]\nglobal @c: [i32; 1] = \"abcd\"\nconst @d: [i8; 4] = \"a\\zz\"\n",
        expect![[r#"
            1:26: error[I0005]: the number does not fit i8
              note: i8 takes -128 to 255
            2:24: error[I0005]: an integer literal where f32 is needed
              note: write a float, such as 2.0
            3:23: error[I0020]: a string initialises i8, not i32
            4:23: error[I0004]: `\` must be followed by two hexadecimal digits
        "#]],
    );
}

#[test]
fn instruction_outside_of_a_block() {
    check(
        "kernel @k(%n: i32) {\n  %a = iadd %n, 1\n  ret\n}\n",
        expect![[r#"
        2:8: error[I0014]: an instruction outside of a block
          note: write a label such as `entry:` before the first instruction
    "#]],
    );
}

#[test]
fn entry_parameters() {
    check(
        "kernel @k(%n: i32) {\nentry(%m: i32):\n  ret\n}\n",
        expect![[r#"
        2:1: error[I0016]: the first block, `entry`, cannot have parameters
          note: the parameters of the first block are those of the function
    "#]],
    );
}

#[test]
fn mnemonics() {
    check_body(
        "%a = ptx.prmt.b33 %i, %i, 0\n%b = ptx.nosuch.f32 %x\n%e = ptx.prmt.b32 %i, %i, 1e999999\nret",
        expect![[r#"
            5:15: error[I0018]: unknown modifier `.b33`
              5:15: expected `.b32`
              help: did you mean: `prmt.b32`
              see PTX ISA 9.0, 9.7.9.7
            6:10: error[I0018]: unknown instruction `nosuch`
              see PTX ISA 9.0, 9.7
            7:27: error[I0207]: a decimal float constant cannot be operand `c` of `prmt.b32`
              7:27: expected a register of type `.b32`, `.u32`, `.s32`, `.tf32`, `.f32` or `.f16x2` or an integer constant, found a decimal float constant
              note: its form: `prmt .b32 {.mode} d, a, b, c`
              see PTX ISA 9.0, 9.7.9.7
        "#]],
    );
}

#[test]
fn circular_types() {
    check_body(
        "jump a\na:\n%y = iadd %z, %z\njump b\nb:\n%z = iadd %y, %y\njump a",
        expect![[r#"
        7:1: error[I0006]: this result is computed from itself
          note: values that go around a loop go through parameters of its first block
    "#]],
    );
}

#[test]
fn stack_slots() {
    check_body(
        "stack %s: 0\nstack %t: 8 align 3\nstack %i: 8\n%a = stack_addr %u\nret",
        expect![[r#"
            3:6: error[I0316]: stack slot %s has no bytes
            3:6: error[I0312]: the alignment 3 of stack slot %t is not a power of two
            7:7: error[I0008]: `%i` is defined twice
            8:17: error[I0007]: unknown stack slot `%u`
              note: stack slots are declared before their use, as in `stack %buffer: 64 align 8`
        "#]],
    );
    check_body(
        "stack %s: 0\nstack %t: 8 align 3\nret",
        expect![[r#"
        3:6: error[I0316]: stack slot %s has no bytes
        3:6: error[I0312]: the alignment 3 of stack slot %t is not a power of two
    "#]],
    );
}

#[test]
fn locations() {
    check_body(
        "%a = iadd %i, %i !0:1:2\nret",
        expect![[r#"
        5:18: error[I0011]: unknown file number 0
          note: files are listed at the top, as in `file 0 "kernel.dsl"`
    "#]],
    );
    check(
        "file 1 \"a\"\n",
        expect![[r#"
        1:6: error[I0016]: this is file number 0, not 1
          note: files are numbered from 0 in order
    "#]],
    );
}

// The verifier.
