//! Where a run stands still: what is sent to the editor, and its requests.

use super::*;

impl Session<'_, '_> {
    /// `continue`, and steps of a thread.
    pub(super) fn go_on(&mut self, command: &str, arguments: &Value, view: &mut View<'_>) -> Reply {
        if let Some(focus) = arguments.get("threadId").and_then(Value::as_u64).and_then(|id| self.thread(id))
        {
            (self.debugger.focus, self.debugger.frame) = (Some(focus), 0);
        }
        let by_instruction = arguments.get("granularity").and_then(Value::as_str) == Some("instruction");
        let spelt = match (command, by_instruction) {
            ("continue", _) => "continue",
            ("next", false) => "next",
            ("next", true) => "nexti",
            ("stepIn", false) => "step",
            ("stepIn", true) => "stepi",
            _ if self.debugger.frames(view).len() <= 1 => "continue",
            _ => "finish",
        };
        match self.debugger.command(spelt, Some(view))? {
            crate::debug::Flow::Resume(resume) => {
                let body =
                    if command == "continue" { json!({"allThreadsContinued": true}) } else { json!({}) };
                Ok((body, After::Resume(resume)))
            }
            crate::debug::Flow::Stay | crate::debug::Flow::Run | crate::debug::Flow::Quit => {
                Ok((json!({}), After::Stay))
            }
        }
    }

    /// The run has stopped: sends the editor the reason, and answers it until the run goes on.
    pub(super) fn stand(&mut self, view: &mut View<'_>, mut event: Value) -> Resume {
        self.debugger.goal = Goal::Run;
        self.capture.pause.store(false, Relaxed);
        self.capture.take();
        self.stands = true;
        if let Some(focus) = self.debugger.focus {
            event["threadId"] = self.number(focus).into();
        }
        event["allThreadsStopped"] = true.into();
        self.connection.event("stopped", event);
        let resume = loop {
            let Some(request) = self.connection.next_request() else {
                self.ends = Some(After::Quit);
                break Resume::End;
            };
            match self.answer(&request, Some(view)) {
                After::Stay => {}
                After::Resume(resume) => break resume,
                end @ (After::Start | After::Terminate | After::Quit) => {
                    self.ends = Some(end);
                    break Resume::End;
                }
            }
        };
        self.stands = false;
        self.exception = None;
        self.frames.clear();
        self.containers.clear();
        self.capture.take();
        resume
    }

    /// A finding that stops, and the thread that it is about.
    pub(super) fn look_at_findings(&mut self, view: &View<'_>) -> Option<(Finding, Option<Focus>)> {
        let mut stops = None;
        for finding in self.findings.take() {
            self.send_finding(&finding);
            let wanted = match finding.severity {
                Severity::Error => self.filters.error,
                Severity::Warning => self.filters.warning,
            };
            if wanted && stops.is_none() {
                let focus =
                    finding.sites.first().map(|site| self.debugger.thread_at(view, site.block, site.thread));
                let focus = focus.filter(|focus| view.alive(focus.warp) >> focus.lane & 1 != 0);
                stops = Some((finding, focus));
            }
        }
        stops
    }

    /// Looks why the run was asked to stop.
    pub(super) fn look(&mut self, view: &mut View<'_>, asked: Asked) -> Resume {
        self.flush();
        while let Some(request) = self.connection.pending() {
            match self.answer(&request, Some(view)) {
                After::Stay | After::Resume(_) => {}
                end @ (After::Start | After::Terminate | After::Quit) => {
                    self.ends = Some(end);
                    return Resume::End;
                }
            }
        }
        self.capture.looking.store(true, Relaxed);
        let finding = self.look_at_findings(view);
        let entry = matches!(self.debugger.goal, Goal::Any) && self.debugger.focus.is_none();
        let stops = !self.settings.no_debug && self.debugger.stop(view, asked);
        self.capture.looking.store(false, Relaxed);
        let logged = std::mem::take(&mut self.debugger.logged);
        self.connection.output("console", &logged);
        let shown = self.capture.take();
        if let Some((finding, focus)) = finding {
            let lowest = Focus { warp: asked.warp, lane: asked.mask.trailing_zeros().min(31) };
            self.debugger.focus = focus.or(self.debugger.focus).or(Some(lowest));
            self.debugger.frame = 0;
            let text = format!("{}: {}", finding.code, finding.message);
            let diagnostic = finding.diagnostic(self.sources());
            let trace = Renderer::plain().diagnostic(self.sources().source(), &diagnostic);
            self.exception = Some(json!({
                "exceptionId": finding.code, "description": finding.message, "breakMode": "always",
                "details": {"message": trace, "typeName": format!("{} checker", finding.checker)},
            }));
            return self.stand(
                view,
                json!({"reason": "exception", "description": "Paused on a finding", "text": text}),
            );
        }
        if !stops {
            return self.debugger.onwards(view);
        }
        let event = match &self.debugger.reason {
            Reason::Step if entry => json!({"reason": "entry", "description": "Paused on entry"}),
            Reason::Step => json!({"reason": "step"}),
            Reason::Interrupt => json!({"reason": "pause"}),
            Reason::Points { numbers, watched: true } => {
                json!({"reason": "data breakpoint", "hitBreakpointIds": numbers, "text": watched_text(&shown)})
            }
            Reason::Points { numbers, watched: false } => {
                json!({"reason": self.placed.reason(numbers), "hitBreakpointIds": numbers})
            }
        };
        self.stand(view, event)
    }
}
