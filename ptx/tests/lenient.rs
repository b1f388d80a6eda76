//! What ptxas takes against the manual is accepted with a warning; what both take is accepted without one; what ptxas rejects is an error.

use warpsmith_ptx::ValidatedModule;

const REGISTERS: &str =
    ".reg .b16 %h<4>; .reg .b32 %r<16>; .reg .u32 %u<4>; .reg .s32 %s<4>; .reg .f32 %f<16>; .reg .b64 %d<4>;
    .reg .pred %p<8>; .reg .f16x2 %x<4>; .shared .align 128 .b8 sv[4096];";

fn validate(target: &str, statement: &str) -> Result<Vec<String>, Vec<String>> {
    let text = format!(
        ".version 9.0\n.target {target}\n.address_size 64\n.entry k() {{ {REGISTERS}\n{statement}\nret; }}\n"
    );
    let words = |findings: &[_]| findings.iter().map(ToString::to_string).collect();
    match ValidatedModule::parse(&text) {
        Ok(module) => Ok(words(module.warnings())),
        Err(findings) => Err(words(&findings)),
    }
}

/// Offsets, guards and wrong operands are looked at in each statement, also where one with the same kinds of operands was right.
#[test]
fn each_of_many_like_statements_is_validated() {
    let right = "ld.global.b32 %r0, [%d0+4]; st.shared.b32 [%r1], %r2;";
    let offset = validate("sm_90", &format!("{right} ld.global.b32 %r0, [%d0+4294967296]; {right}")).unwrap();
    assert!(offset.len() == 1 && offset[0].contains("does not fit 32 bits"), "{offset:?}");
    let wrong = validate(
        "sm_90",
        &format!("{right} ld.global.b32 %h0, [%d0+4]; {right} st.shared.b32 [%p1], %r2; {right}"),
    );
    assert_eq!(wrong.unwrap_err().len(), 2);
}

#[test]
fn lenience_is_a_warning() {
    let a = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}";
    for (target, statement, about) in [
        ("sm_90", "bar.warp.sync.sync -1;", "`.sync` is written twice"),
        ("sm_90a", "wgmma.fence.sync;", "lacks `.aligned`"),
        ("sm_90", "mov.u32 %r0, 4294967296;", "is truncated"),
        ("sm_90", "add.u32 %r0|_, %r1, 1;", "cannot be a pair"),
        ("sm_90", "add.u32 %r0, %r1, sv+8;", "cannot be the name of a variable"),
        ("sm_90", "and.pred %x0, %p1, %p2;", "`.f16x2` register"),
        ("sm_90", "movmatrix.sync.aligned.m8n8.trans.b16 %p0, %r1;", "`.pred` register"),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%h0];", "`.b16` register"),
        ("sm_90", "ld.global.b32 %r0, [%r1];", "an address in a `.b32` register"),
        ("sm_90", "st.b32 [%u1], %r1;", "an address in a `.u32` register"),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [sv+2];", "not a multiple of 16"),
        (
            "sm_90",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%d0+4294967296];",
            "does not fit 32 bits",
        ),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x8.b16 {%r0}, [%d0];", "the manual does not have"),
        (
            "sm_90",
            &format!("wmma.load.a.sync.aligned.row.m16n16k16.f16 {a}, [%d0], 15;"),
            "15 is out of range",
        ),
        (
            "sm_90",
            &format!("wmma.load.a.sync.aligned.col.m32n8k16.f16 {a}, [%d0], 31;"),
            "31 is out of range",
        ),
        ("sm_100a", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 96;", "ptxas 13.2 and later refuse"),
        ("sm_100a", "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, 2;", "2 is out of range"),
        ("sm_100a", "tcgen05.mma.cta_group::1.kind::i8 [%r0], %d0, %d1, %r1, %p0, 1;", "is not in PTX"),
        ("sm_90", "st.async.mbarrier::complete_tx::bytes.v2.b32 [%d0], %r0, [%d1];", "must be a vector"),
    ] {
        let warnings =
            validate(target, statement).unwrap_or_else(|e| panic!("{statement} is rejected: {e:?}"));
        assert!(
            warnings.iter().any(|w| w.contains("P0605") && w.contains(about)),
            "{statement}: {warnings:?}"
        );
    }
}

#[test]
fn what_the_manual_has_is_no_reason_to_warn() {
    let a = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}";
    for (target, statement) in [
        ("sm_90", "bar.warp.sync -1;"),
        ("sm_90", "mov.u32 %r0, -2147483648;"),
        ("sm_90", "mov.u32 %r0, 4294967295;"),
        ("sm_90", "mov.pred %p0, -1;"),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [sv+16];"),
        ("sm_90", &format!("wmma.load.a.sync.aligned.row.m32n8k16.f16 {a}, [%d0], 16;")),
        ("sm_90", &format!("wmma.load.a.sync.aligned.col.m32n8k16.f16 {a}, [%d0], 32;")),
        ("sm_90", "st.shared.v2.b32 [%d0], {%u0, %r1};"),
        ("sm_90", "ld.shared.b32 %r0, [%r1];"),
        ("sm_100a", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 512;"),
    ] {
        assert_eq!(validate(target, statement), Ok(Vec::new()), "{statement}");
    }
}

#[test]
fn what_ptxas_rejects_is_an_error() {
    for (target, statement) in [
        ("sm_90", "add.u32 %r0, %r1, sv;"),
        ("sm_90", "setp.eq.u32 %x0, 1, 2;"),
        ("sm_90", "mbarrier.init.shared.b64 sv, 1;"),
        ("sm_90", "st.shared.v2.b32 [%d0], {%r0+4, %r1};"),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%h0];"),
        ("sm_90", "ldmatrix.sync.aligned.m8n8.x4.b16 {%r0, %r1}, [%d0];"),
        ("sm_90", "cp.async.ca.shared.global [%r0], [%d0], 4, 8;"),
        ("sm_90", "st.async.mbarrier::complete_tx::bytes.v2.b32 [%d0], {%r0, %r1};"),
        ("sm_100a", "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], [%u0], %d1, %r2, %p1;"),
        (
            "sm_100a",
            "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.shift.cta_group::2.down [%r0];",
        ),
    ] {
        assert!(validate(target, statement).is_err(), "{statement} is accepted");
    }
}
