//! Products of matrices against arithmetic that is nothing like theirs: sums of 128-bit integers.

use warpsmith_semantics::lanes::Level;
use warpsmith_semantics::matrix::*;

/// Bits that look random.
fn noise(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}

/// A finite f16 in units of 2^-24.
fn units(bits: u32) -> i128 {
    let (field, fraction) = (bits >> 10 & 31, i128::from(bits & 0x3ff));
    let magnitude = if field == 0 { fraction } else { (fraction + 1024) << (field - 1) };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}

const K: usize = 16;

/// Rows of A and columns of B.
const SIDES: [usize; 2] = [8, 16];

/// Products of f16 whose exponents are spread as widely as `spread` says.
fn operands(next: &mut impl FnMut() -> u32, spread: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut half = |_| {
        let bits = next();
        bits & 0x83ff | (15 - spread / 2 + bits / 7 % spread.max(1)) << 10
    };
    let [m, n] = SIDES;
    let (a, b): (Vec<u32>, Vec<u32>) =
        ((0..m * K).map(&mut half).collect(), (0..n * K).map(&mut half).collect());
    let c = (0..m * n).map(half).collect();
    (a, b, c)
}

fn run(
    rule: Option<Rule>,
    level: Level,
    [a, b, c]: [&[u32]; 3],
    rows: Partners<'_>,
    of_d: Accumulator,
) -> Vec<u32> {
    let [m, n] = SIDES;
    let mut d = c.to_vec();
    let product = Product {
        shape: [m, n, K],
        types: [Element::F16; 2],
        accumulators: [Accumulator::F16, of_d],
        rule,
        a,
        b,
        rows,
        scales: None,
    };
    product.run(level, &mut Workspace::default(), &mut d);
    d
}

/// For every element of D its number, and the exact sum in units of 2^-48.
fn sums(a: &[u32], b: &[u32], c: &[u32], rows: &[u16]) -> Vec<i128> {
    let [_, n] = SIDES;
    let sum = |at: usize| {
        let (row, column) = (at / n, at % n);
        let terms = (row * K..row * K + K).map(|i| units(a[i]) * units(b[usize::from(rows[i]) * n + column]));
        terms.sum::<i128>() + (units(c[at]) << 24)
    };
    (0..c.len()).map(sum).collect()
}

/// f16 of a sum, to nearest even.
fn half_of(sum: i128) -> u32 {
    let magnitude = sum.unsigned_abs();
    let top = 127 - magnitude.max(1).leading_zeros() as i32;
    // Units of f16's last bit: 2^-24 below 2^-14, which is bit 34.
    let dropped = (top - 10).max(24);
    let (kept, rest) = (magnitude >> dropped, magnitude & ((1 << dropped) - 1));
    let half = 1u128 << (dropped - 1);
    let rounded = (kept + u128::from(rest > half || rest == half && kept & 1 == 1)) as u32;
    let bits = rounded + (((dropped - 24) as u32) << 10);
    bits.min(0x7c00) | u32::from(sum < 0) << 15
}

#[test]
fn ideal_sums_are_exact_and_rounded_once() {
    let mut next = noise(1);
    let [m, _] = SIDES;
    let dense: Vec<u16> = (0..m * K).map(|at| (at % K) as u16).collect();
    for spread in [1, 4, 12, 30] {
        for _ in 0..50 {
            let (a, b, c) = operands(&mut next, spread);
            let sparse: Vec<u16> = (0..m * K).map(|_| (next() % K as u32) as u16).collect();
            for (partners, rows) in [(Partners::Same, &dense), (Partners::Each(&sparse), &sparse)] {
                let sums = sums(&a, &b, &c, rows);
                for level in Level::ALL {
                    let of = |of_d| run(None, level, [&a, &b, &c], partners, of_d);
                    for (found, sum) in of(Accumulator::F32).iter().zip(&sums) {
                        // The cast rounds to nearest even.
                        let expected = *sum as f32 * 2f32.powi(-48);
                        assert_eq!(*found, expected.to_bits(), "{level:?}, spread {spread}: {sum}");
                    }
                    for (found, sum) in of(Accumulator::F16).iter().zip(&sums) {
                        assert_eq!(*found, half_of(*sum), "{level:?}, spread {spread}: {sum}");
                    }
                }
            }
        }
    }
}

