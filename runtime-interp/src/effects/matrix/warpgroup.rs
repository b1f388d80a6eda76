//! Products of warpgroups (PTX ISA 9.0, 9.7.15).

use super::super::{Source, predicate, value};
use crate::engine::{FunctionBuilder, MatrixOp, Reg, WarpgroupOp, WarpgroupOperand, Width};
use warpsmith_isa::{CountRef, Instruction, Shape, ValueSpec};
use warpsmith_semantics::matrix::{Major, WarpProduct};

/// `wgmma.mma_async`
pub(in crate::effects) fn start(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let mut product = WarpProduct::of_warpgroup(i)?;
    let d: Vec<Reg> = dst.iter().copied().collect::<Option<_>>()?;
    if d.len() != product.registers[3] {
        return None;
    }
    let in_memory = i
        .places()
        .nth(1)
        .is_some_and(|place| matches!(place.shape, Shape::Value(ValueSpec { count: CountRef::Scalar, .. })));
    let count = if in_memory { 1 } else { product.registers[0] };
    let (of_a, rest) = src.split_at_checked(count)?;
    let a = if in_memory {
        WarpgroupOperand::Descriptor(value(body, of_a.first(), Width::W64)?)
    } else {
        let registers: Option<Vec<Reg>> = of_a.iter().map(|s| value(body, Some(s), Width::W32)).collect();
        WarpgroupOperand::Registers(registers.filter(|all| all.iter().all(|r| r.width() == Width::W32))?)
    };
    let mut rest = rest.iter();
    let b = value(body, rest.next(), Width::W64)?;
    let constant = |rest: &mut std::slice::Iter<'_, Source>| match rest.next() {
        None => Some(None),
        Some(Source::Bits(bits)) => Some(Some(*bits as u32 as i32)),
        Some(_) => None,
    };
    let metadata = match product.sparsity {
        None => None,
        Some(_) => {
            let register = value(body, rest.next(), Width::W32)?;
            Some((register, constant(&mut rest)?? as u32))
        }
    };
    let accumulates = predicate(body, rest.next())?;
    for negate in &mut product.negate {
        *negate = constant(&mut rest)? == Some(-1);
    }
    // A in registers has no layout in memory to turn.
    let mut major = [Major::K; 2];
    for major in major.iter_mut().skip(usize::from(!in_memory)) {
        *major = if constant(&mut rest)? == Some(1) { Major::Mn } else { Major::K };
    }
    let op = WarpgroupOp { product, d, a, b, major, metadata, accumulates };
    body.matrix(MatrixOp::Warpgroup(Box::new(op)));
    Some(())
}

/// `wgmma.wait_group`
pub(in crate::effects) fn wait(body: &mut FunctionBuilder<'_>, src: &[Source]) -> Option<()> {
    let &Source::Bits(pending) = src.first()? else { return None };
    body.matrix(MatrixOp::WarpgroupWait(u32::try_from(pending).unwrap_or(u32::MAX)));
    Some(())
}
