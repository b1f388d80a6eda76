//! What is remembered of accesses: for each 64 bytes of memory, the accesses that a later one may still conflict with.

use super::clock::{Agent, COPIES, FIRST_ASYNC, Knowledge, OBJECTS, PRODUCTS};
use super::location::Location;
use super::threads::part_of;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::Scope;

/// Bytes of a line.
pub(super) const LINE: u64 = 64;
/// Lines of a page of global memory.
const PAGE: usize = 64;
/// Accesses that are remembered of a line. Past that the oldest are forgotten, reads first: what raced with them alone is missed.
const MOST_RECORDS: usize = 48;

/// How an access is made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Manner {
    pub writes: bool,
    /// A strong operation has a scope.
    pub strong: Option<Scope>,
    /// An atomic operation, which reads too.
    pub atomic: bool,
    /// Through the async proxy.
    pub proxy: bool,
    /// It reads a tensor map, through the tensormap proxy.
    pub map: bool,
    /// Through the async proxy, in shared memory.
    pub shared: bool,
}

/// Which lanes access which bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Each of the lanes accesses all the bytes.
    Uniform,
    /// Lane `i` of a half warp accesses `step` bytes from `start + i * step` on.
    Linear { start: i16, step: u8 },
}

/// Accesses of some lanes by one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    /// Which bytes of the line.
    pub bytes: u64,
    /// Whose agent it is, and where its thread is.
    pub block: u32,
    pub home: u32,
    pub time: u32,
    pub pc: u32,
    pub lanes: u32,
    pub agent: Agent,
    /// The warp of the lanes.
    pub warp: u8,
    /// Bytes of an element.
    pub size: u8,
    pub manner: Manner,
    pub shape: Shape,
}

impl Record {
    /// The bytes that a lane accesses.
    pub fn of_lane(&self, lane: u32) -> u64 {
        match self.shape {
            Shape::Uniform => self.bytes,
            Shape::Linear { start, step } => {
                self.bytes & span(i64::from(start) + i64::from(lane % 16) * i64::from(step), step.into())
            }
        }
    }

    fn is_async(&self) -> bool {
        self.agent >= FIRST_ASYNC
    }

    fn same_operation(&self, other: &Record) -> bool {
        (self.pc, self.time, self.agent, self.block) == (other.pc, other.time, other.agent, other.block)
            && (self.size, self.manner, self.warp) == (other.size, other.manner, other.warp)
    }

    /// True if one record can hold both: with the lanes and the bytes of both.
    fn can_absorb(&self, other: &Record) -> bool {
        let same_bytes = self.shape == Shape::Uniform && self.bytes == other.bytes;
        self.same_operation(other) && self.shape == other.shape && (self.lanes == other.lanes || same_bytes)
    }

    /// Whatever conflicts with `old` later, and is not ordered, conflicts with this one too.
    fn stands_for(&self, old: &Record) -> bool {
        let reach = |r: &Record| r.manner.strong.map_or(0, |s| 4 - s as u8);
        (self.manner.writes || !old.manner.writes)
            && reach(self) <= reach(old)
            && (self.manner.strong.is_none() || self.size == old.size)
            && (self.manner.proxy == old.manner.proxy)
            // What is not a thread's is not ordered by what the thread does next.
            && !self.is_async()
    }
}

/// The bytes of a line from one place on.
pub(super) fn span(start: i64, bytes: u64) -> u64 {
    let (from, to) = (start.clamp(0, LINE as i64), (start + bytes as i64).clamp(0, LINE as i64));
    let below = |n: i64| if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    below(to) & !below(from)
}

/// 64 bytes of memory.
#[derive(Default)]
pub(super) struct Line {
    pub records: Vec<Record>,
    /// The places in it through which threads synchronise.
    pub locations: Vec<Location>,
}

/// Two accesses that are not ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub old: Record,
    pub new: Record,
    /// Which byte of the line, and which lane of each.
    pub byte: u32,
    pub old_lane: u32,
    pub new_lane: u32,
    /// Only a proxy fence is missing.
    pub unfenced: bool,
}

/// What lanes know that make an access.
pub(super) struct Knower<'a> {
    /// For each set of lanes.
    pub parts: &'a [(u32, Arc<Knowledge>)],
    /// Whose lanes they are.
    pub block: u32,
    pub warp: Agent,
    /// What each lane has waited for itself: its copies, bulk operations, the reading of these, and its warp's products.
    pub waited: Option<&'a [[u32; 32]; 4]>,
    /// For an asynchronous operation: when it was issued. It comes after what its own thread did before.
    pub issued: Option<u32>,
}

