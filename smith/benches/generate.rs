//! How many instructions the generators write a second, on one core.
//!
//!     cargo bench -p warpsmith-smith --bench generate

use arbitrary::Unstructured;
use divan::counter::ItemsCount;
use warpsmith_ir::Module;
use warpsmith_smith::{Random, ir, ptx};

fn main() {
    divan::main();
}

/// Programs of one round, each of a seed.
const SEEDS: u64 = 64;

/// Random bytes of a program.
const SIZES: [usize; 2] = [512, 2048];

fn inputs(size: usize) -> Vec<Vec<u8>> {
    (0..SEEDS).map(|seed| Random::new(seed).bytes(size)).collect()
}

fn module(bytes: &[u8]) -> Option<Module> {
    ir::module(&mut Unstructured::new(bytes), &ir::Config::default()).ok()
}

fn instructions(module: &Module) -> usize {
    let insts = |func: &warpsmith_ir::Function| -> usize {
        func.layout.blocks().map(|block| func.layout.insts(block).count()).sum()
    };
    module.functions.values().map(insts).sum()
}

#[divan::bench(args = SIZES)]
fn modules(bencher: divan::Bencher, size: usize) {
    let inputs = inputs(size);
    let count: usize =
        inputs.iter().filter_map(|bytes| module(bytes)).map(|module| instructions(&module)).sum();
    bencher.counter(ItemsCount::new(count)).bench(|| inputs.iter().filter_map(|bytes| module(bytes)).count());
}

#[divan::bench(args = SIZES)]
fn texts_of_modules(bencher: divan::Bencher, size: usize) {
    let inputs = inputs(size);
    let count: usize =
        inputs.iter().filter_map(|bytes| module(bytes)).map(|module| instructions(&module)).sum();
    bencher.counter(ItemsCount::new(count)).bench(|| {
        inputs.iter().filter_map(|bytes| module(bytes)).map(|module| module.to_string().len()).sum::<usize>()
    });
}

#[divan::bench(args = SIZES)]
fn ptx_programs(bencher: divan::Bencher, size: usize) {
    let inputs = inputs(size);
    let program = |bytes: &Vec<u8>| ptx::program(&mut Unstructured::new(bytes), &ptx::Config::default()).ok();
    let count: usize = inputs.iter().filter_map(program).map(|program| program.instructions).sum();
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| inputs.iter().filter_map(program).map(|program| program.text.len()).sum::<usize>());
}
