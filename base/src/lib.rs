//! What the crates of Warpsmith share and none of them is about.
//!
//! - [`FxHashMap`], [`FxHashSet`]: the hash maps and sets of all crates. One hasher without a random state, so the order of iteration, and with it
//!   every output, is the same in each run.
//! - [`decimal`]: numbers as text.
//! - [`half_hash`]: what tables keep of hashes.
//! - [`even_parts`]: lists in parts of about the same size, for threads.
//! - [`SplitMix64`]: the random number generator of schedules, of generated data and of generated programs.

#![forbid(unsafe_code)]

mod decimal;
pub mod half_hash;
mod parts;
mod random;

pub use decimal::decimal;
pub use parts::even_parts;
pub use random::SplitMix64;

/// The hasher of [`FxHashMap`] and [`FxHashSet`].
pub use rustc_hash::FxHasher;

/// The hash map of all crates; `FxHashMap::default()` is an empty one.
pub type FxHashMap<K, V> = hashbrown::HashMap<K, V, rustc_hash::FxBuildHasher>;

/// A place in a [`FxHashMap`], taken or free.
pub use hashbrown::hash_map::Entry;

/// The hash set of all crates; `FxHashSet::default()` is an empty one.
pub type FxHashSet<T> = hashbrown::HashSet<T, rustc_hash::FxBuildHasher>;
