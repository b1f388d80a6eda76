//! What orders accesses: releases and acquires, fences, barriers.

use super::Race;
use super::accesses::{Target, line_at, reach};
use super::clock::{Agent, Knowledge};
use super::location::{Location, MIXED, Release, Seen};
use super::shadow::LINE;
use super::threads::Fenced;
use crate::lanes::lanes_of;
use smallvec::SmallVec;
use std::sync::Arc;
use warpsmith_interp::engine::{Access, BarrierKind, Order, Scope};
use warpsmith_interp::observe::{AccessKind, Addresses, At, OperationKind, Sync};
use warpsmith_isa::{Proxy, SpaceModifier, StateSpace, Traits};

/// True for an instruction that is `.relaxed`, said or not.
pub(super) fn is_relaxed(at: &At<'_>) -> bool {
    at.instruction().and_then(|i| i.order()) == Some(warpsmith_isa::Order::Relaxed)
}

impl Race {
    pub(super) fn synchronised(&mut self, at: &At<'_>, sync: Sync) {
        if !self.select(at.block) {
            return;
        }
        let current = self.current;
        let block = &mut self.blocks[current];
        let warp = at.warp as usize;
        match sync {
            Sync::Arrive(id) => {
                let kind = at.program.operation(at.pc).map(|o| o.kind);
                let passing =
                    matches!(kind, Some(OperationKind::Barrier(b)) if b.kind == BarrierKind::Arrive);
                block.gather(id as usize, at.warp, at.mask, passing);
            }
            Sync::Complete(id) => block.complete(id as usize),
            Sync::Leave(id) => {
                if let (Some(complete), Some(warp)) = (
                    block.barriers.get(id as usize).and_then(|b| b.complete.clone()),
                    block.warps.get_mut(warp),
                ) {
                    warp.set(at.mask, &complete);
                }
            }
            Sync::Reach(_) | Sync::Warp { .. } => {}
            Sync::Fence(fence) => self.fence(at, fence.order, fence.scope),
            Sync::ClusterArrive => {
                if !is_relaxed(at) {
                    let known = block.current(at.warp, at.mask);
                    self.cluster_barriers.entry(block.cluster).or_default().knowledge.join(&known);
                } else if let Some(w) = block.warps.get(warp) {
                    // With fences before and after, it is ordered all the same (9.7.13.3).
                    let fences: SmallVec<[Fenced; 1]> = w
                        .fences
                        .iter()
                        .filter(|f| f.lanes & at.mask != 0 && f.scope >= Scope::Cluster)
                        .cloned()
                        .collect();
                    for f in fences {
                        let known = block.publish(at.warp, f.lanes & at.mask, &f.parts, f.time);
                        self.cluster_barriers.entry(block.cluster).or_default().knowledge.join(&known);
                    }
                }
                self.blocks[current].now += 1;
            }
            Sync::ClusterComplete => {
                let gathering = self.cluster_barriers.entry(block.cluster).or_default();
                let knowledge = std::mem::take(&mut gathering.knowledge);
                gathering.complete = Some(Arc::new(knowledge));
            }
            Sync::ClusterLeave => {
                let complete = self.cluster_barriers.get(&block.cluster).and_then(|g| g.complete.clone());
                if let (Some(complete), Some(warp)) = (complete, block.warps.get_mut(warp)) {
                    warp.learn(at.mask, &complete);
                }
            }
            Sync::Mbarrier { rank, offset, phase, event } => {
                self.mbarrier(at, rank, offset as u64, phase, event)
            }
            Sync::Tensor { .. } => {}
            Sync::Commit(group) => {
                if let Some(warp) = block.warps.get_mut(warp) {
                    warp.issued[group as usize].commit(at.mask);
                }
            }
            Sync::Wait { group, pending, read } => {
                if let Some(warp) = block.warps.get_mut(warp) {
                    warp.wait(group, pending, read, at.mask);
                }
            }
        }
    }