impl Knower<'_> {
    /// True if all lanes know of all accesses of a record.
    #[inline]
    fn knows(&self, new: &Record, old: &Record) -> bool {
        self.parts.iter().all(|(lanes, k)| lanes & new.lanes == 0 || self.part_knows(k, new, old, old.lanes))
    }

    #[inline]
    fn part_knows(&self, k: &Knowledge, new: &Record, old: &Record, lanes: u32) -> bool {
        let follows = || {
            self.issued.is_some_and(|time| {
                (old.block, old.agent) == (self.block, self.warp) && lanes == new.lanes && old.time <= time
            })
        };
        (k.clock.knows(old.block, old.agent, lanes, old.time) || follows()) && fenced(k, new, old, lanes)
    }

    fn lane_knows(&self, lane: u32, new: &Record, old: &Record, old_lane: u32) -> bool {
        if let Some(waited) = self.waited
            && (COPIES..OBJECTS).contains(&old.agent)
            && old.block == self.block
            // Products are the warpgroup's.
            && match old.agent >= PRODUCTS {
                true => old.agent % COPIES / 4 == self.warp / 4,
                false => (old.agent % COPIES, old_lane) == (self.warp, lane),
            }
            && old.time <= waited[usize::from(old.agent / COPIES) - 1][lane as usize]
        {
            return true;
        }
        part_of(self.parts, lane)
            .is_some_and(|k| self.part_knows(k, &Record { lanes: 1 << lane, ..*new }, old, 1 << old_lane))
    }

    /// Whether the lane knows of the older access where proxies do not matter.
    fn would_know(&self, lane: u32, new: &Record, old: &Record, old_lane: u32) -> bool {
        let manner = Manner { proxy: false, ..new.manner };
        self.lane_knows(lane, &Record { manner, ..*new }, old, old_lane)
    }
}

/// The async proxy sees of what threads have written what a proxy fence has made known.
#[inline]
fn fenced(k: &Knowledge, new: &Record, old: &Record, lanes: u32) -> bool {
    let crosses = new.manner.proxy && !old.manner.proxy && old.manner.writes;
    let known = match new.manner {
        Manner { map: true, .. } => &k.mapped,
        Manner { shared: true, .. } => &k.fenced_shared,
        _ => &k.fenced_global,
    };
    !crosses || known.knows(old.block, old.agent, lanes, old.time)
}

/// Both are strong, reach each other, and access the same bytes (PTX ISA 9.0, 8.7). An asynchronous reduction and an atomic operation use different
/// proxies, and yet each is performed completely before or after the other (8.7.2): nothing of a sum is lost.
fn morally_strong(old: &Record, new: &Record, clusters: Clusters) -> bool {
    let (Some(a), Some(b)) = (old.manner.strong, new.manner.strong) else { return false };
    old.size == new.size
        && (old.manner.proxy == new.manner.proxy || old.manner.atomic && new.manner.atomic)
        && clusters.reaches(a, old.block, new.block)
        && clusters.reaches(b, new.block, old.block)
}

/// How blocks form clusters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Clusters {
    pub grid: [u32; 3],
    pub shape: [u32; 3],
}

impl Clusters {
    fn cluster(self, block: u32) -> [u32; 3] {
        let [x, y, _] = self.grid.map(|n| n.max(1));
        let id = [block % x, block / x % y, block / x / y];
        std::array::from_fn(|i| id[i] / self.shape[i].max(1))
    }

    /// The narrowest scope that has both blocks in it.
    pub fn distance(self, a: u32, b: u32) -> Scope {
        if a == b {
            Scope::Cta
        } else if self.shape != [1; 3] && self.cluster(a) == self.cluster(b) {
            Scope::Cluster
        } else {
            Scope::Gpu
        }
    }

    /// True if the scope, at block `from`, has block `to` in it.
    pub fn reaches(self, scope: Scope, from: u32, to: u32) -> bool {
        self.distance(from, to) as u8 <= scope as u8
    }
}

impl Line {
    /// Looks at an access of the current instant, records it, and returns what it conflicts with.
    #[inline]
    pub fn touch(
        &mut self,
        new: Record,
        knower: &Knower<'_>,
        clusters: Clusters,
        conflicts: &mut Vec<Conflict>,
    ) {
        if self.records.last() == Some(&new) && !(new.manner.writes && new.is_async()) {
            return;
        }
        // The value of an ordinary store passes nothing on.
        if new.manner.writes && new.manner.strong.is_none() && !self.locations.is_empty() {
            self.locations.retain(|l| span(l.offset.into(), l.size.into()) & new.bytes == 0);
        }
        let mut home = None;
        let mut stale = false;
        for (i, old) in self.records.iter_mut().enumerate() {
            let common = old.bytes & new.bytes;
            if common != 0 {
                let conflict =
                    (old.manner.writes || new.manner.writes) && !morally_strong(old, &new, clusters);
                let ordered = is_own(old, &new) || knower.knows(&new, old);
                if conflict && !ordered {
                    refine(old, &new, common, knower, conflicts);
                }
                if ordered && new.stands_for(old) {
                    old.bytes &= !new.bytes;
                    stale |= old.bytes == 0;
                    continue;
                }
            }
            if home.is_none() && old.can_absorb(&new) {
                home = Some(i);
            }
        }
        if let Some(home) = home {
            self.records[home].bytes |= new.bytes;
            self.records[home].lanes |= new.lanes;
        }
        if stale {
            self.records.retain(|r| r.bytes != 0);
        }
        if home.is_some() {
            return;
        }
        if self.records.len() >= MOST_RECORDS {
            let oldest = |f: fn(&Record) -> bool| self.records.iter().position(f);
            let victim = oldest(|r| !r.manner.writes).or_else(|| oldest(|r| r.manner.strong.is_some()));
            self.records.remove(victim.unwrap_or(0));
        }
        if self.records.len() == self.records.capacity() {
            self.records.reserve_exact(self.records.len().max(1));
        }
        self.records.push(new);
    }

