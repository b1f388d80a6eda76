//! Integer arithmetic (PTX ISA 9.0, 9.7.1 and 9.7.2).
//!
//! [`Int`] gives every operation at every width; a value is the unsigned word that holds its bits, `_s` reads the bits as
//! two's complement and `_u` as unsigned. Wrapping addition, subtraction and multiplication are the host's own
//! `wrapping_*`, `and or xor not` its operators.

/// An integer register's bits at one width.
pub trait Int: Copy + Eq {
    /// A word of twice the width.
    type Wide: Copy;
    /// The width in bits.
    const WIDTH: u32;

    /// `add.sat.s32`: the sum, clamped to the signed range.
    fn add_sat_s(self, b: Self) -> Self;
    /// `sub.sat.s32`: the difference, clamped to the signed range.
    fn sub_sat_s(self, b: Self) -> Self;
    /// `mul.hi.uN`: the upper half of the unsigned product.
    fn mul_hi_u(self, b: Self) -> Self;
    /// `mul.hi.sN`: the upper half of the signed product.
    fn mul_hi_s(self, b: Self) -> Self;
    /// `mul.wide.uN`: the whole unsigned product.
    fn mul_wide_u(self, b: Self) -> Self::Wide;
    /// `mul.wide.sN`: the whole signed product.
    fn mul_wide_s(self, b: Self) -> Self::Wide;
    /// `mad.hi.sat.s32`: upper half of the signed product plus `c`, clamped to the signed range.
    fn mad_hi_sat_s(self, b: Self, c: Self) -> Self;
    /// `div.uN`. The manual leaves division by zero open; ptxas folds it to all ones, and so it is here.
    fn div_u(self, b: Self) -> Self;
    /// `div.sN`: toward zero; the smallest value divided by -1 wraps to itself, division by zero gives all ones.
    fn div_s(self, b: Self) -> Self;
    /// `rem.uN`: all ones for a zero divisor, as ptxas folds it.
    fn rem_u(self, b: Self) -> Self;
    /// `rem.sN`: the sign of the dividend; all ones for a zero divisor.
    fn rem_s(self, b: Self) -> Self;
    /// `sad.uN`: `c + |a - b|`.
    fn sad_u(self, b: Self, c: Self) -> Self;
    /// `sad.sN`: `c + |a - b|`.
    fn sad_s(self, b: Self, c: Self) -> Self;
    /// `abs.sN`: the smallest value maps to itself.
    fn abs_s(self) -> Self;
    /// `min.sN`.
    fn min_s(self, b: Self) -> Self;
    /// `max.sN`.
    fn max_s(self, b: Self) -> Self;
    /// `.relu`: negative values become zero.
    fn relu_s(self) -> Self;
    /// `add.cc` and `addc`: the sum with a carry in, and the carry out. `subc` adds the complement of `b`.
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
    /// `cnot`: one for zero, else zero.
    fn cnot(self) -> Self;
}

