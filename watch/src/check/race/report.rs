//! The report of a race.

use super::Race;
use super::accesses::Target;
use super::shadow::{Conflict, LINE, Manner, Record};
use crate::codes;
use crate::report::{Checker, Finding, Site};
use warpsmith_interp::observe::At;
use warpsmith_isa::{Opcode, ScalarType, StateSpace, TypeClass};

impl Race {
    /// Reports the conflicts that an access to a line was found to have.
    #[cold]
    pub(super) fn report_conflicts(&mut self, at: &At<'_>, target: Target) {
        for conflict in std::mem::take(&mut self.conflicts) {
            let (old, new) = (conflict.old, conflict.new);
            // The same instruction of the same warp at the same time: the lanes do it together.
            let together =
                old.pc == new.pc && (old.block, old.agent, old.time) == (new.block, new.agent, new.time);
            if together && !is_async(&new) {
                let lanes = old.lanes | new.lanes;
                self.together(at, target, conflict, lanes);
                continue;
            }
            let store = |r: &Record| r.manner == Manner { writes: true, ..Manner::default() } && !is_async(r);
            if target.memory.is_some() && store(&old) && store(&new) {
                self.after_store(at, target, conflict);
            } else {
                self.tell_of(at, target, conflict);
            }
        }
    }

    /// Reports one conflict.
    #[cold]
    pub(super) fn tell_of(&mut self, at: &At<'_>, target: Target, conflict: Conflict) {
        let (old, new) = (conflict.old, conflict.new);
        let both_strong = old.manner.strong.is_some() && new.manner.strong.is_some();
        let both_atomic = old.manner.atomic && new.manner.atomic;
        let code = if both_atomic && old.size != new.size {
            codes::MIXED_SIZE_RACE
        } else if conflict.unfenced {
            codes::PROXY_RACE
        } else if is_async(&old) || is_async(&new) {
            codes::ASYNC_RACE
        } else if both_strong && old.size != new.size {
            codes::MIXED_SIZE_RACE
        } else if both_strong {
            codes::SCOPE_RACE
        } else {
            codes::DATA_RACE
        };
        if both_strong && old.size != new.size && self.packed(at, &old, &new) {
            return;
        }
        // Compilers reuse the word of an address that was read behind a barrier, without a proxy fence.
        if conflict.unfenced && self.allocates(at, &old) {
            return;
        }
        // The same two instructions the other way round are the same race.
        let pcs = [old.pc.min(new.pc), old.pc.max(new.pc)];
        let space = if target.memory.is_some() { "shared" } else { "global" };
        let verb = |r: &Record| match (r.manner.writes, r.manner.atomic, is_async(r)) {
            (_, true, true) => "an asynchronous reduction",
            (true, _, true) => "an asynchronous write",
            (false, _, true) => "an asynchronous read",
            (_, true, false) => "an atomic operation",
            (true, ..) => "a write",
            (false, ..) => "a read",
        };
        let first =
            self.site(at, target, &old, conflict.old_lane, conflict.byte).role("earlier, not ordered");
        let second = self.site(at, target, &new, conflict.new_lane, conflict.byte);
        let message = format!("{} races with {} in {space} memory", verb(&new), verb(&old));
        let note = match code {
            codes::DATA_RACE if self.has_read_release(&conflict) => UNACQUIRED.into(),
            _ => note(code, &conflict),
        };
        self.report
            .add(code, &pcs, 1, || Finding::new(Checker::Race, code, message, second).site(first).note(note));
    }

    /// True of the store by which `tcgen05.alloc` returns the address.
    fn allocates(&self, at: &At<'_>, record: &Record) -> bool {
        at.program.instruction(record.pc).is_some_and(|i| i.opcode() == Opcode::Tcgen05Alloc)
    }

    /// Lanes of one instruction write the same bytes, and not the same values.
    pub(super) fn tell_together(&mut self, at: &At<'_>, target: Target, conflict: Conflict) {
        let Conflict { old, new, .. } = conflict;
        let space = if target.memory.is_some() { "shared" } else { "global" };
        let first = self.site(at, target, &old, conflict.old_lane, conflict.byte).role("by another thread");
        let second = self.site(at, target, &new, conflict.new_lane, conflict.byte);
        self.report.add(codes::SAME_WRITE, &[new.pc], 1, || {
            let message = format!(
                "threads of a warp write different values to the same {space} bytes with one instruction"
            );
            Finding::new(Checker::Race, codes::SAME_WRITE, message, second)
                .site(first)
                .note("which of the values stays is left open")
                .warning()
        });
    }

