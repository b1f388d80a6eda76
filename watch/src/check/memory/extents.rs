//! What accesses must stay in: the variable that their address was computed from ([`provenance`](super::provenance)), if that is known.
//!
//! Variables of one space lie side by side, and an access past the end of one reads or writes its neighbour: nothing that the memory itself could
//! distinguish from what was meant. So an address that was computed from one variable must stay within it when it is used; in between
//! it may go anywhere. What a caller passes is known when the run gets there: each thread's arguments are kept from the call on.

use super::provenance::{Analysis, Names, Passed, Place, Value};
use crate::lanes::lanes_of;
use warpsmith_base::{Entry, FxHashMap, FxHashSet};
use warpsmith_interp::Program;
use warpsmith_interp::engine::{FuncId, OwnVariable, SymbolId};
use warpsmith_interp::observe::{At, Crossing, LaunchView};
use warpsmith_isa::StateSpace;

/// A variable that an access must stay in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub space: StateSpace,
    /// The first address, in the frame of its function if it is a local variable.
    pub start: u64,
    pub bytes: u64,
    /// `variable x`, `parameter x`
    pub what: String,
    pub name: String,
    /// An access may leave it for something else: of the same space, or the padding of a frame.
    has_neighbour: bool,
}

/// The frame of a function: block, warp, and first row of its registers.
type Frame = ([u32; 3], u32, u32);

/// Of each lane, an extent, if there is one, and where the frame starts that it lies in.
type Held = [Option<(u32, u64)>; 32];

/// What the accesses of a launch must stay in.
#[derive(Default)]
pub(super) struct Extents {
    extents: Vec<Extent>,
    /// For each operation, what its access must stay in.
    of: Vec<Bound>,
    /// Some are in frames of functions that are called, whose place in local memory has to be known.
    pub in_frames: bool,
    /// For each call, what it leaves where in the frame of the function that it reaches.
    passed: FxHashMap<u32, Vec<(Place, Value)>>,
    /// The numbers of parameters that may be addresses of variables.
    parameters: FxHashMap<(FuncId, Place), u32>,
    /// What the parameters of running functions are.
    held: FxHashMap<(Frame, u32), Box<Held>>,
}

/// What an access must stay in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Bound {
    /// Nothing is known.
    #[default]
    None,
    /// An extent.
    Of(u32),
    /// What the caller has passed for this parameter.
    Argument(u32),
}

impl Extents {
    /// What the accesses of the functions that a launch may execute have to stay in. Variables that have no neighbour are left out: the engine itself checks the
    /// end of a memory. Frames in local memory are as long as their alignment asks, so that a variable there always has a neighbour, if only padding.
    pub fn new(launch: &LaunchView<'_>) -> Extents {
        let program = launch.program();
        let of = vec![Bound::None; program.operations() as usize];
        let mut extents = Extents { of, ..Extents::default() };
        let mut variables = FxHashMap::default();
        for v in launch.variables() {
            let number = extents.add(v.space, v.address, v.bytes, "variable", v.name);
            variables.insert(v.id, number);
        }
        let mut params = FxHashMap::default();
        for p in launch.params() {
            let number =
                extents.add(StateSpace::Param, p.offset.into(), p.bytes.into(), "parameter", &p.name);
            params.insert(p.offset, number);
        }
        let mut functions = Vec::new();
        for function in program.functions() {
            let kernel = program.is_kernel(function);
            if kernel && program.function_name(function) != launch.kernel() {
                continue;
            }
            let mut locals = FxHashMap::default();
            for l in program.locals(function) {
                let number =
                    extents.add(StateSpace::Local, l.offset.into(), l.bytes.into(), "variable", &l.name);
                locals.insert(l.offset, number);
            }
            functions.push((function, kernel, locals));
        }
        extents.find_neighbours();
        // Which parameters may be addresses of variables, by and by: each is numbered once, and only its function looked at again.
        let mut parameters: FxHashMap<(FuncId, Place), u32> = FxHashMap::default();
        let numbers: FxHashMap<FuncId, usize> =
            functions.iter().enumerate().map(|(n, (function, ..))| (*function, n)).collect();
        let mut analyses: Vec<Option<Analysis>> = functions.iter().map(|_| None).collect();
        let mut work: Vec<usize> = (0..functions.len()).rev().collect();
        let mut waiting = vec![true; functions.len()];
        // Calls through addresses share their sets of functions, which may be large.
        let mut seen: FxHashSet<(*const FuncId, Place)> = FxHashSet::default();
        while let Some(n) = work.pop() {
            waiting[n] = false;
            let (function, kernel, locals) = &functions[n];
            let analysis = analyse(program, &variables, &params, &parameters, *function, *kernel, locals);
            for passed in &analysis.calls {
                let is_address = |v: &Value| matches!(v, Value::Of(_) | Value::Argument(_) | Value::Unknown);
                for (place, _) in passed.values.iter().filter(|(_, value)| is_address(value)) {
                    if !seen.insert((passed.callees.as_ptr(), *place)) {
                        continue;
                    }
                    for callee in passed.callees {
                        let next = parameters.len() as u32;
                        if let Entry::Vacant(entry) = parameters.entry((*callee, *place)) {
                            entry.insert(next);
                            let again = numbers.get(callee).copied();
                            work.extend(again.filter(|&n| !std::mem::replace(&mut waiting[n], true)));
                        }
                    }
                }
            }
            analyses[n] = Some(analysis);
        }
        let places: FxHashSet<Place> = parameters.keys().map(|(_, place)| *place).collect();
        for ((_, kernel, _), analysis) in functions.iter().zip(analyses) {
            let Some(analysis) = analysis else { continue };
            for (pc, value) in analysis.accesses {
                let bound = extents.bound(value);
                if let Bound::Of(number) = bound {
                    extents.in_frames |=
                        !kernel && extents.extents[number as usize].space == StateSpace::Local;
                }
                extents.of[pc as usize] = bound;
            }
            for Passed { call, mut values, .. } in analysis.calls {
                values.retain(|(place, _)| places.contains(place));
                if !values.is_empty() {
                    extents.passed.insert(call, values);
                }
            }
        }
        extents.parameters = parameters;
        extents
    }

