//! What an instruction does besides computing its results.

use bitflags::bitflags;

macro_rules! traits {
    ($($(#[doc = $doc:literal])* $name:ident $text:literal = $bit:literal,)*) => {
        bitflags! {
            /// A set of traits; no effect among them for pure arithmetic.
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            pub struct Traits: u32 {
                $($(#[doc = $doc])* const $name = 1 << $bit;)*
            }
        }

        impl Traits {
            /// Every trait with its name in the tables.
            pub(crate) const NAMES: &'static [(&'static str, Traits)] = &[$(($text, Traits::$name),)*];
        }
    };
}

traits! {
    /// Its effect depends on which threads execute it together: not to be made control-dependent on more, nor duplicated.
    CONVERGENT "convergent" = 0,
    /// Reads memory.
    READS "reads" = 1,
    /// Writes memory.
    WRITES "writes" = 2,
    /// Orders memory accesses.
    FENCE "fence" = 3,
    /// Waits for other threads.
    BARRIER "barrier" = 4,
    /// Ends a basic block.
    TERMINATOR "terminator" = 5,
    /// May stop the program: `trap`, or an access to a bad address.
    MAY_TRAP "traps" = 6,
    /// Transfers control to a function and back.
    CALL "call" = 7,
    /// Has an effect that none of the others names: not to be removed, duplicated or reordered with its like.
    SIDE_EFFECT "effect" = 8,
    /// Gives different results at different times (clocks, `activemask`).
    VOLATILE "volatile" = 9,
    /// Reads or writes the carry flag `CC.CF`.
    CARRY "carry" = 10,
    /// Updates memory and gives back nothing of what was there: `red`.
    REDUCTION "reduction" = 11,
    /// Goes on after the instruction: another operation waits for its end.
    ASYNC "async" = 12,
    /// Counts as an arrival at a barrier or on an mbarrier object.
    ARRIVE "arrive" = 13,
    /// Waits, or tests, for a phase of a barrier or for a group of asynchronous operations.
    WAIT "wait" = 14,
    /// Closes a group of asynchronous operations that can be waited for.
    COMMIT "commit" = 15,
    /// All threads of a warp execute it together, as with `.aligned`, though it has no such modifier.
    ALIGNED "aligned" = 16,
    /// Arithmetic whose result has something of every byte of its operands: if one is undefined, so is the result.
    MIXES "mixes" = 17,
}

impl Traits {
    /// No trait at all.
    pub const NONE: Traits = Traits::empty();

    /// The names used in the tables.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Traits::NAMES.iter().filter(move |(_, of)| self.contains(*of)).map(|(name, _)| *name)
    }

    /// True for an instruction that may be removed when its results are unused and moved freely.
    pub const fn is_pure(self) -> bool {
        Traits::MIXES.contains(self)
    }
}

impl std::fmt::Debug for Traits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
