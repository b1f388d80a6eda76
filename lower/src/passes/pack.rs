//! Loads and stores of neighbours become one of a vector, where the alignment is known to allow it: four fields of a `float4` that were read one by
//! one are read in one access.
//!
//! Loads move up to the first of them, stores down to the last; nothing in between may write, or touch, their bytes. Works within blocks.

use super::insert_before;
use crate::analysis::{Access, Effect, Pointers, align_at, alignment_of};
use crate::pass::{Changes, Context};
use crate::rules::known::KnownBits;
use cranelift_entity::PrimaryMap;
use smallvec::SmallVec;
use warpsmith_ir::{
    Block, Function, Global, GlobalId, Inst, InstData, MemFlags, Opcode, Type, Value, ValueList,
};
use warpsmith_isa::StateSpace;

/// Accesses that are looked at together.
const MAX_OPEN: usize = 32;

/// The bytes of the widest access, and in global memory from `sm_100` on.
const MAX_BYTES: u64 = 16;
const MAX_GLOBAL_BYTES: u64 = 32;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let pointers = cx.analyses.get::<Pointers>(func);
    let pointers = &*pointers;
    let wide = cx.target.is_some_and(|target| target.sm >= 100);
    let mut known = None;
    let mut changes = align(func, cx.globals, &mut known);
    for block in func.layout.blocks().collect::<Vec<Block>>() {
        let (loads, stores, writes) = (Vec::new(), Vec::new(), Vec::new());
        let (globals, known) = (cx.globals, &mut known);
        changes += Packer { func, pointers, globals, known, wide, loads, stores, writes }.block(block);
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// Says of accesses that are less aligned than their types what their addresses are seen to be aligned to.
fn align(func: &mut Function, globals: &PrimaryMap<GlobalId, Global>, known: &mut Option<KnownBits>) -> u32 {
    let mut changes = 0;
    for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect::<Vec<Inst>>() {
        let (flags, ptr, offset, ty) = match func.dfg[inst] {
            InstData::Load { flags, offset, ptr } => {
                let Some(result) = func.dfg.first_result(inst) else { continue };
                (flags, ptr, offset, func.dfg.ty(result))
            }
            InstData::Store { flags, offset, args: [value, ptr] } => (flags, ptr, offset, func.dfg.ty(value)),
            _ => continue,
        };
        let natural = MemFlags::PLAIN.align(ty).min(MAX_BYTES as u32);
        if flags.align(ty) >= natural {
            continue;
        }
        let seen = seen_alignment(func, globals, known, ptr, offset).min(natural);
        if seen <= flags.align(ty) {
            continue;
        }
        let Some(better) = flags.with_align(seen) else { continue };
        let mut data = func.dfg[inst].clone();
        if let InstData::Load { flags, .. } | InstData::Store { flags, .. } = &mut data {
            *flags = better;
        }
        func.dfg.replace_inst(inst, data);
        changes += 1;
    }
    changes
}

/// The alignment that an address and an offset are seen to have.
fn seen_alignment(
    func: &Function,
    globals: &PrimaryMap<GlobalId, Global>,
    known: &mut Option<KnownBits>,
    ptr: Value,
    offset: i32,
) -> u32 {
    let known = known.get_or_insert_with(|| KnownBits::of_function(func, []));
    align_at(alignment_of(&func.dfg, globals, known, ptr), offset)
}

/// An access that may become part of a wider one.
#[derive(Clone, Copy)]
struct Part {
    inst: Inst,
    /// Its position in the block.
    at: usize,
    access: Access,
    ty: Type,
    align: u64,
}

struct Packer<'f> {
    func: &'f mut Function,
    pointers: &'f Pointers,
    globals: &'f PrimaryMap<GlobalId, Global>,
    /// Known bits, once somebody has asked.
    known: &'f mut Option<KnownBits>,
    /// Whether global memory has accesses of 32 bytes.
    wide: bool,
    /// Loads that could still move up to the first of them, stores that could still move down, in the order of the block.
    loads: Vec<Part>,
    stores: Vec<Part>,
    /// What was written behind the first of these loads.
    writes: Vec<Effect>,
}