    /// True if a thread of the later one's block has read what was released after the earlier access, without acquiring it.
    fn has_read_release(&self, conflict: &Conflict) -> bool {
        let Conflict { old, new, old_lane, .. } = conflict;
        let block = self.blocks.iter().find(|block| block.number == new.block);
        let mut pending = block.into_iter().flat_map(|block| &block.warps).flat_map(|warp| &warp.pending);
        pending.any(|p| p.knowledge.clock.knows(old.block, old.agent, 1 << old_lane, old.time))
    }

    /// Packed types are pairs of scalars (8.2.5), which overlap completely with the scalars.
    fn packed(&self, at: &At<'_>, old: &Record, new: &Record) -> bool {
        let is_pair = |ty: ScalarType| ty.class() == TypeClass::Packed;
        [old, new].iter().any(|r| at.program.instruction(r.pc).is_some_and(|i| i.types().any(is_pair)))
    }

    pub(super) fn site(&self, at: &At<'_>, target: Target, record: &Record, lane: u32, byte: u32) -> Site {
        let [x, y, _] = self.clusters.grid.map(|n| n.max(1));
        let home = record.home;
        let block = [home % x, home / x % y, home / x / y];
        let at =
            At { pc: record.pc, block, warp: record.warp.into(), mask: 1 << lane, group: 1 << lane, ..*at };
        let space = if target.memory.is_some() { StateSpace::Shared } else { StateSpace::Global };
        let address = target.line * LINE + u64::from(byte);
        let mut site = Site::of_lane(&at, lane, self.block_shape).address(space, address);
        site.memory = self.map.holding(space, address).map(|p| p.relation(address, 1));
        if let Some(owner) = target.memory.and_then(|i| self.blocks.get(i))
            && owner.id != block
        {
            let [a, b, c] = owner.id;
            let nearby = site.memory.get_or_insert_default();
            put!(nearby.text, ", in the shared memory of block ({a}, {b}, {c})");
        }
        site
    }
}

const UNACQUIRED: &str = "a thread of the later one's block has read what was released after the earlier access, but acquired nothing: \
     `.acquire` on that read or a fence behind it is missing";

fn is_async(record: &Record) -> bool {
    record.agent >= super::clock::FIRST_ASYNC
}

/// How to read it.
fn note(code: &str, conflict: &Conflict) -> String {
    let Conflict { old, new, .. } = conflict;
    match code {
        codes::PROXY_RACE if new.manner.map => "the tensor map was written by ordinary stores, which the tensormap proxy need not see: \
             `fence.proxy.tensormap::generic.acquire` of its 128 bytes is missing in the thread that uses it"
            .into(),
        codes::PROXY_RACE => "the bytes were written by ordinary stores, which the async proxy need not see: \
             `fence.proxy.async` is missing between them and the bulk operation"
            .into(),
        codes::ASYNC_RACE if is_async(old) => "nothing waits for the asynchronous operation before this: its own group with `wait_group` and then a \
             barrier for other threads, or its mbarrier object with `try_wait`"
            .into(),
        codes::ASYNC_RACE => "the asynchronous operation goes on after its instruction; the other access is neither ordered before that \
             instruction nor after a wait for its completion"
            .into(),
        codes::SCOPE_RACE => "both are strong, but the scope of one does not include the thread of the other".into(),
        codes::MIXED_SIZE_RACE => format!(
            "both are strong, but one accesses {} bytes and the other {}: they overlap only in part (8.7.2)",
            new.size, old.size
        ),
        _ if old.block == new.block && old.agent == new.agent => {
            "both threads are of one warp, which does not order them: `bar.warp.sync` between the two does".into()
        }
        _ if old.block == new.block => {
            "no barrier of the block lies between the two, and no release that the later thread has acquired".into()
        }
        _ => "the blocks of a grid are ordered only by releases and acquires of sufficient scope, or by the end of the launch"
            .into(),
    }
}
