//! Functions without what passes have left behind: instructions, values and blocks that are not in the layout keep their numbers, and so every
//! table that has a place for each number grows, until they are compacted away.

use crate::dfg::{DataFlowGraph, ValueDef};
use crate::entities::{Block, Inst, Value};
use crate::function::Function;
use crate::inst::{BlockCall, InstData, JumpTableData, ValueList, ValuePool};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

/// Which number each thing had before a function was compacted. They are in the order that they were in.
#[derive(Debug)]
pub struct Compacted {
    /// Of each instruction.
    pub insts: PrimaryMap<Inst, Inst>,
    /// Of each value.
    pub values: PrimaryMap<Value, Value>,
}

/// New numbers by old ones.
struct Numbers {
    insts: Vec<PackedOption<Inst>>,
    values: Vec<PackedOption<Value>>,
    blocks: Vec<PackedOption<Block>>,
    old_insts: PrimaryMap<Inst, Inst>,
    old_values: PrimaryMap<Value, Value>,
    old_blocks: PrimaryMap<Block, Block>,
}

impl Numbers {
    fn of(func: &Function) -> Numbers {
        let (dfg, layout) = (&func.dfg, &func.layout);
        let mut numbers = Numbers {
            insts: Vec::with_capacity(dfg.num_insts()),
            values: Vec::with_capacity(dfg.num_values()),
            blocks: Vec::with_capacity(dfg.num_blocks()),
            old_insts: PrimaryMap::with_capacity(layout.num_insts()),
            old_values: PrimaryMap::with_capacity(layout.num_insts()),
            old_blocks: PrimaryMap::new(),
        };
        for block in (0..dfg.num_blocks()).map(Block::new) {
            let kept = layout.is_block_inserted(block).then(|| numbers.old_blocks.push(block));
            numbers.blocks.push(kept.into());
        }
        for inst in (0..dfg.num_insts()).map(Inst::new) {
            let kept = layout.block_of(inst).map(|_| numbers.old_insts.push(inst));
            numbers.insts.push(kept.into());
        }
        for value in dfg.values() {
            let kept = match dfg.def(value) {
                ValueDef::Result(inst, _) => numbers.insts[inst.index()].is_some(),
                ValueDef::Param(block, _) => numbers.blocks[block.index()].is_some(),
                ValueDef::Alias(_) | ValueDef::Detached => false,
            };
            numbers.values.push(kept.then(|| numbers.old_values.push(value)).into());
        }
        numbers
    }

    fn value(&self, value: Value) -> Option<Value> {
        self.values.get(value.index())?.expand()
    }

    fn block(&self, block: Block) -> Option<Block> {
        self.blocks.get(block.index())?.expand()
    }

    /// Whether all that the instructions name has a new number: blocks that nothing reaches may use what is gone.
    fn are_complete(&self, dfg: &DataFlowGraph) -> bool {
        self.old_insts.values().all(|&inst| {
            let mut all = true;
            dfg.for_each_use(inst, |value| all &= self.value(value).is_some());
            all && dfg.targets(inst).all(|call| self.block(call.block).is_some())
        })
    }

    /// A value that has a new number.
    fn kept(&self, value: Value) -> Value {
        self.value(value).unwrap_or(value)
    }

    fn list(&self, list: &ValueList, from: &ValuePool, to: &mut ValuePool) -> ValueList {
        ValueList::from_iter(list.as_slice(from).iter().map(|value| self.kept(*value)), to)
    }

    fn call(&self, call: &BlockCall, from: &ValuePool, to: &mut ValuePool) -> BlockCall {
        let block = self.block(call.block).unwrap_or(call.block);
        BlockCall { block, args: self.list(&call.args, from, to) }
    }

