//! Regions of programs as machine code: accesses that follow rules and that do not, lanes that part and meet, loops, faults and limits. Memory, statistics
//! and faults are those of the interpreter, word for word.

mod accesses;
mod control;
mod patterns;
mod reused;
mod traces;
mod workers;

use std::sync::Arc;
use warpsmith_interp::engine::{CompiledRegion, Region, Tier};
use warpsmith_interp::{Device, Launch, Machine, NativeCode, Program};
use warpsmith_native::{accelerate, attach};
use warpsmith_ptx::ValidatedModule;

fn load(text: &str) -> Program {
    let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Bytes of the buffers that kernels have: `out`, and `in` of bytes that count.
const BYTES: usize = 1 << 14;

fn kernel(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[8] = {{ 3, 1, 4, 1, 5, 9, 2, 6 }};
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {{
    .reg .b32 %a<16>;
    .reg .f32 %f<8>;
    .reg .b64 %o, %i, %p<8>;
    .reg .pred %q<8>;
    .reg .b32 %t, %n;
    .local .align 16 .b8 own[64];
    .shared .align 16 .b8 tile[4096];
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    ld.param.u64 %i, [in];
    ld.param.u32 %n, [n];
    mad.wide.u32 %o, %t, 32, %o;
{body}
    ret;
}}
"
    )
}

/// Memory and statistics, or the fault.
fn outcome(program: &Program, threads: u32, n: u32, native: NativeCode, steps: Option<u64>) -> String {
    let mut machine = Machine::default();
    machine.native = native;
    let mut device = Device::with_machine(machine);
    let out = device.alloc(BYTES as u64).unwrap();
    let bytes: Vec<u8> = (0..BYTES).map(|i| (i * 37 + i / 256) as u8).collect();
    let input = device.upload(&bytes).unwrap();
    let mut launch =
        Launch::new("k").grid([2, 1, 1]).block([threads, 1, 1]).workers(1).arg(out).arg(input).arg(n);
    if let Some(steps) = steps {
        launch.limits.block_steps = steps;
    }
    match device.launch(program, &launch) {
        Ok(stats) => {
            let memory = device.read(out).unwrap();
            format!("{} {} {memory:?}", stats.warp_instructions, stats.thread_instructions)
        }
        Err(fault) => format!("{fault:?}"),
    }
}

#[track_caller]
fn same(body: &str, threads: u32, n: u32, steps: Option<u64>) -> String {
    let text = kernel(body);
    let plain = load(&text);
    let mut fast = plain.clone();
    let made = accelerate(&mut fast).unwrap_or_else(|error| panic!("{error}"));
    assert!(made.regions > 0, "nothing is compiled\n{text}");
    let expected = outcome(&plain, threads, n, NativeCode::Auto, steps);
    let found = outcome(&fast, threads, n, NativeCode::Auto, steps);
    assert!(expected == found, "{threads} threads\n{text}\n{expected}\n{found}");
    expected
}

const THREADS: [u32; 4] = [32, 7, 45, 96];

/// What is executed often is compiled on the way, and nothing where the machine says so.
#[test]
fn hot_regions() {
    // Enough arithmetic a round for machine code to pay.
    let body = "mov.u32 %a0, %t; mov.u32 %a2, 0; again: mad.lo.u32 %a0, %a0, 3, 1; shr.u32 %a1, %a0, 3; xor.b32 %a0, %a0, %a1; \
                mad.lo.u32 %a0, %a0, 5, 7; shr.u32 %a1, %a0, 9; xor.b32 %a0, %a0, %a1; add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %n; @%q1 bra again;";
    let text = kernel(&format!("{body}\n    st.global.u32 [%o], %a0;"));
    let plain = load(&text);
    let expected = outcome(&plain, 96, 9000, NativeCode::Auto, None);
    let mut program = plain.clone();
    attach(&mut program).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        outcome(&program, 96, 5, NativeCode::Auto, None),
        outcome(&plain, 96, 5, NativeCode::Off, None)
    );
    assert_eq!(program.compiled_regions().0, 0, "a small launch compiles nothing");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Off, None), expected);
    assert_eq!(program.compiled_regions().0, 0, "the machine says so");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    assert_eq!(
        program.compiled_regions().0,
        0,
        "compiling it would take a good part of the time of the launch"
    );
    // Rounds are counted from launch to launch.
    for _ in 0..20 {
        assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    }
    assert!(program.compiled_regions().0 > 0, "it is hot");
    assert_eq!(outcome(&program, 96, 9000, NativeCode::Auto, None), expected);
    let mut always = plain.clone();
    attach(&mut always).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        outcome(&always, 96, 5, NativeCode::Always, None),
        outcome(&plain, 96, 5, NativeCode::Auto, None)
    );
    assert!(always.compiled_regions().0 > 0, "all is compiled");
}

/// That lanes agree in what a called function reads says nothing of its caller, whose counters differ.
#[test]
fn lanes_that_agree_in_a_call() {
    let body = "and.b32 %a3, %t, 3; mov.u64 %p3, table; mov.u32 %a2, 0; mov.u32 %a0, 0; mov.u32 %a6, 0;
count: add.u32 %a2, %a2, 1; setp.lt.u32 %q6, %a2, %a3; @%q6 bra count;
rounds: call (%a5), mix, (%t);
    and.b32 %a4, %a2, 7; mul.wide.u32 %p2, %a4, 4; add.s64 %p4, %p3, %p2; ld.const.u32 %a7, [%p4];
    add.u32 %a0, %a0, %a7; xor.b32 %a0, %a0, %a5; add.u32 %a6, %a6, 1; setp.lt.u32 %q5, %a6, 20;
    @%q5 bra rounds;
    st.global.u32 [%o], %a0;";
    let mix = ".func (.reg .b32 %r) mix(.reg .b32 %x) {
    .reg .b32 %y;
    xor.b32 %y, %x, 77; add.u32 %y, %y, 3; mad.lo.u32 %r, %y, 5, %x;
    ret;
}
.visible .entry k(";
    let plain = load(&kernel(body).replacen(".visible .entry k(", mix, 1));
    let mut native = plain.clone();
    accelerate(&mut native).unwrap();
    for threads in THREADS {
        let run = |program: &Program, native| outcome(program, threads, 1, native, None);
        assert_eq!(run(&native, NativeCode::Always), run(&plain, NativeCode::Off), "{threads} threads");
    }
}

/// Refuses everything.
#[derive(Debug)]
struct Refusing;

// SAFETY: it makes no code.
unsafe impl Tier for Refusing {
    fn compile(&self, _: &Program, _: &Region<'_>) -> Result<Option<CompiledRegion>, String> {
        Err("there are too many registers".into())
    }
}

/// What the compiler refuses is interpreted, and the program says so.
#[test]
fn refused_regions_are_named() {
    let text = kernel("add.u32 %a0, %t, 3; xor.b32 %a0, %a0, %t; st.global.u32 [%o], %a0;");
    let plain = load(&text);
    let mut refused = plain.clone();
    refused.set_tier(Arc::new(Refusing));
    assert_eq!(refused.refused_regions(), [], "nothing was compiled yet");
    refused.compile_regions();
    let found = refused.refused_regions();
    assert!(!found.is_empty(), "it refuses everything");
    assert!(found.iter().all(|region| region.function == "k" && region.line > 0), "{found:?}");
    assert!(found.iter().all(|region| region.reason.contains("registers")), "{found:?}");
    let run = |program: &Program| outcome(program, 64, 1, NativeCode::Auto, None);
    assert_eq!(run(&refused), run(&plain));
}
