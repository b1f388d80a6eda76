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
//! // On the host the same function runs with one host thread per device thread:
//! let x = [1.0, 2.0, 3.0];
//! let mut y = [10.0; 3];
//! let out = SliceMut::new(&mut y);
//! warpsmith_device::host::launch([1, 1, 1], [4, 1, 1], || saxpy(2.0, &x, out));
//! assert_eq!(y, [12.0, 14.0, 16.0]);
//! ```
//!
//! Compiled for `nvptx64-nvidia-cuda` with `warpsmith-linker`, or by `warpsmith-build`, it is the entry
//! `saxpy(a, x, x_len, y, y_len)` of a `.ptx`. Nightly is not needed: where stable Rust lacks syntax, the linker interprets symbol names.
//!
//! - [`thread`]: indices and sizes; [`sync`]: barriers and fences; [`warp`]: shuffles and votes; [`atomic`]: with scopes, for what
//!   `core::sync::atomic` lacks; [`shared!`] and [`dynamic_shared`]: shared memory; [`math`]; [`printf!`]; [`Heap`]: for `alloc`;
//! - [`instructions!`]: any instruction of PTX as a function, typed by the tables, which can also run on the host; [`ptx!`]: PTX text;
//! - [`host`]: launches on the host, in unit tests.

#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod atomic;
mod heap;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
pub mod math;
pub mod print;
mod shared;
mod slice;
pub mod sync;
pub mod thread;
pub mod warp;

pub use heap::Heap;
pub use shared::{Shared, dynamic_shared};
pub use slice::SliceMut;
/// PTX instructions as functions, generated from Warpsmith's instruction tables: every form of PTX 9.3 except control flow
/// and instructions that use the carry flag.
///
/// A register is a parameter or a result, braces are an array, `d|p` is two results, `[a]` is a pointer (of Rust, so generic: it is converted to the state
/// space that the instruction names) and makes the function `unsafe`. Names are those of the manual's syntax. Types are the instruction's; if Rust lacks a type,
/// an integer of that size is used. Braces after the instruction hold the constants that it requires, and the names of optional operands to
/// include.
///
/// On the host a function computes the same as Warpsmith's engine, accesses the host's memory, and exchanges data with the other threads of
/// [`host::launch`]; unsupported instructions (asynchronous bulk copies, matrix products, textures) panic with their name.
///
/// ```
/// warpsmith_device::instructions! {
///     /// The majority of three, bit by bit.
///     pub fn majority = "lop3.b32" { lut: 0xe8 };
///     pub fn add_down = "add.rm.ftz.f32";
///     pub fn widen = "cvt.f32.f16";
///     pub unsafe fn load4 = "ld.global.v4.f32";
///     pub unsafe fn increment = "atom.global.inc.u32";
/// }
/// assert_eq!(majority(0b1100, 0b1010, 0b1001), 0b1000);
/// assert_eq!(add_down(1.0, 1e-9), 1.0);
/// assert_eq!(widen(0x3e00), 1.5);
/// let mut data = [1.0, 2.0, 3.0, 4.0];
/// // SAFETY: four elements are there.
/// assert_eq!(unsafe { load4(data.as_mut_ptr()) }, data);
/// ```
#[cfg(feature = "instructions")]
pub use warpsmith_device_macros::instructions;
/// Makes a function a kernel.
///
/// The function itself is unchanged, for the host and for other device functions. A parameter `&[T]` or [`SliceMut<T>`] becomes two kernel parameters, an
/// address and a number of elements; everything else is passed as by `extern "C"`.
pub use warpsmith_device_macros::kernel;
/// Functions implemented in PTX.
///
/// `{}` is the result, `{name}` a parameter; other braces are kept. Strings that follow one another are one. On the host the function executes the `else` block, or panics if there is none. The text is parsed and its
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
