//! The graph of blocks that a thread walks.

use super::Generator;
use arbitrary::Result;
use warpsmith_ir::{Block, BlockCall, InstBuilder, IntCC, Type, Value, Variable};

impl Generator<'_, '_, '_> {
    /// Random blocks with random edges. A thread pays one unit of fuel for each block.
    pub(super) fn graph(&mut self, fuel: Variable) -> Result<()> {
        let count = self.u.int_in_range(1..=self.config.blocks.max(1))?;
        let mut blocks: Vec<(Block, Vec<Type>)> = Vec::new();
        for _ in 0..count {
            let block = self.b.create_block();
            let types = (0..self.u.int_in_range(0..=2)?).map(|_| self.u.choose(&self.types).copied());
            let types = types.collect::<Result<Vec<Type>>>()?;
            for ty in &types {
                self.b.append_block_param(block, *ty);
            }
            blocks.push((block, types));
        }
        let done = self.b.create_block();
        self.terminator(&blocks, done)?;
        let before = self.values.clone();
        for (block, _) in &blocks {
            self.b.switch_to_block(*block);
            // What was computed before the graph dominates all of it.
            self.values = before.clone();
            self.values.extend(self.b.block_params(*block).to_vec());
            for (variable, _) in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    let value = self.b.use_var(variable);
                    self.values.push(value);
                }
            }
            let known = self.values.len();
            self.instructions()?;
            // What nothing else uses is not computed by who optimises: some of it shows.
            for place in 8..self.u.int_in_range(8..=11)? {
                if let Some(value) = self.values[known..].len().checked_sub(1) {
                    let value = self.values[known + self.u.int_in_range(0..=value)?];
                    if self.b.func().dfg.ty(value).bits() <= 128 {
                        self.write_own(value, 16 * place)?;
                    }
                }
            }
            for (variable, ty) in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    let value = self.value(ty)?;
                    self.b.def_var(variable, value);
                }
            }
            let left = self.b.use_var(fuel);
            let one = self.b.ins().iconst(Type::I32, 1);
            let left = self.b.ins().isub(left, one);
            self.b.def_var(fuel, left);
            let more = self.b.create_block();
            let zero = self.b.ins().iconst(Type::I32, 0);
            let has_fuel = self.b.ins().icmp(IntCC::Sgt, left, zero);
            self.b.ins().brif(has_fuel, more, &[], done, &[]);
            self.b.switch_to_block(more);
            self.terminator(&blocks, done)?;
        }
        self.b.switch_to_block(done);
        self.values = before;
        for (n, (variable, _)) in self.variables.clone().into_iter().enumerate() {
            let value = self.b.use_var(variable);
            self.write_own(value, 16 * n as i32)?;
        }
        self.b.ins().ret(&[]);
        Ok(())
    }

    pub(super) fn terminator(&mut self, blocks: &[(Block, Vec<Type>)], done: Block) -> Result<()> {
        match self.u.int_in_range(0..=9)? {
            0..=3 => {
                let (block, args) = self.target(blocks)?;
                self.b.ins().jump(block, &args);
            }
            4..=7 => {
                let cond = self.value(Type::I1)?;
                let (then, then_args) = self.target(blocks)?;
                let (other, else_args) = self.target(blocks)?;
                self.b.ins().brif(cond, then, &then_args, other, &else_args);
            }
            8 => {
                let value = self.value(Type::I32)?;
                let mask = self.b.ins().iconst(Type::I32, 7);
                let value = self.b.ins().band(value, mask);
                let default = self.target(blocks)?;
                let mut cases = Vec::new();
                for case in 0..self.u.int_in_range(0..=5)? {
                    cases.push((case, self.target(blocks)?));
                }
                let pool = &mut self.b.func_mut().dfg.pool;
                let default = BlockCall::new(default.0, &default.1, pool);
                let cases = cases
                    .into_iter()
                    .map(|(n, (block, args))| (n, BlockCall::new(block, &args, pool)))
                    .collect();
                self.b.ins().switch(value, default, cases);
            }
            _ => drop(self.b.ins().jump(done, &[])),
        }
        Ok(())
    }

    pub(super) fn target(&mut self, blocks: &[(Block, Vec<Type>)]) -> Result<(Block, Vec<Value>)> {
        let (block, types) = self.u.choose(blocks)?;
        let args = types.iter().map(|ty| self.value(*ty)).collect::<Result<_>>()?;
        Ok((*block, args))
    }
}
