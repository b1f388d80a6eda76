//! Fetches and accesses to surfaces per second, on one core: instructions of threads, of which the other ones of the loop are left out.
//!
//!     cargo bench -p warpsmith-interp --bench texture

use divan::counter::ItemsCount;
use warpsmith_interp::texture::{AddressMode, ChannelType, Filter, Format, Image, ReadMode, Sampler};
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;

fn main() {
    divan::main();
}

/// Rounds of the loop, in each of which `PER_ROUND` instructions are measured.
const ROUNDS: u32 = 256;
const PER_ROUND: u32 = 8;
const THREADS: u32 = 256;
const SIZE: u32 = 256;

/// A kernel that repeats an instruction on places that follow each other, `%f1` and `%f2` or `%r1` and `%r2`.
fn program(instruction: &str) -> Program {
    let body = format!("{instruction}\n add.f32 %f1, %f1, 0f3fa00000; add.s32 %r1, %r1, 4;\n")
        .repeat(PER_ROUND as usize);
    let source = format!(
        ".version 8.0 .target sm_80 .address_size 64
        .visible .entry k(.param .u64 h) {{ .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %h; .reg .pred %p;
        ld.param.u64 %h, [h]; mov.u32 %r0, %tid.x; shl.b32 %r8, %r0, 2; cvt.rn.f32.u32 %f0, %r0; mov.f32 %f2, 0f40200000; mov.u32 %r2, 3; mov.u32 %r3, 0;
        loop: mov.f32 %f1, %f0; mov.u32 %r1, %r8;\n{body}
        add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, {ROUNDS}; @%p bra loop; ret; }}"
    );
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors}"));
    Program::load(&module).unwrap_or_else(|errors| panic!("{errors}"))
}

fn measure(
    bencher: divan::Bencher,
    instruction: &str,
    ty: ChannelType,
    channels: u32,
    surface: bool,
    filter: Filter,
) {
    let image = Image::new(Format { ty, channels }, &[SIZE + 64, SIZE], None).expect("an image");
    let mut device = Device::new();
    let bytes: Vec<u8> = (0..image.bytes()).map(|i| (i % 61) as u8).collect();
    let texels = device.upload(&bytes).expect("there is room");
    let handle = if surface {
        device.create_surface(texels, &image)
    } else {
        let read = if ty.can_be_normalized() { ReadMode::NormalizedFloat } else { ReadMode::Element };
        let sampler = Sampler { filter, read, address: [AddressMode::Clamp; 3], ..Sampler::default() };
        device.create_texture(texels, &image, &sampler)
    };
    let launch = Launch::new("k").block([THREADS, 1, 1]).workers(1).arg(handle.expect("a handle"));
    let program = program(instruction);
    device.launch(&program, &launch).expect("the kernel runs");
    let items = u64::from(ROUNDS) * u64::from(PER_ROUND) * u64::from(THREADS);
    bencher.counter(ItemsCount::new(items)).bench_local(|| device.launch(&program, &launch).is_ok());
}

const FETCH: &str = "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%h, {%f1, %f2}];";

#[divan::bench]
fn bilinear_f32(bencher: divan::Bencher) {
    measure(bencher, FETCH, ChannelType::F32, 1, false, Filter::Linear);
}

#[divan::bench]
fn bilinear_u8(bencher: divan::Bencher) {
    measure(bencher, FETCH, ChannelType::U8, 1, false, Filter::Linear);
}

#[divan::bench]
fn bilinear_u8x4(bencher: divan::Bencher) {
    measure(bencher, FETCH, ChannelType::U8, 4, false, Filter::Linear);
}

#[divan::bench]
fn nearest_f32(bencher: divan::Bencher) {
    measure(bencher, FETCH, ChannelType::F32, 1, false, Filter::Nearest);
}

#[divan::bench]
fn nearest_u8x4(bencher: divan::Bencher) {
    measure(bencher, FETCH, ChannelType::U8, 4, false, Filter::Nearest);
}

#[divan::bench]
fn suld_b32(bencher: divan::Bencher) {
    measure(bencher, "suld.b.2d.b32.trap %r4, [%h, {%r1, %r2}];", ChannelType::U32, 1, true, Filter::Nearest);
}

#[divan::bench]
fn sust_b32(bencher: divan::Bencher) {
    measure(bencher, "sust.b.2d.b32.trap [%h, {%r1, %r2}], %r0;", ChannelType::U32, 1, true, Filter::Nearest);
}
