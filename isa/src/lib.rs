//! What PTX has: the instruction tables, scalar types, state spaces, targets and versions.

pub mod diagnostic;
mod scalar;
mod space;
mod target;
mod version;

pub use scalar::{ScalarType, TypeClass};
pub use space::StateSpace;
pub use target::{TARGETS, Target, TargetInfo, Variant};
pub use version::Version;
