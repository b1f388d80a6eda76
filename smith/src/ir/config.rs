//! What modules may contain.

use super::Pattern;
use std::sync::Arc;
use warpsmith_ir::{Scalar, Type};
use warpsmith_isa::Target;

/// What modules may contain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Blocks of the kernel's graph, at most.
    pub blocks: usize,
    /// Instructions of a block, about.
    pub insts: usize,
    /// Blocks that a thread walks through, at most.
    pub fuel: u32,
    /// `f16` and `bf16`.
    pub halves: bool,
    /// `tf32` and the formats of 8, 6 and 4 bits.
    pub narrow: bool,
    /// `f32` and `f64`.
    pub floats: bool,
    /// Integers of odd widths and of 128 bits.
    pub wide: bool,
    /// Vectors.
    pub vectors: bool,
    /// Stack slots, constant and shared memory, generic pointers.
    pub memory: bool,
    /// Structs and arrays as values.
    pub aggregates: bool,
    /// Exchanges, votes and reductions of the lanes of a warp.
    pub together: bool,
    /// Functions and calls.
    pub calls: bool,
    /// Operations of the PTX tables.
    pub ptx: bool,
    /// What other compilers do not have, or do otherwise: approximations, directions of rounding, atomic accesses, calls through addresses.
    pub special: bool,
    /// What is drawn as it is, besides single operations: what a compiler's rules look for.
    pub patterns: Arc<[Pattern]>,
    /// The target; if `None`, mostly that of who compiles, else one of [`crate::ptx::TARGETS`].
    pub target: Option<Target>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            blocks: 8,
            insts: 12,
            fuel: 24,
            halves: true,
            narrow: true,
            floats: true,
            wide: true,
            vectors: true,
            memory: true,
            aggregates: true,
            together: true,
            calls: true,
            ptx: true,
            special: true,
            patterns: Arc::new([]),
            target: None,
        }
    }
}

impl Config {
    pub(super) fn types(&self) -> Vec<Type> {
        let mut types = vec![Type::I1, Type::I8, Type::I16, Type::I32, Type::I32, Type::I64];
        if self.floats {
            types.extend([Type::F32, Type::F64]);
        }
        if self.halves {
            types.extend([Type::F16, Type::BF16]);
        }
        if self.narrow {
            types.extend([
                Type::TF32,
                Type::E4M3,
                Type::E5M2,
                Type::E2M3,
                Type::E3M2,
                Type::E2M1,
                Type::UE8M0,
            ]);
        }
        if self.wide {
            types.extend([7, 24, 33, 96, 128].into_iter().filter_map(Type::int));
        }
        types
    }

    pub(super) fn vector_types(&self) -> Vec<Type> {
        use Scalar::*;
        let lanes = [(I1, 5), (I8, 4), (I16, 2), (I32, 3), (I64, 2), (F16, 2), (BF16, 4), (F32, 3), (F32, 2)];
        let narrow = [(TF32, 2), (E4M3, 4), (E5M2, 3), (E2M1, 8), (UE8M0, 2)];
        let lanes = lanes.into_iter().chain(narrow);
        let all = lanes.filter_map(|(element, lanes)| Type::vector(element, lanes));
        let known = self.types();
        all.filter(|ty| self.vectors && known.contains(&ty.element_type())).collect()
    }
}
