//! Global value numbering: of equal computations, the one whose block dominates the others is kept.
//!
//! The walk is down the dominator tree, so a computation that was met and dominates the current block is usable. Reads of memory
//! count as equal within a block as long as nothing between them can write; a store makes its value known to the loads behind
//! it. `load invariant` reads are equal everywhere. Operations that are convergent or have effects are left alone.
//!
//! The address of a variable in shared memory is three instructions on late targets, and in small blocks ptxas makes them for each block anew: those
//! of which none dominates the others are made once where their ways part. So are the parts of an address of 64 bits, an extended index, its product and the
//! sum, which the branches of a stencil's borders otherwise compute each for itself.

use super::near::{Near, Room, short_hash};
use super::replace_with;
use crate::analysis::Loops;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use warpsmith_base::{FxHasher, half_hash};
use warpsmith_ir::{Block, DominatorTree, EntityRef, Function, Inst, InstData, Opcode, Traits, Type, Value};
use warpsmith_isa::StateSpace;

/// How many instructions behind a sum its extension is looked for.
const MAX_AHEAD: usize = 8;
/// How many sums and products in a row lead to the extended one.
const MAX_LINKS: u32 = 4;
/// How far up a block is looked for in which two addresses can be made at once.
const MAX_CLIMB: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let dominators = cx.analyses.get::<DominatorTree>(func);
    // The computations that were met, and what memory holds.
    let (mut known, mut memory) =
        (Near::new(func.dfg.num_values(), func.layout.num_insts()), Near::new(0, 0));
    let mut changes = 0;
    let mut depths: Option<SecondaryMap<Block, u32>> = None;
    // Counts what may have written memory; also distinguishes blocks.
    let mut epoch = 0;
    for &block in dominators.preorder() {
        epoch += 1;
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            super::resolve_args(func, inst);
            let traits = func.traits(inst);
            if traits.intersects(Traits::WRITES.union(Traits::CONVERGENT).union(Traits::SIDE_EFFECT)) {
                epoch += 1;
                if let InstData::Store { args: [value, _], .. } = func.dfg[inst] {
                    let held = InMemory { access: inst, value: func.dfg.resolve(value), epoch };
                    match held.find(func, &mut memory) {
                        Some(Ok(known)) => *known = held,
                        Some(Err(room)) => memory.insert(room, held),
                        None => {}
                    }
                }
                continue;
            }
            let Some(result) = func.dfg.first_result(inst) else { continue };
            if traits.contains(Traits::READS) {
                let held = InMemory { access: inst, value: result, epoch };
                match held.find(func, &mut memory) {
                    Some(Ok(known)) if known.epoch != epoch => *known = held,
                    Some(Ok(known)) => {
                        let value = known.value;
                        replace_with(func, inst, value);
                        changes += 1;
                    }
                    Some(Err(room)) => memory.insert(room, held),
                    None => {}
                }
                continue;
            }
            let Some((number, hash)) = digest(func, inst, traits) else { continue };
            let is_equal = |known: &Computation| {
                func.dfg
                    .def_inst(known.value)
                    .is_some_and(|made| key(func, made, func.traits(made)) == key(func, inst, traits))
            };
            let other = match known.find(number, hash, is_equal) {
                Ok(other) => other,
                Err(room) => {
                    known.insert(room, Computation { value: result, block });
                    continue;
                }
            };
            let &mut Computation { value, block: at } = other;
            if dominators.dominates(at, block) {
                // What is kept promises what both do; a load promises nothing of what was stored.
                if let Some(kept) = func.dfg.def_inst(value)
                    && func.dfg.opcode(kept) == func.dfg.opcode(inst)
                    && !func.dfg.promised(inst)
                {
                    func.dfg.set_promised(kept, false);
                }
                replace_with(func, inst, value);
                changes += 1;
                continue;
            }
            if is_shared_address(func, cx, inst) || is_part_of_address(func, inst) {
                let depths = depths.get_or_insert_with(|| depths_of(&cx.analyses.get::<Loops>(func)));
                if let Some(common) = common_dominator(&dominators, depths, at, block)
                    && let (Some(made), Some(end)) = (func.dfg.def_inst(value), func.terminator(common))
                    && func
                        .dfg
                        .args(made)
                        .iter()
                        .all(|&arg| func.block_of(arg).is_some_and(|own| dominators.dominates(own, common)))
                {
                    let promised = func.dfg.promised(made) && func.dfg.promised(inst);
                    func.dfg.set_promised(made, promised);
                    func.layout.remove_inst(made);
                    func.layout.insert_inst_before(made, end);
                    other.block = common;
                    replace_with(func, inst, value);
                    changes += 1;
                    continue;
                }
            }
            (other.value, other.block) = (result, block);
        }
    }
    if changes > 0 {
        func.dfg.resolve_aliases();
    }
    Changes::to_instructions(changes)
}

