//! Products that an architecture has no circuit for: the operations that instructions become there ([`ByWay`]).
//!
//! The steps are those of the machine code that `ptxas` 13.0 writes; an H100 gives these bits.
//!
//! [`ByWay`]: super::rule::ByWay

use super::element::{Accumulator, Class, Element, classify};
use super::float::{Product, Workspace, formats, to_half};
use super::rule::{ByWay, Rule};
use super::sparse::Partners;
use crate::lanes::Level;
use crate::value::half::{F16, Half};

/// [`ByWay::Halves`].
pub(super) fn halves(
    product: &Product<'_>,
    level: Level,
    workspace: &mut Workspace,
    accumulators: &mut [u32],
) {
    let [_, _, k] = product.shape;
    let Some(rule) = product.rule else { return };
    // Of every four the first two come first.
    let order: Vec<usize> =
        [0, 2].into_iter().flat_map(|low| (0..k).filter(move |at| at & 2 == low)).collect();
    let mut a = Vec::with_capacity(product.a.len());
    let mut rows = Vec::with_capacity(product.a.len());
    for (row, of_a) in product.a.chunks_exact(k).enumerate() {
        a.extend(order.iter().map(|at| half_of(product.types[0], of_a[*at])));
        rows.extend(order.iter().map(|at| product.rows.of(row, *at, k) as u16));
    }
    let b: Vec<u32> = product.b.iter().map(|bits| half_of(product.types[1], *bits)).collect();
    let of_d = product.accumulators[1];
    let mut sums = vec![0; accumulators.len()];
    let steps = Product {
        types: [Element::F16; 2],
        accumulators: [of_d; 2],
        rule: Some(Rule { block: k / 2, by_way: ByWay::Direct, ..rule }),
        a: &a,
        b: &b,
        rows: Partners::Each(&rows),
        ..*product
    };
    steps.run(level, workspace, &mut sums);
    for (c, sum) in accumulators.iter_mut().zip(sums) {
        // f32 has bits enough that a sum of two f16 rounded twice is the sum rounded once.
        *c = narrow(of_d, widen(product.accumulators[0], *c) + widen(of_d, sum));
    }
}

/// [`ByWay::Fused`].
pub(super) fn fused(product: &Product<'_>, accumulators: &mut [u32]) {
    let [_, n, k] = product.shape;
    let [of_c, of_d] = product.accumulators;
    let lines = product.a.chunks_exact(k).zip(accumulators.chunks_exact_mut(n));
    for (row, (of_a, line)) in lines.enumerate() {
        for (column, c) in line.iter_mut().enumerate() {
            let pair = |at: usize| {
                let b = product.b.get(product.rows.of(row, at, k) * n + column).copied().unwrap_or(0);
                [of_a[at], b].map(|bits| widen(Accumulator::F16, bits))
            };
            let addend = widen(of_c, *c);
            let sum = match of_d {
                Accumulator::F16 => (0..k).step_by(2).fold(addend, |sum, at| {
                    let ([a, b], [x, y]) = (pair(at), pair((at + 1).min(k - 1)));
                    sum + x.mul_add(y, a * b)
                }),
                Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => {
                    (0..k).map(pair).fold(0.0f32, |sum, [a, b]| a.mul_add(b, sum)) + addend
                }
            };
            *c = narrow(of_d, sum);
        }
    }
}

/// A float of eight bits as f16, which holds every one of them.
#[inline(always)]
fn half_of(element: Element, bits: u32) -> u32 {
    let (sign, magnitude) = ((bits & 0x80) << 8, bits & 0x7f);
    match element {
        Element::E5m2 if magnitude > 0x7c => 0x7fff,
        Element::E5m2 => sign | magnitude << 8,
        Element::E4m3 if magnitude == 0x7f => 0x7fff,
        Element::E4m3 if magnitude == 0 => sign,
        Element::E4m3 => {
            // The product moves the exponent, and normalises what is subnormal.
            let value = f32::from_bits(magnitude << 20) * f32::from_bits((127 + 120) << 23);
            sign | ((value.to_bits() >> 13) - ((127 - 15) << 10))
        }
        Element::F16
        | Element::Bf16
        | Element::Tf32
        | Element::E3m2
        | Element::E2m3
        | Element::E2m1
        | Element::F64
        | Element::S8
        | Element::U8
        | Element::S4
        | Element::U4
        | Element::B1 => other_half(element, bits),
    }
}

