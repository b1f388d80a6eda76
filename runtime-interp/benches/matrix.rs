//! Kernels of Triton on tensor cores, on one core: a product of 512 x 512 x 512 halves, and causal attention of one head of 1,024 rows of 64.
//!
//!     cargo bench -p warpsmith-interp --bench matrix

use divan::counter::ItemsCount;
use warpsmith_interp::{Architecture, Arg, Arithmetic, Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;

fn main() {
    divan::main();
}

/// A kernel of `tests/real/triton`.
fn load(name: &str, entry: &str) -> Program {
    let path = format!("{}/../tests/real/triton/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let module = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors}"));
    Program::load_entry(&module, entry).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Halves about 1.
fn halves(count: usize) -> Vec<u16> {
    (0..count as u32).map(|i| 0x3800 | (i.wrapping_mul(0x9e37_79b9) >> 21) as u16).collect()
}

/// Launches again and again; a multiplication and an addition are two operations.
fn measure(
    bencher: divan::Bencher,
    mut device: Device,
    program: &Program,
    launch: Launch,
    operations: usize,
) {
    device.launch(program, &launch).unwrap_or_else(|fault| panic!("{fault}"));
    bencher.counter(ItemsCount::new(operations)).bench_local(|| device.launch(program, &launch).is_ok());
}

fn product(bencher: divan::Bencher, name: &str, arithmetic: Arithmetic) {
    const SIDE: usize = 512;
    let mut device = Device::new();
    let [a, b] = [(); 2].map(|()| device.upload(&halves(SIDE * SIDE)).expect("there is room"));
    let [c, scratch] = [SIDE * SIDE * 4, 16].map(|bytes| device.alloc(bytes as u64).expect("there is room"));
    let tiles = (SIDE / 32) as u32;
    let mut launch =
        Launch::new("product").grid([tiles, tiles, 1]).block([128, 1, 1]).dynamic_shared(32 << 10).workers(1);
    launch.arithmetic = Some(arithmetic);
    launch.args = vec![a.into(), b.into(), c.into()];
    launch.args.extend([Arg::from(SIDE as i32), Arg::from(SIDE as i32), Arg::from(SIDE as i32)]);
    launch.args.extend([scratch.into(), scratch.into()]);
    measure(bencher, device, &load(name, "product"), launch, 2 * SIDE * SIDE * SIDE);
}

const AMPERE: Arithmetic = Arithmetic::Hardware(Architecture::Ampere);
const HOPPER: Arithmetic = Arithmetic::Hardware(Architecture::Hopper);

#[divan::bench(sample_count = 10)]
fn product_512_ampere(bencher: divan::Bencher) {
    product(bencher, "product_f16.sm_80", AMPERE);
}

#[divan::bench(sample_count = 10)]
fn product_512_hopper(bencher: divan::Bencher) {
    product(bencher, "product_f16.sm_90", HOPPER);
}

#[divan::bench(sample_count = 10)]
fn product_512_ideal(bencher: divan::Bencher) {
    product(bencher, "product_f16.sm_90", Arithmetic::Ideal);
}

#[divan::bench(sample_count = 10)]
fn attention_1024_by_64(bencher: divan::Bencher) {
    const ROWS: usize = 1024;
    const WIDTH: usize = 64;
    let mut device = Device::new();
    let [q, k, v] = [(); 3].map(|()| device.upload(&halves(ROWS * WIDTH)).expect("there is room"));
    let [out, scratch] =
        [ROWS * WIDTH * 4, 16].map(|bytes| device.alloc(bytes as u64).expect("there is room"));
    let mut launch = Launch::new("causal")
        .grid([(ROWS / 32) as u32, 1, 1])
        .block([128, 1, 1])
        .dynamic_shared(32 << 10)
        .workers(1);
    launch.args = vec![q.into(), k.into(), v.into(), out.into(), Arg::from(ROWS as i32), Arg::from(0.125f32)];
    launch.args.extend([scratch.into(), scratch.into()]);
    // Two products of half of a square of tiles.
    measure(bencher, device, &load("causal_f16.sm_80", "causal"), launch, 2 * ROWS * ROWS * WIDTH);
}