fn is_shared_address(func: &Function, cx: &Context<'_>, inst: Inst) -> bool {
    matches!(func.dfg[inst], InstData::GlobalAddr { global, .. } if cx.globals[global].space == StateSpace::Shared)
}

/// Whether an instruction computes part of an address of 64 bits that takes next to nothing: an extended index, what it is multiplied by, or a sum.
fn is_part_of_address(func: &Function, inst: Inst) -> bool {
    let is_wide = |by: Value| func.dfg.ty(by) == Type::I64 && func.dfg.int_const(by).is_some();
    let data = &func.dfg[inst];
    let is_wide_constant =
        || matches!(data, InstData::IntConst { .. }) && func.dfg.first_result(inst).is_some_and(is_wide);
    is_wide_constant()
        || matches!(*data, InstData::Binary { op: Opcode::Ptradd, .. })
        || matches!(*data, InstData::Binary { op: Opcode::Imul, args: [_, by] } if is_wide(by))
        || matches!(*data, InstData::Unary { op: Opcode::Sext | Opcode::Zext, arg } if func.dfg.ty(arg) == Type::I32)
        || leads_to_extension(func, inst, MAX_LINKS)
}

/// Whether an instruction is a sum or product of 32 bits that is extended to 64 a few instructions further on, or one that others which are so are computed from.
fn leads_to_extension(func: &Function, inst: Inst, links: u32) -> bool {
    let result = func.dfg.first_result(inst).filter(|&value| func.dfg.ty(value) == Type::I32);
    if result.is_none()
        || !matches!(func.dfg[inst], InstData::Binary { op: Opcode::Iadd | Opcode::Isub | Opcode::Imul, .. })
    {
        return false;
    }
    let behind = std::iter::successors(func.layout.next_inst(inst), |&inst| func.layout.next_inst(inst));
    behind.take(MAX_AHEAD).any(|user| {
        if let InstData::Unary { op: Opcode::Sext | Opcode::Zext, arg } = func.dfg[user] {
            let wide = func.dfg.first_result(user).is_some_and(|wide| func.dfg.ty(wide) == Type::I64);
            return Some(arg) == result && wide;
        }
        // An index of 32 bits is extended by the way; its own sum is what elements differ in.
        if let InstData::Index { args: [_, index], .. } = func.dfg[user] {
            return Some(index) == result && links < MAX_LINKS;
        }
        links > 0
            && func.dfg.args(user).iter().any(|&arg| Some(arg) == result)
            && leads_to_extension(func, user, links - 1)
    })
}

/// How many loops are around each block.
fn depths_of(loops: &Loops) -> SecondaryMap<Block, u32> {
    let mut depths = SecondaryMap::new();
    loops.iter().flat_map(|found| found.blocks).for_each(|&block| depths[block] += 1);
    depths
}

/// The nearest block above two that dominates both, and is in no more loops than either; `None` if it is far.
fn common_dominator(
    dominators: &DominatorTree,
    depths: &SecondaryMap<Block, u32>,
    a: Block,
    b: Block,
) -> Option<Block> {
    let most = depths[a].min(depths[b]);
    std::iter::successors(Some(a), |&block| dominators.idom(block))
        .take(MAX_CLIMB)
        .find(|&block| depths[block] <= most && dominators.dominates(block, b))
}

/// A computation that was met.
struct Computation {
    value: Value,
    block: Block,
}

/// A load or store in whose place the memory of some epoch holds a value.
struct InMemory {
    access: Inst,
    value: Value,
    epoch: u32,
}

