//! Control flow: branches, and the moves of edges.

use super::edges::Placed;
use super::*;

impl Writer<'_> {
    pub(super) fn terminator(&mut self, block: Block, next: Option<Block>) {
        match self.body.mach.blocks[block].terminator {
            Terminator::Jump(edge) => {
                let moves = self.moves_at_end(block, edge);
                self.write_moves(&moves);
                self.go_on(edge, next);
            }
            Terminator::Branch { condition, negated, taken, otherwise, uniform } => {
                self.branch(block, (condition, negated), [taken, otherwise], next, uniform);
            }
            Terminator::Table { index, uniform, .. } => self.table(block, index, uniform),
            Terminator::Return => self.push(None, ptx!(Ret), &[]),
            Terminator::Trap => {
                self.push(None, ptx!(Trap), &[]);
                self.push(None, ptx!(Exit), &[]);
            }
        }
    }

    pub(super) fn has_moves(&mut self, edge: Edge) -> bool {
        let Writer { body, moves, .. } = self;
        body.assignment.edge_moves(body.mach, edge, moves);
        !moves.is_empty()
    }

    /// The moves of an edge and, unless the target follows, the jump.
    pub(super) fn take(&mut self, edge: Edge, next: Option<Block>) {
        let moves = self.moves_on(edge);
        self.write_moves(&moves);
        self.go_on(edge, next);
    }

    /// The jump of an edge, unless the target follows.
    fn go_on(&mut self, edge: Edge, next: Option<Block>) {
        if next != Some(edge.target) {
            self.jump(None, edge.target.index(), false);
        }
    }

    pub(super) fn jump(&mut self, guard: Option<Guard>, label: usize, uniform: bool) {
        let label = self.label(label);
        self.targets.insert(label);
        self.push(guard, if uniform { ptx!(Bra.Uni) } else { ptx!(Bra) }, &[Operand::Name(label)]);
    }

    fn branch(
        &mut self,
        block: Block,
        (condition, negated): (VReg, bool),
        [taken, otherwise]: [Edge; 2],
        next: Option<Block>,
        uniform: bool,
    ) {
        let predicate = self.reg(condition);
        let Placed { before, on } = self.place(block, condition, [taken, otherwise]);
        self.write_moves(&before);
        if let Some(n) = self.guarded_block([taken, otherwise], &on, next) {
            let guard = Guard::new(predicate, if n == 0 { negated } else { !negated });
            self.guarded = next.map(|block| (block, guard));
            return;
        }
        let [on_taken, on_other] = on;
        let (taken_moves, other_moves) = (!on_taken.is_empty(), !on_other.is_empty());
        let holds = Some(Guard::new(predicate, negated));
        let fails = Some(Guard::new(predicate, !negated));
        // What needs moves, or what follows anyway, is reached by not branching.
        if !other_moves && (taken_moves || next == Some(taken.target)) {
            self.jump(fails, otherwise.target.index(), uniform);
            self.write_moves(&on_taken);
            self.go_on(taken, next);
        } else if !taken_moves {
            self.jump(holds, taken.target.index(), uniform);
            self.write_moves(&on_other);
            self.go_on(otherwise, next);
        } else {
            let label = self.new_label();
            self.jump(holds, label, uniform);
            self.write_moves(&on_other);
            self.go_on(otherwise, None);
            let label = self.label(label);
            self.stmts.push(Stmt::Label(label));
            self.write_moves(&on_taken);
            self.go_on(taken, next);
        }
    }

    pub(super) fn new_label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }

    /// `brx.idx` through a list of labels; edges with moves get a place of their own behind it.
    pub(super) fn table(&mut self, block: Block, index: VReg, uniform: bool) {
        let mach = self.body.mach;
        let mut detours: Vec<(usize, Edge)> = Vec::new();
        let mut targets = Vec::new();
        for edge in mach.successors(block) {
            let known = detours.iter().find(|(_, known)| *known == edge).map(|(label, _)| *label);
            let label = match known {
                Some(label) => label,
                None if self.has_moves(edge) => {
                    let label = self.new_label();
                    detours.push((label, edge));
                    label
                }
                None => edge.target.index(),
            };
            let name = self.label(label);
            self.targets.insert(name);
            targets.push(Declarator {
                name,
                count: None,
                dims: List::default(),
                init: None,
                span: warpsmith_diag::Span::NONE,
            });
        }
        let name = self.new_label();
        let name = self.label(name);
        let targets = self.body.tree.declarator_list(&targets);
        self.stmts.push(Stmt::BranchTargets { name, targets });
        let index = Operand::Name(self.reg(index));
        self.push(None, if uniform { ptx!(BrxIdx.Uni) } else { ptx!(BrxIdx) }, &[index, Operand::Name(name)]);
        for (label, edge) in detours {
            let label = self.label(label);
            self.stmts.push(Stmt::Label(label));
            self.take(edge, None);
        }
    }
}
