//! The products of a warp: `mma`, `mma.sp` and `wmma.mma` (PTX ISA 9.0, 9.7.14.4.5, 9.7.14.5.14 and 9.7.14.6.3), from registers to registers.

use super::element::{Accumulator, Element, Family, Packing};
use super::exchange::Lanes;
use super::float::{Product, Scales, Workspace, has_avx2};
use super::integer::{IntegerKind, IntegerProduct, multiply_double};
use super::layout::{Fragment, Map, Role, is_transposed, quads};
use super::rule::{Arithmetic, ByWay, Rule, ScaleType, Unit};
use super::sparse::{BadMetadata, Chunk, Partners, Sparsity};
use super::stepwise;
use super::unpack::{self, Unpack};
use crate::lanes::Level;
use crate::value::Rounding;
use warpsmith_isa::{self as isa, BoolOp, Instruction, Mod, Operation, ScalarType};

/// The types that elements of A and B have.
const ELEMENTS: [(ScalarType, Element); 14] = [
    (ScalarType::F16, Element::F16),
    (ScalarType::BF16, Element::Bf16),
    (ScalarType::TF32, Element::Tf32),
    (ScalarType::E4M3, Element::E4m3),
    (ScalarType::E5M2, Element::E5m2),
    (ScalarType::E3M2, Element::E3m2),
    (ScalarType::E2M3, Element::E2m3),
    (ScalarType::E2M1, Element::E2m1),
    (ScalarType::F64, Element::F64),
    (ScalarType::S8, Element::S8),
    (ScalarType::U8, Element::U8),
    (ScalarType::S4, Element::S4),
    (ScalarType::U4, Element::U4),
    (ScalarType::B1, Element::B1),
];

/// The types that C and D have.
const ACCUMULATORS: [(ScalarType, Accumulator); 4] = [
    (ScalarType::F16, Accumulator::F16),
    (ScalarType::F32, Accumulator::F32),
    (ScalarType::F64, Accumulator::F64),
    (ScalarType::S32, Accumulator::S32),
];

impl Element {
    /// The element of a type that matrices have.
    pub fn from_scalar(ty: ScalarType) -> Option<Element> {
        ELEMENTS.iter().find(|(known, _)| *known == ty).map(|(_, element)| *element)
    }
}

impl Accumulator {
    /// The accumulator of a type that C and D have.
    pub fn from_scalar(ty: ScalarType) -> Option<Accumulator> {
        ACCUMULATORS.iter().find(|(known, _)| *known == ty).map(|(_, accumulator)| *accumulator)
    }

    /// Elements in a register of 32 bits; of f64, in one of 64.
    pub const fn per_register(self) -> usize {
        match self {
            Accumulator::F16 => 2,
            Accumulator::F32 | Accumulator::F64 | Accumulator::S32 => 1,
        }
    }
}

/// The scales of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scaling {
    /// Their type.
    pub ty: ScaleType,
    /// How many a row of A and a column of B have.
    pub blocks: usize,
}

/// What a warp multiplies, and where its lanes hold it.
#[derive(Clone, Debug)]
pub struct WarpProduct {
    /// M, N and K; with a sparse A, K counts what is left out too.
    pub shape: [usize; 3],
    /// The elements of A and B.
    pub types: [Element; 2],
    /// The types of C and D.
    pub accumulators: [Accumulator; 2],
    /// How A and B lie in registers.
    pub packing: Packing,
    /// A is sparse.
    pub sparsity: Option<Sparsity>,
    /// Blocks of products are scaled.
    pub scaling: Option<Scaling>,
    /// `.satfinite` of integers. With floats, which `wmma` takes it with up to PTX 6.4, hardware has nothing of the kind.
    pub saturate: bool,
    /// What is done with integers.
    pub kind: IntegerKind,
    /// How f64 is rounded.
    pub rounding: Rounding,
    /// So many products of this shape, one after the other.
    pub batch: usize,
    /// Which circuit multiplies.
    pub unit: Unit,
    /// The signs of A's and B's elements are turned.
    pub negate: [bool; 2],
    /// Registers of A, B, C and D.
    pub registers: [usize; 4],
    maps: [Map; 4],
    /// A, B, C and D, unless their places follow no formula of tiles.
    fragments: Option<[Fragment; 4]>,
}

