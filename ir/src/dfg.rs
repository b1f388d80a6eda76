//! The data-flow graph of a function: instructions, values and block parameters, without their order.

use crate::attr::{Attr, Promise};
use crate::entities::{Block, Inst, JumpTable, Path, PtxRef, Value};
use crate::inst::{BlockCall, InstData, JumpTableData, ValueList, ValuePool};
use crate::ops::Opcode;
use crate::ptx::PtxData;
use crate::types::Type;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap};
use smallvec::SmallVec;
use std::ops::Index;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(Inst, u32),
    /// The n-th parameter of a block.
    Param(Block, u32),
    /// Another value, which replaces this one: see [`DataFlowGraph::replace_value`].
    Alias(Value),
    /// Nothing: a parameter that was taken off its block.
    Detached,
}

#[derive(Clone, Debug)]
struct ValueData {
    ty: Type,
    def: ValueDef,
}

/// The results of an instruction: values that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Results {
    first: u32,
    end: u32,
}

impl Results {
    const NONE: Results = Results { first: 0, end: 0 };

    /// The first result, for instructions that have one.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline]
    pub fn first(self) -> Value {
        self.get(0).expect("the instruction has a result")
    }

    /// The n-th result.
    #[inline]
    pub fn get(self, n: usize) -> Option<Value> {
        self.into_iter().nth(n)
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.first) as usize
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }
}

impl IntoIterator for Results {
    type Item = Value;
    type IntoIter = std::iter::Map<std::ops::Range<usize>, fn(usize) -> Value>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        (self.first as usize..self.end as usize).map(Value::new)
    }
}

/// The instructions, values and block parameters of a function.
#[derive(Clone, Default, Debug)]
pub struct DataFlowGraph {
    insts: PrimaryMap<Inst, InstData>,
    /// Instructions whose result, read as signed, is promised not to wrap.
    promised: EntitySet<Inst>,
    results: PrimaryMap<Inst, Results>,
    blocks: PrimaryMap<Block, ValueList>,
    values: PrimaryMap<Value, ValueData>,
    /// Values have been replaced by others.
    has_aliases: bool,
    /// The targets of each `switch`.
    pub jump_tables: PrimaryMap<JumpTable, JumpTableData>,
    /// The fields that lead to a part of an aggregate, from the outermost in.
    pub paths: PrimaryMap<Path, SmallVec<[u32; 4]>>,
    /// The operation and operand list of each table-derived instruction.
    pub ptx: PrimaryMap<PtxRef, PtxData>,
    /// Holds all value lists.
    pub pool: ValuePool,
}

impl Index<Inst> for DataFlowGraph {
    type Output = InstData;

    #[inline]
    fn index(&self, inst: Inst) -> &InstData {
        &self.insts[inst]
    }
}

impl DataFlowGraph {
    /// Makes a block, which is in no layout yet.
    pub fn make_block(&mut self) -> Block {
        self.blocks.push(ValueList::new())
    }

    /// An empty graph with room for so many instructions and values.
    pub(crate) fn with_capacity(insts: usize, values: usize) -> Self {
        DataFlowGraph {
            insts: PrimaryMap::with_capacity(insts),
            results: PrimaryMap::with_capacity(insts),
            values: PrimaryMap::with_capacity(values),
            ..DataFlowGraph::default()
        }
    }

    /// Adds an instruction whose results are, or will be, so many values from `first` on.
    pub(crate) fn push_inst(&mut self, data: InstData, first: Option<Value>, count: usize) -> Inst {
        let first = first.map_or(0, |value| value.as_u32());
        self.results.push(Results { first, end: first + count as u32 });
        self.insts.push(data)
    }

    /// Adds a block of parameters that are, or will be, values.
    pub(crate) fn push_block(&mut self, params: impl Iterator<Item = Value>) {
        let params = ValueList::from_iter(params, &mut self.pool);
        self.blocks.push(params);
    }

    /// Adds a value that is defined elsewhere.
    pub(crate) fn push_value(&mut self, ty: Type, def: ValueDef) {
        self.values.push(ValueData { ty, def });
    }

    /// Makes room for so many more instructions with a result each.
    pub fn reserve(&mut self, insts: usize) {
        self.insts.reserve(insts);
        self.results.reserve(insts);
        self.values.reserve(insts);
        if self.pool.capacity() == 0 {
            self.pool = ValuePool::with_capacity(insts);
        }
    }

    /// Makes an instruction with one result for each type; it is in no layout yet.
    #[inline]
    pub fn make_inst(&mut self, data: InstData, results: &[Type]) -> Inst {
        self.make_inst_and_results(data, results).0
    }

