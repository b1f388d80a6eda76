//! Kernels and launches that go wrong.

use super::*;
use warpsmith_interp::{Arg, Limits};

#[test]
fn an_overrun_names_the_nearest_buffer() {
    let program =
        kernel("", "mov.u32 %r1, %tid.x;\nmad.wide.u32 %rd1, %r1, 4, %out;\nst.global.u32 [%rd1], %r1;");
    let fault = words(&program, 64, 40).unwrap_err();
    assert_eq!((fault.code.name(), fault.ptx_line), ("out_of_bounds", Some(5)));
    assert_eq!((fault.block, fault.thread), (Some([0; 3]), Some([40, 0, 0])));
    assert!(
        fault.message.contains("ends 4 bytes past the end of the nearest allocation (160 bytes"),
        "{fault}"
    );
    let fault = words(&kernel("", "ld.global.u32 %r1, [%out+-8];"), 1, 4).unwrap_err();
    assert!(fault.message.contains("8 bytes before the nearest allocation"), "{fault}");
    let fault = words(&kernel("", "mov.u64 %rd1, 0; ld.u32 %r1, [%rd1];"), 1, 4).unwrap_err();
    assert_eq!((fault.code.name(), fault.address), ("out_of_bounds", Some(0)));
}

#[test]
fn accesses_at_the_edges_are_exact() {
    for (text, ok) in [
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+16];", true),
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+32];", false),
        ("ld.global.u64 %rd1, [%out+24];", true),
        ("ld.global.u64 %rd1, [%out+32];", false),
        ("ld.global.u8 %r1, [%out+31];", true),
        ("ld.global.u8 %r1, [%out+32];", false),
        ("mov.u64 %rd2, -1; ld.global.u8 %r1, [%rd2];", false),
        ("mov.u64 %rd2, -8; ld.global.u64 %rd1, [%rd2];", false),
        (".shared .b8 s[12]; ld.shared.u32 %r1, [s+8];", true),
        (".shared .b8 s[12]; ld.shared.u32 %r1, [s+12];", false),
        (".shared .b8 s[12]; mov.u32 %r2, -4; ld.shared.u32 %r1, [%r2];", false),
        ("mov.u64 %rd1, 8; ld.param.u32 %r1, [%rd1];", false),
    ] {
        let result = words(&kernel("", text), 1, 8);
        assert_eq!(result.is_ok(), ok, "{text}");
        assert!(result.err().is_none_or(|f| f.code.name() == "out_of_bounds"), "{text}");
    }
}

#[test]
fn misaligned_accesses_are_faults() {
    for text in [
        "ld.global.u32 %r1, [%out+2];",
        "ld.global.v2.u32 {%r1, %r2}, [%out+4];",
        "st.global.u16 [%out+1], %r1;",
    ] {
        let fault = words(&kernel("", text), 1, 8).unwrap_err();
        assert_eq!(fault.code.name(), "misaligned", "{text}: {fault}");
    }
}

#[test]
fn freed_memory_is_gone() {
    let program = kernel("", "ld.global.u32 %r1, [%out];");
    let mut device = levels::device();
    let out = buffer(&mut device, &[1, 2]);
    device.free(out).unwrap();
    let fault = device.launch(&program, &Launch::new("k").arg(out)).unwrap_err();
    assert!(fault.message.contains("that was freed"), "{fault}");
    assert!(device.free(out).is_err() && device.read(out).is_err());
}

#[test]
fn constants_and_parameters_are_read_only() {
    let program = kernel("", ".const .u32 c = 1; cvta.const.u64 %rd1, c; st.u32 [%rd1], 2;");
    let fault = words(&program, 1, 1).unwrap_err();
    assert!(fault.message.contains("read-only"), "{fault}");
}

#[test]
fn endless_kernels_reach_their_limit() {
    let mut limits = Limits::default();
    limits.steps = 100_000;
    let program = kernel("", "setp.eq.u32 %p0, 0, 0;\nloop: @%p0 bra loop;");
    for threads in [1, 32, 200] {
        let fault =
            launch(&program, Launch::new("k").block([threads, 1, 1]).limits(limits.clone()), 1).unwrap_err();
        assert_eq!((fault.code.name(), fault.ptx_line), ("step_limit", Some(4)), "{fault}");
    }
    let mut limits = Limits::default();
    limits.block_steps = 1 << 20;
    let fault = launch(&program, Launch::new("k").grid([1000, 1, 1]).limits(limits), 1).unwrap_err();
    assert_eq!(fault.code.name(), "step_limit");
}

