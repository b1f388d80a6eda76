//! The products of the fifth generation of tensor cores: what an instruction descriptor says, and the arithmetic (PTX ISA 9.0, 9.7.16.4.2 and
//! 9.7.16.10).

use super::descriptor::{BadDescriptor, Major};
use super::element::{Accumulator, Element, Family, Packing};
use super::float::{Product, Workspace};
use super::integer::{IntegerKind, IntegerProduct};
use super::rule::{Arithmetic, Rule, Unit};
use super::unpack::Unpack;
use crate::lanes::Level;
use warpsmith_isa::MmaKind;

/// What a dense product of one block multiplies, without scales of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorProduct {
    /// M, N and K.
    pub shape: [usize; 3],
    /// The elements of A and B.
    pub types: [Element; 2],
    /// The type of C and D.
    pub accumulator: Accumulator,
    /// The signs of A's and B's elements are turned.
    pub negate: [bool; 2],
    /// Which way A and B lie in memory.
    pub major: [Major; 2],
    /// Sums of integers are clamped.
    pub saturate: bool,
}

/// The elements of A and B of a kind, by their codes; and how many of them an element of D takes.
fn elements(kind: MmaKind) -> Option<(&'static [(u32, Element)], usize)> {
    const HALVES: &[(u32, Element)] = &[(0, Element::F16), (1, Element::Bf16)];
    const SINGLES: &[(u32, Element)] = &[(2, Element::Tf32)];
    const BYTES: &[(u32, Element)] =
        &[(0, Element::E4m3), (1, Element::E5m2), (3, Element::E2m3), (4, Element::E3m2), (5, Element::E2m1)];
    const INTEGERS: &[(u32, Element)] = &[(0, Element::U8), (1, Element::S8)];
    match kind {
        MmaKind::F16 => Some((HALVES, 16)),
        MmaKind::Tf32 => Some((SINGLES, 8)),
        MmaKind::F8f6f4 => Some((BYTES, 32)),
        MmaKind::I8 => Some((INTEGERS, 32)),
        MmaKind::Ti16 | MmaKind::Mxf8f6f4 | MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => None,
    }
}

fn bad(field: &'static str, why: String) -> BadDescriptor {
    BadDescriptor { field, why }
}

impl TensorProduct {
    /// Takes the instruction descriptor of a dense product of one block apart (Table 44). `None` for a kind with scales, or a later one.
    pub fn decode(kind: MmaKind, bits: u32) -> Option<Result<TensorProduct, BadDescriptor>> {
        let (known, k) = elements(kind)?;
        Some(Self::fields(kind, known, k, bits))
    }

    fn fields(
        kind: MmaKind,
        known: &[(u32, Element)],
        k: usize,
        bits: u32,
    ) -> Result<TensorProduct, BadDescriptor> {
        let field = |high: u32, low: u32| bits >> low & (u32::MAX >> (31 - (high - low)));
        for (bit, name) in [
            (2, "sparsity (bit 2)"),
            (6, "reserved field (bit 6)"),
            (23, "reserved field (bit 23)"),
            (29, "reserved field (bit 29)"),
        ] {
            if field(bit, bit) != 0 {
                return Err(bad(name, "is 1; it must be 0 here".into()));
            }
        }
        let integers = kind == MmaKind::I8;
        if !integers && field(3, 3) != 0 {
            return Err(bad("saturation (bit 3)", "is 1; only `.kind::i8` has it".into()));
        }
        let element = |name, code: u32| {
            let codes: Vec<String> = known.iter().map(|(code, _)| code.to_string()).collect();
            let why = || format!("is {code}; this kind has {}", codes.join(", "));
            known.iter().find(|(c, _)| *c == code).map(|(_, e)| *e).ok_or_else(|| bad(name, why()))
        };
        let types = [
            element("type of A (bits 9:7)", field(9, 7))?,
            element("type of B (bits 12:10)", field(12, 10))?,
        ];
        if kind == MmaKind::F16 && types[0] != types[1] {
            let why =
                format!("is {}, and that of A is {}; they must be the same", field(12, 10), field(9, 7));
            return Err(bad("type of B (bits 12:10)", why));
        }
        const OF_D: &str = "type of D (bits 5:4)";
        let narrow = matches!(kind, MmaKind::F8f6f4) || types[0] == Element::F16;
        let accumulator = match field(5, 4) {
            0 if narrow => Accumulator::F16,
            1 if !integers => Accumulator::F32,
            2 if integers => Accumulator::S32,
            code => return Err(bad(OF_D, format!("is {code}, which these types of A and B do not have"))),
        };
        let negate = [13, 14].map(|bit| field(bit, bit) != 0);
        if integers && negate != [false; 2] {
            return Err(bad("negation (bits 14:13)", "is not 0; `.kind::i8` has none".into()));
        }
        let major = [15, 16].map(|bit| if field(bit, bit) != 0 { Major::Mn } else { Major::K });
        let (n, m) = (8 * field(22, 17), 16 * field(28, 24));
        let sixteens = integers && n > 32 || types[1].bits() <= 8 && major[1] == Major::Mn;
        let step = if sixteens { 16 } else { 8 };
        if !(step..=256).contains(&n) || !n.is_multiple_of(step) {
            let why = format!("is {n}; it must be a multiple of {step} from {step} to 256 here");
            return Err(bad("N (bits 22:17, in eights)", why));
        }
        if m != 64 && m != 128 {
            return Err(bad("M (bits 28:24, in sixteens)", format!("is {m}; it must be 64 or 128 here")));
        }
        Ok(TensorProduct {
            shape: [m as usize, n as usize, k],
            types,
            accumulator,
            negate,
            major,
            saturate: field(3, 3) != 0,
        })
    }

