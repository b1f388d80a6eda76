//! Blocks of guest memory, and the only code that touches their bytes.
//!
//! **Invariant.** The bytes of a block are reached through raw pointers alone; no reference into a block ever exists. Memory
//! that several host threads can reach during a launch (global memory) is accessed by relaxed atomics of the guest's access
//! width ([`Concurrent`]), so a data race of the guest is not one of the host: it reads old or new values. Accesses of different widths that race are
//! outside what the Rust manual promises, but are byte-wise consistent in LLVM's model and on every machine it targets.
//! Memory that belongs to the host thread which runs a block (shared, local) or that nothing writes (const, param) is accessed plainly
//! ([`Private`]). Guest atomics are host read-modify-writes, sequentially consistent.
//!
//! Every function here that takes a pointer relies on its caller for bounds and alignment; `engine::access` checks both for
//! all lanes of a warp at once.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A block of memory, zeroed when it is allocated. Clones are the same block, which lives as long as one of them.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    start: NonNull<u8>,
    len: usize,
    /// What gives the memory back; nothing for memory that is someone else's.
    _owner: Option<Arc<dyn Owner>>,
}

/// Whoever a block's memory belongs to: it is given back when this is dropped.
pub(crate) trait Owner: Send + Sync + std::fmt::Debug {}

/// Memory of the host's allocator.
#[derive(Debug)]
struct Allocated {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is only used to give the memory back.
unsafe impl Send for Allocated {}
// SAFETY: as above.
unsafe impl Sync for Allocated {}
impl Owner for Allocated {}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: allocated in `Bytes::zeroed` with this layout, and no `Bytes` of it is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

// SAFETY: a block is plain memory without thread affinity; see the module's invariant for concurrent access.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// Blocks are aligned as the strictest vector access and cache line need.
    const ALIGN: usize = 128;
    /// So many bytes behind a block of the host's allocator can be read: machine code reads 16 bytes at an element.
    const PAST: usize = 16;

    /// A block of `len` zero bytes; `None` if the host has not that much.
    pub fn zeroed(len: usize) -> Option<Bytes> {
        let layout = Layout::from_size_align(len.checked_add(Self::PAST)?, Self::ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Bytes { start, len, _owner: Some(Arc::new(Allocated { start, layout })) })
    }

    /// The block of `len` bytes at a place of the host's memory.
    ///
    /// # Safety
    /// The bytes can be read and written until the last clone of the block and `owner` are dropped, and no reference to any of them exists meanwhile.
    pub unsafe fn at(start: NonNull<u8>, len: usize, owner: Option<Arc<dyn Owner>>) -> Bytes {
        Bytes { start, len, _owner: owner }
    }

    /// A block of no bytes.
    pub fn none() -> Bytes {
        Bytes { start: NonNull::dangling(), len: 0, _owner: None }
    }

