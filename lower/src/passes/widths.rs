//! Accesses of stack slots in pieces: where one access covers what others access in parts (a struct is copied by words of 64 bits, and read by
//! fields of 32), it becomes accesses of the parts, so that each part can be a variable.

use super::insert_before;
use super::slots::SlotAccess;
use warpsmith_ir::{Function, Inst, InstData, MemFlags, Opcode, Type, Value, ValueList};

/// Where in a slot each part of an access begins, and its type.
type Pieces = Vec<(i64, Type)>;

/// Splits the accesses of one slot, sorted by offset. True if any was.
pub(super) fn split(func: &mut Function, accesses: &[SlotAccess]) -> bool {
    let bytes = |ty: Type| i64::from(ty.bytes().unwrap_or(0));
    let mut cuts: Vec<i64> =
        accesses.iter().flat_map(|access| [access.offset, access.offset + bytes(access.ty)]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let inner = |access: &SlotAccess| -> Vec<i64> {
        let end = access.offset + bytes(access.ty);
        let from = cuts.partition_point(|&cut| cut <= access.offset);
        cuts[from..].iter().copied().take_while(|&cut| cut < end).collect()
    };
    // All or none: a slot of which one access cannot be split stays in memory, where wide accesses are better.
    let plans: Vec<(usize, Vec<i64>)> = accesses
        .iter()
        .enumerate()
        .map(|(n, access)| (n, inner(access)))
        .filter(|(_, inner)| !inner.is_empty())
        .collect();
    let pieces = |access: &SlotAccess, inner: &[i64]| -> Option<Pieces> {
        let end = access.offset + bytes(access.ty);
        if access.ty.is_vector() {
            // By elements; what cuts through these is for the next time.
            let element = access.ty.element_type();
            let step = bytes(element);
            let whole = step > 0 && bytes(access.ty) == step * i64::from(access.ty.lanes());
            return whole.then(|| {
                (0..i64::from(access.ty.lanes())).map(|lane| (access.offset + lane * step, element)).collect()
            });
        }
        if access.ty.is_ptr() || !(access.ty.is_int() || access.ty.is_float()) || access.ty.bits() > 64 {
            return None;
        }
        let starts = std::iter::once(access.offset).chain(inner.iter().copied());
        let ends = inner.iter().copied().chain(std::iter::once(end));
        let sizes = starts.zip(ends).map(|(start, end)| {
            let size = u32::try_from(end - start).ok().filter(|size| size.is_power_of_two())?;
            Some((start, Type::int(8 * size)?))
        });
        sizes.collect()
    };
    let plans: Option<Vec<(usize, Pieces)>> =
        plans.into_iter().map(|(n, inner)| Some((n, pieces(&accesses[n], &inner)?))).collect();
    let Some(plans) = plans.filter(|plans| !plans.is_empty()) else { return false };
    for (n, pieces) in plans {
        split_access(func, &accesses[n], &pieces);
    }
    true
}

fn split_access(func: &mut Function, access: &SlotAccess, pieces: &[(i64, Type)]) {
    let inst = access.inst;
    match func.dfg[inst] {
        InstData::Load { flags, offset, ptr } => {
            let mut parts: Vec<Value> = Vec::with_capacity(pieces.len());
            for &(at, ty) in pieces {
                let by = at - access.offset;
                let load =
                    InstData::Load { flags: aligned(flags, access.ty, by), offset: offset + by as i32, ptr };
                parts.push(insert_before(func, inst, load, ty));
            }
            join(func, access, pieces, &parts);
        }
        InstData::Store { flags, offset, args: [value, ptr] } => {
            let whole = if access.ty.is_float() && !access.ty.is_vector() {
                cast(func, inst, Opcode::Bitcast, value, Type::int(access.ty.bits()).unwrap_or(access.ty))
            } else {
                value
            };
            for (lane, &(at, ty)) in pieces.iter().enumerate() {
                let by = at - access.offset;
                let piece = if access.ty.is_vector() {
                    insert_before(func, inst, InstData::Extract { lane: lane as u8, arg: value }, ty)
                } else {
                    let shifted = shift(func, inst, Opcode::Lshr, whole, by);
                    cast(func, inst, Opcode::Trunc, shifted, ty)
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
        let wide = cast(func, inst, Opcode::Zext, part, int);
        let wide = shift(func, inst, Opcode::Shl, wide, at - access.offset);
        whole = Some(match whole {
            None => wide,
            Some(low) => {
                insert_before(func, inst, InstData::Binary { op: Opcode::Bor, args: [low, wide] }, int)
            }
        });
    }
    let Some(whole) = whole else { return };
    if access.ty == int {
        super::replace_with(func, inst, whole);
    } else {
        func.dfg.replace_inst(inst, InstData::Unary { op: Opcode::Bitcast, arg: whole });
    }
}

fn cast(func: &mut Function, before: Inst, op: Opcode, arg: Value, ty: Type) -> Value {
    if func.dfg.ty(arg) == ty {
        return arg;
    }
    insert_before(func, before, InstData::Unary { op, arg }, ty)
}

fn shift(func: &mut Function, before: Inst, op: Opcode, value: Value, bytes: i64) -> Value {
    if bytes == 0 {
        return value;
    }
    let amount = insert_before(func, before, InstData::IntConst { value: 8 * bytes }, Type::I32);
    let ty = func.dfg.ty(value);
    insert_before(func, before, InstData::Binary { op, args: [value, amount] }, ty)
}

/// The flags of a part that begins so many bytes into an access.
fn aligned(flags: MemFlags, ty: Type, by: i64) -> MemFlags {
    let whole = flags.align(ty);
    let align = if by == 0 { whole } else { whole.min(1 << by.trailing_zeros().min(30)) };
    flags.with_align(align).unwrap_or(flags)
}
