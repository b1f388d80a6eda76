//! Registers of values that are used in their own block only, in one pass over the text.
//!
//! Such a value takes a register that is free, and gives it back behind its last use. A value that lives across blocks, or is a parameter of a block or
//! an argument of a branch, keeps the register that it has, and without one gets its own: in functions that are too large for `regalloc2`, what shares
//! these is left to ptxas.

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
    let mut assignment = Assignment::empty(func);
    fill(func, &Reaches::of(func), &mut assignment);
    assignment
}

/// Gives a home to every virtual register that has none yet. Values within a block do not share one with others.
pub(super) fn fill(func: &Function, reach: &Reaches, assignment: &mut Assignment) {
    let reach = &reach.0;
    let mut free: [Vec<u32>; RegClass::COUNT] = Default::default();
    let mut ending: Vec<VReg> = Vec::new();
    for &block in &func.layout {
        for &param in func.params(block) {
            if assignment.index[param] == UNASSIGNED {
                assignment.index[param] = assignment.fresh(func.vregs[param]).index;
            }
        }
        for (at, inst) in (0..).zip(func.block_insts(block)) {
            let operands = func.inst_operands(inst);
            let ends = |vreg: &VReg| reach[*vreg] == Reach::Within(block, at);
            // Operands are read before results are written, which may take over their registers.
            ending.clear();
            ending.extend(operands.iter().filter_map(|operand| operand.used()).filter(ends));
            ending.sort_unstable();
            ending.dedup();
            release(func, assignment, &ending, &mut free);
            ending.clear();
            for vreg in operands.iter().filter_map(|operand| operand.defined()) {
                if assignment.index[vreg] == UNASSIGNED {
                    let class = func.vregs[vreg];
                    let within = matches!(reach[vreg], Reach::Within(..));
                    let reused = if within { free[class as usize].pop() } else { None };
                    assignment.index[vreg] = reused.unwrap_or_else(|| assignment.fresh(class).index);
                    ending.extend(Some(vreg).filter(ends));
                }
            }
            release(func, assignment, &ending, &mut free);
        }
        let decides = func.blocks[block].terminator.used();
        if let Some(vreg) = decides.filter(|&vreg| reach[vreg] == Reach::Within(block, u32::MAX)) {
            release(func, assignment, &[vreg], &mut free);
        }
    }
}

/// Gives back the registers of values.
fn release(
    func: &Function,
    assignment: &Assignment,
    values: &[VReg],
    free: &mut [Vec<u32>; RegClass::COUNT],
) {
    for &vreg in values {
        free[func.vregs[vreg] as usize].push(assignment.index[vreg]);
    }
}

/// Where each value is used.
pub(super) struct Reaches(SecondaryMap<VReg, Reach>);

impl Reaches {
    pub fn of(func: &Function) -> Self {
        Reaches(reaches(func))
    }

    /// True for a value that another block uses, or that an edge gives or takes.
    pub fn is_across(&self, vreg: VReg) -> bool {
        self.0[vreg] == Reach::Across
    }
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
            let operands = func.inst_operands(inst);
            // Read before it is written: what nothing has written before is then not taken for a value of this block.
            operands
                .iter()
                .filter_map(|operand| operand.used())
                .for_each(|vreg| used(&mut reach, vreg, block, at));
            for vreg in operands.iter().filter_map(|operand| operand.defined()) {
                reach[vreg] = match reach[vreg] {
                    Reach::Nowhere => Reach::Within(block, at),
                    // Used in a block that comes earlier in the text, or defined more than once.
                    Reach::Within(..) | Reach::Across => Reach::Across,
                };
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
