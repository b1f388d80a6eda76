//! Atomics of every width, fences, volatile.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::_thread_idx_x;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering::*, compiler_fence, fence};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(no_mangle)]
pub static COUNT: AtomicUsize = AtomicUsize::new(5);
static SMALL: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];
static HALF: AtomicU16 = AtomicU16::new(7);
static FLAG: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn count(bins: *const AtomicU32, least: &AtomicI64, out: *mut u32) {
    let i = unsafe { _thread_idx_x() };
    let bins = unsafe { core::slice::from_raw_parts(bins, 4) };
    bins[i as usize % 3].fetch_add(1, Relaxed);
    bins[3].fetch_xor(i, AcqRel);
    least.fetch_min(-(i as i64), SeqCst);
    COUNT.fetch_add(2, Release);
    SMALL[i as usize % 4].fetch_add(3, Relaxed);
    HALF.fetch_max(i as u16, SeqCst);
    FLAG.fetch_nand(true, Relaxed);
    compiler_fence(SeqCst);
    fence(AcqRel);
    let mut old = bins[2].load(Acquire);
    while let Err(now) = bins[2].compare_exchange_weak(old, old + 10, AcqRel, Relaxed) {
        old = now;
    }
    unsafe { core::arch::nvptx::_syncthreads() };
    if i == 0 {
        let small = SMALL.iter().map(|x| x.load(Relaxed) as u32).sum::<u32>();
        unsafe {
            core::ptr::write_volatile(out, small);
            core::ptr::write_volatile(out.add(1), HALF.load(Acquire) as u32);
            core::ptr::write_volatile(out.add(2), FLAG.load(SeqCst) as u32);
            core::ptr::write_volatile(out.add(3), COUNT.load(SeqCst) as u32);
        }
    }
}
