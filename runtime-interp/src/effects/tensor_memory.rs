//! Tensor memory: allocation, loads and stores, waits copies and their completion (PTX ISA 9.0, 9.7.16.7 to 9.7.16.9, 9.7.16.11 and 9.7.16.12).

use super::{Source, address, predicate, spaces, value};
use crate::engine::{
    Access, Address, AsyncOp, FunctionBuilder, MatrixOp, Reg, TensorCells, TensorCommitOp, TensorCopyOp,
    TensorFactor, TensorMemoryOp, TensorProductOp, Width,
};
use smallvec::SmallVec;
use warpsmith_isa::{
    CtaGroup, Instruction, Mod, Multicast, PackedElements, Reduction, ScalarType, Shape, StateSpace,
    TensorShape,
};
use warpsmith_semantics::TensorMemoryAction;
use warpsmith_semantics::matrix::TensorForm;

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    action: TensorMemoryAction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    match action {
        TensorMemoryAction::Allocate => allocate(body, i, src),
        TensorMemoryAction::Deallocate => {
            meet(body);
            let (at, columns) = (value(body, src.first(), Width::W32)?, value(body, src.get(1), Width::W32)?);
            body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::Deallocate {
                at,
                columns,
                exclusive: i.has(Mod::Exclusive),
            }));
            Some(())
        }
        TensorMemoryAction::Relinquish => {
            meet(body);
            body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::Relinquish));
            Some(())
        }
        TensorMemoryAction::Load { reduces } => load(body, i, reduces, dst, src),
        TensorMemoryAction::Store => store(body, i, src),
        TensorMemoryAction::WaitStores => {
            meet(body);
            body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::WaitStores));
            Some(())
        }
        TensorMemoryAction::Copy => copy(body, i, src),
        TensorMemoryAction::Shift => shift(body, i, src),
        TensorMemoryAction::Multiply => multiply(body, i, src),
        TensorMemoryAction::Commit => commit(body, i, src),
        TensorMemoryAction::WaitLoads => {
            meet(body);
            body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::WaitLoads));
            Some(())
        }
        // The engine keeps the order of operations.
        TensorMemoryAction::Fence => Some(()),
    }
}

/// The threads of a warp come to the instruction together (`.sync.aligned`).
pub(super) fn meet(body: &mut FunctionBuilder<'_>) {
    body.matrix(MatrixOp::Converge);
}

/// `tcgen05.cp`
fn copy(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let at = place(src.first())?;
    let at = body.operand(Access::unsigned(StateSpace::Shared, 4), at);
    let descriptor = value(body, src.get(1), Width::W64)?;
    // What the bytes become is always a byte each; what they are is the other one.
    let packed = i.mods().filter_map(PackedElements::of).find(|p| *p != PackedElements::B8x16);
    body.asynchronous(AsyncOp::TensorCopy(TensorCopyOp {
        at,
        source: Some((i.tensor_shape()?, descriptor)),
        multicast: i.warp_multicast(),
        packed,
        pair: i.cta_group() == Some(CtaGroup::Two),
    }));
    Some(())
}

/// `tcgen05.shift`
fn shift(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let at = place(src.first())?;
    let at = body.operand(Access::unsigned(StateSpace::Shared, 4), at);
    let pair = i.cta_group() == Some(CtaGroup::Two);
    let op = TensorCopyOp { at, source: None, multicast: None, packed: None, pair };
    body.asynchronous(AsyncOp::TensorCopy(op));
    Some(())
}

/// `tcgen05.mma`, in all its forms
fn multiply(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let form = TensorForm::of(i)?;
    let mut operands = src.iter();
    let cells = |body: &mut FunctionBuilder<'_>, at: Option<&Source>| {
        Some(body.operand(Access::unsigned(StateSpace::Shared, 4), place(at)?))
    };
    let d = cells(body, operands.next())?;
    let described = matches!(i.places().nth(1)?.shape, Shape::Value(_));
    let a = if described {
        TensorFactor::Descriptor(value(body, operands.next(), Width::W64)?)
    } else {
        TensorFactor::Cells(cells(body, operands.next())?)
    };
    let b = value(body, operands.next(), Width::W64)?;
    let metadata = if form.sparse { Some(cells(body, operands.next())?) } else { None };
    let descriptor = value(body, operands.next(), Width::W32)?;
    let scales = if form.is_scaled() {
        Some([cells(body, operands.next())?, cells(body, operands.next())?])
    } else {
        None
    };
    // Perhaps words of lanes that are left alone, for one block or two, before the predicate.
    let rest = operands.as_slice();
    let words = if form.pair { 8 } else { 4 };
    let (words, rest) = rest.split_at(if rest.len() > words { words } else { 0 });
    let disabled = words.iter().map(|word| value(body, Some(word), Width::W32)).collect::<Option<_>>()?;
    let accumulates = predicate(body, rest.first())?;
    let (halvings, zero) = match rest.get(1) {
        None => (0, None),
        Some(mask) if form.stationary => (0, Some(value(body, Some(mask), Width::W64)?)),
        // ptxas takes a predicate in this place for integers, which means nothing that is known.
        Some(Source::Bits(scale)) => (*scale as u32, None),
        Some(_) => return None,
    };
    let op = TensorProductOp {
        form,
        d,
        a,
        b,
        metadata,
        descriptor,
        scales,
        accumulates,
        halvings,
        disabled,
        zero,
    };
    body.asynchronous(AsyncOp::TensorProduct(Box::new(op)));
    Some(())
}