    /// Makes the instruction name what has new numbers, in the lists of the new graph. Copies of an instruction share paths and what `ptx.` instructions
    /// name, so these are cloned.
    fn change(&self, data: &mut InstData, old: &mut DataFlowGraph, new: &mut DataFlowGraph) {
        match data {
            InstData::Vec { args }
            | InstData::Aggregate { args }
            | InstData::Call { args, .. }
            | InstData::CallIndirect { args }
            | InstData::Ptx { args, .. }
            | InstData::Return { args }
            | InstData::List { args, .. } => *args = self.list(args, &old.pool, &mut new.pool),
            InstData::Jump { dest } => *dest = self.call(dest, &old.pool, &mut new.pool),
            InstData::Brif { cond, dests } => {
                *cond = self.kept(*cond);
                dests.iter_mut().for_each(|dest| *dest = self.call(dest, &old.pool, &mut new.pool));
            }
            InstData::Switch { arg, table } => {
                let JumpTableData { default, cases } = &old.jump_tables[*table];
                let mut call = |was: &BlockCall| self.call(was, &old.pool, &mut new.pool);
                let default = call(default);
                let cases = cases.iter().map(|(case, to)| (*case, call(to))).collect();
                *arg = self.kept(*arg);
                *table = new.jump_tables.push(JumpTableData { default, cases });
            }
            InstData::ExtractValue { path, arg } => {
                *arg = self.kept(*arg);
                *path = new.paths.push(old.paths[*path].clone());
            }
            InstData::InsertValue { path, args } => {
                args.iter_mut().for_each(|arg| *arg = self.kept(*arg));
                *path = new.paths.push(old.paths[*path].clone());
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
            | InstData::MemBlock { .. } => {
                data.args_mut(&mut old.pool).iter_mut().for_each(|arg| *arg = self.kept(*arg));
            }
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::StackAddr { .. }
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Zero
            | InstData::Sreg { .. }
            | InstData::Trap => {}
        }
    }
}

/// A table in the order of the new numbers, as far as it says anything.
pub(crate) fn renumbered<K: EntityRef, V: Clone + Default>(
    old: &SecondaryMap<K, V>,
    numbers: &PrimaryMap<K, K>,
) -> SecondaryMap<K, V> {
    let mut new: SecondaryMap<K, V> = SecondaryMap::new();
    new.resize(numbers.values().take_while(|number| old.get(**number).is_some()).count());
    new.values_mut().zip(numbers.values()).for_each(|(value, number)| value.clone_from(&old[*number]));
    new
}

impl Function {
    /// Forgets the instructions, values and blocks that are not in the layout and gives those that are new numbers, in the same order. `None`, and
    /// nothing has changed, for a function with debug information, which may name what is gone, and for one with blocks that use what is gone.
    ///
    /// No value may denote another: [`DataFlowGraph::resolve_aliases`] comes first.
    pub fn compact(&mut self) -> Option<Compacted> {
        if self.debug.is_some() || !self.layout.has_no_records() {
            return None;
        }
        let numbers = Numbers::of(self);
        if !numbers.are_complete(&self.dfg) {
            return None;
        }
        let mut old = std::mem::take(&mut self.dfg);
        let old_spans = std::mem::take(&mut self.ptx_spans);
        let mut dfg = DataFlowGraph::with_capacity(numbers.old_insts.len(), numbers.old_values.len());
        for &was in numbers.old_insts.values() {
            let mut data = std::mem::replace(old.inst_mut(was), InstData::Trap);
            if let InstData::Ptx { data, .. } = &mut data {
                let new = dfg.ptx.push(old.ptx[*data].clone());
                if let Some(spans) = old_spans.get(*data) {
                    self.ptx_spans[new] = spans.clone();
                }
                *data = new;
            }
            numbers.change(&mut data, &mut old, &mut dfg);
            let results = old.results(was);
            let first = old.first_result(was).map(|value| numbers.kept(value));
            let inst = dfg.push_inst(data, first, results.len());
            if old.promised(was) {
                dfg.set_promised(inst, true);
            }
        }
        for &was in numbers.old_blocks.values() {
            let params = old.block_params(was).iter().map(|value| numbers.kept(*value));
            dfg.push_block(params);
        }
        for &was in numbers.old_values.values() {
            let def = match old.def(was) {
                ValueDef::Result(inst, n) => {
                    numbers.insts[inst.index()].expand().map(|inst| ValueDef::Result(inst, n))
                }
                ValueDef::Param(block, n) => numbers.block(block).map(|block| ValueDef::Param(block, n)),
                ValueDef::Alias(_) | ValueDef::Detached => None,
            };
            dfg.push_value(old.ty(was), def.unwrap_or(ValueDef::Detached));
        }
        self.dfg = dfg;
        self.layout.renumber(&numbers.old_blocks, &numbers.old_insts, &numbers.blocks, &numbers.insts);
        self.names.renumber(&numbers.old_values, &numbers.old_blocks);
        self.spans = renumbered(&self.spans, &numbers.old_insts);
        self.inst_locs = renumbered(&self.inst_locs, &numbers.old_insts);
        self.block_spans = renumbered(&self.block_spans, &numbers.old_blocks);
        self.loop_hints = renumbered(&self.loop_hints, &numbers.old_blocks);
        Some(Compacted { insts: numbers.old_insts, values: numbers.old_values })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Function, InstBuilder, Module, Traits, ValueDef, parse_module, verify};

