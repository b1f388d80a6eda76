//! Values with several definitions: what a pass that copies blocks leaves, brought back into SSA form; and block parameters that are always the
//! same value.

use crate::analysis::Cfg;
use cranelift_entity::{EntitySet, SecondaryMap};
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::{Block, Function, Inst, Value};

/// A value, and the blocks at whose end a definition of it is known, its own block among them; together they dominate the uses.
pub(super) type Defined = (Value, FxHashMap<Block, Value>);

/// The instructions that use a value, with their blocks.
type Users = Vec<(Block, Inst)>;

/// Makes the uses of values, in blocks other than their own, uses of whichever definition reaches them. The graph is that of the function as it is.
pub(super) fn repair(func: &mut Function, cfg: &Cfg, values: &[Defined]) {
    let mut users: FxHashMap<Value, (Option<Block>, Users)> =
        values.iter().map(|&(value, _)| (value, (func.block_of(value), Vec::new()))).collect();
    if users.is_empty() {
        return;
    }
    for &block in cfg.reverse_postorder() {
        for inst in func.layout.insts(block) {
            for used in func.dfg.uses(inst) {
                let Some((own, list)) = users.get_mut(&used) else { continue };
                if *own != Some(block) && list.last() != Some(&(block, inst)) {
                    list.push((block, inst));
                }
            }
        }
    }
    let mut search = Search::default();
    for (value, defs) in values {
        let Some((Some(_), users)) = users.remove(value) else { continue };
        search.repair(func, cfg, *value, defs, &users);
    }
}

/// What is known of one value, in memory that serves all.
#[derive(Default)]
struct Search {
    /// The blocks at whose start the value is wanted.
    wanted: SecondaryMap<Block, bool>,
    /// What it is there.
    at_start: SecondaryMap<Block, Option<Value>>,
}

impl Search {
    fn repair(
        &mut self,
        func: &mut Function,
        cfg: &Cfg,
        value: Value,
        defs: &FxHashMap<Block, Value>,
        users: &[(Block, Inst)],
    ) {
        let ty = func.dfg.ty(value);
        let mut list: Vec<Block> = Vec::new();
        let mut work: Vec<Block> = users.iter().map(|(block, _)| *block).collect();
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut self.wanted[block], true) {
                list.push(block);
                work.extend(cfg.predecessors(block).iter().copied().filter(|pred| !defs.contains_key(pred)));
            }
        }
        let mut made: Vec<(Block, Value)> = Vec::new();
        for &block in &list {
            if cfg.predecessors(block).len() != 1 {
                let param = func.dfg.append_block_param(block, ty);
                super::take_over_name(func, value, param);
                self.at_start[block] = Some(param);
                made.push((block, param));
            }
        }
        for &block in &list {
            self.reach(cfg, value, defs, block);
        }
        for &(block, _) in &made {
            let mut preds: SmallVec<[Block; 4]> = cfg.predecessors(block).into();
            preds.sort_unstable();
            preds.dedup();
            for pred in preds {
                let given = defs.get(&pred).copied().or(self.at_start[pred]).unwrap_or(value);
                let Some(branch) = func.terminator(pred) else { continue };
                func.dfg.for_each_target_mut(branch, |call, pool| {
                    if call.block == block {
                        call.args.push(given, pool);
                    }
                });
            }
        }
        for &(block, inst) in users {
            let Some(found) = self.at_start[block] else { continue };
            func.dfg.map_uses(inst, |used| if used == value { found } else { used });
        }
        for block in list {
            self.wanted[block] = false;
            self.at_start[block] = None;
        }
    }

    /// Up a chain of blocks with one predecessor each, to a definition or a parameter, which is noted for all of them.
    fn reach(&mut self, cfg: &Cfg, value: Value, defs: &FxHashMap<Block, Value>, block: Block) {
        let mut chain: SmallVec<[Block; 8]> = SmallVec::new();
        let mut at = block;
        let found = loop {
            if let Some(found) = self.at_start[at] {
                break found;
            }
            // A block that is met again is in a cycle that nothing leads to.
            if !self.wanted[at] || chain.len() > cfg.reverse_postorder().len() {
                break value;
            }
            chain.push(at);
            let Some(&pred) = cfg.predecessors(at).first() else { break value };
            if let Some(&found) = defs.get(&pred) {
                break found;
            }
            at = pred;
        };
        for block in chain {
            self.at_start[block] = Some(found);
        }
    }
}

/// The values of some blocks that other blocks use.
pub(super) fn used_outside(func: &Function, cfg: &Cfg, blocks: &EntitySet<Block>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for &block in cfg.reverse_postorder() {
        if blocks.contains(block) {
            continue;
        }
        for inst in func.layout.insts(block) {
            let of_them = |value: &Value| func.block_of(*value).is_some_and(|block| blocks.contains(block));
            found.extend(func.dfg.uses(inst).filter(of_them));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Takes parameters off blocks that get the same value on every edge, or themselves. Says how many.
pub(super) fn remove_redundant_params(func: &mut Function) -> u32 {
    let mut removed = 0;
    // What one parameter gives way to may make another one redundant.
    for _ in 0..4 {
        let found = redundant_params(func);
        if found == 0 {
            break;
        }
        removed += found;
        func.dfg.resolve_aliases();
    }
    removed
}

fn redundant_params(func: &mut Function) -> u32 {
    let cfg = Cfg::compute(func);
    let mut given: SecondaryMap<Block, Vec<Given>> = SecondaryMap::new();
    for &block in cfg.reverse_postorder() {
        given[block] = vec![Given::Nothing; func.dfg.block_params(block).len()];
    }
    for &block in cfg.reverse_postorder() {
        let Some(branch) = func.terminator(block) else { continue };
        for call in func.dfg.targets(branch) {
            for (known, (param, arg)) in given[call.block].iter_mut().zip(func.dfg.given(call)) {
                *known = known.and(func.dfg.resolve(arg), param);
            }
        }
    }
    let mut removed = 0;
    let entry = func.layout.entry();
    let mut gone: SecondaryMap<Block, SmallVec<[usize; 4]>> = SecondaryMap::new();
    for &block in cfg.reverse_postorder() {
        if Some(block) == entry {
            continue;
        }
        for n in (0..given[block].len()).rev() {
            let Given::One(value) = given[block][n] else { continue };
            let param = func.dfg.block_params(block)[n];
            // Another parameter that gave way may have been what this one gives way to.
            let value = func.dfg.resolve(value);
            if value == param {
                continue;
            }
            super::take_over_name(func, param, value);
            func.dfg.remove_block_param(block, n);
            func.dfg.replace_value(param, value);
            gone[block].push(n);
            removed += 1;
        }
    }
    if removed > 0 {
        for block in func.layout.blocks().collect::<Vec<_>>() {
            let Some(branch) = func.terminator(block) else { continue };
            func.dfg.for_each_target_mut(branch, |call, pool| {
                for &n in &gone[call.block] {
                    call.args.remove(n, pool);
                }
            });
        }
    }
    removed
}

/// What the edges into a block give a parameter.
#[derive(Clone, Copy)]
enum Given {
    Nothing,
    One(Value),
    Several,
}

impl Given {
    fn and(self, arg: Value, param: Value) -> Given {
        match self {
            _ if arg == param => self,
            Given::Nothing => Given::One(arg),
            Given::One(other) if other == arg => self,
            Given::One(_) | Given::Several => Given::Several,
        }
    }
}
