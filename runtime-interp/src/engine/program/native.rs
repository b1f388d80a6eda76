//! Which regions of a program have machine code, and which are hot.

use super::Program;
use super::region::{BatchLoad, CompiledRegion, RefusedRegion, Regions, Tier};
use super::region_state::RegionState;
use super::trial::Trial;
use crate::engine::op::{Access, Inst, Op};
use crate::engine::reg::{Reg, Width};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The code of a program in which regions are single operations.
#[derive(Default)]
pub(in crate::engine) struct Fast {
    pub code: Vec<Inst>,
    pub entries: Vec<Entry>,
    pub regions: Vec<FastRegion>,
}

/// A block of a region, as a place to begin at.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Entry {
    pub region: u32,
    pub block: u32,
    /// The end of the block's operations, without its branch, and the end of the block.
    pub body_end: u32,
    pub end: u32,
}

/// A region with its code.
#[derive(Clone)]
pub(in crate::engine) struct FastRegion {
    pub start: u32,
    pub compiled: CompiledRegion,
    /// The numbers of its patterns in a warp, and of its windows for a host thread.
    pub patterns: Range<u32>,
    pub windows: Range<u32>,
    pub groups: Arc<[Group]>,
    /// For each block the registers in which lanes agree that have executed everything together.
    pub alike: Arc<[Option<Box<[Reg]>>]>,
}

/// Batches that code asks for together.
pub(in crate::engine) struct Group {
    pub batches: Vec<Batch>,
    /// Batches and loads in them, in the order of the program: that of faults.
    pub order: Vec<(usize, usize)>,
}

impl Group {
    fn new(program: &Program, start: u32, batches: &[Vec<BatchLoad>]) -> Option<Group> {
        let batches: Vec<Batch> =
            batches.iter().map(|loads| Batch::new(program, start, loads)).collect::<Option<_>>()?;
        let numbers =
            |(b, batch): (usize, &Batch)| (0..batch.loads.len()).map(move |l| (b, l)).collect::<Vec<_>>();
        let mut order: Vec<(usize, usize)> = batches.iter().enumerate().flat_map(numbers).collect();
        order.sort_by_key(|&(b, l)| batches[b].loads[l].pc);
        (order.len() <= RegionState::SCRATCH as usize).then_some(Group { batches, order })
    }
}

/// Loads from addresses that differ by constants.
pub(in crate::engine) struct Batch {
    pub loads: Vec<BatchAccess>,
    /// The access with the least offset, and by how much the greatest exceeds it.
    pub lowest: Access,
    pub more: u64,
}

pub(in crate::engine) struct BatchAccess {
    pub pc: u32,
    pub access: Access,
    /// Past the least offset.
    pub past: usize,
    /// Rows of scratch memory, as registers.
    pub dst: Vec<Reg>,
}

impl Batch {
    fn new(program: &Program, start: u32, loads: &[BatchLoad]) -> Option<Batch> {
        let mut list = Vec::new();
        for &(place, row) in loads {
            let pc = start + place;
            let (access, dst) = program.code.get(pc as usize)?.op.as_load(&program.lists)?;
            let access = *access;
            let mut row = row;
            let mut place = |width: Width| {
                let r = Reg::frame(row * 32, width);
                row += width.words() / 32;
                r
            };
            let dst = dst.iter().map(|r| place(r.width())).collect();
            list.push(BatchAccess { pc, access, past: 0, dst });
        }
        let lowest = list.iter().map(|load| load.access).min_by_key(|access| access.offset)?;
        let mut more = 0;
        for load in &mut list {
            let past = load.access.offset.abs_diff(lowest.offset);
            load.past = usize::try_from(past).ok()?;
            more = more.max(past);
        }
        Some(Batch { loads: list, lowest, more })
    }
}

/// What is known of a region.
struct Candidate {
    range: Range<u32>,
    /// About how many of its operations were interpreted, since its code was dropped if it had some.
    interpreted: u64,
    /// Compiled, or not worth it.
    done: bool,
    /// How often trials have dropped its code.
    drops: u32,
}

impl Candidate {
    /// So many of its operations are interpreted before it is compiled.
    fn patience(&self) -> u64 {
        let once = REPAID * self.range.len() as u64;
        AGAIN.checked_pow(self.drops).map_or(u64::MAX, |factor| once.saturating_mul(factor))
    }
}

