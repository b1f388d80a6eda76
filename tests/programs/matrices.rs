//! Tensor cores: Triton's products of matrices in all types, scaled products and attention, as compiled for every target that has them, and wmma of nvcc.
//!
//! What is expected is computed in f64; hardware may lose as much as its sums of 25 bits and less do.

use super::*;

/// A float of few bits.
struct Format {
    exponent_bits: u32,
    fraction_bits: u32,
}

const F16: Format = Format { exponent_bits: 5, fraction_bits: 10 };
const BF16: Format = Format { exponent_bits: 8, fraction_bits: 7 };
const E4M3: Format = Format { exponent_bits: 4, fraction_bits: 3 };
const E5M2: Format = Format { exponent_bits: 5, fraction_bits: 2 };
const E2M1: Format = Format { exponent_bits: 2, fraction_bits: 1 };

impl Format {
    fn value(&self, bits: u32) -> f64 {
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let field = bits >> self.fraction_bits & ((1 << self.exponent_bits) - 1);
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let hidden = if field == 0 { 0 } else { 1 << self.fraction_bits };
        let magnitude =
            f64::from(fraction | hidden) * 2f64.powi(field.max(1) as i32 - bias - self.fraction_bits as i32);
        if bits >> (self.exponent_bits + self.fraction_bits) & 1 != 0 { -magnitude } else { magnitude }
    }

    /// Numbers of all signs and fractions, with exponents about that of 1.
    fn numbers(&self, count: usize, seed: i32) -> Vec<u32> {
        let bias = (1u32 << (self.exponent_bits - 1)) - 1;
        noise(count as u32)
            .map(|v| {
                let v = (v ^ seed.wrapping_mul(0x61c8_8647)).wrapping_mul(0x2c1b_3c6d) as u32 >> 8;
                let fraction = v & ((1 << self.fraction_bits) - 1);
                let field = bias - (v >> 16) % bias.clamp(1, 3);
                (v >> 20 & 1) << (self.exponent_bits + self.fraction_bits)
                    | field << self.fraction_bits
                    | fraction
            })
            .collect()
    }
}

/// The numbers of a buffer: bytes of so many bits, and values.
type Numbers = (Given, Vec<f64>);

fn of_format(format: &Format, count: usize, seed: i32) -> Numbers {
    let bits = format.numbers(count, seed);
    let values = bits.iter().map(|b| format.value(*b)).collect();
    let width = (1 + format.exponent_bits + format.fraction_bits) as usize / 8;
    (Given::Bytes(bits.iter().flat_map(|b| b.to_le_bytes()[..width].to_vec()).collect()), values)
}

fn singles(count: usize, seed: i32) -> Numbers {
    let values: Vec<f32> = noise(count as u32).map(|v| (v ^ seed << 16) as f32 / 2e9).collect();
    (buffer(&values), values.iter().map(|v| f64::from(*v)).collect())
}

/// Rows and columns of a product and what it sums over.
const SIDES: [usize; 3] = [64, 64, 128];

/// Element `[row][column]` of a product, and the sum of the magnitudes of its terms.
fn element(
    a: &[f64],
    b: &[f64],
    turned: [bool; 2],
    [row, column]: [usize; 2],
    [m, n, k]: [usize; 3],
) -> [f64; 2] {
    let term = |i: usize| {
        let x = if turned[0] { a[i * m + row] } else { a[row * k + i] };
        let y = if turned[1] { b[column * k + i] } else { b[i * n + column] };
        x * y
    };
    [(0..k).map(term).sum(), (0..k).map(|i| term(i).abs()).sum()]
}

fn close(found: f64, [expected, size]: [f64; 2], tolerance: f64) {
    assert!((found - expected).abs() <= size * tolerance, "{found}, not {expected} of terms of {size}");
}

