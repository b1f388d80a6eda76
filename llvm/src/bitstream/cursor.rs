//! Reading bits.

use crate::error::{Error, Result};

/// The bits that eight bytes have at least, from any bit of the first one on.
const WINDOW: u32 = 57;

/// A place in a stream of bits, and where what may be read ends.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    /// Bits from the start of `data`.
    at: u64,
    end: u64,
    /// Where in its file `data` starts, for messages.
    base: u64,
}

impl<'a> Cursor<'a> {
    /// The first bit of `data`, which starts at byte `base` of its file.
    pub fn new(data: &'a [u8], base: u64) -> Cursor<'a> {
        Cursor { data, at: 0, end: data.len() as u64 * 8, base }
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
        self.end - self.at
    }

    #[cold]
    fn ends(&self) -> Error {
        Error::container(self.offset(), "the block ends inside a record: the file is truncated or damaged")
    }

    /// The next bits, the lowest first: [`WINDOW`] of them or more, of which those behind the data are zeros.
    #[inline(always)]
    fn window(&self) -> u64 {
        let byte = (self.at / 8) as usize;
        let word = match self.data.get(byte..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => self.last_word(byte),
        };
        word >> (self.at % 8)
    }

    /// The last bytes, of which there are fewer than eight.
    #[cold]
    fn last_word(&self, byte: usize) -> u64 {
        let mut bytes = [0; 8];
        let rest = self.data.get(byte..).unwrap_or_default();
        bytes[..rest.len()].copy_from_slice(rest);
        u64::from_le_bytes(bytes)
    }

    /// The next 1 to 64 bits, the lowest first.
    #[inline]
    pub fn read(&mut self, width: u32) -> Result<u64> {
        if self.remaining() < u64::from(width) {
            return Err(self.ends());
        }
        let mut value = self.window();
        if width > WINDOW {
            let shift = (self.at % 8) as u32;
            if shift > 0 {
                let ninth = self.data.get((self.at / 8) as usize + 8).copied().unwrap_or(0);
                value |= u64::from(ninth) << (64 - shift);
            }
        }
        self.at += u64::from(width);
        Ok(if width == 64 { value } else { value & ((1 << width) - 1) })
    }

    /// A number in groups of `width` bits, whose highest bit says that another group follows.
    #[inline(always)]
    pub fn vbr(&mut self, width: u32) -> Result<u64> {
        let window = self.window();
        if window >> (width - 1) & 1 == 0 && self.remaining() >= u64::from(width) {
            self.at += u64::from(width);
            return Ok(window & ((1 << (width - 1)) - 1));
        }
        self.several_groups(width, window)
    }

    /// A number of several groups, which most often are all in one window.
    fn several_groups(&mut self, width: u32, mut window: u64) -> Result<u64> {
        let mask = (1u64 << (width - 1)) - 1;
        let most = u64::from(WINDOW).min(self.remaining()) as u32;
        let (mut value, mut used) = (0, 0);
        let mut shift = 0;
        while used + width <= most {
            value |= (window & mask) << shift;
            used += width;
            if window >> (width - 1) & 1 == 0 {
                self.at += u64::from(used);
                return Ok(value);
            }
            window >>= width;
            shift += width - 1;
        }
        self.long_vbr(width)
    }

    /// A number of any length, group by group.
    #[cold]
    fn long_vbr(&mut self, width: u32) -> Result<u64> {
        let more = 1 << (width - 1);
        let mut group = self.read(width)?;
        if group & more == 0 {
            return Ok(group);
        }
        let mut value = group & (more - 1);
        let mut shift = width - 1;
        loop {
            group = self.read(width)?;
            let bits = group & (more - 1);
            if shift >= 64 || bits << shift >> shift != bits {
                return Err(Error::container(self.offset(), "a number of more than 64 bits"));
            }
            value |= bits << shift;
            if group & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
            // Groups of zeros add nothing, and a 64-bit number needs no more than this.
            if shift > 64 + width {
                return Err(Error::container(self.offset(), "a number of more than 64 bits"));
            }
        }
    }

    /// A list of numbers in groups of 6 bits, behind their count.
    pub(super) fn numbers(&mut self, out: &mut Vec<u64>) -> Result<()> {
        const WIDTH: u32 = 6;
        let count = self.vbr(WIDTH)?;
        self.expect(count, WIDTH)?;
        out.reserve(count as usize);
        for _ in 0..count {
            out.push(self.vbr(WIDTH)?);
        }
        Ok(())
    }

    /// Goes on at a multiple of 32 bits.
    pub fn align(&mut self) -> Result<()> {
        let at = self.at.next_multiple_of(32);
        if at > self.end {
            return Err(self.ends());
        }
        self.at = at;
        Ok(())
    }

    /// So many bytes, from a place that is a multiple of 8 bits.
    pub fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        if self.remaining() / 8 < len {
            return Err(self.ends());
        }
        let start = (self.at / 8) as usize;
        self.at += len * 8;
        self.data.get(start..start + len as usize).ok_or_else(|| self.ends())
    }

    /// An error unless `count` fields of `width` bits can follow.
    #[inline]
    pub fn expect(&self, count: u64, width: u32) -> Result<()> {
        if count.saturating_mul(width.into()) > self.remaining() { Err(self.ends()) } else { Ok(()) }
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
