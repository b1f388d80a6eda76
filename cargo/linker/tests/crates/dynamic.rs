//! Trait objects, enums with fields, function pointers, matches.
#![no_std]
#![allow(improper_ctypes_definitions)]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::_thread_idx_x;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

trait Shape {
    fn area(&self) -> f32;
    fn name(&self) -> &'static str {
        "shape"
    }
}
struct Square(f32);
struct Circle {
    r: f32,
}
struct Rect(f32, f32);
impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
    fn name(&self) -> &'static str {
        "square"
    }
}
impl Shape for Circle {
    fn area(&self) -> f32 {
        3.0 * self.r * self.r
    }
}
impl Shape for Rect {
    fn area(&self) -> f32 {
        self.0 * self.1
    }
    fn name(&self) -> &'static str {
        "rectangle"
    }
}

static UNIT: Square = Square(1.0);

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn areas(kind: *const u32, size: *const f32, out: *mut f32, names: *mut u32) {
    let i = unsafe { _thread_idx_x() } as usize;
    let size = unsafe { *size.add(i) };
    let (square, circle, rect) = (Square(size), Circle { r: size }, Rect(size, 2.0));
    let shape: &dyn Shape = match unsafe { *kind.add(i) } % 4 {
        0 => &square,
        1 => &circle,
        2 => &rect,
        _ => &UNIT,
    };
    unsafe {
        *out.add(i) = shape.area();
        *names.add(i) = shape.name().len() as u32;
    }
}

enum Command {
    Push(i64),
    Add,
    Mul,
    Swap { a: u8, b: u8 },
    Jump(Option<u16>),
}

static OPERATIONS: [fn(i64, i64) -> i64; 3] = [i64::wrapping_add, i64::wrapping_mul, |a, b| a ^ b];

/// A machine with a stack, over bytes that are taken for commands.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn machine(code: &[u8], out: *mut i64) {
    let i = unsafe { _thread_idx_x() } as usize;
    let mut stack = [0i64; 8];
    let mut top = 0usize;
    for (at, byte) in code.iter().enumerate() {
        let command = match byte >> 5 {
            0 | 1 => Command::Push((*byte as i64) * (i as i64 + 1)),
            2 => Command::Add,
            3 => Command::Mul,
            4 => Command::Swap { a: byte & 7, b: (byte >> 2) & 7 },
            _ => Command::Jump((at as u16).checked_sub(3)),
        };
        match command {
            Command::Push(x) => {
                stack[top & 7] = x;
                top += 1;
            }
            Command::Add => stack[top & 7] = OPERATIONS[0](stack[(top + 7) & 7], stack[(top + 6) & 7]),
            Command::Mul => stack[top & 7] = OPERATIONS[1](stack[(top + 7) & 7], stack[(top + 6) & 7]),
            Command::Swap { a, b } => stack.swap(a as usize, b as usize),
            Command::Jump(to) => stack[0] = OPERATIONS[2](stack[0], to.map_or(-1, i64::from)),
        }
    }
    unsafe { *out.add(i) = stack.iter().fold(17, |hash: i64, x| hash.wrapping_mul(31).wrapping_add(*x)) };
}
