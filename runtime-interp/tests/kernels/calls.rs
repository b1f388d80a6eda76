//! Functions: parameters of all kinds, recursion, indirect calls.

use super::*;
use warpsmith_interp::engine::Callee;
use warpsmith_interp::observe::OperationKind;

#[test]
fn arguments_and_results_in_memory_and_registers() {
    let program = load("
        .func (.param .b32 sum) add3(.param .b32 a, .param .b32 b, .param .b32 c) { .reg .b32 %r<5>;
          ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; ld.param.b32 %r3, [c]; add.u32 %r4, %r1, %r2; add.u32 %r4, %r4, %r3; st.param.b32 [sum], %r4; ret; }
        .func (.reg .b32 d) twice(.reg .b32 a) { add.u32 d, a, a; ret; }
        .func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 s[16]) { .reg .b64 %rd<5>;
          ld.param.b64 %rd1, [s]; ld.param.b64 %rd2, [s+8]; st.param.b64 [r], %rd2; st.param.b64 [r+8], %rd1; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x;
          { .param .b32 r0; .param .b32 p0; .param .b32 p1; .param .b32 p2; st.param.b32 [p0], %r1; st.param.b32 [p1], 10; st.param.b32 [p2], 100;
            call.uni (r0), add3, (p0, p1, p2); ld.param.b32 %r2, [r0]; }
          call (%r3), twice, (%r2);
          { .param .align 8 .b8 r0[16]; .param .align 8 .b8 p0[16]; cvt.u64.u32 %rd1, %r3; st.param.b64 [p0], %rd1; st.param.b64 [p0+8], 7;
            call (r0), swap, (p0); ld.param.v2.b64 {%rd2, %rd3}, [r0]; }
          mul.lo.u64 %rd2, %rd2, 100000; add.u64 %rd2, %rd2, %rd3; cvt.u32.u64 %r4, %rd2; mad.wide.u32 %rd4, %r1, 4, %rd0; st.global.u32 [%rd4], %r4; ret; }");
    let expected: Vec<u32> = (0..48).map(|t| 700_000 + 2 * (t + 110)).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([48, 1, 1]), 48), expected);
}

/// Each lane recurses to a depth of its own, with the value to add after the return in a register.
const FIBONACCI: &str = "
    .func (.param .b32 r) fib(.param .b32 n) { .reg .b32 %r<9>; .reg .pred %p; ld.param.b32 %r1, [n]; setp.lt.u32 %p, %r1, 2; @%p bra small;
      .param .b32 a; .param .b32 b; sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r3, [b];
      sub.u32 %r2, %r1, 2; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r4, [b]; add.u32 %r1, %r3, %r4;
      small: st.param.b32 [r], %r1; ret; }
    .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .param .b32 a; .param .b32 b; ld.param.u64 %rd0, [out];
      mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 15; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r3, [b];
      mad.wide.u32 %rd1, %r1, 4, %rd0; st.global.u32 [%rd1], %r3; ret; }";

#[test]
fn lanes_recurse_to_different_depths() {
    let mut fib = vec![0, 1];
    for i in 2..16 {
        fib.push(fib[i - 1] + fib[i - 2]);
    }
    let expected: Vec<u32> = (0..32).map(|t| fib[t % 16]).collect();
    assert_eq!(under_seeds(&load(FIBONACCI), Launch::new("k").block([32, 1, 1]), 32), expected);
}

/// Two functions whose registers lie differently, one with values of 64 bits and one with 32: lanes are in one of each at the same depth.
const TWO_LAYOUTS: &str = "
    .func (.param .b64 r) narrow(.param .b64 n);
    .func (.param .b64 r) wide(.param .b64 n) { .reg .b64 %rd<9>; .reg .pred %p; .param .b64 a; .param .b64 b;
      ld.param.b64 %rd1, [n]; mov.b64 %rd2, 0; setp.eq.u64 %p, %rd1, 0; @%p bra done;
      sub.u64 %rd3, %rd1, 1; st.param.b64 [a], %rd3; call (b), narrow, (a); ld.param.b64 %rd4, [b];
      mad.lo.u64 %rd2, %rd1, 3, %rd4; done: st.param.b64 [r], %rd2; ret; }
    .func (.param .b64 r) narrow(.param .b64 n) { .reg .b32 %r<40>; .reg .pred %p<9>; .reg .b64 %rd<3>; .param .b64 a; .param .b64 b;
      ld.param.b64 %rd1, [n]; cvt.u32.u64 %r31, %rd1; mov.b32 %r32, 0; setp.eq.u32 %p8, %r31, 0; @%p8 bra done;
      sub.u32 %r33, %r31, 1; cvt.u64.u32 %rd1, %r33; st.param.b64 [a], %rd1; and.b32 %r34, %r31, 2; setp.ne.u32 %p1, %r34, 0;
      @%p1 bra self; call (b), wide, (a); bra back; self: call (b), narrow, (a); back: ld.param.b64 %rd2, [b];
      cvt.u32.u64 %r35, %rd2; add.u32 %r32, %r35, %r31; done: cvt.u64.u32 %rd1, %r32; st.param.b64 [r], %rd1; ret; }
    .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p; .param .b64 a; .param .b64 b; ld.param.u64 %rd0, [out];
      mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; st.param.b64 [a], %rd1; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0; @%p bra even;
      call (b), wide, (a); bra done; even: call (b), narrow, (a); done: ld.param.b64 %rd2, [b]; cvt.u32.u64 %r3, %rd2;
      mad.wide.u32 %rd1, %r1, 4, %rd0; st.global.u32 [%rd1], %r3; ret; }";

