//! Accesses of stack slots in other widths than the fields that slots are taken apart into.
//!
//! Where one access covers what others access in parts (a struct is copied by words of 64 bits, and read by fields of 32), it becomes accesses of the
//! parts. Where one accesses a part of what others access as a whole (a bit field, a member of a union), it becomes one of the whole, of which it takes or
//! changes some bits. So each field can be a variable.

use super::slots::SlotAccess;
use super::{cast, insert_before};
use crate::rules::known::mask;
use smallvec::SmallVec;
use warpsmith_ir::{Function, Inst, InstData, MemFlags, Opcode, Type, Value, ValueList};

/// Where in a slot each part of an access begins, and its type.
type Pieces = SmallVec<[(i64, Type); 4]>;

/// What becomes of an access that is not one of a field.
enum Plan {
    /// Accesses of fields, or of elements of a vector; what cuts through these is for the next time.
    Split(Pieces),
    /// An access of the field that begins there, of that type.
    Widen(i64, Type),
}

/// Makes accesses of one slot, sorted by offset, ones of fields. All or none: a slot of which one access cannot be changed stays in memory, where
/// wide accesses are better. True if any was.
pub(super) fn split(func: &mut Function, accesses: &[SlotAccess]) -> bool {
    let cuts = cuts(accesses);
    let plans: Option<Vec<Option<Plan>>> = accesses.iter().map(|access| Plan::of(access, &cuts)).collect();
    let Some(plans) = plans else { return false };
    let mut changed = false;
    for (access, plan) in accesses.iter().zip(plans) {
        changed |= plan.is_some();
        match plan {
            Some(Plan::Split(pieces)) => split_access(func, access, &pieces),
            Some(Plan::Widen(at, field)) => widen_access(func, access, at, field),
            None => {}
        }
    }
    changed
}

fn bytes(ty: Type) -> i64 {
    i64::from(ty.bytes().unwrap_or(0))
}

fn end(access: &SlotAccess) -> i64 {
    access.offset + bytes(access.ty)
}

/// Whether a type is a scalar of 8, 16, 32 or 64 bits.
fn is_word(ty: Type) -> bool {
    !ty.is_vector() && matches!(ty.bits(), 8 | 16 | 32 | 64)
}

