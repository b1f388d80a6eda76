//! Sets of small numbers for the data-flow analyses of a program.

/// A set of numbers below a bound, or of all numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Bits {
    /// 64 numbers each; absent where all are members.
    words: Option<Vec<u64>>,
}

impl Bits {
    /// All numbers.
    pub fn all() -> Bits {
        Bits { words: None }
    }

    /// No number below the bound; what is not below it is a member always.
    pub fn none(bound: usize) -> Bits {
        Bits { words: Some(vec![0; bound.div_ceil(64)]) }
    }

    /// True if all numbers are members.
    pub fn is_all(&self) -> bool {
        self.words.is_none()
    }

    /// True for a member.
    pub fn contains(&self, number: u32) -> bool {
        let Some(words) = &self.words else { return true };
        words.get(number as usize / 64).is_none_or(|word| word >> (number % 64) & 1 != 0)
    }

    /// Makes a number below the bound a member, or not.
    pub fn set(&mut self, number: u32, value: bool) {
        let Some(words) = &mut self.words else { return };
        if let Some(word) = words.get_mut(number as usize / 64) {
            *word = *word & !(1 << (number % 64)) | u64::from(value) << (number % 64);
        }
    }

    /// Adds the members of a set with the same bound; true if there were new ones.
    pub fn unite(&mut self, other: &Bits) -> bool {
        let (Some(words), Some(others)) = (&mut self.words, &other.words) else {
            return other.is_all() && self.words.take().is_some();
        };
        let mut grew = false;
        for (word, other) in words.iter_mut().zip(others) {
            grew |= other & !*word != 0;
            *word |= other;
        }
        grew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow_until_they_have_all() {
        let (mut set, mut other) = (Bits::none(70), Bits::none(70));
        other.set(69, true);
        assert!(!set.contains(69) && set.contains(128));
        assert!(set.unite(&other) && !set.unite(&other) && set.contains(69) && !set.contains(68));
        set.set(69, false);
        assert!(!set.contains(69));
        assert!(set.unite(&Bits::all()) && set.is_all() && set.contains(3));
        assert!(!set.unite(&other) && !set.unite(&Bits::all()) && set.is_all());
    }
}
