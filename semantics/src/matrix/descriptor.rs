//! Descriptors of matrices in shared memory (PTX ISA 9.0, 9.7.15.5.1), and where their elements lie.

use super::element::Element;
use std::fmt;

/// How bytes of a matrix are exchanged, so that neighbours of a column are in different banks: 16-byte units move within spans of so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Swizzle {
    /// Not at all.
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

impl Swizzle {
    /// Units of 16 bytes in a span.
    const fn units(self) -> u32 {
        match self {
            Swizzle::None => 1,
            Swizzle::Bytes32 => 2,
            Swizzle::Bytes64 => 4,
            Swizzle::Bytes128 => 8,
        }
    }
}

/// Which way neighbours in memory are neighbours in the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Major {
    /// Along what is added up.
    K,
    /// Along rows of A, or columns of B.
    Mn,
}

/// The descriptor of a matrix for `wgmma`, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Descriptor {
    /// The address in the block's shared memory.
    pub start: u32,
    /// The leading dimension byte offset.
    pub leading: u32,
    /// The stride dimension byte offset.
    pub stride: u32,
    /// How far from the start of a pattern of swizzled lines the matrix starts, in lines of 128 bytes.
    pub base_offset: u32,
    /// The swizzle.
    pub swizzle: Swizzle,
}

/// Bits of a descriptor that mean nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadDescriptor {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for BadDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.why)
    }
}

/// The fields that must be zero: highest and lowest bit, and their name.
const RESERVED: [(u32, u32, &str); 4] = [
    (15, 14, "reserved field (bits 15:14)"),
    (31, 30, "reserved field (bits 31:30)"),
    (48, 46, "reserved field (bits 48:46)"),
    (61, 52, "reserved field (bits 61:52)"),
];

impl Descriptor {
    /// Takes a descriptor of `wgmma` apart.
    pub fn of_warpgroup(bits: u64) -> Result<Descriptor, BadDescriptor> {
        let field = |high: u32, low: u32| (bits >> low) as u32 & (u32::MAX >> (31 - (high - low)));
        for (high, low, name) in RESERVED {
            let value = field(high, low);
            if value != 0 {
                return Err(BadDescriptor { field: name, why: format!("is {value:#x}; it must be zero") });
            }
        }
        let swizzle = match field(63, 62) {
            0 => Swizzle::None,
            1 => Swizzle::Bytes128,
            2 => Swizzle::Bytes64,
            _ => Swizzle::Bytes32,
        };
        let base_offset = field(51, 49);
        if base_offset >= swizzle.units() {
            let most = swizzle.units() - 1;
            let why = format!("is {base_offset}; with this swizzle it is at most {most}");
            return Err(BadDescriptor { field: "base offset (bits 51:49)", why });
        }
        Ok(Descriptor {
            start: field(13, 0) << 4,
            leading: field(29, 16) << 4,
            stride: field(45, 32) << 4,
            base_offset,
            swizzle,
        })
    }

    /// The address of the byte at `k` bytes along what is added up, of line `mn`; of a matrix whose neighbours are along `mn`, elements of `size`
    /// bytes (6 of the canonical layouts, 9.7.15.5.1.10).
    pub fn address(&self, major: Major, mn: u32, k: u32, size: u32) -> u32 {
        let (unit, span) = (16, 16 * self.swizzle.units());
        let offset = match (major, self.swizzle) {
            (Major::K, Swizzle::None) => {
                mn % 8 * unit + mn / 8 * self.stride + k % unit + k / unit * self.leading
            }
            // What one descriptor reaches is within a span, but for the B of a sparse product: that goes on in the next atom.
            (Major::K, _) => mn % 8 * span + mn / 8 * self.stride + k % span + k / span * self.leading,
            (Major::Mn, swizzle) => {
                let (along, k) = (mn * size, k / size);
                match swizzle {
                    Swizzle::None => {
                        along % unit + along / unit * self.stride + k % 8 * unit + k / 8 * self.leading
                    }
                    Swizzle::Bytes32 | Swizzle::Bytes64 | Swizzle::Bytes128 => {
                        along % span + along / span * self.leading + k % 8 * span + k / 8 * self.stride
                    }
                }
            }
        };
        let address = self.start.wrapping_add(offset);
        let phase = (address >> 7).wrapping_sub(self.base_offset) & (self.swizzle.units() - 1);
        address ^ phase << 4
    }
}

impl Element {
    /// Bytes that are multiplied as one: bits by words.
    pub const fn unit_bytes(self) -> u32 {
        match self.bits() {
            1 => 4,
            bits => bits / 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(swizzle: u64, leading: u64, stride: u64) -> Descriptor {
        Descriptor::of_warpgroup(0x400 >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | swizzle << 62)
            .unwrap()
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        for (code, swizzle) in
            [(0, Swizzle::None), (1, Swizzle::Bytes128), (2, Swizzle::Bytes64), (3, Swizzle::Bytes32)]
        {
            let span = u64::from(16 * swizzle.units());
            // 64 lines of 32 bytes, and 64 x 16 elements of two bytes side by side along lines.
            let along_k = if code == 0 { descriptor(code, 128, 256) } else { descriptor(code, 16, 8 * span) };
            let along_mn =
                if code == 0 { descriptor(code, 1024, 128) } else { descriptor(code, 16 * span, 8 * span) };
            assert_eq!(along_k.swizzle, swizzle);
            for (descriptor, major) in [(along_k, Major::K), (along_mn, Major::Mn)] {
                let mut seen = std::collections::HashSet::new();
                for line in 0..64 {
                    for k in 0..16 {
                        let address = descriptor.address(major, line, 2 * k, 2);
                        assert!(address >= 0x400 && seen.insert(address), "{swizzle:?} {major:?} {line} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn lines_are_swizzled_as_tensor_copies_swizzle_them() {
        let d = descriptor(1, 16, 1024);
        assert_eq!(d.address(Major::K, 0, 18, 2), 0x412);
        assert_eq!(d.address(Major::K, 3, 18, 2), 0x400 + 3 * 128 + (16 ^ 3 << 4) + 2);
        let shifted = Descriptor { start: d.start + 256, base_offset: 2, ..d };
        assert_eq!(shifted.address(Major::K, 3, 18, 2), d.address(Major::K, 3, 18, 2) + 256);
    }

    #[test]
    fn fields_that_mean_nothing_are_named() {
        let bad = |bits: u64| Descriptor::of_warpgroup(bits).unwrap_err().to_string();
        assert_eq!(bad(1 << 14), "reserved field (bits 15:14) is 0x1; it must be zero");
        assert_eq!(bad(1 << 46), "reserved field (bits 48:46) is 0x1; it must be zero");
        assert_eq!(bad(1 << 49), "base offset (bits 51:49) is 1; with this swizzle it is at most 0");
    }
}
