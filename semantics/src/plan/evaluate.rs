//! A plan evaluated on numbers, for the folding of constants: the very functions that the engine runs.

use super::{Emitter, Plan};
use crate::lanes::LaneFn;
use crate::register::Width;
use smallvec::{SmallVec, smallvec};

/// A value with its width.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    index: u32,
    width: Width,
}

/// The values of an evaluation; one that is computed is in the list at its index.
#[derive(Default)]
struct Evaluation {
    values: SmallVec<[u128; 12]>,
    error: Option<String>,
}

impl Evaluation {
    fn cell(&mut self, value: u128, width: Width) -> Cell {
        self.values.push(value);
        Cell { index: self.values.len() as u32 - 1, width }
    }
}

impl Emitter for Evaluation {
    type Reg = Cell;

    fn width(&self, r: Cell) -> Width {
        r.width
    }

    fn new_reg(&mut self, width: Width) -> Cell {
        self.cell(0, width)
    }

    fn constant_reg(&mut self, value: u64, width: Width) -> Cell {
        self.cell(value.into(), width)
    }

    fn step(&mut self, function: LaneFn, dst: &[Cell], src: &[Cell]) {
        let values: SmallVec<[u128; 4]> = src.iter().map(|s| self.values[s.index as usize]).collect();
        for (d, value) in dst.iter().zip(function.evaluate(&values)) {
            self.values[d.index as usize] = value;
        }
    }

    fn mismatch(&mut self, message: String) {
        self.error = Some(message);
    }
}

impl Plan {
    /// The results for these sources, each as the bits of its register. `None` if the number of sources is another, or the carry flag is
    /// an operand.
    pub fn evaluate(&self, sources: &[u128]) -> Option<SmallVec<[u128; 2]>> {
        self.evaluate_to(sources, &self.destinations)
    }

    /// The results in registers of these widths, extended as a plan does where a register is wider than its result.
    pub fn evaluate_to(&self, sources: &[u128], registers: &[Width]) -> Option<SmallVec<[u128; 2]>> {
        if sources.len() != self.sources.len() || self.carry {
            return None;
        }
        let mut evaluation = Evaluation::default();
        let src: SmallVec<[Cell; 5]> =
            sources.iter().zip(&self.sources).map(|(value, width)| evaluation.cell(*value, *width)).collect();
        let dst: SmallVec<[Option<Cell>; 2]> =
            registers.iter().map(|width| Some(evaluation.new_reg(*width))).collect();
        self.emit(&mut evaluation, &dst, &src, None);
        if evaluation.error.is_some() {
            return None;
        }
        Some(dst.iter().flatten().map(|cell| evaluation.values[cell.index as usize]).collect())
    }
}

impl LaneFn {
    /// The results of the function for these values, as many as its signature has; a value's bits beyond its width do not count.
    pub fn evaluate(&self, values: &[u128]) -> SmallVec<[u128; 2]> {
        let mut results = smallvec![0; self.signature().dst.len()];
        self.evaluate_into(values, &mut results);
        results
    }
}
