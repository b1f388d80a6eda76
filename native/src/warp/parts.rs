//! The parts of a block: what is one loop over lanes, and what the engine executes between the loops.

use super::lines::OpenLines;
use super::plan::{Plan, plan};
use super::recipe::{Chunks, Fetch, Known, Part, Source, Space, Step, What};
use warpsmith_base::FxHashSet;
use warpsmith_interp::engine::{
    BatchGroup, LiveRegisters, PlainLoad, PlainStore, Program, Reg, RegionOp, RegionState, RunStep, Varying,
    Width,
};
use warpsmith_isa::StateSpace;

/// Bytes of a lane that code reads at most.
const LARGEST: u32 = 16;

/// Fewer operations than this are not worth a loop of their own: the engine executes them.
const LEAST: usize = 2;
/// So many operations in one loop at most: what they keep has to fit registers.
const MOST: usize = 192;

/// A part in the making.
#[derive(Default)]
pub(super) struct Open<'a> {
    from: u32,
    steps: Vec<Step>,
    loads: Vec<(u32, PlainLoad<'a>, u32)>,
    pub(super) written: FxHashSet<Reg>,
    rows: u32,
    pub(super) lines: OpenLines,
}

fn by_engine(parts: &mut Vec<Part>, from: u32, to: u32) {
    match parts.last_mut() {
        Some(Part::Engine(_, end)) if *end == from => *end = to,
        _ => parts.push(Part::Engine(from, to)),
    }
}

pub(super) fn compute(program: &Program, step: &RunStep<'_>, plan: Plan) -> Step {
    let source = |r: &Reg| program.small_constant(*r).map_or(Source::Reg(*r), Source::Number);
    Step {
        what: What::Compute(plan),
        dst: step.dst,
        src: step.src[..step.sources].iter().map(source).collect(),
        guard: step.guard.map(|guard| (guard.pred, guard.negated)),
        double: step.instruction.ty().is_some_and(|ty| ty.bits() == 64),
        uniform: false,
        sum: None,
        even: None,
        unused: false,
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
            self.steps.push(Step::fetched(what, *r));
        }
    }
}

/// Loads of one kind from one register are one batch: makes a group of them, and gives the steps the batch they take from.
fn batches(
    steps: &mut [Step],
    loads: Vec<(u32, PlainLoad<'_>, u32)>,
    groups: &mut Vec<BatchGroup>,
) -> Option<(u32, bool)> {
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
    for step in steps {
        let What::Fetch(fetch) = &mut step.what else { continue };
        let (batch, offset) = numbers[fetch.batch as usize];
        (fetch.batch, fetch.past) = (batch as u32, offset.abs_diff(lowest[batch]) as u32);
        placed &= fetch.lane <= LARGEST && (fetch.bytes < 8 || step.dst.width() == Width::W64);
    }
    (!batches.is_empty()).then(|| {
        let places =
            |batch: Vec<(u32, PlainLoad<'_>, u32)>| batch.into_iter().map(|(at, _, row)| (at, row)).collect();
        groups.push(batches.into_iter().map(places).collect());
        (groups.len() as u32 - 1, placed)
    })
}

fn computed(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step.what, What::Compute(_))).count()
}

/// Makes the parts of a block.
pub(super) struct Maker<'m, 'a> {
    /// What may differ from lane to lane where the next operation is.
    pub varying: Varying,
    /// What the block or what comes after it writes.
    pub(super) later: &'m LiveRegisters,
    groups: &'m mut Vec<BatchGroup>,
    pub(super) patterns: &'m mut Vec<(Reg, u32)>,
    pub(super) windows: &'m mut u32,
    pub parts: Vec<Part>,
    /// Those that it compiles.
    pub operations: usize,
    /// The loop that computes uniform values once, as far as it is known, and the parts of which it is the same.
    pub(super) once: Open<'a>,
    known: u32,
    pieces: Vec<Part>,
    /// How many groups there were before those of the pieces.
    groups_before: usize,
    open: Open<'a>,
}

/// So many operations of a loop that are computed once for all lanes are worth a second one.
const WORTH: usize = 2;

