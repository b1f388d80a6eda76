//! Functions of a module, and calls of them: of values of every type, and of blocks of memory by value.

use super::memory::HANDED_BYTES;
use super::values::Flavour;
use super::{Config, Generator};
use crate::{BYTES_PER_THREAD, INPUT_BYTES};
use arbitrary::{Result, Unstructured};
use warpsmith_ir::{FuncId, InstBuilder, MemFlags, Param, Type, Value};

/// What a function takes and returns. Structs are more often among it than among values: how they are passed is a matter of its own.
pub(super) fn signature(
    u: &mut Unstructured,
    config: &Config,
    flavour: &Flavour,
) -> Result<(Vec<Param>, Type)> {
    let aggregates: Vec<Type> = flavour.types.iter().copied().filter(|ty| ty.is_aggregate()).collect();
    let any = |u: &mut Unstructured| -> Result<Type> {
        let some = if !aggregates.is_empty() && u.ratio(1, 3)? { &aggregates } else { &flavour.types };
        Ok(*u.choose(some)?)
    };
    let mut params = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        if config.memory && u.ratio(1, 6)? {
            let align = *u.choose(&[1u32, 2, 4, 8])?;
            params.push(Param::byval(align * u.int_in_range(1..=5)?, align));
        } else {
            params.push(Param::new(any(u)?));
        }
    }
    // What a function does to memory of others is not seen in its results.
    if config.memory && u.ratio(1, 3)? {
        for _ in 0..u.int_in_range(1..=2)? {
            params.push(Param::new(*u.choose(&[Type::PTR_GLOBAL, Type::PTR, Type::PTR])?));
        }
    }
    let ret = match u.int_in_range(0..=3)? {
        0 | 1 => Type::I32,
        2 => any(u)?,
        _ if aggregates.is_empty() => any(u)?,
        _ => *u.choose(&aggregates)?,
    };
    Ok((params, ret))
}

