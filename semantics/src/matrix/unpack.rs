//! Fragments taken out of registers and put back, whole tiles of 8 x 8 at a time: what [`Fragment::place`] says, in loops that become vector code.

use super::element::{Element, Family, Packing};
use super::exchange::Lanes;
use super::layout::{Fragment, Role};

/// How an element comes out of its container.
#[derive(Clone, Copy)]
pub(super) struct Unpack {
    drop: u32,
    mask: u32,
    /// Bits above an integer's sign; 0 for what is not extended.
    extend: u32,
    /// Turns the sign.
    flip: u32,
}

impl Unpack {
    pub fn new(element: Element, packing: Packing, negate: bool) -> Unpack {
        // Bits are multiplied by words.
        let (drop, mask) = match (packing, element) {
            (_, Element::B1) => (0, u32::MAX),
            (Packing::Bytes, Element::E2m1) => (2, 0xf),
            (_, Element::Tf32) => (13, 0x7_ffff),
            (Packing::Tight | Packing::Bytes, _) => (0, u32::MAX >> (32 - element.bits().min(32))),
        };
        let (extend, flip) = match element.family() {
            Family::Integer { bits, signed: true } => (32 - bits, 0),
            Family::Float(format) if negate => (0, format.sign() as u32),
            Family::Integer { .. } | Family::Float(_) | Family::Double | Family::Bit => (0, 0),
        };
        Unpack { drop, mask, extend, flip }
    }

    #[inline(always)]
    pub fn element(self, container: u32) -> u32 {
        let bits = container >> self.drop & self.mask;
        ((bits << self.extend) as i32 >> self.extend) as u32 ^ self.flip
    }
}

/// The elements of A or B, row by row; `PARTS` of them are in a register, and `FOUR` in a register of four lanes.
#[inline(always)]
pub(super) fn gather<const PARTS: usize, const FOUR: usize>(
    fragment: &Fragment,
    from: &[Lanes],
    unpack: Unpack,
    out: &mut [u32],
) {
    const { assert!(FOUR == 4 * PARTS) }
    let columns = fragment.sides()[1];
    for (register, lanes) in from.iter().enumerate().take(fragment.registers()) {
        let [line, k] = fragment.tile(register);
        let quads = &lanes.as_chunks::<4>().0;
        if fragment.role == Role::A {
            for (g, quad) in quads.iter().enumerate() {
                let Some(out) = neighbours_mut::<FOUR>(out, (line + g) * columns + k) else { return };
                *out = std::array::from_fn(|i| unpack.element(part::<PARTS>(quad[i / PARTS], i % PARTS)));
            }
        } else {
            for t in 0..4 {
                let words: [u32; 8] = std::array::from_fn(|g| quads[g][t]);
                for i in 0..PARTS {
                    let Some(out) = neighbours_mut::<8>(out, (k + t * PARTS + i) * columns + line) else {
                        return;
                    };
                    for (out, word) in out.iter_mut().zip(words) {
                        *out = unpack.element(part::<PARTS>(word, i));
                    }
                }
            }
        }
    }
}

/// Element `i` of the `PARTS` in a register, and what is above it.
#[inline(always)]
const fn part<const PARTS: usize>(word: u32, i: usize) -> u32 {
    word >> (i * (32 / PARTS))
}

/// So many neighbours: their number is known, which makes vector code of what is done with them.
#[inline(always)]
fn neighbours<const N: usize>(elements: &[u32], start: usize) -> Option<&[u32; N]> {
    elements.get(start..)?.first_chunk()
}

/// As [`neighbours`], to be written.
#[inline(always)]
fn neighbours_mut<const N: usize>(elements: &mut [u32], start: usize) -> Option<&mut [u32; N]> {
    elements.get_mut(start..)?.first_chunk_mut()
}

/// The tiles of 8 x 8 of an accumulator: the places of their first elements.
#[inline(always)]
fn tiles(fragment: &Fragment) -> impl Iterator<Item = usize> + use<> {
    let (down, columns) = (fragment.side / 8, fragment.other);
    (0..down * (columns / 8)).map(move |tile| 8 * (tile % down) * columns + 8 * (tile / down))
}

/// Calls with each element of an accumulator: its register, lane and lowest bit, and its number in the matrix.
fn each_place(fragment: &Fragment, mut each: impl FnMut(usize, usize, usize, usize)) {
    for register in 0..fragment.registers() {
        for lane in 0..32 {
            for part in 0..fragment.per_register {
                let [row, column] = fragment.place(lane, register, part);
                each(register, lane, 16 * part, row * fragment.other + column);
            }
        }
    }
}

/// The elements of C, row by row.
#[inline(always)]
pub(super) fn accumulate(fragment: &Fragment, from: &[Lanes], out: &mut [u32]) {
    if fragment.transposed {
        each_place(fragment, |register, lane, shift, at| {
            let Some((out, lanes)) = out.get_mut(at).zip(from.get(register)) else { return };
            *out = if fragment.per_register == 2 { lanes[lane] >> shift & 0xffff } else { lanes[lane] };
        });
        return;
    }
    let (columns, packed) = (fragment.other, fragment.per_register == 2);
    for (tile, start) in tiles(fragment).enumerate() {
        for g in 0..8 {
            let Some(out) = neighbours_mut::<8>(out, start + g * columns) else { return };
            if packed {
                let Some(quad) = from.get(tile).map(|lanes| &lanes.as_chunks::<4>().0[g]) else { return };
                *out = std::array::from_fn(|i| part::<2>(quad[i / 2], i % 2) & 0xffff);
            } else {
                let Some([even, odd]) = from.get(2 * tile..2 * tile + 2) else { return };
                let pair = [&even.as_chunks::<4>().0[g], &odd.as_chunks::<4>().0[g]];
                *out = std::array::from_fn(|i| pair[i % 2][i / 2]);
            }
        }
    }
}

/// The registers of D.
#[inline(always)]
pub(super) fn deliver(fragment: &Fragment, d: &[u32], out: &mut [Lanes]) {
    if fragment.transposed {
        out.fill([0; 32]);
        each_place(fragment, |register, lane, shift, at| {
            let Some((lanes, d)) = out.get_mut(register).zip(d.get(at)) else { return };
            lanes[lane] |= if fragment.per_register == 2 { (d & 0xffff) << shift } else { *d };
        });
        return;
    }
    let (columns, packed) = (fragment.other, fragment.per_register == 2);
    for (tile, start) in tiles(fragment).enumerate() {
        for g in 0..8 {
            let Some(d) = neighbours::<8>(d, start + g * columns) else { return };
            if packed {
                let Some(lanes) = out.get_mut(tile) else { return };
                let quad = &mut lanes.as_chunks_mut::<4>().0[g];
                *quad = std::array::from_fn(|t| d[2 * t] & 0xffff | d[2 * t + 1] << 16);
            } else {
                let Some([even, odd]) = out.get_mut(2 * tile..2 * tile + 2) else { return };
                even.as_chunks_mut::<4>().0[g] = std::array::from_fn(|t| d[2 * t]);
                odd.as_chunks_mut::<4>().0[g] = std::array::from_fn(|t| d[2 * t + 1]);
            }
        }
    }
}
