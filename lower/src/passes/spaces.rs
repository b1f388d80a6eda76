//! Address-space inference: a generic pointer that can only point into one state space becomes a pointer to that space, so that its loads and
//! stores name it.
//!
//! What is cast from a space points there, and so does what is computed from it, through parameters of blocks and selections; a fixed point
//! over all generic pointers finds them, assuming the best first. The null pointer is an address of global memory as much as a generic one.
//! Where something else wants the generic pointer (a call, a store of the pointer itself), a cast back is put in front. Pointers into one space are
//! compared there, and one to global memory is its own generic address (PTX ISA 9.0, 6.4.1.1), also as a number.
//!
//! What a kernel reads from memory are pointers to global memory if it can have written no others.

mod loaded;

use super::insert_before;
use crate::analysis::Cfg;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{
    Block, Function, Inst, InstData, IntCC, Opcode, PtxData, PtxOperand, PtxRef, Type, Value,
};
use warpsmith_isa::{Mod, Opcode as Ptx};

/// Sweeps until nothing changes; a function that needs more is left as it is.
const MAX_SWEEPS: u32 = 32;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    if !func.dfg.values().any(|value| func.dfg.ty(value) == Type::PTR) {
        return Changes::NONE;
    }
    // The graph is that of the reachable blocks, which this leaves as it is.
    let cfg = cx.analyses.get::<Cfg>(func);
    super::cfg::remove_unreachable(func, &cfg);
    let with_loaded = loaded::may_be_global(func, &cfg, cx).then(|| infer(func, &cfg, true)).flatten();
    let with_loaded = with_loaded.filter(|spaces| !loaded::writes_others(func, &cfg, spaces, cx));
    let Some(spaces) = with_loaded.or_else(|| infer(func, &cfg, false)) else { return Changes::NONE };
    let blocks: Vec<Block> = cfg.reverse_postorder().to_vec();
    let mut changes = 0;
    for &block in &blocks {
        for param in func.dfg.block_params(block).to_vec() {
            changes += u32::from(retype(func, &spaces, param));
        }
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            if let Some(result) = func.dfg.first_result(inst) {
                changes += u32::from(retype(func, &spaces, result));
            }
        }
    }
    if changes == 0 {
        return Changes::NONE;
    }
    for block in blocks {
        for inst in func.layout.insts(block).collect::<SmallVec<[Inst; 16]>>() {
            uses(func, &spaces, inst);
        }
    }
    func.dfg.resolve_aliases();
    Changes::to_instructions(changes)
}

/// Where a generic pointer points.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Space {
    /// Nothing has been seen yet.
    #[default]
    Unknown,
    /// The null pointer.
    Null,
    /// Into the space of this type of pointers.
    One(Type),
    /// Anywhere.
    Generic,
}

impl Space {
    fn join(self, other: Space) -> Space {
        match (self, other) {
            (a, b) if a == b => a,
            (Space::Unknown, other) | (other, Space::Unknown) => other,
            (Space::Null, Space::One(ty)) | (Space::One(ty), Space::Null) if ty == Type::PTR_GLOBAL => {
                Space::One(ty)
            }
            _ => Space::Generic,
        }
    }
}

type Spaces = SecondaryMap<Value, Space>;

