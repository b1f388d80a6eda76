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
        b0:
          %g0 = alloca [8 x i8], align 8
          %s0 = addrspacecast ptr %g0 to ptr addrspace(5)
          %v2 = add i32 0, 0
          br label %e0.0
        b1:
          %v3 = phi i32 [ %v2, %e0.0 ], [ %v6, %e2.0 ]
          %v4 = icmp slt i32 %v3, %v1
          br i1 %v4, label %e1.0, label %e1.1
        b2:
          %v5 = getelementptr i8, ptr addrspace(5) %s0, i64 4
          %t1 = getelementptr i8, ptr addrspace(5) %v5, i64 0
          store i32 %v3, ptr addrspace(5) %t1, align 4
          %t2 = icmp ult i32 %v1, 32
          %t3 = select i1 %t2, i32 %v1, i32 0
          %t4 = shl i32 %v3, %t3
          %t5 = select i1 %t2, i32 %t4, i32 0
          %v6 = or i32 %t5, 0
          br label %e2.0
        b3:
          %v7 = getelementptr i8, ptr addrspace(4) @"table", i64 4
          %t6 = getelementptr i8, ptr addrspace(4) %v7, i64 0
          %v8 = load i32, ptr addrspace(4) %t6, align 4
          %t7 = sext i32 %v8 to i64
          %t8 = mul i64 %t7, 4
          %v9 = getelementptr i8, ptr addrspace(1) %v0, i64 %t8
          %t9 = getelementptr i8, ptr addrspace(1) %v9, i64 0
          store i32 %v8, ptr addrspace(1) %t9, align 4
          ret void
        e0.0:
          br label %b1
        e1.0:
          br label %b2
        e1.1:
          br label %b3
        e2.0:
          br label %b1
        }
    "#]]
    .assert_eq(&found);
}

#[test]
fn quotients_are_total() {
    let found = warpsmith_llvm::export(&module(
        "func @f(%a: i8, %b: i8) -> i8 {\nentry:\n  %q = sdiv %a, %b\n  ret %q\n}",
    ));
    expect![[r#"
        target triple = "nvptx64-nvidia-cuda"


        define internal i8 @"f"(i8 %v0, i8 %v1) {
        b0:
          %t1 = icmp eq i8 %v1, 0
          %t2 = icmp eq i8 %v1, -1
          %t3 = or i1 %t1, %t2
          %t4 = select i1 %t3, i8 1, i8 %v1
          %t5 = sdiv i8 %v0, %t4
          %t6 = sub i8 0, %v0
          %t7 = select i1 %t3, i8 %t6, i8 %t5
          %v2 = select i1 %t1, i8 -1, i8 %t7
          ret i8 %v2
        }
    "#]]
    .assert_eq(&found.expect("a division"));
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
