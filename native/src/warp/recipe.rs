//! What is compiled of a region: a description that holds nothing of the program that it comes from but what its code depends on, so that equal
//! regions have the same code.

use super::parts::Maker;
use super::plan::Plan;
use super::trace::{Orbit, Trace, sides, traces};
use warpsmith_base::FxHashSet;
use warpsmith_interp::engine::{
    BatchGroup, BlockEnd, BranchSides, LiveRegisters, Program, Reg, Region, Side, Width,
};
use warpsmith_isa::StateSpace;

/// A region. Places are relative to its start.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Recipe {
    pub blocks: Vec<Block>,
    pub groups: Vec<BatchGroup>,
    /// The registers whose patterns it asks for, with the bytes of a lane.
    pub patterns: Vec<(Reg, u32)>,
    /// Windows of global memory that accesses have.
    pub windows: u32,
    /// The branches at which lanes part that soon meet again.
    pub sides: Vec<BranchSides>,
}

impl Recipe {
    /// Loads are made for it before loops.
    pub fn has_batches(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The loops over lanes that it has.
    pub fn loops(&self) -> usize {
        let parts = self.blocks.iter().flat_map(|block| &block.parts);
        let traces = self.blocks.iter().filter(|block| block.trace.is_some()).count();
        traces + parts.filter(|part| matches!(part, Part::Chunks(_) | Part::Uniform { .. })).count()
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
    /// What is on the sides of its branch, by its number, if lanes that part there soon meet again.
    pub sides: Option<u32>,
    /// What lanes may go through from here on in one loop, if they may.
    pub trace: Option<Trace>,
    /// The loop that it begins, if lanes may go round it in registers.
    pub orbit: Option<Orbit>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// The engine executes the operations from one place to another.
    Engine(u32, u32),
    /// Loads and arithmetic, four lanes at a time.
    Chunks(Chunks),
    /// The same twice: what is uniform computed once for all lanes, and as parts of the other kinds, for where lanes have parted or addresses follow no rule.
    Uniform { once: Chunks, parts: Vec<Part> },
    /// A store of one element to shared memory.
    Store(Store),
}

/// A store at the addresses that a register with a pattern has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Store {
    pub lines: Lines,
    pub src: Reg,
    pub place: u32,
}

/// Accesses that are constants apart, at the sum of a register that has a pattern and of uniform values, or at addresses that grow evenly in each half.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Lines {
    /// The pattern, by its number; none of addresses that are computed for each half.
    pub pattern: Option<u32>,
    pub at: Where,
    /// The register of the addresses.
    pub base: Reg,
    /// They are not all equal.
    pub varying: bool,
    /// Bytes of a lane.
    pub bytes: u32,
    /// What is added for the lowest access, and how far the highest is past it.
    pub lowest: i64,
    pub more: u64,
}

/// A loop over lanes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Chunks {
    /// The group of batches that its loads are, and whether the code can read them where they are.
    pub loads: Option<(u32, bool)>,
    pub lines: Vec<Lines>,
    /// The registers that lines computed for each half come from, with the numbers of their patterns.
    pub roots: Vec<(Reg, u32)>,
    pub steps: Vec<Step>,
    /// The registers that somebody reads afterwards, of those that are written.
    pub keep: Vec<Reg>,
    pub from: u32,
    pub to: u32,
}

/// The memory of lines; global memory with the number of the window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Where {
    Shared,
    Global(u32),
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
    /// Computed once for all lanes where those are together.
    pub uniform: bool,
    /// The source, by its number, that has a pattern or is a sum with one; the others are uniform, and added to it.
    pub sum: Option<u8>,
    /// Computed for each half before the loop, from these registers and uniform values.
    pub even: Option<Box<[Reg]>>,
    /// No lane needs what it computes.
    pub unused: bool,
}

impl Step {
    /// What gives a register a value that memory holds.
    pub fn fetched(what: What, dst: Reg) -> Step {
        Step {
            what,
            dst,
            src: Vec::new(),
            guard: None,
            double: dst.width() == Width::W64,
            uniform: false,
            sum: None,
            even: None,
            unused: false,
        }
    }

    /// The registers that it reads, its guard among them.
    pub fn read(&self) -> impl Iterator<Item = Reg> + '_ {
        let sources = self.src.iter().filter_map(|source| match source {
            Source::Reg(r) => Some(*r),
            Source::Number(_) => None,
        });
        sources.chain(self.guard.map(|(r, _)| r))
    }

    /// The register that it writes.
    pub fn written(&self) -> Option<Reg> {
        match self.what {
            What::Compute(_) | What::Fetch(_) | What::Line(_) | What::Known(_) => Some(self.dst),
            What::Store(_) | What::Part { .. } | What::Other | What::Meet => None,
        }
    }

    /// It accesses local memory at an address that all lanes have.
    pub fn is_local(&self) -> bool {
        matches!(self.what, What::Known(known) | What::Store(known) if known.space == Space::Local)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum What {
    Compute(Plan),
    /// Takes what a batch loads.
    Fetch(Fetch),
    /// Loads from an address of [`Lines`], whose number is that of the batch.
    Line(Fetch),
    /// Loads from an address that all lanes have.
    Known(Known),
    /// Stores to an address that all lanes have, in local memory.
    Store(Known),
    /// Lanes part by the predicate that is the source, and what follows is for those that do not take the branch.
    Part {
        negated: bool,
    },
    /// What follows is for the lanes that take it.
    Other,
    /// They meet. The sources are what one side or the other has written.
    Meet,
}

/// An element at an address that all lanes have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Known {
    /// The access, by its number in the part.
    pub number: u32,
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
    pub on_stack: bool,
    /// Bytes of the access, those before this element, and the element's.
    pub size: u32,
    pub before: u32,
    pub bytes: u32,
    pub signed: bool,
}

