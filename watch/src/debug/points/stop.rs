//! Whether a run stops, and what is said when it does.

use super::*;

impl Debugger<'_> {
    /// Reports the reasons to stop here; false if there are none.
    pub(in crate::debug) fn stop(&mut self, view: &mut View<'_>, asked: Asked) -> bool {
        let before = self.left.clone();
        let (old_focus, old_frame) = (self.focus, self.frame);
        let (mut said, mut title) = (String::new(), String::new());
        let mut focus = None;
        self.frame = 0;
        let mut gone = Vec::new();
        let mut numbers = Vec::new();
        for i in 0..self.points.len() {
            match self.look(i, view) {
                Said::Nothing => {}
                Said::Stop(text, of) => {
                    said += &text;
                    numbers.push(self.points[i].number);
                    focus = focus.or(of);
                }
                Said::Gone(text) => {
                    said += &text;
                    gone.push(self.points[i].number);
                }
            }
        }
        self.points.retain(|p| p.number == 0 || !gone.contains(&p.number));
        let watched = !said.is_empty();
        for i in 0..self.points.len() {
            if let Some((text, of)) = self.hit(i, view, asked) {
                title = text;
                focus = focus.or(Some(of));
                numbers.push(self.points[i].number);
                if self.points[i].temporary {
                    gone.push(self.points[i].number);
                }
            }
        }
        self.points.retain(|p| !(p.temporary && gone.contains(&p.number)));
        (self.focus, self.frame) = (old_focus, old_frame);
        let arrived = self.arrived(view, asked);
        let interrupted = !watched && title.is_empty() && !arrived && self.console.interrupted();
        if !watched && title.is_empty() && !arrived && !interrupted && gone.is_empty() {
            return false;
        }
        self.arm();
        if interrupted {
            title = "Program received signal SIGINT, Interrupt.\n".into();
        }
        // What `until` and `advance` set is a step to users.
        numbers.retain(|number| *number != 0);
        self.reason = match (interrupted, numbers.is_empty()) {
            (true, _) => Reason::Interrupt,
            (false, true) => Reason::Step,
            (false, false) => Reason::Points { numbers, watched },
        };
        let lowest = Focus { warp: asked.warp, lane: asked.mask.trailing_zeros().min(31) };
        let stays = old_focus.filter(|f| f.warp == asked.warp && asked.mask >> f.lane & 1 != 0);
        let now = focus.or(stays).unwrap_or(lowest);
        let by_instruction = self.is_by_instruction();
        self.focus = Some(now);
        self.frame = 0;
        if old_focus != Some(now) {
            let text = self.switching(view, now);
            self.say(&text);
        }
        self.say(&said);
        // Where the thread in focus stands, which for a watchpoint may be another than the one that asked.
        let asked =
            Asked { pc: self.current(view).map_or(asked.pc, |pc| self.symbols.start_of(pc)), ..asked };
        let shown_whole = !title.is_empty() || watched || old_focus != Some(now);
        if !title.is_empty() {
            self.say(&format!("\n{title}"));
        } else if watched {
            self.say("\n");
        }
        self.show_stop(view, before.filter(|_| !shown_whole), asked, by_instruction);
        true
    }

    /// Looks at a watchpoint.
    pub(super) fn look(&mut self, i: usize, view: &mut View<'_>) -> Said {
        let point = &mut self.points[i];
        let title = point.title();
        let (enabled, condition, number) = (point.enabled, point.condition.clone(), point.number);
        let PointKind::Watch { text, kind, place, old, hit } = &mut point.what else { return Said::Nothing };
        let (kind, place, text) = (*kind, *place, text.clone());
        let hit = hit.take();
        if !enabled {
            return Said::Nothing;
        }
        let (of, who) = match (place, hit) {
            (WatchTarget::Memory { of, .. }, Some(hit)) => (of, hit),
            (WatchTarget::Memory { .. }, None) => return Said::Nothing,
            (WatchTarget::Register { of, .. }, _) => (of, of),
        };
        let old = old.clone();
        let gone = format!(
            "\nWatchpoint {number} deleted because the program has left the block in\nwhich its expression is valid.\n"
        );
        let now = match place {
            WatchTarget::Memory { space, address, of } => {
                let mut bytes = vec![0; old.bytes.len()];
                match view.read(of.warp, of.lane, space, address, &mut bytes) {
                    Ok(()) => Value { bytes, ..old.clone() },
                    Err(_) => return Said::Gone(gone),
                }
            }
            WatchTarget::Register { depth, .. } => {
                let activations = view.frames(of.warp, of.lane).len();
                let Some(activation) = activations.checked_sub(depth) else { return Said::Gone(gone) };
                self.focus = Some(of);
                let mut scope = self.scope(Some(view));
                scope.activation = activation;
                match expr::evaluate(&text, &mut scope) {
                    Ok(value) => value,
                    Err(_) => return Said::Gone(gone),
                }
            }
        };
        let changed = now.bytes != old.bytes;
        if !changed && kind == WatchKind::Change {
            return Said::Nothing;
        }
        if let PointKind::Watch { old, .. } = &mut self.points[i].what {
            *old = now.clone();
        }
        if let Some(condition) = condition {
            self.focus = Some(who);
            if matches!(self.evaluate(&condition, Some(view)).and_then(|v| v.is_true()), Ok(false)) {
                return Said::Nothing;
            }
        }
        let point = &mut self.points[i];
        if point.ignore > 0 {
            point.ignore -= 1;
            return Said::Nothing;
        }
        point.hits += 1;
        let (was, is) = (old.show(None), now.show(None));
        let values = if changed && kind != WatchKind::Read {
            format!("Old value = {was}\nNew value = {is}\n")
        } else {
            format!("Value = {is}\n")
        };
        Said::Stop(format!("\n{title}\n\n{values}"), Some(who))
    }

    /// Looks whether lanes at a breakpoint fulfil its condition.
    pub(super) fn hit(&mut self, i: usize, view: &mut View<'_>, asked: Asked) -> Option<(String, Focus)> {
        let point = &self.points[i];
        let PointKind::Break { pcs } = &point.what else { return None };
        if !point.enabled || !pcs.contains(&asked.pc) {
            return None;
        }
        let (number, temporary, condition) = (point.number, point.temporary, point.condition.clone());
        let favourite = self.focus.filter(|f| f.warp == asked.warp).map(|f| f.lane);
        let lanes = favourite.into_iter().chain(0..32).filter(|lane| asked.mask >> lane & 1 != 0);
        let mut wrong = String::new();
        let before = self.focus;
        let found = lanes.map(|lane| Focus { warp: asked.warp, lane }).find(|focus| {
            let Some(condition) = &condition else { return true };
            self.focus = Some(*focus);
            match self.evaluate(condition, Some(view)).and_then(|v| v.is_true()) {
                Ok(truth) => truth,
                Err(message) => {
                    wrong = format!("Error in testing condition for breakpoint {number}:\n{message}\n");
                    true
                }
            }
        });
        self.focus = before;
        let found = found?;
        let point = &mut self.points[i];
        if point.ignore > 0 {
            point.ignore -= 1;
            return None;
        }
        point.hits += 1;
        if let Some(template) = point.log.clone() {
            self.focus = Some(found);
            let text = self.log_text(&template, view);
            self.focus = before;
            self.logged += &text;
            return None;
        }
        let title = match (number, temporary) {
            (0, _) => String::new(),
            (_, true) => format!("Temporary breakpoint {number}, "),
            (_, false) => format!("Breakpoint {number}, "),
        };
        Some((format!("{wrong}{title}"), found))
    }

    /// The run ends here by a fault.
    pub(in crate::debug) fn catch(&mut self, view: &mut View<'_>, fault: &Fault) {
        let at_fault = fault.block.zip(fault.thread).map(|(block, [x, y, z])| {
            let [nx, ny, _] = view.launch().block();
            let number = (z * ny + y) * nx + x;
            Focus { warp: WarpId { block, warp: number / 32 }, lane: number % 32 }
        });
        let before = self.focus;
        self.focus = at_fault.or(before);
        self.frame = 0;
        self.goal = crate::debug::Goal::Run;
        if let Some(focus) = self.focus.filter(|_| self.focus != before) {
            let text = self.switching(view, focus);
            self.say(&text);
        }
        let text = format!("\nCUDA Exception: {}\n{}\n", fault.code, fault.message);
        self.say(&text);
        if let Some(address) = fault.address {
            self.say(&format!("The address is {address:#x}.\n"));
        }
        if let Some(pc) = self.current(view) {
            let line = self.frame_line(view, 0);
            let line = line.split_once("  ").map_or(line.as_str(), |(_, rest)| rest).to_owned();
            self.say(&format!("{line}\n"));
            self.show_line(pc, true);
        }
    }
}
