//! What pointers point to, and which accesses of memory can overlap.
//!
//! A pointer is an object (a stack slot, a variable of the module, what a parameter points to) and an address in it: a root, a value or the start of
//! the object, and a constant distance. Accesses of different objects do not overlap where both are known, nor do accesses of different state
//! spaces, nor those at distances from one root that lie apart. A slot whose address goes nowhere but to loads and stores is touched by nothing
//! else, whatever other threads and functions do. Volatile accesses are none of these: whoever makes one wants memory to be as the program says.
//! Everything else may overlap.

use super::{Analyses, Analysis, Cfg};
use crate::pass::Aspects;
use crate::sparse::Sparse;
use cranelift_entity::SecondaryMap;
use warpsmith_ir::{
    Attr, FuncKind, Function, GlobalId, Inst, InstData, MemoryOrder, Opcode, StackSlot, Traits, Type, Value,
};
use warpsmith_isa::StateSpace;

/// Rounds of the fixed point over block parameters; what is not settled then may point anywhere.
const MAX_ROUNDS: u32 = 8;

/// What a pointer points into.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Object {
    /// Nothing that has been seen yet.
    #[default]
    Unseen,
    /// A stack slot.
    Slot(StackSlot),
    /// A variable of the module.
    Global(GlobalId),
    /// What a parameter of the function points to.
    Param(u32),
    /// Anything.
    Unknown,
}

impl Object {
    fn join(self, other: Object) -> Object {
        match (self, other) {
            (Object::Unseen, object) | (object, Object::Unseen) => object,
            (a, b) if a == b => a,
            _ => Object::Unknown,
        }
    }
}

/// Where an address is counted from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// The start of the object.
    Object(Object),
    /// A value.
    Value(Value),
}

/// An address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// What it points into.
    pub object: Object,
    /// What it is counted from.
    pub root: Root,
    /// How many bytes it is behind that.
    pub distance: i64,
}

/// Bytes of memory that an instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The address of the first.
    pub pointer: Pointer,
    /// The state space that the address is in.
    pub space: StateSpace,
    /// How many.
    pub bytes: u64,
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing that another access would notice.
    None,
    /// Reads bytes.
    Reads(Access),
    /// Writes bytes, and may read them.
    Writes(Access),
    /// May read anything that can be reached.
    ReadsAll,
    /// May read and write anything that can be reached; orders accesses.
    All,
}

/// What all pointers of a function point to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Pointers {
    of: Sparse<Value, Pointer>,
    /// Whether the address of any slot is taken.
    has_slots: bool,
    reachable: SecondaryMap<StackSlot, bool>,
}

impl Analysis for Pointers {
    const NAME: &'static str = "what pointers point to";
    const READS: Aspects = Aspects::ALL;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<Cfg>(func);
        Pointers::compute(func, &cfg)
    }
}

impl Pointers {
    /// Looks at all pointers of a function.
    pub fn compute(func: &Function, cfg: &Cfg) -> Self {
        let mut pointers = Pointers { of: Sparse::new(func.dfg.num_values()), ..Pointers::default() };
        // What a pointer is made of was seen before it, unless that is a parameter of a block.
        let is_ptr = |param: &Value| func.dfg.ty(*param).is_ptr();
        let gives =
            |block| !cfg.predecessors(block).is_empty() && func.dfg.block_params(block).iter().any(is_ptr);
        if !cfg.reverse_postorder().iter().any(|block| gives(*block)) {
            pointers.round(func, cfg, false);
        } else if !(0..MAX_ROUNDS).any(|_| !pointers.round(func, cfg, false)) {
            // Whatever still changes may point anywhere.
            pointers = Pointers::default();
            pointers.round(func, cfg, true);
        }
        if pointers.has_slots {
            pointers.find_reachable(func, cfg);
        }
        pointers
    }

    /// Goes through the function once. True if something was learned. Parameters of blocks may be given up.
    fn round(&mut self, func: &Function, cfg: &Cfg, give_up: bool) -> bool {
        let mut changed = false;
        let entry = func.layout.entry();
        for &block in cfg.reverse_postorder() {
            for (n, &param) in func.dfg.block_params(block).iter().enumerate() {
                if self.known(param).is_none() && func.dfg.ty(param).is_ptr() {
                    let object = match (Some(block) == entry, give_up) {
                        (true, _) => Object::Param(n as u32),
                        (false, true) => Object::Unknown,
                        (false, false) => Object::Unseen,
                    };
                    self.of.set(param, Pointer::at(object, param));
                    changed = true;
                }
            }
            for inst in func.layout.insts(block) {
                changed |= self.result(func, inst);
                for call in func.dfg.targets(inst) {
                    for (param, arg) in func.dfg.given(call) {
                        if !func.dfg.ty(param).is_ptr() {
                            continue;
                        }
                        let unseen = if give_up { Object::Unknown } else { Object::Unseen };
                        let known = self.known(param).map_or(unseen, |known| known.object);
                        let given = self.known(arg).map_or(unseen, |arg| arg.object);
                        let object = known.join(given);
                        changed |= Some(object) != self.known(param).map(|param| param.object);
                        self.of.set(param, Pointer::at(object, param));
                    }
                }
            }
        }
        changed
    }

