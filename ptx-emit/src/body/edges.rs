//! The moves of edges, and where those of a branch stand.
//!
//! An edge that has moves and whose ends have other edges too needs a place of its own for them, with a jump that ptxas takes for a block: a loop that
//! ends so is one that is left in its middle, and `if (c) x = a[i];` is a choice of two ways. In front of the branch the moves are plain copies, which ptxas
//! drops or makes of two registers one. They may stand there if the other way needs nothing of what they overwrite.

use super::*;
use crate::regs::Liveness;
use smallvec::SmallVec;

/// A move, and the value that its destination then holds if that is one of the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) to: Reg,
    pub(super) from: Reg,
    pub(super) value: Option<VReg>,
}

/// The moves of an edge: most have few.
pub(super) type Moves = SmallVec<[Move; 4]>;

/// The moves of a branch.
pub(super) struct Placed {
    /// In front of it, together.
    pub(super) before: Moves,
    /// On its ways.
    pub(super) on: [Moves; 2],
}

/// Moves that a way around a block may cost those who go through the block.
const MAX_FORWARD: usize = 2;

/// Values that are kept in registers of their own so that moves can stand in front of a branch.
const MAX_KEPT: usize = 1;

/// Blocks times values of a function whose liveness is computed; the moves of larger ones stay on their edges.
const MAX_LIVENESS: usize = 1 << 26;

/// The places of blocks in the text.
pub(super) type Positions = SecondaryMap<Block, u32>;

/// What is live, if a branch has moves that may stand in front of it: of the registers that these write, since nobody asks about others.
pub(super) fn liveness(
    mach: &mach::Function,
    assignment: &Assignment,
    positions: &Positions,
) -> Option<Liveness> {
    let (mut moves, mut written) = (Vec::new(), Vec::new());
    for &block in &mach.layout {
        let Terminator::Branch { taken, otherwise, .. } = mach.blocks[block].terminator else { continue };
        let branch = Branch::new(positions, block, [taken, otherwise]);
        for n in 0..2 {
            assignment.edge_moves(mach, branch.edges[n], &mut moves);
            if !moves.is_empty() && (branch.may_move(mach, n, moves.len()) || branch.may_share(mach, n)) {
                written.extend(moves.iter().map(|(to, _)| *to));
            }
        }
    }
    let size = mach.blocks.len().saturating_mul(mach.vregs.len());
    if written.is_empty() || size > MAX_LIVENESS {
        return None;
    }
    let mut is_written = assignment.counts.map(|count| vec![false; count as usize]);
    written.iter().for_each(|to: &Reg| is_written[to.class as usize][to.index as usize] = true);
    Some(Liveness::of(mach, |vreg| {
        let Reg { class, index } = assignment.reg(mach, vreg);
        is_written[class as usize].get(index as usize) == Some(&true)
    }))
}

/// The two ways that a branch leads.
struct Branch {
    edges: [Edge; 2],
    /// Whether each is a way back to the head of a loop.
    back: [bool; 2],
}

impl Branch {
    fn new(positions: &Positions, block: Block, edges: [Edge; 2]) -> Self {
        Branch { edges, back: edges.map(|edge| positions[edge.target] <= positions[block]) }
    }

    /// True if so many moves of an edge may stand in front of the branch, should the other way need nothing that they overwrite: those of a way
    /// back, and those of a way around a block, if they are few.
    fn may_move(&self, mach: &mach::Function, n: usize, moves: usize) -> bool {
        let (own, other) = (self.edges[n], self.edges[1 - n]);
        let around = match mach.blocks[other.target].terminator {
            Terminator::Jump(joins) => joins.target == own.target && !self.back[1 - n],
            Terminator::Branch { .. } | Terminator::Table { .. } | Terminator::Return | Terminator::Trap => {
                false
            }
        };
        self.back[n] || around && moves <= MAX_FORWARD
    }

    /// True if the other way may make the moves of an edge too.
    fn may_share(&self, mach: &mach::Function, n: usize) -> bool {
        let other = self.edges[1 - n];
        !mach.params(other.target).is_empty()
            || matches!(mach.blocks[other.target].terminator, Terminator::Jump(joins) if !mach.params(joins.target).is_empty())
    }
}