/// What is known of each generic pointer at the end, if those that are read from memory are of global memory or may be any. `None` if it takes too long
/// to find out.
fn infer(func: &Function, cfg: &Cfg, loaded_are_global: bool) -> Option<Spaces> {
    let mut spaces: Spaces = SecondaryMap::with_capacity(func.dfg.num_values());
    if let Some(entry) = func.layout.entry() {
        func.dfg.block_params(entry).iter().for_each(|&param| spaces[param] = Space::Generic);
    }
    for _ in 0..MAX_SWEEPS {
        let mut changed = false;
        let mut learn = |spaces: &mut Spaces, value: Value, found: Space| {
            let joined = spaces[value].join(found);
            changed |= joined != spaces[value];
            spaces[value] = joined;
        };
        for &block in cfg.reverse_postorder() {
            for inst in func.layout.insts(block) {
                for result in func.dfg.results(inst) {
                    if func.dfg.ty(result) == Type::PTR {
                        let found = match loaded_are_global && loaded::is_loaded(func, result) {
                            true => Space::One(Type::PTR_GLOBAL),
                            false => of_result(func, &spaces, inst),
                        };
                        learn(&mut spaces, result, found);
                    }
                }
                for call in func.dfg.targets(inst) {
                    for (param, arg) in func.dfg.given(call) {
                        if func.dfg.ty(param) == Type::PTR {
                            let found = spaces[arg];
                            learn(&mut spaces, param, found);
                        }
                    }
                }
            }
        }
        if !changed {
            return Some(spaces);
        }
    }
    None
}

#[expect(clippy::wildcard_enum_match_arm, reason = "pointers from anywhere else may point anywhere")]
fn of_result(func: &Function, spaces: &Spaces, inst: Inst) -> Space {
    match func.dfg[inst] {
        InstData::Unary { op: Opcode::Addrspacecast, arg } => match func.dfg.ty(arg) {
            Type::PTR => spaces[arg],
            // By-value parameters have no address of their own until something wants a generic one.
            Type::PTR_PARAM => Space::Generic,
            ty => Space::One(ty),
        },
        InstData::Unary { op: Opcode::Inttoptr, arg } if func.dfg.int_const(arg) == Some(0) => Space::Null,
        InstData::Unary { op: Opcode::Inttoptr, arg } if is_global(func, spaces, arg, MAX_SUMS) => {
            Space::One(Type::PTR_GLOBAL)
        }
        InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
        | InstData::Index { args: [base, _], .. } => {
            // What is null plus something is not null.
            if spaces[base] == Space::Null { Space::Generic } else { spaces[base] }
        }
        InstData::Ternary { op: Opcode::Select, args: [_, yes, no] } => spaces[yes].join(spaces[no]),
        _ => Space::Generic,
    }
}

/// Sums of numbers that are looked through.
const MAX_SUMS: u32 = 4;

/// Whether a number is the address of something in global memory, where generic addresses are the same numbers, or that and an offset.
fn is_global(func: &Function, spaces: &Spaces, number: Value, depth: u32) -> bool {
    match func.dfg.def_data(number) {
        Some(&InstData::Unary { op: Opcode::Ptrtoint, arg }) => match func.dfg.ty(arg) {
            Type::PTR => spaces[arg] == Space::One(Type::PTR_GLOBAL),
            ty => ty == Type::PTR_GLOBAL,
        },
        Some(&InstData::Binary { op: Opcode::Iadd, args: [x, y] }) if depth > 0 => [[x, y], [y, x]]
            .into_iter()
            .any(|[base, by]| is_offset(func, by, depth) && is_global(func, spaces, base, depth - 1)),
        _ => false,
    }
}

/// Whether a number cannot be the distance of two addresses.
fn is_offset(func: &Function, number: Value, depth: u32) -> bool {
    match func.dfg.def_data(number) {
        Some(InstData::IntConst { .. }) => true,
        Some(&InstData::Unary { op: Opcode::Sext | Opcode::Zext, arg }) => func.dfg.ty(arg).bits() <= 32,
        Some(&InstData::Binary { op: Opcode::Imul | Opcode::Shl | Opcode::Iadd, args: [x, y] }) => {
            depth > 0 && [x, y].into_iter().all(|part| is_offset(func, part, depth - 1))
        }
        _ => false,
    }
}

/// Gives a pointer the type of its space.
fn retype(func: &mut Function, spaces: &Spaces, value: Value) -> bool {
    if let Space::One(ty) = spaces[value]
        && func.dfg.ty(value) == Type::PTR
    {
        func.dfg.set_ty(value, ty);
        return true;
    }
    false
}

