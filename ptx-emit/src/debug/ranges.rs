//! From where to where variables are where.
//!
//! A binding holds until another of the same variable, or until its register is written by something else: registers are shared by values
//! that are never live together. Where blocks meet, a variable is somewhere if it is at the same place on every way there. What the walk over
//! the body has noted ([`Event`]) is in the order of the statements, so this knows nothing of instructions.
//!
//! That a variable is at a place is a *fact*, a number. The facts at the start of a block are those that hold at the end of each block before
//! it, found by going over the blocks until nothing changes; in between, one state is written forth and taken back, so that the time is that
//! of the events and of the facts that cross from block to block.

use crate::regs::Reg;
use std::hash::Hash;
use warpsmith_base::FxHashMap;
use warpsmith_ir::DebugVar;
use warpsmith_ir::debug::Piece;
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_lower::mach::{self, Block};

/// What is bound: a variable or a piece of it.
pub(crate) type Key = (DebugVar, Option<Piece>);

/// What the walk over a body has met.
#[derive(Clone, Debug)]
pub(crate) enum Event<P> {
    /// A block begins.
    Block(Block),
    /// A variable is bound; `None`: it is nowhere.
    Bind(Key, Option<P>),
    /// A register is written.
    Write(Reg),
}

/// From one statement to before another, a variable is at a place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Range<P> {
    pub key: Key,
    pub from: usize,
    pub to: usize,
    pub place: P,
}

/// A place that may be in registers.
pub(crate) trait InRegisters {
    fn registers(&self) -> &[Reg];
}

/// Numbers of a [`Key`], a fact and a register.
type KeyId = u32;
type Fact = u32;
type RegId = u32;

/// No fact.
const NONE: Fact = u32::MAX;

/// An [`Event`] in numbers.
#[derive(Clone, Copy)]
enum Step {
    Bind(KeyId, Fact),
    Write(RegId),
}

/// What the events speak of.
struct Table<'e, P> {
    keys: Vec<Key>,
    /// The keys of a variable whose pieces may overlap that of each one, itself among them: `overlaps` says which of these. The whole variable
    /// is the first.
    near: Vec<Near>,
    /// The key and the place of each fact.
    facts: Vec<(KeyId, &'e P)>,
    /// The registers of each fact that something writes.
    registers: Vec<RegId>,
    /// Where those of a fact are in `registers`.
    of_fact: Vec<(u32, u32)>,
    /// How many registers there are.
    written: usize,
}

/// A block with its steps, each before a statement.
struct Run {
    block: Block,
    from: usize,
    steps: Vec<(usize, Step)>,
}

