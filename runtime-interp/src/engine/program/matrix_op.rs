//! The operations of a warp on matrices: what a decoder says and the engine executes.

use crate::engine::op::Guard;
use crate::engine::reg::{Reg, Width};
use smallvec::SmallVec;
use warpsmith_semantics::matrix::{Exchange, Major, WarpProduct};

/// What all 32 lanes of a warp do together.
#[derive(Clone, Debug)]
pub enum MatrixOp {
    /// They come together, and no more: before accesses that each makes by itself.
    Converge,
    /// `mma`, `wmma.mma`
    Multiply(Box<MultiplyOp>),
    /// `wgmma.mma_async`: starts one, which goes on later.
    Warpgroup(Box<WarpgroupOp>),
    /// `wgmma.fence`
    WarpgroupFence,
    /// `wgmma.commit_group`
    WarpgroupCommit,
    /// `wgmma.wait_group`: until no more than so many of the last groups are pending.
    WarpgroupWait(u32),
    /// `setmaxnreg`: here every thread has all registers of its function, so that it only brings the lanes together.
    RegisterCount {
        /// How many registers a thread owns from now on.
        count: u32,
        /// `.inc`, else `.dec`.
        increases: bool,
    },
    /// `ldmatrix stmatrix movmatrix`, without their accesses: moves bits between the lanes.
    Exchange {
        /// What goes where.
        exchange: Exchange,
        /// Registers that are read.
        from: Vec<Reg>,
        /// Registers that are written; `None` for a sink.
        to: Vec<Option<Reg>>,
    },
}

/// A product of a warp.
#[derive(Clone, Debug)]
pub struct MultiplyOp {
    /// What is multiplied, and who holds it.
    pub product: WarpProduct,
    /// The registers of A, B and C.
    pub sources: [Vec<Reg>; 3],
    /// The registers of D; `None` for a sink.
    pub d: Vec<Option<Reg>>,
    /// The metadata of a sparse A, and the sparsity selector.
    pub metadata: Option<(Reg, u32)>,
    /// The scales of A and B.
    pub scales: Option<[ScaleOperand; 2]>,
}

/// The part of a warp in a product of its warpgroup.
#[derive(Clone, Debug)]
pub struct WarpgroupOp {
    /// What is multiplied, and who holds it.
    pub product: WarpProduct,
    /// The registers of D, which are those of C.
    pub d: Vec<Reg>,
    /// A.
    pub a: WarpgroupOperand,
    /// The descriptor of B.
    pub b: Reg,
    /// Which way neighbours in memory are neighbours, of A and of B.
    pub major: [Major; 2],
    /// The metadata of a sparse A, and the sparsity selector.
    pub metadata: Option<(Reg, u32)>,
    /// C counts; else it is zero.
    pub accumulates: Guard,
}

/// Where the A of a warpgroup is.
#[derive(Clone, Debug)]
pub enum WarpgroupOperand {
    /// In registers.
    Registers(Vec<Reg>),
    /// In shared memory, by a descriptor.
    Descriptor(Reg),
}

/// Where the scales of a matrix are.
#[derive(Clone, Copy, Debug)]
pub struct ScaleOperand {
    /// The register.
    pub data: Reg,
    /// Which byte of it; how many threads share.
    pub byte: Reg,
    /// Which threads hold it.
    pub thread: Reg,
}

impl MatrixOp {
    /// All registers, with the width each must have if that is fixed, and whether it is written.
    pub(in crate::engine) fn registers(&self) -> SmallVec<[(Reg, Option<Width>, bool); 8]> {
        let mut all: SmallVec<[(Reg, Option<Width>, bool); 8]> = SmallVec::new();
        match self {
            MatrixOp::Converge
            | MatrixOp::WarpgroupFence
            | MatrixOp::WarpgroupCommit
            | MatrixOp::WarpgroupWait(_)
            | MatrixOp::RegisterCount { .. } => {}
            MatrixOp::Multiply(op) => {
                let width = Some(if op.product.is_double() { Width::W64 } else { Width::W32 });
                let metadata = op.metadata.map(|(r, _)| r);
                let scales = op.scales.iter().flatten().flat_map(|s| [s.data, s.byte, s.thread]);
                all.extend(metadata.into_iter().chain(scales).map(|r| (r, Some(Width::W32), false)));
                all.extend(op.sources.iter().flatten().map(|r| (*r, width, false)));
                all.extend(op.d.iter().flatten().map(|r| (*r, width, true)));
            }
            MatrixOp::Warpgroup(op) => {
                let read = |r: Reg, width: Width| (r, Some(width), false);
                all.extend(op.metadata.map(|(r, _)| read(r, Width::W32)));
                all.push(read(op.b, Width::W64));
                all.push(read(op.accumulates.pred, Width::Pred));
                match &op.a {
                    WarpgroupOperand::Registers(list) => {
                        all.extend(list.iter().map(|r| read(*r, Width::W32)));
                    }
                    WarpgroupOperand::Descriptor(r) => all.push(read(*r, Width::W64)),
                }
                all.extend(op.d.iter().map(|r| (*r, Some(Width::W32), true)));
            }
            MatrixOp::Exchange { from, to, .. } => {
                all.extend(from.iter().map(|r| (*r, Some(Width::W32), false)));
                all.extend(to.iter().flatten().map(|r| (*r, Some(Width::W32), true)));
            }
        }
        all
    }
}
