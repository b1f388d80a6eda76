//! What watching costs: thread instructions per second on one core, of the tiled matrix product.
//!
//!     cargo bench -p warpsmith-watch

use divan::counter::ItemsCount;
use warpsmith_interp::observe::Observer;
use warpsmith_interp::{Device, Launch, Program};
use warpsmith_ptx::ValidatedModule;
use warpsmith_watch::check::{Init, Memory, Race};
use warpsmith_watch::trace::{Filter, Trace};
use warpsmith_watch::{Checkers, Counts, Selection};

fn main() {
    divan::main();
}

/// A product of square matrices, tiles of 16 by 16 in shared memory, the inner loop unrolled; as in the engine's own bench.
const MATMUL: &str = include_str!("matmul.ptx");
const SIZE: u32 = 128;

fn program() -> Program {
    let module = ValidatedModule::parse(MATMUL).expect("the kernel is valid");
    Program::load(&module).expect("the kernel is supported")
}

fn launch(device: &mut Device) -> Launch {
    let matrix = |seed: u32| (0..SIZE * SIZE).map(|i| ((i ^ seed) % 7) as f32).collect::<Vec<f32>>();
    let [a, b, c] = [1, 2, 3].map(|seed| device.upload(&matrix(seed)).expect("there is room"));
    let blocks = [SIZE / 16, SIZE / 16, 1];
    Launch::new("matmul").grid(blocks).block([16, 16, 1]).arg(a).arg(b).arg(c).arg(SIZE).workers(1)
}

/// Measures launches under an observer that is new each time.
fn measure<O: Observer>(bencher: divan::Bencher, observer: impl Fn() -> O) {
    let mut device = Device::new();
    let (program, launch) = (program(), launch(&mut device));
    let stats = device.launch_observed(&program, &launch, &mut observer()).expect("the kernel runs");
    bencher.counter(ItemsCount::new(stats.thread_instructions)).bench_local(|| {
        let mut observer = observer();
        device.launch_observed(&program, &launch, &mut observer).is_ok()
    });
}

fn checked(bencher: divan::Bencher, selection: &str) {
    let selection: Selection = selection.parse().expect("these checkers exist");
    let mut device = Device::new();
    let (program, launch) = (program(), launch(&mut device));
    let stats = device.launch(&program, &launch).expect("the kernel runs");
    bencher.counter(ItemsCount::new(stats.thread_instructions)).bench_local(|| {
        let mut checkers = Checkers::new(selection);
        device.launch_observed(&program, &launch, &mut checkers.observer()).is_ok()
    });
}

#[divan::bench]
fn a_unwatched(bencher: divan::Bencher) {
    measure(bencher, || ());
}

#[divan::bench]
fn b_memory(bencher: divan::Bencher) {
    measure(bencher, Memory::new);
}

#[divan::bench]
fn c_init(bencher: divan::Bencher) {
    measure(bencher, Init::new);
}

#[divan::bench]
fn d_race(bencher: divan::Bencher) {
    measure(bencher, Race::new);
}

#[divan::bench]
fn e_memory_and_init_as_the_command_runs_them(bencher: divan::Bencher) {
    checked(bencher, "memory,init");
}

#[divan::bench]
fn f_all(bencher: divan::Bencher) {
    checked(bencher, "all");
}

#[divan::bench]
fn g_coverage(bencher: divan::Bencher) {
    measure(bencher, Counts::coverage);
}

#[divan::bench]
fn h_profile(bencher: divan::Bencher) {
    measure(bencher, Counts::profile);
}

#[divan::bench(sample_count = 3)]
fn i_trace(bencher: divan::Bencher) {
    measure(bencher, || Trace::new(std::io::sink(), Filter::default()));
}