impl Generator<'_, '_, '_> {
    /// The body of a function. What it returns follows from all that it was given, where that is a number.
    pub(super) fn helper(&mut self, ret: Type) -> Result<()> {
        let entry = self.b.entry_block();
        let digest = self.b.declare_var(Type::I64);
        let zero = self.b.ins().iconst(Type::I64, 0);
        self.b.def_var(digest, zero);
        self.digest = Some(digest);
        let params = self.b.func().params.clone();
        let mut blocks = Vec::new();
        for (param, value) in params.iter().zip(self.b.block_params(entry).to_vec()) {
            match param.byval {
                Some((size, align)) => {
                    self.read_block(value, size, align)?;
                    blocks.push((value, size, align));
                }
                None if param.ty.is_ptr() => self.handed.push(value),
                None => self.values.push(value),
            }
        }
        if !self.handed.is_empty() {
            self.handed_access()?;
        }
        for (block, size, align) in blocks {
            self.read_somewhere(block, size, align)?;
        }
        for value in self.values.clone() {
            self.show(value);
        }
        let known = self.values.len();
        self.instructions()?;
        self.show_some(known)?;
        let mut result = self.value(ret)?;
        if ret.is_int() && ret.bits() <= 64 {
            let mut shown = self.b.use_var(digest);
            if ret.bits() < 64 {
                let high = self.b.ins().lshr_imm(shown, 64 - ret.bits());
                shown = self.b.ins().bxor(shown, high);
                shown = self.b.ins().trunc(ret, shown);
            }
            result = self.b.ins().bxor(result, shown);
        }
        self.b.ins().ret(&[result]);
        Ok(())
    }

    /// The words of a block that was passed by value, each as wide as it is aligned.
    fn read_block(&mut self, block: Value, size: u32, align: u32) -> Result<()> {
        let Some(ty) = Type::int(8 * align) else { return Ok(()) };
        for n in 0..size / align {
            let mut flags = MemFlags::PLAIN;
            // Nothing writes what was passed.
            flags.invariant = self.u.ratio(1, 2)?;
            let value = self.b.ins().load(ty, flags, block, (n * align) as i32);
            self.values.push(value);
        }
        Ok(())
    }

    /// A word of such a block at an index.
    fn read_somewhere(&mut self, block: Value, size: u32, align: u32) -> Result<()> {
        let words = 1 << (size / align).ilog2();
        let Some(ty) = Type::int(8 * align).filter(|_| words > 1) else { return Ok(()) };
        if self.u.ratio(1, 2)? {
            return Ok(());
        }
        let index = self.value(Type::I32)?;
        let index = self.b.ins().band_imm(index, words - 1);
        let at = self.b.ins().index(block, index, align as i32);
        let mut flags = MemFlags::PLAIN;
        flags.invariant = self.u.ratio(1, 2)?;
        let value = self.b.ins().load(ty, flags, at, 0);
        self.values.push(value);
        Ok(())
    }

    /// A call of one of the functions, by its name or its address.
    pub(super) fn call(&mut self) -> Result<()> {
        let callee = *self.u.choose(self.helpers)?;
        self.call_of(callee)
    }

    pub(super) fn call_of(&mut self, callee: FuncId) -> Result<()> {
        let params = self.b.module().functions[callee].params.clone();
        let by_value = params.iter().any(|param| param.byval.is_some());
        if by_value && self.pointers.is_none() {
            return self.regular();
        }
        // What a call through an address passes has to be the same for all functions that it could reach: a struct may be as large as a block.
        let others = self.b.module().functions.values().map(|function| &function.params);
        let mut by_block = others.filter(|others| others.iter().any(|param| param.byval.is_some()));
        let by_name = by_block.any(|others| others.len() == params.len());
        let (mut args, mut handed) = (Vec::new(), None);
        for param in params {
            args.push(match param.byval {
                Some((size, align)) => self.block_to_pass(size, align)?,
                None if param.ty.is_ptr() => {
                    handed = self.address_to_hand(param.ty)?;
                    match handed {
                        Some(address) => address,
                        None => return self.regular(),
                    }
                }
                None => self.value(param.ty)?,
            });
        }
        // A word that is written before the call and read after it, between which the function may have written it.
        let mut word = 0;
        if let Some(address) = handed {
            word = 4 * self.u.int_in_range(0..=HANDED_BYTES / 4 - 1)? as i32;
            if self.u.ratio(1, 2)? {
                let value = self.value(Type::I32)?;
                self.b.ins().store(MemFlags::PLAIN, value, address, word);
            }
        }
        let results = match self.config.special && !by_name && self.u.ratio(1, 4)? {
            true => {
                let address = self.b.ins().func_addr(callee);
                let ret = self.b.module().functions[callee].ret.first().copied();
                self.b.ins().call_indirect(address, ret.as_slice(), &args)
            }
            false => self.b.call(callee, &args),
        };
        if let Some(address) = handed {
            let value = self.b.ins().load(Type::I32, MemFlags::PLAIN, address, word);
            self.show(value);
            self.values.push(value);
        }
        self.values.extend(results);
        Ok(())
    }

    /// The sum of the integers that a function returns, of a struct if one does. `None` if it returns none.
    pub(super) fn called_fields(&mut self) -> Result<Option<Value>> {
        let known = self.values.len();
        let functions = &self.b.module().functions;
        let returns_fields = |id: &FuncId| functions[*id].ret.iter().any(|ty| ty.is_aggregate());
        let with_fields: Vec<FuncId> = self.helpers.iter().copied().filter(returns_fields).collect();
        match with_fields.is_empty() {
            true => self.call()?,
            false => {
                let callee = *self.u.choose(&with_fields)?;
                self.call_of(callee)?;
            }
        }
        let mut sum: Option<Value> = None;
        for n in known..self.values.len() {
            for leaf in self.leaves(self.values[n]) {
                sum = self.plus(sum, leaf);
            }
        }
        Ok(sum)
    }

    /// The address of bytes that are there, to be passed by value.
    fn block_to_pass(&mut self, size: u32, align: u32) -> Result<Value> {
        let Some(pointers) = self.pointers else { return self.value(Type::I64) };
        let step = size.next_power_of_two().max(align);
        match (self.u.int_in_range(0..=2)?, pointers.slot) {
            (0, Some(slot)) if step <= 64 => {
                let base = self.b.ins().stack_addr(slot, 0);
                self.random_place(base, step, 64)
            }
            (1, _) => self.random_place(pointers.own, step, BYTES_PER_THREAD),
            _ => self.random_place(pointers.input, step, INPUT_BYTES),
        }
    }
}
