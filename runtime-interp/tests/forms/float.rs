//! Float forms: each type, rounding, `.ftz`, `.sat` and `.relu`, packed and mixed.

use super::check;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const ROUNDINGS: [(&str, Round); 4] = [
    (".rn", Round::NearestTiesToEven),
    (".rz", Round::TowardZero),
    (".rm", Round::TowardNegative),
    (".rp", Round::TowardPositive),
];
const RN: Round = Round::NearestTiesToEven;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Fma,
}

/// What follows an operation.
#[derive(Clone, Copy, Default)]
struct After {
    ftz: bool,
    sat: bool,
    relu: bool,
}

/// The operation on bits of a format, with the one NaN that PTX gives. `None` where `.ftz` depends on more than the result: a
/// result that rounds up to the smallest normal number may have been tiny.
fn apply<F: Float>(op: Op, round: Round, after: After, x: [u64; 3]) -> Option<u64> {
    let smallest = F::smallest_normalized();
    let flush = |v: F| if after.ftz && v.is_denormal() { F::ZERO.copy_sign(v) } else { v };
    let [a, b, c] = x.map(|x| flush(F::from_bits(x.into())));
    let result = match op {
        Op::Add => a.add_r(b, round).value,
        Op::Sub => a.sub_r(b, round).value,
        Op::Mul => a.mul_r(b, round).value,
        Op::Div => a.div_r(b, round).value,
        Op::Fma => a.mul_add_r(b, c, round).value,
    };
    if after.ftz && result.abs() == smallest {
        return None;
    }
    let mut result = flush(result);
    let one = F::from_u128(1).value;
    if after.sat {
        result = if result.is_nan() || result.is_negative() { F::ZERO } else { result.min(one) };
    }
    if after.relu && !result.is_nan() && result.is_negative() {
        result = F::ZERO;
    }
    let sign = 1u128 << (F::BITS - 1);
    Some(if result.is_nan() { sign - 1 } else { result.to_bits() } as u64)
}

/// Operands of a format: zeros, the subnormal border, one, the ends, NaN, and random bits, half of them of like exponents.
fn operands<F: Float>(count: usize) -> Vec<Vec<u64>> {
    let bits = |v: F| v.to_bits() as u64;
    let sign = 1u64 << (F::BITS - 1);
    let one = bits(F::from_u128(1).value);
    let mut corners =
        vec![0, 1, bits(F::smallest_normalized()), bits(F::smallest_normalized()) - 1, one, one + 1, one - 1];
    corners.extend([
        bits(F::from_u128(3).value),
        bits(F::largest()),
        bits(F::INFINITY),
        bits(F::NAN),
        bits(F::smallest_normalized()) + 1,
    ]);
    corners.extend(corners.clone().iter().map(|v| v | sign));
    let mut all: Vec<Vec<u64>> = Vec::new();
    let pick = |i: usize| corners[i % corners.len()];
    for i in 0..corners.len() * corners.len() {
        let (a, b) = (pick(i), pick(i / corners.len()));
        all.push([a, b, pick(i * 7 + i / 5)][..count.min(3)].to_vec());
    }
    let mut state = 0x1234_5678_9abc_def1u64;
    for i in 0..6000 {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state & (u64::MAX >> (64 - F::BITS))
        };
        let a = next();
        let near = |x: u64| if i % 2 == 0 { x } else { a ^ (x & (one >> 2)) };
        all.push([a, near(next()), near(next())][..count].to_vec());
    }
    all
}

/// Tries a form on operands for which the meaning is known, a NaN being as good as another where payloads are open.
fn form<F: Float>(text: &str, tuples: &[Vec<u64>], meaning: impl Fn(&[u64]) -> Option<u64>) {
    let known: Vec<Vec<u64>> = tuples.iter().filter(|t| meaning(t).is_some()).cloned().collect();
    assert!(known.len() * 2 > tuples.len(), "{text}: most operands are left out");
    // f64 keeps a payload, which `float_oracle` tests.
    let known: Vec<Vec<u64>> = if F::BITS == 64 {
        let nan = |t: &&Vec<u64>| !F::from_bits(meaning(t).unwrap_or(0).into()).is_nan();
        known.iter().filter(nan).cloned().collect()
    } else {
        known
    };
    check(text, tuples[0].len(), F::BITS as u32, &known, &|t| meaning(t).unwrap_or(0));
}

