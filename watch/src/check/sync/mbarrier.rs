//! mbarrier objects: made, used and ended in order, and given as many bytes as they expect.

use super::states::State;
use super::{Block, Sync};
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Site};
use warpsmith_base::FxHashMap;
use warpsmith_interp::Program;
use warpsmith_interp::engine::{Access, AsyncOp};
use warpsmith_interp::observe::{Addresses, At, MbarrierEvent, OperationKind, shared_owner};
use warpsmith_isa::StateSpace;

/// An object that is alive.
pub(super) struct Object {
    site: Site,
    pc: u32,
    phase: bool,
    /// Phases that are over.
    phases: u64,
    /// A phase is complete, and whether anybody knows.
    complete: bool,
    tested: bool,
    /// Bytes expected, less those that came.
    bytes: i64,
}

/// What is wrong with a state that an object is tested with.
fn misplaced(state: State, rank: usize, offset: usize, object: &Object) -> Option<String> {
    if (state.rank, state.offset) != (rank, offset) {
        return Some("an mbarrier object is tested with a state of another one".into());
    }
    let age = object.phases.checked_sub(state.phase)?;
    (age > 1).then(|| format!("an mbarrier object is tested with a state of {age} phases ago"))
}

/// Bytes of an object.
const BYTES: usize = 8;

/// True if a program has objects.
pub(super) fn has_objects(program: &Program) -> bool {
    let kinds = (0..program.operations()).filter_map(|pc| program.operation(pc)).map(|o| o.kind);
    kinds.into_iter().any(|kind| matches!(kind, OperationKind::Async(AsyncOp::Mbarrier(_))))
}

impl Sync {
    /// Lanes store to shared memory, where objects that are alive must not be overwritten.
    pub(super) fn overwrite(&mut self, at: &At<'_>, access: &Access, addresses: &Addresses<'_>) {
        let Some(cluster) = self.blocks.get(self.current).map(|b| b.cluster) else { return };
        let size = usize::from(access.bytes) * usize::from(access.count);
        for lane in lanes_of(at.mask) {
            let (rank, start) = shared_owner(addresses.of(lane));
            let owner = match rank {
                Some(rank) => self.blocks.iter().position(|b| (b.cluster, b.rank) == (cluster, rank)),
                None => Some(self.current),
            };
            let Some(owner) = owner.and_then(|i| self.blocks.get_mut(i)) else { continue };
            let start = start as usize;
            let meets = |offset: usize| offset < start + size && start < offset + BYTES;
            if owner.extent.is_none_or(|(first, last)| start + size <= first || last + BYTES <= start) {
                continue;
            }
            let Some(offset) = owner.objects.keys().copied().find(|offset| meets(*offset)) else { continue };
            let Some(object) = owner.objects.remove(&offset) else { continue };
            let site =
                Site::of_lane(at, lane as u32, self.block_shape).address(StateSpace::Shared, offset as u64);
            self.add(codes::MBARRIER_MISUSE, &[at.pc, object.pc], || {
                let message = "the memory of an mbarrier object is overwritten";
                Finding::new(Checker::Sync, codes::MBARRIER_MISUSE, message, site)
                    .site(object.site)
                    .note("end the object with `mbarrier.inval` before its memory is used for something else (9.7.13.15.9)")
            });
        }
    }

