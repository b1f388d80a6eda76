//! Variables of the front end, which become values and block parameters.

use super::{FunctionBuilder, Phi, ReadBeforeSet};
use crate::entities::{Block, Loc, Value, Variable};
use crate::ins::InstBuilder;
use crate::types::Type;
use cranelift_entity::packed_option::PackedOption;
use smallvec::SmallVec;
use warpsmith_base::FxHashMap;

impl FunctionBuilder<'_> {
    /// Declares a variable.
    pub fn declare_var(&mut self, ty: Type) -> Variable {
        self.variables.push(ty)
    }

    /// Gives a variable a value from here on.
    pub fn def_var(&mut self, variable: Variable, value: Value) {
        let Some(ty) = self.variable(variable) else { return };
        if !self.func().dfg.has_value(value) {
            return self
                .misuse("I0035", format!("{variable} is given {value}, which the function does not have"));
        }
        let given = self.func().dfg.ty(value);
        if ty != given {
            self.misuse(
                "I0034",
                format!("{variable} is of type {ty} and cannot take {value} of type {given}"),
            );
        }
        match self.block {
            Some(block) => drop(self.definitions.insert((variable, block), value)),
            None => self.misuse("I0032", format!("{variable} is defined before any block was switched to")),
        }
    }

    /// The value that a variable has here. One that was never defined is zero.
    pub fn use_var(&mut self, variable: Variable) -> Value {
        let Some(ty) = self.variable(variable) else {
            return self.func_mut().dfg.make_detached_param(Type::INVALID);
        };
        let Some(block) = self.block else {
            self.misuse("I0032", format!("{variable} is used before any block was switched to"));
            return self.func_mut().dfg.make_detached_param(ty);
        };
        let mut unfilled = Vec::new();
        let value = self.look_up(variable, block, self.loc, &mut unfilled);
        self.fill(unfilled);
        value
    }

    /// Declares that no more branches to a block will be made.
    pub fn seal_block(&mut self, block: Block) {
        if !self.has_block(block) {
            return;
        }
        let state = &mut self.blocks[block];
        state.sealed = true;
        let waiting = std::mem::take(&mut state.waiting);
        self.fill(waiting);
    }

    /// Seals every block.
    pub fn seal_all_blocks(&mut self) {
        for index in 0..self.func().dfg.num_blocks() {
            self.seal_block(Block::from_u32(index as u32));
        }
    }

    /// The value of a variable at the end of a block. Parameters that are made on the way go to `unfilled`.
    fn look_up(
        &mut self,
        variable: Variable,
        block: Block,
        loc: PackedOption<Loc>,
        unfilled: &mut Vec<usize>,
    ) -> Value {
        let mut path: SmallVec<[Block; 8]> = SmallVec::new();
        let mut current = block;
        let value = loop {
            if let Some(value) = self.definitions.get(&(variable, current)) {
                break *value;
            }
            let state = &self.blocks[current];
            let limit = self.func().dfg.num_blocks();
            match state.predecessors.as_slice() {
                _ if !state.sealed => {
                    let phi = self.make_phi(variable, current, loc);
                    self.blocks[current].waiting.push(phi);
                    break self.phis[phi].value;
                }
                // A path longer than the function goes around an unreachable loop.
                [] => break self.unset(variable, current, loc),
                [_] if path.len() > limit => break self.zero(variable, current),
                [only] => {
                    path.push(current);
                    current = *only;
                }
                _ => {
                    let phi = self.make_phi(variable, current, loc);
                    unfilled.push(phi);
                    break self.phis[phi].value;
                }
            }
        };
        for block in path {
            self.definitions.insert((variable, block), value);
        }
        self.definitions.entry((variable, current)).or_insert(value);
        value
    }

    fn make_phi(&mut self, variable: Variable, block: Block, loc: PackedOption<Loc>) -> usize {
        let ty = self.variables[variable];
        let value = self.func_mut().dfg.make_detached_param(ty);
        self.definitions.insert((variable, block), value);
        self.phis.push(Phi { block, variable, value, incoming: SmallVec::new(), loc });
        self.phis.len() - 1
    }

    /// Looks up the incoming values of parameters, and of those that this makes necessary.
    fn fill(&mut self, mut unfilled: Vec<usize>) {
        while let Some(phi) = unfilled.pop() {
            let Phi { block, variable, loc, .. } = self.phis[phi];
            for n in 0..self.blocks[block].predecessors.len() {
                let from = self.blocks[block].predecessors[n];
                let value = self.look_up(variable, from, loc, &mut unfilled);
                self.phis[phi].incoming.push(value);
            }
        }
    }

    /// The value of a variable in a block that no path sets it before. Blocks that nothing branches to are not worth a warning.
    fn unset(&mut self, variable: Variable, block: Block, loc: PackedOption<Loc>) -> Value {
        let func = self.func();
        if func.layout.entry() == Some(block) {
            let loc = loc.expand().and_then(|loc| func.locs.get(loc).copied());
            self.unset.push(ReadBeforeSet { variable, loc });
        }
        self.zero(variable, block)
    }

    /// The value of a variable that has none: zero, made at the start of a block.
    pub(super) fn zero(&mut self, variable: Variable, block: Block) -> Value {
        let ty = self.variables[variable];
        let func = self.func_mut();
        if ty.is_aggregate() {
            return func.at_start(block).zero(ty);
        }
        let element = ty.element_type();
        let value = if element.is_float() {
            func.at_start(block).fconst(element, 0)
        } else if element.is_ptr() {
            let address = func.at_start(block).iconst(Type::I64, 0);
            func.after(address, block).inttoptr(element, address)
        } else {
            func.at_start(block).iconst(element, 0)
        };
        if !ty.is_vector() {
            return value;
        }
        let elements = vec![value; ty.lanes() as usize];
        func.after(value, block).vec(&elements)
    }

    /// Makes the remaining ones parameters of their blocks and arguments of the branches there.
    pub(super) fn place_phis(&mut self) {
        let mut of_block: FxHashMap<Block, Vec<usize>> = FxHashMap::default();
        for (n, phi) in self.phis.iter().enumerate() {
            let dfg = &mut self.home.func_mut().dfg;
            if dfg.resolve(phi.value) == phi.value {
                dfg.attach_block_param(phi.block, phi.value);
                of_block.entry(phi.block).or_default().push(n);
            }
        }
        if of_block.is_empty() {
            return;
        }
        let func = self.home.func_mut();
        let blocks: Vec<Block> = func.layout.blocks().collect();
        for from in blocks {
            let Some(inst) = func.terminator(from) else { continue };
            func.dfg.for_each_target_mut(inst, |call, pool| {
                for n in of_block.get(&call.block).into_iter().flatten() {
                    // Filling looked the variable up in every predecessor, which noted it there. A branch to a sealed block
                    // was reported: the parameter stands in for what it lacks.
                    let phi = &self.phis[*n];
                    let value = self.definitions.get(&(phi.variable, from)).copied().unwrap_or(phi.value);
                    call.args.push(value, pool);
                }
            });
        }
    }
}