impl<'m, 'a> Maker<'m, 'a> {
    pub fn new(
        from: u32,
        (varying, later): (Varying, &'m LiveRegisters),
        (groups, patterns, windows): (&'m mut Vec<BatchGroup>, &'m mut Vec<(Reg, u32)>, &'m mut u32),
    ) -> Self {
        let (parts, pieces) = (Vec::new(), Vec::new());
        let [once, open] = [(); 2].map(|()| Open { from, ..Open::default() });
        let groups_before = groups.len();
        Maker {
            varying,
            later,
            groups,
            patterns,
            windows,
            parts,
            operations: 0,
            once,
            known: 0,
            pieces,
            groups_before,
            open,
        }
    }

    pub fn op(&mut self, program: &Program, place: u32, op: &RegionOp<'a>, fused_multiply: bool) {
        if self.once.steps.len() >= MOST {
            self.close(place);
        }
        match op {
            RegionOp::Lanes(step) => {
                if let Some(plan) = plan(program, step, fused_multiply) {
                    let step = compute(program, step, plan);
                    let uniform = plan.is_for_uniform()
                        && step.guard.is_none()
                        && step.src.iter().all(|source| match source {
                            Source::Reg(r) => self.is_uniform(*r),
                            Source::Number(_) => true,
                        });
                    self.open.written.insert(step.dst);
                    self.open.steps.push(step.clone());
                    let (dst, sum) = (step.dst, if uniform { None } else { self.sum(plan, &step) });
                    let even = if uniform { None } else { self.even(plan, &step) };
                    let is_even = even.is_some();
                    self.once_writes(Step { uniform, sum: sum.map(|(side, _)| side), even, ..step });
                    if let Some((_, root)) = sum {
                        self.once.lines.sums.insert(dst, root);
                    }
                    if is_even {
                        self.once.lines.evens.insert(dst);
                    }
                    return;
                }
            }
            RegionOp::Load(load) => {
                let rows: u32 = load.dst.iter().map(|r| r.width().words() / 32).sum();
                if rows <= RegionState::SCRATCH {
                    self.load(place, load, rows);
                    return;
                }
            }
            RegionOp::Store(store) if store.space == StateSpace::Shared => {
                if let Some(store) = self.line_store(place, store) {
                    self.close(place);
                    self.parts.push(Part::Store(store));
                    self.begin(place + 1);
                    return;
                }
            }
            RegionOp::Store(store) => {
                let on_stack = store.on_stack && store.base.width() != Width::W64;
                if self.once.loads.is_empty() && !on_stack && self.is_uniform(store.base) {
                    self.store(place, store);
                    return;
                }
            }
            RegionOp::Engine => {}
        }
        self.close(place);
        by_engine(&mut self.parts, place, place + 1);
        self.begin(place + 1);
    }

    fn begin(&mut self, place: u32) {
        let [once, open] = [(); 2].map(|()| Open { from: place, ..Open::default() });
        (self.once, self.open, self.known, self.groups_before) = (once, open, 0, self.groups.len());
    }

    /// Equal in all lanes, and computed before the loop if the loop computes it.
    pub(super) fn is_uniform(&self, r: Reg) -> bool {
        let last = self.once.steps.iter().rev().find(|step| step.written() == Some(r));
        match last {
            Some(step) => step.uniform,
            None => !self.varying.contains(r) && r.width() != Width::W128,
        }
    }

    fn once_writes(&mut self, step: Step) {
        if let Some(r) = step.written() {
            self.once.written.insert(r);
            self.once.lines.overwrite(r);
        }
        self.once.steps.push(step);
    }

    fn load(&mut self, place: u32, load: &PlainLoad<'a>, rows: u32) {
        let space = Space::of(load.kind.0).filter(|_| {
            let on_stack = load.kind.2 && load.base.width() != Width::W64;
            let (bytes, _) = load.element;
            let fits = |r: &Reg| if bytes < 8 { true } else { r.width() == Width::W64 };
            !on_stack && self.is_uniform(load.base) && load.dst.iter().all(fits)
        });
        let ends_piece =
            |open: &Open<'_>| open.written.contains(&load.base) || open.rows + rows > RegionState::SCRATCH;
        if space.is_none()
            && let Some(lines) = self.line_load(load)
        {
            if ends_piece(&self.open) {
                self.end_piece(place);
            }
            self.open.load(place, load);
            let batch = self.once.lines.access(lines, load.offset);
            let (bytes, signed) = load.element;
            for (r, before) in load.dst.iter().zip((0..).step_by(bytes as usize)) {
                // How far it is past the lowest is found when there are all.
                let fetch =
                    Fetch { row: 0, batch, past: 0, lane: load.bytes, before, bytes, signed, local: false };
                self.once_writes(Step::fetched(What::Line(fetch), *r));
            }
            return;
        }
        let Some(space) = space else {
            if ends_piece(&self.open) || !self.pieces.is_empty() {
                self.close(place);
            }
            self.open.load(place, load);
            self.once.load(place, load);
            return;
        };
        if ends_piece(&self.open) {
            if !self.once.loads.is_empty() {
                self.close(place);
            } else {
                self.end_piece(place);
            }
        }
        self.open.load(place, load);
        self.known += 1;
        let (bytes, signed) = load.element;
        for (r, before) in load.dst.iter().zip((0..).step_by(bytes as usize)) {
            let known = Known {
                number: self.known,
                space,
                base: load.base,
                offset: load.offset,
                on_stack: load.kind.2,
                size: load.bytes,
                before,
                bytes,
                signed,
            };
            self.once_writes(Step {
                what: What::Known(known),
                dst: *r,
                src: Vec::new(),
                guard: None,
                double: r.width() == Width::W64,
                uniform: space != Space::Local,
                sum: None,
                even: None,
                unused: false,
            });
        }
    }

    fn store(&mut self, place: u32, store: &PlainStore<'a>) {
        self.end_piece(place);
        by_engine(&mut self.pieces, place, place + 1);
        self.open = Open { from: place + 1, ..Open::default() };
        self.known += 1;
        for (r, before) in store.src.iter().zip((0..).step_by(store.element as usize)) {
            let known = Known {
                number: self.known,
                space: Space::Local,
                base: store.base,
                offset: store.offset,
                on_stack: store.on_stack,
                size: store.element * store.src.len() as u32,
                before,
                bytes: store.element,
                signed: false,
            };
            self.once_writes(Step {
                what: What::Store(known),
                dst: *r,
                src: vec![Source::Reg(*r)],
                guard: None,
                double: false,
                uniform: false,
                sum: None,
                even: None,
                unused: false,
            });
        }
    }

    /// Ends a piece of the part, and begins another.
    fn end_piece(&mut self, place: u32) {
        let Open { from, mut steps, loads, .. } =
            std::mem::replace(&mut self.open, Open { from: place, ..Open::default() });
        if computed(&steps) < LEAST {
            if place > from {
                by_engine(&mut self.pieces, from, place);
            }
            return;
        }
        let loads = batches(&mut steps, loads, self.groups);
        let (lines, roots, keep) = (Vec::new(), Vec::new(), Vec::new());
        self.pieces.push(Part::Chunks(Chunks { loads, lines, roots, steps, keep, from, to: place }));
    }

    /// Ends a part before a place, and begins another there.
    pub fn close(&mut self, place: u32) {
        self.end_piece(place);
        self.end_part(place);
        // Only now: the groups of the part that has ended are before those of the next one.
        self.begin(place);
    }

    fn end_part(&mut self, place: u32) {
        let Open { from, mut steps, loads, lines, .. } = std::mem::take(&mut self.once);
        let (pieces, before) = (std::mem::take(&mut self.pieces), self.groups_before);
        let of_pieces = pieces.iter().map(|piece| match piece {
            Part::Chunks(chunks) => computed(&chunks.steps),
            Part::Engine(..) | Part::Uniform { .. } | Part::Store(_) => 0,
        });
        let of_pieces: usize = of_pieces.sum();
        let known =
            steps.iter().any(|step| matches!(step.what, What::Known(_) | What::Store(_) | What::Line(_)));
        let uniform = steps.iter().filter(|step| step.uniform).count();
        let worth = known || loads.is_empty() && uniform >= WORTH;
        // What all lanes load from one place is as good as computed.
        let once = |step: &&Step| matches!(step.what, What::Known(known) if known.space != Space::Local);
        if worth && computed(&steps) + steps.iter().filter(once).count() >= LEAST {
            let groups = self.groups.len();
            // Only lanes that have parted do it otherwise: not worth a loop of its own.
            let rare = loads.is_empty() && lines.is_empty();
            let loads = batches(&mut steps, loads, self.groups);
            if loads.is_none_or(|(_, placed)| placed) {
                self.operations += computed(&steps);
                let lines = lines.close(&mut steps);
                let roots = self.roots(&lines, &mut steps);
                let once = Chunks { loads, lines, roots, steps, keep: Vec::new(), from, to: place };
                let parts = if rare {
                    self.groups.truncate(before);
                    vec![Part::Engine(from, place)]
                } else {
                    pieces
                };
                self.parts.push(Part::Uniform { once, parts });
                return;
            }
            self.groups.truncate(groups);
        }
        self.operations += of_pieces;
        for piece in pieces {
            match piece {
                Part::Engine(from, to) => by_engine(&mut self.parts, from, to),
                Part::Chunks(_) | Part::Uniform { .. } | Part::Store(_) => self.parts.push(piece),
            }
        }
    }
}
