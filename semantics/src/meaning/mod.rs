//! What an instruction means: a value it computes, an effect it has, or why it is refused.

mod effect;
mod table;

pub use effect::{CopyGroup, Effect, FenceKind, MbarrierAction, TensorMemoryAction, TextureAction};

use crate::plan::Planner;
use crate::{Plan, Written};
use warpsmith_isa::{Instruction, MmaKind, Mod, Operation};

/// What an operation means.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// Its results depend on its sources alone: a plan computes them.
    Computes(Computation),
    /// It does something that the engine must do.
    Does(Effect),
    /// It has no semantics here.
    Refused(Refusal),
}

/// How the instructions of an operation are planned.
#[derive(Clone, Copy)]
pub struct Computation(Planner);

impl Computation {
    /// The plan of an instruction of the operation. `None` for what ptxas takes and the manual gives no meaning to.
    pub fn plan(self, instruction: &Instruction, written: &Written) -> Option<Plan> {
        (self.0)(instruction, written)
    }
}

impl std::fmt::Debug for Computation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Computation")
    }
}

/// Why an operation is not executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A form of a version after 9.0.
    Later,
    /// Memory of other machines, by a logical endpoint.
    Fabric,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Refusal::Later => "this form, of a version after PTX 9.0, is not executed yet",
            Refusal::Fabric => "memory of other machines is not executed",
        })
    }
}

/// What a product in tensor memory asks for that is not executed: what came after 9.0.
fn missing_of_product(i: &Instruction) -> Option<Refusal> {
    match i.mma_kind() {
        Some(MmaKind::Ti16) | None => Some(Refusal::Later),
        Some(
            MmaKind::Mxf8f6f4
            | MmaKind::Mxf4
            | MmaKind::Mxf4nvf4
            | MmaKind::F16
            | MmaKind::Tf32
            | MmaKind::F8f6f4
            | MmaKind::I8,
        ) => i.has(Mod::DecompressLutB).then_some(Refusal::Later),
    }
}

impl Meaning {
    /// What an instruction means: what its operation does, unless it is a later form that has no semantics.
    pub fn of_instruction(instruction: &Instruction) -> Meaning {
        let refused = crate::later::is_refused(instruction);
        if refused {
            return Meaning::Refused(Refusal::Later);
        }
        let multiplies = matches!(
            instruction.operation(),
            Operation::Tcgen05Mma
                | Operation::Tcgen05MmaSparse
                | Operation::Tcgen05MmaWs
                | Operation::Tcgen05MmaWsSparse
        );
        let missing = if multiplies { missing_of_product(instruction) } else { None };
        missing.map_or_else(|| Meaning::of(instruction.operation()), Meaning::Refused)
    }
}