/// The registers that a product reads. Those of f64 are pairs of words, low and high.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The registers of A, B and C.
    pub matrices: [Vec<Lanes>; 3],
    /// Elements of A and B that come from memory in place of registers, row by row: containers, or words of bits.
    pub elements: [Option<Vec<u32>>; 2],
    /// The metadata of a sparse A.
    pub metadata: Lanes,
    /// The sparsity selector.
    pub selector: usize,
    /// The scales of A and B.
    pub scales: [Lanes; 2],
    /// For each of them, which byte and which thread holds them.
    pub scale_selectors: [[usize; 2]; 2],
}

/// Room to multiply in, which can be used again.
#[derive(Debug, Default)]
pub struct WarpWorkspace {
    a: Vec<u32>,
    b: Vec<u32>,
    d: Vec<u32>,
    doubles: [Vec<u64>; 3],
    rows: Vec<u16>,
    scales: [Vec<u8>; 2],
    floats: Workspace,
}

impl WarpProduct {
    /// What an instruction multiplies; `None` for another instruction.
    pub fn of(i: &Instruction) -> Option<WarpProduct> {
        let sparse = i.operation() == Operation::MmaSparse;
        let wmma = i.operation() == Operation::WmmaMma;
        if !sparse && !wmma && i.operation() != Operation::Mma {
            return None;
        }
        let [m, n, k] = i.shape()?.map(usize::from);
        let named: Vec<ScalarType> = i.types().collect();
        let (d, a, b, c) = match named[..] {
            [d, c] => (d, ScalarType::F16, ScalarType::F16, c),
            [d, a, b, c] | [d, a, b, c, _] => (d, a, b, c),
            _ => return None,
        };
        let types = [Element::from_scalar(a)?, Element::from_scalar(b)?];
        let accumulators = [Accumulator::from_scalar(c)?, Accumulator::from_scalar(d)?];
        let bytes = i.has(Mod::KindF8f6f4) || i.has(Mod::KindMxf8f6f4);
        let packing = if bytes { Packing::Bytes } else { Packing::Tight };
        let blocks = match i.has(Mod::KindMxf8f6f4) {
            true => 1,
            false if i.has(Mod::ScaleVec4X) => 4,
            false => 2,
        };
        let scaling = match named.get(4) {
            Some(ScalarType::UE8M0) => Some(Scaling { ty: ScaleType::Ue8m0, blocks }),
            Some(ScalarType::UE4M3) => Some(Scaling { ty: ScaleType::Ue4m3, blocks }),
            Some(_) => return None,
            None => None,
        };
        let stride = packing.stride(types[0]);
        let sparsity = sparse
            .then(|| Sparsity { ordered: i.has(Mod::SpOrderedMetadata), chunk: Chunk::of(types[0], stride) });
        let kept = if sparse { k / 2 } else { k } / unit(types[0]);
        let kind = match i.bool_op() {
            Some(BoolOp::And) => IntegerKind::And,
            Some(BoolOp::Xor) => IntegerKind::Xor,
            Some(BoolOp::Or) => return None,
            None => IntegerKind::Multiply,
        };
        let rounding = match i.rounding() {
            None | Some(isa::Rounding::Nearest) => Rounding::Nearest,
            Some(isa::Rounding::Zero) => Rounding::Zero,
            Some(isa::Rounding::Down) => Rounding::Down,
            Some(isa::Rounding::Up) => Rounding::Up,
            Some(isa::Rounding::NearestAway | isa::Rounding::Stochastic) => return None,
        };
        let unit = unit(types[0]);
        let per_register = parts(types[0], packing);
        let words = accumulators.map(Accumulator::per_register);
        let quad = types[0] == Element::F16 && [m, n, k] == [8, 8, 4];
        let (maps, mut registers, fragments) = if quad {
            let layouts = i.mods().filter(|m| matches!(m, Mod::Row | Mod::Col));
            let mut by_columns = layouts.map(|m| m == Mod::Col);
            let [of_a, of_b] = [by_columns.next()?, by_columns.next()?];
            let maps = [
                quads(Role::A, of_a, 2),
                quads(Role::B, of_b, 2),
                quads(Role::Accumulator, false, words[0]),
                quads(Role::Accumulator, false, words[1]),
            ];
            (maps, [2, 2, 8 / words[0], 8 / words[1]], None)
        } else {
            let transposed = wmma && is_transposed([m, n, k]);
            let of =
                |role, side, other, per_register| Fragment { role, side, other, per_register, transposed };
            let fragments = [
                of(Role::A, m, kept, per_register),
                of(Role::B, n, k / unit, per_register),
                of(Role::Accumulator, m, n, words[0]),
                of(Role::Accumulator, m, n, words[1]),
            ];
            (fragments.map(|f| f.map()), fragments.map(|f| f.registers()), Some(fragments))
        };
        if wmma && types[0] == Element::F16 {
            // Elements may be held twice: so many registers have A and B of any shape.
            (registers[0], registers[1]) = (8, 8);
        }
        Some(WarpProduct {
            shape: [m, n, k],
            types,
            accumulators,
            packing,
            sparsity,
            scaling,
            saturate: i.has(Mod::Satfinite),
            kind,
            rounding,
            batch: if quad { 4 } else { 1 },
            unit: match (wmma, quad) {
                (true, _) => Unit::Fragments,
                (false, true) => Unit::Quad,
                (false, false) => Unit::Warp,
            },
            negate: [false; 2],
            registers,
            maps,
            fragments,
        })
    }

