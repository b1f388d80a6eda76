//! The functions and globals that instructions name, and modules without those that nothing names.

use crate::debug::Storage;
use crate::dfg::DataFlowGraph;
use crate::entities::{FuncId, GlobalId, Inst};
use crate::inst::InstData;
use crate::module::{Module, Symbol};
use crate::ptx::PtxOperand;
use cranelift_entity::packed_option::ReservedValue;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};

/// The functions that CUDA's driver provides to every program (PTX writer's guide to interoperability, chapter 7).
pub const SYSTEM_FUNCTIONS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// A function or global where it is named.
enum Named<F, G> {
    Func(F),
    Global(G),
}

type SymbolMut<'a> = Named<&'a mut FuncId, &'a mut GlobalId>;

impl SymbolMut<'_> {
    fn get(self) -> Symbol {
        match self {
            SymbolMut::Func(id) => Symbol::Func(*id),
            SymbolMut::Global(id) => Symbol::Global(*id),
        }
    }
}

/// What an instruction names itself, to be read or to be written; table-derived ones name with their operands.
macro_rules! symbol_of {
    ($data:expr) => {
        match $data {
            InstData::GlobalAddr { global, .. } => Some(Named::Global(global)),
            InstData::FuncAddr { func } | InstData::Call { callee: func, .. } => Some(Named::Func(func)),
            InstData::IntConst { .. }
            | InstData::FloatConst { .. }
            | InstData::Unary { .. }
            | InstData::Binary { .. }
            | InstData::Ternary { .. }
            | InstData::IntCompare { .. }
            | InstData::FloatCompare { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Index { .. }
            | InstData::StackAddr { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Sreg { .. }
            | InstData::CallIndirect { .. }
            | InstData::Ptx { .. }
            | InstData::Jump { .. }
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return { .. }
            | InstData::List { .. }
            | InstData::Trap => None,
        }
    };
}

impl InstData {
    #[inline]
    fn symbol(&self) -> Option<Symbol> {
        let named: Option<Named<&FuncId, &GlobalId>> = symbol_of!(self);
        named.map(|named| match named {
            Named::Func(id) => Symbol::Func(*id),
            Named::Global(id) => Symbol::Global(*id),
        })
    }

    fn symbol_mut(&mut self) -> Option<SymbolMut<'_>> {
        symbol_of!(self)
    }
}

impl PtxOperand {
    fn symbol_mut(&mut self) -> Option<SymbolMut<'_>> {
        match self {
            PtxOperand::Global(id) | PtxOperand::GlobalAddress(id, _) => Some(SymbolMut::Global(id)),
            PtxOperand::Func(id) => Some(SymbolMut::Func(id)),
            PtxOperand::Value
            | PtxOperand::Not
            | PtxOperand::Neg
            | PtxOperand::Part(_)
            | PtxOperand::Destination(_)
            | PtxOperand::Address(_)
            | PtxOperand::Int(_)
            | PtxOperand::F32(_)
            | PtxOperand::F64(_)
            | PtxOperand::Decimal(_)
            | PtxOperand::Vector(_)
            | PtxOperand::Bracket(_)
            | PtxOperand::Sink => None,
        }
    }
}

impl DataFlowGraph {
    /// The functions and globals that an instruction names.
    pub fn symbols(&self, inst: Inst) -> impl Iterator<Item = Symbol> + '_ {
        let own = self[inst].symbol();
        let operands = if let InstData::Ptx { data, .. } = self[inst] { self.ptx.get(data) } else { None };
        let operands = operands.map_or(&[][..], |data| &data.operands);
        own.into_iter()
            .chain(operands.iter().filter_map(|&(mut operand)| operand.symbol_mut().map(SymbolMut::get)))
    }

    /// Calls `change` on every function and global that an instruction of the graph names.
    fn for_each_symbol_mut(&mut self, mut change: impl FnMut(SymbolMut<'_>)) {
        for n in 0..self.num_insts() {
            if let Some(symbol) = self.inst_mut(Inst::from_u32(n as u32)).symbol_mut() {
                change(symbol);
            }
        }
        let operands = self.ptx.values_mut().flat_map(|data| &mut data.operands);
        operands.filter_map(PtxOperand::symbol_mut).for_each(change);
    }
}