fn three(t: &[u64]) -> [u64; 3] {
    [t[0], t.get(1).copied().unwrap_or(0), t.get(2).copied().unwrap_or(0)]
}

const OPS: [(&str, Op, usize); 4] =
    [("add", Op::Add, 2), ("sub", Op::Sub, 2), ("mul", Op::Mul, 2), ("fma", Op::Fma, 3)];

#[test]
fn single_and_double_in_every_rounding() {
    for (name, op, count) in OPS.into_iter().chain([("div", Op::Div, 2)]) {
        let (singles, doubles) = (operands::<Single>(count), operands::<Double>(count));
        for (rounding, round) in ROUNDINGS {
            for (ftz, sat) in [(false, false), (true, false), (false, true), (true, true)] {
                if sat && op == Op::Div {
                    continue;
                }
                let suffix = [if ftz { ".ftz" } else { "" }, if sat { ".sat" } else { "" }].concat();
                let after = After { ftz, sat, relu: false };
                form::<Single>(&format!("{name}{rounding}{suffix}.f32"), &singles, |t| {
                    apply::<Single>(op, round, after, three(t))
                });
            }
            form::<Double>(&format!("{name}{rounding}.f64"), &doubles, |t| {
                apply::<Double>(op, round, After::default(), three(t))
            });
        }
    }
}

#[test]
fn reciprocals_and_roots_in_every_rounding() {
    let (singles, doubles) = (operands::<Single>(1), operands::<Double>(1));
    let one = |bits| [bits, 0, 0];
    for (rounding, round) in ROUNDINGS {
        let reciprocal = |ftz| {
            move |t: &[u64]| {
                let [a, ..] = one(t[0]);
                apply::<Single>(
                    Op::Div,
                    round,
                    After { ftz, ..Default::default() },
                    [1.0f32.to_bits().into(), a, 0],
                )
            }
        };
        form::<Single>(&format!("rcp{rounding}.f32"), &singles, reciprocal(false));
        form::<Single>(&format!("rcp{rounding}.ftz.f32"), &singles, reciprocal(true));
        form::<Double>(&format!("rcp{rounding}.f64"), &doubles, |t| {
            apply::<Double>(Op::Div, round, After::default(), [1.0f64.to_bits(), t[0], 0])
        });
        // A root of 24 bits is never so near a number of 24 bits that rounding it to 53 bits first could matter.
        let root = |a: f32| {
            let (root, mut inexact) = (f64::from(a).sqrt(), false);
            let rounded: Single =
                Double::from_bits(root.to_bits().into()).convert_r(round, &mut inexact).value;
            if root.is_nan() { 0x7fff_ffff } else { rounded.to_bits() as u64 }
        };
        form::<Single>(&format!("sqrt{rounding}.f32"), &singles, |t| Some(root(f32::from_bits(t[0] as u32))));
        form::<Single>(&format!("sqrt{rounding}.ftz.f32"), &singles, |t| {
            let a = f32::from_bits(t[0] as u32);
            Some(root(if a.is_subnormal() { 0.0f32.copysign(a) } else { a }))
        });
    }
    form::<Double>("sqrt.rn.f64", &doubles, |t| Some(f64::from_bits(t[0]).sqrt().to_bits()));
}

/// Two elements of a packed register by the meaning of one.
fn packed(bits: u32, t: &[u64], one: impl Fn([u64; 3]) -> Option<u64>) -> Option<u64> {
    let mask = u64::MAX >> (64 - bits);
    let part = |i: u32| one(three(t).map(|x| x >> (bits * i) & mask));
    Some(part(0)? | part(1)? << bits)
}