/// Runs a product of two kinds of numbers as compiled for some targets.
fn product<T: Plain>(
    name: &str,
    (targets, warps): (&[u32], u32),
    turned: [bool; 2],
    (a, b): (impl Fn() -> Numbers, impl Fn() -> Numbers),
    check: impl Fn(&T, [f64; 2]),
) {
    let [m, n, k] = SIDES;
    for target in targets {
        let ((of_a, a), (of_b, b)) = (a(), b());
        let size = |side: usize| Given::Value((side as i32).into());
        let zeros = || Given::Zeros(16);
        let out = Given::Zeros((m * n * 8) as u64);
        let given = [of_a, of_b, out, size(m), size(n), size(k), zeros(), zeros()];
        let grid = [(m / 16) as u32, (n / 16) as u32, 1];
        let module = format!("triton/{name}.sm_{target}");
        let wide = name.starts_with("wide");
        let tile = match () {
            () if wide => 64,
            () if name.contains("f64") => 16,
            () => 32,
        };
        let across = if name.contains("bf16") { 64 } else { tile };
        let entry = if name == "persistent" { name } else { "product" };
        let grid =
            if name == "persistent" { [3, 1, 1] } else { [grid[0] * 16 / tile, grid[1] * 16 / across, 1] };
        let shared = if wide { 96 << 10 } else { 32 << 10 };
        let shape = Launch::new(entry).grid(grid).block([32 * warps, 1, 1]).dynamic_shared(shared);
        run(&module, shape, &given, 2, |found: &[T]| {
            for (at, found) in found.iter().enumerate().take(m * n) {
                check(found, element(&a, &b, turned, [at / n, at % n], SIDES));
            }
        });
    }
}

fn single(tolerance: f64) -> impl Fn(&f32, [f64; 2]) {
    move |found, expected| close(f64::from(*found), expected, tolerance)
}

fn pair(format: &'static Format) -> (impl Fn() -> Numbers, impl Fn() -> Numbers) {
    let count = SIDES[0] * SIDES[2];
    (move || of_format(format, count, 1), move || of_format(format, count, 2))
}

#[test]
fn products_of_halves() {
    let exact = 2f64.powi(-22);
    product("product_f16", (&[80, 89, 90, 100, 120], 4), [false; 2], pair(&F16), single(exact));
    product("product_f16_turned", (&[80, 120], 4), [true; 2], pair(&F16), single(exact));
    product("product_f16_half", (&[80, 120], 2), [false; 2], pair(&F16), |found: &u16, expected| {
        close(F16.value(u32::from(*found)), expected, 2f64.powi(-9));
    });
    product("product_bf16", (&[80, 90, 120], 4), [false, true], pair(&BF16), single(exact));
    product("persistent", (&[80, 90, 120], 4), [false; 2], pair(&F16), single(exact));
}

#[test]
fn products_of_words_and_bytes() {
    let count = SIDES[0] * SIDES[2];
    let words = (|| singles(count, 1), || singles(count, 2));
    // tf32 keeps 10 bits.
    product("product_tf32", (&[80, 89, 100, 120], 4), [false, true], words, single(2f64.powi(-9)));
    let doubles = |seed: i32| {
        let values: Vec<f64> = noise(count as u32).map(|v| f64::from(v ^ seed)).collect();
        (buffer(&values), values)
    };
    let pairs = (move || doubles(3), move || doubles(77));
    product("product_f64", (&[80, 90], 4), [false; 2], pairs, |found: &f64, expected| {
        close(*found, expected, 2f64.powi(-50));
    });
    // Ada's sums of bytes keep 13 bits.
    product("product_e4m3", (&[89], 4), [false, true], pair(&E4M3), single(2f64.powi(-10)));
    product("product_e4m3", (&[90, 100, 120], 4), [false, true], pair(&E4M3), single(2f64.powi(-22)));
    product("product_e5m2", (&[89], 2), [false, true], pair(&E5M2), single(2f64.powi(-10)));
    product("product_e5m2", (&[120], 2), [false, true], pair(&E5M2), single(2f64.powi(-22)));
    let bytes = |seed: i32| {
        let values: Vec<i8> = noise(count as u32).map(|v| ((v ^ seed) >> 5) as i8).collect();
        (buffer(&values), values.iter().map(|v| f64::from(*v)).collect())
    };
    let pairs = (move || bytes(0), move || bytes(4321));
    product(
        "product_s8",
        (&[80, 89, 90, 100, 120], 4),
        [false, true],
        pairs,
        |found: &i32, [expected, _]| {
            assert_eq!(f64::from(*found), expected);
        },
    );
}

