//! What the blocks of a cluster share: each other's shared memory, the clock, and what is under way or waited for.

use crate::engine::matrix::Warpgroups;
use crate::engine::mbarrier::{self, Object};
use crate::engine::op::Access;
use crate::engine::tensor_memory::TensorMemory;
use crate::engine::transfer::Flight;
use crate::fault::FaultCode;
use crate::memory::bytes::Bytes;
use crate::memory::window;
use std::cell::{Cell, RefCell};
use warpsmith_isa::StateSpace;

/// A block as the others of its cluster see it.
pub(in crate::engine) struct Member {
    pub id: [u32; 3],
    /// Its shared memory.
    pub memory: Bytes,
    /// All its threads have exited; what they have left under way is being completed.
    pub ends: Cell<bool>,
    /// All its threads have exited.
    pub gone: Cell<bool>,
    pub tensor: RefCell<TensorMemory>,
}

/// What the blocks of a cluster share.
pub(in crate::engine) struct ClusterState {
    pub members: Vec<Member>,
    /// Instructions that its warps have executed.
    pub clock: Cell<u64>,
    /// Something is under way or waited for that the scheduler has to look after.
    pub(super) attention: Cell<bool>,
    /// Phases of mbarrier objects have completed, or objects were made or ended, since waiting threads last looked.
    pub(super) event: Cell<bool>,
    /// Threads have arrived at the cluster's barrier.
    pub(super) arrivals: Cell<bool>,
    /// The running warp's turn ended with a question that was answered no.
    pub yielded: Cell<bool>,
    /// Tests that failed since the last event, and the object that was asked last.
    pub(super) polls: Cell<(u64, usize, usize)>,
    /// Waits in vain.
    pub(super) vain: Cell<u32>,
    pub flight: RefCell<Flight>,
    pub warpgroups: RefCell<Warpgroups>,
}

impl ClusterState {
    /// The place of `size` bytes at an address in the shared memory of the cluster, as block `rank` sees it, or what is wrong.
    /// Addresses of other blocks are valid only where `cluster` says so.
    pub fn locate(
        &self,
        rank: usize,
        address: u64,
        size: u64,
        cluster: bool,
    ) -> Result<(usize, usize), String> {
        let (named, offset) = window::member(address);
        let owner = named.unwrap_or(rank);
        if owner != rank && !cluster {
            return Err(format!(
                "it is in the memory of block {owner} of the cluster, and not in `.shared::cta`"
            ));
        }
        let Some(member) = self.members.get(owner) else {
            return Err(format!("there is no block {owner} in a cluster of {}", self.members.len()));
        };
        let len = member.memory.len() as u64;
        if len == 0 {
            return Err("there is no shared memory".into());
        }
        match offset.checked_add(size) {
            Some(end) if end <= len => {}
            _ => {
                let past = offset.saturating_add(size) - len;
                return Err(format!("ends {past} bytes past the end of shared memory ({len} bytes)"));
            }
        }
        if owner != rank && member.gone.get() {
            return Err(format!("block {owner} of the cluster has exited, and its shared memory is gone"));
        }
        Ok((owner, offset as usize))
    }

    /// The block and the offset of the aligned operand of an instruction, which may be a generic address.
    pub fn operand(
        &self,
        rank: usize,
        at: &Access,
        address: u64,
        bytes: u64,
    ) -> Result<(usize, usize), (FaultCode, String)> {
        let (space, offset) = window::locate(at.space, address);
        if space != StateSpace::Shared {
            return Err((
                FaultCode::OutOfBounds,
                format!("{space} address {address:#x} is not in shared memory"),
            ));
        }
        let unit = u64::from(at.bytes);
        if !offset.is_multiple_of(unit) {
            let message = format!("shared address {offset:#x} is not a multiple of {unit}");
            return Err((FaultCode::Misaligned, message));
        }
        self.locate(rank, offset, bytes, at.cluster)
            .map_err(|e| (FaultCode::OutOfBounds, format!("shared address {offset:#x}: {e}")))
    }

    /// The scheduler must look after transfers.
    pub fn attend(&self) {
        self.attention.set(true);
    }

    /// Threads have arrived at the cluster's barrier.
    pub fn note_arrival(&self) {
        self.arrivals.set(true);
        self.attend();
    }

    /// Something has happened that threads may wait for.
    pub fn note_event(&self) {
        self.event.set(true);
        self.vain.set(0);
        self.polls.set((0, 0, 0));
    }

    /// A thread waits for an event.
    pub fn wait_for_event(&self) {
        self.attention.set(true);
    }

    /// A test of the object at this place was answered no.
    pub fn note_failed_poll(&self, rank: usize, offset: usize) {
        self.polls.set((self.polls.get().0 + 1, rank, offset));
    }

    /// What spinning threads ask for, if the last thing that happened is long ago.
    pub fn spinning(&self) -> Option<String> {
        let (count, rank, offset) = self.polls.get();
        (count >= 1000).then(|| {
            format!(
                "{count} tests of mbarrier objects were answered no since the last phase completed; the last asked {}",
                self.describe(rank, offset)
            )
        })
    }

    /// Says what an mbarrier object holds.
    pub(super) fn describe(&self, rank: usize, offset: usize) -> String {
        let mut text = format!("the object at shared address {offset:#x}");
        if self.members.len() > 1 {
            text += &format!(" of block {rank} of the cluster");
        }
        if let Some(o) = Object::unpack(mbarrier::word(&self.members[rank].memory, offset)) {
            text += &format!(", which needs {} more arrivals and {} more bytes", o.pending, o.bytes);
        }
        text
    }
}
