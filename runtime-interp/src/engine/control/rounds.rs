//! Loops that machine code goes round lane by lane: who has left them when.
//!
//! A loop that computes and does nothing else is executed for a few lanes as long as they stay in it, then for the next ones. Nobody sees that but by what is
//! counted, and by the groups that lanes are in when they leave. Both follow from how many rounds each lane took: the loop's last branch is executed
//! here once for each round in which lanes leave, as the loop over instructions would do it.

use super::region::After;
use crate::engine::op::Op;
use crate::engine::run::Runner;
use crate::engine::warp::{State, Warp};

/// What code reports of a loop.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Rounds {
    /// Where its last branch is, and where it begins.
    pub branch: u32,
    pub head: u32,
    /// Statements of a round, and jumps back in it beside the last branch.
    pub count: u32,
    pub jumps: u32,
    /// The lanes that are still in it.
    pub live: u32,
    /// How many rounds each lane of the group took.
    pub taken: [u32; 32],
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// A group has gone round a loop, to the end of which others neither waited before it nor in it; it was chosen for being the lowest, for longer than
    /// it took.
    pub(super) fn went_round(&mut self, warp: &mut Warp, mut g: usize, rounds: Rounds) -> After {
        let Rounds { branch, head, count, jumps, live, taken } = rounds;
        let Op::Branch(target) = self.cx.program.code[branch as usize].op else {
            unreachable!("a loop ends with a branch");
        };
        // The lanes that go round again are those that branch, or the others.
        let branches = target == head;
        let exit = if branches { branch + 1 } else { target };
        let last_jump = u32::from(branches && head <= branch);
        let (mut lanes, mut done, mut parted) = (warp.groups[g].mask, 0, false);
        loop {
            let alone = warp.groups.len() == 1;
            let step = if alone { 0 } else { warp.haste };
            // The next round in which lanes leave, or the last of those that were asked for.
            let mut round = u32::MAX;
            for (lane, taken) in taken.iter().enumerate() {
                round = round.min(if lanes >> lane & 1 != 0 { *taken } else { u32::MAX });
            }
            let mut leave = 0;
            for (lane, taken) in taken.iter().enumerate() {
                leave |= u32::from(*taken == round) << lane;
            }
            leave &= lanes & !live;
            let more = round - done;
            done = round;
            let executed = u64::from(more) * u64::from(count);
            warp.executed += executed;
            warp.thread_instructions += executed * u64::from(lanes.count_ones());
            // Of the jumps of the last branch all but the last were taken by all lanes.
            let whole = if leave == 0 { more } else { more - 1 };
            warp.spin += step * (more * jumps + whole * last_jump);
            let end = if leave == 0 {
                head
            } else if leave == lanes {
                exit
            } else {
                parted = true;
                warp.groups[g].pc = branch + 1;
                let (moved, to) = if branches { (lanes & !leave, head) } else { (leave, exit) };
                warp.split(g, moved, to, State::Ready);
                let new = warp.groups.len() - 1;
                warp.reconverge(new);
                warp.spin += if to <= branch { warp.haste } else { 0 };
                let chosen = warp.choose(&mut self.turns);
                lanes &= !leave;
                debug_assert!(
                    chosen.is_some_and(|(g, _)| warp.groups[g].mask == lanes && warp.groups[g].pc == head)
                );
                g = chosen.map_or(g, |(g, _)| g);
                continue;
            };
            if !parted {
                return After::at(end, false);
            }
            warp.groups[g].pc = end;
            if leave == 0 {
                warp.chosen_before = Some(warp.groups[g].stamp);
            } else {
                warp.reconverge(g);
            }
            return After::PARTED;
        }
    }
}
