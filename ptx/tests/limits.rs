//! The limits that ptxas has for sizes, alignments and shapes, as it was asked: the last module that passes and the first that does not.

use warpsmith_ptx::ValidatedModule;

fn passes(version: &str, target: &str, module: &str) -> bool {
    let text = format!(".version {version}\n.target {target}\n.address_size 64\n{module}\n");
    ValidatedModule::parse(&text).is_ok()
}

/// Modules that pass, and ones a step beyond that do not, `#` denoting the number.
fn between(version: &str, target: &str, module: &str, last: u64, first_wrong: u64) {
    for (number, expected) in [(last, true), (first_wrong, false)] {
        let module = module.replace('#', &number.to_string());
        assert_eq!(passes(version, target, &module), expected, "{version} {target}: {module}");
    }
}

#[test]
fn parameters_of_a_kernel() {
    let one = ".entry k(.param .b8 a[#]) { ret; }";
    let padded = ".entry k(.param .b8 a, .param .align 8 .b8 b[#]) { ret; }";
    for (version, target, limit) in
        [("8.0", "sm_90", 4352), ("8.1", "sm_90", 32764), ("8.1", "sm_70", 32764), ("8.1", "sm_62", 4352)]
    {
        between(version, target, one, limit, limit + 1);
        between(version, target, padded, limit - 8, limit - 7);
    }
    assert!(passes("9.0", "sm_90", ".func f(.param .b8 a[40000]) { ret; }"), "functions have no such limit");
}

#[test]
fn shared_and_constant_memory() {
    let inside = ".entry k() { .reg .b32 r; .shared .b8 s[#]; mov.u32 r, s; ret; }";
    let outside = ".shared .b8 s[#];\n.entry k() { .reg .b32 r; mov.u32 r, s; mov.u32 r, s; ret; }";
    let two = ".shared .b8 s[30000], t[#];\n.entry k() { .reg .b32 r; st.shared.b32 [s], r; st.shared.b32 [t], r; ret; }";
    for target in ["sm_75", "sm_90", "sm_120"] {
        between("9.0", target, inside, 49152, 49153);
        between("9.0", target, outside, 49152, 49153);
        between("9.0", target, two, 19152, 19153);
        between("9.0", target, ".const .b8 c[#];", 65536, 65537);
    }
    let unused = ".shared .b8 s[30000], t[30000];\n.entry k() { .reg .b32 r; st.shared.b32 [s], r; ret; }";
    assert!(passes("9.0", "sm_90", unused), "a kernel is charged for what it names");
    let of_others = ".shared .b8 s[30000], t[30000];\n\
        .entry k() { .reg .b32 r; st.shared.b32 [s], r; ret; }\n.entry l() { .reg .b32 r; st.shared.b32 [t], r; ret; }";
    assert!(passes("9.0", "sm_90", of_others), "each kernel has its own");
}

#[test]
fn alignments() {
    between("9.0", "sm_90", ".func f(.param .align # .b8 a[4]) { ret; }", 128, 256);
    between("9.0", "sm_90", ".global .align # .b8 a[4];", 16, 3);
    between("9.0", "sm_90", ".shared .align # .b8 a[4];", 1024, 0);
}

#[test]
fn vectors() {
    between("9.0", "sm_90", ".global .v# .b32 a;", 4, 8);
    between("9.0", "sm_90", ".global .v# .b64 a;", 2, 4);
    between(
        "9.0",
        "sm_90",
        ".entry k() { .reg .b64 %d; .reg .b32 %r<9>; ld.global.v#.b32 {%r0, %r1}, [%d]; ret; }",
        2,
        3,
    );
}

#[test]
fn constants_of_instructions() {
    for (target, statement, last, first_wrong) in [
        ("sm_90", "bar.sync #;", 15, 16),
        ("sm_90", "bar.sync 0, #;", 96, 97),
        ("sm_90", "bar.arrive 0, #;", 32, 0),
        ("sm_90", "bfe.u32 %r0, %r1, #, 8;", 255, 256),
        ("sm_90", "pmevent #;", 15, 16),
        ("sm_90a", "setmaxnreg.inc.sync.aligned.u32 #;", 256, 264),
        ("sm_90a", "setmaxnreg.inc.sync.aligned.u32 #;", 24, 25),
        ("sm_90", "cp.async.ca.shared.global [%r0], [%d0], #;", 16, 32),
        ("sm_90", "cp.async.ca.shared.global [%r0], [%d0], 8, #;", 8, 9),
        ("sm_90", "createpolicy.range.L2::evict_last.b64 %d0, [%d1], #, 64;", 64, 65),
        ("sm_90", "createpolicy.range.L2::evict_last.b64 %d0, [%d1], 64, #;", 4294967295, 63),
        ("sm_90", "createpolicy.fractional.L2::evict_last.b64 %d0, 0d#00000000000000;", 39, 40),
        ("sm_90", "createpolicy.fractional.L2::evict_last.b64 %d0, #.0;", 1, 0),
    ] {
        let module = format!(".entry k() {{ .reg .b32 %r<4>; .reg .b64 %d<4>; {statement} ret; }}");
        between("9.0", target, &module, last, first_wrong);
    }
}

#[test]
fn shapes_of_kernels() {
    between("9.0", "sm_90", ".entry k() .maxnreg # { ret; }", 1, 0);
    between("9.0", "sm_90", ".entry k() .reqntid # { ret; }", 1, 0);
    between("9.0", "sm_90", ".entry k() .maxntid # { ret; }", 1024, 0);
    between("9.0", "sm_90", ".entry k() .minnctapersm # { ret; }", 1, 0);
}

#[test]
fn addresses_of_kernels() {
    let taken = ".entry k() { .reg .b64 d; mov.u64 d, k; ret; }";
    let initial = ".entry k() { ret; }\n.global .u64 x = k;";
    for module in [taken, initial] {
        assert!(passes("3.1", "sm_35", module), "{module}");
        assert!(!passes("3.1", "sm_30", module), "{module}");
        assert!(!passes("3.0", "sm_30", module), "{module}");
    }
    let opaque = ".entry k(.param .u64 .ptr .texref a) { ret; }";
    assert!(passes("4.3", "sm_35", opaque) && !passes("4.2", "sm_35", opaque));
    let sampler = ".entry k(.param .samplerref a) { ret; }";
    assert!(!passes("9.0", "sm_90", sampler) && passes("9.0", "sm_90, texmode_independent", sampler));
}
