//! Which variable an address was computed from, as far as the code of one function says.
//!
//! Addresses are followed from where a variable is named: through moves, conversions between address spaces and additions, to the accesses that use them and
//! to the calls that pass them on. Only what is certain counts, so that legal code is never at fault. A register has one answer for the whole function, joined over everything that
//! writes it: *nothing* (no address of a variable is in it), *one variable*, *an argument* that a caller has computed from a variable, or *unknown*: several of these, or what masks, multiplications
//! and other arithmetic make of an address. What comes from memory and from calls is nothing: whoever adds it to
//! the address of a variable means an index. The difference of two addresses in one variable is nothing, too; of any others it is unknown.

use smallvec::SmallVec;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_interp::Program;
use warpsmith_interp::engine::{Access, FuncId, Move, OwnVariable, Reg, Slot, SymbolId, Width};
use warpsmith_interp::observe::{self, OperationKind};
use warpsmith_isa::{Instruction, Operation, Traits};

/// Where a value lies in the frame of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Place {
    /// A register, by its first word.
    Word(u32),
    /// Bytes of local memory: of parameters, and of arguments of calls.
    Stack(u32),
}

/// What is known about the values of one function.
pub(super) struct Analysis<'p> {
    /// What the addresses of its accesses are, where they are a variable's.
    pub accesses: Vec<(u32, Value)>,
    pub calls: Vec<Passed<'p>>,
}

/// What a call passes.
pub(super) struct Passed<'p> {
    pub call: u32,
    /// The functions that it may call.
    pub callees: &'p [FuncId],
    /// What arrives where in their frames.
    pub values: Vec<(Place, Value)>,
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// Nothing has written it yet.
    Unset,
    /// No address of a variable.
    Plain,
    /// An address that was computed from that of this extent.
    Of(u32),
    /// What the caller has passed for this parameter, and what was computed from it.
    Argument(u32),
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
    writes: SmallVec<[Place; 2]>,
}

#[derive(Clone, Copy)]
enum Source {
    At(Place),
    Known(Value),
}

/// What the names of variables mean in a function.
pub(super) struct Names<'a, 'p> {
    pub program: &'p Program,
    pub variables: &'a FxHashMap<SymbolId, u32>,
    pub own: &'a dyn Fn(OwnVariable) -> Value,
    /// What callers leave at a place.
    pub passed: &'a dyn Fn(Place) -> Value,
}

