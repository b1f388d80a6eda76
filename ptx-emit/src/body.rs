//! The body of a function: instructions with named registers, moves on edges, labels and branches.

macro_rules! ptx {
    ($opcode:ident $(. $modifier:ident)*) => {
        const { Mnemonic::new(Opcode::$opcode)$(.with(Mod::$modifier))* }
    };
}

mod ahead;
mod control;
mod edges;
mod guarded;
mod operands;

use crate::debug::describe::{Home, Notes, describe};
use crate::debug::lines::{Lines, Strings};
use crate::debug::{Class, Debug, Described};
use crate::names::{Names, prefix};
use crate::regs::{Assignment, Liveness, Reg, sequentialize};
use std::collections::BTreeMap;
use warpsmith_base::{FxHashMap, FxHashSet};
use warpsmith_ir as ir;
use warpsmith_ir::debug::DebugStatistics;
use warpsmith_ir::entity::{EntityRef, SecondaryMap};
use warpsmith_isa::{Mnemonic, Mod, Opcode, StateSpace};
use warpsmith_lower::abi::Passing;
use warpsmith_lower::mach::{
    self, Base, Block, DebugRecord, Edge, Op, Prototype, RegClass, Terminator, VReg,
};
use warpsmith_ptx::{Const, Declarator, Guard, Inst, List, Module, Operand, Stmt, Symbol};

/// What a function's body is made from.
pub struct Body<'a> {
    pub module: &'a ir::Module,
    pub func: &'a ir::Function,
    pub mach: &'a mach::Function,
    pub assignment: Assignment,
    pub tree: &'a mut Module,
    pub names: &'a mut Names,
    /// The names of the function's own parameters.
    pub params: &'a [Symbol],
    pub result: Option<Symbol>,
    pub debug: Debug,
    /// `.loc` may name inlined functions.
    pub inlined: bool,
    pub strings: &'a mut Strings,
}

/// A body that was written.
pub struct Written {
    pub stmts: List<Stmt>,
    /// The operation that each statement was made for.
    pub origins: Vec<Option<ir::Inst>>,
    /// Its debug information, with [`Debug::Full`].
    pub described: Option<Described>,
    pub statistics: DebugStatistics,
}

impl Body<'_> {
    /// Writes the body.
    pub fn write(self) -> Written {
        let full = self.debug == Debug::Full;
        let position = self.mach.layout.iter().copied().zip(0..).collect();
        // Labels, branches and a few moves come to the instructions.
        let usual = self.mach.insts.len() + 4 * self.mach.blocks.len();
        let mut writer = Writer {
            slots: SecondaryMap::with_default(None),
            copies: vec![None; self.func.params.len()],
            labels: self.mach.blocks.len(),
            targets: FxHashSet::default(),
            stmts: Vec::with_capacity(usual),
            origins: Vec::with_capacity(usual),
            operands: Vec::new(),
            moves: Vec::new(),
            lines: Lines::new(self.inlined),
            place: None,
            notes: full.then(Notes::default),
            records: Vec::new(),
            liveness: edges::liveness(self.mach, &self.assignment, &position),
            position,
            entries: ahead::entries(self.mach),
            ahead: ahead::Ahead::default(),
            guarded: None,
            guard: None,
            body: self,
        };
        writer.blocks();
        writer.finish()
    }
}

struct Writer<'a> {
    body: Body<'a>,
    /// Names of the stack slots in use.
    slots: SecondaryMap<ir::StackSlot, Option<Symbol>>,
    /// Names of the local copies of parameters.
    copies: Vec<Option<Symbol>>,
    /// Labels made so far: one for each block, then those of edges.
    labels: usize,
    /// Labels that something jumps to.
    targets: FxHashSet<Symbol>,
    stmts: Vec<Stmt>,
    /// The operation that each statement was made for, as far as known.
    origins: Vec<Option<ir::Inst>>,
    operands: Vec<Operand>,
    moves: Vec<(Reg, Reg)>,
    lines: Lines,
    /// The place in the source of the instruction that is written next: without one, as where a jump to what follows is left out, there is no
    /// `.loc` of it either.
    place: Option<ir::LocData>,
    /// What debug information needs to know.
    notes: Option<Notes>,
    /// The bindings of the block that are still to come, the next one last.
    records: Vec<DebugRecord>,
    /// What is live, if the moves of a branch ask for it.
    liveness: Option<Liveness>,
    /// The places of blocks in the text.
    position: edges::Positions,
    /// How many edges lead to each block.
    entries: SecondaryMap<Block, u32>,
    /// Moves that were made ahead of blocks.
    ahead: ahead::Ahead,
    /// The block whose instructions are guarded.
    guarded: Option<(Block, Guard)>,
    /// The guard of the instructions that are written.
    guard: Option<Guard>,
}

