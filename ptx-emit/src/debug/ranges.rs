//! From where to where variables are where.
//!
//! A binding holds until another of the same variable, or until its register is written by something else: registers are shared by values
//! that are never live together. Where blocks meet, a variable is somewhere if it is at the same place on every way there. What the walk over
//! the body has noted ([`Event`]) is in the order of the statements, so this knows nothing of instructions.

use crate::regs::Reg;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::Hash;
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

/// Where variables are at a point.
#[derive(Clone)]
struct State<P> {
    places: BTreeMap<Key, P>,
    /// What was put into each register; some of it is elsewhere by now.
    put: HashMap<Reg, SmallVec<[Key; 2]>, FxBuildHasher>,
}

impl<P: InRegisters + PartialEq> State<P> {
    fn new() -> Self {
        State { places: BTreeMap::new(), put: HashMap::default() }
    }

    fn insert(&mut self, key: Key, place: P) {
        for register in place.registers() {
            let keys = self.put.entry(*register).or_default();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        self.places.insert(key, place);
    }

    /// The variables that the binding of one ends.
    fn ended(&self, (variable, piece): Key) -> Vec<Key> {
        let whole = (variable, None);
        let rest = self.places.range(whole..).take_while(|((of, _), _)| *of == variable);
        rest.map(|(key, _)| *key).filter(|(_, other)| overlaps(*other, piece)).collect()
    }

    /// The variables that are in a register, in order.
    fn lost(&self, register: Reg) -> SmallVec<[Key; 2]> {
        let mut keys = self.put.get(&register).cloned().unwrap_or_default();
        keys.retain(|key| self.places.get(key).is_some_and(|place| place.registers().contains(&register)));
        keys.sort_unstable();
        keys
    }

    /// What a register held is overwritten.
    fn write(&mut self, register: Reg) {
        for key in self.lost(register) {
            self.places.remove(&key);
        }
        self.put.remove(&register);
    }
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

/// The ranges of all variables, in the order in which they begin. `end` is the number of statements.
pub(crate) fn ranges<P: Clone + Eq + Hash + InRegisters>(
    code: &mach::Function,
    events: &[(usize, Event<P>)],
    end: usize,
) -> Vec<Range<P>> {
    let mut blocks = Vec::new();
    let mut rest = events;
    while let Some((first, tail)) = rest.split_first() {
        let (from, Event::Block(block)) = first else {
            rest = tail;
            continue;
        };
        let length =
            tail.iter().position(|(_, event)| matches!(event, Event::Block(_))).unwrap_or(tail.len());
        blocks.push((*block, *from, &tail[..length]));
        rest = &tail[length..];
    }
    let step = |state: &mut State<P>, event: &Event<P>| match event {
        Event::Block(_) => {}
        Event::Bind(key, place) => {
            for key in state.ended(*key) {
                state.places.remove(&key);
            }
            if let Some(place) = place {
                state.insert(*key, place.clone());
            }
        }
        Event::Write(register) => state.write(*register),
    };
    // The state at the start of each block; `None`: nothing has come there yet, which is no obstacle.
    let mut at_start: SecondaryMap<Block, Option<State<P>>> = SecondaryMap::new();
    if let Some((entry, ..)) = blocks.first() {
        at_start[*entry] = Some(State::new());
    }
    loop {
        let mut changed = false;
        for (block, _, events) in &blocks {
            let Some(mut state) = at_start[*block].clone() else { continue };
            events.iter().for_each(|(_, event)| step(&mut state, event));
            for edge in code.successors(*block) {
                match &mut at_start[edge.target] {
                    Some(known) => {
                        let before = known.places.len();
                        known.places.retain(|key, place| state.places.get(key) == Some(place));
                        changed |= known.places.len() != before;
                    }
                    slot => {
                        *slot = Some(state.clone());
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut found: Vec<Range<P>> = Vec::new();
    let mut open: HashMap<Key, (usize, P), FxBuildHasher> = HashMap::default();
    let mut close = |open: &mut HashMap<Key, (usize, P), FxBuildHasher>, key: Key, to: usize| {
        if let Some((from, place)) = open.remove(&key)
            && from < to
        {
            found.push(Range { key, from, to, place });
        }
    };
    for (block, from, events) in &blocks {
        let mut state = at_start[*block].clone().unwrap_or_else(State::new);
        let gone: Vec<Key> = open
            .iter()
            .filter(|(key, (_, place))| state.places.get(*key) != Some(place))
            .map(|(key, _)| *key)
            .collect();
        gone.into_iter().for_each(|key| close(&mut open, key, *from));
        for (key, place) in &state.places {
            open.entry(*key).or_insert_with(|| (*from, place.clone()));
        }
        for (at, event) in *events {
            let before = match event {
                Event::Block(_) => continue,
                Event::Bind(key, place) => {
                    if place.is_some() && state.places.get(key) == place.as_ref() {
                        continue;
                    }
                    state.ended(*key)
                }
                Event::Write(register) => state.lost(*register).to_vec(),
            };
            before.into_iter().for_each(|key| close(&mut open, key, *at));
            step(&mut state, event);
            if let Event::Bind(key, Some(place)) = event {
                open.insert(*key, (*at, place.clone()));
            }
        }
    }
    let left: Vec<Key> = open.keys().copied().collect();
    left.into_iter().for_each(|key| close(&mut open, key, end));
    found.sort_by_key(|range| (range.key, range.from));
    found
}
