//! The threads of a resident block, and what each knows.

use super::clock::{Agent, BULK, BULK_READS, COPIES, Clock, Knowledge, OBJECTS, PRODUCTS};
use super::location::Seen;
use super::shadow::{Manner, Record, Shape};
use crate::check::groups::Issued;
use crate::lanes::lanes_of;
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_base::FxHashMap;
use warpsmith_interp::engine::{Group, Scope};
use warpsmith_interp::observe::At;

/// What lanes know; those of one part know the same.
pub(super) type Parts = SmallVec<[(u32, Arc<Knowledge>); 1]>;

/// Up to which of its operations each lane has waited: copies, bulk operations, the reading of bulk operations.
pub(super) type Waited = Option<Box<[[u32; 32]; 4]>>;

/// Observed releases that a lane remembers for a fence. Past that they are taken together.
const MOST_PENDING: usize = 64;

/// A fence that a later strong write of the same thread makes a release pattern.
#[derive(Clone)]
pub(super) struct Fenced {
    pub lanes: u32,
    pub scope: Scope,
    pub time: u32,
    pub parts: Parts,
}

/// A strong read that a later fence of the same thread makes an acquire pattern.
pub(super) struct Pending {
    pub lanes: u32,
    /// How far away the release was.
    pub distance: Scope,
    pub knowledge: Arc<Knowledge>,
}

#[derive(Default)]
pub(super) struct Warp {
    pub parts: Parts,
    pub fences: SmallVec<[Fenced; 1]>,
    pub pending: SmallVec<[Pending; 1]>,
    /// What these lanes have looked at last: a thread that spins looks at the same again and again.
    pub seen: (Seen, u32),
    pub issued: [Issued; 3],
    pub waited: Waited,
}

/// Threads that come together at a barrier.
#[derive(Default)]
pub(super) struct Gathering {
    pub knowledge: Knowledge,
    /// What was joined last.
    last: Option<Arc<Knowledge>>,
    pub threads: u32,
    /// Some went on without waiting.
    pub passing: bool,
    /// What those learn that leave.
    pub complete: Option<Arc<Knowledge>>,
}

/// An mbarrier object.
pub(super) struct Object {
    pub agent: Agent,
    pub phase: bool,
    /// How many phases are complete.
    pub count: u32,
    pub gathering: Knowledge,
    pub complete: Arc<Knowledge>,
}

pub(super) struct Block {
    pub id: [u32; 3],
    pub cluster: u64,
    pub rank: usize,
    pub number: u32,
    pub now: u32,
    pub threads: u32,
    /// Those that have not exited.
    pub alive: u32,
    pub warps: Vec<Warp>,
    pub barriers: [Gathering; 16],
    pub objects: FxHashMap<u64, Object>,
    agents: FxHashMap<u64, Agent>,
}

impl Warp {
    /// Replaces what lanes know.
    pub fn set(&mut self, lanes: u32, knowledge: &Arc<Knowledge>) {
        self.parts.retain(|(theirs, _)| {
            *theirs &= !lanes;
            *theirs != 0
        });
        match self.parts.iter_mut().find(|(_, k)| Arc::ptr_eq(k, knowledge)) {
            Some((theirs, _)) => *theirs |= lanes,
            None => self.parts.push((lanes, knowledge.clone())),
        }
    }

    /// Changes what lanes know.
    pub fn update(&mut self, lanes: u32, change: impl Fn(&mut Knowledge)) {
        let affected: Parts = self
            .parts
            .iter()
            .filter(|(theirs, _)| theirs & lanes != 0)
            .map(|(l, k)| (l & lanes, k.clone()))
            .collect();
        for (lanes, old) in affected {
            let mut new = (*old).clone();
            change(&mut new);
            if new != *old {
                self.set(lanes, &Arc::new(new));
            }
        }
    }