    /// What strong accesses of lanes release and acquire. True if something was released.
    pub(super) fn synchronising(
        &mut self,
        at: &At<'_>,
        kind: AccessKind,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) -> bool {
        let acquires = matches!(access.order, Order::Acquire | Order::AcqRel | Order::SeqCst)
            && kind != AccessKind::Store;
        let releases = matches!(access.order, Order::Release | Order::AcqRel | Order::SeqCst)
            && kind != AccessKind::Load;
        let scope = reach(access);
        // `red` reads nothing that an acquire pattern could start from (8.11.1).
        let reduction = at.instruction().is_some_and(|i| i.traits().contains(Traits::REDUCTION));
        let reads = kind != AccessKind::Store && !reduction;
        let mut released = false;
        for lane in lanes_of(at.mask) {
            let Some((memory, offset)) = self.place(space, addresses.of(lane)) else { continue };
            let Some(line) =
                line_at(&mut self.shared, &mut self.global, Target { memory, line: offset / LINE })
            else {
                continue;
            };
            let Some(block) = self.blocks.get_mut(self.current) else { return false };
            let (number, one) = (block.number, 1u32 << lane);
            let place = (offset % LINE) as u8;
            let mut known = line.locations.iter().position(|l| (l.offset, l.size) == (place, access.bytes));
            let mut new: SmallVec<[Release; 2]> = SmallVec::new();
            let thread = at.warp * 32 + lane as u32;
            if kind != AccessKind::Load {
                if releases {
                    let knowledge = Arc::new(block.current(at.warp, one));
                    new.push(Release { block: number, thread, scope, time: block.now, knowledge });
                }
                let fences = block.warps.get(at.warp as usize).map(|w| w.fences.clone()).unwrap_or_default();
                for f in fences.iter().filter(|f| f.lanes & one != 0 && !(releases && f.scope <= scope)) {
                    let knowledge = Arc::new(block.publish(at.warp, one, &f.parts, f.time));
                    new.push(Release { block: number, thread, scope: f.scope, time: f.time, knowledge });
                }
            }
            if let Some(i) = known
                && reads
                && let Some(warp) = block.warps.get_mut(at.warp as usize)
                && let version = line.locations[i].version
                && warp.looks(lane, Seen { version, acquired: acquires.then_some(scope) })
            {
                for r in &line.locations[i].releases {
                    let distance =
                        if r.block == MIXED { Scope::Cta } else { self.clusters.distance(r.block, number) };
                    if distance > r.scope || distance > Scope::Cluster && r.scope < Scope::Gpu {
                        continue;
                    }
                    if warp.of_lane(lane).is_some_and(|known| r.is_known(known)) {
                        continue;
                    }
                    if acquires && distance <= scope {
                        warp.learn(one, &r.knowledge);
                    } else {
                        warp.observe(one, distance, &r.knowledge);
                    }
                }
            }
            if kind != AccessKind::Load {
                if known.is_none() && !new.is_empty() {
                    let new =
                        Location { offset: place, size: access.bytes, releases: Vec::new(), version: 0 };
                    line.locations.push(new);
                    known = Some(line.locations.len() - 1);
                }
                released |= releases;
                if let Some(i) = known {
                    let location = &mut line.locations[i];
                    location.write(kind == AccessKind::Atomic, number, thread, new);
                    self.writes += 1;
                    location.version = self.writes;
                }
            }
        }
        released
    }

    /// True if what strong accesses of these lanes may release or acquire has to be looked at.
    pub(super) fn may_synchronise(
        &mut self,
        at: &At<'_>,
        access: &Access,
        space: StateSpace,
        addresses: &Addresses<'_>,
    ) -> bool {
        if matches!(access.order, Order::Release | Order::AcqRel | Order::SeqCst) {
            return true;
        }
        let Some(warp) = self.blocks.get(self.current).and_then(|b| b.warps.get(at.warp as usize)) else {
            return false;
        };
        if warp.fences.iter().any(|f| f.lanes & at.mask != 0) {
            return true;
        }
        lanes_of(at.mask).any(|lane| {
            let Some((memory, offset)) = self.place(space, addresses.of(lane)) else { return false };
            line_at(&mut self.shared, &mut self.global, Target { memory, line: offset / LINE })
                .is_some_and(|line| !line.locations.is_empty())
        })
    }

    pub(super) fn fence(&mut self, at: &At<'_>, order: Order, scope: Scope) {
        let Some(block) = self.blocks.get_mut(self.current) else { return };
        let (now, number) = (block.now, block.number);
        let Some(warp) = block.warps.get_mut(at.warp as usize) else { return };
        match at.instruction().and_then(|i| i.proxy()) {
            Some(Proxy::Async | Proxy::AsyncToGeneric) => {
                let spaces = at.instruction().into_iter().flat_map(|i| i.spaces()).map(SpaceModifier::space);
                let named: SmallVec<[StateSpace; 2]> = spaces.collect();
                let fences = |space| named.is_empty() || named.contains(&space);
                warp.update(at.mask, |k| {
                    let Knowledge { clock, fenced_global, fenced_shared, .. } = k;
                    let fenced = [(StateSpace::Global, fenced_global), (StateSpace::Shared, fenced_shared)];
                    for (_, fenced) in fenced.into_iter().filter(|(space, _)| fences(*space)) {
                        fenced.join(clock);
                        fenced.add(number, at.warp as Agent, at.mask, now);
                    }
                });
                block.now += 1;
                return;
            }
            Some(Proxy::TensormapToGeneric) if order != Order::Release => {
                warp.update(at.mask, |k| {
                    let Knowledge { clock, mapped, .. } = k;
                    mapped.join(clock);
                    mapped.add(number, at.warp as Agent, at.mask, now);
                });
                block.now += 1;
                return;
            }
            Some(
                Proxy::Alias
                | Proxy::TensormapToGeneric
                | Proxy::GenericToFabric
                | Proxy::FabricToGeneric
                | Proxy::FabricToFabric,
            ) => return,
            None => {}
        }
        if order != Order::Release {
            let pending = std::mem::take(&mut warp.pending);
            for mut p in pending {
                if p.distance <= scope && p.lanes & at.mask != 0 {
                    warp.learn(p.lanes & at.mask, &p.knowledge);
                    p.lanes &= !at.mask;
                }
                if p.lanes != 0 {
                    warp.pending.push(p);
                }
            }
        }
        if order != Order::Acquire {
            warp.fences.iter_mut().filter(|f| f.scope <= scope).for_each(|f| f.lanes &= !at.mask);
            warp.fences.retain(|f| f.lanes != 0);
            let parts = warp
                .parts
                .iter()
                .filter(|(l, _)| l & at.mask != 0)
                .map(|(l, k)| (l & at.mask, k.clone()))
                .collect();
            warp.fences.push(Fenced { lanes: at.mask, scope, time: now, parts });
            block.now += 1;
        }
    }
}
