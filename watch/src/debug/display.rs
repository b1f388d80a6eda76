//! Expressions that are shown whenever the kernel stops.

use super::show::Format;
use super::{Debugger, Flow};
use warpsmith_interp::observe::View;

/// No more can be shown at each stop.
const MOST: usize = 100;

/// `display/FORMAT EXPRESSION`
pub(super) struct Display {
    number: u32,
    /// What `print` or `x` takes: the format, if there is one, and the expression.
    args: String,
    /// Memory, as `x` shows it.
    memory: bool,
    enabled: bool,
}

impl Display {
    /// As gdb names it: `/x %r1`, `x/i $pc`.
    fn name(&self) -> String {
        format!("{}{}", if self.memory { "x" } else { "" }, self.args)
    }
}

impl Debugger<'_> {
    /// `display`: shows an expression now and at every stop; without one, all of them now.
    pub(super) fn display(&mut self, args: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        if args.is_empty() {
            self.show_displays(view);
            return Ok(Flow::Stay);
        }
        let (format, text) = Format::take(args)?;
        if text.is_empty() {
            return Err("Argument required (expression to compute).".into());
        }
        if self.displays.len() >= MOST {
            return Err(format!("At most {MOST} expressions are shown at each stop."));
        }
        let memory =
            format.count.is_some() || format.unit.is_some() || matches!(format.letter, Some('i' | 's'));
        let display = Display { number: self.next_display, args: args.to_owned(), memory, enabled: true };
        if view.is_some() {
            // What cannot be shown now is a mistake.
            self.show_display(&display, view)?;
        }
        self.next_display += 1;
        self.displays.push(display);
        Ok(Flow::Stay)
    }

    /// Shows all that mean something where the kernel stands.
    pub(super) fn show_displays(&mut self, mut view: Option<&mut View<'_>>) {
        for display in std::mem::take(&mut self.displays) {
            // A name of another function is passed over, as gdb does.
            if display.enabled {
                self.show_display(&display, view.as_deref_mut()).unwrap_or_default();
            }
            self.displays.push(display);
        }
    }

    fn show_display(&mut self, display: &Display, mut view: Option<&mut View<'_>>) -> Result<(), String> {
        let (format, text) = Format::take(&display.args)?;
        if display.memory {
            // Only what has a value has a heading.
            self.evaluate(text, view.as_deref_mut())?;
            self.say(&format!("{}: {}\n", display.number, display.name()));
            return self.examine(&display.args, view).map(drop);
        }
        let value = self.evaluate(text, view.as_deref_mut())?;
        let shown = self.shown(&value, format.letter, view);
        self.say(&format!("{}: {} = {shown}\n", display.number, display.name()));
        Ok(())
    }

    /// `undisplay`: all, or those with these numbers.
    pub(super) fn undisplay(&mut self, args: &str) -> Result<Flow, String> {
        if args.is_empty() {
            self.displays.clear();
            return Ok(Flow::Stay);
        }
        for word in args.split_whitespace() {
            let number: u32 = word.parse().map_err(|_| "Arguments must be display numbers.".to_owned())?;
            let Some(at) = self.displays.iter().position(|d| d.number == number) else {
                return Err(format!("Could not find display number {word}."));
            };
            self.displays.remove(at);
        }
        Ok(Flow::Stay)
    }

    /// `delete display`, `enable display`, `disable display`: all, or those with these numbers.
    pub(super) fn each_display(&mut self, command: &str, args: &str) -> Result<Flow, String> {
        if command == "delete" {
            return self.undisplay(args);
        }
        let mut chosen = Vec::new();
        for word in args.split_whitespace() {
            let number: u32 = word.parse().map_err(|_| "Arguments must be display numbers.".to_owned())?;
            let found = self.displays.iter().position(|d| d.number == number);
            chosen.push(found.ok_or_else(|| format!("Could not find display number {word}."))?);
        }
        for (at, display) in self.displays.iter_mut().enumerate() {
            if args.is_empty() || chosen.contains(&at) {
                display.enabled = command == "enable";
            }
        }
        Ok(Flow::Stay)
    }

    /// `info display`
    pub(super) fn info_displays(&mut self) {
        let mut text = String::from("There are no auto-display expressions now.\n");
        if !self.displays.is_empty() {
            text = "Auto-display expressions now in effect:\nNum Enb Expression\n".into();
        }
        for display in &self.displays {
            putln!(
                text,
                "{}:   {}  {}",
                display.number,
                if display.enabled { 'y' } else { 'n' },
                display.name()
            );
        }
        self.say(&text);
    }
}
