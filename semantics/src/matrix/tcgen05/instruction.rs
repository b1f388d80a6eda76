//! What a `tcgen05.mma` says by its modifiers, and its instruction descriptor by its bits (PTX ISA 9.0, 9.7.16.2.1 and 9.7.16.4.2).

use super::super::descriptor::{BadDescriptor, Major};
use super::super::element::{Accumulator, Element, Packing};
use super::super::rule::ScaleType;
use super::super::sparse::Chunk;
use super::path::DataPath;
use super::{TensorProduct, TensorScaling};
use warpsmith_isa::{CtaGroup, Instruction, MmaKind, Mod, Operation, ScaleVector};

/// What the modifiers of a `tcgen05.mma` say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorForm {
    /// The types that are multiplied.
    pub kind: MmaKind,
    /// How many scales a row has, if the form says so.
    pub scales: Option<ScaleVector>,
    /// `.sp`: A is sparse.
    pub sparse: bool,
    /// `.ws`: B stays.
    pub stationary: bool,
    /// `.cta_group::2`: two blocks make the product together.
    pub pair: bool,
    /// `.ashift`: rows of A move down by one.
    pub shifted: bool,
}

/// The operations, and whether A is sparse and B stays.
const OPERATIONS: [(Operation, bool, bool); 4] = [
    (Operation::Tcgen05Mma, false, false),
    (Operation::Tcgen05MmaSparse, true, false),
    (Operation::Tcgen05MmaWs, false, true),
    (Operation::Tcgen05MmaWsSparse, true, true),
];

/// The elements of A and B of a kind, by their codes; and how many of them an element of D takes.
fn elements(kind: MmaKind) -> Option<(&'static [(u32, Element)], usize)> {
    const HALVES: &[(u32, Element)] = &[(0, Element::F16), (1, Element::Bf16)];
    const SINGLES: &[(u32, Element)] = &[(2, Element::Tf32)];
    const BYTES: &[(u32, Element)] =
        &[(0, Element::E4m3), (1, Element::E5m2), (3, Element::E2m3), (4, Element::E3m2), (5, Element::E2m1)];
    const INTEGERS: &[(u32, Element)] = &[(0, Element::U8), (1, Element::S8)];
    const NIBBLES: &[(u32, Element)] = &[(1, Element::E2m1)];
    match kind {
        MmaKind::F16 => Some((HALVES, 16)),
        MmaKind::Tf32 => Some((SINGLES, 8)),
        MmaKind::F8f6f4 | MmaKind::Mxf8f6f4 => Some((BYTES, 32)),
        MmaKind::I8 => Some((INTEGERS, 32)),
        MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => Some((NIBBLES, 64)),
        MmaKind::Ti16 => None,
    }
}

fn bad<T>(field: &'static str, why: impl Into<String>) -> Result<T, BadDescriptor> {
    Err(BadDescriptor { field, why: why.into() })
}

/// The bits of an instruction descriptor.
#[derive(Clone, Copy)]
struct Bits(u32);

impl Bits {
    const fn field(self, high: u32, low: u32) -> u32 {
        self.0 >> low & (u32::MAX >> (31 - (high - low)))
    }

    const fn flag(self, bit: u32) -> bool {
        self.0 >> bit & 1 != 0
    }

    fn zero(self, high: u32, low: u32, field: &'static str) -> Result<(), BadDescriptor> {
        match self.field(high, low) {
            0 => Ok(()),
            value => bad(field, format!("is {value:#x}; it must be 0 here")),
        }
    }
}

impl TensorForm {
    /// What an instruction says; `None` for another one, and for kinds that are not executed.
    pub fn of(i: &Instruction) -> Option<TensorForm> {
        let (_, sparse, stationary) =
            *OPERATIONS.iter().find(|(operation, ..)| *operation == i.operation())?;
        let kind = i.mma_kind()?;
        elements(kind)?;
        let pair = i.cta_group() == Some(CtaGroup::Two);
        let shifted = i.has(Mod::Ashift);
        Some(TensorForm { kind, scales: i.scale_vector(), sparse, stationary, pair, shifted })
    }

    /// True if blocks of products are scaled.
    pub const fn is_scaled(&self) -> bool {
        match self.kind {
            MmaKind::Mxf8f6f4 | MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => true,
            MmaKind::F16 | MmaKind::Tf32 | MmaKind::F8f6f4 | MmaKind::I8 | MmaKind::Ti16 => false,
        }
    }

    /// True if two elements share a byte.
    const fn is_tight(&self) -> bool {
        matches!(self.kind, MmaKind::Mxf4 | MmaKind::Mxf4nvf4)
    }

