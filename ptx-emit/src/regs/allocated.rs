//! Registers through `regalloc2`.
//!
//! PTX has as many registers as one asks for, so the allocator is given none: every operand may be anywhere, and what it calls
//! spill slots are our registers. It then never splits a live range and adds no spill code. What remains of it is what we want:
//! live ranges, bundles of block parameters merged with their arguments (coalescing), and bundles packed into as few slots as
//! their overlaps allow. Since every value keeps one slot, we read the slots off the operands and make the edge moves
//! ourselves: there the register class of a move is known, which an edit of the allocator does not say.
//!
//! It is given only values that live across blocks, and parameters and arguments of blocks: registers of values within a block are found in one pass ([`local`]), at
//! a fraction of the cost.
//!
//! The allocator has three classes and PTX six. The rare ones share one: a PTX register is named by (slot, class), so values of
//! different classes in one slot are different registers and never meet.

use super::local::{self, Reaches};
use super::{Assignment, UNASSIGNED};
use cranelift_entity::SecondaryMap;
use regalloc2 as ra;
use warpsmith_base::FxHashMap;
use warpsmith_lower::mach::{Block, Edge, Function, RegClass, Terminator, VReg};

/// Beyond this many instructions the allocator's time is not worth the shorter text.
const MAX_INSTS: usize = 1 << 20;

/// A home for every virtual register, or `None` where the allocator declines.
pub fn allocate(func: &Function) -> Option<Assignment> {
    if func.insts.len() > MAX_INSTS {
        return None;
    }
    let reach = Reaches::of(func);
    let view = View::new(func, &reach);
    // The scratch registers only serve moves between slots, which are dropped.
    let env = ra::MachineEnv {
        preferred_regs_by_class: [ra::PRegSet::empty(); 3],
        non_preferred_regs_by_class: [ra::PRegSet::empty(); 3],
        scratch_by_class: [ra::RegClass::Int, ra::RegClass::Float, ra::RegClass::Vector]
            .map(|class| Some(ra::PReg::new(0, class))),
        fixed_stack_slots: Vec::new(),
    };
    let options = ra::RegallocOptions { validate_ssa: cfg!(debug_assertions), ..Default::default() };
    let output = ra::run(&view, &env, &options).ok()?;

    let mut assignment = Assignment::empty(func);
    let mut register: FxHashMap<(RegClass, usize), u32> = FxHashMap::default();
    for inst in 0..ra::Function::num_insts(&view) {
        let inst = ra::Inst::new(inst);
        let operands = ra::Function::inst_operands(&view, inst);
        for (operand, allocation) in operands.iter().zip(output.inst_allocs(inst)) {
            let vreg = view.across[operand.vreg().vreg()];
            let class = func.vregs[vreg];
            let slot = allocation.as_stack()?.index();
            let index = *register.entry((class, slot)).or_insert_with(|| assignment.fresh(class).index);
            let home = &mut assignment.index[vreg];
            if *home != UNASSIGNED && *home != index {
                return None;
            }
            *home = index;
        }
    }
    local::fill(func, &reach, &mut assignment);
    Some(assignment)
}

fn class_of(class: RegClass) -> ra::RegClass {
    match class {
        RegClass::B32 => ra::RegClass::Int,
        RegClass::B64 => ra::RegClass::Float,
        RegClass::Pred | RegClass::B8 | RegClass::B16 | RegClass::B128 => ra::RegClass::Vector,
    }
}

/// A function as the allocator wants it: blocks numbered in layout order, instructions numbered through, critical edges split. Values within a block are not in
/// it, nor are instructions that name no other.
struct View {
    blocks: Vec<ViewBlock>,
    /// The values of the view, by their numbers in it.
    across: Vec<VReg>,
    /// The numbers, plus one; 0 for values that are not in it.
    numbers: SecondaryMap<VReg, u32>,
    /// Where the operands of each instruction end, and its role in its block.
    ends: Vec<(u32, Role)>,
    operands: Vec<ra::Operand>,
    block_lists: Vec<ra::Block>,
    vreg_lists: Vec<ra::VReg>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Body,
    Branch,
    Return,
}

