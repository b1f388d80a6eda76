//! What the writing of a body notes for debuggers, and what is made of it at its end: labels, the bounds of scopes, the places of variables.

use super::dwarf::register_number;
use super::ranges::{Event, InRegisters, Key, Range, ranges};
use super::{Class, Described, Located, Place};
use crate::names::Names;
use crate::regs::Reg;
use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use warpsmith_ir as ir;
use warpsmith_ir::debug::{DebugStatistics, FunctionDebug, Piece};
use warpsmith_ir::entity::SecondaryMap;
use warpsmith_ir::{DebugVar, ScopeId};
use warpsmith_lower::mach::{self, Block};
use warpsmith_ptx::{Module, Stmt, Symbol};

/// Where a variable is while its registers have no names yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Home {
    Registers(SmallVec<[Reg; 2]>),
    Memory([Reg; 1], i32),
    Symbol(Symbol, i32, Class),
    Constant(i64),
}

impl InRegisters for Home {
    fn registers(&self) -> &[Reg] {
        match self {
            Home::Registers(registers) => registers,
            Home::Memory(register, _) => register,
            Home::Symbol(..) | Home::Constant(_) => &[],
        }
    }
}

/// What has been noted of a body; positions are numbers of statements.
#[derive(Default)]
pub(crate) struct Notes {
    events: Vec<(usize, Event<Home>)>,
    /// From the first to behind the last statement of each scope.
    scopes: SecondaryMap<ScopeId, Option<(usize, usize)>>,
    /// The registers that more than one value is put into. In another, a variable that is bound once is there for good.
    shared: HashSet<Reg, FxBuildHasher>,
}

impl Notes {
    pub(crate) fn new(shared: HashSet<Reg, FxBuildHasher>) -> Self {
        Notes { shared, ..Notes::default() }
    }

    pub(crate) fn block(&mut self, at: usize, block: Block) {
        self.events.push((at, Event::Block(block)));
    }

    pub(crate) fn bind(&mut self, at: usize, key: Key, home: Option<Home>) {
        self.events.push((at, Event::Bind(key, home)));
    }

    pub(crate) fn write(&mut self, at: usize, register: Reg) {
        if self.shared.contains(&register) {
            self.events.push((at, Event::Write(register)));
        }
    }

    /// Statements that belong to a scope.
    pub(crate) fn scope(&mut self, debug: &FunctionDebug, scope: ScopeId, from: usize, to: usize) {
        if from == to {
            return;
        }
        for (scope, _) in debug.around(scope) {
            let bounds = &mut self.scopes[scope];
            *bounds = Some(bounds.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
        }
    }
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
    notes: Notes,
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
    for (scope, bounds) in notes.scopes.iter() {
        let Some((from, to)) = *bounds else { continue };
        if scope != debug.root() {
            described.scopes.push((scope, labels.label(from), labels.label(to)));
        }
    }
    // How often each is bound, and to what last.
    let mut bound: BTreeMap<Key, (u32, Option<Home>)> = BTreeMap::new();
    for (_, event) in &notes.events {
        if let Event::Bind(key, home) = event {
            let (count, last) = bound.entry(*key).or_default();
            *count += 1;
            last.clone_from(home);
        }
    }
    let mut lasting: BTreeMap<DebugVar, Place> = BTreeMap::new();
    for variable in debug.variables.keys() {
        let of_variable = bound.range((variable, None)..).take_while(|((of, _), _)| *of == variable);
        if let Some(place) = lasting_place(of_variable, &notes.shared, labels.names) {
            lasting.insert(variable, place);
        }
    }
    let mut events = notes.events;
    events.retain(
        |(_, event)| !matches!(event, Event::Bind((variable, _), _) if lasting.contains_key(variable)),
    );
    let found = ranges(code, &events, end);
    let mut by_variable: BTreeMap<DebugVar, Vec<Range<Home>>> = BTreeMap::new();
    for mut range in found {
        range.from = labels.snapped[range.from];
        range.to = labels.snapped[range.to];
        if range.from == range.to {
            continue;
        }
        by_variable.entry(range.key.0).or_default().push(range);
    }
    for (variable, data) in &debug.variables {
        let (from, to) = match notes.scopes[data.scope] {
            _ if data.scope == debug.root() => (0, end),
            Some(bounds) => bounds,
            None => (0, 0),
        };
        let within = |from: usize, to: usize| instructions[to.max(from)] - instructions[from];
        if let Some(place) = lasting.remove(&variable) {
            described.locations.push(Located { variable, range: None, place });
            statistics.variable(within(from, to), within(from, to));
            continue;
        }
        let mut covered = 0;
        for (start, stop, place) in whole(by_variable.remove(&variable).unwrap_or_default(), labels.names) {
            covered += within(start.max(from), stop.min(to).max(start.max(from)));
            let range = Some((labels.label(start), labels.label(stop)));
            described.locations.push(Located { variable, range, place });
        }
        statistics.variable(within(from, to), covered);
    }
    (described, labels.at, statistics)
}

/// The place of a variable that is bound once, as a whole or in pieces, to what nothing else is put into.
fn lasting_place<'a>(
    bound: impl Iterator<Item = (&'a Key, &'a (u32, Option<Home>))>,
    shared: &HashSet<Reg, FxBuildHasher>,
    names: &Names,
) -> Option<Place> {
    let mut parts: Vec<(Piece, Place)> = Vec::new();
    for (n, ((_, piece), (count, home))) in bound.enumerate() {
        let home = home.as_ref().filter(|home| {
            *count == 1 && !home.registers().iter().any(|register| shared.contains(register))
        })?;
        let place = place_of(home, names)?;
        match piece {
            // The whole comes first.
            None if n == 0 => parts.push((Piece { offset: 0, size: 0 }, place)),
            None => return None,
            Some(piece) => {
                let end =
                    parts.last().map_or(0, |(before, _)| u64::from(before.offset) + u64::from(before.size));
                if u64::from(piece.offset) < end || parts.last().is_some_and(|(before, _)| before.size == 0) {
                    return None;
                }
                parts.push((*piece, place));
            }
        }
    }
    match parts.as_slice() {
        [] => None,
        [(Piece { size: 0, .. }, place)] => Some(place.clone()),
        _ => Some(joined(parts)),
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
    for pair in bounds.windows(2) {
        let [from, to] = *pair else { continue };
        let here = ranges.iter().filter(|range| range.from <= from && to <= range.to);
        let mut parts: Vec<(Piece, Place)> = Vec::new();
        for range in here {
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
        if parts.is_empty() {
            continue;
        }
        push(from, to, joined(parts));
    }
    out
}
