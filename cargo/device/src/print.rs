//! `printf!`: text from the device, by the format of C.

/// What `printf!` can show: integers of up to 32 bits and `bool` (`%d %u %x`), `i64`, `u64`, `isize`, `usize` (`%lld %llu %llx`), `f64`, `f32` (`%f %e %g`), `char` (`%c`),
/// pointers (`%p`), `&CStr` (`%s`: `c"text"`).
pub trait Argument: Copy {
    /// Its bits, and how many bytes of them are passed.
    fn bits(self) -> (u64, usize);
}

macro_rules! arguments {
    ($($ty:ty: $wide:ty = $bytes:literal, |$value:ident| $bits:expr;)*) => {
        $(impl Argument for $ty {
            #[inline(always)]
            fn bits(self) -> (u64, usize) {
                let $value: $wide = self.into();
                ($bits, $bytes)
            }
        })*
    };
}

arguments! {
    u8: u32 = 4, |x| u64::from(x);
    u16: u32 = 4, |x| u64::from(x);
    i8: i32 = 4, |x| x as u32 as u64;
    i16: i32 = 4, |x| x as u32 as u64;
    bool: u32 = 4, |x| u64::from(x);
    char: u32 = 4, |x| u64::from(x);
    u32: u32 = 4, |x| u64::from(x);
    i32: i32 = 4, |x| x as u32 as u64;
    u64: u64 = 8, |x| x;
    i64: i64 = 8, |x| x as u64;
    usize: usize = 8, |x| x as u64;
    isize: isize = 8, |x| x as u64;
    f32: f64 = 8, |x| x.to_bits();
    f64: f64 = 8, |x| x.to_bits();
}

impl Argument for &core::ffi::CStr {
    #[inline(always)]
    fn bits(self) -> (u64, usize) {
        (self.as_ptr() as u64, 8)
    }
}

impl<T> Argument for *const T {
    #[inline(always)]
    fn bits(self) -> (u64, usize) {
        (self as u64, 8)
    }
}

impl<T> Argument for *mut T {
    #[inline(always)]
    fn bits(self) -> (u64, usize) {
        (self as u64, 8)
    }
}

/// The arguments as `vprintf` reads them: so many, each in at most 8 bytes.
#[doc(hidden)]
#[repr(C, align(8))]
pub struct Arguments<const N: usize> {
    bytes: [[u8; 8]; N],
    len: usize,
}

impl<const N: usize> Arguments<N> {
    #[inline(always)]
    pub const fn new() -> Self {
        Arguments { bytes: [[0; 8]; N], len: 0 }
    }

    #[inline(always)]
    pub fn push(&mut self, argument: impl Argument) {
        let (bits, size) = argument.bits();
        let at = self.len.next_multiple_of(size);
        self.bytes.as_flattened_mut()[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        self.len = at + size;
    }

    /// Prints; the format ends with a zero.
    #[inline(always)]
    pub fn print(&self, format: &'static str) {
        #[cfg(target_arch = "nvptx64")]
        {
            unsafe extern "C" {
                fn vprintf(format: *const u8, arguments: *const u8) -> i32;
            }
            // SAFETY: `printf!` ends the format with a zero, and the arguments are there.
            unsafe { vprintf(format.as_ptr(), self.bytes.as_ptr().cast()) };
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            crate::host::print(format.trim_end_matches('\0'), self.bytes.as_flattened());
        }
    }
}

impl<const N: usize> Default for Arguments<N> {
    fn default() -> Self {
        Arguments::new()
    }
}

/// Where a panic was.
#[cfg(all(target_arch = "nvptx64", feature = "panic-handler"))]
pub(crate) fn panicked(file: &str, line: u32, column: u32) {
    // One call, so that threads do not mix their texts. `%s` shows bytes up to a zero, which a name of a file does not end with.
    let mut name = [0u8; 120];
    for (to, from) in name[..119].iter_mut().zip(file.bytes()) {
        *to = from;
    }
    let mut arguments = Arguments::<3>::new();
    arguments.push(name.as_ptr());
    arguments.push(line);
    arguments.push(column);
    arguments.print("%s:%u:%u: panicked\n\0");
}

/// Prints text from the device, by the format of C: `printf!("%d of %d: %f\n", i, n, x)`.
///
/// ```
/// warpsmith_device::printf!("%d: %5.2f %x%% %s\n", 7i32, 1.5f32, 255u32, c"text");
/// ```
///
/// As in C, the conversions must fit the arguments, and `%s` the address of bytes that end with a zero. A device of CUDA takes at most 32 arguments.
#[macro_export]
macro_rules! printf {
    ($format:literal $(, $argument:expr)* $(,)?) => {{
        #[allow(unused_mut)]
        let mut arguments = $crate::print::Arguments::<{ 0usize $(+ $crate::__one!($argument))* }>::new();
        $(arguments.push($argument);)*
        arguments.print(concat!($format, "\0"));
    }};
}

/// 1, for each argument of `printf!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __one {
    ($argument:expr) => {
        1usize
    };
}