impl Module {
    /// Makes uses of other names uses of the functions that they name, of which passes know more.
    pub fn follow_aliases(&mut self) {
        let aliases: Vec<Option<FuncId>> = self.functions.values().map(|func| func.alias).collect();
        for func in self.functions.values_mut() {
            func.dfg.for_each_symbol_mut(|symbol| {
                if let SymbolMut::Func(id) = symbol
                    && let Some(target) = aliases.get(id.as_u32() as usize).copied().flatten()
                {
                    *id = target;
                }
            });
        }
    }

    /// The globals, each behind those whose address its initialiser holds; and those that initialisers hold the address of in front of them,
    /// because they go in a circle.
    pub fn initialiser_order(&self) -> (Vec<GlobalId>, Vec<GlobalId>) {
        let mut order = Vec::with_capacity(self.globals.len());
        let mut seen = EntitySet::with_capacity(self.globals.len());
        let mut done = EntitySet::with_capacity(self.globals.len());
        let mut ahead: Vec<GlobalId> = Vec::new();
        let mut next: SecondaryMap<GlobalId, usize> = SecondaryMap::new();
        for first in self.globals.keys() {
            if !seen.insert(first) {
                continue;
            }
            let mut open = vec![first];
            while let Some(&id) = open.last() {
                let Some(reloc) = self.globals[id].relocs.get(next[id]) else {
                    order.push(id);
                    done.insert(id);
                    open.pop();
                    continue;
                };
                next[id] += 1;
                let Symbol::Global(target) = reloc.target else { continue };
                if !self.globals.is_valid(target) {
                    continue;
                }
                if seen.insert(target) {
                    open.push(target);
                } else if !done.contains(target) {
                    ahead.push(target);
                }
            }
        }
        ahead.sort_unstable();
        ahead.dedup();
        (order, ahead)
    }

    /// Removes the functions and globals that are not in the sets, and renumbers the others.
    ///
    /// What stays must not name what goes: an instruction that does names nothing any more, which the verifier reports.
    pub fn retain(&mut self, functions: &EntitySet<FuncId>, globals: &EntitySet<GlobalId>) {
        let mut new_functions = SecondaryMap::with_default(FuncId::reserved_value());
        let mut new_globals = SecondaryMap::with_default(GlobalId::reserved_value());
        let (mut kept_functions, mut kept_globals) = (PrimaryMap::new(), PrimaryMap::new());
        for (id, func) in std::mem::take(&mut self.functions) {
            if functions.contains(id) {
                new_functions[id] = kept_functions.push(func);
            }
        }
        for (id, global) in std::mem::take(&mut self.globals) {
            if globals.contains(id) {
                new_globals[id] = kept_globals.push(global);
            }
        }
        for func in kept_functions.values_mut() {
            func.dfg.for_each_symbol_mut(|symbol| match symbol {
                SymbolMut::Func(id) => *id = new_functions[*id],
                SymbolMut::Global(id) => *id = new_globals[*id],
            });
            func.alias = func.alias.map(|id| new_functions[id]);
            let known = std::mem::take(&mut func.callee_traits).into_iter();
            let kept = known.filter(|(id, _)| functions.contains(*id));
            func.callee_traits = kept.map(|(id, traits)| (new_functions[id], traits)).collect();
        }
        // The debug information of a removed variable is removed too.
        if let Some(debug) = &mut self.debug {
            debug.globals.retain_mut(|variable| {
                variable.global = new_globals[variable.global];
                !variable.global.is_reserved_value()
            });
        }
        for debug in kept_functions.values_mut().filter_map(|func| func.debug.as_mut()) {
            for binding in debug.bindings.values_mut() {
                if let Storage::Global(id, offset) = binding.storage {
                    let id = new_globals[id];
                    binding.storage = if id.is_reserved_value() {
                        Storage::OptimizedOut
                    } else {
                        Storage::Global(id, offset)
                    };
                }
            }
        }
        for global in kept_globals.values_mut() {
            for reloc in &mut global.relocs {
                reloc.target = match reloc.target {
                    Symbol::Func(id) => Symbol::Func(new_functions[id]),
                    Symbol::Global(id) => Symbol::Global(new_globals[id]),
                };
            }
        }
        (self.functions, self.globals) = (kept_functions, kept_globals);
        self.renumber(|symbol| match symbol {
            Symbol::Func(id) => functions.contains(id).then(|| Symbol::Func(new_functions[id])),
            Symbol::Global(id) => globals.contains(id).then(|| Symbol::Global(new_globals[id])),
        });
    }
}
