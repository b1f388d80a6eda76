//! Products of tiles as CUTLASS builds them, compiled by nvcc: warps that copy by tensor map, stages with mbarrier objects, `wgmma` of two warpgroups,
//! `tcgen05` of one thread, clusters that share what they copy, pairs of blocks, scales of blocks, and attention. And what is found where something
//! in them is missing.

use super::tensor::map;
use super::*;
use warpsmith::interp::{ElementType, Swizzle};

/// Whole numbers, whose sums f16 holds.
fn value(line: usize, i: usize, seed: usize) -> i32 {
    ((line * 7 + i * 5 + line * i + seed) % 5) as i32 - 2
}

fn half(value: i32) -> u16 {
    let bits = (value as f32).to_bits();
    let magnitude = if value == 0 { 0 } else { ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff };
    (bits >> 16 & 0x8000 | magnitude) as u16
}

/// A matrix of halves in lines of `k`, in boxes of 64 elements of `rows` lines.
fn lines(count: usize, k: usize, rows: u32, seed: usize) -> Given {
    let values: Vec<u16> = (0..count * k).map(|at| half(value(at / k, at % k, seed))).collect();
    map(&values, ElementType::F16, k as u64, Swizzle::B128, [64, rows])
}

fn element(row: usize, column: usize, k: usize) -> i32 {
    (0..k).map(|i| value(row, i, 0) * value(column, i, 3)).sum()
}

/// A product, its kernel, and its arguments: `box_rows` of B, and D as halves by tensor map or as floats.
struct Product {
    module: &'static str,
    entry: &'static str,
    shape: [usize; 3],
    box_rows: u32,
    threads: u32,
}

const HOPPER: Product = Product {
    module: "tiles.sm_90a",
    entry: "product_alone",
    shape: [256, 128, 256],
    box_rows: 64,
    threads: 384,
};
const HOPPER_CLUSTER: Product =
    Product { entry: "product_of_two", shape: [256, 128, 192], box_rows: 32, ..HOPPER };
const BLACKWELL: Product = Product { module: "tiles.sm_100a", threads: 256, ..HOPPER };
const BLACKWELL_PAIR: Product = Product { entry: "product_of_two", shape: [256, 256, 192], ..BLACKWELL };

impl Product {
    fn is_hopper(&self) -> bool {
        self.module == HOPPER.module
    }

    fn launch(&self) -> Launch {
        // Fewer blocks than tiles: each makes several.
        Launch::new(self.entry).grid([2, 1, 1]).block([self.threads, 1, 1]).dynamic_shared(96 << 10)
    }

    fn given(&self) -> Vec<Given> {
        let [m, n, k] = self.shape;
        let d = if self.is_hopper() {
            map(&vec![0u16; m * n], ElementType::F16, n as u64, Swizzle::B128, [64, 128])
        } else {
            Given::Zeros((m * n * 4) as u64)
        };
        let mut given = vec![lines(m, k, 128, 0), lines(n, k, self.box_rows, 3), d];
        given.extend([m, n, k].map(|side| Given::Value((side as i32).into())));
        given
    }

    fn expected(&self) -> Vec<i32> {
        let [m, n, k] = self.shape;
        (0..m * n).map(|at| element(at / n, at % n, k)).collect()
    }

    fn check(&self) {
        let expected = self.expected();
        let module = format!("nvcc/{}", self.module);
        if self.is_hopper() {
            let expected: Vec<u16> = expected.into_iter().map(half).collect();
            run(&module, self.launch(), &self.given(), 2, |found: &[u16]| assert!(found == expected));
        } else {
            let expected: Vec<f32> = expected.into_iter().map(|v| v as f32).collect();
            run(&module, self.launch(), &self.given(), 2, |found: &[f32]| assert!(found == expected));
        }
    }

    /// What comes of a kernel in whose text a part is replaced everywhere: the fault, or the report of the checkers.
    fn with(&self, from: &str, to: &str) -> String {
        let path = format!("{}/tests/real/nvcc/{}.ptx", env!("CARGO_MANIFEST_DIR"), self.module);
        let source = std::fs::read_to_string(path).expect("the module is part of the repository");
        assert!(source.contains(from), "{from}");
        let source = source.replace(from, to);
        let tree = ValidatedModule::parse(&source).unwrap_or_else(|errors| panic!("{errors}"));
        let program = Program::load_entry(&tree, self.entry).expect("the kernel is loaded");
        let mut device = Device::new();
        let (launch, _) = prepare(&mut device, &self.launch(), &self.given(), 2);
        let mut checkers = Checkers::new(Selection::all());
        let outcome = device.launch_observed(&program, &launch, &mut checkers.observer());
        let report = checkers.into_report().text(&Sources::new(self.module, &source, &tree));
        match outcome {
            Ok(_) => report,
            Err(fault) => format!("{report}{fault}"),
        }
    }
}

