//! Kernels of Triton (`corpus/triton`): masked accesses in assembly, halves in pairs, products of tensor cores, also in the background. Compiled without
//! optimisation and with, they leave what they were written to compute.

use warpsmith_emit::{Compiler, OptLevel};
use warpsmith_interp::{Buffer, Device, Launch, Program};
use warpsmith_isa::Target;
use warpsmith_llvm::{Module, Options, import};

/// What is launched: bitcode, the kernel, its target, warps and bytes of shared memory.
struct Kernel {
    bitcode: &'static [u8],
    name: &'static str,
    target: &'static str,
    shared: u32,
}

impl Kernel {
    /// Compiles at two levels and launches blocks of four warps: `given` are the arguments but for the two addresses of memory for Triton's own use.
    /// The elements of the buffer that the kernel writes, after each.
    fn run(&self, grid: [u32; 3], given: impl Fn(&mut Device) -> (Launch, Buffer)) -> Vec<Vec<u8>> {
        let target: Target = self.target.parse().expect("a target");
        let module = Module::read(self.bitcode).expect("a module");
        let options = Options::new().with_target(target);
        let module = import(vec![(self.name.to_owned(), module)], &options).unwrap_or_else(|errors| {
            panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        });
        let run = |level: OptLevel| {
            let compiled = Compiler::new(target).with_opt_level(level).compile(&module);
            let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
            let program = Program::load(&compiled.module).unwrap_or_else(|errors| panic!("{errors}"));
            let mut device = Device::new();
            let (launch, out) = given(&mut device);
            let launch = launch.arg(0u64).arg(0u64).grid(grid).block([128, 1, 1]);
            let launch = launch.dynamic_shared(self.shared);
            let done = device.launch(&program, &launch);
            done.unwrap_or_else(|fault| panic!("{} at -{level}: {fault}", self.name));
            device.download::<u8>(out).expect("the buffer")
        };
        vec![run(OptLevel::O0), run(OptLevel::O2)]
    }
}

/// The bits of a half that is no less than 2^-14, or zero.
fn half(x: f32) -> u16 {
    let bits = x.to_bits();
    let magnitude = if x == 0.0 { 0 } else { ((bits >> 13 & 0x3_ffff) - (112 << 10)) as u16 };
    (bits >> 16 & 0x8000) as u16 | magnitude
}

/// A finite half.
fn from_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

fn halves(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(2).map(|two| from_half(u16::from_le_bytes([two[0], two[1]]))).collect()
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]).into())
        .collect()
}

/// Small numbers of both signs.
fn numbers(count: usize, step: usize, range: usize) -> Vec<f32> {
    (0..count).map(|n| (n * step % range) as f32 - (range / 2) as f32).collect()
}

#[track_caller]
fn assert_near(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (n, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let apart = (found - wanted).abs();
        assert!(apart <= tolerance * wanted.abs().max(0.01), "element {n}: {found}, not {wanted}");
    }
}

/// A product of `m` x `k` and `k` x `n` elements; of a ragged one the strides are parameters.
fn product(kernel: &Kernel, [m, n, k]: [usize; 3], e5m2: bool, ragged: bool, tile: usize) {
    let (a, b) = (numbers(m * k, 7, 9), numbers(k * n, 5, 7));
    let grid = [(m.div_ceil(tile) * n.div_ceil(tile)) as u32, 1, 1];
    let bytes = |values: &[f32]| -> Vec<u8> {
        let bits = values.iter().map(|&x| half(x).to_le_bytes());
        // The upper byte of a half is the same number as E5M2.
        bits.flat_map(|[low, high]| if e5m2 { vec![high] } else { vec![low, high] }).collect()
    };
    let runs = kernel.run(grid, |device| {
        let (a, b) = (device.upload(&bytes(&a)).unwrap(), device.upload(&bytes(&b)).unwrap());
        let c = device.upload(&vec![0u16; m * n]).unwrap();
        let mut launch = Launch::new("product").arg(a).arg(b).arg(c);
        let strides: &[usize] = if ragged { &[m, n, k, k, 1, n, 1, n, 1] } else { &[m, n, k, k, n, n] };
        for &number in strides {
            launch = launch.arg(number as i32);
        }
        (launch, c)
    });
    let mut wanted = Vec::with_capacity(m * n);
    for row in 0..m {
        for column in 0..n {
            let terms = (0..k).map(|at| f64::from(a[row * k + at]) * f64::from(b[at * n + column]));
            let sum: f64 = terms.sum();
            wanted.push(if ragged && sum < 0.0 { sum / 64.0 } else { sum });
        }
    }
    for run in runs {
        assert_near(&halves(&run), &wanted, 1e-3);
    }
}

#[test]
fn products_of_halves() {
    let bitcode = include_bytes!("corpus/triton/product_80.bc");
    let kernel = Kernel { bitcode, name: "product_80", target: "sm_80", shared: 32768 };
    product(&kernel, [128, 256, 96], false, false, 128);
}

#[test]
fn products_of_bytes() {
    let bitcode = include_bytes!("corpus/triton/product_e5m2_80.bc");
    let kernel = Kernel { bitcode, name: "product_e5m2_80", target: "sm_80", shared: 16384 };
    product(&kernel, [64, 128, 128], true, false, 64);
}

#[test]
fn products_of_ragged_matrices() {
    let bitcode = include_bytes!("corpus/triton/product_ragged_90.bc");
    let kernel = Kernel { bitcode, name: "product_ragged_90", target: "sm_90a", shared: 8192 };
    product(&kernel, [75, 70, 50], false, true, 64);
}

#[test]
fn products_in_the_background() {
    let bitcode = include_bytes!("corpus/triton/product_90.bc");
    let kernel = Kernel { bitcode, name: "product_90", target: "sm_90a", shared: 49152 };
    product(&kernel, [128, 256, 160], false, false, 128);
}

