//! Several small values in one register: `u8x4 s8x4 u16x2 s16x2 f16x2 bf16x2` in 32 bits, `f32x2` in 64.

/// Applies an operation to both halves of a 32-bit register.
#[inline(always)]
pub fn map2_16<const N: usize>(operands: [u32; N], f: impl Fn([u16; N]) -> u16) -> u32 {
    let low = f(operands.map(|x| x as u16));
    let high = f(operands.map(|x| (x >> 16) as u16));
    low as u32 | (high as u32) << 16
}

/// Applies an operation to both halves of a 64-bit register.
#[inline(always)]
pub fn map2_32<const N: usize>(operands: [u64; N], f: impl Fn([u32; N]) -> u32) -> u64 {
    let low = f(operands.map(|x| x as u32));
    let high = f(operands.map(|x| (x >> 32) as u32));
    low as u64 | (high as u64) << 32
}

/// Applies an operation to the four bytes of a 32-bit register.
#[inline(always)]
pub fn map4_8<const N: usize>(operands: [u32; N], f: impl Fn([u8; N]) -> u8) -> u32 {
    u32::from_le_bytes([0, 8, 16, 24].map(|at| f(operands.map(|x| (x >> at) as u8))))
}

/// The lanes of a register of 16 bits each that make a condition true, as all ones, the others as zeros.
#[inline(always)]
pub fn mask2_16(a: u32, b: u32, f: impl Fn(u16, u16) -> bool) -> u32 {
    map2_16([a, b], |[a, b]| if f(a, b) { u16::MAX } else { 0 })
}

/// The bytes of a register that make a condition true, as all ones, the others as zeros.
#[inline(always)]
pub fn mask4_8(a: u32, b: u32, f: impl Fn(u8, u8) -> bool) -> u32 {
    map4_8([a, b], |[a, b]| if f(a, b) { u8::MAX } else { 0 })
}

/// Splits a 32-bit register into its low and high half.
#[inline(always)]
pub fn split_16(a: u32) -> [u16; 2] {
    [a as u16, (a >> 16) as u16]
}

/// Joins a low and a high half.
#[inline(always)]
pub fn join_16(low: u16, high: u16) -> u32 {
    low as u32 | (high as u32) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_do_not_mix() {
        assert_eq!(map4_8([0xff80_7f01, 0x0180_0101], |[a, b]| a.wrapping_add(b)), 0x0000_8002);
        // As ptxas 13.5 folds `add.sat.s8x4`.
        let sum = |a: u8, b: u8| (a as i8).saturating_add(b as i8) as u8;
        assert_eq!(map4_8([0x7fff_0180, 0x01ff_0180], |[a, b]| sum(a, b)), 0x7ffe_0280);
        assert_eq!(mask4_8(0x0102_0304, 0x0103_0280, |a, b| a < b), 0x00ff_00ff);
        assert_eq!(mask4_8(0x0102_0304, 0x0103_0280, |a, b| (a as i8) < b as i8), 0x00ff_0000);
        assert_eq!(mask2_16(0x8000_0001, 0x0000_0001, |a, b| a == b), 0xffff);
    }

    #[test]
    fn halves_do_not_mix() {
        assert_eq!(map2_16([0x0001_ffff, 0x0002_0001], |[a, b]| a.wrapping_add(b)), 0x0003_0000);
        assert_eq!(map2_32([1 << 32 | 0xffff_ffff, 2 << 32 | 1], |[a, b]| a.wrapping_add(b)), 3 << 32);
        let [low, high] = split_16(0x1234_5678);
        assert_eq!((low, high, join_16(low, high)), (0x5678, 0x1234, 0x1234_5678));
    }
}
