//! Descriptors of matrices in shared memory (PTX ISA 9.0, 9.7.15.5.1 and 9.7.16.4.1), and where their elements lie.

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
    /// Within 128 bytes, two units at a time.
    Bytes128Atom32,
}

impl Swizzle {
    /// Units of 16 bytes in a span.
    const fn units(self) -> u32 {
        match self {
            Swizzle::None => 1,
            Swizzle::Bytes32 => 2,
            Swizzle::Bytes64 => 4,
            Swizzle::Bytes128 | Swizzle::Bytes128Atom32 => 8,
        }
    }

    /// Lines of 128 bytes after which the pattern repeats.
    const fn lines(self) -> u32 {
        match self {
            Swizzle::None => 1,
            Swizzle::Bytes32 => 2,
            Swizzle::Bytes64 | Swizzle::Bytes128Atom32 => 4,
            Swizzle::Bytes128 => 8,
        }
    }

    /// What is exchanged in a line of the pattern: bits of the address.
    const fn exchange(self, line: u32) -> u32 {
        let phase = line & (self.lines() - 1);
        match self {
            Swizzle::None | Swizzle::Bytes32 | Swizzle::Bytes64 | Swizzle::Bytes128 => phase << 4,
            Swizzle::Bytes128Atom32 => phase << 5,
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

/// The descriptor of a matrix for `wgmma` or `tcgen05`, taken apart.
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
    /// The leading offset is an address, where lines go on that a span of 128 bytes cannot hold.
    pub absolute: bool,
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
        Self::of_fields(bits, swizzle)
    }

    /// Takes a descriptor of `tcgen05` apart (Table 42). Lines of 48 bytes may go on at an absolute address (9.7.16.3.1.2).
    pub fn of_tensor_core(bits: u64, long: bool) -> Result<Descriptor, BadDescriptor> {
        let field = |low: u32, count: u32| (bits >> low) as u32 & ((1 << count) - 1);
        let bad = |field, why| Err(BadDescriptor { field, why });
        for (low, name) in [(14, "bits 14 and 15"), (30, "bits 30 and 31")] {
            let value = field(low, 2);
            if value != 0 {
                return bad(name, format!("are {value:#04b}; they must be zero"));
            }
        }
        let fixed = field(46, 3);
        if fixed != 1 {
            return bad("bits 46 to 48", format!("are {fixed:#05b}; they must be 0b001"));
        }
        let absolute = field(52, 1) != 0;
        if absolute && !long {
            let why = "asks for an absolute leading dimension, which only matrices of 48 bytes in K have";
            return bad("bit 52", why.into());
        }
        if field(53, 8) != 0 {
            return bad("bits 53 to 60", format!("are {:#x}; they must be zero", field(53, 8)));
        }
        let swizzle = match field(61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::Bytes128Atom32,
            2 => Swizzle::Bytes128,
            4 => Swizzle::Bytes64,
            6 => Swizzle::Bytes32,
            mode => {
                let why = format!("is {mode}; it must be 0, 1, 2, 4 or 6");
                return bad("the swizzling mode in bits 61 to 63", why);
            }
        };
        let matrix = Self::of_fields(bits, swizzle)?;
        if absolute && swizzle != Swizzle::Bytes128 {
            return bad(
                "the swizzling mode in bits 61 to 63",
                "must be 2 with an absolute leading dimension".into(),
            );
        }
        if absolute && matrix.base_offset != 0 {
            return bad(
                "the base offset in bits 49 to 51",
                "must be 0 with an absolute leading dimension".into(),
            );
        }
        Ok(Descriptor { absolute, ..matrix })
    }

    /// The fields that both descriptors have.
    fn of_fields(bits: u64, swizzle: Swizzle) -> Result<Descriptor, BadDescriptor> {
        let field = |low: u32, count: u32| (bits >> low) as u32 & ((1 << count) - 1);
        let base_offset = field(49, 3);
        if base_offset >= swizzle.lines() {
            let most = swizzle.lines() - 1;
            let why = format!("is {base_offset}; with this swizzle it is at most {most}");
            return Err(BadDescriptor { field: "base offset (bits 51:49)", why });
        }
        Ok(Descriptor {
            start: field(0, 14) << 4,
            leading: field(16, 14) << 4,
            stride: field(32, 14) << 4,
            base_offset,
            swizzle,
            absolute: false,
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
            (Major::K, _) if self.absolute => {
                let at = self.start % span + k;
                let second = self.leading.wrapping_sub(self.start).wrapping_sub(span);
                let start = if at < span { 0 } else { second.wrapping_add(self.start % span) };
                start.wrapping_add(mn % 8 * span + mn / 8 * self.stride + k)
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
                    // Its pattern has half as many lines.
                    Swizzle::Bytes128Atom32 => {
                        along % span + along / span * self.leading + k % 4 * span + k / 4 * self.stride
                    }
                }
            }
        };
        let address = self.start.wrapping_add(offset);
        address ^ self.swizzle.exchange((address >> 7).wrapping_sub(self.base_offset))
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
    fn descriptors_of_tensor_cores_name_the_field_that_is_illegal() {
        let legal = 0x40 | 8u64 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
        let matrix = Descriptor::of_tensor_core(legal, false).unwrap();
        assert_eq!((matrix.start, matrix.leading, matrix.stride), (0x400, 128, 1024));
        assert_eq!(matrix.address(Major::K, 9, 16, 1), 0x400 + 1024 + 128);
        // Two units at a time change places, in four lines.
        let atoms = Descriptor::of_tensor_core(legal ^ 3 << 61, false).unwrap();
        assert_eq!(atoms.swizzle, Swizzle::Bytes128Atom32);
        assert_eq!(atoms.address(Major::Mn, 4, 4 * 3, 4), 0x400 + 3 * 128 + (16 ^ 3 << 5));
        assert_eq!(atoms.address(Major::Mn, 32, 4 * 4, 4), 0x400 + 1024 + 128 + (1 << 5));
        for (bits, part) in [
            (legal | 1 << 14, "bits 14 and 15 are 0b01"),
            (legal | 1 << 31, "bits 30 and 31 are 0b10"),
            (legal ^ 1 << 46, "bits 46 to 48 are 0b000"),
            (legal | 1 << 47, "bits 46 to 48 are 0b011"),
            (legal | 1 << 52, "bit 52"),
            (legal | 1 << 53, "bits 53 to 60 are 0x1"),
            (legal | 1 << 60, "bits 53 to 60 are 0x80"),
            (legal | 1 << 61, "mode in bits 61 to 63 is 3"),
            (legal | 7 << 61, "mode in bits 61 to 63 is 7"),
        ] {
            assert!(
                Descriptor::of_tensor_core(bits, false).unwrap_err().to_string().contains(part),
                "{bits:#x}"
            );
        }
    }

    #[test]
    fn long_lines_go_on_at_an_absolute_address() {
        let start = 0x460u64;
        let bits = start >> 4 | (0x2000 >> 4) << 16 | 64 << 32 | 1 << 46 | 1 << 52 | 2 << 61;
        let matrix = Descriptor::of_tensor_core(bits, true).unwrap();
        assert_eq!(matrix.address(Major::K, 0, 16, 1), 0x470);
        assert_eq!(matrix.address(Major::K, 0, 40, 1), 0x2008);
        // The third line of the second chunk, swizzled as its own address says.
        assert_eq!(matrix.address(Major::K, 2, 32, 1), 0x2000 + 256 + (2 << 4));
        let bad = |bits| Descriptor::of_tensor_core(bits, true).unwrap_err().to_string();
        assert!(bad(bits ^ 4 << 61).contains("the swizzling mode in bits 61 to 63 must be 2"));
        assert!(bad(bits | 1 << 49).contains("the base offset in bits 49 to 51"));
    }

    /// Every bit of a descriptor without swizzle is part of a field that may hold it, or is named.
    #[test]
    fn every_illegal_bit_is_named() {
        let may_hold = |bit: u32| matches!(bit, 0..14 | 16..30 | 32..46);
        let legal = 1 << 46;
        for bit in 0..64u32 {
            let of_warpgroup = Descriptor::of_warpgroup(1 << bit);
            let of_tensor_core = Descriptor::of_tensor_core(legal ^ 1 << bit, false);
            // A swizzle is legal by itself.
            let swizzles = [matches!(bit, 62 | 63), matches!(bit, 61..64)];
            for (found, swizzles) in [of_warpgroup, of_tensor_core].into_iter().zip(swizzles) {
                assert_eq!(found.is_ok(), may_hold(bit) || swizzles, "bit {bit}");
                let Err(bad) = found else { continue };
                let numbers =
                    bad.field.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
                let numbers: Vec<u32> = numbers.collect();
                let ends = [numbers.iter().min(), numbers.iter().max()];
                assert!(ends[0] <= Some(&bit) && Some(&bit) <= ends[1], "bit {bit}: {bad}");
            }
        }
    }

    #[test]
    fn fields_that_mean_nothing_are_named() {
        let bad = |bits: u64| Descriptor::of_warpgroup(bits).unwrap_err().to_string();
        assert_eq!(bad(1 << 14), "reserved field (bits 15:14) is 0x1; it must be zero");
        assert_eq!(bad(1 << 46), "reserved field (bits 48:46) is 0x1; it must be zero");
        assert_eq!(bad(1 << 49), "base offset (bits 51:49) is 1; with this swizzle it is at most 0");
    }
}