    /// Lanes learn what someone knows.
    pub fn learn(&mut self, lanes: u32, knowledge: &Arc<Knowledge>) {
        if self.parts.iter().all(|(theirs, k)| theirs & lanes == 0 || Arc::ptr_eq(k, knowledge)) {
            return;
        }
        self.update(lanes, |own| own.join(knowledge));
    }

    /// Takes note that a lane looks at a place; false if it has just done so.
    pub fn looks(&mut self, lane: usize, seen: Seen) -> bool {
        let (last, lanes) = &mut self.seen;
        if *last != seen {
            (*last, *lanes) = (seen, 0);
        }
        let new = *lanes >> lane & 1 == 0;
        *lanes |= 1 << lane;
        new
    }

    /// What a lane knows.
    pub fn of_lane(&self, lane: usize) -> Option<&Knowledge> {
        part_of(&self.parts, lane as u32)
    }

    /// Lanes have observed a release.
    pub fn observe(&mut self, lanes: u32, distance: Scope, knowledge: &Arc<Knowledge>) {
        let same = |p: &&mut Pending| p.distance == distance && Arc::ptr_eq(&p.knowledge, knowledge);
        match self.pending.iter_mut().find(same) {
            Some(pending) => pending.lanes |= lanes,
            None => self.pending.push(Pending { lanes, distance, knowledge: knowledge.clone() }),
        }
        if self.pending.len() > MOST_PENDING {
            let mut all = Knowledge::default();
            self.pending.iter().for_each(|p| all.join(&p.knowledge));
            let lanes = self.pending.iter().fold(0, |lanes, p| lanes | p.lanes);
            self.pending.clear();
            self.pending.push(Pending { lanes, distance: Scope::Cta, knowledge: Arc::new(all) });
        }
    }

    /// `wait_group`
    pub fn wait(&mut self, group: Group, pending: u32, read: bool, lanes: u32) {
        for lane in lanes_of(lanes) {
            let Some(complete) = self.issued[group as usize].complete(lane, pending) else { continue };
            let waited = self.waited.get_or_insert_default();
            let mut raise = |kind: usize| waited[kind][lane] = waited[kind][lane].max(complete);
            match (group, read) {
                (Group::Copy, _) => raise(0),
                (Group::Bulk, true) => raise(2),
                (Group::Bulk, false) => [1, 2].into_iter().for_each(raise),
                (Group::Matrix, _) => raise(3),
            }
        }
    }
}

/// What one of the lanes knows whose knowledge these parts are.
pub(super) fn part_of(parts: &[(u32, Arc<Knowledge>)], lane: u32) -> Option<&Knowledge> {
    parts.iter().find(|(lanes, _)| lanes >> lane & 1 != 0).map(|(_, k)| &**k)
}

/// Adds to a clock what lanes have done themselves: their accesses up to `time`, and the operations they have waited for.
fn own(clock: &mut Clock, block: u32, warp: u32, lanes: u32, time: u32, waited: Option<&[[u32; 32]; 4]>) {
    clock.add(block, warp as Agent, lanes, time);
    for (times, agent) in waited.into_iter().flatten().zip([COPIES, BULK, BULK_READS, PRODUCTS]) {
        let mut rest = lanes;
        while rest != 0 {
            let time = times[rest.trailing_zeros() as usize];
            let same = lanes_of(rest).filter(|lane| times[*lane] == time).fold(0, |m, lane| m | 1 << lane);
            rest &= !same;
            if time > 0 {
                if agent == PRODUCTS {
                    // Products are the warpgroup's, whichever of its lanes has waited.
                    let first = agent + warp as Agent / 4 * 4;
                    (first..first + 4).for_each(|agent| clock.add(block, agent, u32::MAX, time));
                } else {
                    clock.add(block, agent + warp as Agent, same, time);
                }
            }
        }
    }
}

