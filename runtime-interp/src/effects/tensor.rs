//! Copies by tensor map, and changes of maps (PTX ISA 9.0, 9.7.9.25.5 and 9.7.9.26).

use super::{Source, spaces, value};
use crate::engine::lanes::scalar;
use crate::engine::{
    Access, Address, AsyncOp, AtomicFn, Completion, FunctionBuilder, Group, OverrideOp, Reg, ReplaceOp,
    TensorAction, TensorOp, Width,
};
use crate::tensor::ElementType;
use smallvec::SmallVec;
use warpsmith_isa::{
    CtaGroup, Geometry, Instruction, Mod, Multicast, Reduction, ScalarType, StateSpace, TensorMode,
    TensormapField,
};
use warpsmith_semantics::update;

/// Tiles in shared memory begin at multiples of this.
const TILE_ALIGN: u8 = 128;

/// An address, with brackets or without.
fn place(source: Option<&Source>) -> Option<Address> {
    match source? {
        Source::Address(address) => Some(*address),
        Source::Reg(r) => Some(Address::Reg(*r, 0)),
        Source::Bits(_) | Source::Not(_) | Source::Sink => None,
    }
}

fn access(body: &mut FunctionBuilder<'_>, like: Access, source: Option<&Source>) -> Option<Access> {
    let at = place(source)?;
    Some(body.operand(like, at))
}

fn values<const N: usize>(
    body: &mut FunctionBuilder<'_>,
    sources: &mut std::slice::Iter<'_, Source>,
    count: usize,
) -> Option<SmallVec<[Reg; N]>>
where
    [Reg; N]: smallvec::Array<Item = Reg>,
{
    (0..count).map(|_| value(body, sources.next(), Width::W32)).collect()
}

/// `cp.async.bulk.tensor cp.reduce.async.bulk.tensor cp.async.bulk.prefetch.tensor`
pub(super) fn copy(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    src: &[Source],
    prefetch: bool,
) -> Option<()> {
    let mode = i.tensor_mode().unwrap_or(TensorMode::Tile);
    let dims = match i.geometry()? {
        Geometry::N1d => 1,
        Geometry::N2d => 2,
        Geometry::N3d => 3,
        Geometry::N4d => 4,
        Geometry::N5d => 5,
        Geometry::A1d
        | Geometry::A2d
        | Geometry::Cube
        | Geometry::Acube
        | Geometry::N2dms
        | Geometry::A2dms => return None,
    };
    let four = matches!(mode, TensorMode::TileGather4 | TensorMode::TileScatter4);
    let ends: SmallVec<[(StateSpace, bool); 2]> = spaces(i).collect();
    let load = !prefetch && ends.first().is_some_and(|(space, _)| *space == StateSpace::Shared);
    let mut rest = src.iter();
    let tile = |space: (StateSpace, bool)| Access::unsigned(space.0, TILE_ALIGN).reaching(space.1);
    let mut shared = None;
    if load {
        shared = Some(access(body, tile(*ends.first()?), rest.next())?);
    }
    // The map is checked for its own alignment.
    let map = access(body, Access::unsigned(StateSpace::Generic, 1), rest.next())?;
    let replaced =
        if i.has(Mod::OverrideGlobalAddress) { Some(overrides(body, i, &mut rest, dims)?) } else { None };
    let coordinates = values(body, &mut rest, if four { 5 } else { dims })?;
    let mut completion = Completion::Group(Group::Bulk);
    let (mut info, mut multicast) = (SmallVec::new(), None);
    if load {
        // The object may be in the memory of the block's peer, or of that which a multicast names.
        let object = Access::unsigned(StateSpace::Shared, 8).reaching(true);
        completion = Completion::Mbarrier(access(body, object, rest.next())?);
    } else if !prefetch {
        shared = Some(access(body, tile(*ends.get(1)?), rest.next())?);
    } else {
        completion = Completion::Silent;
    }
    match mode {
        TensorMode::Im2col => info = values(body, &mut rest, dims.checked_sub(2)?)?,
        TensorMode::Im2colW | TensorMode::Im2colW128 => info = values(body, &mut rest, 2)?,
        TensorMode::Tile
        | TensorMode::TileGather4
        | TensorMode::TileScatter4
        | TensorMode::Im2colNoOffsets => {}
        // As `.im2col::w` with a halo and an offset of 0.
        TensorMode::Im2colNoOffsetsW => {
            let zero = body.constant(0, Width::W32);
            info = SmallVec::from_slice(&[zero, zero]);
        }
    }
    let bits = match i.multicast() {
        Some(Multicast::Cluster) => Some(16),
        Some(Multicast::Cluster32) => Some(32),
        Some(Multicast::All) | None => None,
    };
    if let Some(bits) = bits {
        multicast = Some((value(body, rest.next(), Width::W32)?, bits));
    }
    let action = match (prefetch, load, i.reduction()) {
        (true, ..) => TensorAction::Prefetch,
        (_, true, _) => TensorAction::Load { pair: i.cta_group() == Some(CtaGroup::Two) },
        (_, _, None) => TensorAction::Store,
        (_, _, Some(reduction)) => TensorAction::Reduce(reductions(reduction)),
    };
    let report = i.validity_report().and_then(super::transfer::pattern);
    let op =
        TensorOp { action, mode, map, coordinates, info, shared, completion, multicast, replaced, report };
    body.asynchronous(AsyncOp::Tensor(op));
    Some(())
}

