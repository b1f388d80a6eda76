//! What an instruction of a warp or warpgroup multiplies: its types, and where lanes hold its matrices.

use super::{Scaling, WarpProduct, parts, unit};
use crate::matrix::element::{Accumulator, Element, Packing};
use crate::matrix::integer::IntegerKind;
use crate::matrix::layout::{Fragment, Map, Role, is_transposed, quads};
use crate::matrix::rule::{ScaleType, Unit};
use crate::matrix::sparse::{Chunk, Sparsity};
use crate::plan::rounding;
use crate::value::Rounding;
use warpsmith_isa::{BoolOp, Instruction, Mod, Operation, ScalarType};

/// Rows of a warp's part of a warpgroup's product.
const ROWS: usize = 16;

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
        let scaling = match named.get(4) {
            Some(ty) => Some(scaling(i, *ty)?),
            None => None,
        };
        let stride = packing.stride(types[0]);
        let sparsity = sparse
            .then(|| Sparsity { ordered: i.has(Mod::SpOrderedMetadata), chunk: Chunk::of(types[0], stride) });
        let kept = if sparse { k / 2 } else { k } / unit(types[0]);
        let quad = types[0] == Element::F16 && [m, n, k] == [8, 8, 4];
        let words = accumulators.map(Accumulator::per_register);
        let (maps, mut registers, fragments) = if quad {
            let (maps, registers) = quad_places(i, words)?;
            (maps, registers, None)
        } else {
            let transposed = wmma && is_transposed([m, n, k]);
            let of =
                |role, side, other, per_register| Fragment { role, side, other, per_register, transposed };
            let per_register = parts(types[0], packing);
            let fragments = [
                of(Role::A, m, kept, per_register),
                of(Role::B, n, k / unit(types[0]), per_register),
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
            kind: integer_kind(i)?,
            rounding: rounding(i)?,
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
}

/// What scales of a type multiply: how many a row of A has, the kind of the instruction says.
fn scaling(i: &Instruction, ty: ScalarType) -> Option<Scaling> {
    let ty = if ty == ScalarType::UE8M0 {
        ScaleType::Ue8m0
    } else if ty == ScalarType::UE4M3 {
        ScaleType::Ue4m3
    } else {
        return None;
    };
    let blocks = match i.has(Mod::KindMxf8f6f4) {
        true => 1,
        false if i.has(Mod::ScaleVec4X) => 4,
        false => 2,
    };
    Some(Scaling { ty, blocks })
}

/// What is done with integers and bits.
fn integer_kind(i: &Instruction) -> Option<IntegerKind> {
    match i.bool_op() {
        Some(BoolOp::And) => Some(IntegerKind::And),
        Some(BoolOp::Xor) => Some(IntegerKind::Xor),
        Some(BoolOp::Or) => None,
        None => Some(IntegerKind::Multiply),
    }
}

/// The places and numbers of registers of `mma.m8n8k4` of f16, where quads of lanes multiply (9.7.14.5.1): `words` are the elements of C and D
/// in a register.
fn quad_places(i: &Instruction, words: [usize; 2]) -> Option<([Map; 4], [usize; 4])> {
    let mut by_columns = i.mods().filter(|m| matches!(m, Mod::Row | Mod::Col)).map(|m| m == Mod::Col);
    let maps = [
        quads(Role::A, by_columns.next()?, 2),
        quads(Role::B, by_columns.next()?, 2),
        quads(Role::Accumulator, false, words[0]),
        quads(Role::Accumulator, false, words[1]),
    ];
    Some((maps, [2, 2, 8 / words[0], 8 / words[1]]))
}
