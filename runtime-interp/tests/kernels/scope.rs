//! What names mean in nested scopes: the same as to ptxas, for everything that a name can be.

use super::*;

/// What a body stores to the words of `out`, as one thread.
fn stored(functions: &str, body: &str, count: usize) -> Vec<u32> {
    let program = load(&format!(
        "{functions}
         .visible .entry k(.param .u64 out, .param .u32 n) {{ .reg .b64 %out; ld.param.u64 %out, [out];\n{body}\nret; }}"
    ));
    launch(&program, Launch::new("k").arg(5u32), count).unwrap().0
}

#[test]
fn registers_of_a_block_are_its_own() {
    let body = "
        .reg .b32 a, b; .reg .b64 w; .reg .pred p; .reg .f32 f;
        mov.b32 a, 1; mov.b64 w, 0x100000002; setp.eq.u32 p, a, 1; mov.f32 f, 0f3F800000;
        { .reg .b64 a; .reg .b32 w; .reg .pred p; .reg .b16 f;
          mov.b64 a, 0x700000003; mov.b32 w, 9; setp.eq.u64 p, a, 0; mov.b16 f, 7;
          st.global.u64 [%out], a;
          { .reg .b32 a; mov.b32 a, 4; st.global.u32 [%out+8], a; { .reg .b16 a; mov.b16 a, 5; } st.global.u32 [%out+12], a; }
          @p st.global.u32 [%out+16], 1; }
        st.global.u32 [%out+20], a; st.global.u64 [%out+24], w; @p st.global.u32 [%out+32], 1; st.global.f32 [%out+36], f;";
    let one = 1f32.to_bits();
    assert_eq!(stored("", body, 10), [3, 7, 4, 4, 0, 1, 2, 1, 1, one]);
}

#[test]
fn an_inner_family_hides_the_members_it_has() {
    let body = "
        .reg .b64 %r<4>; .reg .pred %p<3>; .reg .b32 i; mov.b64 %r0, 10; mov.b64 %r1, 11; mov.b64 %r2, 12; mov.b64 %r3, 13;
        mov.b32 i, 1; setp.eq.u32 %p0, i, 1; setp.eq.u32 %p2, i, 1;
        { .reg .b32 %r<2>; .reg .pred %p<1>; mov.b32 %r0, 20; mov.b32 %r1, 21; setp.eq.u32 %p0, i, 0;
          st.global.u32 [%out], %r1; st.global.u64 [%out+8], %r2; @%p2 mov.b64 %r3, 23; @%p0 mov.b64 %r3, 33; }
        st.global.u64 [%out+16], %r1; st.global.u64 [%out+24], %r3; @%p0 st.global.u32 [%out+32], 1;";
    assert_eq!(stored("", body, 9), [21, 0, 12, 0, 11, 0, 23, 0, 1]);
}

#[test]
fn variables_of_a_block_are_its_own() {
    let body = "
        .reg .b32 r; .local .b32 l; .shared .b32 s; st.local.b32 [l], 1; st.shared.b32 [s], 2;
        { .local .align 8 .b32 l[2]; .shared .b32 s; .reg .b32 n; st.local.b32 [l], 3; st.local.b32 [l+4], 4; st.shared.b32 [s], 5; mov.b32 n, 6;
          ld.local.b32 r, [l+4]; st.global.b32 [%out], r; ld.shared.b32 r, [s]; st.global.b32 [%out+4], r; st.global.b32 [%out+8], n; }
        ld.local.b32 r, [l]; st.global.b32 [%out+12], r; ld.shared.b32 r, [s]; st.global.b32 [%out+16], r;
        { .local .b32 g; st.local.b32 [g], 8; ld.local.b32 r, [g]; st.global.b32 [%out+20], r; }
        ld.global.b32 r, [g]; st.global.b32 [%out+24], r; ld.param.u32 r, [n]; st.global.b32 [%out+28], r;";
    assert_eq!(stored(".global .u32 g = 7;", body, 8), [4, 5, 6, 1, 2, 8, 7, 5]);
}

#[test]
fn labels_of_a_block_are_its_own() {
    let body = "
        .reg .b32 i; .reg .pred p; mov.b32 i, 0;
        L: add.u32 i, i, 1; setp.lt.u32 p, i, 4; @!p bra DONE;
        { @p bra L; add.u32 i, i, 100; L: add.u32 i, i, 10; { bra.uni L; add.u32 i, i, 1000; L: } }
        setp.lt.u32 p, i, 30; @p bra L; DONE: st.global.u32 [%out], i;";
    // 1 + 10, then 12: past the limit of 4.
    assert_eq!(stored("", body, 1), [12]);
    let body = "
        .reg .b32 i; mov.b32 i, 1; t: .branchtargets A, B;
        { t: .branchtargets B, A; brx.idx i, t; A: st.global.u32 [%out], 1; bra END; B: st.global.u32 [%out], 2; END: }
        brx.idx i, t; A: st.global.u32 [%out+4], 1; bra END; B: st.global.u32 [%out+4], 2; END:";
    assert_eq!(stored("", body, 2), [1, 2]);
}

#[test]
fn device_functions_and_calls_have_scopes_too() {
    let functions = "
        .func (.reg .b32 r) f(.reg .b32 x) { .reg .b32 y; add.u32 y, x, 1;
          { .reg .b64 x; .reg .b32 r, y; mov.b64 x, 0x900000007; cvt.u32.u64 y, x; mov.b32 r, y; }
          add.u32 r, x, y; ret; }
        .func (.param .b32 r) g(.param .b32 x) { .reg .b32 y; { .local .b32 x; st.local.b32 [x], 50; }
          ld.param.b32 y, [x]; st.param.b32 [r], y; ret; }";
    let body = "
        .reg .b32 a; .param .b64 x; mov.b32 a, 20; call (a), f, (a); st.global.u32 [%out], a;
        { .param .b32 x, y; st.param.b32 [x], 30; call (y), g, (x); ld.param.b32 a, [y]; st.global.u32 [%out+4], a; }
        { .reg .b32 f; mov.b32 f, 3; st.global.u32 [%out+8], f; } call (a), f, (a); st.global.u32 [%out+12], a;";
    assert_eq!(stored(functions, body, 4), [41, 30, 3, 61]);
}