impl Packer<'_> {
    fn block(mut self, block: Block) -> u32 {
        let mut changes = 0;
        for (at, inst) in self.func.layout.insts(block).collect::<Vec<Inst>>().into_iter().enumerate() {
            let effect = self.pointers.effect(self.func, inst);
            let part = self.part(inst, at, effect);
            let is_load = matches!(self.func.dfg[inst], InstData::Load { .. });
            // What is in the way of an open access ends the search for its neighbours.
            let (func, pointers) = (&*self.func, self.pointers);
            let wrote = self.loads.iter().any(|open| pointers.may_write(func, effect, &open.access))
                || part.filter(|_| is_load).is_some_and(|part| {
                    self.writes.iter().any(|&write| pointers.may_write(func, write, &part.access))
                });
            let touched = self.stores.iter().any(|open| pointers.may_touch(func, effect, &open.access));
            if wrote {
                changes += self.pack_loads();
            }
            if touched {
                changes += self.pack_stores();
            }
            if matches!(effect, Effect::Writes(_) | Effect::All) && !self.loads.is_empty() {
                if self.writes.len() == MAX_OPEN {
                    changes += self.pack_loads();
                } else {
                    self.writes.push(effect);
                }
            }
            let Some(part) = part else { continue };
            if is_load {
                if self.loads.len() == MAX_OPEN {
                    changes += self.pack_loads();
                }
                self.loads.push(part);
            } else {
                if self.stores.len() == MAX_OPEN {
                    changes += self.pack_stores();
                }
                self.stores.push(part);
            }
        }
        changes + self.pack_loads() + self.pack_stores()
    }

    fn part(&mut self, inst: Inst, at: usize, effect: Effect) -> Option<Part> {
        let dfg = &self.func.dfg;
        let (flags, offset, ptr, ty) = match dfg[inst] {
            InstData::Load { flags, offset, ptr } => (flags, offset, ptr, dfg.ty(dfg.first_result(inst)?)),
            InstData::Store { flags, offset, args: [value, ptr] } => (flags, offset, ptr, dfg.ty(value)),
            _ => return None,
        };
        let fits = !ty.is_vector() && !ty.is_ptr() && (ty.is_int() || ty.is_float());
        if flags.volatile || !fits || !matches!(ty.bits(), 32 | 64) {
            return None;
        }
        let access = match effect {
            Effect::Reads(access) | Effect::Writes(access) => access,
            Effect::None if flags.invariant => self.pointers.access(self.func, ptr, offset, ty)?,
            Effect::None | Effect::ReadsAll | Effect::All => return None,
        };
        let seen = seen_alignment(self.func, self.globals, self.known, ptr, offset);
        let align = flags.align(ty).max(seen);
        Some(Part { inst, at, access, ty, align: align.into() })
    }

    fn pack_loads(&mut self) -> u32 {
        let mut changes = 0;
        self.writes.clear();
        for run in runs(std::mem::take(&mut self.loads), self.wide) {
            changes += u32::from(self.load(&run));
        }
        changes
    }

    fn pack_stores(&mut self) -> u32 {
        let mut changes = 0;
        for run in runs(std::mem::take(&mut self.stores), self.wide) {
            changes += u32::from(self.store(&run));
        }
        changes
    }

    /// Parts in the order of their addresses, as one load instead of the first.
    fn load(&mut self, run: &[Part]) -> bool {
        let Some((&first, ty)) = run.iter().min_by_key(|part| part.at).zip(whole_type(run)) else {
            return false;
        };
        let InstData::Load { flags, offset, ptr } = self.func.dfg[first.inst] else { return false };
        let all_alike = run.iter().all(|part| {
            matches!(self.func.dfg[part.inst], InstData::Load { flags: other, .. } if other.invariant == flags.invariant)
        });
        let Some(offset) = moved(offset, &first.access, &run[0].access).filter(|_| all_alike) else {
            return false;
        };
        let Some(flags) = aligned(flags, run) else { return false };
        let whole = insert_before(self.func, first.inst, InstData::Load { flags, offset, ptr }, ty);
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (lane, part) in run.iter().enumerate() {
            let data = InstData::Extract { lane: lane as u8, arg: whole };
            let value = insert_before(self.func, first.inst, data, ty.element_type());
            values.push(self.cast(first.inst, value, part.ty));
        }
        for (part, value) in run.iter().zip(values) {
            super::replace_with(self.func, part.inst, value);
        }
        true
    }

    /// Parts in the order of their addresses, as one store instead of the last.
    fn store(&mut self, run: &[Part]) -> bool {
        let Some((&last, ty)) = run.iter().max_by_key(|part| part.at).zip(whole_type(run)) else {
            return false;
        };
        let InstData::Store { flags, offset, args: [_, ptr] } = self.func.dfg[last.inst] else {
            return false;
        };
        let Some(offset) = moved(offset, &last.access, &run[0].access) else { return false };
        let Some(flags) = aligned(flags, run) else { return false };
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for part in run {
            let InstData::Store { args: [value, _], .. } = self.func.dfg[part.inst] else { return false };
            let value = self.func.dfg.resolve(value);
            let value = self.cast(last.inst, value, ty.element_type());
            values.push(value);
        }
        let args = ValueList::from_slice(&values, &mut self.func.dfg.pool);
        let whole = insert_before(self.func, last.inst, InstData::Vec { args }, ty);
        for part in run.iter().filter(|part| part.inst != last.inst) {
            self.func.layout.remove_inst(part.inst);
        }
        self.func.dfg.replace_inst(last.inst, InstData::Store { flags, offset, args: [whole, ptr] });
        true
    }

    fn cast(&mut self, before: Inst, value: Value, ty: Type) -> Value {
        if self.func.dfg.ty(value) == ty {
            return value;
        }
        insert_before(self.func, before, InstData::Unary { op: Opcode::Bitcast, arg: value }, ty)
    }
}

