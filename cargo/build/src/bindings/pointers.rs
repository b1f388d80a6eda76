//! What kernels do with the pointers that they are given: a walk over their instructions that follows each parameter through registers.
//!
//! - A register's set of parameters is what its value may have been computed from; an assignment replaces it, a guarded one adds.
//! - An access through a register accesses what its parameters point to. A parameter that goes where this analysis does not look, to memory or
//!   into a call, may be written there, as anything.
//! - Sets only grow at labels, so the walk ends; a kernel of more than [`MOST`] statements is not looked at.

use std::collections::HashMap;
use warpsmith_isa::{ScalarType, Shape, StateSpace, Traits};
use warpsmith_ptx::{Function, Id, Inst, List, Operand, Stmt, Symbol, ValidatedModule};

/// What is known of a parameter as a pointer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pointee {
    /// It is used as an address.
    pub accessed: bool,
    /// What it points to may be written.
    pub written: bool,
    /// The type of every access; `None` where they differ or are not all known.
    pub element: Option<ScalarType>,
}

impl Pointee {
    /// What is assumed where nothing is known.
    pub const UNKNOWN: Pointee = Pointee { accessed: false, written: true, element: None };
}

/// Statements of the largest kernel that is looked at.
const MOST: usize = 100_000;

/// A set of parameters: a bit for each of the first 64.
type Set = u64;
type State = HashMap<Symbol, Set>;

/// The parameters of a kernel, in order.
pub fn pointees(module: &ValidatedModule, function: &Function) -> Vec<Pointee> {
    let mut params = HashMap::new();
    let mut count = 0usize;
    for decl in &module[function.params] {
        for declarator in &module[decl.names] {
            params.insert(declarator.name, count);
            count += 1;
        }
    }
    let body = function.body.unwrap_or_default();
    if count > 64 || body.ids().len() > MOST {
        return vec![Pointee::UNKNOWN; count];
    }
    let mut walk = Walk {
        module,
        params,
        labels: HashMap::new(),
        uses: vec![Use::default(); count],
        scoped: declares_inner_registers(module, &module[body]),
    };
    while walk.round(body) {}
    walk.uses.into_iter().map(Use::pointee).collect()
}

#[derive(Clone, Copy, Default)]
struct Use {
    accessed: bool,
    written: bool,
    element: Seen,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Seen {
    #[default]
    Nothing,
    One(ScalarType),
    Several,
}

impl Use {
    fn pointee(self) -> Pointee {
        let element = match self.element {
            Seen::One(ty) => Some(ty),
            Seen::Nothing | Seen::Several => None,
        };
        Pointee { accessed: self.accessed, written: self.written, element }
    }
}

struct Walk<'a> {
    module: &'a ValidatedModule,
    params: HashMap<Symbol, usize>,
    /// What is known where a label is reached.
    labels: HashMap<Symbol, State>,
    uses: Vec<Use>,
    /// Names of registers may denote others of the same spelling.
    scoped: bool,
}

/// True if a scope within the body has registers of its own; those around calls have none.
fn declares_inner_registers(module: &ValidatedModule, body: &[Stmt]) -> bool {
    let mut depth = 0usize;
    body.iter().any(|stmt| {
        match stmt {
            Stmt::Open => depth += 1,
            Stmt::Close => depth = depth.saturating_sub(1),
            Stmt::Decl(decl) => return depth > 0 && module[*decl].space == StateSpace::Reg,
            Stmt::Inst(_)
            | Stmt::Label(_)
            | Stmt::Loc(_)
            | Stmt::LocIntermediate(_)
            | Stmt::Pragma(_)
            | Stmt::BranchTargets { .. }
            | Stmt::CallTargets { .. }
            | Stmt::CallPrototype(_)
            | Stmt::Target(_) => {}
        }
        false
    })
}

