//! Machine code of regions, seen from the loop: what it is called with, and what it has the engine do.

use super::rounds::Rounds;
use super::sides::sides_helper;
use crate::engine::access::{CONTROLS, load_batch_lines};
use crate::engine::by_level::by_level;
use crate::engine::file::{Cell, Frame, Row};
use crate::engine::lanes::Level;
use crate::engine::native::{Batch, Fast, FastRegion};
use crate::engine::observe::AccessKind;
use crate::engine::op::{Guard, Op};
use crate::engine::reg::Reg;
use crate::engine::reg::Width;
use crate::engine::region_state::{ChunkPlaces, LanePattern, RegionState, SpacePlace, Window};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{holds, opaque, put};
use crate::engine::warp::Warp;
use crate::fault::Fault;
use crate::memory::bytes::Bytes;
use crate::memory::window;
use warpsmith_isa::StateSpace;

/// What is loaded for code: where the data are, or the values.
pub(in crate::engine) struct Loads {
    places: [ChunkPlaces; RegionState::SCRATCH as usize],
    rows: [Cell; RegionState::SCRATCH as usize],
}

impl Loads {
    const SIZE: usize = RegionState::SCRATCH as usize;

    fn new() -> Box<Loads> {
        Box::new(Loads { places: [ChunkPlaces::NONE; Loads::SIZE], rows: [Row([0; 32]); Loads::SIZE] })
    }
}

/// What the loop knows of the group that comes to a region.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Coming {
    pub entry: u32,
    pub wide: u32,
    pub stop: u32,
    pub deadline: u64,
    /// When the turn ends, and when the group was promised another choice.
    pub end_of_turn: u64,
    pub until: u64,
}

/// Where a group is behind a region, in one word: it comes back in a register, and is not fetched from where its parts were just written.
#[derive(Clone, Copy)]
pub(in crate::engine) struct After(u64);

impl After {
    /// Some of its lanes have left a loop: choose whom to run. All groups are where they are.
    pub const PARTED: After = After(1 << 33);

    /// At a place, and whether to choose whom to run.
    pub fn at(place: u32, choose: bool) -> After {
        After(u64::from(place) | u64::from(choose) << 32)
    }

    /// That place, unless lanes have parted.
    #[inline(always)]
    pub fn place(self) -> Option<(u32, bool)> {
        (self.0 & After::PARTED.0 == 0).then_some((self.0 as u32, self.0 >> 32 != 0))
    }
}

