//! `atom` and `red` (PTX ISA 9.0, 9.7.13.5 and 9.7.13.6).

use super::memory::describe;
use super::{Source, address, elements, value};
use crate::engine::{FunctionBuilder, Reg, Width};
use smallvec::SmallVec;
use warpsmith_isa::{Instruction, Reduction};
use warpsmith_semantics::update::of_instruction;

pub(super) fn emit(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let ty = i.ty()?;
    let operation = i.reduction()?;
    let function = of_instruction(i, ty)?;
    let at = address(src.first())?;
    let access = describe(i, at, body)?;
    let width = Width::for_bits(ty.bits());
    let count = elements(i);
    let b = src.get(1..=count)?;
    let mut b: SmallVec<[Reg; 8]> = b.iter().map(|s| value(body, Some(s), width)).collect::<Option<_>>()?;
    let c = match operation {
        Reduction::CompareAndSwap => Some(value(body, src.get(2), width)?),
        Reduction::Add
        | Reduction::Min
        | Reduction::Max
        | Reduction::Inc
        | Reduction::Dec
        | Reduction::And
        | Reduction::Or
        | Reduction::Xor
        | Reduction::Exchange
        | Reduction::PopCount => None,
    };
    let old: SmallVec<[Reg; 8]> = if dst.iter().all(Option::is_none) {
        SmallVec::new()
    } else {
        (0..count).map(|n| dst.get(n).copied().flatten().unwrap_or_else(|| body.reg(width))).collect()
    };
    // The elements of a vector are updated one after the other, and a later one's operand may be an earlier one's destination.
    for n in 1..count {
        if old.get(..n).is_some_and(|written| written.contains(&b[n])) {
            let kept = body.reg(width);
            body.copy(kept, b[n]);
            b[n] = kept;
        }
    }
    body.atomic(access, function, &old, at, &b, c);
    Some(())
}
