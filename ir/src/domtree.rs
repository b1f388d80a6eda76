//! Dominators of the blocks of a function.

use crate::entities::Block;
use crate::function::Function;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};

/// Which blocks every path from the entry to a block goes through.
///
/// Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", 2005): near linear on real graphs and
/// never worse than quadratic in the depth of the tree, without recursion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DominatorTree {
    nodes: SecondaryMap<Block, Node>,
    /// Reachable blocks in reverse postorder.
    order: Vec<Block>,
    /// Reachable blocks in the tree's preorder.
    preorder: Vec<Block>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Node {
    /// The position in `order` plus one; 0 if unreachable.
    number: u32,
    idom: PackedOption<Block>,
    /// The interval of the tree's preorder that the block's subtree takes.
    enter: u32,
    exit: u32,
}

impl DominatorTree {
    /// Computes the tree.
    pub fn new(func: &Function) -> Self {
        let mut tree = DominatorTree::default();
        let Some(entry) = func.layout.entry() else { return tree };
        let dfs = DepthFirst::new(func, entry);
        tree.order = dfs.postorder.iter().rev().copied().collect();
        tree.nodes.resize(func.dfg.num_blocks());
        for (position, block) in tree.order.iter().enumerate() {
            tree.nodes[*block].number = position as u32 + 1;
        }
        let idoms = dfs.immediate_dominators();
        for (n, &block) in dfs.preorder.iter().enumerate().skip(1) {
            tree.nodes[block].idom = dfs.preorder[idoms[n] as usize].into();
        }
        tree.number_subtrees(&dfs.preorder, &idoms);
        tree
    }

    fn number_subtrees(&mut self, preorder: &[Block], idoms: &[u32]) {
        // A dominator comes before what it dominates in the depth-first order: sizes add up from the back, places from the front.
        let mut size = vec![1u32; preorder.len()];
        for n in (1..preorder.len()).rev() {
            size[idoms[n] as usize] += size[n];
        }
        let mut next_free = vec![0u32; preorder.len()];
        self.preorder = preorder.to_vec();
        for (n, block) in preorder.iter().enumerate() {
            let enter = match n {
                0 => 0,
                _ => {
                    let parent = idoms[n] as usize;
                    let enter = next_free[parent];
                    next_free[parent] += size[n];
                    enter
                }
            };
            next_free[n] = enter + 1;
            let node = &mut self.nodes[*block];
            (node.enter, node.exit) = (enter, enter + size[n]);
            self.preorder[enter as usize] = *block;
        }
    }

    /// True if some path leads from the entry to the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.nodes[block].number != 0
    }

    /// The closest dominator besides the block itself. `None` for the entry and for what is unreachable.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.nodes[block].idom.expand()
    }

    /// True if every path to `b` goes through `a`; a block dominates itself. An unreachable block dominates only itself.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (node_a, node_b) = (&self.nodes[a], &self.nodes[b]);
        a == b
            || (node_a.number != 0
                && node_b.number != 0
                && (node_a.enter..node_a.exit).contains(&node_b.enter))
    }

    /// The reachable blocks, each before those it dominates, the subtree of a block in one run.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The reachable blocks in reverse postorder.
    pub fn reverse_postorder(&self) -> &[Block] {
        &self.order
    }
}

/// A depth-first walk: what the semidominators are computed from. Blocks are named by their preorder number.
struct DepthFirst {
    preorder: Vec<Block>,
    postorder: Vec<Block>,
    parent: Vec<u32>,
    /// Predecessors, as preorder numbers, of each block: a range of `edges`.
    predecessors: Vec<(u32, u32)>,
    edges: Vec<u32>,
}

impl DepthFirst {
    fn new(func: &Function, entry: Block) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut number = vec![UNSEEN; func.dfg.num_blocks()];
        let most = func.dfg.num_blocks();
        let mut preorder = Vec::with_capacity(most);
        let (mut postorder, mut parent) = (Vec::with_capacity(most), Vec::with_capacity(most));
        preorder.push(entry);
        parent.push(0);
        number[entry.index()] = 0;
        // The successors of a block wait at the end of `pending`, from the position that the stack notes.
        let mut pending: Vec<Block> = Vec::with_capacity(2 * most);
        pending.extend(func.successors(entry));
        let mut stack = Vec::with_capacity(most);
        stack.push((entry, 0));
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(2 * most);
        while let Some(&(block, start)) = stack.last() {
            if pending.len() == start {
                postorder.push(block);
                stack.pop();
                continue;
            }
            let Some(successor) = pending.pop() else { break };
            let from = number[block.index()];
            if number[successor.index()] == UNSEEN {
                number[successor.index()] = preorder.len() as u32;
                preorder.push(successor);
                parent.push(from);
                stack.push((successor, pending.len()));
                pending.extend(func.successors(successor));
            }
            pairs.push((number[successor.index()], from));
        }
        // Sorted by target.
        let mut predecessors = vec![(0u32, 0u32); preorder.len()];
        pairs.iter().for_each(|(to, _)| predecessors[*to as usize].1 += 1);
        let mut free = 0;
        for range in &mut predecessors {
            let count = range.1;
            *range = (free, free);
            free += count;
        }
        let mut edges = vec![0; pairs.len()];
        for (to, from) in pairs {
            let end = &mut predecessors[to as usize].1;
            edges[*end as usize] = from;
            *end += 1;
        }
        DepthFirst { preorder, postorder, parent, predecessors, edges }
    }

    fn immediate_dominators(&self) -> Vec<u32> {
        let count = self.preorder.len();
        let mut semi: Vec<u32> = (0..count as u32).collect();
        let mut label = semi.clone();
        let mut ancestor = self.parent.clone();
        let mut idom = self.parent.clone();
        let mut path = Vec::new();
        for v in (1..count).rev() {
            let (start, end) = self.predecessors[v];
            for &from in &self.edges[start as usize..end as usize] {
                let best = evaluate(from, v as u32 + 1, &mut ancestor, &mut label, &semi, &mut path);
                semi[v] = semi[v].min(semi[best as usize]);
            }
        }
        for v in 1..count {
            let mut dominator = idom[v];
            while dominator > semi[v] {
                dominator = idom[dominator as usize];
            }
            idom[v] = dominator;
        }
        idom
    }
}