/// Whom the helpers work for.
pub(super) struct Host<'h, 'a, const WATCHED: bool> {
    pub(super) runner: *mut Runner<'a, WATCHED>,
    pub(super) warp: &'h Warp,
    pub(super) issue: Issue<'h>,
    pub(super) region: &'h FastRegion,
    /// Belongs to the runner, which does not use it while code runs.
    loads: *mut Loads,
    pub(super) fault: Option<Box<Fault>>,
}

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes a region from one of its blocks on: gives where the group is then.
    #[inline(never)]
    pub(in crate::engine) fn region<const LEVEL: usize>(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        fast: &Fast,
        coming: Coming,
    ) -> Fallible<After> {
        let Coming { wide, stop, deadline, .. } = coming;
        let (Some(entry), mask) = (fast.entries.get(coming.entry as usize), issue.mask) else {
            unreachable!("only fast code has regions");
        };
        let region = &fast.regions[entry.region as usize];
        let lanes = u64::from(mask.count_ones());
        if stop < entry.end {
            // Somewhere in it the loop has to look who else is there: one by one until then.
            let to = stop.min(entry.body_end);
            let count: u32 =
                self.cx.program.code[issue.pc as usize..to as usize].iter().map(|i| i.count).sum();
            warp.executed += u64::from(count);
            warp.thread_instructions += u64::from(count) * lanes;
            self.run_range::<LEVEL>(warp, issue, to, wide)?;
            return Ok(After::at(to, to >= stop));
        }
        self.newest = self.newest.max(entry.region + 1);
        let alone = warp.groups.len() == 1;
        // Lanes may part in there and meet again if those that go on first are those that the loop would choose.
        let may_part = coming.until == u64::MAX && (alone || warp.is_lowest(g));
        let loads: *mut Loads = &raw mut **self.loads.get_or_insert_with(Loads::new);
        // SAFETY: the fields of what was just found.
        let (scratch, places) = unsafe { (&raw mut (*loads).rows, &raw const (*loads).places) };
        // SAFETY: the first row of the frame, or where it would be: code asks for registers of the function alone.
        let (registers, constants) = unsafe {
            (issue.frame.row_mut::<u32>(Reg::frame(0, Width::W32)), issue.frame.row::<u32>(Reg::ZERO))
        };
        if !warp.uniform && mask == u32::MAX {
            self.find_uniform(
                warp,
                issue.frame,
                region.alike.get(entry.block as usize).and_then(Option::as_deref),
            );
        }
        let patterns = &region.patterns;
        if warp.patterns.len() < patterns.end as usize {
            warp.patterns.resize(patterns.end as usize, LanePattern::with_state(LanePattern::UNKNOWN));
        }
        let patterns = warp.patterns[patterns.start as usize..].as_mut_ptr();
        if self.windows.len() < region.windows.end as usize {
            self.windows.resize(region.windows.end as usize, Window::NONE);
        }
        let windows = self.windows[region.windows.start as usize..].as_mut_ptr();
        let group = warp.groups[g];
        let (local, local_step) = warp.local.layout();
        let mut state = RegionState {
            registers: registers.cast(),
            constants: constants.cast(),
            scratch: scratch.cast(),
            places: places.cast(),
            patterns,
            windows,
            controls: (&raw const CONTROLS).cast(),
            executed: warp.executed,
            deadline,
            part_before: if may_part { coming.end_of_turn } else { 0 },
            idle: 0,
            stamp: group.stamp,
            entry: entry.block,
            mask,
            wide,
            stop: stop.saturating_sub(region.start),
            spin: warp.spin,
            spin_step: if alone { 0 } else { warp.haste },
            uniform: u32::from(warp.uniform && mask == u32::MAX),
            asks: 0,
            changes: 0,
            may_leave: u32::from(may_part && warp.haste == 1),
            live: 0,
            head: 0,
            round_count: 0,
            round_jumps: 0,
            shared: place(issue.block.shared),
            constant: place(self.cx.constant),
            params: place(self.cx.params),
            local: SpacePlace { start: local, len: issue.stack_end.into() },
            local_step: local_step as u64,
            stack: issue.stack.into(),
            run: run_helper::<LEVEL, WATCHED>,
            sides: sides_helper::<LEVEL, WATCHED>,
            load: load_helper::<LEVEL, WATCHED>,
            find: find_helper::<LEVEL, WATCHED>,
            window: window_helper::<WATCHED>,
            host: std::ptr::null_mut(),
        };
        let mut host = Host::<WATCHED> { runner: self, warp, issue, region, loads, fault: None };
        state.host = (&raw mut host).cast();
        // SAFETY: whoever gave the program this code vouches for it; the registers are those of the running function, and the helpers' host is
        // what they take it for. The runner is not used meanwhile but by them.
        let answer = unsafe { (region.compiled.code)(&raw mut state) };
        let fault = host.fault.take();
        self.asks |= state.asks != 0;
        self.changes += u64::from(state.changes);
        // Lanes that have parted and met in there have been on different ways.
        warp.uniform &= mask != u32::MAX || state.uniform != 0;
        let ran = state.executed - warp.executed;
        warp.thread_instructions += ran * lanes - state.idle;
        (warp.executed, warp.spin) = (state.executed, state.spin);
        warp.groups[g].stamp = state.stamp;
        let pc = region.start.wrapping_add(answer as u32);
        match fault {
            Some(fault) => {
                warp.groups[g].pc = pc;
                Err(fault)
            }
            None if answer & RegionState::ROUNDS != 0 => {
                // SAFETY: the first row of what was found above, which nobody else uses.
                let taken = unsafe { (*loads).rows[0].0 };
                let head = region.start.wrapping_add(state.head);
                let (count, jumps) = (state.round_count, state.round_jumps);
                let rounds = Rounds { branch: pc, head, count, jumps, live: state.live, taken };
                Ok(self.went_round(warp, g, rounds))
            }
            None => Ok(After::at(pc, answer & RegionState::CHOOSE != 0)),
        }
    }

    /// Lanes that have parted and are all together again: looks whether what is read from here on is equal in them, now and then.
    fn find_uniform(&mut self, warp: &mut Warp, frame: Frame, alike: Option<&[Reg]>) {
        let (pause, last) = &mut warp.uniform_pause;
        if *pause > 0 {
            *pause -= 1;
            return;
        }
        *last = (*last * 2).min(LONGEST_PAUSE);
        *pause = *last;
        let equal = |r: &Reg| {
            // SAFETY: registers of the function that the frame belongs to, by their widths.
            unsafe {
                match r.width() {
                    Width::Pred => matches!(frame.pred(*r), 0 | u32::MAX),
                    Width::W32 => are_equal(&(*frame.row::<u32>(*r)).0),
                    Width::W64 => are_equal(&(*frame.row::<u64>(*r)).0),
                    Width::W128 => false,
                }
            }
        };
        warp.uniform = alike.is_some_and(|alike| alike.iter().all(equal));
    }

    /// Executes operations of a region one by one, for the lanes of the issue, of which arithmetic may write more.
    #[inline(always)]
    fn run_range_here<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        to: u32,
        wide: u32,
    ) -> Fallible<()> {
        let (frame, program) = (issue.frame, self.cx.program);
        for (n, inst) in program.code[issue.pc as usize..to as usize].iter().enumerate() {
            let guard = holds(frame, Guard { pred: inst.guard, negated: inst.flip != 0 });
            let active = opaque(issue.mask & guard);
            if active == 0 {
                continue;
            }
            let issue = Issue { pc: issue.pc + n as u32, mask: active, ..issue };
            match &inst.op {
                // SAFETY: operands were checked when the program was built, and the host has the level.
                Op::Lanes(f, operands) => unsafe {
                    f.run(Level::ALL[LEVEL], frame, operands, wide & guard);
                },
                Op::Load(access, dst) => {
                    self.load_vector::<LEVEL>(warp, issue, access, std::slice::from_ref(dst))?
                }
                Op::Store(access, src) => {
                    self.store_vector::<LEVEL>(warp, issue, access, std::slice::from_ref(src))?;
                }
                Op::LoadVector(access, list) => {
                    self.load_vector::<LEVEL>(warp, issue, access, list.of(&program.lists))?;
                }
                Op::StoreVector(access, list) => {
                    self.store_vector::<LEVEL>(warp, issue, access, list.of(&program.lists))?;
                }
                Op::Special(dst, special) => self.special(issue, 0, *dst, *special),
                Op::StackAddress { dst, offset, generic } => {
                    let base = if *generic { window::base(StateSpace::Local).unwrap_or(0) } else { 0 };
                    let address = base.wrapping_add(u64::from(issue.stack)).wrapping_add_signed(*offset);
                    put(frame, *dst, active, &[address; 32]);
                }
                Op::Nop
                | Op::Branch(_)
                | Op::Region(_)
                | Op::Atomic(_)
                | Op::ActiveMask(_)
                | Op::Collective(_)
                | Op::Barrier(_)
                | Op::Switch { .. }
                | Op::Call(_)
                | Op::Ret
                | Op::Exit
                | Op::Trap
                | Op::Fence(_)
                | Op::System(_)
                | Op::Stack(_)
                | Op::Yield
                | Op::Async(_)
                | Op::Matrix(_)
                | Op::Texture(_) => {}
            }
        }
        Ok(())
    }

    /// Looks how the lanes of a register lie, which is one of the function that the frame belongs to.
    #[inline(always)]
    fn find_pattern_here<const LEVEL: usize>(
        &mut self,
        frame: Frame,
        (base, bytes): (Reg, u32),
        into: &mut LanePattern,
    ) -> Fallible<()> {
        // SAFETY: compiled regions name registers of their function alone.
        *into = unsafe { LanePattern::of(frame, base, bytes) };
        Ok(())
    }

    /// The places of a group's batches, if those are asked for and all have some, or else their values in rows of scratch memory. Loads that may fault
    /// are made in the order of the program.
    #[inline(always)]
    fn load_group_here<const LEVEL: usize>(
        &mut self,
        warp: &Warp,
        issue: Issue<'_>,
        (region, number): (&FastRegion, u32),
        into: (*mut Loads, Placed<'_>),
    ) -> Fallible<()> {
        let (loads, Placed { placed, rows }) = into;
        let Some(group) = region.groups.get(number as usize) else {
            // Code asks for groups that its region has; if one of them were lost, it must not read where nothing was found.
            debug_assert!(false, "the region has no group {number}");
            *placed = false;
            return Ok(());
        };
        let first = |batch: &Batch| batch.loads.first().map_or(issue.pc, |load| load.pc);
        if *placed {
            // SAFETY: the caller's loads, which nobody else uses meanwhile.
            let places = unsafe { &mut (*loads).places };
            *placed = group.batches.iter().zip(places).all(|(batch, places)| {
                let issue = Issue { pc: first(batch), ..issue };
                let lines = self.lines_over(warp, issue, &batch.lowest, batch.more, AccessKind::Load);
                let bytes = usize::from(batch.lowest.bytes) * usize::from(batch.lowest.count);
                lines.is_some_and(|lines| lines.chunks(batch.lowest.space, bytes, batch.more, places))
            });
            if *placed {
                return Ok(());
            }
        }
        if !rows {
            return Ok(());
        }
        // SAFETY: only registers that `Batch` has numbered are used with it, which are within it.
        let scratch = unsafe { Frame::new((&raw mut (*loads).rows).cast(), self.cx.constants.as_ptr()) };
        let mut scattered = 0u64;
        for (n, batch) in group.batches.iter().enumerate() {
            let issue = Issue { pc: first(batch), ..issue };
            let Some(lines) = self.lines_over(warp, issue, &batch.lowest, batch.more, AccessKind::Load)
            else {
                scattered |= 1 << n;
                continue;
            };
            for load in &batch.loads {
                let into = Issue { frame: scratch, ..issue };
                // SAFETY: the lines were found for all accesses of the batch, and the registers are rows of scratch memory.
                unsafe { load_batch_lines(&lines, into, &load.access, load.past, &load.dst) }
            }
        }
        if scattered == 0 {
            return Ok(());
        }
        for &(batch, load) in &group.order {
            if scattered >> batch & 1 != 0 {
                let load = &group.batches[batch].loads[load];
                let issue = Issue { pc: load.pc, ..issue };
                self.load_into::<LEVEL>(warp, issue, scratch, &load.access, &load.dst)?;
            }
        }
        Ok(())
    }
}

