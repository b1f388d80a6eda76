//! Links.

use crate::library::{Context, allocate, download, function, launch, null, param};
use std::ffi::{CString, c_void};

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";

fn add(link: u64, text: &str) -> u32 {
    let text = CString::new(format!("{HEAD}{text}")).unwrap();
    let size = text.as_bytes_with_nul().len();
    cu!(cuLinkAddData_v2(link, 1u32, text.as_ptr(), size, c"part".as_ptr(), 0u32, null(), null()))
}

#[test]
fn two_modules_become_one() {
    let _context = Context::new();
    let (mut link, mut cubin, mut size, mut module) = (0u64, null(), 0usize, 0u64);
    assert_eq!(cu!(cuLinkCreate_v2(0u32, null(), null(), &mut link)), 0);
    let caller = ".extern .func (.param .b32 r) f(.param .b32 a);
.visible .entry k(.param .u64 out) {
    .reg .b32 %r; .reg .b64 %rd;
    { .param .b32 a; .param .b32 r; st.param.b32 [a], 20; call (r), f, (a); ld.param.b32 %r, [r]; }
    ld.param.u64 %rd, [out]; st.global.u32 [%rd], %r; ret; }";
    let callee = ".visible .func (.param .b32 r) f(.param .b32 a) {
    .reg .b32 %r; ld.param.b32 %r, [a]; add.u32 %r, %r, 22; st.param.b32 [r], %r; ret; }";
    assert_eq!((add(link, caller), add(link, callee)), (0, 0));
    assert_eq!(cu!(cuLinkComplete(link, &mut cubin, &mut size)), 0);
    assert_eq!(cu!(cuModuleLoadData(&mut module, cubin)), 0);
    assert_eq!((cu!(cuLinkDestroy(link)), cu!(cuLinkDestroy(link))), (0, 400));
    let mut out = allocate(4);
    assert_eq!(launch(function(module, "k"), 1, 1, 0, &mut [param(&mut out)]), 0);
    assert_eq!(download::<u32>(out, 1), [42]);
}

#[test]
fn what_is_missing_is_in_the_log() {
    let _context = Context::new();
    let (mut link, mut log) = (0u64, [1u8; 200]);
    let names = [5u32, 6];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    assert_eq!(cu!(cuLinkCreate_v2(2u32, names.as_ptr(), values.as_mut_ptr(), &mut link)), 0);
    assert_eq!(add(link, ".extern .func f();\n.visible .entry k() { call f; ret; }"), 0);
    assert_eq!(add(link, ".visible .entry other() { ret; }"), 0);
    assert_eq!(cu!(cuLinkComplete(link, &mut 0u64, &mut 0usize)), 218);
    let end = log.iter().position(|byte| *byte == 0).unwrap();
    let text = String::from_utf8_lossy(&log[..end]).into_owned();
    assert!(text.contains("no module defines `f`"), "{text}");
    assert_eq!(values[1].addr(), end);
    // Inputs of other kinds say what would do.
    let object =
        cu!(cuLinkAddData_v2(link, 3u32, c"x".as_ptr(), 1usize, c"a.o".as_ptr(), 0u32, null(), null()));
    assert_eq!(object, 801);
}

#[test]
fn a_bound_of_registers_is_obeyed() {
    let _context = Context::new();
    let many: String = (0..180).map(|i| format!("mov.u32 %r{i}, {i}; ")).collect();
    let kernels: String = [
        ("plain", ""),
        ("own", ".maxnreg 40"),
        ("sized", ".maxntid 512"),
        ("full", ".maxntid 512 .minnctapersm 4"),
    ]
    .iter()
    .map(|(name, directives)| {
        format!(".visible .entry {name}() {directives} {{ .reg .b32 %r<180>; {many} ret; }}\n")
    })
    .collect();
    let registers = |module: u64| {
        ["plain", "own", "sized", "full"].map(|name| {
            let mut value = 0;
            assert_eq!(cu!(cuFuncGetAttribute(&mut value, 4u32, function(module, name))), 0);
            value
        })
    };
    let text = CString::new(format!("{HEAD}{kernels}")).unwrap();
    let load = |bound: usize| {
        let (mut module, names) = (0u64, [0u32]);
        let mut values: [*mut c_void; 1] = [std::ptr::without_provenance_mut(bound)];
        let code =
            cu!(cuModuleLoadDataEx(&mut module, text.as_ptr(), 1u32, names.as_ptr(), values.as_mut_ptr()));
        assert_eq!(code, 0);
        registers(module)
    };
    // What a kernel says of itself comes first; bounds that no assembler keeps are raised to the least that it does.
    assert_eq!(load(0), [64, 40, 64, 32]);
    assert_eq!(load(32), [32, 40, 64, 32]);
    assert_eq!(load(57), [57, 40, 64, 32]);
    assert_eq!(load(8), [24, 40, 64, 32]);
    assert_eq!(load(1000), [64, 40, 64, 32]);
    // So it is of what is linked, by the option of the link.
    for others in [0, 1] {
        let (mut link, mut cubin, mut size, mut module) = (0u64, null(), 0usize, 0u64);
        let (names, mut values) = ([0u32], [std::ptr::without_provenance_mut::<c_void>(32)]);
        assert_eq!(cu!(cuLinkCreate_v2(1u32, names.as_ptr(), values.as_mut_ptr(), &mut link)), 0);
        assert_eq!(add(link, &kernels), 0);
        for other in 0..others {
            assert_eq!(add(link, &format!(".visible .entry other{other}() {{ ret; }}")), 0);
        }
        assert_eq!(cu!(cuLinkComplete(link, &mut cubin, &mut size)), 0);
        assert_eq!(cu!(cuModuleLoadData(&mut module, cubin)), 0);
        assert_eq!(registers(module), [32, 40, 64, 32]);
        assert_eq!(cu!(cuLinkDestroy(link)), 0);
    }
}

#[test]
fn a_result_that_the_definition_lacks_is_undefined() {
    let _context = Context::new();
    let (mut link, mut cubin, mut size, mut module) = (0u64, null(), 0usize, 0u64);
    assert_eq!(cu!(cuLinkCreate_v2(0u32, null(), null(), &mut link)), 0);
    let caller = ".extern .func (.param .b32 r) f(.param .u64 place);
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd; .param .u64 a; .param .b32 r;
    ld.param.u64 %rd, [out]; st.param.u64 [a], %rd; call (r), f, (a); ret; }";
    let callee = ".visible .func f(.param .u64 place) {
    .reg .b64 %rd; ld.param.u64 %rd, [place]; st.global.u32 [%rd], 7; ret; }";
    assert_eq!((add(link, caller), add(link, callee)), (0, 0));
    assert_eq!(cu!(cuLinkComplete(link, &mut cubin, &mut size)), 0);
    assert_eq!(cu!(cuModuleLoadData(&mut module, cubin)), 0);
    assert_eq!(cu!(cuLinkDestroy(link)), 0);
    let mut out = allocate(4);
    assert_eq!(launch(function(module, "k"), 1, 1, 0, &mut [param(&mut out)]), 0);
    assert_eq!(download::<u32>(out, 1), [7]);
}
