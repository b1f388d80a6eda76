//! Which threads go on: the order of turns, a pure function of the schedule and the seed.
//!
//! The engine asks at four places: which of the resident clusters runs, which of its blocks, which warp of the block and
//! for how long, and which group of the warp's lanes. Without a schedule the answers are those that run fastest, and turns end
//! only at backward jumps; with one, a turn may end before any instruction.

use crate::engine::warp::{State, Warp};
use std::fmt;
use std::str::FromStr;
use warpsmith_base::SplitMix64;

/// In which order the threads of a launch take turns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// Warps and groups of diverged lanes go in circles, 32 instructions each.
    RoundRobin,
    /// Any warp may go next, for up to 256 instructions; any group of diverged lanes; asynchronous copies take any time. The seed decides.
    Random,
    /// Few threads run as far as they can while all others stand still, with a change of who runs at few places (random
    /// priorities with random change points); asynchronous copies are done at once or not before someone waits for them. The seed
    /// decides.
    Adversarial,
    /// Those who are furthest behind in the program go next, one instruction at a time: threads stay together as long as they can.
    LowestPc,
}

impl Schedule {
    /// All of them.
    pub const ALL: [Schedule; 4] =
        [Schedule::RoundRobin, Schedule::Random, Schedule::Adversarial, Schedule::LowestPc];

    /// Its name on the command line and in launch descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Schedule::RoundRobin => "round-robin",
            Schedule::Random => "random",
            Schedule::Adversarial => "adversarial",
            Schedule::LowestPc => "lowest-pc",
        }
    }

    /// True if other seeds give other interleavings.
    pub const fn is_seeded(self) -> bool {
        matches!(self, Schedule::Random | Schedule::Adversarial)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let found = Schedule::ALL.into_iter().find(|s| s.name() == text);
        found
            .ok_or_else(|| format!("`{text}` is not one of {}", Schedule::ALL.map(Schedule::name).join(", ")))
    }
}

/// Instructions of a turn under [`Schedule::RoundRobin`].
const ROUND_ROBIN_TURN: u64 = 32;
/// A warp that has executed so many instructions more than another does not go first any more, however much a schedule
/// favours it: it may be waiting for the other.
const LEAD: u32 = 14;
/// A delay of asynchronous operations that ends when someone waits for them.
const FOREVER: u64 = 1 << 40;

/// Answers the questions of the scheduler.
pub(in crate::engine) struct Turns {
    schedule: Option<Schedule>,
    random: SplitMix64,
    /// Under [`Schedule::Adversarial`], which priorities hold.
    epoch: u64,
}

impl Turns {
    /// A seed alone asks for random turns.
    pub fn new(schedule: Option<Schedule>, seed: Option<u64>) -> Turns {
        let schedule = schedule.or(seed.map(|_| Schedule::Random));
        Turns { schedule, random: SplitMix64::new(seed.unwrap_or(0)), epoch: 0 }
    }

    /// A turn may end before any instruction.
    pub fn preempts(&self) -> bool {
        self.schedule.is_some()
    }

    fn priority(&self, of: u64) -> u64 {
        SplitMix64::new(self.epoch.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of).next()
    }

    /// Instructions of a cluster's turn, of those that `usual` are without a schedule.
    pub fn slice(&mut self, usual: u64) -> u64 {
        match self.schedule {
            None => usual,
            Some(Schedule::RoundRobin | Schedule::LowestPc) => 1,
            Some(Schedule::Random) => self.long_or_short(11),
            Some(Schedule::Adversarial) => self.long_or_short(14),
        }
    }

    /// Which of so many resident clusters is next.
    pub fn cluster(&mut self, count: usize) -> usize {
        match self.schedule {
            Some(Schedule::Random | Schedule::Adversarial) => self.random.below(count as u32) as usize,
            _ => 0,
        }
    }

    /// Which of the blocks of a cluster is first.
    pub fn block(&mut self, count: usize) -> usize {
        match self.schedule {
            Some(Schedule::Random) if count > 1 => self.random.below(count as u32) as usize,
            Some(Schedule::Adversarial) => (self.priority(u64::MAX) % count.max(1) as u64) as usize,
            _ => 0,
        }
    }

    /// Only one block of a cluster and one warp has a turn before the question is asked again.
    pub fn is_singular(&self) -> bool {
        self.schedule == Some(Schedule::Adversarial)
    }

    /// Warps have their turns in the order of their numbers.
    pub fn in_order(&self) -> bool {
        matches!(self.schedule, None | Some(Schedule::RoundRobin))
    }

