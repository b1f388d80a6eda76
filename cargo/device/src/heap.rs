//! Memory for `alloc`.

use core::alloc::{GlobalAlloc, Layout};

/// The device's heap (`malloc` and `free` of CUDA's device run time; the standard library's on the host), for crates that use `alloc`:
///
/// ```
/// extern crate alloc;
///
/// #[global_allocator]
/// static HEAP: warpsmith_device::Heap = warpsmith_device::Heap;
///
/// let squares: alloc::vec::Vec<u32> = (0..4).map(|x| x * x).collect();
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
///
/// On a GPU the heap is 8 MiB unless the host sets CUDA's `cudaLimitMallocHeapSize`. An allocation that fails panics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

#[cfg(target_arch = "nvptx64")]
mod device {
    unsafe extern "C" {
        pub fn malloc(bytes: usize) -> *mut u8;
        pub fn free(at: *mut u8);
    }

    /// What `malloc` aligns to.
    pub const ALIGN: usize = 16;
}

// SAFETY: on the device, an address from `malloc` is aligned to 16; for more, the block begins later, and the word before it is the address to free.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        #[cfg(target_arch = "nvptx64")]
        {
            use device::{ALIGN, malloc};
            if layout.align() <= ALIGN {
                // SAFETY: it takes any size.
                return unsafe { malloc(layout.size()) };
            }
            let Some(bytes) = layout.size().checked_add(layout.align()) else { return core::ptr::null_mut() };
            // SAFETY: it takes any size.
            let whole = unsafe { malloc(bytes) };
            if whole.is_null() {
                return whole;
            }
            // `whole` is a multiple of 16, so there are at least 16 bytes before the next multiple of the alignment.
            let skipped = layout.align() - whole.addr() % layout.align();
            // SAFETY: both are within the allocation.
            unsafe {
                let start = whole.add(skipped);
                start.cast::<*mut u8>().sub(1).write(whole);
                start
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            // SAFETY: the caller's.
            unsafe { std::alloc::System.alloc(layout) }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        #[cfg(target_arch = "nvptx64")]
        {
            // SAFETY: `alloc` made it with this layout.
            unsafe {
                let whole =
                    if layout.align() <= device::ALIGN { at } else { at.cast::<*mut u8>().sub(1).read() };
                device::free(whole);
            }
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            // SAFETY: the caller's.
            unsafe { std::alloc::System.dealloc(at, layout) }
        }
    }
}