    /// Learns what the result of an instruction points to. True if it was not known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other pointer may point anywhere")]
    fn result(&mut self, func: &Function, inst: Inst) -> bool {
        let dfg = &func.dfg;
        let Some(result) = dfg.first_result(inst).filter(|&result| dfg.ty(result).is_ptr()) else {
            return false;
        };
        let object = |value: Value| self.known(value).map_or(Object::Unseen, |pointer| pointer.object);
        let start =
            |object, distance: i32| Pointer { object, root: Root::Object(object), distance: distance.into() };
        let moved = |base: Value, by: Option<i64>| {
            let base = self.known(base)?;
            let distance = by.and_then(|by| base.distance.checked_add(by));
            Some(match distance {
                Some(distance) => Pointer { distance, ..base },
                None => Pointer::at(base.object, result),
            })
        };
        let found = match dfg[inst] {
            InstData::StackAddr { slot, offset } => Some(start(Object::Slot(slot), offset)),
            InstData::GlobalAddr { global, offset } => Some(start(Object::Global(global), offset)),
            InstData::Binary { op: Opcode::Ptradd, args: [base, by] } => moved(base, dfg.int_const(by)),
            InstData::Index { scale, args: [base, by] } => {
                moved(base, dfg.int_const(by).and_then(|by| by.checked_mul(scale.into())))
            }
            InstData::Unary { op: Opcode::Addrspacecast, arg } => self.known(arg),
            InstData::Ternary { op: Opcode::Select, args: [_, yes, no] } => {
                Some(Pointer::at(object(yes).join(object(no)), result))
            }
            _ => Some(Pointer::at(Object::Unknown, result)),
        };
        self.has_slots |= matches!(dfg[inst], InstData::StackAddr { .. });
        let changed = found != self.known(result);
        if let Some(found) = found {
            self.of.set(result, found);
        }
        changed
    }

