//! Video instructions. The parts that operands select (`a.b0`, `d.h1`) are not in the mnemonic, so they have no plan yet.

use super::{Name, Plan};

pub(super) fn plan(_name: &Name) -> Option<Plan> {
    None
}
