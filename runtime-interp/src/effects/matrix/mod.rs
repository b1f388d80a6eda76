//! Matrix operations of a warp (PTX ISA 9.0, 9.7.14).

mod fragment;
mod warpgroup;

pub(super) use fragment::{load, store};
pub(super) use warpgroup::{start as start_warpgroup, wait as wait_for_warpgroup};

use super::{Source, address, value};
use crate::engine::{
    Access, FunctionBuilder, MatrixOp, MultiplyOp, Reg, ScaleOperand, Special, Width, lanes,
};
use smallvec::SmallVec;
use warpsmith_isa::Instruction;
use warpsmith_semantics::matrix::{Exchange, WarpProduct};

/// `mma mma.sp wmma.mma`
pub(super) fn multiply(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let product = WarpProduct::of(i)?;
    let width = if product.is_double() { Width::W64 } else { Width::W32 };
    let [a, mut b, c, d] = product.registers;
    let described =
        if product.sparsity.is_some() { 2 } else { 0 } + if product.scaling.is_some() { 6 } else { 0 };
    // ptxas takes more registers of B than some forms have.
    b = b.max(src.len().checked_sub(a + c + described)?);
    if dst.len() != d || src.len() != a + b + c + described {
        return None;
    }
    let mut sources = src.iter();
    let mut take = |count: usize, width: Width, body: &mut FunctionBuilder<'_>| {
        let taken: Option<Vec<Reg>> =
            sources.by_ref().take(count).map(|s| value(body, Some(s), width)).collect();
        taken.filter(|regs| regs.iter().all(|r| r.width() == width))
    };
    let matrices = [take(a, width, body)?, take(b, width, body)?, take(c, width, body)?];
    let metadata = match product.sparsity {
        Some(_) => {
            let register = *take(1, Width::W32, body)?.first()?;
            let &Source::Bits(selector) = src.get(a + b + c + 1)? else { return None };
            take(1, Width::W32, body)?;
            Some((register, selector as u32))
        }
        None => None,
    };
    let scales = match product.scaling {
        Some(_) => {
            let mut operand = || match take(3, Width::W32, body)?[..] {
                [data, byte, thread] => Some(ScaleOperand { data, byte, thread }),
                _ => None,
            };
            Some([operand()?, operand()?])
        }
        None => None,
    };
    let d = dst.to_vec();
    let op = MultiplyOp { product, sources: matrices, d, metadata, scales };
    body.matrix(MatrixOp::Multiply(Box::new(op)));
    Some(())
}

/// `ldmatrix`: some lanes load lines of 16 bytes, then all exchange them.
pub(super) fn load_lines(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let exchange = Exchange::of(i)?;
    if dst.len() != exchange.registers()[1] {
        return None;
    }
    let line: Vec<Reg> = (0..4).map(|_| body.reg(Width::W32)).collect();
    let at = address(src.first())?;
    body.matrix(MatrixOp::Converge);
    // What packed elements leave of a line is padding, which nobody reads.
    let words = exchange.line_bytes() / 4;
    let access = Access::unsigned(i.space(), 4);
    let (whole, rest) = if words == 3 { (2, 1) } else { (words, 0) };
    with_lanes(body, exchange.lines(), |body| {
        body.load(access, &line[..whole], at);
        if rest == 1 {
            body.load(access, &line[2..3], at.plus(8));
        }
    });
    body.matrix(MatrixOp::Exchange { exchange, from: line, to: dst.to_vec() });
    Some(())
}

/// `stmatrix`: all lanes exchange, then some store lines of 16 bytes.
pub(super) fn store_lines(body: &mut FunctionBuilder<'_>, i: &Instruction, src: &[Source]) -> Option<()> {
    let exchange = Exchange::of(i)?;
    let at = address(src.first())?;
    let from: Vec<Reg> = src[1..].iter().map(|s| value(body, Some(s), Width::W32)).collect::<Option<_>>()?;
    if from.len() != exchange.registers()[0] || from.iter().any(|r| r.width() != Width::W32) {
        return None;
    }
    let line: Vec<Reg> = (0..4).map(|_| body.reg(Width::W32)).collect();
    let to = line.iter().map(|r| Some(*r)).collect();
    body.matrix(MatrixOp::Exchange { exchange, from, to });
    with_lanes(body, exchange.lines(), |body| body.store(Access::unsigned(i.space(), 4), &line, at));
    Some(())
}

/// `movmatrix`
pub(super) fn transpose(
    body: &mut FunctionBuilder<'_>,
    i: &Instruction,
    dst: &[Option<Reg>],
    src: &[Source],
) -> Option<()> {
    let exchange = Exchange::of(i)?;
    let from = vec![value(body, src.first(), Width::W32).filter(|r| r.width() == Width::W32)?];
    body.matrix(MatrixOp::Exchange { exchange, from, to: dst.to_vec() });
    Some(())
}

/// Emits for the first lanes of the warp alone. Those that the instruction's own guard leaves out have been refused before.
fn with_lanes(body: &mut FunctionBuilder<'_>, lines: usize, emit: impl FnOnce(&mut FunctionBuilder<'_>)) {
    if lines >= 32 {
        return emit(body);
    }
    let (lane, first) = (body.reg(Width::W32), body.reg(Width::Pred));
    let count = body.constant(lines as u128, Width::W32);
    body.special(lane, Special::LaneId);
    body.lanes(lanes::vector(|lane: u32, count: u32| lane < count), &[first], &[lane, count]);
    body.within(first, emit);
}

/// Registers that the widths of sources ask for.
pub(super) type Registers = SmallVec<[Reg; 8]>;