/// What a copy gives in place of fields of its map.
fn overrides(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    rest: &mut std::slice::Iter<'_, Source>,
    dims: usize,
) -> Option<OverrideOp> {
    let address = value(body, rest.next(), Width::W64)?;
    let strides = i.has(Mod::OverrideGlobalDimStride);
    let sizes = values(body, rest, if strides || i.has(Mod::OverrideGlobalDim) { dims } else { 0 })?;
    let lower = values(body, rest, if strides { dims - 1 } else { 0 })?;
    let upper = if strides { Some(value(body, rest.next(), Width::W32)?) } else { None };
    Some(OverrideOp { address, sizes, lower, upper })
}

/// `tensormap.query.alloc_class_large`: a byte of the map.
pub(super) fn query(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let space = spaces(i).next().map_or(StateSpace::Generic, |(space, _)| space);
    let at = super::address(src.first())?;
    let class = body.reg(Width::W32);
    body.load(Access::unsigned(space, 1), &[class], at.plus(crate::tensor::CLASS as i64));
    if let Some(d) = dst.first().copied()? {
        body.lanes(scalar(|class: u32| class != 0), &[d], &[class]);
    }
    Some(())
}

/// What a reduction does to elements of each type (9.7.9.25.5.3).
fn reductions(reduction: Reduction) -> Box<[Option<AtomicFn>; 16]> {
    let mut all = Box::new([None; 16]);
    for (f, element) in all.iter_mut().zip(ElementType::ALL) {
        let ty = match (reduction, element) {
            (Reduction::Add, ElementType::F32 | ElementType::F32Ftz) => ScalarType::F32,
            (Reduction::Add | Reduction::Min | Reduction::Max, ElementType::F16) => ScalarType::F16,
            (Reduction::Add | Reduction::Min | Reduction::Max, ElementType::BF16) => ScalarType::BF16,
            (Reduction::Min | Reduction::Max, ElementType::S64) => ScalarType::S64,
            (Reduction::Add | Reduction::Min | Reduction::Max, ElementType::S32) => ScalarType::S32,
            (Reduction::Add | Reduction::Min | Reduction::Max, ElementType::U32) => ScalarType::U32,
            (Reduction::Add | Reduction::Min | Reduction::Max, ElementType::U64) => ScalarType::U64,
            (Reduction::Inc | Reduction::Dec, ElementType::U32) => ScalarType::U32,
            (Reduction::And | Reduction::Or | Reduction::Xor, ElementType::U32 | ElementType::S32) => {
                ScalarType::B32
            }
            (Reduction::And | Reduction::Or | Reduction::Xor, ElementType::U64 | ElementType::S64) => {
                ScalarType::B64
            }
            _ => continue,
        };
        *f = update::function(reduction, ty);
    }
    all
}

/// `tensormap.replace`
pub(super) fn replace(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let field = i.tensormap_field()?;
    let space = spaces(i).next().map_or(StateSpace::Generic, |(space, _)| space);
    let at = access(body, Access::unsigned(space, 64), src.first())?;
    let has_ordinal = matches!(
        field,
        TensormapField::BoxDim
            | TensormapField::GlobalDim
            | TensormapField::GlobalStride
            | TensormapField::ElementStride
    );
    let mut rest = src[1..].iter();
    let ordinal = if has_ordinal {
        let &Source::Bits(ordinal) = rest.next()? else { return None };
        ordinal as u32
    } else {
        0
    };
    let width = if matches!(field, TensormapField::GlobalAddress | TensormapField::GlobalStride) {
        Width::W64
    } else {
        Width::W32
    };
    let value = value(body, rest.next(), width)?;
    body.asynchronous(AsyncOp::ReplaceField(ReplaceOp {
        at,
        field,
        ordinal,
        value,
        class: i.allocation_class(),
    }));
    Some(())
}