macro_rules! int {
    ($($u:ident $i:ident $wu:ident $wi:ident,)*) => {$(
        impl Int for $u {
            type Wide = $wu;
            const WIDTH: u32 = $u::BITS;

            #[inline]
            fn add_sat_s(self, b: Self) -> Self {
                (self as $i).saturating_add(b as $i) as $u
            }
            #[inline]
            fn sub_sat_s(self, b: Self) -> Self {
                (self as $i).saturating_sub(b as $i) as $u
            }
            #[inline]
            fn mul_hi_u(self, b: Self) -> Self {
                (self.mul_wide_u(b) >> $u::BITS) as $u
            }
            #[inline]
            fn mul_hi_s(self, b: Self) -> Self {
                (self.mul_wide_s(b) >> $u::BITS) as $u
            }
            #[inline]
            fn mul_wide_u(self, b: Self) -> $wu {
                self as $wu * b as $wu
            }
            #[inline]
            fn mul_wide_s(self, b: Self) -> $wu {
                (self as $i as $wi * b as $i as $wi) as $wu
            }
            #[inline]
            fn mad_hi_sat_s(self, b: Self, c: Self) -> Self {
                self.mul_hi_s(b).add_sat_s(c)
            }
            #[inline]
            fn div_u(self, b: Self) -> Self {
                self.checked_div(b).unwrap_or($u::MAX)
            }
            #[inline]
            fn div_s(self, b: Self) -> Self {
                if b == 0 { $u::MAX } else { (self as $i).wrapping_div(b as $i) as $u }
            }
            #[inline]
            fn rem_u(self, b: Self) -> Self {
                self.checked_rem(b).unwrap_or($u::MAX)
            }
            #[inline]
            fn rem_s(self, b: Self) -> Self {
                if b == 0 { $u::MAX } else { (self as $i).wrapping_rem(b as $i) as $u }
            }
            #[inline]
            fn sad_u(self, b: Self, c: Self) -> Self {
                c.wrapping_add(self.abs_diff(b))
            }
            #[inline]
            fn sad_s(self, b: Self, c: Self) -> Self {
                c.wrapping_add((self as $i).abs_diff(b as $i))
            }
            #[inline]
            fn abs_s(self) -> Self {
                (self as $i).wrapping_abs() as $u
            }
            #[inline]
            fn min_s(self, b: Self) -> Self {
                (self as $i).min(b as $i) as $u
            }
            #[inline]
            fn max_s(self, b: Self) -> Self {
                (self as $i).max(b as $i) as $u
            }
            #[inline]
            fn relu_s(self) -> Self {
                self.max_s(0)
            }
            #[inline]
            fn add_carry(self, b: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = self.overflowing_add(b);
                let (sum, second) = sum.overflowing_add(carry as $u);
                (sum, first | second)
            }
            #[inline]
            fn cnot(self) -> Self {
                (self == 0) as $u
            }
        }
    )*};
}

int! {
    u8 i8 u16 i16,
    u16 i16 u32 i32,
    u32 i32 u64 i64,
    u64 i64 u128 i128,
}

/// The low 24 bits, zero- or sign-extended: what `mul24` and `mad24` read of an operand.
#[inline]
fn low24(a: u32, signed: bool) -> i64 {
    if signed { ((a << 8) as i32 >> 8) as i64 } else { (a & 0xff_ffff) as i64 }
}

/// `mul24.lo`: bits 31..0 of the 48-bit product.
#[inline]
pub fn mul24_lo(signed: bool, a: u32, b: u32) -> u32 {
    low24(a, signed).wrapping_mul(low24(b, signed)) as u32
}

/// `mul24.hi`: bits 47..16 of the 48-bit product.
#[inline]
pub fn mul24_hi(signed: bool, a: u32, b: u32) -> u32 {
    (low24(a, signed).wrapping_mul(low24(b, signed)) >> 16) as u32
}

/// `dp4a`: `c` plus the dot product of four bytes, each side signed or not.
#[inline]
pub fn dp4a(a_signed: bool, b_signed: bool, a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(c, |sum, i| sum.wrapping_add(byte(a, i, a_signed).wrapping_mul(byte(b, i, b_signed))))
}

/// `dp2a`: `c` plus the dot product of `a`'s two halves with two bytes of `b`, the upper two if `hi`.
#[inline]
pub fn dp2a(hi: bool, a_signed: bool, b_signed: bool, a: u32, b: u32, c: u32) -> u32 {
    let first = if hi { 2 } else { 0 };
    (0..2).fold(c, |sum, i| {
        let half = (a >> (16 * i)) as u16;
        let half = if a_signed { half as i16 as u32 } else { half as u32 };
        sum.wrapping_add(half.wrapping_mul(byte(b, first + i, b_signed)))
    })
}

