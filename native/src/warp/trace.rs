//! Blocks that lanes go through in one loop: those that compute and do nothing else, through jumps and short branches.
//!
//! Nobody sees in which order lanes execute blocks that access no memory. What counts is where lanes have parted, and that is known behind the loop. So both
//! sides of a short branch are computed for all lanes, each of which takes its own, and what comes before and after them is in the same loop. A trace ends
//! where lanes may part for longer, before what accesses memory, and where it comes back to itself: what is computed behind the place at which
//! a loop is left goes with the round before.
//!
//! A trace is not gone through where the loop of the engine might have to decide something in it: its blocks are executed one by one then. That is rare, and
//! so the engine computes what is in them.

use super::parts::compute;
use super::plan::plan;
use super::recipe::{Block, Exit, Part, Source, Step, What};
use warpsmith_interp::engine::{self, LiveRegisters, Program, Reg, Region, RegionOp, Width};

/// A stretch of blocks as one loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Trace {
    pub steps: Vec<Step>,
    /// The registers that somebody reads afterwards, of those that are written.
    pub keep: Vec<Reg>,
    /// Where lanes may part and meet, in the order of the steps.
    pub forks: Vec<Fork>,
    /// The statements after the last of them, and those of all blocks.
    pub rest: u32,
    pub most: u32,
    /// Jumps back.
    pub backs: u32,
    /// All of it is before this place, and where others wait there, the loop of the engine need not look.
    pub top: u32,
    pub end: End,
}

/// Statements before lanes may part, and those on the side of lanes that do not take the branch and of those that do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fork {
    pub before: u32,
    pub sides: [u32; 2],
}

/// A loop that computes and does nothing else, and is left at its end alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Orbit {
    pub steps: Vec<Step>,
    pub keep: Vec<Reg>,
    /// The registers that a round has from the one before.
    pub carried: Vec<Reg>,
    /// Lanes stay in it in which this predicate is so.
    pub pred: Reg,
    pub stay: bool,
    /// Statements of a round, and jumps back in it beside the branch at its end.
    pub count: u32,
    pub backs: u32,
    /// As of a trace.
    pub top: u32,
    /// Where it begins, and where that branch is.
    pub head: u32,
    pub branch: u32,
}

/// Where a trace ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum End {
    /// With the branch of a block.
    Branch(usize),
    /// At a place, and whether to get there is a jump back.
    At(i64, bool),
}

/// The way that is not taken of a block's branch and the other, where lanes that part there meet again without branching further.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub meet: u32,
    pub rest: usize,
    pub taken: Option<usize>,
}

/// Operations on one side of a branch at most for lanes to part and meet in code.
const SIDE: u32 = 64;
/// Operations on a side that are computed for lanes of the other, too.
const BOTH: usize = 12;
/// Operations of a round at least for values to stay in registers.
const LEAST: usize = 3;
/// Operations of a trace at most.
const MOST: usize = 96;

/// The sides of a block's branch, if lanes meet soon.
pub(super) fn sides(blocks: &[Block], n: usize) -> Option<Sides> {
    let block = blocks.get(n)?;
    let Exit::Branch(to, Some(_)) = block.exit else { return None };
    let [rest, others @ ..] = blocks.get(n + 1..)? else { return None };
    let short = |side: &Block| side.end - side.start <= SIDE;
    let to = u32::try_from(to).ok().filter(|to| *to == rest.end && rest.start == block.end && short(rest))?;
    match rest.exit {
        Exit::Fall => Some(Sides { meet: to, rest: n + 1, taken: None }),
        Exit::Branch(meet, None) => {
            let taken = others.first().filter(|taken| taken.start == to && short(taken))?;
            let meets = taken.exit == Exit::Fall && i64::from(taken.end) == meet;
            meets.then_some(Sides { meet: taken.end, rest: n + 1, taken: Some(n + 2) })
        }
        Exit::Branch(_, Some(_)) => None,
    }
}

/// What is done in a block, if that is arithmetic alone.
fn arithmetic(program: &Program, block: &engine::Block<'_>, fused_multiply: bool) -> Option<Vec<Step>> {
    let step = |op: &RegionOp<'_>| match op {
        RegionOp::Lanes(step) => Some(compute(program, step, plan(program, step, fused_multiply)?)),
        RegionOp::Load(_) | RegionOp::Store(_) | RegionOp::Engine => None,
    };
    block.ops.iter().map(step).collect()
}