/// Makes the operands of an instruction what it wants of them.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else uses a pointer wants the generic one")]
fn uses(func: &mut Function, spaces: &Spaces, inst: Inst) {
    let result = func.dfg.first_result(inst).map(|value| func.dfg.ty(value));
    match func.dfg[inst] {
        InstData::Unary { op: Opcode::Addrspacecast, arg } => {
            let from = func.dfg.ty(arg);
            if Some(from) == result {
                // A cast of what has the type already.
                super::replace_with(func, inst, arg);
            } else if from != Type::PTR && result != Some(Type::PTR) {
                let arg = insert_before(func, inst, cast(arg), Type::PTR);
                func.dfg.replace_inst(inst, cast(arg));
            }
        }
        InstData::Load { .. } => {}
        InstData::Unary { op: Opcode::Ptrtoint, arg } if func.dfg.ty(arg) == Type::PTR_GLOBAL => {}
        InstData::IntCompare { cond, args } if let Some(ty) = compared_in(func, spaces, cond, args) => {
            for (n, arg) in args.into_iter().enumerate() {
                let arg = as_type(func, spaces, inst, arg, Some(ty));
                func.dfg.args_mut(inst)[n] = arg;
            }
        }
        InstData::List {
            op: Opcode::AtomicLoad | Opcode::AtomicStore | Opcode::AtomicRmw | Opcode::Cmpxchg,
            ..
        } => {
            let address = usize::from(func.dfg.opcode(inst) == Opcode::AtomicStore);
            for n in 0..func.dfg.args(inst).len() {
                let arg = func.dfg.args(inst)[n];
                // Local memory has no atomic accesses.
                if n != address || func.dfg.ty(arg) == Type::PTR_LOCAL {
                    let arg = generic(func, spaces, inst, arg);
                    func.dfg.args_mut(inst)[n] = arg;
                }
            }
        }
        InstData::Store { args: [value, _], .. } => {
            let value = generic(func, spaces, inst, value);
            func.dfg.args_mut(inst)[0] = value;
        }
        InstData::Ptx { data, .. } => {
            let address = address_of(&func.dfg.ptx[data]);
            for n in 0..func.dfg.args(inst).len() {
                let arg = func.dfg.args(inst)[n];
                if Some(n) == address && names_space(func, inst, data, func.dfg.ty(arg)) {
                    continue;
                }
                let arg = generic(func, spaces, inst, arg);
                func.dfg.args_mut(inst)[n] = arg;
            }
        }
        InstData::Binary { op: Opcode::Ptradd, args: [base, _] }
        | InstData::Index { args: [base, _], .. } => {
            let base = as_type(func, spaces, inst, base, result);
            func.dfg.args_mut(inst)[0] = base;
        }
        InstData::Ternary { op: Opcode::Select, args } => {
            for (n, &arg) in args.iter().enumerate().skip(1) {
                let arg = as_type(func, spaces, inst, arg, result);
                func.dfg.args_mut(inst)[n] = arg;
            }
        }
        _ => {
            for n in 0..func.dfg.args(inst).len() {
                let arg = generic(func, spaces, inst, func.dfg.args(inst)[n]);
                func.dfg.args_mut(inst)[n] = arg;
            }
            // The arguments of blocks are what their parameters are.
            let targets: SmallVec<[(Value, Type); 8]> = func
                .dfg
                .targets(inst)
                .flat_map(|call| func.dfg.given(call).map(|(param, arg)| (arg, func.dfg.ty(param))))
                .collect();
            let new: SmallVec<[Value; 8]> =
                targets.into_iter().map(|(arg, ty)| as_type(func, spaces, inst, arg, Some(ty))).collect();
            let mut new = new.into_iter();
            func.dfg.for_each_target_mut(inst, |call, pool| {
                for arg in call.args.as_mut_slice(pool) {
                    *arg = new.next().unwrap_or(*arg);
                }
            });
        }
    }
}

