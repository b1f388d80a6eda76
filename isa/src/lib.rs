//! What PTX has: the instruction tables, scalar types, state spaces, targets and versions.
//!
//! The tables (`tables/*.isa`, one file per area of the manual, in the language of `docs/isa-tables.md`) are compiled to static data by the
//! build script. On that data stands everything that other crates ask:
//!
//! - [`Mnemonic`]: an opcode with its modifiers, as text and as a value;
//! - [`forms`]: the [`Form`]s that a mnemonic can mean, and with [`Instruction::signature`] the types of their operands;
//! - [`check`] and [`Resolved`]: validation of an instruction with its operands, [`Violation`]s being the reasons against it;
//! - [`Instruction`]: what validation resolves it to, which later stages carry: its [`Operation`], its form, its modifiers by kind;
//! - [`Gate`]: which `.version` and `.target` something needs;
//! - [`SpecialReg`], [`Directive`]: chapters 10 and 11;
//! - [`coverage`]: all of it as a page for people.
//!
//! ```
//! use warpsmith_isa::*;
//! let context = Context::new(Version::new(7, 0), Target::sm(80));
//! let add = Mnemonic::parse("add.rn.f32").unwrap();
//! let operands = [Operand::Reg(ScalarType::F32), Operand::Reg(ScalarType::F32), Operand::Int(1)];
//! let violations = check(&add, &operands, &context).unwrap_err();
//! assert_eq!(violations[0].place, Place::Operand(2, None));
//! ```

#![forbid(unsafe_code)]
#![deny(clippy::wildcard_enum_match_arm)]

mod check;
mod class;
pub mod codes;
pub mod coverage;
mod form;
mod gate;
mod hash;
mod instruction;
// The build script uses all of it, the tests only some.
#[cfg(test)]
#[allow(dead_code, unused_imports)]
mod lang;
pub mod layout;
pub mod limits;
pub mod memory;
mod mnemonic;
mod modifier;
mod operand;
mod release;
mod resolve;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
mod scalar;
mod space;
mod spelling;
mod sreg;
pub mod suggest;
mod target;
mod traits;
mod version;
mod violation;

/// What the build script made of the tables.
mod tables {
    use crate::form::*;
    use crate::gate::{Clause, Condition, TargetRange};
    use crate::{Class, Release, ReleaseRange, ScalarType, Target, Traits, Variant, Version};
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub use check::{Context, Resolved, Verdict, check};
pub use class::Class;
pub use form::{
    Accepts, AddressSpec, Alternative, CountRef, Extent, Family, Form, FormId, OperandSpec, Presence, Range,
    Reach, RegRule, Shape, Slot, SpaceRef, TypeRef, TypeSet, ValueSpec,
};
pub use gate::{Clause, Condition, Gate, TargetRange};
#[doc(hidden)]
pub use hash::hash as stable_hash;
pub use instruction::Instruction;
pub use mnemonic::{Mnemonic, MnemonicError};
pub use modifier::*;
pub use operand::{Base, FloatKind, Operand, Variable};
pub use release::{Change, Demand, RELEASES, Release, ReleaseRange};
pub use resolve::{SigKind, SigOperand, SigPresence, SigSpace, SigValue, Signature, forms};
pub use scalar::{ScalarType, TypeClass};
pub use space::StateSpace;
pub use spelling::of_text;
pub use sreg::Directive;
pub use tables::{DIRECTIVES, FAMILIES, FORMS, Mod, Opcode, Operation, SpecialReg};
pub use target::{TARGETS, Target, TargetInfo, Variant};
pub use traits::Traits;
pub use version::Version;
pub use violation::{Fix, Place, Remedy, Violation, lowest};
