//! The engine in thread instructions per second, on one core unless the name says otherwise.
//!
//!     cargo bench -p warpsmith-interp --bench engine

use divan::counter::ItemsCount;
use warpsmith_emit::Compiler;
use warpsmith_interp::engine::{Access, Level};
use warpsmith_interp::observe::{AccessKind, Addresses, At, Observer, Registers};
use warpsmith_interp::{Buffer, Device, Launch, Machine, Program};
use warpsmith_ir as ir;
use warpsmith_isa::{StateSpace, Target};
use warpsmith_ptx::ValidatedModule;

fn main() {
    divan::main();
}

/// A device at the level that the environment names: `WARPSMITH_LEVEL=avx2` or `baseline`.
fn device() -> Device {
    let mut machine = Machine::default();
    machine.level = match std::env::var("WARPSMITH_LEVEL").as_deref() {
        Ok("baseline") => Level::Baseline,
        Ok("avx2") => Level::Avx2,
        _ => Level::Avx512,
    };
    Device::with_machine(machine)
}

fn load(text: &str) -> Program {
    let module = ValidatedModule::parse(text).expect("the kernel is valid");
    Program::load(&module).expect("the kernel is supported")
}

/// A kernel of `examples/`, as our own compiler translates it.
fn compile(source: &str) -> Program {
    let module = ir::parse_module(source).expect("the example parses");
    let compiled = Compiler::new(Target::sm(80)).compile(&module).expect("the example compiles");
    load(&compiled.text)
}

/// What is measured.
pub type Measured = (Device, Program, Launch);

/// Measures a launch; its items are the thread instructions it executes.
pub fn measure(bencher: divan::Bencher, (device, program, launch): Measured) {
    let mut device = device;
    let stats = device.launch(&program, &launch).expect("the kernel runs");
    bencher
        .counter(ItemsCount::new(stats.thread_instructions))
        .bench_local(|| device.launch(&program, &launch).is_ok());
}

/// Integer arithmetic in registers: xorshift and a linear congruence.
const ALU: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry alu(.param .u64 out, .param .u32 n) {
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
loop:
    shl.b32 %r4, %r1, 13;
    xor.b32 %r1, %r1, %r4;
    shr.u32 %r4, %r1, 17;
    xor.b32 %r1, %r1, %r4;
    shl.b32 %r4, %r1, 5;
    xor.b32 %r1, %r1, %r4;
    mad.lo.u32 %r3, %r3, 1664525, %r1;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, %r0;
    @%p bra loop;
    mov.u32 %r5, %tid.x;
    mad.wide.u32 %rd1, %r5, 4, %rd0;
    st.global.u32 [%rd1], %r3;
    ret;
}";