impl Writer<'_> {
    /// The moves of an edge.
    pub(super) fn moves_on(&mut self, edge: Edge) -> Moves {
        let Writer { body: Body { assignment, mach, .. }, moves, .. } = self;
        assignment.edge_moves(mach, edge, moves);
        let params = mach.params(edge.target);
        let value = |to: Reg| params.iter().copied().find(|&param| assignment.reg(mach, param) == to);
        moves.iter().map(|&(to, from)| Move { to, from, value: value(to) }).collect()
    }

    /// Decides where the moves of a branch's two edges stand: those of a way back to the head of a loop in front of the branch, and those of a way
    /// around a block, if they are few.
    pub(super) fn place(&mut self, block: Block, condition: VReg, edges: [Edge; 2]) -> Placed {
        let mut on = edges.map(|edge| self.moves_on(edge));
        let before = self.take_ahead(block, edges, condition, &mut on);
        let made_ahead = !before.is_empty();
        let mut placed = Placed { before, on };
        if made_ahead {
            return placed;
        }
        let Some(liveness) = self.liveness.take() else { return placed };
        let branch = Branch::new(&self.position, block, edges);
        let mut moved = [false; 2];
        // What the other way needs is where it was put behind the moves only.
        let mut elsewhere = false;
        for n in if branch.back[1] { [1, 0] } else { [0, 1] } {
            let other = edges[1 - n];
            let mach = self.body.mach;
            if placed.on[n].is_empty() || !branch.may_move(mach, n, placed.on[n].len()) {
                continue;
            }
            // What the other way needs: what is live behind it, and what it moves, or has moved.
            let live = liveness.live_into(other.target);
            let given = if moved[1 - n] { mach.params(other.target) } else { mach.edge_args(other) };
            let assignment = &mut self.body.assignment;
            let needed = |assignment: &Assignment, reg: Reg| {
                live.clone().chain(given.iter().copied()).any(|vreg| assignment.reg(mach, vreg) == reg)
            };
            let decides = assignment.reg(mach, condition);
            let lost: Vec<Reg> =
                placed.on[n].iter().map(|one| one.to).filter(|&reg| needed(assignment, reg)).collect();
            // Where the moves leave what they overwrite: of values that rotate, `a = b, b = c`, in the next register.
            let left: Vec<(Reg, Option<Reg>)> = lost
                .into_iter()
                .map(|reg| (reg, placed.on[n].iter().find(|one| one.from == reg).map(|one| one.to)))
                .collect();
            let unkept = left.iter().filter(|(_, at)| at.is_none()).count();
            let may_keep = branch.back[n] && !moved[1 - n] && unkept <= MAX_KEPT;
            if elsewhere || placed.on[n].iter().any(|one| one.to == decides) || !(left.is_empty() || may_keep)
            {
                continue;
            }
            elsewhere = !left.is_empty();
            let mut now_at: Vec<(Reg, Reg)> = Vec::with_capacity(left.len());
            for (reg, at) in left {
                let at = at.unwrap_or_else(|| {
                    let kept = assignment.fresh(reg.class);
                    placed.before.push(Move { to: kept, from: reg, value: None });
                    kept
                });
                now_at.push((reg, at));
            }
            let others = &mut placed.on[1 - n];
            let found_at = |reg: Reg| now_at.iter().find(|(old, _)| *old == reg).map_or(reg, |(_, at)| *at);
            others.iter_mut().for_each(|one| one.from = found_at(one.from));
            for &(reg, from) in &now_at {
                // It is put back where it lives on.
                let mut stays = live.clone().chain(mach.params(other.target).iter().copied());
                let value = stays.find(|&vreg| assignment.reg(mach, vreg) == reg);
                if value.is_some() && others.iter().all(|one| one.to != reg) {
                    others.push(Move { to: reg, from, value });
                }
            }
            let own = std::mem::take(&mut placed.on[n]);
            placed.before.extend(own);
            moved[n] = true;
        }
        self.liveness = Some(liveness);
        placed
    }

    /// Writes moves that are made at once.
    pub(super) fn write_moves(&mut self, moves: &[Move]) {
        if moves.is_empty() {
            return;
        }
        let mut ordered: SmallVec<[(Reg, Reg); 8]> = SmallVec::new();
        let assignment = &mut self.body.assignment;
        let pairs: SmallVec<[(Reg, Reg); 8]> = moves.iter().map(|one| (one.to, one.from)).collect();
        sequentialize(&pairs, |reg| assignment.fresh(reg.class), |to, from| ordered.push((to, from)));
        self.begin_instruction();
        if let Some(notes) = &mut self.notes {
            for one in moves {
                if let Some(value) = one.value {
                    notes.write(self.stmts.len(), one.to, value);
                }
            }
        }
        for (to, from) in ordered {
            let operands = [to, from].map(|reg| Operand::Name(self.body.names.register(self.body.tree, reg)));
            let mov = Mnemonic::new(Opcode::Mov).with(Mod::of_scalar(to.class.scalar()));
            self.push(None, mov, &operands);
        }
    }
}
