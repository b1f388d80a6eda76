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
        let DepthFirst { mut vertices, postorder, edges } = DepthFirst::new(func, entry);
        tree.order = postorder;
        tree.order.reverse();
        tree.nodes.resize(func.dfg.num_blocks());
        for (position, block) in tree.order.iter().enumerate() {
            tree.nodes[*block].number = position as u32 + 1;
        }
        find_immediate_dominators(&mut vertices, &edges);
        for vertex in vertices.iter().skip(1) {
            tree.nodes[vertex.block].idom = vertices[vertex.idom as usize].block.into();
        }
        tree.number_subtrees(&mut vertices);
        tree
    }

    fn number_subtrees(&mut self, vertices: &mut [Vertex]) {
        // A dominator comes before what it dominates in the depth-first order: sizes add up from the back, places from the front.
        vertices.iter_mut().for_each(|vertex| vertex.size = 1);
        for n in (1..vertices.len()).rev() {
            vertices[vertices[n].idom as usize].size += vertices[n].size;
        }
        self.preorder = vertices.iter().map(|vertex| vertex.block).collect();
        for n in 0..vertices.len() {
            let Vertex { block, idom, size, .. } = vertices[n];
            let enter = match n {
                0 => 0,
                _ => {
                    let next_free = &mut vertices[idom as usize].next_free;
                    let enter = *next_free;
                    *next_free += size;
                    enter
                }
            };
            vertices[n].next_free = enter + 1;
            let node = &mut self.nodes[block];
            (node.enter, node.exit) = (enter, enter + size);
            self.preorder[enter as usize] = block;
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

/// A block in a depth-first walk. Blocks are named by their preorder number. All that is known of one is together: of large functions, these are tables
/// that do not fit into the cache.
#[derive(Clone, Copy)]
struct Vertex {
    block: Block,
    /// The parent in the tree of the walk; then, by path compression, some ancestor.
    ancestor: u32,
    label: u32,
    semi: u32,
    idom: u32,
    /// The predecessors: a range of [`DepthFirst::edges`].
    first_edge: u32,
    end_edge: u32,
    /// Blocks in its subtree, and the number that the next subtree below it begins with.
    size: u32,
    next_free: u32,
}

/// A depth-first walk: what the semidominators are computed from.
struct DepthFirst {
    /// In preorder.
    vertices: Vec<Vertex>,
    postorder: Vec<Block>,
    /// Predecessors, as preorder numbers, those of each block together.
    edges: Vec<u32>,
}

impl DepthFirst {
    fn new(func: &Function, entry: Block) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let most = func.dfg.num_blocks();
        let mut number = vec![UNSEEN; most];
        let mut vertices: Vec<Vertex> = Vec::with_capacity(most);
        let mut postorder = Vec::with_capacity(most);
        // The successors of a block wait at the end of `pending`, from the position that the stack notes.
        let mut pending: Vec<Block> = Vec::with_capacity(2 * most);
        let mut stack = Vec::with_capacity(most);
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(2 * most);
        let visit = |block: Block, from: u32, vertices: &mut Vec<Vertex>, pending: &mut Vec<Block>| {
            let n = vertices.len() as u32;
            vertices.push(Vertex {
                block,
                ancestor: from,
                label: n,
                semi: n,
                idom: from,
                first_edge: 0,
                end_edge: 0,
                size: 0,
                next_free: 0,
            });
            let start = pending.len();
            pending.extend(func.successors(block));
            (n, start)
        };
        number[entry.index()] = 0;
        let (_, start) = visit(entry, 0, &mut vertices, &mut pending);
        stack.push((0, start));
        while let Some(&(from, start)) = stack.last() {
            let successor = if pending.len() > start { pending.pop() } else { None };
            let Some(successor) = successor else {
                postorder.push(vertices[from as usize].block);
                stack.pop();
                continue;
            };
            let known = &mut number[successor.index()];
            if *known == UNSEEN {
                let (n, start) = visit(successor, from, &mut vertices, &mut pending);
                *known = n;
                stack.push((n, start));
            }
            pairs.push((*known, from));
        }
        // Sorted by target.
        pairs.iter().for_each(|(to, _)| vertices[*to as usize].end_edge += 1);
        let mut free = 0;
        for vertex in &mut vertices {
            let count = vertex.end_edge;
            (vertex.first_edge, vertex.end_edge) = (free, free);
            free += count;
        }
        let mut edges = vec![0; pairs.len()];
        for (to, from) in pairs {
            let end = &mut vertices[to as usize].end_edge;
            edges[*end as usize] = from;
            *end += 1;
        }
        DepthFirst { vertices, postorder, edges }
    }
}

fn find_immediate_dominators(vertices: &mut [Vertex], edges: &[u32]) {
    let mut path = Vec::new();
    for v in (1..vertices.len()).rev() {
        let Vertex { first_edge, end_edge, .. } = vertices[v];
        for &from in &edges[first_edge as usize..end_edge as usize] {
            let best = evaluate(from, v as u32 + 1, vertices, &mut path);
            vertices[v].semi = vertices[v].semi.min(vertices[best as usize].semi);
        }
    }
    for v in 1..vertices.len() {
        let Vertex { mut idom, semi, .. } = vertices[v];
        while idom > semi {
            idom = vertices[idom as usize].idom;
        }
        vertices[v].idom = idom;
    }
}

/// The vertex of least semidominator on the way from `v` up to what has not been processed (numbers below `linked`), with path
/// compression.
fn evaluate(v: u32, linked: u32, vertices: &mut [Vertex], path: &mut Vec<u32>) -> u32 {
    path.clear();
    let mut above = v;
    while above >= linked && vertices[above as usize].ancestor >= linked {
        path.push(above);
        above = vertices[above as usize].ancestor;
    }
    // From the top down, so that each vertex sees the best of those above it.
    let top = vertices[above as usize].ancestor;
    while let Some(at) = path.pop() {
        let inherited = vertices[above as usize].label;
        let label = vertices[at as usize].label;
        if vertices[inherited as usize].semi < vertices[label as usize].semi {
            vertices[at as usize].label = inherited;
        }
        vertices[at as usize].ancestor = top;
        above = at;
    }
    vertices[v as usize].label
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
