//! What the writing of a body notes for debuggers, and what is made of it at its end: labels, the bounds of scopes, the places of variables.

use super::dwarf::register_number;
use super::ranges::{Event, InRegisters, Key, Range, ranges};
use super::{Class, Described, Located, Place};
use crate::names::Names;
use crate::regs::Reg;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use warpsmith_ir as ir;
use warpsmith_ir::debug::{DebugStatistics, FunctionDebug, Piece};
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_ir::{DebugVar, ScopeId};
use warpsmith_lower::mach::{self, Block, RegClass, VReg};
use warpsmith_ptx::{Module, Stmt, Symbol};

/// Where a variable is while its registers have no names yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Home {
    Registers(SmallVec<[Reg; 2]>),
    /// A register of 32 bits with 32 zeros above it.
    LowWord([Reg; 1]),
    Memory([Reg; 1], i32),
    Symbol(Symbol, i32, Class),
    Constant(i64),
}

impl InRegisters for Home {
    fn registers(&self) -> &[Reg] {
        match self {
            Home::Registers(registers) => registers,
            Home::LowWord(register) | Home::Memory(register, _) => register,
            Home::Symbol(..) | Home::Constant(_) => &[],
        }
    }
}

/// What has been noted of a body; positions are numbers of statements.
#[derive(Default)]
pub(crate) struct Notes {
    events: Vec<(usize, Event<Home>)>,
    /// From the first to behind the last statement of each scope itself, without those in it.
    scopes: SecondaryMap<ScopeId, Option<(usize, usize)>>,
    /// What is put into each register of each class.
    contents: [Vec<Content>; RegClass::COUNT],
}

impl Notes {
    pub(crate) fn block(&mut self, at: usize, block: Block) {
        self.events.push((at, Event::Block(block)));
    }

    pub(crate) fn bind(&mut self, at: usize, key: Key, home: Option<Home>) {
        self.events.push((at, Event::Bind(key, home)));
    }

    /// A register is written with a value.
    pub(crate) fn write(&mut self, at: usize, register: Reg, value: VReg) {
        let contents = &mut self.contents[register.class as usize];
        let index = register.index as usize;
        if contents.len() <= index {
            contents.resize(index + 1, Content::Nothing);
        }
        contents[index] = match contents[index] {
            Content::Nothing => Content::One(value),
            Content::One(other) if other == value => Content::One(value),
            Content::One(_) | Content::Several => Content::Several,
        };
        self.events.push((at, Event::Write(register)));
    }

    /// Statements that belong to a scope.
    pub(crate) fn scope(&mut self, scope: ScopeId, from: usize, to: usize) {
        if from < to {
            widen(&mut self.scopes[scope], (from, to));
        }
    }

    /// True of registers that more than one value is put into.
    fn is_shared(&self, register: Reg) -> bool {
        let contents = &self.contents[register.class as usize];
        matches!(contents.get(register.index as usize), Some(Content::Several))
    }

    /// Adds the statements of scopes to those around them.
    fn widen_scopes(&mut self, debug: &FunctionDebug) {
        // Scopes come behind their parents.
        for (id, scope) in debug.scopes.iter().rev() {
            if let (Some(bounds), Some(parent)) =
                (self.scopes[id], scope.parent.filter(|parent| *parent < id))
            {
                widen(&mut self.scopes[parent], bounds);
            }
        }
    }
}

/// What is put into a register. In one with a single value, a variable that is bound once is there for good. A value that is in the register
/// already when it becomes another, as where blocks meet, is not put there again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Nothing,
    One(VReg),
    Several,
}

fn widen(bounds: &mut Option<(usize, usize)>, (from, to): (usize, usize)) {
    *bounds = Some(bounds.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
}

/// The labels of a body under construction.
struct Labels<'a> {
    tree: &'a mut Module,
    names: &'a mut Names,
    at: BTreeMap<usize, Symbol>,
    /// For each position, that of the next instruction with its `.loc`: between them no address lies.
    snapped: Vec<usize>,
}

impl Labels<'_> {
    fn label(&mut self, at: usize) -> Symbol {
        // The label of the function's begin stands in front of everything.
        let at = if self.snapped[at] == self.snapped[0] { 0 } else { self.snapped[at] };
        let Labels { tree, names, .. } = self;
        *self.at.entry(at).or_insert_with(|| names.debug_label(tree))
    }
}