#[derive(Default)]
struct Inner {
    candidates: Option<Vec<Candidate>>,
    fast: Arc<Fast>,
    operations: usize,
    refused: Vec<RefusedRegion>,
    /// Patterns and windows that regions have had. Their numbers are not used again: warps that go on remember what they are of.
    patterns: u32,
    windows: u32,
    /// The version that is on trial, and what is known of it unless a host thread is timing its turns.
    on_trial: Option<u32>,
    trial: Option<Box<Trial>>,
    /// A host thread compiles what another one shall not compile beside it, so that each region is timed alone.
    compiling: bool,
}

/// The machine code of a program, made while it is executed.
pub(in crate::engine) struct Native {
    tier: Arc<dyn Tier>,
    inner: Mutex<Inner>,
    /// Counts the changes of what is compiled.
    version: AtomicU32,
    /// Jumps back and turns that were left until the next look when a launch ended.
    pub cool: AtomicU32,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Native({:?}, version {})", self.tier, self.version())
    }
}

/// A region is compiled when so many operations were interpreted there for each that it has: to compile one takes as long as to interpret up to 12,000,
/// and no launch shall take a tenth longer for it.
const REPAID: u64 = 160_000;
/// A region whose code was dropped is tried again after so many times as much, and after each further time again: what its lanes do may change, and a trial takes
/// less than a hundredth of what has passed by then.
const AGAIN: u64 = 16;
/// So many jumps back and turns of warps pass from one look at where they are to the next.
pub(in crate::engine) const PERIOD: u32 = 1024;

impl Inner {
    fn candidates(&mut self, program: &Program) -> &mut Vec<Candidate> {
        self.candidates.get_or_insert_with(|| {
            let ranges = program.region_ranges().into_iter();
            ranges.map(|range| Candidate { range, interpreted: 0, done: false, drops: 0 }).collect()
        })
    }
}

impl Native {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn version(&self) -> u32 {
        self.version.load(Ordering::Acquire)
    }

    /// The code and its version, with what is on trial in it if no other host thread sees to that.
    pub fn current(&self) -> (u32, Arc<Fast>, Option<Box<Trial>>) {
        let mut inner = self.lock();
        (self.version(), inner.fast.clone(), inner.trial.take())
    }

    /// A host thread comes to an end before a trial does: the next one goes on with it.
    pub fn put_back(&self, trial: Box<Trial>) {
        let mut inner = self.lock();
        if inner.on_trial == Some(trial.version) {
            inner.trial = Some(trial);
        }
    }

    /// Ends a trial: what gains nothing is interpreted again.
    pub fn decide(&self, trial: &Trial) {
        let mut inner = self.lock();
        if inner.on_trial != Some(trial.version) {
            return;
        }
        inner.on_trial = None;
        if !trial.gains() {
            let fast = std::mem::replace(&mut inner.fast, trial.without());
            for region in &fast.regions[trial.first as usize..] {
                inner.operations -= region.compiled.operations;
                let candidates = inner.candidates.iter_mut().flatten();
                for candidate in candidates.filter(|candidate| candidate.range.start == region.start) {
                    (candidate.done, candidate.interpreted) = (false, 0);
                    candidate.drops = candidate.drops.saturating_add(1);
                }
            }
            self.version.fetch_add(1, Ordering::Release);
        }
    }

    /// A warp is at a place, seen once in a while.
    pub fn sample(&self, program: &Program, pc: u32) {
        let mut inner = self.lock();
        let busy = inner.on_trial.is_some() || inner.compiling;
        let candidates = inner.candidates(program);
        let found = candidates.partition_point(|c| c.range.start <= pc).checked_sub(1);
        let candidate = found.and_then(|n| candidates.get_mut(n));
        let Some(candidate) = candidate.filter(|c| !c.done && c.range.contains(&pc)) else { return };
        let range = candidate.range.clone();
        // A jump back denotes a round of its loop, a turn for the whole region.
        let closes = |at: &u32| {
            let to = program.code.get(*at as usize).map(|inst| &inst.op);
            matches!(to, Some(Op::Branch(to)) if *to == pc)
        };
        let last = (pc..range.end).rev().find(closes);
        let round = last.map_or(range.len() as u64, |last| u64::from(last - pc) + 1);
        candidate.interpreted += u64::from(PERIOD) * round;
        if busy || candidate.interpreted < candidate.patience() {
            return;
        }
        candidate.done = true;
        inner.compiling = true;
        drop(inner);
        self.compile(program, vec![range], true);
        self.lock().compiling = false;
    }

