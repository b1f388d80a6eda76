//! Threads that wait by asking memory again and again: they run, and get nowhere until another thread changes what they see.
//!
//! A warp that comes back to a state it was in, while nothing has changed that its threads can see, will do so forever: it
//! *stands still*. That is not a guess. What a warp computes depends on its own registers and local memory, on memory that other threads write, and on
//! clocks, which count as a change whenever they are read. So the scheduler need not run a warp that stands still before something changes, a host thread
//! whose clusters all stand still brings in more of them, and a grid that stands still as a whole, with nothing left to start, has come to its end.
//!
//! States are compared where turns end, with one that was kept longer and longer (Brent's way of finding a cycle). Registers are kept only of a warp that
//! came back to a place of the program while nothing changed, so a warp that does compute pays for few copies of them.

use crate::engine::context::Context;
use crate::engine::file::{Cell, Row};
use crate::engine::warp::{Activation, State, Warp};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Instructions of the first turn after a warp stood still. Turns double from there. They end at branches, so that one is an iteration of the loop in which
/// the warp waits, and two of them show that it waits still.
pub(in crate::engine) const SHORTEST_TURN: u64 = 1;
/// Warps with more bytes of local memory than this are not compared.
const MOST_LOCAL: usize = 1 << 16;

/// How often something has changed that other threads may see: by the clusters of this host thread, and by those of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::engine) struct Progress {
    pub own: u64,
    pub others: u64,
}

/// What is compared of a group of lanes.
type GroupKey = (u32, u32, u32, State);

/// The state of a warp where one of its turns ended.
#[derive(Default)]
pub(in crate::engine) struct Mark {
    at: Progress,
    executed: u64,
    groups: SmallVec<[GroupKey; 2]>,
    /// What follows is kept too: the warp came back to where these groups are.
    is_whole: bool,
    activations: Vec<Activation>,
    rows: Vec<Cell>,
    /// A row that was another when states were compared last: what counts goes on counting.
    counts: usize,
    local: Vec<u8>,
    tops: [u32; 32],
    /// How many turns it is compared with before a later one takes its place, and how many of them are left.
    lap: u32,
    left: u32,
}

/// What the scheduler knows of a warp that may be waiting.
#[derive(Default)]
pub(in crate::engine) struct Patience {
    mark: Option<Box<Mark>>,
    /// What had changed when the turn started.
    pub turn_started: Progress,
    /// What the warp had done beside instructions when the turn started.
    pub extra: u64,
    /// The warp stands still until something changes.
    pub still: Option<Progress>,
    /// The most instructions of its next turn; 0 for no bound.
    pub turn: u64,
    /// It has read memory since the mark.
    pub asks: bool,
}

impl Patience {
    /// The length of a turn, no longer than `most`.
    pub fn limit(&self, most: u64) -> u64 {
        if self.turn == 0 { most } else { most.min(self.turn) }
    }

    /// Forgets all, for a new warp. The mark keeps its room.
    pub fn restart(&mut self) {
        let mark = self.mark.take().map(|mut mark| {
            mark.lap = 0;
            mark
        });
        *self = Patience { mark, ..Patience::default() };
    }
}

impl Warp {
    /// At the end of a turn: finds whether the warp stands still.
    pub(in crate::engine) fn turn_ended(&mut self, now: Progress) {
        let patience = &mut self.patience;
        patience.still = None;
        patience.turn = patience.turn.saturating_mul(2);
        if patience.turn_started != now
            || !self.runnable()
            || self.local.bytes() + self.dynamic.bytes() > MOST_LOCAL
        {
            return;
        }
        let mut mark = self.patience.mark.take().unwrap_or_default();
        if mark.lap == 0 || mark.at != now {
            (mark.lap, mark.left) = (1, 1);
            mark.at = now;
            mark.is_whole = false;
            mark.groups = self.group_keys();
        } else if !mark.is_whole && mark.groups == self.group_keys() {
            // A loop: where it stands still, it is back in this state after an iteration.
            (mark.lap, mark.left) = (1, 1);
            self.keep(&mut mark);
            self.patience.turn = SHORTEST_TURN;
        } else if mark.is_whole && self.is_at(&mut mark) {
            self.patience.still = Some(now);
            self.patience.turn = SHORTEST_TURN;
        } else {
            mark.left -= 1;
            if mark.left == 0 {
                mark.lap = mark.lap.saturating_mul(2);
                mark.left = mark.lap;
                match mark.is_whole {
                    true => self.keep(&mut mark),
                    false => mark.groups = self.group_keys(),
                }
            }
        }
        self.patience.mark = Some(mark);
    }