impl<'p> Names<'_, 'p> {
    /// What the code of a function says of addresses.
    pub fn analyse(&self, function: FuncId) -> Analysis<'p> {
        let (mut steps, mut values): (Vec<Step>, FxHashMap<Place, Value>) = Default::default();
        let code = || self.program.code(function);
        let mut parameters: SmallVec<[(u32, u32); 4]> = SmallVec::new();
        for slot in self.program.formals(function) {
            match slot {
                Slot::Reg(r) => {
                    if let Some(place) = r.word().map(Place::Word) {
                        write(&mut values, place, (self.passed)(place));
                    }
                }
                Slot::Stack { offset, bytes } => parameters.push((offset, bytes)),
            }
        }
        let mut arguments: SmallVec<[(u32, u32); 4]> = SmallVec::new();
        for pc in code() {
            let Some(OperationKind::Call(call)) = self.program.operation(pc).map(|o| o.kind) else {
                continue;
            };
            // What callees leave in registers is not followed.
            for m in call.results() {
                if let Move::Reg { to, .. } = m
                    && let Some(word) = to.word()
                {
                    write(&mut values, Place::Word(word), Value::Plain);
                }
            }
            arguments.extend(call.arguments().iter().filter_map(|m| match m {
                Move::Stack { from, bytes, .. } => Some((*from, *bytes)),
                Move::Reg { .. } => None,
            }));
        }
        let within = |list: &[(u32, u32)], offset: u32| {
            list.iter().any(|(start, bytes)| offset.checked_sub(*start).is_some_and(|o| o < *bytes))
        };
        for pc in code() {
            let Some(operation) = self.program.operation(pc) else { continue };
            if let OperationKind::Store(access) = operation.kind {
                for (i, r) in operation.reads.iter().skip(1).enumerate() {
                    if let Some(offset) = on_stack(access, i)
                        && within(&arguments, offset)
                    {
                        let reads = [self.source(pc, *r)].into_iter().collect();
                        let writes = [Place::Stack(offset)].into_iter().collect();
                        steps.push(Step { rule: Rule::Add, reads, writes });
                    }
                }
            }
            if operation.writes.is_empty() {
                continue;
            }
            if let OperationKind::Load(access) = operation.kind
                && on_stack(access, 0).is_some_and(|offset| within(&parameters, offset))
            {
                for (i, r) in operation.writes.iter().enumerate() {
                    let value = on_stack(access, i).map_or(Value::Plain, |o| (self.passed)(Place::Stack(o)));
                    let writes = r.word().map(Place::Word).into_iter().collect();
                    steps.push(Step { rule: Rule::Address(value), reads: SmallVec::new(), writes });
                }
                continue;
            }
            let reads = operation.reads.iter().map(|r| self.source(pc, *r)).collect();
            let writes = operation.writes.iter().filter_map(|r| r.word()).map(Place::Word).collect();
            steps.push(Step { rule: self.rule(pc, &operation), reads, writes });
        }
        // What nothing writes is not an address of a variable.
        let written: FxHashSet<Place> = steps.iter().flat_map(|step| step.writes.iter().copied()).collect();
        for source in steps.iter().flat_map(|step| &step.reads) {
            if let Source::At(place) = source
                && !written.contains(place)
            {
                values.entry(*place).or_insert(Value::Plain);
            }
        }
        // Each value can change twice, so this ends.
        while steps.iter().fold(false, |changed, step| step.follow(&mut values) | changed) {}
        let calls = code().filter_map(|pc| self.call(pc, &values)).collect();
        Analysis { accesses: code().filter_map(|pc| self.access(pc, &values)).collect(), calls }
    }

    /// The address of an access, if it was computed from a variable.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else accesses memory at a place of its own")]
    fn access(&self, pc: u32, values: &FxHashMap<Place, Value>) -> Option<(u32, Value)> {
        let operation = self.program.operation(pc)?;
        let access = match operation.kind {
            OperationKind::Load(access) | OperationKind::Store(access) => access,
            OperationKind::Atomic(atomic) => &atomic.access,
            _ => return None,
        };
        let value = match self.source(pc, access.base()) {
            Source::Known(_) if access.is_on_stack() => self.program.own_variable_at(pc).map(self.own)?,
            Source::Known(value) => value,
            Source::At(place) => values.get(&place).copied().unwrap_or(Value::Plain),
        };
        match value {
            Value::Of(_) | Value::Argument(_) => Some((pc, value)),
            Value::Unset | Value::Plain | Value::Unknown => None,
        }
    }

    /// What a call passes.
    fn call(&self, pc: u32, values: &FxHashMap<Place, Value>) -> Option<Passed<'p>> {
        let OperationKind::Call(call) = self.program.operation(pc)?.kind else { return None };
        let mut passed = Vec::new();
        for m in call.arguments() {
            match *m {
                Move::Reg { from, to } => {
                    let value = match self.source(pc, from) {
                        Source::Known(value) => value,
                        Source::At(place) => values.get(&place).copied().unwrap_or(Value::Plain),
                    };
                    passed.extend(to.word().map(|word| (Place::Word(word), value)));
                }
                Move::Stack { from, to, bytes } => {
                    passed.extend(values.iter().filter_map(|(place, value)| match place {
                        Place::Stack(offset) => {
                            let into = offset.checked_sub(from).filter(|into| *into < bytes)?;
                            Some((Place::Stack(to + into), *value))
                        }
                        Place::Word(_) => None,
                    }));
                }
            }
        }
        let callees = self.program.callees(&call.callee);
        passed.sort_unstable_by_key(|(place, _)| *place);
        Some(Passed { call: pc, callees, values: passed })
    }

    fn source(&self, pc: u32, r: Reg) -> Source {
        if let Some(word) = r.word() {
            // Predicates are not part of an address.
            return if r.width() == Width::Pred {
                Source::Known(Value::Plain)
            } else {
                Source::At(Place::Word(word))
            };
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

/// The offset in the frame of an element that an access names there.
fn on_stack(access: &Access, element: usize) -> Option<u32> {
    let offset = access.offset() + i64::from(access.bytes) * element as i64;
    u32::try_from(offset).ok().filter(|_| access.is_on_stack() && access.base().is_constant())
}

fn write(values: &mut FxHashMap<Place, Value>, place: Place, value: Value) -> bool {
    let old = values.entry(place).or_insert(Value::Unset);
    let new = old.join(value);
    std::mem::replace(old, new) != new
}

impl Step {
    /// Joins the results into what is known; true if that changes anything.
    fn follow(&self, values: &mut FxHashMap<Place, Value>) -> bool {
        let of = |source: &Source| match source {
            Source::At(place) => values.get(place).copied().unwrap_or(Value::Unset),
            Source::Known(value) => *value,
        };
        let reads: SmallVec<[Value; 4]> = self.reads.iter().map(of).collect();
        let result = self.rule.result(&reads);
        self.writes.iter().fold(false, |changed, place| write(values, *place, result) | changed)
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
            (Rule::Sub, Some((_, Value::Of(a))), Some((_, Value::Of(b))))
            | (Rule::Sub, Some((_, Value::Argument(a))), Some((_, Value::Argument(b))))
                if a == b =>
            {
                Value::Plain
            }
            (Rule::Select, ..) => reads.iter().take(2).fold(Value::Unset, |all, v| all.join(*v)),
            _ => Value::Unknown,
        }
    }
}
