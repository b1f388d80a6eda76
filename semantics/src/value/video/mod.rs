//! Video instructions (PTX ISA 9.0, 9.7.18): arithmetic on bytes and halves chosen from 32-bit registers.

mod part;

pub use part::Part;

use super::compare::Comparison;
use part::{clamp, extend, operand_code, operand_from_code};

/// What the core of a video instruction computes from its two extended operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// `vadd vadd2 vadd4`
    Add,
    /// `vsub vsub2 vsub4`
    Sub,
    /// `vabsdiff vabsdiff2 vabsdiff4`
    AbsDiff,
    /// `vmin vmin2 vmin4`
    Min,
    /// `vmax vmax2 vmax4`
    Max,
    /// `vavrg2 vavrg4`: the average, rounded up unless negative.
    Average,
    /// `vshl`, with `.wrap` or `.clamp`.
    Shl {
        /// `.wrap`: the amount modulo 32, else at most 32.
        wrap: bool,
    },
    /// `vshr`
    Shr {
        /// `.wrap`: the amount modulo 32, else at most 32.
        wrap: bool,
    },
    /// `vset vset2 vset4`: one or zero.
    Set(Comparison),
}

impl Operation {
    #[inline]
    fn apply(self, a: i64, b: i64) -> i128 {
        // A 33-bit value shifted by up to 32 needs 65 bits.
        let (a, b) = (a as i128, b as i128);
        let amount = |wrap: bool| if wrap { b & 31 } else { b.min(32) };
        match self {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::AbsDiff => (a - b).abs(),
            Operation::Min => a.min(b),
            Operation::Max => a.max(b),
            Operation::Average => (a + b + (a + b >= 0) as i128) >> 1,
            Operation::Shl { wrap } => a << amount(wrap),
            Operation::Shr { wrap } => a >> amount(wrap),
            Operation::Set(comparison) => comparison.apply(a, b) as i128,
        }
    }

    /// As four bits, for [`Scalar::code`] and [`Simd::code`].
    const fn code(self) -> u64 {
        match self {
            Operation::Add => 0,
            Operation::Sub => 1,
            Operation::AbsDiff => 2,
            Operation::Min => 3,
            Operation::Max => 4,
            Operation::Average => 5,
            Operation::Shl { wrap } => 6 + wrap as u64,
            Operation::Shr { wrap } => 8 + wrap as u64,
            Operation::Set(comparison) => match comparison {
                Comparison::Eq => 10,
                Comparison::Ne => 11,
                Comparison::Lt => 12,
                Comparison::Le => 13,
                Comparison::Gt => 14,
                Comparison::Ge
                | Comparison::Equ
                | Comparison::Neu
                | Comparison::Ltu
                | Comparison::Leu
                | Comparison::Gtu
                | Comparison::Geu
                | Comparison::Num
                | Comparison::Nan => 15,
            },
        }
    }

    #[inline]
    const fn from_code(code: u64) -> Operation {
        match code & 15 {
            0 => Operation::Add,
            1 => Operation::Sub,
            2 => Operation::AbsDiff,
            3 => Operation::Min,
            4 => Operation::Max,
            5 => Operation::Average,
            shift @ 6..=7 => Operation::Shl { wrap: shift == 7 },
            shift @ 8..=9 => Operation::Shr { wrap: shift == 9 },
            10 => Operation::Set(Comparison::Eq),
            11 => Operation::Set(Comparison::Ne),
            12 => Operation::Set(Comparison::Lt),
            13 => Operation::Set(Comparison::Le),
            14 => Operation::Set(Comparison::Gt),
            _ => Operation::Set(Comparison::Ge),
        }
    }
}

/// What a scalar video instruction does with its third operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Second {
    /// There is none.
    None,
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
    /// The result replaces this part of it.
    Merge(Part),
}

/// A scalar video instruction other than `vmad`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// The core.
    pub operation: Operation,
    /// The destination is `.s32`; false for `vset`.
    pub signed: bool,
    /// The first operand: is it `.s32`, and which part of the register.
    pub a: (bool, Part),
    /// The second operand.
    pub b: (bool, Part),
    /// `.sat`
    pub sat: bool,
    /// The third operand's use.
    pub second: Second,
}

impl Scalar {
    /// The instruction as a number, which a lane function can be given as a constant.
    pub const fn code(&self) -> u64 {
        let second = match self.second {
            Second::None => 0,
            Second::Add => 1,
            Second::Min => 2,
            Second::Max => 3,
            Second::Merge(part) => 8 | part.code(),
        };
        self.operation.code()
            | (self.signed as u64) << 4
            | (self.sat as u64) << 5
            | operand_code(self.a) << 8
            | operand_code(self.b) << 12
            | second << 16
    }

