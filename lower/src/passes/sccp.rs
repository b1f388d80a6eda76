//! Sparse conditional constant propagation (Wegman and Zadeck, 1991): assumes that every value is constant and every branch
//! goes one way until the contrary is met, and so finds constants that go round loops, and ways that are never taken.
//!
//! What is found constant becomes a constant; the pass `cfg` then decides the branches on it.

use super::insert_before;
use crate::fold::{self, Constant};
use crate::pass::{Changes, Context};
use crate::users::Users;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use warpsmith_ir::{Block, BlockCall, Function, Inst, InstData, Value};

pub(super) fn run(func: &mut Function, _: &mut Context<'_>) -> Changes {
    let Some(entry) = func.layout.entry() else { return Changes::NONE };
    let mut search = Search::new(func);
    for &param in func.dfg.block_params(entry) {
        search.lower(param, Known::Varying);
    }
    search.enter(entry);
    search.run();
    let Search { known, reached, .. } = search;
    Changes::to_instructions(replace(func, &known, &reached))
}

/// What is known of a value; it only ever moves down this list.
#[derive(Clone, Copy, PartialEq, Default)]
enum Known {
    #[default]
    Nothing,
    Constant(Constant),
    Varying,
}

struct Search<'f> {
    func: &'f Function,
    known: SecondaryMap<Value, Known>,
    users: Users,
    reached: EntitySet<Block>,
    /// Blocks to be evaluated as a whole, and instructions of which an operand changed.
    blocks: Vec<Block>,
    insts: Vec<Inst>,
    /// Whether an instruction is in the list: one with many operands is evaluated once for all that change together. A set of `cranelift-entity` looks
    /// for its new greatest element where that is removed, which takes quadratic time in a list that is emptied from its end.
    listed: SecondaryMap<Inst, bool>,
}

impl<'f> Search<'f> {
    fn new(func: &'f Function) -> Self {
        let users = Users::all(func);
        let (mut known, mut listed) = (SecondaryMap::new(), SecondaryMap::new());
        known.resize(func.dfg.num_values());
        listed.resize(func.dfg.num_insts());
        let reached = EntitySet::new();
        Search { func, known, users, reached, blocks: Vec::new(), insts: Vec::new(), listed }
    }

    fn enter(&mut self, block: Block) {
        if self.reached.insert(block) {
            self.blocks.push(block);
        }
    }

    fn run(&mut self) {
        loop {
            if let Some(inst) = self.insts.pop() {
                self.listed[inst] = false;
                if self.func.layout.block_of(inst).is_some_and(|block| self.reached.contains(block)) {
                    self.evaluate(inst);
                }
            } else if let Some(block) = self.blocks.pop() {
                let func = self.func;
                func.layout.insts(block).for_each(|inst| self.evaluate(inst));
            } else {
                return;
            }
        }
    }

    /// Adds to what is known of a value.
    fn lower(&mut self, value: Value, found: Known) {
        let new = match (self.known[value], found) {
            (old, Known::Nothing) => old,
            (Known::Nothing, found) => found,
            (old, found) if old == found => old,
            _ => Known::Varying,
        };
        if new != self.known[value] {
            self.known[value] = new;
            let Search { users, listed, insts, .. } = self;
            insts.extend(users.of(value).filter(|&inst| !std::mem::replace(&mut listed[inst], true)));
        }
    }

    fn constant(&self, value: Value) -> Option<Constant> {
        match self.known[value] {
            Known::Constant(constant) => Some(constant),
            Known::Nothing | Known::Varying => None,
        }
    }

    fn evaluate(&mut self, inst: Inst) {
        let func = self.func;
        let operands = func.dfg.args(inst);
        match &func.dfg[inst] {
            InstData::Jump { dest } => self.take(dest),
            InstData::Brif { cond, dests } => match self.known[*cond] {
                Known::Nothing => {}
                Known::Constant(cond) => self.take(&dests[usize::from(cond == Constant::Int(0))]),
                Known::Varying => dests.iter().for_each(|dest| self.take(dest)),
            },
            InstData::Switch { arg, table } => {
                let table = &func.dfg.jump_tables[*table];
                match self.known[*arg] {
                    Known::Nothing => {}
                    Known::Constant(value) => {
                        let case = table.cases.iter().find(|(case, _)| Constant::Int(*case) == value);
                        self.take(case.map_or(&table.default, |(_, call)| call));
                    }
                    Known::Varying => {
                        self.take(&table.default);
                        table.cases.iter().for_each(|(_, call)| self.take(call));
                    }
                }
            }
            InstData::Return { .. } | InstData::Trap => {}
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
            | InstData::GlobalAddr { .. }
            | InstData::FuncAddr { .. }
            | InstData::Vec { .. }
            | InstData::Extract { .. }
            | InstData::Insert { .. }
            | InstData::Zero
            | InstData::Aggregate { .. }
            | InstData::ExtractValue { .. }
            | InstData::InsertValue { .. }
            | InstData::MemBlock { .. }
            | InstData::Sreg { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::List { .. }
            | InstData::Ptx { .. } => {
                let folded = fold::instruction(func, inst, |value| self.constant(value));
                let found = match folded {
                    Some(constant) => Known::Constant(constant),
                    None if operands.iter().any(|&arg| self.known[arg] == Known::Nothing) => Known::Nothing,
                    None => Known::Varying,
                };
                for result in func.dfg.results(inst) {
                    self.lower(result, found);
                }
            }
        }
    }

    /// Follows an edge.
    fn take(&mut self, call: &BlockCall) {
        let func = self.func;
        for (param, arg) in func.dfg.given(call) {
            self.lower(param, self.known[arg]);
        }
        self.enter(call.block);
    }
}

/// Makes constants of what was found constant: results in place, parameters at the start of their block.
fn replace(func: &mut Function, known: &SecondaryMap<Value, Known>, reached: &EntitySet<Block>) -> u32 {
    let data = |constant| match constant {
        Constant::Int(value) => InstData::IntConst { value },
        Constant::Float(bits) => InstData::FloatConst { bits },
    };
    let (mut changes, mut params) = (0, 0);
    let mut replacement: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let blocks: Vec<Block> = func.layout.blocks().filter(|&block| reached.contains(block)).collect();
    for block in blocks {
        let Some(first) = func.layout.first_inst(block) else { continue };
        for inst in func.layout.insts(block).collect::<Vec<_>>() {
            let Some(result) = func.dfg.first_result(inst) else { continue };
            let Known::Constant(constant) = known[result] else { continue };
            if !matches!(func.dfg[inst], InstData::IntConst { .. } | InstData::FloatConst { .. }) {
                func.dfg.replace_inst(inst, data(constant));
                changes += 1;
            }
        }
        for param in func.dfg.block_params(block).to_vec() {
            if let Known::Constant(constant) = known[param] {
                let value = insert_before(func, first, data(constant), func.dfg.ty(param));
                replacement[param] = value.into();
                params += 1;
            }
        }
    }
    if params > 0 {
        for block in func.layout.blocks() {
            for inst in func.layout.insts(block) {
                func.dfg.map_uses(inst, |value| replacement[value].expand().unwrap_or(value));
            }
        }
    }
    changes + params
}
