//! Panics with messages, formatting, parsing.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]


use core::arch::nvptx::_thread_idx_x;
use core::fmt::{self, Write};

/// Text in memory of the device.
struct Text {
    bytes: *mut u8,
    len: usize,
    room: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.len == self.room {
                return Err(fmt::Error);
            }
            unsafe { *self.bytes.add(self.len) = byte };
            self.len += 1;
        }
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub static mut MESSAGE: [u8; 256] = [0; 256];

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let mut text = Text { bytes: &raw mut MESSAGE as *mut u8, len: 0, room: 256 };
    if write!(text, "{info}").is_err() {
        unsafe { MESSAGE[255] = b'~' };
    }
    unsafe { core::arch::nvptx::trap() }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn at(data: &[u32], i: usize, out: *mut u32) {
    unsafe { *out = data[i] };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn divide(a: i32, b: i32, out: *mut i32) {
    assert!(a != 7, "seven is not divided, not even by {b}");
    unsafe { *out = a / b };
}

#[derive(Debug)]
#[allow(dead_code)]
struct Point {
    x: i32,
    y: Option<f32>,
    tags: [&'static str; 2],
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn write_text(n: i32, f: f32, out: *mut u8, lens: *mut u64) {
    let i = unsafe { _thread_idx_x() } as usize;
    let mut text = Text { bytes: unsafe { out.add(i * 128) }, len: 0, room: 128 };
    let result = match i {
        0 => write!(text, "{n} {n:+05} {n:#x} {n:#010b}"),
        1 => write!(text, "{f} {f:.3} {f:e} {:?}", f as f64 / 3.0),
        2 => write!(text, "{:?}", Point { x: n, y: Some(f), tags: ["a\n", "b"] }),
        3 => write!(text, "{:#?}", (n, "x", 'ß', ())),
        4 => write!(text, "{:>8}|{:<8}|{:^8}|{:*^9}", n, f, "mid", true),
        _ => write!(text, "{} {:?}", u128::MAX, "42".parse::<i32>().map(|x| x + n)),
    };
    unsafe { *lens.add(i) = if result.is_ok() { text.len as u64 } else { u64::MAX } };
}
