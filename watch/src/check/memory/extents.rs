//! Which variable an address was computed from, as far as the code of one function says.
//!
//! Variables of one space lie side by side, and an access past the end of one reads or writes its neighbour: nothing that the memory itself could
//! distinguish from what was meant. So addresses are followed from where a variable is named: through moves, conversions between address spaces and
//! additions, to the accesses that use them. An address that was computed from one variable must stay within it when it is used; in between
//! it may go anywhere.
//!
//! Only what is certain counts, so that legal code is never at fault. A register has one answer for the whole function, joined over everything that
//! writes it: *nothing* (no address of a variable is in it), *one variable*, or *unknown*: several variables, or what masks, multiplications
//! and other arithmetic make of an address. What comes from memory, from parameters and from calls is nothing: whoever adds it to
//! the address of a variable means an index. The difference of two addresses in one variable is nothing, too; of any others it is unknown.

use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_interp::Program;
use warpsmith_interp::engine::{FuncId, Move, OwnVariable, Reg, Slot, SymbolId, Width};
use warpsmith_interp::observe::{self, LaunchView, OperationKind};
use warpsmith_isa::{Instruction, Operation, StateSpace, Traits};

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
}

/// What the accesses of a launch must stay in.
#[derive(Default)]
pub(super) struct Extents {
    extents: Vec<Extent>,
    /// For each operation, one more than the number of the extent of its access; 0 if none is known.
    of: Vec<u32>,
    /// Some are in frames of functions that are called, whose place in local memory has to be known.
    pub in_frames: bool,
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// Nothing has written it yet.
    Unset,
    /// No address of a variable.
    Plain,
    /// An address that was computed from that of this extent.
    Of(u32),
    Unknown,
}

impl Value {
    fn join(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unset, v) | (v, Value::Unset) => v,
            (a, b) if a == b => a,
            _ => Value::Unknown,
        }
    }
}

/// What becomes of the addresses that an operation reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    /// They are moved, or something is added to one of them.
    Add,
    /// The second is taken from the first.
    Sub,
    /// Something is added to the third.
    MulAdd,
    /// One of several values.
    Select,
    /// Anything else.
    Other,
    /// The results are not addresses of variables, whatever is read.
    Fresh,
    /// The result is the address of a variable.
    Address(Value),
}

/// An operation of a function that writes registers.
struct Step {
    rule: Rule,
    reads: SmallVec<[Source; 4]>,
    /// Words of the frame.
    writes: SmallVec<[u32; 2]>,
}

#[derive(Clone, Copy)]
enum Source {
    Word(u32),
    Known(Value),
}

impl Extents {
    /// What the accesses of the functions that a launch may execute have to stay in. Variables that have no neighbour are left out: the engine itself checks the
    /// end of a memory. Frames in local memory are as long as their alignment asks, so that a variable there always has a neighbour, if only padding.
    pub fn new(launch: &LaunchView<'_>) -> Extents {
        let program = launch.program();
        let mut extents = Extents { of: vec![0; program.operations() as usize], ..Extents::default() };
        let mut variables = FxHashMap::default();
        for v in launch.variables() {
            let number = extents.add(v.space, v.address, v.bytes, "variable", v.name);
            variables.insert(v.id, number);
        }
        let mut params = Vec::new();
        for p in launch.params() {
            let number =
                extents.add(StateSpace::Param, p.offset.into(), p.bytes.into(), "parameter", &p.name);
            params.push((p.offset, number));
        }
        let mut neighbours: FxHashMap<StateSpace, usize> = FxHashMap::default();
        extents.extents.iter().for_each(|e| *neighbours.entry(e.space).or_default() += 1);
        for function in program.functions() {
            let kernel = program.is_kernel(function);
            if kernel && program.function_name(function) != launch.kernel() {
                continue;
            }
            let mut locals = Vec::new();
            for l in program.locals(function) {
                let number =
                    extents.add(StateSpace::Local, l.offset.into(), l.bytes.into(), "variable", &l.name);
                locals.push((l.offset, number));
            }
            neighbours.insert(StateSpace::Local, locals.len() + 1);
            let find = |list: &[(u32, u32)], offset: u32| {
                list.iter().find(|(start, _)| *start == offset).map_or(Value::Unknown, |(_, n)| Value::Of(*n))
            };
            let names = Names {
                program,
                variables: &variables,
                own: &|own| match own {
                    OwnVariable::Local(offset) => find(&locals, offset),
                    OwnVariable::Param(offset) if kernel => find(&params, offset),
                    OwnVariable::Param(_) => Value::Unknown,
                },
            };
            for (pc, number) in names.accesses(function) {
                let extent = &extents.extents[number as usize];
                if extent.bytes > 0 && neighbours.get(&extent.space).is_some_and(|n| *n > 1) {
                    extents.in_frames |= !kernel && extent.space == StateSpace::Local;
                    extents.of[pc as usize] = number + 1;
                }
            }
        }
        extents
    }

