//! Calls into the system: `vprintf`, `malloc`, `free`, `__assertfail`.

use super::*;
use std::io::Write;
use std::sync::{Arc, Mutex};

const DECLARATIONS: &str = "
    .extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 list);
    .extern .func (.param .b64 pointer) malloc(.param .b64 size);
    .extern .func free(.param .b64 pointer);
    .extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size) .noreturn;
    .global .align 1 .b8 format[] = {37, 100, 58, 32, 37, 115, 32, 37, 46, 50, 102, 10, 0};
    .global .align 1 .b8 word[] = {115, 105, 120, 0};
    .global .align 1 .b8 file[] = {97, 46, 99, 117, 0};";

/// `printf(\"%d: %s %.2f\\n\", tid, word, tid / 4.0)`, whose result is in `%r9`.
const PRINT: &str = "
    .local .align 8 .b8 list[24]; mov.u32 %r1, %tid.x; st.local.u32 [list], %r1; mov.u64 %rd1, word; cvta.global.u64 %rd1, %rd1; st.local.u64 [list+8], %rd1;
    cvt.rn.f64.u32 %fd1, %r1; mul.f64 %fd1, %fd1, 0.25; st.local.f64 [list+16], %fd1;
    mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2; mov.u64 %rd3, list; cvta.local.u64 %rd3, %rd3;
    { .param .b64 p0; .param .b64 p1; .param .b32 r0; st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd3;
    call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r9, [r0]; }";

fn with_system(body: &str) -> Program {
    load(&format!(
        "{DECLARATIONS} .visible .entry k(.param .u64 out) {{ .reg .b32 %r<64>; .reg .b64 %rd<64>, %out; .reg .pred %p<16>; \
         .reg .f64 %fd<16>; ld.param.u64 %out, [out];\n{body}\nret; }}"
    ))
}

fn lines(threads: std::ops::Range<u32>) -> String {
    threads.map(|t| format!("{t}: six {:.2}\n", f64::from(t) / 4.0)).collect()
}

#[test]
fn printing_is_formatted_and_gives_the_number_of_arguments() {
    let program = with_system(&format!("{PRINT} mov.u32 %r0, %r9; {STORE}"));
    let mut device = levels::device();
    let out = device.upload(&[0u32; 40]).unwrap();
    let stats = device.launch(&program, &Launch::new("k").block([40, 1, 1]).arg(out)).unwrap();
    assert_eq!(device.download::<u32>(out).unwrap(), [3; 40]);
    let text = device.take_output();
    assert_eq!(String::from_utf8(text.clone()).unwrap(), lines(0..40));
    assert_eq!((stats.printed_calls, stats.printed_bytes, stats.lost_bytes), (40, text.len() as u64, 0));
    assert!(device.take_output().is_empty());
}

