//! mbarrier objects, and operations that complete on them.

use super::Race;
use super::accesses::Target;
use super::clock::Knowledge;
use super::ordering::is_relaxed;
use super::shadow::{LINE, Manner, span};
use warpsmith_interp::engine::{AsyncOp, Scope};
use warpsmith_interp::observe::{At, MbarrierEvent, OperationKind};
use warpsmith_isa::Mod;

impl Race {
    pub(super) fn mbarrier(
        &mut self,
        at: &At<'_>,
        rank: usize,
        offset: u64,
        phase: bool,
        event: MbarrierEvent,
    ) {
        if !self.select(at.block) {
            return;
        }
        let Some(owner) = self.member(rank) else { return };
        if let Some(OperationKind::Async(op)) = at.program.operation(at.pc).map(|o| o.kind) {
            match op {
                AsyncOp::ArriveOnCopies { .. } | AsyncOp::TensorCommit(_) => {
                    self.arriving.push((owner, offset, phase));
                    return;
                }
                // An asynchronous operation says that its bytes are there.
                AsyncOp::Transfer(_) | AsyncOp::Tensor(_)
                    if matches!(event, MbarrierEvent::CompleteTx(_)) =>
                {
                    self.completed(at, owner, offset, phase);
                    return;
                }
                AsyncOp::Transfer(_)
                | AsyncOp::Tensor(_)
                | AsyncOp::ReplaceField(_)
                | AsyncOp::TensorMemory(_)
                | AsyncOp::TensorCopy(_)
                | AsyncOp::TensorProduct(_)
                | AsyncOp::Mbarrier(_)
                | AsyncOp::Commit(_)
                | AsyncOp::Wait { .. }
                | AsyncOp::ClusterArrive
                | AsyncOp::ClusterWait
                | AsyncOp::Fill { .. }
                | AsyncOp::Discard { .. }
                | AsyncOp::Multimem(_)
                | AsyncOp::Mark { .. } => {}
            }
        }
        let relaxed = is_relaxed(at);
        // The object is memory, too: those who use it must know that it was made. Its end is one of its operations: the lanes that libcu++
        // counts together by `match` before one of them ends the object are not ordered by that, and no harm comes of it.
        self.touch_object(at, owner, offset, (event != MbarrierEvent::Init).then_some(Scope::Sys));
        match event {
            MbarrierEvent::Init => {
                let object = self.blocks[owner].object(offset);
                (object.phase, object.gathering) = (false, Knowledge::default());
            }
            MbarrierEvent::Arrive(_) => {
                // An arrival from another block must say so, if it names a scope.
                let narrow = owner != self.current && at.instruction().is_some_and(|i| i.has(Mod::Cta));
                let known =
                    (!relaxed && !narrow).then(|| self.blocks[self.current].current(at.warp, at.mask));
                let owner_number = self.blocks[owner].number;
                let object = self.blocks[owner].object(offset);
                known.iter().for_each(|k| object.gathering.join(k));
                object.settle(owner_number, phase);
                self.blocks[self.current].now += 1;
            }
            MbarrierEvent::Test { complete: true } if !relaxed => {
                let complete = self.blocks[owner].object(offset).complete.clone();
                if let Some(warp) = self.blocks[self.current].warps.get_mut(at.warp as usize) {
                    warp.learn(at.mask, &complete);
                }
            }
            MbarrierEvent::Test { .. }
            | MbarrierEvent::Invalidate
            | MbarrierEvent::ExpectTx(_)
            | MbarrierEvent::CompleteTx(_) => {
                let number = self.blocks[owner].number;
                self.blocks[owner].object(offset).settle(number, phase);
            }
        }
    }

    pub(super) fn touch_object(&mut self, at: &At<'_>, owner: usize, offset: u64, strong: Option<Scope>) {
        let Some(block) = self.blocks.get(self.current) else { return };
        let manner = Manner { writes: true, strong, atomic: strong.is_some(), ..Manner::default() };
        let record = block.record(at, span((offset % LINE) as i64, 8), 8, manner);
        self.touch(at, Target { memory: Some(owner), line: offset / LINE }, record);
    }
}
