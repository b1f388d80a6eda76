//! `regalloc2` on the same code: it gives the slots that [`slots`](super::slots) finds.

use super::allocated::View;
use super::slots::Code;
use regalloc2 as ra;

/// Panics where the allocator gives other slots.
pub fn compare(view: &View, slots: &[u32]) {
    let code = Oracle::of(view);
    // The scratch registers only serve moves between slots, which are dropped.
    let env = ra::MachineEnv {
        preferred_regs_by_class: [ra::PRegSet::empty(); 3],
        non_preferred_regs_by_class: [ra::PRegSet::empty(); 3],
        scratch_by_class: CLASSES.map(|class| Some(ra::PReg::new(0, class))),
        fixed_stack_slots: Vec::new(),
    };
    let options = ra::RegallocOptions { validate_ssa: true, ..Default::default() };
    let output = ra::run(&code, &env, &options).expect("the allocator takes what has slots");
    for (inst, operands) in code.operands.iter().enumerate() {
        for (operand, allocation) in operands.iter().zip(output.inst_allocs(ra::Inst::new(inst))) {
            let slot = allocation.as_stack().map(|slot| slot.index() as u32);
            assert_eq!(slot, slots.get(operand.vreg().vreg()).copied(), "{}", operand.vreg());
        }
    }
}

const CLASSES: [ra::RegClass; 3] = [ra::RegClass::Int, ra::RegClass::Float, ra::RegClass::Vector];

struct Oracle {
    blocks: Vec<Block>,
    operands: Vec<Vec<ra::Operand>>,
    values: usize,
}

struct Block {
    insts: ra::InstRange,
    successors: Vec<ra::Block>,
    predecessors: Vec<ra::Block>,
    params: Vec<ra::VReg>,
    given: Vec<ra::VReg>,
}

impl Oracle {
    fn of(view: &View) -> Oracle {
        let block = |&block: &u32| ra::Block::new(block as usize);
        let value = |&value: &u32| ra::VReg::new(value as usize, CLASSES[view.class(value)]);
        let mut operands = Vec::new();
        let mut blocks = Vec::new();
        for n in 0..view.blocks() as u32 {
            let (first, end) = view.insts(n);
            for inst in first..end {
                let of_inst = view.operands(inst).iter().map(|operand| {
                    let (kind, pos) = match operand.is_written {
                        true => (ra::OperandKind::Def, ra::OperandPos::Late),
                        false => (ra::OperandKind::Use, ra::OperandPos::Early),
                    };
                    ra::Operand::new(value(&operand.value), ra::OperandConstraint::Any, kind, pos)
                });
                operands.push(of_inst.collect());
            }
            let [first, end] = [first, end].map(|inst| ra::Inst::new(inst as usize));
            blocks.push(Block {
                insts: ra::InstRange::new(first, end),
                successors: view.successors(n).iter().map(block).collect(),
                predecessors: view.predecessors(n).iter().map(block).collect(),
                params: view.params(n).iter().map(value).collect(),
                given: view.given(n).iter().map(value).collect(),
            });
        }
        Oracle { blocks, operands, values: view.values() }
    }

    /// The block that an instruction ends, if it does.
    fn ended(&self, inst: ra::Inst) -> Option<&Block> {
        let place = self.blocks.partition_point(|block| block.insts.last() < inst);
        self.blocks.get(place).filter(|block| block.insts.last() == inst)
    }
}

impl ra::Function for Oracle {
    fn num_insts(&self) -> usize {
        self.operands.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> ra::Block {
        ra::Block::new(0)
    }

    fn block_insns(&self, block: ra::Block) -> ra::InstRange {
        self.blocks[block.index()].insts
    }

    fn block_succs(&self, block: ra::Block) -> &[ra::Block] {
        &self.blocks[block.index()].successors
    }

    fn block_preds(&self, block: ra::Block) -> &[ra::Block] {
        &self.blocks[block.index()].predecessors
    }

    fn block_params(&self, block: ra::Block) -> &[ra::VReg] {
        &self.blocks[block.index()].params
    }

    fn is_ret(&self, inst: ra::Inst) -> bool {
        self.ended(inst).is_some_and(|block| block.successors.is_empty())
    }

    fn is_branch(&self, inst: ra::Inst) -> bool {
        self.ended(inst).is_some_and(|block| !block.successors.is_empty())
    }

    fn branch_blockparams(&self, block: ra::Block, _: ra::Inst, _: usize) -> &[ra::VReg] {
        &self.blocks[block.index()].given
    }

    fn inst_operands(&self, inst: ra::Inst) -> &[ra::Operand] {
        &self.operands[inst.index()]
    }

    fn inst_clobbers(&self, _: ra::Inst) -> ra::PRegSet {
        ra::PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.values
    }

    fn spillslot_size(&self, _: ra::RegClass) -> usize {
        1
    }
}
