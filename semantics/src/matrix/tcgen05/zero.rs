//! Columns of B that count as zero: what the mask descriptor of `tcgen05.mma.ws` says (PTX ISA 9.0, 9.7.16.4.3).

use super::super::descriptor::BadDescriptor;

/// A zero-column mask descriptor, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZeroColumns {
    /// For each sub-mask, how far into the pattern it starts.
    starts: [u32; 4],
    /// For each sub-mask, whether the pattern starts with columns that are zero.
    first: [bool; 4],
    /// There is a pattern.
    masks: bool,
    /// Columns in a row that are zero, and that are not. The manual's table names them the other way round; its examples and public headers agree.
    runs: [u32; 2],
    /// Which column of B is the first.
    pub shift: u32,
}

impl ZeroColumns {
    /// Takes a descriptor apart. The shift depends on the number of rows.
    pub fn decode(bits: u64, rows: usize) -> Result<ZeroColumns, BadDescriptor> {
        let field = |low: u32, count: u32| (bits >> low) as u32 & ((1 << count) - 1);
        for (low, count, name) in
            [(36, 3, "reserved field (bits 38:36)"), (62, 2, "reserved field (bits 63:62)")]
        {
            if field(low, count) != 0 {
                let why = format!("is {:#x}; it must be zero", field(low, count));
                return Err(BadDescriptor { field: name, why });
            }
        }
        let shift = field(56, 6);
        let most = if rows == 32 { 16 } else { 32 };
        if shift > most {
            let why = format!("is {shift}; with {rows} rows it is at most {most}");
            return Err(BadDescriptor { field: "column shift (bits 61:56)", why });
        }
        Ok(ZeroColumns {
            starts: [0, 8, 16, 24].map(|low| field(low, 8)),
            first: [32, 33, 34, 35].map(|low| field(low, 1) != 0),
            masks: field(39, 1) != 0,
            runs: [field(40, 8) + 1, field(48, 8) + 1],
            shift,
        })
    }

    /// True if a column of a part of the columns, which has a sub-mask of its own, counts as zero.
    pub fn is_zero(&self, part: usize, column: usize) -> bool {
        let [zero, used] = self.runs;
        let at = (self.starts[part % 4] + column as u32) % (zero + used);
        self.masks && if self.first[part % 4] { at < zero } else { at >= used }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(bits: u64, rows: usize, part: usize) -> String {
        let mask = ZeroColumns::decode(bits, rows).unwrap();
        (0..14).rev().map(|column| if mask.is_zero(part, column) { '1' } else { '0' }).collect()
    }

    /// The examples of the manual.
    #[test]
    fn examples_have_their_masks() {
        let spans = 2 << 40 | 3 << 48;
        assert_eq!(mask(4 << 40 | 3 << 48, 128, 0), "00000000000000");
        assert_eq!(mask(spans | 1 << 39, 128, 0), "11100001110000");
        let two = spans | 1 << 39 | 1 << 32;
        assert_eq!([mask(two, 64, 0), mask(two, 64, 1)], ["00001110000111", "11100001110000"]);
        let four = spans | 1 << 39 | 3 << 32 | 1 << 24 | 2 << 16 | 1 << 8 | 2 << 56;
        assert_eq!(mask(four, 32, 0), "00001110000111");
        assert_eq!(mask(four, 32, 1)[1..], *"0000111000011");
        assert_eq!(mask(four, 32, 2)[2..], *"111000011100");
        assert_eq!(mask(four, 32, 3)[1..], *"1110000111000");
        assert_eq!(ZeroColumns::decode(four, 32).unwrap().shift, 2);
    }

    #[test]
    fn illegal_bits_name_their_field() {
        let bad = |bits, rows| ZeroColumns::decode(bits, rows).unwrap_err().to_string();
        assert!(bad(1 << 37, 64).contains("bits 38:36"));
        assert!(bad(1 << 63, 64).contains("bits 63:62"));
        assert_eq!(bad(17 << 56, 32), "column shift (bits 61:56) is 17; with 32 rows it is at most 16");
        assert_eq!(bad(33 << 56, 128), "column shift (bits 61:56) is 33; with 128 rows it is at most 32");
    }
}