/// As [`half_of`], of formats that no instruction takes to f16 so.
#[cold]
fn other_half(element: Element, bits: u32) -> u32 {
    let [format, _] = formats([element; 2]);
    let sign = u32::from(u64::from(bits) & format.sign() != 0) << 15;
    match classify(format, bits) {
        Class::Nan => 0x7fff,
        Class::Infinity(_) => 0x7c00 | sign,
        Class::Zero => sign,
        Class::Finite(_) => {
            let parts = super::element::parts(format, bits);
            let value = f64::from(parts.magnitude)
                * super::float::power_of_two(parts.exponent - format.fraction_bits as i32);
            to_half(value) | sign
        }
    }
}

fn widen(ty: Accumulator, bits: u32) -> f32 {
    match ty {
        Accumulator::F16 => F16::widen(bits as u16),
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => f32::from_bits(bits),
    }
}

/// The bits of a sum, rounded to nearest even; all NaNs are one.
fn narrow(ty: Accumulator, sum: f32) -> u32 {
    match ty {
        Accumulator::F16 => F16::narrow(sum.into()).into(),
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 if sum.is_nan() => 0x7fff_ffff,
        Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => sum.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Architecture, Unit};
    use super::*;

    /// The instruction's circuit, the elements of A and B, the accumulators' type, a row of A, a column of B, C and D.
    type Row = (Unit, [Element; 2], Accumulator, &'static [u32], &'static [u32], u32, u32);

    /// Elements that an H100 computed; one sum of all products would give most of them other bits.
    #[rustfmt::skip]
    const OF_AN_H100: [Row; 9] = [
        (Unit::Warp, [Element::E4m3, Element::E4m3], Accumulator::F32,
            &[0x65, 0xf2, 0xfc, 0xa5, 0x5a, 0x66, 0xaa, 0xf8, 0xbe, 0x52, 0x1d, 0x07, 0xed, 0x68, 0xe6, 0x45, 0xfc, 0xab, 0xc3, 0x6d, 0x5f, 0xa6, 0xe4, 0x6c, 0xb0, 0x9a, 0x62, 0x4c, 0x64, 0xef, 0xca, 0x28],
            &[0x06, 0x9a, 0x29, 0xa0, 0xc0, 0x25, 0xa9, 0xa3, 0x6d, 0xd1, 0x05, 0xdf, 0x04, 0x39, 0x5f, 0x34, 0xaa, 0xb5, 0x51, 0xdc, 0xb6, 0x28, 0xcd, 0x59, 0xa7, 0x24, 0x35, 0xcc, 0x1c, 0x5e, 0xc0, 0x71],
            0xbfc58f62, 0xc5b0db39),
        (Unit::Warp, [Element::E4m3, Element::E4m3], Accumulator::F32,
            &[0x63, 0xc7, 0x8c, 0x1a, 0x44, 0x88, 0x53, 0xf8, 0xa0, 0xcd, 0xc1, 0xdf, 0xbe, 0x2c, 0xa0, 0x68, 0x3c, 0x36, 0x65, 0x1c, 0xeb, 0xe2, 0x6b, 0x18, 0x8e, 0x5d, 0x58, 0xa8, 0xa8, 0x28, 0xb7, 0x7d],
            &[0x3f, 0x95, 0x67, 0xc0, 0x43, 0xd7, 0xb3, 0x98, 0x82, 0x78, 0xda, 0x32, 0xcf, 0x9d, 0x2b, 0x31, 0xe6, 0x0c, 0xc7, 0x96, 0xe9, 0xa9, 0x5f, 0x55, 0x99, 0x54, 0xe0, 0x24, 0xce, 0x9b, 0xd0, 0x0c],
            0xc06a7ecc, 0x45dbcd87),
        (Unit::Warp, [Element::E4m3, Element::E4m3], Accumulator::F32,
            &[0x4e, 0xc6, 0x4c, 0x4d, 0x1f, 0x17, 0x1f, 0xec, 0x4c, 0x63, 0xdb, 0xe4, 0x15, 0x80, 0x15, 0x0b],
            &[0x49, 0xca, 0x25, 0xca, 0xf1, 0x48, 0x83, 0x45, 0xa8, 0x92, 0x14, 0x35, 0xcf, 0xfa, 0x55, 0x5a],
            0xc1f119e8, 0xc3bfccf4),
        (Unit::Warp, [Element::E5m2, Element::E5m2], Accumulator::F16,
            &[0x94, 0xea, 0x21, 0xc1, 0x60, 0x9b, 0x78, 0xe3, 0xb3, 0xe0, 0x9c, 0x66, 0x3e, 0x3b, 0x64, 0xcb],
            &[0xb3, 0xcb, 0x07, 0xbe, 0xcd, 0xce, 0xb0, 0x23, 0x58, 0xca, 0x34, 0x14, 0x1e, 0x63, 0x84, 0x8e],
            0x95ae, 0x7858),
        (Unit::Warp, [Element::E4m3, Element::E5m2], Accumulator::F16,
            &[0x1d, 0xcd, 0xa2, 0x9f, 0x2b, 0xbd, 0x03, 0x69, 0x95, 0x68, 0x5b, 0x98, 0x25, 0x24, 0x96, 0xaa, 0x14, 0x10, 0x1b, 0xce, 0xc8, 0x73, 0x38, 0x83, 0xc9, 0xa1, 0x03, 0x66, 0x8e, 0xed, 0x98, 0x04],
            &[0x82, 0xd6, 0x1e, 0x60, 0x13, 0xb2, 0x07, 0xa1, 0x59, 0xbf, 0xb7, 0x2e, 0xe8, 0x85, 0x51, 0xdf, 0x2d, 0x59, 0x28, 0x3c, 0xb6, 0x8e, 0x9b, 0xbe, 0xe5, 0x29, 0x6d, 0xaa, 0x92, 0x4e, 0xe4, 0xd9],
            0x1ba6, 0x6ada),
        (Unit::Quad, [Element::F16, Element::F16], Accumulator::F32,
            &[0x55b4, 0x2362, 0xb309, 0xbca7],
            &[0xb894, 0x1a1a, 0x577b, 0xc106],
            0x40ee5720, 0xc2885362),
        (Unit::Quad, [Element::F16, Element::F16], Accumulator::F32,
            &[0x55b4, 0x2362, 0xb309, 0xbca7],
            &[0x4bb2, 0xd6e9, 0xabb7, 0x4dfd],
            0xbbd402de, 0x44abde53),
        (Unit::Quad, [Element::F16, Element::F16], Accumulator::F16,
            &[0x9fcd, 0x22ad, 0xbe14, 0xc694],
            &[0xa1fa, 0x97a3, 0x23af, 0x9cf2],
            0xc277, 0xc272),
        (Unit::Quad, [Element::F16, Element::F16], Accumulator::F16,
            &[0x9fcd, 0x22ad, 0xbe14, 0xc694],
            &[0xcc76, 0x9a68, 0xbc9d, 0x4de9],
            0xccf2, 0xd96b),
    ];

    #[test]
    fn steps_give_the_bits_of_an_h100() {
        for (unit, types, accumulator, a, b, c, expected) in OF_AN_H100 {
            let (k, of_column) = (a.len(), b.iter().flat_map(|b| [*b; 8]).collect::<Vec<_>>());
            let rule = Rule::of(Architecture::Hopper, unit, types[0], false);
            let product = Product {
                shape: [2, 8, k],
                types,
                accumulators: [accumulator; 2],
                rule: Some(rule),
                a: &a.repeat(2),
                b: &of_column,
                rows: Partners::Same,
                scales: None,
            };
            for level in Level::ALL {
                let mut d = [c; 16];
                match rule.by_way {
                    ByWay::Direct => panic!("{unit:?} is direct"),
                    ByWay::Halves => halves(&product, level, &mut Workspace::default(), &mut d),
                    ByWay::Fused => fused(&product, &mut d),
                }
                assert_eq!(d, [expected; 16], "{unit:?} {types:?}");
            }
        }
    }
}
