//! Conditions of rules on machine words: what the code that the build script makes of a condition is made of. It has an answer where all parts of a
//! comparison are of one integer type of up to 64 bits; [`Match`] evaluates the others.

use super::engine::Facts;
use super::known;
use super::matching::Match;
use warpsmith_ir::{IntCC, Type, Value};

/// The width of an integer type of up to 64 bits.
#[inline]
pub(super) fn width(ty: Type) -> Option<u32> {
    (ty.is_int() && ty.bits() <= 64).then(|| ty.bits())
}

/// The word with zeros above a width.
#[inline]
pub(super) fn low(bits: u32, word: u64) -> u64 {
    word & known::mask(bits)
}

/// The word as a signed number of a width.
#[inline]
fn signed(bits: u32, word: u64) -> i64 {
    (word << (64 - bits)) as i64 >> (64 - bits)
}

#[inline]
pub(super) fn shl(bits: u32, word: u64, by: u64) -> u64 {
    if by >= bits.into() { 0 } else { word << by }
}

#[inline]
pub(super) fn lshr(bits: u32, word: u64, by: u64) -> u64 {
    if by >= bits.into() { 0 } else { low(bits, word) >> by }
}

/// How two words of a width compare, whatever is above it.
#[inline]
pub(super) fn compare(cond: IntCC, bits: u32, a: u64, b: u64) -> bool {
    let (a, b) = (low(bits, a), low(bits, b));
    cond.holds([signed(bits, a), signed(bits, b)], [a, b])
}

impl Match<'_> {
    /// The type of a value of the rule.
    #[inline]
    pub(super) fn type_of(&self, number: u8) -> Option<Type> {
        Some(self.dfg.ty(self.value(number)?))
    }

    /// The type of the instruction's result.
    #[inline]
    pub(super) fn root_type(&self) -> Type {
        self.dfg.ty(self.root)
    }

    #[inline]
    fn of_type(&self, number: u8, ty: Type) -> Option<Value> {
        self.value(number).filter(|value| self.dfg.ty(*value) == ty)
    }

    /// A constant of the rule, if it is of a type.
    #[inline]
    pub(super) fn constant_word(&self, number: u8, ty: Type) -> Option<u64> {
        Some(self.dfg.int_const(self.of_type(number, ty)?)? as u64)
    }

    #[inline]
    pub(super) fn zeros(&self, number: u8, ty: Type, facts: &mut Facts<'_>) -> Option<u64> {
        Some(facts.known.of(self.dfg, self.of_type(number, ty)?)?.zeros)
    }

    #[inline]
    pub(super) fn ones(&self, number: u8, ty: Type, facts: &mut Facts<'_>) -> Option<u64> {
        Some(facts.known.of(self.dfg, self.of_type(number, ty)?)?.ones)
    }

    #[inline]
    pub(super) fn sign_bit(&self, number: u8, ty: Type) -> Option<u64> {
        self.of_type(number, ty).map(|_| 1 << (ty.bits() - 1))
    }

    /// The demanded bits of the instruction's result, if it is of a type.
    #[inline]
    pub(super) fn demanded(&self, ty: Type, facts: &Facts<'_>) -> Option<u64> {
        facts.demanded.filter(|_| self.root_type() == ty).map(|demanded| demanded.of(self.root))
    }

    /// The width of a value of the rule, as a number of a type, which is `i32` for it to have an answer.
    #[inline]
    pub(super) fn bits_of(&self, number: u8, ty: Type) -> Option<u64> {
        (ty == Type::I32).then(|| self.type_of(number)).flatten().map(|of| of.bits().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_ir::{Opcode, meaning};

    /// The words compute as the operations do.
    #[test]
    fn words_compute_as_operations_do() {
        let words = |bits: u32| {
            (0..1u64 << bits.min(5)).map(move |n| if bits > 5 { n.rotate_right(3) >> (64 - bits) } else { n })
        };
        for bits in [1, 2, 5, 8, 16, 32, 63, 64] {
            for a in words(bits) {
                for by in [0, 1, 2, 4, 5, 8, 31, 32, 63, 64, 65, u64::from(u32::MAX)] {
                    let shifts = [(Opcode::Shl, shl(bits, a, by)), (Opcode::Lshr, lshr(bits, a, by))];
                    for (op, word) in shifts {
                        let wanted = meaning::integer(op, bits, &[a.into(), by.into()]);
                        assert_eq!(wanted, Some(low(bits, word).into()), "{op} i{bits} {a}, {by}");
                    }
                }
                for (b, cond) in words(bits).flat_map(|b| IntCC::ALL.iter().map(move |cond| (b, *cond))) {
                    let wanted = meaning::compare_integers(cond, bits, a.into(), b.into());
                    assert_eq!(compare(cond, bits, a, b), wanted, "{cond} i{bits} {a}, {b}");
                }
            }
        }
    }
}
