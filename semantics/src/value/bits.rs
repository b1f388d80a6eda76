//! Shifts, bit fields, counts and byte permutation (PTX ISA 9.0, 9.7.1.14 to 9.7.1.22, 9.7.8, 9.7.9.7).

/// Bit operations at one width; a value is the unsigned word that holds its bits.
pub trait Word: Copy + Eq {
    /// `shl`: amounts of the width or more give zero.
    fn shl_clamp(self, amount: u32) -> Self;
    /// `shr.uN`, `shr.bN`: amounts of the width or more give zero.
    fn shr_u_clamp(self, amount: u32) -> Self;
    /// `shr.sN`: amounts of the width or more give copies of the sign.
    fn shr_s_clamp(self, amount: u32) -> Self;
    /// `bfind.uN`: the position of the highest one, or all ones.
    fn bfind_u(self) -> u32;
    /// `bfind.sN`: the position of the highest bit that differs from the sign, or all ones.
    fn bfind_s(self) -> u32;
    /// `bfind.shiftamt.uN`: how far left the highest one is from the top, or all ones.
    fn bfind_shiftamt_u(self) -> u32;
    /// `bfind.shiftamt.sN`.
    fn bfind_shiftamt_s(self) -> u32;
    /// `bfe.uN`: `length` bits from `start`. At 64 bits both count whole, below only their low 8 bits do.
    fn bfe_u(self, start: u32, length: u32) -> Self;
    /// `bfe.sN`: the field's sign, which is the operand's own where the field passes its end, fills the rest.
    fn bfe_s(self, start: u32, length: u32) -> Self;
    /// `bfi`: `self` put into `base` at `start`, `length` bits. At 64 bits both count whole, below only their low 8 bits do.
    fn bfi(self, base: Self, start: u32, length: u32) -> Self;
}

/// What counts of the position or the length of a bit field. The manual speaks of the low 8 bits for every width (9.7.1.19,
/// 9.7.1.20); hardware has instructions for 32 bits that read so, and makes the 64-bit operations of shifts that read all 32.
#[inline(always)]
const fn field<T>(operand: u32) -> u32 {
    if size_of::<T>() == 8 { operand } else { operand & 0xff }
}

macro_rules! word {
    ($($u:ident $i:ident,)*) => {$(
        impl Word for $u {
            #[inline]
            fn shl_clamp(self, amount: u32) -> Self {
                // Written as a select over a masked shift, which the compiler vectorises; `checked_shl` is the same value.
                if amount < $u::BITS { self.wrapping_shl(amount) } else { 0 }
            }
            #[inline]
            fn shr_u_clamp(self, amount: u32) -> Self {
                if amount < $u::BITS { self.wrapping_shr(amount) } else { 0 }
            }
            #[inline]
            fn shr_s_clamp(self, amount: u32) -> Self {
                (self as $i).wrapping_shr(amount.min($u::BITS - 1)) as $u
            }
            #[inline]
            fn bfind_u(self) -> u32 {
                ($u::BITS - 1).wrapping_sub(self.leading_zeros())
            }
            #[inline]
            fn bfind_s(self) -> u32 {
                (self ^ self.shr_s_clamp($u::BITS)).bfind_u()
            }
            #[inline]
            fn bfind_shiftamt_u(self) -> u32 {
                if self == 0 { u32::MAX } else { self.leading_zeros() }
            }
            #[inline]
            fn bfind_shiftamt_s(self) -> u32 {
                (self ^ self.shr_s_clamp($u::BITS)).bfind_shiftamt_u()
            }
            #[inline]
            fn bfe_u(self, start: u32, length: u32) -> Self {
                self.shr_u_clamp(field::<$u>(start)) & !$u::MAX.shl_clamp(field::<$u>(length))
            }
            #[inline]
            fn bfe_s(self, start: u32, length: u32) -> Self {
                let (start, length) = (field::<$u>(start), field::<$u>(length));
                if length == 0 {
                    return 0;
                }
                // A field that passes the top holds copies of the sign there: shifting right arithmetically makes them.
                let spare = $u::BITS - length.min($u::BITS);
                self.shr_s_clamp(start).wrapping_shl(spare).shr_s_clamp(spare)
            }
            #[inline]
            fn bfi(self, base: Self, start: u32, length: u32) -> Self {
                let start = field::<$u>(start);
                let mask = (!$u::MAX.shl_clamp(field::<$u>(length))).shl_clamp(start);
                base & !mask | self.shl_clamp(start) & mask
            }
        }
    )*};
}