#[test]
fn lanes_are_in_different_functions_at_one_depth() {
    fn wide(n: u32) -> u32 {
        if n == 0 { 0 } else { 3 * n + narrow(n - 1) }
    }
    fn narrow(n: u32) -> u32 {
        if n == 0 { 0 } else { n + if n & 2 == 0 { wide(n - 1) } else { narrow(n - 1) } }
    }
    let expected: Vec<u32> = (0..32).map(|t| if t & 1 == 0 { narrow(t) } else { wide(t) }).collect();
    assert_eq!(under_seeds(&load(TWO_LAYOUTS), Launch::new("k").block([32, 1, 1]), 32), expected);
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let program = load(
        "
        .func deep() { call deep; ret; }
        .visible .entry k(.param .u64 out) {\ncall deep; ret; }",
    );
    let fault = words(&program, 32, 1).unwrap_err();
    assert_eq!((fault.code.name(), fault.ptx_line), ("stack_overflow", Some(3)), "{fault}");
}

#[test]
fn lanes_call_through_tables() {
    let program = load("
        .func (.param .b32 r) plus(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 5; st.param.b32 [r], %r1; ret; }
        .func (.param .b32 r) times(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; mul.lo.u32 %r1, %r1, 5; st.param.b32 [r], %r1; ret; }
        .global .u64 table[2] = {plus, times};
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .param .b32 a; .param .b32 b; ld.param.u64 %rd0, [out];
          mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; mov.u64 %rd1, table; mad.wide.u32 %rd1, %r2, 8, %rd1; ld.global.u64 %rd2, [%rd1];
          st.param.b32 [a], %r1; shape: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd2, (a), shape; ld.param.b32 %r3, [b];
          list: .calltargets plus, times; call (b), %rd2, (a), list; ld.param.b32 %r4, [b]; mad.lo.u32 %r3, %r4, 1000, %r3;
          mad.wide.u32 %rd3, %r1, 4, %rd0; st.global.u32 [%rd3], %r3;
          setp.lt.u32 p, %r1, 40; @p bra done;\nadd.u64 %rd2, %rd2, 1; call (b), %rd2, (a), shape; done: ret; .reg .pred p; }"
        .replace(".reg .pred p; }", "}").replace("ld.param.u64 %rd0, [out];", ".reg .pred p; ld.param.u64 %rd0, [out];").as_str());
    let expected: Vec<u32> = (0..32).map(|t| 1001 * if t % 2 == 0 { t + 5 } else { 5 * t }).collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([32, 1, 1]), 32), expected);
    let fault = words(&program, 41, 41).unwrap_err();
    assert_eq!((fault.code.name(), fault.thread), ("bad_target", Some([40, 0, 0])), "{fault}");
}

#[test]
fn a_pointer_into_the_callers_frame() {
    let program = load("
        .func fill(.param .b64 p, .param .b32 v) { .reg .b64 %rd; .reg .b32 %r; ld.param.b64 %rd, [p]; ld.param.b32 %r, [v]; st.u32 [%rd+8], %r; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .local .align 8 .b8 a[16]; .param .b64 p; .param .b32 v;
          ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mov.u64 %rd1, a; cvta.local.u64 %rd2, %rd1; st.param.b64 [p], %rd2; st.param.b32 [v], %r1;
          call fill, (p, v); ld.local.u32 %r2, [a+8]; mad.wide.u32 %rd3, %r1, 4, %rd0; st.global.u32 [%rd3], %r2; ret; }");
    assert_eq!(words(&program, 40, 40).unwrap(), (0..40).collect::<Vec<u32>>());
}

#[test]
fn what_has_no_body_is_refused_by_name() {
    let source = ".version 8.6 .target sm_90 .address_size 64\n.extern .func elsewhere; .visible .entry k() {\ncall elsewhere; ret; }";
    let module = ValidatedModule::parse(source).unwrap();
    let errors = Program::load(&module).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors.source().position(errors[0].span.start).line, errors[0].message.contains("`elsewhere`")),
        (3, true),
        "{errors:?}"
    );
}

