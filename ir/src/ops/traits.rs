//! What an instruction does beyond computing its results.

use bitflags::bitflags;
use std::fmt;

bitflags! {
    /// What an instruction does beyond computing its results.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    pub struct Traits: u8 {
        /// Reads memory.
        const READS = 1;
        /// Writes memory.
        const WRITES = 2;
        /// Communicates with other threads of the warp or block: must not become dependent on more control flow.
        const CONVERGENT = 4;
        /// Has an effect that is not in its results or in memory: must be kept, in order, executed as often as written.
        const SIDE_EFFECT = 8;
        /// Ends a block.
        const TERMINATOR = 16;
        /// The first two operands may be swapped.
        const COMMUTATIVE = 32;
    }
}

impl Traits {
    /// No effect: may be removed, repeated, merged and moved.
    pub const NONE: Traits = Traits::empty();

    const NAMES: [(Traits, &'static str); 6] = [
        (Traits::READS, "reads"),
        (Traits::WRITES, "writes"),
        (Traits::CONVERGENT, "convergent"),
        (Traits::SIDE_EFFECT, "side effect"),
        (Traits::TERMINATOR, "terminator"),
        (Traits::COMMUTATIVE, "commutative"),
    ];

    /// True if an unused instruction may be removed.
    pub const fn is_removable(self) -> bool {
        let kept =
            Traits::WRITES.union(Traits::CONVERGENT).union(Traits::SIDE_EFFECT).union(Traits::TERMINATOR);
        !self.intersects(kept)
    }

    /// True if the results depend on the operands alone.
    pub const fn is_pure(self) -> bool {
        self.is_removable() && !self.contains(Traits::READS)
    }
}

impl fmt::Debug for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(Traits::NAMES.iter().filter(|(one, _)| self.contains(*one)).map(|(_, name)| name))
            .finish()
    }
}
