//! What a thread knows to have happened: vector clocks, compressed for blocks of threads.
//!
//! Time is counted per block: a count goes up whenever something in the block publishes what it knows. An access is stamped with the time at
//! which it was made, and is known to whoever knows its thread up to that time.

use smallvec::SmallVec;

/// Who accesses memory in a block: its warps by number, below [`FIRST_ASYNC`], and what works for its threads asynchronously.
pub(super) type Agent = u16;

/// Agents from here on are not threads. The first are those of each warp's groups; further ones of mbarrier objects.
pub(super) const FIRST_ASYNC: Agent = 32;
/// What a warp's `cp.async` do, what its bulk operations write, what these read, and what its products of matrices read.
pub(super) const COPIES: Agent = 32;
pub(super) const BULK: Agent = 64;
pub(super) const BULK_READS: Agent = 96;
pub(super) const PRODUCTS: Agent = 128;
/// The first that belongs to an mbarrier object.
pub(super) const OBJECTS: Agent = 160;

/// What is known of a block.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Known {
    block: u32,
    /// All its threads are known up to this time.
    all: u32,
    /// Lanes of agents that are known further: of one agent no lane is in two of them.
    more: SmallVec<[(Agent, u32, u32); 2]>,
}

/// A vector clock.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Clock {
    /// Sorted by block.
    blocks: SmallVec<[Known; 1]>,
}

impl Known {
    fn add(&mut self, agent: Agent, mut lanes: u32, time: u32) {
        if agent < FIRST_ASYNC && time <= self.all {
            return;
        }
        self.more.retain(|(other, theirs, at)| {
            if *other == agent {
                if *at >= time {
                    lanes &= !*theirs;
                } else {
                    *theirs &= !lanes;
                }
            }
            *theirs != 0
        });
        if lanes == 0 {
            return;
        }
        match self.more.iter_mut().find(|(other, _, at)| (*other, *at) == (agent, time)) {
            Some((_, theirs, _)) => *theirs |= lanes,
            None => self.more.push((agent, lanes, time)),
        }
    }

    fn raise(&mut self, all: u32) {
        if all > self.all {
            self.all = all;
            self.more.retain(|(agent, _, time)| *agent >= FIRST_ASYNC || *time > all);
        }
    }
}

impl Clock {
    #[inline]
    fn find(&self, block: u32) -> Result<usize, usize> {
        match self.blocks.as_slice() {
            [known] if known.block == block => Ok(0),
            blocks => blocks.binary_search_by_key(&block, |known| known.block),
        }
    }

    fn entry(&mut self, block: u32) -> &mut Known {
        let i = self.find(block).unwrap_or_else(|i| {
            self.blocks.insert(i, Known { block, ..Known::default() });
            i
        });
        &mut self.blocks[i]
    }

    /// True if accesses at this time of all these lanes are known.
    #[inline]
    pub fn knows(&self, block: u32, agent: Agent, lanes: u32, time: u32) -> bool {
        let Ok(i) = self.find(block) else { return false };
        let known = &self.blocks[i];
        if agent < FIRST_ASYNC && time <= known.all {
            return true;
        }
        let of = |m: &&(Agent, u32, u32)| m.0 == agent && m.2 >= time;
        lanes & !known.more.iter().filter(of).fold(0, |lanes, m| lanes | m.1) == 0
    }

    /// Learns of lanes of an agent up to a time.
    pub fn add(&mut self, block: u32, agent: Agent, lanes: u32, time: u32) {
        self.entry(block).add(agent, lanes, time);
    }

    /// Learns of all threads of a block up to a time.
    pub fn raise(&mut self, block: u32, time: u32) {
        self.entry(block).raise(time);
    }

    /// Learns all that another knows.
    pub fn join(&mut self, other: &Clock) {
        if self.blocks.is_empty() {
            *self = other.clone();
            return;
        }
        for theirs in &other.blocks {
            let own = self.entry(theirs.block);
            own.raise(theirs.all);
            for (agent, lanes, time) in &theirs.more {
                own.add(*agent, *lanes, *time);
            }
        }
    }
}

/// What has happened before a point, and what of it a proxy fence has made known to the async proxy.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Knowledge {
    pub clock: Clock,
    /// By the space of the memory: a fence may name one.
    pub fenced_global: Clock,
    pub fenced_shared: Clock,
    /// What a fence has made known to the tensormap proxy.
    pub mapped: Clock,
}

impl Knowledge {
    pub fn join(&mut self, other: &Knowledge) {
        self.clock.join(&other.clock);
        self.fenced_global.join(&other.fenced_global);
        self.fenced_shared.join(&other.fenced_shared);
        self.mapped.join(&other.mapped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_known_up_to_their_own_times() {
        let mut clock = Clock::default();
        clock.raise(7, 3);
        clock.add(7, 2, 0b1, 5);
        assert!(clock.knows(7, 9, u32::MAX, 3));
        assert!(clock.knows(7, 2, 0b1, 5));
        assert!(!clock.knows(7, 2, 0b11, 5));
        assert!(!clock.knows(6, 2, 0b1, 1));
        clock.add(7, 2, 0b10, 6);
        assert!(clock.knows(7, 2, 0b11, 5) && !clock.knows(7, 2, 0b11, 6));
        // An agent that is not a thread is not among all threads.
        assert!(!clock.knows(7, COPIES, 0b1, 1));
    }

    #[test]
    fn joining_keeps_the_later_times() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.raise(1, 4);
        a.add(1, 0, 0b11, 9);
        b.add(1, 0, 0b01, 12);
        b.add(1, 3, 0b1, 2);
        b.raise(2, 1);
        a.join(&b);
        assert!(a.knows(1, 0, 0b01, 12) && !a.knows(1, 0, 0b10, 10) && a.knows(1, 0, 0b11, 9));
        assert!(a.knows(1, 3, 0b1, 4) && a.knows(2, 31, 1, 1));
        let mut c = Clock::default();
        c.join(&a);
        assert_eq!(c, a);
        // What all threads are known for needs no entries.
        c.raise(1, 20);
        let mut d = Clock::default();
        d.raise(1, 20);
        d.raise(2, 1);
        assert_eq!(c, d);
    }
}