/// A product of square matrices, tiles of 16 by 16 in shared memory, the inner loop unrolled.
fn matmul() -> String {
    let mut inner = String::new();
    for k in 0..16 {
        let (a, b) = (4 * k, 64 * k);
        inner += &format!(
            "ld.shared.f32 %f1, [%r10+{a}]; ld.shared.f32 %f2, [%r11+{b}]; fma.rn.f32 %f0, %f1, %f2, %f0;\n"
        );
    }
    format!(
        ".version 7.0
.target sm_80
.address_size 64
.visible .entry matmul(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {{
    .reg .b32 %r<20>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<4>;
    .reg .pred %p;
    .shared .f32 tile_a[256];
    .shared .f32 tile_b[256];
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [b];
    ld.param.u64 %rd2, [c];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ctaid.y;
    mad.lo.u32 %r5, %r3, 16, %r1;
    mad.lo.u32 %r6, %r4, 16, %r2;
    mov.u32 %r7, tile_a;
    mov.u32 %r8, tile_b;
    mad.lo.u32 %r10, %r2, 64, %r7;
    mad.lo.u32 %r11, %r1, 4, %r8;
    mad.lo.u32 %r12, %r1, 4, %r10;
    mad.lo.u32 %r13, %r2, 64, %r11;
    mov.f32 %f0, 0f00000000;
    mov.u32 %r14, 0;
loop:
    add.u32 %r15, %r14, %r1;
    mad.lo.u32 %r15, %r6, %r0, %r15;
    mad.wide.u32 %rd3, %r15, 4, %rd0;
    ld.global.f32 %f1, [%rd3];
    add.u32 %r15, %r14, %r2;
    mad.lo.u32 %r15, %r15, %r0, %r5;
    mad.wide.u32 %rd3, %r15, 4, %rd1;
    ld.global.f32 %f2, [%rd3];
    st.shared.f32 [%r12], %f1;
    st.shared.f32 [%r13], %f2;
    bar.sync 0;
{inner}
    bar.sync 0;
    add.u32 %r14, %r14, 16;
    setp.lt.u32 %p, %r14, %r0;
    @%p bra loop;
    mad.lo.u32 %r15, %r6, %r0, %r5;
    mad.wide.u32 %rd3, %r15, 4, %rd2;
    st.global.f32 [%rd3], %f0;
    ret;
}}"
    )
}

/// Lanes that leave a loop one by one, with a branch inside: steps of the Collatz sequence.
const DIVERGENT: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry divergent(.param .u64 out) {
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r1, %tid.x;
    add.u32 %r1, %r1, 27;
    mov.u32 %r2, 0;
loop:
    setp.eq.u32 %p0, %r1, 1;
    @%p0 bra done;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra even;
    mad.lo.u32 %r1, %r1, 3, 1;
    bra next;
even:
    shr.u32 %r1, %r1, 1;
next:
    add.u32 %r2, %r2, 1;
    bra loop;
done:
    mov.u32 %r5, %tid.x;
    mad.wide.u32 %rd1, %r5, 4, %rd0;
    st.global.u32 [%rd1], %r2;
    ret;
}";

/// A launch of the first kernel.
pub fn alu_loop_launch() -> Measured {
    let mut device = device();
    let out = device.alloc(4 * 256).expect("there is room");
    let launch = Launch::new("alu").grid([4, 1, 1]).block([256, 1, 1]).arg(out).arg(4000u32).workers(1);
    (device, load(ALU), launch)
}

#[divan::bench]
fn alu_loop(bencher: divan::Bencher) {
    measure(bencher, alu_loop_launch());
}

fn product(device: &mut Device, n: u32) -> Launch {
    let matrix = |seed: u32| (0..n * n).map(|i| ((i ^ seed) % 7) as f32).collect::<Vec<f32>>();
    let [a, b, c] = [1, 2, 3].map(|seed| -> Buffer { device.upload(&matrix(seed)).expect("there is room") });
    Launch::new("matmul").grid([n / 16, n / 16, 1]).block([16, 16, 1]).arg(a).arg(b).arg(c).arg(n)
}

/// A launch of the second.
pub fn tiled_matrix_product_launch() -> Measured {
    let mut device = device();
    let launch = product(&mut device, 128).workers(1);
    (device, load(&matmul()), launch)
}

#[divan::bench]
fn tiled_matrix_product(bencher: divan::Bencher) {
    measure(bencher, tiled_matrix_product_launch());
}

#[divan::bench(args = [1, 2])]
fn tiled_matrix_product_by_cores(bencher: divan::Bencher, cores: usize) {
    let mut device = device();
    let launch = product(&mut device, 128).workers(cores);
    measure(bencher, (device, load(&matmul()), launch));
}

/// Counts its events, so that the price of observation is measured.
#[derive(Default)]
struct Counter {
    instructions: u64,
    bytes: u64,
}

impl Observer for Counter {
    fn instruction(&mut self, at: &At<'_>, _: &Registers<'_>) {
        self.instructions += u64::from(at.mask.count_ones());
    }

    fn access(
        &mut self,
        at: &At<'_>,
        _: AccessKind,
        access: &Access,
        _: StateSpace,
        addresses: Addresses<'_>,
    ) {
        divan::black_box(addresses.of(at.mask.trailing_zeros() as usize));
        self.bytes += u64::from(at.mask.count_ones()) * u64::from(access.bytes);
    }
}

#[divan::bench]
fn tiled_matrix_product_watched(bencher: divan::Bencher) {
    let mut device = device();
    let launch = product(&mut device, 128);
    let program = load(&matmul());
    let mut counter = Counter::default();
    let stats = device.launch_observed(&program, &launch, &mut counter).expect("the kernel runs");
    bencher
        .counter(ItemsCount::new(stats.thread_instructions))
        .bench_local(|| device.launch_observed(&program, &launch, &mut counter).is_ok());
}

/// A launch of the divergent loop.
pub fn divergent_loop_launch() -> Measured {
    let mut device = device();
    let out = device.alloc(4 * 256).expect("there is room");
    let launch = Launch::new("divergent").grid([16, 1, 1]).block([256, 1, 1]).arg(out).workers(1);
    (device, load(DIVERGENT), launch)
}

#[divan::bench]
fn divergent_loop(bencher: divan::Bencher) {
    measure(bencher, divergent_loop_launch());
}

/// `examples/sha256.wir`: each thread hashes 1,000 bytes of its own. The ring of the message schedule is in local memory.
pub fn sha256_launch() -> Measured {
    let mut device = device();
    let text: Vec<u8> = (0..128 * 1000).map(|i: u32| ((i * 7) >> 3) as u8).collect();
    let text = device.upload(&text).expect("there is room");
    let starts: Vec<u32> = (0..128).map(|i| i * 1000).collect();
    let starts = device.upload(&starts).expect("there is room");
    let lengths = device.upload(&[1000u32; 128]).expect("there is room");
    let out = device.alloc(32 * 128).expect("there is room");
    let launch = Launch::new("sha256").grid([1, 1, 1]).block([128, 1, 1]).workers(1);
    let launch = launch.arg(128u32).arg(text).arg(starts).arg(lengths).arg(out);
    (device, compile(include_str!("../../examples/sha256.wir")), launch)
}

#[divan::bench]
fn sha256(bencher: divan::Bencher) {
    measure(bencher, sha256_launch());
}

/// `examples/matmul.wir`, a product of 64 by 64 matrices.
pub fn matmul_example_launch() -> Measured {
    let mut device = device();
    let matrix: Vec<f32> = (0..64 * 64).map(|i| (i % 7) as f32).collect();
    let [a, b, c] = [(); 3].map(|()| -> Buffer { device.upload(&matrix).expect("there is room") });
    let launch = Launch::new("matmul").grid([4, 4, 1]).block([16, 16, 1]).workers(1);
    let launch = launch.arg(64u32).arg(a).arg(b).arg(c);
    (device, compile(include_str!("../../examples/matmul.wir")), launch)
}

#[divan::bench]
fn matmul_example(bencher: divan::Bencher) {
    measure(bencher, matmul_example_launch());
}

/// `examples/mandelbrot.wir`: lanes leave the loop at their own times.
pub fn mandelbrot_launch() -> Measured {
    let mut device = device();
    let out = device.alloc(128 * 96).expect("there is room");
    let launch = Launch::new("mandelbrot").grid([8, 6, 1]).block([16, 16, 1]).workers(1);
    let launch = launch.arg(128u32).arg(96u32).arg(250u32).arg(-2.25f32).arg(-1.2f32).arg(0.025f32).arg(out);
    (device, compile(include_str!("../../examples/mandelbrot.wir")), launch)
}

#[divan::bench]
fn mandelbrot(bencher: divan::Bencher) {
    measure(bencher, mandelbrot_launch());
}

/// `examples/vm.wir`: a stack machine, threads of a warp run two different programs.
pub fn small_virtual_machine_launch() -> Measured {
    let mut device = device();
    let code: [i32; 64] = [
        0, 1, 1, 1, 8, 20, 1, 1, 4, 0, 1, 1, 0, 1, 5, 0, 2, 2, 7, 2, 10, 0, 0, 0, 1, 1, 0, 1, 5, 0, 8, 64, 1,
        1, 9, 0, 8, 52, 1, 1, 0, 3, 4, 0, 0, 1, 3, 0, 2, 2, 7, 58, 1, 1, 6, 0, 2, 2, 0, 1, 3, 0, 7, 24,
    ];
    let code = device.upload(&[&code[..], &[10, 0]].concat()).expect("there is room");
    let starts = device.upload(&[0i32, 22]).expect("there is room");
    let out = device.alloc(8 * 256).expect("there is room");
    let launch =
        Launch::new("vm").grid([1, 1, 1]).block([256, 1, 1]).workers(1).arg(code).arg(starts).arg(out);
    (device, compile(include_str!("../../examples/vm.wir")), launch)
}

#[divan::bench]
fn small_virtual_machine(bencher: divan::Bencher) {
    measure(bencher, small_virtual_machine_launch());
}

/// One block of one warp that does nearly nothing.
pub fn small_launch_launch() -> Measured {
    let mut device = device();
    let out = device.alloc(4 * 256).expect("there is room");
    let launch = Launch::new("alu").block([32, 1, 1]).workers(1).arg(out).arg(1u32);
    (device, load(ALU), launch)
}

/// The cost of a launch.
#[divan::bench]
fn small_launch(bencher: divan::Bencher) {
    measure(bencher, small_launch_launch());
}