    fn add(&mut self, space: StateSpace, start: u64, bytes: u64, kind: &str, name: &str) -> u32 {
        let what = format!("{kind} `{name}`");
        self.extents.push(Extent { space, start, bytes, what, name: name.to_owned() });
        self.extents.len() as u32 - 1
    }

    /// True if no access is held against one.
    pub fn is_empty(&self) -> bool {
        self.of.iter().all(|number| *number == 0)
    }

    /// What the access of an operation must stay in.
    #[inline]
    pub fn at(&self, pc: u32) -> Option<&Extent> {
        let number = self.of.get(pc as usize)?.checked_sub(1)?;
        self.extents.get(number as usize)
    }
}

/// What the names of variables mean in a function.
struct Names<'a> {
    program: &'a Program,
    variables: &'a FxHashMap<SymbolId, u32>,
    own: &'a dyn Fn(OwnVariable) -> Value,
}

impl Names<'_> {
    /// The accesses whose address was computed from one variable: operation, and number of the extent.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else accesses memory at a place of its own")]
    fn accesses(&self, function: FuncId) -> Vec<(u32, u32)> {
        let (mut steps, mut values) = (Vec::new(), FxHashMap::default());
        // What callers and callees leave in registers is not followed.
        for slot in self.program.formals(function) {
            if let Slot::Reg(r) = slot {
                write(&mut values, r.word(), Value::Plain);
            }
        }
        for pc in self.program.code(function) {
            let Some(operation) = self.program.operation(pc) else { continue };
            if let OperationKind::Call(call) = operation.kind {
                for m in call.results() {
                    if let Move::Reg { to, .. } = m {
                        write(&mut values, to.word(), Value::Plain);
                    }
                }
            }
            if !operation.writes.is_empty() {
                let reads = operation.reads.iter().map(|r| self.source(pc, *r)).collect();
                let writes = operation.writes.iter().filter_map(|r| r.word()).collect();
                steps.push(Step { rule: self.rule(pc, &operation), reads, writes });
            }
        }
        // What nothing writes is not an address of a variable.
        let written: FxHashSet<u32> = steps.iter().flat_map(|step| step.writes.iter().copied()).collect();
        for source in steps.iter().flat_map(|step| &step.reads) {
            if let Source::Word(word) = source
                && !written.contains(word)
            {
                write(&mut values, Some(*word), Value::Plain);
            }
        }
        // Each value can change twice, so this ends.
        while steps.iter().fold(false, |changed, step| step.follow(&mut values) | changed) {}
        let of = |pc: u32| {
            let operation = self.program.operation(pc)?;
            let access = match operation.kind {
                OperationKind::Load(access) | OperationKind::Store(access) => access,
                OperationKind::Atomic(atomic) => &atomic.access,
                _ => return None,
            };
            let value = match self.source(pc, access.base()) {
                Source::Known(_) if access.is_on_stack() => self.program.own_variable_at(pc).map(self.own)?,
                Source::Known(value) => value,
                Source::Word(word) => values.get(&word).copied().unwrap_or(Value::Plain),
            };
            if let Value::Of(number) = value { Some((pc, number)) } else { None }
        };
        self.program.code(function).filter_map(of).collect()
    }

    fn source(&self, pc: u32, r: Reg) -> Source {
        if let Some(word) = r.word() {
            // Predicates are not part of an address.
            return if r.width() == Width::Pred { Source::Known(Value::Plain) } else { Source::Word(word) };
        }
        let of_module = self.program.variable_in(r);
        Source::Known(match of_module {
            Some(id) => self.variables.get(&id).map_or(Value::Unknown, |number| Value::Of(*number)),
            // The number of a parameter's address, or any other.
            None => match self.program.own_variable_at(pc) {
                Some(own @ OwnVariable::Param(_)) => (self.own)(own),
                Some(OwnVariable::Local(_)) | None => Value::Plain,
            },
        })
    }

    fn rule(&self, pc: u32, operation: &observe::Operation<'_>) -> Rule {
        match operation.kind {
            OperationKind::Compute => {
                // Constants are as wide as they need to be: `mov.u32` takes the low half of an address.
                let same_width = operation.reads.iter().all(|r| {
                    let fits = || operation.writes.iter().all(|w| w.width() == r.width());
                    r.is_constant() || r.width() == Width::Pred || fits()
                });
                // `mov.u32` of the address of a local variable, which has fewer than 32 significant bits.
                let moves_one = operation.reads.len() == 1 && operation.writes.len() == 1;
                computation(self.program.instruction(pc), same_width, moves_one)
            }
            OperationKind::StackAddress => {
                Rule::Address(self.program.own_variable_at(pc).map_or(Value::Unknown, self.own))
            }
            OperationKind::Collective(_)
            | OperationKind::Matrix(_)
            | OperationKind::System(_)
            | OperationKind::Stack(_) => Rule::Other,
            OperationKind::Load(_)
            | OperationKind::Atomic(_)
            | OperationKind::Special(_)
            | OperationKind::ActiveMask
            | OperationKind::Barrier(_)
            | OperationKind::Async(_)
            | OperationKind::Texture(_)
            | OperationKind::Store(_)
            | OperationKind::Branch { .. }
            | OperationKind::Switch { .. }
            | OperationKind::Call(_)
            | OperationKind::Return
            | OperationKind::Exit
            | OperationKind::Trap
            | OperationKind::Fence(_)
            | OperationKind::Yield
            | OperationKind::Nothing => Rule::Fresh,
        }
    }
}

