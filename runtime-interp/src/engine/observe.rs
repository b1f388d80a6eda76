//! The one place where a run can be watched.
//!
//! The scheduler is generic over an [`Observer`]; for `()`, which watches nothing, every call is compiled out.

use super::op::{Access, Fence};
use warpsmith_isa::StateSpace;

/// Where and by whom an instruction is executed.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Line in the source text, 0 if unknown.
    pub line: u32,
    /// The instruction's mnemonic.
    pub mnemonic: &'a str,
    /// Index of the operation in the program.
    pub pc: u32,
    /// `%ctaid`
    pub block: [u32; 3],
    /// Number of the warp in its block; lane `i` is thread `32 * warp + i`.
    pub warp: u32,
    /// The lanes that execute it.
    pub mask: u32,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
}

/// What a synchronisation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// The lanes arrive at a block barrier.
    Arrive(u32),
    /// The lanes leave a block barrier.
    Leave(u32),
    /// The lanes of a warp synchronise.
    Warp,
    /// A fence.
    Fence(Fence),
}

/// Sees what a launch does, in the order in which the engine does it.
pub trait Observer: Send {
    /// False compiles every call out.
    const ACTIVE: bool = true;

    /// Before an instruction, whose guard is already in the mask.
    fn instruction(&mut self, _at: &At<'_>) {}

    /// Before a memory access: the space it goes to and the addresses in that space of the lanes in the mask.
    fn access(
        &mut self,
        _at: &At<'_>,
        _kind: AccessKind,
        _access: &Access,
        _space: StateSpace,
        _addresses: &[u64; 32],
    ) {
    }

    /// At a branch: the lanes that jump.
    fn branch(&mut self, _at: &At<'_>, _taken: u32) {}

    /// At a synchronisation.
    fn synchronise(&mut self, _at: &At<'_>, _sync: Sync) {}
}

impl Observer for () {
    const ACTIVE: bool = false;
}
