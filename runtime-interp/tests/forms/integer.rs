//! Integer forms: 16-bit operands exhaustively against edge cases, wider ones at the edges and at random.

use super::{Meaning, check};

/// Corners of a width: around zero, the sign, the ends, halves, and single bits.
fn corners(bits: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let mut list = vec![
        0, 1, 2, 3, 5, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 65, 100, 255, 256, 0x7fff, 0x8000, 0xff_ffff,
        0x80_0000,
    ];
    list.extend([
        top,
        top - 1,
        top + 1,
        mask,
        mask - 1,
        mask - 2,
        mask / 3,
        mask / 3 * 2,
        mask ^ (mask >> (bits / 2)),
        mask >> (bits / 2),
    ]);
    list.iter_mut().for_each(|v| *v &= mask);
    list.sort_unstable();
    list.dedup();
    list
}

/// The tuples that an instruction of these operand widths is tried with.
fn tuples(widths: &[u32]) -> Vec<Vec<u64>> {
    let mut all: Vec<Vec<u64>> = vec![Vec::new()];
    let short = widths.len() > 2;
    for bits in widths {
        let list: Vec<u64> = corners(*bits)
            .into_iter()
            .enumerate()
            .filter(|(i, _)| !short || i % 2 == 0)
            .map(|(_, v)| v)
            .collect();
        all = all.iter().flat_map(|t| list.iter().map(move |v| [t.as_slice(), &[*v]].concat())).collect();
    }
    if widths[0] == 16 {
        // Every value of the first operand against a few of the others.
        let others: Vec<Vec<u64>> = all.iter().step_by(61).map(|t| t[1..].to_vec()).collect();
        let others = if widths.len() == 1 { vec![Vec::new()] } else { others };
        all.extend(
            (0..=0xffff)
                .flat_map(|a| others.iter().take(12).map(move |rest| [&[a], rest.as_slice()].concat())),
        );
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..4000 {
        all.push(
            widths
                .iter()
                .map(|bits| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    // Of all magnitudes.
                    (state >> (state % u64::from(*bits))) & (u64::MAX >> (64 - bits))
                })
                .collect(),
        );
    }
    all
}

fn sign(bits: u32, v: u64) -> i128 {
    ((v as i128) << (128 - bits)) >> (128 - bits)
}

fn value(signed: bool, bits: u32, v: u64) -> i128 {
    if signed { sign(bits, v) } else { i128::from(v & (u64::MAX >> (64 - bits))) }
}

fn low(v: i128) -> u64 {
    v as u64
}

const TYPES: [(&str, bool, u32); 6] = [
    ("u16", false, 16),
    ("s16", true, 16),
    ("u32", false, 32),
    ("s32", true, 32),
    ("u64", false, 64),
    ("s64", true, 64),
];

#[test]
fn arithmetic_of_every_type() {
    for (ty, signed, bits) in TYPES {
        let v = move |x: u64| value(signed, bits, x);
        let (one, two, three) = (tuples(&[bits]), tuples(&[bits; 2]), tuples(&[bits; 3]));
        let run2 = |op: &str, f: Meaning| check(&format!("{op}.{ty}"), 2, bits, &two, &f);
        run2("add", Box::new(move |t| low(v(t[0]) + v(t[1]))));
        run2("sub", Box::new(move |t| low(v(t[0]) - v(t[1]))));
        run2("mul.lo", Box::new(move |t| low(v(t[0]).wrapping_mul(v(t[1])))));
        run2("mul.hi", Box::new(move |t| high(signed, bits, t[0], t[1])));
        run2("min", Box::new(move |t| low(v(t[0]).min(v(t[1])))));
        run2("max", Box::new(move |t| low(v(t[0]).max(v(t[1])))));
        // Division by zero gives all ones twice, as ptxas folds it; the quotient that overflows wraps.
        run2("div", Box::new(move |t| if v(t[1]) == 0 { u64::MAX } else { low(v(t[0]) / v(t[1])) }));
        run2("rem", Box::new(move |t| if v(t[1]) == 0 { u64::MAX } else { low(v(t[0]) % v(t[1])) }));
        let run3 = |op: &str, f: Meaning| check(&format!("{op}.{ty}"), 3, bits, &three, &f);
        run3("mad.lo", Box::new(move |t| low(v(t[0]).wrapping_mul(v(t[1])).wrapping_add(v(t[2])))));
        run3("mad.hi", Box::new(move |t| high(signed, bits, t[0], t[1]).wrapping_add(t[2])));
        run3("sad", Box::new(move |t| low(v(t[2]) + (v(t[0]) - v(t[1])).abs())));
        if signed {
            check(&format!("abs.{ty}"), 1, bits, &one, &|t| low(v(t[0]).abs()));
            check(&format!("neg.{ty}"), 1, bits, &one, &|t| low(-v(t[0])));
        }
        if bits < 64 {
            let wide = 2 * bits;
            check(&format!("mul.wide.{ty}"), 2, wide, &two, &|t| low(v(t[0]) * v(t[1])));
            check(&format!("mad.wide.{ty}"), 3, wide, &tuples(&[bits, bits, wide]), &|t| {
                low((v(t[0]) * v(t[1])).wrapping_add(i128::from(t[2])))
            });
        }
        let shifts = tuples(&[bits, 32]);
        let amount = move |n: u64| (n & 0xffff_ffff).min(u64::from(bits)) as u32;
        check(&format!("shr.{ty}"), 2, bits, &shifts, &|t| low(v(t[0]) >> amount(t[1])));
        if !signed {
            check(&format!("shl.b{bits}"), 2, bits, &shifts, &|t| low(i128::from(t[0]) << amount(t[1])));
            for (op, f) in
                [("and", (|a, b| a & b) as fn(u64, u64) -> u64), ("or", |a, b| a | b), ("xor", |a, b| a ^ b)]
            {
                check(&format!("{op}.b{bits}"), 2, bits, &two, &|t| f(t[0], t[1]));
            }
            check(&format!("not.b{bits}"), 1, bits, &one, &|t| !t[0]);
            check(&format!("cnot.b{bits}"), 1, bits, &one, &|t| u64::from(t[0] == 0));
        }
    }
}