#[test]
fn exponential_recursion_reaches_its_limit() {
    let program = load("
        .func f(.param .b32 n) { .reg .b32 %r<3>; .reg .pred %p; .param .b32 a; ld.param.b32 %r1, [n]; setp.eq.u32 %p, %r1, 0; @%p ret;
          sub.u32 %r1, %r1, 1; st.param.b32 [a], %r1; call f, (a); call f, (a); ret; }
        .visible .entry k(.param .u64 out) { .param .b32 a; st.param.b32 [a], 60; call f, (a); ret; }");
    let mut limits = Limits::default();
    limits.steps = 1_000_000;
    let fault = launch(&program, Launch::new("k").limits(limits), 1).unwrap_err();
    assert_eq!(fault.code.name(), "step_limit");
}

#[test]
fn a_trap_names_its_thread() {
    let program = kernel("", "mov.u32 %r1, %tid.y; setp.eq.u32 %p0, %r1, 3;\n@%p0 trap;");
    let fault = launch(&program, Launch::new("k").block([10, 10, 1]), 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.ptx_line, fault.thread), ("trap", Some(4), Some([0, 3, 0])));
}

#[test]
fn an_index_past_the_table_is_a_fault() {
    let program = kernel("", "mov.u32 %r1, %tid.x; t: .branchtargets a, b; brx.idx %r1, t; a: b:");
    let fault = words(&program, 8, 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.thread), ("bad_target", Some([2, 0, 0])));
}

#[test]
fn impossible_launches_are_errors() {
    let program = load(
        ".visible .entry k(.param .u64 out, .param .u32 n) .reqntid 32 { ret; } .visible .entry m() .maxntid 64 { ret; }",
    );
    let good = Launch::new("k").block([32, 1, 1]).arg(0u64).arg(1u32);
    let mut device = levels::device();
    assert!(device.launch(&program, &good).is_ok());
    for (bad, part) in [
        (Launch::new("nobody"), "no kernel `nobody` (kernels: k, m)"),
        (good.clone().grid([0, 1, 1]), "grid.x is 0"),
        (good.clone().grid([1, 65536, 1]), "grid.y is 65536"),
        (good.clone().grid([u32::MAX, 1, 1]), "grid.x"),
        (good.clone().block([0, 1, 1]), "block.x is 0"),
        (good.clone().block([1025, 1, 1]), "block.x is 1025"),
        (good.clone().block([32, 33, 1]), "1056 threads"),
        (good.clone().block([u32::MAX, u32::MAX, u32::MAX]), "block.x"),
        (good.clone().block([64, 1, 1]), ".reqntid"),
        (good.clone().dynamic_shared(1 << 20), "shared memory"),
        (good.clone().cluster([2, 1, 1]), "whole clusters"),
        (good.clone().cluster([0, 1, 1]), "cluster"),
        (good.clone().cluster([u32::MAX, u32::MAX, u32::MAX]), "cluster"),
        (good.clone().arg(1u32), "takes 2 arguments, 3"),
        (Launch::new("k").block([32, 1, 1]).arg(1u64), "takes 2 arguments, 1"),
        (Launch::new("k").block([32, 1, 1]).arg(1u64).arg(1u64), "argument 1 (`n`) is 4 bytes, 8"),
        (Launch::new("k").block([32, 1, 1]).arg(Arg::bytes([1, 2, 3])).arg(1u32), "argument 0"),
        (Launch::new("m").block([65, 1, 1]), ".maxntid"),
    ] {
        let fault = device.launch(&program, &bad).unwrap_err();
        assert_eq!(fault.code.name(), "bad_launch");
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
}

#[test]
fn memory_has_an_end() {
    let mut device = levels::device();
    assert_eq!(device.alloc(u64::MAX).unwrap_err().code.name(), "out_of_memory");
    assert_eq!(device.alloc(1 << 40).unwrap_err().code.name(), "out_of_memory");
    let program = load(".global .b8 huge[1000000000000]; .visible .entry k() { ret; }");
    assert_eq!(device.launch(&program, &Launch::new("k")).unwrap_err().code.name(), "out_of_memory");
}

#[test]
fn a_huge_grid_takes_the_memory_of_its_resident_blocks() {
    let program = kernel("", ".shared .b8 s[16384]; red.global.add.u32 [%out], 1;");
    let (words, stats) = launch(&program, Launch::new("k").grid([100_000, 1, 1]), 1).unwrap();
    assert_eq!((words[0], stats.blocks), (100_000, 100_000));
}

#[test]
fn a_form_without_semantics_is_refused_by_name() {
    let source = ".version 9.3 .target sm_100 .address_size 64\n.visible .entry k() {\nfabric.wait.sync_restrict::reads; ret; }";
    let module = ValidatedModule::parse(source).unwrap();
    let errors = Program::load(&module).unwrap_err();
    assert_eq!(errors.source().position(errors[0].span.start).line, 3);
    assert!(errors[0].message.contains("`fabric.wait"), "{errors:?}");
}
