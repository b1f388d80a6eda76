//! `spcompress` and `spdecompress`: two of four elements kept, and put back (PTX ISA 9.4, 9.7.10.30 and 9.7.10.31).
//!
//! Elements stand in registers from the lowest bits up, and so do those that are kept, in their order, and their indices. Of equal
//! elements the manual leaves open which one is kept: here it is the first.

/// How elements of a type compare, as a key and whether the element is NaN.
///
/// `kind` is the field of the descriptor; 0 and 1 mean what the width says. Kinds that do not go with the width are read as 0.
#[inline]
fn key(wide: bool, kind: u32, element: u32) -> (i32, bool) {
    let float = |sign: u32, top: u32| {
        let magnitude = (element & (sign - 1)) as i32;
        // -0 is less than +0.
        let key = if element & sign != 0 { -magnitude - 1 } else { magnitude };
        (key, magnitude > top as i32)
    };
    match (wide, kind) {
        (true, 1) => float(0x8000, 0x7f80),
        (true, _) => float(0x8000, 0x7c00),
        (false, 1) => (element as u8 as i8 as i32, false),
        (false, 2) => float(0x80, 0x7c),
        (false, 3) => float(0x80, 0x7e),
        (false, 4 | 5) => float(0x20, 0x3f),
        (false, _) => (element as i32, false),
    }
}

/// The magnitude that `MAXABS` and `MINABS` compare.
#[inline]
fn magnitude(wide: bool, kind: u32, element: u32) -> i32 {
    match (wide, kind) {
        (false, 1) => (element as u8 as i8 as i32).abs(),
        (false, 4 | 5) => (element & 0x1f) as i32,
        (false, 2 | 3) => (element & 0x7f) as i32,
        (false, _) => element as i32,
        (true, _) => (element & 0x7fff) as i32,
    }
}

/// Two indices of four, the lower one first: those that the descriptor asks for, NaNs before all.
#[inline]
fn chosen(wide: bool, elements: [u32; 4], descriptor: u32) -> [usize; 2] {
    let (operation, kind) = (descriptor & 3, descriptor >> 2 & 7);
    let rank = elements.map(|element| {
        let (key, nan) = key(wide, kind, element);
        let key = if operation & 1 == 0 { key } else { magnitude(wide, kind, element) };
        (nan, if operation & 2 == 0 { key } else { -key })
    });
    let best = |but: Option<usize>| {
        let candidates = (0..4).rev().filter(|i| Some(*i) != but);
        // The last of equals that `max_by_key` sees is the first.
        candidates.max_by_key(|i| rank[*i]).unwrap_or(0)
    };
    let first = best(None);
    let second = best(Some(first));
    [first.min(second), first.max(second)]
}

/// Two of the four 16-bit elements of two registers, and their indices, `index_bits` each.
#[inline]
pub fn compress_16(low: u32, high: u32, descriptor: u32, index_bits: u32) -> (u32, u32) {
    let elements = [low & 0xffff, low >> 16, high & 0xffff, high >> 16];
    let [i, j] = chosen(true, elements, descriptor);
    (elements[i] | elements[j] << 16, (i as u32) | (j as u32) << index_bits)
}

/// Two of the four 8-bit elements of a register, and their indices.
#[inline]
pub fn compress_8(register: u32, descriptor: u32, index_bits: u32) -> (u32, u32) {
    let elements = register.to_le_bytes().map(u32::from);
    let [i, j] = chosen(false, elements, descriptor);
    (elements[i] | elements[j] << 8, (i as u32) | (j as u32) << index_bits)
}

/// What one group of a compressed vector adds to one register of the dense one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spread {
    /// How many elements a group keeps: 1, 2 or 4.
    pub kept: u32,
    /// Of how many: up to 16.
    pub length: u32,
    /// The bits of an element: 8 or 16.
    pub element_bits: u32,
    /// The bits of an index: 2 or 4.
    pub index_bits: u32,
    /// Where the group's elements begin in the register of elements: a multiple of 8.
    pub elements_at: u32,
    /// Where its indices begin in theirs.
    pub indices_at: u32,
    /// Which element of the group the register begins with, less than 16, or 0 where the group begins within the register.
    pub first: u32,
    /// Where the group begins in the register: 0 or 16.
    pub at: u32,
}

impl Spread {
    /// The spread as a number, for callers that pass it along as one.
    pub fn code(self) -> u32 {
        self.kept
            | self.length << 3
            | self.element_bits << 8
            | self.index_bits << 13
            | (self.elements_at >> 3) << 16
            | self.indices_at << 18
            | self.first << 23
            | (self.at >> 4) << 27
    }

