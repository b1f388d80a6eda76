//! Programs whose regions are machine code give what the interpreter gives: memory, statistics, faults.

use arbitrary::Unstructured;
use warpsmith_interp::{Arg, Device, Launch, Program, Schedule};
use warpsmith_native::accelerate;
use warpsmith_ptx::ValidatedModule;
use warpsmith_smith::ptx::{Config, program};
use warpsmith_smith::{BLOCK, BYTES_PER_THREAD, GRID, INPUT_BYTES, THREADS};

fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

fn load(text: &str) -> Program {
    let module = ValidatedModule::parse(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Memory and statistics, or the fault, of a launch with two buffers first.
fn outcome(program: &Program, launch: &Launch, out: &[u8], input: &[u8], rest: &[Arg]) -> String {
    let mut device = Device::new();
    let (out, input) = (device.upload(out).unwrap(), device.upload(input).unwrap());
    let mut launch = launch.clone().arg(out);
    // The generator's kernels have the number of threads between the buffers.
    let (before, after) = if rest.is_empty() { (rest, rest) } else { rest.split_at(1) };
    for arg in before {
        launch = launch.arg(arg.clone());
    }
    launch = launch.arg(input);
    for arg in after {
        launch = launch.arg(arg.clone());
    }
    match device.launch(program, &launch) {
        Ok(stats) => format!(
            "{} {} {:?}",
            stats.warp_instructions,
            stats.thread_instructions,
            device.read(out).unwrap()
        ),
        Err(fault) => format!("{fault:?}"),
    }
}

/// What is compiled, on operands `%a %b %c` of its type; `d` is the destination.
const OPERATIONS: &[(&str, &str)] = &[
    ("b32", "add.u32 d, %a, %b"),
    ("b32", "add.s32 d, %a, -77"),
    ("b32", "sub.s32 d, %b, %c"),
    ("b32", "mul.lo.u32 d, %a, %c"),
    ("b32", "mad.lo.s32 d, %a, %b, %c"),
    ("b32", "and.b32 d, %a, %b"),
    ("b32", "or.b32 d, %a, 4080"),
    ("b32", "xor.b32 d, %a, %c"),
    ("b32", "not.b32 d, %c"),
    ("b32", "mov.u32 d, %b"),
    ("b32", "mov.f32 d, 0f3fc00000"),
    ("b32", "shl.b32 d, %a, 13"),
    ("b32", "shl.b32 d, %a, 32"),
    ("b32", "shr.u32 d, %a, 5"),
    ("b32", "shr.u32 d, %a, 40"),
    ("b32", "shr.s32 d, %a, 7"),
    ("b32", "shr.s32 d, %a, 33"),
    ("b32", "shf.l.wrap.b32 d, %a, %b, 7"),
    ("b32", "shf.l.wrap.b32 d, %a, %b, 32"),
    ("b32", "shf.r.wrap.b32 d, %a, %b, 29"),
    ("b32", "shf.r.wrap.b32 d, %a, %b, 64"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0x96"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0xe8"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0xca"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0x1b"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0x40"),
    ("b32", "lop3.b32 d, %a, %b, %c, 0x2f"),
    ("b32", "prmt.b32 d, %a, %b, 0x0123"),
    ("b32", "cvt.rn.f32.u32 d, %a"),
    ("b32", "cvt.rn.f32.s32 d, %b"),
    ("b32", "prmt.b32 d, %a, %b, 0x7250"),
    ("b32", "min.s32 d, %a, %b"),
    ("b32", "max.s32 d, %a, %b"),
    ("b32", "min.u32 d, %a, %b"),
    ("b32", "max.u32 d, %a, %b"),
    ("b32", "selp.b32 d, %a, %b, %p"),
    ("b32", "cvt.u32.u64 d, %wa"),
    ("b32", "add.f32 d, %a, %b"),
    ("b32", "sub.f32 d, %a, %b"),
    ("b32", "mul.f32 d, %a, %b"),
    ("b32", "fma.rn.f32 d, %a, %b, %c"),
    ("b64", "add.u64 d, %wa, %wb"),
    ("b64", "sub.s64 d, %wa, 5"),
    ("b64", "mul.lo.u64 d, %wa, %wb"),
    ("b64", "mad.lo.u64 d, %wa, %wb, %wc"),
    ("b64", "and.b64 d, %wa, %wb"),
    ("b64", "xor.b64 d, %wa, 0x123456789abcdef0"),
    ("b64", "not.b64 d, %wa"),
    ("b64", "mov.b64 d, %wc"),
    ("b64", "shl.b64 d, %wa, 13"),
    ("b64", "shl.b64 d, %wa, 64"),
    ("b64", "shr.u64 d, %wa, 33"),
    ("b64", "shr.s64 d, %wa, 3"),
    ("b64", "shr.s64 d, %wa, 99"),
    ("b64", "mul.wide.u32 d, %a, %b"),
    ("b64", "mul.wide.s32 d, %a, %b"),
    ("b64", "mad.wide.u32 d, %a, %b, %wc"),
    ("b64", "mad.wide.s32 d, %a, 12, %wc"),
    ("b64", "selp.b64 d, %wa, %wb, %p"),
    ("b64", "cvt.u64.u32 d, %a"),
    ("b64", "cvt.s64.s32 d, %a"),
    ("b64", "add.f64 d, %wa, %wb"),
    ("b64", "sub.f64 d, %wa, %wb"),
    ("b64", "mul.f64 d, %wa, %wb"),
    ("b64", "fma.rn.f64 d, %wa, %wb, %wc"),
    ("pred", "setp.eq.u32 d, %a, %b"),
    ("pred", "setp.ne.s32 d, %a, %c"),
    ("pred", "setp.lt.s32 d, %a, %b"),
    ("pred", "setp.lt.u32 d, %a, %b"),
    ("pred", "setp.hs.u32 d, %a, 77"),
    ("pred", "setp.le.s64 d, %wa, %wb"),
    ("pred", "setp.gt.u64 d, %wa, %wb"),
    ("pred", "setp.lt.f32 d, %a, %b"),
    ("pred", "setp.neu.f32 d, %a, %b"),
    ("pred", "setp.num.f32 d, %a, %b"),
    ("pred", "setp.ge.f64 d, %wa, %wb"),
    ("pred", "setp.nan.f64 d, %wa, %wb"),
];

/// An operation without a guard, with one, with its negation, and of what it gave; then the same where some lanes have gone another way.
fn kernel(class: &str, operation: &str) -> String {
    let text = |d: &str| operation.replace(" d,", &format!(" {d},"));
    let prefix = match class {
        "b32" => "%d",
        "b64" => "%w",
        _ => "%q",
    };
    let lines = |first: usize| {
        let [d0, d1, d2] = [0, 1, 2].map(|n| format!("{prefix}{}", first + n));
        let again = match class {
            "b32" => format!("xor.b32 {d0}, {d0}, %c;"),
            "b64" => format!("add.u64 {d0}, {d0}, %wc;"),
            _ => format!("selp.b32 %c, %a, %c, {d0};"),
        };
        format!("    {};\n    @%p {};\n    @!%p {};\n    {again}\n", text(&d0), text(&d1), text(&d2))
    };
    let mut stores = String::new();
    for n in 0..6 {
        let at = 8 * n;
        stores += &match class {
            "b32" => format!("    st.global.b32 [%o+{at}], %d{n};\n"),
            "b64" => format!("    st.global.b64 [%o+{at}], %w{n};\n"),
            _ => format!("    selp.b32 %d{n}, 1, 0, %q{n};\n    st.global.b32 [%o+{at}], %d{n};\n"),
        };
    }
    let (first, second) = (lines(0), lines(3));
    format!(
        ".version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {{
    .reg .b32 %a, %b, %c, %t, %d<6>;
    .reg .b64 %wa, %wb, %wc, %i, %o, %w<6>;
    .reg .pred %p, %q<6>;
    mov.u32 %t, %tid.x;
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    mad.wide.u32 %i, %t, 48, %i;
    mad.wide.u32 %o, %t, 64, %o;
    ld.global.b32 %a, [%i];
    ld.global.b32 %b, [%i+4];
    ld.global.b32 %c, [%i+8];
    ld.global.b64 %wa, [%i+16];
    ld.global.b64 %wb, [%i+24];
    ld.global.b64 %wc, [%i+32];
    ld.global.b32 %d3, [%i+40];
    and.b32 %d4, %d3, 3;
    setp.ne.u32 %p, %d4, 0;
    mov.b32 %d0, 0; mov.b32 %d1, 1; mov.b32 %d2, 2; mov.b32 %d3, 3; mov.b32 %d4, 4; mov.b32 %d5, 5;
    mov.b64 %w0, 0; mov.b64 %w1, 1; mov.b64 %w2, 2; mov.b64 %w3, 3; mov.b64 %w4, 4; mov.b64 %w5, 5;
    setp.eq.u32 %q0, %t, 1; setp.eq.u32 %q1, %t, 2; setp.eq.u32 %q2, %t, 3;
    setp.ne.u32 %q3, %t, 4; setp.ne.u32 %q4, %t, 5; setp.ne.u32 %q5, %t, 6;
    bra.uni here;
here:
{first}    and.b32 %t, %t, 2;
    setp.eq.u32 %q5, %t, 0;
    @%q5 bra over;
{second}over:
{stores}    st.global.b32 [%o+48], %c;
    ret;
}}
"
    )
}

/// Operands among which there are equal ones, the numbers at the edges, and NaNs.
fn operands() -> Vec<u8> {
    let mut bytes = random_bytes(9, 48 * 96);
    let edges32: [u32; 8] = [0, 1, u32::MAX, 1 << 31, 0x7fff_ffff, 0x7fc0_1234, 0xff80_0000, 0x3f80_0000];
    let edges64: [u64; 8] = [
        0,
        u64::MAX,
        1 << 63,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff4_0000_0000_0001,
        0xfff8_0000_0000_0123,
        0x3ff0_0000_0000_0000,
    ];
    for thread in 0..96 {
        let row = 48 * thread;
        if thread % 3 == 0 {
            for n in 0..3 {
                let edge = edges32[(thread / 3 + n * (thread / 24 + 1)) % 8];
                bytes[row + 4 * n..row + 4 * n + 4].copy_from_slice(&edge.to_le_bytes());
                let edge = edges64[(thread / 3 + 3 * n + thread / 24) % 8];
                bytes[row + 16 + 8 * n..row + 24 + 8 * n].copy_from_slice(&edge.to_le_bytes());
            }
        }
    }
    bytes
}

#[test]
fn every_operation_that_is_compiled() {
    let input = operands();
    for (class, operation) in OPERATIONS {
        // What is compiled of a kernel whose operation is not.
        let other = match *class {
            "b32" => "popc.b32 d, %a",
            "b64" => "rem.u64 d, %wa, %wb",
            _ => "testp.finite.f32 d, %a",
        };
        let others = accelerate(&mut load(&kernel(class, other))).unwrap().operations;
        let text = kernel(class, operation);
        let plain = load(&text);
        let mut fast = plain.clone();
        let made = accelerate(&mut fast).unwrap_or_else(|error| panic!("{error}\n{text}"));
        // It is there six times.
        assert!(made.operations >= others + 6, "`{operation}` is not compiled: {made:?}");
        for threads in [32, 45, 96] {
            let launch = Launch::new("k").block([threads, 1, 1]);
            let [expected, found] =
                [&plain, &fast].map(|program| outcome(program, &launch, &vec![0; 64 * 96], &input, &[]));
            assert_eq!(expected, found, "`{operation}`, {threads} threads\n{text}");
        }
    }
}

/// Modifiers change what an operation is: these are left to the engine.
#[test]
fn operations_that_look_like_others() {
    let input = operands();
    for operation in [
        "min.relu.s32 d, %a, %b",
        "max.relu.s32 d, %b, %a",
        "add.sat.s32 d, %a, %b",
        "add.ftz.f32 d, %a, %b",
        "fma.rz.f32 d, %a, %b, %c",
        "shf.l.clamp.b32 d, %a, %b, 40",
        "prmt.b32.f4e d, %a, %b, 2",
    ] {
        let text = kernel("b32", operation).replace("sm_80", "sm_90").replace(".version 7.0", ".version 8.0");
        let plain = load(&text);
        let mut fast = plain.clone();
        accelerate(&mut fast).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let launch = Launch::new("k").block([96, 1, 1]);
        let [expected, found] =
            [&plain, &fast].map(|program| outcome(program, &launch, &vec![0; 64 * 96], &input, &[]));
        assert_eq!(expected, found, "`{operation}`\n{text}");
    }
}

#[test]
fn random_programs() {
    let mut runs = 0;
    arbtest::arbtest(|u: &mut Unstructured| {
        runs += random_program(u)?;
        Ok(())
    })
    .budget_ms(4_000);
    assert!(runs > 0, "no program had a run");
}

/// A `min.relu` that was executed as a `min`.
#[test]
fn a_program_that_differed() {
    arbtest::arbtest(|u: &mut Unstructured| random_program(u).map(|_| ())).seed(0xe362_a574_0001_0000);
}

fn random_program(u: &mut Unstructured) -> arbitrary::Result<usize> {
    let text = program(u, &Config::default())?.text;
    let plain = load(&text);
    let mut fast = plain.clone();
    let made = accelerate(&mut fast).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let input = random_bytes(u.arbitrary()?, INPUT_BYTES as usize);
    let rest: [Arg; 4] = [THREADS.into(), 0x0123_4567_89ab_cdefu64.into(), 1.25f32.into(), (-3.5f64).into()];
    let out = vec![0; (GRID * BLOCK * BYTES_PER_THREAD) as usize];
    for (schedule, seed) in [(None, None), (Some(Schedule::Random), Some(1))] {
        let mut launch = Launch::new("k").grid([GRID, 1, 1]).block([BLOCK, 1, 1]).workers(1);
        (launch.schedule, launch.seed) = (schedule, seed);
        let [expected, found] = [&plain, &fast].map(|program| outcome(program, &launch, &out, &input, &rest));
        assert!(expected == found, "{schedule:?}\n{text}\n{expected}\n{found}");
    }
    Ok(made.regions)
}