    /// Takes the instruction descriptor apart (Tables 44 to 46).
    pub fn decode(&self, bits: u32) -> Result<TensorProduct, BadDescriptor> {
        let bits = Bits(bits);
        let Some((known, dense)) = elements(self.kind) else {
            return bad("kind", "is not executed");
        };
        let tight = self.is_tight();
        if bits.flag(2) != self.sparse {
            let must = if self.sparse { "0; with `.sp` it must be 1" } else { "1; it must be 0 here" };
            return bad("sparsity (bit 2)", format!("is {must}"));
        }
        bits.zero(6, 6, "reserved field (bit 6)")?;
        let element = |name, code: u32| {
            let codes: Vec<String> = known.iter().map(|(code, _)| code.to_string()).collect();
            match known.iter().find(|(c, _)| *c == code) {
                Some((_, element)) => Ok(*element),
                None => bad(name, format!("is {code}; this kind has {}", codes.join(", "))),
            }
        };
        let types = [
            element("type of A (bits 9:7)", bits.field(9, 7))?,
            element("type of B (bits 12:10)", bits.field(12, 10))?,
        ];
        let negate = [13, 14].map(|bit| bits.flag(bit));
        let major = [15, 16].map(|bit| if bits.flag(bit) { Major::Mn } else { Major::K });
        if tight && major != [Major::K; 2] {
            return bad("transposition (bits 16:15)", "is not 0; kinds of 4 bits have none");
        }
        let (accumulator, saturate, scaling, longer) = if self.is_scaled() {
            bits.zero(1, 0, "reserved field (bits 1:0)")?;
            bits.zero(3, 3, "reserved field (bit 3)")?;
            bits.zero(26, 24, "reserved field (bits 26:24)")?;
            let longer = bits.flag(31);
            if longer && (!tight || self.sparse) {
                let field = if tight { "K dimension (bit 31)" } else { "reserved field (bit 31)" };
                return bad(field, "is 1; it must be 0 here");
            }
            (Accumulator::F32, false, Some(self.scaling(bits, longer)?), longer)
        } else {
            bits.zero(23, 23, "reserved field (bit 23)")?;
            bits.zero(29, 29, "reserved field (bit 29)")?;
            (self.accumulator(bits, types)?, bits.flag(3), None, false)
        };
        if self.kind == MmaKind::I8 && negate != [false; 2] {
            return bad("negation (bits 14:13)", "is not 0; `.kind::i8` has none");
        }
        let selector = bits.field(1, 0);
        if self.sparse && matches!(self.kind, MmaKind::I8 | MmaKind::F8f6f4) && selector != 0 {
            return bad("sparsity selector (bits 1:0)", format!("is {selector}; this kind has only 0"));
        }
        let k = if longer {
            96
        } else if self.sparse {
            2 * dense
        } else {
            dense
        };
        let (m, path) = self.rows(bits, longer)?;
        let n = self.columns(bits, types, major)?;
        let stride = if tight { 4 } else { 8 };
        Ok(TensorProduct {
            shape: [m, n, k],
            types,
            packing: match self.kind {
                MmaKind::F8f6f4 | MmaKind::Mxf8f6f4 => Packing::Bytes,
                MmaKind::F16
                | MmaKind::Tf32
                | MmaKind::I8
                | MmaKind::Ti16
                | MmaKind::Mxf4
                | MmaKind::Mxf4nvf4 => Packing::Tight,
            },
            accumulator,
            negate,
            major,
            saturate,
            sparsity: self.sparse.then(|| (Chunk::of(types[0], stride), selector)),
            scaling,
            path,
            blocks: if self.pair { 2 } else { 1 },
        })
    }

    /// The type of D, where blocks are not scaled.
    fn accumulator(&self, bits: Bits, types: [Element; 2]) -> Result<Accumulator, BadDescriptor> {
        let integers = self.kind == MmaKind::I8;
        if !integers && bits.flag(3) {
            return bad("saturation (bit 3)", "is 1; only `.kind::i8` has it");
        }
        if self.kind == MmaKind::F16 && types[0] != types[1] {
            let [a, b] = [bits.field(9, 7), bits.field(12, 10)];
            let why = format!("is {b}, and that of A is {a}; they must be the same");
            return bad("type of B (bits 12:10)", why);
        }
        let narrow = matches!(self.kind, MmaKind::F8f6f4) || types[0] == Element::F16;
        match bits.field(5, 4) {
            0 if narrow => Ok(Accumulator::F16),
            1 if !integers => Ok(Accumulator::F32),
            2 if integers => Ok(Accumulator::S32),
            code => {
                bad("type of D (bits 5:4)", format!("is {code}, which these types of A and B do not have"))
            }
        }
    }