/// Regions at most from one look whether lanes agree to the next.
const LONGEST_PAUSE: u32 = 256;

fn are_equal<T: Copy + PartialEq>(lanes: &[T; 32]) -> bool {
    lanes.iter().fold(true, |equal, lane| equal & (*lane == lanes[0]))
}

fn place(bytes: &Bytes) -> SpacePlace {
    SpacePlace { start: bytes.start(), len: bytes.len() as u64 }
}

/// Whether the places of data are asked for, and then whether all data have one; and whether values will do.
struct Placed<'p> {
    placed: &'p mut bool,
    rows: bool,
}

by_level! {
    pub(super) run_range run_range_here run_range_baseline run_range_avx2 run_range_avx512
        (warp: &Warp, issue: Issue<'_>, to: u32, wide: u32);
    load_group load_group_here load_group_baseline load_group_avx2 load_group_avx512
        (warp: &Warp, issue: Issue<'_>, group: (&FastRegion, u32), into: (*mut Loads, Placed<'_>));
    find_pattern find_pattern_here find_pattern_baseline find_pattern_avx2 find_pattern_avx512
        (frame: Frame, of: (Reg, u32), into: &mut LanePattern);
}

/// # Safety
/// `state` has the host that the region was called with.
unsafe extern "C" fn run_helper<const LEVEL: usize, const WATCHED: bool>(
    state: *mut RegionState,
    from: u32,
    to: u32,
    mask: u32,
    wide: u32,
) -> u32 {
    // SAFETY: the caller's promise; the host lives while the region's code runs, and nothing else uses it or the runner.
    let (host, runner) = unsafe {
        let host = &mut *(*state).host.cast::<Host<'_, '_, WATCHED>>();
        let runner = host.runner;
        (host, &mut *runner)
    };
    let start = host.region.start;
    let issue = Issue { pc: start + from, mask, ..host.issue };
    host.fault = runner.run_range::<LEVEL>(host.warp, issue, start + to, wide).err();
    u32::from(host.fault.is_some())
}