impl InMemory {
    /// What is known of the same place, or where this belongs; `None` for what no load behind it may find.
    fn find<'m>(
        &self,
        func: &Function,
        memory: &'m mut Near<InMemory>,
    ) -> Option<Result<&'m mut InMemory, Room>> {
        let place = Place::of(func, self.access)?;
        let is_it = |held: &InMemory| Place::of(func, held.access) == Some(place);
        Some(memory.find(Some(place.ptr.as_u32()), short_hash(&place), is_it))
    }
}

/// The bytes that a load finds, or a store that a load behind it may find, and as what. A promise of better alignment belongs to the one access that
/// makes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    ty: Type,
    align: u32,
    offset: i32,
    ptr: Value,
}

impl Place {
    fn of(func: &Function, access: Inst) -> Option<Place> {
        let (ty, flags, offset, ptr) = match func.dfg[access] {
            InstData::Load { flags, offset, ptr } => {
                (func.dfg.ty(func.dfg.first_result(access)?), flags, offset, ptr)
            }
            InstData::Store { flags, offset, args: [value, ptr] } if !flags.volatile => {
                (func.dfg.ty(value), flags, offset, ptr)
            }
            _ => return None,
        };
        Some(Place { ty, align: flags.align(ty), offset, ptr: func.dfg.resolve(ptr) })
    }
}

/// Takes the words in which two computations are equal.
trait Words {
    fn word(&mut self, word: u64);
}

impl Words for FxHasher {
    fn word(&mut self, word: u64) {
        self.write_u64(word);
    }
}

/// A short hash of an instruction that can be equal to others, and the number of its newest operand. No key is made, whose words would wait for those
/// that the tables write.
fn digest(func: &Function, inst: Inst, traits: Traits) -> Option<(Option<u32>, u32)> {
    let mut hasher = FxHasher::default();
    describe(func, inst, traits, &mut hasher)?;
    let newest = func.dfg.args(inst).iter().map(|&arg| func.dfg.resolve(arg).as_u32()).max();
    Some((newest, half_hash::of(hasher.finish())))
}

/// What makes two computations equal, as words.
#[derive(PartialEq, Eq, Default)]
pub(super) struct Key(SmallVec<[u64; 4]>);

impl Words for Key {
    fn word(&mut self, word: u64) {
        self.0.push(word);
    }
}

/// What makes an instruction equal to others, if that can be; reads of memory only where nothing between them can write.
pub(super) fn key(func: &Function, inst: Inst, traits: Traits) -> Option<Key> {
    let mut key = Key::default();
    describe(func, inst, traits, &mut key)?;
    Some(key)
}

