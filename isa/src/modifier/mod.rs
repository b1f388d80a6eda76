//! What modifiers mean, kind by kind: each kind an enum, each enum a table from [`Mod`](crate::Mod).
//!
//! A modifier may be of several kinds (`.and` is a [`BoolOp`] of `setp` and a [`Reduction`] of `atom`): which one counts, the operation says.
//! Types, matrix shapes and numbers have their own places ([`Mod::scalar`](crate::Mod::scalar), [`Mod::shape`](crate::Mod::shape),
//! [`Mod::number`](crate::Mod::number)); what denotes itself is one of [`FLAGS`].

mod arithmetic;
mod flags;
mod kinds;
mod matrix;
mod memory;
mod texture;
mod threads;

pub use arithmetic::{
    Accumulator, BoolOp, Comparison, ConversionScale, NumberClass, OutOfRange, PermuteMode, Rounding,
    VideoScale,
};
pub use flags::FLAGS;
pub use matrix::{
    CollectorBuffer, CollectorUse, CtaGroup, Layout, MmaKind, PackedElements, ScaleVector, SparsePattern,
    Sparsity, TensorShape, WarpMulticast,
};
pub use memory::{
    AllocationClass, CacheLevel, CacheOperator, L1Eviction, L2Eviction, L2Prefetch, Order, Proxy, Reduction,
    Scope, SpaceModifier, SyncRestrict,
};
pub use texture::{Component, Geometry, TensorMode, TensormapField, TextureQuery};
pub use threads::{
    BarrierAction, BarrierLayout, CancelQuery, Completion, GridDependency, Multicast, PhaseType, ShuffleMode,
    ValidityReport, VoteMode,
};

use kinds::kinds;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mod;

    /// Whether a kind has the modifier.
    fn is_of_a_kind(modifier: Mod) -> bool {
        let kinds = [arithmetic::KINDS, matrix::KINDS, memory::KINDS, texture::KINDS, threads::KINDS];
        kinds.iter().copied().flatten().any(|kind| kind(modifier))
    }

    #[test]
    fn every_modifier_of_the_tables_is_of_a_kind() {
        let known =
            |m: Mod| m.scalar().is_some() || m.shape().is_some() || FLAGS.contains(&m) || is_of_a_kind(m);
        let unknown: Vec<Mod> = Mod::all().filter(|m| !known(*m)).collect();
        assert!(unknown.is_empty(), "in no table of kinds: {unknown:?}");
    }

    #[test]
    fn every_flag_stands_for_nothing_else() {
        let of_a_kind: Vec<_> = FLAGS.iter().filter(|m| is_of_a_kind(**m)).collect();
        assert_eq!(of_a_kind, [&Mod::Sync], "distinguished by a kind already");
    }
}
