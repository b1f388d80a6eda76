//! Loads of what is known: what a store has put there, or an earlier load has found, across blocks.
//!
//! Memory in SSA form says what each load depends on; two loads of the same bytes that depend on the same version find the same. A store of what
//! memory holds already goes. Barriers, fences and calls write all memory that others can reach.

use super::near::{Near, short_hash};
use super::{cast, castable, replace_with};
use crate::analysis::{Memory, Root, Version};
use crate::pass::{Changes, Context};
use warpsmith_ir::{Block, DominatorTree, Function, InstData, Type, Value};

/// Values that are kept for one place.
const MAX_KNOWN: usize = 4;

/// Bytes of memory as some version has them.
type Place = (Root, i64, u64, Version);

/// What places hold.
struct Known {
    /// The number of the newest value of each place.
    newest: Near<u32>,
    values: Vec<Held>,
}

/// A value that a place was found to hold.
struct Held {
    place: Place,
    value: Value,
    block: Block,
    /// The number of an older value of the place.
    older: Option<u32>,
}

impl Known {
    fn of_function(func: &Function) -> Known {
        Known { newest: Near::new(func.dfg.num_insts(), 0), values: Vec::new() }
    }

    /// The values of a place, the newest first.
    fn of(&mut self, place: &Place) -> impl Iterator<Item = &Held> {
        let Known { newest, values } = self;
        let newest =
            newest.find(Some(number(place)), short_hash(place), |&at| values[at as usize].place == *place);
        let held = |number: u32| &values[number as usize];
        let newest = newest.ok().map(|&mut number| held(number));
        std::iter::successors(newest, move |newer| newer.older.map(held)).take(MAX_KNOWN)
    }

    fn remember(&mut self, place: Place, value: Value, block: Block) {
        let Known { newest, values } = self;
        let at = values.len() as u32;
        let older = match newest
            .find(Some(number(&place)), short_hash(&place), |&at| values[at as usize].place == place)
        {
            Ok(newest) => Some(std::mem::replace(newest, at)),
            Err(room) => {
                newest.insert(room, at);
                None
            }
        };
        values.push(Held { place, value, block, older });
    }
}

/// A number for the version of memory that a place is of.
fn number((.., version): &Place) -> u32 {
    match *version {
        Version::Entry => 0,
        Version::Meeting(block) => 2 * block.as_u32() + 1,
        Version::Write(number) => 2 * number + 2,
    }
}

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let mut memory = Memory::compute(func, cx.analyses);
    let mut known = Known::of_function(func);
    let mut changes = 0;
    for &block in dominators.preorder() {
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let (access, ty) = match func.dfg[inst] {
                InstData::Load { flags, offset, ptr } if !flags.volatile && !flags.invariant => {
                    let Some(ty) = func.dfg.first_result(inst).map(|value| func.dfg.ty(value)) else {
                        continue;
                    };
                    (memory.pointers().access(func, ptr, offset, ty), ty)
                }
                InstData::Store { flags, offset, args: [value, ptr] } if !flags.volatile => {
                    let ty = func.dfg.ty(value);
                    (memory.pointers().access(func, ptr, offset, ty), ty)
                }
                _ => continue,
            };
            let Some(access) = access.filter(|_| is_plain(ty)) else { continue };
            let Some(version) = memory.depends_on(func, inst, &access) else { continue };
            let place = |version| (access.pointer.root, access.pointer.distance, access.bytes, version);
            let usable = known.of(&place(version)).find(|held| {
                dominators.dominates(held.block, block)
                    && castable(func.dfg.ty(func.dfg.resolve(held.value)), ty)
            });
            let usable = usable.map(|held| func.dfg.resolve(held.value));
            if let InstData::Store { args: [value, _], .. } = func.dfg[inst] {
                let value = func.dfg.resolve(value);
                known.remember(place(memory.left_by(inst)), value, block);
                if usable == Some(value) {
                    func.layout.remove_inst(inst);
                    changes += 1;
                }
                continue;
            }
            let Some(result) = func.dfg.first_result(inst) else { continue };
            match usable {
                Some(value) => {
                    let value = cast(func, inst, value, ty);
                    replace_with(func, inst, value);
                    changes += 1;
                }
                None => known.remember(place(version), result, block),
            }
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

/// Types whose values fill the bytes they take in memory.
fn is_plain(ty: Type) -> bool {
    !ty.is_aggregate() && ty.bytes().is_some_and(|bytes| bytes * 8 == ty.bits())
}
