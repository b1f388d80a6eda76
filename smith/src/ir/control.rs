//! The graph of blocks that a thread walks.

use super::{Generator, Local};
use arbitrary::Result;
use warpsmith_ir::{Block, BlockCall, InstBuilder, IntCC, MemFlags, Type, Value, Variable};

impl Generator<'_, '_, '_> {
    /// Random blocks with random edges. A thread pays one unit of fuel for each block.
    pub(super) fn graph(&mut self, fuel: Variable) -> Result<()> {
        let count = self.u.int_in_range(1..=self.config.blocks.max(1))?;
        let mut blocks: Vec<(Block, Vec<Type>)> = Vec::new();
        for _ in 0..count {
            let block = self.b.create_block();
            let types = (0..self.u.int_in_range(0..=2)?).map(|_| self.u.choose(&self.flavour.types).copied());
            let types = types.collect::<Result<Vec<Type>>>()?;
            for ty in &types {
                self.b.append_block_param(block, *ty);
            }
            blocks.push((block, types));
        }
        let done = self.b.create_block();
        // An element that is read behind all loops, by an index that is known in front of them.
        let late = match self.pointers {
            Some(pointers) if self.u.ratio(1, 2)? => {
                let index = self.value(Type::I32)?;
                Some((
                    pointers.input,
                    match self.u.ratio(1, 2)? {
                        true => self.b.ins().ashr_imm(index, 25),
                        false => {
                            let index = self.b.ins().band_imm(index, 127);
                            self.b.ins().isub_imm(index, 64)
                        }
                    },
                ))
            }
            Some(_) | None => None,
        };
        self.terminator(&blocks, done)?;
        let before = self.values.clone();
        for (block, _) in &blocks {
            self.b.switch_to_block(*block);
            // What was computed before the graph dominates all of it.
            self.values = before.clone();
            self.values.extend(self.b.block_params(*block).to_vec());
            for local in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    let value = self.b.use_var(local.variable);
                    self.values.push(value);
                }
            }
            let known = self.values.len();
            self.instructions()?;
            self.show_some(known)?;
            // Some shows as it is, in memory that other accesses reach.
            for place in 8..self.u.int_in_range(8..=11)? {
                if let Some(value) = self.values[known..].len().checked_sub(1) {
                    let value = self.values[known + self.u.int_in_range(0..=value)?];
                    if self.b.func().dfg.ty(value).bits() <= 128 {
                        self.write_own(value, 16 * place)?;
                    }
                }
            }
            for local in self.variables.clone() {
                if self.u.ratio(1, 2)? {
                    self.define(local)?;
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
        for (n, local) in self.variables.clone().into_iter().enumerate() {
            let value = self.b.use_var(local.variable);
            self.write_own(value, 16 * n as i32)?;
        }
        if let Some((input, index)) = late {
            let place = self.b.ins().index(input, index, 8);
            let value = self.b.ins().load(Type::I64, MemFlags::PLAIN, place, 8 * 64);
            self.write_own(value, 16 * 7 + 8)?;
        }
        self.write_digest();
        self.b.ins().ret(&[]);
        Ok(())
    }

    pub(super) fn terminator(&mut self, blocks: &[(Block, Vec<Type>)], done: Block) -> Result<()> {
        match self.u.int_in_range(0..=9)? {
            0..=2 => {
                let (block, args) = self.target(blocks)?;
                self.b.ins().jump(block, &args);
            }
            4..=7 => {
                let cond = self.condition()?;
                let (then, then_args) = self.target(blocks)?;
                let (other, else_args) = self.target(blocks)?;
                self.b.ins().brif(cond, then, &then_args, other, &else_args);
            }
            3 | 8 => self.switch(blocks)?,
            _ => drop(self.b.ins().jump(done, &[])),
        }
        Ok(())
    }

    /// A truth that is there, or a comparison of its own, maybe negated.
    pub(super) fn condition(&mut self) -> Result<Value> {
        let mut cond = self.value(Type::I1)?;
        if self.u.ratio(1, 2)? {
            let integers = self.flavour.types.iter().copied().filter(|ty| ty.is_int());
            let integers: Vec<Type> = integers.collect();
            let ty = *self.u.choose(&integers)?;
            let (x, y) = (self.value(ty)?, self.value(ty)?);
            cond = self.b.ins().icmp(*self.u.choose(IntCC::ALL)?, x, y);
        }
        if self.u.ratio(1, 4)? {
            cond = self.b.ins().bnot(cond);
        }
        Ok(cond)
    }

    /// Cases one behind the other, or far apart; mostly of a value that meets some.
    fn switch(&mut self, blocks: &[(Block, Vec<Type>)]) -> Result<()> {
        let integers = self.flavour.types.iter().copied().filter(|ty| ty.is_int() && ty.bits() > 4);
        let integers: Vec<Type> = integers.collect();
        let ty = *self.u.choose(&integers)?;
        let (dense, count) = (self.u.ratio(1, 2)?, self.u.int_in_range(1..=14)?);
        let first: i64 = if self.u.ratio(1, 2)? { 0 } else { self.u.int_in_range(-100..=100)? };
        let mut numbers = Vec::new();
        for n in 0..count {
            let number = match dense {
                true => first + n,
                false => first + n * n * self.u.int_in_range(1..=40)?,
            };
            let number = ty.normalize(number);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let mut value = self.value(ty)?;
        let fixed = self.variables.iter().find(|local| local.ty == ty && local.always.is_some());
        if let Some(&Local { variable, always: Some(number), .. }) = fixed
            && self.u.ratio(1, 2)?
        {
            value = self.b.use_var(variable);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        } else if dense && self.u.ratio(7, 8)? {
            let (mask, least) = (self.b.ins().iconst(ty, 15), self.b.ins().iconst(ty, first - 2));
            value = self.b.ins().band(value, mask);
            value = self.b.ins().iadd(value, least);
        } else if let (Some(&number), true) = (numbers.last(), self.u.ratio(1, 2)?) {
            let (number, is_it) = (self.b.ins().iconst(ty, number), self.value(Type::I1)?);
            value = self.b.ins().select(is_it, number, value);
        }
        let default = self.target(blocks)?;
        let mut cases = Vec::new();
        for number in numbers {
            cases.push((number, self.target(blocks)?));
        }
        let pool = &mut self.b.func_mut().dfg.pool;
        let default = BlockCall::new(default.0, &default.1, pool);
        let cases =
            cases.into_iter().map(|(n, (block, args))| (n, BlockCall::new(block, &args, pool))).collect();
        self.b.ins().switch(value, default, cases);
        Ok(())
    }

    pub(super) fn target(&mut self, blocks: &[(Block, Vec<Type>)]) -> Result<(Block, Vec<Value>)> {
        let (block, types) = self.u.choose(blocks)?;
        let args = types.iter().map(|ty| self.value(*ty)).collect::<Result<_>>()?;
        Ok((*block, args))
    }
}