/// The upper half of a product.
fn high(signed: bool, bits: u32, a: u64, b: u64) -> u64 {
    if !signed && bits == 64 {
        return ((u128::from(a) * u128::from(b)) >> 64) as u64;
    }
    low((value(signed, bits, a) * value(signed, bits, b)) >> bits)
}

#[test]
fn saturation_relu_and_packed_halves() {
    let two = tuples(&[32; 2]);
    let clamp = |v: i128| low(v.clamp(i32::MIN.into(), i32::MAX.into()));
    let s = |x: u64| sign(32, x);
    check("add.sat.s32", 2, 32, &two, &|t| clamp(s(t[0]) + s(t[1])));
    check("sub.sat.s32", 2, 32, &two, &|t| clamp(s(t[0]) - s(t[1])));
    check("mad.hi.sat.s32", 3, 32, &tuples(&[32; 3]), &|t| clamp(((s(t[0]) * s(t[1])) >> 32) + s(t[2])));
    check("min.relu.s32", 2, 32, &two, &|t| low(s(t[0]).min(s(t[1])).max(0)));
    check("max.relu.s32", 2, 32, &two, &|t| low(s(t[0]).max(s(t[1])).max(0)));
    let halves = |t: &[u64], f: &dyn Fn(u64, u64) -> i128| {
        let half = |i: u32| low(f(t[0] >> (16 * i) & 0xffff, t[1] >> (16 * i) & 0xffff)) & 0xffff;
        half(0) | half(1) << 16
    };
    let h = |x| sign(16, x);
    check("add.u16x2", 2, 32, &two, &|t| halves(t, &|a, b| i128::from(a + b)));
    check("add.s16x2", 2, 32, &two, &|t| halves(t, &|a, b| h(a) + h(b)));
    check("min.u16x2", 2, 32, &two, &|t| halves(t, &|a, b| a.min(b).into()));
    check("max.u16x2", 2, 32, &two, &|t| halves(t, &|a, b| a.max(b).into()));
    check("min.s16x2", 2, 32, &two, &|t| halves(t, &|a, b| h(a).min(h(b))));
    check("max.s16x2", 2, 32, &two, &|t| halves(t, &|a, b| h(a).max(h(b))));
    check("min.relu.s16x2", 2, 32, &two, &|t| halves(t, &|a, b| h(a).min(h(b)).max(0)));
    check("max.relu.s16x2", 2, 32, &two, &|t| halves(t, &|a, b| h(a).max(h(b)).max(0)));
}

#[test]
fn twenty_four_bits_and_dot_products() {
    for (ty, signed) in [("u32", false), ("s32", true)] {
        let product =
            move |t: &[u64]| value(signed, 24, t[0] & 0xff_ffff) * value(signed, 24, t[1] & 0xff_ffff);
        let three = tuples(&[32; 3]);
        check(&format!("mul24.lo.{ty}"), 2, 32, &tuples(&[32; 2]), &|t| low(product(t)));
        check(&format!("mul24.hi.{ty}"), 2, 32, &tuples(&[32; 2]), &|t| low(product(t) >> 16));
        check(&format!("mad24.lo.{ty}"), 3, 32, &three, &|t| low(product(t)).wrapping_add(t[2]));
        check(&format!("mad24.hi.{ty}"), 3, 32, &three, &|t| low(product(t) >> 16).wrapping_add(t[2]));
        for (bty, b_signed) in [("u32", false), ("s32", true)] {
            let part =
                |s: bool, bits: u32, x: u64, i: u32| value(s, bits, x >> (bits * i) & ((1 << bits) - 1));
            check(&format!("dp4a.{ty}.{bty}"), 3, 32, &three, &|t| {
                low((0..4).map(|i| part(signed, 8, t[0], i) * part(b_signed, 8, t[1], i)).sum::<i128>())
                    .wrapping_add(t[2])
            });
            for (name, first) in [("lo", 0), ("hi", 2)] {
                check(&format!("dp2a.{name}.{ty}.{bty}"), 3, 32, &three, &|t| {
                    low((0..2)
                        .map(|i| part(signed, 16, t[0], i) * part(b_signed, 8, t[1], first + i))
                        .sum::<i128>())
                    .wrapping_add(t[2])
                });
            }
        }
    }
    check("mad24.hi.sat.s32", 3, 32, &tuples(&[32; 3]), &|t| {
        let v = ((sign(24, t[0] & 0xff_ffff) * sign(24, t[1] & 0xff_ffff)) >> 16) + sign(32, t[2]);
        low(v.clamp(i32::MIN.into(), i32::MAX.into()))
    });
}