/// # Safety
/// As for [`run_helper`].
unsafe extern "C" fn load_helper<const LEVEL: usize, const WATCHED: bool>(
    state: *mut RegionState,
    group: u32,
    mask: u32,
    question: u32,
) -> u32 {
    // SAFETY: as in `run_helper`.
    let (host, runner) = unsafe {
        let host = &mut *(*state).host.cast::<Host<'_, '_, WATCHED>>();
        let runner = host.runner;
        (host, &mut *runner)
    };
    let issue = Issue { mask, ..host.issue };
    let rows = question != RegionState::PLACES_ALONE;
    let mut placed = question != RegionState::ROWS_ALONE && mask == u32::MAX;
    let into = (host.loads, Placed { placed: &mut placed, rows });
    match runner.load_group::<LEVEL>(host.warp, issue, (host.region, group), into) {
        Ok(()) if placed => RegionState::PLACES,
        Ok(()) if rows => RegionState::ROWS,
        Ok(()) => RegionState::NOT_PLACED,
        Err(fault) => {
            host.fault = Some(fault);
            RegionState::FAILED
        }
    }
}

/// # Safety
/// As for [`run_helper`].
unsafe extern "C" fn find_helper<const LEVEL: usize, const WATCHED: bool>(
    state: *mut RegionState,
    number: u32,
) -> u32 {
    // SAFETY: as in `run_helper`; the patterns are those of the region, and nothing else uses them now.
    let (host, runner, into) = unsafe {
        let host = &*(*state).host.cast::<Host<'_, '_, WATCHED>>();
        (host, &mut *host.runner, &mut *(*state).patterns.add(number as usize))
    };
    let Some(of) = host.region.compiled.patterns.get(number as usize) else {
        return LanePattern::NONE;
    };
    match runner.find_pattern::<LEVEL>(host.issue.frame, *of, into) {
        Ok(()) => into.state,
        Err(_) => LanePattern::NONE,
    }
}

/// # Safety
/// As for [`run_helper`].
unsafe extern "C" fn window_helper<const WATCHED: bool>(
    state: *mut RegionState,
    number: u32,
    address: u64,
) -> u32 {
    // SAFETY: as in `run_helper`; code asks for numbers that its region has windows for.
    unsafe {
        let cx = (*(*(*state).host.cast::<Host<'_, '_, WATCHED>>()).runner).cx;
        let found = cx.global.get(cx.global.find(address)).filter(|a| !a.heap && address - a.start < a.len);
        let Some(a) = found else { return 0 };
        *(*state).windows.add(number as usize) = Window { start: a.start, len: a.len, host: a.bytes.start() };
        1
    }
}