    fn group_keys(&self) -> SmallVec<[GroupKey; 2]> {
        let mut keys: SmallVec<[GroupKey; 2]> =
            self.groups.iter().map(|g| (g.mask, g.pc, g.frame, g.state)).collect();
        keys.sort_unstable_by_key(|key| key.0);
        keys
    }

    fn keep(&mut self, mark: &mut Mark) {
        (mark.is_whole, mark.executed, mark.tops) = (true, self.executed, self.tops);
        mark.groups = self.group_keys();
        mark.activations.clear();
        mark.activations.extend_from_slice(self.activations());
        let rows = self.file.rows();
        mark.rows.resize(rows.len(), Row([0; 32]));
        mark.rows.copy_from_slice(rows);
        mark.local.resize(self.local.bytes() + self.dynamic.bytes(), 0);
        let (local, dynamic) = mark.local.split_at_mut(self.local.bytes());
        self.local.copy_to(local);
        self.dynamic.copy_to(dynamic);
        self.patience.asks = false;
    }

    /// All lanes that can run have run since the mark, and are where they were.
    fn is_at(&self, mark: &mut Mark) -> bool {
        let mut ready = self.groups.iter().filter(|g| g.state == State::Ready);
        let all_ran = self.executed > mark.executed
            && (self.groups.len() == 1 || ready.all(|g| g.stamp > mark.executed));
        let local = self.local.bytes();
        all_ran
            && mark.tops == self.tops
            && mark.groups == self.group_keys()
            && mark.activations == self.activations()
            && self.has_rows(mark)
            && mark.local.len() == local + self.dynamic.bytes()
            && self.local.equals(&mark.local[..local])
            && self.dynamic.equals(&mark.local[local..])
    }

    /// The registers are those of the mark. Asks first of the row that differed last time.
    fn has_rows(&self, mark: &mut Mark) -> bool {
        let rows = self.file.rows();
        if mark.rows.get(mark.counts) != rows.get(mark.counts) || mark.rows.len() != rows.len() {
            return false;
        }
        let differs = mark.rows.iter().zip(rows).position(|(before, now)| before != now);
        mark.counts = differs.unwrap_or(0);
        differs.is_none()
    }
}

/// The host threads of a launch, as far as they wait for each other.
#[derive(Default)]
pub(crate) struct Standstill {
    /// Host threads that have clusters.
    workers: AtomicU32,
    /// Counts announcements of changes.
    announced: AtomicU64,
    /// How many host threads stand still since an announcement, and which that was.
    still: Mutex<(u64, u32)>,
}

/// A host thread's part in it.
pub(in crate::engine) struct Worker<'a> {
    all: &'a Standstill,
    /// The changes that were announced, and how often.
    last: u64,
    own: u64,
    /// It has said that it stands still since this announcement.
    still: Option<u64>,
}

impl<'a> Worker<'a> {
    pub fn new(cx: &'a Context<'_>) -> Worker<'a> {
        cx.standstill.workers.fetch_add(1, Ordering::SeqCst);
        Worker { all: &cx.standstill, last: 0, own: 0, still: None }
    }

    /// Notifies the other host threads that this one has changed something.
    pub fn announce(&mut self, changes: u64) {
        if changes != self.last {
            self.last = changes;
            self.own += 1;
            self.all.announced.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// How often the other host threads have changed something.
    pub fn others(&self) -> u64 {
        self.all.announced.load(Ordering::SeqCst).wrapping_sub(self.own)
    }

    /// All clusters of this host thread stand still. True if those of all others do too.
    pub fn stands_still(&mut self, others: u64) -> bool {
        let announced = others.wrapping_add(self.own);
        let mut still = self.all.still.lock().unwrap_or_else(PoisonError::into_inner);
        if still.0 != announced {
            if still.0 > announced {
                return false;
            }
            *still = (announced, 0);
        }
        if self.still.replace(announced) != Some(announced) {
            still.1 += 1;
        }
        still.1 >= self.all.workers.load(Ordering::SeqCst)
            && self.all.announced.load(Ordering::SeqCst) == announced
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.all.workers.fetch_sub(1, Ordering::SeqCst);
    }
}