/// ptxas takes registers of every type as parameters, and several results, in a module without the ABI.
#[test]
fn registers_of_every_type_are_passed() {
    let program = load("
        .func (.reg .b32 r, .reg .pred q) f(.reg .pred p, .reg .u16 h, .reg .s8 b) { .reg .b32 t; .reg .s32 s;
          selp.b32 r, 100, 200, p; cvt.u32.u16 t, h; add.u32 r, r, t; cvt.s32.s8 s, b; add.u32 r, r, s; setp.gt.u32 q, r, 150; ret; }
        .func (.reg .v2 .u32 r) g(.reg .v4 .b16 v, .reg .b32 n) { .reg .b16 t; add.u16 t, v.x, v.w; cvt.u32.u16 r.x, t; add.u16 t, v.y, v.z; cvt.u32.u16 r.y, t;
          add.u32 r.y, r.y, n; ret; }
        .func (.reg .b32 a, .reg .b32 b, .reg .b64 c) swap(.reg .b32 x, .reg .b32 y) { mov.b32 a, y; mov.b32 b, x; mov.b64 c, {x, y}; ret; }
        .visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .u16 %h; .reg .s8 %b; .reg .v4 .b16 %v; .reg .v2 .u32 %w;
          ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd0, %r1, 32, %rd0;
          setp.eq.u32 %p0, %r1, 1; cvt.u16.u32 %h, %r1; cvt.s8.s32 %b, -3; call (%r2, %p1), f, (%p0, %h, %b); selp.b32 %r3, 1, 0, %p1;
          st.global.v2.u32 [%rd0], {%r2, %r3}; call (_, %p1), f, (%p0, 7, %b); selp.b32 %r3, 1, 0, %p1; st.global.u32 [%rd0+28], %r3;
          cvt.u16.u32 %v.x, 1; cvt.u16.u32 %v.y, 2; cvt.u16.u32 %v.z, 3; mov.b16 %v.w, 40; call (%w), g, (%v, %r1);
          st.global.v2.u32 [%rd0+8], %w; mov.b32 %r5, 5; mov.b32 %r6, 6; call (%r5, %r6, %rd1), swap, (%r5, %r6);
          st.global.v2.u32 [%rd0+16], {%r5, %r6}; cvt.u32.u64 %r7, %rd1; st.global.u32 [%rd0+24], %r7; ret; }");
    let expected: Vec<u32> = (0..3)
        .flat_map(|t| {
            let sum = if t == 1 { 100 } else { 200 } + t - 3;
            [sum, u32::from(sum > 150), 41, 5 + t, 6, 5, 5, u32::from(t != 1)]
        })
        .collect();
    assert_eq!(under_seeds(&program, Launch::new("k").block([3, 1, 1]), 24), expected);
}

/// What `-rdc=true` writes: a table that names a function of another module. It loads, and a call of that one is reported by name.
#[test]
fn indirect_calls_of_functions_elsewhere_are_reported_by_name() {
    let program = load("
        .extern .func (.param .b32 r) elsewhere(.param .b32 a);
        .func (.param .b32 r) here(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }
        .visible .entry k(.param .u64 out, .param .u32 which) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p; .param .b32 a; .param .b32 b; ld.param.u64 %rd0, [out];
          ld.param.u32 %r1, [which]; setp.eq.u32 %p, %r1, 0; mov.u64 %rd1, here; @!%p mov.u64 %rd1, elsewhere; st.param.b32 [a], 9;
          P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd1, (a), P; ld.param.b32 %r3, [b]; st.global.u32 [%rd0], %r3; ret; }");
    assert_eq!(launch(&program, Launch::new("k").arg(0u32), 1).unwrap().0, [9]);
    let fault = launch(&program, Launch::new("k").arg(1u32), 1).unwrap_err();
    assert!(fault.message.contains("`elsewhere`, which this module does not define"), "{}", fault.message);
}

#[test]
fn calls_through_addresses_share_what_they_reach() {
    // Two prototypes of one layout, in two functions; and one of another layout.
    let call = |number: u32, argument: &str| {
        format!(
            "{{ .param .{argument} a; .param .b32 r; p{number}: .callprototype (.param .b32 _) _ (.param .{argument} _);
             call (r), %rd0, (a), p{number}; }}"
        )
    };
    let functions: String = (0..3)
        .map(|n| format!(".func (.param .b32 r) f{n}(.param .b32 a) {{ ret; }} .func (.param .b32 r) g{n}(.param .b64 a) {{ ret; }}\n"))
        .collect();
    let program = load(&format!(
        "{functions} .visible .entry k() {{ .reg .b64 %rd<1>; mov.u64 %rd0, f0; {} {} }}
         .visible .entry l() {{ .reg .b64 %rd<1>; mov.u64 %rd0, f0; {} {} }}",
        call(0, "b32"),
        call(1, "b64"),
        call(2, "b32"),
        call(3, "b32"),
    ));
    let mut sets = Vec::new();
    for pc in 0..program.operations() {
        if let Some(OperationKind::Call(call)) = program.operation(pc).map(|operation| operation.kind)
            && let Callee::Indirect(_, set) = call.callee
        {
            sets.push(set);
        }
    }
    let [first, wide, second, third] = sets[..] else { panic!("{sets:?}") };
    assert_eq!([second, third], [first; 2]);
    assert_ne!(first, wide);
    assert_eq!([first, wide].map(|set| program.candidates(set).len()), [3, 3]);
}
