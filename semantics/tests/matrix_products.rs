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

/// Products of f16 whose exponents are spread as widely as `spread` says.
fn operands(next: &mut impl FnMut() -> u32, spread: u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut half = |_| {
        let bits = next();
        bits & 0x83ff | (15 - spread / 2 + bits / 7 % spread.max(1)) << 10
    };
    let (a, b): (Vec<u32>, Vec<u32>) =
        ((0..8 * K).map(&mut half).collect(), (0..8 * K).map(&mut half).collect());
    let c = (0..64).map(half).collect();
    (a, b, c)
}

fn run(rule: Option<Rule>, level: Level, a: &[u32], b: &[u32], c: &[u32]) -> Vec<u32> {
    let rows: Vec<u16> = (0..8 * K).map(|at| (at % K) as u16).collect();
    let mut d = c.to_vec();
    let product = Product {
        shape: [8, 8, K],
        types: [Element::F16; 2],
        accumulators: [Accumulator::F16, Accumulator::F32],
        rule,
        a,
        b,
        rows: &rows,
        scales: None,
    };
    product.run(level, &mut Workspace::default(), &mut d);
    d
}

#[test]
fn ideal_sums_are_exact_and_rounded_once() {
    let mut next = noise(1);
    for spread in [1, 4, 12, 30] {
        for _ in 0..50 {
            let (a, b, c) = operands(&mut next, spread);
            for level in [Level::Baseline, Level::Avx2] {
                let d = run(None, level, &a, &b, &c);
                for (at, found) in d.iter().enumerate() {
                    let (row, column) = (at / 8, at % 8);
                    let products = (0..K).map(|i| units(a[row * K + i]) * units(b[i * 8 + column]));
                    // In units of 2^-48; the cast rounds to nearest even.
                    let sum: i128 = products.sum::<i128>() + (units(c[at]) << 24);
                    let expected = sum as f32 * 2f32.powi(-48);
                    assert_eq!(*found, expected.to_bits(), "spread {spread}: {sum}");
                }
            }
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
        let d = run(Some(rule), Level::of_host(), &a, &b, &c);
        for (at, found) in d.iter().enumerate() {
            let (row, column) = (at / 8, at % 8);
            let sum: i128 = (0..K).map(|i| units(a[row * K + i]) * units(b[i * 8 + column])).sum();
            let sum = sum + (units(c[at]) << 24);
            let top = 127 - sum.unsigned_abs().max(1).leading_zeros() as i32;
            let dropped = (top - 23).max(0);
            let cut = (sum.unsigned_abs() >> dropped << dropped) as f32 * 2f32.powi(-48);
            let expected = if sum < 0 { -cut } else { cut };
            assert_eq!(f32::from_bits(*found), expected);
        }
    }
}

#[test]
fn integers_wrap_or_are_clamped_at_the_end() {
    let rows: Vec<u16> = (0..8).map(|i| i % 2).collect();
    let (a, b) = ([100u32, 0xffff_ff9c].repeat(4), [100u32; 16]);
    let product = |saturate, b: &[u32]| {
        let mut d = [i32::MAX as u32; 32];
        let kind = IntegerKind::Multiply;
        IntegerProduct { shape: [4, 8, 2], kind, saturate, a: &a, b, rows: &rows }
            .run(Level::of_host(), &mut d);
        d
    };
    // What is too large on the way comes back.
    assert_eq!(product(true, &b), [i32::MAX as u32; 32]);
    let one_sided = [[100u32; 8], [0; 8]].concat();
    assert_eq!(product(true, &one_sided), [i32::MAX as u32; 32]);
    assert_eq!(product(false, &one_sided), [(i32::MAX as u32).wrapping_add(10_000); 32]);
}
