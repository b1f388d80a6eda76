//! Computing again: what an operation would give for other arguments.

use super::super::file::{Frame, RegisterFile};
use super::super::lanes::{Lane, Level, Operands};
use super::super::op::Op;
use super::super::program::Program;
use super::super::reg::{Reg, Width};
use smallvec::SmallVec;

/// Registers to compute in.
pub struct Scratch {
    file: RegisterFile,
    rows: u32,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

impl Scratch {
    /// Room for the operands of any operation.
    pub fn new() -> Scratch {
        Scratch { file: RegisterFile::new(), rows: 0 }
    }

    /// The results of a computation ([`OperationKind::Compute`](super::OperationKind::Compute)) for these arguments, one per operand, constants included. `None` for operations
    /// of other kinds and if the number of arguments is another.
    pub fn compute(
        &mut self,
        program: &Program,
        pc: u32,
        arguments: &[[u128; 32]],
    ) -> Option<SmallVec<[[u128; 32]; 2]>> {
        let Op::Lanes(function, _) = &program.code.get(pc as usize)?.op else { return None };
        let signature = function.signature();
        if signature.src.len() != arguments.len() {
            return None;
        }
        self.rows = 0;
        let mut operands = Operands { dst: [Reg::ZERO; 2], src: [Reg::ZERO; 4] };
        for (r, w) in operands.dst.iter_mut().zip(signature.dst) {
            *r = self.allocate(*w);
        }
        for (r, w) in operands.src.iter_mut().zip(signature.src) {
            *r = self.allocate(*w);
        }
        // SAFETY: the registers that are used with the frame were allocated in it, and none is a constant.
        let frame = unsafe { self.file.frame(0, self.rows, &[]) };
        for (r, values) in operands.src.iter().zip(arguments) {
            set(frame, *r, values);
        }
        // SAFETY: the operands lie in the frame and have the widths of the signature; every host has the baseline.
        unsafe { function.run(Level::Baseline, frame, &operands, u32::MAX) }
        Some(operands.dst[..signature.dst.len()].iter().map(|r| get(frame, *r)).collect())
    }

    fn allocate(&mut self, width: Width) -> Reg {
        let row = self.rows;
        self.rows += width.words().div_ceil(32);
        self.file.reserve(0, self.rows);
        Reg::frame(row * 32, width)
    }
}

fn set(frame: Frame, r: Reg, values: &[u128; 32]) {
    // SAFETY: the register was allocated in the frame, with the width it says.
    unsafe {
        match r.width() {
            Width::Pred => bool::set(frame, r, u32::MAX, &values.map(|v| v & 1 != 0)),
            Width::W32 => u32::set(frame, r, u32::MAX, &values.map(|v| v as u32)),
            Width::W64 => u64::set(frame, r, u32::MAX, &values.map(|v| v as u64)),
            Width::W128 => u128::set(frame, r, u32::MAX, values),
        }
    }
}

fn get(frame: Frame, r: Reg) -> [u128; 32] {
    // SAFETY: as in `set`.
    std::array::from_fn(|lane| unsafe {
        match r.width() {
            Width::Pred => u128::from(bool::get(frame, r, lane)),
            Width::W32 => u128::from(u32::get(frame, r, lane)),
            Width::W64 => u128::from(u64::get(frame, r, lane)),
            Width::W128 => u128::get(frame, r, lane),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::lanes::vector;
    use crate::engine::{FunctionKind, ProgramBuilder};

    #[test]
    fn an_operation_is_computed_for_other_arguments() {
        let mut builder = ProgramBuilder::new();
        let kernel = builder.declare("k", FunctionKind::kernel([]));
        let mut body = builder.body(kernel);
        let [a, p] = [Width::W32, Width::Pred].map(|w| body.reg(w));
        let seven = body.constant(7, Width::W32);
        body.lanes(vector(|a: u32, b: u32| (a * b, a < b)), &[a, p], &[a, seven]);
        body.ret();
        body.finish();
        let program = builder.finish().unwrap();
        let mut scratch = Scratch::new();
        let lanes: [u128; 32] = std::array::from_fn(|i| i as u128);
        let results = scratch.compute(&program, 0, &[lanes, [7; 32]]).unwrap();
        assert_eq!(results[0], lanes.map(|i| 7 * i));
        assert_eq!(results[1], lanes.map(|i| u128::from(i < 7)));
        assert_eq!(scratch.compute(&program, 0, &[lanes]), None);
        assert_eq!(scratch.compute(&program, 1, &[]), None);
    }
}
