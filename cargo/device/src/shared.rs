//! Shared memory: variables that each block has its own of.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

/// A variable of a block, as [`shared!`](crate::shared) declares it.
#[repr(transparent)]
pub struct Shared<T>(UnsafeCell<MaybeUninit<T>>);

// The threads of a block share it, and order their accesses by barriers.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// For `shared!`.
    #[doc(hidden)]
    pub const fn new() -> Self {
        Shared(UnsafeCell::new(MaybeUninit::zeroed()))
    }

    /// Its address. What lies there at first is what other blocks have left.
    #[inline(always)]
    pub const fn as_mut_ptr(&self) -> *mut T {
        self.0.get().cast()
    }
}

impl<T: Copy, const N: usize> Shared<[T; N]> {
    /// The address of the element at an index, for [atomics](crate::atomic).
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn at(&self, index: usize) -> *mut T {
        assert!(index < N);
        // SAFETY: the index is in range.
        unsafe { self.as_mut_ptr().cast::<T>().add(index) }
    }

    /// The element at an index. It must have been written.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        assert!(index < N);
        // SAFETY: the index is in range; bytes that were never written are other blocks'.
        unsafe { self.as_mut_ptr().cast::<T>().add(index).read() }
    }

    /// Changes the element at an index.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn set(&self, index: usize, value: T) {
        assert!(index < N);
        // SAFETY: the index is in range.
        unsafe { self.as_mut_ptr().cast::<T>().add(index).write(value) }
    }
}

impl<T: Copy, const N: usize, const M: usize> Shared<[[T; N]; M]> {
    /// The element of a row and a column. It must have been written.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn get_2d(&self, row: usize, column: usize) -> T {
        assert!(column < N);
        // SAFETY: the index is in range; bytes that were never written are other blocks'.
        unsafe { self.at(row).cast::<T>().add(column).read() }
    }

    /// Changes the element of a row and a column.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn set_2d(&self, row: usize, column: usize, value: T) {
        assert!(column < N);
        // SAFETY: the index is in range.
        unsafe { self.at(row).cast::<T>().add(column).write(value) }
    }
}

/// Declares shared memory of a size that is known.
///
/// ```
/// warpsmith_device::shared! {
///     /// A tile.
///     static TILE: [f32; 256];
/// }
/// TILE.set(3, 1.5);
/// assert_eq!(TILE.get(3), 1.5);
/// ```
#[macro_export]
macro_rules! shared {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $ty:ty;)*) => {
        $(
            $(#[$attribute])*
            #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = ".shared"))]
            $visibility static $name: $crate::Shared<$ty> = $crate::Shared::new();
        )*
    };
}

/// The shared memory whose size the launch says: the same for every call, so one kernel has one use of it.
///
/// The bytes are aligned to 16.
#[inline(always)]
pub fn dynamic_shared<T>() -> *mut T {
    const { assert!(align_of::<T>() <= 16) };
    #[cfg(target_arch = "nvptx64")]
    {
        #[repr(C, align(16))]
        struct Bytes([u8; 0]);
        unsafe extern "C" {
            #[link_name = "__warpsmith_dynamic_shared"]
            static START: Bytes;
        }
        (&raw const START).cast_mut().cast()
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        crate::host::dynamic_shared().cast()
    }
}