#[derive(Default)]
struct ViewBlock {
    insts: (u32, u32),
    succs: (u32, u32),
    preds: (u32, u32),
    params: (u32, u32),
    /// Arguments of the only outgoing edge, if it has any.
    args: (u32, u32),
}

fn slice<T>(list: &[T], (start, end): (u32, u32)) -> &[T] {
    &list[start as usize..end as usize]
}

impl View {
    fn new(func: &Function, reach: &Reaches) -> Self {
        let across: Vec<VReg> = func.vregs.keys().filter(|&vreg| reach.is_across(vreg)).collect();
        let mut numbers = SecondaryMap::new();
        numbers.resize(func.vregs.len());
        (1..).zip(&across).for_each(|(number, &vreg)| numbers[vreg] = number);
        let mut view = View {
            blocks: Vec::with_capacity(func.layout.len()),
            across,
            numbers,
            ends: Vec::new(),
            operands: Vec::new(),
            block_lists: Vec::new(),
            vreg_lists: Vec::with_capacity(func.args.len()),
        };
        let mut incoming = vec![0u32; func.blocks.len()];
        // The way into the function counts as an edge into its first block.
        incoming[func.layout[0].as_u32() as usize] = 1;
        for &block in &func.layout {
            func.successors(block).for_each(|edge| incoming[edge.target.as_u32() as usize] += 1);
        }
        // A block with one way in has no parameters, unless a `switch` led there by another that no value takes.
        let critical = |block: Block, edge: Edge| {
            (incoming[edge.target.as_u32() as usize] > 1 || !func.params(edge.target).is_empty())
                && !matches!(func.blocks[block].terminator, Terminator::Jump(_))
        };

        // Numbers: each block is followed by the blocks that split its critical edges.
        let mut number = vec![0u32; func.blocks.len()];
        let mut next = 0;
        for &block in &func.layout {
            number[block.as_u32() as usize] = next;
            next += 1 + func.successors(block).filter(|&e| critical(block, e)).count() as u32;
        }
        let mut preds: Vec<(u32, u32)> = Vec::new();
        for &block in &func.layout {
            let this = number[block.as_u32() as usize];
            let mut split = this;
            let mut target = |edge: Edge| {
                let to = number[edge.target.as_u32() as usize];
                if critical(block, edge) {
                    split += 1;
                    preds.extend([(split, this), (to, split)]);
                    return split;
                }
                preds.push((to, this));
                to
            };
            let succs: Vec<u32> = func.successors(block).map(&mut target).collect();
            view.add_block(func, block, &succs);
            for edge in func.successors(block).filter(|&e| critical(block, e)) {
                let start = view.ends.len() as u32;
                view.end_inst(Role::Branch);
                let succs = view.add_blocks([number[edge.target.as_u32() as usize]]);
                let args = view.add_vregs(func, func.edge_args(edge));
                let insts = (start, start + 1);
                view.blocks.push(ViewBlock { insts, succs, args, ..ViewBlock::default() });
            }
        }
        preds.sort_unstable();
        for group in preds.chunk_by(|a, b| a.0 == b.0) {
            view.blocks[group[0].0 as usize].preds = view.add_blocks(group.iter().map(|p| p.1));
        }
        view
    }

    fn add_block(&mut self, func: &Function, block: Block, succs: &[u32]) {
        let start = self.ends.len() as u32;
        let params = self.add_vregs(func, func.params(block));
        if !func.params(block).is_empty() {
            // A parameter that is only passed on is in no operand, and its home would not be reported.
            func.params(block).iter().for_each(|&param| self.operand(func, param, ra::OperandKind::Use));
            self.end_inst(Role::Body);
        }
        for inst in func.block_insts(block) {
            for operand in func.inst_operands(inst) {
                if let Some(vreg) = operand.used() {
                    self.operand(func, vreg, ra::OperandKind::Use);
                } else if let Some(vreg) = operand.defined() {
                    self.operand(func, vreg, ra::OperandKind::Def);
                }
            }
            if self.operands.len() as u32 > self.ends.last().map_or(0, |end| end.0) {
                self.end_inst(Role::Body);
            }
        }
        let terminator = func.blocks[block].terminator;
        if let Some(vreg) = terminator.used() {
            self.operand(func, vreg, ra::OperandKind::Use);
        }
        let ends = matches!(terminator, Terminator::Return | Terminator::Trap);
        self.end_inst(if ends { Role::Return } else { Role::Branch });
        let args = match terminator {
            Terminator::Jump(edge) => self.add_vregs(func, func.edge_args(edge)),
            Terminator::Branch { .. } | Terminator::Table { .. } | Terminator::Return | Terminator::Trap => {
                (0, 0)
            }
        };
        let insts = (start, self.ends.len() as u32);
        let succs = self.add_blocks(succs.iter().copied());
        self.blocks.push(ViewBlock { insts, succs, params, args, ..ViewBlock::default() });
    }