impl Block {
    /// What the lanes of an instruction do with bytes of a line, all in the same way.
    pub fn record(&self, at: &At<'_>, bytes: u64, size: u8, manner: Manner) -> Record {
        Record {
            bytes,
            block: self.number,
            home: self.number,
            time: self.now,
            pc: at.pc,
            lanes: at.mask,
            agent: at.warp as Agent,
            warp: at.warp as u8,
            size,
            manner,
            shape: Shape::Uniform,
        }
    }

    pub fn new(view: &warpsmith_interp::observe::BlockView, number: u32, threads: u32) -> Block {
        let nothing = Arc::new(Knowledge::default());
        let warps = (0..view.warps)
            .map(|w| {
                let lanes = threads.saturating_sub(32 * w).min(32);
                let mask = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
                Warp { parts: SmallVec::from_iter([(mask, nothing.clone())]), ..Warp::default() }
            })
            .collect();
        Block {
            id: view.id,
            cluster: view.cluster,
            rank: view.rank,
            number,
            now: 1,
            threads,
            alive: threads,
            warps,
            barriers: Default::default(),
            objects: FxHashMap::default(),
            agents: FxHashMap::default(),
        }
    }

    /// What a lane knows, and what it has done up to now.
    pub fn publish(&self, warp: u32, lanes: u32, parts: &Parts, time: u32) -> Knowledge {
        let mut all = Knowledge::default();
        for (theirs, k) in parts {
            if theirs & lanes != 0 {
                all.join(k);
            }
        }
        let waited = self.warps.get(warp as usize).and_then(|w| w.waited.as_deref());
        own(&mut all.clock, self.number, warp, lanes, time, waited);
        all
    }

    /// What lanes know now, each of itself too.
    pub fn current(&self, warp: u32, lanes: u32) -> Knowledge {
        match self.warps.get(warp as usize) {
            Some(w) => self.publish(warp, lanes, &w.parts, self.now),
            None => Knowledge::default(),
        }
    }

    /// Lanes arrive at a barrier.
    pub fn gather(&mut self, barrier: usize, warp: u32, lanes: u32, passing: bool) {
        let Some(w) = self.warps.get(warp as usize) else { return };
        let Some(gathering) = self.barriers.get_mut(barrier) else { return };
        for (_, k) in w.parts.iter().filter(|(theirs, _)| theirs & lanes != 0) {
            if !gathering.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, k)) {
                gathering.knowledge.join(k);
                gathering.last = Some(k.clone());
            }
        }
        own(&mut gathering.knowledge.clock, self.number, warp, lanes, self.now, w.waited.as_deref());
        gathering.threads += lanes.count_ones();
        gathering.passing |= passing;
        if passing {
            self.now += 1;
        }
    }

    /// All that a barrier waits for have arrived.
    pub fn complete(&mut self, barrier: usize) {
        let Some(gathering) = self.barriers.get_mut(barrier) else { return };
        let Gathering { mut knowledge, threads, passing, .. } = std::mem::take(gathering);
        if !passing && threads == self.threads {
            knowledge.clock.raise(self.number, self.now);
        }
        self.barriers[barrier].complete = Some(Arc::new(knowledge));
        self.now += 1;
    }

    /// The mbarrier object at an address of this block.
    pub fn object(&mut self, offset: u64) -> &mut Object {
        let next = self.agents.len() as Agent;
        let agent = *self.agents.entry(offset).or_insert(OBJECTS.saturating_add(next));
        self.objects.entry(offset).or_insert_with(|| Object {
            agent,
            phase: false,
            count: 0,
            gathering: Knowledge::default(),
            complete: Arc::default(),
        })
    }
}

impl Object {
    /// Looks whether a phase is complete.
    pub fn settle(&mut self, block: u32, phase: bool) {
        if phase == self.phase {
            return;
        }
        self.phase = phase;
        self.count += 1;
        let mut all = std::mem::take(&mut self.gathering);
        all.join(&self.complete);
        all.clock.add(block, self.agent, u32::MAX, self.count);
        self.complete = Arc::new(all);
    }
}