    /// A block with a copy of `bytes`.
    pub fn copied(bytes: &[u8]) -> Option<Bytes> {
        let block = Bytes::zeroed(bytes.len())?;
        block.write(0, bytes);
        Some(block)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Copies bytes in; panics if they do not fit. For the host, between launches.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset <= self.len && bytes.len() <= self.len - offset, "write past a block");
        // SAFETY: in bounds; the source is a reference and hence not in a block.
        unsafe { self.start().add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Copies bytes out; panics if the range is not within the block. For the host, between launches.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.len && into.len() <= self.len - offset, "read past a block");
        // SAFETY: in bounds; the destination is a reference and hence not in a block.
        unsafe { into.as_mut_ptr().copy_from_nonoverlapping(self.start().add(offset), into.len()) }
    }

    /// Copies within the block; panics if either range is not within it.
    #[inline]
    pub fn copy(&self, from: usize, to: usize, len: usize) {
        let fits = |at: usize| at <= self.len && len <= self.len - at;
        assert!(fits(from) && fits(to), "copy past a block");
        // SAFETY: in bounds; both ways allow overlap.
        unsafe {
            let (from, to) = (self.start().add(from), self.start().add(to));
            // The arguments of calls are of these lengths, and many: without a call for each.
            match len {
                4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
                16 => to.cast::<[u8; 16]>().write(from.cast::<[u8; 16]>().read()),
                _ => from.copy_to(to, len),
            }
        }
    }

    /// Copies bytes out by relaxed atomics, in the widest units that alignment allows; panics if the range is not within the block.
    pub fn load_relaxed(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.len && into.len() <= self.len - offset, "read past a block");
        let mut done = 0;
        while done < into.len() {
            let (at, rest) = (offset + done, &mut into[done..]);
            // SAFETY: in bounds, and aligned to the unit.
            unsafe {
                let p = self.start().add(at);
                done += match unit(p.addr(), rest.len()) {
                    8 => copy_to(rest, u64::load_relaxed(p).to_le_bytes()),
                    4 => copy_to(rest, u32::load_relaxed(p).to_le_bytes()),
                    2 => copy_to(rest, u16::load_relaxed(p).to_le_bytes()),
                    _ => copy_to(rest, [u8::load_relaxed(p)]),
                };
            }
        }
    }

    /// Copies bytes in by relaxed atomics; panics if they do not fit.
    pub fn store_relaxed(&self, offset: usize, bytes: &[u8]) {
        assert!(offset <= self.len && bytes.len() <= self.len - offset, "write past a block");
        let mut done = 0;
        while done < bytes.len() {
            let (at, rest) = (offset + done, &bytes[done..]);
            // SAFETY: in bounds, and aligned to the unit.
            unsafe {
                let p = self.start().add(at);
                done += match unit(p.addr(), rest.len()) {
                    8 => {
                        u64::from_le_bytes(first(rest)).store_relaxed(p);
                        8
                    }
                    4 => {
                        u32::from_le_bytes(first(rest)).store_relaxed(p);
                        4
                    }
                    2 => {
                        u16::from_le_bytes(first(rest)).store_relaxed(p);
                        2
                    }
                    _ => {
                        rest[0].store_relaxed(p);
                        1
                    }
                };
            }
        }
    }

    /// Replaces a value of 1, 2, 4 or 8 bytes by a function of it, atomically; panics if it is misaligned or not within the block.
    pub fn update(&self, offset: usize, bytes: usize, f: impl Fn(u64) -> u64) {
        assert!(offset <= self.len && bytes <= self.len - offset, "update past a block");
        let p = self.start().wrapping_add(offset);
        assert!(
            matches!(bytes, 1 | 2 | 4 | 8) && p.addr().is_multiple_of(bytes),
            "an update must be aligned"
        );
        // SAFETY: in bounds, and aligned to the width.
        unsafe {
            match bytes {
                8 => drop(u64::update(p, &f)),
                4 => drop(u32::update(p, |v| f(v.into()) as u32)),
                2 => drop(u16::update(p, |v| f(v.into()) as u16)),
                _ => drop(u8::update(p, |v| f(v.into()) as u8)),
            }
        }
    }

    /// Sets bytes to a value; panics if the range is not within the block.
    pub fn fill(&self, offset: usize, bytes: usize, value: u8) {
        assert!(offset <= self.len && bytes <= self.len - offset, "write past a block");
        // SAFETY: in bounds.
        unsafe { self.start().add(offset).write_bytes(value, bytes) }
    }

    /// Sets all bytes to a value.
    pub fn fill_all(&self, value: u8) {
        self.fill(0, self.len, value);
    }
}

/// The widest unit for an access of at most `len` bytes at an address.
fn unit(address: usize, len: usize) -> usize {
    [8, 4, 2].into_iter().find(|u| address.is_multiple_of(*u) && len >= *u).unwrap_or(1)
}

fn copy_to<const N: usize>(into: &mut [u8], bytes: [u8; N]) -> usize {
    into[..N].copy_from_slice(&bytes);
    N
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    std::array::from_fn(|i| bytes[i])
}

/// A value that guest memory is accessed in.
pub(crate) trait Element: Copy + Default + 'static {
    /// Its size.
    const BYTES: usize;
    /// # Safety
    /// `p` is aligned and points into a block that no one else writes.
    unsafe fn load_plain(p: *const u8) -> Self;
    /// # Safety
    /// As for `load_plain`, and no one else reads.
    unsafe fn store_plain(self, p: *mut u8);
    /// # Safety
    /// `p` is aligned and points into a block.
    unsafe fn load_relaxed(p: *const u8) -> Self;
    /// # Safety
    /// As for `load_relaxed`.
    unsafe fn store_relaxed(self, p: *mut u8);
}

/// An element that the host has atomic operations for.
pub(crate) trait Atomic: Element {
    /// Replaces the value by a function of it and returns the old one, atomically.
    ///
    /// # Safety
    /// As for [`Element::load_relaxed`].
    unsafe fn update(p: *mut u8, f: impl Fn(Self) -> Self) -> Self;
}

macro_rules! elements {
    ($($t:ty, $atomic:ty;)*) => {$(
        impl Element for $t {
            const BYTES: usize = size_of::<$t>();

            #[inline(always)]
            unsafe fn load_plain(p: *const u8) -> Self {
                // SAFETY: the caller's promise.
                unsafe { p.cast::<$t>().read() }
            }

            #[inline(always)]
            unsafe fn store_plain(self, p: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { p.cast::<$t>().write(self) }
            }

            #[inline(always)]
            unsafe fn load_relaxed(p: *const u8) -> Self {
                // SAFETY: the caller's promise; all concurrent accesses are atomic.
                unsafe { <$atomic>::from_ptr(p.cast_mut().cast()) }.load(Ordering::Relaxed)
            }

            #[inline(always)]
            unsafe fn store_relaxed(self, p: *mut u8) {
                // SAFETY: the caller's promise; all concurrent accesses are atomic.
                unsafe { <$atomic>::from_ptr(p.cast()) }.store(self, Ordering::Relaxed)
            }
        }

        impl Atomic for $t {
            #[inline(always)]
            unsafe fn update(p: *mut u8, f: impl Fn(Self) -> Self) -> Self {
                // SAFETY: the caller's promise; all concurrent accesses are atomic.
                let cell = unsafe { <$atomic>::from_ptr(p.cast()) };
                let mut old = cell.load(Ordering::Relaxed);
                loop {
                    match cell.compare_exchange_weak(old, f(old), Ordering::SeqCst, Ordering::Relaxed) {
                        Ok(_) => return old,
                        Err(now) => old = now,
                    }
                }
            }
        }
    )*};
}
elements! {
    u8, AtomicU8;
    u16, AtomicU16;
    u32, AtomicU32;
    u64, AtomicU64;
}

