//! Copies of blocks within their function.

use smallvec::SmallVec;
use warpsmith_base::FxHashMap;
use warpsmith_ir::debug::Binding;
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Type, Value, ValueList, ValuePool};

/// What a copy is made of.
#[derive(Default)]
pub(super) struct Copied {
    /// The copy of each block.
    pub blocks: FxHashMap<Block, Block>,
    /// The copy of each value that the blocks define.
    pub values: FxHashMap<Value, Value>,
}

/// Copies blocks behind another. Edges among them lead to copies, other edges where they led; a value from outside stays itself.
pub(super) fn copy_blocks(func: &mut Function, blocks: &[Block], after: Block) -> Copied {
    let mut copied = Copied::default();
    let size = blocks.iter().map(|&block| func.layout.insts(block).count()).sum();
    let mut insts: Vec<(Inst, Inst, Block)> = Vec::with_capacity(size);
    copied.values.reserve(size);
    copied.blocks.reserve(blocks.len());
    let mut after = after;
    for &block in blocks {
        let new = func.dfg.make_block();
        func.layout.insert_block_after(new, after);
        after = new;
        copied.blocks.insert(block, new);
        func.loop_hints[new] = func.loop_hints[block];
        for param in func.dfg.block_params(block).to_vec() {
            let value = func.dfg.append_block_param(new, func.dfg.ty(param));
            copied.values.insert(param, value);
        }
        let mut next = func.layout.first_inst(block);
        while let Some(inst) = next {
            next = func.layout.next_inst(inst);
            let types: SmallVec<[Type; 4]> =
                func.dfg.results(inst).into_iter().map(|value| func.dfg.ty(value)).collect();
            let made = func.dfg.make_inst(InstData::Trap, &types);
            for (value, copy) in func.dfg.results(inst).into_iter().zip(func.dfg.results(made)) {
                copied.values.insert(value, copy);
            }
            insts.push((inst, made, new));
        }
    }
    func.spans.resize(func.dfg.num_insts());
    func.inst_locs.resize(func.dfg.num_insts());
    for (inst, made, to) in insts {
        let data = copied.data(func, inst);
        func.dfg.replace_inst(made, data);
        if func.dfg.promised(inst) {
            func.dfg.set_promised(made, true);
        }
        func.spans[made] = func.spans[inst];
        func.inst_locs[made] = func.inst_locs[inst];
        for binding in func.layout.records(inst).to_vec() {
            let Some(debug) = &mut func.debug else { continue };
            let mut data: Binding = debug.bindings[binding];
            data.storage = data.storage.map(|value| copied.value(func.dfg.resolve(value)));
            let binding = debug.bindings.push(data);
            func.layout.bind_at_end(to, binding);
        }
        func.layout.append_inst(made, to);
    }
    copied
}

impl Copied {
    /// The copy of a value, or itself.
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn list(&self, list: &ValueList, pool: &mut ValuePool) -> ValueList {
        let mut list = list.deep_clone(pool);
        list.as_mut_slice(pool).iter_mut().for_each(|value| *value = self.value(*value));
        list
    }

    /// A target as a copy has it.
    pub fn target(&self, call: &BlockCall, pool: &mut ValuePool) -> BlockCall {
        let block = self.blocks.get(&call.block).copied().unwrap_or(call.block);
        BlockCall { block, args: self.list(&call.args, pool) }
    }

    fn data(&self, func: &mut Function, inst: Inst) -> InstData {
        let mut data = func.dfg[inst].clone();
        match &mut data {
            InstData::Vec { args }
            | InstData::Aggregate { args }
            | InstData::Call { args, .. }
            | InstData::CallIndirect { args }
            | InstData::Return { args }
            | InstData::List { args, .. } => *args = self.list(args, &mut func.dfg.pool),
            InstData::Ptx { data, args } => {
                let new = func.dfg.ptx.push(func.dfg.ptx[*data].clone());
                func.ptx_spans[new] = func.ptx_spans[*data].clone();
                (*data, *args) = (new, self.list(args, &mut func.dfg.pool));
            }
            InstData::Jump { dest } => *dest = self.target(dest, &mut func.dfg.pool),
            InstData::Brif { cond, dests } => {
                *cond = self.value(*cond);
                dests.iter_mut().for_each(|dest| *dest = self.target(dest, &mut func.dfg.pool));
            }
            InstData::Switch { arg, table } => {
                let mut new = func.dfg.jump_tables[*table].clone();
                let pool = &mut func.dfg.pool;
                new.default = self.target(&new.default, pool);
                new.cases.iter_mut().for_each(|(_, call)| *call = self.target(call, pool));
                (*arg, *table) = (self.value(*arg), func.dfg.jump_tables.push(new));
            }
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. } => {
                let args = data.args_mut(&mut func.dfg.pool);
                args.iter_mut().for_each(|arg| *arg = self.value(*arg));
            }
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Zero
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Sreg { .. }
            | InstData::Trap => {}
        }
        data
    }
}