/// What makes an instruction equal to others, if that can be: the operation and the type in one word, the operation's constants, the operands, two in
/// each word.
#[deny(clippy::wildcard_enum_match_arm)]
fn describe(func: &Function, inst: Inst, traits: Traits, to: &mut impl Words) -> Option<()> {
    let ty = func.dfg.ty(func.dfg.first_result(inst)?);
    let data = &func.dfg[inst];
    let args = data.args(&func.dfg.pool);
    let op = data.opcode();
    match *data {
        InstData::IntConst { value } => words(func, ty, op, [value as u64], &[], to),
        InstData::FloatConst { bits } => words(func, ty, op, [bits], &[], to),
        InstData::Binary { args: [a, b], .. } if traits.contains(Traits::COMMUTATIVE) => {
            words(func, ty, op, [], &[a.min(b), a.max(b)], to);
        }
        InstData::Unary { .. } | InstData::Binary { .. } | InstData::Ternary { .. } => {
            words(func, ty, op, [], args, to);
        }
        InstData::IntCompare { cond, args: [a, b] } if a > b => {
            words(func, ty, op, [cond.swapped() as u64], &[b, a], to);
        }
        InstData::IntCompare { cond, .. } => words(func, ty, op, [cond as u64], args, to),
        InstData::FloatCompare { cond, args: [a, b] } if a > b => {
            words(func, ty, op, [cond.swapped() as u64], &[b, a], to);
        }
        InstData::FloatCompare { cond, .. } => words(func, ty, op, [cond as u64], args, to),
        InstData::Load { flags, offset, .. } => {
            words(func, ty, op, [u64::from(offset as u32) << 32 | u64::from(flags.align(ty))], args, to);
        }
        InstData::Index { scale, .. } => words(func, ty, op, [scale as u64], args, to),
        InstData::StackAddr { slot, offset } => {
            words(func, ty, op, [slot.index() as u64, offset as u64], &[], to);
        }
        InstData::GlobalAddr { global, offset } => {
            words(func, ty, op, [global.index() as u64, offset as u64], &[], to);
        }
        InstData::FuncAddr { func: callee } => words(func, ty, op, [callee.index() as u64], &[], to),
        InstData::Vec { .. } | InstData::Zero | InstData::Aggregate { .. } => {
            words(func, ty, op, [], args, to);
        }
        // One with two results would need both to be replaced; legalisation has made these of others before passes run.
        InstData::List { .. } => return None,
        InstData::Ptx { data, .. } if traits == Traits::NONE && func.dfg.results(inst).len() == 1 => {
            let data = &func.dfg.ptx[data];
            // Operands that are not values, and modifiers, as they are written.
            let text = format!("{} {:?}", data.mnemonic(), data.operands);
            let written = text.as_bytes().chunks(8).map(|bytes| {
                bytes.iter().fold(bytes.len() as u64, |word, &byte| word << 8 | u64::from(byte))
            });
            words(func, ty, op, std::iter::once(text.len() as u64).chain(written), args, to);
        }
        InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => {
            words(func, ty, op, [lane.into()], args, to);
        }
        InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
            words(func, ty, op, func.dfg.paths[path].iter().map(|&n| n.into()), args, to);
        }
        InstData::Sreg { reg } => {
            let mut hasher = FxHasher::default();
            reg.hash(&mut hasher);
            // The hash of two small fields distinguishes all special registers, which a test checks.
            words(func, ty, op, [hasher.finish()], &[], to);
        }
        // What reads only may find something else the next time.
        InstData::Call { callee, .. } if traits.is_pure() && func.dfg.results(inst).len() == 1 => {
            words(func, ty, op, [callee.index() as u64], args, to);
        }
        // What writes, communicates or ends a block was sorted out by its traits.
        InstData::Store { .. }
        | InstData::MemBlock { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::Ptx { .. }
        | InstData::Jump { .. }
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return { .. }
        | InstData::Trap => return None,
    }
    Some(())
}

fn words(
    func: &Function,
    ty: Type,
    op: Opcode,
    constants: impl IntoIterator<Item = u64>,
    args: &[Value],
    to: &mut impl Words,
) {
    to.word((op as u64) << 48 | ty.number());
    constants.into_iter().for_each(|word| to.word(word));
    let number = |arg: &Value| u64::from(func.dfg.resolve(*arg).as_u32());
    for pair in args.chunks(2) {
        to.word(number(&pair[0]) << 32 | pair.get(1).map_or(u32::MAX.into(), number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_have_distinct_hashes() {
        let mut seen = warpsmith_base::FxHashSet::default();
        for reg in warpsmith_ir::Sreg::all() {
            let mut hasher = FxHasher::default();
            reg.hash(&mut hasher);
            assert!(seen.insert(hasher.finish()), "{reg}");
        }
    }

    #[test]
    fn equal_halves_of_hashes_are_not_enough() {
        // So many constants that some have the half of a hash in common.
        let mut random = warpsmith_base::SplitMix64::new(1);
        let constants = (0..200_000).map(|n| format!("  %x{n} = iconst.i64 {}\n", random.next() as i64));
        let text = format!("func @f() {{\nentry:\n{}  ret\n}}\n", constants.collect::<String>());
        let mut module =
            warpsmith_ir::parse_module(text.as_str()).unwrap_or_else(|errors| panic!("{errors}"));
        let func = module.functions.values().next().expect("one function");
        let insts = func.layout.blocks().flat_map(|block| func.layout.insts(block));
        let digests: Vec<_> = insts.filter_map(|inst| digest(func, inst, func.traits(inst))).collect();
        let hashes: warpsmith_base::FxHashSet<u32> = digests.iter().map(|&(_, hash)| hash).collect();
        assert!(hashes.len() < digests.len());
        let pipeline = crate::Pipeline::parse("gvn").expect("a pass");
        let report = pipeline.run(&mut module, &mut crate::Options::default()).expect("it is valid");
        assert_eq!(report.passes[0].changes, 0);
    }
}
