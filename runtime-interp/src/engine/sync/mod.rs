//! Synchronisation: what lanes of a warp compute together, barriers, and mbarrier objects.

pub(in crate::engine) mod barrier;
mod cluster_barrier;
mod collective;
pub(in crate::engine) mod mbarrier;