/// Tuples of packed registers: neighbours of the list side by side.
fn pairs(bits: u32, tuples: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let join = |a: &Vec<u64>, b: &Vec<u64>| a.iter().zip(b).map(|(a, b)| a | b << bits).collect();
    tuples.iter().zip(tuples.iter().rev()).map(|(a, b)| join(a, b)).collect()
}

#[test]
fn halves_and_packed_forms() {
    fn all<F: Float>(ty: &str, modes: &[(&str, After)], fused: &[(&str, After)]) {
        for (name, op, count) in OPS {
            let tuples = operands::<F>(count);
            let two = pairs(16, &tuples);
            let extra = if op == Op::Fma { fused } else { &[] };
            for (suffix, after) in modes.iter().chain(extra) {
                form::<F>(&format!("{name}.rn{suffix}.{ty}"), &tuples, |t| {
                    apply::<F>(op, RN, *after, three(t))
                });
                let known: Vec<_> = two
                    .iter()
                    .filter(|t| packed(16, t, |x| apply::<F>(op, RN, *after, x)).is_some())
                    .cloned()
                    .collect();
                check(&format!("{name}.rn{suffix}.{ty}x2"), count, 32, &known, &|t| {
                    packed(16, t, |x| apply::<F>(op, RN, *after, x)).unwrap_or(0)
                });
            }
        }
    }
    let after = |ftz, sat, relu| After { ftz, sat, relu };
    let plain = ("", After::default());
    all::<Half>(
        "f16",
        &[
            plain,
            (".ftz", after(true, false, false)),
            (".sat", after(false, true, false)),
            (".ftz.sat", after(true, true, false)),
        ],
        &[(".relu", after(false, false, true)), (".ftz.relu", after(true, false, true))],
    );
    all::<BFloat>("bf16", &[plain], &[(".relu", after(false, false, true))]);
}

#[test]
fn pairs_of_singles_and_mixed_precision() {
    for (name, op, count) in OPS {
        let tuples = operands::<Single>(count);
        let two = pairs(32, &tuples);
        for (rounding, round) in ROUNDINGS {
            for (suffix, ftz) in [("", false), (".ftz", true)] {
                let after = After { ftz, ..Default::default() };
                let meaning = |t: &[u64]| packed(32, t, |x| apply::<Single>(op, round, after, x));
                let known: Vec<_> = two.iter().filter(|t| meaning(t).is_some()).cloned().collect();
                check(&format!("{name}{rounding}{suffix}.f32x2"), count, 64, &known, &|t| {
                    meaning(t).unwrap_or(0)
                });
            }
        }
    }
    fn mixed<H: Float + FloatConvert<Single>>(ty: &str) {
        let widen = |bits: u64| {
            let mut loses = false;
            let wide: Single = H::from_bits(u128::from(bits & 0xffff)).convert(&mut loses).value;
            if wide.is_nan() { 0x7fff_ffff } else { wide.to_bits() as u64 }
        };
        let (halves, singles) = (operands::<H>(2), operands::<Single>(1));
        let with = |count: usize| -> Vec<Vec<u64>> {
            halves.iter().zip(singles.iter().cycle()).map(|(h, s)| [&h[..count], s].concat()).collect()
        };
        for (rounding, round) in ROUNDINGS {
            for (suffix, sat) in [("", false), (".sat", true)] {
                let after = After { sat, ..Default::default() };
                for (name, op) in [("add", Op::Add), ("sub", Op::Sub)] {
                    form::<Single>(&format!("{name}{rounding}{suffix}.f32.{ty}"), &with(1), |t| {
                        apply::<Single>(op, round, after, [widen(t[0]), t[1], 0])
                    });
                }
                form::<Single>(&format!("fma{rounding}{suffix}.f32.{ty}"), &with(2), |t| {
                    apply::<Single>(Op::Fma, round, after, [widen(t[0]), widen(t[1]), t[2]])
                });
            }
        }
    }
    mixed::<Half>("f16");
    mixed::<BFloat>("bf16");
}