    /// The scales, where blocks are scaled (9.7.16.10.7).
    fn scaling(&self, bits: Bits, longer: bool) -> Result<TensorScaling, BadDescriptor> {
        let blocks = match (self.kind, self.scales) {
            (MmaKind::Mxf8f6f4, _) => 1,
            (_, Some(ScaleVector::Block16)) if longer => 6,
            (_, Some(ScaleVector::X4 | ScaleVector::Block16)) => 4,
            (_, Some(ScaleVector::Block32) | None) if longer => 3,
            (_, Some(ScaleVector::X1 | ScaleVector::X2 | ScaleVector::Block32) | None) => 2,
        };
        if longer && matches!(self.scales, Some(ScaleVector::X1 | ScaleVector::X2 | ScaleVector::X4)) {
            return bad(
                "K dimension (bit 31)",
                "is 1; only `.block16` and `.block32` have scales for K = 96",
            );
        }
        const TYPE: &str = "type of the scales (bit 23)";
        let powers = bits.flag(23);
        match (self.kind, blocks) {
            (MmaKind::Mxf4nvf4, 4 | 6) => {}
            _ if powers => {}
            (MmaKind::Mxf4nvf4, _) => {
                return bad(TYPE, "is 0; blocks of 32 have scales of ue8m0, which is 1");
            }
            _ => return bad(TYPE, "is 0; this kind has scales of ue8m0, which is 1"),
        }
        let legal: &[u32] = match blocks {
            1 | 3 => &[0, 1, 2, 3],
            2 | 6 => &[0, 2],
            _ => &[0],
        };
        let first = [bits.field(30, 29), bits.field(5, 4)];
        for (id, name) in first.into_iter().zip(["A's scale ID (bits 30:29)", "B's scale ID (bits 5:4)"]) {
            if !legal.contains(&id) {
                return bad(name, format!("is {id}; with {blocks} scales a row it must be one of {legal:?}"));
            }
        }
        let ty = if powers { ScaleType::Ue8m0 } else { ScaleType::Ue4m3 };
        Ok(TensorScaling { ty, blocks, first })
    }

    /// M, and where its rows are (Table 41, 9.7.16.10.5).
    fn rows(&self, bits: Bits, longer: bool) -> Result<(usize, DataPath), BadDescriptor> {
        let m = 16 * bits.field(28, 24) as usize;
        let legal: &[usize] = match (self.is_scaled(), self.pair) {
            _ if self.stationary => &[32, 64, 128],
            (false, false) => &[64, 128],
            (true, false) => &[128],
            (true, true) if self.is_tight() && (self.sparse || longer) => &[256],
            (_, true) => &[128, 256],
        };
        let field = if self.is_scaled() { "M (bits 28:27, in 128s)" } else { "M (bits 28:24, in sixteens)" };
        if !legal.contains(&m) {
            let names: Vec<String> = legal.iter().map(usize::to_string).collect();
            return bad(field, format!("is {m}; it must be {} here", names.join(" or ")));
        }
        if self.shifted && m < 128 {
            return bad(field, format!("is {m}; `.ashift` has 128 or 256"));
        }
        let path = match (m, self.pair) {
            (32, _) => DataPath::OneByFour,
            (64, _) if self.stationary => DataPath::TwoByTwo,
            (64, _) => DataPath::Half,
            (128, true) if self.sparse => DataPath::Half,
            (128, true) => DataPath::TwoByTwo,
            _ => DataPath::FourByOne,
        };
        Ok((m, path))
    }

