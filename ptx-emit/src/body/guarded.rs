//! Stores that a branch goes around: they get a guard, and there is no branch.
//!
//! What has a result stays behind a branch: ptxas decides better than a guard does what of it is computed in any case.

use super::edges::Moves;
use super::*;
use warpsmith_ir::Traits;

/// Stores that guards cost no more than the branch does: with two, those who skip them execute as many.
const MAX_GUARDED: usize = 2;

impl Writer<'_> {
    /// The block of a branch's two ways whose instructions are guarded: that which follows, if the other way goes around it and neither moves anything.
    pub(super) fn guarded_block(
        &mut self,
        edges: [Edge; 2],
        on: &[Moves; 2],
        next: Option<Block>,
    ) -> Option<usize> {
        let n = edges.iter().position(|edge| next == Some(edge.target))?;
        let (block, around) = (edges[n].target, edges[1 - n].target);
        let mach = self.body.mach;
        let Terminator::Jump(joins) = mach.blocks[block].terminator else { return None };
        let short = mach.block_insts(block).len() <= MAX_GUARDED && !mach.blocks[block].nounroll;
        let passes =
            joins.target == around && self.entries[block] == 1 && on.iter().all(|moves| moves.is_empty());
        if !(short && passes) || self.has_moves(joins) {
            return None;
        }
        let func = self.body.func;
        let may_be_guarded = |inst: &mach::Inst| {
            let convergent =
                inst.origin.is_some_and(|origin| func.traits(origin).contains(Traits::CONVERGENT));
            let writes = mach
                .inst_operands(inst)
                .iter()
                .any(|operand| operand.defined().is_some() || matches!(operand, mach::Operand::Update(_)));
            matches!(inst.op, Op::Ptx(_)) && !convergent && !writes
        };
        mach.block_insts(block).iter().all(may_be_guarded).then_some(n)
    }
}