    /// An operation on the object at an offset in the memory of a block of the cluster.
    pub(super) fn mbarrier(
        &mut self,
        at: &At<'_>,
        rank: usize,
        offset: usize,
        phase: bool,
        event: MbarrierEvent,
    ) {
        let site = self.site(at).address(StateSpace::Shared, offset as u64);
        let Some(cluster) = self.blocks.get(self.current).map(|b| b.cluster) else { return };
        let Some(owner) = self.blocks.iter_mut().find(|b| (b.cluster, b.rank) == (cluster, rank)) else {
            return;
        };
        if event == MbarrierEvent::Init {
            let new = Object {
                site: site.clone().role("made"),
                pc: at.pc,
                phase,
                phases: 0,
                complete: false,
                tested: false,
                bytes: 0,
            };
            let (first, last) = owner.extent.unwrap_or((offset, offset));
            owner.extent = Some((first.min(offset), last.max(offset)));
            if let Some(old) = owner.objects.insert(offset, new) {
                self.add(codes::MBARRIER_MISUSE, &[at.pc, old.pc], || {
                    let message = "an mbarrier object is made where there is one";
                    Finding::new(Checker::Sync, codes::MBARRIER_MISUSE, message, site)
                        .site(old.site)
                        .note("end the old one with `mbarrier.inval` first (9.7.13.15.9)")
                });
            }
            return;
        }
        let Some(object) = owner.objects.get_mut(&offset) else { return };
        let unnoticed = matches!(event, MbarrierEvent::Arrive(_)) && object.complete && !object.tested;
        let mut stale = None;
        match event {
            MbarrierEvent::Test { complete } => {
                stale = self.states.tested(at).and_then(|state| misplaced(state, rank, offset, object));
                object.tested |= complete;
                self.polls = if complete { 0 } else { self.polls + 1 };
            }
            MbarrierEvent::ExpectTx(bytes) => object.bytes += i64::from(bytes),
            MbarrierEvent::CompleteTx(bytes) => object.bytes -= i64::from(bytes),
            MbarrierEvent::Arrive(_) => self.states.arrived(at, State { rank, offset, phase: object.phases }),
            MbarrierEvent::Init | MbarrierEvent::Invalidate => {}
        }
        let (made, pc) = (object.site.clone(), object.pc);
        if unnoticed {
            object.tested = true;
        }
        if phase != object.phase {
            (object.phase, object.complete, object.tested, object.bytes) = (phase, true, false, 0);
            object.phases += 1;
        }
        let ended = (event == MbarrierEvent::Invalidate).then(|| owner.objects.remove(&offset)).flatten();
        if let Some(message) = stale {
            let (site, made) = (site.clone(), made.clone());
            self.add(codes::MBARRIER_MISUSE, &[at.pc, pc], || {
                Finding::new(Checker::Sync, codes::MBARRIER_MISUSE, message, site).site(made).note(
                    "a state is one that an arrival at the same object has returned, in the current phase or in the one before (9.7.13.15.16)",
                )
            });
        }
        if unnoticed {
            self.add(codes::MBARRIER_MISUSE, &[at.pc, pc], || {
                let message = "an arrival at an mbarrier object for a new phase, and nobody has waited for the last one";
                Finding::new(Checker::Sync, codes::MBARRIER_MISUSE, message, site)
                    .site(made)
                    .note("of each phase at least one test must have been answered yes before an arrival in the next (9.7.13.15.4)")
                    .warning()
            });
        }
        if let Some(object) = ended {
            self.bytes(object);
        }
    }

    /// Blocks end: none of their objects may have bytes outstanding.
    pub(super) fn all_bytes(&mut self, objects: FxHashMap<usize, Object>) {
        let mut objects: Vec<(usize, Object)> = objects.into_iter().collect();
        objects.sort_by_key(|(offset, _)| *offset);
        objects.into_iter().for_each(|(_, object)| self.bytes(object));
    }

    /// Threads wait for each other: an object that has got more bytes than it expects is why. One that lacks bytes may be a consequence.
    pub(super) fn starved(&mut self, blocks: Vec<Block>) {
        for mut block in blocks {
            block.objects.retain(|_, object| object.bytes < 0);
            self.all_bytes(block.objects);
        }
    }

    /// An object ends: no bytes may be outstanding.
    pub(super) fn bytes(&mut self, object: Object) {
        let Object { site, pc, bytes, .. } = object;
        if bytes == 0 {
            return;
        }
        self.add(codes::BYTES_MISMATCH, &[pc], || {
            let message = if bytes > 0 {
                format!("an mbarrier object ends its life expecting {bytes} more bytes")
            } else {
                format!("{} more bytes were completed on an mbarrier object than expected", -bytes)
            };
            Finding::new(Checker::Sync, codes::BYTES_MISMATCH, message, site).note(
                "`expect_tx` must name as many bytes as the asynchronous operations of the phase complete (9.7.13.15.5)",
            )
        });
    }
}
