//! Halves of hashes, for tables that keep those of their entries: they compare them before the entries, grow without hashing again, and take little
//! memory.

/// Half of a hash.
pub const fn of(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

/// A whole hash from half of one: a table looks at both ends.
pub const fn whole(half: u32) -> u64 {
    (half as u64) << 32 | half as u64
}
