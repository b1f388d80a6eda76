//! The IR as LLVM's text: what is total stays total, what has no counterpart is refused by name.

use expect_test::expect;
use warpsmith_ir::Module;

fn module(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn a_loop_with_memory() {
    let text = "
        const @table: [i32; 2] = [7, -1]
        kernel @k(%out: ptr<global>, %n: i32) {
          stack %slot: 8 align 8
        entry:
          %zero = iconst.i32 0
          jump head(%zero)
        head(%i: i32):
          %more = icmp slt %i, %n
          brif %more, body, done
        body:
          %s = stack_addr %slot + 4
          store %i, %s
          %next = shl %i, %n
          jump head(%next)
        done:
          %t = global_addr @table + 4
          %x = load.i32 %t
          %p = index %out, %x, 4
          store %x, %p
          ret
        }";
    let found = warpsmith_llvm::export(&module(text)).expect("all of it has a counterpart");
    expect![[r#"
        target triple = "nvptx64-nvidia-cuda"

        @"table" = internal addrspace(4) constant [8 x i8] c"\07\00\00\00\FF\FF\FF\FF", align 4

        define ptx_kernel void @"k"(ptr addrspace(1) %v0, i32 %v1) {
        }
    "#]]
    .assert_eq(&found);
}

#[test]
fn quotients_are_total() {
    let found = warpsmith_llvm::export(&module(
        "func @f(%a: i8, %b: i8) -> i8 {\nentry:\n  %q = sdiv %a, %b\n  ret %q\n}",
    ));
    expect![[""]].assert_eq(&found.expect("a division"));
}

#[test]
fn what_has_no_counterpart_is_refused_by_name() {
    let refused = |body: &str| {
        let text = format!("func @f(%a: f32, %p: ptr<global>) {{\nentry:\n  {body}\n  ret\n}}");
        warpsmith_llvm::export(&module(&text)).expect_err("refused").to_string()
    };
    assert_eq!(refused("%b = fsin afn %a"), "`fsin` of `@f` is not written as LLVM's text");
    assert_eq!(refused("barrier"), "`barrier` of `@f` is not written as LLVM's text");
    assert_eq!(
        refused("%x = ptx.ld.relaxed.gpu.global.u32 [%p]"),
        "`ptx` of `@f` is not written as LLVM's text"
    );
}