#[test]
fn ideal_sums_of_zeros_are_positive_and_of_nan_are_nan() {
    let zeros = [0x8000u32; 16 * K];
    let c = [0x8000; 8 * 16];
    for level in Level::ALL {
        let d = run(None, level, [&zeros[..8 * K], &zeros, &c], Partners::Same, Accumulator::F32);
        assert_eq!(d, [0; 8 * 16]);
        let mut nan = zeros;
        nan[K] = 0x7e00;
        let d = run(None, level, [&nan[..8 * K], &zeros, &c], Partners::Same, Accumulator::F32);
        for (at, d) in d.into_iter().enumerate() {
            assert_eq!(f32::from_bits(d).is_nan(), at / 16 == 1, "{at}");
        }
        // A scale that is not a number, of the second of two blocks of row 2.
        let mut scales = [0x7f; 32];
        scales[5] = 0xff;
        let product = Product {
            shape: [8, 16, K],
            types: [Element::E4m3; 2],
            accumulators: [Accumulator::F32; 2],
            rule: None,
            a: &[0x38; 8 * K],
            b: &[0x38; 16 * K],
            rows: Partners::Same,
            scales: Some(Scales { ty: ScaleType::Ue8m0, blocks: 2, a: &scales, b: &[0x7f; 32] }),
        };
        let mut d = [0; 8 * 16];
        product.run(level, &mut Workspace::default(), &mut d);
        for (at, d) in d.into_iter().map(f32::from_bits).enumerate() {
            assert!(if at / 16 == 2 { d.is_nan() } else { d == K as f32 }, "{level:?}, {at}: {d}");
        }
    }
}

#[test]
fn hardware_is_exact_where_nothing_is_lost() {
    let mut next = noise(2);
    // Products of 1 to 2 with equal exponents: nothing is below the bits that Hopper keeps, and f32 is cut toward zero.
    let rule = Rule::of(Architecture::Hopper, Unit::Warp, Element::F16, false);
    for _ in 0..100 {
        let (a, b, c) = operands(&mut next, 1);
        let rows: Vec<u16> = (0..a.len()).map(|at| (at % K) as u16).collect();
        let sums = sums(&a, &b, &c, &rows);
        for level in Level::ALL {
            let d = run(Some(rule), level, [&a, &b, &c], Partners::Same, Accumulator::F32);
            assert_eq!(run(Some(rule), level, [&a, &b, &c], Partners::Each(&rows), Accumulator::F32), d);
            for (found, sum) in d.iter().zip(&sums) {
                let top = 127 - sum.unsigned_abs().max(1).leading_zeros() as i32;
                let dropped = (top - 23).max(0);
                let cut = (sum.unsigned_abs() >> dropped << dropped) as f32 * 2f32.powi(-48);
                let expected = if *sum < 0 { -cut } else { cut };
                assert_eq!(f32::from_bits(*found), expected);
            }
        }
    }
}

#[test]
fn integers_wrap_or_are_clamped_at_the_end() {
    let (a, b) = ([100u32, 0xffff_ff9c].repeat(4), [100u32; 16]);
    let product = |saturate, b: &[u32]| {
        let mut d = [i32::MAX as u32; 32];
        let kind = IntegerKind::Multiply;
        IntegerProduct { shape: [4, 8, 2], kind, saturate, a: &a, b, rows: Partners::Same }
            .run(Level::of_host(), &mut d);
        d
    };
    // What is too large on the way comes back.
    assert_eq!(product(true, &b), [i32::MAX as u32; 32]);
    let one_sided = [[100u32; 8], [0; 8]].concat();
    assert_eq!(product(true, &one_sided), [i32::MAX as u32; 32]);
    assert_eq!(product(false, &one_sided), [(i32::MAX as u32).wrapping_add(10_000); 32]);
}