/// Products of tiles that warpgroups multiply: with `wgmma` on sm_90, with `tcgen05` on sm_100.
#[test]
fn products_of_warpgroups() {
    const BOTH: (&[u32], u32) = (&[90, 100], 4);
    let count = SIDES[0] * SIDES[2];
    let exact = 2f64.powi(-22);
    product("wide_f16", BOTH, [true; 2], pair(&F16), single(exact));
    product("wide_bf16", BOTH, [false, true], pair(&BF16), single(exact));
    let words = (|| singles(count, 1), || singles(count, 2));
    product("wide_tf32", BOTH, [false, true], words, single(2f64.powi(-9)));
    // Hopper's sums of bytes keep 13 bits.
    product("wide_e4m3", (&[90], 4), [false, true], pair(&E4M3), single(2f64.powi(-10)));
    product("wide_e4m3", (&[100], 4), [false, true], pair(&E4M3), single(exact));
    let bytes = |seed: i32| {
        let values: Vec<i8> = noise(count as u32).map(|v| ((v ^ seed) >> 5) as i8).collect();
        (buffer(&values), values.iter().map(|v| f64::from(*v)).collect())
    };
    let pairs = (move || bytes(0), move || bytes(4321));
    product("wide_s8", (&[90], 4), [false, true], pairs, |found: &i32, [expected, _]| {
        assert_eq!(f64::from(*found), expected);
    });
}

/// Numbers of a format for a scaled product: packed, of lines of `k`.
fn packed(format: &Format, lines: usize, by_rows: bool, seed: i32) -> Numbers {
    let (n, k) = (lines, SIDES[2]);
    let bits = format.numbers(lines * k, seed);
    let values = bits.iter().map(|b| format.value(*b)).collect();
    if format.fraction_bits != 1 {
        return (Given::Bytes(bits.iter().map(|b| *b as u8).collect()), values);
    }
    // Two of neighbouring k in a byte, the first in the low half.
    let byte = |low: usize, high: usize| (bits[low] | bits[high] << 4) as u8;
    let bytes = if by_rows {
        (0..lines * k / 2).map(|i| byte(2 * i, 2 * i + 1)).collect()
    } else {
        (0..k / 2 * n).map(|i| byte(i / n * 2 * n + i % n, (i / n * 2 + 1) * n + i % n)).collect()
    };
    (Given::Bytes(bytes), values)
}

#[test]
fn scaled_products() {
    let cases: [(&str, &[u32], &Format, &Format); 6] = [
        ("scaled_e4m3", &[90, 120], &E4M3, &E4M3),
        ("scaled_e5m2_e4m3", &[120], &E5M2, &E4M3),
        ("scaled_e2m1", &[80, 100, 120], &E2M1, &E2M1),
        ("scaled_e4m3_e2m1", &[120], &E4M3, &E2M1),
        ("wide_scaled_e4m3", &[100], &E4M3, &E4M3),
        ("wide_scaled_e2m1", &[100], &E2M1, &E2M1),
    ];
    for (name, targets, of_a, of_b) in cases {
        // A tile, or four.
        let wide = name.starts_with("wide");
        let [m, n, k] = if wide { [128, 64, SIDES[2]] } else { SIDES };
        for target in targets {
            let ((given_a, mut a), (given_b, mut b)) = (packed(of_a, m, true, 5), packed(of_b, n, false, 6));
            let scales = |lines: usize, seed: u32| -> Vec<u8> {
                (0..lines * k / 32).map(|i| 120 + ((i as u32 * 7 + seed) % 15) as u8).collect()
            };
            let (sa, sb) = (scales(m, 3), scales(n, 8));
            let power = |bits: u8| 2f64.powi(i32::from(bits) - 127);
            a.iter_mut().enumerate().for_each(|(at, v)| *v *= power(sa[at / k * (k / 32) + at % k / 32]));
            b.iter_mut().enumerate().for_each(|(at, v)| *v *= power(sb[at % n * (k / 32) + at / n / 32]));
            let size = |side: usize| Given::Value((side as i32).into());
            let out = Given::Zeros((m * n * 4) as u64);
            let given = [
                given_a,
                buffer(&sa),
                given_b,
                buffer(&sb),
                out,
                size(n),
                size(k),
                Given::Zeros(16),
                Given::Zeros(16),
            ];
            let grid = if wide { [1, 1, 1] } else { [2, 2, 1] };
            let shape = Launch::new("scaled").grid(grid).block([128, 1, 1]).dynamic_shared(96 << 10);
            run(&format!("triton/{name}.sm_{target}"), shape, &given, 4, |found: &[f32]| {
                for (at, found) in found.iter().enumerate().take(m * n) {
                    let expected = element(&a, &b, [false; 2], [at / n, at % n], [m, n, k]);
                    close(f64::from(*found), expected, 2f64.powi(-20));
                }
            });
        }
    }
}

