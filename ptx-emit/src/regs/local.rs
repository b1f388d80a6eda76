//! Registers for functions that are too large for `regalloc2`, in one pass over the text.
//!
//! A value that is used in its own block only takes a register that is free, and gives it back behind its last use. One that lives across
//! blocks, or is a parameter of a block or an argument of a branch, has a register of its own: what shares these is left to ptxas.

use super::{Assignment, UNASSIGNED};
use cranelift_entity::SecondaryMap;
use warpsmith_lower::mach::{Block, Function, RegClass, VReg};

/// Where a value is used.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Reach {
    /// In no block that is known yet.
    #[default]
    Nowhere,
    /// Only in the block that defines it; last by this of its instructions.
    Within(Block, u32),
    Across,
}

/// A home for every virtual register, in time linear in the function.
pub fn allocate(func: &Function) -> Assignment {
    let reach = reaches(func);
    let mut assignment = Assignment::empty(func);
    let mut free: [Vec<u32>; RegClass::COUNT] = Default::default();
    let mut ending: Vec<VReg> = Vec::new();
    for &block in &func.layout {
        for &param in func.params(block) {
            assignment.index[param] = assignment.fresh(func.vregs[param]).index;
        }
        for (at, inst) in (0..).zip(func.block_insts(block)) {
            ending.clear();
            for operand in func.inst_operands(inst) {
                if let Some(vreg) = operand.defined().filter(|&vreg| assignment.index[vreg] == UNASSIGNED) {
                    let class = func.vregs[vreg];
                    let within = matches!(reach[vreg], Reach::Within(..));
                    let reused = if within { free[class as usize].pop() } else { None };
                    assignment.index[vreg] = reused.unwrap_or_else(|| assignment.fresh(class).index);
                }
                let named = operand.used().or(operand.defined());
                if let Some(vreg) = named.filter(|&vreg| reach[vreg] == Reach::Within(block, at)) {
                    ending.push(vreg);
                }
            }
            // Behind the definitions: none shares a register with an operand of its own instruction.
            ending.sort_unstable();
            ending.dedup();
            for &vreg in &ending {
                if assignment.index[vreg] != UNASSIGNED {
                    free[func.vregs[vreg] as usize].push(assignment.index[vreg]);
                }
            }
        }
        let decides = func.blocks[block].terminator.used();
        if let Some(vreg) = decides.filter(|&vreg| reach[vreg] == Reach::Within(block, u32::MAX)) {
            free[func.vregs[vreg] as usize].push(assignment.index[vreg]);
        }
    }
    assignment
}

fn reaches(func: &Function) -> SecondaryMap<VReg, Reach> {
    let mut reach: SecondaryMap<VReg, Reach> = SecondaryMap::new();
    reach.resize(func.vregs.len());
    for &block in &func.layout {
        for &param in func.params(block) {
            reach[param] = Reach::Across;
        }
        let insts = func.block_insts(block);
        for (at, inst) in (0..).zip(insts) {
            for operand in func.inst_operands(inst) {
                if let Some(vreg) = operand.defined() {
                    reach[vreg] = match reach[vreg] {
                        Reach::Nowhere => Reach::Within(block, at),
                        // Used in a block that comes earlier in the text, or defined more than once.
                        Reach::Within(..) | Reach::Across => Reach::Across,
                    };
                }
                if let Some(vreg) = operand.used() {
                    used(&mut reach, vreg, block, at);
                }
            }
        }
        if let Some(vreg) = func.blocks[block].terminator.used() {
            used(&mut reach, vreg, block, u32::MAX);
        }
        for edge in func.successors(block) {
            for &vreg in func.edge_args(edge) {
                reach[vreg] = Reach::Across;
            }
        }
    }
    reach
}

fn used(reach: &mut SecondaryMap<VReg, Reach>, vreg: VReg, block: Block, at: u32) {
    reach[vreg] = match reach[vreg] {
        Reach::Within(own, _) if own == block => Reach::Within(block, at),
        Reach::Nowhere | Reach::Within(..) | Reach::Across => Reach::Across,
    };
}