impl Walk<'_> {
    /// Walks over all statements; true if something was learnt at a label that had been passed.
    fn round(&mut self, body: List<Stmt>) -> bool {
        let mut state = State::new();
        let mut again = false;
        let mut passed: Vec<Symbol> = Vec::new();
        for stmt in body.ids() {
            match self.module[stmt] {
                Stmt::Label(label) => {
                    let known = self.labels.entry(label).or_default();
                    merge(known, &state);
                    state = known.clone();
                    passed.push(label);
                }
                Stmt::Inst(inst) => {
                    if let Some(target) = self.instruction(stmt, &inst, &mut state) {
                        let grew = match target {
                            Target::Label(label) => merge(self.labels.entry(label).or_default(), &state),
                            // Through a list of labels: to any.
                            Target::Any => {
                                let labels: Vec<Symbol> = self.labels.keys().copied().collect();
                                labels.into_iter().fold(false, |grew, label| {
                                    merge(self.labels.entry(label).or_default(), &state) | grew
                                })
                            }
                            Target::None => false,
                        };
                        again |= grew;
                        if inst.guard.is_none() {
                            state.clear();
                        }
                    }
                }
                Stmt::Open
                | Stmt::Close
                | Stmt::Decl(_)
                | Stmt::Loc(_)
                | Stmt::LocIntermediate(_)
                | Stmt::Pragma(_)
                | Stmt::BranchTargets { .. }
                | Stmt::CallTargets { .. }
                | Stmt::CallPrototype(_)
                | Stmt::Target(_) => {}
            }
        }
        again
    }

    /// What an instruction does to the state; where it goes, if it ends a block.
    fn instruction(&mut self, stmt: Id<Stmt>, inst: &Inst, state: &mut State) -> Option<Target> {
        let resolved = self.module.instruction(stmt)?;
        let traits = resolved.traits();
        let (mut address, mut data, mut taken): (Set, Set, Set) = (0, 0, 0);
        let mut written: Vec<Symbol> = Vec::new();
        let mut target = Target::None;
        for (place, operand) in resolved.places().zip(inst.operands.ids()) {
            let mut names = Vec::new();
            self.module.for_each_name(operand, &mut |name| names.push(name));
            let is_destination = match &place.shape {
                Shape::Value(value) => value.destination,
                Shape::Pair { first, .. } => first.destination,
                Shape::Results => true,
                Shape::Address(_)
                | Shape::Bracket(_)
                | Shape::Tuple(_)
                | Shape::Label
                | Shape::Callee
                | Shape::Arguments
                | Shape::List => false,
            };
            if is_destination {
                written.extend(names);
                continue;
            }
            let of: Set = names.iter().filter_map(|name| state.get(name)).fold(0, |all, set| all | set);
            let named: Set =
                names.iter().filter_map(|name| self.params.get(name)).fold(0, |all, n| all | 1 << n);
            match &place.shape {
                Shape::Address(_) | Shape::Bracket(_) => {
                    address |= of;
                    taken |= named;
                }
                Shape::Label => {
                    if let Operand::Name(label) = self.module[operand] {
                        target = Target::Label(label);
                    }
                }
                Shape::List if traits.contains(Traits::TERMINATOR) => target = Target::Any,
                Shape::List | Shape::Callee => {}
                Shape::Value(_)
                | Shape::Pair { .. }
                | Shape::Tuple(_)
                | Shape::Arguments
                | Shape::Results => {
                    data |= of;
                    // The address of a parameter: who knows what becomes of it.
                    self.escape(named);
                }
            }
        }
        let memory = traits.intersects(Traits::READS | Traits::WRITES);
        let of_result = if memory {
            if resolved.space() != StateSpace::Param || address != 0 {
                self.access(address, traits.contains(Traits::WRITES), resolved.ty());
            }
            if !traits.is_pure() && traits.contains(Traits::WRITES) {
                self.escape(data);
            }
            // `ld.param`
            if resolved.space() == StateSpace::Param { taken } else { 0 }
        } else {
            if traits.intersects(Traits::CALL | Traits::SIDE_EFFECT | Traits::ASYNC) {
                self.escape(data | address);
            }
            data | address
        };
        for register in written {
            let set = state.entry(register).or_default();
            *set = if inst.guard.is_some() || self.scoped { *set | of_result } else { of_result };
        }
        traits.contains(Traits::TERMINATOR).then_some(target)
    }

    fn each(&mut self, set: Set, mut change: impl FnMut(&mut Use)) {
        for (n, used) in self.uses.iter_mut().enumerate() {
            if set >> n & 1 == 1 {
                change(used);
            }
        }
    }

    fn access(&mut self, set: Set, writes: bool, ty: Option<ScalarType>) {
        self.each(set, |used| {
            used.accessed = true;
            used.written |= writes;
            used.element = match (used.element, ty) {
                (Seen::Nothing, Some(ty)) => Seen::One(ty),
                (Seen::One(old), Some(ty)) if old == ty => Seen::One(old),
                (Seen::Nothing | Seen::One(_) | Seen::Several, _) => Seen::Several,
            };
        });
    }

    fn escape(&mut self, set: Set) {
        self.each(set, |used| (used.written, used.element) = (true, Seen::Several));
    }
}

/// Where an instruction that ends a block goes.
enum Target {
    None,
    Label(Symbol),
    Any,
}

/// Adds what is known; true if that is more than before.
fn merge(into: &mut State, from: &State) -> bool {
    let mut grew = false;
    for (name, set) in from {
        let known = into.entry(*name).or_default();
        grew |= *known | set != *known;
        *known |= set;
    }
    grew
}
