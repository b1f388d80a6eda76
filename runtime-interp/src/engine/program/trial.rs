//! Whether machine code that was just made is worth having: turns of warps are timed with it and without it.
//!
//! What a region gains depends on what its lanes do: how many are together, where they access memory, how soon they leave it. None of that is known
//! before, so the code is on trial at first: each turn is executed with it or without it, as a random number decides, and what an instruction took is
//! noted by the place where the turn began, since turns that begin elsewhere do other work. A region that is not faster is interpreted from then on. Results
//! do not depend on it.

use super::native::Fast;
use std::sync::Arc;
use std::time::Duration;
use warpsmith_base::{FxHashMap, SplitMix64};

/// Turns of each kind that are timed at least, and the instructions of these.
const TURNS: usize = 24;
const INSTRUCTIONS: u64 = 250_000;
/// Turns until a trial is over whatever they were; so often it is asked whether they were enough.
const LONGEST: u32 = 1 << 15;
const CHECKED: u32 = 16;

/// Turns that began at one place, without the code on trial or with it.
#[derive(Default, Debug)]
struct Timed {
    /// Nanoseconds of an instruction of the warp, and how many there were.
    rates: Vec<(f64, u64)>,
    instructions: u64,
}

impl Timed {
    /// Half of the instructions took less: what the host did meanwhile lengthens some turns a hundredfold, and turns of few instructions, such as those
    /// of a warp that seems to wait, say little of the others.
    fn median(&self) -> Option<f64> {
        let mut rates = self.rates.clone();
        rates.sort_unstable_by(|(x, _), (y, _)| x.total_cmp(y));
        let mut before = 0;
        let middle = rates.into_iter().find(|(_, instructions)| {
            before += instructions;
            2 * before >= self.instructions
        });
        middle.map(|(rate, _)| rate)
    }
}

/// A trial of the regions from one number on.
pub(in crate::engine) struct Trial {
    /// The version of the code that is on trial.
    pub version: u32,
    /// The first region on trial.
    pub first: u32,
    /// Without them and with them.
    code: [Arc<Fast>; 2],
    places: FxHashMap<u32, [Timed; 2]>,
    turns: u32,
    random: SplitMix64,
}

impl std::fmt::Debug for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial")
            .field("version", &self.version)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

impl Trial {
    pub fn new(version: u32, first: u32, code: [Arc<Fast>; 2]) -> Trial {
        Trial { version, first, code, places: FxHashMap::default(), turns: 0, random: SplitMix64::new(0) }
    }

    /// The code without what is on trial.
    pub fn without(&self) -> Arc<Fast> {
        self.code[0].clone()
    }

    /// Whether the next turn is executed with it, and by which code.
    pub fn next(&mut self) -> (bool, Arc<Fast>) {
        let with = self.random.below(2) != 0;
        (with, self.code[usize::from(with)].clone())
    }

    /// Notes a turn: where it began, whether it was one with the code, what it executed and how long it took. True when the trial is over.
    pub fn note(&mut self, place: u32, with: bool, instructions: u64, took: Duration) -> bool {
        if instructions > 0 {
            let timed = &mut self.places.entry(place).or_default()[usize::from(with)];
            timed.rates.push((took.as_nanos() as f64 / instructions as f64, instructions));
            timed.instructions += instructions;
        }
        self.pass()
    }

    /// Lets a turn pass of which nothing is noted, as it had nothing to do with the code. True when the trial is over.
    pub fn pass(&mut self) -> bool {
        self.turns += 1;
        self.turns >= LONGEST || self.turns.is_multiple_of(CHECKED) && self.is_decided()
    }

    /// Places where turns of both kinds have begun, the latter of which came to a region on trial.
    fn compared(&self) -> impl Iterator<Item = &[Timed; 2]> {
        self.places.values().filter(|kinds| kinds.iter().all(|timed| !timed.rates.is_empty()))
    }

    fn is_decided(&self) -> bool {
        [0, 1].into_iter().all(|kind| {
            let sums = self.compared().map(|kinds| (kinds[kind].rates.len(), kinds[kind].instructions));
            let (turns, instructions) = sums.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            turns >= TURNS && instructions >= INSTRUCTIONS
        })
    }

    /// True unless turns took longer with the code: each place counts by the instructions that were timed both ways.
    pub fn gains(&self) -> bool {
        let mut sums = [0.0; 2];
        for kinds in self.compared() {
            let [Some(without), Some(with)] = [&kinds[0], &kinds[1]].map(Timed::median) else { continue };
            let weight = kinds[0].instructions.min(kinds[1].instructions) as f64;
            sums[0] += weight * without;
            sums[1] += weight * with;
        }
        sums[1] <= sums[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial in which an instruction takes so many nanoseconds without the code and with it, at two places, and some turns are interrupted.
    fn trial(without: [u64; 2], with: [u64; 2]) -> (bool, u32) {
        let mut trial = Trial::new(1, 0, [(); 2].map(|()| Arc::default()));
        loop {
            let (is_with, _) = trial.next();
            let place = trial.turns / 3 % 2;
            let each = if is_with { with } else { without }[place as usize];
            let interrupted = if trial.turns % 7 == 3 { 5_000_000 } else { 0 };
            let took = Duration::from_nanos(10_000 * each + interrupted);
            if trial.note(place, is_with, 10_000, took) {
                return (trial.gains(), trial.turns);
            }
        }
    }

    #[test]
    fn the_faster_one_wins() {
        assert!(trial([4, 40], [3, 30]).0);
        assert!(!trial([3, 30], [4, 40]).0);
        assert!(trial([4, 40], [2, 41]).0);
        assert!(!trial([4, 40], [3, 44]).0);
        // Enough of both kinds is soon there.
        assert!(trial([4, 40], [3, 30]).1 < 400);
    }

    /// Turns of a warp that seems to wait are short: what it takes to come to the code is not what it gains.
    #[test]
    fn short_turns_say_little() {
        let mut trial = Trial::new(1, 0, [(); 2].map(|()| Arc::default()));
        for turn in 0u64.. {
            let (with, _) = trial.next();
            let instructions = if turn % 3 == 0 { 16_000 } else { 9 };
            let took = if with { 200 + instructions } else { 50 + 3 * instructions };
            if trial.note(0, with, instructions, Duration::from_nanos(took)) {
                break;
            }
        }
        assert!(trial.gains());
    }

    #[test]
    fn turns_elsewhere_say_nothing() {
        let mut trial = Trial::new(1, 0, [(); 2].map(|()| Arc::default()));
        let mut turns = 0;
        loop {
            let (with, _) = trial.next();
            // The code is never come to; what is interpreted is slow at one place that has nothing to do with it.
            let over = if with { trial.pass() } else { trial.note(9, false, 1000, Duration::from_millis(1)) };
            turns += 1;
            if over {
                break;
            }
        }
        assert_eq!(turns, LONGEST);
        assert!(trial.gains(), "kept, since nothing is known against it");
    }
}