    /// The warp that is next among those that can run; `from` on, if they go in order.
    #[inline]
    pub fn warp(&mut self, warps: &[Warp], rank: usize, from: usize) -> Option<usize> {
        // Turns are short where warps meet at barriers.
        match self.schedule {
            None => (from..warps.len()).find(|w| warps[*w].runnable()),
            Some(_) => self.scheduled_warp(warps, rank, from),
        }
    }

    fn scheduled_warp(&mut self, warps: &[Warp], rank: usize, from: usize) -> Option<usize> {
        let mut ready = (0..warps.len()).filter(|w| warps[*w].runnable());
        match self.schedule {
            None | Some(Schedule::RoundRobin) => (from..warps.len()).find(|w| warps[*w].runnable()),
            Some(Schedule::Random) => {
                let count = ready.clone().count() as u32;
                ready.nth(self.random.below(count) as usize)
            }
            Some(Schedule::Adversarial) => ready
                .min_by_key(|w| (warps[*w].executed >> LEAD, self.priority((rank as u64) << 32 | *w as u64))),
            Some(Schedule::LowestPc) => {
                ready.min_by_key(|w| (warps[*w].executed >> LEAD, warps[*w].furthest_behind(), *w))
            }
        }
    }

    /// The most instructions of a warp's turn.
    pub fn turn(&mut self) -> u64 {
        match self.schedule {
            None => u64::MAX,
            Some(Schedule::RoundRobin) => ROUND_ROBIN_TURN,
            Some(Schedule::Random) => self.long_or_short(9),
            Some(Schedule::Adversarial) => self.long_or_short(11),
            Some(Schedule::LowestPc) => 1,
        }
    }

    /// A turn has ended, perhaps with a question that was answered no.
    pub fn turn_ended(&mut self, in_vain: bool) {
        if self.schedule == Some(Schedule::Adversarial) && (in_vain || self.random.below(2) == 0) {
            self.epoch += 1;
        }
    }

    /// The group of a warp of several groups that is next, and for how many instructions; `None` leaves it to the engine.
    pub fn group(&mut self, warp: &Warp) -> Option<(usize, u64)> {
        let mut ready = warp.groups.iter().enumerate().filter(|(_, g)| g.state == State::Ready);
        match self.schedule? {
            Schedule::RoundRobin => {
                let (next, _) = ready.min_by_key(|(_, g)| (g.stamp, g.pc))?;
                Some((next, ROUND_ROBIN_TURN))
            }
            Schedule::Random => {
                let (any, turn) = (self.random.next(), u64::from(self.random.below(64)));
                if self.random.below(4) != 0 {
                    return None;
                }
                let count = ready.clone().count();
                Some((ready.nth(any as usize % count.max(1))?.0, turn))
            }
            Schedule::Adversarial => {
                let key = |g: &crate::engine::warp::Group| {
                    self.priority(1 << 63 | u64::from(warp.index) << 8 | u64::from(g.mask.trailing_zeros()))
                };
                let (next, _) = ready.min_by_key(|(_, g)| key(g))?;
                Some((next, self.long_or_short(10)))
            }
            Schedule::LowestPc => None,
        }
    }

    /// How long an asynchronous operation takes to read, and to be done.
    pub fn delay(&mut self, usual: u64) -> (u64, u64) {
        let r = &mut self.random;
        let after = match self.schedule {
            Some(Schedule::Random) => match r.below(4) {
                0 => 0,
                1 => u64::from(r.below(64)),
                2 => u64::from(r.below(1 << 11)),
                _ => u64::from(r.below(1 << 15)),
            },
            Some(Schedule::Adversarial) if r.below(4) == 0 => 0,
            Some(Schedule::Adversarial) => FOREVER,
            _ => return (usual, usual),
        };
        (if r.below(2) == 0 { after } else { u64::from(r.below(after.min(1 << 20) as u32 + 1)) }, after)
    }

    /// A question that may be answered no at once is.
    pub fn is_impatient(&mut self) -> bool {
        self.schedule.is_some_and(Schedule::is_seeded) && self.random.below(8) == 0
    }

    fn long_or_short(&mut self, most: u32) -> u64 {
        let bits = self.random.below(most);
        1 + u64::from(self.random.below(1 << bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for schedule in Schedule::ALL {
            assert_eq!(schedule.name().parse(), Ok(schedule));
        }
        assert!(
            "fifo".parse::<Schedule>().unwrap_err().contains("round-robin, random, adversarial, lowest-pc")
        );
    }
}
