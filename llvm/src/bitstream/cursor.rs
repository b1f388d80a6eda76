//! Reading bits.

use crate::error::{Error, Result};

/// The bits that eight bytes have at least, from any bit of the first one on.
const WINDOW: u32 = 57;

/// A place in a stream of bits, and where what may be read ends.
///
/// The fields of a record are read without asking whether there are so many bits (`bits`, `groups`), and `check`
/// asks behind the last one. All else asks at once.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    /// Bits from the start of `data`.
    at: u64,
    end: u64,
    /// Where in its file `data` starts, for messages.
    base: u64,
    /// A number has been read that is of more than 64 bits.
    too_wide: bool,
}

impl<'a> Cursor<'a> {
    /// The first bit of `data`, which starts at byte `base` of its file.
    pub fn new(data: &'a [u8], base: u64) -> Cursor<'a> {
        Cursor { data, at: 0, end: data.len() as u64 * 8, base, too_wide: false }
    }

    /// The same stream, from a bit on.
    pub fn from_bit(mut self, bit: u64) -> Cursor<'a> {
        self.at = bit.min(self.end);
        self
    }

    /// The byte of the file that the next bit is in.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base + self.at / 8
    }

    /// The bits that are left.
    #[inline]
    pub fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    #[cold]
    fn ends(&self, offset: u64) -> Error {
        Error::container(offset, "the block ends inside a record: the file is truncated or damaged")
    }

    /// An error, at a byte of the file, if what has been read was not there.
    #[inline]
    pub(super) fn check(&self, offset: u64) -> Result<()> {
        if self.at > self.end {
            return Err(self.ends(offset));
        }
        if self.too_wide {
            return Err(Error::container(offset, "a number of more than 64 bits"));
        }
        Ok(())
    }

    /// The next bits, the lowest first: [`WINDOW`] of them or more, of which those behind the data are zeros.
    #[inline(always)]
    fn window(&self) -> u64 {
        let byte = (self.at / 8) as usize;
        let word = match self.data.get(byte..byte.wrapping_add(8)).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => last_word(self.data, byte),
        };
        word >> (self.at % 8)
    }

    /// The next 1 to 64 bits, the lowest first.
    #[inline]
    pub fn read(&mut self, width: u32) -> Result<u64> {
        if self.remaining() < u64::from(width) {
            return Err(self.ends(self.offset()));
        }
        Ok(self.bits(width))
    }

    /// The next 1 to 64 bits, the lowest first, whether they are there or not.
    #[inline(always)]
    pub(super) fn bits(&mut self, width: u32) -> u64 {
        let mut value = self.window();
        if width > WINDOW {
            value |= ninth_byte(self.data, self.at);
        }
        self.at += u64::from(width);
        value & (u64::MAX >> (64 - width))
    }

    /// A number in groups of `width` bits, whose highest bit says that another group follows.
    #[inline]
    pub fn vbr(&mut self, width: u32) -> Result<u64> {
        let offset = self.offset();
        let number = self.groups(width);
        self.check(offset)?;
        Ok(number)
    }

    /// A number in groups of `width` bits, whether they are there or not.
    #[inline(always)]
    pub(super) fn groups(&mut self, width: u32) -> u64 {
        let window = self.window();
        let more = 1 << (width - 1);
        if window & more == 0 {
            self.at += u64::from(width);
            return window & (more - 1);
        }
        let (number, used) = several_groups(width, window);
        self.at += u64::from(used);
        if used > 0 {
            return number;
        }
        let (number, used) = long_number(self.data, self.at, width);
        self.at += used;
        self.too_wide |= number.is_none();
        number.unwrap_or(0)
    }

    /// Goes on at a multiple of 32 bits.
    pub fn align(&mut self) -> Result<()> {
        let at = self.at.next_multiple_of(32);
        if at > self.end {
            return Err(self.ends(self.offset()));
        }
        self.at = at;
        Ok(())
    }

    /// So many bytes, from a place that is a multiple of 8 bits.
    pub fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        if self.remaining() / 8 < len {
            return Err(self.ends(self.offset()));
        }
        let start = (self.at / 8) as usize;
        self.at += len * 8;
        self.data.get(start..start + len as usize).ok_or_else(|| self.ends(self.offset()))
    }

    /// An error unless `count` fields of `width` bits can follow.
    #[inline]
    pub fn expect(&self, count: u64, width: u32) -> Result<()> {
        if count.saturating_mul(width.into()) > self.remaining() {
            Err(self.ends(self.offset()))
        } else {
            Ok(())
        }
    }

    /// The next bits as a stream of their own; this one goes on behind them. `None` if there are not so many.
    pub fn split(&mut self, bits: u64) -> Option<Cursor<'a>> {
        if bits > self.remaining() {
            return None;
        }
        let part = Cursor { end: self.at + bits, ..self.clone() };
        self.at += bits;
        Some(part)
    }
}

// Rarely used functions take what they need by value and return it: so the place in the stream stays in a register while a record is read.

/// The bytes of a file from one of its last seven on.
#[cold]
fn last_word(data: &[u8], byte: usize) -> u64 {
    let mut bytes = [0; 8];
    let rest = data.get(byte..).unwrap_or_default();
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(bytes)
}

/// What the ninth byte adds to the window at a bit.
#[cold]
fn ninth_byte(data: &[u8], at: u64) -> u64 {
    let shift = (at % 8) as u32;
    let ninth = data.get((at / 8) as usize + 8).copied().unwrap_or(0);
    if shift == 0 { 0 } else { u64::from(ninth) << (64 - shift) }
}

/// A number of several groups and the bits that it takes; none if it goes on behind the window.
fn several_groups(width: u32, mut window: u64) -> (u64, u32) {
    let more = 1 << (width - 1);
    let (mut value, mut used, mut shift) = (0, 0, 0);
    while used + width <= WINDOW {
        value |= (window & (more - 1)) << shift;
        used += width;
        if window & more == 0 {
            return (value, used);
        }
        window >>= width;
        shift += width - 1;
    }
    (0, 0)
}

/// The number of any length at a bit, group by group, and the bits that it takes. `None` for one of more than 64 bits.
#[cold]
fn long_number(data: &[u8], start: u64, width: u32) -> (Option<u64>, u64) {
    let mut cursor = Cursor { at: start, ..Cursor::new(data, 0) };
    let more = 1 << (width - 1);
    let (mut value, mut shift) = (0, 0);
    loop {
        let group = cursor.bits(width);
        let bits = group & (more - 1);
        // Groups of zeros add nothing, and a 64-bit number needs no more than one of them.
        let fits = if shift < 64 { bits << shift >> shift == bits } else { bits == 0 && shift <= 64 + width };
        if !fits {
            return (None, cursor.at - start);
        }
        value |= if shift < 64 { bits << shift } else { 0 };
        if group & more == 0 {
            return (Some(value), cursor.at - start);
        }
        shift += width - 1;
    }
}