    /// Compiles all that is not compiled yet.
    pub fn compile_all(&self, program: &Program) {
        let mut inner = self.lock();
        let rest = inner.candidates(program).iter_mut().filter(|c| !c.done);
        let done = |c: &mut Candidate| {
            c.done = true;
            c.range.clone()
        };
        let all: Vec<_> = rest.map(done).collect();
        drop(inner);
        if !all.is_empty() {
            self.compile(program, all, false);
        }
    }

    /// Compiles regions, on trial or for good.
    fn compile(&self, program: &Program, ranges: Vec<Range<u32>>, on_trial: bool) {
        let (mut made, mut regions) = (Vec::new(), Regions::new(program));
        for range in ranges {
            let region = regions.at(range);
            match self.tier.compile(program, &region) {
                Ok(compiled) => made.extend(compiled.map(|compiled| (region, compiled))),
                Err(reason) => {
                    let start = region.range.start;
                    let function = program.function_at(start).map(|f| program.function_name(f).to_owned());
                    let function = function.unwrap_or_default();
                    let refused = RefusedRegion { function, line: program.line(start), reason };
                    self.lock().refused.push(refused);
                }
            }
        }
        if made.is_empty() {
            return;
        }
        let mut inner = self.lock();
        let old = inner.fast.clone();
        let mut fast = Fast {
            code: if old.code.is_empty() { program.code.clone() } else { old.code.clone() },
            entries: old.entries.clone(),
            regions: old.regions.clone(),
        };
        let mut operations = 0;
        for (region, compiled) in made {
            let start = region.range.start;
            let groups: Option<Vec<Group>> =
                compiled.groups.iter().map(|batches| Group::new(program, start, batches)).collect();
            let Some(groups) = groups else { continue };
            operations += compiled.operations;
            for (n, block) in region.blocks.iter().enumerate() {
                // Where nothing but a branch is, the loop does it.
                if block.ops.len() < 2 {
                    continue;
                }
                let Range { start: pc, end } = block.range;
                let entry = Entry {
                    region: fast.regions.len() as u32,
                    block: n as u32,
                    body_end: pc + block.ops.len() as u32,
                    end,
                };
                let op = Op::Region(fast.entries.len() as u32);
                fast.code[pc as usize] = Inst { op, guard: Reg::ZERO, flip: u32::MAX, count: 0 };
                fast.entries.push(entry);
            }
            let alike = region.blocks.into_iter().map(|block| block.alike).collect();
            let groups = groups.into();
            let patterns = inner.patterns..inner.patterns + compiled.patterns.len() as u32;
            let windows = inner.windows..inner.windows + compiled.windows;
            (inner.patterns, inner.windows) = (patterns.end, windows.end);
            fast.regions.push(FastRegion { start, compiled, patterns, windows, groups, alike });
        }
        inner.fast = Arc::new(fast);
        inner.operations += operations;
        let version = self.version.fetch_add(1, Ordering::Release) + 1;
        (inner.on_trial, inner.trial) = (None, None);
        if on_trial {
            let first = old.regions.len() as u32;
            inner.on_trial = Some(version);
            inner.trial = Some(Box::new(Trial::new(version, first, [old, inner.fast.clone()])));
        }
    }
}

impl Program {
    /// Gives the program a maker of machine code: what launches execute often is compiled from now on, unless their machine says otherwise. Runs
    /// that are watched do not use it.
    pub fn set_tier(&mut self, tier: Arc<dyn Tier>) {
        let (inner, version, cool) = (Mutex::default(), AtomicU32::new(0), AtomicU32::new(PERIOD));
        self.native = Some(Arc::new(Native { tier, inner, version, cool }));
    }

    /// Compiles all regions now.
    pub fn compile_regions(&self) {
        if let Some(native) = &self.native {
            native.compile_all(self);
        }
    }

    /// The regions that the compiler has refused, which are interpreted.
    pub fn refused_regions(&self) -> Vec<RefusedRegion> {
        self.native.as_ref().map_or(Vec::new(), |native| native.lock().refused.clone())
    }

    /// How many regions were compiled and are interpreted again, since turns of warps took as long or longer with their code. They are tried again after a long
    /// while.
    pub fn dropped_regions(&self) -> usize {
        self.native.as_ref().map_or(0, |native| {
            let inner = native.lock();
            inner.candidates.iter().flatten().filter(|c| c.drops > 0 && !c.done).count()
        })
    }

    /// How many regions have machine code, and how many operations they compute themselves.
    pub fn compiled_regions(&self) -> (usize, usize) {
        self.native.as_ref().map_or((0, 0), |native| {
            let inner = native.lock();
            (inner.fast.regions.len(), inner.operations)
        })
    }
}