    /// Bytes of an element in memory: those of 4 and 6 bits have one, too.
    pub fn element_bytes(&self) -> u32 {
        self.types[0].bits().div_ceil(8)
    }

    /// Adds the product to C: `accumulators` has the bits of C, row by row, and gets those of D. A and B come as containers, row by row.
    pub fn run(&self, arithmetic: Arithmetic, level: Level, [a, b]: [&[u32]; 2], accumulators: &mut [u32]) {
        let [m, _, k] = self.shape;
        let rows: Vec<u16> = (0..m * k).map(|at| (at % k) as u16).collect();
        let elements = |side: usize, containers: &[u32]| -> Vec<u32> {
            let bytes = self.types[side].bits() < 8;
            let packing = if bytes { Packing::Bytes } else { Packing::Tight };
            let unpack = Unpack::new(self.types[side], packing, self.negate[side]);
            containers.iter().map(|container| unpack.element(*container)).collect()
        };
        let (a, b) = (elements(0, a), elements(1, b));
        if matches!(self.types[0].family(), Family::Integer { .. }) {
            let (kind, saturate) = (IntegerKind::Multiply, self.saturate);
            let product = IntegerProduct { shape: self.shape, kind, saturate, a: &a, b: &b, rows: &rows };
            return product.run(level, accumulators);
        }
        let rule = match arithmetic {
            Arithmetic::Hardware(architecture) => {
                Some(Rule::of(architecture, Unit::Tcgen05, self.types[0], false))
            }
            Arithmetic::Ideal => None,
        };
        let product = Product {
            shape: self.shape,
            types: self.types,
            accumulators: [self.accumulator; 2],
            rule,
            a: &a,
            b: &b,
            rows: &rows,
            scales: None,
        };
        product.run(level, &mut Workspace::default(), accumulators);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 x 64, f32.
    const LEGAL: u32 = 1 << 4 | 8 << 17 | 8 << 24;

    fn decode(kind: MmaKind, bits: u32) -> Result<TensorProduct, BadDescriptor> {
        TensorProduct::decode(kind, bits).unwrap()
    }

    #[test]
    fn fields_have_their_meaning() {
        let product = decode(MmaKind::F16, LEGAL | 1 << 7 | 1 << 10 | 1 << 14 | 1 << 15).unwrap();
        assert_eq!(product.shape, [128, 64, 16]);
        assert_eq!(product.types, [Element::Bf16; 2]);
        assert_eq!((product.negate, product.major), ([false, true], [Major::Mn, Major::K]));
        let integers = decode(MmaKind::I8, LEGAL ^ 3 << 4 | 1 << 3 | 1 << 7).unwrap();
        assert_eq!(integers.types, [Element::S8, Element::U8]);
        assert_eq!((integers.accumulator, integers.saturate), (Accumulator::S32, true));
        assert!(TensorProduct::decode(MmaKind::Mxf4, LEGAL).is_none());
    }

    #[test]
    fn illegal_bits_name_their_field() {
        use MmaKind::{F8f6f4, F16, I8, Tf32};
        for (kind, bits, part) in [
            (F16, LEGAL | 1 << 2, "sparsity (bit 2)"),
            (F16, LEGAL | 1 << 3, "saturation (bit 3)"),
            (F16, LEGAL | 1 << 5, "type of D (bits 5:4) is 3"),
            (F16, LEGAL | 1 << 6, "(bit 6)"),
            (F16, LEGAL | 2 << 7, "type of A (bits 9:7) is 2"),
            (F16, LEGAL | 1 << 7, "that of A is 1"),
            (F16, (LEGAL ^ 1 << 4) | 1 << 7 | 1 << 10, "type of D (bits 5:4) is 0"),
            (F8f6f4, LEGAL | 2 << 10, "type of B (bits 12:10) is 2"),
            (Tf32, LEGAL, "type of A (bits 9:7) is 0"),
            (I8, LEGAL, "type of D (bits 5:4) is 1"),
            (I8, LEGAL ^ 3 << 4 | 1 << 13, "negation"),
            (I8, LEGAL ^ 3 << 4 | 1 << 17, "N (bits 22:17, in eights) is 72"),
            (F8f6f4, LEGAL | 1 << 16 | 1 << 17, "is 72; it must be a multiple of 16"),
            (F16, LEGAL & !(63 << 17), "is 0; it must be a multiple of 8"),
            (F16, LEGAL | 63 << 17, "is 504"),
            (F16, LEGAL | 1 << 23, "(bit 23)"),
            (F16, LEGAL ^ 24 << 24, "M (bits 28:24, in sixteens) is 256"),
            (F16, LEGAL | 1 << 29, "(bit 29)"),
        ] {
            let found = decode(kind, bits).unwrap_err().to_string();
            assert!(found.contains(part), "{kind:?} {bits:#x}: {found}");
        }
    }
}
