//! The places that transfers read and write: checked where a transfer starts, and looked for again when it happens.

use super::flight::Issuer;
use crate::engine::block::{BlockContext, locate};
use crate::engine::cluster::ClusterState;
use crate::engine::observe::MemoryRange;
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Runner};
use crate::fault::{Fault, FaultCode};
use crate::memory::bytes::Bytes;
use crate::memory::window;
use warpsmith_isa::StateSpace;

/// A checked place in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// An address.
    Global(u64),
    /// A rank in the cluster, and an offset in the shared memory of that block.
    Shared(usize, usize),
}

/// An end of a transfer that is written.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub at: Spot,
    /// The block and the offset of the mbarrier object that is signalled.
    pub signal: Option<(usize, usize)>,
}

/// The one state space that an operand may be in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Global,
    Shared,
}

impl Spot {
    /// The place so many bytes further on.
    pub fn after(self, bytes: u32) -> Spot {
        match self {
            Spot::Global(address) => Spot::Global(address + u64::from(bytes)),
            Spot::Shared(rank, offset) => Spot::Shared(rank, offset + bytes as usize),
        }
    }

    /// So many bytes from here, as observers see them.
    pub fn place(self, bytes: u32) -> MemoryRange {
        self.part(0, bytes)
    }

    /// The part of a tile that lies here.
    pub fn part(self, at: u32, bytes: u32) -> MemoryRange {
        let (at, bytes) = (at.into(), bytes.into());
        match self {
            Spot::Global(address) => MemoryRange { rank: None, address, bytes, at },
            Spot::Shared(rank, offset) => MemoryRange { rank: Some(rank), address: offset as u64, bytes, at },
        }
    }
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// The place of an operand of so many bytes, or why there is none: it is misaligned, out of bounds, or not in the wanted space.
    pub(super) fn spot(
        &self,
        block: &BlockContext<'_>,
        at: &Access,
        address: u64,
        bytes: u32,
        wanted: Option<Wanted>,
    ) -> Result<Spot, (FaultCode, String)> {
        let (space, _) = window::locate(at.space, address);
        let wrong = match wanted {
            Some(Wanted::Global) => space != StateSpace::Global,
            Some(Wanted::Shared) => space != StateSpace::Shared,
            None => false,
        };
        if wrong {
            return Err((
                FaultCode::OutOfBounds,
                format!("{space} address {address:#x} is in another state space"),
            ));
        }
        if space != StateSpace::Global {
            return block
                .cluster
                .operand(block.rank, at, address, bytes.into())
                .map(|(r, o)| Spot::Shared(r, o));
        }
        let unit = u64::from(at.bytes);
        if !address.is_multiple_of(unit) {
            return Err((
                FaultCode::Misaligned,
                format!("global address {address:#x} is not a multiple of {unit}"),
            ));
        }
        match self.memory(block.cluster, Spot::Global(address), bytes) {
            Some(_) => Ok(Spot::Global(address)),
            None => {
                let place = self.cx.describe_global(address, bytes.into());
                Err((FaultCode::OutOfBounds, format!("global address {address:#x}: {place}")))
            }
        }
    }

    /// The memory of a place, if it is still there.
    pub(super) fn memory<'c>(
        &'c self,
        cluster: &'c ClusterState,
        spot: Spot,
        bytes: u32,
    ) -> Option<(&'c Bytes, usize)> {
        let (memory, offset, rest) = match spot {
            Spot::Shared(rank, offset) => {
                let memory = &cluster.members[rank].memory;
                (memory, offset, memory.len().checked_sub(offset)? as u64)
            }
            Spot::Global(address) => self.cx.global_at(address)?,
        };
        (u64::from(bytes) <= rest).then_some((memory, offset))
    }

    /// The memory of a place that was checked when a transfer started, and may be gone since.
    pub(super) fn live_memory<'c>(
        &'c self,
        cluster: &'c ClusterState,
        issuer: Issuer,
        lane: u8,
        spot: Spot,
        bytes: u32,
    ) -> Fallible<(&'c Bytes, usize)> {
        self.memory(cluster, spot, bytes).ok_or_else(|| self.vanished(cluster, issuer, lane, spot))
    }

    /// The fault of a transfer whose place is gone.
    #[cold]
    pub(super) fn vanished(
        &self,
        cluster: &ClusterState,
        issuer: Issuer,
        lane: u8,
        spot: Spot,
    ) -> Box<Fault> {
        let message = match spot {
            Spot::Shared(rank, _) => {
                format!("an asynchronous operation reaches block {rank} of the cluster, which has exited")
            }
            Spot::Global(address) => {
                format!("an asynchronous operation reaches global address {address:#x}, which has been freed")
            }
        };
        let mut fault = Fault::new(FaultCode::OutOfBounds, message);
        self.blame(&mut fault, cluster, issuer, lane);
        Box::new(fault)
    }

    /// Says in a fault which lane of which instruction has started the transfer.
    pub(super) fn blame(&self, fault: &mut Fault, cluster: &ClusterState, issuer: Issuer, lane: u8) {
        let id = cluster.members[issuer.rank].id;
        locate(fault, self.cx, id, issuer.warp, 1 << lane, issuer.pc);
    }
}
