//! Several small values in one register: `u16x2 s16x2 f16x2 bf16x2` in 32 bits, `f32x2` in 64.

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
    fn halves_do_not_mix() {
        assert_eq!(map2_16([0x0001_ffff, 0x0002_0001], |[a, b]| a.wrapping_add(b)), 0x0003_0000);
        assert_eq!(map2_32([1 << 32 | 0xffff_ffff, 2 << 32 | 1], |[a, b]| a.wrapping_add(b)), 3 << 32);
        let [low, high] = split_16(0x1234_5678);
        assert_eq!((low, high, join_16(low, high)), (0x5678, 0x1234, 0x1234_5678));
    }
}
