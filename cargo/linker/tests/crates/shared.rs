//! Shared memory through a section, barriers.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _syncthreads, _thread_idx_x};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(link_section = ".shared")]
static mut TILE: [f32; 256] = [0.0; 256];

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn block_sum(data: &[f32], out: *mut f32) {
    unsafe {
        let (t, n) = (_thread_idx_x() as usize, _block_dim_x() as usize);
        let tile = &raw mut TILE as *mut f32;
        *tile.add(t) = data.get(_block_idx_x() as usize * n + t).copied().unwrap_or(0.0);
        _syncthreads();
        let mut half = n / 2;
        while half > 0 {
            if t < half {
                *tile.add(t) += *tile.add(t + half);
            }
            _syncthreads();
            half /= 2;
        }
        if t == 0 {
            *out.add(_block_idx_x() as usize) = *tile;
        }
    }
}
