//! Parts of registers, which are the operands of video instructions.

/// Which part of a register an operand is: the whole, or the part of `bits` bits that starts at bit `shift`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The width: 8, 16 or 32.
    pub bits: u32,
    /// The position of the lowest bit.
    pub shift: u32,
}

impl Part {
    /// The whole register.
    pub const WORD: Part = Part { bits: 32, shift: 0 };

    /// `.b0` to `.b3`.
    pub const fn byte(index: u32) -> Part {
        Part { bits: 8, shift: 8 * (index & 3) }
    }

    /// `.h0` and `.h1`.
    pub const fn half(index: u32) -> Part {
        Part { bits: 16, shift: 16 * (index & 1) }
    }

    /// The part's value, extended by its type's sign.
    #[inline]
    pub fn extract(self, a: u32, signed: bool) -> i64 {
        extend(a >> self.shift, self.bits, signed)
    }

    #[inline]
    pub(super) fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// As three bits, for [`Scalar::code`](super::Scalar::code).
    pub(super) const fn code(self) -> u64 {
        match self.bits {
            8 => self.shift as u64 / 8,
            16 => 4 + self.shift as u64 / 16,
            _ => 6,
        }
    }

    #[inline]
    pub(super) const fn from_code(code: u64) -> Part {
        match code & 7 {
            byte @ 0..=3 => Part::byte(byte as u32),
            half @ 4..=5 => Part::half(half as u32),
            _ => Part::WORD,
        }
    }
}

/// A source operand as four bits: is it `.s32`, and which part of the register.
pub(super) const fn operand_code((signed, part): (bool, Part)) -> u64 {
    part.code() << 1 | signed as u64
}

#[inline]
pub(super) const fn operand_from_code(code: u64) -> (bool, Part) {
    (code & 1 != 0, Part::from_code(code >> 1))
}

#[inline]
pub(super) fn extend(a: u32, bits: u32, signed: bool) -> i64 {
    let top = a << (32 - bits);
    if signed { (top as i32 >> (32 - bits)) as i64 } else { (top >> (32 - bits)) as i64 }
}

#[inline]
pub(super) fn clamp(value: i128, bits: u32, signed: bool) -> i128 {
    if signed {
        value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}