fn snapped(stmts: &[Stmt]) -> Vec<usize> {
    let mut snapped = vec![stmts.len(); stmts.len() + 1];
    let mut to = stmts.len();
    for at in (0..stmts.len()).rev() {
        if matches!(stmts[at], Stmt::Inst(_)) {
            let lines = stmts[..at].iter().rev().take_while(|stmt| matches!(stmt, Stmt::Loc(_)));
            to = at - lines.count();
        }
        // A `.loc` of an instruction is at that instruction, whichever of them comes first.
        snapped[at] = to;
    }
    snapped
}

/// What is known of a function, the labels that its body needs before which statements, and how much is known of its variables.
pub(crate) fn describe(
    mut notes: Notes,
    id: ir::FuncId,
    func: &ir::Function,
    code: &mach::Function,
    stmts: &[Stmt],
    tree: &mut Module,
    names: &mut Names,
) -> (Described, BTreeMap<usize, Symbol>, DebugStatistics) {
    let end = stmts.len();
    let mut at = BTreeMap::new();
    let (begin, last) = (names.debug_label(tree), names.debug_label(tree));
    at.insert(0, begin);
    at.insert(end, last);
    let mut described = Described { id, begin, end: last, scopes: Vec::new(), locations: Vec::new() };
    let mut statistics = DebugStatistics::default();
    let Some(debug) = &func.debug else { return (described, at, statistics) };
    // Instructions before each statement.
    let mut instructions = Vec::with_capacity(end + 1);
    instructions.push(0u64);
    let mut count = 0;
    for stmt in stmts {
        count += u64::from(matches!(stmt, Stmt::Inst(_)));
        instructions.push(count);
    }
    let mut labels = Labels { tree, names, at, snapped: snapped(stmts) };
    notes.widen_scopes(debug);
    for (scope, bounds) in notes.scopes.iter() {
        let Some((from, to)) = *bounds else { continue };
        if scope != debug.root() {
            described.scopes.push((scope, labels.label(from), labels.label(to)));
        }
    }
    let mut lasting = lasting_places(&notes, labels.names);
    let mut events = std::mem::take(&mut notes.events);
    events.retain(|(_, event)| match event {
        Event::Block(_) => true,
        Event::Bind((variable, _), _) => lasting[*variable].is_none(),
        Event::Write(register) => notes.is_shared(*register),
    });
    let mut found = ranges(code, &events, end).into_iter().peekable();
    for (variable, data) in &debug.variables {
        let (from, to) = match notes.scopes[data.scope] {
            _ if data.scope == debug.root() => (0, end),
            Some(bounds) => bounds,
            None => (0, 0),
        };
        let within = |from: usize, to: usize| instructions[to.max(from)] - instructions[from];
        let all = within(from, to);
        if let Some(place) = lasting[variable].take() {
            described.locations.push(Located { variable, range: None, place });
            statistics.variable(all, all);
            continue;
        }
        // Outside of its scope nobody can name it.
        let (first, last) = (labels.snapped[from], labels.snapped[to]);
        let mut of_variable = Vec::new();
        while let Some(mut range) = found.next_if(|range| range.key.0 == variable) {
            range.from = labels.snapped[range.from].max(first);
            range.to = labels.snapped[range.to].min(last);
            if range.from < range.to {
                of_variable.push(range);
            }
        }
        let mut places = whole(of_variable, labels.names);
        let mut covered = 0;
        if let [(start, stop, _)] = places[..]
            && (start, stop) == (first, last)
            && let Some((_, _, place)) = places.pop()
        {
            described.locations.push(Located { variable, range: None, place });
            covered = all;
        }
        for (start, stop, place) in places {
            covered += within(start, stop);
            let range = Some((labels.label(start), labels.label(stop)));
            described.locations.push(Located { variable, range, place });
        }
        statistics.variable(all, covered);
    }
    (described, labels.at, statistics)
}

/// The places of variables that are bound to a place once, as a whole or in pieces, in which nothing else is put.
fn lasting_places(notes: &Notes, names: &Names) -> SecondaryMap<DebugVar, Option<Place>> {
    let mut bound: Vec<(Key, Option<&Home>)> = Vec::new();
    for (_, event) in &notes.events {
        if let Event::Bind(key, home) = event {
            bound.push((*key, home.as_ref()));
        }
    }
    bound.sort_by_key(|(key, _)| *key);
    let mut lasting = SecondaryMap::new();
    for of_variable in bound.chunk_by(|((a, _), _), ((b, _), _)| a == b) {
        if let [((variable, _), _), ..] = of_variable {
            lasting[*variable] = lasting_place(of_variable, notes, names);
        }
    }
    lasting
}