    /// The inverse of [`Scalar::code`].
    #[inline]
    pub const fn from_code(code: u64) -> Scalar {
        Scalar {
            operation: Operation::from_code(code),
            signed: code & 16 != 0,
            a: operand_from_code(code >> 8),
            b: operand_from_code(code >> 12),
            sat: code & 32 != 0,
            second: match code >> 16 & 15 {
                0 => Second::None,
                1 => Second::Add,
                2 => Second::Min,
                3 => Second::Max,
                merge => Second::Merge(Part::from_code(merge)),
            },
        }
    }

    /// What `.sat` makes of the core's result. GPUs since sm_70 have no such instructions, and the code that ptxas makes for them differs from
    /// the manual: see the table in `docs/engine.md`.
    #[inline]
    fn saturate(&self, value: i128) -> i128 {
        match (self.operation, self.second) {
            // Of a shift 34 bits, and to 32 bits whatever the destination.
            (Operation::Shl { .. } | Operation::Shr { .. }, _) => clamp(value << 94 >> 94, 32, self.signed),
            // In a part of the destination, from above only: what is below zero has its upper word set and is the greatest.
            (_, Second::Merge(part)) if part != Part::WORD => {
                let greatest = (1 << (part.bits - self.signed as u32)) - 1;
                if value >> 32 == 0 { value.min(greatest) } else { greatest }
            }
            _ if self.signed => clamp(value, 32, true),
            // From below only.
            _ => value.max(0),
        }
    }

    /// The core's result as the second operation compares it.
    #[inline]
    fn compared(&self, value: i128) -> i128 {
        let word = match self.operation {
            Operation::Add | Operation::Sub => true,
            Operation::Shl { .. } | Operation::Shr { .. } => self.sat,
            Operation::AbsDiff | Operation::Min | Operation::Max | Operation::Average | Operation::Set(_) => {
                false
            }
        };
        let value = if word { value as i32 as i128 } else { value };
        // As numbers of 64 bits.
        if self.compares_signed() { value as i64 as i128 } else { value as u64 as i128 }
    }

    /// Whether the second operation takes its operands as signed: as the destination, of a comparison as the first operand.
    #[inline]
    fn compares_signed(&self) -> bool {
        if let Operation::Set(_) = self.operation { self.a.0 } else { self.signed }
    }

    /// The result of one instruction.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let mut value = self.operation.apply(self.a.1.extract(a, self.a.0), self.b.1.extract(b, self.b.0));
        if self.sat {
            value = self.saturate(value);
        }
        let third = extend(c, 32, self.compares_signed()) as i128;
        match self.second {
            Second::None => value as u32,
            Second::Add => (value + third) as u32,
            Second::Min => self.compared(value).min(third) as u32,
            Second::Max => self.compared(value).max(third) as u32,
            // The upper half of a destination takes the upper half of the result, every other part the lowest bits.
            Second::Merge(Part { bits: 16, shift: 16 }) => value as u32 & 0xffff_0000 | c & 0xffff,
            Second::Merge(part) => {
                (value as u32 & part.mask()) << part.shift | c & !(part.mask() << part.shift)
            }
        }
    }
}

/// `vmad`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mad {
    /// The first operand: is it `.s32`, and which part of the register.
    pub a: (bool, Part),
    /// The second operand.
    pub b: (bool, Part),
    /// The product is negated: one of `a` and `b` is.
    pub negate_product: bool,
    /// `c` is negated.
    pub negate_addend: bool,
    /// `.po`: plus one.
    pub plus_one: bool,
    /// `.sat`
    pub sat: bool,
    /// 0, 7 or 15: how far the sum is shifted right.
    pub scale: u32,
}

impl Mad {
    /// The instruction as a number, which a lane function can be given as a constant.
    pub const fn code(&self) -> u64 {
        operand_code(self.a)
            | operand_code(self.b) << 4
            | (self.negate_product as u64) << 8
            | (self.negate_addend as u64) << 9
            | (self.plus_one as u64) << 10
            | (self.sat as u64) << 11
            | (self.scale as u64) << 12
    }

    /// The inverse of [`Mad::code`].
    #[inline]
    pub const fn from_code(code: u64) -> Mad {
        Mad {
            a: operand_from_code(code),
            b: operand_from_code(code >> 4),
            negate_product: code & 1 << 8 != 0,
            negate_addend: code & 1 << 9 != 0,
            plus_one: code & 1 << 10 != 0,
            sat: code & 1 << 11 != 0,
            scale: (code >> 12) as u32 & 31,
        }
    }

