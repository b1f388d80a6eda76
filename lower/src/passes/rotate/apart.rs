//! A loop that is left for several places, of which each has the values of the header that it uses as parameters of its own.

use super::{map_bindings, params};
use crate::analysis::{Cfg, Loop};
use cranelift_entity::EntitySet;
use warpsmith_ir::{Block, DominatorTree, Function, Value};

/// A place that only the loop leads to, and what is used from there on of the header's values.
pub(super) struct Way {
    block: Block,
    values: Vec<Value>,
    /// The blocks that use them.
    users: Vec<Block>,
}

/// The ways out of a loop other than that of its header, if each use of the header's values (`own`) lies behind one of them, or behind the header's
/// own way out to `exit`, where nothing else leads.
pub(super) fn ways(
    func: &Function,
    cfg: &Cfg,
    dominators: &DominatorTree,
    found: Loop<'_>,
    own: &EntitySet<Value>,
    exit: Block,
) -> Option<Vec<Way>> {
    let inside = |block: Block| found.blocks.contains(&block);
    let mut exits: Vec<Block> = found.blocks.iter().flat_map(|&block| func.successors(block)).collect();
    exits.retain(|&block| !inside(block));
    exits.sort_unstable();
    exits.dedup();
    let of_header_only = cfg.predecessors(exit).iter().all(|&block| block == found.header);
    let ends = |block: &Block| {
        if *block == exit {
            of_header_only
        } else {
            cfg.predecessors(*block).iter().all(|&pred| inside(pred))
        }
    };
    exits.retain(ends);
    let way = |block| Way { block, values: Vec::new(), users: Vec::new() };
    let mut ways: Vec<Way> = exits.into_iter().map(way).collect();
    for block in func.layout.blocks().filter(|&block| !inside(block)) {
        let uses = func.layout.insts(block).flat_map(|inst| func.dfg.uses(inst));
        let used: Vec<Value> = uses.filter(|&value| own.contains(value)).collect();
        if used.is_empty() {
            continue;
        }
        let way = ways.iter_mut().find(|way| dominators.dominates(way.block, block))?;
        way.values.extend(used);
        way.users.push(block);
    }
    ways.retain_mut(|way| {
        way.values.sort_unstable();
        way.values.dedup();
        way.block != exit && !way.values.is_empty()
    });
    Some(ways)
}

/// Gives each place what is used behind it.
pub(super) fn close(func: &mut Function, cfg: &Cfg, ways: Vec<Way>) {
    for Way { block, values, users } in ways {
        let params = params(func, block, &values);
        for user in users {
            for inst in func.layout.insts(user).collect::<Vec<_>>() {
                func.dfg.map_uses(inst, |value| params.get(&value).copied().unwrap_or(value));
                map_bindings(func, inst, &params);
            }
        }
        give(func, cfg, block, &values);
    }
}

/// Appends arguments to every edge that leads to a block.
pub(super) fn give(func: &mut Function, cfg: &Cfg, to: Block, values: &[Value]) {
    let mut done: Vec<Block> = Vec::new();
    for &block in cfg.predecessors(to) {
        let Some(branch) = func.terminator(block).filter(|_| !done.contains(&block)) else { continue };
        done.push(block);
        func.dfg.for_each_target_mut(branch, |call, pool| {
            if call.block == to {
                call.args.extend(values.iter().copied(), pool);
            }
        });
    }
}