/// The type of all parts together.
fn whole_type(run: &[Part]) -> Option<Type> {
    let first = run.first()?.ty;
    let element = if run.iter().all(|part| part.ty == first) { first } else { Type::int(first.bits())? };
    Type::vector(element.element(), run.len() as u32)
}

/// Neighbours that one access reaches: two, four or eight of one size behind each other, the first at a multiple of the bytes of all.
fn runs(mut parts: Vec<Part>, wide: bool) -> Vec<SmallVec<[Part; 4]>> {
    let mut found = Vec::new();
    let mut groups: Vec<Vec<Part>> = Vec::new();
    for part in parts.drain(..) {
        let group = groups.iter_mut().find(|group| {
            let access = &group[0].access;
            access.pointer.root == part.access.pointer.root
                && access.space == part.access.space
                && group[0].ty.bits() == part.ty.bits()
        });
        match group {
            Some(group) => group.push(part),
            None => groups.push(vec![part]),
        }
    }
    for mut group in groups {
        group.sort_by_key(|part| part.access.pointer.distance);
        // Of two at one place only one can be an element.
        group.dedup_by_key(|part| part.access.pointer.distance);
        let mut at = 0;
        while at < group.len() {
            let first = group[at];
            let row = group[at..].iter().zip(0i64..).take_while(|(part, n)| {
                let step = first.access.bytes as i64 * n;
                first.access.pointer.distance.checked_add(step) == Some(part.access.pointer.distance)
            });
            let row = row.count();
            let fits = |count: usize| {
                let bytes = first.access.bytes * count as u64;
                let most = if wide && first.access.space == StateSpace::Global {
                    MAX_GLOBAL_BYTES
                } else {
                    MAX_BYTES
                };
                row >= count && bytes <= most && first.align >= bytes
            };
            let count = [8, 4, 2].into_iter().find(|&count| fits(count)).unwrap_or(1);
            if count > 1 {
                found.push(group[at..at + count].iter().copied().collect());
            }
            at += count;
        }
    }
    found
}

/// The offset of an instruction that accesses one place, for another place from the same root.
fn moved(offset: i32, from: &Access, to: &Access) -> Option<i32> {
    let by = to.pointer.distance.checked_sub(from.pointer.distance)?;
    i32::try_from(i64::from(offset).checked_add(by)?).ok()
}

fn aligned(flags: MemFlags, run: &[Part]) -> Option<MemFlags> {
    flags.with_align(u32::try_from(run.first()?.align).ok()?)
}
