//! Post-dominators: the blocks that every way out of a function goes through. Where threads have parted, they meet again at the closest of them.
//!
//! A trap ends the whole launch and nobody waits for a thread that traps, so ways to it do not count where another way out exists.

use super::{Analyses, Analysis, Cfg};
use crate::pass::Aspects;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{Block, Function, InstData};

/// Rounds of the fixed point; graphs with so deeply nested irreducible loops have no post-dominators here.
const MAX_ROUNDS: u32 = 64;

/// The tree of post-dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm").
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PostDominators {
    parent: SecondaryMap<Block, PackedOption<Block>>,
    number: SecondaryMap<Block, u32>,
}

impl PostDominators {
    /// The post-dominators of the blocks that reach an end of the function.
    pub fn compute(func: &Function, cfg: &Cfg) -> Self {
        let (order, lost) = reverse_postorder(func, cfg);
        let mut tree = PostDominators::default();
        for (n, &block) in order.iter().enumerate() {
            tree.number[block] = n as u32 + 1;
        }
        let mut settled: EntitySet<Block> = EntitySet::with_capacity(func.dfg.num_blocks());
        let mut met = Met { blocks: SecondaryMap::with_capacity(func.dfg.num_blocks()), time: 0 };
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for &block in &order {
                // `None` is the end of the function, behind all blocks that return or trap.
                let mut found: Option<Option<Block>> = None;
                let mut any = false;
                met.time += 1;
                for next in func.successors(block) {
                    any = true;
                    if lost.contains(next) && !lost.contains(block) {
                        continue;
                    }
                    if tree.number[next] == 0 || !settled.contains(next) {
                        continue;
                    }
                    found = Some(match found {
                        None => Some(next),
                        Some(other) => other.and_then(|other| tree.meet(other, next, &mut met)),
                    });
                }
                let parent = if any { found.flatten() } else { None };
                changed |= settled.insert(block) | (tree.parent[block].expand() != parent);
                tree.parent[block] = parent.into();
            }
            if !changed {
                return tree;
            }
        }
        PostDominators::default()
    }

    /// The closest block behind both, where the first is behind all blocks that were met since the time began.
    fn meet(&self, mut a: Block, mut b: Block, met: &mut Met) -> Option<Block> {
        while a != b {
            // Another successor has come by there, and from there to the first one: a `switch` whose cases fall through is not walked for each of them.
            if met.blocks[b] == met.time {
                return Some(a);
            }
            // A larger number is farther from the end.
            if self.number[a] > self.number[b] {
                met.blocks[a] = met.time;
                a = self.parent[a].expand()?;
            } else {
                met.blocks[b] = met.time;
                b = self.parent[b].expand()?;
            }
        }
        Some(a)
    }

    /// The closest block behind this one that every way out of the function goes through, if there is one.
    pub fn parent(&self, block: Block) -> Option<Block> {
        self.parent[block].expand()
    }
}

/// The blocks that the ways from the successors of one block were followed through, and which block that is by its time.
struct Met {
    blocks: SecondaryMap<Block, u64>,
    time: u64,
}

impl Analysis for PostDominators {
    const NAME: &'static str = "post-dominators";
    const READS: Aspects = Aspects::CONTROL_FLOW;

    fn compute(func: &Function, analyses: &mut Analyses) -> Self {
        let cfg = analyses.get::<Cfg>(func);
        PostDominators::compute(func, &cfg)
    }
}

/// The blocks that reach an end, each before those that lead to it but for cycles, and which of them reach traps only.
fn reverse_postorder(func: &Function, cfg: &Cfg) -> (Vec<Block>, EntitySet<Block>) {
    let mut order = Order { seen: EntitySet::with_capacity(func.dfg.num_blocks()), blocks: Vec::new() };
    let traps =
        |end: Block| func.terminator(end).is_some_and(|inst| matches!(func.dfg[inst], InstData::Trap));
    let ends =
        || cfg.reverse_postorder().iter().copied().filter(|&end| func.successors(end).next().is_none());
    ends().filter(|&end| !traps(end)).for_each(|end| order.visit(cfg, end));
    let returning = order.blocks.len();
    ends().filter(|&end| traps(end)).for_each(|end| order.visit(cfg, end));
    let mut lost: EntitySet<Block> = EntitySet::with_capacity(func.dfg.num_blocks());
    lost.extend(order.blocks[returning..].iter().copied());
    order.blocks.reverse();
    (order.blocks, lost)
}

/// Blocks in the postorder of a walk against the edges.
struct Order {
    seen: EntitySet<Block>,
    blocks: Vec<Block>,
}

impl Order {
    fn visit(&mut self, cfg: &Cfg, end: Block) {
        if !self.seen.insert(end) {
            return;
        }
        let mut stack: Vec<(Block, usize)> = vec![(end, 0)];
        while let Some((block, at)) = stack.last_mut() {
            match cfg.predecessors(*block).get(*at) {
                Some(&next) => {
                    *at += 1;
                    if self.seen.insert(next) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    self.blocks.push(*block);
                    stack.pop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_meet_where_all_pass() {
        let text = "func @f(%c: i1) {\nentry:\n  brif %c, a, b\na:\n  brif %c, c, d\nc:\n  jump d\nd:\n  jump e\nb:\n  jump e\ne:\n  ret\n}\n";
        let module = warpsmith_ir::parse_module(text).unwrap();
        let func = module.functions.values().next().unwrap();
        let tree = PostDominators::compute(func, &Cfg::compute(func));
        let blocks: Vec<Block> = func.layout.blocks().collect();
        let [entry, a, c, d, b, e] = blocks[..] else { panic!("six blocks") };
        let parents = [entry, a, c, d, b, e].map(|block| tree.parent(block));
        assert_eq!(parents, [Some(e), Some(d), Some(d), Some(e), Some(e), None]);
    }

    #[test]
    fn two_ends_and_a_loop_without_one() {
        let text = "func @f(%c: i1) {\nentry:\n  brif %c, a, b\na:\n  ret\nb:\n  brif %c, l, c\nl:\n  jump l\nc:\n  ret\n}\n";
        let module = warpsmith_ir::parse_module(text).unwrap();
        let func = module.functions.values().next().unwrap();
        let tree = PostDominators::compute(func, &Cfg::compute(func));
        let blocks: Vec<Block> = func.layout.blocks().collect();
        assert_eq!(tree.parent(blocks[0]), None);
        assert_eq!(tree.parent(blocks[2]), Some(blocks[4]), "the way into the loop leads nowhere");
    }

    #[test]
    fn a_trap_does_not_count() {
        let text = "func @f(%c: i1) {\nentry:\n  brif %c, a, b\na:\n  brif %c, c, d\nb:\n  jump d\nc:\n  brif %c, t, u\nt:\n  trap\nu:\n  trap\nd:\n  ret\n}\n";
        let module = warpsmith_ir::parse_module(text).unwrap();
        let func = module.functions.values().next().unwrap();
        let tree = PostDominators::compute(func, &Cfg::compute(func));
        let blocks: Vec<Block> = func.layout.blocks().collect();
        let [entry, a, b, c, t, u, d] = blocks[..] else { panic!("seven blocks") };
        let parents = [entry, a, b, c, t, u].map(|block| tree.parent(block));
        assert_eq!(parents, [Some(d), Some(d), Some(d), None, None, None]);
    }
}
