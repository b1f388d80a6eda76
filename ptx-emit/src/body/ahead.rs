//! Moves that both ways of a branch make stand in front of it, once.
//!
//! Where a loop is passed by that would start from the same values, the way around it moves what the way into it moves too. ptxas then knows the
//! accumulators of products in the background (`wgmma`) by one name in front of the loop and behind it; with moves on the way around it runs these
//! products one after the other.

use super::edges::{Move, Moves};
use super::*;

/// Moves that were made in front of the branch that leads to a block, and are not made again at its end.
pub(super) type Ahead = FxHashMap<Block, Vec<(Reg, Reg)>>;

/// So many moves stand in front of a branch even if others stay on its ways.
const MANY: usize = 4;

impl Writer<'_> {
    /// Takes the moves off both ways of a branch that stand in front of it: if that leaves none on one of the ways, or if they are many.
    pub(super) fn take_ahead(
        &mut self,
        block: Block,
        edges: [Edge; 2],
        condition: VReg,
        on: &mut [Moves; 2],
    ) -> Moves {
        let Some(liveness) = self.liveness.take() else { return Moves::new() };
        let decides = self.body.assignment.reg(self.body.mach, condition);
        let found = [0, 1].into_iter().find_map(|n| {
            let (own, other) = (&on[n], edges[1 - n].target);
            if own.is_empty() {
                return None;
            }
            let (others, through) = match self.body.mach.blocks[other].terminator {
                _ if !on[1 - n].is_empty() => (on[1 - n].clone(), None),
                // One that stands further up has made its moves.
                Terminator::Jump(edge)
                    if self.entries[other] == 1 && self.position[other] > self.position[block] =>
                {
                    (self.moves_on(edge), Some(other))
                }
                Terminator::Jump(_)
                | Terminator::Branch { .. }
                | Terminator::Table { .. }
                | Terminator::Return
                | Terminator::Trap => return None,
            };
            let made: FxHashSet<(Reg, Reg)> = others.iter().map(|one| (one.to, one.from)).collect();
            let mut shared: Moves =
                own.iter().filter(|one| made.contains(&(one.to, one.from))).copied().collect();
            if through.is_some() {
                let touched = self.touched(other, &shared);
                shared.retain(|one| !touched.contains(&one.to) && !touched.contains(&one.from));
            }
            let written: FxHashSet<Reg> = shared.iter().map(|one| one.to).collect();
            // What the other way needs, and what is moved behind these.
            let needed = liveness.live_into(other).map(|vreg| self.body.assignment.reg(self.body.mach, vreg));
            let behind =
                own.iter().chain(&others).filter(|one| !written.contains(&one.to)).map(|one| one.from);
            let lost = needed.chain(behind).chain([decides]).any(|reg| written.contains(&reg));
            let pays = shared.len() == own.len() || shared.len() >= MANY;
            (pays && !lost).then_some((shared, written, through))
        });
        self.liveness = Some(liveness);
        let Some((shared, written, through)) = found else { return Moves::new() };
        on.iter_mut().for_each(|moves| moves.retain(|one| !written.contains(&one.to)));
        if let Some(block) = through {
            self.ahead.insert(block, shared.iter().map(|one| (one.to, one.from)).collect());
        }
        shared
    }

    /// The registers of moves that a block uses otherwise, so that the moves cannot stand in front of it: those that are written and that it reads or
    /// writes, and those that are read and that it writes.
    fn touched(&self, block: Block, moves: &[Move]) -> FxHashSet<Reg> {
        let Body { mach, assignment, .. } = &self.body;
        let written: FxHashSet<Reg> = moves.iter().map(|one| one.to).collect();
        let mut touched = FxHashSet::default();
        for operand in mach.block_insts(block).iter().flat_map(|inst| mach.inst_operands(inst)) {
            let [used, defined] =
                [operand.used(), operand.defined()].map(|vreg| vreg.map(|vreg| assignment.reg(mach, vreg)));
            touched.extend(used.filter(|reg| written.contains(reg)));
            touched.extend(defined);
            if matches!(operand, mach::Operand::Update(_)) {
                touched.extend(used);
            }
        }
        touched
    }

    /// The moves of an edge that ends a block, without those that were made ahead.
    pub(super) fn moves_at_end(&mut self, block: Block, edge: Edge) -> Moves {
        let mut moves = self.moves_on(edge);
        if let Some(made) = self.ahead.remove(&block) {
            let is_made = |one: &Move| made.contains(&(one.to, one.from));
            if let Some(notes) = &mut self.notes {
                for one in moves.iter().filter(|one| is_made(one)) {
                    if let Some(value) = one.value {
                        notes.write(self.stmts.len(), one.to, value);
                    }
                }
            }
            moves.retain(|one| !is_made(one));
        }
        moves
    }
}

/// How many edges lead to each block.
pub(super) fn entries(mach: &mach::Function) -> SecondaryMap<Block, u32> {
    let mut entries = SecondaryMap::new();
    for &block in &mach.layout {
        mach.successors(block).for_each(|edge| entries[edge.target] += 1);
    }
    entries
}