word! {
    u8 i8,
    u16 i16,
    u32 i32,
    u64 i64,
}

/// `fns.b32`: the position of the `offset`-th set bit counted from `base`, upward if positive, downward if negative; all ones
/// if there is none. It follows the manual's pseudocode, as ptxas does, not its table of examples.
#[inline]
pub fn fns(mask: u32, base: u32, offset: u32) -> u32 {
    let offset = offset as i32;
    // The offset cannot be negated, and hardware finds the lowest bit whatever the mask and the base.
    if offset == i32::MIN {
        return 0;
    }
    if base >= 32 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let upward = offset > 0;
    let mut left = offset.unsigned_abs();
    let mut position = base as i32;
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += if upward { 1 } else { -1 };
    }
    u32::MAX
}

/// `szext`: the low `n` bits of `a` sign- or zero-extended; `clamp` leaves `a` alone for 32 and above, wrapping takes `n` modulo 32.
#[inline]
pub fn szext(clamp: bool, signed: bool, a: u32, n: u32) -> u32 {
    if clamp && n >= 32 {
        return a;
    }
    let n = n & 31;
    if n == 0 {
        0
    } else if signed {
        ((a << (32 - n)) as i32 >> (32 - n)) as u32
    } else {
        a & !(u32::MAX << n)
    }
}

/// `bmsk`: `width` ones from bit `start`; `clamp` saturates both at 32, wrapping takes them modulo 32.
#[inline]
pub fn bmsk(clamp: bool, start: u32, width: u32) -> u32 {
    let (start, width) = if clamp { (start.min(32), width.min(32)) } else { (start & 31, width & 31) };
    (!u32::MAX.shl_clamp(width)).shl_clamp(start)
}

/// `lop3`: for each bit position the table entry numbered by the bits of `a`, `b` and `c`, `a`'s the most significant.
#[inline]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let minterm = |i: u32| {
        let pick = |word: u32, bit: u32| if i >> bit & 1 != 0 { word } else { !word };
        let chosen = if table >> i & 1 != 0 { u32::MAX } else { 0 };
        pick(a, 2) & pick(b, 1) & pick(c, 0) & chosen
    };
    (0..8).fold(0, |d, i| d | minterm(i))
}

/// `shf.l`: the upper 32 bits of `b:a` shifted left.
#[inline]
pub fn shf_l(clamp: bool, a: u32, b: u32, amount: u32) -> u32 {
    let n = if clamp { amount.min(32) } else { amount & 31 };
    ((((b as u64) << 32 | a as u64) << n) >> 32) as u32
}

/// `shf.r`: the lower 32 bits of `b:a` shifted right.
#[inline]
pub fn shf_r(clamp: bool, a: u32, b: u32, amount: u32) -> u32 {
    let n = if clamp { amount.min(32) } else { amount & 31 };
    (((b as u64) << 32 | a as u64) >> n) as u32
}

/// How `prmt` reads its third operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Permute {
    /// No mode: four selectors of four bits.
    #[default]
    Generic,
    /// `.f4e`: forward four extract.
    Forward4,
    /// `.b4e`: backward four extract.
    Backward4,
    /// `.rc8`: one byte four times.
    Replicate8,
    /// `.ecl`: edge clamp left.
    EdgeLeft,
    /// `.ecr`: edge clamp right.
    EdgeRight,
    /// `.rc16`: one half twice.
    Replicate16,
}