    /// The part of a product of a warpgroup that one of its warps makes: 16 of the 64 rows (9.7.15.5.2, 9.7.15.6.3). B comes from memory, and
    /// A does unless the form has registers of it. `None` for another instruction.
    pub fn of_warpgroup(i: &Instruction) -> Option<WarpProduct> {
        let sparse = i.operation() == Operation::WgmmaMmaAsyncSparse;
        if !sparse && i.operation() != Operation::WgmmaMmaAsync {
            return None;
        }
        let [_, n, k] = i.shape()?.map(usize::from);
        let [d, a, b] = i.types().collect::<Vec<_>>()[..] else { return None };
        let types = [Element::from_scalar(a)?, Element::from_scalar(b)?];
        let accumulator = Accumulator::from_scalar(d)?;
        let per_register = parts(types[0], Packing::Tight);
        let kept = if sparse { k / 2 } else { k } / unit(types[0]);
        let of_a = Fragment { role: Role::A, side: ROWS, other: kept, per_register, transposed: false };
        let of_d = Fragment {
            role: Role::Accumulator,
            side: ROWS,
            other: n,
            per_register: accumulator.per_register(),
            transposed: false,
        };
        let bits = Packing::Tight.stride(types[0]);
        Some(WarpProduct {
            shape: [ROWS, n, k],
            types,
            accumulators: [accumulator; 2],
            packing: Packing::Tight,
            sparsity: sparse.then(|| Sparsity { ordered: false, chunk: Chunk::of(types[0], bits) }),
            scaling: None,
            saturate: i.has(Mod::Satfinite),
            kind: if i.bool_op().is_some() { IntegerKind::And } else { IntegerKind::Multiply },
            rounding: Rounding::Nearest,
            batch: 1,
            unit: Unit::Warpgroup,
            negate: [false; 2],
            registers: [of_a.registers(), 0, of_d.registers(), of_d.registers()],
            maps: [of_a.map(), Map::default(), of_d.map(), of_d.map()],
            // B is never in registers.
            fragments: Some([of_a, of_a, of_d, of_d]),
        })
    }

