//! Instructions as lane functions: from a resolved instruction to the functions of [`value`](crate::value).

pub(crate) mod compare;
pub(crate) mod convert;
mod emit;
mod evaluate;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod logic;
pub(crate) mod mixed;
pub(crate) mod sparse;
mod types;
pub(crate) mod video;

pub use emit::Emitter;
pub use types::{Bits, Number};
pub use video::{Selection, Selector};

use crate::Meaning;
use crate::lanes::LaneFn;
use crate::register::Width;
use crate::value::Rounding;
use smallvec::{SmallVec, smallvec};
use warpsmith_isa::{self as isa, Instruction};

/// What approximate instructions compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Approximations {
    /// The true value, rounded to nearest: what ptxas folds, and the same on every GPU.
    #[default]
    Rounded,
    /// What NVIDIA's special function unit gives, bit for bit, where that is known: `tanh`, and forms of f64, are rounded here too.
    Hardware,
}

/// What a statement says of an instruction besides its form and its operands' values, and what the user says of all: results depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The bits of the first destination's register: a conversion to a narrower type extends its result to it.
    pub destination_bits: u32,
    /// The parts of registers that a video instruction names.
    pub selection: Selection,
    /// What approximate instructions compute.
    pub approximations: Approximations,
}

impl Default for Written {
    fn default() -> Self {
        Written {
            destination_bits: 32,
            selection: Selection::default(),
            approximations: Approximations::default(),
        }
    }
}

/// The function that plans the instructions of an operation; `None` for one that has no semantics.
pub(crate) type Planner = fn(&Instruction, &Written) -> Option<Plan>;

/// The plan of an instruction; `None` if it is not computed from its operands alone, or has no semantics.
pub fn plan(instruction: &Instruction, written: &Written) -> Option<Plan> {
    match Meaning::of_instruction(instruction) {
        Meaning::Computes(planner) => planner.plan(instruction, written),
        Meaning::Does(_) | Meaning::Refused(_) => None,
    }
}

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slot {
    /// A destination of the instruction, `p|q` and vectors counted element by element.
    Dst(u8),
    /// A source of the instruction, counted likewise.
    Src(u8),
    /// A value between two steps.
    Temp(u8, Width),
    /// A number.
    Constant(u64, Width),
    /// The carry flag `CC.CF`.
    Carry,
}

/// One lane operation.
#[derive(Clone, Debug)]
struct Step {
    function: LaneFn,
    dst: SmallVec<[Slot; 2]>,
    src: SmallVec<[Slot; 4]>,
}

impl Step {
    fn new(function: LaneFn, dst: &[Slot], src: &[Slot]) -> Step {
        Step { function, dst: dst.iter().copied().collect(), src: src.iter().copied().collect() }
    }
}

/// How an instruction is executed: one lane operation, or a few.
#[derive(Clone, Debug)]
pub struct Plan {
    steps: SmallVec<[Step; 1]>,
    sources: SmallVec<[Width; 5]>,
    destinations: SmallVec<[Width; 2]>,
    carry: bool,
    /// A result narrower than its register extends its sign.
    signed: bool,
}

impl Plan {
    /// One step whose operands are the instruction's own.
    pub fn simple(function: LaneFn) -> Plan {
        Plan::with_constants(function, &[])
    }

    /// One step whose last arguments are constants.
    pub fn with_constants(function: LaneFn, constants: &[u64]) -> Plan {
        let signature = function.signature();
        let own = signature.src.len() - constants.len();
        let src = (0..own).map(|i| Slot::Src(i as u8));
        let extra = constants.iter().zip(&signature.src[own..]).map(|(c, w)| Slot::Constant(*c, *w));
        let dst = (0..signature.dst.len()).map(|i| Slot::Dst(i as u8)).collect();
        Plan::of(smallvec![Step { function, dst, src: src.chain(extra).collect() }])
    }

    fn of(steps: SmallVec<[Step; 1]>) -> Plan {
        let (mut sources, mut destinations) = (SmallVec::new(), SmallVec::new());
        for step in &steps {
            let signature = step.function.signature();
            for (slot, width) in step.src.iter().zip(signature.src) {
                if let Slot::Src(i) = slot {
                    place(&mut sources, usize::from(*i), *width);
                }
            }
            for (slot, width) in step.dst.iter().zip(signature.dst) {
                if let Slot::Dst(i) = slot {
                    place(&mut destinations, usize::from(*i), *width);
                }
            }
        }
        let carry = steps.iter().any(|step| step.src.iter().chain(&step.dst).any(|s| *s == Slot::Carry));
        Plan { steps, sources, destinations, carry, signed: false }
    }

    /// The widths of the sources, in the instruction's order; elements of a vector one by one, `{!}c` last.
    pub fn sources(&self) -> &[Width] {
        &self.sources
    }

    /// The widths of the destinations; `p|q` is two.
    pub fn destinations(&self) -> &[Width] {
        &self.destinations
    }

    /// True if the instruction reads or writes the carry flag.
    pub fn uses_carry(&self) -> bool {
        self.carry
    }
}

/// Sets an element of a list that grows as needed.
fn place<const N: usize>(list: &mut SmallVec<[Width; N]>, i: usize, width: Width)
where
    [Width; N]: smallvec::Array<Item = Width>,
{
    list.resize(list.len().max(i + 1), width);
    list[i] = width;
}

/// The rounding of an arithmetic instruction, to nearest where none is written; `None` for stochastic rounding, which is none of those.
pub(crate) fn rounding(instruction: &Instruction) -> Option<Rounding> {
    Some(match instruction.rounding() {
        None | Some(isa::Rounding::Nearest) => Rounding::Nearest,
        Some(isa::Rounding::Zero) => Rounding::Zero,
        Some(isa::Rounding::Down) => Rounding::Down,
        Some(isa::Rounding::Up) => Rounding::Up,
        Some(isa::Rounding::NearestAway) => Rounding::NearestAway,
        Some(isa::Rounding::Stochastic) => return None,
    })
}

/// How many operands besides the destination are written.
fn sources(instruction: &Instruction) -> usize {
    instruction.places().count().saturating_sub(1)
}