struct Tracer<'b> {
    blocks: &'b [Block],
    arithmetic: Vec<Option<Vec<Step>>>,
    live: Vec<&'b LiveRegisters>,
}

/// Gives blocks their traces, and what is in those to the engine where they are not gone through. The answer is which blocks are in them.
pub(super) fn traces(
    program: &Program,
    region: &Region<'_>,
    fused_multiply: bool,
    blocks: &mut [Block],
) -> Vec<bool> {
    let arithmetic = region.blocks.iter().map(|block| arithmetic(program, block, fused_multiply)).collect();
    let live = region.blocks.iter().map(|block| &block.live).collect();
    let tracer = Tracer { blocks, arithmetic, live };
    let mut found: Vec<Option<Trace>> = vec![None; blocks.len()];
    let mut orbits: Vec<Option<Orbit>> = vec![None; blocks.len()];
    let (mut seen, mut within) = (vec![false; blocks.len()], vec![false; blocks.len()]);
    for first in 0..blocks.len() {
        // From each block on that nothing has come to yet.
        let mut from = if within[first] { Vec::new() } else { vec![first] };
        while let Some(n) = from.pop() {
            if std::mem::replace(&mut seen[n], true) {
                continue;
            }
            orbits[n] = tracer.orbit(n);
            let Some((trace, visited)) = tracer.follow(n) else {
                from.extend(tracer.after(n));
                continue;
            };
            visited.into_iter().for_each(|n| within[n] = true);
            match trace.end {
                End::Branch(last) => from.extend(tracer.after(last)),
                End::At(to, _) => from.extend(tracer.at(to)),
            }
            found[n] = Some(trace);
        }
    }
    for (n, (block, trace)) in blocks.iter_mut().zip(found).enumerate() {
        // To some lanes come without a trace, such as to a loop of one block.
        within[n] &= trace.is_some() || !seen[n];
        block.trace = trace;
        block.orbit = orbits[n].take();
        if within[n] {
            let body = block.end - u32::from(block.exit != Exit::Fall);
            block.parts = if body > block.start { vec![Part::Engine(block.start, body)] } else { Vec::new() };
        }
    }
    within
}