/// `prmt`: four bytes chosen from the eight of `b:a`; in the generic mode a selector's top bit asks for the byte's sign instead.
#[inline]
pub fn prmt(mode: Permute, a: u32, b: u32, c: u32) -> u32 {
    let bytes = (b as u64) << 32 | a as u64;
    let n = c & 3;
    let selectors = match mode {
        Permute::Generic => c,
        Permute::Forward4 => 0x3210 + 0x1111 * n,
        Permute::Backward4 => [0x5670, 0x6701, 0x7012, 0x0123][n as usize],
        Permute::Replicate8 => 0x1111 * n,
        Permute::EdgeLeft => [0x3210, 0x3211, 0x3222, 0x3333][n as usize],
        Permute::EdgeRight => [0x0000, 0x1110, 0x2210, 0x3210][n as usize],
        Permute::Replicate16 => [0x1010, 0x3232][n as usize & 1],
    };
    (0..4).fold(0, |d, i| {
        let selector = selectors >> (4 * i);
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        d | (byte as u32) << (8 * i)
    })
}

/// The product of two polynomials over the field of two elements, whose coefficients are the bits: `clmad` without its addend.
#[inline]
pub fn carryless_product(a: u64, b: u64) -> u128 {
    (0..64).filter(|i| b >> i & 1 != 0).fold(0, |sum, i| sum ^ (a as u128) << i)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The manual's pseudocode for `bfe`, bit by bit (9.7.1.19), after what counts of the operands.
    fn bfe_by_bits(a: u64, start: u32, length: u32, width: u32, signed: bool) -> u64 {
        let (pos, len, msb) = (u64::from(start), u64::from(length), u64::from(width) - 1);
        let bit = |i: u64| a >> i & 1;
        let sign = if !signed || len == 0 { 0 } else { bit((pos + len - 1).min(msb)) };
        (0..=msb).fold(0, |d, i| d | if i < len && pos + i <= msb { bit(pos + i) } else { sign } << i)
    }

    #[test]
    fn bit_fields_agree_with_the_pseudocode_everywhere() {
        for a in [0, 1, 0x8000_0000, 0xffff_ffff, 0x1234_5678_9abc_def0, 0xf0f0_0f0f_8001_7ffe, u64::MAX] {
            for start in (0..70).chain([128, 200, 255, 256, 260, 0x8000_0000, u32::MAX]) {
                for length in (0..70).chain([128, 255, 256, 261, 0x8000_0000, u32::MAX]) {
                    let narrow = a as u32;
                    let (low_start, low_length) = (start & 0xff, length & 0xff);
                    for signed in [false, true] {
                        let expected = bfe_by_bits(narrow.into(), low_start, low_length, 32, signed) as u32;
                        let found =
                            if signed { narrow.bfe_s(start, length) } else { narrow.bfe_u(start, length) };
                        assert_eq!(found, expected, "32 bits of {narrow:#x}: {start} {length} {signed}");
                        let expected = bfe_by_bits(a, start, length, 64, signed);
                        let found = if signed { a.bfe_s(start, length) } else { a.bfe_u(start, length) };
                        assert_eq!(found, expected, "64 bits of {a:#x}: {start} {length} {signed}");
                    }
                    let base = !a.rotate_left(13);
                    let insert = |start: u32, length: u32, width: u64| {
                        let start = u64::from(start);
                        let inside = (0..u64::from(length)).take_while(|i| start + i < width);
                        inside.fold(base, |d, i| d & !(1 << (start + i)) | (a >> i & 1) << (start + i))
                    };
                    assert_eq!(a.bfi(base, start, length), insert(start, length, 64));
                    assert_eq!(
                        narrow.bfi(base as u32, start, length),
                        insert(low_start, low_length, 32) as u32
                    );
                }
            }
        }
    }

    #[test]
    fn masks_and_extensions_agree_with_the_manual() {
        for a in (0..40).chain([63, 64, u32::MAX]) {
            for b in (0..40).chain([63, 64, u32::MAX]) {
                for clamp in [false, true] {
                    // 9.7.1.22
                    let (a1, b1) = (a & 31, b & 31);
                    let position_overflow = clamp && a >= 32;
                    let mask0 = if position_overflow { 0 } else { u32::MAX << a1 };
                    let mask1 = if a1 + b1 >= 32 || position_overflow || (clamp && b >= 32) {
                        0
                    } else if b1 == 0 {
                        u32::MAX
                    } else {
                        u32::MAX << (a1 + b1)
                    };
                    // The width zero is empty whatever the sum says.
                    let expected = if b == 0 || (!clamp && b1 == 0) { 0 } else { mask0 & !mask1 };
                    assert_eq!(bmsk(clamp, a, b), expected, "bmsk {clamp} {a} {b}");
                    // 9.7.1.21
                    for value in [0u32, 0x1ff, 0x8000_0000, 0xdead_beef, u32::MAX] {
                        let too_large = b >= 32 && clamp;
                        let mask = if too_large { 0 } else { u32::MAX << b1 };
                        let sign = b1 != 0 && !too_large && value >> (b1.wrapping_sub(1) & 31) & 1 != 0;
                        assert_eq!(szext(clamp, false, value, b), value & !mask);
                        assert_eq!(szext(clamp, true, value, b), value & !mask | if sign { mask } else { 0 });
                    }
                }
            }
        }
    }

    #[test]
    fn every_table_of_lop3() {
        for table in 0..=255u8 {
            let d = lop3(0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa, table);
            assert_eq!(
                d,
                u32::from_ne_bytes([table; 4]),
                "applied to its own generators a table gives itself"
            );
        }
    }

    #[test]
    fn funnel_shifts_clamp_and_wrap() {
        let (a, b) = (0x1122_3344, 0xaabb_ccdd);
        for n in 0..70 {
            let clamped = n.min(32);
            let left = |n: u32| {
                if n == 32 {
                    a
                } else if n == 0 {
                    b
                } else {
                    b << n | a >> (32 - n)
                }
            };
            let right = |n: u32| {
                if n == 32 {
                    b
                } else if n == 0 {
                    a
                } else {
                    b << (32 - n) | a >> n
                }
            };
            assert_eq!(shf_l(true, a, b, n), left(clamped));
            assert_eq!(shf_r(true, a, b, n), right(clamped));
            assert_eq!(shf_l(false, a, b, n), left(n & 31));
            assert_eq!(shf_r(false, a, b, n), right(n & 31));
        }
    }

    #[test]
    fn products_without_carries() {
        // (x + 1)^2 = x^2 + 1, and x^63 times x^63.
        assert_eq!(carryless_product(3, 3), 5);
        assert_eq!(carryless_product(1 << 63, 1 << 63), 1 << 126);
        assert_eq!(carryless_product(u64::MAX, 2), (u64::MAX as u128) << 1);
        assert_eq!(carryless_product(0x1234, 0), 0);
    }

    #[test]
    fn permute_modes() {
        let (a, b) = (0x8322_1100, 0x7766_5544);
        let run = |mode| [0, 1, 2, 3].map(|c| prmt(mode, a, b, c));
        assert_eq!(run(Permute::Forward4), [0x8322_1100, 0x4483_2211, 0x5544_8322, 0x6655_4483]);
        assert_eq!(run(Permute::Backward4), [0x5566_7700, 0x6677_0011, 0x7700_1122, 0x0011_2283]);
        assert_eq!(run(Permute::Replicate8), [0, 0x1111_1111, 0x2222_2222, 0x8383_8383]);
        assert_eq!(run(Permute::EdgeLeft), [0x8322_1100, 0x8322_1111, 0x8322_2222, 0x8383_8383]);
        assert_eq!(run(Permute::EdgeRight), [0, 0x1111_1100, 0x2222_1100, 0x8322_1100]);
        assert_eq!(run(Permute::Replicate16), [0x1100_1100, 0x8322_8322, 0x1100_1100, 0x8322_8322]);
        assert_eq!(prmt(Permute::Generic, a, b, 0xb7c0), 0xff77_0000);
    }

    #[test]
    fn shifts_clamp() {
        for n in [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, u32::MAX] {
            let wide = |n: u32| n.min(127);
            assert_eq!(0x81u8.shl_clamp(n), (0x81u128 << wide(n)) as u8);
            assert_eq!(0x8001u16.shr_s_clamp(n), ((0x8001u16 as i16 as i128) >> wide(n)) as u16);
            assert_eq!(0x8000_0001u32.shr_u_clamp(n), (0x8000_0001u128 >> wide(n)) as u32);
            assert_eq!(0x8000_0000_0000_0001u64.shl_clamp(n), (0x8000_0000_0000_0001u128 << wide(n)) as u64);
            assert_eq!(u64::MAX.shr_s_clamp(n), u64::MAX);
        }
    }
}