#[test]
fn output_of_many_blocks_is_in_their_order() {
    let text =
        "mov.u32 %r30, %ctaid.x; ".to_string() + &PRINT.replace("mov.u32 %r1, %tid.x", "mov.u32 %r1, %r30");
    let program = with_system(&text);
    let mut device = levels::device();
    device.launch(&program, &Launch::new("k").grid([500, 1, 1]).workers(4).arg(0u64)).unwrap();
    assert_eq!(String::from_utf8(device.take_output()).unwrap(), lines(0..500));
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_gets_the_output_even_of_a_kernel_that_faults() {
    let program = with_system(&format!("{PRINT} setp.eq.u32 %p0, %r1, 3; @%p0 trap;"));
    let mut device = levels::device();
    let sink = Shared::default();
    device.set_output(sink.clone());
    let fault = device.launch(&program, &Launch::new("k").block([8, 1, 1]).arg(0u64)).unwrap_err();
    assert_eq!(fault.code.name(), "trap");
    assert_eq!(String::from_utf8(sink.0.lock().unwrap().clone()).unwrap(), lines(0..8));
    assert!(device.take_output().is_empty());
}

#[test]
fn a_full_buffer_loses_the_oldest_text() {
    let program = with_system(PRINT);
    let mut machine = levels::machine();
    machine.print_buffer = 100;
    let mut device = Device::with_machine(machine);
    let stats = device.launch(&program, &Launch::new("k").block([32, 1, 1]).arg(0u64)).unwrap();
    let text = String::from_utf8(device.take_output()).unwrap();
    assert!(lines(0..32).ends_with(&text) && text.len() <= 100 && text.len() > 80, "{text}");
    assert_eq!(stats.printed_bytes + stats.lost_bytes, lines(0..32).len() as u64);
}

#[test]
fn bad_formats_and_lists_are_faults_of_the_call() {
    let call = |format: &str| {
        format!(
            "mov.u64 %rd2, {format};\n{{ .param .b64 p0; .param .b64 p1; .param .b32 r0; st.param.b64 [p0], %rd2; st.param.b64 [p1], 0;\n call.uni (r0), vprintf, (p0, p1); ld.param.b32 %r9, [r0]; }}"
        )
    };
    for (format, message) in
        [("format", "load of 4 bytes at global address 0x0"), ("64", "global address 0x40")]
    {
        let fault = words(&with_system(&call(format)), 33, 1).unwrap_err();
        assert_eq!((fault.code.name(), fault.ptx_line.is_some()), ("out_of_bounds", true), "{fault}");
        assert!(fault.message.contains(message), "{fault}");
    }
    // No format is not a fault.
    let program = with_system(&(call("0") + "mov.u32 %r0, %r9;" + STORE));
    assert_eq!(words(&program, 2, 2).unwrap(), [u32::MAX; 2]);
    // A string without an end.
    let source = "add.u64 %rd4, %out, 0;".to_string() + &call("%rd4");
    let mut device = levels::device();
    let out = device.upload(&[0x4141_4141u32; 4]).unwrap();
    let fault = device.launch(&with_system(&source), &Launch::new("k").arg(out)).unwrap_err();
    assert!(fault.message.contains("does not end") || fault.message.contains("past the end"), "{fault}");
}

#[test]
fn a_printing_loop_reaches_its_limit() {
    let program = with_system(
        &format!("loop: {} bra loop;", PRINT.replace(".local .align 8 .b8 list[24];", "")).replacen(
            "loop:",
            ".local .align 8 .b8 list[24]; loop:",
            1,
        ),
    );
    let mut limits = warpsmith_interp::Limits::default();
    limits.steps = 200_000;
    let fault = launch(&program, Launch::new("k").block([32, 1, 1]).limits(limits), 1).unwrap_err();
    assert_eq!(fault.code.name(), "step_limit");
}

const MALLOC: &str = "{ .param .b64 p; .param .b64 r; st.param.b64 [p], %rd1; call.uni (r), malloc, (p); ld.param.b64 %rd2, [r]; }";
const FREE: &str = "{ .param .b64 p; st.param.b64 [p], %rd2;\ncall.uni free, (p); }";

#[test]
fn memory_of_the_heap_lasts_until_it_is_freed() {
    // Each thread builds a list of blocks, sums it up and frees it.
    let program = with_system(&format!(
        "mov.u32 %r1, %tid.x; mov.u64 %rd3, 0; mov.u32 %r2, 0; build: mov.u64 %rd1, 16; {MALLOC} st.u64 [%rd2], %rd3; st.u32 [%rd2+8], %r2; mov.u64 %rd3, %rd2;
         add.u32 %r2, %r2, 1; setp.le.u32 %p0, %r2, %r1; @%p0 bra build; mov.u32 %r0, 0;
         sum: mov.u64 %rd2, %rd3; ld.u64 %rd3, [%rd2]; ld.u32 %r3, [%rd2+8]; add.u32 %r0, %r0, %r3; {FREE} setp.ne.u64 %p0, %rd3, 0; @%p0 bra sum; {STORE}"
    ));
    let expected: Vec<u32> = (0..64).map(|t| t * (t + 1) / 2).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([64, 1, 1]), 64), expected);

    // What one launch allocates another one can use.
    let keep =
        with_system(&format!("mov.u64 %rd1, 100; {MALLOC} st.u32 [%rd2+96], 7; st.global.u64 [%out], %rd2;"));
    let take = with_system(&format!(
        "ld.global.u64 %rd2, [%out]; ld.u32 %r1, [%rd2+96]; {FREE} st.global.u32 [%out], %r1;"
    ));
    let mut device = levels::device();
    let out = device.upload(&[0u64]).unwrap();
    device.launch(&keep, &Launch::new("k").arg(out)).unwrap();
    assert_eq!(device.heap_used(), 112);
    device.launch(&take, &Launch::new("k").arg(out)).unwrap();
    assert_eq!((device.heap_used(), device.download::<u32>(out).unwrap()[0]), (0, 7));
}

#[test]
fn an_exhausted_heap_gives_null() {
    let program = with_system(&format!(
        "mov.u64 %rd1, 1024; {MALLOC} setp.ne.u64 %p0, %rd2, 0; selp.u32 %r0, 1, 0, %p0; {STORE}"
    ));
    let mut machine = levels::machine();
    machine.heap = 10 << 10;
    let mut device = Device::with_machine(machine);
    let out = device.upload(&[0u32; 32]).unwrap();
    device.launch(&program, &Launch::new("k").block([32, 1, 1]).arg(out)).unwrap();
    assert_eq!(device.download::<u32>(out).unwrap().iter().sum::<u32>(), 10);
    let huge = with_system(&format!("mov.u64 %rd1, -1; {MALLOC} st.global.u64 [%out], %rd2;"));
    device.launch(&huge, &Launch::new("k").arg(out)).unwrap();
    assert_eq!(device.download::<u64>(out).unwrap()[0], 0);
}