    fn operand(&mut self, func: &Function, vreg: VReg, kind: ra::OperandKind) {
        let Some(vreg) = self.vreg(func, vreg) else { return };
        let pos = match kind {
            ra::OperandKind::Use => ra::OperandPos::Early,
            ra::OperandKind::Def => ra::OperandPos::Late,
        };
        self.operands.push(ra::Operand::new(vreg, ra::OperandConstraint::Any, kind, pos));
    }

    /// A value of the view; `None` for those within a block.
    fn vreg(&self, func: &Function, vreg: VReg) -> Option<ra::VReg> {
        let number = self.numbers[vreg].checked_sub(1)?;
        Some(ra::VReg::new(number as usize, class_of(func.vregs[vreg])))
    }

    fn end_inst(&mut self, role: Role) {
        self.ends.push((self.operands.len() as u32, role));
    }

    fn add_blocks(&mut self, blocks: impl IntoIterator<Item = u32>) -> (u32, u32) {
        let start = self.block_lists.len() as u32;
        self.block_lists.extend(blocks.into_iter().map(|b| ra::Block::new(b as usize)));
        (start, self.block_lists.len() as u32)
    }

    fn add_vregs(&mut self, func: &Function, vregs: &[VReg]) -> (u32, u32) {
        let start = self.vreg_lists.len() as u32;
        for &vreg in vregs {
            let vreg = self.vreg(func, vreg).expect("what an edge gives or takes lives across blocks");
            self.vreg_lists.push(vreg);
        }
        (start, self.vreg_lists.len() as u32)
    }
}

impl ra::Function for View {
    fn num_insts(&self) -> usize {
        self.ends.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> ra::Block {
        ra::Block::new(0)
    }

    fn block_insns(&self, block: ra::Block) -> ra::InstRange {
        let (start, end) = self.blocks[block.index()].insts;
        ra::InstRange::new(ra::Inst::new(start as usize), ra::Inst::new(end as usize))
    }

    fn block_succs(&self, block: ra::Block) -> &[ra::Block] {
        slice(&self.block_lists, self.blocks[block.index()].succs)
    }

    fn block_preds(&self, block: ra::Block) -> &[ra::Block] {
        slice(&self.block_lists, self.blocks[block.index()].preds)
    }

    fn block_params(&self, block: ra::Block) -> &[ra::VReg] {
        slice(&self.vreg_lists, self.blocks[block.index()].params)
    }

    fn is_ret(&self, inst: ra::Inst) -> bool {
        self.ends[inst.index()].1 == Role::Return
    }

    fn is_branch(&self, inst: ra::Inst) -> bool {
        self.ends[inst.index()].1 == Role::Branch
    }

    fn branch_blockparams(&self, block: ra::Block, _: ra::Inst, _: usize) -> &[ra::VReg] {
        slice(&self.vreg_lists, self.blocks[block.index()].args)
    }

    fn inst_operands(&self, inst: ra::Inst) -> &[ra::Operand] {
        let start = if inst.index() == 0 { 0 } else { self.ends[inst.index() - 1].0 };
        slice(&self.operands, (start, self.ends[inst.index()].0))
    }

    fn inst_clobbers(&self, _: ra::Inst) -> ra::PRegSet {
        ra::PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.across.len()
    }

    fn spillslot_size(&self, _: ra::RegClass) -> usize {
        1
    }
}
