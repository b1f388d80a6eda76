//! The sides of a branch at which lanes part, executed for machine code one after the other until the lanes meet.
//!
//! It is what the loop over instructions would do, in its order: the lanes that do not take the branch go first, since they are lower in the program, then the
//! others, and nobody else runs in between. What that needs is asked here, and where it does not hold the loop does it.

use super::region::Host;
use crate::engine::region::Side;
use crate::engine::region_state::RegionState;
use crate::engine::run::Issue;

/// # Safety
/// `state` has the host that the region was called with.
pub(super) unsafe extern "C" fn sides_helper<const LEVEL: usize, const WATCHED: bool>(
    state: *mut RegionState,
    number: u32,
    taken: u32,
) -> u32 {
    // SAFETY: the caller's promise; the host lives while the region's code runs, and nothing else uses it, the runner or the state meanwhile.
    let (state, host, runner) = unsafe {
        let state = &mut *state;
        let host = &mut *state.host.cast::<Host<'_, '_, WATCHED>>();
        let runner = host.runner;
        (state, host, &mut *runner)
    };
    let region = host.region;
    let Some(sides) = region.compiled.sides.get(number as usize) else { return RegionState::BY_LOOP };
    let count = |side: &Side| u64::from(side.count);
    let all: u64 = sides.rest.iter().chain(&sides.taken).map(count).sum();
    if state.executed + all >= state.part_before || state.stop <= sides.meet {
        return RegionState::BY_LOOP;
    }
    state.uniform = 0;
    let (mut chosen, lanes_of_both) = (state.executed, state.mask.count_ones());
    let ways = [(sides.rest, state.mask & !taken), (sides.taken, taken)];
    for (side, lanes) in ways.into_iter().filter_map(|(side, lanes)| Some((side?, lanes))) {
        chosen = state.executed;
        let issue = Issue { pc: region.start + side.from, mask: lanes, ..host.issue };
        if let Err(fault) = runner.run_range::<LEVEL>(host.warp, issue, region.start + side.to, lanes) {
            host.fault = Some(fault);
            return RegionState::FAILED;
        }
        state.executed += count(&side);
        state.idle += u64::from(lanes_of_both - lanes.count_ones()) * count(&side);
    }
    // When it was chosen last: where others wait, it is chosen again when all have met.
    state.stamp = if state.spin_step != 0 { state.executed } else { chosen };
    RegionState::MET
}
