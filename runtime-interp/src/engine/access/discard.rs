//! `discard` (PTX ISA 9.0, 9.7.9.17).

use super::addresses;
use crate::engine::observe::{AccessKind, BadAccess, Verdict};
use crate::engine::op::Access;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::lanes_of;
use crate::engine::warp::Warp;
use crate::memory::window;

/// How many bytes it gives up, and what its address is a multiple of.
const BYTES: u64 = 128;
/// How many of them are one access.
const PART: u64 = 64;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Gives up what memory holds. It stays as it is; observers get weak stores.
    pub(in crate::engine) fn discard(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        at: &Access,
    ) -> Fallible<Next> {
        let all = addresses(issue.frame, at, issue.stack);
        let mut mask = issue.mask;
        for lane in lanes_of(issue.mask).filter(|lane| !all[*lane].is_multiple_of(BYTES)) {
            let one = issue.only(1 << lane);
            let (space, address) = window::locate(at.space, all[lane]);
            let kind = AccessKind::Store;
            let fault = self.bad_access(warp, one, (kind, false), space, address, BYTES);
            let bad =
                BadAccess { kind, access: at, space, address, bytes: BYTES, stack_end: issue.stack_end };
            if !WATCHED
                || self.observer.fault(
                    &self.cx.at(issue.block.id, issue.warp, issue.pc, 1 << lane),
                    &fault,
                    Some(&bad),
                ) != Verdict::Skip
            {
                return Err(fault);
            }
            mask &= !(1 << lane);
        }
        if mask != 0 {
            for start in (0..BYTES).step_by(PART as usize) {
                let part =
                    Access { count: (PART / 16) as u8, offset: at.offset.wrapping_add(start as i64), ..*at };
                self.places(warp, issue.only(mask), &part, AccessKind::Store)?;
            }
        }
        Ok(Next::Advance)
    }
}
