//! Jumps through tables, calls and returns: groups of lanes split where they go to different places.

use crate::engine::file::Frame;
use crate::engine::lanes::Lane;
use crate::engine::observe::{At, Crossing};
use crate::engine::op::{Call, Callee, FuncId, Inst, Move, Op};
use crate::engine::reg::{Reg, Width};
use crate::engine::run::{Fallible, Issue, Runner};
use crate::engine::values::{lane32, lane64, lanes_of, lanes_where, put};
use crate::engine::warp::{Activation, State, Warp};
use crate::fault::FaultCode;
use crate::memory::window;

impl<const WATCHED: bool> Runner<'_, WATCHED> {
    /// Jumps through a table, to as many places as the lanes' indices name.
    pub fn switch(
        &mut self,
        warp: &mut Warp,
        g: usize,
        issue: Issue<'_>,
        index: Reg,
        targets: &[u32],
    ) -> Fallible<()> {
        let mut rest = issue.mask;
        let skipped = warp.groups[g].mask & !issue.mask;
        if skipped != 0 {
            warp.split(g, skipped, issue.pc + 1, State::Ready);
        }
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let value = lane32(issue.frame, index, lane);
            let same = lanes_where(rest, |i| lane32(issue.frame, index, i) == value);
            let Some(&target) = targets.get(value as usize) else {
                let message = format!("`brx.idx` with index {value} into a table of {}", targets.len());
                return Err(self.fault(issue.only(same), FaultCode::BadTarget, message));
            };
            if WATCHED && self.interest.branches {
                let at = At { group: issue.mask, ..self.at(issue.only(same)) };
                self.observer.switched(&at, value);
            }
            rest &= !same;
            if rest == 0 {
                warp.groups[g].pc = target;
            } else {
                warp.split(g, same, target, State::Ready);
            }
            warp.spin += if target <= issue.pc { warp.haste } else { 0 };
        }
        // Lanes may have jumped to where others already are.
        let mut g = 0;
        while g < warp.groups.len() {
            g = warp.reconverge(g) + 1;
        }
        Ok(())
    }

    /// Enters a function with the lanes of `here`. Lanes that call another function do so in a later choice.
    pub fn call(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>, call: &Call) -> Fallible<()> {
        let (callee, lanes) = match &call.callee {
            Callee::Direct(f) => (f.0, issue.mask),
            Callee::Indirect(r, candidates) => {
                let first = issue.mask.trailing_zeros() as usize;
                let address = lane64(issue.frame, *r, first);
                let same = lanes_where(issue.mask, |i| lane64(issue.frame, *r, i) == address);
                let function = window::function_at(address)
                    .filter(|f| self.cx.program.candidates(*candidates).binary_search(&FuncId(*f)).is_ok());
                let Some(function) = function else {
                    let named = window::function_at(address);
                    let named = named.and_then(|f| self.cx.program.functions.get(f as usize));
                    let message = match named {
                        Some(f) if !f.defined => format!(
                            "indirect call of `{}`, which this module does not define and the system does not provide",
                            f.name
                        ),
                        Some(f) => {
                            format!("indirect call of `{}`, which is not one of the call's targets", f.name)
                        }
                        None => {
                            format!("indirect call of {address:#x}, which is not one of the call's targets")
                        }
                    };
                    return Err(self.fault(issue, FaultCode::BadTarget, message));
                };
                (function, same)
            }
        };
        let (skipped, later) = (warp.groups[g].mask & !issue.mask, issue.mask & !lanes);
        if skipped != 0 {
            warp.split(g, skipped, issue.pc + 1, State::Ready);
        }
        if later != 0 {
            warp.split(g, later, issue.pc, State::Ready);
        }
        let function = &self.cx.program.functions[callee as usize];
        let caller_id = warp.groups[g].frame;
        let caller = *warp.activation(caller_id);
        let (row, stack) = (warp.free_row(&caller, callee, function.rows), caller.stack_end);
        let stack_end = stack + function.stack;
        let all_rows = caller.all_rows + function.rows;
        // Registers count as stack: that bounds the recursion of functions without local memory too.
        let per_thread = u64::from(stack_end) + 4 * u64::from(all_rows) + 16 * u64::from(caller.depth);
        if per_thread > self.cx.limits.stack {
            let message = format!(
                "call of `{}` at depth {} needs more than the {} bytes of stack a thread has",
                function.name,
                caller.depth + 1,
                self.cx.limits.stack
            );
            return Err(self.fault(issue, FaultCode::StackOverflow, message));
        }
        warp.file.reserve(row, function.rows);
        if !warp.local.reserve(stack_end) {
            return Err(self.fault(issue, FaultCode::OutOfMemory, "no memory for local variables"));
        }
        let activation = Activation {
            parent: caller_id,
            function: callee,
            call: issue.pc,
            depth: caller.depth + 1,
            row,
            rows: function.rows,
            all_rows,
            stack,
            stack_end,
            users: 1,
        };
        let id = warp.enter(activation);
        let activation = *warp.activation(id);
        (warp.groups[g].frame, warp.groups[g].pc) = (id, function.entry);
        if let Some(top) = function.saved_top {
            let frame = warp.frame(activation.place(), self.cx.constants);
            put(frame, top, lanes, &warp.tops.map(u64::from));
        }
        if self.cx.fresh != 0 {
            lanes_of(lanes).for_each(|lane| warp.local.renew(lane, activation.stack..activation.stack_end));
        }
        transfer(warp, self.cx.constants, &caller, &activation, &call.args, lanes);
        self.cross([&caller, &activation], &call.args, issue.only(lanes));
        warp.reconverge(g);
        Ok(())
    }

    pub fn ret(&mut self, warp: &mut Warp, g: usize, issue: Issue<'_>) {
        let skipped = warp.groups[g].mask & !issue.mask;
        if skipped != 0 {
            warp.split(g, skipped, issue.pc + 1, State::Ready);
        }
        let id = warp.groups[g].frame;
        let callee = *warp.activation(id);
        if let Some(Inst { op: Op::Call(call), .. }) = self.cx.program.code.get(callee.call as usize) {
            let caller = *warp.activation(callee.parent);
            if let Some(top) = self.cx.program.functions[callee.function as usize].saved_top {
                for lane in lanes_of(issue.mask) {
                    warp.tops[lane] = lane32(issue.frame, top, lane);
                }
            }
            transfer(warp, self.cx.constants, &callee, &caller, &call.results, issue.mask);
            self.cross([&callee, &caller], &call.results, Issue { pc: callee.call, ..issue });
            warp.retain(callee.parent);
            warp.groups[g].frame = callee.parent;
            warp.groups[g].pc = callee.call + 1;
            warp.release(id);
            warp.reconverge(g);
        } else {
            // A device function that was started as a kernel does not exist; `ret` in a kernel is `exit`.
            if WATCHED {
                let at = self.at(issue);
                self.observer.exited(&at);
            }
            self.changes += 1;
            warp.exit(g, issue.mask);
        }
    }

    /// Notifies the observer of a call or return. `here` is the call.
    fn cross(&mut self, [from, to]: [&Activation; 2], moves: &[Move], issue: Issue<'_>) {
        if WATCHED {
            let returns = from.depth > to.depth;
            let function = FuncId(if returns { from.function } else { to.function });
            let crossing =
                Crossing { function, returns, depth: to.depth, from: from.place(), to: to.place(), moves };
            let at = self.at(issue);
            self.observer.crossed(&at, &crossing);
        }
    }
}

