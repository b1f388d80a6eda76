//! The operations beside the loop: what is not arithmetic, a plain access or a branch.

use crate::engine::observe::Sync;
use crate::engine::op::Op;
use crate::engine::run::{Fallible, Issue, Next, Runner};
use crate::engine::values::put;
use crate::engine::warp::{Activation, Warp};
use crate::fault::FaultCode;
use crate::memory::window;
use std::sync::atomic::{Ordering, fence};
use warpsmith_isa::StateSpace;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Executes an operation that is not arithmetic, a plain access or a branch, for group `g`, whose state is in the warp.
    ///
    /// A function of its own, so that the loop stays small: it is compiled for each instruction set.
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        activation: &Activation,
        op: &Op,
    ) -> Fallible<Next> {
        let Issue { block, frame, pc, mask: active, stack, .. } = issue;
        // Lanes that the guard leaves out may take part in a collective operation all the same.
        if active == 0 && !matches!(op, Op::Collective(_)) {
            return Ok(Next::Advance);
        }
        match op {
            Op::Special(dst, special) => self.special(issue, block.clock + warp.executed, *dst, *special),
            Op::ActiveMask(dst) => {
                // Which lanes are together is the scheduler's choice.
                self.looks += 1;
                put(frame, *dst, active, &[u64::from(active); 32]);
            }
            Op::StackAddress { dst, offset, generic } => {
                let base = if *generic { window::base(StateSpace::Local).unwrap_or(0) } else { 0 };
                let address = base.wrapping_add(u64::from(stack)).wrapping_add_signed(*offset);
                put(frame, *dst, active, &[address; 32]);
            }
            Op::Collective(collective) => return self.collective(warp, g, issue, collective),
            Op::Atomic(atomic) => {
                warp.haste = crate::engine::warp::HASTE;
                self.atomic(warp, issue, atomic)?;
            }
            Op::Fence(f) => {
                fence(Ordering::SeqCst);
                if WATCHED {
                    let at = self.at(issue);
                    self.observer.synchronise(&at, Sync::Fence(*f));
                }
            }
            Op::Barrier(barrier) => {
                self.reach_barrier(warp, g, issue, barrier)?;
                return Ok(Next::Choose);
            }
            Op::System(system) => {
                warp.groups[g].pc = pc + 1;
                // A fault is reported for the call, not for the operand that denotes the function.
                let call = Issue { pc: activation.call, ..issue };
                self.system(warp, call, system)?;
                let at = self.at(issue);
                self.tell_results(&at, frame, activation);
                warp.reconverge(g);
                return Ok(Next::System);
            }
            Op::Stack(op) => self.stack(warp, issue, op)?,
            Op::Yield => {
                warp.groups[g].pc = pc + 1;
                warp.pause(g);
                block.cluster.yielded.set(true);
                return Ok(Next::Yield);
            }
            Op::Matrix(op) => return self.matrix(warp, g, issue, op),
            Op::Texture(op) => self.texture(issue, op)?,
            Op::Async(op) => {
                let next = self.asynchronous(warp, g, issue, op)?;
                if matches!(next, Next::Yield) {
                    let at = self.at(issue);
                    self.tell_results(&at, frame, activation);
                    warp.groups[g].pc = pc + 1;
                    warp.pause(g);
                    block.cluster.yielded.set(true);
                }
                return Ok(next);
            }
            Op::Switch { index, targets } => {
                self.switch(warp, g, issue, *index, targets.of(&self.cx.program.targets))?;
                return Ok(Next::Choose);
            }
            Op::Call(call) => {
                self.call(warp, g, issue, call)?;
                return Ok(Next::Call);
            }
            Op::Ret => {
                self.ret(warp, g, issue);
                return Ok(Next::Choose);
            }
            Op::Exit => {
                if WATCHED {
                    let at = self.at(issue);
                    self.observer.exited(&at);
                }
                warp.groups[g].pc = pc + 1;
                self.changes += 1;
                warp.exit(g, active);
                return Ok(Next::Choose);
            }
            Op::Trap => return Err(self.fault(issue, FaultCode::Trap, "`trap` was executed")),
            Op::Lanes(..)
            | Op::Region(_)
            | Op::Load(..)
            | Op::Store(..)
            | Op::LoadVector(..)
            | Op::StoreVector(..)
            | Op::Branch(_)
            | Op::Nop => unreachable!("the loop executes these itself"),
        }
        Ok(Next::Advance)
    }
}