impl<'e, P: Eq + Hash + InRegisters> Table<'e, P> {
    fn new(events: &'e [(usize, Event<P>)]) -> (Self, Vec<Run>) {
        let mut keys: Vec<Key> = Vec::new();
        let mut registers: FxHashMap<Reg, RegId> = FxHashMap::default();
        for (_, event) in events {
            match event {
                Event::Bind(key, _) => keys.push(*key),
                Event::Write(register) => {
                    let next = registers.len() as RegId;
                    registers.entry(*register).or_insert(next);
                }
                Event::Block(_) => {}
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let near = near(&keys);
        let written = registers.len();
        let mut table =
            Table { keys, near, facts: Vec::new(), registers: Vec::new(), of_fact: Vec::new(), written };
        let mut known: FxHashMap<(KeyId, &P), Fact> = FxHashMap::default();
        let mut runs: Vec<Run> = Vec::new();
        for (at, event) in events {
            let step = match event {
                Event::Block(block) => {
                    runs.push(Run { block: *block, from: *at, steps: Vec::new() });
                    continue;
                }
                Event::Write(register) => registers.get(register).map(|&register| Step::Write(register)),
                Event::Bind(key, place) => table.keys.binary_search(key).ok().map(|key| {
                    let key = key as KeyId;
                    let fact = place.as_ref().map(|place| {
                        *known.entry((key, place)).or_insert_with(|| table.fact(key, place, &registers))
                    });
                    Step::Bind(key, fact.unwrap_or(NONE))
                }),
            };
            if let (Some(run), Some(step)) = (runs.last_mut(), step) {
                run.steps.push((*at, step));
            }
        }
        (table, runs)
    }

    fn fact(&mut self, key: KeyId, place: &'e P, numbers: &FxHashMap<Reg, RegId>) -> Fact {
        let first = self.registers.len() as u32;
        self.registers.extend(place.registers().iter().filter_map(|register| numbers.get(register)));
        self.of_fact.push((first, self.registers.len() as u32));
        self.facts.push((key, place));
        self.facts.len() as Fact - 1
    }

    fn registers(&self, fact: Fact) -> &[RegId] {
        let (first, end) = self.of_fact[fact as usize];
        &self.registers[first as usize..end as usize]
    }
}

/// Keys of one variable: the whole, if it is bound, and a run of pieces.
#[derive(Clone, Copy)]
struct Near {
    whole: Option<KeyId>,
    pieces: (KeyId, KeyId),
}

/// For each key those of its variable that may overlap it: keys are in order, the whole variable first, then by where pieces begin.
fn near(keys: &[Key]) -> Vec<Near> {
    let mut near = Vec::with_capacity(keys.len());
    let mut first = 0;
    while let Some((variable, piece)) = keys.get(first) {
        let group = &keys[first..];
        let group = &group[..group.partition_point(|(of, _)| of == variable)];
        let whole = piece.is_none().then_some(first as KeyId);
        let begin = first + usize::from(whole.is_some());
        let pieces = &keys[begin..first + group.len()];
        let largest = pieces.iter().filter_map(|(_, piece)| *piece).map(|piece| u64::from(piece.size)).max();
        for (_, piece) in group {
            let (low, high) = match piece {
                None => (0, pieces.len()),
                Some(piece) => {
                    let offset = |piece: &Piece| u64::from(piece.offset);
                    let begins = |key: &Key| key.1.as_ref().map_or(0, offset);
                    let end = offset(piece) + u64::from(piece.size);
                    let low =
                        pieces.partition_point(|key| begins(key) + largest.unwrap_or(0) <= offset(piece));
                    (low, pieces.partition_point(|key| begins(key) < end))
                }
            };
            near.push(Near { whole, pieces: ((begin + low) as KeyId, (begin + high.max(low)) as KeyId) });
        }
        first += group.len();
    }
    near
}

fn overlaps(a: Option<Piece>, b: Option<Piece>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            u64::from(a.offset) < u64::from(b.offset) + u64::from(b.size)
                && u64::from(b.offset) < u64::from(a.offset) + u64::from(a.size)
        }
        (None, _) | (_, None) => true,
    }
}

/// Where variables are at a point.
struct State<'t, 'e, P> {
    table: &'t Table<'e, P>,
    /// The fact that holds of each key.
    current: Vec<Fact>,
    /// The keys with a fact, and some without by now.
    touched: Vec<KeyId>,
    /// What was put into each register; some of it is elsewhere by now.
    put: Vec<Vec<Fact>>,
    /// The registers that something was put into.
    filled: Vec<RegId>,
}

impl<'t, 'e, P: Eq + Hash + InRegisters> State<'t, 'e, P> {
    fn new(table: &'t Table<'e, P>) -> Self {
        State {
            table,
            current: vec![NONE; table.keys.len()],
            touched: Vec::new(),
            put: vec![Vec::new(); table.written],
            filled: Vec::new(),
        }
    }

    /// Goes to a point at which these facts hold.
    fn begin(&mut self, facts: &[Fact]) {
        for key in self.touched.drain(..) {
            self.current[key as usize] = NONE;
        }
        for register in self.filled.drain(..) {
            self.put[register as usize].clear();
        }
        facts.iter().for_each(|fact| self.insert(*fact));
    }

    fn insert(&mut self, fact: Fact) {
        let (key, _) = self.table.facts[fact as usize];
        self.current[key as usize] = fact;
        self.touched.push(key);
        for register in self.table.registers(fact) {
            let put = &mut self.put[*register as usize];
            if put.is_empty() {
                self.filled.push(*register);
            }
            put.push(fact);
        }
    }

    /// Takes a step; `ended` gets the keys whose facts it ends.
    fn step(&mut self, step: Step, mut ended: impl FnMut(KeyId)) {
        match step {
            Step::Bind(key, fact) => {
                let Near { whole, pieces: (first, end) } = self.table.near[key as usize];
                for other in whole.into_iter().chain(first..end) {
                    let pieces = [key, other].map(|key| self.table.keys[key as usize].1);
                    let current = &mut self.current[other as usize];
                    if *current != NONE && overlaps(pieces[0], pieces[1]) {
                        *current = NONE;
                        ended(other);
                    }
                }
                if fact != NONE {
                    self.insert(fact);
                }
            }
            Step::Write(register) => {
                let mut lost = std::mem::take(&mut self.put[register as usize]);
                for fact in lost.drain(..) {
                    let (key, _) = self.table.facts[fact as usize];
                    let current = &mut self.current[key as usize];
                    if *current == fact {
                        *current = NONE;
                        ended(key);
                    }
                }
                // Its memory is of use again.
                self.put[register as usize] = lost;
            }
        }
    }