/// The place of a variable that is bound once, as a whole or in pieces, to what nothing else is put into.
fn lasting_place(bound: &[(Key, Option<&Home>)], notes: &Notes, names: &Names) -> Option<Place> {
    let lasts = |home: Option<&Home>| {
        let home = home.filter(|home| !home.registers().iter().any(|register| notes.is_shared(*register)))?;
        place_of(home, names)
    };
    let [((_, first), _), ..] = bound else { return None };
    match first {
        None => {
            // In front of its place, where it was nowhere, it is as stale there as in a variable that is bound once.
            let nowhere = bound.iter().take_while(|(_, home)| home.is_none()).count();
            let [((_, None), home)] = bound[nowhere..] else { return None };
            lasts(home)
        }
        Some(_) => {
            let mut parts: Vec<(Piece, Place)> = Vec::with_capacity(bound.len());
            for ((_, piece), home) in bound {
                let piece = (*piece)?;
                let end =
                    parts.last().map_or(0, |(before, _)| u64::from(before.offset) + u64::from(before.size));
                // One that is bound again overlaps itself.
                if u64::from(piece.offset) < end {
                    return None;
                }
                parts.push((piece, lasts(*home)?));
            }
            Some(joined(parts))
        }
    }
}

/// Pieces of a variable, those between them nowhere.
fn joined(mut parts: Vec<(Piece, Place)>) -> Place {
    parts.sort_by_key(|(piece, _)| *piece);
    let (mut pieces, mut at) = (Vec::new(), 0u32);
    for (piece, place) in parts {
        if piece.offset < at {
            continue;
        }
        if piece.offset > at {
            pieces.push((None, piece.offset - at));
        }
        pieces.push((Some(place), piece.size));
        at = piece.offset.saturating_add(piece.size);
    }
    Place::Pieces(pieces)
}

fn place_of(home: &Home, names: &Names) -> Option<Place> {
    let number = |register: &Reg| register_number(names.known_register(*register)?);
    Some(match home {
        Home::Registers(registers) => {
            let size = |register: &Reg| register.class.bits().div_ceil(8);
            let numbers = registers.iter().map(|register| Some((number(register)?, size(register))));
            Place::Registers(numbers.collect::<Option<_>>()?)
        }
        Home::LowWord([register]) => {
            let low = Place::Registers(SmallVec::from_slice(&[(number(register)?, 4)]));
            Place::Pieces(vec![(Some(low), 4), (Some(Place::Constant(0)), 4)])
        }
        Home::Memory([register], offset) => Place::Memory(number(register)?, *offset),
        Home::Symbol(symbol, offset, class) => Place::Symbol(*symbol, *offset, *class),
        Home::Constant(bits) => Place::Constant(*bits),
    })
}

/// The ranges of one variable, its pieces put together: a debugger wants all of it at each point.
fn whole(ranges: Vec<Range<Home>>, names: &Names) -> Vec<(usize, usize, Place)> {
    let mut out: Vec<(usize, usize, Place)> = Vec::new();
    let mut push = |from: usize, to: usize, place: Place| match out.last_mut() {
        Some((_, last, known)) if *last == from && *known == place => *last = to,
        _ => out.push((from, to, place)),
    };
    if ranges.iter().all(|range| range.key.1.is_none()) {
        for range in ranges {
            if let Some(place) = place_of(&range.place, names) {
                push(range.from, range.to, place);
            }
        }
        return out;
    }
    let mut bounds: Vec<usize> = ranges.iter().flat_map(|range| [range.from, range.to]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut next: Vec<&Range<Home>> = ranges.iter().collect();
    next.sort_by_key(|range| range.from);
    let mut next = next.into_iter().peekable();
    let mut here: Vec<&Range<Home>> = Vec::new();
    for pair in bounds.windows(2) {
        let [from, to] = *pair else { continue };
        here.retain(|range| range.to > from);
        while let Some(range) = next.next_if(|range| range.from <= from) {
            here.push(range);
        }
        let mut parts: Vec<(Piece, Place)> = Vec::new();
        for range in &here {
            let Some(place) = place_of(&range.place, names) else { continue };
            match range.key.1 {
                Some(piece) => parts.push((piece, place)),
                None => {
                    push(from, to, place);
                    parts.clear();
                    break;
                }
            }
        }
        if !parts.is_empty() {
            push(from, to, joined(parts));
        }
    }
    out
}