/// Serialises the 128-bit atomics of a device, which stable Rust has no host instruction for. A racing plain access of 128 bits may see halves.
#[derive(Clone, Default, Debug)]
pub(crate) struct WideAtomics(Arc<Mutex<()>>);

impl WideAtomics {
    /// Replaces a value by a function of it and returns the old one.
    ///
    /// # Safety
    /// As for [`Element::load_relaxed`], with 16 bytes.
    pub unsafe fn update(&self, p: *mut u8, f: impl Fn(u128) -> u128) -> u128 {
        let _guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise.
        unsafe {
            let old = u128::load_relaxed(p);
            f(old).store_relaxed(p);
            old
        }
    }
}

impl Element for u128 {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load_plain(p: *const u8) -> Self {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<u128>().read() }
    }

    #[inline(always)]
    unsafe fn store_plain(self, p: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { p.cast::<u128>().write(self) }
    }

    #[inline(always)]
    unsafe fn load_relaxed(p: *const u8) -> Self {
        // SAFETY: the caller's promise; both halves lie in the 16 bytes.
        let (low, high) = unsafe { (u64::load_relaxed(p), u64::load_relaxed(p.add(8))) };
        u128::from(low) | u128::from(high) << 64
    }

    #[inline(always)]
    unsafe fn store_relaxed(self, p: *mut u8) {
        // SAFETY: the caller's promise; both halves lie in the 16 bytes.
        unsafe {
            (self as u64).store_relaxed(p);
            ((self >> 64) as u64).store_relaxed(p.add(8));
        }
    }
}

/// How a kind of memory is accessed.
pub(crate) trait Mode {
    /// # Safety
    /// See [`Element::load_relaxed`] and, for [`Private`], [`Element::load_plain`].
    unsafe fn load<T: Element>(p: *const u8) -> T;
    /// # Safety
    /// As for `load`.
    unsafe fn store<T: Element>(p: *mut u8, value: T);

    /// Loads elements in a row.
    ///
    /// # Safety
    /// As for `load`, for each of them.
    #[inline(always)]
    unsafe fn load_row<T: Element, const N: usize>(p: *const u8) -> [T; N] {
        let mut row = [T::default(); N];
        for (i, v) in row.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *v = unsafe { Self::load(p.add(i * T::BYTES)) };
        }
        row
    }

    /// Stores elements in a row.
    ///
    /// # Safety
    /// As for `load`, for each of them.
    #[inline(always)]
    unsafe fn store_row<T: Element, const N: usize>(p: *mut u8, row: &[T; N]) {
        for (i, v) in row.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { Self::store(p.add(i * T::BYTES), *v) }
        }
    }
}

/// Memory that other host threads access too.
pub(crate) struct Concurrent;
/// Memory of this host thread, or that nothing writes.
pub(crate) struct Private;

impl Mode for Concurrent {
    #[inline(always)]
    unsafe fn load<T: Element>(p: *const u8) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::load_relaxed(p) }
    }

    #[inline(always)]
    unsafe fn store<T: Element>(p: *mut u8, value: T) {
        // SAFETY: the caller's promise.
        unsafe { value.store_relaxed(p) }
    }
}

impl Mode for Private {
    #[inline(always)]
    unsafe fn load<T: Element>(p: *const u8) -> T {
        // SAFETY: the caller's promise.
        unsafe { T::load_plain(p) }
    }

    #[inline(always)]
    unsafe fn store<T: Element>(p: *mut u8, value: T) {
        // SAFETY: the caller's promise.
        unsafe { value.store_plain(p) }
    }

    // One move of the whole row, which the optimiser does not always make of the elements' moves.
    #[inline(always)]
    unsafe fn load_row<T: Element, const N: usize>(p: *const u8) -> [T; N] {
        // SAFETY: the caller's promise: the elements are aligned, as an array of them is, and initialised.
        unsafe { p.cast::<[T; N]>().read() }
    }

    #[inline(always)]
    unsafe fn store_row<T: Element, const N: usize>(p: *mut u8, row: &[T; N]) {
        // SAFETY: as above.
        unsafe { p.cast::<[T; N]>().write(*row) }
    }
}