/// Attention of each row to those before it, in f64.
fn attention(q: &[f64], k: &[f64], v: &[f64], width: usize, scale: f64) -> Vec<f64> {
    let rows = q.len() / width;
    let mut out = Vec::new();
    for row in 0..rows {
        let score = |j: usize| -> f64 {
            (0..width).map(|d| q[row * width + d] * k[j * width + d]).sum::<f64>() * scale
        };
        let scores: Vec<f64> = (0..=row).map(score).collect();
        let most = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - most).exp2()).collect();
        let total: f64 = weights.iter().sum();
        out.extend(
            (0..width)
                .map(|d| weights.iter().enumerate().map(|(j, w)| w * v[j * width + d]).sum::<f64>() / total),
        );
    }
    out
}

#[test]
fn causal_attention() {
    let cases: [(&str, &[u32], &Format, usize, u32); 2] =
        [("causal_f16", &[80, 120], &F16, 64, 4), ("causal_bf16", &[89, 90, 100], &BF16, 32, 2)];
    for (name, targets, format, width, warps) in cases {
        let rows = 96;
        for target in targets {
            let [(q, of_q), (k, of_k), (v, of_v)] =
                [11, 12, 13].map(|seed| of_format(format, rows * width, seed));
            let scale = 0.25f32;
            let expected = attention(&of_q, &of_k, &of_v, width, f64::from(scale));
            let out = Given::Zeros((rows * width * 4) as u64);
            let count = Given::Value((rows as i32).into());
            let given = [q, k, v, out, count, Given::Value(scale.into()), Given::Zeros(16), Given::Zeros(16)];
            let shape = shape("causal", 3, 32 * warps).dynamic_shared(32 << 10);
            run(&format!("triton/{name}.sm_{target}"), shape, &given, 3, |found: &[f32]| {
                // Weights are rounded to the format.
                let tolerance = 2f64.powi(1 - format.fraction_bits as i32);
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((f64::from(*found) - expected).abs() < tolerance, "{found}, not {expected}");
                }
            });
        }
    }
}

#[test]
fn kernels_that_were_compiled_for_tiles() {
    let [m, n, k] = [32, 32, 64];
    for target in [75, 80, 90, 100, 120] {
        let ((of_a, a), (of_b, b)) = (of_format(&F16, m * k, 21), of_format(&F16, k * n, 22));
        let size = |side: usize| Given::Value((side as i32).into());
        let out = Given::Zeros((m * n * 2) as u64);
        let given = [of_a, of_b, out, size(m), size(n), size(k), Given::Zeros(16), Given::Zeros(16)];
        let module = format!("triton/matmul.sm_{target}");
        run(&module, shape("matmul", 1, 128).dynamic_shared(32 << 10), &given, 2, |found: &[u16]| {
            for (at, found) in found.iter().enumerate() {
                let expected = element(&a, &b, [false; 2], [at / n, at % n], [m, n, k]);
                close(F16.value(u32::from(*found)), expected, 2f64.powi(-10));
            }
        });
    }
}

#[test]
fn wmma_of_nvcc() {
    for target in ["75", "80.lineinfo", "87", "90", "120a"] {
        let ((of_a, a), (of_b, b)) = (of_format(&F16, 256, 31), of_format(&F16, 256, 32));
        let given = [of_a, of_b, Given::Zeros(1024)];
        run(
            &format!("nvcc/matrix.sm_{target}"),
            shape("_Z5tilesP6__halfS0_Pf", 1, 32),
            &given,
            2,
            |found: &[f32]| {
                for (at, found) in found.iter().enumerate() {
                    let expected = element(&a, &b, [false, true], [at / 16, at % 16], [16; 3]);
                    close(f64::from(*found), expected, 2f64.powi(-21));
                }
            },
        );
    }
}
