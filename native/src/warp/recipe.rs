//! What is compiled of a region: a description that holds nothing of the program that it comes from but what its code depends on, so that equal
//! regions have the same code.

use super::plan::{Plan, plan};
use std::collections::HashSet;
use warpsmith_interp::engine::{
    BatchGroup, BlockEnd, PlainLoad, Program, Reg, Region, RegionOp, RegionState, RunStep, Width,
};
use warpsmith_isa::StateSpace;

/// A region. Places are relative to its start.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Recipe {
    pub blocks: Vec<Block>,
    pub groups: Vec<BatchGroup>,
}

impl Recipe {
    /// Loads are made for it before loops.
    pub fn has_batches(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The loops over lanes that it has.
    pub fn loops(&self) -> usize {
        let parts = self.blocks.iter().flat_map(|block| &block.parts);
        parts.filter(|part| matches!(part, Part::Chunks { .. })).count()
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Block {
    pub start: u32,
    pub end: u32,
    pub parts: Vec<Part>,
    /// The statements that are counted in it, a branch at its end included.
    pub count: u32,
    /// How many of those statements are the branch.
    pub branch_count: u32,
    pub exit: Exit,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// The engine executes the operations from one place to another.
    Engine(u32, u32),
    /// Loads and arithmetic, four lanes at a time.
    Chunks {
        /// The group of batches that its loads are, and whether the code can read them where they are.
        loads: Option<(u32, bool)>,
        steps: Vec<Step>,
        /// The registers that somebody reads afterwards, of those that are written.
        keep: Vec<Reg>,
        from: u32,
        to: u32,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Exit {
    Fall,
    /// Where to, as a difference to the region's start, the guard and whether it is negated.
    Branch(i64, Option<(Reg, bool)>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Step {
    pub what: What,
    pub dst: Reg,
    pub src: Vec<Source>,
    pub guard: Option<(Reg, bool)>,
    /// Of 64 bits.
    pub double: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum What {
    Compute(Plan),
    /// Takes what a batch loads.
    Fetch(Fetch),
}

/// An element of a load.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Fetch {
    /// The row of scratch memory where its values are if the engine has loaded them.
    pub row: u32,
    /// The batch, by its number in the group, and by how many bytes the load is past the batch's lowest.
    pub batch: u32,
    pub past: u32,
    /// Bytes that a lane loads, those before this element, and the element's.
    pub lane: u32,
    pub before: u32,
    pub bytes: u32,
    pub signed: bool,
    /// Local memory, in which lanes are apart.
    pub local: bool,
}

/// Bytes of a lane that code reads at most.
const LARGEST: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    Reg(Reg),
    Number(u32),
}

/// Fewer operations than this are not worth a loop of their own: the engine executes them.
const LEAST: usize = 2;
/// So many operations in one loop at most: what they keep has to fit registers.
const MOST: usize = 192;

/// A part in the making.
#[derive(Default)]
struct Open<'a> {
    from: u32,
    steps: Vec<Step>,
    loads: Vec<(u32, PlainLoad<'a>, u32)>,
    written: HashSet<Reg>,
    rows: u32,
}

/// What is compiled of a region, and how many operations that are.
pub(super) fn recipe(program: &Program, region: &Region<'_>, fused_multiply: bool) -> (Recipe, usize) {
    let start = region.range.start;
    let mut recipe = Recipe { blocks: Vec::new(), groups: Vec::new() };
    let mut operations = 0;
    for block in &region.blocks {
        let first = block.range.start - start;
        let mut parts = Vec::new();
        let mut open = Open { from: first, ..Open::default() };
        for (n, op) in block.ops.iter().enumerate() {
            let place = first + n as u32;
            match op {
                RegionOp::Lanes(step) => match plan(program, step, fused_multiply) {
                    Some(plan) => {
                        if open.steps.len() >= MOST {
                            operations += close(&mut open, place, &mut parts, &mut recipe.groups);
                        }
                        open.written.insert(step.dst);
                        open.steps.push(compute(program, step, plan));
                        continue;
                    }
                    None => operations += close(&mut open, place, &mut parts, &mut recipe.groups),
                },
                RegionOp::Load(load) => {
                    let rows: u32 = load.dst.iter().map(|r| r.width().words() / 32).sum();
                    if open.written.contains(&load.base)
                        || open.rows + rows > RegionState::SCRATCH
                        || open.steps.len() >= MOST
                    {
                        operations += close(&mut open, place, &mut parts, &mut recipe.groups);
                    }
                    if rows <= RegionState::SCRATCH {
                        open.load(place, load);
                        continue;
                    }
                }
                RegionOp::Engine => operations += close(&mut open, place, &mut parts, &mut recipe.groups),
            }
            by_engine(&mut parts, place, place + 1);
            open.from = place + 1;
        }
        let end = block.range.end - start;
        let (body_end, exit) = match block.end {
            BlockEnd::Fall => (end, Exit::Fall),
            BlockEnd::Branch(to, guard) => {
                let to = i64::from(to) - i64::from(start);
                (end - 1, Exit::Branch(to, guard.map(|guard| (guard.pred, guard.negated))))
            }
        };
        operations += close(&mut open, body_end, &mut parts, &mut recipe.groups);
        keep(program, block, start, &mut parts);
        recipe.blocks.push(Block {
            start: first,
            end,
            parts,
            count: block.count,
            branch_count: block.branch_count,
            exit,
        });
    }
    (recipe, operations)
}

/// Decides what parts keep: going back from the end of the block.
fn keep(program: &Program, block: &warpsmith_interp::engine::Block<'_>, start: u32, parts: &mut [Part]) {
    let mut live = block.live.clone();
    let mut at = block.range.end;
    for part in parts.iter_mut().rev() {
        let Part::Chunks { steps, keep, to, .. } = part else { continue };
        while at > start + *to {
            at -= 1;
            program.live_before(at, &mut live);
        }
        for step in steps {
            // Predicates share rows, by which the sets go.
            let lives = step.dst.width() == Width::Pred || live.contains(step.dst);
            if lives && !keep.contains(&step.dst) {
                keep.push(step.dst);
            }
        }
    }
}

fn by_engine(parts: &mut Vec<Part>, from: u32, to: u32) {
    match parts.last_mut() {
        Some(Part::Engine(_, end)) if *end == from => *end = to,
        _ => parts.push(Part::Engine(from, to)),
    }
}

fn compute(program: &Program, step: &RunStep<'_>, plan: Plan) -> Step {
    let source = |r: &Reg| program.small_constant(*r).map_or(Source::Reg(*r), Source::Number);
    Step {
        what: What::Compute(plan),
        dst: step.dst,
        src: step.src[..step.sources].iter().map(source).collect(),
        guard: step.guard.map(|guard| (guard.pred, guard.negated)),
        double: step.instruction.ty().is_some_and(|ty| ty.bits() == 64),
    }
}

impl<'a> Open<'a> {
    fn load(&mut self, place: u32, load: &PlainLoad<'a>) {
        self.loads.push((place, *load, self.rows));
        let (bytes, signed) = load.element;
        for (r, before) in load.dst.iter().zip((0..).step_by(bytes as usize)) {
            let local = load.kind.0 == StateSpace::Local;
            // The batch is found when there are all.
            let (batch, past) = (self.loads.len() as u32 - 1, 0);
            let fetch = Fetch { row: self.rows, batch, past, lane: load.bytes, before, bytes, signed, local };
            let what = What::Fetch(fetch);
            self.rows += r.width().words() / 32;
            self.written.insert(*r);
            self.steps.push(Step {
                what,
                dst: *r,
                src: Vec::new(),
                guard: None,
                double: r.width() == Width::W64,
            });
        }
    }
}

/// Ends a part before a place, and begins another there; gives how many operations it compiles.
fn close(open: &mut Open<'_>, place: u32, parts: &mut Vec<Part>, groups: &mut Vec<BatchGroup>) -> usize {
    let Open { from, mut steps, loads, .. } =
        std::mem::replace(open, Open { from: place, ..Open::default() });
    let computed = steps.iter().filter(|step| matches!(step.what, What::Compute(_))).count();
    if computed < LEAST {
        if place > from {
            by_engine(parts, from, place);
        }
        return 0;
    }
    // Loads of one kind from one register are one batch.
    let mut batches: Vec<Vec<(u32, PlainLoad<'_>, u32)>> = Vec::new();
    let mut numbers = Vec::new();
    for load in loads {
        let fits = |first: &PlainLoad<'_>| {
            let apart = load.1.offset.abs_diff(first.offset);
            first.base == load.1.base
                && first.kind == load.1.kind
                && apart % u64::from(load.1.bytes) == 0
                && apart < 1 << 20
        };
        let number = batches.iter().position(|batch| batch.first().is_some_and(|(_, first, _)| fits(first)));
        let number = number.unwrap_or_else(|| {
            batches.push(Vec::new());
            batches.len() - 1
        });
        numbers.push((number, load.1.offset));
        batches[number].push(load);
    }
    let lowest: Vec<i64> =
        batches.iter().map(|batch| batch.iter().map(|(_, load, _)| load.offset).min().unwrap_or(0)).collect();
    let mut placed = true;
    for step in &mut steps {
        let What::Fetch(fetch) = &mut step.what else { continue };
        let (batch, offset) = numbers[fetch.batch as usize];
        (fetch.batch, fetch.past) = (batch as u32, offset.abs_diff(lowest[batch]) as u32);
        placed &= fetch.lane <= LARGEST && (fetch.bytes < 8 || step.dst.width() == Width::W64);
    }
    let loads = (!batches.is_empty()).then(|| {
        let places =
            |batch: Vec<(u32, PlainLoad<'_>, u32)>| batch.into_iter().map(|(at, _, row)| (at, row)).collect();
        groups.push(batches.into_iter().map(places).collect());
        (groups.len() as u32 - 1, placed)
    });
    parts.push(Part::Chunks { loads, steps, keep: Vec::new(), from, to: place });
    computed
}
