//! Memory that all threads of a launch may write.

use core::marker::PhantomData;

/// A slice whose elements the threads of a launch read and write: what `&mut [T]` cannot be, since there is one for each thread.
///
/// Elements are copied in and out and indices are checked. Two threads that access one element, one of them to write it, need a barrier in between, or
/// atomics on [`SliceMut::as_mut_ptr`]; the race checker of the engine finds what lacks it.
#[derive(Clone, Copy, Debug)]
pub struct SliceMut<'a, T> {
    start: *mut T,
    len: usize,
    of: PhantomData<&'a mut [T]>,
}

// On the host, threads are threads; what a kernel does to the elements is up to it, as on the device.
unsafe impl<T: Send> Send for SliceMut<'_, T> {}
unsafe impl<T: Send> Sync for SliceMut<'_, T> {}

impl<'a, T: Copy> SliceMut<'a, T> {
    /// The elements of a slice, for a launch on the host.
    pub fn new(slice: &'a mut [T]) -> Self {
        SliceMut { start: slice.as_mut_ptr(), len: slice.len(), of: PhantomData }
    }

    /// What an address and a number of elements are, as `#[kernel]` takes them.
    ///
    /// # Safety
    /// The elements are there, aligned and initialised, for as long as the slice is used.
    pub unsafe fn from_raw_parts(start: *mut T, len: usize) -> Self {
        SliceMut { start, len, of: PhantomData }
    }

    /// How many elements.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// True if there is none.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The first element's address.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        self.start
    }

    /// The address of the element at an index, for [atomics](crate::atomic).
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn at(self, index: usize) -> *mut T {
        assert!(index < self.len);
        // SAFETY: the index is in range.
        unsafe { self.start.add(index) }
    }

    /// The element at an index.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn get(self, index: usize) -> T {
        assert!(index < self.len);
        // SAFETY: the index is in range.
        unsafe { self.start.add(index).read() }
    }

    /// Changes the element at an index.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn set(self, index: usize, value: T) {
        assert!(index < self.len);
        // SAFETY: the index is in range.
        unsafe { self.start.add(index).write(value) }
    }
}
