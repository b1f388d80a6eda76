//! `alloca`, `stacksave`, `stackrestore`, and large frames.

use super::*;
use warpsmith_interp::Limits;

/// Sums the numbers below `n` by way of an array of `n` words on the stack.
const SUM: &str = "
    .func (.param .b32 s) sum(.param .b32 n) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p; ld.param.b32 %r1, [n]; mul.wide.u32 %rd1, %r1, 4; alloca.u64 %rd2, %rd1, 16;
      mov.u32 %r2, 0; mov.u64 %rd3, %rd2; fill: setp.ge.u32 %p, %r2, %r1; @%p bra filled; st.local.u32 [%rd3], %r2; add.u64 %rd3, %rd3, 4; add.u32 %r2, %r2, 1; bra fill;
      filled: mov.u32 %r3, 0; mov.u32 %r2, 0; cvta.local.u64 %rd3, %rd2; add: setp.ge.u32 %p, %r2, %r1; @%p bra done; ld.u32 %r4, [%rd3]; add.u32 %r3, %r3, %r4;
      add.u64 %rd3, %rd3, 4; add.u32 %r2, %r2, 1; bra add; done: st.param.b32 [s], %r3; ret; }";

#[test]
fn threads_allocate_what_each_needs() {
    let program = load(&format!(
        "{SUM} .visible .entry k(.param .u64 out) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; .reg .pred %p; ld.param.u64 %out, [out]; mov.u32 %r1, %tid.x;
         .param .b32 n; .param .b32 s; stacksave.u64 %rd1; mov.u32 %r5, 0; mov.u32 %r0, 0;
         again: st.param.b32 [n], %r1; call (s), sum, (n); ld.param.b32 %r2, [s]; add.u32 %r0, %r0, %r2; add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 1000; @%p bra again;
         stacksave.u64 %rd2; setp.eq.u64 %p, %rd1, %rd2; @!%p trap; {STORE} ret; }}"
    ));
    // A thousand calls fit because each return frees what its function allocated.
    let expected: Vec<u32> = (0..70).map(|n: u32| 1000 * (n * n.saturating_sub(1) / 2)).collect();
    assert_eq!(words(&program, 70, 70).unwrap(), expected);
}

#[test]
fn restoring_frees_and_memory_is_aligned() {
    let program = kernel(
        "",
        "mov.u32 %r1, %tid.x; alloca.u32 %r2, 20; stacksave.u32 %r3; add.u32 %r4, %r1, 1; alloca.u32 %r5, %r4, 256; and.b32 %r6, %r5, 255; setp.ne.u32 %p0, %r6, 0; @%p0 trap;
         st.local.u8 [%r5], %r1; st.local.u32 [%r2+16], %r1; ld.local.u8 %r7, [%r5]; ld.local.u32 %r8, [%r2+16]; add.u32 %r0, %r7, %r8;
         stackrestore.u32 %r3; stacksave.u32 %r9; setp.ne.u32 %p0, %r9, %r3; @%p0 trap;"
            .to_string()
            .as_str(),
    );
    assert!(words(&program, 33, 1).is_ok());
    for (text, code) in [
        ("alloca.u64 %rd1, 16; st.local.u64 [%rd1+8], 0;", ""),
        ("alloca.u64 %rd1, 16; st.local.u64 [%rd1+16], 0;", "out_of_bounds"),
        (
            "stacksave.u64 %rd2; alloca.u64 %rd1, 16; stackrestore.u64 %rd2; st.local.u64 [%rd1], 0;",
            "out_of_bounds",
        ),
        ("alloca.u64 %rd1, 0; ld.local.u8 %r1, [%rd1];", "out_of_bounds"),
        ("alloca.u64 %rd1, -1;", "stack_overflow"),
        ("alloca.u32 %r1, -1;", "stack_overflow"),
        ("alloca.u64 %rd1, 8; alloca.u64 %rd1, 8, 4194304;", "stack_overflow"),
        ("loop: alloca.u64 %rd1, 64; bra loop;", "stack_overflow"),
        ("stackrestore.u64 %out;", "out_of_bounds"),
        ("stacksave.u64 %rd1; add.u64 %rd1, %rd1, 8; stackrestore.u64 %rd1;", "out_of_bounds"),
    ] {
        match words(&kernel("", text), 40, 1) {
            Ok(_) => assert_eq!(code, "", "{text}"),
            Err(fault) => assert_eq!(fault.code.name(), code, "{text}: {fault}"),
        }
    }
}

#[test]
fn a_larger_stack_can_be_asked_for() {
    let program = kernel(
        "",
        "alloca.u64 %rd1, 1000000; st.local.u8 [%rd1+999999], 1; ld.local.u8 %r0, [%rd1+999999]; st.global.u32 [%out], %r0;",
    );
    assert_eq!(words(&program, 1, 1).unwrap_err().code.name(), "stack_overflow");
    let mut limits = Limits::default();
    limits.stack = 2 << 20;
    assert_eq!(launch(&program, Launch::new("k").limits(limits), 1).unwrap().0, [1]);
}

#[test]
fn recursion_with_allocation_keeps_the_callers_memory() {
    let program = load(&format!(
        ".func (.param .b32 s) down(.param .b32 n) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p; ld.param.b32 %r1, [n]; alloca.u64 %rd1, 24; st.local.u32 [%rd1+20], %r1;
           mov.u32 %r3, 0; setp.eq.u32 %p, %r1, 0; @%p bra done; .param .b32 a; .param .b32 b; sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call (b), down, (a); ld.param.b32 %r3, [b];
           done: ld.local.u32 %r4, [%rd1+20]; add.u32 %r3, %r3, %r4; st.param.b32 [s], %r3; ret; }}
         .visible .entry k(.param .u64 out) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; ld.param.u64 %out, [out]; mov.u32 %r1, %tid.x; .param .b32 n; .param .b32 s;
           st.param.b32 [n], %r1; call (s), down, (n); ld.param.b32 %r0, [s]; {STORE} ret; }}"
    ));
    let expected: Vec<u32> = (0..40).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([40, 1, 1]), 40), expected);
}
