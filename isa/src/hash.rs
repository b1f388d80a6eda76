//! The hash of the name tables, shared by the build script, which lays them out, and the crate, which looks names up.

/// FNV-1a.
pub const fn hash(text: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5u32;
    let mut i = 0;
    while i < text.len() {
        hash = (hash ^ text[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash ^ (hash >> 15)
}