#[inline]
fn byte(word: u32, i: u32, signed: bool) -> u32 {
    let b = (word >> (8 * i)) as u8;
    if signed { b as i8 as u32 } else { b as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [u64; 14] = [
        0,
        1,
        2,
        7,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x8000_0000_0000_0000,
        u64::MAX,
    ];

    /// Checks one width against `i128`, in which no operation here overflows.
    macro_rules! check_width {
        ($u:ident $i:ident $values:expr) => {
            for a in $values {
                for b in $values {
                    let (a, b) = (a as $u, b as $u);
                    let (ua, ub, sa, sb) = (a as i128, b as i128, a as $i as i128, b as $i as i128);
                    let clamp = |v: i128| v.clamp($i::MIN as i128, $i::MAX as i128) as $u;
                    assert_eq!(a.add_sat_s(b), clamp(sa + sb), "{a:#x} + {b:#x}");
                    assert_eq!(a.sub_sat_s(b), clamp(sa - sb), "{a:#x} - {b:#x}");
                    assert_eq!(a.mul_hi_s(b), (sa * sb >> $u::BITS) as $u, "{a:#x} * {b:#x}");
                    assert_eq!(a.mul_hi_u(b), ((a as u128 * b as u128) >> $u::BITS) as $u);
                    assert_eq!(
                        a.mul_wide_s(b) as u128,
                        (sa * sb) as u128 & (u128::MAX >> (128 - 2 * $u::BITS))
                    );
                    assert_eq!(a.mul_wide_u(b) as u128, a as u128 * b as u128);
                    assert_eq!(a.mad_hi_sat_s(b, a), clamp((sa * sb >> $u::BITS) + sa));
                    assert_eq!(a.sad_s(b, 3), ((sa - sb).abs() + 3) as $u);
                    assert_eq!(a.sad_u(b, 3), ((ua - ub).abs() + 3) as $u);
                    if b != 0 {
                        assert_eq!(a.div_s(b), (sa / sb) as $u, "{a:#x} / {b:#x}");
                        assert_eq!(a.rem_s(b), (sa % sb) as $u, "{a:#x} % {b:#x}");
                        assert_eq!(a.div_u(b), (ua / ub) as $u);
                        assert_eq!(a.rem_u(b), (ua % ub) as $u);
                    } else {
                        assert_eq!([a.div_s(b), a.rem_s(b), a.div_u(b), a.rem_u(b)], [$u::MAX; 4]);
                    }
                    assert_eq!(a.min_s(b), sa.min(sb) as $u);
                    assert_eq!(a.max_s(b), sa.max(sb) as $u);
                    for carry in [false, true] {
                        let sum = ua + ub + carry as i128;
                        assert_eq!(a.add_carry(b, carry), (sum as $u, sum > $u::MAX as i128));
                        let difference = ua - ub - carry as i128;
                        assert_eq!(a.add_carry(!b, !carry), (difference as $u, difference >= 0));
                    }
                }
                assert_eq!((a as $u).abs_s(), (a as $i).unsigned_abs() as $u);
                assert_eq!((a as $u).relu_s(), (a as $i as i128).max(0) as $u);
            }
        };
    }

    #[test]
    fn eight_bit_arithmetic_is_exact_everywhere() {
        check_width!(u8 i8 0..=255u64);
    }

    #[test]
    fn wider_arithmetic_is_exact_at_the_edges() {
        check_width!(u16 i16 EDGES);
        check_width!(u32 i32 EDGES);
        check_width!(u64 i64 EDGES);
    }

    #[test]
    fn twenty_four_bit_products() {
        for a in EDGES.map(|a| a as u32 ^ 0x5a00_0000) {
            for b in EDGES.map(|b| b as u32 ^ 0xa500_0000) {
                let (za, zb) = ((a & 0xff_ffff) as i128, (b & 0xff_ffff) as i128);
                let sign = |v: i128| if v & 0x80_0000 != 0 { v - 0x100_0000 } else { v };
                assert_eq!(mul24_lo(false, a, b), (za * zb) as u32);
                assert_eq!(mul24_hi(false, a, b), ((za * zb) >> 16) as u32);
                assert_eq!(mul24_lo(true, a, b), (sign(za) * sign(zb)) as u32);
                assert_eq!(mul24_hi(true, a, b), ((sign(za) * sign(zb)) >> 16) as u32);
            }
        }
    }

    #[test]
    fn dot_products() {
        assert_eq!(dp4a(false, false, 0x01_02_03_04, 0x05_06_07_08, 10), 10 + 5 + 12 + 21 + 32);
        assert_eq!(dp4a(true, false, 0xff, 0xff, 0), -255i32 as u32);
        assert_eq!(dp4a(false, true, 0xff, 0xff, 0), -255i32 as u32);
        assert_eq!(dp4a(true, true, 0xff, 0xff, 0), 1);
        assert_eq!(dp2a(false, false, false, 0x0002_0003, 0x40_30_20_10, 1), 1 + 3 * 0x10 + 2 * 0x20);
        assert_eq!(dp2a(true, false, false, 0x0002_0003, 0x40_30_20_10, 1), 1 + 3 * 0x30 + 2 * 0x40);
        assert_eq!(dp2a(false, true, true, 0xffff_8000, 0x80_ff, 0), 0x8000 + 0x80);
    }
}
