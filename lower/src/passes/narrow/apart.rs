//! Loads of 64-bit integers of which only words, and parts of words, are used: the words are loaded, as elements of a vector. A `uint4` that was
//! copied as two integers of 64 bits and is read as eight halves leaves such loads.

use super::super::{insert_before, replace_with};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{Function, Inst, InstData, Opcode, Scalar, Type, Value};

/// The instructions that use each value.
type Users = SecondaryMap<Value, SmallVec<[Inst; 4]>>;

/// A cut out of an integer of 64 bits: the instruction that gives it, where it begins, and its type.
struct Cut {
    inst: Inst,
    at: u32,
    ty: Type,
}

/// Returns how many loads were changed.
pub(super) fn run(func: &mut Function) -> u32 {
    let insts = || func.layout.blocks().flat_map(|block| func.layout.insts(block));
    let loads: Vec<Inst> = insts().filter(|&inst| wide(func, inst).is_some()).collect();
    if loads.is_empty() {
        return 0;
    }
    let mut users: Users = SecondaryMap::new();
    users.resize(func.dfg.num_values());
    for inst in insts() {
        func.dfg.for_each_use(inst, |value| users[func.dfg.resolve(value)].push(inst));
    }
    loads.into_iter().map(|load| u32::from(take_apart(func, load, &users))).sum()
}

/// The result of a load of one or two integers of 64 bits, and how many they are.
fn wide(func: &Function, inst: Inst) -> Option<(Value, u32)> {
    let InstData::Load { flags, .. } = func.dfg[inst] else { return None };
    let result = func.dfg.first_result(inst).filter(|_| !flags.volatile)?;
    let ty = func.dfg.ty(result);
    (ty.element() == Scalar::I64 && !ty.is_ptr() && ty.lanes() <= 2).then_some((result, ty.lanes()))
}

fn take_apart(func: &mut Function, load: Inst, users: &Users) -> bool {
    let Some((result, lanes)) = wide(func, load) else { return false };
    let InstData::Load { flags, offset, ptr } = func.dfg[load] else { return false };
    // The elements, each with its first word.
    let mut elements: SmallVec<[(Value, u8); 2]> = SmallVec::new();
    if lanes == 1 {
        elements.push((result, 0));
    } else {
        for &user in &users[result] {
            let InstData::Extract { lane, .. } = func.dfg[user] else { return false };
            let Some(element) = func.dfg.first_result(user) else { return false };
            elements.push((element, 2 * lane));
        }
    }
    let mut cuts: SmallVec<[(u8, Cut); 8]> = SmallVec::new();
    for (element, first) in elements {
        let Some(found) = cuts_of(func, element, users) else { return false };
        cuts.extend(found.into_iter().map(|cut| (first + u8::from(cut.at >= 32), cut)));
    }
    let (Some(ty), Some(flags)) =
        (Type::vector(Scalar::I32, 2 * lanes), flags.with_align(flags.align(func.dfg.ty(result))))
    else {
        return false;
    };
    if cuts.is_empty() {
        return false;
    }
    let words = insert_before(func, load, InstData::Load { flags, offset, ptr }, ty);
    let mut loaded: [Option<Value>; 4] = [None; 4];
    for (lane, cut) in cuts {
        let Some(slot) = loaded.get_mut(usize::from(lane)) else { continue };
        let word = *slot.get_or_insert_with(|| {
            insert_before(func, load, InstData::Extract { lane, arg: words }, Type::I32)
        });
        let at = cut.at % 32;
        let part = if at == 0 {
            word
        } else {
            let by = insert_before(func, cut.inst, InstData::IntConst { value: at.into() }, Type::I32);
            let shifted = InstData::Binary { op: Opcode::Lshr, args: [word, by] };
            insert_before(func, cut.inst, shifted, Type::I32)
        };
        if cut.ty == Type::I32 {
            replace_with(func, cut.inst, part);
        } else {
            func.dfg.replace_inst(cut.inst, InstData::Unary { op: Opcode::Trunc, arg: part });
        }
    }
    true
}

/// The parts that are used of an integer of 64 bits, if these lie within its words and nothing else is.
fn cuts_of(func: &Function, whole: Value, users: &Users) -> Option<SmallVec<[Cut; 4]>> {
    let mut cuts = SmallVec::new();
    for &user in &users[whole] {
        match func.dfg[user] {
            InstData::Unary { op: Opcode::Trunc, .. } => cuts.push(cut(func, user, 0)?),
            InstData::Binary { op: Opcode::Lshr | Opcode::Ashr, args: [x, by] }
                if func.dfg.resolve(x) == whole =>
            {
                let at = u32::try_from(func.dfg.int_const(func.dfg.resolve(by))?).ok()?;
                for &inst in &users[func.dfg.first_result(user)?] {
                    let InstData::Unary { op: Opcode::Trunc, .. } = func.dfg[inst] else { return None };
                    cuts.push(cut(func, inst, at)?);
                }
            }
            _ => return None,
        }
    }
    Some(cuts)
}

fn cut(func: &Function, inst: Inst, at: u32) -> Option<Cut> {
    let ty = func.dfg.ty(func.dfg.first_result(inst)?);
    let fits = matches!(ty, Type::I8 | Type::I16 | Type::I32) && at < 64 && at % 32 + ty.bits() <= 32;
    fits.then_some(Cut { inst, at, ty })
}