/// The vertex of least semidominator on the way from `v` up to what has not been processed (numbers below `linked`), with path
/// compression.
fn evaluate(
    v: u32,
    linked: u32,
    ancestor: &mut [u32],
    label: &mut [u32],
    semi: &[u32],
    path: &mut Vec<u32>,
) -> u32 {
    path.clear();
    let mut above = v;
    while above >= linked && ancestor[above as usize] >= linked {
        path.push(above);
        above = ancestor[above as usize];
    }
    // From the top down, so that each vertex sees the best of those above it.
    let top = ancestor[above as usize];
    while let Some(at) = path.pop() {
        let inherited = label[above as usize];
        if semi[inherited as usize] < semi[label[at as usize] as usize] {
            label[at as usize] = inherited;
        }
        ancestor[at as usize] = top;
        above = at;
    }
    label[v as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::FuncKind;
    use crate::ins::InstBuilder;
    use crate::types::Type;

    /// A function with these edges; block 0 is the entry.
    fn graph(edges: &[Vec<usize>]) -> Function {
        let mut func = Function::new("f", FuncKind::Func, Vec::new(), Vec::new());
        let blocks: Vec<Block> = edges.iter().map(|_| func.dfg.make_block()).collect();
        blocks.iter().for_each(|block| func.layout.append_block(*block));
        for (from, to) in edges.iter().enumerate() {
            let from = blocks[from];
            match to.as_slice() {
                [] => drop(func.at_end(from).ret(&[])),
                [only] => drop(func.at_end(from).jump(blocks[*only], &[])),
                [first, rest @ ..] => {
                    let value = func.at_end(from).iconst(Type::I32, 0);
                    let call =
                        |n: usize| crate::BlockCall { block: blocks[n], args: crate::ValueList::new() };
                    let cases = rest.iter().enumerate().map(|(case, n)| (case as i64, call(*n))).collect();
                    func.at_end(from).switch(value, call(*first), cases);
                }
            }
        }
        func
    }

    /// Dominance by definition: what cannot be reached without the block.
    fn reachable_without(edges: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; edges.len()];
        let mut work = if without == Some(0) { vec![] } else { vec![0] };
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut seen[n], true) {
                work.extend(edges[n].iter().filter(|to| Some(**to) != without));
            }
        }
        seen
    }

    #[test]
    fn agrees_with_the_definition() {
        arbtest::arbtest(|u| {
            let count = u.int_in_range(1..=12)?;
            let mut edges = Vec::new();
            for _ in 0..count {
                let out = u.int_in_range(0..=3)?;
                edges.push((0..out).map(|_| u.int_in_range(0..=count - 1)).collect::<Result<Vec<_>, _>>()?);
            }
            let func = graph(&edges);
            let tree = DominatorTree::new(&func);
            let all = reachable_without(&edges, None);
            for a in 0..count {
                assert_eq!(tree.is_reachable(Block::new(a)), all[a]);
                let without = reachable_without(&edges, Some(a));
                for b in 0..count {
                    let expected = a == b || (all[a] && all[b] && !without[b]);
                    assert_eq!(
                        tree.dominates(Block::new(a), Block::new(b)),
                        expected,
                        "{a} {b} in {edges:?}"
                    );
                }
            }
            assert_eq!(tree.reverse_postorder().len(), all.iter().filter(|seen| **seen).count());
            Ok(())
        });
    }

    #[test]
    fn deep_graphs_do_not_recurse() {
        let count = 200_000;
        let edges: Vec<Vec<usize>> =
            (0..count).map(|n| if n + 1 < count { vec![n + 1] } else { vec![] }).collect();
        let func = graph(&edges);
        let tree = DominatorTree::new(&func);
        assert!(tree.dominates(Block::new(1), Block::new(count - 1)));
        assert_eq!(tree.idom(Block::new(count - 1)), Some(Block::new(count - 2)));
    }
}
