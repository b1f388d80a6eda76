//! Products of matrices: what tensor cores compute, bit for bit (PTX ISA 9.0, 9.7.14 to 9.7.16).
//!
//! The manual leaves order and precision of floating-point sums open; hardware does not. Published measurements give a [`Rule`] per
//! architecture, and [`Product`] computes by it. What they do not cover follows by analogy; `docs/engine.md` lists it.
//!
//! ```
//! use warpsmith_semantics::lanes::Level;
//! use warpsmith_semantics::matrix::*;
//! // 4 x 8 x 2: 1 * 1 + 2^-12 * 2^-13, on top of 1. Hopper drops what is below 2^-25 of the largest term; rounding drops the rest.
//! let (one, small, smaller) = (0x3c00, 0x0c00, 0x0800);
//! let product = Product {
//!     shape: [4, 8, 2],
//!     types: [Element::F16; 2],
//!     accumulators: [Accumulator::F32; 2],
//!     rule: Some(Rule::of(Architecture::Hopper, Unit::Warp, Element::F16, false)),
//!     a: &[one, small].repeat(4),
//!     b: &[[one; 8], [smaller; 8]].concat(),
//!     rows: Partners::Same,
//!     scales: None,
//! };
//! let mut d = [1.0f32.to_bits(); 32];
//! product.run(Level::Baseline, &mut Workspace::default(), &mut d);
//! assert_eq!(d, [2.0f32.to_bits(); 32]);
//! ```

mod descriptor;
mod element;
mod exchange;
mod float;
mod ideal;
mod integer;
mod layout;
mod near;
mod rule;
mod sparse;
mod stepwise;
mod tcgen05;
mod unpack;
mod warp;

pub use descriptor::{BadDescriptor, Descriptor, Major, Swizzle};
pub use element::{Accumulator, Element, Family, Packing};
pub use exchange::{Exchange, Lanes, Packed, Shape};
pub use float::{Product, Scales, Workspace};
pub use integer::{IntegerKind, IntegerProduct, multiply_double};
pub use layout::{Fragment, Map, Place, Role, is_transposed, quads};
pub use rule::{Architecture, Arithmetic, ByWay, Rule, ScaleType, Unit};
pub use sparse::{BadMetadata, Chunk, Partners, Sparsity, nibble};
pub use tcgen05::{
    BadNibble, DataPath, Quarter, QuarterProduct, TensorForm, TensorProduct, TensorScaling, ZeroColumns,
};
pub use warp::{Inputs, Scaling, WarpProduct, WarpWorkspace};
