//! Which thread commands speak of: `cuda`, `thread`, `frame`, `up`, `down`.

use super::show::triple;
use super::{Debugger, Flow, Focus};
use warpsmith_interp::observe::{View, WarpId};

impl Debugger<'_> {
    fn thread_of(&self, view: &View<'_>, focus: Focus) -> [u32; 3] {
        view.launch().thread(focus.warp.warp * 32 + focus.lane)
    }

    /// `kernel 0, block (1,0,0), thread (5,0,0), warp 0, lane 5`
    fn coordinates(&self, view: &View<'_>, focus: Focus) -> String {
        let thread = triple(self.thread_of(view, focus));
        format!(
            "block {}, thread {thread}, warp {}, lane {}",
            triple(focus.warp.block),
            focus.warp.warp,
            focus.lane
        )
    }

    pub(super) fn switching(&self, view: &View<'_>, focus: Focus) -> String {
        format!("[Switching focus to CUDA kernel 0, {}]\n", self.coordinates(view, focus))
    }

    /// `cuda block (1,0,0) thread (5,0,0)`, `cuda warp 1 lane 3`, `cuda kernel block thread`
    pub(super) fn cuda(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let view = view.ok_or("Focus not set on any active CUDA kernel.")?;
        let now = self.focus.ok_or("Focus not set on any active CUDA kernel.")?;
        let words = words(args);
        let mut next = now;
        let (mut asked, mut set) = (Vec::new(), false);
        let mut rest = words.as_slice();
        while let [word, tail @ ..] = rest {
            rest = tail;
            let value = tail.first().filter(|t| t.starts_with(|c: char| c == '(' || c.is_ascii_digit()));
            let unknown = "block, thread, warp, lane, kernel, grid, device, sm";
            let known: Vec<&str> = unknown.split(", ").filter(|w| w.starts_with(word.as_str())).collect();
            let [what] = known[..] else {
                return Err(format!("Unrecognized argument(s): \"{word}\"; {unknown} are known."));
            };
            let Some(value) = value else {
                asked.push(what);
                continue;
            };
            rest = &rest[1..];
            let wrong = || format!("Incorrect coordinates \"{value}\" for {what}.");
            let one = || value.trim_matches(['(', ')']).parse::<u32>().map_err(|_| wrong());
            set = true;
            match what {
                "block" => next.warp.block = coordinates(value).ok_or_else(wrong)?,
                "thread" => {
                    let [x, y, z] = coordinates(value).ok_or_else(wrong)?;
                    let [nx, ny, nz] = view.launch().block();
                    if x >= nx || y >= ny || z >= nz {
                        let size = triple([nx, ny, nz]);
                        return Err(format!(
                            "Invalid coordinates: thread {} is not in a block of {size}.",
                            triple([x, y, z])
                        ));
                    }
                    let number = (z * ny + y) * nx + x;
                    (next.warp.warp, next.lane) = (number / 32, number % 32);
                }
                "warp" => next.warp.warp = one()?,
                "lane" => next.lane = one()?,
                _ if one()? == 0 => {}
                _ => return Err(format!("Invalid coordinates: there is only {what} 0.")),
            }
        }
        if !set {
            let text = self.answer(view, now, &asked);
            self.say(&text);
            return Ok(Flow::Stay);
        }
        self.focus_on(view, next)
    }

    fn answer(&self, view: &View<'_>, focus: Focus, asked: &[&str]) -> String {
        if asked.is_empty() {
            return format!("kernel 0, {}\n", self.coordinates(view, focus));
        }
        let part = |what: &&str| match *what {
            "block" => format!("block {}", triple(focus.warp.block)),
            "thread" => format!("thread {}", triple(self.thread_of(view, focus))),
            "warp" => format!("warp {}", focus.warp.warp),
            "lane" => format!("lane {}", focus.lane),
            what => format!("{what} 0"),
        };
        format!("{}\n", asked.iter().map(part).collect::<Vec<_>>().join(", "))
    }

    fn focus_on(&mut self, view: &mut View<'_>, next: Focus) -> Result<Flow, String> {
        let grid = view.launch().grid();
        let block = next.warp.block;
        if (0..3).any(|i| block[i] >= grid[i]) {
            return Err(format!(
                "Invalid coordinates: block {} is not in a grid of {}.",
                triple(block),
                triple(grid)
            ));
        }
        if !view.blocks().contains(&block) {
            let why = "it has not started, or all its threads have exited";
            return Err(format!("Invalid coordinates. Block {} is not on the device: {why}.", triple(block)));
        }
        if !view.warps().contains(&next.warp) {
            return Err(format!("Invalid coordinates: unknown warp {}.", next.warp.warp));
        }
        if next.lane > 31 {
            return Err(format!("Invalid coordinates: unknown lane {}.", next.lane));
        }
        if view.alive(next.warp) >> next.lane & 1 == 0 {
            return Err(format!(
                "Invalid coordinates: {} has exited, or never was.",
                self.coordinates(view, next)
            ));
        }
        self.focus = Some(next);
        self.frame = 0;
        let text = self.switching(view, next);
        self.say(&text);
        self.show_frame(view);
        Ok(Flow::Stay)
    }

    fn show_frame(&mut self, view: &mut View<'_>) {
        let line = self.frame_line(view, self.frame);
        self.say(&format!("{line}\n"));
        let frame = self.frames(view).into_iter().nth(self.frame);
        if let Some(frame) = frame {
            match frame.source {
                Some((file, line)) => self.show_source(&file, line),
                None => self.show_line(frame.pc, false),
            }
        }
    }

    /// `thread` alone, or with coordinates.
    pub(super) fn thread(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        match args {
            "" => self.cuda("", view),
            args => self.cuda(&format!("thread {args}"), view),
        }
    }

    /// `frame N`, `up N`, `down N`
    pub(super) fn select(
        &mut self,
        command: &str,
        args: &str,
        view: Option<&mut View<'_>>,
    ) -> Result<Flow, String> {
        let view = view.ok_or("No stack.")?;
        let count = match args {
            "" => i128::from(command != "frame"),
            text => self.evaluate(text, Some(view))?.as_int()?,
        };
        let last = self.frames(view).len() as i128 - 1;
        let now = self.frame as i128;
        let next = match command {
            "frame" if args.is_empty() => now,
            "frame" if !(0..=last).contains(&count) => {
                return Err("No frame at level LEVEL.".replace("LEVEL", args));
            }
            "frame" => count,
            "up" if now == last => return Err("Initial frame selected; you can't go up.".into()),
            "up" => now.saturating_add(count).clamp(0, last.max(0)),
            _ if now == 0 => return Err("Bottom (innermost) frame selected; you can't go down.".into()),
            _ => now.saturating_sub(count).clamp(0, last.max(0)),
        };
        self.frame = next as usize;
        self.show_frame(view);
        Ok(Flow::Stay)
    }

    pub(super) fn backtrace(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        const MOST: usize = 1000;
        let view = view.ok_or("No stack.")?;
        let full = args.split_whitespace().any(|word| matches!(word, "full" | "-full"));
        let args: Vec<&str> =
            args.split_whitespace().filter(|word| !matches!(*word, "full" | "-full")).collect();
        let frames = self.frames(view).len();
        if frames == 0 {
            return Err("No stack.".into());
        }
        let (first, end) = match args.join(" ").as_str() {
            "" => (0, frames.min(MOST)),
            text => match self.evaluate(text, Some(&mut *view))?.as_int()? {
                // The outermost ones.
                count if count < 0 => {
                    let count = usize::try_from(count.unsigned_abs()).unwrap_or(MOST).min(MOST);
                    (frames.saturating_sub(count), frames)
                }
                count => (0, frames.min(usize::try_from(count).unwrap_or(MOST).min(MOST))),
            },
        };
        for number in first..end {
            let line = self.frame_line(view, number);
            self.say(&format!("{line}\n"));
            if full {
                self.frame_locals(number, view);
            }
        }
        if frames > end {
            self.say("(More stack frames follow...)\n");
        }
        Ok(Flow::Stay)
    }

    /// The warp in focus, and whether it has a say.
    pub(super) fn focused_warp(&self) -> Option<WarpId> {
        self.focus.map(|f| f.warp)
    }
}

/// Splits at blanks and commas outside of parentheses.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match c {
            c if depth <= 0 && (c.is_whitespace() || c == ',') => words.push(String::new()),
            c if c.is_whitespace() => {}
            c => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

/// `(1,2,3)`, `(1,2)`, `1`
fn coordinates(text: &str) -> Option<[u32; 3]> {
    let inner = text.strip_prefix('(').map_or(Some(text), |t| t.strip_suffix(')'))?;
    let mut at = [0; 3];
    let mut parts = inner.split(',');
    for place in &mut at {
        let Some(part) = parts.next() else { break };
        *place = part.trim().parse().ok()?;
    }
    parts.next().is_none().then_some(at)
}
