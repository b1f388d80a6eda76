//! Programs that nvcc and Triton compiled give what they should, under many schedules and without a checker's finding: sorts, sums, trees on the heap, locks, calls of all
//! kinds, 128-bit numbers, the mathematical library, and Triton's kernels. Their sources are in `tests/real/src`.

mod abi;
mod algorithms;
mod matrices;
mod pipelines;
mod recent;
mod tensor;
mod textures;
mod tiles;
mod triton;
mod wmma;

use warpsmith::interp::{Arg, Buffer, Device, Launch, Plain, Program, Tensor};
use warpsmith::ptx::ValidatedModule;
use warpsmith::watch::{Checkers, Selection, Sources};

/// An argument of a kernel.
enum Given {
    /// A buffer with these bytes.
    Bytes(Vec<u8>),
    /// A buffer of so many zeros.
    Zeros(u64),
    Value(Arg),
    /// A tensor map for boxes, of a buffer with these bytes, which is not an argument itself.
    Map {
        bytes: Vec<u8>,
        tensor: Tensor,
        box_dim: Vec<u32>,
    },
}

fn buffer<T: Plain>(values: &[T]) -> Given {
    let mut bytes = Vec::new();
    values.iter().for_each(|v| v.put(&mut bytes));
    Given::Bytes(bytes)
}

/// Runs a kernel of a module of `tests/real` in the device's own order, with seeds, and under all checkers, which must be silent; `check` sees the
/// buffer of argument `out` each time.
fn run<T: Plain>(module: &str, shape: Launch, given: &[Given], out: usize, check: impl Fn(&[T])) {
    let report = run_and_report(module, shape, given, out, check);
    assert!(report.is_empty(), "{report}");
}

/// Runs a kernel as [`run`] does; the result is the report of the checkers.
fn run_and_report<T: Plain>(
    module: &str,
    shape: Launch,
    given: &[Given],
    out: usize,
    check: impl Fn(&[T]),
) -> String {
    let path = format!("{}/tests/real/{module}.ptx", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the module is part of the repository");
    let tree = ValidatedModule::parse(&source).expect("the module is valid");
    let program = Program::load_entry(&tree, &shape.entry)
        .unwrap_or_else(|errors| panic!("{module}, {}: {errors:#?}", shape.entry));
    for seed in [None, Some(1), Some(2), Some(3), Some(4), Some(5)] {
        let mut device = Device::new();
        let (mut launch, result) = prepare(&mut device, &shape, given, out);
        launch.seed = seed;
        if let Err(fault) = device.launch(&program, &launch) {
            panic!("{module}, {}, seed {seed:?}: {fault}", shape.entry);
        }
        println!("{module}, {}, seed {seed:?}", shape.entry);
        check(&device.download(result).expect("the buffer is there"));
    }
    let mut device = Device::new();
    let (launch, result) = prepare(&mut device, &shape, given, out);
    let mut checkers = Checkers::new(Selection::all());
    let outcome = device.launch_observed(&program, &launch, &mut checkers.observer());
    let report = checkers.into_report();
    println!("{module}, {}, watched", shape.entry);
    outcome.unwrap_or_else(|fault| panic!("{module}, {}, watched: {fault}", shape.entry));
    check(&device.download(result).expect("the buffer is there"));
    if report.is_empty() { String::new() } else { report.text(&Sources::new(module, &source, &tree)) }
}

/// The launch with its arguments on the device, and the buffer of argument `out`.
fn prepare(device: &mut Device, shape: &Launch, given: &[Given], out: usize) -> (Launch, Buffer) {
    let (mut launch, mut result) = (shape.clone(), None);
    for (index, given) in given.iter().enumerate() {
        let buffer = match given {
            Given::Bytes(bytes) => device.upload(bytes),
            Given::Zeros(bytes) => device.alloc(*bytes),
            Given::Value(arg) => {
                launch = launch.arg(arg.clone());
                continue;
            }
            Given::Map { bytes, tensor, box_dim } => {
                let buffer = device.upload(bytes).expect("there is room");
                let tensor = Tensor { global_address: buffer.address(), ..tensor.clone() };
                launch = launch.arg(tensor.encode_tiled(box_dim).expect("the map keeps the rules"));
                result = if index == out { Some(buffer) } else { result };
                continue;
            }
        };
        let buffer = buffer.expect("there is room");
        result = if index == out { Some(buffer) } else { result };
        launch = launch.arg(buffer);
    }
    (launch, result.expect("the result is a buffer"))
}

fn shape(entry: &str, grid: u32, block: u32) -> Launch {
    Launch::new(entry).grid([grid, 1, 1]).block([block, 1, 1])
}

fn noise(n: u32) -> impl Iterator<Item = i32> {
    (0..n).map(|i| (i.wrapping_mul(2_654_435_761) ^ i << 7) as i32)
}

fn words(n: u32) -> Vec<i32> {
    noise(n).collect()
}

/// Numbers from -scale to scale.
fn fractions(n: u32, scale: f64) -> Vec<f64> {
    noise(n).map(|v| f64::from(v) / f64::from(i32::MAX) * scale).collect()
}

fn sorted<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.sort();
    values
}
