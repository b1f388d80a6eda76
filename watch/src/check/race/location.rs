//! Places through which threads synchronise: what a read of the value there may learn (PTX ISA 9.0, 8.8 and 8.9).

use super::clock::{Agent, Knowledge};
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_interp::engine::Scope;

/// Releases that are kept apart. Past that those of wide scope are taken together.
const MOST_RELEASES: usize = 64;

/// Stands for several blocks.
pub(super) const MIXED: u32 = u32::MAX;

/// What the value at a place makes known to those who acquire it.
#[derive(Clone, Default, Debug)]
pub(super) struct Location {
    /// From the start of the line.
    pub offset: u8,
    /// How many bytes: operations of other sizes are not morally strong, and observe nothing.
    pub size: u8,
    pub releases: Vec<Release>,
    /// The number of the write that made it so, different for all places.
    pub version: u64,
}

/// The state of a place from which lanes have learned what there was to learn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Seen {
    pub version: u64,
    /// The scope of the acquiring operation; none for one that only a fence makes an acquire pattern.
    pub acquired: Option<Scope>,
}

/// A release pattern whose write the value comes from, through atomic operations perhaps.
#[derive(Clone, Debug)]
pub(super) struct Release {
    pub block: u32,
    /// The thread of the block.
    pub thread: u32,
    pub scope: Scope,
    /// When it was published: who knows of the thread up to then has learned all of it. A thread publishes once at a time.
    pub time: u32,
    pub knowledge: Arc<Knowledge>,
}

impl Release {
    /// True if nothing is to be learned from it by who knows this much: what spinning threads see again and again.
    pub fn is_known(&self, known: &Knowledge) -> bool {
        self.block != MIXED
            && known.clock.knows(self.block, (self.thread / 32) as Agent, 1 << (self.thread % 32), self.time)
    }
}

impl Location {
    /// A strong write: an atomic operation passes on what was released before, another write only what its own thread has.
    pub fn write(&mut self, atomic: bool, block: u32, thread: u32, new: SmallVec<[Release; 2]>) {
        if !atomic {
            self.releases.retain(|r| (r.block, r.thread) == (block, thread));
        }
        for release in new {
            let same = |r: &&mut Release| (r.block, r.thread, r.scope) == (block, thread, release.scope);
            match self.releases.iter_mut().find(same) {
                // What a thread knows only grows.
                Some(old) => *old = release,
                None => self.releases.push(release),
            }
        }
        if self.releases.len() > MOST_RELEASES {
            let (wide, narrow): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.releases).into_iter().partition(|r| r.scope >= Scope::Gpu);
            self.releases = narrow;
            // So many narrow ones of several blocks are not a pattern of a program.
            self.releases.truncate(MOST_RELEASES / 2);
            let mut all = Knowledge::default();
            wide.iter().for_each(|r| all.join(&r.knowledge));
            let (scope, knowledge) = (Scope::Gpu, Arc::new(all));
            self.releases.push(Release { block: MIXED, thread: 0, scope, time: 0, knowledge });
        }
    }
}
