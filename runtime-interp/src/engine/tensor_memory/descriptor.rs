//! Descriptors of matrices in shared memory, as instructions on tensor memory take them (PTX ISA 9.0, 9.7.16.4.1).

use crate::tensor::Swizzle;

/// Where a matrix lies in shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct SharedMatrix {
    /// The first byte.
    pub start: u32,
    /// Bytes from one column of 16 bytes to the next, without a swizzle.
    pub leading: u32,
    /// Bytes from eight rows to the next eight.
    pub stride: u32,
    /// Where in the pattern the matrix starts, in lines of 128 bytes.
    pub base_offset: u32,
    pub swizzle: Swizzle,
}

impl SharedMatrix {
    /// Decodes a descriptor; the error names the field that is illegal.
    pub fn decode(bits: u64) -> Result<SharedMatrix, String> {
        let field = |low: u32, count: u32| (bits >> low) as u32 & ((1 << count) - 1);
        let fixed = field(46, 3);
        if fixed != 1 {
            return Err(format!("bits 46 to 48 are {fixed:#05b}; they must be 0b001"));
        }
        if field(52, 1) != 0 {
            return Err(
                "bit 52 asks for an absolute leading dimension, which only matrices of 48 bytes in K have"
                    .into(),
            );
        }
        if field(53, 8) != 0 {
            return Err(format!("bits 53 to 60 are {:#x}; they must be zero", field(53, 8)));
        }
        let swizzle = match field(61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::B128Atom32,
            2 => Swizzle::B128,
            4 => Swizzle::B64,
            6 => Swizzle::B32,
            mode => {
                return Err(format!(
                    "the swizzling mode in bits 61 to 63 is {mode}; it must be 0, 1, 2, 4 or 6"
                ));
            }
        };
        Ok(SharedMatrix {
            start: field(0, 14) << 4,
            leading: field(16, 14) << 4,
            stride: field(32, 14) << 4,
            base_offset: field(49, 3),
            swizzle,
        })
    }

    /// The address of 16 bytes of a row of a K-major matrix (9.7.16.3.3).
    pub fn unit(&self, row: u32, unit: u32) -> u32 {
        let eight = self.start + row / 8 * self.stride;
        if self.swizzle == Swizzle::None {
            return eight + row % 8 * 16 + unit * self.leading;
        }
        let address = eight + row % 8 * self.swizzle.span() + unit * 16;
        // A pattern that does not start at its boundary is moved by as many lines.
        let phase = self.base_offset << 7;
        self.swizzle.permute(address.wrapping_sub(phase)).wrapping_add(phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_name_the_field_that_is_illegal() {
        let legal = 0x40 | 8u64 << 16 | 64 << 32 | 1 << 46 | 2 << 61;
        let matrix = SharedMatrix::decode(legal).unwrap();
        assert_eq!((matrix.start, matrix.leading, matrix.stride), (0x400, 128, 1024));
        assert_eq!(matrix.unit(9, 1), 0x400 + 1024 + 128);
        for (bits, part) in [
            (legal ^ 1 << 46, "bits 46 to 48 are 0b000"),
            (legal | 1 << 47, "bits 46 to 48 are 0b011"),
            (legal | 1 << 52, "bit 52"),
            (legal | 1 << 53, "bits 53 to 60 are 0x1"),
            (legal | 1 << 60, "bits 53 to 60 are 0x80"),
            (legal | 1 << 61, "mode in bits 61 to 63 is 3"),
            (legal | 7 << 61, "mode in bits 61 to 63 is 7"),
        ] {
            assert!(SharedMatrix::decode(bits).unwrap_err().contains(part), "{bits:#x}");
        }
    }
}
