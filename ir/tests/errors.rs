//! What the parser and the verifier say of wrong modules: one test a family of errors, each with all its messages.

use expect_test::{Expect, expect};
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
            5:11: error[I0003]: no type `f33`
              note: did you mean `f32`?
            6:11: error[I0003]: no type `i32x65`
              note: types are i1 to i128, f16 bf16 tf32 f32 f64, e4m3 e5m2 e2m3 e3m2 e2m1 ue8m0, vectors as in f32x4, ptr and ptr<global>; structs and arrays that are defined further up
            7:6: error[I0015]: `load` needs the type of its result
              note: write it as in `load.i32`
            8:24: error[I0003]: no pointers to `globl`
              note: the spaces are global, shared, local, const and param; a generic pointer is `ptr`
            9:19: error[I0003]: no pointers to `generic`
              note: the spaces are global, shared, local, const and param; a generic pointer is `ptr`
        "#]],
    );
}

#[test]
fn numbers() {
    check_body(
        "%a = iconst.i8 256\n%b = iconst.i8 -129\n%e = iconst.i32 1.5\n%f = fconst.f32 2\n%g = fconst.f32 0d3ff0000000000000\n\
         %h = fconst.ue8m0 1.0\n%j = iconst.i32 12ab\n%k = iconst.i1 2\n%m = fconst.f16 0x12345\nret",
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
            10:19: error[I0005]: ue8m0 has no decimal literals
              note: write its bits: 0x00
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
        5:16: error[I0009]: no block `nowhere`
        7:6: error[I0009]: no block `nxt`
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
            5:11: error[I0016]: no condition `lt`
              note: conditions are eq ne slt sle sgt sge ult ule ugt uge
            6:11: error[I0016]: no condition `slt`
              note: conditions are eq ne lt le gt ge equ neu ltu leu gtu geu num nan
            7:6: error[I0017]: no special register `tid.w`
              note: did you mean `sreg.tid.x`?
            8:6: error[I0017]: no special register `laneidd`
              note: did you mean `sreg.laneid`?
        "#]],
    );
    check(
        "kernel @k() reqntd(32) { entry: ret }\nkernel @l() reqntid(32 { entry: ret }\n",
        expect![[r#"
            1:13: error[I0016]: no attribute `reqntd`
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
            2:8: error[I0021]: no target `sm_81`
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
            5:15: error[I0018]: no instruction has a modifier `.b33`
              5:15: expected `.b32`
              help: did you mean: `prmt.b32`
              see PTX ISA 9.0, 9.7.9.7
            6:10: error[I0018]: no instruction is called `nosuch`
              see PTX ISA 9.0, 9.7
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
        7:7: error[I0008]: `%i` is defined twice
        8:17: error[I0007]: no stack slot `%u`
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
        5:18: error[I0011]: no file number 0
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
            5:13: error[I0016]: no reduction `isub`
              note: reductions are iadd imul band bor bxor smin smax umin umax fadd fmul fmin fmax fminimum fmaximum
            12:18: error[I0005]: the number does not fit i100
              note: i100 takes -633825300114114700748351602688 to 1267650600228229401496703205375
        "#]],
    );
}

#[test]
fn not_supported_yet() {
    check(
        "func @f(%p: ptr<global>, %v: f32x4) {\nentry:\n%g = load.ue8m0 %p\n%h = fadd %g, %g\nret\n}\n",
        expect![[r#"
            4:1: error[I0390]: `fadd` on ue8m0 is not supported yet
              note: convert with PTX's own operations, as in `ptx.cvt.rn.bf16x2.ue8m0x2`
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
            6:18: error[I0005]: this is no lane (0 to 31)
            7:24: error[I0005]: an alignment is a power of two
            8:20: error[I0005]: this is no offset (it must fit i32)
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