#[test]
fn bits_and_fields() {
    for bits in [32u32, 64] {
        // What counts of position and length: hardware reads all 32 bits at 64 bits.
        let counts = if bits == 64 { 0xffff_ffff } else { 0xff };
        let one = tuples(&[bits]);
        check(&format!("popc.b{bits}"), 1, 32, &one, &|t| {
            (0..bits).filter(|i| t[0] >> i & 1 != 0).count() as u64
        });
        check(&format!("clz.b{bits}"), 1, 32, &one, &|t| {
            (0..bits).rev().take_while(|i| t[0] >> i & 1 == 0).count() as u64
        });
        check(&format!("brev.b{bits}"), 1, bits, &one, &|t| (0..bits).fold(0, |r, i| r << 1 | t[0] >> i & 1));
        for signed in [false, true] {
            let ty = format!("{}{bits}", if signed { 's' } else { 'u' });
            // The highest bit that differs from the sign.
            let found = move |x: u64| {
                let v = if signed && sign(bits, x) < 0 { !x } else { x };
                (0..bits).rev().find(|i| v >> i & 1 != 0)
            };
            check(&format!("bfind.{ty}"), 1, 32, &one, &|t| found(t[0]).map_or(u64::MAX, u64::from));
            check(&format!("bfind.shiftamt.{ty}"), 1, 32, &one, &|t| {
                found(t[0]).map_or(u64::MAX, |i| u64::from(bits - 1 - i))
            });
            check(&format!("bfe.{ty}"), 3, bits, &tuples(&[bits, 32, 32]), &|t| {
                let (start, length) = (t[1] & counts, t[2] & counts);
                let bit = |i: u64| t[0] >> i & 1;
                let last = u64::from(bits - 1);
                let fill = if !signed || length == 0 { 0 } else { bit((start + length - 1).min(last)) };
                (0..u64::from(bits)).fold(0, |d, i| {
                    d | (if i < length && start + i <= last { bit(start + i) } else { fill }) << i
                })
            });
        }
        check(
            &format!("bfi.b{bits}"),
            4,
            bits,
            &tuples(&[bits, bits, 32, 32]).into_iter().step_by(3).collect::<Vec<_>>(),
            &|t| {
                let (start, length) = (t[2] & counts, t[3] & counts);
                (0..u64::from(bits)).fold(0, |d, i| {
                    d | (if i >= start && i < start + length {
                        t[0] >> (i - start) & 1
                    } else {
                        t[1] >> i & 1
                    }) << i
                })
            },
        );
    }
    let three = tuples(&[32; 3]);
    for (mode, clamp) in [("clamp", true), ("wrap", false)] {
        let amount = move |n: u64| if clamp { n.min(32) } else { n & 31 } as u32;
        let pair = |t: &[u64]| t[1] << 32 | t[0];
        check(&format!("shf.l.{mode}.b32"), 3, 32, &three, &|t| {
            ((u128::from(pair(t)) << amount(t[2])) >> 32) as u64
        });
        check(&format!("shf.r.{mode}.b32"), 3, 32, &three, &|t| (u128::from(pair(t)) >> amount(t[2])) as u64);
        check(&format!("bmsk.{mode}.b32"), 2, 32, &tuples(&[32; 2]), &|t| {
            let (start, width) = if clamp { (t[0].min(32), t[1].min(32)) } else { (t[0] & 31, t[1] & 31) };
            (((1u128 << width) - 1) << start) as u64
        });
    }
    check("prmt.b32", 3, 32, &three, &|t| {
        let both = t[1] << 32 | t[0];
        (0..4).fold(0, |d, i| {
            let nibble = t[2] >> (4 * i) & 15;
            let byte = both >> (8 * (nibble & 7)) & 0xff;
            d | (if nibble & 8 == 0 {
                byte
            } else if byte & 0x80 != 0 {
                0xff
            } else {
                0
            }) << (8 * i)
        })
    });
}
