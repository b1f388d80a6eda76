//! Products of matrices from registers to registers, in operations per second: a multiplication and an addition are two.
//!
//!     cargo bench -p warpsmith-semantics --bench matrix

use divan::counter::ItemsCount;
use warpsmith_isa::{Mnemonic, forms};
use warpsmith_semantics::lanes::Level;
use warpsmith_semantics::matrix::{Architecture, Arithmetic, Inputs, WarpProduct, WarpWorkspace};

fn main() {
    divan::main();
}

const F16: &str = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
const HALF: &str = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
const BF16: &str = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const TF32: &str = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
const E4M3: &str = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
const S8: &str = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
const B1: &str = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc";
const F64: &str = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";

/// Products that are measured together, so that the clock is not.
const PRODUCTS: usize = 64;

/// Multiplies numbers about 1 again and again, the result being the next C.
fn multiply(bencher: divan::Bencher, text: &str, arithmetic: Arithmetic) {
    let mnemonic = Mnemonic::parse(text).expect("it is a mnemonic");
    let instruction = forms(&mnemonic).next().expect("it has a form");
    let product = WarpProduct::of(&instruction).expect("it is a product");
    let wide = if product.is_double() { 2 } else { 1 };
    let fill = |count: usize, word: u32| -> Vec<[u32; 32]> {
        (0..count * wide)
            .map(|r| std::array::from_fn(|lane| word ^ ((r * 37 + lane * 11) as u32 % 128)))
            .collect()
    };
    let word = if product.is_double() { 0x3ff0_0000 } else { 0x3c38_3c38 };
    let [a, b, c, _] = product.registers;
    let mut inputs =
        Inputs { matrices: [fill(a, word), fill(b, word), vec![[0; 32]; c * wide]], ..Inputs::default() };
    let mut workspace = WarpWorkspace::default();
    let mut d = Vec::new();
    let operations: usize = product.shape.iter().product::<usize>() * 2 * PRODUCTS;
    let level = Level::of_host();
    bencher.counter(ItemsCount::new(operations)).bench_local(|| {
        for _ in 0..PRODUCTS {
            let done = product.run(arithmetic, level, &mut workspace, &inputs, &mut d);
            assert!(done.is_ok());
            inputs.matrices[2].clone_from_slice(&d);
        }
    });
}

const HOPPER: Arithmetic = Arithmetic::Hardware(Architecture::Hopper);
const AMPERE: Arithmetic = Arithmetic::Hardware(Architecture::Ampere);

#[divan::bench]
fn f16_hopper(bencher: divan::Bencher) {
    multiply(bencher, F16, HOPPER);
}

#[divan::bench]
fn f16_ampere(bencher: divan::Bencher) {
    multiply(bencher, F16, AMPERE);
}

#[divan::bench]
fn f16_ideal(bencher: divan::Bencher) {
    multiply(bencher, F16, Arithmetic::Ideal);
}

#[divan::bench]
fn f16_to_f16(bencher: divan::Bencher) {
    multiply(bencher, HALF, HOPPER);
}

#[divan::bench]
fn bf16(bencher: divan::Bencher) {
    multiply(bencher, BF16, HOPPER);
}

#[divan::bench]
fn tf32(bencher: divan::Bencher) {
    multiply(bencher, TF32, HOPPER);
}

#[divan::bench]
fn e4m3(bencher: divan::Bencher) {
    multiply(bencher, E4M3, HOPPER);
}

#[divan::bench]
fn s8(bencher: divan::Bencher) {
    multiply(bencher, S8, HOPPER);
}

#[divan::bench]
fn b1(bencher: divan::Bencher) {
    multiply(bencher, B1, HOPPER);
}

#[divan::bench]
fn f64(bencher: divan::Bencher) {
    multiply(bencher, F64, HOPPER);
}
