//! Where the bytes of a tile lie in shared memory (PTX ISA 9.0, 5.5.7).
//!
//! A tile is dense, row after row, but for the permutation: an exclusive or of bits of the address by which units of 16 to 64 bytes change
//! places within a line of 128. The bits are those of the address in the block's shared memory, so a tile that does not start where the
//! pattern does is in the middle of it.

use super::{ElementType, Swizzle};

impl Swizzle {
    /// The most bytes that a row of the box may have; no limit without a permutation.
    pub(super) const fn most_inner_bytes(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::B32 => Some(32),
            Swizzle::B64 => Some(64),
            Swizzle::B96 => Some(96),
            Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 | Swizzle::B128Atom64 => Some(128),
        }
    }

    /// Bytes within which units change places: a power of two.
    pub(crate) const fn span(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 | Swizzle::B96 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 | Swizzle::B128Atom64 => 128,
        }
    }

    /// Bytes that stay together.
    const fn unit(self) -> u32 {
        match self {
            Swizzle::B128Atom32Flip8 => 8,
            Swizzle::None
            | Swizzle::B32
            | Swizzle::B64
            | Swizzle::B96
            | Swizzle::B128
            | Swizzle::B128Atom32
            | Swizzle::B128Atom64 => 16,
        }
    }

    /// Where the byte lies that would be at `address` without the permutation. Its own inverse.
    pub(crate) const fn permute(self, address: u32) -> u32 {
        let line = address >> 7;
        address
            ^ match self {
                Swizzle::None => 0,
                Swizzle::B32 | Swizzle::B96 => (line & 1) << 4,
                Swizzle::B64 => (line & 3) << 4,
                Swizzle::B128 => (line & 7) << 4,
                Swizzle::B128Atom32 => (line & 3) << 5,
                // The manual's figure of which lines are flipped is lost (docs/engine.md): the odd ones.
                Swizzle::B128Atom32Flip8 => (line & 3) << 5 | (line & 1) << 3,
                Swizzle::B128Atom64 => (line & 1) << 6,
            }
    }
}

/// Bytes of a tile that lie together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The offset in the block's shared memory.
    pub shared: u32,
    /// The offset in the dense tile.
    pub at: u32,
    pub bytes: u32,
}

/// Where a tile of `bytes` bytes lies that is copied to, or from, an offset in shared memory. Padding is in no run.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not packed fills its bytes")]
pub(crate) fn runs(swizzle: Swizzle, element: ElementType, offset: u32, bytes: u32, load: bool) -> Vec<Run> {
    // Of sixteen elements of 4 or 6 bits that are copied to shared memory: the bytes that are not padding. Back, each has a byte.
    let used = match element {
        ElementType::B4x16P64 => 8,
        ElementType::B6x16P32 if load => 12,
        _ => 16,
    };
    if swizzle == Swizzle::None && used == 16 {
        return vec![Run { shared: offset, at: 0, bytes }];
    }
    let unit = swizzle.unit().min(if used == 16 { 16 } else { used });
    let mut runs: Vec<Run> = Vec::with_capacity((bytes / unit) as usize);
    for start in (0..bytes).step_by(16) {
        let mut done = 0;
        while done < used {
            let n = unit.min(used - done);
            let run = Run { shared: swizzle.permute(offset + start + done), at: start + done, bytes: n };
            match runs.last_mut() {
                Some(last) if last.shared + last.bytes == run.shared && last.at + last.bytes == run.at => {
                    last.bytes += n;
                }
                _ => runs.push(run),
            }
            done += n;
        }
    }
    runs
}
