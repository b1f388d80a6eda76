//! What an instruction does beyond computing its results.

use std::fmt;

/// What an instruction does beyond computing its results: a set of the constants below.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits(u8);

impl Traits {
    /// No effect: may be removed, repeated, merged and moved.
    pub const NONE: Traits = Traits(0);
    /// Reads memory.
    pub const READS: Traits = Traits(1);
    /// Writes memory.
    pub const WRITES: Traits = Traits(2);
    /// Communicates with other threads of the warp or block: must not be made to depend on more control flow.
    pub const CONVERGENT: Traits = Traits(4);
    /// Has an effect that is not in its results or in memory: must be kept, in order, executed as often as written.
    pub const SIDE_EFFECT: Traits = Traits(8);
    /// Ends a block.
    pub const TERMINATOR: Traits = Traits(16);
    /// The first two operands may be swapped.
    pub const COMMUTATIVE: Traits = Traits(32);

    const NAMES: [(Traits, &'static str); 6] = [
        (Traits::READS, "reads"),
        (Traits::WRITES, "writes"),
        (Traits::CONVERGENT, "convergent"),
        (Traits::SIDE_EFFECT, "side effect"),
        (Traits::TERMINATOR, "terminator"),
        (Traits::COMMUTATIVE, "commutative"),
    ];

    /// All of both.
    pub const fn with(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// True if all of `other` are in the set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any of `other` is in the set.
    pub const fn any(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    /// True if an unused instruction may be removed.
    pub const fn is_removable(self) -> bool {
        !self.any(Traits(
            Traits::WRITES.0 | Traits::CONVERGENT.0 | Traits::SIDE_EFFECT.0 | Traits::TERMINATOR.0,
        ))
    }

    /// True if the results depend on the operands alone.
    pub const fn is_pure(self) -> bool {
        self.is_removable() && !self.has(Traits::READS)
    }
}

impl fmt::Debug for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Traits::NAMES.iter().filter(|(one, _)| self.has(*one)).map(|(_, name)| name))
            .finish()
    }
}
