//! `nvcuda::wmma` as nvcc compiles it: every type, shape and layout, tiles of larger matrices in global and in shared memory.
//!
//! Operands are whole numbers so small that every product and sum is exact in every arithmetic; what hardware loses of others is tested where it is
//! computed (`semantics/tests/mma_vectors.rs`).

use super::*;
use warpsmith::interp::{Architecture, Arithmetic};

/// A type of elements of A and B, and how the kernels use it.
struct Type {
    name: &'static str,
    /// Bits of an element.
    width: usize,
    /// The bits of a number.
    bits: fn(i32) -> u64,
    /// The numbers, from and to.
    range: [i32; 2],
    /// M, N and K.
    shapes: &'static [[usize; 3]],
    accumulator: Accumulator,
    /// Sums are clamped.
    saturates: bool,
    /// Turing has it.
    turing: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Accumulator {
    Half,
    Single,
    Double,
    Word,
}

const WIDE: &[[usize; 3]] = &[[16, 16, 16], [32, 8, 16], [8, 32, 16]];

fn single(value: i32) -> u64 {
    (value as f32).to_bits().into()
}

fn half(value: i32) -> u64 {
    let bits = (value as f32).to_bits();
    let magnitude = if value == 0 { 0 } else { ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff };
    (bits >> 16 & 0x8000 | magnitude).into()
}

const TYPES: [Type; 11] = [
    Type::new("f16_f32", 16, half, [-3, 3], WIDE, Accumulator::Single).on_turing(),
    Type::new("f16_f16", 16, half, [-3, 3], WIDE, Accumulator::Half).on_turing(),
    Type::new("bf16", 16, |v| single(v) >> 16, [-9, 9], WIDE, Accumulator::Single),
    Type::new("tf32", 32, single, [-99, 99], &[[16, 16, 8]], Accumulator::Single),
    Type::new("f64", 64, |v| f64::from(v).to_bits(), [-9999, 9999], &[[8, 8, 4]], Accumulator::Double),
    Type::new("s8", 8, |v| v as u64, [-128, 127], WIDE, Accumulator::Word).on_turing(),
    Type::new("u8", 8, |v| v as u64, [0, 255], WIDE, Accumulator::Word).on_turing().saturating(),
    Type::new("s4", 4, |v| v as u64, [-8, 7], &[[8, 8, 32]], Accumulator::Word).on_turing().saturating(),
    Type::new("u4", 4, |v| v as u64, [0, 15], &[[8, 8, 32]], Accumulator::Word).on_turing(),
    Type::new("xor", 1, |v| v as u64, [0, 1], &[[8, 8, 128]], Accumulator::Word).on_turing(),
    Type::new("and", 1, |v| v as u64, [0, 1], &[[8, 8, 128]], Accumulator::Word),
];

impl Type {
    const fn new(
        name: &'static str,
        width: usize,
        bits: fn(i32) -> u64,
        range: [i32; 2],
        shapes: &'static [[usize; 3]],
        accumulator: Accumulator,
    ) -> Type {
        Type { name, width, bits, range, shapes, accumulator, saturates: false, turing: false }
    }

    const fn on_turing(self) -> Type {
        Type { turing: true, ..self }
    }

    const fn saturating(self) -> Type {
        Type { saturates: true, ..self }
    }

    /// Layouts of A and B: true where neighbours are of one row.
    fn layouts(&self) -> &'static [[bool; 2]] {
        if self.width < 8 {
            &[[true, false]]
        } else {
            &[[true, true], [true, false], [false, true], [false, false]]
        }
    }

    fn multiply(&self, a: i32, b: i32) -> i64 {
        match self.name {
            "xor" => i64::from(a ^ b),
            "and" => i64::from(a & b),
            _ => i64::from(a) * i64::from(b),
        }
    }

    fn number(&self, at: usize, seed: u32) -> i32 {
        let [least, most] = self.range;
        let noise =
            (at as u32 ^ seed << 20).wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(0x2c1b_3c6d);
        least + ((u64::from(noise) * (most - least + 1) as u64) >> 32) as i32
    }
}

/// A matrix in memory, padded.
struct Matrix {
    bytes: Vec<u8>,
    /// Elements from a line to the next.
    line: usize,
    by_rows: bool,
}

impl Matrix {
    /// Lines begin at multiples of 16 bytes, which is what hardware asks for, and no two matrices' are as long.
    fn new(
        [rows, columns]: [usize; 2],
        by_rows: bool,
        width: usize,
        padding: usize,
        bits: impl Fn(usize, usize) -> u64,
    ) -> Matrix {
        let [lines, length] = if by_rows { [rows, columns] } else { [columns, rows] };
        let line = (length * width).next_multiple_of(128) / width + padding * 128 / width;
        let mut bytes = vec![0xee; lines * line * width / 8];
        for row in 0..rows {
            for column in 0..columns {
                let at = (if by_rows { row * line + column } else { column * line + row }) * width;
                let value = bits(row, column);
                if width < 8 {
                    let mask = ((1u8 << width) - 1) << (at % 8);
                    bytes[at / 8] = bytes[at / 8] & !mask | (value as u8) << (at % 8) & mask;
                } else {
                    bytes[at / 8..][..width / 8].copy_from_slice(&value.to_le_bytes()[..width / 8]);
                }
            }
        }
        Matrix { bytes, line, by_rows }
    }

    fn argument(&self) -> Given {
        Given::Bytes(self.bytes.clone())
    }
}

