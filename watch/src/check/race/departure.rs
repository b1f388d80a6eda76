//! What blocks of a cluster access in each other's shared memory, which is gone when its block has exited (PTX ISA 9.0, 2.2.2).
//!
//! An access that comes after the exit faults. Whether it does is up to the schedule: here those are found that came before it by luck.

use super::Race;
use super::accesses::Target;
use super::shadow::Record;
use crate::codes;
use crate::lanes::lanes_of;
use crate::report::{Checker, Finding, Site};
use warpsmith_interp::observe::At;

impl Race {
    /// Threads exit. With the last of a block goes its shared memory: one of them must have known of whatever other blocks did there.
    pub(super) fn depart(&mut self, at: &At<'_>) {
        if self.clusters.shape == [1; 3] || !self.select(at.block) {
            return;
        }
        let block = &mut self.blocks[self.current];
        block.alive = block.alive.saturating_sub(at.mask.count_ones());
        if block.alive > 0 {
            return;
        }
        let block = &self.blocks[self.current];
        let known = |record: &Record, lane: usize| {
            let mut parts = block.warps.iter().flat_map(|warp| &warp.parts);
            parts.any(|(_, k)| k.clock.knows(record.block, record.agent, 1 << lane, record.time))
        };
        let mut found = Vec::new();
        for (number, line) in self.shared[self.current].lines() {
            for record in line.records.iter().filter(|record| record.home != block.number) {
                let target = Target { memory: Some(self.current), line: number };
                let lane = lanes_of(record.lanes).find(|lane| !known(record, *lane));
                found.extend(lane.map(|lane| (target, *record, lane as u32)));
            }
        }
        for (target, record, lane) in found {
            let exit = Site::new(at, self.block_shape).role("the last threads of that block exit");
            let site = self.site(at, target, &record, lane, record.of_lane(lane).trailing_zeros());
            self.report.add(codes::BLOCK_GONE, &[record.pc], 1, || {
                let message = "the block whose shared memory is accessed may have exited before";
                Finding::new(Checker::Race, codes::BLOCK_GONE, message, site)
                    .site(exit)
                    .note("nothing has the block wait for this access: a barrier of the cluster between the access and the exit does (2.2.2)")
            });
        }
    }
}