#[test]
fn products_in_tensor_memory() {
    let bitcode = include_bytes!("corpus/triton/product_100.bc");
    let kernel = Kernel { bitcode, name: "product_100", target: "sm_100a", shared: 49168 };
    product(&kernel, [128, 256, 160], false, false, 128);
}

#[test]
fn attention_with_factors_in_registers() {
    const N: usize = 128;
    const D: usize = 64;
    let bitcode = include_bytes!("corpus/triton/attention_90.bc");
    let kernel = Kernel { bitcode, name: "attention_90", target: "sm_90a", shared: 57344 };
    let [q, k, v] =
        [5, 3, 11].map(|step| numbers(N * D, step, 17).into_iter().map(|x| x / 8.0).collect::<Vec<f32>>());
    let runs = kernel.run([(N / 64) as u32, 1, 1], |device| {
        let mut launch = Launch::new("attention");
        for values in [&q, &k, &v] {
            let bits: Vec<u16> = values.iter().map(|&x| half(x)).collect();
            launch = launch.arg(device.upload(&bits).unwrap());
        }
        let o = device.upload(&vec![0u16; N * D]).unwrap();
        (launch.arg(o).arg(0.125f32).arg(D as i32).arg(N as i32), o)
    });
    let element = |values: &[f32], row: usize, n: usize| f64::from(values[row * D + n]);
    let mut wanted = Vec::with_capacity(N * D);
    for row in 0..N {
        let weight =
            |key: usize| (0..D).map(|n| element(&q, row, n) * element(&k, key, n)).sum::<f64>() * 0.125;
        let weights: Vec<f64> = (0..N).map(|key| weight(key).exp2()).collect();
        let total: f64 = weights.iter().sum();
        for n in 0..D {
            wanted.push((0..N).map(|key| weights[key] * element(&v, key, n)).sum::<f64>() / total);
        }
    }
    for run in runs {
        for (found, wanted) in halves(&run).iter().zip(&wanted) {
            assert!((found - wanted).abs() < 4e-3, "{found}, not {wanted}");
        }
    }
}

#[test]
fn exponentials_of_masked_rows() {
    const STRIDE: usize = 800;
    const N: usize = 781;
    let bitcode = include_bytes!("corpus/triton/softmax_90.bc");
    let kernel = Kernel { bitcode, name: "softmax_90", target: "sm_90a", shared: 16 };
    let x: Vec<f32> = numbers(2 * STRIDE, 13, 41).into_iter().map(|x| x / 4.0).collect();
    let runs = kernel.run([2, 1, 1], |device| {
        let o = device.upload(&vec![-1f32; 2 * STRIDE]).unwrap();
        let x = device.upload(&x).unwrap();
        (Launch::new("softmax").arg(o).arg(x).arg(STRIDE as i32).arg(N as i32), o)
    });
    for run in runs {
        for (found, row) in floats(&run).chunks(STRIDE).zip(x.chunks(STRIDE)) {
            let total: f64 = row[..N].iter().map(|&x| f64::from(x).exp()).sum();
            let wanted: Vec<f64> = row[..N].iter().map(|&x| f64::from(x).exp() / total).collect();
            assert_near(&found[..N], &wanted, 1e-4);
            assert!(found[N..].iter().all(|&x| x == -1.0));
        }
    }
}

#[test]
fn rows_of_halves() {
    const N: usize = 1000;
    let bitcode = include_bytes!("corpus/triton/norm_90.bc");
    let kernel = Kernel { bitcode, name: "norm_90", target: "sm_90a", shared: 2048 };
    let (x, w) = (numbers(2 * N, 31, 101), numbers(N, 3, 5));
    let runs = kernel.run([2, 1, 1], |device| {
        let bits = |values: &[f32]| -> Vec<u16> { values.iter().map(|&x| half(x)).collect() };
        let [x, w] = [&x, &w].map(|values| device.upload(&bits(values)).unwrap());
        let o = device.upload(&vec![0u16; 2 * N]).unwrap();
        (Launch::new("norm").arg(x).arg(w).arg(o).arg(N as i32).arg(N as i32), o)
    });
    for run in runs {
        for (found, row) in halves(&run).chunks(N).zip(x.chunks(N)) {
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / N as f64;
            let scale = row.iter().map(|&x| (f64::from(x) - mean).abs()).sum::<f64>() / N as f64;
            let weighted = row.iter().zip(&w).map(|(&x, &w)| (f64::from(x) - mean) / scale * f64::from(w));
            for (found, wanted) in found.iter().zip(weighted) {
                assert!((found - wanted).abs() < 4e-3, "{found}, not {wanted}");
            }
        }
    }
}

#[test]
fn outer_products_in_pairs() {
    const N: usize = 100;
    let bitcode = include_bytes!("corpus/triton/outer_100.bc");
    let kernel = Kernel { bitcode, name: "outer_100", target: "sm_100a", shared: 0 };
    let (x, w) = (numbers(5 * N, 7, 19), numbers(5 * 32, 5, 13));
    let runs = kernel.run([2, 1, 1], |device| {
        let o = device.upload(&vec![0f32; 32 * N]).unwrap();
        let [x, w] = [&x, &w].map(|values| device.upload(values).unwrap());
        (Launch::new("outer").arg(x).arg(w).arg(o).arg(N as i32), o)
    });
    let mut wanted: Vec<f64> = Vec::with_capacity(32 * N);
    for q in 0..32 {
        for p in 0..N {
            wanted.push((0..5).map(|c| f64::from(x[c * N + p]) * f64::from(w[c * 32 + q])).sum());
        }
    }
    for run in runs {
        assert_eq!(floats(&run), wanted);
    }
}
