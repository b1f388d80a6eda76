//! Who calls whom: the order from callees to callers, and the functions that reach themselves (Tarjan, 1972, with a stack of its own).

use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{FuncId, FuncKind, Function, InstData, Module, Symbol};

/// The direct calls of a module.
pub(in crate::passes) struct CallGraph {
    /// Each function behind those that it calls, but where calls go in a circle.
    pub bottom_up: Vec<FuncId>,
    /// The functions that reach themselves by direct calls.
    pub recursive: EntitySet<FuncId>,
    /// How many calls there are of each function.
    pub callers: SecondaryMap<FuncId, u32>,
    /// Functions that are named other than by a call.
    named: EntitySet<FuncId>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// When it was met, from 1; 0 before.
    number: u32,
    lowest: u32,
    open: bool,
}

impl CallGraph {
    pub fn new(module: &Module) -> Self {
        let mut graph = CallGraph {
            bottom_up: Vec::with_capacity(module.functions.len()),
            recursive: EntitySet::with_capacity(module.functions.len()),
            callers: SecondaryMap::new(),
            named: EntitySet::with_capacity(module.functions.len()),
        };
        let mut callees: SecondaryMap<FuncId, Vec<FuncId>> = SecondaryMap::new();
        for (id, func) in &module.functions {
            for inst in func.layout.blocks().flat_map(|block| func.layout.insts(block)) {
                if let InstData::Call { callee, .. } = func.dfg[inst] {
                    callees[id].push(callee);
                    graph.callers[callee] += 1;
                    if callee == id {
                        graph.recursive.insert(id);
                    }
                    continue;
                }
                for symbol in func.dfg.symbols(inst) {
                    if let Symbol::Func(id) = symbol {
                        graph.named.insert(id);
                    }
                }
            }
        }
        for reloc in module.globals.values().flat_map(|global| &global.relocs) {
            if let Symbol::Func(id) = reloc.target {
                graph.named.insert(id);
            }
        }
        graph.order(module, &callees);
        graph
    }

    /// Whether anything but calls can name a function.
    pub fn is_named(&self, id: FuncId, func: &Function) -> bool {
        func.linkage.is_visible() || self.named.contains(id)
    }

    fn order(&mut self, module: &Module, callees: &SecondaryMap<FuncId, Vec<FuncId>>) {
        let mut nodes: SecondaryMap<FuncId, Node> = SecondaryMap::new();
        let mut stack: Vec<FuncId> = Vec::new();
        let mut count = 0;
        // Nothing calls kernels: behind all else they find what they call through pointers complete, too.
        let is_kernel = |id: &FuncId| module.functions[*id].kind == FuncKind::Kernel;
        let (kernels, functions): (Vec<FuncId>, Vec<FuncId>) = module.functions.keys().partition(is_kernel);
        for root in functions.into_iter().chain(kernels) {
            if nodes[root].number != 0 {
                continue;
            }
            // A function with the number of its callees that were gone into.
            let mut path: Vec<(FuncId, usize)> = vec![(root, 0)];
            while let Some((id, next)) = path.last_mut() {
                let id = *id;
                if *next == 0 && nodes[id].number == 0 {
                    count += 1;
                    nodes[id] = Node { number: count, lowest: count, open: true };
                    stack.push(id);
                }
                if let Some(&callee) = callees[id].get(*next) {
                    *next += 1;
                    if nodes[callee].number == 0 {
                        path.push((callee, 0));
                    } else if nodes[callee].open {
                        nodes[id].lowest = nodes[id].lowest.min(nodes[callee].number);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    nodes[above].lowest = nodes[above].lowest.min(nodes[id].lowest);
                }
                if nodes[id].lowest == nodes[id].number {
                    self.component(id, &mut stack, &mut nodes);
                }
            }
        }
    }

    /// Closes the component that `root` was the first of.
    fn component(&mut self, root: FuncId, stack: &mut Vec<FuncId>, nodes: &mut SecondaryMap<FuncId, Node>) {
        let circle = stack.last() != Some(&root);
        while let Some(id) = stack.pop() {
            nodes[id].open = false;
            self.bottom_up.push(id);
            if circle {
                self.recursive.insert(id);
            }
            if id == root {
                break;
            }
        }
    }
}