    /// N (Tables 41 and 52).
    fn columns(&self, bits: Bits, types: [Element; 2], major: [Major; 2]) -> Result<usize, BadDescriptor> {
        const FIELD: &str = "N (bits 22:17, in eights)";
        let n = 8 * bits.field(22, 17) as usize;
        if self.stationary {
            let legal: &[usize] = if self.sparse { &[64, 128] } else { &[64, 128, 256] };
            if !legal.contains(&n) {
                return bad(FIELD, format!("is {n}; with `.ws` it must be one of {legal:?}"));
            }
            return Ok(n);
        }
        let bytes = types[1].bits() <= 8 && major[1] == Major::Mn;
        let coarse = if self.kind == MmaKind::I8 { bytes || self.pair || n > 32 } else { bytes };
        let steps = 8 * if coarse { 2 } else { 1 } * if self.pair { 2 } else { 1 };
        if !(steps..=256).contains(&n) || !n.is_multiple_of(steps) {
            let why = format!("is {n}; it must be a multiple of {steps} from {steps} to 256 here");
            return bad(FIELD, why);
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 x 64, f32.
    const LEGAL: u32 = 1 << 4 | 8 << 17 | 8 << 24;

    fn form(kind: MmaKind) -> TensorForm {
        TensorForm { kind, scales: None, sparse: false, stationary: false, pair: false, shifted: false }
    }

    fn decode(kind: MmaKind, bits: u32) -> Result<TensorProduct, BadDescriptor> {
        form(kind).decode(bits)
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

    /// 128 x 64, scales of ue8m0.
    const SCALED: u32 = 8 << 17 | 1 << 23 | 8 << 24;

    #[test]
    fn scales_have_their_types_counts_and_bytes() {
        let product = decode(MmaKind::Mxf8f6f4, SCALED | 5 << 10 | 3 << 29 | 1 << 4).unwrap();
        assert_eq!((product.shape, product.packing), ([128, 64, 32], Packing::Bytes));
        let scaling = product.scaling.unwrap();
        assert_eq!((scaling.ty, scaling.blocks, scaling.first), (ScaleType::Ue8m0, 1, [3, 1]));
        let nibbles = SCALED | 1 << 7 | 1 << 10;
        let product = decode(MmaKind::Mxf4, nibbles | 2 << 29).unwrap();
        assert_eq!((product.shape, product.container()), ([128, 64, 64], [2, 1]));
        assert_eq!((product.scaling.unwrap().blocks, product.scaling.unwrap().first), (2, [2, 0]));
        let sixteen = TensorForm { scales: Some(ScaleVector::Block16), ..form(MmaKind::Mxf4nvf4) };
        let product = sixteen.decode(nibbles ^ 1 << 23).unwrap();
        assert_eq!((product.scaling.unwrap().ty, product.scaling.unwrap().blocks), (ScaleType::Ue4m3, 4));
        let long = sixteen.decode(nibbles | 1 << 31 | 2 << 4).unwrap();
        assert_eq!((long.shape[2], long.scaling.unwrap().blocks), (96, 6));
        // Byte 2 + 3 is the next cell's second, beyond those of all 64 lines.
        assert_eq!(long.scale(1, 64, 33, 3), (1, 1 + 2, 1));
    }

    #[test]
    fn illegal_bits_of_other_forms_name_their_field() {
        use MmaKind::{F8f6f4, F16, I8, Mxf4, Mxf4nvf4, Mxf8f6f4};
        let nibbles = SCALED | 1 << 7 | 1 << 10;
        let sparse = |kind| TensorForm { sparse: true, ..form(kind) };
        let pair = |kind| TensorForm { pair: true, ..form(kind) };
        let stationary = |kind| TensorForm { stationary: true, ..form(kind) };
        let block16 = TensorForm { scales: Some(ScaleVector::Block16), ..form(Mxf4nvf4) };
        for (form, bits, part) in [
            (form(Mxf8f6f4), SCALED | 1, "(bits 1:0)"),
            (form(Mxf8f6f4), SCALED | 1 << 3, "(bit 3)"),
            (form(Mxf8f6f4), SCALED | 2 << 7, "type of A (bits 9:7) is 2"),
            (form(Mxf8f6f4), SCALED ^ 1 << 23, "type of the scales (bit 23) is 0"),
            (form(Mxf8f6f4), SCALED | 1 << 24, "(bits 26:24)"),
            (form(Mxf8f6f4), SCALED | 1 << 31, "reserved field (bit 31)"),
            (form(Mxf8f6f4), SCALED ^ 24 << 24, "M (bits 28:27, in 128s) is 256"),
            (form(Mxf4), nibbles | 4 << 10, "type of B (bits 12:10) is 5"),
            (form(Mxf4), nibbles | 1 << 16, "transposition (bits 16:15)"),
            (form(Mxf4), nibbles | 1 << 29, "A's scale ID (bits 30:29) is 1"),
            (form(Mxf4), nibbles | 3 << 4, "B's scale ID (bits 5:4) is 3"),
            (form(Mxf4nvf4), nibbles ^ 1 << 23, "blocks of 32"),
            (block16, nibbles | 2 << 4, "B's scale ID (bits 5:4) is 2"),
            (sparse(Mxf4), nibbles | 1 << 2 | 1 << 31, "K dimension (bit 31)"),
            (sparse(F16), LEGAL, "sparsity (bit 2) is 0"),
            (sparse(F8f6f4), LEGAL | 1 << 2 | 2, "sparsity selector (bits 1:0) is 2"),
            (pair(F16), LEGAL ^ 12 << 24, "M (bits 28:24, in sixteens) is 64; it must be 128 or 256"),
            (pair(F16), LEGAL | 1 << 17, "N (bits 22:17, in eights) is 72; it must be a multiple of 16"),
            (pair(I8), LEGAL ^ 3 << 4 | 2 << 17, "is 80; it must be a multiple of 32"),
            (stationary(F16), LEGAL ^ 24 << 24, "is 256; it must be 32 or 64 or 128"),
            (stationary(F16), LEGAL | 4 << 17, "is 96; with `.ws` it must be one of [64, 128, 256]"),
            (TensorForm { shifted: true, ..form(F16) }, LEGAL ^ 12 << 24, "`.ashift` has 128 or 256"),
        ] {
            let found = form.decode(bits).unwrap_err().to_string();
            assert!(found.contains(part), "{form:?} {bits:#x}: {found}");
        }
    }
}
