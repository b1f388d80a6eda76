//! Names of the registers that lane functions work on.

/// The width of a register: how much of the file one lane of it takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// A predicate: the 32 lanes are the bits of one word.
    Pred,
    /// Up to 32 bits: values of 8 and 16 bits are kept zero-extended.
    W32,
    /// 64 bits.
    W64,
    /// 128 bits.
    W128,
}

impl Width {
    /// 32-bit words of the register file that 32 lanes take.
    pub const fn words(self) -> u32 {
        match self {
            Width::Pred => 1,
            Width::W32 => 32,
            Width::W64 => 64,
            Width::W128 => 128,
        }
    }

    /// The narrowest width that holds `bits` bits.
    pub const fn for_bits(bits: u32) -> Width {
        match bits {
            0..=32 => Width::W32,
            33..=64 => Width::W64,
            _ => Width::W128,
        }
    }

    /// Bits of one lane.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Pred => 1,
            Width::W32 => 32,
            Width::W64 => 64,
            Width::W128 => 128,
        }
    }
}

/// A register of a function's frame, or a constant of the program: a word offset, with its width.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reg(u32);

impl Reg {
    const CONST: u32 = 1 << 31;
    const WIDTH_SHIFT: u32 = 29;
    const OFFSET: u32 = (1 << Self::WIDTH_SHIFT) - 1;
    /// Constant zero of any width: the first words of the constant bank are zero.
    pub const ZERO: Reg = Reg::constant(0, Width::W32);
    /// The highest offset a register can have.
    pub const MAX_OFFSET: u32 = Self::OFFSET;

    /// The register of a width at an offset in words.
    pub const fn frame(offset: u32, width: Width) -> Reg {
        Reg(offset | (width as u32) << Self::WIDTH_SHIFT)
    }

    /// The constant of a width at an offset in words.
    pub const fn constant(offset: u32, width: Width) -> Reg {
        Reg(offset | (width as u32) << Self::WIDTH_SHIFT | Self::CONST)
    }

    /// True for a constant, which has one value for all lanes and cannot be a destination.
    #[inline(always)]
    pub const fn is_constant(self) -> bool {
        self.0 & Self::CONST != 0
    }

    /// The width.
    #[inline(always)]
    pub const fn width(self) -> Width {
        match self.0 >> Self::WIDTH_SHIFT & 3 {
            0 => Width::Pred,
            1 => Width::W32,
            2 => Width::W64,
            _ => Width::W128,
        }
    }

    /// Where it lies in the frame of its function, in words of 32 bits; `None` for a constant.
    #[inline(always)]
    pub const fn word(self) -> Option<u32> {
        if self.is_constant() { None } else { Some(self.offset()) }
    }

    /// Where it lies, in words of 32 bits past the frame's or the constants' beginning.
    #[inline(always)]
    pub const fn offset(self) -> u32 {
        self.0 & Self::OFFSET
    }
}

impl std::fmt::Debug for Reg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bank = if self.is_constant() { 'c' } else { 'r' };
        write!(f, "{bank}{}:{}", self.offset(), self.width().bits())
    }
}
