//! Kernels for NVIDIA GPUs in stable Rust.
//!
//! ```
//! use warpsmith_device::{SliceMut, kernel, thread};
//!
//! #[kernel]
//! pub fn saxpy(a: f32, x: &[f32], y: SliceMut<f32>) {
//!     let i = thread::index();
//!     if i < y.len() {
//!         y.set(i, a * x[i] + y.get(i));
//!     }
//! }
//!
//! // On the host the same function runs, one thread of the host for each of the device's:
//! let x = [1.0, 2.0, 3.0];
//! let mut y = [10.0; 3];
//! let out = SliceMut::new(&mut y);
//! warpsmith_device::host::launch([1, 1, 1], [4, 1, 1], || saxpy(2.0, &x, out));
//! assert_eq!(y, [12.0, 14.0, 16.0]);
//! ```
//!
//! Compiled for `nvptx64-nvidia-cuda` with `warpsmith-linker`, or by `warpsmith-build`, it is the entry
//! `saxpy(a, x, x_len, y, y_len)` of a `.ptx`. Nothing of this takes nightly: what stable Rust has no syntax for is said in names, which the linker reads.
//!
//! - [`thread`]: indices and sizes; [`sync`]: barriers and fences; [`warp`]: shuffles and votes; [`atomic`]: with scopes, for what
//!   `core::sync::atomic` lacks; [`shared!`] and [`dynamic_shared`]: shared memory; [`math`]; [`printf!`];
//! - [`ptx!`]: any instruction of PTX as a function;
//! - [`host`]: launches on the host, in unit tests.

#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod atomic;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
pub mod math;
pub mod print;
mod shared;
mod slice;
pub mod sync;
pub mod thread;
pub mod warp;

pub use shared::{Shared, dynamic_shared};
pub use slice::SliceMut;
/// Makes a function a kernel.
///
/// The function stays as it is, for the host and for other functions of the device. A parameter `&[T]` or [`SliceMut<T>`] is two of the kernel, an
/// address and a number of elements; everything else is passed as `extern "C"` does.
pub use warpsmith_device_macros::kernel;
/// Functions that are PTX.
///
/// `{}` is the result, `{name}` a parameter; other braces stay. On the host a function does what stands behind `else`, or panics. The text is parsed and its
/// operands are checked when the kernel is linked.
///
/// ```
/// warpsmith_device::ptx! {
///     /// The bytes of two words that a selector names.
///     pub fn permute(a: u32, b: u32, selector: u32) -> u32 = "prmt.b32 {}, {a}, {b}, {selector};" else {
///         let all = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
///         u32::from_le_bytes([0, 4, 8, 12].map(|shift| all[(selector >> shift & 7) as usize]))
///     };
/// }
/// assert_eq!(permute(0x03020100, 0x07060504, 0x7531), 0x07050301);
/// ```
pub use warpsmith_device_macros::ptx;

#[cfg(all(target_arch = "nvptx64", feature = "panic-handler"))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // Not the message: formatting would be most of a small kernel.
    if let Some(place) = info.location() {
        print::panicked(place.file(), place.line(), place.column());
    }
    sync::trap();
    loop {}
}