#[test]
fn stale_and_overrun_heap_blocks_are_faults() {
    for (text, code, message) in [
        (format!("mov.u64 %rd1, 20; {MALLOC} ld.u32 %r1, [%rd2+16];"), "", ""),
        (
            format!("mov.u64 %rd1, 20; {MALLOC} ld.u32 %r1, [%rd2+20];"),
            "out_of_bounds",
            "nearest block of `malloc` (20 bytes",
        ),
        (format!("mov.u64 %rd1, 20; {MALLOC} {FREE} st.u8 [%rd2], 1;"), "out_of_bounds", "was freed"),
        (format!("mov.u64 %rd1, 20; {MALLOC} {FREE} {FREE}"), "bad_free", "was freed"),
        (
            format!("mov.u64 %rd1, 20; {MALLOC} add.u64 %rd2, %rd2, 4; {FREE}"),
            "bad_free",
            "4 bytes from the start",
        ),
        (format!("mov.u64 %rd2, 0; {FREE}"), "", ""),
        (format!("mov.u64 %rd2, %out; {MALLOC} mov.u64 %rd2, %out; {FREE}"), "bad_free", "no block"),
    ] {
        match words(&with_system(&text), 1, 4) {
            Ok(_) => assert_eq!(code, "", "{text}"),
            Err(fault) => {
                assert_eq!(fault.code.name(), code, "{text}: {fault}");
                assert!(fault.message.contains(message), "{fault}");
            }
        }
    }
}

#[test]
fn atomics_and_vectors_reach_the_heap() {
    let program = with_system(&format!(
        ".shared .u64 block; mov.u32 %r1, %tid.x; setp.ne.u32 %p0, %r1, 0; @%p0 bra wait; mov.u64 %rd1, 64; {MALLOC} st.v2.u64 [%rd2], {{0, 0}}; st.shared.u64 [block], %rd2;
         wait: bar.sync 0; ld.shared.u64 %rd2, [block]; atom.add.u32 %r2, [%rd2+4], %r1; bar.sync 0; ld.v2.u32 {{%r3, %r0}}, [%rd2]; {STORE}"
    ));
    assert_eq!(words(&program, 100, 100).unwrap(), [4950; 100]);
}

#[test]
fn a_failed_assertion_says_what_and_where() {
    let program = with_system(
        "mov.u32 %r1, %tid.x; setp.ne.u32 %p0, %r1, 37; @%p0 bra done; mov.u64 %rd1, word; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
         { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4; st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 42;
         st.param.b64 [p3], %rd1; st.param.b64 [p4], 1;\ncall.uni __assertfail, (p0, p1, p2, p3, p4); } done:",
    );
    let fault = words(&program, 64, 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.thread), ("assertion", Some([37, 0, 0])));
    assert_eq!(fault.message, "a.cu:42: six: Assertion `six` failed");
}

#[test]
fn the_systems_functions_have_addresses() {
    let program = with_system(&format!(
        "mov.u64 %rd5, malloc; mov.u64 %rd1, 8; {{ .param .b64 p; .param .b64 r; st.param.b64 [p], %rd1; shape: .callprototype (.param .b64 _) _ (.param .b64 _);
         call (r), %rd5, (p), shape; ld.param.b64 %rd2, [r]; }} st.u64 [%rd2], 5; ld.u64 %rd3, [%rd2]; cvt.u32.u64 %r0, %rd3; {STORE}"
    ));
    assert_eq!(words(&program, 3, 3).unwrap(), [5; 3]);
}

#[test]
fn other_declarations_of_them_and_other_functions_are_refused_by_name() {
    for (declaration, call, part) in [
        (
            ".extern .func (.param .b32 s) vprintf(.param .b64 f);",
            "{ .param .b64 p; .param .b32 r; call (r), vprintf, (p); }",
            "it takes (.b64, .b64) and gives .b32",
        ),
        (".extern .func cudaThing();", "call cudaThing;", "`cudaThing`: kernels cannot launch kernels"),
        (".extern .func other();", "call other;", "`other`, which this module does not define"),
    ] {
        let source = format!(
            ".version 8.6 .target sm_90 .address_size 64\n{declaration} .visible .entry k() {{ {call} ret; }}"
        );
        let module = ValidatedModule::parse(&source).unwrap_or_else(|e| panic!("{e:?}"));
        let errors = Program::load(&module).unwrap_err();
        assert!(errors[0].message.contains(part), "{errors:?}");
    }
    // One that defines its own keeps it.
    let program = load(
        ".func (.param .b64 r) malloc(.param .b64 size) { st.param.b64 [r], 5; ret; }
         .visible .entry k(.param .u64 out) { .reg .b64 %a, %b; .param .b64 p; .param .b64 r; ld.param.u64 %a, [out]; st.param.b64 [p], 1; call (r), malloc, (p);
         ld.param.b64 %b, [r]; st.global.u64 [%a], %b; ret; }",
    );
    assert_eq!(words(&program, 1, 2).unwrap(), [5, 0]);
}
