//! The hash of the name tables, shared by the build script, which lays them out, and the crate, which looks names up.

/// FNV-1a in 64 bits: the same in every build, so that it may be written down.
///
/// ```
/// assert_eq!(warpsmith_isa::stable_hash(b""), 0xcbf2_9ce4_8422_2325);
/// assert_eq!(warpsmith_isa::stable_hash(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn stable_hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The slot of a name in a table of so many, a power of two.
pub(crate) fn slot(name: &str, slots: usize) -> usize {
    let hash = stable_hash(name.as_bytes());
    (hash ^ hash >> 32) as usize & (slots - 1)
}
