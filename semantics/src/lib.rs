//! The semantics of PTX instructions.
//!
//! - [`value`]: each scalar operation as a pure function on raw bit patterns;
//! - [`lanes`]: such a function applied to the 32 lanes of a warp, or to one value;
//! - [`Plan`]: an instruction as one or a few lane functions; [`plan`] builds it for an [`Instruction`](warpsmith_isa::Instruction);
//! - [`update`]: the read-modify-write functions of atomics; [`together`]: operations across lanes;
//! - [`Meaning`]: the table of all operations, each of which is computed, has an effect, or is refused with a reason.
//!
//! The engine, the decoders and constant folding all use these definitions, so an operation has a single meaning. `docs/engine.md` lists where
//! the manual and hardware differ, and which of them is followed.
//!
//! ```
//! use warpsmith_isa::{Context, Operand, Resolved, ScalarType, Target, Version, mnemonic};
//! use warpsmith_semantics::{Written, plan};
//! let resolved = Resolved::new(&mnemonic!("add.rz.ftz.f32"), Context::new(Version::new(7, 0), Target::sm(80)));
//! let add = resolved.check(&[Operand::Reg(ScalarType::F32); 3]).unwrap();
//! let plan = plan(&add, &Written::default()).unwrap();
//! let bits = |x: f32| u128::from(x.to_bits());
//! assert_eq!(plan.evaluate(&[bits(1.5), bits(2.0)]).unwrap()[..], [bits(3.5)]);
//! ```

#![deny(clippy::wildcard_enum_match_arm)]

pub mod frame;
pub mod lanes;
mod later;
pub mod matrix;
mod meaning;
mod plan;
pub mod register;
pub mod together;
pub mod update;
pub mod value;

pub use meaning::{
    Computation, CopyGroup, Effect, FenceKind, MbarrierAction, Meaning, Refusal, TensorMemoryAction,
    TextureAction,
};
pub use plan::{Approximations, Bits, Emitter, Number, Plan, Selection, Selector, Written, plan};
pub use register::{Reg, Width};