/// `tcgen05.commit`
fn commit(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let space = spaces(i).next().map_or(StateSpace::Generic, |(space, _)| space);
    let at = place(src.first())?;
    let object = body.operand(Access::unsigned(space, 8).reaching(true), at);
    let multicast = match i.multicast() {
        Some(Multicast::Cluster) => Some((value(body, src.get(1), Width::W32)?, 16)),
        Some(Multicast::Cluster32) => Some((value(body, src.get(1), Width::W32)?, 32)),
        Some(Multicast::All) | None => None,
    };
    // What only waits for the reading of A is notified when the products are complete: one of the times at which that may be.
    body.asynchronous(AsyncOp::TensorCommit(TensorCommitOp { object, multicast }));
    Some(())
}

/// An address where brackets may be left out.
fn place(source: Option<&Source>) -> Option<Address> {
    match source? {
        Source::Reg(r) => Some(Address::Reg(*r, 0)),
        Source::Bits(bits) => Some(Address::Absolute(*bits)),
        Source::Address(_) | Source::Not(_) | Source::Sink => address(source),
    }
}

/// `tcgen05.alloc`
fn allocate(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    meet(body);
    let space = spaces(i).next().map_or(StateSpace::Generic, |(space, _)| space);
    let at = place(src.first())?;
    let to = body.operand(Access::unsigned(space, 4), at);
    let columns = value(body, src.get(1), Width::W32)?;
    body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::Allocate {
        to,
        columns,
        exclusive: i.has(Mod::Exclusive),
    }));
    Some(())
}

fn cells(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    at: Option<&Source>,
    second: Option<&Source>,
) -> Option<TensorCells> {
    let shape = i.tensor_shape()?;
    let at = place(at)?;
    // The space says nothing: the address is of a memory of its own.
    let at = body.operand(Access::unsigned(StateSpace::Shared, 4), at);
    let second = match (shape, second) {
        (TensorShape::N16x32bx2, Some(Source::Bits(bits))) => *bits as u32,
        _ => 0,
    };
    Some(TensorCells { at, shape, second, packed: i.has(Mod::Pack16b) || i.has(Mod::Unpack16b) })
}

/// `tcgen05.ld`
fn load(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    reduces: bool,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let mut values: SmallVec<[Reg; 4]> = dst.iter().copied().collect::<Option<_>>()?;
    // The last destination is for what is made of the others.
    let reduction = if reduces { Some((function(i)?, values.pop()?)) } else { None };
    let cells = cells(body, i, src.first(), src.get(1))?;
    meet(body);
    body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::Load { cells, values, reduction }));
    Some(())
}

/// What `tcgen05.ld.red` does with two values.
fn function(i: &Instruction) -> Option<fn(u32, u32) -> u32> {
    use warpsmith_semantics::value::single::{max, min};
    const SIGN: u32 = 0x8000_0000;
    let (smallest, absolute, propagates) =
        (i.reduction()? == Reduction::Min, i.has(Mod::Abs), i.has(Mod::NaN));
    Some(match (i.ty()?, smallest, absolute, propagates) {
        (ScalarType::U32, true, ..) => |a, b| a.min(b),
        (ScalarType::U32, false, ..) => |a, b| a.max(b),
        (ScalarType::S32, true, ..) => |a, b| (a as i32).min(b as i32) as u32,
        (ScalarType::S32, false, ..) => |a, b| (a as i32).max(b as i32) as u32,
        (ScalarType::F32, true, false, false) => |a, b| min::<false>(false, a, b),
        (ScalarType::F32, false, false, false) => |a, b| max::<false>(false, a, b),
        (ScalarType::F32, true, false, true) => |a, b| min::<false>(true, a, b),
        (ScalarType::F32, false, false, true) => |a, b| max::<false>(true, a, b),
        (ScalarType::F32, true, true, false) => |a, b| min::<false>(false, a & !SIGN, b & !SIGN),
        (ScalarType::F32, false, true, false) => |a, b| max::<false>(false, a & !SIGN, b & !SIGN),
        (ScalarType::F32, true, true, true) => |a, b| min::<false>(true, a & !SIGN, b & !SIGN),
        (ScalarType::F32, false, true, true) => |a, b| max::<false>(true, a & !SIGN, b & !SIGN),
        _ => return None,
    })
}

/// `tcgen05.st`
fn store(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let has_second = i.tensor_shape()? == TensorShape::N16x32bx2;
    let second = if has_second { src.get(1) } else { None };
    let cells = cells(body, i, src.first(), second)?;
    let values = src.get(1 + usize::from(has_second)..)?;
    let values: SmallVec<[Reg; 4]> =
        values.iter().map(|s| value(body, Some(s), Width::W32)).collect::<Option<_>>()?;
    meet(body);
    body.asynchronous(AsyncOp::TensorMemory(TensorMemoryOp::Store { cells, values }));
    Some(())
}