/// What a computation makes of addresses.
#[expect(clippy::wildcard_enum_match_arm, reason = "what an address goes through otherwise is not followed")]
fn computation(instruction: Option<&Instruction>, same_width: bool, moves_one: bool) -> Rule {
    let Some(instruction) = instruction else { return Rule::Other };
    // What is computed on the way to an access is the sum of a variable's address and an index.
    if instruction.traits().intersects(Traits::READS | Traits::WRITES) {
        return if same_width { Rule::Add } else { Rule::Other };
    }
    // Of an address, any other arithmetic makes something unknown, whatever it is.
    match instruction.operation() {
        Operation::Cvt => Rule::Add,
        Operation::Mov if moves_one => Rule::Add,
        Operation::AddInteger
        | Operation::Or
        | Operation::Xor
        | Operation::Mov
        | Operation::Cvta
        | Operation::CvtaTo
            if same_width =>
        {
            Rule::Add
        }
        Operation::SubInteger if same_width => Rule::Sub,
        Operation::MadLoInteger | Operation::MadWide | Operation::Mad24Lo => Rule::MulAdd,
        Operation::Selp | Operation::Slct => Rule::Select,
        _ => Rule::Other,
    }
}

fn write(values: &mut FxHashMap<u32, Value>, word: Option<u32>, value: Value) -> bool {
    let Some(word) = word else { return false };
    let old = values.entry(word).or_insert(Value::Unset);
    let new = old.join(value);
    std::mem::replace(old, new) != new
}

impl Step {
    /// Joins the results into what is known; true if that changes anything.
    fn follow(&self, values: &mut FxHashMap<u32, Value>) -> bool {
        let of = |source: &Source| match source {
            Source::Word(word) => values.get(word).copied().unwrap_or(Value::Unset),
            Source::Known(value) => *value,
        };
        let reads: SmallVec<[Value; 4]> = self.reads.iter().map(of).collect();
        let result = self.rule.result(&reads);
        self.writes.iter().fold(false, |changed, word| write(values, Some(*word), result) | changed)
    }
}

impl Rule {
    fn result(self, reads: &[Value]) -> Value {
        match self {
            Rule::Fresh => return Value::Plain,
            Rule::Address(value) => return value,
            Rule::Add | Rule::Sub | Rule::MulAdd | Rule::Select | Rule::Other => {}
        }
        if reads.contains(&Value::Unset) {
            return Value::Unset;
        }
        let mut addresses = reads.iter().enumerate().filter(|(_, v)| **v != Value::Plain);
        match (self, addresses.next(), addresses.next()) {
            (_, None, _) => Value::Plain,
            (Rule::Add, Some((_, v)), None)
            | (Rule::Sub, Some((0, v)), None)
            | (Rule::MulAdd, Some((2, v)), None) => *v,
            (Rule::Sub, Some((_, Value::Of(a))), Some((_, Value::Of(b)))) if a == b => Value::Plain,
            (Rule::Select, ..) => reads.iter().take(2).fold(Value::Unset, |all, v| all.join(*v)),
            _ => Value::Unknown,
        }
    }
}