    fn find_neighbours(&mut self) {
        let mut counts: FxHashMap<StateSpace, u32> = FxHashMap::default();
        self.extents.iter().for_each(|extent| *counts.entry(extent.space).or_default() += 1);
        for extent in &mut self.extents {
            extent.has_neighbour =
                extent.bytes > 0 && (counts[&extent.space] > 1 || extent.space == StateSpace::Local);
        }
    }

    fn add(&mut self, space: StateSpace, start: u64, bytes: u64, kind: &str, name: &str) -> u32 {
        let what = format!("{kind} `{name}`");
        self.extents.push(Extent { space, start, bytes, what, name: name.to_owned(), has_neighbour: false });
        self.extents.len() as u32 - 1
    }

    /// What an access at an address must stay in.
    fn bound(&self, value: Value) -> Bound {
        match value {
            Value::Of(number) if self.extents[number as usize].has_neighbour => Bound::Of(number),
            Value::Argument(parameter) => Bound::Argument(parameter),
            Value::Of(_) | Value::Unset | Value::Plain | Value::Unknown => Bound::None,
        }
    }

    /// True if no access is held against one.
    pub fn is_empty(&self) -> bool {
        self.of.iter().all(|bound| *bound == Bound::None)
    }

    /// True if functions are passed addresses of variables.
    pub fn are_passed(&self) -> bool {
        !self.passed.is_empty()
    }

    /// What the access of an operation must stay in.
    #[inline]
    pub fn at(&self, pc: u32) -> Bound {
        self.of.get(pc as usize).copied().unwrap_or_default()
    }

    /// An extent by its number.
    #[inline]
    pub fn get(&self, number: u32) -> Option<&Extent> {
        self.extents.get(number as usize)
    }

    /// What a lane's argument for a parameter must stay in, and where the frame starts that this lies in; in a function with a frame at `row`.
    pub fn argument(&self, at: &At<'_>, row: u32, parameter: u32, lane: usize) -> Option<(&Extent, u64)> {
        let held = self.held.get(&((at.block, at.warp, row), parameter))?;
        let (number, base) = held[lane]?;
        Some((self.get(number)?, base))
    }

    /// Arguments pass to a function.
    pub fn crossed(&mut self, at: &At<'_>, crossing: &Crossing<'_>) {
        if crossing.returns {
            return;
        }
        let Some(passed) = self.passed.get(&at.pc) else { return };
        let [from, to] = [crossing.from.row, crossing.to.row].map(|row| (at.block, at.warp, row));
        for &(place, value) in passed {
            let Some(&parameter) = self.parameters.get(&(crossing.function, place)) else { continue };
            let of_lane: Held = match self.bound(value) {
                Bound::None => [None; 32],
                Bound::Of(number) => {
                    let local = self.get(number).is_some_and(|e| e.space == StateSpace::Local);
                    [Some((number, if local { crossing.from.stack.into() } else { 0 })); 32]
                }
                Bound::Argument(own) => self.held.get(&(from, own)).map_or([None; 32], |held| **held),
            };
            let held = self.held.entry((to, parameter)).or_insert_with(|| Box::new([None; 32]));
            lanes_of(at.mask).for_each(|lane| held[lane] = of_lane[lane]);
        }
    }

    /// A block has ended.
    pub fn forget(&mut self, block: [u32; 3]) {
        self.held.retain(|((id, ..), _), _| *id != block);
    }
}

fn analyse<'p>(
    program: &'p Program,
    variables: &FxHashMap<SymbolId, u32>,
    params: &FxHashMap<u32, u32>,
    parameters: &FxHashMap<(FuncId, Place), u32>,
    function: FuncId,
    kernel: bool,
    locals: &FxHashMap<u32, u32>,
) -> Analysis<'p> {
    let find = |list: &FxHashMap<u32, u32>, offset: u32| {
        list.get(&offset).map_or(Value::Unknown, |number| Value::Of(*number))
    };
    let names = Names {
        program,
        variables,
        own: &|own| match own {
            OwnVariable::Local(offset) => find(locals, offset),
            OwnVariable::Param(offset) if kernel => find(params, offset),
            OwnVariable::Param(_) => Value::Unknown,
        },
        passed: &|place| {
            parameters.get(&(function, place)).map_or(Value::Plain, |number| Value::Argument(*number))
        },
    };
    names.analyse(function)
}
