//! Loops to whose beginning several jumps go back, such as the loop of an interpreter, whose cases each end with a jump to where the next instruction
//! is fetched.
//!
//! Where a loop has one jump back, lanes that took different ways meet before it: they stand lower in the program than it does. Where it has several there is no such
//! place; who comes back first would be the lowest, and go round again without the others. So who comes back waits, in order of choice, behind the loop's end.
//!
//! Then they part again, which costs as much as executing several instructions. So it is done for loops that are long for the number of their jumps back.

use super::Program;
use crate::engine::op::Op;
use rustc_hash::FxHashMap;

/// Instructions that a loop has for each jump back, at least. With 8 it does not pay, with 16 it does (docs/performance.md, Engine).
const LEAST: u32 = 12;

impl Program {
    /// Finds the beginnings of such loops, once targets are known.
    pub(in crate::engine) fn find_rounds(&mut self) {
        // The jump that goes back there last, and how many do.
        let mut jumps: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        for (pc, inst) in (0..).zip(&self.code) {
            let targets = match &inst.op {
                Op::Branch(target) => std::slice::from_ref(target),
                Op::Switch { targets, .. } => targets.of(&self.targets),
                Op::Lanes(..)
                | Op::Load(..)
                | Op::LoadVector(..)
                | Op::Store(..)
                | Op::StoreVector(..)
                | Op::Nop
                | Op::Special(..)
                | Op::StackAddress { .. }
                | Op::Region(_)
                | Op::Atomic(_)
                | Op::ActiveMask(_)
                | Op::Collective(_)
                | Op::Barrier(_)
                | Op::Call(_)
                | Op::Ret
                | Op::Exit
                | Op::Trap
                | Op::Fence(_)
                | Op::System(_)
                | Op::Stack(_)
                | Op::Yield
                | Op::Async(_)
                | Op::Matrix(_)
                | Op::Texture(_) => continue,
            };
            for target in targets.iter().filter(|target| **target <= pc) {
                let (last, count) = jumps.entry(*target).or_insert((pc, 1));
                *count += u32::from(*last != pc);
                *last = pc;
            }
        }
        let pays =
            |&(head, (last, count)): &(u32, (u32, u32))| count > 1 && (last + 1 - head) / LEAST >= count;
        self.rounds = jumps.into_iter().filter(pays).map(|(head, (last, _))| (head, last + 1)).collect();
        self.rounds.sort_unstable();
    }

    /// The end of the loop to whose beginning a jump back has come, if several jumps go there.
    pub(in crate::engine) fn round_end(&self, head: u32) -> Option<u32> {
        if self.rounds.is_empty() {
            return None;
        }
        let n = self.rounds.binary_search_by_key(&head, |(head, _)| *head).ok()?;
        self.rounds.get(n).map(|(_, end)| *end)
    }

    /// The same if others are from this place on; else 0.
    #[inline(always)]
    pub(in crate::engine) fn round_to_wait_for(&self, head: u32, from: u32) -> u32 {
        if from == u32::MAX {
            return 0;
        }
        self.round_end(head).filter(|end| from < *end).unwrap_or(0)
    }
}