impl Writer<'_> {
    fn blocks(&mut self) {
        let mach = self.body.mach;
        self.opening_line();
        for (i, &block) in mach.layout.iter().enumerate() {
            let next = mach.layout.get(i + 1).copied();
            let label = self.label(block.index());
            self.stmts.push(Stmt::Label(label));
            if mach.blocks[block].nounroll {
                // It is of the loop whose head's label it follows (PTX ISA 9.0, 12.1); without one it would be of all that follows.
                self.targets.insert(label);
                let text = self.body.tree.name("nounroll");
                let texts = self.body.tree.symbol_list(&[text]);
                self.stmts.push(Stmt::Pragma(texts));
            }
            self.begin_block(block);
            self.guard = self.guarded.take().filter(|(guarded, _)| *guarded == block).map(|(_, guard)| guard);
            for (index, inst) in (mach.blocks[block].insts.start..).zip(mach.block_insts(block)) {
                self.bindings(index);
                let from = self.stmts.len();
                self.location(inst.origin);
                let operands = mach.inst_operands(inst);
                match inst.op {
                    Op::Ptx(mnemonic) => self.instruction(mnemonic, operands),
                    Op::Call(callee, prototype) => {
                        let name = Operand::Name(self.body.names.functions[callee]);
                        self.call(name, &mach.prototypes[prototype as usize], None, operands);
                    }
                    Op::CallIndirect(index) => {
                        let (operands, callee) = operands.split_at(operands.len().saturating_sub(1));
                        let Some(name) = self.operand(&mut callee.iter()) else { continue };
                        self.call(name, &mach.prototypes[index as usize], Some(index), operands);
                    }
                    Op::Unset => {}
                }
                self.origins.resize(self.stmts.len(), inst.origin);
                self.note_written(from, inst.origin, operands);
            }
            self.guard = None;
            self.bindings(mach.blocks[block].insts.end);
            let from = self.stmts.len();
            self.location(mach.blocks[block].origin);
            self.terminator(block, next);
            self.note_written(from, mach.blocks[block].origin, &[]);
            self.origins.resize(self.stmts.len(), mach.blocks[block].origin);
        }
    }

    /// Declarations in front, labels only where something jumps to.
    fn finish(mut self) -> Written {
        let mut statistics = self.line_statistics();
        let mut described = None;
        if let Some(notes) = self.notes.take() {
            let Body { func, mach, tree, names, .. } = &mut self.body;
            let (found, at, counts) = describe(notes, mach.id, func, mach, &self.stmts, tree, names);
            described = Some(found);
            statistics += counts;
            self.add_labels(at);
        }
        let Writer { body, slots, copies, targets, stmts, origins, .. } = self;
        let mut declared = Vec::with_capacity(RegClass::COUNT);
        for class in RegClass::ALL {
            let count = body.assignment.counts[class as usize];
            if count == 0 {
                continue;
            }
            let mut decl = body.tree.decl(StateSpace::Reg, class.scalar(), prefix(class));
            let mut declarator = body.tree[decl.names][0];
            declarator.count = Some(count);
            decl.names = body.tree.declarator_list(&[declarator]);
            declared.push(Stmt::Decl(body.tree.push_decl(decl)));
        }
        for (param, name) in body.func.params.iter().zip(&copies) {
            let (Some((size, align)), Some(name)) = (param.byval, *name) else { continue };
            let decl = crate::module::bytes_decl(body.tree, StateSpace::Local, name, size, align);
            declared.push(Stmt::Decl(body.tree.push_decl(decl)));
        }
        for (slot, data) in body.func.stack_slots.iter() {
            let Some(name) = slots[slot] else { continue };
            let decl = crate::module::bytes_decl(body.tree, StateSpace::Local, name, data.size, data.align);
            declared.push(Stmt::Decl(body.tree.push_decl(decl)));
        }
        let mut made_for = Vec::with_capacity(declared.len() + stmts.len());
        let declared = declared.into_iter().map(|stmt| (stmt, None));
        let is_kept = |(stmt, _): &(Stmt, _)| !matches!(stmt, Stmt::Label(label) if !targets.contains(label));
        let all = declared.chain(stmts.into_iter().zip(origins).filter(is_kept));
        let stmts = body.tree.body_of(all.map(|(stmt, origin)| {
            made_for.push(origin);
            stmt
        }));
        Written { stmts, origins: made_for, described, statistics }
    }

    /// Puts labels, which are jumped to by nobody but debug information, in front of statements, and behind the last.
    fn add_labels(&mut self, mut labels: BTreeMap<usize, Symbol>) {
        self.targets.extend(labels.values().copied());
        let stmts = std::mem::take(&mut self.stmts);
        let origins = std::mem::take(&mut self.origins);
        for (at, (stmt, origin)) in stmts.into_iter().zip(origins).enumerate() {
            if let Some(label) = labels.remove(&at) {
                self.stmts.push(Stmt::Label(label));
                self.origins.push(origin);
            }
            self.stmts.push(stmt);
            self.origins.push(origin);
        }
        self.stmts.extend(labels.into_values().map(Stmt::Label));
        self.origins.resize(self.stmts.len(), None);
    }

    /// Says where in the source the instructions are from that are written next.
    fn location(&mut self, origin: Option<ir::Inst>) {
        let Body { debug, func, .. } = &self.body;
        if *debug == Debug::None {
            return;
        }
        if let Some(loc) = origin.and_then(|inst| func.inst_locs[inst].expand()) {
            self.place = Some(func.locs[loc]);
        }
    }

    /// Writes the `.loc` of the next instruction.
    fn begin_instruction(&mut self) {
        let Some(at) = self.place.take() else { return };
        let Body { func, module, tree, names, strings, .. } = &mut self.body;
        self.lines.location(module, func, at, tree, names, strings, &mut self.stmts);
    }

    // For debuggers.

    /// What comes before the first line of the body, such as the loads of parameters, is of the line that declares the function.
    fn opening_line(&mut self) {
        let Body { debug, func, module, tree, names, strings, .. } = &mut self.body;
        let subprogram = func.debug.as_ref().map(|debug| debug.subprogram);
        let subprogram =
            module.debug.as_ref().zip(subprogram).and_then(|(info, id)| info.subprograms.get(id));
        if let (true, Some(declared)) = (*debug != Debug::None, subprogram.map(|known| known.declared))
            && declared.line > 0
        {
            let at = ir::LocData::new(declared.file, declared.line, 0);
            self.lines.location(module, func, at, tree, names, strings, &mut self.stmts);
        }
    }

    fn begin_block(&mut self, block: Block) {
        let at = self.stmts.len();
        if let Some(notes) = &mut self.notes {
            notes.block(at, block);
            // Stable: those of one place keep their order.
            self.records.clone_from(&self.body.mach.records[block]);
            self.records.sort_by_key(|record| record.before);
            self.records.reverse();
        }
    }

    /// Notes where variables are bound before an instruction.
    fn bindings(&mut self, before: u32) {
        let Some(debug) = &self.body.func.debug else { return };
        while let Some(record) = self.records.pop_if(|record| record.before <= before) {
            let binding = debug.bindings[record.binding];
            let home = self.home(record.place);
            let at = self.stmts.len();
            if let Some(notes) = &mut self.notes {
                notes.bind(at, (binding.variable, binding.piece), home);
            }
        }
    }

    fn home(&mut self, place: mach::DebugPlace) -> Option<Home> {
        let reg = |writer: &mut Self, vreg: VReg| {
            // Naming it here means that its name is known at the end.
            writer.reg(vreg);
            writer.body.assignment.reg(writer.body.mach, vreg)
        };
        Some(match place {
            mach::DebugPlace::Registers { first, count } => {
                let all = (first.index()..first.index() + count as usize).map(VReg::new);
                Home::Registers(all.map(|vreg| reg(self, vreg)).collect())
            }
            mach::DebugPlace::LowWord(vreg) => Home::LowWord([reg(self, vreg)]),
            mach::DebugPlace::Memory(vreg, offset) => Home::Memory([reg(self, vreg)], offset),
            mach::DebugPlace::Symbol(base, offset) => {
                let class = match base {
                    Base::Stack(_) | Base::Copy(_) => Class::Local,
                    Base::Param(_) => Class::Param,
                    Base::Global(global) => Class::of(self.body.module.globals[global].space),
                    Base::Reg(_) | Base::Func(_) | Base::Return | Base::Absolute => return None,
                };
                Home::Symbol(self.base(base), offset, class)
            }
            mach::DebugPlace::Constant(bits) => Home::Constant(bits),
            mach::DebugPlace::OptimizedOut => return None,
        })
    }

    /// Notes the scope of the statements from `from` on, and the registers that they write.
    fn note_written(&mut self, from: usize, origin: Option<ir::Inst>, operands: &[mach::Operand]) {
        let Some(notes) = &mut self.notes else { return };
        let (func, to) = (self.body.func, self.stmts.len());
        if let Some(scope) = origin.and_then(|inst| func.scope_of(inst)) {
            notes.scope(scope, from, to);
        }
        if from == to {
            return;
        }
        for operand in operands {
            if let Some(vreg) = operand.defined() {
                notes.write(to, self.body.assignment.reg(self.body.mach, vreg), vreg);
            }
        }
    }

    /// How many instructions there are, and how many have a line.
    fn line_statistics(&self) -> DebugStatistics {
        let mut statistics = DebugStatistics::default();
        let mut known = false;
        for stmt in &self.stmts {
            if let Stmt::Loc(loc) = stmt {
                known = loc.at.line > 0;
            } else if let Stmt::Inst(_) = stmt {
                statistics.instructions += 1;
                statistics.with_line += u64::from(known);
            }
        }
        statistics
    }

    fn label(&mut self, index: usize) -> Symbol {
        self.body.names.label(self.body.tree, index)
    }

    fn reg(&mut self, vreg: VReg) -> Symbol {
        let reg = self.body.assignment.reg(self.body.mach, vreg);
        self.body.names.register(self.body.tree, reg)
    }

    fn push(&mut self, guard: Option<Guard>, mnemonic: Mnemonic, operands: &[Operand]) {
        self.begin_instruction();
        let mnemonic = self.body.names.mnemonic(self.body.tree, mnemonic);
        let operands = self.body.tree.operand_list(operands);
        self.stmts.push(Stmt::Inst(Inst { guard: guard.or(self.guard), mnemonic, operands }));
    }
}
