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

/// The elements of A or B, row by row; `PARTS` of them are in a register.
#[inline(always)]
pub(super) fn gather<const PARTS: usize>(
    fragment: &Fragment,
    from: &[Lanes],
    unpack: Unpack,
    out: &mut [u32],
) {
    let stride = 32 / PARTS as u32 % 32;
    let columns = fragment.sides()[1];
    for (register, lanes) in from.iter().enumerate().take(fragment.registers()) {
        let [line, k] = fragment.tile(register);
        if fragment.role == Role::A {
            for (g, quad) in lanes.as_chunks::<4>().0.iter().enumerate() {
                let start = (line + g) * columns + k;
                let Some(out) = out.get_mut(start..start + 4 * PARTS) else { return };
                for (word, out) in quad.iter().zip(out.as_chunks_mut::<PARTS>().0) {
                    for (part, out) in out.iter_mut().enumerate() {
                        *out = unpack.element(word >> (part as u32 * stride));
                    }
                }
            }
        } else {
            for t in 0..4 {
                let words: [u32; 8] = std::array::from_fn(|g| lanes[4 * g + t]);
                for part in 0..PARTS {
                    let start = (k + t * PARTS + part) * columns + line;
                    let Some(out) = out.get_mut(start..start + 8) else { return };
                    for (out, word) in out.iter_mut().zip(words) {
                        *out = unpack.element(word >> (part as u32 * stride));
                    }
                }
            }
        }
    }
}

/// Calls with each tile of 8 columns of a row of an accumulator: the place of its first element, its number, and the row within the tile.
#[inline(always)]
fn tiles(fragment: &Fragment, mut each: impl FnMut(usize, usize, usize)) {
    let down = fragment.side / 8;
    for tile in 0..down * (fragment.other / 8) {
        for g in 0..8 {
            each((8 * (tile % down) + g) * fragment.other + 8 * (tile / down), tile, g);
        }
    }
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
    tiles(fragment, |at, tile, g| {
        let Some(out) = out.get_mut(at..at + 8) else { return };
        if fragment.per_register == 2 {
            let Some(lanes) = from.get(tile) else { return };
            for t in 0..4 {
                let word = lanes[4 * g + t];
                (out[2 * t], out[2 * t + 1]) = (word & 0xffff, word >> 16);
            }
        } else {
            let Some([even, odd]) = from.get(2 * tile..2 * tile + 2) else { return };
            for t in 0..4 {
                (out[2 * t], out[2 * t + 1]) = (even[4 * g + t], odd[4 * g + t]);
            }
        }
    });
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
    tiles(fragment, |at, tile, g| {
        let Some(d) = d.get(at..at + 8) else { return };
        if fragment.per_register == 2 {
            let Some(lanes) = out.get_mut(tile) else { return };
            for t in 0..4 {
                lanes[4 * g + t] = d[2 * t] & 0xffff | d[2 * t + 1] << 16;
            }
        } else {
            let Some([even, odd]) = out.get_mut(2 * tile..2 * tile + 2) else { return };
            for t in 0..4 {
                (even[4 * g + t], odd[4 * g + t]) = (d[2 * t], d[2 * t + 1]);
            }
        }
    });
}
