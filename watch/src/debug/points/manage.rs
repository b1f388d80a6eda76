//! Commands over the breakpoints and watchpoints that there are: which, on, off, gone, from when.

use super::{Point, PointKind};
use crate::debug::symbols::base;
use crate::debug::{Debugger, Flow};
use std::fmt::Write;
use warpsmith_interp::observe::View;

impl Debugger<'_> {
    pub(in crate::debug) fn ignore_here(&mut self, pc: Option<u32>, count: u64) -> Option<String> {
        let pc = pc?;
        let at = |p: &&mut Point| matches!(&p.what, PointKind::Break { pcs } if p.number != 0 && pcs.contains(&pc));
        let point = self.points.iter_mut().find(at)?;
        point.ignore = count;
        Some(format!("Will ignore next {count} crossings of breakpoint {}.  ", point.number))
    }

    /// `delete`, `enable`, `disable` with numbers, or for all.
    pub(in crate::debug) fn each_point(&mut self, command: &str, args: &str) -> Result<Flow, String> {
        let args = args.strip_prefix("breakpoints").unwrap_or(args).trim();
        let mut numbers = Vec::new();
        for word in args.split([' ', ',']).filter(|w| !w.is_empty()) {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            let bad = || format!("Bad breakpoint number '{word}'");
            let (from, to): (u32, u32) = (from.parse().map_err(|_| bad())?, to.parse().map_err(|_| bad())?);
            let known = |n: &u32| self.points.iter().any(|p| p.number == *n);
            if from == 0 || from > to || !known(&from) || !known(&to) {
                return Err(format!("No breakpoint number {}.", if known(&from) { to } else { from }));
            }
            numbers.extend((from..=to).filter(known));
        }
        if args.is_empty() {
            numbers = self.points.iter().map(|p| p.number).collect();
        }
        let chosen = |p: &Point| numbers.contains(&p.number);
        match command {
            "delete" => self.points.retain(|p| !chosen(p)),
            _ => self.points.iter_mut().filter(|p| chosen(p)).for_each(|p| p.enabled = command == "enable"),
        }
        self.arm();
        Ok(Flow::Stay)
    }

    /// `clear PLACE`
    pub(in crate::debug) fn clear(
        &mut self,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let here = view.and_then(|v| self.current(v));
        let at = self.symbols.locate(args, here)?;
        let there =
            |p: &Point| matches!(&p.what, PointKind::Break { pcs } if pcs.iter().any(|pc| at.contains(pc)));
        let numbers: Vec<String> =
            self.points.iter().filter(|p| there(p)).map(|p| p.number.to_string()).collect();
        if numbers.is_empty() {
            return Err(format!("No breakpoint at {args}."));
        }
        self.points.retain(|p| !there(p));
        self.arm();
        let noun = if numbers.len() == 1 { "breakpoint" } else { "breakpoints" };
        self.say(&format!("Deleted {noun} {} \n", numbers.join(" ")));
        Ok(Flow::Stay)
    }

    /// `condition N EXPR`, `ignore N COUNT`
    pub(in crate::debug) fn change_point(
        &mut self,
        command: &str,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let (number, rest) = args.split_once(' ').unwrap_or((args, ""));
        let number: u32 =
            number.parse().map_err(|_| "Argument required (a breakpoint number).".to_owned())?;
        let Some(i) = self.points.iter().position(|p| p.number == number && number != 0) else {
            return Err(format!("No breakpoint number {number}."));
        };
        let rest = rest.trim();
        if command == "condition" {
            let pc = match &self.points[i].what {
                PointKind::Break { pcs } => pcs.first().copied(),
                PointKind::Watch { .. } => None,
            };
            if rest.is_empty() {
                self.say(&format!("Breakpoint {number} now unconditional.\n"));
            } else if pc.is_some() {
                self.check_condition(rest, pc, view)?;
            }
            self.points[i].condition = Some(rest.to_owned()).filter(|c| !c.is_empty());
        } else {
            let count = u64::try_from(self.evaluate(rest, view)?.as_int()?).unwrap_or(0);
            self.points[i].ignore = count;
            self.say(&format!("Will ignore next {count} crossings of breakpoint {number}.\n"));
        }
        Ok(Flow::Stay)
    }

    pub(in crate::debug) fn info_breakpoints(&mut self) {
        let mut text = String::from("Num     Type            Disp Enb Where                What\n");
        let shown: Vec<&Point> = self.points.iter().filter(|p| p.number != 0).collect();
        if shown.is_empty() {
            return self.say("No breakpoints or watchpoints.\n");
        }
        for p in shown {
            let disposition = if p.temporary { "del" } else { "keep" };
            let enabled = if p.enabled { 'y' } else { 'n' };
            let head = format!("{:<7} {:<15} {disposition:<4} {enabled:<3}", p.number, p.kind_name());
            match &p.what {
                PointKind::Watch { text: of, .. } => _ = writeln!(text, "{head} {:<20} {of}", ""),
                PointKind::Break { pcs } => {
                    for (i, pc) in pcs.iter().enumerate() {
                        let at = format!("{}:{}", self.symbols.file(), self.symbols.program.line(*pc));
                        let of = match self.symbols.frames(*pc).first() {
                            Some(frame) => format!(" at {}:{}", base(&frame.file), frame.line),
                            None => String::new(),
                        };
                        let head =
                            if i == 0 { &head } else { &format!("{:<7} {:<15} {:<4} {:<3}", "", "", "", "") };
                        putln!(text, "{head} {at:<20} in {}{of}", self.symbols.shown_function(*pc));
                    }
                }
            }
            if let Some(condition) = &p.condition {
                putln!(text, "\tstop only if {condition}");
            }
            if p.hits > 0 {
                let times = if p.hits == 1 { "time" } else { "times" };
                putln!(text, "\tbreakpoint already hit {} {times}", p.hits);
            }
            if p.ignore > 0 {
                putln!(text, "\tignore next {} hits", p.ignore);
            }
        }
        self.say(&text);
    }
}
