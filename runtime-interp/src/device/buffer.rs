//! Ranges of global memory, and the numbers that are in them.

/// A range of global memory: a plain handle, valid for the device that gave it until it is freed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl Buffer {
    pub(crate) fn new(address: u64, bytes: u64) -> Buffer {
        Buffer { address, bytes }
    }

    /// The address a kernel sees.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The size in bytes.
    pub fn len(self) -> u64 {
        self.bytes
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// The part from `offset` on, `bytes` long; `None` if it does not fit.
    pub fn slice(self, offset: u64, bytes: u64) -> Option<Buffer> {
        let fits = offset <= self.bytes && bytes <= self.bytes - offset;
        fits.then(|| Buffer { address: self.address + offset, bytes })
    }
}

/// Plain numbers that buffers can be filled with and read as.
pub trait Plain: Copy + 'static {
    /// Appends the little-endian bytes.
    fn put(self, bytes: &mut Vec<u8>);
    /// Appends the bytes of several.
    fn put_all(values: &[Self], bytes: &mut Vec<u8>) {
        values.iter().for_each(|value| value.put(bytes));
    }
    /// Reads the value from exactly its bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty)*) => {$(
        impl Plain for $t {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                <$t>::from_le_bytes(word(bytes))
            }
        }
    )*};
}

impl Plain for u8 {
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(self);
    }

    // At once: most buffers of tests and of random programs are bytes.
    fn put_all(values: &[u8], bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(values);
    }

    fn get(bytes: &[u8]) -> u8 {
        u8::from_le_bytes(word(bytes))
    }
}

/// Exactly so many bytes.
fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut own = [0; N];
    own.copy_from_slice(bytes);
    own
}

plain!(u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);