    /// Finds the slots whose addresses go elsewhere than to loads, stores and comparisons, or to volatile ones of these.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other use may pass the address on")]
    fn find_reachable(&mut self, func: &Function, cfg: &Cfg) {
        let dfg = &func.dfg;
        let mut reachable: SecondaryMap<StackSlot, bool> = SecondaryMap::new();
        for &block in cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                let mut passed_on = |value: Value| {
                    if let Some(Pointer { object: Object::Slot(slot), .. }) = self.known(value) {
                        reachable[slot] = true;
                    }
                };
                let result = dfg.first_result(inst).and_then(|result| self.known(result));
                match dfg[inst] {
                    // In front of a volatile access memory is up to date, and behind it nothing is known of it, as if others had the address.
                    InstData::Load { flags, ptr, .. } if flags.volatile => passed_on(ptr),
                    InstData::Store { flags, args, .. } if flags.volatile => {
                        args.into_iter().for_each(&mut passed_on)
                    }
                    InstData::Load { .. } | InstData::IntCompare { .. } => {}
                    InstData::Store { args: [value, _], .. } => passed_on(value),
                    InstData::Binary { op: Opcode::Ptradd, .. }
                    | InstData::Index { .. }
                    | InstData::Unary { op: Opcode::Addrspacecast, .. } => {}
                    // The result is followed as the slot's address.
                    InstData::Ternary { op: Opcode::Select, .. }
                        if result.is_some_and(|result| matches!(result.object, Object::Slot(_))) => {}
                    _ => dfg.args(inst).iter().for_each(|&arg| passed_on(arg)),
                }
                for call in dfg.targets(inst) {
                    for (param, arg) in dfg.given(call) {
                        if self.known(param).map(|param| param.object)
                            != self.known(arg).map(|arg| arg.object)
                        {
                            passed_on(arg);
                        }
                    }
                }
            }
        }
        self.reachable = reachable;
    }

    fn known(&self, value: Value) -> Option<Pointer> {
        self.of.get(value).copied()
    }

    /// What a pointer is known to point to.
    pub fn of(&self, value: Value) -> Pointer {
        self.known(value).unwrap_or(Pointer::at(Object::Unknown, value))
    }

    /// Whether the address of a slot is known outside of the loads and stores that name it, or one of these is volatile.
    pub fn is_reachable(&self, slot: StackSlot) -> bool {
        self.reachable[slot]
    }

    /// Some bytes behind a pointer.
    pub fn access(&self, func: &Function, ptr: Value, offset: i32, ty: Type) -> Option<Access> {
        let pointer = self.of(ptr);
        let distance = pointer.distance.checked_add(offset.into())?;
        let space = func.dfg.ty(ptr).space().unwrap_or(StateSpace::Generic);
        // What aggregates take, the type table of the module knows; here they are as large as values can be.
        let bytes = ty.bytes().map_or(64 << 10, u64::from);
        Some(Access { pointer: Pointer { distance, ..pointer }, space, bytes })
    }

    /// What an instruction does to memory.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the traits describe the rest")]
    pub fn effect(&self, func: &Function, inst: Inst) -> Effect {
        let dfg = &func.dfg;
        let by_traits = || {
            let traits = func.traits(inst);
            match (traits.contains(Traits::WRITES), traits.contains(Traits::READS)) {
                (true, _) => Effect::All,
                (false, true) => Effect::ReadsAll,
                (false, false) => Effect::None,
            }
        };
        match &dfg[inst] {
            &InstData::Load { flags, offset, ptr } => match dfg.first_result(inst) {
                _ if flags.volatile => Effect::All,
                Some(_) if flags.invariant => Effect::None,
                Some(result) => {
                    self.access(func, ptr, offset, dfg.ty(result)).map_or(Effect::ReadsAll, Effect::Reads)
                }
                None => Effect::All,
            },
            &InstData::Store { flags, offset, args: [value, ptr] } => {
                let access = self.access(func, ptr, offset, dfg.ty(value)).filter(|_| !flags.volatile);
                access.map_or(Effect::All, Effect::Writes)
            }
            InstData::List { op: Opcode::AtomicRmw, attr: Attr::Memory(mode), args }
                if mode.strongest() == MemoryOrder::Relaxed =>
            {
                let ty = dfg.first_result(inst).map(|result| dfg.ty(result));
                let access =
                    args.first(&dfg.pool).zip(ty).and_then(|(ptr, ty)| self.access(func, ptr, 0, ty));
                access.map_or(Effect::All, Effect::Writes)
            }
            _ => by_traits(),
        }
    }

    /// Whether bytes that an instruction writes may be among those of an access.
    #[inline]
    pub fn may_write(&self, func: &Function, effect: Effect, access: &Access) -> bool {
        match effect {
            Effect::None | Effect::Reads(_) | Effect::ReadsAll => false,
            Effect::Writes(written) => self.may_overlap(func, &written, access),
            Effect::All => self.is_shared(access),
        }
    }

    /// Whether bytes that an instruction reads or writes may be among those of an access.
    pub fn may_touch(&self, func: &Function, effect: Effect, access: &Access) -> bool {
        match effect {
            Effect::None => false,
            Effect::Reads(other) | Effect::Writes(other) => self.may_overlap(func, &other, access),
            Effect::ReadsAll | Effect::All => self.is_shared(access),
        }
    }

    /// Whether something else than the function's own loads and stores may touch the bytes of an access.
    fn is_shared(&self, access: &Access) -> bool {
        match access.pointer.object {
            Object::Slot(slot) => self.reachable[slot],
            Object::Unseen | Object::Global(_) | Object::Param(_) | Object::Unknown => {
                // Nothing writes constants and parameters.
                !matches!(access.space, StateSpace::Const | StateSpace::Param)
            }
        }
    }

    /// Whether two accesses may have bytes in common.
    #[inline]
    pub fn may_overlap(&self, func: &Function, a: &Access, b: &Access) -> bool {
        let generic = |access: &Access| access.space == StateSpace::Generic;
        if a.space != b.space && !generic(a) && !generic(b) {
            return false;
        }
        if a.pointer.root == b.pointer.root {
            let (first, second) = if a.pointer.distance <= b.pointer.distance { (a, b) } else { (b, a) };
            let between = second.pointer.distance.abs_diff(first.pointer.distance);
            return between < first.bytes;
        }
        !self.are_distinct(func, a.pointer.object, b.pointer.object)
            && !self.are_distinct(func, b.pointer.object, a.pointer.object)
    }

    /// Whether two objects have no bytes in common. Asked both ways round.
    fn are_distinct(&self, func: &Function, a: Object, b: Object) -> bool {
        let noalias = |n: u32| func.params.get(n as usize).is_some_and(|param| param.attrs.noalias);
        match (a, b) {
            (Object::Slot(a), Object::Slot(b)) => a != b,
            // Dynamic shared memory is one piece under any name; the linker may make one variable of two that are not this module's alone.
            (Object::Slot(_), Object::Global(_) | Object::Param(_)) => true,
            (Object::Slot(slot), Object::Unknown) => !self.reachable[slot],
            (Object::Param(a), Object::Param(b)) => a != b && (noalias(a) || noalias(b)),
            (Object::Param(n), Object::Global(_)) => noalias(n) && func.kind == FuncKind::Kernel,
            (Object::Global(_), _) | (Object::Param(_), _) | (Object::Unseen | Object::Unknown, _) => false,
            (Object::Slot(_), Object::Unseen) => false,
        }
    }
}

impl Pointer {
    /// The address that a value is.
    const fn at(object: Object, value: Value) -> Pointer {
        Pointer { object, root: Root::Value(value), distance: 0 }
    }
}