/// Copies arguments or results between two activations.
fn transfer(
    warp: &mut Warp,
    constants: &[crate::engine::file::Cell],
    from: &Activation,
    to: &Activation,
    moves: &[Move],
    lanes: u32,
) {
    let source = warp.frame(from.place(), constants);
    let target = warp.frame(to.place(), constants);
    for m in moves {
        match *m {
            Move::Reg { from, to } => copy(source, from, target, to, lanes),
            Move::Stack { from: a, to: b, bytes } => {
                for lane in lanes_of(lanes) {
                    warp.local.copy(lane, from.stack + a, to.stack + b, bytes);
                }
            }
        }
    }
}

fn copy(source: Frame, from: Reg, target: Frame, to: Reg, lanes: u32) {
    // SAFETY: the registers of a call were checked against both functions when the program was built.
    unsafe {
        match to.width() {
            Width::Pred => target.set_pred(to, source.pred(from), lanes),
            // The common case as one move of a row, which needs no look at whether the two overlap.
            Width::W32 if lanes == u32::MAX => *target.row_mut::<u32>(to) = *source.row::<u32>(from),
            Width::W64 if lanes == u32::MAX => *target.row_mut::<u64>(to) = *source.row::<u64>(from),
            Width::W32 => u32::set(target, to, lanes, &(*source.row::<u32>(from)).0),
            Width::W64 => u64::set(target, to, lanes, &(*source.row::<u64>(from)).0),
            Width::W128 => u128::set(target, to, lanes, &(*source.row::<u128>(from)).0),
        }
    }
}
