//! Pointers that C hands over.
//!
//! **Invariant.** A value of these types is a parameter of an entry point, or a member of a structure that one was given: no Rust code
//! makes one, but of a place of the library's own that it hands out. What is
//! not null points to as many `T` as the documentation of the entry point says; alignment is not relied on.

use crate::error::{Code, Error};
use std::ffi::{CStr, c_char, c_void};

/// What any bytes are a valid value of.
///
/// # Safety
/// The type has no invalid bit patterns.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: every bit pattern is a number, or a raw pointer.
        unsafe impl Plain for $t {}
    )*};
}
plain!(u8 i8 u16 u32 i32 u64 i64 usize f32 *const c_void *mut c_void Pointer *const c_char);
// SAFETY: as of its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: a pointer, about which nothing is claimed.
unsafe impl<T: 'static> Plain for In<T> {}
// SAFETY: as above.
unsafe impl<T: 'static> Plain for Out<T> {}

fn null(what: &str) -> Error {
    Error::new(Code::INVALID_VALUE, format!("a null pointer where {what} is expected"))
}

/// An address that is not looked at here: of memory that is copied, or that is handed back to the client.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer(pub *mut c_void);

// SAFETY: an address; whoever uses it answers for that.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Pointer {
    /// The address.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// True for no address.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Where a list of the library's own is, for a client that reads it.
    pub fn of<T>(list: &[T]) -> Pointer {
        Pointer::at(list.as_ptr().expose_provenance() as u64)
    }

    /// The memory at an address.
    pub fn at(address: u64) -> Pointer {
        Pointer(std::ptr::with_exposed_provenance_mut(address as usize))
    }
}

/// What a caller gives.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<T> {}

impl<T> In<T> {
    /// Nothing is given.
    pub fn none() -> In<T> {
        In(std::ptr::null())
    }

    /// Where it is.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

impl<T: Plain> In<T> {
    /// True if nothing is given.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The value; null is an error.
    pub fn get(self) -> Result<T, Error> {
        self.optional().ok_or_else(|| null("a value"))
    }

    /// The value, if one is given.
    pub fn optional(self) -> Option<T> {
        // SAFETY: not null, so it points to a value.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// So many values; null is an error unless there are none.
    pub fn list(self, count: usize) -> Result<Vec<T>, Error> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
            return Err(null("a list"));
        }
        // SAFETY: it points to `count` values.
        Ok((0..count).map(|i| unsafe { self.0.wrapping_add(i).read_unaligned() }).collect())
    }

    /// The value at an index of a list whose length the caller knows.
    pub fn at(self, index: usize) -> Result<T, Error> {
        if self.0.is_null() { Err(null("a list")) } else { In(self.0.wrapping_add(index)).get() }
    }
}

impl<T> From<Pointer> for In<T> {
    fn from(pointer: Pointer) -> In<T> {
        In(pointer.0.cast_const().cast())
    }
}

impl<T> From<Pointer> for Out<T> {
    fn from(pointer: Pointer) -> Out<T> {
        Out(pointer.0.cast())
    }
}

impl In<Pointer> {
    /// Where an element of the list is: the client reads there what became of it.
    pub fn place(self, index: usize) -> Pointer {
        Pointer(self.0.wrapping_add(index).cast_mut().cast())
    }
}

/// Where an answer goes.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// No place: the answer is not wanted.
    pub fn none() -> Out<T> {
        Out(std::ptr::null_mut())
    }

    /// Where the answer goes.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

impl<T: Plain> Out<T> {
    /// True if no answer is wanted.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An error if there is no place for the answer: asked before something is done that would be lost without it.
    pub fn check(self) -> Result<(), Error> {
        if self.0.is_null() { Err(null("a place for the answer")) } else { Ok(()) }
    }

    /// Gives the answer; null is an error.
    pub fn set(self, value: T) -> Result<(), Error> {
        self.check()?;
        self.offer(value);
        Ok(())
    }

    /// Gives the answer if one is wanted.
    pub fn offer(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so a value can be written.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// What is there, where the caller gives and takes.
    pub fn get(self) -> Result<T, Error> {
        In(self.0.cast_const()).get()
    }

    /// Gives a list for which the caller has made room.
    pub fn list(self, values: &[T]) -> Result<(), Error> {
        if values.is_empty() {
            return Ok(());
        }
        self.check()?;
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the caller has room for so many.
            unsafe { self.0.wrapping_add(i).write_unaligned(*value) }
        }
        Ok(())
    }
}

impl Out<c_void> {
    /// A place for a value whose type another parameter selects.
    pub fn of<T: Plain>(self) -> Out<T> {
        Out(self.0.cast())
    }
}

impl Out<u8> {
    /// Writes a text with its end into a buffer of `room` bytes, cut if it is too long.
    pub fn text(self, text: &str, room: usize) -> Result<(), Error> {
        self.check()?;
        let Some(most) = room.checked_sub(1) else {
            return Err(Error::new(Code::INVALID_VALUE, "a buffer of no bytes"));
        };
        let bytes = &text.as_bytes()[..text.len().min(most)];
        self.list(bytes)?;
        Out(self.0.wrapping_add(bytes.len())).set(0)
    }
}

/// A text that ends with a zero.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The text; null is an error, and so is what is not UTF-8.
    pub fn get(self) -> Result<String, Error> {
        if self.0.is_null() {
            return Err(null("a text"));
        }
        // SAFETY: not null, so it points to a text with its end.
        let text = unsafe { CStr::from_ptr(self.0) }.to_str();
        Ok(text.map_err(|_| Error::new(Code::INVALID_VALUE, "a text that is not UTF-8"))?.to_owned())
    }

    /// The text, if one is given.
    pub fn optional(self) -> Option<String> {
        self.get().ok()
    }
}