/// A space whose bounds code knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Space {
    Shared,
    Constant,
    Params,
    Local,
}

impl Space {
    pub fn of(space: StateSpace) -> Option<Space> {
        #[expect(clippy::wildcard_enum_match_arm, reason = "what is not here is looked up by the engine")]
        match space {
            StateSpace::Shared => Some(Space::Shared),
            StateSpace::Const => Some(Space::Constant),
            StateSpace::Param => Some(Space::Params),
            StateSpace::Local => Some(Space::Local),
            _ => None,
        }
    }
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

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    Reg(Reg),
    Number(u32),
}

/// What is compiled of a region, and how many operations that are.
pub(super) fn recipe(program: &Program, region: &Region<'_>, fused_multiply: bool) -> (Recipe, usize) {
    let start = region.range.start;
    let mut recipe = Recipe {
        blocks: Vec::new(),
        groups: Vec::new(),
        patterns: Vec::new(),
        windows: 0,
        sides: Vec::new(),
    };
    let mut operations = Vec::new();
    for block in &region.blocks {
        let first = block.range.start - start;
        let known = (block.varying.clone(), &block.written);
        let mut maker =
            Maker::new(first, known, (&mut recipe.groups, &mut recipe.patterns, &mut recipe.windows));
        for (n, op) in block.ops.iter().enumerate() {
            let place = first + n as u32;
            maker.op(program, place, op, fused_multiply);
            program.varying_after(start + place, &mut maker.varying);
        }
        let end = block.range.end - start;
        let (body_end, exit) = match block.end {
            BlockEnd::Fall => (end, Exit::Fall),
            BlockEnd::Branch(to, guard) => {
                let to = i64::from(to) - i64::from(start);
                (end - 1, Exit::Branch(to, guard.map(|guard| (guard.pred, guard.negated))))
            }
        };
        maker.close(body_end);
        operations.push(maker.operations);
        let mut parts = maker.parts;
        let (mut live, mut at) = (block.live.clone(), block.range.end);
        keep(program, (&mut live, &mut at), start, &mut parts);
        recipe.blocks.push(Block {
            start: first,
            end,
            parts,
            count: block.count,
            branch_count: block.branch_count,
            exit,
            sides: None,
            trace: None,
            orbit: None,
        });
    }
    let in_traces = traces(program, region, fused_multiply, &mut recipe.blocks);
    for ((own, block), in_trace) in operations.iter_mut().zip(&region.blocks).zip(in_traces) {
        if in_trace {
            *own = block.ops.len();
        }
    }
    for n in 0..recipe.blocks.len() {
        if let Some(sides) = sides(&recipe.blocks, n) {
            let side = |n: usize| {
                let block = &recipe.blocks[n];
                let to = block.end - u32::from(block.exit != Exit::Fall);
                Side { from: block.start, to, count: block.count }
            };
            let (rest, taken) = (Some(side(sides.rest)), sides.taken.map(side));
            recipe.blocks[n].sides = Some(recipe.sides.len() as u32);
            recipe.sides.push(BranchSides { meet: sides.meet, rest, taken });
        }
    }
    (recipe, operations.iter().sum())
}

/// Decides what parts keep: going back from what is live at a place.
fn keep(program: &Program, (live, at): (&mut LiveRegisters, &mut u32), start: u32, parts: &mut [Part]) {
    for part in parts.iter_mut().rev() {
        let chunks = match part {
            Part::Engine(..) | Part::Store(_) => continue,
            Part::Chunks(chunks) => chunks,
            Part::Uniform { once, .. } => once,
        };
        while *at > start + chunks.to {
            *at -= 1;
            program.live_before(*at, live);
        }
        for r in chunks.steps.iter().filter_map(Step::written) {
            // Predicates share rows, by which the sets go.
            let lives = r.width() == Width::Pred || live.contains(r);
            if lives && !chunks.keep.contains(&r) {
                chunks.keep.push(r);
            }
        }
        if let Part::Uniform { once, parts } = part {
            leave_out(once);
            keep(program, (live, at), start, parts);
        }
    }
}

/// Finds the arithmetic that no lane needs: what only addresses were computed by, which code computes once for all lanes.
fn leave_out(chunks: &mut Chunks) {
    let mut needed: FxHashSet<Reg> = chunks.keep.iter().copied().collect();
    for step in chunks.steps.iter_mut().rev() {
        let written = step.written();
        let needs = written.is_none_or(|r| needed.contains(&r));
        step.unused = matches!(step.what, What::Compute(_)) && !needs;
        if step.unused {
            continue;
        }
        if let Some(r) = written.filter(|_| step.guard.is_none()) {
            needed.remove(&r);
        }
        if !step.uniform {
            needed.extend(step.read());
        }
    }
}
