//! Instructions whose destinations are registers of their sources: all sources are read before any destination is written.

use super::*;

/// The words that a body of 32 threads leaves in `%r0` of each.
fn each(body: &str) -> Vec<u32> {
    words(&kernel("", &format!("mov.u32 %r60, %tid.x; {body} {STORE}")), 32, 32).unwrap()
}

#[test]
fn the_two_predicates_of_a_comparison_see_the_third_source() {
    for op in ["and", "or", "xor"] {
        // Bit 0 of the result is p, bit 1 is q; the threads' lowest bits are the comparison and the predicate.
        let body = |p: &str, q: &str, c: &str| {
            format!(
                "and.b32 %r1, %r60, 1; and.b32 %r2, %r60, 2; setp.ne.u32 {c}, %r2, 0; setp.eq.{op}.u32 {p}|{q}, %r1, 0, {c}; \
                 selp.b32 %r3, 1, 0, {p}; selp.b32 %r4, 2, 0, {q}; or.b32 %r0, %r3, %r4;"
            )
        };
        let apart = each(&body("%p1", "%p2", "%p3"));
        let expected = |thread: usize| {
            let (t, c) = (thread & 1 == 0, thread & 2 != 0);
            let one = |t: bool| match op {
                "and" => t & c,
                "or" => t | c,
                _ => t ^ c,
            };
            u32::from(one(t)) | u32::from(one(!t)) << 1
        };
        assert_eq!(apart, (0..32).map(expected).collect::<Vec<_>>());
        assert_eq!(each(&body("%p1", "%p2", "%p1")), apart, "{op}: p is c");
        assert_eq!(each(&body("%p1", "%p2", "%p2")), apart, "{op}: q is c");
    }
}

#[test]
fn registers_are_swapped() {
    let swapped = each("add.u32 %r1, %r60, 100; mov.b32 {%rs1, %rs2}, %r1; mov.b32 %r0, {%rs2, %rs1};");
    assert_eq!(swapped, (0..32).map(|i| (i + 100) << 16).collect::<Vec<u32>>());
    let vector = each(
        ".reg .v2 .b32 %v; mov.b32 %v.x, %r60; add.u32 %v.y, %r60, 50; mov.v2.b32 %v, {%v.y, %v.x}; shl.b32 %r0, %v.x, 8; \
         or.b32 %r0, %r0, %v.y;",
    );
    assert_eq!(vector, (0..32).map(|i| (i + 50) << 8 | i).collect::<Vec<u32>>());
    let halves = each(
        "cvt.u64.u32 %rd1, %r60; mov.b64 {%r60, %r1}, %rd1; mov.b64 %rd1, {%r1, %r60}; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r0, %rd1;",
    );
    assert_eq!(halves, (0..32).collect::<Vec<u32>>());
}

#[test]
fn exchanges_read_before_they_write() {
    assert_eq!(
        each(
            "setp.lt.u32 %p1, %r60, 16; shfl.sync.bfly.b32 %r60|%p1, %r60, 1, 0x1f, -1; selp.b32 %r1, 64, 0, %p1; or.b32 %r0, %r60, %r1;"
        ),
        (0..32).map(|i| (i ^ 1) | 64).collect::<Vec<u32>>()
    );
    assert_eq!(
        each("shfl.sync.idx.b32 %r60, %r60, %r60, 0x1f, -1; mov.b32 %r0, %r60;"),
        (0..32).collect::<Vec<u32>>()
    );
    assert_eq!(
        each("shr.u32 %r1, %r60, 4; mov.b32 %r2, -1; match.any.sync.b32 %r1, %r1, %r2; mov.b32 %r0, %r1;"),
        [vec![0xffff; 16], vec![0xffff_0000; 16]].concat()
    );
    assert_eq!(
        each(
            "mov.b32 %r1, -1; setp.gt.u32 %p1, %r60, 7; vote.sync.any.pred %p1, %p1, %r1; vote.sync.ballot.b32 %r1, %p1, %r1; mov.b32 %r0, %r1;"
        ),
        vec![u32::MAX; 32]
    );
}

#[test]
fn addresses_may_be_overwritten_by_what_they_reach() {
    let body = "mov.u32 %r60, %tid.x; mul.wide.u32 %rd1, %r60, 32; add.u64 %rd1, %rd1, %out; st.global.v2.b64 [%rd1+16], {%rd1, 7}; \
                ld.global.v2.b64 {%rd1, %rd2}, [%rd1+16]; cvt.u32.u64 %r1, %rd2; st.global.u32 [%rd1], %r1;";
    let found = words(&kernel("", body), 32, 32 * 8).unwrap();
    assert!(found.chunks(8).all(|c| c[0] == 7), "{found:?}");
}

#[test]
fn vectors_of_atomics_read_all_operands_first() {
    // Each thread has four words: 1.0 and 2.0, and what the atomic returned.
    let kernel = |statement: &str| {
        kernel_for(
            "sm_90",
            "",
            &format!(
                "mov.u32 %r60, %tid.x; mul.wide.u32 %rd1, %r60, 16; add.u64 %rd1, %rd1, %out; st.global.v2.f32 [%rd1], {{0f3F800000, 0f40000000}}; \
                 mov.f32 %f1, 0f41200000; mov.f32 %f2, 0f41A00000; {statement} st.global.v2.f32 [%rd1+8], {{%f1, %f2}};"
            ),
        )
    };
    let f = f32::to_bits;
    let straight = words(&kernel("atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f1, %f2};"), 2, 8).unwrap();
    assert_eq!(straight, [f(11.0), f(22.0), f(1.0), f(2.0)].repeat(2));
    let crossed = words(&kernel("atom.global.v2.f32.add {%f2, %f1}, [%rd1], {%f1, %f2};"), 2, 8).unwrap();
    assert_eq!(crossed, [f(11.0), f(22.0), f(2.0), f(1.0)].repeat(2));
}