    /// What is multiplied as one of the elements of A, and of B: columns of A and rows of B.
    pub fn depths(&self) -> [usize; 2] {
        [self.depth(), self.depth_of_b()]
    }

    /// How many sparsity selectors an instruction has: which lanes hold metadata. None but 0 without metadata.
    pub fn selectors(&self) -> usize {
        let Some(sparsity) = self.sparsity else { return 1 };
        let chunks = self.shape[2] / sparsity.chunk.columns();
        match (self.packing.stride(self.types[0]) >= 16, chunks) {
            (true, ..=4) => 4,
            (true, _) | (false, ..=8) => 2,
            (false, _) => 1,
        }
    }

    /// True if its registers have 64 bits.
    pub fn is_double(&self) -> bool {
        self.types[0] == Element::F64
    }

    /// Rows of B: of bits, of words of 32.
    fn depth_of_b(&self) -> usize {
        self.shape[2] / unit(self.types[0])
    }

    /// How many products make an element of D.
    fn depth(&self) -> usize {
        if self.sparsity.is_some() { self.depth_of_b() / 2 } else { self.depth_of_b() }
    }

    /// Multiplies: gives the registers of D.
    pub fn run(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 if has_avx2() => {
                // SAFETY: the host has just said that it has these features.
                unsafe { self.run_avx2(arithmetic, level, workspace, inputs, out) }
            }
            Level::Baseline | Level::Avx2 | Level::Avx512 => {
                self.run_here(arithmetic, level, workspace, inputs, out)
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_avx2(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        self.run_here(arithmetic, level, workspace, inputs, out)
    }

    #[inline(always)]
    fn run_here(
        &self,
        arithmetic: Arithmetic,
        level: Level,
        workspace: &mut WarpWorkspace,
        inputs: &Inputs,
        out: &mut Vec<Lanes>,
    ) -> Result<(), BadMetadata> {
        out.clear();
        out.resize(self.registers[3] * if self.is_double() { 2 } else { 1 }, [0; 32]);
        if self.is_double() {
            self.doubles(workspace, inputs, out);
            return Ok(());
        }
        let [m, n, k] = self.shape;
        let (kept, of_b) = (self.depth(), self.depth_of_b());
        let WarpWorkspace { a, b, d, rows, scales, floats, .. } = workspace;
        let rows = match self.sparsity {
            None => Partners::Same,
            Some(sparsity) => {
                rows.clear();
                let width = self.packing.stride(self.types[0]);
                sparsity.rows(width, k, inputs.selector, &inputs.metadata, rows)?;
                Partners::Each(rows)
            }
        };
        let integer = matches!(self.types[0].family(), Family::Integer { .. } | Family::Bit);
        self.gather(0, inputs, m * kept, a);
        self.gather(1, inputs, n * of_b, b);
        self.accumulate(&inputs.matrices[2], d);
        if integer {
            let shape = [m, n, kept];
            let saturate = self.saturate;
            IntegerProduct { shape, kind: self.kind, saturate, a, b, rows }.run(level, d);
            self.deliver(d, out);
            return Ok(());
        }
        if let Some(scaling) = self.scaling {
            self.scales(scaling, inputs, scales);
        }
        let [scales_of_a, scales_of_b] = scales;
        let grouped = self.scaling.is_some() && self.packing == Packing::Tight;
        let rule = match arithmetic {
            Arithmetic::Hardware(architecture) => {
                Some(Rule::of(architecture, self.unit, self.types[0], grouped))
            }
            Arithmetic::Ideal => None,
        };
        for batch in 0..self.batch {
            let product = Product {
                shape: [m, n, kept],
                types: self.types,
                accumulators: self.accumulators,
                rule,
                a: &a[batch * m * kept..][..m * kept],
                b: &b[batch * n * of_b..][..n * of_b],
                rows,
                scales: self.scaling.map(|s| Scales {
                    ty: s.ty,
                    blocks: s.blocks,
                    a: scales_of_a,
                    b: scales_of_b,
                }),
            };
            let d = &mut d[batch * m * n..][..m * n];
            match rule.map_or(ByWay::Direct, |rule| rule.by_way) {
                ByWay::Direct => product.run(level, floats, d),
                ByWay::Halves => stepwise::halves(&product, level, floats, d),
                ByWay::Fused => stepwise::fused(&product, d),
            }
        }
        self.deliver(d, out);
        Ok(())
    }

    /// The elements of A or B, row by row.
    #[inline(always)]
    fn gather(&self, which: usize, inputs: &Inputs, elements: usize, out: &mut Vec<u32>) {
        out.clear();
        out.resize(self.batch * elements, 0);
        let element = self.types[which];
        let unpack = Unpack::new(element, self.packing, self.negate[which]);
        let from = &inputs.matrices[which];
        if let Some(containers) = &inputs.elements[which] {
            out.iter_mut().zip(containers).for_each(|(out, container)| *out = unpack.element(*container));
        } else if let Some(fragments) = &self.fragments {
            match parts(element, self.packing) {
                1 => unpack::gather::<1, 4>(&fragments[which], from, unpack, out),
                2 => unpack::gather::<2, 8>(&fragments[which], from, unpack, out),
                4 => unpack::gather::<4, 16>(&fragments[which], from, unpack, out),
                _ => unpack::gather::<8, 32>(&fragments[which], from, unpack, out),
            }
        } else {
            for (places, word) in self.maps[which].chunks_exact(2).zip(from.iter().flatten()) {
                for (part, place) in places.iter().enumerate() {
                    if let Some(out) = out.get_mut(usize::from(*place)) {
                        *out = unpack.element(word >> (16 * part));
                    }
                }
            }
        }
    }

    /// The elements of C, row by row.
    #[inline(always)]
    fn accumulate(&self, registers: &[Lanes], out: &mut Vec<u32>) {
        let [m, n, _] = self.shape;
        out.clear();
        out.resize(self.batch * m * n, 0);
        if let Some([_, _, c, _]) = &self.fragments {
            return unpack::accumulate(c, registers, out);
        }
        let parts = self.accumulators[0].per_register();
        for (places, word) in self.maps[2].chunks_exact(parts).zip(registers.iter().flatten()) {
            for (part, place) in places.iter().enumerate() {
                let bits = if parts == 2 { word >> (16 * part) & 0xffff } else { *word };
                if let Some(out) = out.get_mut(usize::from(*place)) {
                    *out = bits;
                }
            }
        }
    }

    /// The registers of D.
    #[inline(always)]
    fn deliver(&self, d: &[u32], out: &mut [Lanes]) {
        if let Some([_, _, _, of_d]) = &self.fragments {
            return unpack::deliver(of_d, d, out);
        }
        let parts = self.accumulators[1].per_register();
        for (places, word) in self.maps[3].chunks_exact(parts).zip(out.iter_mut().flatten()) {
            let element = |part: usize| d.get(usize::from(places[part])).copied().unwrap_or(0);
            *word = if parts == 2 { element(0) & 0xffff | element(1) << 16 } else { element(0) };
        }
    }

    /// The scales of rows and columns (9.7.14.3): those of row g are in the even one of a pair of lanes, those of row g + 8 in the odd one.
    fn scales(&self, scaling: Scaling, inputs: &Inputs, out: &mut [Vec<u8>; 2]) {
        let [m, n, _] = self.shape;
        for (side, lines) in [m, n].into_iter().enumerate() {
            let [byte, thread] = inputs.scale_selectors[side];
            out[side].clear();
            for line in 0..lines {
                let lane = if side == 0 {
                    4 * (line % 8) + 2 * (thread % 2) + line / 8
                } else {
                    4 * line + thread % 4
                };
                let bytes = inputs.scales[side][lane % 32].to_le_bytes();
                out[side].extend((0..scaling.blocks).map(|block| bytes[(byte + block) % 4]));
            }
        }
    }

    fn doubles(&self, workspace: &mut WarpWorkspace, inputs: &Inputs, out: &mut [Lanes]) {
        let [m, n, k] = self.shape;
        let [a, b, d] = &mut workspace.doubles;
        for (which, (elements, matrix)) in [m * k, n * k, m * n].into_iter().zip([a, b, d]).enumerate() {
            matrix.clear();
            matrix.resize(elements, 0);
            let pairs = inputs.matrices[which].chunks_exact(2);
            let values = pairs.flat_map(|pair| {
                (0..32).map(move |lane| u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32)
            });
            for (place, value) in self.maps[which].iter().zip(values) {
                if let Some(out) = matrix.get_mut(usize::from(*place)) {
                    *out = value;
                }
            }
        }
        let [a, b, d] = &mut workspace.doubles;
        multiply_double(self.shape, self.rounding, a, b, d);
        for (at, place) in self.maps[3].iter().enumerate() {
            let value = d.get(usize::from(*place)).copied().unwrap_or(0);
            out[at / 32 * 2][at % 32] = value as u32;
            out[at / 32 * 2 + 1][at % 32] = (value >> 32) as u32;
        }
    }

    /// What of D is undefined where bits of the sources are: everything in a row of A's or a column of B's, and what C gives. All ones stand for
    /// undefined registers of a lane, zero for others; what describes the product, metadata and scales, is not followed.
    pub fn undefined(&self, sources: &[Vec<Lanes>; 3], out: &mut Vec<Lanes>) {
        out.clear();
        out.resize(self.registers[3] * if self.is_double() { 2 } else { 1 }, [0; 32]);
        let [m, n, _] = self.shape;
        let wide = if self.is_double() { 2 } else { 1 };
        let (kept, of_b) = (self.depth(), self.depth_of_b());
        let mut rows = vec![false; self.batch * m];
        let mut columns = vec![false; self.batch * n];
        let mut elements = vec![false; self.batch * m * n];
        for (which, registers) in sources.iter().enumerate() {
            let parts = match which {
                0 | 1 => parts(self.types[which], self.packing),
                _ => self.accumulators[0].per_register(),
            };
            let flags = registers
                .chunks_exact(wide)
                .flat_map(|words| (0..32).map(move |lane| words.iter().any(|word| word[lane] != 0)));
            for (places, _) in self.maps[which].chunks_exact(parts).zip(flags).filter(|(_, flag)| *flag) {
                for at in places.iter().map(|place| usize::from(*place)) {
                    match which {
                        0 => rows[at / kept] = true,
                        1 => columns[at / (n * of_b) * n + at % n] = true,
                        _ => elements[at] = true,
                    }
                }
            }
        }
        let undefined = |at: usize| elements[at] || rows[at / n] || columns[at / (m * n) * n + at % n];
        let parts = self.accumulators[1].per_register();
        for (at, places) in self.maps[3].chunks_exact(parts).enumerate() {
            let bits = places.iter().enumerate().fold(0, |bits, (part, place)| {
                let width = 32 / parts;
                let ones = if width == 32 { u32::MAX } else { 0xffff << (16 * part) };
                if undefined(usize::from(*place)) { bits | ones } else { bits }
            });
            for word in 0..wide {
                out[at / 32 * wide + word][at % 32] = bits;
            }
        }
    }
}

/// Rows of a warp's part of a warpgroup's product.
const ROWS: usize = 16;

/// Elements that are multiplied as one: bits by words.
const fn unit(element: Element) -> usize {
    match element.family() {
        Family::Bit => 32,
        Family::Float(_) | Family::Double | Family::Integer { .. } => 1,
    }
}

/// What is multiplied in a register: of 32 bits, of f64 of 64.
const fn parts(element: Element, packing: Packing) -> usize {
    match element.family() {
        Family::Bit | Family::Double => 1,
        Family::Float(_) | Family::Integer { .. } => 32 / packing.stride(element) as usize,
    }
}