/// One kernel: what it is given, and what it must make of C, byte for byte.
fn case(ty: &Type, [m, n, k]: [usize; 3], [a_rows, b_rows]: [bool; 2]) -> (Vec<Given>, Vec<u8>) {
    let (rows, depth) = (2 * m, 2 * k);
    let a = |row: usize, i: usize| ty.number(row * depth + i, 1);
    let b = |i: usize, column: usize| ty.number(i * n + column, 2);
    let c = |row: usize, column: usize| -> i64 {
        let small = ((row * 5 + column * 3) % 17) as i64 - 8;
        match ty.accumulator {
            // Near both ends, for sums that are clamped or wrap.
            Accumulator::Word if (row + column).is_multiple_of(3) => i64::from(i32::MAX) - 40 - small,
            Accumulator::Word if (row + column) % 3 == 1 => i64::from(i32::MIN) + 40 + small,
            Accumulator::Half | Accumulator::Single | Accumulator::Double | Accumulator::Word => small,
        }
    };
    let (width, number): (usize, fn(i64) -> u64) = match ty.accumulator {
        Accumulator::Half => (16, |v| half(v as i32)),
        Accumulator::Single => (32, |v| single(v as i32)),
        Accumulator::Double => (64, |v| (v as f64).to_bits()),
        Accumulator::Word => (32, |v| v as u32 as u64),
    };
    let d = |row: usize, column: usize| {
        let mut sum = c(row, column);
        for step in 0..2 {
            sum += (step * k..step * k + k).map(|i| ty.multiply(a(row, i), b(i, column))).sum::<i64>();
            if ty.accumulator == Accumulator::Word {
                sum = if ty.saturates {
                    sum.clamp(i32::MIN.into(), i32::MAX.into())
                } else {
                    (sum as i32).into()
                };
            }
        }
        number(2 * sum)
    };
    let of_a = Matrix::new([rows, depth], a_rows, ty.width, 1, |row, i| (ty.bits)(a(row, i)));
    let of_b = Matrix::new([depth, n], b_rows, ty.width, 3, |i, column| (ty.bits)(b(i, column)));
    let of_c = Matrix::new([rows, n], a_rows, width, 2, |row, column| number(c(row, column)));
    let of_d = Matrix::new([rows, n], a_rows, width, 2, d);
    assert_eq!([of_a.by_rows, of_c.by_rows], [a_rows; 2]);
    let words = of_b.bytes.len() / 4;
    let mut given = vec![of_a.argument(), of_b.argument(), of_c.argument()];
    given.extend([of_a.line, of_b.line, of_c.line, words].map(|v| Given::Value((v as u32).into())));
    (given, of_d.bytes)
}

/// Runs every kernel of a module as compiled for a target; `kept` says which types it has.
fn all(module: &str, target: &str, kept: fn(&Type) -> bool) {
    let path = format!("{}/tests/real/nvcc/{module}.ptx", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the module is part of the repository");
    // nvcc writes the same for sm_80, sm_89 and sm_90 but for this line.
    let own = module.split('.').next_back().expect("the name has a target");
    let source = source.replace(&format!(".target {own}\n"), &format!(".target {target}\n"));
    assert!(source.contains(&format!(".target {target}\n")));
    let tree = ValidatedModule::parse(&source).expect("the module is valid");
    for ty in TYPES.iter().filter(|ty| kept(ty)) {
        for (shape, layouts) in ty.shapes.iter().flat_map(|s| ty.layouts().iter().map(move |l| (*s, *l))) {
            let [m, n, k] = shape;
            let [of_a, of_b] = layouts.map(|by_rows| if by_rows { "row" } else { "col" });
            let entry = format!("{}_m{m}n{n}k{k}_{of_a}_{of_b}", ty.name);
            let program =
                Program::load_entry(&tree, &entry).unwrap_or_else(|errors| panic!("{entry}: {errors:#?}"));
            let (given, expected) = case(ty, shape, layouts);
            let launch = Launch::new(&entry).block([64, 1, 1]).dynamic_shared(16 << 10);
            let run = |arithmetic: Option<Arithmetic>, seed: Option<u64>, checkers: &mut Checkers| {
                let mut device = Device::new();
                let (mut launch, result) = prepare(&mut device, &launch, &given, 2);
                launch.seed = seed;
                launch.arithmetic = arithmetic;
                device
                    .launch_observed(&program, &launch, &mut checkers.observer())
                    .unwrap_or_else(|fault| panic!("{entry}, {target}: {fault}"));
                let found: Vec<u8> = device.download(result).expect("the buffer is there");
                let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
                assert_eq!(wrong, None, "{entry}, {target}, {arithmetic:?}: byte of C");
            };
            let mut checkers = Checkers::new(Selection::all());
            run(None, None, &mut checkers);
            let report = checkers.into_report();
            assert!(report.is_empty(), "{}", report.text(&Sources::new(module, &source, &tree)));
            let mut none = Checkers::new(Selection::empty());
            run(Some(Arithmetic::Ideal), Some(7), &mut none);
            run(Some(Arithmetic::Hardware(Architecture::Volta)), None, &mut none);
        }
    }
}

#[test]
fn wmma_of_turing() {
    all("wmma.sm_75", "sm_75", |ty| ty.turing);
}

#[test]
fn wmma_of_ampere_and_hopper() {
    all("wmma.sm_90", "sm_90", |_| true);
    all("wmma.sm_90", "sm_80", |ty| !ty.turing);
}
