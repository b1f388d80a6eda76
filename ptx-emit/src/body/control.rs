//! Control flow: branches, and the moves of edges.

use super::*;

impl Writer<'_> {
    pub(super) fn terminator(&mut self, block: Block, next: Option<Block>) {
        match self.body.mach.blocks[block].terminator {
            Terminator::Jump(edge) => self.take(edge, next),
            Terminator::Branch { condition, negated, taken, otherwise } => {
                self.branch(condition, negated, taken, otherwise, next);
            }
            Terminator::Table { index, .. } => self.table(block, index),
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
        if self.has_moves(edge) {
            let mut ordered = Vec::with_capacity(self.moves.len() + 1);
            let assignment = &mut self.body.assignment;
            sequentialize(
                &self.moves,
                |reg| assignment.fresh(reg.class),
                |to, from| ordered.push((to, from)),
            );
            self.begin_instruction();
            if let Some(notes) = &mut self.notes {
                let Body { assignment, mach, .. } = &self.body;
                for (&param, &argument) in mach.params(edge.target).iter().zip(mach.edge_args(edge)) {
                    let [to, from] = [param, argument].map(|vreg| assignment.reg(mach, vreg));
                    if to != from {
                        notes.write(self.stmts.len(), to, param);
                    }
                }
            }
            for (to, from) in ordered {
                let operands =
                    [to, from].map(|reg| Operand::Name(self.body.names.register(self.body.tree, reg)));
                let mov = Mnemonic::new(Opcode::Mov).with(Mod::of_scalar(to.class.scalar()));
                self.push(None, mov, &operands);
            }
        }
        if next != Some(edge.target) {
            self.jump(None, edge.target.index());
        }
    }

    pub(super) fn jump(&mut self, guard: Option<Guard>, label: usize) {
        let label = self.label(label);
        self.targets.insert(label);
        self.push(guard, ptx!(Bra), &[Operand::Name(label)]);
    }

    pub(super) fn branch(
        &mut self,
        condition: VReg,
        negated: bool,
        taken: Edge,
        otherwise: Edge,
        next: Option<Block>,
    ) {
        let predicate = self.reg(condition);
        let (taken_moves, other_moves) = (self.has_moves(taken), self.has_moves(otherwise));
        let holds = Some(Guard::new(predicate, negated));
        let fails = Some(Guard::new(predicate, !negated));
        // What needs moves, or what follows anyway, is reached by not branching.
        if !other_moves && (taken_moves || next == Some(taken.target)) {
            self.jump(fails, otherwise.target.index());
            self.take(taken, next);
        } else if !taken_moves {
            self.jump(holds, taken.target.index());
            self.take(otherwise, next);
        } else {
            let label = self.new_label();
            self.jump(holds, label);
            self.take(otherwise, None);
            let label = self.label(label);
            self.stmts.push(Stmt::Label(label));
            self.take(taken, next);
        }
    }

    pub(super) fn new_label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }

    /// `brx.idx` through a list of labels; edges with moves get a place of their own behind it.
    pub(super) fn table(&mut self, block: Block, index: VReg) {
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
        self.push(None, ptx!(BrxIdx), &[index, Operand::Name(name)]);
        for (label, edge) in detours {
            let label = self.label(label);
            self.stmts.push(Stmt::Label(label));
            self.take(edge, None);
        }
    }
}
