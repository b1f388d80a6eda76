//! Slices, iterators, closures, generics: what a first kernel is made of.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

fn index() -> usize {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn saxpy(a: f32, x: &[f32], y: *mut f32) {
    let i = index();
    if i < x.len() {
        unsafe { *y.add(i) += a * x[i] };
    }
}

/// A thread, a row: windows, filters, zips and a closure that captures.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn rows(data: &[i32], width: usize, limit: i32, out: *mut i32) {
    let Some(row) = data.chunks(width).nth(index()) else { return };
    let small = |x: &&i32| **x < limit;
    let sum: i32 = row.iter().filter(small).map(|x| x * x).sum();
    let rises = row.windows(2).filter(|pair| pair[0] < pair[1]).count() as i32;
    let last = row.iter().rev().zip(row).map(|(a, b)| a.wrapping_mul(*b)).fold(1, i32::wrapping_add);
    let best = row.iter().copied().max_by_key(|x| (x % 10, -x)).unwrap_or(-1);
    unsafe {
        let out = core::slice::from_raw_parts_mut(out.add(index() * 4), 4);
        out.copy_from_slice(&[sum, rises, last, best]);
    }
}

trait Number: Copy {
    const ONE: Self;
    fn times(self, other: Self) -> Self;
}
impl Number for f64 {
    const ONE: f64 = 1.0;
    fn times(self, other: f64) -> f64 {
        self * other
    }
}
impl Number for u8 {
    const ONE: u8 = 1;
    fn times(self, other: u8) -> u8 {
        self.wrapping_mul(other)
    }
}

#[inline(never)]
fn power<T: Number>(base: T, exponent: u32) -> T {
    (0..exponent).fold(T::ONE, |all, _| all.times(base))
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn powers(f: *mut f64, b: *mut u8) {
    let i = index();
    unsafe {
        *f.add(i) = power(*f.add(i), i as u32);
        *b.add(i) = power(*b.add(i), i as u32);
    }
}

/// Sorts in place, with core's own sort.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sort(data: *mut u32, len: usize) {
    let data = unsafe { core::slice::from_raw_parts_mut(data, len) };
    data.sort_unstable_by_key(|x| core::cmp::Reverse(*x));
}
