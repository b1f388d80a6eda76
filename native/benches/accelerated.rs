//! The engine's kernels with runs of arithmetic as machine code, beside the interpreter's own (`engine`), in one run; and what compiling them takes.
//! The examples among them are compiled by `warpsmith_emit`.
//!
//!     cargo bench -p warpsmith-native --bench accelerated

#[path = "../../runtime-interp/benches/engine.rs"]
#[allow(dead_code, reason = "the file is a bench of its own, too")]
mod engine;

use engine::{Measured, measure};
use warpsmith_native::accelerate;

fn main() {
    divan::main();
}

fn accelerated((device, mut program, launch): Measured) -> Measured {
    accelerate(&mut program).expect("this host has machine code");
    (device, program, launch)
}

macro_rules! kernels {
    ($($name:ident $launch:ident;)*) => {$(
        #[divan::bench]
        fn $name(bencher: divan::Bencher) {
            measure(bencher, accelerated(engine::$launch()));
        }
    )*};
}
kernels! {
    alu_loop alu_loop_launch;
    tiled_matrix_product tiled_matrix_product_launch;
    divergent_loop divergent_loop_launch;
    sha256 sha256_launch;
    matmul_example matmul_example_launch;
    mandelbrot mandelbrot_launch;
    small_virtual_machine small_virtual_machine_launch;
}

/// What it takes to compile the runs of `examples/sha256.wir`.
#[divan::bench]
fn compiling_sha256(bencher: divan::Bencher) {
    let (_, program, _) = engine::sha256_launch();
    let mut copy = program.clone();
    let operations = accelerate(&mut copy).expect("this host has machine code").operations;
    bencher
        .counter(divan::counter::ItemsCount::new(operations))
        .with_inputs(|| program.clone())
        .bench_local_values(|mut program| accelerate(&mut program).is_ok());
}