/// The space in which two pointers can be compared in place of their generic addresses: those of a space that is a window begin at its start, which
/// leaves equal what is equal; those of global memory are the same.
fn compared_in(func: &Function, spaces: &Spaces, cond: IntCC, [a, b]: [Value; 2]) -> Option<Type> {
    let null = |value: Value| spaces[value] == Space::Null;
    match (func.dfg.ty(a), func.dfg.ty(b)) {
        (Type::PTR_GLOBAL, Type::PTR_GLOBAL) => Some(Type::PTR_GLOBAL),
        (Type::PTR_GLOBAL, Type::PTR) if null(b) => Some(Type::PTR_GLOBAL),
        (Type::PTR, Type::PTR_GLOBAL) if null(a) => Some(Type::PTR_GLOBAL),
        (Type::PTR, _) | (_, Type::PTR) => None,
        (a, b) => (a == b && a.is_ptr() && matches!(cond, IntCC::Eq | IntCC::Ne)).then_some(a),
    }
}

/// Which argument of an access by a PTX instruction is the generic address that it may name the space of.
fn address_of(data: &PtxData) -> Option<usize> {
    let named = [Mod::Global, Mod::Shared, Mod::Local, Mod::Const, Mod::Param];
    if named.into_iter().any(|space| data.mnemonic().has(space)) {
        return None;
    }
    accessed_by(data)
}

/// Which argument of a PTX instruction that loads, stores or changes values in memory is its address.
pub(super) fn accessed_by(data: &PtxData) -> Option<usize> {
    if !matches!(
        data.mnemonic().opcode(),
        Ptx::Atom
            | Ptx::Red
            | Ptx::Ld
            | Ptx::St
            | Ptx::Ldmatrix
            | Ptx::Stmatrix
            | Ptx::WmmaLoadA
            | Ptx::WmmaLoadB
            | Ptx::WmmaLoadC
            | Ptx::WmmaStoreD
            | Ptx::MbarrierInit
            | Ptx::MbarrierInval
            | Ptx::MbarrierArrive
            | Ptx::MbarrierTestWait
            | Ptx::MbarrierTestWaitParity
            | Ptx::MbarrierTryWait
            | Ptx::MbarrierTryWaitParity
    ) {
        return None;
    }
    let at = data.operands.iter().position(|operand| matches!(operand, PtxOperand::Address(_)))?;
    Some(data.operands[..at].iter().filter(|operand| operand.takes_value()).count())
}

/// Makes an access name the space that its address is of now.
fn names_space(func: &mut Function, inst: Inst, data: PtxRef, ty: Type) -> bool {
    let space = match ty {
        Type::PTR_GLOBAL => Mod::Global,
        Type::PTR_SHARED => Mod::Shared,
        _ => return false,
    };
    let results = func.dfg.results(inst).into_iter().count();
    let Some(named) = func.dfg.ptx[data].with_modifier(space, results) else { return false };
    func.dfg.ptx[data] = named;
    true
}

fn cast(arg: Value) -> InstData {
    InstData::Unary { op: Opcode::Addrspacecast, arg }
}

/// The value as a generic pointer, if it was one.
fn generic(func: &mut Function, spaces: &Spaces, before: Inst, value: Value) -> Value {
    let was_generic = matches!(spaces[value], Space::One(_)) && func.dfg.ty(value) != Type::PTR;
    if !was_generic {
        return value;
    }
    insert_before(func, before, cast(value), Type::PTR)
}

/// The value as a pointer of a type that it is known to be of.
fn as_type(func: &mut Function, spaces: &Spaces, before: Inst, value: Value, ty: Option<Type>) -> Value {
    let Some(ty) = ty.filter(|ty| ty.is_ptr()) else { return value };
    match (func.dfg.ty(value), ty) {
        (from, to) if from == to => value,
        (_, Type::PTR) => generic(func, spaces, before, value),
        // Only the null pointer has kept its type.
        (Type::PTR, _) => insert_before(func, before, cast(value), ty),
        _ => value,
    }
}
