//! What a runner says of an instruction: where it is, its results, and its faults.

use crate::engine::block::locate;
use crate::engine::context::Context;
use crate::engine::file::Frame;
use crate::engine::observe::{At, Registers};
use crate::engine::op::FuncId;
use crate::engine::run::{Issue, Runner};
use crate::engine::standstill::Progress;
use crate::engine::warp::Activation;
use crate::fault::{Fault, FaultCode};

impl<'a, const WATCHED: bool> Runner<'a, WATCHED> {
    /// Notifies the observer that the results of an instruction are there.
    pub fn tell_results(&mut self, at: &At<'_>, frame: Frame, activation: &Activation) {
        if WATCHED && self.interest.results {
            let function = FuncId(activation.function);
            self.observer
                .results(at, &Registers::new(frame, self.cx.constants, activation.place(), function));
        }
    }

    /// What has changed so far.
    pub fn progress(&self) -> Progress {
        Progress { own: self.changes + self.looks, others: self.worker.others() }
    }

    pub fn at(&self, issue: Issue<'_>) -> At<'a> {
        let cx: &'a Context<'a> = self.cx;
        cx.at(issue.block.id, issue.warp, issue.pc, issue.mask)
    }

    /// A fault of the first lane.
    #[cold]
    pub fn fault(&self, issue: Issue<'_>, code: FaultCode, message: impl Into<String>) -> Box<Fault> {
        let mut fault = Box::new(Fault::new(code, message));
        locate(&mut fault, self.cx, issue.block.id, issue.warp, issue.mask, issue.pc);
        fault
    }

    /// A fault of the first lane at an address.
    #[cold]
    pub fn fault_at(
        &self,
        issue: Issue<'_>,
        code: FaultCode,
        address: u64,
        message: impl Into<String>,
    ) -> Box<Fault> {
        let mut fault = self.fault(issue, code, message);
        fault.address = Some(address);
        fault
    }
}