/// Whatever a pipeline needs is missed where it is missing.
#[test]
fn what_is_missing_is_found() {
    let cases: [(&Product, &str, &str, &str); 10] = [
        (&HOPPER, "wgmma.fence.sync.aligned;", "", "error[W0414]"),
        // A warpgroup goes on without its last products, or gives back what it still reads.
        (&HOPPER, "wgmma.wait_group.sync.aligned 0;", "", "error[W0413]"),
        (&HOPPER, "wgmma.wait_group.sync.aligned 1;", "", "error[W0303]"),
        (&HOPPER, "wgmma.commit_group.sync.aligned;", "", "error[W0413]"),
        (&HOPPER, "fence.proxy.async.shared::cta;", "", "error[W0304]"),
        (&HOPPER, ", 24576;", ", 24592;", "error[W0412]"),
        // Matrices that start 16 bytes further on end in another stage.
        (&HOPPER, ", 4611686293305360390;", ", 4611686293305360391;", "error[W0303]"),
        (&BLACKWELL, ", 24576;", ", 24560;", "needs 0 more arrivals and -16 more bytes"),
        (&BLACKWELL, "tcgen05.commit.cta_group::1", "// tcgen05.commit.cta_group::1", "error[W0412]"),
        (&BLACKWELL, "tcgen05.dealloc.cta_group::1", "// tcgen05.dealloc.cta_group::1", "error[W0416]"),
    ];
    for (product, from, to, expected) in cases {
        let found = product.with(from, to);
        assert!(
            found.contains(expected),
            "{} without `{from}`: {expected} is not in:\n{found}",
            product.module
        );
    }
}

#[test]
fn warpgroups_multiply_what_another_warp_copies() {
    HOPPER.check();
}

#[test]
fn a_cluster_copies_once_for_all_its_blocks() {
    HOPPER_CLUSTER.check();
}

#[test]
fn a_thread_multiplies_in_tensor_memory() {
    BLACKWELL.check();
}

#[test]
fn a_pair_of_blocks_multiplies_together() {
    BLACKWELL_PAIR.check();
}

#[test]
fn attention_keeps_weights_in_registers() {
    let (rows, keys, width, scale) = (128, 192, 64, 0.125f32);
    let fraction = |line: usize, i: usize, seed: usize| f64::from(value(line, i, seed)) / 4.0;
    let quarters = |count: usize, seed: usize| {
        // Two less in the exponent's field.
        let quarter = |v: i32| if v == 0 { 0 } else { half(v) - (2 << 10) };
        let values: Vec<u16> =
            (0..count * width).map(|at| quarter(value(at / width, at % width, seed))).collect();
        map(&values, ElementType::F16, width as u64, Swizzle::B128, [64, 64])
    };
    let mut expected = Vec::new();
    for row in 0..rows {
        let score = |key: usize| {
            let sum: f64 = (0..width).map(|i| fraction(row, i, 0) * fraction(key, i, 1)).sum();
            (sum * f64::from(scale)).exp2()
        };
        let weights: Vec<f64> = (0..keys).map(score).collect();
        let total: f64 = weights.iter().sum();
        let column =
            |i: usize| weights.iter().enumerate().map(|(key, w)| w * fraction(key, i, 2)).sum::<f64>();
        expected.extend((0..width).map(|i| column(i) / total));
    }
    let given = [
        quarters(rows, 0),
        quarters(keys, 1),
        quarters(keys, 2),
        Given::Zeros((rows * width * 4) as u64),
        Given::Value((keys as i32).into()),
        Given::Value(scale.into()),
    ];
    let shape = shape("attention", (rows / 64) as u32, 128).dynamic_shared(48 << 10);
    run("nvcc/tiles.sm_90a", shape, &given, 3, |found: &[f32]| {
        for (found, expected) in found.iter().zip(&expected) {
            // Weights are halves.
            assert!((f64::from(*found) - expected).abs() < 1e-3, "{found}, not {expected}");
        }
    });
}

#[test]
fn scales_are_copied_to_tensor_memory() {
    let [m, n, k] = [128, 128, 256];
    let byte = |v: i32| [0xc0, 0xb8, 0x00, 0x38, 0x40][(v + 2) as usize];
    let bytes = |count: usize, rows: u32, seed: usize| {
        let values: Vec<u8> = (0..count * k).map(|at| byte(value(at / k, at % k, seed))).collect();
        map(&values, ElementType::U8, k as u64, Swizzle::B128, [128, rows])
    };
    let exponent = |line: usize, block: usize, seed: usize| ((line * 5 + block * 3 + seed) % 4) as i32 - 2;
    // Row after row of 32, the groups of 32 lines side by side, the four scales of a line together.
    let scales = |tile: usize, seed: usize| {
        let mut bytes = vec![0u8; 128 / tile * (k / 128) * 512];
        for (line, block) in (0..128).flat_map(|line| (0..k / 32).map(move |block| (line, block))) {
            let within = line % tile;
            let at =
                (line / tile * (k / 128) + block / 4) * 512 + within % 32 * 16 + within / 32 * 4 + block % 4;
            bytes[at] = (127 + exponent(line, block, seed)) as u8;
        }
        Given::Bytes(bytes)
    };
    let term = |row: usize, column: usize, i: usize| {
        let scale = exponent(row, i / 32, 1) + exponent(column, i / 32, 2);
        (value(row, i, 0) * value(column, i, 3)) as f32 * 2f32.powi(scale)
    };
    let expected: Vec<f32> = (0..m * n).map(|at| (0..k).map(|i| term(at / n, at % n, i)).sum()).collect();
    let given = [
        bytes(m, 128, 0),
        bytes(n, 64, 3),
        scales(128, 1),
        scales(64, 2),
        Given::Zeros((m * n * 4) as u64),
        Given::Value((n as i32).into()),
        Given::Value((k as i32).into()),
    ];
    let shape = shape("scaled", 2, 256).dynamic_shared(64 << 10);
    run("nvcc/tiles.sm_100a", shape, &given, 4, |found: &[f32]| assert!(found == expected));
}