    /// [`DataFlowGraph::make_inst`], with the results.
    #[inline]
    pub(crate) fn make_inst_and_results(&mut self, data: InstData, types: &[Type]) -> (Inst, Results) {
        let inst = self.insts.push(data);
        let first = self.values.len() as u32;
        for (n, &ty) in types.iter().enumerate() {
            self.values.push(ValueData { ty, def: ValueDef::Result(inst, n as u32) });
        }
        let end = first + types.len() as u32;
        let results = if types.is_empty() { Results::NONE } else { Results { first, end } };
        self.results.push(results);
        (inst, results)
    }

    pub(crate) fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst]
    }

    /// Replaces the instruction; its results stay, so the new one must have the same. What was promised of the old one is not of the new one.
    pub fn replace_inst(&mut self, inst: Inst, data: InstData) {
        self.insts[inst] = data;
        self.promised.remove(inst);
    }

    /// True if what [can be promised](Opcode::promise) of an operation is.
    pub fn promised(&self, inst: Inst) -> bool {
        self.promised.contains(inst)
    }

    /// True if the result of a sum, a difference or a product, read as signed, is promised to be that of unbounded integers.
    pub fn no_signed_wrap(&self, inst: Inst) -> bool {
        self.promised(inst) && self.insts[inst].opcode().promise() == Some(Promise::NoSignedWrap)
    }

    /// True if an operation is a division by what is promised not to be 0.
    pub fn nonzero_divisor(&self, inst: Inst) -> bool {
        self.promised(inst) && self.insts[inst].opcode().promise() == Some(Promise::NonzeroDivisor)
    }

    /// True if a sum, a difference or a product of floats may be rounded once together with another that may.
    pub fn contracts(&self, inst: Inst) -> bool {
        self.promised(inst) && self.insts[inst].opcode().promise() == Some(Promise::Contract)
    }

    /// Promises what [can be promised](Opcode::promise) of an operation, or takes that back. Of others nothing is noted.
    pub fn set_promised(&mut self, inst: Inst, promised: bool) {
        if promised && self.insts[inst].opcode().promise().is_some() {
            self.promised.insert(inst);
        } else {
            self.promised.remove(inst);
        }
    }

    /// The number of instructions made, in the layout or not: the bound of [`Inst`] indices.
    #[inline]
    pub fn num_insts(&self) -> usize {
        self.insts.len()
    }

    /// The number of blocks made: the bound of [`Block`] indices.
    #[inline]
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The number of values made: the bound of [`Value`] indices.
    #[inline]
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Every value made.
    #[inline]
    pub fn values(&self) -> impl ExactSizeIterator<Item = Value> + use<> {
        (0..self.values.len()).map(Value::new)
    }

    /// The operation of an instruction.
    #[inline]
    pub fn opcode(&self, inst: Inst) -> Opcode {
        self.insts[inst].opcode()
    }

    /// The operands of an instruction, without the arguments of branch targets.
    #[inline]
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args(&self.pool)
    }

    /// The operands of an instruction, to be changed.
    #[inline]
    pub fn args_mut(&mut self, inst: Inst) -> &mut [Value] {
        self.insts[inst].args_mut(&mut self.pool)
    }

    /// The targets of a terminator in order: `then` before `else`, `default` before the cases. Empty for others.
    #[inline]
    pub fn targets(&self, inst: Inst) -> impl Iterator<Item = &BlockCall> + Clone {
        let (head, cases) = self.insts[inst].targets(&self.jump_tables);
        head.iter().chain(cases.iter().map(|(_, call)| call))
    }

    /// The n-th of the [targets](DataFlowGraph::targets) of a terminator.
    #[inline]
    pub fn target(&self, inst: Inst, n: usize) -> Option<&BlockCall> {
        let (head, cases) = self.insts[inst].targets(&self.jump_tables);
        head.get(n).or_else(|| cases.get(n - head.len()).map(|(_, call)| call))
    }

    /// The parameters of the block that an edge leads to, each with what the edge gives for it.
    #[inline]
    pub fn given(&self, edge: &BlockCall) -> impl ExactSizeIterator<Item = (Value, Value)> + Clone {
        self.block_params(edge.block).iter().copied().zip(edge.args(&self.pool).iter().copied())
    }

    /// Calls `change` on each target of a terminator, in the order of [`DataFlowGraph::targets`].
    pub fn for_each_target_mut(
        &mut self,
        inst: Inst,
        mut change: impl FnMut(&mut BlockCall, &mut ValuePool),
    ) {
        let pool = &mut self.pool;
        let (head, cases) = self.insts[inst].targets_mut(&mut self.jump_tables);
        head.iter_mut().chain(cases.iter_mut().map(|(_, call)| call)).for_each(|call| change(call, pool));
    }

    /// Calls `change` on one target of a terminator, by its number in [`DataFlowGraph::targets`].
    pub fn change_target(
        &mut self,
        inst: Inst,
        target: usize,
        mut change: impl FnMut(&mut BlockCall, &mut ValuePool),
    ) {
        let mut at = 0;
        self.for_each_target_mut(inst, |call, pool| {
            if at == target {
                change(call, pool);
            }
            at += 1;
        });
    }

    /// Every value an instruction uses: operands, then the arguments of its targets.
    #[inline]
    pub fn uses(&self, inst: Inst) -> impl Iterator<Item = Value> + '_ {
        let in_targets = self.targets(inst).flat_map(|call| call.args(&self.pool));
        self.args(inst).iter().chain(in_targets).copied()
    }

    /// Calls `each` on every value that [`DataFlowGraph::uses`] gives. Most instructions have no targets, which costs nothing here.
    #[inline]
    pub fn for_each_use(&self, inst: Inst, mut each: impl FnMut(Value)) {
        let data = &self.insts[inst];
        data.args(&self.pool).iter().for_each(|value| each(*value));
        if data.is_branch() {
            self.targets(inst).flat_map(|call| call.args(&self.pool)).for_each(|value| each(*value));
        }
    }

    /// Replaces every value an instruction uses.
    pub fn map_uses(&mut self, inst: Inst, mut map: impl FnMut(Value) -> Value) {
        self.args_mut(inst).iter_mut().for_each(|value| *value = map(*value));
        self.for_each_target_mut(inst, |call, pool| {
            call.args.as_mut_slice(pool).iter_mut().for_each(|value| *value = map(*value));
        });
    }

    /// Makes an instruction use what its values denote.
    pub fn resolve_uses(&mut self, inst: Inst) {
        let uses: SmallVec<[Value; 8]> = self.uses(inst).collect();
        if uses.iter().any(|value| matches!(self.def(*value), ValueDef::Alias(_))) {
            let resolved: SmallVec<[Value; 8]> = uses.iter().map(|value| self.resolve(*value)).collect();
            let mut resolved = resolved.into_iter();
            self.map_uses(inst, |value| resolved.next().unwrap_or(value));
        }
    }

    /// The results of an instruction.
    #[inline]
    pub fn results(&self, inst: Inst) -> Results {
        self.results[inst]
    }

    /// The first result of an instruction.
    #[inline]
    pub fn first_result(&self, inst: Inst) -> Option<Value> {
        let results = self.results[inst];
        if results.is_empty() { None } else { Some(Value::new(results.first as usize)) }
    }

    /// The type of a value; [`Type::INVALID`] for one that does not exist.
    #[inline]
    pub fn ty(&self, value: Value) -> Type {
        self.values.get(value).map_or(Type::INVALID, |data| data.ty)
    }

    /// Gives a value another type.
    pub fn set_ty(&mut self, value: Value, ty: Type) {
        self.values[value].ty = ty;
    }

    /// Where a value comes from; from nowhere if it does not exist.
    #[inline]
    pub fn def(&self, value: Value) -> ValueDef {
        self.values.get(value).map_or(ValueDef::Detached, |data| data.def)
    }

    /// The instruction that computes a value. `None` for block parameters.
    #[inline]
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.def(value) {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) | ValueDef::Alias(_) | ValueDef::Detached => None,
        }
    }

    /// The instruction data behind a value. `None` for block parameters.
    #[inline]
    pub fn def_data(&self, value: Value) -> Option<&InstData> {
        self.def_inst(value).map(|inst| &self.insts[inst])
    }

    /// The integer that a value is known to be, in the form of [`Type::normalize`].
    #[inline]
    pub fn int_const(&self, value: Value) -> Option<i64> {
        match self.def_data(value) {
            Some(&InstData::IntConst { value }) => Some(value),
            _ => None,
        }
    }

    /// The bits of the integer that a value is known to be, zeros above its width.
    pub fn int_bits(&self, value: Value) -> Option<u128> {
        match self.def_data(value) {
            Some(&InstData::IntConst { value: number }) => {
                Some(number as i128 as u128 & u128::MAX >> (128 - self.ty(value).bits().clamp(1, 128)))
            }
            Some(InstData::List { attr: Attr::Wide(bits), .. }) => Some(**bits),
            _ => None,
        }
    }

    /// The bits of the float that a value is known to be.
    pub fn float_const(&self, value: Value) -> Option<u64> {
        match self.def_data(value) {
            Some(&InstData::FloatConst { bits }) => Some(bits),
            _ => None,
        }
    }

    /// The parameters of a block; none for one that does not exist.
    #[inline]
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.blocks.get(block).map_or(&[], |params| params.as_slice(&self.pool))
    }

    /// True for a block of this function.
    #[inline]
    pub fn has_block(&self, block: Block) -> bool {
        self.blocks.is_valid(block)
    }

    /// True if an instruction uses nothing but values and blocks of this function.
    #[inline]
    pub(crate) fn has_operands(&self, data: &InstData) -> bool {
        let has = |values: &[Value]| values.iter().all(|value| self.has_value(*value));
        let (head, cases) = data.targets(&self.jump_tables);
        let mut calls = head.iter().chain(cases.iter().map(|(_, call)| call));
        has(data.args(&self.pool))
            && (head.is_empty() || calls.all(|call| self.has_block(call.block) && has(call.args(&self.pool))))
    }

    /// True for a value of this function.
    #[inline]
    pub fn has_value(&self, value: Value) -> bool {
        self.values.is_valid(value)
    }

    /// Makes a parameter that belongs to no block yet.
    pub fn make_detached_param(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty, def: ValueDef::Detached })
    }

    /// Makes a detached value the last parameter of a block.
    pub fn attach_block_param(&mut self, block: Block, value: Value) {
        let position = self.blocks[block].push(value, &mut self.pool);
        self.values[value].def = ValueDef::Param(block, position as u32);
    }

    /// Adds a parameter to a block.
    pub fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        let value = self.make_detached_param(ty);
        self.attach_block_param(block, value);
        value
    }

    /// Takes the n-th parameter off a block; the branches to it are the caller's to change.
    pub fn remove_block_param(&mut self, block: Block, n: usize) {
        let removed = self.blocks[block].get(n, &self.pool);
        self.blocks[block].remove(n, &mut self.pool);
        for (position, value) in self.blocks[block].as_slice(&self.pool).iter().enumerate().skip(n) {
            self.values[*value].def = ValueDef::Param(block, position as u32);
        }
        if let Some(value) = removed {
            self.values[value].def = ValueDef::Detached;
        }
    }

    /// Makes a value denote another, everywhere. The uses are rewritten by [`DataFlowGraph::resolve_aliases`], which must
    /// run before the function is verified or printed; until then [`DataFlowGraph::resolve`] sees through.
    ///
    /// A replaced block parameter must be taken off its block, a replaced result's instruction out of the layout.
    pub fn replace_value(&mut self, value: Value, by: Value) {
        let by = self.resolve(by);
        if by != value {
            self.values[value].def = ValueDef::Alias(by);
            self.has_aliases = true;
        }
    }

    /// The value that a value denotes.
    #[inline]
    pub fn resolve(&self, mut value: Value) -> Value {
        // `replace_value` resolves its target first, so chains have no cycle.
        while let ValueDef::Alias(next) = self.def(value) {
            value = next;
        }
        value
    }

    /// Makes every instruction use what its values denote.
    pub fn resolve_aliases(&mut self) {
        if !self.has_aliases {
            return;
        }
        // Shorten the chains first, so that each use takes one step.
        for value in self.values() {
            if !matches!(self.values[value].def, ValueDef::Alias(_)) {
                continue;
            }
            let to = self.resolve(value);
            // All of the chain, so that no part of it is walked again.
            let mut at = value;
            while let ValueDef::Alias(next) = self.values[at].def {
                self.values[at].def = ValueDef::Alias(to);
                if next == to {
                    break;
                }
                at = next;
            }
        }
        let DataFlowGraph { insts, values, jump_tables, pool, .. } = self;
        let resolve = |value: &mut Value| {
            if let Some(&ValueData { def: ValueDef::Alias(to), .. }) = values.get(*value) {
                *value = to;
            }
        };
        for data in insts.values_mut() {
            data.args_mut(pool).iter_mut().for_each(resolve);
            if data.is_branch() {
                let (head, cases) = data.targets_mut(jump_tables);
                for call in head.iter_mut().chain(cases.iter_mut().map(|(_, call)| call)) {
                    call.args.as_mut_slice(pool).iter_mut().for_each(resolve);
                }
            }
        }
    }
}
