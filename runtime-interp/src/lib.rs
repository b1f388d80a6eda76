//! Loads PTX modules and modules of the IR, and runs them on the CPU.
//!
//! - [`Program`]: a decoded module, from PTX ([`Program::load`]) or from the IR ([`Program::from_ir`]);
//! - [`Device`], [`Buffer`], [`Launch`], [`Stats`], [`Fault`]: memory, launches and their results;
//! - [`Tensor`], [`TensorMap`]: descriptions of tensors for tensor copies;
//! - [`texture`]: images and samplers, from which textures and surfaces are built;
//! - [`cuda`]: the driver API's constants for tensors and textures;
//! - [`engine`]: the warp-wide engine, its program format and builder, and the interface for observers ([`observe`]).
//!
//! The values that instructions compute are defined in `warpsmith-semantics`; their effects, in this crate.
//!
//! `docs/engine.md` explains how it works; [`Device`] and [`Program::load`] have examples.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod cuda;
mod device;
mod device_memory;
mod effects;
pub mod engine;
mod fault;
mod ir_decode;
mod launch;
mod memory;
mod output;
mod prepared;
mod printf;
mod ptx_decode;
mod tensor;
pub mod texture;

pub use device::{Buffer, Device, Handle, Limits, Machine, NativeCode, Placement, Plain};
pub use device_memory::{Holder, Span};
pub use engine::{KernelInfo, Program, Schedule, observe};
pub use fault::{Fault, FaultCode};
pub use launch::{Arg, Launch, Stats};
pub use prepared::Prepared;
pub use ptx_decode::Loading;
pub use tensor::{
    ElementType, Field as TensorMapField, Fill, Im2colWide, Interleave, L2Promotion, Swizzle, Tensor,
    TensorMap, TensorMapError,
};
pub use warpsmith_base::SplitMix64;
pub use warpsmith_semantics::Approximations;
pub use warpsmith_semantics::matrix::{Architecture, Arithmetic};