    /// Accesses to these bytes are forgotten.
    pub fn forget(&mut self, bytes: u64) {
        self.records.iter_mut().for_each(|r| r.bytes &= !bytes);
        self.records.retain(|r| r.bytes != 0);
        self.locations.retain(|l| bytes >> (l.offset & 63) & 1 == 0);
    }
}

/// All that both access, one lane accesses in both: program order.
#[inline]
fn is_own(old: &Record, new: &Record) -> bool {
    if old.block != new.block || old.agent != new.agent || old.is_async() {
        return false;
    }
    match (old.shape, new.shape) {
        // One lane each, or byte by byte the same lanes of one half warp.
        (a, b) if a != Shape::Uniform && a == b => {
            one_half(old.lanes) && one_half(new.lanes) && same_half(old, new)
        }
        _ => old.lanes == new.lanes && old.lanes.is_power_of_two(),
    }
}

fn one_half(lanes: u32) -> bool {
    lanes & 0xffff == 0 || lanes >> 16 == 0
}

fn same_half(a: &Record, b: &Record) -> bool {
    (a.lanes & 0xffff == 0) == (b.lanes & 0xffff == 0)
}

/// Finds the lanes of two records that really conflict.
#[cold]
fn refine(old: &Record, new: &Record, common: u64, knower: &Knower<'_>, conflicts: &mut Vec<Conflict>) {
    let lanes = |mask: u32| (0..32u32).filter(move |lane| mask >> lane & 1 != 0);
    let own = old.block == new.block && old.agent == new.agent && !old.is_async();
    for old_lane in lanes(old.lanes) {
        let theirs = old.of_lane(old_lane) & common;
        if theirs == 0 {
            continue;
        }
        for new_lane in lanes(new.lanes) {
            let both = new.of_lane(new_lane) & theirs;
            if both == 0 || own && old_lane == new_lane || knower.lane_knows(new_lane, new, old, old_lane) {
                continue;
            }
            let unfenced = new.manner.proxy && knower.would_know(new_lane, new, old, old_lane);
            let byte = both.trailing_zeros();
            conflicts.push(Conflict { old: *old, new: *new, byte, old_lane, new_lane, unfenced });
            return;
        }
    }
}

/// The lines of a block's shared memory.
#[derive(Default)]
pub(super) struct Shared {
    lines: Vec<Line>,
}

impl Shared {
    /// The lines up to the last one that was touched, with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &Line)> {
        (0..).zip(&self.lines)
    }

    #[inline]
    pub fn line(&mut self, number: u64) -> Option<&mut Line> {
        // Shared memory is small; what lies beyond is an access that faults.
        let i = usize::try_from(number).ok().filter(|i| *i < 1 << 16)?;
        if self.lines.len() <= i {
            self.lines.resize_with(i + 1, Line::default);
        }
        self.lines.get_mut(i)
    }
}

/// The lines of global memory that were touched.
#[derive(Default)]
pub(super) struct Global {
    numbers: FxHashMap<u64, u32>,
    /// Page after page.
    lines: Vec<Line>,
    last: (u64, u32),
}

impl Global {
    pub fn clear(&mut self) {
        *self = Global::default();
    }

    #[inline]
    pub fn line(&mut self, number: u64) -> &mut Line {
        let page = number / PAGE as u64;
        if self.lines.is_empty() || self.last.0 != page {
            let next = (self.lines.len() / PAGE) as u32;
            let index = *self.numbers.entry(page).or_insert(next);
            if index == next {
                self.lines.resize_with(self.lines.len() + PAGE, Line::default);
            }
            self.last = (page, index);
        }
        &mut self.lines[self.last.1 as usize * PAGE + (number % PAGE as u64) as usize]
    }

    /// Accesses to a stretch of memory are forgotten.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        for (&page, &index) in &self.numbers {
            let start = page * PAGE as u64 * LINE;
            if start >= end || start + PAGE as u64 * LINE <= address {
                continue;
            }
            let lines = &mut self.lines[index as usize * PAGE..][..PAGE];
            for (line, i) in lines.iter_mut().zip(0..) {
                let from = address as i64 - (start + i * LINE) as i64;
                line.forget(span(from, bytes.min(i64::MAX as u64 / 2)));
            }
        }
    }
}
