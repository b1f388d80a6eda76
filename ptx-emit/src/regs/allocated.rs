//! Registers of values that live across blocks, shared by those that are never live together and without moves where edges allow it.
//!
//! The homes are those that `regalloc2` gives. PTX has as many registers as one asks for, so the allocator would be given none: every operand may be anywhere, and
//! what it calls spill slots are our registers. It then never splits a live range and adds no spill code. What remains of it is what we want: live ranges,
//! bundles of block parameters merged with their arguments (coalescing), and bundles packed into few slots. That part is [`slots`]; in builds with assertions
//! `regalloc2` itself is asked too. Edge moves we make ourselves: here the register class of a move is known.
//!
//! Only values that live across blocks, and parameters and arguments of blocks, are in it: registers of values within a block are found in one pass
//! ([`local`]), at a fraction of the cost.
//!
//! There are three classes of slots and six of registers in PTX. The rare ones share one: a PTX register is named by (slot, class), so values of
//! different classes in one slot are different registers and never meet.

use super::local::{self, Reaches};
use super::slots::{self, Operand};
use super::{Assignment, UNASSIGNED};
use cranelift_entity::SecondaryMap;
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
    let (slots, count) = slots::assign(&view)?;
    #[cfg(debug_assertions)]
    super::oracle::compare(&view, &slots);

    let mut assignment = Assignment::empty(func);
    let mut register = vec![[UNASSIGNED; RegClass::COUNT]; count];
    for operand in &view.operands {
        let vreg = view.across[operand.value as usize];
        let home = &mut assignment.index[vreg];
        if *home == UNASSIGNED {
            let class = func.vregs[vreg];
            let index = &mut register[slots[operand.value as usize] as usize][class as usize];
            if *index == UNASSIGNED {
                let count = &mut assignment.counts[class as usize];
                *index = *count;
                *count += 1;
            }
            *home = *index;
        }
    }
    local::fill(func, &reach, &mut assignment);
    Some(assignment)
}

/// The number of a class of slots.
fn class_of(class: RegClass) -> usize {
    match class {
        RegClass::B32 => 0,
        RegClass::B64 => 1,
        RegClass::Pred | RegClass::B8 | RegClass::B16 | RegClass::B128 => 2,
    }
}

/// A function as slots are assigned in: blocks numbered in layout order, instructions numbered through, critical edges split. Values within a block are not in
/// it, nor are instructions that name no other.
pub(super) struct View {
    blocks: Vec<ViewBlock>,
    /// The values of the view, by their numbers in it.
    across: Vec<VReg>,
    /// The class of the slots of each.
    classes: Vec<u8>,
    /// The numbers, plus one; 0 for values that are not in it.
    numbers: SecondaryMap<VReg, u32>,
    /// Where the operands of each instruction end.
    ends: Vec<u32>,
    operands: Vec<Operand>,
    block_lists: Vec<u32>,
    value_lists: Vec<u32>,
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
            classes: across.iter().map(|&vreg| class_of(func.vregs[vreg]) as u8).collect(),
            ends: Vec::with_capacity(across.len() + 2 * func.layout.len()),
            operands: Vec::with_capacity(3 * across.len()),
            across,
            numbers,
            block_lists: Vec::with_capacity(4 * func.layout.len()),
            value_lists: Vec::with_capacity(2 * func.args.len()),
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
                view.end_inst();
                let succs = view.add_blocks([number[edge.target.as_u32() as usize]]);
                let args = view.add_values(func.edge_args(edge));
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
        let params = self.add_values(func.params(block));
        if !func.params(block).is_empty() {
            // A parameter that is only passed on is in no operand, and its home would not be reported.
            func.params(block).iter().for_each(|&param| self.operand(param, false));
            self.end_inst();
        }
        for inst in func.block_insts(block) {
            for operand in func.inst_operands(inst) {
                if let Some(vreg) = operand.used() {
                    self.operand(vreg, false);
                } else if let Some(vreg) = operand.defined() {
                    self.operand(vreg, true);
                }
            }
            if self.operands.len() as u32 > self.ends.last().copied().unwrap_or(0) {
                self.end_inst();
            }
        }
        let terminator = func.blocks[block].terminator;
        if let Some(vreg) = terminator.used() {
            self.operand(vreg, false);
        }
        self.end_inst();
        let args = match terminator {
            Terminator::Jump(edge) => self.add_values(func.edge_args(edge)),
            Terminator::Branch { .. } | Terminator::Table { .. } | Terminator::Return | Terminator::Trap => {
                (0, 0)
            }
        };
        let insts = (start, self.ends.len() as u32);
        let succs = self.add_blocks(succs.iter().copied());
        self.blocks.push(ViewBlock { insts, succs, params, args, ..ViewBlock::default() });
    }

    fn operand(&mut self, vreg: VReg, is_written: bool) {
        if let Some(value) = self.number(vreg) {
            self.operands.push(Operand { value, is_written });
        }
    }

    /// The number of a value of the view; `None` for those within a block.
    fn number(&self, vreg: VReg) -> Option<u32> {
        self.numbers[vreg].checked_sub(1)
    }

    fn end_inst(&mut self) {
        self.ends.push(self.operands.len() as u32);
    }

    fn add_blocks(&mut self, blocks: impl IntoIterator<Item = u32>) -> (u32, u32) {
        let start = self.block_lists.len() as u32;
        self.block_lists.extend(blocks);
        (start, self.block_lists.len() as u32)
    }

    fn add_values(&mut self, vregs: &[VReg]) -> (u32, u32) {
        let start = self.value_lists.len() as u32;
        for &vreg in vregs {
            let value = self.number(vreg).expect("what an edge gives or takes lives across blocks");
            self.value_lists.push(value);
        }
        (start, self.value_lists.len() as u32)
    }
}

impl slots::Code for View {
    fn values(&self) -> usize {
        self.across.len()
    }

    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn insts(&self, block: u32) -> (u32, u32) {
        self.blocks[block as usize].insts
    }

    fn operands(&self, inst: u32) -> &[Operand] {
        let inst = inst as usize;
        let start = inst.checked_sub(1).map_or(0, |before| self.ends[before]);
        slice(&self.operands, (start, self.ends[inst]))
    }

    fn successors(&self, block: u32) -> &[u32] {
        slice(&self.block_lists, self.blocks[block as usize].succs)
    }

    fn predecessors(&self, block: u32) -> &[u32] {
        slice(&self.block_lists, self.blocks[block as usize].preds)
    }

    fn params(&self, block: u32) -> &[u32] {
        slice(&self.value_lists, self.blocks[block as usize].params)
    }

    fn given(&self, block: u32) -> &[u32] {
        slice(&self.value_lists, self.blocks[block as usize].args)
    }

    fn class(&self, value: u32) -> usize {
        self.classes[value as usize].into()
    }
}