    /// The facts that hold, in order.
    fn facts(&mut self) -> Vec<Fact> {
        let State { current, touched, .. } = self;
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|key| current[*key as usize] != NONE);
        let mut facts: Vec<Fact> = touched.iter().map(|key| current[*key as usize]).collect();
        facts.sort_unstable();
        facts
    }
}

/// Keeps of a list in order what is also in another.
fn intersect(facts: &mut Vec<Fact>, with: &[Fact]) {
    let mut with = with.iter().peekable();
    facts.retain(|fact| {
        while with.next_if(|other| *other < fact).is_some() {}
        with.peek() == Some(&fact)
    });
}

/// The ranges of all variables, those of each together and in the order in which they begin. `end` is the number of statements.
pub(crate) fn ranges<P: Clone + Eq + Hash + InRegisters>(
    code: &mach::Function,
    events: &[(usize, Event<P>)],
    end: usize,
) -> Vec<Range<P>> {
    let (table, runs) = Table::new(events);
    if table.facts.is_empty() {
        return Vec::new();
    }
    let at_start = at_starts(code, &table, &runs);
    let mut state = State::new(&table);
    let mut found: Vec<(KeyId, Range<P>)> = Vec::new();
    // Since which statement each key has had which fact.
    let mut open: Vec<(Fact, usize)> = vec![(NONE, 0); table.keys.len()];
    let mut opened: Vec<KeyId> = Vec::new();
    let mut close = |open: &mut Vec<(Fact, usize)>, key: KeyId, to: usize| {
        let (fact, from) = std::mem::replace(&mut open[key as usize], (NONE, 0));
        if fact != NONE && from < to {
            let place = table.facts[fact as usize].1.clone();
            found.push((key, Range { key: table.keys[key as usize], from, to, place }));
        }
    };
    for run in &runs {
        state.begin(at_start[run.block].as_deref().unwrap_or_default());
        opened.retain(|key| {
            let stays = open[*key as usize].0 == state.current[*key as usize];
            if !stays {
                close(&mut open, *key, run.from);
            }
            stays && open[*key as usize].0 != NONE
        });
        for key in &state.touched {
            if open[*key as usize].0 == NONE {
                open[*key as usize] = (state.current[*key as usize], run.from);
                opened.push(*key);
            }
        }
        for &(at, step) in &run.steps {
            if let Step::Bind(key, fact) = step
                && fact != NONE
                && state.current[key as usize] == fact
            {
                continue;
            }
            state.step(step, |key| close(&mut open, key, at));
            if let Step::Bind(key, fact) = step
                && fact != NONE
            {
                open[key as usize] = (fact, at);
                opened.push(key);
            }
        }
        opened.sort_unstable();
        opened.dedup();
    }
    for key in opened {
        close(&mut open, key, end);
    }
    found.sort_by_key(|(key, range)| (*key, range.from));
    found.into_iter().map(|(_, range)| range).collect()
}

/// The facts at the start of each block; `None`: nothing comes there.
fn at_starts<P: Eq + Hash + InRegisters>(
    code: &mach::Function,
    table: &Table<'_, P>,
    runs: &[Run],
) -> SecondaryMap<Block, Option<Vec<Fact>>> {
    let mut at_start: SecondaryMap<Block, Option<Vec<Fact>>> = SecondaryMap::new();
    let mut stale: SecondaryMap<Block, bool> = SecondaryMap::new();
    if let Some(entry) = runs.first() {
        (at_start[entry.block], stale[entry.block]) = (Some(Vec::new()), true);
    }
    let mut state = State::new(table);
    loop {
        let mut again = false;
        for run in runs {
            if !std::mem::take(&mut stale[run.block]) {
                continue;
            }
            state.begin(at_start[run.block].as_deref().unwrap_or_default());
            run.steps.iter().for_each(|(_, step)| state.step(*step, |_| {}));
            let mut facts = None;
            for edge in code.successors(run.block) {
                let facts = facts.get_or_insert_with(|| state.facts());
                match &mut at_start[edge.target] {
                    Some(known) => {
                        let before = known.len();
                        intersect(known, facts);
                        if known.len() == before {
                            continue;
                        }
                    }
                    // Nothing has come there yet, which is not an obstacle.
                    slot => *slot = Some(facts.clone()),
                }
                (stale[edge.target], again) = (true, true);
            }
        }
        if !again {
            return at_start;
        }
    }
}
