//! Edges between blocks.

use super::function::Body;
use super::values::Regs;
use crate::engine::lanes::portable as vector;
use crate::engine::{Guard, Reg, Width};
use warpsmith_ir::{BlockCall, Value};

impl Body<'_, '_> {
    /// Goes to a block, its parameters taking the arguments' values all at once.
    pub(super) fn go_to(&mut self, call: &BlockCall) {
        self.pass(call);
        let label = self.label(call.block);
        self.body.branch(label);
    }

    /// Moves the arguments of a branch to the parameters of its target.
    fn pass(&mut self, call: &BlockCall) {
        let function = self.function;
        let (params, args) = (function.dfg.block_params(call.block), call.args(&function.dfg.pool));
        let mut moves: Vec<(Reg, Reg)> = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let (to, from): (Regs, Regs) = (self.regs(*param), self.regs(*arg));
            moves.extend(to.into_iter().zip(from).filter(|(to, from)| to != from));
        }
        // A move is ready when no other one still reads what it overwrites; what is left then are cycles, which a copy opens.
        while !moves.is_empty() {
            match moves.iter().position(|(to, _)| moves.iter().all(|(_, from)| from != to)) {
                Some(ready) => {
                    let (to, from) = moves.swap_remove(ready);
                    self.body.copy(to, from);
                }
                None => {
                    let from = moves[0].1;
                    let saved = self.body.reg(from.width());
                    self.body.copy(saved, from);
                    moves.iter_mut().filter(|m| m.1 == from).for_each(|m| m.1 = saved);
                }
            }
        }
    }

    /// `brif`
    pub(super) fn branch(&mut self, cond: Value, dests: &[BlockCall; 2]) {
        let pred = self.one(cond);
        let [then, otherwise] = dests;
        if then.args.is_empty() {
            let label = self.label(then.block);
            self.body.branch_if(Guard { pred, negated: false }, label);
            self.go_to(otherwise);
        } else {
            let skip = self.body.label();
            self.body.branch_if(Guard { pred, negated: true }, skip);
            self.go_to(then);
            self.body.bind(skip);
            self.go_to(otherwise);
        }
    }

    /// `switch`, as a chain of comparisons in the order written.
    pub(super) fn switch(&mut self, value: Value, default: &BlockCall, cases: &[(i64, BlockCall)]) {
        let (ty, r) = (self.ty(value), self.one(value));
        let equal = match r.width() {
            Width::Pred => vector(|a: bool, b: bool| a == b),
            Width::W32 => vector(|a: u32, b: u32| a == b),
            Width::W64 => vector(|a: u64, b: u64| a == b),
            Width::W128 => vector(|a: u128, b: u128| a == b),
        };
        let mask = u128::MAX >> (128 - ty.bits());
        for (case, dest) in cases {
            // Cases are sign-extended; registers hold integers of odd widths zero-extended.
            let case = self.body.constant(i128::from(*case) as u128 & mask, r.width());
            let p = self.body.reg(Width::Pred);
            self.body.lanes(equal, &[p], &[r, case]);
            let guard = Guard { pred: p, negated: false };
            if dest.args.is_empty() {
                let label = self.label(dest.block);
                self.body.branch_if(guard, label);
            } else {
                let skip = self.body.label();
                self.body.branch_if(Guard { negated: true, ..guard }, skip);
                self.go_to(dest);
                self.body.bind(skip);
            }
        }
        self.go_to(default);
    }
}
