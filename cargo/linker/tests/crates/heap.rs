//! `alloc` over the device's malloc: vectors, strings, boxes of traits, trees.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

extern crate alloc;

use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};
use core::alloc::{GlobalAlloc, Layout};
use core::arch::nvptx::_thread_idx_x;

struct Device;

unsafe impl GlobalAlloc for Device {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { core::arch::nvptx::malloc(layout.size()).cast() }
    }
    unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
        unsafe { core::arch::nvptx::free(at.cast()) }
    }
}

#[global_allocator]
static HEAP: Device = Device;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn vectors(data: &[u32], out: *mut u64) {
    let i = unsafe { _thread_idx_x() };
    let mut all: Vec<u64> = data.iter().filter(|x| *x % 2 == i % 2).map(|x| *x as u64 * 3).collect();
    all.extend_from_slice(&[1, 2, 3]);
    all.sort();
    all.dedup();
    let text: String = all.iter().map(|x| format!("<{x}>")).collect();
    let steps: Vec<Box<dyn Fn(u64) -> u64>> =
        Vec::from([Box::new(move |x| x + i as u64) as Box<dyn Fn(u64) -> u64>, Box::new(|x| x * 2), Box::new(|x| x ^ 0x55)]);
    let sum = steps.iter().fold(all.iter().sum::<u64>(), |x, step| step(x));
    unsafe {
        *out.add(i as usize * 2) = sum;
        *out.add(i as usize * 2 + 1) = text.len() as u64;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn words(text: &[u8], out: *mut u32) {
    let text = core::str::from_utf8(text).unwrap_or("?");
    let mut count = BTreeMap::new();
    for word in text.split_whitespace() {
        *count.entry(word).or_insert(0u32) += 1;
    }
    for (n, (word, count)) in count.iter().enumerate() {
        unsafe { *out.add(n) = count * 100 + word.chars().count() as u32 };
    }
}
