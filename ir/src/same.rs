//! Whether two modules are the same but for the numbers of their entities: the measure of the round trip through text.

use crate::dfg::ValueDef;
use crate::entities::{Block, Inst, Value};
use crate::function::Function;
use crate::inst::{BlockCall, InstData};
use crate::module::{Module, Symbol};
use warpsmith_base::FxHashMap;

/// Panics at the first difference.
pub fn assert_same(a: &Module, b: &Module) {
    assert_eq!((a.target, &a.order), (b.target, &b.order));
    let files =
        |m: &Module| m.files.iter().map(|(id, name)| (name.clone(), m.stamps[id])).collect::<Vec<_>>();
    assert_eq!(files(a), files(b));
    for symbol in &a.order {
        match *symbol {
            Symbol::Func(id) => Pair::new(&a.functions[id], &b.functions[id]).compare(),
            Symbol::Global(id) => {
                let key = |m: &Module| {
                    let g = &m.globals[id];
                    let memory = (g.space, g.ty, g.extent, g.handle, g.align, g.managed);
                    (g.name.clone(), g.linkage, memory, g.init.clone(), g.relocs.clone())
                };
                assert_eq!(key(a), key(b));
            }
        }
    }
}

struct Pair<'a> {
    a: &'a Function,
    b: &'a Function,
    values: FxHashMap<Value, Value>,
    blocks: FxHashMap<Block, Block>,
}

impl<'a> Pair<'a> {
    fn new(a: &'a Function, b: &'a Function) -> Self {
        let blocks: FxHashMap<Block, Block> = a.layout.blocks().zip(b.layout.blocks()).collect();
        let mut values = FxHashMap::default();
        for (&x, &y) in &blocks {
            values.extend(a.dfg.block_params(x).iter().copied().zip(b.dfg.block_params(y).iter().copied()));
            for (i, j) in a.layout.insts(x).zip(b.layout.insts(y)) {
                values.extend(a.dfg.results(i).into_iter().zip(b.dfg.results(j)));
            }
        }
        Pair { a, b, values, blocks }
    }

    fn compare(&self) {
        let (a, b) = (self.a, self.b);
        let header = |f: &Function| {
            let slots: Vec<_> = f.stack_slots.values().copied().collect();
            (f.name.clone(), f.kind, f.linkage, f.params.clone(), f.ret.clone(), f.attrs, slots)
        };
        assert_eq!(header(a), header(b));
        assert_eq!(a.layout.blocks().count(), b.layout.blocks().count());
        for (x, y) in a.layout.blocks().zip(b.layout.blocks()) {
            let types = |f: &Function, block| {
                f.dfg.block_params(block).iter().map(|v| f.dfg.ty(*v)).collect::<Vec<_>>()
            };
            assert_eq!(types(a, x), types(b, y), "parameters of {x}");
            assert_eq!(a.layout.insts(x).count(), b.layout.insts(y).count(), "instructions of {x}");
            for (i, j) in a.layout.insts(x).zip(b.layout.insts(y)) {
                self.inst(i, j);
            }
        }
    }

    fn inst(&self, i: Inst, j: Inst) {
        let (a, b) = (self.a, self.b);
        let types =
            |f: &Function, inst| f.dfg.results(inst).into_iter().map(|v| f.dfg.ty(v)).collect::<Vec<_>>();
        assert_eq!(types(a, i), types(b, j), "results of {i}");
        let uses: Vec<Value> = a.dfg.uses(i).map(|value| self.values[&value]).collect();
        assert_eq!(uses, b.dfg.uses(j).collect::<Vec<_>>(), "operands of {i}");
        assert!(
            b.dfg.uses(j).all(|value| matches!(b.dfg.def(value), ValueDef::Result(..) | ValueDef::Param(..)))
        );
        let targets: Vec<Block> = a.dfg.targets(i).map(|call: &BlockCall| self.blocks[&call.block]).collect();
        assert_eq!(targets, b.dfg.targets(j).map(|call| call.block).collect::<Vec<_>>(), "targets of {i}");
        let loc = |f: &Function, inst| f.inst_locs[inst].expand().map(|loc| f.locs[loc]);
        assert_eq!(loc(a, i), loc(b, j), "location of {i}");
        assert_eq!(Self::constant_part(a, i), Self::constant_part(b, j), "{i}");
        assert_eq!(a.dfg.promised(i), b.dfg.promised(j), "promise of {i}");
    }

    /// What an instruction is apart from values and targets.
    fn constant_part(f: &Function, inst: Inst) -> String {
        let op = f.dfg.opcode(inst);
        match &f.dfg[inst] {
            InstData::IntConst { value } => format!("{op} {value}"),
            InstData::FloatConst { bits } => format!("{op} {bits:#x}"),
            InstData::IntCompare { cond, .. } => format!("{op} {cond}"),
            InstData::FloatCompare { cond, .. } => format!("{op} {cond}"),
            InstData::Load { flags, offset, .. } | InstData::Store { flags, offset, .. } => {
                format!("{op} {flags:?} {offset}")
            }
            InstData::Index { scale, .. } => format!("{op} {scale}"),
            InstData::StackAddr { slot, offset } => format!("{op} {slot} {offset}"),
            InstData::GlobalAddr { global, offset } => format!("{op} {global} {offset}"),
            InstData::FuncAddr { func } => format!("{op} {func}"),
            InstData::Extract { lane, .. } | InstData::Insert { lane, .. } => format!("{op} {lane}"),
            InstData::ExtractValue { path, .. } | InstData::InsertValue { path, .. } => {
                format!("{op} {:?}", f.dfg.paths[*path])
            }
            InstData::MemBlock { flags, source, .. } => format!("{op} {flags:?} {source:?}"),
            InstData::Sreg { reg } => format!("{op} {reg}"),
            InstData::Call { callee, .. } => format!("{op} {callee}"),
            InstData::Ptx { data, .. } => format!("{op} {:?}", f.dfg.ptx[*data]),
            InstData::Switch { table, .. } => {
                let cases = f.dfg.jump_tables[*table].cases.iter().map(|(value, _)| *value);
                format!("{op} {:?}", cases.collect::<Vec<i64>>())
            }
            InstData::List { attr, .. } => format!("{op} {attr:?}"),
            InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::Vec { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::CallIndirect { .. }
            | InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Return { .. }
            | InstData::Trap => op.to_string(),
        }
    }
}