    const TEXT: &str = "kernel @k(%p: ptr<global>, %n: i32) {
entry:
  %unused = imul %n, %n
  %pair = aggregate.{i32, i32} %n, %unused
  %first = extract_value.i32 %pair, 0
  %other = insert_value %pair, %n, 1
  %sum = ptx.mad.lo.s32 %first, 3, %n
  %more = iadd %sum, %n
  switch %n, out(%sum), [1: one(%n), 2: two]
one(%x: i32):
  store.i32 %x, %p
  jump out(%x)
two:
  %q = icmp slt %n, %sum
  brif %q, out(%sum), one(%sum)
out(%r: i32):
  store.i32 %r, %p + 4
  ret
}
";

    fn parsed() -> Module {
        parse_module(TEXT).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn without_unused(func: &mut Function) {
        for _ in 0..4 {
            let insts: Vec<_> = func.layout.blocks().flat_map(|block| func.layout.insts(block)).collect();
            let used: Vec<_> = insts.iter().flat_map(|inst| func.dfg.uses(*inst)).collect();
            for inst in insts {
                let is_used = func.dfg.results(inst).into_iter().any(|value| used.contains(&value));
                if !is_used && func.traits(inst).is_removable() {
                    func.layout.remove_inst(inst);
                }
            }
        }
    }

    #[test]
    fn says_the_same_with_fewer_numbers() {
        let mut module = parsed();
        let func = module.functions.values_mut().next().unwrap();
        let sum = func.dfg.values().find(|value| func.names.get(*value) == Some("sum")).unwrap();
        let ValueDef::Result(sum, _) = func.dfg.def(sum) else { panic!("a result") };
        assert!(!func.traits(sum).contains(Traits::SIDE_EFFECT));
        let made = func.dfg.num_insts();
        without_unused(func);
        let (before, left) = (module.to_string(), made - 2);
        let func = module.functions.values_mut().next().unwrap();
        let old = func.compact().unwrap();
        assert_eq!((func.dfg.num_insts(), func.layout.num_insts(), old.insts.len()), (left, left, left));
        assert!(old.insts.values().is_sorted() && old.values.values().is_sorted());
        assert_eq!(module.to_string(), before);
        verify(&module).unwrap();
    }

    #[test]
    fn copies_share_what_they_name() {
        let mut module = parsed();
        let func = module.functions.values_mut().next().unwrap();
        let entry = func.layout.blocks().next().unwrap();
        let insts: Vec<_> = func.layout.insts(entry).collect();
        let last = func.terminator(entry).unwrap();
        for inst in insts.into_iter().filter(|inst| *inst != last) {
            let types: Vec<_> = func.dfg.results(inst).into_iter().map(|value| func.dfg.ty(value)).collect();
            let data = func.dfg[inst].clone();
            let copy = func.dfg.make_inst(data, &types);
            func.layout.insert_inst_before(copy, last);
        }
        let before = module.to_string();
        module.functions.values_mut().next().unwrap().compact().unwrap();
        assert_eq!(module.to_string(), before);
        verify(&module).unwrap();
    }

    #[test]
    fn blocks_go() {
        let mut module = parsed();
        let func = module.functions.values_mut().next().unwrap();
        let blocks: Vec<_> = func.layout.blocks().collect();
        // Nothing leads to the block before its branch goes: as long as there is one to a block that is gone, all stays.
        func.layout.remove_block(blocks[2]);
        assert!(func.compact().is_none());
        let jump = func.terminator(blocks[0]).unwrap();
        func.layout.remove_inst(jump);
        func.at_end(blocks[0]).ret(&[]);
        func.compact().unwrap();
        assert_eq!(func.dfg.num_blocks(), 3);
        verify(&module).unwrap();
    }

    #[test]
    fn what_a_debugger_is_told_may_name_what_is_gone() {
        let mut module = crate::debug::with_own_source(&parsed());
        let func = module.functions.values_mut().next().unwrap();
        without_unused(func);
        assert!(func.debug.is_some() && func.compact().is_none());
    }
}
