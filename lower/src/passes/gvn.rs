//! Global value numbering: of equal computations, the one whose block dominates the others is kept.
//!
//! The walk is down the dominator tree, so a computation that was met and dominates the current block is usable. Reads of memory
//! count as equal within a block as long as nothing between them can write; a store makes its value known to the loads behind
//! it. `load invariant` reads are equal everywhere. Operations that are convergent or have effects are left alone.
//!
//! The address of a variable in shared memory is three instructions on late targets, and in small blocks ptxas makes them for each block anew: those
//! of which none dominates the others are made once where their ways part. So are the parts of an address of 64 bits, an extended index, its product and the
//! sum, which the branches of a stencil's borders otherwise compute each for itself.

use super::replace_with;
use crate::analysis::Loops;
use crate::pass::{Changes, Context};
use cranelift_entity::SecondaryMap;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use warpsmith_base::{FxHashMap, FxHasher};
use warpsmith_ir::{
    Block, DominatorTree, EntityRef, Function, Inst, InstData, MemFlags, Opcode, Traits, Type, Value,
};
use warpsmith_isa::StateSpace;

/// How many instructions behind a sum its extension is looked for.
const MAX_AHEAD: usize = 8;
/// How many sums and products in a row lead to the extended one.
const MAX_LINKS: u32 = 4;
/// How far up a block is looked for in which two addresses can be made at once.
const MAX_CLIMB: usize = 64;

pub(super) fn run(func: &mut Function, cx: &mut Context<'_>) -> Changes {
    let dominators = cx.analyses.get::<DominatorTree>(func);
    let mut known = Known::with_capacity(func.layout.num_insts());
    // What memory holds, and at which epoch.
    let mut memory: FxHashMap<Key, (Value, u32)> = FxHashMap::default();
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
                if let Some((key, value)) = stored(func, inst) {
                    memory.insert(key, (value, epoch));
                }
                continue;
            }
            let Some(result) = func.dfg.first_result(inst) else { continue };
            let Some(key) = key(func, inst, traits) else { continue };
            if traits.contains(Traits::READS) {
                let held = memory.entry(key).or_insert((result, epoch));
                if held.1 != epoch {
                    *held = (result, epoch);
                } else if held.0 != result {
                    replace_with(func, inst, held.0);
                    changes += 1;
                }
                continue;
            }
            let mut entry = match known.entry(func, &key) {
                (Entry::Occupied(entry), _) => entry,
                (Entry::Vacant(entry), hash) => {
                    entry.insert(Computation { hash, value: result, block });
                    continue;
                }
            };
            let &Computation { value, block: at, .. } = entry.get();
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
                    && func.dfg.args(made).iter().all(|&arg| {
                        super::ssa::block_of(func, arg).is_some_and(|own| dominators.dominates(own, common))
                    })
                {
                    let promised = func.dfg.promised(made) && func.dfg.promised(inst);
                    func.dfg.set_promised(made, promised);
                    func.layout.remove_inst(made);
                    func.layout.insert_inst_before(made, end);
                    entry.get_mut().block = common;
                    replace_with(func, inst, value);
                    changes += 1;
                    continue;
                }
            }
            let other = entry.get_mut();
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
    loops.iter().flat_map(|found| &found.blocks).for_each(|&block| depths[block] += 1);
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

/// The computations that were met. The table of a large function does not fit into a cache, so it has no more than three numbers for each: keys are
/// made again of those whose hashes are equal.
struct Known(HashTable<Computation>);

struct Computation {
    hash: u32,
    value: Value,
    block: Block,
}

impl Known {
    fn with_capacity(size: usize) -> Known {
        Known(HashTable::with_capacity(size))
    }

    /// The place of the computation with a key, and the hash of that.
    fn entry(&mut self, func: &Function, key: &Key) -> (Entry<'_, Computation>, u32) {
        let hash = short_hash(key);
        let is_equal = |known: &Computation| {
            let made = func.dfg.def_inst(known.value).filter(|_| known.hash == hash);
            made.is_some_and(|made| self::key(func, made, func.traits(made)).as_ref() == Some(key))
        };
        (self.0.entry(spread(hash), is_equal, |known| spread(known.hash)), hash)
    }
}

/// Half of a hash, for tables that keep those of their entries.
pub(super) fn short_hash(key: &impl Hash) -> u32 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as u32
}

/// A whole hash from half of one: a table looks at both ends.
pub(super) fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// What makes two computations equal: the operation and the type in one word, the operation's constants, the operands, two in each word.
#[derive(PartialEq, Eq)]
pub(super) struct Key(SmallVec<[u64; 3]>);

impl Key {
    fn new(func: &Function, ty: Type, op: Opcode, constants: &[u64], args: &[Value]) -> Key {
        let mut words = SmallVec::new();
        words.push((op as u64) << 48 | ty.number());
        constants.iter().for_each(|word| words.push(*word));
        let number = |arg: &Value| u64::from(func.dfg.resolve(*arg).as_u32());
        for pair in args.chunks(2) {
            words.push(number(&pair[0]) << 32 | pair.get(1).map_or(u32::MAX.into(), number));
        }
        Key(words)
    }
}

