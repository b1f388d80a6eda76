//! 128-bit integers and their conversions, checked arithmetic, floats.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::_thread_idx_x;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn wide(a: *const u128, b: *const u128, out: *mut u128) {
    let i = unsafe { _thread_idx_x() } as usize;
    let (a, b, out) = unsafe { (*a.add(i), *b.add(i), core::slice::from_raw_parts_mut(out.add(i * 8), 8)) };
    out[0] = a.wrapping_mul(b);
    out[1] = a.checked_div(b).unwrap_or(1);
    out[2] = a.checked_rem(b).unwrap_or(2);
    out[3] = (a as i128).checked_div(b as i128).unwrap_or(3) as u128;
    out[4] = a.checked_mul(b).unwrap_or(4);
    out[5] = a.saturating_sub(b) ^ (a << (b & 127)) ^ (((a as i128) >> (b & 127)) as u128);
    out[6] = (a as f64 + b as f32 as f64) as u128;
    out[7] = ((a as i128 as f32) * 0.5) as i128 as u128 ^ a.leading_zeros() as u128 ^ (b.count_ones() as u128) << 64;
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn narrow(a: *const i32, b: *const i32, out: *mut i32) {
    let i = unsafe { _thread_idx_x() } as usize;
    let (a, b, out) = unsafe { (*a.add(i), *b.add(i), core::slice::from_raw_parts_mut(out.add(i * 8), 8)) };
    out[0] = a.checked_add(b).unwrap_or(-1);
    out[1] = a.saturating_mul(b);
    out[2] = a.overflowing_sub(b).1 as i32;
    out[3] = (a as i8).wrapping_mul(b as i8) as i32 + (a as u16).rotate_left(b as u32 & 15) as i32;
    out[4] = a.abs_diff(b) as i32 ^ a.swap_bytes() ^ b.reverse_bits();
    out[5] = a.checked_rem_euclid(b).unwrap_or(-5);
    out[6] = (a as f32 * 1.5e3) as i16 as i32;
    out[7] = ((b as f64).sqrt_bits() >> 32) as i32;
}

trait SqrtBits {
    fn sqrt_bits(self) -> u64;
}
impl SqrtBits for f64 {
    fn sqrt_bits(self) -> u64 {
        // Newton's, so that nothing but arithmetic is asked for.
        let x = if self < 0.0 { -self } else { self };
        let mut y = x / 2.0 + 0.5;
        for _ in 0..6 {
            y = 0.5 * (y + x / y);
        }
        (y % 1000.0).to_bits()
    }
}