    /// The result of one instruction.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let signed = self.a.0 || self.b.0 || self.negate_product || self.negate_addend;
        let word = |(of_type, part): (bool, Part), value| part.extract(value, of_type) as i32 as i128;
        // Operands of 32 bits are multiplied and added as signed ones.
        let (product, c) = (word(self.a, a) * word(self.b, b), c as i32 as i128);
        let (product, c, one) = match (self.plus_one, self.negate_product, self.negate_addend) {
            (true, ..) => (product, c, 1),
            (_, true, _) => (!product, c, 1),
            (_, _, true) => (product, !c, 1),
            _ => (product, c, 0),
        };
        let sum = (product + c + one) as i64;
        if !self.sat {
            (sum >> self.scale) as u32
        } else if signed {
            (sum >> self.scale).clamp(i32::MIN.into(), i32::MAX.into()) as u32
        } else {
            // The shift brings in zeros; what remains is signed.
            clamp((sum as u64 >> self.scale) as i64 as i128, 32, false) as u32
        }
    }
}

/// A packed video instruction on two halves or four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Simd {
    /// The core.
    pub operation: Operation,
    /// 16 for two halves, 8 for four bytes.
    pub bits: u32,
    /// The destination is `.s32`; false for `vset2 vset4`.
    pub signed: bool,
    /// The first operand is `.s32`.
    pub a_signed: bool,
    /// The second operand is `.s32`.
    pub b_signed: bool,
    /// For each element of the first operand, lowest first, which element of `b:a` it is.
    pub a_select: [u8; 4],
    /// For each element of the second operand, lowest first, which element of `b:a` it is.
    pub b_select: [u8; 4],
    /// Which elements of the result count.
    pub mask: [bool; 4],
    /// `.sat`
    pub sat: bool,
    /// `.add`: the elements are added to `c` instead of merged into it.
    pub accumulate: bool,
}

impl Simd {
    /// The instruction as a number, which a lane function can be given as a constant.
    pub fn code(&self) -> u64 {
        let selectors =
            |select: [u8; 4]| select.iter().rev().fold(0, |code, i| code << 3 | u64::from(*i & 7));
        let mask = self.mask.iter().rev().fold(0, |code, set| code << 1 | u64::from(*set));
        self.operation.code()
            | u64::from(self.signed) << 4
            | u64::from(self.a_signed) << 5
            | u64::from(self.b_signed) << 6
            | u64::from(self.sat) << 7
            | u64::from(self.accumulate) << 8
            | u64::from(self.bits == 16) << 9
            | mask << 12
            | selectors(self.a_select) << 16
            | selectors(self.b_select) << 28
    }

    /// The inverse of [`Simd::code`].
    #[inline]
    pub fn from_code(code: u64) -> Simd {
        let selectors = |code: u64| std::array::from_fn(|i| (code >> (3 * i) & 7) as u8);
        Simd {
            operation: Operation::from_code(code),
            bits: if code & 1 << 9 != 0 { 16 } else { 8 },
            signed: code & 1 << 4 != 0,
            a_signed: code & 1 << 5 != 0,
            b_signed: code & 1 << 6 != 0,
            a_select: selectors(code >> 16),
            b_select: selectors(code >> 28),
            mask: std::array::from_fn(|i| code >> (12 + i) & 1 != 0),
            sat: code & 1 << 7 != 0,
            accumulate: code & 1 << 8 != 0,
        }
    }

    /// The result of one instruction.
    #[inline]
    pub fn apply(&self, a: u32, b: u32, c: u32) -> u32 {
        let both = (b as u64) << 32 | a as u64;
        let element =
            |index: u8, signed| extend((both >> ((self.bits * index as u32) & 63)) as u32, self.bits, signed);
        let mut d = c;
        for i in (0..(32 / self.bits) as usize).filter(|i| self.mask[*i]) {
            let mut value = self
                .operation
                .apply(element(self.a_select[i], self.a_signed), element(self.b_select[i], self.b_signed));
            if self.sat {
                value = clamp(value, self.bits, self.signed);
            }
            let part = Part { bits: self.bits, shift: self.bits * i as u32 };
            d = if self.accumulate {
                d.wrapping_add(value as u32)
            } else {
                (value as u32 & part.mask()) << part.shift | d & !(part.mask() << part.shift)
            };
        }
        d
    }
}

#[cfg(test)]
mod tests;