/// Where fields begin and end: where accesses do, but not inside of an access of bytes of which some are not accessed alone.
fn cuts(accesses: &[SlotAccess]) -> Vec<i64> {
    let mut parts: Vec<(i64, i64)> = Vec::with_capacity(accesses.len());
    for access in accesses {
        match elements(access) {
            Some(elements) => parts.extend(elements.iter().map(|&(at, ty)| (at, at + bytes(ty)))),
            None => parts.push((access.offset, end(access))),
        }
    }
    parts.sort_unstable();
    parts.dedup();
    let mut cuts: Vec<i64> = parts.iter().flat_map(|&(start, end)| [start, end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut words: Vec<(i64, i64)> = accesses
        .iter()
        .filter(|access| is_word(access.ty))
        .map(|access| (access.offset, end(access)))
        .collect();
    // Small ones first, so that a piece becomes a part of no more than it must.
    words.sort_unstable_by_key(|&(start, end)| (end - start, start));
    words.dedup();
    for (start, end) in words {
        let inner = cuts.partition_point(|&cut| cut < start)..=cuts.partition_point(|&cut| cut < end);
        let mut pieces = cuts.get(inner).unwrap_or_default().windows(2);
        let alone = pieces.all(|piece| parts.binary_search(&(piece[0], piece[1])).is_ok());
        if !alone {
            cuts.retain(|&cut| cut <= start || cut >= end);
        }
    }
    cuts
}

/// The elements of a vector that fill it.
fn elements(access: &SlotAccess) -> Option<Pieces> {
    let lanes = i64::from(access.ty.lanes());
    let element = access.ty.element_type();
    let step = bytes(element);
    (access.ty.is_vector() && step > 0 && bytes(access.ty) == step * lanes)
        .then(|| (0..lanes).map(|lane| (access.offset + lane * step, element)).collect())
}

impl Plan {
    /// What becomes of an access; nothing, if it is one of a field. `None` if nothing can.
    fn of(access: &SlotAccess, cuts: &[i64]) -> Option<Option<Plan>> {
        let (start, end) = (access.offset, end(access));
        let first = cuts.partition_point(|&cut| cut <= start).checked_sub(1)?;
        let last = cuts.partition_point(|&cut| cut < end);
        let fields = cuts.get(first..=last)?;
        let (&from, &to) = (fields.first()?, fields.last()?);
        if fields.len() == 2 {
            let whole = || Type::int(8 * u32::try_from(to - from).ok()?).filter(|&ty| is_word(ty));
            return match (from, to) == (start, end) {
                true => Some(None),
                false => whole().filter(|_| is_word(access.ty)).map(|ty| Some(Plan::Widen(from, ty))),
            };
        }
        if access.ty.is_vector() {
            return elements(access).map(|elements| Some(Plan::Split(elements)));
        }
        if (from, to) != (start, end) || !is_word(access.ty) {
            return None;
        }
        let piece = |piece: &[i64]| {
            let size = u32::try_from(piece[1] - piece[0]).ok().filter(|size| size.is_power_of_two())?;
            Some((piece[0], Type::int(8 * size)?))
        };
        fields.windows(2).map(piece).collect::<Option<Pieces>>().map(|pieces| Some(Plan::Split(pieces)))
    }
}

/// Has an access inside of a field access all of it.
fn widen_access(func: &mut Function, access: &SlotAccess, at: i64, field: Type) {
    let (inst, by) = (access.inst, access.offset - at);
    let part = Type::int(access.ty.bits()).unwrap_or(access.ty);
    // Of an access that stays one, as the slot does.
    let slot = func.stack_slots[access.slot].align;
    let flags =
        MemFlags::PLAIN.with_align(slot.min(1 << at.trailing_zeros().min(30)).min(bytes(field) as u32));
    let flags = flags.unwrap_or(MemFlags::PLAIN);
    let load = |offset: i32, ptr| InstData::Load { flags, offset: offset - by as i32, ptr };
    match func.dfg[inst] {
        InstData::Load { offset, ptr, .. } => {
            let whole = insert_before(func, inst, load(offset, ptr), field);
            let low = shift(func, inst, Opcode::Lshr, whole, by);
            let bits = convert(func, inst, Opcode::Trunc, low, part);
            let value = cast(func, inst, bits, access.ty);
            super::replace_with(func, inst, value);
        }
        InstData::Store { offset, args: [value, ptr], .. } => {
            let whole = insert_before(func, inst, load(offset, ptr), field);
            let others = !(mask(part.bits()) << (8 * by));
            let others = insert_before(
                func,
                inst,
                InstData::IntConst { value: field.normalize(others as i64) },
                field,
            );
            let kept = binary(func, inst, Opcode::Band, [whole, others]);
            let bits = cast(func, inst, value, part);
            let wide = convert(func, inst, Opcode::Zext, bits, field);
            let placed = shift(func, inst, Opcode::Shl, wide, by);
            let changed = binary(func, inst, Opcode::Bor, [kept, placed]);
            let store = InstData::Store { flags, offset: offset - by as i32, args: [changed, ptr] };
            func.dfg.replace_inst(inst, store);
        }
        _ => {}
    }
}

fn split_access(func: &mut Function, access: &SlotAccess, pieces: &[(i64, Type)]) {
    let inst = access.inst;
    match func.dfg[inst] {
        InstData::Load { flags, offset, ptr } => {
            let mut parts: SmallVec<[Value; 4]> = SmallVec::with_capacity(pieces.len());
            for &(at, ty) in pieces {
                let by = at - access.offset;
                let load =
                    InstData::Load { flags: aligned(flags, access.ty, by), offset: offset + by as i32, ptr };
                parts.push(insert_before(func, inst, load, ty));
            }
            join(func, access, pieces, &parts);
        }
        InstData::Store { flags, offset, args: [value, ptr] } => {
            let whole = match access.ty.is_vector() {
                true => value,
                false => cast(func, inst, value, Type::int(access.ty.bits()).unwrap_or(access.ty)),
            };
            for (lane, &(at, ty)) in pieces.iter().enumerate() {
                let by = at - access.offset;
                let piece = if access.ty.is_vector() {
                    insert_before(func, inst, InstData::Extract { lane: lane as u8, arg: value }, ty)
                } else {
                    let shifted = shift(func, inst, Opcode::Lshr, whole, by);
                    convert(func, inst, Opcode::Trunc, shifted, ty)
                };
                let flags = aligned(flags, access.ty, by);
                let store = InstData::Store { flags, offset: offset + by as i32, args: [piece, ptr] };
                let store = func.dfg.make_inst(store, &[]);
                func.layout.insert_inst_before(store, inst);
                func.inst_locs[store] = func.inst_locs[inst];
            }
            func.layout.remove_inst(inst);
        }
        _ => {}
    }
}

/// Makes the instruction of a load what its parts are together.
fn join(func: &mut Function, access: &SlotAccess, pieces: &[(i64, Type)], parts: &[Value]) {
    let inst = access.inst;
    if access.ty.is_vector() {
        let args = ValueList::from_slice(parts, &mut func.dfg.pool);
        return func.dfg.replace_inst(inst, InstData::Vec { args });
    }
    let int = Type::int(access.ty.bits()).unwrap_or(access.ty);
    let mut whole: Option<Value> = None;
    for (&(at, _), &part) in pieces.iter().zip(parts) {
        let wide = convert(func, inst, Opcode::Zext, part, int);
        let wide = shift(func, inst, Opcode::Shl, wide, at - access.offset);
        whole = Some(whole.map_or(wide, |low| binary(func, inst, Opcode::Bor, [low, wide])));
    }
    let Some(whole) = whole else { return };
    let whole = cast(func, inst, whole, access.ty);
    super::replace_with(func, inst, whole);
}

fn convert(func: &mut Function, before: Inst, op: Opcode, arg: Value, ty: Type) -> Value {
    if func.dfg.ty(arg) == ty {
        return arg;
    }
    insert_before(func, before, InstData::Unary { op, arg }, ty)
}

fn binary(func: &mut Function, before: Inst, op: Opcode, args: [Value; 2]) -> Value {
    let ty = func.dfg.ty(args[0]);
    insert_before(func, before, InstData::Binary { op, args }, ty)
}

fn shift(func: &mut Function, before: Inst, op: Opcode, value: Value, bytes: i64) -> Value {
    if bytes == 0 {
        return value;
    }
    let amount = insert_before(func, before, InstData::IntConst { value: 8 * bytes }, Type::I32);
    binary(func, before, op, [value, amount])
}

/// The flags of a part that begins so many bytes into an access.
fn aligned(flags: MemFlags, ty: Type, by: i64) -> MemFlags {
    let whole = flags.align(ty);
    let align = if by == 0 { whole } else { whole.min(1 << by.trailing_zeros().min(30)) };
    flags.with_align(align).unwrap_or(flags)
}