impl Hash for Key {
    /// Word by word: a slice would be hashed as bytes.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|word| state.write_u64(*word));
    }
}

/// What makes an instruction equal to others, if that can be; reads of memory only where nothing between them can write.
pub(super) fn key(func: &Function, inst: Inst, traits: Traits) -> Option<Key> {
    let ty = func.dfg.ty(func.dfg.first_result(inst)?);
    let data = &func.dfg[inst];
    let args = data.args(&func.dfg.pool);
    let make = |constants: &[u64], args: &[Value]| Some(Key::new(func, ty, data.opcode(), constants, args));
    match *data {
        InstData::IntConst { value } => make(&[value as u64], &[]),
        InstData::FloatConst { bits } => make(&[bits], &[]),
        InstData::Binary { args: [a, b], .. } if traits.contains(Traits::COMMUTATIVE) => {
            make(&[], &[a.min(b), a.max(b)])
        }
        InstData::Unary { .. } | InstData::Binary { .. } | InstData::Ternary { .. } => make(&[], args),
        InstData::IntCompare { cond, args: [a, b] } if a > b => make(&[cond.swapped() as u64], &[b, a]),
        InstData::IntCompare { cond, .. } => make(&[cond as u64], args),
        InstData::FloatCompare { cond, args: [a, b] } if a > b => make(&[cond.swapped() as u64], &[b, a]),
        InstData::FloatCompare { cond, .. } => make(&[cond as u64], args),
        InstData::Load { flags, offset, ptr } => Some(load_key(func, ty, flags, offset, ptr)),
        InstData::Index { scale, .. } => make(&[scale as u64], args),
        InstData::StackAddr { slot, offset } => make(&[slot.index() as u64, offset as u64], &[]),
        InstData::GlobalAddr { global, offset } => make(&[global.index() as u64, offset as u64], &[]),
        InstData::FuncAddr { func } => make(&[func.index() as u64], &[]),
        InstData::Vec { .. } | InstData::Zero | InstData::Aggregate { .. } => make(&[], args),
        // One with two results would need both to be replaced; legalisation has made these of others before passes run.
        InstData::List { .. } => None,
        InstData::Ptx { data, .. } if traits == Traits::NONE && func.dfg.results(inst).len() == 1 => {
            let data = &func.dfg.ptx[data];
            // Operands that are not values, and modifiers, as they are written.
            let text = format!("{} {:?}", data.mnemonic(), data.operands);
            let words = text.as_bytes().chunks(8).map(|bytes| {
                bytes.iter().fold(bytes.len() as u64, |word, &byte| word << 8 | u64::from(byte))
            });
            let constants: SmallVec<[u64; 16]> = std::iter::once(text.len() as u64).chain(words).collect();
            make(&constants, args)
        }
        InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => make(&[lane.into()], args),
        InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
            let path: SmallVec<[u64; 6]> = func.dfg.paths[path].iter().map(|&n| u64::from(n)).collect();
            make(&path, args)
        }
        InstData::Sreg { reg } => {
            let mut hasher = FxHasher::default();
            reg.hash(&mut hasher);
            // The hash of two small fields distinguishes all special registers, which a test checks.
            make(&[hasher.finish()], &[])
        }
        // What reads only may find something else the next time.
        InstData::Call { callee, .. } if traits.is_pure() && func.dfg.results(inst).len() == 1 => {
            make(&[callee.index() as u64], args)
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
        | InstData::Trap => None,
    }
}

fn load_key(func: &Function, ty: Type, flags: MemFlags, offset: i32, ptr: Value) -> Key {
    // A promise of better alignment belongs to the one access that makes it.
    let place = u64::from(offset as u32) << 32 | u64::from(flags.align(ty));
    Key::new(func, ty, Opcode::Load, &[place], &[ptr])
}

/// What a load behind a store will find.
fn stored(func: &Function, inst: Inst) -> Option<(Key, Value)> {
    let InstData::Store { flags, offset, args: [value, ptr] } = func.dfg[inst] else { return None };
    let ty = func.dfg.ty(value);
    (!flags.volatile).then(|| (load_key(func, ty, flags, offset, ptr), func.dfg.resolve(value)))
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
        let insts = || func.layout.blocks().flat_map(|block| func.layout.insts(block));
        let keys: Vec<Key> = insts().filter_map(|inst| key(func, inst, func.traits(inst))).collect();
        let hashes: warpsmith_base::FxHashSet<u32> = keys.iter().map(short_hash).collect();
        assert!(hashes.len() < keys.len());
        let pipeline = crate::Pipeline::parse("gvn").expect("a pass");
        let report = pipeline.run(&mut module, &mut crate::Options::default()).expect("it is valid");
        assert_eq!(report.passes[0].changes, 0);
    }
}
