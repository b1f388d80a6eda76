//! Bytes at addresses of the client: copies, fills, and what the parameters of a launch point to.
//!
//! **Invariant.** Every function relies on its caller for addresses: device memory comes as a [`Span`](warpsmith::interp::Span), which lives and was
//! checked; memory of the client is trusted to be as long as the call says, as any C library must.

use super::Pointer;

/// A place of some bytes: in the memory of the client, or in a span that a keeper holds.
pub fn copy(from: Pointer, to: Pointer, bytes: usize) {
    // SAFETY: the module's invariant; the places may overlap.
    unsafe { std::ptr::copy(from.0.cast_const().cast::<u8>(), to.0.cast::<u8>(), bytes) }
}

/// Writes a pattern of 1, 2 or 4 bytes, `count` times.
pub fn fill(to: Pointer, pattern: u32, width: usize, count: usize) {
    let at = to.0.cast::<u8>();
    if width == 1 {
        // SAFETY: the module's invariant.
        unsafe { at.write_bytes(pattern as u8, count) }
        return;
    }
    let bytes = pattern.to_le_bytes();
    for i in 0..count {
        // SAFETY: as above.
        unsafe { at.add(i * width).copy_from_nonoverlapping(bytes.as_ptr(), width) }
    }
}

/// The bytes at a place.
pub fn bytes(from: Pointer, count: usize) -> Vec<u8> {
    let mut found = vec![0u8; count];
    if count > 0 {
        // SAFETY: the module's invariant; the vector is new.
        unsafe { found.as_mut_ptr().copy_from_nonoverlapping(from.0.cast_const().cast::<u8>(), count) }
    }
    found
}

/// Writes bytes to a place.
pub fn write(to: Pointer, bytes: &[u8]) {
    // SAFETY: the module's invariant; the source is a reference and hence not there.
    unsafe { to.0.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
}

/// The text at a place that ends with a zero, the zero left out.
pub fn text(from: Pointer) -> Vec<u8> {
    // SAFETY: the module's invariant.
    unsafe { std::ffi::CStr::from_ptr(from.0.cast_const().cast()) }.to_bytes().to_vec()
}
