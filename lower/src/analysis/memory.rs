//! Memory in SSA form: the last write before each access, and the closest one that matters to it.
//!
//! All of memory is one variable. Each write is a new version of it, and so is each block where several edges meet. Which version an access depends
//! on is found by walking up from the one in front of it, past writes that touch other bytes (Novillo, "Memory SSA", 2007). Past a meeting of
//! edges one gets if nothing on any way there from its dominator touches the bytes; the walk goes on at the end of that.

use super::alias::Access;
use super::{Analyses, Cfg, Effect, Pointers, Root};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use std::ops::Range;
use std::sync::Arc;
use warpsmith_ir::{Block, DominatorTree, Function, Inst, ValueDef};

/// Versions that one walk looks at.
const MAX_STEPS: u32 = 48;
/// Blocks between a meeting of edges and its dominator that are looked at, and writes in them.
const MAX_BLOCKS: usize = 96;
const MAX_WRITES: usize = 64;

/// A version of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Version {
    /// Memory as the function found it.
    Entry,
    /// What the edges into a block bring.
    Meeting(Block),
    /// What a write left, by its number.
    Write(u32),
}

/// An instruction that writes memory.
struct Write {
    inst: Inst,
    effect: Effect,
    /// The version in front of it.
    before: Version,
}

/// The writes on the ways to a meeting of edges from its dominator.
#[derive(Clone, Default)]
enum Between {
    #[default]
    NotAsked,
    /// A part of [`Memory::between`].
    Few(Range<u32>),
    Many,
}

/// The versions of memory in a function.
pub struct Memory {
    pointers: Arc<Pointers>,
    dominators: Arc<DominatorTree>,
    cfg: Arc<Cfg>,
    /// In front of each instruction that accesses memory.
    before: SecondaryMap<Inst, Option<Version>>,
    /// The writes by their numbers. Those of a block stand side by side in its order, so that a walk up goes through neighbours.
    writes: Vec<Write>,
    numbers: SecondaryMap<Inst, u32>,
    of_block: SecondaryMap<Block, Range<u32>>,
    at_end: SecondaryMap<Block, Option<Version>>,
    between: Vec<u32>,
    between_of: SecondaryMap<Block, Between>,
    /// The last search for these that came to a block, and what it has still to look at.
    searched: SecondaryMap<Block, PackedOption<Block>>,
    pending: Vec<Block>,
}

impl Memory {
    /// Numbers the versions.
    pub fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let mut memory = Memory {
            pointers: analyses.get::<Pointers>(func),
            dominators: analyses.get::<DominatorTree>(func),
            cfg: analyses.get::<Cfg>(func),
            before: SecondaryMap::new(),
            writes: Vec::new(),
            numbers: SecondaryMap::new(),
            of_block: SecondaryMap::new(),
            at_end: SecondaryMap::new(),
            between: Vec::new(),
            between_of: SecondaryMap::new(),
            searched: SecondaryMap::new(),
            pending: Vec::new(),
        };
        memory.before.resize(func.dfg.num_insts());
        memory.numbers.resize(func.dfg.num_insts());
        memory.at_end.resize(func.dfg.num_blocks());
        memory.of_block.resize(func.dfg.num_blocks());
        memory.between_of.resize(func.dfg.num_blocks());
        memory.searched.resize(func.dfg.num_blocks());
        for &block in memory.cfg.clone().reverse_postorder() {
            let mut version = match memory.cfg.predecessors(block) {
                [] => Version::Entry,
                // In reverse post-order the only predecessor was before.
                &[pred] => memory.at_end[pred].unwrap_or(Version::Meeting(block)),
                _ => Version::Meeting(block),
            };
            let first = memory.writes.len() as u32;
            for inst in func.layout.insts(block) {
                let effect = memory.pointers.effect(func, inst);
                if effect != Effect::None {
                    memory.before[inst] = Some(version);
                }
                if matches!(effect, Effect::Writes(_) | Effect::All) {
                    let number = memory.writes.len() as u32;
                    memory.numbers[inst] = number;
                    memory.writes.push(Write { inst, effect, before: version });
                    version = Version::Write(number);
                }
            }
            memory.at_end[block] = Some(version);
            memory.of_block[block] = first..memory.writes.len() as u32;
        }
        memory
    }

    /// What the pointers of the function point to.
    pub fn pointers(&self) -> &Pointers {
        &self.pointers
    }

    /// The version that a write leaves.
    pub fn left_by(&self, write: Inst) -> Version {
        Version::Write(self.numbers[write])
    }

    /// The version that an access by an instruction depends on: nothing between it and the instruction writes the bytes.
    pub fn depends_on(&mut self, func: &Function, inst: Inst, access: &Access) -> Option<Version> {
        let mut version = self.before[inst]?;
        // Round a loop the same value may be another address: no meeting of edges is passed but behind its definition.
        let defined = match access.pointer.root {
            Root::Value(root) => Some(match func.dfg.def(root) {
                ValueDef::Result(inst, _) => func.layout.block_of(inst),
                ValueDef::Param(block, _) => Some(block),
                ValueDef::Alias(_) | ValueDef::Detached => None,
            }),
            Root::Object(_) => None,
        };
        for _ in 0..MAX_STEPS {
            match version {
                Version::Entry => return Some(version),
                Version::Write(number) => {
                    let write = &self.writes[number as usize];
                    if self.pointers.may_write(func, write.effect, access) {
                        return Some(version);
                    }
                    version = write.before;
                }
                Version::Meeting(block) => match self.past(func, block, access, defined) {
                    Some(before) => version = before,
                    None => return Some(version),
                },
            }
        }
        Some(version)
    }

    /// The version at the end of the dominator of a meeting of edges, if nothing on the ways from there writes the bytes. Where the address is counted
    /// from a value, that must have been defined above; `Some(None)` is a value that is defined nowhere.
    fn past(
        &mut self,
        func: &Function,
        block: Block,
        access: &Access,
        defined: Option<Option<Block>>,
    ) -> Option<Version> {
        let above = self.dominators.idom(block)?;
        if let Some(defined) = defined
            && !self.dominators.dominates(defined?, above)
        {
            return None;
        }
        if let Between::NotAsked = self.between_of[block] {
            self.between_of[block] = self.writes_between(func, above, block);
        }
        let Between::Few(few) = &self.between_of[block] else { return None };
        let between = &self.between[few.start as usize..few.end as usize];
        let mut effects = between.iter().map(|&write| self.writes[write as usize].effect);
        let touched = effects.any(|effect| self.pointers.may_write(func, effect, access));
        if touched { None } else { self.at_end[above] }
    }

    fn writes_between(&mut self, func: &Function, above: Block, block: Block) -> Between {
        let search = PackedOption::from(block);
        self.pending.clear();
        self.pending.extend_from_slice(self.cfg.predecessors(block));
        let first = self.between.len();
        let mut count = 0;
        while let Some(block) = self.pending.pop() {
            if block == above || std::mem::replace(&mut self.searched[block], search) == search {
                continue;
            }
            count += 1;
            // One that was found to be of no use is gone.
            let is_there = |write: &u32| func.layout.block_of(self.writes[*write as usize].inst).is_some();
            self.between.extend(self.of_block[block].clone().filter(is_there));
            if count > MAX_BLOCKS || self.between.len() - first > MAX_WRITES {
                self.between.truncate(first);
                return Between::Many;
            }
            self.pending.extend_from_slice(self.cfg.predecessors(block));
        }
        Between::Few(first as u32..self.between.len() as u32)
    }
}