    /// The inverse of [`Spread::code`].
    #[inline]
    pub fn from_code(code: u32) -> Spread {
        Spread {
            kept: code & 7,
            length: code >> 3 & 0x1f,
            element_bits: code >> 8 & 0x1f,
            index_bits: code >> 13 & 7,
            elements_at: (code >> 16 & 3) << 3,
            indices_at: code >> 18 & 0x1f,
            first: code >> 23 & 0xf,
            at: (code >> 27 & 1) << 4,
        }
    }

    /// The register with the elements whose indices lie in it; an index beyond the group is dropped with its element.
    #[inline]
    pub fn apply(self, elements: u32, indices: u32) -> u32 {
        let (elements, indices) = (elements >> self.elements_at, indices >> self.indices_at);
        (0..self.kept).fold(0, |register, i| {
            let element = elements >> (i * self.element_bits) & ((1 << self.element_bits) - 1);
            let index = indices >> (i * self.index_bits) & ((1 << self.index_bits) - 1);
            let at = index.wrapping_sub(self.first).wrapping_mul(self.element_bits).wrapping_add(self.at);
            let inside = index >= self.first && index < self.length && at < 32;
            if inside { register | element << at } else { register }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 0;
    const MAXABS: u32 = 1;
    const MIN: u32 = 2;
    const MINABS: u32 = 3;

    #[test]
    fn bytes_that_are_kept() {
        let run = |operation, kind: u32| compress_8(0x80ff_0105, operation | kind << 2, 2);
        // As u8: 5, 1, 255, 128.
        assert_eq!(run(MAX, 0), (0x80ff, 0b1110));
        assert_eq!(run(MIN, 0), (0x0105, 0b0100));
        // As s8: 5, 1, -1, -128.
        assert_eq!(run(MAX, 1), (0x0105, 0b0100));
        assert_eq!(run(MAXABS, 1), (0x8005, 0b1100));
        assert_eq!(run(MINABS, 1), (0xff01, 0b1001));
        // As e4m3 0xff is NaN, and kept whatever is asked for; 0x80 is -0.
        assert_eq!(run(MAX, 3), (0xff05, 0b1000));
        assert_eq!(run(MIN, 3), (0x80ff, 0b1110));
        assert_eq!(compress_8(0x80ff_0105, 3 << 2, 4), (0xff05, 0x20));
        assert_eq!(compress_8(0x0505_0505, 0, 2), (0x0505, 0b0100), "the first of equals");
    }

    #[test]
    fn halves_that_are_kept() {
        // 1, -2, 0.5, -0 of f16.
        let run = |operation| compress_16(0xc000_3c00, 0x8000_3800, operation, 2);
        assert_eq!(run(MAX), (0x3800_3c00, 0b1000));
        assert_eq!(run(MAXABS), (0xc000_3c00, 0b0100));
        assert_eq!(run(MIN), (0x8000_c000, 0b1101));
        assert_eq!(run(MINABS), (0x8000_3800, 0b1110));
        // -0 is less than +0; 0x7c01 is NaN in f16 and a number in bf16.
        assert_eq!(compress_16(0x0000_8000, 0x8000_8000, MAX, 2).1, 0b0100);
        assert_eq!(compress_16(0x7c01_7b00, 0x7b00_7b00, MIN, 2).1, 0b0100);
        assert_eq!(compress_16(0x7c01_7b00, 0x7b00_7b00, MIN | 1 << 2, 2).1, 0b1000);
    }

    #[test]
    fn what_is_compressed_is_spread_again() {
        let (elements, indices) = compress_8(0x80ff_0105, MAXABS | 1 << 2, 2);
        let spread = Spread {
            kept: 2,
            length: 4,
            element_bits: 8,
            index_bits: 2,
            elements_at: 0,
            indices_at: 0,
            first: 0,
            at: 0,
        };
        assert_eq!(spread.apply(elements, indices), 0x8000_0005);
        let upper = Spread { elements_at: 16, indices_at: 28, ..spread };
        assert_eq!(upper.apply(elements << 16, indices << 28), 0x8000_0005);
        // Elements 5 and 6 of a group of eight 16-bit ones are in its registers 2 and 3.
        let wide = |first| Spread { element_bits: 16, index_bits: 4, length: 8, first, ..spread };
        let spread_wide = [0, 2, 4, 6].map(|first| wide(first).apply(0x2222_1111, 0x65));
        assert_eq!(spread_wide, [0, 0, 0x1111_0000, 0x2222]);
        assert_eq!(wide(6).apply(0x2222_1111, 0x98), 0, "indices beyond the group");
        let half = Spread { kept: 1, length: 2, at: 16, ..spread };
        assert_eq!(half.apply(0x77, 1), 0x7700_0000);
        let last = Spread { length: 16, first: 14, at: 16, elements_at: 24, indices_at: 28, ..half };
        for spread in [spread, upper, wide(6), half, last] {
            assert_eq!(Spread::from_code(spread.code()), spread);
        }
    }
}