impl Tracer<'_> {
    fn at(&self, place: i64) -> Option<usize> {
        self.blocks.iter().position(|block| i64::from(block.start) == place)
    }

    /// The blocks that lanes come to from a block, but for the sides of a branch behind which they meet.
    fn after(&self, n: usize) -> Vec<usize> {
        let block = &self.blocks[n];
        let places = match (sides(self.blocks, n), block.exit) {
            (Some(sides), _) => vec![sides.meet.into()],
            (None, Exit::Fall) => vec![block.end.into()],
            (None, Exit::Branch(to, None)) => vec![to],
            (None, Exit::Branch(to, Some(_))) => vec![block.end.into(), to],
        };
        places.into_iter().filter_map(|place| self.at(place)).collect()
    }

    /// The trace from a block on, and the blocks in it, if it is more than that block.
    fn follow(&self, first: usize) -> Option<(Trace, Vec<usize>)> {
        let (trace, visited) = self.walk(first)?;
        let computes = |n: &&usize| self.arithmetic[**n].as_ref().is_some_and(|own| !own.is_empty());
        (visited.iter().filter(computes).count() >= 2).then_some((trace, visited))
    }

    /// The loop that a trace is, without branches in it and left behind it.
    fn orbit(&self, first: usize) -> Option<Orbit> {
        let (trace, _) = self.walk(first)?;
        let End::Branch(last) = trace.end else { return None };
        let block = &self.blocks[last];
        let Exit::Branch(to, Some((pred, negated))) = block.exit else { return None };
        let head = self.blocks[first].start;
        let (stay, exit) = if to == i64::from(head) {
            (!negated, i64::from(block.end))
        } else if block.end == head {
            (negated, to)
        } else {
            return None;
        };
        if !trace.forks.is_empty() || exit < i64::from(trace.top) || trace.steps.len() < LEAST {
            return None;
        }
        let (mut carried, mut written): (Vec<Reg>, Vec<Reg>) = (Vec::new(), Vec::new());
        let all: Vec<Reg> = trace.steps.iter().filter_map(Step::written).collect();
        for step in &trace.steps {
            // Where a guard does not hold the old value stays.
            let kept = step.guard.and_then(|_| step.written());
            for r in step.read().chain(kept) {
                if all.contains(&r) && !written.contains(&r) && !carried.contains(&r) {
                    carried.push(r);
                }
            }
            written.extend(step.written());
        }
        let Trace { steps, keep, rest: count, backs, top, .. } = trace;
        Some(Orbit { steps, keep, carried, pred, stay, count, backs, top, head, branch: block.end - 1 })
    }

    /// The trace from a block on, and the blocks in it.
    fn walk(&self, first: usize) -> Option<(Trace, Vec<usize>)> {
        self.arithmetic[first].as_ref()?;
        let (mut steps, mut forks, mut visited) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rest, mut most, mut backs, mut top) = (0, 0, 0, 0);
        let mut n = first;
        let (end, last) = loop {
            let block = &self.blocks[n];
            steps.extend(self.arithmetic[n].iter().flatten().cloned());
            visited.push(n);
            (rest, most) = (rest + block.count, most + block.count);
            let mut last = n;
            top = top.max(block.end);
            let (to, back) = match block.exit {
                Exit::Fall => (i64::from(block.end), false),
                Exit::Branch(to, None) => (to, to < i64::from(block.end)),
                Exit::Branch(_, Some(guard)) => {
                    let short = |sides: &Sides| {
                        [Some(sides.rest), sides.taken].into_iter().flatten().all(|side| {
                            self.arithmetic[side].as_ref().is_some_and(|steps| steps.len() <= BOTH)
                                && !visited.contains(&side)
                        })
                    };
                    let Some(sides) = sides(self.blocks, n).filter(short) else { break (End::Branch(n), n) };
                    let own = |side: Option<usize>| {
                        side.map_or(&[][..], |n| self.arithmetic[n].as_deref().unwrap_or(&[]))
                    };
                    part(&mut steps, guard, [own(Some(sides.rest)), own(sides.taken)]);
                    let count = |side: Option<usize>| side.map_or(0, |n| self.blocks[n].count);
                    let counts = [count(Some(sides.rest)), count(sides.taken)];
                    forks.push(Fork { before: rest, sides: counts });
                    (rest, most, last) = (0, most + counts[0] + counts[1], sides.rest);
                    visited.extend([Some(sides.rest), sides.taken].into_iter().flatten());
                    // Who waits where they meet is met there.
                    top = top.max(sides.meet + 1);
                    (sides.meet.into(), false)
                }
            };
            let next = self.at(to).filter(|next| {
                let own = self.arithmetic[*next].as_ref();
                !visited.contains(next) && own.is_some_and(|own| steps.len() + own.len() <= MOST)
            });
            let Some(next) = next else { break (End::At(to, back), last) };
            backs += u32::from(back);
            n = next;
        };
        let mut keep: Vec<Reg> = Vec::new();
        for r in steps.iter().filter_map(Step::written) {
            // Predicates share rows, by which the sets go.
            let lives = r.width() == Width::Pred || self.live[last].contains(r);
            if lives && !keep.contains(&r) {
                keep.push(r);
            }
        }
        Some((Trace { steps, keep, forks, rest, most, backs, top, end }, visited))
    }
}

/// Both sides of a branch by this guard: the one of the lanes that do not take it, and the other.
fn part(steps: &mut Vec<Step>, (pred, negated): (Reg, bool), [rest, taken]: [&[Step]; 2]) {
    let mark = |what: What, src: Vec<Source>| Step {
        what,
        dst: pred,
        src,
        guard: None,
        double: false,
        uniform: false,
        sum: None,
        even: None,
        unused: false,
    };
    let mut written: Vec<Source> = Vec::new();
    for r in rest.iter().chain(taken).filter_map(Step::written) {
        if !written.contains(&Source::Reg(r)) {
            written.push(Source::Reg(r));
        }
    }
    steps.push(mark(What::Part { negated }, vec![Source::Reg(pred)]));
    steps.extend_from_slice(rest);
    steps.push(mark(What::Other, Vec::new()));
    steps.extend_from_slice(taken);
    steps.push(mark(What::Meet, written));
}
